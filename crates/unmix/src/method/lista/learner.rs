//! The network as a learner, optionally with a monotone loss on fixed rows.
//!
//! *Units.* Gradients are divided by the loss at the beginning of a stage and multiplied by the unit of their parameter, and rates are in
//! that unit, so that the result does not depend on the units of rows and atoms. The norm of the gradient of all parameters together is
//! then clipped to 1.
//!
//! *Monotone.* After every stage, and after every 100 steps within one, the loss of the fixed rows is computed. If it is above the smallest
//! so far, the parameters of the smallest are restored and the rate is halved; the stage ends after 5 restorations.

use super::gradient::{Gradient, Target};
use super::net::{Net, Params, Problem};
use super::settings::LayerType;
use super::stages::Stage;
use crate::data::Batch;
use crate::error::{Error, Result};
use crate::learn::{Learner, Updates};
use crate::num::Real;
use serde::{Deserialize, Serialize};

/// Steps between two evaluations on the fixed rows.
const STEPS_BETWEEN_EVALUATIONS: u64 = 100;
/// A mean loss of a batch above this multiple of that of the first batch of its stage counts as divergence.
const DIVERGED_LOSS_RATIO: f64 = 1e8;
/// Number of restorations after which a stage ends.
const MOST_RESTORATIONS: u32 = 5;

/// Rows with their codes, if these are known.
#[derive(Clone, Copy)]
pub(super) struct Sample<'t, T> {
    pub(super) x: &'t [T],
    pub(super) target: Target<'t, T>,
}

/// The learner.
pub(super) struct Training<'t, T: Real> {
    pub(super) problem: &'t Problem<T>,
    pub(super) stages: Vec<Stage>,
    /// Learning rates of matrices, and of steps and thresholds, in their units.
    pub(super) rates: [f64; 2],
    pub(super) units: Units,
    /// Known codes of all rows.
    pub(super) codes: Option<&'t [T]>,
    /// The fixed rows on which the loss is monotone, if requested.
    pub(super) fixed: Option<Sample<'t, T>>,
    pub(super) n_fixed: usize,
    gradient: Gradient,
    targets: Vec<T>,
}

/// Units of every kind of parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    pub(super) weights: f64,
    pub(super) steps: f64,
    pub(super) thresholds: f64,
}

/// State of the training.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) struct TrainingState<T: Real> {
    pub(super) params: Params<T>,
    /// The best parameters of this stage, and their loss.
    best: (Params<T>, f64),
    /// The loss before the new layer was added.
    without: f64,
    stage: usize,
    step: u64,
    /// Factor of the learning rate: 1 divided by 2 for each restoration.
    share: f64,
    halvings: u32,
    /// Loss of the first batch of the stage.
    scale: f64,
    /// The accepted losses, a non-increasing sequence.
    pub(super) accepted: Vec<f64>,
    /// Whether the stage has begun.
    begun: bool,
    /// Whether the moments of the optimiser are reset before the next step.
    forget: bool,
}

impl<T: Real> TrainingState<T> {
    pub(super) fn new(params: Params<T>) -> Self {
        Self {
            best: (params.clone(), f64::INFINITY),
            params,
            without: f64::INFINITY,
            stage: 0,
            step: 0,
            share: 1.0,
            halvings: 0,
            scale: 0.0,
            accepted: Vec::new(),
            begun: false,
            forget: true,
        }
    }
}

impl<'t, T: Real> Training<'t, T> {
    pub(super) fn new(
        problem: &'t Problem<T>,
        stages: Vec<Stage>,
        rates: [f64; 2],
        units: Units,
        codes: Option<&'t [T]>,
        fixed: Sample<'t, T>,
        monotone: bool,
    ) -> Self {
        Self {
            problem,
            stages,
            rates,
            units,
            codes,
            n_fixed: fixed.x.len() / problem.p,
            fixed: monotone.then_some(fixed),
            gradient: Gradient::default(),
            targets: Vec::new(),
        }
    }

    /// Mean loss of the fixed rows after `depth` layers; infinite instead of NaN.
    pub(super) fn loss(&self, params: &Params<T>, depth: usize) -> f64 {
        let Some(fixed) = self.fixed else { return f64::INFINITY };
        let across = params.across(self.problem);
        let net = Net { problem: self.problem, params, across: &across };
        let loss = net.loss(fixed.x, fixed.target, depth) / self.n_fixed.max(1) as f64;
        if loss.is_finite() && params.finite() { loss } else { f64::INFINITY }
    }

