"""Measures of agreement of two results, irrespective of order and sign, and of the quality of codes and imputations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _unmix
from ._probing import sparse_probing
from ._types import Array, Rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "Match",
    "Pooled",
    "amari_distance",
    "clustering_accuracy",
    "consensus_score",
    "interference",
    "lasso_gap",
    "match",
    "matched_correlation",
    "matched_cosine",
    "mutual_information",
    "nmi",
    "pool",
    "projection_distance",
    "sparse_probing",
    "subspace_angles",
]


class Match(NamedTuple):
    """A matching of components.

    Parameters
    ----------
    order : ndarray of int
        For each component of the first model, the index of its match in the second.
    sign : ndarray of float
        1 or -1 for each pair.
    cosine : ndarray of float
        Absolute cosine of each pair; 1 for the same direction, whatever the sign. For two models with non-negative codes the cosine if it
        is positive, else 0.

    Attributes
    ----------
    order : ndarray of int
        For each component of the first model, the index of its match in the second.
    sign : ndarray of float
        1 or -1 for each pair.
    cosine : ndarray of float
        Absolute cosine of each pair; 1 for the same direction, whatever the sign. For two models with non-negative codes the cosine if it
        is positive, else 0.

    See Also
    --------
    match : The function that returns this object.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix.metrics import match
    >>> match(np.eye(3), np.eye(3)[::-1]).order
    array([2, 1, 0])
    """

    order: Array
    sign: Array
    cosine: Array


def _rows(model):
    rows = np.asarray(getattr(model, "components_", model), dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"components must be an array of 2 axes, got {rows.ndim}; give a fitted model or its components_")
    return rows


def _pair(a, b):
    a, b = _rows(a), _rows(b)
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"components must be of the same features, got {a.shape[1]} and {b.shape[1]} features"
        )
    return a, b


def _gain(model, mixing):
    gain = _rows(model)
    if mixing is None:
        return gain
    mixing = np.asarray(getattr(mixing, "mixing_", mixing), dtype=np.float64)
    if mixing.ndim != 2 or len(mixing) != gain.shape[1]:
        raise ValueError(f"mixing must be an array of shape ({gain.shape[1]}, n_sources), but has shape {mixing.shape}")
    return gain @ mixing


def amari_distance(model: Any, mixing: Any = None) -> float:
    """Return Amari's distance between an estimated unmixing and the true mixing (Amari, Cichocki & Yang 1996).

    Parameters
    ----------
    model : fitted estimator, or array-like of shape (n_components, n_features)
        Unmixing matrix.
    mixing : array-like of shape (n_features, n_components), optional
        Mixing matrix; without it, ``model`` is the product of unmixing and mixing matrix.

    Returns
    -------
    float
        0 if every estimated source is one true source up to scale; 1 if every one contains all of them equally.

    See Also
    --------
    interference : Signal-to-interference ratio of every source.

    Examples
    --------
    >>> from unmix.metrics import amari_distance
    >>> amari_distance([[0, -2], [3, 0]])
    0.0
    """
    return _unmix.amari_distance(_gain(model, mixing))


def consensus_score(a: Any, b: Any) -> float:
    """Return the consensus score of two sets of biclusters.

    Parameters
    ----------
    a, b : Biclusters, or (rows, columns)
        Boolean arrays of shape (n_biclusters, n_samples) and (n_biclusters, n_features), or an object with these as ``biclusters_``.

    Returns
    -------
    float
        Sum of the Jaccard indices of the cells under the best matching, divided by the number of biclusters of the larger set [1]_: 1 for
        the same biclusters in any order, 0 if none share a cell. Equal to :func:`sklearn.metrics.consensus_score`.

    See Also
    --------
    unmix.biclusters : Modules of a model.

    References
    ----------
    .. [1] Hochreiter, S. et al. (2010). FABIA: factor analysis for bicluster acquisition. Bioinformatics 26(12), 1520-1527.
       doi:10.1093/bioinformatics/btq227

    Examples
    --------
    >>> import numpy as np
    >>> from unmix.metrics import consensus_score
    >>> rows, columns = np.eye(2, 4, dtype=bool), np.ones((2, 3), dtype=bool)
    >>> consensus_score((rows, columns), (rows[::-1], columns))
    1.0
    """
    return _unmix.consensus_score(_members(a), _members(b))


def _members(of):
    rows, columns = (np.asarray(part) for part in getattr(of, "biclusters_", of))
    if rows.ndim != 2 or columns.ndim != 2 or len(rows) != len(columns) or rows.dtype != bool or columns.dtype != bool:
        raise ValueError(
            "biclusters must be two boolean arrays with one row for each bicluster, got arrays of shape "
            f"{rows.shape} and {columns.shape} and of type {rows.dtype} and {columns.dtype}"
        )
    return [(np.flatnonzero(r).tolist(), np.flatnonzero(c).tolist()) for r, c in zip(rows, columns, strict=True)]


def interference(model: Any, mixing: Any = None) -> Array:
    """Return the signal-to-interference ratio of every estimated source: the power of its largest part over that of all others.

    Parameters
    ----------
    model : fitted estimator, or array-like of shape (n_components, n_features)
        Unmixing matrix.
    mixing : array-like of shape (n_features, n_sources), optional
        Mixing matrix of sources with unit variance; without it, ``model`` is the product of unmixing and mixing matrix.

    Returns
    -------
    ndarray of shape (n_components,)
        Ratios in decibels: 20 for a single interfering source of a tenth of the amplitude.

    See Also
    --------
    amari_distance : One number for all sources.

    Examples
    --------
    >>> from unmix.metrics import interference
    >>> interference([[1, 0.1], [0.01, 1]]).round()
    array([20., 40.])
    """
    return _unmix.interference(_gain(model, mixing))


def matched_correlation(a: ArrayLike, b: ArrayLike) -> Array:
    """Match the columns of two tables so that the sum of absolute correlations is maximal (Hungarian method).

    Parameters
    ----------
    a, b : array-like of shape (n_samples, n_sources)
        Sources of the same samples; ``b`` has at least as many columns as ``a``.

    Returns
    -------
    Match
        Order, signs, and absolute correlations in place of cosines.

    See Also
    --------
    match : The components of two models, matched.

    Examples
    --------
    >>> from unmix.metrics import matched_correlation
    >>> matched_correlation([[0, 1], [1, 0], [2, 5]], [[1, 0], [0, -2], [5, -4]]).order
    array([1, 0])
    """
    a, b = (np.asarray(m, dtype=np.float64) for m in (a, b))
    if a.ndim != 2 or b.ndim != 2 or len(a) != len(b):
        raise ValueError(f"tables must have one row for each of the same samples, but have shapes {a.shape} and {b.shape}")
    return _correlated(a, b, False)


def _correlated(a, b, non_negative):
    a, b = _matchable((a - a.mean(axis=0)).T, (b - b.mean(axis=0)).T)
    return Match(*_unmix.match_rows(a, b, non_negative))


def mutual_information(X: ArrayLike) -> Array:
    """Return an estimate of the mutual information between each pair of columns, in nats.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_columns)
        Sources, or any other variables.

    Returns
    -------
    ndarray of shape (n_columns, n_columns)
        About 0 for independent columns, with errors of either sign; 0 on the diagonal. Estimated from a contingency table of the ranks,
        with Miller's correction of the bias (1955).

    See Also
    --------
    amari_distance : Distance of an unmixing matrix from the truth.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix.metrics import mutual_information
    >>> x = np.random.RandomState(0).randn(5000, 2)
    >>> bool(mutual_information(x)[0, 1] < 0.02 < 0.3 < mutual_information(x @ [[1, 1], [0, 0.6]])[0, 1])
    True
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or len(X) < 2:
        raise ValueError(f"X must be an array of two axes with at least two rows, but has shape {X.shape}")
    return _unmix.mutual_information(X)


