//! Alternating minimisation over all codes and all atoms, with rows and codes in memory: the alternating scheme, and PALM (Bolte, Sabach &
//! Teboulle 2014), which makes one step of each, with inertia (Pock & Sabach 2016) or without.
//!
//! If codes start from their last values, the objective never increases: step lengths are bounded accordingly, a step with inertia that
//! increases it is rejected and repeated without inertia, and iterations end when rounding errors would increase it. If codes start from 0
//! in every block, it may increase.

use super::constraint::AtomSet;
use super::dead::{DeadUnit, Worst, random_directions, replace};
use super::palm::{PreparedAtoms, Problem, atom_step, largest_eigenvalue};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::random::Stream;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Number of successive blocks in which an atom is unused, after which it is replaced.
const MOST_UNUSED_BLOCKS: u64 = 20;
/// Number of blocks over which the change of the objective is measured, and the factor for its comparison with the tolerance.
const BLOCKS_COMPARED: usize = 10;
const CHANGE_TOL_FACTOR: f64 = 100.0;

/// Options of a block.
#[derive(Clone, Debug)]
pub(crate) struct Alternating {
    pub(crate) set: AtomSet,
    pub(crate) dead: DeadUnit,
    /// Steps on the codes, and on the atoms, in a block.
    pub(crate) code_steps: u64,
    pub(crate) atom_steps: u64,
    /// Whether codes start from their last values; else from 0.
    pub(crate) warm: bool,
    pub(crate) inertial: bool,
    /// Whether the atoms and the step length of every block are kept, as the layers of an encoder.
    pub(crate) layers: bool,
    pub(crate) limits: (f64, u64),
    pub(crate) seed: u64,
}

/// State after a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Blocks<T: Real> {
    pub(crate) atoms: Matrix<f64>,
    /// Codes, `n x m`.
    pub(crate) codes: Vec<T>,
    /// The previous atoms and codes, for inertia, and the number of blocks since it was restarted.
    before: Option<(Matrix<f64>, Vec<T>)>,
    since: u64,
    /// Number of successive blocks in which each atom was unused.
    unused: Vec<u64>,
    pub(crate) replaced: u64,
    objective: Option<f64>,
    residual: f64,
    /// Atoms and step lengths of the blocks, one after the other.
    pub(crate) layers: Vec<f64>,
    pub(crate) steps: Vec<f64>,
}

/// Result of a fit.
pub(crate) struct AlternatingResult<T: Real> {
    pub(crate) at: Blocks<T>,
    pub(crate) outcome: Outcome,
    pub(crate) n_iter: u64,
    pub(crate) objective: Vec<f64>,
    pub(crate) residual: f64,
}

