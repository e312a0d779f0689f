//! Verdicts about each component: resolved alone, as part of a group, or not.
//!
//! Two directions are distinguished by their variances, if the method uses variances and the difference is
//! significant. For Gaussian rows with equal variances in a plane, the squared difference of the two sample
//! eigenvalues, divided by the variance of a difference, is chi-square with two degrees of freedom (one for the
//! difference of the variances along two fixed axes, one for their covariance, because the eigenvectors diagonalise
//! it), whose survival function is an exponential. The variance is computed from the fourth moments of the codes,
//! and is at least that of Gaussian rows (Anderson 1963); the number of rows is the effective one. Or directions are
//! distinguished by independence, if the method uses it and at least one of the two is not Gaussian: the density of
//! two Gaussian sources of equal variance is invariant under rotations. Pairs that are distinguished by neither form
//! groups. Factors with a rotation form none: the rotation criterion distinguishes them, whatever their variances, and where it has no
//! distinct optimum the halves disagree. Subspaces of clusters form none, because each is that of its rows.
//!
//! The verdict depends on the interval for the agreement of halves (`interval.rs`), of the component or of
//! the subspace of its group: resolved if all of it is at least `MIN_AGREEMENT`, not resolvable if all of it is
//! below, undecided otherwise. A group of all possible components is not resolvable, because its subspace is
//! the space of all columns for any rows.

use super::interval::{Side, side};
use crate::model::SIGNIFICANCE_LEVEL;
use crate::num::{Matrix, factor};

/// The verdict on a component.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The direction is determined by the rows: the interval for the agreement of halves is at least 0.9.
    Resolved,
    /// The subspace that it spans with these others is determined; the direction within it is not.
    Group(Vec<usize>),
    /// The interval lies across 0.9: of the direction where there are no others, else of the space that it spans with them.
    Undecided(Vec<usize>),
    /// The interval lies below 0.9, or the component is not distinguished from any other.
    NotResolvable,
}

impl Verdict {
    /// In words.
    pub fn in_words(&self) -> String {
        let names = |others: &[usize]| others.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Verdict::Resolved => "resolved".into(),
            Verdict::Group(others) => format!("resolved as a group with {}", names(others)),
            Verdict::Undecided(others) if others.is_empty() => "undecided: the interval crosses 0.9".into(),
            Verdict::Undecided(others) => {
                format!("undecided as a group with {}: the interval crosses 0.9", names(others))
            }
            Verdict::NotResolvable => "not resolvable from these data".into(),
        }
    }
}

/// Input of the verdicts.
pub(super) struct Evidence<'a> {
    /// Variances along the components, if the method uses them.
    pub(super) variances: Option<&'a [f64]>,
    /// Covariances of the squares of standardised codes; without them those of Gaussian codes are used.
    pub(super) squares: Option<&'a Matrix<f64>>,
    /// p-value of the test of Gaussianity of each component, if the method uses independence.
    pub(super) gaussian: Option<&'a [f64]>,
    /// Number of rows.
    pub(super) n: f64,
    /// For each component its autocorrelation time: number of rows per independent observation.
    pub(super) times: &'a [f64],
}

/// For each component the others of its group, from which it cannot be distinguished. A component counts as not Gaussian if its p-value is
/// below [`SIGNIFICANCE_LEVEL`] divided by the number of components, and two variances as different below `SIGNIFICANCE_LEVEL` divided by the number of neighbouring
/// pairs (Bonferroni).
pub(super) fn groups(k: usize, evidence: &Evidence<'_>) -> Vec<Vec<usize>> {
    let distinguishable = |i: usize, j: usize| {
        let by_variance = evidence.variances.is_some_and(|v| {
            let (a, b) = (v[i], v[j]);
            let n = evidence.n / (evidence.times[i] * evidence.times[j]).sqrt();
            let gaussian = 2.0 * (a * a + b * b);
            let of_difference = evidence.squares.map_or(gaussian, |s| {
                (a * a * s[(i, i)] + b * b * s[(j, j)] - 2.0 * a * b * s[(i, j)]).max(gaussian)
            });
            let chi2 = n * (a - b).powi(2) / of_difference;
            (-0.5 * chi2).exp() < SIGNIFICANCE_LEVEL / (k - 1) as f64
        });
        let level = SIGNIFICANCE_LEVEL / k as f64;
        by_variance || evidence.gaussian.is_some_and(|p| p[i] < level || p[j] < level)
    };
    let mut label: Vec<usize> = (0..k).collect();
    for i in 0..k {
        for j in 0..i {
            if !distinguishable(i, j) {
                let (from, to) = (label[i].max(label[j]), label[i].min(label[j]));
                label.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
            }
        }
    }
    (0..k).map(|i| (0..k).filter(|&j| j != i && label[j] == label[i]).collect()).collect()
}

/// Covariances of the squares of standardised row-major codes, `k` in each row.
pub(super) fn squares(codes: &[f64], k: usize) -> Matrix<f64> {
    // From this number of rows fourth moments are estimated to a few per cent.
    const MOST_ROWS: usize = 1 << 14;
    let n = (codes.len() / k.max(1)).min(MOST_ROWS);
    let mut out = Matrix::from_fn(k, n, |j, i| codes[i * k + j]);
    let centre = |row: &mut [f64]| {
        let mean = row.iter().sum::<f64>() / n.max(1) as f64;
        row.iter_mut().for_each(|y| *y -= mean);
    };
    for j in 0..k {
        let row = out.row_mut(j);
        centre(row);
        let variance = row.iter().map(|y| y * y).sum::<f64>() / n.max(1) as f64;
        row.iter_mut().for_each(|y| *y = if variance > 0.0 { *y * *y / variance } else { 0.0 });
        centre(row);
    }
    let sums = factor::multiply_transposed(&out, &out);
    Matrix::from_fn(k, k, |i, j| sums[(i, j)] / n.max(1) as f64)
}

