"""Axes that figures are drawn into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """``ax``, or new axes in a figure of this size in inches; the default size is that of matplotlib."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.figure(layout="constrained", figsize=size).add_subplot()


def given_axes(axes: Any, needed: int, what: str) -> list[Any]:
    """The axes for ``needed`` panels, from an Axes or an array of them of any shape; surplus axes are turned off.

    ``what`` says in the error what is drawn into them.
    """
    given = list(np.asarray(axes, dtype=object).flat)
    if len(given) < needed:
        raise ValueError(f"axes has {len(given)} axes, but {needed} are needed: {what}")
    for ax in given[needed:]:
        ax.set_axis_off()
    return given[:needed]
