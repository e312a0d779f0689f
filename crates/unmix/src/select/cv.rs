//! Bi-cross-validation: the error of predicting each block of the data from the others by a low-rank matrix.

use super::FittedRows;
use crate::error::Result;
use crate::num::parallel;
use crate::num::random::Stream;
use crate::num::threads::on_pool;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;

/// The number of components, from 0, with the smallest prediction error of held-out blocks; the smallest of several.
///
/// Rows and columns are each split into two random halves. A block `A` of `[A B; C D]` is predicted by `B D_k^+ C`, with the
/// pseudo-inverse of the best rank-`k` approximation of the block that shares neither rows nor columns with it; errors of the four
/// blocks are added. Holding out whole rows instead would select all components, because their reconstruction error never increases
/// with `k`. Only half of the rows and columns are used at a time, so weak components are missed, and there are never more than
/// `min(n, p) / 2`. A. Owen & P. Perry (2009), Ann. Appl. Stat. 3:564.
///
/// One singular value decomposition of each block serves all `k`: `O(n p min(n, p))` in total. Memory: five copies of the rows. The
/// same seed gives the same bits.
///
/// # Errors
///
/// Insufficient memory; weights that are not integers; errors of the source; interruption.
pub fn cv<T: Real>(fitted: &FittedRows<'_, '_, T>, run: &Run<'_>) -> Result<usize> {
    let columns = fitted.columns(run, "cv", 5)?;
    let errors = on_pool(run.threads, || errors(&columns, run))?;
    let best = errors.iter().enumerate().fold((f64::INFINITY, 0), |best, (k, &e)| match e < best.0 {
        true => (e, k),
        false => best,
    });
    Ok(best.1)
}

/// Squared errors of prediction by 0, 1, ... components, of centred columns.
fn errors(columns: &Matrix<f64>, run: &Run<'_>) -> Result<Vec<f64>> {
    let (p, n) = (columns.rows(), columns.cols());
    let most = (n / 2).min(p / 2);
    let mut total = vec![0.0; most + 1];
    if most == 0 {
        return Ok(total);
    }
    let halves = |stream: u64, count: usize| {
        let mut order: Vec<usize> = (0..count).collect();
        Stream::new(run.seed, stream).shuffle(0, &mut order);
        let right = order.split_off(count.div_ceil(2));
        [order, right]
    };
    let (samples, features) = (halves(0x6376_0000, n), halves(0x6376_0001, p));
    for i in 0..2 {
        for j in 0..2 {
            run.stage("cross-validation")?;
            let block = |rows: &[usize], cols: &[usize]| {
                Matrix::from_fn(rows.len(), cols.len(), |a, b| columns[(cols[b], rows[a])])
            };
            let (out, kept) = ((&samples[i], &features[j]), (&samples[1 - i], &features[1 - j]));
            let (left, right) =
                factors(&block(kept.0, kept.1), &block(out.0, kept.1), &block(kept.0, out.1), most)?;
            let found = residuals(block(out.0, out.1), &left, &right);
            // The prediction does not change beyond the rank of a block.
            let each = (0..=most).map(|k| found[k.min(found.len() - 1)]);
            total.iter_mut().zip(each).for_each(|(t, e)| *t += e);
        }
    }
    Ok(total)
}

/// `P` and `Q` with `B D_k^+ C = P_k Q_k`, where `P_k` are the first `k` columns of `P` and `Q_k` the first `k` rows of `Q`.
/// Directions in which `D` is 0 up to rounding are left out.
fn factors(
    d: &Matrix<f64>,
    b: &Matrix<f64>,
    c: &Matrix<f64>,
    most: usize,
) -> Result<(Matrix<f64>, Matrix<f64>)> {
    let tall = d.rows() >= d.cols();
    let (values, vectors) = match tall {
        true => factor::svd_right(d)?,
        false => factor::svd_right(&d.transposed())?,
    };
    let floor = 10.0 * d.rows().max(d.cols()) as f64 * f64::EPSILON * values.first().copied().unwrap_or(0.0);
    let r = values.iter().take(most).take_while(|&&s| s > floor).count();
    let near = vectors.top_rows(r);
    let mut far = match tall {
        true => factor::multiply_transposed(&near, d),
        false => factor::multiply(&near, d),
    };
    let divide = |m: &mut Matrix<f64>| {
        (0..r).for_each(|i| m.row_mut(i).iter_mut().for_each(|x| *x /= values[i]));
    };
    divide(&mut far);
    let (left, right) = if tall { (far, near) } else { (near, far) };
    let mut q = factor::multiply(&left, c);
    divide(&mut q);
    Ok((factor::multiply_transposed(b, &right), q))
}

