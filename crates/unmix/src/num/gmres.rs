//! Linear systems whose matrix is available only through products with vectors.

/// An approximate solution of `A x = b`, by restarted GMRES (Saad & Schultz 1986) with left preconditioning, started at the
/// preconditioned right-hand side. Ends when the norm of the preconditioned residual is at most `tol` times that at `x = 0`, or after
/// `cycles` cycles of at most `size` products, and one more for the residual, each. `O(size)` vectors of memory.
pub(crate) fn gmres(
    apply: impl Fn(&[f64]) -> Vec<f64>,
    precondition: impl Fn(&[f64]) -> Vec<f64>,
    b: &[f64],
    tol: f64,
    size: usize,
    cycles: usize,
) -> Vec<f64> {
    let goal = tol * norm(&precondition(b));
    let mut x = precondition(b);
    for _ in 0..cycles {
        let residual: Vec<f64> = apply(&x).iter().zip(b).map(|(ax, b)| b - ax).collect();
        let first = precondition(&residual);
        let length = norm(&first);
        if length <= goal || !length.is_finite() {
            break;
        }
        let mut basis = vec![first.iter().map(|v| v / length).collect::<Vec<f64>>()];
        // The triangular matrix of the least-squares problem, its Givens rotations and its right-hand side, column by column.
        let (mut triangle, mut rotations, mut side) = (Vec::<Vec<f64>>::new(), Vec::new(), vec![length]);
        while triangle.len() < size {
            let mut next = precondition(&apply(&basis[basis.len() - 1]));
            let mut column = Vec::with_capacity(basis.len() + 1);
            for v in &basis {
                let along = dot(&next, v);
                next.iter_mut().zip(v).for_each(|(n, v)| *n -= along * v);
                column.push(along);
            }
            let left = norm(&next);
            for (i, &(cos, sin)) in rotations.iter().enumerate() {
                let (upper, lower): (f64, f64) = (column[i], column[i + 1]);
                (column[i], column[i + 1]) = (cos * upper + sin * lower, cos * lower - sin * upper);
            }
            let last = column.len() - 1;
            let both = column[last].hypot(left);
            if both == 0.0 || !both.is_finite() {
                break;
            }
            let (cos, sin) = (column[last] / both, left / both);
            column[last] = both;
            triangle.push(column);
            rotations.push((cos, sin));
            side.push(-sin * side[last]);
            side[last] *= cos;
            if left <= 1e-14 * both || side[last + 1].abs() <= goal {
                break;
            }
            basis.push(next.iter().map(|v| v / left).collect());
        }
        let m = triangle.len();
        let mut weights = side[..m].to_vec();
        for i in (0..m).rev() {
            weights[i] /= triangle[i][i];
            let w = weights[i];
            (0..i).for_each(|j| weights[j] -= w * triangle[i][j]);
        }
        for (v, w) in basis.iter().zip(&weights) {
            x.iter_mut().zip(v).for_each(|(x, v)| *x += w * v);
        }
    }
    x
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn linear_systems_are_solved_within_one_cycle_and_over_several() {
        let (n, s) = (60, Stream::new(4, 4));
        let a: Vec<f64> = (0..n * n)
            .map(|i| 0.1 * s.normal(i as u64) + if i % (n + 1) == 0 { 2.0 + (i % 7) as f64 } else { 0.0 })
            .collect();
        let apply = |x: &[f64]| a.chunks_exact(n).map(|row| dot(row, x)).collect::<Vec<f64>>();
        let divide = |x: &[f64]| (0..n).map(|i| x[i] / a[i * (n + 1)]).collect::<Vec<f64>>();
        let truth: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        for (size, cycles) in [(60, 1), (8, 20)] {
            let x = gmres(apply, divide, &apply(&truth), 1e-10, size, cycles);
            let error = x.iter().zip(&truth).fold(0.0f64, |m, (x, t)| m.max((x - t).abs()));
            assert!(error < 1e-8, "cycles of {size}: {error:e}");
        }
        assert_eq!(gmres(apply, divide, &vec![0.0; n], 1e-10, 10, 2), vec![0.0; n]);
    }
}
