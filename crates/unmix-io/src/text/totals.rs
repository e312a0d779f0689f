//! Whether the last row sums up the rows above, as those of spreadsheets do. It stays a row, because it may be one; the user is warned.

use super::cells;
use crate::Options;
use unmix::{AnyRows, Real, Result, with_rows};

/// Numbers that are compared at most: in larger tables a pass over them would be noticed.
const MOST: u64 = 1 << 20;

/// Fewest rows above whose sum is compared: shorter columns of small numbers, as 0, 1, 2 and 3, end in their sum by chance.
const FEWEST: usize = 4;

/// Rows whose decimals are counted, and most decimals.
const WRITTEN: usize = 20;
const DECIMALS: i32 = 9;

/// Largest probability, as a logarithm to the base 10, with which another row would agree with the rows above as well.
const CHANCE: f64 = -4.0;

/// The note that the last row appears to be the sum or the mean of the rows above, or has the name of such a row among its `labels`, of which there
/// is a list for each column that is kept. None for rows of a model, or where rows were chosen.
///
/// # Errors
///
/// Errors of reading the rows.
pub(super) fn note<'a>(
    rows: &AnyRows<'_>,
    labels: impl Iterator<Item = &'a Vec<String>>,
    options: &Options,
) -> Result<Option<String>> {
    let of_model = options.wanted.is_some() || options.n_features.is_some();
    let Some(n) = rows.n_rows().filter(|n| *n > 1) else { return Ok(None) };
    if of_model || options.transpose || options.triplets || options.rows.is_some() {
        return Ok(None);
    }
    let found = match n.saturating_mul(rows.n_features() as u64) <= MOST {
        true => relation(&numbers(rows, n)?, rows.n_features()),
        false => None,
    };
    let mut names = labels.filter_map(|cells| name_of_summary(cells));
    let what = match (found, names.next()) {
        (Some(relation), _) => format!("appears to be the {relation} of the rows above"),
        (None, Some(name)) => format!("is named '{name}' and may summarise the rows above"),
        (None, None) => return Ok(None),
    };
    Ok(Some(format!(
        "{}: the last row (row {}) {what}; to leave it out, add {}, or delete it",
        rows.origin(),
        n - 1,
        options.wording.first_rows(n - 1)
    )))
}

/// All numbers, row by row.
fn numbers(rows: &AnyRows<'_>, n: u64) -> Result<Vec<f64>> {
    Ok(with_rows!(rows, rows => rows.read_range(0..n)?.into_iter().map(Real::to_f64).collect()))
}

/// The last of these cells, if it is the name of a summary and no other is one.
fn name_of_summary(cells: &[String]) -> Option<&str> {
    let is_summary = |cell: &String| cells::is_summary(cell.as_bytes());
    let (last, above) = cells.split_last()?;
    (is_summary(last) && !above.iter().any(is_summary)).then(|| last.trim())
}

/// What the last of these rows of `p` numbers is of the rows above; `None` where it is nothing of them.
fn relation(numbers: &[f64], p: usize) -> Option<&'static str> {
    let (above, last) = numbers.split_at(numbers.len().checked_sub(p)?);
    if p == 0 || above.len() < FEWEST * p {
        return None;
    }
    let mut columns = vec![Column::default(); p];
    for (i, row) in above.chunks_exact(p).enumerate() {
        columns.iter_mut().zip(row).for_each(|(column, &x)| column.add(x, i < WRITTEN));
    }
    let is = |expected: &dyn Fn(&Column) -> (f64, f64)| agrees(&columns, last, expected);
    if is(&Column::total) {
        Some("sum")
    } else if is(&Column::mean) {
        Some("mean")
    } else {
        None
    }
}

/// The numbers of a column above the last row; missing cells are not among them.
#[derive(Clone)]
struct Column {
    n: usize,
    sum: f64,
    sum_of_sizes: f64,
    low: f64,
    high: f64,
    /// The place value of the last decimal that the first numbers have.
    unit: f64,
}

impl Default for Column {
    fn default() -> Self {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { n: 0, sum: 0.0, sum_of_sizes: 0.0, low, high, unit: 1.0 }
    }
}

impl Column {
    fn add(&mut self, x: f64, counted: bool) {
        if x.is_nan() {
            return;
        }
        self.n += 1;
        self.sum += x;
        self.sum_of_sizes += x.abs();
        (self.low, self.high) = (self.low.min(x), self.high.max(x));
        if counted {
            self.unit = self.unit.min(unit_of(x));
        }
    }

    /// The sum, and how far one of numbers before their rounding may be from it: twice the standard deviation.
    fn total(&self) -> (f64, f64) {
        let rounding = 2.0 * self.unit * (self.n as f64 / 12.0).sqrt();
        (self.sum, rounding + 1e-9 * self.sum_of_sizes)
    }

    /// The mean, and how far one of numbers before their rounding may be from it.
    fn mean(&self) -> (f64, f64) {
        let (sum, tolerance) = self.total();
        (sum / self.n as f64, tolerance / self.n as f64)
    }
}

/// The place value of the last decimal of a number; of one with more decimals than people write, a fraction of the number.
fn unit_of(x: f64) -> f64 {
    let is_whole = |x: f64| (x - x.round()).abs() <= 4.0 * f64::EPSILON * x.abs();
    let n_decimals = (0..=DECIMALS).find(|&n| is_whole(x * 10f64.powi(n)));
    n_decimals.map_or(1e-9 * x.abs(), |n| 10f64.powi(-n))
}

