//! Online fits: epochs over all rows, and streams (`partial_fit`).

use super::fit::{FitResult, LEARNING_RULE};
use super::stream::{Stream, StreamAtoms};
use super::{DictionaryLearning, METHOD};
use crate::data::{Batches, Features, Rows, no_columns};
use crate::error::{Error, Result, counted};
use crate::model::{Model, Outcome};
use crate::num::threads::on_pool;
use crate::num::{Dtype, Matrix, Real};
use crate::run::Run;
use crate::sparse::{Atoms, BATCHES_BETWEEN_SEARCHES, Lasso, Online, OnlineState, largest};
use crate::spectrum::check_count;

impl DictionaryLearning {
    fn online(&self, alpha: f64, seed: u64) -> Online {
        Online {
            lasso: Lasso { alpha, positive: self.non_negative(), stop: LEARNING_RULE },
            set: self.set(),
            forgetting: self.forgetting,
            dead: self.dead_unit,
            seed,
        }
    }

    /// Fits by epochs of batches in random order.
    pub(super) fn by_epochs<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        k: usize,
        run: &Run<'_>,
    ) -> Result<FitResult> {
        let n = rows.n_rows().unwrap_or(0);
        let (mean, n_constant) = self.mean(rows, run)?;
        let (sample, first) = self.initial(rows, &mean, k, run)?;
        let ready = Atoms::<T>::new(&first);
        let alpha = self.weight(&ready, &sample);
        drop(ready);
        let mut batches = Batches::new(rows, self.batch_size, run.seed)?;
        if self.center {
            batches = batches.centred(&mean);
        }
        run.stage("atoms")?;
        let learner = self.online(alpha, run.seed);
        let found = learner.learn(&batches, self.max_epochs, &sample, || Ok(OnlineState::new(first)), run)?;
        let mut state = found.state;
        if state.all_zero() {
            let atoms = Atoms::<T>::new(&state.atoms);
            state.largest = state.largest.max(largest(&atoms, &sample, self.non_negative()));
        }
        let sweeps = 2 + found.objective.len() as u64;
        let now = StreamAtoms { alpha, state };
        let stream =
            Stream { n, k, seed: run.seed, begun: Some(now.clone()), start: None, waiting: Vec::new() };
        let ended = (found.objective, found.outcome);
        Ok(FitResult { n_constant, sweeps, ..found_of(now, &stream, mean, ended) })
    }

    /// The model of the rows of `before` followed by these, in order, divided into batches of `batch_size`
    /// with one step for each, independent of the sizes of the arrays given; an incomplete batch is stored in
    /// the model. After a fit it continues from the fitted dictionary. A run that ends early (`max_seconds`) adds at
    /// least the first 1024 rows; `n_samples` of the report is the number of rows that the model was trained on.
    ///
    /// # Errors
    ///
    /// An algorithm other than `online`; `center=true` without `before`, whose mean is subtracted; a number of atoms or columns that differ
    /// from those of `before`; numbers that are not finite; sparse rows, rows with weights.
    pub fn partial_fit<T: Real>(
        &self,
        before: Option<&Model>,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        METHOD.begin_batch(self, rows)?;
        if !self.algorithm.streams() {
            let why = "incremental fits need mini-batches, and this algorithm needs all rows at once";
            return Err(Error::setting("algorithm", self.solver(), why, "choose 'online', or fit all rows"));
        }
        let p = before.map_or(rows.n_features(), Model::n_features);
        let mut stream = self.stream(before, rows, run)?;
        let mean = match before.and_then(|model| model.tensor("mean")) {
            Some(mean) => mean.f64s(),
            None => vec![0.0; p],
        };
        let (features, dtype) = before.map_or((rows.features(), T::DTYPE), |m| (m.features(), m.dtype()));
        let outcome = rows.in_order(METHOD.key, run, Real::finite, |some| {
            let centred = some.iter().zip(mean.iter().cycle()).map(|(x, m)| x.to_f64() - m);
            stream.waiting.extend(centred);
            stream.n += (some.len() / p) as u64;
            on_pool(run.threads, || self.advance(&mut stream, p, features, dtype));
            Ok(())
        })?;
        let now = stream.begun.clone().unwrap_or_else(|| self.so_far(&stream, p, features, dtype, run));
        let found = found_of(now, &stream, mean, (Vec::new(), outcome));
        self.model(found, features, dtype, run)
    }

    /// A new stream, or that of `before`.
    fn stream<T: Real>(&self, before: Option<&Model>, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Stream> {
        let p = rows.n_features();
        if p == 0 {
            return Err(no_columns(METHOD.key, rows.origin()));
        }
        let Some(model) = before else {
            if self.center {
                let why = "the mean of a stream is not known before its end";
                return Err(Error::setting("center", "true", why, "leave it out, or fit all rows first"));
            }
            let start = self.started_from(p, run)?;
            let k = self.n_components.or(start.as_ref().map(Matrix::rows)).unwrap_or(p);
            check_count(k, 1..=usize::MAX, String::new)?;
            super::fit::check_atoms(k, p)?;
            let start = start.map(|atoms| atoms.top_rows(k));
            return Ok(Stream { n: 0, k, seed: run.seed, begun: None, start, waiting: Vec::new() });
        };
        if p != model.n_features() {
            return Err(Error::Width {
                what: "adding to a stream of rows".into(),
                need: model.n_features(),
                got: p,
                remedy: "give the same columns in every batch".into(),
            });
        }
        let stream = Stream::of(model.tensors(), p)?.ok_or_else(|| {
            Error::unsupported(
                "continuing the fit of this model",
                "it does not hold the state of its stream, which only online fits store",
                "fit it with algorithm='online'",
            )
            .of_method(METHOD.key)
        })?;
        match self.n_components.filter(|k| *k != stream.k) {
            None => Ok(stream),
            Some(k) => {
                let why = format!("the model to continue from has {}", counted(stream.k as u64, "atom"));
                Err(Error::setting("n_components", k, why, format!("give {}, or leave it out", stream.k)))
            }
        }
    }

    /// Learns from the complete batches.
    fn advance(&self, stream: &mut Stream, p: usize, features: &Features, dtype: Dtype) {
        match dtype {
            Dtype::F32 => self.advance_in::<f32>(stream, p, features),
            Dtype::F64 => self.advance_in::<f64>(stream, p, features),
        }
    }

    fn advance_in<T: Real>(&self, stream: &mut Stream, p: usize, features: &Features) {
        let size = self.batch_size;
        // The first batch has at least as many rows as atoms, because initial atoms are rows.
        let enough = size.max(stream.k);
        let (mut at, mut rest) = (0, stream.waiting.len() / p);
        while rest >= if stream.begun.is_some() { size } else { enough } {
            if stream.begun.is_none() {
                let rows = &stream.waiting[..enough * p];
                stream.begun = Some(self.begun::<T>(stream, rows, p, features));
                stream.start = None;
            }
            let x: Vec<T> = stream.waiting[at * p..(at + size) * p].iter().map(|x| T::from_f64(*x)).collect();
            let first = stream.n - rest as u64;
            let numbers: Vec<u64> = (first..first + size as u64).collect();
            if let Some(StreamAtoms { alpha, state }) = &mut stream.begun {
                let learner = self.online(*alpha, stream.seed);
                learner.step(state, &x, &numbers);
                if state.since >= BATCHES_BETWEEN_SEARCHES {
                    learner.look(state, true, &x);
                }
            }
            (at, rest) = (at + size, rest - size);
        }
        stream.waiting.drain(..at * p);
    }

    /// Initial atoms and `alpha` from the first rows.
    fn begun<T: Real>(&self, stream: &Stream, rows: &[f64], p: usize, features: &Features) -> StreamAtoms {
        let atoms = match &stream.start {
            Some(start) => self.projected(start),
            None => self.first_atoms(stream.k, rows, p, features, stream.seed),
        };
        let size = rows.len().min(self.batch_size.saturating_mul(p));
        let first: Vec<T> = rows[..size].iter().map(|x| T::from_f64(*x)).collect();
        let alpha = self.weight(&Atoms::<T>::new(&atoms), &first);
        StreamAtoms { alpha, state: OnlineState::new(atoms) }
    }

    /// The atoms of a stream before its first batch is full, with the rows so far as a batch; these rows are kept
    /// for the first batch.
    fn so_far(
        &self,
        stream: &Stream,
        p: usize,
        features: &Features,
        dtype: Dtype,
        run: &Run<'_>,
    ) -> StreamAtoms {
        on_pool(run.threads, || match dtype {
            Dtype::F32 => self.provisional::<f32>(stream, p, features),
            Dtype::F64 => self.provisional::<f64>(stream, p, features),
        })
    }

    fn provisional<T: Real>(&self, stream: &Stream, p: usize, features: &Features) -> StreamAtoms {
        let mut now = self.begun::<T>(stream, &stream.waiting, p, features);
        let x: Vec<T> = stream.waiting.iter().map(|x| T::from_f64(*x)).collect();
        let numbers: Vec<u64> = (0..(x.len() / p) as u64).collect();
        if !numbers.is_empty() {
            self.online(now.alpha, stream.seed).step(&mut now.state, &x, &numbers);
        }
        now
    }
}

/// The result of a fit from the learned state.
fn found_of(
    now: StreamAtoms,
    stream: &Stream,
    mean: Vec<f64>,
    (objective, outcome): (Vec<f64>, Outcome),
) -> FitResult {
    let StreamAtoms { alpha, state } = now;
    let weight = if state.weight > 0.0 { state.weight } else { 1.0 };
    FitResult {
        share: state.share.iter().map(|s| s / weight).collect(),
        largest: (state.t > 0 && state.all_zero()).then_some(state.largest),
        dead: state.dead_now(),
        replaced: state.replaced,
        n_iter: state.t,
        more: stream.tensors(mean.len()),
        n: stream.n as f64,
        size: state.size,
        atoms: state.atoms,
        layers: None,
        residual: None,
        tol: None,
        n_constant: 0,
        sweeps: 1,
        alpha,
        mean,
        objective,
        outcome,
    }
}
