"""Complete dictionaries: as many atoms as dimensions."""

from ._base import Estimator
from ._parameters import CompleteDictionaryParameters


class CompleteDictionary(CompleteDictionaryParameters, Estimator):
    """Complete dictionary learning: as many atoms as dimensions, in which rows have sparse codes.

    Rows are sparse combinations of linearly independent atoms, ``x = mean + z @ A``; each code is 0 in many rows. By default all atoms are
    estimated at once, by maximising the sum of fourth powers of the codes in whitened coordinates. Without noise, the refined atoms are
    exact up to rounding errors.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of atoms, at most the number of columns and of rows; None for the rank of the rows.
    algorithm : {"msp", "l1", "deflation"}, default="msp"
        ``"msp"`` estimates all atoms at once (matching, stretching and projection), ``"deflation"`` one after another by the same
        steps, each orthogonal to the previous ones in whitened coordinates, ``"l1"`` one after another by minimising the sum of
        absolute codes.
    power : int, default=4
        Power p of the maximised sum of ``|code|^p``: 4, or 3, with which errors are about half as large.
    precondition : bool, default=True
        Whiten the rows first, so that the atoms may be any linearly independent vectors; False for orthogonal atoms with codes of
        equal variance.
    polish : bool, default=True
        After the search, minimise the sum of ``log cosh`` of the codes by a monotone descent from its result: errors are 2 to 5
        times smaller.
    refine : bool or "auto", default="auto"
        Finally minimise the sum of absolute codes of each atom, which recovers atoms up to rounding errors from rows without noise;
        ``"auto"`` keeps the result for atoms with codes near 0 in more than ``rank + 0.04 n_samples`` rows.
    batch_size : int or None, default=None
        Mini-batch size of the first epoch, for large numbers of rows: at least 20 times the number of atoms; None for all rows in
        every step.
    n_init : int, default=1
        Number of random starts, of which the one with the largest objective at its end is kept.
    center : bool, default=False
        Subtract the mean of every column.
    max_iter : int, default=300
        Maximum number of iterations, the polish included; of each atom with ``"l1"`` and ``"deflation"``.
    tol : float or None, default=None
        Convergence tolerance on the largest entry of the gradient: for ``"msp"`` and ``"deflation"`` as a fraction of the mean of
        ``|code|^power``, for the polish of as many atoms as the rank the relative gradient of ICA; for ``"l1"`` on the largest
        change of an entry of a filter in whitened coordinates. None for 1e-6 in double precision and 1e-4 in single.
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
        The atoms, rows of length 1, in order of decreasing ``usage_``; the entry of largest magnitude of each is positive.
    usage_ : ndarray of shape (n_components,)
        Mean absolute value of the codes of each atom.
    kurtosis_ : ndarray of shape (n_components,)
        Excess kurtosis of the codes about 0: 0 for Gaussian codes, ``3 * (1 - share) / share`` if a fraction ``share`` of them is normal
        and the others are 0.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows with ``center=True``, else zeros.
    mixing_ : ndarray of shape (n_features, n_components)
        The decoder: ``components_.T``.
    rotation_, scale_, second_rotation_ : ndarray
        ``transform(x) = (x - mean_) @ rotation_ @ diag(1 / scale_) @ second_rotation_``; with ``precondition=False`` only
        ``second_rotation_``.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations, and numbers of atoms, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit; ``objective`` is the sum over atoms of the mean of ``abs(y)**power / power``, for codes ``y`` of variance 1, after
        each step of the search; ``fit`` has the number of atoms that were refined, and of those kept as found by the polish.

    See Also
    --------
    ICA : Independent sources, also sub-Gaussian ones.
    RICA : Sparse features, possibly more than columns.

    Notes
    -----
    The search iterates ``W = polar(E[y**3 x'])`` with ``y = W x`` for whitened rows ``x``, and near convergence the fixed-point step of
    FastICA. The polish minimises the sum of ``log(cosh(y))`` from there. The refinement minimises the mean absolute value of the codes of
    each atom separately; without noise its minimum is the atom, with noise it is biased, and then not kept.

    ``algorithm="l1"`` iterates reweighted least squares, and "converged" means that the last change of a filter was at most ``tol``. Where codes
    are exactly 0 in many rows, atoms are exact up to rounding. Otherwise steps are small long before the minimum, beside which there are other
    local minima: atoms may be some 5e-3 rad from those with ``tol=1e-10``, and from those of other seeds, and weights are equivalent to
    repeated rows only to that accuracy. A smaller ``tol`` with a larger ``max_iter`` approaches the nearest minimum; it does not make seeds
    agree. ``polish`` and ``refine`` have no effect with ``"l1"``: with ``"msp"`` the polish makes atoms of different seeds agree closely.

    References
    ----------
    Y. Zhai, Z. Yang, Z. Liao, J. Wright & Y. Ma (2020), Complete dictionary learning via l4-norm maximization over the orthogonal group.
    arXiv:1906.02435
    J. Sun, Q. Qu & J. Wright (2017), Complete dictionary recovery over the sphere. arXiv:1504.06785
    Y. Bai, Q. Jiang & J. Sun (2019), Subgradient descent learns orthogonal dictionaries. arXiv:1810.10702

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import CompleteDictionary
    >>> draw = np.random.RandomState(0)
    >>> codes = draw.randn(3000, 6) * (draw.rand(3000, 6) < 0.3)
    >>> X = codes @ draw.randn(6, 6)
    >>> model = CompleteDictionary(random_state=0).fit(X)
    >>> round(float((abs(model.transform(X)) < 1e-9).mean()), 1)
    0.7
    """

    _method = "complete-dictionary"
