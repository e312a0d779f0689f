//! The gradient of a batch in which many units of a row are active, by products of matrices.
//!
//! Training with a penalty begins with half of the units active. Sums over active units read an atom for every code that is not 0; products read it
//! once for several rows.

use super::Activation;
use super::parameters::Parameters;
use super::rows::{BatchInputs, dot};
use crate::num::parallel;
use crate::num::products::{Slices, Weights, add_columns, both, gradient, pack_slice, slice_rows, total};
use crate::num::simd::add_multiple;
use crate::num::{Real, kernel, simd::SIMD_WIDTH, widest};

/// A batch is dense if at least one of so many codes is not 0: the estimated ratio of the rates of products and of sums over active units. Gradients
/// agree up to rounding errors, whichever way they are computed.
const MOST_CODES_PER_ACTIVE: u64 = 8;
/// Atoms that one thread processes at a time.
const ATOMS_PER_TASK: usize = 64;

/// Whether the gradient of a batch with `active` codes among `numbers` is computed by products. Only where the number of active units
/// follows from a penalty on one set of pre-activations.
pub(super) fn is_dense(activation: Activation, active: u64, numbers: usize) -> bool {
    penalised(activation) && active * MOST_CODES_PER_ACTIVE >= numbers as u64
}

/// Whether active units of a row are listed only where the batch is not dense.
pub(super) fn penalised(activation: Activation) -> bool {
    matches!(activation, Activation::Relu | Activation::Jumprelu)
}

/// Rows of a batch, in the buffers of their pass.
pub(super) struct BatchRows<'b, T> {
    /// Rows minus `b`.
    pub(super) centred: &'b [T],
    /// Pre-activations.
    pub(super) u: &'b [T],
    /// Derivatives of the loss with respect to the reconstruction.
    pub(super) residual: &'b mut [T],
}

/// Buffers of a dense batch.
#[derive(Debug)]
pub(super) struct DensePass<T> {
    codes: Vec<T>,
    /// Derivatives of the loss with respect to the pre-activations.
    back: Vec<T>,
    down: Weights<T>,
    back_up: Weights<T>,
    packed_rows: Slices<T>,
    packed_residual: Slices<T>,
    /// For each slice sums over its rows: of derivatives with respect to biases, to thresholds, and to the reconstruction.
    sums: Vec<f64>,
    /// For each slice the number of its rows that activate each unit.
    fired: Vec<u64>,
    /// For each slice half the squared errors, and the penalty without its weight.
    losses: Vec<[f64; 2]>,
}

impl<T: Real> Default for DensePass<T> {
    fn default() -> Self {
        Self {
            codes: Vec::new(),
            back: Vec::new(),
            down: Weights::new(),
            back_up: Weights::new(),
            packed_rows: Slices::new(),
            packed_residual: Slices::new(),
            sums: Vec::new(),
            fired: Vec::new(),
            losses: Vec::new(),
        }
    }
}

impl<T: Real> DensePass<T> {
    /// Writes the gradient of the batch into `to`, and the number of activations of each unit into `fired`. Returns half the squared errors, and
    /// the penalty without its weight, summed over the rows.
    pub(super) fn gradient(
        &mut self,
        inputs: &BatchInputs<'_, T>,
        of: BatchRows<'_, T>,
        to: &mut Parameters<T>,
        fired: &mut [u64],
    ) -> [f64; 2] {
        let (p, m) = (inputs.parameters.n_features(), inputs.parameters.n_units());
        let n = of.centred.len() / p;
        let rows = slice_rows(n);
        let residual = of.residual;
        self.slices(inputs, BatchRows { residual: &mut *residual, ..of }, rows);
        let of_encoder: Vec<_> = self.packed_rows.terms(&self.back, (rows, m, p)).collect();
        let of_decoder: Vec<_> = self.packed_residual.terms(&self.codes, (rows, m, p)).collect();
        let (encoder, decoder) = (&mut to.encoder, &mut to.decoder);
        both(true, || gradient(encoder, &of_encoder, p), || gradient(decoder, &of_decoder, p));
        let width = 2 * m + p;
        total(&mut to.bias, &self.sums, (width, 0), 1.0);
        total(&mut to.log_threshold, &self.sums, (width, m), 1.0);
        for (j, fired) in fired.iter_mut().enumerate() {
            *fired = self.fired.iter().skip(j).step_by(m).sum();
        }
        self.mean(inputs.parameters, &mut to.mean);
        along_atoms_removed(&mut to.decoder, &inputs.parameters.decoder, p);
        self.losses.iter().fold([0.0; 2], |sum, slice| [sum[0] + slice[0], sum[1] + slice[1]])
    }

