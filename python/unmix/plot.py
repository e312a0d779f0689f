"""Figures of fitted models, by matplotlib (``pip install unmix[plot]``).

Components are numbered from 0. Figures with a single pair of axes are drawn into ``ax``, which is returned; those of several panels are
drawn into ``axes``, and the figure is returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._components import ordered
from ._figure import axes_or_new, check_has_components
from ._plot_atoms import atoms
from ._plot_biplot import biplot
from ._plot_convergence import convergence
from ._plot_gaps import gaps, held_out
from ._plot_latents import factor_correlations, loadings, traversals
from ._plot_modules import biclusters, module
from ._plot_parts import affinities, parts
from ._plot_scatter import scatter
from ._plot_vectors import encoder_vectors, vectors
from ._types import Array, Chosen, Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ._base import Estimator
    from ._types import AxesOfPanels

__all__ = [
    "affinities",
    "atoms",
    "biclusters",
    "biplot",
    "components",
    "convergence",
    "factor_correlations",
    "filters",
    "gaps",
    "held_out",
    "loadings",
    "module",
    "parts",
    "scatter",
    "scree",
    "sources",
    "topography",
    "traversals",
]


def scree(model: Estimator, ax: Axes | None = None) -> Axes:
    """Draw the share of the variance that each component explains, and the cumulative share.

    An elbow of the curve is a common, but subjective choice of the number of components; :func:`unmix.select_components` applies rules.
    Shares refer to the variance of all columns, so that the cumulative share ends below 100 % if components were left out.

    Parameters
    ----------
    model : fitted estimator with ``explained_variance_ratio_``
        Such as ``PCA`` or ``ICA``.
    ax : matplotlib Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        With the plot.

    See Also
    --------
    components : Loadings of the components.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.independent(500, seed=0).X
    >>> unmix.plot.scree(unmix.PCA().fit(X)).get_ylabel()
    'share of the variance, %'
    """
    check_is_fitted(model)
    from matplotlib.ticker import MaxNLocator

    if not hasattr(model, "explained_variance_ratio_"):
        raise ValueError(
            f"a scree plot needs a model with explained_variance_ratio_, such as PCA, PPCA, NeuralPCA, SigmaPCA or ICA, and this "
            f"{type(model).__name__} has none"
        )
    ax = axes_or_new(ax)
    share = 100 * np.asarray(model.explained_variance_ratio_)
    ax.bar(np.arange(len(share)), share, label="of each component")
    ax.plot(np.arange(len(share)), np.cumsum(share), "o-", color="C1", markersize=3, label="cumulative")
    ax.set(xlabel="component", ylabel="share of the variance, %", ylim=(0, None))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False)
    return ax


def components(
    model: Estimator,
    feature_shape: tuple[int, ...] | None = None,
    n_components: int | None = None,
    which: str = "patterns",
    axes: AxesOfPanels | None = None,
) -> Figure:
    """Draw the loadings (or filters) of the components.

    Components are drawn as pictures if the features have a shape of two axes (or three, the last of 3 colours), as bars if features are
    few and have names, else as curves. Each component has its own scale, symmetric about 0.

    Parameters
    ----------
    model : fitted estimator
        With ``components_`` and ``mixing_``.
    feature_shape : tuple of int, optional
        Shape of one sample, as in ``(28, 28)``; by default that of the model.
    n_components : int, optional
        Number of components to draw; by default all, but at most 25.
    which : {"patterns", "filters"}, default="patterns"
        ``"patterns"``: columns of ``mixing_``, the loadings of each component. ``"filters"``: what :func:`filters` draws, the weights
        that compute its code from a row.
    axes : array of matplotlib Axes, optional
        Axes to draw into, one for each component; by default those of a new figure.

    Returns
    -------
    matplotlib Figure
        One panel for each component, with a colour bar beside each picture.

    See Also
    --------
    filters : The vectors of the encoder.
    scree : Shares of the variance.
    topography : One number for each sensor.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.independent(500, seed=0).X
    >>> len(unmix.plot.components(unmix.PCA(2).fit(X)).axes)
    2
    """
    if which not in ("patterns", "filters"):
        raise ValueError(f"which must be 'patterns' or 'filters', got {which!r}")
    if which == "filters":
        return filters(model, feature_shape, n_components, axes)
    check_has_components(model, "a figure of components")
    # With 'zca', codes are rotated back to the columns: columns of mixing_ are not the patterns of components, which are the axes.
    turned = getattr(model, "whiten", None) == "zca"
    return vectors(model, model.components_ if turned else model.mixing_.T, "pattern", feature_shape, n_components, axes)


def filters(
    model: Estimator,
    feature_shape: tuple[int, ...] | None = None,
    n_components: int | None = None,
    axes: AxesOfPanels | None = None,
) -> Figure:
    """Draw the filters of the components: the vectors that rows are multiplied by to give codes.

    The code of a component is the product of its filter and a row, less an offset; of networks and of ``RFN`` with ``e_step="plain"`` that
    product is followed by the activation. A filter suppresses the other components, and must not be interpreted as the pattern of its
    component, which :func:`components` draws (Haufe et al. 2014); for orthonormal axes the two differ in length only. Filters are drawn
    as pictures, bars or curves, as components are, each on its own scale, symmetric about 0.

    Parameters
    ----------
    model : fitted estimator
        With an encoder that is a matrix: ``encoder_weight_``, or codes that are a linear function of rows, such as those of ``PCA``,
        ``ICA``, ``RICA``, ``FactorAnalysis`` or ``CompleteDictionary``. Codes that a solver computes, such as those of ``SparseCoder``,
        have no filters.
    feature_shape : tuple of int, optional
        Shape of one sample, as in ``(28, 28)``; by default that of the model.
    n_components : int, optional
        Number of filters to draw; by default all, but at most 25.
    axes : array of matplotlib Axes, optional
        Axes to draw into, one for each filter; by default those of a new figure.

    Returns
    -------
    matplotlib Figure
        One panel for each filter, with a colour bar beside each picture.

    See Also
    --------
    components : The loadings of the components.

    References
    ----------
    S. Haufe, F. Meinecke, K. Görgen, S. Dähne, J.-D. Haynes, B. Blankertz & F. Bießmann (2014), On the interpretation of weight vectors of linear
        models in multivariate neuroimaging, NeuroImage 87. doi:10.1016/j.neuroimage.2013.10.067

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.independent(500, seed=0).X
    >>> unmix.plot.filters(unmix.ICA(2, random_state=0).fit(X)).axes[1].get_title()
    'filter 1'
    """
    return vectors(model, encoder_vectors(model), "filter", feature_shape, n_components, axes)


def sources(
    model: Estimator, X: Rows, rate: float | None = None, components: Chosen | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the codes of consecutive rows as aligned time courses, one for each component.

    Each time course is shifted by its median and divided by its largest absolute deviation from it, so that amplitudes of different
    components cannot be compared. The codes are held in memory.

    Parameters
    ----------
    model : fitted estimator
        Any estimator with ``transform``.
    X : array-like of shape (n_samples, n_features), path or Files
        Consecutive rows, as for ``model.transform``.
    rate : float, optional
        Sampling rate, in rows per second; without it, time is counted in rows.
    components : int, str, sequence of these, or mask of bool, optional
        Components to draw, from top to bottom: numbers (negative ones count from the end), names or ranges, as in ``"2-4"``; by default
        the first 12.
    ax : matplotlib Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        With the plot; each source has its own scale.

    See Also
    --------
    scatter : Rows by two components.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.independent(500, seed=0).X
    >>> unmix.plot.sources(unmix.ICA(random_state=0).fit(X), X, rate=100).get_xlabel()
    'seconds'
    """
    check_is_fitted(model)
    if rate is not None and not rate > 0:
        raise ValueError(f"rate must be a positive number of rows per second, got {rate!r}")
    codes = np.asarray(model.encode(X), dtype=np.float64)
    first = range(min(codes.shape[1], 12))
    shown = list(first) if components is None else ordered(model._model, "components", components)
    ax = axes_or_new(ax)
    time = np.arange(len(codes)) / (rate or 1)
    for line, c in enumerate(shown):
        y = codes[:, c] - np.median(codes[:, c])
        ax.plot(time, -line + 0.45 * y / (np.abs(y).max() or 1), linewidth=0.7, color=f"C{line % 10}")
    ax.set_yticks(-np.arange(len(shown)), [str(c) for c in shown])
    ax.set(xlabel="seconds" if rate else "row", ylabel="component", xlim=(time[0], time[-1]) if len(time) > 1 else None)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def topography(values: ArrayLike, positions: ArrayLike, ax: Axes | None = None, colorbar: bool = True) -> Axes:
    """Draw one number for each sensor as a map of the head seen from above, the nose upwards.

    The circle of the head has a radius 4 % larger than the distance of the outermost sensor from the centre; values are extrapolated beyond
    the sensors. Draw columns of ``mixing_`` rather than rows of ``components_``: filters do not show where a source is strong.

    Parameters
    ----------
    values : array-like of shape (n_sensors,)
        One number for each sensor, such as a column of ``mixing_``, the loadings of a source.
    positions : array-like of shape (n_sensors, 2)
        Coordinates of the sensors, to the right and to the front, in any unit; the centre of the head is (0, 0).
    ax : matplotlib Axes, optional
        Axes to draw into; by default those of a new figure.
    colorbar : bool, default=True
        Whether to draw the colour scale beside the map.

    Returns
    -------
    matplotlib Axes
        With the map, interpolated between sensors by thin-plate splines; its colour scale is symmetric about 0, red positive and blue
        negative.

    See Also
    --------
    components : Loadings of the components.

    Examples
    --------
    >>> import unmix
    >>> ax = unmix.plot.topography([1, 2, 3, 4], [[0, 1], [1, 0], [0, -1], [-1, 0]])
    >>> ax.get_aspect()
    1.0
    """
    from scipy.interpolate import RBFInterpolator

    if hasattr(values, "mixing_"):
        raise TypeError("values is a model, and a map has one number for each sensor; give a column of its mixing_, as in model.mixing_[:, 0]")
    z, places = (_numbers(*given) for given in (("values", values), ("positions", positions)))
    if z.ndim != 1 or places.shape != (len(z), 2) or len(z) < 3:
        raise ValueError(
            f"values must be one number and positions two coordinates for each of at least 3 sensors, but they have shapes {z.shape} "
            f"and {places.shape}"
        )
    if len(np.unique(places, axis=0)) < len(places):
        raise ValueError("two sensors have the same position; give each sensor one of its own")
    ax = axes_or_new(ax)
    head = 1.04 * np.hypot(*places.T).max()
    x, y = np.meshgrid(*[np.linspace(-head, head, 96)] * 2)
    inside = np.hypot(x, y) <= head
    between = np.full(x.shape, np.nan)
    between[inside] = RBFInterpolator(places, z, kernel="thin_plate_spline")(np.column_stack([x[inside], y[inside]]))
    most = np.nanmax(np.abs(between)) or 1
    filled = ax.contourf(x, y, between, np.linspace(-most, most, 24), cmap="RdBu_r")
    if colorbar:
        ax.figure.colorbar(filled, ax=ax, ticks=[-most, 0, most], format="%.2g", shrink=0.7)
    ax.plot(*places.T, "k.", markersize=2)
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(head * np.cos(turn), head * np.sin(turn), color="0.2", linewidth=1)
    ax.plot(head * np.array([-0.12, 0, 0.12]), head * np.array([0.99, 1.13, 0.99]), color="0.2", linewidth=1)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _numbers(name: str, given: ArrayLike) -> Array:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite, and {np.argwhere(~np.isfinite(numbers))[0].tolist()} is not; leave such sensors out")
    return numbers
