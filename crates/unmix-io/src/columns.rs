//! Tables stored column by column, as rows: only the columns asked for are read, one stretch of rows after the other.

use crate::cells::{Numbers, as_text, number_kind};
use crate::selection::Selection;
use crate::{Input, Options, array, progress};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use unmix::data::{Source, Spool, Stream};
use unmix::{AnyRows, Error, Features, Real, Result, Rows, Run};

/// Stretches of rows, each with the columns that were asked for.
pub(crate) type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch>> + Send + 'a>;

/// A file of columns.
pub(crate) trait Columnar: Send + Sync {
    fn path(&self) -> &Path;
    fn schema(&self) -> &Schema;
    /// How many rows it says that it has.
    fn n_rows(&self) -> u64;
    /// The columns `columns`, which ascend, from the first row on.
    fn batches(&self, columns: &[usize]) -> Result<Batches<'_>>;
    /// Rows of each part that can be read by itself; empty where there are no such parts.
    fn parts(&self) -> Vec<u64> {
        Vec::new()
    }
    /// As [`batches`](Self::batches), of one part.
    fn part(&self, part: usize, columns: &[usize]) -> Result<Batches<'_>> {
        let _ = part;
        self.batches(columns)
    }
}

pub(crate) fn open(file: Arc<dyn Columnar>, options: &Options, run: &Run<'_>) -> Result<Input> {
    let (path, names) = (file.path().to_path_buf(), names(file.schema()));
    if names.is_empty() || file.n_rows() == 0 {
        let what = if names.is_empty() { "columns" } else { "rows" };
        return Err(Error::format(&path, format!("it has no {what}"), "check what was to write it"));
    }
    let selection = Selection::new(options, Some(&names), names.len())?;
    if options.transpose && !selection.kept.is_empty() {
        return Err(Error::Unsupported {
            asked: format!("keep={} together with transpose", options.keep.as_deref().unwrap_or_default()),
            found: "the columns of the file become samples".into(),
            remedy: "drop those columns instead".into(),
        });
    }
    let columns = selection.features.clone().unwrap_or_else(|| (0..names.len()).collect());
    let (mut stored, mut single): (Vec<String>, bool) = (vec![], true);
    for &j in &columns {
        let kind = file.schema().field(j).data_type();
        let number = number_kind(kind);
        if number.is_none() && !options.count_text {
            return Err(not_a_number(&path, j, &names[j], kind));
        }
        single &= number != Some(Numbers::Double);
        let name = if number.is_some() { kind.to_string().to_lowercase() } else { "text".into() };
        if !stored.contains(&name) {
            stored.push(name);
        }
    }
    let text_cells = if options.count_text { count_text(&*file, &columns)? } else { vec![] };
    let kept = kept(&*file, &selection.kept, &names, run)?;
    let shape = vec![Some(file.n_rows()), Some(names.len() as u64)];
    let own = Features { names: Some(columns.iter().map(|&j| names[j].clone()).collect()), shape: None };
    let rows = match single {
        true => rows::<f32>(file, columns, own, options, run)?,
        false => rows::<f64>(file, columns, own, options, run)?,
    };
    Ok(Input {
        rows,
        format: String::new(),
        stored: stored.join(", "),
        shape,
        kept,
        ignored: selection.ignored.iter().map(|&j| names[j].clone()).collect(),
        text_cells: if options.transpose { vec![] } else { text_cells },
    })
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

fn not_a_number(path: &Path, column: usize, name: &str, kind: &arrow_schema::DataType) -> Error {
    let word = if name.contains([',', ' ']) { format!("'\"{name}\"'") } else { name.to_string() };
    let found = format!("column {column} ('{name}') is of type {kind}, and holds no numbers");
    let remedy =
        format!("leave the column out with --drop {word}, or carry it beside the codes with --keep {word}");
    Error::format(path, found, remedy)
}

fn rows<T: Real + Any>(
    file: Arc<dyn Columnar>,
    columns: Vec<usize>,
    own: Features,
    options: &Options,
    run: &Run<'_>,
) -> Result<AnyRows<'static>> {
    let path = file.path().to_path_buf();
    let n_features = columns.len();
    let source = Table { file, columns };
    if !options.transpose {
        let shape = array::feature_shape(options, None, n_features)?;
        return Ok(T::any(Rows::new(source, Features { shape, ..own }, path.display().to_string())));
    }
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
    let across = spool.into_rows::<T>(n_features)?.transposed();
    let shape = array::feature_shape(options, None, across.features().len() as usize)?;
    Ok(array::rows(across, None, Features { names: None, shape }, &path))
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

/// Ascending, each once, as files hand columns out.
fn ascending(columns: &[usize]) -> Vec<usize> {
    let mut sorted = columns.to_vec();
    sorted.sort_unstable();
    sorted
}

/// The cells of each text column that are not missing.
fn count_text(file: &dyn Columnar, columns: &[usize]) -> Result<Vec<u64>> {
    let text: Vec<usize> = ascending(columns)
        .into_iter()
        .filter(|&j| number_kind(file.schema().field(j).data_type()).is_none())
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
    let sorted = ascending(columns);
    for batch in file.batches(&sorted)? {
        let batch = batch?;
        for (&j, (_, text)) in columns.iter().zip(&mut kept) {
            let cells = batch.column(sorted.partition_point(|&s| s < j));
            let own = as_text(cells).ok_or_else(|| {
                let found = format!(
                    "column {j} ('{}') is of type {}, which is not known here",
                    names[j],
                    cells.data_type()
                );
                Error::format(file.path(), found, "leave it out")
            })?;
            text.extend(own);
        }
        progress(run, kept[0].1.len() as u64)?;
    }
    Ok(kept)
}

/// Some columns of a file, as rows.
struct Table {
    file: Arc<dyn Columnar>,
    columns: Vec<usize>,
}

impl<T: Real> Source<T> for Table {
    fn n_features(&self) -> usize {
        self.columns.len()
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.file.n_rows())
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        let sorted = ascending(&self.columns);
        let places = self.columns.iter().map(|&j| sorted.partition_point(|&s| s < j)).collect();
        let batches = self.file.batches(&sorted)?;
        Ok(Box::new(Front { of: self, places, batches, now: None, at: 0, done: 0 }))
    }

    fn fill(&self, out: &mut [T], threads: usize) -> Option<Result<()>> {
        let parts = self.file.parts();
        let n_rows = self.file.n_rows();
        let all =
            parts.len() > 1 && parts.iter().try_fold(0u64, |sum, n| sum.checked_add(*n)) == Some(n_rows);
        let fits = (n_rows as usize).checked_mul(self.columns.len()) == Some(out.len());
        // What does not add up is for the reader from the start to describe.
        (all && fits).then(|| self.fill_parts(&parts, out, threads))
    }
}

