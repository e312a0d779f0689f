//! A note on rows that look like raw counts, for methods with a Gaussian density: the noise of counts grows with their mean.

use crate::data::AnyRows;
use crate::model::Model;
use crate::num::Real;
use serde_json::Value;

/// Rows that are examined: as many as have so many cells, but at least and at most so many.
const CELLS: usize = 1 << 20;
const ROWS: (usize, usize) = (4, 256);
/// Columns with numbers above 1 that a table of counts has at least.
const COLUMNS: usize = 20;
/// The share of the variance that a tenth of the columns has at least.
const SHARE: f64 = 0.75;

/// The note about the rows of a fit; `None` if they do not look like counts, or the model does not depend on it that they are.
pub(super) fn note(model: &Model, rows: &AnyRows<'_>) -> Option<String> {
    let standardized = model.settings().get("standardize") == Some(&Value::Bool(true));
    // Pixels are integers, too.
    let is_picture = rows.features().shape.is_some();
    model.method().density.filter(|_| !standardized && !is_picture)?;
    let p = rows.n_features();
    let most = (CELLS / p.max(1)).clamp(ROWS.0, ROWS.1) as u64;
    let some: Vec<f64> = crate::with_rows!(rows, rows => {
        let n = rows.n_rows()?.min(most);
        rows.read_range(0..n).ok()?.iter().map(|x| x.to_f64()).collect()
    });
    let share = share_of_counts(&some, p)?;
    Some(format!(
        "the rows look like raw counts, whose variance grows with their mean: a tenth of the columns has {:.0} % of the variance; divide each \
         row by its total, multiply by the median total and take log1p before a fit",
        100.0 * share
    ))
}

/// The share of the variance of the tenth of the columns with the largest variances, if rows look like counts: non-negative integers, of
/// which 1 is the most frequent above 0, and a share of at least [`SHARE`]. Indicators have no number above 1, few of the grey levels of
/// pictures are 1, and the columns of a questionnaire have similar variances.
fn share_of_counts(x: &[f64], p: usize) -> Option<f64> {
    let n = x.len() / p.max(1);
    if n < 2 || !x.iter().all(|x| *x >= 0.0 && x.fract() == 0.0) {
        return None;
    }
    let mut frequency = [0u64; 256];
    x.iter().filter(|x| (1.0..256.0).contains(*x)).for_each(|x| frequency[*x as usize] += 1);
    if frequency[2..].iter().any(|other| *other >= frequency[1]) {
        return None;
    }
    let (mut sums, mut squares, mut largest) = (vec![0.0; p], vec![0.0; p], vec![0.0f64; p]);
    for row in x.chunks_exact(p) {
        for (j, x) in row.iter().enumerate() {
            sums[j] += x;
            squares[j] += x * x;
            largest[j] = largest[j].max(*x);
        }
    }
    if largest.iter().filter(|most| **most > 1.0).count() < COLUMNS {
        return None;
    }
    let variance = |(sum, square): (&f64, &f64)| (square - sum * sum / n as f64).max(0.0);
    let mut variances: Vec<f64> = sums.iter().zip(&squares).map(variance).collect();
    variances.sort_by(|a, b| b.total_cmp(a));
    let share = variances[..p.div_ceil(10)].iter().sum::<f64>() / variances.iter().sum::<f64>();
    (share >= SHARE).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    const P: usize = 60;

    /// A table of 100 rows.
    fn table(cell: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        (0..100 * P).map(|at| cell(at / P, at % P)).collect()
    }

    /// Counts of reads: Poisson with a rate for each column, which differs by orders of magnitude, and a factor for each row.
    fn counts(seed: u64) -> Vec<f64> {
        let (rates, draws) = (Stream::new(seed, 0), Stream::new(seed, 1));
        table(|i, j| {
            let rate = (1.6 * rates.normal(j as u64) + 0.4 * rates.normal(1000 + i as u64) - 0.5).exp();
            // Arrivals of a process of rate 1 until time `rate`.
            let mut time = 0.0;
            let gap = |k: u64| -draws.uniform(((i * P + j) as u64) * 4096 + k).max(1e-300).ln();
            let arrived = (0..4096).take_while(|k| {
                time += gap(*k);
                time < rate
            });
            arrived.count() as f64
        })
    }

    #[test]
    fn counts_are_recognised() {
        for seed in 0..10 {
            let share = share_of_counts(&counts(seed), P);
            assert!(share.is_some_and(|share| share > 0.75 && share <= 1.0), "seed {seed}: {share:?}");
        }
    }

    #[test]
    fn other_integers_and_transformed_counts_are_not() {
        let draws = Stream::new(3, 0);
        let uniform = |i: usize, j: usize| draws.uniform((i * P + j) as u64);
        let tables: [(&str, Vec<f64>); 8] = [
            ("logarithms of counts", counts(0).iter().map(|x| x.ln_1p()).collect()),
            ("indicators", table(|i, j| f64::from(u8::from((i * 7 + j / 10) % 10 == j % 10)))),
            ("a questionnaire", table(|i, j| (5.0 * uniform(i, j)).floor())),
            ("grey levels", table(|i, j| (256.0 * uniform(i, j).powi(3)).floor())),
            // Strokes of full ink on empty paper.
            (
                "digits",
                table(|i, j| if uniform(i, j) < 0.8 { 0.0 } else { (256.0 * uniform(j, i).sqrt()).floor() }),
            ),
            (
                "Poisson of one rate",
                table(|i, j| (0..5).filter(|k| uniform(i, j + P * k) < 0.2).count() as f64),
            ),
            // Indicators beside an income and an age.
            (
                "a census",
                table(|i, j| match j {
                    0 => (50_000.0 * uniform(i, j)).floor(),
                    1 => (90.0 * uniform(i, j)).floor(),
                    _ => f64::from(u8::from(uniform(i, j) < 0.2)),
                }),
            ),
            ("numbers", table(|i, j| uniform(i, j))),
        ];
        for (name, x) in tables {
            assert_eq!(share_of_counts(&x, P), None, "{name}");
        }
        // Few columns are no table of counts, and neither is a single row.
        let few: Vec<f64> = counts(0).chunks_exact(P).flat_map(|row| row[..10].to_vec()).collect();
        assert_eq!((share_of_counts(&few, 10), share_of_counts(&counts(0)[..P], P)), (None, None));
    }
}
