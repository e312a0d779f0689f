//! From filters to a model: atoms, their order and sign, and warnings about them.

use super::refine::SelectedFilters;
use super::settings::Algorithm;
use super::start::Task;
use super::{CompleteDictionary, METHOD};
use crate::data::Rows;
use crate::error::Result;
use crate::method::as_map;
use crate::model::{Arrangement, Model, Report, Tensor};
use crate::num::{Dtype, Matrix, Real};
use crate::run::Run;
use crate::spectrum::Inverse;
use crate::stats::Spread;
use serde_json::json;

/// Rows for each atom below which atoms that are never used together are not distinguished: 27 in rows without noise, by the variance
/// `1 / (3 n (1 - share)²)` of an entry, where a row of filters is near its atom.
const LEAST_ROWS_PER_ATOM: f64 = 27.0;

/// Rows of a batch for each atom below which the first epoch may not end near the atoms.
const LEAST_BATCH_PER_ATOM: usize = 20;

/// Maximum number of atoms that a warning lists; for more it gives their number.
const MOST_LISTED_ATOMS: usize = 12;

impl CompleteDictionary {
    /// The model of the filters found: atoms, usage, kurtosis, report.
    pub(super) fn model<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        task: &Task,
        chosen: SelectedFilters,
        run: &Run<'_>,
    ) -> Result<Model> {
        let mut report = self.report(rows.n_features(), T::DTYPE, task, &chosen, run);
        let SelectedFilters { found, spread, .. } = chosen;
        let (coordinates, k, dtype) = (&task.coordinates, task.k, T::DTYPE);
        // Atoms as rows of length 1: the dual vectors of the filters, whose length multiplies the codes.
        let decoder = coordinates.decoder(&found.w, Inverse::Dual)?;
        let length: Vec<f64> = (0..k).map(|i| dot(decoder.row(i), decoder.row(i)).sqrt()).collect();
        let atoms = Matrix::from_fn(k, decoder.cols(), |i, j| decoder[(i, j)] / length[i]);
        let filters = Matrix::from_fn(k, found.w.cols(), |i, j| found.w[(i, j)] * length[i]);
        let usage: Vec<f64> = (0..k)
            .map(|i| length[i] * task.deviation_of(found.w.row(i)) * spread.sizes[i] / spread.n)
            .collect();
        let kurtosis: Vec<f64> = (0..k).map(|i| excess(&spread, i)).collect();
        // In decreasing order of use.
        let arranged = Arrangement::by_variance(&usage, &atoms, dtype.eps());
        let ordered = arranged.values(&kurtosis);
        report.warnings.extend(self.small_batches(k, rows.n_rows()));
        report.warnings.extend(not_peaked(&ordered, spread.n, coordinates.k()));
        report.warnings.extend(few_rows(&ordered, spread.n));
        let filters = match coordinates.white {
            true => filters,
            false => coordinates.folded(&filters),
        };
        let atoms = arranged.rows(&atoms);
        let rotation = arranged.rows(&filters).transposed();
        // Without a first rotation, so that the components are not mistaken for it.
        let decoder = Some(&atoms).filter(|_| !coordinates.white);
        let described = coordinates.described(&atoms, decoder, Some(&rotation));
        let own = [
            ("usage", Tensor::vector(&arranged.values(&usage), dtype)),
            ("kurtosis", Tensor::vector(&ordered, dtype)),
        ];
        let tensors = described.tensors(dtype, own);
        report.end(run);
        Model::fitted(&METHOD, as_map(self), rows.features().clone(), 0, tensors, report)
    }

    /// A warning about batches of too few of `n_rows` rows for `k` atoms.
    fn small_batches(&self, k: usize, n_rows: Option<u64>) -> Option<String> {
        let size = self
            .batch_size
            .filter(|size| self.algorithm == Algorithm::Msp && (*size as u64) < n_rows.unwrap_or(0))?;
        let need = LEAST_BATCH_PER_ATOM * k;
        (size < need).then(|| {
            format!(
                "batch_size={size} is small for {k} atoms: with batches of fewer than {need} rows, {LEAST_BATCH_PER_ATOM} for each atom, the first epoch may not lead to \
                 the atoms"
            )
        })
    }

    /// How the search ended, for rows of `p` numbers.
    fn report(&self, p: usize, dtype: Dtype, task: &Task, chosen: &SelectedFilters, run: &Run<'_>) -> Report {
        let SelectedFilters { found, refined, .. } = chosen;
        let (coordinates, k) = (&task.coordinates, task.k);
        let name = match self.algorithm {
            Algorithm::Msp => "msp",
            Algorithm::L1 => "l1",
            Algorithm::Deflation => "deflation",
        };
        let mut report = Report::closed_form(name, coordinates.n, p, dtype, run.seed);
        report.outcome = found.outcome;
        report.n_iter = found.n_iter;
        report.sweeps = found.sweeps + coordinates.sweeps;
        report.objective.clone_from(&found.objective);
        let limits = self.limits(dtype);
        (report.residual, report.tol) = (Some(found.residual).filter(|r| r.is_finite()), Some(limits.tol));
        report.rank = coordinates.rank;
        report.n_constant = coordinates.n_constant;
        report.warnings = coordinates.warnings.clone();
        report.tell_rounding();
        report.settings = as_map(self);
        report.settings.insert("n_components".into(), k.into());
        report.settings.insert("tol".into(), limits.tol.into());
        if !refined.is_empty() {
            let n_refined = refined.iter().filter(|kept| **kept).count();
            report.fit = Some(json!({ "refined": n_refined, "polished": k - n_refined }));
        }
        report
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::power::dot(a, b)
}

