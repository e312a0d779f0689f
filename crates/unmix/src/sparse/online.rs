//! Online dictionary learning (Mairal, Bach, Ponce & Sapiro 2009): codes of a batch, two sums over codes, one sweep over the atoms.
//!
//! ```text
//! z_i   = argmin 1/2 ||x_i - z A||² + alpha ||z||_1                     for each of the b rows of batch t
//! P     = (1 - 1/t)^rho P + Z'Z / b,   Q = (1 - 1/t)^rho Q + Z'X / b
//! a_j   = project(a_j + (q_j - P_j A) / P_jj)                           one atom after the other
//! ```
//!
//! `rho` (forgetting) weights batches: those that were coded with earlier atoms have less weight. Everything that changes from one batch to
//! the next is in [`OnlineState`], which is stored with the model, so that a stream can be continued.

use super::constraint::AtomSet;
use super::dead::{DeadUnit, Worst, random_directions, replace};
use super::{Atoms, Checked, Lasso, Measure, measure};
use crate::data::{Batch, Batches, Position};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::random::Stream;
use crate::num::{Matrix, Real, kernel, widest};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Batches of a stream between two searches for unused atoms; in a fit there is one after each epoch.
pub(crate) const BATCHES_BETWEEN_SEARCHES: u64 = 100;

/// Everything that changes during learning. Atoms are updated in their order, which does not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OnlineState {
    /// Atoms, `m x p`.
    pub(crate) atoms: Matrix<f64>,
    /// Weighted second moments of codes, `m x m`.
    pub(crate) codes: Matrix<f64>,
    /// Weighted products of codes and rows, `m x p`.
    pub(crate) rows: Matrix<f64>,
    /// Number of batches so far.
    pub(crate) t: u64,
    /// Number of batches since the last search for unused atoms, and how many codes have used each atom since.
    pub(crate) since: u64,
    pub(crate) recent: Vec<u64>,
    /// Fraction of the codes that use each atom, and their mean absolute value, with the same weights as the sums, times `weight`.
    pub(crate) share: Vec<f64>,
    pub(crate) size: Vec<f64>,
    pub(crate) weight: f64,
    /// Rows with the largest reconstruction errors since then.
    pub(crate) worst: Worst,
    /// Atoms that were unused at the last search and have not been replaced.
    pub(crate) dead: u64,
    /// Number of atoms that were replaced.
    pub(crate) replaced: u64,
    /// The largest `|a x|` in batches whose codes were all 0.
    pub(crate) largest: f64,
}

impl OnlineState {
    /// The state before the first batch.
    pub(crate) fn new(atoms: Matrix<f64>) -> Self {
        let (m, p) = (atoms.rows(), atoms.cols());
        Self {
            codes: Matrix::zeros(m, m),
            rows: Matrix::zeros(m, p),
            t: 0,
            since: 0,
            recent: vec![0; m],
            share: vec![0.0; m],
            size: vec![0.0; m],
            weight: 0.0,
            worst: Worst::default(),
            dead: 0,
            replaced: 0,
            largest: 0.0,
            atoms,
        }
    }

    /// Number of atoms unused at the last search, or so far if there was none.
    pub(crate) fn dead_now(&self) -> u64 {
        match self.since == self.t {
            true => self.recent.iter().filter(|n| **n == 0).count() as u64,
            false => self.dead,
        }
    }

    /// Whether no code has used any atom.
    pub(crate) fn all_zero(&self) -> bool {
        self.size.iter().all(|s| *s == 0.0)
    }

    /// Multiplies the sums by the forgetting factor.
    fn decay(&mut self, by: f64) {
        let tables = [self.codes.as_mut_slice(), self.rows.as_mut_slice(), &mut self.share, &mut self.size];
        for table in tables {
            widest(
                #[inline(always)]
                || table.iter_mut().for_each(|x| *x *= by),
            );
        }
        self.weight *= by;
    }

