//! The code of a row by least absolute deviations, `min_c ||x - c V||_1` for orthonormal rows `V`, with its duality gap.
//!
//! The alternating direction method of multipliers (ADMM) converges in a few steps if most residuals are 0, and slowly if every cell has
//! noise. It only has to identify most of the cells with residual 0: least squares over these gives the code, whose optimality the gap
//! proves. With noise the solution interpolates as many cells as there are components, a vertex of the linear programme, and the simplex
//! method (`simplex.rs`) terminates after finitely many steps. The gap is that to the dual, `max y'x` over `||y||_∞ <= 1`, `V y = 0`.

use super::cells::{median, soft};
use crate::num::{Matrix, factor, widest};

/// Tolerance on the gap as a fraction of `||x||_1`: about the accuracy of the row space of a fit.
pub(super) const GAP_TOL: f64 = 1e-6;
/// Tolerance of ADMM on the primal and dual residual, as fractions of `||x||`, and its maximum number of iterations.
const RESIDUAL_TOL: f64 = 1e-9;
const MOST_ALTERNATIONS: usize = 60;
/// Iterations between two attempts to finish by least squares, and the maximum residual of exact cells, as a fraction of the median
/// of `|x|`.
const ITERATIONS_BETWEEN_ATTEMPTS: usize = 6;
const EXACT_RESIDUAL_SHARE: f64 = 1e-3;
/// Number of cells from which rows with noise are solved by an interior-point method.
const INTERIOR_POINT_CELLS: usize = 200;

/// A row, and the basis of its low-rank part.
pub(super) struct Deviations<'a> {
    /// Orthonormal rows, `r x m`.
    pub(super) v: &'a Matrix<f64>,
    /// `m` numbers.
    pub(super) x: &'a [f64],
}

/// In eight independent sums, so that the loop is vectorised.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a8, a1) = a.as_chunks::<8>();
    let (b8, b1) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a8.iter().zip(b8) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f64 = a1.iter().zip(b1).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// The step of the multipliers `u` and of the residuals `s` for codes with these fitted cells; squared norms of the constraint residual and
/// of the change of `s`, in eight partial sums each.
fn moved(x: &[f64], fitted: &[f64], (s, u): (&mut [f64], &mut [f64]), threshold: f64) -> [f64; 2] {
    const LANES: usize = 8;
    #[inline(always)]
    fn cell(x: f64, fitted: f64, (s, u): (f64, f64), threshold: f64) -> ([f64; 2], [f64; 2]) {
        let w = x - fitted - u;
        let new = soft(w, threshold);
        ([new, new - w], [(fitted + new - x).powi(2), (new - s).powi(2)])
    }
    widest(
        #[inline(always)]
        || {
            let mut sums = [[0.0; LANES]; 2];
            let ((s8, s1), (u8, u1)) = (s.as_chunks_mut::<LANES>(), u.as_chunks_mut::<LANES>());
            let ((x8, x1), (f8, f1)) = (x.as_chunks::<LANES>(), fitted.as_chunks::<LANES>());
            for ((s, u), (x, f)) in s8.iter_mut().zip(u8).zip(x8.iter().zip(f8)) {
                for lane in 0..LANES {
                    let (new, [missed, changed]) = cell(x[lane], f[lane], (s[lane], u[lane]), threshold);
                    [s[lane], u[lane]] = new;
                    sums[0][lane] += missed;
                    sums[1][lane] += changed;
                }
            }
            for ((s, u), (x, f)) in s1.iter_mut().zip(u1).zip(x1.iter().zip(f1)) {
                let (new, [missed, changed]) = cell(*x, *f, (*s, *u), threshold);
                [*s, *u] = new;
                sums[0][0] += missed;
                sums[1][0] += changed;
            }
            sums.map(|lanes| lanes.iter().sum())
        },
    )
}

