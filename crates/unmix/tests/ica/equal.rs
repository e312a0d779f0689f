//! Settings that name the same algorithm give the same result: to the bit, or to the tolerance.

use super::made::{components, fit, fit_on, laplace, mix, mixed_kinds, mixing};
use crate::made::{apart, digest, fit_any, on_threads, settings};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Checkpoint, Event, Ica, Matrix, Observer, Outcome, Rows, Run};

fn same_bits(a: (&str, Value), b: (&str, Value), x: &[f64], p: usize) {
    let [first, second] = [a, b].map(|(key, given)| components(&fit(key, given, x, p)));
    assert!(first.iter().zip(&second).all(|(a, b)| a.to_bits() == b.to_bits()));
}

fn near(a: Value, b: Value, x: &[f64], p: usize, tol: f64) {
    let distance =
        apart(&components(&fit("ica", a.clone(), x, p)), &components(&fit("ica", b.clone(), x, p)));
    assert!(distance < tol, "{a} and {b} are {distance:e} apart");
}

#[test]
fn the_method_fastica_takes_the_steps_of_that_algorithm_of_ica() {
    let x = mix(&mixed_kinds(3000, 5, 1), &mixing(5, 5, 1));
    for steps in [1, 4, 6] {
        let ours = json!({"algorithm": "fastica", "tol": 0.0, "max_iter": steps});
        same_bits(("ica", ours), ("fastica", json!({"tol": 0.0, "max_iter": steps})), &x, 5);
    }
}

#[test]
fn extended_infomax_is_picard_with_both_signs() {
    let x = mix(&mixed_kinds(3000, 5, 1), &mixing(5, 5, 1));
    let infomax = json!({"algorithm": "infomax", "extended": true});
    same_bits(("ica", infomax), ("ica", json!({"ortho": false, "extended": true})), &x, 5);
    same_bits(("ica", json!({"fun": "tanh"})), ("ica", json!({})), &x, 5);
    // With `w_init` the search does not begin at the best rotation of the whitened coordinates, and still converges to the same
    // solution.
    near(
        json!({"ortho": false, "extended": true, "tol": 1e-9}),
        json!({"ortho": false, "extended": true, "tol": 1e-9, "w_init": [
            [1, 0.1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0.2], [0, 0, 0, 1, 0], [0, 0.1, 0, 0, 1]]}),
        &x,
        5,
        1e-6,
    );
}

#[test]
fn the_fixed_point_and_the_quasi_newton_steps_have_one_solution() {
    let (k, a) = (6, mixing(6, 6, 3));
    let x = mix(&mixed_kinds(8000, k, 3), &a);
    for fun in ["logcosh", "exp", "cube"] {
        near(
            json!({"fun": fun, "tol": 1e-9}),
            json!({"fun": fun, "tol": 1e-9, "algorithm": "fastica"}),
            &x,
            k,
            1e-6,
        );
    }
}

#[test]
fn skewness_separates_skewed_sources() {
    let s = unmix::internal::num::random::Stream::new(4, 0);
    let sources = unmix::Matrix::from_fn(6000, 4, |i, j| -s.uniform((4 * i + j) as u64).ln() - 1.0);
    let a = mixing(4, 4, 4);
    let x = mix(&sources, &a);
    near(json!({"fun": "skew"}), json!({"fun": "skew", "algorithm": "fastica"}), &x, 4, 1e-4);
    assert!(super::made::amari(&super::made::gain(&fit("ica", json!({"fun": "skew"}), &x, 4), &a)) < 0.02);
}

