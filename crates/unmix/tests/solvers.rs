//! Iterative solvers against the exact ones, and against theorems on their convergence.

use crate::made::{cast, falling, numbers, settings, try_fit};
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Model, Outcome, metrics};

const ITERATIVE: [&str; 5] = ["arpack", "krylov", "power", "deflation", "randomized"];

fn fit(x: &[f64], p: usize, given: serde_json::Value) -> Model {
    try_fit("pca", &settings(given), x, p).unwrap()
}

/// Rows with independent columns of standard deviation `scale(j)` and mean 3.
fn rows(n: usize, p: usize, scale: impl Fn(usize) -> f64) -> Vec<f64> {
    let s = Stream::new(17, 0);
    (0..n * p).map(|i| scale(i % p) * s.normal(i as u64) + 3.0).collect()
}

#[test]
fn every_iterative_solver_finds_what_the_exact_one_finds() {
    for (n, p, k) in [(400, 30, 4), (60, 200, 5), (3000, 2100, 3)] {
        let x = rows(n, p, |j| if j < 8 { 10.0 * 0.6f64.powi(j as i32) } else { 0.05 });
        let exact = fit(&x, p, json!({"n_components": k, "svd_solver": "covariance_eigh"}));
        for solver in ITERATIVE {
            let found = fit(&x, p, json!({"n_components": k, "svd_solver": solver}));
            let report = found.report();
            assert!(report.outcome.is_success(), "{solver} on {n} x {p}: {:?}", report.outcome);
            for (a, b) in
                numbers(&found, "explained_variance").iter().zip(numbers(&exact, "explained_variance"))
            {
                assert!((a / b - 1.0).abs() < 1e-10, "{solver} on {n} x {p}: {a} instead of {b}");
            }
            let axes = |m: &Model| m.tensor("components").unwrap().to_matrix();
            let angle = metrics::subspace_angles(&axes(&found), &axes(&exact)).unwrap()[0];
            assert!(angle < 1e-6, "{solver} on {n} x {p}: angle {angle:e}");
            let noise = (numbers(&found, "noise_variance")[0], numbers(&exact, "noise_variance")[0]);
            assert!((noise.0 / noise.1 - 1.0).abs() < 1e-7, "{solver} on {n} x {p}: noise {noise:?}");
        }
    }
}

#[test]
fn approximate_variances_are_those_of_the_codes_to_rounding() {
    // A slowly decaying spectrum and a single iteration: far from convergence.
    let (n, p, k) = (500, 80, 6);
    let x = rows(n, p, |j| 1.0 / (j + 1) as f64);
    for solver in ["randomized", "power", "deflation"] {
        let model = fit(&x, p, json!({"n_components": k, "svd_solver": solver, "iterated_power": 1}));
        let unmix_rows = unmix::Rows::from_slice(&x, p).unwrap();
        let codes = model.encode_to_vec(&unmix_rows, &unmix::Run::default()).unwrap();
        for (c, variance) in numbers(&model, "explained_variance").into_iter().enumerate() {
            let sum: f64 = (0..n).map(|i| codes[i * k + c].powi(2)).sum();
            assert!((sum / (n - 1) as f64 / variance - 1.0).abs() < 1e-12, "{solver}, component {c}");
        }
        if solver != "randomized" {
            assert_eq!(model.report().outcome, Outcome::MaxIter, "{solver}");
            assert_eq!(model.report().n_iter, if solver == "power" { 1 } else { k as u64 }, "{solver}");
            assert!(model.report().residual > model.report().tol, "{solver}");
        }
    }
}

