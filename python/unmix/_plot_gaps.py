"""Figures of missing cells: their positions, and the accuracy of imputed values."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._figure import axes_or_new
from ._types import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: #: Maximum number of lines of a map.
_MOST_LINES = 400
#: #: Maximum number of column names on a map.
_MOST_NAMES = 30


def gaps(X: Rows, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw which cells of a table are missing: rows downwards, columns to the right.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; NaN is a missing cell. Of more than 400 rows, runs of consecutive rows share a line, which shows the share of its cells that
        is missing.
    names : sequence of str, optional
        Names of the columns; by default those of a data frame.
    ax : matplotlib Axes, optional
        Where to; new axes when left out.

    Returns
    -------
    matplotlib Axes
        With the map; its title tells how many cells are missing, and of how many rows and columns.

    See Also
    --------
    held_out : Filled cells beside the values that they had.

    Examples
    --------
    >>> import unmix
    >>> ax = unmix.plot.gaps([[1, float("nan")], [2, 3]])
    >>> ax.get_title()
    '25 % of the cells missing: in 1 of 2 rows, in 1 of 2 columns'
    """
    names = [str(name) for name in (getattr(X, "columns", ()) if names is None else names)]
    missing = np.isnan(_table(X))
    n, p = missing.shape
    if names and len(names) != p:
        raise ValueError(f"{len(names)} names were given, but there are {p} columns; give one for each")
    lines = min(n, _MOST_LINES)
    edges = np.linspace(0, n, lines + 1).astype(int)
    share = np.array([missing[a:b].mean(axis=0) for a, b in zip(edges[:-1], edges[1:], strict=True)]).reshape(lines, p)
    ax = axes_or_new(ax)
    ax.imshow(share, aspect="auto", cmap="Greys", vmin=0, vmax=1, interpolation="nearest", extent=(-0.5, p - 0.5, n - 0.5, -0.5))
    ax.set(
        xlabel="column",
        ylabel="row",
        title=f"{100 * missing.mean():.3g} % of the cells missing: in {missing.any(axis=1).sum()} of {n} rows, "
        f"in {missing.any(axis=0).sum()} of {p} columns",
    )
    if 0 < len(names) <= _MOST_NAMES:
        ax.set_xticks(np.arange(p), names, rotation=90, fontsize="x-small")
        ax.set_xlabel("")
    return ax


def held_out(
    model: Any, X: Rows, share: float = 0.1, random_state: int = 0, level: float = 0.95, bootstrap: int = 0
) -> Figure:
    """Hide some of the known cells, fill them by the model, and draw the fills beside the values that were hidden.

    The model is used as it is: its parameters have seen the hidden cells where ``X`` are the rows of its fit. For errors of prediction
    fit it to other rows, or to rows from which the same cells were removed.

    Parameters
    ----------
    model : fitted estimator with ``impute``
        As ``PPCA``.
    X : array-like of shape (n_samples, n_features)
        Rows; NaN is a missing cell.
    share : float, default=0.1
        Share of the known cells that is hidden, at random.
    random_state : int, default=0
        Seed of the choice.
    level : float, default=0.95
        Level of the intervals.
    bootstrap : int, default=0
        As in ``impute``: refits to resampled rows, used only where the rows are those of the fit.

    Returns
    -------
    matplotlib Figure
        Two panels: the fills with their intervals over the hidden values, with the root mean squared error; and the share of hidden values
        inside their intervals for levels from 50 to 99 %, with its 95 % band for calibrated intervals.

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
    ['filled value', 'share inside, %']
    """
    check_is_fitted(model)
    if not hasattr(model, "impute"):
        raise ValueError(f"{type(model).__name__} does not fill missing cells; take PPCA, LinearEigenGAN or FactorAnalysis")
    for name, value in (("share", share), ("level", level)):
        if not 0 < value < 1:
            raise ValueError(f"{name}={value} is not possible: it must be between 0 and 1")
    truth, hidden = _hidden(_table(X), share, random_state)
    filled, std = model.impute(np.where(hidden, np.nan, truth), return_std=True, bootstrap=bootstrap)
    truth, filled, std = (np.asarray(of, dtype=np.float64)[hidden] for of in (truth, filled, std))
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, layout="constrained", figsize=(9, 4.2))
    _fills(left, truth, filled, std, level)
    _coverage(right, truth, filled, std)
    return figure


def _table(X):
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"X has shape {table.shape}; give rows of numbers")
    return table


def _hidden(X, share, random_state):
    """X, and a mask of the cells to hold out."""
    seen = np.flatnonzero(~np.isnan(X))
    count = round(share * len(seen))
    if count == 0:
        raise ValueError(f"share={share} of {len(seen)} known cells is none; give a larger share, or more rows")
    hidden = np.zeros(X.size, dtype=bool)
    hidden[np.random.default_rng(random_state).choice(seen, count, replace=False)] = True
    return X, hidden.reshape(X.shape)


def _fills(ax, truth, filled, std, level):
    reach = NormalDist().inv_cdf(0.5 + level / 2)
    inside = np.abs(truth - filled) <= reach * std
    # With more, the bars would overlap.
    shown = np.linspace(0, len(truth) - 1, min(len(truth), 400)).astype(int)
    for here, colour, name in ((inside, "C0", "interval holds the value"), (~inside, "C3", "interval does not")):
        at = shown[here[shown]]
        if len(at):
            ax.errorbar(
                truth[at], filled[at], reach * std[at], fmt="o", markersize=3, linewidth=0.6, color=colour, alpha=0.7, label=name
            )
    ends = [min(truth.min(), filled.min()), max(truth.max(), filled.max())]
    ax.plot(ends, ends, color="0.5", linewidth=1, zorder=0)
    error = np.sqrt(np.mean((truth - filled) ** 2))
    ax.set(
        xlabel="hidden value",
        ylabel="filled value",
        title=f"{len(truth)} cells: root mean squared error {error:.3g}, {100 * inside.mean():.3g} % inside {100 * level:.3g} % intervals",
    )
    ax.title.set_fontsize("small")
    ax.legend(frameon=False, fontsize="small")


def _coverage(ax, truth, filled, std):
    levels = np.linspace(0.5, 0.99, 50)
    reach = np.array([NormalDist().inv_cdf(0.5 + level / 2) for level in levels])
    off = np.abs(truth - filled) / np.where(std > 0, std, np.inf)
    off[(std == 0) & (truth != filled)] = np.inf
    share = (off[:, None] <= reach).mean(axis=0)
    band = 1.96 * np.sqrt(levels * (1 - levels) / len(off))
    ax.fill_between(100 * levels, 100 * (levels - band), 100 * (levels + band), color="0.85", label="95 % band of calibrated intervals")
    ax.plot(100 * levels, 100 * share, color="C0", label="found")
    ax.set(xlabel="level of the interval, %", ylabel="share inside, %")
    ax.legend(frameon=False, loc="upper left")

