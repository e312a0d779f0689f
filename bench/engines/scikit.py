"""scikit-learn."""

import numpy as np

from . import engine, estimator


def _pca(solver):
    def make(job):
        from sklearn.decomposition import PCA

        X = job.X
        return lambda: PCA(job.k, svd_solver=solver, random_state=0).fit(X), estimator

    return make


for _solver in ("auto", "full", "covariance_eigh", "arpack", "randomized"):
    engine("pca", f"scikit-learn {_solver}", needs="sklearn")(_pca(_solver))


def _ica(whiten_solver):
    def make(job):
        from harness.data import rotation
        from sklearn.decomposition import FastICA

        X, settings = job.X, {"whiten": "unit-variance", "whiten_solver": whiten_solver, "w_init": rotation(job.k)}
        return lambda: FastICA(**settings).fit(X), lambda fitted: {"unmixing": fitted.components_}

    return make


for _solver in ("eigh", "svd"):
    engine("ica", f"scikit-learn {_solver}", needs="sklearn")(_ica(_solver))


@engine("fa", "scikit-learn", needs="sklearn")
def fa(job):
    from sklearn.decomposition import FactorAnalysis

    X = job.X
    return lambda: FactorAnalysis(job.k, random_state=0).fit(X), lambda fa: {"loadings": fa.components_, "noise": fa.noise_variance_}


@engine("fit_transform", "scikit-learn auto", needs="sklearn")
def fit_transform(job):
    from sklearn.decomposition import PCA

    X = job.X

    def work():
        fitted = PCA(job.k).fit(X)
        return fitted, fitted.transform(X)

    return work, lambda result: {**estimator(result[0]), "codes": result[1]}


@engine("fit_transform", "two validate_data calls", needs="sklearn", yardstick=True)
def validate(job):
    """Time of scikit-learn's input validation in ``fit`` and ``transform``, without any computation."""
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import validate_data

    class Nothing(BaseEstimator):
        pass

    X, types = job.X, [np.float64, np.float32]

    def work():
        nothing = Nothing()
        validate_data(nothing, X, dtype=types)
        validate_data(nothing, X, dtype=types, reset=False)

    return work, None


@engine("pca_file", "scikit-learn memory map", needs="sklearn")
def memory_map(job):
    from sklearn.decomposition import PCA

    return lambda: PCA(job.k).fit(np.load(job.path, mmap_mode="r")), estimator


@engine("pca_file", "scikit-learn IncrementalPCA", needs="sklearn")
def incremental(job):
    from sklearn.decomposition import IncrementalPCA

    return lambda: IncrementalPCA(job.k, batch_size=8192).fit(np.load(job.path, mmap_mode="r")), estimator
