"""Independent component analysis."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from ._components import chosen, in_frame
from ._input import _is_path, counted, dense, in_memory, in_memory_by_names, of_used_rows, values_in_memory, warn
from ._parameters import ICAParameters
from ._read import Files
from ._sklearn import _fit_context, available_if
from ._sources import Sources
from ._stream import learn_more
from ._types import Array, Chosen, Components, Rows

if TYPE_CHECKING:
    from typing_extensions import Self


def _learns_row_by_row(ica: ICA) -> bool:
    """Condition of ``partial_fit``: all algorithms except EASI need all rows at once."""
    if ica.algorithm == "easi":
        return True
    raise AttributeError(f"partial_fit needs algorithm='easi', got {ica.algorithm!r}, which needs all rows at once")


class ICA(ICAParameters, Sources):
    """Independent component analysis: statistically independent sources.

    Rows are mixtures ``x = mean_ + mixing_ @ s`` of sources ``s``, which are estimated from the rows alone, up to order and sign, if they
    are independent and at most one of them is Gaussian. Sources have unit variance; ``mixing_`` carries the units.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of sources: a number; a share of the variance between 0 and 1 (the fewest directions that explain more); or None for
        the rank of the rows. Never more than the rank: larger numbers are reduced, with a warning.
    algorithm : {"picard", "fastica", "infomax", "easi", "sigma-pca"}, default="picard"
        The algorithm: ``"picard"`` (quasi-Newton), ``"fastica"`` (fixed point), ``"infomax"`` (maximum likelihood with the logistic
        density), ``"easi"`` (relative gradient, row by row in random orders, then full passes), ``"sigma-pca"`` (two layers of
        sigma-PCA).
    fun : {"logcosh", "exp", "cube", "skew", "tanh", "adaptive"}, default="logcosh"
        Contrast function G used to measure non-Gaussianity: ``"logcosh"`` (or ``"tanh"``) in general, ``"exp"`` for data with
        outliers, ``"cube"`` for kurtosis, ``"skew"`` for skewness; ``"adaptive"`` begins with ``"logcosh"`` and continues with
        contrasts that are fitted to each source, which is the most accurate with a few thousand rows, especially with
        ``ortho=False``.
    ortho : bool, default=True
        For ``"picard"``: sources are a rotation of whitened coordinates, so exactly uncorrelated; False for maximum likelihood over
        all invertible matrices.
    extended : bool or None, default=None
        Whether sources may be sub-Gaussian as well as super-Gaussian, the sign of each estimated; None for True where sources are a
        rotation and with ``"easi"``, else False.
    orthogonalization : {"symmetric", "deflation"}, default="symmetric"
        For ``"fastica"``: estimate all sources at once (``"symmetric"``), or one after another (``"deflation"``).
    first_layer : {"pca", "sigma-pca"}, default="pca"
        For ``"sigma-pca"``: the first layer, linear PCA, or sigma-PCA followed by whitening.
    whiten : "unit-variance" or False, default="unit-variance"
        Whiten the data first, and scale sources to unit variance; False for data that are already whitened, and then no direction
        is dropped.
    max_iter : int, default=500
        Maximum number of iterations; for ``"easi"``, of full passes over the data.
    tol : float or None, default=None
        Convergence tolerance: the largest entry of the relative gradient, the same for every algorithm; None for 1e-6 in double
        precision, 1e-4 in single.
    n_init : int, default=1
        Number of random starts; the least Gaussian result is kept, or with maximum likelihood (``ortho=False``, ``"infomax"``) the
        one of the highest likelihood.
    w_init : array-like of shape (n_components, n_components) or None, path or Files, default=None
        Initial unmixing matrix, in whitened coordinates; None for a random rotation.
    subsample : int or None, default=None
        Number of evenly spaced rows that the first iterations of a search over rotations use, more than there are sources; the last
        iterations and the residual use all rows; 0, or at least the number of rows, for all rows from the start; None for a
        sufficient number with ``"picard"`` and ``"infomax"`` where there are three times as many rows, else all.
    center : bool, default=True
        Subtract the mean of every column.
    standardize : bool, default=False
        Divide every column by its standard deviation first, so that the directions that whitening drops do not depend on units.
    order : {"variance", "kurtosis", "found"}, default="variance"
        Order of the sources: by the variance of their back-projection, by kurtosis, or as the solver found them.
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
        Mixing matrix (decoder); its columns are the loadings of the sources; the entry of largest magnitude of each is positive.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        ``component_variance_`` as a share of the variance of all columns: sources are uncorrelated, so these add up. Not with
        ``ortho=False`` or ``standardize=True``, nor after ``partial_fit``.
    component_variance_ : ndarray of shape (n_components,)
        Variance of the back-projection of each source, summed over columns. With ``ortho=False`` these do not add up to the total.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    rotation_, scale_, second_rotation_ : ndarray
        ``components_.T = rotation_ @ diag(1 / scale_) @ second_rotation_``, the first two those of PCA; not with ``whiten=False``.
    noise_scale_ : ndarray of shape (n_features,)
        Standard deviation of each column; only with ``standardize=True``.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations, and numbers of sources, rows and columns.
    stream_ : ndarray
        State from which ``partial_fit`` continues; only after ``partial_fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit. ``objective`` has one value for each iteration of the last phase of the search. Iterations on a subsample, and
        with ``ortho=False`` those over rotations, precede it and are counted in ``n_iter_`` only, because they minimise other functions. It
        is empty if ``max_iter`` ends the fit before the last phase, and for algorithms without an objective. ``sign_changes`` lists the
        iterations, counted from 1 as the values of ``objective``, in which the estimated sign of a source changed, and with it the
        objective; None if there were none. In all other iterations the objective does not rise.

    See Also
    --------
    FastICA : The class with scikit-learn's parameters and attributes.
    RICA : More features than columns.
    PCA : Directions of largest variance.
    unmix.stability : Reproducibility of the sources.

    Notes
    -----
    Rows are modelled as ``x = mean_ + mixing_ @ s`` with independent sources ``s``, at most one of them Gaussian. With whitened coordinates
    ``z`` of the rows, ``y = V z`` minimises the sum over sources of ``k_j E[G(y_j)]``, with a sign ``k_j`` for each source, over rotations
    ``V``; with ``ortho=False`` it maximises the likelihood ``log |det V| - sum_j E[G(y_j)]`` over invertible matrices.

    References
    ----------
    P. Ablin, J.-F. Cardoso & A. Gramfort (2018), Faster independent component analysis by preconditioning with Hessian approximations.
    doi:10.1109/TSP.2018.2844203
    P. Ablin, J.-F. Cardoso & A. Gramfort (2018), Faster ICA under orthogonal constraint. doi:10.1109/ICASSP.2018.8461662
    A. Hyvärinen (1999), Fast and robust fixed-point algorithms for independent component analysis. doi:10.1109/72.761722
    A. J. Bell & T. J. Sejnowski (1995), An information-maximization approach to blind separation. doi:10.1162/neco.1995.7.6.1129
    T.-W. Lee, M. Girolami & T. J. Sejnowski (1999), Independent component analysis using an extended infomax algorithm.
    doi:10.1162/089976699300016719
    J.-F. Cardoso & B. H. Laheld (1996), Equivariant adaptive source separation. doi:10.1109/78.553476

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

    @available_if(_learns_row_by_row)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Rows, y: None = None) -> Self:
        """Update the model with a batch of rows, one step of EASI per row; only with ``algorithm="easi"``.

        The result has the same bits however a stream is divided into batches. Rows are not whitened first, because the rule itself makes
        sources uncorrelated with variance 1; so there are as many sources as columns. The mean is a running mean. The step size decreases
        with the number of rows, ``5e-3 / (1 + t / 5000)`` after ``t`` rows, and so do the fluctuations of the sources: after 20000 rows they
        are about 0.03. After ``fit``, learning continues from the fitted sources, with the step size of ``t = 100000`` or later.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows, as for ``fit``; at least one. The type of the first batch is that of the model.
        y : None
            Ignored.

        Returns
        -------
        object
            The estimator, with the current sources. ``stream_`` is the state from which learning continues, and is part of saved and
            pickled models; ``report_.residual`` is the largest entry of the running mean of the step. After an error the model is
            unchanged.

        See Also
        --------
        fit : Fit all rows at once.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import ICA
        >>> draw = np.random.RandomState(0)
        >>> X = draw.laplace(size=(2000, 3)) @ draw.randn(3, 3)
        >>> ica = ICA(algorithm="easi", random_state=0)
        >>> ica.partial_fit(X[:1000]).partial_fit(X[1000:]).n_samples_
        2000
        """
        learn_more(self, X, with_doubts=True)
        return self

    def inverse_transform(self, X: Rows, exclude: Chosen | None = None, include: Chosen | None = None) -> Array:
        """Return the rows of given sources: ``X @ mixing_.T + mean_``.

        With ``exclude`` the result is what the other sources explain, with ``include`` what these sources explain. Unlike :meth:`remove`, it has no part of the rows that is outside the
        span of all sources, which makes a difference if there are fewer sources than columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components), path or Files
            Sources.
        exclude : int, str, sequence of these, or mask of bool of shape (n_components,), optional
            Sources to set to 0: by number from 0 (negative numbers count from the end), by name (``"ica0"``), or by a mask. Repetitions
            have no effect.
        include : int, str, sequence of these, or mask of bool of shape (n_components,), optional
            Sources to keep, in place of ``exclude``: all others are set to 0, as by ``unmix reconstruct --only``.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows, in the type of the sources.

        Raises
        ------
        ValueError
            If both ``exclude`` and ``include`` are given, or a source is given twice.

        See Also
        --------
        remove : Rows without the contribution of some sources.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import ICA
        >>> draw = np.random.RandomState(0)
        >>> X = draw.laplace(size=(2000, 3)) @ draw.randn(3, 3)
        >>> ica = ICA(random_state=0).fit(X)
        >>> ica.inverse_transform(ica.transform(X), exclude=[0]).shape
        (2000, 3)
        """
        if exclude is None and include is None:
            return super().inverse_transform(X)
        if exclude is not None and include is not None:
            raise ValueError("exclude= and include= are both given; keep one of them: sources that are not included are excluded")
        check_is_fitted(self)
        sources = in_memory(X)
        # A copy, with all entries if they are stored sparsely.
        sources = sources.toarray() if issparse(sources) else np.array(sources)
        left_out = np.zeros(self._model.n_codes, dtype=bool)
        if exclude is not None:
            left_out[chosen(self._model, "exclude", exclude)] = True
        else:
            left_out[:] = True
            left_out[chosen(self._model, "include", include)] = False
        sources[:, left_out] = 0
        return super().inverse_transform(sources)

    def remove(self, X: Rows, exclude: Chosen) -> Array:
        """Return rows without the contribution of some sources; all else is unchanged, including the part that no source explains.

        Use it to remove artefacts from a recording, such as blinks from EEG, once their sources have been identified (:meth:`match` helps).
        Rows, sources and result are held in memory; ``unmix reconstruct --exclude`` does the same on the command line.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        exclude : int, str, sequence of these, or mask of bool of shape (n_components,)
            Sources to remove, as for ``inverse_transform``.

        Returns
        -------
        ndarray or data frame of shape (n_samples, n_features)
            ``X - transform(X)[:, exclude] @ mixing_[:, exclude].T``; a frame with the columns of ``X`` if ``set_output`` requests one.

        See Also
        --------
        inverse_transform : Rows of given sources.

        Notes
        -----
        With the excluded columns ``E`` it is ``X - S_E @ mixing_E.T``, ``S = transform(X)``: ``O(n_features k)`` operations for each row
        and ``k`` sources.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import ICA
        >>> draw = np.random.RandomState(0)
        >>> X = draw.laplace(size=(2000, 3)) @ draw.randn(3, 3)
        >>> ica = ICA(random_state=0).fit(X)
        >>> bool(np.abs(ica.transform(ica.remove(X, [0]))[:, 0]).max() < 1e-6)
        True
        """
        check_is_fitted(self)
        excluded = chosen(self._model, "exclude", exclude)
        rows = self._rows(X)
        sources = self._model.encode(rows, self._run_arguments())
        if _is_path(X):
            rows = dense(in_memory_by_names(X, self._model.feature_names))
        rows = np.asarray(rows, dtype=sources.dtype)
        cleaned = rows - sources[:, excluded] @ self.mixing_[:, excluded].T.astype(sources.dtype, copy=False)
        return in_frame(self, cleaned, X)

    def match(self, reference: Components, X: Rows | None = None) -> Array:
        """Return the correlation of every source with reference channels, such as EOG or ECG.

        A source with a large absolute correlation with an EOG or ECG channel is an artefact that :meth:`remove` can remove. Neither the
        sources nor the reference are filtered or shifted in time.

        Parameters
        ----------
        reference : int, str, or a list of them; or array-like of shape (n_samples,) or (n_samples, n_references)
            Columns that the model was fitted on, by number or name; or, with ``X``, channels recorded simultaneously with it.
        X : array-like of shape (n_samples, n_features), path or Files, optional
            Rows of the same samples as the reference. Of a handle that leaves out rows, the reference may have one for each row of its
            files.

        Returns
        -------
        ndarray of shape (n_components, n_references)
            Correlations, 0 if a channel is constant, over the rows that have numbers of the reference; a warning gives the number of the
            others. Without ``X``, those with the parts of the columns that the sources explain.

        See Also
        --------
        unmix.metrics.match : The components of two models, matched.
        remove : Rows without the contribution of some sources.

        Notes
        -----
        With ``X``, the correlation is that of the samples. Without it, ``S`` is the second moment of the sources (the identity, if they are
        a rotation of whitened coordinates) and ``A = mixing_``; the correlation of source ``i`` with column ``j`` is
        ``(A S)[j, i] / sqrt(S[i, i] (A S A.T)[j, j])``.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import ICA
        >>> draw = np.random.RandomState(0)
        >>> X = draw.laplace(size=(2000, 3)) @ draw.randn(3, 3)
        >>> ICA(random_state=0).fit(X).match([0, 1]).shape
        (3, 2)
        """
        check_is_fitted(self)
        if X is not None:
            rows = self._rows(X)
            sources = self._model.encode(rows, self._run_arguments())
            channels = np.asarray(values_in_memory(reference, rows), dtype=np.float64)
            channels = channels.reshape(len(channels), -1)
            return _correlations(sources, of_used_rows(rows, channels, "reference", "row", self._model.feature_names))
        if isinstance(reference, Files):
            raise ValueError("reference must be columns that the model was fitted on, or a handle or an array together with X; X is not given")
        names: Any = [reference] if isinstance(reference, (str, Integral)) else reference
        columns = [self._column(name) for name in names]
        # Second moments of the sources, which are uncorrelated with variance 1 if they are a rotation of whitened coordinates.
        second = np.eye(self.n_components_)
        if "scale_" in vars(self):
            second = self.second_rotation_.T @ self.second_rotation_
        shared = np.asarray(self.mixing_, dtype=np.float64)[columns] @ second
        size = np.sqrt(np.sum(shared * self.mixing_[columns], axis=1))
        with np.errstate(invalid="ignore", divide="ignore"):
            found = shared.T / np.sqrt(np.diag(second))[:, None] / size
        return np.where(np.isfinite(found), found, 0.0)

    def _column(self, name: Any) -> int:
        if isinstance(name, Integral) and 0 <= int(name) < self.n_features_in_:
            return int(name)
        names = list(vars(self).get("feature_names_in_", ()))
        if name in names:
            return names.index(name)
        raise ValueError(
            f"reference must be columns that the model was fitted on, or an array together with X; {name!r} is not a column that the "
            "model was fitted on"
        )


def _correlations(a: Array, b: Array) -> Array:
    if len(a) != len(b):
        raise ValueError(f"reference must be channels of the same samples as X, but has {counted(len(b), 'row')}, and X has {len(a)}")
    known = np.isfinite(b).all(axis=1)
    n_known = int(known.sum())
    if n_known < min(2, len(b)):
        raise ValueError(f"reference must have numbers in at least 2 rows, got {n_known}")
    if n_known < len(b):
        left_out = "has no number of it and is" if len(b) - n_known == 1 else "have no number of it and are"
        warn(f"reference: {len(b) - n_known} of {len(b)} rows {left_out} left out of its correlations")
        a, b = a[known], b[known]
    a, b = (np.asarray(m, dtype=np.float64) - np.mean(m, axis=0, dtype=np.float64) for m in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = a.T @ b / np.linalg.norm(a, axis=0)[:, None] / np.linalg.norm(b, axis=0)
    return np.where(np.isfinite(found), found, 0.0)
