//! Sections 1, 2, 5 and 7 of the theory: equal forms, the objective from sums, gradients by differences.

use super::{centred, fit, inner, normal};
use crate::made::{apart, numbers};
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::internal::num::{Matrix, factor};
use unmix::internal::rectified::statistics::{Expected, Moments};
use unmix::internal::rectified::{
    CodeSums, GatherCodes, MStep, Noise, Normalisation, Parameters, Posterior, Prior, Statistics, Step,
};
use unmix::stats::Gather;
use unmix::{Rows, Run};

pub(super) const PLAIN: Prior = Prior { mean: 0.0, variance: 1.0 };
const OTHER: Prior = Prior { mean: -0.4, variance: 1.7 };

/// Rows, parameters, posterior, sums over rectified codes.
pub(super) struct Fixture {
    pub(super) x: Matrix<f64>,
    pub(super) parameters: Parameters,
    pub(super) posterior: Posterior,
    pub(super) sums: CodeSums,
    pub(super) c: Matrix<f64>,
}

pub(super) fn made(n: usize, m: usize, l: usize, prior: Prior, full: bool) -> Fixture {
    let x = centred(normal(n, m, 1));
    let draws = Stream::new(3, 1);
    let psi: Vec<f64> = (0..m).map(|k| 0.2 + draws.uniform(k as u64)).collect();
    let root = normal(m, m, 9);
    let noise = match full {
        false => Noise::Diagonal(psi),
        true => {
            let mut of = factor::multiply_transposed(&root, &root);
            (0..m).for_each(|k| of[(k, k)] += psi[k]);
            Noise::Full(of)
        }
    };
    let parameters = Parameters { w: normal(m, l, 2), noise };
    let posterior = parameters.posterior(prior).unwrap();
    let gather = GatherCodes::<f64>::new(vec![0.0; m], &posterior.b, posterior.bias.clone()).with_sums();
    let sums = Rows::from_slice(x.as_slice(), m).unwrap().sweep(&Run::default(), "codes", &gather).unwrap();
    let mut c = factor::multiply(&x.transposed(), &x);
    c.as_mut_slice().iter_mut().for_each(|c| *c /= n as f64);
    Fixture { x, parameters, posterior, sums, c }
}

pub(super) fn psi_matrix(noise: &Noise) -> Matrix<f64> {
    match noise {
        Noise::Diagonal(psi) => {
            Matrix::from_fn(psi.len(), psi.len(), |i, j| if i == j { psi[i] } else { 0.0 })
        }
        Noise::Full(psi) => psi.clone(),
    }
}

pub(super) fn inverse(a: &Matrix<f64>) -> Matrix<f64> {
    factor::Cholesky::new(a)
        .unwrap()
        .solve_rows(&Matrix::from_fn(a.rows(), a.rows(), |i, j| f64::from(u8::from(i == j))))
}

pub(super) fn log_determinant(a: &Matrix<f64>) -> f64 {
    factor::eigenvalues(a).unwrap().iter().map(|v| v.ln()).sum()
}

/// Scaled codes of every row, as a matrix.
fn codes(made: &Fixture, scale: &[f64]) -> Matrix<f64> {
    let p = factor::multiply(&made.x, &made.posterior.b);
    Matrix::from_fn(p.rows(), p.cols(), |i, j| (p[(i, j)] + made.posterior.bias[j]).max(0.0) * scale[j])
}

