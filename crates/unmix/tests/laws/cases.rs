//! One case for every path through a solver.

mod codes;
mod matrices;
mod sources;
mod units;
mod variances;

use crate::made::{Known, cast, falling, settings, try_fit};
use serde_json::{Map, Value, json};
use unmix::internal::num::random::Stream;
use unmix::method::Setting;
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

/// A path through a solver of a method: its name, settings, rows and columns, and whether its components are ordered by variance.
struct Path {
    name: &'static str,
    given: Value,
    n: usize,
    p: usize,
    by_variance: bool,
}

fn by_variance(name: &'static str, given: Value, n: usize, p: usize) -> Path {
    Path { name, given, n, p, by_variance: true }
}

fn otherwise(name: &'static str, given: Value, n: usize, p: usize) -> Path {
    Path { name, given, n, p, by_variance: false }
}

fn of(method: &'static Method) -> Vec<Case> {
    let paths = match method.key {
        "pca" => variances::pca(),
        "ppca" => variances::ppca(),
        "linear-eigengan" => variances::linear_eigengan(),
        "neural-pca" => variances::neural_pca(),
        "sigma-pca" => variances::sigma_pca(),
        "factor-analysis" => variances::factor_analysis(),
        "ica" => sources::ica(),
        "fastica" => sources::fastica(),
        "rica" => sources::rica(),
        "complete-dictionary" => sources::complete_dictionary(),
        "matrix-completion" => matrices::matrix_completion(),
        "robust-pca" => matrices::robust_pca(),
        "subspace-clustering" => matrices::subspace_clustering(),
        "sparse-coder" => codes::sparse_coder(),
        "lista" => codes::lista(),
        "dictionary" => codes::dictionary(),
        "rfn" => units::rfn(),
        "stacked-rfn" => units::stacked_rfn(),
        "sae" => units::sae(),
        "dae" => units::dae(),
        "rbm" => units::rbm(),
        other => panic!("the laws have no cases for {other}: add them here"),
    };
    let case = |path: Path| {
        let Path { name, given, n, p, by_variance } = path;
        Case { method, name, given, n, p, by_variance }
    };
    paths.into_iter().map(case).collect()
}
