//! Fine-tuning: a hidden layer that was learned without labels, or a random one, is trained together with an output layer for classes.

use super::classifier::{Classifier, ClassifierLearner, ClassifierTraining};
use super::classify::ClassifierWeights;
use super::denoise::{Corruption, Noise};
use crate::data::{Batches, Rows};
use crate::error::{Error, Result, counted};
use crate::learn::{Optimiser, Schedule, Trainer, TrainerState};
use crate::model::Outcome;
use crate::num::Real;
use crate::run::Run;

/// Settings of fine-tuning, by stochastic gradient descent without momentum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FineTuning {
    /// Learning rate.
    pub learning_rate: f64,
    /// Probability that an entry of a row is replaced by 0 in training.
    pub masking: f64,
    /// Number of rows of a batch.
    pub batch_size: usize,
    /// Maximum number of epochs.
    pub max_epochs: u64,
    /// Number of epochs without fewer errors on the validation part after which training ends.
    pub patience: u64,
}

impl Default for FineTuning {
    fn default() -> Self {
        Self { learning_rate: 0.1, masking: 0.0, batch_size: 100, max_epochs: 60, patience: 10 }
    }
}

/// Rows and their labels, which count from 0.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Labelled<'a, T> {
    /// Rows, row-major.
    pub x: &'a [T],
    /// A label for each row.
    pub labels: &'a [u32],
}

impl<'a, T> Labelled<'a, T> {
    /// Rows, row-major, with a label for each.
    pub fn new(x: &'a [T], labels: &'a [u32]) -> Self {
        Self { x, labels }
    }
}

/// Result of fine-tuning.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FineTuned<T: Real> {
    /// The weights after the epoch with the fewest errors on the validation part, the first if several are equal; those of the last epoch
    /// without a validation part.
    pub weights: ClassifierWeights<T>,
    /// How training ended.
    pub outcome: Outcome,
    /// That epoch, from 1.
    pub epoch: u64,
    /// Mean loss of the rows in every epoch.
    pub losses: Vec<f64>,
    /// Error rate on the validation rows after every epoch.
    pub validation: Vec<f64>,
}

impl FineTuning {
    /// Trains `start` on the rows of `train`; `validation` may be empty. Work: `6 n m p` operations an epoch for `n` rows of `p` numbers and
    /// `m` units. The bits do not depend on the number of threads.
    ///
    /// # Errors
    ///
    /// Labels that are not one for each row, or that are not below the number of classes; rows of another width than the weights; a loss
    /// that diverges; interruption.
    pub fn fit<T: Real>(
        &self,
        train: Labelled<'_, T>,
        validation: Labelled<'_, T>,
        start: ClassifierWeights<T>,
        run: &Run<'_>,
    ) -> Result<FineTuned<T>> {
        let classes = start.n_classes();
        for (what, part) in [("training", train), ("validation", validation)] {
            check(what, part, start.n_features(), classes)?;
        }
        let rows = Rows::from_slice(train.x, start.n_features())?;
        let batches = Batches::new(&rows, self.batch_size, run.seed)?;
        let corruption =
            Corruption { noise: Noise::Mask, size: self.masking, seed: run.seed, n_rows: batches.n_rows() };
        let how = ClassifierTraining {
            corruption,
            labels: train.labels,
            validation: (validation.x, validation.labels),
            learning_rate: self.learning_rate,
        };
        let trainer = Trainer {
            // The learner makes plain gradient steps: the optimiser has no state.
            optimiser: Optimiser::Sgd,
            learning_rate: self.learning_rate,
            schedule: Schedule::Constant,
            max_epochs: self.max_epochs,
            patience: Some(self.patience),
        };
        let mut learner = ClassifierLearner::new(how, start.n_features());
        let mut state = TrainerState::new(Classifier::from(start));
        let outcome = rows.pooled(run.threads, || trainer.train(&batches, &mut learner, &mut state, run))?;
        let TrainerState { learner: weights, history: losses, validation, position, .. } = state;
        let least = validation.iter().copied().fold(f64::INFINITY, f64::min);
        let best = validation.iter().position(|error| *error == least).map(|at| at as u64 + 1);
        let weights = weights.into();
        Ok(FineTuned { weights, outcome, epoch: best.unwrap_or(position.epoch), losses, validation })
    }
}

/// Rejects rows and labels of unequal numbers, and those that do not fit a classifier of rows of `p` numbers and of `classes` classes.
fn check<T>(what: &str, part: Labelled<'_, T>, p: usize, classes: usize) -> Result<()> {
    let refused = |found: String, remedy: &str| {
        Err(Error::unsupported(format!("fine-tuning with labels of the {what} rows"), found, remedy))
    };
    if p == 0 {
        return refused("the weights have no columns".into(), "start from a layer of at least one column");
    }
    let (rows, rest) = (part.x.len() / p, part.x.len() % p);
    if rest != 0 {
        return refused(
            format!("{} numbers are not a multiple of the {p} columns of the weights", part.x.len()),
            "give the columns on which the layer was learned",
        );
    }
    if part.labels.len() != rows {
        return refused(
            format!("{} and {}", counted(rows as u64, "row"), counted(part.labels.len() as u64, "label")),
            "give one label for each row",
        );
    }
    match part.labels.iter().position(|label| *label as usize >= classes) {
        Some(row) => refused(
            format!("row {row} has the label {}, and there are {classes} classes", part.labels[row]),
            "number the classes from 0, or choose more classes",
        ),
        None => Ok(()),
    }
}
