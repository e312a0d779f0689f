//! The loops over one block of rows, on the calling thread: what an accelerator would replace.
//!
//! A row's result never depends on how many rows are beside it.

mod means;

pub use means::{mean_of, means, merge_mean, two_parts};

use super::simd::CELL;
use super::{Real, widest};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Appends `row - about`, a number in two parts, in double precision.
pub fn push_centred<T: Real>(row: &[T], (near, rest): (f64, f64), out: &mut Vec<f64>) {
    let start = out.len();
    out.resize(start + row.len(), 0.0);
    let out = &mut out[start..];
    widest(
        #[inline(always)]
        || out.iter_mut().zip(row).for_each(|(o, x)| *o = x.to_f64() - near - rest),
    );
}

/// Numbers of a loop whose beginning and end do not count.
const LONG: usize = 256;

/// Writes `rows - mean` over `out`, each row times the root of its weight; rows of weight 0 are left out.
pub fn centre<T: Real>(rows: &[T], weights: Option<&[f64]>, mean: &[f64], out: &mut Vec<T>) {
    if weights.is_some() {
        return each_centred(rows, weights, (mean, None), out, T::from_f64);
    }
    let p = mean.len();
    // As often as whole vectors need to end with a row, and loops to be long; no more often than there are rows.
    let times = CELL >> p.trailing_zeros().min(CELL.trailing_zeros());
    let times = if p < LONG { LONG.div_ceil(p).next_multiple_of(times) } else { 1 };
    let parts = Parts::<T>::of(mean).repeated(times.min(rows.len() / p).max(1));
    // Not cleared first: what is there is written over.
    out.resize(rows.len(), T::default());
    widest(
        #[inline(always)]
        || parts.subtract(rows, out),
    );
}

/// A mean in the type of the rows, in two parts: no number has to become one of double precision and back.
struct Parts<T> {
    near: Vec<T>,
    rest: Vec<T>,
}

impl<T: Real> Parts<T> {
    fn of(mean: &[f64]) -> Self {
        let (near, rest) = mean.iter().map(|&m| T::parts(m)).unzip();
        Self { near, rest }
    }

    /// Of a mean that has two parts already.
    fn of_both(mean: &[f64], rest: &[f64]) -> Self {
        let part = |(&m, &r): (&f64, &f64)| {
            let near = T::from_f64(m);
            (near, T::from_f64((m - near.to_f64()) + r))
        };
        let (near, rest) = mean.iter().zip(rest).map(part).unzip();
        Self { near, rest }
    }

    fn repeated(self, times: usize) -> Self {
        Self { near: self.near.repeat(times), rest: self.rest.repeat(times) }
    }

    /// `out = row - mean`, for as many rows at a time as there are means.
    #[inline(always)]
    fn subtract(&self, rows: &[T], out: &mut [T]) {
        let width = self.near.len();
        for (rows, out) in rows.chunks(width).zip(out.chunks_mut(width)) {
            for (((o, x), near), rest) in out.iter_mut().zip(rows).zip(&self.near).zip(&self.rest) {
                *o = less(*x, *near, *rest);
            }
        }
    }
}

/// `x` less a mean in two parts.
#[inline(always)]
fn less<T: Real>(x: T, near: T, rest: T) -> T {
    match T::DTYPE {
        super::Dtype::F32 => x - near - rest,
        // Nothing is left.
        super::Dtype::F64 => x - near,
    }
}

/// [`centre`] in double precision, whatever the type of the rows, about a mean in two parts where `rest` is given.
pub fn centre_wide<T: Real>(
    rows: &[T],
    weights: Option<&[f64]>,
    mean: &[f64],
    rest: Option<&[f64]>,
    out: &mut Vec<f64>,
) {
    each_centred(rows, weights, (mean, rest), out, |x| x)
}

