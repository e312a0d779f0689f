//! A denoising autoencoder as a learner: corrupted rows, and the gradient of a batch.

use super::weights::{LayerWeights, bounded};
use crate::choices::choices;
use crate::data::Batch;
use crate::error::Result;
use crate::learn::{Learner, Updates};
use crate::num::parallel;
use crate::num::products::{
    Slices, Weights, add_columns, both, gradient, multiplies_on_two, pack_slice, packs_on_two,
    shifted_distance, slice_rows, total,
};
use crate::num::random::Stream;
use crate::num::{Real, draws, widest};

choices! {
    /// How rows are corrupted.
    #[derive(Default)]
    pub enum Noise {
        /// Entries are replaced by the mean of their column, each with the same probability (Vincent et al. 2008).
        #[default]
        Mask = "mask",
        /// Normal noise is added to every entry.
        Gaussian = "gaussian",
    }
}

/// The corruption of rows. Its draws depend on the seed, the epoch, the row and the column alone, not on batches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corruption {
    /// The kind of noise.
    pub(crate) noise: Noise,
    /// Probability that an entry is masked, or standard deviation of the normal noise.
    pub(crate) size: f64,
    /// Seed of the draws.
    pub(crate) seed: u64,
    /// Number of rows of an epoch.
    pub(crate) n_rows: u64,
}

/// Random stream of the corruption.
const CORRUPTION_STREAM: u64 = 0x6461_6531;

impl Corruption {
    /// The standard deviation of the noise of each column: constant columns have no noise.
    pub(super) fn deviations<T: Real>(&self, varies: &[bool]) -> Vec<T> {
        varies.iter().map(|varies| T::from_f64(if *varies { self.size } else { 0.0 })).collect()
    }

    /// Writes the corrupted row `x`, number `row`, of epoch `epoch` into `out`, for these [deviations](Self::deviations).
    pub(super) fn apply<T: Real>(&self, epoch: u64, row: u64, x: &[T], deviations: &[T], out: &mut [T]) {
        if self.size == 0.0 {
            return out.copy_from_slice(x);
        }
        let (draws, number) =
            (Stream::new(self.seed, CORRUPTION_STREAM), epoch.wrapping_mul(self.n_rows).wrapping_add(row));
        match self.noise {
            Noise::Mask => draws::mask(draws, number, self.size, x, out),
            Noise::Gaussian => {
                out.copy_from_slice(x);
                draws::add_normal(draws, number, deviations, out);
            }
        }
    }
}

/// Options of the training.
#[derive(Clone, Debug)]
pub(crate) struct DenoisingTraining {
    /// The corruption of the rows.
    pub(crate) corruption: Corruption,
    /// Whether each column varies; the weights of others are 0.
    pub(crate) varies: Vec<bool>,
    /// The learning rate, for messages.
    pub(crate) learning_rate: f64,
}

/// A denoising autoencoder in training, and buffers of one step. Rows have mean 0, and mean square 1 in each column or over all columns.
pub(crate) struct DenoisingLearner<T: Real> {
    how: DenoisingTraining,
    /// Standard deviations of the noise of the columns.
    deviations: Vec<T>,
    gradient: LayerWeights<T>,
    /// `W'`, `V` and `V'`; the last is `W'` if the weights are tied.
    up: Weights<T>,
    down: Weights<T>,
    back_up: Weights<T>,
    /// Corrupted rows, codes, residuals and gradients with respect to pre-activations.
    noisy: Vec<T>,
    codes: Vec<T>,
    residual: Vec<T>,
    back: Vec<T>,
    /// The last, and residuals, packed; codes instead of residuals if the weights are tied.
    packed: [Slices<T>; 2],
    losses: Vec<f64>,
    /// Sums of the gradients with respect to pre-activations, and of the residuals, by slices.
    sums: Vec<f64>,
}