def _labels(a, b):
    """Two lists of labels as numbers from 0."""
    a, b = (np.asarray(labels) for labels in (a, b))
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"labels must be two lists of the same length, got shapes {a.shape} and {b.shape}")
    return [np.unique(labels, return_inverse=True)[1].tolist() for labels in (a, b)]


def clustering_accuracy(a: ArrayLike, b: ArrayLike) -> float:
    """Return the fraction of rows whose labels agree, under the best matching of the labels of ``b`` with those of ``a``.

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        Labels of the same rows: numbers or text.

    Returns
    -------
    float
        1 for the same clusters, whatever their labels. A label without a match agrees with none.

    See Also
    --------
    nmi : Normalized mutual information.

    Examples
    --------
    >>> from unmix.metrics import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], ["b", "b", "b", "a"])
    0.75
    """
    return _unmix.clustering_accuracy(*_labels(a, b))


def nmi(a: ArrayLike, b: ArrayLike) -> float:
    """Return the normalized mutual information of two clusterings, ``2 I(a; b) / (H(a) + H(b))``.

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        Labels of the same rows: numbers or text.

    Returns
    -------
    float
        1 for the same clusters, whatever their labels, also if both have a single cluster; 0 for independent ones.

    See Also
    --------
    clustering_accuracy : The fraction of rows whose labels agree.

    Examples
    --------
    >>> from unmix.metrics import nmi
    >>> nmi([0, 0, 1, 1], [1, 1, 0, 0]), nmi([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, 0.0)
    """
    return _unmix.nmi(*_labels(a, b))


