//! The deterministic solver for orthonormal components: weighted polar steps.
//!
//! ```text
//! H_j = -sigma_j^(1 + alpha) E[x phi(z_j)]        W <- polar(H)
//! ```
//!
//! A generalised power method (Journée, Nesterov, Richtárik & Sepulchre 2010): no step length, orthonormal at every step. It
//! comes to rest where `F = W'H` is symmetric and `H = W F`. With `alpha = 2` that agrees with the published soft fixed point
//! (unit columns, nearly orthogonal) to first order in `W'W - I`; with `alpha = 0` it is the plain Stiefel condition.
//!
//! *Saddles.* A tied pair may begin, or come to rest, near the rotation at which it is separated worst, and leaves it slowly. The
//! curvature of every pair is among the sums when components are looked at; where it is negative, and the data are certain of
//! it, and the next step would turn the pair by less than 0.1 rad, it is turned by 0.4 rad instead, five times at most.
//! Another place of rest, of sources of two kinds, no curvature shows: see `turned.rs`.

mod held_out;
mod momentum;
mod step;

use self::momentum::Momentum;
use self::step::Step;
use super::auto::{
    CANDIDATES, CERTAIN, LAST_LOOK, choose, evidence, is_certain, looks_at, near_gaussian, stand_out,
};
use super::forces::{Forces, Look, Pass};
use super::nonlinearity::{Nonlinearity, Shape, Slope};
use super::pairs::curvature;
use super::start::Principal;
use super::turned::{Turned, tied, turned};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;

/// What is iterated, and how long.
#[derive(Clone, Debug)]
pub struct Polar {
    /// The nonlinearity; with `auto` its `a` is where the search begins.
    pub h: Nonlinearity,
    /// Choose `a` for every component.
    pub auto: bool,
    /// Exponent of the weights.
    pub alpha: f64,
    /// Whether the rows are white, so that variances say nothing: otherwise components that cannot be told from Gaussian ones are left to
    /// their principal axes, and pairs of like variance are looked at turned before they rest, too. In white coordinates every axis is a
    /// principal one.
    pub white: bool,
    /// The residual to stop at.
    pub tol: f64,
    /// Steps at most.
    pub max_iter: u64,
}

/// Where it came to rest.
#[derive(Clone, Debug)]
pub struct Solved {
    /// The components, as rows in principal coordinates.
    pub w: Matrix<f64>,
    /// The name of the solver.
    pub solver: &'static str,
    /// Exponent of its weights, in the law of pairs.
    pub alpha: f64,
    /// Standard deviations along them.
    pub sigma: Vec<f64>,
    /// `a` of each.
    pub a: Vec<f64>,
    /// What the nonlinearity in use sees of them.
    pub own: Look,
    /// What the candidates of `a = "auto"` see of them.
    pub candidates: Vec<Look>,
    /// A width that saw more at the start than any sees now: with the one in use, components became more Gaussian.
    pub better: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// Passes over the rows that took a step or decided to take none.
    pub n_iter: u64,
    /// The residual that was compared with `tol`, where there was one to compare.
    pub residual: Option<f64>,
    /// The root of the mean square over components of `|R_j| / |H_j|`, `R = H - W (F + F') / 2`.
    pub column_residual: f64,
    /// The residual after each iteration.
    pub history: Vec<f64>,
}

impl Polar {
    /// `a tanh(z / a)` with `a` chosen for each of `k` components.
    pub fn auto(k: usize, tol: f64, max_iter: u64) -> Self {
        let h = Nonlinearity::tanh(vec![CANDIDATES[1]; k]);
        Self { h, auto: true, alpha: 2.0, white: false, tol, max_iter }
    }

