//! Tables stored column by column, as rows: only the requested columns are read, in chunks of rows.

use crate::cells::{Numbers, as_text, number_kind, place};
use crate::pages::{BufferPool, Chunk};
use crate::selection::Selection;
use crate::table::Table;
use crate::transposed::{self, TransposedFeatures};
use crate::{Input, Options, Wording, array, index, lists, progress};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use unmix::data::{Source, Spool};
use unmix::{AnyRows, Error, Features, Real, Result, Rows, Run};

/// Stretches of rows, each with the columns that were requested.
pub(crate) type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch>> + Send + 'a>;

/// A file of columns.
pub(crate) trait Columnar: Send + Sync {
    fn path(&self) -> &Path;
    fn schema(&self) -> &Schema;
    /// The table description written by pandas, if there is one.
    fn pandas(&self) -> Option<&str>;
    /// Declared number of rows.
    fn n_rows(&self) -> u64;
    /// The columns `columns`, which ascend, from the first row on.
    fn batches(&self, columns: &[usize]) -> Result<Batches<'_>>;
    /// Rows of each part that can be read alone; empty where there are no such parts.
    fn parts(&self) -> Vec<u64> {
        Vec::new()
    }
    /// As [`batches`](Self::batches), of one part.
    fn part(&self, part: usize, columns: &[usize]) -> Result<Batches<'_>> {
        let _ = part;
        self.batches(columns)
    }
    /// One column of one part, where its numbers are stored so that they can be decoded straight to where they belong.
    fn chunk(&self, part: usize, column: usize, pool: &BufferPool) -> Option<Chunk> {
        let _ = (part, column, pool);
        None
    }
}

/// The columns that the options choose.
struct Chosen {
    selection: Selection,
    /// The columns of features, in order.
    columns: Vec<usize>,
    /// Whether some of them are lists of numbers.
    has_lists: bool,
    /// The columns whose text names the columns of a transposed table.
    naming: Vec<usize>,
    notes: Vec<String>,
}

impl Chosen {
    fn new(file: &dyn Columnar, names: &[String], options: &Options) -> Result<Self> {
        let (origin, index) = (file.path().display().to_string(), index::places(names, file.pandas()));
        let has_lists = !options.transpose && (0..names.len()).any(|j| list_of(file, j).is_some());
        // The columns of a model may be numbers in lists: they are matched after these have become columns.
        let by_name = Options { wanted: options.wanted.clone().filter(|_| !has_lists), ..options.clone() };
        let mut selection = Selection::new(&by_name, Some(names), names.len(), &index)?;
        let is_text = |j: usize| {
            number_kind(file.schema().field(j).data_type()).is_none() && list_of(file, j).is_none()
        };
        let (naming, found) = match options.transpose {
            true => transposed::naming(&mut selection, names.len(), is_text),
            false => (vec![], false),
        };
        let mut notes =
            Vec::from_iter(index::note(&origin, &selection.index, names, names.len(), options.wording));
        notes.extend(index::note_on_names(&origin, names, &selection, options));
        let written: Vec<String> = file.schema().fields().iter().map(|field| field.name().clone()).collect();
        if !options.transpose {
            transposed::check_once(&origin, &written, options)?;
        }
        notes.extend(transposed::repeated(&origin, &written, names));
        notes.extend(naming.first().filter(|_| found).map(|&j| transposed::note(&origin, j, &names[j])));
        let features = |selection: &Selection| {
            selection.features.clone().unwrap_or_else(|| (0..names.len()).collect::<Vec<usize>>())
        };
        let mut columns = features(&selection);
        if let Some(wanted) = options.wanted.as_ref().filter(|_| has_lists) {
            let (own, others) = columns.into_iter().partition(|&j| is_wanted(file, j, &names[j], wanted));
            (columns, selection.ignored) = (own, others);
        }
        let has_lists = columns.iter().any(|&j| list_of(file, j).is_some());
        if !has_lists && options.wanted.is_some() && !options.transpose {
            // None of the lists is wanted: columns are matched by their names.
            selection = Selection::new(options, Some(names), names.len(), &index)?;
            columns = features(&selection);
        }
        Ok(Self { selection, columns, has_lists, naming, notes })
    }
}

/// The type of the numbers in the lists of a column of lists.
fn list_of(file: &dyn Columnar, column: usize) -> Option<Numbers> {
    lists::elements(file.schema().field(column).data_type())
}

/// Whether a column, or one of the numbers in its lists, is among the columns `wanted` by a model.
fn is_wanted(file: &dyn Columnar, column: usize, own: &str, wanted: &[String]) -> bool {
    let of_list = |name: &String| name.strip_prefix(own).is_some_and(|rest| rest.starts_with('['));
    wanted.iter().any(|name| name == own || (list_of(file, column).is_some() && of_list(name)))
}

