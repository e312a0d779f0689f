//! Delimiters at the ends of all lines, as some spreadsheets write them: the empty cells that they make are no column.

use super::lines::{Dialect, Lines};
use super::{blanks, header};
use crate::selection::Selection;
use crate::{Options, progress};
use unmix::data::Bytes;
use unmix::{Result, Run};

/// Lines between two reports of progress.
const PART: u64 = 1 << 16;

/// Whether each of the lines of the first `n_rows` rows, and of the header, ends in a delimiter, and has as many cells as the others; a first line of
/// names may have none at its end.
/// Almost always the first two lines decide: only where both end so, the others are read. Errors in lines are reported by their reader.
///
/// # Errors
///
/// An interruption.
pub(super) fn is_on_every_line(
    bytes: &Bytes<'static>,
    gz: bool,
    dialect: &Dialect,
    n_rows: u64,
    (options, run): (&Options, &Run<'_>),
) -> Result<bool> {
    // A mark of a missing cell is a cell. In a list of cells, those without a value are to be filled.
    let mut dialect = dialect.clone();
    dialect.na.clear();
    let mut lines = match Lines::open(bytes, gz, &dialect) {
        Ok(lines) if !options.triplets && lines.delimiter() != blanks::DELIMITER => lines,
        _ => return Ok(false),
    };
    let mut record = csv::ByteRecord::new();
    if !matches!(lines.next(&mut record), Ok(Some(_))) {
        return Ok(false);
    }
    let width = record.len() + usize::from(!ends_empty(&record));
    // One row shows nothing: it is compared with the line below.
    let most = n_rows.saturating_add(u64::from(may_be_header(&record, options))).max(2);
    let mut n: u64 = 1;
    while n < most {
        match lines.next(&mut record) {
            Ok(Some(_)) if is_blank(&record) => continue,
            Ok(Some(_)) if record.len() == width && ends_empty(&record) => n += 1,
            Ok(None) => break,
            _ => return Ok(false),
        }
        if n.is_multiple_of(PART) {
            progress(run, n)?;
        }
    }
    Ok(n > 1 && width > 1 && !is_requested(width, options))
}

/// Whether the first line is not a row of numbers, unless the options state whether it is a header.
fn may_be_header(first: &csv::ByteRecord, options: &Options) -> bool {
    options.header.unwrap_or_else(|| {
        let mut first = first.clone();
        leave_out(&mut first);
        !matches!(header::is_header(&first, || Ok(1), options.wording), Ok(false))
    })
}

/// Leaves out the empty cell after the delimiter at the end of a line. A line of blanks, which is not a row, has no delimiter: no cell remains.
pub(super) fn leave_out(record: &mut csv::ByteRecord) {
    if is_blank(record) {
        record.clear();
    } else if record.len() > 1 && ends_empty(record) {
        record.truncate(record.len() - 1);
    }
}

/// The note on the column that is left out.
pub(super) fn note(origin: &str) -> String {
    format!("{origin}: every row ends in a delimiter; the empty column that this makes is left out")
}

fn ends_empty(record: &csv::ByteRecord) -> bool {
    record.iter().next_back().is_some_and(|cell| cell.trim_ascii().is_empty())
}

/// Whether a line consists of blanks, which is not a row.
fn is_blank(record: &csv::ByteRecord) -> bool {
    record.len() == 1 && ends_empty(record)
}

/// Whether the last of `width` columns is requested: by a name for each of them, by its number, or by a model of as many. Names, and the features of
/// a model, belong to the lines of a transposed table.
fn is_requested(width: usize, options: &Options) -> bool {
    let n_features = |n: usize| {
        let found = Selection::new(options, None, n, &[]).ok()?;
        Some(found.features.map_or(n, |features| features.len()))
    };
    let all = n_features(width);
    let is_feature = !options.transpose;
    let is_named = is_feature && options.names.as_ref().is_some_and(|names| names.len() == width);
    is_named
        || (all.is_some() && (n_features(width - 1).is_none() || (is_feature && all == options.n_features)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(text: &str, n_rows: u64, options: &Options) -> bool {
        let bytes = Bytes::Owned { data: text.as_bytes().to_vec(), path: "t.csv".into() };
        let dialect = Dialect::new(b',', options).unwrap();
        is_on_every_line(&bytes, false, &dialect, n_rows, (options, &Run::default())).unwrap()
    }

    fn found(text: &str) -> bool {
        found_in(text, u64::MAX, &Options::default())
    }

    #[test]
    fn delimiters_at_the_end_of_every_line_are_found_with_and_without_one_in_the_header() {
        for text in [
            "a;b;\n1;2;\n3;4;\n",
            "a;b\n1;2;\n3;4;",
            "1;2;\n3;4;\n \n\n;5;\n",
            "1,2, \r\n3,4,\r\n",
            "1;\n2;\n",
        ] {
            assert!(found(text), "{text:?}");
        }
        for text in [
            "a;b;c\n1;2;\n3;4;\n",
            "a;b;\n1;2;\n3;4;5\n",
            "a;b;\n1;2;\n3;4\n",
            "a;b\n1;2;\n3;4;;\n",
            "a;b;\n1;2\n3;4\n",
            "a;b\n1;2\n3;\n",
            "1;2;\n",
            "",
            "1 2 \n3 4 \n",
            "x\n \n \n",
        ] {
            assert!(!found(text), "{text:?}");
        }
    }

    #[test]
    fn lines_that_are_not_read_and_marks_of_missing_cells_are_not_compared() {
        let options = Options::default();
        let text = "a;b;\n1;2;\n3;4;\nTotal\n";
        assert!(found_in(text, 2, &options) && !found_in(text, 3, &options));
        // Without a header, and with one that is a line of numbers.
        let text = "1;2;\n3;4;\n5;1;\nTotal 10\n";
        assert!(found_in(text, 3, &options) && !found_in(text, 4, &options));
        assert!(found_in(text, 1, &options), "a row is compared with the line below");
        let with_header = Options { header: Some(true), ..Options::default() };
        assert!(found_in(text, 2, &with_header) && !found_in(text, 3, &with_header));
        let decimals = Options { decimal_comma: true, ..Options::default() };
        assert!(found_in("1,5;2;\n3;4,5;\nTotal\n", 2, &decimals));
        let marked = Options { na: vec!["?".into()], ..Options::default() };
        assert!(!found_in("1;?\n2;?\n", u64::MAX, &marked));
        let cells = Options { triplets: true, ..Options::default() };
        assert!(!found_in("0;0;\n1;1;\n", u64::MAX, &cells));
    }

    #[test]
    fn a_last_column_that_is_requested_stays() {
        let text = "1;2;\n3;4;\n";
        let with = |options: Options| found_in(text, u64::MAX, &options);
        let words = |words: &str| Some(words.to_string());
        let names = |n: usize| Some((0..n).map(|j| format!("c{j}")).collect());
        assert!(!with(Options { drop: words("2"), ..Options::default() }));
        assert!(!with(Options { names: names(3), ..Options::default() }));
        assert!(!with(Options { n_features: Some(3), ..Options::default() }));
        assert!(!with(Options { n_features: Some(2), keep: words("0"), ..Options::default() }));
        // Columns of the file are the rows of a transposed table.
        let transpose = || Options { transpose: true, ..Options::default() };
        assert!(with(Options { names: names(3), ..transpose() }));
        assert!(with(Options { n_features: Some(3), ..transpose() }));
        assert!(!with(Options { drop: words("2"), ..transpose() }));
        assert!(with(Options { drop: words("1"), ..Options::default() }));
        assert!(with(Options { names: names(2), ..Options::default() }));
        assert!(with(Options { n_features: Some(2), ..Options::default() }));
        assert!(with(Options { n_features: Some(1), keep: words("0"), ..Options::default() }));
    }
}
