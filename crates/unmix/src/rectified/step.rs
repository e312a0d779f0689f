//! M-step: new parameters from the moments of codes.
//!
//! ```text
//! Newton     W <- W + eta (U S^-1 - W)                 Psi <- Psi + eta (E - Psi)       E at the old W
//! gradient   W <- W + eta step Psi^-1 (U - W S)        step = 1 / (bound of S times the largest of Psi^-1)
//! ```
//!
//! With `eta` from 0 to 1 neither increases the expected reconstruction error, even with bounds on `Psi`.

use super::posterior::{Noise, Parameters, symmetrise};
use super::statistics::{Expected, Moments, Statistics};
use crate::error::{Error, Result};
use crate::num::Matrix;
use crate::num::factor::{self, Cholesky};

/// Directions of the update of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MStep {
    /// Newton's direction for loadings and noise.
    Newton,
    /// The same, with Newton's direction for the inverse noise variance if that cannot increase the error.
    InversePsi,
    /// The gradient for the loadings, in units of the largest step that guarantees a decrease.
    Gradient,
}

/// Options of a step, and bounds in the units of the columns.
#[derive(Clone, Debug)]
pub struct Step {
    /// Step length `eta`, as a fraction of the full step.
    pub rate: f64,
    /// Direction.
    pub how: MStep,
    /// Standard deviation of each column; 0 for constant ones, whose loadings stay 0.
    pub sd: Vec<f64>,
    /// Lower and upper bounds on the noise variance of each column.
    pub bounds: Vec<(f64, f64)>,
    /// For full noise: whether the bounds are on eigenvalues in units of the columns' variances.
    pub relative: bool,
    /// Bounds of those eigenvalues.
    pub spectrum: (f64, f64),
    /// Soft threshold of `W_kj / sd_k`.
    pub l1: f64,
    /// Factor of weight decay of `W`.
    pub l2: f64,
    /// Upper bound on `|W_kj| / sd_k`.
    pub w_max: Option<f64>,
}

/// Result of a step.
#[derive(Clone, Debug)]
pub struct StepResult {
    /// The new parameters.
    pub parameters: Parameters,
    /// The larger of the relative changes of loadings and noise, divided by the rate.
    pub residual: f64,
    /// Whether a multiple of the identity was added to `S`.
    pub jittered: bool,
}

/// `U S^-1`, by the Cholesky factor of `S` if there is one, else with the smallest tested multiple of the identity added to `S` that makes
/// it positive definite up to rounding.
fn ridge(u: &Matrix<f64>, s: &Matrix<f64>, factor: Option<&Cholesky>) -> Result<(Matrix<f64>, bool)> {
    if let Some(factor) = factor {
        return Ok((factor.solve_rows(u), false));
    }
    let l = s.rows();
    let mean = (0..l).map(|j| s[(j, j)]).sum::<f64>() / l as f64;
    let mut share = 1e-12;
    while share <= 1.0001e-6 {
        let mut s = s.clone();
        (0..l).for_each(|j| s[(j, j)] += share * mean);
        if let Some(factor) = Cholesky::new(&s) {
            return Ok((factor.solve_rows(u), true));
        }
        share *= 10.0;
    }
    Err(Error::Factorisation { what: "the factorisation of the second moments of the codes" })
}

impl Step {
    /// New parameters. `O(l² (m + l))`.
    ///
    /// # Errors
    ///
    /// Second moments of codes that are not positive definite, even with 1e-6 of their mean added.
    pub fn take(
        &self,
        before: &Parameters,
        stats: &Statistics,
        s: &Matrix<f64>,
        expected: &Expected,
    ) -> Result<StepResult> {
        let (mut w, jittered) = self.loadings(before, stats, s, expected)?;
        self.decay(&mut w);
        let noise = self.noise(before, expected)?;
        let residual = self.moved(before, &w, &noise) / self.rate;
        Ok(StepResult { parameters: Parameters { w, noise }, residual, jittered })
    }

