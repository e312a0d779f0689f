//! Gradients compared with finite differences, and their bits for any number of threads.

use super::{
    BoltzmannLearner, BoltzmannTraining, Corruption, DenoisingLearner, DenoisingTraining, Initial,
    LayerWeights, Noise,
};
use crate::data::{Batches, Position};
use crate::learn::Learner;
use crate::num::random::Stream;
use crate::{Rows, num::Real};

fn normal(n: usize, seed: u64) -> Vec<f64> {
    let draws = Stream::new(seed, 9);
    (0..n).map(|i| draws.normal(i as u64)).collect()
}

fn training(noise: Noise, p: usize, n: usize) -> DenoisingTraining {
    let corruption = Corruption { noise, size: 0.3, seed: 3, n_rows: n as u64 };
    DenoisingTraining { corruption, varies: vec![true; p], learning_rate: 0.1 }
}

/// Loss and half-gradient of the first batch of `n` rows, all of them, on some threads.
fn of_batch<T: Real>(
    x: &[T],
    p: usize,
    noise: Noise,
    weights: &LayerWeights<T>,
    threads: usize,
) -> (f64, LayerWeights<T>) {
    let rows = Rows::from_slice(x, p).unwrap();
    let (n, mut weights) = (x.len() / p, weights.clone());
    let mut learner = DenoisingLearner::new(training(noise, p, n), &weights);
    let mut loss = None;
    rows.pooled(threads, || {
        Batches::new(&rows, n, 1)?.each(Position::default(), 1, 1, |batch| {
            loss = learner.gradient(&mut weights, batch)?;
            Ok(false)
        })
    })
    .unwrap();
    (loss.unwrap(), learner.half_gradient().clone())
}

#[test]
fn gradients_are_finite_differences_of_the_loss() {
    let (n, p, m, step) = (37, 5, 7, 1e-6);
    let x = normal(n * p, 1);
    for (tied, noise) in
        [(false, Noise::Mask), (true, Noise::Mask), (false, Noise::Gaussian), (true, Noise::Gaussian)]
    {
        let (w, v) = (normal(m * p, 2), normal(m * p, 3));
        let start = LayerWeights::<f64>::of(&w, if tied { &[] } else { &v }, &normal(m, 4), &normal(p, 5));
        let (_, half) = of_batch(&x, p, noise, &start, 1);
        type Part = fn(&mut LayerWeights<f64>) -> &mut Vec<f64>;
        let parts: [Part; 4] = [|w| &mut w.encoder, |w| &mut w.bias, |w| &mut w.decoder, |w| &mut w.offset];
        for (number, part) in parts.into_iter().enumerate() {
            let gradient = part(&mut half.clone()).clone();
            for (i, g) in gradient.iter().enumerate() {
                let at = |by: f64| {
                    let mut moved = start.clone();
                    part(&mut moved)[i] += by;
                    of_batch(&x, p, noise, &moved, 1).0
                };
                let slope = (at(step) - at(-step)) / (2.0 * step);
                assert!(
                    (2.0 * g - slope).abs() < 1e-6,
                    "{tied} {noise:?} {number} {i}: {g}, not half {slope}"
                );
            }
        }
    }
}

#[test]
fn gradients_have_the_same_bits_on_any_number_of_threads() {
    let (n, p, m) = (300, 70, 90);
    let x: Vec<f32> = normal(n * p, 1).into_iter().map(|x| x as f32).collect();
    for tied in [false, true] {
        let start = LayerWeights::start(m, &vec![true; p], tied, Initial::Uniform, &[], 0);
        let one = of_batch(&x, p, Noise::Mask, &start, 1);
        assert_eq!(one, of_batch(&x, p, Noise::Mask, &start, 3));
    }
}

/// A machine of 8 hidden and 4 visible units.
fn machine() -> LayerWeights<f64> {
    let w: Vec<f64> = normal(32, 2).iter().map(|w| 0.5 * w).collect();
    LayerWeights::of(&w, &[], &normal(8, 4), &normal(4, 5))
}

