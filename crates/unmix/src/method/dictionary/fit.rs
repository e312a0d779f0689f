//! Fits of all rows by epochs, and of a stream as it comes.

use super::model::{arranged, parameters};
use super::stream::{Begun, Stream};
use super::{Alpha, DictionaryLearning, METHOD, wrong_number};
use crate::data::{Batches, Features, Rows, check_n_rows, no_columns};
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::model::{Model, Outcome, Report, Tensor};
use crate::num::random::Stream as Draws;
use crate::num::threads::on_pool;
use crate::num::{Dtype, Matrix, Real};
use crate::run::Run;
use crate::sparse::{
    AtomSet, Atoms, Begin, Effort, Lasso, Learnt, Online, PERIOD, chosen, coherence, largest, largest_of_each,
};
use crate::spectrum::{check_total, no_variance_of};
use crate::stats::GatherMoments;
use serde_json::{Map, Value, json};

/// Rows on which the objective of an epoch is computed, and `alpha` is chosen, at most.
const SAMPLE: u64 = 2000;
/// Rows for each atom that initial atoms are chosen from.
const FOR_EACH: u64 = 4;
/// Relative duality gap of codes while atoms are learnt, and the passes that it may take.
const LEARNING: Effort = Effort::UpTo { tol: 1e-4, max_passes: 100 };
/// `alpha` by the data: this share of the mean over rows of the largest product with an atom.
const SHARE: f64 = 0.1;

/// What a fit found.
struct Found {
    learnt: Learnt,
    alpha: f64,
    mean: Vec<f64>,
    n: f64,
    n_constant: usize,
    objective: Vec<f64>,
    outcome: Outcome,
    sweeps: u64,
    stream: Stream,
}

