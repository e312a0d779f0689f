"""The function of the package python-picard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._input import dense, warn
from .._types import Array, Rows, Seed
from ..ica import ICA
from ..pca import PCA

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Arguments of python-picard without a counterpart, and their defaults.
_IGNORED = {"m": 7, "ls_tries": 10, "lambda_min": 0.01, "check_fun": True, "fastica_it": None, "jade_it": None}

_FUNCTIONS = {"tanh": "logcosh", "exp": "exp", "cube": "cube"}


def picard(
    X: Rows,
    fun: str = "tanh",
    n_components: int | None = None,
    ortho: bool = True,
    extended: bool | None = None,
    whiten: bool = True,
    return_X_mean: bool = False,
    return_n_iter: bool = False,
    max_iter: int = 500,
    tol: float = 1e-7,
    m: int = 7,
    ls_tries: int = 10,
    lambda_min: float = 0.01,
    check_fun: bool = True,
    w_init: ArrayLike | None = None,
    fastica_it: int | None = None,
    jade_it: int | None = None,
    centering: bool = True,
    random_state: Seed = None,
    verbose: bool | int = False,
) -> tuple[Any, ...]:
    """Run Picard with the arguments and results of python-picard's function, in which samples are columns.

    Unlike in python-picard, directions beyond the rank of the data are dropped, no step that increases the objective is taken, and sources
    are ordered by the variance of their back-projection, each with its canonical sign.

    Parameters
    ----------
    X : array-like of shape (n_features, n_samples), path or Files
        Data; samples as columns.
    fun : {"tanh", "exp", "cube"}, default="tanh"
        Contrast function; without ``ortho`` only ``"tanh"``.
    n_components : int or None, default=None
        Number of sources, with ``whiten``; None for the rank of the data.
    ortho : bool, default=True
        Whether sources are a rotation of whitened coordinates.
    extended : bool or None, default=None
        Whether sources may be sub-Gaussian as well as super-Gaussian; None for the value of ``ortho``.
    whiten : bool, default=True
        Whether to whiten the data first.
    return_X_mean : bool, default=False
        Whether to return the mean of the features.
    return_n_iter : bool, default=False
        Whether to return the number of iterations.
    max_iter : int, default=500
        Maximum number of iterations.
    tol : float, default=1e-7
        Convergence tolerance: the largest entry of the relative gradient.
    m : int, default=7
        Accepted for compatibility with python-picard; ignored, with a warning where it is not the default.
    ls_tries : int, default=10
        Accepted for compatibility with python-picard; ignored, with a warning where it is not the default.
    lambda_min : float, default=0.01
        Accepted for compatibility with python-picard; ignored, with a warning where it is not the default.
    check_fun : bool, default=True
        Accepted for compatibility with python-picard; ignored, with a warning where it is not the default.
    w_init : ndarray of shape (n_components, n_components) or None, default=None
        Initial unmixing matrix, in whitened coordinates; None for a random rotation.
    fastica_it : int or None, default=None
        Accepted for compatibility with python-picard; ignored, with a warning where it is not the default.
    jade_it : int or None, default=None
        Accepted for compatibility with python-picard; ignored, with a warning where it is not the default.
    centering : bool, default=True
        Whether to subtract the mean.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers.
    verbose : bool, default=False
        Whether to print a line for each iteration.

    Returns
    -------
    K : ndarray of shape (n_components, n_features) or None
        Whitening matrix; None without ``whiten``.
    W : ndarray of shape (n_components, n_components)
        Unmixing matrix of whitened data: ``Y = W @ K @ (X - mean)``.
    Y : ndarray of shape (n_components, n_samples)
        The sources.
    X_mean : ndarray of shape (n_features,) or None
        Mean of the features; None without ``centering``. Only with ``return_X_mean``.
    n_iter : int
        Number of the last iteration, counted from 0 as in python-picard: 2 after three iterations. Only with ``return_n_iter``.

    See Also
    --------
    mne : MNE-Python's ICA on the solvers of unmix.
    unmix.ICA : The class that is used.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix.compat import picard
    >>> K, W, Y = picard(np.random.RandomState(0).laplace(size=(3, 1000)), random_state=0)
    >>> bool(np.abs(Y @ Y.T / 1000 - np.eye(3)).max() < 1e-10)
    True
    """
    if fun not in _FUNCTIONS:
        raise ValueError(f"fun must be the name of a contrast, got {fun!r}; choose one of: {', '.join(_FUNCTIONS)}")
    given = {"m": m, "ls_tries": ls_tries, "lambda_min": lambda_min, "check_fun": check_fun, "fastica_it": fastica_it, "jade_it": jade_it}
    for name, value in given.items():
        if value != _IGNORED[name]:
            warn(f"{name}={value!r} has no effect: it is accepted for compatibility with python-picard")
    table = np.asarray(dense(X))
    if table.ndim != 2:
        raise ValueError(f"X must be an array of shape (n_features, n_samples), got {table.ndim} axes")
    rows: Array = table.T if table.dtype in (np.float32, np.float64) else table.T.astype(np.float64)
    mean = rows.mean(axis=0, dtype=np.float64).astype(rows.dtype) if centering else None
    if centering:
        rows = rows - mean
    K = _whitening(rows, n_components) if whiten else None
    white = rows if K is None else rows @ K.T
    contrast: Any = _FUNCTIONS[fun]
    ica = ICA(
        fun=contrast,
        ortho=ortho,
        extended=extended,
        whiten=False,
        center=False,
        max_iter=max_iter,
        tol=tol,
        w_init=w_init,
        random_state=check_random_state(random_state).randint(2**31 - 1),
        verbose=2 if verbose else 0,
    ).fit(white)
    W = np.array(ica.components_)
    found: list[Any] = [K, W, W @ white.T]
    if return_X_mean:
        found.append(mean)
    if return_n_iter:
        # Callers add 1 to the number of python-picard, as MNE does.
        found.append(max(ica.n_iter_ - 1, 0))
    return tuple(found)


def _whitening(rows: Array, n_components: int | None) -> Array:
    """The whitening matrix of centred rows (divisor ``n``), with at most as many directions as their rank."""
    pca = PCA(n_components, center=False, svd_solver="auto").fit(rows)
    n = len(rows)
    kept = pca.explained_variance_ > 0
    scale = np.sqrt(pca.explained_variance_[kept] * ((n - 1) / n))
    whitening: Array = (pca.components_[kept] / scale[:, None]).astype(rows.dtype, copy=False)
    return whitening
