//! The state of learning from a stream of rows, stored as a tensor of the model, from which learning continues with the same bits.
//!
//! Rows are cut into batches of `batch_size` in their order, independent of the sizes of the arrays given, with one step for each; an
//! incomplete batch is kept. Mean and scale are those of the first rows, 1024 or a batch, and are fixed. The learning rate increases over
//! the first 100 steps and is then constant. For actions at the end of an epoch, an epoch is 256 batches. Use and density of the units are
//! those of the last 1024 rows.

mod bytes;

use super::fit::terms_of;
use super::model::{Order, RowsOf, Trained, encoder, parameters_in_units};
use super::start::{Resolved, RowScaling, quoted};
use super::{METHOD, SparseAutoencoder};
use crate::autoencoder::{
    Activation, AutoencoderLearner, AutoencoderState, Parameters, PenaltyControl, Terms, Training, evaluate,
};
use crate::data::{Batch, Features, Position, Rows, no_columns};
use crate::error::{Error, Result, counted};
use crate::learn::{Optimiser, Schedule, Trainer, TrainerState};
use crate::model::{Model, Outcome, Tensors, map_of};
use crate::num::{Dtype, Matrix, Real};
use crate::run::Run;
use bytes::{packed, unpacked};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of the tensor.
const STREAM: &str = "stream";
/// Number of rows from which mean, scale and initial thresholds are estimated, and of those on which use is measured.
const ROWS_FOR_START: usize = 1024;
const RECENT_ROWS: usize = 1024;
/// Number of batches of an epoch.
const BATCHES_PER_EPOCH: u64 = 256;
/// Number of warm-up steps of the learning rate.
const WARM_UP_STEPS: f64 = 100.0;

/// State of a stream.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
struct Stream<T: Real> {
    /// Number of rows, including buffered ones.
    n: u64,
    /// Number of units.
    m: usize,
    activation: Activation,
    /// Seed of the first rows.
    seed: u64,
    begun: Option<StreamState<T>>,
    /// Initial values, until the stream has begun: parameters of a model by name, and atoms.
    start: BTreeMap<String, Vec<f64>>,
    atoms: Option<Vec<f64>>,
    /// Rows of an incomplete batch.
    waiting: Vec<T>,
    /// The last rows that were used in a step.
    recent: Vec<T>,
}

/// State after enough rows have arrived.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
struct StreamState<T: Real> {
    #[serde(rename = "seen")]
    scaling: RowScaling,
    /// Initial thresholds.
    level: f64,
    state: TrainerState<AutoencoderState<T>, T>,
}

/// Whether these tensors hold a stream.
pub(super) fn is_in(tensors: &Tensors) -> bool {
    tensors.contains_key(STREAM)
}

impl SparseAutoencoder {
    /// The model of the rows of `before` followed by these, in order; it does not depend on how rows are divided among calls. After a fit it
    /// continues from the fitted parameters. A run that ends early (`max_seconds`) adds at least the first 1024 rows; `n_samples` of the
    /// report is the number of rows that the model was trained on.
    ///
    /// # Errors
    ///
    /// Another activation or number of units than before; other columns; numbers that are not finite; sparse rows, rows with weights; a
    /// loss that diverges.
    pub fn partial_fit<T: Real>(
        &self,
        before: Option<&Model>,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        METHOD.begin_batch(self, rows)?;
        match before.map_or(T::DTYPE, Model::dtype) {
            Dtype::F32 => self.added::<f32, T>(before, rows, run),
            Dtype::F64 => self.added::<f64, T>(before, rows, run),
        }
    }

