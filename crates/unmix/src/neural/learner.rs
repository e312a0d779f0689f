//! A rule as a learner: its weights and its other parameters.

use super::constraint::{divide, lengths, project};
use super::{Constraint, Field, Sigma, Spec, State, Training, TrainingStart};
use crate::data::Batch;
use crate::error::{Error, Result};
use crate::learn::{Learner, Updates};
use crate::num::{Matrix, Real};
use serde::{Deserialize, Serialize};

/// A function of the weights (`p x k`) and the current widths that returns new widths.
pub(super) type Widths<'a> = dyn FnMut(&Matrix<f64>, &[f64]) -> Result<Vec<f64>> + 'a;

/// Parameters of a rule, and its state over the batches so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) struct LearnerState<T: Real> {
    /// Weights, `p x k`, row-major; with weight normalisation the stored ones, of any length.
    w: Vec<T>,
    pub(super) state: State,
    /// Standard deviations along the columns after each epoch.
    pub(super) sigma: Vec<Vec<f64>>,
}

/// A rule, and buffers of one step.
pub(super) struct Rule<'w, 'a, T> {
    spec: Spec,
    k: usize,
    tangent: bool,
    learning_rate: f64,
    field: Field<T>,
    /// Columns normalised to length 1, for weight normalisation.
    unit: Vec<T>,
    g: Vec<T>,
    widths: &'w mut Widths<'a>,
}

/// Lower bounds of learned standard deviations and widths, for rows divided by their size.
const LEAST_SIGMA: f64 = 1e-3;
const LEAST_A: f64 = 1e-2;

impl<'w, 'a, T: Real> Rule<'w, 'a, T> {
    /// The rule for rows divided by `size`, and the initial state of its parameters.
    pub(super) fn new(
        spec: &Spec,
        begin: &TrainingStart,
        how: &Training,
        size: f64,
        widths: &'w mut Widths<'a>,
    ) -> Result<(Self, LearnerState<T>)> {
        let (p, k) = (begin.w.rows(), begin.w.cols());
        let mut state = State::new(spec);
        let mut spec = *spec;
        state.beta_by_variance = how.beta_by_variance.unwrap_or(!how.absolute);
        if !state.beta_by_variance {
            // The reconstruction error is that of rows divided by `size`.
            spec.beta /= size * size;
        }
        state.eps = 1e-3;
        // The published weight of sparsity, the mean length of a row, is too large for the last axes.
        state.length = match how.absolute {
            true => begin.length,
            false => (0.1 * begin.length).min(0.6 * begin.last) / size,
        };
        if spec.sigma == Sigma::Trained && how.absolute {
            state.sigma = vec![1.0; k];
        }
        let w: Vec<T> = begin.w.as_slice().iter().map(|x| T::from_f64(*x)).collect();
        let mut rule = Self {
            spec,
            k,
            tangent: how.tangent,
            learning_rate: how.learning_rate,
            field: Field::new(&spec, p, k),
            unit: if spec.constraint == Constraint::WeightNorm { w.clone() } else { Vec::new() },
            g: vec![T::default(); p * k],
            widths,
        };
        let mut learner = LearnerState { w, state, sigma: Vec::new() };
        rule.choose_widths(&mut learner)?;
        Ok((rule, learner))
    }

    /// The weights that are applied to rows, `p x k`.
    pub(super) fn weights(&self, learner: &LearnerState<T>) -> Matrix<f64> {
        let mut w = learner.w.clone();
        if self.spec.constraint == Constraint::WeightNorm {
            let by = lengths(&w, self.k);
            divide(&mut w, &by);
        }
        Matrix::from_vec(w.len() / self.k, self.k, w.iter().map(|x| x.to_f64()).collect())
    }

    /// The width `a` of each component.
    pub(super) fn widths(&self, learner: &LearnerState<T>) -> Vec<f64> {
        match learner.state.widths.is_empty() {
            true => vec![learner.state.a; self.k],
            false => learner.state.widths.clone(),
        }
    }

    fn choose_widths(&mut self, learner: &mut LearnerState<T>) -> Result<()> {
        let (w, now) = (self.weights(learner), self.widths(learner));
        let chosen = (self.widths)(&w, &now)?;
        if chosen != now {
            learner.state.widths = chosen;
        }
        Ok(())
    }

    /// Refuses parameters that are not finite in the current epoch.
    pub(super) fn check(&self, learner: &LearnerState<T>) -> Result<()> {
        let finite = learner.w.iter().all(|x| x.finite()) && learner.state.sigma.iter().all(|s| s.is_finite());
        if finite {
            return Ok(());
        }
        let why = format!("the weights diverged in epoch {}", learner.sigma.len() + 1);
        Err(Error::setting("learning_rate", self.learning_rate, why, "choose a smaller value"))
    }
}

impl<T: Real> Learner<T> for Rule<'_, '_, T> {
    type State = LearnerState<T>;

    /// Rules are written as half-gradients.
    const TIMES: f64 = 2.0;

    fn gradient(&mut self, learner: &mut LearnerState<T>, batch: &Batch<'_, T>) -> Result<Option<f64>> {
        let constraint = self.spec.constraint;
        let stored = (constraint == Constraint::WeightNorm).then(|| lengths(&learner.w, self.k));
        if let Some(by) = &stored {
            self.unit.copy_from_slice(&learner.w);
            divide(&mut self.unit, by);
        }
        let w = if stored.is_some() { &self.unit } else { &learner.w };
        self.field.half_gradient(batch.x, w, &mut learner.state);
        let orthonormal =
            matches!(constraint, Constraint::Polar | Constraint::GramSchmidt | Constraint::NewtonSchulz);
        if stored.is_some() || (self.tangent && constraint != Constraint::None) {
            self.field.tangent(orthonormal);
        }
        self.field.gradient(batch.x, w, &mut self.g);
        if let Some(by) = &stored {
            divide(&mut self.g, by);
        }
        Ok(None)
    }

    fn parameters(&mut self, learner: &mut LearnerState<T>, updates: &mut Updates<'_, T>) {
        updates.take(&mut learner.w, &self.g);
        let (state, further) = (&mut learner.state, &self.field.further);
        if self.spec.sigma == Sigma::Trained {
            updates.take_wide(&mut state.sigma, &further.sigma);
        }
        if self.spec.train_a {
            updates.take_wide(std::slice::from_mut(&mut state.a), &[further.a]);
        }
    }

    fn project(&mut self, learner: &mut LearnerState<T>) -> Result<()> {
        project(self.spec.constraint, &mut learner.w, self.k)?;
        let state = &mut learner.state;
        if self.spec.sigma == Sigma::Trained {
            state.sigma.iter_mut().for_each(|s| *s = s.max(LEAST_SIGMA));
        }
        if self.spec.train_a {
            state.a = state.a.max(LEAST_A);
        }
        Ok(())
    }

    fn epoch_ended(&mut self, learner: &mut LearnerState<T>) -> Result<()> {
        self.check(learner)?;
        learner.sigma.push(learner.state.sigma.clone());
        self.choose_widths(learner)
    }
}
