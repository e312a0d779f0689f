"""Subspace clustering: clusters of rows near a union of subspaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._base import Estimator
from ._fixed import fixed
from ._parameters import SubspaceClusteringParameters
from ._sklearn import available_if
from ._types import Array, Rows

if TYPE_CHECKING:
    from typing_extensions import Self

    class ClusterMixin:
        """For type checkers: with a base without annotations they would accept every name as an attribute."""

else:
    from sklearn.base import ClusterMixin


def _is_mixture(estimator: SubspaceClustering) -> bool:
    """Condition of the methods of a mixture, in which rows have cluster probabilities."""
    if estimator.algorithm != "ppca-mixture":
        raise AttributeError(f"cluster probabilities and likelihoods need algorithm='ppca-mixture', got {estimator.algorithm!r}")
    return True


#: Documentation of the methods of other estimators that this one does not have.
_UNDECODED = """Not available (AttributeError): codes are distances from the subspaces, from which no row can be computed.

A row has as many distances as there are subspaces, usually fewer than columns, and all rows at the same distances from them have the same
code. The projection of a row onto the subspace of cluster ``k`` is ``(x - mean_) @ subspaces_[k].T @ subspaces_[k] + mean_``, in a
mixture with ``means_[k]`` in place of ``mean_``.

See Also
--------
transform : Distances from all subspaces.
predict : Clusters.

