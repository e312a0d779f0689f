"""Rules for the number of components."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import _unmix
from ._html import table
from ._input import _weights, counted, registry, unknown_method, warn
from ._options import seconds
from ._threads import threads_here
from ._types import Array, Rows, Seed
from .pca import PCA

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike


class _Choices:
    """Shared parts of both tables of rules: the numbers of components that the rules select."""

    n_samples: float
    estimates: dict[str, str]
    warnings: list[str]

    def _read(self, text: str, names: tuple[str, ...]) -> None:
        fields = json.loads(text)
        self._json: dict[str, Any] = fields
        self._k: dict[str, int] = {rule["rule"]: rule["k"] for rule in fields["rules"]}
        self.estimates = {rule["rule"]: rule["estimates"] for rule in fields["rules"]}
        for name in names:
            setattr(self, name, fields[name])
        n = fields["n_samples"]
        self.n_samples = int(n) if n == int(n) else n

    def _table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Names of the columns and the lines of the table that frames and notebooks show."""
        return ["rule", "k", "estimates"], [(rule, k, self.estimates[rule]) for rule, k in self._k.items()]

    def to_frame(self) -> pandas.DataFrame:
        """Return the table as a data frame.

        The frame is a copy, for further analysis or to write a file; the object itself is a mapping from rules to numbers. pandas is needed
        for this method only.

        Returns
        -------
        pandas.DataFrame
            One row for each rule of a :class:`Selection`, or for each number of components of a :class:`Comparison`.

        See Also
        --------
        select_components : The function that returns these tables.

        Examples
        --------
        >>> import unmix
        >>> X = unmix.datasets.low_rank_plus_noise(300, 20, 3, signal=3.0).X
        >>> unmix.select_components(X, ["bic", "minka"]).to_frame()["k"].tolist()
        [3, 3]
        """
        import pandas

        names, lines = self._table()
        return pandas.DataFrame(lines, columns=names)

    def _repr_html_(self) -> str:
        return table(*self._table(), notes=self.warnings)

    def _chosen(self, rule: Any, name: Any) -> int:
        if name not in self._k:
            raise KeyError(f"{rule!r} was not requested; choose one of: {', '.join(self._k)}")
        return self._k[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._k)

    def __len__(self) -> int:
        return len(self._k)


class Selection(_Choices, Mapping[Any, int]):
    """Results of the rules: a mapping from the rule's name to its number of components.

    A share of the variance is a key as a number, ``selection[0.9]``, or by name, ``selection["share-0.9"]``; ``"mle"`` is
    ``"minka"``.

    Parameters
    ----------
    text : str
        The results, as JSON.

    Attributes
    ----------
    suggested : int
        The suggested number: the one that most rules give, shares of the variance aside. Among several that equally many give, that of
        Minka's rule, or of the first of these rules.
    estimates : dict
        For each rule, a short description of the quantity that it estimates.
    explained_variance, explained_variance_ratio : list of float
        Variances along all components, the spectrum that the rules use, and their shares of the total.
    rank, n_samples, n_features, n_constant : int
        Numbers of directions along which the rows vary, of rows, of columns, and of constant columns.
    warnings : list of str
        Warnings about the numbers.
    seed : int
        Seed of ``"parallel"`` and ``"cv"``.

    See Also
    --------
    select_components : The function that returns this object.

    Notes
    -----
    A share ``s`` gives the smallest ``k`` with ``sum_{i <= k} v_i >= s sum_i v_i``, for variances ``v_1 >= v_2 >= ...``,
    ``explained_variance``. The other rules are defined with :func:`select_components`.

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
        fields = ("suggested", "explained_variance", "explained_variance_ratio", "rank", "n_features", "n_constant", "warnings", "seed")
        self._read(text, fields)

    def __getitem__(self, rule: str | float) -> int:
        # In the notation of the registry: all digits, without an exponent.
        name = f"share-{np.format_float_positional(rule, trim='-')}" if isinstance(rule, float) else rule
        name = "minka" if name == "mle" else name
        return self._chosen(rule, name)

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain Python values, under the names that ``unmix select --json`` prints.

        It can be written as JSON, to record the numbers of all rules together with the spectrum on which they are based. It is a copy.

        Returns
        -------
        dict
            Results by name.

        See Also
        --------
        select_components : The function that returns this object.

        Examples
        --------
        >>> import unmix
        >>> found = unmix.select_components(unmix.datasets.low_rank_plus_noise(300, 20, 3, signal=3.0).X)
        >>> found.to_dict()["n_features"]
        20
        """
        copied: dict[str, Any] = json.loads(json.dumps(self._json))
        return copied

    def __repr__(self) -> str:
        width = max(4, *map(len, self._k))
        lines = [
            f"{counted(self.n_samples, 'row')}, {counted(self.n_features, 'column')}; rank {self.rank}",
            f"{'rule':<{width}}  {'k':>4}  what it estimates",
        ]
        lines += [f"{name:<{width}}  {k:>4}  {self.estimates[name]}" for name, k in self._k.items()]
        return "\n".join(lines + self.warnings)


