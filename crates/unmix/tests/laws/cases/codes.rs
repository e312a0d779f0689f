//! Cases of sparse codes and dictionaries.

use super::{Path, otherwise};
use serde_json::json;

pub(super) fn sparse_coder() -> Vec<Path> {
    vec![
        otherwise("by the data", json!({}), 60, 12),
        otherwise("a number, about the mean", json!({"alpha": 0.3, "center": true}), 60, 9),
        otherwise("not negative, least squares", json!({"positive_code": true, "debias": true}), 60, 9),
        otherwise("proximal steps", json!({"algorithm": "fista", "alpha": 0.5}), 16, 24),
        otherwise("plain proximal steps", json!({"algorithm": "ista", "alpha": 0.5}), 16, 24),
        otherwise("alpha by held-out entries", json!({"alpha": "cv"}), 16, 24),
        otherwise("the homotopy", json!({"algorithm": "lars", "alpha": 0.5}), 16, 24),
        otherwise("pursuit", json!({"algorithm": "omp", "n_nonzero_coefs": 3}), 60, 12),
        otherwise("with gaps", json!({}), 40, 9),
    ]
}

pub(super) fn lista() -> Vec<Path> {
    vec![
        otherwise("a dictionary a layer", json!({"n_layers": 3, "max_epochs": 4, "batch_size": 30}), 60, 9),
        otherwise(
            "one dictionary",
            json!({"n_layers": 3, "tied": true, "max_epochs": 3, "batch_size": 60}),
            60,
            9,
        ),
        otherwise(
            "as published first",
            json!({"cell": "gregor-lecun", "n_layers": 3, "max_epochs": 4, "alpha": 0.5}),
            60,
            9,
        ),
        otherwise(
            "encoder matrices",
            json!({"cell": "cp", "n_layers": 3, "max_epochs": 4, "support_selection": 8.0, "monotone": false}),
            40,
            12,
        ),
        otherwise(
            "in closed form",
            json!({"cell": "alista", "n_layers": 4, "max_epochs": 4, "refine": 5}),
            60,
            9,
        ),
        otherwise(
            "steps alone, not negative",
            json!({"cell": "step", "n_layers": 4, "positive_code": true, "max_epochs": 6}),
            60,
            9,
        ),
        otherwise("the start", json!({"n_layers": 5, "max_epochs": 0}), 16, 24),
    ]
}

pub(super) fn dictionary() -> Vec<Path> {
    vec![
        otherwise("as many atoms as columns", json!({"batch_size": 64, "max_epochs": 2}), 300, 6),
        otherwise(
            "overcomplete, centred",
            json!({"n_components": 20, "batch_size": 100, "max_epochs": 2, "center": true}),
            700,
            9,
        ),
        otherwise(
            "non-negative, on the sphere",
            json!({
                "n_components": 9, "positive_code": true, "positive_dict": true, "atom_norm": "sphere", "init": "k-means++",
                "max_epochs": 2,
            }),
            300,
            6,
        ),
        otherwise("wide", json!({"n_components": 8, "init": "dct", "batch_size": 10, "alpha": 1.0}), 30, 60),
        otherwise(
            "alternating, centred",
            json!({"algorithm": "alternating", "n_components": 12, "max_iter": 12, "code_steps": 4, "center": true}),
            300,
            6,
        ),
        otherwise(
            "one step each",
            json!({"algorithm": "palm", "max_iter": 60, "positive_code": true}),
            300,
            6,
        ),
        otherwise(
            "one step each, with inertia, by LARS",
            json!({"algorithm": "ipalm", "n_components": 15, "max_iter": 60, "coder": "lars"}),
            300,
            6,
        ),
        otherwise(
            "layers",
            json!({"algorithm": "layerwise", "n_components": 8, "max_iter": 20, "atom_norm": "sphere"}),
            300,
            6,
        ),
        otherwise(
            "pursuit",
            json!({"algorithm": "ksvd", "n_components": 12, "max_iter": 12, "n_nonzero_coefs": 2, "coder": "omp"}),
            300,
            6,
        ),
        otherwise(
            "random atoms, kept, encoded by proximal steps",
            json!({"init": "random", "dead_unit": "keep", "coder": "fista", "batch_size": 8, "max_epochs": 2}),
            16,
            24,
        ),
        otherwise(
            "dead atoms by rows, encoded by plain steps",
            json!({"dead_unit": "data", "coder": "ista", "batch_size": 8, "max_epochs": 2}),
            16,
            24,
        ),
    ]
}