Examples
--------
>>> from unmix import PCA, SubspaceClustering
>>> [hasattr(estimator, "inverse_transform") for estimator in (PCA(), SubspaceClustering())]
[True, False]
"""


class SubspaceClustering(SubspaceClusteringParameters, ClusterMixin, Estimator):
    """Subspace clustering: clusters of rows that lie near subspaces, and the subspaces.

    Subspaces pass through 0, or through the mean with ``center=True``; they may have any angles and different dimensions. The number of
    clusters and the dimensions are estimated unless they are given. All rows are held in memory.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters; None for the number of eigenvalues of the normalized affinities before their largest gap, from 2 to 20,
        or for 1 if the Bayesian information criterion prefers a single subspace.
    n_components : int, array-like of shape (n_components,) or None, default=None
        Dimension of the subspaces: a number for all of them, or a list with one for each cluster; None to select that of each
        cluster by the Bayesian information criterion, at least 1 and, with several clusters, below the number of columns.
    algorithm : {"ssc+k-subspaces", "ssc", "k-subspaces", "shape", "ppca-mixture"}, default="ssc+k-subspaces"
        Algorithm: ``"ssc"``, spectral clustering of the coefficients of sparse self-representation; ``"k-subspaces"``, alternation
        between assigning rows to the nearest subspace and fitting subspaces to their rows; ``"ssc+k-subspaces"``, the second
        started from the clusters of the first; ``"shape"``, spectral clustering of the shape interaction matrix;
        ``"ppca-mixture"``, maximum likelihood of a mixture of probabilistic PCA, started from the clusters of
        ``"ssc+k-subspaces"``, or from those of ``"k-subspaces"`` if ``n_clusters`` and ``n_components`` are given and there are
        more than 2000 rows: rows then have probabilities and a likelihood.
    alpha : float, default=20.0
        Weight of the squared error relative to the sparsity term in sparse subspace clustering, above 1: the penalty is ``1 /
        alpha`` times the smallest one at which all coefficients of some row are 0.
    n_init : int, default=10
        Number of random starts; the one with the smallest sum of squared distances is kept.
    tol : float, default=1e-08
        Convergence tolerance: the decrease of the sum of squared distances in an iteration, relative to the sum of squares of the
        rows; for a mixture, the increase of the mean log-likelihood per row, in nats.
    max_iter : int, default=300
        Maximum number of iterations, of each start.
    center : bool, default=False
        Subtract the mean of every column; each component of a mixture then has its own mean. By default nothing is subtracted:
        subspaces pass through the origin.
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
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row of the fit, numbered from 0 in order of decreasing number of rows.
    dimensions_ : ndarray of shape (n_clusters,)
        Dimension of each subspace.
    subspaces_ : list of ndarray
        For each cluster the axes of its subspace, orthonormal rows of shape ``(dimensions_[k], n_features)``, in order of decreasing sum of
        squares of its rows along them.
    bases_ : ndarray of shape (sum of dimensions_, n_features)
        The axes of all subspaces, stacked.
    mean_ : ndarray of shape (n_features,)
        Subtracted from rows: means of the columns with ``center=True``, else zeros.
    weights_ : ndarray of shape (n_clusters,)
        Only for a mixture: the probability of each cluster.
    means_ : ndarray of shape (n_clusters, n_features)
        Only for a mixture: the mean of each cluster, through which its subspace passes; zeros unless ``center=True``.
    variances_ : ndarray of shape (sum of dimensions_,)
        Only for a mixture: the variance along each row of ``bases_``.
    noise_variance_ : ndarray of shape (n_clusters,)
        Only for a mixture: the variance in every direction orthogonal to each subspace.
    n_clusters_, n_iter_, n_samples_, n_features_in_ : int
        Numbers of clusters, of iterations, of rows and of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit; ``objective`` is the mean squared distance of rows from their subspaces after each iteration, or the mean
        log-likelihood of a row under a mixture.

    See Also
    --------
    PCA : One subspace, through the mean.

    Notes
    -----
    A row of cluster ``k``, less the mean if ``center=True``, is ``x = z U_k`` plus noise: the rows of ``U_k`` are axes of its subspace.
    Sparse subspace clustering represents every row ``x_i``, scaled to norm 1, as a sparse combination of the others: ``c`` minimises
    ``||c||_1 + tau/2 ||x_i - sum_j c_j x_j||**2`` with ``c_i = 0``; rows of one subspace use each other. Normalized spectral clustering of
    the affinities ``|C| + |C.T|`` gives clusters, from which k-subspaces assigns rows to the nearest subspace and fits subspaces to their
    rows, in turn: ``sum_i ||x_i - x_i U_k.T U_k||**2`` never increases.

    References
    ----------
    E. Elhamifar & R. Vidal (2013), Sparse subspace clustering: algorithm, theory, and applications. doi:10.1109/TPAMI.2013.57
    P. Bradley & O. Mangasarian (2000), k-plane clustering. doi:10.1023/A:1008324625522
    M. Tipping & C. Bishop (1999), Mixtures of probabilistic principal component analyzers. doi:10.1162/089976699300016728

    Examples
    --------
    >>> from unmix import SubspaceClustering
    >>> from unmix.datasets import union_of_subspaces
    >>> from unmix.metrics import clustering_accuracy
    >>> made = union_of_subspaces((60, 60, 60), 30, 3, noise=0.05)
    >>> model = SubspaceClustering(random_state=0).fit(made.X)
    >>> model.n_clusters_, model.dimensions_.tolist(), clustering_accuracy(made.labels, model.labels_) > 0.98
    (3, [3, 3, 3], True)
    """

    _method = "subspace-clustering"
    _units = "subspaces"

    def fit(self, X: Rows, y: None = None) -> Self:  # type: ignore[override]
        """Fit the model to rows.

        Sparse self-representation compares all rows with each other: ``O(n_samples**2 * n_features)`` operations and tables of
        ``n_samples x n_samples`` numbers. For many rows use ``algorithm="k-subspaces"`` with given ``n_clusters`` and ``n_components``,
        which needs no such table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows, which are held in memory.
        y : None
            Ignored.

        Returns
        -------
        object
            The fitted estimator. When fitting fails or is interrupted, it is as it was before.

        See Also
        --------
        predict : Clusters of other rows.

        Examples
        --------
        >>> from unmix import SubspaceClustering
        >>> X = [[1, 0, 0], [-2, 0, 0], [3, 0, 0], [0, 1, 2], [0, -2, -4]]
        >>> SubspaceClustering(n_clusters=2, n_components=1).fit(X).labels_
        array([0, 0, 0, 1, 1])
        """
        self._fit(X)
        return self

    def fit_predict(self, X: Rows, y: None = None) -> Array:
        """Fit the model to rows and return their clusters: ``fit(X).labels_``.

        The labels of the fit are returned, not those of ``predict``, which assigns each row to the nearest subspace: with
        ``algorithm="ssc"`` and ``"shape"`` these can differ.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            The cluster of each row, from 0.

        See Also
        --------
        predict : Clusters of other rows.

        Examples
        --------
        >>> from unmix import SubspaceClustering
        >>> X = [[1, 0, 0], [-2, 0, 0], [3, 0, 0], [0, 1, 2], [0, -2, -4]]
        >>> SubspaceClustering(n_clusters=2, n_components=1).fit_predict(X)
        array([0, 0, 0, 1, 1])
        """
        return self.fit(X).labels_

    def fit_transform(self, X: Rows, y: None = None) -> Array:  # type: ignore[override]
        """Fit the model to rows and return their distances from the subspaces: ``fit(X).transform(X)``, to the bit.

        A distance is the norm of the part of the row, less ``mean_`` (or the mean of the cluster of a mixture), that is orthogonal to the
        subspace. Rows cannot be recovered from their distances, so that there is no ``inverse_transform``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Distances, in the type of the rows.

        See Also
        --------
        transform : Distances of other rows.

        Examples
        --------
        >>> from unmix import SubspaceClustering
        >>> X = [[1, 0, 0], [-2, 0, 0], [3, 0, 0], [0, 3, 4], [0, -6, -8]]
        >>> SubspaceClustering(n_clusters=2, n_components=1).fit_transform(X).round(2) + 0
        array([[ 0.,  1.],
               [ 0.,  2.],
               [ 0.,  3.],
               [ 5.,  0.],
               [10.,  0.]])
        """
        rows, threads = self._fit(X)
        return self._model.encode(rows, (0, threads, int(self.verbose)))

    def predict(self, X: Rows) -> Array:
        """Return the nearest subspace of each row, or the most probable one of a mixture.

        New rows do not change the subspaces: each is assigned independently of the others, in ``O(n_features)`` operations for each axis.
        Labels of rows of the fit may differ from ``labels_``, where these are from affinities (``"ssc"`` and ``"shape"``).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows with the columns that the model was fitted on.

        Returns
        -------
        ndarray of shape (n_samples,)
            Clusters, numbered from 0; in case of ties the first.

        See Also
        --------
        transform : Distances from all subspaces.

        Examples
        --------
        >>> from unmix import SubspaceClustering
        >>> X = [[1, 0, 0], [-2, 0, 0], [3, 0, 0], [0, 1, 2], [0, -2, -4]]
        >>> SubspaceClustering(n_clusters=2, n_components=1).fit(X).predict([[0, 5, 11]])
        array([1])
        """
        check_is_fitted(self)
        return self._model.labels(self._rows(X), self._run_arguments())

    @available_if(_is_mixture)
    def predict_proba(self, X: Rows) -> Array:
        """Return the probability of each cluster for each row under a mixture (``algorithm="ppca-mixture"``).

        It is the posterior probability given the fitted mixture: the weight times the density of each cluster, normalised. Unlike the
        nearest subspace it takes the variances inside the subspaces and the noise of each cluster into account.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows with the columns that the model was fitted on.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Probabilities, in float64; each row adds up to 1.

        See Also
        --------
        predict : The most probable cluster.

        Notes
        -----
        ``p_k(x) = w_k N_k(x) / sum_l w_l N_l(x)``, with ``w = weights_`` and the normal densities ``N_k`` of :meth:`score_samples`.

        Examples
        --------
        >>> from unmix import SubspaceClustering
        >>> from unmix.datasets import union_of_subspaces
        >>> X = union_of_subspaces((40, 30), 6, 2, noise=0.1).X
        >>> SubspaceClustering(2, 2, algorithm="ppca-mixture", random_state=0).fit(X).predict_proba(X[:1]).sum().round(12)
        np.float64(1.0)
        """
        check_is_fitted(self)
        return self._model.probabilities(self._rows(X), self._run_arguments())

    @available_if(_is_mixture)
    def score_samples(self, X: Rows) -> Array:
        """Return the log-likelihood of each row under a mixture (``algorithm="ppca-mixture"``).

        It is the logarithm of the density of the mixture, in nats; small values indicate rows that are near no cluster. It is evaluated
        without a covariance matrix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            In float64.

        See Also
        --------
        score : Their mean.

        Notes
        -----
        ``log(sum_k w_k N(x; m_k, U_k.T @ diag(v_k - s_k) @ U_k + s_k I))``, with ``w = weights_``, ``m = means_``, and for each cluster the
        axes ``U_k`` of ``subspaces_``, their variances ``v_k`` and the noise ``s_k``.

        Examples
        --------
        >>> from unmix import SubspaceClustering
        >>> from unmix.datasets import union_of_subspaces
        >>> X = union_of_subspaces((40, 30), 6, 2, noise=0.1).X
        >>> SubspaceClustering(2, 2, algorithm="ppca-mixture", random_state=0).fit(X).score_samples(X).shape
        (70,)
        """
        check_is_fitted(self)
        return self._model.score_samples(self._rows(X), self._run_arguments(), False)

    @available_if(_is_mixture)
    def score(self, X: Rows, y: None = None) -> float:
        """Return the mean log-likelihood of rows under a mixture (``algorithm="ppca-mixture"``).

        Larger values are better: scikit-learn's ``cross_val_score`` and ``GridSearchCV`` use it as the score of the estimator, for example
        to compare numbers of clusters on held-out rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        y : None
            Ignored.

        Returns
        -------
        float
            In nats.

        See Also
        --------
        score_samples : Log-likelihood of each row.

        Examples
        --------
        >>> from unmix import SubspaceClustering
        >>> from unmix.datasets import union_of_subspaces
        >>> X = union_of_subspaces((40, 30), 6, 2, noise=0.1).X
        >>> model = SubspaceClustering(2, 2, algorithm="ppca-mixture", random_state=0).fit(X)
        >>> bool(abs(model.score(X) - model.report_.objective[-1]) < 1e-9)
        True
        """
        return float(np.mean(self.score_samples(X)))

    def _undecoded(self) -> NoReturn:
        raise AttributeError(f"{type(self).__name__!r} has no inverse_transform or decode: distances from subspaces cannot be decoded")

    if not TYPE_CHECKING:
        # Type checkers have the declarations of other estimators, which a property must not replace.
        inverse_transform = property(_undecoded, doc=_UNDECODED)
        decode = property(_undecoded, doc=_UNDECODED)

    def _continues(self) -> bool:
        # A start is used where there are iterations, and not by algorithms that compute clusters from affinities alone.
        settings, _ = self._settings_and_source()
        return super()._continues() and _unmix.has_effect(self._method, "max_iter", settings)

    def _adopt(self, model: _unmix.Model) -> None:
        super()._adopt(model)
        for name in ("labels", "dimensions"):
            vars(self)[name + "_"] = fixed(np.asarray(model.tensors[name]).astype(np.int64))

    #: Attributes that are computed from the model on access.
    _derived = frozenset({"subspaces_", "n_clusters_"})

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name not in type(self)._derived:
                return super().__getattr__(name)
            check_is_fitted(self)
            if name == "n_clusters_":
                return self._model.n_codes
            return np.split(self.bases_, np.cumsum(self.dimensions_)[:-1])
