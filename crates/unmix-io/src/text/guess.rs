//! Whether a first line of numbers may hold names after all: years, wavelengths, or the numbers of the columns. The rule stays (a
//! line of numbers is a row); the user is warned.

use super::cells;
use super::lines::{Dialect, Lines};
use crate::Wording;
use unmix::Result;
use unmix::data::Bytes;

/// Rows that the first line is compared with: at most, and the least number that is informative.
const ROWS: (usize, usize) = (50, 3);

/// Cells that are examined.
const EXAMINED_CELLS: usize = 1 << 20;

/// How far a cell is outside the range of the others, in lengths of that range.
const OUTSIDE_RANGES: f64 = 3.0;

/// The warning about a first line that was read as a row although it looks like names.
pub(super) fn note(
    bytes: &Bytes<'static>,
    gz: bool,
    dialect: &Dialect,
    wording: Wording,
) -> Result<Option<String>> {
    let mut lines = Lines::open(bytes, gz, dialect)?;
    let mut record = csv::ByteRecord::new();
    let Some(place) = lines.next(&mut record)? else { return Ok(None) };
    let Some(first) = numbers(&record) else { return Ok(None) };
    let shown: Vec<String> = record.iter().take(4).map(cells::shown).collect();
    let more = if first.len() > shown.len() { ", ..." } else { "" };
    let most = (EXAMINED_CELLS / first.len()).clamp(1, ROWS.0);
    let mut rows = Vec::new();
    // Errors in later lines are reported by their reader.
    while rows.len() < most && matches!(lines.next(&mut record), Ok(Some(_))) {
        match numbers(&record) {
            Some(row) if row.len() == first.len() => rows.push(row),
            _ => break,
        }
    }
    if !like_names(&first, &rows) {
        return Ok(None);
    }
    let line = lines.line(place)?;
    Ok(Some(format!(
        "{}: line {line} ({}{more}) was read as numbers; add {} if it holds names, or {} if it is a row",
        bytes.path().display(),
        shown.join(", "),
        wording.flag("header", true),
        wording.flag("header", false)
    )))
}

/// The numbers of a line; `None` where a cell is none.
fn numbers(record: &csv::ByteRecord) -> Option<Vec<f64>> {
    let all: Option<Vec<f64>> = record.iter().map(cells::number).collect();
    all.filter(|row| !row.is_empty() && row.iter().all(|x| x.is_finite()))
}

/// Whether the first line is unlike the rows in the way that names are: each cell another, and in equal steps, which no row is, or
/// in every column far outside of what the rows hold.
fn like_names(first: &[f64], rows: &[Vec<f64>]) -> bool {
    let mut sorted = first.to_vec();
    sorted.sort_by(f64::total_cmp);
    if first.len() < 2 || rows.is_empty() || sorted.windows(2).any(|w| w[0] == w[1]) {
        return false;
    }
    let steps = first.len() > 2 && in_equal_steps(first) && !rows.iter().any(|row| in_equal_steps(row));
    steps || (rows.len() >= ROWS.1 && is_outlier(first, rows))
}

/// Whether each number is that before it and the same step above 0; a step of 1 is enough in three columns, any step in more.
fn in_equal_steps(row: &[f64]) -> bool {
    let step = row[1] - row[0];
    let near = |w: &[f64]| (w[1] - w[0] - step).abs() <= 1e-9 * step;
    step > 0.0 && (step == 1.0 || row.len() > 3) && row.windows(2).all(near)
}

fn is_outlier(first: &[f64], rows: &[Vec<f64>]) -> bool {
    let mut varies = false;
    let outside = first.iter().enumerate().all(|(j, &x)| {
        let column = rows.iter().map(|row| row[j]);
        let (low, high) = column.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        varies |= low < high;
        x < low - OUTSIDE_RANGES * (high - low) || x > high + OUTSIDE_RANGES * (high - low)
    });
    outside && varies
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize, p: usize) -> Vec<Vec<f64>> {
        (0..n)
            .map(|i| (0..p).map(|j| ((i * 7919 + j * j * 104_729 + 13) % 997) as f64 / 997.0).collect())
            .collect()
    }

    #[test]
    fn years_wavelengths_and_column_numbers_look_like_names_and_rows_do_not() {
        let like = |first: &[f64], n: usize| like_names(first, &rows(n, first.len()));
        assert!(like(&[2019.0, 2020.0, 2021.0, 2022.0], 50), "years");
        assert!(like(&[0.0, 1.0, 2.0], 1), "numbers of columns");
        assert!(like(&[400.0, 402.5, 405.0, 407.5, 410.0], 2), "wavelengths");
        assert!(like(&[12.0, 7.0], 50), "far outside");
        assert!(!like(&[12.0, 7.0], 2), "far outside of two rows");
        assert!(!like(&[12.0, 12.0], 50), "one name twice");
        assert!(!like(&[0.4, 12.0], 50), "one of two columns");
        assert!(!like(&[0.1, 0.4, 0.7], 50), "three numbers in steps");
        assert!(!like(&[7.0], 50), "a single column");
        assert!(!like_names(&[1.0, 2.0, 3.0], &[vec![4.0, 5.0, 6.0], vec![9.0, 2.0, 2.0]]), "rows do so too");
        assert!(!like_names(&[9.0, 8.0], &vec![vec![1.0, 1.0]; 9]), "columns that do not vary");
    }

    #[test]
    fn rows_of_noise_are_not_taken_for_names() {
        let rows = rows(51, 5);
        assert!((0..51).all(|i| {
            let others: Vec<Vec<f64>> = (0..51).filter(|&j| j != i).map(|j| rows[j].clone()).collect();
            !like_names(&rows[i], &others)
        }));
    }
}
