//! Cases of networks and factor models of non-negative units.

use super::{Path, otherwise};
use serde_json::json;

pub(super) fn rfn() -> Vec<Path> {
    vec![
        otherwise("tall", json!({"n_components": 7, "max_iter": 12}), 300, 12),
        otherwise("wide, more units than columns", json!({"n_components": 70, "max_iter": 6}), 40, 60),
        otherwise(
            "standard deviations, about medians",
            json!({"n_components": 5, "normalize": "std", "center": "median", "max_iter": 6}),
            200,
            9,
        ),
        otherwise(
            "not scaled, pictures",
            json!({"n_components": 5, "normalize": "none", "psi_min_unit": "mean", "max_iter": 6}),
            200,
            9,
        ),
        otherwise(
            "with a prior, full noise, one row",
            json!({
                "n_components": 4, "prior_mean": -0.5, "prior_cov": 2.0, "noise": "full", "dead_unit": "onehot",
                "max_iter": 6,
            }),
            200,
            8,
        ),
        otherwise(
            "from independent components, by gradient",
            json!({"n_components": 6, "init": "ica", "m_step": "gradient", "max_iter": 5}),
            300,
            6,
        ),
        otherwise(
            "random zeros, decay, two starts, about 0",
            json!({
                "n_components": 5, "dropout": 0.2, "input_noise": 0.1, "l1": 0.001, "l2": 0.001, "w_max": 2.0, "n_init": 2,
                "center": false, "m_step": "inverse-psi", "max_iter": 4,
            }),
            300,
            6,
        ),
        otherwise("batches", json!({"n_components": 5, "batch_size": 64, "max_iter": 3}), 300, 9),
        otherwise(
            "normal noise, zeros before the normalisation, absolute floor",
            json!({
                "n_components": 5, "input_noise": 0.1, "input_noise_kind": "gaussian", "dropout": 0.2, "dropout_place": "before",
                "psi_min_unit": "absolute", "dead_unit": "zero", "max_iter": 4,
            }),
            200,
            9,
        ),
        otherwise(
            "salt and pepper",
            json!({"n_components": 5, "input_noise": 0.1, "input_noise_kind": "salt-pepper", "max_iter": 4}),
            200,
            9,
        ),
        otherwise(
            "one unit after the other",
            json!({"n_components": 6, "e_step": "coordinate", "max_iter": 5}),
            300,
            9,
        ),
        otherwise(
            "one after the other, not scaled, wide",
            json!({"n_components": 40, "e_step": "coordinate", "normalize": "none", "max_iter": 4}),
            30,
            60,
        ),
        otherwise("cascade", json!({"n_components": 5, "e_step": "cascade", "max_iter": 5}), 200, 9),
        otherwise(
            "cascade with the covariance",
            json!({"n_components": 4, "e_step": "cascade", "accept": "kl", "prior_mean": -0.2, "max_iter": 6}),
            200,
            8,
        ),
    ]
}

pub(super) fn stacked_rfn() -> Vec<Path> {
    vec![
        otherwise(
            "two layers",
            json!({"n_components": [8, 5], "max_iter": [6, 4], "normalize": ["rms", "std"]}),
            200,
            9,
        ),
        otherwise(
            "three layers, two starts, the lowest by batches",
            json!({
                "n_components": [8, 6, 4], "max_iter": 4, "n_init": [1, 2, 1], "batch_size": [60, null, null],
                "center": [true, "median", true],
            }),
            200,
            9,
        ),
    ]
}

pub(super) fn sae() -> Vec<Path> {
    vec![
        otherwise("largest of a row", json!({"max_epochs": 4}), 300, 6),
        otherwise(
            "largest of a batch, wide",
            json!({"activation": "batch-topk", "n_components": 40, "l0": 4, "batch_size": 16, "max_epochs": 4}),
            40,
            60,
        ),
        otherwise(
            "rectified, from rows",
            json!({"activation": "relu", "n_components": 20, "l0": 3, "init": "data", "batch_size": 100, "max_epochs": 8}),
            300,
            6,
        ),
        otherwise(
            "thresholds, columns as they are",
            json!({"activation": "jumprelu", "n_components": 16, "normalize": false, "max_epochs": 5, "dead_unit": "auxk"}),
            300,
            9,
        ),
        otherwise(
            "gates, a given penalty",
            json!({"activation": "gated", "alpha": 0.2, "n_components": 12, "max_epochs": 5}),
            300,
            6,
        ),
        otherwise("dead units are kept", json!({"dead_unit": "keep", "l0": 2, "max_epochs": 3}), 300, 6),
        otherwise(
            "dead units are drawn again",
            json!({"dead_unit": "resample", "l0": 2, "n_components": 40, "batch_size": 100, "max_epochs": 3}),
            300,
            6,
        ),
    ]
}

pub(super) fn dae() -> Vec<Path> {
    vec![
        otherwise("masked", json!({"max_epochs": 4}), 300, 6),
        otherwise(
            "tied, normal noise, wide",
            json!({"tied": true, "noise": "gaussian", "n_components": 70, "batch_size": 16, "max_epochs": 4}),
            40,
            60,
        ),
        otherwise(
            "gradient descent, one scale",
            json!({"solver": "sgd", "standardize": false, "n_components": 4, "max_epochs": 6, "learning_rate": 0.01}),
            300,
            9,
        ),
        otherwise(
            "gradient descent without momentum",
            json!({"solver": "plain-sgd", "n_components": 4, "max_epochs": 6, "learning_rate": 0.01}),
            200,
            9,
        ),
    ]
}

pub(super) fn rbm() -> Vec<Path> {
    vec![
        otherwise("one step", json!({"batch_size": 100, "max_epochs": 4}), 300, 6),
        otherwise(
            "three steps, wide",
            json!({"n_steps": 3, "n_components": 70, "batch_size": 16, "max_epochs": 4}),
            40,
            60,
        ),
    ]
}
