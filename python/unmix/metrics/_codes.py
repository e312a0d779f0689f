"""Accuracy and sparseness of codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .. import _unmix
from .._input import dense, in_memory
from .._types import Array, Rows
from ._components import _check_finite


def lasso_gap(X: Rows, Z: Rows, A: Rows, alpha: float, positive: bool = False) -> Array:
    """Return the duality gap of each code of the lasso: an upper bound on the distance of its objective from the minimum.

    The objective is ``1/2 ||x - z A||**2 + alpha ||z||_1``. The gap is computed from a recomputed residual in double precision, as a sum
    of non-negative terms.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), path or Files
        Rows; NaN is a missing cell.
    Z : array-like or sparse matrix of shape (n_samples, n_components), path or Files
        Codes of the rows.
    A : array-like of shape (n_components, n_features), path or Files
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

    It takes ``O(n_features n_components)`` operations for each row.

    Examples
    --------
    >>> from unmix.metrics import lasso_gap
    >>> lasso_gap([[3.0, 0.0]], [[2.5, 0.0]], [[1.0, 0.0], [0.0, 1.0]], alpha=0.5)
    array([0.])
    """
    if not alpha > 0:
        raise ValueError(f"alpha must be positive, got {alpha}")
    x, z, a = (np.ascontiguousarray(dense(table), dtype=np.float64) for table in (X, Z, A))
    if x.ndim != 2 or z.ndim != 2 or a.ndim != 2 or z.shape != (len(x), len(a)) or x.shape[1] != a.shape[1]:
        raise ValueError(f"X must be n x p, Z n x m and A m x p, but they have shapes {x.shape}, {z.shape} and {a.shape}")
    return _unmix.lasso_gap(x, z, a, float(alpha), bool(positive))


def sparseness(codes: Rows) -> Array:
    """Return how sparse each row is, from 0 for entries of equal magnitude to 1 for a single one that is not 0 (Hoyer 2004).

    It depends on neither the scale nor the signs of a row, and needs no threshold below which an entry counts as 0. The share of entries
    that are exactly 0 is ``(codes == 0).mean()``. It is defined for any rows: that of components is ``sparseness(model.components_)``, that
    of each column ``sparseness(codes.T)``.

    Parameters
    ----------
    codes : array-like or sparse matrix of shape (n_samples, n_components), path or Files
        Rows with at least two columns.

    Returns
    -------
    ndarray of shape (n_samples,)
        Sparseness, in float64; NaN for a row of zeros.

    See Also
    --------
    lasso_gap : Accuracy of sparse codes.
    sparse_probing : Whether few units predict labels.

    Notes
    -----
    For a row ``z`` of ``m`` entries it is ``(sqrt(m) - sum(abs(z)) / sqrt(sum(z**2))) / (sqrt(m) - 1)``.

    It takes ``O(n_components)`` operations for each row.

    References
    ----------
    P. O. Hoyer (2004), Non-negative matrix factorization with sparseness constraints. https://www.jmlr.org/papers/v5/hoyer04a.html

    Examples
    --------
    >>> from unmix.metrics import sparseness
    >>> sparseness([[0.0, 3.0, 0.0, 0.0], [1.0, -1.0, 1.0, 1.0]])
    array([1., 0.])
    """
    rows: Any = in_memory(codes)
    rows = rows.tocsr().astype(np.float64) if issparse(rows) else np.asarray(rows, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ValueError(f"codes must be an array of 2 axes with at least 2 columns, got shape {rows.shape}")
    if issparse(rows):
        if not np.isfinite(rows.data).all():
            raise ValueError("codes must be finite, got NaN or infinity; leave such rows out")
    else:
        _check_finite(rows, "codes")
    sizes: Any = abs(rows)
    largest: Array = np.ravel(sizes.max(axis=1).toarray() if issparse(rows) else sizes.max(axis=1))
    most = np.sqrt(rows.shape[1])
    with np.errstate(invalid="ignore"):
        # Relative to the largest of its row: squares of other numbers may be 0 or infinite.
        if issparse(rows):
            sizes.data = sizes.data / np.repeat(largest, np.diff(sizes.indptr))
        else:
            sizes = sizes / largest[:, None]
        squares = sizes.power(2) if issparse(rows) else sizes**2
        ratios: Array = np.ravel(sizes.sum(axis=1)) / np.sqrt(np.ravel(squares.sum(axis=1)))
    # Rounding errors of rows at the ends of the range.
    found: Array = np.clip((most - ratios) / (most - 1.0), 0.0, 1.0)
    return found
