//! Products with a factor that is packed in panels: a tile reads it from consecutive memory, a whole cache line at a time.
//!
//! Rows of a row-major factor lie across cache lines, and at strides that share few sets of the cache.

/// A part of the terms of a product: rows of `a` and of `b` that belong together, `count` of them.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a, T> {
    /// The first factor, read a number at a time.
    pub a: &'a [T],
    /// Its strides between rows of the result, and between terms.
    pub step: [usize; 2],
    /// The second factor, in panels of `count` rows.
    pub b: &'a [T],
    /// Number of terms.
    pub count: usize,
}

/// The product, for one kind of vector: used in a module with `LANES` and `ROWS`.
macro_rules! packed_product {
    ($t:ty, $v:ty) => {
        #[inline(always)]
        pub(super) fn multiply_packed(out: &mut [$t], terms: &[Terms<'_, $t>], m: usize, k: usize) {
            assert!(out.len() >= m * k);
            each_packed_tile(
                terms,
                [m, k],
                #[inline(always)]
                |place, panel, sums| {
                    for (i, sums) in (place.row..).zip(sums) {
                        for (v, sum) in sums.iter().enumerate() {
                            let at = (panel + v) * LANES;
                            // SAFETY: the row exists in `out`, and its columns up to the last.
                            unsafe {
                                let to = out.as_mut_ptr().add(i * k + at);
                                match k - at >= LANES {
                                    true => sum.store(to),
                                    false => sum.store_some(to, <$v as Vector<$t>>::first(k - at)),
                                }
                            }
                        }
                    }
                },
            );
        }

        #[inline(always)]
        pub(super) fn multiply_to_panels(
            out: &mut [$t],
            rate: Option<$t>,
            terms: &[Terms<'_, $t>],
            m: usize,
            k: usize,
        ) {
            assert!(out.len() >= m * k.next_multiple_of(LANES));
            each_packed_tile(
                terms,
                [m, k],
                #[inline(always)]
                |place, panel, sums| {
                    // Rows that an earlier tile has computed are not subtracted a second time.
                    for (i, sums) in (place.row..).zip(sums).skip(place.again) {
                        for (v, sum) in sums.iter().enumerate() {
                            // SAFETY: the row exists in every panel of `out`.
                            unsafe {
                                let to = out.as_mut_ptr().add(((panel + v) * m + i) * LANES);
                                match rate {
                                    None => sum.store(to),
                                    Some(rate) => {
                                        let step = <$v as Vector<$t>>::splat(-rate)
                                            .times_plus(*sum, <$v as Vector<$t>>::zero());
                                        let one = <$v as Vector<$t>>::splat(1.0);
                                        one.times_plus(<$v as Vector<$t>>::load(to), step).store(to);
                                    }
                                }
                            }
                        }
                    }
                },
            );
        }

        /// Passes on the tiles of the sum of all terms, `m x k`, each with its first panel.
        #[inline(always)]
        fn each_packed_tile(
            terms: &[Terms<'_, $t>],
            [m, k]: [usize; 2],
            mut then: impl FnMut(TilePosition, usize, &[&[$v]]),
        ) {
            /// Remaining rows up to which tiles of one row take less time than one of all rows.
            const FEW_ROWS: usize = 2;
            if m == 0 || k == 0 {
                return;
            }
            let panels = k.div_ceil(LANES);
            for t in terms.iter().filter(|t| t.count > 0) {
                let last = (m - 1) * t.step[0] + (t.count - 1) * t.step[1];
                assert!(t.a.len() > last && t.b.len() >= panels * t.count * LANES);
            }
            let mut panel = 0;
            while panel < panels {
                let width = columns::<$t, $v>(panels - panel);
                let mut i = 0;
                while i < m {
                    let rows = if m < ROWS || m - i <= FEW_ROWS { 1 } else { ROWS };
                    // The last tile begins where it has all its rows: some are computed again, with the same bits.
                    let row = i.min(m - rows);
                    let place = TilePosition { row, again: i - row, column: panel * LANES, last: LANES };
                    // SAFETY: rows `row..row + rows` exist, and panels `panel..panel + width`.
                    unsafe {
                        match (rows == ROWS, width) {
                            (true, 3) => {
                                then(place, panel, &slices(&packed_tile::<ROWS, 3>(terms, row, panel)))
                            }
                            (true, 2) => {
                                then(place, panel, &slices(&packed_tile::<ROWS, 2>(terms, row, panel)))
                            }
                            (true, _) => {
                                then(place, panel, &slices(&packed_tile::<ROWS, 1>(terms, row, panel)))
                            }
                            (false, 3) => {
                                then(place, panel, &slices(&packed_tile::<1, 3>(terms, row, panel)))
                            }
                            (false, 2) => {
                                then(place, panel, &slices(&packed_tile::<1, 2>(terms, row, panel)))
                            }
                            (false, _) => {
                                then(place, panel, &slices(&packed_tile::<1, 1>(terms, row, panel)))
                            }
                        }
                    }
                    i = row + rows;
                }
                panel += width;
            }
        }

        #[inline(always)]
        fn slices<const TALL: usize, const WIDE: usize>(sums: &[[$v; WIDE]; TALL]) -> [&[$v]; TALL] {
            sums.each_ref().map(|row| &row[..])
        }

        /// # Safety
        /// Rows from `row` on exist in every first factor, as many as the tile has, and panels from `panel` on in the others.
        #[inline(always)]
        unsafe fn packed_tile<const TALL: usize, const WIDE: usize>(
            terms: &[Terms<'_, $t>],
            row: usize,
            panel: usize,
        ) -> [[$v; WIDE]; TALL] {
            let mut sums = [[<$v as Vector<$t>>::zero(); WIDE]; TALL];
            for t in terms {
                let steps = Steps {
                    a_row: t.step[0],
                    a_term: t.step[1],
                    b_term: LANES,
                    b_vector: t.count * LANES,
                    terms: t.count,
                    last: LANES,
                };
                let a = t.a.as_ptr().wrapping_add(row * t.step[0]);
                let b = t.b.as_ptr().wrapping_add(panel * t.count * LANES);
                // SAFETY: the caller guarantees rows and panels.
                sums = unsafe { add_tile::<$t, $v, TALL, WIDE, true>(sums, a, b, steps) };
            }
            sums
        }
    };
}
