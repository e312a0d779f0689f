//! Matrices packed in panels, as products read them ([`Tiles::multiply_packed`](super::tile::Tiles::multiply_packed)).

use super::{Real, widest};

/// Bytes of a cache line: a panel begins at a multiple of it.
const CACHE_LINE_BYTES: usize = 64;

/// A buffer for matrices in panels: groups of as many columns as a vector has lanes, all rows of the first group, then those of the
/// next; the last group is filled up with zeros.
#[derive(Debug)]
pub(crate) struct Panels<T> {
    numbers: Vec<T>,
    /// Where the first cache line begins.
    start: usize,
    len: usize,
}

impl<T: Real> Clone for Panels<T> {
    /// A copy that begins at a cache line, too.
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.resize(1, self.len);
        copy.len = self.len;
        copy.numbers_mut().copy_from_slice(self.numbers());
        copy
    }
}

impl<T> Default for Panels<T> {
    fn default() -> Self {
        Self { numbers: Vec::new(), start: 0, len: 0 }
    }
}

impl<T: Real> Panels<T> {
    /// Number of columns with those that fill the last panel.
    pub(crate) fn padded(k: usize) -> usize {
        k.next_multiple_of(T::lanes())
    }

    /// Changes the length to that of `n` rows of `k` numbers; contents are undefined.
    pub(crate) fn resize(&mut self, n: usize, k: usize) {
        self.len = n * Self::padded(k);
        let spare = CACHE_LINE_BYTES / size_of::<T>();
        if self.numbers.len() < self.len + spare {
            self.numbers = vec![T::default(); self.len + spare];
            self.start = self.numbers.as_ptr().align_offset(CACHE_LINE_BYTES).min(spare);
        }
    }

    pub(crate) fn numbers(&self) -> &[T] {
        &self.numbers[self.start..self.start + self.len]
    }

    pub(crate) fn numbers_mut(&mut self) -> &mut [T] {
        &mut self.numbers[self.start..self.start + self.len]
    }
}

/// Packs the columns of `x` from `first` on, as many as `out` has panels for, times `by`; `x` is row-major with `k` columns.
pub(crate) fn pack<T: Real>(out: &mut [T], x: &[T], k: usize, first: usize, by: T) {
    widest(
        #[inline(always)]
        || match T::lanes() {
            16 => packed::<T, 16>(out, x, k, first, by),
            8 => packed::<T, 8>(out, x, k, first, by),
            _ => packed::<T, 4>(out, x, k, first, by),
        },
    );
}

#[inline(always)]
fn packed<T: Real, const LANES: usize>(out: &mut [T], x: &[T], k: usize, first: usize, by: T) {
    let n = x.len() / k;
    for (panel, out) in out.as_chunks_mut::<LANES>().0.chunks_exact_mut(n.max(1)).enumerate() {
        let at = first + panel * LANES;
        for (out, row) in out.iter_mut().zip(x.chunks_exact(k)) {
            match row[at..].first_chunk::<LANES>() {
                Some(whole) => *out = whole.map(|x| by * x),
                None => {
                    *out = [T::default(); LANES];
                    out.iter_mut().zip(&row[at..]).for_each(|(to, x)| *to = by * *x);
                }
            }
        }
    }
}

/// Packs the columns of `x`, row-major with `k` columns; row `i` is multiplied by number `i` of `factors`.
pub(crate) fn pack_scaled<T: Real>(out: &mut [T], x: &[T], k: usize, factors: &[T]) {
    widest(
        #[inline(always)]
        || match T::lanes() {
            16 => scaled::<T, 16>(out, x, k, factors),
            8 => scaled::<T, 8>(out, x, k, factors),
            _ => scaled::<T, 4>(out, x, k, factors),
        },
    );
}

