"""Rows distributed over workers: sums are computed where the rows are, and sent instead of the rows.

Each worker holds consecutive rows, cut at multiples of :func:`shard_rows`, and processes jobs with :func:`gather`. The driver calls
:func:`fit` with a function that sends a job to all workers and returns their results; the transport of the bytes (Dask, Spark, Ray,
MPI, pipes) is up to the caller. The model has the same bits as a fit of all rows in one process.

>>> import numpy as np, unmix
>>> from unmix import shards
>>> step = shards.shard_rows(4)
>>> X = np.random.RandomState(0).randn(2 * step + 100, 4) @ np.diag([4, 3, 2, 1])
>>> parts = {0: X[:step], step: X[step:]}                                     # two workers and what they hold
>>> def gather_all(job):
...     return [shards.gather(job, rows, first) for first, rows in parts.items()]
>>> there = shards.fit(unmix.PCA(), X.shape, gather_all)
>>> bool(np.array_equal(there.components_, unmix.PCA().fit(X).components_))
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from . import _unmix
from ._input import _file, _is_path
from ._threads import threads_here
from ._types import Rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from ._base import Estimator

_E = TypeVar("_E", bound="Estimator")

__all__ = ["fit", "gather", "shard_rows"]


def shard_rows(n_features: int, dtype: DTypeLike = "float64", sparse: bool = False) -> int:
    """Return the number of rows at whose multiples rows may be cut between workers.

    Sums are accumulated over shards of this length and merged in a fixed order: with cuts at its multiples the model has the same bits
    however rows are distributed. It depends on the number of columns, not on the number of rows or of workers.

    Parameters
    ----------
    n_features : int
        Columns of the rows.
    dtype : {"float32", "float64"}, default="float64"
        Type of the rows; the result is the same for both.
    sparse : bool, default=False
        Whether the rows are sparse: their shards are longer.

    Returns
    -------
    int
        A power of two.

    See Also
    --------
    gather : The result of a worker.
    fit : The call of the driver.

    Examples
    --------
    >>> from unmix import shards
    >>> step = shards.shard_rows(4)
    >>> step & (step - 1)
    0
    """
    _checked(dtype)
    if not isinstance(n_features, Integral) or n_features < 1:
        raise ValueError(f"n_features must be a positive integer, got {n_features!r}")
    return _unmix.shard_rows(int(n_features), bool(sparse))


def gather(job: bytes, rows: Rows, first_row: int, sample_weight: ArrayLike | None = None) -> bytes:
    """Process a job on a worker: return the sums over its rows that the job describes.

    It is called once on every worker for each pass of the fit, reads the rows of the worker, and keeps no state between calls. The fitted
    parameters so far are part of the job, so that a lost worker can be replaced by any that has the same rows.

    Parameters
    ----------
    job : bytes
        The job that the driver sent.
    rows : array-like or scipy sparse matrix of shape (n_samples, n_features), path or Files
        The rows that the worker holds, of the type of the fit; sparse on every worker if the fit is of sparse rows, else on none.
    first_row : int
        Index of the first of these rows among all rows, a multiple of :func:`shard_rows`. The last of them must end a shard, or be the
        last of all rows.
    sample_weight : array-like of shape (n_samples,), optional
        Sample weights of the rows, the same for every job of a fit; 1 by default. They are sent to the driver once for each fit: 8
        bytes per row, if any worker has weights.

    Returns
    -------
    bytes
        The result for the driver; its size is about that of the sums, and does not depend on the number of rows.

    See Also
    --------
    fit : The call of the driver.
    shard_rows : Where rows may be cut.

    Examples
    --------
    >>> import numpy as np, unmix
    >>> from unmix import shards
    >>> X = np.random.RandomState(0).randn(100, 4)
    >>> model = shards.fit(unmix.PCA(2), X.shape, lambda job: [shards.gather(job, X, 0)])
    >>> model.n_samples_
    100
    """
    here: Any = rows
    if issparse(here):
        here = here if here.format in ("csr", "csc") else here.tocsr()
    else:
        here = _file(here) if _is_path(here) else np.asarray(here)
    weights = None if sample_weight is None else [float(weight) for weight in np.asarray(sample_weight, dtype=np.float64)]
    if not isinstance(first_row, Integral) or not 0 <= first_row < 2**64:
        raise ValueError(f"first_row must be an integer of at least 0, got {first_row!r}")
    return _unmix.gather_shards(bytes(job), here, int(first_row), weights, (0, threads_here(), 0))


def fit(
    estimator: _E,
    shape: tuple[int, int],
    gather_all: Callable[[bytes], Iterable[bytes]],
    dtype: DTypeLike = "float64",
    sparse: bool = False,
) -> _E:
    """Fit an estimator to rows that workers hold, on the driver.

    Use it if rows are on several machines: ``gather_all`` is called once for each pass over the data, and jobs and sums are sent. Some
    methods also request subsets of the rows, of limited size, from which they start or estimate errors. All rows are sent to the driver
    if they are fewer than the columns; by FactorAnalysis with ``prior="laplace"`` or ``"jeffreys"``; and by SigmaPCA with ``halves``, the
    default for small data.

    Parameters
    ----------
    estimator : estimator
        One that is fitted by full passes over the data: PCA, PPCA, LinearEigenGAN, FactorAnalysis, ICA, FastICA, RICA,
        CompleteDictionary, RFN, SparseCoder, and NeuralPCA and SigmaPCA with their deterministic solvers. Others, and settings that
        need the rows themselves (training on mini-batches, ``algorithm="easi"``, ``n_components="parallel"`` and ``"cv"``), are
        refused; ``"takes"`` of :func:`unmix.methods` has the entry ``"remote"`` for each method.
    shape : tuple of (n_samples, n_features)
        Shape of all rows together.
    gather_all : callable
        A function that sends a job (bytes) to every worker, and returns the results (bytes) of :func:`gather` on the workers, one for
        each worker, in any order.
    dtype : {"float32", "float64"}, default="float64"
        The type of the rows.
    sparse : bool, default=False
        Whether the rows are sparse, for estimators that take sparse rows. Sums are then over stored entries, as for sparse rows in one
        process.

    Returns
    -------
    estimator
        The same estimator, fitted, with the same bits as after a fit of all rows in one process.

    See Also
    --------
    gather : The result of a worker.
    shard_rows : Where rows may be cut.

    Examples
    --------
    >>> import numpy as np, unmix
    >>> from unmix import shards
    >>> X = np.random.RandomState(0).randn(100, 4)
    >>> model = shards.fit(unmix.PCA(2), X.shape, lambda job: [shards.gather(job, X, 0)])
    >>> model.n_samples_
    100
    """
    n, p = shape
    for name, value in {"n_samples": n, "n_features": p}.items():
        if not isinstance(value, Integral) or value < 1:
            raise ValueError(f"shape must hold positive integers, got {name}={value!r}")
    if not callable(gather_all):
        raise TypeError(f"gather_all must be a function of a job that returns the results of the workers, got {gather_all!r}")
    estimator._fit_shards((int(n), int(p)), _checked(dtype), gather_all, bool(sparse))
    return estimator


def _checked(dtype: DTypeLike) -> str:
    name = np.dtype(dtype).name
    if name not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    return name
