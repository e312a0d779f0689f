//! One representative of every path that a solver can take.

use crate::made::{Known, cast, falling, settings, try_fit};
use serde_json::{Value, json};
use unmix::{METHODS, Method, Model};

/// Settings and a shape that lead down one path.
pub(crate) struct Case {
    pub(crate) method: &'static Method,
    pub(crate) name: &'static str,
    pub(crate) given: Value,
    pub(crate) n: usize,
    pub(crate) p: usize,
}

impl Case {
    pub(crate) fn data<T: Known>(&self) -> Vec<T> {
        cast(&falling(self.n, self.p, 7))
    }

    pub(crate) fn fit<T: Known>(&self, x: &[T]) -> Model {
        self.try_fit(x).unwrap_or_else(|e| panic!("{self}: {e}"))
    }

    pub(crate) fn try_fit<T: Known>(&self, x: &[T]) -> unmix::Result<Model> {
        try_fit(self.method.key, &settings(self.given.clone()), x, self.p)
    }

    pub(crate) fn whitens(&self) -> bool {
        self.given.get("whiten") == Some(&Value::Bool(true))
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({} x {})", self.method.key, self.name, self.n, self.p)
    }
}

/// Every method's cases. A method that has none fails here: add them when you add it.
pub(crate) fn every_case() -> Vec<Case> {
    let cases: Vec<Case> = METHODS.iter().flat_map(of).collect();
    assert!(!cases.is_empty());
    cases
}

fn of(method: &'static Method) -> Vec<Case> {
    let case = |name, given, n, p| Case { method, name, given, n, p };
    match method.key {
        "pca" => vec![
            case("tall, full", json!({"svd_solver": "full"}), 300, 12),
            case("tall, scatter", json!({"svd_solver": "covariance_eigh"}), 300, 12),
            case("tall, auto", json!({}), 700, 9),
            case("tall, first few", json!({"n_components": 3, "svd_solver": "covariance_eigh"}), 300, 12),
            case("tall, Krylov", json!({"n_components": 5}), 900, 780),
            case("wide, full", json!({"svd_solver": "full"}), 20, 60),
            case("wide, scatter", json!({"svd_solver": "covariance_eigh"}), 20, 60),
            case("wide, auto", json!({"n_components": 6}), 30, 600),
            case("wide, Krylov", json!({"n_components": 5}), 780, 900),
            case("tall, whitened", json!({"n_components": 4, "whiten": true, "svd_solver": "full"}), 200, 10),
            case("wide, whitened", json!({"whiten": true, "svd_solver": "covariance_eigh"}), 15, 40),
            case("tall, krylov", json!({"n_components": 3, "svd_solver": "krylov"}), 400, 90),
            case("wide, arpack", json!({"n_components": 3, "svd_solver": "arpack"}), 40, 130),
            case("tall, power", json!({"n_components": 3, "svd_solver": "power"}), 300, 20),
            case("tall, deflation", json!({"n_components": 3, "svd_solver": "deflation"}), 300, 12),
            case(
                "tall, randomized",
                json!({"n_components": 3, "svd_solver": "randomized", "iterated_power": 30}),
                300,
                20,
            ),
            case("a share", json!({"n_components": 0.9}), 200, 10),
            case("Minka's rule", json!({"n_components": "mle"}), 200, 10),
            case("none", json!({"n_components": 0}), 50, 6),
        ],
        other => panic!("the laws have no cases for {other}: add them here"),
    }
}
