//! The loops over one block of rows, on the calling thread: the part that an accelerator would replace.
//!
//! The result for a row does not depend on the other rows of its block.

mod means;

pub(crate) use means::{mean_of, means, merge_mean, two_parts};

use super::parallel;
use super::simd::SIMD_WIDTH;
use super::{Real, as_type, widest};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Appends `row - about` in double precision; `about` is the sum of two numbers.
pub(crate) fn push_centred<T: Real>(row: &[T], (near, rest): (f64, f64), out: &mut Vec<f64>) {
    let start = out.len();
    out.resize(start + row.len(), 0.0);
    let out = &mut out[start..];
    widest(
        #[inline(always)]
        || out.iter_mut().zip(row).for_each(|(o, x)| *o = x.to_f64() - near - rest),
    );
}

/// Minimum length of an inner loop, above which its start and end cost little.
const LEAST_INNER_LENGTH: usize = 256;

/// Writes `rows - mean` into `out`, each row times the square root of its weight; rows of weight 0 are left out.
pub(crate) fn centre<T: Real>(rows: &[T], weights: Option<&[f64]>, mean: &[f64], out: &mut Vec<T>) {
    if weights.is_some() {
        return each_centred(rows, weights, (mean, None), out, T::from_f64);
    }
    let p = mean.len();
    // Number of copies of the mean for which whole vectors end at a row boundary and the loop is long enough; at most the number of
    // rows.
    let times = SIMD_WIDTH >> p.trailing_zeros().min(SIMD_WIDTH.trailing_zeros());
    let times =
        if p < LEAST_INNER_LENGTH { LEAST_INNER_LENGTH.div_ceil(p).next_multiple_of(times) } else { 1 };
    let parts = SplitMean::<T>::of(mean).repeated(times.min(rows.len() / p).max(1));
    // Not cleared first: all of it is overwritten.
    out.resize(rows.len(), T::default());
    widest(
        #[inline(always)]
        || parts.subtract(rows, out),
    );
}

/// A mean in the type of the rows, as the sum of two numbers, so that no conversion to double precision is needed.
struct SplitMean<T> {
    near: Vec<T>,
    rest: Vec<T>,
}

impl<T: Real> SplitMean<T> {
    fn of(mean: &[f64]) -> Self {
        let (near, rest) = mean.iter().map(|&m| T::parts(m)).unzip();
        Self { near, rest }
    }

    /// From a mean that is the sum of two numbers already.
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

