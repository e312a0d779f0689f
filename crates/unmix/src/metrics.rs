//! Similarity of two results, whatever their order and signs.

mod biclusters;
mod clusters;
mod sources;

pub(crate) use biclusters::jaccard;
pub use biclusters::{Bicluster, consensus_score};
pub use clusters::{adjusted_rand_index, clustering_accuracy, nmi};
pub use sources::{amari_distance, correlations, interference, mutual_information};

use crate::error::{Error, Result, counted};
use crate::num::{Matrix, factor};

/// Angles in radians between the subspaces spanned by the rows of `a` and of `b`, largest first.
///
/// Small angles come from sines, not from cosines: the arc cosine of a number near 1 has half the digits (Björck & Golub
/// 1973). As many angles as the smaller dimension; linearly dependent rows span fewer dimensions than there are rows. `O(k² p)`.
///
/// # Errors
///
/// Rows of different lengths; more rows than columns, which are no basis; numbers that are not finite.
pub fn subspace_angles(a: &Matrix<f64>, b: &Matrix<f64>) -> Result<Vec<f64>> {
    let SubspaceAngles { along, across, .. } = apart(a, b)?;
    let k = along.rows();
    let sines = factor::svd_right(&tall(&across.transposed()))?.0;
    let cosines = factor::svd_right(&tall(&along.transposed()))?.0;
    Ok((0..k)
        .map(|i| {
            let (sine, cosine) = (sines[i].min(1.0), cosines[k - 1 - i].min(1.0));
            if sine < std::f64::consts::FRAC_1_SQRT_2 { sine.asin() } else { cosine.acos() }
        })
        .collect())
}

/// `||P_a - P_b||_F`, the distance between the orthogonal projectors onto the spans of the rows of `a` and of `b`: 0 for the same
/// subspace, `sqrt(2 Σ sin² θ)` over the angles between subspaces of equal dimension, `sqrt(k_a + k_b)` for orthogonal ones.
///
/// Computed from orthogonal components, so that small distances are accurate. `O(k² p)`.
///
/// # Errors
///
/// Those of [`subspace_angles`].
pub fn projection_distance(a: &Matrix<f64>, b: &Matrix<f64>) -> Result<f64> {
    let SubspaceAngles { across, more, .. } = apart(a, b)?;
    let squares: f64 = across.as_slice().iter().map(|x| x * x).sum();
    Ok((more as f64 + 2.0 * squares).sqrt())
}

/// An orthonormal basis of the smaller of two subspaces, decomposed with respect to the larger one.
struct SubspaceAngles {
    /// Cosines between the vectors of the basis and those of the larger subspace.
    along: Matrix<f64>,
    /// The component of each vector of the basis that is orthogonal to the larger subspace.
    across: Matrix<f64>,
    /// Difference of the dimensions.
    more: usize,
}

fn apart(a: &Matrix<f64>, b: &Matrix<f64>) -> Result<SubspaceAngles> {
    if a.cols() != b.cols() {
        let (what, remedy) = ("the rows of the second basis".into(), "give rows of the same columns".into());
        return Err(Error::Width { what, need: a.cols(), got: b.cols(), remedy });
    }
    for m in [a, b] {
        let (k, p) = (m.rows(), m.cols());
        let wrong = match m.as_slice().iter().position(|x| !x.is_finite()) {
            Some(at) => Some(format!("entry {} of row {} is not a finite number", at % p, at / p)),
            None if k > p => {
                Some(format!("{k} rows of {} are not linearly independent", counted(p as u64, "number")))
            }
            None => None,
        };
        if let Some(found) = wrong {
            return Err(Error::unsupported("comparing subspaces", found, "give rows that are a basis"));
        }
    }
    let (qa, qb) = (span(a)?, span(b)?);
    let (qa, qb) = if qa.rows() >= qb.rows() { (qa, qb) } else { (qb, qa) };
    let mut across = qb.clone();
    let along = factor::multiply_transposed(&qb, &qa);
    factor::subtract_product(&mut across, &along, &qa);
    Ok(SubspaceAngles { along, across, more: qa.rows() - qb.rows() })
}

