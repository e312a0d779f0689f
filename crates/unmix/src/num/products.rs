//! Products of matrices in a step of training, and sums of columns, whose parts are divided among threads.
//!
//! The second factor of every product is packed in panels: weights once for all rows of a batch, codes by the thread that computed them.

use super::{Panels, Real, Terms, pack, parallel, simd::SIMD_WIDTH, widest};

/// Maximum number of rows of a batch that one thread processes at a time: with fewer, panels of weights are read more often than used.
const MOST_ROWS_PER_SLICE: usize = 64;
/// Rows of a batch up to which it is one slice.
const MOST_ROWS_IN_ONE_SLICE: usize = 32;
/// Rows of a gradient that one thread computes at a time.
const ROWS_PER_TASK: usize = 64;
/// Multiplications below which a product stays on one thread: waking the others takes longer.
const LEAST_SHARED_PRODUCTS: usize = 1 << 18;
/// Numbers of a matrix that one thread packs at a time.
const NUMBERS_PER_PACKING: usize = 1 << 14;

/// Rows that one thread processes at a time, of a batch of `n`: at most [`MOST_ROWS_PER_SLICE`], a multiple of eight (the rows of a tile), so
/// that slices are about equal and mostly even in number.
pub(crate) fn slice_rows(n: usize) -> usize {
    match n {
        0..=MOST_ROWS_IN_ONE_SLICE => n.max(1),
        _ => n.div_ceil(n.div_ceil(MOST_ROWS_PER_SLICE).next_multiple_of(2)).next_multiple_of(8),
    }
}

/// Whether packing matrices of so many numbers is worth waking a thread.
pub(crate) fn packs_on_two(numbers: usize) -> bool {
    numbers >= NUMBERS_PER_PACKING
}

/// Whether products of so many multiplications are worth waking a thread.
pub(crate) fn multiplies_on_two(multiplications: usize) -> bool {
    multiplications >= LEAST_SHARED_PRODUCTS
}

/// Runs both, on two threads if `parallel`.
pub(crate) fn both(parallel: bool, one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
    if !parallel || rayon::current_thread_index().is_none() {
        one();
        return other();
    }
    rayon::join(one, other);
}

/// A matrix of weights, as products of several slices read it.
#[derive(Debug, Default)]
pub(crate) struct Weights<T>(Panels<T>);

impl<T: Real> Weights<T> {
    pub(crate) fn new() -> Self {
        Self(Panels::default())
    }

    /// The matrix `w`, row-major with `k` columns.
    pub(crate) fn pack(&mut self, w: &[T], k: usize) {
        let n = w.len() / k;
        self.0.resize(n, k);
        let some = (NUMBERS_PER_PACKING / (n * T::lanes()).max(1)).max(1) * T::lanes();
        let parts = self.0.numbers_mut().chunks_mut((n * some).max(1)).enumerate();
        parallel::each(parts, |(part, out)| pack(out, w, k, part * some, T::from_f64(1.0)));
    }

    /// The transpose of the matrix `w`, row-major with `k` columns.
    pub(crate) fn pack_transposed(&mut self, w: &[T], k: usize) {
        self.0.resize(k, w.len() / k);
        let some = (NUMBERS_PER_PACKING / (k * T::lanes()).max(1)).max(1) * T::lanes();
        let parts = self.0.numbers_mut().chunks_mut((k * some).max(1)).zip(w.chunks((k * some).max(1)));
        parallel::each(parts, |(out, w)| super::pack_transposed(out, w, k));
    }

    /// The panels of the matrix, which has `n` rows.
    pub(crate) fn panels(&self, n: usize) -> std::slice::ChunksExact<'_, T> {
        self.0.numbers().chunks_exact(n * T::lanes())
    }

    /// `out = a w[:, columns]`, for columns from a multiple of [`lanes`](super::tile::Tiles::lanes) on; `a` has `n` rows and the matrix `p`.
    pub(crate) fn product_of_columns(
        &self,
        out: &mut [T],
        a: &[T],
        [n, p]: [usize; 2],
        columns: std::ops::Range<usize>,
    ) {
        let terms = Terms { a, step: [p, 1], b: &self.0.numbers()[columns.start * p..], count: p };
        T::multiply_packed(out, &[terms], n, columns.len());
    }

    /// `out = a w`: `out` has `k` columns.
    pub(crate) fn product(&self, out: &mut [T], a: &[T], k: usize) {
        let n = out.len() / k;
        let terms =
            Terms { a, step: [a.len() / n.max(1), 1], b: self.0.numbers(), count: a.len() / n.max(1) };
        T::multiply_packed(out, &[terms], n, k);
    }
}

/// A matrix with a row for each row of a batch, packed by slices: the second factor of a gradient.
#[derive(Debug)]
pub(crate) struct Slices<T>(Panels<T>);

impl<T: Real> Slices<T> {
    pub(crate) fn new() -> Self {
        Self(Panels::default())
    }

