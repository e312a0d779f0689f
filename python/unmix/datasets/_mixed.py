"""Mixed sources: the models of ICA and of nonlinear PCA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .. import _unmix
from .._record import MixedRows
from .._types import Array
from ._checks import _check, _seed


def _mixed(made: tuple[Array, Array, Array]) -> MixedRows:
    return MixedRows(**dict(zip(["X", "sources", "mixing"], made)))


def independent(
    n_samples: int = 1000,
    distributions: Sequence[str] = ("laplace", "uniform", "laplace"),
    variances: Sequence[float] | None = None,
    *,
    seed: int = 0,
) -> MixedRows:
    """Return independent sources along random orthonormal directions: the model of nonlinear PCA, and of ICA of white rows.

    With distinct variances PCA finds the directions; with equal ones only methods that use independence do, if at most one source is
    Gaussian. For a mixing that is not orthogonal, multiply ``sources`` by another matrix.

    Parameters
    ----------
    n_samples : int
        Number of rows, at least 2.
    distributions : sequence of str
        The distribution of each source; there are as many features as sources. Super-Gaussian: ``"laplace"``, ``"logistic"``,
        ``"exponential"``, ``"student-3"``, ``"student-5"``, ``"student-6"``, ``"bernoulli-gaussian"`` (0 in seven of ten rows, else normal).
        Sub-Gaussian: ``"uniform"``, ``"arcsine"``, ``"bimodal"``, ``"laplace-pair"``. ``"gaussian"``. Mixtures of two or four Gaussians:
        ``"two-humps-apart"`` or ``"four-humps-apart"`` with equal, ``"two-uneven-humps-apart"`` or ``"four-uneven-humps-apart"`` with unequal
        weights, and ``near`` (overlapping modes) or ``merged`` (a single mode) in place of ``apart`` (separated modes).
    variances : sequence of float, default=None
        The variance of each source, which the sample has exactly; None for 1 each. Sources of equal variance cannot be separated by
        variance alone.
    seed : int
        Random seed; the same seed gives the same bits.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_sources); ``sources`` of the same shape, mean 0; ``mixing`` (n_features, n_sources),
        orthonormal columns: ``X = sources @ mixing.T``.

    See Also
    --------
    signals : Three mixed time signals.
    points : Two sources in the plane.

    Notes
    -----
    ``X = sources @ mixing.T``. Each column of ``sources`` has exactly mean 0 and the variance ``variances[j]`` (divisor ``n_samples``);
    ``mixing`` is the ``Q`` of a QR decomposition of normal numbers, and so uniformly distributed among orthogonal matrices.

    Examples
    --------
    >>> from unmix.datasets import independent
    >>> independent(500, ["laplace"] * 4, [4, 4, 4, 1]).X.shape
    (500, 4)
    """
    _check(n_samples=(n_samples, 2), seed=(seed, 0))
    names = [distributions] if isinstance(distributions, str) else [str(distribution) for distribution in distributions]
    sizes = [1.0] * len(names) if variances is None else [float(v) for v in variances]
    return _mixed(_unmix.independent(int(n_samples), names, sizes, int(seed)))


def points(distribution: str = "uniform", n_samples: int = 1000, *, seed: int | None = None) -> MixedRows:
    """Return points in the plane: two independent sources of equal variance, rotated by 45 degrees. PCA cannot identify their axes.

    Every direction has the same variance, so that any rotation is a solution of PCA, while the sources differ from Gaussian ones: ICA and
    sigma-PCA find the axes. Two columns can be drawn as a scatter plot.

    Parameters
    ----------
    distribution : {"uniform", "laplace"}
        Distribution of both sources. Their variance is 2/3 (uniform) or 1 (Laplace).
    n_samples : int
        Number of points, with a seed; the published points are 1000.
    seed : int, default=None
        Random seed. None: the points of the published experiment (arXiv 2311.13580, appendix G.6).

    Returns
    -------
    Bunch
        ``X`` and ``sources`` of shape (n_samples, 2); ``mixing`` (2, 2), orthonormal columns: ``X = sources @ mixing.T``.

    See Also
    --------
    independent : Any number of sources.

    Notes
    -----
    ``X = sources @ mixing.T`` with ``mixing = [[c, s], [-s, c]]``, ``c = s = sqrt(1/2)``.

    Examples
    --------
    >>> from unmix.datasets import points
    >>> points("laplace").X.shape
    (1000, 2)
    """
    _check(n_samples=(n_samples, 2))
    if seed is None and n_samples != 1000:
        raise ValueError(f"n_samples must be 1000 without a seed, which gives the published points, got {n_samples}; give a seed")
    return _mixed(_unmix.points(str(distribution), int(n_samples), _seed(seed)))


def signals(
    setting: Literal["distinct", "two-equal", "all-equal", "non-orthogonal"] = "distinct", *, seed: int | None = None
) -> MixedRows:
    """Return three mixed time signals, a sine, a square wave and a sawtooth: 2000 samples on [0, 8], with a little noise.

    The sources are deterministic curves, so that estimates can be judged by eye. The settings show what variance identifies: with an
    orthogonal mixing, sources of distinct variance are found by linear PCA, those of equal variance only by methods that use independence.

    Parameters
    ----------
    setting : {"distinct", "two-equal", "all-equal", "non-orthogonal"}
        Variances of the sources: 17.1, 9.0 and 0.37 (``"distinct"``), two or all of them 1, each with an orthogonal mixing; or the first
        variances with a mixing that is not orthogonal, which no orthogonal method can invert.
    seed : int, default=None
        Random seed of the noise. None: the noise of the published experiment (arXiv 2311.13580, section 4.1).

    Returns
    -------
    Bunch
        ``X`` and ``sources`` of shape (2000, 3); ``mixing`` (3, 3): ``X = sources @ mixing.T``.

    See Also
    --------
    independent : Independent sources of given distributions.

    Notes
    -----
    With ``t`` in [0, 8] the sources are ``6 sin(2 t)``, ``3 sign(sin(3 t))`` and ``2 (t - floor(t)) - 1``, each with normal noise of
    standard deviation 0.2, then divided by their standard deviations where the setting requires variance 1; ``X = sources @ mixing.T``.

    Examples
    --------
    >>> from unmix.datasets import signals
    >>> signals("all-equal").X.shape
    (2000, 3)
    """
    return _mixed(_unmix.signals(str(setting), _seed(seed)))
