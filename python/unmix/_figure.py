"""Axes that figures are drawn into."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._base import Estimator
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
        raise ValueError(f"axes has {len(given)} {'axis' if len(given) == 1 else 'axes'}, but {needed} are needed: {what}")
    for ax in given[needed:]:
        ax.set_axis_off()
    return given[:needed]


def figure_of(ax: Axes) -> Figure:
    """The figure of axes; of those in a subfigure the subfigure, which has the methods of a figure that are needed."""
    return cast("Figure", ax.figure)


def check_is_own(model: Estimator, figure: str) -> None:
    """Fitted estimators of this package pass."""
    if not hasattr(model, "_model"):
        check_is_fitted(model)
        raise TypeError(f"{figure} needs a fitted estimator of unmix, got one of {type(model).__name__}")


def check_has_components(model: Estimator, figure: str) -> None:
    """Fitted estimators with at least one row in ``components_`` pass."""
    check_is_own(model, figure)
    if not hasattr(model, "components_"):
        raise TypeError(f"{figure} needs a model with components, and {type(model).__name__} has none")
    if not len(model.components_):
        raise ValueError(f"{figure} is not possible: the fitted {type(model).__name__} has 0 components")


def shape_of_sample(model: Estimator, given: Any, features: int) -> tuple[int, ...]:
    """``given``, the shape of the model, or that of a row, checked against the number of features."""
    if given is None:
        return tuple(model._model.feature_shape or (features,))
    shape = (given,) if isinstance(given, Integral) else tuple(given)
    if any(not isinstance(side, Integral) or int(side) < 1 for side in shape):
        raise ValueError(f"feature_shape must be the lengths of the axes of a sample, as in (28, 28), got {given!r}")
    if np.prod(shape) != features:
        raise ValueError(f"feature_shape={given} holds {np.prod(shape)} numbers, but the model has {features} features")
    return shape


def check_count(name: str, given: Any) -> None:
    """A number of panels is an integer of at least 1, or None for the default."""
    if given is not None and (not isinstance(given, Integral) or int(given) < 1):
        raise ValueError(f"{name} must be an integer of at least 1, got {given!r}")
