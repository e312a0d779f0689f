"""Dictionary learning: sparse codes of rows in a learned dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from sklearn.utils.validation import check_is_fitted

from ._base import Estimator
from ._parameters import DictionaryLearningParameters
from ._sklearn import _fit_context, available_if
from ._stream import learn_more
from ._types import Array, Rows
from ._written import merged_source

if TYPE_CHECKING:
    from typing_extensions import Self


def _learns_from_a_stream(estimator: DictionaryLearning) -> bool:
    """Condition of ``partial_fit``: all algorithms except the online one need all rows at once."""
    if estimator.algorithm == "online":
        return True
    raise AttributeError(f"partial_fit needs algorithm='online', got {estimator.algorithm!r}, which needs all rows at once")


class DictionaryLearning(DictionaryLearningParameters, Estimator):
    """Dictionary learning: atoms in which rows have sparse codes, possibly more atoms than columns.

    Minimises ``1/2 * ||X - Z @ A||**2 + alpha * ||Z||_1`` over codes ``Z`` and atoms ``A`` of norm at most 1, as scikit-learn and SPAMS
    do. Codes of new rows solve the lasso, each to a duality gap of 1e-6 of half the squared norm of its row (1e-5 in single precision).

    Parameters
    ----------
    n_components : int or None, default=None
        Number of atoms, at most the number of rows; None for the number of columns, or of rows if that is smaller.
    algorithm : {"online", "alternating", "palm", "ipalm", "layerwise", "ksvd"}, default="online"
        The algorithm: ``"online"`` learns from mini-batches, in memory that does not depend on the number of rows. With rows and
        codes in memory: ``"alternating"`` takes steps on all codes and then on all atoms; ``"palm"`` one step each, ``"ipalm"``
        with inertia; ``"layerwise"`` is ``"palm"``, with new rows encoded by the same sequence of steps; ``"ksvd"`` alternates
        matching pursuit and rank-1 updates.
    alpha : float or "auto", default="auto"
        Weight of the penalty ``||Z||_1`` relative to ``1/2 ||X - Z A||²``, as in scikit-learn. ``"auto"`` is a tenth of the mean
        over rows of the largest product of the row and an initial atom, so that the atoms do not depend on the units of the rows.
    n_nonzero_coefs : int or None, default=None
        Maximum number of nonzero entries in a code of ``"ksvd"`` and of ``coder`` ``"omp"``; None for a tenth of the number of
        columns, at least 1.
    init : {"data", "k-means++", "dct", "random"}, fitted estimator, path or None, default="data"
        Initial atoms: ``"data"`` for random rows, ``"k-means++"`` for rows whose directions are far apart, ``"dct"`` for a cosine
        basis (two-dimensional where rows are pictures), ``"random"`` for Gaussian vectors; or a fitted model, or the path of one,
        whose components are the initial weights.
    dict_init : array-like of shape (n_components, n_features) or None, fitted estimator, path or Files, default=None
        Initial atoms instead of ``init``, as rows, in the order in which they are updated: an array, or a fitted model, whose
        components are taken; or the path of either.
    atom_norm : {"ball", "sphere"}, default="ball"
        Constraint on the norm of the atoms: ``"ball"`` for at most 1, ``"sphere"`` for exactly 1 (always with ``"ksvd"``). At a
        minimum, atoms in use have norm 1 in both cases.
    dead_unit : {"residual", "data", "keep"}, default="residual"
        Replacement of atoms that no code used for an epoch: ``"residual"`` by the row with the largest residual, ``"data"`` by a
        random row, ``"keep"`` for none. No atom is replaced in the last fifth of the epochs. With all codes in memory atoms are
        replaced when unused for 20 blocks; with ``"ksvd"`` in every iteration, and so is one of two atoms with a cosine above 0.99.
    positive_code : bool, default=False
        Constrain codes to be non-negative.
    positive_dict : bool, default=False
        Constrain atoms to be non-negative.
    batch_size : int, default=256
        Mini-batch size of ``"online"``.
    max_epochs : int, default=5
        Number of epochs of ``"online"``.
    forgetting : float, default=5.0
        Exponent of the forgetting of past batches: the sums over codes are multiplied by ``(1 - 1/t)^forgetting`` at batch ``t``;
        with 0 all batches have equal weight.
    code_steps : int, default=10
        Number of steps on the codes in a block of ``"alternating"``.
    atom_steps : int, default=10
        Number of steps on the atoms in a block of ``"alternating"``.
    warm_start_codes : bool, default=True
        Start the codes of each block of ``"alternating"`` from those of the previous block; otherwise from 0, which needs
        ``code_steps`` of at least 5.
    max_iter : int, default=1000
        Maximum number of blocks, or of iterations of ``"ksvd"``.
    tol : float or None, default=None
        Convergence tolerance: the relative change of codes and atoms in a block, and 100 times that of the objective over ten
        blocks; None for 1e-4.
    coder : {"cd", "fista", "ista", "lars", "omp"}, default="cd"
        Algorithm that encodes new rows, as ``algorithm`` of ``SparseCoder``. With ``"layerwise"`` the layers encode them.
    center : bool, default=False
        Subtract the mean of every column.
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
        Atoms, in order of decreasing use (the sum of absolute codes, with larger weights for recent batches); the entry of largest
        magnitude of each is positive, unless codes are constrained to be non-negative.
    usage_ : ndarray of shape (n_components,)
        Fraction of the rows whose code uses each atom, with larger weights for recent batches.
    alpha_ : float
        Weight of the penalty: as given, or as chosen by ``"auto"``.
    mean_ : ndarray of shape (n_features,)
        Subtracted from rows: means of the columns with ``center=True``, else zeros.
    mixing_ : ndarray of shape (n_features, n_components)
        The decoder: ``components_.T``.
    stream_, stream_atoms_, stream_codes_, stream_rows_, stream_waiting_, stream_worst_ : ndarray
        State from which ``partial_fit`` continues: counts, atoms in the order in which they are updated, sums over codes and rows, rows
        that do not fill a batch, rows with the largest residuals; each only if there are any.
    layers_, layer_steps_ : ndarray
        Atoms and step length of every layer; only with ``algorithm="layerwise"``.
    n_components_, n_iter_, n_samples_, n_features_in_ : int
        Numbers of atoms, batches (or blocks), rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit: ``objective`` is the mean over at most 2000 rows, after each epoch; ``dead_units`` the number of atoms that no code
        used in the last epoch, ``replaced`` the number of replacements, ``coherence`` the largest cosine between two atoms,
        ``similar_pairs`` the number of pairs with a cosine above 0.99, in absolute value.

    See Also
    --------
    ICA : Independent components, at most as many as directions.
    SparseCoder : Codes by a given dictionary.

    Notes
    -----
    The fit minimises ``1/2 ||X - Z A||**2 + alpha ||Z||_1`` over codes ``Z`` and atoms ``A`` of norm at most 1. The state of
    ``algorithm="online"`` has ``n_components**2 + 2 * n_components * n_features`` numbers, whatever the number of rows. The problem is not
    convex: other seeds give other atoms, with nearly the same objective.

    References
    ----------
    J. Mairal, F. Bach, J. Ponce & G. Sapiro (2009), Online dictionary learning for sparse coding. doi:10.1145/1553374.1553463
    J. Bolte, S. Sabach & M. Teboulle (2014), Proximal alternating linearized minimization. doi:10.1007/s10107-013-0701-9
    M. Aharon, M. Elad & A. Bruckstein (2006), K-SVD. doi:10.1109/TSP.2006.881199

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import DictionaryLearning
    >>> draw = np.random.RandomState(0)
    >>> atoms = draw.randn(8, 5) / np.sqrt(5)
    >>> X = draw.laplace(size=(2000, 8)) * (draw.rand(2000, 8) < 0.2) @ atoms
    >>> dictionary = DictionaryLearning(n_components=8, alpha=0.1, random_state=0).fit(X)
    >>> codes = dictionary.transform(X)
    >>> codes.shape, bool(np.mean(codes != 0) < 0.4)
    ((2000, 8), True)
    """

    _method = "dictionary"

    def fit(self, X: Rows, y: None = None) -> Self:  # type: ignore[override]
        """Learn atoms from rows.

        With ``algorithm="online"`` rows are read in mini-batches, in random order, and memory does not depend on their number; the other
        algorithms hold the rows and their codes in memory. Codes of the fit are not kept: ``transform`` computes them for the final atoms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; a file may be larger than memory.
        y : None
            Ignored.

        Returns
        -------
        object
            The fitted estimator. When fitting fails or is interrupted, it is as it was before.

        See Also
        --------
        partial_fit : Update the atoms with a batch of rows.

        Examples
        --------
        >>> from unmix import DictionaryLearning
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> DictionaryLearning(n_components=2, alpha=0.01, random_state=0).fit(X).components_.round(2)
        array([[0.71, 0.  , 0.71],
               [0.  , 1.  , 0.  ]])
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Rows, y: None = None) -> Array:  # type: ignore[override]
        """Learn atoms from rows and return the codes of the rows: ``fit(X).transform(X)``, to the bit.

        The codes are computed for the final atoms in a further pass over the rows. They are a dense array; ``encode`` can write compressed
        sparse rows to a file.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Codes, in the type of the rows.

        See Also
        --------
        fit : Learn atoms alone.

        Examples
        --------
        >>> from unmix import DictionaryLearning
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> DictionaryLearning(n_components=2, alpha=0.01, random_state=0).fit_transform(X).shape
        (40, 2)
        """
        self._fit(X)
        return self.transform(X)

    def transform(self, X: Rows) -> Array:
        """Return the codes of rows.

        Each row is encoded independently of the others by ``coder``: except with ``"omp"``, by the solution of the lasso with weight
        ``alpha_``. With ``algorithm="layerwise"`` the code is the output of the layers, without a bound on its error.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows with the columns that the model was fitted on. For rows with missing cells use :class:`SparseCoder` with these atoms.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Codes, in the type of the rows. A warning gives the number of rows that did not converge.

        See Also
        --------
        encode : The same, also into a file; compressed sparse rows if it ends in ``.npz``.

        Examples
        --------
        >>> from unmix import DictionaryLearning
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> DictionaryLearning(n_components=2, alpha=0.01, random_state=0).fit(X).transform([[0, 3, 0]]).round(2)
        array([[0.  , 2.99]])
        """
        check_is_fitted(self)
        # Not by the transform of the base class, whose sparse codes cannot become frames.
        codes: Array = self._model.encode(self._rows(X), self._run_arguments(), dense=True)
        return codes

    @available_if(_learns_from_a_stream)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Rows, y: None = None) -> Self:
        """Update the dictionary with a batch of rows; only with ``algorithm="online"``.

        The result has the same bits however a stream is divided into calls: rows are divided into batches of ``batch_size`` in their order,
        and rows that do not fill a batch are kept for the next call. Initial atoms, and ``alpha="auto"``, are determined by the first full
        batch. After ``fit``, learning continues from the fitted atoms, with one pass over the new rows. A saved or pickled model can be
        continued, too, also by ``unmix fit dictionary more.npy --init MODEL``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows, as for ``fit``; at least one. The type of the first batch is that of the model.
        y : None
            Ignored.

        Returns
        -------
        object
            The estimator, with the current atoms. After an error the model is unchanged.

        See Also
        --------
        fit : Several passes over all rows, in random order.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import DictionaryLearning
        >>> X = np.random.RandomState(0).randn(1000, 6)
        >>> dictionary = DictionaryLearning(n_components=8, batch_size=100, random_state=0)
        >>> dictionary.partial_fit(X[:350]).partial_fit(X[350:]).n_iter_
        10
        """
        learn_more(self, X)
        return self

    def merge(self, other: Self) -> NoReturn:
        """Refuse to merge two dictionaries: sums over codes of different atoms cannot be added.

        Models that are computed from sums over rows, such as those of :class:`PCA`, can be merged.

        Parameters
        ----------
        other : DictionaryLearning
            Another fitted dictionary.

        Raises
        ------
        ValueError
            In every case, with the reason.

        See Also
        --------
        partial_fit : Update one dictionary with the rows of the other.

        Examples
        --------
        >>> from unmix import DictionaryLearning
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> dictionary = DictionaryLearning(n_components=2, alpha=0.01, random_state=0).fit(X)
        >>> try:
        ...     dictionary.merge(dictionary)
        ... except ValueError as e:
        ...     "different atoms" in str(e)
        True
        """
        check_is_fitted(self)
        check_is_fitted(other)
        self._model.merge(other._model, self._run_arguments(), merged_source(self, other))
        raise AssertionError("the library refuses to merge dictionaries")
