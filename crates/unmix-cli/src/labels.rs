//! Labels of rows from a separate file: one value per line, an array, or a column of a table.

use crate::failure::Failure;
use crate::side_file;
use std::path::Path;
use unmix::{Error, Run};

/// A label for each row: the name of the column, and the values.
pub(crate) type Labels = (String, Vec<String>);

/// A file of labels, and the requested column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LabelFile<'a> {
    pub(crate) path: &'a Path,
    /// Its name, or its number from 0; `None` if the file has one column.
    pub(crate) column: Option<&'a str>,
}

impl<'a> LabelFile<'a> {
    /// Parses `FILE` or `FILE:COLUMN`; `None` if no such file exists and the text does not look like a file name.
    pub(crate) fn of(text: &'a str) -> Result<Option<Self>, Failure> {
        let whole = Path::new(text);
        if is_file(whole) {
            return Ok(Some(Self { path: whole, column: None }));
        }
        // The last colon that is preceded by the name of a file: names of files and of columns may contain colons.
        let cuts = text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let found = cuts.rev().find(|(path, column)| !column.is_empty() && is_file(Path::new(path)));
        if let Some((path, column)) = found {
            return Ok(Some(Self { path: Path::new(path), column: Some(column) }));
        }
        let path = text.split_once(':').map_or(whole, |(path, _)| Path::new(path));
        match std::fs::metadata(path) {
            Err(e) if text.contains('/') || is_named_like_a_file(path) => {
                Err(Error::io("cannot read", path, e).into())
            }
            _ => Ok(None),
        }
    }

    /// One value for each of the `n` rows.
    pub(crate) fn read(self, n: u64, run: &Run<'_>) -> Result<Labels, Failure> {
        let name = crate::fit::stem(self.path);
        let (name, values) = match (Text::of(self.path)?, self.column) {
            (Some(text), None) => text.lines(n, name)?,
            (Some(text), Some(column)) => text.column(column, n)?,
            (None, None) => (name, numbers(self.path, run)?),
            (None, Some(column)) => kept(self.path, column, run)?,
        };
        if values.len() as u64 == n {
            return Ok((name, values));
        }
        let suffix = self.column.map_or(String::new(), |column| format!(":{column}"));
        Err(Failure::Message(format!(
            "--color {}{suffix} is not possible: it has {} values, and the input has {n} rows; give one value for each row",
            self.path.display(),
            values.len()
        )))
    }
}

fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

/// The extension in lower case, without `.gz`.
fn ending(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let plain = Path::new(name.strip_suffix(".gz").unwrap_or(&name));
    plain.extension().map(|e| e.to_string_lossy().into_owned())
}

fn is_named_like_a_file(path: &Path) -> bool {
    let packed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    packed || matches!(ending(path).as_deref(), Some("npy" | "csv" | "tsv" | "txt" | "parquet"))
}

/// The content of a text file, decompressed.
struct Text<'a> {
    path: &'a Path,
    /// The delimiter: a tab for `.tsv`; else a comma, or if the first line has none, a semicolon or a tab that it contains.
    delimiter: u8,
    bytes: Vec<u8>,
}

impl<'a> Text<'a> {
    /// `None` for files that are not text.
    fn of(path: &'a Path) -> Result<Option<Self>, Failure> {
        let (usual, others) = match ending(path).as_deref() {
            Some("tsv") => (b'\t', &[][..]),
            _ => (b',', &b";\t"[..]),
        };
        let Some(bytes) = unmix_io::text(path)? else { return Ok(None) };
        // Bytes, because an encoding other than UTF-8 is reported by the reader.
        let first = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
        let other = others.iter().copied().find(|d| first.contains(d));
        let delimiter = other.filter(|_| !first.contains(&usual)).unwrap_or(usual);
        Ok(Some(Self { path, delimiter, bytes }))
    }

    fn records(&self) -> Result<Vec<csv::StringRecord>, Failure> {
        let mut builder = csv::ReaderBuilder::new();
        let reader = builder.delimiter(self.delimiter).has_headers(false).flexible(true);
        let records = reader.from_reader(self.bytes.as_slice()).into_records().collect::<Result<_, _>>();
        let wrong = |e: csv::Error| {
            Error::format(self.path, e.to_string(), "give a text file with one value per line")
        };
        Ok(records.map_err(wrong)?)
    }

    /// Lines of text; if there is one more than rows, the first is a header.
    fn lines(&self, n: u64, name: String) -> Result<Labels, Failure> {
        if let Some(values) = self.words(n) {
            return Ok((name, values));
        }
        let mut values = Vec::new();
        for (i, record) in self.records()?.iter().enumerate() {
            match record.len() {
                1 => values.push(record[0].to_string()),
                k => {
                    let found = format!("line {} has {k} values", i + 1);
                    let path = self.path;
                    let remedy =
                        format!("choose one of its columns, as in --color {}:COLUMN", path.display());
                    return Err(Error::format(path, found, remedy).into());
                }
            }
        }
        let header = values.len() as u64 == n + 1;
        let name = if header { values.remove(0) } else { name };
        Ok((name, values))
    }

