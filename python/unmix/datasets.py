"""Synthetic data with known truth."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Literal

import numpy as np

from . import _unmix
from ._record import Record
from ._sources import read
from ._types import Rows

__all__ = [
    "bernoulli_gaussian",
    "biclusters",
    "digit_variations",
    "independent",
    "leaves",
    "low_rank_plus_noise",
    "patterns",
    "points",
    "ppca",
    "rare_modules",
    "signals",
    "sparse_codes",
    "union_of_subspaces",
]


def _check(**numbers):
    """Raise an error unless the first of each pair is an integer of at least the second."""
    for name, (value, least) in numbers.items():
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")


def _seed(seed):
    if seed is not None:
        _check(seed=(seed, 0))
    return seed


def _mixed(made):
    return Record(**dict(zip(["X", "sources", "mixing"], made)))


def bernoulli_gaussian(
    n_samples: int = 4000,
    n_features: int = 25,
    n_components: int | None = None,
    *,
    share: float = 0.2,
    noise: float = 0.0,
    orthogonal: bool = True,
    seed: int = 0,
) -> Any:
    """Return sparse combinations of atoms, ``codes @ components`` plus noise: the Bernoulli-Gaussian model of dictionary learning.

    A code is 0 with probability ``1 - share``, else normal with variance ``1 / share``: its variance is 1, its excess kurtosis
    ``3 * (1 - share) / share``.

    Parameters
    ----------
    n_samples, n_features : int
        Numbers of rows and columns.
    n_components : int, optional
        Number of atoms; None for as many as columns.
    share : float
        Fraction of the codes that are not 0.
    noise : float
        Standard deviation of normal noise in every column.
    orthogonal : bool
        Whether atoms are orthonormal, uniformly distributed; else they are independent directions, possibly more than columns.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features); ``components`` (n_components, n_features), the atoms, rows of length 1; ``codes``
        (n_samples, n_components).

    See Also
    --------
    independent : Sources of given distributions.

    Notes
    -----
    ``X = codes @ components + noise * e`` with standard normal ``e`` and ``codes = b g / sqrt(share)``, ``b`` Bernoulli with probability
    ``share`` and ``g`` standard normal.

    Examples
    --------
    >>> from unmix.datasets import bernoulli_gaussian
    >>> made = bernoulli_gaussian(1000, 8, share=0.3)
    >>> made.X.shape, round(float((made.codes != 0).mean()), 1)
    ((1000, 8), 0.3)
    """
    k = n_features if n_components is None else n_components
    _check(n_samples=(n_samples, 1), n_features=(n_features, 1), n_components=(k, 1), seed=(seed, 0))
    sizes = (int(n_samples), int(n_features), int(k))
    made = _unmix.bernoulli_gaussian(sizes, float(share), float(noise), bool(orthogonal), int(seed))
    return Record(**dict(zip(["X", "components", "codes"], made)))


def biclusters(name: str = "D1", set: int = 1, seed: int = 0, return_truth: bool = False) -> Any:
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


#: Weights of red, green and blue in a grey value (ITU-R BT.601).
_LUMA = (0.299, 0.587, 0.114)


def _grey(photo):
    """A photograph as a matrix of grey values; colours are the last axis."""
    photo = np.asarray(photo, dtype=np.float64)
    if photo.ndim == 3 and photo.shape[2] in (3, 4):
        photo = photo[..., :3] @ np.array(_LUMA)
    if photo.ndim != 2:
        raise ValueError(f"photos must be arrays of height and width, or of height, width and 3 colours; one has shape {photo.shape}")
    return photo


def digit_variations(name: str, digits: Rows | int, photos: Sequence[Any] | None = None, seed: int = 0) -> Any:
    """Return variations of digits, and pictures of shapes, as described by Larochelle et al. (2007).

    The sets are not the published files: they are generated from a seed by the published descriptions. Pictures have 28 x 28 pixels from
    0 to 255.

    - ``"basic"``: the digits in random order.
    - ``"bg-rand"``: the maximum of the digit and uniform noise from 0 to 255, pixel by pixel.
    - ``"bg-img"``: the maximum of the digit and a patch of ``photos``.
    - ``"rect"``: outlines of rectangles of width 1, sides uniform from 1 to 28 that differ by at least 3.
    - ``"rect-img"``: a rectangle of one patch on another, sides from 10 that differ by at least 5.
    - ``"convex"``: convex shapes, and others, of the same mean area: intersections of half-planes, and unions of two to four of these.

    Parameters
    ----------
    name : {"basic", "bg-rand", "bg-img", "rect", "rect-img", "convex"}
        The variation.
    digits : array-like of shape (n_samples, 784) or (n_samples, 28, 28), path, or int
        Pictures of digits with pixels from 0 to 255, such as MNIST. For shapes only the number of pictures is used, and can be given
        instead.
    photos : sequence of arrays, optional
        Photographs of at least 28 x 28 pixels from 0 to 255, grey or with colours as last axis, for ``"bg-img"`` and ``"rect-img"``.
        Patches with a standard deviation below 10 are not used.
    seed : int
        Random seed; the same seed gives the same bits. The order of the digits is the same for all three of their variations.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, 784). For digits ``rows`` of shape (n_samples,): the index of each in ``digits``, so that ``y[rows]`` are
        the labels of ``X``. For shapes ``labels`` of shape (n_samples,): 1 for rectangles taller than wide and for convex shapes, else 0.

    See Also
    --------
    leaves : Pictures with the statistics of natural images, which can be used as ``photos``.

    References
    ----------
    H. Larochelle, D. Erhan, A. Courville, J. Bergstra & Y. Bengio (2007), An empirical evaluation of deep architectures on problems with many
    factors of variation. doi:10.1145/1273496.1273556

    Examples
    --------
    >>> from unmix.datasets import digit_variations, leaves
    >>> made = digit_variations("rect-img", 20, photos=255 * leaves(3, side=64))
    >>> made.X.shape, made.labels.shape
    ((20, 784), (20,))
    """
    _check(seed=(seed, 0))
    if isinstance(digits, Integral):
        if name in ("basic", "bg-rand", "bg-img"):
            raise ValueError(f"{name!r} needs pictures of digits, got the integer {digits}")
        _check(digits=(digits, 1))
        digits = np.zeros((digits, 1))
    digits = np.asarray(read(digits), dtype=np.float64)
    if digits.ndim < 2:
        raise ValueError(f"digits must be rows of 784 pixels or of 28 x 28 pixels, got an array of shape {digits.shape}")
    digits = digits.reshape(len(digits), int(np.prod(digits.shape[1:])))
    X, rows, labels = _unmix.digit_variations(str(name), digits, [_grey(photo) for photo in ([] if photos is None else photos)], int(seed))
    return Record(X=X, **({"rows": rows} if len(rows) else {"labels": labels}))


def independent(
    n_samples: int = 1000,
    distributions: Sequence[str] = ("laplace", "uniform", "laplace"),
    variances: Sequence[float] | None = None,
    *,
    seed: int = 0,
) -> Any:
    """Return independent sources along random orthonormal directions: the model of nonlinear PCA, and of ICA of white rows.

    With distinct variances PCA finds the directions; with equal ones only methods that use independence do, if at most one source is
    Gaussian. For a mixing that is not orthogonal, multiply ``sources`` by another matrix.

    Parameters
    ----------
    n_samples : int
        Number of rows, at least 2.
    distributions : sequence of str
        The distribution of each source; there are as many features as sources. Super-Gaussian: ``"laplace"``, ``"logistic"``,
        ``"exponential"``, ``"student-3"``, ``"student-5"``, ``"student-6"``, ``"bernoulli-gaussian"`` (0 in seven of ten rows, else normal).
        Sub-Gaussian: ``"uniform"``, ``"arcsine"``, ``"bimodal"``, ``"laplace-pair"``. ``"gaussian"``. Mixtures of two or four Gaussians:
        ``"two-humps-apart"`` or ``"four-humps-apart"`` with equal, ``"two-uneven-humps-apart"`` or ``"four-uneven-humps-apart"`` with unequal
        weights, and ``near`` (overlapping modes) or ``merged`` (a single mode) in place of ``apart`` (separated modes).
    variances : sequence of float, default=None
        The variance of each source, which the sample has exactly; None for 1 each. Sources of equal variance cannot be separated by
        variance alone.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_sources); ``sources`` of the same shape, mean 0; ``mixing`` (n_features, n_sources),
        orthonormal columns: ``X = sources @ mixing.T``.

    See Also
    --------
    signals : Three mixed time signals.
    points : Two sources in the plane.

    Notes
    -----
    ``X = sources @ mixing.T``. Each column of ``sources`` has exactly mean 0 and the variance ``variances[j]`` (divisor ``n_samples``);
    ``mixing`` is the ``Q`` of a QR decomposition of normal numbers, and so uniformly distributed among orthogonal matrices.

    Examples
    --------
    >>> from unmix.datasets import independent
    >>> independent(500, ["laplace"] * 4, [4, 4, 4, 1]).X.shape
    (500, 4)
    """
    _check(n_samples=(n_samples, 2), seed=(seed, 0))
    distributions = [distributions] if isinstance(distributions, str) else [str(distribution) for distribution in distributions]
    variances = [1.0] * len(distributions) if variances is None else [float(v) for v in variances]
    return _mixed(_unmix.independent(int(n_samples), distributions, variances, int(seed)))


def leaves(n_pictures: int = 100, side: int = 32, *, seed: int = 0) -> Any:
    """Return pictures of discs that occlude each other (dead leaves model): simple pictures with the statistics of natural images.

    As in natural images, there are edges at all positions, orientations and scales, and the power spectrum decreases with frequency. Use
    them where photographs are not available, for patches or as backgrounds.

    Parameters
    ----------
    n_pictures, side : int
        Numbers of pictures, and of pixels along each side.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    ndarray of shape (n_pictures, side, side, 3)
        Red, green and blue, from 0 to 1.

    See Also
    --------
    patterns : Pictures made of a few patterns.

    Notes
    -----
    Each picture has 400 discs with uniform centres, each covering the earlier ones, with radii ``r`` of density proportional to ``r**-3``
    between 1.5 and ``side / 2`` (Lee, Mumford & Huang 2001). The channels of a disc are ``g + 0.3 (u - 0.5)``, clipped to [0, 1], with one
    uniform ``g`` for all three and a uniform ``u`` for each.

    Examples
    --------
    >>> from unmix.datasets import leaves
    >>> leaves(2, side=8).shape
    (2, 8, 8, 3)
    """
    _check(n_pictures=(n_pictures, 1), side=(side, 4), seed=(seed, 0))
    return _unmix.leaves(int(n_pictures), int(side), int(seed))


def low_rank_plus_noise(
    n_samples: int = 1000, n_features: int = 50, n_components: int = 5, *, signal: float = 1.5, seed: int = 0
) -> Any:
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
        first; ``scores`` (n_samples, n_components), their codes.

    See Also
    --------
    ppca : Rows of the model of probabilistic PCA.

    Notes
    -----
    ``X = scores @ components + e`` with standard normal ``e``; ``scores[:, c]`` is normal with standard deviation
    ``signal * (2 - c / (n_components - 1))``, that is ``2 * signal`` for the first and ``signal`` for the last.

    Examples
    --------
    >>> from unmix.datasets import low_rank_plus_noise
    >>> low_rank_plus_noise(100, 20, n_components=3).X.shape
    (100, 20)
    """
    _check(n_samples=(n_samples, 1), n_features=(n_features, 1), n_components=(n_components, 1), seed=(seed, 0))
    if n_components > n_features:
        raise ValueError(f"n_components must be at most n_features={n_features}, got {n_components}")
    made = _unmix.low_rank_plus_noise(int(n_samples), int(n_features), int(n_components), float(signal), int(seed))
    return Record(**dict(zip(["X", "components", "scores"], made)))


