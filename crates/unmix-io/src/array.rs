//! Rows of an n-dimensional array: which axes run over samples, which over features.

use crate::selected::Selected;
use crate::selection::Selection;
use crate::{Input, Options, index};
use std::path::{Path, PathBuf};
use unmix::data::{Axes, Bytes, NpyHeader, RandomAccess, RawArray, Spool};
use unmix::internal::error::counted;
use unmix::{AnyRows, Dtype, Error, Features, Real, Result, Rows};

/// The array behind `header`, as rows. The format's name is for the caller to fill in.
pub(crate) fn open(bytes: Bytes<'static>, header: NpyHeader, options: &Options) -> Result<Input> {
    open_named(bytes, header, None, options)
}

/// [`open`], for files of which it is not known what the axes mean: with a note if several were made into one that looks unlike pictures, or if the
/// first of the columns appears to number the rows.
pub(crate) fn open_stored(bytes: Bytes<'static>, header: NpyHeader, options: &Options) -> Result<Input> {
    let note = flattened(&header.shape, options);
    let is_table = header.shape.len() == 2 && options.feature_shape.is_none();
    let (mut input, first) = opened(bytes, header, None, options)?;
    let on_axes = note.map(|note| format!("{} {note}", input.rows.origin()));
    // Numbers that cannot be read are reported with the rows.
    let numbering =
        if is_table { index::note_on_stored(&input.rows, first, options).ok().flatten() } else { None };
    let notes: Vec<String> = on_axes.into_iter().chain(numbering).collect();
    if !notes.is_empty() {
        let notes = input.rows.notes().iter().cloned().chain(notes).collect();
        input.rows = input.rows.with_notes(notes);
    }
    Ok(input)
}

/// The note that a row is several axes of an array, unless the options determine the axes or a row has the shape of a picture; without the name of
/// the file.
fn flattened(shape: &[u64], options: &Options) -> Option<String> {
    let explicit = options.transpose || !options.rows_axis.is_empty() || options.feature_shape.is_some();
    let remedy = |n_axes: usize, _| options.wording.axes("rows_axis", 0..n_axes);
    several_axes(shape, remedy).filter(|_| !explicit)
}

/// The note of [`crate::open`] that a row is several axes, for an array in memory called `name` in Python; `None` if it has fewer than three axes, or a
/// row has the shape of a picture.
///
/// ```
/// let note = unmix_io::note_on_axes("X", &[100, 40, 128]).unwrap();
/// assert!(note.starts_with("X has 3 axes (100 x 40 x 128): a row is 40 x 128 numbers; "));
/// assert!(note.ends_with("X.reshape(-1, 128) makes 4000 rows of 128, X.reshape(len(X), -1) these rows without this note"));
/// assert_eq!(unmix_io::note_on_axes("X", &[100, 28, 28]), None);
/// ```
pub fn note_on_axes(name: &str, shape: &[u64]) -> Option<String> {
    let note = several_axes(shape, |_, last| format!("{name}.reshape(-1, {last})"))?;
    Some(format!("{name} {note}, {name}.reshape(len({name}), -1) these rows without this note"))
}

/// The note that a row is several axes, unless it has the shape of a picture. `remedy`: what makes all axes but the last one axis of rows, by
/// the number of those axes and the length of the last.
fn several_axes(shape: &[u64], remedy: impl Fn(usize, u64) -> String) -> Option<String> {
    let (&last, before) = shape.split_last()?;
    let sample = shape.get(1..).filter(|sample| !is_picture(sample))?;
    let n_rows = before.iter().try_fold(1u64, |n, &d| n.checked_mul(d))?;
    let remedy = remedy(before.len(), last);
    Some(format!(
        "has {} axes ({}{A_ROW_IS}{} numbers; {remedy} makes {n_rows} rows of {last}",
        shape.len(),
        times(shape),
        times(sample)
    ))
}

/// Words by which notes of [`several_axes`] are recognised.
const A_ROW_IS: &str = "): a row is ";

/// The notes of several files, of which notes that rows are several axes are one: that of the first file, with the number of the others.
pub(crate) fn notes_of_files(notes: Vec<String>) -> Vec<String> {
    let is_on_axes = |note: &String| note.contains(A_ROW_IS);
    let more = notes.iter().filter(|note| is_on_axes(note)).count().saturating_sub(1);
    let first = notes.iter().position(is_on_axes);
    let files = if more == 1 { "file" } else { "files" };
    let said = |(i, note): (usize, String)| match (is_on_axes(&note), first == Some(i)) {
        (false, _) => Some(note),
        (true, true) if more == 0 => Some(note),
        (true, true) => Some(format!("{note}, and so for {more} more {files}")),
        (true, false) => None,
    };
    notes.into_iter().enumerate().filter_map(said).collect()
}

