//! Rows in files: handles, and arrays as read.

use crate::call::{RunOptionsTuple, call};
use crate::error::raised;
use crate::input::warn_notes;
use crate::sparse::{Compressed, csr, stored};
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use unmix::data::{RowValues, Sink, VecSink};
use unmix::{AnyRows, Dtype, Real, Rows, Run};
use unmix_io::{Missing, Options, Patches, Pixels, Wording};

/// Reading options, as a dict with all of them; the names are those of the command-line options.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    input_format: Option<String>,
    transpose: bool,
    rows_axis: Vec<usize>,
    feature_shape: Option<Vec<usize>>,
    columns: Option<String>,
    drop: Option<String>,
    names: Option<Vec<String>>,
    header: Option<bool>,
    skip_rows: usize,
    delimiter: Option<String>,
    decimal: String,
    na: Vec<String>,
    missing: String,
    rows: Option<(u64, Option<u64>)>,
    dtype: Option<String>,
    key: Option<String>,
    grey: bool,
    rgb: bool,
    patches: Option<(usize, usize)>,
    stride: Option<usize>,
    padding: usize,
    number: Option<usize>,
    patch_seed: u64,
    normalise: bool,
    triplets: bool,
}

impl Reading {
    fn options(self) -> unmix::Result<Options> {
        let cut = |(height, width)| Patches {
            height,
            width,
            stride: self.stride,
            padding: self.padding,
            number: self.number,
            seed: self.patch_seed,
            normalise: self.normalise,
        };
        Ok(Options {
            input_format: self.input_format.as_deref().map(Options::input_format_of).transpose()?,
            transpose: self.transpose,
            rows_axis: self.rows_axis,
            feature_shape: self.feature_shape,
            columns: self.columns,
            drop: self.drop,
            unnamed: self.names.is_some(),
            names: self.names,
            header: self.header,
            skip_rows: self.skip_rows,
            delimiter: self.delimiter.as_deref().map(Options::delimiter_of).transpose()?,
            decimal_comma: Options::decimal_of(&self.decimal)?,
            na: self.na,
            missing: Options::missing_of(&self.missing)?,
            rows: self.rows,
            dtype: self.dtype.as_deref().map(Options::dtype_of).transpose()?,
            key: self.key,
            patches: self.patches.map(cut),
            pixels: match (self.grey, self.rgb) {
                (true, _) => Some(Pixels::Grey),
                (_, true) => Some(Pixels::Rgb),
                _ => None,
            },
            triplets: self.triplets,
            wording: Wording::PythonRead,
            ..Options::default()
        })
    }
}

/// The note that a row of an array of this shape is several of its axes, unless these look like a picture; `name` is that of the array.
#[pyfunction]
pub(crate) fn note_on_axes(name: &str, shape: Vec<u64>) -> Option<String> {
    unmix_io::note_on_axes(name, &shape)
}

/// Files that are read again by every function that takes rows: the handle returned by `unmix.open`.
#[pyclass(frozen, module = "unmix._unmix")]
pub(crate) struct Files {
    pub(crate) inner: Arc<unmix_io::Files>,
}