#[test]
fn for_super_gaussian_sources_signs_do_not_matter_and_densities_do() {
    let (k, a) = (4, mixing(4, 4, 5));
    let x = mix(&laplace(6000, k, 5), &a);
    near(json!({"extended": false, "tol": 1e-10}), json!({"tol": 1e-10}), &x, k, 1e-8);
    // The logistic density is not a rescaled log cosh density, so the solutions differ.
    let [tanh, logistic] = [json!({"ortho": false}), json!({"algorithm": "infomax"})]
        .map(|given| components(&fit("ica", given, &x, k)));
    assert!(apart(&tanh, &logistic) > 1e-4);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let x = mix(&mixed_kinds(80_000, 4, 1), &mixing(4, 4, 1));
    let wide = mix(&mixed_kinds(20_000, 3, 1), &mixing(12, 3, 1));
    for given in [
        json!({}),
        json!({"algorithm": "fastica", "orthogonalization": "deflation"}),
        json!({"ortho": false, "extended": true}),
        json!({"fun": "adaptive", "ortho": false}),
        json!({"algorithm": "infomax"}),
        json!({"algorithm": "easi"}),
        json!({"algorithm": "sigma-pca", "first_layer": "sigma-pca"}),
        json!({"key": "fastica"}),
        json!({"key": "fastica", "algorithm": "deflation", "fun": "exp"}),
    ] {
        let mut given = given;
        let key = given.as_object_mut().unwrap().remove("key").map_or("ica", |_| "fastica");
        for (x, p) in [(&x, 4), (&wide, 12)] {
            let one = fit_on(1, key, given.clone(), x, p);
            for threads in [2, 3] {
                let more = fit_on(threads, key, given.clone(), x, p);
                assert_eq!(
                    crate::made::bits(&one),
                    crate::made::bits(&more),
                    "{key} {given}, {threads} threads"
                );
            }
        }
    }
}

/// `E[log cosh z]` of a standard normal `z`.
const GAUSSIAN: f64 = 0.374_567_207_491_437_6;

fn log_cosh(y: f64) -> f64 {
    y.abs() + (-2.0 * y.abs()).exp().ln_1p() - std::f64::consts::LN_2
}

/// Means of `f` over the rows, one for each source.
fn means(y: &Matrix<f64>, f: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..y.cols()).map(|i| (0..y.rows()).map(|r| f(y[(r, i)])).sum::<f64>() / y.rows() as f64).collect()
}

/// Ends the run after a number of iterations, of all starts together.
struct EndsAfter(AtomicU64);

