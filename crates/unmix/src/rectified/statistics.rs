//! Moments of scaled codes from the sums of a pass, and the objective.
//!
//! ```text
//! U = sum (x - center) mu' / n     M = sum mu mu' / n     S = M + Sigma     E = C - U W' - W U' + W S W'
//! F = -½ [m log 2 pi + log|Psi| + tr(Psi^-1 E)] - KL(units || prior)
//! ```

use super::codes::CodeSums;
use super::posterior::{Noise, Parameters, Posterior, Prior, symmetrise};
use crate::num::factor::{self, Cholesky};
use crate::num::{Matrix, widest};
use serde::{Deserialize, Serialize};

/// Normalisation: the divisor of the codes of each unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalisation {
    /// The root mean square.
    Rms,
    /// The standard deviation.
    Std,
    /// None.
    None,
}

/// Moments of the codes `mu`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Number of rows, weighted.
    pub n: f64,
    /// `U`, `m x l`.
    pub u: Matrix<f64>,
    /// `M`, `l x l`, symmetric.
    pub m: Matrix<f64>,
    /// Means of the codes; empty if the pass did not sum them.
    pub means: Vec<f64>,
    /// Factors of the codes; 0 for a unit that is 0 in every row.
    pub scale: Vec<f64>,
    /// Units that are 0 in every row before their replacement.
    pub dead: Vec<usize>,
}

/// Second moments of the rows about the center.
#[derive(Clone, Debug)]
pub enum Moments {
    /// Of each column.
    Diagonal(Vec<f64>),
    /// `m x m`.
    Full(Matrix<f64>),
}

impl Normalisation {
    /// The factors for units with these second moments and means.
    pub fn factors(self, squares: &[f64], means: &[f64]) -> Vec<f64> {
        let one = |j: usize| match self {
            _ if squares[j] <= 0.0 => 0.0,
            Normalisation::None => 1.0,
            Normalisation::Rms => 1.0 / squares[j].sqrt(),
            // Codes that are the same in every row vary only through rounding.
            Normalisation::Std => match squares[j] - means[j] * means[j] {
                variance if variance > 1e-12 * squares[j] => 1.0 / variance.sqrt(),
                _ => 0.0,
            },
        };
        (0..squares.len()).map(one).collect()
    }
}

/// The full matrix whose lower triangle this is.
fn full(lower: &Matrix<f64>) -> Matrix<f64> {
    let mut out = lower.clone();
    factor::mirror(&mut out);
    out
}

impl Statistics {
    /// From the sums of a pass, scaled. `O(l (m + l))`.
    pub fn new(sums: &CodeSums, how: Normalisation) -> Self {
        let (n, l) = (sums.n, sums.moments.rows());
        let squares: Vec<f64> = match sums.squares.is_empty() {
            true => (0..l).map(|j| sums.moments[(j, j)] / n).collect(),
            false => sums.squares.iter().map(|s| s / n).collect(),
        };
        let means: Vec<f64> = sums.sums.iter().map(|s| s / n).collect();
        Self::scaled(sums, how.factors(&squares, &means))
    }

    /// From the sums of a pass, with units multiplied by `scale`.
    pub fn scaled(sums: &CodeSums, scale: Vec<f64>) -> Self {
        let (n, l) = (sums.n, sums.moments.rows());
        let mut means: Vec<f64> = sums.sums.iter().map(|s| s / n).collect();
        let mut u = sums.cross.clone();
        for k in 0..u.rows() {
            u.row_mut(k).iter_mut().zip(&scale).for_each(|(u, d)| *u *= d / n);
        }
        let mut m = full(&sums.moments);
        for i in 0..l {
            m.row_mut(i).iter_mut().zip(&scale).for_each(|(x, d)| *x *= scale[i] * d / n);
        }
        means.iter_mut().zip(&scale).for_each(|(x, d)| *x *= d);
        let dead = (0..l).filter(|&j| scale[j] == 0.0).collect();
        Self { n, u, m, means, scale, dead }
    }

    /// Sets a unit that is 0 everywhere to `sqrt(n)` at one row. `x` is that row minus the center and `code` its scaled code, both times
    /// the square root of its weight.
    pub fn put_one_hot(&mut self, unit: usize, x: &[f64], code: &[f64]) {
        let root = self.n.sqrt();
        for (k, x) in x.iter().enumerate() {
            self.u[(k, unit)] = x / root;
        }
        for (j, code) in code.iter().enumerate().filter(|(j, _)| *j != unit) {
            (self.m[(unit, j)], self.m[(j, unit)]) = (code / root, code / root);
        }
        self.m[(unit, unit)] = 1.0;
    }

    /// `S = M + Sigma`.
    pub fn second_moments(&self, posterior: &Posterior) -> Matrix<f64> {
        let mut s = self.m.clone();
        s.as_mut_slice().iter_mut().zip(posterior.sigma.as_slice()).for_each(|(s, x)| *s += x);
        s
    }

    /// The objective: the mean log-likelihood of a row minus the Kullback-Leibler divergence of its code's distribution from the
    /// posterior, given the [expected residuals](Expected).
    pub fn objective(
        &self,
        parameters: &Parameters,
        posterior: &Posterior,
        prior: Prior,
        expected: &Expected,
    ) -> f64 {
        let (l, t) = (self.scale.len() as f64, prior.variance);
        let trace = |a: &Matrix<f64>| (0..a.rows()).map(|j| a[(j, j)]).sum::<f64>();
        let shift = match prior.mean == 0.0 {
            true => 0.0,
            false => l * prior.mean * prior.mean - 2.0 * prior.mean * self.means.iter().sum::<f64>(),
        };
        let divergence = 0.5
            * ((trace(&posterior.sigma) + trace(&self.m) + shift) / t - l + l * t.ln() - posterior.log_sigma);
        -expected.error(parameters, posterior) - divergence
    }

