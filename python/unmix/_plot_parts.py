"""Figures of robust PCA and subspace clustering: low-rank and sparse parts of rows, and affinities between rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._figure import axes_or_new, figure_of, given_axes
from ._input import dense, in_memory_by_names
from ._types import Array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from numpy.typing import ArrayLike

    from ._types import AxesOfPanels, Rows
    from .robust import RobustPCA


def parts(
    model: RobustPCA,
    X: Rows | None = None,
    rows: Sequence[int] = (0,),
    shape: tuple[int, int] | None = None,
    axes: AxesOfPanels | None = None,
) -> Figure:
    """Draw rows beside their low-rank part and their sparse part, as pictures or as curves.

    Structure in the sparse part suggests that the rank is too small, or that errors are not in single cells. What neither part has is noise:
    the difference between the first panel and the sum of the others. Without ``X``, missing cells of the fit are drawn as gaps.

    Parameters
    ----------
    model : RobustPCA
        The fitted model.
    X : array-like of shape (n_samples, n_features), path or Files, default=None
        Rows without missing cells; None for those of the fit, which only the estimator that was fitted to them holds, and which may have
        missing cells.
    rows : sequence of int, default=(0,)
        Indices of the rows to draw; there is a line of panels for each.
    shape : tuple of int, default=None
        Height and width of the picture that a row is; None for curves.
    axes : array of matplotlib Axes, default=None
        Axes to draw into, three for each row; None for those of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels for each row: row, low-rank part, sparse part. Pictures of a row and of its low-rank part have one range of greys and
        one colour bar; the sparse part is centred at 0 and has its own.

    See Also
    --------
    unmix.RobustPCA : The model of these parts.

    Examples
    --------
    >>> import numpy as np, unmix
    >>> X = np.outer(np.arange(12.0), np.ones(6))
    >>> X[3, 2] += 20
    >>> len(unmix.plot.parts(unmix.RobustPCA(noise=0.0).fit(X), rows=(3, 4)).axes)
    6
    """
    check_is_fitted(model)
    if not hasattr(model, "noise_std_"):
        raise ValueError(f"unmix.plot.parts needs the two parts of a RobustPCA, got a {type(model).__name__}")
    if X is None:
        low, sparse = model.low_rank_[list(rows)], model.sparse_[list(rows)]
        whole = np.asarray(dense(model._rows_of_fit), dtype=float)[list(rows)]
    else:
        whole = np.asarray(dense(in_memory_by_names(X, model._model.feature_names)), dtype=float)[list(rows)]
        low = model._low_rank(whole)
        sparse = model._sparse(whole, low)
    p = low.shape[1]
    if shape is not None and shape[0] * shape[1] != p:
        raise ValueError(f"shape must have as many pixels as rows have columns, got {shape} and {p} columns")
    if axes is None:
        import matplotlib.pyplot as plt

        size = (8.5, 2.2 * len(low)) if shape is not None else (9, 1.8 * len(low))
        panels = plt.subplots(len(low), 3, figsize=size, squeeze=False, layout="constrained")[1]
    else:
        given = given_axes(axes, 3 * len(low), f"3 for each of {len(low)} rows")
        panels = np.array(given, dtype=object).reshape(-1, 3)
    for line, i, *three in zip(panels, rows, whole, low, sparse, strict=True):
        if shape is None:
            for ax, values in zip(line, three, strict=True):
                ax.plot(values, linewidth=0.8)
        else:
            _pictures(line, three, shape)
        line[0].set_ylabel(f"row {i}")
    for ax, title in zip(panels[0], ("row", "low-rank part", "sparse part"), strict=True):
        ax.set_title(title)
    return figure_of(panels[0, 0])


def _pictures(line: Sequence[Axes], three: list[Array], shape: tuple[int, int]) -> None:
    """A row and its two parts as pictures, with colour bars."""
    least, most = float(np.nanmin(three[:2])), float(np.nanmax(three[:2]))
    greys = [ax.imshow(values.reshape(shape), cmap="gray", vmin=least, vmax=most) for ax, values in zip(line[:2], three[:2], strict=True)]
    reach = float(abs(three[2]).max()) or 1.0
    errors = line[2].imshow(three[2].reshape(shape), cmap="RdBu_r", vmin=-reach, vmax=reach)
    for image, beside in ((greys[0], list(line[:2])), (errors, line[2])):
        figure_of(line[0]).colorbar(image, ax=beside).ax.tick_params(labelsize="x-small")
    for ax in line:
        ax.set(xticks=[], yticks=[])


def affinities(similarity: ArrayLike, labels: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the affinities between rows as a matrix, with the rows of a cluster next to each other.

    Rows are sorted by label, so that clusters with affinities inside them alone give a block-diagonal matrix. The colour scale ends at the
    99 % quantile of the positive affinities.

    Parameters
    ----------
    similarity : array-like of shape (n_samples, n_samples)
        Non-negative affinities.
    labels : array-like of shape (n_samples,)
        The cluster of each row, or its known class.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into; None for those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With the matrix; lines separate the clusters.

    See Also
    --------
    unmix.SubspaceClustering : Estimates such clusters.

    Examples
    --------
    >>> import unmix
    >>> ax = unmix.plot.affinities([[0, 2, 0], [2, 0, 1], [0, 1, 0]], [1, 0, 1])
    >>> len(ax.images)
    1
    """
    table, classes = np.asarray(similarity, dtype=float), np.asarray(labels)
    if table.ndim != 2 or table.shape != (len(classes), len(classes)):
        raise ValueError(
            f"affinities must have a row and a column for each label, got shape {table.shape} and {len(classes)} labels"
        )
    order = np.argsort(classes, kind="stable")
    ax = axes_or_new(ax)
    # So that the largest affinities do not dominate the colour scale.
    most = float(np.quantile(table[table > 0], 0.99)) if (table > 0).any() else 1.0
    image = ax.imshow(table[np.ix_(order, order)], cmap="Greys", vmin=0, vmax=most, interpolation="nearest")
    names, counts = np.unique(classes, return_counts=True)
    ends = np.cumsum(counts)
    for end in ends[:-1]:
        ax.axhline(end - 0.5, color="C3", linewidth=0.8)
        ax.axvline(end - 0.5, color="C3", linewidth=0.8)
    ax.set_yticks(ends - counts / 2 - 0.5, [str(name) for name in names])
    ax.set(xticks=[], xlabel="rows by cluster", ylabel="cluster")
    ax.figure.colorbar(image, ax=ax, label="affinity")
    return ax
