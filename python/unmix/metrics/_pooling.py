"""Estimates from several imputations, combined."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._input import warn
from .._types import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: Degrees of freedom below which an interval is infinite. The quantiles of Student's t distribution are then above 1e300 for levels of at least
#: 0.5, and those of scipy are wrong: 6700 at 1e-300, NaN at 0.
LEAST = 1e-3


class Pooled(NamedTuple):
    """An estimate combined from several imputations.

    Attributes have the shape of the estimates that were combined. An interval that treated imputed cells as observed would be too narrow:
    here the variance between imputations is part of the standard error.

    Parameters
    ----------
    estimate : ndarray
        Mean of the estimates.
    std_error : ndarray
        Standard error of the estimate, from the variances within and between imputations.
    df : ndarray
        Degrees of freedom of Student's t distribution for its interval.
    missing_information : ndarray
        Fraction of missing information: the share of the variance that is due to the missing cells.

    Attributes
    ----------
    estimate : ndarray
        Mean of the estimates.
    std_error : ndarray
        Standard error of the estimate, from the variances within and between imputations.
    df : ndarray
        Degrees of freedom of Student's t distribution for its interval.
    missing_information : ndarray
        Fraction of missing information: the share of the variance that is due to the missing cells.

    See Also
    --------
    pool : The function that returns this object.

    Notes
    -----
    With ``m`` estimates, ``w`` the mean of their squared standard errors and ``b`` the variance between them,
    ``std_error**2 = w + (1 + 1/m) b`` and ``df = (m - 1) / share**2``, with ``share = (1 + 1/m) b / std_error**2``. With
    ``r = (1 + 1/m) b / w``, ``missing_information = (r + 2 / (df + 3)) / (r + 1)``.

    Examples
    --------
    >>> from unmix.metrics import pool
    >>> pool([1.0, 1.2, 0.8], [0.1, 0.1, 0.1]).estimate.round(3)
    np.float64(1.0)
    """

    estimate: Array
    std_error: Array
    df: Array
    missing_information: Array

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the confidence interval of the estimate.

        It is that of Student's t distribution, which is wider than the normal one where few imputations vary much: a larger ``n_draws`` of
        ``impute`` makes it narrower on average.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level, between 0 and 1.

        Returns
        -------
        low : ndarray
            Lower end of the interval.
        high : ndarray
            Upper end.

        See Also
        --------
        pool : Combines the estimates.

        Notes
        -----
        The ends are ``estimate -/+ t * std_error``, with ``t`` the ``0.5 + level / 2`` quantile of Student's t distribution with ``df``
        degrees of freedom. As ``df`` goes to 0, ``t`` goes to infinity: below 0.001 degrees of freedom the ends are infinite.

        Examples
        --------
        >>> from unmix.metrics import pool
        >>> low, high = pool([1.0, 1.2, 0.8], [0.1, 0.1, 0.1]).interval()
        >>> low.round(2), high.round(2)
        (np.float64(0.17), np.float64(1.83))
        """
        from scipy.stats import t

        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level!r}")
        half = np.where(self.df < LEAST, np.inf, t.ppf(0.5 + level / 2, self.df)) * self.std_error
        return self.estimate - half, self.estimate + half


def pool(estimates: ArrayLike, variances: ArrayLike, df_complete: float | None = None) -> Pooled:
    """Combine estimates from several imputations of the missing cells by Rubin's rules.

    With ``m`` estimates ``q_i`` of squared standard errors ``u_i``, the estimate is their mean and its variance ``mean(u) + (1 + 1/m) b``,
    ``b`` the variance of the ``q_i`` with divisor ``m - 1``.

    Parameters
    ----------
    estimates : array-like of shape (n_draws, ...)
        The estimate from each completed table, as returned by ``impute(X, n_draws=)``.
    variances : array-like of shape (n_draws, ...)
        Squared standard error of each estimate.
    df_complete : float, optional
        Degrees of freedom of the estimate without missing cells, such as ``n - p`` of a regression; finite and above 0. The result has the
        degrees of freedom of Barnard & Rubin (1999); without it, those of Rubin (1987), which are for many rows.

    Returns
    -------
    Pooled
        With ``estimate``, ``std_error``, ``df``, ``missing_information`` and ``interval(level)``.

    See Also
    --------
    unmix.PPCA.impute : Draws of the missing cells.

    Notes
    -----
    The degrees of freedom of Rubin (1987) are ``(m - 1) / share**2``, where ``share`` is the part of the variance that is due to the
    imputations, ``(1 + 1/m) b`` divided by all of it. With ``df_complete = d`` they are ``1 / (share**2 / (m - 1) + 1 / e)``,
    ``e = d (d + 1) / (d + 3) (1 - share)``. If all ``variances`` of an estimate are 0 and its draws differ, all information is missing:
    ``share`` is 1 and ``e`` is 0. By these formulas the estimate then has 0 degrees of freedom and an infinite interval, with a warning;
    without ``df_complete`` it has ``m - 1`` degrees of freedom.

    It takes ``O(n_draws)`` operations for each number.

    References
    ----------
    D. B. Rubin (1987), Multiple imputation for nonresponse in surveys. doi:10.1002/9780470316696
    J. Barnard & D. B. Rubin (1999), Small-sample degrees of freedom with multiple imputation. doi:10.1093/biomet/86.4.948

    Examples
    --------
    >>> from unmix.metrics import pool
    >>> pooled = pool([1.0, 1.2, 0.8], [0.1, 0.1, 0.1])
    >>> pooled.std_error.round(3), pooled.df.round(1)
    (np.float64(0.392), np.float64(16.5))
    """
    q, u = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if q.shape != u.shape or q.ndim < 1 or len(q) < 2:
        raise ValueError(
            f"estimates and variances must have the same shape, with at least 2 draws, but have shapes {q.shape} and {u.shape}"
        )
    if not (np.isfinite(q).all() and np.isfinite(u).all() and (u >= 0).all()):
        raise ValueError("estimates must be finite, and variances finite and non-negative")
    if df_complete is not None and (isinstance(df_complete, bool) or not isinstance(df_complete, Real) or not 0 < df_complete < np.inf):
        raise ValueError(
            f"df_complete must be a finite number above 0 or None, got {df_complete!r}; it is the degrees of freedom of the estimate without "
            "missing cells, such as n - p of a regression"
        )
    m = len(q)
    within, between = u.mean(0), q.var(0, ddof=1)
    extra = (1 + 1 / m) * between
    total = within + extra
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, extra / total, 0.0)
        df = (m - 1) / share**2
        if df_complete is not None:
            # 1 - share, without cancellation where it is small.
            rest = np.where(total > 0, within / total, 1.0)
            observed = (df_complete + 1) / (df_complete + 3) * df_complete * rest
            df = 1 / (1 / df + 1 / observed)
        # Fraction of missing information, with the correction 2 / (df + 3) for the degrees of freedom of t.
        ratio = extra / within
        information = np.where(within > 0, (ratio + 2 / (df + 3)) / (ratio + 1), 1.0)
    if np.any(df < LEAST):
        warn(
            f"{np.count_nonzero(df < LEAST)} of {df.size} estimates have no variance within the imputations beside that between them: all of "
            "their information is missing, so that by df_complete they have 0 degrees of freedom and an infinite interval; check that variances "
            f"are squared standard errors, or leave df_complete out, for {m - 1} degrees of freedom"
        )
    return Pooled(q.mean(0), np.sqrt(total), df, information)
