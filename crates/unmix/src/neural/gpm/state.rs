//! State of the deterministic solver: components, their widths, and the rotations tried so far.

use super::super::auto::{LAST_CHECK, SIGNIFICANT_ERRORS, choose, evidence, is_significant};
use super::super::pairs::curvature;
use super::super::rotated_pairs::{RotatedPairs, compare_rotated, tied};
use super::super::separation::{PassMeans, Separation};
use super::super::start::Principal;
use super::momentum::Momentum;
use super::step::Step;
use super::tied::axes_of_span;
use super::{FixedPoint, GpmOptions, better};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// Maximum number of changes of one component's `a` at convergence, so that an oscillating choice ends.
pub(in crate::neural) const MOST_CHANGES: u32 = 3;
/// Angle by which a pair is rotated away from a saddle, in rad: half of that from the saddle to the solution, for equal variances.
pub(in crate::neural) const KICK: f64 = 0.4;
/// Maximum number of rotations of one pair.
pub(in crate::neural) const MOST_KICKS: u32 = 5;
/// Maximum number of times that steps are halved.
const MOST_HALVINGS: u32 = 3;

/// State of the iteration.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) alpha: f64,
    pub(super) w: Matrix<f64>,
    pub(super) a: Vec<f64>,
    pub(super) n_iter: u64,
    /// Whether the residual was small at the last sweep, so that this one makes a detailed check.
    pub(super) resting: bool,
    /// Whether the iteration has stalled: the next sweep is the last one, for the final residual.
    pub(super) stopped_early: bool,
    /// Statistics under the candidates at the start.
    pub(super) begun: Vec<Separation>,
    /// Whether the components at the start were jointly non-Gaussian, or components are non-Gaussian on held-out rows.
    pub(super) hopeful: bool,
    /// Whether components found with one width for all are jointly non-Gaussian on held-out rows.
    pub(super) held_out: bool,
    /// Whether the search has been compared with those with one width for all.
    pub(super) compared: bool,
    /// The sweep at which the search with one width began, until it has settled.
    pub(super) one_width: Option<u64>,
    /// Joint evidence against Gaussianity at the last check.
    pub(super) evidence: f64,
    /// Whether the evidence has stopped increasing, so that there are no more checks after the fixed ones.
    pub(super) settled: bool,
    /// Extrapolation of the steps.
    pub(super) momentum: Momentum,
    /// Number of times that steps have been halved, because the residual no longer decreased.
    pub(super) halvings: u32,
    /// Components that cannot be distinguished from Gaussian ones.
    pub(super) chance: Vec<bool>,
    /// Number of times that `chance` has changed.
    pub(super) renewals: u32,
    /// Number of changes of `a` of each component at convergence.
    pub(super) changes: Vec<u32>,
    /// Number of rotations of each pair away from a saddle, `k x k`.
    pub(super) kicks: Vec<u32>,
    /// Pairs that were examined in rotated form, `k x k`.
    pub(super) tried: Vec<bool>,
    /// Number of times that rotated pairs were accepted.
    pub(super) n_rotations: u32,
    /// The residual after each iteration.
    pub(super) history: Vec<f64>,
    /// Number of residuals before the last change of components or widths by something other than a step: those after it alone
    /// show whether the iteration has stalled.
    pub(super) changed_at: usize,
    /// Full passes over the data.
    pub(super) sweeps: u64,
}

impl State {
    pub(super) fn new(how: &GpmOptions, start: &Matrix<f64>) -> Self {
        let k = start.rows();
        let a = if how.h.a.len() == 1 { vec![how.h.a[0]; k] } else { how.h.a.clone() };
        Self {
            alpha: how.alpha,
            w: start.clone(),
            a,
            n_iter: 0,
            resting: false,
            stopped_early: false,
            begun: Vec::new(),
            hopeful: false,
            held_out: false,
            compared: false,
            one_width: None,
            evidence: 0.0,
            settled: false,
            momentum: Momentum::default(),
            halvings: 0,
            chance: vec![false; k],
            renewals: 0,
            changes: vec![0; k],
            kicks: vec![0; k * k],
            tried: vec![false; k * k],
            n_rotations: 0,
            history: Vec::new(),
            changed_at: 0,
            sweeps: 0,
        }
    }

    /// Restarts with the same `a` for all components. With many sources of one kind the other width may be chosen for some components at
    /// first, and with few rows these slow down the others.
    pub(super) fn restart_with(&mut self, a: f64, start: &Matrix<f64>) {
        (self.hopeful, self.held_out) = (true, true);
        self.restart_at(a, start.clone());
    }

    /// Continues from the components `w`, with the same `a` for all until the search has settled.
    pub(super) fn restart_at(&mut self, a: f64, w: Matrix<f64>) {
        (self.w, self.one_width) = (w, Some(self.n_iter));
        self.a.fill(a);
        (self.evidence, self.settled) = (0.0, false);
        self.moved(true);
    }

