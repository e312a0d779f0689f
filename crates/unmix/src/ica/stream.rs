//! EASI on a stream: rows in the given order, one pass, no whitening.
//!
//! The result depends on the rows and their order alone, not on how the stream is divided into batches,
//! because there is a step for every row: the mean is updated, then the separating matrix. The state is
//! stored in the model as a vector, so that the fit of a saved model can be continued.

use super::online::State;
use crate::data::{Features, Rows};
use crate::error::{Error, Result};
use crate::model::{
    Arrangement, FitKind, LinearParameters, Method, Model, Outcome, Report, Tensor, require,
    without_effect_in,
};
use crate::num::{Dtype, Matrix, Real, pseudo_inverse};
use crate::run::Run;
use serde_json::{Map, Value};

/// Number of initial rows from which the scales of the columns are estimated.
const ROWS_FOR_SCALES: usize = 64;

/// Minimum row counter of the step size when a stream continues a fit: steps are as short as at the end of the fit.
const LEAST_ROWS_AFTER_FIT: u64 = 100_000;

/// Name of the tensor that holds the state.
const STATE_TENSOR: &str = "stream";

/// A separating matrix that is updated for each row.
pub(crate) struct Stream {
    /// Number of rows so far.
    n: u64,
    /// Whether the running mean is subtracted.
    center: bool,
    mean: Vec<f64>,
    /// The state after the scales of the columns have been estimated.
    state: Option<State>,
    /// Buffered rows until then.
    waiting: Vec<f64>,
    extended: bool,
    /// How the last pass ended.
    outcome: Outcome,
}

impl Stream {
    /// The state before the first row of `p` columns; the matrix starts at `start`, `p x p`, or is estimated from the first rows.
    pub(crate) fn new(p: usize, center: bool, extended: bool, start: Option<Matrix<f64>>) -> Self {
        let state = start.map(|w| State::new(w, extended));
        Self {
            n: 0,
            center,
            mean: vec![0.0; p],
            state,
            waiting: Vec::new(),
            extended,
            outcome: Outcome::Completed,
        }
    }

    /// Continues from `model`: from its stored state, or from the matrix of a fit.
    pub(crate) fn of(model: &Model, center: bool, extended: bool) -> Result<Self> {
        let (tensors, p) = (model.tensors(), model.n_features());
        let w = require(tensors, "components", &[None, Some(p)])?.to_matrix();
        let Some(state) = tensors.get(STATE_TENSOR) else {
            let n = model.report().n_samples as u64;
            let state = State { seen: n.max(LEAST_ROWS_AFTER_FIT), ..State::new(w, extended) };
            let mean = require(tensors, "mean", &[Some(p)])?.f64s();
            return Ok(Self { n, mean, state: Some(state), ..Self::new(p, center, extended, None) });
        };
        Self::unpacked(&state.f64s(), p, w.rows(), (center, extended)).ok_or_else(Error::corrupt_stream)
    }

