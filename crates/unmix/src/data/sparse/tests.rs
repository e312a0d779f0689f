//! Sums over stored entries against the same sums over a dense copy, written down as they are defined.

use super::{Centred, Sparse};
use crate::data::{RandomAccess, Source};
use crate::num::random::Stream;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::stats::Moments;

/// `n x p` numbers of which about `share` are not 0; every third column is full, and some of those are far from 0.
fn made(n: usize, p: usize, share: f64, offset: f64) -> Vec<f64> {
    let (which, what) = (Stream::new(3, 0), Stream::new(3, 1));
    let number = |i: usize, j: usize| {
        let at = (i * p + j) as u64;
        match j % 6 {
            0 => what.normal(at) + offset,
            3 => 4.0 + what.normal(at),
            5 if j == 5 => 0.1,
            4 if j == 4 => 0.0,
            _ if which.uniform(at) < share => what.normal(at),
            _ => 0.0,
        }
    };
    (0..n * p).map(|at| number(at / p, at % p)).collect()
}

/// Compressed rows of a dense matrix: starts, columns, values.
fn compressed<T: Real>(x: &[f64], p: usize) -> (Vec<i64>, Vec<i32>, Vec<T>) {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.chunks_exact(p) {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as i32);
            values.push(T::from_f64(*v));
        }
        starts.push(columns.len() as i64);
    }
    (starts, columns, values)
}

fn dense<T: Real>(s: &Sparse<'_, T>) -> Vec<T> {
    let (n, p) = (s.n_rows(), s.n_features());
    let mut out = vec![T::from_f64(7.0); n * p];
    RandomAccess::read(s, 0..n as u64, 0..p, &mut out, &mut Vec::new()).unwrap();
    out
}

/// Mean and scatter as they are defined, over rows that count.
fn naive(x: &[f64], p: usize, weights: Option<&[f64]>, centre: bool) -> (Vec<f64>, Matrix<f64>) {
    let rows: Vec<(f64, &[f64])> = x
        .chunks_exact(p)
        .enumerate()
        .map(|(i, row)| (weights.map_or(1.0, |w| w[i]), row))
        .filter(|(w, _)| *w > 0.0)
        .collect();
    let total: f64 = rows.iter().map(|r| r.0).sum();
    let about =
        |j: usize| rows[0].1[j] + rows.iter().map(|(w, r)| w * (r[j] - rows[0].1[j])).sum::<f64>() / total;
    let mean: Vec<f64> = (0..p).map(|j| if centre { about(j) } else { 0.0 }).collect();
    let sum = |i: usize, j: usize| rows.iter().map(|(w, r)| w * (r[i] - mean[i]) * (r[j] - mean[j])).sum();
    let lower = Matrix::from_fn(p, p, |i, j| if j <= i { sum(i, j) } else { 0.0 });
    (mean, lower)
}

/// Weights from 0 to 3; the rows of weight 0 hold NaN where they hold anything.
fn weighted(x: &mut [f64], p: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..x.len() / p).map(|i| (i * 7 % 4) as f64).collect();
    for (row, _) in x.chunks_exact_mut(p).zip(&weights).filter(|(_, w)| **w == 0.0) {
        row.iter_mut().filter(|v| **v != 0.0).for_each(|v| *v = f64::NAN);
    }
    weights
}

