"""Modules (biclusters): subsets of rows with subsets of columns."""

from __future__ import annotations

import json
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _unmix
from ._html import table
from ._input import in_memory_by_names, row_names, warn
from ._options import default_of, seconds
from ._stability import _fitted, _seed_of
from ._threads import threads_here
from ._types import Array, ArrayOrSparse, Rows, Seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from ._base import Estimator

    class BiclusterMixin:
        """For type checkers: with a base without annotations they would accept every name as an attribute."""

        @property
        def biclusters_(self) -> tuple[Array, Array]: ...
        def get_indices(self, i: int) -> tuple[Array, Array]: ...
        def get_shape(self, i: int) -> tuple[int, int]: ...
        def get_submatrix(self, i: int, data: Rows) -> ArrayOrSparse: ...

else:
    from sklearn.base import BiclusterMixin


# What is shown in place of a table without lines; the reason is in the warning.
_NONE = "no module was found"


class Biclusters(BiclusterMixin):
    """Modules of a model of non-negative codes, in the order of decreasing evidence.

    A module, or bicluster, is a set of rows with a set of columns in which they are higher or lower than the other rows. Modules may
    overlap, and a row or column may be in none. ``get_indices``, ``get_shape`` and ``get_submatrix`` are those of scikit-learn's
    biclustering classes.

    Parameters
    ----------
    text : str
        The results, as JSON.
    names : sequence of str or None, default=None
        Names of the columns.
    codes : ndarray or None, default=None
        Codes of all rows in the first module, then those in the second, and so on.
    row_names : sequence of str or None, default=None
        Names of the rows.

    Attributes
    ----------
    rows_ : ndarray of bool of shape (n_modules, n_samples)
        The rows of each module: those whose code is above half of ``sqrt(sum(y**4) / sum(y**2))`` of the codes ``y`` of its unit.
    columns_ : ndarray of bool of shape (n_modules, n_features)
        The columns of each module: those whose loading, in standard deviations of the column, is above twice the root mean square of all.
    biclusters_ : tuple of ndarray
        ``(rows_, columns_)``, as in scikit-learn.
    signs_ : ndarray of int of shape (n_modules, n_features)
        1 for columns that are higher in the rows of the module, -1 for those that are lower, 0 for columns that are not members.
    codes_ : ndarray of shape (n_modules, n_samples)
        Code of every row, by the unit that describes the module, in single precision.
    evidence_ : ndarray of shape (n_modules,)
        Gain in log-likelihood by shifting the rows of the module in its columns, minus the logarithm of the number of sets of so many rows
        and columns, in nats: modules are ordered by it. Below 0 there is no more than a search over all sets finds by chance.
    concentration_ : ndarray of shape (n_modules,)
        ``log(n_samples n_features / (effective rows x effective columns))`` in nats.
    information_ : ndarray of shape (n_modules,)
        ``log(1 + w' noise^-1 w) / 2``: information of the unit about a row, in nats. NaN for models without a noise variance.
    stability_ : ndarray of shape (n_modules,)
        Fraction of the fits from different starts that have a unit of the module. NaN if no refits were made. It is not the verdict of
        :func:`unmix.stability`, which is about single units of one fit.
    q_value_ : ndarray of shape (n_modules,)
        Estimated false discovery rate among the modules that have at least as much evidence: the number of such modules of rows with
        permuted columns, plus one, per permutation, divided by their number; at most that of any module with less evidence. So it is at
        least ``1 / (n_permutations_ k)`` for the first ``k`` modules; it is 1 for modules without evidence, and NaN without permutations,
        or if none was fitted in time. Under this null hypothesis columns are independent, so a dense background of correlated columns is
        not part of it.
    halves_ : ndarray of shape (n_modules,)
        The smaller of the two cosines with the nearest unit of a fit to either half of the rows. NaN if no refits were made, or not in
        time.
    halves_chance_ : float
        Chance level of ``halves_``: the same for loadings in random order, mean over the modules.
    rare_, small_ : ndarray of bool of shape (n_modules,)
        Whether the module has at most ``max(3, 5 %)`` of the rows; of the columns.
    units_ : list of ndarray of int of shape (n_units, 2)
        The similar units that form the module: number of the fit, and of the unit in it; the first one describes the module.
    n_starts_, n_permutations_ : int
        Number of fits whose units are pooled, and number of permuted copies of the rows whose fits are complete.
    incomplete_ : bool
        Whether the fits ended early, at ``max_seconds``.

    See Also
    --------
    unmix.biclusters : The function that returns this object.
    unmix.metrics.consensus_score : Agreement of two sets of biclusters.

    Notes
    -----
    With ``r`` of ``n`` rows and ``c`` of ``p`` columns the evidence is ``r d**2 / 2 - log C(n, r) - log C(p, c)``. ``d`` is the difference
    between the rows of the module and the others in the mean of its columns (standardised, with their signs, clipped at 3), divided by the
    standard deviation of that mean among the other rows, or by ``1 / sqrt(c)`` if this is larger.

    Examples
    --------
    >>> import unmix
    >>> X, rows, columns = unmix.datasets.rare_modules(seed=0, return_truth=True)
    >>> found = unmix.biclusters(unmix.RFN(20, psi_min=0.3, max_iter=50, random_state=0), X, n_starts=2, n_permutations=0)
    >>> found.rows_.shape[1], found.columns_.shape[1]
    (300, 800)
    """

    rows_: Array
    columns_: Array
    signs_: Array
    codes_: Array
    evidence_: Array
    concentration_: Array
    information_: Array
    stability_: Array
    q_value_: Array
    halves_: Array
    halves_chance_: float
    rare_: Array
    small_: Array
    units_: list[Array]
    n_starts_: int
    n_permutations_: int
    incomplete_: bool

    def __init__(
        self, text: str, names: Sequence[object] | Array | None = None, codes: Array | None = None, row_names: Sequence[object] | None = None
    ) -> None:
        fields = json.loads(text)
        modules = fields["modules"]
        k, n, p = len(modules), fields["n_rows"], fields["n_features"]
        self.rows_, self.columns_ = np.zeros((k, n), dtype=bool), np.zeros((k, p), dtype=bool)
        self.signs_ = np.zeros((k, p), dtype=np.int8)
        for i, module in enumerate(modules):
            self.rows_[i, module["rows"]] = True
            self.columns_[i, module["columns"]] = True
            self.signs_[i, module["columns"]] = module["signs"]
        self.codes_ = np.full((k, n), np.nan, dtype=np.float32) if codes is None else codes.reshape(k, n)
        for name in ("evidence", "concentration", "information", "stability", "q_value", "halves"):
            # None becomes NaN.
            setattr(self, name + "_", np.array([module[name] for module in modules], dtype=float))
        self.halves_chance_ = float("nan") if fields["chance"] is None else float(fields["chance"])
        self.rare_ = np.array([module["rare"] for module in modules], dtype=bool)
        self.small_ = np.array([module["small"] for module in modules], dtype=bool)
        self.units_ = [np.array(module["units"], dtype=int).reshape(-1, 2) for module in modules]
        self.n_starts_, self.n_permutations_ = int(fields["starts"]), int(fields["permutations"])
        self.incomplete_ = bool(fields.get("incomplete", False))
        self._names = None if names is None else [str(name) for name in names]
        self._row_names = None if row_names is None else [str(name) for name in row_names]

    def __len__(self) -> int:
        return len(self.rows_)

    def _table(self) -> dict[str, Any]:
        """Columns of the table that frames and notebooks show, by name."""
        names = self._names or [str(j) for j in range(self.columns_.shape[1])]
        columns: dict[str, Any] = {"n_rows": self.rows_.sum(axis=1), "n_columns": self.columns_.sum(axis=1)}
        for name in ("evidence", "concentration", "information", "stability", "q_value", "halves", "rare", "small"):
            columns[name] = getattr(self, name + "_")
        for name, sign in {"positive": 1, "negative": -1}.items():
            columns[name] = [", ".join(names[j] for j in np.flatnonzero(row == sign)) for row in self.signs_]
        return columns

    def get_submatrix(self, i: int, data: Rows) -> ArrayOrSparse:
        """Return the part of the rows that belongs to a module.

        The rows of files are read into memory.

        Parameters
        ----------
        i : int
            Index of the module.
        data : array-like or sparse matrix of shape (n_samples, n_features), path or Files
            The rows.

        Returns
        -------
        ndarray or sparse matrix
            The rows of the module, with its columns.

        See Also
        --------
        get_indices : Rows and columns of one module.

        Examples
        --------
        >>> import unmix
        >>> X = unmix.datasets.rare_modules(seed=0)
        >>> model = unmix.RFN(10, max_iter=20, random_state=0).fit(X)
        >>> found = unmix.biclusters(model, X, n_starts=0)
        >>> found.get_submatrix(0, X).shape == found.get_shape(0)
        True
        """
        return super().get_submatrix(i, in_memory_by_names(data, self._names))

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a line for each module.

        The lines are in the order of decreasing evidence. Columns that are higher in the rows of a module are listed as ``positive``, those
        that are lower as ``negative``.

        Returns
        -------
        pandas.DataFrame
            Numbers of rows and columns, measures, and the names (or numbers) of the member columns.

        See Also
        --------
        get_indices : Rows and columns of one module.

        Examples
        --------
        >>> import unmix
        >>> X = unmix.datasets.rare_modules(seed=0)
        >>> model = unmix.RFN(10, max_iter=20, random_state=0).fit(X)
        >>> list(unmix.biclusters(model, X, n_starts=0).to_frame().columns[:3])
        ['n_rows', 'n_columns', 'evidence']
        """
        import pandas as pd

        return pd.DataFrame(self._table()).rename_axis("module")

    def _repr_html_(self) -> str:
        columns = self._table()
        return table(["module", *columns], zip(range(len(self)), *columns.values(), strict=True), notes=[] if len(self) else [_NONE])

    def __repr__(self) -> str:
        if not len(self):
            return _NONE
        lines = ["module  rows  columns  evidence  stability       q  halves"]
        shown = ["-" if np.isnan(x) else f"{x:.2f}" for x in np.stack([self.stability_, self.q_value_, self.halves_], axis=1).ravel()]
        for i in range(len(self)):
            stability, q, halves = shown[3 * i : 3 * i + 3]
            rows, columns = self.rows_[i].sum(), self.columns_[i].sum()
            lines.append(f"{i:>6}  {rows:>4}  {columns:>7}  {self.evidence_[i]:>8.1f}  {stability:>9}  {q:>6}  {halves:>6}")
        return "\n".join(lines)


def biclusters(
    estimator: Estimator,
    X: Rows,
    *,
    n_starts: int = 8,
    n_permutations: int = 10,
    random_state: Seed = None,
    verbose: int = 0,
    max_seconds: float | None = None,
) -> Biclusters:
    """Fit an estimator from several starts, pool its units, and return modules with stability and q-values.

    A single fit may miss modules, and has units that fit noise; modules that several starts have in common are more reliable. It takes
    ``n_starts * (1 + n_permutations) + 2`` fits, of which those of each copy of the rows run concurrently, each on one thread, and a copy of
    the rows in memory.

    Parameters
    ----------
    estimator : estimator
        A model of non-negative codes, such as :class:`RFN`; fitted to ``X``, or not fitted: then a clone of it is fitted first. If it was
        fitted with sample weights, a warning states that modules have none: every row counts once in their evidence and in the refits.
    X : array-like of shape (n_samples, n_features), path or Files
        The rows.
    n_starts : int, default=8
        Number of fits whose units are pooled: the first starts from independent components, the others from random numbers. 0 for
        the units of the fitted estimator alone, without stability and q-values.
    n_permutations : int, default=10
        Number of copies of the rows whose columns are permuted independently of each other, each fitted from as many starts. The smallest
        q-value of a single module is ``1 / n_permutations``.
    random_state : int, RandomState or None, default=None
        Seed of starts, permutations and halves; None for the seed that the estimator was fitted with.
    verbose : {0, 1, 2}, default=0
        0 silent, 1 a progress bar, 2 a line for each step, on stderr.
    max_seconds : float or None, default=None
        Time limit in seconds for all fits together, which then end with their current results, with a warning. q-values are from the
        permuted copies whose fits are complete by then, and halves are not compared.

    Returns
    -------
    Biclusters
        Modules, in the order of decreasing evidence; its repr is a table. If there are none, a warning gives the reason.

    See Also
    --------
    unmix.stability : Reproducibility of components.

    Notes
    -----
    The q-value of module ``k``, in the order of decreasing evidence ``e_k``, is ``min_{l >= k} (1 + N(e_l)) / (n_permutations l)``, at most
    1, where ``N(e)`` is the number of modules of all permuted copies with evidence of at least ``e``.

    The evidence of a module is defined with :class:`Biclusters`. Nearly all of the cost is that of the
    ``n_starts (1 + n_permutations) + 2`` fits.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.rare_modules(seed=0)
    >>> model = unmix.RFN(10, max_iter=20, random_state=0).fit(X)
    >>> evidence = unmix.biclusters(model, X, n_starts=0).evidence_
    >>> bool((evidence[:-1] >= evidence[1:]).all())
    True
    """
    for name, value in {"n_starts": n_starts, "n_permutations": n_permutations}.items():
        if not isinstance(value, Integral) or value < 0:
            raise ValueError(f"{name} must be an integer of at least 0, got {value!r}")
    if not n_starts and n_permutations not in (0, default_of(biclusters, "n_permutations")):
        raise ValueError(f"n_permutations={n_permutations} has no effect with n_starts=0, the units of the model alone; give n_starts as well")
    estimator, limit = _fitted(estimator, X, seconds(max_seconds), random_state)
    rows = estimator._rows(X)
    seed = estimator.report_.seed if random_state is None else _seed_of(estimator, random_state)
    run_options = (seed, threads_here(), int(verbose))
    text, codes = _unmix.modules(estimator._model, rows, run_options, int(n_starts), int(n_permutations), limit)
    for warning in json.loads(text)["warnings"]:
        warn(warning)
    return Biclusters(text, getattr(estimator, "feature_names_in_", None), codes, row_names(X))