impl Observer for EndsAfter {
    fn event(&self, event: Event<'_>) {
        if let Event::Iteration { .. } = event {
            let left = self.0.load(Relaxed);
            self.0.store(left.saturating_sub(1), Relaxed);
        }
    }
    fn ends_early(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

#[test]
fn a_search_that_is_cut_short_keeps_a_start_that_converged_and_reports_that_it_ended_early() {
    let (n, k) = (500, 5);
    let x = mix(&mixed_kinds(n, k, 9), &mixing(k, k, 9));
    let one = fit("ica", json!({"n_init": 1}), &x, k);
    let converged_at = one.report().n_iter;
    let within = |iterations: u64| {
        let ends = EndsAfter(AtomicU64::new(iterations));
        let ica = Ica { n_init: 4, ..Ica::default() };
        let mut rows = Rows::from_slice(x.as_slice(), k).unwrap();
        let model = ica.fit(&mut rows, &Run { observer: &ends, ..Run::default() }).unwrap();
        (model, ends.0.into_inner())
    };
    let (whole, left) = within(1_000_000);
    let all = 1_000_000 - left;
    assert_eq!(whole.report().outcome, Outcome::Converged);
    assert!(all > converged_at + 4);
    for iterations in converged_at + 1..all {
        let cut = within(iterations).0;
        let report = cut.report();
        assert_eq!(report.outcome, Outcome::Interrupted, "after {iterations} of {all}");
        assert!(report.residual <= report.tol, "after {iterations} of {all}: {:?}", report.residual);
    }
}

#[test]
fn a_search_of_several_starts_that_was_cut_short_continues_to_the_same_bits() {
    let (n, k) = (500, 5);
    let x = mix(&mixed_kinds(n, k, 9), &mixing(k, k, 9));
    let given = settings(json!({"n_init": 4}));
    let whole = fit("ica", json!({"n_init": 4}), &x, k);
    for iterations in [1, fit("ica", json!({"n_init": 1}), &x, k).report().n_iter + 3] {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::new(folder.path().join("a.checkpoint")).every(0.0).resume(true);
        let fitted = |observer: &dyn Observer| {
            let mut rows = AnyRows::F64(Rows::from_slice(x.as_slice(), k).unwrap());
            let run = Run { observer, checkpoint: Some(&checkpoint), ..on_threads(2) };
            fit_any("ica", &given, &mut rows, &run).unwrap()
        };
        let cut = fitted(&EndsAfter(AtomicU64::new(iterations)));
        assert!(cut.report().outcome == Outcome::Interrupted && checkpoint.path().exists());
        assert_eq!(digest(&fitted(&unmix::Silent)), digest(&whole), "after {iterations} iterations");
    }
}

#[test]
fn more_starts_are_never_worse() {
    // With few rows, searches from different starts converge to different local optima.
    let (n, k) = (90, 6);
    // The initial matrix number i is the orthogonal matrix nearest to these numbers.
    let start = |i: u64| {
        let s = Stream::new(0, i);
        let rows: Vec<Vec<f64>> =
            (0..k).map(|r| (0..k).map(|c| s.normal((r * k + c) as u64)).collect()).collect();
        json!(rows)
    };
    let mut better = 0;
    for seed in 9..14 {
        let x = mix(&mixed_kinds(n, k, seed), &mixing(k, k, seed));
        let end = |given: Value| {
            let model = fit("ica", given, &x, k);
            let loss = means(&super::made::sources(&model, &x), log_cosh);
            (loss.iter().map(|l| (l - GAUSSIAN).powi(2)).sum::<f64>(), components(&model))
        };
        let alone: Vec<_> = (0..6).map(|i| end(json!({"w_init": start(i)}))).collect();
        let mut best = &alone[0];
        for (i, one) in alone.iter().enumerate() {
            if one.0 > best.0 + 1e-6 {
                better += 1;
            }
            let several = end(json!({"n_init": i + 1}));
            // Objectives of searches that converge to the same optimum differ by the tolerance.
            assert!(
                several.0 >= best.0.max(one.0) - 1e-6,
                "{} starts: {}, and {} alone",
                i + 1,
                several.0,
                one.0
            );
            assert!(
                alone[..=i].iter().any(|a| a.1 == several.1),
                "the result of {} starts is that of none of them",
                i + 1
            );
            best = if one.0 > best.0 { one } else { best };
        }
    }
    assert!(better > 0, "no start is better than the first, so the test compares nothing");
}

#[test]
fn of_several_searches_the_one_with_the_highest_likelihood_is_kept() {
    let (n, k) = (60, 4);
    let x = mix(&mixed_kinds(n, k, 1), &mixing(k, k, 1));
    let integral = |sign: f64| {
        let density = |y: f64| (-0.5 * y * y - sign * log_cosh(y)).exp();
        (-2000..=2000).map(|i| 0.01 * density(0.01 * f64::from(i))).sum::<f64>().ln()
    };
    // Without whitening sources keep the scale at which the densities have their maximum likelihood.
    let value = |n_init: u64| {
        let given =
            json!({"algorithm": "infomax", "extended": true, "whiten": false, "n_init": n_init, "tol": 1e-8});
        let model = fit("ica", given, &x, k);
        let y = super::made::sources(&model, &x);
        let (loss, square) = (means(&y, log_cosh), means(&y, |y| y * y));
        let (slope, along) = (means(&y, |y| 1.0 - y.tanh().powi(2)), means(&y, |y| y * y.tanh()));
        let own = |i: usize| {
            let sign = if slope[i] * square[i] < along[i] { -1.0 } else { 1.0 };
            sign * loss[i] + 0.5 * square[i] + integral(sign)
        };
        let w = model.tensor("components").unwrap().to_matrix();
        let determinant = unmix::internal::num::factor::eigenvalues(
            &unmix::internal::num::factor::multiply_transposed(&w, &w),
        )
        .unwrap();
        (0..k).map(own).sum::<f64>() - 0.5 * determinant.iter().map(|v| v.ln()).sum::<f64>()
    };
    let values: Vec<f64> = (1..=8).map(value).collect();
    assert!(values.windows(2).all(|v| v[1] <= v[0] + 1e-9), "{values:?}");
    assert!(values[7] < values[0] - 1e-4, "all starts converge to the same solution: {values:?}");
}

#[test]
fn a_search_that_begins_on_a_subsample_converges_to_the_solution_of_all_rows() {
    let (k, a) = (4, mixing(4, 4, 11));
    let x = mix(&mixed_kinds(60_000, k, 11), &a);
    let (all, some) = (json!({"tol": 1e-9, "subsample": 0}), json!({"tol": 1e-9}));
    near(all.clone(), some.clone(), &x, k, 1e-7);
    near(all.clone(), json!({"tol": 1e-9, "subsample": 3000, "algorithm": "fastica"}), &x, k, 1e-7);
    near(
        json!({"ortho": false, "extended": true, "tol": 1e-9, "subsample": 0}),
        json!({"ortho": false, "extended": true, "tol": 1e-9}),
        &x,
        k,
        1e-7,
    );
    let [all, some] = [all, some].map(|given| fit("ica", given, &x, k));
    assert_eq!(some.report().outcome, unmix::Outcome::Converged);
    let (few, many) = (some.report().sweeps, all.report().sweeps);
    assert!(few < many, "{few} passes and {many}");
    // With `w_init` there is no search on a subset of the rows, so all iterations are counted.
    let turn = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    let objective = |given: Value| fit("ica", given, &x, k).report().objective.len();
    assert_eq!(objective(json!({"max_iter": 3, "w_init": turn})), 3);
    assert_eq!(fit("ica", json!({"max_iter": 2}), &x, k).report().n_iter, 2);
}

#[test]
fn both_orders_of_two_layers_have_one_solution_near_that_of_the_fixed_point() {
    // The mixing matrix is far from orthogonal, so a single orthonormal layer could not unmix it.
    let (k, a) = (4, mixing(4, 4, 12));
    let x = mix(&laplace(20_000, k, 12), &a);
    let first = json!({"algorithm": "sigma-pca", "tol": 1e-8});
    let both = json!({"algorithm": "sigma-pca", "tol": 1e-8, "first_layer": "sigma-pca"});
    near(first.clone(), both, &x, k, 1e-4);
    let model = fit("ica", first, &x, k);
    let found = super::made::amari(&super::made::gain(&model, &a));
    let fixed = super::made::amari(&super::made::gain(&fit("ica", json!({}), &x, k), &a));
    assert!(found < 1.5 * fixed, "{found} and {fixed}");
    assert_eq!(
        (model.report().solver.as_str(), model.report().outcome),
        ("sigma-pca", unmix::Outcome::Converged)
    );
}

#[test]
fn both_orders_agree_on_sources_of_all_kinds() {
    // The width `a` of each component is chosen during the fit, and hardly matters for Student's t, which is close to Gaussian: at
    // convergence both orders of the layers must have chosen the same one.
    for seed in 0..4 {
        let (k, a) = (8, mixing(8, 8, seed));
        let x = mix(&mixed_kinds(5000, k, seed), &a);
        let of = |first: &str| json!({"algorithm": "sigma-pca", "tol": 1e-8, "max_iter": 2000, "first_layer": first});
        near(of("pca"), of("sigma-pca"), &x, k, 1e-5);
        let far = super::made::amari(&super::made::gain(&fit("ica", of("pca"), &x, k), &a));
        assert!(far < 0.015, "seed {seed}: {far}");
    }
}

/// Maximum likelihood by the natural gradient as first published: `W <- W - m (E[psi(y) y'] - I) W`, with plain sums, from the
/// identity.
fn natural_gradient(x: &Matrix<f64>, psi: impl Fn(f64) -> f64) -> Matrix<f64> {
    let (n, k) = (x.rows(), x.cols());
    let mut w = Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)));
    for _ in 0..4000 {
        let y = unmix::internal::num::factor::multiply_transposed(x, &w);
        let gradient = Matrix::from_fn(k, k, |i, j| {
            (0..n).map(|r| psi(y[(r, i)]) * y[(r, j)]).sum::<f64>() / n as f64 - f64::from(u8::from(i == j))
        });
        if gradient.as_slice().iter().all(|g| g.abs() < 1e-9) {
            return w;
        }
        let step = unmix::internal::num::factor::multiply(&gradient, &w);
        w = Matrix::from_fn(k, k, |i, j| w[(i, j)] - 0.5 * step[(i, j)]);
    }
    panic!("the plain iteration does not converge");
}

