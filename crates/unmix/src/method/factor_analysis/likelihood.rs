//! The likelihood as a function of the uniquenesses alone, in units in which every column has variance 1.
//!
//! ```text
//! S* = Psi^(-1/2) R Psi^(-1/2)        eigenpairs theta_1 >= theta_2 >= ..., w_j;  k = #{j <= q: theta_j > 1}
//! f(psi) = sum_i log psi_i + sum_{j<=k} (log theta_j + 1 - theta_j) + tr S*        -2 logL / n - p log 2 pi, at the best loadings
//! loadings = Psi^(1/2) w_j sqrt(theta_j - 1), j <= k
//! A = I - W W',  B = S* - W Theta W':   df / d log psi_i = A_ii - B_ii,   Hessian ~ A o B
//! ```
//!
//! (Lawley & Maxwell 1971. The Hessian is exact where the model fits the correlations; elsewhere terms with the residuals are neglected.)

use crate::error::Result;
use crate::num::factor::{self, Cholesky};
use crate::num::{Matrix, Panels, kernel, pack_scaled, parallel};
use crate::spectrum::leading_pairs;
use std::ops::Range;

/// Second moments of the columns that vary, each divided by its standard deviation.
pub(crate) enum Moments {
    /// Correlations, `p x p`, both triangles.
    Table(Matrix<f64>),
    /// At most as many rows as columns: the standardised data `Z` themselves, transposed, `p x n`; `Z Z'` are the correlations.
    Columns(Matrix<f64>),
}

/// The likelihood at some uniquenesses.
pub(crate) struct Point {
    /// Logarithms of the uniquenesses.
    pub(crate) log_psi: Vec<f64>,
    /// `f`.
    pub(crate) value: f64,
    /// `df / d log psi`.
    pub(crate) gradient: Vec<f64>,
    /// The first eigenvalues of `S*`, at most as many as factors.
    pub(crate) theta: Vec<f64>,
    /// Their eigenvectors, as rows.
    pub(crate) w: Matrix<f64>,
    /// Number of factors with nonzero loadings: eigenvalues above 1.
    pub(crate) k: usize,
}

impl Moments {
    /// Number of columns.
    pub(crate) fn p(&self) -> usize {
        match self {
            Self::Table(r) => r.rows(),
            Self::Columns(z) => z.rows(),
        }
    }

    /// `R b'` for the rows of `b`, as rows.
    pub(crate) fn times(&self, b: &Matrix<f64>) -> Matrix<f64> {
        match self {
            Self::Table(r) => factor::multiply(b, r),
            Self::Columns(z) => factor::multiply_transposed(&factor::multiply(b, z), z),
        }
    }

    /// The first `q` eigenpairs of `S*`.
    fn leading(&self, roots: &[f64], q: usize) -> Result<factor::Spectrum> {
        match self {
            _ if q == 0 => Ok((Vec::new(), Matrix::zeros(0, roots.len()))),
            Self::Table(r) => {
                let p = r.rows();
                let mut scaled = Matrix::zeros(p, p);
                for i in 0..p {
                    let line = scaled.row_mut(i)[..=i].iter_mut().zip(&r.row(i)[..=i]).zip(roots);
                    line.for_each(|((out, x), root)| *out = x / (roots[i] * root));
                }
                let (values, vectors) = leading_pairs(scaled, Some(q))?;
                Ok((values.into_iter().take(q).collect(), vectors.top_rows(q.min(p))))
            }
            Self::Columns(z) => {
                let (values, samples) = leading_pairs(scaled_products(z, roots), Some(q))?;
                // Eigenvectors of eigenvalues at the level of rounding errors are undetermined.
                let floor = values.first().copied().unwrap_or(0.0) * z.rows() as f64 * f64::EPSILON;
                let kept = values.iter().take(q).take_while(|v| **v > floor).count();
                let lengths: Vec<f64> = values[..kept].iter().map(|theta| theta.sqrt()).collect();
                let w = scores(z, &samples.top_rows(kept), (roots, &lengths));
                Ok((values.into_iter().take(kept).collect(), w))
            }
        }
    }

