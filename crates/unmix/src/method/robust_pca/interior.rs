//! Least absolute deviations of a long row by an interior-point method (Portnoy & Koenker 1997), for rows with noise in every cell.
//!
//! The dual, `max y'x` over `V y = 0` and `|y| <= 1`, is a linear programme in `a = (y + 1) / 2`, between 0 and 1. Each iteration is a
//! weighted least-squares problem for the code, with predictor and corrector (Mehrotra 1992): about 15 iterations, `O(m r²)` each,
//! whereas the number of simplex steps is proportional to `r` and to the number of cells whose signs change.

use super::l1::{Deviations, GAP_TOL, dot};
use crate::num::{Matrix, factor};

/// Maximum number of iterations.
const MOST_ITERATIONS: usize = 60;
/// Step length as a fraction of the distance to the boundary.
const BOUNDARY_SHARE: f64 = 0.9995;
/// Number of iterations before the gap is computed.
const ITERATIONS_BEFORE_GAP: usize = 6;

/// A point of the iteration: `a` and `s = 1 - a`, the multipliers `z` and `w` of their bounds, `m` numbers each, and the code.
struct InteriorPoint {
    a: Vec<f64>,
    s: Vec<f64>,
    z: Vec<f64>,
    w: Vec<f64>,
    code: Vec<f64>,
}

/// A step of all variables; that of `s` is minus that of `a`.
struct StepDirection {
    a: Vec<f64>,
    z: Vec<f64>,
    w: Vec<f64>,
    code: Vec<f64>,
}

impl Deviations<'_> {
    /// The code and its gap, as a fraction of `||x||_1`, at most [`GAP_TOL`]; `None` if rounding errors prevent convergence.
    pub(super) fn interior(&self, size: f64) -> Option<(Vec<f64>, f64)> {
        let mut at = self.initial(size)?;
        for step in 0..MOST_ITERATIONS {
            if step >= ITERATIONS_BEFORE_GAP {
                let y = at.a.iter().map(|a| 2.0 * a - 1.0).collect();
                let gap = self.gap(&self.residuals(&at.code), y, size);
                if gap <= GAP_TOL {
                    return Some((at.code, gap));
                }
            }
            self.advance(&mut at)?;
        }
        None
    }

    /// The initial point: least squares, and `a` in the middle.
    fn initial(&self, size: f64) -> Option<InteriorPoint> {
        let m = self.x.len();
        let code = self.products(self.x);
        let small = 1e-3 * size / m as f64;
        let mut at = InteriorPoint { a: vec![0.5; m], s: vec![0.5; m], z: Vec::new(), w: Vec::new(), code };
        for left in self.residuals(&at.code) {
            let rest = if left == 0.0 { small } else { -left };
            at.z.push(rest.max(0.0) + small);
            at.w.push((-rest).max(0.0) + small);
        }
        (size > 0.0).then_some(at)
    }

    /// One iteration; `None` if the weighted matrix is not positive definite.
    fn advance(&self, at: &mut InteriorPoint) -> Option<()> {
        let m = self.x.len();
        let q: Vec<f64> = (0..m).map(|j| 1.0 / (at.z[j] / at.a[j] + at.w[j] / at.s[j])).collect();
        let gram = factor::Cholesky::new(&self.weighted(&q))?;
        let plain: Vec<f64> = self.residuals(&at.code).iter().map(|l| -l).collect();
        let mut direction = self.direction(at, &gram, &q, &plain, None);
        let (primal, dual) = step_lengths(at, &direction);
        if primal.min(dual) < 1.0 {
            let now = dot(&at.z, &at.a) + dot(&at.w, &at.s);
            let next: f64 = (0..m)
                .map(|j| {
                    (at.z[j] + dual * direction.z[j]) * (at.a[j] + primal * direction.a[j])
                        + (at.w[j] + dual * direction.w[j]) * (at.s[j] - primal * direction.a[j])
                })
                .sum();
            let target = now * (next / now).powi(3) / (2 * m) as f64;
            direction = self.direction(at, &gram, &q, &plain, Some((target, &direction)));
        }
        let (primal, dual) = step_lengths(at, &direction);
        for j in 0..m {
            at.a[j] += primal * direction.a[j];
            at.s[j] -= primal * direction.a[j];
            at.z[j] += dual * direction.z[j];
            at.w[j] += dual * direction.w[j];
        }
        at.code.iter_mut().zip(&direction.code).for_each(|(c, d)| *c += dual * d);
        at.code.iter().all(|c| c.is_finite()).then_some(())
    }

    /// Newton's step to complementarity of 0, or of `target` with the second-order terms of the previous step.
    fn direction(
        &self,
        at: &InteriorPoint,
        gram: &factor::Cholesky,
        q: &[f64],
        rest: &[f64],
        corrected: Option<(f64, &StepDirection)>,
    ) -> StepDirection {
        let m = self.x.len();
        // Target of complementarity, over `a` and over `s`.
        let aim = |j: usize| match corrected {
            None => (0.0, 0.0),
            Some((target, direction)) => (
                (target - direction.a[j] * direction.z[j]) / at.a[j],
                (target + direction.a[j] * direction.w[j]) / at.s[j],
            ),
        };
        // `rest` is the required value of z - w; V a = V 1/2 holds from the start, up to rounding errors.
        let required: Vec<f64> = (0..m)
            .map(|j| {
                let (of_a, of_s) = aim(j);
                rest[j] - of_a + of_s
            })
            .collect();
        let off: Vec<f64> = at.a.iter().map(|a| 0.5 - a).collect();
        let mut right = self.products(&required.iter().zip(q).map(|(p, q)| p * q).collect::<Vec<_>>());
        right.iter_mut().zip(self.products(&off)).for_each(|(r, o)| *r += o);
        let solution = gram.solve_rows(&Matrix::from_vec(1, right.len(), right)).into_vec();
        let fitted = self.fitted(&solution);
        let mut direction = StepDirection {
            a: Vec::with_capacity(m),
            z: Vec::with_capacity(m),
            w: Vec::with_capacity(m),
            code: Vec::new(),
        };
        for j in 0..m {
            let (of_a, of_s) = aim(j);
            let da = q[j] * (fitted[j] - required[j]);
            direction.a.push(da);
            direction.z.push(of_a - at.z[j] - at.z[j] * da / at.a[j]);
            direction.w.push(of_s - at.w[j] + at.w[j] * da / at.s[j]);
        }
        // The multipliers of V a = V 1/2 are minus the code.
        direction.code = solution.iter().map(|t| -t).collect();
        direction
    }

    /// `V diag(q) V'`.
    fn weighted(&self, q: &[f64]) -> Matrix<f64> {
        let r = self.v.rows();
        let mut gram = Matrix::zeros(r, r);
        for a in 0..r {
            let line: Vec<f64> = self.v.row(a).iter().zip(q).map(|(v, q)| v * q).collect();
            for b in 0..=a {
                let sum = dot(&line, self.v.row(b));
                (gram[(a, b)], gram[(b, a)]) = (sum, sum);
            }
        }
        gram
    }
}

