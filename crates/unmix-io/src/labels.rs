//! Labels of rows from a separate file: one value per line, an array, or a column of a table; or from a column of the file of the rows.

use crate::format::text;
use crate::text::check_quotations;
use crate::wording::{entry, path_argument};
use crate::{Files, Missing, Options, Wording, open_with};
use std::collections::HashSet;
use std::path::Path;
use unmix::data::{RowValues, UsedRows};
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

    /// One value for each of the rows, of the file, which has one for each of them or for all rows of the file from which they were selected; their
    /// name is that of the column, or `nameless` if it has none.
    ///
    /// # Errors
    ///
    /// Those of reading; several columns of which none is requested; an unknown column; another number of values.
    pub fn read(self, rows: UsedRows<'_>, nameless: &str, run: &Run<'_>) -> Result<Labels> {
        let (name, values) = self.whole(rows, nameless.to_string(), run)?;
        let column = self.column.map_or(String::new(), |column| format!(":{column}"));
        let given = format!("{}{column}", self.path.display());
        Ok((name, of_rows(rows, values, self.wording, &given)?))
    }

    /// All values of the file.
    fn whole(self, rows: UsedRows<'_>, nameless: String, run: &Run<'_>) -> Result<Labels> {
        match (Text::of(self)?, self.column) {
            (Some(text), None) => text.lines(rows, nameless),
            (Some(text), Some(column)) => text.column(column, rows),
            (None, None) => self.numbers(nameless, run),
            (None, Some(column)) => self.kept(column, run),
        }
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

/// The name of the setting that gives labels.
fn setting(wording: Wording) -> String {
    match wording {
        Wording::Shell => wording.name("color"),
        // It is not an option of reading, as which `Wording::PythonPath` would present it.
        _ => "color".into(),
    }
}

/// The values of the rows, of `values`, which were read from `file`.
fn of_rows(rows: UsedRows<'_>, values: Vec<String>, wording: Wording, file: &str) -> Result<Vec<String>> {
    rows.values(values, RowValues { name: &setting(wording), one: "value", file: Some(file) })
}

/// The labels in a handle to files of one column, of numbers or of text: one value for each of the rows, or for all rows of the file from which they
/// were selected. Their name is that of the column, or `nameless` if it has none.
///
/// # Errors
///
/// Those of reading; several columns; a list of cells; another number of values.
pub fn labels_of(files: &Files, rows: UsedRows<'_>, nameless: &str, run: &Run<'_>) -> Result<Labels> {
    let (name, values) = all_labels_of(files, rows, nameless, run)?;
    let file = files.paths().next().unwrap_or(Path::new("-")).display().to_string();
    Ok((name, of_rows(rows, values, files.options().wording, &file)?))
}

/// All labels in a handle.
fn all_labels_of(files: &Files, rows: UsedRows<'_>, nameless: &str, run: &Run<'_>) -> Result<Labels> {
    let options = files.options();
    if files.lists_cells() {
        let remedy = "open a file with one column, without triplets=True";
        return Err(Error::setting("color", "a list of cells", "must be one value for each row", remedy));
    }
    // Rows with text, which is missing as a number, and rows without a label are not left out: labels are matched with rows by their number.
    let mut input =
        files.open_as(run, |options| (options.count_text, options.missing) = (true, Missing::Keep))?;
    let path = files.paths().next().unwrap_or(Path::new("-"));
    let p = input.rows.n_features();
    if p != 1 {
        return Err(several(options.wording, path, p, None));
    }
    if input.text_cells.iter().all(|&cells| cells == 0) {
        return written(&mut input.rows, nameless.into(), run);
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
        return LabelFile { path, column: name.map(String::as_str), wording: options.wording }.whole(
            rows,
            nameless.into(),
            run,
        );
    }
    let name = name.map(|name| entry(name));
    let mut input = files.open_as(run, |options| {
        // The file may have no other column.
        (options.copied, options.copied_stay) = (name.or(options.columns.take()), true);
        (options.columns, options.drop, options.keep) = (None, None, None);
        (options.count_text, options.missing) = (true, Missing::Keep);
    })?;
    input.kept.pop().ok_or_else(|| several(options.wording, path, p, None))
}

/// The labels in a column, by name or number, of the files of these rows, which may be a column of features, too.
///
/// # Errors
///
/// Those of reading; an unknown column; a list of cells, and a transposed table, whose columns have no value for each row.
pub fn labels_in_column(files: &Files, column: &str, rows: UsedRows<'_>, run: &Run<'_>) -> Result<Labels> {
    let wording = files.options().wording;
    let refused = |found: &str| {
        let remedy = "give one value for each row in a file of its own";
        Error::setting(setting(wording), wording.text_value(column), found, remedy)
    };
    if files.lists_cells() {
        return Err(refused("a list of cells has no column to colour rows by"));
    }
    if files.options().transpose {
        return Err(refused("the columns of a transposed table are rows"));
    }
    let options = Options {
        // It may be the only feature.
        copied: Some(entry(column)),
        copied_stay: true,
        // Which rows are left out depends on the columns that are read. What follows the last row that is requested may be of any form.
        missing: Missing::Keep,
        rows: files.options().rows.map(|(_, end)| (0, end)),
        // Text in other columns does not matter.
        count_text: true,
        ..files.options().clone()
    };
    let named = |mut error: Error| {
        // The column is one that is copied, as those of the option `keep` are.
        if let Error::Setting { name, got, .. } = &mut error
            && name == "keep"
        {
            (*name, *got) = (setting(wording), wording.text_value(column));
        }
        error
    };
    let mut input = files.read_with(&options, run).map_err(named)?;
    let (name, values) = input.kept.pop().ok_or_else(|| refused("the input has no such column"))?;
    Ok((name, rows.of_file(values)))
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

/// Whether the first of lines, of which there may be one more than labels, is a header; `None` if it may be either.
fn first_is_header(lines: &[&str]) -> Option<bool> {
    let (first, others) = lines.split_first()?;
    let is_number = |text: &&str| text.trim().parse::<f64>().is_ok();
    let is_empty = |text: &&str| text.trim().is_empty();
    if others.contains(first) {
        return Some(false);
    }
    // Cells without a number may be missing ones.
    if others.iter().any(is_number) && others.iter().all(|text| is_number(text) || is_empty(text)) {
        return Some(!is_number(first));
    }
    let distinct: HashSet<&str> = others.iter().copied().collect();
    (distinct.len() < others.len()).then_some(true)
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
    fn lines(&self, rows: UsedRows<'_>, nameless: String) -> Result<Labels> {
        let mut values = match self.words(rows) {
            Some(values) => values,
            None => self.single_cells()?,
        };
        let header = self.has_header(&values.iter().map(String::as_str).collect::<Vec<_>>(), rows, None)?;
        let name = if header { values.remove(0) } else { nameless };
        Ok((name, values))
    }

    /// The only cell of each line.
    fn single_cells(&self) -> Result<Vec<String>> {
        let mut cells = Vec::new();
        for (i, record) in self.records()?.iter().enumerate() {
            if record.len() != 1 {
                let line = (i > 0).then_some(i + 1);
                return Err(several(self.wording, self.path, record.len(), line));
            }
            cells.push(record[0].to_string());
        }
        Ok(cells)
    }

    /// Whether the first of these lines, or of these cells of a `column`, is a header: there is one more than rows, or than rows of their file.
    ///
    /// # Errors
    ///
    /// As many lines as rows of the file, and one more than rows that are used, of which the first may be a header or a label.
    fn has_header(&self, lines: &[&str], rows: UsedRows<'_>, column: Option<&str>) -> Result<bool> {
        let n = lines.len() as u64;
        if n == 0 || rows.are(n) {
            return Ok(false);
        }
        match (rows.matches(n), rows.are(n - 1)) {
            (true, true) => first_is_header(lines).ok_or_else(|| self.unclear(lines.len(), column)),
            (true, false) => Ok(false),
            (false, _) => Ok(rows.matches(n - 1)),
        }
    }

    /// The error for `n` lines of which the first may be a header or a label.
    fn unclear(&self, n: usize, column: Option<&str>) -> Error {
        let path = self.path.display();
        let column = column.map_or(String::new(), |column| format!(":{column}"));
        let why = format!(
            "its first line may be a header or a label: it has {n} lines, one for each row of the file that the rows are from, and one more than \
             rows that are used"
        );
        let by_name = match self.wording {
            Wording::Rust => "path:column".into(),
            Wording::Shell => {
                self.wording.plain("color", format!("{}:COLUMN", path_argument(self.path)), true)
            }
            _ => format!("color='{path}:COLUMN'"),
        };
        let remedy = format!(
            "name the column in its header, as in {by_name}, or give one value for each row that is used, without a header"
        );
        Error::setting(
            setting(self.wording),
            self.wording.text_value(&format!("{path}{column}")),
            why,
            remedy,
        )
    }

    /// The lines of a file other than `.csv` and `.tsv` as they are, if there is one for each row and fewer than half contain delimiters or
    /// quotation marks: a list of words and punctuation marks, not a table.
    fn words(&self, rows: UsedRows<'_>) -> Option<Vec<String>> {
        if matches!(ending(self.path).as_deref(), Some("csv" | "tsv")) {
            return None;
        }
        let lines: Vec<&str> = std::str::from_utf8(&self.bytes).ok()?.lines().collect();
        let special = |line: &&&str| line.as_bytes().contains(&self.delimiter) || line.contains('"');
        let some = lines.iter().filter(special).count();
        let list = rows.matches(lines.len() as u64) && (1..lines.len().div_ceil(2)).contains(&some);
        list.then(|| lines.into_iter().map(String::from).collect())
    }

    /// A column of a table, by name if it has a header, or by number.
    fn column(&self, column: &str, rows: UsedRows<'_>) -> Result<Labels> {
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
        let cells: Vec<&str> = records.iter().map(|record| record.get(j).unwrap_or("")).collect();
        let header = head[j] == column || self.has_header(&cells, rows, Some(column))?;
        let values = cells[usize::from(header)..].iter().map(|cell| String::from(*cell)).collect();
        Ok((if header { head[j].clone() } else { format!("column {j}") }, values))
    }
}

#[cfg(test)]
mod tests;
