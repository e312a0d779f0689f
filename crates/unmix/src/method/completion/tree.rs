//! A matrix of rank one from its cells, by propagation along a spanning tree of rows and columns.
//!
//! ```text
//! y_ij = u_i v_j:   v_j = y_ij / u_i,   u_i = y_ij / v_j
//! ```
//!
//! starting from one row, along a maximum spanning tree (Prim's algorithm), so that divisors are as large as possible. Without noise the
//! result is exact; with noise it is the initial value of alternating least squares.

use super::cells::Cells;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Cells {
    /// `v`, for connected cells; `None` if only a cell of 0 connects two parts of them. `O(cells log cells)`.
    pub(super) fn propagated(&self) -> Option<Vec<f64>> {
        let (n, p) = self.shape();
        let by_column = self.by_row.transposed();
        let size = |i: usize| self.by_row.row(i).1.iter().fold(0.0f64, |m, y| m.max(y.abs()));
        let first = (0..n).max_by(|a, b| size(*a).total_cmp(&size(*b)).then(b.cmp(a)))?;
        let mut value: Vec<Option<f64>> = vec![None; n + p];
        // The bits of numbers that are not negative are in the order of the numbers.
        let mut open: BinaryHeap<(u64, Reverse<usize>, usize, u64)> = BinaryHeap::new();
        let mut reached = (first, 1.0);
        loop {
            let (at, own) = reached;
            value[at] = Some(own);
            let (lines, line, shift) = if at < n { (&self.by_row, at, n) } else { (&by_column, at - n, 0) };
            let (places, cells) = lines.row(line);
            for (&to, y) in places.iter().zip(cells) {
                let to = to as usize + shift;
                if value[to].is_none() {
                    open.push((y.abs().to_bits(), Reverse(to), at, y.to_bits()));
                }
            }
            reached = loop {
                let Some((_, Reverse(to), from, y)) = open.pop() else {
                    return Some((n..n + p).map(|j| value[j].unwrap_or(0.0)).collect());
                };
                if value[to].is_some() {
                    continue;
                }
                let (y, from) = (f64::from_bits(y), value[from]?);
                if y == 0.0 || from == 0.0 {
                    return None;
                }
                break (to, y / from);
            };
        }
    }
}