/// The types of the columns, each once, and whether single precision holds all of their numbers.
fn types(
    file: &dyn Columnar,
    columns: &[usize],
    names: &[String],
    options: &Options,
) -> Result<(Vec<String>, bool)> {
    let (mut stored, mut single): (Vec<String>, bool) = (vec![], true);
    for &j in columns {
        let kind = file.schema().field(j).data_type();
        let number = number_kind(kind).or(list_of(file, j));
        if number.is_none() && !options.count_text {
            return Err(not_a_number(file.path(), j, &names[j], kind, options.wording));
        }
        single &= number != Some(Numbers::Double);
        let name = if number.is_some() { kind.to_string().to_lowercase() } else { "text".into() };
        if !stored.contains(&name) {
            stored.push(name);
        }
    }
    Ok((stored, single))
}

/// The names of rows that an index gives, if its columns can be written as text.
fn names_of_rows(
    file: &dyn Columnar,
    index: &[usize],
    names: &[String],
    run: &Run<'_>,
) -> Result<Option<Vec<String>>> {
    match kept(file, index, names, run) {
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(_) => Ok(None),
        Ok(levels) => Ok(index::names_of_rows(levels.into_iter().map(|(_, text)| text).collect())),
    }
}

pub(crate) fn open(file: Arc<dyn Columnar>, options: &Options, run: &Run<'_>) -> Result<Input> {
    let names = names(file.schema());
    if names.is_empty() || file.n_rows() == 0 {
        let what = if names.is_empty() { "columns" } else { "rows" };
        let found = format!("it has no {what}");
        return Err(Error::format(file.path(), found, "check the program that wrote it"));
    }
    let Chosen { selection, columns, has_lists, naming, mut notes } = Chosen::new(&*file, &names, options)?;
    if !has_lists {
        notes.extend(note_on_numbers(&*file, &columns, &names, options));
    }
    let (stored, single) = types(&*file, &columns, &names, options)?;
    let mut text_cells = if options.count_text { count_text(&*file, &columns)? } else { vec![] };
    let index = match (options.transpose, options.row_names) {
        (true, _) => naming,
        (false, true) => selection.index.clone(),
        (false, false) => vec![],
    };
    let levels = names_of_rows(&*file, &index, &names, run)?;
    let own: Vec<String> = columns.iter().map(|&j| names[j].clone()).collect();
    let mut ignored: Vec<String> = selection.ignored.iter().map(|&j| names[j].clone()).collect();
    let shape = vec![Some(file.n_rows()), Some(names.len() as u64)];
    let (kept, row_names, across) = match options.transpose {
        false => (kept(&*file, &selection.kept, &names, run)?, levels, None),
        true => {
            let across = TransposedFeatures::new(levels, options)?;
            let kept = transposed::kept(options, Some(&own));
            ignored.clone_from(&across.ignored);
            (kept, Some(own.clone()).filter(|_| options.row_names), Some(across))
        }
    };
    let rows = match (single, across) {
        _ if has_lists => {
            let expand = if single { lists::expanded::<f32> } else { lists::expanded::<f64> };
            let found = expand(&*file, &columns, &names, options, run)?;
            ignored.extend(found.ignored);
            text_cells = of_expanded(&text_cells, &found.widths);
            found.rows
        }
        (true, None) => along::<f32>(file, columns, own, options)?,
        (false, None) => along::<f64>(file, columns, own, options)?,
        (true, Some(across)) => transposed::<f32>(file, columns, across, options, run)?,
        (false, Some(across)) => transposed::<f64>(file, columns, across, options, run)?,
    };
    Ok(Input {
        rows: rows.with_notes(notes),
        format: String::new(),
        stored: stored.join(", "),
        shape,
        kept,
        row_names,
        ignored,
        text_cells: if options.transpose { vec![] } else { text_cells },
        comma_cells: 0,
        commas_separate: false,
        patches: None,
        unread: vec![],
    })
}

/// The numbers of text cells of columns of which each has become so many `widths`; empty if they were not counted.
fn of_expanded(text_cells: &[u64], widths: &[usize]) -> Vec<u64> {
    let each = text_cells.iter().zip(widths);
    each.flat_map(|(n, width)| std::iter::repeat_n(*n, *width)).collect()
}

/// [`index::note_on_numbers`] about the first feature, of which one batch is read; none where it cannot be read, which is reported with the rows.
fn note_on_numbers(
    file: &dyn Columnar,
    columns: &[usize],
    names: &[String],
    options: &Options,
) -> Option<String> {
    let &[first, _, ..] = columns else { return None };
    let kind = file.schema().field(first).data_type();
    if !index::are_all_columns(options) || !kind.is_numeric() || number_kind(kind).is_none() {
        return None;
    }
    let batch = file.batches(&[first]).ok()?.next()?.ok()?;
    let cells = batch.column(0).slice(0, batch.num_rows().min(index::EXAMINED_ROWS));
    let mut numbers = vec![f64::NAN; cells.len()];
    place(&cells, &mut numbers, 1);
    let origin = file.path().display().to_string();
    index::note_on_numbers(&origin, Some(&names[first]), first, &numbers, options)
}