    /// Adds the code of row `number`, given by its non-zero entries, with weight `by`.
    fn add<T: Real>(&mut self, active: &[(usize, f64)], row: &[T], number: u64, by: f64, rest: &mut [f64]) {
        rest.iter_mut().zip(row).for_each(|(r, x)| *r = x.to_f64());
        widest(
            #[inline(always)]
            || {
                for &(j, z) in active {
                    let (weight, atom) = (by * z, self.atoms.row(j));
                    let sums = self.rows.row_mut(j).iter_mut().zip(row).zip(rest.iter_mut().zip(atom));
                    sums.for_each(|((q, x), (r, a))| (*q, *r) = (*q + weight * x.to_f64(), *r - z * a));
                    let line = self.codes.row_mut(j);
                    active.iter().for_each(|&(i, other)| line[i] += weight * other);
                }
            },
        );
        for &(j, z) in active {
            self.recent[j] += 1;
            self.share[j] += by;
            self.size[j] += by * z.abs();
        }
        let square = rest.iter().map(|r| r * r).sum();
        self.worst.record(self.atoms.rows(), square, number, || row.iter().map(|x| x.to_f64()).collect());
    }
}

/// Options of the algorithm.
#[derive(Clone, Debug)]
pub(crate) struct Online {
    /// Coding of a batch.
    pub(crate) lasso: Lasso,
    pub(crate) set: AtomSet,
    pub(crate) forgetting: f64,
    pub(crate) dead: DeadUnit,
    pub(crate) seed: u64,
}

/// Result of a fit.
pub(crate) struct Epochs {
    pub(crate) state: OnlineState,
    /// Mean objective of the rows of the sample after each epoch.
    pub(crate) objective: Vec<f64>,
    pub(crate) outcome: Outcome,
}

impl Online {
    /// One batch: rows `x`, row-major, with these row numbers.
    pub(crate) fn step<T: Real>(&self, at: &mut OnlineState, x: &[T], numbers: &[u64]) {
        let (m, p) = (at.atoms.rows(), at.atoms.cols());
        let atoms = Atoms::<T>::new(&at.atoms);
        let mut codes = vec![T::default(); numbers.len() * m];
        self.lasso.code_all(&atoms, x, &mut codes);
        at.t += 1;
        at.since += 1;
        at.decay((1.0 - 1.0 / at.t as f64).powf(self.forgetting));
        let by = 1.0 / numbers.len() as f64;
        let (mut active, mut rest, mut any) = (Vec::new(), vec![0.0; p], false);
        for ((code, row), number) in codes.chunks_exact(m).zip(x.chunks_exact(p)).zip(numbers) {
            active.clear();
            let each = code.iter().enumerate().filter(|(_, z)| **z != T::default());
            active.extend(each.map(|(j, z)| (j, z.to_f64())));
            any |= !active.is_empty();
            at.add(&active, row, *number, by, &mut rest);
        }
        at.weight += 1.0;
        match any {
            true => self.set.sweep(&mut at.atoms, &at.codes, &at.rows),
            false => at.largest = at.largest.max(largest(&atoms, x, self.lasso.positive)),
        }
    }

    /// Counts the atoms that were unused since the last search, and replaces them if `allowed` and if any atom was used.
    pub(crate) fn look<T: Real>(&self, at: &mut OnlineState, allowed: bool, batch: &[T]) {
        let (m, p) = (at.atoms.rows(), at.atoms.cols());
        let dead: Vec<usize> = (0..m).filter(|j| at.recent[*j] == 0).collect();
        let worst = std::mem::take(&mut at.worst);
        let replaced = match self.dead {
            _ if !allowed || dead.len() == m => Vec::new(),
            DeadUnit::Keep => Vec::new(),
            DeadUnit::Residual => replace(&mut at.atoms, &dead, worst.directions(self.set)),
            DeadUnit::Data => {
                let rows =
                    batch.chunks_exact(p).map(|row| row.iter().map(|x| x.to_f64()).collect()).collect();
                let draws = Stream::new(self.seed, at.t.wrapping_mul(0x6465_6164));
                replace(&mut at.atoms, &dead, random_directions(rows, self.set, draws).into_iter())
            }
        };
        for &j in &replaced {
            at.rows.row_mut(j).fill(0.0);
            at.codes.row_mut(j).fill(0.0);
            (0..m).for_each(|i| at.codes[(i, j)] = 0.0);
            (at.share[j], at.size[j]) = (0.0, 0.0);
        }
        at.dead = (dead.len() - replaced.len()) as u64;
        at.replaced += replaced.len() as u64;
        at.recent.fill(0);
        at.since = 0;
    }

