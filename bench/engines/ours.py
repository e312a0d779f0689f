"""unmix, from Python; its command line is in ``programs.py``."""

import statistics
import time
import warnings

import numpy as np

from . import Outside, engine, estimator


@engine("pca", "unmix", needs="unmix")
def pca(job):
    import unmix

    X = job.X
    return lambda: unmix.PCA(job.k).fit(X), estimator


@engine("pca_file", "unmix", needs="unmix")
def pca_file(job):
    import unmix

    def answer(fitted):
        if job.row.same_bits_as_in_memory:
            other = unmix.PCA(job.k).fit(job.X)
            for name in ("components_", "explained_variance_", "mean_"):
                if getattr(fitted, name).tobytes() != getattr(other, name).tobytes():
                    raise AssertionError(f"{name} has other bits than from memory")
        return estimator(fitted)

    return lambda: unmix.PCA(job.k).fit(job.path), answer


@engine("fit_transform", "unmix", needs="unmix")
def fit_transform(job):
    import unmix

    X = job.X

    def work():
        fitted = unmix.PCA(job.k).fit(X)
        return fitted, fitted.transform(X)

    return work, lambda result: {**estimator(result[0]), "codes": result[1]}


@engine("read", "unmix", needs="unmix")
def read(job):
    import unmix

    columns = job.columns()
    return lambda: unmix.read(job.path, columns=columns), lambda array: {"array": array}


def features_of(X, k):
    """Features after 100 steps from the common start of all engines."""
    import unmix
    from harness.answers import BETA
    from harness.data import features

    settings = {"whiten": False, "center": False, "unit_norm": True, "beta": BETA, "tol": 0.0, "max_iter": 100}
    with warnings.catch_warnings():
        # Non-convergence is part of the task.
        warnings.simplefilter("ignore")
        return unmix.RICA(k, w_init=features(k, X.shape[1]), **settings).fit(X).components_


@engine("rica", "unmix", needs="unmix")
def rica(job):
    X = job.X
    return lambda: features_of(X, job.k), lambda found: {"features": found}


@engine("sigma", "unmix", needs="unmix")
def sigma(job):
    import unmix
    from harness.answers import SIGMA

    X = job.X

    def work():
        with warnings.catch_warnings():
            # The warning that three epochs do not separate some components is not part of the task.
            warnings.simplefilter("ignore")
            return unmix.SigmaPCA(job.k, variant="ema-scaled-tanh", random_state=0, **SIGMA).fit(X)

    return work, lambda fitted: {"components": fitted.components_}


def _ica(make):
    return lambda job: _fitted(job, lambda unmix, W: make(unmix, W))


def _fitted(job, make, free=False):
    import unmix
    from harness.data import rotation

    X, W = job.X, rotation(job.k)

    def extract(fitted):
        return {"unmixing": fitted.components_, "free": free, "facts": {"passes": fitted.report_.sweeps}}

    return lambda: make(unmix, W).fit(X), extract


# At 1e-4 of the gradient FastICA's criterion stops at about the same point: its 1e-4 is half the square of an angle.
engine("ica", "unmix", needs="unmix")(_ica(lambda unmix, W: unmix.ICA(tol=1e-4, w_init=W)))
engine("ica", "unmix FastICA", needs="unmix")(_ica(lambda unmix, W: unmix.FastICA(w_init=W)))
# With `w_init` the search over all invertible matrices would begin there, and not at the best rotation.
engine("ica", "unmix maximum likelihood", needs="unmix")(
    lambda job: _fitted(job, lambda unmix, _: unmix.ICA(ortho=False, extended=True, tol=1e-4, random_state=0), free=True)
)


@engine("fa", "unmix", needs="unmix")
def fa(job):
    import unmix

    X = job.X
    return lambda: unmix.FactorAnalysis(job.k).fit(X), lambda fa: {"loadings": fa.components_, "noise": fa.noise_variance_}