#[test]
fn any_order_repeats_and_zeros_give_the_rows_that_were_meant_by_row_and_by_column() {
    // 3 x 4: (0, 2) in two parts, out of order; a stored zero; an empty row; a column of which nothing is stored.
    let want = [1.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0];
    let by_row =
        Sparse::from_csr(&[0i32, 3, 3, 5], &[2i64, 0, 2, 3, 0], &[2.0, 1.0, 3.0, -2.0, 0.0], 4).unwrap();
    assert_eq!(dense(&by_row), want);
    assert_eq!((by_row.n_stored(), by_row.row(0)), (4, (&[0u32, 2][..], &[1.0, 5.0][..])));
    let by_column =
        Sparse::from_csc(&[0u32, 2, 2, 4, 5], &[2i32, 0, 0, 0, 2], &[0.0f32, 1.0, 2.0, 3.0, -2.0], 3)
            .unwrap();
    assert_eq!(dense(&by_column), want.map(|x| x as f32));
    assert_eq!(by_column.row(2), (&[0u32, 3][..], &[0.0, -2.0][..]));
    for columns in [1..2, 2..4, 0..0, 0..4] {
        for rows in [0..3u64, 1..3, 2..2] {
            let mut part = vec![9.0; rows.clone().count() * columns.len()];
            RandomAccess::read(&by_row, rows.clone(), columns.clone(), &mut part, &mut Vec::new()).unwrap();
            let want: Vec<f64> =
                rows.flat_map(|i| columns.clone().map(move |j| want[4 * i as usize + j])).collect();
            assert_eq!(part, want, "columns {columns:?}");
        }
    }
}

#[test]
fn values_in_order_are_lent_not_copied() {
    let values = [1.0, 2.0, 3.0];
    let s = Sparse::from_csr(&[0usize, 1, 3], &[1u32, 0, 1], &values, 2).unwrap();
    assert_eq!(s.row(0).1.as_ptr(), values.as_ptr());
}

