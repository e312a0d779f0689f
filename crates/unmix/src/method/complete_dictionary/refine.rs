//! One filter by minimising the mean absolute value of its codes: iteratively reweighted least squares on the
//! sphere.
//!
//! ```text
//! C = E[z z' / sqrt(y² + m²)],  y = q' z,      q <- C⁻¹ q / |C⁻¹ q|,      m -> 0
//! ```
//!
//! `q' C q` majorises the objective and is equal to it at `q`; a step of the inverse power iteration lowers it (Candès, Wakin & Boyd 2008).

use super::CompleteDictionary;
use super::search::SearchResult;
use super::settings::{Algorithm, Refine};
use super::start::{Task, least_floor};
use crate::data::Rows;
use crate::error::Result;
use crate::ica::View;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::power::dot;
use crate::run::Run;
use crate::solve::{Limits, Steps};
use crate::stats::{GatherReweighted, GatherSpread, NEAR_ZERO, Spread};
use serde::{Deserialize, Serialize};

/// Number of rows for each direction: 160 suffice if at most half of the codes are nonzero.
const ROWS_PER_DIRECTION: u64 = 200;
/// The minimum number of rows.
const FEWEST_ROWS: u64 = 8192;
/// Initial bound of the weights, in standard deviations of the codes, and the factor by which it is
/// multiplied in every step.
const INITIAL_BOUND: f64 = 0.1;
const BOUND_FACTOR: f64 = 0.1;
/// The bound is not decreased while a step changes more than this.
const LARGEST_CHANGE_BEFORE_SHRINKING: f64 = 0.02;
/// Number of steps after which a descent stops early if too few codes are near 0.
const TRIAL_STEPS: u64 = 8;
/// The minimum share of codes near 0 after that many steps: it is 0.008 for Gaussian codes, 0.014 for Laplace ones.
const LEAST_SHARE_AFTER_TRIAL: f64 = 0.02;
/// Maximum number of steps of a refinement, of which 13 lead from the first bound to the last.
const MOST_STEPS: u64 = 40;
/// The change at which a refinement ends, once the bound of the weights has its final value: without noise a change is a rounding error by
/// then.
const CHANGE_TOL: f64 = 1e-6;
/// A refined filter is kept if, beyond the codes that are exactly 0 at any minimum, this fraction of the rows has codes near 0.
const LEAST_SPARSE_SHARE: f64 = 0.04;
/// Filters with a cosine above this in the coordinates belong to the same atom.
pub(super) const SAME_ATOM_COSINE: f64 = 0.95;

/// The filters that are kept after a search, and the distribution of their codes.
pub(super) struct SelectedFilters {
    pub(super) found: SearchResult,
    /// The distribution of the codes of these filters, scaled to variance 1.
    pub(super) spread: Spread,
    /// Which filters were refined; empty if refinement was not attempted.
    pub(super) refined: Vec<bool>,
}

impl CompleteDictionary {
    /// Refines the filters of `found`, according to the setting `refine`.
    pub(super) fn chosen<T: Real>(
        &self,
        view: &View<'_, '_, T>,
        task: &Task,
        mut found: SearchResult,
        run: &Run<'_>,
    ) -> Result<SelectedFilters> {
        let tries = self.algorithm != Algorithm::L1 && self.refine != Refine::Always(false);
        let tries = tries && found.residual.is_finite();
        let refined = match tries && !run.ends_early() {
            true => self.refined(view, task, &found.w, run)?,
            false => Vec::new(),
        };
        if tries && run.ends_early() && !found.outcome.is_early() {
            // The search is complete, its refinement is not.
            found.outcome = run.early_outcome();
        }
        run.stage("codes")?;
        let k = found.w.rows();
        found.sweeps += 1;
        if refined.iter().all(Option::is_none) {
            let spread = spread(view, task, &found.w, run)?;
            let refined = refined.iter().map(|_| false).collect();
            return Ok(SelectedFilters { found, spread, refined });
        }
        let row = |i: usize| refined[i].as_deref().unwrap_or_else(|| found.w.row(i));
        let both = Matrix::from_vec(2 * k, found.w.cols(), {
            let second = (0..k).flat_map(|i| row(i).iter().copied());
            found.w.as_slice().iter().copied().chain(second).collect()
        });
        let spreads = spread(view, task, &both, run)?;
        let kept = self.kept(&both, &spreads, &refined);
        let of = |i: usize| if kept[i] { k + i } else { i };
        let pick = |values: &[f64]| (0..k).map(|i| values[of(i)]).collect::<Vec<f64>>();
        let spread = Spread {
            n: spreads.n,
            sizes: pick(&spreads.sizes),
            squares: pick(&spreads.squares),
            fourth: pick(&spreads.fourth),
            near: pick(&spreads.near),
        };
        found.w = Matrix::from_fn(k, both.cols(), |i, j| both[(of(i), j)]);
        Ok(SelectedFilters { found, spread, refined: kept })
    }

