"""Sparse probing: how well single units of a code predict labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._input import dense, in_memory, of_used_rows
from .._read import Files
from .._record import ProbingScores
from .._types import Array, Rows, Seed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: Minimum number of rows of a label in each half.
_LEAST = 2


def sparse_probing(
    codes: Rows,
    labels: ArrayLike,
    k: Sequence[int] = (1, 2, 5),
    *,
    X: ArrayLike | None = None,
    random_state: Seed = 0,
) -> ProbingScores:
    """Return the balanced accuracy with which the best few units of a code classify each label against all others, on held-out rows.

    Rows are split into two halves with equal fractions of each label. On the first half, the ``k`` units are selected whose class means
    differ most, relative to the within-class standard deviation, and a logistic regression on these with balanced class weights is
    fitted; its accuracy is measured on the second half. Raw columns, selected in the same way, are the baseline.

    Parameters
    ----------
    codes : array-like or sparse matrix of shape (n_samples, n_units)
        Codes of the rows.
    labels : array-like of shape (n_samples,)
        Label of each row: numbers or text; of a handle that leaves out rows, one for each row of its files, or for each that is left. Labels of
        fewer than 4 rows are left out.
    k : sequence of int, default=(1, 2, 5)
        Numbers of units to select.
    X : array-like of shape (n_samples, n_features), optional
        The rows themselves, for the baselines ``columns`` and ``all_columns``.
    random_state : int, RandomState or None, default=0
        Seed of the split into halves.

    Returns
    -------
    Bunch
        ``labels`` of shape (n_labels,); ``k``; ``codes`` of shape (n_labels, len(k)), balanced accuracy of the best units: 0.5 is
        chance; ``units`` of shape (n_labels, max(k)), the units in the order in which they were chosen; and with ``X`` ``columns`` of shape
        (n_labels, len(k)), that of the best raw columns, and ``all_columns`` of shape (n_labels,), that of all of them together.

    See Also
    --------
    unmix.SparseAutoencoder.evaluate : How well codes represent rows.

    Notes
    -----
    Columns are divided by their standard deviations on the first half, and the weights of the logistic regression have an L2 penalty
    with ``C=1`` (scikit-learn's default). Units are ranked individually, so redundant units may be selected together.

    With class means ``m_1`` and ``m_0``, class variances ``v_1`` and ``v_0``, and the fraction ``q`` of the rows with the label, units are
    ranked by ``abs(m_1 - m_0) / sqrt(q v_1 + (1 - q) v_0)``. Balanced accuracy is ``(a + b) / 2``, where ``a`` is the fraction of correct
    predictions among the rows with the label, and ``b`` that among all others. Each label takes ``O(n_samples n_units)`` operations for the
    ranking, and a logistic regression for each of ``k``.

    References
    ----------
    W. Gurnee et al. (2023), Finding neurons in a haystack: case studies with sparse probing. arXiv:2305.01610

    Examples
    --------
    >>> import numpy as np
    >>> from unmix.metrics import sparse_probing
    >>> labels = np.repeat(["noun", "verb"], 100)
    >>> codes = np.column_stack([np.random.RandomState(0).rand(200), labels == "verb"])
    >>> found = sparse_probing(codes, labels, k=(1,))
    >>> found.codes.ravel(), found.units.ravel()
    (array([1., 1.]), array([1, 1]))
    """
    import scipy.sparse

    table: Any = in_memory(codes)
    table = scipy.sparse.csr_array(table) if scipy.sparse.issparse(table) else np.asarray(table, dtype=np.float64)
    # Of a handle that leaves out rows, to codes or to rows.
    source = codes if isinstance(codes, Files) else X
    given = of_used_rows(source, np.asarray(labels), "labels", "label")
    if table.ndim != 2 or given.ndim != 1 or table.shape[0] != len(given):
        raise ValueError(f"codes must have one row for each label, but have shape {table.shape} for labels of shape {given.shape}")
    numbers = [int(number) for number in np.atleast_1d(k)]
    if not numbers or min(numbers) < 1 or max(numbers) > table.shape[1]:
        raise ValueError(f"k must be numbers of units from 1 to {table.shape[1]}, got {tuple(numbers)}")
    raw = None if X is None else of_used_rows(codes, np.asarray(dense(X), dtype=np.float64), "X", "row")
    if raw is not None and (raw.ndim != 2 or len(raw) != len(given)):
        raise ValueError(f"X must have one row for each label, but has shape {raw.shape} for labels of shape {given.shape}")
    names, classes = np.unique(given, return_inverse=True)
    counts = np.bincount(classes)
    kept = [j for j in range(len(names)) if counts[j] >= 2 * _LEAST and len(given) - counts[j] >= 2 * _LEAST]
    if not kept:
        raise ValueError(f"labels must have two classes of at least {2 * _LEAST} rows; give more rows or fewer classes")
    first = _half(classes, check_random_state(random_state))
    tables = {"codes": table} if raw is None else {"codes": table, "columns": raw}
    scores = {name: np.empty((len(kept), len(numbers))) for name in tables}
    units = np.empty((len(kept), max(numbers)), dtype=np.int64)
    every = np.empty(len(kept))
    for name, table in tables.items():
        halves = _Halves(table, first)
        for i, j in enumerate(kept):
            order = halves.order(classes == j)
            if name == "codes":
                units[i] = order[: max(numbers)]
            for c, number in enumerate(numbers):
                scores[name][i, c] = halves.score(classes == j, order[:number])
            if name == "columns":
                every[i] = halves.score(classes == j, np.arange(table.shape[1]))
    found = ProbingScores(labels=names[kept], k=tuple(numbers), units=units, **scores)
    if raw is not None:
        found["all_columns"] = every
    return found


def _half(classes: Array, draw: np.random.RandomState) -> Array:
    """Whether each row is in the first half, in which every label has half of its rows."""
    first = np.zeros(len(classes), dtype=bool)
    for j in range(classes.max() + 1):
        rows = draw.permutation(np.flatnonzero(classes == j))
        # If the number is odd, the middle one is assigned to the halves alternately.
        first[rows[: (len(rows) + j % 2) // 2]] = True
    return first


class _Halves:
    """Columns of a table, divided by their standard deviations on the first half."""

    def __init__(self, table: Any, first: Array) -> None:
        self.table, self.first = table, first
        self.mean, variance = self._moments(first)
        self.scale = np.sqrt(variance)

    def _moments(self, rows: Array) -> tuple[Array, Array]:
        """Mean and variance of each column over some rows."""
        part = self.table[rows]
        if not hasattr(part, "multiply"):
            return part.mean(axis=0), part.var(axis=0)
        mean = np.asarray(part.mean(axis=0)).ravel()
        return mean, np.maximum(np.asarray(part.multiply(part).mean(axis=0)).ravel() - mean * mean, 0.0)

    def order(self, positive: Array) -> Array:
        """Columns in the order of the difference of their class means, relative to the within-class deviation."""
        (a, within_a), (b, within_b) = self._moments(self.first & positive), self._moments(self.first & ~positive)
        share = positive[self.first].mean()
        within = share * within_a + (1 - share) * within_b
        # A column without within-class deviation separates the classes if its means differ at all.
        least = np.maximum(1e-12 * self.scale**2, np.finfo(np.float64).tiny)
        return np.argsort(-np.abs(a - b) / np.sqrt(np.maximum(within, least)), kind="stable")

    def score(self, positive: Array, columns: Array) -> float:
        """Balanced accuracy on the second half."""
        from sklearn.linear_model import LogisticRegression

        part = self.table[:, columns]
        part = part.toarray() if hasattr(part, "toarray") else part
        scale = self.scale[columns]
        part = (part - self.mean[columns]) / np.where(scale > 0, scale, 1.0)
        probe = LogisticRegression(class_weight="balanced", max_iter=1000).fit(part[self.first], positive[self.first])
        predicted, true = probe.predict(part[~self.first]), positive[~self.first]
        return float(0.5 * (predicted[true].mean() + (~predicted[~true]).mean()))
