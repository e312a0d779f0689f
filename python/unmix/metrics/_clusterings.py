"""Agreement of two clusterings of rows, and of two sets of biclusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _unmix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._types import HasBiclusters


def _labels(a: ArrayLike, b: ArrayLike) -> tuple[list[int], list[int]]:
    """Two lists of labels as numbers from 0."""
    first, second = np.asarray(a), np.asarray(b)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"labels must be two lists of the same length, got shapes {first.shape} and {second.shape}")
    return np.unique(first, return_inverse=True)[1].tolist(), np.unique(second, return_inverse=True)[1].tolist()


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

    It takes ``O(n log(n) + k**3)`` operations for ``n`` rows and ``k`` labels.

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

    It takes ``O(n log(n))`` operations for ``n`` rows.

    Examples
    --------
    >>> from unmix.metrics import nmi
    >>> nmi([0, 0, 1, 1], [1, 1, 0, 0]), nmi([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, 0.0)
    """
    return _unmix.nmi(*_labels(a, b))


def consensus_score(a: HasBiclusters | tuple[ArrayLike, ArrayLike], b: HasBiclusters | tuple[ArrayLike, ArrayLike]) -> float:
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

    It takes ``O(k**2 (n_samples + n_features) + k**3)`` operations, up to logarithms.

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
    (first, of_first), (second, of_second) = _members(a), _members(b)
    if of_first != of_second and first and second:
        raise ValueError(f"biclusters must be of the same rows and columns, got biclusters of {of_first} and of {of_second} rows and columns")
    return _unmix.consensus_score(first, second)


def _members(of: HasBiclusters | tuple[ArrayLike, ArrayLike]) -> tuple[list[tuple[list[int], list[int]]], tuple[int, int]]:
    parts: Any = getattr(of, "biclusters_", of)
    rows, columns = (np.asarray(part) for part in parts)
    if rows.ndim != 2 or columns.ndim != 2 or len(rows) != len(columns) or rows.dtype != bool or columns.dtype != bool:
        raise ValueError(
            "biclusters must be two boolean arrays with one row for each bicluster, got arrays of shape "
            f"{rows.shape} and {columns.shape} and of type {rows.dtype} and {columns.dtype}"
        )
    members = [(np.flatnonzero(r).tolist(), np.flatnonzero(c).tolist()) for r, c in zip(rows, columns, strict=True)]
    return members, (rows.shape[1], columns.shape[1])
