//! K-SVD (Aharon, Elad & Bruckstein 2006): codes by orthogonal matching pursuit, then a rank-1 update of every atom together with its
//! codes, fitted to the residuals without this atom of the rows that use it.
//!
//! The rank-1 approximation is computed by steps of the power method, starting at the last atom (Rubinstein et al. 2008). Codes are stored
//! as compressed sparse rows. Unused atoms, and one of each pair with a cosine above .99, are replaced by the row with the largest
//! reconstruction error.

use super::constraint::{AtomSet, norm};
use super::dead::{DeadUnit, Worst, random_directions};
use super::{Atoms, Omp};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::random::Stream;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Power steps for each atom.
const POWER_STEPS: usize = 3;
/// Rows that are coded at a time.
const ROWS_PER_CHUNK: usize = 1024;
/// Cosine above which two atoms are treated as duplicates.
const DUPLICATE_COSINE: f64 = 0.99;
/// Number of iterations over which the change of the objective is measured, and the factor for its comparison with the tolerance.
const ITERATIONS_COMPARED: usize = 10;
const CHANGE_TOL_FACTOR: f64 = 100.0;

/// Options of the algorithm.
#[derive(Clone, Debug)]
pub(crate) struct Ksvd {
    pub(crate) set: AtomSet,
    pub(crate) dead: DeadUnit,
    pub(crate) n_nonzero: usize,
    pub(crate) limits: (f64, u64),
    pub(crate) seed: u64,
}

/// Codes as compressed sparse rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Codes {
    starts: Vec<usize>,
    pub(crate) atoms: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

/// State after an iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) atoms: Matrix<f64>,
    pub(crate) codes: Codes,
    pub(crate) replaced: u64,
    residual: f64,
}

/// Result of a fit.
pub(crate) struct KsvdResult {
    pub(crate) at: State,
    pub(crate) outcome: Outcome,
    pub(crate) n_iter: u64,
    pub(crate) objective: Vec<f64>,
    pub(crate) residual: f64,
}

impl Codes {
    /// Codes of all rows by orthogonal matching pursuit, on the threads of this pool.
    fn of<T: Real>(omp: Omp, atoms: &Matrix<f64>, x: &[T]) -> Self {
        let (m, p) = (atoms.rows(), atoms.cols());
        let ready = Atoms::<T>::new(atoms);
        let mut out = Self { starts: vec![0], ..Self::default() };
        let mut codes = vec![T::default(); ROWS_PER_CHUNK * m];
        for rows in x.chunks(ROWS_PER_CHUNK * p) {
            let codes = &mut codes[..rows.len() / p * m];
            omp.code_all(&ready, rows, codes);
            for code in codes.chunks_exact(m) {
                let used = code.iter().enumerate().filter(|(_, z)| **z != T::default());
                for (j, z) in used {
                    out.atoms.push(j as u32);
                    out.values.push(z.to_f64());
                }
                out.starts.push(out.atoms.len());
            }
        }
        out
    }

    fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// For each atom, the rows that use it, and the positions of these codes.
    fn users(&self, m: usize) -> Vec<Vec<(usize, usize)>> {
        let mut out = vec![Vec::new(); m];
        for i in 0..self.starts.len() - 1 {
            self.row(i).for_each(|at| out[self.atoms[at] as usize].push((i, at)));
        }
        out
    }
}

