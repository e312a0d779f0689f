//! Codes of rows and rows of codes, as arrays, as scipy's compressed sparse rows, or in files.

use crate::input::warn_notes;
use crate::sparse::csr;
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use std::path::Path;
use unmix::data::{EntrySink, RowEntries, Sink, VecSink};
use unmix::model::Encoded;
use unmix::{AnyRows, Real, Rows, Run};

/// Which map of the model to apply.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    /// To codes; with all their entries in place of sparse ones, if `dense`.
    Encode {
        dense: bool,
    },
    Decode,
}

/// Result of a map.
pub(crate) struct Table {
    pub(crate) encoded: Encoded,
    width: usize,
    numbers: Numbers,
}

enum Numbers {
    F32(Entries<f32>),
    F64(Entries<f64>),
}

/// Row-major numbers, or the non-zero ones.
enum Entries<T> {
    Dense(Vec<T>),
    Sparse(Stored<T>),
}

/// Compressed sparse rows.
struct Stored<T> {
    width: usize,
    values: Vec<T>,
    columns: Vec<i32>,
    /// Start of each row, and the end of the last.
    starts: Vec<i64>,
}

impl<T: Real> Sink<T> for Stored<T> {
    fn put(&mut self, rows: &[T]) -> unmix::Result<()> {
        let mut entries = RowEntries::default();
        entries.push(rows, self.width);
        self.put_entries(entries)
    }

    fn entries(&mut self) -> Option<&mut dyn EntrySink<T>> {
        Some(self)
    }
}

impl<T: Real> EntrySink<T> for Stored<T> {
    fn put_entries(&mut self, rows: RowEntries<T>) -> unmix::Result<()> {
        let before = self.values.len();
        self.values.extend(rows.values);
        self.columns.extend(rows.columns.iter().map(|j| *j as i32));
        self.starts.extend(rows.ends.iter().map(|end| (before + end) as i64));
        Ok(())
    }
}

impl Direction {
    fn width(self, model: &unmix::Model) -> usize {
        match self {
            Direction::Encode { .. } => model.n_codes(),
            Direction::Decode => model.n_features(),
        }
    }

    fn apply<T: Real>(
        self,
        model: &unmix::Model,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<T>,
    ) -> unmix::Result<Encoded> {
        match self {
            Direction::Encode { .. } => model.encode(rows, run, sink),
            Direction::Decode => Ok(Encoded::solved(model.decode(rows, run, sink)?)),
        }
    }

    /// Applies the map and returns the result as an array in memory.
    pub(crate) fn table(
        self,
        model: &unmix::Model,
        rows: &AnyRows<'_>,
        run: &Run<'_>,
    ) -> unmix::Result<Table> {
        let (encoded, numbers) = match rows {
            AnyRows::F32(rows) => {
                let (encoded, entries) = self.collect(model, rows, run)?;
                (encoded, Numbers::F32(entries))
            }
            AnyRows::F64(rows) => {
                let (encoded, entries) = self.collect(model, rows, run)?;
                (encoded, Numbers::F64(entries))
            }
        };
        Ok(Table { encoded, width: self.width(model), numbers })
    }

    fn collect<T: Real>(
        self,
        model: &unmix::Model,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> unmix::Result<(Encoded, Entries<T>)> {
        let width = self.width(model);
        let sparse = matches!(self, Direction::Encode { dense: false }) && model.code().codes().sparse;
        let (encoded, entries) = if sparse {
            let mut sink = Stored { width, values: Vec::new(), columns: Vec::new(), starts: vec![0] };
            (self.apply(model, rows, run, &mut sink)?, Entries::Sparse(sink))
        } else {
            let mut sink = VecSink::default();
            (self.apply(model, rows, run, &mut sink)?, Entries::Dense(sink.0))
        };
        // Rows without columns are counted by their source.
        let mut encoded = encoded;
        encoded.n_rows = rows.n_rows().unwrap_or(encoded.n_rows);
        Ok((encoded, entries))
    }

    /// Applies the map and writes the result to a file in the format of its extension, a few blocks at a time.
    pub(crate) fn write(
        self,
        model: &unmix::Model,
        rows: &AnyRows<'_>,
        path: &Path,
        run: &Run<'_>,
    ) -> unmix::Result<Encoded> {
        let names = match self {
            Direction::Encode { .. } => model.component_names(),
            Direction::Decode => model
                .features()
                .names
                .clone()
                .unwrap_or_else(|| (0..model.n_features()).map(|j| format!("x{j}")).collect()),
        };
        let mut file = unmix_cli::TableFile::create(path, names, rows.dtype())?;
        let encoded = unmix::with_rows!(rows, rows => self.apply(model, rows, run, &mut file)?);
        file.set_empty_rows(rows.n_rows().unwrap_or(encoded.n_rows));
        file.finish()?;
        Ok(encoded)
    }
}

impl Table {
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let shape = [self.encoded.n_rows as usize, self.width];
        match self.numbers {
            Numbers::F32(entries) => entries.into_python(py, shape),
            Numbers::F64(entries) => entries.into_python(py, shape),
        }
    }
}

impl<T: Element> Entries<T> {
    fn into_python(self, py: Python<'_>, shape: [usize; 2]) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Entries::Dense(numbers) => Ok(PyArray1::from_vec(py, numbers).reshape(shape)?.into_any()),
            Entries::Sparse(stored) => csr(py, (stored.values, stored.columns, stored.starts), shape),
        }
    }
}

/// Warns about rows for which an iterative encoder did not converge, and about rows without an observed cell.
pub(crate) fn warn_unconverged(py: Python<'_>, encoded: &Encoded) -> PyResult<()> {
    if let Some(unsolved) = &encoded.unsolved {
        py.import("unmix._input")?.call_method1("warn_unconverged", (unsolved.to_string(),))?;
    }
    warn_notes(py, encoded.note_on_unseen().as_slice())
}
