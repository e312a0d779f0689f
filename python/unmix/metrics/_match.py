"""Components of two models, or columns of two tables, matched one to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _unmix
from .._html import table
from .._input import dense
from .._types import Array, Components, Rows
from ._components import _check_finite, _pair

if TYPE_CHECKING:
    import pandas


class Match(NamedTuple):
    """A matching of components.

    Pairs are one to one: they maximise the sum of the similarities in ``cosine``, so that a component need not be matched with its most
    similar one. Functions that compare correlations return them in place of the cosines.

    Parameters
    ----------
    order : ndarray of int
        For each component of the first model, the index of its match in the second.
    sign : ndarray of float
        1 or -1 for each pair.
    cosine : ndarray of float
        Absolute cosine of each pair; 1 for the same direction, whatever the sign. For two models with non-negative codes the cosine if it
        is positive, else 0.

    Attributes
    ----------
    order : ndarray of int
        For each component of the first model, the index of its match in the second.
    sign : ndarray of float
        1 or -1 for each pair.
    cosine : ndarray of float
        Absolute cosine of each pair; 1 for the same direction, whatever the sign. For two models with non-negative codes the cosine if it
        is positive, else 0.

    See Also
    --------
    match : The function that returns this object.

    Notes
    -----
    With matched components ``a_i`` and ``b_j``, ``j = order[i]``, the cosine is ``abs(a_i . b_j) / (||a_i|| ||b_j||)``, and ``sign[i]`` is
    the sign of ``a_i . b_j``. Components of norm 0 have cosine 0.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix.metrics import match
    >>> match(np.eye(3), np.eye(3)[::-1]).order
    array([2, 1, 0])
    """

    order: Array
    sign: Array
    cosine: Array

    def to_frame(self) -> pandas.DataFrame:
        """Return the pairs as a data frame.

        The frame is a copy, for further analysis or to write a file. pandas is needed for this method only.

        Returns
        -------
        pandas.DataFrame
            One row for each component of the first model: its number, that of its match in the second, sign and cosine.

        See Also
        --------
        match : The function that returns this object.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix.metrics import match
        >>> match(np.eye(2), np.eye(2)[::-1]).to_frame()["match"].tolist()
        [1, 0]
        """
        import pandas

        return pandas.DataFrame(self._table())

    def _table(self) -> dict[str, list[Any]]:
        """Columns by name."""
        pairs = {"component": list(range(len(self.order))), "match": self.order.tolist()}
        return pairs | {"sign": self.sign.tolist(), "cosine": self.cosine.tolist()}

    def _repr_html_(self) -> str:
        columns = self._table()
        return table(list(columns), zip(*columns.values(), strict=True))


def match(a: Components, b: Components, X: Rows | None = None) -> Match:
    """Match the components of two models so that the sum of absolute cosines is maximal (Hungarian method).

    Two fitted models are compared by the loadings of their components (``mixing_``); encoders are less comparable, because they may
    differ along directions in which rows do not vary. With ``X`` they are compared by the correlation of their codes, which also
    distinguishes components with similar loadings. If the codes of both models are non-negative, as those of sparse autoencoders and RFN,
    the negative of a unit is another unit: pairs then have positive cosines, and every sign is 1. ``unmix.report(..., beside=...)`` matches
    in the same way.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        ``b`` has at least as many components as ``a``. If one is an array, its rows are compared with ``components_`` of the other.
    X : array-like of shape (n_samples, n_features), optional
        Rows, if both are fitted estimators.

    Returns
    -------
    Match
        Order, signs and cosines (correlations, with ``X``): component ``i`` of ``a`` is similar to ``sign[i]`` times component
        ``order[i]`` of ``b``.

    See Also
    --------
    matched_cosine : The mean cosine of the pairs.

    Notes
    -----
    The cosine of the loadings ``a_i`` and ``b_j`` is ``a_i . b_j / (||a_i|| ||b_j||)``; the matching maximises the sum of its absolute
    values over one-to-one assignments, in ``O(k**3)``, after ``O(k**2 n_features)`` for the cosines.

    Examples
    --------
    >>> from unmix.metrics import match
    >>> match([[1, 0], [0, 1]], [[0, -2], [1, 0]]).order
    array([1, 0])
    """
    if X is not None:
        first, second = (_dense_codes(model, X) for model in (a, b))
        return _correlated(first, second, _one_sided(a, b))
    return Match(*_unmix.match_rows(*_matchable(a, b), _one_sided(a, b)))


def matched_correlation(a: Rows, b: Rows) -> Match:
    """Match the columns of two tables so that the sum of absolute correlations is maximal (Hungarian method).

    It compares estimated sources with true ones, or the codes of two models, sample by sample, irrespective of order, signs and units.
    Every column of ``a`` is matched with a different column of ``b``.

    Parameters
    ----------
    a, b : array-like of shape (n_samples, n_sources), path or Files
        Sources of the same samples; ``b`` has at least as many columns as ``a``.

    Returns
    -------
    Match
        Order, signs, and absolute correlations in place of cosines.

    See Also
    --------
    match : The components of two models, matched.

    Notes
    -----
    The correlations are ``r_ij = (a_i - mean(a_i)) . (b_j - mean(b_j)) / (||a_i - mean(a_i)|| ||b_j - mean(b_j)||)``, 0 for constant
    columns. The matching maximises ``sum_i abs(r_i,order[i])``, in ``O(k**3)``.

    Examples
    --------
    >>> from unmix.metrics import matched_correlation
    >>> matched_correlation([[0, 1], [1, 0], [2, 5]], [[1, 0], [0, -2], [5, -4]]).order
    array([1, 0])
    """
    first, second = (np.asarray(dense(m), dtype=np.float64) for m in (a, b))
    if first.ndim != 2 or second.ndim != 2 or len(first) != len(second):
        raise ValueError(f"tables must have one row for each of the same samples, but have shapes {first.shape} and {second.shape}")
    for one in (first, second):
        _check_finite(one, "tables")
    return _correlated(first, second, False)


def matched_cosine(a: Components, b: Components) -> float:
    """Return the mean absolute cosine between the components of two models, matched as by ``match``.

    It summarises in one number whether two fits, such as those from different seeds, found the same components. It penalises a rotation
    inside the same subspace, which :func:`subspace_angles` and :func:`projection_distance` ignore.

    Parameters
    ----------
    a, b : fitted estimator, or array-like of shape (n_components, n_features)
        ``b`` has at least as many components as ``a``.

    Returns
    -------
    float
        1 for the same directions, whatever their order, sign (see ``match``) and length. The chance level is far from 0: for two sets of 30
        random directions in 20 dimensions it is about 0.46. The fraction above a level is ``(match(a, b).cosine > 0.99).mean()``.

    See Also
    --------
    match : The pairs themselves.

    Notes
    -----
    It is ``mean(match(a, b).cosine)``: with the matching ``s`` of the ``k`` components of ``a``, ``sum_i abs(cos(a_i, b_s(i))) / k``.

    It takes ``O(k**2 n_features + k**3)`` operations.

    Examples
    --------
    >>> from unmix.metrics import matched_cosine
    >>> matched_cosine([[1, 0], [0, 1]], [[0, -2], [1, 0]])
    1.0
    """
    return _unmix.matched_cosine(*_matchable(a, b), _one_sided(a, b))


def _dense_codes(model: Any, X: Rows) -> Array:
    """Codes of rows, with all entries if they are stored sparsely."""
    codes = model.transform(X)
    return np.asarray(codes.toarray() if hasattr(codes, "toarray") else codes, dtype=np.float64)


def _matchable(a: Any, b: Any) -> tuple[Array, Array]:
    if hasattr(a, "mixing_") and hasattr(b, "mixing_"):
        a, b = np.asarray(a.mixing_).T, np.asarray(b.mixing_).T
    a, b = _pair(a, b)
    if len(a) > len(b):
        raise ValueError(f"{len(a)} components cannot be matched one to one with {len(b)}; give the model with more components second")
    return a, b


def _correlated(a: Array, b: Array, non_negative: bool) -> Match:
    a, b = _matchable((a - a.mean(axis=0)).T, (b - b.mean(axis=0)).T)
    return Match(*_unmix.match_rows(a, b, non_negative))


def _one_sided(a: object, b: object) -> bool:
    """Whether the negative of a component is another one, in two models of this package."""
    models = [getattr(model, "_model", None) for model in (a, b)]
    return all(isinstance(model, _unmix.Model) and model.one_sided for model in models)
