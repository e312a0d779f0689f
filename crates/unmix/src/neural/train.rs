//! Training of any rule on mini-batches, as published and as corrected.
//!
//! *Correction.* At the fixed point of a rule with unit columns the gradient has a component along them,
//! which the projection removes; Adam divides the gradient entry by entry, which changes its direction and
//! therefore the fixed point. So the component along the columns is removed before the step (`tangent`, on by
//! default), and the rate decays linearly to 0. Literal settings are `tangent: false`.
//!
//! *Same bits.* Every epoch uses all rows in an order that depends on the seed, the epoch and the shape of the data alone
//! ([`Batches`]), so the result does not depend on threads or on how rows are stored. Rows are streamed and need not fit in memory.

use super::learner::{Rule, Widths};
use super::{Mean, Spec};
use crate::data::{Batches, Rows};
use crate::error::Result;
use crate::learn::{Optimiser, Schedule, Trainer, TrainerState};
use crate::num::random::Stream;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::Decomposition;
use crate::stats::GatherLengths;

/// Options of the training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// The update rule.
    pub optimiser: Optimiser,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Maximum mini-batch size.
    pub batch_size: usize,
    /// Number of epochs.
    pub max_epochs: u64,
    /// Whether the component of the gradient along the columns is removed, for rules that keep columns at unit length.
    pub tangent: bool,
    /// Whether the learning rate decays linearly to 0.
    pub decay: bool,
    /// Whether the rule is applied in the units of the data, as published; otherwise rows are divided by their size first, and the weight
    /// of orthogonality is in units of the mean variance along the columns.
    pub absolute: bool,
    /// Whether the weight of orthogonality is in units of that variance; `None`: unless `absolute`.
    pub beta_by_variance: Option<bool>,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            optimiser: Optimiser::Adam,
            learning_rate: 0.01,
            batch_size: 128,
            max_epochs: 20,
            tangent: true,
            decay: true,
            absolute: false,
            beta_by_variance: None,
        }
    }
}

/// Initial values and statistics of the rows.
#[derive(Clone, Debug)]
pub struct TrainingStart {
    /// Weights, `p x k`.
    pub w: Matrix<f64>,
    /// Mean of the rows.
    pub mean: Vec<f64>,
    /// Divisors of the columns, if any.
    pub units: Option<Vec<f64>>,
    /// Root mean square of the entries of centred rows.
    pub size: f64,
    /// Mean length of a row, for rules that depend on it.
    pub length: f64,
    /// Standard deviation along the last of the principal axes that are learned.
    pub last: f64,
}

impl TrainingStart {
    /// At the first `k` principal axes of the rows, at most as many as the rank.
    ///
    /// # Errors
    ///
    /// Errors of a sweep, for rules that depend on the length of rows.
    pub fn at_axes<T: Real>(
        rows: &Rows<'_, T>,
        found: &Decomposition,
        spec: &Spec,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Self> {
        let (k, p) = (k.min(found.axes.rows()), found.mean.len());
        let share = (found.n - 1.0) / found.n;
        let by_length =
            spec.by_length && [spec.l1, spec.logcosh, spec.skew, spec.nodiag].iter().any(|w| *w != 0.0);
        let length = match by_length {
            true => {
                let (about, units) = (found.mean.clone(), found.noise_scale.clone());
                let sums = rows.sweep(run, "lengths", &GatherLengths { about, units })?;
                sums.sum / sums.n
            }
            false => 1.0,
        };
        Ok(Self {
            w: found.axes.clone().top_rows(k).transposed(),
            mean: found.mean.clone(),
            units: found.noise_scale.clone(),
            size: (found.total * share / p as f64).sqrt(),
            length,
            last: found.values.get(k.max(1) - 1).map_or(1.0, |v| (v * share).max(0.0).sqrt()),
        })
    }

    /// With random orthonormal directions in place of the axes.
    pub fn at_random(mut self, seed: u64) -> Self {
        let (p, k) = (self.w.rows(), self.w.cols());
        let draws = Stream::new(seed, 0x6e70);
        let random = Matrix::from_fn(k, p, |j, i| draws.normal((j * p + i) as u64));
        self.w = factor::orthonormal_rows(&random).transposed();
        self
    }
}

/// The trained parameters.
#[derive(Clone, Debug)]
pub struct Trained {
    /// Weights, `p x k`.
    pub w: Matrix<f64>,
    /// The width `a` of the nonlinearity.
    pub a: f64,
    /// The width of each component.
    pub widths: Vec<f64>,
    /// Standard deviations along the columns, in the units of the data, after each epoch.
    pub sigma: Vec<Vec<f64>>,
    /// Number of steps.
    pub steps: u64,
    /// Number of complete epochs: fewer than requested if the time limit was reached.
    pub epochs: u64,
}

/// Trains the rule `spec` on prepared rows. The time limit is checked after every batch; when it is reached, the current parameters are
/// returned.
///
/// # Errors
///
/// Weights that diverge, errors of the source, interruption.
pub fn train<T: Real>(
    rows: &Rows<'_, T>,
    spec: &Spec,
    begin: &TrainingStart,
    how: &Training,
    run: &Run<'_>,
) -> Result<Trained> {
    train_by_widths(rows, spec, begin, how, &mut |_, now| Ok(now.to_vec()), run)
}

/// [`train`], with a callback `widths`, which gets the weights (`p x k`) and the widths before the first
/// epoch and after each, and returns new widths.
pub(crate) fn train_by_widths<T: Real>(
    rows: &Rows<'_, T>,
    spec: &Spec,
    begin: &TrainingStart,
    how: &Training,
    widths: &mut Widths<'_>,
    run: &Run<'_>,
) -> Result<Trained> {
    let own = how.absolute || spec.own_units;
    let size = if own { 1.0 } else { begin.size.max(f64::MIN_POSITIVE) };
    let mut batches = Batches::new(rows, how.batch_size, run.seed)?;
    if spec.mean != Mean::Kept {
        batches = batches.centred(&begin.mean);
    }
    let batches = batches.divided(size, begin.units.as_deref());
    let (mut rule, learner) = Rule::new(spec, begin, how, size, widths)?;
    let mut state = TrainerState::new(learner);
    let trainer = Trainer {
        optimiser: how.optimiser,
        learning_rate: how.learning_rate,
        schedule: if how.decay { Schedule::Linear } else { Schedule::Constant },
        max_epochs: how.max_epochs,
        patience: None,
    };
    trainer.train(&batches, &mut rule, &mut state, run)?;
    let learner = &mut state.learner;
    rule.check(learner)?;
    if state.position.batch > 0 {
        // The time limit was reached within an epoch.
        learner.sigma.push(learner.state.sigma.clone());
    }
    let in_units = |sigma: &Vec<f64>| sigma.iter().map(|s| s * size).collect();
    Ok(Trained {
        w: rule.weights(learner),
        a: learner.state.a,
        widths: rule.widths(learner),
        sigma: learner.sigma.iter().map(in_units).collect(),
        steps: state.steps,
        epochs: state.position.epoch,
    })
}