    /// Iterates from the orthonormal rows of `start`, in principal coordinates; `seen` hears of the components of every
    /// iteration.
    ///
    /// # Errors
    ///
    /// Those of the rows; [`Interrupted`](crate::Error::Interrupted).
    pub fn solve<T: Real>(
        &self,
        rows: &Principal<'_, T>,
        start: Matrix<f64>,
        run: &Run<'_>,
        mut seen: impl FnMut(u64, &Matrix<f64>),
    ) -> Result<Solved> {
        let k = start.rows();
        let mut at = State::new(self, &start);
        loop {
            let sweep = at.n_iter;
            let out_of_time = run.out_of_time() && sweep > 0;
            let last = sweep + 1 >= self.max_iter || out_of_time;
            let looking = at.resting || last || looks_at(sweep, at.settled || !self.auto);
            let forces = rows.forces(&at.w, &self.pass(&at.a, looking, rows), run)?;
            at.n_iter += 1;
            seen(rows.sweeps(), &at.w);
            let step = Step::new(&forces, &at.w, self.alpha, &at.chance);
            at.history.push(step.residual);
            run.iteration(at.n_iter, step.residual, None)?;
            if looking {
                let candidates = &forces.looks[1..];
                if self.auto && !self.white && rows.n() < FEW_ROWS * rows.r() as f64 {
                    return self.principal_axes(rows, start, at, run);
                }
                if sweep == 0 {
                    at.begun = candidates.to_vec();
                }
                let chance = near_gaussian(candidates);
                let none = !chance.contains(&false);
                at.settle(candidates, sweep);
                at.hopeful |= stand_out(candidates) && sweep == 0;
                let ended = at.settled || step.residual <= self.tol || last;
                if self.auto && none && !at.hopeful && ended {
                    let width = if last { None } else { self.width_by_other_rows(rows, k, run)? };
                    let Some(a) = width else { return self.principal_axes(rows, start, at, run) };
                    at.begin_with(a, &start);
                    continue;
                }
                at.one_width = at.one_width.filter(|_| !ended);
                // Other rows have shown that it is no chance.
                let by_chance = !none && !at.held_out;
                let mut changed =
                    !self.white && at.settled && by_chance && !last && at.leave_to_chance(chance, rows)?;
                changed |= self.auto && at.one_width.is_none() && at.choose_widths(candidates);
                if changed && !last {
                    continue;
                }
                if !last && at.kick(&forces, &step, self.alpha, rows.n()) {
                    continue;
                }
            }
            let done = step.residual <= self.tol;
            if self.auto
                && looking
                && !last
                && k <= FEW
                && (done || (!self.white && (sweep == EARLY || sweep == LAST_LOOK)))
                && at.turn_pairs(&forces, rows, !done, run)?
            {
                continue;
            }
            if last || (done && looking) {
                let outcome = match (done, out_of_time) {
                    (true, _) => Outcome::Converged,
                    (false, true) => Outcome::Time,
                    (false, false) => Outcome::MaxIter,
                };
                return Ok(at.solved(forces, &step, outcome));
            }
            // As far as rounding allows.
            let rounded = step.residual <= ROUNDING * T::DTYPE.eps();
            if !done && stalled(&at.history, if rounded { PATIENCE_AT_REST } else { PATIENCE }) {
                // One more sweep says what was reached.
                at.giving_up = true;
            }
            at.resting = done || at.giving_up;
            if at.giving_up && looking {
                let outcome = if rounded { Outcome::Converged } else { Outcome::Stalled };
                return Ok(at.solved(forces, &step, outcome));
            }
            if !at.resting {
                at.step(&step)?;
            }
        }
    }

    fn pass<T: Real>(&self, a: &[f64], looking: bool, rows: &Principal<'_, T>) -> Pass {
        let h = Nonlinearity { a: a.to_vec(), ..self.h.clone() };
        let mut looks = Vec::new();
        if looking {
            looks.push(h.clone());
            looks.extend(CANDIDATES.map(|c| Nonlinearity {
                shape: Shape::Tanh,
                slope: Slope::True,
                a: vec![c],
            }));
        }
        Pass { push: rows.offset().is_some(), ..Pass::new(h, looks) }
    }

