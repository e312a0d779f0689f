"""Arrays of fitted models that cannot be edited."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

_T = TypeVar("_T")


def fixed(value: _T) -> _T:
    """Make an array read-only, and return it; other values are returned as they are.

    An edit of a computed attribute would change a copy that is not used again, so it raises an error.
    """
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return value
