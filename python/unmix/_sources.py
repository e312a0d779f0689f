"""Shared parts of ICA, FastICA and RICA."""

import numpy as np

from ._base import Estimator
from ._input import _is_path
from ._read import Files
from ._read import read as from_file


def read(X):
    """An array, read from a file if a path is given."""
    if not _is_path(X):
        return X
    return X.read() if isinstance(X, Files) else from_file(X)


def start(w_init):
    """An initial matrix as a setting."""
    return None if w_init is None else np.asarray(w_init, dtype=np.float64).tolist()


class Sources(Estimator):
    """Shared parts of models of sources and features."""

    def _settings(self):
        return {**super()._settings(), "w_init": start(self.w_init)}
