"""How a fit went."""

from __future__ import annotations

import json
from typing import Any, ClassVar


class Report:
    """How a fit went: facts, never silence.

    Parameters
    ----------
    text : str
        The facts, as JSON.

    Attributes
    ----------
    outcome : str
        ``"converged"``; ``"completed"`` (a closed form, or a fixed budget that was spent); ``"max_iter"``, ``"time"``,
        ``"stalled"`` or ``"collapsed"`` (every feature is near 0), which warn.
    n_iter : int
        Iterations; 1 for closed forms.
    sweeps : int
        Full passes over the rows.
    objective : list of float
        The objective after each iteration, where there is one.
    residual, tol : float or None
        The quantity that the stopping rule compares, and what it is compared with.
    seconds : float
        Wall time.
    solver : str
        The solver that ran.
    seed, threads : int
        Where random draws began, and how many threads worked. The number of threads changes no bit of the result.
    rank : int or None
        Directions along which the rows vary, as far as the solver can see; None when it only looked at the first few.
    n_samples, n_features, n_constant : int
        Rows (the sum of the sample weights, where there were any), columns, and columns that do not vary.
    n_rows : int or None
        Rows that were read, where they had sample weights; None where each counted once.
    dtype : str
        Type in which rows were computed.
    processor : str
        Kind of processor: equal bits are promised for one kind.
    warnings : list of str
        What a person should know.
    halves, norms, orthonormality, stability : object or None
        What methods that look at them found; None where they did not, or were asked not to.
    invocation : str or None
        What made the model, as it can be typed again: a command line, or a call whose arrays are names alone. None in older files.
    settings : dict
        Settings as they were resolved, as in the solver that ``"auto"`` chose.

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
    # What only some fits have.
    halves: Any = None
    norms: Any = None
    orthonormality: Any = None
    stability: Any = None

    def __init__(self, text: str) -> None:
        vars(self).update(json.loads(text))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain Python values, under the names that ``unmix show --json`` prints.

        Returns
        -------
        dict
            Facts by name.

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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and vars(self) == vars(other)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]
