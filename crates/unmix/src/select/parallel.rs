//! Parallel analysis: components with larger variance than in data whose columns are permuted independently.

use super::FittedRows;
use crate::error::Result;
use crate::num::parallel;
use crate::num::random::Stream;
use crate::num::threads::on_pool;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;

/// Number of permuted copies of the data.
const COPIES: u64 = 20;
/// Quantile of the singular values of the copies that a singular value of the data must exceed.
const QUANTILE: f64 = 0.95;
/// Relative tolerance for equal singular values: if a permutation changes nothing, as with two rows or one column, rounding must
/// not decide.
const EQUALITY_TOL: f64 = 1e-9;

/// The number of leading singular values of the centred rows that are each above the 95 % quantile of those of 20 copies in which
/// every column is permuted independently; counting stops at the first that is not.
///
/// J. Horn (1965), Psychometrika 30:179, with permutations in place of normal draws (A. Buja & N. Eyuboglu 1992, Multivar. Behav.
/// Res. 27:509). Each column keeps its marginal distribution, so the null hypothesis assumes only independence between columns.
/// Cost: 21 spectra of the data, `O(n p min(n, p))` each. Memory: three copies of the rows. The same seed gives the same bits.
///
/// # Errors
///
/// Insufficient memory; weights that are not integers; errors of the source; interruption.
pub fn parallel<T: Real>(fitted: &FittedRows<'_, '_, T>, run: &Run<'_>) -> Result<usize> {
    let columns = fitted.columns(run, "parallel", 3)?;
    on_pool(run.threads, || stronger_than_permuted(&columns, run))
}

/// The number of leading singular values of `columns` above the quantile of those of permuted copies.
fn stronger_than_permuted(columns: &Matrix<f64>, run: &Run<'_>) -> Result<usize> {
    let found = singular_values(columns)?;
    let mut copies = Vec::new();
    let mut copy = columns.clone();
    for b in 0..COPIES {
        run.stage("parallel analysis")?;
        permute(columns, &mut copy, &Stream::new(run.seed, 0x7061_7261 + (b << 32)));
        copies.push(singular_values(&copy)?);
    }
    let above = |i: &usize| {
        let mut at: Vec<f64> = copies.iter().map(|c| c[*i]).collect();
        found[*i] > quantile(&mut at, QUANTILE) * (1.0 + EQUALITY_TOL)
    };
    Ok((0..found.len()).take_while(above).count())
}

/// Permutes every column of `from` independently.
fn permute(from: &Matrix<f64>, to: &mut Matrix<f64>, stream: &Stream) {
    let n = from.cols();
    to.as_mut_slice().copy_from_slice(from.as_slice());
    // Draws are indexed, so the result does not depend on which thread permutes which column.
    let columns = to.as_mut_slice().chunks_mut(n.max(1)).enumerate();
    parallel::each(columns, |(j, column)| stream.shuffle((j * n) as u64, column));
}

/// Singular values of a matrix of columns, descending: square roots of the eigenvalues of its smaller Gram matrix. Those below
/// `1e-8` of the first are inaccurate; they are not components.
fn singular_values(columns: &Matrix<f64>) -> Result<Vec<f64>> {
    let (p, n) = (columns.rows(), columns.cols());
    let gram = match p <= n {
        true => factor::multiply_transposed(columns, columns),
        false => {
            let rows = columns.transposed();
            factor::multiply_transposed(&rows, &rows)
        }
    };
    Ok(factor::eigenvalues(&gram)?.iter().map(|v| v.max(0.0).sqrt()).collect())
}

/// A quantile with linear interpolation between neighbours.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = share * (values.len() - 1) as f64;
    let below = at as usize;
    let above = (below + 1).min(values.len() - 1);
    values[below] + (at - below as f64) * (values[above] - values[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let mut values: Vec<f64> = (0..20).rev().map(f64::from).collect();
        assert!((quantile(&mut values, 0.95) - 18.05).abs() < 1e-12);
        assert_eq!(quantile(&mut [3.0], 0.95), 3.0);
    }

    #[test]
    fn a_permuted_column_keeps_its_numbers_and_every_column_gets_its_own_order() {
        let from = Matrix::from_fn(3, 100, |_, j| j as f64);
        let mut to = from.clone();
        permute(&from, &mut to, &Stream::new(1, 2));
        for j in 0..3 {
            let mut column = to.row(j).to_vec();
            assert_ne!(column, from.row(j));
            assert_ne!(column, to.row((j + 1) % 3));
            column.sort_by(f64::total_cmp);
            assert_eq!(column, from.row(j));
        }
    }
}
