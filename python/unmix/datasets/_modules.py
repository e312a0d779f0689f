"""Rows with planted biclusters: modules of rows and columns."""

from __future__ import annotations

from typing import Literal, overload

from .. import _unmix
from .._types import Array
from ._checks import _check


@overload
def biclusters(name: str = "D1", set: int = 1, seed: int = 0, return_truth: Literal[False] = False) -> Array: ...
@overload
def biclusters(name: str = "D1", set: int = 1, seed: int = 0, *, return_truth: Literal[True]) -> tuple[Array, Array, Array]: ...
@overload
def biclusters(name: str = "D1", set: int = 1, seed: int = 0, return_truth: bool = False) -> Array | tuple[Array, Array, Array]: ...
def biclusters(name: str = "D1", set: int = 1, seed: int = 0, return_truth: bool = False) -> Array | tuple[Array, Array, Array]:
    """Return rows with planted biclusters: the benchmark of rectified factor networks.

    100 rows of 100 columns are a sum of 20 biclusters and normal noise. Large biclusters have 20 to 30 rows and as many columns, small
    ones 3 to 8; cells of a bicluster are products of two normal numbers of mean 1.

    Parameters
    ----------
    name : {"D1", ..., "D9"}
        Noise of standard deviation 1, 5 or 10 (D1 to D3, D4 to D6, D7 to D9), with 10 large biclusters of 20 (D1 to D3), 15 (D4 to D6) or
        5 (D7 to D9).
    set : {1, 2}
        1 or 2, for a standard deviation of 0.01 or 0.5 of the two factors outside of a bicluster.
    seed : int
        Random seed; the same seed gives the same bits.
    return_truth : bool
        Whether to return the rows and columns of each bicluster, too.

    Returns
    -------
    ndarray of shape (100, 100), or tuple
        Rows; columns have mean 0. With ``return_truth``, ``(X, rows, columns)``, where ``rows`` and ``columns`` are boolean, with a row for
        each bicluster.

    See Also
    --------
    low_rank_plus_noise : Random directions in white noise.

    Notes
    -----
    ``X = sum_k z_k w_k.T + e``, then columns are centred. ``e`` is normal with the standard deviation of the noise; entries of ``z_k`` and
    ``w_k`` are normal, of members with mean 1 and standard deviation 1, of others with mean 0 and standard deviation 0.01 or 0.5.

    Examples
    --------
    >>> from unmix.datasets import biclusters
    >>> X, rows, columns = biclusters("D7", return_truth=True)
    >>> X.shape, rows.shape, columns.shape
    ((100, 100), (20, 100), (20, 100))
    """
    _check(set=(set, 1), seed=(seed, 0))
    X, rows, columns = _unmix.biclusters(str(name), int(set), int(seed))
    return (X, rows.astype(bool), columns.astype(bool)) if return_truth else X


@overload
def rare_modules(
    n_samples: int = 300,
    n_features: int = 800,
    n_modules: int = 5,
    module_shape: tuple[int, int] = (8, 12),
    shift: float = 4.0,
    n_factors: int = 8,
    seed: int = 0,
    return_truth: Literal[False] = False,
) -> Array: ...
@overload
def rare_modules(
    n_samples: int = 300,
    n_features: int = 800,
    n_modules: int = 5,
    module_shape: tuple[int, int] = (8, 12),
    shift: float = 4.0,
    n_factors: int = 8,
    seed: int = 0,
    *,
    return_truth: Literal[True],
) -> tuple[Array, Array, Array]: ...
@overload
def rare_modules(
    n_samples: int = 300,
    n_features: int = 800,
    n_modules: int = 5,
    module_shape: tuple[int, int] = (8, 12),
    shift: float = 4.0,
    n_factors: int = 8,
    seed: int = 0,
    return_truth: bool = False,
) -> Array | tuple[Array, Array, Array]: ...
def rare_modules(
    n_samples: int = 300,
    n_features: int = 800,
    n_modules: int = 5,
    module_shape: tuple[int, int] = (8, 12),
    shift: float = 4.0,
    n_factors: int = 8,
    seed: int = 0,
    return_truth: bool = False,
) -> Array | tuple[Array, Array, Array]:
    """Return rows with rare modules: few rows with lower values in few columns, on a background of correlated columns.

    With the default sizes a module has far less variance than a factor of the background, so that the leading components of PCA do not show
    it: the set is a test of searches for small biclusters. Rows and columns of the modules are drawn independently, so that modules may
    overlap.

    Parameters
    ----------
    n_samples, n_features : int
        Numbers of rows and columns.
    n_modules : int
        Number of modules.
    module_shape : tuple of int
        Numbers of rows and columns of a module.
    shift : float
        Mean decrease of the cells of a module, in standard deviations of the noise; each is multiplied by a uniform number between 0.7 and
        1.3.
    n_factors : int
        Number of factors of the background, whose loadings are normal with standard deviation 0.5.
    seed : int
        Random seed; the same seed gives the same bits.
    return_truth : bool
        Whether to return the rows and columns of each module, too.

    Returns
    -------
    ndarray of shape (n_samples, n_features), or tuple
        Rows; columns have mean 0 and standard deviation 1. With ``return_truth``, ``(X, rows, columns)``, where ``rows`` and ``columns`` are
        boolean, with a row for each module.

    See Also
    --------
    biclusters : The published benchmark, with large biclusters.

    Notes
    -----
    ``X = e + F @ L - S``, and then every column is standardised: ``e`` and the factors ``F`` are standard normal, the loadings ``L`` normal
    with standard deviation 0.5, and ``S`` is ``shift * u`` in the cells of each module, with ``u`` uniform between 0.7 and 1.3, and 0
    elsewhere.

    Examples
    --------
    >>> from unmix.datasets import rare_modules
    >>> X, rows, columns = rare_modules(return_truth=True)
    >>> X.shape, rows.sum(axis=1)[0], columns.sum(axis=1)[0]
    ((300, 800), np.int64(8), np.int64(12))
    """
    n, p = module_shape
    _check(n_samples=(n_samples, 2), n_features=(n_features, 1), n_modules=(n_modules, 0), n_factors=(n_factors, 0), seed=(seed, 0))
    _check(module_shape=(min(n, p), 1))
    sizes = (int(n_samples), int(n_features), int(n_modules), int(n), int(p), int(n_factors))
    X, rows, columns = _unmix.rare_modules(sizes, float(shift), int(seed))
    return (X, rows.astype(bool), columns.astype(bool)) if return_truth else X
