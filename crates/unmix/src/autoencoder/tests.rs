//! Gradients by differences, stop-gradients by formula, and the identity with a step of LISTA.

use super::*;
use crate::data::Workspace;
use crate::model::{Encoder, Tensor};
use crate::num::random::Stream;
use crate::num::threads::on_pool;
use crate::num::{Dtype, Matrix, factor};

const P: usize = 9;
const M: usize = 24;
const N: usize = 70;

const ALL: [Activation; 5] =
    [Activation::Relu, Activation::Topk, Activation::BatchTopk, Activation::Jumprelu, Activation::Gated];

fn normal(stream: u64, len: usize, size: f64) -> Vec<f64> {
    let draws = Stream::new(11, stream);
    (0..len as u64).map(|i| size * draws.normal(i)).collect()
}

fn made(activation: Activation) -> (Parameters<f64>, Vec<f64>) {
    let atoms = Matrix::from_vec(M, P, normal(1, M * P, 1.0));
    let mut at = Parameters::start(activation, &atoms, 0.6);
    at.encoder = normal(2, M * P, 0.5);
    at.bias = normal(3, M, 0.1);
    at.mean = normal(4, P, 0.1);
    if activation == Activation::Gated {
        (at.magnitude, at.log_scale) = (normal(5, M, 0.1), normal(6, M, 0.1));
    }
    (at, normal(7, N * P, 1.0))
}

fn terms(activation: Activation) -> Terms {
    Terms { activation, l0: 5, bandwidth: 1e-4, auxk: 3 }
}

/// The loss, formed without any of the code above: what is under a stop-gradient is taken from `held`.
fn loss(at: &Parameters<f64>, held: &Parameters<f64>, x: &[f64], activation: Activation, alpha: f64) -> f64 {
    let rows = Matrix::from_fn(N, P, |i, c| x[i * P + c] - at.mean[c]);
    let encoder = Matrix::from_vec(M, P, at.encoder.clone());
    let decode = |z: &Matrix<f64>, with: &Parameters<f64>| {
        let fitted = factor::multiply(z, &Matrix::from_vec(M, P, with.decoder.clone()));
        let squares = (0..N * P).map(|k| (x[k] - with.mean[k % P] - fitted.as_slice()[k]).powi(2));
        0.5 * squares.sum::<f64>()
    };
    let s = factor::multiply_transposed(&rows, &encoder);
    let u = Matrix::from_fn(N, M, |i, j| s[(i, j)] + at.bias[j]);
    let sum = |z: &Matrix<f64>| z.as_slice().iter().sum::<f64>();
    let total =
        match activation {
            Activation::Relu => {
                let z = Matrix::from_fn(N, M, |i, j| u[(i, j)].max(0.0));
                decode(&z, at) + alpha * sum(&z)
            }
            Activation::Topk | Activation::BatchTopk => decode(&counted(&u, activation), at),
            Activation::Jumprelu => {
                let z = Matrix::from_fn(N, M, |i, j| {
                    if u[(i, j)] > at.log_threshold[j].exp() { u[(i, j)] } else { 0.0 }
                });
                let active = z.as_slice().iter().filter(|z| **z > 0.0).count();
                decode(&z, at) + alpha * active as f64
            }
            Activation::Gated => {
                let gates = Matrix::from_fn(N, M, |i, j| u[(i, j)].max(0.0));
                let z = Matrix::from_fn(N, M, |i, j| {
                    let size = at.log_scale[j].exp() * s[(i, j)] + at.magnitude[j];
                    if u[(i, j)] > 0.0 { size.max(0.0) } else { 0.0 }
                });
                decode(&z, at) + alpha * sum(&gates) + decode(&gates, held)
            }
        };
    total / N as f64
}

/// The largest of each row, or of all.
fn counted(u: &Matrix<f64>, activation: Activation) -> Matrix<f64> {
    let of_batch = activation == Activation::BatchTopk;
    let parts: Vec<Vec<usize>> = match of_batch {
        true => vec![(0..N * M).collect()],
        false => (0..N).map(|i| (i * M..(i + 1) * M).collect()).collect(),
    };
    let mut z = Matrix::zeros(N, M);
    for mut part in parts {
        let k = 5 * part.len() / M;
        part.sort_by(|a, b| u.as_slice()[*b].total_cmp(&u.as_slice()[*a]).then(a.cmp(b)));
        for at in part.into_iter().take(k).filter(|at| u.as_slice()[*at] > 0.0) {
            z.as_mut_slice()[at] = u.as_slice()[at];
        }
    }
    z
}