/// Squared errors of `a` minus the first 0, 1, ... terms of the product: all of them are computed for each row while it is in
/// cache, so that no error is the difference of two large sums.
fn residuals(mut a: Matrix<f64>, p: &Matrix<f64>, q: &Matrix<f64>) -> Vec<f64> {
    let (terms, width) = (q.rows(), a.cols());
    // Chunks of a fixed size, summed in order: the same bits for any number of threads.
    const CHUNK: usize = 64;
    let chunks = a.as_mut_slice().chunks_mut((CHUNK * width).max(1)).enumerate();
    let chunks: Vec<Vec<f64>> = parallel::map(chunks, |(chunk, rows)| {
        let mut errors = vec![0.0; terms + 1];
        for (i, row) in rows.chunks_exact_mut(width).enumerate() {
            errors[0] += square(row);
            for k in 0..terms {
                let weight = p[(chunk * CHUNK + i, k)];
                row.iter_mut().zip(q.row(k)).for_each(|(x, y)| *x -= weight * y);
                errors[k + 1] += square(row);
            }
        }
        errors
    });
    let mut out = vec![0.0; terms + 1];
    chunks.iter().for_each(|errors| out.iter_mut().zip(errors).for_each(|(t, e)| *t += e));
    out
}

fn square(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_an_exact_low_rank_matrix_is_predicted_exactly() {
        let s = Stream::new(3, 0);
        let a = Matrix::from_fn(20, 3, |i, j| s.normal((i * 3 + j) as u64));
        let b = Matrix::from_fn(3, 12, |i, j| s.normal(100 + (i * 12 + j) as u64));
        for columns in [factor::multiply(&a, &b), factor::multiply(&a, &b).transposed()] {
            let found = errors(&columns, &Run::default()).unwrap();
            assert!(found[3] < 1e-20 * found[0] && found[2] > 1e-6 * found[0], "{found:?}");
        }
    }

    #[test]
    fn the_errors_are_those_of_the_pseudo_inverse() {
        let s = Stream::new(4, 0);
        let random = |rows: usize, cols: usize, from: u64| {
            Matrix::from_fn(rows, cols, |i, j| s.normal(from + (i * cols + j) as u64))
        };
        for (rows, cols) in [(7, 4), (4, 7)] {
            let (d, b, c) = (random(rows, cols, 0), random(5, cols, 100), random(rows, 3, 200));
            let (p, q) = factors(&d, &b, &c, 4).unwrap();
            // All four terms: B D^+ C by the normal equations of the smaller dimension.
            let gram = match rows > cols {
                true => factor::multiply(&d.transposed(), &d),
                false => factor::multiply(&d, &d.transposed()),
            };
            let solve = factor::Cholesky::new(&gram).unwrap();
            let want = match rows > cols {
                true => factor::multiply(&solve.solve_rows(&b), &factor::multiply(&d.transposed(), &c)),
                false => factor::multiply(
                    &factor::multiply(&b, &d.transposed()),
                    &solve.solve_rows(&c.transposed()).transposed(),
                ),
            };
            let found = factor::multiply(&p, &q);
            for (x, y) in found.as_slice().iter().zip(want.as_slice()) {
                assert!((x - y).abs() < 1e-10, "{rows} x {cols}: {x} not {y}");
            }
            let a = random(5, 3, 300);
            let last = residuals(a.clone(), &p, &q)[4];
            let direct: f64 = a.as_slice().iter().zip(want.as_slice()).map(|(x, y)| (x - y).powi(2)).sum();
            assert!((last / direct - 1.0).abs() < 1e-9);
        }
    }
}
