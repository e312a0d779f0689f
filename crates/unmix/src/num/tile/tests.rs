//! Tests of `tile`.

use super::*;
use crate::num::random::Stream;

/// Rows in panels of `lanes` columns, filled up with zeros.
fn panels(x: &[f64], n: usize, p: usize, lanes: usize) -> Vec<f64> {
    let mut out = vec![0.0; p.div_ceil(lanes) * n * lanes];
    for (r, row) in x.chunks_exact(p).enumerate() {
        for (j, x) in row.iter().enumerate() {
            out[j / lanes * n * lanes + r * lanes + j % lanes] = *x;
        }
    }
    out
}

/// Where entry `i`, `j` of `n x k` lies in panels of which the last may be half as wide.
fn place(i: usize, j: usize, [n, k]: [usize; 2], lanes: usize) -> usize {
    let first = j - j % lanes;
    let width = if k - first < lanes { lanes / 2 } else { lanes };
    first * n + i * width + j % lanes
}

fn halved(x: &[f64], n: usize, k: usize, lanes: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * k];
    (0..n * k).for_each(|at| out[place(at / k, at % k, [n, k], lanes)] = x[at]);
    out
}

type Gram<T> = fn(&mut [f64], usize, &[T], usize, usize);
type Multiply<T> = fn(&mut [T], &[T], &[T], usize, usize, usize);
type Rows<T> = fn(&mut [T], &[T], [usize; 2], &[T], usize, usize, usize);
type CrossRows<T> = fn(&mut [f64], &[T], &[T], usize, usize, usize);
type Cross<T> = fn(&mut [f64], &[T], &[T], usize, usize, usize);

/// The products for one kind of vector, against sums written out. Whole numbers of a few digits: nothing is rounded.
fn are_sums<T: Copy + From<i8> + Into<f64>>(
    lanes: usize,
    gram: Gram<T>,
    multiply: Multiply<T>,
    rows: Rows<T>,
    cross_rows: CrossRows<T>,
    cross: Cross<T>,
) {
    let s = Stream::new(8, lanes as u64);
    let number = |i: usize| (s.uniform(i as u64) * 15.0) as i8 - 7;
    let narrow = |x: &[f64]| x.iter().map(|&x| T::from(x as i8)).collect::<Vec<T>>();
    for (n, p, k) in [
        (1, 1, 1),
        (1, 4, 5),
        (3, 5, 2),
        (8, 16, 3),
        (6, 2, 4),
        (19, 100, 5),
        (33, 203, 7),
        (257, 47, 9),
        (40, 9, 12),
        (21, 4, 13),
    ] {
        let k = k * lanes / 2;
        let x: Vec<f64> = (0..n * p).map(|i| f64::from(number(i))).collect();
        let packed = narrow(&panels(&x, n, p, lanes));
        let product = |i: usize, j: usize| (0..n).map(|r| x[r * p + i] * x[r * p + j]).sum::<f64>();
        // The whole table, and its rows from 96 on by themselves.
        for first in [0, 96].into_iter().filter(|&f| f < p) {
            let mut part = vec![1.0; (p - first) * p];
            gram(&mut part, first, &packed, n, p);
            for i in first..p {
                for j in 0..=i {
                    let got = part[(i - first) * p + j];
                    assert!(got == 1.0 + product(i, j), "{lanes} lanes, {n} x {p}: entry {i}, {j} is {got}");
                }
            }
        }
        let b: Vec<f64> = (0..p * k).map(|i| f64::from(number(7 * i + 1))).collect();
        let mut out = vec![T::from(9); n * k];
        multiply(&mut out, &narrow(&x), &narrow(&halved(&b, p, k, lanes)), n, p, k);
        let sources: Vec<f64> = out.iter().map(|&x| x.into()).collect();
        let at = |i: usize, j: usize| place(i, j, [n, k], lanes);
        for i in 0..n {
            for j in 0..k {
                let want: f64 = (0..p).map(|q| x[i * p + q] * b[q * k + j]).sum();
                assert!(sources[at(i, j)] == want, "{lanes} lanes, {n} x {p} x {k}: entry {i}, {j}");
            }
        }
        // The same row-major, and of the transposed rows with themselves.
        let flat = narrow(&b);
        let mut by_rows = vec![T::from(9); n * k];
        rows(&mut by_rows, &narrow(&x), [p, 1], &flat, n, p, k);
        for i in 0..n {
            for j in 0..k {
                let got: f64 = by_rows[i * k + j].into();
                assert!(got == sources[at(i, j)], "{lanes} lanes, {n} x {p} x {k}, by rows: entry {i}, {j}");
            }
        }
        let right: Vec<f64> = (0..n * k).map(|i| f64::from(number(11 * i + 3))).collect();
        let mut out = vec![T::from(9); p * k];
        rows(&mut out, &narrow(&x), [1, p], &narrow(&right), p, n, k);
        for i in 0..p {
            for j in 0..k {
                let want: f64 = (0..n).map(|r| x[r * p + i] * right[r * k + j]).sum();
                assert!(
                    out[i * k + j].into() == want,
                    "{lanes} lanes, {n} x {p} x {k}, transposed: entry {i}, {j}"
                );
            }
        }
        // Any number of rows and columns, row-major; what lies beyond stays.
        for (m, width) in [(p, 1), (p, lanes + 1), (p.min(7), 4 * lanes - 1), (p, 3 * lanes)] {
            let left: Vec<f64> = (0..n * m).map(|i| f64::from(number(13 * i + 5))).collect();
            let right: Vec<f64> = (0..n * width).map(|i| f64::from(number(17 * i + 2))).collect();
            let mut out = vec![T::from(9); m * width + 1];
            rows(&mut out, &narrow(&left), [1, m], &narrow(&right), m, n, width);
            let mut total = vec![1.0; m * width + 1];
            cross_rows(&mut total, &narrow(&left), &narrow(&right), n, m, width);
            for i in 0..m {
                for j in 0..width {
                    let want: f64 = (0..n).map(|r| left[r * m + i] * right[r * width + j]).sum();
                    let got = (out[i * width + j].into(), total[i * width + j]);
                    assert!(
                        got == (want, want + 1.0),
                        "{lanes} lanes, {m} x {n} x {width}: entry {i}, {j}: {got:?}"
                    );
                }
            }
            assert_eq!((out[m * width].into(), total[m * width]), (9.0, 1.0));
        }
        // Of no terms every sum is 0, and nothing is added.
        let mut out = vec![T::from(9); p * k];
        rows(&mut out, &[], [p, 1], &[], p, 0, k);
        let mut total = vec![1.0; p * k];
        cross_rows(&mut total, &[], &[], 0, p, k);
        assert!(out.iter().all(|&x| x.into() == 0.0) && total.iter().all(|&x| x == 1.0));
        let scores: Vec<f64> = (0..n * k).map(|i| f64::from(number(3 * i + 2))).collect();
        let few: Vec<f64> = (0..n * k).map(|i| f64::from(number(5 * i))).collect();
        let in_panels = |x: &[f64]| narrow(&halved(x, n, k, lanes));
        for used in [k, k - 1, k + 1 - lanes / 2] {
            let mut total = vec![1.0; k * k];
            cross(&mut total, &in_panels(&scores), &in_panels(&few), n, k, used);
            for i in 0..used {
                for j in 0..used {
                    let want: f64 = 1.0 + (0..n).map(|r| scores[r * k + i] * few[r * k + j]).sum::<f64>();
                    assert!(total[i * k + j] == want, "{lanes} lanes, {n} x {k}: entry {i}, {j}");
                }
            }
        }
    }
}

