//! Derivatives of the expected reconstruction error in all pairs of parameters, by finite differences, and the identities of full noise at
//! convergence.

use super::identities::{Fixture, PLAIN, inverse, log_determinant, made, psi_matrix};
use super::{centred, fit, inner, normal};
use crate::made::{apart, encode};
use serde_json::json;
use unmix::internal::num::{Matrix, factor};
use unmix::internal::rectified::statistics::{Expected, Moments};
use unmix::internal::rectified::{Noise, Normalisation, Parameters, Posterior, Statistics};

/// The expected reconstruction error for the moments of a fixture, plus a constant: the divergence of its codes from the prior.
struct ErrorFunction {
    made: Fixture,
    stats: Statistics,
    s: Matrix<f64>,
}

impl ErrorFunction {
    fn new(m: usize, l: usize, full: bool) -> Self {
        let made = made(50, m, l, PLAIN, full);
        let stats = Statistics::new(&made.sums, Normalisation::Rms);
        let s = stats.second_moments(&made.posterior);
        Self { made, stats, s }
    }

    /// The second moments of the residuals, all or those of each column, as the noise has them.
    fn expected(&self, w: &Matrix<f64>, noise: &Noise) -> Expected {
        let c = &self.made.c;
        let moments = match noise {
            Noise::Full(_) => Moments::Full(c.clone()),
            Noise::Diagonal(_) => Moments::Diagonal((0..c.rows()).map(|k| c[(k, k)]).collect()),
        };
        Expected::new(w, &self.stats, &self.s, &moments)
    }

    fn at(&self, w: &Matrix<f64>, noise: &Noise) -> f64 {
        let parameters = Parameters { w: w.clone(), noise: noise.clone() };
        let log_noise = log_determinant(&psi_matrix(noise));
        let posterior = Posterior { log_noise, ..self.made.posterior.clone() };
        -self.stats.objective(&parameters, &posterior, PLAIN, &self.expected(w, noise))
    }

    /// The error with the fixture's noise, at its loadings with numbers added to two of them.
    fn moved(&self, (a, by_a): (usize, f64), (b, by_b): (usize, f64)) -> f64 {
        let mut w = self.made.parameters.w.clone();
        w.as_mut_slice()[a] += by_a;
        w.as_mut_slice()[b] += by_b;
        self.at(&w, &self.made.parameters.noise)
    }
}

/// The mixed second derivative of a function of two numbers at 0.
fn mixed(h: f64, at: impl Fn(f64, f64) -> f64) -> f64 {
    (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4.0 * h * h)
}

/// Symmetric matrices that span all of this size.
fn directions(m: usize) -> Vec<Matrix<f64>> {
    let pairs = (0..m).flat_map(|a| (0..=a).map(move |b| (a, b)));
    let one = |(a, b): (usize, usize)| {
        let mut d: Matrix<f64> = Matrix::zeros(m, m);
        d[(a, b)] += 0.5;
        d[(b, a)] += 0.5;
        d
    };
    pairs.map(one).collect()
}

/// `a + x d + y e`.
fn along(a: &Matrix<f64>, (x, d): (f64, &Matrix<f64>), (y, e): (f64, &Matrix<f64>)) -> Matrix<f64> {
    Matrix::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)] + x * d[(i, j)] + y * e[(i, j)])
}

/// `tr(a d a e)`.
fn product_form(a: &Matrix<f64>, d: &Matrix<f64>, e: &Matrix<f64>) -> f64 {
    inner(&factor::multiply(&factor::multiply(a, d), a), e)
}

/// The error is quadratic in the loadings, so that differences are exact with any step.
#[test]
fn the_hessian_in_the_loadings_is_the_product_of_both_matrices_for_every_pair() {
    let (m, l) = (5, 3);
    for full in [false, true] {
        let error = ErrorFunction::new(m, l, full);
        let precision = inverse(&psi_matrix(&error.made.parameters.noise));
        let ws = factor::multiply(&error.made.parameters.w, &error.s);
        let left = along(&error.stats.u, (-1.0, &ws), (0.0, &ws));
        let gradient = factor::multiply(&precision, &left);
        for a in 0..m * l {
            let slope = (error.moved((a, 0.1), (a, 0.0)) - error.moved((a, -0.1), (a, 0.0))) / 0.2;
            let want = -gradient.as_slice()[a];
            assert!((slope - want).abs() < 1e-9 * (1.0 + want.abs()), "{full} {a}: {slope} {want}");
            for b in 0..=a {
                let found = mixed(0.1, |x, y| error.moved((a, x), (b, y)));
                let want = error.s[(a % l, b % l)] * precision[(a / l, b / l)];
                assert!((found - want).abs() < 1e-9 * (1.0 + want.abs()), "{full} {a} {b}: {found} {want}");
            }
        }
    }
}