#[test]
fn without_orthogonality_ica_is_maximum_likelihood_with_the_named_density() {
    let (n, k) = (1200, 3);
    let a = Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)) + 0.2 * mixing(k, k, 20)[(i, j)]);
    let x = mix(&laplace(n, k, 20), &a);
    let centred = {
        let mean: Vec<f64> = (0..k).map(|j| (0..n).map(|i| x[i * k + j]).sum::<f64>() / n as f64).collect();
        Matrix::from_fn(n, k, |i, j| x[i * k + j] - mean[j])
    };
    type Density = fn(f64) -> f64;
    let cases: [(Value, Density); 3] = [
        (json!({"ortho": false}), f64::tanh),
        (json!({"algorithm": "infomax"}), |y| (0.5 * y).tanh()),
        (json!({"algorithm": "infomax", "extended": true}), |y| y + y.tanh()),
    ];
    for (mut given, psi) in cases {
        (given["whiten"], given["tol"]) = (json!(false), json!(1e-9));
        let found = fit("ica", given.clone(), &x, k).tensor("components").unwrap().to_matrix();
        let plain = natural_gradient(&centred, psi);
        let pairs = unmix::metrics::match_rows(&plain, &found);
        for i in 0..k {
            let (j, sign) = (pairs.order[i], pairs.sign[i]);
            let apart = (0..k).map(|c| (plain[(i, c)] - sign * found[(j, c)]).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-6, "{given}: {apart:e}");
        }
    }
}