fn gradient(
    at: &Parameters<f64>,
    x: &[f64],
    terms: &Terms,
    weight: f64,
    dead: &[bool],
) -> (f64, Parameters<f64>) {
    let (mut pass, mut to, mut fired) = (Pass::default(), at.clone(), vec![0; M]);
    pass.encode(at, terms, x);
    let found = pass.gradient(at, terms, Penalty { weight }, dead, &mut to, &mut fired);
    (found, to)
}

type Field = fn(&mut Parameters<f64>) -> &mut Vec<f64>;

const FIELDS: [(&str, Field); 6] = [
    ("decoder", |p| &mut p.decoder),
    ("encoder", |p| &mut p.encoder),
    ("bias", |p| &mut p.bias),
    ("mean", |p| &mut p.mean),
    ("magnitude", |p| &mut p.magnitude),
    ("log_scale", |p| &mut p.log_scale),
];

/// A direction in which to differentiate: of atoms, one that leaves their norms.
fn direction(name: &str, at: &Parameters<f64>, len: usize, stream: u64) -> Vec<f64> {
    let mut by = normal(stream, len, 1.0);
    if name == "decoder" {
        for (by, atom) in by.chunks_exact_mut(P).zip(at.decoder.chunks_exact(P)) {
            let along: f64 = by.iter().zip(atom).map(|(a, b)| a * b).sum();
            by.iter_mut().zip(atom).for_each(|(b, a)| *b -= along * a);
        }
    }
    by
}

/// Checks that `to` gives the slopes of `loss` at `at`, in one direction of each field.
fn assert_slopes(
    at: &Parameters<f64>,
    to: &mut Parameters<f64>,
    loss: impl Fn(&Parameters<f64>) -> f64,
    what: &str,
) {
    for (number, (name, field)) in FIELDS.into_iter().enumerate() {
        let len = field(to).len();
        if len == 0 {
            continue;
        }
        let by = direction(name, at, len, 20 + number as u64);
        let moved = |e: f64| {
            let mut there = at.clone();
            field(&mut there).iter_mut().zip(&by).for_each(|(x, d)| *x += e * d);
            loss(&there)
        };
        let e = 1e-6;
        let slope = (moved(e) - moved(-e)) / (2.0 * e);
        let got: f64 = field(to).iter().zip(&by).map(|(g, d)| g * d).sum();
        assert!((got - slope).abs() < 1e-7 * slope.abs().max(1.0), "{what} {name}: {got}, not {slope}");
    }
}

#[test]
fn gradients_are_differences_of_the_loss_with_stop_gradients() {
    for activation in ALL {
        let (at, x) = made(activation);
        let (found, mut to) = gradient(&at, &x, &terms(activation), 0.2, &[]);
        let want = loss(&at, &at, &x, activation, 0.2);
        assert!((found / want - 1.0).abs() < 1e-13, "{activation:?}: {found}, not {want}");
        let of = |there: &Parameters<f64>| loss(there, &at, &x, activation, 0.2);
        assert_slopes(&at, &mut to, of, &format!("{activation:?}"));
        // Nothing along the atoms.
        for (g, atom) in to.decoder.chunks_exact(P).zip(at.decoder.chunks_exact(P)) {
            let along: f64 = g.iter().zip(atom).map(|(a, b)| a * b).sum();
            assert!(along.abs() < 1e-15, "{activation:?}");
        }
    }
}

/// Pre-activations of the rows.
fn pre_activations(at: &Parameters<f64>, x: &[f64]) -> Matrix<f64> {
    let rows = Matrix::from_fn(N, P, |i, c| x[i * P + c] - at.mean[c]);
    let s = factor::multiply_transposed(&rows, &Matrix::from_vec(M, P, at.encoder.clone()));
    Matrix::from_fn(N, M, |i, j| s[(i, j)] + at.bias[j])
}

