"""Checks of the arguments of data sets."""

from __future__ import annotations

import math
from numbers import Integral


def _check(**numbers: tuple[int, int]) -> None:
    """Raise an error unless the first of each pair is an integer of at least the second."""
    for name, (value, least) in numbers.items():
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
        if value >= 2**63:
            raise ValueError(f"{name} must be an integer below 2**63, got {value!r}")


def _check_size(**sizes: float) -> None:
    """Raise an error unless all are finite and not negative."""
    for name, value in sizes.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be finite and non-negative, got {value!r}")


def _seed(seed: int | None) -> int | None:
    if seed is not None:
        _check(seed=(seed, 0))
    return seed
