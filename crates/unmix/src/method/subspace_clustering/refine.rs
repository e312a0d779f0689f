//! k-subspaces (Bradley & Mangasarian 2000; Tseng 2000): alternates between assigning rows to the nearest subspace and fitting subspaces to their
//! rows.

use super::kmeans::drawn;
use super::mixture::Part;
use super::table::Table;
use crate::error::Result;
use crate::num::Matrix;
use crate::num::random::Stream;
use crate::run::{Outcome, Run};
use crate::solve::{Limits, Steps, best_of_starts};
use serde::{Deserialize, Serialize};

/// Subspaces and the rows nearest to each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SubspaceFit {
    /// Orthonormal rows of each subspace.
    pub(super) bases: Vec<Matrix<f64>>,
    pub(super) labels: Vec<usize>,
    /// Sum of the squared distances of the rows from their subspaces.
    pub(super) cost: f64,
    /// Its decrease in the last iteration, as a fraction of the sum of squares of the rows.
    pub(super) fall: f64,
}

/// Result of the iterations.
#[derive(Clone, Debug)]
pub(super) struct RefinementResult {
    pub(super) found: SubspaceFit,
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    pub(super) objective: Vec<f64>,
    /// The parts of a mixture that was started from these clusters, in the order of the subspaces.
    pub(super) parts: Option<Vec<Part>>,
}

/// The problem: rows, and the dimension of each subspace.
pub(super) struct KSubspaces<'a> {
    pub(super) table: &'a Table,
    pub(super) dimensions: &'a [usize],
    pub(super) limits: Limits,
}

impl KSubspaces<'_> {
    /// Iterates from these subspaces.
    ///
    /// # Errors
    ///
    /// A requested stop, an eigenvalue decomposition that does not converge.
    pub(super) fn refine(&self, bases: Vec<Matrix<f64>>, run: &Run<'_>) -> Result<RefinementResult> {
        let first = || {
            let (labels, cost) = nearest(self.table, &bases);
            Ok(SubspaceFit { bases, labels, cost, fall: f64::INFINITY })
        };
        let (mut steps, mut at) = Steps::begin(run, "k-subspaces", self.limits, first)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.fall) {
                break outcome;
            }
            let bases = self.fitted(&at)?;
            let (labels, cost) = nearest(self.table, &bases);
            // The cost increases only through rounding errors.
            if cost > at.cost {
                break Outcome::Converged;
            }
            let fall = if labels == at.labels { 0.0 } else { (at.cost - cost) / self.table.total };
            at = SubspaceFit { bases, labels, cost, fall };
            steps.ended(at.fall, Some(at.cost / self.table.n() as f64), &at)?;
        };
        let n_iter = steps.n_iter();
        Ok(RefinementResult { found: at, outcome, n_iter, objective: steps.into_objective(), parts: None })
    }

    /// The best of `starts` random starts, the first in case of ties.
    ///
    /// # Errors
    ///
    /// Those of [`refine`](Self::refine).
    pub(super) fn restarted(&self, starts: u64, run: &Run<'_>) -> Result<RefinementResult> {
        let one = |i: u64| self.refine(self.drawn(&Stream::new(run.seed, i))?, run);
        let is_better = |a: &RefinementResult, b: &RefinementResult| a.found.cost < b.found.cost;
        best_of_starts(starts, run, one, |found| &mut found.outcome, is_better)
    }

    /// Subspaces fitted to the rows of each cluster; an empty cluster is reinitialised around the row that is farthest from its subspace.
    fn fitted(&self, at: &SubspaceFit) -> Result<Vec<Matrix<f64>>> {
        let members = Table::members(&at.labels, self.dimensions.len());
        let mut far: Option<std::vec::IntoIter<usize>> = None;
        let mut bases = Vec::with_capacity(members.len());
        for (rows, &d) in members.iter().zip(self.dimensions) {
            if !rows.is_empty() {
                bases.push(self.table.span(rows, d)?);
                continue;
            }
            let far = far.get_or_insert_with(|| farthest(self.table, at).into_iter());
            bases.push(match far.next() {
                Some(i) => self.table.span(&self.table.around(i, d), d)?,
                None => Matrix::zeros(0, self.table.p()),
            });
        }
        Ok(bases)
    }

    /// Initial subspaces, each around a row drawn with a probability proportional to its squared distance from the earlier subspaces.
    fn drawn(&self, draws: &Stream) -> Result<Vec<Matrix<f64>>> {
        let mut bases: Vec<Matrix<f64>> = Vec::new();
        let mut far = self.table.squares.clone();
        for (c, &d) in self.dimensions.iter().enumerate() {
            let i = drawn(&far, draws.uniform(c as u64));
            let basis = self.table.span(&self.table.around(i, d), d)?;
            let distances = self.table.distances(std::slice::from_ref(&basis));
            far.iter_mut().zip(distances.as_slice()).for_each(|(f, d)| *f = f.min(*d));
            bases.push(basis);
        }
        Ok(bases)
    }
}

/// The nearest subspace of every row, the first in case of ties, and the sum of squared distances.
pub(super) fn nearest(table: &Table, bases: &[Matrix<f64>]) -> (Vec<usize>, f64) {
    let distances = table.distances(bases);
    let mut cost = 0.0;
    let mut label = |i: usize| {
        let best = distances.row(i).iter().enumerate();
        let (c, far) =
            best.fold((0, f64::INFINITY), |best, (c, far)| if *far < best.1 { (c, *far) } else { best });
        cost += far;
        c
    };
    let labels = (0..table.n()).map(&mut label).collect();
    (labels, cost)
}

/// Rows at a distance from their subspaces above rounding errors, the farthest first.
fn farthest(table: &Table, at: &SubspaceFit) -> Vec<usize> {
    let distances = table.distances(&at.bases);
    let far = |i: usize| distances[(i, at.labels[i])];
    let mut order: Vec<usize> =
        (0..table.n()).filter(|&i| far(i) > 1e-20 * table.squares[i].max(f64::MIN_POSITIVE)).collect();
    order.sort_by(|&a, &b| far(b).total_cmp(&far(a)).then(a.cmp(&b)));
    order
}