/// The auxiliary loss: the largest three pre-activations of dead units of each row, if positive, reconstruct `held`, the residuals of the codes.
fn loss_of_dead(at: &Parameters<f64>, held: &Matrix<f64>, x: &[f64], dead: &[bool]) -> f64 {
    let u = pre_activations(at, x);
    let mut total = 0.0;
    for i in 0..N {
        let mut top: Vec<usize> = (0..M).filter(|j| dead[*j] && u[(i, *j)] > 0.0).collect();
        top.sort_by(|a, b| u[(i, *b)].total_cmp(&u[(i, *a)]));
        top.truncate(3);
        let of_dead = |c: usize| top.iter().map(|j| u[(i, *j)] * at.decoder[j * P + c]).sum::<f64>();
        total += (0..P).map(|c| (held[(i, c)] + of_dead(c)).powi(2)).sum::<f64>();
    }
    total / 64.0 / N as f64
}

/// The residuals that dead units reconstruct are held: they do not move with the parameters.
#[test]
fn gradients_with_dead_units_are_differences_of_the_loss_with_its_auxiliary_part() {
    let dead: Vec<bool> = (0..M).map(|j| j % 4 == 1).collect();
    for activation in [Activation::Topk, Activation::BatchTopk] {
        let (at, x) = made(activation);
        let (_, mut to) = gradient(&at, &x, &terms(activation), 0.0, &dead);
        let z = counted(&pre_activations(&at, &x), activation);
        let fitted = factor::multiply(&z, &Matrix::from_vec(M, P, at.decoder.clone()));
        let held = Matrix::from_fn(N, P, |i, c| fitted[(i, c)] + at.mean[c] - x[i * P + c]);
        let of = |there: &Parameters<f64>| {
            loss(there, &at, &x, activation, 0.0) + loss_of_dead(there, &held, &x, &dead)
        };
        assert!(loss_of_dead(&at, &held, &x, &dead) > 1e-3, "{activation:?}");
        let (_, plain) = gradient(&at, &x, &terms(activation), 0.0, &[]);
        assert!(to != plain, "{activation:?}");
        assert_slopes(&at, &mut to, of, &format!("{activation:?} with dead units"));
    }
}

#[test]
fn thresholds_have_the_pseudo_derivatives_of_the_paper() {
    let (at, x) = made(Activation::Jumprelu);
    let terms = Terms { bandwidth: 0.5, ..terms(Activation::Jumprelu) };
    let (_, to) = gradient(&at, &x, &terms, 0.3, &[]);
    let mut want = vec![0.0; M];
    for row in x.chunks_exact(P) {
        let u: Vec<f64> = (0..M)
            .map(|j| {
                let w = &at.encoder[j * P..(j + 1) * P];
                at.bias[j] + (0..P).map(|c| w[c] * (row[c] - at.mean[c])).sum::<f64>()
            })
            .collect();
        let theta: Vec<f64> = at.log_threshold.iter().map(|t| t.exp()).collect();
        let e: Vec<f64> = (0..P)
            .map(|c| {
                let fitted: f64 =
                    (0..M).filter(|j| u[*j] > theta[*j]).map(|j| u[j] * at.decoder[j * P + c]).sum();
                at.mean[c] + fitted - row[c]
            })
            .collect();
        for j in (0..M).filter(|j| (u[*j] - theta[*j]).abs() < 0.25) {
            let by_code: f64 = (0..P).map(|c| e[c] * at.decoder[j * P + c]).sum::<f64>() / N as f64;
            want[j] += (-theta[j] * 2.0 * by_code - 0.3 / N as f64 * 2.0) * theta[j];
        }
    }
    let error = to.log_threshold.iter().zip(&want).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(error < 1e-14 && want.iter().any(|w| w.abs() > 1e-3), "{error:e}");
}

