//! Cases of low-rank matrices and of clusters of rows.

use super::{Path, otherwise};
use serde_json::json;

pub(super) fn matrix_completion() -> Vec<Path> {
    vec![
        otherwise("three factors", json!({"n_components": 3}), 60, 12),
        otherwise("three factors, gaps", json!({"n_components": 3}), 60, 12),
        otherwise("without offsets, gaps", json!({"n_components": 3, "offsets": false}), 40, 15),
        otherwise("offsets alone, gaps", json!({"n_components": 0}), 30, 8),
        otherwise("as many as there are, wide, gaps", json!({"tol": 0.01}), 25, 40),
        otherwise("ridge, gaps", json!({"n_components": 2, "alpha": 0.1}), 40, 12),
        // From a spanning tree of the cells, and from their singular vectors.
        otherwise(
            "no penalty, one factor, gaps",
            json!({"n_components": 1, "alpha": 0.0, "offsets": false}),
            40,
            12,
        ),
        otherwise("no penalty, gaps", json!({"n_components": 2, "alpha": 0.0}), 40, 12),
        otherwise("nuclear norm, wide, gaps", json!({"algorithm": "soft-impute", "alpha": 8.0}), 25, 40),
        otherwise("nuclear norm by held-out cells, wide, gaps", json!({"algorithm": "soft-impute"}), 25, 40),
        otherwise(
            "likelihood, wide, gaps",
            json!({"algorithm": "ppca-em", "n_components": 2, "max_iter": 40}),
            25,
            40,
        ),
    ]
}

pub(super) fn robust_pca() -> Vec<Path> {
    vec![
        otherwise("noise by the data", json!({}), 40, 60),
        otherwise("exact form", json!({"noise": 0.0, "max_iter": 60}), 30, 60),
        otherwise("known noise, about medians", json!({"noise": 0.1, "center": true}), 40, 60),
        otherwise("tall", json!({"noise": 0.0, "max_iter": 6}), 300, 6),
        otherwise("wide", json!({"noise": 0.0, "alpha": 0.1, "max_iter": 8}), 60, 300),
        otherwise("standardized", json!({"noise": 0.1, "standardize": true}), 40, 60),
        otherwise("with gaps", json!({"noise": 0.0, "max_iter": 60}), 40, 60),
        otherwise(
            "standardized, about medians, with gaps",
            json!({"center": true, "standardize": true, "max_iter": 60}),
            60,
            30,
        ),
    ]
}

pub(super) fn subspace_clustering() -> Vec<Path> {
    vec![
        otherwise("everything by the data", json!({}), 40, 60),
        otherwise("given numbers", json!({"n_clusters": 3, "n_components": 2}), 60, 100),
        otherwise(
            "sparse coefficients alone, about the mean",
            json!({"n_clusters": 3, "algorithm": "ssc", "center": true}),
            40,
            60,
        ),
        otherwise(
            "shape",
            json!({"n_clusters": 2, "n_components": 3, "algorithm": "shape", "center": true}),
            40,
            60,
        ),
        otherwise(
            "iterations alone",
            json!({
                "n_clusters": 3, "n_components": [1, 2, 2], "algorithm": "k-subspaces", "n_init": 3, "max_iter": 20,
            }),
            300,
            6,
        ),
        otherwise("one cluster", json!({"n_clusters": 1}), 300, 9),
        otherwise(
            "mixture",
            json!({"n_clusters": 2, "n_components": 2, "algorithm": "ppca-mixture", "n_init": 2, "max_iter": 30}),
            300,
            6,
        ),
        // More than 2000 rows start from k-subspaces.
        otherwise(
            "mixture of many rows",
            json!({"n_clusters": 2, "n_components": 2, "algorithm": "ppca-mixture", "n_init": 2, "max_iter": 15}),
            2100,
            12,
        ),
        otherwise(
            "mixture with means, numbers by the data",
            json!({"algorithm": "ppca-mixture", "center": true, "max_iter": 30}),
            40,
            60,
        ),
    ]
}