impl Alternating {
    /// Starts from `atoms` and codes of 0.
    pub(crate) fn solve<T: Real>(
        &self,
        problem: &Problem<T>,
        atoms: Matrix<f64>,
        run: &Run<'_>,
    ) -> Result<AlternatingResult<T>> {
        let m = atoms.rows();
        let (tol, max_iter) = self.limits;
        let first = || {
            Ok(Blocks {
                codes: vec![T::default(); problem.n() * m],
                before: None,
                since: 0,
                unused: vec![0; m],
                replaced: 0,
                objective: None,
                residual: f64::INFINITY,
                layers: Vec::new(),
                steps: Vec::new(),
                atoms,
            })
        };
        let limits = Limits { tol, max_iter };
        let (mut steps, mut at) = Steps::begin::<Blocks<T>>(run, "dictionary", limits, first)?;
        let n = problem.n() as f64;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            let done = steps.n_iter();
            let Some(value) = self.block(problem, &mut at)? else {
                // Rounding errors would increase the objective from here on.
                break if at.residual <= CHANGE_TOL_FACTOR * tol {
                    Outcome::Converged
                } else {
                    Outcome::Stalled
                };
            };
            at.residual = at.residual.max(self.change(steps.objective(), value / n));
            self.replace_unused(problem, &mut at, done + 1);
            steps.ended(at.residual, Some(value / n), &at)?;
        };
        let residual = at.residual;
        Ok(AlternatingResult {
            n_iter: steps.n_iter(),
            outcome,
            residual,
            objective: steps.into_objective(),
            at,
        })
    }

    /// The relative change of the objective over several blocks, in units of the residual.
    fn change(&self, objective: &[f64], value: f64) -> f64 {
        match objective.len().checked_sub(BLOCKS_COMPARED) {
            Some(first) if value > 0.0 => CHANGE_TOL_FACTOR * (objective[first] - value).abs() / value,
            Some(_) => 0.0,
            None => f64::INFINITY,
        }
    }

    /// One block; returns the objective after it, or `None` if codes start from their last values and it would increase: atoms and codes are
    /// then unchanged.
    fn block<T: Real>(&self, problem: &Problem<T>, at: &mut Blocks<T>) -> Result<Option<f64>> {
        let m = at.atoms.rows();
        let kept = (at.atoms.clone(), at.codes.clone());
        let ready = PreparedAtoms::<T>::new(&at.atoms)?;
        let inertia = at.since as f64 / (at.since as f64 + 3.0);
        let ahead = at.before.as_ref().filter(|_| self.inertial && at.since > 0);
        let (from, start) = match ahead {
            Some((atoms, codes)) => {
                (Some(extrapolated(&at.codes, codes, inertia)), extrapolated_atoms(&at.atoms, atoms, inertia))
            }
            None => (None, at.atoms.clone()),
        };
        if !self.warm {
            at.codes.fill(T::default());
        }
        problem.code_steps(&ready, &mut at.codes, from.as_deref(), self.code_steps);
        let sums = problem.sums(&at.codes, m);
        if sums.size > 0.0 {
            let step = 1.0 / largest_eigenvalue(&sums.codes)?;
            at.atoms = atom_step(self.set, &sums, &start, step);
            for _ in 1..self.atom_steps {
                at.atoms = atom_step(self.set, &sums, &at.atoms, step);
            }
        }
        let value = problem.objective(&sums, &at.atoms);
        if self.warm && at.objective.is_some_and(|before| value > before) {
            (at.atoms, at.codes) = kept;
            at.before = None;
            if at.since == 0 {
                return Ok(None);
            }
            // The step with inertia increased the objective: it is repeated without.
            at.since = 0;
            return self.block(problem, at);
        }
        at.residual = moved(&at.codes, &kept.1) + moved(at.atoms.as_slice(), kept.0.as_slice());
        if self.layers {
            at.layers.extend_from_slice(kept.0.as_slice());
            at.steps.push(ready.step);
        }
        at.objective = Some(value);
        for (unused, used) in at.unused.iter_mut().zip(&sums.used) {
            *unused = if *used > 0 { 0 } else { *unused + 1 };
        }
        if self.inertial {
            (at.before, at.since) = (Some(kept), at.since + 1);
        }
        Ok(Some(value))
    }

    /// Replaces atoms that have been unused for some blocks, except in the last fifth of all blocks.
    fn replace_unused<T: Real>(&self, problem: &Problem<T>, at: &mut Blocks<T>, done: u64) {
        let m = at.atoms.rows();
        let dead: Vec<usize> = (0..m).filter(|j| at.unused[*j] >= MOST_UNUSED_BLOCKS).collect();
        let late = 5 * done > 4 * self.limits.1;
        if dead.is_empty() || dead.len() == m || late || self.dead == DeadUnit::Keep {
            return;
        }
        let wide = |x: &[T]| x.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
        let replaced = match self.dead {
            DeadUnit::Data => {
                let draws = Stream::new(self.seed, done.wrapping_mul(0x6465_6164));
                let chosen = super::init::chosen(problem.n() as u64, dead.len() as u64, draws);
                let rows = chosen.iter().map(|&i| wide(row(&problem.x, problem.p, i as usize))).collect();
                replace(&mut at.atoms, &dead, random_directions(rows, self.set, draws).into_iter())
            }
            _ => {
                let mut worst = Worst::default();
                for i in 0..problem.n() {
                    let x = row(&problem.x, problem.p, i);
                    let square = squared_error(x, row(&at.codes, m, i), &at.atoms);
                    worst.record(dead.len(), square, i as u64, || wide(x));
                }
                replace(&mut at.atoms, &dead, worst.directions(self.set))
            }
        };
        for &j in &replaced {
            at.unused[j] = 0;
            if let Some((atoms, codes)) = &mut at.before {
                atoms.row_mut(j).copy_from_slice(at.atoms.row(j));
                codes.iter_mut().skip(j).step_by(m).for_each(|z| *z = T::default());
            }
        }
        at.replaced += replaced.len() as u64;
    }
}

/// Row `i` of a table.
fn row<T>(all: &[T], width: usize, i: usize) -> &[T] {
    &all[i * width..(i + 1) * width]
}

/// Squared error `||x - z A||²`.
fn squared_error<T: Real>(x: &[T], z: &[T], atoms: &Matrix<f64>) -> f64 {
    let mut rest: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
    for (j, z) in z.iter().enumerate().filter(|(_, z)| **z != T::default()) {
        let z = z.to_f64();
        rest.iter_mut().zip(atoms.row(j)).for_each(|(r, a)| *r -= z * a);
    }
    rest.iter().map(|r| r * r).sum()
}

/// `now + share (now - before)`.
fn extrapolated<T: Real>(now: &[T], before: &[T], share: f64) -> Vec<T> {
    let share = T::from_f64(share);
    now.iter().zip(before).map(|(a, b)| *a + share * (*a - *b)).collect()
}

fn extrapolated_atoms(now: &Matrix<f64>, before: &Matrix<f64>, share: f64) -> Matrix<f64> {
    Matrix::from_vec(now.rows(), now.cols(), extrapolated(now.as_slice(), before.as_slice(), share))
}

/// `||now - before|| / ||now||`.
fn moved<T: Real>(now: &[T], before: &[T]) -> f64 {
    let (mut change, mut size) = (0.0, 0.0);
    for (a, b) in now.iter().zip(before) {
        let (a, b) = (a.to_f64(), b.to_f64());
        change += (a - b) * (a - b);
        size += a * a;
    }
    if size > 0.0 { (change / size).sqrt() } else { 0.0 }
}
