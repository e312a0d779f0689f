"""Rectified factor networks: ours, and the same iterations in numpy."""

import time

import numpy as np

from . import Outside, engine

#: Numbers of iterations of two fits whose time difference is measured.
FEW, MORE = 1, 5
#: Number of iterations of a complete fit.
WHOLE = 1000


def _fit(rows, k, **settings):
    import unmix

    return unmix.RFN(k, random_state=0, **settings).fit(rows)


def _answer(fitted):
    answer = {"components": fitted.components_, "noise": fitted.noise_variance_, "objective": fitted.report_.final_objective}
    return {"certificate": fitted.report_.certificate["violation"]} if fitted.report_.certificate else answer


def _steps(job, fit):
    """Time per iteration: the difference between fits of more and of fewer iterations, divided by the difference in iterations."""
    fits, times, taken = job.row.fits, [], 0.0

    def timed(iterations):
        start = time.perf_counter()
        return fit(iterations), time.perf_counter() - start

    # The first fit also starts threads and maps memory.
    timed(FEW)
    while taken < fits["seconds"] or len(times) < fits["least"]:
        (_, a), (fitted, b) = timed(FEW), timed(MORE)
        times.append((b - a) / (MORE - FEW))
        taken += a + b
    return fitted, times


def _outside(job, rows, **settings):
    fitted, times = _steps(job, lambda iterations: _fit(rows, job.k, max_iter=iterations, **settings))
    return Outside(times=times, answer=_answer(fitted))


@engine("rfn", "unmix", needs="unmix")
def rfn(job):
    X = job.X
    return lambda: _fit(X, job.k, max_iter=WHOLE), _answer


@engine("rfn step", "unmix", needs="unmix")
def step(job):
    return _outside(job, job.X)


@engine("rfn coordinate step", "unmix", needs="unmix")
def coordinate_step(job):
    return _outside(job, job.X, e_step="coordinate", learning_rate=0.1)


@engine("rfn coordinate step", "unmix plain", needs="unmix")
def plain_step(job):
    return _outside(job, job.X)


@engine("rfn file step", "unmix", needs="unmix")
def file_step(job):
    return _outside(job, job.path)


@engine("rfn file step", "unmix memory", needs="unmix")
def memory_step(job):
    return _outside(job, job.X)


class _Network:
    """Plain mode with diagonal noise, in the type of the rows; blocks of 2000 rows. ``O(l² (m + l))`` beside the three products of a pass."""

    def __init__(self, X, k):
        self.X, (n, m) = X, X.shape
        self.center = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        self.C = sum(((X[i : i + 2000] - self.center).astype(np.float64) ** 2).sum(axis=0) for i in range(0, n, 2000)) / n
        self.W = 0.01 * np.sqrt(self.C)[:, None] * np.random.default_rng(0).standard_normal((m, k))
        self.psi = 0.1 * self.C

    def _pass(self):
        from scipy.linalg import blas, cho_factor, cho_solve

        X, W, psi, (m, l) = self.X, self.W, self.psi, self.W.shape
        if l > m:
            K = cho_factor(W @ W.T + np.diag(psi), lower=True)
            B = cho_solve(K, W)
            sigma = np.eye(l) - W.T @ B
            log_sigma = np.log(psi).sum() - 2 * np.log(np.diag(K[0])).sum()
        else:
            G = cho_factor(np.eye(l) + W.T @ (W / psi[:, None]), lower=True)
            sigma = cho_solve(G, np.eye(l))
            B = W / psi[:, None] @ sigma
            log_sigma = -2 * np.log(np.diag(G[0])).sum()
        B, U, M = B.astype(X.dtype), np.zeros((m, l)), np.zeros((l, l))
        syrk = blas.ssyrk if X.dtype == np.float32 else blas.dsyrk
        for start in range(0, len(X), 2000):
            block = X[start : start + 2000] - self.center
            H = block @ B
            np.maximum(H, 0, out=H)
            U += block.T @ H
            M += syrk(1.0, H.T, trans=0, lower=1)
        M = np.tril(M) + np.tril(M, -1).T
        scale = np.sqrt(len(X) / np.maximum(np.diag(M), 1e-30))
        U *= scale / len(X)
        M *= np.outer(scale, scale) / len(X)
        S = M + sigma
        E = self.C - 2 * (U * W).sum(axis=1) + ((W @ S) * W).sum(axis=1)
        value = -0.5 * (m * np.log(2 * np.pi) + np.log(psi).sum() + (E / psi).sum() + np.trace(S) - l - log_sigma)
        return U, S, E, value

    def iterate(self, times):
        from scipy.linalg import cho_factor, cho_solve

        for _ in range(times):
            U, S, E, _ = self._pass()
            self.W += 0.1 * (cho_solve(cho_factor(S, lower=True), U.T).T - self.W)
            self.psi = np.clip(self.psi + 0.1 * (E - self.psi), 0.01 * self.C, self.C)
        return self

    def answer(self):
        return {"components": self.W.T, "noise": self.psi, "objective": self._pass()[3]}


@engine("rfn", "numpy")
def numpy_rfn(job):
    X = job.X
    return lambda: _Network(X, job.k).iterate(WHOLE), _Network.answer


@engine("rfn step", "numpy")
def numpy_step(job):
    X = job.X
    fitted, times = _steps(job, lambda iterations: _Network(X, job.k).iterate(iterations))
    return Outside(times=times, answer=fitted.answer())


def objective(X, W, psi):
    """The mean log-likelihood of a row minus the divergence of its code, in double precision, from loadings and noise alone: an
    independent computation, through the precision matrix of the units for every shape."""
    from scipy.linalg import solve

    (n, m), l, center = X.shape, W.shape[1], X.mean(axis=0, dtype=np.float64)
    A = W / psi[:, None]
    G = np.eye(l) + W.T @ A
    sigma = solve(G, np.eye(l), assume_a="pos")
    codes = np.concatenate([np.maximum(0, (X[i : i + 2000].astype(np.float64) - center) @ (A @ sigma)) for i in range(0, n, 2000)])
    codes /= np.sqrt((codes**2).mean(axis=0))
    squares = np.zeros(m)
    for i in range(0, n, 2000):
        left = X[i : i + 2000].astype(np.float64) - center - codes[i : i + 2000] @ W.T
        squares += (left**2).sum(axis=0)
    E = squares / n + ((W @ sigma) * W).sum(axis=1)
    divergence = (codes**2).sum() / n + np.trace(sigma) - l + np.linalg.slogdet(G)[1]
    return -0.5 * (m * np.log(2 * np.pi) + np.log(psi).sum() + (E / psi).sum()) - 0.5 * divergence
