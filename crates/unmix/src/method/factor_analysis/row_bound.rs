//! The posterior of the factors of one row under a Laplace or a Jeffreys prior, by a variational bound (Girolami 2001; Palmer et al. 2005).
//!
//! ```text
//! laplace:   exp(-|z|) / 2 = max_v N(z; 0, v) sqrt(2 pi v) exp(-v / 2) / 2         jeffreys:   1 / |z| ~ max_v N(z; 0, v)
//! log p(x) >= log N(x; mean, W diag(v) W' + Psi) + sum_j prior(v_j)                laplace: prior(v) = log(2 pi v) / 2 - v / 2 - log 2;   jeffreys: 0
//! ```
//!
//! for any variances `v` of the factors, one for each row and factor; those of a row maximise the bound. Given the others, the best variance has a
//! closed form (Tipping & Faul 2003): with `s` and `q` the sparsity and quality factors of factor `j`, the precision and the mean times the
//! precision that the row adds, the posterior variance is `v / (1 + v s)`, and the posterior mean is that times `q`,
//!
//! ```text
//! jeffreys:   v = max(0, (q^2 - s) / s^2)             laplace:   1 + v (s + q^2 - 1) - 2 s v^2 - s^2 v^3 = 0, which has one positive root
//! ```
//!
//! so a round over the factors never lowers the bound. A factor whose variance is 0 has the code 0 exactly.

use super::settings::FactorPrior;
use crate::error::{Error, Result};
use crate::num::Matrix;
use crate::num::factor::Cholesky;

/// The variational bound: what the posteriors of all rows share.
#[derive(Clone, Debug)]
pub(super) struct RowBound {
    /// `W' Psi^-1 W`, `q x q`.
    g: Matrix<f64>,
    prior: FactorPrior,
}

/// The posterior of a row: variances under the prior, means, covariance.
#[derive(Clone, Debug)]
pub(super) struct Posterior {
    pub(super) prior_variance: Vec<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) covariance: Matrix<f64>,
    /// `log |I + diag(v) W' Psi^-1 W|`.
    log_determinant: f64,
}

impl RowBound {
    /// For loadings divided by the roots of the uniquenesses, `q x p`.
    pub(super) fn new(scaled: &Matrix<f64>, prior: FactorPrior) -> Self {
        Self { g: crate::num::factor::multiply_transposed(scaled, scaled), prior }
    }

    /// The posterior of a row with `b = W' Psi^-1 (x - mean)` at these variances. `O(q^3)`.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite.
    pub(super) fn posterior(&self, b: &[f64], prior_variance: Vec<f64>) -> Result<Posterior> {
        let q = b.len();
        let there: Vec<usize> = (0..q).filter(|&j| prior_variance[j] > 0.0).collect();
        let roots: Vec<f64> = there.iter().map(|&j| prior_variance[j].sqrt()).collect();
        let entry = |i: usize, j: usize| {
            f64::from(u8::from(i == j)) + roots[i] * self.g[(there[i], there[j])] * roots[j]
        };
        let what = "the factorisation of the precision of the factors";
        let factor = Cholesky::new(&Matrix::from_fn(there.len(), there.len(), entry))
            .ok_or(Error::Factorisation { what })?;
        let inverse = factor.inverse();
        let mut covariance = Matrix::zeros(q, q);
        for (i, &a) in there.iter().enumerate() {
            for (j, &c) in there.iter().enumerate() {
                covariance[(a, c)] = roots[i] * inverse[(i, j)] * roots[j];
            }
        }
        let mean = (0..q).map(|j| dot(covariance.row(j), b)).collect();
        Ok(Posterior { prior_variance, mean, covariance, log_determinant: factor.log_determinant() })
    }

    /// The bound of a row, up to `-(p log 2 pi + log |Psi| + |x - mean|^2 in units of the noise) / 2`.
    pub(super) fn value(&self, b: &[f64], at: &Posterior) -> f64 {
        let prior = |v: f64| match self.prior {
            FactorPrior::Laplace => {
                0.5 * (2.0 * std::f64::consts::PI * v).ln() - 0.5 * v - std::f64::consts::LN_2
            }
            _ => 0.0,
        };
        let priors: f64 = at.prior_variance.iter().map(|v| prior(*v)).sum();
        0.5 * (dot(b, &at.mean) - at.log_determinant) + priors
    }

    /// A round over the factors: the best variance of each, given the others.
    pub(super) fn round(&self, b: &[f64], at: &mut Posterior) {
        let q = b.len();
        let mut w = vec![0.0; q];
        for j in 0..q {
            let (before, there) = (at.prior_variance[j], at.covariance[(j, j)]);
            let inside = before > 0.0 && there > 0.0;
            // The data determine the factor more than the prior does: the difference of precisions does not cancel.
            let (s, quality) = if inside && there < 0.5 * before {
                (1.0 / there - 1.0 / before, at.mean[j] / there)
            } else {
                let g = self.g.row(j);
                let across = |i: usize| dot(at.covariance.row(i), g);
                let left = self.g[(j, j)] - (0..q).map(|i| g[i] * across(i)).sum::<f64>();
                let shrunk = if inside { before / there } else { 1.0 };
                (left.max(0.0) * shrunk, (b[j] - dot(g, &at.mean)) * shrunk)
            };
            let best = self.best(s, quality);
            if best == before {
                continue;
            }
            // The covariance is that of the other factors plus `t w w'`, and the mean theirs plus `t quality w`.
            let t = best / (1.0 + best * s);
            match inside {
                true => (0..q).for_each(|i| w[i] = at.covariance[(i, j)] / there),
                false => {
                    let g = self.g.row(j);
                    (0..q).for_each(|i| w[i] = -dot(at.covariance.row(i), g));
                    w[j] = 1.0;
                }
            }
            let change = t - if inside { there } else { 0.0 };
            for i in 0..q {
                let of = change * w[i];
                at.mean[i] += of * quality;
                at.covariance.row_mut(i).iter_mut().zip(&w).for_each(|(c, w)| *c += of * w);
            }
            at.prior_variance[j] = best;
            if best == 0.0 {
                at.mean[j] = 0.0;
                (0..q).for_each(|i| (at.covariance[(i, j)], at.covariance[(j, i)]) = (0.0, 0.0));
            }
        }
    }

