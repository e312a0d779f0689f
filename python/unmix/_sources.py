"""Shared parts of ICA, FastICA and RICA."""

import numpy as np

from ._base import Estimator
from ._input import _is_path, warn
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


#: Parts of the warnings in a report that are also raised as Python warnings; `test_parts_of_warnings_are_in_the_library` looks for them in
#: its source.
_DOUBTS = (
    "the rows vary along",
    "cannot be distinguished from Gaussian",
    "the rows are not white",
    "tails than a Gaussian",
    "but with this contrast",
    "has a higher likelihood",
    "are not separated",
    "differs from a Gaussian",
)


class Sources(Estimator):
    """Shared parts of models of sources and features."""

    def _settings(self):
        return {**super()._settings(), "w_init": start(self.w_init)}

    def _warn_doubts(self):
        """Warn about doubtful sources, except for few rows, which only the report mentions."""
        for doubt in self.report_.warnings:
            if any(words in doubt for words in _DOUBTS):
                warn(doubt)
