//! Codes as a function of alpha.

use super::solver::{Coded, Solver};
use crate::model::AlongAlpha;
use crate::stats::GatherCorrelations;

/// The solver of an encoder, for any alpha; codes are not debiased.
#[derive(Debug)]
pub(super) struct Path {
    solver: Solver<f64>,
}

impl Path {
    pub(super) fn new(mut solver: Solver<f64>) -> Self {
        solver.rules.debias = false;
        Self { solver }
    }
}

impl AlongAlpha for Path {
    fn alpha(&self) -> f64 {
        self.solver.rules.alpha
    }

    fn correlations(&self) -> GatherCorrelations {
        self.solver.correlations()
    }

    fn measured(&self, rows: &[f64], alphas: &[f64], out: &mut [f64]) {
        let (atoms, rows) = (&self.solver.atoms, self.solver.centred(rows));
        let codes = vec![0.0; rows.len() / atoms.n_features().max(1) * atoms.n_atoms()];
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