    fn loadings(
        &self,
        before: &Parameters,
        stats: &Statistics,
        s: &Matrix<f64>,
        expected: &Expected,
    ) -> Result<(Matrix<f64>, bool)> {
        let mut w = before.w.clone();
        if self.how != MStep::Gradient {
            let (best, jittered) = ridge(&stats.u, s, expected.factor.as_ref())?;
            let each = w.as_mut_slice().iter_mut().zip(best.as_slice());
            each.for_each(|(w, best)| *w += self.rate * (best - *w));
            return Ok((w, jittered));
        }
        let l = s.rows();
        // Every eigenvalue is at most the largest absolute row sum.
        let largest = (0..l).map(|i| s.row(i).iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
        let mut left = stats.u.clone();
        factor::subtract_product(&mut left, &before.w, s);
        let (direction, inverse) = match &before.noise {
            Noise::Diagonal(psi) => {
                let varying = |k: &usize| self.sd[*k] > 0.0;
                let least = (0..psi.len()).filter(varying).map(|k| psi[k]).fold(f64::INFINITY, f64::min);
                for (k, psi) in psi.iter().enumerate() {
                    left.row_mut(k).iter_mut().for_each(|x| *x /= psi);
                }
                (left, 1.0 / least)
            }
            noise @ Noise::Full(psi) => {
                let (values, _) = factor::eigh(psi)?;
                let parameters = Parameters { w: left, noise: noise.clone() };
                let prior = super::Prior { mean: 0.0, variance: 1.0 };
                (parameters.posterior_through(prior, false)?.a, 1.0 / values[values.len() - 1])
            }
        };
        let step = self.rate / (largest * inverse);
        w.as_mut_slice().iter_mut().zip(direction.as_slice()).for_each(|(w, d)| *w += step * d);
        Ok((w, false))
    }

    /// Applies bounds and decay to the loadings, in units of the columns' standard deviations.
    fn decay(&self, w: &mut Matrix<f64>) {
        for (k, sd) in self.sd.iter().enumerate() {
            let row = w.row_mut(k);
            if *sd == 0.0 {
                row.fill(0.0);
                continue;
            }
            if let Some(most) = self.w_max {
                row.iter_mut().for_each(|w| *w = w.clamp(-most * sd, most * sd));
            }
            if self.l2 > 0.0 {
                row.iter_mut().for_each(|w| *w *= 1.0 - self.l2);
            }
            if self.l1 > 0.0 {
                row.iter_mut().for_each(|w| *w -= w.clamp(-self.l1 * sd, self.l1 * sd));
            }
        }
    }

    fn noise(&self, before: &Parameters, expected: &Expected) -> Result<Noise> {
        match (&before.noise, &expected.e) {
            (Noise::Full(psi), Moments::Full(e)) => {
                let mut new = psi.clone();
                let each = new.as_mut_slice().iter_mut().zip(e.as_slice());
                each.for_each(|(psi, e)| *psi += self.rate * (e - *psi));
                self.clipped(new).map(Noise::Full)
            }
            _ => {
                let (psi, e) = (before.noise.diagonal(), expected.diagonal());
                let one = |k: usize| {
                    let (low, high) = self.bounds[k];
                    self.variance(psi[k], e[k]).min(high).max(low)
                };
                Ok(Noise::Diagonal((0..psi.len()).map(one).collect()))
            }
        }
    }

    /// The new noise variance of a column before it is bounded.
    fn variance(&self, psi: f64, e: f64) -> f64 {
        let plain = psi + self.rate * (e - psi);
        if self.how != MStep::InversePsi {
            return plain;
        }
        let x = e / psi;
        match x > 0.0 && self.rate * x * x <= x + 1.0 {
            true => psi / (1.0 + self.rate * (1.0 - x)),
            false => plain,
        }
    }

    /// Full noise with its eigenvalues clipped to the bounds; for constant columns only the diagonal is kept.
    fn clipped(&self, mut psi: Matrix<f64>) -> Result<Matrix<f64>> {
        let m = psi.rows();
        symmetrise(&mut psi);
        let unit = |k: usize| match (self.relative, self.sd[k] > 0.0) {
            (true, true) => self.sd[k],
            _ => 1.0,
        };
        let varying: Vec<usize> = (0..m).filter(|&k| self.sd[k] > 0.0).collect();
        let v = varying.len();
        let scaled = Matrix::from_fn(v, v, |i, j| {
            let (i, j) = (varying[i], varying[j]);
            psi[(i, j)] / unit(i) / unit(j)
        });
        let (values, vectors) = factor::eigh(&scaled)?;
        let (low, high) = self.spectrum;
        let inside = values.iter().all(|x| (low..=high).contains(x));
        if !inside {
            let weighted = Matrix::from_fn(v, v, |a, i| vectors[(a, i)] * values[a].min(high).max(low));
            let back = factor::multiply(&vectors.transposed(), &weighted);
            for (i, &k) in varying.iter().enumerate() {
                for (j, &q) in varying.iter().enumerate() {
                    psi[(k, q)] = back[(i, j)] * unit(k) * unit(q);
                }
            }
            symmetrise(&mut psi);
        }
        for k in (0..m).filter(|&k| self.sd[k] == 0.0) {
            for q in 0..m {
                (psi[(k, q)], psi[(q, k)]) = (0.0, 0.0);
            }
            psi[(k, k)] = self.bounds[k].0;
        }
        Ok(psi)
    }

    /// The larger of the relative changes of loadings and noise, in units of the columns.
    fn moved(&self, before: &Parameters, w: &Matrix<f64>, noise: &Noise) -> f64 {
        let (mut change, mut size) = (0.0, 0.0);
        let (mut noise_change, mut noise_size) = (0.0, 0.0);
        let (old, new) = (before.noise.diagonal(), noise.diagonal());
        for (k, sd) in self.sd.iter().enumerate().filter(|(_, sd)| **sd > 0.0) {
            for (new, old) in w.row(k).iter().zip(before.w.row(k)) {
                change += ((new - old) / sd).powi(2);
                size += (new / sd).powi(2);
            }
            // Divided twice: the square of a small number may underflow.
            noise_change += ((new[k] - old[k]) / sd / sd).powi(2);
            noise_size += (new[k] / sd / sd).powi(2);
        }
        let share = |change: f64, size: f64| if change == 0.0 { 0.0 } else { (change / size).sqrt() };
        share(change, size).max(share(noise_change, noise_size))
    }
}
