//! Dead units, which no row activates, and their resampling.

use super::parameters::{Parameters, norm};
use super::{Activation, Pass, Penalty, Terms};
use crate::num::Real;
use crate::num::random::Stream;

/// Number of rows without a code after which a unit is dead; or an epoch if that has fewer.
pub(super) const DEAD_AFTER_ROWS: u64 = 1_000_000;
/// Norm of the encoder vector of a resampled unit, relative to the mean norm of the others.
const RESAMPLED_NORM_SHARE: f64 = 0.2;
/// First random stream of the draws of rows for resampled units.
const RESAMPLING_STREAM: u64 = 0x7361_6532;

/// As many rows of `sample` as there are `units`, drawn without replacement with probabilities proportional to the squares of their
/// squared errors.
fn drawn(squares: &[f64], units: usize, seed: u64, epoch: u64) -> Vec<usize> {
    let draws = Stream::new(seed, RESAMPLING_STREAM ^ (epoch << 32));
    // Exponential times with these rates in ascending order are such a draw.
    let time = |i: usize| -draws.uniform(i as u64).ln() / (squares[i] * squares[i]).max(f64::MIN_POSITIVE);
    let mut rows: Vec<(f64, usize)> = (0..squares.len()).map(|i| (time(i), i)).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    rows.into_iter().take(units).map(|(_, i)| i).collect()
}

/// Resamples the units `dead` at rows of `sample` with large reconstruction errors: atom and encoder vector point to the row, biases
/// are 0 and thresholds `threshold`. Returns the resampled units, fewer if there are too few rows.
pub(super) fn resample<T: Real>(
    parameters: &mut Parameters<T>,
    terms: &Terms,
    dead: &[u32],
    sample: &[T],
    threshold: f64,
    (seed, epoch): (u64, u64),
) -> Vec<u32> {
    let (p, m) = (parameters.n_features(), parameters.n_units());
    let mut pass = Pass::default();
    pass.encode(parameters, terms, sample);
    let squares = pass.squares(parameters, terms, Penalty::default());
    let mut is_dead = vec![false; m];
    dead.iter().for_each(|j| is_dead[*j as usize] = true);
    let lengths = (0..m).filter(|j| !is_dead[*j]).map(|j| norm(&parameters.encoder[j * p..(j + 1) * p]));
    let alive = m - dead.len();
    let length = if alive > 0 {
        RESAMPLED_NORM_SHARE * lengths.sum::<f64>() / alive as f64
    } else {
        RESAMPLED_NORM_SHARE
    };
    let mut resampled = Vec::new();
    for (unit, i) in dead.iter().zip(drawn(&squares, dead.len(), seed, epoch)) {
        let row = sample[i * p..(i + 1) * p].iter().zip(&parameters.mean);
        let row: Vec<f64> = row.map(|(x, b)| x.to_f64() - b.to_f64()).collect();
        let size = norm(&row);
        if size == 0.0 {
            continue;
        }
        let j = *unit as usize;
        for (c, x) in row.iter().enumerate() {
            parameters.decoder[j * p + c] = T::from_f64(x / size);
            parameters.encoder[j * p + c] = T::from_f64(length * x / size);
        }
        parameters.bias[j] = T::default();
        match terms.activation {
            Activation::Gated => {
                (parameters.magnitude[j], parameters.log_scale[j]) = (T::default(), T::default());
            }
            Activation::Jumprelu => parameters.log_threshold[j] = T::from_f64(threshold.ln()),
            _ => {}
        }
        resampled.push(*unit);
    }
    resampled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_drawn_with_probability_proportional_to_their_squares() {
        let squares = [1.0, 2.0, 3.0, 0.0];
        let mut counts = [0.0; 4];
        (0..4000).for_each(|epoch| counts[drawn(&squares, 1, 5, epoch)[0]] += 1.0 / 4000.0);
        for (count, square) in counts.iter().zip(squares) {
            assert!((count - square * square / 14.0).abs() < 0.03, "{counts:?}");
        }
        assert_eq!(drawn(&squares, 4, 5, 0).len(), 4);
    }
}
