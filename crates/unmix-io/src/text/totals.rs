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

/// Least probability at which numbers of a column agree by chance so often that the column shows nothing.
const SHOWS_NOTHING: f64 = 0.5;

/// Largest probability, as a logarithm to the base 10, with which another row would agree with the rows above as well.
const CHANCE: f64 = -4.0;

/// The note that the last row appears to be the sum or the mean of the rows above, or has the name of such a row among its `labels`, of which there
/// is a list for each column that is kept. None for rows of a model, or where rows were chosen. Of one of `several` files, whose rows are numbered
/// together, the number of the row is that in the file, and no option leaves it out.
///
/// # Errors
///
/// Errors of reading the rows.
pub(super) fn note<'a>(
    rows: &AnyRows<'_>,
    labels: impl Iterator<Item = &'a Vec<String>>,
    several: bool,
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
    let remedy = match several {
        true => "delete it".into(),
        false => format!("add {}, or delete it", options.wording.first_rows(n - 1)),
    };
    Ok(Some(format!("{}: the last row (row {}) {what}; to leave it out, {remedy}", rows.origin(), n - 1)))
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
    for row in above.chunks_exact(p) {
        columns.iter_mut().zip(row).for_each(|(column, &x)| column.add(x));
    }
    let is = |expected: &dyn Fn(&Column) -> (f64, f64)| agrees(&columns, above, last, expected);
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
    /// The place value of the last decimal that the first numbers other than 0 have, and how many these are.
    unit: f64,
    n_written: usize,
}

impl Default for Column {
    fn default() -> Self {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { n: 0, sum: 0.0, sum_of_sizes: 0.0, low, high, unit: 1.0, n_written: 0 }
    }
}

