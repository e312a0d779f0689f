//! Quality of the separation of sources, with or without the true mixing.

use crate::error::{Error, Result, counted};
use crate::num::Matrix;

/// The Amari distance of a gain matrix, `components mixing` (Amari, Cichocki & Yang 1996): 0 if every estimated source is one true source
/// up to its scale, 1 if every one is a mixture of all with equal weights. `O(k²)`.
///
/// # Errors
///
/// A gain that is not square, has fewer than two sources, or a row or a column of zeros.
pub fn amari_distance(gain: &Matrix<f64>) -> Result<f64> {
    let k = gain.rows();
    let wrong = |found: String| {
        Error::unsupported(
            "the Amari distance",
            found,
            "give the product of the unmixing and the mixing matrix, with as many rows as columns",
        )
    };
    if k < 2 || gain.cols() != k {
        return Err(wrong(format!("the gain is {k} x {}", gain.cols())));
    }
    let mut total = 0.0;
    for i in 0..k {
        let [mut row, mut column] = [(0.0f64, 0.0f64); 2];
        for j in 0..k {
            let (across, down) = (gain[(i, j)].abs(), gain[(j, i)].abs());
            row = (row.0 + across, row.1.max(across));
            column = (column.0 + down, column.1.max(down));
        }
        if !(row.1 > 0.0 && column.1 > 0.0 && (row.0 + column.0).is_finite()) {
            return Err(wrong(format!("row or column {i} of the gain has no finite non-zero entry")));
        }
        total += row.0 / row.1 + column.0 / column.1 - 2.0;
    }
    Ok(total / (2 * k * (k - 1)) as f64)
}

/// Signal-to-interference ratio of every source, in decibels: the square of the largest entry of its row of the gain matrix, divided by
/// the sum of the squares of the others. Infinite for a row with one non-zero entry, NaN for a row of zeros.
pub fn interference(gain: &Matrix<f64>) -> Vec<f64> {
    (0..gain.rows())
        .map(|i| {
            let squares = gain.row(i).iter().map(|x| x * x);
            let (sum, most) = squares.fold((0.0, 0.0f64), |(s, m), x| (s + x, m.max(x)));
            // Summed without the largest: a difference from the sum of all would cancel.
            let mut others = 0.0;
            let mut seen = false;
            for x in gain.row(i).iter().map(|x| x * x) {
                if x == most && !seen {
                    seen = true;
                } else {
                    others += x;
                }
            }
            if sum == 0.0 { f64::NAN } else { 10.0 * (most / others).log10() }
        })
        .collect()
}

/// Correlations of the columns of `a` with those of `b`, which have the same number of rows: one row for each column of `a`, 0 for a column
/// that does not vary.
///
/// # Errors
///
/// Different numbers of rows.
pub fn correlations(a: &Matrix<f64>, b: &Matrix<f64>) -> Result<Matrix<f64>> {
    if a.rows() != b.rows() {
        return Err(Error::unsupported(
            "correlations of columns",
            format!("one table has {} and the other {}", counted(a.rows() as u64, "row"), b.rows()),
            "give rows of the same samples",
        )
        .with_numbers(a.rows(), b.rows()));
    }
    let (a, b) = (standardised(a), standardised(b));
    Ok(Matrix::from_fn(a.len(), b.len(), |i, j| a[i].iter().zip(&b[j]).map(|(x, y)| x * y).sum()))
}

/// Columns of mean 0 and length 1.
fn standardised(m: &Matrix<f64>) -> Vec<Vec<f64>> {
    let n = m.rows() as f64;
    (0..m.cols())
        .map(|j| {
            let first = if m.rows() > 0 { m[(0, j)] } else { 0.0 };
            let mean = first + (0..m.rows()).map(|i| m[(i, j)] - first).sum::<f64>() / n;
            let mut column: Vec<f64> = (0..m.rows()).map(|i| m[(i, j)] - mean).collect();
            let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 0.0 {
                column.iter_mut().for_each(|x| *x /= length);
            }
            column
        })
        .collect()
}

/// Mutual information in nats between each pair of columns, `k x k` with zeros on the diagonal: for independent columns 0, up to a
/// standard error of about `bins / n`.
///
/// The plug-in estimate from ranks in `bins` equal bins, at most 32, so that a cell has five rows on average; its bias (Miller 1955),
/// `(a - 1)(b - 1) / 2n` for `a` and `b` bins that have rows, is subtracted, so small values may be negative. Equal numbers are in one bin: columns
/// of few values have as many bins. `O(k² n)`.
///
/// # Errors
///
/// NaN and infinities.
pub fn mutual_information(x: &Matrix<f64>) -> Result<Matrix<f64>> {
    let (n, k) = (x.rows(), x.cols());
    if let Some(at) = x.as_slice().iter().position(|x| !x.is_finite()) {
        let found = format!("entry {} of row {} is {}", at % k, at / k, x.as_slice()[at]);
        let remedy = "give finite numbers, for example the rows without missing cells";
        return Err(Error::unsupported("mutual information", found, remedy));
    }
    let bins = ((n as f64 / 5.0).sqrt() as usize).clamp(2, 32);
    let cells: Vec<Vec<usize>> = (0..k).map(|j| parts(x, j, bins)).collect();
    let mut out = Matrix::zeros(k, k);
    for i in 0..k {
        for j in 0..i {
            let mut counts = vec![0.0f64; bins * bins];
            cells[i].iter().zip(&cells[j]).for_each(|(a, b)| counts[a * bins + b] += 1.0);
            let along = |f: &dyn Fn(usize, usize) -> usize| -> Vec<f64> {
                (0..bins).map(|a| (0..bins).map(|b| counts[f(a, b)]).sum()).collect()
            };
            let (rows, columns) = (along(&|a, b| a * bins + b), along(&|a, b| b * bins + a));
            let mut sum = 0.0;
            for a in 0..bins {
                for b in 0..bins {
                    let c = counts[a * bins + b];
                    if c > 0.0 {
                        sum += c / n as f64 * (c * n as f64 / (rows[a] * columns[b])).ln();
                    }
                }
            }
            let used = |counts: &[f64]| counts.iter().filter(|c| **c > 0.0).count() as f64;
            let value = sum - (used(&rows) - 1.0) * (used(&columns) - 1.0) / (2 * n) as f64;
            (out[(i, j)], out[(j, i)]) = (value, value);
        }
    }
    Ok(out)
}

