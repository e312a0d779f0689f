//! A linear-Gaussian model of rows with missing cells: posteriors of the factors from the observed cells,
//! with one factorisation per pattern of observed cells.
//!
//! ```text
//! x = mean + W z + e,   z ~ N(0, I_k),   e_j ~ N(0, psi_j),   o = the cells that a row has
//! G = I + W_o' Psi_o⁻¹ W_o,   V = G⁻¹,   z | x_o ~ N(V W_o' Psi_o⁻¹ (x_o - mean_o), V)
//! log p(x_o) = -1/2 [ |o| log 2pi + sum_o log psi_j + log|G| + sum_o r_j²/psi_j + ||z||² ],   r = x - mean - W z at the mean of z
//! ```
//!
//! Probabilistic PCA has one noise variance for all columns, factor analysis one for each. NaN is a missing cell; a row without
//! observed cells has the prior: mean 0, covariance the identity, log-likelihood 0. The quadratic form is a sum of squares of
//! residuals, which does not cancel. Everything is in double precision, whatever the type of the rows.

mod cells;
mod factors;
mod filled;
mod lines;
mod lower;
mod moments;
mod observed;
mod of_line;
mod singular;

pub use cells::{CellLists, GatherCells};
pub(crate) use factors::Maximised;
pub use factors::{FactorSums, GatherFactors};
pub(crate) use filled::GatherFilled;
pub(crate) use lines::{LinePosteriors, second_moments, twice_divergence};
pub(crate) use lower::{cholesky, inner, invert, quadratic, solve, symmetric_product, triangle};
pub(crate) use moments::symmetric;
pub use moments::{ExpectedMoments, GatherMoments};
pub use observed::{GatherObserved, ObservedCells};

use super::{Packer, Unpacker};
use crate::error::Result;
use crate::num::{Matrix, Real, fill_at_once, kernel, widest};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// `x = mean + W z + e`, in the units of the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearGaussian {
    /// Mean, `p`.
    pub mean: Vec<f64>,
    /// `W`, `p x k`, row-major.
    pub loadings: Vec<f64>,
    /// Noise variance of each column, `p`; 0 for a column that is not part of the model, whose loadings are 0.
    pub noise: Vec<f64>,
}

impl LinearGaussian {
    /// From `W`, `p x k`.
    pub fn new(mean: Vec<f64>, loadings: Matrix<f64>, noise: Vec<f64>) -> Self {
        Self { mean, loadings: loadings.into_vec(), noise }
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.mean.len()
    }

    /// Number of factors.
    pub fn n_factors(&self) -> usize {
        self.loadings.len() / self.mean.len().max(1)
    }

    /// `W`, `p x k`.
    pub fn matrix(&self) -> Matrix<f64> {
        Matrix::from_vec(self.n_features(), self.n_factors(), self.loadings.clone())
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.mean);
        out.numbers(&self.loadings);
        out.numbers(&self.noise);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let found = Self { mean: from.numbers()?, loadings: from.numbers()?, noise: from.numbers()? };
        let p = found.mean.len();
        from.check(p > 0 && found.noise.len() == p && found.loadings.len().is_multiple_of(p))?;
        Ok(found)
    }
}

/// A model, prepared for conditioning on observed cells.
#[derive(Clone, Debug)]
pub struct Conditional {
    model: LinearGaussian,
    /// `Psi⁻¹ W`, `p x k`.
    weighted: Vec<f64>,
    /// Lower triangles of `w_j w_j' / psi_j`, `p x k(k+1)/2`.
    pairs: Vec<f64>,
    /// `W'`, `k x p`.
    back: Vec<f64>,
    log_noise: Vec<f64>,
    errors: Option<Errors>,
    /// Prior precisions of the factors, unless all are 1.
    prior: Option<Vec<Precision>>,
    /// Moments of what had no observed cells in the fit, where no prior describes it.
    unseen: Option<Unseen>,
}

