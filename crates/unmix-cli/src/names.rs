//! Column names from a separate file: a list, or the channel table of a recording.

use crate::side_file;
use std::path::Path;
use unmix::{AnyRows, Error, Result};

/// Columns of a table that may hold names, in order of preference.
const NAME_COLUMNS: [&str; 4] = ["name", "label", "channel", "names"];

/// Reads a name for each column, in order: one per line, or from the column `name`, `label` or `channel` of a table.
pub(crate) fn read(path: &Path) -> Result<Vec<String>> {
    let text = side_file::text(path, "give a text file with one name per line")?;
    let Some(delimiter) = side_file::delimiter(&text) else {
        return Ok(text
            .lines()
            .map(|line| line.trim().to_string())
            .filter(|name| !name.is_empty())
            .collect());
    };
    unmix_io::check_quotations(path, text.as_bytes(), delimiter)?;
    let wrong = |found: String| {
        Error::format(path, found, "give one name per line, or a table with a column 'name' or 'label'")
    };
    let mut table = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let head: Vec<String> =
        table.headers().map_err(|e| wrong(e.to_string()))?.iter().map(|h| h.trim().to_lowercase()).collect();
    let column = NAME_COLUMNS.iter().find_map(|name| head.iter().position(|h| h == name));
    let column = column.ok_or_else(|| wrong(format!("its columns are {}", head.join(", "))))?;
    table
        .records()
        .map(|record| {
            let record = record.map_err(|e| wrong(e.to_string()))?;
            Ok(record.get(column).unwrap_or("").trim().to_string())
        })
        .collect()
}

/// The rows with the given names, unless they were read with these.
pub(crate) fn given(rows: AnyRows<'_>, names: Option<Vec<String>>) -> Result<AnyRows<'_>> {
    match names {
        Some(names) => {
            check(&rows, &names)?;
            unmix_io::named(rows, names)
        }
        None => Ok(rows),
    }
}

/// Refuses names that [`given`] refuses: those of rows that are matched to a model, whose columns are not named again.
pub(crate) fn check(rows: &AnyRows<'_>, names: &[String]) -> Result<()> {
    let (n, p) = (names.len(), rows.n_features());
    match unmix_io::have_names(rows, names) {
        true => Ok(()),
        false if n > 1 && n != p && rows.features().names.is_none() && rows.n_rows() == Some(n as u64) => {
            let why = match p {
                1 => "must be one name, that of the only column".into(),
                p => format!("must have one name for each of the {p} columns"),
            };
            let remedy = "the input has that many rows: to exchange rows and columns, add --transpose";
            Err(Error::setting("names", format!("{n} names"), why, remedy))
        }
        false => rows.check_names(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_names_as_rows_suggest_that_rows_are_columns() {
        let numbers = vec![0.0; 3 * 4];
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let refused = |p: usize| {
            let rows = AnyRows::from(unmix::Rows::from_slice(&numbers, p).unwrap());
            check(&rows, &names).map_err(|e| e.to_string()).unwrap_err()
        };
        assert!(refused(4).contains("one name for each of the 4 columns, got 3 names"), "{}", refused(4));
        assert!(refused(4).ends_with("add --transpose") && !refused(2).contains("--transpose"));
    }

    #[test]
    fn names_come_from_lists_and_from_tables() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("names.csv");
        let names = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read(&path)
        };
        assert_eq!(names("FPz\nEOG 1\n\n").unwrap(), ["FPz", "EOG 1"]);
        assert_eq!(names("\u{feff}FPz\nOz\n").unwrap(), ["FPz", "Oz"]);
        assert_eq!(names("index,Label,theta\n0,FPz,0\n1,\"a,b\",3\n").unwrap(), ["FPz", "a,b"]);
        let refused = names("x,y\n1,2\n").unwrap_err().to_string();
        assert!(refused.contains("its columns are x, y"), "{refused}");
    }
}
