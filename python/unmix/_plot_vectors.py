"""Vectors over the columns, a panel for each: loadings and filters of components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._figure import check_count, check_has_components, figure_of, shape_of_sample
from ._types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._base import Estimator
    from ._types import AxesOfPanels

#: Number of panels of a figure, unless another is requested.
_PANELS = 25
#: Maximum number of columns whose names fit below a panel.
_MOST_NAMES = 30


def vectors(
    model: Estimator,
    drawn: Array,
    name: str,
    feature_shape: tuple[int, ...] | None,
    n_components: int | None,
    axes: AxesOfPanels | None,
) -> Figure:
    """Draw rows of ``drawn`` as pictures, bars or curves, each on its own scale; ``name`` is that of one, in titles."""
    shape = shape_of_sample(model, feature_shape, model.n_features_in_)
    check_count("n_components", n_components)
    count = min(n_components or _PANELS, len(drawn))
    pictures = len(shape) == 2 or (len(shape) == 3 and shape[-1] == 3)
    names = [str(column) for column in getattr(model, "feature_names_in_", ())]
    bars = not pictures and 0 < len(names) <= _MOST_NAMES
    columns = min(count, 3 if bars else 5)
    if axes is None:
        axes = _new_axes(count, columns, pictures, bars)
    panels: list[Axes] = list(np.asarray(axes, dtype=object).flat)
    if len(panels) < count:
        raise ValueError(f"axes has {len(panels)} {'axis' if len(panels) == 1 else 'axes'}, but {count} components are drawn; give one for each, or n_components={len(panels)}")
    for ax in panels:
        ax.set_axis_off()
    for i, ax in enumerate(panels[:count]):
        row = np.asarray(drawn[i], dtype=np.float64)
        most = np.abs(row).max() or 1
        ax.set_title(f"{name} {i}", fontsize="small")
        if pictures:
            _picture(ax, row.reshape(shape), most)
        elif bars:
            _bars(ax, row, names, most, last=i + columns >= count)
        else:
            ax.axhline(0, color="0.8", linewidth=0.5)
            ax.plot(row, linewidth=1)
            ax.set_ylim(-1.05 * most, 1.05 * most)
    return figure_of(panels[0])


def encoder_vectors(model: Estimator) -> Array:
    """The filters, of shape (n_codes, n_features): what rows, less an offset, are multiplied by to give codes or pre-activations."""
    check_has_components(model, "a figure of filters")
    weight = getattr(model, "encoder_weight_", None)
    if weight is not None:
        return np.asarray(weight, dtype=np.float64)
    filters = model._model.filters
    if filters is not None:
        return filters
    layer = ", or the filters of a layer, as in model.layers_[0]" if isinstance(getattr(model, "layers_", None), list) else ""
    raise ValueError(
        f"filters need codes that are products of rows and a matrix, and those of this {type(model).__name__} are computed by a solver or by a "
        f"network of several layers; draw its loadings with plot.components{layer}"
    )


def _new_axes(count: int, columns: int, pictures: bool, bars: bool) -> Array:
    import matplotlib.pyplot as plt

    lines = -(-count // columns)
    size = ((2.4 if pictures else 2.0) * columns + 0.4, (2.2 if pictures else 1.6) * lines + (0.8 if bars else 0.4))
    axes: Array = plt.subplots(lines, columns, squeeze=False, layout="constrained", figsize=size)[1]
    return axes


def _picture(ax: Axes, picture: Array, most: float) -> None:
    if picture.ndim == 3:
        ax.imshow(0.5 + 0.5 * picture / most)
        return
    image = ax.imshow(picture, cmap="RdBu_r", vmin=-most, vmax=most)
    bar = figure_of(ax).colorbar(image, ax=ax, ticks=[-most, 0, most], format="%.2g", fraction=0.05)
    bar.ax.tick_params(labelsize="x-small")


def _bars(ax: Axes, row: Array, names: list[str], most: float, last: bool) -> None:
    ax.set_axis_on()
    ax.bar(np.arange(len(row)), row, width=0.7)
    ax.axhline(0, color="0.5", linewidth=0.5)
    ax.set_ylim(-1.05 * most, 1.05 * most)
    ax.set_xticks(np.arange(len(row)), names if last else [], rotation=90, fontsize="x-small")
    ax.tick_params(axis="y", labelsize="x-small")
    for side in ("top", "right", "bottom"):
        ax.spines[side].set_visible(False)