/// How much rows and columns without observed cells vary, where parameters were penalised: a penalty is no prior.
#[derive(Clone, Debug)]
pub(crate) struct Unseen {
    /// Second moments of the factors of a row: a lower triangle.
    pub(crate) row: Vec<f64>,
    /// Those of `(w_j, mean_j)` of a column about the values that the model has for it.
    pub(crate) column: Vec<f64>,
    /// Which columns had no observed cells.
    pub(crate) columns: Vec<bool>,
}

/// Prior precision of a factor of mean 0: a constant, plus an amount for every observed cell of the row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub(crate) struct Precision {
    /// The constant.
    pub(crate) constant: f64,
    /// The amount for each observed cell: the ridge of weighted least squares.
    pub(crate) per_cell: f64,
}

impl Precision {
    /// The precision for a row with this number of observed cells. A row without cells, which no penalty determines, has the codes of mean square 1
    /// that those of the fit have.
    pub(crate) fn of(self, cells: usize) -> f64 {
        match self.constant + self.per_cell * cells as f64 {
            none if cells == 0 && none == 0.0 => 1.0,
            precision => precision,
        }
    }
}

/// Estimation errors of the parameters of columns.
#[derive(Clone, Debug)]
struct Errors {
    /// Covariance of `(w_j, mean_j)`: lower triangles, row by row, `p x (k+1)(k+2)/2`.
    covariances: Vec<f64>,
    /// Covariance of `w_j` with `mean_j`, over `psi_j`: `p x k`.
    shifts: Vec<f64>,
}

/// Quantities shared by all rows with one pattern of observed cells.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pattern {
    /// Number of observed cells in columns with noise.
    pub n_observed: usize,
    /// Posterior covariance `V` of the factors: its lower triangle, row by row.
    pub covariance: Vec<f64>,
    /// `log|G| + sum_o log psi_j`: the log determinant of the covariance of the observed cells.
    pub log_determinant: f64,
}

/// Posterior statistics of the factors of a block of rows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Posteriors {
    /// Posterior means of the factors, `n x k`.
    pub means: Vec<f64>,
    /// 1 for an observed cell, 0 for a missing one, `n x p`.
    pub observed: Vec<f64>,
    /// `x - mean - W z` at the posterior mean, 0 for missing cells, `n x p`.
    pub residuals: Vec<f64>,
    /// Index of the pattern of each row.
    pub pattern: Vec<usize>,
    /// The patterns, in order of first occurrence.
    pub patterns: Vec<Pattern>,
    /// Log-likelihood of the observed cells of each row.
    pub log_density: Vec<f64>,
}

impl Conditional {
    /// Prepares a model. Columns without noise are ignored: they contribute neither to densities nor to posteriors. `O(p k²)`.
    pub fn new(model: LinearGaussian) -> Self {
        let t = triangle(model.n_factors());
        let mut pairs = vec![0.0; model.n_features() * t];
        pairs.chunks_exact_mut(t.max(1)).enumerate().for_each(|(j, out)| write_pairs(&model, j, out));
        Self::with_pairs(model, pairs)
    }

    fn with_pairs(model: LinearGaussian, pairs: Vec<f64>) -> Self {
        let (p, k) = (model.n_features(), model.n_factors());
        let mut weighted = Vec::with_capacity(p * k);
        for (w, psi) in model.loadings.chunks_exact(k.max(1)).zip(&model.noise) {
            weighted.extend(w.iter().map(|w| if *psi > 0.0 { w / psi } else { 0.0 }));
        }
        let back = (0..k).flat_map(|a| (0..p).map(move |j| (j, a))).map(|(j, a)| model.loadings[j * k + a]);
        let log = |psi: &f64| if *psi > 0.0 { psi.ln() } else { 0.0 };
        let (back, log_noise) = (back.collect(), model.noise.iter().map(log).collect());
        Self { model, weighted, pairs, back, log_noise, errors: None, prior: None, unseen: None }
    }