fn each_centred<T: Real, U: Real>(
    rows: &[T],
    weights: Option<&[f64]>,
    (mean, rest): (&[f64], Option<&[f64]>),
    out: &mut Vec<U>,
    as_u: impl Fn(f64) -> U,
) {
    let p = mean.len();
    let nothing = if rest.is_none() { vec![0.0; p] } else { Vec::new() };
    let rest = rest.unwrap_or(&nothing);
    let kept = weights.map_or(rows.len() / p, |w| w.iter().filter(|w| **w > 0.0).count());
    // Not cleared first: what is there is written over.
    out.resize(kept * p, U::default());
    widest(
        #[inline(always)]
        || match weights {
            None => {
                for (row, out) in rows.chunks_exact(p).zip(out.chunks_exact_mut(p)) {
                    for (((o, x), m), r) in out.iter_mut().zip(row).zip(mean).zip(rest) {
                        *o = as_u(x.to_f64() - m - r);
                    }
                }
            }
            Some(weights) => {
                let weighed = rows.chunks_exact(p).zip(weights).filter(|(_, w)| **w > 0.0);
                for ((row, w), out) in weighed.zip(out.chunks_exact_mut(p)) {
                    let root = w.sqrt();
                    for (((o, x), m), r) in out.iter_mut().zip(row).zip(mean).zip(rest) {
                        *o = as_u((x.to_f64() - m - r) * root);
                    }
                }
            }
        },
    )
}

/// Rows as a symmetric product reads them: in panels of as many columns as a vector has numbers, one panel after the other.
///
/// Writes `rows - (mean + rest)`, each row times the root of its weight (rows of weight 0 are left out), and `last` as one row more.
/// Returns how many rows that are.
pub fn pack_centred<T: Real>(
    rows: &[T],
    weights: Option<&[f64]>,
    (mean, rest): (&[f64], &[f64]),
    last: Option<&[f64]>,
    out: &mut Vec<T>,
) -> usize {
    let p = mean.len();
    let kept = weights.map_or(rows.len() / p, |w| w.iter().filter(|w| **w > 0.0).count());
    let n = kept + usize::from(last.is_some());
    let lanes = T::lanes();
    // Not cleared first: what is there is written over.
    out.resize(p.div_ceil(lanes) * n * lanes, T::default());
    let parts = Parts::<T>::of_both(mean, rest);
    for (at, panel) in (0..p).step_by(lanes).zip(out.chunks_exact_mut((n * lanes).max(1))) {
        let columns = at..p.min(at + lanes);
        let (centred, end) = panel.split_at_mut(kept * lanes);
        widest(
            #[inline(always)]
            || match lanes {
                16 => centre_panel::<T, 16>(rows, weights, &parts, (mean, rest), at, centred),
                8 => centre_panel::<T, 8>(rows, weights, &parts, (mean, rest), at, centred),
                _ => centre_panel::<T, 4>(rows, weights, &parts, (mean, rest), at, centred),
            },
        );
        if let Some(last) = last {
            end.fill(T::default());
            end.iter_mut().zip(&last[columns]).for_each(|(o, x)| *o = T::from_f64(*x));
        }
    }
    n
}

#[inline(always)]
fn centre_panel<T: Real, const LANES: usize>(
    rows: &[T],
    weights: Option<&[f64]>,
    parts: &Parts<T>,
    (mean, rest): (&[f64], &[f64]),
    at: usize,
    out: &mut [T],
) {
    let (p, (panel, _)) = (mean.len(), out.as_chunks_mut::<LANES>());
    let Some(weights) = weights else { return centre_whole_panel(rows, p, parts, at, panel) };
    let weighed = rows.chunks_exact(p).zip(weights).filter(|(_, w)| **w > 0.0);
    for ((row, w), out) in weighed.zip(panel) {
        let root = w.sqrt();
        *out = [T::default(); LANES];
        for (((o, x), m), r) in out.iter_mut().zip(&row[at..]).zip(&mean[at..]).zip(&rest[at..]) {
            *o = T::from_f64((x.to_f64() - m - r) * root);
        }
    }
}

