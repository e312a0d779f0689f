"""Robust PCA: rows as a low-rank matrix plus sparse errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import Estimator
from ._gaps import imputed
from ._input import dense
from ._parameters import RobustPCAParameters
from ._types import Array, Rows

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from typing_extensions import Self


class RobustPCA(RobustPCAParameters, Estimator):
    """Robust PCA: rows as a low-rank matrix plus sparse errors of any size.

    The rank is estimated. Rows may have missing cells (NaN), and noise in every cell in addition to the two parts. New rows are encoded by
    least absolute deviations, so that gross errors in a few cells do not change their codes. All rows are held in memory.

    Parameters
    ----------
    alpha : float or None, default=None
        Weight of the l1 norm of the sparse part relative to the nuclear norm of the low-rank part; None for ``1 /
        sqrt(max(n_samples, n_features) f)``, where ``f`` is the share of observed cells.
    noise : float or "auto", default="auto"
        Standard deviation of the noise in every cell; 0 for none: rows are then exactly low rank plus sparse. ``"auto"`` is 0 if
        most cells have no residual in the exact decomposition, and is estimated otherwise.
    tol : float, default=1e-07
        Convergence tolerance of the form without noise, for the primal residual: the norm of the rows minus both parts, relative to
        that of the rows. The relative dual residual must be below 100 times that. With noise, the relative change of both parts
        must be below 1000 times that.
    max_iter : int, default=500
        Maximum number of iterations, of each convex problem that is solved.
    center : bool, default=False
        Subtract the median of every column. By default nothing is subtracted: column offsets then add 1 to the rank of the low-rank
        part.
    standardize : bool, default=False
        Divide every column by a robust standard deviation for the fit, so that results do not depend on units: 1.4826 times its
        median absolute deviation, or its root mean square deviation if that is 0. ``noise`` is then in these units; components and
        both parts are in those of the data.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers, recorded in ``report_.seed``; None draws one from numpy's global state.
    max_seconds : float or None, default=None
        Time limit in seconds: iterations end with the current result, and ``report_.outcome`` is ``"time"``.
    callback : callable or None, default=None
        Called after every iteration with an :class:`unmix.Iteration`; if it raises StopIteration the fit ends with the current
        result, and ``report_.outcome`` is ``"interrupted"``. Another exception ends the fit without a result.
    checkpoint : path or None, default=None
        A file to which the state of the iterations is written during the fit, so that an interrupted fit can be resumed; removed
        when the fit is complete, kept if ``max_seconds`` or ``callback`` ended it.
    checkpoint_every : float, default=60.0
        Seconds between two writes of the checkpoint.
    resume : bool, default=False
        Resume from ``checkpoint``, with the same bits as an uninterrupted fit; if the file does not exist, the fit starts from the
        beginning. A checkpoint of other rows, settings or seed is refused.
    init : fitted estimator, path or None, default=None
        A fitted model, or the path of one, whose components are the initial values, instead of the method's own.
    verbose : {0, 1, 2}, default=0
        0 for no output, 1 for a progress bar, 2 for a line for each iteration, on stderr.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Basis of the row space of the low-rank part: orthonormal rows, in order of decreasing singular value, the entry of largest magnitude
        of each positive. With ``standardize=True`` rows of ``components_ / spread_`` are orthonormal.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of ``low_rank_ - mean_``; with ``standardize=True`` of ``(low_rank_ - mean_) / spread_``.
    noise_std_ : float or ndarray of shape (n_features,)
        Standard deviation of the noise in a cell: ``noise`` if that is a number, else the estimate; 0 if rows are exactly low rank plus
        sparse. With ``standardize=True`` one for each column, ``noise * spread_``.
    spread_ : ndarray of shape (n_features,)
        Divisors of the columns; only with ``standardize=True``.
    mean_ : ndarray of shape (n_features,)
        Subtracted from rows: medians of the columns with ``center=True``, else zeros.
    mixing_ : ndarray of shape (n_features, n_components)
        The decoder: ``components_.T``.
    low_rank_ : ndarray of shape (n_samples, n_features)
        The low-rank part of the rows of the fit, ``inverse_transform(transform(X))``. Computed on access, and not stored in the file.
    sparse_ : ndarray of shape (n_samples, n_features)
        The sparse part of the rows of the fit: residuals of the low-rank part, set to 0 in missing cells and below 4.5 standard deviations
        of the noise, or, without noise, below 1e-4 of the root mean square of ``low_rank_ - mean_`` (of columns divided by ``spread_``, with
        ``standardize=True``). Computed on access.
    n_components_, n_iter_, n_samples_, n_features_in_ : int
        The rank, iterations, and numbers of rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit; ``objective`` is that of the convex problem after each iteration of its last solution, ``sparse_share`` the
        share of the observed cells that are in ``sparse_``.

    See Also
    --------
    PCA : For rows without gross errors.

    Notes
    -----
    Minimises ``||L||_* + alpha * ||S||_1`` subject to ``L + S = X``, by an augmented Lagrangian method with partial singular value
    decompositions. With noise it minimises ``||L||_* + alpha * ||S||_1 + ||X - L - S||**2 / (2 m)``, and then refits ``L`` with the rank
    found by least squares over the cells without gross errors. Codes of rows, those of the fit included, are computed in the row space of
    this ``L``, row by row; ``low_rank_``, ``sparse_``, ``singular_values_`` and ``report_.sparse_share`` are of these codes.

    With ``center=True`` medians of the columns are subtracted, which are not those of the low-rank part unless that is 0 there, and so can add
    1 to its rank.

    References
    ----------
    E. Candès, X. Li, Y. Ma & J. Wright (2011), Robust principal component analysis? doi:10.1145/1970392.1970395
    Z. Zhou, X. Li, J. Wright, E. Candès & Y. Ma (2010), Stable principal component pursuit. arXiv:1001.2363

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import RobustPCA
    >>> draw = np.random.RandomState(0)
    >>> low = draw.randn(60, 2) @ draw.randn(2, 40)
    >>> X = low + 10 * (draw.rand(60, 40) < 0.05)
    >>> robust = RobustPCA(random_state=0).fit(X)
    >>> robust.n_components_, bool(abs(robust.low_rank_ - low).max() < 1e-4)
    (2, True)
    """

    _method = "robust-pca"
    _rows_of_fit: Any

    def fit(self, X: Rows, y: None = None) -> Self:  # type: ignore[override]
        """Fit the model to rows.

        The rank and, with ``noise="auto"``, the noise are estimated. All rows are held in memory, with seven matrices of their size in
        double precision; every iteration takes partial singular value decompositions of all of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell. The estimator keeps a reference to them until the next fit, for ``low_rank_`` and ``sparse_``.
        y : None
            Ignored.

        Returns
        -------
        object
            The fitted estimator. When fitting fails or is interrupted, it is as it was before.

        See Also
        --------
        transform : Codes of other rows.

        Examples
        --------
        >>> from unmix import RobustPCA
        >>> X = [[1, 2, 3], [2, 4, 6], [3, 6, 9], [4, 8, 12], [5, 10, 15]]
        >>> RobustPCA(alpha=1.0, noise=0.0).fit(X).components_.round(2)
        array([[0.27, 0.53, 0.8 ]])
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Rows, y: None = None) -> Array:  # type: ignore[override]
        """Fit the model to rows and return their codes: ``fit(X).transform(X)``, to the bit.

        Codes are the coordinates of the low-rank part of each row, by least absolute deviations: the size of gross errors in single cells
        has no influence on them. They are computed row by row after the fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Codes, in the type of the rows.

        See Also
        --------
        fit : Fit the model alone.

        Examples
        --------
        >>> from unmix import RobustPCA
        >>> X = [[1, 2, 3], [2, 4, 6], [3, 6, 9], [4, 8, 12], [5, 10, 15]]
        >>> RobustPCA(alpha=1.0, noise=0.0).fit_transform(X).shape
        (5, 1)
        """
        rows, threads = self._fit(X)
        return self._model.encode(rows, (0, threads, int(self.verbose)))

    def impute(self, X: Rows, return_std: bool = False, n_draws: int = 0, bootstrap: int = 20, max_seconds: float | None = None) -> Array:
        """Fill the missing cells of rows with those of their low-rank part; observed cells are left unchanged, gross errors included.

        A cell is filled with its value in ``inverse_transform(transform(X))``, which gross errors in a few of the observed cells of its row do
        not change. There are no standard errors and no draws, because codes by least absolute deviations have no distribution: the
        arguments for them are those of other estimators with this method, such as :class:`PPCA`, which have both.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell.
        return_std : bool, default=False
            Standard errors are not possible: True is an error.
        n_draws : int, default=0
            Draws for multiple imputation are not possible: a number above 0 is an error.
        bootstrap : int, default=20
            Without effect: refits are for standard errors and draws.
        max_seconds : float or None, default=None
            Without effect: a time limit for refits.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Completed rows, in the type of the rows.

        See Also
        --------
        inverse_transform : All cells of the low-rank part, from codes.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import RobustPCA
        >>> draw = np.random.RandomState(0)
        >>> low = draw.randn(60, 2) @ draw.randn(2, 40)
        >>> X = np.where(draw.rand(60, 40) < 0.1, np.nan, low + 10 * (draw.rand(60, 40) < 0.05))
        >>> robust = RobustPCA(random_state=0).fit(X)
        >>> np.allclose(robust.impute(X), np.where(np.isnan(X), robust.low_rank_, X))
        True
        """
        filled: Array = imputed(self, X, (return_std, n_draws, bootstrap), max_seconds)[0]
        return filled

    def _fit(self, X: Any, sample_weight: Any = None, targets: None = None) -> tuple[Any, int]:
        rows, threads = super()._fit(X, sample_weight)
        vars(self)["_rows_of_fit"] = rows
        return rows, threads

    def _forget(self) -> None:
        super()._forget()
        vars(self).pop("_rows_of_fit", None)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_rows_of_fit"}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    #: Attributes that are computed from the rows of the fit on access.
    _derived = frozenset({"low_rank_", "sparse_"})

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name not in type(self)._derived:
                return super().__getattr__(name)
            check_is_fitted(self)
            rows = self._fitted_rows(name)
            low = self._low_rank(rows)
            return low if name == "low_rank_" else self._sparse(rows, low)

    def _fitted_rows(self, name: str) -> Any:
        """The rows of the fit, which ``name`` needs."""
        rows = vars(self).get("_rows_of_fit")
        if rows is None:
            raise AttributeError(
                f"{name} is not in a model file or a pickle, because it needs the rows X of the fit; low_rank_ is "
                "inverse_transform(transform(X)), and sparse_ the large entries of X - low_rank_"
            )
        return rows

    def _low_rank(self, rows: Any) -> Array:
        """The low-rank part of rows."""
        codes = self._model.encode(rows, self._run_arguments())
        if self.n_components_ == 0:
            return np.tile(self.mean_.astype(codes.dtype, copy=False), (len(codes), 1))
        return self._model.decode(codes, self._run_arguments())

    def _sparse(self, rows: Any, low: Array) -> Array:
        """The sparse part of rows with this low-rank part: residuals that exceed the noise, or rounding errors if there is no noise."""
        left = np.asarray(dense(rows), dtype=low.dtype) - low
        unit = vars(self).get("spread_", low.dtype.type(1))
        # Without noise, the threshold is that of the fit.
        if np.max(self.noise_std_) > 0:
            cut = 4.5 * self.noise_std_
        else:
            cut = 1e-4 * np.sqrt(np.mean(np.square((low - self.mean_) / unit))) * unit
        return np.where(np.abs(left) > cut, left, low.dtype.type(0))
