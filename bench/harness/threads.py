"""How many threads a process may use, as every library that is measured wants to be told."""

import os

_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
    "UNMIX_NUM_THREADS",
)


def environment(n, free=()):
    """The environment of a process that works with ``n`` threads; variables in ``free`` are left unset."""
    set_here = {name: str(n) for name in _VARIABLES}
    set_here["PYTHONWARNINGS"] = "ignore"
    kept = {name: value for name, value in os.environ.items() if name not in _VARIABLES}
    return {**kept, **{name: value for name, value in set_here.items() if name not in free}}
