//! One case for every path through a solver.

use crate::made::{Known, cast, falling, settings, try_fit};
use serde_json::{Map, Value, json};
use unmix::method::Setting;
use unmix::num::random::Stream;
use unmix::{METHODS, Method, Model};

/// Settings and a shape that lead to one path through a solver.
pub(crate) struct Case {
    pub(crate) method: &'static Method,
    pub(crate) name: &'static str,
    pub(crate) given: Value,
    pub(crate) n: usize,
    pub(crate) p: usize,
    /// Components are ordered by the variance along them, so the laws about variances apply.
    pub(crate) by_variance: bool,
}

impl Case {
    pub(crate) fn data<T: Known>(&self) -> Vec<T> {
        self.rows(self.n)
    }

    /// `n` rows of the case's width, a fifth of whose cells are missing if the case has gaps; no row is without cells.
    pub(crate) fn rows<T: Known>(&self, n: usize) -> Vec<T> {
        let p = self.p;
        let mut x = falling(n, p, 7);
        if self.has_gaps() {
            let draws = Stream::new(13, 0);
            let gap = |at: usize| draws.uniform(at as u64) < 0.2 && at > 0 && at + 1 < n * p;
            for i in (0..n).filter(|i| !(i * p..(i + 1) * p).all(gap)) {
                (i * p..(i + 1) * p).filter(|at| gap(*at)).for_each(|at| x[at] = f64::NAN);
            }
        }
        cast(&x)
    }

    /// Whether the rows have missing cells.
    pub(crate) fn has_gaps(&self) -> bool {
        self.name.ends_with("gaps")
    }

    /// Whether a fit with these settings takes missing cells: blocks of equal variances, priors, the closed form and parallel analysis need
    /// every cell.
    pub(crate) fn takes_gaps(&self) -> bool {
        let needs_cells = ["groups", "prior"].iter().any(|name| self.given.get(*name).is_some())
            || self.given.get("algorithm") == Some(&json!("closed-form"))
            || self.given.get("n_components") == Some(&json!("parallel"));
        self.method.accepts.missing && !needs_cells
    }

    /// The settings, with defaults for those that are not given.
    pub(crate) fn resolved(&self) -> Map<String, Value> {
        let value = |s: &Setting| self.given.get(s.name).cloned().unwrap_or_else(|| s.default_value());
        let listed = self.method.settings.iter().filter(|s| s.is_json());
        listed.map(|s| (s.name.to_string(), value(s))).collect()
    }

    /// The settings for tests of bits on many rows: with at most twelve iterations where these go over missing cells, which are slower; a
    /// different bit shows after a few.
    pub(crate) fn given_briefly(&self) -> Map<String, Value> {
        let mut given = settings(self.given.clone());
        if self.has_gaps() && self.method.accepts.stream {
            let most = given.get("max_iter").and_then(Value::as_u64).unwrap_or(u64::MAX);
            given.insert("max_iter".into(), most.min(12).into());
        }
        given
    }

    pub(crate) fn fit<T: Known>(&self, x: &[T]) -> Model {
        self.try_fit(x).unwrap_or_else(|e| panic!("{self}: {e}"))
    }

    pub(crate) fn try_fit<T: Known>(&self, x: &[T]) -> unmix::Result<Model> {
        try_fit(self.method.key, &settings(self.given.clone()), x, self.p)
    }

    pub(crate) fn whitens(&self) -> bool {
        self.given.get("whiten").is_some_and(|w| w != &Value::Bool(false))
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({} x {})", self.method.key, self.name, self.n, self.p)
    }
}

/// Every method, or with `UNMIX_LAWS` the one of that key.
pub(crate) fn chosen_methods() -> impl Iterator<Item = &'static Method> {
    let only = std::env::var("UNMIX_LAWS").ok();
    METHODS.iter().filter(move |m| only.as_ref().is_none_or(|key| m.key == key))
}

/// The cases of the chosen methods. A method that has none fails here: add them when you add it.
pub(crate) fn every_case() -> Vec<Case> {
    let cases: Vec<Case> = chosen_methods().flat_map(of).collect();
    assert!(!cases.is_empty());
    cases
}

/// The cases whose components are ordered by variance.
pub(crate) fn cases_by_variance() -> Vec<Case> {
    every_case().into_iter().filter(|case| case.by_variance).collect()
}

