"""The environment of a timed process: its number of threads, without variables that slow a library down."""

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

#: Variables that make a library slower or select its kernels; they are removed for timed processes.
RESTRICTING = (
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_VERBOSE", "OPENBLAS_MAIN_FREE", "GOTO_NUM_THREADS", "GOTOBLAS_MAIN_FREE",
    "MKL_ENABLE_INSTRUCTIONS", "MKL_DEBUG_CPU_TYPE", "MKL_CBWR", "MKL_DYNAMIC", "BLIS_ARCH_TYPE",
    "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES", "ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA",
    "XLA_FLAGS", "DAAL_DISPATCH", "POLARS_SKIP_CPU_CHECK", "UNMIX_MAX_VECTOR_BYTES",
    "OMP_PROC_BIND", "OMP_PLACES", "OMP_DYNAMIC", "OMP_WAIT_POLICY", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_BLOCKTIME",
    "LD_PRELOAD", "MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_",
)  # fmt: skip

#: Variables that limit all libraries that read them to vectors of 32 bytes: timings on a processor with wider vectors are then
#: comparable with one without.
_NARROW = {
    "OPENBLAS_CORETYPE": "Haswell",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR",
    "ATEN_CPU_CAPABILITY": "avx2",
    "DNNL_MAX_CPU_ISA": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
    "UNMIX_MAX_VECTOR_BYTES": "32",
}

#: Set by `--vectors 32`.
_narrow = False


def restrict_to_narrow_vectors():
    """Limit processes started from here on to vectors of 32 bytes."""
    global _narrow
    _narrow = True


def vectors():
    """Maximum vector width of processes in bytes, if it is restricted."""
    return 32 if _narrow else None


def cleared():
    """Variables of this environment that are removed for the processes, with their values."""
    return {name: os.environ[name] for name in RESTRICTING if name in os.environ}


def environment(n, free=()):
    """The environment of a process that works with ``n`` threads; variables in ``free`` are left unset."""
    set_here = {name: str(n) for name in _VARIABLES}
    set_here["PYTHONWARNINGS"] = "ignore"
    kept = {name: value for name, value in os.environ.items() if name not in _VARIABLES and name not in RESTRICTING}
    return {**kept, **{name: value for name, value in set_here.items() if name not in free}, **(_NARROW if _narrow else {})}
