//! Newton's method on the uniquenesses: its Hessian, and the number of its steps.

use super::{fit, made};
use crate::made::numbers;
use crate::naive;
use serde_json::json;
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Outcome};

/// `f = -2 log L / n - p log 2 pi` at the best loadings, as a function of the logarithms of the uniquenesses.
///
/// ```text
/// S* = Psi^(-1/2) S Psi^(-1/2)     eigenpairs theta_1 >= theta_2 >= ..., w_j;  k = #{j <= q: theta_j > 1}
/// A = I - W W',  B = S* - W Theta W'
/// Hessian = A o B + sum_{l <= k} w_l w_l' o sum_{m > k} (theta_m - 1) (theta_m + theta_l) / (theta_m - theta_l) w_m w_m'
/// ```
struct Concentrated {
    value: f64,
    gradient: Vec<f64>,
    /// `A o B`, which is the Hessian where the model fits the covariance.
    approximate: Matrix<f64>,
    hessian: Matrix<f64>,
}

impl Concentrated {
    /// At the logarithms `x` of the uniquenesses, for `q` factors of columns with covariance `s` (divisor `n`).
    fn at(s: &Matrix<f64>, x: &[f64], q: usize) -> Self {
        let p = x.len();
        let scaled = Matrix::from_fn(p, p, |i, j| s[(i, j)] * (-0.5 * (x[i] + x[j])).exp());
        let (theta, w) = factor::eigh(&scaled).unwrap();
        let k = theta[..q].iter().take_while(|t| **t > 1.0).count();
        let product = |i: usize, j: usize, of: &dyn Fn(usize) -> f64| {
            (0..k).map(|l| of(l) * w[(l, i)] * w[(l, j)]).sum::<f64>()
        };
        let a = Matrix::from_fn(p, p, |i, j| f64::from(u8::from(i == j)) - product(i, j, &|_| 1.0));
        let b = Matrix::from_fn(p, p, |i, j| scaled[(i, j)] - product(i, j, &|l| theta[l]));
        let rest = |l: usize, i: usize, j: usize| {
            let share = |m: usize| (theta[m] - 1.0) * (theta[m] + theta[l]) / (theta[m] - theta[l]);
            (k..p).map(|m| share(m) * w[(m, i)] * w[(m, j)]).sum::<f64>()
        };
        let residual =
            |i: usize, j: usize| (0..k).map(|l| w[(l, i)] * w[(l, j)] * rest(l, i, j)).sum::<f64>();
        let above: f64 = theta[..k].iter().map(|t| t.ln() + 1.0 - t).sum();
        let trace: f64 = (0..p).map(|i| scaled[(i, i)]).sum();
        Self {
            value: x.iter().sum::<f64>() + above + trace,
            gradient: (0..p).map(|i| a[(i, i)] - b[(i, i)]).collect(),
            approximate: Matrix::from_fn(p, p, |i, j| a[(i, j)] * b[(i, j)]),
            hessian: Matrix::from_fn(p, p, |i, j| a[(i, j)] * b[(i, j)] + residual(i, j)),
        }
    }
}

/// The covariance of the columns, divisor `n`.
fn covariance_of(x: &[f64], p: usize) -> Matrix<f64> {
    let (s, n) = (naive::covariance(x, p), (x.len() / p) as f64);
    Matrix::from_fn(p, p, |i, j| s[i][j] * (n - 1.0) / n)
}

#[test]
fn gradient_and_exact_hessian_of_the_concentrated_likelihood_are_those_of_differences() {
    for (n, p, q, seed) in [(300, 9, 2, 2), (100, 12, 3, 3), (60, 8, 1, 4)] {
        let x = made(n, p, q, seed);
        let s = covariance_of(&x, p);
        let model = fit(json!({"n_components": q, "tol": 0.0, "max_iter": 1}), &x, p);
        let at: Vec<f64> = numbers(&model, "noise_variance").iter().map(|psi| psi.ln()).collect();
        let found = Concentrated::at(&s, &at, q);
        let step = 1e-5;
        for i in 0..p {
            let moved = |by: f64| {
                let mut to = at.clone();
                to[i] += by;
                Concentrated::at(&s, &to, q)
            };
            let (up, down) = (moved(step), moved(-step));
            let slope = (up.value - down.value) / (2.0 * step);
            assert!((slope - found.gradient[i]).abs() < 1e-7, "{i}: {slope} {}", found.gradient[i]);
            for j in 0..p {
                let slope = (up.gradient[j] - down.gradient[j]) / (2.0 * step);
                let want = found.hessian[(i, j)];
                assert!((slope - want).abs() < 1e-6, "{i}, {j}: {slope} {want}");
            }
        }
        // The terms that Newton's method leaves out are not 0 here.
        let parts = found.hessian.as_slice().iter().zip(found.approximate.as_slice());
        let left_out = parts.fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!((1e-3..0.1).contains(&left_out), "{left_out}");
    }
}

