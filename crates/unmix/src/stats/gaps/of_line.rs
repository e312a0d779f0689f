//! The posterior of the factors of one row from the list of its observed cells: for rows with few observed cells, and for the columns of a
//! factorisation, whose lists are those of the transpose.

use super::lower::{quadratic, symmetric_product};
use super::singular::{posterior, pseudo_invert};
use super::{Conditional, triangle};
use crate::num::widest;

impl Conditional {
    /// Writes the posterior of the factors of a line of cells into `out`, a line of [`LinePosteriors`](super::LinePosteriors): of a row,
    /// given its columns, if the model is of the columns. A line without observed cells has the prior. `misfit` requires equal noise
    /// variances of all columns. `O(cells k² + k³)`.
    pub(crate) fn of_line(&self, places: &[u32], values: &[f64], misfit: bool, out: &mut [f64]) {
        let (k, t) = (self.model.n_factors(), triangle(self.model.n_factors()));
        let (mean, rest) = out.split_at_mut(k);
        let (covariance, rest) = rest.split_at_mut(t);
        let mut right = vec![0.0; k];
        covariance.fill(0.0);
        widest(
            #[inline(always)]
            || self.add_cells(places, values, &mut right, covariance),
        );
        rest[0] = match self.prior {
            None => 0.0 - posterior(covariance, &mut right, k),
            Some(_) => {
                (0..k).for_each(|a| covariance[triangle(a) + a] += self.precision(a, places.len()));
                let log_determinant = pseudo_invert(covariance, k);
                let b = right.clone();
                symmetric_product(covariance, &b, &mut right);
                0.0 - log_determinant
            }
        };
        mean.copy_from_slice(&right);
        rest[1] = if misfit { self.misfit(places, values, mean, covariance) } else { 0.0 };
    }

    /// Adds the contribution of the cells to the right-hand side and to the precision matrix.
    #[inline(always)]
    fn add_cells(&self, places: &[u32], values: &[f64], right: &mut [f64], precision: &mut [f64]) {
        let (k, t) = (right.len(), precision.len());
        for (&j, &x) in places.iter().zip(values) {
            let j = j as usize;
            let deviation = x - self.model.mean[j];
            let weighted = &self.weighted[j * k..(j + 1) * k];
            right.iter_mut().zip(weighted).for_each(|(b, w)| *b += w * deviation);
            if let Some(errors) = &self.errors {
                right.iter_mut().zip(&errors.shifts[j * k..(j + 1) * k]).for_each(|(b, s)| *b -= s);
            }
        }
        add_lines(precision, &self.pairs, places, t);
    }

    /// Expected sum of squared residuals of a line whose factors have this posterior.
    ///
    /// ```text
    /// sum r_j² + [z; 1]' E [z; 1] + tr(V sum (w_j w_j' + cov w_j)),   E = sum cov (w_j, mean_j)
    /// ```
    ///
    /// where the trace is `psi (k - tr V)`, since the precision is `V⁻¹ = I + sum / psi`. With a prior other than `N(0, I)`, for
    /// penalised least squares, it is the sum of squared residuals alone.
    fn misfit(&self, places: &[u32], values: &[f64], mean: &[f64], covariance: &[f64]) -> f64 {
        let Some(&first) = places.first() else { return 0.0 };
        let (k, t) = (mean.len(), covariance.len());
        let mut squares = 0.0;
        for (&j, &x) in places.iter().zip(values) {
            let j = j as usize;
            let w = &self.model.loadings[j * k..(j + 1) * k];
            let fitted: f64 = w.iter().zip(mean).map(|(w, z)| w * z).sum();
            squares += (x - self.model.mean[j] - fitted).powi(2);
        }
        if self.prior.is_none() {
            let trace: f64 = (0..k).map(|a| 1.0 - covariance[triangle(a) + a]).sum();
            squares += self.model.noise[first as usize] * trace;
        }
        if let Some(errors) = &self.errors {
            let width = triangle(k + 1);
            let mut sum = vec![0.0; width];
            widest(
                #[inline(always)]
                || add_lines(&mut sum, &errors.covariances, places, width),
            );
            let cross: f64 = sum[t..t + k].iter().zip(mean).map(|(c, z)| c * z).sum();
            squares += quadratic(&sum, mean) + 2.0 * cross + sum[t + k];
        }
        squares
    }
}

/// Adds the lines at `places` of a table, `width` numbers each, in this order: four at a time, so that the sum is loaded and stored once
/// for four.
#[inline(always)]
fn add_lines(sum: &mut [f64], table: &[f64], places: &[u32], width: usize) {
    let line = |j: u32| &table[j as usize * width..][..width];
    let sum = &mut sum[..width];
    let fours = places.chunks_exact(4);
    let last = fours.remainder();
    for four in fours {
        let [a, b, c, d] = [line(four[0]), line(four[1]), line(four[2]), line(four[3])];
        for e in 0..width {
            sum[e] = sum[e] + a[e] + b[e] + c[e] + d[e];
        }
    }
    for &j in last {
        sum.iter_mut().zip(line(j)).for_each(|(s, x)| *s += x);
    }
}

#[cfg(test)]
mod tests;
