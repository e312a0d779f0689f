"""Components of the models that measures compare."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array


def _rows(model: Any) -> Array:
    rows = np.asarray(getattr(model, "components_", model), dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"components must be an array of 2 axes, got {rows.ndim}; give a fitted model or its components_")
    _check_finite(rows, "components")
    return rows


def _check_finite(table: Array, what: str) -> None:
    """Refuse NaN and infinities, which would count as no similarity."""
    wrong = np.argwhere(~np.isfinite(table))
    if len(wrong):
        raise ValueError(f"{what} must be finite: entry {wrong[0][1]} of row {wrong[0][0]} is not a finite number")


def _pair(a: Any, b: Any) -> tuple[Array, Array]:
    a, b = _rows(a), _rows(b)
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"components must be of the same features, got {a.shape[1]} and {b.shape[1]} features"
        )
    return a, b