    /// The variance of a factor at which the bound is largest.
    fn best(&self, s: f64, quality: f64) -> f64 {
        let square = quality * quality;
        if self.prior == FactorPrior::Jeffreys {
            return if square > s { (square - s) / s / s } else { 0.0 };
        }
        let slope = s + square - 1.0;
        let at = |v: f64| 1.0 + v * (slope - v * s * (2.0 + v * s));
        // From a bracket of the root by bisection, and Newton's steps where they stay inside.
        let (mut low, mut high) = (0.0, 1.0);
        while at(high) > 0.0 && high < 1e300 {
            (low, high) = (high, 2.0 * high);
        }
        let mut v = 0.5 * (low + high);
        for _ in 0..200 {
            let value = at(v);
            if value > 0.0 {
                low = v;
            } else {
                high = v;
            }
            let newton = v - value / (slope - v * s * (4.0 + 3.0 * v * s));
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - v).abs() <= 4.0 * f64::EPSILON * next {
                return next;
            }
            v = next;
        }
        v
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    /// Six factors of four columns, and a row.
    fn problem(prior: FactorPrior) -> (RowBound, Vec<f64>) {
        let draws = Stream::new(5, 0);
        let w = Matrix::from_fn(6, 4, |i, j| draws.normal((i * 4 + j) as u64));
        let b = (0..6).map(|i| (0..4).map(|j| w[(i, j)] * 3.0 * draws.normal(100 + j as u64)).sum());
        (RowBound::new(&w, prior), b.collect())
    }

    #[test]
    fn a_round_never_lowers_the_bound_and_keeps_the_posterior() {
        for prior in [FactorPrior::Laplace, FactorPrior::Jeffreys] {
            let (bound, b) = problem(prior);
            let mut at = bound.posterior(&b, vec![1.0; 6]).unwrap();
            let mut before = bound.value(&b, &at);
            for _ in 0..50 {
                bound.round(&b, &mut at);
                let again = bound.posterior(&b, at.prior_variance.clone()).unwrap();
                let apart =
                    |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
                assert!(apart(&at.mean, &again.mean) < 1e-10, "{prior:?}: {:?} {:?}", at.mean, again.mean);
                assert!(apart(at.covariance.as_slice(), again.covariance.as_slice()) < 1e-10, "{prior:?}");
                let value = bound.value(&b, &again);
                assert!(value >= before - 1e-12 * before.abs(), "{prior:?}: {value} after {before}");
                (before, at) = (value, again);
            }
            // Stationary: changing a single variance a little does not increase the bound.
            for j in 0..6 {
                for factor in [0.99, 1.01] {
                    let mut moved = at.prior_variance.clone();
                    moved[j] = if moved[j] == 0.0 { 1e-3 } else { moved[j] * factor };
                    let value = bound.value(&b, &bound.posterior(&b, moved).unwrap());
                    assert!(value <= before + 1e-10, "{prior:?} {j}: {value} above {before}");
                }
            }
        }
    }

    /// The published update `v = E[z^2]^(1/2)` (laplace) or `E[z^2]` (jeffreys), iterated for long, has the same fixed point.
    #[test]
    fn expectation_maximisation_has_the_fixed_point_of_the_rounds() {
        let (bound, b) = problem(FactorPrior::Laplace);
        let mut v = vec![1.0; 6];
        for _ in 0..20_000 {
            let at = bound.posterior(&b, v).unwrap();
            v = (0..6).map(|j| (at.mean[j].powi(2) + at.covariance[(j, j)]).sqrt()).collect();
        }
        let mut at = bound.posterior(&b, vec![1.0; 6]).unwrap();
        (0..500).for_each(|_| bound.round(&b, &mut at));
        for (a, b) in v.iter().zip(&at.prior_variance) {
            assert!((a - b).abs() < 1e-6 * b, "{v:?} {:?}", at.prior_variance);
        }
        let (bound, b) = problem(FactorPrior::Jeffreys);
        let mut at = bound.posterior(&b, vec![1.0; 6]).unwrap();
        (0..500).for_each(|_| bound.round(&b, &mut at));
        assert!(at.mean.contains(&0.0), "{:?}", at.mean);
        for j in (0..6).filter(|&j| at.prior_variance[j] > 0.0) {
            let square = at.mean[j].powi(2) + at.covariance[(j, j)];
            assert!((square / at.prior_variance[j] - 1.0).abs() < 1e-8, "{j}");
        }
    }
}
