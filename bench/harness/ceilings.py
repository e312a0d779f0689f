"""What the machine can do, measured in the same run as everything else.

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

#: Largest of the matrices whose eigenproblem is timed.
_EIGH = (64,)


def best(work, seconds=0.6, least=5):
    """The least time that ``work`` took."""
    work()
    times = []
    while len(times) < least or sum(times) < seconds:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def product(dtype, n=2048):
    """Operations a second in a product of square matrices, which OpenBLAS takes to the machine's peak."""
    a, b = (np.random.default_rng(i).standard_normal((n, n)).astype(dtype) for i in (1, 2))
    out = np.empty((n, n), dtype)
    return 2 * n**3 / best(lambda: np.matmul(a, b, out=out))


def read(size=1 << 28):
    """Bytes a second that a scalar product reads from memory."""
    x = np.ones(size, np.float32)
    return x.nbytes / best(lambda: np.dot(x, x), seconds=1.0)


def copy(size=1 << 26):
    """Bytes a second that a copy reads and writes, on one thread."""
    x, y = np.ones(size, np.float64), np.zeros(size, np.float64)
    return 2 * x.nbytes / best(lambda: np.copyto(y, x))


def eigh(p):
    """Seconds of a symmetric eigenproblem of size ``p``, all vectors, by numpy's LAPACK."""
    a = np.random.default_rng(p).standard_normal((p, p))
    return best(lambda: np.linalg.eigh(a + a.T), seconds=0.3)


def tanh(dtype, threads, size=4096):
    """Hyperbolic tangents a second of numbers in cache, by numpy, whose loop runs on one thread: so many times the threads."""
    x, out = np.linspace(-4, 4, size).astype(dtype), np.empty(size, dtype)
    return threads * size / best(lambda: np.tanh(x, out=out), seconds=0.1)


def main(quick):
    n, size = (512, 1 << 22) if quick else (2048, 1 << 28)
    print(
        json.dumps(
            {
                "product_float32": product(np.float32, n),
                "product_float64": product(np.float64, n),
                **{f"tanh_{d}": tanh(d, int(os.environ.get("OMP_NUM_THREADS", "1"))) for d in ("float32", "float64")},
                "read": read(size),
                "copy": copy(size // 4),
                **{f"eigh_{p}": eigh(p) for p in _EIGH},
            }
        )
    )


def measure(threads, quick=False):
    """Every ceiling: the best of all numbers of threads (the least, for seconds)."""
    found = {}
    for n in threads:
        words = [sys.executable, "-m", "harness.ceilings", *(["--quick"] if quick else [])]
        done = subprocess.run(words, cwd=BENCH, env=environment(n), check=True, capture_output=True, text=True)
        for name, value in json.loads(done.stdout).items():
            better = min if name.startswith("eigh") else max
            found[name] = better(value, found.get(name, value))
    return found


if __name__ == "__main__":
    main("--quick" in sys.argv)