/// Every state of the hidden units, with its probability and the mean of the visible units; `||W h||` is not small, so these are added
/// up by their logarithms.
fn states(weights: &LayerWeights<f64>) -> Vec<(Vec<f64>, f64, Vec<f64>)> {
    let (w, _) = weights.by_units();
    let (m, p) = (weights.n_units(), weights.n_features());
    let mut all: Vec<(Vec<f64>, f64, Vec<f64>)> = (0..1usize << m)
        .map(|bits| {
            let h: Vec<f64> = (0..m).map(|j| (bits >> j & 1) as f64).collect();
            let drive: Vec<f64> = (0..p).map(|c| (0..m).map(|j| h[j] * w[j * p + c]).sum()).collect();
            let own: f64 = h.iter().zip(&weights.bias).map(|(h, b)| h * b).sum();
            let by_offset: f64 = drive.iter().zip(&weights.offset).map(|(d, c)| d * c).sum();
            let log = own + by_offset + drive.iter().map(|d| d * d).sum::<f64>() / 2.0;
            let mean = drive.iter().zip(&weights.offset).map(|(d, c)| d + c).collect();
            (h, log, mean)
        })
        .collect();
    let most = all.iter().map(|s| s.1).fold(f64::MIN, f64::max);
    let total: f64 = all.iter().map(|s| (s.1 - most).exp()).sum();
    all.iter_mut().for_each(|s| s.1 = (s.1 - most).exp() / total);
    all
}

/// Estimate of the gradient for these rows.
fn divergence(
    x: &[f64],
    weights: &LayerWeights<f64>,
    n_steps: usize,
    threads: usize,
) -> (f64, LayerWeights<f64>) {
    let p = weights.n_features();
    let n = x.len() / p;
    let rows = Rows::from_slice(x, p).unwrap();
    let how =
        BoltzmannTraining { n_steps, seed: 7, n_rows: n as u64, varies: vec![true; p], learning_rate: 0.1 };
    let (mut learner, mut weights, mut loss) = (BoltzmannLearner::new(how, weights), weights.clone(), None);
    rows.pooled(threads, || {
        Batches::new(&rows, n, 1)?.each(Position::default(), 1, 1, |batch| {
            loss = learner.gradient(&mut weights, batch)?;
            Ok(false)
        })
    })
    .unwrap();
    (loss.unwrap(), learner.estimate().clone())
}

/// `P(h = 1 | x)`, written out.
fn active(weights: &LayerWeights<f64>, x: &[f64]) -> Vec<f64> {
    let (w, _) = weights.by_units();
    let p = x.len();
    let drive = |j: usize| (0..p).map(|c| w[j * p + c] * x[c]).sum::<f64>() + weights.bias[j];
    (0..weights.n_units()).map(|j| 1.0 / (1.0 + (-drive(j)).exp())).collect()
}

#[test]
fn long_chains_give_the_gradient_of_the_likelihood() {
    let (n, weights) = (40_000, machine());
    let x: Vec<f64> = [0.3, -1.0, 0.8, 0.1].repeat(n);
    let (_, estimate) = divergence(&x, &weights, 60, 2);
    let given = active(&weights, &x[..4]);
    let all = states(&weights);
    for j in 0..8 {
        let model: f64 = all.iter().map(|(h, q, _)| q * h[j]).sum();
        assert!((estimate.bias[j] - (model - given[j])).abs() < 0.02, "bias {j}");
        for c in 0..4 {
            let model: f64 = all.iter().map(|(h, q, mean)| q * h[j] * mean[c]).sum();
            let found = estimate.encoder[c * 8 + j];
            assert!((found - (model - given[j] * x[c])).abs() < 0.05, "{j} {c}: {found}");
        }
    }
    for c in 0..4 {
        let model: f64 = all.iter().map(|(_, q, mean)| q * mean[c]).sum();
        assert!((estimate.offset[c] - (model - x[c])).abs() < 0.05, "offset {c}");
    }
}

