//! Naive implementations of textbook formulas: slow, short and reliable. All are in double precision on row-major data, `n` rows of `p`
//! columns.

mod evidence;
mod pca;
mod rica;

pub(crate) use evidence::{minka, minka_log_evidence};
pub(crate) use pca::{NaivePca, log_likelihoods};
pub(crate) use rica::rica;

/// Compensated summation (Neumaier).
pub(crate) fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut total, mut error) = (0.0f64, 0.0f64);
    for x in values {
        let next = total + x;
        error += if total.abs() >= x.abs() { (total - next) + x } else { (x - next) + total };
        total = next;
    }
    total + error
}

/// The mean of every column.
pub(crate) fn mean(x: &[f64], p: usize) -> Vec<f64> {
    let n = x.len() / p;
    // Relative to the first row, so that a mean far from 0 costs no digits.
    (0..p).map(|j| x[j] + sum((0..n).map(|i| x[i * p + j] - x[j])) / n as f64).collect()
}

/// The covariance by two passes, divisor `n - 1`.
pub(crate) fn covariance(x: &[f64], p: usize) -> Vec<Vec<f64>> {
    let (n, m) = (x.len() / p, mean(x, p));
    let entry = |j: usize, l: usize| sum((0..n).map(|i| (x[i * p + j] - m[j]) * (x[i * p + l] - m[l])));
    (0..p).map(|j| (0..p).map(|l| entry(j, l) / (n as f64 - 1.0)).collect()).collect()
}

/// Eigenvalues in descending order, and eigenvectors as rows, by Jacobi rotations.
pub(crate) fn jacobi(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let p = a.len();
    let mut v: Vec<Vec<f64>> =
        (0..p).map(|i| (0..p).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..60 {
        for i in 0..p {
            for j in i + 1..p {
                if a[i][j] == 0.0 {
                    continue;
                }
                let t = (a[j][j] - a[i][i]) / (2.0 * a[i][j]);
                let t = if t >= 0.0 { 1.0 / (t + t.hypot(1.0)) } else { 1.0 / (t - t.hypot(1.0)) };
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for row in a.iter_mut() {
                    (row[i], row[j]) = (c * row[i] - s * row[j], s * row[i] + c * row[j]);
                }
                for l in 0..p {
                    (a[i][l], a[j][l]) = (c * a[i][l] - s * a[j][l], s * a[i][l] + c * a[j][l]);
                    (v[i][l], v[j][l]) = (c * v[i][l] - s * v[j][l], s * v[i][l] + c * v[j][l]);
                }
                (a[i][j], a[j][i]) = (0.0, 0.0);
            }
        }
    }
    let mut order: Vec<usize> = (0..p).collect();
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    (order.iter().map(|&i| a[i][i]).collect(), order.iter().map(|&i| v[i].clone()).collect())
}

/// The Cholesky factor: lower triangular `L` with `L L' = a`, for a positive definite matrix.
pub(crate) fn cholesky(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let p = a.len();
    let mut l = vec![vec![0.0; p]; p];
    for i in 0..p {
        for j in 0..=i {
            let rest = a[i][j] - sum((0..j).map(|c| l[i][c] * l[j][c]));
            l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
        }
    }
    l
}

/// Inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum(a.iter().zip(b).map(|(x, y)| x * y))
}