#[test]
fn both_forms_of_the_posterior_are_one() {
    for (m, l) in [(12, 7), (7, 12), (6, 6), (5, 1)] {
        for (prior, full) in [(PLAIN, false), (OTHER, false), (OTHER, true)] {
            let made = made(40, m, l, prior, full);
            let [a, b] = [false, true].map(|wide| made.parameters.posterior_through(prior, wide).unwrap());
            assert!(apart(a.b.as_slice(), b.b.as_slice()) < 1e-11, "{m} {l}");
            assert!(apart(a.sigma.as_slice(), b.sigma.as_slice()) < 1e-11, "{m} {l}");
            assert!(apart(&a.bias, &b.bias) < 1e-11 && (a.log_sigma - b.log_sigma).abs() < 1e-10, "{m} {l}");
            // mu_p = xi + T W' K^-1 (v - W xi).
            let t = prior.variance;
            let mut k = factor::multiply_transposed(&made.parameters.w, &made.parameters.w);
            k.as_mut_slice().iter_mut().for_each(|x| *x *= t);
            let psi = psi_matrix(&made.parameters.noise);
            k.as_mut_slice().iter_mut().zip(psi.as_slice()).for_each(|(k, p)| *k += p);
            let kw = factor::multiply(&inverse(&k), &made.parameters.w);
            let about: Vec<f64> =
                (0..m).map(|k| made.parameters.w.row(k).iter().sum::<f64>() * prior.mean).collect();
            for i in 0..3 {
                for j in 0..l {
                    let direct: f64 = (0..m).map(|k| (made.x[(i, k)] - about[k]) * kw[(k, j)] * t).sum();
                    let ours: f64 = (0..m).map(|k| made.x[(i, k)] * a.b[(k, j)]).sum::<f64>() + a.bias[j];
                    assert!((prior.mean + direct - ours).abs() < 1e-11);
                }
            }
        }
    }
}

#[test]
fn sums_of_a_pass_are_those_of_the_codes() {
    let made = made(60, 12, 7, OTHER, false);
    let ones = vec![1.0; 7];
    let h = codes(&made, &ones);
    let cross = factor::multiply(&made.x.transposed(), &h);
    assert!(apart(made.sums.cross.as_slice(), cross.as_slice()) < 1e-11);
    let stats = Statistics::new(&made.sums, Normalisation::Rms);
    for j in 0..7 {
        let squares: f64 = (0..60).map(|i| (h[(i, j)] * stats.scale[j]).powi(2)).sum();
        assert!((squares / 60.0 - 1.0).abs() < 1e-12 && (stats.m[(j, j)] - 1.0).abs() < 1e-12);
        let mean: f64 = (0..60).map(|i| h[(i, j)] * stats.scale[j]).sum::<f64>() / 60.0;
        assert!((mean - stats.means[j]).abs() < 1e-12);
    }
    let stats = Statistics::new(&made.sums, Normalisation::Std);
    for j in 0..7 {
        assert!((stats.m[(j, j)] - stats.means[j] * stats.means[j] - 1.0).abs() < 1e-12);
    }
}

/// The objective row by row: log-likelihood less the divergence from the posterior.
fn objective_by_rows(made: &Fixture, prior: Prior, mu: &Matrix<f64>) -> f64 {
    let (n, m, l) = (made.x.rows(), made.x.cols(), mu.cols());
    let w = &made.parameters.w;
    let mut k = factor::multiply_transposed(w, w);
    k.as_mut_slice().iter_mut().for_each(|x| *x *= prior.variance);
    let psi = psi_matrix(&made.parameters.noise);
    k.as_mut_slice().iter_mut().zip(psi.as_slice()).for_each(|(k, p)| *k += p);
    let ki = inverse(&k);
    let g = inverse(&made.posterior.sigma);
    let p = factor::multiply(&made.x, &made.posterior.b);
    let mut total = 0.0;
    for i in 0..n {
        let v: Vec<f64> =
            (0..m).map(|q| made.x[(i, q)] - prior.mean * w.row(q).iter().sum::<f64>()).collect();
        let quadratic: f64 = (0..m).map(|a| (0..m).map(|b| v[a] * ki[(a, b)] * v[b]).sum::<f64>()).sum();
        let likelihood =
            -0.5 * (m as f64 * (2.0 * std::f64::consts::PI).ln() + log_determinant(&k) + quadratic);
        let d: Vec<f64> = (0..l).map(|j| mu[(i, j)] - p[(i, j)] - made.posterior.bias[j]).collect();
        let apart: f64 = (0..l).map(|a| (0..l).map(|b| d[a] * g[(a, b)] * d[b]).sum::<f64>()).sum();
        total += likelihood - 0.5 * apart;
    }
    total / n as f64
}