/// Whole vectors, of numbers one after the other: what fills up the last panel is whatever is in the next row.
#[inline(always)]
fn centre_whole_panel<T: Real, const LANES: usize>(
    rows: &[T],
    p: usize,
    parts: &Parts<T>,
    at: usize,
    panel: &mut [[T; LANES]],
) {
    let (mut near, mut rest) = ([T::default(); LANES], [T::default(); LANES]);
    let width = LANES.min(p - at);
    near[..width].copy_from_slice(&parts.near[at..at + width]);
    rest[..width].copy_from_slice(&parts.rest[at..at + width]);
    let centred = |x: [T; LANES]| -> [T; LANES] { std::array::from_fn(|l| x[l] - near[l] - rest[l]) };
    for (i, out) in panel.iter_mut().enumerate() {
        let row = &rows[i * p + at..];
        *out = match row.first_chunk::<LANES>() {
            Some(x) => centred(*x),
            None => centred(std::array::from_fn(|l| row.get(l).copied().unwrap_or_default())),
        };
    }
}

/// Writes row `i` of `n` into what [`pack_centred`] describes; `out` has room for them all, and zeros where there is no column.
pub fn pack_row<T: Real>(row: &[f64], i: usize, n: usize, out: &mut [T]) {
    let lanes = T::lanes();
    for (columns, panel) in row.chunks(lanes).zip(out.chunks_exact_mut(n * lanes)) {
        let out = &mut panel[i * lanes..];
        out.iter_mut().zip(columns).for_each(|(o, x)| *o = T::from_f64(*x));
    }
}

/// From this width on, a symmetric product is shared out among threads: there is enough of it, and there are few shards.
const SHARED: usize = 512;

/// Rows of the table that one thread does at a time: their part of the rows stays in its second cache.
const PART: usize = 96;

/// `total += rows' rows` in the lower triangle, for `n` rows of `p` numbers, packed. What stands above the diagonal means nothing.
///
/// The product of the block is formed in `T`, the total in `f64`. On one of our pools, wide products are shared out among its
/// threads: every entry is still formed by one of them, in one order.
pub fn add_gram<T: Real>(total: &mut [f64], packed: &[T], n: usize, p: usize) {
    if p >= SHARED && rayon::current_thread_index().is_some() {
        use rayon::prelude::*;
        let parts = total.par_chunks_mut(PART * p).with_max_len(1).enumerate();
        parts.for_each(|(i, part)| T::add_gram(part, i * PART, packed, n, p));
    } else {
        T::add_gram(total, 0, packed, n, p);
    }
}

/// `out = a b`, all row-major: `a` is `n x p`, `b` is `p x k`.
pub fn product<T: Real>(out: &mut [T], a: &[T], b: &[T], n: usize, p: usize, k: usize) {
    T::multiply_rows(out, a, [p, 1], b, n, p, k);
}

/// `total += a' b`, all row-major: `a` is `n x k`, `b` is `n x p`, `total` is `k x p`. The product of the block is formed in
/// `T`, the total in `f64`.
pub fn add_cross<T: Real>(total: &mut [f64], a: &[T], b: &[T], n: usize, k: usize, p: usize) {
    /// Fewer rows of the total than this leave most of a tile idle: the library's product is up to five times faster.
    const FEW: usize = 8;
    if k >= FEW {
        return T::add_cross_rows(total, a, b, n, k, p);
    }
    let mut part = vec![T::default(); k * p];
    matmul(
        MatMut::from_row_major_slice_mut(&mut part, k, p),
        Accum::Replace,
        MatRef::from_row_major_slice(a, n, k).transpose(),
        MatRef::from_row_major_slice(b, n, p),
        T::from_f64(1.0),
        Par::Seq,
    );
    total.iter_mut().zip(part).for_each(|(s, x)| *s += x.to_f64());
}

