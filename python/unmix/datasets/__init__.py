"""Synthetic data with known truth."""

from ._mixed import independent, points, signals
from ._modules import biclusters, rare_modules
from ._pictures import digit_variations, leaves, patterns
from ._sparse import bernoulli_gaussian, sparse_codes
from ._subspaces import low_rank_plus_noise, ppca, union_of_subspaces

__all__ = [
    "bernoulli_gaussian",
    "biclusters",
    "digit_variations",
    "independent",
    "leaves",
    "low_rank_plus_noise",
    "patterns",
    "points",
    "ppca",
    "rare_modules",
    "signals",
    "sparse_codes",
    "union_of_subspaces",
]
