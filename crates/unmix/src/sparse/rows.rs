//! Coding of blocks of rows: their correlations with the atoms by one product, then each row separately.

use super::Atoms;
use super::gap::Checked;
use super::lasso::{Row, fast};
use super::set::Set;
use crate::num::parallel;
use crate::num::simd::SIMD_WIDTH;
use crate::num::{Real, kernel};

/// Buffers that are reused from row to row; their contents between two calls are undefined.
#[derive(Default)]
pub struct Work<T> {
    products: Vec<T>,
    row: RowWork<T>,
    /// Buffers of [`measure`](super::measure).
    pub checked: Checked,
}

/// Buffers of one row.
#[derive(Default)]
pub(super) struct RowWork<T> {
    pub(super) set: Set<T>,
    pub(super) newton: super::newton::Newton<T>,
    pub(super) c: Vec<T>,
    pub(super) b: Vec<T>,
    pub(super) weight: Vec<T>,
    pub(super) residual: Vec<T>,
    pub(super) pursuit: super::omp::Pursuit<T>,
    pub(super) steps: super::proximal::Steps<T>,
}

/// Rows whose correlations are computed at a time: they fit in the second-level cache.
fn at_a_time(n_atoms: usize) -> usize {
    (65_536 / n_atoms.max(1)).clamp(8, 64)
}

/// Rows that one thread takes at a time.
const ROWS_PER_TASK: usize = 32;

/// Calls `solve` for every row, with its code; returns the largest return value. The bits of a code do not depend on the other
/// rows.
pub(super) fn blocks<T: Real>(
    atoms: &Atoms<T>,
    rows: &[T],
    codes: &mut [T],
    work: &mut Work<T>,
    solve: impl Fn(Row<'_, T>, &mut [T], &mut RowWork<T>) -> u64,
) -> u64 {
    let (m, p) = (atoms.n_atoms(), atoms.n_features());
    assert_eq!(rows.len() * m, codes.len() * p, "a code for every row");
    if m == 0 || p == 0 {
        codes.fill(T::default());
        return 0;
    }
    let (block, mut most) = (at_a_time(m), 0);
    for (rows, codes) in rows.chunks(block * p).zip(codes.chunks_mut(block * m)) {
        let n = rows.len() / p;
        work.products.resize(n * m, T::default());
        kernel::product(&mut work.products, rows, &atoms.across, n, p, m);
        let of_block = fast(
            #[inline(always)]
            || {
                let mut most = 0;
                let each = rows.chunks_exact(p).zip(codes.chunks_exact_mut(m));
                for ((x, code), products) in each.zip(work.products.chunks_exact(m)) {
                    let norm = squared_norm(x);
                    if norm == 0.0 {
                        code.fill(T::default());
                        continue;
                    }
                    let mut b = std::mem::take(&mut work.row.b);
                    b.clear();
                    b.extend_from_slice(products);
                    b.resize(atoms.stride, T::default());
                    most = most.max(solve(Row { x, b: &b, norm }, code, &mut work.row));
                    work.row.b = b;
                }
                most
            },
        );
        most = most.max(of_block);
    }
    most
}

/// `||x||²`, in independent partial sums: a single sum would be a chain of dependent additions.
#[inline(always)]
fn squared_norm<T: Real>(x: &[T]) -> f64 {
    let mut sums = [0.0; SIMD_WIDTH];
    let (x, end) = x.as_chunks::<SIMD_WIDTH>();
    for x in x {
        for l in 0..SIMD_WIDTH {
            let x = x[l].to_f64();
            sums[l] = x.mul_add(x, sums[l]);
        }
    }
    let end = end.iter().fold(0.0, |sum, x| x.to_f64().mul_add(x.to_f64(), sum));
    sums.iter().sum::<f64>() + end
}

/// Runs `code` for parts of the rows on the threads of this pool, each with buffers of its own.
pub(super) fn on_pool<T: Real>(
    atoms: &Atoms<T>,
    rows: &[T],
    codes: &mut [T],
    code: impl Fn(&[T], &mut [T], &mut Work<T>) -> u64 + Sync,
) -> u64 {
    let (m, p) = (atoms.n_atoms(), atoms.n_features());
    if rows.len() <= ROWS_PER_TASK * p || m == 0 || p == 0 {
        return code(rows, codes, &mut Work::default());
    }
    let parts = rows.chunks(ROWS_PER_TASK * p).zip(codes.chunks_mut(ROWS_PER_TASK * m));
    let results = parallel::map_with(parts, Work::default, |work, (rows, codes)| code(rows, codes, work));
    results.into_iter().max().unwrap_or(0)
}