/// Maximum step lengths of the primal and the dual variables, at most 1.
fn step_lengths(at: &InteriorPoint, direction: &StepDirection) -> (f64, f64) {
    let most = |of: &[f64], direction: &[f64], sign: f64| {
        of.iter()
            .zip(direction)
            .fold(f64::INFINITY, |m, (x, d)| if sign * d < 0.0 { m.min(-x / (sign * d)) } else { m })
    };
    let primal = most(&at.a, &direction.a, 1.0).min(most(&at.s, &direction.a, -1.0));
    let dual = most(&at.z, &direction.z, 1.0).min(most(&at.w, &direction.w, 1.0));
    ((BOUNDARY_SHARE * primal).min(1.0), (BOUNDARY_SHARE * dual).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    fn axes(r: usize, m: usize, seed: u64) -> Matrix<f64> {
        let draws = Stream::new(seed, 0);
        factor::orthonormal_rows(&Matrix::from_fn(r, m, |i, j| draws.normal((i * m + j) as u64)))
    }

    /// A row: a code times V, noise, and large errors in a tenth of the cells.
    fn row(v: &Matrix<f64>, noise: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let draws = Stream::new(seed, 1);
        let code: Vec<f64> = (0..v.rows()).map(|i| 3.0 * draws.normal(i as u64)).collect();
        let mut x = Deviations { v, x: &vec![0.0; v.cols()] }.fitted(&code);
        for (j, x) in x.iter_mut().enumerate() {
            *x += noise * draws.normal(1000 + j as u64);
            *x += if j % 10 == 3 { 3.0 * draws.normal(9000 + j as u64).signum() } else { 0.0 };
        }
        (code, x)
    }

    #[test]
    fn the_interior_point_method_has_the_value_of_the_vertex() {
        for (r, m, noise) in [(1, 200, 0.2), (5, 250, 0.1), (20, 300, 0.3), (12, 3000, 0.05)] {
            let v = axes(r, m, 8);
            for seed in 0..4 {
                let (_, x) = row(&v, noise, seed);
                let of = Deviations { v: &v, x: &x };
                let size: f64 = x.iter().map(|x| x.abs()).sum();
                let (code, gap) = of.interior(size).unwrap();
                let value = |code: &[f64]| of.residuals(code).iter().map(|l| l.abs()).sum::<f64>();
                let (vertex, least) = of.solve();
                assert!(gap <= GAP_TOL && least <= GAP_TOL, "{r} of {m}: {gap:e}, {least:e}");
                assert!((value(&code) / value(&vertex) - 1.0).abs() < 1e-4, "{r} of {m}");
                // At any scale, to the same relative accuracy.
                let large: Vec<f64> = x.iter().map(|x| 1e6 * x).collect();
                let (scaled, _) = Deviations { v: &v, x: &large }.interior(1e6 * size).unwrap();
                let far = scaled.iter().zip(&code).fold(0.0f64, |m, (a, b)| m.max((a / 1e6 - b).abs()));
                assert!(far < 1e-3 * noise, "{r} of {m}: {far:e}");
            }
        }
        // A row of zeros, and one that is fitted exactly.
        let v = axes(3, 220, 2);
        assert_eq!(Deviations { v: &v, x: &[0.0; 220] }.solve_noisy(), (vec![0.0; 3], 0.0));
        let (code, x) = row(&v, 0.0, 3);
        let (found, gap) = Deviations { v: &v, x: &x }.solve_noisy();
        assert!(gap <= GAP_TOL && found.iter().zip(&code).all(|(a, b)| (a - b).abs() < 1e-3));
    }
}
