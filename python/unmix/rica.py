"""Sparse features by reconstruction ICA."""

from ._parameters import RICAParameters
from ._sources import Sources


class RICA(RICAParameters, Sources):
    """Independent component analysis with reconstruction cost (RICA): any number of sparse features.

    Minimises the mean over rows of ``||W.T @ W @ z - z||**2 + beta * sum(g(W @ z))``, where ``z`` is a whitened row (or the row itself),
    so that the codes ``W @ z`` are sparse and reconstruct the row. With as many features as directions it is ICA with a soft orthonormality
    constraint; with more features, it learns an overcomplete basis.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of features, which may exceed the number of columns; None for the rank of the rows.
    beta : float or "auto", default="auto"
        Weight of the sparsity penalty relative to the reconstruction error, ``1 / lambda`` of Le et al. ``"auto"`` is ``0.2 /
        g''(0)`` in whitened coordinates (0.2 for ``"logcosh"``, 0.02 for ``"smooth-l1"``); with ``whiten=False``, rows are first
        divided by the root mean square of their entries, and it is the smaller of 0.1 times the mean length of a row and 0.6 times
        the standard deviation along principal direction ``n_components``, or along the last one if there are fewer.
    contrast : {"logcosh", "smooth-l1"}, default="logcosh"
        The penalty g that measures sparsity: ``log(cosh(y))``, or ``sqrt(y**2 + 0.01)``, which is nearer to the absolute value.
    whiten : bool, default=True
        Learn features in whitened coordinates, as many as the rank of the rows; if there are fewer rows than ten times the rank, as
        many as there are features, or a tenth of the rows if ``n_components`` is None. False for the coordinates of the columns.
    unit_norm : bool or "auto", default="auto"
        Constrain every feature to unit norm, in the coordinates in which it is learned. ``"auto"`` does so if there are more
        features than directions: some of them would otherwise collapse to 0.
    max_iter : int, default=1000
        Maximum number of iterations, without ``batch_size``.
    tol : float or None, default=None
        Convergence tolerance: the largest entry of the gradient, in units of the mean variance of a coordinate (1 where they are
        whitened); None for 1e-6 in double precision, 1e-4 in single.
    batch_size : int or None, default=None
        Mini-batch size: five steps are taken on each batch, and the result is the mean over the batches of the last epoch; None for
        all rows at once.
    max_epochs : int, default=10
        Maximum number of epochs; without ``batch_size`` it has no effect.
    w_init : array-like of shape (n_components, n_features) or None, path or Files, default=None
        Initial features, in the units of the components, such as those of an earlier fit; None for random orthonormal features, or
        random ones if there are more features than directions. Not recorded in the model file.
    center : bool, default=True
        Subtract the mean.
    standardize : bool, default=False
        Divide every column by its standard deviation first, so that results do not depend on units.
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
        Encoder: ``transform(x) = (x - mean_) @ components_.T``. Sorted by ``component_variance_``.
    mixing_ : ndarray of shape (n_features, n_components)
        Least-squares decoder: the pseudo-inverse of ``components_``. Its columns are the loadings of the features; the
        entry of largest magnitude of each is positive.
    component_variance_ : ndarray of shape (n_components,)
        Variance of the back-projection of each feature, summed over columns. They do not add up to the total.
    coherence_ : float
        The largest absolute cosine between two features, in the coordinates in which they are learned: 1 for duplicates.
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
        Iterations, or mini-batches with ``batch_size``, and numbers of features, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit; ``objective`` is the objective after every iteration, which never increases.

    See Also
    --------
    ICA : Exactly uncorrelated sources, at most as many as directions.

    Notes
    -----
    The objective is ``E[||W.T W z - z||**2] + beta * sum_j E[g(w_j z)]``, with a feature in each row ``w_j`` of ``W`` and rows ``z`` in
    whitened coordinates. It is minimised by limited-memory BFGS.

    References
    ----------
    Q. V. Le, A. Karpenko, J. Ngiam & A. Y. Ng (2011), ICA with reconstruction cost for efficient overcomplete feature learning.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import RICA
    >>> draw = np.random.RandomState(0)
    >>> X = draw.laplace(size=(2000, 4)) @ draw.randn(4, 4)
    >>> rica = RICA(n_components=6, random_state=0).fit(X)
    >>> np.allclose(rica.inverse_transform(rica.transform(X)), X)
    True
    """

    _method = "rica"