impl Ksvd {
    /// Starts from `atoms`. `x` are rows, row-major, in memory.
    pub(crate) fn solve<T: Real>(&self, x: &[T], atoms: Matrix<f64>, run: &Run<'_>) -> Result<KsvdResult> {
        let (tol, max_iter) = self.limits;
        let p = atoms.cols();
        let first = || {
            let mut atoms = atoms;
            AtomSet { norm: super::AtomNorm::Sphere, ..self.set }.project_all(&mut atoms);
            Ok(State { atoms, codes: Codes::default(), replaced: 0, residual: f64::INFINITY })
        };
        let (mut steps, mut at) = Steps::begin(run, "dictionary", Limits { tol, max_iter }, first)?;
        let n = (x.len() / p) as f64;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            let late = 5 * (steps.n_iter() + 1) > 4 * max_iter;
            let value = self.iterate(x, &mut at, steps.n_iter(), late) / n;
            at.residual = match steps.objective().len().checked_sub(ITERATIONS_COMPARED) {
                Some(first) if value > 0.0 => {
                    CHANGE_TOL_FACTOR * (steps.objective()[first] - value).abs() / value
                }
                Some(_) => 0.0,
                None => f64::INFINITY,
            };
            steps.ended(at.residual, Some(value), &at)?;
        };
        let residual = at.residual;
        Ok(KsvdResult { n_iter: steps.n_iter(), outcome, residual, objective: steps.into_objective(), at })
    }

    /// Updates the codes, then every atom in random order; returns half of the squared error.
    fn iterate<T: Real>(&self, x: &[T], at: &mut State, number: u64, late: bool) -> f64 {
        let (m, p) = (at.atoms.rows(), at.atoms.cols());
        at.codes = Codes::of(Omp::of_atoms(self.n_nonzero), &at.atoms, x);
        let mut rest = residuals(x, at, p);
        let users = at.codes.users(m);
        let mut order: Vec<usize> = (0..m).collect();
        let draws = Stream::new(self.seed, 0x6b73_7664 ^ (number << 32));
        draws.shuffle(0, &mut order);
        for j in order {
            self.fit_atom(at, j, &users[j], &mut rest);
        }
        if !late && self.dead != DeadUnit::Keep {
            self.replace(x, at, &users, &rest, draws);
        }
        0.5 * rest.iter().map(|r| r * r).sum::<f64>()
    }

    /// The rank-1 update of atom `j` and its codes, on the residuals without this atom of the rows that use it.
    fn fit_atom(&self, at: &mut State, j: usize, users: &[(usize, usize)], rest: &mut [f64]) {
        let p = at.atoms.cols();
        if users.is_empty() {
            return;
        }
        let old = at.atoms.row(j).to_vec();
        for &(i, to) in users {
            let z = at.codes.values[to];
            rest[i * p..(i + 1) * p].iter_mut().zip(&old).for_each(|(r, a)| *r += z * a);
        }
        let mut atom = old.clone();
        for _ in 0..POWER_STEPS {
            let mut next = vec![0.0; p];
            for &(i, to) in users {
                let z = at.codes.values[to];
                next.iter_mut().zip(&rest[i * p..(i + 1) * p]).for_each(|(n, r)| *n += z * r);
            }
            if self.set.positive {
                next.iter_mut().for_each(|x| *x = x.max(0.0));
            }
            let length = norm(&next);
            if length == 0.0 || !length.is_finite() {
                break;
            }
            next.iter_mut().for_each(|x| *x /= length);
            atom = next;
            for &(i, to) in users {
                at.codes.values[to] = rest[i * p..(i + 1) * p].iter().zip(&atom).map(|(r, a)| r * a).sum();
            }
        }
        at.atoms.row_mut(j).copy_from_slice(&atom);
        for &(i, to) in users {
            let z = at.codes.values[to];
            rest[i * p..(i + 1) * p].iter_mut().zip(&atom).for_each(|(r, a)| *r -= z * a);
        }
    }

    /// Replaces unused atoms, and in each pair of duplicates the atom that is used less.
    fn replace<T: Real>(
        &self,
        x: &[T],
        at: &mut State,
        users: &[Vec<(usize, usize)>],
        rest: &[f64],
        draws: Stream,
    ) {
        let (m, p) = (at.atoms.rows(), at.atoms.cols());
        let cosines = factor::multiply_transposed(&at.atoms, &at.atoms);
        let mut replaceable: Vec<bool> = users.iter().map(Vec::is_empty).collect();
        for i in 0..m {
            for j in 0..i {
                if !replaceable[i] && !replaceable[j] && cosines[(i, j)].abs() > DUPLICATE_COSINE {
                    replaceable[if users[i].len() < users[j].len() { i } else { j }] = true;
                }
            }
        }
        let replaceable: Vec<usize> = (0..m).filter(|j| replaceable[*j]).collect();
        if replaceable.is_empty() || replaceable.len() == m {
            return;
        }
        let wide = |i: usize| x[i * p..(i + 1) * p].iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
        let n = x.len() / p;
        let replaced = match self.dead {
            DeadUnit::Data => {
                let chosen = super::init::chosen(n as u64, replaceable.len() as u64, draws);
                let rows = chosen.iter().map(|i| wide(*i as usize)).collect();
                super::dead::replace(
                    &mut at.atoms,
                    &replaceable,
                    random_directions(rows, self.set, draws).into_iter(),
                )
            }
            _ => {
                let mut worst = Worst::default();
                for (i, r) in rest.chunks_exact(p).enumerate() {
                    worst.record(replaceable.len(), r.iter().map(|r| r * r).sum(), i as u64, || wide(i));
                }
                super::dead::replace(&mut at.atoms, &replaceable, worst.directions(self.set))
            }
        };
        at.replaced += replaced.len() as u64;
    }
}

/// `X - Z A`.
fn residuals<T: Real>(x: &[T], at: &State, p: usize) -> Vec<f64> {
    let mut rest: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
    for (i, r) in rest.chunks_exact_mut(p).enumerate() {
        for to in at.codes.row(i) {
            let (z, atom) = (at.codes.values[to], at.atoms.row(at.codes.atoms[to] as usize));
            r.iter_mut().zip(atom).for_each(|(r, a)| *r -= z * a);
        }
    }
    rest
}
