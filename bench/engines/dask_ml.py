"""dask-ml: scikit-learn's classes over arrays in pieces."""

import numpy as np

from . import engine, estimator


@engine("pca_file", "dask-ml", needs="dask_ml")
def pca_file(job):
    import dask
    import dask.array
    from dask_ml.decomposition import PCA

    dask.config.set(scheduler="threads", num_workers=job.threads)

    def work():
        rows = np.load(job.path, mmap_mode="r")
        return PCA(job.k, svd_solver="tsqr").fit(dask.array.from_array(rows, chunks=(65_536, rows.shape[1])))

    return work, estimator