def patterns(
    n_samples: int = 500, side: int = 16, n_patterns: int = 5, *, noise: float = 0.1, seed: int = 0
) -> Any:
    """Return pictures that are sums of a few smooth patterns of decreasing variance, plus noise: the rows of ``unmix demo``.

    The variances are distinct and the noise is the same in every pixel, as PCA and probabilistic PCA assume. There are three groups of
    pictures, which differ in the mean coefficients of the first two patterns.

    Parameters
    ----------
    n_samples, side, n_patterns : int
        Numbers of pictures, of pixels along each side, and of patterns.
    noise : float
        Standard deviation of the noise added to every pixel.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, side * side); ``components`` (n_patterns, side * side), orthonormal rows, the strongest first;
        ``scores`` (n_samples, n_patterns), their codes; ``labels`` (n_samples,), the group of each picture, from 0 to 2.

    See Also
    --------
    leaves : Pictures of discs.

    Notes
    -----
    ``X = 0.5 + scores @ components + noise * e`` with standard normal ``e``. Before orthonormalisation each pattern is a wave times a
    Gaussian window; ``scores[:, c] = 3 * 0.8**c * (m + 0.6 z)``, with standard normal ``z``, and ``m`` the centre of the group for the
    first two patterns, else 0.

    Examples
    --------
    >>> from unmix.datasets import patterns
    >>> patterns(100, side=8, n_patterns=3).X.shape
    (100, 64)
    """
    _check(n_samples=(n_samples, 1), side=(side, 1), n_patterns=(n_patterns, 1), seed=(seed, 0))
    if n_patterns > side * side:
        raise ValueError(f"n_patterns must be at most {side * side}, the number of pixels, got {n_patterns}")
    made = _unmix.patterns(int(n_samples), int(side), int(n_patterns), float(noise), int(seed))
    return Record(**dict(zip(["X", "components", "scores", "labels"], made)))


