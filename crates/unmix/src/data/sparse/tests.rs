//! Sums over stored entries against the same sums over a dense copy, written down as they are defined.

use super::Sparse;
use crate::data::{Features, RandomAccess, Rows, Source, VecSink};
use crate::error::Result;
use crate::num::random::Stream;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::stats::{
    FeatureView, Gather, GatherGram, GatherMoments, GatherRange, GatherScatter, GatherSketch, Moments,
    Partial, SketchView, to_bytes,
};

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

/// The sum over all rows as one shard.
fn summed<T: Real, G: Gather<T>>(
    s: &Sparse<'_, T>,
    weights: Option<&[f64]>,
    run: &Run<'_>,
    gather: &G,
) -> Result<G::Part> {
    let mut part = gather.zero(s.n_features());
    add_rows(s, 0..s.n_rows(), weights, run, gather, &mut part)?;
    Ok(part)
}

fn add_rows<T: Real, G: Gather<T>>(
    s: &Sparse<'_, T>,
    rows: std::ops::Range<usize>,
    weights: Option<&[f64]>,
    run: &Run<'_>,
    gather: &G,
    part: &mut G::Part,
) -> Result<()> {
    let pace = |share: f64| run.sweep_progress("test", (100.0 * share) as u64, Some(100));
    let shard = s.shard((0, rows), weights, run.threads, &pace)?;
    gather.stored().unwrap().add_stored(part, &shard)
}

