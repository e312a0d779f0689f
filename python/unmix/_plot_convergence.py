"""Figures of the objective over the iterations of a fit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from . import _unmix
from ._figure import axes_or_new, check_is_own
from ._input import registry

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._base import Estimator
    from ._report import Report

#: Ratio of the largest and the smallest objective from which on the axis is logarithmic.
_LOGARITHMIC = 100.0
#: Maximum number of values that have a mark each.
_MOST_MARKS = 30
#: Words of `counted`, which are for the number of iterations, in the singular.
_SINGULAR = {"iterations": "iteration", "batches": "batch", "epochs": "epoch"}


def convergence(model: Estimator, ax: Axes | None = None) -> Axes:
    """Draw the objective of a fit after each iteration or epoch.

    Of networks that are fitted layer by layer, a line for each layer is drawn. The axis of the objective is logarithmic if all values are
    positive and the largest is at least 100 times the smallest. A fit that has no objective, but a residual, has the residual at its end
    and the tolerance drawn. Whether the objective is minimised or maximised, and why it may change in both directions, depends on the
    method; the page of :func:`unmix.report` states it.

    Parameters
    ----------
    model : fitted estimator
        Of an iterative method or solver, such as ``ICA``, ``RICA``, ``DictionaryLearning`` or ``RFN``.
    ax : matplotlib Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        With the plot. The title has the outcome of the fit, and the residual and the tolerance if there are any.

    See Also
    --------
    unmix.report : A page with the same curve.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.rare_modules(n_samples=60, n_features=50, seed=0)
    >>> ax = unmix.plot.convergence(unmix.RFN(4, max_iter=20, random_state=0).fit(X))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('iteration', 'objective')
    """
    check_is_own(model, "a figure of convergence")
    layers = getattr(model, "layers_", None)
    fits: list[Estimator] = layers if isinstance(layers, list) else [model]
    reports = [fit.report_ for fit in fits]
    if any(len(report.objective) > 1 for report in reports):
        return _objectives(axes_or_new(ax), fits, reports)
    report = model.report_
    if report.residual is not None and report.tol is not None:
        return _residual(axes_or_new(ax), model, report, report.residual, report.tol)
    raise ValueError(
        f"a figure of convergence needs the objective of at least two iterations, or a residual and a tolerance, and the report of this "
        f"{type(model).__name__} has neither: its outcome is {report.outcome!r} after {report.n_iter} {model._model.counted} by the solver "
        f"{report.solver!r}; give a model of an iterative fit, such as ICA or RICA"
    )


def _objectives(ax: Axes, fits: list[Estimator], reports: list[Report]) -> Axes:
    from matplotlib.ticker import MaxNLocator

    drawn = [(i, np.asarray(report.objective, dtype=np.float64)) for i, report in enumerate(reports) if len(report.objective) > 1]
    for i, values in drawn:
        marks = "." if len(values) <= _MOST_MARKS else ""
        ax.plot(np.arange(1, len(values) + 1), values, linewidth=1, marker=marks, label=f"layer {i}: {_end(reports[i])}")
    every = np.concatenate([values for _, values in drawn])
    if every.min() > 0 and every.max() >= _LOGARITHMIC * every.min():
        ax.set_yscale("log")
    ax.set(xlabel=_iteration(fits[drawn[0][0]]), ylabel="objective")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if len(fits) > 1:
        ax.legend(frameon=False)
    else:
        ax.set_title(_end(reports[0]), fontsize="medium")
    return ax


def _residual(ax: Axes, model: Estimator, report: Report, residual: float, tol: float) -> Axes:
    """The residual at the end of the fit, whose history is not recorded, and the tolerance."""
    ax.plot([report.n_iter], [residual], "o", label="residual at the end")
    ax.axhline(tol, color="0.5", linestyle="--", linewidth=1, label="tolerance")
    if min(residual, tol) > 0:
        ax.set_yscale("log")
    word = model._model.counted
    ax.set(xlabel=_SINGULAR.get(word, word), ylabel="residual")
    ax.set_title(_end(report), fontsize="medium")
    ax.legend(frameon=False)
    return ax


def _end(report: Report) -> str:
    """The outcome of a fit, with the residual and the tolerance if there are any."""
    compared = [f"{name} {value:.2g}" for name, value in (("residual", report.residual), ("tol", report.tol)) if value is not None]
    return ": ".join([report.outcome, *([", ".join(compared)] if compared else [])])


def _iteration(model: Estimator) -> str:
    """What the objective is listed over, as on pages: epochs, if the fit has these, else what ``n_iter`` counts."""
    method, report = model._model.method, model.report_
    settings = {**json.loads(model._model.settings), **report.settings}
    names = {setting["name"] for setting in registry()[method]["settings"]}
    has_epochs = "max_epochs" in names and _unmix.has_effect(method, "max_epochs", json.dumps(settings))
    most = settings.get("max_epochs")
    # Some fits list the objective at steps of other kinds.
    if has_epochs:
        return "epoch" if most is None or len(report.objective) <= most + 1 else "iteration"
    word = model._model.counted
    return _SINGULAR.get(word, word)