/// Both ways of computing a gradient, by products of all units and by sums over the active ones: marks of dead units, of which there are
/// none, exclude the first.
#[test]
fn gradients_of_dense_batches_are_those_of_active_units() {
    for activation in [Activation::Relu, Activation::Jumprelu] {
        let (at, x) = made(activation);
        let terms = Terms { bandwidth: 0.5, ..terms(activation) };
        let of = |dead: &[bool]| {
            let (mut pass, mut to, mut fired) = (Pass::default(), at.clone(), vec![0; M]);
            let coded = pass.encode(&at, &terms, &x);
            assert!(coded.l0 > M as f64 / 4.0, "{activation:?}: {} of {M}", coded.l0);
            let loss = pass.gradient(&at, &terms, Penalty { weight: 0.2 }, dead, &mut to, &mut fired);
            (loss, to, fired)
        };
        let ((a, mut dense, fired), (b, mut sparse, by_active)) = (of(&[]), of(&[false; M]));
        assert!((a / b - 1.0).abs() < 1e-13 && fired == by_active, "{activation:?}: {a}, {b}");
        let thresholds: (&str, Field) = ("log_threshold", |p| &mut p.log_threshold);
        for (name, field) in FIELDS.into_iter().chain([thresholds]) {
            let pairs = field(&mut dense).iter().zip(field(&mut sparse).iter());
            let error = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-13, "{activation:?} {name}: {error:e}");
        }
    }
}

/// The residual that dead units represent is held: the second loss has no derivative by the codes of the others.
#[test]
fn the_second_loss_of_dead_units_has_its_formula() {
    let (at, x) = made(Activation::Topk);
    let terms = terms(Activation::Topk);
    let dead: Vec<bool> = (0..M).map(|j| j % 4 == 1).collect();
    let ((_, plain), (_, to)) = (gradient(&at, &x, &terms, 0.0, &[]), gradient(&at, &x, &terms, 0.0, &dead));
    let mut want = plain.clone();
    for row in x.chunks_exact(P) {
        let r: Vec<f64> = row.iter().zip(&at.mean).map(|(x, b)| x - b).collect();
        let u: Vec<f64> =
            (0..M).map(|j| at.bias[j] + (0..P).map(|c| at.encoder[j * P + c] * r[c]).sum::<f64>()).collect();
        let top = |among: &dyn Fn(usize) -> bool, k: usize| {
            let mut some: Vec<usize> = (0..M).filter(|j| among(*j) && u[*j] > 0.0).collect();
            some.sort_by(|a, b| u[*b].total_cmp(&u[*a]));
            some.truncate(k);
            some
        };
        let sum =
            |units: &[usize], c: usize| units.iter().map(|j| u[*j] * at.decoder[j * P + c]).sum::<f64>();
        let (active, second) = (top(&|_| true, 5), top(&|j| dead[j], 3));
        let e: Vec<f64> =
            (0..P).map(|c| (sum(&active, c) - r[c] + sum(&second, c)) / 32.0 / N as f64).collect();
        for j in second {
            let atom = &at.decoder[j * P..(j + 1) * P];
            let slope: f64 = e.iter().zip(atom).map(|(e, a)| e * a).sum();
            want.bias[j] += slope;
            for c in 0..P {
                want.decoder[j * P + c] += u[j] * (e[c] - slope * atom[c]);
                want.encoder[j * P + c] += slope * r[c];
                want.mean[c] -= slope * at.encoder[j * P + c];
            }
        }
    }
    for ((name, field), (mut a, mut b)) in FIELDS.into_iter().zip(std::iter::repeat((to, want))) {
        let error =
            field(&mut a).iter().zip(field(&mut b).iter()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 1e-14, "{name}: {error:e}");
    }
}

#[test]
fn a_gradient_has_the_same_bits_on_any_number_of_threads() {
    for activation in ALL {
        let (at, x) = made(activation);
        let dead: Vec<bool> = (0..M).map(|j| j % 5 == 0).collect();
        let on = |threads| on_pool(threads, || gradient(&at, &x, &terms(activation), 0.1, &dead));
        let one = on(1);
        assert!([2, 3, 5].iter().all(|threads| on(*threads) == one), "{activation:?}");
    }
}