    /// Codes, residuals and derivatives of all slices of `rows` rows.
    fn slices(&mut self, inputs: &BatchInputs<'_, T>, of: BatchRows<'_, T>, rows: usize) {
        let (p, m) = (inputs.parameters.n_features(), inputs.parameters.n_units());
        let n = of.centred.len() / p;
        let (slices, width) = (n.div_ceil(rows), 2 * m + p);
        self.down.pack(&inputs.parameters.decoder, p);
        self.back_up.pack_transposed(&inputs.parameters.decoder, p);
        self.codes.resize(n * m, T::default());
        self.back.resize(n * m, T::default());
        self.packed_rows.resize(n, p);
        self.packed_residual.resize(n, p);
        self.sums.clear();
        self.sums.resize(slices * width, 0.0);
        self.fired.clear();
        self.fired.resize(slices * m, 0);
        self.losses.clear();
        self.losses.resize(slices, [0.0; 2]);
        let pass =
            SlicePass { inputs, down: &self.down, back_up: &self.back_up, over: 1.0 / n.max(1) as f64 };
        let of_rows = of.centred.chunks(rows * p).zip(of.residual.chunks_mut(rows * p));
        let of_units =
            of.u.chunks(rows * m).zip(self.codes.chunks_mut(rows * m)).zip(self.back.chunks_mut(rows * m));
        let packed = self.packed_rows.each_mut(rows, p).zip(self.packed_residual.each_mut(rows, p));
        let sums = self.sums.chunks_mut(width).zip(self.fired.chunks_mut(m)).zip(&mut self.losses);
        let all = of_rows.zip(of_units).zip(packed).zip(sums);
        parallel::each(all, |((((x, residual), ((u, codes), back)), packed), ((sums, fired), loss))| {
            let (by_unit, by_column) = sums.split_at_mut(2 * m);
            *loss = pass.run(x, Buffers { u, codes, residual: &mut *residual, back }, by_unit, fired);
            add_columns(by_column, residual);
            pack_slice(packed.0, x, p, T::from_f64(1.0));
            pack_slice(packed.1, residual, p, T::from_f64(1.0));
        });
    }

    /// The gradient with respect to the mean, which is added to the reconstruction and subtracted before the encoder.
    fn mean(&self, parameters: &Parameters<T>, to: &mut [T]) {
        let (p, m) = (parameters.n_features(), parameters.n_units());
        let (mut sums, width) = (vec![0.0; p], 2 * m + p);
        for slice in self.sums.chunks_exact(width) {
            sums.iter_mut().zip(&slice[2 * m..]).for_each(|(s, x)| *s += x);
        }
        for (j, row) in parameters.encoder.chunks_exact(p).enumerate() {
            let slope: f64 = self.sums.iter().skip(j).step_by(width).sum();
            sums.iter_mut().zip(row).for_each(|(s, w)| *s -= slope * w.to_f64());
        }
        to.iter_mut().zip(&sums).for_each(|(g, s)| *g = T::from_f64(*s));
    }
}

/// Removes from the gradients of atoms, which have norm 1, the components along them.
fn along_atoms_removed<T: Real>(gradients: &mut [T], atoms: &[T], p: usize) {
    parallel::each(
        gradients.chunks_mut(ATOMS_PER_TASK * p).zip(atoms.chunks(ATOMS_PER_TASK * p)),
        |(gradients, atoms)| {
            widest(
                #[inline(always)]
                || {
                    for (gradient, atom) in gradients.chunks_exact_mut(p).zip(atoms.chunks_exact(p)) {
                        let along = dot(gradient, atom);
                        add_multiple(gradient, T::default() - along, atom);
                    }
                },
            );
        },
    );
}

/// The sum of `values`, in an order that does not depend on memory alignment.
#[inline(always)]
fn sum<T: Real>(values: &[T]) -> f64 {
    let (whole, rest) = values.as_chunks::<SIMD_WIDTH>();
    let mut lanes = [0.0; SIMD_WIDTH];
    for chunk in whole {
        lanes.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x.to_f64());
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|x| x.to_f64()).sum::<f64>()
}

