//! The agreement of components by chance.

use super::compare;
use crate::metrics::{pairs, similarity};
use crate::num::random::Stream as Draws;
use crate::num::{Matrix, factor};

/// Number of draws of random directions over which [`chance_agreement`] is averaged.
const N_CHANCE_DRAWS: u64 = 3;
/// Number of pairs of directions above which there is one draw: the mean over so many differs little between draws, and each takes seconds.
const MOST_PAIRS_DRAWN_AGAIN: usize = 1 << 20;

/// The agreement of unrelated atoms: the mean [`similarity`] of `k.0` random directions in `p` dimensions with `k.1` others, under the assignment
/// with the largest sum, over three draws, or in one draw if there are more than 2^20 pairs. `O(k³)`.
pub fn chance_agreement(k: (usize, usize), p: usize, non_negative: bool, seed: u64) -> f64 {
    let drawn = |number: u64, k: usize| {
        let draws = Draws::new(seed, 0x6368_616e ^ number);
        let mut out = Matrix::from_fn(k, p, |i, j| draws.normal((i * p + j) as u64));
        compare::of_length_one(&mut out);
        out
    };
    let one = |i: u64| {
        let cosines = factor::multiply_transposed(&drawn(2 * i, k.0), &drawn(2 * i + 1, k.1));
        let all = Matrix::from_fn(k.0, k.1, |i, j| similarity(cosines[(i, j)], non_negative));
        pairs(&all).iter().map(|at| all[*at]).sum::<f64>() / k.0.min(k.1).max(1) as f64
    };
    let n_draws = if k.0.saturating_mul(k.1) > MOST_PAIRS_DRAWN_AGAIN { 1 } else { N_CHANCE_DRAWS };
    (0..n_draws).map(one).sum::<f64>() / n_draws as f64
}