    /// Space for `n` rows of `k` numbers.
    pub(crate) fn resize(&mut self, n: usize, k: usize) {
        self.0.resize(n, k);
    }

    /// The slices of `rows` rows each.
    pub(crate) fn each_mut(&mut self, rows: usize, k: usize) -> std::slice::ChunksMut<'_, T> {
        self.0.numbers_mut().chunks_mut(rows * Panels::<T>::padded(k))
    }

    /// The slices of `rows` rows each, with the number of their rows.
    pub(crate) fn slices(&self, rows: usize, k: usize) -> impl Iterator<Item = (&[T], usize)> {
        let width = Panels::<T>::padded(k);
        self.0.numbers().chunks(rows * width).map(move |slice| (slice, slice.len() / width))
    }

    /// The terms of `a' b`, for this matrix as `b` of `k` columns, and `a`, row-major with `p` columns.
    pub(crate) fn terms<'s>(
        &'s self,
        a: &'s [T],
        (rows, p, k): (usize, usize, usize),
    ) -> impl Iterator<Item = Terms<'s, T>> {
        let slices = a.chunks(rows * p).zip(self.0.numbers().chunks(rows * Panels::<T>::padded(k)));
        slices.map(move |(a, b)| Terms { a, step: [1, p], b, count: a.len() / p })
    }
}

/// Packs a slice of rows times `by`.
pub(crate) fn pack_slice<T: Real>(out: &mut [T], x: &[T], k: usize, by: T) {
    pack(out, x, k, 0, by);
}

/// `out = a1' b1 + a2' b2 + ...`, row-major with `k` columns, on the threads of the current pool. Every entry is one sum.
pub(crate) fn gradient<T: Real>(out: &mut [T], terms: &[Terms<'_, T>], k: usize) {
    let work = out.len() * terms.iter().map(|t| t.count).sum::<usize>();
    let parts = out.chunks_mut(ROWS_PER_TASK * k).enumerate();
    parallel::each_if(multiplies_on_two(work), parts, |(part, out)| {
        let first = |t: &Terms<'_, T>| (part * ROWS_PER_TASK * t.step[0]).min(t.a.len());
        let terms: Vec<_> = terms.iter().map(|t| Terms { a: &t.a[first(t)..], ..*t }).collect();
        T::multiply_packed(out, &terms, out.len() / k, k);
    });
}

/// `sums += ` the sums of the columns of `a`.
pub(crate) fn add_columns<T: Real>(sums: &mut [f64], a: &[T]) {
    widest(
        #[inline(always)]
        || {
            for row in a.chunks_exact(sums.len()) {
                sums.iter_mut().zip(row).for_each(|(s, x)| *s += x.to_f64());
            }
        },
    );
}

/// `sums += ` the sums of the columns of `end - begin`.
pub(crate) fn add_differences<T: Real>(sums: &mut [f64], end: &[T], begin: &[T]) {
    let k = sums.len();
    widest(
        #[inline(always)]
        || {
            for (end, begin) in end.chunks_exact(k).zip(begin.chunks_exact(k)) {
                let each = sums.iter_mut().zip(end).zip(begin);
                each.for_each(|((s, e), b)| *s += e.to_f64() - b.to_f64());
            }
        },
    );
}

/// `out = by * ` the totals of the sums of all slices, which `sums` holds one after the other: of `width` numbers each, those from `first`
/// on.
pub(crate) fn total<T: Real>(out: &mut [T], sums: &[f64], (width, first): (usize, usize), by: f64) {
    for (c, to) in out.iter_mut().enumerate() {
        *to = T::from_f64(by * sums.iter().skip(first + c).step_by(width).sum::<f64>());
    }
}

/// `rows[i] += offset`, and the sum of squares of `rows - x`.
pub(crate) fn shifted_distance<T: Real>(rows: &mut [T], offset: &[T], x: &[T]) -> f64 {
    let (mut lanes, mut rest) = ([0.0; SIMD_WIDTH], 0.0);
    widest(
        #[inline(always)]
        || {
            for (row, x) in rows.chunks_exact_mut(offset.len()).zip(x.chunks_exact(offset.len())) {
                let ((row, left), (x, x_left)) =
                    (row.as_chunks_mut::<SIMD_WIDTH>(), x.as_chunks::<SIMD_WIDTH>());
                let (offset, offset_left) = offset.as_chunks::<SIMD_WIDTH>();
                for ((row, x), offset) in row.iter_mut().zip(x).zip(offset) {
                    for l in 0..SIMD_WIDTH {
                        row[l] += offset[l];
                        let d = (row[l] - x[l]).to_f64();
                        lanes[l] += d * d;
                    }
                }
                for ((v, x), c) in left.iter_mut().zip(x_left).zip(offset_left) {
                    *v += *c;
                    rest += (*v - *x).to_f64() * (*v - *x).to_f64();
                }
            }
        },
    );
    lanes.iter().sum::<f64>() + rest
}