fn of(method: &'static Method) -> Vec<Case> {
    let by_variance = |name, given, n, p| Case { method, name, given, n, p, by_variance: true };
    let otherwise = |name, given, n, p| Case { method, name, given, n, p, by_variance: false };
    match method.key {
        "pca" => vec![
            by_variance("tall, full", json!({"svd_solver": "full"}), 300, 12),
            by_variance("tall, scatter", json!({"svd_solver": "covariance_eigh"}), 300, 12),
            by_variance("tall, auto", json!({}), 700, 9),
            by_variance(
                "tall, first few",
                json!({"n_components": 3, "svd_solver": "covariance_eigh"}),
                300,
                12,
            ),
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
        ],
        "ppca" => vec![
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
        ],
        "linear-eigengan" => vec![
            otherwise("tall", json!({}), 300, 12),
            otherwise("wide", json!({"n_components": 4}), 30, 60),
            otherwise("given blocks", json!({"groups": [2, 1]}), 200, 10),
            otherwise("blocks by BIC", json!({"groups": "bic", "standardize": true}), 700, 9),
            otherwise("a number by AIC", json!({"n_components": "aic"}), 120, 6),
            otherwise("a number by BIC", json!({"n_components": "bic"}), 120, 6),
            otherwise("with gaps", json!({"n_components": 2}), 300, 6),
        ],
        "neural-pca" => vec![
            otherwise("closed form", json!({"variant": "svd"}), 300, 12),
            otherwise("axes, tall", json!({"n_components": 4}), 700, 9),
            otherwise("axes, wide", json!({"n_components": 3, "variant": "nested-dropout"}), 30, 600),
            otherwise("axes, whitened", json!({"n_components": 3, "variant": 13, "whiten": true}), 300, 12),
            otherwise("subspace", json!({"n_components": 4, "variant": "oja"}), 300, 12),
            otherwise("by Adam", json!({"n_components": 3, "solver": "adam", "max_epochs": 3}), 700, 9),
            otherwise("by descent, wide", json!({"n_components": 2, "solver": "sgd", "variant": 5}), 40, 60),
            otherwise(
                "about 0, from axes",
                json!({"variant": "wsla", "center": false, "init": "pca"}),
                200,
                6,
            ),
        ],
        "sigma-pca" => vec![
            otherwise("tall", json!({}), 700, 9),
            otherwise("wide", json!({"n_components": 4}), 30, 60),
            otherwise("whitened", json!({"n_components": 4, "whiten": true}), 200, 10),
            otherwise("standardized", json!({"standardize": true, "a": 4.0}), 300, 9),
            otherwise(
                "not centred",
                json!({"center": false, "a": [0.8, 4.0, 4.0], "n_components": 3}),
                300,
                12,
            ),
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
        ],
        "ica" => vec![
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
            otherwise(
                "for outliers, as found",
                json!({"fun": "exp", "order": "found", "max_iter": 20}),
                300,
                5,
            ),
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
        ],
        "fastica" => vec![
            otherwise("parallel", json!({}), 700, 9),
            otherwise("deflation", json!({"algorithm": "deflation"}), 300, 6),
            otherwise("arbitrary variance", json!({"whiten": "arbitrary-variance", "fun": "exp"}), 300, 6),
            otherwise("not whitened", json!({"whiten": false, "max_iter": 30}), 300, 5),
            otherwise("few of many columns", json!({"n_components": 3, "fun": "cube"}), 200, 30),
            otherwise("by skewness", json!({"fun": "skew", "max_iter": 20}), 300, 5),
        ],
        "rica" => vec![
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
            otherwise(
                "wide, as they are",
                json!({"n_components": 5, "whiten": false, "max_iter": 60}),
                40,
                90,
            ),
            otherwise("not whitened", json!({"whiten": false}), 300, 5),
            otherwise("of length 1", json!({"unit_norm": true, "standardize": true}), 300, 6),
            otherwise(
                "about 0, standardized",
                json!({"center": false, "standardize": true, "whiten": false}),
                300,
                6,
            ),
        ],
        "matrix-completion" => vec![
            otherwise("three factors", json!({"n_components": 3}), 60, 12),
            otherwise("three factors, gaps", json!({"n_components": 3}), 60, 12),
            otherwise("without offsets, gaps", json!({"n_components": 3, "offsets": false}), 40, 15),
            otherwise("offsets alone, gaps", json!({"n_components": 0}), 30, 8),
            otherwise("as many as there are, wide, gaps", json!({"tol": 0.01}), 25, 40),
            otherwise("ridge, gaps", json!({"n_components": 2, "alpha": 0.1}), 40, 12),
            otherwise("nuclear norm, wide, gaps", json!({"algorithm": "soft-impute", "alpha": 8.0}), 25, 40),
            otherwise(
                "nuclear norm by held-out cells, wide, gaps",
                json!({"algorithm": "soft-impute"}),
                25,
                40,
            ),
            otherwise(
                "likelihood, wide, gaps",
                json!({"algorithm": "ppca-em", "n_components": 2, "max_iter": 40}),
                25,
                40,
            ),
        ],
        "factor-analysis" => vec![
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
            otherwise(
                "Bartlett",
                json!({"n_components": 2, "scores": "bartlett", "noise_floor": 0.05}),
                200,
                9,
            ),
            otherwise("BIC", json!({"n_components": "bic"}), 300, 9),
            otherwise("parallel analysis", json!({"n_components": "parallel"}), 200, 9),
            otherwise("quartimax", json!({"n_components": 3, "rotation": "quartimax"}), 200, 9),
            otherwise("equamax", json!({"n_components": 3, "rotation": "equamax"}), 200, 9),
            otherwise("promax", json!({"n_components": 3, "rotation": "promax"}), 200, 9),
            otherwise("geomin", json!({"n_components": 3, "rotation": "geomin"}), 200, 9),
            otherwise("with gaps", json!({"n_components": 2}), 300, 6),
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
            otherwise(
                "Laplace factors",
                json!({"n_components": 2, "prior": "laplace", "max_iter": 8}),
                60,
                6,
            ),
            otherwise(
                "Jeffreys factors, wide",
                json!({"n_components": 3, "prior": "jeffreys", "max_iter": 8, "standardize": true}),
                20,
                24,
            ),
        ],
        "subspace-clustering" => vec![
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
            otherwise(
                "mixture with means, numbers by the data",
                json!({"algorithm": "ppca-mixture", "center": true, "max_iter": 30}),
                40,
                60,
            ),
        ],
        "robust-pca" => vec![
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
        ],
        "dictionary" => vec![
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
            otherwise(
                "wide",
                json!({"n_components": 8, "init": "dct", "batch_size": 10, "alpha": 1.0}),
                30,
                60,
            ),
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
        ],
        "sae" => vec![
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
        ],
        "dae" => vec![
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
        ],
        "rbm" => vec![
            otherwise("one step", json!({"batch_size": 100, "max_epochs": 4}), 300, 6),
            otherwise(
                "three steps, wide",
                json!({"n_steps": 3, "n_components": 70, "batch_size": 16, "max_epochs": 4}),
                40,
                60,
            ),
        ],
        "stacked-rfn" => vec![
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
        ],
        "rfn" => vec![
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
        ],
        "sparse-coder" => vec![
            otherwise("by the data", json!({}), 60, 12),
            otherwise("a number, about the mean", json!({"alpha": 0.3, "center": true}), 60, 9),
            otherwise("not negative, least squares", json!({"positive_code": true, "debias": true}), 60, 9),
            otherwise("proximal steps", json!({"algorithm": "fista", "alpha": 0.5}), 16, 24),
            otherwise("plain proximal steps", json!({"algorithm": "ista", "alpha": 0.5}), 16, 24),
            otherwise("alpha by held-out entries", json!({"alpha": "cv"}), 16, 24),
            otherwise("the homotopy", json!({"algorithm": "lars", "alpha": 0.5}), 16, 24),
            otherwise("pursuit", json!({"algorithm": "omp", "n_nonzero_coefs": 3}), 60, 12),
            otherwise("with gaps", json!({}), 40, 9),
        ],
        "lista" => vec![
            otherwise(
                "a dictionary a layer",
                json!({"n_layers": 3, "max_epochs": 4, "batch_size": 30}),
                60,
                9,
            ),
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
        ],
        "complete-dictionary" => vec![
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
        ],
        other => panic!("the laws have no cases for {other}: add them here"),
    }
}