    /// The lines of a file other than `.csv` and `.tsv` as they are, if there is one for each row and fewer than half contain delimiters or
    /// quotation marks: a list
    /// of words and punctuation marks, not a table.
    fn words(&self, n: u64) -> Option<Vec<String>> {
        if matches!(ending(self.path).as_deref(), Some("csv" | "tsv")) {
            return None;
        }
        let lines: Vec<&str> = std::str::from_utf8(&self.bytes).ok()?.lines().collect();
        let special = |line: &&&str| line.as_bytes().contains(&self.delimiter) || line.contains('"');
        let some = lines.iter().filter(special).count();
        let list = lines.len() as u64 == n && (1..lines.len().div_ceil(2)).contains(&some);
        list.then(|| lines.into_iter().map(String::from).collect())
    }

    /// A column of a table, by name if it has a header, or by number.
    fn column(&self, column: &str, n: u64) -> Result<Labels, Failure> {
        let records = self.records()?;
        let mut head: Vec<String> = records
            .first()
            .map(|r| r.iter().map(|name| name.trim().to_string()).collect())
            .unwrap_or_default();
        if let Some(first) = head.first_mut() {
            *first = first.trim_start_matches('\u{feff}').into();
        }
        let number = column.parse::<usize>().ok().filter(|j| *j < head.len());
        let Some(j) = head.iter().position(|name| name == column).or(number) else {
            let known: Vec<&str> = head.iter().map(String::as_str).collect();
            return Err(Error::unknown("column", column, known).into());
        };
        let header = head[j] == column || records.len() as u64 == n + 1;
        let rows = &records[usize::from(header)..];
        let values = rows.iter().map(|record| record.get(j).unwrap_or("").to_string()).collect();
        Ok((if header { head[j].clone() } else { format!("column {j}") }, values))
    }
}

/// A column of a file of another format.
fn kept(path: &Path, column: &str, run: &Run<'_>) -> Result<Labels, Failure> {
    let keep = Some(crate::input::column_word(column));
    let options = unmix_io::Options { count_text: true, keep, ..side_file::options() };
    let mut input = unmix_io::open_with(path, &options, run)?;
    input
        .kept
        .pop()
        .ok_or_else(|| Failure::Message(format!("{} has no column '{column}' to colour by", path.display())))
}

/// Numbers of an array with one column; integers are written without a decimal point.
fn numbers(path: &Path, run: &Run<'_>) -> Result<Vec<String>, Failure> {
    let mut input = unmix_io::open_with(path, &side_file::options(), run)?;
    if input.rows.n_features() != 1 {
        let found = format!("each of its rows has {} values", input.rows.n_features());
        let remedy = format!("choose one of its columns, as in --color {}:COLUMN", path.display());
        return Err(Error::format(path, found, remedy).into());
    }
    input.rows.prepare(run)?;
    let n = input.rows.n_rows().unwrap_or(0);
    let values: Vec<f64> = match &input.rows {
        unmix::AnyRows::F32(rows) => rows.read_range(0..n)?.into_iter().map(f64::from).collect(),
        unmix::AnyRows::F64(rows) => rows.read_range(0..n)?,
    };
    Ok(values.iter().map(f64::to_string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_with_and_without_a_header() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kind.csv");
        let labels = |text: &str, n| {
            std::fs::write(&path, text).unwrap();
            LabelFile { path: &path, column: None }.read(n, &Run::default())
        };
        let abc = || vec!["a".to_string(), "b, c".into()];
        assert_eq!(labels("a\n\"b, c\"\n", 2).unwrap(), ("kind".to_string(), abc()));
        assert_eq!(labels("group\na\n\"b, c\"\n", 2).unwrap(), ("group".to_string(), abc()));
        let Err(Failure::Message(message)) = labels("a\nb\n", 5) else {
            panic!("five rows need five labels")
        };
        assert!(message.contains("it has 2 values, and the input has 5 rows"), "{message}");
        assert!(labels("a,b\nc,d\n", 2).is_err());
    }

    #[test]
    fn a_column_of_a_table_is_chosen_by_name_or_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("patients.csv");
        let labels = |text: &str, column: &str| {
            std::fs::write(&path, text).unwrap();
            let text = format!("{}:{column}", path.display());
            let file = LabelFile::of(&text).unwrap().unwrap();
            assert_eq!(file, LabelFile { path: &path, column: Some(column) });
            file.read(2, &Run::default())
        };
        let bt = || ("BT".to_string(), vec!["B".to_string(), "T".into()]);
        assert_eq!(labels("id,BT,age\nx,B,3\ny,T,4\n", "BT").unwrap(), bt());
        assert_eq!(labels("id;BT;age\nx;B;3,5\ny;T;4,0\n", "1").unwrap(), bt());
        assert_eq!(labels("x,B\ny,T\n", "1").unwrap(), ("column 1".to_string(), bt().1));
        let Err(Failure::Library(e)) = labels("id,BT\nx,B\ny,T\n", "TB") else { panic!("no such column") };
        assert!(e.to_string().contains("there is no column named 'TB'"), "{e}");
        assert!(e.to_string().contains("id, BT"), "{e}");
    }
}
