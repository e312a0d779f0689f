"""Figures of modules (biclusters): a map of several, and one in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._figure import axes_or_new, figure_of, given_axes
from ._input import counted, dense, in_memory_by_names, of_used_rows
from ._types import Array, Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ._biclusters import Biclusters
    from ._types import AxesOfPanels

#: Maximum number of modules on a map.
_MOST_MODULES = 12
#: Maximum number of names of columns, and of rows, on a map.
_MOST_NAMES = 200
#: Inches for a name on a map that has a figure of its own.
_NAME = 0.1
#: Maximum number of columns of a module that are drawn: those whose means differ most.
_MOST_LINES = 24
#: Maximum number of different numbers that are classes; more are shades.
_MOST_CLASSES = 10


def biclusters(found: Biclusters, X: Rows, n_modules: int = 6, ax: Axes | None = None) -> Axes:
    """Draw the rows and columns of the first modules as one heat map, members next to each other.

    Members of the first module come first, then those of the second that are not in the first, and so on. Where members of a later module
    are not consecutive in this order, the frame is around their longest run.

    Parameters
    ----------
    found : Biclusters
        The result of :func:`unmix.biclusters`.
    X : array-like of shape (n_samples, n_features)
        The rows of the modules, dense or sparse.
    n_modules : int, default=6
        Number of modules to draw, at most 12. Rows and columns that belong to none of them are left out.
    ax : matplotlib Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        Rows downwards, columns to the right, in the order of the modules; a frame around the members of each. Colours are deviations from
        the mean of the column, in standard deviations, clipped at 4. Rows and columns have their names where these are known and at most
        200 are drawn; a figure of its own is large enough for them.

    See Also
    --------
    module : One module in detail.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.rare_modules(seed=0)
    >>> model = unmix.RFN(10, psi_min=0.3, max_iter=50, random_state=0).fit(X)
    >>> ax = unmix.plot.biclusters(unmix.biclusters(model, X, n_starts=0), X, n_modules=3)
    >>> ax.get_xlabel()
    'column'
    """
    z = _standardised(X, found)
    k = min(len(found), n_modules, _MOST_MODULES)
    if k == 0:
        raise ValueError("there are no modules to draw")
    rows, columns = _in_order(found.rows_[:k]), _in_order(found.columns_[:k])
    named_rows, named_columns = _drawn_names(found, "_row_names", rows), _drawn_names(found, "_names", columns)
    ax = axes_or_new(ax, (max(7.0, 2.5 + _NAME * len(named_columns)), max(6.0, 1.5 + _NAME * len(named_rows))))
    image = ax.imshow(z[np.ix_(rows, columns)], aspect="auto", cmap="RdBu_r", vmin=-4, vmax=4, interpolation="nearest")
    for i in range(k):
        _frame(ax, np.flatnonzero(found.rows_[i][rows]), np.flatnonzero(found.columns_[i][columns]), i)
    if named_columns:
        ax.set_xticks(np.arange(len(columns)), named_columns, rotation=90, fontsize="xx-small")
    if named_rows:
        ax.set_yticks(np.arange(len(rows)), named_rows, fontsize="xx-small")
    ax.set(xlabel="column", ylabel="row", title=f"{k} of {len(found)} modules: {counted(len(rows), 'row')}, {counted(len(columns), 'column')}")
    ax.figure.colorbar(image, ax=ax, label="standard deviations from the column's mean")
    return ax


def module(found: Biclusters, X: Rows, i: int = 0, color: ArrayLike | None = None, axes: AxesOfPanels | None = None) -> Figure:
    """Draw one module: the code of every row, and the member columns of all rows.

    It shows whether a module is due to all its members or to a few of them, and which other rows nearly belong to it. At most 24 columns
    are drawn; colours are deviations from the mean of the column, in standard deviations, clipped at 4.

    Parameters
    ----------
    found : Biclusters
        The result of :func:`unmix.biclusters`.
    X : array-like of shape (n_samples, n_features)
        The rows of the modules, dense or sparse.
    i : int, default=0
        Number of the module.
    color : array-like of shape (n_samples,), optional
        A class for each row, which determines the colour of its point; or numbers, which a colour scale shows if more than 10 of them
        differ. Of a handle that leaves out rows, also one for each row of its files.
    axes : array of matplotlib Axes, optional
        Two axes to draw into, for codes and heat map; by default those of a new figure.

    Returns
    -------
    matplotlib Figure
        Above, the code of every row in the unit that describes the module, members as filled points. Below, a heat map of the member
        columns whose means differ most, with member rows first, and its colour bar; then that of numbers given as ``color``.

    See Also
    --------
    biclusters : All modules in one map.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.rare_modules(seed=0)
    >>> model = unmix.RFN(10, psi_min=0.3, max_iter=50, random_state=0).fit(X)
    >>> figure = unmix.plot.module(unmix.biclusters(model, X, n_starts=0), X)
    >>> len(figure.axes) >= 2
    True
    """
    import matplotlib.pyplot as plt

    if not 0 <= i < len(found):
        raise ValueError(f"i must be the number of one of the {len(found)} modules, counted from 0, got {i}")
    z, member = _standardised(X, found), found.rows_[i]
    columns = np.flatnonzero(found.columns_[i])
    signed = z[:, columns] * found.signs_[i][columns]
    order = np.concatenate([np.flatnonzero(member), np.flatnonzero(~member)])
    level = found.codes_[i]
    differ = signed[member].mean(axis=0)
    drawn = np.argsort(-differ, kind="stable")[:_MOST_LINES]
    if axes is None:
        top, bottom = plt.subplots(2, 1, layout="constrained", figsize=(7.5, 5.0), sharex=True, height_ratios=(1, 1.4))[1]
    else:
        top, bottom = given_axes(axes, 2, "one for the codes, one for the heat map")
    place = np.arange(len(order))
    given = None if color is None else of_used_rows(X, np.asarray(color), "color", names=getattr(found, "_names", None))
    if given is not None and given.shape != (len(z),):
        raise ValueError(f"color has shape {given.shape}, but there are {len(z)} rows; give one value for each")
    points = place, level[order], member[order]
    shaded = None
    if given is not None and given.dtype.kind in "iuf" and len(np.unique(given)) > _MOST_CLASSES:
        shaded = _shaded(top, *points, given[order].astype(np.float64))
    else:
        _classed(top, *points, None if given is None else given[order])
    top.set(ylabel="code", title=f"module {i}: {counted(member.sum(), 'row')}, {counted(len(columns), 'column')}")
    image = bottom.imshow(z[np.ix_(order, columns[drawn])].T, aspect="auto", cmap="RdBu_r", vmin=-4, vmax=4, interpolation="nearest")
    # Axes that were given may not share their horizontal axis.
    top.set_xlim(bottom.get_xlim())
    figure = figure_of(top)
    figure.colorbar(image, ax=bottom, label="standard deviations")
    if shaded is not None:
        figure.colorbar(shaded, ax=top, label=getattr(color, "name", None) or "")
    names = getattr(found, "_names", None)
    bottom.set_yticks(np.arange(len(drawn)), [str(j) if names is None else names[j] for j in columns[drawn]], fontsize="xx-small")
    bottom.axvline(member.sum() - 0.5, color="black", linewidth=0.8)
    bottom.set(xlabel="row, members first", ylabel="member columns")
    return figure


def _classed(ax: Axes, place: Array, level: Array, member: Array, given: Array | None) -> None:
    """Rows as points with the colours of their classes, members filled."""
    import matplotlib.pyplot as plt

    classes = np.zeros(len(place), dtype=int) if given is None else np.unique(given, return_inverse=True)[1].ravel()
    labels = [None] if given is None else list(np.unique(given))
    palette = plt.get_cmap("tab10")
    for c, label in enumerate(labels):
        outside, inside = (classes == c) & ~member, (classes == c) & member
        ax.scatter(place[outside], level[outside], s=8, facecolors="none", edgecolors=[palette(c % 10)], linewidths=0.7)
        ax.scatter(place[inside], level[inside], s=14, color=[palette(c % 10)], label=label)
    if given is not None:
        ax.legend(fontsize="x-small", ncols=3, title="rows of the module")


def _shaded(ax: Axes, place: Array, level: Array, member: Array, values: Array) -> PathCollection:
    """Rows as points in the shades of numbers, members filled; returns those of the members, for the colour bar."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import Normalize

    known = values[np.isfinite(values)]
    # Rows without a number are grey.
    norm, shades = Normalize(known.min(), known.max()), plt.get_cmap("viridis").with_extremes(bad="0.75")
    ax.scatter(place[~member], level[~member], s=8, facecolors="none", edgecolors=shades(norm(values[~member])).tolist(), linewidths=0.7)
    return ax.scatter(place[member], level[member], s=14, c=values[member], cmap=shades, norm=norm, plotnonfinite=True)


