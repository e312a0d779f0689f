"""Principal components by rules that a single layer learns by."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from ._base import Estimator, registry
from ._options import RUN_OPTIONS, START


def _variants(method):
    """The keys of a method's published variants."""
    return [variant["key"] for variant in registry()[method]["variants"]]


#: Keys of the published rows of sigma-PCA, in their order.
SIGMA_VARIANTS = next(s["choices"] for s in registry()["sigma-pca"]["settings"] if s["name"] == "variant")


class NeuralPCA(Estimator):
    """Principal components by one of fourteen rules that a single linear layer learns by.

    ``unmix.variants("neural-pca")`` lists the rules: from autoencoder and subspace rule, which find the subspace only, to the
    generalised Hebbian algorithm and the weighted rules, which find axes by falling variance. Every rule needs only second
    moments, so by default rows are read once and the rule is followed to rest with full batches: no learning rate, no epochs.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to learn; None for all, ``min(n_samples, n_features)``.
    variant : str or int, default="gha"
        The rule, by its key or its number from 1 to 14.
    solver : {"auto", "sgd", "adam"}, default="auto"
        ``"auto"`` follows the rule to rest with full batches; ``"sgd"`` and ``"adam"`` take small batches of rows, as published,
        with a rate that falls to 0.
    init : {"random", "pca"}, fitted estimator or path, default="random"
        Where the rule begins: random orthonormal directions, or the principal axes, where most rules are at rest already.
    whiten : bool, default=False
        Divide codes by the standard deviation along each component.
    center : bool, default=True
        Subtract the mean; False finds the directions of the largest second moment about 0.
    max_iter : int, default=20000
        Steps with full batches at most. Axes whose variances are close, or much smaller than the first, need many.
    tol : float, default=1e-8
        The residual at which the rule counts as at rest: ``||G|| / ||C W||``, with its half-gradient ``G``.
    learning_rate : float, default=0.01
        Initial learning rate of ``"sgd"`` and ``"adam"``, for rows divided by the root of their mean square.
    batch_size : int, default=128
        Mini-batch size of ``"sgd"`` and ``"adam"``.
    max_epochs : int, default=20
        How often ``"sgd"`` and ``"adam"`` visit all rows.
    random_state : int, RandomState or None, default=None
        Where the random directions begin; recorded in ``report_.seed``.
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
    verbose : {0, 1, 2}, default=0
        0 silent, 1 a progress bar, 2 a line for each step, on stderr.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The weights as unit rows, sorted by the variance along them, the entry of largest magnitude of each positive.
    weights_ : ndarray of shape (n_features, n_components)
        The weights exactly as the rule left them: in its order, with its signs and lengths. Fewer columns where the rows have
        a smaller rank.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance along each component (divisor ``n_samples``), and its share of the total.
    scale_ : ndarray of shape (n_components,)
        Standard deviation along each component.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    mixing_ : ndarray of shape (n_features, n_components)
        What decodes: ``inverse_transform(y) = y @ mixing_.T + mean_``, the least-squares decoder.
    rotation_ : ndarray of shape (n_features, n_components)
        ``components_.T``.
    n_components_, n_samples_, n_features_in_ : int
        Numbers of components, rows, and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them had one.
    report_ : Report
        How the fit went; ``residual`` is ``||G|| / ||C W||``.

    Examples
    --------
    >>> from unmix import NeuralPCA
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = NeuralPCA(n_components=1, random_state=0).fit(X)
    >>> model.explained_variance_ratio_.round(4), model.report_.outcome
    (array([0.9924]), 'converged')
    """

    _method = "neural-pca"

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "variant": [StrOptions(set(_variants("neural-pca"))), Interval(Integral, 1, 14, closed="both")],
        "solver": [StrOptions({"auto", "sgd", "adam"})],
        "init": [StrOptions({"random", "pca"}), *START],
        "whiten": ["boolean"],
        "center": ["boolean"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 2, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        **{name: kinds for name, kinds in RUN_OPTIONS.items() if name != "init"},
    }

    def __init__(
        self,
        n_components=None,
        variant="gha",
        *,
        solver="auto",
        init="random",
        whiten=False,
        center=True,
        max_iter=20000,
        tol=1e-8,
        learning_rate=0.01,
        batch_size=128,
        max_epochs=20,
        random_state=None,
        max_seconds=None,
        checkpoint=None,
        checkpoint_every=60.0,
        resume=False,
        verbose=0,
    ):
        self.n_components = n_components
        self.variant = variant
        self.solver = solver
        self.init = init
        self.whiten = whiten
        self.center = center
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self.verbose = verbose


