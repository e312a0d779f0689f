"""Matrix completion: a low-rank model of a partially observed matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._base import Estimator
from ._gaps import Gaps
from ._parameters import MatrixCompletionParameters
from ._read import Files, listed_cells
from ._types import Array, Rows

if TYPE_CHECKING:
    from typing_extensions import Self


class MatrixCompletion(MatrixCompletionParameters, Gaps, Estimator):
    """Matrix completion: a low-rank model with offsets and noise, fitted to the observed cells, with standard errors for all others.

    NaN is a missing cell. In sparse rows the stored entries are the observed cells, zeros included, and no dense copy is made; a cell that is
    stored more than once is an error.

    Parameters
    ----------
    n_components : int or None, default=None
        Maximum number of factors, not above the number of rows and of columns; factors that the observed cells do not support are
        left out. 0 for offsets alone; None to start with 10 and double the number while all of them are supported. With
        ``"soft-impute"`` the maximum number, None for as many as the cells determine; with ``"ppca-em"`` fewer than columns and
        rows, None for the number with the smallest Bayesian information criterion.
    algorithm : {"als", "soft-impute", "ppca-em"}, default="als"
        The algorithm: ``"als"`` for alternating least squares over the observed cells; ``"soft-impute"`` for the convex problem
        with a nuclear norm penalty, which selects the number of factors; ``"ppca-em"`` for maximum likelihood of probabilistic PCA,
        with rows as samples.
    alpha : float or "auto", default="auto"
        Weight of the penalty on the factors: ``"auto"`` for variational alternating least squares, which estimates the noise, the
        scales of factors and offsets, and the errors of all of them from the observed cells; or a number, the ridge penalty for
        each cell of a row and of a column, for cells in units of their standard deviation (without offsets, of their root mean
        square), 0 for none. With ``"soft-impute"``, ``"auto"`` for the one of at most 20 values with the smallest error on a
        held-out tenth of the cells, whose solution is the start of variational least squares; or a number, the weight of the
        nuclear norm relative to half the sum of squared residuals, in the units of the cells. ``"ppca-em"`` has no penalty.
    offsets : bool, default=True
        Fit an offset for every row and every column in addition to the factors; False for a model without mean and offsets.
    tol : float, default=0.001
        Convergence tolerance: the relative change, in an iteration, of the noise variance; with a number for ``alpha``, of the mean
        square of the residuals; with ``"soft-impute"``, of the penalised cost; with ``"ppca-em"``, the increase of the mean
        log-likelihood per row, in nats.
    max_iter : int, default=100
        Maximum number of iterations.
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
        Loadings of the columns on each factor, the entry of largest magnitude of each positive. Sorted by
        ``component_variance_``. Arrays of a fitted model are read-only.
    component_variance_ : ndarray of shape (n_components,)
        Sum of the squared loadings of each factor: its variance, summed over columns.
    row_codes_ : ndarray of shape (n_samples, n_components)
        Factors of the rows of the fit, as ``transform`` returns them; 0 for a row without observed cells.
    row_offsets_ : ndarray of shape (n_samples,)
        Offsets of the rows of the fit; 0 with ``offsets=False``.
    row_offset_scale_ : float
        Standard deviation of the offsets of rows.
    mean_ : ndarray of shape (n_features,)
        Mean of all cells plus the offset of each column; 0 with ``offsets=False``.
    noise_variance_ : float
        Variance of the noise of a cell.
    row_errors_ : ndarray of shape (n_samples, n_errors)
        Posterior covariance matrix of the factors and the offset of each row: its lower triangle, row by row.
    column_errors_ : ndarray of shape (n_features, n_errors)
        The same for the loadings and the offset of each column. Those treated as known, with a number for ``alpha``, have errors of 0, and
        columns without observed cells the mean square of the others'; absent then if every column has a cell, and with
        ``algorithm="ppca-em"``.
    unseen_row_errors_ : ndarray of shape (n_errors,)
        With a number for ``alpha``, what ``row_errors_`` has for a row without observed cells: the mean square of the factors and the offset
        of those with cells.
    row_prior_ : ndarray of shape (n_components + 1, 2) or (n_components, 2)
        If column parameters are treated as known, the precision of the prior of each factor of a row and of its offset: a constant, and
        an amount per observed cell.
    path_ : ndarray of shape (n_values, 3)
        With ``algorithm="soft-impute"`` and ``alpha="auto"``, for each value of the penalty: the value, in the units of the cells, the number
        of factors, and the root mean squared error of the held-out cells.
    mixing_ : ndarray of shape (n_features, n_components)
        ``components_.T``: ``inverse_transform(z) = z @ mixing_.T + mean_`` is the row with these factors and a row offset of 0.
    completed_ : ndarray of shape (n_samples, n_features)
        All cells of the rows of the fit, as predicted by the model: ``row_codes_ @ components_ + mean_ + row_offsets_[:, None]``. Computed
        on each access; a MemoryError if it does not fit into memory. ``impute`` leaves observed cells unchanged.
    n_components_, n_iter_, n_samples_, n_features_in_ : int
        Numbers of factors, iterations, rows, and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit; ``objective`` is the evidence lower bound per cell, in nats, which is monotone.

    See Also
    --------
    PPCA : A Gaussian model of rows, for many rows of few columns.

    Notes
    -----
    Cell ``ij`` is modelled as ``m + b_i + c_j + a_i v_j`` plus noise of the same variance in all cells; factors, loadings and offsets have
    normal priors whose variances are estimated. The posteriors of rows and of columns are approximated by independent normal
    distributions, which are updated alternately. The variance of a factor that the observed cells do not support becomes 0 and the factor
    is dropped, so ``n_components`` may be too large. The standard error of a cell includes the errors of its row and of its column, and
    the noise. If column parameters are treated as known, ``impute`` of the rows of the fit estimates their errors by refits to resampled
    rows.

    With a number for ``alpha``, cells in units ``u`` of their standard deviation (without offsets, of their root mean square), and ``n_i`` and
    ``n_j`` the numbers of cells of row ``i`` and column ``j``, ``"als"`` minimises the sum over the observed cells of ``((y_ij - m) / u - b_i -
    c_j - a_i v_j)**2``, plus ``alpha * (sum_i n_i |a_i|**2 + sum_j n_j |v_j|**2) + 5 * (sum_i b_i**2 + sum_j c_j**2)``, the latter only if
    ``alpha`` is not 0; and ``"soft-impute"``, in the units of the data, half the sum of ``(y_ij - m - b_i - c_j - l_ij)**2``, plus ``alpha``
    times the nuclear norm of ``l`` and ``5 / 2 * (sum_i b_i**2 + sum_j c_j**2)``. ``m`` is the mean of all cells. So offsets are shrunk as by
    five more cells of each row and each column, with an offset of 0. For a row or a column without cells, standard errors assume that it
    varies as those with cells do.

    References
    ----------
    Y. J. Lim & Y. W. Teh (2007), Variational Bayesian approach to movie rating prediction. KDD Cup and Workshop.
    A. Ilin & T. Raiko (2010), Practical approaches to principal component analysis in the presence of missing values. JMLR 11:1957-2000.
    https://jmlr.org/papers/v11/ilin10a.html
    R. Mazumder, T. Hastie & R. Tibshirani (2010), Spectral regularization algorithms for learning large incomplete matrices. JMLR 11:2287-2322.
    https://jmlr.org/papers/v11/mazumder10a.html
    T. Hastie et al. (2015), Matrix completion and low-rank SVD via fast alternating least squares. JMLR 16:3367-3402. arXiv:1410.2596

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import MatrixCompletion
    >>> draw = np.random.RandomState(0)
    >>> X = draw.randn(80, 2) @ draw.randn(2, 60) + 0.1 * draw.randn(80, 60)
    >>> known = np.where(draw.rand(80, 60) < 0.4, X, np.nan)
    >>> completion = MatrixCompletion().fit(known)
    >>> completion.n_components_, round(float(completion.noise_variance_) ** 0.5, 1)
    (2, 0.1)
    >>> values, std = completion.predict_cells([[0, 1], [5, 7]], return_std=True)
    >>> bool((abs(values - X[[0, 5], [1, 7]]) < 4 * std).all())
    True
    """

    _method = "matrix-completion"
    _stored_are_cells = True
    _derived = frozenset({"completed_"})

    def fit(self, X: Rows, y: None = None) -> Self:  # type: ignore[override]
        """Fit the model to the observed cells of rows.

        The observed cells are held in memory, by row, and no table of all cells is made: with ``algorithm="als"`` an iteration takes
        ``O(cells k**2 + (n + p) k**3)`` operations for ``k`` factors, ``n`` rows and ``p`` columns. Missing cells do not enter the fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell. The stored entries of a scipy sparse matrix are its observed cells, as are the lines of a list of
            cells, ``unmix.open(path, triplets=True)``.
        y : None
            Ignored.

        Returns
        -------
        object
            The fitted estimator. When fitting fails or is interrupted, it is as it was before.

        See Also
        --------
        impute : Fill the missing cells.

        Examples
        --------
        >>> from unmix import MatrixCompletion
        >>> X = [[1, 2, 4], [2, 3, float("nan")], [4, 5, 6]]
        >>> MatrixCompletion(n_components=0).fit(X).row_offsets_.round(1)
        array([-1. , -0.3,  1.5])
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Rows, y: None = None) -> Array:  # type: ignore[override]
        """Fit the model to the observed cells of rows and return their factors: ``fit(X).transform(X)``, to the bit.

        The factors are those of ``row_codes_``. They do not include the offsets of the rows, which are ``row_offsets_``:
        ``inverse_transform`` returns rows of offset 0, ``completed_`` all cells with their offsets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows, as for ``fit``.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Factors, in the type of the rows.

        See Also
        --------
        fit : Fit the model alone.

        Examples
        --------
        >>> from unmix import MatrixCompletion
        >>> X = [[1, 2, 4], [2, 3, float("nan")], [4, 5, 6]]
        >>> MatrixCompletion(n_components=0).fit_transform(X).shape
        (3, 0)
        """
        rows, threads = self._fit(X)
        return self._model.encode(rows, (0, threads, int(self.verbose)))

    @property
    def completed_(self) -> Array:
        """All cells of the rows of the fit, as predicted by the model; computed on each access.

        An array of shape (n_samples, n_features), in the type of the rows. A MemoryError if it does not fit into memory.

        See Also
        --------
        impute : Fill the missing cells and leave observed ones unchanged.
        predict_cells : Values of single cells.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import MatrixCompletion
        >>> draw = np.random.RandomState(0)
        >>> X = draw.randn(20, 1) @ draw.randn(1, 15) + 0.1 * draw.randn(20, 15)
        >>> X[draw.rand(20, 15) < 0.3] = np.nan
        >>> MatrixCompletion(random_state=0).fit(X).completed_.shape
        (20, 15)
        """
        if not self.__sklearn_is_fitted__():
            raise AttributeError("this MatrixCompletion is not fitted yet, so it has no completed_")
        return _unmix.completed(self._model, self._run_arguments())

    @overload
    def predict_cells(self, cells: ArrayLike | Files, return_std: Literal[False] = False) -> Array: ...
    @overload
    def predict_cells(self, cells: ArrayLike | Files, return_std: Literal[True]) -> tuple[Array, Array]: ...
    @overload
    def predict_cells(self, cells: ArrayLike | Files, return_std: bool = False) -> Array | tuple[Array, Array]: ...
    def predict_cells(self, cells: ArrayLike | Files, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return predicted values of single cells of the rows of the fit.

        The factors and offsets of the rows of the fit are part of the model, so that neither the rows nor a table of all cells is needed: a
        cell takes ``O(k)`` operations for ``k`` factors, ``O(k**2)`` with its standard error. Observed cells can be predicted, too.

        Parameters
        ----------
        cells : array-like of shape (n_cells, 2), or list of cells
            Row and column of each cell, counted from 0; or ``unmix.open(path, triplets=True)`` of a file with these columns, whose values, if
            there are any, are ignored.
        return_std : bool, default=False
            Whether to return the standard error of a new observation of each cell.

        Returns
        -------
        values : ndarray of shape (n_cells,)
            Predicted values, in float64.
        std : ndarray of shape (n_cells,), with ``return_std=True``
            Standard errors, in float64. With a number for ``alpha`` and with ``algorithm="ppca-em"`` they treat the parameters as known, with a
            warning: refits, as by ``impute``, need the rows.

        See Also
        --------
        impute : Fill the missing cells of rows, those of the fit or others.

        Notes
        -----
        The value of cell ``i, j`` is ``mean_[j] + row_offsets_[i] + row_codes_[i] @ components_[:, j]``.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import MatrixCompletion
        >>> X = np.add.outer(np.arange(6.0), [0.0, 10.0, 20.0, 30.0])
        >>> X[2, 3] = np.nan
        >>> MatrixCompletion(n_components=0).fit(X).predict_cells([[2, 3]]).round()
        array([32.])
        """
        check_is_fitted(self)
        if isinstance(cells, Files):
            rows, columns = listed_cells(cells)
            values, std = _unmix.predict_cells(self._model, rows, columns, bool(return_std))
            return (values, std) if return_std else values
        given = np.asarray(cells)
        if given.size == 0:
            given = given.reshape(0, 2)
        if given.ndim != 2 or given.shape[1] != 2:
            raise ValueError(f"cells must be an array of shape (n_cells, 2), row and column of each, got shape {given.shape}")
        whole = given.astype(np.int64, copy=False) if given.dtype.kind in "biuf" else None
        if whole is None or not np.array_equal(whole, given):
            raise ValueError("cells must be rows and columns as integers, counted from 0")
        if (whole < 0).any():
            at = int(np.flatnonzero((whole < 0).any(axis=1))[0])
            raise ValueError(f"cells must be counted from 0: cell {at} is {tuple(whole[at].tolist())}")
        rows, columns = whole.T.astype(np.uint64)
        values, std = _unmix.predict_cells(self._model, rows, columns, bool(return_std))
        return (values, std) if return_std else values
