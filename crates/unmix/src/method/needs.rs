//! The memory of a fit: measured peaks, as shown to the user before a fit.

use crate::data::MOST_BYTES_KEPT;
use crate::num::null;

/// Bytes of the program's code and libraries in memory, and of what every fit allocates.
pub(super) const PROGRAM_BYTES: u64 = 16 << 20;

/// Bytes of a fit of all components of `n` rows of `p` numbers, including the program, without the rows: `tables` matrices of doubles
/// with an entry for each component and column, the largest number that exist at once (working tables, the model, its file).
///
/// Derived from measured peaks of default fits from 50 x 4 to 64 x 60,000 numbers: within a factor of 2.
pub(super) fn of_fit(n: u64, p: usize, tables: u64) -> u64 {
    let one = n.min(p as u64).saturating_mul(p as u64).saturating_mul(8);
    one.saturating_mul(tables).saturating_add(PROGRAM_BYTES)
}

/// The same for a method with orthonormal components: with no more rows than columns, one of them is not
/// determined by the rows and is computed by a rule.
pub(super) fn of_orthonormal(n: u64, p: usize, tables: u64) -> u64 {
    let undetermined = match n <= p as u64 {
        true => null::memory_for_one(n.saturating_sub(1) as usize, p),
        false => 0,
    };
    of_fit(n, p, tables).saturating_add(undetermined)
}

/// Bytes of the coordinates of all rows, if they are kept for the search, and a fifth of that for intermediate results.
pub(super) fn of_coordinates(n: u64, p: usize) -> u64 {
    let all = n.saturating_mul(n.min(p as u64)).saturating_mul(8).min(MOST_BYTES_KEPT);
    all + all / 5
}

/// Bytes of sums over blocks of rows: `tables` matrices with an entry for each pair of components.
pub(super) fn of_blocks(n: u64, p: usize, tables: u64) -> u64 {
    let m = n.min(p as u64);
    m.saturating_mul(m).saturating_mul(8 * tables)
}

/// Bytes of the sums of all threads: `tables` matrices for each thread, with an entry for each pair of components.
pub(super) fn of_threads(n: u64, p: usize, tables: u64) -> u64 {
    let m = n.min(p as u64);
    m.saturating_mul(m).saturating_mul(8 * tables).saturating_mul(crate::num_threads() as u64)
}

/// Bytes of a fit over lists of cells: the cells by row and by column, the posteriors of `k` factors and an offset for each row and
/// column, their loadings and errors as the step of the other side uses them, the model and its file.
pub(super) fn of_cells(n: u64, p: usize, k: usize) -> u64 {
    let cells = n.saturating_mul(p as u64).saturating_mul(2 * 12);
    cells.saturating_add(of_lines(n, p, k)).saturating_add(PROGRAM_BYTES)
}

/// Bytes of such a fit without the cells: what each row and each column needs, whether it has a cell or not.
pub(super) fn of_lines(n: u64, p: usize, k: usize) -> u64 {
    let (lines, q) = (n.saturating_add(p as u64), k as u64 + 1);
    lines.saturating_mul((8 * 3 * (q + 1)).saturating_mul(q + 2) / 2)
}
