//! Products with a row-major factor, whose columns are copied for each tile where many rows are multiplied.

/// The products, for one kind of vector: used in a module with `LANES`, `ROWS` and `add_to`.
macro_rules! row_products {
    ($t:ty, $v:ty) => {
        /// Copies the columns of a tile of `b`, row-major with `k` columns: all its vectors of a term, then those of the next. Numbers
        /// beyond the last column are zeros.
        ///
        /// Rows of `b` are `k` numbers apart, which maps them to few sets of the cache, from which those of one tile push each other out:
        /// without the copy, every tile would read them from the second-level cache.
        ///
        /// # Safety
        /// `b` has `terms` rows, with `last` numbers in the last vector of the tile, and those before it are whole.
        #[inline(always)]
        unsafe fn pack_columns(
            packed: &mut Vec<$t>,
            b: *const $t,
            [terms, k]: [usize; 2],
            [width, last]: [usize; 2],
        ) -> *const $t {
            const LINE: usize = 64 / size_of::<$t>();
            packed.reserve(terms * width * LANES + LINE);
            let first = packed.as_ptr().align_offset(64).min(LINE);
            let some = <$v as Vector<$t>>::first(last);
            // SAFETY: the caller guarantees the numbers of `b`; the buffer has room for all vectors.
            unsafe {
                let out = packed.as_mut_ptr().add(first);
                for term in 0..terms {
                    for v in 0..width {
                        let from = b.add(term * k + v * LANES);
                        let vector = match v + 1 < width || last == LANES {
                            true => <$v as Vector<$t>>::load(from),
                            false => <$v as Vector<$t>>::load_some(from, some),
                        };
                        vector.store(out.add((term * width + v) * LANES));
                    }
                }
                out
            }
        }

        /// Passes on the tiles of `a b`, `m x k`; `a` as in [`multiply_rows`](Tiles::multiply_rows).
        #[inline(always)]
        fn each_tile(
            a: &[$t],
            step: [usize; 2],
            b: &[$t],
            [m, terms, k]: [usize; 3],
            mut then: impl FnMut(TilePosition, &[&[$v]]),
        ) {
            /// Rows of the product from which copying the columns of a tile takes less time than it saves.
            const PACKED_ROWS: usize = 32;
            /// Bytes of a copy up to which it stays in the second-level cache.
            const PACKED_BYTES: usize = 1 << 17;
            if m == 0 || k == 0 {
                return;
            }
            // Without terms every sum is 0, and nothing is read: all rows may have weight 0.
            assert!(
                terms == 0 || a.len() > (m - 1) * step[0] + (terms - 1) * step[1] && b.len() >= terms * k
            );
            let widest = <$v as Vector<$t>>::COLUMNS * LANES;
            let packs = m >= PACKED_ROWS && k > widest && terms * widest * size_of::<$t>() <= PACKED_BYTES;
            let mut packed = Vec::new();
            let mut at = 0;
            while at < k {
                let width = columns::<$t, $v>((k - at).div_ceil(LANES));
                let last = LANES.min(k - at - (width - 1) * LANES);
                let from = b.as_ptr().wrapping_add(at);
                let (from, b_term) = match packs {
                    // SAFETY: `b` has `terms` rows of `k` numbers.
                    true => unsafe {
                        (pack_columns(&mut packed, from, [terms, k], [width, last]), width * LANES)
                    },
                    false => (from, k),
                };
                let steps = Steps { a_row: step[0], a_term: step[1], b_term, b_vector: LANES, terms, last };
                let mut i = 0;
                while i < m {
                    let rows = if m < ROWS { 1 } else { ROWS };
                    // The last tile begins where it has all its rows: some are computed again, with the same bits.
                    let row = i.min(m - rows);
                    let place = TilePosition { row, again: i - row, column: at, last };
                    let a = a.as_ptr().wrapping_add(row * step[0]);
                    // SAFETY: if there are terms, the last number of the last row of `a` exists, and so do columns
                    // `at..at + (width - 1) * LANES + last` of `b`, or their copy.
                    unsafe {
                        match last == LANES || packs {
                            true => tiles!($t, $v, rows, width, true, a, from, steps, |sums| {
                                then(place, &sums.each_ref().map(|s| &s[..]))
                            }),
                            false => tiles!($t, $v, rows, width, false, a, from, steps, |sums| {
                                then(place, &sums.each_ref().map(|s| &s[..]))
                            }),
                        }
                    }
                    i = row + rows;
                }
                at += width * LANES;
            }
        }

        #[inline(always)]
        pub(super) fn multiply_rows(
            out: &mut [$t],
            a: &[$t],
            step: [usize; 2],
            b: &[$t],
            m: usize,
            terms: usize,
            k: usize,
        ) {
            assert!(out.len() >= m * k);
            each_tile(
                a,
                step,
                b,
                [m, terms, k],
                #[inline(always)]
                |place, sums| {
                    for (i, sums) in (place.row..).zip(sums) {
                        for (v, sum) in sums.iter().enumerate() {
                            // SAFETY: the rows of the tile exist, and their columns up to the last.
                            unsafe {
                                let to = out.as_mut_ptr().add(i * k + place.column + v * LANES);
                                match v + 1 < sums.len() || place.last == LANES {
                                    true => sum.store(to),
                                    false => sum.store_some(to, <$v as Vector<$t>>::first(place.last)),
                                }
                            }
                        }
                    }
                },
            );
        }

        #[inline(always)]
        pub(super) fn add_cross_rows(total: &mut [f64], a: &[$t], b: &[$t], n: usize, k: usize, p: usize) {
            assert!(total.len() >= k * p);
            each_tile(
                a,
                [1, k],
                b,
                [k, n, p],
                #[inline(always)]
                |place, sums| {
                    let columns = place.column..place.column + (sums[0].len() - 1) * LANES + place.last;
                    for (i, sums) in (place.row..).zip(sums).skip(place.again) {
                        add_to(&mut total[i * p..][columns.clone()], sums);
                    }
                },
            );
        }
    };
}
