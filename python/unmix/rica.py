"""Sparse features from which rows can be reconstructed."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from ._options import RUN_OPTIONS
from ._sources import Sources, start


class RICA(Sources):
    """Independent component analysis with reconstruction cost: sparse features, as many as one likes.

    Minimises the mean over rows of ``||W.T @ W @ z - z||**2 + beta * sum(g(W @ z))``, where ``z`` is a row in white coordinates
    (or as it is), so that the features ``W @ z`` are sparse and the row can be put together from them again. With as many features
    as directions it is ICA with a soft constraint; with more of them, a learner of features (an overcomplete basis).

    Parameters
    ----------
    n_components : int or None, default=None
        How many features to learn, more than there are columns if you like; None for as many as there are directions.
    beta : float or "auto", default="auto"
        The weight of sparsity against reconstruction, ``1 / lambda`` of Le et al. ``"auto"`` is ``0.2 / g''(0)`` in white coordinates
        (0.2 for ``"logcosh"``, 0.02 for ``"smooth-l1"``); in others, rows are first divided by the root mean square of their entries
        (``data_scale_``), and it is the smaller of 0.1 times the mean length of a row and 0.6 times the standard deviation along the
        last principal direction that has a feature to itself.
    contrast : {"logcosh", "smooth-l1"}, default="logcosh"
        ``g``: ``log(cosh(y))``, or ``sqrt(y**2 + 0.01)``, which is nearer to ``abs(y)``.
    whiten : bool, default=True
        Look at rows in white coordinates, as many as the rows have directions; where rows are fewer than ten times that, as many as
        there are features, or a tenth of the rows with ``n_components=None``. False for the columns as they are.
    unit_norm : bool or "auto", default="auto"
        Keep every feature at length 1 (in the coordinates in which rows are seen). ``"auto"`` does where there are more features
        than directions, some of which would otherwise vanish.
    max_iter : int, default=1000
        Maximum number of iterations, without ``batch_size``.
    tol : float or None, default=None
        The largest entry of the gradient that ends the search, in units of the mean variance of a coordinate. None: 1e-6 in float64,
        1e-4 in float32.
    batch_size : int or None, default=None
        Rows of a batch: the search then takes five steps on each, and ends with the mean of where the last epoch's batches ended;
        ``report_.outcome`` is ``"completed"``. None: all rows at once.
    max_epochs : int, default=10
        Maximum number of epochs; without ``batch_size`` it has no effect.
    w_init : array-like of shape (n_components, n_features) or None, default=None
        Initial features, in the units of ``components_``. None for orthonormal features at random, or random ones where
        there are more of them than directions. A saved model does not keep it.
    center : bool, default=True
        Subtract the mean.
    standardize : bool, default=False
        Divide every column by its standard deviation first (``noise_scale_``).
    random_state : int, RandomState or None, default=None
        Where the random start begins; recorded in ``report_.seed``.
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
        A model to start from in place of the method's own start: its features.
    verbose : {0, 1, 2}, default=0
        0 silent, 1 a progress bar, 2 a line for each step, on stderr.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        What encodes: ``transform(x) = (x - mean_) @ components_.T``. Sorted by ``component_variance_``.
    mixing_ : ndarray of shape (n_features, n_components)
        What decodes, with the least squares: the pseudo-inverse of ``components_``. What each feature looks like in the columns; the
        entry of largest magnitude of each is positive.
    component_variance_ : ndarray of shape (n_components,)
        Variance of what each feature adds to the rows, summed over columns. They do not add up to the total.
    coherence_ : float
        The largest cosine between two features, without its sign, in the coordinates in which rows are seen: 1 when one is there
        twice.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    rotation_, scale_, second_rotation_ : ndarray
        ``components_.T = rotation_ @ diag(1 / scale_) @ second_rotation_``, the first two those of PCA; only where there are as many
        features as directions, and with ``whiten=True``.
    data_scale_ : float
        Root mean square of the centred entries, by which rows are divided first; only with ``whiten=False`` and ``beta="auto"``.
    noise_scale_ : ndarray of shape (n_features,)
        Standard deviation of each column, 1 where it does not vary; only with ``standardize=True``.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations, and numbers of features, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them had one.
    report_ : Report
        How the fit went; ``objective`` is the function after every iteration, and never rises.

    References
    ----------
    Q. V. Le, A. Karpenko, J. Ngiam & A. Y. Ng (2011), ICA with reconstruction cost for efficient overcomplete feature learning.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import RICA
    >>> draw = np.random.RandomState(0)
    >>> X = draw.laplace(size=(2000, 4)) @ draw.randn(4, 4)
    >>> rica = RICA(n_components=8, random_state=0).fit(X)
    >>> np.allclose(rica.inverse_transform(rica.transform(X)), X)
    True
    """

    _method = "rica"

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "beta": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "contrast": [StrOptions({"logcosh", "smooth-l1"})],
        "whiten": ["boolean"],
        "unit_norm": ["boolean", StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "w_init": ["array-like", None],
        "center": ["boolean"],
        "standardize": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        **RUN_OPTIONS,
    }

    def __init__(
        self,
        n_components=None,
        *,
        beta="auto",
        contrast="logcosh",
        whiten=True,
        unit_norm="auto",
        max_iter=1000,
        tol=None,
        batch_size=None,
        max_epochs=10,
        w_init=None,
        center=True,
        standardize=False,
        random_state=None,
        max_seconds=None,
        checkpoint=None,
        checkpoint_every=60.0,
        resume=False,
        init=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.beta = beta
        self.contrast = contrast
        self.whiten = whiten
        self.unit_norm = unit_norm
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.w_init = w_init
        self.center = center
        self.standardize = standardize
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self.init = init
        self.verbose = verbose

    def _settings(self):
        return {**super()._settings(), "w_init": start(self.w_init)}