/// Whether a row agrees with what is `expected` in nine of ten columns or more, up to the rounding of its numbers, and would hardly do so by chance.
/// Columns in which most numbers would agree, such as those of zeros, show nothing.
fn agrees(columns: &[Column], row: &[f64], expected: &dyn Fn(&Column) -> (f64, f64)) -> bool {
    let (mut compared, mut agreeing, mut chance) = (0, 0, 0.0);
    for (column, &x) in columns.iter().zip(row) {
        let (wanted, tolerance) = expected(column);
        if column.n < FEWEST || !x.is_finite() || !wanted.is_finite() {
            continue;
        }
        let (deviation, half) = ((x - wanted).abs(), 0.5 * unit_of(x));
        let is_near = deviation <= half + tolerance;
        // Other numbers are expected within the range of the column, or as far from it as this one.
        let range = (column.high - column.low).max(column.low - wanted).max(wanted - column.high);
        let by_chance = if range > 0.0 { 2.0 * deviation.max(half) / range } else { 1.0 };
        if is_near && by_chance >= 1.0 {
            continue;
        }
        compared += 1;
        if is_near {
            agreeing += 1;
            chance += by_chance.log10();
        }
    }
    10 * agreeing >= 9 * compared && chance <= CHANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of numbers with two decimals, a whole number, and one with many decimals.
    fn table(n: usize) -> Vec<[f64; 3]> {
        let row = |i: usize| {
            let (a, b) = ((i * 7919 % 997) as f64, (i * i * 31 % 89) as f64);
            [(a * 3.0).round() / 100.0, b, (a + 1.0).sqrt()]
        };
        (0..n).map(row).collect()
    }

    fn with_last(rows: &[[f64; 3]], last: [f64; 3]) -> Option<&'static str> {
        relation([rows, &[last]].concat().as_flattened(), 3)
    }

    fn sums(rows: &[[f64; 3]]) -> [f64; 3] {
        std::array::from_fn(|j| rows.iter().map(|row| row[j]).sum())
    }

    #[test]
    fn a_last_row_of_sums_or_means_is_found_also_where_it_is_rounded() {
        for n in [5, 12, 300] {
            let rows = table(n);
            let sums = sums(&rows);
            assert_eq!(with_last(&rows, sums), Some("sum"), "{n} rows");
            let rounded = [(sums[0] * 10.0).round() / 10.0, sums[1], (sums[2] * 100.0).round() / 100.0];
            assert_eq!(with_last(&rows, rounded), Some("sum"), "{n} rows, rounded");
            let means = sums.map(|sum| sum / n as f64);
            assert_eq!(with_last(&rows, means), Some("mean"), "{n} rows");
            let rounded = means.map(|mean| (mean * 100.0).round() / 100.0);
            assert_eq!(with_last(&rows, rounded), Some("mean"), "{n} rows, rounded");
            // A cell without a sum, as a spreadsheet leaves that of a year.
            assert_eq!(with_last(&rows, [sums[0], f64::NAN, sums[2]]), Some("sum"), "{n} rows");
            assert_eq!(with_last(&rows, [sums[0], sums[1], sums[2] + 1.0]), None, "{n} rows");
            assert_eq!(with_last(&rows[1..], rows[0]), None, "{n} rows");
        }
    }

    #[test]
    fn rows_that_agree_with_those_above_by_chance_are_none() {
        // 0, 1, 2 and 3 end in their sum; columns of zeros, and of few whole numbers, in what is near their mean.
        let counted: Vec<f64> =
            (0..4).flat_map(|i| [1.0, 10.0, 100.0].map(|unit| unit * f64::from(i))).collect();
        assert_eq!(relation(&counted, 3), None);
        let few: Vec<f64> = (0..60).flat_map(|i| [0.0, f64::from(i % 2), f64::from(i % 3)]).collect();
        assert_eq!(relation(&few, 3), None);
        let flags: Vec<f64> = (0..40).flat_map(|i| [f64::from(u8::from(i == 3)), 0.0]).collect();
        assert_eq!(relation(&flags, 2), None);
        assert_eq!(relation(&[1.0; 20], 2), None, "constant columns");
        assert_eq!(relation(&[], 2), None);
        let rows = table(40);
        assert!((5..40).all(|n| with_last(&rows[..n - 1], rows[n - 1]).is_none()));
    }

    #[test]
    fn decimals_are_counted_as_they_are_written() {
        for (x, unit) in [(0.0, 1.0), (12.0, 1.0), (0.1, 0.1), (-2.35, 0.01), (1234.567, 0.001), (1e15, 1.0)]
        {
            assert!((unit_of(x) - unit).abs() < 1e-12, "{x}: {}", unit_of(x));
        }
        assert!((unit_of(2f64.sqrt()) - 1.414e-9).abs() < 1e-11);
    }

    #[test]
    fn the_name_of_a_summary_in_the_last_row_is_found() {
        let of = |cells: &[&str]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.to_string()).collect();
            name_of_summary(&cells).map(String::from)
        };
        assert_eq!(of(&["a", "b", " Total"]).as_deref(), Some("Total"));
        assert_eq!(of(&["a", "Summe:"]).as_deref(), Some("Summe:"));
        assert_eq!(of(&["a", "Totally"]), None);
        assert_eq!(of(&["Total", "a"]), None);
        assert_eq!(of(&["mean", "max", "count"]), None, "labels of the rows of a table of statistics");
        assert_eq!(of(&[]), None);
    }
}