#[test]
fn the_objective_is_the_likelihood_less_the_divergence() {
    for (m, l) in [(12, 7), (7, 12)] {
        for (prior, full) in [(PLAIN, false), (OTHER, false), (OTHER, true)] {
            let made = made(60, m, l, prior, full);
            let stats = Statistics::new(&made.sums, Normalisation::Rms);
            let s = stats.second_moments(&made.posterior);
            let c = match full {
                true => Moments::Full(made.c.clone()),
                false => Moments::Diagonal((0..m).map(|k| made.c[(k, k)]).collect()),
            };
            let expected = Expected::new(&made.parameters.w, &stats, &s, &c);
            let ours = stats.objective(&made.parameters, &made.posterior, prior, &expected);
            let mu = codes(&made, &stats.scale);
            let rows = objective_by_rows(&made, prior, &mu);
            assert!((ours - rows).abs() < 1e-9 * rows.abs(), "{m} {l} {full}: {ours} {rows}");
            // E is the mean square of the residuals, plus the posterior variance of the fitted values.
            let left = factor::multiply_transposed(&mu, &made.parameters.w);
            let wsw = factor::multiply_transposed(
                &factor::multiply(&made.parameters.w, &made.posterior.sigma),
                &made.parameters.w,
            );
            for (k, e) in expected.diagonal().into_iter().enumerate() {
                let mean: f64 = (0..60).map(|i| (made.x[(i, k)] - left[(i, k)]).powi(2)).sum::<f64>() / 60.0;
                assert!((e - mean - wsw[(k, k)]).abs() < 1e-10, "{e} {mean}");
            }
            // Differences of the divergence need U and M alone.
            let g = made.parameters.precision(&made.posterior.a, prior);
            let other = Statistics::new(&made.sums, Normalisation::None);
            let value = |stats: &Statistics| {
                let s = stats.second_moments(&made.posterior);
                let expected = Expected::new(&made.parameters.w, stats, &s, &c);
                stats.objective(&made.parameters, &made.posterior, prior, &expected)
            };
            let fall = stats.divergence_of_means(&g, &made.posterior.a, prior)
                - other.divergence_of_means(&g, &made.posterior.a, prior);
            assert!((fall - (value(&other) - value(&stats))).abs() < 1e-9, "{fall}");
            if !full {
                // W Sigma W' = Psi - Psi K^-1 Psi, and tr(G M) = tr(M / T) + tr(A' W M).
                let wm = factor::multiply(&made.parameters.w, &stats.m);
                let trace: f64 = (0..l).map(|j| stats.m[(j, j)]).sum();
                let direct = trace / prior.variance + inner(&made.posterior.a, &wm);
                assert!((inner(&g, &stats.m) - direct).abs() < 1e-9 * direct.abs());
            }
        }
    }
}

/// The expected reconstruction error at other parameters, for the same moments.
fn error_at(made: &Fixture, stats: &Statistics, s: &Matrix<f64>, w: &Matrix<f64>, psi: &[f64]) -> f64 {
    let m = w.rows();
    let c = Moments::Diagonal((0..m).map(|k| made.c[(k, k)]).collect());
    let e = Expected::new(w, stats, s, &c).diagonal();
    let two_pi = 2.0 * std::f64::consts::PI;
    0.5 * (0..m).map(|k| two_pi.ln() + psi[k].ln() + e[k] / psi[k]).sum::<f64>()
}