/// Whether a sample of this shape is a vector, or may be a picture: two axes, neither more than twice the other, and perhaps one of channels.
fn is_picture(sample: &[u64]) -> bool {
    let alike = |a: u64, b: u64| a.max(b) <= a.min(b).saturating_mul(2);
    let long: Vec<u64> = sample.iter().copied().filter(|&d| d > 1).collect();
    match long[..] {
        [] | [_] => true,
        [a, b] => alike(a, b),
        [a, b, c] => (matches!(c, 3 | 4) && alike(a, b)) || (matches!(a, 3 | 4) && alike(b, c)),
        _ => false,
    }
}

/// [`open`], with names of the features, which go with the axes: transposed there are only those that the options give.
pub(crate) fn open_named(
    bytes: Bytes<'static>,
    header: NpyHeader,
    names: Option<Vec<String>>,
    options: &Options,
) -> Result<Input> {
    Ok(opened(bytes, header, names, options)?.0)
}

/// [`open_named`], with the column of the first feature.
fn opened(
    bytes: Bytes<'static>,
    header: NpyHeader,
    names: Option<Vec<String>>,
    options: &Options,
) -> Result<(Input, usize)> {
    let path = bytes.path().to_path_buf();
    let (array, shape) = split(bytes, &header, options)?;
    let n_features = array.features().len() as usize;
    let names = names.filter(|_| !options.transpose).or_else(|| options.names_of(n_features));
    let selection = Selection::new(options, names.as_deref(), n_features, &[])?;
    let name = |j: usize| names.as_ref().map_or_else(|| j.to_string(), |names| names[j].clone());
    let kept = kept_columns(&array, &selection.kept, name)?;
    let ignored = selection.ignored.iter().map(|&j| name(j)).collect();
    let names = match &selection.features {
        Some(features) => names.as_ref().map(|names| features.iter().map(|&j| names[j].clone()).collect()),
        None => names.clone(),
    };
    let n_selected = selection.features.as_ref().map_or(n_features, Vec::len);
    let shape = feature_shape(options, shape.filter(|_| selection.features.is_none()), n_selected)?;
    let first = selection.features.as_ref().and_then(|features| features.first()).copied().unwrap_or(0);
    let rows = rows(array, selection.features, Features { names, shape }, &path);
    let input = Input {
        rows,
        format: String::new(),
        stored: header.number.name(),
        shape: header.shape.iter().map(|&d| Some(d)).collect(),
        kept,
        row_names: None,
        ignored,
        text_cells: vec![],
        comma_cells: 0,
        commas_separate: false,
        patches: None,
        unread: vec![],
    };
    Ok((input, first))
}

/// Rows of an array, or of some columns of it.
pub(crate) fn rows(
    array: RawArray<'static>,
    columns: Option<Vec<usize>>,
    features: Features,
    path: &Path,
) -> AnyRows<'static> {
    let origin = path.display().to_string();
    match (columns, array.number().computed_in()) {
        (None, _) => AnyRows::from_array(array, features, origin),
        (Some(c), Dtype::F32) => AnyRows::F32(Rows::new(Selected::new(array, c), features, origin)),
        (Some(c), Dtype::F64) => AnyRows::F64(Rows::new(Selected::new(array, c), features, origin)),
    }
}

/// The array with its axes split, and the shape of one sample when that has more than one axis.
fn split(
    bytes: Bytes<'static>,
    header: &NpyHeader,
    options: &Options,
) -> Result<(RawArray<'static>, Option<Vec<usize>>)> {
    let (shape, strides) = (&header.shape, header.strides());
    let path: PathBuf = bytes.path().into();
    if shape.is_empty() {
        return Err(Error::format(
            path,
            "it holds a single number and no rows",
            "save an array of samples x features",
        ));
    }
    let axes = if options.rows_axis.is_empty() { vec![0] } else { options.rows_axis.clone() };
    if shape.contains(&0) {
        let along_rows = axes.iter().any(|&axis| shape.get(axis) == Some(&0));
        let missing = if along_rows == options.transpose { "columns" } else { "rows" };
        let found = format!("its shape is {}, so it holds no {missing}", times(shape));
        return Err(Error::format(path, found, "check the program that wrote it"));
    }
    if let Some(axis) = axes.iter().find(|&&axis| axis >= shape.len()) {
        let why = format!("the array has shape {}, with axes 0 to {}", times(shape), shape.len() - 1);
        return Err(Error::setting("rows_axis", axis, why, "choose one of those"));
    }
    if let Some(axis) = axes.iter().enumerate().find_map(|(i, axis)| axes[..i].contains(axis).then_some(axis))
    {
        return Err(Error::setting("rows_axis", axis, "it is given twice", "give each axis once"));
    }
    let along = |axes: &[usize]| {
        let dims = axes.iter().map(|&axis| shape[axis]).collect();
        Axes::new(dims, axes.iter().map(|&axis| strides[axis]).collect())
    };
    let others: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let (rows, mut rest) = (joined(along(&axes)), along(&others));
    if rest.dims.is_empty() {
        rest = Axes::one(1, header.number.size as i64);
    }
    let sample: Vec<usize> = rest.dims.iter().map(|&d| d as usize).collect();
    let in_parts = bytes.in_memory().is_none() && in_parts(bytes.len(), header, &rows, &rest);
    let array = match header.number.computed_in() {
        Dtype::F32 if in_parts => row_by_row::<f32>(&bytes, header, &rows, &rest)?,
        Dtype::F64 if in_parts => row_by_row::<f64>(&bytes, header, &rows, &rest)?,
        _ => RawArray::new(bytes, header.start as i64, header.number, rows, rest)?,
    };
    Ok(match options.transpose {
        true => (array.transposed(), None),
        false => (array, Some(sample).filter(|s| s.len() > 1)),
    })
}

