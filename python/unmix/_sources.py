"""Shared parts of ICA, FastICA and RICA."""

import os

import numpy as np

from ._base import Estimator
from ._input import dense


def start(w_init):
    """An initial matrix as a setting."""
    return None if w_init is None else np.asarray(dense(w_init), dtype=np.float64).tolist()


class Sources(Estimator):
    """Shared parts of models of sources and features."""

    def _settings(self):
        return {**super()._settings(), "w_init": start(self.w_init)}

    def _reads_settings(self):
        return isinstance(self.w_init, (str, os.PathLike))
