//! Maximisation of the likelihood: Newton's method, a fixed-point iteration for at most as many rows as columns, and
//! expectation-maximisation.

use super::likelihood::{Moments, Point};
use super::settings::{FactorAlgorithm, FactorAnalysis, FactorPrior, NoiseFloor};
use crate::error::Result;
use crate::num::factor::{self, Cholesky};
use crate::num::{Matrix, pseudo_inverse};
use crate::run::{Outcome, Run};
use crate::solve::{Limits, Steps};

/// The optimisation problem.
pub(super) struct Problem<'a> {
    pub(super) moments: &'a Moments,
    /// Number of rows, or sum of their weights.
    pub(super) n: f64,
    /// Number of factors.
    pub(super) q: usize,
    /// Logarithms of the smallest and of the largest uniqueness of each column.
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// The log-likelihood of the rows in their own units is `-n f / 2` minus this constant.
    pub(super) units: f64,
}

/// Result of the search.
pub(super) struct SearchResult {
    pub(super) point: Point,
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    pub(super) residual: f64,
    pub(super) log_likelihood: Vec<f64>,
}

/// A step from a point, and the increase of the log-likelihood that it predicts.
pub(super) struct Step {
    free: Vec<usize>,
    direction: Vec<f64>,
    rise: f64,
}

/// Lower bound of curvatures, as a fraction of the largest.
const CURVATURE_FLOOR_SHARE: f64 = 1e-3;

/// Curvatures below this are rounding errors: a saturated model, whose likelihood does not depend on the uniquenesses, has curvature 0.
const ROUNDING_CURVATURE: f64 = 1e-10;

impl<'a> Problem<'a> {
    /// Bounds from settings. `scales` are the standard deviations of the columns.
    pub(super) fn new(
        spec: &FactorAnalysis,
        moments: &'a Moments,
        left: Option<&[f64]>,
        n: f64,
        q: usize,
        scales: &[f64],
    ) -> Self {
        let p = moments.p();
        let floor = |i: usize| match spec.noise_floor {
            NoiseFloor::Share(share) => share,
            NoiseFloor::Auto(_) => (0.01 * left.map_or(0.0, |u| u[i])).max(1e-6),
        };
        let low = (0..p).map(|i| floor(i).ln()).collect();
        let log_scales: f64 = scales.iter().map(|s| 2.0 * s.ln()).sum();
        let units = 0.5 * n * (log_scales + p as f64 * (2.0 * std::f64::consts::PI).ln());
        Self { moments, n, q, low, high: vec![0.0; p], units }
    }

    pub(super) fn clip(&self, x: &mut [f64]) {
        x.iter_mut().zip(self.low.iter().zip(&self.high)).for_each(|(x, (l, h))| *x = x.clamp(*l, *h));
    }

    fn log_likelihood(&self, value: f64) -> f64 {
        -0.5 * self.n * value - self.units
    }

    /// Rounding error of the log-likelihood.
    fn rounding(&self, at: &Point) -> f64 {
        let terms =
            at.log_psi.iter().map(|x| x.abs()).sum::<f64>() + at.value.abs() + at.log_psi.len() as f64;
        self.n * terms * 4.0 * f64::EPSILON
    }

    /// Newton's step. Columns at a bound stay there if the gradient would move them across it.
    pub(super) fn step(&self, at: &Point) -> Result<Step> {
        let held = |i: usize| {
            let (x, g) = (at.log_psi[i], at.gradient[i]);
            (x <= self.low[i] && g >= 0.0) || (x >= self.high[i] && g <= 0.0)
        };
        let free: Vec<usize> = (0..at.log_psi.len()).filter(|&i| !held(i)).collect();
        if free.is_empty() {
            return Ok(Step { free, direction: Vec::new(), rise: 0.0 });
        }
        let gradient: Vec<f64> = free.iter().map(|&i| at.gradient[i]).collect();
        let hessian = at.hessian(self.moments, &free);
        let direction = match hessian.rows() == free.len() && free.len() > 1 {
            true => solve_floored(&hessian, &gradient)?,
            false => {
                let flattest = (CURVATURE_FLOOR_SHARE
                    * hessian.as_slice().iter().fold(0.0f64, |m, h| m.max(*h)))
                .max(ROUNDING_CURVATURE);
                let each = gradient.iter().zip(hessian.as_slice());
                each.map(|(g, h)| g / h.max(flattest)).collect()
            }
        };
        let rise = 0.25 * self.n * gradient.iter().zip(&direction).map(|(g, d)| g * d).sum::<f64>();
        Ok(Step { free, direction, rise })
    }

