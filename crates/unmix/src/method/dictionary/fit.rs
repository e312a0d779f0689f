//! Shared parts of fits by all algorithms: the rows, initial atoms, the weight of the penalty, the model.

use super::model::{self, Order, parameters};
use super::{Alpha, AtomNorm, Coder, DictionaryAlgorithm, DictionaryLearning, METHOD};
use crate::data::{Features, Rows, check_n_rows, no_columns};
use crate::error::{Error, Result, counted};
use crate::machine::check_memory;
use crate::method::as_map;
use crate::model::{Model, Outcome, Report, Tensor, replaced_by_table};
use crate::num::random::Stream as Draws;
use crate::num::{Dtype, Matrix, Real};
use crate::run::Run;
use crate::sparse::{AtomSet, Atoms, InitSource, StoppingRule, chosen, coherence, largest_of_each};
use crate::spectrum::{check_count, check_total, no_variance_of};
use crate::stats::GatherMoments;
use serde_json::{Value, json};

/// Maximum number of rows on which the objective of an epoch is computed, and `alpha` is chosen.
const MOST_SAMPLED_ROWS: u64 = 2000;
/// Number of rows for each atom from which initial atoms are chosen.
const FOR_EACH: u64 = 4;
/// Stopping rule of codes during learning: relative duality gap, and maximum number of passes.
pub(super) const LEARNING_RULE: StoppingRule = StoppingRule::UpTo { tol: 1e-4, max_passes: 100 };
/// Products of numbers up to which the cosines of all pairs of atoms are computed also in a run that ends early.
const MOST_QUICK_PRODUCTS: u64 = 1 << 31;
/// `alpha="auto"`: this fraction of the mean over rows of the largest product with an atom.
const AUTO_ALPHA_SHARE: f64 = 0.1;

/// Result of a fit.
pub(super) struct FitResult {
    /// The atoms, `m x p`.
    pub(super) atoms: Matrix<f64>,
    /// Fraction of the rows whose code uses an atom, and sum of the absolute values of its codes, for each atom.
    pub(super) share: Vec<f64>,
    pub(super) size: Vec<f64>,
    pub(super) alpha: f64,
    pub(super) mean: Vec<f64>,
    pub(super) n: f64,
    pub(super) n_constant: usize,
    pub(super) objective: Vec<f64>,
    pub(super) outcome: Outcome,
    pub(super) residual: Option<f64>,
    pub(super) tol: Option<f64>,
    pub(super) n_iter: u64,
    pub(super) sweeps: u64,
    /// Number of atoms that no code uses, and number of replacements.
    pub(super) dead: u64,
    pub(super) replaced: u64,
    /// The largest product of a row and an atom, if every code is 0.
    pub(super) largest: Option<f64>,
    /// Atoms and step lengths of every step of 'layerwise', one after the other.
    pub(super) layers: Option<(Vec<f64>, Vec<f64>)>,
    /// Tensors with the state of a stream.
    pub(super) more: Vec<(&'static str, Tensor)>,
}

impl DictionaryLearning {
    /// Fits. Rows from a one-pass source are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, more atoms than rows, rows that are all zero, rows with weights, errors of
    /// the source. An `alpha` so large that every code is 0 is not an error: the report mentions it, and atoms are the initial ones.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin_given(self, &[("dict_init", self.dict_init.as_ref())], rows, run)?;
        self.admitted()?;
        check_n_rows(METHOD.key, rows.n_counted(), rows.origin(), "give more rows")?;
        if rows.n_features() == 0 {
            return Err(no_columns(METHOD.key, rows.origin()));
        }
        let k = self.count(rows, run)?;
        check_atoms(k, rows.n_features())?;
        let rows = &*rows;
        let found = rows.pooled(run.threads, || match self.algorithm.streams() {
            true => self.by_epochs(rows, k, run),
            false => self.in_memory(rows, k, run),
        })?;
        self.model(found, rows.features(), T::DTYPE, run)
    }