def points(distribution: str = "uniform", n_samples: int = 1000, *, seed: int | None = None) -> Any:
    """Return points in the plane: two independent sources of equal variance, rotated by 45 degrees. PCA cannot identify their axes.

    Every direction has the same variance, so that any rotation is a solution of PCA, while the sources differ from Gaussian ones: ICA and
    sigma-PCA find the axes. Two columns can be drawn as a scatter plot.

    Parameters
    ----------
    distribution : {"uniform", "laplace"}
        Distribution of both sources. Their variance is 2/3 (uniform) or 1 (Laplace).
    n_samples : int
        Number of points, with a seed; the published points are 1000.
    seed : int, default=None
        Random seed. None: the points of the published experiment (arXiv 2311.13580, appendix G.6).

    Returns
    -------
    Bunch
        ``X`` and ``sources`` of shape (n_samples, 2); ``mixing`` (2, 2), orthonormal columns: ``X = sources @ mixing.T``.

    See Also
    --------
    independent : Any number of sources.

    Notes
    -----
    ``X = sources @ mixing.T`` with ``mixing = [[c, s], [-s, c]]``, ``c = s = sqrt(1/2)``.

    Examples
    --------
    >>> from unmix.datasets import points
    >>> points("laplace").X.shape
    (1000, 2)
    """
    _check(n_samples=(n_samples, 2))
    if seed is None and n_samples != 1000:
        raise ValueError(f"n_samples must be 1000 without a seed, which gives the published points, got {n_samples}; give a seed")
    return _mixed(_unmix.points(str(distribution), int(n_samples), _seed(seed)))


