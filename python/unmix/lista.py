"""Sparse codes by a trained network with few layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _unmix
from ._base import Estimator
from ._input import _is_path, counted
from ._parameters import LISTAParameters
from ._record import CodeQuality
from ._settings import numbers
from ._types import Array, Rows

if TYPE_CHECKING:
    from typing_extensions import Self


#: Relative excess of a loss over that of ISTA above which a fit warns: rounding in single precision, by which networks that still are ISTA
#: differ from it, is below 1e-4, and a smaller excess has no practical effect.
WORSE = 1e-3


class LISTA(LISTAParameters, Estimator):
    """LISTA: sparse codes by a few trained layers, each of the form of a step of ISTA.

    The network is initialised as ISTA and trained layer by layer, then as a whole: to reproduce the codes ``y`` of the rows of the fit, or,
    if none are given, to minimise the objective of the lasso. With ``monotone`` its loss on a fixed set of rows never increases, so that
    on these a network that starts as ISTA is never worse than ISTA with as many steps. Networks with ``cell="alista"``,
    ``support_selection`` or ``init`` do not start as ISTA and may be worse: the fit warns if they are.

    Parameters
    ----------
    dictionary : array-like of shape (n_components, n_features), fitted estimator, path or Files
        The atoms as rows, of any norm; their order and signs are kept. An array, or a fitted model, whose components are taken; or
        the path of either.
    alpha : float or "auto", default="auto"
        Weight of the l1 penalty relative to half the squared error. ``"auto"`` is a tenth of the mean over rows of the largest
        inner product with an atom, in absolute value unless ``positive_code``.
    cell : {"lista", "gregor-lecun", "cp", "alista", "step"}, default="lista"
        Learned parameters of a layer. ``"lista"``: the dictionary, the step length and the threshold of a step of ISTA;
        ``"gregor-lecun"``: two matrices and a threshold, shared by all layers; ``"cp"``: the encoder matrix and the threshold;
        ``"alista"``: the step length and the threshold, with an encoder matrix in closed form; ``"step"``: the step length alone.
    n_layers : int, default=16
        Number of layers, each with one soft-thresholding operation.
    tied : bool, default=False
        All layers share one matrix; each layer still has its own step length and threshold.
    support_selection : float, default=0.0
        Support selection: in layer l (counted from 1), the largest entries of a code, l times this percentage of all and at most 10
        times this percentage, are not shrunk if they exceed the threshold. The published value is 1.2.
    monotone : bool, default=True
        Parameters are accepted only if the loss on a fixed set of at most 4096 rows has not increased; otherwise the previous ones
        are restored, and the learning rate is halved.
    refine : int, default=0
        Number of FISTA steps after the last layer, starting from its code.
    positive_code : bool, default=False
        Constrain codes to be non-negative.
    learning_rate : float or "auto", default="auto"
        Learning rate of Adam for matrices, in units of the norm of the atoms; that of step lengths and thresholds is 10 times
        larger, in units of their initial values. For a cell without matrices it is the rate of these. ``"auto"`` is 1e-3, 1e-2 for
        ``"alista"``, 5e-2 for ``"step"``.
    batch_size : int, default=256
        Mini-batch size.
    max_epochs : int, default=50
        Maximum number of epochs, over all stages of the training; 0 keeps the initial parameters.
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
        The dictionary, in the type of the rows of the fit.
    alpha_ : float
        Weight of the penalty: as given, or as chosen by ``"auto"``.
    layer_weights_ : ndarray of shape (n_layers, n_components, n_features)
        Matrix of every layer; a single one if all layers share it, and with ``cell="alista"``, whose matrix has a closed form. Not with
        ``cell="step"``.
    recurrent_weights_ : ndarray of shape (n_components, n_components)
        With ``cell="gregor-lecun"``: the matrix by which the codes of the previous layer are multiplied.
    layer_steps_ : ndarray of shape (n_layers,)
        Step length of every layer. Not with ``cell="cp"`` and ``cell="gregor-lecun"``.
    thresholds_ : ndarray of shape (n_layers,)
        Threshold of every layer; a single one with ``cell="gregor-lecun"``.
    mean_ : ndarray of shape (n_features,)
        Subtracted from rows: zeros.
    mixing_ : ndarray of shape (n_features, n_components)
        Decoder: ``components_.T``.
    n_components_, n_iter_, n_samples_, n_features_in_ : int
        Numbers of atoms, training steps, rows and columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all of them have one.
    report_ : Report
        Report of the fit. ``objective`` has the accepted losses, which never increase; ``by_layer`` the means over at most 512 rows after
        each layer: ``objective``, ``squared_error``, ``gap`` (relative to half the squared norms of the rows) and, if codes were given,
        ``code_error`` (relative to the squared norms of the codes), with the same for as many steps of ``ista`` and ``fista``.

    See Also
    --------
    SparseCoder : The optimum of the lasso, with a duality gap for every code.
    unmix.datasets.sparse_codes : Rows whose codes are known.

    Notes
    -----
    ``alpha`` has the same meaning as for :class:`SparseCoder`: the objective is ``1/2 ||x - z A||**2 + alpha ||z||_1``. Rows are not
    rescaled.

    References
    ----------
    K. Gregor & Y. LeCun (2010), Learning fast approximations of sparse coding.
    X. Chen, J. Liu, Z. Wang & W. Yin (2018), Theoretical linear convergence of unfolded ISTA and its practical weights and thresholds.
    arXiv:1808.10038
    J. Liu, X. Chen, Z. Wang & W. Yin (2019), ALISTA: analytic weights are as good as learned weights in LISTA.
    https://openreview.net/forum?id=B1lnzn0ctQ
    P. Ablin, T. Moreau, M. Massias & A. Gramfort (2019), Learning step sizes for unfolded sparse coding. arXiv:1905.11071

    Examples
    --------
    >>> from unmix import LISTA
    >>> from unmix.datasets import sparse_codes
    >>> made = sparse_codes(2000, 10, 20, seed=0)
    >>> net = LISTA(made.components, n_layers=4, cell="step", max_epochs=20, random_state=0).fit(made.X)
    >>> loss = net.report_.by_layer
    >>> loss["objective"][-1] < loss["fista"]["objective"][-1] < loss["ista"]["objective"][-1]
    True
    """

    _method = "lista"
    _orthonormal = False
    _min_samples = 1

    def fit(self, X: Rows, y: Rows | None = None) -> Self:  # type: ignore[override]
        """Train the network on rows.

        The dictionary is not changed: the parameters of the layers are trained on mini-batches by Adam, one layer after the other and then
        together, or together from the start if layers share a matrix. The network is fitted to the distribution of these rows; codes of
        other rows may be worse than those of ISTA.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        y : array-like or sparse matrix of shape (n_samples, n_components), path, Files or None, default=None
            Target codes of these rows. None, or a vector, which cannot be a table of codes: the network minimises the objective of the
            lasso.

        Returns
        -------
        object
            The fitted estimator. When fitting fails or is interrupted, it is as it was before.

        See Also
        --------
        transform : Codes of other rows.

        Examples
        --------
        >>> from unmix import LISTA
        >>> LISTA([[1.0, 0.0], [0.0, 1.0]], alpha=0.5, n_layers=2, max_epochs=0).fit([[3.0, 0.0], [0.0, 1.0]]).report_.outcome
        'completed'
        """
        self._fit(X, targets=_targets(y))
        return self

    def fit_transform(self, X: Rows, y: Rows | None = None) -> Array:  # type: ignore[override]
        """Train the network on rows and return their codes: ``fit(X, y).transform(X)``, to the bit.

        The codes are the outputs of the trained network, as a dense array: approximations of the solutions of the lasso, or of the target
        codes in ``y``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.
        y : array-like or sparse matrix of shape (n_samples, n_components), path, Files or None, default=None
            Target codes of these rows. None, or a vector: the network minimises the objective of the lasso.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Codes, in the type of the rows.

        See Also
        --------
        fit : Train the network alone.

        Examples
        --------
        >>> from unmix import LISTA
        >>> net = LISTA([[1.0, 0.0], [0.0, 1.0]], alpha=0.5, n_layers=2, max_epochs=0)
        >>> net.fit_transform([[3.0, 0.0], [0.0, 1.0]])
        array([[2.5, 0. ],
               [0. , 0.5]])
        """
        rows, threads = self._fit(X, targets=_targets(y))
        codes: Array = self._model.encode(rows, (0, threads, int(self.verbose)), dense=True)
        return codes

    def _doubts(self) -> list[str]:
        doubts = super()._doubts()
        table: Any = self.report_.by_layer
        # Codes by further steps of FISTA are not those of the last layer, which the table is about.
        if table and not self.refine:
            what, name = ("code_error", "relative error of the codes") if "code_error" in table else ("objective", "objective")
            ours, theirs = table[what][-1], table["ista"][what][-1]
            if ours is not None and theirs is not None and ours > (1 + WORSE) * theirs:
                doubts.append(
                    f"the network is worse than ISTA with as many steps: the mean {name} over {table['n_rows']} rows of the fit is {ours:.3g} after "
                    f"the last layer, and {theirs:.3g} with ISTA (report_.by_layer); choose {self._remedy()}"
                )
        return doubts

    def _remedy(self) -> str:
        """What makes a network at least as good as ISTA on the rows of the fit."""
        if self.cell == "alista":
            return "another cell, which starts as ISTA"
        if self.init is not None:
            return "init=None, with which the network starts as ISTA"
        return "support_selection=0, with which the network starts as ISTA" if self.support_selection else "monotone=True"

    def _target_tables(self, targets: Any) -> list[tuple[str, Array]]:
        codes = numbers(targets, "y")
        for _, atoms in self._given_tables():
            if codes.shape[1] != len(atoms):
                # The setting of the extension has another name.
                raise ValueError(f"y must have {counted(len(atoms), 'column')}, one for each atom, got shape {codes.shape}")
        return [("codes", codes)]

    def transform(self, X: Rows) -> Array:
        """Return the codes of rows.

        Every row takes the same number of operations, ``O(n_layers * n_components * n_features)``, and no convergence is checked:
        :meth:`quality` gives a bound on the error of each code. :class:`SparseCoder` computes solutions of the lasso to a given tolerance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows with the columns that the network was trained on.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Codes, in the type of the rows.

        See Also
        --------
        quality : Objective, gap, number of atoms and squared error of each row.
        encode : The same, also into a file; compressed sparse rows if it ends in ``.npz``.

        Examples
        --------
        >>> from unmix import LISTA
        >>> net = LISTA([[1.0, 0.0], [0.0, 1.0]], alpha=0.5, n_layers=2, max_epochs=0).fit([[3.0, 0.0], [0.0, 1.0]])
        >>> net.transform([[-2.0, 0.0]])
        array([[-1.5,  0. ]])
        """
        check_is_fitted(self)
        # Not by the transform of the base class, whose sparse codes cannot become frames.
        codes: Array = self._model.encode(self._rows(X), self._run_arguments(), dense=True)
        return codes

    def quality(self, X: Rows) -> CodeQuality:
        """Return objective and duality gap of the lasso for the code of each row, from a recomputed residual in double precision.

        It shows for which rows the network is a good approximation, for example among rows that differ from those of the training. Codes need
        not be optimal for the bound to be valid.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or Files
            Rows.

        Returns
        -------
        Bunch of float64 arrays
            ``objective``, ``1/2 ||x - z A||**2 + alpha ||z||_1``; ``gap``, an upper bound on its distance from the minimum; ``n_nonzero``,
            number of atoms of the code; ``squared_error``, ``||x - z A||**2``. Each of shape (n_samples,).

        See Also
        --------
        SparseCoder.quality : The same for codes by a solver.

        Notes
        -----
        With ``r = x - z A``, ``c = A r`` and ``s`` the number nearest to ``x . r / ||r||**2`` between ``-alpha / max(abs(c))`` and
        ``alpha / max(abs(c))``, the gap is ``1/2 (1 - s)**2 ||r||**2 + sum_j (alpha abs(z_j) - s z_j c_j)``, a sum of non-negative terms.
        With ``positive_code=True``, ``s`` is between 0 and ``alpha / max(c)``.

        Examples
        --------
        >>> from unmix import LISTA
        >>> net = LISTA([[1.0, 0.0], [0.0, 1.0]], alpha=0.5, n_layers=2, max_epochs=0).fit([[3.0, 0.0], [0.0, 1.0]])
        >>> found = net.quality([[3.0, 0.0]])
        >>> found.objective, found.gap, found.n_nonzero, found.squared_error
        (array([1.375]), array([0.]), array([1.]), array([0.25]))
        """
        check_is_fitted(self)
        names, numbers = _unmix.measures(self._model, self._rows(X), self._run_arguments())
        return CodeQuality(**{name: numbers[:, i] for i, name in enumerate(names)})


def _targets(y: Any) -> Any:
    """Target codes as given; None if ``y`` is not a table."""
    is_table = y is not None and (_is_path(y) or hasattr(y, "toarray") or np.asarray(y).ndim > 1)
    return y if is_table else None
