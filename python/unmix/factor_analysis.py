"""Factor analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ._base import Estimator
from ._fixed import fixed
from ._gaps import Gaps
from ._growing import Incremental
from ._input import _is_path, warn
from ._likelihood import Likelihood
from ._parameters import FactorAnalysisParameters
from ._record import FitIndices

if TYPE_CHECKING:
    from . import _unmix


class FactorAnalysis(FactorAnalysisParameters, Gaps, Likelihood, Incremental, Estimator):
    """Factor analysis: a few common factors of many columns, and a noise variance for each column.

    A drop-in for ``sklearn.decomposition.FactorAnalysis``: parameters, attributes and errors are scikit-learn's. The likelihood is
    maximised by Newton's method on the uniquenesses, in a few steps, after one pass over the rows. NaN is a missing cell: rows are fitted,
    encoded and scored by their observed cells, and ``impute`` fills the others.

    Parameters
    ----------
    n_components : int, {"aic", "bic", "cells", "parallel"} or None, default=None
        Number of factors: a number; None for ``min(n_samples, n_features)``, a saturated model; ``"aic"`` or ``"bic"`` for the
        number that minimises this criterion; ``"cells"`` for the number that predicts held-out cells best; ``"parallel"`` for
        parallel analysis of the correlations, which holds the rows in memory.
    tol : float, default=0.01
        Convergence tolerance on the predicted remaining increase of the log-likelihood of all rows, in nats.
    copy : bool, default=True
        Accepted for compatibility with scikit-learn; arrays are never modified, whatever its value.
    max_iter : int, default=1000
        Maximum number of iterations.
    noise_variance_init : array-like of shape (n_features,) or None, default=None
        Initial uniqueness (noise variance) of each column; None for a fraction of its residual variance given the other columns.
    svd_method : {"lapack", "randomized"}, default="randomized"
        Accepted for compatibility with scikit-learn; eigenvectors are always exact.
    iterated_power : int, default=3
        Accepted for compatibility with scikit-learn, as ``"svd_method"`` is.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers, recorded in ``report_.seed``; None draws one from numpy's global state.
    rotation : {"varimax", "quartimax", "equamax", "promax", "oblimin", "geomin"} or None, default=None
        Rotation of the factors: orthogonal (``"varimax"``, ``"quartimax"``, ``"equamax"``) or oblique, with correlated factors
        (``"promax"``, ``"oblimin"``, ``"geomin"``); None for the unrotated factors, uncorrelated given the rows and in decreasing
        order of size.
    rotation_normalize : bool, default=False
        Divide the loadings of every column by the root of its communality during the rotation (Kaiser normalisation).
    algorithm : {"newton", "em"}, default="newton"
        Algorithm that maximises the likelihood: ``"newton"``, Newton's method on the uniquenesses alone, or ``"em"``,
        expectation-maximisation, which needs many more iterations.
    prior : {"none", "laplace-loadings", "laplace", "jeffreys"}, default="none"
        Prior that makes loadings or factors sparse: ``"laplace-loadings"``, a Laplace prior of the loadings with weight ``l1``, for
        which many of them are 0; ``"laplace"`` or ``"jeffreys"``, a prior of the factors with density ``exp(-abs(z)) / 2`` or
        proportional to ``1 / abs(z)``, with posteriors by a variational bound, for which all rows are held in memory; ``"none"``
        for maximum likelihood.
    l1 : float, default=0.01
        Weight of the prior of the loadings: the mean log-likelihood of the rows minus ``l1`` times the sum of the absolute
        loadings, each in units of the standard deviation of its column, is maximised.
    noise_floor : float or "auto", default="auto"
        Lower bound of the uniquenesses, as a share of the variance of the column; ``"auto"`` for a hundredth of the residual
        variance of the column given the others, at least 1e-6, and for 0.01 with a prior of the factors. Columns at this bound are
        Heywood cases, which are reported.
    scores : {"regression", "bartlett"}, default="regression"
        Factor scores, which are the codes: ``"regression"``, posterior means of the factors (Thomson), or ``"bartlett"``, weighted
        least squares.
    standardize : bool, default=False
        Divide every column by its standard deviation (divisor ``n_samples``) first, so that loadings are the correlations between
        columns and uncorrelated factors. The likelihood does not change.
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
        The loadings: what one unit of each factor adds to the columns; the entry of largest magnitude of each row is positive. With
        ``standardize=True`` in units of the standard deviations of the columns.
    noise_variance_ : ndarray of shape (n_features,)
        The uniquenesses: variance of each column that is not explained by the factors, in the units of ``components_``; 0 for constant
        columns.
    communalities_ : ndarray of shape (n_features,)
        Fraction of the variance of each column that is explained by the factors.
    component_variance_ : ndarray of shape (n_components,)
        Sum of the squared loadings of each factor, by which factors are sorted; for correlated factors it includes the variance that they
        share. With a prior of the factors it is multiplied by ``factor_variance_``.
    factor_correlation_ : ndarray of shape (n_components, n_components)
        Correlations of the factors: the identity, unless the rotation is oblique.
    heywood_ : ndarray of int
        Columns whose uniqueness is at ``noise_floor``: Heywood cases.
    fit_ : Bunch
        Tests and indices of fit: ``log_likelihood``, ``aic``, ``bic``; ``chi_square``, ``degrees_of_freedom`` and ``p_value`` of the
        hypothesis that there are no more factors, ``rmsea`` and its 90 % interval (``rmsea_lower``, ``rmsea_upper``), ``tli``, ``cfi``,
        ``srmr``; ``kmo`` (sampling adequacy) and Bartlett's test of sphericity (``bartlett_chi_square``,
        ``bartlett_degrees_of_freedom``, ``bartlett_p_value``). None if a number is not available; ``tests`` gives the reason,
        or where the numbers were computed: at the maximum of the likelihood, before it, or at ``noise_floor``.
    loglike_ : list of float
        Log-likelihood of all rows after each iteration; with ``prior``, the objective.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    mixing_ : ndarray of shape (n_features, n_components)
        Decoder: ``inverse_transform(y) = y @ mixing_.T + mean_``.
    noise_scale_ : ndarray of shape (n_features,)
        Standard deviation of the noise of each column, in the units of the rows.
    rotation_, scale_ : ndarray
        Orthonormal axes of ``(x - mean_) / noise_scale_`` before the rotation of the factors, and standard deviations along them; not with
        ``prior``.
    factor_variance_ : ndarray of shape (n_components,)
        Mean square of each factor over the rows; only with a prior of the factors.
    second_rotation_ : ndarray of shape (n_components, n_components)
        Matrix by which the codes before the rotation are multiplied; only with ``rotation``.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations, and numbers of factors, rows (with an observed cell) and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit.

    See Also
    --------
    PCA : Directions of largest variance; as a model, noise of the same variance in every column.
    ICA : Independent sources, without noise.

    Notes
    -----
    Rows are modelled as ``x = mean + L f + e`` with factors ``f`` of variance 1 and noise ``e`` of diagonal covariance ``Psi``. The
    loadings are determined up to a rotation of the factors; without ``rotation``, ``L.T @ inv(Psi) @ L`` is diagonal.

    References
    ----------
    D. N. Lawley & A. E. Maxwell (1971), Factor analysis as a statistical method.
    D. B. Rubin & D. T. Thayer (1982), EM algorithms for ML factor analysis. doi:10.1007/BF02293851
    A. P. Dempster, N. M. Laird & D. B. Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
    doi:10.1111/j.2517-6161.1977.tb01600.x
    M. Girolami (2001), A variational method for learning sparse and overcomplete representations. doi:10.1162/089976601753196003
    K. Hirose & M. Yamamoto (2015), Sparse estimation via nonconcave penalized likelihood in factor analysis model.
    doi:10.1007/s11222-014-9458-0
    C. A. Bernaards & R. I. Jennrich (2005), Gradient projection algorithms for arbitrary rotation criteria in factor analysis.
    doi:10.1177/0013164404272507

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import FactorAnalysis
    >>> draw = np.random.RandomState(0)
    >>> X = draw.randn(500, 2) @ draw.randn(2, 6) + draw.randn(500, 6) * [0.5, 1, 1.5, 2, 2.5, 3]
    >>> FactorAnalysis(n_components=2).fit(X).noise_variance_.shape
    (6,)
    """

    _method = "factor-analysis"
    _derived = frozenset({"loglike_", "fit_"})

    def _check(self, rows: Any) -> None:
        init: Any = self.noise_variance_init
        if init is not None and not _is_path(rows) and len(init) != rows.shape[1]:
            raise ValueError(
                f"noise_variance_init dimension does not with number of features : {len(init)} != {rows.shape[1]}; give one number for "
                "each column"
            )

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        if self.noise_variance_init is not None:
            settings["noise_variance_init"] = np.asarray(self.noise_variance_init, dtype=np.float64).tolist()
        return settings

    def _adopt(self, model: _unmix.Model) -> None:
        super()._adopt(model)
        attributes = vars(self)
        report = self.report_
        attributes["loglike_"] = list(report.objective)
        attributes["fit_"] = FitIndices(**report.fit)
        attributes["heywood_"] = fixed(attributes["heywood_"].astype(np.intp))

    def _forget(self) -> None:
        super()._forget()
        for name in self._derived:
            vars(self).pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in self._derived}

    def _doubts(self) -> list[str]:
        # As many factors as columns were not requested.
        not_requested = ("the Ledermann bound", "factors have nonzero loadings") if self.n_components is None else ()
        return [sentence for sentence in super()._doubts() if not any(words in sentence for words in not_requested)]

    def _warn(self) -> None:
        for sentence in self._doubts():
            warn(sentence)
        if not self._model.end[1]:
            report = self.report_
            # A single iteration of a penalised likelihood has no residual.
            rest = ""
            if report.residual is not None and report.tol is not None:
                rest = f": the log-likelihood can still increase by about {report.residual:.3g}, and tol is {report.tol:.3g}"
            warn(
                f"FactorAnalysis did not converge. You might want to increase the number of iterations{rest} (outcome '{report.outcome}').",
                ConvergenceWarning,
            )
