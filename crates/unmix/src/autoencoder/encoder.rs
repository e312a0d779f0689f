//! The encoder of a fitted autoencoder: an affine map followed by a sparse activation.

use super::select::largest;
use crate::data::Workspace;
use crate::model::{Codes, Encoder, LinearEncoder, RowMap, Tensor};
use crate::num::{Matrix, Real, widest};

/// Activation: the map from pre-activations to codes, in the units of the rows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Gating {
    /// `max(u, 0)`.
    Relu,
    /// The given number of largest pre-activations of a row, if they are positive; the first ones in case of ties.
    Largest(usize),
    /// `u` if it is above the threshold of the unit, and positive.
    Above(Vec<f64>),
    /// If `u + bias` of the gate is positive: `max(exp(log_scale) u + magnitude, 0)`.
    Gated {
        /// Bias of the magnitudes.
        magnitude: Vec<f64>,
        /// Logarithms of the scales of the magnitudes.
        log_scale: Vec<f64>,
    },
}

/// `z = gating((x - mean) W' + bias)`: few codes of a row are non-zero.
#[derive(Clone, Debug)]
pub struct SparseGate {
    linear: LinearEncoder,
    bias: Vec<f64>,
    gating: Gating,
}

impl SparseGate {
    /// `matrix` is `n_features x n_codes`; `bias` has a number for each code, that of the gate if magnitudes have their own.
    pub fn new(mean: Tensor, matrix: Matrix<f64>, bias: Vec<f64>, gating: Gating) -> Self {
        Self { linear: LinearEncoder::new(mean, matrix), bias, gating }
    }

    fn map<T: Real>(&self, linear: Box<dyn RowMap<T>>) -> Box<dyn RowMap<T>> {
        let narrow = |x: &[f64]| x.iter().map(|x| T::from_f64(*x)).collect::<Vec<T>>();
        let ready = match &self.gating {
            Gating::Relu => TypedGating::Relu,
            Gating::Largest(k) => TypedGating::Largest(*k),
            Gating::Above(thresholds) => TypedGating::Above(narrow(thresholds)),
            Gating::Gated { magnitude, log_scale } => {
                let scale = log_scale.iter().map(|r| T::from_f64(r.exp())).collect();
                TypedGating::Gated { magnitude: narrow(magnitude), scale }
            }
        };
        Box::new(Map { linear, bias: narrow(&self.bias), ready })
    }
}

impl Encoder for SparseGate {
    fn n_features(&self) -> usize {
        self.linear.n_features()
    }

    fn n_codes(&self) -> usize {
        self.linear.n_codes()
    }

    fn codes(&self) -> Codes {
        Codes { sparse: true, non_negative: true, ..Codes::default() }
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        self.map(self.linear.in_f32())
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        self.map(self.linear.in_f64())
    }
}

/// [`Gating`] prepared for one number type.
enum TypedGating<T> {
    Relu,
    Largest(usize),
    Above(Vec<T>),
    Gated { magnitude: Vec<T>, scale: Vec<T> },
}

struct Map<T> {
    linear: Box<dyn RowMap<T>>,
    bias: Vec<T>,
    ready: TypedGating<T>,
}

impl<T: Real> RowMap<T> for Map<T> {
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        self.linear.apply(rows, out, work);
        let (mut tops, mut found) = (Vec::new(), Vec::new());
        widest(
            #[inline(always)]
            || {
                for row in out.chunks_exact_mut(self.bias.len().max(1)) {
                    self.gate(row, &mut tops, &mut found);
                }
            },
        );
    }
}

impl<T: Real> Map<T> {
    /// Overwrites the pre-activations of a row, without the bias, by its code.
    #[inline(always)]
    fn gate(&self, row: &mut [T], tops: &mut Vec<T>, found: &mut Vec<(u32, T)>) {
        let zero = T::default();
        let positive = |x: T| if x > zero { x } else { zero };
        match &self.ready {
            TypedGating::Relu => row.iter_mut().zip(&self.bias).for_each(|(u, b)| *u = positive(*u + *b)),
            TypedGating::Above(thresholds) => {
                for ((u, b), theta) in row.iter_mut().zip(&self.bias).zip(thresholds) {
                    let sum = *u + *b;
                    *u = if sum > *theta { positive(sum) } else { zero };
                }
            }
            TypedGating::Gated { magnitude, scale } => {
                for (((u, b), add), by) in row.iter_mut().zip(&self.bias).zip(magnitude).zip(scale) {
                    let size = positive(by.times_plus(*u, *add));
                    *u = if *u + *b > zero { size } else { zero };
                }
            }
            TypedGating::Largest(k) => {
                row.iter_mut().zip(&self.bias).for_each(|(u, b)| *u += *b);
                largest(row, *k, tops, found);
                row.fill(zero);
                found.iter().for_each(|(j, z)| row[*j as usize] = *z);
            }
        }
    }
}