    /// Backtracking line search: the step, halved until `f` falls; `None` if it does not.
    pub(super) fn along(&self, at: &Point, step: &Step) -> Result<Option<Point>> {
        let mut length = 1.0;
        while length >= 1e-6 {
            let mut x = at.log_psi.clone();
            step.free.iter().zip(&step.direction).for_each(|(&i, d)| x[i] -= length * d);
            self.clip(&mut x);
            let slope: f64 =
                at.gradient.iter().zip(&x).zip(&at.log_psi).map(|((g, new), old)| g * (new - old)).sum();
            let next = self.moments.at(x, self.q)?;
            if next.value <= at.value + 1e-4 * slope && next.log_psi != at.log_psi {
                return Ok(Some(next));
            }
            length *= 0.5;
        }
        Ok(None)
    }

    /// `psi <- diag(R - loadings loadings')`: monotone, and near Newton's step if there are many columns.
    fn fixed_point(&self, at: &Point) -> Result<Option<Point>> {
        let loadings = at.loadings();
        let mut left = vec![1.0; at.log_psi.len()];
        (0..loadings.rows())
            .for_each(|j| left.iter_mut().zip(loadings.row(j)).for_each(|(x, l)| *x -= l * l));
        let mut x: Vec<f64> = left.iter().map(|x| x.max(f64::MIN_POSITIVE).ln()).collect();
        self.clip(&mut x);
        let next = self.moments.at(x, self.q)?;
        Ok(Some(next).filter(|next| next.value < at.value))
    }

    /// Searches from `start`.
    pub(super) fn search(
        &self,
        spec: &FactorAnalysis,
        mut start: Vec<f64>,
        run: &Run<'_>,
    ) -> Result<SearchResult> {
        self.clip(&mut start);
        let limits = Limits { tol: spec.tol, max_iter: spec.max_iter };
        match spec.algorithm {
            // With a prior this is the search for its initial loadings, on which the algorithm has no effect.
            FactorAlgorithm::Em if spec.prior == FactorPrior::None => self.em(start, limits, run),
            _ => self.newton(start, limits, run),
        }
    }

    fn newton(&self, start: Vec<f64>, limits: Limits, run: &Run<'_>) -> Result<SearchResult> {
        let (mut steps, x) = Steps::begin(run, "uniquenesses", limits, || Ok(start))?;
        let mut at = self.moments.at(x, self.q)?;
        let mut step = self.step(&at)?;
        let outcome = loop {
            // An increase below rounding errors cannot be verified.
            let residual = if step.rise <= self.rounding(&at) { 0.0 } else { step.rise };
            if let Some(outcome) = steps.ending(residual) {
                break outcome;
            }
            let next = match self.moments {
                Moments::Table(_) => self.along(&at, &step)?,
                Moments::Columns(_) => self.fixed_point(&at)?,
            };
            let Some(next) = next else { break Outcome::Stalled };
            at = next;
            step = self.step(&at)?;
            steps.ended(step.rise, Some(self.log_likelihood(at.value)), &at.log_psi)?;
        };
        let n_iter = steps.n_iter();
        let mut log_likelihood = steps.into_objective();
        if log_likelihood.is_empty() {
            log_likelihood.push(self.log_likelihood(at.value));
        }
        Ok(SearchResult { point: at, outcome, n_iter, residual: step.rise, log_likelihood })
    }

    /// Rubin & Thayer (1982). The residual is the remaining increase of the likelihood: to the best loadings,
    /// and by Newton's step from there.
    fn em(&self, start: Vec<f64>, limits: Limits, run: &Run<'_>) -> Result<SearchResult> {
        let first = || {
            let at = self.moments.at(start, self.q)?;
            let psi = at.psi();
            // Loadings of 0 would stay 0.
            let scale = |j: usize| (at.theta[j] - 1.0).max(0.01).sqrt();
            let loadings =
                Matrix::from_fn(at.theta.len(), psi.len(), |j, i| psi[i].sqrt() * at.w[(j, i)] * scale(j));
            Ok((loadings, at.log_psi, 0.0))
        };
        // Loadings, uniquenesses, and the excess of `f` over its value at the best loadings.
        let (mut steps, (mut loadings, x, above)): (_, (Matrix<f64>, Vec<f64>, f64)) =
            Steps::begin(run, "expectation-maximisation", limits, first)?;
        let mut at = self.moments.at(x, self.q)?;
        let mut rise = self.step(&at)?.rise + 0.5 * self.n * above;
        let outcome = loop {
            let residual = if rise <= self.rounding(&at) { 0.0 } else { rise };
            if let Some(outcome) = steps.ending(residual) {
                break outcome;
            }
            let (next, value) = self.em_step(&mut loadings, &at)?;
            let above = (value - next.value).max(0.0);
            rise = self.step(&next)?.rise + 0.5 * self.n * above;
            at = next;
            steps.ended(rise, Some(self.log_likelihood(value)), &(&loadings, &at.log_psi, above))?;
        };
        let n_iter = steps.n_iter();
        let mut log_likelihood = steps.into_objective();
        // The model has the best loadings at the last uniquenesses.
        log_likelihood.pop();
        log_likelihood.push(self.log_likelihood(at.value));
        Ok(SearchResult { point: at, outcome, n_iter, residual: rise, log_likelihood })
    }