impl Deviations<'_> {
    /// The code, and the gap as a fraction of `||x||_1`.
    pub(super) fn solve(&self) -> (Vec<f64>, f64) {
        let size: f64 = self.x.iter().map(|x| x.abs()).sum();
        let r = self.v.rows();
        if size == 0.0 || r == 0 {
            return (vec![0.0; r], 0.0);
        }
        let (code, gap, met) = self.alternations(size);
        if met && gap <= GAP_TOL {
            return (code, gap);
        }
        match self.pivots(&code, size) {
            Some((better, least)) if least <= gap => (better, least),
            _ => (code, gap),
        }
    }

    /// The same for a row with noise in every cell: for many cells by an interior-point method.
    pub(super) fn solve_noisy(&self) -> (Vec<f64>, f64) {
        let size: f64 = self.x.iter().map(|x| x.abs()).sum();
        let long =
            self.x.len() >= INTERIOR_POINT_CELLS && self.x.len() >= 2 * self.v.rows() && self.v.rows() > 0;
        if let Some(found) = long.then(|| self.interior(size)).flatten() {
            return found;
        }
        self.solve()
    }

    /// `V x`.
    pub(super) fn products(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.v.rows()];
        widest(
            #[inline(always)]
            || out.iter_mut().enumerate().for_each(|(i, out)| *out = dot(self.v.row(i), x)),
        );
        out
    }

    /// `c V`.
    pub(super) fn fitted(&self, code: &[f64]) -> Vec<f64> {
        /// Cells whose sums stay in registers.
        const BLOCK: usize = 32;
        let mut out = vec![0.0; self.x.len()];
        widest(
            #[inline(always)]
            || {
                let (blocks, rest) = out.as_chunks_mut::<BLOCK>();
                let begun = BLOCK * blocks.len();
                for (b, block) in blocks.iter_mut().enumerate() {
                    let mut sums = [0.0; BLOCK];
                    for (i, c) in code.iter().enumerate() {
                        let v = &self.v.row(i)[b * BLOCK..][..BLOCK];
                        for l in 0..BLOCK {
                            sums[l] += c * v[l];
                        }
                    }
                    *block = sums;
                }
                for (i, c) in code.iter().enumerate() {
                    rest.iter_mut().zip(&self.v.row(i)[begun..]).for_each(|(o, v)| *o += c * v);
                }
            },
        );
        out
    }

    /// `x - c V`.
    pub(super) fn residuals(&self, code: &[f64]) -> Vec<f64> {
        self.x.iter().zip(self.fitted(code)).map(|(x, f)| x - f).collect()
    }

    /// The gap between `||left||_1` and the dual objective at feasible multipliers near `y`.
    pub(super) fn gap(&self, left: &[f64], mut y: Vec<f64>, size: f64) -> f64 {
        let outside = self.fitted(&self.products(&y));
        y.iter_mut().zip(outside).for_each(|(y, o)| *y -= o);
        let most = y.iter().fold(1.0f64, |m, y| m.max(y.abs()));
        let primal: f64 = left.iter().map(|l| l.abs()).sum();
        ((primal - dot(&y, self.x) / most) / size).max(0.0)
    }

    /// ADMM: code, gap, and whether it converged.
    fn alternations(&self, size: f64) -> (Vec<f64>, f64, bool) {
        let m = self.x.len();
        let typical = match median(self.x.iter().map(|x| x.abs()).collect()) {
            0.0 => size / m as f64,
            middle => middle,
        };
        let bound = RESIDUAL_TOL * dot(self.x, self.x).sqrt();
        let (mut s, mut u, mut rest) = (vec![0.0; m], vec![0.0; m], vec![0.0; m]);
        let (mut code, mut met) = (Vec::new(), false);
        for step in 1..=MOST_ALTERNATIONS {
            rest.iter_mut().zip(self.x).zip(s.iter().zip(&u)).for_each(|((r, x), (s, u))| *r = x - s - u);
            code = self.products(&rest);
            let [missed, changed] = moved(self.x, &self.fitted(&code), (&mut s, &mut u), typical);
            met = missed.sqrt() <= bound && changed.sqrt() <= bound;
            if met {
                break;
            }
            if step % ITERATIONS_BETWEEN_ATTEMPTS == 0
                && let Some((code, gap)) = self.of_exact_cells(&s, typical, size)
            {
                return (code, gap, true);
            }
        }
        let y = u.iter().map(|u| -u / typical).collect();
        let gap = self.gap(&self.residuals(&code), y, size);
        (code, gap, met)
    }

    /// The code by least squares over the cells of negligible residual, starting with those where `sparse` is 0, if that is a solution.
    fn of_exact_cells(&self, sparse: &[f64], typical: f64, size: f64) -> Option<(Vec<f64>, f64)> {
        let exact: Vec<bool> = sparse.iter().map(|s| *s == 0.0).collect();
        let (first, _) = self.least_squares(&exact)?;
        let exact: Vec<bool> =
            self.residuals(&first).iter().map(|l| l.abs() <= EXACT_RESIDUAL_SHARE * typical).collect();
        let (code, gram) = self.least_squares(&exact)?;
        let left = self.residuals(&code);
        // Multipliers: signs of the residuals of other cells, and the minimum-norm ones with V y = 0 for these.
        let mut y: Vec<f64> =
            left.iter().zip(&exact).map(|(l, exact)| if *exact { 0.0 } else { l.signum() }).collect();
        let right = Matrix::from_vec(1, self.v.rows(), self.products(&y));
        let back = self.fitted(gram.solve_rows(&right).as_slice());
        y.iter_mut().zip(&exact).zip(back).filter(|((_, exact), _)| **exact).for_each(|((y, _), b)| *y = -b);
        let gap = self.gap(&left, y, size);
        (gap <= GAP_TOL).then_some((code, gap))
    }

    /// The code of the marked cells by least squares, and the Cholesky factor of the Gram matrix of their columns, computed as the
    /// identity minus that of the others.
    fn least_squares(&self, of: &[bool]) -> Option<(Vec<f64>, factor::Cholesky)> {
        let r = self.v.rows();
        let others: Vec<usize> = (0..of.len()).filter(|&j| !of[j]).collect();
        if others.len() + r > of.len() {
            return None;
        }
        let columns = Matrix::from_fn(r, others.len(), |i, k| self.v[(i, others[k])]);
        let mut gram = factor::multiply_transposed(&columns, &columns);
        for a in 0..r {
            gram.row_mut(a).iter_mut().for_each(|g| *g = -*g);
            gram[(a, a)] += 1.0;
        }
        let kept: Vec<f64> = self.x.iter().zip(of).map(|(x, of)| if *of { *x } else { 0.0 }).collect();
        let gram = factor::Cholesky::new(&gram)?;
        let code = gram.solve_rows(&Matrix::from_vec(1, r, self.products(&kept)));
        Some((code.into_vec(), gram))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::factor;
    use crate::num::random::Stream;

    fn axes(r: usize, m: usize, seed: u64) -> Matrix<f64> {
        let draws = Stream::new(seed, 0);
        factor::orthonormal_rows(&Matrix::from_fn(r, m, |i, j| draws.normal((i * m + j) as u64)))
    }

    /// A row: a code times V, noise, and some large errors.
    fn row(v: &Matrix<f64>, noise: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let draws = Stream::new(seed, 1);
        let code: Vec<f64> = (0..v.rows()).map(|i| 3.0 * draws.normal(i as u64)).collect();
        let mut x = Deviations { v, x: &vec![0.0; v.cols()] }.fitted(&code);
        for (j, x) in x.iter_mut().enumerate() {
            *x += noise * draws.normal(1000 + j as u64);
            *x += if j % 10 == 3 { 3.0 * draws.normal(2000 + j as u64).signum() } else { 0.0 };
        }
        (code, x)
    }

    #[test]
    fn errors_in_a_tenth_of_the_cells_change_nothing_at_any_scale() {
        for (r, m) in [(1, 30), (5, 100), (5, 60), (10, 400)] {
            let v = axes(r, m, 3);
            for scale in [1e-6, 1.0, 1e3] {
                let (code, x) = row(&v, 0.0, 7);
                let x: Vec<f64> = x.iter().map(|x| scale * x).collect();
                let (found, gap) = Deviations { v: &v, x: &x }.solve();
                let far = found.iter().zip(&code).fold(0.0f64, |m, (a, b)| m.max((a / scale - b).abs()));
                assert!(far < 1e-7 && gap <= GAP_TOL, "{r} of {m}: {far:e}, gap {gap:e}");
            }
        }
    }

    #[test]
    fn noisy_rows_are_solved_to_the_gap_and_no_neighbour_is_better() {
        for (r, m, noise) in [(3, 12, 0.1), (4, 9, 1.0), (5, 100, 0.1), (20, 300, 0.3), (1, 7, 0.5)] {
            let v = axes(r, m, 5);
            for seed in 0..6 {
                let (_, x) = row(&v, noise, seed);
                let of = Deviations { v: &v, x: &x };
                let (code, gap) = of.solve();
                assert!(gap <= GAP_TOL, "{r} of {m}: {gap:e}");
                let value = |code: &[f64]| of.residuals(code).iter().map(|l| l.abs()).sum::<f64>();
                let (least, draws) = (value(&code), Stream::new(9, seed));
                for t in 0..50 {
                    let near: Vec<f64> = code
                        .iter()
                        .enumerate()
                        .map(|(i, c)| c + 0.01 * draws.normal((t * r + i) as u64))
                        .collect();
                    assert!(value(&near) >= least * (1.0 - 1e-9));
                }
            }
        }
    }

    #[test]
    fn rows_with_many_ties_are_solved() {
        let v = axes(4, 40, 1);
        for seed in 0..20 {
            let draws = Stream::new(seed, 2);
            let x: Vec<f64> = (0..40).map(|j| (2.0 * draws.normal(j)).round()).collect();
            let (code, gap) = Deviations { v: &v, x: &x }.solve();
            assert!(code.iter().all(|c| c.is_finite()) && gap <= 1e-6, "{gap:e}");
        }
        assert_eq!(Deviations { v: &v, x: &[0.0; 40] }.solve(), (vec![0.0; 4], 0.0));
    }
}
