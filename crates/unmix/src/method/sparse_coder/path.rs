//! Codes as a function of alpha: objective, gap, number of atoms and squared error of every row.

use super::model::Sparse;
use super::settings::{Algorithm, SparseCoder};
use super::solver::Coded;
use super::sums;
use crate::data::{Rows, Sink, Workspace};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::num::{Block, Real};
use crate::run::Run;

/// The smallest alpha, as a fraction of the largest.
const DOWN: f64 = 1e-3;

/// Measures the codes of `rows` for `n_alphas` alphas, evenly spaced in their logarithm, from the largest useful one down to a thousandth
/// of it, each started from the codes before it. `sink` receives four numbers for every row and alpha: objective, gap, number of atoms and
/// squared error, alpha after alpha. Returns the alphas.
///
/// # Errors
///
/// A model without penalised sparse codes; rows of another width, or orthogonal to all atoms; errors of the source.
pub fn path<T: Real>(
    model: &Model,
    rows: &Rows<'_, T>,
    n_alphas: usize,
    run: &Run<'_>,
    sink: &mut dyn Sink<f64>,
) -> Result<Vec<f64>> {
    let refused = |found: &str, remedy: &str| Error::Unsupported {
        asked: "the path of codes over alpha".into(),
        found: found.into(),
        remedy: remedy.into(),
    };
    if !model.method().tensors().any(|s| s.default != "null") {
        return Err(refused("the codes of this model do not solve a lasso", "fit sparse-coder"));
    }
    let given = SparseCoder::from_settings(model.settings())?;
    let (encoder, _) = Sparse::of(&given, model.tensors())?;
    let solver = encoder.solver();
    if solver.rules.algorithm == Algorithm::Omp {
        return Err(refused("orthogonal matching pursuit has no alpha", "choose algorithm='cd'"));
    }
    let (p, need) = (rows.n_features(), model.n_features());
    if p != need {
        let remedy = format!("choose the columns of {} that the model was fitted on", rows.origin());
        return Err(Error::Width { what: "path".into(), need, got: p, remedy });
    }
    let largest = sums::correlations(rows, &solver, run)?.largest;
    if largest == 0.0 {
        return Err(refused("every row is orthogonal to every atom", "give other rows"));
    }
    let at = |i: usize| DOWN.powf(i as f64 / (n_alphas.max(2) - 1) as f64);
    let alphas: Vec<f64> = (0..n_alphas).map(|i| largest * at(i)).collect();
    let step = |block: Block<'_, T>, out: &mut [f64], _: &mut Workspace<T>| {
        rows.check_infinite("path", &block)?;
        let codes = vec![0.0; block.n_rows() * solver.atoms.n_atoms()];
        let mut coded = Coded { rows: solver.centred(block.data), codes, ..Coded::default() };
        let mut solver = solver.clone();
        solver.rules.debias = false;
        for (i, alpha) in alphas.iter().enumerate() {
            solver.rules.alpha = *alpha;
            coded = solver.code_from(coded, true);
            for (out, m) in out.chunks_exact_mut(4 * alphas.len()).zip(&coded.measures) {
                let facts = [m.objective, m.gap, m.n_nonzero as f64, m.squared_error];
                out[4 * i..4 * i + 4].copy_from_slice(&facts);
            }
        }
        Ok(())
    };
    rows.map(run, "path", 4 * alphas.len(), step, sink)?;
    Ok(alphas)
}
