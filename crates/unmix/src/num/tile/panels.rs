//! Products of matrices in panels, of which the last may have half the width: two of its rows share a vector, because one alone
//! would leave half of each vector unused.

use super::{Steps, Vector, opaque};

/// The sums of a [`tile`](super::tile()) and, for every two of its rows, those of half a vector: the even row's first.
pub(super) struct WithHalf<V, const ROWS: usize, const COLUMNS: usize, const PAIRS: usize> {
    pub sums: [[V; COLUMNS]; ROWS],
    pub halves: [V; PAIRS],
}

/// A tile of whole vectors from `b` next to half a vector from `half`, which has its own stride between terms.
///
/// # Safety
/// As for a tile; half a vector is valid at `half` for every term.
#[inline(always)]
pub(super) unsafe fn tile_and_half<
    T: Copy,
    V: Vector<T>,
    const ROWS: usize,
    const COLUMNS: usize,
    const PAIRS: usize,
>(
    a: *const T,
    mut b: *const T,
    mut half: *const T,
    steps: Steps,
) -> WithHalf<V, ROWS, COLUMNS, PAIRS> {
    let mut sums = [[V::zero(); COLUMNS]; ROWS];
    let mut halves = [V::zero(); PAIRS];
    let mut rows = [a; ROWS];
    for (i, row) in rows.iter_mut().enumerate() {
        *row = a.wrapping_add(i * steps.a_row);
        *row = if steps.a_row == 1 { *row } else { opaque(*row) };
    }
    let mut term = 0;
    for _ in 0..steps.terms {
        // SAFETY: the caller guarantees that every number that is read is valid.
        unsafe {
            let row: [V; COLUMNS] = std::array::from_fn(|v| V::load(b.add(v * steps.b_vector)));
            let twice = V::load_half_twice(half);
            for i in 0..PAIRS {
                let x = [V::splat(*rows[2 * i].add(term)), V::splat(*rows[2 * i + 1].add(term))];
                for v in 0..COLUMNS {
                    sums[2 * i][v] = x[0].times_plus(row[v], sums[2 * i][v]);
                    sums[2 * i + 1][v] = x[1].times_plus(row[v], sums[2 * i + 1][v]);
                }
                halves[i] = V::halves(x[0], x[1]).times_plus(twice, halves[i]);
            }
            (term, b) = (term + steps.a_term, b.wrapping_add(steps.b_term));
            half = half.wrapping_add(V::LANES / 2);
        }
    }
    WithHalf { sums, halves }
}

/// Width of the next tile in vectors, of `left` remaining ones, if half a vector follows: the tile that includes it has at most
/// two.
#[inline(always)]
pub(super) fn columns_before_half<T, V: Vector<T>>(left: usize) -> usize {
    match left {
        0..=2 => left,
        3 | 4 => 2,
        _ => V::COLUMNS,
    }
}

/// Runs a tile with half a vector, whose numbers of rows and vectors are known at compile time.
macro_rules! tiles_and_half {
    ($t:ty, $v:ty, $rows:expr, $columns:expr, $a:expr, $b:expr, $half:expr, $steps:expr, |$tile:ident| $then:expr) => {
        match $columns {
            2 => {
                let $tile =
                    panels::tile_and_half::<$t, $v, { $rows }, 2, { $rows / 2 }>($a, $b, $half, $steps);
                $then
            }
            1 => {
                let $tile =
                    panels::tile_and_half::<$t, $v, { $rows }, 1, { $rows / 2 }>($a, $b, $half, $steps);
                $then
            }
            _ => {
                let $tile =
                    panels::tile_and_half::<$t, $v, { $rows }, 0, { $rows / 2 }>($a, $b, $half, $steps);
                $then
            }
        }
    };
}