/// The bin of every row by the rank of its number in column `j`; equal numbers are in the same bin.
fn parts(x: &Matrix<f64>, j: usize, bins: usize) -> Vec<usize> {
    let n = x.rows();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| x[(a, j)].total_cmp(&x[(b, j)]));
    let mut out = vec![0; n];
    let mut part = 0;
    for (rank, &i) in order.iter().enumerate() {
        if rank == 0 || x[(i, j)] != x[(order[rank - 1], j)] {
            part = rank * bins / n;
        }
        out[i] = part;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn amari_is_0_for_scaled_permutations_and_1_for_ones() {
        let permuted = Matrix::from_fn(4, 4, |i, j| if (i + 1) % 4 == j { -1.5 - i as f64 } else { 0.0 });
        assert_eq!(amari_distance(&permuted).unwrap(), 0.0);
        assert!((amari_distance(&Matrix::from_fn(3, 3, |_, _| -2.0)).unwrap() - 1.0).abs() < 1e-15);
        assert!(amari_distance(&Matrix::zeros(3, 3)).is_err());
        assert!(amari_distance(&Matrix::zeros(3, 2)).is_err());
    }

    #[test]
    fn interference_is_in_decibels_and_keeps_small_others() {
        let gain = Matrix::from_vec(3, 2, vec![1.0, 0.1, 0.0, 5.0, 1e-12, 1.0]);
        let found = interference(&gain);
        assert!((found[0] - 20.0).abs() < 1e-12 && found[1].is_infinite() && (found[2] - 240.0).abs() < 1e-9);
    }

    #[test]
    fn mutual_information_is_0_for_independent_columns_and_as_in_theory_for_gaussian_ones() {
        let s = Stream::new(8, 0);
        let (n, r) = (20_000, 0.6f64);
        let x = Matrix::from_fn(n, 3, |i, j| {
            let z = |c: u64| s.normal(3 * i as u64 + c);
            match j {
                0 => z(0),
                1 => r * z(0) + (1.0 - r * r).sqrt() * z(1),
                _ => z(2),
            }
        });
        let found = mutual_information(&x).unwrap();
        let theory = -0.5 * (1.0 - r * r).ln();
        assert!((found[(0, 1)] / theory - 1.0).abs() < 0.1, "{} {theory}", found[(0, 1)]);
        assert!(found[(0, 2)].abs() < 0.003 && found[(1, 2)].abs() < 0.003 && found[(2, 2)] == 0.0);
    }

    /// Columns of two and of three values: the plug-in estimate of their own table, less its bias.
    #[test]
    fn mutual_information_of_columns_of_few_values_is_that_of_their_table() {
        let s = Stream::new(9, 0);
        let n = 5000;
        let x = Matrix::from_fn(n, 3, |i, j| {
            let u = |c: u64| s.uniform(3 * i as u64 + c);
            match j {
                0 => f64::from(u8::from(u(0) < 0.5)),
                1 => f64::from(u8::from((u(0) < 0.5) != (u(1) < 0.1))),
                _ => (3.0 * u(2)).floor(),
            }
        });
        let found = mutual_information(&x).unwrap();
        let entropy = |p: f64| -p * p.ln() - (1.0 - p) * (1.0 - p).ln();
        let theory = entropy(0.5) - entropy(0.1);
        assert!((found[(0, 1)] - theory).abs() < 0.02, "{} {theory}", found[(0, 1)]);
        assert!(found[(0, 2)].abs() < 0.002 && found[(1, 2)].abs() < 0.002, "{found:?}");
        let missing = Matrix::from_fn(20, 2, |i, j| if (i, j) == (7, 1) { f64::NAN } else { i as f64 });
        assert!(mutual_information(&missing).unwrap_err().to_string().contains("entry 1 of row 7 is NaN"));
    }

    #[test]
    fn correlations_do_not_depend_on_scale_or_mean_and_are_0_for_constant_columns() {
        let a = Matrix::from_fn(5, 2, |i, j| if j == 0 { 1e6 + i as f64 } else { 3.0 });
        let b = Matrix::from_fn(5, 1, |i, _| -2.0 * i as f64);
        let found = correlations(&a, &b).unwrap();
        assert!((found[(0, 0)] + 1.0).abs() < 1e-12 && found[(1, 0)] == 0.0);
        assert!(correlations(&a, &Matrix::zeros(4, 1)).is_err());
    }
}
