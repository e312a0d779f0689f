//! The inner loop of products: a tile of the result stays in registers while the rows of the factors are read one at a time.
//!
//! ```text
//! tile[i][j] += a(r, i) b(r, j)      for r in order,   i < ROWS,   j < COLUMNS * lanes
//! ```
//!
//! Each entry is one sum, by fused multiply-add, in the order of `r`: its bits depend on its own row and column, not on the tile in
//! which it is computed or on its neighbours. A symmetric product
//! computes fewer entries above the diagonal.

mod vector;

use vector::Vector;

/// The same pointer, opaque to the optimiser. For rows at equal distances the optimiser computes each address from the one before:
/// a dependent chain of eight additions, which takes longer than the sums of a narrow tile.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block)] // Nothing is read or written there.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
fn opaque<T>(mut pointer: *const T) -> *const T {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: does nothing.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) pointer, options(pure, nomem, nostack, preserves_flags));
    }
    pointer
}

/// Strides of two factors: `a` is read a number at a time, `b` a vector at a time.
#[derive(Clone, Copy)]
struct Steps {
    /// Stride of `a` between rows of the tile.
    a_row: usize,
    /// Stride of `a` between terms.
    a_term: usize,
    b_term: usize,
    /// Stride of `b` between vectors of a row of the tile.
    b_vector: usize,
    terms: usize,
    /// Numbers in the last vector of a row of the tile, if that is partial.
    last: usize,
}

/// # Safety
/// Every number that `steps` lead to lies within what `a` and `b` point to.
#[inline(always)]
unsafe fn tile<T: Copy, V: Vector<T>, const ROWS: usize, const COLUMNS: usize, const WHOLE: bool>(
    a: *const T,
    b: *const T,
    steps: Steps,
) -> [[V; COLUMNS]; ROWS] {
    // SAFETY: the same conditions.
    unsafe { add_tile::<T, V, ROWS, COLUMNS, WHOLE>([[V::zero(); COLUMNS]; ROWS], a, b, steps) }
}

/// A [`tile`] whose sums begin with `sums`.
///
/// # Safety
/// Every number that `steps` lead to lies within what `a` and `b` point to.
#[inline(always)]
unsafe fn add_tile<T: Copy, V: Vector<T>, const ROWS: usize, const COLUMNS: usize, const WHOLE: bool>(
    mut sums: [[V; COLUMNS]; ROWS],
    a: *const T,
    mut b: *const T,
    steps: Steps,
) -> [[V; COLUMNS]; ROWS] {
    let last = V::first(steps.last);
    let mut rows = [a; ROWS];
    for (i, row) in rows.iter_mut().enumerate() {
        *row = a.wrapping_add(i * steps.a_row);
        // Unit stride: addressed relative to the first row.
        *row = if steps.a_row == 1 { *row } else { opaque(*row) };
    }
    let mut term = 0;
    for _ in 0..steps.terms {
        // SAFETY: the caller guarantees that every number that `steps` reach is valid.
        unsafe {
            let row: [V; COLUMNS] = std::array::from_fn(|v| match WHOLE || v + 1 < COLUMNS {
                true => V::load(b.add(v * steps.b_vector)),
                false => V::load_some(b.add(v * steps.b_vector), last),
            });
            for i in 0..ROWS {
                let x = V::splat(*rows[i].add(term));
                for v in 0..COLUMNS {
                    sums[i][v] = x.times_plus(row[v], sums[i][v]);
                }
            }
            (term, b) = (term + steps.a_term, b.wrapping_add(steps.b_term));
        }
    }
    sums
}

/// Position of a tile in a product.
struct TilePosition {
    row: usize,
    /// Number of its first rows that an earlier tile has computed, too.
    again: usize,
    column: usize,
    /// Numbers of the last vector of each row that are used.
    last: usize,
}

/// Width of the next tile in vectors, of `left` remaining ones. Four are split into two and two: a single one leaves most registers
/// unused.
#[inline(always)]
fn columns<T, V: Vector<T>>(left: usize) -> usize {
    match left {
        2 | 4 => 2,
        _ => left.min(V::COLUMNS),
    }
}

