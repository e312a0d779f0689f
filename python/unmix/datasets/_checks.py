"""Checks of the arguments of data sets."""

from __future__ import annotations

from numbers import Integral


def _check(**numbers: tuple[int, int]) -> None:
    """Raise an error unless the first of each pair is an integer of at least the second."""
    for name, (value, least) in numbers.items():
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")


def _seed(seed: int | None) -> int | None:
    if seed is not None:
        _check(seed=(seed, 0))
    return seed
