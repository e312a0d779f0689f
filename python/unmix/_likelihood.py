"""Models with a Gaussian density of the rows: its covariance, and the likelihood of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._types import Array, Rows

if TYPE_CHECKING:
    from ._base import Estimator as _Estimator
else:
    _Estimator = object


class Likelihood(_Estimator):
    """Estimators whose models are Gaussian densities of the rows."""

    def _uses_sklearn_density(self) -> bool:
        """Whether the density is the one that scikit-learn uses for a whitened model, which is not that of the rows."""
        return False

    def get_covariance(self) -> Array:
        """Return the covariance of the model, in the units of the rows.

        It is the covariance that the factors imply, plus the noise variances of the columns; not the sample covariance, which it
        approximates. It takes ``n_features**2`` numbers, and does not depend on the rotation of the factors.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            In the type of the fit.

        See Also
        --------
        get_precision : Its inverse.

        Notes
        -----
        It is ``L @ L.T + diag(s)``, with the loadings ``L`` of ``k`` uncorrelated factors of variance 1 and the noise variances ``s`` of
        the columns, in the units of the rows: ``O(n_features**2 k)`` operations. It is refused for :class:`FactorAnalysis` with a prior of
        the factors (``"laplace"``, ``"jeffreys"``), whose rows are not Gaussian.

        Examples
        --------
        >>> from unmix import FactorAnalysis
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> FactorAnalysis(n_components=0).fit(X).get_covariance().round(2)
        array([[4.67, 0.  ],
               [0.  , 2.  ]])
        """
        check_is_fitted(self)
        return self._model.covariance(self._uses_sklearn_density()).astype(self.mean_.dtype, copy=False)

    def get_precision(self) -> Array:
        """Return the inverse of the covariance of the model.

        An entry divided by the square root of the product of the two diagonal entries is, with the opposite sign, the partial correlation
        of two columns given all others under the model. It takes ``n_features**2`` numbers; ``score_samples`` does not need it.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            In the type of the fit. Constant columns are left out: their rows and columns of the matrix are 0.

        See Also
        --------
        get_covariance : Its inverse.

        Notes
        -----
        With ``L`` and ``s`` of :meth:`get_covariance` and ``S = diag(1 / s)`` it is ``S - S @ L @ inv(I + L.T @ S @ L) @ L.T @ S``.

        Examples
        --------
        >>> from unmix import FactorAnalysis
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> FactorAnalysis(n_components=0).fit(X).get_precision().round(2)
        array([[0.21, 0.  ],
               [0.  , 0.5 ]])
        """
        check_is_fitted(self)
        return self._model.precision(self._uses_sklearn_density()).astype(self.mean_.dtype, copy=False)

    def score_samples(self, X: Rows) -> Array:
        """Return the log-likelihood of each row under the model.

        It is the logarithm of the normal density with mean ``mean_`` and covariance ``get_covariance()``, in nats; with missing cells, of
        the marginal density of the observed ones. Small values indicate outliers. The covariance matrix is not formed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            In float64.

        See Also
        --------
        score : Their mean.

        Notes
        -----
        With ``C = get_covariance()`` and ``p`` observed columns, it is
        ``-1/2 (p log(2 pi) + log(det(C)) + (x - mean_).T @ inv(C) @ (x - mean_))``: ``O(p k)`` operations for each complete row of
        ``p`` columns and ``k`` components.

        Examples
        --------
        >>> from unmix import FactorAnalysis
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> FactorAnalysis(n_components=0).fit(X).score_samples([[0, 0], [5, -5]]).round(1)
        array([ -3. , -11.9])
        """
        check_is_fitted(self)
        return self._model.score_samples(self._rows(X), self._run_arguments(), self._uses_sklearn_density())

    def score(self, X: Rows, y: None = None) -> float:
        """Return the mean log-likelihood of the rows.

        Larger values are better: scikit-learn's ``cross_val_score`` and ``GridSearchCV`` use it as the score of the estimator, for example
        to compare numbers of components on held-out rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        y : None
            Ignored.

        Returns
        -------
        float
            The mean of ``score_samples(X)``.

        See Also
        --------
        score_samples : Log-likelihood of each row.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> round(PCA(n_components=1).fit(X).score(X), 2)
        -2.3
        """
        return float(np.mean(self.score_samples(X)))
