//! Sparse matrices of scipy, borrowed without a copy of their numbers.

use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use unmix::data::{AnyRows, Features, Sparse};
use unmix::{Dtype, Real, Rows};

/// A matrix in compressed rows (`csr`) or columns (`csc`).
pub(crate) struct LentSparse {
    by_row: bool,
    shape: (usize, usize),
    starts: Vector<i64>,
    places: IndexArray,
    values: Values,
}

enum IndexArray {
    I32(Vector<i32>),
    I64(Vector<i64>),
}

enum Values {
    F32(Vector<f32>),
    F64(Vector<f64>),
}

/// Values, columns, and the start of each row and the end of the last one.
pub(crate) type Compressed<T, I> = (Vec<T>, Vec<I>, Vec<i64>);

/// Compressed sparse rows as a `csr_array` of scipy.
pub(crate) fn csr<T: Element, I: Element>(
    py: Python<'_>,
    (values, columns, starts): Compressed<T, I>,
    shape: [usize; 2],
) -> PyResult<Bound<'_, PyAny>> {
    let parts =
        (PyArray1::from_vec(py, values), PyArray1::from_vec(py, columns), PyArray1::from_vec(py, starts));
    py.import("scipy.sparse")?.getattr("csr_array")?.call1((parts, (shape[0], shape[1])))
}

/// The stored entries of the first `n` rows.
pub(crate) fn stored<T: Real>(rows: &Sparse<'_, T>, n: usize) -> Compressed<T, i64> {
    let (mut values, mut columns, mut starts) = (Vec::new(), Vec::new(), vec![0]);
    for i in 0..n.min(rows.n_rows()) {
        let (own, numbers) = rows.row(i);
        columns.extend(own.iter().map(|&j| i64::from(j)));
        values.extend_from_slice(numbers);
        starts.push(values.len() as i64);
    }
    (values, columns, starts)
}

/// The memory of a contiguous, aligned one-dimensional numpy array.
struct Vector<T> {
    /// Keeps the memory alive.
    _owner: Py<PyArray1<T>>,
    start: *const T,
    len: usize,
}

// SAFETY: the memory belongs to an array that the same struct keeps alive, and is only read.
unsafe impl<T: Send> Send for Vector<T> {}
// SAFETY: the same.
unsafe impl<T: Sync> Sync for Vector<T> {}

impl<T: Element> Vector<T> {
    /// The numbers of `x` in this type: those of the array itself if it has this type.
    fn new(x: &Bound<'_, PyAny>, dtype: &str) -> PyResult<Self> {
        let array = x.py().import("numpy")?.call_method1("require", (x, dtype, ["C", "A"]))?;
        let array = array.cast_into::<PyArray1<T>>()?;
        Ok(Self { start: array.data().cast_const(), len: array.len(), _owner: array.unbind() })
    }

    fn as_slice(&self) -> &[T] {
        // SAFETY: contiguous and aligned, as required above; the owner keeps the memory for as long as `self` exists. Another
        // Python thread may write to it meanwhile; then the numbers are whatever was read, and indices are copied before they
        // are checked and used.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl LentSparse {
    /// Borrows the arrays of a scipy object.
    pub(crate) fn new(x: &Bound<'_, PyAny>) -> PyResult<Self> {
        let format: String = x.getattr("format")?.extract()?;
        let by_row = match format.as_str() {
            "csr" => true,
            "csc" => false,
            other => {
                return Err(PyTypeError::new_err(format!(
                    "sparse rows must be in format csr or csc, got {other}"
                )));
            }
        };
        let name = |part: &str| -> PyResult<String> { x.getattr(part)?.getattr("dtype")?.str()?.extract() };
        let places = match name("indices")?.as_str() {
            "int32" => IndexArray::I32(Vector::new(&x.getattr("indices")?, "int32")?),
            _ => IndexArray::I64(Vector::new(&x.getattr("indices")?, "int64")?),
        };
        let values = match name("data")?.as_str() {
            "float32" => Values::F32(Vector::new(&x.getattr("data")?, "float32")?),
            _ => Values::F64(Vector::new(&x.getattr("data")?, "float64")?),
        };
        let starts = Vector::new(&x.getattr("indptr")?, "int64")?;
        Ok(Self { by_row, shape: x.getattr("shape")?.extract()?, starts, places, values })
    }

    pub(crate) fn dtype(&self) -> Dtype {
        match self.values {
            Values::F32(_) => Dtype::F32,
            Values::F64(_) => Dtype::F64,
        }
    }

    /// Rows and columns.
    pub(crate) fn shape(&self) -> (u64, u64) {
        (self.shape.0 as u64, self.shape.1 as u64)
    }

    pub(crate) fn rows(&self, names: Option<Vec<String>>) -> unmix::Result<AnyRows<'_>> {
        let features = Features { names, shape: None };
        Ok(match &self.values {
            Values::F32(values) => AnyRows::F32(Rows::new(self.of(values.as_slice())?, features, "X")),
            Values::F64(values) => AnyRows::F64(Rows::new(self.of(values.as_slice())?, features, "X")),
        })
    }

    fn of<'a, T: Real>(&self, values: &'a [T]) -> unmix::Result<Sparse<'a, T>> {
        let ((n, p), starts) = (self.shape, self.starts.as_slice());
        match (&self.places, self.by_row) {
            (IndexArray::I32(at), true) => Sparse::from_csr(starts, at.as_slice(), values, p),
            (IndexArray::I64(at), true) => Sparse::from_csr(starts, at.as_slice(), values, p),
            (IndexArray::I32(at), false) => Sparse::from_csc(starts, at.as_slice(), values, n),
            (IndexArray::I64(at), false) => Sparse::from_csc(starts, at.as_slice(), values, n),
        }
    }
}