/// The verdicts, given the interval for the agreement of halves on each component, or on the subspace of its
/// group. `complete`: there are as many components as columns.
pub(super) fn verdicts(groups: Vec<Vec<usize>>, intervals: &[(f64, f64)], complete: bool) -> Vec<Verdict> {
    let k = groups.len();
    let judge = |(others, interval): (Vec<usize>, &(f64, f64))| match (side(*interval), others.is_empty()) {
        (_, false) if complete && others.len() + 1 == k => Verdict::NotResolvable,
        (Side::Above, true) => Verdict::Resolved,
        (Side::Above, false) => Verdict::Group(others),
        (Side::Across, _) => Verdict::Undecided(others),
        (Side::Below, _) => Verdict::NotResolvable,
    };
    groups.into_iter().zip(intervals).map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_that_neither_variance_nor_independence_distinguishes_form_a_group() {
        let (v, p) = ([9.0, 4.0, 4.01, 1.0], [0.5, 0.5, 0.5, 0.5]);
        let by = |variances: bool, gaussian: bool, p: &[f64; 4]| {
            groups(
                4,
                &Evidence {
                    variances: variances.then_some(&v[..]),
                    squares: None,
                    gaussian: gaussian.then_some(&p[..]),
                    n: 1000.0,
                    times: &[1.0; 4],
                },
            )
        };
        assert_eq!(by(true, false, &p), [vec![], vec![2], vec![1], vec![]]);
        assert_eq!(by(false, true, &p)[0], [1, 2, 3], "four Gaussian sources");
        assert!(
            by(true, true, &[0.5, 0.5, 0.001, 0.5]).iter().all(Vec::is_empty),
            "one of a tie is not Gaussian"
        );
        assert_eq!(by(false, true, &[0.0, 0.5, 0.0, 0.5]), [vec![], vec![3], vec![], vec![1]]);
    }

    #[test]
    fn verdicts_follow_intervals() {
        let groups = || vec![vec![], vec![2], vec![1], vec![], vec![5], vec![4], vec![]];
        let (above, across, below) = ((0.9, 1.0), (0.6, 0.9), (0.1, 0.899));
        let found = verdicts(groups(), &[above, above, above, below, across, across, across], true);
        use Verdict::{Group, NotResolvable, Resolved, Undecided};
        let pair = |one| Undecided(vec![one]);
        assert_eq!(
            found,
            [Resolved, Group(vec![2]), Group(vec![1]), NotResolvable, pair(5), pair(4), Undecided(vec![])]
        );
        assert_eq!(found[1].in_words(), "resolved as a group with 2");
        assert_eq!(found[4].in_words(), "undecided as a group with 5: the interval crosses 0.9");
        assert_eq!(found[6].in_words(), "undecided: the interval crosses 0.9");
        let all = || vec![vec![1], vec![0]];
        assert_eq!(verdicts(all(), &[(1.0, 1.0); 2], true), [NotResolvable, NotResolvable]);
        assert_eq!(verdicts(all(), &[(1.0, 1.0); 2], false)[0], Group(vec![1]));
    }

    #[test]
    fn a_difference_of_variances_counts_in_its_own_standard_errors() {
        // Variances of 1 and 1 + d of n rows differ by d, whose standard error is 2 / sqrt(n) for Gaussian rows.
        let distinguishable = |d: f64, squares: Option<&Matrix<f64>>, time: f64| {
            let evidence = Evidence {
                variances: Some(&[1.0 + d, 1.0]),
                squares,
                gaussian: None,
                n: 10_000.0,
                times: &[time; 2],
            };
            groups(2, &evidence)[0].is_empty()
        };
        // sqrt(-2 ln 0.01) = 3.03 of them.
        assert!(distinguishable(0.065, None, 1.0) && !distinguishable(0.058, None, 1.0));
        assert!(
            !distinguishable(0.11, None, 4.0) && distinguishable(0.13, None, 4.0),
            "four rows count as one"
        );
        // Tails four times as heavy; light ones are taken for Gaussian.
        let of = |variance: f64| Matrix::from_fn(2, 2, |i, j| if i == j { variance } else { 0.0 });
        assert!(!distinguishable(0.11, Some(&of(8.0)), 1.0) && distinguishable(0.14, Some(&of(8.0)), 1.0));
        assert!(!distinguishable(0.058, Some(&of(0.1)), 1.0));
    }

    #[test]
    fn covariances_of_squares_are_those_of_the_distributions() {
        use crate::datasets::Distribution;
        let stream = crate::num::random::Stream::new(3, 1);
        let distributions = [Distribution::Gaussian, Distribution::Laplace, Distribution::Uniform];
        let codes: Vec<f64> =
            (0..3 << 14).map(|i| 5.0 + 3.0 * distributions[i % 3].draw(&stream, i as u64)).collect();
        let found = squares(&codes, 3);
        // Kurtoses 3, 6 and 1.8, less 1.
        for (j, (truth, slack)) in [(2.0, 0.2), (5.0, 1.0), (0.8, 0.05)].into_iter().enumerate() {
            assert!((found[(j, j)] - truth).abs() < slack, "{j}: {}", found[(j, j)]);
        }
        assert!(found[(0, 1)].abs() < 0.1 && found[(0, 1)] == found[(1, 0)]);
    }
}
