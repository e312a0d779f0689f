"""Independent component analysis."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, Options, RealNotInt, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._components import chosen, in_frame
from ._options import RUN_OPTIONS
from ._sources import Sources, read
from ._threads import threads_here


def _learns_row_by_row(ica):
    """Whether ``partial_fit`` exists: all algorithms but EASI need all rows at once."""
    if ica.algorithm == "easi":
        return True
    raise AttributeError(f"partial_fit needs algorithm='easi', got {ica.algorithm!r}: it needs all rows at once")


class ICA(Sources):
    """Independent component analysis: sources that tell as little as possible about each other.

    Rows are ``x = mean_ + mixing_ @ s``: the parts ``s`` of which rows are mixed are found from the rows alone, up to order and
    sign, if they are independent and at most one of them is Gaussian. Sources have unit variance; ``mixing_`` carries the units.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of sources; between 0 and 1 the fewest directions that explain more than this share of the variance; None for as
        many as the rows have directions. Never more than these: what the rows do not span has no sources, and a warning says so.
    algorithm : {"picard", "fastica", "infomax", "easi", "sigma-pca"}, default="picard"
        ``"picard"`` by quasi-Newton steps, ``"fastica"`` by its fixed point, ``"infomax"`` by maximum likelihood with the logistic
        density, ``"easi"`` row by row in random orders, then by the mean of its step, ``"sigma-pca"`` by two layers of it. The page about ICA has the table of settings and the methods that they are.
    fun : {"logcosh", "exp", "cube", "skew", "tanh", "adaptive"}, default="logcosh"
        Contrast function G used to measure non-Gaussianity: in general, with outliers, kurtosis, skewness. ``"tanh"`` is ``"logcosh"``.
        ``"adaptive"`` begins with ``"logcosh"`` and goes on by contrasts that are fitted to each source: the nearest to the truth where
        there are some thousand rows, most of all with ``ortho=False``.
    ortho : bool, default=True
        For ``"picard"``: sources are exactly uncorrelated, a rotation of white coordinates. False for maximum likelihood over all
        invertible matrices.
    extended : bool or None, default=None
        Whether sources may be flat as well as heavy-tailed, each judged by what is seen of it. None: where ``ortho``, and with ``"easi"``.
    orthogonalization : {"symmetric", "deflation"}, default="symmetric"
        For ``"fastica"``: all sources at once, or one after another.
    first_layer : {"pca", "sigma-pca"}, default="pca"
        For ``"sigma-pca"``: the first layer, linear PCA, or sigma-PCA followed by whitening.
    whiten : "unit-variance" or False, default="unit-variance"
        Whiten the data first; False for data that are already whitened, and then no direction is ever dropped.
    max_iter : int, default=500
        Maximum number of iterations; for ``"easi"`` of full passes over the data.
    tol : float or None, default=None
        What the largest entry of the relative gradient may be at the end, the same for every algorithm; ``report_.residual`` is that
        entry. None: 1e-6 in float64, 1e-4 in float32.
    n_init : int, default=1
        Number of random starts; the end that is furthest from Gaussian is taken, or by maximum likelihood (``ortho=False``,
        ``"infomax"``) the likeliest.
    w_init : array-like of shape (n_components, n_components) or None, default=None
        Initial unmixing matrix, in whitened coordinates; None for a random rotation.
    subsample : int or None, default=None
        Rows that a search over rotations begins on, spread evenly; the last steps and the residual are of all rows. None: enough of
        them with ``"picard"`` where there are three times as many. 0: all rows from the start.
    center : bool, default=True
        Subtract the mean.
    standardize : bool, default=False
        Divide every column by its standard deviation first (``noise_scale_``).
    order : {"variance", "kurtosis", "found"}, default="variance"
        What sources are ordered by: ``component_variance_``, their kurtosis, or as the solver found them.
    random_state : int, RandomState or None, default=None
        Where random draws begin; recorded in ``report_.seed``.
    max_seconds : float or None, default=None
        After how many seconds to stop with what has been reached; ``report_.outcome`` is then ``"time"``.
    checkpoint : path or None, default=None
        A file that the state of the iterations is written to while the fit runs, so that a fit that was killed can go on; removed when
        the fit is done, kept where ``max_seconds`` ended it.
    checkpoint_every : float, default=60.0
        Seconds between two writes.
    resume : bool, default=False
        Go on from what ``checkpoint`` holds, to the bits of a fit that was not interrupted; where there is no such file, begin anew.
        A checkpoint of other rows, settings or seed is refused.
    init : fitted estimator, path or None, default=None
        A model to start from in place of the method's own start: its unmixing matrix.
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
    stream_ : ndarray
        What ``partial_fit`` goes on from; only after it.
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
        "algorithm": [StrOptions({"picard", "fastica", "infomax", "easi", "sigma-pca"})],
        "fun": [StrOptions({"logcosh", "exp", "cube", "skew", "tanh", "adaptive"})],
        "ortho": ["boolean"],
        "extended": ["boolean", None],
        "orthogonalization": [StrOptions({"symmetric", "deflation"})],
        "first_layer": [StrOptions({"pca", "sigma-pca"})],
        "whiten": [StrOptions({"unit-variance"}), Options(bool, {False})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "w_init": ["array-like", None],
        "subsample": [Interval(Integral, 0, None, closed="left"), None],
        "center": ["boolean"],
        "standardize": ["boolean"],
        "order": [StrOptions({"variance", "kurtosis", "found"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        **RUN_OPTIONS,
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
        first_layer="pca",
        whiten="unit-variance",
        max_iter=500,
        tol=None,
        n_init=1,
        w_init=None,
        subsample=None,
        center=True,
        standardize=False,
        order="variance",
        random_state=None,
        max_seconds=None,
        checkpoint=None,
        checkpoint_every=60.0,
        resume=False,
        init=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.fun = fun
        self.ortho = ortho
        self.extended = extended
        self.orthogonalization = orthogonalization
        self.first_layer = first_layer
        self.whiten = whiten
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.w_init = w_init
        self.subsample = subsample
        self.center = center
        self.standardize = standardize
        self.order = order
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self.init = init
        self.verbose = verbose

    def _warn(self):
        super()._warn()
        self._tell_doubts()

    @available_if(_learns_row_by_row)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None):
        """Learn from rows as they come, each a step of EASI in its order; only with ``algorithm="easi"``.

        However a stream is cut into batches, the result is the same to the bit. Rows are not whitened first, since the rule makes sources
        uncorrelated and of variance 1 by itself; so there are as many sources as columns. The mean is a running mean. Steps become shorter
        as rows are seen, ``5e-3 / (1 + t / 5000)`` after ``t`` rows, so that sources fluctuate less and less: after 20000 rows by about
        0.03. After ``fit`` learning goes on from the sources found, with steps of ``t = 100000`` or later.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows, as for ``fit``, of any number from 1. The type of the first batch is that of the model.
        y : None
            Ignored.

        Returns
        -------
        self : object
            With the sources learnt so far. ``stream_`` holds what learning goes on from, and ``save`` and pickles keep it;
            ``report_.residual`` is the largest entry of the running mean of the step. When a batch fails, nothing of it is learnt.
        """
        before = vars(self).copy()
        try:
            model = before.get("_model")
            rows = self._rows(X, reset=model is None, min_samples=1)
            facts = (self._seed(), threads_here(), int(self.verbose))
            learnt = _unmix.partial_fit(self._method, self._settings_as_json(), model, rows, facts, self._names(rows))
            self._forget()
            self._adopt(learnt)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        self._tell_doubts()
        return self

    def inverse_transform(self, X, exclude=None):
        """Return the rows that sources stand for: ``X @ mixing_.T + mean_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components), or path
            Sources.
        exclude : int, str, sequence of these, or boolean mask of shape (n_components,), optional
            Sources that count as 0: by number from 0 (negative numbers count from the end), by name (``"ica0"``), or where a mask is
            True. However often one is named, it counts once.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Rows, in the type of the sources.
        """
        if exclude is None:
            return super().inverse_transform(X)
        check_is_fitted(self)
        sources = np.array(read(X))
        sources[:, chosen(self._model, "exclude", exclude)] = 0
        return super().inverse_transform(sources)

    def remove(self, X, exclude):
        """Return rows without the part of some sources; everything else in them, also what no source explains, stays as it is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path
            Rows.
        exclude : int, str, sequence of these, or boolean mask of shape (n_components,)
            Sources to take out, as for ``inverse_transform``.

        Returns
        -------
        rows : ndarray or data frame of shape (n_samples, n_features)
            ``X - transform(X)[:, exclude] @ mixing_[:, exclude].T``, a frame with the columns of ``X`` where ``set_output`` asks for one.
        """
        check_is_fitted(self)
        excluded = chosen(self._model, "exclude", exclude)
        given, X = X, read(X)
        rows = self._rows(X)
        sources = self._model.encode(rows, self._facts())
        rows = np.asarray(rows, dtype=sources.dtype)
        cleaned = rows - sources[:, excluded] @ self.mixing_[:, excluded].T.astype(sources.dtype, copy=False)
        return in_frame(self, cleaned, given)

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
            sources = self._model.encode(self._rows(X), self._facts())
            channels = np.asarray(read(reference), dtype=np.float64)
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


def _correlations(a, b):
    if len(a) != len(b):
        raise ValueError(f"reference has {len(b)} rows and X has {len(a)}; give channels of the same samples")
    a, b = (np.asarray(m, dtype=np.float64) - np.mean(m, axis=0, dtype=np.float64) for m in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = a.T @ b / np.linalg.norm(a, axis=0)[:, None] / np.linalg.norm(b, axis=0)
    return np.where(np.isfinite(found), found, 0.0)
