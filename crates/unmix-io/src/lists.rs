//! Columns whose cells are lists of numbers of one length, such as embeddings: each becomes as many columns. The rows are decoded once.

use crate::cells::{self, Numbers, number_kind};
use crate::columns::{Columnar, ascending};
use crate::transposed::TransposedFeatures;
use crate::{Options, array, progress};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use std::path::Path;
use unmix::data::Spool;
use unmix::internal::error::counted;
use unmix::{AnyRows, Error, Features, Real, Result, Run};

/// The number type of the lists in a column of this type; `None` for other types.
pub(crate) fn elements(kind: &DataType) -> Option<Numbers> {
    match kind {
        DataType::List(of) | DataType::LargeList(of) | DataType::FixedSizeList(of, _) => {
            number_kind(of.data_type())
        }
        _ => None,
    }
}

/// Rows of columns of lists.
pub(crate) struct Expanded {
    pub(crate) rows: AnyRows<'static>,
    /// Number of features of each column.
    pub(crate) widths: Vec<usize>,
    /// Names of features that the model does not have.
    pub(crate) ignored: Vec<String>,
}

/// Rows of some columns, lists and others, in type `T`: the numbers of a list are named `name[0]`, `name[1]`, ...
///
/// # Errors
///
/// Lists of different lengths; columns of a model that the file does not have; `transpose`; errors of the file.
pub(crate) fn expanded<T: Real>(
    file: &dyn Columnar,
    columns: &[usize],
    names: &[String],
    options: &Options,
    run: &Run<'_>,
) -> Result<Expanded> {
    let path = file.path();
    if options.transpose {
        return Err(Error::unsupported(
            "transpose of a table with lists in its cells",
            format!("{} has cells of several numbers", path.display()),
            "leave these columns out, or save the numbers as an array",
        ));
    }
    let sorted = ascending(columns);
    let widths = widths(file, columns, &sorted)?;
    let (mut spool, mut buffer) = (Spool::new(path), Vec::<T>::new());
    let mut done = 0u64;
    for batch in file.batches(&sorted)? {
        let batch = batch?;
        if batch.num_rows() == 0 {
            continue;
        }
        let p: usize = widths.iter().sum();
        buffer.clear();
        buffer.resize(batch.num_rows() * p, T::from_f64(f64::NAN));
        let mut first = 0;
        for (&j, &width) in columns.iter().zip(&widths) {
            let cells = batch.column(sorted.partition_point(|&s| s < j));
            place(cells, &mut buffer, (first, width, p)).map_err(|(i, got)| {
                other_length(path, (done + i as u64, j, names[j].as_str()), width, got)
            })?;
            first += width;
        }
        spool.write_numbers(&buffer)?;
        done += batch.num_rows() as u64;
        progress(run, done)?;
    }
    let p: usize = widths.iter().sum();
    if p == 0 {
        return Err(Error::format(path, "its lists hold no numbers", "choose other columns"));
    }
    let named = feature_names(file, columns, &widths, names);
    let across = TransposedFeatures::new(Some(named), &Options { unnamed: false, ..options.clone() })?;
    let array = spool.into_rows::<T>(p)?;
    let shape = array::feature_shape(options, None, across.columns.as_ref().map_or(p, Vec::len))?;
    let rows = array::rows(array, across.columns, Features { names: across.names, shape }, path);
    Ok(Expanded { rows, widths, ignored: across.ignored })
}

/// Writes the cells of a column into rows of `p` numbers, `width` of each from the `first` on.
///
/// # Errors
///
/// The row of a list of another length, and that length.
fn place<T: Real>(
    cells: &ArrayRef,
    rows: &mut [T],
    (first, width, p): (usize, usize, usize),
) -> std::result::Result<(), (usize, usize)> {
    if elements(cells.data_type()).is_none() {
        let first = first.min(rows.len());
        cells::place(cells, &mut rows[first..], p);
    }
    for i in 0..cells.len() {
        let Some(list) = list(cells, i) else { continue };
        if list.len() != width {
            return Err((i, list.len()));
        }
        cells::place(&list, &mut rows[i * p + first..][..width], 1);
    }
    Ok(())
}

/// The error of a list that is not as long as the first one of its column.
fn other_length(path: &Path, (row, column, name): (u64, usize, &str), width: usize, length: usize) -> Error {
    let found = format!(
        "row {row} of column {column} ('{name}') is a list of {}, and the first one has {width}",
        counted(length as u64, "number")
    );
    Error::format(path, found, "give lists of one length, or leave the column out").with(|details| {
        (details.row, details.column, details.name) = (Some(row), Some(column), Some(name.into()));
        (details.need, details.got) = (Some(width as u64), Some(length as u64));
    })
}

/// Names of the features of all columns, `widths` of each.
fn feature_names(file: &dyn Columnar, columns: &[usize], widths: &[usize], names: &[String]) -> Vec<String> {
    let of_column = |(&j, &width): (&usize, &usize)| {
        let is_list = elements(file.schema().field(j).data_type()).is_some();
        (0..width).map(move |i| if is_list { format!("{}[{i}]", names[j]) } else { names[j].clone() })
    };
    columns.iter().zip(widths).flat_map(of_column).collect()
}

/// The list in a cell; `None` where the cell is missing or is not a list.
fn list(cells: &ArrayRef, i: usize) -> Option<ArrayRef> {
    if cells.is_null(i) {
        return None;
    }
    match cells.data_type() {
        DataType::List(_) => Some(cells.as_list::<i32>().value(i)),
        DataType::LargeList(_) => Some(cells.as_list::<i64>().value(i)),
        DataType::FixedSizeList(..) => Some(cells.as_fixed_size_list().value(i)),
        _ => None,
    }
}

/// Numbers in a cell of each column: those of its first list, 0 if it has none, and 1 if its cells are not lists. Reads until all are known.
fn widths(file: &dyn Columnar, columns: &[usize], sorted: &[usize]) -> Result<Vec<usize>> {
    let mut found: Vec<Option<usize>> = vec![None; columns.len()];
    for batch in file.batches(sorted)? {
        let batch = batch?;
        for (width, &j) in found.iter_mut().zip(columns).filter(|(width, _)| width.is_none()) {
            *width = width_of(batch.column(sorted.partition_point(|&s| s < j)));
        }
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    Ok(found.into_iter().map(Option::unwrap_or_default).collect())
}

/// Numbers in a cell of a column: those of its first list, if there is one here, or one.
fn width_of(cells: &ArrayRef) -> Option<usize> {
    match elements(cells.data_type()) {
        None => Some(1),
        Some(_) => (0..cells.len()).find_map(|i| list(cells, i)).map(|list| list.len()),
    }
}