    /// The terms of the divergence from the posterior that depend on the means of the codes:
    /// `½ [tr(G M) - 2 tr(A' U) - 2 (xi / T) sum mean(mu)]`. Used to compare codes for the same parameters.
    pub fn divergence_of_means(&self, g: &Matrix<f64>, a: &Matrix<f64>, prior: Prior) -> f64 {
        let inner = |a: &Matrix<f64>, b: &Matrix<f64>| -> f64 {
            a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| a * b).sum()
        };
        let prior_term = prior.mean / prior.variance;
        let shift = if prior_term == 0.0 { 0.0 } else { prior_term * self.means.iter().sum::<f64>() };
        0.5 * inner(g, &self.m) - inner(a, &self.u) - shift
    }
}

/// `E`, the expected second moments of the residuals: only its diagonal if the noise is diagonal.
#[derive(Clone, Debug)]
pub struct Expected {
    /// `m` or `m x m` numbers.
    pub e: Moments,
    /// The Cholesky factor of `S`, if that is positive definite up to rounding.
    pub factor: Option<Cholesky>,
    /// Whether each column is not constant; constant ones are left out of the objective.
    varying: Vec<bool>,
}

impl Expected {
    /// For loadings `w` and rows of second moments `c`.
    pub fn new(w: &Matrix<f64>, stats: &Statistics, s: &Matrix<f64>, c: &Moments) -> Self {
        let factor = Cholesky::new(s);
        let (e, varying) = match c {
            Moments::Diagonal(c) => {
                // The diagonal of W S W' is the squared norms of the rows of W L, S = L L': half of the operations of W S.
                let (half, other) = match &factor {
                    Some(factor) => (factor.times(w), None),
                    None => (factor::multiply(w, s), Some(w)),
                };
                let one = |k: usize| {
                    let explained = inner(half.row(k), other.unwrap_or(&half).row(k));
                    c[k] + explained - 2.0 * inner(stats.u.row(k), w.row(k))
                };
                let e = (0..c.len()).map(one).collect();
                (Moments::Diagonal(e), c.iter().map(|c| *c > 0.0).collect())
            }
            Moments::Full(c) => {
                let mut less = factor::multiply(w, s);
                less.as_mut_slice().iter_mut().zip(stats.u.as_slice()).for_each(|(x, u)| *x -= 2.0 * u);
                let mut e = factor::multiply(&less, &w.transposed());
                e.as_mut_slice().iter_mut().zip(c.as_slice()).for_each(|(e, c)| *e += c);
                symmetrise(&mut e);
                (Moments::Full(e), (0..c.rows()).map(|k| c[(k, k)] > 0.0).collect())
            }
        };
        Self { e, factor, varying }
    }

    /// The diagonal of `E`.
    pub fn diagonal(&self) -> Vec<f64> {
        match &self.e {
            Moments::Diagonal(e) => e.clone(),
            Moments::Full(e) => (0..e.rows()).map(|k| e[(k, k)]).collect(),
        }
    }

    /// `½ [m log 2 pi + log|Psi| + tr(Psi^-1 E)]` over the columns that are not constant.
    fn error(&self, parameters: &Parameters, posterior: &Posterior) -> f64 {
        let kept = |k: &usize| self.varying[*k];
        let m = (0..self.varying.len()).filter(kept).count() as f64;
        let (log_noise, trace) = match (&parameters.noise, &self.e) {
            (Noise::Diagonal(psi), Moments::Diagonal(e)) => {
                let all = || (0..psi.len()).filter(kept);
                (all().map(|k| psi[k].ln()).sum::<f64>(), all().map(|k| e[k] / psi[k]).sum::<f64>())
            }
            (noise, e) => {
                let diagonal = noise.diagonal();
                let still: f64 = (0..diagonal.len()).filter(|k| !kept(k)).map(|k| diagonal[k].ln()).sum();
                (posterior.log_noise - still, trace_of_inverse_times(noise, e))
            }
        };
        0.5 * (m * (2.0 * std::f64::consts::PI).ln() + log_noise + trace)
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    widest(
        #[inline(always)]
        || {
            let (a, b) = (a.as_chunks::<8>(), b.as_chunks::<8>());
            let mut sums = [0.0; 8];
            for (a, b) in a.0.iter().zip(b.0) {
                for i in 0..8 {
                    sums[i] += a[i] * b[i];
                }
            }
            sums.iter().sum::<f64>() + a.1.iter().zip(b.1).map(|(a, b)| a * b).sum::<f64>()
        },
    )
}

/// `tr(Psi^-1 E)`.
fn trace_of_inverse_times(noise: &Noise, e: &Moments) -> f64 {
    match (noise, e) {
        (Noise::Diagonal(psi), e) => {
            let diagonal = |k: usize| match e {
                Moments::Diagonal(e) => e[k],
                Moments::Full(e) => e[(k, k)],
            };
            (0..psi.len()).map(|k| diagonal(k) / psi[k]).sum()
        }
        (Noise::Full(psi), Moments::Full(e)) => match Cholesky::new(psi) {
            Some(factor) => {
                let solved = factor.solve_rows(e);
                (0..e.rows()).map(|k| solved[(k, k)]).sum()
            }
            None => f64::INFINITY,
        },
        (Noise::Full(psi), Moments::Diagonal(e)) => (0..e.len()).map(|k| e[k] / psi[(k, k)]).sum(),
    }
}
