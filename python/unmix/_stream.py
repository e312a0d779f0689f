"""Learning from streams: ``partial_fit`` of estimators whose models store a learning state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _unmix
from ._input import sample_shape, tensor_names, warn
from ._threads import threads_here
from ._written import call_source

if TYPE_CHECKING:
    from ._base import Estimator
    from ._types import Rows


def learn_more(estimator: Estimator, X: Rows, with_doubts: bool = False) -> None:
    """Continue an estimator with the rows ``X``; on an error it is unchanged.

    Warnings are the notes about how a file was read; with ``with_doubts``, all that concern the validity of the result, which include these notes.
    """
    with estimator._kept_on_error():
        model = vars(estimator).get("_model")
        rows = estimator._rows(X, reset=model is None, min_samples=1)
        settings, written = estimator._settings_and_source()
        if model is None:
            seed = estimator._seed()
            written = estimator._seeded(written, seed)
        else:
            seed = estimator._seed_after(model.seed)
            written = estimator._continued(estimator.report_.invocation, model.settings, settings, model.seed)
        run_options = (seed, threads_here(), int(estimator.verbose))
        invocation = call_source(written, "partial_fit", X)
        names = estimator._names(rows)
        options: dict[str, Any] = {"max_seconds": estimator.max_seconds, **sample_shape(X)}
        if tensor_names(estimator._method):
            options["given"] = estimator._given_tables()
        if model is None:
            options["init"] = estimator._start_model()
        learned, notes = _unmix.partial_fit(estimator._method, settings, model, rows, run_options, names, invocation, **options)
        estimator._forget()
        estimator._adopt(learned)
    # A pass that ended early has left rows out.
    if not learned.end[1]:
        estimator._warn()
        return
    for sentence in estimator._doubts() if with_doubts else notes:
        warn(sentence)
