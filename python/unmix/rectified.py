"""Rectified factor networks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import Estimator
from ._biclusters import Biclusters, biclusters
from ._likelihood import Likelihood
from ._parameters import RFNParameters, StackedRFNParameters
from ._settings import _json
from ._types import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from . import _unmix


class RFN(RFNParameters, Likelihood, Estimator):
    """Rectified factor network: a factor model with many units, whose codes are non-negative and sparse.

    Each unit is active in some of the rows, and adds its decoder row times its code to these. There may be more units than columns. With
    ``e_step="plain"`` an iteration takes one pass over the rows, which need not fit into memory.

    Parameters
    ----------
    n_components : int, default=50
        Number of units, which may exceed the number of columns.
    e_step : {"plain", "cascade", "coordinate"}, default="plain"
        Algorithm of the E-step: ``"plain"`` rectifies posterior means at 0 and normalises them, as in the published tables, and the
        objective can decrease; ``"coordinate"`` is exact for each unit, and ``"cascade"`` tries steps until one decreases the
        divergence, so that the objective is monotone; both keep the codes of all rows in memory.
    normalize : {"rms", "std", "none"}, default="rms"
        Normalisation of the codes of each unit: ``"rms"`` to second moment 1, ``"std"`` to standard deviation 1, or ``"none"``.
    learning_rate : float or "auto", default="auto"
        Learning rate: parameters move by this fraction of the full update in an iteration; ``"auto"`` is 0.1 with
        ``e_step="plain"``, else 1.
    max_iter : int, default=1000
        Maximum number of iterations; with ``batch_size``, of epochs.
    tol : float or None, default=None
        Convergence tolerance: the larger of the relative changes of loadings and noise in an iteration, divided by the learning
        rate, must be below it in five successive iterations; None for exactly ``max_iter`` iterations.
    init : {"random", "ica"}, fitted estimator, path or None, default="random"
        Initial loadings: ``"random"`` for normal numbers with 0.01 times the standard deviation of each column, ``"ica"`` for the
        columns of the mixing matrix of independent components, each with the sign for which its source has positive skewness; or a
        fitted model, or the path of one, whose components are the initial weights.
    n_init : int, default=1
        Number of starts, of which the one with the largest objective is kept.
    center : bool or "median", default=True
        Subtract the mean of every column; ``"median"`` for the median, which needs access to rows by column.
    psi_min : float, default=0.01
        Lower bound on the noise variance of a column, in units of ``psi_min_unit``.
    psi_min_unit : {"variance", "mean", "absolute"}, default="variance"
        Unit of ``psi_min`` and of the random start: ``"variance"`` is the variance of the column, so that the units of columns do
        not matter; ``"mean"`` the mean variance of the columns, for pictures; ``"absolute"`` the unit of the data.
    noise : {"diagonal", "full"}, default="diagonal"
        Covariance of the noise: a variance for each column, or a full matrix, which absorbs covariance that units would explain.
    m_step : {"newton", "inverse-psi", "gradient"}, default="newton"
        Direction of the M-step: Newton's; the same with the inverse of the noise covariance if that is stable; or the gradient, in
        units of its largest stable step.
    prior_mean : float, default=0.0
        Prior mean of every unit; a negative one makes codes sparser.
    prior_cov : float, default=1.0
        Prior variance of every unit.
    l1 : float, default=0.0
        Soft threshold of loadings after each iteration, in standard deviations of the column.
    l2 : float, default=0.0
        Weight decay: the fraction by which loadings shrink after each iteration.
    w_max : float or None, default=None
        Largest absolute loading, in standard deviations of the column; None for no bound.
    dropout : float, default=0.0
        Dropout rate: the probability that a code is set to 0 in an iteration; ``e_step="plain"`` only.
    dropout_place : {"after", "before"}, default="after"
        Apply dropout after or before the normalisation of codes.
    input_noise : float, default=0.0
        Amount of corruption of rows before they are encoded during the fit: probability for ``"mask"`` and ``"salt-pepper"``,
        standard deviation for ``"gaussian"``, relative to that of the column; ``e_step="plain"`` only.
    input_noise_kind : {"mask", "salt-pepper", "gaussian"}, default="mask"
        Corruption of rows: ``"mask"`` sets entries to 0, ``"salt-pepper"`` to 0 or 1, ``"gaussian"`` adds normal numbers.
    accept : {"mean", "kl"}, default="mean"
        Criterion that a step of ``e_step="cascade"`` must decrease: ``"mean"`` for the divergence of the codes, ``"kl"`` for that
        with the covariance of the previous iteration for the old codes.
    dead_unit : {"auto", "zero", "onehot"}, default="auto"
        Treatment of units that are 0 in every row: ``"zero"`` keeps them, ``"onehot"`` activates each at the row where it is
        closest to positive; ``"auto"`` is ``"onehot"`` if the objective is monotone and codes are normalised, else ``"zero"``.
    batch_size : int or None, default=None
        Mini-batch size, at least twice ``n_components``: parameters are updated after each batch, from running averages of the
        sums; None for all rows at once. ``e_step="plain"`` only.
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
        Decoder rows: what a code of 1 adds to the columns, in order of decreasing use of the units, the second moment of the codes times
        the sum of squared loadings in standard deviations of the columns. Constant columns have loading 0.
    noise_variance_ : ndarray of shape (n_features,)
        Variance of the noise of each column; 0 for constant columns. Only with ``noise="diagonal"``.
    noise_covariance_ : ndarray of shape (n_features, n_features)
        Covariance of the noise; only with ``noise="full"``.
    mean_ : ndarray of shape (n_features,)
        Offset that is subtracted from rows: means or medians of the columns, or zeros, by ``center``.
    encoder_weight_ : ndarray of shape (n_components, n_features)
        With ``encoder_bias_`` the encoder of ``e_step="plain"`` as a layer of a network: ``transform(x) = max(0, x @ encoder_weight_.T +
        encoder_bias_)``.
    encoder_bias_ : ndarray of shape (n_components,)
        The bias of that layer.
    encoder_offset_ : ndarray of shape (n_components,)
        Bias of the encoder for centred rows, ``x - mean_``; 0 without a prior mean.
    code_moments_ : ndarray of shape (n_components, n_components)
        Second moments of the codes of the fit, including their posterior covariance: the second moments of the rows about ``mean_`` are
        modelled as ``components_.T @ code_moments_ @ components_`` plus the noise covariance.
    code_scale_ : ndarray of shape (n_components,)
        Factor by which the codes of each unit are multiplied; 0 for units that are 0 in every row.
    prior_ : ndarray of shape (2,)
        Mean and variance of the prior of every unit.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations, and numbers of units, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit. ``objective`` is the mean over rows of the log-likelihood minus the Kullback-Leibler divergence of the code
        distribution from the posterior, in each iteration, and ``final_objective`` that of the final codes; ``decreases`` has the number of
        its decreases, and the largest; ``dead_units`` is the number of units that are 0 in every row; ``one_hot`` how often such units were
        reactivated. With a monotone objective, ``certificate`` has the largest violation of the optimality conditions of the codes, and
        ``rungs`` how often each candidate of the cascade was accepted.

    See Also
    --------
    FactorAnalysis : The same model with codes of either sign.
    RICA : Sparse features of either sign.

    Notes
    -----
    Rows are ``x = mean_ + h @ components_ + e`` with normal ``h`` and ``e``. The posterior of ``h`` is approximated by distributions with
    non-negative means (the codes), normalised to second moment 1 over the rows for each unit. ``e_step="plain"`` rectifies and normalises
    the posterior means, as in the published tables; the convergence theorem of the paper does not apply to it. ``"coordinate"`` and
    ``"cascade"`` never decrease the objective, unless ``l1``, ``l2`` or ``w_max`` changes the loadings after a step; they hold the codes of all rows in memory, and encode by non-negative least squares.

    References
    ----------
    D.-A. Clevert, A. Mayr, T. Unterthiner & S. Hochreiter (2015), Rectified factor networks. arXiv:1502.06464

    Examples
    --------
    >>> from unmix import RFN
    >>> from unmix.datasets import biclusters
    >>> X = biclusters("D1", seed=0)
    >>> rfn = RFN(n_components=20, max_iter=100, random_state=0).fit(X)
    >>> codes = rfn.transform(X)
    >>> bool((codes >= 0).all()), bool(0.5 < (codes == 0).mean() < 0.9)
    (True, True)
    """

    _method = "rfn"

    def biclusters(self, X: Rows) -> Biclusters:
        """Return the units of this model as modules: the rows and columns in which each is large.

        No model is fitted: members are determined by the codes and the loadings of the fitted units. A single fit may miss modules and have
        units of noise; :func:`unmix.biclusters` pools several fits, at their cost, and gives stability and q-values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            The rows, dense or sparse: those of the fit, or others.

        Returns
        -------
        Biclusters
            Modules, in the order of decreasing evidence. ``stability_``, ``q_value_`` and ``halves_`` are NaN: they need more fits.

        See Also
        --------
        unmix.biclusters : Pools the units of several starts, with stability and q-values.

        Examples
        --------
        >>> import unmix
        >>> X = unmix.datasets.rare_modules(shift=5, seed=0)
        >>> model = unmix.RFN(50, init="ica", psi_min=0.3, max_iter=50, random_state=0).fit(X)
        >>> found = model.biclusters(X)
        >>> rows, columns = found.get_indices(0)
        >>> found.get_submatrix(0, X).shape == (len(rows), len(columns))
        True
        """
        check_is_fitted(self)
        return biclusters(self, X, n_starts=0)


class StackedRFN(StackedRFNParameters, Estimator):
    """Layers of rectified factor networks: each layer is fitted to the codes of the layer below it.

    The fit is greedy, one layer after the other. Codes of the layers below are computed in the pass over the rows, so that they are never
    stored and rows need not fit into memory.

    Parameters
    ----------
    n_components : int or array-like of shape (n_layers,), default=(512, 256)
        Numbers of units, one for each layer, the lowest first; a single number for one layer. Every other setting is one value, or
        a list with one for each layer.
    e_step : {"plain", "cascade", "coordinate"} or array-like of shape (n_layers,), default="plain"
        Algorithm of the E-step, ``"plain"`` in every layer: ``"cascade"`` and ``"coordinate"`` are refused, because their codes are
        solutions of least-squares problems, which a network layer does not compute.
    normalize : {"rms", "std", "none"} or array-like of shape (n_layers,), default="rms"
        Normalisation of the codes of each unit: ``"rms"`` to second moment 1, ``"std"`` to standard deviation 1, or ``"none"``.
    learning_rate : float, "auto" or array-like of shape (n_layers,), default="auto"
        Learning rate: parameters move by this fraction of the full update in an iteration; ``"auto"`` is 0.1 with
        ``e_step="plain"``, else 1.
    max_iter : int or array-like of shape (n_layers,), default=1000
        Maximum number of iterations; with ``batch_size``, of epochs.
    tol : float, None or array-like of shape (n_layers,), default=None
        Convergence tolerance: the larger of the relative changes of loadings and noise in an iteration, divided by the learning
        rate, must be below it in five successive iterations; None for exactly ``max_iter`` iterations.
    init : {"random", "ica"} or array-like of shape (n_layers,), fitted estimator, path or None, default="random"
        Initial loadings: ``"random"`` for normal numbers with 0.01 times the standard deviation of each column, ``"ica"`` for the
        columns of the mixing matrix of independent components, each with the sign for which its source has positive skewness; or a
        fitted model, or the path of one, whose components are the initial weights.
    n_init : int or array-like of shape (n_layers,), default=1
        Number of starts, of which the one with the largest objective is kept.
    center : bool, "median" or array-like of shape (n_layers,), default=True
        Subtract the mean of every column; ``"median"`` for the median, which needs access to rows by column.
    psi_min : float or array-like of shape (n_layers,), default=0.01
        Lower bound on the noise variance of a column, in units of ``psi_min_unit``.
    psi_min_unit : {"variance", "mean", "absolute"} or array-like of shape (n_layers,), default="variance"
        Unit of ``psi_min`` and of the random start: ``"variance"`` is the variance of the column, so that the units of columns do
        not matter; ``"mean"`` the mean variance of the columns, for pictures; ``"absolute"`` the unit of the data.
    noise : {"diagonal", "full"} or array-like of shape (n_layers,), default="diagonal"
        Covariance of the noise: a variance for each column, or a full matrix, which absorbs covariance that units would explain.
    m_step : {"newton", "inverse-psi", "gradient"} or array-like of shape (n_layers,), default="newton"
        Direction of the M-step: Newton's; the same with the inverse of the noise covariance if that is stable; or the gradient, in
        units of its largest stable step.
    prior_mean : float or array-like of shape (n_layers,), default=0.0
        Prior mean of every unit; a negative one makes codes sparser.
    prior_cov : float or array-like of shape (n_layers,), default=1.0
        Prior variance of every unit.
    l1 : float or array-like of shape (n_layers,), default=0.0
        Soft threshold of loadings after each iteration, in standard deviations of the column.
    l2 : float or array-like of shape (n_layers,), default=0.0
        Weight decay: the fraction by which loadings shrink after each iteration.
    w_max : float, None or array-like of shape (n_layers,), default=None
        Largest absolute loading, in standard deviations of the column; None for no bound.
    dropout : float or array-like of shape (n_layers,), default=0.0
        Dropout rate: the probability that a code is set to 0 in an iteration; ``e_step="plain"`` only.
    dropout_place : {"after", "before"} or array-like of shape (n_layers,), default="after"
        Apply dropout after or before the normalisation of codes.
    input_noise : float or array-like of shape (n_layers,), default=0.0
        Amount of corruption of rows before they are encoded during the fit: probability for ``"mask"`` and ``"salt-pepper"``,
        standard deviation for ``"gaussian"``, relative to that of the column; ``e_step="plain"`` only.
    input_noise_kind : {"mask", "salt-pepper", "gaussian"} or array-like of shape (n_layers,), default="mask"
        Corruption of rows: ``"mask"`` sets entries to 0, ``"salt-pepper"`` to 0 or 1, ``"gaussian"`` adds normal numbers.
    accept : {"mean", "kl"} or array-like of shape (n_layers,), default="mean"
        Criterion that a step of ``e_step="cascade"`` must decrease: ``"mean"`` for the divergence of the codes, ``"kl"`` for that
        with the covariance of the previous iteration for the old codes.
    dead_unit : {"auto", "zero", "onehot"} or array-like of shape (n_layers,), default="auto"
        Treatment of units that are 0 in every row: ``"zero"`` keeps them, ``"onehot"`` activates each at the row where it is
        closest to positive; ``"auto"`` is ``"onehot"`` if the objective is monotone and codes are normalised, else ``"zero"``.
    batch_size : int, None or array-like of shape (n_layers,), default=None
        Mini-batch size, at least twice ``n_components``: parameters are updated after each batch, from running averages of the
        sums; None for all rows at once. ``e_step="plain"`` only.
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
    layers_ : list of RFN
        The layers as fitted models, the lowest first.
    components_ : ndarray of shape (n_components, n_features)
        Decoder rows of the last layer, decoded through all layers: what a code of 1 adds to the columns of the rows.
    mean_ : ndarray of shape (n_features,)
        The row that is decoded from codes of 0.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations of all layers, and numbers of units of the last layer, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit; ``layers`` has the settings and the report of each layer.

    See Also
    --------
    RFN : A single layer, with modules and a likelihood.

    Notes
    -----
    ``network()`` returns the encoders of the layers as weights and biases. A model file contains the same network as tensors
    ``layers.0.weight``, ``layers.0.bias``, ``layers.1.weight`` and so on: ``relu(x @ weight.T + bias)``, layer after layer, is
    ``transform``. Only ``e_step="plain"`` has such an encoder, so that the other modes are refused. ``init`` with a fitted stack
    initialises every layer from the layer of the same number.

    References
    ----------
    D.-A. Clevert, A. Mayr, T. Unterthiner & S. Hochreiter (2015), Rectified factor networks. arXiv:1502.06464

    Examples
    --------
    >>> from unmix import StackedRFN
    >>> from unmix.datasets import biclusters
    >>> X = biclusters("D1", seed=0)
    >>> stack = StackedRFN(n_components=(20, 10), max_iter=100, random_state=0).fit(X)
    >>> [layer.n_components_ for layer in stack.layers_]
    [20, 10]
    >>> codes = stack.transform(X)
    >>> bool((codes == stack.layers_[1].transform(stack.layers_[0].transform(X))).all())
    True
    """

    _method = "stacked-rfn"
    _derived = frozenset({"layers_"})

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        return {name: _per_layer(value) for name, value in settings.items()}

    def _starts_from_model(self) -> bool:
        # One choice of the setting for each layer.
        return not isinstance(self.init, (list, tuple, np.ndarray)) and super()._starts_from_model()

    @property
    def layers_(self) -> list[RFN]:
        """The layers as fitted models, the lowest first.

        Each is a model of its own, with its likelihood, its modules and its report; its columns are the units of the layer below. The
        estimators are made anew on each access.

        See Also
        --------
        network : Weights and biases of the encoder.

        Examples
        --------
        >>> from unmix import StackedRFN
        >>> from unmix.datasets import biclusters
        >>> stack = StackedRFN(n_components=(6, 3), max_iter=20, random_state=0).fit(biclusters("D1", seed=0))
        >>> [layer.n_components_ for layer in stack.layers_]
        [6, 3]
        """
        return [_layer(model) for model in self._model.layers()]

    def network(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Return the encoder as layers of a network: ``maximum(0, x @ weight.T + bias)``, one after the other, is ``transform``.

        Centring and the scales of the codes are part of weights and biases, so that another program needs no other parameters to compute
        the codes, or to train the network further. The arrays are read-only; copy them before a change.

        Returns
        -------
        list of tuple
            For each layer, the lowest first, its weight of shape (n_units, n_columns) and its bias of shape (n_units,).

        See Also
        --------
        save : A file with the same numbers as tensors, which other programs load.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import StackedRFN
        >>> from unmix.datasets import biclusters
        >>> X = biclusters("D1", seed=0)
        >>> stack = StackedRFN(n_components=(20, 10), max_iter=50, random_state=0).fit(X)
        >>> codes = X
        >>> for weight, bias in stack.network():
        ...     codes = np.maximum(0, codes @ weight.T + bias)
        >>> bool(np.allclose(codes, stack.transform(X)))
        True
        """
        check_is_fitted(self)
        tensors = self._model.tensors
        n = sum(name.endswith(".weight") for name in tensors)
        return [(tensors[f"layers.{i}.weight"], tensors[f"layers.{i}.bias"]) for i in range(n)]


def _per_layer(value: Any) -> Any:
    """A setting as JSON; values for each layer become a list."""
    return [_json(one) for one in value] if isinstance(value, (list, tuple, np.ndarray)) else value


def _layer(model: _unmix.Model) -> RFN:
    """A layer as an estimator."""
    layer = RFN(**json.loads(model.settings))
    layer._adopt(model)
    return layer
