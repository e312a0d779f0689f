//! The model of learned atoms, and its encoder and decoder.

use super::{DictionaryAlgorithm, DictionaryLearning};
use crate::data::Workspace;
use crate::error::{Error, Result};
use crate::method::sparse_coder::{self, Alpha, SparseCoder};
use crate::model::{Code, Codes, Encoder, LinearDecoder, RowMap, Tensor, Tensors, require, sign_of};
use crate::num::{Dtype, Matrix, Real, kernel};
use crate::sparse::{PreparedAtoms, norm};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The position of each atom in a model, and its sign.
pub(super) struct Order {
    order: Vec<usize>,
    signs: Vec<f64>,
}

impl Order {
    /// By descending use, `size`, then by norm; with canonical signs if atoms are `signed`.
    pub(super) fn of(atoms: &Matrix<f64>, size: &[f64], signed: bool, eps: f64) -> Self {
        let mut order: Vec<usize> = (0..atoms.rows()).collect();
        let by = |j: usize| (size[j], norm(atoms.row(j)));
        order.sort_by(|&a, &b| {
            let (a, b) = (by(a), by(b));
            b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
        });
        let sign = |j: &usize| if signed { sign_of(atoms.row(*j), eps) } else { 1.0 };
        let signs = order.iter().map(sign).collect();
        Self { order, signs }
    }

    /// Atoms in this order.
    pub(super) fn rows(&self, atoms: &Matrix<f64>) -> Matrix<f64> {
        // -0 and 0 are equal numbers but not equal bits.
        Matrix::from_fn(self.order.len(), atoms.cols(), |i, c| {
            self.signs[i] * atoms[(self.order[i], c)] + 0.0
        })
    }

    /// Numbers, one for each atom, in this order.
    pub(super) fn values(&self, numbers: &[f64]) -> Vec<f64> {
        self.order.iter().map(|&j| numbers[j]).collect()
    }
}

/// Names of the tensors of layers.
const LAYERS: &str = "layers";
const STEPS: &str = "layer_steps";

/// The tensors of the atoms of every step, one after the other, and of the step lengths.
pub(super) fn layers(order: &Order, layers: Vec<f64>, steps: &[f64], p: usize, dtype: Dtype) -> Tensors {
    let m = order.order.len();
    let mut out = Vec::with_capacity(layers.len());
    for layer in layers.chunks_exact(m * p) {
        out.extend_from_slice(order.rows(&Matrix::from_vec(m, p, layer.to_vec())).as_slice());
    }
    let whole = Tensor::matrix(&Matrix::from_vec(steps.len() * m, p, out), dtype);
    let shaped = Tensor::new(vec![steps.len(), m, p], whole.values().clone());
    [(LAYERS.to_string(), shaped), (STEPS.to_string(), Tensor::vector(steps, Dtype::F64))]
        .into_iter()
        .collect()
}

/// The parameters that determine the codes.
pub(super) fn parameters(
    components: &Matrix<f64>,
    usage: &[f64],
    mean: &[f64],
    alpha: f64,
    dtype: Dtype,
) -> Tensors {
    let named = [
        ("components", Tensor::matrix(components, dtype)),
        ("mean", Tensor::vector(mean, dtype)),
        ("alpha", Tensor::scalar(alpha, Dtype::F64)),
        ("usage", Tensor::vector(usage, Dtype::F64)),
    ];
    named.into_iter().map(|(name, tensor)| (name.to_string(), tensor)).collect()
}

/// Encoder: the lasso or matching pursuit, or the layers of `layerwise`. Decoder: the atoms.
pub(super) fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let alpha = require(tensors, "alpha", &[])?.f64s()[0];
    if !(alpha > 0.0 && alpha.is_finite()) {
        return Err(Error::corrupt_model(format!("its alpha is {alpha}")));
    }
    let mut settings = settings.clone();
    settings.insert("alpha".into(), alpha.into());
    let given = DictionaryLearning::from_settings(&settings)?;
    if given.algorithm == DictionaryAlgorithm::Layerwise {
        return layered(&given, alpha, tensors);
    }
    let coder = SparseCoder {
        algorithm: given.coder,
        alpha: Alpha::Weight(alpha),
        n_nonzero_coefs: given.n_nonzero_coefs,
        positive_code: given.non_negative(),
        ..SparseCoder::default()
    };
    sparse_coder::code_of(&coder, tensors, false)
}

/// Encoder that repeats the steps with which atoms were learned.
fn layered(given: &DictionaryLearning, alpha: f64, tensors: &Tensors) -> Result<Code> {
    let components = require(tensors, "components", &[None, None])?;
    let (m, p) = (components.shape()[0], components.shape()[1]);
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let steps = require(tensors, STEPS, &[None])?.f64s();
    let layers = require(tensors, LAYERS, &[Some(steps.len()), Some(m), Some(p)])?.f64s();
    let encoder = Layers {
        mean: Arc::new(mean.f64s()),
        layers: Arc::new(layers),
        steps: Arc::new(steps),
        m,
        alpha,
        positive: given.non_negative(),
    };
    Code::new(encoder, LinearDecoder::new(mean, components.to_matrix()))
}

/// `z <- S_{t alpha}(z - t (z A - x) A')` with the atoms `A` and the step length `t` of every layer, starting at 0.
#[derive(Clone, Debug)]
struct Layers {
    mean: Arc<Vec<f64>>,
    /// `m x p` each, one after the other.
    layers: Arc<Vec<f64>>,
    steps: Arc<Vec<f64>>,
    m: usize,
    alpha: f64,
    positive: bool,
}

/// The layers prepared for rows of type `T`.
struct PreparedLayers<T> {
    parameters: Layers,
    layers: Vec<PreparedAtoms<T>>,
}

impl Layers {
    fn prepared<T: Real>(&self) -> PreparedLayers<T> {
        let (m, p) = (self.m, self.mean.len());
        let atoms = self.layers.chunks_exact(m * p).map(|layer| Matrix::from_vec(m, p, layer.to_vec()));
        let layers = atoms
            .zip(self.steps.iter())
            .map(|(atoms, step)| PreparedAtoms::with_step(&atoms, *step))
            .collect();
        PreparedLayers { parameters: self.clone(), layers }
    }
}

impl Encoder for Layers {
    fn n_features(&self) -> usize {
        self.mean.len()
    }

    fn n_codes(&self) -> usize {
        self.m
    }

    fn codes(&self) -> Codes {
        Codes { sparse: true, non_negative: self.positive, ..Codes::default() }
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.prepared::<f32>())
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.prepared::<f64>())
    }
}

impl<T: Real> RowMap<T> for PreparedLayers<T> {
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        let (m, p) = (self.parameters.m, self.parameters.mean.len());
        kernel::centre(rows, None, &self.parameters.mean, &mut work.rows);
        out.fill(T::default());
        let penalty = (self.parameters.alpha, self.parameters.positive);
        // The bits of a code do not depend on the other rows: products are computed row by row.
        for (x, z) in work.rows.chunks(64 * p).zip(out.chunks_mut(64 * m)) {
            for layer in &self.layers {
                layer.descend(x, z, None, penalty, 1);
            }
        }
    }
}