/// Numbers of rows and columns, names of the columns, and the name of the type.
type TableProperties = (u64, usize, Option<Vec<String>>, &'static str);

/// Rows and columns of cells.
type Cells<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

#[pymethods]
impl Files {
    /// `stamps` are those of a handle of which this one is a copy.
    #[new]
    #[pyo3(signature = (paths, reading, stamps=None))]
    fn new(paths: Vec<PathBuf>, reading: Reading, stamps: Option<&str>) -> PyResult<Self> {
        let opened = || {
            let files = unmix_io::Files::new(&paths, reading.options()?)?;
            match stamps {
                Some(stamps) => files.with_stamps(stamps),
                None => Ok(files),
            }
        };
        Ok(Self { inner: Arc::new(opened().map_err(|e| raised(e, Dtype::F64))?) })
    }

    /// Metadata of each file from the system when the handle was made.
    #[getter]
    fn stamps(&self) -> Option<String> {
        self.inner.stamps()
    }

    #[getter]
    fn paths(&self) -> Vec<PathBuf> {
        self.inner.paths().map(Into::into).collect()
    }

    /// Whether they are lists of cells.
    #[getter]
    fn lists_cells(&self) -> bool {
        self.inner.lists_cells()
    }

    /// Whether one of them can be read only once.
    #[getter]
    fn read_once(&self) -> bool {
        self.inner.read_once()
    }

    /// Rows and columns of the cells of a list, in the order of its lines.
    fn cells<'py>(&self, py: Python<'py>, run_options: RunOptionsTuple) -> PyResult<Cells<'py>> {
        let files = self.inner.clone();
        let cells = call(py, run_options.into(), Dtype::F64, None, move |run| files.cells(run))?;
        warn_notes(py, unmix_io::note_on_requested_cells(&cells).as_slice())?;
        let (rows, columns): (Vec<u64>, Vec<u64>) = cells.into_iter().unzip();
        Ok((PyArray1::from_vec(py, rows), PyArray1::from_vec(py, columns)))
    }

    /// Numbers of rows and columns, names and type, without keeping the rows.
    fn about(&self, py: Python<'_>, run_options: RunOptionsTuple) -> PyResult<TableProperties> {
        let files = self.inner.clone();
        let about = call(py, run_options.into(), Dtype::F64, None, move |run| files.about(run))?;
        Ok((about.n_rows, about.n_features, about.names, about.dtype.name()))
    }

    /// Missing cells of each column; of a list of cells, those that are not listed.
    fn missing(&self, py: Python<'_>, run_options: RunOptionsTuple) -> PyResult<Vec<u64>> {
        let files = self.inner.clone();
        call(py, run_options.into(), Dtype::F64, None, move |run| files.missing(run))
    }

    /// Pictures of these patches, of which there is one in each row.
    fn reconstruct_from_patches<'py>(
        &self,
        py: Python<'py>,
        run_options: RunOptionsTuple,
        patches: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Vec<Bound<'py, PyArrayDyn<f64>>>> {
        let files = self.inner.clone();
        let (n, p) = patches.as_array().dim();
        let numbers: Vec<f64> = patches.as_array().iter().copied().collect();
        let result = call(py, run_options.into(), Dtype::F64, None, move |run| {
            let Some(cut) = files.cut_images(run)? else {
                return Ok(Err("the rows of these files are not patches; give patches and stride, as in unmix.open(..., patches=(8, 8), stride=1)".into()));
            };
            let mut assembly = cut.assembly()?;
            if (n as u64, p) != (cut.n_patches(), cut.n_features()) {
                let patches = if cut.n_patches() == 1 { "patch" } else { "patches" };
                let numbers = unmix::internal::error::counted(cut.n_features() as u64, "number");
                let of = format!("the pictures have {} {patches} of {numbers}", cut.n_patches());
                return Ok(Err(format!("patches has shape ({n}, {p}), but {of}")));
            }
            assembly.put(&numbers)?;
            let pictures = assembly.finish()?;
            Ok(Ok((cut.note_on_uncovered(&pictures), pictures)))
        })?;
        let (note, pictures) = result.map_err(PyValueError::new_err::<String>)?;
        warn_notes(py, note.as_slice())?;
        pictures
            .into_iter()
            .map(|picture| PyArray1::from_vec(py, picture.pixels).reshape(picture.shape))
            .collect()
    }

    /// Raises an error if a file has changed since it was opened.
    fn check_unchanged(&self) -> PyResult<()> {
        self.inner.check_unchanged().map_err(|e| raised(e, Dtype::F64))
    }

    /// Which of `n` values, one for each row, belong to the rows that are used where the columns `wanted` are read, by name: their places; None if all
    /// do. `values` are the name of the argument that gives them, and the word for one of them.
    fn places_of_values<'py>(
        &self,
        py: Python<'py>,
        run_options: RunOptionsTuple,
        n: u64,
        values: (String, String),
        wanted: Option<Vec<String>>,
    ) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        if !self.inner.selects_rows() {
            return Ok(None);
        }
        let files = self.inner.clone();
        let places = call(py, run_options.into(), Dtype::F64, None, move |run| {
            let mut rows = files.open_as(run, |options| options.wanted = wanted)?.rows;
            rows.prepare(run)?;
            let (name, one) = &values;
            let chosen = rows.used().chosen(n, RowValues { name, one, file: None })?;
            Ok(chosen.map(|selected| selected.of(&(0..n as i64).collect::<Vec<i64>>())))
        })?;
        Ok(places.map(|places| PyArray1::from_vec(py, places)))
    }

    /// The rows, or the first of them, in the type in which they are computed; of a list of cells and a sparse matrix of scipy as a `csr_array`.
    /// With `wanted`, the columns of these names, in this order, if the files have names; with `whole`, also rows with missing cells that the handle
    /// leaves out.
    #[pyo3(signature = (run_options, most=None, wanted=None, whole=false))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        run_options: RunOptionsTuple,
        most: Option<usize>,
        wanted: Option<Vec<String>>,
        whole: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let files = self.inner.clone();
        let (rows, notes) = call(py, run_options.into(), Dtype::F64, None, move |run| {
            let opened = files.open_as(run, |options| {
                options.wanted = wanted;
                if whole {
                    options.missing = Missing::Keep;
                }
            });
            let rows = opened?.rows;
            let notes = rows.notes().to_vec();
            let table = match rows {
                AnyRows::F32(rows) => Table::F32(Contents::of(rows, most, run)?),
                AnyRows::F64(rows) => Table::F64(Contents::of(rows, most, run)?),
            };
            Ok((table, notes))
        })?;
        warn_notes(py, &notes)?;
        Ok(match rows {
            Table::F32(contents) => contents.into_python(py)?,
            Table::F64(contents) => contents.into_python(py)?,
        })
    }
}