#[test]
fn the_gradient_and_the_hessian_of_the_error_are_those_of_the_step() {
    let (m, l) = (9, 5);
    let made = made(50, m, l, PLAIN, false);
    let stats = Statistics::new(&made.sums, Normalisation::Rms);
    let s = stats.second_moments(&made.posterior);
    let psi = made.parameters.noise.diagonal();
    let w = &made.parameters.w;
    let at = |k: usize, j: usize, h: f64| {
        let mut w = w.clone();
        w[(k, j)] += h;
        error_at(&made, &stats, &s, &w, &psi)
    };
    let ws = factor::multiply(w, &s);
    for k in 0..m {
        for j in 0..l {
            let slope = (at(k, j, 1e-5) - at(k, j, -1e-5)) / 2e-5;
            let want = -(stats.u[(k, j)] - ws[(k, j)]) / psi[k];
            assert!((slope - want).abs() < 1e-6 * (1.0 + want.abs()), "{k} {j}: {slope} {want}");
            let curve = (at(k, j, 1e-3) + at(k, j, -1e-3) - 2.0 * at(k, j, 0.0)) / 1e-6;
            let want = s[(j, j)] / psi[k];
            assert!((curve - want).abs() < 1e-4 * want, "{k} {j}: {curve} {want}");
        }
        let e = made.c[(k, k)] - 2.0 * inner_row(&stats.u, w, k) + inner_row(&ws, w, k);
        let noise = |h: f64| {
            let mut psi = psi.clone();
            psi[k] += h;
            error_at(&made, &stats, &s, w, &psi)
        };
        let slope = (noise(1e-6) - noise(-1e-6)) / 2e-6;
        let want = 0.5 * (1.0 / psi[k] - e / psi[k] / psi[k]);
        assert!((slope - want).abs() < 1e-5 * (1.0 + want.abs()), "{slope} {want}");
    }
}

fn inner_row(a: &Matrix<f64>, b: &Matrix<f64>, k: usize) -> f64 {
    a.row(k).iter().zip(b.row(k)).map(|(a, b)| a * b).sum()
}

/// A step with wide bounds on the noise.
fn step(made: &Fixture, rate: f64, how: MStep) -> Step {
    let m = made.c.rows();
    Step {
        rate,
        how,
        sd: (0..m).map(|k| made.c[(k, k)].sqrt()).collect(),
        bounds: vec![(0.01, 100.0); m],
        relative: true,
        spectrum: (0.0, f64::INFINITY),
        l1: 0.0,
        l2: 0.0,
        w_max: None,
    }
}

#[test]
fn no_step_raises_the_error() {
    let (m, l) = (9, 5);
    let made = made(50, m, l, PLAIN, false);
    let stats = Statistics::new(&made.sums, Normalisation::Rms);
    let s = stats.second_moments(&made.posterior);
    let c = Moments::Diagonal((0..m).map(|k| made.c[(k, k)]).collect());
    let expected = Expected::new(&made.parameters.w, &stats, &s, &c);
    let before = error_at(&made, &stats, &s, &made.parameters.w, &made.parameters.noise.diagonal());
    for how in [MStep::Newton, MStep::InversePsi, MStep::Gradient] {
        for rate in [0.01, 0.1, 0.5, 1.0] {
            let moved = step(&made, rate, how).take(&made.parameters, &stats, &s, &expected).unwrap();
            let after = error_at(&made, &stats, &s, &moved.parameters.w, &moved.parameters.noise.diagonal());
            assert!(after <= before, "{how:?} {rate}: {before} {after}");
            if how == MStep::Newton && rate == 1.0 {
                // The ridge solution: U = W S.
                let ws = factor::multiply(&moved.parameters.w, &s);
                assert!(apart(ws.as_slice(), stats.u.as_slice()) < 1e-11);
            }
        }
    }
}