@engine("completion", "unmix", needs="unmix")
def completion(job):
    import unmix

    X = job.X
    return lambda: unmix.MatrixCompletion(job.k).fit(X), lambda model: {"completed": model.completed_}


@engine("ratings", "unmix", needs="unmix")
def ratings(job):
    import unmix

    X = job.X
    return lambda: unmix.MatrixCompletion().fit(X), lambda model: {"completed": model.completed_}


@engine("gaps", "unmix", needs="unmix")
def gaps(job):
    import unmix

    X = job.X

    def extract(model):
        loadings = model.components_ * model.latent_scale_[:, None]
        return {"loadings": loadings, "mean": model.mean_, "noise": model.noise_variance_}

    return lambda: unmix.PPCA(job.k).fit(X), extract


@engine("rpca", "unmix", needs="unmix")
def rpca(job):
    import unmix

    X = job.X

    def work():
        fitted = unmix.RobustPCA(random_state=0).fit(X)
        low = fitted.low_rank_
        return low, X - low

    return work, lambda parts: {"low_rank": parts[0]}


def _msp(X, k, **settings):
    import unmix

    alone = {"polish": False, "refine": False, "random_state": 0}
    with warnings.catch_warnings():
        # Non-convergence is part of the task of timing a step.
        warnings.simplefilter("ignore")
        return unmix.CompleteDictionary(k, **alone, **settings).fit(X)


@engine("msp", "unmix", needs="unmix")
def msp(job):
    X, k = job.X, job.k

    def extract(fitted):
        filters = (fitted.rotation_ / fitted.scale_ @ fitted.second_rotation_).T
        return {"atoms": fitted.components_, "filters": filters}

    return lambda: _msp(X, k, tol=1e-4), extract


@engine("msp step", "unmix", needs="unmix")
def msp_step(job):
    """Time per step: the difference between fits of more and of fewer steps, divided by the difference in steps."""
    X, k, fits, times, taken = job.X, job.k, job.row.fits, [], 0.0

    def timed(steps):
        start = time.perf_counter()
        fitted = _msp(X, k, tol=0.0, max_iter=steps)
        return fitted, time.perf_counter() - start

    # The first fit also starts threads and maps memory.
    timed(1)
    while taken < fits["seconds"] or len(times) < fits["least"]:
        (short, a), (fitted, b) = timed(4), timed(24)
        times.append((b - a) / (fitted.report_.sweeps - short.report_.sweeps))
        taken += a + b
    return Outside(times=times, answer={"atoms": fitted.components_})


@engine("threads", "unmix", needs="unmix")
def threads(job):
    """One and two threads alternately, in one process, so that disturbances of the machine affect both; the results must have the same
    bits."""
    import unmix

    def batch(X, k, n, seconds, bits):
        unmix.set_num_threads(n)
        fitted, times = unmix.PCA(k).fit(X), []
        while not times or (sum(times) < seconds and len(times) < 500):
            start = time.perf_counter()
            unmix.PCA(k).fit(X)
            times.append(time.perf_counter() - start)
        bits.add(fitted.components_.tobytes() + fitted.explained_variance_.tobytes())
        return times

    detail = {}
    for n, p in job.row.shapes:
        X = np.random.default_rng(n + p).standard_normal((n, p)) + 1.0
        k, seen, fewest, bits = min(8, n, p), {1: [], 2: []}, job.row.fits["least"], set()
        while len(seen[2]) < fewest or (sum(seen[1]) + sum(seen[2]) < job.row.fits["seconds"]):
            for count in (1, 2) if len(seen[1]) % 2 else (2, 1):
                seen[count] += batch(X, k, count, job.row.fits["seconds"] / 10, bits)
        if len(bits) > 1:
            raise AssertionError(f"{n}x{p}: two threads give other bits than one")
        one, two = statistics.median(seen[1]), statistics.median(seen[2])
        detail[f"{n}x{p}"] = {"one": one, "two": two, "ratio": two / one}
    return Outside(times=[statistics.median([d["two"] for d in detail.values()])], detail=detail)