/// Runs a tile whose numbers of rows and vectors are known at compile time.
macro_rules! tiles_of {
    ($t:ty, $v:ty, $rows:expr, $columns:expr, $whole:literal, $a:expr, $b:expr, $steps:expr, |$sums:ident| $then:expr) => {
        match $columns {
            3 => {
                let $sums = tile::<$t, $v, { $rows }, 3, $whole>($a, $b, $steps);
                $then
            }
            2 => {
                let $sums = tile::<$t, $v, { $rows }, 2, $whole>($a, $b, $steps);
                $then
            }
            _ => {
                let $sums = tile::<$t, $v, { $rows }, 1, $whole>($a, $b, $steps);
                $then
            }
        }
    };
}

/// The same for a full number of rows or for one.
macro_rules! tiles {
    ($t:ty, $v:ty, $rows:expr, $columns:expr, $whole:literal, $a:expr, $b:expr, $steps:expr, |$sums:ident| $then:expr) => {
        match $rows == <$v>::ROWS {
            true => {
                tiles_of!($t, $v, <$v as Vector<$t>>::ROWS, $columns, $whole, $a, $b, $steps, |$sums| $then)
            }
            false => tiles_of!($t, $v, 1, $columns, $whole, $a, $b, $steps, |$sums| $then),
        }
    };
}

#[macro_use]
mod panels;
#[macro_use]
mod packed;
#[macro_use]
mod rows;

pub(crate) use packed::Terms;

/// Products by tiles, for both types of number.
///
/// *Panels* are groups of [`lanes`](Tiles::lanes) columns of a matrix: all rows of the first group, then those of the next. A tile then
/// reads consecutive memory, whereas the stride of wide row-major matrices may map rows to the same cache sets. Where stated, a last
/// panel of half as many columns may follow the whole ones.
pub trait Tiles: Sized {
    /// Numbers in a vector of the current processor: widths of packed matrices are multiples of it.
    fn lanes() -> usize;

    /// `part += x' x` in the lower triangle, for the rows of this product starting at `first` (a multiple of 16): `part` holds some rows of a
    /// `p x p` matrix, `x` has `n` rows in panels, the last one with arbitrary padding. Entries above the diagonal are undefined.
    fn add_gram(part: &mut [f64], first: usize, x: &[Self], n: usize, p: usize);

    /// `out = a b`: `a` is `n x p`, row-major; `b` is `p x k` and `out` is `n x k`, in panels; `k` is a multiple of half the
    /// [`lanes`](Tiles::lanes), and the last panel has half the width if that multiple is odd.
    fn multiply(out: &mut [Self], a: &[Self], b: &[Self], n: usize, p: usize, k: usize);

    /// `out = a b`, row-major: `b` is `terms x k` and `out` is `m x k`. The strides of `a` are `step[0]` between rows and `step[1]`
    /// between terms: `a` may be a transposed matrix.
    fn multiply_rows(
        out: &mut [Self],
        a: &[Self],
        step: [usize; 2],
        b: &[Self],
        m: usize,
        terms: usize,
        k: usize,
    );

