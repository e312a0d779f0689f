//! State of the deterministic solver: components, their widths, and the rotations tried so far.

use super::super::auto::{CERTAIN, LAST_LOOK, choose, evidence, is_certain};
use super::super::pairs::curvature;
use super::super::separation::{PassMeans, Separation};
use super::super::start::Principal;
use super::super::turned::{RotatedPairs, tied, turned};
use super::momentum::Momentum;
use super::step::Step;
use super::{FixedPoint, GpmOptions, better};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// Maximum number of changes of one component's `a` at convergence, so that an oscillating choice ends.
pub(in crate::neural) const MOST_CHANGES: u32 = 3;
/// How far a pair is rotated, in rad: half the way from a saddle to the solution, where variances are equal.
pub(in crate::neural) const KICK: f64 = 0.4;
/// Maximum number of rotations of one pair.
pub(in crate::neural) const MOST_KICKS: u32 = 5;
/// State of the iteration.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) alpha: f64,
    pub(super) w: Matrix<f64>,
    pub(super) a: Vec<f64>,
    pub(super) n_iter: u64,
    /// The residual was small at the last sweep: this one makes a detailed check.
    pub(super) resting: bool,
    pub(super) stopped_early: bool,
    /// What the candidates saw at the start.
    pub(super) begun: Vec<Separation>,
    /// Whether some component was significantly non-Gaussian at the start.
    pub(super) hopeful: bool,
    /// A width for all components finds directions in which other rows are no Gaussians.
    pub(super) held_out: bool,
    /// The sweep at which a search by that width began, until it has settled.
    pub(super) one_width: Option<u64>,
    /// What all components together showed at the last check, and whether it was no more than at the one before.
    pub(super) evidence: f64,
    pub(super) settled: bool,
    /// Extrapolation of the steps.
    pub(super) momentum: Momentum,
    /// Components that cannot be distinguished from Gaussian ones.
    pub(super) chance: Vec<bool>,
    /// How often it was decided which these are.
    pub(super) renewals: u32,
    /// Changes of `a` at convergence.
    pub(super) changes: Vec<u32>,
    /// Kicks of each pair.
    pub(super) kicks: Vec<u32>,
    /// Pairs that were examined in rotated form, and how often some were left so.
    pub(super) tried: Vec<bool>,
    pub(super) turns: u32,
    pub(super) history: Vec<f64>,
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
            sweeps: 0,
        }
    }

    /// Restarts with the same `a` for all components. With many sources of one kind some components choose
    /// the other width at first, and with few rows these slow down the others.
    pub(super) fn restart_with(&mut self, a: f64, start: &Matrix<f64>) {
        (self.w, self.one_width) = (start.clone(), Some(self.n_iter));
        self.a.fill(a);
        (self.hopeful, self.held_out) = (true, true);
        (self.evidence, self.settled, self.stopped_early) = (0.0, false, false);
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

    /// After the last of the fixed checks the search continues while components still become less Gaussian, significantly in one of
    /// them and than a twentieth: sources that lie deep in a mixture of many are found late.
    pub(super) fn settle(&mut self, candidates: &[Separation], sweep: u64) {
        let now = evidence(candidates);
        let undecided = (0..self.a.len()).any(|j| !is_certain(candidates, j));
        let no_more = now <= 1.05 * self.evidence + CERTAIN * CERTAIN;
        let begun = self.one_width.map_or(0, |begun| begun + LAST_LOOK);
        self.settled |= sweep >= begun + LAST_LOOK && (!undecided || no_more);
        self.evidence = now;
    }

    /// The next polar step, extrapolated once the search is past its first sweeps.
    pub(super) fn step(&mut self, step: &Step) -> Result<()> {
        let next = factor::polar_rows(&step.h)?;
        self.w = if self.n_iter <= LAST_LOOK { next } else { self.momentum.extrapolated(&self.w, next)? };
        Ok(())
    }

    /// Something other than a step changed the components or their widths: neither the residual nor the direction holds.
    pub(super) fn moved(&mut self, moved: bool) {
        if moved {
            self.resting = false;
            self.momentum = Momentum::default();
        }
    }

    /// Gives components that cannot be distinguished from Gaussian ones their principal axes, in the space that they span; whether
    /// they
    /// have changed.
    pub(super) fn rotate_gaussian_to_principal_axes<T: Real>(
        &mut self,
        chance: Vec<bool>,
        rows: &Principal<'_, T>,
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
            let (_, turn) = factor::eigh(&rows.covariance(&part))?;
            let turned = factor::multiply(&turn, &part);
            for (i, &j) in which.iter().enumerate() {
                self.w.row_mut(j).copy_from_slice(turned.row(i));
            }
        }
        Ok(true)
    }

    /// Rotates pairs that are near a saddle, the steepest first, on in the direction in which they move; whether there were any.
    pub(super) fn kick(&mut self, means: &PassMeans, step: &Step, alpha: f64, n: f64) -> bool {
        let (k, f) = (means.sigma.len(), &step.f);
        let mut needy = Vec::new();
        for i in 0..k {
            for j in 0..i {
                let (l, error) = curvature(&means.sigma, &means.separations[0], &means.bend, alpha, i, j);
                let angle = (f[(j, i)] - f[(i, j)]).atan2(f[(i, i)] + f[(j, j)]);
                let still = angle.abs() < KICK / 4.0 && self.kicks[i * k + j] < MOST_KICKS;
                // Only where variances cannot be distinguished: elsewhere the solution may lie nearer than the rotation is long. On
                // photographs neighbouring variances are close but not equal, and rotations among them lead
                // to worse solutions.
                let tied = tied(means.sigma[i], means.sigma[j], n);
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

    /// Rotates pairs by an eighth of a circle where this makes the codes significantly less Gaussian; whether there were any.
    pub(super) fn rotate_pairs<T: Real>(
        &mut self,
        means: &PassMeans,
        rows: &Principal<'_, T>,
        early: bool,
        run: &Run<'_>,
    ) -> Result<bool> {
        if self.turns as usize > self.a.len() {
            return Ok(false);
        }
        let separations = &means.separations[1..];
        let RotatedPairs { sweeps, better } =
            turned(rows, &self.w, &means.sigma, &self.a, separations, &mut self.tried, early, run)?;
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
