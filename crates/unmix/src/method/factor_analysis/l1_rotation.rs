//! Rotations of pairs of factors to the least sum of absolute loadings.
//!
//! The likelihood does not depend on the rotation of the factors, so that only the penalty of the loadings determines it. Steps of
//! expectation-maximisation turn the factors by about `l1 psi / l^2` each: thousands of steps where the noise is small.
//!
//! ```text
//! factors a, b by the angle t:   sum_i r_i (|cos(t - u_i)| + |sin(t - u_i)|),   (l_ai, l_bi) = r_i (cos, sin) of u_i up to right angles
//! ```
//!
//! is concave between the angles `u_i`, so that its minimum over `t` is at one of these, where a loading of column `i` is 0. All are compared by
//! sums over the columns in the order of their angles: `O(p log p)` a pair.

use crate::num::Matrix;

/// The angle of a column in the plane of two factors, reduced to the first quadrant by right angles, which exchange the factors.
struct Angle {
    /// Length of the loadings times the cosine and the sine of the angle.
    x: f64,
    y: f64,
    length: f64,
    column: usize,
}

/// Rotates pairs of the rows of `loadings`, each once, to the least sum of absolute values. Returns by how much the sum over all loadings has
/// fallen.
pub(super) fn rotate_pairs(loadings: &mut Matrix<f64>) -> f64 {
    let mut angles = Vec::with_capacity(loadings.cols());
    let mut fall = 0.0;
    for a in 1..loadings.rows() {
        for b in 0..a {
            fall += rotate_pair(loadings, a, b, &mut angles);
        }
    }
    fall
}

fn sum_of_both(loadings: &Matrix<f64>, a: usize, b: usize) -> f64 {
    loadings.row(a).iter().chain(loadings.row(b)).map(|x| x.abs()).sum()
}

fn rotate_pair(loadings: &mut Matrix<f64>, a: usize, b: usize, angles: &mut Vec<Angle>) -> f64 {
    angles.clear();
    let pairs = loadings.row(a).iter().zip(loadings.row(b)).enumerate();
    angles.extend(pairs.filter_map(|(column, (l, m))| {
        let (x, y) = if l * m >= 0.0 { (l.abs(), m.abs()) } else { (m.abs(), l.abs()) };
        let length = x.hypot(y);
        (length > 0.0).then_some(Angle { x, y, length, column })
    }));
    // The sine ascends with the angle; the order is that of the columns where angles are equal.
    angles.sort_by(|s, t| (s.y / s.length).total_cmp(&(t.y / t.length)));
    let (all_x, all_y) = angles.iter().fold((0.0, 0.0), |(x, y), angle| (x + angle.x, y + angle.y));
    let before = sum_of_both(loadings, a, b);
    let (mut least, mut best) = (before, None);
    let (mut below_x, mut below_y) = (0.0, 0.0);
    for angle in angles.iter() {
        (below_x, below_y) = (below_x + angle.x, below_y + angle.y);
        let (cos, sin) = (angle.x / angle.length, angle.y / angle.length);
        let sum = cos * (all_x - 2.0 * below_y + all_y) + sin * (all_y + 2.0 * below_x - all_x);
        if sum < least {
            (least, best) = (sum, Some((cos, sin, angle.column)));
        }
    }
    // A smaller fall is a rounding error.
    let Some((cos, sin, column)) = best.filter(|_| before - least > 1e-12 * before) else { return 0.0 };
    // The nearer of the two right angles: rows stay those of their factors.
    let (cos, sin) = if sin > cos { (sin, -cos) } else { (cos, sin) };
    for i in 0..loadings.cols() {
        let (l, m) = (loadings[(a, i)], loadings[(b, i)]);
        (loadings[(a, i)], loadings[(b, i)]) = (cos * l + sin * m, cos * m - sin * l);
    }
    let zero = if loadings[(a, column)].abs() <= loadings[(b, column)].abs() { a } else { b };
    loadings[(zero, column)] = 0.0;
    before - sum_of_both(loadings, a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::factor;
    use crate::num::random::Stream;

    fn sum(loadings: &Matrix<f64>) -> f64 {
        loadings.as_slice().iter().map(|x| x.abs()).sum()
    }

    fn turned(loadings: &Matrix<f64>, angle: f64) -> Matrix<f64> {
        let (sin, cos) = angle.sin_cos();
        factor::multiply(&Matrix::from_vec(2, 2, vec![cos, sin, -sin, cos]), loadings)
    }

    #[test]
    fn no_angle_has_a_smaller_sum_and_the_products_stay() {
        let draws = Stream::new(3, 0);
        for p in [1, 2, 9] {
            let loadings = Matrix::from_fn(2, p, |j, i| draws.normal((100 * p + j * p + i) as u64));
            let mut found = loadings.clone();
            let fall = rotate_pairs(&mut found);
            assert!((sum(&loadings) - sum(&found) - fall).abs() < 1e-12);
            assert!(found.as_slice().contains(&0.0));
            for step in 0..2000 {
                let other = sum(&turned(&loadings, f64::from(step) * std::f64::consts::PI / 2000.0));
                assert!(other >= sum(&found) - 1e-12, "{p} columns, angle {step}: {other} {}", sum(&found));
            }
            let products = |l: &Matrix<f64>| factor::multiply_transposed(&l.transposed(), &l.transposed());
            let (before, after) = (products(&loadings), products(&found));
            let apart = before.as_slice().iter().zip(after.as_slice()).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) < 1e-12);
            assert_eq!(rotate_pairs(&mut found), 0.0);
        }
    }

    #[test]
    fn simple_structure_is_recovered_and_signs_of_columns_change_no_bit() {
        let simple = Matrix::from_fn(2, 6, |j, i| if i % 2 == j { 1.0 + 0.1 * i as f64 } else { 0.0 });
        let mut found = turned(&simple, 0.4);
        let mut flipped = Matrix::from_fn(2, 6, |j, i| if i < 3 { -found[(j, i)] } else { found[(j, i)] });
        rotate_pairs(&mut found);
        rotate_pairs(&mut flipped);
        for j in 0..2 {
            for i in 0..6 {
                assert!((found[(j, i)] - simple[(j, i)]).abs() < 1e-12, "{found:?}");
                assert_eq!(flipped[(j, i)], if i < 3 { -found[(j, i)] } else { found[(j, i)] });
            }
        }
        let mut none = Matrix::zeros(3, 4);
        assert_eq!(rotate_pairs(&mut none), 0.0);
    }
}