    fn begin(&self, state: &mut TrainingState<T>) {
        let stage = self.stages[state.stage];
        if stage.new && stage.depth > 1 {
            state.params.copy_layer(stage.depth - 1);
        }
        (state.begun, state.forget, state.step) = (true, true, 0);
        (state.share, state.halvings, state.scale) = (1.0, 0, 0.0);
        if self.fixed.is_some() {
            if stage.new {
                state.without = state.accepted.last().copied().unwrap_or(f64::INFINITY);
            }
            state.best = (state.params.clone(), self.loss(&state.params, stage.depth));
            self.accept(state, state.best.1);
        }
    }

    /// Records an accepted loss, which must not exceed the previous one.
    fn accept(&self, state: &mut TrainingState<T>, loss: f64) {
        if state.accepted.last().is_none_or(|last| loss <= *last) && loss.is_finite() {
            state.accepted.push(loss);
        }
    }

    /// Evaluates the loss of the fixed rows; returns whether the stage continues.
    fn evaluate(&self, state: &mut TrainingState<T>) -> bool {
        let stage = self.stages[state.stage];
        let loss = self.loss(&state.params, stage.depth);
        if loss <= state.best.1 {
            state.best = (state.params.clone(), loss);
            self.accept(state, loss);
            return true;
        }
        state.params = state.best.0.clone();
        state.share *= 0.5;
        state.halvings += 1;
        state.forget = true;
        state.halvings < MOST_RESTORATIONS
    }

    /// At the end of a stage, a new layer whose loss is above that without it is replaced by the identity.
    fn end(&self, state: &mut TrainingState<T>) {
        let stage = self.stages[state.stage];
        if self.fixed.is_some() && stage.new && state.best.1 > state.without {
            state.params.make_identity(stage.depth - 1, self.problem.cell);
        }
        state.stage += 1;
        state.begun = false;
        // Skips stages without steps.
        while let Some(next) = self.stages.get(state.stage).filter(|next| next.len == 0) {
            debug_assert!(next.new);
            self.begin(state);
            if self.fixed.is_some() && state.best.1 > state.without {
                state.params.make_identity(next.depth - 1, self.problem.cell);
            }
            state.stage += 1;
            state.begun = false;
        }
    }

    /// The final parameters with the mean loss of the fixed rows: the last accepted ones, or `start` if these are better. Layers that were
    /// not reached are those of the start, or the identity if that is better.
    pub(super) fn best(&self, state: &TrainingState<T>, start: &Params<T>) -> (Params<T>, f64) {
        if self.fixed.is_none() {
            return (state.params.clone(), f64::INFINITY);
        }
        let mut params = state.params.clone();
        let reached = |stage: &Stage| stage.depth - usize::from(stage.new && !state.begun);
        let depth = self.stages.get(state.stage).map_or(self.problem.n_layers, reached);
        if state.begun {
            params = state.best.0.clone();
            if self.stages[state.stage].new && state.best.1 > state.without {
                params.make_identity(depth - 1, self.problem.cell);
            }
        }
        let cut = (depth < self.problem.n_layers).then(|| {
            let mut cut = params.clone();
            (depth..self.problem.n_layers).for_each(|l| cut.make_identity(l, self.problem.cell));
            cut
        });
        let candidates = [Some(params), cut, Some(start.clone())];
        let losses = candidates.into_iter().flatten().map(|params| {
            let loss = self.loss(&params, self.problem.n_layers);
            (params, loss)
        });
        losses
            .reduce(|best, next| if next.1 < best.1 { next } else { best })
            .unwrap_or((start.clone(), f64::INFINITY))
    }

    /// Collects the known codes of the rows of a batch.
    fn gather(&mut self, batch: &Batch<'_, T>) {
        let (Some(codes), m) = (self.codes, self.problem.m) else { return };
        self.targets.clear();
        for &row in batch.rows {
            self.targets.extend_from_slice(&codes[row as usize * m..(row as usize + 1) * m]);
        }
    }