    /// Nothing stands out from a Gaussian: what was asked for cannot be found, and the principal axes are what there is.
    fn principal_axes<T: Real>(
        &self,
        rows: &Principal<'_, T>,
        start: Matrix<f64>,
        mut at: State,
        run: &Run<'_>,
    ) -> Result<Solved> {
        at.w = rows.first(start.rows());
        let forces = rows.forces(&at.w, &self.pass(&at.a, true, rows), run)?;
        let step = Step::new(&forces, &at.w, self.alpha, &at.chance);
        let mut solved = at.solved(forces, &step, Outcome::Completed);
        solved.residual = None;
        Ok(solved)
    }
}

/// Whether none of the last `patience` residuals is smaller than the smallest before them, of which there are more than `patience`.
fn stalled(residuals: &[f64], patience: usize) -> bool {
    let smallest = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let n = residuals.len();
    n > 2 * patience && smallest(&residuals[n - patience..]) >= smallest(&residuals[..n - patience])
}

/// The candidate that saw more at the start than any sees now, by the sum of the squares of `t`, and by more than chance.
fn better(begun: &[Look], now: &[Look]) -> Option<f64> {
    let sum = |look: &Look| look.t.iter().map(|t| t.max(0.0).powi(2)).sum::<f64>();
    let left = now.iter().map(sum).fold(0.0, f64::max);
    let each = begun.iter().zip(CANDIDATES).map(|(look, a)| (sum(look), a));
    let (most, a) = each.fold((0.0, 0.0), |m, (sum, a)| if sum > m.0 { (sum, a) } else { m });
    let k = begun.first().map_or(0, |look| look.t.len()) as f64;
    (stand_out(begun) && most > left + CERTAIN * (2.0 * k).sqrt()).then_some(a)
}

/// Where the iteration is.
struct State {
    alpha: f64,
    w: Matrix<f64>,
    a: Vec<f64>,
    n_iter: u64,
    /// The residual was small at the last sweep: this one looks closely.
    resting: bool,
    giving_up: bool,
    /// What the candidates saw at the start.
    begun: Vec<Look>,
    /// Something stood out from a Gaussian at the start.
    hopeful: bool,
    /// A width for all components finds directions in which other rows are no Gaussians.
    held_out: bool,
    /// The sweep at which a search by that width began, until it has settled.
    one_width: Option<u64>,
    /// What all components together showed at the last look, and whether it was no more than at the one before.
    evidence: f64,
    settled: bool,
    /// Extrapolation of the steps.
    momentum: Momentum,
    /// Components that cannot be told from Gaussian ones.
    chance: Vec<bool>,
    /// How often it was decided which these are.
    renewals: u32,
    /// Changes of `a` at rest.
    changes: Vec<u32>,
    /// Kicks of each pair.
    kicks: Vec<u32>,
    /// Pairs that were looked at turned, and how often some were left so.
    tried: Vec<bool>,
    turns: u32,
    history: Vec<f64>,
}

/// Rows for each coordinate, below which a search finds directions of single rows that look as little Gaussian as any source, and
/// which of them is chance: nothing but variance is to be seen there.
const FEW_ROWS: f64 = 4.0;

/// Changes of one component's `a` at rest; one that goes to and fro is undecided and stays.
pub(super) const MOST_CHANGES: u32 = 3;
/// How far a pair is turned, in rad: half the way from a saddle to the solution, where variances are equal.
pub(super) const KICK: f64 = 0.4;
/// Kicks of one pair.
pub(super) const MOST_KICKS: u32 = 5;
/// Pairs are looked at turned where components are no more than this. Among many there are many pairs whose variances are close, and on
/// photographs (32 components) turns on the way lead astray: two samples agreed by .921 in the place of .950.
const FEW: usize = 16;
/// Sweeps after which pairs in danger are looked at turned; one of those after which components are looked at anyway.
const EARLY: u64 = 5;
/// Sweeps without a smaller residual after which nothing more is expected. The way past a saddle takes many: the residual is small
/// there, and larger for as long as the saddle takes to leave (on photographs 80 sweeps and more).
const PATIENCE: usize = 250;
/// The same where the residual is next to rounding errors.
const PATIENCE_AT_REST: usize = 50;
/// Residuals up to so many times the rounding error of a number may be rounding errors of the sums (measured in single precision on
/// patches of photographs: half of one).
const ROUNDING: f64 = 16.0;

