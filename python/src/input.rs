//! Input from Python: an array, dense or sparse, borrowed without a copy, or the path of a file.

use crate::error::in_python;
use crate::read::Files;
use crate::sparse::LentSparse;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use unmix::data::{AnyRows, Axes, Bytes, Features, NumberType, RawArray};
use unmix::model::PictureRow;
use unmix::{Dtype, Rows, Run};

/// Rows in the form in which Python passes them.
pub(crate) enum Input {
    /// An array in memory.
    Array(BorrowedArray),
    /// A sparse matrix of scipy's in memory.
    Sparse(LentSparse),
    /// A file.
    Path(PathBuf),
    /// Files and how they are read.
    Files(Arc<unmix_io::Files>),
}

/// The columns that are wanted from an input.
#[derive(Default)]
pub(crate) struct Wanted {
    /// The column names of an array, or those that a model needs from a file.
    pub(crate) names: Option<Vec<String>>,
    /// The shape of a sample of an array that had more than two axes; a file has its own.
    pub(crate) shape: Option<Vec<usize>>,
    /// Their number, if there is a model: the last columns of a list of cells may have no cell.
    pub(crate) n_features: Option<usize>,
    /// How the pictures of the model were read, if its rows were pictures.
    pub(crate) pictures: Option<PictureRow>,
}

impl From<Option<Vec<String>>> for Wanted {
    fn from(names: Option<Vec<String>>) -> Self {
        Self { names, ..Self::default() }
    }
}

/// The memory of a numpy array of two axes: any numbers, strides, byte order and alignment.
pub(crate) struct BorrowedArray {
    /// Keeps the memory alive.
    _owner: Py<PyUntypedArray>,
    /// The lowest address of any entry.
    start: Address,
    /// Number of bytes from there to the end of the highest entry.
    len: usize,
    /// Byte offset of the entry at (0, 0).
    origin: i64,
    number: NumberType,
    rows: Axes,
    features: Axes,
}

struct Address(*const u8);
// SAFETY: the memory belongs to an array that the same struct keeps alive, and is only read.
unsafe impl Send for Address {}
// SAFETY: the same.
unsafe impl Sync for Address {}

/// The options with which a path is read.
fn path_options() -> unmix_io::Options {
    unmix_io::Options { wording: unmix_io::Wording::PythonPath, ..Default::default() }
}

impl Input {
    /// From an array of two axes, a sparse matrix, files that were opened, or a path as text. `fitted` describes how the pictures of the fit or of
    /// the batches before were read, if there are any: pictures that are read in another way give a warning, before anything is computed.
    pub(crate) fn new(x: &Bound<'_, PyAny>, fitted: Option<PictureRow>) -> PyResult<Self> {
        let input = Self::of(x)?;
        let other = fitted.and_then(|fitted| input.pictures()?.unlike(fitted));
        warn_notes(x.py(), other.as_slice())?;
        Ok(input)
    }

    fn of(x: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(files) = x.cast::<Files>() {
            return Ok(Input::Files(files.get().inner.clone()));
        }
        if x.hasattr("indptr")? {
            return Ok(Input::Sparse(LentSparse::new(x)?));
        }
        match x.cast::<PyUntypedArray>() {
            Ok(array) => Ok(Input::Array(BorrowedArray::new(array)?)),
            Err(_) => Ok(Input::Path(x.extract::<PathBuf>()?)),
        }
    }

    /// The type in which the rows are computed; for files it is known when they are opened.
    pub(crate) fn dtype(&self) -> Dtype {
        match self {
            Input::Array(lent) => lent.dtype(),
            Input::Sparse(lent) => lent.dtype(),
            Input::Path(_) | Input::Files(_) => Dtype::F64,
        }
    }

    /// Numbers of rows and columns, if they are known before anything is read.
    pub(crate) fn shape(&self) -> Option<(u64, u64)> {
        match self {
            Input::Array(lent) => Some((lent.rows.len(), lent.features.len())),
            Input::Sparse(lent) => Some(lent.shape()),
            Input::Path(_) | Input::Files(_) => None,
        }
    }