def _drawn_names(found: Biclusters, which: str, members: Array) -> list[str]:
    """Names of the members, if they are known and few enough to be read."""
    names = getattr(found, which, None)
    return [] if names is None or len(members) > _MOST_NAMES else [names[i] for i in members]


def _standardised(X: Any, found: Biclusters) -> Array:
    x = np.asarray(dense(in_memory_by_names(X, getattr(found, "_names", None))), dtype=float)
    if x.shape != (found.rows_.shape[1], found.columns_.shape[1]):
        raise ValueError(f"X has shape {x.shape}, but the modules are of {found.rows_.shape[1]} rows and {found.columns_.shape[1]} columns")
    scale = x.std(axis=0)
    standard: Array = (x - x.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    return standard


def _in_order(member: Array) -> Array:
    """Members of the first module, then those of the next that are not in an earlier one, and so on."""
    first = np.where(member.any(axis=0), member.argmax(axis=0), len(member))
    order = np.argsort(first, kind="stable")
    return order[: int(member.any(axis=0).sum())]


def _frame(ax: Axes, rows: Array, columns: Array, i: int) -> None:
    """A frame around the largest block of consecutive members."""
    from matplotlib.patches import Rectangle

    if len(rows) == 0 or len(columns) == 0:
        return
    (top, height), (left, width) = _run(rows), _run(columns)
    ax.add_patch(Rectangle((left - 0.5, top - 0.5), width, height, fill=False, edgecolor="black", linewidth=1.2))
    ax.annotate(str(i), (left - 0.5, top - 0.5), fontsize="small", fontweight="bold", va="bottom")


def _run(places: Array) -> tuple[int, int]:
    """First and length of the longest run of consecutive numbers."""
    cuts = np.flatnonzero(np.diff(places) > 1) + 1
    longest = max(np.split(places, cuts), key=len)
    return int(longest[0]), len(longest)