/// With `x = e / psi`, the step of the inverse noise, `psi / (1 + rate (1 - x))`, cannot raise `log psi + e / psi` if
/// `rate x² <= x + 1`; otherwise the noise itself makes the step.
#[test]
fn the_inverse_noise_step_is_its_formula_and_never_raises_the_error_of_a_column() {
    let (m, l) = (9, 5);
    let mut taken = [0, 0];
    for noise in [0.3, 1.0, 20.0] {
        let mut made = made(50, m, l, PLAIN, false);
        made.parameters.noise = Noise::Diagonal((0..m).map(|k| noise * (1.0 + 0.3 * k as f64)).collect());
        let stats = Statistics::new(&made.sums, Normalisation::Rms);
        let s = stats.second_moments(&made.posterior);
        let c = Moments::Diagonal((0..m).map(|k| made.c[(k, k)]).collect());
        let expected = Expected::new(&made.parameters.w, &stats, &s, &c);
        let (psi, e) = (made.parameters.noise.diagonal(), expected.diagonal());
        for rate in [0.05, 0.1, 0.5, 0.9, 1.0] {
            let moved = step(&made, rate, MStep::InversePsi)
                .take(&made.parameters, &stats, &s, &expected)
                .unwrap()
                .parameters
                .noise
                .diagonal();
            for k in 0..m {
                let x = e[k] / psi[k];
                let inverse = rate * x * x <= x + 1.0;
                taken[usize::from(inverse)] += 1;
                let want = match inverse {
                    true => psi[k] / (1.0 + rate * (1.0 - x)),
                    false => psi[k] + rate * (e[k] - psi[k]),
                };
                assert!((moved[k] / want - 1.0).abs() < 1e-12, "{noise} {rate} {k}: {} {want}", moved[k]);
                let error = |psi: f64| psi.ln() + e[k] / psi;
                assert!(error(moved[k]) <= error(psi[k]) + 1e-12, "{noise} {rate} {k}: {x}");
            }
        }
    }
    assert!(taken.iter().all(|n| *n > 0), "{taken:?}");
}

#[test]
fn at_convergence_the_noise_is_the_variance_that_units_leave() {
    let x = centred(normal(80, 6, 4));
    let given = json!({
        "n_components": 3, "e_step": "coordinate", "max_iter": 4000, "tol": 1e-7, "psi_min": 1e-9, "learning_rate": 1.0,
    });
    let model = fit(x.as_slice(), 6, given);
    assert_eq!(model.report().outcome.name(), "converged", "{:?}", model.report().residual);
    let w = model.tensor("components").unwrap().to_matrix().transposed();
    let s = model.tensor("code_moments").unwrap().to_matrix();
    let psi = numbers(&model, "noise_variance");
    let wsw = factor::multiply_transposed(&factor::multiply(&w, &s), &w);
    for k in 0..6 {
        let c: f64 = (0..80).map(|i| x[(i, k)] * x[(i, k)]).sum::<f64>() / 80.0;
        assert!((c - psi[k] - wsw[(k, k)]).abs() < 1e-4 * c, "{k}: {c} {} {}", psi[k], wsw[(k, k)]);
    }
}

#[test]
fn sums_of_shards_are_sums_of_all_and_are_serialized() {
    use unmix::stats::{Partial, from_bytes, to_bytes};
    let made = made(60, 5, 4, OTHER, false);
    let gather = GatherCodes::<f64>::new(vec![0.1; 5], &made.posterior.b, made.posterior.bias.clone());
    let gather = gather.with_sums().with_largest();
    let part = |range: std::ops::Range<usize>| {
        let mut part = gather.empty();
        let data = &made.x.as_slice()[range.start * 5..range.end * 5];
        gather.add_rows(&mut part, data, None, |i| (range.start + i) as u64, &mut Default::default());
        part
    };
    let (all, mut left, right) = (part(0..60), part(0..25), part(25..60));
    assert_eq!(from_bytes::<CodeSums>(&to_bytes(&left)).unwrap(), left);
    let before = left.clone();
    left.merge(gather.empty());
    assert_eq!(left, before);
    let mut none = gather.empty();
    none.merge(before.clone());
    assert_eq!(none, before);
    left.merge(right);
    assert!(apart(left.cross.as_slice(), all.cross.as_slice()) < 1e-12);
    assert_eq!((left.n, &left.largest), (60.0, &all.largest));
    let bytes = to_bytes(&all);
    for cut in [1, 9, 30, bytes.len() - 1] {
        assert!(from_bytes::<CodeSums>(&bytes[..cut]).is_err());
    }
    let mut packed = unmix::stats::Packer::default();
    Gather::<f64>::pack(&gather, &mut packed);
    let bytes = packed.into_bytes();
    let again: GatherCodes<f64> = Gather::<f64>::unpack(&mut unmix::stats::Unpacker::new(&bytes)).unwrap();
    let mut same = again.empty();
    again.add_rows(&mut same, made.x.as_slice(), None, |i| i as u64, &mut Default::default());
    assert_eq!(same, all);
}
