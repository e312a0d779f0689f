//! Selection of rows and of the number type, for all formats.

use crate::options::Missing;
use crate::{Input, Options, Wording};
use std::ops::Range;
use unmix::data::{Forward, RandomAccess, SelectedRows, Source, Stream, VecSink};
use unmix::{AnyRows, Dtype, Error, Features, Real, Result, Rows, Run, with_rows};

/// The rows of `input` that `options` select.
pub(crate) fn choose(mut input: Input, options: &Options, run: &Run<'_>) -> Result<Input> {
    let dtype = options.dtype.filter(|&dtype| dtype != input.rows.dtype());
    if options.rows.is_none() && options.missing == Missing::Keep && dtype.is_none() {
        return Ok(input);
    }
    if with_rows!(&input.rows, rows => rows.is_sparse()) {
        let requested = if dtype.is_some() { "dtype" } else { "some of the rows" };
        return Err(Error::unsupported(
            format!("{requested} of sparse rows"),
            format!("{} holds a sparse matrix", input.rows.origin()),
            "store only those rows, in that type, or make it dense",
        ));
    }
    input.rows.prepare(run)?;
    let n = input.rows.n_rows().unwrap_or(0);
    let requested = options.rows.map_or(Ok(0..n), |rows| within(rows, n, options.wording))?;
    let (runs, note) = match options.missing {
        Missing::Drop => without_gaps(&input.rows, requested, run)?,
        Missing::Keep => (Vec::from([requested]), None),
    };
    let mut selected = SelectedRows::new(runs.clone(), n)?;
    for cells in input.kept.iter_mut().map(|(_, cells)| cells).chain(&mut input.row_names) {
        *cells = selected.of(cells);
    }
    let as_read = runs.first().is_some_and(|run| *run == (0..n));
    if !as_read {
        input.patches = None;
        input.rows = match input.rows {
            AnyRows::F32(rows) => AnyRows::F32(taken(rows, runs)),
            AnyRows::F64(rows) => AnyRows::F64(taken(rows, runs)),
        };
    }
    input.rows = match (dtype, input.rows) {
        (Some(Dtype::F32), AnyRows::F64(rows)) => AnyRows::F32(converted(rows)),
        (Some(Dtype::F64), AnyRows::F32(rows)) => AnyRows::F64(converted(rows)),
        (_, rows) => rows,
    };
    // Text is read up to the last row that is requested.
    let unread = std::mem::take(&mut input.unread);
    if !unread.is_empty() {
        selected = selected.with_rest(move || unread.iter().map(|count| count()).sum());
        input.rows = input.rows.selected(selected);
    } else if !as_read {
        input.rows = input.rows.selected(selected);
    }
    if note.is_some() {
        let notes = input.rows.notes().iter().cloned().chain(note).collect();
        input.rows = input.rows.with_notes(notes);
    }
    Ok(input)
}

/// Rows from the first number to before the second, as far as there are any.
fn within((start, end): (u64, Option<u64>), n: u64, wording: Wording) -> Result<Range<u64>> {
    let range = start..end.unwrap_or(n).min(n);
    if range.start < range.end {
        return Ok(range);
    }
    Err(Error::setting(
        "rows",
        wording.rows_value(start, end),
        format!("there are rows 0 to {}", n.saturating_sub(1)),
        "choose some of these",
    ))
}

/// The rows of `requested` without a missing cell, and a note on the others.
fn without_gaps(
    rows: &AnyRows<'_>,
    requested: Range<u64>,
    run: &Run<'_>,
) -> Result<(Vec<Range<u64>>, Option<String>)> {
    let n = requested.end - requested.start;
    let runs = complete(rows, &[requested], run)?;
    let left: u64 = runs.iter().map(|run| run.end - run.start).sum();
    let origin = rows.origin();
    if left == 0 && n > 0 {
        let found = match n {
            1 => "its only row has a missing cell".to_string(),
            n => format!("each of its {n} rows has a missing cell"),
        };
        return Err(Error::format(origin, found, "leave out the columns that are often empty"));
    }
    let (have, are) = if n - left == 1 { ("has", "is") } else { ("have", "are") };
    let note = format!("{origin}: {} of {n} rows {have} a missing cell and {are} left out", n - left);
    Ok((runs, (left < n).then_some(note)))
}

/// The rows in `runs` without a missing cell, in one sweep over all rows; memory: a number and a byte per row.
fn complete(rows: &AnyRows<'_>, runs: &[Range<u64>], run: &Run<'_>) -> Result<Vec<Range<u64>>> {
    let flags: Vec<bool> = with_rows!(rows, rows => has_gap(rows, run)?);
    let mut kept: Vec<Range<u64>> = Vec::new();
    for row in runs.iter().cloned().flatten().filter(|&row| !flags[row as usize]) {
        match kept.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => kept.push(row..row + 1),
        }
    }
    Ok(kept)
}

fn has_gap<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<bool>> {
    let (mut sink, p) = (VecSink(Vec::<T>::new()), rows.n_features());
    rows.map(
        run,
        "missing cells",
        1,
        |block, out, _| {
            for (row, out) in block.data.chunks_exact(p).zip(out) {
                *out = T::from_f64(f64::from(u8::from(row.iter().any(|x| x.to_f64().is_nan()))));
            }
            Ok(())
        },
        &mut sink,
    )?;
    Ok(sink.0.iter().map(|x| x.to_f64() != 0.0).collect())
}

