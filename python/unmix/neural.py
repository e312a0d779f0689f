"""Principal components by rules that a single layer learns by."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from ._base import Estimator, registry


def _variants(method):
    """The keys of a method's published variants."""
    return [variant["key"] for variant in registry()[method]["variants"]]


class NeuralPCA(Estimator):
    """Principal components by one of fourteen rules that a single linear layer learns by.

    ``unmix.variants("neural-pca")`` lists the rules: from autoencoder and subspace rule, which find the subspace only, to the
    generalised Hebbian algorithm and the weighted rules, which find axes by falling variance. Every rule needs only second
    moments, so rows are read once and the rule is followed to rest with full batches: no learning rate, no epochs.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to learn; None for all, ``min(n_samples, n_features)``.
    variant : str or int, default="gha"
        The rule, by its key or its number from 1 to 14.
    init : {"random", "pca"}, default="random"
        Where the rule begins: random orthonormal directions, or the principal axes, where most rules are at rest already.
    whiten : bool, default=False
        Divide codes by the standard deviation along each component.
    center : bool, default=True
        Subtract the mean; False finds the directions of the largest second moment about 0.
    max_iter : int, default=20000
        Steps with full batches at most. Axes whose variances are close, or much smaller than the first, need many.
    tol : float, default=1e-8
        The residual at which the rule counts as at rest: ``||G|| / ||C W||``, with its half-gradient ``G``.
    random_state : int, RandomState or None, default=None
        Where the random directions begin; recorded in ``report_.seed``.
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
        "init": [StrOptions({"random", "pca"})],
        "whiten": ["boolean"],
        "center": ["boolean"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components=None,
        variant="gha",
        *,
        init="random",
        whiten=False,
        center=True,
        max_iter=20000,
        tol=1e-8,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.variant = variant
        self.init = init
        self.whiten = whiten
        self.center = center
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
