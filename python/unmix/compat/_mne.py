"""MNE-Python's ICA on the solvers of unmix."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator

import numpy as np
import sklearn.decomposition

from .._fastica import FastICA
from ._picard import picard

_MISSING = object()


class _Writable(FastICA):
    """MNE divides the components by standard deviations in place, so they must be writable."""

    def fit(self, X, y=None):
        super().fit(X)
        vars(self)["components_"] = np.array(self.components_)
        return self


@contextlib.contextmanager
def mne() -> Iterator[None]:
    """Let ``mne.preprocessing.ICA`` of the methods ``"picard"`` and ``"fastica"`` run on the solvers of unmix inside the block.

    MNE keeps its own preparation (rescaling by channel type, PCA) and its own names; only the estimation of the sources is by
    unmix. The package picard need not be installed.

    Yields
    ------
    None
        MNE's class is as it was when the block ends.

    See Also
    --------
    unmix.ICA : The class that is used.
    picard : The function that MNE calls.

    Examples
    --------
    >>> import unmix.compat
    >>> with unmix.compat.mne():
    ...     pass  # mne.preprocessing.ICA(method="picard").fit(raw)
    """
    module = types.ModuleType("picard")
    module.picard = picard
    # MNE checks the version before it imports the function.
    module.__version__ = "0.8"
    module.__spec__ = None
    kept = sys.modules.get("picard", _MISSING)
    theirs = sklearn.decomposition.FastICA
    sys.modules["picard"] = module
    sklearn.decomposition.FastICA = _Writable
    try:
        yield
    finally:
        sklearn.decomposition.FastICA = theirs
        if kept is _MISSING:
            del sys.modules["picard"]
        else:
            sys.modules["picard"] = kept
