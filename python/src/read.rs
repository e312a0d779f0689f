//! Files as arrays: what a reader makes of them, before any method sees it.

use crate::call::{FactsTuple, call};
use crate::input::tell_notes;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use std::path::PathBuf;
use unmix::data::VecSink;
use unmix::{AnyRows, Dtype, Real, Rows, Run};
use unmix_io::{Options, Patches, Pixels, Wording};

/// How files are to be read, as a dict with all of these; the names are those of the command line's flags.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    transpose: bool,
    rows_axis: Option<usize>,
    feature_shape: Option<Vec<usize>>,
    columns: Option<String>,
    drop: Option<String>,
    header: Option<bool>,
    skip_rows: usize,
    key: Option<String>,
    grey: bool,
    rgb: bool,
    patches: Option<(usize, usize)>,
    stride: Option<usize>,
    padding: usize,
    number: Option<usize>,
    patch_seed: u64,
    normalise: bool,
}

impl Reading {
    fn options(self) -> Options {
        let cut = |(height, width)| Patches {
            height,
            width,
            stride: self.stride,
            padding: self.padding,
            number: self.number,
            seed: self.patch_seed,
            normalise: self.normalise,
        };
        Options {
            transpose: self.transpose,
            rows_axis: self.rows_axis,
            feature_shape: self.feature_shape,
            columns: self.columns,
            drop: self.drop,
            header: self.header,
            skip_rows: self.skip_rows,
            key: self.key,
            patches: self.patches.map(cut),
            pixels: match (self.grey, self.rgb) {
                (true, _) => Some(Pixels::Grey),
                (_, true) => Some(Pixels::Rgb),
                _ => None,
            },
            wording: Wording::PythonRead,
            ..Options::default()
        }
    }
}

/// The rows of files, in the type that they are computed in.
#[pyfunction]
pub(crate) fn read<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    facts: FactsTuple,
    reading: Reading,
) -> PyResult<Bound<'py, PyAny>> {
    let (rows, notes) = call(py, facts.into(), Dtype::F64, None, move |run| {
        let rows = unmix_io::open_many(&paths, &reading.options(), run)?.rows;
        let notes = rows.notes().to_vec();
        let table = match rows {
            AnyRows::F32(rows) => {
                let p = rows.n_features();
                Table::F32(rows.into_numbers().or_else(|rows| all(&rows, run))?, p)
            }
            AnyRows::F64(rows) => {
                let p = rows.n_features();
                Table::F64(rows.into_numbers().or_else(|rows| all(&rows, run))?, p)
            }
        };
        Ok((table, notes))
    })?;
    tell_notes(py, &notes)?;
    Ok(match rows {
        Table::F32(numbers, p) => table(py, numbers, p)?,
        Table::F64(numbers, p) => table(py, numbers, p)?,
    })
}

/// Numbers of either type, row-major, and how many stand in a row.
enum Table {
    F32(Vec<f32>, usize),
    F64(Vec<f64>, usize),
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

fn table<T: numpy::Element>(py: Python<'_>, numbers: Vec<T>, p: usize) -> PyResult<Bound<'_, PyAny>> {
    let n = numbers.len().checked_div(p).unwrap_or(0);
    Ok(PyArray1::from_vec(py, numbers).reshape([n, p])?.into_any())
}