/// [`add_cross`] by the library's product, which is faster where both tables are wide; `scratch` is used for the product of the block.
pub(crate) fn add_cross_wide<T: Real>(
    total: &mut [f64],
    a: &[T],
    b: &[T],
    [n, k, p]: [usize; 3],
    scratch: &mut Vec<T>,
) {
    scratch.resize(k * p, T::default());
    matmul(
        MatMut::from_row_major_slice_mut(scratch, k, p),
        Accum::Replace,
        MatRef::from_row_major_slice(a, n, k).transpose(),
        MatRef::from_row_major_slice(b, n, p),
        T::from_f64(1.0),
        Par::Seq,
    );
    widest(
        #[inline(always)]
        || total.iter_mut().zip(&*scratch).for_each(|(t, s)| *t += s.to_f64()),
    );
}

/// `out += a b`: `a` is `n x p`, `b` is `p x k`, row-major.
pub(crate) fn add_product<T: Real>(out: &mut [T], a: &[T], b: &[T], n: usize, p: usize, k: usize) {
    let (a, b) = (MatRef::from_row_major_slice(a, n, p), MatRef::from_row_major_slice(b, p, k));
    let out = MatMut::from_row_major_slice_mut(out, n, k);
    matmul(out, Accum::Add, a, b, T::from_f64(1.0), Par::Seq);
}

/// `out = a' b`: `a` is `n x p`, `b` is `n x k`, `out` is `p x k`, row-major.
pub(crate) fn multiply_left_transposed<T: Real>(
    out: &mut [T],
    a: &[T],
    b: &[T],
    n: usize,
    p: usize,
    k: usize,
) {
    T::multiply_rows(out, a, [1, p], b, p, n, k);
}

/// `out = a b'`, all row-major: `a` is `k x p`, `b` is `n x p`.
pub fn product_by_rows<T: Real>(out: &mut [T], a: &[T], b: &[T], k: usize, n: usize, p: usize) {
    matmul(
        MatMut::from_row_major_slice_mut(out, k, n),
        Accum::Replace,
        MatRef::from_row_major_slice(a, k, p),
        MatRef::from_row_major_slice(b, n, p).transpose(),
        T::from_f64(1.0),
        Par::Seq,
    );
}

/// `out = a b`, all row-major, for `[k, n, p]`: `a` is `k x n`, `b` is `n x p`. `a` has few rows that are not samples.
pub fn product_of_few<T: Real>(out: &mut [T], a: &[T], b: &[T], size: [usize; 3]) {
    let [k, n, p] = size;
    matmul(
        MatMut::from_row_major_slice_mut(out, k, p),
        Accum::Replace,
        MatRef::from_row_major_slice(a, k, n),
        MatRef::from_row_major_slice(b, n, p),
        T::from_f64(1.0),
        Par::Seq,
    );
}

/// `total += a b'`, all row-major: `a` is `k x n`, `b` is `m x n`, for `[k, m, n]`.
///
/// The product is formed in `T`, the total in `f64`; `scratch`, of `k m` numbers, is only used when they differ.
pub fn add_product_by_rows<T: Real>(
    total: &mut [f64],
    a: &[T],
    b: &[T],
    size: [usize; 3],
    scratch: &mut [T],
) {
    let [k, m, n] = size;
    if let (Some(a), Some(b)) = (T::as_f64s(a), T::as_f64s(b)) {
        let (a, b) = (MatRef::from_row_major_slice(a, k, n), MatRef::from_row_major_slice(b, m, n));
        let out = MatMut::from_row_major_slice_mut(total, k, m);
        return matmul(out, Accum::Add, a, b.transpose(), 1.0, Par::Seq);
    }
    product_by_rows(scratch, a, b, k, m, n);
    widest(
        #[inline(always)]
        || total.iter_mut().zip(&*scratch).for_each(|(t, s)| *t += s.to_f64()),
    );
}

/// Sum of squares.
pub fn sum_of_squares<T: Real>(values: &[T]) -> f64 {
    values.iter().map(|x| x.to_f64() * x.to_f64()).sum()
}

#[cfg(test)]
mod tests;
