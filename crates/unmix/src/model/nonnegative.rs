//! Codes by non-negative least squares, one row at a time, by coordinate descent with a certificate of convergence.

use super::code::{Certificate, Codes, Encoder, RowMap};
use super::tensor::Tensor;
use crate::data::Workspace;
use crate::num::{Matrix, Real};
use std::sync::Arc;

/// The code `z >= 0` that minimises `½ z' (G + diag(tau)) z - r' z`, where `r = (x - mean) A + prior_term` and `tau_j = 1 / scale_j - G_jj`; units
/// with scale 0 have code 0.
#[derive(Clone, Debug)]
pub struct NonNegative {
    problem: Arc<Problem>,
}

#[derive(Debug)]
struct Problem {
    mean: Vec<f64>,
    /// `n_features x n_codes`.
    a: Matrix<f64>,
    prior_term: f64,
    g: Matrix<f64>,
    scale: Vec<f64>,
    tol: f64,
}

/// Maximum number of rounds of coordinate descent.
const MOST_ROUNDS: usize = 500;

impl NonNegative {
    /// `a` is `n_features x n_codes`, `g` symmetric, `n_codes x n_codes`, `scale` has `n_codes` numbers; a row has converged if its
    /// violation of the optimality conditions is at most `tol`.
    pub fn new(
        mean: Tensor,
        a: Matrix<f64>,
        prior_term: f64,
        g: Matrix<f64>,
        scale: Vec<f64>,
        tol: f64,
    ) -> Self {
        Self { problem: Arc::new(Problem { mean: mean.f64s(), a, prior_term, g, scale, tol }) }
    }

    /// The map of rows of type `T`.
    fn map<T: Real>(&self) -> Box<dyn RowMap<T>> {
        Box::new(Map(self.problem.clone()))
    }
}

impl Problem {
    /// Writes the code of a row to `z`, and returns the largest violation of the KKT conditions (`z >= 0`, non-negative gradient,
    /// complementarity), relative to the larger of 1 and the largest entry of `r`.
    fn solve<T: Real>(&self, x: &[T], z: &mut [f64]) -> f64 {
        let mut r = vec![self.prior_term; z.len()];
        for ((x, m), a) in x.iter().zip(&self.mean).zip(self.a.as_slice().chunks_exact(z.len())) {
            let x = x.to_f64() - m;
            if x != 0.0 {
                r.iter_mut().zip(a).for_each(|(r, a)| *r += x * a);
            }
        }
        solve_row(&self.g, &self.scale, &r, z, (self.tol, MOST_ROUNDS))
    }
}

/// Coordinate descent from `z = 0` on one row; see [`NonNegative`]. Returns the violation.
fn solve_row(g: &Matrix<f64>, scale: &[f64], r: &[f64], z: &mut [f64], (tol, rounds): (f64, usize)) -> f64 {
    z.fill(0.0);
    // G z, kept up to date.
    let mut gz = vec![0.0; z.len()];
    let size = r.iter().fold(1.0f64, |m, r| m.max(r.abs()));
    let mut worst = f64::INFINITY;
    for _ in 0..rounds {
        for j in (0..z.len()).filter(|&j| scale[j] > 0.0) {
            let b = r[j] - (gz[j] - g[(j, j)] * z[j]);
            let next = scale[j] * b.max(0.0);
            let change = next - z[j];
            if change != 0.0 {
                z[j] = next;
                gz.iter_mut().zip(g.row(j)).for_each(|(s, g)| *s += change * g);
            }
        }
        worst = violation(g, scale, r, z, &gz) / size;
        // NaN remains NaN.
        if worst.is_nan() || worst <= tol {
            break;
        }
    }
    worst
}

/// The largest violation of the KKT conditions over the units with positive scale.
fn violation(g: &Matrix<f64>, scale: &[f64], r: &[f64], z: &[f64], gz: &[f64]) -> f64 {
    let alive = (0..z.len()).filter(|&j| scale[j] > 0.0);
    alive.fold(0.0f64, |worst, j| {
        let slope = gz[j] + (1.0 / scale[j] - g[(j, j)]) * z[j] - r[j];
        let own = (-slope).max((slope * z[j]).abs()).max(-z[j]);
        if own.is_nan() { own } else { worst.max(own) }
    })
}

impl Encoder for NonNegative {
    fn n_features(&self) -> usize {
        self.problem.a.rows()
    }

    fn n_codes(&self) -> usize {
        self.problem.a.cols()
    }

    fn codes(&self) -> Codes {
        Codes { non_negative: true, ..Codes::default() }
    }

    fn certificate(&self) -> Option<Certificate> {
        Some(Certificate { name: "violation of optimality", tol: self.problem.tol })
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        self.map()
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        self.map()
    }
}

struct Map(Arc<Problem>);

impl<T: Real> RowMap<T> for Map {
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        let mut gaps = vec![0.0; rows.len() / self.0.mean.len().max(1)];
        self.certified(rows, out, &mut gaps, work);
    }

    fn certified(&self, rows: &[T], out: &mut [T], gaps: &mut [f64], _: &mut Workspace<T>) {
        let (p, l) = (self.0.mean.len(), self.0.scale.len());
        let mut z = vec![0.0; l];
        for ((x, out), gap) in rows.chunks_exact(p).zip(out.chunks_exact_mut(l)).zip(gaps) {
            *gap = self.0.solve(x, &mut z);
            out.iter_mut().zip(&z).for_each(|(to, z)| *to = T::from_f64(*z));
        }
    }
}