/// The same order with as few axes as possible: consecutive axes whose numbers are evenly spaced, such as the first ones of an array in C
/// order, are one. A file is then read where it is, as one with one axis of rows.
fn joined(axes: Axes) -> Axes {
    let mut out = Axes::new(Vec::new(), Vec::new());
    for (dim, stride) in axes.dims.into_iter().zip(axes.strides) {
        match (out.dims.last_mut(), out.strides.last_mut()) {
            (Some(d), Some(s)) if (dim as i64).checked_mul(stride) == Some(*s) => {
                (*d, *s) = (*d * dim, stride)
            }
            _ => {
                out.dims.push(dim);
                out.strides.push(stride);
            }
        }
    }
    out
}

/// Whether rows run over several axes, the first of which divides the numbers of a file of `n_bytes` into parts that fit into memory.
fn in_parts(n_bytes: u64, header: &NpyHeader, rows: &Axes, features: &Axes) -> bool {
    let part = rows.strides[0];
    let inner = rows.dims.iter().zip(&rows.strides).skip(1);
    let mut within = inner.chain(features.dims.iter().zip(&features.strides));
    // Where the file is shorter than its header declares, there is an error elsewhere.
    let end = rows.dims[0].saturating_mul(part as u64).saturating_add(header.start);
    rows.dims.len() > 1
        && part <= Spool::IN_MEMORY as i64
        && end <= n_bytes
        && within.all(|(&d, &s)| (d as i64).saturating_mul(s) <= part)
}

/// An array in a file whose rows run over several axes, copied row by row. The numbers of a row are far apart in such a file, as channels of a
/// recording are, and would be read one by one. Memory: one part of the file with its numbers, and a spool.
fn row_by_row<T: Real>(
    bytes: &Bytes<'static>,
    header: &NpyHeader,
    rows: &Axes,
    features: &Axes,
) -> Result<RawArray<'static>> {
    let (p, part) = (features.len() as usize, rows.strides[0] as u64);
    let inner = Axes::new(rows.dims[1..].to_vec(), rows.strides[1..].to_vec());
    let mut spool = Spool::new(bytes.path());
    let mut numbers = vec![T::default(); inner.len() as usize * p];
    for i in 0..rows.dims[0] {
        let mut data = vec![0; part as usize];
        bytes.read_at(header.start + i * part, &mut data)?;
        let own = Bytes::Owned { data, path: bytes.path().into() };
        let array = RawArray::new(own, 0, header.number, inner.clone(), features.clone())?;
        RandomAccess::<T>::read(&array, 0..inner.len(), 0..p, &mut numbers, &mut Vec::new())?;
        spool.write_numbers(&numbers)?;
    }
    spool.into_rows::<T>(p)
}

/// The shape of one sample: the one requested when it fits, else the file's own.
pub(crate) fn feature_shape(
    options: &Options,
    own: Option<Vec<usize>>,
    n_features: usize,
) -> Result<Option<Vec<usize>>> {
    let Some(requested) = &options.feature_shape else { return Ok(own) };
    let product = requested.iter().try_fold(1usize, |a, &d| a.checked_mul(d));
    if product != Some(n_features) || requested.is_empty() {
        let product = product.map_or("more than any file has".into(), |p| p.to_string());
        return Err(Error::setting(
            "feature_shape",
            times(requested),
            format!("its product is {product}, but a row has {}", counted(n_features as u64, "feature")),
            format!("choose lengths whose product is {n_features}"),
        ));
    }
    Ok(Some(requested.clone()))
}