/// Inner products of the samples.
fn products<T: Real>(s: &Sparse<'_, T>, view: &FeatureView<'_>, run: &Run<'_>) -> Matrix<f64> {
    summed(&s.transposed(), None, run, &GatherGram(view.clone())).unwrap().lower
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
fn unordered_repeated_and_zero_entries_give_the_same_rows() {
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
fn values_in_order_are_borrowed_not_copied() {
    let values = [1.0, 2.0, 3.0];
    let s = Sparse::from_csr(&[0usize, 1, 3], &[1u32, 0, 1], &values, 2).unwrap();
    assert_eq!(s.row(0).1.as_ptr(), values.as_ptr());
}

#[test]
fn inconsistent_arrays_are_refused_with_a_reason() {
    let refused = |starts: &[i64], columns: &[i64], n_values: usize, p: usize| {
        let values = vec![1.0; n_values];
        let rows = Sparse::from_csr(starts, columns, &values, p).map(|_| ()).unwrap_err().to_string();
        let by_column = Sparse::from_csc(starts, columns, &values, p).map(|_| ()).unwrap_err().to_string();
        assert_eq!(rows.replace("row", "column"), by_column.replace("row", "column"));
        rows
    };
    for (starts, columns, n, p, expected) in [
        (&[][..], &[][..], 0, 3, "the array of row starts is empty"),
        (&[1, 2], &[0, 0], 2, 3, "entry 0 of the array of row starts is 1, but must be 0"),
        (&[0, 2, 1], &[0, 1], 2, 3, "entry 2 of the array of row starts is 1, but must be from 2 to 2"),
        (&[0, -1], &[0], 1, 3, "starts is -1"),
        (&[0, 5], &[0, 1], 2, 3, "entry 1 of the array of row starts is 5, but must be from 0 to 2"),
        (&[0, 2], &[0, 1], 3, 3, "2 column indices for 3 values"),
        (&[0, 2], &[0, 3], 2, 3, "in column 3, and there are 3 columns"),
        (&[0, 2], &[0, -1], 2, 3, "in column -1"),
        (&[0, 1], &[0], 1, 0, "in column 0, and there are 0 columns"),
        (&[0], &[], 0, 1 << 33, "more than 4294967295 rows or columns"),
        (&[0, i64::MAX], &[0], 1, 3, "starts is 9223372036854775807"),
    ] {
        let message = refused(starts, columns, n, p);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn more_columns_than_fit_in_memory_are_refused_where_a_copy_by_column_is_needed() {
    // Eight numbers for each of four billion columns.
    if crate::available_memory().is_none_or(|bytes| bytes > 200 << 30) {
        return;
    }
    let s = Sparse::<f64>::from_csr(&[0usize, 1, 1], &[7u32], vec![2.0], 4_000_000_000).unwrap();
    let refused = s.selected(&[7]).err().unwrap().to_string();
    assert!(refused.starts_with("sparse rows with 4000000000 columns would need"), "{refused}");
    let mut out = [0.0; 2];
    assert!(RandomAccess::read(&s, 0..2, 7..8, &mut out, &mut Vec::new()).is_err());
    // A row is read without it.
    RandomAccess::read(&s, 0..1, 6..8, &mut out, &mut Vec::new()).unwrap();
    assert_eq!(out, [0.0, 2.0]);
}

#[test]
fn empty_shapes_have_sums_of_zero() {
    let run = Run::default();
    for (n, p) in [(0, 3), (4, 0), (0, 0), (5, 2)] {
        let s = Sparse::<f64>::from_csr(&vec![0; n + 1], &[0i32; 0], &[], p).unwrap();
        assert_eq!((s.n_rows(), s.n_features(), Source::n_rows(&s)), (n, p, Some(n as u64)));
        let found = summed(&s, None, &run, &GatherScatter::new()).unwrap();
        assert!(found.lower.as_slice().iter().all(|x| n == 0 || *x == 0.0));
        assert_eq!(found.mean.len(), p);
        let sketch = GatherSketch(SketchView::new(vec![0.0; p], &Matrix::zeros(2, p)));
        let image = summed(&s, None, &run, &sketch).unwrap().image;
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
    let found = summed(&s, weights, &Run::default(), &GatherScatter::new()).unwrap();
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
    let moments = summed(&s, weights, &run, &GatherMoments::new()).unwrap();
    let rest = if centre { moments.rest } else { vec![0.0; p] };
    let sketch = GatherSketch(SketchView::new(&mean, &directions).with_rest(&rest));
    let image = summed(&s, weights, &run, &sketch).unwrap().image;
    let size: f64 = (0..p).map(|i| lower[(i, i)]).sum();
    for b in 0..3 {
        for j in 0..p {
            let want: f64 = (0..p).map(|i| lower[(i.max(j), i.min(j))] * directions[(b, i)]).sum();
            let error = (image[(b, j)] - want).abs();
            assert!(error <= 1e-13 * size, "image ({b}, {j}) off by {error:e} of {size:e}");
        }
    }

    let samples = Matrix::from_fn(2, n, |i, j| stream.normal((1000 + i * n + j) as u64));
    let total: f64 = (0..n).map(w).sum();
    let view = FeatureView::new(total, weights, centre, false);
    let (mut by_sample, mut carried) = (samples.transposed(), VecSink(Vec::new()));
    let (sums, transposed) = (view.weigh_samples(&mut by_sample), s.transposed());
    let carry = |j: usize, out: &mut [f64]| view.carry_stored(transposed.row(j), (&by_sample, &sums), out);
    transposed.map(&run, "components", 4, carry, &mut carried).unwrap();
    let carried = Matrix::from_vec(p, 4, carried.0).transposed();
    let (_, about) = naive(x, p, weights, true);
    let scale: Vec<f64> = (0..p).map(|j| about[(j, j)] / (total - 1.0)).map(f64::sqrt).collect();
    let scale: Vec<f64> = scale.into_iter().map(|s| if s > 0.0 { s } else { 1.0 }).collect();
    let divided = products(&s, &FeatureView::new(total, weights, centre, true), &run);
    let products = products(&s, &view, &run);
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
fn a_column_with_a_large_mean_costs_no_digits() {
    // Column 0 is 1e6 away in every row, with variance 1; the others have a few entries.
    let (n, p) = (2000, 7);
    let x = made(n, p, 0.05, 1e6);
    let near: Vec<f64> =
        x.iter().enumerate().map(|(at, v)| v - if at % p % 6 == 0 { 1e6 } else { 0.0 }).collect();
    let (starts, columns, values) = compressed::<f64>(&x, p);
    let s = Sparse::from_csr(&starts, &columns, &values, p).unwrap();
    let far = summed(&s, None, &Run::default(), &GatherScatter::new());
    let (_, lower) = naive(&near, p, None, true);
    for i in 0..p {
        for j in 0..=i {
            let error = (far.as_ref().unwrap().lower[(i, j)] - lower[(i, j)]).abs();
            assert!(error <= 1e-12 * n as f64, "({i}, {j}) off by {error:e}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (n, p) = (700, 90);
    let x = made(n, p, 0.3, 10.0);
    let (starts, columns, values) = compressed::<f64>(&x, p);
    let s = Sparse::from_csr(&starts, &columns, &values, p).unwrap();
    let directions = Matrix::from_fn(5, p, |i, j| ((i * 31 + j * 17) % 11) as f64 - 5.0);
    let all = |threads: usize| {
        let run = Run { threads, ..Run::default() };
        let Moments { mean, rest, squares, .. } = summed(&s, None, &run, &GatherMoments::new()).unwrap();
        let sketch = GatherSketch(SketchView::new(&mean, &directions).with_rest(&rest));
        let image = summed(&s, None, &run, &sketch).unwrap();
        let products = products(&s, &FeatureView::new(n as f64, None, true, false), &run);
        (mean, squares, summed(&s, None, &run, &GatherScatter::new()).unwrap(), image, products)
    };
    let one = all(1);
    assert_eq!(one, all(2));
    assert_eq!(one, all(5));
}

#[test]
fn a_number_that_is_not_finite_is_found_where_it_is_stored() {
    let values = [1.0, f64::NEG_INFINITY, f64::NAN];
    let s = Sparse::from_csr(&[0, 1, 1, 3], &[2, 0, 3], &values, 5).unwrap();
    assert_eq!(s.first_not_finite().map(|(i, j, _)| (i, j)), Some((2, 0)));
    let run = Run::default();
    let range = |weights: Option<&[f64]>| summed(&s, weights, &run, &GatherRange::new()).unwrap();
    assert_eq!(range(None).not_finite.map(|(i, j, _)| (i, j)), Some((2, 0)));
    assert!(range(Some(&[1.0, 1.0, 0.0])).not_finite.is_none());
    assert!(!summed(&s, None, &run, &GatherScatter::new()).unwrap().finite());
    assert!(summed(&s, Some(&[1.0, 2.0, 0.0]), &run, &GatherMoments::new()).unwrap().squares[0] == 0.0);
}

#[test]
fn adding_a_shard_has_the_bits_of_merging_its_sum() {
    let (n, p) = (700, 40);
    let mut x = made(n, p, 0.2, 50.0);
    let weights = weighted(&mut x, p);
    let (starts, columns, values) = compressed::<f64>(&x, p);
    let s = Sparse::from_csr(&starts, &columns, &values, p).unwrap();
    let directions = Matrix::from_fn(3, p, |i, j| ((i * 31 + j * 17) % 11) as f64 - 5.0);
    fn merged<T: Real, G: Gather<T>>(s: &Sparse<'_, T>, weights: Option<&[f64]>, gather: &G) {
        let (run, n) = (Run { threads: 2, ..Run::default() }, s.n_rows());
        let part = |rows: std::ops::Range<usize>| {
            let mut part = gather.zero(s.n_features());
            add_rows(s, rows, weights, &run, gather, &mut part).unwrap();
            part
        };
        let mut want = part(0..n / 3);
        want.merge(part(n / 3..n));
        let mut found = part(0..n / 3);
        add_rows(s, n / 3..n, weights, &run, gather, &mut found).unwrap();
        assert!(to_bytes(&want) == to_bytes(&found), "{}", G::KIND);
        // Rows of weight 0 alone do not count as rows.
        if let Some(weights) = weights {
            let none = vec![0.0; weights.len()];
            add_rows(s, 0..n, Some(&none), &run, gather, &mut found).unwrap();
            assert!(to_bytes(&want) == to_bytes(&found) || G::KIND == "sketch", "{}", G::KIND);
        }
    }
    for weights in [None, Some(&weights[..])] {
        merged(&s, weights, &GatherMoments::new());
        merged(&s, weights, &GatherScatter::new());
        merged(&s, weights, &GatherRange::new());
        merged(&s, weights, &GatherSketch(SketchView::new(vec![0.5; p], &directions)));
        let total = weights.map_or(n as f64, |w| w.iter().sum());
        merged(&s.transposed(), None, &GatherGram(FeatureView::new(total, weights, true, true)));
    }
}

#[test]
fn shards_add_up_to_the_sums_of_the_dense_rows_by_row_and_by_column() {
    // Two shards and a bit; a column that is 0 in the first and 1e6 in the others, one full, one constant, one with nothing.
    let (n, p) = (270_000usize, 5);
    let (stream, mut x) = (Stream::new(8, 0), vec![0.0; 270_000 * 5]);
    for (i, row) in x.chunks_exact_mut(p).enumerate() {
        row[0] = if i < 140_000 { 0.0 } else { 1e6 };
        row[1] = 100.0 + stream.normal(i as u64);
        row[2] = if i % 7 == 0 { stream.normal((n + i) as u64) } else { 0.0 };
        row[3] = 0.1;
    }
    let (starts, columns, values) = compressed::<f64>(&x, p);
    let by_row = Sparse::from_csr(&starts, &columns, &values, p).unwrap();
    let transposed = by_row.transposed();
    let by_column = Sparse::from_csc(
        transposed.by_row.lines().starts(),
        transposed.by_row.lines().places(),
        transposed.by_row.lines().values().to_vec(),
        n,
    );
    let directions = Matrix::from_fn(2, p, |i, j| 1.0 / (1 + i + j) as f64);
    let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64 / 2.0).collect();
    for weights in [None, Some(&weights[..])] {
        let all = |rows: Rows<'_, f64>, threads: usize| {
            let run = Run { threads, ..Run::default() };
            let rows = if let Some(w) = weights { rows.weighted(w).unwrap() } else { rows };
            let moments = rows.sweep(&run, "moments", &GatherMoments::new()).unwrap();
            let sketch = GatherSketch(SketchView::new(&moments.mean, &directions).with_rest(&moments.rest));
            let image = rows.sweep(&run, "image", &sketch).unwrap();
            (rows.sweep(&run, "scatter", &GatherScatter::new()).unwrap(), moments, image)
        };
        let stored = |s: &Sparse<'_, f64>, threads: usize| {
            all(Rows::new(s.transposed().transposed(), Features::default(), "sparse"), threads)
        };
        let found = stored(&by_row, 1);
        for threads in [1, 2, 8] {
            assert!(stored(&by_row, threads) == found, "{threads} threads");
            assert!(stored(by_column.as_ref().unwrap(), threads) == found, "{threads} threads, by column");
        }
        let want = all(Rows::from_slice(&x, p).unwrap(), 2);
        assert!(found.0.n == want.0.n && found.0.mean[3] == 0.1 && found.0.lower[(3, 3)] == 0.0);
        let size: f64 = (0..p).map(|j| want.0.lower[(j, j)]).sum();
        for i in 0..p {
            let near = want.1.mean[i].abs() + (want.1.squares[i] / want.1.n).sqrt();
            assert!((found.1.mean[i] - want.1.mean[i]).abs() <= 1e-13 * near, "mean of column {i}");
            assert!((found.1.squares[i] - want.1.squares[i]).abs() <= 1e-12 * want.1.squares[i]);
            (0..2).for_each(|b| assert!((found.2.image[(b, i)] - want.2.image[(b, i)]).abs() < 1e-10 * size));
            for j in 0..=i {
                let unit = (want.0.lower[(i, i)] * want.0.lower[(j, j)]).sqrt();
                let off = (found.0.lower[(i, j)] - want.0.lower[(i, j)]).abs();
                assert!(off <= 1e-11 * unit, "({i}, {j}) is off by {off:e} of {unit:e}");
            }
        }
    }
}
