"""Sparse combinations of atoms: the models of dictionary learning."""

from __future__ import annotations

from .. import _unmix
from .._record import SparseRows
from ._checks import _check


def bernoulli_gaussian(
    n_samples: int = 4000,
    n_features: int = 25,
    n_components: int | None = None,
    *,
    share: float = 0.2,
    noise: float = 0.0,
    orthogonal: bool = True,
    seed: int = 0,
) -> SparseRows:
    """Return sparse combinations of atoms, ``codes @ components`` plus noise: the Bernoulli-Gaussian model of dictionary learning.

    A code is 0 with probability ``1 - share``, else normal with variance ``1 / share``: its variance is 1, its excess kurtosis
    ``3 * (1 - share) / share``.

    Parameters
    ----------
    n_samples, n_features : int
        Numbers of rows and columns.
    n_components : int, optional
        Number of atoms; None for as many as columns.
    share : float
        Fraction of the codes that are not 0.
    noise : float
        Standard deviation of normal noise in every column.
    orthogonal : bool
        Whether atoms are orthonormal, uniformly distributed; else they are independent directions, possibly more than columns.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features); ``components`` (n_components, n_features), the atoms, rows of length 1; ``codes``
        (n_samples, n_components).

    See Also
    --------
    independent : Sources of given distributions.

    Notes
    -----
    ``X = codes @ components + noise * e`` with standard normal ``e`` and ``codes = b g / sqrt(share)``, ``b`` Bernoulli with probability
    ``share`` and ``g`` standard normal.

    Examples
    --------
    >>> from unmix.datasets import bernoulli_gaussian
    >>> made = bernoulli_gaussian(1000, 8, share=0.3)
    >>> made.X.shape, round(float((made.codes != 0).mean()), 1)
    ((1000, 8), 0.3)
    """
    k = n_features if n_components is None else n_components
    _check(n_samples=(n_samples, 1), n_features=(n_features, 1), n_components=(k, 1), seed=(seed, 0))
    sizes = (int(n_samples), int(n_features), int(k))
    made = _unmix.bernoulli_gaussian(sizes, float(share), float(noise), bool(orthogonal), int(seed))
    return SparseRows(**dict(zip(["X", "components", "codes"], made)))


def sparse_codes(
    n_samples: int = 4000,
    n_features: int = 50,
    n_components: int = 100,
    *,
    share: float = 0.08,
    noise: float = 0.0,
    seed: int = 0,
) -> SparseRows:
    """Return sparse combinations of atoms, ``codes @ components`` plus noise, with known codes: a benchmark for learned encoders.

    A code is 0 with probability ``1 - share``, else standard normal; atoms are independent directions of length 1.

    Parameters
    ----------
    n_samples, n_features : int
        Numbers of rows and columns. A smaller number of rows gives the first rows of a larger one.
    n_components : int
        Number of atoms.
    share : float
        Fraction of the codes that are not 0.
    noise : float
        Standard deviation of normal noise in every column.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features); ``components`` (n_components, n_features), the atoms; ``codes`` (n_samples, n_components).

    See Also
    --------
    bernoulli_gaussian : The same model, scaled to codes of variance 1.

    Notes
    -----
    ``X = codes @ components + noise * e`` with standard normal ``e`` and ``codes = b g``, ``b`` Bernoulli with probability ``share`` and
    ``g`` standard normal.

    Examples
    --------
    >>> from unmix.datasets import sparse_codes
    >>> made = sparse_codes(1000, 8, 16, share=0.1)
    >>> made.X.shape, made.codes.shape, bool(abs(made.X - made.codes @ made.components).max() < 1e-12)
    ((1000, 8), (1000, 16), True)
    """
    scale = float(share) ** 0.5 if share > 0 else 1.0
    made = bernoulli_gaussian(n_samples, n_features, n_components, share=share, noise=noise / scale, orthogonal=False, seed=seed)
    return SparseRows(X=made.X * scale, components=made.components, codes=made.codes * scale)
