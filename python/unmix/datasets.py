"""Data made by seeded code, with the truth that made it."""

from numbers import Integral

from sklearn.utils import Bunch

from . import _unmix

__all__ = ["low_rank_plus_noise", "patterns", "ppca"]


def _check(**numbers):
    """Refuse what is no whole number, or smaller than the second of the pair."""
    for name, (value, least) in numbers.items():
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name}={value!r} is not possible; give a whole number from {least}")


def low_rank_plus_noise(n_samples=1000, n_features=50, n_components=5, *, signal=1.5, seed=0):
    """Random orthonormal directions in white noise of unit variance: the designs on which rules for their number are compared.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        Numbers of rows, of columns, and of directions, which are uniformly distributed.
    signal : float
        Standard deviation along the weakest direction; along the strongest it is twice that, in equal steps between.
    seed : int
        Where random draws begin; the same seed gives the same bits.

    Returns
    -------
    data : Bunch
        ``X`` of shape (n_samples, n_features); ``components`` (n_components, n_features), orthonormal rows, the strongest
        first; ``scores`` (n_samples, n_components).

    Examples
    --------
    >>> from unmix.datasets import low_rank_plus_noise
    >>> low_rank_plus_noise(100, 20, n_components=3).X.shape
    (100, 20)
    """
    _check(n_samples=(n_samples, 1), n_features=(n_features, 1), n_components=(n_components, 1), seed=(seed, 0))
    if n_components > n_features:
        raise ValueError(f"n_components={n_components} is not possible: rows have {n_features} columns; give at most that many")
    made = _unmix.low_rank_plus_noise(int(n_samples), int(n_features), int(n_components), float(signal), int(seed))
    return Bunch(**dict(zip(["X", "components", "scores"], made)))


def patterns(n_samples=500, side=16, n_patterns=5, *, noise=0.1, seed=0):
    """Pictures made of a few smooth patterns, mixed with falling strength and blurred by noise: the rows of ``unmix demo``.

    Parameters
    ----------
    n_samples, side, n_patterns : int
        Numbers of pictures, of pixels along each side, and of patterns.
    noise : float
        Standard deviation of what is added to every pixel.
    seed : int
        Where random draws begin; the same seed gives the same bits.

    Returns
    -------
    data : Bunch
        ``X`` of shape (n_samples, side * side); ``components`` (n_patterns, side * side), orthonormal rows, the strongest first;
        ``scores`` (n_samples, n_patterns); ``labels`` (n_samples,), the group from 0 to 2 that each picture belongs to.

    Examples
    --------
    >>> from unmix.datasets import patterns
    >>> patterns(100, side=8, n_patterns=3).X.shape
    (100, 64)
    """
    _check(n_samples=(n_samples, 1), side=(side, 1), n_patterns=(n_patterns, 1), seed=(seed, 0))
    if n_patterns > side * side:
        raise ValueError(f"n_patterns={n_patterns} is not possible: pictures have {side * side} pixels; give at most that many")
    made = _unmix.patterns(int(n_samples), int(side), int(n_patterns), float(noise), int(seed))
    return Bunch(**dict(zip(["X", "components", "scores", "labels"], made)))


def ppca(n_samples=500, n_features=20, variances=(9.0, 4.0, 1.0), *, noise_variance=0.25, seed=0):
    """Rows of the Gaussian that probabilistic PCA assumes: ``x = mean + W z + e`` (Tipping & Bishop 1999).

    The covariance has the eigenvalues ``variances`` along random axes and ``noise_variance`` across them. Equal variances make
    ties: every rotation of their axes is then as good as another.

    Parameters
    ----------
    n_samples, n_features : int
        Numbers of rows and columns.
    variances : sequence of float
        Variance along each axis, at least ``noise_variance``; at most ``n_features`` of them.
    noise_variance : float
        Variance in every direction across the axes.
    seed : int
        Where random draws begin; the same seed gives the same bits.

    Returns
    -------
    data : Bunch
        ``X`` of shape (n_samples, n_features); ``components`` (n_variances, n_features), orthonormal rows in the order of
        ``variances``; ``latent`` (n_samples, n_variances), the numbers z, of variance 1; ``mean`` (n_features,).

    Examples
    --------
    >>> from unmix import PCA
    >>> from unmix.datasets import ppca
    >>> round(float(PCA(3).fit(ppca(20_000).X).noise_variance_), 2)
    0.25
    """
    _check(n_samples=(n_samples, 1), n_features=(n_features, 1), seed=(seed, 0))
    made = _unmix.ppca(int(n_samples), int(n_features), [float(v) for v in variances], float(noise_variance), int(seed))
    return Bunch(**dict(zip(["X", "components", "latent", "mean"], made)))
