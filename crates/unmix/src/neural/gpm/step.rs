//! One polar step.

use super::super::separation::PassMeans;
use crate::num::{Matrix, factor};

/// A step, and the residuals before it.
pub(super) struct Step {
    /// `H`, a row for each component; the step is its polar factor.
    pub(super) h: Matrix<f64>,
    /// `F_ij = w_i . H_j`.
    pub(super) f: Matrix<f64>,
    /// The residual that is compared with the tolerance; see [`new`](Self::new).
    pub(super) residual: f64,
    /// The column residual of [`FixedPoint`](super::FixedPoint).
    pub(super) column: f64,
}

impl Step {
    /// `chance` marks the components that cannot be distinguished from Gaussian ones: pairs of these are not rotated.
    ///
    /// The residual is the larger of two. One is `sqrt(||F - F'||^2 / 2 + ||H - WF||^2) / ||H||`, which is dominated by components of
    /// large variance, because weights grow with its square. The other weights all angles equally: entries of
    /// `F - F'` relative to the larger `|H|` of the pair, the angle by which the next step rotates it.
    pub(super) fn new(means: &PassMeans, w: &Matrix<f64>, alpha: f64, chance: &[bool]) -> Self {
        let (k, sigma) = (w.rows(), &means.sigma);
        let mut h = Matrix::from_fn(k, w.cols(), |j, i| -sigma[j].powf(1.0 + alpha) * means.gradient[(j, i)]);
        let squares = |m: &Matrix<f64>, j: usize| m.row(j).iter().map(|x| x * x).sum::<f64>();
        let mut unseen = vec![false; k];
        for j in 0..k {
            if squares(&means.gradient, j).sqrt() <= 1e-12 * sigma[j] {
                // Its gradient is 0: it is left unchanged.
                unseen[j] = true;
                h.row_mut(j)
                    .iter_mut()
                    .zip(w.row(j))
                    .for_each(|(h, w)| *h = 1e-3 * sigma[j].powf(2.0 + alpha) * w);
            }
        }
        let mut f = factor::multiply_transposed(w, &h);
        for j in 0..k {
            // Without a rotation of these two: it would follow noise and slow down the others.
            for i in (0..j).filter(|&i| chance[i] && chance[j]) {
                let odd = 0.5 * (f[(i, j)] - f[(j, i)]);
                (f[(i, j)], f[(j, i)]) = (f[(i, j)] - odd, f[(j, i)] + odd);
                for c in 0..w.cols() {
                    h[(j, c)] -= odd * w[(i, c)];
                    h[(i, c)] += odd * w[(j, c)];
                }
            }
        }
        let inside = factor::multiply(&f.transposed(), w);
        let even = Matrix::from_fn(k, k, |j, i| 0.5 * (f[(i, j)] + f[(j, i)]));
        let symmetric = factor::multiply(&even, w);
        let length: Vec<f64> = (0..k).map(|j| squares(&h, j).sqrt()).collect();
        let (mut total, mut weighted, mut angles, mut columns) = (0.0, 0.0, 0.0, 0.0);
        for j in (0..k).filter(|&j| !unseen[j]) {
            total += length[j].powi(2);
            let apart =
                |a: &Matrix<f64>| h.row(j).iter().zip(a.row(j)).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
            columns += apart(&symmetric) / length[j].powi(2);
            if !chance[j] {
                weighted += apart(&inside);
                angles += apart(&inside) / length[j].powi(2);
            }
            for i in (0..j).filter(|&i| !unseen[i]) {
                let odd = f[(i, j)] - f[(j, i)];
                weighted += odd * odd;
                angles += (odd / length[i].max(length[j])).powi(2);
            }
        }
        let seen = unseen.iter().filter(|u| !**u).count().max(1) as f64;
        let weighted = (weighted / f64::MIN_POSITIVE.max(total)).sqrt();
        Self { h, f, residual: weighted.max((angles / seen).sqrt()), column: (columns / seen).sqrt() }
    }
}