    /// Learns from batches in random order until `epochs` epochs have ended, starting at `first`. `sample` are rows on which the
    /// objective is computed.
    pub(crate) fn learn<T: Real>(
        &self,
        batches: &Batches<'_, T>,
        epochs: u64,
        sample: &[T],
        first: impl FnOnce() -> Result<OnlineState>,
        run: &Run<'_>,
    ) -> Result<Epochs> {
        let begun = || Ok((Position::default(), Vec::new(), first()?));
        let (mut steps, (from, mut objective, mut state)) =
            Steps::begin::<(Position, Vec<f64>, OnlineState)>(run, "dictionary", Limits::NONE, begun)?;
        let mut outcome = Outcome::Completed;
        // Rows of a batch are coded by all threads, so no thread reads ahead.
        let mut each = |batch: &Batch<'_, T>| {
            self.step(&mut state, batch.x, batch.rows);
            if batch.ends_epoch() {
                // Not in the last fifth, where too little training would be left for them.
                let allowed = 5 * batch.next.epoch <= 4 * epochs;
                self.look(&mut state, allowed, batch.x);
                let value = self.objective(&state.atoms, sample);
                objective.push(value);
                run.epoch((batch.next.epoch, epochs), f64::INFINITY, Some(value));
            }
            steps.counted(&(batch.next, &objective, &state))?;
            run.sweep_progress(
                &format!("epoch {} of at most {epochs}", batch.position.epoch + 1),
                batch.done,
                Some(batches.n_rows()),
            )?;
            outcome = steps.spent().filter(|_| batch.next.epoch < epochs).unwrap_or(outcome);
            Ok(outcome == Outcome::Completed)
        };
        if from.epoch < epochs {
            batches.each(from, epochs, 1, &mut each)?;
        }
        Ok(Epochs { state, objective, outcome })
    }

    /// The mean of `1/2 ||x - z A||² + alpha ||z||_1` over rows.
    pub(crate) fn objective<T: Real>(&self, atoms: &Matrix<f64>, rows: &[T]) -> f64 {
        let n = rows.len() / atoms.cols();
        if n == 0 {
            return 0.0;
        }
        let atoms = Atoms::<T>::new(atoms);
        let mut codes = vec![T::default(); n * atoms.n_atoms()];
        self.lasso.code_all(&atoms, rows, &mut codes);
        let mut measures = vec![Measure::default(); n];
        measure(
            &atoms,
            (self.lasso.alpha, self.lasso.positive),
            rows,
            &codes,
            &mut measures,
            &mut Checked::default(),
        );
        measures.iter().map(|m| m.objective).sum::<f64>() / n as f64
    }
}

/// The largest product of an atom and each row; in absolute value unless codes are `positive`.
pub(crate) fn largest_of_each<T: Real>(atoms: &Atoms<T>, rows: &[T], positive: bool) -> Vec<f64> {
    let (m, p) = (atoms.n_atoms(), atoms.n_features());
    let wide: Vec<f64> = rows.iter().map(|x| x.to_f64()).collect();
    let mut products = vec![0.0; wide.len() / p * m];
    kernel::product(&mut products, &wide, atoms.matrix().transposed().as_slice(), wide.len() / p, p, m);
    let size = |b: &f64| if positive { b.max(0.0) } else { b.abs() };
    products.chunks_exact(m).map(|b| b.iter().map(size).fold(0.0, f64::max)).collect()
}

/// The largest of [`largest_of_each`].
pub(crate) fn largest<T: Real>(atoms: &Atoms<T>, rows: &[T], positive: bool) -> f64 {
    let some = rows.chunks(1024 * atoms.n_features());
    some.flat_map(|rows| largest_of_each(atoms, rows, positive)).fold(0.0, f64::max)
}