    /// The rows, and the notes about how a file was read.
    pub(crate) fn rows(
        &self,
        wanted: impl Into<Wanted>,
        run: &Run<'_>,
    ) -> unmix::Result<(AnyRows<'_>, Notices)> {
        self.named_rows(wanted, false, run)
    }

    /// The same; with `row_names`, the row names of a file are read, too.
    pub(crate) fn named_rows(
        &self,
        wanted: impl Into<Wanted>,
        row_names: bool,
        run: &Run<'_>,
    ) -> unmix::Result<(AnyRows<'_>, Notices)> {
        let Wanted { names, shape, n_features, pictures } = wanted.into();
        let fitted = pictures.filter(|_| self.pictures().is_some()).zip(n_features);
        match self {
            Input::Array(lent) => Ok((lent.rows(Features { names, shape })?, Notices::default())),
            Input::Sparse(lent) => Ok((lent.rows(names)?, Notices::default())),
            Input::Path(path) => {
                let options = unmix_io::Options { wanted: names, n_features, row_names, ..path_options() };
                let input = unmix_io::open_with(path, &options, run)?;
                fitted.map_or(Ok(()), |(row, p)| options.check_size(&input.rows, p, row))?;
                Ok(notices(input))
            }
            Input::Files(files) => {
                let input = files.open_as(run, |options| {
                    options.wanted = names;
                    options.n_features = n_features;
                    options.row_names = row_names;
                })?;
                fitted.map_or(Ok(()), |(row, p)| files.check_size(&input.rows, p, row))?;
                Ok(notices(input))
            }
        }
    }

    /// Refuses a fit to rows that are a single picture, which is not cut into patches.
    pub(crate) fn check_pictures(&self, rows: &AnyRows<'_>) -> unmix::Result<()> {
        let whole = unmix_io::Options::default().row_of_pictures();
        if rows.n_rows() != Some(1) || self.pictures() != Some(whole) {
            return Ok(());
        }
        Err(match self {
            Input::Files(files) => files.one_picture(),
            _ => path_options().one_picture(),
        })
    }

    /// How pictures are read, if the input is pictures.
    pub(crate) fn pictures(&self) -> Option<PictureRow> {
        match self {
            Input::Path(path) => {
                let files = unmix_io::expand(std::slice::from_ref(path), None).ok()?;
                let pictures = files.first().is_some_and(|file| unmix_io::is_image(file, None));
                pictures.then(|| unmix_io::Options::default().row_of_pictures())
            }
            Input::Files(files) => files.row_of_pictures(),
            Input::Array(_) | Input::Sparse(_) => None,
        }
    }

    /// The files of the rows; none of rows in memory.
    pub(crate) fn files(&self) -> unmix::Result<Option<Arc<unmix_io::Files>>> {
        match self {
            Input::Path(path) => Ok(Some(Arc::new(unmix_io::Files::new(&[path], path_options())?))),
            Input::Files(files) => Ok(Some(files.clone())),
            Input::Array(_) | Input::Sparse(_) => Ok(None),
        }
    }

    /// The name shown on a page.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Input::Path(path) => Some(path.display().to_string()),
            Input::Files(files) => {
                let names: Vec<String> = files.paths().map(|path| path.display().to_string()).collect();
                Some(match &names[..] {
                    [first, rest @ ..] if !rest.is_empty() => format!("{first} and {} more", rest.len()),
                    _ => names.concat(),
                })
            }
            _ => None,
        }
    }
}

fn notices(input: unmix_io::Input) -> (AnyRows<'static>, Notices) {
    let notes = input.rows.notes().to_vec();
    (input.rows, Notices { ignored: input.ignored, notes, row_names: input.row_names })
}