impl Table {
    /// Every part over its place in `out`, the next one by whichever thread is free.
    fn fill_parts<T: Real>(&self, parts: &[u64], out: &mut [T], threads: usize) -> Result<()> {
        let sorted = ascending(&self.columns);
        let places: Vec<usize> = self.columns.iter().map(|&j| sorted.partition_point(|&s| s < j)).collect();
        let mut rest = out;
        let mut jobs = Vec::new();
        for (part, n) in parts.iter().enumerate() {
            let (own, more) = rest.split_at_mut(*n as usize * places.len());
            jobs.push((part, own));
            rest = more;
        }
        // Parts are handed out from the back.
        jobs.reverse();
        let jobs = Mutex::new(jobs);
        let work = || -> Result<()> {
            loop {
                let job = jobs.lock().map_or_else(|e| e.into_inner().pop(), |mut jobs| jobs.pop());
                let Some((part, own)) = job else { return Ok(()) };
                self.fill_part(part, &sorted, &places, own)?;
            }
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(parts.len())).map(|_| scope.spawn(work)).collect();
            let first = work();
            let others = others
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            std::iter::once(first).chain(others).collect()
        })
    }

    fn fill_part<T: Real>(
        &self,
        part: usize,
        sorted: &[usize],
        places: &[usize],
        out: &mut [T],
    ) -> Result<()> {
        let (p, mut done) = (places.len(), 0);
        for batch in self.file.part(part, sorted)? {
            let batch = batch?;
            let own = out.get_mut(done..done + batch.num_rows() * p).ok_or_else(|| self.other_rows(part))?;
            write(&batch, places, own);
            done += own.len();
        }
        if done == out.len() { Ok(()) } else { Err(self.other_rows(part)) }
    }

    fn other_rows(&self, part: usize) -> Error {
        let found = format!("row group {part} has another number of rows than it promises");
        Error::format(self.file.path(), found, "it was cut short or is not what it says; write it again")
    }
}

/// The numbers of a batch, row by row; so few rows of all columns at a time that they stay in the first cache until they are whole.
fn write<T: Real>(batch: &RecordBatch, places: &[usize], out: &mut [T]) {
    let p = places.len().max(1);
    let rows = ((1 << 12) / p).max(1);
    let whole = batch.columns().iter().all(crate::cells::are_whole);
    for (i, out) in out.chunks_mut(rows * p).enumerate() {
        if !whole {
            out.fill(T::from_f64(f64::NAN));
        }
        let (start, n) = (i * rows, out.len() / p);
        for (feature, &place) in places.iter().enumerate() {
            crate::cells::place(&batch.column(place).slice(start, n), &mut out[feature..], p);
        }
    }
}

/// Reads forward.
struct Front<'a> {
    of: &'a Table,
    /// Where each feature is in a batch.
    places: Vec<usize>,
    batches: Batches<'a>,
    now: Option<RecordBatch>,
    /// The next row of the batch.
    at: usize,
    done: u64,
}

impl Front<'_> {
    /// A batch with rows that are not read yet; `None` at the end.
    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.now.take_if(|batch| self.at < batch.num_rows()) {
                return Ok(Some(batch));
            }
            let promised = self.of.file.n_rows();
            let end = match self.batches.next().transpose()? {
                Some(batch) => {
                    self.at = 0;
                    self.done += batch.num_rows() as u64;
                    self.now = Some(batch);
                    false
                }
                None => true,
            };
            if self.done > promised || (end && self.done != promised) {
                let found = format!(
                    "it promises {promised} rows, but it has {}{}",
                    self.done,
                    if end { "" } else { " or more" }
                );
                return Err(Error::format(
                    self.of.file.path(),
                    found,
                    "it was cut short or is not what it says; write it again",
                ));
            }
            if end {
                return Ok(None);
            }
        }
    }
}

impl<T: Real> Stream<T> for Front<'_> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize> {
        let Some(batch) = self.advance()? else { return Ok(0) };
        let (p, start) = (self.places.len(), out.len());
        let n = max_rows.min(batch.num_rows() - self.at);
        let part = batch.slice(self.at, n);
        out.resize(start + n * p, T::default());
        write(&part, &self.places, &mut out[start..]);
        self.at += n;
        self.now = Some(batch);
        Ok(n)
    }
}
