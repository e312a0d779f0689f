//! From learnt atoms to a model, and from a model's parameters to its codes.

use crate::error::{Error, Result};
use crate::method::sparse_coder::{self, Alpha, SparseCoder};
use crate::model::{Code, Tensor, Tensors, require, sign_of};
use crate::num::{Dtype, Matrix};
use crate::sparse::norm;
use serde_json::{Map, Value};

/// Atoms by falling use, signed, and their shares of the codes.
pub(super) fn arranged(
    atoms: &Matrix<f64>,
    (share, size): (&[f64], &[f64]),
    signed: bool,
    eps: f64,
) -> (Matrix<f64>, Vec<f64>) {
    let mut order: Vec<usize> = (0..atoms.rows()).collect();
    let by = |j: usize| (size[j], norm(atoms.row(j)));
    order.sort_by(|&a, &b| {
        let (a, b) = (by(a), by(b));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    let sign = |j: usize| if signed { sign_of(atoms.row(j), eps) } else { 1.0 };
    let signs: Vec<f64> = order.iter().map(|&j| sign(j)).collect();
    // -0 and 0 are equal numbers but not equal bits.
    let components = Matrix::from_fn(order.len(), atoms.cols(), |i, c| signs[i] * atoms[(order[i], c)] + 0.0);
    (components, order.iter().map(|&j| share[j]).collect())
}

/// The parameters that codes depend on.
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

/// Codes as sparse coding has them.
pub(super) fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let alpha = require(tensors, "alpha", &[])?.f64s()[0];
    if !(alpha > 0.0 && alpha.is_finite()) {
        return Err(Error::Unsupported {
            asked: "using this model".into(),
            found: format!("its alpha is {alpha}"),
            remedy: "the file is corrupt: fit the model again".into(),
        });
    }
    let positive_code = settings.get("positive_code").and_then(Value::as_bool).unwrap_or(false);
    let coder = SparseCoder { alpha: Alpha::Weight(alpha), positive_code, ..SparseCoder::default() };
    sparse_coder::code_of(&coder, tensors)
}