fn taken<T: Real>(rows: Rows<'static, T>, runs: Vec<Range<u64>>) -> Rows<'static, T> {
    let mut starts = vec![0];
    for run in &runs {
        starts.push(starts[starts.len() - 1] + run.end - run.start);
    }
    let (features, origin, notes) = described(&rows);
    Rows::new(Runs { rows, runs, starts }, features, origin).with_notes(notes)
}

/// The same rows in the other type, converted as they are read.
pub(crate) fn converted<S: Real, T: Real>(rows: Rows<'static, S>) -> Rows<'static, T> {
    let (features, origin, notes) = described(&rows);
    Rows::new(Converted { rows }, features, origin).with_notes(notes)
}

fn described<T: Real>(rows: &Rows<'_, T>) -> (Features, String, Vec<String>) {
    (rows.features().clone(), rows.origin().into(), rows.notes().to_vec())
}

/// Random access to rows, which [`choose`] has ensured.
fn in_any_order<'a, T: Real>(rows: &'a Rows<'_, T>) -> Result<&'a dyn RandomAccess<T>> {
    rows.source().random().ok_or_else(|| {
        Error::unsupported(
            "reading rows in any order",
            format!("{} can only be read from its first row on", rows.origin()),
            "prepare the rows first",
        )
    })
}

/// Runs of the rows of another source that can be read in any order, one after the other.
struct Runs<T: Real> {
    rows: Rows<'static, T>,
    runs: Vec<Range<u64>>,
    /// The number that the first row of each run has here, and that of all rows.
    starts: Vec<u64>,
}

impl<T: Real> Source<T> for Runs<T> {
    fn n_features(&self) -> usize {
        self.rows.n_features()
    }

    fn n_rows(&self) -> Option<u64> {
        self.starts.last().copied()
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(Forward::new(self, self.rows.n_features())))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        Some(self)
    }
}

impl<T: Real> RandomAccess<T> for Runs<T> {
    fn n_rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    fn read(
        &self,
        rows: Range<u64>,
        columns: Range<usize>,
        mut out: &mut [T],
        raw: &mut Vec<u8>,
    ) -> Result<()> {
        let from = in_any_order(&self.rows)?;
        let first = self.starts.partition_point(|&start| start <= rows.start) - 1;
        for (run, own) in self.runs.iter().zip(self.starts.windows(2)).skip(first) {
            let (start, end) = (rows.start.max(own[0]), rows.end.min(own[1]));
            if start >= end {
                break;
            }
            let (now, rest) = out.split_at_mut((end - start) as usize * columns.len());
            from.read(run.start + start - own[0]..run.start + end - own[0], columns.clone(), now, raw)?;
            out = rest;
        }
        Ok(())
    }
}

/// The numbers of another source in the other type.
struct Converted<S: Real> {
    rows: Rows<'static, S>,
}

impl<S: Real, T: Real> Source<T> for Converted<S> {
    fn n_features(&self) -> usize {
        self.rows.n_features()
    }

    fn n_rows(&self) -> Option<u64> {
        self.rows.n_rows()
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(ConvertedStream { stream: self.rows.source().stream()?, numbers: Vec::new() }))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        if self.rows.source().random().is_some() { Some(self) } else { None }
    }
}

impl<S: Real, T: Real> RandomAccess<T> for Converted<S> {
    fn n_rows(&self) -> u64 {
        self.rows.source().random().map_or(0, RandomAccess::n_rows)
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [T], raw: &mut Vec<u8>) -> Result<()> {
        let from = in_any_order(&self.rows)?;
        let mut numbers = vec![S::default(); out.len()];
        from.read(rows, columns, &mut numbers, raw)?;
        out.iter_mut().zip(&numbers).for_each(|(out, x)| *out = T::from_f64(x.to_f64()));
        Ok(())
    }
}

/// Reads forward.
struct ConvertedStream<'a, S: Real> {
    stream: Box<dyn Stream<S> + 'a>,
    numbers: Vec<S>,
}

impl<S: Real, T: Real> Stream<T> for ConvertedStream<'_, S> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize> {
        self.numbers.clear();
        let n = self.stream.read(max_rows, &mut self.numbers)?;
        out.extend(self.numbers.iter().map(|x| T::from_f64(x.to_f64())));
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows of one number that can be read forward only.
    struct ForwardOnly;

    impl Source<f64> for ForwardOnly {
        fn n_features(&self) -> usize {
            1
        }

        fn n_rows(&self) -> Option<u64> {
            Some(2)
        }

        fn stream(&self) -> Result<Box<dyn Stream<f64> + '_>> {
            unreachable!("rows are requested by number")
        }
    }

    #[test]
    fn rows_without_random_access_are_an_error_and_not_zeros() {
        let rows = || Rows::new(ForwardOnly, Features::default(), "a pipe");
        let refused = |read: Result<()>| {
            let message = read.unwrap_err().to_string();
            assert!(message.contains("a pipe can only be read from its first row on"), "{message}");
        };
        let second = 1..2;
        let runs = Runs { rows: rows(), runs: Vec::from([second]), starts: vec![0, 1] };
        refused(runs.read(0..1, 0..1, &mut [7.0], &mut Vec::new()));
        let single = Converted { rows: rows() };
        assert!(Source::<f32>::random(&single).is_none());
        refused(RandomAccess::<f32>::read(&single, 0..1, 0..1, &mut [7.0], &mut Vec::new()));
    }
}