/// Notes for the user about how a file was read.
#[derive(Default)]
pub(crate) struct Notices {
    /// Columns that were dropped because the model was not fitted on them.
    ignored: Vec<String>,
    /// Sentences.
    notes: Vec<String>,
    /// Row names of a file, if they were requested.
    pub(crate) row_names: Option<Vec<String>>,
}

impl Notices {
    /// The notes about how a file was read, with arguments as Python writes them.
    pub(crate) fn sentences(&self) -> Vec<String> {
        self.notes.iter().map(|note| in_python(note)).collect()
    }
}

/// Passes on the notes about how a file was read, as Python warnings.
pub(crate) fn warn(py: Python<'_>, notices: &Notices) -> PyResult<()> {
    warn_ignored(py, notices)?;
    warn_notes(py, &notices.notes)
}

/// Warns of columns that were dropped. The notes about how the file of a fit was read are warnings of its report.
pub(crate) fn warn_ignored(py: Python<'_>, notices: &Notices) -> PyResult<()> {
    if !notices.ignored.is_empty() {
        py.import("unmix._input")?.call_method1("warn_ignored", (&notices.ignored,))?;
    }
    Ok(())
}

/// Raises sentences as Python warnings.
pub(crate) fn warn_notes(py: Python<'_>, notes: &[String]) -> PyResult<()> {
    for note in notes {
        py.import("unmix._input")?.call_method1("warn", (in_python(note),))?;
    }
    Ok(())
}

impl BorrowedArray {
    fn new(array: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        let descr = array.dtype();
        let big_endian =
            descr.is_native_byteorder().is_some_and(|native| native == cfg!(target_endian = "big"));
        let number = NumberType::new(descr.kind(), descr.itemsize(), big_endian);
        let (&[n, p], &[row, column]) = (array.shape(), array.strides()) else {
            return Err(PyTypeError::new_err(format!(
                "rows must be an array of 2 axes, got {}",
                array.ndim()
            )));
        };
        if !number.known() {
            return Err(PyTypeError::new_err(format!(
                "rows must be real numbers of at most 8 bytes, got {descr}"
            )));
        }
        let reach = |len: usize, stride: isize| (len.max(1) - 1) as i64 * stride as i64;
        let ends = [reach(n, row), reach(p, column)];
        let low: i64 = ends.iter().map(|e| e.min(&0)).sum();
        let high: i64 = ends.iter().map(|e| e.max(&0)).sum::<i64>() + number.size as i64;
        // SAFETY: a live array; its data pointer is that of the entry at (0, 0).
        let first = unsafe { (*array.as_array_ptr()).fields.data.cast::<u8>().cast_const() };
        // Numpy guarantees the extent of its strides, except for an empty axis, hence wrapping arithmetic.
        let start = first.wrapping_offset(low as isize);
        Ok(Self {
            _owner: array.clone().unbind(),
            start: Address(start),
            len: if n == 0 || p == 0 { 0 } else { (high - low) as usize },
            origin: -low,
            number,
            rows: Axes::one(n as u64, row as i64),
            features: Axes::one(p as u64, column as i64),
        })
    }

    fn dtype(&self) -> Dtype {
        // Half precision is a storage format: as in Python, everything except float32 is computed in float64.
        if self.number.kind == b'f' && self.number.size == 4 { Dtype::F32 } else { Dtype::F64 }
    }

    fn rows(&self, features: Features) -> unmix::Result<AnyRows<'_>> {
        // SAFETY: the owner keeps the memory for as long as `self` exists. Another Python thread may write to it meanwhile, as
        // with every function of numpy that works without the interpreter lock; then the numbers are whatever was read.
        let bytes = unsafe { std::slice::from_raw_parts(self.start.0, self.len) };
        let array = RawArray::new(
            Bytes::Lent(bytes),
            self.origin,
            self.number,
            self.rows.clone(),
            self.features.clone(),
        )?;
        Ok(match self.dtype() {
            Dtype::F32 => AnyRows::F32(Rows::new(array, features, "X")),
            Dtype::F64 => AnyRows::F64(Rows::new(array, features, "X")),
        })
    }
}
