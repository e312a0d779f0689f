"""Shared parts of ICA, FastICA and RICA."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._base import Estimator
from ._input import dense


def start(w_init: Any) -> list[list[float]] | None:
    """An initial matrix as a setting."""
    if w_init is None:
        return None
    rows: list[list[float]] = np.asarray(dense(w_init), dtype=np.float64).tolist()
    return rows


class Sources(Estimator):
    """Shared parts of models of sources and features."""

    w_init: Any

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "w_init": start(self.w_init)}

    def _reads_settings(self) -> bool:
        return isinstance(self.w_init, (str, os.PathLike))
