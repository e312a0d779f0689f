//! Codes as a function of alpha.

use super::solver::{Coded, Solver};
use super::sums::correlations_of;
use crate::model::AlongAlpha;
use crate::num::Matrix;

/// The solver of an encoder, for any alpha; codes are not debiased.
#[derive(Debug)]
pub(super) struct Path {
    solver: Solver<f64>,
    /// The atoms in columns.
    across: Matrix<f64>,
}

impl Path {
    pub(super) fn new(mut solver: Solver<f64>) -> Self {
        solver.rules.debias = false;
        let across = solver.atoms.matrix().transposed();
        Self { solver, across }
    }
}

impl AlongAlpha for Path {
    fn alpha(&self) -> f64 {
        self.solver.rules.alpha
    }

    fn largest(&self, rows: &[f64], out: &mut [f64]) {
        let mut found = vec![0.0; 3 * out.len()];
        correlations_of(&self.solver, &self.across, self.solver.centred(rows), &mut found);
        out.iter_mut().zip(found.chunks_exact(3)).for_each(|(out, found)| *out = found[0]);
    }

    fn measured(&self, rows: &[f64], alphas: &[f64], out: &mut [f64]) {
        let rows = self.solver.centred(rows);
        let codes = vec![0.0; rows.len() / self.across.rows().max(1) * self.across.cols()];
        let mut coded = Coded { rows, codes, ..Coded::default() };
        let mut solver = self.solver.clone();
        for (i, alpha) in alphas.iter().enumerate() {
            solver.rules.alpha = *alpha;
            coded = solver.code_from(coded, true);
            for (out, m) in out.chunks_exact_mut(4 * alphas.len()).zip(&coded.measures) {
                let measures = [m.objective, m.gap, m.n_nonzero as f64, m.squared_error];
                out[4 * i..4 * i + 4].copy_from_slice(&measures);
            }
        }
    }
}
