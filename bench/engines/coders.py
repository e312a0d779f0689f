"""Sparse codes and dictionaries: ours, and those of SPAMS, scikit-learn and celer."""

import time
import warnings

import numpy as np
from harness.data import ALPHA, beside

from . import Outside, engine
from .pytorch import _torch

#: Number of atoms of a code in the task "omp".
N_NONZERO = 10
#: Mini-batch size of the task "dictionary".
BATCH = 256
#: Number of layers of the task "lista".
LAYERS = 16


def _atoms(job):
    return np.load(beside(job.path, ".atoms.npy"))


def _codes(codes):
    return {"codes": codes}


def _across(codes):
    """SPAMS, which stores rows as columns."""
    return {"codes": codes.T}


def _ours(job, rows, **settings):
    """A coder; its fit, to a few rows, is not timed."""
    import unmix

    return unmix.SparseCoder(_atoms(job), sparse_output=True, **settings).fit(rows)


@engine("lasso", "unmix", needs="unmix")
def lasso(job):
    X = job.X
    coder = _ours(job, X[:100], alpha=ALPHA)
    return lambda: coder.transform(X), _codes


@engine("omp", "unmix", needs="unmix")
def omp(job):
    X = job.X
    coder = _ours(job, X[:100], algorithm="omp", n_nonzero_coefs=N_NONZERO)
    return lambda: coder.transform(X), _codes


@engine("lasso", "SPAMS", needs="spams")
def spams_lasso(job):
    import spams

    X, D = np.asfortranarray(job.X.T), np.asfortranarray(_atoms(job).T)
    return lambda: spams.lasso(X, D=D, lambda1=ALPHA, mode=spams.PENALTY, numThreads=job.threads), _across


@engine("omp", "SPAMS", needs="spams")
def spams_omp(job):
    import spams

    X, D = np.asfortranarray(job.X.T), np.asfortranarray(_atoms(job).T)
    # In single precision all codes are 0 unless `eps` is given.
    return lambda: spams.omp(X, D=D, L=N_NONZERO, eps=0.0, numThreads=job.threads), _across


def _scikit(job, **settings):
    from sklearn.decomposition import sparse_encode

    X, A = job.X, _atoms(job)
    return lambda: sparse_encode(X, A, n_jobs=job.threads, **settings), _codes


@engine("lasso", "scikit-learn cd", needs="sklearn")
def scikit_cd(job):
    return _scikit(job, algorithm="lasso_cd", alpha=ALPHA)


@engine("lasso", "scikit-learn lars", needs="sklearn")
def scikit_lars(job):
    return _scikit(job, algorithm="lasso_lars", alpha=ALPHA)


@engine("omp", "scikit-learn", needs="sklearn")
def scikit_omp(job):
    return _scikit(job, algorithm="omp", n_nonzero_coefs=N_NONZERO)


@engine("lasso file", "unmix", needs="unmix")
def lasso_file(job):
    """Codes from a file to a file."""
    import unmix
    from harness.data import random_atoms
    from harness.worker import memory
    from scipy.sparse import load_npz

    out, first = beside(job.path, ".codes.npz"), np.load(job.path, mmap_mode="r")[:1000]
    coder = unmix.SparseCoder(random_atoms(job.k, first.shape[1]).astype(first.dtype), alpha=file_alpha(first, job.k)).fit(first)
    start = time.perf_counter()
    coder.encode(job.path, out=out)
    taken, peak = time.perf_counter() - start, memory("VmHWM")
    codes = load_npz(out)[:1000]
    out.unlink()
    return Outside(times=[taken], answer={"codes": codes}, peak_kib=peak)


def file_alpha(rows, k):
    """A quarter of the smallest alpha of zero codes, in the mean over some rows."""
    from harness.data import random_atoms

    return float(abs(rows @ random_atoms(k, rows.shape[1]).T).max(axis=1).mean() / 4)


@engine("lista", "unmix", needs="unmix")
def lista(job):
    """The network before training, which is as fast as after it, and whose codes are known: those of as many steps of ISTA."""
    import unmix

    X = job.X
    net = unmix.LISTA(_atoms(job), alpha=ALPHA, n_layers=LAYERS, max_epochs=0).fit(X[:1000])
    return lambda: net.transform(X), _codes