impl State {
    fn new(how: &Polar, start: &Matrix<f64>) -> Self {
        let k = start.rows();
        let a = if how.h.a.len() == 1 { vec![how.h.a[0]; k] } else { how.h.a.clone() };
        Self {
            alpha: how.alpha,
            w: start.clone(),
            a,
            n_iter: 0,
            resting: false,
            giving_up: false,
            begun: Vec::new(),
            hopeful: false,
            held_out: false,
            one_width: None,
            evidence: 0.0,
            settled: false,
            momentum: Momentum::default(),
            chance: vec![false; k],
            renewals: 0,
            changes: vec![0; k],
            kicks: vec![0; k * k],
            tried: vec![false; k * k],
            turns: 0,
            history: Vec::new(),
        }
    }

    /// Begins anew with `a` for all components. Of many sources of one kind some components choose the other kind's width at first, and where
    /// few rows tell sources from Gaussian ones they hold the others up.
    fn begin_with(&mut self, a: f64, start: &Matrix<f64>) {
        (self.w, self.one_width) = (start.clone(), Some(self.n_iter));
        self.a.fill(a);
        (self.hopeful, self.held_out) = (true, true);
        (self.evidence, self.settled, self.giving_up) = (0.0, false, false);
        self.moved(true);
    }

    /// Whether some component got another `a`.
    fn choose_widths(&mut self, candidates: &[Look]) -> bool {
        let mut changed = false;
        for (j, a) in choose(candidates, self.a.len()).into_iter().enumerate() {
            if a != self.a[j] && self.changes[j] < MOST_CHANGES && !self.chance[j] {
                self.changes[j] += u32::from(self.resting);
                self.a[j] = a;
                changed = true;
            }
        }
        self.moved(changed);
        changed
    }

    /// After the last of the fixed looks the search goes on while components still become less Gaussian, by more than chance in
    /// one of them and than a twentieth: sources that lie deep in a mixture of many are found late.
    fn settle(&mut self, candidates: &[Look], sweep: u64) {
        let now = evidence(candidates);
        let undecided = (0..self.a.len()).any(|j| !is_certain(candidates, j));
        let no_more = now <= 1.05 * self.evidence + CERTAIN * CERTAIN;
        let begun = self.one_width.map_or(0, |begun| begun + LAST_LOOK);
        self.settled |= sweep >= begun + LAST_LOOK && (!undecided || no_more);
        self.evidence = now;
    }

    /// The next polar step, extrapolated once the search is past its first sweeps.
    fn step(&mut self, step: &Step) -> Result<()> {
        let next = factor::polar_rows(&step.h)?;
        self.w = if self.n_iter <= LAST_LOOK { next } else { self.momentum.extrapolated(&self.w, next)? };
        Ok(())
    }

    /// Something other than a step changed the components or their widths: neither rest nor direction holds.
    fn moved(&mut self, moved: bool) {
        if moved {
            self.resting = false;
            self.momentum = Momentum::default();
        }
    }

    /// Gives components that cannot be told from Gaussian ones their principal axes, in the space that they span; whether they
    /// are others than before.
    fn leave_to_chance<T: Real>(&mut self, chance: Vec<bool>, rows: &Principal<'_, T>) -> Result<bool> {
        if chance == self.chance || self.renewals == MOST_CHANGES {
            return Ok(false);
        }
        self.renewals += 1;
        self.moved(true);
        self.chance = chance;
        let which: Vec<usize> = (0..self.chance.len()).filter(|&j| self.chance[j]).collect();
        let part = Matrix::from_fn(which.len(), self.w.cols(), |i, c| self.w[(which[i], c)]);
        if which.len() > 1 {
            let (_, turn) = factor::eigh(&rows.covariance(&part))?;
            let turned = factor::multiply(&turn, &part);
            for (i, &j) in which.iter().enumerate() {
                self.w.row_mut(j).copy_from_slice(turned.row(i));
            }
        }
        Ok(true)
    }