class SigmaPCA(Estimator):
    """Orthogonal components by variance and by independence: what PCA leaves in any rotation is told apart.

    Where variances differ and rows are Gaussian the components are PCA's. Where several sources have one variance, PCA returns any
    rotation of them; this finds the sources themselves, provided that they are not Gaussian and that the mixing is a rotation. Unlike
    independent component analysis it keeps orthonormal axes and the variances along them.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to find; None for all, ``min(n_samples, n_features)``.
    variant : str, int or None, default=None
        A published row, by its key or its number from 1 to 24; None for the deterministic solver.
    a : "auto", float or array-like of shape (n_components,), default="auto"
        The width of ``a tanh(z / a)``: about 0.8 for sub-Gaussian sources, 4 for super-Gaussian ones. ``"auto"`` chooses between
        the two for every component, by what its codes look like.
    h : {"tanh", "hard", "steep", "sign"} or None, default=None
        The nonlinearity: ``a tanh(z / a)``, ``z`` cut off at ``a``, ``a tanh(z)``, the sign of ``z``. None for the first, or
        for the variant's own.
    deriv : {"true", "one"} or None, default=None
        What stands for the derivative of ``h``: itself, or 1 (for super-Gaussian sources only). None for the first, or for the
        variant's own.
    sigma : {"batch", "ema", "train", "one"} or None, default=None
        Where trained solvers take standard deviations from; None for the covariance, or for the variant's own.
    constraint : {"orthonormal", "native"}, default="orthonormal"
        Strictly orthonormal components, or the published fixed point: unit columns, nearly orthogonal.
    beta : float or None, default=None
        Weight of a variant's further term: of orthogonality in rows 5, 6, 7, 14 and 17, of sparsity or independence in 19 to 23,
        of order in 24. None for the variant's own.
    beta_scale : {"variance", "absolute"} or None, default=None
        ``"variance"`` multiplies ``beta`` by the mean variance along the components where it weighs orthogonality, by the mean
        length of a row where it weighs sparsity, and by the root of the mean variance of the columns where it weighs order, so that
        units do not matter; ``"absolute"`` takes it as a number, as published. None for the first, and for the second where
        ``tangent=False``.
    sigma_l2 : float or None, default=None
        Weight of the squares of standard deviations that are learnt (``sigma="train"``), which grow without bound at 0. None for
        the variant's own, or 0.001.
    order : {"variance", "found"}, default="variance"
        Components by falling variance, or as they were found.
    solver : {"auto", "gpm", "sgd", "adam"}, default="auto"
        ``"gpm"`` takes polar steps, without a learning rate; ``"sgd"`` and ``"adam"`` follow stochastic gradients. ``"auto"`` is
        ``"gpm"`` for orthonormal components, a second-order solver for ``constraint="native"``, and a variant's own optimiser.
    learning_rate : float or None, default=None
        Initial learning rate of trained solvers; None for 0.01.
    batch_size : int or None, default=None
        Mini-batch size of trained solvers; None for 128.
    max_epochs : int or None, default=None
        Maximum number of epochs of trained solvers; None for 3, or as many as make 3000 steps.
    max_iter : int, default=1000
        Iterations of the deterministic solvers at most, each a pass over the rows.
    tol : float or None, default=None
        The residual at which they stop; None for 1e-8 in double precision and 1e-4 in single.
    tangent : bool, default=True
        Trained solvers remove from gradients what would only change the length of columns, without which adaptive steps are
        biased.
    center : bool, default=True
        Subtract the mean; False for the variant of the method about 0.
    standardize : bool, default=False
        Divide every column by its standard deviation first (``noise_scale_``), so that none counts more for its unit.
    whiten : bool, default=False
        Divide codes by the standard deviation along each component.
    reconstruct : {"linear", "nonlinear"}, default="linear"
        What ``inverse_transform`` makes of codes: the nearest rows by least squares, or those of the model itself,
        ``mean_ + scale_ * h(y / scale_) @ components_``.
    halves : bool or None, default=None
        Fit two disjoint halves of the rows as well and report in ``report_.halves`` how far their components agree, for about the
        time of one more fit; None where that takes about a second at most.
    random_state : int, RandomState or None, default=None
        Where random draws begin, of which the deterministic solvers make none; recorded in ``report_.seed``.
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
        A model to start from in place of the method's own start: its components.
    verbose : {0, 1, 2}, default=0
        0 silent, 1 a progress bar, 2 a line for each iteration, on stderr.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes: unit rows, sorted by the variance along them, the entry of largest magnitude of each positive.
    resolved_ : ndarray of bool of shape (n_components,)
        Whether a component is told apart from all others by more than its variance, halves of the rows agree about it, and sampling
        turned it by less than 18 degrees from where all rows there could be would put it: of 100 models at most one has a component
        for which that is said and wrong. ``report_.warnings`` says why not, where not.
    separation_ : ndarray of shape (n_components,)
        The smallest pair coefficient of each with any other, in units of the larger variance squared: negative where the two are
        mixed.
    seeking_ : ndarray of shape (n_components,)
        How strongly each is drawn to variance: negative where it is.
    a_ : ndarray of shape (n_components,)
        The width of the nonlinearity for each component.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance along each component (divisor ``n_samples``), and its share of the total.
    scale_ : ndarray of shape (n_components,)
        Standard deviation along each component.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows; zeros where it is not subtracted.
    mixing_ : ndarray of shape (n_features, n_components)
        What decodes: ``inverse_transform(y) = y @ mixing_.T + mean_``, the least-squares decoder.
    rotation_ : ndarray of shape (n_features, n_components)
        ``components_.T``.
    noise_scale_ : ndarray of shape (n_features,)
        Standard deviation of each column, 1 where it does not vary; only with ``standardize=True``.
    trained_scale_ : ndarray of shape (n_components,)
        Standard deviations as the rule has learnt them; only with ``sigma="train"``.
    n_components_, n_samples_, n_features_in_ : int
        Numbers of components, rows, and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them had one.
    report_ : Report
        How the fit went; ``orthonormality`` is ``||W'W - I||``, ``halves`` the cosine between what two halves of the rows have in
        the place of each component, ``norms`` the lengths of columns that a variant left free.

    Examples
    --------
    Two sources of one variance, turned by 30 degrees: PCA cannot find the angle.

    >>> import numpy as np
    >>> from unmix import SigmaPCA
    >>> sources = np.random.RandomState(0).uniform(-1, 1, size=(2000, 2))
    >>> angle = np.deg2rad(30)
    >>> turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    >>> model = SigmaPCA().fit(sources @ turn)
    >>> np.abs(turn @ model.components_.T).max(axis=0).round(2), model.resolved_
    (array([1., 1.]), array([ True,  True]))
    """

    _method = "sigma-pca"

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "variant": [StrOptions(set(SIGMA_VARIANTS)), Interval(Integral, 1, 24, closed="both"), None],
        "a": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "h": [StrOptions({"tanh", "hard", "steep", "sign"}), None],
        "deriv": [StrOptions({"true", "one"}), None],
        "sigma": [StrOptions({"batch", "ema", "train", "one"}), None],
        "constraint": [StrOptions({"orthonormal", "native"})],
        "beta": [Interval(Real, 0, None, closed="left"), None],
        "beta_scale": [StrOptions({"variance", "absolute"}), None],
        "sigma_l2": [Interval(Real, 0, None, closed="left"), None],
        "order": [StrOptions({"variance", "found"})],
        "solver": [StrOptions({"auto", "gpm", "sgd", "adam"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "tangent": ["boolean"],
        "center": ["boolean"],
        "standardize": ["boolean"],
        "whiten": ["boolean"],
        "reconstruct": [StrOptions({"linear", "nonlinear"})],
        "halves": ["boolean", None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        **RUN_OPTIONS,
    }

    def __init__(
        self,
        n_components=None,
        variant=None,
        *,
        a="auto",
        h=None,
        deriv=None,
        sigma=None,
        constraint="orthonormal",
        beta=None,
        beta_scale=None,
        sigma_l2=None,
        order="variance",
        solver="auto",
        learning_rate=None,
        batch_size=None,
        max_epochs=None,
        max_iter=1000,
        tol=None,
        tangent=True,
        center=True,
        standardize=False,
        whiten=False,
        reconstruct="linear",
        halves=None,
        random_state=None,
        max_seconds=None,
        checkpoint=None,
        checkpoint_every=60.0,
        resume=False,
        init=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.variant = variant
        self.a = a
        self.h = h
        self.deriv = deriv
        self.sigma = sigma
        self.constraint = constraint
        self.beta = beta
        self.beta_scale = beta_scale
        self.sigma_l2 = sigma_l2
        self.order = order
        self.solver = solver
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.max_iter = max_iter
        self.tol = tol
        self.tangent = tangent
        self.center = center
        self.standardize = standardize
        self.whiten = whiten
        self.reconstruct = reconstruct
        self.halves = halves
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self.init = init
        self.verbose = verbose

    def _settings(self):
        settings = super()._settings()
        if not isinstance(self.a, (str, Real)):
            settings["a"] = [float(a) for a in self.a]
        return settings

    def _adopt(self, model):
        super()._adopt(model)
        # Files hold numbers; this one is a truth value.
        vars(self)["resolved_"] = self.resolved_ != 0