/// `relu(z - 2 eta A'(A z - h) - lam eta)`, one step of non-negative LISTA from `z`, is an encoder, and every bias is that of some `z`.
#[test]
fn one_step_of_lista_is_an_encoder() {
    let (m, p, lam) = (40, 13, 0.3);
    let start =
        Parameters::<f64>::start(Activation::Relu, &Matrix::from_vec(m, p, normal(1, m * p, 1.0)), 1.0);
    let atoms = Matrix::from_vec(m, p, start.decoder);
    let gram = factor::multiply_transposed(&atoms, &atoms);
    let largest = factor::eigenvalues(&gram).unwrap().into_iter().fold(0.0, f64::max);
    let eta = 0.9 / (2.0 * largest);
    let (b, z, x) = (normal(2, p, 1.0), normal(3, m, 1.0), normal(4, 30 * p, 1.0));
    let step = |z: &[f64], h: &[f64]| -> Vec<f64> {
        let left: Vec<f64> =
            (0..p).map(|c| (0..m).map(|j| atoms[(j, c)] * z[j]).sum::<f64>() - (h[c] - b[c])).collect();
        let by = |j: usize| (0..p).map(|c| atoms[(j, c)] * left[c]).sum::<f64>();
        (0..m).map(|j| (z[j] - 2.0 * eta * by(j) - lam * eta).max(0.0)).collect()
    };
    let bias: Vec<f64> = (0..m)
        .map(|j| z[j] - 2.0 * eta * (0..m).map(|i| gram[(j, i)] * z[i]).sum::<f64>() - lam * eta)
        .collect();
    let encode = |bias: &[f64]| {
        let across = Matrix::from_fn(p, m, |c, j| 2.0 * eta * atoms[(j, c)]);
        let mean = Tensor::vector(&b, Dtype::F64);
        let gate = SparseGate::new(mean, across, bias.to_vec(), Gating::Relu);
        let mut out = vec![0.0; 30 * m];
        gate.in_f64().apply(&x, &mut out, &mut Workspace::default());
        out
    };
    let apart = |codes: &[f64], z: &[f64]| {
        let rows = x.chunks_exact(p).zip(codes.chunks_exact(m));
        rows.flat_map(|(h, code)| {
            step(z, h).into_iter().zip(code).map(|(a, b)| (a - b).abs()).collect::<Vec<_>>()
        })
        .fold(0.0, f64::max)
    };
    let error = apart(&encode(&bias), &z);
    assert!(error < 1e-14, "{error:e}");
    // The converse: z = (I - 2 eta A'A)^-1 (bias + lam eta).
    let other = normal(5, m, 1.0);
    let system = Matrix::from_fn(m, m, |i, j| f64::from(u8::from(i == j)) - 2.0 * eta * gram[(i, j)]);
    let right = Matrix::from_vec(1, m, other.iter().map(|x| x + lam * eta).collect());
    let z = crate::num::factor::Cholesky::new(&system).unwrap().solve_rows(&right);
    let error = apart(&encode(&other), z.as_slice());
    assert!(error < 1e-14, "{error:e}");
}

#[test]
fn codes_of_a_fitted_encoder_are_those_of_training() {
    for activation in ALL {
        let (at, x) = made(activation);
        let across = Matrix::from_vec(M, P, at.encoder.clone()).transposed();
        let gating = match activation {
            Activation::Topk => Gating::Largest(5),
            Activation::Jumprelu => Gating::Above(at.log_threshold.iter().map(|t| t.exp()).collect()),
            Activation::Gated => {
                Gating::Gated { magnitude: at.magnitude.clone(), log_scale: at.log_scale.clone() }
            }
            _ => Gating::Relu,
        };
        let gate = SparseGate::new(Tensor::vector(&at.mean, Dtype::F64), across, at.bias.clone(), gating);
        let mut codes = vec![0.0; N * M];
        gate.in_f64().apply(&x, &mut codes, &mut Workspace::default());
        let of = |i: usize, j: usize| {
            let s: f64 = (0..P).map(|c| at.encoder[j * P + c] * (x[i * P + c] - at.mean[c])).sum();
            (s, s + at.bias[j])
        };
        let u = Matrix::from_fn(N, M, |i, j| of(i, j).1);
        let largest = counted(&u, Activation::Topk);
        for i in 0..N {
            for j in 0..M {
                let (s, u) = of(i, j);
                let want = match activation {
                    Activation::Topk => largest[(i, j)],
                    Activation::Jumprelu => {
                        if u > at.log_threshold[j].exp() {
                            u
                        } else {
                            0.0
                        }
                    }
                    Activation::Gated if u <= 0.0 => 0.0,
                    Activation::Gated => (at.log_scale[j].exp() * s + at.magnitude[j]).max(0.0),
                    _ => u.max(0.0),
                };
                assert!((codes[i * M + j] - want).abs() < 1e-13, "{activation:?}");
            }
        }
    }
}