    fn added<U: Real, T: Real>(
        &self,
        before: Option<&Model>,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        let mut stream = self.stream::<U, T>(before, rows, run)?;
        let (p, features) = (rows.n_features(), before.map_or(rows.features(), Model::features));
        let mut learner = None;
        let own = |x: T| U::from_f64(x.to_f64());
        let outcome = rows.in_order(
            METHOD.key,
            run,
            |x| own(x).finite(),
            |some| {
                stream.waiting.extend(some.iter().map(|x| own(*x)));
                stream.n += (some.len() / p) as u64;
                rows.pooled(run.threads, || self.advance(&mut stream, &mut learner, p))
            },
        )?;
        drop(learner);
        rows.pooled(run.threads, || self.model_of(&stream, outcome, (p, features), run))
    }

    /// A new stream, or the state of an existing one.
    fn stream<U: Real, T: Real>(
        &self,
        before: Option<&Model>,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<Stream<U>> {
        let p = rows.n_features();
        if p == 0 {
            return Err(no_columns(METHOD.key, rows.origin()));
        }
        if let Some(model) = before {
            if p != model.n_features() {
                return Err(Error::Width {
                    what: "adding to a stream of rows".into(),
                    need: model.n_features(),
                    got: p,
                    remedy: "give the same columns in every batch".into(),
                });
            }
            if let Some(tensor) = model.tensor(STREAM) {
                let bytes = unpacked(tensor).ok_or_else(Error::corrupt_stream)?;
                let stream: Stream<U> = postcard::from_bytes(&bytes).map_err(|_| Error::corrupt_stream())?;
                return self.checked(stream);
            }
        }
        let run = &Run { init: before.map(|model| model as &dyn crate::Start).or(run.init), ..*run };
        let given = self.given_atoms(p, run)?;
        let resolved = self.resolved(p, given.as_ref().map(Matrix::rows))?;
        self.check_size(resolved.m, p, T::DTYPE)?;
        let mut start = BTreeMap::new();
        if let Some(init) = run.init.filter(|init| init.method() == METHOD.key) {
            for name in super::model::NAMES {
                if let Some((_, numbers)) = init.parameter(name) {
                    start.insert(name.to_string(), numbers);
                }
            }
        }
        let atoms = given.map(Matrix::into_vec);
        let activation = self.activation;
        let stream = Stream {
            n: 0,
            m: resolved.m,
            activation,
            seed: run.seed,
            begun: None,
            start,
            atoms,
            waiting: Vec::new(),
            recent: Vec::new(),
        };
        Ok(stream)
    }

    /// Rejects settings that are inconsistent with an existing stream.
    fn checked<U: Real>(&self, stream: Stream<U>) -> Result<Stream<U>> {
        if let Some(m) = self.n_components.filter(|m| *m != stream.m) {
            let why = format!("the model to continue from has {}", counted(stream.m as u64, "unit"));
            return Err(Error::setting(
                "n_components",
                m,
                why,
                format!("choose {}, or leave it out", stream.m),
            ));
        }
        if self.activation != stream.activation {
            let before = quoted(stream.activation);
            let why = format!("the model to continue from has activation={before}");
            return Err(Error::setting(
                "activation",
                quoted(self.activation),
                why,
                format!("choose {before}"),
            ));
        }
        Ok(stream)
    }

    fn sizes<U: Real>(&self, stream: &Stream<U>, p: usize) -> Result<Resolved> {
        Self { n_components: Some(stream.m), ..self.clone() }.resolved(p, None)
    }

    /// Learns from the complete batches.
    fn advance<U: Real>(
        &self,
        stream: &mut Stream<U>,
        learner: &mut Option<AutoencoderLearner<U>>,
        p: usize,
    ) -> Result<()> {
        let size = self.batch_size;
        let mut at = 0;
        loop {
            let rest = stream.waiting.len() / p - at;
            if rest < if stream.begun.is_some() { size } else { size.max(ROWS_FOR_START) } {
                break;
            }
            if stream.begun.is_none() {
                let first = stream.waiting[..size.max(ROWS_FOR_START) * p].to_vec();
                stream.begun = Some(self.begun(stream, &first, p)?);
                (stream.start, stream.atoms) = (BTreeMap::new(), None);
            }
            let batch = stream.waiting[at * p..(at + size) * p].to_vec();
            self.step(stream, learner, &batch, stream.n - rest as u64, p)?;
            at += size;
        }
        stream.waiting.drain(..at * p);
        Ok(())
    }

    /// Mean, scale and initial parameters from the first rows, and from a model given as a start.
    fn begun<U: Real>(&self, stream: &Stream<U>, first: &[U], p: usize) -> Result<StreamState<U>> {
        let n = (first.len() / p) as f64;
        let column = |j: usize| first.iter().skip(j).step_by(p).map(|x| x.to_f64());
        let mean: Vec<f64> = (0..p).map(|j| column(j).sum::<f64>() / n).collect();
        let squares: Vec<f64> = first
            .chunks_exact(p)
            .map(|row| row.iter().zip(&mean).map(|(x, m)| (x.to_f64() - m).powi(2)).sum())
            .collect();
        let total: f64 = squares.iter().sum();
        if !total.is_finite() || !U::from_f64(total).finite() {
            return Err(Error::Overflow { method: METHOD.key.into(), dtype: U::DTYPE.name() });
        }
        let length = squares.iter().map(|s| s.sqrt()).sum::<f64>() / n / (p as f64).sqrt();
        // Rows that differ from their mean by its rounding errors are constant: they have no scale, by which a divergence would be detected.
        let rounding = n * (n * f64::EPSILON).powi(2) * mean.iter().map(|m| m * m).sum::<f64>();
        let varies = total > rounding;
        let unit = if self.normalize && varies { length } else { 1.0 };
        let half_square =
            if varies { (0.5 * total / n / (unit * unit)).max(f64::MIN_POSITIVE) } else { f64::INFINITY };
        let scaling = RowScaling { mean, unit, half_square, n_constant: 0 };
        let resolved = self.sizes(stream, p)?;
        let sample = scaled(first, &scaling);
        let numbers = |name: &str| stream.start.get(name).cloned();
        let (mut start, fresh) = match self.continued(&scaling, &resolved, numbers) {
            Some(parameters) => (parameters, !stream.start.contains_key("threshold")),
            None => {
                let given = stream.atoms.as_ref().map(|a| Matrix::from_vec(a.len() / p, p, a.clone()));
                let atoms = self.atoms(resolved.m, p, given.as_ref(), &sample, stream.seed);
                (Parameters::start(self.activation, &atoms, 1.0), true)
            }
        };
        let (_, level, weight) = self.terms(&resolved, &mut start, &sample, fresh);
        Ok(StreamState { scaling, level, state: TrainerState::new(AutoencoderState::new(start, weight)) })
    }

    /// The learner of a stream.
    fn learner<U: Real>(
        &self,
        stream: &Stream<U>,
        begun: &StreamState<U>,
        p: usize,
    ) -> Result<AutoencoderLearner<U>> {
        let resolved = self.sizes(stream, p)?;
        let terms: Terms = terms_of(self.activation, &resolved, begun.level, p);
        let wanted = (self.alpha.is_none() && !self.activation.counts()).then_some(resolved.l0 as f64);
        let training = Training {
            terms,
            penalty_control: PenaltyControl {
                l0: wanted,
                signed: self.activation == Activation::Jumprelu,
                steps: None,
            },
            dead: resolved.dead,
            threshold: begun.level,
            n_rows: u64::MAX,
            per_epoch: BATCHES_PER_EPOCH,
            max_epochs: u64::MAX,
            learning_rate: resolved.rate,
            half_square: begun.scaling.half_square,
            seed: stream.seed,
            sample: Vec::new(),
        };
        Ok(AutoencoderLearner::new(training, &begun.state.learner.parameters))
    }

    /// One step on the rows `batch`, the first of which has number `first`.
    fn step<U: Real>(
        &self,
        stream: &mut Stream<U>,
        learner: &mut Option<AutoencoderLearner<U>>,
        batch: &[U],
        first: u64,
        p: usize,
    ) -> Result<()> {
        let Some(mut begun) = stream.begun.take() else { return Ok(()) };
        if learner.is_none() {
            *learner = Some(self.learner(stream, &begun, p)?);
        }
        stream.recent.extend_from_slice(batch);
        let over = (stream.recent.len() / p).saturating_sub(RECENT_ROWS);
        stream.recent.drain(..over * p);
        let position = begun.state.position;
        let ends = position.batch + 1 == BATCHES_PER_EPOCH;
        let next = match ends {
            true => Position { epoch: position.epoch + 1, batch: 0 },
            false => Position { epoch: position.epoch, batch: position.batch + 1 },
        };
        let rate = self.sizes(stream, p)?.rate;
        let trainer = Trainer {
            optimiser: Optimiser::Adam,
            learning_rate: rate,
            schedule: Schedule::Constant,
            max_epochs: u64::MAX,
            patience: None,
        };
        let rate = rate * ((begun.state.steps + 1) as f64 / WARM_UP_STEPS).min(1.0);
        let x = scaled(batch, &begun.scaling);
        let numbers: Vec<u64> = (first..first + (batch.len() / p) as u64).collect();
        let rows = Batch { position, next, x: &x, rows: &numbers, weights: None, done: 0 };
        if let Some(learner) = learner {
            if ends {
                learner.begin_anew_at(scaled(&stream.recent, &begun.scaling));
            }
            trainer.step(learner, &mut begun.state, &rows, rate)?;
        }
        stream.begun = Some(begun);
        Ok(())
    }

    /// The model of the current state. Before there are enough rows, the buffered ones are used as a batch, and stay buffered.
    fn model_of<U: Real>(
        &self,
        stream: &Stream<U>,
        outcome: Outcome,
        (p, features): (usize, &Features),
        run: &Run<'_>,
    ) -> Result<Model> {
        let bytes = postcard::to_allocvec(stream).map_err(|_| Error::corrupt_stream())?;
        let mut now = stream.clone();
        if now.begun.is_none() {
            now.begun = Some(self.begun(&now, &now.waiting, p)?);
            let rows = now.waiting.clone();
            self.step(&mut now, &mut None, &rows, 0, p)?;
        }
        let Some(begun) = now.begun.take() else { return Err(Error::corrupt_stream()) };
        let resolved = self.sizes(stream, p)?;
        let dead = self.learner(stream, &begun, p)?.dead_units(&begun.state.learner);
        let found = Trained {
            outcome,
            steps: begun.state.steps,
            sweeps: 1,
            history: begun.state.history,
            dead,
            state: begun.state.learner,
            more: vec![(STREAM, packed(&bytes))],
        };
        let order = Order::kept(resolved.m);
        let tensors = parameters_in_units(&found.state, self.activation, &begun.scaling, &order);
        let (encoder, atoms, mean) = encoder(self.activation, resolved.l0, &tensors)?;
        let map = map_of::<U>(&encoder);
        let (mean, n) = (mean.f64s(), (now.recent.len() / p).max(1) as f64);
        let center: Vec<f64> = (0..p)
            .map(|j| now.recent.iter().skip(j).step_by(p).map(|x| x.to_f64()).sum::<f64>() / n)
            .collect();
        let used = evaluate(&encoder, &*map, &now.recent, (&mean, &atoms, &center));
        let of = RowsOf { n_samples: stream.n as f64, n_features: p, features, stream: true, warning: None };
        self.model(of, begun.scaling, resolved, found, &used, run)
    }
}

/// Rows in the coordinates of training.
fn scaled<U: Real>(rows: &[U], scaling: &RowScaling) -> Vec<U> {
    let row = |row: &[U]| -> Vec<U> {
        row.iter().zip(&scaling.mean).map(|(x, m)| U::from_f64((x.to_f64() - m) / scaling.unit)).collect()
    };
    rows.chunks_exact(scaling.mean.len()).flat_map(row).collect()
}