#[test]
fn repeated_variances_and_low_rank_are_found_whole() {
    // Plus and minus scaled unit vectors: exactly five equal variances, and seven smaller equal ones.
    let p = 12;
    let mut x = Vec::new();
    for j in 0..p {
        for sign in [1.0, -1.0] {
            let size = if j < 5 { 3.0 } else { 1.0 };
            x.extend((0..p).map(|c| if c == j { sign * size } else { 0.0 }));
        }
    }
    let low: Vec<f64> = {
        let s = Stream::new(3, 0);
        let a = Matrix::from_fn(2, 40, |i, j| s.normal((i * 40 + j) as u64));
        (0..200)
            .flat_map(|i| {
                (0..40)
                    .map(|j| (0..2).map(|c| s.normal(1000 + 2 * i + c) * a[(c as usize, j)]).sum::<f64>())
                    .collect::<Vec<_>>()
            })
            .collect()
    };
    for solver in ITERATIVE {
        let model = fit(&x, p, json!({"n_components": 5, "svd_solver": solver}));
        let want = 2.0 * 9.0 / (2 * p - 1) as f64;
        assert!(
            numbers(&model, "explained_variance").iter().all(|v| (v / want - 1.0).abs() < 1e-12),
            "{solver}"
        );
        let model = fit(&low, 40, json!({"n_components": 6, "svd_solver": solver}));
        assert_eq!(model.report().rank, Some(2), "{solver}");
        assert!(numbers(&model, "explained_variance")[2..].iter().all(|&v| v == 0.0), "{solver}");
    }
}

#[test]
fn more_power_iterations_never_explain_less() {
    let (n, p, k) = (600, 100, 10);
    let x = rows(n, p, |j| 1.0 / (j + 1) as f64);
    let kept = |rounds: u64| {
        let given = json!({"n_components": k, "svd_solver": "randomized", "iterated_power": rounds});
        numbers(&fit(&x, p, given), "explained_variance").iter().sum::<f64>()
    };
    let found: Vec<f64> = (0..6).map(kept).collect();
    assert!(found.windows(2).all(|w| w[1] >= w[0] * (1.0 - 1e-13)), "{found:?}");
    let best: f64 = numbers(&fit(&x, p, json!({"n_components": k})), "explained_variance").iter().sum();
    assert!(found[5] <= best * (1.0 + 1e-13) && found[5] > best * (1.0 - 1e-6), "{found:?} against {best}");
}

#[test]
fn single_precision_is_iterated_in_double() {
    let x = falling(300, 25, 4);
    let single: Vec<f32> = cast(&x);
    for solver in ITERATIVE {
        let given = settings(json!({"n_components": 4, "svd_solver": solver}));
        let a = try_fit("pca", &given, &single, 25).unwrap();
        let exact = try_fit("pca", &settings(json!({"n_components": 4})), &x, 25).unwrap();
        for (a, b) in numbers(&a, "explained_variance").iter().zip(numbers(&exact, "explained_variance")) {
            assert!((a / b - 1.0).abs() < 1e-5, "{solver}: {a} instead of {b}");
        }
    }
}

#[test]
fn requests_that_truncated_solvers_cannot_meet_are_refused() {
    let x = falling(50, 8, 1);
    let message = |given| try_fit("pca", &settings(given), &x, 8).unwrap_err().to_string();
    for solver in ITERATIVE {
        assert!(
            message(json!({"n_components": 0.9, "svd_solver": solver})).contains("needs the whole spectrum")
        );
        assert!(
            message(json!({"n_components": "mle", "svd_solver": solver}))
                .contains("needs the whole spectrum")
        );
        assert!(
            message(json!({"n_components": 0, "svd_solver": solver})).contains("choose a number from 1 to 8")
        );
        assert!(message(json!({"n_components": 9, "svd_solver": solver})).contains("at most min(50, 8) = 8"));
    }
    assert!(
        message(json!({"n_components": 8, "svd_solver": "arpack"}))
            .contains("fewer components than min(50, 8) = 8")
    );
    assert_eq!(fit(&x, 8, json!({"svd_solver": "arpack"})).n_components(), 7);
    assert_eq!(fit(&x, 8, json!({"svd_solver": "krylov"})).n_components(), 8);
}

