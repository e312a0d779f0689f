"""Figures of missing cells: their positions, and the accuracy of imputed values."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._figure import axes_or_new, figure_of, given_axes
from ._input import counted, dense
from ._types import Array, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._base import Estimator
    from ._types import AxesOfPanels

#: Maximum number of pixel rows of a map.
_MOST_LINES = 400
#: Maximum number of column names on a map.
_MOST_NAMES = 30


def gaps(X: Rows, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw which cells of a table are missing: rows downwards, columns to the right.

    Columns that are missing together, or blocks of consecutive rows, show that cells are not missing completely at random. Whether cells
    are missing because of their values, which biases imputation, no map can show. The rows are held in memory.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; NaN is a missing cell, as is a masked one. If there are more than 400 rows, each line of the map represents several
        consecutive rows, and shows the fraction of missing cells.
    names : sequence of str, optional
        Names of the columns; by default those of a data frame.
    ax : matplotlib Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        With the map and its colour bar; its title has the percentage of missing cells, and the numbers of rows and columns that have any.

    See Also
    --------
    held_out : Imputed values against held-out ones.

    Examples
    --------
    >>> import unmix
    >>> ax = unmix.plot.gaps([[1, float("nan")], [2, 3]])
    >>> ax.get_title()
    '25 % of the cells are missing: in 1 of 2 rows, in 1 of 2 columns'
    """
    names = [str(name) for name in (getattr(X, "columns", ()) if names is None else names)]
    missing = np.isnan(_table(X))
    n, p = missing.shape
    if names and len(names) != p:
        were, are = "was" if len(names) == 1 else "were", "is" if p == 1 else "are"
        raise ValueError(f"{counted(len(names), 'name')} {were} given, but there {are} {counted(p, 'column')}; give one for each")
    lines = min(n, _MOST_LINES)
    edges = np.linspace(0, n, lines + 1).astype(int)
    share = np.array([missing[a:b].mean(axis=0) for a, b in zip(edges[:-1], edges[1:], strict=True)]).reshape(lines, p)
    ax = axes_or_new(ax)
    extent = (-0.5, p - 0.5, n - 0.5, -0.5)
    image = ax.imshow(share, aspect="auto", cmap="Greys", vmin=0, vmax=1, interpolation="nearest", extent=extent)
    if lines < n:
        ax.figure.colorbar(image, ax=ax, label="fraction of missing cells")
    else:
        ax.figure.colorbar(image, ax=ax).set_ticks([0, 1], labels=["observed", "missing"])
    ax.set(
        xlabel="column",
        ylabel="row",
        title=f"{100 * missing.mean():.3g} % of the cells are missing: in {missing.any(axis=1).sum()} of {n} rows, "
        f"in {missing.any(axis=0).sum()} of {p} columns",
    )
    if 0 < len(names) <= _MOST_NAMES:
        ax.set_xticks(np.arange(p), names, rotation=90, fontsize="x-small")
        ax.set_xlabel("")
    return ax