def ppca(
    n_samples: int = 500,
    n_features: int = 20,
    variances: Sequence[float] = (9.0, 4.0, 1.0),
    *,
    noise_variance: float = 0.25,
    seed: int = 0,
) -> Any:
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
    return Record(**dict(zip(["X", "components", "latent", "mean"], made)))


def rare_modules(
    n_samples: int = 300,
    n_features: int = 800,
    n_modules: int = 5,
    module_shape: tuple[int, int] = (8, 12),
    shift: float = 4.0,
    n_factors: int = 8,
    seed: int = 0,
    return_truth: bool = False,
) -> Any:
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


def signals(
    setting: Literal["distinct", "two-equal", "all-equal", "non-orthogonal"] = "distinct", *, seed: int | None = None
) -> Any:
    """Return three mixed time signals, a sine, a square wave and a sawtooth: 2000 samples on [0, 8], with a little noise.

    The sources are deterministic curves, so that estimates can be judged by eye. The settings show what variance identifies: with an
    orthogonal mixing, sources of distinct variance are found by linear PCA, those of equal variance only by methods that use independence.

    Parameters
    ----------
    setting : {"distinct", "two-equal", "all-equal", "non-orthogonal"}
        Variances of the sources: 17.1, 9.0 and 0.37 (``"distinct"``), two or all of them 1, each with an orthogonal mixing; or the first
        variances with a mixing that is not orthogonal, which no orthogonal method can invert.
    seed : int, default=None
        Random seed of the noise. None: the noise of the published experiment (arXiv 2311.13580, section 4.1).

    Returns
    -------
    Bunch
        ``X`` and ``sources`` of shape (2000, 3); ``mixing`` (3, 3): ``X = sources @ mixing.T``.

    See Also
    --------
    independent : Independent sources of given distributions.

    Notes
    -----
    With ``t`` in [0, 8] the sources are ``6 sin(2 t)``, ``3 sign(sin(3 t))`` and ``2 (t - floor(t)) - 1``, each with normal noise of
    standard deviation 0.2, then divided by their standard deviations where the setting requires variance 1; ``X = sources @ mixing.T``.

    Examples
    --------
    >>> from unmix.datasets import signals
    >>> signals("all-equal").X.shape
    (2000, 3)
    """
    return _mixed(_unmix.signals(str(setting), _seed(seed)))


