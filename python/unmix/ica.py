"""Independent component analysis."""

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, Options, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._base import Estimator, _is_path, tell


def _start(w_init):
    """A start as settings have it."""
    return None if w_init is None else np.asarray(w_init, dtype=np.float64).tolist()


class _Sources(Estimator):
    """What models of independent sources share."""

    def _settings(self):
        return {**super()._settings(), "w_init": _start(self.w_init)}

    def fit(self, X, y=None):
        """Look for sources of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows: an array of any layout and number type, a pandas or polars frame, or the path of a file, which is streamed.
            float32 is computed in float32, everything else in float64.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator. When fitting fails or is interrupted, it is as it was before.
        """
        return super().fit(X)

    def fit_transform(self, X, y=None):
        """Look for sources of rows and return them: ``fit(X).transform(X)``, to the bit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows, as for ``fit``.
        y : None
            Ignored.

        Returns
        -------
        sources : ndarray of shape (n_samples, n_components)
            Sources, in the type of the rows.
        """
        return super().fit_transform(X)

    def _tell_doubts(self):
        """Say what is doubtful about the sources, except that rows are few, which the report says."""
        for doubt in self.report_.warnings:
            if doubt.startswith("the rows vary along") or "cannot be told from Gaussian" in doubt:
                tell(doubt)


