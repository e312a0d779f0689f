//! Labels of rows from a separate file: one value per line, an array, or a column of a table.

use crate::format::text;
use crate::text::check_quotations;
use crate::wording::{entry, path_argument};
use crate::{Files, Missing, Options, Wording, open_with};
use std::path::Path;
use unmix::internal::error::counted;
use unmix::{AnyRows, Error, Result, Run};

/// A label for each row: the name of the column, and the values.
pub type Labels = (String, Vec<String>);

/// A file of labels, and the requested column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelFile<'a> {
    path: &'a Path,
    /// Its name, or its number from 0; `None` if the file has one column.
    column: Option<&'a str>,
    wording: Wording,
}

impl<'a> LabelFile<'a> {
    /// Parses `FILE` or `FILE:COLUMN`; `None` if no such file exists and the text does not look like a file name.
    ///
    /// # Errors
    ///
    /// Text that can only be the name of a file, which does not exist.
    pub fn of(text: &'a str, wording: Wording) -> Result<Option<Self>> {
        let whole = Path::new(text);
        if is_file(whole) {
            return Ok(Some(Self { path: whole, column: None, wording }));
        }
        // The last colon that is preceded by the name of a file: names of files and of columns may contain colons.
        let cuts = text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let found = cuts.rev().find(|(path, column)| !column.is_empty() && is_file(Path::new(path)));
        if let Some((path, column)) = found {
            return Ok(Some(Self { path: Path::new(path), column: Some(column), wording }));
        }
        let path = text.split_once(':').map_or(whole, |(path, _)| Path::new(path));
        match std::fs::metadata(path) {
            Err(e) if text.contains('/') || is_named_like_a_file(path) => {
                Err(Error::io("cannot read", path, e))
            }
            _ => Ok(None),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// One value for each of the `n` rows; their name is that of the column, or `nameless` if it has none.
    ///
    /// # Errors
    ///
    /// Those of reading; several columns of which none is requested; an unknown column; another number of values.
    pub fn read(self, n: u64, nameless: &str, run: &Run<'_>) -> Result<Labels> {
        let nameless = nameless.to_string();
        let (name, values) = match (Text::of(self)?, self.column) {
            (Some(text), None) => text.lines(n, nameless)?,
            (Some(text), Some(column)) => text.column(column, n)?,
            (None, None) => self.numbers(nameless, run)?,
            (None, Some(column)) => self.kept(column, run)?,
        };
        if values.len() as u64 == n {
            return Ok((name, values));
        }
        let column = self.column.map_or(String::new(), |column| format!(":{column}"));
        let given = format!("{}{column}", self.path.display());
        // It is not an option of reading, as which `Wording::PythonPath` would present it.
        let request = match self.wording {
            Wording::Shell => self.wording.plain("color", given, true),
            _ => format!("color={}", self.wording.text_value(&given)),
        };
        let found = format!(
            "it has {}, and the input has {}",
            counted(values.len() as u64, "value"),
            counted(n, "row")
        );
        Err(Error::unsupported(request, found, "give one value for each row")
            .with_numbers(n as usize, values.len()))
    }

    /// A column of a file that is not text.
    fn kept(self, column: &str, run: &Run<'_>) -> Result<Labels> {
        let keep = Some(entry(column));
        let options = Options {
            count_text: true,
            keep,
            wording: self.wording,
            by_contents: true,
            ..Options::default()
        };
        open_with(self.path, &options, run)?.kept.pop().ok_or_else(|| Error::unknown("column", column, []))
    }

    /// Numbers of an array with one column.
    fn numbers(self, nameless: String, run: &Run<'_>) -> Result<Labels> {
        let options = Options { wording: self.wording, by_contents: true, ..Options::default() };
        let mut input = open_with(self.path, &options, run)?;
        let p = input.rows.n_features();
        if p != 1 {
            return Err(several(self.wording, self.path, p, None));
        }
        written(&mut input.rows, nameless, run)
    }
}

/// The labels in a handle to files of one column, of numbers or of text: one value for each of the `n` rows. Their name is that of the column, or
/// `nameless` if it has none.
///
/// # Errors
///
/// Those of reading; several columns; a list of cells.
pub fn labels_of(files: &Files, n: u64, nameless: &str, run: &Run<'_>) -> Result<Labels> {
    let options = files.options();
    if files.lists_cells() {
        let remedy = "open a file with one column, without triplets=True";
        return Err(Error::setting("color", "a list of cells", "must be one value for each row", remedy));
    }
    // Text is missing as a number, and rows with it are not to be left out.
    let input =
        files.open_as(run, |options| (options.count_text, options.missing) = (true, Missing::Keep))?;
    let path = files.paths().next().unwrap_or(Path::new("-"));
    let p = input.rows.n_features();
    if p != 1 {
        return Err(several(options.wording, path, p, None));
    }
    if input.text_cells.iter().all(|&cells| cells == 0) {
        return written(&mut files.open(run)?.rows, nameless.into(), run);
    }
    let name = input.rows.features().names.as_ref().and_then(|names| names.first());
    if options.columns.is_none() && options.drop.is_none() {
        if files.paths().count() > 1 || options.rows.is_some() || options.skip_rows > 0 {
            return Err(Error::unsupported(
                "labels of text from a handle with a single column",
                "it selects rows, or has several files",
                "give the path of a file, or an array of the labels",
            ));
        }
        return LabelFile { path, column: name.map(String::as_str), wording: options.wording }
            .read(n, nameless, run);
    }
    let name = name.map(|name| entry(name));
    let mut input = files.open_as(run, |options| {
        options.keep = name.or(options.columns.take());
        (options.columns, options.drop) = (None, None);
        (options.count_text, options.missing) = (true, Missing::Keep);
    })?;
    input.kept.pop().ok_or_else(|| several(options.wording, path, p, None))
}

/// The error for a file with several columns, of which line `line` has `p`.
fn several(wording: Wording, path: &Path, p: usize, line: Option<usize>) -> Error {
    let got = line.map_or(p.to_string(), |line| format!("{p} in line {line} of {}", path.display()));
    let remedy = match wording {
        Wording::Rust => "choose one of them, as in path:column".into(),
        Wording::Shell => {
            let column = format!("{}:COLUMN", path_argument(path));
            format!("choose one, as in {}", wording.plain("color", column, true))
        }
        _ => {
            format!("choose one, as in unmix.open(path, columns='group') or color='{}:group'", path.display())
        }
    };
    Error::setting("color of a file", got, "must be one column", remedy)
}

/// Rows of one number as text; integers are written without a decimal point.
fn written(rows: &mut AnyRows<'static>, nameless: String, run: &Run<'_>) -> Result<Labels> {
    rows.prepare(run)?;
    let n = rows.n_rows().unwrap_or(0);
    let values: Vec<f64> = match rows {
        AnyRows::F32(rows) => rows.read_range(0..n)?.into_iter().map(f64::from).collect(),
        AnyRows::F64(rows) => rows.read_range(0..n)?,
    };
    let name = rows.features().names.as_ref().and_then(|names| names.first()).cloned();
    Ok((name.unwrap_or(nameless), values.iter().map(f64::to_string).collect()))
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
    wording: Wording,
    /// The delimiter: a tab for `.tsv`; else a comma, or if the first line has none, a semicolon or a tab that it contains.
    delimiter: u8,
    bytes: Vec<u8>,
}

impl<'a> Text<'a> {
    /// `None` for files that are not text.
    fn of(file: LabelFile<'a>) -> Result<Option<Self>> {
        let path = file.path;
        let (usual, others) = match ending(path).as_deref() {
            Some("tsv") => (b'\t', &[][..]),
            _ => (b',', &b";\t"[..]),
        };
        let Some(bytes) = text(path)? else { return Ok(None) };
        // Bytes, because an encoding other than UTF-8 is reported by the reader.
        let first = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
        let other = others.iter().copied().find(|d| first.contains(d));
        let delimiter = other.filter(|_| !first.contains(&usual)).unwrap_or(usual);
        Ok(Some(Self { path, wording: file.wording, delimiter, bytes }))
    }

    fn records(&self) -> Result<Vec<csv::StringRecord>> {
        check_quotations(self.path, &self.bytes, self.delimiter)?;
        let mut builder = csv::ReaderBuilder::new();
        let reader = builder.delimiter(self.delimiter).has_headers(false).flexible(true);
        let records =
            reader.from_reader(self.bytes.as_slice()).into_records().collect::<std::result::Result<_, _>>();
        let wrong = |e: csv::Error| {
            Error::format(self.path, e.to_string(), "give a text file with one value per line")
        };
        records.map_err(wrong)
    }

    /// Lines of text; if there is one more than rows, the first is a header.
    fn lines(&self, n: u64, nameless: String) -> Result<Labels> {
        if let Some(values) = self.words(n) {
            return Ok((nameless, values));
        }
        let mut values = Vec::new();
        for (i, record) in self.records()?.iter().enumerate() {
            if record.len() != 1 {
                let line = (i > 0).then_some(i + 1);
                return Err(several(self.wording, self.path, record.len(), line));
            }
            values.push(record[0].to_string());
        }
        let header = values.len() as u64 == n + 1;
        let name = if header { values.remove(0) } else { nameless };
        Ok((name, values))
    }

    /// The lines of a file other than `.csv` and `.tsv` as they are, if there is one for each row and fewer than half contain delimiters or
    /// quotation marks: a list of words and punctuation marks, not a table.
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
    fn column(&self, column: &str, n: u64) -> Result<Labels> {
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
            return Err(Error::unknown("column", column, known));
        };
        let header = head[j] == column || records.len() as u64 == n + 1;
        let rows = &records[usize::from(header)..];
        let values = rows.iter().map(|record| record.get(j).unwrap_or("").to_string()).collect();
        Ok((if header { head[j].clone() } else { format!("column {j}") }, values))
    }
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
            LabelFile { path: &path, column: None, wording: Wording::Shell }.read(n, "kind", &Run::default())
        };
        let abc = || vec!["a".to_string(), "b, c".into()];
        assert_eq!(labels("a\n\"b, c\"\n", 2).unwrap(), ("kind".to_string(), abc()));
        assert_eq!(labels("group\na\n\"b, c\"\n", 2).unwrap(), ("group".to_string(), abc()));
        let message = |text, n| labels(text, n).unwrap_err().to_string();
        let found = message("a\nb\n", 5);
        assert!(found.contains("it has 2 values, and the input has 5 rows"), "{found}");
        assert!(found.starts_with("--color "), "{found}");
        let found = message("a,b\nc,d\n", 2);
        assert!(found.starts_with("color of a file must be one column, got 2; choose one"), "{found}");
        let found = message("a\nb\nc,d\n", 2);
        assert!(found.starts_with("color of a file must be one column, got 2 in line 3 of "), "{found}");
    }

    #[test]
    fn a_column_of_a_table_is_chosen_by_name_or_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("patients.csv");
        let labels = |text: &str, column: &str| {
            std::fs::write(&path, text).unwrap();
            let text = format!("{}:{column}", path.display());
            let wording = Wording::PythonPath;
            let file = LabelFile::of(&text, wording).unwrap().unwrap();
            assert_eq!(file, LabelFile { path: &path, column: Some(column), wording });
            file.read(2, "patients", &Run::default())
        };
        let bt = || ("BT".to_string(), vec!["B".to_string(), "T".into()]);
        assert_eq!(labels("id,BT,age\nx,B,3\ny,T,4\n", "BT").unwrap(), bt());
        assert_eq!(labels("id;BT;age\nx;B;3,5\ny;T;4,0\n", "1").unwrap(), bt());
        assert_eq!(labels("x,B\ny,T\n", "1").unwrap(), ("column 1".to_string(), bt().1));
        let e = labels("id,BT\nx,B\ny,T\n", "TB").unwrap_err();
        assert!(e.to_string().contains("there is no column named 'TB'"), "{e}");
        assert!(e.to_string().contains("id, BT"), "{e}");
    }

    #[test]
    fn labels_of_a_handle_are_numbers_or_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("patients.csv");
        let labels = |text: &str, columns: Option<&str>| {
            std::fs::write(&path, text).unwrap();
            let wording = Wording::PythonRead;
            let options = Options { columns: columns.map(Into::into), wording, ..Options::default() };
            labels_of(&Files::new(&[&path], options)?, 2, "color", &Run::default())
        };
        let words = |name: &str, values: [&str; 2]| (name.to_string(), values.map(String::from).to_vec());
        let table = "id,BT,age\nx,B,3\ny,T,4.5\n";
        assert_eq!(labels(table, Some("BT")).unwrap(), words("BT", ["B", "T"]));
        assert_eq!(labels(table, Some("1")).unwrap(), words("BT", ["B", "T"]));
        assert_eq!(labels(table, Some("age")).unwrap(), words("age", ["3", "4.5"]));
        assert_eq!(labels("BT\nB\nT\n", None).unwrap(), words("BT", ["B", "T"]));
        assert_eq!(labels("1\n2\n", None).unwrap(), words("color", ["1", "2"]));
        let message = labels(table, None).unwrap_err().to_string();
        assert!(
            message.starts_with("color of a file must be one column, got 3; choose one, as in unmix.open("),
            "{message}"
        );
    }
}