impl<T: Real> DenoisingLearner<T> {
    /// For weights of the same sizes as `like`.
    pub(crate) fn new(how: DenoisingTraining, like: &LayerWeights<T>) -> Self {
        let empty = Vec::new;
        let deviations = how.corruption.deviations(&how.varies);
        Self {
            how,
            deviations,
            gradient: like.clone(),
            up: Weights::new(),
            down: Weights::new(),
            back_up: Weights::new(),
            noisy: empty(),
            codes: empty(),
            residual: empty(),
            back: empty(),
            packed: [Slices::new(), Slices::new()],
            losses: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Half the gradient of the mean loss of the last batch.
    #[cfg(test)]
    pub(super) fn half_gradient(&self) -> &LayerWeights<T> {
        &self.gradient
    }

    fn pack(&mut self, weights: &LayerWeights<T>) {
        let (m, p) = (weights.n_units(), weights.n_features());
        let (up, down, back_up) = (&mut self.up, &mut self.down, &mut self.back_up);
        let pack_encoder = || up.pack(&weights.encoder, m);
        match weights.decoder.is_empty() {
            true => both(packs_on_two(m * p), pack_encoder, || down.pack_transposed(&weights.encoder, m)),
            false => {
                let pack_decoder = || down.pack(&weights.decoder, p);
                let pack_decoder_transposed = || back_up.pack_transposed(&weights.decoder, p);
                let parallel = packs_on_two(m * p);
                both(parallel, pack_encoder, || both(parallel, pack_decoder, pack_decoder_transposed));
            }
        }
    }

    /// Codes of the corrupted rows, residuals divided by the number of rows, and gradients with respect to pre-activations, by slices of
    /// `rows` rows; returns the mean loss.
    fn pass(&mut self, weights: &LayerWeights<T>, batch: &Batch<'_, T>, rows: usize) -> f64 {
        let (m, p, n) = (weights.n_units(), weights.n_features(), batch.rows.len());
        let tied = weights.decoder.is_empty();
        for (buffer, width) in
            [(&mut self.noisy, p), (&mut self.residual, p), (&mut self.codes, m), (&mut self.back, m)]
        {
            buffer.resize(n * width, T::default());
        }
        let second = if tied { m } else { p };
        self.packed[0].resize(n, m);
        self.packed[1].resize(n, second);
        self.losses.resize(n.div_ceil(rows), 0.0);
        self.sums.clear();
        self.sums.resize(n.div_ceil(rows) * (m + p), 0.0);
        self.pack(weights);
        let pass = Pass {
            weights,
            up: &self.up,
            down: &self.down,
            back_up: if tied { &self.up } else { &self.back_up },
            share: T::from_f64(1.0 / n as f64),
        };
        let (how, deviations, epoch) = (&self.how, &self.deviations, batch.position.epoch);
        let [of_back, of_second] = &mut self.packed;
        let noisy = self.noisy.chunks_mut(rows * p).zip(self.residual.chunks_mut(rows * p));
        let units = self.codes.chunks_mut(rows * m).zip(self.back.chunks_mut(rows * m));
        let packed = of_back.each_mut(rows, m).zip(of_second.each_mut(rows, second));
        let given = batch.x.chunks(rows * p).zip(batch.rows.chunks(rows));
        let results = self.losses.iter_mut().zip(self.sums.chunks_mut(m + p));
        let slices = noisy.zip(units).zip(packed).zip(given).zip(results);
        let parallel = multiplies_on_two(3 * n * m * p);
        parallel::each_if(
            parallel,
            slices,
            |((((of_columns, units), packed), (x, numbers)), (loss, sums))| {
                let ((noisy, residual), (codes, back)) = (of_columns, units);
                let each = noisy.chunks_exact_mut(p).zip(x.chunks_exact(p)).zip(numbers);
                each.for_each(|((out, x), row)| how.corruption.apply(epoch, *row, x, deviations, out));
                *loss = pass.run(x, Buffers { noisy, codes, residual, back });
                let one = T::from_f64(1.0);
                pack_slice(packed.0, back, m, one);
                pack_slice(packed.1, if tied { codes } else { residual }, second, one);
                let (of_units, of_columns) = sums.split_at_mut(m);
                add_columns(of_units, back);
                add_columns(of_columns, residual);
            },
        );
        self.losses.iter().sum::<f64>() / n as f64
    }
}

/// Buffers of a slice of rows.
struct Buffers<'b, T> {
    noisy: &'b [T],
    codes: &'b mut [T],
    residual: &'b mut [T],
    back: &'b mut [T],
}

/// Inputs common to the passes of all slices of a batch.
struct Pass<'c, T: Real> {
    weights: &'c LayerWeights<T>,
    up: &'c Weights<T>,
    down: &'c Weights<T>,
    back_up: &'c Weights<T>,
    /// The inverse of the number of rows of the batch.
    share: T,
}