    /// Whether some component got another `a`.
    pub(super) fn choose_widths(&mut self, candidates: &[Separation]) -> bool {
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

    /// Records the evidence of a check, and whether the search has settled: after the fixed checks it continues while some component is not
    /// significantly non-Gaussian and the evidence increases significantly, by more than 5 %, because a search among many sources finds some
    /// of them late.
    pub(super) fn record_evidence(&mut self, candidates: &[Separation], sweep: u64) {
        let now = evidence(candidates);
        let undecided = (0..self.a.len()).any(|j| !is_significant(candidates, j));
        let no_more = now <= 1.05 * self.evidence + SIGNIFICANT_ERRORS * SIGNIFICANT_ERRORS;
        let begun = self.one_width.map_or(0, |begun| begun + LAST_CHECK);
        self.settled |= sweep >= begun + LAST_CHECK && (!undecided || no_more);
        self.evidence = now;
    }

    /// The next polar step, or a part of it, extrapolated once the search is past its first sweeps.
    pub(super) fn step(&mut self, step: &Step) -> Result<()> {
        let mut next = factor::polar_rows(&step.h)?;
        if self.halvings > 0 {
            let share = 0.5f64.powi(self.halvings as i32);
            let w = &self.w;
            let between =
                Matrix::from_fn(w.rows(), w.cols(), |i, c| share * next[(i, c)] + (1.0 - share) * w[(i, c)]);
            next = factor::polar_rows(&between)?;
        }
        self.w = if self.n_iter <= LAST_CHECK { next } else { self.momentum.extrapolated(&self.w, next)? };
        Ok(())
    }

    /// Halves the steps and begins a new window of residuals; returns whether they may still be halved.
    pub(super) fn halve_steps(&mut self) -> bool {
        if self.halvings == MOST_HALVINGS {
            return false;
        }
        self.halvings += 1;
        self.changed_at = self.history.len();
        self.momentum = Momentum::default();
        true
    }

    /// If components or widths were changed by something other than a step: discards the extrapolation and the small residual, and the
    /// search for a smaller one begins again.
    pub(super) fn moved(&mut self, moved: bool) {
        if moved {
            (self.resting, self.stopped_early) = (false, false);
            self.changed_at = self.history.len();
            self.momentum = Momentum::default();
        }
    }

    /// Rotates components that cannot be distinguished from Gaussian ones to the principal axes of the subspace that they span, unless the rows
    /// are few and variances equal. Returns whether the set of these components has changed.
    pub(super) fn rotate_gaussian_to_principal_axes<T: Real>(
        &mut self,
        chance: Vec<bool>,
        rows: &Principal<'_, T>,
        run: &Run<'_>,
    ) -> Result<bool> {
        if chance == self.chance || self.renewals == MOST_CHANGES {
            return Ok(false);
        }
        self.renewals += 1;
        self.moved(true);
        self.chance = chance;
        let which: Vec<usize> = (0..self.chance.len()).filter(|&j| self.chance[j]).collect();
        let part = Matrix::from_fn(which.len(), self.w.cols(), |i, c| self.w[(which[i], c)]);
        if which.len() > 1 {
            let axes = axes_of_span(rows, &part, run)?;
            for (i, &j) in which.iter().enumerate() {
                self.w.row_mut(j).copy_from_slice(axes.row(i));
            }
        }
        Ok(true)
    }

    /// Rotates pairs that are near a saddle, the most negative curvature first, in the direction in which they move. Returns whether there
    /// were any.
    pub(super) fn rotate_near_saddles(&mut self, means: &PassMeans, step: &Step, alpha: f64, n: f64) -> bool {
        let (k, f) = (means.sigma.len(), &step.f);
        let mut saddles = Vec::new();
        for i in 0..k {
            for j in 0..i {
                let (l, error) =
                    curvature(&means.sigma, &means.separations[0], &means.pair_slope, alpha, i, j);
                let angle = (f[(j, i)] - f[(i, j)]).atan2(f[(i, i)] + f[(j, j)]);
                let still = angle.abs() < KICK / 4.0 && self.kicks[i * k + j] < MOST_KICKS;
                // Only if variances cannot be distinguished: otherwise the solution may be closer than the angle of the
                // rotation. On photographs neighbouring variances are close but not equal, and rotations among them
                // lead to worse solutions.
                let tied = tied(means.sigma[i], means.sigma[j], n);
                if l < -SIGNIFICANT_ERRORS * error && still && tied {
                    saddles.push((l, i, j, angle));
                }
            }
        }
        saddles.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut rotated = vec![false; k];
        for (_, i, j, angle) in saddles {
            if rotated[i] || rotated[j] {
                continue;
            }
            (rotated[i], rotated[j]) = (true, true);
            self.kicks[i * k + j] += 1;
            let (sin, cos) = KICK.copysign(angle).sin_cos();
            for c in 0..self.w.cols() {
                let (x, y) = (self.w[(i, c)], self.w[(j, c)]);
                (self.w[(i, c)], self.w[(j, c)]) = (cos * x + sin * y, cos * y - sin * x);
            }
        }
        let any = rotated.contains(&true);
        self.moved(any);
        any
    }

    /// Rotates pairs by 45 degrees if this makes the codes significantly less Gaussian. Returns whether there were any.
    pub(super) fn rotate_pairs<T: Real>(
        &mut self,
        means: &PassMeans,
        rows: &Principal<'_, T>,
        early: bool,
        run: &Run<'_>,
    ) -> Result<bool> {
        if self.n_rotations as usize > self.a.len() {
            return Ok(false);
        }
        let separations = &means.separations[1..];
        let RotatedPairs { sweeps, better } =
            compare_rotated(rows, &self.w, &means.sigma, &self.a, separations, &mut self.tried, early, run)?;
        self.n_iter += sweeps;
        if early {
            self.tried.fill(false);
        }
        let Some((w, a)) = better else { return Ok(false) };
        (self.w, self.a) = (w, a);
        self.n_rotations += 1;
        self.moved(true);
        Ok(true)
    }

    /// The result at the current components.
    pub(super) fn solved(self, means: PassMeans, step: &Step, outcome: Outcome) -> FixedPoint {
        let mut separations = means.separations.into_iter();
        let own = separations.next().unwrap_or_default();
        let candidates: Vec<Separation> = separations.collect();
        FixedPoint {
            better: better(&self.begun, &candidates),
            w: self.w,
            solver: "gpm",
            alpha: self.alpha,
            sigma: means.sigma,
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