class ICA(_Sources):
    """Independent component analysis: sources that tell as little as possible about each other.

    Rows are ``x = mean_ + mixing_ @ s``: the parts ``s`` of which rows are mixed are found from the rows alone, up to order and
    sign, if they are independent and at most one of them is Gaussian. Sources have unit variance; ``mixing_`` carries the units.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of sources; between 0 and 1 the fewest directions that explain more than this share of the variance; None for as
        many as the rows have directions. Never more than these: what the rows do not span has no sources, and a warning says so.
    algorithm : {"picard", "fastica", "infomax", "easi"}, default="picard"
        ``"picard"`` by quasi-Newton steps, ``"fastica"`` by its fixed point, ``"infomax"`` by maximum likelihood with the logistic
        density, ``"easi"`` row by row. The page about ICA has the table of settings and the methods that they are.
    fun : {"logcosh", "exp", "cube", "skew", "tanh"}, default="logcosh"
        What tells a source from a Gaussian: in general, against outliers, by kurtosis, by skewness. ``"tanh"`` is ``"logcosh"``.
    ortho : bool, default=True
        For ``"picard"``: sources are exactly uncorrelated, a rotation of white coordinates. False for maximum likelihood over all
        invertible matrices.
    extended : bool or None, default=None
        Whether sources may be flat as well as heavy-tailed, each judged by what is seen of it. None: where ``ortho``.
    orthogonalization : {"symmetric", "deflation"}, default="symmetric"
        For ``"fastica"``: all sources at once, or one after another.
    whiten : "unit-variance" or False, default="unit-variance"
        Look for sources in white coordinates; False for rows that are white already, and then no direction is ever dropped.
    max_iter : int, default=500
        The most iterations; for ``"easi"`` the most passes.
    tol : float or None, default=None
        What the largest entry of the relative gradient may be at the end, the same for every algorithm; ``report_.residual`` is that
        entry. None: 1e-6 in float64, 1e-4 in float32.
    n_init : int, default=1
        Starts, of which the end that is furthest from Gaussian is taken.
    w_init : array-like of shape (n_components, n_components) or None, default=None
        Where the first search begins, in white coordinates; None for a random rotation.
    center : bool, default=True
        Subtract the mean.
    standardize : bool, default=False
        Divide every column by its standard deviation first (``noise_scale_``).
    order : {"variance", "kurtosis", "found"}, default="variance"
        What sources are ordered by: ``component_variance_``, their kurtosis, or as the solver found them.
    random_state : int, RandomState or None, default=None
        Where random draws begin; recorded in ``report_.seed``.
    verbose : {0, 1, 2}, default=0
        0 silent, 1 a progress bar, 2 a line for each step, on stderr.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        What encodes: ``transform(x) = (x - mean_) @ components_.T``.
    mixing_ : ndarray of shape (n_features, n_components)
        What decodes, and what each source looks like in the columns; the entry of largest magnitude of each is positive.
    component_variance_ : ndarray of shape (n_components,)
        Variance of what each source adds to the rows, summed over columns. With ``ortho=False`` these do not add up to the total.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    rotation_, scale_, second_rotation_ : ndarray
        ``components_.T = rotation_ @ diag(1 / scale_) @ second_rotation_``, the first two those of PCA; not with ``whiten=False``.
    noise_scale_ : ndarray of shape (n_features,)
        Standard deviation of each column; only with ``standardize=True``.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations, and numbers of sources, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them had one.
    report_ : Report
        How the fit went.

    References
    ----------
    Ablin, Cardoso & Gramfort 2018 (Picard). Hyvärinen 1999 (FastICA). Bell & Sejnowski 1995 (Infomax); Lee, Girolami & Sejnowski
    1999 (extended). Cardoso & Laheld 1996 (EASI).

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import ICA
    >>> from unmix.metrics import amari_distance
    >>> draw = np.random.RandomState(0)
    >>> sources, mixing = draw.laplace(size=(5000, 3)), draw.randn(3, 3)
    >>> ica = ICA().fit(sources @ mixing.T)
    >>> amari_distance(ica, mixing) < 0.03
    True
    """

    _method = "ica"

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="neither"), None],
        "algorithm": [StrOptions({"picard", "fastica", "infomax", "easi"})],
        "fun": [StrOptions({"logcosh", "exp", "cube", "skew", "tanh"})],
        "ortho": ["boolean"],
        "extended": ["boolean", None],
        "orthogonalization": [StrOptions({"symmetric", "deflation"})],
        "whiten": [StrOptions({"unit-variance"}), Options(bool, {False})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "w_init": ["array-like", None],
        "center": ["boolean"],
        "standardize": ["boolean"],
        "order": [StrOptions({"variance", "kurtosis", "found"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components=None,
        *,
        algorithm="picard",
        fun="logcosh",
        ortho=True,
        extended=None,
        orthogonalization="symmetric",
        whiten="unit-variance",
        max_iter=500,
        tol=None,
        n_init=1,
        w_init=None,
        center=True,
        standardize=False,
        order="variance",
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.fun = fun
        self.ortho = ortho
        self.extended = extended
        self.orthogonalization = orthogonalization
        self.whiten = whiten
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.w_init = w_init
        self.center = center
        self.standardize = standardize
        self.order = order
        self.random_state = random_state
        self.verbose = verbose

    def _warn(self):
        super()._warn()
        self._tell_doubts()

    def inverse_transform(self, X, exclude=None):
        """Return the rows that sources stand for: ``X @ mixing_.T + mean_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components), or path
            Sources.
        exclude : sequence of int, optional
            Sources that count as 0.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Rows, in the type of the sources.
        """
        if exclude is None:
            return super().inverse_transform(X)
        check_is_fitted(self)
        sources = np.array(_read(X))
        sources[:, self._excluded(exclude)] = 0
        return super().inverse_transform(sources)

    def remove(self, X, exclude):
        """Return rows without the part of some sources; everything else in them, also what no source explains, stays as it is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows.
        exclude : sequence of int
            Sources to take out.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            ``X - transform(X)[:, exclude] @ mixing_[:, exclude].T``.
        """
        check_is_fitted(self)
        excluded = self._excluded(exclude)
        rows = self._rows(_read(X))
        sources = self.transform(rows)
        rows = np.asarray(rows, dtype=sources.dtype)
        return rows - sources[:, excluded] @ self.mixing_[:, excluded].T.astype(sources.dtype, copy=False)

    def _excluded(self, exclude):
        chosen, k = np.atleast_1d(np.asarray(exclude, dtype=np.int64)), self.n_components_
        if chosen.size and (chosen.min() < -k or chosen.max() >= k):
            raise ValueError(f"exclude={exclude!r} is not possible: the model has {k} sources, which count from 0; name some of these")
        return chosen

    def match(self, reference, X=None):
        """Return the correlation of every source with reference channels, as of the eyes or the heart.

        Parameters
        ----------
        reference : int, str, or a list of them; or array-like of shape (n_samples,) or (n_samples, n_references)
            Columns that the model was fitted on, by number or name; or with ``X``, channels recorded beside it.
        X : array-like of shape (n_samples, n_features), or path, optional
            Rows of the same samples as the reference.

        Returns
        -------
        correlation : ndarray of shape (n_components, n_references)
            Without ``X`` within what the model keeps of the columns it was fitted on.
        """
        check_is_fitted(self)
        if X is not None:
            sources, channels = self.transform(X), np.asarray(_read(reference), dtype=np.float64)
            return _correlations(sources, channels.reshape(len(channels), -1))
        columns = [self._column(name) for name in ([reference] if isinstance(reference, (str, Integral)) else reference)]
        # Sources are uncorrelated and of variance 1 where they are a rotation of white coordinates.
        second = np.eye(self.n_components_)
        if "scale_" in vars(self):
            second = self.second_rotation_.T @ self.second_rotation_
        shared = np.asarray(self.mixing_, dtype=np.float64)[columns] @ second
        size = np.sqrt(np.sum(shared * self.mixing_[columns], axis=1))
        with np.errstate(invalid="ignore", divide="ignore"):
            found = shared.T / np.sqrt(np.diag(second))[:, None] / size
        return np.where(np.isfinite(found), found, 0.0)

    def _column(self, name):
        if isinstance(name, Integral) and 0 <= name < self.n_features_in_:
            return int(name)
        names = list(vars(self).get("feature_names_in_", ()))
        if name in names:
            return names.index(name)
        raise ValueError(
            f"reference={name!r} is not possible: it is no column that the model was fitted on; give one, or an array and X"
        )


class FastICA(_Sources):
    """FastICA, as scikit-learn has it: parameters, attributes, warnings and iterations are those of its class of this name.

    :class:`ICA` has more algorithms, one scale of tolerances, and never takes a step that makes things worse.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of sources; None for as many as the rows have directions.
    algorithm : {"parallel", "deflation"}, default="parallel"
        All sources at once, or one after another.
    whiten : {"unit-variance", "arbitrary-variance"} or False, default="unit-variance"
        How large sources are: variance 1, or ``1 / n_samples``; False for rows that are white already, whose mean then stays.
    fun : {"logcosh", "exp", "cube", "skew"} or callable, default="logcosh"
        What tells a source from a Gaussian. A callable gets an array, sources as rows, and returns the values of its function and the
        mean over the last axis of its slope; it is called by Python for every iteration, on all rows at once, in a copy of them.
    fun_args : dict or None, default=None
        Arguments of the callable, or ``alpha`` of ``"logcosh"``, from 1 to 2.
    max_iter : int, default=200
        The most iterations, for each source where they come one by one.
    tol : float, default=1e-4
        What ``1 - |<w, w before>|`` may be for every row of the rotation at the end.
    w_init : array-like of shape (n_components, n_components) or None, default=None
        Where the search begins; None for a random rotation.
    whiten_solver : {"svd", "eigh"}, default="svd"
        Accepted for scikit-learn's sake: the spectrum is found by the shape of the rows, and by singular values wherever a scatter
        matrix does not see all directions.
    random_state : int, RandomState or None, default=None
        Where random draws begin; recorded in ``report_.seed``.
    verbose : {0, 1, 2}, default=0
        0 silent, 1 a progress bar, 2 a line for each step, on stderr.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        What encodes: ``transform(x) = (x - mean_) @ components_.T``.
    mixing_ : ndarray of shape (n_features, n_components)
        What decodes: the pseudo-inverse of ``components_``.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows; zeros with ``whiten=False``.
    whitening_ : ndarray of shape (n_components, n_features)
        What makes rows white, up to ``sqrt(n_samples)``; not with ``whiten=False``.
    component_variance_ : ndarray of shape (n_components,)
        Variance of what each source adds to the rows; sources are in this order.
    n_iter_, n_features_in_ : int
        Iterations (the most for any source where they come one by one), and number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them had one.
    report_ : Report
        How the fit went.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import FastICA
    >>> X = np.random.RandomState(0).laplace(size=(2000, 4))
    >>> FastICA(n_components=3, random_state=0).fit_transform(X).shape
    (2000, 3)
    """

    _method = "fastica"

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "algorithm": [StrOptions({"parallel", "deflation"})],
        "whiten": [StrOptions({"arbitrary-variance", "unit-variance"}), Options(bool, {False})],
        "fun": [StrOptions({"logcosh", "exp", "cube", "skew"}), callable],
        "fun_args": [dict, None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "w_init": ["array-like", None],
        "whiten_solver": [StrOptions({"eigh", "svd"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components=None,
        *,
        algorithm="parallel",
        whiten="unit-variance",
        fun="logcosh",
        fun_args=None,
        max_iter=200,
        tol=1e-4,
        w_init=None,
        whiten_solver="svd",
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.whiten = whiten
        self.fun = fun
        self.fun_args = fun_args
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.whiten_solver = whiten_solver
        self.random_state = random_state
        self.verbose = verbose

    def _check(self, rows):
        if not callable(self.fun) and not 1 <= (self.fun_args or {}).get("alpha", 1.0) <= 2:
            raise ValueError("alpha must be in [1,2]")
        if not self.whiten and self.n_components is not None:
            tell("Ignoring n_components with whiten=False.")
        if _is_path(rows):
            return
        n, p = rows.shape
        k = p if not self.whiten else min(n, p) if self.n_components is None else self.n_components
        if self.whiten and k > min(n, p):
            k = min(n, p)
            tell(f"n_components is too large: it will be set to {k}")
        if self.w_init is not None and np.shape(self.w_init) != (k, k):
            raise ValueError(f"w_init has invalid shape -- should be {(k, k)}; it is {np.shape(self.w_init)}")

    def _settings(self):
        settings = super()._settings()
        if callable(self.fun):
            # What a callable has found is handed over as a start from which no step is taken.
            settings |= {"fun": "logcosh", "fun_args": None, "max_iter": 0, "w_init": _start(self._start)}
        elif self.fun != "logcosh":
            settings["fun_args"] = None
        if not self.whiten:
            settings["n_components"] = None
        return settings

    def _fit(self, X, sample_weight=None):
        if not callable(self.fun):
            return super()._fit(X, sample_weight)
        before = vars(self).copy()
        try:
            self._start, self._ended = None, None
            seed = self._seed()
            with warnings.catch_warnings():
                # Said again by the second fit.
                warnings.simplefilter("ignore")
                rows = super()._fit(X, sample_weight)
            rotation, n_iter, converged = self._by_callable(np.asarray(_read(rows)), seed)
            # The rows of the rotation in white coordinates, whatever their order and signs are now.
            self._start, self._ended = rotation, (n_iter, converged)
            return super()._fit(X, sample_weight)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        finally:
            vars(self).pop("_start", None)

    def _by_callable(self, rows, seed):
        """Rows of the rotation that a callable finds, the number of iterations, and whether these sufficed."""
        if self.whiten:
            z = ((rows - self.mean_) @ (self.rotation_ / self.scale_)).T
        else:
            z = rows.T.astype(self.mean_.dtype, copy=False)
        k, args = len(z), self.fun_args or {}
        start = np.random.RandomState(seed).normal(size=(k, k)) if self.w_init is None else np.asarray(self.w_init)
        start = start.astype(z.dtype)

        def g(y):
            found = self.fun(y, **args)
            if not isinstance(found, tuple) or len(found) != 2 or np.shape(found[0]) != y.shape or np.shape(found[1]) != y.shape[:-1]:
                raise ValueError(
                    f"fun={self.fun!r} is not possible: it has to return two arrays, its values and the mean over the last axis of "
                    "its slope"
                )
            return found

        if self.algorithm == "parallel":
            return _symmetric(z, g, start, self.max_iter, self.tol)
        return _deflation(z, g, start, self.max_iter, self.tol)

    def _adopt(self, model):
        super()._adopt(model)
        attributes = vars(self)
        attributes.pop("whitening_", None)
        if "scale_" in attributes:
            root = np.sqrt(model.end[3])
            attributes["whitening_"] = (self.rotation_ / self.scale_ / root).T.astype(self.mean_.dtype, copy=False)

    def _forget(self):
        super()._forget()
        vars(self).pop("whitening_", None)
        vars(self).pop("n_iter_", None)

    def __getstate__(self):
        state = super().__getstate__()
        if isinstance(state, dict):
            state = {name: value for name, value in state.items() if name not in ("whitening_", "_ended")}
        return state

    def _warn(self):
        ended = vars(self).pop("_ended", None)
        if callable(self.fun) and ended is None:
            return
        if ended is not None:
            self.n_iter_ = ended[0]
        converged = self._model.end[1] if ended is None else ended[1]
        if not converged:
            tell(
                "FastICA did not converge. Consider increasing tolerance or the maximum number of iterations.",
                ConvergenceWarning,
            )
        k, rank = self._model.n_components, self._model.end[2]
        if self.whiten_solver == "eigh" and rank is not None and rank < min(self._model.end[3], self.n_features_in_):
            tell(
                "There are some small singular values, using whiten_solver = 'svd' might lead to more accurate results; ours have "
                f"been left out, and {k} sources are kept"
            )
        self._tell_doubts()

    @property
    def _unmixing(self):
        """What unmixes the rows after ``whitening_``."""
        check_is_fitted(self)
        root = np.sqrt(self._model.end[3]) if "scale_" in vars(self) else 1.0
        return (self.second_rotation_.T * root).astype(self.mean_.dtype, copy=False)

    def transform(self, X, copy=True):
        """Return the sources of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows with the columns that the model was fitted on.
        copy : bool, default=True
            Accepted for scikit-learn's sake; rows are never overwritten.

        Returns
        -------
        sources : ndarray of shape (n_samples, n_components)
            Sources, in the type of the rows.
        """
        return super().transform(X)

    def inverse_transform(self, X, copy=True):
        """Return the rows that sources stand for: ``X @ mixing_.T + mean_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components), or path
            Sources.
        copy : bool, default=True
            Accepted for scikit-learn's sake; sources are never overwritten.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Rows, in the type of the sources.
        """
        return super().inverse_transform(X)


def fastica(
    X,
    n_components=None,
    *,
    algorithm="parallel",
    whiten="unit-variance",
    fun="logcosh",
    fun_args=None,
    max_iter=200,
    tol=1e-4,
    w_init=None,
    whiten_solver="svd",
    random_state=None,
    return_X_mean=False,
    compute_sources=True,
    return_n_iter=False,
):
    """Run FastICA and return matrices, as scikit-learn's function of this name does.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    n_components, algorithm, whiten, fun, fun_args, max_iter, tol, w_init, whiten_solver, random_state
        Those of :class:`FastICA`.
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
        What unmixes the rows after K: sources are ``(X - mean) @ K.T @ W.T``.
    S : ndarray of shape (n_samples, n_components) or None
        The sources.
    X_mean : ndarray of shape (n_features,) or None
        With ``return_X_mean``.
    n_iter : int
        With ``return_n_iter``.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import fastica
    >>> K, W, S = fastica(np.random.RandomState(0).laplace(size=(2000, 4)), 3, random_state=0)
    >>> K.shape, W.shape, S.shape
    ((3, 4), (3, 3), (2000, 3))
    """
    ica = FastICA(
        n_components,
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
    sources = ica.fit_transform(X) if compute_sources else ica.fit(X) and None
    found = [ica.whitening_ if whiten else None, ica._unmixing, sources]
    if return_X_mean:
        found.append(ica.mean_ if whiten else None)
    if return_n_iter:
        found.append(ica.n_iter_)
    return found


def _read(X):
    """An array, read from a file where it is a path."""
    if _is_path(X):
        from ._read import read

        return read(X)
    return X


def _correlations(a, b):
    if len(a) != len(b):
        raise ValueError(f"reference has {len(b)} rows and X has {len(a)}; give channels of the same samples")
    a, b = (np.asarray(m, dtype=np.float64) - np.mean(m, axis=0, dtype=np.float64) for m in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = a.T @ b / np.linalg.norm(a, axis=0)[:, None] / np.linalg.norm(b, axis=0)
    return np.where(np.isfinite(found), found, 0.0)


def _rotation(m):
    u, _, v = np.linalg.svd(m)
    return u @ v


def _moved(new, old):
    """``1 - |<new, old>|`` of unit rows, without its cancellation."""
    sign = np.where(np.sum(new * old, axis=-1, keepdims=True) < 0, -1, 1)
    return float(np.max(0.5 * np.sum((new - sign * old) ** 2, axis=-1)))


def _symmetric(z, g, start, max_iter, tol):
    w = _rotation(start)
    for n_iter in range(1, max_iter + 1):
        values, slope = g(w @ z)
        new = _rotation(values @ z.T / z.shape[1] - np.asarray(slope)[:, None] * w)
        moved, w = _moved(new, w), new
        if moved < tol:
            return w, n_iter, True
    return w, max_iter, False


def _deflation(z, g, start, max_iter, tol):
    found, most, converged = np.zeros((0, len(z)), dtype=z.dtype), 0, True
    for w in start:
        w = w / np.linalg.norm(w)
        for n_iter in range(1, max_iter + 1):
            values, slope = g(w @ z)
            new = z @ values / z.shape[1] - slope * w
            for _ in range(2):
                new = new - found.T @ (found @ new)
            new = new / np.linalg.norm(new)
            moved, w = _moved(new, w), new
            if moved < tol:
                break
        else:
            converged = False
        most, found = max(most, n_iter), np.vstack([found, w])
    return found, most, converged