impl DictionaryLearning {
    /// Fits. Rows that can be read only once, forward are read once into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, more atoms than rows, rows of zeros alone, rows with weights, what the source
    /// reports. An `alpha` so large that every code is 0 is not an error: the report mentions it, and atoms are the initial ones.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        rows.here("training by batches")?;
        check_n_rows(METHOD.key, rows.n_counted(), rows.origin(), "give more rows")?;
        if rows.n_features() == 0 {
            return Err(no_columns(METHOD.key, rows.origin()));
        }
        let k = self.count(rows, run)?;
        check_atoms(k, rows.n_features())?;
        let rows = &*rows;
        let found = rows.pooled(run.threads, || self.by_epochs(rows, k, run))?;
        self.model(found, rows.features(), T::DTYPE, run)
    }

    /// The number of atoms.
    fn count<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<usize> {
        let (n, p) = (rows.n_counted(), rows.n_features());
        let given = run.initial_components(p, self.n_components.unwrap_or(0))?.map(|atoms| atoms.rows());
        match self.n_components.or(given) {
            Some(0) => Err(wrong_number(0, "must be at least 1".into(), n)),
            Some(k) if k as u64 > n => {
                let why = format!("{} has {n} rows, and there are no more atoms than rows", rows.origin());
                Err(wrong_number(k, why, n))
            }
            Some(k) => Ok(k),
            None => Ok((p as u64).min(n) as usize),
        }
    }

    fn set(&self) -> AtomSet {
        AtomSet { norm: self.atom_norm, positive: self.positive_dict }
    }

    fn online(&self, alpha: f64, seed: u64) -> Online {
        Online {
            lasso: Lasso { alpha, positive: self.positive_code, effort: LEARNING },
            set: self.set(),
            forgetting: self.forgetting,
            dead: self.dead_unit,
            seed,
        }
    }

    fn by_epochs<T: Real>(&self, rows: &Rows<'_, T>, k: usize, run: &Run<'_>) -> Result<Found> {
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
        let found = learner.learn(&batches, self.max_epochs, &sample, || Ok(Learnt::new(first)), run)?;
        let mut learnt = found.learnt;
        if learnt.all_zero() {
            let atoms = Atoms::<T>::new(&learnt.atoms);
            learnt.largest = learnt.largest.max(largest(&atoms, &sample, self.positive_code));
        }
        let begun = Some(Begun { alpha, learnt: learnt.clone() });
        Ok(Found {
            learnt,
            alpha,
            mean,
            n: n as f64,
            n_constant,
            // One pass for the mean, one for the rows that initial atoms are made from.
            sweeps: 2 + found.objective.len() as u64,
            objective: found.objective,
            outcome: found.outcome,
            stream: Stream { n, k, seed: run.seed, begun, waiting: Vec::new() },
        })
    }

    /// What is subtracted from rows, and how many columns do not vary.
    fn mean<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<(Vec<f64>, usize)> {
        let found = rows.sweep(run, "moments", &GatherMoments::new())?;
        let about: f64 = found.squares.iter().sum();
        let shift: f64 = found.mean.iter().map(|m| m * m).sum::<f64>() * found.n;
        let total = if self.center { about } else { about + shift };
        let held = |x: f64| T::from_f64(x).finite();
        if !total.is_finite() || !held(total) || found.mean.iter().any(|m| !m.is_finite()) {
            return Err(rows.not_finite(METHOD.key));
        }
        if total == 0.0 && (self.center || found.mean.iter().all(|m| *m == 0.0)) {
            return Err(no_variance_of(rows, METHOD.key));
        }
        check_total(METHOD.key, total, T::DTYPE)?;
        let constant = found.squares.iter().filter(|s| **s == 0.0).count();
        let mean = if self.center { found.mean } else { vec![0.0; rows.n_features()] };
        Ok((mean, constant))
    }

    /// Rows to judge by, less the mean, and initial atoms.
    fn initial<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        mean: &[f64],
        k: usize,
        run: &Run<'_>,
    ) -> Result<(Vec<T>, Matrix<f64>)> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let less = |chosen: Vec<u64>| -> Result<Vec<T>> {
            let mut out = rows.picked(chosen, run)?;
            for row in out.chunks_exact_mut(p).filter(|_| self.center) {
                row.iter_mut().zip(mean).for_each(|(x, m)| *x = T::from_f64(x.to_f64() - m));
            }
            Ok(out)
        };
        let sample = less(chosen(n, SAMPLE, Draws::new(run.seed, 0x6f62_6a65)))?;
        if let Some(atoms) = run.initial_components(p, k)? {
            let mut atoms = atoms.top_rows(k);
            self.set().project_all(&mut atoms);
            return Ok((sample, atoms));
        }
        let count = SAMPLE.max(FOR_EACH.saturating_mul(k as u64));
        let from = less(chosen(n, count, Draws::new(run.seed, 0x696e_6974)))?;
        let wide: Vec<f64> = from.iter().map(|x| x.to_f64()).collect();
        let atoms = self.begin(k, &wide, p, rows.features(), run.seed);
        Ok((sample, atoms))
    }

    fn begin(&self, k: usize, rows: &[f64], p: usize, features: &Features, seed: u64) -> Matrix<f64> {
        let shape = features.shape.as_deref();
        Begin { how: self.init, set: self.set(), m: k, rows, p, shape, seed }.atoms()
    }

    /// The weight of the penalty: as given, or by rows.
    fn weight<T: Real>(&self, atoms: &Atoms<T>, rows: &[T]) -> f64 {
        match self.alpha {
            Alpha::Weight(alpha) => alpha,
            _ => {
                let each = largest_of_each(atoms, rows, self.positive_code);
                let mean = each.iter().sum::<f64>() / each.len().max(1) as f64;
                // Rows that no atom meets leave nothing to go by.
                if mean > 0.0 { SHARE * mean } else { 1.0 }
            }
        }
    }

    /// The model of the rows of `before` and then of these, in their order, whatever they are cut into: batches of `batch_size`, one step for
    /// each; rows that do not fill one wait in the model. After a fit it continues from what that found.
    ///
    /// # Errors
    ///
    /// `center=true` without a model that has a mean; another number of atoms than before; other columns; numbers that are not finite; rows
    /// with weights.
    pub fn partial_fit<T: Real>(
        &self,
        before: Option<&Model>,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        METHOD.check(self)?;
        let p = before.map_or(rows.n_features(), Model::n_features);
        let mut stream = self.stream(before, rows, run)?;
        let mean = match before.and_then(|model| model.tensor("mean")) {
            Some(mean) => mean.f64s(),
            None => vec![0.0; p],
        };
        let (features, dtype) = before.map_or((rows.features(), T::DTYPE), |m| (m.features(), m.dtype()));
        let mut source = rows.source().stream()?;
        let (mut buffer, mut done) = (Vec::new(), 0u64);
        loop {
            buffer.clear();
            let n = source.read(1024, &mut buffer)?;
            if n == 0 {
                break;
            }
            for (i, row) in buffer.chunks_exact(p).enumerate() {
                if let Some(j) = row.iter().position(|x| !x.finite()) {
                    return Err(rows.not_finite_at(METHOD.key, done + i as u64, j, row[j].to_f64()));
                }
                stream.waiting.extend(row.iter().zip(&mean).map(|(x, m)| x.to_f64() - m));
                stream.n += 1;
            }
            done += n as u64;
            on_pool(run.threads, || self.advance(&mut stream, p, features, dtype));
            run.sweep_progress("adding", done, rows.n_rows())?;
        }
        self.model(self.of_stream(stream, mean, p, features, dtype, run), features, dtype, run)
    }

    /// Where a stream begins or goes on.
    fn stream<T: Real>(&self, before: Option<&Model>, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Stream> {
        let p = rows.n_features();
        if rows.weights().is_some() {
            return Err(Error::Unsupported {
                asked: format!("{} of rows with weights", METHOD.key),
                found: "it does not support sample weights".into(),
                remedy: "leave the weights out, or repeat rows".into(),
            });
        }
        if p == 0 {
            return Err(no_columns(METHOD.key, rows.origin()));
        }
        let Some(model) = before else {
            if self.center {
                let why = "the mean of a stream is not known before its end";
                return Err(Error::setting("center", "true", why, "leave it out, or fit all rows first"));
            }
            let k = self.n_components.unwrap_or(p);
            if k == 0 {
                return Err(wrong_number(0, "must be at least 1".into(), p as u64));
            }
            check_atoms(k, p)?;
            return Ok(Stream { n: 0, k, seed: run.seed, begun: None, waiting: Vec::new() });
        };
        if p != model.n_features() {
            return Err(Error::Width {
                what: "adding to a stream of rows".into(),
                need: model.n_features(),
                got: p,
                remedy: "give the same columns in every batch".into(),
            });
        }
        let stream = Stream::of(model.tensors(), p)?.ok_or_else(|| Error::Unsupported {
            asked: "going on with this model".into(),
            found: "it does not hold the state of its stream".into(),
            remedy: "fit it with algorithm='online'".into(),
        })?;
        match self.n_components.filter(|k| *k != stream.k) {
            None => Ok(stream),
            Some(k) => {
                let why = format!("the model that goes on has {} atoms", stream.k);
                Err(Error::setting("n_components", k, why, format!("give {}, or leave it out", stream.k)))
            }
        }
    }

    /// Learns from the batches that are full.
    fn advance(&self, stream: &mut Stream, p: usize, features: &Features, dtype: Dtype) {
        match dtype {
            Dtype::F32 => self.advance_in::<f32>(stream, p, features),
            Dtype::F64 => self.advance_in::<f64>(stream, p, features),
        }
    }

    fn advance_in<T: Real>(&self, stream: &mut Stream, p: usize, features: &Features) {
        let size = self.batch_size;
        // As many rows as there are atoms, or initial ones would be few rows and random numbers.
        let enough = size.max(stream.k);
        let (mut at, mut rest) = (0, stream.waiting.len() / p);
        while rest >= if stream.begun.is_some() { size } else { enough } {
            if stream.begun.is_none() {
                let rows = &stream.waiting[..enough * p];
                stream.begun = Some(self.begun::<T>(stream, rows, p, features));
            }
            let x: Vec<T> = stream.waiting[at * p..(at + size) * p].iter().map(|x| T::from_f64(*x)).collect();
            let first = stream.n - rest as u64;
            let numbers: Vec<u64> = (first..first + size as u64).collect();
            if let Some(Begun { alpha, learnt }) = &mut stream.begun {
                let learner = self.online(*alpha, stream.seed);
                learner.step(learnt, &x, &numbers);
                if learnt.since >= PERIOD {
                    learner.look(learnt, true, &x);
                }
            }
            (at, rest) = (at + size, rest - size);
        }
        stream.waiting.drain(..at * p);
    }

    /// Initial atoms and `alpha` from the first rows.
    fn begun<T: Real>(&self, stream: &Stream, rows: &[f64], p: usize, features: &Features) -> Begun {
        let atoms = self.begin(stream.k, rows, p, features, stream.seed);
        let size = rows.len().min(self.batch_size.saturating_mul(p));
        let first: Vec<T> = rows[..size].iter().map(|x| T::from_f64(*x)).collect();
        let alpha = self.weight(&Atoms::<T>::new(&atoms), &first);
        Begun { alpha, learnt: Learnt::new(atoms) }
    }

    /// What a stream has found so far. Before the first batch is full its rows are learnt from as if they were one, and wait all the same.
    fn of_stream(
        &self,
        stream: Stream,
        mean: Vec<f64>,
        p: usize,
        features: &Features,
        dtype: Dtype,
        run: &Run<'_>,
    ) -> Found {
        let now = stream.begun.clone().unwrap_or_else(|| {
            on_pool(run.threads, || match dtype {
                Dtype::F32 => self.provisional::<f32>(&stream, p, features),
                Dtype::F64 => self.provisional::<f64>(&stream, p, features),
            })
        });
        Found {
            n: stream.n as f64,
            n_constant: 0,
            objective: Vec::new(),
            outcome: Outcome::Completed,
            sweeps: 1,
            alpha: now.alpha,
            learnt: now.learnt,
            mean,
            stream,
        }
    }

    fn provisional<T: Real>(&self, stream: &Stream, p: usize, features: &Features) -> Begun {
        let mut now = self.begun::<T>(stream, &stream.waiting, p, features);
        let x: Vec<T> = stream.waiting.iter().map(|x| T::from_f64(*x)).collect();
        let numbers: Vec<u64> = (0..(x.len() / p) as u64).collect();
        if !numbers.is_empty() {
            self.online(now.alpha, stream.seed).step(&mut now.learnt, &x, &numbers);
        }
        now
    }

    fn model(&self, found: Found, features: &Features, dtype: Dtype, run: &Run<'_>) -> Result<Model> {
        let Found { learnt, alpha, mean, stream, .. } = &found;
        let p = mean.len();
        let weight = if learnt.weight > 0.0 { learnt.weight } else { 1.0 };
        let share: Vec<f64> = learnt.share.iter().map(|s| s / weight).collect();
        let (components, usage) =
            arranged(&learnt.atoms, (&share, &learnt.size), !self.positive_code, dtype.eps());
        let mut report = Report::closed_form("online", found.n, p, dtype, run.seed);
        report.outcome = found.outcome;
        (report.n_iter, report.sweeps) = (learnt.t, found.sweeps);
        report.objective = found.objective.clone();
        report.n_constant = found.n_constant;
        let (most, alike) = coherence(&components);
        for (name, fact) in [
            ("dead_units", json!(learnt.dead_now())),
            ("replaced", json!(learnt.replaced)),
            ("coherence", json!(most)),
        ] {
            report.facts.insert(name.into(), fact);
        }
        report.warnings = self.doubts(learnt, *alpha, alike);
        let settings = match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        report.settings = settings.clone();
        report.settings.insert("n_components".into(), components.rows().into());
        report.settings.insert("alpha".into(), (*alpha).into());
        report.end(run);
        let mut tensors = parameters(&components, &usage, mean, *alpha, dtype);
        let state =
            stream.tensors(p).into_iter().map(|(name, tensor): (&str, Tensor)| (name.to_string(), tensor));
        tensors.extend(state);
        Model::fitted(&METHOD, settings, features.clone(), 0, tensors, report)
    }

    fn doubts(&self, learnt: &Learnt, alpha: f64, alike: usize) -> Vec<String> {
        let mut out = Vec::new();
        if learnt.t > 0 && learnt.all_zero() {
            out.push(format!(
                "every code is 0, and atoms are the initial ones: alpha is {alpha}, and codes differ from 0 below alpha_max={:.6}",
                learnt.largest
            ));
        } else if learnt.dead_now() > 0 {
            let (dead, m) = (learnt.dead_now(), learnt.atoms.rows());
            let atoms = if dead == 1 { "atom was" } else { "atoms were" };
            out.push(format!("{dead} of {m} {atoms} used by no code in the last epoch"));
        }
        if alike > 0 {
            let pairs = if alike == 1 { "pair of atoms has" } else { "pairs of atoms have" };
            out.push(format!("{alike} {pairs} a cosine above 0.99"));
        }
        out
    }
}

/// Refuses numbers of atoms whose tables do not fit into memory.
fn check_atoms(k: usize, p: usize) -> Result<()> {
    let numbers = (k as u64).saturating_mul(k as u64).saturating_mul(4);
    let tables = (k as u64).saturating_mul(p as u64).saturating_mul(6);
    check_memory(
        &format!("a dictionary of {k} atoms of {p} numbers"),
        numbers.saturating_add(tables).saturating_mul(8),
        "choose fewer atoms, or fewer columns",
    )
}