    /// Turns pairs that are near a saddle, the steepest first, on in the direction in which they move; whether there were any.
    fn kick(&mut self, forces: &Forces, step: &Step, alpha: f64, n: f64) -> bool {
        let (k, f) = (forces.sigma.len(), &step.f);
        let mut needy = Vec::new();
        for i in 0..k {
            for j in 0..i {
                let (l, error) = curvature(&forces.sigma, &forces.looks[0], &forces.bend, alpha, i, j);
                let angle = (f[(j, i)] - f[(i, j)]).atan2(f[(i, i)] + f[(j, j)]);
                let still = angle.abs() < KICK / 4.0 && self.kicks[i * k + j] < MOST_KICKS;
                // Only where variances cannot be told apart: elsewhere the solution may lie nearer than the turn is long. On photographs
                // neighbouring variances are close but not equal, and turns among them lead astray.
                let tied = tied(forces.sigma[i], forces.sigma[j], n);
                if l < -CERTAIN * error && still && tied {
                    needy.push((l, i, j, angle));
                }
            }
        }
        needy.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut turned = vec![false; k];
        for (_, i, j, angle) in needy {
            if turned[i] || turned[j] {
                continue;
            }
            (turned[i], turned[j]) = (true, true);
            self.kicks[i * k + j] += 1;
            let (sin, cos) = KICK.copysign(angle).sin_cos();
            for c in 0..self.w.cols() {
                let (x, y) = (self.w[(i, c)], self.w[(j, c)]);
                (self.w[(i, c)], self.w[(j, c)]) = (cos * x + sin * y, cos * y - sin * x);
            }
        }
        let any = turned.contains(&true);
        self.moved(any);
        any
    }

    /// Turns pairs by an eighth of a circle where the data are for it; whether there were any.
    fn turn_pairs<T: Real>(
        &mut self,
        forces: &Forces,
        rows: &Principal<'_, T>,
        early: bool,
        run: &Run<'_>,
    ) -> Result<bool> {
        if self.turns as usize > self.a.len() {
            return Ok(false);
        }
        let looks = &forces.looks[1..];
        let Turned { sweeps, better } =
            turned(rows, &self.w, &forces.sigma, &self.a, looks, &mut self.tried, early, run)?;
        self.n_iter += sweeps;
        if early {
            self.tried.fill(false);
        }
        let Some((w, a)) = better else { return Ok(false) };
        (self.w, self.a) = (w, a);
        self.turns += 1;
        self.moved(true);
        Ok(true)
    }

    fn solved(self, forces: Forces, step: &Step, outcome: Outcome) -> Solved {
        let mut looks = forces.looks.into_iter();
        let own = looks.next().unwrap_or_default();
        let candidates: Vec<Look> = looks.collect();
        Solved {
            better: better(&self.begun, &candidates),
            w: self.w,
            solver: "gpm",
            alpha: self.alpha,
            sigma: forces.sigma,
            a: self.a,
            own,
            candidates,
            outcome,
            n_iter: self.n_iter,
            residual: Some(step.residual),
            column_residual: step.column,
            history: self.history,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_stalled_where_no_residual_of_the_last_ones_is_smaller_than_before() {
        let falling: Vec<f64> = (0..40).map(|i| 0.9f64.powi(i)).collect();
        let with = |more: &[f64]| [&falling[..], more].concat();
        let least = falling[39];
        assert!(!stalled(&falling, 10), "it still falls");
        assert!(stalled(&with(&[least; 10]), 10), "ten that are no smaller");
        assert!(!stalled(&with(&[least; 9]), 10), "nine of them are not ten");
        // The way past a saddle: larger for a while, then smaller than ever.
        assert!(!stalled(&with(&[[2.0 * least; 9].as_slice(), &[0.9 * least]].concat()), 10));
        assert!(!stalled(&[1.0; 20], 10) && stalled(&[1.0; 21], 10), "as many before as after, and one");
    }
}
