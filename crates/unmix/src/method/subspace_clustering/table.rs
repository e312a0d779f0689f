//! The rows in memory.

use crate::data::Rows;
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::num::order;
use crate::num::parallel;
use crate::num::{Matrix, Real, factor, kernel};
use crate::run::Run;
use crate::spectrum::check_total;

/// Rows that one thread processes at a time.
const ROWS_PER_TASK: usize = 256;
/// Number of tables of the size of the rows in a fit.
const TABLES_IN_MEMORY: u64 = 3;

/// Memory in bytes of a fit of `n x p` numbers, without `n x n` tables.
pub(super) fn memory(n: u64, p: usize) -> u64 {
    n.saturating_mul(p as u64).saturating_mul(8 * TABLES_IN_MEMORY)
}

/// The data of a fit.
pub(super) struct Table {
    /// Centred rows, `n x p`.
    pub(super) x: Matrix<f64>,
    /// Offset that is subtracted from rows.
    pub(super) center: Vec<f64>,
    /// Number of constant columns.
    pub(super) n_constant: usize,
    /// Squared norms of the rows.
    pub(super) squares: Vec<f64>,
    /// Their sum.
    pub(super) total: f64,
}

impl Table {
    /// Reads the rows.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, rows that are all 0, squares that overflow, rows that do not fit in memory.
    pub(super) fn read<T: Real>(key: &str, rows: &Rows<'_, T>, center: bool, run: &Run<'_>) -> Result<Self> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let what = format!("{key} of {n} x {p} numbers, which it holds in memory,");
        check_memory(&what, memory(n, p), "fit fewer rows or columns")?;
        run.stage("rows")?;
        let numbers = rows.picked((0..n).collect(), run)?;
        if let Some(at) = numbers.iter().position(|x| !x.finite()) {
            return Err(rows.not_finite_at(key, (at / p) as u64, at % p, numbers[at].to_f64()));
        }
        let mut x = Matrix::from_vec(n as usize, p, numbers.iter().map(|x| x.to_f64()).collect());
        drop(numbers);
        let constant: Vec<bool> = (0..p).map(|j| (1..x.rows()).all(|i| x[(i, j)] == x[(0, j)])).collect();
        let mut means = vec![0.0; p];
        if center {
            let scale = 1.0 / n as f64;
            x.as_slice()
                .chunks_exact(p)
                .for_each(|row| means.iter_mut().zip(row).for_each(|(m, x)| *m += scale * x));
            (0..p).filter(|&j| constant[j]).for_each(|j| means[j] = x[(0, j)]);
            x.as_mut_slice()
                .chunks_exact_mut(p)
                .for_each(|row| row.iter_mut().zip(&means).for_each(|(x, m)| *x -= m));
        }
        let squares: Vec<f64> =
            x.as_slice().chunks_exact(p).map(|row| row.iter().map(|x| x * x).sum()).collect();
        let total: f64 = squares.iter().sum();
        if x.as_slice().iter().all(|x| *x == 0.0) {
            let n_samples = rows.n_samples() as u64;
            return Err(Error::NoVariance { method: key.into(), n_features: p, n_samples });
        }
        if !total.is_finite() {
            return Err(Error::Overflow { method: key.into(), dtype: T::DTYPE.name() });
        }
        check_total(key, total / n as f64, T::DTYPE)?;
        let n_constant = constant.iter().filter(|constant| **constant).count();
        Ok(Self { x, center: means, n_constant, squares, total })
    }

    pub(super) fn n(&self) -> usize {
        self.x.rows()
    }

    pub(super) fn p(&self) -> usize {
        self.x.cols()
    }

    /// Some of the rows.
    pub(super) fn rows(&self, chosen: &[usize]) -> Matrix<f64> {
        let numbers = chosen.iter().flat_map(|&i| self.x.row(i)).copied().collect();
        Matrix::from_vec(chosen.len(), self.p(), numbers)
    }

    /// The rows of each of `k` clusters; rows with labels of at least `k` are in none.
    pub(super) fn members(labels: &[usize], k: usize) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); k];
        labels.iter().enumerate().filter(|(_, c)| **c < k).for_each(|(i, c)| members[*c].push(i));
        members
    }

    /// The subspace of `d` dimensions with the smallest sum of squared distances from some rows; of fewer dimensions if their rank is smaller.
    pub(super) fn span(&self, chosen: &[usize], d: usize) -> Result<Matrix<f64>> {
        let (_, axes) = principal(&self.rows(chosen))?;
        let d = d.min(axes.rows());
        Ok(axes.top_rows(d))
    }

    /// Squared distances of every row from every subspace, `n x k`.
    pub(super) fn distances(&self, bases: &[Matrix<f64>]) -> Matrix<f64> {
        let (p, k) = (self.p(), bases.len());
        let mut out = Matrix::zeros(self.n(), k);
        let parts =
            out.as_mut_slice().chunks_mut(ROWS_PER_TASK * k).zip(self.x.as_slice().chunks(ROWS_PER_TASK * p));
        parallel::each(parts, |(out, x)| squared_distances(x, bases, out));
        out
    }

    /// Squared distances of some rows from one subspace.
    pub(super) fn distances_of(&self, chosen: &[usize], basis: &Matrix<f64>) -> Vec<f64> {
        let mut out = vec![0.0; chosen.len()];
        squared_distances(self.rows(chosen).as_slice(), std::slice::from_ref(basis), &mut out);
        out
    }

    /// Indices of the `d` rows with the largest absolute cosines with row `i`, which is one of them.
    pub(super) fn around(&self, i: usize, d: usize) -> Vec<usize> {
        let cosine = |j: usize| {
            let dot: f64 = self.x.row(i).iter().zip(self.x.row(j)).map(|(a, b)| a * b).sum();
            if self.squares[j] > 0.0 { dot.abs() / self.squares[j].sqrt() } else { -1.0 }
        };
        let parts = (0..self.n()).step_by(ROWS_PER_TASK);
        let parts = parallel::map(parts, |first| {
            (first..self.n().min(first + ROWS_PER_TASK)).map(cosine).collect::<Vec<f64>>()
        });
        let mut order = order::descending(&parts.concat());
        order.truncate(d);
        order
    }
}

