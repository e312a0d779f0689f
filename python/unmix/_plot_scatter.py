"""Scatter plots of rows by their codes on two or three components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._components import ordered
from ._figure import axes_or_new
from ._input import counted, of_used_rows
from ._types import Array, Chosen, Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ._base import Estimator

#: Maximum number of labels that can be distinguished by colour.
_MOST_LABELS = 10


def scatter(
    model: Estimator, X: Rows, components: Chosen = (0, 1), color: ArrayLike | str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a scatter plot of rows by their codes on two or three components.

    Rows are encoded for the figure, and their codes are held in memory. Points are smaller and more transparent the more rows there are;
    axis labels have the share of the variance of the component if the model has it.

    Parameters
    ----------
    model : fitted estimator
        Any estimator with ``transform``.
    X : array-like of shape (n_samples, n_features), path or Files
        Rows, as for ``model.transform``.
    components : sequence of int or str, or mask of bool
        The components of the x axis and of the y axis, and for a figure in three dimensions of the z axis: numbers (negative ones count
        from the end), names, a range of two or three, as in ``"2-3"``, or a mask that selects as many.
    color : array-like of shape (n_samples,), or str, optional
        A number for each row, shown by a colour scale; or a label for each (text, or at most 10 different integers), each with its own
        colour and an entry of the legend. All but the 10 most frequent labels are grey. If ``X`` is a data frame, also the name of a column
        that contains them, which the model need not have been fitted on. If it is a handle that leaves out rows, they may be those of all
        rows of its files.
    ax : matplotlib Axes, optional
        Axes to draw into; by default those of a new figure. Of three components they must be in three dimensions, as those of
        ``figure.add_subplot(projection="3d")``.

    Returns
    -------
    matplotlib Axes
        With the plot.

    See Also
    --------
    biplot : The same points, and arrows of columns.
    sources : Time courses.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.independent(500, seed=0).X
    >>> ax = unmix.plot.scatter(unmix.PCA().fit(X), X, components=(0, 2))
    >>> ax.get_xlabel().startswith("component 0")
    True
    """
    return points(model, X, components, color, ax, most=3)[0]


def points(
    model: Estimator, X: Rows, components: Chosen, color: ArrayLike | str | None, ax: Axes | None, most: int = 2
) -> tuple[Axes, list[int], Array]:
    """What `scatter` draws: the axes, the components, at most ``most``, and the codes, of shape (n_samples, number of components)."""
    check_is_fitted(model)
    chosen = ordered(model._model, "components", components)
    if not 2 <= len(chosen) <= most:
        wanted = "two or three components, one for each axis" if most > 2 else "two components, one for x and one for y"
        raise ValueError(f"components must be {wanted}, got {components!r}")
    if isinstance(color, str):
        color, X = _of_column(model, X, color)
    codes = np.asarray(model.encode(X), dtype=np.float64)[:, chosen]
    values = None if color is None else of_used_rows(X, np.asarray(color), "color", names=model._model.feature_names)
    if values is not None and values.shape != codes.shape[:1]:
        raise ValueError(f"color has shape {values.shape}, but there are {len(codes)} rows; give one value for each")
    ax = axes_or_new(ax, spatial=len(chosen) == 3)
    # Of any type, because those in three dimensions take one more argument.
    drawn: Any = ax
    # Many points are drawn small and transparent.
    style: dict[str, Any] = dict(s=float(np.clip(12000 / max(len(codes), 1), 6, 30)), alpha=0.8 if len(codes) < 1000 else 0.5, linewidths=0)
    if len(chosen) == 3:
        # Depth is not shown by transparency, which would change the colours of the legend.
        style["depthshade"] = False
    if values is None:
        drawn.scatter(*codes.T, **style)
    elif _are_labels(values):
        _labelled(ax, codes, values, style)
    else:
        shaded = drawn.scatter(*codes.T, c=values.astype(np.float64), **style)
        beside: dict[str, Any] = dict(pad=0.15) if len(chosen) == 3 else {}
        bar = ax.figure.colorbar(shaded, ax=ax, label=getattr(color, "name", None) or "", **beside)
        if bar.solids is not None:
            bar.solids.set_alpha(1)
    names = [_axis_label(model, i) for i in chosen]
    if len(chosen) == 3:
        # Names along oblique axes are longer than these otherwise, and are cut off at the edges of the figure.
        names = [name.replace(" of the variance", "") for name in names]
        drawn.set_box_aspect(None, zoom=0.85)
    ax.set(**{f"{axis}label": name for axis, name in zip("xyz", names)})
    return ax, chosen, codes


def _axis_label(model: Estimator, i: int) -> str:
    # Codes that are rotated back to the columns do not belong to components.
    share = None if getattr(model, "whiten", None) == "zca" else getattr(model, "explained_variance_ratio_", None)
    return f"component {i}" if share is None else f"component {i} ({100 * share[i]:.3g} % of the variance)"


def _are_labels(values: Array) -> bool:
    if values.dtype.kind in "fc":
        return False
    return values.dtype.kind not in "iu" or len(np.unique(values)) <= _MOST_LABELS


def _labelled(ax: Axes, codes: Array, values: Array, style: dict[str, Any]) -> None:
    # As text, so that labels of mixed types can be sorted.
    text = values.astype(str)
    names, first, counts = np.unique(text, return_index=True, return_counts=True)
    shown = names[np.argsort(-counts, kind="stable")[:_MOST_LABELS]]
    order = sorted(range(len(names)), key=lambda i: values[first[i]] if values.dtype.kind in "iub" else names[i])
    if len(shown) < len(names):
        others = ~np.isin(text, shown)
        ax.scatter(*codes[others].T, color="0.75", label=counted(len(names) - len(shown), "other"), **style)
    for colour, i in enumerate(i for i in order if names[i] in shown):
        here = text == names[i]
        ax.scatter(*codes[here].T, color=f"C{colour}", label=names[i], **style)
    # Outside the axes, because any corner may contain points.
    legend = ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    handles: list[Any] = list(legend.legend_handles)
    for handle in handles:
        handle.set_alpha(1)
        handle.set_sizes([30])


def _of_column(model: Estimator, X: Any, name: str) -> tuple[Any, Any]:
    """A column of a data frame, and the rows to encode: without it, unless the model was fitted on it."""
    columns = list(getattr(X, "columns", ()))
    if name not in columns:
        among = f"; its columns are {', '.join(map(str, columns[:20]))}" if columns else ", and X is not a data frame"
        raise ValueError(f"color must be one value for each row or the name of a column of X, got {name!r}{among}")
    known = getattr(model, "feature_names_in_", None)
    is_feature = name in known if known is not None else len(columns) == model.n_features_in_
    return X[name], X if is_feature else X[[column for column in columns if column != name]]