#[test]
fn every_kind_of_vector_forms_the_same_sums() {
    are_sums::<f64>(
        4,
        plain_f64::add_gram,
        plain_f64::multiply,
        plain_f64::multiply_rows,
        plain_f64::add_cross_rows,
        plain_f64::add_cross,
    );
    are_sums::<f32>(
        4,
        plain_f32::add_gram,
        plain_f32::multiply,
        plain_f32::multiply_rows,
        plain_f32::add_cross_rows,
        plain_f32::add_cross,
    );
    let best = (f64::lanes(), f32::lanes());
    are_sums::<f64>(
        best.0,
        f64::add_gram,
        f64::multiply,
        f64::multiply_rows,
        f64::add_cross_rows,
        f64::add_cross,
    );
    are_sums::<f32>(
        best.1,
        f32::add_gram,
        f32::multiply,
        f32::multiply_rows,
        f32::add_cross_rows,
        f32::add_cross,
    );
    #[cfg(target_arch = "x86_64")]
    if best.0 > 4 || best.1 == 8 {
        // SAFETY: a processor with wider vectors has these, too.
        are_sums::<f64>(
            4,
            |part, first, x, n, p| unsafe { x86::avx2_f64::add_gram(part, first, x, n, p) },
            // SAFETY: such a processor has these instructions, too.
            |out, a, b, n, p, k| unsafe { x86::avx2_f64::multiply(out, a, b, n, p, k) },
            // SAFETY: such a processor has these instructions, too.
            |out, a, step, b, m, n, k| unsafe { x86::avx2_f64::multiply_rows(out, a, step, b, m, n, k) },
            // SAFETY: such a processor has these instructions, too.
            |total, a, b, n, k, p| unsafe { x86::avx2_f64::add_cross_rows(total, a, b, n, k, p) },
            // SAFETY: such a processor has these instructions, too.
            |total, a, b, n, k, used| unsafe { x86::avx2_f64::add_cross(total, a, b, n, k, used) },
        );
        are_sums::<f32>(
            8,
            // SAFETY: such a processor has these instructions, too.
            |part, first, x, n, p| unsafe { x86::avx2_f32::add_gram(part, first, x, n, p) },
            // SAFETY: such a processor has these instructions, too.
            |out, a, b, n, p, k| unsafe { x86::avx2_f32::multiply(out, a, b, n, p, k) },
            // SAFETY: such a processor has these instructions, too.
            |out, a, step, b, m, n, k| unsafe { x86::avx2_f32::multiply_rows(out, a, step, b, m, n, k) },
            // SAFETY: such a processor has these instructions, too.
            |total, a, b, n, k, p| unsafe { x86::avx2_f32::add_cross_rows(total, a, b, n, k, p) },
            // SAFETY: such a processor has these instructions, too.
            |total, a, b, n, k, used| unsafe { x86::avx2_f32::add_cross(total, a, b, n, k, used) },
        );
    }
}

