//! Sparse matrices as scipy saves them: compressed rows or columns, or a list of entries, in an `.npz` archive of their parts.
//!
//! `data` and `indices` hold the stored numbers and their columns (`format` csr) or rows (csc), `indptr` where each row or
//! column begins, `shape` the number of rows and of columns; with `format` coo, `row` and `col` are those of each number.

use crate::npz::Archive;
use crate::selection::{self, Selection};
use crate::{Input, Options, array};
use std::path::Path;
use unmix::data::{Axes, Bytes, RandomAccess, RawArray, Sparse, npy_header};
use unmix::internal::error::counted;
use unmix::{AnyRows, Dtype, Error, Features, Real, Result, Rows, Run};

/// Whether arrays of these names are a sparse matrix.
pub(crate) fn is_sparse(names: &[String]) -> bool {
    ["data", "shape", "format"].iter().all(|part| names.iter().any(|name| name == part))
}

/// The matrix in `archive`.
pub(crate) fn open(archive: &mut Archive<'_>, options: &Options, run: &Run<'_>) -> Result<Input> {
    let path = archive.path().to_path_buf();
    if let Some(axes) = options.other_axes() {
        let why = "the first axis of a sparse matrix must be its rows";
        return Err(Error::setting("rows_axis", axes, why, "to make columns the samples, transpose"));
    }
    let format = text(&archive.member("format", run)?)?;
    let by_row = match format.as_str() {
        "csr" | "coo" => true,
        "csc" => false,
        other => {
            let found = format!("it holds a sparse matrix in scipy's format '{other}'");
            let remedy = "save it by rows, as in scipy.sparse.save_npz('rows.npz', matrix.tocsr())";
            return Err(Error::format(&path, found, remedy));
        }
    };
    let shape = places(archive, "shape", run)?;
    let &[n, p] = shape.as_slice() else {
        let axes = if shape.len() == 1 { "axis" } else { "axes" };
        let found = format!("it holds a sparse array of {} {axes}", shape.len());
        let error = Error::format(&path, found, "save rows of numbers, which have two axes");
        let numbers = (Some(2), Some(shape.len() as u64));
        return Err(error.with(|details| (details.need, details.got) = numbers));
    };
    let array = vector(archive, "data", run)?;
    let (number, n_stored) = (array.number(), array.rows().len());
    let matrix = parts(archive, (format == "coo", by_row), (n, p), n_stored, run)?;
    let rows = match number.computed_in() {
        Dtype::F32 => matrix.rows::<f32>(&array, options, &path).map(AnyRows::F32),
        Dtype::F64 => matrix.rows::<f64>(&array, options, &path).map(AnyRows::F64),
    };
    let rows = rows.map_err(|e| match e {
        Error::Unsupported { found, .. } => {
            let found = format!("it holds a sparse matrix that is corrupt: {found}");
            Error::format(&path, found, "write it again")
        }
        other => other,
    })?;
    let share = if n > 0 && p > 0 { 100.0 * n_stored as f64 / (n as f64 * p as f64) } else { 0.0 };
    Ok(Input {
        rows,
        format: String::new(),
        stored: format!(
            "sparse {format} of {}, {} stored (density {share:.3} %)",
            number.name(),
            counted(n_stored, "number")
        ),
        shape: vec![Some(n as u64), Some(p as u64)],
        kept: vec![],
        row_names: None,
        ignored: vec![],
        text_cells: vec![],
        comma_cells: 0,
        commas_separate: false,
        patches: None,
        unread: vec![],
    })
}

/// The parts of a matrix of `n` rows and `p` columns but its numbers: from a list of entries, or compressed by row or by column.
fn parts(
    archive: &mut Archive<'_>,
    (listed, by_row): (bool, bool),
    (n, p): (i64, i64),
    n_stored: u64,
    run: &Run<'_>,
) -> Result<Matrix> {
    let (starts, at, order) = match listed {
        true => {
            let (rows, columns) = (places(archive, "row", run)?, places(archive, "col", run)?);
            by_rows(&rows, &columns, (n, p), n_stored)
                .map_err(|found| Error::format(archive.path(), found, "write it again"))?
        }
        false => (places(archive, "indptr", run)?, places(archive, "indices", run)?, None),
    };
    let (lines, kind) = if by_row { (n, "rows") } else { (p, "columns") };
    if n < 0 || p < 0 || starts.len() as i64 - 1 != lines {
        let found = format!(
            "it declares {n} x {p} entries, but its index pointer is for {} - 1 {kind}",
            starts.len()
        );
        let numbers = (u64::try_from(lines).ok().map(|n| n + 1), Some(starts.len() as u64));
        return Err(of_array(archive, "indptr", found).with(|details| (details.need, details.got) = numbers));
    }
    Ok(Matrix { starts, at, order, shape: (n as usize, p as usize), by_row })
}

/// The parts of a matrix but its numbers.
struct Matrix {
    starts: Vec<i64>,
    at: Vec<i64>,
    /// The place of each entry among the stored numbers, where they are not stored in this order.
    order: Option<Vec<usize>>,
    shape: (usize, usize),
    by_row: bool,
}

