//! Rows of several files, one file after the other.

use crate::{Input, array, row_selection};
use std::ops::Range;
use unmix::data::{RandomAccess, Source, Stream};
use unmix::internal::error::counted;
use unmix::{AnyRows, Dtype, Error, Features, Real, Result, Rows};

/// Stacks inputs, of which there is at least one, in their order.
pub(crate) fn stack(mut inputs: Vec<Input>) -> Result<Input> {
    let features = agree(&inputs)?;
    let n_rows =
        inputs.iter().map(|i| i.rows.n_rows()).try_fold(0u64, |a, n| n.and_then(|n| a.checked_add(n)));
    let origin = format!("{} and {} more", inputs[0].rows.origin(), inputs.len() - 1);
    let tail = |input: &Input| input.shape.get(1..).map(<[_]>::to_vec);
    let by_row = |input: &Input| input.shape.first() == Some(&input.rows.n_rows());
    let shape = match inputs.iter().all(|i| by_row(i) && tail(i) == tail(&inputs[0])) {
        true => [vec![n_rows], tail(&inputs[0]).unwrap_or_default()].concat(),
        false => vec![n_rows, Some(inputs[0].rows.n_features() as u64)],
    };
    let mut all = Input {
        format: distinct(inputs.iter().map(|i| &i.format)),
        stored: distinct(inputs.iter().map(|i| &i.stored)),
        shape,
        kept: inputs[0].kept.iter().map(|(name, _)| (name.clone(), vec![])).collect(),
        ignored: inputs[0].ignored.clone(),
        row_names: None,
        text_cells: vec![0; inputs[0].text_cells.len()],
        comma_cells: inputs.iter().map(|input| input.comma_cells).sum(),
        commas_separate: inputs.iter().any(|input| input.commas_separate),
        patches: None,
        unread: inputs.iter_mut().flat_map(|input| std::mem::take(&mut input.unread)).collect(),
        rows: AnyRows::F64(Rows::new(Stacked::<f64>::new(vec![]), Features::default(), "")),
    };
    for input in &mut inputs {
        all.text_cells.iter_mut().zip(&input.text_cells).for_each(|(a, b)| *a += b);
        all.kept.iter_mut().zip(&mut input.kept).for_each(|((_, all), (_, own))| all.append(own));
    }
    let row_names: Option<Vec<Vec<String>>> = inputs.iter_mut().map(|input| input.row_names.take()).collect();
    all.row_names = row_names.map(|names| names.concat());
    let notes = array::notes_of_files(inputs.iter().flat_map(|input| input.rows.notes()).cloned().collect());
    let single = inputs.iter().all(|i| i.rows.dtype() == Dtype::F32);
    let rows = inputs.into_iter().map(|i| i.rows);
    all.rows = match single {
        true => AnyRows::F32(Rows::new(Stacked::new(rows.filter_map(singles).collect()), features, origin)),
        false => AnyRows::F64(Rows::new(Stacked::new(rows.map(doubles).collect()), features, origin)),
    };
    all.rows = all.rows.with_notes(notes);
    Ok(all)
}

/// Names and shape of the columns of all parts; those that two parts have must agree.
fn agree(inputs: &[Input]) -> Result<Features> {
    let first = &inputs[0].rows;
    let mut features = first.features().clone();
    for input in &inputs[1..] {
        let differs = |found: String| {
            let found = format!("it {found} in {}", first.origin());
            let remedy = "give files with the same columns, or choose those that they share";
            Error::format(input.rows.origin(), found, remedy)
                .with(|details| details.other = Some(first.origin().into()))
        };
        let (own, n) = (input.rows.features(), input.rows.n_features());
        if n != first.n_features() {
            let need = first.n_features();
            let error =
                differs(format!("has {} per row, but there are {need}", counted(n as u64, "feature")));
            let numbers = (Some(need as u64), Some(n as u64));
            return Err(error.with(|details| (details.need, details.got) = numbers));
        }
        if let (Some(a), Some(b)) = (&features.names, &own.names)
            && let Some(j) = (0..n).find(|&j| a[j] != b[j])
        {
            let error = differs(format!("has '{}' as feature {j}, but that is '{}'", b[j], a[j]));
            let place = (Some(j), Some(b[j].clone()));
            return Err(error.with(|details| (details.column, details.name) = place));
        }
        if let (Some(a), Some(b)) = (&features.shape, &own.shape)
            && a != b
        {
            let text = |shape: &[usize]| shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
            return Err(differs(format!("has samples of shape {}, but they have {}", text(b), text(a))));
        }
        let kept = |input: &Input| input.kept.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        if kept(input) != kept(&inputs[0]) {
            return Err(differs(format!(
                "keeps the columns '{}', but the first input keeps '{}'",
                kept(input).join(","),
                kept(&inputs[0]).join(",")
            )));
        }
        features.names = features.names.or_else(|| own.names.clone());
        features.shape = features.shape.or_else(|| own.shape.clone());
    }
    Ok(features)
}

