"""Principal components by learning rules of a single layer."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from ._base import Estimator
from ._fixed import fixed
from ._parameters import NeuralPCAParameters, SigmaPCAParameters

if TYPE_CHECKING:
    from . import _unmix


class NeuralPCA(NeuralPCAParameters, Estimator):
    """Principal components by one of fourteen learning rules of a single linear layer.

    ``unmix.variants("neural-pca")`` lists the rules: from the autoencoder and the subspace rule, which find the subspace only, to the
    generalised Hebbian algorithm and weighted rules, which find axes in order of decreasing variance. Every rule depends on second
    moments only, so by default rows are read once and the rule is iterated with full batches to a stationary point, without a learning
    rate or epochs.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components: a number, or None for all, ``min(n_samples, n_features)``.
    variant : int or str, default="gha"
        The learning rule, by its key or its number from 1 to 14; ``"autoencoder"`` and ``"oja"`` find the principal subspace only,
        the others the principal axes.
    solver : {"auto", "sgd", "adam"}, default="auto"
        ``"auto"`` follows the rule to a stationary point with full batches, which needs second moments only; ``"sgd"`` and
        ``"adam"`` use mini-batches, as published, with a learning rate that decays to 0.
    init : {"random", "pca"}, fitted estimator, path or None, default="random"
        Initial weights: random orthonormal directions, or the principal axes, at which most rules are stationary; or a fitted
        model, or the path of one, whose components are the initial weights.
    whiten : bool, default=False
        Divide codes by the standard deviation along each component.
    center : bool, default=True
        Subtract the mean; False for directions of the largest second moment about 0.
    max_iter : int, default=20000
        Maximum number of full-batch steps. Axes whose variances are close to each other, or much smaller than the first, need many.
    tol : float, default=1e-8
        Convergence tolerance: the norm of half the gradient of the rule, relative to that of the covariance times the weights.
    learning_rate : float, default=0.01
        Initial learning rate of ``"sgd"`` and ``"adam"``, for rows divided by the root of their mean square.
    batch_size : int, default=128
        Mini-batch size of ``"sgd"`` and ``"adam"``.
    max_epochs : int, default=20
        Number of epochs of ``"sgd"`` and ``"adam"``.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers, recorded in ``report_.seed``; None draws one from numpy's global state.
    max_seconds : float or None, default=None
        Time limit in seconds: iterations end with the current result, and ``report_.outcome`` is ``"time"``.
    callback : callable or None, default=None
        Called after every iteration, or after every epoch where mini-batches are used, with an :class:`unmix.Iteration`; if it
        raises StopIteration the fit ends with the current result, and ``report_.outcome`` is ``"interrupted"``. Another exception
        ends the fit without a result.
    checkpoint : path or None, default=None
        A file to which the state of the iterations is written during the fit, so that an interrupted fit can be resumed; removed
        when the fit is complete, kept if ``max_seconds`` or ``callback`` ended it.
    checkpoint_every : float, default=60.0
        Seconds between two writes of the checkpoint.
    resume : bool, default=False
        Resume from ``checkpoint``, with the same bits as an uninterrupted fit; if the file does not exist, the fit starts from the
        beginning. A checkpoint of other rows, settings or seed is refused.
    verbose : {0, 1, 2}, default=0
        0 for no output, 1 for a progress bar, 2 for a line for each iteration, on stderr.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions of the weights: unit rows, sorted by the variance along them, the entry of largest magnitude of each positive.
    weights_ : ndarray of shape (n_features, n_components)
        The weights at the end of the iterations, in the order and with the signs and lengths of the rule. Fewer columns if the rows have a
        smaller rank.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance along each component (divisor ``n_samples``), and its share of the total.
    scale_ : ndarray of shape (n_components,)
        Standard deviation along each component.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    mixing_ : ndarray of shape (n_features, n_components)
        Decoder: ``inverse_transform(y) = y @ mixing_.T + mean_``, the least-squares decoder.
    rotation_ : ndarray of shape (n_features, n_components)
        ``components_.T``.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations, and numbers of components, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit; ``residual`` is ``||G|| / ||C W||``, with ``G`` as below.

    See Also
    --------
    PCA : The same directions by a decomposition.
    unmix.variants : The rules, with their references.

    Notes
    -----
    A rule changes the weights by ``W <- W + learning_rate * G(W)``, where ``G`` depends on rows through the covariance ``C`` alone; the
    generalised Hebbian algorithm has ``G = C W - W triu(W.T C W)``. It converges where ``G = 0``.

    References
    ----------
    E. Oja (1982), A simplified neuron model as a principal component analyzer. doi:10.1007/BF00275687
    T. D. Sanger (1989), Optimal unsupervised learning in a single-layer linear feedforward neural network.
    doi:10.1016/0893-6080(89)90044-0

    Examples
    --------
    >>> from unmix import NeuralPCA
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = NeuralPCA(n_components=1, random_state=0).fit(X)
    >>> model.explained_variance_ratio_.round(4), model.report_.outcome
    (array([0.9924]), 'converged')
    """

    _method = "neural-pca"


class SigmaPCA(SigmaPCAParameters, Estimator):
    """Orthogonal components by variance and by independence: also separates sources of equal variance.

    If variances differ and rows are Gaussian, the components are those of PCA. If several sources have equal variance, PCA returns an
    arbitrary rotation of them; this class finds the sources themselves, provided that they are not Gaussian and that the mixing is
    a rotation. Unlike independent component analysis it keeps orthonormal axes and the variances along them.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components: a number, or None for all, ``min(n_samples, n_features)``.
    variant : str, int or None, default=None
        A published variant, by its key or its number from 1 to 24; None for the deterministic solver, or with ``"sgd"`` and
        ``"adam"`` for ``"ema-scaled-tanh"``.
    a : float, array-like of shape (n_components,) or "auto", default="auto"
        The width of ``a tanh(z / a)``: about 0.8 for sub-Gaussian sources, 4 for super-Gaussian ones; a number, a list with one for
        each component, or ``"auto"``, which chooses between these two for each component from the distribution of its codes; with a
        variant ``"auto"`` is the variant's value.
    h : {"tanh", "hard", "steep", "sign"} or None, default=None
        The nonlinearity: ``"tanh"`` is ``a tanh(z / a)``, ``"hard"`` clips z at ``a``, ``"steep"`` is ``a tanh(z)``, ``"sign"`` the
        sign of z, without ``a``; None for the variant's value, and ``"tanh"`` without a variant.
    deriv : {"true", "one"} or None, default=None
        Derivative of h in the gradient: ``"true"`` for the exact one, ``"one"`` for the constant 1 (for super-Gaussian sources
        only); None for the variant's value, and ``"true"`` without a variant.
    sigma : {"batch", "ema", "train", "one"} or None, default=None
        Standard deviations of the trained solvers: those of the mini-batch, an exponential moving average over mini-batches,
        learned parameters, or 1; None for the variant's value, and ``"ema"`` without a variant.
    constraint : {"orthonormal", "native"}, default="orthonormal"
        Constraint on the components: ``"orthonormal"``, or ``"native"`` for the published fixed point, unit columns that are nearly
        orthogonal.
    beta : float or None, default=None
        Weight of a variant's additional term: of orthogonality in variants 5, 6, 7, 14 and 17, of sparsity or independence in 19 to
        23, of order in 24; None for the variant's value.
    beta_scale : {"variance", "absolute"} or None, default=None
        Unit of ``beta``: with ``"variance"`` it is multiplied by the mean variance along the components for orthogonality, by the
        mean length of a row for sparsity, and by the root of the mean variance of the columns for order, so that results do not
        depend on units; with ``"absolute"`` it is used as given, as published; None for ``"variance"``, or for ``"absolute"`` if
        ``tangent=False``.
    sigma_l2 : float or None, default=None
        L2 penalty on learned standard deviations (``sigma="train"``), which without it grow without bound; None for the variant's
        value if it learns them, else 0.001.
    order : {"variance", "found"}, default="variance"
        Order of the components: by decreasing variance, or as the solver found them.
    solver : {"auto", "gpm", "sgd", "adam"}, default="auto"
        Solver: ``"gpm"`` for the generalised power method, without a learning rate, ``"sgd"`` and ``"adam"`` for stochastic
        gradient descent; ``"auto"`` for ``"gpm"`` with orthonormal components, for a second-order solver with
        ``constraint="native"``, and for ``"adam"`` with a variant.
    learning_rate : float or None, default=None
        Initial learning rate of the trained solvers; None for 0.01.
    batch_size : int or None, default=None
        Mini-batch size of the trained solvers; None for 128.
    max_epochs : int or None, default=None
        Maximum number of epochs of the trained solvers; None for 3, or for more if these have fewer than 3000 steps.
    max_iter : int, default=3000
        Maximum number of iterations of the deterministic solvers, each a full pass over the data.
    tol : float or None, default=None
        Convergence tolerance of the deterministic solvers, for their residual; None for 1e-8 in double precision and 1e-4 in single
        (``"native"``: 1e-3).
    tangent : bool, default=True
        Project the gradients of trained solvers onto the tangent space of the unit sphere of each column; without this, adaptive
        steps are biased.
    center : bool, default=True
        Subtract the mean; False for second moments about 0.
    standardize : bool, default=False
        Divide every column by its standard deviation first, so that results do not depend on units.
    whiten : bool, default=False
        Divide codes by the standard deviation along each component.
    reconstruct : {"linear", "nonlinear"}, default="linear"
        Decoder: ``"linear"`` for the least-squares reconstruction, ``"nonlinear"`` for the model's own, the mean plus ``sigma h(y /
        sigma)`` along each component.
    halves : bool or None, default=None
        Fit two disjoint halves of the rows, too, and report the agreement of their components, which takes about as long as the fit
        itself; None for True if ``n_samples min(4 k, n_features) k`` is at most 2^28, for ``k`` components.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers, recorded in ``report_.seed``; None draws one from numpy's global state.
    max_seconds : float or None, default=None
        Time limit in seconds: iterations end with the current result, and ``report_.outcome`` is ``"time"``.
    callback : callable or None, default=None
        Called after every iteration, or after every epoch where mini-batches are used, with an :class:`unmix.Iteration`; if it
        raises StopIteration the fit ends with the current result, and ``report_.outcome`` is ``"interrupted"``. Another exception
        ends the fit without a result.
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
        The axes: unit rows, sorted by the variance along them, the entry of largest magnitude of each positive.
    resolved_ : ndarray of bool of shape (n_components,)
        Whether a component is separated from all others by more than its variance, fits of halves of the rows agree on it, and its
        sampling error is below 18 degrees; at most 1 model of 100 has a component for which this is wrong. ``report_.warnings`` gives
        the reasons if it is False.
    separation_ : ndarray of shape (n_components,)
        Smallest pair coefficient of each component with any other, in units of the square of the larger variance; negative if the two
        are mixed.
    seeking_ : ndarray of shape (n_components,)
        Coefficient ``b`` of each component: negative if its nonlinearity selects large variance, positive if it selects small variance.
    a_ : ndarray of shape (n_components,)
        The width of the nonlinearity for each component.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance along each component (divisor ``n_samples``), and its share of the total.
    scale_ : ndarray of shape (n_components,)
        Standard deviation along each component.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows; zeros with ``center=False``.
    mixing_ : ndarray of shape (n_features, n_components)
        Decoder: ``inverse_transform(y) = y @ mixing_.T + mean_``, the least-squares decoder.
    rotation_ : ndarray of shape (n_features, n_components)
        ``components_.T``.
    noise_scale_ : ndarray of shape (n_features,)
        Standard deviation of each column, 1 where it does not vary; only with ``standardize=True``.
    trained_scale_ : ndarray of shape (n_components,)
        Learned standard deviations; only with ``sigma="train"``.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations, and numbers of components, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit; ``orthonormality`` is ``||W'W - I||``, ``halves`` the cosine between the estimates of each component from two halves of
        the rows, ``norms`` the lengths of the columns for variants without a norm constraint.

    See Also
    --------
    PCA : Directions of largest variance.
    ICA : Sources of any mixing, not only rotations.
    unmix.variants : The published variants.

    Notes
    -----
    Rows are modelled as ``x = mean + u W.T``, ``u_j = sigma_j h(y_j / sigma_j)``, ``y = (x - mean) W``, with orthonormal columns of
    ``W`` and standard deviations ``sigma_j`` of the codes. The solution is a stationary point of the reconstruction error
    ``E ||x - mean - u W.T||**2``.

    References
    ----------
    sigma-PCA: a unified neural model for linear and nonlinear principal component analysis. doi:10.48550/arXiv.2311.13580

    Examples
    --------
    Two sources of equal variance, rotated by 30 degrees: PCA cannot identify the angle.

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

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        a: Any = self.a
        if not isinstance(a, (str, Real)):
            settings["a"] = [float(each) for each in a]
        return settings

    def _adopt(self, model: _unmix.Model) -> None:
        super()._adopt(model)
        # Model files contain numbers only; this one is a boolean.
        vars(self)["resolved_"] = fixed(self.resolved_ != 0)