type Packed<T> = fn(&mut [T], &[Terms<'_, T>], usize, usize);
type ToPanels<T> = fn(&mut [T], Option<T>, &[Terms<'_, T>], usize, usize);

/// The product of packed matrices for one kind of vector: of two pairs of factors, the first transposed, and of no terms.
fn are_packed_sums<T: Copy + From<i8> + Into<f64>>(lanes: usize, product: Packed<T>, to_panels: ToPanels<T>) {
    let s = Stream::new(9, lanes as u64);
    let number = |i: usize| f64::from((s.uniform(i as u64) * 15.0) as i8 - 7);
    let narrow = |x: &[f64]| x.iter().map(|&x| T::from(x as i8)).collect::<Vec<T>>();
    for (n, more, m, k) in [
        (1, 1, 1, 1),
        (3, 2, 5, lanes + 1),
        (7, 1, 8, 3 * lanes),
        (5, 9, 17, 4 * lanes - 1),
        (2, 3, 18, 2 * lanes),
        (20, 11, 31, 5 * lanes + 2),
    ] {
        let (a, b): (Vec<f64>, Vec<f64>) =
            ((0..n * m).map(number).collect(), (0..n * k).map(|i| number(3 * i + 1)).collect());
        let (c, d): (Vec<f64>, Vec<f64>) = (
            (0..more * m).map(|i| number(5 * i + 2)).collect(),
            (0..more * k).map(|i| number(7 * i + 3)).collect(),
        );
        let (first, second) = (narrow(&a), narrow(&c));
        let (of_first, of_second) = (narrow(&panels(&b, n, k, lanes)), narrow(&panels(&d, more, k, lanes)));
        let terms = [
            Terms { a: &first, step: [1, m], b: &of_first, count: n },
            Terms { a: &second, step: [more, 1], b: &of_second, count: more },
        ];
        let mut out = vec![T::from(9); m * k + 1];
        product(&mut out, &terms, m, k);
        for i in 0..m {
            for j in 0..k {
                let want: f64 = (0..n).map(|r| a[r * m + i] * b[r * k + j]).sum::<f64>()
                    + (0..more).map(|r| c[i * more + r] * d[r * k + j]).sum::<f64>();
                let got: f64 = out[i * k + j].into();
                assert!(got == want, "{lanes} lanes, {m} x {k}: entry {i}, {j} is {got}, not {want}");
            }
        }
        assert_eq!(out[m * k].into(), 9.0);
        // The same numbers in panels; then three times these are subtracted.
        let mut packed = vec![T::from(9); m * k.next_multiple_of(lanes) + 1];
        for (rate, left) in [(None, 1.0), (Some(T::from(3)), -2.0)] {
            to_panels(&mut packed, rate, &terms, m, k);
            for (i, j) in (0..m).flat_map(|i| (0..k).map(move |j| (i, j))) {
                let (got, want): (f64, f64) =
                    (packed[(j / lanes * m + i) * lanes + j % lanes].into(), out[i * k + j].into());
                assert_eq!(got, left * want, "{lanes} lanes, {m} x {k}: entry {i}, {j} in panels");
            }
            assert_eq!(packed[packed.len() - 1].into(), 9.0);
        }
        product(&mut out, &[], m, k);
        assert!(out[..m * k].iter().all(|&x| x.into() == 0.0));
    }
}

#[test]
fn every_kind_of_vector_forms_the_same_sums_of_packed_matrices() {
    are_packed_sums::<f64>(4, plain_f64::multiply_packed, plain_f64::multiply_to_panels);
    are_packed_sums::<f32>(4, plain_f32::multiply_packed, plain_f32::multiply_to_panels);
    are_packed_sums::<f64>(f64::lanes(), f64::multiply_packed, f64::multiply_to_panels);
    are_packed_sums::<f32>(f32::lanes(), f32::multiply_packed, f32::multiply_to_panels);
    #[cfg(target_arch = "x86_64")]
    if f32::lanes() >= 8 {
        are_packed_sums::<f64>(
            4,
            // SAFETY: a processor with wider vectors has these, too.
            |out, terms, m, k| unsafe { x86::avx2_f64::multiply_packed(out, terms, m, k) },
            // SAFETY: such a processor has these instructions, too.
            |out, rate, terms, m, k| unsafe { x86::avx2_f64::multiply_to_panels(out, rate, terms, m, k) },
        );
        are_packed_sums::<f32>(
            8,
            // SAFETY: such a processor has these instructions, too.
            |out, terms, m, k| unsafe { x86::avx2_f32::multiply_packed(out, terms, m, k) },
            // SAFETY: such a processor has these instructions, too.
            |out, rate, terms, m, k| unsafe { x86::avx2_f32::multiply_to_panels(out, rate, terms, m, k) },
        );
    }
}
