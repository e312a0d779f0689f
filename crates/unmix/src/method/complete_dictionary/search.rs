//! From coordinates to filters: searches that maximise a power of the codes, their polish, several starts.

use super::start::Task;
use super::{Algorithm, CompleteDictionary, l1};
use crate::data::{Batches, Position};
use crate::error::Result;
use crate::ica::{self, SweptRows, View};
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::power::{Contrast, Contrasted, PowerIteration, PowerMap, PowerResult, Projection, Shift, dot};
use crate::run::Run;
use crate::solve::{Limits, Steps, best_of_starts};
use serde::{Deserialize, Serialize};

/// The weight of a new batch in the running mean that steps use.
const NEW_BATCH_WEIGHT: f64 = 0.5;

/// Options of a search for atoms.
pub(super) struct Atoms<'s, 'a, 'b, T: Real> {
    pub(super) spec: &'s CompleteDictionary,
    pub(super) task: &'s Task,
    pub(super) view: &'s View<'a, 'b, T>,
    pub(super) run: &'s Run<'s>,
}

/// The result of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SearchResult {
    /// Filters, `k x r`, of length 1 in the coordinates.
    pub(super) w: Matrix<f64>,
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    pub(super) sweeps: u64,
    /// The objective after each step of the search, without the polish.
    pub(super) objective: Vec<f64>,
    pub(super) residual: f64,
    /// The objective at the end; the start for which it is largest is kept.
    value: f64,
}

impl<T: Real> Atoms<'_, '_, '_, T> {
    /// The best result of several starts, polished if requested.
    pub(super) fn search(&self) -> Result<SearchResult> {
        let limits = self.spec.limits(T::DTYPE);
        if self.spec.algorithm == Algorithm::L1 {
            return l1::search(self.view, self.task, &limits, self.run);
        }
        let mut sweeps = 0;
        let one = |i: u64| {
            let start = self.task.start(i, self.run)?;
            let found = match self.spec.algorithm {
                Algorithm::Deflation => self.one_by_one(&start, &limits)?,
                _ => self.all_at_once(start, &limits)?,
            };
            sweeps += found.sweeps;
            Ok(found)
        };
        let (n, run) = (self.spec.n_init, self.run);
        let best = best_of_starts(n, run, one, |found| &mut found.outcome, |a, b| a.value > b.value)?;
        let found = SearchResult { sweeps, ..best };
        if self.spec.polish { self.polished(found, &limits) } else { Ok(found) }
    }

    /// Near the end the slopes are subtracted, as in FastICA, but for white rows only: for others the fixed point would be another one.
    fn shift(&self) -> Shift {
        if self.task.white { Shift::Hybrid(0.0) } else { Shift::Constant(0.0) }
    }

    fn iteration<'p>(&self, projection: Projection<'p>, limits: &Limits) -> PowerIteration<'p> {
        let &Limits { tol, max_iter } = limits;
        PowerIteration { projection, shift: self.shift(), tol, max_iter, eps: T::DTYPE.eps() }
    }

    fn map(&self, rotation: bool) -> Contrasted<'_, '_, '_, T> {
        Contrasted::of(self.view, self.spec.contrast(), 1.0, rotation, self.run)
    }

    /// Matching, stretching, projection.
    fn all_at_once(&self, start: Matrix<f64>, limits: &Limits) -> Result<SearchResult> {
        let (mut start, mut passes) = (start, 0);
        if let Some(size) = self.spec.batch_size
            && (size as u64) < self.view.rows().n_rows().unwrap_or(0)
        {
            start = self.by_batches(start, size)?;
            passes = 1;
        }
        let rotation = self.task.k == self.task.coordinates.k();
        let ended =
            self.iteration(Projection::Polar, limits).solve(&mut self.map(rotation), &start, self.run)?;
        Ok(SearchResult { sweeps: ended.sweeps + passes, ..SearchResult::of(ended) })
    }

    /// One epoch of steps by a running mean over mini-batches, in which previous batches have weight 1/2;
    /// after it every row of the filters is near one atom.
    fn by_batches(&self, start: Matrix<f64>, size: usize) -> Result<Matrix<f64>> {
        let (rows, run) = (self.view.rows(), self.run);
        let mean = self.task.coordinates.subtracted();
        let basis = self.task.coordinates.basis();
        let limits = Limits::NONE;
        let first = || {
            let begun = self.iteration(Projection::Polar, &limits);
            let zero = Matrix::zeros(self.task.k, self.task.coordinates.k());
            let none = crate::power::Image { direction: start.clone(), slope: Vec::new(), objective: 0.0 };
            let w = PowerIteration { shift: Shift::Constant(0.0), ..begun }.next(&zero, &none, false)?;
            Ok(Epoch { position: Position::default(), w, moving: zero, n: 0 })
        };
        let (mut steps, mut at) = Steps::begin(run, "batches", limits, first)?;
        if at.position.epoch > 0 {
            return Ok(at.w);
        }
        Batches::new(rows, size, run.seed)?.each(at.position, 1, 1, |batch| {
            if !batch.rows.is_empty() {
                let some = batch.as_rows(rows)?;
                let view = View {
                    place: SweptRows::Rows(&some),
                    mean,
                    basis: basis.as_ref(),
                    k: self.task.coordinates.k(),
                };
                let mut map = Contrasted::of(&view, self.spec.contrast(), 1.0, false, run);
                if let Some(image) = map.apply(&at.w)? {
                    at.step(image.direction, &self.iteration(Projection::Polar, &limits))?;
                }
            }
            at.position = batch.next;
            steps.counted(&at)?;
            Ok(steps.spent().is_none())
        })?;
        Ok(at.w)
    }

    /// One filter after another, each orthogonal to those before.
    fn one_by_one(&self, start: &Matrix<f64>, limits: &Limits) -> Result<SearchResult> {
        let (k, r) = (self.task.k, self.task.coordinates.k());
        let all = Limits::count(k as u64);
        let (mut steps, mut at) = Steps::begin(self.run, "atoms", all, || Ok(SearchResult::empty(r)))?;
        for i in steps.n_iter() as usize..k {
            let w = Matrix::from_vec(1, r, away_from(start.row(i), &at.w));
            let iteration = self.iteration(Projection::Rest(&at.w), limits);
            let ended = iteration.solve(&mut self.map(false), &w, self.run)?;
            at.push(SearchResult::of(ended));
            steps.counted(&at)?;
        }
        Ok(at)
    }

    /// Minimises `Σ E log cosh` of the codes, starting from the filters found.
    fn polished(&self, found: SearchResult, limits: &Limits) -> Result<SearchResult> {
        let left = limits.max_iter.saturating_sub(found.n_iter);
        if left == 0 || !found.residual.is_finite() {
            return Ok(found);
        }
        if self.run.ends_early() {
            return Ok(SearchResult { outcome: self.run.early_outcome(), ..found });
        }
        let limits = Limits { max_iter: left, ..*limits };
        let (w, ended) = if self.task.k == self.task.coordinates.k() {
            let ended = ica::least_log_cosh(self.view, found.w.clone(), &limits, self.run)?;
            let result = (ended.outcome, ended.n_iter, ended.sweeps, ended.residual);
            (ended.w, result)
        } else {
            let iteration =
                PowerIteration { shift: Shift::Hybrid(-1.0), ..self.iteration(Projection::Polar, &limits) };
            let mut map = Contrasted::of(self.view, Contrast::LogCosh(1.0), -1.0, false, self.run);
            let ended = iteration.solve(&mut map, &found.w, self.run)?;
            (ended.a, (ended.outcome, ended.n_iter, ended.sweeps, ended.residual))
        };
        let (outcome, n_iter, sweeps, residual) = ended;
        Ok(SearchResult {
            w,
            outcome,
            residual,
            n_iter: found.n_iter + n_iter,
            sweeps: found.sweeps + sweeps,
            ..found
        })
    }
}