/// The two products, for one kind of vector: used in a module with `LANES`, `ROWS` and `add_to`.
macro_rules! panel_products {
    ($t:ty, $v:ty) => {
        const HALF: usize = LANES / 2;

        /// Number of columns in whole panels, of `k`, and whether half a panel follows.
        #[inline(always)]
        fn whole_panels(k: usize) -> (usize, bool) {
            assert!(k % HALF == 0, "{k} columns are not a multiple of half a vector");
            (k - k % LANES, k % LANES != 0)
        }

        #[inline(always)]
        pub(super) fn multiply(out: &mut [$t], a: &[$t], b: &[$t], n: usize, p: usize, k: usize) {
            assert!(out.len() >= n * k && a.len() >= n * p && b.len() >= p * k);
            let (whole, half) = whole_panels(k);
            let steps =
                Steps { a_row: p, a_term: 1, b_term: LANES, b_vector: p * LANES, terms: p, last: LANES };
            let mut at = 0;
            while at < whole {
                let left = (whole - at) / LANES;
                if half && left <= 2 {
                    break;
                }
                let width =
                    if half { panels::columns_before_half::<$t, $v>(left) } else { columns::<$t, $v>(left) };
                let mut i = 0;
                while i < n {
                    let rows = if n - i >= ROWS { ROWS } else { 1 };
                    // SAFETY: rows `i..i + rows` of `a` and of `out` exist, and panels of columns `at..at + width * LANES`.
                    unsafe {
                        let (a, b) = (a.as_ptr().add(i * p), b.as_ptr().add(at * p));
                        tiles!($t, $v, rows, width, true, a, b, steps, |sums| {
                            for (row, sums) in sums.iter().enumerate() {
                                for (v, sum) in sums.iter().enumerate() {
                                    sum.store(out.as_mut_ptr().add((at + v * LANES) * n + (i + row) * LANES));
                                }
                            }
                        })
                    }
                    i += rows;
                }
                at += width * LANES;
            }
            if half {
                multiply_with_half(out, a, b, [n, p, at, whole]);
            }
        }

        /// The panels from column `at` on, two at most, and the half panel at column `whole`.
        #[inline(always)]
        fn multiply_with_half(out: &mut [$t], a: &[$t], b: &[$t], [n, p, at, whole]: [usize; 4]) {
            let width = (whole - at) / LANES;
            let mut steps =
                Steps { a_row: p, a_term: 1, b_term: LANES, b_vector: p * LANES, terms: p, last: LANES };
            let mut i = 0;
            while i < n {
                let rows = if n >= ROWS { ROWS } else { 2 };
                // The last tile begins where it has all its rows: some are computed again, with the same bits. A single row is
                // paired with itself.
                let first = i.min(n.saturating_sub(rows));
                if n == 1 {
                    steps.a_row = 0;
                }
                // SAFETY: rows `first..first + rows` of `a` and of `out` exist (or row 0, where there is no other), and the panels.
                unsafe {
                    let a = a.as_ptr().add(first * p);
                    let (b, half) = (b.as_ptr().add(at * p), b.as_ptr().add(whole * p));
                    let to = out.as_mut_ptr();
                    match rows == ROWS {
                        true => tiles_and_half!($t, $v, ROWS, width, a, b, half, steps, |tile| {
                            store(to, &tile.sums, &tile.halves, [n, first, at, whole])
                        }),
                        false => tiles_and_half!($t, $v, 2, width, a, b, half, steps, |tile| {
                            store(to, &tile.sums[..2.min(n)], &tile.halves, [n, first, at, whole])
                        }),
                    }
                }
                i = first + rows;
            }
        }

        /// # Safety
        /// The rows from `first` on, as many as `sums` has, exist in the panels of `out`, from column `at` on.
        #[inline(always)]
        unsafe fn store<const COLUMNS: usize>(
            out: *mut $t,
            sums: &[[$v; COLUMNS]],
            halves: &[$v],
            [n, first, at, whole]: [usize; 4],
        ) {
            // SAFETY: the caller guarantees that the entries are writable.
            unsafe {
                for (row, sums) in (first..).zip(sums) {
                    for (v, sum) in sums.iter().enumerate() {
                        sum.store(out.add((at + v * LANES) * n + row * LANES));
                    }
                }
                for (pair, sum) in halves.iter().enumerate() {
                    let to = out.add(whole * n + (first + 2 * pair) * HALF);
                    match n {
                        1 => sum.store_some(to, <$v as Vector<$t>>::first(HALF)),
                        _ => sum.store(to),
                    }
                }
            }
        }

        #[inline(always)]
        pub(super) fn add_cross(total: &mut [f64], a: &[$t], b: &[$t], n: usize, k: usize, used: usize) {
            assert!(total.len() >= k * k && a.len() >= n * k && b.len() >= n * k && used <= k);
            let (whole, half) = whole_panels(k);
            let steps =
                Steps { a_row: 1, a_term: LANES, b_term: LANES, b_vector: n * LANES, terms: n, last: LANES };
            let mut at = 0;
            while at < whole {
                let width = columns::<$t, $v>((whole - at) / LANES);
                let columns = at..at + width * LANES;
                for i in (0..used.min(whole)).step_by(ROWS) {
                    // SAFETY: ROWS divides LANES: columns `i..i + ROWS` of `a` exist, in one panel, and `columns` of `b`.
                    unsafe {
                        let (a, b) =
                            (a.as_ptr().add(i / LANES * n * LANES + i % LANES), b.as_ptr().add(at * n));
                        tiles!($t, $v, ROWS, width, true, a, b, steps, |sums| {
                            for (i, sums) in (i..).zip(&sums) {
                                add_to(&mut total[i * k..][columns.clone()], sums);
                            }
                        })
                    }
                }
                if used > whole {
                    let steps = Steps { a_term: HALF, ..steps };
                    // SAFETY: the half panel of `a`, and `columns` of `b`.
                    unsafe {
                        let (a, b) = (a.as_ptr().add(whole * n), b.as_ptr().add(at * n));
                        tiles_of!($t, $v, HALF, width, true, a, b, steps, |sums| {
                            for (i, sums) in (whole..).zip(&sums) {
                                add_to(&mut total[i * k..][columns.clone()], sums);
                            }
                        })
                    }
                }
                at += width * LANES;
            }
            if half && used > whole {
                add_cross_of_half(total, a, b, [n, k, whole]);
            }
        }

        /// The last columns of the total, from `whole` on, as rows of its transpose: those of the half panel of `b`.
        #[inline(always)]
        fn add_cross_of_half(total: &mut [f64], a: &[$t], b: &[$t], [n, k, whole]: [usize; 3]) {
            let steps =
                Steps { a_row: 1, a_term: HALF, b_term: LANES, b_vector: n * LANES, terms: n, last: LANES };
            let mut add = |i: usize, j: usize, sum: $t| total[i * k + whole + j] += f64::from(sum);
            let mut numbers = [0.0; LANES];
            let mut at = 0;
            loop {
                let left = (whole - at) / LANES;
                let width = panels::columns_before_half::<$t, $v>(left);
                // SAFETY: the half panels of both, and panels of columns `at..at + width * LANES` of `a`.
                unsafe {
                    let (splat, from) = (b.as_ptr().add(whole * n), a.as_ptr().add(at * n));
                    if width < left {
                        tiles_of!($t, $v, HALF, width, true, splat, from, steps, |sums| {
                            for (j, sums) in sums.iter().enumerate() {
                                for (v, sum) in sums.iter().enumerate() {
                                    sum.store(numbers.as_mut_ptr());
                                    (0..LANES).for_each(|l| add(at + v * LANES + l, j, numbers[l]));
                                }
                            }
                        });
                        at += width * LANES;
                        continue;
                    }
                    let half = a.as_ptr().add(whole * n);
                    tiles_and_half!($t, $v, HALF, width, splat, from, half, steps, |tile| {
                        for (j, sums) in tile.sums.iter().enumerate() {
                            for (v, sum) in sums.iter().enumerate() {
                                sum.store(numbers.as_mut_ptr());
                                (0..LANES).for_each(|l| add(at + v * LANES + l, j, numbers[l]));
                            }
                        }
                        for (pair, sum) in tile.halves.iter().enumerate() {
                            sum.store(numbers.as_mut_ptr());
                            (0..LANES).for_each(|l| add(whole + l % HALF, 2 * pair + l / HALF, numbers[l]));
                        }
                    });
                    return;
                }
            }
        }
    };
}
