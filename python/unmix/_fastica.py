"""FastICA with scikit-learn's interface, as a class and as a function."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ._input import _is_path, counted, dense, warn
from ._by_callable import deflation, symmetric
from ._fixed import fixed
from ._parameters import FastICAParameters
from ._sources import Sources, start
from ._types import Array, Rows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from numpy.typing import ArrayLike

    from . import _unmix
    from ._read import Files


class FastICA(FastICAParameters, Sources):
    """FastICA with the parameters, attributes, warnings and iterations of scikit-learn's class of this name.

    :class:`ICA` has more algorithms, one scale of tolerances, and never accepts a step that increases the objective.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of sources: a number, a share of the variance between 0 and 1, or None for the rank of the rows.
    algorithm : {"parallel", "deflation"}, default="parallel"
        Estimate all sources at once (``"parallel"``), or one after another (``"deflation"``).
    whiten : {"unit-variance", "arbitrary-variance"} or False, default="unit-variance"
        Variance of the sources: 1, or ``1 / n_samples``; False for data that are already whitened, from which no mean is then
        subtracted.
    fun : {"logcosh", "exp", "cube", "skew"} or callable, default="logcosh"
        Contrast function G used to measure non-Gaussianity. In Python also a callable: it gets an array, sources as rows, and
        returns g(x), the derivative of G, and the mean of g'(x) over the last axis; it is called in every iteration with a copy of
        all rows.
    fun_args : dict or None, default=None
        The parameter ``"alpha"`` of ``"logcosh"``, whose derivative is ``tanh(alpha x)``: from 1 to 2, None for 1. In Python also
        the arguments of a callable.
    max_iter : int, default=200
        Maximum number of iterations, for each source with ``"deflation"``.
    tol : float, default=0.0001
        Convergence tolerance: the largest ``1 - abs(<w_new, w_old>)`` over the rows of the rotation, about half the square of the
        angle.
    w_init : array-like of shape (n_components, n_components) or None, path or Files, default=None
        Initial unmixing matrix, in whitened coordinates along axes whose first entries are positive, as in scikit-learn; None for a
        random rotation.
    whiten_solver : {"svd", "eigh"}, default="svd"
        Accepted for compatibility with scikit-learn: the solver is chosen by the shape of the data, and singular values are used
        wherever a scatter matrix does not resolve all directions.
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
        Encoder: ``transform(x) = (x - mean_) @ components_.T``.
    mixing_ : ndarray of shape (n_features, n_components)
        Decoder: the pseudo-inverse of ``components_``.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows; zeros with ``whiten=False``.
    whitening_ : ndarray of shape (n_components, n_features)
        Whitening matrix, up to ``sqrt(n_samples)``; not with ``whiten=False``.
    rotation_, scale_, second_rotation_ : ndarray
        ``components_.T = rotation_ @ diag(1 / scale_) @ second_rotation_``, the first two those of PCA; not with ``whiten=False``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        ``component_variance_`` as a share of the variance of all columns.
    component_variance_ : ndarray of shape (n_components,)
        Variance of the back-projection of each source; sources are in this order.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations (the maximum over sources with ``"deflation"``), and numbers of sources, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit. ``sign_changes`` lists the iterations, counted from 1 as the values of ``objective``, in which the sign of a
        source changed (super- to sub-Gaussian or back), and with it the objective; None if there were none.

    See Also
    --------
    ICA : More algorithms, one scale of tolerances.
    unmix.fastica : The same as a function.

    Notes
    -----
    An iteration is the fixed-point step ``w <- E[z g(w z)] - E[g'(w z)] w`` of each row ``w`` of the rotation, with ``g = G'`` and
    whitened coordinates ``z``, followed by the nearest rotation (``"parallel"``), or by orthogonalisation against the rows found before
    (``"deflation"``).

    A callable ``fun`` needs all rows in memory: those of a file or of a handle are read as a whole, and their whitened coordinates are held
    beside them. ``max_seconds``, ``callback``, ``checkpoint``, ``init`` and sample weights are refused with it, and so are rows held by
    remote workers.

    References
    ----------
    A. Hyvärinen (1999), Fast and robust fixed-point algorithms for independent component analysis. doi:10.1109/72.761722
    A. Hyvärinen & E. Oja (2000), Independent component analysis: algorithms and applications. doi:10.1016/S0893-6080(00)00026-5

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import FastICA
    >>> X = np.random.RandomState(0).laplace(size=(2000, 4))
    >>> FastICA(n_components=3, random_state=0).fit_transform(X).shape
    (2000, 3)
    """

    _method = "fastica"
    _derived = frozenset({"whitening_"})

    def _validate_params(self) -> None:
        super()._validate_params()
        alpha = (self.fun_args or {}).get("alpha", 1.0)
        allowed = self._fun_args_alpha
        if not callable(self.fun) and not allowed.is_satisfied_by(alpha):
            # scikit-learn's message, which its tests expect.
            raise ValueError(f"alpha must be in [{allowed.left:g},{allowed.right:g}]")

    def _check(self, rows: Any) -> None:
        if not self.whiten and self.n_components is not None:
            warn("Ignoring n_components with whiten=False.")
        if _is_path(rows):
            return
        n, p = rows.shape
        if self.whiten and not isinstance(self.n_components, (Integral, type(None))):
            # The number of sources for a share of the variance is known only after the first pass.
            return
        k = p if not self.whiten else min(n, p) if self.n_components is None else self.n_components
        if self.whiten and k > min(n, p):
            k = min(n, p)
            warn(f"n_components is too large: it will be set to {k}")
        if self.w_init is not None and (shape := np.shape(dense(self.w_init))) != (k, k):
            raise ValueError(f"w_init has invalid shape -- should be {(k, k)}; it is {shape}")

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        if callable(self.fun):
            # The result of a callable is passed as a start from which no step is taken.
            settings |= {"fun": "logcosh", "fun_args": None, "max_iter": 0, "w_init": start(vars(self)["_start"])}
        elif self.fun != "logcosh":
            settings["fun_args"] = None
        elif self.fun_args:
            # Numbers of numpy have no form in JSON.
            settings["fun_args"] = {name: value.item() if isinstance(value, np.generic) else value for name, value in self.fun_args.items()}
        if not self.whiten:
            settings["n_components"] = None
        return settings

    def _fit(self, X: Any, sample_weight: Any = None, targets: None = None) -> tuple[Any, int]:
        if not callable(self.fun):
            return super()._fit(X, sample_weight)
        if sample_weight is not None:
            raise ValueError(
                "fastica of rows with weights is not possible with a callable fun: its mean over the rows ignores the weights; choose one of "
                "'logcosh', 'exp', 'cube' and 'skew', leave the weights out, or repeat rows"
            )
        given = [name for name in ("checkpoint", "init", "callback", "max_seconds") if getattr(self, name) is not None]
        if given:
            raise ValueError(
                f"{' and '.join(given)} cannot be used with a callable fun, whose iterations support no checkpoint, init, callback or "
                f"max_seconds; choose one of 'logcosh', 'exp', 'cube' and 'skew', or leave {' and '.join(given)} out"
            )
        with self._kept_on_error():
            try:
                vars(self).update(_start=None, _ended=None)
                seed = self._seed()
                with warnings.catch_warnings():
                    # Repeated by the second fit.
                    warnings.simplefilter("ignore")
                    rows, _ = super()._fit(X)
                rotation, n_iter, converged, change = self._by_callable(np.asarray(dense(rows)), seed)
                # The rows of the rotation of whitened coordinates, in arbitrary order and with arbitrary signs.
                vars(self).update(_start=rotation, _ended=(n_iter, converged, change))
                return super()._fit(X)
            finally:
                vars(self).pop("_start", None)

    def _fit_shards(self, shape: tuple[int, int], dtype: str, gather_all: Callable[[bytes], Iterable[bytes]], sparse: bool) -> None:
        if callable(self.fun):
            raise ValueError(
                "fastica with a callable fun takes the rows themselves, and these are held by remote workers; choose one of 'logcosh', 'exp', 'cube' and "
                "'skew', or load the rows on this machine"
            )
        super()._fit_shards(shape, dtype, gather_all, sparse)

    def _by_callable(self, rows: Array, seed: int) -> tuple[Array, int, bool, float | None]:
        """Rows of the rotation estimated with a callable, the number of iterations, whether it converged, and the last change."""
        if self.whiten:
            z = ((rows - self.mean_) @ (self.rotation_ / self.scale_) * self._signs()).T
        else:
            z = rows.T.astype(self.mean_.dtype, copy=False)
        fun: Any = self.fun
        k, args = len(z), self.fun_args or {}
        first = np.random.RandomState(seed).normal(size=(k, k)) if self.w_init is None else np.asarray(dense(self.w_init))
        first = first.astype(z.dtype)

        def g(y: Array) -> tuple[Array, Array]:
            found = fun(y, **args)
            if not isinstance(found, tuple) or len(found) != 2 or np.shape(found[0]) != y.shape or np.shape(found[1]) != y.shape[:-1]:
                raise ValueError(
                    f"fun={fun!r} is not possible: it must return two arrays, g(x) of the shape of x and the mean of g'(x) over the "
                    "last axis"
                )
            values, slope = found
            return values, slope

        if self.algorithm == "parallel":
            return symmetric(z, g, first, self.max_iter, self.tol)
        return deflation(z, g, first, self.max_iter, self.tol)

    def _signs(self) -> Array:
        """Signs of the axes of whitened coordinates, relative to those of ``rotation_``: as in scikit-learn, no first entry is negative."""
        return np.where(self.rotation_[0] < 0, -1, 1)

    def _adopt(self, model: _unmix.Model) -> None:
        ended: tuple[int, bool, float | None] | None = vars(self).get("_ended")
        if ended is not None:
            # The fit took no step: the outcome is that of the search that found its start.
            name = getattr(self.fun, "__name__", type(self.fun).__name__)
            given = {"fun": name, "max_iter": int(self.max_iter), "w_init": start(self.w_init)}
            model = model.searched(*ended, json.dumps(given))
        super()._adopt(model)
        attributes = vars(self)
        attributes.pop("whitening_", None)
        if "scale_" in attributes:
            root = np.sqrt(model.end[3])
            attributes["whitening_"] = fixed((self.rotation_ / self.scale_ / root * self._signs()).T.astype(self.mean_.dtype, copy=False))

    def _forget(self) -> None:
        super()._forget()
        vars(self).pop("whitening_", None)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("whitening_", "_ended")}

    def _warn(self) -> None:
        if callable(self.fun) and vars(self).pop("_ended", None) is None:
            return
        if not self._model.end[1]:
            early = self._model.end[0] == "interrupted"
            advice = "It was interrupted: init=<this estimator> continues." if early else "Consider increasing tolerance or the maximum number of iterations."
            warn(f"FastICA did not converge. {advice}", ConvergenceWarning)
        k, rank = self._model.n_components, self._model.end[2]
        if self.whiten_solver == "eigh" and rank is not None and rank < min(self._model.end[3], self.n_features_in_):
            warn(
                "There are some small singular values, using whiten_solver = 'svd' might lead to more accurate results; directions "
                f"with such singular values were left out, and {counted(k, 'source')} {'is' if k == 1 else 'are'} kept"
            )
        for sentence in self._doubts():
            warn(sentence)

    @property
    def _unmixing(self) -> Array:
        """The unmixing matrix to apply after ``whitening_``."""
        check_is_fitted(self)
        root = np.sqrt(self._model.end[3]) * self._signs() if "scale_" in vars(self) else 1.0
        return (self.second_rotation_.T * root).astype(self.mean_.dtype, copy=False)

    def transform(self, X: Rows, copy: bool = True) -> Array:
        """Return the sources of rows.

        Sources are ``(X - mean_) @ components_.T``, in the order of decreasing variance of their back-projection. Rows of a file are read
        block by block; the sources are held in memory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows with the columns that the model was fitted on.
        copy : bool, default=True
            Accepted for compatibility with scikit-learn; rows are never overwritten.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Sources, in the type of the rows.

        See Also
        --------
        inverse_transform : From sources back to rows.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import FastICA
        >>> X = np.random.RandomState(0).laplace(size=(2000, 4))
        >>> ica = FastICA(n_components=3, random_state=0).fit(X)
        >>> ica.transform(X).shape
        (2000, 3)
        """
        return super().transform(X)

    def inverse_transform(self, X: Rows, copy: bool = True) -> Array:
        """Return the rows of given sources: ``X @ mixing_.T + mean_``.

        Column ``j`` of ``mixing_`` is what one unit of source ``j`` adds to the columns. With fewer sources than columns the result is the
        part of the rows that the sources explain.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components), path or Files
            Sources.
        copy : bool, default=True
            Accepted for compatibility with scikit-learn; sources are never overwritten.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows, in the type of the sources.

        See Also
        --------
        transform : From rows to sources.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import FastICA
        >>> X = np.random.RandomState(0).laplace(size=(2000, 4))
        >>> ica = FastICA(n_components=3, random_state=0).fit(X)
        >>> ica.inverse_transform(ica.transform(X)).shape
        (2000, 4)
        """
        return super().inverse_transform(X)


def fastica(
    X: Rows,
    n_components: int | float | str | None = None,
    *,
    algorithm: Literal["parallel", "deflation"] = "parallel",
    whiten: Literal["unit-variance", "arbitrary-variance"] | Literal[False] = "unit-variance",
    fun: Literal["logcosh", "exp", "cube", "skew"] | Callable[..., Any] = "logcosh",
    fun_args: dict[str, Any] | None = None,
    max_iter: int = 200,
    tol: float = 0.0001,
    w_init: ArrayLike | None | str | PathLike[str] | Files = None,
    whiten_solver: Literal["svd", "eigh"] = "svd",
    random_state: int | np.random.RandomState | None = None,
    return_X_mean: bool = False,
    compute_sources: bool = True,
    return_n_iter: bool = False,
) -> list[Any]:
    """Run FastICA and return matrices, like scikit-learn's function of this name.

    It fits :class:`FastICA` and returns its matrices in place of the estimator; use the class to save the model, or to transform other
    rows. Unlike in scikit-learn, sources are in the order of decreasing variance of their back-projection, each with its canonical sign,
    and directions beyond the rank are left out.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    n_components : int, float or None, default=None
        Number of sources: a number, a share of the variance between 0 and 1, or None for the rank of the rows.
    algorithm : {"parallel", "deflation"}, default="parallel"
        Estimate all sources at once (``"parallel"``), or one after another (``"deflation"``).
    whiten : {"unit-variance", "arbitrary-variance"} or False, default="unit-variance"
        Variance of the sources: 1, or ``1 / n_samples``; False for data that are already whitened, from which no mean is then
        subtracted.
    fun : {"logcosh", "exp", "cube", "skew"} or callable, default="logcosh"
        Contrast function G used to measure non-Gaussianity. In Python also a callable: it gets an array, sources as rows, and
        returns g(x), the derivative of G, and the mean of g'(x) over the last axis; it is called in every iteration with a copy of
        all rows.
    fun_args : dict or None, default=None
        The parameter ``"alpha"`` of ``"logcosh"``, whose derivative is ``tanh(alpha x)``: from 1 to 2, None for 1. In Python also
        the arguments of a callable.
    max_iter : int, default=200
        Maximum number of iterations, for each source with ``"deflation"``.
    tol : float, default=0.0001
        Convergence tolerance: the largest ``1 - abs(<w_new, w_old>)`` over the rows of the rotation, about half the square of the
        angle.
    w_init : array-like of shape (n_components, n_components) or None, path or Files, default=None
        Initial unmixing matrix, in whitened coordinates along axes whose first entries are positive, as in scikit-learn; None for a
        random rotation.
    whiten_solver : {"svd", "eigh"}, default="svd"
        Accepted for compatibility with scikit-learn: the solver is chosen by the shape of the data, and singular values are used
        wherever a scatter matrix does not resolve all directions.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers, recorded in ``report_.seed``; None draws one from numpy's global state.
    return_X_mean : bool, default=False
        Whether to return the mean as well.
    compute_sources : bool, default=True
        Whether to return the sources, or None in their place.
    return_n_iter : bool, default=False
        Whether to return the number of iterations as well.

    Returns
    -------
    K : ndarray of shape (n_components, n_features) or None
        ``whitening_``; None with ``whiten=False``.
    W : ndarray of shape (n_components, n_components)
        Unmixing matrix of the whitened rows: sources are ``(X - mean) @ K.T @ W.T``.
    S : ndarray of shape (n_samples, n_components) or None
        The sources.
    X_mean : ndarray of shape (n_features,) or None
        Mean of the rows; None with ``whiten=False``. Only with ``return_X_mean``.
    n_iter : int
        Number of iterations. Only with ``return_n_iter``.

    See Also
    --------
    FastICA : The same as a class.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import fastica
    >>> K, W, S = fastica(np.random.RandomState(0).laplace(size=(2000, 4)), 3, random_state=0)
    >>> K.shape, W.shape, S.shape
    ((3, 4), (3, 3), (2000, 3))
    """
    ica = FastICA(
        n_components=n_components,
        algorithm=algorithm,
        whiten=whiten,
        fun=fun,
        fun_args=fun_args,
        max_iter=max_iter,
        tol=tol,
        w_init=w_init,
        whiten_solver=whiten_solver,
        random_state=random_state,
    )
    sources = ica.fit_transform(X) if compute_sources else None
    if not compute_sources:
        ica.fit(X)
    found: list[Any] = [ica.whitening_ if whiten else None, ica._unmixing, sources]
    if return_X_mean:
        found.append(ica.mean_ if whiten else None)
    if return_n_iter:
        found.append(ica.n_iter_)
    return found
