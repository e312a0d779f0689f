"""Rows near random subspaces: one, with Gaussian noise, or a union of several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import _unmix
from .._record import LatentRows, LowRankRows, SubspaceRows
from ._checks import _check, _check_size


def low_rank_plus_noise(
    n_samples: int = 1000, n_features: int = 50, n_components: int = 5, *, signal: float = 1.5, seed: int = 0
) -> LowRankRows:
    """Return rows with a few random orthonormal directions in white noise of unit variance, to compare rules for the number of components.

    The true number of components is known, but not every direction can be detected: for many rows and columns, PCA shows only those whose
    signal variance is above ``sqrt(n_features / n_samples)``. :func:`ppca` generates rows with given variances and a mean.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        Numbers of rows, of columns, and of directions, which are uniformly distributed.
    signal : float
        Standard deviation of the signal along the weakest direction; along the strongest it is twice that, evenly spaced in between.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features); ``components`` (n_components, n_features), orthonormal rows, the strongest
        first; ``codes`` (n_samples, n_components), those that the rows were made of.

    See Also
    --------
    ppca : Rows of the model of probabilistic PCA.

    Notes
    -----
    ``X = codes @ components + e`` with standard normal ``e``; ``codes[:, c]`` is normal with standard deviation
    ``signal * (2 - c / (n_components - 1))``, that is ``2 * signal`` for the first and ``signal`` for the last.

    Examples
    --------
    >>> from unmix.datasets import low_rank_plus_noise
    >>> low_rank_plus_noise(100, 20, n_components=3).X.shape
    (100, 20)
    """
    _check(n_samples=(n_samples, 1), n_features=(n_features, 1), n_components=(n_components, 1), seed=(seed, 0))
    _check_size(signal=signal)
    if n_components > n_features:
        raise ValueError(f"n_components must be at most n_features={n_features}, got {n_components}")
    made = _unmix.low_rank_plus_noise(int(n_samples), int(n_features), int(n_components), float(signal), int(seed))
    return LowRankRows(**dict(zip(["X", "components", "codes"], made)))


def ppca(
    n_samples: int = 500,
    n_features: int = 20,
    variances: Sequence[float] = (9.0, 4.0, 1.0),
    *,
    noise_variance: float = 0.25,
    seed: int = 0,
) -> LatentRows:
    """Return rows from the model of probabilistic PCA, ``x = mean + W z + e`` (Tipping & Bishop 1999).

    The covariance has the eigenvalues ``variances`` along random axes and ``noise_variance`` orthogonal to them. Axes of equal
    variance are identified only up to rotation.

    Parameters
    ----------
    n_samples, n_features : int
        Numbers of rows and columns.
    variances : sequence of float
        Variance along each axis, at least ``noise_variance``; at most ``n_features`` of them.
    noise_variance : float
        Variance in every direction orthogonal to the axes.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features); ``components`` (n_variances, n_features), orthonormal rows in the order of
        ``variances``; ``latent`` (n_samples, n_variances), the latent variables z, of variance 1; ``mean`` (n_features,).

    See Also
    --------
    low_rank_plus_noise : Random directions in white noise.

    Notes
    -----
    ``x = mean + W z + e`` with standard normal ``z`` and ``mean``, and normal ``e`` of variance ``noise_variance``; column ``c`` of ``W``
    is ``sqrt(variances[c] - noise_variance)`` times row ``c`` of ``components``.

    Examples
    --------
    >>> from unmix import PCA
    >>> from unmix.datasets import ppca
    >>> round(float(PCA(3).fit(ppca(20_000).X).noise_variance_), 2)
    0.25
    """
    _check(n_samples=(n_samples, 1), n_features=(n_features, 1), seed=(seed, 0))
    made = _unmix.ppca(int(n_samples), int(n_features), [float(v) for v in variances], float(noise_variance), int(seed))
    return LatentRows(**dict(zip(["X", "components", "latent", "mean"], made)))


def union_of_subspaces(
    sizes: Sequence[int] = (60, 60, 60),
    n_features: int = 30,
    dimensions: int | Sequence[int] = 3,
    *,
    noise: float = 0.0,
    seed: int = 0,
) -> SubspaceRows:
    """Return rows near a union of random subspaces through 0: the model of subspace clustering.

    Each subspace is uniformly distributed among those of its dimension, independently of the others. Clusters are not balls: rows of one
    subspace may be far apart, and those of different subspaces near each other, so that k-means is not suited to them.

    Parameters
    ----------
    sizes : sequence of int
        Number of rows in each subspace.
    n_features : int
        Number of columns.
    dimensions : int or sequence of int
        Dimension of all subspaces, or of each, at most ``n_features``. Coordinates in a subspace are independent standard normal.
    noise : float
        Standard deviation of the normal noise in every column.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    Bunch
        ``X`` of shape (sum(sizes), n_features), rows in random order; ``labels`` (sum(sizes),), the subspace of each row; ``bases``, a
        list of arrays with orthonormal rows, ``dimensions[k] x n_features``.

    See Also
    --------
    unmix.SubspaceClustering : Estimates the subspaces.

    Notes
    -----
    A row of subspace ``k`` is ``x = z @ bases[k] + noise * e``, with standard normal ``z`` and ``e``.

    Examples
    --------
    >>> from unmix.datasets import union_of_subspaces
    >>> made = union_of_subspaces((40, 30), 10, (1, 4))
    >>> made.X.shape, [basis.shape for basis in made.bases]
    ((70, 10), [(1, 10), (4, 10)])
    """
    rows = list(sizes)
    axes = list(dimensions) if isinstance(dimensions, Iterable) else [dimensions] * len(rows)
    _check(n_features=(n_features, 1), seed=(seed, 0))
    for name, numbers in (("sizes", rows), ("dimensions", axes)):
        for number in numbers:
            _check(**{name: (number, 0)})
    if not rows:
        raise ValueError("sizes must contain at least one number, got none")
    made = _unmix.union_of_subspaces(
        [int(n) for n in rows], int(n_features), [int(d) for d in axes], float(noise), int(seed)
    )
    return SubspaceRows(**dict(zip(["X", "labels", "bases"], made)))
