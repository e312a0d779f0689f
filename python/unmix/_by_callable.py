"""FastICA with a user-defined contrast function in numpy: as in scikit-learn, except for cancellation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ._types import Array

#: The contrast function: its values, and the mean of its derivative over the last axis.
_Contrast: TypeAlias = Callable[[Array], tuple[Array, Array]]
#: Rows of the rotation, iterations, whether they converged, and the last change, None without an iteration.
_Search: TypeAlias = tuple[Array, int, bool, float | None]


def _rotation(m: Array) -> Array:
    u, _, v = np.linalg.svd(m)
    product: Array = u @ v
    return product


def _moved(new: Array, old: Array) -> float:
    """``1 - |<new, old>|`` of unit rows, computed without cancellation."""
    sign = np.where(np.sum(new * old, axis=-1, keepdims=True) < 0, -1, 1)
    return float(np.max(0.5 * np.sum((new - sign * old) ** 2, axis=-1)))


def symmetric(z: Array, g: _Contrast, start: Array, max_iter: int, tol: float) -> _Search:
    """All sources at once (Hyvärinen 1999): ``w <- E[g(w z) z'] - E[g'(w z)] w``, then the nearest orthonormal matrix.

    ``z`` are white coordinates, one row for each; ``g`` returns g(y) and the mean of g'(y) over the last axis. Returns the rows of the
    rotation, the number of iterations, whether the last change was below ``tol``, and that change (None without an iteration).
    """
    w = _rotation(start)
    for n_iter in range(1, max_iter + 1):
        values, slope = g(w @ z)
        new = _rotation(values @ z.T / z.shape[1] - np.asarray(slope)[:, None] * w)
        moved, w = _moved(new, w), new
        if moved < tol:
            return w, n_iter, True, moved
    return w, max_iter, False, moved if max_iter else None


def deflation(z: Array, g: _Contrast, start: Array, max_iter: int, tol: float) -> _Search:
    """One source after another, each orthogonal to those before; arguments and results as for `symmetric`, the number of iterations and
    the last change as maxima over the sources."""
    if max_iter == 0:
        return _rotation(start), 0, False, None
    found: Array = np.zeros((0, len(z)), dtype=z.dtype)
    most, converged = 0, True
    largest: float | None = None
    for w in start:
        w = w / np.linalg.norm(w)
        for n_iter in range(1, max_iter + 1):
            values, slope = g(w @ z)
            new = z @ values / z.shape[1] - slope * w
            for _ in range(2):
                new = new - found.T @ (found @ new)
            new = new / np.linalg.norm(new)
            moved, w = _moved(new, w), new
            if moved < tol:
                break
        else:
            converged = False
        most, found = max(most, n_iter), np.vstack([found, w])
        largest = moved if largest is None else max(largest, moved)
    return found, most, converged, largest