/// Buffers of a slice of rows.
struct Buffers<'b, T> {
    u: &'b [T],
    codes: &'b mut [T],
    residual: &'b mut [T],
    back: &'b mut [T],
}

/// Inputs common to the slices of a batch.
struct SlicePass<'c, T: Real> {
    inputs: &'c BatchInputs<'c, T>,
    down: &'c Weights<T>,
    back_up: &'c Weights<T>,
    /// The inverse of the number of rows of the batch.
    over: f64,
}

impl<T: Real> SlicePass<'_, T> {
    /// The rows `x` of a slice, centred. Adds derivatives with respect to biases and thresholds to `by_unit`, and activations to `fired`; returns
    /// the losses.
    fn run(&self, x: &[T], mut to: Buffers<'_, T>, by_unit: &mut [f64], fired: &mut [u64]) -> [f64; 2] {
        let (p, m) = (self.inputs.parameters.n_features(), self.inputs.parameters.n_units());
        let scale = T::from_f64(self.over);
        let penalty = widest(
            #[inline(always)]
            || self.codes(&mut to, fired),
        );
        self.down.product(to.residual, to.codes, p);
        widest(
            #[inline(always)]
            || to.residual.iter_mut().zip(x).for_each(|(e, x)| *e -= *x),
        );
        let loss = 0.5 * kernel::sum_of_squares(to.residual);
        widest(
            #[inline(always)]
            || to.residual.iter_mut().for_each(|e| *e *= scale),
        );
        self.back_up.product(to.back, to.residual, m);
        widest(
            #[inline(always)]
            || match self.inputs.activation {
                Activation::Jumprelu => self.thresholds(&mut to, &mut by_unit[m..]),
                _ => self.weigh(&mut to),
            },
        );
        add_columns(&mut by_unit[..m], to.back);
        [loss, penalty]
    }

    /// Codes, activations of units, and the penalty without its weight.
    #[inline(always)]
    fn codes(&self, to: &mut Buffers<'_, T>, fired: &mut [u64]) -> f64 {
        let (zero, m, mut penalty) = (T::default(), fired.len(), 0.0);
        let counted = self.inputs.activation == Activation::Jumprelu;
        for (u, codes) in to.u.chunks_exact(m).zip(to.codes.chunks_exact_mut(m)) {
            match counted {
                true => {
                    let each = codes.iter_mut().zip(u).zip(&self.inputs.ready.exp);
                    each.for_each(|((z, u), theta)| *z = if *u > *theta { *u } else { zero });
                }
                false => codes.iter_mut().zip(u).for_each(|(z, u)| *z = if *u > zero { *u } else { zero }),
            }
            fired.iter_mut().zip(&*codes).for_each(|(count, z)| *count += u64::from(*z > zero));
            penalty += match counted {
                true => codes.iter().map(|z| u64::from(*z > zero)).sum::<u64>() as f64,
                false => sum(codes),
            };
        }
        penalty
    }

    /// For `Relu`: the penalty is added to the derivatives with respect to active codes; those of others are 0.
    #[inline(always)]
    fn weigh(&self, to: &mut Buffers<'_, T>) {
        let zero = T::default();
        let weight = T::from_f64(self.inputs.penalty.weight * self.over);
        let each = to.back.iter_mut().zip(&*to.codes);
        each.for_each(|(g, z)| *g = if *z > zero { *g + weight } else { zero });
    }

    /// For `Jumprelu`: derivatives with respect to thresholds, for all pre-activations near them, and to active codes.
    #[inline(always)]
    fn thresholds(&self, to: &mut Buffers<'_, T>, sums: &mut [f64]) {
        let (zero, m) = (T::default(), self.inputs.parameters.n_units());
        let weight = T::from_f64(self.inputs.penalty.weight * self.over);
        let half = T::from_f64(self.inputs.bandwidth / 2.0);
        let kernel = T::from_f64(1.0 / self.inputs.bandwidth);
        let rows = to.back.chunks_exact_mut(m).zip(to.u.chunks_exact(m)).zip(to.codes.chunks_exact(m));
        for ((back, u), codes) in rows {
            for (j, (by_code, u)) in back.iter_mut().zip(u).enumerate() {
                let theta = self.inputs.ready.exp[j];
                if (*u - theta).absolute() < half {
                    let jump = theta.times_plus(*by_code, weight) * kernel * theta;
                    sums[j] -= jump.to_f64();
                }
                *by_code = if codes[j] > zero { *by_code } else { zero };
            }
        }
    }
}
