//! Principal component pursuit, `min ||L||_* + alpha ||S||_1` with `L + S = X` on the observed cells: the augmented Lagrangian, whose
//! penalty parameter increases while the primal residual is large relative to the dual one.

use super::cells::{CELLS_PER_TASK, Cells, soft, total};
use super::svd::{Low, PartialSvd};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, parallel, widest};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Tolerance on the dual residual, as a multiple of that on the primal one.
const DUAL_TOL_FACTOR: f64 = 100.0;
/// Factor by which the penalty parameter increases, and its upper bound as a multiple of the initial one.
const PENALTY_GROWTH: f64 = 1.5;
const LARGEST_PENALTY_RATIO: f64 = 1e7;
/// Iterations between two evaluations of the median residual during the test for noise, and the least factor
/// by which it decreases if there is no noise: measured, 7 to 200 on the published designs; with noise it
/// stays the same after 15 to 20 iterations.
const ITERATIONS_BETWEEN_MEDIANS: u64 = 5;
const LEAST_MEDIAN_FACTOR: f64 = 0.8;
/// Residual, in units of the tolerance, below which several steps of subspace iteration are made.
const CAREFUL_RESIDUAL_RATIO: f64 = 20.0;

/// State of the iteration: both parts, multipliers, penalty.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) low: Low,
    pub(super) sparse: Matrix<f64>,
    /// Lagrange multipliers: entries of at most `alpha` in absolute value; spectral norm 1 at the solution.
    pub(super) dual: Matrix<f64>,
    mu: f64,
    most: f64,
    partial: PartialSvd,
    /// `||X - L - S||_F` over the observed cells.
    missed: f64,
    /// The median residual of the low-rank part when it was last computed, for the trial.
    left: Option<f64>,
    /// The larger of the primal residual and the dual residual divided by [`DUAL_TOL_FACTOR`].
    pub(super) residual: f64,
}

/// Result of the pursuit.
pub(super) struct PursuitResult {
    pub(super) at: State,
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    pub(super) objective: Vec<f64>,
    /// Whether the median residual of the low-rank part is negligible, so that there is no noise.
    pub(super) exact: bool,
}

/// The problem.
pub(super) struct Pursuit<'a> {
    pub(super) cells: &'a Cells,
    pub(super) alpha: f64,
    pub(super) limits: Limits,
    /// Maximum number of iterations unless the rows are exactly low rank plus sparse; `None` if they are, by `noise=0`.
    pub(super) trial: Option<u64>,
    /// Median absolute residual of the low-rank part below which there is no noise.
    pub(super) exact_below: f64,
}

/// Median absolute residual below which there is no noise, as a fraction of the scale of the cells.
pub(super) const NOISELESS_RESIDUAL_SHARE: f64 = 1e-4;

