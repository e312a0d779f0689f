"""Options of a fit that are not settings of its method: a time limit, a checkpoint, a model as a start."""

from __future__ import annotations

import os
from numbers import Real
from typing import TYPE_CHECKING, Any

from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._input import tensor_names

if TYPE_CHECKING:
    from ._types import Path


class ShareName(StrOptions):
    """The name of a share of the variance, as the table of rules has it: ``"share-0.9"``."""

    def __init__(self) -> None:
        super().__init__({"share-0.9"})

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether this is such a name."""
        if not isinstance(val, str) or not val.startswith("share-"):
            return False
        try:
            return 0 < float(val[6:]) < 1
        except ValueError:
            return False

    def __str__(self) -> str:
        return "the name of a share of the variance such as 'share-0.9'"


class RunOptions:
    """Run options, common to all estimators."""

    # For classes that have no parameters of these names.
    max_seconds: float | None = None
    checkpoint: Path | None = None
    checkpoint_every: float = 60.0
    resume: bool = False
    init: Any = None

    def _run_options(self, call):
        """Options of the run for the extension; ``call`` is the call as written, which the model records."""
        if self.max_seconds is self.checkpoint is self.init is None and not self.resume:
            return {"invocation": call}
        checkpoint = None if self.checkpoint is None else os.fspath(self.checkpoint)
        if self.resume and checkpoint is None:
            raise ValueError("resume=True needs a checkpoint to continue from; give checkpoint='a path'")
        return {
            "max_seconds": self.max_seconds,
            "checkpoint": checkpoint and (checkpoint, float(self.checkpoint_every), bool(self.resume)),
            "init": self._start_model(),
            "invocation": call,
        }

    def _starts_from_model(self):
        """Whether ``init`` is a model or its path, and not a choice of the setting."""
        return self.init is not None and not (isinstance(self.init, str) and self.init in self._own_starts())

    def _start_model(self):
        """The model from which a fit starts, if one is given."""
        if not self._starts_from_model():
            return None
        if not isinstance(self.init, RunOptions):
            return _unmix.Model.load(os.fspath(self.init))
        check_is_fitted(self.init)
        return self.init._model

    def __sklearn_clone__(self):
        # A model given as a start or as a table is a value: a clone of it would be unfitted.
        clone = super().__sklearn_clone__()
        clone.init = self.init
        for name in tensor_names(self._method):
            if isinstance(getattr(self, name), RunOptions):
                setattr(clone, name, getattr(self, name))
        return clone


#: #: Allowed values of ``init`` in addition to a method's choices.
START = [RunOptions, str, os.PathLike, None]

#: #: Allowed values of the run options.
RUN_OPTIONS = {
    "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
    "checkpoint": [str, os.PathLike, None],
    "checkpoint_every": [Interval(Real, 0, None, closed="left")],
    "resume": ["boolean"],
    "init": START,
}