/// Names of the columns, each once.
fn names(schema: &Schema) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut names = Vec::new();
    for field in schema.fields() {
        let (mut name, mut again) = (field.name().clone(), 0);
        while !taken.insert(name.clone()) {
            again += 1;
            name = format!("{}.{again}", field.name());
        }
        names.push(name);
    }
    names
}

fn not_a_number(
    path: &Path,
    column: usize,
    name: &str,
    kind: &arrow_schema::DataType,
    wording: Wording,
) -> Error {
    let found = format!("column {column} ('{name}') is of type {kind}, which is not numeric");
    Error::format(path, found, wording.without_column(Some(name), column))
        .with(|details| (details.column, details.name) = (Some(column), Some(name.into())))
}

/// Rows of some columns, as they are stored.
fn along<T: Real + Any>(
    file: Arc<dyn Columnar>,
    columns: Vec<usize>,
    names: Vec<String>,
    options: &Options,
) -> Result<AnyRows<'static>> {
    let path = file.path().display().to_string();
    let shape = array::feature_shape(options, None, columns.len())?;
    Ok(T::any(Rows::new(Table { file, columns }, Features { names: Some(names), shape }, path)))
}

/// Some columns as rows.
fn transposed<T: Real + Any>(
    file: Arc<dyn Columnar>,
    columns: Vec<usize>,
    across: TransposedFeatures,
    options: &Options,
    run: &Run<'_>,
) -> Result<AnyRows<'static>> {
    let path = file.path().to_path_buf();
    let n_features = columns.len();
    let source = Table { file, columns };
    let (mut spool, mut buffer, mut done) = (Spool::new(&path), Vec::<T>::new(), 0);
    let mut stream = source.stream()?;
    loop {
        buffer.clear();
        match stream.read(8192, &mut buffer)? {
            0 => break,
            n => done += n as u64,
        }
        spool.write_numbers(&buffer)?;
        progress(run, done)?;
    }
    let array = spool.into_rows::<T>(n_features)?.transposed();
    let n = across.columns.as_ref().map_or(array.features().len() as usize, Vec::len);
    let shape = array::feature_shape(options, None, n)?;
    Ok(array::rows(array, across.columns, Features { names: across.names, shape }, &path))
}

/// A type that rows may have.
pub(crate) trait Any: Real {
    fn any(rows: Rows<'static, Self>) -> AnyRows<'static>;
}

impl Any for f32 {
    fn any(rows: Rows<'static, f32>) -> AnyRows<'static> {
        AnyRows::F32(rows)
    }
}

impl Any for f64 {
    fn any(rows: Rows<'static, f64>) -> AnyRows<'static> {
        AnyRows::F64(rows)
    }
}

/// Ascending, each once, as readers return columns.
pub(crate) fn ascending(columns: &[usize]) -> Vec<usize> {
    let mut sorted = columns.to_vec();
    sorted.sort_unstable();
    sorted
}

/// The cells of each text column that are not missing.
fn count_text(file: &dyn Columnar, columns: &[usize]) -> Result<Vec<u64>> {
    let text: Vec<usize> = ascending(columns)
        .into_iter()
        .filter(|&j| {
            let kind = file.schema().field(j).data_type();
            number_kind(kind).is_none() && lists::elements(kind).is_none()
        })
        .collect();
    let mut counts = vec![0; columns.len()];
    if text.is_empty() {
        return Ok(counts);
    }
    for batch in file.batches(&text)? {
        for (&j, cells) in text.iter().zip(batch?.columns()) {
            let present = (cells.len() - cells.logical_null_count()) as u64;
            columns
                .iter()
                .zip(&mut counts)
                .filter(|(c, _)| **c == j)
                .for_each(|(_, count)| *count += present);
        }
    }
    Ok(counts)
}

fn kept(
    file: &dyn Columnar,
    columns: &[usize],
    names: &[String],
    run: &Run<'_>,
) -> Result<Vec<(String, Vec<String>)>> {
    let mut kept: Vec<(String, Vec<String>)> = columns.iter().map(|&j| (names[j].clone(), vec![])).collect();
    if columns.is_empty() {
        return Ok(kept);
    }
    let unsupported = |j: usize, kind: &arrow_schema::DataType| {
        let found = format!("column {j} ('{}') is of type {kind}, which is not supported", names[j]);
        Error::format(file.path(), found, "leave it out")
            .with(|details| (details.column, details.name) = (Some(j), Some(names[j].clone())))
    };
    for &j in columns {
        if let kind @ arrow_schema::DataType::Duration(_) = file.schema().field(j).data_type() {
            return Err(unsupported(j, kind));
        }
    }
    let sorted = ascending(columns);
    for batch in file.batches(&sorted)? {
        let batch = batch?;
        for (&j, (_, text)) in columns.iter().zip(&mut kept) {
            let cells = batch.column(sorted.partition_point(|&s| s < j));
            let own = as_text(cells).ok_or_else(|| unsupported(j, cells.data_type()))?;
            text.extend(own);
        }
        progress(run, kept[0].1.len() as u64)?;
    }
    Ok(kept)
}
