//! Cases of principal directions and factors.

use super::{Path, by_variance, otherwise};
use serde_json::json;

pub(super) fn pca() -> Vec<Path> {
    vec![
        by_variance("tall, full", json!({"svd_solver": "full"}), 300, 12),
        by_variance("tall, scatter", json!({"svd_solver": "covariance_eigh"}), 300, 12),
        by_variance("tall, auto", json!({}), 700, 9),
        by_variance("tall, first few", json!({"n_components": 3, "svd_solver": "covariance_eigh"}), 300, 12),
        by_variance("tall, Krylov", json!({"n_components": 5}), 900, 780),
        by_variance("wide, full", json!({"svd_solver": "full"}), 20, 60),
        by_variance("wide, scatter", json!({"svd_solver": "covariance_eigh"}), 20, 60),
        by_variance("wide, auto", json!({"n_components": 6}), 30, 600),
        by_variance("wide, Krylov", json!({"n_components": 5}), 780, 900),
        by_variance(
            "tall, whitened",
            json!({"n_components": 4, "whiten": true, "svd_solver": "full"}),
            200,
            10,
        ),
        by_variance("wide, whitened", json!({"whiten": true, "svd_solver": "covariance_eigh"}), 15, 40),
        otherwise("tall, ZCA", json!({"whiten": "zca", "svd_solver": "full"}), 200, 10),
        otherwise("wide, ZCA", json!({"whiten": "zca", "n_components": 4}), 30, 600),
        otherwise("tall, standardized", json!({"standardize": true}), 700, 9),
        otherwise("wide, standardized", json!({"standardize": true, "whiten": true}), 15, 40),
        otherwise("tall, not centred", json!({"center": false, "svd_solver": "full"}), 300, 12),
        otherwise("wide, not centred", json!({"center": false, "n_components": 3}), 30, 600),
        by_variance("tall, krylov", json!({"n_components": 3, "svd_solver": "krylov"}), 400, 90),
        by_variance("wide, arpack", json!({"n_components": 3, "svd_solver": "arpack"}), 40, 130),
        by_variance("tall, power", json!({"n_components": 3, "svd_solver": "power"}), 300, 20),
        by_variance("tall, deflation", json!({"n_components": 3, "svd_solver": "deflation"}), 300, 12),
        by_variance(
            "tall, randomized",
            json!({"n_components": 3, "svd_solver": "randomized", "iterated_power": 30}),
            300,
            20,
        ),
        by_variance("a share", json!({"n_components": 0.9}), 200, 10),
        by_variance("Minka's rule", json!({"n_components": "mle"}), 200, 10),
        by_variance("BIC", json!({"n_components": "bic"}), 200, 10),
        by_variance("optimal threshold", json!({"n_components": "gavish-donoho"}), 200, 10),
        by_variance("largest ratio", json!({"n_components": "gap"}), 200, 10),
        by_variance("largest difference", json!({"n_components": "gap-difference"}), 200, 10),
        otherwise("Minka's rule, wide", json!({"n_components": "minka"}), 20, 60),
        // Their random permutations and blocks depend on the order of rows and columns.
        otherwise("parallel analysis", json!({"n_components": "parallel"}), 200, 10),
        otherwise("bi-cross-validation", json!({"n_components": "cv"}), 200, 10),
        by_variance("none", json!({"n_components": 0}), 50, 6),
    ]
}

pub(super) fn ppca() -> Vec<Path> {
    vec![
        otherwise("tall", json!({}), 300, 12),
        otherwise("tall, scatter", json!({"n_components": 3}), 700, 9),
        otherwise("wide", json!({"n_components": 4}), 30, 600),
        otherwise("standardized", json!({"n_components": 3, "standardize": true}), 200, 10),
        otherwise("noise alone", json!({"n_components": 0}), 50, 6),
        otherwise("at the floor", json!({"n_components": 2, "noise_floor": 0.5}), 200, 10),
        otherwise("by iterations", json!({"n_components": 3, "algorithm": "em"}), 300, 12),
        otherwise("a number by AIC", json!({"n_components": "aic"}), 120, 6),
        otherwise(
            "a number by BIC, closed form",
            json!({"n_components": "bic", "algorithm": "closed-form"}),
            120,
            6,
        ),
        otherwise("with gaps", json!({"n_components": 3}), 700, 9),
        otherwise("standardized, with gaps", json!({"n_components": 2, "standardize": true}), 300, 8),
        otherwise("a number by BIC, with gaps", json!({"max_iter": 30}), 300, 6),
        otherwise("wide, with gaps", json!({"n_components": 2, "max_iter": 40}), 40, 90),
        // Iterations of more than 2048 columns start from random loadings.
        otherwise("very wide, with gaps", json!({"n_components": 2, "max_iter": 8}), 16, 2060),
    ]
}

pub(super) fn linear_eigengan() -> Vec<Path> {
    vec![
        otherwise("tall", json!({}), 300, 12),
        otherwise("wide", json!({"n_components": 4}), 30, 60),
        otherwise("given blocks", json!({"groups": [2, 1]}), 200, 10),
        otherwise("blocks by BIC", json!({"groups": "bic", "standardize": true}), 700, 9),
        otherwise("a number by AIC", json!({"n_components": "aic"}), 120, 6),
        otherwise("a number by BIC", json!({"n_components": "bic"}), 120, 6),
        otherwise("with gaps", json!({"n_components": 2}), 300, 6),
    ]
}

