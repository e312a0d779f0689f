//! The gradient of a batch.

use super::Activation;
use super::dense::{BatchRows, DensePass, is_dense, penalised};
use super::parameters::Parameters;
use super::rows::{ActiveUnits, BatchConstants, BatchInputs, ROWS_PER_SLICE, SliceBuffers};
use super::select::bound;
use super::units::{ByUnit, Rows};
use crate::num::Real;
use crate::num::parallel;

/// The penalty on codes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Penalty {
    /// Weight `alpha`.
    pub weight: f64,
}

/// Options on which a gradient depends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The activation.
    pub activation: Activation,
    /// Number of active units per row, if it is set.
    pub l0: usize,
    /// Bandwidth of the kernel for gradients of thresholds.
    pub bandwidth: f64,
    /// Number of dead units in the auxiliary code.
    pub auxk: usize,
}

/// Statistics of an encoded batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Coded {
    /// Mean number of active units per row.
    pub l0: f64,
    /// For `BatchTopk`: the smallest code that was kept.
    pub least: Option<f64>,
}

/// Buffers of one batch.
#[derive(Debug, Default)]
pub(crate) struct Pass<T: Real> {
    ready: BatchConstants<T>,
    centred: Vec<T>,
    u: Vec<T>,
    residual: Vec<T>,
    dead_residual: Vec<T>,
    slices: Vec<ActiveUnits<T>>,
    by_unit: ByUnit<T>,
    dead_by_unit: ByUnit<T>,
    /// Whether the batch that was encoded last is dense: its active units are not listed.
    dense: bool,
    dense_pass: DensePass<T>,
    n: usize,
}

impl<T: Real> Pass<T> {
    /// Encodes the rows `x`, on the threads of the current pool.
    pub(crate) fn encode(&mut self, parameters: &Parameters<T>, terms: &Terms, x: &[T]) -> Coded {
        let (p, m) = (parameters.n_features(), parameters.n_units());
        self.n = x.len() / p;
        self.prepare(parameters);
        self.centred.resize(self.n * p, T::default());
        self.residual.resize(self.n * p, T::default());
        self.dead_residual.resize(self.n * p, T::default());
        self.u.resize(self.n * m, T::default());
        self.slices.resize_with(self.n.div_ceil(ROWS_PER_SLICE), ActiveUnits::default);
        let ready = std::mem::take(&mut self.ready);
        let inputs = batch_inputs(parameters, &ready, terms, Penalty::default(), &[]);
        self.each(x, p, m, |touched, x, part| touched.encode(&inputs, x, part));
        let least = (terms.activation == Activation::BatchTopk).then(|| self.keep(terms, m));
        let active: u64 = self.slices.iter().map(|s| s.active).sum();
        self.dense = is_dense(terms.activation, active, self.n * m);
        if penalised(terms.activation) && !self.dense {
            self.each(&[], p, m, |touched, _, part| touched.list(&inputs, part.u));
        }
        self.ready = ready;
        Coded { l0: active as f64 / self.n.max(1) as f64, least: least.flatten() }
    }

    /// The transposed encoder, and thresholds or scales.
    fn prepare(&mut self, parameters: &Parameters<T>) {
        self.ready.encoder.pack_transposed(&parameters.encoder, parameters.n_features());
        let logs =
            if parameters.log_scale.is_empty() { &parameters.log_threshold } else { &parameters.log_scale };
        self.ready.exp.clear();
        self.ready.exp.extend(logs.iter().map(|x| T::from_f64(x.to_f64().exp())));
    }

