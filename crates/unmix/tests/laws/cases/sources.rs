//! Cases of independent sources and complete dictionaries.

use super::{Path, otherwise};
use serde_json::json;

pub(super) fn ica() -> Vec<Path> {
    vec![
        otherwise("by rotations", json!({}), 700, 9),
        otherwise("maximum likelihood", json!({"ortho": false, "extended": true}), 700, 9),
        otherwise("fixed point", json!({"algorithm": "fastica", "max_iter": 20}), 300, 6),
        otherwise(
            "deflation",
            json!({"algorithm": "fastica", "orthogonalization": "deflation", "max_iter": 20}),
            300,
            6,
        ),
        otherwise("logistic density", json!({"algorithm": "infomax"}), 300, 6),
        otherwise("online", json!({"algorithm": "easi", "max_iter": 1}), 300, 6),
        otherwise("two layers", json!({"algorithm": "sigma-pca"}), 700, 4),
        otherwise(
            "two layers of sigma-PCA",
            json!({"algorithm": "sigma-pca", "first_layer": "sigma-pca", "max_iter": 60}),
            700,
            4,
        ),
        otherwise("fitted contrasts", json!({"fun": "adaptive", "max_iter": 40}), 700, 5),
        otherwise("for outliers, as found", json!({"fun": "exp", "order": "found", "max_iter": 20}), 300, 5),
        otherwise(
            "fixed point by kurtosis",
            json!({"algorithm": "fastica", "fun": "cube", "max_iter": 20}),
            300,
            5,
        ),
        otherwise(
            "deflation by skewness",
            json!({"algorithm": "fastica", "orthogonalization": "deflation", "fun": "skew", "max_iter": 20}),
            300,
            5,
        ),
        otherwise("some rows first", json!({"subsample": 300}), 700, 5),
        otherwise("few of many columns", json!({"n_components": 4}), 300, 12),
        otherwise("wide", json!({"n_components": 5, "max_iter": 30}), 40, 90),
        otherwise("not whitened", json!({"whiten": false, "max_iter": 30}), 300, 5),
        otherwise("standardized, by kurtosis", json!({"standardize": true, "order": "kurtosis"}), 300, 6),
        otherwise("not centred", json!({"center": false}), 300, 6),
    ]
}

pub(super) fn fastica() -> Vec<Path> {
    vec![
        otherwise("parallel", json!({}), 700, 9),
        otherwise("deflation", json!({"algorithm": "deflation"}), 300, 6),
        otherwise("arbitrary variance", json!({"whiten": "arbitrary-variance", "fun": "exp"}), 300, 6),
        otherwise("not whitened", json!({"whiten": false, "max_iter": 30}), 300, 5),
        otherwise("few of many columns", json!({"n_components": 3, "fun": "cube"}), 200, 30),
        otherwise("by skewness", json!({"fun": "skew", "max_iter": 20}), 300, 5),
    ]
}

pub(super) fn rica() -> Vec<Path> {
    vec![
        otherwise("complete", json!({}), 700, 9),
        otherwise("more than there are directions", json!({"n_components": 20, "max_iter": 60}), 300, 6),
        otherwise("batches", json!({"batch_size": 100, "max_epochs": 2}), 300, 6),
        otherwise(
            "more of them, of any length",
            json!({"n_components": 9, "unit_norm": false, "beta": 0.05, "max_iter": 60}),
            300,
            6,
        ),
        otherwise("few", json!({"n_components": 3, "contrast": "smooth-l1"}), 300, 12),
        otherwise("wide", json!({"n_components": 5, "max_iter": 60}), 40, 90),
        otherwise("wide, as they are", json!({"n_components": 5, "whiten": false, "max_iter": 60}), 40, 90),
        otherwise("not whitened", json!({"whiten": false}), 300, 5),
        otherwise("of length 1", json!({"unit_norm": true, "standardize": true}), 300, 6),
        otherwise(
            "about 0, standardized",
            json!({"center": false, "standardize": true, "whiten": false}),
            300,
            6,
        ),
    ]
}

pub(super) fn complete_dictionary() -> Vec<Path> {
    vec![
        otherwise("all at once", json!({}), 700, 9),
        otherwise(
            "by the third power, two starts",
            json!({"power": 3, "n_init": 2, "polish": false}),
            300,
            6,
        ),
        otherwise("all refined", json!({"refine": true}), 300, 6),
        otherwise("deflation", json!({"algorithm": "deflation", "max_iter": 40}), 300, 6),
        otherwise("by sizes", json!({"algorithm": "l1"}), 300, 5),
        otherwise("few of many columns", json!({"n_components": 3}), 300, 12),
        otherwise("batches first, about the mean", json!({"batch_size": 100, "center": true}), 700, 5),
        otherwise("not preconditioned", json!({"precondition": false, "max_iter": 30}), 300, 5),
        otherwise("wide", json!({"n_components": 5, "max_iter": 30}), 40, 90),
    ]
}