def lasso_gap(X: ArrayLike, Z: ArrayLike, A: ArrayLike, alpha: float, positive: bool = False) -> Array:
    """Return the duality gap of each code of the lasso: an upper bound on the distance of its objective from the minimum.

    The objective is ``1/2 ||x - z A||**2 + alpha ||z||_1``. The gap is computed from a recomputed residual in double precision, as a sum
    of non-negative terms.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; NaN is a missing cell.
    Z : array-like or sparse matrix of shape (n_samples, n_components)
        Codes of the rows.
    A : array-like of shape (n_components, n_features)
        The dictionary.
    alpha : float
        Weight of the penalty; positive.
    positive : bool, default=False
        Whether codes are constrained to be non-negative; the gap of a code with a negative entry is infinite.

    Returns
    -------
    ndarray of shape (n_samples,)
        Gaps, in float64.

    See Also
    --------
    unmix.SparseCoder : Computes codes up to a given gap.

    Examples
    --------
    >>> from unmix.metrics import lasso_gap
    >>> lasso_gap([[3.0, 0.0]], [[2.5, 0.0]], [[1.0, 0.0], [0.0, 1.0]], alpha=0.5)
    array([0.])
    """
    if not alpha > 0:
        raise ValueError(f"alpha must be positive, got {alpha}")
    Z = Z.toarray() if hasattr(Z, "toarray") else Z
    X, Z, A = (np.ascontiguousarray(a, dtype=np.float64) for a in (X, Z, A))
    if X.ndim != 2 or Z.ndim != 2 or A.ndim != 2 or Z.shape != (len(X), len(A)) or X.shape[1] != A.shape[1]:
        raise ValueError(f"X must be n x p, Z n x m and A m x p, but they have shapes {X.shape}, {Z.shape} and {A.shape}")
    return _unmix.lasso_gap(X, Z, A, float(alpha), bool(positive))