    /// The number of atoms.
    fn count<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<usize> {
        let (n, p) = (rows.n_counted(), rows.n_features());
        let given = self.started_from(p, run)?.map(|atoms| atoms.rows());
        match self.n_components.or(given) {
            Some(k) => {
                let origin = rows.origin();
                check_count(k, 1..=n as usize, || {
                    format!("{origin} has {}, and there are at most as many atoms as rows", counted(n, "row"))
                })?;
                Ok(k)
            }
            None => Ok((p as u64).min(n) as usize),
        }
    }

    /// Refuses incompatible settings.
    fn admitted(&self) -> Result<()> {
        let refused =
            |name: &str, got: Value, why: &str, remedy: &str| Err(Error::setting(name, got, why, remedy));
        if self.algorithm == DictionaryAlgorithm::Alternating && !self.warm_start_codes && self.code_steps < 5
        {
            let why = "codes that start from 0 in every block need at least 5 steps";
            return refused(
                "code_steps",
                self.code_steps.into(),
                why,
                "choose 5 or more, or warm_start_codes=true",
            );
        }
        Ok(())
    }

    /// Whether codes are constrained to be non-negative: those of orthogonal matching pursuit have either sign.
    pub(super) fn non_negative(&self) -> bool {
        let pursuit = self.algorithm == DictionaryAlgorithm::Ksvd
            || (self.algorithm != DictionaryAlgorithm::Layerwise && self.coder == Coder::Omp);
        self.positive_code && !pursuit
    }

    /// Initial atoms if they are given, for rows of `p` numbers.
    pub(super) fn given(&self, p: usize) -> Result<Option<&Matrix<f64>>> {
        let Some(atoms) = &self.dict_init else { return Ok(None) };
        let shape = format!("{} x {}", atoms.rows(), atoms.cols());
        let refused =
            |why: String, remedy: &str| Err(Error::setting("dict_init", shape.clone(), why, remedy));
        if atoms.cols() != p {
            let remedy = format!("give atoms as rows of {}", counted(p as u64, "number"));
            return refused(format!("the rows have {}", counted(p as u64, "column")), &remedy);
        }
        if let Some(k) = self.n_components.filter(|k| *k != atoms.rows()) {
            return refused(
                format!("n_components is {k}"),
                "leave n_components out, or give that number of atoms",
            );
        }
        if atoms.as_slice().iter().any(|x| !x.is_finite()) {
            return refused("must contain finite numbers only".into(), "leave out atoms with other values");
        }
        match (0..atoms.rows()).find(|i| atoms.row(*i).iter().all(|x| *x == 0.0)) {
            Some(i) => refused(format!("atom {i} is 0 and would never be used"), "give nonzero atoms"),
            None => Ok(Some(atoms)),
        }
    }

    /// Initial atoms if they are given: a table, or those of a model.
    pub(super) fn started_from(&self, p: usize, run: &Run<'_>) -> Result<Option<Matrix<f64>>> {
        match (run.initial_components(p, self.n_components.unwrap_or(0))?, self.given(p)?) {
            (Some(_), Some(_)) => {
                let why = "a model to start from (init) is given, too";
                Err(Error::setting("dict_init", "a table", why, "give one of the two"))
            }
            (model, table) => Ok(model.or(table.cloned())),
        }
    }

    /// Given atoms, projected onto their constraint set.
    pub(super) fn projected(&self, atoms: &Matrix<f64>) -> Matrix<f64> {
        let mut atoms = atoms.clone();
        self.set().project_all(&mut atoms);
        atoms
    }

    /// The constraint set of the atoms.
    pub(super) fn set(&self) -> AtomSet {
        let norm =
            if self.algorithm == DictionaryAlgorithm::Ksvd { AtomNorm::Sphere } else { self.atom_norm };
        AtomSet { norm, positive: self.positive_dict }
    }