/// Orthonormal rows that span the rows of `a`: fewer of them where these are linearly dependent up to rounding.
fn span(a: &Matrix<f64>) -> Result<Matrix<f64>> {
    let k = a.rows();
    let (values, combinations) = factor::svd_right(&tall(&a.transposed()))?;
    let least = f64::EPSILON * k.max(a.cols()) as f64 * values.first().copied().unwrap_or(0.0);
    let rank = values.iter().filter(|value| **value > least).count();
    if rank == k {
        return Ok(factor::orthonormal_rows(a));
    }
    let combinations = Matrix::from_fn(rank, k, |i, j| combinations[(i, j)]);
    Ok(factor::orthonormal_rows(&factor::multiply(&combinations, a)))
}

/// The matrix, with rows of zeros so that it has at least as many rows as columns.
fn tall(a: &Matrix<f64>) -> Matrix<f64> {
    let rows = a.rows().max(a.cols());
    Matrix::from_fn(rows, a.cols(), |i, j| if i < a.rows() { a[(i, j)] } else { 0.0 })
}

/// A pairing of the rows of two matrices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Match {
    /// For each row of the first matrix, the row of the second that it is paired with.
    pub order: Vec<usize>,
    /// 1 or -1 for each pair.
    pub sign: Vec<f64>,
    /// [`similarity`] of each pair.
    pub cosine: Vec<f64>,
}

impl Match {
    /// Mean similarity of the pairs; 1 if there are none.
    pub fn mean(&self) -> f64 {
        if self.cosine.is_empty() { 1.0 } else { self.cosine.iter().sum::<f64>() / self.cosine.len() as f64 }
    }
}

/// Similarity of two directions, from 0 to 1, by their cosine: its absolute value, or, if codes are `non_negative`, the cosine if it is positive,
/// else 0, because the negative of a unit is then another unit. 0 for NaN, such as the correlation of constant codes.
pub fn similarity(cosine: f64, non_negative: bool) -> f64 {
    match (cosine.is_nan(), non_negative) {
        (true, _) => 0.0,
        (false, true) => cosine.clamp(0.0, 1.0),
        (false, false) => cosine.abs().min(1.0),
    }
}

/// Pairs the rows of `a` with rows of `b` (at least as many, of the same length) so that the sum of absolute cosines is largest. `O(k³)`,
/// and `O(k² p)` for the cosines.
///
/// # Panics
///
/// If `b` has fewer rows than `a`.
pub fn match_rows(a: &Matrix<f64>, b: &Matrix<f64>) -> Match {
    matched(a, b, false)
}

/// Pairs the units of two models with non-negative codes as [`match_rows`] does, but by positive cosines: the negative of a unit is another
/// unit, of similarity 0, and every sign is 1.
///
/// # Panics
///
/// If `b` has fewer rows than `a`.
pub fn match_units(a: &Matrix<f64>, b: &Matrix<f64>) -> Match {
    matched(a, b, true)
}

fn matched(a: &Matrix<f64>, b: &Matrix<f64>, non_negative: bool) -> Match {
    let (ka, kb) = (a.rows(), b.rows());
    assert_eq!(a.cols(), b.cols(), "rows of {} and of {} numbers cannot be compared", a.cols(), b.cols());
    assert!(ka <= kb, "{ka} rows cannot be matched one to one with {kb}");
    let (a, b) = (&of_usual_lengths(a), &of_usual_lengths(b));
    let norm = |r: &[f64]| r.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let cosine = Matrix::from_fn(ka, kb, |i, j| {
        let dot: f64 = a.row(i).iter().zip(b.row(j)).map(|(x, y)| x * y).sum();
        let cosine = dot / (norm(a.row(i)) * norm(b.row(j)));
        // NaN counts as no similarity.
        if cosine.is_finite() { cosine } else { 0.0 }
    });
    let alike = Matrix::from_fn(ka, kb, |i, j| similarity(cosine[(i, j)], non_negative));
    let order: Vec<usize> = pairs(&alike).into_iter().map(|(_, j)| j).collect();
    let sign = |i: usize| if cosine[(i, order[i])] < 0.0 && !non_negative { -1.0 } else { 1.0 };
    Match {
        sign: (0..ka).map(sign).collect(),
        cosine: (0..ka).map(|i| alike[(i, order[i])]).collect(),
        order,
    }
}

/// The same rows; those with squares that overflow or underflow divided by their largest entry. Only their directions count.
fn of_usual_lengths(m: &Matrix<f64>) -> Matrix<f64> {
    let mut m = m.clone();
    for i in 0..m.rows() {
        let squares: f64 = m.row(i).iter().map(|x| x * x).sum();
        let largest = m.row(i).iter().fold(0.0f64, |l, x| l.max(x.abs()));
        if !(1e-200..1e200).contains(&squares) && largest > 0.0 && largest.is_finite() {
            m.row_mut(i).iter_mut().for_each(|x| *x /= largest);
        }
    }
    m
}

