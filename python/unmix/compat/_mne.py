"""MNE-Python's ICA on the solvers of unmix."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn.decomposition

from .._fastica import FastICA
from .._input import warn
from ._picard import picard

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from .._types import Rows

_MISSING = object()


class _Writable(FastICA):
    """FastICA with writable ``components_``: MNE divides these by standard deviations in place."""

    def fit(self, X: Rows, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        super().fit(X, sample_weight=sample_weight)
        vars(self)["components_"] = np.array(self.components_)
        return self


@contextlib.contextmanager
def _noted_infomax() -> Iterator[None]:
    """Context in which a fit of MNE with its own Infomax warns that it is not one of unmix. MNE is not imported for that."""
    ica: Any = importlib.import_module("mne.preprocessing.ica") if "mne" in sys.modules else None
    theirs = getattr(ica, "infomax", None)
    if theirs is None:
        yield
        return
    ica.infomax = _with_warning(theirs)
    try:
        yield
    finally:
        ica.infomax = theirs


def _with_warning(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def infomax(*args: Any, **kwargs: Any) -> Any:
        warn("the sources of method='infomax' are estimated by MNE; unmix estimates those of Picard and FastICA")
        return theirs(*args, **kwargs)

    return infomax


@contextlib.contextmanager
def mne() -> Iterator[None]:
    """Context in which ``mne.preprocessing.ICA`` with the methods ``"picard"`` and ``"fastica"`` runs on the solvers of unmix.

    Preprocessing (rescaling by channel type, PCA) and names remain those of MNE; only the sources are estimated by unmix. The package
    picard need not be installed. The method ``"infomax"`` remains MNE's own, inside the block as well: a fit with it gives a warning, if MNE
    was imported before the block. A file that ``ica.save`` writes names the method and the parameters as MNE does, and not unmix.

    Yields
    ------
    None
        The class of MNE is restored at the end of the block.

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
    # MNE checks the version before it imports the function.
    vars(module).update(picard=picard, __version__="0.8", __spec__=None)
    kept: Any = sys.modules.get("picard", _MISSING)
    theirs = sklearn.decomposition.FastICA
    sys.modules["picard"] = module
    sklearn.decomposition.FastICA = _Writable
    try:
        with _noted_infomax():
            yield
    finally:
        sklearn.decomposition.FastICA = theirs
        if kept is _MISSING:
            del sys.modules["picard"]
        else:
            sys.modules["picard"] = kept