    /// The mean to subtract from rows, and the number of constant columns.
    pub(super) fn mean<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<(Vec<f64>, usize)> {
        let found = rows.sweep(run, "moments", &GatherMoments::new())?;
        let about: f64 = found.squares.iter().sum();
        let shift: f64 = found.mean.iter().map(|m| m * m).sum::<f64>() * found.n;
        let total = if self.center { about } else { about + shift };
        let held = |x: f64| T::from_f64(x).finite();
        if !total.is_finite() || !held(total) || found.mean.iter().any(|m| !m.is_finite()) {
            return Err(rows.not_finite(METHOD.key));
        }
        if total == 0.0 && (self.center || found.mean.iter().all(|m| *m == 0.0)) {
            return Err(no_variance_of(rows, METHOD.key));
        }
        check_total(METHOD.key, total, T::DTYPE)?;
        let constant = found.squares.iter().filter(|s| **s == 0.0).count();
        let mean = if self.center { found.mean } else { vec![0.0; rows.n_features()] };
        Ok((mean, constant))
    }

    /// Centred rows for evaluation, and initial atoms.
    pub(super) fn initial<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        mean: &[f64],
        k: usize,
        run: &Run<'_>,
    ) -> Result<(Vec<T>, Matrix<f64>)> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let less = |chosen: Vec<u64>| -> Result<Vec<T>> {
            let mut out = rows.picked(chosen, run)?;
            for row in out.chunks_exact_mut(p).filter(|_| self.center) {
                row.iter_mut().zip(mean).for_each(|(x, m)| *x = T::from_f64(x.to_f64() - m));
            }
            Ok(out)
        };
        let sample = less(chosen(n, MOST_SAMPLED_ROWS, Draws::new(run.seed, 0x6f62_6a65)))?;
        if let Some(atoms) = self.started_from(p, run)? {
            return Ok((sample, self.projected(&atoms.top_rows(k))));
        }
        let count = MOST_SAMPLED_ROWS.max(FOR_EACH.saturating_mul(k as u64));
        let from = less(chosen(n, count, Draws::new(run.seed, 0x696e_6974)))?;
        let wide: Vec<f64> = from.iter().map(|x| x.to_f64()).collect();
        let atoms = self.first_atoms(k, &wide, p, rows.features(), run.seed);
        Ok((sample, atoms))
    }

    /// Initial atoms from rows.
    pub(super) fn first_atoms(
        &self,
        k: usize,
        rows: &[f64],
        p: usize,
        features: &Features,
        seed: u64,
    ) -> Matrix<f64> {
        let shape = features.shape.as_deref();
        InitSource { how: self.init, set: self.set(), m: k, rows, p, shape, seed }.atoms()
    }

    /// The weight of the penalty: as given, or from the rows.
    pub(super) fn weight<T: Real>(&self, atoms: &Atoms<T>, rows: &[T]) -> f64 {
        match self.alpha {
            Alpha::Weight(alpha) => alpha,
            _ => {
                let each = largest_of_each(atoms, rows, self.non_negative());
                let mean = each.iter().sum::<f64>() / each.len().max(1) as f64;
                // If all rows are orthogonal to all atoms, alpha has no scale.
                if mean > 0.0 { AUTO_ALPHA_SHARE * mean } else { 1.0 }
            }
        }
    }

    /// Name of the algorithm.
    pub(super) fn solver(&self) -> String {
        serde_json::to_value(self.algorithm)
            .ok()
            .and_then(|v| v.as_str().map(String::from))
            .unwrap_or_default()
    }

    /// The largest cosine of two atoms, and the number of pairs that are nearly parallel; `None` if it takes long and the run ends early.
    fn coherence(&self, atoms: &Matrix<f64>, run: &Run<'_>) -> Option<(f64, usize)> {
        let (m, p) = (atoms.rows() as u64, atoms.cols() as u64);
        let long = m.saturating_mul(m).saturating_mul(p) > MOST_QUICK_PRODUCTS;
        coherence(atoms, || long && run.ends_early())
    }

    pub(super) fn model(
        &self,
        found: FitResult,
        features: &Features,
        dtype: Dtype,
        run: &Run<'_>,
    ) -> Result<Model> {
        let p = found.mean.len();
        let order = Order::of(&found.atoms, &found.size, !self.non_negative(), dtype.eps());
        let components = order.rows(&found.atoms);
        let mut report = Report::closed_form(&self.solver(), found.n, p, dtype, run.seed);
        report.outcome = found.outcome;
        (report.residual, report.tol) = (found.residual.filter(|r| r.is_finite()), found.tol);
        (report.n_iter, report.sweeps) = (found.n_iter, found.sweeps);
        report.n_constant = found.n_constant;
        let coherence = self.coherence(&components, run);
        let (most, alike) = coherence.unwrap_or_default();
        for (name, diagnostic) in [
            ("dead_units", json!(found.dead)),
            ("replaced", json!(found.replaced)),
            ("coherence", json!(coherence.map(|_| most))),
            ("similar_pairs", json!(coherence.map(|_| alike))),
        ] {
            report.diagnostics.insert(name.into(), diagnostic);
        }
        report.warnings = fit_warnings(&found, alike, self.algorithm.streams());
        if coherence.is_none() {
            report
                .warnings
                .push("the coherence of the atoms was not computed, because the fit was ended early".into());
        }
        report.objective = found.objective;
        let settings = as_map(self);
        if self.dict_init.is_some() {
            report.warnings.extend(replaced_by_table(METHOD.settings, &settings, "init", "dict_init"));
        }
        report.settings = settings.clone();
        report.settings.insert("n_components".into(), components.rows().into());
        report.settings.insert("alpha".into(), found.alpha.into());
        report.end(run);
        let mut tensors =
            parameters(&components, &order.values(&found.share), &found.mean, found.alpha, dtype);
        tensors.extend(found.more.into_iter().map(|(name, tensor)| (name.to_string(), tensor)));
        if let Some((layers, steps)) = found.layers {
            tensors.extend(model::layers(&order, layers, &steps, p, dtype));
        }
        Model::fitted(&METHOD, settings, features.clone(), 0, tensors, report)
    }
}