@engine("lista", "PyTorch loop", needs="torch")
def lista_loop(job):
    torch = _torch(job)
    X, A = torch.from_numpy(job.X), torch.from_numpy(_atoms(job).astype(job.X.dtype))
    step = 1 / torch.linalg.matrix_norm(A, ord=2) ** 2

    def work():
        codes = torch.nn.functional.softshrink(step * (X @ A.T), float(step * ALPHA))
        for _ in range(LAYERS - 1):
            codes = torch.nn.functional.softshrink(torch.addmm(codes, X - codes @ A, A.T, alpha=float(step)), float(step * ALPHA))
        return codes

    return work, lambda codes: {"codes": codes.numpy()}


def _learned(fitted):
    return {"atoms": fitted.components_}


@engine("dictionary", "unmix", needs="unmix")
def dictionary(job):
    import unmix

    X = job.X
    learner = unmix.DictionaryLearning(
        # In a single epoch fewer of the first batches should be forgotten than by default.
        job.k, alpha=ALPHA, dict_init=X[: job.k], batch_size=BATCH, max_epochs=1, forgetting=3.0, random_state=0
    )
    return lambda: learner.fit(X), _learned


@engine("dictionary", "SPAMS", needs="spams")
def spams_dictionary(job):
    import spams

    X = np.asfortranarray(job.X.T)
    D = np.asfortranarray(X[:, : job.k])
    settings = {"lambda1": ALPHA, "mode": spams.PENALTY, "batchsize": BATCH, "iter": -(-X.shape[1] // BATCH), "verbose": False}
    return lambda: spams.trainDL(X, K=job.k, D=D, numThreads=job.threads, **settings), lambda D: {"atoms": D.T}


@engine("dictionary", "scikit-learn", needs="sklearn")
def scikit_dictionary(job):
    from sklearn.decomposition import MiniBatchDictionaryLearning

    X = job.X
    settings = {"alpha": ALPHA, "batch_size": BATCH, "max_iter": 1, "max_no_improvement": None, "tol": 0.0, "random_state": 0}
    learner = MiniBatchDictionaryLearning(job.k, fit_algorithm="cd", dict_init=X[: job.k], n_jobs=job.threads, **settings)
    return lambda: learner.fit(X), _learned


#: Alpha of the task "lasso wide": the smallest alpha of zero codes divided by this.
PART = 20
#: Tolerance on the gap, as a fraction of half the squared norm of the row.
GAP = 1e-6


def _wide(job):
    X, A = job.X, _atoms(job)
    return X, A, abs(A @ X[0]).max() / PART


@engine("lasso wide", "unmix", needs="unmix")
def wide(job):
    import unmix

    X, A, alpha = _wide(job)
    coder = unmix.SparseCoder(A, alpha=alpha, tol=GAP, sparse_output=True).fit(X)
    # Norms of the atoms are computed once for a coder; the other engines compute them in every fit, a sixth of the shortest time.
    return lambda: coder.transform(X), _codes


def _regression(make):
    """Estimators whose penalty is that of unmix divided by the number of columns, ``make(alpha, columns)``; their gap is relative to
    the whole squared norm."""

    def engine_of(job):
        X, A, alpha = _wide(job)
        columns, y = np.asfortranarray(A.T), X[0]

        def work():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return make(alpha / len(y), len(y)).fit(columns, y)

        return work, lambda fitted: {"codes": fitted.coef_[None]}

    return engine_of


@engine("lasso wide", "celer", needs="celer", single=True)
def celer(job):
    from celer import Lasso

    # Its objective is divided by the number of columns, and its tolerance is not.
    return _regression(lambda alpha, p: Lasso(alpha=alpha, fit_intercept=False, tol=GAP / 2 / p))(job)


@engine("lasso wide", "scikit-learn", needs="sklearn", single=True)
def scikit_wide(job):
    from sklearn.linear_model import Lasso

    return _regression(lambda alpha, _: Lasso(alpha=alpha, fit_intercept=False, tol=GAP / 2, max_iter=100_000))(job)