/// State of an epoch of batches.
#[derive(Serialize, Deserialize)]
struct Epoch {
    position: Position,
    w: Matrix<f64>,
    /// The running mean over batches.
    moving: Matrix<f64>,
    n: u64,
}

impl Epoch {
    fn step(&mut self, direction: Matrix<f64>, by: &PowerIteration<'_>) -> Result<()> {
        self.n += 1;
        let share = (1.0 / self.n as f64).max(NEW_BATCH_WEIGHT);
        let both = self.moving.as_slice().iter().zip(direction.as_slice());
        let moving = both.map(|(m, d)| (1.0 - share) * m + share * d).collect();
        self.moving = Matrix::from_vec(self.w.rows(), self.w.cols(), moving);
        let image = crate::power::Image { direction: self.moving.clone(), slope: Vec::new(), objective: 0.0 };
        let plain = PowerIteration { shift: Shift::Constant(0.0), ..*by };
        self.w = plain.next(&self.w, &image, false)?;
        Ok(())
    }
}

impl SearchResult {
    fn of(result: PowerResult) -> Self {
        let PowerResult { a, outcome, n_iter, sweeps, objective, residual, value } = result;
        Self { w: a, outcome, n_iter, sweeps, objective, residual, value }
    }

    /// No filters, for rows of `r` coordinates.
    pub(super) fn empty(r: usize) -> Self {
        let (w, outcome) = (Matrix::zeros(0, r), Outcome::Converged);
        Self { w, outcome, n_iter: 0, sweeps: 0, objective: Vec::new(), residual: 0.0, value: 0.0 }
    }

    /// One filter by minimising the mean absolute value of its codes.
    pub(super) fn of_descent(ended: &super::refine::DescentResult, n_iter: u64, sweeps: u64) -> Self {
        let super::refine::DescentResult { q, outcome, residual, value, .. } = ended;
        Self {
            w: Matrix::from_vec(1, q.len(), q.clone()),
            outcome: *outcome,
            n_iter,
            sweeps,
            objective: Vec::new(),
            residual: *residual,
            value: -value,
        }
    }

    /// Adds a filter: `n_iter` and the residual are the maxima over the filters, the outcome is that of the first one that did not converge.
    pub(super) fn push(&mut self, one: SearchResult) {
        let (rows, r) = (self.w.rows() + 1, self.w.cols());
        let before = std::mem::replace(&mut self.w, Matrix::zeros(0, r));
        self.w = Matrix::from_vec(rows, r, [before.into_vec(), one.w.into_vec()].concat());
        self.n_iter = self.n_iter.max(one.n_iter);
        self.residual = self.residual.max(one.residual);
        self.sweeps += one.sweeps;
        self.value += one.value;
        // A filter that was cut short ends the search early, whatever those before it did.
        if self.outcome == Outcome::Converged || one.outcome.is_early() {
            self.outcome = one.outcome;
        }
    }
}

/// `w`, or, if it is in the span of the orthonormal rows of `found` up to rounding errors, a direction orthogonal to these.
pub(super) fn away_from(w: &[f64], found: &Matrix<f64>) -> Vec<f64> {
    let along: f64 = (0..found.rows()).map(|i| dot(w, found.row(i)).powi(2)).sum();
    match along < dot(w, w) * (1.0 - 1e-10) {
        true => w.to_vec(),
        false => factor::complement(found).row(0).to_vec(),
    }
}
