//! Agreement of two clusterings.

use super::assignment;
use crate::num::Matrix;
use std::collections::BTreeMap;

/// Contingency table of two clusterings, labels in ascending order.
fn table(a: &[usize], b: &[usize]) -> Matrix<f64> {
    assert_eq!(a.len(), b.len(), "labels of different rows");
    let places = |labels: &[usize]| -> BTreeMap<usize, usize> {
        let mut places: BTreeMap<usize, usize> = labels.iter().map(|l| (*l, 0)).collect();
        places.values_mut().enumerate().for_each(|(at, place)| *place = at);
        places
    };
    let (rows, columns) = (places(a), places(b));
    let mut counts = Matrix::zeros(rows.len(), columns.len());
    a.iter().zip(b).for_each(|(a, b)| counts[(rows[a], columns[b])] += 1.0);
    counts
}

/// The fraction of rows whose labels agree, under the optimal assignment of the labels of `b` to those of `a`: 1 for the same clusters whatever
/// their labels. Labels without a match agree with none. 1 for no rows. `O(n log k + k³)`.
///
/// # Panics
///
/// When the lists have different lengths.
pub fn clustering_accuracy(a: &[usize], b: &[usize]) -> f64 {
    if a.is_empty() {
        return 1.0;
    }
    let counts = table(a, b);
    let k = counts.rows().max(counts.cols());
    let count =
        |i: usize, j: usize| if i < counts.rows() && j < counts.cols() { counts[(i, j)] } else { 0.0 };
    let pairs = assignment(&Matrix::from_fn(k, k, |i, j| -count(i, j)));
    pairs.into_iter().enumerate().map(|(i, j)| count(i, j)).sum::<f64>() / a.len() as f64
}

/// Normalised mutual information of two clusterings, `2 I(a; b) / (H(a) + H(b))`: 1 for the same clusters whatever their labels, 0 for
/// independent ones. 1 if both have at most one cluster. `O(n log k)`.
///
/// # Panics
///
/// When the lists have different lengths.
pub fn nmi(a: &[usize], b: &[usize]) -> f64 {
    let counts = table(a, b);
    let n = a.len() as f64;
    let of_rows: Vec<f64> = (0..counts.rows()).map(|i| counts.row(i).iter().sum()).collect();
    let of_columns: Vec<f64> =
        (0..counts.cols()).map(|j| (0..counts.rows()).map(|i| counts[(i, j)]).sum()).collect();
    let entropy = |sizes: &[f64]| -sizes.iter().map(|s| s / n * (s / n).ln()).sum::<f64>();
    let both = entropy(&of_rows) + entropy(&of_columns);
    // At most one cluster in each.
    if counts.rows() <= 1 && counts.cols() <= 1 {
        return 1.0;
    }
    let mut shared = 0.0;
    for (i, size) in of_rows.iter().enumerate() {
        for (j, other) in of_columns.iter().enumerate() {
            let count = counts[(i, j)];
            if count > 0.0 {
                shared += count / n * (count * n / (size * other)).ln();
            }
        }
    }
    (2.0 * shared / both).clamp(0.0, 1.0)
}

/// Adjusted Rand index of two clusterings (Hubert & Arabie 1985): the fraction of pairs of rows on which they agree, corrected for chance: 1 for
/// the same clusters whatever their labels, and 0 in expectation for random clusters of the same sizes. 1 for fewer than two rows, and if both
/// have a single cluster. `O(n log k)`.
///
/// # Panics
///
/// When the lists have different lengths.
pub fn adjusted_rand_index(a: &[usize], b: &[usize]) -> f64 {
    let counts = table(a, b);
    let pairs = |n: f64| 0.5 * n * (n - 1.0);
    let (k, l) = (counts.rows(), counts.cols());
    let both: f64 = counts.as_slice().iter().map(|n| pairs(*n)).sum();
    let of_a: f64 = (0..k).map(|i| pairs(counts.row(i).iter().sum())).sum();
    let of_b: f64 = (0..l).map(|j| pairs((0..k).map(|i| counts[(i, j)]).sum())).sum();
    let all = pairs(a.len() as f64);
    // Without pairs, or with those of one cluster only, nothing can differ.
    if all <= 0.0 || (k <= 1 && l <= 1) {
        return 1.0;
    }
    let (chance, most) = (of_a * of_b / all, 0.5 * (of_a + of_b));
    if most > chance { (both - chance) / (most - chance) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_clusters_do_not_matter() {
        let a = [0, 0, 1, 1, 2, 2, 2];
        let renamed = a.map(|l| [7, 0, 3][l]);
        assert_eq!((clustering_accuracy(&a, &renamed), nmi(&a, &renamed)), (1.0, 1.0));
        assert_eq!((clustering_accuracy(&[], &[]), nmi(&[], &[])), (1.0, 1.0));
        assert_eq!((clustering_accuracy(&[4, 4], &[0, 0]), nmi(&[4, 4], &[0, 0])), (1.0, 1.0));
    }

    #[test]
    fn the_adjusted_rand_index_is_that_of_the_definition() {
        let a = [0, 0, 1, 1];
        assert_eq!(adjusted_rand_index(&a, &[5, 5, 2, 2]), 1.0);
        // No pair in common of 2 and 2 among 6: (0 - 2/3) / (2 - 2/3); one in common of 2 and 1: (1 - 1/3) / (3/2 - 1/3).
        assert!((adjusted_rand_index(&a, &[0, 1, 0, 1]) + 0.5).abs() < 1e-15);
        assert!((adjusted_rand_index(&a, &[0, 0, 1, 2]) - 4.0 / 7.0).abs() < 1e-15);
        // One cluster against another clustering is not informative; single rows are the same clusters.
        assert_eq!(adjusted_rand_index(&a, &[0; 4]), 0.0);
        assert_eq!((adjusted_rand_index(&[0], &[3]), adjusted_rand_index(&a, &a)), (1.0, 1.0));
        assert_eq!(adjusted_rand_index(&[0, 1, 2], &[2, 1, 0]), 1.0);
    }

    #[test]
    fn values_are_those_of_the_definitions() {
        // One row of seven is elsewhere; a cluster that is split counts by its larger part.
        assert_eq!(clustering_accuracy(&[0, 0, 1, 1, 2, 2, 2], &[1, 1, 0, 2, 2, 2, 2]), 6.0 / 7.0);
        assert_eq!(clustering_accuracy(&[0; 4], &[0, 0, 0, 1]), 0.75);
        assert_eq!(nmi(&[0, 0, 1, 1], &[0, 1, 0, 1]), 0.0);
        assert_eq!(nmi(&[0, 0, 1, 1], &[0; 4]), 0.0);
        // H = ln 2 and ln 4, I = ln 2: 2 ln 2 / (3 ln 2).
        assert!((nmi(&[0, 0, 1, 1], &[0, 1, 2, 3]) - 2.0 / 3.0).abs() < 1e-15);
    }
}