#[test]
fn easi_converges_to_the_solution_of_rotations() {
    let (k, a) = (5, mixing(5, 5, 21));
    let x = mix(&mixed_kinds(6000, k, 21), &a);
    for whiten in [json!("unit-variance"), json!(false)] {
        let given = json!({"algorithm": "easi", "tol": 1e-10, "whiten": whiten, "max_iter": 1000});
        let model = fit("ica", given, &x, k);
        let rotation = fit("ica", json!({"tol": 1e-10}), &x, k);
        let [m, r] = [&model, &rotation].map(|m| m.tensor("components").unwrap().to_matrix());
        let cosine = unmix::metrics::match_rows(&m, &r).cosine;
        assert!(cosine.iter().all(|c| 1.0 - c < 1e-12), "{whiten}: {cosine:?}");
    }
}

/// Solves `a x = b` by Gaussian elimination with pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for c in 0..n {
        let pivot = (c..n).max_by(|&i, &j| a[i][c].abs().total_cmp(&a[j][c].abs())).unwrap();
        a.swap(c, pivot);
        b.swap(c, pivot);
        for i in c + 1..n {
            let share = a[i][c] / a[c][c];
            (0..n).for_each(|j| a[i][j] -= share * a[c][j]);
            b[i] -= share * b[c];
        }
    }
    for c in (0..n).rev() {
        b[c] = (b[c] - (c + 1..n).map(|j| a[c][j] * b[j]).sum::<f64>()) / a[c][c];
    }
    b
}

/// The score function fitted to a source: the combination of `y`, `tanh y` and `tanh^j y / cosh² y` whose covariances with these
/// functions equal their mean derivatives.
fn fitted_score(y: &[f64]) -> Vec<f64> {
    let n = y.len() as f64;
    let functions = |y: f64| {
        let (t, q) = (y.tanh(), 1.0 - y.tanh().powi(2));
        [y, t, q, q * t, q * t * t, q * t * t * t]
    };
    // Derivatives by central differences.
    let slope = |i: usize, y: f64| (functions(y + 1e-5)[i] - functions(y - 1e-5)[i]) / 2e-5;
    let mean = |f: &dyn Fn(f64) -> f64| y.iter().map(|&y| f(y)).sum::<f64>() / n;
    let means: Vec<f64> = (0..6).map(|i| mean(&|y| functions(y)[i])).collect();
    let covariance = (0..6).map(|i| {
        (0..6).map(|j| mean(&|y| functions(y)[i] * functions(y)[j]) - means[i] * means[j]).collect()
    });
    let factors = solve(covariance.collect(), (0..6).map(|i| mean(&|y| slope(i, y))).collect());
    y.iter().map(|&y| functions(y).iter().zip(&factors).map(|(h, c)| c * h).sum()).collect()
}

#[test]
fn quasi_maximum_likelihood_makes_each_source_uncorrelated_with_the_fitted_scores_of_the_others() {
    let (n, k) = (3000, 4);
    let x = mix(&mixed_kinds(n, k, 22), &mixing(k, k, 22));
    let largest = |given: Value| {
        let y = super::made::sources(&fit("ica", given, &x, k), &x);
        let column = |i: usize| (0..n).map(|r| y[(r, i)]).collect::<Vec<f64>>();
        let mut most = 0.0f64;
        for i in 0..k {
            let psi = fitted_score(&column(i));
            for j in (0..k).filter(|&j| j != i) {
                let mean = psi.iter().zip(column(j)).map(|(p, y)| p * y).sum::<f64>() / n as f64;
                most = most.max(mean.abs());
            }
        }
        most
    };
    let fitted = largest(json!({"fun": "adaptive", "ortho": false, "tol": 1e-9}));
    let fixed = largest(json!({"ortho": false, "extended": true, "tol": 1e-9}));
    assert!(fitted < 1e-3 * fixed, "{fitted:e}, by a fixed contrast {fixed:e}");
}
