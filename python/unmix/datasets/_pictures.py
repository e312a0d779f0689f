"""Pictures: patterns, dead leaves, and variations of digits."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _unmix
from .._input import dense
from .._record import DigitRows, PatternRows
from .._types import Array, Rows
from ._checks import _check, _check_size

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: Weights of red, green and blue in a grey value (ITU-R BT.601).
_LUMA = (0.299, 0.587, 0.114)


def _grey(photo: ArrayLike) -> Array:
    """A photograph as a matrix of grey values; colours are the last axis."""
    pixels: Array = np.asarray(photo, dtype=np.float64)
    if pixels.ndim == 3 and pixels.shape[2] in (3, 4):
        pixels = pixels[..., :3] @ np.array(_LUMA)
    if pixels.ndim != 2:
        raise ValueError(f"photos must be arrays of height and width, or of height, width and 3 colours; one has shape {pixels.shape}")
    return pixels


def digit_variations(name: str, digits: Rows | int, photos: ArrayLike | Sequence[ArrayLike] | None = None, seed: int = 0) -> DigitRows:
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
    digits : array-like of shape (n_samples, 784) or (n_samples, 28, 28), path, Files or int
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

    Notes
    -----
    With a digit ``d``, uniform noise ``u`` and a patch ``t``, a picture is ``max(d, u)`` (``"bg-rand"``) or ``max(d, t)`` (``"bg-img"``),
    pixel by pixel. With the indicator ``m`` of a rectangle and two patches, one of ``"rect-img"`` is ``m * t_1 + (1 - m) * t_2``.

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
        _check(digits=(int(digits), 1))
        pictures = np.zeros((int(digits), 1))
    else:
        pictures = np.asarray(dense(digits), dtype=np.float64)
    if pictures.ndim < 2:
        raise ValueError(f"digits must be rows of 784 pixels or of 28 x 28 pixels, got an array of shape {pictures.shape}")
    pictures = pictures.reshape(len(pictures), int(np.prod(pictures.shape[1:])))
    several: Any = [] if photos is None else photos
    X, rows, labels = _unmix.digit_variations(str(name), pictures, [_grey(photo) for photo in several], int(seed))
    return DigitRows(X=X, **({"rows": rows} if len(rows) else {"labels": labels}))


def leaves(n_pictures: int = 100, side: int = 32, *, seed: int = 0) -> Array:
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


def patterns(
    n_samples: int = 500, side: int = 16, n_patterns: int = 5, *, noise: float = 0.1, seed: int = 0
) -> PatternRows:
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
        ``codes`` (n_samples, n_patterns), those that the pictures were made of; ``labels`` (n_samples,), the group of each picture, from 0 to 2.

    See Also
    --------
    leaves : Pictures of discs.

    Notes
    -----
    ``X = 0.5 + codes @ components + noise * e`` with standard normal ``e``. Before orthonormalisation each pattern is a wave times a
    Gaussian window; ``codes[:, c] = 3 * 0.8**c * (m + 0.6 z)``, with standard normal ``z``, and ``m`` the centre of the group for the
    first two patterns, else 0.

    Examples
    --------
    >>> from unmix.datasets import patterns
    >>> patterns(100, side=8, n_patterns=3).X.shape
    (100, 64)
    """
    _check(n_samples=(n_samples, 1), side=(side, 1), n_patterns=(n_patterns, 1), seed=(seed, 0))
    _check_size(noise=noise)
    if n_patterns > side * side:
        raise ValueError(f"n_patterns must be at most {side * side}, the number of pixels, got {n_patterns}")
    made = _unmix.patterns(int(n_samples), int(side), int(n_patterns), float(noise), int(seed))
    return PatternRows(**dict(zip(["X", "components", "codes", "labels"], made)))
