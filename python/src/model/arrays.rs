//! Numpy arrays of the numbers of a model.

use super::Model;
use numpy::ndarray::{ArrayViewD, IxDyn};
use numpy::{Element, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use unmix::Matrix;
use unmix::model::{Tensor, Values};

/// A parameter as a view of the model's memory.
pub(super) fn lend<'py>(model: &Bound<'py, Model>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    match tensor.values() {
        Values::F32(numbers) => view(model, tensor.shape(), numbers),
        Values::F64(numbers) => view(model, tensor.shape(), numbers),
    }
}

/// A read-only array over the model's own memory; a single number becomes a numpy scalar.
fn view<'py, T: Element>(
    model: &Bound<'py, Model>,
    shape: &[usize],
    numbers: &[T],
) -> PyResult<Bound<'py, PyAny>> {
    let view = ArrayViewD::from_shape(IxDyn(shape), numbers)
        .map_err(|e| pyo3::exceptions::PyRuntimeError::new_err(e.to_string()))?;
    // SAFETY: the array keeps the model object alive, which never changes or moves its numbers.
    let array = unsafe { PyArrayDyn::borrow_from_array(&view, model.clone().into_any()) };
    array.call_method1("setflags", (false,))?;
    if shape.is_empty() { array.get_item(()) } else { Ok(array.into_any()) }
}

/// A matrix as an array.
pub(crate) fn matrix(py: Python<'_>, m: Matrix<f64>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let shape = [m.rows(), m.cols()];
    PyArray1::from_vec(py, m.into_vec()).reshape(shape)
}