    /// Prepares a model whose loadings and means have estimation errors, independent between columns: `covariances` are those of
    /// `(w_j, mean_j)`, lower triangles row by row, `p x (k+1)(k+2)/2`. Posteriors are then the update for a row in variational
    /// Bayes,
    ///
    /// ```text
    /// G = I + sum_o (w_j w_j' + cov w_j) / psi_j,   V = G⁻¹,   z | x_o ~ N(V sum_o (w_j (x_j - mean_j) - cov(w_j, mean_j)) / psi_j, V)
    /// ```
    ///
    /// and log-densities are evaluated at these posteriors; they are not those of a distribution. `O(p k²)`, in so many threads.
    pub(crate) fn with_errors(model: LinearGaussian, covariances: Vec<f64>, threads: usize) -> Self {
        let (k, t) = (model.n_factors(), triangle(model.n_factors()));
        let width = triangle(k + 1);
        let mut pairs = vec![0.0; model.n_features() * t];
        let line = |j: usize, out: &mut [f64]| {
            let psi = model.noise[j];
            write_pairs(&model, j, out);
            widest(
                #[inline(always)]
                || out.iter_mut().zip(&covariances[j * width..]).for_each(|(pair, c)| *pair += c / psi),
            );
        };
        fill_at_once(threads, covariances.len(), &mut pairs, t, line);
        let mut conditional = Self::with_pairs(model, pairs);
        let mut shifts = Vec::with_capacity(conditional.weighted.len());
        for (own, psi) in covariances.chunks_exact(width).zip(&conditional.model.noise) {
            shifts.extend(own[t..t + k].iter().map(|c| c / psi));
        }
        conditional.errors = Some(Errors { covariances, shifts });
        conditional
    }

    /// The same with other prior precisions, one for each factor. All may be 0, which gives least squares, of minimum norm in directions
    /// that the cells do not determine.
    pub(crate) fn with_prior(self, prior: Vec<Precision>) -> Self {
        Self { prior: Some(prior), ..self }
    }

    /// The same with these moments for rows without observed cells, whose posteriors have mean 0, and for variances of cells of such columns.
    pub(crate) fn with_unseen(self, unseen: Unseen) -> Self {
        Self { unseen: Some(unseen), ..self }
    }

    pub(crate) fn pack(&self, out: &mut Packer) {
        self.model.pack(out);
        out.maybe(self.errors.as_ref().map(|errors| &errors.covariances[..]));
        let prior = self.prior.as_ref();
        let prior: Option<Vec<f64>> =
            prior.map(|prior| prior.iter().flat_map(|p| [p.constant, p.per_cell]).collect());
        out.maybe(prior.as_deref());
        let unseen = self.unseen.as_ref();
        out.maybe(unseen.map(|unseen| &unseen.row[..]));
        out.maybe(unseen.map(|unseen| &unseen.column[..]));
        let columns = unseen.map(|unseen| unseen.columns.iter().map(|c| f64::from(u8::from(*c))));
        out.maybe(columns.map(Iterator::collect::<Vec<f64>>).as_deref());
    }