/// The numbers of all rows, or of the first `most`.
fn numbers<T: Real>(rows: Rows<'static, T>, most: Option<usize>, run: &Run<'_>) -> unmix::Result<Vec<T>> {
    match most {
        Some(most) => unmix_io::first_rows(&rows, most),
        None => rows.into_numbers().or_else(|rows| all(&rows, run)),
    }
}

/// Rows of either type.
enum Table {
    F32(Contents<f32>),
    F64(Contents<f64>),
}

enum Contents<T> {
    /// Row-major numbers, and the number of columns.
    Dense(Vec<T>, usize),
    /// The stored entries of sparse rows, and the numbers of rows and columns.
    Stored(Compressed<T, i64>, [usize; 2]),
}

impl<T: Real> Contents<T> {
    /// All rows, or the first `most`.
    fn of(rows: Rows<'static, T>, most: Option<usize>, run: &Run<'_>) -> unmix::Result<Self> {
        let p = rows.n_features();
        Ok(match rows.sparse() {
            Some(sparse) => {
                let n = sparse.n_rows().min(most.unwrap_or(usize::MAX));
                Contents::Stored(stored(sparse, n), [n, p])
            }
            None => Contents::Dense(numbers(rows, most, run)?, p),
        })
    }
}

impl<T: Element> Contents<T> {
    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Contents::Dense(numbers, p) => table(py, numbers, p),
            Contents::Stored(entries, shape) => csr(py, entries, shape),
        }
    }
}

fn all<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> unmix::Result<Vec<T>> {
    let p = rows.n_features();
    if let (Some(n), None) = (rows.n_rows(), rows.source().random()) {
        let mut whole = unmix::zeros(n as usize * p);
        if let Some(filled) = rows.source().fill(&mut whole, run.threads) {
            return filled.map(|()| whole);
        }
    }
    let mut sink = VecSink(Vec::with_capacity(rows.n_rows().unwrap_or(0) as usize * p));
    rows.map(
        run,
        "reading",
        p,
        |block, out, _| {
            out.copy_from_slice(block.data);
            Ok(())
        },
        &mut sink,
    )?;
    Ok(sink.0)
}

fn table<T: Element>(py: Python<'_>, numbers: Vec<T>, p: usize) -> PyResult<Bound<'_, PyAny>> {
    let n = numbers.len().checked_div(p).unwrap_or(0);
    Ok(PyArray1::from_vec(py, numbers).reshape([n, p])?.into_any())
}
