//! Tables of numbers, written row by row as an array, as compressed sparse rows, or as text.

use super::{Destination, Output, Target, by_ending};
use crate::args::Format;
use crate::failure::Failure;
use crate::interrupt::WritingGuard;
use std::path::Path;
use unmix::data::{EntrySink, NpyWriter, Sink, npy_preamble};
use unmix::{Dtype, Error, Real, Result};
use unmix_io::SparseWriter;

/// A file with a table of numbers, in the format of its extension (`.npy`, `.npz` as compressed sparse rows, `.csv`, `.tsv`), as written by
/// every command that outputs rows; it appears complete or not at all.
pub struct TableFile(TableWriter);

impl TableFile {
    /// Begins a table of columns `names` and numbers of type `dtype` at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] for another extension; [`Error::Io`] where `path` cannot be written.
    pub fn create(path: &Path, names: Vec<String>, dtype: Dtype) -> Result<Self> {
        if path.is_dir() {
            let remedy = "give the name of a file in it that ends in .npy, .npz, .csv or .tsv";
            return Err(Error::setting("out", format!("'{}'", path.display()), "it is a folder", remedy));
        }
        let format = by_ending(path).ok_or_else(|| {
            let why = "the format is not clear from the extension";
            Error::setting("out", format!("'{}'", path.display()), why, "end it in .npy, .npz, .csv or .tsv")
        })?;
        let output = Output { place: Destination::File(path.into()), format };
        let trailing = vec![names.len()];
        let shape = Shape { names, trailing, kept: Vec::new(), n_rows: 0 };
        TableWriter::begin(&output, shape, dtype).map(Self)
    }

    /// Sets the number of rows of a table without columns: an array of shape `(n_rows, 0)`.
    pub fn set_empty_rows(&mut self, n_rows: u64) {
        if let Kind::File(writer) = &mut self.0.kind {
            writer.set_empty_rows(n_rows);
        }
    }

    /// Ends the table and renames the file to its final name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn finish(self) -> Result<()> {
        self.0.finish()
    }
}

impl<T: Real> Sink<T> for TableFile {
    fn put(&mut self, rows: &[T]) -> Result<()> {
        self.0.put(rows)
    }

    fn entries(&mut self) -> Option<&mut dyn EntrySink<T>> {
        self.0.entries()
    }
}

/// Layout of a table.
pub(crate) struct Shape {
    /// Names of the columns; without names there is no header, and each call of `put` writes one line.
    pub(crate) names: Vec<String>,
    /// Shape of one row, if it is kept: empty for a single number.
    pub(crate) trailing: Vec<usize>,
    /// Columns of text that precede the others.
    pub(crate) kept: Vec<(String, Vec<String>)>,
    /// Number of rows.
    pub(crate) n_rows: u64,
}

/// Writes a table row by row. The header is written together with the first rows: if these cannot be computed, nothing is written.
pub(crate) struct TableWriter {
    kind: Kind,
    _guard: WritingGuard,
}

enum Kind {
    File(NpyWriter),
    Array(Array),
    Sparse(Box<SparseWriter>, Target),
    Text(Text),
}

/// An array that is not written to a file.
struct Array {
    target: Target,
    /// The header, until it is written.
    preamble: Vec<u8>,
}

impl Array {
    fn put(&mut self, numbers: &[u8]) -> Result<()> {
        self.target.put(&std::mem::take(&mut self.preamble))?;
        self.target.put(numbers)
    }
}

impl TableWriter {
    /// Begins a table of numbers of type `dtype`.
    pub(crate) fn create(output: &Output, shape: Shape, dtype: Dtype) -> Result<Self, Failure> {
        if matches!(output.format, Format::Npy | Format::Npz) && !shape.kept.is_empty() {
            let names: Vec<String> = shape.kept.iter().map(|(name, _)| name.clone()).collect();
            let names = unmix::data::listed(&names);
            let message = format!(
                "an array holds numbers only and cannot keep {names}; write .csv or .tsv, or leave --keep out"
            );
            return Err(Failure::Usage(message));
        }
        Ok(Self::begin(output, shape, dtype)?)
    }

