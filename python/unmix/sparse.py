"""Sparse coding with a given dictionary."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._base import Estimator
from ._parameters import SparseCoderParameters
from ._gaps import imputed
from ._record import CodePath, CodeQuality
from ._types import Array, Rows, SparseCodes

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from typing_extensions import Self

    from ._types import Path


class SparseCoder(SparseCoderParameters, Estimator):
    """Sparse coding: rows as sums of few atoms of a given dictionary, with a bound on the error of each code.

    The code of a row is the optimum of the lasso, or the result of orthogonal matching pursuit. Every code of the lasso has a duality gap,
    computed from a recomputed residual in double precision; it has converged if the gap is at most ``tol`` times half the squared norm of
    its row. Atoms keep the given order, signs and norms. NaN is a missing cell. Rows are coded independently: a ``callback`` is called once,
    with the largest number of iterations and the largest gap of a row.

    Parameters
    ----------
    dictionary : array-like of shape (n_components, n_features), fitted estimator, path or Files
        The atoms as rows, of any norm; their order and signs are kept. An array, or a fitted model, whose components are taken; or
        the path of either.
    algorithm : {"cd", "fista", "ista", "lars", "omp"}, default="cd"
        Solver: ``"cd"`` for coordinate descent on working sets, ``"fista"`` and ``"ista"`` for accelerated and plain proximal
        gradient steps, ``"lars"`` for the homotopy in alpha; all of these solve the same lasso. ``"omp"`` for orthogonal matching
        pursuit, up to a number of atoms or down to a squared error.
    alpha : float or {"auto", "cv"}, default="auto"
        Weight of the l1 penalty relative to half the squared error. ``"auto"`` for a tenth of the mean over rows of the largest
        inner product with an atom, in absolute value unless ``positive_code``; ``"cv"`` for the value with the smallest prediction
        error on held-out entries.
    n_nonzero_coefs : int or None, default=None
        Maximum number of nonzero entries in a code of ``"omp"``; None for a tenth of ``n_features``, at least 1, unless
        ``max_squared_error`` is given.
    max_squared_error : float or None, default=None
        Squared error of a row at which ``"omp"`` stops; None to stop at ``n_nonzero_coefs`` only.
    positive_code : bool, default=False
        Constrain codes to be non-negative.
    debias : bool, default=False
        Debias: recompute the nonzero entries of each code by least squares on their atoms, without the shrinkage of the penalty;
        signs may change, unless ``positive_code`` constrains them (then by non-negative least squares).
    center : bool, default=False
        Subtract the mean of every column.
    max_iter : int, default=1000
        Maximum number of iterations of each row: passes, steps, or breakpoints of ``"lars"``.
    tol : float or None, default=None
        Convergence tolerance of each row: its duality gap divided by half its squared norm; None for 1e-6 in double precision, 1e-5
        in single.
    sparse_output : bool, default=False
        Codes are compressed sparse rows of scipy.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers, recorded in ``report_.seed``; None draws one from numpy's global state.
    max_seconds : float or None, default=None
        Time limit in seconds: iterations end with the current result, and ``report_.outcome`` is ``"time"``.
    callback : callable or None, default=None
        Called once, after all rows are coded, with an :class:`unmix.Iteration`: the largest number of iterations and the largest
        residual of a row; not with ``"omp"``. StopIteration has no effect then; another exception ends the fit without a result.
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
        The dictionary, in the type of the rows of the fit.
    alpha_ : float
        Weight of the penalty: as given, or as chosen by ``"auto"`` or ``"cv"``.
    mean_ : ndarray of shape (n_features,)
        Subtracted from rows: means of the columns with ``center=True``, else zeros.
    mixing_ : ndarray of shape (n_features, n_components)
        The decoder: ``components_.T``.
    n_components_, n_iter_, n_samples_, n_features_in_ : int
        Number of atoms, maximum number of iterations over the rows, and numbers of rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit: ``alpha_max``, the smallest ``alpha`` with which every code is 0; ``worst_gap``, the largest relative gap of a row
        of the fit, and ``not_converged``, the number of rows above ``tol``; ``mean_nonzero``, the mean number of atoms of a code; with
        ``alpha="cv"``, ``cv``: alphas, errors and their standard errors. ``objective`` is the mean over rows.

    See Also
    --------
    unmix.metrics.lasso_gap : Duality gaps of codes from any solver.
    LISTA : Approximate codes by a trained network.

    Notes
    -----
    Minimises ``1/2 ||x - z A||**2 + alpha ||z||_1``, as scikit-learn and SPAMS do. ``Lasso(alpha=a)`` of scikit-learn has the same optimum
    for ``a = alpha / n_features``. Codes can be sparse matrices (``sparse_output=True``), or be streamed to a file,
    ``encode(X, out="codes.npz")``.

    References
    ----------
    R. Tibshirani (1996), Regression shrinkage and selection via the lasso. doi:10.1111/j.2517-6161.1996.tb02080.x
    M. Massias, A. Gramfort & J. Salmon (2018), Celer: a fast solver for the lasso with dual extrapolation. arXiv:1802.07481
    R. Rubinstein, M. Zibulevsky & M. Elad (2008), Efficient implementation of the K-SVD algorithm using batch orthogonal matching pursuit.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import SparseCoder
    >>> atoms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> coder = SparseCoder(atoms, alpha=0.1).fit([[3.0, 4.0], [2.0, 0.0]])
    >>> coder.transform([[3.0, 4.0], [2.0, 0.0]]).round(2) + 0
    array([[0. , 0. , 4.9],
           [1.9, 0. , 0. ]])
    """

    _method = "sparse-coder"
    _orthonormal = False
    _min_samples = 1

    def fit(self, X: Rows, y: None = None) -> Self:  # type: ignore[override]
        """Determine ``alpha`` from rows, encode them, and report the quality of their codes.

        The dictionary is not changed. A pass over the rows resolves ``alpha`` (with ``"cv"``, codes of at most 2000 rows from parts of
        their columns); the codes of the second pass are not kept, but ``report_`` has their number of atoms and their largest duality gap.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell.
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
        >>> from unmix import SparseCoder
        >>> SparseCoder([[1.0, 0.0], [0.0, 1.0]], alpha=0.5).fit([[3.0, 0.0], [0.0, 1.0]]).report_.outcome
        'converged'
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Rows, y: None = None) -> SparseCodes:  # type: ignore[override]
        """Fit the model to rows and return their codes: ``fit(X).transform(X)``, to the bit.

        With a number for ``alpha``, and without ``center``, the codes do not depend on the other rows; with ``"auto"`` and ``"cv"`` they do,
        through ``alpha_``. With ``sparse_output=True`` only their nonzero entries are held in memory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell.
        y : None
            Ignored.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_components)
            Codes, in the type of the rows.

        See Also
        --------
        fit : Fit the model alone.

        Examples
        --------
        >>> from unmix import SparseCoder
        >>> SparseCoder([[1.0, 0.0], [0.0, 1.0]], alpha=0.5).fit_transform([[3.0, 0.0], [0.0, 1.0]])
        array([[2.5, 0. ],
               [0. , 0.5]])
        """
        rows, threads = self._fit(X)
        codes: SparseCodes = self._model.encode(rows, (0, threads, int(self.verbose)), dense=not self.sparse_output)
        return codes

    def transform(self, X: Rows) -> SparseCodes:
        """Return the codes of rows.

        Rows are encoded independently of each other, and have the same bits alone and among others. A row with missing cells is encoded by
        its observed columns, with the same ``alpha_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows with the columns that the model was fitted on; NaN is a missing cell. A row without observed cells has the code 0.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_components)
            Codes, in the type of the rows; scipy's ``csr_array`` with ``sparse_output=True``. A warning gives the number of rows that did
            not converge.

        See Also
        --------
        quality : Objective, gap, number of atoms and squared error of each row.
        encode : The same, also into a file.

        Examples
        --------
        >>> from unmix import SparseCoder
        >>> coder = SparseCoder([[1.0, 0.0], [0.0, 1.0]], alpha=0.5, sparse_output=True).fit([[3.0, 0.0], [0.0, 1.0]])
        >>> coder.transform([[3.0, 0.0], [0.0, -1.0]]).toarray()
        array([[ 2.5,  0. ],
               [ 0. , -0.5]])
        """
        check_is_fitted(self)
        codes: SparseCodes = self._model.encode(self._rows(X), self._run_arguments(), dense=not self.sparse_output)
        return codes

    if TYPE_CHECKING:
        # The same as `transform` without a file.
        @overload
        def encode(self, X: Rows, out: None = None) -> SparseCodes: ...
        @overload
        def encode(self, X: Rows, out: Path) -> None: ...
        @overload
        def encode(self, X: Rows, out: Path | None = None) -> SparseCodes | None: ...
        def encode(self, X: Rows, out: Path | None = None) -> SparseCodes | None: ...

    def quality(self, X: Rows) -> CodeQuality:
        """Return objective and duality gap of the code of each row, from a recomputed residual in double precision.

        A gap near 0 proves that a code is optimal; solvers of the lasso leave a larger one if ``max_iter`` is too small, and ``"omp"``
        solves another problem. The rows are encoded by this method; :func:`unmix.metrics.lasso_gap` takes codes of any origin.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell.

        Returns
        -------
        Bunch of float64 arrays
            ``objective``, ``1/2 ||x - z A||**2 + alpha ||z||_1``; ``gap``, an upper bound on its distance from the minimum (with
            ``debias=True``, that of the code before debiasing); ``n_nonzero``, number of atoms of the code; ``squared_error``,
            ``||x - z A||**2``. Each of shape (n_samples,).

        See Also
        --------
        path : The same for a range of alphas.

        Notes
        -----
        With ``r = x - z A``, ``c = A r`` and ``s`` the number nearest to ``x . r / ||r||**2`` between ``-alpha / max(abs(c))`` and
        ``alpha / max(abs(c))``, the gap is ``1/2 (1 - s)**2 ||r||**2 + sum_j (alpha abs(z_j) - s z_j c_j)``, a sum of non-negative terms.
        With ``positive_code=True``, ``s`` is between 0 and ``alpha / max(c)``.

        Examples
        --------
        >>> from unmix import SparseCoder
        >>> coder = SparseCoder([[1.0, 0.0], [0.0, 1.0]], alpha=0.5).fit([[3.0, 0.0], [0.0, 1.0]])
        >>> found = coder.quality([[3.0, 0.0]])
        >>> found.objective, found.gap, found.n_nonzero, found.squared_error
        (array([1.375]), array([0.]), array([1.]), array([0.25]))
        """
        check_is_fitted(self)
        names, numbers = _unmix.measures(self._model, self._rows(X), self._run_arguments())
        return CodeQuality(**{name: numbers[:, i] for i, name in enumerate(names)})

    def path(self, X: Rows, n_alphas: int = 30) -> CodePath:
        """Return objective, gap, number of atoms and squared error of each row for a range of alphas (regularisation path).

        Use it to choose ``alpha`` by the number of atoms or the error that it gives. Alphas decrease, and each code starts from that for
        the alpha before; codes themselves are not returned. Needs an algorithm that solves the lasso, not ``"omp"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell.
        n_alphas : int, default=30
            Number of alphas, from the smallest with which all codes of these rows are 0 down to a thousandth of it, evenly spaced in their
            logarithm.

        Returns
        -------
        Bunch of float64 arrays
            ``alphas`` (n_alphas,), and ``objective``, ``gap``, ``n_nonzero`` and ``squared_error`` (n_alphas, n_samples) each.

        See Also
        --------
        quality : The same for the alpha of the model.

        Notes
        -----
        With the smallest alpha ``a`` for which all codes are 0 (``max_ij abs(x_i . A_j)`` over rows less ``mean_`` and atoms, if codes may
        be negative) and ``N = n_alphas > 1``, the alphas are ``a * 1000**(-t / (N - 1))`` for ``t = 0, ..., N - 1``. Objective and gap are
        those of :meth:`quality`.

        Examples
        --------
        >>> from unmix import SparseCoder
        >>> coder = SparseCoder([[1.0, 0.0], [0.0, 1.0]], alpha=0.5).fit([[3.0, 0.0], [0.0, 1.0]])
        >>> coder.path([[3.0, 0.0]], n_alphas=4).n_nonzero.ravel()
        array([0., 1., 1., 1.])
        """
        check_is_fitted(self)
        if not isinstance(n_alphas, Integral) or n_alphas < 1:
            raise ValueError(f"n_alphas must be an integer of at least 1, got {n_alphas!r}")
        alphas, numbers = _unmix.sparse_path(self._model, self._rows(X), int(n_alphas), self._run_arguments())
        table = numbers.reshape(len(numbers), len(alphas), 4)
        names = ("objective", "gap", "n_nonzero", "squared_error")
        return CodePath(alphas=alphas, **{name: np.ascontiguousarray(table[:, :, i].T) for i, name in enumerate(names)})

    def impute(self, X: Rows) -> Array:
        """Fill the missing cells of rows from their codes; observed cells are left unchanged.

        A cell is filled with its value in the reconstruction ``transform(X) @ components_ + mean_``, which the penalty shrinks towards
        ``mean_`` unless ``debias=True``. There are no standard errors, because the model has no distribution of codes; :class:`PPCA` and
        :class:`MatrixCompletion` have them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Completed rows, in the type of the rows.

        See Also
        --------
        transform : The codes.

        Examples
        --------
        >>> from unmix import SparseCoder
        >>> coder = SparseCoder([[1.0, 1.0]], alpha=0.5).fit([[3.0, 3.0], [1.0, 1.0]])
        >>> coder.impute([[3.0, float("nan")]])
        array([[3. , 2.5]])
        """
        filled: Array = imputed(self, X, (False, 0, 0), None)[0]
        return filled

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