def held_out(
    model: Estimator,
    X: Rows,
    share: float = 0.1,
    random_state: int = 0,
    level: float = 0.95,
    bootstrap: int = 0,
    axes: AxesOfPanels | None = None,
) -> Figure:
    """Hold out some of the observed cells, impute them by the model, and draw imputed against held-out values.

    The model is not refitted: if ``X`` are the rows that it was fitted to, its parameters depend on the held-out cells. For prediction
    errors, fit it to other rows.

    Parameters
    ----------
    model : fitted estimator with ``impute``
        Such as ``PPCA``.
    X : array-like of shape (n_samples, n_features)
        Rows; NaN is a missing cell.
    share : float, default=0.1
        Fraction of the observed cells that is held out, at random.
    random_state : int, default=0
        Seed of the random choice of cells.
    level : float, default=0.95
        Level of the intervals.
    bootstrap : int, default=0
        As in ``impute``: number of refits to resampled rows, used only if the rows are those of the fit.
    axes : array of matplotlib Axes, optional
        Two axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib Figure
        Two panels: imputed values, with their intervals, against held-out values, and the root mean squared error; and the coverage of
        the intervals, the percentage of held-out values inside them, for levels from 50 to 99 %, with its 95 % band for calibrated
        intervals.

    See Also
    --------
    gaps : Map of the missing cells.

    Examples
    --------
    >>> import numpy as np
    >>> import unmix
    >>> draw = np.random.RandomState(0)
    >>> X = draw.randn(300, 2) @ draw.randn(2, 6) + 0.3 * draw.randn(300, 6)
    >>> figure = unmix.plot.held_out(unmix.PPCA(n_components=2).fit(X[:150]), X[150:])
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['imputed value', 'coverage, %']
    """
    check_is_fitted(model)
    if not hasattr(model, "impute"):
        raise ValueError(f"{type(model).__name__} does not impute missing cells; use PPCA, LinearEigenGAN, FactorAnalysis or MatrixCompletion")
    for name, value in (("share", share), ("level", level)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must be between 0 and 1, got {value}")
    truth, hidden = _hidden(_table(X), share, random_state)
    filled, std = model.impute(np.where(hidden, np.nan, truth), return_std=True, bootstrap=bootstrap)
    truth, filled, std = (np.asarray(values, dtype=np.float64)[hidden] for values in (truth, filled, std))
    if axes is None:
        import matplotlib.pyplot as plt

        left, right = plt.subplots(1, 2, layout="constrained", figsize=(9, 4.2))[1]
    else:
        left, right = given_axes(axes, 2, "one for the imputed values, one for the coverage")
    _fills(left, truth, filled, std, level)
    _coverage(right, truth, filled, std)
    return figure_of(left)


def _table(X: Any) -> Array:
    X = dense(X)
    given = np.ma.filled(X.astype(np.float64), np.nan) if isinstance(X, np.ma.MaskedArray) else X
    table: Array = np.asarray(given, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"X must be an array of two axes with at least one row and one column, but has shape {table.shape}")
    return table


def _hidden(X: Array, share: float, random_state: int) -> tuple[Array, Array]:
    """X, and a mask of the cells to hold out."""
    observed = np.flatnonzero(~np.isnan(X))
    count = round(share * len(observed))
    if count == 0:
        raise ValueError(f"share={share} of {len(observed)} observed cells is less than one cell; give a larger share, or more rows")
    hidden = np.zeros(X.size, dtype=bool)
    hidden[np.random.default_rng(random_state).choice(observed, count, replace=False)] = True
    return X, hidden.reshape(X.shape)


def _fills(ax: Axes, truth: Array, filled: Array, std: Array, level: float) -> None:
    reach = NormalDist().inv_cdf(0.5 + level / 2)
    inside = np.abs(truth - filled) <= reach * std
    # With more, the bars would overlap.
    shown = np.linspace(0, len(truth) - 1, min(len(truth), 400)).astype(int)
    for here, colour, name in ((inside, "C0", "inside the interval"), (~inside, "C3", "outside")):
        at = shown[here[shown]]
        if len(at):
            ax.errorbar(
                truth[at], filled[at], reach * std[at], fmt="o", markersize=3, linewidth=0.6, color=colour, alpha=0.7, label=name
            )
    ends = [min(truth.min(), filled.min()), max(truth.max(), filled.max())]
    ax.plot(ends, ends, color="0.5", linewidth=1, zorder=0)
    error = np.sqrt(np.mean((truth - filled) ** 2))
    ax.set(
        xlabel="held-out value",
        ylabel="imputed value",
        title=f"{counted(len(truth), 'cell')}: root mean squared error {error:.3g}, {100 * inside.mean():.3g} % inside {100 * level:.3g} % intervals",
    )
    ax.title.set_fontsize("small")
    ax.legend(frameon=False, fontsize="small")


def _coverage(ax: Axes, truth: Array, filled: Array, std: Array) -> None:
    levels = np.linspace(0.5, 0.99, 50)
    reach = np.array([NormalDist().inv_cdf(0.5 + level / 2) for level in levels])
    off = np.abs(truth - filled) / np.where(std > 0, std, np.inf)
    off[(std == 0) & (truth != filled)] = np.inf
    share = (off[:, None] <= reach).mean(axis=0)
    band = 1.96 * np.sqrt(levels * (1 - levels) / len(off))
    ax.fill_between(100 * levels, 100 * (levels - band), 100 * (levels + band), color="0.85", label="95 % band of calibrated intervals")
    ax.plot(100 * levels, 100 * share, color="C0", label="observed coverage")
    ax.set(xlabel="level of the interval, %", ylabel="coverage, %")
    ax.legend(frameon=False, loc="upper left")