    fn begin(output: &Output, shape: Shape, dtype: Dtype) -> Result<Self> {
        let guard = WritingGuard::new();
        let kind = match (output.format, &output.place) {
            (Format::Npy, Destination::File(path)) => {
                Kind::File(NpyWriter::create(path, dtype, &shape.trailing)?)
            }
            (Format::Npy, place) => {
                let preamble = npy_preamble(dtype, shape.n_rows, &shape.trailing);
                Kind::Array(Array { target: Target::create(place)?, preamble })
            }
            (Format::Npz, place) => {
                let width = shape.trailing.iter().product();
                Kind::Sparse(Box::new(SparseWriter::new(width, dtype)?), Target::create(place)?)
            }
            (format, place) => {
                let delimiter = if format == Format::Tsv { b'\t' } else { b',' };
                Kind::Text(Text::new(Target::create(place)?, delimiter, shape))
            }
        };
        Ok(Self { kind, _guard: guard })
    }

    /// Integers are written without a decimal point.
    pub(crate) fn of_whole_numbers(mut self) -> Self {
        if let Kind::Text(text) = &mut self.kind {
            text.whole = true;
        }
        self
    }

    /// Ends the table.
    pub(crate) fn finish(self) -> Result<()> {
        match self.kind {
            Kind::File(writer) => writer.finish(),
            Kind::Array(mut array) => {
                array.put(&[])?;
                array.target.finish()
            }
            Kind::Sparse(writer, mut target) => {
                let name = target.name().to_path_buf();
                writer.finish(&mut target, &name)?;
                target.finish()
            }
            Kind::Text(mut text) => {
                text.begin()?;
                text.target.finish()
            }
        }
    }
}

impl<T: Real> Sink<T> for TableWriter {
    fn put(&mut self, rows: &[T]) -> Result<()> {
        match &mut self.kind {
            Kind::File(writer) => writer.write(rows),
            Kind::Array(array) => {
                let mut bytes = Vec::with_capacity(rows.len() * T::DTYPE.size());
                rows.iter().for_each(|x| x.write_le(&mut bytes));
                array.put(&bytes)
            }
            Kind::Sparse(writer, _) => writer.put(rows),
            Kind::Text(text) => text.put(rows),
        }
    }

    fn entries(&mut self) -> Option<&mut dyn EntrySink<T>> {
        match &mut self.kind {
            Kind::Sparse(writer, _) => Some(&mut **writer),
            _ => None,
        }
    }
}

/// A text table.
struct Text {
    target: Target,
    delimiter: u8,
    width: usize,
    /// The header, until it is written.
    names: Vec<String>,
    kept: Vec<Vec<String>>,
    row: usize,
    whole: bool,
}

impl Text {
    fn new(target: Target, delimiter: u8, shape: Shape) -> Self {
        let width = shape.names.len();
        let (mut names, kept): (Vec<String>, Vec<Vec<String>>) = shape.kept.into_iter().unzip();
        names.extend(shape.names);
        Self { target, delimiter, width, names, kept, row: 0, whole: false }
    }

    /// Writes the header if it has not been written.
    fn begin(&mut self) -> Result<()> {
        match std::mem::take(&mut self.names) {
            names if names.is_empty() => Ok(()),
            names => self.lines(|csv| csv.write_record(&names)),
        }
    }

    fn put<T: Real>(&mut self, rows: &[T]) -> Result<()> {
        self.begin()?;
        let width = if self.width == 0 { rows.len().max(1) } else { self.width };
        let (kept, start, whole) = (std::mem::take(&mut self.kept), self.row, self.whole);
        self.row += rows.len() / width;
        let done = self.lines(|csv| {
            let mut number = String::new();
            for (i, row) in rows.chunks_exact(width).enumerate() {
                for column in &kept {
                    csv.write_field(column.get(start + i).map_or("", String::as_str))?;
                }
                for x in row {
                    number.clear();
                    // The shortest text that parses to the same number.
                    let _ = match whole {
                        true => std::fmt::Write::write_fmt(&mut number, format_args!("{x}")),
                        false => std::fmt::Write::write_fmt(&mut number, format_args!("{x:?}")),
                    };
                    csv.write_field(&number)?;
                }
                csv.write_record(None::<&[u8]>)?;
            }
            Ok(())
        });
        self.kept = kept;
        done
    }

    fn lines(&mut self, fill: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>) -> Result<()> {
        let mut writer =
            csv::WriterBuilder::new().delimiter(self.delimiter).flexible(true).from_writer(Vec::new());
        let wrong = |e: String| Error::io("cannot write", self.target.name(), std::io::Error::other(e));
        fill(&mut writer).map_err(|e| wrong(e.to_string()))?;
        let bytes = writer.into_inner().map_err(|e| wrong(e.to_string()))?;
        self.target.put(&bytes)
    }
}