#[test]
fn a_time_limit_ends_the_iterations_with_the_current_components() {
    let x = rows(300, 40, |j| 1.0 / (j + 1) as f64);
    for solver in ["krylov", "power", "deflation", "randomized"] {
        let pca =
            unmix::Pca::from_settings(&settings(json!({"n_components": 3, "svd_solver": solver}))).unwrap();
        let run = unmix::Run { max_seconds: Some(0.0), ..unmix::Run::default() };
        let model = pca.fit(&mut unmix::Rows::from_slice(&x, 40).unwrap(), &run).unwrap();
        // With 40 columns the block Krylov space would span all directions, so krylov computes the full decomposition at once.
        if solver != "krylov" {
            assert_eq!(model.report().outcome, Outcome::Time, "{solver}");
            assert!(model.report().n_iter <= 4, "{solver}: {} iterations", model.report().n_iter);
        }
        assert_eq!(model.n_components(), 3);
    }
    let wide = rows(200, 2100, |j| 1.0 / (j + 1) as f64);
    let pca =
        unmix::Pca::from_settings(&settings(json!({"n_components": 3, "svd_solver": "krylov"}))).unwrap();
    let run = unmix::Run { max_seconds: Some(0.0), ..unmix::Run::default() };
    let model = pca.fit(&mut unmix::Rows::from_slice(&wide, 2100).unwrap(), &run).unwrap();
    assert_eq!(model.report().outcome, Outcome::Time);
}

/// The use of the units of large layers is measured on fewer rows once the run is to end, although training was completed before, and the
/// report states it.
#[test]
fn the_use_of_units_is_measured_on_fewer_rows_after_the_time_limit() {
    /// Ends the run at the stage that measures the use of the units.
    struct EndsAtUse(std::sync::atomic::AtomicBool);
    impl unmix::Observer for EndsAtUse {
        fn event(&self, event: unmix::Event<'_>) {
            if let unmix::Event::Stage("use") = event {
                self.0.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        }
        fn ends_early(&self) -> bool {
            self.0.load(std::sync::atomic::Ordering::Relaxed)
        }
    }
    let (n, p, m) = (1500, 96, 22_000);
    let x: Vec<f32> = cast(&rows(n, p, |_| 1.0));
    for key in ["sae", "dae", "rbm"] {
        let given = settings(json!({"n_components": m, "max_epochs": 1, "batch_size": n}));
        let ends = EndsAtUse(std::sync::atomic::AtomicBool::new(false));
        let run = unmix::Run { observer: &ends, ..crate::made::on_threads(2) };
        let mut rows = unmix::AnyRows::F32(unmix::Rows::from_slice(&x, p).unwrap());
        let model = crate::made::fit_any(key, &given, &mut rows, &run).unwrap();
        assert_eq!(model.report().outcome, Outcome::Interrupted, "{key}");
        let warnings = model.report().warnings.join("; ");
        assert!(warnings.contains("measured on 1024 rows instead of 1500"), "{key}: {warnings}");
        if key != "rbm" {
            let density = numbers(&model, "density");
            assert!(density.iter().all(|share| (share * 1024.0).fract() == 0.0), "{key}");
            assert!(density.iter().any(|share| (0.0..1.0).contains(share) && *share > 0.0), "{key}");
        }
    }
}

#[test]
fn every_iteration_is_reported_and_can_be_interrupted() {
    struct Recorder(std::sync::Mutex<Vec<f64>>, usize);
    impl unmix::Observer for Recorder {
        fn event(&self, event: unmix::Event<'_>) {
            if let unmix::Event::Iteration { residual, .. } = event {
                self.0.lock().unwrap().push(residual);
            }
        }
        fn interrupted(&self) -> bool {
            self.0.lock().unwrap().len() >= self.1
        }
    }
    let x = rows(300, 40, |j| 1.0 / (j + 1) as f64);
    let pca =
        unmix::Pca::from_settings(&settings(json!({"n_components": 3, "svd_solver": "power"}))).unwrap();
    let recorded = |most: usize| {
        let recorder = Recorder(Default::default(), most);
        let run = unmix::Run { observer: &recorder, ..unmix::Run::default() };
        let model = pca.fit(&mut unmix::Rows::from_slice(&x, 40).unwrap(), &run);
        (model, recorder.0.into_inner().unwrap())
    };
    let (model, residuals) = recorded(usize::MAX);
    let model = model.unwrap();
    assert_eq!(residuals.len() as u64, model.report().n_iter);
    assert_eq!(residuals.last().copied(), model.report().residual);
    assert!(matches!(recorded(2).0, Err(unmix::Error::Interrupted)));
}