/// The residual is the rise of the log-likelihood that a step predicts, `n g' H^-1 g / 4`, with `H = A o B`.
#[test]
fn the_predicted_rise_is_that_of_the_approximate_hessian() {
    for (n, p, q, seed) in [(300, 9, 2, 2), (100, 12, 3, 3), (60, 8, 1, 4)] {
        let x = made(n, p, q, seed);
        for max_iter in [1, 2] {
            let model = fit(json!({"n_components": q, "tol": 0.0, "max_iter": max_iter}), &x, p);
            // No column is at a bound, and no eigenvalue is raised.
            assert!(numbers(&model, "heywood").is_empty(), "{n} x {p}");
            let at: Vec<f64> = numbers(&model, "noise_variance").iter().map(|psi| psi.ln()).collect();
            let Concentrated { gradient, approximate, .. } = Concentrated::at(&covariance_of(&x, p), &at, q);
            assert!(factor::eigenvalues(&approximate).unwrap().iter().all(|v| *v > 0.01), "{n} x {p}");
            let solved = factor::Cholesky::new(&approximate)
                .expect("positive definite")
                .solve_rows(&Matrix::from_vec(1, p, gradient.clone()));
            let product: f64 = gradient.iter().zip(solved.as_slice()).map(|(g, d)| g * d).sum();
            let (rise, found) = (0.25 * n as f64 * product, model.report().residual.unwrap());
            assert!((found / rise - 1.0).abs() < 1e-9, "{n} x {p}, {max_iter}: {found} {rise}");
        }
    }
}

/// Rows as in scikit-learn's own test of factor analysis: three factors in five columns, and noise whose standard deviation has an exponential
/// distribution.
fn twenty_rows(seed: u64) -> Vec<f64> {
    let (n, p, q) = (20, 5, 3);
    let [loadings, factors, size, noise] = [0, 1, 2, 3].map(|part| Stream::new(seed, part));
    let entry = |i: usize, j: usize| {
        let term = |c: usize| factors.normal((i * q + c) as u64) * loadings.normal((c * p + j) as u64);
        let common: f64 = (0..q).map(term).sum();
        common - size.uniform(j as u64).ln() * noise.normal((i * p + j) as u64)
    };
    (0..n * p).map(|at| entry(at / p, at % p)).collect()
}

#[test]
fn few_newton_steps_suffice_on_heywood_data() {
    for (n, p, q, seed) in [(100, 20, 3, 0), (50, 20, 5, 1), (60, 30, 8, 2), (200, 12, 6, 3), (40, 10, 4, 4)]
    {
        let x = made(n, p, q, 100 + seed);
        let model = fit(json!({"n_components": q}), &x, p);
        assert!(
            model.report().outcome == Outcome::Converged && model.report().n_iter <= 20,
            "{}",
            model.report().n_iter
        );
        assert!(n > 40 || !numbers(&model, "heywood").is_empty(), "no Heywood case");
    }
    // Two factors make one of the columns a Heywood case in three fits of four.
    for tol in [1e-2, 1e-4] {
        let mut cases = 0;
        for seed in 0..40 {
            let model = fit(json!({"n_components": 2, "tol": tol}), &twenty_rows(seed), 5);
            let (report, at_floor) = (model.report(), numbers(&model, "heywood"));
            assert_eq!(report.outcome, Outcome::Converged, "tolerance {tol}, seed {seed}");
            assert!(report.n_iter <= 20, "tolerance {tol}, seed {seed}: {} steps", report.n_iter);
            cases += usize::from(!at_floor.is_empty());
        }
        assert!(cases >= 28, "tolerance {tol}: a Heywood case in {cases} of 40 fits");
    }
}

/// Rows as in the row `fa` of the benchmarks (bench/harness/data.py): factors of falling size, noise of another variance in every column, and
/// a mean.
#[test]
fn few_newton_steps_suffice_on_the_row_of_the_benchmarks() {
    let (n, p, q) = (20_000, 100, 10);
    let [own, size, centre, factors, noise] = [0, 1, 2, 3, 4].map(|part| Stream::new(1, part));
    let share = |c: usize| ((q - c) as f64 / q as f64).sqrt();
    let loadings = Matrix::from_fn(q, p, |c, j| share(c) * own.normal((j * q + c) as u64));
    let factors = Matrix::from_fn(n, q, |i, c| factors.normal((i * q + c) as u64));
    let size: Vec<f64> = (0..p).map(|j| (0.3 + 2.7 * size.uniform(j as u64)).sqrt()).collect();
    let centre: Vec<f64> = (0..p).map(|j| centre.normal(j as u64)).collect();
    let mut x = factor::multiply(&factors, &loadings).into_vec();
    for (at, x) in x.iter_mut().enumerate() {
        *x += centre[at % p] + size[at % p] * noise.normal(at as u64);
    }
    // A prototype took 3 steps to the default tolerance.
    for (tol, most) in [(1e-2, 4), (1e-8, 20)] {
        let model = fit(json!({"n_components": q, "tol": tol}), &x, p);
        let report = model.report();
        assert_eq!(report.outcome, Outcome::Converged, "tolerance {tol}");
        assert!(report.n_iter <= most, "tolerance {tol}: {} steps", report.n_iter);
    }
}