/// One step of the chain from a row: hidden units of `P(h | x)`, all 256 states of them; visible units that are normal about the mean that these
/// give; and the hidden units of those, whose mean is an integral over one normal number for each state.
#[test]
fn the_estimate_of_one_step_is_that_of_all_states() {
    let (n, weights) = (40_000, machine());
    let (w, _) = weights.by_units();
    let nodes: Vec<(f64, f64)> = (-180..=180)
        .map(|i| f64::from(i) / 20.0)
        .map(|t| (t, (-0.5 * t * t).exp() / (20.0 * (2.0 * std::f64::consts::PI).sqrt())))
        .collect();
    for row in [[0.3, -1.0, 0.8, 0.1], [-2.0, 1.5, 0.0, 0.7], [0.0; 4], [3.0, -0.5, -2.0, 1.0]] {
        let (_, estimate) = divergence(&row.repeat(n), &weights, 1, 2);
        let given = active(&weights, &row);
        let (mut bias, mut encoder, mut offset) = ([0.0; 8], [0.0; 32], [0.0; 4]);
        for (h, _, mean) in states(&weights) {
            let of_unit = |(h, p): (&f64, &f64)| if *h == 1.0 { *p } else { 1.0 - p };
            let probability: f64 = h.iter().zip(&given).map(of_unit).product();
            (0..4).for_each(|c| offset[c] += probability * mean[c]);
            for j in 0..8 {
                let own = &w[4 * j..4 * (j + 1)];
                let drive = own.iter().zip(&mean).map(|(w, v)| w * v).sum::<f64>() + weights.bias[j];
                let size = own.iter().map(|w| w * w).sum::<f64>().sqrt();
                let logistic = |t: f64| 1.0 / (1.0 + (-drive - size * t).exp());
                let level: f64 = nodes.iter().map(|(t, weight)| weight * logistic(*t)).sum();
                let slope: f64 = nodes.iter().map(|(t, weight)| weight * t * logistic(*t)).sum();
                bias[j] += probability * level;
                // The noise of a column is correlated with that of the drive as its weight is with all of them.
                (0..4).for_each(|c| {
                    encoder[8 * c + j] += probability * (mean[c] * level + own[c] / size * slope);
                });
            }
        }
        // Five standard errors of 40,000 chains, at least.
        for j in 0..8 {
            assert!((estimate.bias[j] - (bias[j] - given[j])).abs() < 0.008, "{row:?}: bias {j}");
            for c in 0..4 {
                let (found, want) = (estimate.encoder[8 * c + j], encoder[8 * c + j] - given[j] * row[c]);
                assert!((found - want).abs() < 0.04, "{row:?}: {j} {c}: {found} {want}");
            }
        }
        for c in 0..4 {
            assert!((estimate.offset[c] - (offset[c] - row[c])).abs() < 0.035, "{row:?}: offset {c}");
        }
    }
}

#[test]
fn the_gradient_vanishes_for_rows_of_the_model() {
    let (n, weights, draws) = (40_000, machine(), Stream::new(3, 1));
    let all = states(&weights);
    let mut x = Vec::new();
    for i in 0..n {
        let (u, mut sum) = (draws.uniform(i), 0.0);
        let drawn = all.iter().find(|s| {
            sum += s.1;
            u < sum
        });
        let mean = &drawn.unwrap_or(&all[0]).2;
        x.extend(mean.iter().zip(0..).map(|(v, c)| v + draws.normal(1_000_000 + 4 * i + c)));
    }
    let (_, estimate) = divergence(&x, &weights, 1, 2);
    let parts = [&estimate.encoder, &estimate.bias, &estimate.offset];
    let far = parts.into_iter().flatten().fold(0.0f64, |a, g| a.max(g.abs()));
    assert!(far < 0.05, "{far}");
}

#[test]
fn estimates_have_the_same_bits_on_any_number_of_threads() {
    let (n, p, m) = (300, 70, 90);
    let x = normal(n * p, 1);
    let start = LayerWeights::start(m, &vec![true; p], true, Initial::Normal(0.1), &[], 0);
    assert_eq!(divergence(&x, &start, 2, 1), divergence(&x, &start, 2, 3));
}
