"""Axes that figures are drawn into."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._types import AxesOfPanels


def axes_or_new(ax: Axes | None, size: tuple[float, float] | None = None, spatial: bool = False) -> Axes:
    """``ax``, or new axes in a figure of this size in inches; the default size is that of matplotlib. ``spatial`` axes have three dimensions."""
    if ax is not None:
        if spatial and not hasattr(ax, "zaxis"):
            raise ValueError("three components need axes in three dimensions: give ax=figure.add_subplot(projection='3d'), or leave ax out")
        return ax
    import matplotlib.pyplot as plt

    figure = plt.figure(layout="constrained", figsize=size)
    return figure.add_subplot(projection="3d") if spatial else figure.add_subplot()


def given_axes(axes: AxesOfPanels, needed: int, what: str) -> list[Axes]:
    """The axes for ``needed`` panels, from an Axes or an array of them of any shape; surplus axes are turned off.

    ``what`` names what is drawn into them, for the error.
    """
    given: list[Axes] = list(np.asarray(axes, dtype=object).flat)
    if len(given) < needed:
        raise ValueError(f"axes has {len(given)} axes, but {needed} are needed: {what}")
    for ax in given[needed:]:
        ax.set_axis_off()
    return given[:needed]


def figure_of(ax: Axes) -> Figure:
    """The figure of axes; of those in a subfigure the subfigure, which has the methods of a figure that are needed."""
    return cast("Figure", ax.figure)
