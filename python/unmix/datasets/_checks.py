"""Checks of the arguments of data sets."""

from numbers import Integral


def _check(**numbers):
    """Raise an error unless the first of each pair is an integer of at least the second."""
    for name, (value, least) in numbers.items():
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")


def _seed(seed):
    if seed is not None:
        _check(seed=(seed, 0))
    return seed
