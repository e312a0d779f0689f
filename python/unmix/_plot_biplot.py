"""Biplots: rows by their codes on two components, and arrows of columns by their loadings."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._plot_scatter import points
from ._types import Array, Chosen, Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ._base import Estimator

#: Share of the distance from the origin to the outermost point that the longest arrow takes: that of the figures on pages.
_ROOM = 0.85
#: Maximum number of letters of a name; longer ones are shortened.
_LETTERS = 18
#: Distance of a name from the tip of its arrow, and the further ones that are tried, in pixels.
_GAP, _FURTHER = 3.0, (0.0, 6.0, 12.0, 20.0, 30.0)
#: Directions from the tip in which a name is tried, relative to that of its arrow, in degrees: the nearest first.
_TURNS = (0, 20, -20, 40, -40, 60, -60, 80, -80, 100, -100, 120, -120)
#: Share of the axes that is left free around the points on every side, with room for names.
_MARGIN = 0.1
#: Maximum number of points that the positions of names depend on: a cloud has the same shape with more.
_MOST_POINTS = 5000


def biplot(
    model: Estimator,
    X: Rows,
    components: Chosen = (0, 1),
    n_columns: int = 8,
    color: ArrayLike | str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw rows by their codes on two components, and arrows that show the loadings of columns on them.

    It is a covariance biplot (Gabriel 1971), as on the pages of :func:`unmix.report`: in units of the standard deviations of the two
    codes, an arrow is what one standard deviation of each adds to the column, so that the inner product of a point and an arrow is
    proportional to what the two components add to that column in that row. All arrows have one common factor, by which they fit among the
    points. Columns of a model that standardises them, and of factor analysis, are in units of their standard deviations.

    Parameters
    ----------
    model : fitted estimator with ``mixing_``
        Such as ``PCA``, ``ICA`` or ``FactorAnalysis``.
    X : array-like of shape (n_samples, n_features), path or Files
        Rows, as for ``model.transform``.
    components : sequence of int or str, or mask of bool
        The components of the x axis and of the y axis, as for :func:`scatter`.
    n_columns : int, default=8
        Number of arrows: those of the columns to which the two components add most, that is, of the longest arrows.
    color : array-like of shape (n_samples,), or str, optional
        A number or a label for each row, or the name of a column, as for :func:`scatter`.
    ax : matplotlib Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        With the plot.

    See Also
    --------
    scatter : The points alone.
    components : The loadings as numbers on an axis.

    References
    ----------
    K. R. Gabriel (1971), The biplot graphic display of matrices with application to principal component analysis, Biometrika 58.
        doi:10.1093/biomet/58.3.453

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.independent(500, seed=0).X
    >>> ax = unmix.plot.biplot(unmix.PCA().fit(X), X, n_columns=3)
    >>> len([text for text in ax.texts if text.get_text()])
    3
    """
    check_is_fitted(model)
    if isinstance(n_columns, bool) or not isinstance(n_columns, Integral) or n_columns < 1:
        raise ValueError(f"n_columns must be a positive integer, got {n_columns!r}")
    if getattr(model, "whiten", None) == "zca" or not hasattr(model, "mixing_"):
        why = "with whiten='zca' has codes that belong to columns" if hasattr(model, "mixing_") else "has none"
        raise ValueError(f"a biplot needs the loadings of components, columns of mixing_, and this {type(model).__name__} {why}")
    ax, pair, codes = points(model, X, components, color, ax)
    spread = codes.std(axis=0)
    loadings = _in_own_units(model)[:, pair]
    length = np.hypot(*(loadings * spread).T)
    drawn = [int(j) for j in np.argsort(-length, kind="stable")[:n_columns] if length[j] > 0]
    tips = loadings[drawn] * spread**2
    with np.errstate(divide="ignore"):
        tips = tips * (_ROOM * np.min(np.abs(codes).max(axis=0) / np.abs(tips), initial=np.inf) if drawn else 1)
    ax.update_datalim(tips)
    ax.margins(_MARGIN)
    for tip in tips:
        ax.annotate("", xy=tuple(tip), xytext=(0, 0), arrowprops=dict(arrowstyle="->", color="0.15", shrinkA=0, shrinkB=0))
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    _named(ax, [names[j] if names else f"column {j}" for j in drawn], tips, codes)
    return ax


