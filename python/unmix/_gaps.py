"""Estimators for rows with missing cells: fitted, encoded and scored from observed cells; missing cells are imputed with standard errors."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, overload

from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._components import framed, in_frame
from ._input import warn
from ._options import seconds
from ._types import Array, Rows

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from ._base import Estimator as _Estimator
else:
    _Estimator = object


def imputed(model: _Estimator, X: Rows, wanted: tuple[bool, int, int], max_seconds: float | None) -> tuple[Any, ...]:
    """Rows with their missing cells filled, then the standard errors and the draws that are ``wanted``: errors or not, draws, refits."""
    check_is_fitted(model)
    return_std, n_draws, bootstrap = wanted
    for name, value in (("n_draws", n_draws), ("bootstrap", bootstrap)):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
            raise ValueError(f"{name} must be an integer of at least 0, got {value!r}")
    numbers = (bool(return_std), int(n_draws), int(bootstrap))
    filled, std, draws, notes = _unmix.impute(model._model, model._rows(X), model._run_arguments(), numbers, seconds(max_seconds))
    for note in notes:
        warn(note)
    filled = in_frame(model, filled, X)
    if return_std:
        std = in_frame(model, std, X)
    completed: Any = [in_frame(model, table, X) for table in draws] if framed(model) else draws
    return filled, *([std] if return_std else []), *([completed] if n_draws else [])


class Gaps(_Estimator):
    """Estimators that take rows with missing cells (NaN): their codes are posterior means given the observed cells."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def posterior(self, X: Rows) -> tuple[Array, Array]:
        """Return mean and covariance of the latent variables of each row, from its observed cells.

        The square roots of the diagonal of a covariance are the standard errors of the codes of that row, given the parameters; they are
        larger in rows with missing cells. All covariances are in memory: ``n_samples * n_components**2`` numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell. A row without observed cells has the prior: mean 0, covariance the identity.

        Returns
        -------
        means : ndarray of shape (n_samples, n_components)
            Posterior means, as ``transform`` returns them (except with ``FactorAnalysis(scores="bartlett")``), in float64.
        covariances : ndarray of shape (n_samples, n_components, n_components)
            Posterior covariances, equal for rows with the same observed cells.

        See Also
        --------
        transform : The means alone.

        Notes
        -----
        With the loadings ``W`` and the noise variances ``s`` of the observed columns, the covariance is
        ``V = inv(I + W.T @ diag(1 / s) @ W)`` and the mean ``V @ W.T @ diag(1 / s) @ (x - mean_)``:
        ``O(p k**2 + k**3)`` operations for ``p`` observed columns and ``k`` components, once for all rows with the same observed cells.

        Examples
        --------
        >>> from unmix import PPCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> means, covariances = PPCA(n_components=1).fit(X).posterior([[3, 2], [3, float("nan")]])
        >>> means.round(2).ravel(), covariances.round(3).ravel()
        (array([1.4 , 1.38]), array([0.008, 0.011]))
        """
        check_is_fitted(self)
        return _unmix.posterior(self._model, self._rows(X), self._run_arguments())

    @overload
    def impute(self, X: Rows, return_std: Literal[False] = False, n_draws: Literal[0] = 0, bootstrap: int = 20, max_seconds: float | None = None) -> Array: ...
    @overload
    def impute(self, X: Rows, return_std: Literal[True], n_draws: Literal[0] = 0, bootstrap: int = 20, max_seconds: float | None = None) -> tuple[Array, Array]: ...
    @overload
    def impute(self, X: Rows, return_std: bool = False, n_draws: int = 0, bootstrap: int = 20, max_seconds: float | None = None) -> Array | tuple[Array, ...]: ...
    def impute(self, X: Rows, return_std: bool = False, n_draws: int = 0, bootstrap: int = 20, max_seconds: float | None = None) -> Array | tuple[Array, ...]:
        """Fill the missing cells of rows; observed cells are left unchanged.

        A cell is filled with its conditional mean given the observed cells of its row. Standard errors are those of a new observation of
        the cell. For the rows that the model was fitted to with missing cells, they include the uncertainty of its parameters, by the
        bootstrap (refits to resampled rows); for other rows the parameters are treated as known, with a warning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell.
        return_std : bool, default=False
            Whether to return the standard error of every filled cell.
        n_draws : int, default=0
            Number of completed tables for multiple imputation, with missing cells drawn from their conditional distribution under a
            refit each. :func:`unmix.metrics.pool` combines the estimates from these tables.
        bootstrap : int, default=20
            Number of refits to resampled rows, for standard errors and draws; 0 treats the parameters as known.
        max_seconds : float or None, default=None
            Time limit in seconds for the refits: standard errors and draws are from those that are complete by then, with a warning.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_features)
            In the type of the rows.
        std : ndarray of shape (n_samples, n_features), with ``return_std=True``
            Standard errors, in float64; 0 for observed cells.
        draws : ndarray of shape (n_draws, n_samples, n_features), with ``n_draws``
            Completed tables, in the type of the rows; reproducible, from the seed of the fit. If ``set_output`` requests frames, ``filled``
            and ``std`` are frames with the columns and the index of ``X``, and ``draws`` is a list of such frames.

        See Also
        --------
        posterior : Mean and covariance of the codes.
        unmix.metrics.pool : Rubin's rules.

        Notes
        -----
        A cell in column ``j`` is filled with ``mean_j + w_j . E[z | observed]``, with the loadings ``w_j`` and the latent variables ``z``
        of the row; its variance is ``(w_j.T @ V @ w_j + noise_j) n / (n - k - 1) + b``, with the posterior covariance ``V`` of ``z``, ``n``
        rows and ``k`` components, and ``b`` the variance of the filled value over refits. Without refits the factor is 1 and ``b`` is 0.
        For :class:`MatrixCompletion` the first term includes the errors of the loadings and the offset of the column.

        References
        ----------
        D. B. Rubin (1987), Multiple imputation for nonresponse in surveys. doi:10.1002/9780470316696

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import PPCA
        >>> draw = np.random.RandomState(0)
        >>> X = draw.randn(300, 2) @ draw.randn(2, 6) + 0.1 * draw.randn(300, 6)
        >>> gaps = np.where(draw.rand(300, 6) < 0.2, np.nan, X)
        >>> filled, std = PPCA(n_components=2).fit(gaps).impute(gaps, return_std=True)
        >>> inside = abs(filled - X)[np.isnan(gaps)] < 1.96 * std[np.isnan(gaps)]
        >>> bool(0.9 < inside.mean() < 0.99)
        True
        """
        found = imputed(self, X, (return_std, n_draws, bootstrap), max_seconds)
        return found[0] if len(found) == 1 else found
