"""Options of a fit that are not settings of its method: a time limit, a callback, a checkpoint, a model as a start."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._input import tensor_names
from ._sklearn import Part, StrOptions

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._types import Path


def seconds(max_seconds: float | None) -> float | None:
    """A time limit of several fits together, in seconds; None for none."""
    if max_seconds is None:
        return None
    if not isinstance(max_seconds, Real) or not float(max_seconds) > 0:
        raise ValueError(f"max_seconds must be a number of seconds above 0 or None, got {max_seconds!r}")
    return float(max_seconds)


def default_of(function: Callable[..., Any], parameter: str) -> Any:
    """The default of a keyword-only parameter."""
    return (function.__kwdefaults__ or {})[parameter]


class Iteration(NamedTuple):
    """An iteration of a fit, as a ``callback`` receives it.

    A solver that runs inside another one, such as for each of ``n_init`` starts, reports its own iterations, counted from 1.

    Parameters
    ----------
    n_iter : int
        Number of the iteration, counted from 1, or of the epoch for methods that are trained on mini-batches. The parameter
        ``callback`` of each class states which.
    residual : float or None
        The quantity that ``tol`` bounds; None if there is none.
    objective : float or None
        The objective, if the solver computes one.
    max_iter : int or None
        The maximum number of iterations, if there is one.
    tol : float or None
        The tolerance that ends the iterations, if there is one.

    See Also
    --------
    keep_interrupted : Keep the result of a fit that is interrupted by Ctrl-C.

    Examples
    --------
    The residuals of a fit that ends after at most five iterations:

    >>> import numpy as np, unmix
    >>> X = np.random.RandomState(0).laplace(size=(2000, 4))
    >>> residuals: list[float | None] = []
    >>> def record(iteration):
    ...     residuals.append(iteration.residual)
    ...     if iteration.n_iter == 5:
    ...         raise StopIteration
    >>> model = unmix.ICA(callback=record, random_state=0).fit(X)
    >>> len(residuals) == model.n_iter_
    True
    """

    n_iter: int
    residual: float | None
    objective: float | None
    max_iter: int | None
    tol: float | None


_keeps_interrupted: ContextVar[bool] = ContextVar("keeps_interrupted", default=False)


@contextlib.contextmanager
def keep_interrupted() -> Iterator[None]:
    """Keep the results of fits that are interrupted by Ctrl-C (in a notebook: by "interrupt the kernel").

    By default KeyboardInterrupt is raised and the estimator stays as it was. Inside this context the first interruption of a fit ends its
    iterations at the current result: the estimator is fitted, ``report_.outcome`` is ``"interrupted"``, a ConvergenceWarning is issued,
    and a checkpoint is kept. A second interruption of the same fit raises KeyboardInterrupt, as does an interruption before the
    iterations have a result.

    Yields
    ------
    None
        Nothing.

    See Also
    --------
    Iteration : The argument of a callback, which can end a fit, too.

    Examples
    --------
    >>> import numpy as np, unmix
    >>> X = np.random.RandomState(0).laplace(size=(500, 4))
    >>> with unmix.keep_interrupted():
    ...     model = unmix.ICA(random_state=0).fit(X)
    >>> model.report_.outcome
    'converged'
    """
    token = _keeps_interrupted.set(True)
    try:
        yield
    finally:
        _keeps_interrupted.reset(token)


class ShareName(StrOptions):
    """Constraint of a parameter: the name of a rule for a share of the variance, such as ``"share-0.9"``."""

    def __init__(self) -> None:
        super().__init__({"share-0.9"})

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether ``val`` is such a name."""
        if not isinstance(val, str) or not val.startswith("share-"):
            return False
        try:
            return 0 < float(val[6:]) < 1
        except ValueError:
            return False

    def __str__(self) -> str:
        return "the name of a share of the variance such as 'share-0.9'"


class RunOptions(Part):
    """Run options, common to all estimators."""

    # For classes that have no parameters of these names.
    max_seconds: float | None = None
    callback: Callable[[Iteration], Any] | None = None
    checkpoint: Path | None = None
    checkpoint_every: float = 60.0
    resume: bool = False
    init: Any = None

    def _run_options(self, call: str) -> dict[str, Any]:
        """Options of the run for the extension; ``call`` is the call as source code, which the model records."""
        keeps = _keeps_interrupted.get()
        started = self.checkpoint is not None or self.init is not None
        if not started and self.max_seconds is None and self.callback is None and not self.resume and not keeps:
            return {"invocation": call}
        checkpoint = None if self.checkpoint is None else os.fspath(self.checkpoint)
        if self.resume and checkpoint is None:
            raise ValueError("resume=True needs a checkpoint to resume from; give the path of one as checkpoint")
        return {
            "max_seconds": self.max_seconds,
            "checkpoint": checkpoint and (checkpoint, float(self.checkpoint_every), bool(self.resume)),
            "init": self._start_model(),
            "invocation": call,
            "observer": (self._called_back(), keeps),
        }

    def _called_back(self) -> Callable[..., Any] | None:
        """The callback as a function of the numbers that the extension passes after an iteration."""
        callback = self.callback
        return None if callback is None else lambda *values: callback(Iteration(*values))

    def _starts_from_model(self) -> bool:
        """Whether ``init`` is a model or its path, and not a choice of the setting."""
        return self.init is not None and not (isinstance(self.init, str) and self.init in self._own_starts())

    def _start_model(self) -> _unmix.Model | None:
        """The model from which a fit starts, if one is given."""
        if not self._starts_from_model():
            return None
        if not isinstance(self.init, RunOptions):
            return _unmix.Model.load(os.fspath(self.init))
        check_is_fitted(self.init)
        return self.init._model

    def __sklearn_clone__(self) -> Self:
        # A model given as a start or as a table is a value: a clone of it would be unfitted.
        clone = super().__sklearn_clone__()
        clone.init = self.init
        for name in tensor_names(self._method):
            if isinstance(getattr(self, name), RunOptions):
                setattr(clone, name, getattr(self, name))
        return clone


#: Allowed values of ``init`` in addition to a method's choices.
START: list[Any] = [RunOptions, str, os.PathLike, None]

#: Allowed values of the run options.
RUN_OPTIONS: dict[str, list[Any]] = {
    "random_state": ["random_state"],
    "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
    "callback": [callable, None],
    "checkpoint": [str, os.PathLike, None],
    "checkpoint_every": [Interval(Real, 0, None, closed="left")],
    "resume": ["boolean"],
    "init": START,
    "verbose": ["verbose"],
}