impl Pursuit<'_> {
    /// Iterates from 0, starting the subspace iteration with the rows `basis`.
    pub(super) fn solve(&self, basis: Matrix<f64>, run: &Run<'_>) -> Result<PursuitResult> {
        let (mut steps, mut at) = Steps::begin(run, "pursuit", self.limits, || self.start(basis, run))?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            if self.trial.is_some_and(|most| self.is_noisy(&mut at, steps.n_iter(), most)) {
                break Outcome::MaxIter;
            }
            let (next, value) = self.next(at)?;
            at = next;
            steps.ended(at.residual, Some(value), &at)?;
        };
        let exact = self.trial.is_none() || self.is_exact(&at);
        if outcome == Outcome::Converged {
            // Singular values below the residual of both parts are not determined.
            at.low.keep_above(at.missed);
        }
        let n_iter = steps.n_iter();
        Ok(PursuitResult { at, outcome, n_iter, objective: steps.into_objective(), exact })
    }

    /// The median absolute residual of the low-rank part.
    fn left(&self, at: &State) -> f64 {
        self.cells.median_of(&at.low.full(), |x, low| (x - low).abs())
    }

    fn is_exact(&self, at: &State) -> bool {
        self.left(at) <= self.exact_below
    }

    /// Whether the rows have noise: the median residual no longer decreases, or has not decreased enough after `most` iterations.
    fn is_noisy(&self, at: &mut State, n_iter: u64, most: u64) -> bool {
        if n_iter < 2 * ITERATIONS_BETWEEN_MEDIANS || !n_iter.is_multiple_of(ITERATIONS_BETWEEN_MEDIANS) {
            return false;
        }
        let left = self.left(at);
        let stays = n_iter == most || at.left.is_some_and(|before| left > LEAST_MEDIAN_FACTOR * before);
        at.left = Some(left);
        stays && left > self.exact_below
    }

    fn start(&self, basis: Matrix<f64>, run: &Run<'_>) -> Result<State> {
        let x = &self.cells.x;
        let (n, p) = (x.rows(), x.cols());
        let mut partial = PartialSvd::new(basis, run.seed);
        let norm = partial.norm(x)?;
        let largest = x.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let size = norm.max(largest / self.alpha);
        let mu = 1.25 / norm;
        Ok(State {
            low: Low::none(n, p),
            sparse: Matrix::zeros(n, p),
            dual: Matrix::from_vec(n, p, x.as_slice().iter().map(|x| x / size).collect()),
            mu,
            most: LARGEST_PENALTY_RATIO * mu,
            partial,
            missed: f64::INFINITY,
            left: None,
            residual: f64::INFINITY,
        })
    }

    /// One iteration, and the objective after it.
    fn next(&self, at: State) -> Result<(State, f64)> {
        let State { mut sparse, mut dual, mu, most, mut partial, left, residual, .. } = at;
        let x = &self.cells.x;
        let mut z = Matrix::zeros(x.rows(), x.cols());
        // A missing cell has x and dual 0, and sparse = -low, which leaves the low-rank part unchanged.
        let parts = z.as_mut_slice().chunks_mut(CELLS_PER_TASK).zip(x.as_slice().chunks(CELLS_PER_TASK));
        let parts =
            parts.zip(sparse.as_slice().chunks(CELLS_PER_TASK)).zip(dual.as_slice().chunks(CELLS_PER_TASK));
        parallel::each(parts, |(((z, x), s), y)| {
            for (((z, x), s), y) in z.iter_mut().zip(x).zip(s).zip(y) {
                *z = x - s + y / mu;
            }
        });
        // Near the end, singular values near the threshold must be accurate, because they determine the rank.
        let steps = if residual <= CAREFUL_RESIDUAL_RATIO * self.limits.tol { 3 } else { 1 };
        let low = partial.shrunk(&z, 1.0 / mu, steps)?;
        drop(z);
        let [missed, changed, duals, ones] = self.split(&low.full(), &mut sparse, &mut dual, mu);
        let missed = missed.sqrt();
        let primal = missed / self.cells.norm;
        let change = if duals > 0.0 { mu * (changed / duals).sqrt() } else { 0.0 };
        let grows = DUAL_TOL_FACTOR * primal > change;
        let value = low.values.iter().sum::<f64>() + self.alpha * ones;
        let mu = if grows { (mu * PENALTY_GROWTH).min(most) } else { mu };
        let residual = primal.max(change / DUAL_TOL_FACTOR);
        Ok((State { low, sparse, dual, mu, most, partial, missed, left, residual }, value))
    }

    /// Updates the sparse part and the multipliers. Returns squared norms of the constraint residual, of the change of the sparse part and of
    /// the multipliers, and the l1 norm of the sparse part.
    fn split(
        &self,
        low: &Matrix<f64>,
        sparse: &mut Matrix<f64>,
        dual: &mut Matrix<f64>,
        mu: f64,
    ) -> [f64; 4] {
        let threshold = self.alpha / mu;
        let rows = self
            .cells
            .x
            .as_slice()
            .chunks(CELLS_PER_TASK)
            .zip(low.as_slice().chunks(CELLS_PER_TASK))
            .enumerate();
        let parts = sparse
            .as_mut_slice()
            .chunks_mut(CELLS_PER_TASK)
            .zip(dual.as_mut_slice().chunks_mut(CELLS_PER_TASK));
        let sums = parallel::map(parts.zip(rows), |((s, y), (part, (x, low)))| {
            match self.cells.observed.is_empty() {
                true => widest(
                    #[inline(always)]
                    || divided((s, y), (x, low), (mu, threshold)),
                ),
                false => divided_where(
                    &self.cells.observed[part * CELLS_PER_TASK..],
                    (s, y),
                    (x, low),
                    (mu, threshold),
                ),
            }
        });
        total(&sums)
    }
}

/// New values of a cell: those of the sparse part and of the multiplier, and the terms of the four sums.
#[inline(always)]
fn divided_cell(
    (s, y): (f64, f64),
    (x, low): (f64, f64),
    (mu, threshold): (f64, f64),
) -> ([f64; 2], [f64; 4]) {
    let v = x - low + y / mu;
    let new = soft(v, threshold);
    let (missed, changed, y) = (x - low - new, new - s, mu * (v - new));
    ([new, y], [missed * missed, changed * changed, y * y, new.abs()])
}

/// Updates cells, all of them observed, in eight independent sums, so that the loop is vectorised.
#[inline(always)]
fn divided(
    (sparse, dual): (&mut [f64], &mut [f64]),
    (x, low): (&[f64], &[f64]),
    weights: (f64, f64),
) -> [f64; 4] {
    const LANES: usize = 8;
    let mut sums = [[0.0; LANES]; 4];
    let ((s8, s1), (y8, y1)) = (sparse.as_chunks_mut::<LANES>(), dual.as_chunks_mut::<LANES>());
    let ((x8, x1), (low8, low1)) = (x.as_chunks::<LANES>(), low.as_chunks::<LANES>());
    for ((s, y), (x, low)) in s8.iter_mut().zip(y8).zip(x8.iter().zip(low8)) {
        for lane in 0..LANES {
            let (new, terms) = divided_cell((s[lane], y[lane]), (x[lane], low[lane]), weights);
            [s[lane], y[lane]] = new;
            for sum in 0..4 {
                sums[sum][lane] += terms[sum];
            }
        }
    }
    for ((s, y), (x, low)) in s1.iter_mut().zip(y1).zip(x1.iter().zip(low1)) {
        let (new, terms) = divided_cell((*s, *y), (*x, *low), weights);
        [*s, *y] = new;
        (0..4).for_each(|sum| sums[sum][0] += terms[sum]);
    }
    sums.map(|lanes| lanes.iter().sum())
}

/// Updates cells, of which some are missing: there the sparse part is such that the low-rank part is unchanged.
fn divided_where(
    observed: &[bool],
    (sparse, dual): (&mut [f64], &mut [f64]),
    (x, low): (&[f64], &[f64]),
    weights: (f64, f64),
) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for (((s, y), (x, low)), observed) in sparse.iter_mut().zip(dual).zip(x.iter().zip(low)).zip(observed) {
        if !observed {
            *s = -low;
            continue;
        }
        let (new, terms) = divided_cell((*s, *y), (*x, *low), weights);
        [*s, *y] = new;
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
    }
    sums
}
