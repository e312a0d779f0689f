//! A parameter: numbers of one type, and their shape.

use crate::error::{Error, Result};
use crate::num::{Dtype, Matrix, Real, Values};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Numbers with a shape, row-major. The shape of a single number is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    values: Values,
}

impl Tensor {
    /// A tensor of this shape, with the numbers in row-major order.
    ///
    /// # Panics
    ///
    /// If the number of values is not the product of the lengths of the axes.
    pub fn new(shape: Vec<usize>, values: Values) -> Self {
        assert_eq!(volume(&shape), Some(values.len()), "shape {shape:?}");
        Self { shape, values }
    }

    /// A matrix, stored as `dtype`.
    pub fn matrix(m: &Matrix<f64>, dtype: Dtype) -> Self {
        Self::stored(vec![m.rows(), m.cols()], m.as_slice(), dtype)
    }

    /// A vector, stored as `dtype`.
    pub fn vector(v: &[f64], dtype: Dtype) -> Self {
        Self::stored(vec![v.len()], v, dtype)
    }

    /// A single number, stored as `dtype`.
    pub fn scalar(x: f64, dtype: Dtype) -> Self {
        Self::stored(vec![], &[x], dtype)
    }

    fn stored(shape: Vec<usize>, numbers: &[f64], dtype: Dtype) -> Self {
        let values = match dtype {
            Dtype::F32 => Values::F32(numbers.iter().map(|&x| x as f32).collect()),
            Dtype::F64 => Values::F64(numbers.to_vec()),
        };
        Self::new(shape, values)
    }

    /// Length of every axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The numbers.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The numbers in type `T`: borrowed if they have this type, else converted.
    pub fn to<T: Real>(&self) -> Cow<'_, [T]> {
        T::view(&self.values)
    }

    /// The numbers in double precision.
    pub fn f64s(&self) -> Vec<f64> {
        self.to::<f64>().into_owned()
    }

    /// As a matrix in double precision; a vector is one row.
    pub fn to_matrix(&self) -> Matrix<f64> {
        let cols = self.shape.last().copied().unwrap_or(1);
        let rows = self.values.len().checked_div(cols).unwrap_or(0);
        Matrix::from_vec(rows, cols, self.f64s())
    }
}

/// Product of the lengths of a shape, unless it overflows.
pub(super) fn volume(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))
}

/// Parameters by name.
pub type Tensors = BTreeMap<String, Tensor>;

/// The tensor named `name`, which every model of this method must have.
pub(crate) fn require<'a>(tensors: &'a Tensors, name: &str, shape: &[Option<usize>]) -> Result<&'a Tensor> {
    let tensor = tensors.get(name).ok_or_else(|| Error::corrupt_model(format!("it has no '{name}'")))?;
    let fits = tensor.shape().len() == shape.len()
        && tensor.shape().iter().zip(shape).all(|(have, need)| need.is_none_or(|n| n == *have));
    if fits {
        Ok(tensor)
    } else {
        Err(Error::corrupt_model(format!("its '{name}' has shape {:?}", tensor.shape())))
    }
}
