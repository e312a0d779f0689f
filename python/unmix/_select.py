"""Rules for the number of components."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _unmix
from ._input import _weights, tell
from ._threads import threads_here
from ._types import Rows, Seed
from .pca import PCA

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Selection(Mapping[Any, int]):
    """Results of the rules: a mapping from the rule's name to its number of components.

    A share is looked up by its number, as in ``selection[0.9]``, or by name, ``selection["share-0.9"]``; ``"mle"`` is
    ``"minka"``.

    Parameters
    ----------
    text : str
        The facts, as JSON.

    Attributes
    ----------
    suggested : int
        The suggested number: Minka's where it was requested, else the first.
    estimates : dict
        What each number is an estimate of, in a few words.
    explained_variance, explained_variance_ratio : list of float
        The whole spectrum that the rules used.
    rank, n_samples, n_features, n_constant : int
        Directions along which the rows vary; rows, columns, and columns that do not vary.
    warnings : list of str
        Warnings about the numbers.
    seed : int
        Seed of ``"parallel"`` and ``"cv"``.

    See Also
    --------
    select_components : The function that returns it.

    Examples
    --------
    >>> import unmix
    >>> found = unmix.select_components(unmix.datasets.low_rank_plus_noise(300, 20, 3, signal=3.0).X)
    >>> found.suggested, found["bic"]
    (3, 3)
    """

    suggested: int
    estimates: dict[str, str]
    explained_variance: list[float]
    explained_variance_ratio: list[float]
    rank: int
    n_samples: float
    n_features: int
    n_constant: int
    warnings: list[str]
    seed: int

    def __init__(self, text: str) -> None:
        facts = json.loads(text)
        self._facts = facts
        self._k = {rule["rule"]: rule["k"] for rule in facts["rules"]}
        self.estimates = {rule["rule"]: rule["estimates"] for rule in facts["rules"]}
        for name in ("explained_variance", "explained_variance_ratio", "rank", "n_features", "n_constant", "warnings", "seed"):
            setattr(self, name, facts[name])
        n = facts["n_samples"]
        self.n_samples = int(n) if n == int(n) else n
        self.suggested = self._k.get("minka", next(iter(self._k.values())))

    def __getitem__(self, rule: str | float) -> int:
        name = f"share-{rule:g}" if isinstance(rule, float) else rule
        name = "minka" if name == "mle" else name
        if name not in self._k:
            raise KeyError(f"{rule!r} was not requested; there are: {', '.join(self._k)}")
        return self._k[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._k)

    def __len__(self) -> int:
        return len(self._k)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain Python values, under the names that ``unmix select --json`` prints.

        Returns
        -------
        dict
            Facts by name.

        See Also
        --------
        select_components : The function that returns it.

        Examples
        --------
        >>> import unmix
        >>> found = unmix.select_components(unmix.datasets.low_rank_plus_noise(300, 20, 3, signal=3.0).X)
        >>> found.to_dict()["n_features"]
        20
        """
        return json.loads(json.dumps(self._facts))

    def __repr__(self) -> str:
        width = max(4, *map(len, self._k))
        lines = [
            f"{self.n_samples} rows, {self.n_features} columns; rank {self.rank}",
            f"{'rule':<{width}}  {'k':>4}  what it estimates",
        ]
        lines += [f"{name:<{width}}  {k:>4}  {self.estimates[name]}" for name, k in self._k.items()]
        return "\n".join(lines + self.warnings)


def select_components(
    X: Rows,
    rules: str | float | Sequence[str | float] | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = None,
    verbose: int = 0,
) -> Selection:
    """Return the number of components by every rule.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or path
        Rows, as for ``PCA.fit``.
    rules : str, float, or list of them, optional
        ``"minka"`` (``"mle"``), ``"bic"``, ``"gavish-donoho"``, ``"gap"``, ``"gap-difference"``, ``"share"`` (the usual shares
        of the variance) or a share as a number; ``"parallel"`` and ``"cv"``, which hold the rows in memory and run only when
        they are named. None for all but these two.
    sample_weight : array-like of shape (n_samples,), optional
        Sample weights (2 counts a row twice); integers for ``"parallel"`` and ``"cv"``.
    random_state : int, RandomState or None, default=None
        Seed of ``"parallel"`` and ``"cv"``.
    verbose : {0, 1, 2}, default=0
        0 silent, 1 a progress bar, 2 a line for each step, on stderr.

    Returns
    -------
    Selection
        A mapping from rule to number of components, with the spectrum; its repr is a table. Warns when Minka's rule and BIC
        differ by more than 1: then the data do not determine the number clearly.

    See Also
    --------
    PCA : Which takes a rule as ``n_components``.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.low_rank_plus_noise(300, 20, 3, signal=3.0).X
    >>> found = unmix.select_components(X)
    >>> found["minka"], found["bic"], found[0.9]
    (3, 3, 10)
    """
    asked = [] if rules is None else [rules] if isinstance(rules, (str, float)) else list(rules)
    for rule in asked:
        if not isinstance(rule, (str, float)):
            raise TypeError(f"rules must be names of rules or shares between 0 and 1, got {rule!r}")
    reader = PCA(random_state=random_state, verbose=verbose)
    reader._validate_params()
    rows = reader._rows(X, reset=True)
    facts = (reader._seed(), threads_here(), int(verbose))
    asked = [str(rule) for rule in asked]
    text = _unmix.select(rows, asked, facts, reader._names(rows), _weights(sample_weight, rows))
    found = Selection(text)
    for warning in found.warnings:
        tell(warning)
    return found
