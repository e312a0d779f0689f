"""Incremental fits, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._input import _weights, sample_shape, warn
from ._sklearn import _fit_context
from ._threads import threads_here
from ._types import Array, Rows
from ._written import call_source, merged_source

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from ._base import Estimator as _Estimator
else:
    _Estimator = object


class Growing:
    """Sums over the rows so far, and the model that is computed from them on demand."""

    def __init__(self, sums: _unmix.Sums, settings: str, run_options: tuple[int, int, int], call: str | None = None) -> None:
        self.sums, self.settings, self.run_options, self.call = sums, settings, run_options, call

    def copy(self) -> Growing:
        return Growing(self.sums.copy(), self.settings, self.run_options, self.call)


class Incremental(_Estimator):
    """Estimators whose models are computed from sums over rows: batches can be added, and models merged."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Rows, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Add rows to those seen so far. The result has the same bits however a stream is divided into batches.

        A batch may have any number of rows, from 1. Components are computed on first access, from sums that
        ``save`` and pickles keep. Equal to ``fit`` of all rows at once up to rounding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows, as for ``fit``. The type of the first batch is that of the model.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights: 2 counts a row twice.

        Returns
        -------
        object
            The estimator. If a batch fails, the sums are unchanged. Settings that need the rows themselves, such as a rule for the number
            of components that permutes or hides cells, are refused with the first batch.

        See Also
        --------
        fit : Fit all rows at once.
        merge : A model of the rows of two models.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=1).partial_fit(X[:3]).partial_fit(X[3:]).components_.round(2)
        array([[0.84, 0.54]])
        """
        growing = vars(self).get("_growing")
        if growing is None and "_model" in vars(self):
            warn(
                "partial_fit starts a new model: fit does not keep the sums of its rows, so the rows of the earlier fit are not part "
                "of it; use partial_fit from the first batch on"
            )
        with self._kept_on_error():
            rows = self._rows(X, reset=growing is None, min_samples=1)
            settings, written = self._settings_and_source()
            if growing is None:
                seed, sums = self._seed(), _unmix.Sums()
                written = self._seeded(written, seed)
            else:
                before, sums = growing.run_options[0], growing.sums
                seed = self._seed_after(before)
                # A model that was loaded or merged has its call in its report.
                written = self._continued(growing.call or self.report_.invocation, growing.settings, settings, before)
            run_options = (seed, threads_here(), int(self.verbose))
            weights = _weights(sample_weight, rows)
            sums.add(self._method, settings, rows, run_options, self._names(rows), weights, **sample_shape(X))
        self._forget()
        columns = sums.columns
        assert columns is not None, "sums to which rows were added have columns"
        n_features, names = columns
        self.n_features_in_ = n_features
        if names is not None and "feature_names_in_" not in vars(self):
            self.feature_names_in_: Array = np.asarray(names, dtype=object)
        self._growing = Growing(sums, settings, run_options, call_source(written, "partial_fit", X, sample_weight))
        return self

    def _solve(self) -> None:
        growing = self._growing
        try:
            self._adopt(growing.sums.model(self._method, growing.settings, growing.run_options, growing.call))
        except ValueError as e:
            raise NotFittedError(str(e)) from None
        self._warn_accepted()
        self._warn()

    def merge(self, other: Self) -> Self:
        """Return a new estimator of the rows of both, with the parameters of this one.

        Sums over the rows are added, and the model is computed from them without another pass: parts of the rows can be fitted in parallel,
        or on different machines. Neither of the two estimators is changed.

        Parameters
        ----------
        other : estimator of the same class
            Both must hold their sums: fitted by ``partial_fit`` or by ``unmix fit --sums``, or merged.

        Returns
        -------
        estimator
            Equal to a fit of all rows up to rounding.

        See Also
        --------
        partial_fit : Models that hold their sums.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> left, right = PCA(n_components=1).partial_fit(X[:3]), PCA(n_components=1).partial_fit(X[3:])
        >>> left.merge(right).n_samples_
        6
        """
        check_is_fitted(self)
        check_is_fitted(other)
        merged: Self = clone(self)
        run_options = (self._model.seed, threads_here(), int(self.verbose))
        merged._adopt(self._model.merge(other._model, run_options, merged_source(self, other)))
        merged._warn()
        return merged