    pub(crate) fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (model, covariances, prior) = (LinearGaussian::unpack(from)?, from.maybe()?, from.maybe()?);
        let (row, column, columns) = (from.maybe()?, from.maybe()?, from.maybe()?);
        let (p, k) = (model.n_features(), model.n_factors());
        from.check(row.as_ref().is_none_or(|row| row.len() == triangle(k)))?;
        from.check(column.as_ref().is_none_or(|column| column.len() == triangle(k + 1)))?;
        from.check(columns.as_ref().is_none_or(|columns| columns.len() == p))?;
        from.check(covariances.as_ref().is_none_or(|c| c.len() == p * triangle(k + 1)))?;
        from.check(prior.as_ref().is_none_or(|prior| prior.len() == 2 * k))?;
        let found = match covariances {
            Some(covariances) => Self::with_errors(model, covariances, 1),
            None => Self::new(model),
        };
        let precision = |&[constant, per_cell]: &[f64; 2]| Precision { constant, per_cell };
        let found = match prior {
            Some(prior) => found.with_prior(prior.as_chunks::<2>().0.iter().map(precision).collect()),
            None => found,
        };
        Ok(match (row, column, columns) {
            (Some(row), Some(column), Some(columns)) => {
                let columns = columns.iter().map(|c| *c > 0.0).collect();
                found.with_unseen(Unseen { row, column, columns })
            }
            _ => found,
        })
    }

    /// Prior precision of factor `a` of a row with this number of observed cells.
    fn precision(&self, a: usize, cells: usize) -> f64 {
        self.prior.as_ref().map_or(1.0, |prior| prior[a].of(cells))
    }

    /// Whether loadings and means have estimation errors, which posteriors and [variances of cells](Self::cell_variance) include.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors.is_some()
    }

    /// Covariance of the errors of `(w_j, mean_j)`, if they have any: a lower triangle. Those of a column without observed cells in the fit are as
    /// large as the parameters of the others.
    fn errors_of(&self, j: usize) -> Option<&[f64]> {
        let width = triangle(self.model.n_factors() + 1);
        let known = self.errors.as_ref().map(|errors| &errors.covariances[j * width..(j + 1) * width]);
        let unseen = self.unseen.as_ref().filter(|unseen| unseen.columns[j]);
        known.or(unseen.map(|unseen| &unseen.column[..]))
    }

    /// Whether column `j` has such errors.
    pub(crate) fn column_has_errors(&self, j: usize) -> bool {
        self.errors_of(j).is_some()
    }

    /// Predictive variance of a new observation of column `j` in a row whose factors have mean `z` and this covariance (a lower
    /// triangle): `w_j' V w_j + psi_j`, plus the contribution of the estimation errors of loadings and mean.
    pub(crate) fn cell_variance(&self, j: usize, z: &[f64], covariance: &[f64]) -> f64 {
        let (k, t) = (self.model.n_factors(), triangle(self.model.n_factors()));
        let w = &self.model.loadings[j * k..(j + 1) * k];
        let mut product = vec![0.0; k];
        symmetric_product(covariance, w, &mut product);
        let known = w.iter().zip(&product).map(|(a, b)| a * b).sum::<f64>() + self.model.noise[j];
        let Some(own) = self.errors_of(j) else { return known };
        let cross: f64 = own[t..t + k].iter().zip(z).map(|(c, z)| c * z).sum();
        known + quadratic(own, z) + 2.0 * cross + own[t + k] + inner(own, covariance, k)
    }

    /// The model.
    pub fn model(&self) -> &LinearGaussian {
        &self.model
    }

    /// Posteriors of row-major `rows`, in which NaN is a missing cell. The bits do not depend on the other rows.
    /// `O(n p k + m (p k² + k³))` for `m` patterns.
    pub fn posteriors<T: Real>(&self, rows: &[T]) -> Posteriors {
        let (p, k) = (self.model.n_features(), self.model.n_factors());
        let n = rows.len() / p;
        let (mut observed, mut centred) = (Vec::with_capacity(n * p), Vec::with_capacity(n * p));
        for row in rows.chunks_exact(p) {
            for (x, m) in row.iter().zip(&self.model.mean) {
                let x = x.to_f64();
                observed.push(if x.is_nan() { 0.0 } else { 1.0 });
                centred.push(if x.is_nan() { 0.0 } else { x - m });
            }
        }
        let (pattern, firsts) = distinct(&observed, p);
        let patterns = self.patterns(&observed, &firsts);
        let mut means = vec![0.0; n * k];
        if k > 0 {
            let mut right = vec![0.0; n * k];
            kernel::product(&mut right, &centred, &self.weighted, n, p, k);
            if let Some(errors) = &self.errors {
                let mut shift = vec![0.0; n * k];
                kernel::product(&mut shift, &observed, &errors.shifts, n, p, k);
                right.iter_mut().zip(&shift).for_each(|(b, s)| *b -= s);
            }
            for (i, (z, b)) in means.chunks_exact_mut(k).zip(right.chunks_exact(k)).enumerate() {
                symmetric_product(&patterns[pattern[i]].covariance, b, z);
            }
            let mut fitted = vec![0.0; n * p];
            kernel::product(&mut fitted, &means, &self.back, n, k, p);
            centred.iter_mut().zip(&fitted).zip(&observed).for_each(|((x, f), s)| *x -= f * s);
        }
        let residuals = centred;
        let log_density = (0..n).map(|i| {
            let (r, z) = (&residuals[i * p..(i + 1) * p], &means[i * k..(i + 1) * k]);
            let Pattern { n_observed, log_determinant, .. } = &patterns[pattern[i]];
            let each = r.iter().zip(&self.model.noise).filter(|(_, psi)| **psi > 0.0);
            let across: f64 = each.map(|(r, psi)| r * r / psi).sum();
            let along: f64 = z.iter().map(|z| z * z).sum();
            let twice =
                *n_observed as f64 * (2.0 * std::f64::consts::PI).ln() + log_determinant + across + along;
            // 0, not -0, for a row without observed cells.
            0.0 - 0.5 * twice
        });
        let log_density = log_density.collect();
        Posteriors { means, observed, residuals, pattern, patterns, log_density }
    }

    /// The patterns whose first rows are `firsts`.
    fn patterns(&self, observed: &[f64], firsts: &[usize]) -> Vec<Pattern> {
        let (p, k) = (self.model.n_features(), self.model.n_factors());
        let (m, t) = (firsts.len(), triangle(k));
        let masks: Vec<f64> = firsts.iter().flat_map(|&i| &observed[i * p..(i + 1) * p]).copied().collect();
        let mut precisions = vec![0.0; m * t];
        if k > 0 {
            kernel::product(&mut precisions, &masks, &self.pairs, m, p, t);
        }
        let pattern = |i: usize| {
            let mask = &masks[i * p..(i + 1) * p];
            let mut covariance = precisions[i * t..(i + 1) * t].to_vec();
            let counts = |(s, psi): &(&f64, &f64)| **s > 0.0 && **psi > 0.0;
            let n_observed = mask.iter().zip(&self.model.noise).filter(counts).count();
            if let (Some(unseen), 0) = (&self.unseen, n_observed) {
                return Pattern { n_observed, covariance: unseen.row.clone(), log_determinant: 0.0 };
            }
            (0..k).for_each(|a| covariance[triangle(a) + a] += self.precision(a, n_observed));
            let log_g = match self.prior {
                None => invert(&mut covariance, k),
                Some(_) => singular::pseudo_invert(&mut covariance, k),
            };
            let log_noise: f64 = mask.iter().zip(&self.log_noise).map(|(s, l)| s * l).sum();
            Pattern { n_observed, covariance, log_determinant: log_g + log_noise }
        };
        (0..m).map(pattern).collect()
    }
}

