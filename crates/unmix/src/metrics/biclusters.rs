//! Agreement of two sets of biclusters.

use super::assignment;
use crate::num::Matrix;

/// Rows and columns of a bicluster, each in ascending order.
pub type Bicluster<'a> = (&'a [u32], &'a [u32]);

/// The consensus score of two sets of biclusters (Hochreiter et al. 2010, FABIA, Bioinformatics 26:1520): the sum of the Jaccard indices of the
/// cells under the optimal assignment, divided by the number of biclusters of the larger set. 1 for the same biclusters in any order, 0 if none
/// share a cell; 1 for two empty sets. `O(k² (rows + columns) + k³)`, up to logarithms.
pub fn consensus_score(a: &[Bicluster<'_>], b: &[Bicluster<'_>]) -> f64 {
    let k = a.len().max(b.len());
    if k == 0 {
        return 1.0;
    }
    let jaccard = |i: usize, j: usize| if i < a.len() && j < b.len() { jaccard(a[i], b[j]) } else { 0.0 };
    let pairs = assignment(&Matrix::from_fn(k, k, |i, j| -jaccard(i, j)));
    pairs.into_iter().enumerate().map(|(i, j)| jaccard(i, j)).sum::<f64>() / k as f64
}

/// Jaccard index of the cells: the number of cells in both divided by that in either; 0 for two empty sets.
pub(crate) fn jaccard(a: Bicluster<'_>, b: Bicluster<'_>) -> f64 {
    let both = (common(a.0, b.0) * common(a.1, b.1)) as f64;
    let either = (a.0.len() * a.1.len() + b.0.len() * b.1.len()) as f64 - both;
    if either > 0.0 { both / either } else { 0.0 }
}

/// Number of common elements of two ascending lists.
fn common(a: &[u32], b: &[u32]) -> usize {
    a.iter().filter(|x| b.binary_search(x).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_pairs_are_scored_and_biclusters_without_partner_count_0() {
        let (x, y, z): (Bicluster<'_>, Bicluster<'_>, Bicluster<'_>) =
            ((&[0, 1], &[0, 1, 2]), (&[2, 3], &[3, 4]), (&[0, 1, 2], &[0, 1]));
        assert_eq!(consensus_score(&[x, y], &[y, x]), 1.0);
        assert_eq!(consensus_score(&[x], &[y]), 0.0);
        assert_eq!(consensus_score(&[x, y], &[y]), 0.5);
        assert_eq!(consensus_score(&[], &[]), 1.0);
        assert_eq!(consensus_score(&[x], &[]), 0.0);
        // x has 6 cells, z 6, and 4 in common: 4 / 8. Of y and z nothing is in common but row 2.
        assert_eq!(consensus_score(&[x, y], &[z, y]), (0.5 + 1.0) / 2.0);
        assert_eq!(consensus_score(&[x, y], &[z]), 0.25);
    }
}
