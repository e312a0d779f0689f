"""Principal component analysis."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._base import Estimator
from ._growing import Incremental
from ._input import _is_path, counted, refused_setting, warn
from ._likelihood import Likelihood
from ._parameters import PCAParameters
from ._record import RowQuality
from ._types import Array, Rows

#: Solvers that find the first components only: scikit-learn's, then ours.
_TRUNCATED = ("arpack", "randomized", "krylov", "power", "deflation")


class PCA(PCAParameters, Likelihood, Incremental, Estimator):
    """Principal component analysis: orthogonal directions ordered by the variance along them.

    A drop-in for ``sklearn.decomposition.PCA``: parameters, attributes and errors are scikit-learn's. ``svd_solver="auto"`` is
    always exact, rows are never copied, and the same rows give the same bits for any number of threads, memory layout and storage.

    Parameters
    ----------
    n_components : int, float, {"minka", "mle", "bic", "gavish-donoho", "gap", "gap-difference", "parallel", "cv"} or None, default=None
        Number of components to keep: a number; a share of the variance between 0 and 1 (the fewest components that explain more);
        None for all, ``min(n_samples, n_features)``; or a rule: ``"minka"`` (``"mle"`` is the same, for at least as many rows as
        columns), ``"bic"``, ``"gavish-donoho"`` (the optimal threshold for denoising), ``"gap"`` and ``"gap-difference"`` (the
        largest ratio and difference of successive variances), ``"parallel"`` (parallel analysis) or ``"cv"`` (bi-cross-validation);
        the last two hold the rows in memory. ``"share-0.9"`` is the share 0.9.
    copy : bool, default=True
        Accepted for compatibility with scikit-learn; arrays are never modified, whatever its value.
    whiten : bool or "zca", default=False
        Divide codes by the standard deviation along each component. ``"zca"`` then rotates them back: one whitened number for each
        column, as close to the (scaled) column as possible.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized", "krylov", "power", "deflation"}, default="auto"
        Solver of the spectrum: ``"full"`` by singular values (small ones accurate), ``"covariance_eigh"`` by the eigenvalues of a
        scatter matrix, ``"auto"`` by one of these two, according to the shape of the data (``"krylov"`` for a few components of
        large sparse rows), always exact. The others compute the first components only: ``"krylov"`` (and ``"arpack"``, the same
        within scikit-learn's limits) by block Lanczos to rounding level, ``"randomized"`` approximately, ``"power"`` by orthogonal
        iteration of a block, ``"deflation"`` by power iteration, one component after another.
    tol : float, default=0.0
        Convergence tolerance of the iterative solvers: the largest residual, as a fraction of the first variance; 0 for rounding
        level.
    iterated_power : int or "auto", default="auto"
        Number of iterations of ``"randomized"`` (``"auto"``: 7 for fewer than a tenth of the components, else 4); maximum number of
        iterations of ``"power"`` and ``"deflation"`` for a component (``"auto"``: 1000).
    n_oversamples : int, default=10
        Number of additional directions that ``"randomized"`` and ``"power"`` iterate on.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Accepted for compatibility with scikit-learn; directions are always orthonormalised by QR.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers, recorded in ``report_.seed``; None draws one from numpy's global state.
    center : bool, default=True
        Subtract the mean; False for directions of the largest second moment about 0.
    standardize : bool, default=False
        Divide every column by its standard deviation first, so that results do not depend on units.
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
        The axes: orthonormal rows, the entry of largest magnitude of each positive. Arrays of a fitted model are read-only.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance along each component (divisor ``n_samples - 1``), and its share of the total.
    explained_variance_std_error_ : ndarray of shape (n_components,)
        Asymptotic standard error of each variance, ``explained_variance_ * sqrt(2 / (n_samples - 1))`` (Anderson 1963), for
        Gaussian rows and distinct variances.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centred rows.
    scale_ : ndarray of shape (n_components,)
        Standard deviation along each component.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    noise_variance_ : float
        Mean variance of the directions that were left out, ``(total - kept) / (n_features - n_components)``; 0 if all
        ``min(n_samples, n_features)`` components were kept.
    mixing_ : ndarray of shape (n_features, n_components)
        Decoder: ``inverse_transform(y) = y @ mixing_.T + mean_``.
    rotation_ : ndarray of shape (n_features, n_components)
        ``components_.T``.
    noise_scale_ : ndarray of shape (n_features,)
        Standard deviation of each column, 1 where it does not vary; only with ``standardize=True``.
    second_rotation_ : ndarray of shape (n_components, n_features)
        Second rotation, from whitened codes towards the columns; only with ``whiten="zca"``.
    n_components_, n_samples_, n_features_in_ : int
        Numbers of components, rows, and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit.

    See Also
    --------
    NeuralPCA : The same directions by learning rules.
    SigmaPCA : Also separates sources of equal variance.
    ICA : Independent sources.
    unmix.select_components : The number of components by every rule.

    Notes
    -----
    Rows are modelled as ``x = mean + W y``, with orthonormal columns of ``W`` (the rows of ``components_``) that maximise the variance
    of ``y = W.T @ (x - mean)``: eigenvectors of the covariance, ``C w = v w``, by decreasing eigenvalue ``v``
    (``explained_variance_``).

    References
    ----------
    K. Pearson (1901), On lines and planes of closest fit to systems of points in space. doi:10.1080/14786440109462720
    H. Hotelling (1933), Analysis of a complex of statistical variables into principal components. doi:10.1037/h0071325
    M. E. Tipping & C. M. Bishop (1999), Probabilistic principal component analysis. doi:10.1111/1467-9868.00196

    Examples
    --------
    >>> from unmix import PCA
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> pca = PCA(n_components=1).fit(X)
    >>> pca.explained_variance_ratio_.round(4)
    array([0.9924])
    """

    _method = "pca"

    def _rows(self, X: Any, reset: bool = False, min_samples: int | None = None) -> Any:
        if reset and issparse(X) and self.svd_solver == "full":
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while "full" was passed.'
            )
        return super()._rows(X, reset, min_samples)

    def _check(self, rows: Any) -> None:
        k, solver = self.n_components, self.svd_solver
        if not _is_path(rows):
            n, p = rows.shape
            most = min(n, p)
            if k is None or (not isinstance(k, str) and k <= most and solver not in _TRUNCATED):
                return
            found = f"X has {counted(n, 'row')} and {counted(p, 'column')}"
            if solver in _TRUNCATED:
                self._check_truncated(most, found)
            elif isinstance(k, str):
                if k == "mle" and n < p:
                    why = f"is only supported if n_samples >= n_features; {found}"
                    raise refused_setting("n_components", k, why, "choose a number, a share, or 'bic'")
            else:
                exact = "full" if solver == "auto" else solver
                why = f"must be between 0 and min(n_samples, n_features)={most} with svd_solver={exact!r}; {found}"
                raise refused_setting("n_components", k, why, f"choose a number from 0 to {most}, or None for all")

    def _check_truncated(self, most: int, found: str) -> None:
        k, solver = self.n_components, self.svd_solver
        if isinstance(k, str):
            raise refused_setting("n_components", k, f"cannot be a string with svd_solver='{solver}'", "choose a number")
        if k is None:
            return
        if not 1 <= k <= most:
            why = f"must be between 1 and min(n_samples, n_features)={most!r} with svd_solver='{solver}'; {found}"
            raise refused_setting("n_components", k, why, "choose a number in between, or svd_solver='auto'")
        if solver == "arpack" and k == most:
            why = f"must be strictly less than min(n_samples, n_features)={most!r} with svd_solver='{solver}'; {found}"
            raise refused_setting("n_components", k, why, "choose a smaller number, or svd_solver='auto'")

    def _warn(self) -> None:
        super()._warn()
        (_, _, rank, n), requested = self._model.end, self.n_components
        if rank is not None and isinstance(requested, Integral) and rank < requested:
            warn(
                f"the rows vary along {counted(rank, 'direction')} only, fewer than n_components={requested}; components beyond those have "
                "variance 0 (details in report_.warnings)"
            )
        # With all components, wide rows always vary along fewer directions than there are columns.
        if rank is not None and requested is None and rank < self.n_features_in_ < n and not self._all_that_vary():
            for sentence in self._model.doubts:
                if sentence.startswith("the rows vary along"):
                    warn(sentence)

    def _doubts(self) -> list[str]:
        # `_warn` gives the rank itself, so that the report need not be parsed to compare it with the columns.
        return [sentence for sentence in self._model.doubts if not sentence.startswith("the rows vary along")]

    def _uses_sklearn_density(self) -> bool:
        """Whether the likelihood is the one that scikit-learn uses for a whitened model."""
        return bool(self.whiten) and self.whiten != "zca"

    def get_covariance(self) -> Array:
        """Return the covariance of the model: ``components_.T @ diag(variance - noise) @ components_ + noise * I``.

        With ``whiten=True`` the rows of ``components_`` are multiplied by the standard deviations first, as in scikit-learn: the
        result is not the covariance of the rows. Fit without ``whiten`` to obtain it.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            In the type of the fit.

        See Also
        --------
        get_precision : Its inverse.

        Notes
        -----
        Without ``whiten``, with ``v = explained_variance_`` and ``s = noise_variance_``, it has the eigenvalues ``v`` along the components
        and ``s`` in all other directions: ``components_.T @ diag(v - s) @ components_ + s I`` (with ``standardize=True`` multiplied by the
        products of the ``noise_scale_`` of row and column). It takes ``O(n_features**2 k)`` operations for ``k`` components.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=2).fit(X).get_covariance().round(2)
        array([[5.6, 3.6],
               [3.6, 2.4]])
        """
        check_is_fitted(self)
        return self._model.covariance(self._uses_sklearn_density()).astype(self.mean_.dtype, copy=False)

    def get_precision(self) -> Array:
        """Return the inverse of the covariance of the model.

        It is computed from the components and the variances along them; no matrix is inverted. With ``whiten=True`` it is the inverse of
        scikit-learn's covariance; see :meth:`get_covariance`.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            In the type of the fit. Where ``noise_variance_`` is 0, a noise variance at rounding level is used.

        See Also
        --------
        get_covariance : Its inverse.

        Notes
        -----
        Without ``whiten``, with ``v = explained_variance_`` and ``s = noise_variance_``, it is
        ``components_.T @ diag(1 / v - 1 / s) @ components_ + I / s`` (with ``standardize=True`` divided by the products of the
        ``noise_scale_`` of row and column): ``O(n_features**2 k)`` operations for ``k`` components.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=2).fit(X).get_precision().round(2)
        array([[ 5.  , -7.5 ],
               [-7.5 , 11.67]])
        """
        check_is_fitted(self)
        return self._model.precision(self._uses_sklearn_density()).astype(self.mean_.dtype, copy=False)

    def quality(self, X: Rows, *, columns: bool = False) -> RowQuality:
        """Return Hotelling's T² and the squared reconstruction error Q of each row.

        Rows with a large T² are outliers within the subspace of the components, rows with a large Q are far from it. They take one pass over
        the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        columns : bool, default=False
            Whether to return the contribution of each column to ``q`` as well; it takes as much memory as the rows.

        Returns
        -------
        Bunch of float64 arrays
            ``t2`` (n_samples,), Hotelling's T squared. ``q`` (n_samples,), squared distance from the subspace of the components
            with positive variance; deviations along a component of variance 0 are part of ``q``. ``contributions``
            (n_samples, n_components), the terms of ``t2``. ``cos2`` (n_samples, n_components), squared cosine of the angle
            between ``x - mean_`` and each component; 0 for the mean itself. With ``columns=True``: ``column_contributions``
            (n_samples, n_features), the terms of ``q``. ``to_frame()`` returns them as a data frame.

        See Also
        --------
        score_samples : Log-likelihood of each row.

        Notes
        -----
        With ``y = (x - mean_) @ components_.T``, whatever ``whiten`` is, and ``v = explained_variance_`` (with ``standardize=True``,
        ``x - mean_`` is in units of ``noise_scale_`` throughout)::

            t2 = sum_i y_i**2 / v_i                              over components with v_i > 0
            q  = ||x - mean_ - sum_i y_i components_i||**2       over the same components

        Both take ``O(n_features k)`` operations for each row and ``k`` components.

        References
        ----------
        H. Hotelling (1947), Multivariate quality control. In: Techniques of statistical analysis.
        J. E. Jackson & G. S. Mudholkar (1979), Control procedures for residuals associated with principal component analysis.
        doi:10.1080/00401706.1979.10489779

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> quality = PCA(n_components=1).fit(X).quality([[0, 0], [-2, 3]])
        >>> quality.t2.round(2), quality.q.round(2)
        (array([0., 0.]), array([ 0., 13.]))
        """
        check_is_fitted(self)
        measured = _unmix.quality(self._model, self._rows(X), self._run_arguments(), bool(columns))
        names = ["t2", "q", "contributions", "cos2", *(["column_contributions"] if columns else [])]
        return RowQuality(**dict(zip(names, measured)))

    def score_samples(self, X: Rows) -> Array:
        """Return the log-likelihood of each row under the model (Tipping & Bishop 1999).

        With ``whiten=True`` the density is that of scikit-learn; see :meth:`get_covariance`.

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
        quality : Hotelling's T² and squared reconstruction error of each row.

        Notes
        -----
        With ``C = get_covariance()`` and ``p`` columns, it is ``-1/2 (p log(2 pi) + log(det(C)) + (x - mean_).T @ inv(C) @ (x - mean_))``,
        computed from the ``k`` components in ``O(p k)`` operations for each row.

        Examples
        --------
        >>> from unmix import PCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PCA(n_components=1).fit(X).score_samples([[0, 0], [5, -5]]).round(1)
        array([  -1.5, -397.3])
        """
        check_is_fitted(self)
        return self._model.score_samples(self._rows(X), self._run_arguments(), self._uses_sklearn_density())
