"""scikit-learn-intelex: scikit-learn's classes over oneDAL."""

import numpy as np

from . import engine, estimator


def _threads(n):
    import daal4py

    daal4py.daalinit(n)


def _pca(solver):
    def make(job):
        from sklearnex.decomposition import PCA

        _threads(job.threads)
        X = job.X
        return lambda: PCA(job.k, svd_solver=solver, random_state=0).fit(X), estimator

    return make


for _solver in ("auto", "covariance_eigh"):
    engine("pca", f"intelex {_solver}", needs="sklearnex")(_pca(_solver))


@engine("fit_transform", "intelex auto", needs="sklearnex")
def fit_transform(job):
    from sklearnex.decomposition import PCA

    _threads(job.threads)
    X = job.X

    def work():
        fitted = PCA(job.k).fit(X)
        return fitted, fitted.transform(X)

    return work, lambda result: {**estimator(result[0]), "codes": result[1]}


@engine("pca_file", "intelex incremental", needs="sklearnex")
def incremental(job):
    from sklearnex.preview.decomposition import IncrementalPCA

    _threads(job.threads)
    return lambda: IncrementalPCA(job.k, batch_size=65_536).fit(np.load(job.path, mmap_mode="r")), estimator