/// Optimal pairs of rows and columns of a matrix of similarities, as many as the smaller number of these, in
/// the order of the rows: they maximise the sum of absolute values. NaN counts as no similarity. `O(k³)`.
///
/// Components are always matched by this function: rows by their cosines in [`match_rows`], fits of halves in
/// [`stability`](mod@crate::stability), and two models that are compared on a page.
pub fn pairs(alike: &Matrix<f64>) -> Vec<(usize, usize)> {
    let cost = |i: usize, j: usize| if alike[(i, j)].is_finite() { 1.0 - alike[(i, j)].abs() } else { 1.0 };
    let (rows, columns) = (alike.rows(), alike.cols());
    if rows <= columns {
        return assignment(&Matrix::from_fn(rows, columns, cost)).into_iter().enumerate().collect();
    }
    let order = assignment(&Matrix::from_fn(columns, rows, |j, i| cost(i, j)));
    let mut found: Vec<(usize, usize)> = order.into_iter().enumerate().map(|(j, i)| (i, j)).collect();
    found.sort_unstable();
    found
}

/// Mean absolute cosine of the pairs of [`match_rows`]: 1 for the same directions whatever their order, sign
/// and length. The value for random directions is far from 0: about 0.46 for two sets of 30 directions in 20
/// dimensions. With no rows it is 1.
pub fn matched_cosine(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    match_rows(a, b).mean()
}