/// Warnings about a fit, by mini-batches in epochs if `online`.
fn fit_warnings(found: &FitResult, alike: usize, online: bool) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(largest) = found.largest {
        out.push(format!(
            "every code is 0, so the atoms are the initial ones: alpha is {}, and codes are nonzero only below alpha_max={largest:.6}",
            found.alpha
        ));
    } else if found.dead > 0 {
        let (dead, m) = (found.dead, found.atoms.rows());
        let were = if dead == 1 { "was" } else { "were" };
        let when = if online { " in the last epoch" } else { "" };
        out.push(format!("{dead} of {m} atoms {were} used by no code{when}"));
    }
    if alike > 0 {
        let pairs = if alike == 1 { "pair of atoms has" } else { "pairs of atoms have" };
        out.push(format!("{alike} {pairs} a cosine above 0.99"));
    }
    out
}

/// Refuses numbers of atoms whose tables do not fit in memory.
pub(super) fn check_atoms(k: usize, p: usize) -> Result<()> {
    let numbers = (k as u64).saturating_mul(k as u64).saturating_mul(4);
    let tables = (k as u64).saturating_mul(p as u64).saturating_mul(6);
    check_memory(
        &format!("a dictionary of {k} atoms of {p} numbers"),
        numbers.saturating_add(tables).saturating_mul(8),
        "choose fewer atoms, or fewer columns",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_of_many_atoms_are_left_out_of_a_fit_that_ends_early() {
        let late = Run { max_seconds: Some(0.0), ..Run::default() };
        let spec = DictionaryLearning::default();
        assert_eq!(spec.coherence(&Matrix::zeros(4000, 200), &late), None);
        assert_eq!(spec.coherence(&Matrix::zeros(40, 20), &late), Some((0.0, 0)));
        assert_eq!(spec.coherence(&Matrix::zeros(1100, 2), &Run::default()), Some((0.0, 0)));
    }
}