/// Writes the lower triangle of `w_j w_j' / psi_j` of column `j`; 0 for a column without noise.
fn write_pairs(model: &LinearGaussian, j: usize, out: &mut [f64]) {
    let (k, psi) = (model.n_factors(), model.noise[j]);
    if psi.is_nan() || psi <= 0.0 {
        return out.fill(0.0);
    }
    let w = &model.loadings[j * k..(j + 1) * k];
    widest(
        #[inline(always)]
        || {
            for a in 0..k {
                let line = &mut out[triangle(a)..=triangle(a) + a];
                line.iter_mut().zip(w).for_each(|(pair, b)| *pair = w[a] * b / psi);
            }
        },
    );
}

/// Index of the pattern of each row, in order of first occurrence, and the first row of each pattern.
fn distinct(observed: &[f64], p: usize) -> (Vec<usize>, Vec<usize>) {
    let (mut numbers, mut firsts): (HashMap<Vec<u64>, usize>, Vec<usize>) = Default::default();
    let mut indices = Vec::with_capacity(observed.len() / p);
    for (i, row) in observed.chunks_exact(p).enumerate() {
        let word = |cells: &[f64]| cells.iter().fold(0u64, |word, s| (word << 1) | u64::from(*s > 0.0));
        let key: Vec<u64> = row.chunks(64).map(word).collect();
        let next = firsts.len();
        indices.push(*numbers.entry(key).or_insert_with(|| {
            firsts.push(i);
            next
        }));
    }
    (indices, firsts)
}

#[cfg(test)]
mod tests;
