"""The deterministic solvers beside our own corrected Adam on patches of photographs: time to a column residual of 0.1 on all rows.

    python bench/sigma_pca_solver.py [--rows 512000] [--threads 2]

Rows are all 11 x 11 patches of the first 500 photographs of CIFAR-10 (the folder named by UNMIX_DATA), or as many at random; k = 32, a = 4.
Adam trains the main row on all rows from the principal axes, 1e-3 falling linearly to 0, for 3, 6, 12 and 30 epochs, until it gets
there. The solvers are fitted to a random 12 % of the rows. Every time includes covariance, axes and the choice of rows; the residual is
that of the fixed point that each aims at, on all rows, by numpy. Each solver is timed five times and the least counts.
"""

import argparse
import gzip
import os
import time
import warnings
from pathlib import Path

import numpy as np

import unmix


def patches(n):
    """Rows of 363 numbers, zero padded, every number standardised; ``n`` of them at random."""
    with gzip.open(Path(os.environ["UNMIX_DATA"]) / "cifar10" / "data_batch_1.bin.gz") as f:
        raw = np.frombuffer(f.read(500 * 3073), np.uint8).reshape(-1, 3073)
    images = raw[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1).astype(np.float32) / 255
    padded = np.pad(images, ((0, 0), (5, 5), (5, 5), (0, 0)))
    at = np.random.default_rng(0).permutation(512_000)[:n]
    rows = np.empty((n, 363), np.float32)
    for s in range(0, n, 8192):
        i = at[s : s + 8192]
        rows[s : s + 8192] = [padded[a, y : y + 11, x : x + 11].ravel() for a, y, x in zip(i // 1024, i // 32 % 32, i % 32)]
    rows -= rows.mean(axis=0)
    rows /= np.sqrt(1e-3 + (rows**2).mean(axis=0))
    return rows


def residual(X, W, native):
    """Root of the mean square over columns of ``|R_j| / |G_j|``, of the published fixed point or of the orthonormal one."""
    n, mean = len(X), X.mean(axis=0, dtype=np.float64).astype(np.float32)
    S, G = np.zeros((len(W), len(W))), np.zeros(W.shape)
    for s in range(0, n, 32768):
        y = (X[s : s + 32768] - mean) @ W.T
        S += y.T @ y
    sigma, M = np.sqrt(np.diag(S) / n), W @ W.T
    for s in range(0, n, 32768):
        x = X[s : s + 32768] - mean
        y = x @ W.T
        t = np.tanh(y / sigma / 4)
        error = (4 * t * sigma) @ M - y if native else sigma * (4 * t - y / sigma)
        G += (error * (1 - t * t)).T @ x / n
    if native:
        R = G - W * (W * G).sum(axis=1, keepdims=True)
    else:
        G *= -sigma[:, None] ** 2
        F = W @ G.T
        R = G - (F + F.T) / 2 @ W
    return np.sqrt(((R**2).sum(axis=1) / (G**2).sum(axis=1)).mean())


def timed(make, repeats):
    """The least time, and the model."""
    best = np.inf
    for _ in range(repeats):
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make()
        best = min(best, time.perf_counter() - begun)
    return best, model


def main():
    """Print a line for each."""
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--rows", type=int, default=512_000)
    parse.add_argument("--threads", type=int, default=2)
    parse.add_argument("--share", type=float, default=0.12, help="of the rows that solvers see")
    args = parse.parse_args()
    unmix.set_num_threads(args.threads)
    X = patches(args.rows)
    some = int(args.share * len(X))

    def solver(**more):
        chosen = np.sort(np.random.default_rng(1).permutation(len(X))[:some])
        return unmix.SigmaPCA(32, a=4.0, halves=False, **more).fit(X[chosen])

    times = {}
    for name, native, more in [
        ("second-order", True, dict(constraint="native", tol=0.05)),
        ("polar, 40 sweeps", False, dict(max_iter=40)),
        ("polar, 18 sweeps", False, dict(max_iter=18)),
    ]:
        seconds, model = timed(lambda: solver(**more), 5)
        r = residual(X, model.components_, native)
        times[name] = seconds if r <= 0.1 else None
        print(f"{name:20} on {some} rows: {seconds:.3f} s, residual {r:.4f} of its own point on all {len(X)}", flush=True)
    for epochs in (3, 6, 12, 30):
        seconds, model = timed(
            lambda: unmix.SigmaPCA(32, variant="ema-scaled-tanh", learning_rate=1e-3, max_epochs=epochs).fit(X), 1
        )
        r = residual(X, model.components_, True)
        print(f"Adam, {epochs} epochs: {seconds:.3f} s, residual {r:.4f}", flush=True)
        if r <= 0.1:
            break
    for name, t in times.items():
        verdict = "does not get to 0.1" if t is None else f"{seconds / t:.1f} times faster"
        print(f"{name}: {verdict}" + ("" if r <= 0.1 else " than Adam, which did not get to 0.1"))


if __name__ == "__main__":
    main()