impl Column {
    fn add(&mut self, x: f64) {
        if x.is_nan() {
            return;
        }
        self.n += 1;
        self.sum += x;
        self.sum_of_sizes += x.abs();
        (self.low, self.high) = (self.low.min(x), self.high.max(x));
        // A zero does not show the decimals of the others.
        if x != 0.0 && self.n_written < WRITTEN {
            self.n_written += 1;
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

/// A column in which the last row is what is expected, up to the rounding of its numbers.
struct Agreement {
    column: usize,
    expected: f64,
    /// How far from that other numbers agree as well: as far as the last row, and at least by its rounding.
    within: f64,
    /// The probability of that, for a number that is somewhere in the range of the column.
    in_range: f64,
}

impl Agreement {
    /// The probability with which another row would agree in this column, by the rows `above` of `p` numbers: their share where some of them agree,
    /// and at least what the density of their numbers near the expected one gives. In sparse columns most zeros are as near to the mean as a last
    /// zero, and the range of columns with a few large numbers is much wider than most of them.
    fn chance(&self, above: &[f64], p: usize) -> f64 {
        let mut distances: Vec<f64> =
            above[self.column..].iter().step_by(p).map(|x| (x - self.expected).abs()).collect();
        distances.retain(|distance| !distance.is_nan());
        let n = distances.len();
        let n_agreeing = distances.iter().filter(|distance| **distance <= self.within).count();
        let share = |count: usize| count as f64 / (n + 1) as f64;
        let by_share = if n_agreeing > 0 { share(n_agreeing + 1) } else { 0.0 };
        // Among so many of the nearest numbers the density hardly changes.
        let n_near = (n as f64).sqrt().ceil() as usize;
        if n_near == 0 {
            return 1.0;
        }
        let (_, &mut farthest, _) = distances.select_nth_unstable_by(n_near - 1, f64::total_cmp);
        let by_density = share(n_near) * (self.within / farthest.max(f64::MIN_POSITIVE)).min(1.0);
        self.in_range.max(by_share).max(by_density)
    }

    fn includes(&self, row: &[f64]) -> bool {
        (row[self.column] - self.expected).abs() <= self.within
    }
}

/// Whether the last row agrees with what is `expected` in nine of ten columns or more, up to the rounding of its numbers, and would hardly do so by
/// chance. Columns in which most numbers would agree, such as those of zeros, show nothing; where a row above agrees as well, the last one is none of
/// its own kind.
fn agrees(columns: &[Column], above: &[f64], last: &[f64], expected: &dyn Fn(&Column) -> (f64, f64)) -> bool {
    let (mut agreeing, mut n_others) = (Vec::new(), 0);
    for (j, (column, &x)) in columns.iter().zip(last).enumerate() {
        let (expected, tolerance) = expected(column);
        if column.n < FEWEST || !x.is_finite() || !expected.is_finite() {
            continue;
        }
        let unit = if x == 0.0 { column.unit } else { unit_of(x) };
        let (deviation, half) = ((x - expected).abs(), 0.5 * unit);
        if deviation > half + tolerance {
            n_others += 1;
            continue;
        }
        // Other numbers may be within the range of the column, or as far from it as this one.
        let range = (column.high - column.low).max(column.low - expected).max(expected - column.high);
        let within = deviation.max(half);
        let in_range = if range > 0.0 { 2.0 * within / range } else { 1.0 };
        agreeing.push(Agreement { column: j, expected, within, in_range });
    }
    let most_agree = |n: usize| n >= 9 * n_others;
    if !most_agree(agreeing.len()) {
        return false;
    }
    let (p, mut chance) = (columns.len(), 0.0);
    agreeing.retain(|agreement: &Agreement| {
        let by_chance = agreement.chance(above, p);
        let shows = by_chance < SHOWS_NOTHING;
        chance += if shows { by_chance.log10() } else { 0.0 };
        shows
    });
    let agrees_as_well = |row: &[f64]| {
        let n = agreeing.iter().filter(|agreement| agreement.includes(row)).count();
        10 * n >= 9 * agreeing.len()
    };
    most_agree(agreeing.len()) && chance <= CHANCE && !above.chunks_exact(p).any(agrees_as_well)
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

    /// Whole numbers below `n`, by a linear congruential generator.
    fn generator() -> impl FnMut(u64) -> u64 {
        let mut state = 12345u64;
        move |n| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        }
    }

    /// Rows of numbers that one function makes.
    fn rows_of(n: usize, p: usize, mut one: impl FnMut() -> f64) -> Vec<f64> {
        (0..n * p).map(|_| one()).collect()
    }

    /// The sums, or the means, of columns, rounded to a number of decimals.
    fn summary(rows: &[f64], p: usize, divisor: f64, decimals: i32) -> Vec<f64> {
        let scale = 10f64.powi(decimals);
        let sum = |j: usize| rows[j..].iter().step_by(p).sum::<f64>();
        (0..p).map(|j| (sum(j) / divisor * scale).round() / scale).collect()
    }

    #[test]
    fn rows_of_sparse_tables_are_no_means_of_those_above() {
        let mut below = generator();
        let counts = rows_of(400, 60, || if below(100) < 4 { 1.0 + below(3) as f64 } else { 0.0 });
        let frequencies = rows_of(400, 60, || if below(100) < 4 { below(100) as f64 / 100.0 } else { 0.0 });
        // Most are 0 or 1, and a few very large.
        let dispersed = rows_of(400, 60, || match below(100) {
            0..70 => 0.0,
            70..90 => 1.0,
            90..99 => below(20) as f64,
            _ => below(2000) as f64,
        });
        for (name, rows) in [("counts", &counts), ("frequencies", &frequencies), ("dispersed", &dispersed)] {
            let zeros = [&rows[..], &[0.0; 60]].concat();
            assert_eq!(relation(&zeros, 60), None, "{name}");
            let ones = [&rows[..], &[1.0; 60]].concat();
            assert_eq!(relation(&ones, 60), None, "{name}");
            for n in (5..=400).step_by(5) {
                assert_eq!(relation(&rows[..n * 60], 60), None, "{name}, {n} rows");
            }
            // The first columns alone.
            let few: Vec<f64> = rows.chunks_exact(60).flat_map(|row| row[..3].to_vec()).collect();
            for n in 5..=400 {
                assert_eq!(relation(&few[..n * 3], 3), None, "{name}, {n} rows of 3");
            }
            let sums = [&rows[..], &summary(rows, 60, 1.0, 2)].concat();
            assert_eq!(relation(&sums, 60), Some("sum"), "{name}");
            let means = [&rows[..], &summary(rows, 60, 400.0, 4)].concat();
            assert_eq!(relation(&means, 60), Some("mean"), "{name}");
        }
    }

    #[test]
    fn a_row_that_one_above_equals_is_no_summary() {
        let mut below = generator();
        let depths: Vec<f64> = (0..200).map(|i| if i % 3 == 0 { 0.0 } else { 3.0 }).collect();
        // Columns that vary together.
        let rows: Vec<f64> = depths
            .iter()
            .flat_map(|depth| [depth + below(2) as f64, *depth, 2.0 * depth, 1.5 * depth])
            .collect();
        let means = summary(&rows, 4, 200.0, 3);
        assert_eq!(relation(&[&rows[..], &means].concat(), 4), Some("mean"));
        assert_eq!(relation(&[&rows[..], &means, &means].concat(), 4), None);
    }

    #[test]
    fn sums_of_a_few_rows_of_three_columns_are_found() {
        let rows: Vec<f64> =
            (0..12i32).flat_map(|i| [i % 5, i * 7 % 11, i * i % 10].map(f64::from)).collect();
        assert_eq!(relation(&[&rows[..], &summary(&rows, 3, 1.0, 0)].concat(), 3), Some("sum"));
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
