"""Data made by seeded code, with the truth that made it."""

from numbers import Integral

from sklearn.utils import Bunch

from . import _unmix

__all__ = ["patterns"]


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
    for name, value, least in [("n_samples", n_samples, 1), ("side", side, 1), ("n_patterns", n_patterns, 1), ("seed", seed, 0)]:
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name}={value!r} is not possible; give a whole number from {least}")
    if n_patterns > side * side:
        raise ValueError(f"n_patterns={n_patterns} is not possible: pictures have {side * side} pixels; give at most that many")
    made = _unmix.patterns(int(n_samples), int(side), int(n_patterns), float(noise), int(seed))
    return Bunch(**dict(zip(["X", "components", "scores", "labels"], made)))