#[inline(always)]
fn scaled<T: Real, const LANES: usize>(out: &mut [T], x: &[T], k: usize, factors: &[T]) {
    let panels = out.as_chunks_mut::<LANES>().0.chunks_exact_mut(factors.len().max(1));
    for (panel, out) in panels.enumerate() {
        for ((out, row), factor) in out.iter_mut().zip(x.chunks_exact(k)).zip(factors) {
            match row[panel * LANES..].first_chunk::<LANES>() {
                Some(whole) => *out = whole.map(|x| x * *factor),
                None => {
                    *out = [T::default(); LANES];
                    let rest = out.iter_mut().zip(&row[panel * LANES..]);
                    rest.for_each(|(to, x)| *to = *x * *factor);
                }
            }
        }
    }
}

/// Packs the transpose of `x`, row-major with `k` columns: its rows become columns.
pub(crate) fn pack_transposed<T: Real>(out: &mut [T], x: &[T], k: usize) {
    widest(
        #[inline(always)]
        || match T::lanes() {
            16 => transposed::<T, 16>(out, x, k),
            8 => transposed::<T, 8>(out, x, k),
            _ => transposed::<T, 4>(out, x, k),
        },
    );
}

#[inline(always)]
fn transposed<T: Real, const LANES: usize>(out: &mut [T], x: &[T], k: usize) {
    let panels = out.as_chunks_mut::<LANES>().0.chunks_exact_mut(k.max(1));
    for (out, rows) in panels.zip(x.chunks(LANES * k)) {
        if rows.len() < LANES * k {
            out.fill([T::default(); LANES]);
            for (lane, row) in rows.chunks_exact(k).enumerate() {
                out.iter_mut().zip(row).for_each(|(to, x)| to[lane] = *x);
            }
            continue;
        }
        let rows: [&[T]; LANES] = std::array::from_fn(|lane| &rows[lane * k..(lane + 1) * k]);
        for (c, out) in out.iter_mut().enumerate() {
            *out = std::array::from_fn(|lane| rows[lane][c]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_columns<T: Real>() {
        for (n, k) in [(1, 1), (3, 40), (17, 16), (33, 5)] {
            let x: Vec<T> = (0..n * k).map(|i| T::from_f64(1.0 + i as f64)).collect();
            let lanes = T::lanes();
            let mut panels = Panels::default();
            panels.resize(n, k);
            pack(panels.numbers_mut(), &x, k, 0, T::from_f64(2.0));
            let at = |i: usize, j: usize, n: usize| (j / lanes * n + i) * lanes + j % lanes;
            for j in 0..Panels::<T>::padded(k) {
                for i in 0..n {
                    let want = if j < k { 2.0 * x[i * k + j].to_f64() } else { 0.0 };
                    assert_eq!(panels.numbers()[at(i, j, n)].to_f64(), want);
                }
            }
            assert_eq!(panels.numbers().as_ptr().align_offset(CACHE_LINE_BYTES), 0);
            let factors: Vec<T> = (0..n).map(|i| T::from_f64(0.5 + i as f64)).collect();
            pack_scaled(panels.numbers_mut(), &x, k, &factors);
            for (i, j) in (0..n).flat_map(|i| (0..k).map(move |j| (i, j))) {
                assert_eq!(panels.numbers()[at(i, j, n)], x[i * k + j] * factors[i]);
            }
            assert!((k..Panels::<T>::padded(k)).all(|j| panels.numbers()[at(n - 1, j, n)].to_f64() == 0.0));
            panels.resize(k, n);
            pack_transposed(panels.numbers_mut(), &x, k);
            for j in 0..Panels::<T>::padded(n) {
                for i in 0..k {
                    let want = if j < n { x[j * k + i].to_f64() } else { 0.0 };
                    assert_eq!(panels.numbers()[at(i, j, k)].to_f64(), want);
                }
            }
        }
    }

    #[test]
    fn panels_hold_columns_side_by_side() {
        are_columns::<f32>();
        are_columns::<f64>();
    }
}
