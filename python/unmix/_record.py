"""Results with named fields."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ._types import Array

if TYPE_CHECKING:
    import pandas

    # For type checkers: with scikit-learn's class they would accept every name as a field.
    Bunch = dict[str, Any]
else:
    from sklearn.utils import Bunch

#: Maximum length of a value, and of a line, in the repr.
_MOST, _WIDTH = 60, 100


class Record(Bunch):
    """A Bunch whose repr has a few lines: arrays are shown by their types and shapes. Its subclasses declare the fields."""

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_brief(value)}" for name, value in self.items())
        lines = textwrap.wrap(f"Record({fields})", _WIDTH, subsequent_indent=" " * 7, break_long_words=False, break_on_hyphens=False)
        return "\n".join(lines)


def _brief(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype") and np.size(value) > 4:
        return f"<{value.dtype} array of shape {value.shape}>"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    text = repr(value)
    if len(text) <= _MOST:
        return text
    length = f" of length {len(value)}" if hasattr(value, "__len__") else ""
    return f"<{type(value).__name__}{length}>"


# Fields are described where the functions that return them are documented. Those that only some calls return are declared, too: a type
# checker cannot distinguish the calls.


class Table(Record):
    """A record of arrays that have a number, or several, for each row."""

    def to_frame(self) -> pandas.DataFrame:
        """Return the arrays as a data frame.

        An array of two axes has a column for each of its columns, by number, under the names of ``unmix score --quality --parts``: ``t2_0``
        and ``cos2_0`` for component 0, ``q_0`` for column 0. pandas is needed for this method only.

        Returns
        -------
        pandas.DataFrame
            One row for each row.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> list(PCA(n_components=1).fit(X).quality(X).to_frame().columns)
        ['t2', 'q', 't2_0', 'cos2_0']
        """
        import pandas

        terms_of = {"contributions": "t2", "column_contributions": "q"}
        columns: dict[str, Array] = {}
        for name, values in self.items():
            if np.ndim(values) == 1:
                columns[name] = values
            else:
                columns |= {f"{terms_of.get(name, name)}_{j}": values[:, j] for j in range(values.shape[1])}
        return pandas.DataFrame(columns)


class RowQuality(Table):
    """Result of ``PCA.quality``; ``column_contributions`` with ``columns=True``."""

    t2: Array
    q: Array
    contributions: Array
    cos2: Array
    column_contributions: Array


class CodeQuality(Table):
    """Result of ``quality`` of methods that solve the lasso, or approximate its solution."""

    objective: Array
    gap: Array
    n_nonzero: Array
    squared_error: Array


class CodePath(Record):
    """Result of ``SparseCoder.path``."""

    alphas: Array
    objective: Array
    gap: Array
    n_nonzero: Array
    squared_error: Array


class Evaluation(Record):
    """Result of ``SparseAutoencoder.evaluate``."""

    n_samples: int
    fvu: float
    l0: float
    dead: float
    density: Array
    shrinkage: float
    near_duplicates: float
    fvu_pca: float
    n_components_pca: int
    fvu_omp: float
    n_samples_omp: int
    fvu_same_rows: float


class TopRows(Record):
    """Result of ``SparseAutoencoder.top_rows``."""

    rows: Array
    codes: Array


class FitIndices(Record):
    """``FactorAnalysis.fit_``. A number that is not available is None; with Any, a type checker does not demand a test for it."""

    log_likelihood: float | Any
    aic: float | Any
    bic: float | Any
    chi_square: float | Any
    degrees_of_freedom: float | Any
    p_value: float | Any
    rmsea: float | Any
    rmsea_lower: float | Any
    rmsea_upper: float | Any
    tli: float | Any
    cfi: float | Any
    srmr: float | Any
    kmo: float | Any
    bartlett_chi_square: float | Any
    bartlett_degrees_of_freedom: float | Any
    bartlett_p_value: float | Any
    tests: str | Any


class ProbingScores(Record):
    """Result of ``metrics.sparse_probing``; ``columns`` and ``all_columns`` with ``X``."""

    labels: Array
    k: tuple[int, ...]
    units: Array
    codes: Array
    columns: Array
    all_columns: Array


# Data sets


class MixedRows(Record):
    """Mixed sources."""

    X: Array
    sources: Array
    mixing: Array


class LowRankRows(Record):
    """Rows near a random subspace."""

    X: Array
    components: Array
    codes: Array


class PatternRows(LowRankRows):
    """Pictures that are sums of patterns, in groups."""

    labels: Array


class LatentRows(Record):
    """Rows from the model of probabilistic PCA."""

    X: Array
    components: Array
    latent: Array
    mean: Array


class SubspaceRows(Record):
    """Rows near a union of subspaces."""

    X: Array
    labels: Array
    bases: list[Array]


class SparseRows(Record):
    """Sparse combinations of atoms."""

    X: Array
    components: Array
    codes: Array


class DigitRows(Record):
    """Variations of digits, with ``rows``, or shapes, with ``labels``."""

    X: Array
    rows: Array
    labels: Array