#[test]
fn what_is_not_sparse_rows_is_refused_with_what_is_wrong() {
    let refused = |starts: &[i64], columns: &[i64], n_values: usize, p: usize| {
        let values = vec![1.0; n_values];
        let rows = Sparse::from_csr(starts, columns, &values, p).map(|_| ()).unwrap_err().to_string();
        let by_column = Sparse::from_csc(starts, columns, &values, p).map(|_| ()).unwrap_err().to_string();
        assert_eq!(rows.replace("row", "column"), by_column.replace("row", "column"));
        rows
    };
    for (starts, columns, n, p, says) in [
        (&[][..], &[][..], 0, 3, "not said where each row begins"),
        (&[1, 2], &[0, 0], 2, 3, "the entries of row 0 begin at 1"),
        (&[0, 2, 1], &[0, 1], 2, 3, "the entries of row 2 begin at 1, after 2 of 2"),
        (&[0, -1], &[0], 1, 3, "begin at -1"),
        (&[0, 5], &[0, 1], 2, 3, "the entries of row 1 begin at 5, after 0 of 2"),
        (&[0, 2], &[0, 1], 3, 3, "2 column indices for 3 values"),
        (&[0, 2], &[0, 3], 2, 3, "in column 3, and there are 3 columns"),
        (&[0, 2], &[0, -1], 2, 3, "in column -1"),
        (&[0, 1], &[0], 1, 0, "in column 0, and there are 0 columns"),
        (&[0], &[], 0, 1 << 33, "more than 4294967295 rows or columns"),
        (&[0, i64::MAX], &[0], 1, 3, "begin at 9223372036854775807"),
    ] {
        let said = refused(starts, columns, n, p);
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn shapes_with_nothing_in_them_are_sums_of_nothing() {
    let run = Run::default();
    for (n, p) in [(0, 3), (4, 0), (0, 0), (5, 2)] {
        let s = Sparse::<f64>::from_csr(&vec![0; n + 1], &[0i32; 0], &[], p).unwrap();
        assert_eq!((s.n_rows(), s.n_features(), Source::n_rows(&s)), (n, p, Some(n as u64)));
        let found = s.scatter(None, &run).unwrap();
        assert!(found.lower.as_slice().iter().all(|x| n == 0 || *x == 0.0));
        assert_eq!(found.mean.len(), p);
        let image = Centred::new(&s, None, &vec![0.0; p]).image(&Matrix::zeros(2, p), &run).unwrap();
        assert_eq!((image.rows(), image.cols()), (2, p));
    }
}

#[test]
fn mean_and_scatter_are_those_of_the_dense_rows() {
    for (n, p) in [(60, 20), (9, 30), (500, 13)] {
        for (offset, with_weights) in [(0.0, false), (0.0, true), (1e6, false), (1e6, true)] {
            let mut x = made(n, p, 0.2, offset);
            let weights = with_weights.then(|| weighted(&mut x, p));
            check_scatter::<f64>(&x, p, weights.as_deref(), 1e-14);
            if offset == 0.0 {
                let x: Vec<f64> = x.iter().map(|v| *v as f32 as f64).collect();
                check_scatter::<f32>(&x, p, weights.as_deref(), 1e-14);
            }
        }
    }
}

fn check_scatter<T: Real>(x: &[f64], p: usize, weights: Option<&[f64]>, tol: f64) {
    let (starts, columns, values) = compressed::<T>(x, p);
    let s = Sparse::from_csr(&starts, &columns, &values, p).unwrap();
    let (mean, lower) = naive(x, p, weights, true);
    let found = s.scatter(weights, &Run::default()).unwrap();
    let n: f64 = weights.map_or((x.len() / p) as f64, |w| w.iter().sum());
    assert_eq!(found.n, n);
    for i in 0..p {
        assert!((found.mean[i] - mean[i]).abs() <= tol * mean[i].abs().max(1.0), "mean of column {i}");
        for j in 0..=i {
            let size = (lower[(i, i)] * lower[(j, j)]).sqrt();
            // The naive mean has rounding errors of the size of the offset.
            let error = (found.lower[(i, j)] - lower[(i, j)]).abs();
            assert!(error <= 20.0 * tol * size.max(1.0), "({i}, {j}): off by {error:e} of {size:e}");
        }
    }
    // Columns that do not vary, to the bit.
    assert_eq!((found.mean[4], found.lower[(4, 4)]), (0.0, 0.0));
    assert_eq!((found.mean[5], found.lower[(5, 5)]), (T::from_f64(0.1).to_f64(), 0.0));
    assert!((0..p).all(|j| found.lower[(5.max(j), 5.min(j))] == 0.0));
}

#[test]
fn images_and_inner_products_are_those_of_the_dense_rows() {
    for (n, p) in [(60, 20), (9, 30)] {
        for offset in [0.0, 1e6] {
            for centre in [true, false] {
                if offset > 0.0 && !centre {
                    continue;
                }
                for with_weights in [false, true] {
                    let mut x = made(n, p, 0.3, offset);
                    let weights = with_weights.then(|| weighted(&mut x, p));
                    check_operator(&x, p, weights.as_deref(), centre);
                }
            }
        }
    }
}

fn check_operator(x: &[f64], p: usize, weights: Option<&[f64]>, centre: bool) {
    let n = x.len() / p;
    let (starts, columns, values) = compressed::<f64>(x, p);
    let s = Sparse::from_csr(&starts, &columns, &values, p).unwrap();
    let (mean, lower) = naive(x, p, weights, centre);
    let run = Run::default();
    let w = |i: usize| weights.map_or(1.0, |w| w[i]);
    let centred = Matrix::from_fn(n, p, |i, j| if w(i) > 0.0 { x[i * p + j] - mean[j] } else { 0.0 });

    let stream = Stream::new(9, 0);
    let directions = Matrix::from_fn(3, p, |i, j| stream.normal((i * p + j) as u64));
    let operator = Centred::new(&s, weights, &mean);
    let image = operator.image(&directions, &run).unwrap();
    let size: f64 = (0..p).map(|i| lower[(i, i)]).sum();
    for b in 0..3 {
        for j in 0..p {
            let want: f64 = (0..p).map(|i| lower[(i.max(j), i.min(j))] * directions[(b, i)]).sum();
            let error = (image[(b, j)] - want).abs();
            assert!(error <= 1e-13 * size, "image ({b}, {j}) off by {error:e} of {size:e}");
        }
    }

    let samples = Matrix::from_fn(2, n, |i, j| stream.normal((1000 + i * n + j) as u64));
    let carried = operator.carried(&samples, &run).unwrap();
    let scale: Vec<f64> = (0..p).map(|j| 1.0 + j as f64).collect();
    let divided = operator.inner_products(Some(&scale), &run).unwrap();
    let products = operator.inner_products(None, &run).unwrap();
    for j in 0..p {
        let want: f64 = (0..n).map(|i| w(i).sqrt() * samples[(1, i)] * centred[(i, j)]).sum();
        // The naive mean is a number, and so off by half a unit in its last place in every row.
        let rounding = f64::EPSILON * mean[j].abs() * n as f64;
        assert!((carried[(1, j)] - want).abs() <= 1e-12 * size.sqrt() + rounding, "column {j}");
    }
    let far = mean.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let tol = 1e-13 * size + 8.0 * f64::EPSILON * far * size.sqrt();
    for i in 0..n {
        for r in 0..=i {
            let product: f64 = (0..p).map(|j| centred[(i, j)] * centred[(r, j)]).sum();
            let want = product * (w(i) * w(r)).sqrt();
            assert!((products[(i, r)] - want).abs() <= tol, "rows {i} and {r}");
            let part = |j: usize| centred[(i, j)] * centred[(r, j)] / scale[j].powi(2);
            let want = (0..p).map(part).sum::<f64>() * (w(i) * w(r)).sqrt();
            assert!((divided[(i, r)] - want).abs() <= tol, "rows {i} and {r}, divided");
        }
    }
}

#[test]
fn a_far_column_loses_no_digits_to_rows_that_are_sparse_beside_it() {
    // Column 0 is 1e6 away in every row, with variance 1; the others have a few entries.
    let (n, p) = (2000, 7);
    let x = made(n, p, 0.05, 1e6);
    let near: Vec<f64> =
        x.iter().enumerate().map(|(at, v)| v - if at % p % 6 == 0 { 1e6 } else { 0.0 }).collect();
    let (starts, columns, values) = compressed::<f64>(&x, p);
    let far = Sparse::from_csr(&starts, &columns, &values, p).unwrap().scatter(None, &Run::default());
    let (_, lower) = naive(&near, p, None, true);
    for i in 0..p {
        for j in 0..=i {
            let error = (far.as_ref().unwrap().lower[(i, j)] - lower[(i, j)]).abs();
            assert!(error <= 1e-12 * n as f64, "({i}, {j}) off by {error:e}");
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let (n, p) = (700, 90);
    let x = made(n, p, 0.3, 10.0);
    let (starts, columns, values) = compressed::<f64>(&x, p);
    let s = Sparse::from_csr(&starts, &columns, &values, p).unwrap();
    let directions = Matrix::from_fn(5, p, |i, j| ((i * 31 + j * 17) % 11) as f64 - 5.0);
    let all = |threads: usize| {
        let run = Run { threads, ..Run::default() };
        let Moments { mean, squares, .. } = s.moments(None, &run).unwrap();
        let image = Centred::new(&s, None, &mean).image(&directions, &run).unwrap();
        let products = Centred::new(&s, None, &mean).inner_products(None, &run).unwrap();
        (mean, squares, s.scatter(None, &run).unwrap(), image, products)
    };
    let one = all(1);
    assert_eq!(one, all(2));
    assert_eq!(one, all(5));
}

#[test]
fn a_number_that_is_not_finite_is_found_where_it_is_stored() {
    let values = [1.0, f64::NEG_INFINITY, f64::NAN];
    let s = Sparse::from_csr(&[0, 1, 1, 3], &[2, 0, 3], &values, 5).unwrap();
    assert_eq!(s.first_not_finite(|_| true).map(|(i, j, _)| (i, j)), Some((2, 0)));
    assert!(s.first_not_finite(|i| i != 2).is_none());
    assert!(!s.scatter(None, &Run::default()).unwrap().finite());
    assert!(s.moments(Some(&[1.0, 2.0, 0.0]), &Run::default()).unwrap().squares[0] == 0.0);
}
