//! Gradients beside finite differences, and their bits for any number of threads.

use super::{Corruption, DenoisingLearner, DenoisingTraining, DenoisingWeights, Noise};
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
    weights: &DenoisingWeights<T>,
    threads: usize,
) -> (f64, DenoisingWeights<T>) {
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
        let start =
            DenoisingWeights::<f64>::of(&w, if tied { &[] } else { &v }, &normal(m, 4), &normal(p, 5));
        let (_, half) = of_batch(&x, p, noise, &start, 1);
        type Part = fn(&mut DenoisingWeights<f64>) -> &mut Vec<f64>;
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
        let start = DenoisingWeights::start(m, &vec![true; p], tied, &[], 0);
        let one = of_batch(&x, p, Noise::Mask, &start, 1);
        assert_eq!(one, of_batch(&x, p, Noise::Mask, &start, 3));
    }
}
