"""How well sources are separated: distances of an unmixing matrix from the truth, and dependence between sources."""

from __future__ import annotations

import numpy as np

from .. import _unmix
from .._input import dense
from .._types import Array, Components, Rows
from ._components import _rows


def _gain(model: Components, mixing: Components | None) -> Array:
    gain = _rows(model)
    if mixing is None:
        return gain
    table: Array = np.asarray(getattr(mixing, "mixing_", mixing), dtype=np.float64)
    if table.ndim != 2 or len(table) != gain.shape[1]:
        raise ValueError(f"mixing must be an array of shape ({gain.shape[1]}, n_sources), but has shape {table.shape}")
    product: Array = gain @ table
    return product


def amari_distance(model: Components, mixing: Components | None = None) -> float:
    """Return the Amari distance between an estimated unmixing and the true mixing (Amari, Cichocki & Yang 1996).

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

    It takes ``O(k**2 n_features)`` operations.

    Examples
    --------
    >>> from unmix.metrics import amari_distance
    >>> amari_distance([[0, -2], [3, 0]])
    0.0
    """
    return _unmix.amari_distance(_gain(model, mixing))


def interference(model: Components, mixing: Components | None = None) -> Array:
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

    They take ``O(k**2 n_features)`` operations for ``k`` components.

    Examples
    --------
    >>> from unmix.metrics import interference
    >>> interference([[1, 0.1], [0.01, 1]]).round()
    array([20., 40.])
    """
    return _unmix.interference(_gain(model, mixing))


def mutual_information(X: Rows) -> Array:
    """Return an estimate of the mutual information between each pair of columns, in nats.

    Mutual information is 0 only for independent variables, while a correlation of 0 does not exclude dependence: large entries show pairs
    of sources that ICA has not separated. The estimate does not change if a column is transformed by a strictly increasing function.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_columns), path or Files
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

    It takes ``O(k n log(n) + k**2 n)`` operations for ``k`` columns of ``n`` rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix.metrics import mutual_information
    >>> x = np.random.RandomState(0).randn(5000, 2)
    >>> bool(mutual_information(x)[0, 1] < 0.02 < 0.3 < mutual_information(x @ [[1, 1], [0, 0.6]])[0, 1])
    True
    """
    table = np.asarray(dense(X), dtype=np.float64)
    if table.ndim != 2 or len(table) < 2:
        raise ValueError(f"X must be an array of two axes with at least two rows, but has shape {table.shape}")
    return _unmix.mutual_information(table)