    /// Whether each filter is replaced by the refined one, which is `k` rows below it in `both`: not if the codes of the refined one are
    /// seldom near 0, or if it belongs to another atom.
    fn kept(&self, both: &Matrix<f64>, spreads: &Spread, refined: &[Option<Vec<f64>>]) -> Vec<bool> {
        let (k, r) = (refined.len(), both.cols() as f64);
        let enough = |i: usize| {
            self.refine == Refine::Always(true) || spreads.near[i] > r + LEAST_SPARSE_SHARE * spreads.n
        };
        let mut kept: Vec<bool> = (0..k).map(|i| refined[i].is_some() && enough(k + i)).collect();
        for i in 0..k {
            let other = |j: usize| both.row(if kept[j] { k + j } else { j });
            let twin = |j: usize| dot(both.row(k + i), other(j)).abs() > SAME_ATOM_COSINE;
            if kept[i] && (0..k).any(|j| j != i && twin(j)) {
                kept[i] = false;
            }
        }
        kept
    }

    /// The filters refined one by one; `None` for those whose refinement stopped early.
    fn refined<T: Real>(
        &self,
        view: &View<'_, '_, T>,
        task: &Task,
        w: &Matrix<f64>,
        run: &Run<'_>,
    ) -> Result<Vec<Option<Vec<f64>>>> {
        run.stage("refinement")?;
        let rows = some_rows(view, run)?;
        let auto = self.refine != Refine::Always(true);
        let descent = Descent { rows: &rows, task, least: least_floor(T::DTYPE), auto, run };
        let all = Limits::count(w.rows() as u64);
        let (mut steps, mut out) = Steps::begin(run, "refinement", all, || Ok(Vec::new()))?;
        let limits = Limits { tol: CHANGE_TOL, max_iter: MOST_STEPS };
        for i in out.len()..w.rows() {
            let time_is_up = run.ends_early();
            let ended = (!time_is_up).then(|| descent.from(w.row(i).to_vec(), None, &limits)).transpose()?;
            out.push(ended.filter(|e| e.outcome != Outcome::Stalled).map(|e| e.q));
            steps.counted(&out)?;
        }
        Ok(out)
    }
}

/// The distribution of the codes of the filters, each divided by its standard deviation: one pass.
pub(super) fn spread<T: Real>(
    view: &View<'_, '_, T>,
    task: &Task,
    w: &Matrix<f64>,
    run: &Run<'_>,
) -> Result<Spread> {
    let deviation: Vec<f64> = (0..w.rows()).map(|i| task.deviation_of(w.row(i))).collect();
    let unit = |i: usize| if deviation[i] > 0.0 { deviation[i] } else { 1.0 };
    let w = Matrix::from_fn(w.rows(), w.cols(), |i, j| w[(i, j)] / unit(i));
    view.sweep(run, "codes", GatherSpread::new(view.sources(&w, crate::stats::Contrasts::Each(&[]))))
}

