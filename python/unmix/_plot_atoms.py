"""Figures of dictionaries: a mosaic of the atoms, and histograms of their use and of the number of atoms per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._figure import check_count, check_has_components, figure_of, given_axes, shape_of_sample
from ._types import Array, Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._base import Estimator
    from ._types import AxesOfPanels

#: Maximum number of atoms in a mosaic, and of panels with curves.
_MOST_PICTURES, _MOST_CURVES = 512, 32


def atoms(
    model: Estimator,
    X: Rows | None = None,
    feature_shape: tuple[int, ...] | None = None,
    n_atoms: int | None = None,
    axes: AxesOfPanels | None = None,
) -> Figure:
    """Draw the atoms of a dictionary in order of decreasing use.

    Atoms are drawn as one mosaic of pictures if the features have a shape of two axes (or three, the last of 3 colours), else as curves.
    Each atom has its own scale, symmetric about 0, so that values of different atoms cannot be compared; the colour bar of pictures in grey
    is of fractions of the largest value of each.

    Parameters
    ----------
    model : fitted estimator with ``components_``
        Such as ``DictionaryLearning``, ``SparseCoder`` or ``CompleteDictionary``.
    X : array-like of shape (n_samples, n_features), path or Files, optional
        Rows to encode. Atoms are ordered by the number of these rows that use them, and two histograms are drawn: of the use of the atoms,
        and of the number of atoms per row. Without rows, atoms are ordered by ``usage_``, or as in the model if it has none.
    feature_shape : tuple of int, optional
        Shape of one sample, as in ``(8, 8)``; by default that of the model.
    n_atoms : int, optional
        Number of atoms to draw, at most 512 pictures or 32 curves, which are the defaults.
    axes : array of matplotlib Axes, optional
        Axes to draw into: one for the mosaic, or one for each curve; with rows, two more for the histograms. By default those of a new
        figure.

    Returns
    -------
    matplotlib Figure
        The mosaic, or a panel for each atom; with rows also the two histograms; then the colour bar of a mosaic in grey.

    See Also
    --------
    components : One panel for each component, with its number.

    Examples
    --------
    >>> import numpy as np
    >>> import unmix
    >>> X = np.random.RandomState(0).randn(200, 16)
    >>> model = unmix.DictionaryLearning(9, max_epochs=1, random_state=0).fit(X)
    >>> [ax.get_xlabel() for ax in unmix.plot.atoms(model, X, feature_shape=(4, 4)).axes[1:3]]
    ['share of rows that use an atom', 'atoms per row']
    """
    check_has_components(model, "a figure of atoms")
    drawn = np.asarray(model.components_, dtype=np.float64)
    shape = shape_of_sample(model, feature_shape, drawn.shape[1])
    check_count("n_atoms", n_atoms)
    used = None if X is None else _used(model, X)
    usage = getattr(model, "usage_", None) if used is None else used.mean(axis=0)
    order = np.arange(len(drawn)) if usage is None else np.argsort(-np.asarray(usage), kind="stable")
    pictures = len(shape) == 2 or (len(shape) == 3 and shape[-1] == 3)
    most = _MOST_PICTURES if pictures else _MOST_CURVES
    drawn = drawn[order[: min(n_atoms or most, most)]]
    count = 1 if pictures else len(drawn)
    if axes is None:
        panels = _new_axes(None if pictures else count, used is not None)
    else:
        what = "1 for the mosaic" if pictures else f"1 for each of {count} atoms"
        panels = given_axes(axes, count, what) if used is None else given_axes(axes, count + 2, f"{what}, 2 for the histograms")
    if pictures:
        _mosaic(panels[0], drawn, shape, f"{len(drawn)} of {len(order)} atoms")
    else:
        _curves(panels[:count], drawn)
    if used is not None:
        _histograms(panels[count], panels[count + 1], used)
    return figure_of(panels[0])


def _new_axes(n_curves: int | None, beside: bool) -> list[Axes]:
    """Axes of a new figure: one for the mosaic or one for each curve, and two for the histograms beside them."""
    import matplotlib.pyplot as plt

    figure = plt.figure(layout="constrained", figsize=(9.6 if beside else 6.4, 6.4))
    grid = figure.add_gridspec(2, 3 if beside else 2)
    if n_curves is None:
        axes = [figure.add_subplot(grid[:, :2])]
    else:
        columns = 4
        inner = grid[:, :2].subgridspec(-(-n_curves // columns), columns)
        axes = [figure.add_subplot(inner[i // columns, i % columns]) for i in range(n_curves)]
    return axes + ([figure.add_subplot(grid[0, 2]), figure.add_subplot(grid[1, 2])] if beside else [])


def _used(model: Estimator, X: Rows) -> Array:
    """Mask of the atoms that the code of each row uses."""
    codes: Any = model.transform(X)
    return np.asarray((codes.toarray() if hasattr(codes, "toarray") else np.asarray(codes)) != 0)


def _scaled(atom: Array) -> Array:
    return np.asarray(atom / (np.abs(atom).max() or 1))


def _mosaic(ax: Axes, drawn: Array, shape: tuple[int, ...], title: str) -> None:
    """All pictures in one image, separated by a line of background."""
    height, width = shape[:2]
    columns = max(1, round(np.sqrt(len(drawn) * height / width)))
    lines = -(-len(drawn) // columns)
    colours = shape[2:]
    whole = np.full((lines * (height + 1) + 1, columns * (width + 1) + 1, *colours), np.nan)
    for i, atom in enumerate(drawn):
        y, x = 1 + i // columns * (height + 1), 1 + i % columns * (width + 1)
        whole[y : y + height, x : x + width] = _scaled(atom).reshape(shape)
    if colours:
        ax.imshow(np.where(np.isnan(whole), 1.0, 0.5 + 0.5 * whole), interpolation="nearest")
    else:
        image = ax.imshow(whole, cmap="gray", vmin=-1, vmax=1, interpolation="nearest")
        figure_of(ax).colorbar(image, ax=ax, ticks=[-1, 0, 1], label="fraction of the atom's largest value", shrink=0.7)
    ax.set_axis_off()
    ax.set_title(title, fontsize="medium")


def _curves(axes: list[Axes], drawn: Array) -> None:
    for ax, atom in zip(axes, drawn, strict=True):
        ax.axhline(0, color="0.8", linewidth=0.5)
        ax.plot(_scaled(atom), linewidth=0.8)
        ax.set_ylim(-1.05, 1.05)
        ax.set_axis_off()


def _histograms(above: Axes, below: Axes, used: Array) -> None:
    share, each = used.mean(axis=0), used.sum(axis=1)
    above.hist(share, bins=min(30, max(5, len(share) // 4)), color="0.4")
    above.set(xlabel="share of rows that use an atom", ylabel="atoms", title=f"{np.count_nonzero(share == 0)} unused atoms")
    low, high = int(each.min()), int(each.max())
    step = -(-(high - low + 1) // 40)
    below.hist(each, bins=(np.arange(low, high + step + 1, step) - 0.5).tolist(), color="0.4")
    below.set(xlabel="atoms per row", ylabel="rows", title=f"mean {each.mean():.1f}")
