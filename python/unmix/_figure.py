"""Axes that figures are drawn into."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """``ax``, or new axes in a figure of this size in inches; the default size is that of matplotlib."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.figure(layout="constrained", figsize=size).add_subplot()