/// Excess kurtosis of the codes of a filter about 0.
fn excess(spread: &Spread, i: usize) -> f64 {
    let square = spread.squares[i] / spread.n;
    if square > 0.0 { spread.fourth[i] / spread.n / (square * square) - 3.0 } else { 0.0 }
}

/// A warning about atoms whose codes are not super-Gaussian. The largest kurtosis over all directions of `n` Gaussian rows of rank `r` is
/// about `1.8 sqrt(r - 1)` standard errors `sqrt(24 / n)`; three more allow for its variation.
fn not_peaked(kurtosis: &[f64], n: f64, r: usize) -> Option<String> {
    let chance = (24.0 / n).sqrt() * (1.8 * ((r - 1) as f64).sqrt() + 3.0);
    let flat: Vec<usize> = (0..kurtosis.len()).filter(|&i| kurtosis[i] < chance).collect();
    let listed: Vec<String> = flat.iter().take(MOST_LISTED_ATOMS).map(usize::to_string).collect();
    let which =
        if flat.len() > MOST_LISTED_ATOMS { String::new() } else { format!(" ({})", listed.join(", ")) };
    (!flat.is_empty()).then(|| {
        let have = if flat.len() == 1 { "has" } else { "have" };
        format!(
            "{} of {} atoms {have} codes that are not super-Gaussian{which}: their kurtosis is below {chance:.2}, the largest value expected \
             by chance for Gaussian codes; a dictionary is identified by sparse codes only, and these atoms only up to a rotation \
             among them; for sub-Gaussian sources use ica",
            flat.len(),
            kurtosis.len()
        )
    })
}

/// A warning if there are too few rows for codes as sparse as those of the least sparse atom.
fn few_rows(kurtosis: &[f64], n: f64) -> Option<String> {
    let k = kurtosis.len();
    let least = kurtosis.iter().copied().fold(f64::INFINITY, f64::min).max(0.0);
    // The share of nonzero codes, if these are Gaussian: their kurtosis is `3 / share - 3`. At most 0.75: above it the warning about Gaussian
    // codes applies.
    let share = (3.0 / (3.0 + least)).min(0.75);
    let need = LEAST_ROWS_PER_ATOM * k.saturating_sub(1) as f64 / (1.0 - share).powi(2);
    (n < need).then(|| {
        format!(
            "{n} rows are few for {k} atoms: with fewer than about {need:.0} rows, for codes of this sparsity, atoms are estimated \
             with large errors"
        )
    })
}
