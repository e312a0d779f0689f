"""Measures of agreement of two results, irrespective of order and sign, and of the quality of codes and imputations."""

from ._clusterings import clustering_accuracy, consensus_score, nmi
from ._codes import lasso_gap, sparseness
from ._match import Match, match, matched_correlation, matched_cosine
from ._pooling import Pooled, pool
from ._probing import sparse_probing
from ._subspaces import projection_distance, subspace_angles
from ._unmixing import amari_distance, interference, mutual_information

__all__ = [
    "Match",
    "Pooled",
    "amari_distance",
    "clustering_accuracy",
    "consensus_score",
    "interference",
    "lasso_gap",
    "match",
    "matched_correlation",
    "matched_cosine",
    "mutual_information",
    "nmi",
    "pool",
    "projection_distance",
    "sparse_probing",
    "sparseness",
    "subspace_angles",
]
