"""Figures of models with latent variables: the effect of each on a row, and loadings of factor analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from ._components import ordered
from ._figure import axes_or_new, figure_of, given_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._base import Estimator
    from ._types import Array, AxesOfPanels, Chosen, Rows
    from .factor_analysis import FactorAnalysis


def traversals(
    model: Estimator,
    components: Chosen | None = None,
    feature_shape: tuple[int, ...] | None = None,
    span: float = 3.0,
    steps: int = 7,
    X: Rows | None = None,
    axes: AxesOfPanels | None = None,
) -> Figure:
    """Draw rows that differ in one latent variable, from ``-span`` to ``span`` standard deviations, the others at their mean.

    The rows are decoded from codes by ``inverse_transform``, so that they show in the units of the columns what a latent variable does.
    Pictures have one scale of greys for all latent variables, so that a small effect is seen as such; curves have an axis for each.

    Parameters
    ----------
    model : fitted estimator with ``inverse_transform``
        Such as ``LinearEigenGAN``, ``PPCA`` or ``PCA``. The standard deviation of a code is the root of ``explained_variance_`` for
        coordinates along axes, and 1 for latent variables, factors, sources and whitened codes.
    components : int, str, sequence of these, or mask of bool, optional
        Latent variables to draw, from top to bottom; by default the first 8.
    feature_shape : tuple of int, optional
        Shape of one sample, as in ``(28, 28)``; by default that of the model. Samples of two axes (or three, the last of 3 colours) are
        drawn as strips of pictures, all others as curves.
    span : float, default=3.0
        Largest value of the latent variable, in standard deviations.
    steps : int, default=7
        Number of rows drawn for each latent variable, at least 2.
    X : array-like of shape (n_samples, n_features), path or Files, optional
        Rows whose codes have the means and the standard deviations to use. Needed where codes do not have mean 0 by the model: those of
        non-negative and sparse methods, and of fits with ``center=False``.
    axes : array of matplotlib Axes, optional
        Axes to draw into: one for each latent variable, or ``steps`` for each if rows are pictures; by default those of a new figure.

    Returns
    -------
    matplotlib Figure
        One strip, or one panel of curves, for each latent variable, and a colour bar (none for pictures of three colours).

    See Also
    --------
    components : The loadings of each component.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.independent(500, seed=0).X
    >>> unmix.plot.traversals(unmix.PPCA(2).fit(X)).axes[1].get_title()
    'component 1'
    """
    check_is_fitted(model)
    if steps < 2 or not span > 0:
        raise ValueError(f"span must be positive and steps at least 2, got span={span} and steps={steps}")
    k, p = model._model.n_codes, model.n_features_in_
    if not hasattr(model, "inverse_transform"):
        # Rows, as X, are not what is missing.
        raise ValueError(
            f"traversals are rows decoded from codes, and this {type(model).__name__} has no inverse_transform; give a model that has one, such "
            "as PCA of these rows, or of those of one cluster"
        )
    shown = list(range(min(k, 8))) if components is None else ordered(model._model, "components", components)
    shape = tuple(feature_shape or model._model.feature_shape or (p,))
    if np.prod(shape) != p:
        raise ValueError(f"feature_shape={shape} holds {np.prod(shape)} numbers, but the model has {p} features")
    if not shown:
        raise ValueError("the model has no components to traverse; fit it with at least 1")
    places = np.linspace(-span, span, steps)
    means, deviations = _moments(model, shown, X)
    codes = np.tile(means, (len(shown), steps, 1))
    for line, i in enumerate(shown):
        codes[line, :, i] += places * deviations[line]
    rows = np.asarray(model.inverse_transform(codes.reshape(-1, k)), dtype=np.float64).reshape(len(shown), steps, p)
    if len(shape) == 2 or (len(shape) == 3 and shape[-1] == 3):
        return _strips(rows, shape, shown, places, axes)
    return _curves(rows, shown, places, axes)


def loadings(model: FactorAnalysis, ax: Axes | None = None) -> Axes:
    """Draw the loadings of a factor analysis as a heat map, with the uniqueness of each column beside them.

    Loadings are divided by the standard deviations of the columns under the model: if factors are uncorrelated, they are the correlations
    of columns and factors, and the sum of their squares and the uniqueness is 1. Numbers are drawn for at most 60 columns.

    Parameters
    ----------
    model : fitted ``FactorAnalysis``
        Its loadings and uniquenesses.
    ax : matplotlib Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        One line for each column, in units of its standard deviation: its loadings on the factors, and its uniqueness as a fraction of its
        variance, with ``H`` at Heywood cases.

    See Also
    --------
    factor_correlations : Correlations of oblique factors.

    Examples
    --------
    >>> import numpy as np
    >>> import unmix
    >>> draw = np.random.RandomState(0)
    >>> X = draw.randn(500, 2) @ draw.randn(2, 6) + draw.randn(500, 6)
    >>> ax = unmix.plot.loadings(unmix.FactorAnalysis(2, rotation="varimax").fit(X))
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['factor 0', 'factor 1', 'unique']
    """
    check_is_fitted(model)
    _needs(model, "heywood_", "loadings and uniquenesses")
    table, unique = _standardized(model)
    p, k = table.shape
    ax = axes_or_new(ax, (1.2 + 0.55 * (k + 1), 1.0 + 0.24 * min(p, 60)))
    whole = np.column_stack([table, np.full(p, np.nan)])
    image = ax.imshow(whole, aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
    beside = np.column_stack([np.full((p, k), np.nan), unique])
    ax.imshow(beside, aspect="auto", cmap="Greys", vmin=0, vmax=1.4, interpolation="nearest")
    ax.set_xticks(range(k + 1), [*[f"factor {i}" for i in range(k)], "unique"], rotation=90)
    _named(ax, model, p)
    heywood = {int(j) for j in model.heywood_}
    if p <= 60:
        _numbers(ax, np.column_stack([table, unique]))
    for j in sorted(heywood):
        ax.text(k + 0.55, j, "H", color="C3", va="center", ha="left", fontsize="small", clip_on=False)
    ax.figure.colorbar(image, ax=ax, label="loading, standard deviations", shrink=0.7)
    return ax


def factor_correlations(model: FactorAnalysis, ax: Axes | None = None) -> Axes:
    """Draw the correlations of the factors of a factor analysis.

    A correlation near 1 or -1 means that two factors are hardly distinguishable, so that fewer may be sufficient. The colour scale is from
    -1 to 1.

    Parameters
    ----------
    model : fitted ``FactorAnalysis``
        With an oblique rotation, such as ``rotation="promax"``; after other rotations factors are uncorrelated.
    ax : matplotlib Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The correlations as a heat map with numbers.

    See Also
    --------
    loadings : Loadings and uniquenesses.

    Examples
    --------
    >>> import numpy as np
    >>> import unmix
    >>> draw = np.random.RandomState(0)
    >>> X = draw.randn(500, 2) @ draw.randn(2, 6) + draw.randn(500, 6)
    >>> ax = unmix.plot.factor_correlations(unmix.FactorAnalysis(2, rotation="promax").fit(X))
    >>> len(ax.texts)
    4
    """
    check_is_fitted(model)
    _needs(model, "factor_correlation_", "factors that may be correlated")
    table = np.asarray(model.factor_correlation_, dtype=np.float64)
    k = len(table)
    ax = axes_or_new(ax, (1.8 + 0.5 * k, 1.2 + 0.5 * k))
    image = ax.imshow(table, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
    ax.set_xticks(range(k), [f"factor {i}" for i in range(k)], rotation=90)
    ax.set_yticks(range(k), [f"factor {i}" for i in range(k)])
    _numbers(ax, table)
    ax.figure.colorbar(image, ax=ax, label="correlation", shrink=0.8)
    return ax


def _moments(model: Estimator, shown: list[int], X: Rows | None) -> tuple[Array, Array]:
    """The mean of every code, and the standard deviations of those that are shown."""
    if X is not None:
        found: Any = model.transform(X)
        codes = np.asarray(found.toarray() if issparse(found) else found, dtype=np.float64)
        return codes.mean(axis=0), codes.std(axis=0)[shown]
    if getattr(model, "center", True) is False or not _has_mean_0(model):
        raise ValueError(
            f"the codes of this {type(model).__name__} need not have mean 0, and the model does not hold their mean; give rows as X, such as "
            "those of the fit"
        )
    return np.zeros(model._model.n_codes), np.array([_standard_deviation(model, i) for i in shown])


def _has_mean_0(model: Estimator) -> bool:
    """Whether codes are a linear function, without an offset, of rows less their mean: rows on either side of it have opposite codes."""
    k = model._model.n_codes
    mean, aside = np.asarray(model.inverse_transform(np.stack([np.zeros(k), np.ones(k)])), dtype=np.float64)
    codes = model._model.encode(np.stack([mean, aside, 2 * mean - aside]), model._run_arguments())
    if issparse(codes):
        return False
    middle, right, left = np.asarray(codes, dtype=np.float64)
    return bool(max(np.abs(middle).max(), np.abs(left + right).max()) <= 1e-4 * np.abs(right).max())


def _standard_deviation(model: Estimator, i: int) -> float:
    """The standard deviation of code ``i``."""
    whiten = getattr(model, "whiten", False)
    if whiten == "arbitrary-variance":
        return float(1 / np.sqrt(model.n_samples_))
    if whiten or hasattr(model, "latent_scale_") or hasattr(model, "heywood_"):
        return 1.0
    variance = getattr(model, "explained_variance_", None)
    return 1.0 if variance is None else float(np.sqrt(variance[i]))


def _strips(rows: Array, shape: tuple[int, ...], shown: list[int], places: Array, axes: AxesOfPanels | None) -> Figure:
    lines, steps = rows.shape[:2]
    if axes is None:
        import matplotlib.pyplot as plt

        size = (1.1 * steps + (0.6 if len(shape) == 3 else 1.4), 1.15 * lines + 0.4)
        panels = plt.subplots(lines, steps, squeeze=False, layout="constrained", figsize=size)[1]
    else:
        given = given_axes(axes, lines * steps, f"{steps} steps of {lines} latent variables")
        panels = np.array(given, dtype=object).reshape(lines, steps)
    figure = figure_of(panels[0, 0])
    low, high = rows.min(), rows.max()
    for line in range(lines):
        for step, ax in enumerate(panels[line]):
            picture = rows[line, step].reshape(shape)
            if len(shape) == 3:
                ax.imshow((picture - low) / ((high - low) or 1))
            else:
                image = ax.imshow(picture, cmap="gray", vmin=low, vmax=high)
            ax.set_xticks([])
            ax.set_yticks([])
            if line == 0:
                ax.set_title(f"{places[step]:+.3g}" if places[step] else "mean", fontsize="small")
        panels[line, 0].set_ylabel(f"{shown[line]}", rotation=0, ha="right", va="center")
    if len(shape) == 2:
        figure.colorbar(image, ax=list(panels.flat), label="value")
    return figure


def _curves(rows: Array, shown: list[int], places: Array, axes: AxesOfPanels | None) -> Figure:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    panels = _new_panels(len(rows)) if axes is None else given_axes(axes, len(rows), "one for each latent variable")
    scale = ScalarMappable(Normalize(places[0], places[-1]), "coolwarm")
    for ax, curves, i in zip(panels, rows, shown, strict=True):
        for row, place in zip(curves, places, strict=True):
            ax.plot(row, color=scale.to_rgba(place), linewidth=1)
        ax.set_title(f"component {i}", fontsize="small")
    figure = figure_of(panels[0])
    figure.colorbar(scale, ax=panels, label="standard deviations")
    return figure


def _new_panels(count: int) -> list[Axes]:
    """Axes of a new figure with at most two panels beside each other."""
    import matplotlib.pyplot as plt

    columns = min(count, 2)
    lines = -(-count // columns)
    size = (4.2 * columns + 0.8, 2.2 * lines + 0.4)
    axes = list(plt.subplots(lines, columns, squeeze=False, layout="constrained", sharex=True, figsize=size)[1].flat)
    for ax in axes[count:]:
        ax.remove()
    return axes[:count]


def _needs(model: object, attribute: str, what: str) -> None:
    if not hasattr(model, attribute):
        raise ValueError(f"{type(model).__name__} has no {what}; this figure is of a FactorAnalysis")


def _standardized(model: FactorAnalysis) -> tuple[Array, Array]:
    """Loadings and uniquenesses in units of the standard deviations of the columns; 0 for constant columns."""
    unique = np.asarray(model.noise_variance_, dtype=np.float64)
    common = np.asarray(model.communalities_, dtype=np.float64)
    raw = np.asarray(model.components_, dtype=np.float64).T
    # With a prior of the factors their variances are not 1, and second moments of different factors may not be 0.
    of_factors = getattr(model, "factor_variance_", None)
    if of_factors is None:
        variance = np.einsum("ja,ab,jb->j", raw, np.asarray(model.factor_correlation_, dtype=np.float64), raw) + unique
    else:
        raw = raw * np.sqrt(np.asarray(of_factors, dtype=np.float64))
        variance = unique / np.maximum(1 - common, np.finfo(np.float64).tiny)
    scale = np.sqrt(np.where(variance > 0, variance, 1))
    return raw / scale[:, None], np.where(variance > 0, 1 - common, 0)


def _named(ax: Axes, model: Estimator, p: int) -> None:
    names = [str(name) for name in getattr(model, "feature_names_in_", range(p))]
    step = -(-p // 60)
    ax.set_yticks(range(0, p, step), names[::step], fontsize="small" if p <= 30 else "x-small")


def _numbers(ax: Axes, table: Array) -> None:
    for (i, j), value in np.ndenumerate(table):
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize="x-small", color="white" if abs(value) > 0.65 else "black")