    /// The likelihood at `log_psi`, of a model of `q` factors.
    ///
    /// # Errors
    ///
    /// An eigendecomposition that does not converge.
    pub(crate) fn at(&self, log_psi: Vec<f64>, q: usize) -> Result<Point> {
        let roots: Vec<f64> = log_psi.iter().map(|x| (0.5 * x).exp()).collect();
        let (theta, w) = self.leading(&roots, q)?;
        let k = theta.iter().take_while(|t| **t > 1.0).count();
        let trace: f64 = roots.iter().map(|r| 1.0 / (r * r)).sum();
        let above: f64 = theta[..k].iter().map(|t| t.ln() + 1.0 - t).sum();
        let mut gradient: Vec<f64> = roots.iter().map(|r| 1.0 - 1.0 / (r * r)).collect();
        for (j, theta) in theta[..k].iter().enumerate() {
            gradient.iter_mut().zip(w.row(j)).for_each(|(g, w)| *g += (theta - 1.0) * w * w);
        }
        let value = log_psi.iter().sum::<f64>() + above + trace;
        Ok(Point { log_psi, value, gradient, theta, w, k })
    }

    /// Residual variance of each column given the others, `1 / (R^-1)_ii`; `None` if the correlations are singular.
    pub(crate) fn left_by_others(&self, eps: f64) -> Option<Vec<f64>> {
        let inverse = self.inverse(eps)?;
        Some((0..inverse.rows()).map(|i| (1.0 / inverse[(i, i)]).clamp(0.0, 1.0)).collect())
    }

    /// Sets of collinear columns: each column of a set is a linear combination of the others in it, up to rounding errors of `eps`. They are the
    /// blocks of the projection onto the null space of the correlations.
    ///
    /// # Errors
    ///
    /// An eigendecomposition that does not converge.
    pub(crate) fn collinear(&self, eps: f64) -> Result<Vec<Vec<usize>>> {
        // Correlations of sums over many rows have rounding errors of several eps.
        const ROUNDING: f64 = 64.0 * f64::EPSILON;
        // Squared share of a column in a null direction above which it is part of it; rounding errors are near its square.
        const NULL_SHARE_SQUARED: f64 = 1e-6;
        let Self::Table(r) = self else { return Ok(Vec::new()) };
        let p = r.rows();
        let (values, vectors) = factor::eigh(r)?;
        let least = p as f64 * eps.max(ROUNDING);
        let null: Vec<usize> = (0..p).filter(|&j| values[j] < least).collect();
        let shared =
            |a: usize, b: usize| null.iter().map(|&j| vectors[(j, a)] * vectors[(j, b)]).sum::<f64>();
        let mut left: Vec<usize> = (0..p).filter(|&i| shared(i, i) > NULL_SHARE_SQUARED).collect();
        let mut sets = Vec::new();
        while let Some(first) = left.first().copied() {
            left.remove(0);
            let (mut set, mut at) = (vec![first], 0);
            while at < set.len() {
                let own = set[at];
                let (found, rest): (Vec<usize>, Vec<usize>) =
                    left.iter().copied().partition(|i| shared(own, *i).abs() > NULL_SHARE_SQUARED);
                (set, left) = ([set, found].concat(), rest);
                at += 1;
            }
            set.sort_unstable();
            sets.push(set);
        }
        Ok(sets)
    }

    /// `R^-1`; `None` if the correlations are singular up to rounding errors of `eps`.
    pub(crate) fn inverse(&self, eps: f64) -> Option<Matrix<f64>> {
        let Self::Table(r) = self else { return None };
        let p = r.rows();
        let shift = p as f64 * eps;
        let identity = |i: usize, j: usize| f64::from(u8::from(i == j));
        Cholesky::new(&Matrix::from_fn(p, p, |i, j| r[(i, j)] - shift * identity(i, j)))?;
        Some(Cholesky::new(r)?.solve_rows(&Matrix::from_fn(p, p, identity)))
    }
}

/// `diag(1/lengths) samples z' diag(1/roots)`: blocks of columns on all threads.
fn scores(z: &Matrix<f64>, samples: &Matrix<f64>, (roots, lengths): (&[f64], &[f64])) -> Matrix<f64> {
    const BLOCK: usize = 512;
    let ((p, n), k) = ((z.rows(), z.cols()), samples.rows());
    let (mut columns, across) = (Matrix::zeros(p, k), samples.transposed());
    let blocks = columns.as_mut_slice().chunks_mut((BLOCK * k).max(1));
    let blocks = blocks.zip(z.as_slice().chunks(BLOCK * n)).zip(roots.chunks(BLOCK));
    parallel::each(blocks, |((out, z), roots)| {
        kernel::product(out, z, across.as_slice(), roots.len(), n, k);
        for (out, root) in out.chunks_exact_mut(k).zip(roots) {
            out.iter_mut().zip(lengths).for_each(|(x, length)| *x /= root * length);
        }
    });
    columns.transposed()
}