def match(a: Any, b: Any, X: Rows = None) -> Match:
    """Match the components of two models so that the sum of absolute cosines is maximal (Hungarian method).

    Two fitted models are compared by the loadings of their components (``mixing_``); encoders are less comparable, because they may
    differ along directions in which rows do not vary. With ``X`` they are compared by the correlation of their codes, which also
    distinguishes components with similar loadings. If the codes of both models are non-negative, as those of sparse autoencoders and RFN,
    the negative of a unit is another unit: pairs then have positive cosines, and every sign is 1. ``unmix.report(..., beside=...)`` matches
    in the same way.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        ``b`` has at least as many components as ``a``. If one is an array, its rows are compared with ``components_`` of the other.
    X : array-like of shape (n_samples, n_features), optional
        Rows, if both are fitted estimators.

    Returns
    -------
    Match
        Order, signs and cosines (correlations, with ``X``): component ``i`` of ``a`` is similar to ``sign[i]`` times component
        ``order[i]`` of ``b``.

    See Also
    --------
    matched_cosine : The mean cosine of the pairs.

    Examples
    --------
    >>> from unmix.metrics import match
    >>> match([[1, 0], [0, 1]], [[0, -2], [1, 0]]).order
    array([1, 0])
    """
    if X is not None:
        codes = (model.transform(X) for model in (a, b))
        dense = (np.asarray(each.toarray() if hasattr(each, "toarray") else each, dtype=np.float64) for each in codes)
        return _correlated(*dense, _one_sided(a, b))
    return Match(*_unmix.match_rows(*_matchable(a, b), _one_sided(a, b)))


def _one_sided(a, b):
    """Whether the negative of a component is another one, in two models of this package."""
    models = [getattr(model, "_model", None) for model in (a, b)]
    return all(isinstance(model, _unmix.Model) and model.one_sided for model in models)


def _matchable(a, b):
    if hasattr(a, "mixing_") and hasattr(b, "mixing_"):
        a, b = np.asarray(a.mixing_).T, np.asarray(b.mixing_).T
    a, b = _pair(a, b)
    if len(a) > len(b):
        raise ValueError(f"{len(a)} components cannot be matched one to one with {len(b)}; give the model with more components second")
    return a, b


def matched_cosine(a: Any, b: Any) -> float:
    """Return the mean absolute cosine between the components of two models, matched as by ``match``.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        ``b`` has at least as many components as ``a``.

    Returns
    -------
    float
        1 for the same directions, whatever their order, sign (see ``match``) and length. The chance level is far from 0: for two sets of 30 random
        directions in 20 dimensions it is about 0.46. The fraction above a level is ``(match(a, b).cosine > 0.99).mean()``.

    See Also
    --------
    match : The pairs themselves.

    Examples
    --------
    >>> from unmix.metrics import matched_cosine
    >>> matched_cosine([[1, 0], [0, 1]], [[0, -2], [1, 0]])
    1.0
    """
    return _unmix.matched_cosine(*_matchable(a, b), _one_sided(a, b))


def projection_distance(a: Any, b: Any) -> float:
    """Return ``||P_a - P_b||_F``, the distance between the projectors onto the spans of two models' components.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        Components as rows, linearly independent.

    Returns
    -------
    float
        0 for the same subspace; ``sqrt(2 * sum(sin(angles)**2))`` over the ``subspace_angles`` of subspaces of the same dimension;
        a difference of dimensions is added under the root. Small distances are accurate.

    See Also
    --------
    subspace_angles : All angles between the subspaces.

    Examples
    --------
    >>> from unmix.metrics import projection_distance
    >>> round(projection_distance([[1, 0, 0]], [[0, 1, 0]]) ** 2, 12)
    2.0
    """
    return _unmix.projection_distance(*_pair(a, b))


def subspace_angles(a: Any, b: Any) -> Array:
    """Return the angles in radians between the subspaces that two models' components span, largest first.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        Components as rows.

    Returns
    -------
    ndarray of shape (min of both numbers of components,)
        0 for shared directions. Small angles are accurate.

    See Also
    --------
    projection_distance : One number for all angles.

    Examples
    --------
    >>> from unmix.metrics import subspace_angles
    >>> subspace_angles([[1, 0, 0]], [[1, 1e-9, 0]])
    array([1.e-09])
    """
    return _unmix.subspace_angles(*_pair(a, b))


