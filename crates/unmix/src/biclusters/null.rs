//! The null hypothesis of no modules: rows whose columns are permuted independently of each other, and q-values.

use crate::data::RandomAccess;
use crate::error::Result;
use crate::machine::check_memory;
use crate::num::Real;
use crate::num::random::Stream;

/// First random stream of permutations, distinct from those of other draws.
const PERMUTED: u64 = 1 << 40;

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
        Stream::new(seed, PERMUTED + (permutation * p + j) as u64).shuffle(0, &mut column);
        column.iter().zip(numbers[j..].iter_mut().step_by(p)).for_each(|(c, x)| *x = *c);
    }
    Ok(numbers)
}

/// For each concentration of the data, descending: the number of those under the null hypothesis that are at least as large, per permutation,
/// divided by the number of those of the data that are; made monotone, starting at the smallest concentration, and at most 1.
pub(super) fn q_values(concentrations: &[f64], null: &[f64], permutations: usize) -> Vec<f64> {
    let false_ones = |c: f64| null.iter().filter(|x| **x >= c).count() as f64 / permutations as f64;
    let mut q: Vec<f64> =
        concentrations.iter().enumerate().map(|(i, c)| false_ones(*c) / (i + 1) as f64).collect();
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
    fn q_values_are_the_share_of_modules_that_permuted_rows_have_too() {
        // Two permutations; at 5, 4, 3, 1: 0, 1, 2 and 6 of the null, of 1, 2, 3 and 4.
        let q = q_values(&[5.0, 4.0, 3.0, 1.0], &[4.5, 3.5, 2.0, 2.0, 1.5, 1.0], 2);
        assert_eq!(q, [0.0, 0.25, 1.0 / 3.0, 0.75]);
        // Monotone: what is more concentrated is never less certain.
        assert_eq!(q_values(&[5.0, 4.0], &[6.0], 1), [0.5, 0.5]);
        assert_eq!(q_values(&[1.0], &[2.0, 2.0, 2.0], 1), [1.0]);
    }
}
