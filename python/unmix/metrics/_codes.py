"""Accuracy of sparse codes."""

from __future__ import annotations

import numpy as np

from .. import _unmix
from .._input import dense
from .._types import Array, Rows


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
