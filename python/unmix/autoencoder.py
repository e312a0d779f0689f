"""Sparse autoencoders: codes with few active units per row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._base import Estimator
from ._parameters import SparseAutoencoderParameters
from ._record import Evaluation, TopRows
from ._sklearn import _fit_context
from ._stream import learn_more
from ._types import Rows, SparseCodes

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._types import Path


class SparseAutoencoder(SparseAutoencoderParameters, Estimator):
    """Sparse autoencoder: rows as the mean plus few atoms with positive codes, computed by a single-layer encoder.

    Minimises the mean over rows of ``1/2 * ||x - decode(z)||**2 + alpha * penalty(z)``, with respect to atoms of norm 1 and the encoder,
    by Adam on mini-batches. Rows are read from memory, or from files that may be larger than memory.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of units; None for four times the number of columns.
    activation : {"relu", "topk", "batch-topk", "jumprelu", "gated"}, default="topk"
        Activation, which selects codes from pre-activations: ``"topk"`` keeps the ``l0`` largest of a row, ``"batch-topk"`` the
        largest of a batch, and for new rows those above a threshold; ``"relu"`` keeps positive ones, ``"jumprelu"`` those above a
        threshold of each unit, ``"gated"`` magnitudes whose gate is positive; the last three have a penalty.
    l0 : int or "auto", default="auto"
        Number of active units per row; ``"auto"`` is 32, or an eighth of the number of units if that is less. It is the maximum
        with ``"topk"`` and the mean with ``"batch-topk"``; with the other activations the weight of the penalty is adjusted to
        reach it, and the report gives the number reached.
    alpha : float or None, default=None
        Weight of the penalty relative to ``1/2 ||x - decode(z)||²``, where rows are divided by their scale if ``normalize`` is
        True. The penalty is the sum of the codes, for ``"jumprelu"`` their number, for ``"gated"`` the sum of the rectified gates.
        Instead of ``l0``, which for ``"jumprelu"`` still determines the initial thresholds; refused with ``"topk"`` and
        ``"batch-topk"``, which have no penalty.
    init : {"random", "data"}, fitted estimator, path or None, default="random"
        Initial atoms: ``"random"`` for standard normal entries, ``"data"`` for random centred rows, with which different seeds
        agree better but the residual is larger; or a fitted model, or the path of one, whose components are the initial weights.
    dict_init : array-like of shape (n_components, n_features) or None, fitted estimator, path or Files, default=None
        Initial atoms instead of ``init``, as rows of any norm: an array, or a fitted model, whose components are taken; or the path
        of either.
    normalize : bool, default=True
        Divide centred rows by one number during training, so that their mean norm is the square root of the number of columns.
        Codes and parameters of the model are in the units of the rows.
    dead_unit : {"auto", "auxk", "resample", "keep"}, default="auto"
        Treatment of dead units, which no row activates for an epoch, or for a million rows: with ``"auxk"`` they reconstruct the
        residual of the others by an auxiliary loss; with ``"resample"`` they are reinitialised at rows with large reconstruction
        errors, after each of the first 70 % of the epochs; ``"keep"`` does nothing. ``"auto"`` is ``"auxk"`` for ``"topk"`` and
        ``"batch-topk"``, ``"resample"`` for the others.
    learning_rate : float or "auto", default="auto"
        Peak learning rate of Adam; it increases over the first 5 % of the steps and decreases over the last 20 %. ``"auto"`` is
        0.003, multiplied by ``sqrt(1536 / n_components)`` if there are more than 1536 units.
    batch_size : int, default=256
        Mini-batch size.
    max_epochs : int, default=20
        Maximum number of epochs.
    sparse_output : bool, default=False
        Codes are compressed sparse rows of scipy.
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
    verbose : {0, 1, 2}, default=0
        0 for no output, 1 for a progress bar, 2 for a line for each iteration, on stderr.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Atoms, of norm 1, in order of decreasing use (the sum of codes).
    encoder_weight_ : ndarray of shape (n_components, n_features)
        Weights of the encoder: pre-activations are ``(x - mean_) @ encoder_weight_.T + encoder_bias_``.
    encoder_bias_ : ndarray of shape (n_components,)
        Biases of the encoder; not with ``activation="gated"``.
    mean_ : ndarray of shape (n_features,)
        Offset that is subtracted before the encoder and added after the decoder.
    threshold_ : ndarray of shape (n_components,) or float
        Threshold on pre-activations: one for each unit with ``activation="jumprelu"``, a single number with ``"batch-topk"``.
    gate_bias_ : ndarray of shape (n_components,)
        With ``activation="gated"``: a unit is active if ``(x - mean_) @ encoder_weight_.T + gate_bias_`` is positive.
    magnitude_bias_ : ndarray of shape (n_components,)
        With ``activation="gated"``: biases of the codes of active units.
    magnitude_log_scale_ : ndarray of shape (n_components,)
        With ``activation="gated"``: the code of an active unit is ``exp(magnitude_log_scale_)`` times the product with its weights, plus
        ``magnitude_bias_``, rectified at 0.
    density_ : ndarray of shape (n_components,)
        Fraction of the rows that activate each unit, estimated from at most 32768 rows; 1024 of a large model whose fit was ended early.
    stream_ : ndarray
        After ``partial_fit``: the state from which training continues, as bytes encoded in numbers.
    mixing_ : ndarray of shape (n_features, n_components)
        ``components_.T``.
    n_components_ : int
        Number of units.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if they have any.
    n_samples_ : int
        Number of rows.
    n_iter_ : int
        Number of steps.
    report_ : Report
        Report of the fit: ``l0``, the mean number of active units per row; ``fvu``, the fraction of variance unexplained, both measured
        on at most 32768 rows of the fit; ``dead_units``, the number of units that none of these rows activates, and of more rows none in
        the last epoch either; ``resampled``, the number of units that were reinitialised; ``alpha``, the weight of the penalty if it was
        adjusted to ``l0``; and ``epochs``.

    See Also
    --------
    DictionaryLearning : Atoms for codes that solve the lasso for each row.

    Notes
    -----
    Codes are ``z = activation(W (x - mean) + b)``, a row is reconstructed as ``mean + z D``: ``W`` is the encoder, ``b`` its bias, and the
    atoms, of norm 1, are the rows of ``D``. After few steps, other seeds give other atoms with nearly the same residual: a small ``fvu``
    does not imply that atoms are reproducible.

    With ``activation="jumprelu"`` the initial thresholds are the mean, over a batch of rows, of the ``l0``-th largest pre-activation, and the
    width of the kernel in their gradients is a tenth of that: the result depends on ``l0``, its ``"auto"`` included, also if ``alpha`` is
    given. With the other penalties ``l0`` has no effect beside ``alpha``.

    References
    ----------
    T. Bricken et al. (2023), Towards monosemanticity: decomposing language models with dictionary learning.
    https://transformer-circuits.pub/2023/monosemantic-features
    L. Gao et al. (2024), Scaling and evaluating sparse autoencoders. arXiv:2406.04093
    S. Rajamanoharan et al. (2024), Improving dictionary learning with gated sparse autoencoders. arXiv:2404.16014
    S. Rajamanoharan et al. (2024), Jumping ahead: improving reconstruction fidelity with JumpReLU sparse autoencoders. arXiv:2407.14435

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import SparseAutoencoder
    >>> draw = np.random.RandomState(0)
    >>> X = np.abs(draw.randn(1000, 12)) * (draw.rand(1000, 12) < 0.1) @ draw.randn(12, 6)
    >>> sae = SparseAutoencoder(n_components=24, l0=3, random_state=0).fit(X)
    >>> codes = sae.transform(X)
    >>> codes.shape, int((codes > 0).sum(axis=1).max())
    ((1000, 24), 3)
    """

    _method = "sae"

    def fit(self, X: Rows, y: None = None) -> Self:  # type: ignore[override]
        """Fit the model.

        Parameters are trained on mini-batches in random order, in several passes over the rows; memory is four numbers for each parameter,
        whatever the number of rows. ``partial_fit`` trains on a stream instead, with one pass.

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
        >>> from unmix import SparseAutoencoder
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> SparseAutoencoder(n_components=4, random_state=0).fit(X).components_.shape
        (4, 3)
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Rows, y: None = None) -> SparseCodes:  # type: ignore[override]
        """Fit the model and return the codes of the rows: ``fit(X).transform(X)``, to the bit.

        The codes are those of the fitted encoder, computed in a further pass. With ``sparse_output=True`` only the entries of active units
        are held in memory; else ``n_samples * n_components`` numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        y : None
            Ignored.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_components)
            Codes, in the type of the rows.

        See Also
        --------
        fit : Fit the model alone.

        Examples
        --------
        >>> from unmix import SparseAutoencoder
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> SparseAutoencoder(n_components=4, random_state=0).fit_transform(X).shape
        (40, 4)
        """
        self._fit(X)
        return self.transform(X)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Rows, y: None = None) -> Self:
        """Train incrementally on a batch of rows.

        The result has the same bits however a stream is divided into calls: rows are divided into batches of ``batch_size`` in their
        order, with one step for each, and rows that do not fill a batch are kept for the next call. Rows are centred and scaled by the
        mean and the scale of the first 1024 rows, or of the first batch if that is larger. The learning rate increases over the first
        100 steps and is then constant; the weight of a penalty is adjusted continually. ``density_``, the order of the units,
        ``report_.l0`` and ``report_.fvu`` are those of the last 1024 rows. After ``fit``, training continues from its parameters. A saved
        or pickled model can be continued, too, also by ``unmix fit sae more.npy --init MODEL``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows, as for ``fit``; at least one. The type of the first batch is that of the model.
        y : None
            Ignored.

        Returns
        -------
        object
            The estimator, with the current parameters; ``stream_`` is the state from which training continues. After an error the
            model is unchanged.

        See Also
        --------
        fit : Several passes over all rows, in random order.

        Examples
        --------
        >>> import numpy as np
        >>> from unmix import SparseAutoencoder
        >>> X = np.random.RandomState(0).randn(3000, 6)
        >>> sae = SparseAutoencoder(n_components=8, batch_size=100, random_state=0)
        >>> sae.partial_fit(X[:1350]).partial_fit(X[1350:]).n_iter_
        30
        """
        learn_more(self, X)
        return self

    def transform(self, X: Rows) -> SparseCodes:
        """Return the codes of rows.

        A code is one matrix product and the activation, without iterations: with ``activation="topk"`` at most ``l0`` of its entries are
        positive, all others are 0. It is not the sparsest code for these atoms; :meth:`evaluate` compares it with matching pursuit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows with the columns that the model was fitted on.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_components)
            Codes, in the type of the rows; scipy's ``csr_array`` with ``sparse_output=True``.

        See Also
        --------
        encode : The same, also into a file; compressed sparse rows if it ends in ``.npz``.

        Examples
        --------
        >>> from unmix import SparseAutoencoder
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> sae = SparseAutoencoder(n_components=4, sparse_output=True, random_state=0).fit(X)
        >>> sae.transform(X).shape
        (40, 4)
        """
        check_is_fitted(self)
        codes: Any = self._model.encode(self._rows(X), self._run_arguments(), dense=not self.sparse_output)
        return codes

    if TYPE_CHECKING:
        # The same as `transform` without a file.
        @overload
        def encode(self, X: Rows, out: None = None) -> SparseCodes: ...
        @overload
        def encode(self, X: Rows, out: Path) -> None: ...
        @overload
        def encode(self, X: Rows, out: Path | None = None) -> SparseCodes | None: ...
        def encode(self, X: Rows, out: Path | None = None) -> SparseCodes | None: ...

    def evaluate(self, X: Rows) -> Evaluation:
        """Evaluate the reconstruction of rows and the use of the units, compared with PCA and matching pursuit.

        FVU is the fraction of variance unexplained: the squared error of the reconstruction divided by the squared distance from the
        mean of the rows. Use held-out rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows with the columns that the model was fitted on.

        Returns
        -------
        Bunch
            ``n_samples``; ``fvu``; ``l0``, mean number of active units per row; ``dead``, fraction of the units that no row activates;
            ``density`` of shape (n_components,), fraction of the rows that activate each unit; ``shrinkage``, the optimal factor of
            the reconstructions about ``mean_`` (1: codes are not shrunk); ``near_duplicates``, fraction of the atoms with a cosine of at
            least 0.9 to another one. ``fvu_pca``, FVU of a PCA of these rows with ``n_components_pca`` components, the number of active
            units. ``fvu_omp``, FVU of codes of the same atoms by orthogonal matching pursuit, with the same number of atoms per row, on
            ``n_samples_omp`` rows (at most 2048), and ``fvu_same_rows``, that of the encoder's codes of these rows: the difference is the
            loss due to the encoder.

        See Also
        --------
        top_rows : The rows with the largest codes of each unit.
        unmix.stability : Reproducibility of the atoms.
        unmix.metrics.sparse_probing : Classification of labels by single units.

        Notes
        -----
        With rows ``x_i``, their mean ``m`` and their reconstructions ``r_i``, ``fvu = sum_i ||x_i - r_i||**2 / sum_i ||x_i - m||**2``, and
        ``shrinkage = sum_i d_i . (x_i - mean_) / sum_i ||d_i||**2`` with ``d_i = r_i - mean_``. The rows are encoded once,
        ``O(n_features n_components)`` operations for each, and decomposed by PCA.

        Examples
        --------
        >>> from unmix import SparseAutoencoder
        >>> from unmix.datasets import sparse_codes
        >>> X = sparse_codes(1500, 12, 16, share=0.1, seed=0).X
        >>> sae = SparseAutoencoder(n_components=32, l0=3, random_state=0).fit(X[:1000])
        >>> found = sae.evaluate(X[1000:])
        >>> found.fvu_omp < found.fvu < found.fvu_pca, found.n_components_pca
        (True, 3)
        """
        check_is_fitted(self)
        fields = json.loads(_unmix.evaluate(self._model, self._rows(X), self._run_arguments()))
        # None is a fraction of a variance that is 0.
        found = {name: float("nan") if value is None else value for name, value in fields.items()}
        return Evaluation(**{**found, "density": np.array(fields["density"])})

    def top_rows(self, X: Rows, n: int = 8) -> TopRows:
        """Return the rows with the largest codes of each unit.

        They are the usual basis for the interpretation of a unit. Rows are encoded block by block, and only the ``n`` largest codes of each
        unit are held in memory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows with the columns that the model was fitted on; those of a file are streamed.
        n : int, default=8
            Number of rows for each unit, at most ``n_samples``.

        Returns
        -------
        Bunch
            ``rows``, int64 of shape (n_components, n), their indices in order of decreasing code, ties in the order of the rows;
            ``codes``, float64 of the same shape, their codes. Padded with -1 and 0 if fewer rows activate the unit.

        See Also
        --------
        transform : All codes.
        evaluate : How often each unit is active.

        Examples
        --------
        >>> from unmix import SparseAutoencoder
        >>> X = [[1, 0, 1], [0, 2, 0], [2, 0, 2], [0, 1, 0]] * 10
        >>> SparseAutoencoder(n_components=4, random_state=0).fit(X).top_rows(X, n=2).rows.shape
        (4, 2)
        """
        check_is_fitted(self)
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}")
        rows, codes = _unmix.top_rows(self._model, self._rows(X), int(n), self._run_arguments())
        return TopRows(rows=rows, codes=codes)