impl Matrix {
    /// Its rows; transposed, its columns.
    fn rows<T: Real>(
        &self,
        array: &RawArray<'static>,
        options: &Options,
        path: &Path,
    ) -> Result<Rows<'static, T>> {
        let mut values = vec![T::default(); array.rows().len() as usize];
        RandomAccess::<T>::read(array, 0..values.len() as u64, 0..1, &mut values, &mut Vec::new())?;
        let values = match &self.order {
            None => values,
            Some(order) => order.iter().map(|&at| values[at]).collect(),
        };
        let (n, p) = self.shape;
        let (n, p, by_row) = if options.transpose { (p, n, !self.by_row) } else { (n, p, self.by_row) };
        let sparse = match by_row {
            true => Sparse::from_csr(&self.starts, &self.at, values, p)?,
            false => Sparse::from_csc(&self.starts, &self.at, values, n)?,
        };
        let origin = path.display().to_string();
        let names = options.names_of(p);
        let selection = Selection::new(options, names.as_deref(), p, &[])?;
        if !selection.kept.is_empty() {
            let why = "the columns of a sparse matrix are all read as features";
            let kept = options.keep.as_deref().or(options.copied.as_deref());
            return Err(Error::setting(
                "keep",
                selection::value(options.wording, kept.unwrap_or_default()),
                why,
                "leave it out",
            ));
        }
        let columns = selection.features.as_ref().map_or(p, Vec::len);
        let shape = array::feature_shape(options, None, columns)?;
        let names = match (&selection.features, names) {
            (Some(columns), Some(names)) => Some(columns.iter().map(|&j| names[j].clone()).collect()),
            (_, names) => names,
        };
        let features = Features { names, shape };
        Ok(match selection.features {
            None => Rows::new(sparse, features, origin),
            Some(columns) => Rows::new(sparse.selected(&columns)?, features, origin),
        })
    }
}

/// Where rows begin, the columns of their entries, and the places of these among the stored ones.
type ByRows = (Vec<i64>, Vec<i64>, Option<Vec<usize>>);

/// Entries that are given by their rows and columns (scipy's format coo), row by row. An entry that is given twice is refused: whether it is to
/// be added up is not stored.
fn by_rows(
    rows: &[i64],
    columns: &[i64],
    (n, p): (i64, i64),
    n_stored: u64,
) -> std::result::Result<ByRows, String> {
    if n < 0 || p < 0 {
        return Err(format!("it declares {n} x {p} entries"));
    }
    if rows.len() != columns.len() || rows.len() as u64 != n_stored {
        return Err(format!(
            "it holds {} in a sparse matrix with {} and {} of entries",
            counted(n_stored, "number"),
            counted(rows.len() as u64, "row"),
            counted(columns.len() as u64, "column")
        ));
    }
    if unmix::available_memory().is_some_and(|have| n as u64 > have / 16) {
        return Err(format!("its sparse matrix declares {n} rows, more than fit into memory"));
    }
    let inside = |at: &i64, end: i64| (0..end).contains(at);
    if let Some(i) = (0..rows.len()).find(|&i| !inside(&rows[i], n) || !inside(&columns[i], p)) {
        return Err(format!("entry {i} of its sparse matrix is outside of {n} x {p}"));
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&i| (rows[i], columns[i]));
    let place = |i: usize| (rows[i], columns[i]);
    if let Some(twice) = order.windows(2).find(|pair| place(pair[0]) == place(pair[1])) {
        let (i, j) = place(twice[0]);
        return Err(format!("its sparse matrix has several entries in row {i} and column {j}"));
    }
    let mut starts = vec![0; n as usize + 1];
    rows.iter().for_each(|&i| starts[i as usize + 1] += 1);
    (0..n as usize).for_each(|i| starts[i + 1] += starts[i]);
    Ok((starts, order.iter().map(|&i| columns[i]).collect(), Some(order)))
}

/// An error of one of the arrays of the matrix.
fn of_array(archive: &Archive<'_>, name: &str, found: String) -> Error {
    let error = Error::format(archive.path(), found, "write it again");
    error.with(|details| details.array = Some(name.into()))
}

/// An array of one axis.
fn vector(archive: &mut Archive<'_>, name: &str, run: &Run<'_>) -> Result<RawArray<'static>> {
    let bytes = archive.member(name, run)?;
    let header = npy_header(&bytes)?;
    let (&[n], &[stride]) = (header.shape.as_slice(), header.strides().as_slice()) else {
        let found = format!("the '{name}' of its sparse matrix has {} axes", header.shape.len());
        let numbers = (Some(1), Some(header.shape.len() as u64));
        return Err(of_array(archive, name, found).with(|details| (details.need, details.got) = numbers));
    };
    let (start, size) = (header.start as i64, header.number.size as i64);
    RawArray::new(bytes, start, header.number, Axes::one(n, stride), Axes::one(1, size))
}

/// An array of whole numbers.
fn places(archive: &mut Archive<'_>, name: &str, run: &Run<'_>) -> Result<Vec<i64>> {
    let array = vector(archive, name, run)?;
    if !matches!(array.number().kind, b'i' | b'u') {
        let found = format!("the '{name}' of its sparse matrix is {}", array.number().name());
        return Err(of_array(archive, name, found));
    }
    // In double precision, which holds all those that are of use: there are no more than 2^32 rows or columns.
    let mut numbers = vec![0.0f64; array.rows().len() as usize];
    RandomAccess::<f64>::read(&array, 0..numbers.len() as u64, 0..1, &mut numbers, &mut Vec::new())?;
    Ok(numbers.into_iter().map(|x| x as i64).collect())
}

/// A short text, which numpy stores as bytes or as code points, padded with zeros.
fn text(bytes: &Bytes<'static>) -> Result<String> {
    let mut all = vec![0; bytes.len().min(256) as usize];
    bytes.read_at(0, &mut all)?;
    let header = all.iter().position(|&b| b == b'\n').map_or(all.len(), |at| at + 1);
    let text: Vec<u8> = all[header..].iter().copied().filter(u8::is_ascii_graphic).collect();
    Ok(String::from_utf8_lossy(&text).into_owned())
}