    /// `out = row - mean`, for as many rows at a time as there are copies of the mean.
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

/// `x` minus a mean that is the sum of two numbers.
#[inline(always)]
fn less<T: Real>(x: T, near: T, rest: T) -> T {
    match T::DTYPE {
        super::Dtype::F32 => x - near - rest,
        // The second part is 0.
        super::Dtype::F64 => x - near,
    }
}

/// [`centre`] in double precision, whatever the type of the rows; the mean is the sum of two numbers if `rest` is given.
pub(crate) fn centre_wide<T: Real>(
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
    // Not cleared first: all of it is overwritten.
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

/// Packs rows for a symmetric product: in consecutive panels of as many columns as a vector has lanes.
///
/// Writes `rows - (mean + rest)`, each row times the square root of its weight (rows of weight 0 are left out), and `last` as an
/// additional row. Returns the packed rows, a part of `out`, and their number.
pub(crate) fn pack_centred<'o, T: Real>(
    rows: &[T],
    weights: Option<&[f64]>,
    (mean, rest): (&[f64], &[f64]),
    last: Option<&[f64]>,
    out: &'o mut Vec<T>,
) -> (&'o [T], usize) {
    let p = mean.len();
    let kept = weights.map_or(rows.len() / p, |w| w.iter().filter(|w| **w > 0.0).count());
    let n = kept + usize::from(last.is_some());
    let lanes = T::lanes();
    let one = p.div_ceil(lanes) * lanes;
    // Not cleared: all of it is overwritten. Later blocks have an additional row.
    let out = from_cache_line(out, n * one, (kept + 1) * one);
    let parts = SplitMean::<T>::of_both(mean, rest);
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
    (out, n)
}

/// `n` numbers of a buffer from the beginning of a cache line, so that no vector of them lies in two lines; the buffer grows to have room for
/// `most`, if it has less, with undefined contents.
fn from_cache_line<T: Real>(buffer: &mut Vec<T>, n: usize, most: usize) -> &mut [T] {
    const LINE: usize = 64;
    let before = LINE / size_of::<T>();
    if buffer.len() < most.max(n) + before {
        buffer.resize(most.max(n) + before, T::default());
    }
    let first = buffer.as_ptr().align_offset(LINE).min(before);
    &mut buffer[first..first + n]
}

#[inline(always)]
fn centre_panel<T: Real, const LANES: usize>(
    rows: &[T],
    weights: Option<&[f64]>,
    parts: &SplitMean<T>,
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

/// Loads whole vectors of consecutive numbers: the padding of the last panel holds numbers of the next row.
#[inline(always)]
fn centre_whole_panel<T: Real, const LANES: usize>(
    rows: &[T],
    p: usize,
    parts: &SplitMean<T>,
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

/// Writes row `i` of `n` in the layout of [`pack_centred`]; `out` has space for all rows, and zeros in the padding columns.
pub(crate) fn pack_row<T: Real>(row: &[f64], i: usize, n: usize, out: &mut [T]) {
    let lanes = T::lanes();
    for (columns, panel) in row.chunks(lanes).zip(out.chunks_exact_mut(n * lanes)) {
        let out = &mut panel[i * lanes..];
        out.iter_mut().zip(columns).for_each(|(o, x)| *o = T::from_f64(*x));
    }
}

/// Minimum width from which a symmetric product is divided among threads: there is enough work, and there are few shards.
const LEAST_SHARED_WIDTH: usize = 512;

/// Number of rows of the product that one thread computes at a time: the columns of the packed rows that they need fit in the
/// second-level cache.
const ROWS_PER_TASK: usize = 96;

/// Whether a symmetric product of this width is divided among threads.
pub(crate) fn shares_gram(p: usize) -> bool {
    p >= LEAST_SHARED_WIDTH
}

/// `total += rows' rows` in the lower triangle, for `n` rows of `p` numbers, packed. Entries above the diagonal are undefined.
///
/// The product of the block is computed in `T`, the total in `f64`. In a thread pool of this crate, wide products are divided among
/// its threads: every entry is still computed by one of them, in a fixed order.
pub(crate) fn add_gram<T: Real>(total: &mut [f64], packed: &[T], n: usize, p: usize) {
    if shares_gram(p) {
        // The last parts of the triangle are the longest.
        let parts = total.chunks_mut(ROWS_PER_TASK * p).enumerate().rev();
        parallel::each(parts, |(i, part)| T::add_gram(part, i * ROWS_PER_TASK, packed, n, p));
    } else {
        T::add_gram(total, 0, packed, n, p);
    }
}

/// `out = a b`, all row-major: `a` is `n x p`, `b` is `p x k`.
pub(crate) fn product<T: Real>(out: &mut [T], a: &[T], b: &[T], n: usize, p: usize, k: usize) {
    T::multiply_rows(out, a, [p, 1], b, n, p, k);
}

/// `total += a' b`, all row-major: `a` is `n x k`, `b` is `n x p`, `total` is `k x p`. The product of the block is computed in `T`,
/// the total in `f64`.
pub(crate) fn add_cross<T: Real>(total: &mut [f64], a: &[T], b: &[T], n: usize, k: usize, p: usize) {
    /// With fewer rows of the total than this, most of a tile is unused: the library's product is faster.
    const FEW_ROWS: usize = 8;
    if k >= FEW_ROWS {
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

/// [`add_cross`] by the library's product, which is faster if both matrices are wide; `scratch` holds the product of the block. In a thread
/// pool of this crate it is divided into parts, which free threads compute.
pub(crate) fn add_cross_wide<T: Real>(
    total: &mut [f64],
    a: &[T],
    b: &[T],
    [n, k, p]: [usize; 3],
    scratch: &mut Vec<T>,
) {
    /// Rows of the total in a part: enough that packing `b` for each costs little.
    const ROWS_PER_PART: usize = 512;
    scratch.resize(k * p, T::default());
    let (a, b) = (MatRef::from_row_major_slice(a, n, k), MatRef::from_row_major_slice(b, n, p));
    // Parts of about the same size.
    let rows = k.div_ceil(k.div_ceil(ROWS_PER_PART).max(1)).max(1);
    let parts = total.chunks_mut(rows * p).zip(scratch.chunks_mut(rows * p)).enumerate();
    parallel::each(parts, |(i, (total, scratch))| {
        let some = scratch.len() / p;
        let out = MatMut::from_row_major_slice_mut(scratch, some, p);
        let a = a.subcols(i * rows, some).transpose();
        matmul(out, Accum::Replace, a, b, T::from_f64(1.0), Par::Seq);
        widest(
            #[inline(always)]
            || total.iter_mut().zip(&*scratch).for_each(|(t, s)| *t += s.to_f64()),
        );
    });
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
pub(crate) fn product_by_rows<T: Real>(out: &mut [T], a: &[T], b: &[T], k: usize, n: usize, p: usize) {
    matmul(
        MatMut::from_row_major_slice_mut(out, k, n),
        Accum::Replace,
        MatRef::from_row_major_slice(a, k, p),
        MatRef::from_row_major_slice(b, n, p).transpose(),
        T::from_f64(1.0),
        Par::Seq,
    );
}

/// `out = a b`, all row-major, for `[k, n, p]`: `a` is `k x n`, `b` is `n x p`. The few rows of `a` are not samples.
pub(crate) fn product_of_few<T: Real>(out: &mut [T], a: &[T], b: &[T], size: [usize; 3]) {
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
/// The product is computed in `T`, the total in `f64`; `scratch`, of `k m` numbers, is used only if these differ.
pub(crate) fn add_product_by_rows<T: Real>(
    total: &mut [f64],
    a: &[T],
    b: &[T],
    size: [usize; 3],
    scratch: &mut [T],
) {
    let [k, m, n] = size;
    if let (Some(a), Some(b)) = (as_type::<T, f64>(a), as_type::<T, f64>(b)) {
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
pub(crate) fn sum_of_squares<T: Real>(values: &[T]) -> f64 {
    values.iter().map(|x| x.to_f64() * x.to_f64()).sum()
}

#[cfg(test)]
mod tests;
