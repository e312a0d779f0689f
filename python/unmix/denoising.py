"""Denoising autoencoders: codes of corrupted rows from which the rows are reconstructed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._base import Estimator
from ._parameters import DenoisingAutoencoderParameters
from ._types import Array, Rows

if TYPE_CHECKING:
    from typing_extensions import Self


class DenoisingAutoencoder(DenoisingAutoencoderParameters, Estimator):
    """Denoising autoencoder: non-negative codes of one dense layer, from which a linear decoder restores corrupted rows.

    Minimises the mean over rows of ``||x - decode(encode(x~))||**2`` for standardised rows ``x`` and corrupted copies ``x~``, drawn anew
    in every epoch, on mini-batches. Rows are read from memory, or from files that may be larger than memory.

    Parameters
    ----------
    n_components : int, default=50
        Number of units, which may exceed the number of columns.
    corruption : float, default=0.2
        Size of the corruption: the share of a row's entries that are masked, or the standard deviation of ``"gaussian"`` noise,
        relative to that of the column; 0 for a plain autoencoder.
    noise : {"mask", "gaussian"}, default="mask"
        How rows are corrupted, anew in every epoch: ``"mask"`` replaces entries by the mean of their column, ``"gaussian"`` adds
        normal noise.
    tied : bool, default=False
        Tied weights: for standardised rows, the decoder has the weights of the encoder.
    solver : {"adam", "sgd", "plain-sgd"}, default="adam"
        Optimiser: ``"adam"``; ``"sgd"``, stochastic gradient descent with momentum 0.9, with which a constant gradient moves
        parameters by ten times the learning rate per step; or ``"plain-sgd"``, without momentum.
    learning_rate : float, default=0.001
        Constant learning rate, for the mean loss over a mini-batch of standardised rows.
    batch_size : int, default=100
        Mini-batch size.
    max_epochs : int, default=100
        Number of epochs.
    standardize : bool, default=True
        Divide every column by its standard deviation for the training; False divides all columns by one number, the root mean
        square of the centred entries. Components and weights are in the units of the rows in both cases.
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
        Weights of the encoder: ``transform(x) = max(0, (x - mean_) @ encoder_weight_.T + encoder_bias_)``.
    encoder_bias_ : ndarray of shape (n_components,)
        Biases of the encoder.
    mean_ : ndarray of shape (n_features,)
        Offset, subtracted before the encoder and added after the decoder: the mean of the rows plus the bias of the decoder.
    density_ : ndarray of shape (n_components,)
        Fraction of the rows that activate each unit, estimated from at most 32768 rows; 1024 of a large model whose fit was ended early.
    mixing_ : ndarray of shape (n_features, n_components)
        ``components_.T``.
    n_iter_, n_components_, n_samples_, n_features_in_ : int
        Steps, and numbers of units, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit: ``objective`` is the mean loss of corrupted standardised rows in each epoch; ``fvu``, the fraction of variance
        unexplained by the codes of the uncorrupted rows; ``l0``, the mean number of active units per row; ``dead_units``, the number of
        units that no row activates.

    See Also
    --------
    RFN : Non-negative codes with a prior, and noise in every column.
    SparseAutoencoder : Few active units per row.

    Notes
    -----
    The code is ``h = max(0, W x~ + b)`` and the reconstruction ``V.T h + c``; initially ``V = W``, and always with ``tied=True``.
    ``components_`` and ``encoder_weight_`` are ``V`` and ``W`` in the units of the columns; codes do not depend on these units. Other seeds
    give other units, with nearly the same loss.

    References
    ----------
    P. Vincent, H. Larochelle, Y. Bengio & P.-A. Manzagol (2008), Extracting and composing robust features with denoising autoencoders.
    doi:10.1145/1390156.1390294

    Examples
    --------
    >>> from unmix import DenoisingAutoencoder
    >>> from unmix.datasets import biclusters
    >>> X = biclusters("D1", seed=0)
    >>> dae = DenoisingAutoencoder(n_components=20, random_state=0).fit(X)
    >>> codes = dae.transform(X)
    >>> codes.shape, bool((codes >= 0).all())
    ((100, 20), True)
    """

    _method = "dae"

    def fit(self, X: Rows, y: None = None) -> Self:  # type: ignore[override]
        """Fit the model.

        Encoder and decoder are trained on mini-batches in random order, for a fixed number of epochs. Memory is six numbers for each
        parameter, whatever the number of rows. Other seeds give other units: :func:`unmix.stability` shows which are reproducible.

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
        >>> from unmix import DenoisingAutoencoder
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> DenoisingAutoencoder(n_components=4, random_state=0).fit(X).components_.shape
        (4, 3)
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Rows, y: None = None) -> Array:  # type: ignore[override]
        """Fit the model and return the codes of the rows: ``fit(X).transform(X)``, to the bit.

        Rows are corrupted during the training only. The codes are computed in a further pass over the rows, and held in memory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Codes of the uncorrupted rows, in the type of the rows.

        See Also
        --------
        fit : Fit the model alone.

        Examples
        --------
        >>> from unmix import DenoisingAutoencoder
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> DenoisingAutoencoder(n_components=4, random_state=0).fit_transform(X).shape
        (40, 4)
        """
        rows, threads = self._fit(X)
        return self._model.encode(rows, (0, threads, int(self.verbose)))