def sparse_codes(
    n_samples: int = 4000,
    n_features: int = 50,
    n_components: int = 100,
    *,
    share: float = 0.08,
    noise: float = 0.0,
    seed: int = 0,
) -> Any:
    """Return sparse combinations of atoms, ``codes @ components`` plus noise, with known codes: a benchmark for learned encoders.

    A code is 0 with probability ``1 - share``, else standard normal; atoms are independent directions of length 1.

    Parameters
    ----------
    n_samples, n_features : int
        Numbers of rows and columns. A smaller number of rows gives the first rows of a larger one.
    n_components : int
        Number of atoms.
    share : float
        Fraction of the codes that are not 0.
    noise : float
        Standard deviation of normal noise in every column.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features); ``components`` (n_components, n_features), the atoms; ``codes`` (n_samples, n_components).

    See Also
    --------
    bernoulli_gaussian : The same model, scaled to codes of variance 1.

    Notes
    -----
    ``X = codes @ components + noise * e`` with standard normal ``e`` and ``codes = b g``, ``b`` Bernoulli with probability ``share`` and
    ``g`` standard normal.

    Examples
    --------
    >>> from unmix.datasets import sparse_codes
    >>> made = sparse_codes(1000, 8, 16, share=0.1)
    >>> made.X.shape, made.codes.shape, bool(abs(made.X - made.codes @ made.components).max() < 1e-12)
    ((1000, 8), (1000, 16), True)
    """
    scale = float(share) ** 0.5 if share > 0 else 1.0
    made = bernoulli_gaussian(n_samples, n_features, n_components, share=share, noise=noise / scale, orthogonal=False, seed=seed)
    return Record(X=made.X * scale, components=made.components, codes=made.codes * scale)


def union_of_subspaces(
    sizes: Sequence[int] = (60, 60, 60),
    n_features: int = 30,
    dimensions: int | Sequence[int] = 3,
    *,
    noise: float = 0.0,
    seed: int = 0,
) -> Any:
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
    sizes = list(sizes)
    dimensions = [dimensions] * len(sizes) if isinstance(dimensions, Integral) else list(dimensions)
    _check(n_features=(n_features, 1), seed=(seed, 0))
    for name, numbers in (("sizes", sizes), ("dimensions", dimensions)):
        for number in numbers:
            _check(**{name: (number, 0)})
    if not sizes:
        raise ValueError("sizes must contain at least one number, got none")
    made = _unmix.union_of_subspaces(
        [int(n) for n in sizes], int(n_features), [int(d) for d in dimensions], float(noise), int(seed)
    )
    return Record(**dict(zip(["X", "labels", "bases"], made)))