/// The assignment of rows to distinct columns (at least as many) with the smallest sum of costs, by shortest augmenting paths with
/// potentials (Jonker & Volgenant 1987): the column of each row. `O(n² m)` for `n` rows and `m` columns.
///
/// # Panics
///
/// If there are more rows than columns, or costs that are not finite.
pub fn assignment(cost: &Matrix<f64>) -> Vec<usize> {
    let (n, m) = (cost.rows(), cost.cols());
    assert!(n <= m, "{n} rows cannot be matched one to one with {m} columns");
    assert!(cost.as_slice().iter().all(|c| c.is_finite()), "costs must be finite");
    let (mut u, mut v) = (vec![0.0; n + 1], vec![0.0; m + 1]);
    // owner[j]: the row, from 1, that column j, from 1, is assigned to.
    let (mut owner, mut way) = (vec![0usize; m + 1], vec![0usize; m + 1]);
    for i in 1..=n {
        owner[0] = i;
        let mut column = 0;
        let (mut least, mut used) = (vec![f64::INFINITY; m + 1], vec![false; m + 1]);
        while owner[column] != 0 {
            used[column] = true;
            let row = owner[column];
            let (mut delta, mut next) = (f64::INFINITY, 0);
            for j in 1..=m {
                if used[j] {
                    continue;
                }
                let reduced = cost[(row - 1, j - 1)] - u[row] - v[j];
                if reduced < least[j] {
                    (least[j], way[j]) = (reduced, column);
                }
                if least[j] < delta {
                    (delta, next) = (least[j], j);
                }
            }
            for j in 0..=m {
                if used[j] {
                    u[owner[j]] += delta;
                    v[j] -= delta;
                } else {
                    least[j] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            let previous = way[column];
            owner[column] = owner[previous];
            column = previous;
        }
    }
    let mut order = vec![0; n];
    (1..=m).filter(|&j| owner[j] != 0).for_each(|j| order[owner[j] - 1] = j - 1);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn subspaces_of_rows_of_other_lengths_are_refused() {
        let (a, b) =
            (Matrix::from_fn(2, 3, |i, j| (i + j) as f64), Matrix::from_fn(2, 4, |i, j| (i * j) as f64));
        assert!(subspace_angles(&a, &b).unwrap_err().to_string().contains("rows of the same columns"));
        assert!(projection_distance(&b, &a).is_err());
    }

    /// Only directions count: squares of the numbers overflow or underflow here.
    #[test]
    fn rows_of_any_length_are_matched() {
        let s = Stream::new(4, 0);
        let a = Matrix::from_fn(3, 5, |i, j| s.normal((i * 5 + j) as u64));
        for size in [1e-300, 1e-170, 1e-150, 1.0, 1e160, 1e300] {
            let b = Matrix::from_fn(3, 5, |i, j| -size * a[(2 - i, j)]);
            for (first, second) in [(&a, &b), (&b, &a), (&b, &b)] {
                let found = match_rows(first, second);
                assert!(found.cosine.iter().all(|c| (c - 1.0).abs() < 1e-14), "{size}: {:?}", found.cosine);
            }
            assert_eq!((match_rows(&a, &b).order, match_rows(&a, &b).sign), (vec![2, 1, 0], vec![-1.0; 3]));
        }
        let zero = Matrix::zeros(3, 5);
        assert_eq!(matched_cosine(&a, &zero), 0.0);
    }

    #[test]
    fn small_angles_keep_their_digits() {
        for angle in [1e-12, 1e-6, 0.3, 1.2] {
            let a = Matrix::from_vec(2, 4, vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
            let (sine, cosine) = f64::sin_cos(angle);
            let b = Matrix::from_vec(2, 4, vec![0.0, 1.0, 0.0, 0.0, cosine, 0.0, sine, 0.0]);
            let found = subspace_angles(&a, &b).unwrap();
            assert!((found[0] / angle - 1.0).abs() < 1e-3 && found[1] < 1e-15, "{found:?} for {angle}");
        }
    }

    #[test]
    fn the_distance_of_projectors_is_that_of_the_matrices_and_small_ones_keep_their_digits() {
        let s = Stream::new(3, 0);
        let normal =
            |k: usize, first: u64| Matrix::from_fn(k, 7, |i, j| s.normal(first + (7 * i + j) as u64));
        let projector = |m: &Matrix<f64>| {
            let q = factor::orthonormal_rows(m);
            factor::multiply(&q.transposed(), &q)
        };
        for (ka, kb) in [(3, 3), (2, 5), (5, 2), (7, 1), (0, 3)] {
            let (a, b) = (normal(ka, 0), normal(kb, 100));
            let (pa, pb) = (projector(&a), projector(&b));
            let want: f64 = pa.as_slice().iter().zip(pb.as_slice()).map(|(x, y)| (x - y) * (x - y)).sum();
            let found = projection_distance(&a, &b).unwrap();
            assert!((found - want.sqrt()).abs() < 1e-13, "{ka} and {kb}: {found}, {}", want.sqrt());
            let angles = subspace_angles(&a, &b).unwrap();
            let by_angles =
                2.0 * angles.iter().map(|t| t.sin().powi(2)).sum::<f64>() + ka.abs_diff(kb) as f64;
            assert!((found - by_angles.sqrt()).abs() < 1e-13);
        }
        let a = Matrix::from_vec(1, 2, vec![1.0, 0.0]);
        let b = Matrix::from_vec(1, 2, vec![1.0, 1e-10]);
        assert!((projection_distance(&a, &b).unwrap() / (2f64.sqrt() * 1e-10) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn dependent_rows_span_fewer_dimensions() {
        let twice = Matrix::from_vec(2, 3, vec![1.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
        let plane = Matrix::from_vec(2, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        // A line in the plane: one angle, of 0, and one dimension more.
        assert!(subspace_angles(&twice, &plane).unwrap().iter().all(|angle| *angle < 1e-15));
        assert_eq!(subspace_angles(&twice, &plane).unwrap().len(), 1);
        assert!((projection_distance(&twice, &plane).unwrap() - 1.0).abs() < 1e-15);
        let across = Matrix::from_vec(2, 3, vec![0.0, 0.0, 3.0, 0.0, 0.0, 0.0]);
        let angles = subspace_angles(&twice, &across).unwrap();
        assert!(angles.len() == 1 && (angles[0] - std::f64::consts::FRAC_PI_2).abs() < 1e-15, "{angles:?}");
        assert!(subspace_angles(&Matrix::zeros(1, 3), &plane).unwrap().is_empty());
    }

    #[test]
    fn dependent_and_non_finite_rows_are_refused() {
        let square = Matrix::from_fn(2, 2, |i, j| f64::from(u8::from(i == j)));
        let long = Matrix::from_fn(3, 2, |i, j| (i + 2 * j) as f64);
        let refused = |a: &Matrix<f64>| subspace_angles(a, &square).unwrap_err().to_string();
        assert!(refused(&long).contains("3 rows of 2 numbers are not linearly independent"));
        assert!(refused(&Matrix::from_vec(1, 2, vec![0.0, f64::NAN])).contains("entry 1 of row 0"));
    }

    #[test]
    fn the_matched_cosine_of_random_rows_is_nearly_a_half() {
        let s = Stream::new(4, 0);
        let mut total = 0.0;
        for trial in 0..10u64 {
            let made = |part: u64| {
                Matrix::from_fn(30, 20, |i, j| s.normal((2 * trial + part) * 600 + (20 * i + j) as u64))
            };
            total += matched_cosine(&made(0), &made(1)) / 10.0;
        }
        assert!((total - 0.467).abs() < 0.01, "{total}");
    }

    #[test]
    fn permuted_rows_are_matched_with_their_signs() {
        let s = Stream::new(1, 0);
        let b = Matrix::from_fn(6, 9, |i, j| s.normal((9 * i + j) as u64));
        let (order, sign) = ([3, 0, 5, 1], [-1.0, 1.0, 1.0, -1.0]);
        let a = Matrix::from_fn(4, 9, |i, j| 2.5 * sign[i] * b[(order[i], j)]);
        let found = match_rows(&a, &b);
        assert_eq!((found.order.as_slice(), found.sign.as_slice()), (&order[..], &sign[..]));
        assert!(found.cosine.iter().all(|c| (c - 1.0).abs() < 1e-14));
    }

    #[test]
    fn the_negative_of_a_unit_is_another_unit() {
        let a = Matrix::from_fn(5, 9, |i, j| f64::from(u8::from(i == j)));
        let opposite = Matrix::from_fn(5, 9, |i, j| -a[(4 - i, j)]);
        let (rows, units) = (match_rows(&a, &opposite), match_units(&a, &opposite));
        assert_eq!(rows.order, [4, 3, 2, 1, 0]);
        assert!((rows.mean() - 1.0).abs() < 1e-14 && rows.sign.iter().all(|sign| *sign == -1.0));
        assert!(
            units.sign.iter().all(|sign| *sign == 1.0) && units.cosine.iter().all(|c| *c == 0.0),
            "{units:?}"
        );
        // A unit, its negative and a third one: each finds itself, not its negative.
        let both = Matrix::from_fn(3, 9, |i, j| [a[(0, j)], -a[(0, j)], a[(1, j)]][i]);
        let turned = Matrix::from_fn(3, 9, |i, j| both[([1, 2, 0][i], j)]);
        assert_eq!(match_units(&both, &turned).order, [2, 0, 1]);
        assert_eq!(
            (similarity(-0.9, true), similarity(-0.9, false), similarity(f64::NAN, false)),
            (0.0, 0.9, 0.0)
        );
    }

    #[test]
    fn pairs_of_a_transposed_table_are_the_same() {
        let s = Stream::new(7, 0);
        let wide = Matrix::from_fn(3, 5, |i, j| s.normal((5 * i + j) as u64).tanh());
        let mut transposed_pairs: Vec<(usize, usize)> =
            pairs(&wide.transposed()).into_iter().map(|(i, j)| (j, i)).collect();
        transposed_pairs.sort_unstable();
        assert_eq!(pairs(&wide), transposed_pairs);
        // The sum is maximised, not the largest entry: 0.8 + 0.7 is more than 0.9 + 0.1. NaN counts as no
        // similarity.
        let table = Matrix::from_vec(2, 2, vec![-0.9, 0.8, 0.7, 0.1]);
        assert_eq!(pairs(&table), [(0, 1), (1, 0)]);
        assert_eq!(pairs(&Matrix::from_vec(1, 2, vec![f64::NAN, 0.1])), [(0, 1)]);
    }

    #[test]
    fn the_assignment_is_the_cheapest_of_all_permutations() {
        let s = Stream::new(2, 0);
        for trial in 0..50 {
            let c = Matrix::from_fn(4, 4, |i, j| s.uniform(trial * 16 + (4 * i + j) as u64));
            let order = assignment(&c);
            let cost = |o: &[usize]| (0..4).map(|i| c[(i, o[i])]).sum::<f64>();
            let mut best = f64::INFINITY;
            for code in 0..256usize {
                let o = [code & 3, (code >> 2) & 3, (code >> 4) & 3, code >> 6];
                if (0..4).all(|j| o.contains(&j)) {
                    best = best.min(cost(&o));
                }
            }
            assert!((cost(&order) - best).abs() < 1e-12);
        }
    }
}