    /// `out = a1 b1 + a2 b2 + ...`, the sums of all [`Terms`]: `out` is `m x k`, row-major, and every `b` has `k` columns, in panels of
    /// which the last is filled up. Each entry is one sum, in the order of the terms. Panels that begin at a multiple of 64 bytes
    /// ([`Panels`](super::Panels)) are faster.
    fn multiply_packed(out: &mut [Self], terms: &[Terms<'_, Self>], m: usize, k: usize);

    /// The same product in panels: `out = a1 b1 + a2 b2 + ...`, or, with a `rate`, `out -= rate * (a1 b1 + a2 b2 + ...)`, where the
    /// product and the difference are rounded separately. Columns that fill the last panel are those of the second factors.
    fn multiply_to_panels(
        out: &mut [Self],
        rate: Option<Self>,
        terms: &[Terms<'_, Self>],
        m: usize,
        k: usize,
    );

    /// `total += a' b`, row-major: `a` is `n x k`, `b` is `n x p` and `total` is `k x p`. The product is computed in this type, the total
    /// in double precision.
    fn add_cross_rows(total: &mut [f64], a: &[Self], b: &[Self], n: usize, k: usize, p: usize);

    /// `total += a' b`: both are `n x k`, in panels as in [`multiply`](Tiles::multiply); `total` is `k x k`, row-major. The product is
    /// computed in this type, the total in double precision. Columns of the total from `used` on belong to padding and are undefined.
    fn add_cross(total: &mut [f64], a: &[Self], b: &[Self], n: usize, k: usize, used: usize);
}

/// The products for one kind of vector. Inlined into functions that are compiled for its instructions.
macro_rules! products {
    ($name:ident, $t:ty, $v:ty) => {
        mod $name {
            use super::*;

            const LANES: usize = <$v as Vector<$t>>::LANES;
            const ROWS: usize = <$v as Vector<$t>>::ROWS;

            /// Adds a row of a tile to sums in double precision, up to the end of these.
            #[inline(always)]
            fn add_to(total: &mut [f64], sums: &[$v]) {
                for (total, sums) in total.chunks_mut(LANES).zip(sums) {
                    let mut numbers = [0.0; LANES];
                    // SAFETY: there is room for a vector.
                    unsafe { sums.store(numbers.as_mut_ptr()) };
                    match <&mut [f64; LANES]>::try_from(&mut *total) {
                        Ok(total) => total.iter_mut().zip(&numbers).for_each(|(t, x)| *t += f64::from(*x)),
                        Err(_) => total.iter_mut().zip(&numbers).for_each(|(t, x)| *t += f64::from(*x)),
                    }
                }
            }

            #[inline(always)]
            pub(super) fn add_gram(part: &mut [f64], first: usize, x: &[$t], n: usize, p: usize) {
                /// Number of rows of the product that are computed while their columns of `x` stay in the second-level cache.
                const ROWS_IN_CACHE: usize = 96;
                /// Number of independent sums that hide the latency of four cycles at two multiply-adds per cycle: a narrower tile is no
                /// faster.
                const INDEPENDENT_SUMS: usize = 8;
                let panels = p.div_ceil(LANES);
                let last = first + part.len() / p;
                assert!(x.len() >= panels * n * LANES && last <= p && first % 16 == 0);
                let steps = Steps {
                    a_row: 1,
                    a_term: LANES,
                    b_term: LANES,
                    b_vector: n * LANES,
                    terms: n,
                    last: LANES,
                };
                for start in (first..last).step_by(ROWS_IN_CACHE) {
                    let end = last.min(start + ROWS_IN_CACHE);
                    let mut panel = 0;
                    while panel * LANES < end {
                        let width = columns::<$t, $v>(panels - panel);
                        let at = panel * LANES;
                        for i in (start.max(at)..end).step_by(ROWS) {
                            // Vectors to the right of the tile's last row are above the diagonal.
                            let width = match ROWS >= INDEPENDENT_SUMS {
                                true => width.min((i + ROWS - at).div_ceil(LANES)),
                                false => width,
                            };
                            let until = p.min(at + width * LANES);
                            let a = x[i / LANES * n * LANES + i % LANES..].as_ptr();
                            let b = x[at * n..].as_ptr();
                            // SAFETY: ROWS divides LANES, so that the tile's rows are in one panel; there are `panels` panels of
                            // `n` vectors each, and `width` of them starting at `panel`.
                            unsafe {
                                tiles!($t, $v, ROWS, width, true, a, b, steps, |sums| {
                                    for (i, sums) in (i..end).zip(&sums) {
                                        add_to(&mut part[(i - first) * p..][at..until], sums);
                                    }
                                })
                            }
                        }
                        panel += width;
                    }
                }
            }

            panel_products!($t, $v);
            packed_product!($t, $v);
            row_products!($t, $v);
        }
    };
}

mod plain;

use plain::Plain;

products!(plain_f32, f32, Plain<f32>);
products!(plain_f64, f64, Plain<f64>);

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "aarch64")]
products!(neon_f32, f32, neon::Pair<std::arch::aarch64::float32x4_t>);
#[cfg(target_arch = "aarch64")]
products!(neon_f64, f64, neon::Pair<std::arch::aarch64::float64x2_t>);

#[cfg(target_arch = "x86_64")]
mod x86;

mod by_processor;

#[cfg(test)]
mod tests;
