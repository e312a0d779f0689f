"""Restricted Boltzmann machines: probabilities of binary hidden units, trained by contrastive divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._base import Estimator
from ._parameters import GaussianRBMParameters
from ._types import Array, Rows

if TYPE_CHECKING:
    from typing_extensions import Self


class GaussianRBM(GaussianRBMParameters, Estimator):
    """Restricted Boltzmann machine with normal visible and binary hidden units, trained by contrastive divergence.

    The energy of a standardised row ``x`` and of units ``h``, each 0 or 1, is ``||x - c||**2 / 2 - b.T h - h.T W x``. The code of a row is
    the conditional probability of 1 for each unit. Rows are read from memory, or from files that may be larger than memory.

    Parameters
    ----------
    n_components : int, default=50
        Number of hidden units, which may exceed the number of columns.
    learning_rate : float, default=0.01
        Constant learning rate of stochastic gradient descent without momentum, for the mean over a mini-batch of standardised rows.
    batch_size : int, default=10
        Mini-batch size.
    max_epochs : int, default=100
        Maximum number of epochs.
    n_steps : int, default=1
        Number of steps of Gibbs sampling from every row in contrastive divergence; with more steps, the estimate of the gradient of
        the likelihood has less bias.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers, recorded in ``report_.seed``; None draws one from numpy's global state.
    max_seconds : float or None, default=None
        Time limit in seconds: iterations end with the current result, and ``report_.outcome`` is ``"time"``.
    callback : callable or None, default=None
        Called after every epoch with an :class:`unmix.Iteration`; if it raises StopIteration the fit ends with the current result,
        and ``report_.outcome`` is ``"interrupted"``. Another exception ends the fit without a result.
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
        Decoder rows: what a code of 1 adds to the columns, in order of decreasing use of the units, the sum of the codes times the length
        of the row in standard deviations of the columns. Constant columns have entry 0.
    encoder_weight_ : ndarray of shape (n_components, n_features)
        Weights: ``transform(x) = 1 / (1 + exp(-((x - mean_) @ encoder_weight_.T + encoder_bias_)))``.
    encoder_bias_ : ndarray of shape (n_components,)
        Biases of the hidden units.
    mean_ : ndarray of shape (n_features,)
        Offset, subtracted before the encoder and added after the decoder: the mean of the rows plus the bias of the visible units.
    mixing_ : ndarray of shape (n_features, n_components)
        ``components_.T``.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Steps, and numbers of units, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit: ``objective`` is the mean squared error of the first Gibbs step from standardised rows in each epoch, which contrastive
        divergence does not minimise; ``fvu``, the fraction of variance unexplained by ``inverse_transform(transform(X))``.

    See Also
    --------
    DenoisingAutoencoder : A layer trained to reconstruct corrupted rows.
    RFN : Non-negative codes with a prior, and noise in every column.

    Notes
    -----
    The density of a standardised row ``x`` and units ``h`` of 0 or 1 is proportional to ``exp(-E)``,
    ``E = ||x - c||**2 / 2 - b.h - h.(W x)``: codes are the probabilities ``1 / (1 + exp(-(W x + b)))``, rows given ``h`` are normal with
    mean ``W.T h + c``. The likelihood is intractable: its normalisation is a sum over all states of the units. ``components_`` and
    ``encoder_weight_`` are ``W`` in the units of the columns; codes do not depend on these units. The noise of the model has the variance
    of the column, so columns with little noise are fitted badly.

    References
    ----------
    G. E. Hinton (2002), Training products of experts by minimizing contrastive divergence, Neural Computation 14. doi:10.1162/089976602760128018
    G. E. Hinton & R. R. Salakhutdinov (2006), Reducing the dimensionality of data with neural networks, Science 313. doi:10.1126/science.1127647

    Examples
    --------
    >>> from unmix import GaussianRBM
    >>> from unmix.datasets import biclusters
    >>> X = biclusters("D1", seed=0)
    >>> rbm = GaussianRBM(n_components=20, random_state=0).fit(X)
    >>> codes = rbm.transform(X)
    >>> codes.shape, bool(((codes >= 0) & (codes <= 1)).all())
    ((100, 20), True)
    """

    _method = "rbm"

    def fit(self, X: Rows, y: None = None) -> Self:  # type: ignore[override]
        """Fit the model.

        Weights are updated by contrastive divergence for each mini-batch, in random order. Memory is four numbers for each parameter,
        whatever the number of rows. Training ends after ``max_epochs``: the likelihood, by which convergence could be judged, is
        intractable.

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
        fit_transform : Fit the model and return the codes of the rows.

        Examples
        --------
        >>> from unmix import GaussianRBM
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> GaussianRBM(n_components=4, random_state=0).fit(X).components_.shape
        (4, 3)
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Rows, y: None = None) -> Array:  # type: ignore[override]
        """Fit the model and return the codes of the rows: ``fit(X).transform(X)``, to the bit.

        The codes are conditional probabilities given the fitted parameters, not random states, and so repeatable. They are computed in a
        further pass over the rows, and held in memory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Probabilities of the units, in the type of the rows.

        See Also
        --------
        fit : Fit the model alone.

        Examples
        --------
        >>> from unmix import GaussianRBM
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> GaussianRBM(n_components=4, random_state=0).fit_transform(X).shape
        (40, 4)
        """
        rows, threads = self._fit(X)
        return self._model.encode(rows, (0, threads, int(self.verbose)))
