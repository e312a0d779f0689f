//! How much rows and columns without observed cells vary, where a penalty takes the place of a prior.
//!
//! If such lines are exchangeable with those that have cells, their parameters have the second moments of the latter: an empirical prior, as the
//! variational algorithm estimates one. Estimates are shrunk by the penalty, and what it removes is in the residuals; so the moments are
//! multiplied by a factor, such that the mean variance that they predict for the observed cells, were the columns of these unknown, is the mean
//! square of the cells about the offsets of their rows; and the same with rows and columns exchanged.

use super::cells::Cells;
use super::variational::State;
use crate::stats::gaps::{LinePosteriors, inner, quadratic, triangle};

/// Second moments of the parameters of a line without cells: lower triangles, in the units of the posteriors of the lines.
pub(super) struct UnseenMoments {
    pub(super) row: Vec<f64>,
    pub(super) column: Vec<f64>,
}

impl Cells {
    /// The moments of both sides, given the posteriors of the rows.
    pub(super) fn unseen(&self, at: &State, rows: &LinePosteriors) -> UnseenMoments {
        let by_column = self.by_row.transposed();
        let mut row = mean_square(rows, |i| !self.by_row.row(i).0.is_empty());
        let mut column = mean_square(&at.columns, |j| !by_column.row(j).0.is_empty());
        let (k, q) = (at.sizes.factors.len(), rows.n_factors());
        let (of_rows, of_columns) = at.sizes.offsets.unwrap_or((0.0, 0.0));
        let root: Vec<f64> = at.sizes.factors.iter().map(|g| g.sqrt()).collect();
        let offset = |posteriors: &LinePosteriors, i: usize, sd: f64| {
            posteriors.mean(i).get(k).map_or(0.0, |x| sd * x)
        };
        // What multiplies the parameters of one side in the prediction of a cell, given those of the other.
        let beside_row = |i: usize| -> Vec<f64> {
            let codes = rows.mean(i)[..k].iter().zip(&root).map(|(z, r)| z * r);
            codes.chain((q > k).then_some(of_columns)).collect()
        };
        let beside_column = |j: usize| -> Vec<f64> {
            let loadings = at.columns.mean(j)[..k].iter().zip(&root).map(|(v, r)| v * r);
            loadings.chain((q > k).then_some(of_rows)).collect()
        };
        let mut sums = [[0.0; 2]; 2];
        for i in 0..self.by_row.n_rows() {
            let (places, values) = self.by_row.row(i);
            if places.is_empty() {
                continue;
            }
            let n = places.len() as f64;
            // The code of the row is uncertain, too.
            let uncertain = inner(&scaled(&column[..triangle(k)], &root), rows.covariance(i), k);
            sums[0][0] += n * (quadratic(&column, &beside_row(i)) + uncertain);
            for (&j, y) in places.iter().zip(values) {
                let j = j as usize;
                sums[0][1] += (y - offset(rows, i, of_rows)).powi(2);
                sums[1][0] += quadratic(&row, &beside_column(j));
                sums[1][1] += (y - offset(&at.columns, j, of_columns)).powi(2);
            }
        }
        let noise = self.len() as f64 * at.sizes.noise;
        for (moments, [predicted, found]) in [&mut column, &mut row].into_iter().zip(sums) {
            let factor = if predicted > 0.0 { (found - noise).max(0.0) / predicted } else { 1.0 };
            moments.iter_mut().for_each(|x| *x *= factor);
        }
        UnseenMoments { row, column }
    }
}

/// Mean of `z z'` over the means of the lines that have cells: a lower triangle.
fn mean_square(posteriors: &LinePosteriors, has_cells: impl Fn(usize) -> bool) -> Vec<f64> {
    let (mut sum, mut n) = (vec![0.0; triangle(posteriors.n_factors())], 0.0);
    for i in (0..posteriors.len()).filter(|i| has_cells(*i)) {
        let z = posteriors.mean(i);
        n += 1.0;
        for a in 0..z.len() {
            (0..=a).for_each(|b| sum[triangle(a) + b] += z[a] * z[b]);
        }
    }
    sum.iter_mut().for_each(|s| *s /= n);
    sum
}

/// `diag(scale) V diag(scale)` of a lower triangle `V`.
pub(super) fn scaled(v: &[f64], scale: &[f64]) -> Vec<f64> {
    let line = |a: usize| (0..=a).map(move |b| scale[a] * scale[b] * v[triangle(a) + b]);
    (0..scale.len()).flat_map(line).collect()
}
