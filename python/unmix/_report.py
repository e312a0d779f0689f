"""Report of a fit."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from ._html import table


class Report:
    """Report of a fit.

    Every fitted estimator has one as ``report_``, and model files contain it. It contains the outcome of the fit, the settings and the
    solver that were used, and the warnings that apply. A fit with the same rows, settings and seed, by the same version, has the same bits
    on processors of the same kind.

    Parameters
    ----------
    text : str
        The report, as JSON.

    Attributes
    ----------
    outcome : str
        ``"converged"``; ``"completed"`` (a closed form, or a fixed number of epochs); or, with a warning, ``"max_iter"``, ``"time"``
        (``max_seconds``), ``"stalled"`` (no further progress above the tolerance), ``"collapsed"`` (every feature is near 0) or
        ``"interrupted"`` (by a callback, or inside :func:`unmix.keep_interrupted`).
    n_iter : int
        Iterations; 1 for closed forms.
    sweeps : int
        Full passes over the data.
    objective : list of float
        The objective after each iteration over all rows, or epoch; empty if there is none. Iterations on a subsample, with which a long
        fit may begin, are counted in ``n_iter`` and have no objective here.
    residual, tol : float or None
        The quantity that the stopping rule compares with the tolerance, and the tolerance.
    seconds : float
        Wall time.
    solver : str
        The solver that ran.
    seed, threads : int
        Random seed, and number of threads, which does not change the result.
    rank : int or None
        Number of directions along which the rows vary, up to the accuracy of the solver; None if it was not determined.
    n_samples, n_features, n_constant : int
        Numbers of rows (the sum of the sample weights, if there were any), columns, and constant columns.
    n_rows : int or None
        Number of rows that were read, if they had sample weights; None without weights.
    dtype : str
        Floating-point type of the computations.
    processor : str
        Kind of processor: results have equal bits only on processors of one kind.
    warnings : list of str
        Warnings, in sentences.
    halves, norms, orthonormality, stability, fit, dead_units, replaced, coherence, similar_pairs, final_objective, decreases,
    one_hot, certificate, rungs, sign_changes, sparse_share, alpha, alpha_max, by_layer, cv, epochs, fvu, l0, layers, loss,
    mean_nonzero, not_converged, resampled, scale, worst_gap : object or None
        Results of some methods, described with the attribute ``report_`` of their classes; else None.
    rows_checksum : int or None
        Checksum of the rows, if cells were missing: by it ``impute`` recognises the rows of the fit.
    saelens : dict or None
        Configuration in the folder of SAELens from which the model was read; else None.
    invocation : str or None
        The command line or the call in Python that made the model. In a call, the rows are ``X``, and arrays, callables and models without a
        short call of their own are variables with the names of their parameters. Batches of ``partial_fit`` are a chain of calls, each with
        its own ``X``; one that begins with ``model`` continues an estimator whose call is long or is a command. None in older files.
    pictures : str or None
        What a row was, such as ``"patches of 8x8 pixels"``, if the fit read pictures from files; else None.
    settings : dict
        Settings as resolved, such as the solver that ``"auto"`` chose.

    See Also
    --------
    unmix.report : A page about a model.

    Examples
    --------
    >>> from unmix import PCA
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> report = PCA(n_components=1).fit(X).report_
    >>> report.outcome, report.n_samples, report.solver
    ('completed', 6, 'full')
    """

    outcome: str
    n_iter: int
    sweeps: int
    objective: list[float]
    residual: float | None
    tol: float | None
    seconds: float
    solver: str
    seed: int
    threads: int
    rank: int | None
    n_samples: float
    n_features: int
    n_constant: int
    n_rows: int | None
    dtype: str
    processor: str
    warnings: list[str]
    settings: dict[str, Any]
    invocation: str | None
    # Present for some fits only, and otherwise None. The types have Any instead of None, so that type checkers do not demand a test for None
    # from scripts that know their method.
    pictures: str | Any = None
    rows_checksum: int | Any = None
    halves: list[float] | Any = None
    norms: list[float] | Any = None
    orthonormality: float | Any = None
    stability: dict[str, Any] | Any = None
    fit: dict[str, Any] | Any = None
    dead_units: int | Any = None
    replaced: int | Any = None
    coherence: float | Any = None
    similar_pairs: int | Any = None
    final_objective: float | Any = None
    decreases: dict[str, Any] | Any = None
    one_hot: int | Any = None
    certificate: dict[str, Any] | Any = None
    rungs: dict[str, int] | Any = None
    sign_changes: list[int] | Any = None
    sparse_share: float | Any = None
    alpha: float | Any = None
    alpha_max: float | Any = None
    by_layer: dict[str, Any] | Any = None
    cv: dict[str, Any] | Any = None
    epochs: dict[str, Any] | Any = None
    fvu: float | Any = None
    l0: float | Any = None
    layers: list[dict[str, Any]] | Any = None
    loss: str | Any = None
    mean_nonzero: float | Any = None
    not_converged: int | Any = None
    resampled: int | Any = None
    saelens: dict[str, Any] | Any = None
    scale: float | Any = None
    worst_gap: float | Any = None

    def __init__(self, text: str) -> None:
        vars(self).update(json.loads(text))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain Python values, under the names that ``unmix show --json`` prints.

        The values are numbers, strings, lists and dictionaries, so that the result can be written as JSON. Lists and dictionaries are those
        of the report, not copies.

        Returns
        -------
        dict
            The attributes by name.

        See Also
        --------
        unmix.report : A page about a model.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=1).fit(X).report_.to_dict()["n_features"]
        2
        """
        return dict(vars(self))

    def __repr__(self) -> str:
        return "\n".join(f"{name:<12}{value!r}" for name, value in vars(self).items())

    def _repr_html_(self) -> str:
        fields = [(name, value) for name, value in vars(self).items() if value is not None and name not in ("objective", "settings", "warnings")]
        settings = [(f"settings: {name}", value) for name, value in self.settings.items()]
        return table(("name", "value"), fields + settings, "Report of the fit", self.warnings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and vars(self) == vars(other)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]
