//! Fits with rows and codes in memory: blocks of steps, PALM, K-SVD.

use super::fit::FitResult;
use super::{DictionaryAlgorithm, DictionaryLearning};
use crate::data::Rows;
use crate::error::Result;
use crate::machine::check_memory;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::sparse::{Alternating, Atoms, Ksvd, Problem, largest};

/// The default tolerance.
const DEFAULT_TOL: f64 = 1e-4;

/// Input of a fit: all rows, initial atoms, `alpha`, and statistics of the rows.
struct Task<T> {
    x: Vec<T>,
    first: Matrix<f64>,
    alpha: f64,
    mean: Vec<f64>,
    n: u64,
    n_constant: usize,
}

impl DictionaryLearning {
    /// Fits by the algorithm of the settings.
    pub(super) fn in_memory<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        k: usize,
        run: &Run<'_>,
    ) -> Result<FitResult> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let codes = if self.algorithm == DictionaryAlgorithm::Ksvd { p as u64 } else { 4 * k as u64 };
        check_memory(
            &format!("{n} rows of {p} numbers and their codes by {k} atoms"),
            n.saturating_mul(codes + p as u64).saturating_mul(std::mem::size_of::<T>() as u64),
            "choose algorithm='online', whose memory does not depend on the number of rows",
        )?;
        if self.algorithm == DictionaryAlgorithm::Layerwise {
            self.check_layers(k, p)?;
        }
        let (mean, n_constant) = self.mean(rows, run)?;
        let (sample, first) = self.initial(rows, &mean, k, run)?;
        let alpha = self.weight(&Atoms::<T>::new(&first), &sample);
        let mut x = rows.picked((0..n).collect(), run)?;
        for row in x.chunks_exact_mut(p).filter(|_| self.center) {
            row.iter_mut().zip(&mean).for_each(|(x, m)| *x = T::from_f64(x.to_f64() - m));
        }
        run.stage("atoms")?;
        let task = Task { x, first, alpha, mean, n, n_constant };
        match self.algorithm {
            DictionaryAlgorithm::Ksvd => self.by_pursuit(task, run),
            _ => self.by_blocks(task, run),
        }
    }

    /// Refuses layers that may not fit in memory: one for every block, of which there are at most `max_iter`. They exist in the order of the
    /// fit, in that of the model, in its tensor, and prepared for encoding, in double precision at most.
    fn check_layers(&self, k: usize, p: usize) -> Result<()> {
        let numbers = self.max_iter.saturating_mul((k as u64).saturating_mul(p as u64));
        check_memory(
            &format!("layers of {k} atoms of {p} numbers for max_iter={} steps", self.max_iter),
            numbers.saturating_mul(4 * 8),
            "choose a smaller max_iter or fewer atoms; or algorithm='palm', the same fit without layers",
        )
    }

    fn limits(&self) -> (f64, u64) {
        (self.tol.unwrap_or(DEFAULT_TOL), self.max_iter)
    }

    fn by_blocks<T: Real>(&self, task: Task<T>, run: &Run<'_>) -> Result<FitResult> {
        let Task { x, first, alpha, mean, n, n_constant } = task;
        let (m, p) = (first.rows(), first.cols());
        let several = self.algorithm == DictionaryAlgorithm::Alternating;
        let how = Alternating {
            set: self.set(),
            dead: self.dead_unit,
            code_steps: if several { self.code_steps } else { 1 },
            atom_steps: if several { self.atom_steps } else { 1 },
            warm: !several || self.warm_start_codes,
            inertial: self.algorithm == DictionaryAlgorithm::Ipalm,
            layers: self.algorithm == DictionaryAlgorithm::Layerwise,
            limits: self.limits(),
            seed: run.seed,
        };
        let problem = Problem::new(x, p, alpha, self.non_negative());
        let ended = how.solve(&problem, first, run)?;
        let at = ended.at;
        let sums = problem.sums(&at.codes, m);
        let largest =
            (sums.size == 0.0).then(|| largest(&Atoms::<T>::new(&at.atoms), &problem.x, self.non_negative()));
        Ok(FitResult {
            share: sums.used.iter().map(|used| *used as f64 / n as f64).collect(),
            dead: sums.used.iter().filter(|used| **used == 0).count() as u64,
            size: sums.sizes,
            replaced: at.replaced,
            layers: how.layers.then_some((at.layers, at.steps)),
            atoms: at.atoms,
            n: n as f64,
            objective: ended.objective,
            outcome: ended.outcome,
            residual: Some(ended.residual),
            tol: Some(how.limits.0),
            n_iter: ended.n_iter,
            // Three passes: the mean, rows for initial atoms, all rows.
            sweeps: 3,
            more: Vec::new(),
            largest,
            alpha,
            mean,
            n_constant,
        })
    }

    fn by_pursuit<T: Real>(&self, task: Task<T>, run: &Run<'_>) -> Result<FitResult> {
        let Task { x, first, alpha, mean, n, n_constant } = task;
        let (m, p) = (first.rows(), first.cols());
        let how = Ksvd {
            set: self.set(),
            dead: self.dead_unit,
            n_nonzero: self.n_nonzero_coefs.unwrap_or((p / 10).max(1)),
            limits: self.limits(),
            seed: run.seed,
        };
        let ended = how.solve(&x, first, run)?;
        let at = ended.at;
        let (mut used, mut size) = (vec![0u64; m], vec![0.0; m]);
        for (j, z) in at.codes.atoms.iter().zip(&at.codes.values) {
            used[*j as usize] += 1;
            size[*j as usize] += z.abs();
        }
        Ok(FitResult {
            share: used.iter().map(|used| *used as f64 / n as f64).collect(),
            dead: used.iter().filter(|used| **used == 0).count() as u64,
            size,
            replaced: at.replaced,
            atoms: at.atoms,
            n: n as f64,
            objective: ended.objective,
            outcome: ended.outcome,
            residual: Some(ended.residual),
            tol: Some(how.limits.0),
            n_iter: ended.n_iter,
            sweeps: 3,
            more: Vec::new(),
            layers: None,
            largest: None,
            alpha,
            mean,
            n_constant,
        })
    }
}
