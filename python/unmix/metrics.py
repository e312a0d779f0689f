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

    Pairs are one to one: they maximise the sum of the similarities in ``cosine``, so that a component need not be matched with its most
    similar one. Functions that compare correlations return them in place of the cosines.

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

    Notes
    -----
    With matched components ``a_i`` and ``b_j``, ``j = order[i]``, the cosine is ``abs(a_i . b_j) / (||a_i|| ||b_j||)``, and ``sign[i]`` is
    the sign of ``a_i . b_j``. Components of norm 0 have cosine 0.

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

    It does not depend on the order and the signs of the sources. Their scales matter unless the separation is exact, so results should be
    compared for sources of the same variance. It needs the true mixing: for recorded data, where this is unknown,
    :func:`mutual_information` and :func:`unmix.stability` measure the result instead.

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

    Notes
    -----
    With ``p = abs(components_ @ mixing)``, a ``k x k`` matrix without rows and columns of zeros, the distance is
    ``(sum_i (sum_j p_ij / max_j p_ij - 1) + sum_j (sum_i p_ij / max_i p_ij - 1)) / (2 k (k - 1))``.

    Examples
    --------
    >>> from unmix.metrics import amari_distance
    >>> amari_distance([[0, -2], [3, 0]])
    0.0
    """
    return _unmix.amari_distance(_gain(model, mixing))


def consensus_score(a: Any, b: Any) -> float:
    """Return the consensus score of two sets of biclusters.

    It compares both the rows and the columns of the biclusters, unlike scores of clusterings of rows, and allows biclusters that overlap.
    Biclusters without a counterpart count 0, so that superfluous ones reduce the score.

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

    Notes
    -----
    The Jaccard index of biclusters ``a`` and ``b`` is the number of common cells, ``|rows_a & rows_b| |columns_a & columns_b|``, divided by
    the number of cells in either. With the optimal assignment ``s`` of ``k_a`` to ``k_b`` biclusters the score is
    ``sum_i J(a_i, b_s(i)) / max(k_a, k_b)``; it is 1 for two empty sets.

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

    It shows which sources are separated well and which are not, where :func:`amari_distance` is an average over all. It is independent of
    the scales of the estimated sources, but not of those of the true ones.

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

    Notes
    -----
    With ``g = components_ @ mixing`` and ``j`` the index of the largest ``abs(g_ij)``, the ratio of source ``i`` is
    ``10 log10(g_ij**2 / sum_{l != j} g_il**2)``: infinite without interference, NaN for a row of zeros.

    Examples
    --------
    >>> from unmix.metrics import interference
    >>> interference([[1, 0.1], [0.01, 1]]).round()
    array([20., 40.])
    """
    return _unmix.interference(_gain(model, mixing))


def matched_correlation(a: ArrayLike, b: ArrayLike) -> Array:
    """Match the columns of two tables so that the sum of absolute correlations is maximal (Hungarian method).

    It compares estimated sources with true ones, or the codes of two models, sample by sample, irrespective of order, signs and units.
    Every column of ``a`` is matched with a different column of ``b``.

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

    Notes
    -----
    The correlations are ``r_ij = (a_i - mean(a_i)) . (b_j - mean(b_j)) / (||a_i - mean(a_i)|| ||b_j - mean(b_j)||)``, 0 for constant
    columns. The matching maximises ``sum_i abs(r_i,order[i])``, in ``O(k**3)``.

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

    Mutual information is 0 only for independent variables, while a correlation of 0 does not exclude dependence: large entries show pairs
    of sources that ICA has not separated. The estimate does not change if a column is transformed by a strictly increasing function.

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

    Notes
    -----
    Each column is divided by ranks into ``b = min(32, max(2, floor(sqrt(n / 5))))`` bins of equal size. With the fractions ``p_uv`` of the
    rows in bin ``u`` of one column and ``v`` of the other, the estimate is ``sum_uv p_uv log(p_uv / (p_u p_v)) - (b - 1)**2 / (2 n)``, with
    a standard error of about ``b / n`` for independent columns.

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

    It is the usual measure of subspace clustering, also reported as ``1 - accuracy``, the clustering error. It is dominated by large
    clusters, and its chance level is far from 0 with few clusters; :func:`nmi` also gives credit to clusters that are parts of others.

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

    Notes
    -----
    With ``n_ij`` the number of rows with label ``i`` in ``a`` and label ``j`` in ``b``, it is the maximum of ``sum_i n_i,s(i) / n`` over
    one-to-one assignments ``s`` (Hungarian method).

    Examples
    --------
    >>> from unmix.metrics import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], ["b", "b", "b", "a"])
    0.75
    """
    return _unmix.clustering_accuracy(*_labels(a, b))


def nmi(a: ArrayLike, b: ArrayLike) -> float:
    """Return the normalized mutual information of two clusterings, ``2 I(a; b) / (H(a) + H(b))``.

    It needs no matching of the labels, and clusterings with different numbers of clusters can be compared. It is not corrected for chance:
    many small clusters have positive values even if they are random. Equal to :func:`sklearn.metrics.normalized_mutual_info_score` with its
    default, arithmetic averaging.

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

    Notes
    -----
    With the fractions ``p_ij`` of the rows with label ``i`` in ``a`` and ``j`` in ``b``, ``I(a; b) = sum_ij p_ij log(p_ij / (p_i p_j))``
    and ``H(a) = -sum_i p_i log(p_i)``.

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

    Notes
    -----
    With the residual ``r = x - z A``, ``c = A r`` and ``s`` the number nearest to ``x . r / ||r||**2`` between ``-alpha / max(abs(c))`` and
    ``alpha / max(abs(c))``, the gap is ``1/2 (1 - s)**2 ||r||**2 + sum_j (alpha abs(z_j) - s z_j c_j)``. With ``positive=True``, ``s`` is
    between 0 and ``alpha / max(c)``. Missing cells are left out of all products.

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

    Notes
    -----
    The cosine of the loadings ``a_i`` and ``b_j`` is ``a_i . b_j / (||a_i|| ||b_j||)``; the matching maximises the sum of its absolute
    values over one-to-one assignments, in ``O(k**3)``, after ``O(k**2 n_features)`` for the cosines.

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

    It summarises in one number whether two fits, such as those from different seeds, found the same components. It penalises a rotation
    inside the same subspace, which :func:`subspace_angles` and :func:`projection_distance` ignore.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        ``b`` has at least as many components as ``a``.

    Returns
    -------
    float
        1 for the same directions, whatever their order, sign (see ``match``) and length. The chance level is far from 0: for two sets of 30
        random directions in 20 dimensions it is about 0.46. The fraction above a level is ``(match(a, b).cosine > 0.99).mean()``.

    See Also
    --------
    match : The pairs themselves.

    Notes
    -----
    It is ``mean(match(a, b).cosine)``: with the matching ``s`` of the ``k`` components of ``a``, ``sum_i abs(cos(a_i, b_s(i))) / k``.

    Examples
    --------
    >>> from unmix.metrics import matched_cosine
    >>> matched_cosine([[1, 0], [0, 1]], [[0, -2], [1, 0]])
    1.0
    """
    return _unmix.matched_cosine(*_matchable(a, b), _one_sided(a, b))


def projection_distance(a: Any, b: Any) -> float:
    """Return ``||P_a - P_b||_F``, the distance between the projectors onto the spans of two models' components.

    It compares the spans alone: rotations, scales and orders of the components do not matter. Components that are linearly dependent span
    fewer dimensions; more components than columns are refused.

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

    Notes
    -----
    ``P_a = Q_a.T @ Q_a`` with orthonormal rows ``Q_a`` that span the components of ``a``. For dimensions ``k_a >= k_b`` the distance is
    computed as ``sqrt(k_a - k_b + 2 ||Q_b - Q_b Q_a.T Q_a||_F**2)``, without the ``n_features x n_features`` projectors and without
    cancellation.

    Examples
    --------
    >>> from unmix.metrics import projection_distance
    >>> round(projection_distance([[1, 0, 0]], [[0, 1, 0]]) ** 2, 12)
    2.0
    """
    return _unmix.projection_distance(*_pair(a, b))


def subspace_angles(a: Any, b: Any) -> Array:
    """Return the angles in radians between the subspaces that two models' components span, largest first.

    They compare the spans alone, irrespective of a rotation inside them: the largest angle is pi/2 if a direction of one subspace is
    orthogonal to the other. As :func:`scipy.linalg.subspace_angles`, for components as rows.

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

    Notes
    -----
    With orthonormal rows ``Q_a`` and ``Q_b`` of the two spans, the cosines of the angles are the singular values of ``Q_b @ Q_a.T``, and
    their sines those of ``Q_b - Q_b Q_a.T Q_a`` for the smaller subspace ``b``; angles below pi/4 are computed from the sines.

    Examples
    --------
    >>> from unmix.metrics import subspace_angles
    >>> subspace_angles([[1, 0, 0]], [[1, 1e-9, 0]])
    array([1.e-09])
    """
    return _unmix.subspace_angles(*_pair(a, b))


class Pooled(NamedTuple):
    """An estimate combined from several imputations.

    Attributes have the shape of the estimates that were combined. An interval that treated imputed cells as observed would be too narrow:
    here the variance between imputations is part of the standard error.

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

    Notes
    -----
    With ``m`` estimates, ``w`` the mean of their squared standard errors and ``b`` the variance between them,
    ``std_error**2 = w + (1 + 1/m) b`` and ``df = (m - 1) / share**2``, with ``share = (1 + 1/m) b / std_error**2``. With
    ``r = (1 + 1/m) b / w``, ``missing_information = (r + 2 / (df + 3)) / (r + 1)``.

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

        It is that of Student's t distribution, which is wider than the normal one where few imputations vary much: a larger ``n_draws`` of
        ``impute`` makes it narrower on average.

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

        Notes
        -----
        The ends are ``estimate -/+ t * std_error``, with ``t`` the ``0.5 + level / 2`` quantile of Student's t distribution with ``df``
        degrees of freedom.

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

    Notes
    -----
    The degrees of freedom of Rubin (1987) are ``(m - 1) / share**2``, where ``share`` is the part of the variance that is due to the
    imputations, ``(1 + 1/m) b`` divided by all of it. With ``df_complete = d`` they are ``1 / (share**2 / (m - 1) + 1 / e)``,
    ``e = d (d + 1) / (d + 3) (1 - share)``.

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