impl<T: Real> Pass<'_, T> {
    /// The pass over the rows `x`; returns the sum of their losses.
    fn run(&self, x: &[T], to: Buffers<'_, T>) -> f64 {
        let (m, p, share) = (self.weights.n_units(), self.weights.n_features(), self.share);
        self.up.product(to.codes, to.noisy, m);
        rectify(to.codes, &self.weights.bias);
        self.down.product(to.residual, to.codes, p);
        let loss = shifted_distance(to.residual, &self.weights.offset, x);
        widest(
            #[inline(always)]
            || to.residual.iter_mut().zip(x).for_each(|(e, x)| *e = share * (*e - *x)),
        );
        self.back_up.product(to.back, to.residual, m);
        keep_active(to.back, to.codes);
        loss
    }
}

/// `max(0, x + b)` for every row of `codes` and the number `b` of its column, in place.
pub(super) fn rectify<T: Real>(codes: &mut [T], bias: &[T]) {
    let zero = T::default();
    widest(
        #[inline(always)]
        || {
            for row in codes.chunks_exact_mut(bias.len()) {
                for (u, b) in row.iter_mut().zip(bias) {
                    let sum = *u + *b;
                    *u = if sum > zero { sum } else { zero };
                }
            }
        },
    );
}

/// Sets the gradient with respect to the pre-activation to 0 where the code is 0.
pub(super) fn keep_active<T: Real>(back: &mut [T], codes: &[T]) {
    let zero = T::default();
    widest(
        #[inline(always)]
        || {
            for (g, h) in back.iter_mut().zip(codes) {
                let kept = *g;
                *g = if *h == zero { zero } else { kept };
            }
        },
    );
}

impl<T: Real> Learner<T> for DenoisingLearner<T> {
    type State = LayerWeights<T>;

    const TIMES: f64 = 2.0;

    fn gradient(&mut self, state: &mut Self::State, batch: &Batch<'_, T>) -> Result<Option<f64>> {
        let (m, p, n) = (state.n_units(), state.n_features(), batch.rows.len());
        let rows = slice_rows(n);
        let loss = self.pass(state, batch, rows);
        let ([back, second], to) = (&self.packed, &mut self.gradient);
        let of_encoder = back.terms(&self.noisy, (rows, p, m));
        match state.decoder.is_empty() {
            true => {
                let both: Vec<_> = of_encoder.chain(second.terms(&self.residual, (rows, p, m))).collect();
                gradient(&mut to.encoder, &both, m);
            }
            false => {
                let of_encoder: Vec<_> = of_encoder.collect();
                let of_decoder: Vec<_> = second.terms(&self.codes, (rows, m, p)).collect();
                let (encoder, decoder) = (&mut to.encoder, &mut to.decoder);
                both(
                    multiplies_on_two(n * m * p),
                    || gradient(encoder, &of_encoder, m),
                    || gradient(decoder, &of_decoder, p),
                );
            }
        }
        total(&mut to.bias, &self.sums, (m + p, 0), 1.0);
        total(&mut to.offset, &self.sums, (m + p, m), 1.0);
        bounded(loss, p as f64, self.how.learning_rate, batch.position.epoch)
    }

    fn parameters(&mut self, state: &mut Self::State, updates: &mut Updates<'_, T>) {
        let by = &self.gradient;
        updates.take(&mut state.encoder, &by.encoder);
        updates.take(&mut state.bias, &by.bias);
        if !state.decoder.is_empty() {
            updates.take(&mut state.decoder, &by.decoder);
        }
        updates.take(&mut state.offset, &by.offset);
    }
}