    /// Adds rows in their order; fewer where the run ends early, at least the first 1024. After an error, for example a number that is not
    /// finite, the state must be discarded.
    pub(crate) fn add<T: Real>(&mut self, method: &str, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<()> {
        let p = self.mean.len();
        if rows.n_features() != p {
            return Err(Error::Width {
                what: "adding to a stream of rows".into(),
                need: p,
                got: rows.n_features(),
                remedy: "give the same columns in every batch".into(),
            });
        }
        self.outcome = rows.in_order(method, run, Real::finite, |some| {
            some.chunks_exact(p).for_each(|row| self.row(row.iter().map(|x| x.to_f64()).collect()));
            Ok(())
        })?;
        Ok(())
    }

    /// Buffers a row, or takes the step on it.
    fn row(&mut self, row: Vec<f64>) {
        if self.state.is_some() {
            return self.learn(&row);
        }
        self.waiting.extend(row);
        if self.waiting.len() == ROWS_FOR_SCALES * self.mean.len() {
            self.begin();
        }
    }

    /// The first steps, from a matrix that divides each column by its scale, so that the result does not depend on the units.
    fn begin(&mut self) {
        let (p, waiting) = (self.mean.len(), std::mem::take(&mut self.waiting));
        let n = (waiting.len() / p) as f64;
        let mean =
            |j: usize, f: &dyn Fn(f64) -> f64| waiting[j..].iter().step_by(p).map(|x| f(*x)).sum::<f64>() / n;
        let unit = |j: usize| {
            let about = if self.center { mean(j, &|x| x) } else { 0.0 };
            match mean(j, &|x| (x - about).powi(2)).sqrt() {
                size if size > 0.0 => 1.0 / size,
                _ => 1.0,
            }
        };
        let start = Matrix::from_fn(p, p, |i, j| if i == j { unit(j) } else { 0.0 });
        self.state = Some(State::new(start, self.extended));
        waiting.chunks_exact(p).for_each(|row| self.learn(row));
    }

    /// Updates the mean and takes the step on a row.
    fn learn(&mut self, row: &[f64]) {
        self.n += 1;
        if self.center {
            let share = 1.0 / self.n as f64;
            self.mean.iter_mut().zip(row).for_each(|(m, x)| *m += share * (x - *m));
        }
        let centred: Vec<f64> = row.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        if let Some(state) = &mut self.state {
            state.step(&centred);
        }
    }

    /// The model of the current state. `dtype` is that of its parameters.
    pub(crate) fn model(
        mut self,
        (method, settings, mut resolved): (&'static Method, Map<String, Value>, Map<String, Value>),
        (features, dtype): (&Features, Dtype),
        by_variance: bool,
        run: &Run<'_>,
    ) -> Result<Model> {
        let packed = self.packed();
        if self.state.is_none() {
            self.begin();
        }
        let (Some(state), p) = (&self.state, self.mean.len()) else { unreachable!("it has begun") };
        let k = state.w.rows();
        let decoder = pseudo_inverse(&state.w)?.transposed();
        let variance: Vec<f64> = (0..k).map(|i| decoder.row(i).iter().map(|m| m * m).sum()).collect();
        let arranged = match by_variance {
            true => Arrangement::by_variance(&variance, &decoder, dtype.eps()),
            false => Arrangement::new((0..k).collect(), &decoder, dtype.eps()),
        };
        let mut report = Report::closed_form("easi", self.n as f64, p, dtype, run.seed);
        report.outcome = self.outcome;
        report.residual = Some(super::linear::largest(&state.mean_step));
        report.warnings.extend(super::warnings::of_stream(&state.tails(), self.extended, arranged.order()));
        report.warnings.extend(without_effect_in(FitKind::Incremental, method.settings, &settings));
        resolved.insert("n_components".into(), k.into());
        resolved.insert("extended".into(), self.extended.into());
        report.settings = resolved;
        report.end(run);
        let described = LinearParameters {
            components: &arranged.rows(&state.w),
            mean: &self.mean,
            decoder: Some(&arranged.rows(&decoder)),
            axes: None,
            scale: None,
            noise_scale: None,
            second_rotation: None,
        };
        let variance = Tensor::vector(&arranged.values(&variance), dtype);
        let packed = Tensor::vector(&packed, Dtype::F64);
        let tensors = described.tensors(dtype, [("component_variance", variance), (STATE_TENSOR, packed)]);
        Model::fitted(method, settings, features.clone(), 0, tensors, report)
    }

    /// The state as numbers: counts, mean, then the state of the rule or the buffered rows.
    fn packed(&self) -> Vec<f64> {
        let (seen, since) = self.state.as_ref().map_or((0, 0), |s| (s.seen, s.since));
        let mut out =
            vec![self.n as f64, f64::from(u8::from(self.state.is_some())), seen as f64, since as f64];
        out.extend(&self.mean);
        match &self.state {
            Some(state) => {
                out.extend(state.w.as_slice());
                out.extend(state.mean_step.as_slice());
                out.extend(state.stable.as_flattened());
                out.extend(state.lasting.as_flattened());
            }
            None => out.extend(&self.waiting),
        }
        out
    }

    /// Inverse of [`packed`](Self::packed); `None` if the vector has another length.
    fn unpacked(numbers: &[f64], p: usize, k: usize, (center, extended): (bool, bool)) -> Option<Self> {
        let (counts, rest) = numbers.split_at_checked(4)?;
        let (mean, rest) = rest.split_at_checked(p)?;
        let (n, mean) = (counts[0] as u64, mean.to_vec());
        if counts[1] == 0.0 {
            let whole = rest.len().is_multiple_of(p) && rest.len() < ROWS_FOR_SCALES * p;
            return whole.then(|| Self {
                n,
                mean,
                waiting: rest.to_vec(),
                ..Self::new(p, center, extended, None)
            });
        }
        let (w, rest) = rest.split_at_checked(k * p)?;
        let (step, rest) = rest.split_at_checked(k * k)?;
        let (stable, lasting) = rest.split_at_checked(3 * k)?;
        let state = State {
            w: Matrix::from_vec(k, p, w.to_vec()),
            seen: counts[2] as u64,
            since: counts[3] as u64,
            mean_step: Matrix::from_vec(k, k, step.to_vec()),
            extended,
            stable: stable.as_chunks::<3>().0.to_vec(),
            lasting: lasting.as_chunks::<3>().0.to_vec(),
        };
        (lasting.len() == 3 * k).then(|| Self {
            n,
            mean,
            state: Some(state),
            ..Self::new(p, center, extended, None)
        })
    }
}