    /// For `BatchTopk`: keeps the largest of all pre-activations, `l0` times the number of rows; returns the smallest one kept.
    fn keep(&mut self, terms: &Terms, m: usize) -> Option<f64> {
        let wanted = terms.l0 * self.n;
        let mut tops: Vec<T> = self.slices.iter().flat_map(|s| s.tops.iter().copied()).collect();
        let least = bound(&mut tops, wanted);
        parallel::each(self.slices.iter_mut().zip(self.u.chunks(ROWS_PER_SLICE * m)), |(touched, u)| {
            touched.candidates(u, m, least);
        });
        let mut all: Vec<T> = self.slices.iter().flat_map(|s| s.found.iter().map(|f| f.1)).collect();
        let (mut least, mut quota) = (T::default(), 0);
        if all.len() > wanted && wanted > 0 {
            let descending = |a: &T, b: &T| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal);
            least = *all.select_nth_unstable_by(wanted - 1, descending).1;
            quota = wanted - all.iter().filter(|u| **u > least).count();
        }
        self.slices.iter_mut().for_each(|touched| touched.keep(least, &mut quota));
        let kept = self.slices.iter().flat_map(|s| s.entries.iter().map(|e| e.z.to_f64()));
        kept.reduce(f64::min)
    }

    /// Writes the gradient at `parameters` of the batch that was [encoded](Self::encode) last into `gradient`, and the number of
    /// activations of each unit into `fired`. Returns the mean loss of the rows: reconstruction, penalty, and the auxiliary loss of
    /// `Gated`.
    ///
    /// `dead` marks dead units; empty if there is no auxiliary loss for them.
    pub(crate) fn gradient(
        &mut self,
        parameters: &Parameters<T>,
        terms: &Terms,
        penalty: Penalty,
        dead: &[bool],
        gradient: &mut Parameters<T>,
        fired: &mut [u64],
    ) -> f64 {
        let (n, m) = (self.n, parameters.n_units());
        let ready = std::mem::take(&mut self.ready);
        let inputs = batch_inputs(parameters, &ready, terms, penalty, dead);
        if self.dense && dead.is_empty() {
            let rows = BatchRows { centred: &self.centred, u: &self.u, residual: &mut self.residual };
            let [errors, size] = self.dense_pass.gradient(&inputs, rows, gradient, fired);
            self.ready = ready;
            return (errors + penalty.weight * size) / n.max(1) as f64;
        }
        self.differentiate(&inputs);
        self.ready = ready;
        self.by_unit.sort(&self.slices, m, false);
        match dead.is_empty() {
            true => self.dead_by_unit.clear(),
            false => self.dead_by_unit.sort(&self.slices, m, true),
        }
        let rows = Rows {
            entries: &self.by_unit,
            dead: &self.dead_by_unit,
            centred: &self.centred,
            residual: &self.residual,
            dead_residual: &self.dead_residual,
        };
        rows.gradient(terms.activation, parameters, gradient, fired);
        let mut sums = [0.0; 3];
        for slice in &self.slices {
            sums.iter_mut().zip(slice.loss).for_each(|(s, x)| *s += x);
        }
        // The auxiliary loss of dead units is not part of the objective.
        let second = if terms.activation == Activation::Gated { sums[2] } else { 0.0 };
        (sums[0] + penalty.weight * sums[1] + second) / n.max(1) as f64
    }

    /// Residuals, losses and derivatives of active units, which are listed first if the batch is dense.
    fn differentiate(&mut self, inputs: &BatchInputs<'_, T>) {
        let (n, p, m) = (self.n, inputs.parameters.n_features(), inputs.parameters.n_units());
        let dense = std::mem::take(&mut self.dense);
        self.each(&[], p, m, |touched, _, part| {
            if dense {
                touched.list(inputs, part.u);
            }
            touched.differentiate(inputs, n, part);
        });
    }

    /// Squared errors of the rows that were encoded last.
    pub(super) fn squares(
        &mut self,
        parameters: &Parameters<T>,
        terms: &Terms,
        penalty: Penalty,
    ) -> Vec<f64> {
        let (n, p) = (self.n, parameters.n_features());
        let ready = std::mem::take(&mut self.ready);
        self.differentiate(&batch_inputs(parameters, &ready, terms, penalty, &[]));
        self.ready = ready;
        let scale = (n * n) as f64;
        self.residual.chunks_exact(p).map(|e| scale * crate::num::kernel::sum_of_squares(e)).collect()
    }

    /// Runs `work` for every slice, with its rows of `x` if there are any.
    fn each(
        &mut self,
        x: &[T],
        p: usize,
        m: usize,
        work: impl Fn(&mut ActiveUnits<T>, &[T], &mut SliceBuffers<'_, T>) + Sync,
    ) {
        let buffers = self.centred.chunks_mut(ROWS_PER_SLICE * p).zip(self.u.chunks_mut(ROWS_PER_SLICE * m));
        let residuals = self
            .residual
            .chunks_mut(ROWS_PER_SLICE * p)
            .zip(self.dead_residual.chunks_mut(ROWS_PER_SLICE * p));
        let slices = self.slices.iter_mut().zip(buffers.zip(residuals)).enumerate();
        parallel::each(slices, |(number, (touched, ((centred, u), (residual, dead_residual))))| {
            let rows = centred.len();
            let x = if x.is_empty() { x } else { &x[number * ROWS_PER_SLICE * p..][..rows] };
            work(touched, x, &mut SliceBuffers { centred, u, residual, dead_residual });
        });
    }
}

/// Inputs of a batch, from parameters and options.
fn batch_inputs<'p, T: Real>(
    parameters: &'p Parameters<T>,
    ready: &'p BatchConstants<T>,
    terms: &Terms,
    penalty: Penalty,
    dead: &'p [bool],
) -> BatchInputs<'p, T> {
    let Terms { activation, l0, bandwidth, auxk } = *terms;
    BatchInputs { parameters, ready, activation, l0, penalty, bandwidth, dead, auxk }
}