/// `z' diag(1/roots)^2 z`, the lower triangle.
///
/// The sum over lines is that of slices, one thread each; with many columns, all threads share the product of each panel.
fn scaled_products(z: &Matrix<f64>, roots: &[f64]) -> Matrix<f64> {
    /// Lines of a slice.
    const LINES_PER_SLICE: usize = 2048;
    /// Maximum number of slices: each has a table of its own.
    const MOST_SLICES: usize = 16;
    let (p, n) = (z.rows(), z.cols());
    let slice = if kernel::shares_gram(n) { p } else { LINES_PER_SLICE.max(p.div_ceil(MOST_SLICES)) };
    let mut tables = vec![0.0; p.div_ceil(slice) * n * n];
    // Computed once for all rows, so that panels are packed by products alone.
    let inverse: Vec<f64> = roots.iter().map(|root| 1.0 / root).collect();
    parallel::each(tables.chunks_mut(n * n).enumerate(), |(part, out)| {
        add_scaled_products(z, &inverse, part * slice..p.min((part + 1) * slice), out);
    });
    let (first, others) = tables.split_at_mut(n * n);
    for other in others.chunks_exact(n * n) {
        first.iter_mut().zip(other).for_each(|(sum, x)| *sum += x);
    }
    tables.truncate(n * n);
    Matrix::from_vec(n, n, tables)
}

/// Adds the products of these lines, each times a number of `inverse`, a panel at a time.
fn add_scaled_products(z: &Matrix<f64>, inverse: &[f64], lines: Range<usize>, out: &mut [f64]) {
    const PANEL: usize = 256;
    let (n, mut packed) = (z.cols(), Panels::default());
    for first in lines.clone().step_by(PANEL) {
        let lines = first..lines.end.min(first + PANEL);
        packed.resize(lines.len(), n);
        let rows = &z.as_slice()[lines.start * n..lines.end * n];
        pack_scaled(packed.numbers_mut(), rows, n, &inverse[lines.clone()]);
        kernel::add_gram(out, packed.numbers(), lines.len(), n);
    }
}

impl Point {
    /// Uniquenesses.
    pub(crate) fn psi(&self) -> Vec<f64> {
        self.log_psi.iter().map(|x| x.exp()).collect()
    }

    /// The best loadings, `k x p`.
    pub(crate) fn loadings(&self) -> Matrix<f64> {
        let roots: Vec<f64> = self.log_psi.iter().map(|x| (0.5 * x).exp()).collect();
        Matrix::from_fn(self.k, roots.len(), |j, i| roots[i] * self.w[(j, i)] * (self.theta[j] - 1.0).sqrt())
    }