class Pooled(NamedTuple):
    """An estimate combined from several imputations.

    Parameters
    ----------
    estimate : ndarray
        Mean of the estimates.
    std_error : ndarray
        Standard error of the estimate, from the variances within and between imputations.
    df : ndarray
        Degrees of freedom of Student's t distribution for its interval.
    missing_information : ndarray
        Fraction of missing information: the share of the variance that is due to the missing cells.

    Attributes
    ----------
    estimate : ndarray
        Mean of the estimates.
    std_error : ndarray
        Standard error of the estimate, from the variances within and between imputations.
    df : ndarray
        Degrees of freedom of Student's t distribution for its interval.
    missing_information : ndarray
        Fraction of missing information: the share of the variance that is due to the missing cells.

    See Also
    --------
    pool : The function that returns this object.

    Examples
    --------
    >>> from unmix.metrics import pool
    >>> pool([1.0, 1.2, 0.8], [0.1, 0.1, 0.1]).estimate.round(3)
    np.float64(1.0)
    """

    estimate: Array
    std_error: Array
    df: Array
    missing_information: Array

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the confidence interval of the estimate.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level, between 0 and 1.

        Returns
        -------
        low, high : ndarray
            Ends of the interval.

        See Also
        --------
        pool : Combines the estimates.

        Examples
        --------
        >>> from unmix.metrics import pool
        >>> low, high = pool([1.0, 1.2, 0.8], [0.1, 0.1, 0.1]).interval()
        >>> low.round(2), high.round(2)
        (np.float64(0.17), np.float64(1.83))
        """
        from scipy.stats import t

        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level!r}")
        half = t.ppf(0.5 + level / 2, self.df) * self.std_error
        return self.estimate - half, self.estimate + half


def pool(estimates: ArrayLike, variances: ArrayLike, df_complete: float | None = None) -> Pooled:
    """Combine estimates from several imputations of the missing cells by Rubin's rules.

    With ``m`` estimates ``q_i`` of squared standard errors ``u_i``, the estimate is their mean and its variance ``mean(u) + (1 + 1/m) b``,
    ``b`` the variance of the ``q_i`` with divisor ``m - 1``.

    Parameters
    ----------
    estimates : array-like of shape (n_draws, ...)
        The estimate from each completed table, as returned by ``impute(X, n_draws=)``.
    variances : array-like of shape (n_draws, ...)
        Squared standard error of each estimate.
    df_complete : float, optional
        Degrees of freedom of the estimate without missing cells, such as ``n - p`` of a regression: the result has the degrees of freedom
        of Barnard & Rubin (1999); without it, those of Rubin (1987), which are for many rows.

    Returns
    -------
    Pooled
        With ``estimate``, ``std_error``, ``df``, ``missing_information`` and ``interval(level)``.

    See Also
    --------
    unmix.PPCA.impute : Draws of the missing cells.

    References
    ----------
    D. B. Rubin (1987), Multiple imputation for nonresponse in surveys. doi:10.1002/9780470316696
    J. Barnard & D. B. Rubin (1999), Small-sample degrees of freedom with multiple imputation. doi:10.1093/biomet/86.4.948

    Examples
    --------
    >>> from unmix.metrics import pool
    >>> pooled = pool([1.0, 1.2, 0.8], [0.1, 0.1, 0.1])
    >>> pooled.std_error.round(3), pooled.df.round(1)
    (np.float64(0.392), np.float64(16.5))
    """
    q, u = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if q.shape != u.shape or q.ndim < 1 or len(q) < 2:
        raise ValueError(
            f"estimates and variances must have the same shape, with at least 2 draws, but have shapes {q.shape} and {u.shape}"
        )
    if not (np.isfinite(q).all() and np.isfinite(u).all() and (u >= 0).all()):
        raise ValueError("estimates must be finite, and variances finite and non-negative")
    m = len(q)
    within, between = u.mean(0), q.var(0, ddof=1)
    extra = (1 + 1 / m) * between
    total = within + extra
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, extra / total, 0.0)
        df = (m - 1) / share**2
        if df_complete is not None:
            observed = (df_complete + 1) / (df_complete + 3) * df_complete * (1 - share)
            df = 1 / (1 / df + 1 / observed)
        # Fraction of missing information, with the correction 2 / (df + 3) for the degrees of freedom of t.
        ratio = extra / within
        information = np.where(within > 0, (ratio + 2 / (df + 3)) / (ratio + 1), 1.0)
    return Pooled(q.mean(0), np.sqrt(total), df, information)
