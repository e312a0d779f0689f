"""The deterministic solvers of sigma-PCA: time to convergence compared with Adam, and time of a sweep compared with its products; an
epoch of a trained rule from a file compared with one from memory."""

import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from . import Outside, engine


def _fitted(X, k, **settings):
    """A model, and the time of its fit in seconds."""
    import unmix

    with warnings.catch_warnings():
        # Non-convergence is part of the task.
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model = unmix.SigmaPCA(k, random_state=0, **settings).fit(X)
        return model, time.perf_counter() - start


@engine("solver", "unmix", needs="unmix")
def solver(job):
    """The second-order solver on a part of the rows, including the time of their selection."""
    X = job.X

    def work():
        some = np.sort(np.random.default_rng(1).permutation(len(X))[: int(0.12 * len(X))])
        return _fitted(X[some], job.k, a=4.0, constraint="native", tol=0.05, halves=False)[0]

    return work, lambda fitted: {"components": fitted.components_}


@engine("solver", "unmix Adam", needs="unmix")
def adam(job):
    """The main published rule as corrected, on all rows, with the number of epochs needed for the same accuracy."""
    from harness.answers import sigma

    X = job.X
    for epochs in (3, 6, 12, 30):
        model, seconds = _fitted(X, job.k, variant="ema-scaled-tanh", learning_rate=1e-3, max_epochs=epochs)
        if sigma(X, model.components_) <= job.row.answer["residual"]:
            break
    detail = {"epochs": epochs}
    return Outside(times=[seconds], answer={"components": model.components_}, detail=detail)


def _sweep(native, few, many, **settings):
    """Time per sweep: costs that do not depend on the number of sweeps are subtracted by a fit with fewer. Both numbers exceed the
    number of special sweeps: tests of the components, and the polar steps with which the second-order solver begins."""

    def make(job):
        X, fits, times, taken = job.X, job.row.fits, [], 0.0
        # The first fit also starts threads and maps memory.
        _fitted(X, job.k, a=4.0, halves=False, tol=0.0, max_iter=1, **settings)
        while taken < fits["seconds"] or len(times) < fits["least"]:
            (short, a), (model, b) = (
                _fitted(X, job.k, a=4.0, halves=False, tol=0.0, max_iter=n, **settings) for n in (few, many)
            )
            times.append((b - a) / (model.report_.sweeps - short.report_.sweeps))
            taken += a + b
        return Outside(times=times, answer={"components": model.components_, "native": native})

    return make


engine("sweep", "unmix", needs="unmix")(_sweep(False, 32, 72))
engine("second-order sweep", "unmix", needs="unmix")(_sweep(True, 45, 75, constraint="native"))


def _alone(native):
    """The products of a sweep, and its tanh, without anything else: blocks of rows, one thread each, in the type of the rows."""

    def make(job):
        from threadpoolctl import threadpool_limits

        X, k, size = job.X, job.k, 4096
        W = np.linalg.qr(np.random.default_rng(0).standard_normal((X.shape[1], k)))[0].astype(X.dtype)
        M, pool = W.T @ W, ThreadPoolExecutor(job.threads)

        def block(start):
            x = X[start : start + size]
            y = x @ W
            np.tanh(y, out=y)
            if native:
                # One of the small products gives numbers for each row, three are sums over rows.
                return y.T @ x, y @ M, [y.T @ y for _ in range(3)]
            return y.T @ x

        def work():
            with threadpool_limits(1):
                return list(pool.map(block, range(0, len(X), size)))

        return work, None

    return make


engine("sweep", "numpy alone", yardstick=True)(_alone(False))
engine("second-order sweep", "numpy alone", yardstick=True)(_alone(True))


def _epoch(of_file):
    """Time per epoch: the difference between fits of more epochs and of one, divided by the difference in epochs; the time before the
    first epoch cancels."""

    def make(job):
        import unmix

        rows, fits, times, taken = job.path if of_file else job.X, job.row.fits, [], 0.0

        def fitted(rows, epochs):
            rule = unmix.NeuralPCA(job.k, solver="adam", max_epochs=epochs, random_state=0)
            start = time.perf_counter()
            return rule.fit(rows), time.perf_counter() - start

        # The first fit also starts threads and maps memory.
        fitted(rows, 1)
        while taken < fits["seconds"] or len(times) < fits["least"]:
            (_, a), (model, b) = fitted(rows, 1), fitted(rows, 9)
            times.append((b - a) / 8)
            taken += a + b
        if of_file and model.weights_.tobytes() != fitted(job.X, 9)[0].weights_.tobytes():
            raise AssertionError("weights have other bits than from memory")
        return Outside(times=times, answer={"components": model.components_, "variances": model.scale_**2})

    return make


engine("epoch", "unmix", needs="unmix")(_epoch(True))
engine("epoch", "unmix memory", needs="unmix")(_epoch(False))
