"""Shared parts of ICA, FastICA and RICA."""

import numpy as np

from ._base import Estimator
from ._input import _is_path, tell
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


#: #: Parts of those sentences of reports that are also given as warnings.
_DOUBTS = (
    "the rows vary along",
    "cannot be distinguished from Gaussian",
    "the rows are not white",
    "tails than a Gaussian",
    "skewness, but with this contrast",
    "has a higher likelihood",
    "are not separated",
    "differs from a Gaussian",
)


class Sources(Estimator):
    """Shared parts of models of sources and features."""

    def _settings(self):
        return {**super()._settings(), "w_init": start(self.w_init)}

    def _tell_doubts(self):
        """Warn about doubtful sources, except for few rows, which only the report mentions."""
        for doubt in self.report_.warnings:
            if any(words in doubt for words in _DOUBTS):
                tell(doubt)