/// The gradient at any noise; the Hessian of twice the error in the noise where this is `E`, and in its inverse anywhere.
#[test]
fn derivatives_in_full_noise_are_those_of_the_step() {
    let (m, l) = (5, 3);
    let error = ErrorFunction::new(m, l, true);
    let w = &error.made.parameters.w;
    let psi = psi_matrix(&error.made.parameters.noise);
    let precision = inverse(&psi);
    let Moments::Full(e) = error.expected(w, &Noise::Full(psi.clone())).e else { panic!("not full") };
    let at = |psi: Matrix<f64>| error.at(w, &Noise::Full(psi));
    let pep = factor::multiply(&factor::multiply(&precision, &e), &precision);
    let gradient = Matrix::from_fn(m, m, |i, j| 0.5 * (precision[(i, j)] - pep[(i, j)]));
    let at_e = inverse(&e);
    let all = directions(m);
    let h = 3e-4;
    for d in &all {
        let moved = |x: f64| at(along(&psi, (x, d), (0.0, d)));
        let (slope, want) = ((moved(1e-5) - moved(-1e-5)) / 2e-5, inner(&gradient, d));
        assert!((slope - want).abs() < 1e-7 * (1.0 + want.abs()), "{slope} {want}");
        for other in &all {
            let found = 2.0 * mixed(h, |x, y| at(along(&e, (x, d), (y, other))));
            let want = product_form(&at_e, d, other);
            assert!((found - want).abs() < 1e-5, "{found} {want}");
            let found = 2.0 * mixed(h, |x, y| at(inverse(&along(&precision, (x, d), (y, other)))));
            let want = product_form(&psi, d, other);
            // The largest of these numbers is 73.
            assert!((found - want).abs() < 4e-3, "{found} {want}");
        }
    }
}

/// With full noise, and no bound on it, the covariance of the model is that of the rows, and the residuals have the covariance that the posterior
/// leaves, as matrices; with diagonal noise only their diagonals do.
#[test]
fn at_convergence_of_full_noise_covariances_are_those_of_the_rows() {
    let (n, m, l) = (80, 6, 3);
    let x = centred(normal(n, m, 4));
    let mean_of = |a: &Matrix<f64>, b: &Matrix<f64>| {
        let mut out = factor::multiply(&a.transposed(), b);
        out.as_mut_slice().iter_mut().for_each(|v| *v /= n as f64);
        out
    };
    for e_step in ["coordinate", "plain"] {
        let given = json!({
            "n_components": l, "e_step": e_step, "noise": "full", "max_iter": 4000, "tol": 1e-7, "psi_min": 1e-9,
            "learning_rate": 1.0,
        });
        let model = fit(x.as_slice(), m, given);
        assert_eq!(model.report().outcome.name(), "converged", "{e_step}: {:?}", model.report().residual);
        let w = model.tensor("components").unwrap().to_matrix().transposed();
        let s = model.tensor("code_moments").unwrap().to_matrix();
        let psi = model.tensor("noise_covariance").unwrap().to_matrix();
        let codes = Matrix::from_vec(n, l, encode(&model, x.as_slice()));
        let (c, u) = (mean_of(&x, &x), mean_of(&x, &codes));
        let ws = factor::multiply(&w, &s);
        assert!(
            apart(ws.as_slice(), u.as_slice()) < 1e-5,
            "{e_step}: the loadings are not those of the ridge"
        );
        let wsw = factor::multiply_transposed(&ws, &w);
        for cross in [factor::multiply_transposed(&w, &u), factor::multiply_transposed(&u, &w)] {
            assert!(apart(cross.as_slice(), wsw.as_slice()) < 1e-5, "{e_step}");
        }
        let covariance = along(&psi, (1.0, &wsw), (0.0, &wsw));
        assert!(apart(covariance.as_slice(), c.as_slice()) < 1e-5, "{e_step}: {covariance:?} {c:?}");
        let fitted = factor::multiply_transposed(&codes, &w);
        let left = along(&x, (-1.0, &fitted), (0.0, &fitted));
        let k = along(&factor::multiply_transposed(&w, &w), (1.0, &psi), (0.0, &psi));
        let want = factor::multiply(&factor::multiply(&psi, &inverse(&k)), &psi);
        let residuals = mean_of(&left, &left);
        assert!(apart(residuals.as_slice(), want.as_slice()) < 1e-5, "{e_step}: {residuals:?} {want:?}");
        let trace = |a: &Matrix<f64>| (0..m).map(|i| a[(i, i)]).sum::<f64>();
        assert!(trace(&residuals) <= trace(&inverse(&k)) * trace(&psi).powi(2), "{e_step}");
    }
}
