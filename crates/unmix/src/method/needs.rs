//! The memory of a fit: measured peaks, as shown to the user before a fit.

use crate::data::KEPT;

/// Bytes of the program's own code and libraries that a fit reads into memory, with what every fit takes.
pub(super) const PROGRAM: u64 = 16 << 20;
/// Vectors as long as a row with which a direction in which the rows do not vary is found.
const NULL: u64 = 300;

/// Bytes of a fit of all components of `n` rows of `p` numbers, the program included and the rows not: `tables` of doubles with a
/// number for each component and column, at the moment when most of them are there (working tables, the model, its file).
///
/// Counted from measured peaks of default fits from 50 x 4 to 64 x 60,000 numbers: within a factor of 2.
pub(super) fn of_fit(n: u64, p: usize, tables: u64) -> u64 {
    let one = n.min(p as u64).saturating_mul(p as u64).saturating_mul(8);
    one.saturating_mul(tables).saturating_add(PROGRAM)
}

/// The same for a method with orthonormal components: with no more rows than columns, one of them is not
/// determined by the rows and is computed by a rule.
pub(super) fn of_orthonormal(n: u64, p: usize, tables: u64) -> u64 {
    let open = if n <= p as u64 { (p as u64).saturating_mul(8 * NULL) } else { 0 };
    of_fit(n, p, tables).saturating_add(open)
}

/// Bytes of the components' coordinates of all rows where they are kept for the search, with what is computed beside them.
pub(super) fn of_coordinates(n: u64, p: usize) -> u64 {
    let all = n.saturating_mul(n.min(p as u64)).saturating_mul(8).min(KEPT);
    all + all / 5
}

/// Bytes of sums over blocks of rows: `tables` of a number for each pair of components.
pub(super) fn of_blocks(n: u64, p: usize, tables: u64) -> u64 {
    let m = n.min(p as u64);
    m.saturating_mul(m).saturating_mul(8 * tables)
}

/// Bytes of the sums of each thread: `tables` matrices with a number for each pair of components.
pub(super) fn of_threads(n: u64, p: usize, tables: u64) -> u64 {
    let m = n.min(p as u64);
    m.saturating_mul(m).saturating_mul(8 * tables).saturating_mul(crate::num_threads() as u64)
}

/// Bytes of a fit over lists of cells: these by row and by column, and posteriors of `k` factors and an offset of each row and column,
/// with the tables that the other side reads; the model and its file.
pub(super) fn of_cells(n: u64, p: usize, k: usize) -> u64 {
    let (lines, q) = (n.saturating_add(p as u64), k as u64 + 1);
    let cells = n.saturating_mul(p as u64).saturating_mul(2 * 12);
    cells.saturating_add(lines.saturating_mul(8 * 3 * (q + 1) * (q + 2) / 2)).saturating_add(PROGRAM)
}
