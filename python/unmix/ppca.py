"""Probabilistic PCA and the linear EigenGAN: densities of rows, with standard errors of codes and of missing cells."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._base import Estimator
from ._fixed import fixed
from ._gaps import Gaps
from ._growing import Incremental
from ._parameters import LinearEigenGANParameters, PPCAParameters
from ._types import Array, Rows


class Probabilistic(Gaps, Incremental, Estimator):
    """Shared parts of Gaussian models with a few axes and isotropic noise."""

    def get_covariance(self) -> Array:
        """Return the covariance of the model: ``mixing_ @ mixing_.T + noise_variance_ * I`` (times the squares of ``noise_scale_``).

        It is the maximum likelihood estimate under the model. It is positive definite also with fewer rows than columns, where the sample
        covariance is singular, and takes ``n_features**2`` numbers.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            In the type of the fit.

        See Also
        --------
        get_precision : Its inverse.

        Notes
        -----
        Without ``standardize``, with ``v = explained_variance_`` and ``s = noise_variance_``, it is also
        ``components_.T @ diag(v - s) @ components_ + s I``. It takes ``O(n_features**2 k)`` operations for ``k`` components.

        Examples
        --------
        >>> from unmix import PPCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PPCA(n_components=1).fit(X).get_covariance().round(2)
        array([[4.67, 3.  ],
               [3.  , 2.  ]])
        """
        check_is_fitted(self)
        return self._model.covariance(False).astype(self.mean_.dtype, copy=False)

    def get_precision(self) -> Array:
        """Return the inverse of the covariance of the model.

        With ``v = explained_variance_`` and ``s = noise_variance_`` it is ``components_.T @ diag(1 / v - 1 / s) @ components_ + I / s``
        (with ``standardize=True`` divided by the products of the ``noise_scale_`` of row and column): no matrix is inverted.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            In the type of the fit.

        See Also
        --------
        get_covariance : Its inverse.

        Notes
        -----
        Eigenvalues ``v_i`` and ``s`` of the covariance become ``1 / v_i`` and ``1 / s``. It takes ``O(n_features**2 k)`` operations for ``k``
        components.

        Examples
        --------
        >>> from unmix import PPCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PPCA(n_components=1).fit(X).get_precision().round(2)
        array([[ 6., -9.],
               [-9., 14.]])
        """
        check_is_fitted(self)
        return self._model.precision(False).astype(self.mean_.dtype, copy=False)

    def score_samples(self, X: Rows) -> Array:
        """Return the log-likelihood of each row, from its observed cells.

        It is the logarithm of the marginal normal density of the observed cells, in nats. Rows with different missing cells have densities
        of different columns, so that their values are not comparable with each other. The covariance matrix is not formed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell. The log-likelihood of a row without observed cells is 0.

        Returns
        -------
        ndarray of shape (n_samples,)
            In float64.

        See Also
        --------
        score : Their mean.

        Notes
        -----
        With the ``p`` observed columns of a row, their part ``m`` of ``mean_`` and their block ``C`` of ``get_covariance()``, it is
        ``-1/2 (p log(2 pi) + log(det(C)) + (x - m).T @ inv(C) @ (x - m))``: ``O(p k**2 + k**3)`` operations for ``k`` components, and ``O(p k)``
        for a complete row.

        Examples
        --------
        >>> from unmix import PPCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PPCA(n_components=1).fit(X).score_samples([[3, 2], [3, float("nan")]]).round(2)
        array([-2.29, -2.65])
        """
        check_is_fitted(self)
        return self._model.score_samples(self._rows(X), self._run_arguments(), False)

    def score(self, X: Rows, y: None = None) -> float:
        """Return the mean log-likelihood of the rows, from their observed cells.

        Larger values are better: scikit-learn's ``cross_val_score`` and ``GridSearchCV`` use it as the score of the estimator. Every row
        has the same weight, whatever the number of its observed cells; compare models by the same rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows; NaN is a missing cell.
        y : None
            Ignored.

        Returns
        -------
        float
            The mean of ``score_samples(X)``.

        See Also
        --------
        score_samples : Log-likelihood of each row.

        Examples
        --------
        >>> from unmix import PPCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> round(PPCA(n_components=1).fit(X).score(X), 2)
        -2.29
        """
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: int | np.random.RandomState | None = None) -> Array:
        """Return random rows from the model.

        Latent variables ``z`` and noise ``e`` are drawn from normal distributions: ``x = mean_ + mixing_ @ z + e``. The rows are complete,
        and have the covariance ``get_covariance()`` in expectation.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState or None, default=None
            Seed of the random numbers; None draws one from numpy's global state.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            In the type of the fit.

        See Also
        --------
        score_samples : Log-likelihood of each row.

        Notes
        -----
        With standard normal ``z`` and ``u`` a row is ``mean_ + mixing_ @ z + sqrt(noise_variance_) * u`` (with ``standardize=True``
        the last term is multiplied by ``noise_scale_``): ``O(n_features k)`` operations for ``k`` components.

        Examples
        --------
        >>> from unmix import PPCA
        >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
        >>> PPCA(n_components=1).fit(X).sample(1000, random_state=0).shape
        (1000, 2)
        """
        check_is_fitted(self)
        if not isinstance(n_samples, Integral) or not 0 <= n_samples < 2**63:
            raise ValueError(f"n_samples must be an integer of at least 0, got {n_samples!r}")
        seed = int(check_random_state(random_state).randint(2**31 - 1, dtype=np.int64))
        return _unmix.sample(self._model, int(n_samples), seed).astype(self.mean_.dtype, copy=False)


class PPCA(PPCAParameters, Probabilistic):
    """Probabilistic PCA: a Gaussian model with a few latent variables and isotropic noise.

    The axes are those of PCA; codes are posterior means, which the noise shrinks towards 0, and have covariances. Rows may have missing
    cells (NaN): they are fitted, encoded and scored by their observed cells.

    Parameters
    ----------
    n_components : int, {"aic", "bic", "cells"} or None, default=None
        Number of components, less than the numbers of columns and of rows; 0 for noise alone; None to select it by the Bayesian
        information criterion, at least 1; ``"aic"`` or ``"bic"`` to compare fits with several numbers by that criterion,
        ``"cells"`` by the prediction of held-out cells.
    algorithm : {"auto", "closed-form", "em"}, default="auto"
        Algorithm that maximises the likelihood: ``"closed-form"`` from the spectrum of the covariance, for rows without missing
        cells; ``"em"`` for expectation-maximisation (PX-EM) over the observed cells; ``"auto"`` for the first, or for the second if
        cells are missing.
    noise_floor : float, default=0.0
        Lower bound of the noise variance, as a share of the mean variance of a column. With 0, rows without residual variance are
        refused, because their likelihood is unbounded; 1e-8 keeps it finite.
    tol : float, default=1e-08
        Convergence tolerance of the iterations: the increase of the mean log-likelihood of a row, in nats. The closed form has
        none.
    max_iter : int, default=1000
        Maximum number of iterations.
    standardize : bool, default=False
        Divide every column by its standard deviation first, so that results do not depend on units.
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
        The axes: orthonormal rows, the entry of largest magnitude of each positive. Arrays of a fitted model are read-only.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component (divisor ``n_samples``), including the noise.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the total variance of the model.
    explained_variance_std_error_ : ndarray of shape (n_components,)
        Asymptotic standard error of each variance, ``explained_variance_ * sqrt(2 / (n_samples - 1))`` (Anderson 1963), for rows
        without missing cells.
    scale_ : ndarray of shape (n_components,)
        Standard deviation along each component, including the noise.
    latent_scale_ : ndarray of shape (n_components,)
        Norm of the loadings of each latent variable, ``sqrt(explained_variance_ - noise_variance_)``.
    noise_variance_ : float
        Variance of the noise in every direction.
    mean_ : ndarray of shape (n_features,)
        Mean of the model: that of the rows, if these have no missing cells.
    mixing_ : ndarray of shape (n_features, n_components)
        Decoder: ``inverse_transform(z) = z @ mixing_.T + mean_``, the conditional mean of a row with latent variables ``z``.
    rotation_ : ndarray of shape (n_features, n_components)
        ``components_.T``.
    noise_scale_ : ndarray of shape (n_features,)
        Standard deviation of each column (divisor ``n_samples``), 1 where it does not vary; only with ``standardize=True``.
    n_components_, n_iter_, n_samples_, n_features_in_ : int
        Numbers of components, iterations (1 for the closed form), rows, and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit; with iterations, ``objective`` is the mean log-likelihood of a row under the parameters at the beginning of each, which
        never decreases.

    See Also
    --------
    PCA : The same axes without a model of the noise.
    LinearEigenGAN : The same model, with latent variables in blocks of equal scale.

    Notes
    -----
    Rows are modelled as ``x = mean + W z + e``, with ``z`` standard normal and ``e`` normal of variance ``noise_variance_`` in every
    column; ``W = components_.T @ diag(latent_scale_)``. The likelihood has its maximum at the leading eigenvectors of the covariance, and
    at the mean of the other eigenvalues for the noise. With missing cells it is maximised by expectation-maximisation with expanded
    parameters (PX-EM), with one factorisation for each pattern of observed cells.

    References
    ----------
    M. E. Tipping & C. M. Bishop (1999), Probabilistic principal component analysis. doi:10.1111/1467-9868.00196
    C. Liu, D. B. Rubin & Y. N. Wu (1998), Parameter expansion to accelerate EM. doi:10.1093/biomet/85.4.755

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import PPCA
    >>> draw = np.random.RandomState(0)
    >>> X = draw.randn(500, 2) @ draw.randn(2, 6) + 0.1 * draw.randn(500, 6)
    >>> X[draw.rand(500, 6) < 0.2] = np.nan
    >>> ppca = PPCA(n_components=2).fit(X)
    >>> round(float(ppca.noise_variance_) ** 0.5, 2)
    0.1
    """

    _method = "ppca"


class LinearEigenGAN(LinearEigenGANParameters, Probabilistic):
    """Linear EigenGAN: probabilistic PCA with every latent variable along one axis, optionally in blocks of equal scale.

    The maximum likelihood estimate of a linear EigenGAN, in closed form for rows without missing cells. Without ``groups`` the
    distribution is that of :class:`PPCA`.

    Parameters
    ----------
    n_components : int, {"aic", "bic", "cells"} or None, default=None
        Number of components, less than the numbers of columns and of rows; 0 for noise alone; None to select it by the Bayesian
        information criterion, at least 1; ``"aic"`` or ``"bic"`` to compare fits with several numbers by that criterion,
        ``"cells"`` by the prediction of held-out cells.
    groups : array-like of shape (n_components,), "bic" or None, default=None
        Blocks of components that share one scale: their sizes, in decreasing order of variance, whose sum is the number of
        components; ``"bic"`` for the blocks with the smallest Bayesian information criterion, and their number where
        ``n_components`` is None; None for a separate scale for every component, which missing cells require.
    noise_floor : float, default=0.0
        Lower bound of the noise variance, as a share of the mean variance of a column. With 0, rows without residual variance are
        refused, because their likelihood is unbounded; 1e-8 keeps it finite.
    tol : float, default=1e-08
        Convergence tolerance of the iterations: the increase of the mean log-likelihood of a row, in nats. The closed form has
        none.
    max_iter : int, default=1000
        Maximum number of iterations.
    standardize : bool, default=False
        Divide every column by its standard deviation first, so that results do not depend on units.
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
        The axes ``U``: orthonormal rows, the entry of largest magnitude of each positive.
    latent_scale_ : ndarray of shape (n_components,)
        The scales ``L``: one unit of latent variable ``i`` adds ``latent_scale_[i] * components_[i]`` to a row.
    blocks_ : ndarray of shape (n_blocks,)
        Sizes of the blocks of equal scale; without ``groups``, of the blocks within which the Bayesian information criterion does not
        distinguish variances. Within a block of several components, the axes are an arbitrary rotation.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component, including the noise: ``latent_scale_**2 + noise_variance_``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the total variance of the model.
    explained_variance_std_error_ : ndarray of shape (n_components,)
        Asymptotic standard error of each variance (Anderson 1963), for rows without missing cells.
    scale_ : ndarray of shape (n_components,)
        Standard deviation along each component, including the noise.
    noise_variance_ : float
        Variance of the noise in every direction.
    mean_ : ndarray of shape (n_features,)
        Mean of the model.
    mixing_ : ndarray of shape (n_features, n_components)
        Decoder: ``inverse_transform(z) = z @ mixing_.T + mean_``.
    rotation_ : ndarray of shape (n_features, n_components)
        ``components_.T``.
    noise_scale_ : ndarray of shape (n_features,)
        Standard deviation of each column, 1 where it does not vary; only with ``standardize=True``.
    n_components_, n_iter_, n_samples_, n_features_in_ : int
        Numbers of components, iterations (1 for the closed form), rows, and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit.

    See Also
    --------
    PPCA : The same model without blocks of equal scale.

    Notes
    -----
    Rows are modelled as ``x = mean + U L z + e``, with orthonormal columns of ``U``, diagonal ``L``, standard normal ``z``, and noise ``e``
    of the same variance in every column. Every ``latent_scale_[i]**2`` is an eigenvalue of the covariance, or the mean of those of its
    block, minus the noise variance.

    References
    ----------
    Z. He, M. Kan & S. Shan (2021), EigenGAN: layer-wise eigen-learning for GANs. doi:10.1109/ICCV48922.2021.01414
    M. E. Tipping & C. M. Bishop (1999), Probabilistic principal component analysis. doi:10.1111/1467-9868.00196

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import LinearEigenGAN
    >>> draw = np.random.RandomState(0)
    >>> X = draw.randn(2000, 8) * [3, 3, 3, 2, 2, 1, 1, 1]
    >>> LinearEigenGAN(groups="bic").fit(X).blocks_
    array([3, 2])
    """

    _method = "linear-eigengan"

    def _adopt(self, model: _unmix.Model) -> None:
        super()._adopt(model)
        vars(self)["blocks_"] = fixed(model.tensors["blocks"].astype(np.int64))
