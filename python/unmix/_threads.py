"""The number of threads, and its settings."""

from __future__ import annotations

import os
import sys
import warnings
from numbers import Integral

from . import _unmix

_chosen = False
_variable_error = _unmix.threads_variable_error()
if _variable_error is not None:
    # A wrong variable must not make the package unusable: its default applies.
    warnings.warn(f"{_variable_error}; the default is used instead", stacklevel=2)


def set_num_threads(n: int | None) -> None:
    """Set the number of threads that this process uses; ``None`` goes back to the default.

    The default is the environment variable ``UNMIX_NUM_THREADS``; without it, one thread inside a joblib worker, else all processors
    that the process may use (CPU affinity and the limits of its control group are respected). The number never changes a result.

    Parameters
    ----------
    n : int or None
        Number of threads, at least 1.

    See Also
    --------
    get_num_threads : The number that a fit would use.

    Examples
    --------
    >>> import unmix
    >>> unmix.set_num_threads(2)
    >>> unmix.get_num_threads()
    2
    >>> unmix.set_num_threads(None)
    """
    global _chosen
    if n is not None and (not isinstance(n, Integral) or n < 1):
        raise ValueError(f"n must be a positive integer, or None for the default, got {n!r}")
    if n is not None and n >= 2**31:
        raise ValueError(f"n must be an integer below 2**31, got {n!r}")
    _chosen = n is not None
    _unmix.set_num_threads(0 if n is None else int(n))


def get_num_threads() -> int:
    """Return the number of threads that a fit started here and now would use.

    Fits, encoding and all other passes over rows use as many. Inside a joblib worker it is 1 unless the number was set, so that parallel
    workers do not compete for processors.

    Returns
    -------
    int
        At least 1.

    See Also
    --------
    set_num_threads : Set the number.

    Examples
    --------
    >>> import unmix
    >>> unmix.get_num_threads() >= 1
    True
    """
    return threads_here() or _unmix.num_threads()


def threads_here() -> int:
    """Return 1 inside a joblib worker of any backend, unless the number was set; else 0, which means the default."""
    parallel = sys.modules.get("joblib.parallel")
    if parallel is None or _chosen:
        return 0
    # What joblib itself tests first: workers and blocks of parallel_config have one.
    here = getattr(parallel, "_backend", None)
    if here is not None and not hasattr(here, "config"):
        return 0
    # After the tests that take less time, which are enough outside workers.
    if _variable_error is None and os.environ.get("UNMIX_NUM_THREADS"):
        return 0
    # The backend of a joblib worker is one level deeper than that of the process or thread that started it.
    return 1 if (getattr(parallel.get_active_backend()[0], "nesting_level", 0) or 0) > 0 else 0