fn distinct<'a>(values: impl Iterator<Item = &'a String>) -> String {
    let mut seen: Vec<&str> = Vec::new();
    values.for_each(|one| {
        if !seen.contains(&one.as_str()) {
            seen.push(one);
        }
    });
    seen.join(", ")
}

fn singles(rows: AnyRows<'static>) -> Option<Rows<'static, f32>> {
    match rows {
        AnyRows::F32(rows) => Some(rows),
        AnyRows::F64(_) => None,
    }
}

/// Rows in double precision.
fn doubles(rows: AnyRows<'static>) -> Rows<'static, f64> {
    match rows {
        AnyRows::F64(rows) => rows,
        AnyRows::F32(rows) => row_selection::converted(rows),
    }
}

/// Rows of several sources, one after the other.
struct Stacked<T: Real> {
    parts: Vec<Rows<'static, T>>,
    /// The first row of each, and the number of all at the end; empty when the number of rows of a part is unknown.
    starts: Vec<u64>,
}

impl<T: Real> Stacked<T> {
    fn new(parts: Vec<Rows<'static, T>>) -> Self {
        let mut starts = vec![0];
        for part in &parts {
            match (part.n_rows(), starts.last()) {
                (Some(n), Some(last)) => starts.push(last + n),
                _ => starts.clear(),
            }
        }
        Self { parts, starts }
    }
}

impl<T: Real> Source<T> for Stacked<T> {
    fn n_features(&self) -> usize {
        self.parts.first().map_or(0, Rows::n_features)
    }

    fn n_rows(&self) -> Option<u64> {
        self.starts.last().copied()
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(SequentialReader { parts: self.parts.iter(), now: None }))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        let all = !self.starts.is_empty() && self.parts.iter().all(|part| part.source().random().is_some());
        if all { Some(self) } else { None }
    }
}

impl<T: Real> RandomAccess<T> for Stacked<T> {
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
        for (part, own) in self.parts.iter().zip(self.starts.windows(2)) {
            let (start, end) = (rows.start.max(own[0]), rows.end.min(own[1]));
            let Some(random) = part.source().random().filter(|_| start < end) else { continue };
            let (now, rest) = out.split_at_mut((end - start) as usize * columns.len());
            random.read(start - own[0]..end - own[0], columns.clone(), now, raw)?;
            out = rest;
        }
        Ok(())
    }

    fn lend(&self, rows: Range<u64>) -> Option<&[T]> {
        let i = self.starts.windows(2).position(|own| own[0] <= rows.start && rows.end <= own[1])?;
        self.parts[i].source().random()?.lend(rows.start - self.starts[i]..rows.end - self.starts[i])
    }
}

/// Reads one part after the other.
struct SequentialReader<'a, T: Real> {
    parts: std::slice::Iter<'a, Rows<'static, T>>,
    now: Option<Box<dyn Stream<T> + 'a>>,
}

impl<T: Real> Stream<T> for SequentialReader<'_, T> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize> {
        loop {
            if let Some(stream) = &mut self.now {
                match stream.read(max_rows, out)? {
                    0 => self.now = None,
                    n => return Ok(n),
                }
            }
            match self.parts.next() {
                Some(part) => self.now = Some(part.source().stream()?),
                None => return Ok(0),
            }
        }
    }
}
