"""Rectified factor networks."""

from __future__ import annotations

from ._base import Estimator
from ._likelihood import Likelihood
from ._parameters import RFNParameters


class RFN(RFNParameters, Likelihood, Estimator):
    """Rectified factor network: a factor model whose codes are non-negative and sparse, with many more units than there are factors.

    Each unit is active in some of the rows, and adds its decoder row to the columns there, in proportion to its code. Units may outnumber
    columns. One pass over the rows an iteration, so that rows need not fit into memory (``e_step="plain"``).

    Parameters
    ----------

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Decoder rows: what a code of 1 adds to the columns. By falling use of the units: the second moment of the codes times the sum of
        squared loadings, each in standard deviations of its column. Columns that do not vary have loading 0.
    noise_variance_ : ndarray of shape (n_features,)
        Variance of the noise of each column; 0 in columns that do not vary. Only with ``noise="diagonal"``.
    noise_covariance_ : ndarray of shape (n_features, n_features)
        Covariance of the noise; only with ``noise="full"``.
    mean_ : ndarray of shape (n_features,)
        What is subtracted from the columns.
    encoder_weight_ : ndarray of shape (n_components, n_features)
        With ``encoder_bias_`` the encoder of ``e_step="plain"`` as a layer of a network: ``transform(x) = max(0, x @ encoder_weight_.T +
        encoder_bias_)``.
    encoder_bias_ : ndarray of shape (n_components,)
        The bias of that layer.
    encoder_offset_ : ndarray of shape (n_components,)
        The bias for rows less ``mean_``; 0 without a prior mean.
    code_moments_ : ndarray of shape (n_components, n_components)
        Second moments of the codes of the fit, the covariance of their posterior included: rows have covariance ``components_.T @
        code_moments_ @ components_`` beside the noise.
    code_scale_ : ndarray of shape (n_components,)
        What the codes of each unit are multiplied by; 0 for units that are 0 in every row.
    prior_ : ndarray of shape (2,)
        Mean and variance of the prior of every unit.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Iterations, and numbers of units, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them had one.
    report_ : Report
        How the fit went. ``objective`` is the mean log-likelihood of a row less the divergence of its code, in each iteration, and
        ``final_objective`` that of the final codes; ``decreases`` counts its falls, and has the largest; ``dead_units`` is the number of units
        that are 0 in every row. In the modes whose objective never falls ``certificate`` says how well the codes are solved, and ``rungs`` which
        candidates of the cascade were taken.

    See Also
    --------
    FactorAnalysis : The same model with codes of either sign.
    RICA : Sparse features of either sign.

    Notes
    -----
    Rows are ``x = mean_ + h @ components_ + e`` with normal ``h`` and ``e``, and the posterior of ``h`` is restricted to non-negative means, those of
    each unit with second moment 1 over the rows. ``e_step="plain"`` clamps and scales the posterior means: it made the published tables,
    and the convergence theorem of the paper does not cover it. ``"coordinate"`` and ``"cascade"`` never lower the objective, hold the codes of all
    rows, and encode by non-negative least squares.

    References
    ----------
    D.-A. Clevert, A. Mayr, T. Unterthiner & S. Hochreiter (2015), Rectified factor networks.

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
