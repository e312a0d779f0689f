"""What the machine can do, measured in the same run as everything else: of each rate the best that any library reaches, unmix included.

Started as a program it measures with the threads it was given and prints JSON; :func:`measure` starts it for each number of
threads and keeps the best of each ceiling.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np

from .table import BENCH
from .threads import environment

#: Sizes of the matrices whose eigenproblems are timed.
_EIGH = (64,)
#: Ceilings that are seconds: less is better.
_SECONDS = "eigh"


def best(work, seconds=0.6, least=5):
    """The least time that ``work`` took."""
    work()
    times = []
    while len(times) < least or sum(times) < seconds:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _numpy_product(dtype, n):
    a, b = (np.random.default_rng(i).standard_normal((n, n)).astype(dtype) for i in (1, 2))
    out = np.empty((n, n), dtype)
    return 2 * n**3 / best(lambda: np.matmul(a, b, out=out), seconds=0.4, least=3)


def _torch_product(dtype, n):
    torch = _torch()
    a, b = (torch.from_numpy(np.random.default_rng(i).standard_normal((n, n)).astype(dtype)) for i in (1, 2))
    out = torch.empty_like(a)
    return 2 * n**3 / best(lambda: torch.matmul(a, b, out=out), seconds=0.4, least=3)


def _unmix_product(dtype, n):
    """Half of a product of centred rows with themselves, in a whole fit: never more than the rate of the product alone. The difference of two
    fits would be nearer to it, and exceed it by far whenever the shorter one is disturbed."""
    import unmix

    rows, p = 8 * n, n // 2
    X = np.random.default_rng(1).standard_normal((rows, p)).astype(dtype)
    return rows * p * p / best(lambda: unmix.PCA(1, svd_solver="covariance_eigh").fit(X), seconds=0.3, least=3)


def _torch():
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    return torch


def product(dtype, sizes):
    """Operations a second in a product of large matrices, and whose it is."""
    found = {}
    for n in sizes:
        for name, one in (("numpy", _numpy_product), ("PyTorch", _torch_product), ("unmix", _unmix_product)):
            try:
                found[f"{name} {n}"] = one(dtype, n)
            except ImportError:
                continue
    name = max(found, key=found.get)
    return found[name], name


def read(size=1 << 28):
    """Bytes a second that a scalar product reads from memory."""
    x = np.ones(size, np.float32)
    return x.nbytes / best(lambda: np.dot(x, x), seconds=0.5)


def copy(size=1 << 26):
    """Bytes a second that a copy reads and writes, on one thread."""
    x, y = np.ones(size, np.float64), np.zeros(size, np.float64)
    return 2 * x.nbytes / best(lambda: np.copyto(y, x), seconds=0.3)


def eigh(p):
    """Seconds of a symmetric eigenproblem of size ``p``, all vectors, by the fastest routine of LAPACK in numpy and scipy."""
    from scipy import linalg

    a = np.random.default_rng(p).standard_normal((p, p))
    a = a + a.T
    ways = {"numpy": lambda: np.linalg.eigh(a), "scipy evd": lambda: linalg.eigh(a, driver="evd", check_finite=False)}
    found = {name: best(way, seconds=0.2) for name, way in ways.items()}
    name = min(found, key=found.get)
    return found[name], name


def tanh(dtype, threads, size=4096):
    """Hyperbolic tangents a second of numbers in cache, by numpy or PyTorch on one thread: so many times the threads."""
    x, out = np.linspace(-4, 4, size).astype(dtype), np.empty(size, dtype)
    found = {"numpy": threads * size / best(lambda: np.tanh(x, out=out), seconds=0.1)}
    try:
        torch = _torch()
        torch.set_num_threads(1)
        a = torch.from_numpy(x)
        b = torch.empty_like(a)
        found["PyTorch"] = threads * size / best(lambda: torch.tanh(a, out=b), seconds=0.1)
    except ImportError:
        pass
    name = max(found, key=found.get)
    return found[name], name


def main(how):
    quick, short = "--quick" in how, "--short" in how
    sizes, size = ((512,), 1 << 22) if quick else ((2048,), 1 << 28) if short else ((2048, 4096), 1 << 28)
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    found = {f"product_{d}": product(np.dtype(d), sizes) for d in ("float32", "float64")}
    found["read"] = (read(size), "numpy")
    if not short:
        found["copy"] = (copy(size // 4), "numpy")
        found.update({f"tanh_{d}": tanh(d, threads) for d in ("float32", "float64")})
        found.update({f"eigh_{p}": eigh(p) for p in _EIGH})
    print(json.dumps(found))


def measure(threads, quick=False, short=False):
    """Every ceiling: the best of all numbers of threads (the least, for seconds), and under "by" whose it is."""
    found, by = {}, {}
    for n in threads:
        words = [sys.executable, "-m", "harness.ceilings", *(["--quick"] if quick else []), *(["--short"] if short else [])]
        done = subprocess.run(words, cwd=BENCH, env=environment(n), check=True, capture_output=True, text=True)
        for name, (value, whose) in json.loads(done.stdout.strip().splitlines()[-1]).items():
            better = value < found.get(name, np.inf) if name.startswith(_SECONDS) else value > found.get(name, -np.inf)
            if better:
                found[name], by[name] = value, f"{whose}, {n} thread{'s' * (n > 1)}"
    return {**found, "by": by}


def joined(one, other):
    """The better of each ceiling of two measurements."""
    found, by = dict(one), dict(one.get("by", {}))
    for name, value in other.items():
        if name == "by":
            continue
        if name not in found or (value < found[name] if name.startswith(_SECONDS) else value > found[name]):
            found[name], by[name] = value, other["by"].get(name)
    return {**found, "by": by}


if __name__ == "__main__":
    main(sys.argv[1:])