/// Squared distances of rows from subspaces through 0, from the residual itself: `||x||² - ||U x||²` cancels.
pub(super) fn squared_distances(x: &[f64], bases: &[Matrix<f64>], out: &mut [f64]) {
    let k = bases.len();
    let mut fitted = vec![0.0; x.len()];
    for (c, basis) in bases.iter().enumerate() {
        let (d, p) = (basis.rows(), basis.cols());
        let n = x.len() / p;
        if d > 0 {
            let mut codes = vec![0.0; n * d];
            kernel::product(&mut codes, x, basis.transposed().as_slice(), n, p, d);
            kernel::product(&mut fitted, &codes, basis.as_slice(), n, d, p);
        } else {
            fitted.fill(0.0);
        }
        for (i, (row, near)) in x.chunks_exact(p).zip(fitted.chunks_exact(p)).enumerate() {
            out[i * k + c] = row.iter().zip(near).map(|(x, f)| (x - f) * (x - f)).sum();
        }
    }
}

/// Squared singular values above rounding errors, descending, and their right singular vectors as rows.
pub(super) fn principal(x: &Matrix<f64>) -> Result<(Vec<f64>, Matrix<f64>)> {
    let (n, p) = (x.rows(), x.cols());
    if n == 0 || p == 0 {
        return Ok((Vec::new(), Matrix::zeros(0, p)));
    }
    let least = 10.0 * n.max(p) as f64 * f64::EPSILON;
    let above = |values: &[f64]| values.iter().take_while(|v| **v > least * values[0] && **v > 0.0).count();
    if p <= n {
        let (mut values, vectors) = factor::eigh(&factor::multiply(&x.transposed(), x))?;
        let r = above(&values);
        values.truncate(r);
        return Ok((values, vectors.top_rows(r)));
    }
    let (mut values, left) = factor::eigh(&factor::multiply_transposed(x, x))?;
    let r = above(&values);
    values.truncate(r);
    let mut axes = factor::multiply(&left.top_rows(r), x);
    for (i, v) in values.iter().enumerate() {
        axes.row_mut(i).iter_mut().for_each(|a| *a /= v.sqrt());
    }
    let axes = if r > 0 { factor::orthonormal_rows_signed(&axes) } else { axes };
    Ok((values, axes))
}