/// Lengths as in "60000 x 28 x 28".
fn times(shape: &[impl ToString]) -> String {
    shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ")
}

/// The columns that are copied to the output with the codes, as text: numbers in their shortest unambiguous
/// form.
fn kept_columns(
    array: &RawArray<'static>,
    columns: &[usize],
    name: impl Fn(usize) -> String,
) -> Result<Vec<(String, Vec<String>)>> {
    let cells = |j| match array.number().computed_in() {
        Dtype::F32 => column_as_text::<f32>(array, j),
        Dtype::F64 => column_as_text::<f64>(array, j),
    };
    columns.iter().map(|&j| Ok((name(j), cells(j)?))).collect()
}

fn column_as_text<T: Real + ToString>(array: &RawArray<'static>, column: usize) -> Result<Vec<String>> {
    const STEP: u64 = 1 << 16;
    let n = array.rows().len();
    let (mut text, mut buffer, mut raw) = (Vec::new(), Vec::new(), Vec::new());
    for start in (0..n).step_by(STEP as usize) {
        let end = (start + STEP).min(n);
        buffer.resize((end - start) as usize, T::default());
        RandomAccess::<T>::read(array, start..end, column..column + 1, &mut buffer, &mut raw)?;
        text.extend(buffer.iter().map(ToString::to_string));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wording;

    #[test]
    fn axes_of_evenly_spaced_rows_are_one() {
        let axes = |dims: &[u64], strides: &[i64]| Axes::new(dims.to_vec(), strides.to_vec());
        // Axes 0,1 and 0,2 of an array of 5 x 4 x 3 numbers of 8 bytes, and 0,1,2 of one of 5 x 4 x 3 x 2.
        assert_eq!(joined(axes(&[5, 4], &[96, 24])), Axes::one(20, 24));
        assert_eq!(joined(axes(&[5, 3], &[96, 8])), axes(&[5, 3], &[96, 8]));
        assert_eq!(joined(axes(&[5, 4, 3], &[192, 48, 16])), Axes::one(60, 16));
        assert_eq!(joined(axes(&[4, 5], &[24, 96])), axes(&[4, 5], &[24, 96]));
    }

    #[test]
    fn of_several_files_the_first_has_the_note() {
        let note = |file: &str| format!("{file} has 3 axes (9 x 4 x 12): a row is 4 x 12 numbers; no more");
        let other = || "b.npy: 1 of 9 rows have a missing cell".to_string();
        assert_eq!(
            notes_of_files(vec![note("a.npy"), other(), note("b.npy"), note("c.npy")]),
            [note("a.npy") + ", and so for 2 more files", other()]
        );
        assert_eq!(notes_of_files(vec![other(), note("b.npy")]), [other(), note("b.npy")]);
        assert_eq!(notes_of_files(vec![other(), other()]), [other(), other()]);
        let own = flattened(&[100, 40, 128], &Options::default()).unwrap();
        assert!(own.contains(A_ROW_IS));
    }

    #[test]
    fn rows_of_several_axes_are_noted_unless_they_may_be_pictures() {
        let options = Options { wording: Wording::Shell, ..Options::default() };
        let note =
            "has 3 axes (100 x 40 x 128): a row is 40 x 128 numbers; --rows-axis 0,1 makes 4000 rows of 128";
        assert_eq!(flattened(&[100, 40, 128], &options).as_deref(), Some(note));
        let python = Options { wording: Wording::PythonPath, ..Options::default() };
        let note = flattened(&[5, 2, 3, 128], &python).unwrap();
        let end = "numbers; unmix.open(..., rows_axis=(0, 1, 2)) makes 30 rows of 128";
        assert!(note.ends_with(end), "{note}");
        let note = note_on_axes("X", &[5, 2, 3, 128]).unwrap();
        assert!(note.starts_with("X has 4 axes (5 x 2 x 3 x 128): a row is 2 x 3 x 128 numbers; "), "{note}");
        assert!(
            note.contains("; X.reshape(-1, 128) makes 30 rows of 128, X.reshape(len(X), -1) these"),
            "{note}"
        );
        for shape in [&[9, 28, 28][..], &[9, 112, 92, 3], &[9, 3, 32, 32], &[9, 1, 128], &[9, 5], &[9], &[]] {
            assert_eq!(flattened(shape, &options), None, "{shape:?}");
            assert_eq!(note_on_axes("X", shape), None, "{shape:?}");
        }
        for explicit in [
            Options { rows_axis: vec![0], ..Options::default() },
            Options { transpose: true, ..Options::default() },
            Options { feature_shape: Some(vec![40, 128]), ..Options::default() },
        ] {
            assert_eq!(flattened(&[100, 40, 128], &explicit), None);
        }
    }
}
