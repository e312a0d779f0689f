//! The null hypothesis of no modules: rows whose columns are permuted independently of each other, and q-values.

use crate::data::RandomAccess;
use crate::error::Result;
use crate::machine::check_memory;
use crate::num::Real;
use crate::num::random::Stream;

/// First random stream of permutations, distinct from those of other draws.
const PERMUTATION_STREAM: u64 = 1 << 40;

/// The rows, row-major, with each column permuted independently.
pub(super) fn permuted<T: Real>(
    source: &dyn RandomAccess<T>,
    n: u64,
    p: usize,
    seed: u64,
    permutation: usize,
) -> Result<Vec<T>> {
    let bytes = n.saturating_mul((p * size_of::<T>()) as u64);
    check_memory(
        "a copy of the rows with permuted columns",
        bytes,
        "look for modules without permutations, or in fewer rows",
    )?;
    let mut numbers = vec![T::default(); n as usize * p];
    source.read(0..n, 0..p, &mut numbers, &mut Vec::new())?;
    let mut column = vec![T::default(); n as usize];
    for j in 0..p {
        column.iter_mut().zip(numbers[j..].iter().step_by(p)).for_each(|(c, x)| *c = *x);
        Stream::new(seed, PERMUTATION_STREAM + (permutation * p + j) as u64).shuffle(0, &mut column);
        column.iter().zip(numbers[j..].iter_mut().step_by(p)).for_each(|(c, x)| *x = *c);
    }
    Ok(numbers)
}

/// Estimated false discovery rate among the modules whose evidence is at least that of each, in descending order of evidence: one more than the
/// number of modules of permuted rows with at least as much evidence, per permutation, divided by the number of modules of the rows; made
/// monotone, starting at the smallest evidence, and at most 1. It is 1 without evidence.
///
/// The one more is for the limited number of permutations: without it, the estimate is 0 where none of a few permutations happens to have as much
/// evidence (R. F. Barber & E. J. Candes, 2015, Controlling the false discovery rate via knockoffs, Annals of Statistics 43:2055, who prove
/// that a rule of this form controls the rate). So the first `k` modules have a value of at least `1 / (permutations k)`.
pub(super) fn q_values(evidence: &[f64], null: &[f64], permutations: usize) -> Vec<f64> {
    let as_large = |e: f64| null.iter().filter(|x| **x >= e).count();
    let estimate = |(i, e): (usize, &f64)| match *e > 0.0 {
        true => (1 + as_large(*e)) as f64 / (permutations * (i + 1)) as f64,
        false => 1.0,
    };
    let mut q: Vec<f64> = evidence.iter().enumerate().map(estimate).collect();
    let mut least = 1.0f64;
    for x in q.iter_mut().rev() {
        least = least.min(*x);
        *x = least;
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_values_are_the_estimated_share_of_false_modules() {
        // Ten permutations; at 5, 4, 3, 1: 0, 1, 2 and 6 of the null, and one more, of 1, 2, 3 and 4.
        let q = q_values(&[5.0, 4.0, 3.0, 1.0], &[4.5, 3.5, 2.0, 2.0, 1.5, 1.0], 10);
        assert_eq!(q, [0.1, 0.1, 0.1, 0.175]);
        // Monotone: what has more evidence is never less certain.
        assert_eq!(q_values(&[5.0, 4.0], &[6.0], 2), [0.5, 0.5]);
        assert_eq!(q_values(&[1.0], &[2.0, 2.0, 2.0], 1), [1.0]);
    }

    #[test]
    fn q_values_are_no_less_than_what_the_permutations_support() {
        assert_eq!(q_values(&[9.0], &[], 2), [0.5]);
        assert_eq!(q_values(&[9.0; 4], &[], 2), [0.125; 4]);
        // Without evidence the value is 1, whatever permuted rows have.
        assert_eq!(q_values(&[9.0, 0.0, -1.0], &[-5.0], 10), [0.1, 1.0, 1.0]);
    }
}