def _in_own_units(model: Estimator) -> Array:
    """Loadings, of models that standardise columns in units of the standard deviations of these, else in those of the columns."""
    loadings = np.asarray(model.mixing_, dtype=np.float64)
    scale = getattr(model, "noise_scale_", None)
    if scale is None:
        return loadings
    # That of factor analysis is the standard deviation of the unique part.
    unique = np.maximum(1 - np.asarray(getattr(model, "communalities_", 0.0), dtype=np.float64), np.finfo(np.float64).eps)
    deviation = np.asarray(scale, dtype=np.float64) / np.sqrt(unique)
    return np.asarray(loadings / np.where(deviation > 0, deviation, 1)[:, None])


def _named(ax: Axes, names: list[str], tips: Array, codes: Array) -> None:
    """Write the name of each column near the tip of its arrow, where it covers no other name and as few points and arrows as possible."""
    from matplotlib.patheffects import withStroke

    root = ax.figure.figure
    # Positions in pixels are known once the layout of the figure is computed.
    root.draw_without_rendering()
    at = ax.transData.transform(tips)
    origin = ax.transData.transform([(0.0, 0.0)])[0]
    shafts = (origin + np.linspace(0.1, 1, 20)[:, None, None] * (at - origin)).reshape(-1, 2)
    step = -(-len(codes) // _MOST_POINTS) or 1
    cloud = ax.transData.transform(codes[::step])
    frame = np.array(ax.get_window_extent().get_points())
    taken: list[Array] = []
    for name, tip in zip(names, at, strict=True):
        short = name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"
        text = ax.annotate(
            short, tuple(ax.transData.inverted().transform(tip)), (0, 0), textcoords="offset points", ha="center", va="center", fontsize="small"
        )
        text.set_path_effects([withStroke(linewidth=2.5, foreground=ax.get_facecolor())])
        extent = text.get_window_extent()
        half = np.array([extent.width, extent.height]) / 2
        offsets = _offsets(tip - origin, half)
        boxes = [np.stack([tip + offset - half, tip + offset + half]) for offset in offsets]
        others = at[np.any(at != tip, axis=1)]
        best = int(np.argmin([_cost(box, tip, others, taken, frame) + 100 * _inside(shafts, box) + _inside(cloud, box) for box in boxes]))
        taken.append(boxes[best])
        text.set_position(tuple(offsets[best] * 72 / root.dpi))


def _cost(box: Array, tip: Array, others: Array, taken: list[Array], frame: Array) -> float:
    """Cost of a name in this box: a name that cannot be read is worse than one nearer to another tip, and this than one over arrows or points."""
    outside = bool(np.any(box[0] < frame[0]) or np.any(box[1] > frame[1]))
    covered = sum(bool(np.all((box[0] < other[1]) & (other[0] < box[1]))) for other in taken)
    nearer = np.count_nonzero(_distance(others, box) < _distance(tip[None], box) + _GAP)
    return 1e7 * (covered + outside) + 1e6 * nearer


def _distance(points: Array, box: Array) -> Array:
    """Distance of each point from a box, 0 inside."""
    return np.asarray(np.hypot(*np.maximum(np.maximum(box[0] - points, points - box[1]), 0).T))


def _offsets(direction: Array, half: Array) -> list[Array]:
    """Where the centre of a name of this half width and height may be from the tip of an arrow in this direction, best first; in pixels."""
    angle = np.arctan2(direction[1], direction[0])
    out = []
    for further in _FURTHER:
        for turn in np.deg2rad(_TURNS):
            unit = np.array([np.cos(angle + turn), np.sin(angle + turn)])
            out.append(unit * (half + _GAP + further))
    return out


def _inside(points: Array, box: Array) -> int:
    return int(np.count_nonzero(np.all((points > box[0]) & (points < box[1]), axis=1)))