    /// `A o B` of the columns `free` if there is a table of correlations; otherwise its diagonal alone, as a matrix of one row.
    pub(crate) fn hessian(&self, moments: &Moments, free: &[usize]) -> Matrix<f64> {
        let psi = |i: usize| self.log_psi[i].exp();
        let diagonal = |i: usize| {
            let each = (0..self.k).map(|j| (self.w[(j, i)].powi(2), self.theta[j]));
            let (a, b) = each.fold((1.0, 1.0 / psi(i)), |(a, b), (w, t)| (a - w, b - t * w));
            (a * b).max(0.0)
        };
        let Moments::Table(r) = moments else {
            return Matrix::from_fn(1, free.len(), |_, i| diagonal(free[i]));
        };
        let m = free.len();
        let w = Matrix::from_fn(m, self.k, |i, j| self.w[(j, free[i])]);
        let scaled = Matrix::from_fn(m, self.k, |i, j| w[(i, j)] * self.theta[j]);
        let (ww, wtw) = (factor::multiply_transposed(&w, &w), factor::multiply_transposed(&scaled, &w));
        let roots: Vec<f64> = free.iter().map(|&i| (0.5 * self.log_psi[i]).exp()).collect();
        Matrix::from_fn(m, m, |i, j| {
            let a = f64::from(u8::from(i == j)) - ww[(i, j)];
            a * (r[(free[i], free[j])] / (roots[i] * roots[j]) - wtw[(i, j)])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    /// Correlations of 300 rows of 9 columns with two factors, and random uniquenesses.
    fn problem() -> (Moments, Matrix<f64>, Vec<f64>) {
        let (n, p, draws) = (300, 9, Stream::new(3, 0));
        let lengthened = |mut column: Vec<f64>| {
            let mean = column.iter().sum::<f64>() / n as f64;
            column.iter_mut().for_each(|x| *x -= mean);
            let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
            column.iter().map(|x| x / length).collect::<Vec<f64>>()
        };
        let column = |j: usize| {
            let entry = |i: usize| {
                let factors = [draws.normal(i as u64), draws.normal((1000 + i) as u64)];
                let loading = |c: u64| draws.normal(90_000 + c * 100 + j as u64);
                factors[0] * loading(0) + factors[1] * loading(1) + draws.normal((2000 + i * p + j) as u64)
            };
            lengthened((0..n).map(entry).collect())
        };
        let z = Matrix::from_vec(p, n, (0..p).flat_map(column).collect());
        let psi = (0..p).map(|j| (0.2 + 0.5 * draws.uniform(99_000 + j as u64)).ln()).collect();
        (Moments::Table(factor::multiply_transposed(&z, &z)), z, psi)
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let (moments, _, x) = problem();
        let at = moments.at(x.clone(), 2).unwrap();
        for i in 0..x.len() {
            let moved = |e: f64| {
                let mut x = x.clone();
                x[i] += e;
                moments.at(x, 2).unwrap().value
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - at.gradient[i]).abs() < 1e-8, "{i}: {slope} {}", at.gradient[i]);
        }
    }

    /// The Hessian of a model that fits: correlations that are those of two factors to the bit.
    #[test]
    fn the_hessian_is_that_of_differences_where_the_model_fits() {
        let (moments, _, x) = problem();
        let fitted = moments.at(x, 2).unwrap();
        let loadings = fitted.loadings();
        let mut c = factor::multiply(&loadings.transposed(), &loadings);
        let common: Vec<f64> = (0..c.rows()).map(|i| c[(i, i)]).collect();
        (0..c.rows()).for_each(|i| c[(i, i)] = 1.0);
        assert!(common.iter().all(|x| *x < 1.0), "{common:?}");
        let x: Vec<f64> = common.iter().map(|common| (1.0 - common).ln()).collect();
        let moments = Moments::Table(c);
        let at = moments.at(x.clone(), 2).unwrap();
        assert!(at.gradient.iter().all(|g| g.abs() < 1e-12), "{:?}", at.gradient);
        let free: Vec<usize> = (0..x.len()).collect();
        let hessian = at.hessian(&moments, &free);
        for i in 0..x.len() {
            let moved = |e: f64| {
                let mut x = x.clone();
                x[i] += e;
                moments.at(x, 2).unwrap().gradient
            };
            let (up, down) = (moved(1e-5), moved(-1e-5));
            for j in 0..x.len() {
                let slope = (up[j] - down[j]) / 2e-5;
                assert!((slope - hessian[(i, j)]).abs() < 1e-7, "{i} {j}: {slope} {}", hessian[(i, j)]);
            }
        }
    }

    /// More columns than a panel of rows, a slice of the sum and a block of scores have, the last of each incomplete.
    #[test]
    fn products_and_scores_of_many_columns_are_those_of_the_formulas() {
        let (p, n, draws) = (2348, 9, Stream::new(8, 0));
        let z = Matrix::from_fn(p, n, |i, j| draws.normal((i * n + j) as u64));
        let samples = Matrix::from_fn(2, n, |i, j| draws.normal((90_000 + i * n + j) as u64));
        let roots: Vec<f64> = (0..p).map(|i| 0.3 + draws.uniform(99_000 + i as u64)).collect();
        let products = scaled_products(&z, &roots);
        for (a, b) in (0..n).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            let want: f64 = (0..p).map(|i| z[(i, a)] * z[(i, b)] / (roots[i] * roots[i])).sum();
            assert!((products[(a, b)] - want).abs() < 1e-9, "{a} {b}");
        }
        let lengths = [0.5, 3.0];
        let found = scores(&z, &samples, (&roots, &lengths));
        for (j, i) in (0..2).flat_map(|j| (0..p).map(move |i| (j, i))) {
            let dot: f64 = (0..n).map(|c| samples[(j, c)] * z[(i, c)]).sum();
            assert!((found[(j, i)] - dot / roots[i] / lengths[j]).abs() < 1e-12, "{j} {i}");
        }
        assert_eq!(scores(&z, &Matrix::zeros(0, n), (&roots, &[])).rows(), 0);
    }

    #[test]
    fn the_function_is_the_same_computed_from_the_rows() {
        let (moments, z, x) = problem();
        let (a, b) = (moments.at(x.clone(), 2).unwrap(), Moments::Columns(z).at(x, 2).unwrap());
        assert!((a.value - b.value).abs() < 1e-10 && a.k == b.k);
        assert!(a.gradient.iter().zip(&b.gradient).all(|(a, b)| (a - b).abs() < 1e-10));
    }
}
