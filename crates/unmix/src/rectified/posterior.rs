//! Parameters, and the posterior of the units.

use crate::error::{Error, Result};
use crate::num::Matrix;
use crate::num::factor::{self, Cholesky};
use serde::{Deserialize, Serialize};

/// Covariance of the noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Noise {
    /// A variance for each column.
    Diagonal(Vec<f64>),
    /// `m x m`.
    Full(Matrix<f64>),
}

/// Loadings and noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Loadings `W`, `m x l`.
    pub w: Matrix<f64>,
    /// Noise `Psi`.
    pub noise: Noise,
}

/// The prior of the units, `N(mean 1, variance I)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Mean `xi`.
    pub mean: f64,
    /// Variance `T`.
    pub variance: f64,
}

/// The posterior of the units without rectification, `p(h | x) = N((x - center) B + bias, Sigma)`.
#[derive(Clone, Debug)]
pub struct Posterior {
    /// `A = Psi^-1 W`, `m x l`.
    pub a: Matrix<f64>,
    /// `B = A Sigma`, `m x l`.
    pub b: Matrix<f64>,
    /// `Sigma xi / T`, `l` numbers.
    pub bias: Vec<f64>,
    /// `Sigma`, `l x l`, exactly symmetric.
    pub sigma: Matrix<f64>,
    /// `log |Sigma|`.
    pub log_sigma: f64,
    /// `log |Psi|`.
    pub log_noise: f64,
}

/// Averages both triangles, so that the matrix is exactly symmetric.
pub(crate) fn symmetrise(a: &mut Matrix<f64>) {
    for i in 0..a.rows() {
        for j in 0..i {
            let mean = 0.5 * (a[(i, j)] + a[(j, i)]);
            (a[(i, j)], a[(j, i)]) = (mean, mean);
        }
    }
}

/// `x I`, `n x n`.
pub(crate) fn multiple_of_identity(n: usize, x: f64) -> Matrix<f64> {
    Matrix::from_fn(n, n, |i, j| if i == j { x } else { 0.0 })
}

impl Noise {
    /// `Psi^-1 W`, and `log |Psi|`.
    fn inverse_times(&self, w: &Matrix<f64>) -> Result<(Matrix<f64>, f64)> {
        match self {
            Noise::Diagonal(psi) => {
                let mut a = w.clone();
                for (i, psi) in psi.iter().enumerate() {
                    a.row_mut(i).iter_mut().for_each(|x| *x /= psi);
                }
                Ok((a, psi.iter().map(|x| x.ln()).sum()))
            }
            Noise::Full(psi) => {
                let factor = positive(psi, "the factorisation of the noise covariance")?;
                Ok((factor.solve_rows(&w.transposed()).transposed(), factor.log_determinant()))
            }
        }
    }

    /// Adds the noise covariance to a matrix of its size.
    fn add_to(&self, k: &mut Matrix<f64>) {
        match self {
            Noise::Diagonal(psi) => psi.iter().enumerate().for_each(|(i, x)| k[(i, i)] += x),
            Noise::Full(psi) => k.as_mut_slice().iter_mut().zip(psi.as_slice()).for_each(|(k, x)| *k += x),
        }
    }

    /// Diagonal of the noise covariance.
    pub fn diagonal(&self) -> Vec<f64> {
        match self {
            Noise::Diagonal(psi) => psi.clone(),
            Noise::Full(psi) => (0..psi.rows()).map(|i| psi[(i, i)]).collect(),
        }
    }
}

fn positive(a: &Matrix<f64>, what: &'static str) -> Result<Cholesky> {
    Cholesky::new(a).ok_or(Error::Factorisation { what })
}

impl Parameters {
    /// Number of columns, `m`.
    pub fn n_features(&self) -> usize {
        self.w.rows()
    }

    /// Number of units, `l`.
    pub fn n_units(&self) -> usize {
        self.w.cols()
    }

    /// The posterior, by inverting an `l x l` or an `m x m` matrix, whichever is smaller: `O(m l min(m, l))`.
    ///
    /// # Errors
    ///
    /// A matrix that is not positive definite up to rounding.
    pub fn posterior(&self, prior: Prior) -> Result<Posterior> {
        self.posterior_through(prior, self.n_units() > self.n_features())
    }

    /// [`posterior`](Self::posterior) by `m x m` matrices if `wide`, else by `l x l` ones.
    ///
    /// # Errors
    ///
    /// As for `posterior`.
    pub fn posterior_through(&self, prior: Prior, wide: bool) -> Result<Posterior> {
        let (l, t) = (self.n_units(), prior.variance);
        let (a, log_noise) = self.noise.inverse_times(&self.w)?;
        let transposed = self.w.transposed();
        let (b, sigma, log_sigma) = if wide {
            let mut k = factor::products_of_rows(&self.w);
            if t != 1.0 {
                k.as_mut_slice().iter_mut().for_each(|x| *x *= t);
            }
            self.noise.add_to(&mut k);
            let factor = positive(&k, "the factorisation of the covariance of the rows")?;
            // Y' = (L^-1 W)', K = L L': Sigma is T - T Y' Y T, and B = L'^-1 Y T.
            let mut solved = transposed;
            factor.half_solve_rows(&mut solved);
            let mut sigma = factor::products_of_rows(&solved);
            sigma.as_mut_slice().iter_mut().for_each(|x| *x *= -t * t);
            (0..l).for_each(|j| sigma[(j, j)] += t);
            factor.finish_rows(&mut solved);
            if t != 1.0 {
                solved.as_mut_slice().iter_mut().for_each(|x| *x *= t);
            }
            (solved.transposed(), sigma, l as f64 * t.ln() + log_noise - factor.log_determinant())
        } else {
            let mut g = factor::multiply_symmetric(&transposed, &a);
            (0..l).for_each(|j| g[(j, j)] += 1.0 / t);
            let factor = positive(&g, "the factorisation of the precision of the units")?;
            let sigma = factor.inverse();
            (factor::multiply(&a, &sigma), sigma, -factor.log_determinant())
        };
        let prior_term = prior.mean / t;
        let bias = match prior_term == 0.0 {
            true => vec![0.0; l],
            false => (0..l).map(|j| prior_term * sigma.row(j).iter().sum::<f64>()).collect(),
        };
        Ok(Posterior { a, b, bias, sigma, log_sigma, log_noise })
    }

    /// `G = Sigma^-1 = I / T + W' A`, `l x l`, exactly symmetric.
    pub fn precision(&self, a: &Matrix<f64>, prior: Prior) -> Matrix<f64> {
        let mut g = factor::multiply_symmetric(&self.w.transposed(), a);
        (0..g.rows()).for_each(|j| g[(j, j)] += 1.0 / prior.variance);
        g
    }
}