/// Coordinates of enough of the rows for refinements.
pub(super) fn some_rows<T: Real>(view: &View<'_, '_, T>, run: &Run<'_>) -> Result<Rows<'static, T>> {
    view.picked_coordinates((ROWS_PER_DIRECTION * view.k as u64).max(FEWEST_ROWS), run)
}

/// Descents on the sphere over some rows.
pub(super) struct Descent<'s, 'b, T: Real> {
    pub(super) rows: &'s Rows<'b, T>,
    pub(super) task: &'s Task,
    /// The last bound of the weights, in standard deviations of the codes.
    pub(super) least: f64,
    /// Whether to stop early if few codes are near 0.
    pub(super) auto: bool,
    pub(super) run: &'s Run<'s>,
}

/// The result of a descent.
#[derive(Serialize, Deserialize)]
pub(super) struct DescentResult {
    pub(super) q: Vec<f64>,
    /// Stalled if it was stopped early.
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    /// The last change of an entry.
    pub(super) residual: f64,
    /// The mean absolute value of the codes.
    pub(super) value: f64,
}

/// State of a descent.
#[derive(Serialize, Deserialize)]
struct State {
    q: Vec<f64>,
    floor: f64,
    change: f64,
    value: f64,
    near: f64,
}

impl<T: Real> Descent<'_, '_, T> {
    /// Descends from the filter `q` of length 1, within the span of the orthonormal rows of `basis` if it is given.
    pub(super) fn from(
        &self,
        q: Vec<f64>,
        basis: Option<&Matrix<f64>>,
        limits: &Limits,
    ) -> Result<DescentResult> {
        let first = || Ok(State { q, floor: INITIAL_BOUND, change: 1.0, value: f64::INFINITY, near: 1.0 });
        let (mut steps, mut at) = Steps::begin(self.run, "reweighted least squares", *limits, first)?;
        let outcome = loop {
            if self.auto && steps.n_iter() >= TRIAL_STEPS && at.near < LEAST_SHARE_AFTER_TRIAL {
                break Outcome::Stalled;
            }
            let residual = if at.floor > self.least { f64::INFINITY } else { at.change };
            if let Some(outcome) = steps.ending(residual) {
                break outcome;
            }
            at = self.step(at, basis)?;
            steps.ended(at.change, Some(at.value), &at)?;
        };
        let State { q, change, value, .. } = at;
        Ok(DescentResult { q, outcome, n_iter: steps.n_iter(), residual: change, value })
    }

    fn step(&self, at: State, basis: Option<&Matrix<f64>>) -> Result<State> {
        let size = self.task.deviation_of(&at.q);
        let gather =
            GatherReweighted { direction: at.q.clone(), floor: at.floor * size, near: NEAR_ZERO * size };
        let sums = self.rows.sweep(self.run, "refinement", &gather)?;
        let r = at.q.len();
        let whole = Matrix::from_fn(r, r, |i, j| sums.lower[(i.max(j), i.min(j))] / sums.n);
        let q = match basis {
            None => solved(&whole, &at.q)?,
            Some(basis) => {
                let own = Matrix::from_vec(1, r, at.q.clone());
                let inside = factor::multiply_transposed(&factor::multiply(basis, &whole), basis);
                let own = factor::multiply_transposed(&own, basis).into_vec();
                let next = Matrix::from_vec(1, own.len(), solved(&inside, &own)?);
                factor::multiply(&next, basis).into_vec()
            }
        };
        let sign = if dot(&q, &at.q) < 0.0 { -1.0 } else { 1.0 };
        let change = q.iter().zip(&at.q).fold(0.0f64, |m, (a, b)| m.max((a - sign * b).abs()));
        let floor = if change < LARGEST_CHANGE_BEFORE_SHRINKING {
            (BOUND_FACTOR * at.floor).max(self.least)
        } else {
            at.floor
        };
        Ok(State { q, floor, change, value: sums.sizes / sums.n, near: sums.near / sums.n })
    }
}

/// `C⁻¹ q`, scaled to length 1. The large weights of rows whose codes are near 0 make `C` nearly singular along the filter that is
/// searched for, so its eigenvalues are bounded below.
fn solved(c: &Matrix<f64>, q: &[f64]) -> Result<Vec<f64>> {
    let (values, vectors) = factor::eigh(c)?;
    let floor = f64::EPSILON * values.len() as f64 * values.first().copied().unwrap_or(0.0);
    let mut out = vec![0.0; q.len()];
    for (i, value) in values.iter().enumerate() {
        let share = dot(vectors.row(i), q) / value.max(floor);
        out.iter_mut().zip(vectors.row(i)).for_each(|(o, v)| *o += share * v);
    }
    let length = dot(&out, &out).sqrt();
    out.iter_mut().for_each(|x| *x /= length);
    Ok(out)
}