    /// New loadings (rows are factors) and uniquenesses, and `f` at both.
    fn em_step(&self, loadings: &mut Matrix<f64>, at: &Point) -> Result<(Point, f64)> {
        let (psi, k) = (at.psi(), loadings.rows());
        let posterior = |loadings: &Matrix<f64>, psi: &[f64]| -> Result<(Matrix<f64>, Matrix<f64>)> {
            let scaled = Matrix::from_fn(k, psi.len(), |j, i| loadings[(j, i)] / psi[i]);
            let mut inner = factor::multiply_transposed(&scaled, loadings);
            (0..k).for_each(|j| inner[(j, j)] += 1.0);
            let beta = match Cholesky::new(&inner) {
                Some(factor) => factor.solve_rows(&scaled.transposed()).transposed(),
                None => factor::multiply(&pseudo_inverse(&inner)?, &scaled),
            };
            Ok((beta, inner))
        };
        let (beta, _) = posterior(loadings, &psi)?;
        // S beta', as rows; E[z z'] = I - beta loadings' + beta S beta'.
        let sb = self.moments.times(&beta);
        let mut zz = factor::multiply_transposed(&sb, &beta);
        let explained = factor::multiply_transposed(&beta, loadings);
        for i in 0..k {
            for j in 0..k {
                zz[(i, j)] -= explained[(i, j)];
            }
            zz[(i, i)] += 1.0;
        }
        let zz = Matrix::from_fn(k, k, |i, j| 0.5 * (zz[(i, j)] + zz[(j, i)]));
        *loadings = match Cholesky::new(&zz) {
            Some(factor) => factor.solve_rows(&sb.transposed()).transposed(),
            None => factor::multiply(&pseudo_inverse(&zz)?, &sb),
        };
        let left = |i: usize| 1.0 - (0..k).map(|j| loadings[(j, i)] * sb[(j, i)]).sum::<f64>();
        let mut x: Vec<f64> = (0..psi.len()).map(|i| left(i).max(f64::MIN_POSITIVE).ln()).collect();
        self.clip(&mut x);
        let point = self.moments.at(x, self.q)?;
        let psi = point.psi();
        let (beta, inner) = posterior(loadings, &psi)?;
        // log|C| = sum log psi + log|inner|;  tr(C^-1 R) = sum 1/psi - tr(beta R loadings' / psi).
        let (values, _) = factor::eigh(&inner)?;
        let scaled = Matrix::from_fn(k, psi.len(), |j, i| loadings[(j, i)] / psi[i]);
        let sb = self.moments.times(&beta);
        let inside: f64 = sb.as_slice().iter().zip(scaled.as_slice()).map(|(a, b)| a * b).sum();
        let value = point.log_psi.iter().sum::<f64>()
            + values.iter().map(|v| v.ln()).sum::<f64>()
            + psi.iter().map(|x| 1.0 / x).sum::<f64>()
            - inside;
        Ok((point, value))
    }
}

/// `H^-1 g` with eigenvalues of `H` of at least [`CURVATURE_FLOOR_SHARE`] of the largest. By a Cholesky factor where none is smaller.
fn solve_floored(hessian: &Matrix<f64>, gradient: &[f64]) -> Result<Vec<f64>> {
    let m = gradient.len();
    let row_sum = |i: usize| hessian.row(i).iter().map(|x| x.abs()).sum::<f64>();
    let bound = ((0..m).map(row_sum).fold(0.0f64, f64::max) * CURVATURE_FLOOR_SHARE).max(ROUNDING_CURVATURE);
    let shifted = Matrix::from_fn(m, m, |i, j| hessian[(i, j)] - if i == j { bound } else { 0.0 });
    if Cholesky::new(&shifted).is_some()
        && let Some(factor) = Cholesky::new(hessian)
    {
        return Ok(factor.solve_rows(&Matrix::from_vec(1, m, gradient.to_vec())).into_vec());
    }
    let (values, vectors) = factor::eigh(hessian)?;
    let flattest =
        (values.iter().fold(0.0f64, |m, v| m.max(v.abs())) * CURVATURE_FLOOR_SHARE).max(ROUNDING_CURVATURE);
    let mut out = vec![0.0; m];
    for (j, value) in values.iter().enumerate() {
        let along: f64 = vectors.row(j).iter().zip(gradient).map(|(v, g)| v * g).sum();
        let step = along / value.abs().max(flattest);
        out.iter_mut().zip(vectors.row(j)).for_each(|(x, v)| *x += step * v);
    }
    Ok(out)
}
