"""Sparse codes and dictionaries: ours, and those of SPAMS, scikit-learn and celer."""

import warnings

import numpy as np
from harness.data import ALPHA, beside

from . import engine

#: Number of atoms of a code in the task "omp".
N_NONZERO = 10
#: Mini-batch size of the task "dictionary".
BATCH = 256


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
    return lambda: spams.omp(X, D=D, L=N_NONZERO, numThreads=job.threads), _across


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


def _learned(fitted):
    return {"atoms": fitted.components_}


@engine("dictionary", "unmix", needs="unmix")
def dictionary(job):
    import unmix

    X = job.X
    learner = unmix.DictionaryLearning(
        job.k, alpha=ALPHA, dict_init=X[: job.k], batch_size=BATCH, max_epochs=1, random_state=0
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