    /// The gradient in its units, clipped to norm 1.
    fn scaled(&mut self, sum: Gradient, by: f64) {
        let units = self.units;
        let mut g = sum;
        let recurrent_unit = 1.0;
        let parts = [
            (&mut g.recurrent, recurrent_unit),
            (&mut g.steps, units.steps),
            (&mut g.thresholds, units.thresholds),
        ];
        let matrices = g.weights.iter_mut().map(|w| (w, units.weights));
        let mut square = 0.0;
        for (values, unit) in matrices.chain(parts) {
            values.iter_mut().for_each(|g| *g *= by * unit);
            square += values.iter().map(|g| g * g).sum::<f64>();
        }
        let length = square.sqrt();
        if length > 1.0 {
            let all = g.weights.iter_mut().chain([&mut g.recurrent, &mut g.steps, &mut g.thresholds]);
            all.flatten().for_each(|g| *g /= length);
        }
        self.gradient = g;
    }
}

impl<T: Real> Learner<T> for Training<'_, T> {
    type State = TrainingState<T>;

    fn gradient(&mut self, state: &mut TrainingState<T>, batch: &Batch<'_, T>) -> Result<Option<f64>> {
        if !state.begun {
            self.begin(state);
        }
        let stage = self.stages[state.stage];
        self.gather(batch);
        let across = state.params.across(self.problem);
        let net = Net { problem: self.problem, params: &state.params, across: &across };
        let target = if self.codes.is_some() { Target::Codes(&self.targets) } else { Target::Objective };
        let (sum, gradient) = net.gradient(batch.x, target, (stage.from, stage.depth));
        let n = batch.rows.len().max(1) as f64;
        let unbounded =
            !sum.is_finite() || (state.scale > 0.0 && sum / n > DIVERGED_LOSS_RATIO * state.scale);
        if unbounded && self.fixed.is_none() {
            return Err(Error::setting(
                "learning_rate",
                self.rates[0],
                format!("the loss diverged in epoch {}", batch.position.epoch + 1),
                "choose a smaller value, or monotone=true",
            ));
        }
        if state.scale == 0.0 {
            state.scale = (sum / n).max(f64::MIN_POSITIVE);
        }
        self.scaled(gradient, 1.0 / (n * state.scale));
        Ok(sum.is_finite().then_some(sum / n))
    }

    fn parameters(&mut self, state: &mut TrainingState<T>, updates: &mut Updates<'_, T>) {
        let stage = self.stages[state.stage];
        if std::mem::take(&mut state.forget) {
            updates.forget();
        }
        let ([matrices, scalars], units) = (self.rates, self.units);
        let share = stage.share(state.step) * state.share;
        let params = &mut state.params;
        let own = |g: &[f64]| g.iter().map(|g| T::from_f64(*g)).collect::<Vec<T>>();
        for (w, g) in params.weights.iter_mut().zip(&self.gradient.weights).filter(|(_, g)| !g.is_empty()) {
            updates.take_at(share * matrices * units.weights, w, &own(g));
        }
        if !params.recurrent.is_empty() {
            updates.take_at(share * matrices, &mut params.recurrent, &own(&self.gradient.recurrent));
        }
        for (values, gradient, unit) in [
            (&mut params.steps, &self.gradient.steps, units.steps),
            (&mut params.thresholds, &self.gradient.thresholds, units.thresholds),
        ] {
            let from = if values.len() > 1 { stage.from } else { 0 };
            let depth = stage.depth.min(values.len());
            if from < depth {
                updates.take_wide_at(
                    share * scalars * unit,
                    &mut values[from..depth],
                    &gradient[from..depth],
                );
            }
        }
    }

    fn project(&mut self, state: &mut TrainingState<T>) -> Result<()> {
        let positive = |x: &mut f64| *x = x.max(0.0);
        state.params.thresholds.iter_mut().for_each(positive);
        if self.problem.cell == LayerType::Step {
            state.params.steps.iter_mut().for_each(positive);
        }
        let stage = self.stages[state.stage];
        state.step += 1;
        let over = state.step >= stage.len;
        let goes_on = !(self.fixed.is_some()
            && (over || state.step.is_multiple_of(STEPS_BETWEEN_EVALUATIONS)))
            || self.evaluate(state);
        if over || !goes_on {
            self.end(state);
        }
        Ok(())
    }

    fn done(&self, state: &TrainingState<T>) -> bool {
        state.stage >= self.stages.len()
    }
}