pub(super) fn neural_pca() -> Vec<Path> {
    vec![
        otherwise("closed form", json!({"variant": "svd"}), 300, 12),
        otherwise("axes, tall", json!({"n_components": 4}), 700, 9),
        otherwise("axes, wide", json!({"n_components": 3, "variant": "nested-dropout"}), 30, 600),
        otherwise("axes, whitened", json!({"n_components": 3, "variant": 13, "whiten": true}), 300, 12),
        otherwise("subspace", json!({"n_components": 4, "variant": "oja"}), 300, 12),
        otherwise("by Adam", json!({"n_components": 3, "solver": "adam", "max_epochs": 3}), 700, 9),
        otherwise("by descent, wide", json!({"n_components": 2, "solver": "sgd", "variant": 5}), 40, 60),
        otherwise("about 0, from axes", json!({"variant": "wsla", "center": false, "init": "pca"}), 200, 6),
    ]
}

pub(super) fn sigma_pca() -> Vec<Path> {
    vec![
        otherwise("tall", json!({}), 700, 9),
        otherwise("wide", json!({"n_components": 4}), 30, 60),
        otherwise("whitened", json!({"n_components": 4, "whiten": true}), 200, 10),
        otherwise("standardized", json!({"standardize": true, "a": 4.0}), 300, 9),
        otherwise("not centred", json!({"center": false, "a": [0.8, 4.0, 4.0], "n_components": 3}), 300, 12),
        otherwise(
            "hard, unit slope",
            json!({"h": "hard", "deriv": "one", "a": 2.0, "n_components": 2}),
            300,
            6,
        ),
        otherwise("by Adam", json!({"n_components": 3, "variant": "ema-tanh", "max_epochs": 3}), 400, 9),
        otherwise("by descent", json!({"n_components": 2, "solver": "sgd", "max_epochs": 2}), 400, 9),
        otherwise(
            "by Adam, deviations of batches",
            json!({"n_components": 2, "solver": "adam", "sigma": "batch", "max_epochs": 2}),
            400,
            9,
        ),
        otherwise(
            "power method, as found",
            json!({"solver": "gpm", "h": "tanh", "deriv": "true", "a": 0.8, "n_components": 2, "order": "found"}),
            300,
            6,
        ),
        otherwise(
            "published fixed point",
            json!({"constraint": "native", "n_components": 3, "max_iter": 60}),
            400,
            9,
        ),
    ]
}

pub(super) fn factor_analysis() -> Vec<Path> {
    vec![
        otherwise("tall", json!({"n_components": 3}), 700, 9),
        otherwise("saturated", json!({}), 300, 6),
        otherwise("wide", json!({"n_components": 3}), 30, 60),
        otherwise("wide, all", json!({}), 12, 40),
        otherwise("none", json!({"n_components": 0}), 50, 6),
        otherwise("by EM", json!({"n_components": 2, "algorithm": "em", "max_iter": 30}), 300, 9),
        otherwise("by EM, wide", json!({"n_components": 2, "algorithm": "em", "max_iter": 10}), 20, 40),
        otherwise("varimax", json!({"n_components": 3, "rotation": "varimax"}), 300, 12),
        otherwise(
            "oblique, standardized",
            json!({"n_components": 3, "rotation": "oblimin", "standardize": true, "rotation_normalize": true}),
            300,
            12,
        ),
        otherwise("Bartlett", json!({"n_components": 2, "scores": "bartlett", "noise_floor": 0.05}), 200, 9),
        otherwise("BIC", json!({"n_components": "bic"}), 300, 9),
        otherwise("parallel analysis", json!({"n_components": "parallel"}), 200, 9),
        otherwise("quartimax", json!({"n_components": 3, "rotation": "quartimax"}), 200, 9),
        otherwise("equamax", json!({"n_components": 3, "rotation": "equamax"}), 200, 9),
        otherwise("promax", json!({"n_components": 3, "rotation": "promax"}), 200, 9),
        otherwise("geomin", json!({"n_components": 3, "rotation": "geomin"}), 200, 9),
        otherwise("with gaps", json!({"n_components": 2}), 300, 6),
        otherwise("wide, with gaps", json!({"n_components": 2, "max_iter": 20}), 20, 30),
        otherwise(
            "by EM over the factors, with gaps",
            json!({"n_components": 2, "algorithm": "em", "max_iter": 30}),
            300,
            6,
        ),
        otherwise("varimax, with gaps", json!({"n_components": 2, "rotation": "varimax"}), 300, 6),
        otherwise(
            "oblique, standardized, with gaps",
            json!({"n_components": 2, "rotation": "oblimin", "standardize": true}),
            300,
            6,
        ),
        // Every row has an observed cell for each factor.
        otherwise("Bartlett, with gaps", json!({"n_components": 2, "scores": "bartlett"}), 200, 12),
        otherwise("BIC, with gaps", json!({"n_components": "bic", "max_iter": 20}), 300, 6),
        otherwise(
            "sparse loadings",
            json!({"n_components": 2, "prior": "laplace-loadings", "l1": 0.02, "max_iter": 30}),
            300,
            9,
        ),
        otherwise(
            "sparse loadings, overcomplete, wide",
            json!({"n_components": 14, "prior": "laplace-loadings", "standardize": true, "max_iter": 5}),
            12,
            13,
        ),
        otherwise("Laplace factors", json!({"n_components": 2, "prior": "laplace", "max_iter": 8}), 60, 6),
        otherwise(
            "Jeffreys factors, wide",
            json!({"n_components": 3, "prior": "jeffreys", "max_iter": 8, "standardize": true}),
            20,
            24,
        ),
    ]
}
