"""Packages for robust PCA: principal component pursuit with the published weight."""

import numpy as np

from . import engine


@engine("rpca", "pyrpca", needs="pyrpca")
def pyrpca(job):
    from pyrpca import rpca_pcp_ialm

    X = job.X
    return lambda: rpca_pcp_ialm(X, 1 / np.sqrt(max(X.shape)), verbose=False), lambda parts: {"low_rank": parts[0]}


@engine("rpca", "tensorly", needs="tensorly")
def tensorly(job):
    from tensorly.decomposition import robust_pca

    X = job.X
    weight = 1 / np.sqrt(max(X.shape))
    return lambda: robust_pca(X, reg_E=weight, n_iter_max=1000, verbose=0), lambda parts: {"low_rank": parts[0]}