class Comparison(_Choices, Mapping[str, int]):
    """Comparison of fits of one method with 0, 1, 2, ... components: a mapping from rule to number of components, and the table.

    Information criteria measure the fit to these rows minus a penalty for the number of parameters; ``"cells"`` measures the prediction of
    cells that were not in the fit. If they differ by much, the data do not determine the number of components.

    Parameters
    ----------
    text : str
        The results, as JSON.

    Attributes
    ----------
    suggested : int
        The suggested number: that of the held-out cells if these were requested, else that of the first rule.
    estimates : dict
        For each rule, a short description of the quantity that it estimates.
    k : ndarray of shape (n_lines,)
        Numbers of components, in ascending order.
    log_likelihood, aic, bic : ndarray of shape (n_lines,)
        Log-likelihood of all rows (from their observed cells), and the information criteria, of which the smallest is selected.
    cells, cells_standard_error : ndarray of shape (n_lines,)
        Mean log-density of a held-out cell, and its standard error. NaN if cells were not held out.
    excluded : list of str or None
        For each line why no rule selects it: its likelihood has no maximum, or there are more factors than the covariance determines (the
        Ledermann bound of factor analysis). None for the other lines.
    method : str
        Key of the method.
    n_samples, n_features : int
        Numbers of rows with an observed cell, and of columns.
    warnings : list of str
        Warnings about the numbers.
    seed : int
        Seed of the choice of the held-out cells.

    See Also
    --------
    select_components : The function that returns this object.

    Notes
    -----
    With the log-likelihood ``l``, ``q`` free parameters and ``n`` rows, ``aic = 2 q - 2 l`` and ``bic = q log(n) - 2 l``. For ``"cells"``
    every cell is in one of five random folds; for each of two folds the model is fitted without its cells, and a cell has the log-density
    of its conditional normal distribution given the other observed cells of its row. More components are selected only if they increase the
    mean by more than 0.01 standard errors, which are computed over rows.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.low_rank_plus_noise(300, 10, 3, signal=3.0).X
    >>> found = unmix.select_components(X, method="ppca", random_state=0)
    >>> found.suggested, found["bic"], found.k.tolist()
    (3, 3, [0, 1, 2, 3, 4, 5, 6])
    """

    suggested: int
    estimates: dict[str, str]
    k: Array
    log_likelihood: Array
    aic: Array
    bic: Array
    cells: Array
    cells_standard_error: Array
    excluded: list[str | None]
    method: str
    n_samples: float
    n_features: int
    warnings: list[str]
    seed: int

    def __init__(self, text: str) -> None:
        self._read(text, ("method", "suggested", "n_features", "warnings", "seed"))
        lines = self._json["table"]
        self.k = np.array([line["k"] for line in lines], dtype=np.int64)
        for name in ("log_likelihood", "aic", "bic", "cells", "cells_standard_error"):
            setattr(self, name, np.array([line[name] for line in lines], dtype=np.float64))
        self.excluded = [line["excluded"] for line in lines]

    def __getitem__(self, rule: str) -> int:
        return self._chosen(rule, rule)

    def _table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        names = ["k", "log_likelihood", "aic", "bic"]
        if "cells" in self._k:
            names += ["cells", "cells_standard_error"]
        columns = [getattr(self, name).tolist() for name in names]
        if any(self.excluded):
            names, columns = [*names, "excluded"], [*columns, [why or "" for why in self.excluded]]
        return names, list(zip(*columns, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain Python values, under the names that ``unmix select --method KEY --json`` prints.

        It can be written as JSON, to record the criteria together with the whole table. It is a copy, in which ``"table"`` is a list with a
        dict for each number of components.

        Returns
        -------
        dict
            Results by name.

        See Also
        --------
        select_components : The function that returns this object.

        Examples
        --------
        >>> import unmix
        >>> X = unmix.datasets.low_rank_plus_noise(300, 10, 3, signal=3.0).X
        >>> unmix.select_components(X, "bic", method="ppca").to_dict()["suggested"]
        3
        """
        copied: dict[str, Any] = json.loads(json.dumps(self._json))
        return copied

    def __repr__(self) -> str:
        lines = [f"{self.method}: {counted(self.n_samples, 'row')}, {counted(self.n_features, 'column')}"]
        head = f"{'k':>4}  {'log-likelihood':>15}  {'aic':>15}  {'bic':>15}"
        with_cells = "cells" in self._k
        lines.append(head + ("      held-out cells" if with_cells else ""))
        for i, k in enumerate(self.k):
            line = f"{k:>4}  {self.log_likelihood[i]:>15.2f}  {self.aic[i]:>15.2f}  {self.bic[i]:>15.2f}"
            cells = f"  {self.cells[i]:>8.4f} ({self.cells_standard_error[i]:.4f})" if with_cells else ""
            lines.append(line + cells)
        lines += [f"{rule:<5}  {k:>4}  {self.estimates[rule]}" for rule, k in self._k.items()]
        return "\n".join(lines + self.warnings)


@overload
def select_components(
    X: Rows,
    rules: str | float | Sequence[str | float] | None = None,
    *,
    method: Literal["pca"] = "pca",
    max_components: None = None,
    settings: None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = None,
    verbose: int = 0,
    max_seconds: None = None,
) -> Selection: ...
@overload
def select_components(
    X: Rows,
    rules: str | Sequence[str] | None = None,
    *,
    method: Literal["ppca", "linear-eigengan", "factor-analysis"],
    max_components: int | None = None,
    settings: Mapping[str, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = None,
    verbose: int = 0,
    max_seconds: float | None = None,
) -> Comparison: ...
@overload
def select_components(
    X: Rows,
    rules: str | float | Sequence[str | float] | None = None,
    *,
    method: str = "pca",
    max_components: int | None = None,
    settings: Mapping[str, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = None,
    verbose: int = 0,
    max_seconds: float | None = None,
) -> Selection | Comparison: ...
def select_components(
    X: Rows,
    rules: str | float | Sequence[str | float] | None = None,
    *,
    method: str = "pca",
    max_components: int | None = None,
    settings: Mapping[str, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = None,
    verbose: int = 0,
    max_seconds: float | None = None,
) -> Selection | Comparison:
    """Return the number of components by every rule.

    The rules estimate different quantities, such as the rank of a signal in noise or the number that is best for denoising, and so may
    differ. By default they use the variances along all components alone; ``"parallel"`` and ``"cv"`` decompose further matrices, and
    methods with a likelihood are fitted for every number of components.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), path or Files
        Rows, as for ``PCA.fit``; NaN is a missing cell if ``method`` supports these.
    rules : str, float, or list of them, optional
        ``"minka"`` (``"mle"``), ``"bic"``, ``"gavish-donoho"``, ``"gap"``, ``"gap-difference"``, ``"share"`` (the usual shares
        of the variance) or a share as a number; ``"parallel"`` and ``"cv"``, which hold the rows in memory and run only if they are
        named; None for all except these two. For other methods than PCA: ``"aic"``, ``"bic"``, and ``"cells"`` (held-out cells); None
        for these three.
    method : str, default="pca"
        Key of the method. For methods with a likelihood (``"ppca"``, ``"linear-eigengan"``, ``"factor-analysis"``) the table has a row
        for each number of components.
    max_components : int, optional
        The largest number of components in such a table; None to stop when three more components have improved neither BIC nor the
        density of held-out cells.
    settings : dict, optional
        Settings of that method, such as ``{"standardize": True}``.
    sample_weight : array-like of shape (n_samples,), optional
        Sample weights (2 counts a row twice); integers for ``"parallel"`` and ``"cv"``.
    random_state : int, RandomState or None, default=None
        Seed of ``"parallel"``, ``"cv"`` and ``"cells"``.
    verbose : {0, 1, 2}, default=0
        0 silent, 1 a progress bar, 2 a line for each step, on stderr.
    max_seconds : float or None, default=None
        Time limit in seconds for all fits of such a table, which then ends before the number of components whose fits are not complete,
        with a warning.

    Returns
    -------
    Selection or Comparison
        A mapping from rule to number of components, with the spectrum, or for other methods than PCA with the table; its repr is a
        table. A warning is issued if Minka's rule and BIC, or BIC and held-out cells, differ by more than 1: then the data do not
        determine the number clearly.

    See Also
    --------
    PCA : Takes a rule as ``n_components``.
    PPCA : Selects its number of components by BIC, unless it is given.

    Notes
    -----
    With variances ``v_1 >= v_2 >= ...`` of ``p`` columns of ``n`` rows, and ``s_k = (v_{k+1} + ... + v_p) / (p - k)``: ``"bic"`` maximises
    ``-n/2 (sum_{i <= k} log(v_i) + (p - k) log(s_k)) - log(n)/2 (p k - k (k - 1)/2 + 1 + p)``; ``"minka"`` the Laplace approximation of the
    evidence of the same model (Minka 2000, eq. 77); ``"gavish-donoho"`` counts singular values above ``t(b) / sqrt(m(b))`` times their
    median, with ``b`` the ratio of the dimensions, ``m(b)`` the median of the Marchenko-Pastur distribution and ``t(b)`` the threshold of
    Gavish & Donoho (2014, eq. 11); ``"gap"`` maximises ``v_k / v_{k+1}`` and ``"gap-difference"`` ``v_k - v_{k+1}``, for ``k`` up to 20.
    ``"parallel"`` counts leading singular values above the 95 % quantile of those of 20 copies with permuted columns; ``"cv"`` predicts
    each of four blocks ``A`` of ``[A B; C D]`` by ``B D_k^+ C``, ``D_k`` of rank ``k`` (Owen & Perry 2009).

    The variances take one pass over the rows, ``O(n p min(n, p))`` operations, and a decomposition of ``O(min(n, p)**3)``; ``"parallel"``
    and ``"cv"`` as much for each of their matrices, and other methods a fit for each number of components.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.low_rank_plus_noise(300, 20, 3, signal=3.0).X
    >>> found = unmix.select_components(X)
    >>> found["minka"], found["bic"], found[0.9]
    (3, 3, 10)
    >>> compared = unmix.select_components(X, method="ppca", max_components=5, random_state=0)
    >>> compared["bic"], compared["cells"]
    (3, 3)
    """
    requested: list[str | float] = [] if rules is None else [rules] if isinstance(rules, (str, float)) else list(rules)
    if rules is not None and not requested:
        raise ValueError("rules must name at least one rule, got none; None is the default")
    for rule in requested:
        if not isinstance(rule, (str, float)):
            raise TypeError(f"rules must be names of rules or shares between 0 and 1, got {rule!r}")
    if method not in registry():
        raise unknown_method(method)
    of_variances = registry()[method]["select_by_variances"]
    limit = seconds(max_seconds)
    if of_variances and not (max_components is None and settings is None and limit is None):
        raise ValueError("max_components, settings and max_seconds can be used only with a method that has a likelihood, as in method='ppca'")
    reader = PCA(random_state=random_state, verbose=verbose)
    reader._method = method
    reader._validate_params()
    rows = reader._rows(X, reset=True)
    run_options = (reader._seed(), threads_here(), int(verbose))
    named = [str(rule) for rule in requested]
    names, weights = reader._names(rows), _weights(sample_weight, rows)
    found: Selection | Comparison
    if of_variances:
        found = Selection(_unmix.select(rows, named, run_options, names, weights))
    else:
        wanted = (json.dumps(dict(settings or {})), named, None if max_components is None else int(max_components))
        found = Comparison(_unmix.select_sizes(method, rows, wanted, run_options, names, weights, limit))
    for warning in found.warnings:
        warn(warning)
    return found
