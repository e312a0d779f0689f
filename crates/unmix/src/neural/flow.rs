//! The fixed point of a linear rule, by full batches, from second moments alone.
//!
//! Every linear rule commutes with rotations of the features, so it is iterated in the coordinates of the principal axes,
//! where `C` is diagonal: a step costs `O(r k²)` instead of `O(p² k)`, `r` the rank. Directions in which the rows do not vary
//! are left out: no rule changes the weights along them.

use super::table::Step;
use super::{LinearGradient, Spec, TableEntry, linear_gradient};
use crate::error::{Error, Result};
use crate::model::Outcome;
use crate::num::random::Stream;
use crate::num::{Matrix, factor};
use crate::run::Run;
use crate::solve::{Limits, Steps};

/// Start and stopping rule.
#[derive(Clone, Debug)]
pub struct FlowOptions {
    /// Number of columns.
    pub k: usize,
    /// Whether the initial weights are the principal axes; otherwise they are random orthonormal directions.
    pub from_axes: bool,
    /// Initial weights instead (`r x k`, in the coordinates of the principal axes).
    pub from: Option<Matrix<f64>>,
    /// Maximum number of steps.
    pub max_iter: u64,
    /// The iteration stops if the residual `||G|| / ||CW||` is at most this.
    pub tol: f64,
}

/// The result of the iteration.
#[derive(Clone, Debug)]
pub struct FlowResult {
    /// `r x k`, in the coordinates of the principal axes.
    pub w: Matrix<f64>,
    /// Number of steps.
    pub n_iter: u64,
    /// `||G|| / ||CW||` at the end.
    pub residual: f64,
    /// Outcome.
    pub outcome: Outcome,
}

impl FlowResult {
    /// The first `k` of `r` principal axes, without a step.
    pub(crate) fn closed_form(r: usize, k: usize) -> Self {
        let w = Matrix::from_fn(r, k, |i, j| f64::from(u8::from(i == j)));
        Self { w, n_iter: 1, residual: 0.0, outcome: Outcome::Completed }
    }
}

impl TableEntry {
    /// The step of a full batch, in units of the inverse of the largest eigenvalue.
    ///
    /// Measured stability limits: 1/3 for rules with a variance term (their derivative at the fixed point is -(4 + 2 lambda)), 1/2 for
    /// those with an encoder, up to 1 for the others.
    pub fn step_length(&self, spec: &Spec, k: usize) -> f64 {
        let last = spec.lambda.of(k, |_| 1.0).last().copied().unwrap_or(1.0);
        match self.step {
            Step::Quarter => 0.25,
            Step::QuarterOfLast => 0.25 * last,
        }
    }
}

/// Iterates the rule of the entry `row` to its fixed point, for rows whose variances along the principal axes are `variances`
/// (descending, positive).
///
/// # Errors
///
/// Weights that diverge; interruption.
pub fn flow(
    row: &TableEntry,
    spec: &Spec,
    variances: &[f64],
    how: &FlowOptions,
    run: &Run<'_>,
) -> Result<FlowResult> {
    let (r, k) = (variances.len(), how.k);
    let largest = variances.first().copied().unwrap_or(1.0);
    let c: Vec<f64> = variances.iter().map(|v| v / largest).collect();
    let length = row.step_length(spec, k);
    let limits = Limits { tol: how.tol, max_iter: how.max_iter };
    let (mut steps, mut w) = Steps::begin(run, "fixed point", limits, || Ok(start(r, how, run.seed)))?;
    let (outcome, residual) = loop {
        let cw = Matrix::from_fn(r, k, |i, j| c[i] * w[(i, j)]);
        let g = field(spec, &w, &cw);
        let residual = norm(&g) / norm(&cw).max(f64::MIN_POSITIVE);
        if !residual.is_finite() {
            return Err(Error::unsupported(
                format!("the fixed point of '{}' on these data", row.key),
                format!("its weights diverged after {} full-batch steps", steps.n_iter()),
                "choose another variant",
            ));
        }
        if let Some(outcome) = steps.ending(residual) {
            break (outcome, residual);
        }
        w.as_mut_slice().iter_mut().zip(g.as_slice()).for_each(|(w, g)| *w -= length * g);
        steps.ended(residual, None, &w)?;
    };
    Ok(FlowResult { w, n_iter: steps.n_iter(), residual, outcome })
}

/// The half-gradient `G = C W A + W K` from `W` and `CW`.
pub fn field(spec: &Spec, w: &Matrix<f64>, cw: &Matrix<f64>) -> Matrix<f64> {
    let wt = w.transposed();
    let (s, m) = (factor::multiply(&wt, cw), factor::multiply(&wt, w));
    let sigma: Vec<f64> = (0..s.rows()).map(|j| s[(j, j)].max(0.0).sqrt()).collect();
    let LinearGradient { outer, inner } = linear_gradient(spec, &s, &m, spec.beta, &sigma);
    let mut g = factor::multiply(cw, &outer);
    let own = factor::multiply(w, &inner);
    g.as_mut_slice().iter_mut().zip(own.as_slice()).for_each(|(g, o)| *g += o);
    g
}

fn start(r: usize, how: &FlowOptions, seed: u64) -> Matrix<f64> {
    if let Some(w) = &how.from {
        return w.clone();
    }
    match how.from_axes {
        true => Matrix::from_fn(r, how.k, |i, j| f64::from(u8::from(i == j))),
        false => {
            let draws = Stream::new(seed, 0x6e70);
            let random = Matrix::from_fn(how.k, r, |j, i| draws.normal((j * r + i) as u64));
            factor::orthonormal_rows(&random).transposed()
        }
    }
}

fn norm(m: &Matrix<f64>) -> f64 {
    m.as_slice().iter().map(|x| x * x).sum::<f64>().sqrt()
}
