//! Unused ("dead") atoms and their replacement.

use super::constraint::{AtomSet, norm};
use crate::choices::choices;
use crate::num::Matrix;
use crate::num::random::Stream;
use serde::{Deserialize, Serialize};

choices! {
    /// Replacement of an atom that no code has used for an epoch.
    #[derive(Default)]
    pub enum DeadUnit {
        /// The row with the largest reconstruction error, scaled to norm 1; each row is used once.
        #[default]
        Residual = "residual",
        /// A random row, scaled to norm 1.
        Data = "data",
        /// The atom is kept.
        Keep = "keep",
    }
}

/// A row and its reconstruction error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorstRow {
    /// The squared norm of its residual.
    pub(crate) square: f64,
    /// Row number.
    pub(crate) row: u64,
    pub(crate) x: Vec<f64>,
}

/// The rows with the largest reconstruction errors, in descending order; ties in the order of the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Worst(pub(crate) Vec<WorstRow>);

impl Worst {
    /// Records a row if its error is among the `room` largest so far.
    pub(crate) fn record(&mut self, room: usize, square: f64, row: u64, x: impl FnOnce() -> Vec<f64>) {
        let before = |poor: &WorstRow| poor.square > square || (poor.square == square && poor.row < row);
        if square.is_nan() || square <= 0.0 || (self.0.len() >= room && self.0.last().is_none_or(before)) {
            return;
        }
        let at = self.0.partition_point(before);
        self.0.insert(at, WorstRow { square, row, x: x() });
        self.0.truncate(room);
    }

    /// Directions for dead atoms, in descending order of the error, each used once.
    pub(crate) fn directions(self, set: AtomSet) -> impl Iterator<Item = Vec<f64>> {
        self.0.into_iter().filter_map(move |poor| direction(poor.x, set))
    }
}

/// A row as an atom of norm 1, if it can be projected onto the set.
pub(crate) fn direction(mut x: Vec<f64>, set: AtomSet) -> Option<Vec<f64>> {
    if set.positive {
        x.iter_mut().for_each(|x| *x = x.max(0.0));
    }
    let length = norm(&x);
    if length == 0.0 || !length.is_finite() {
        return None;
    }
    x.iter_mut().for_each(|x| *x /= length);
    Some(x)
}

/// Rows of `x`, `p` numbers each, as atoms, in an order determined by `draws`.
pub(crate) fn random_directions(x: Vec<Vec<f64>>, set: AtomSet, draws: Stream) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = x.into_iter().filter_map(|row| direction(row, set)).collect();
    draws.shuffle(0, &mut all);
    all
}

/// Replaces the atoms `dead` by `with`, as far as there are enough; returns the atoms that were replaced.
pub(crate) fn replace(
    atoms: &mut Matrix<f64>,
    dead: &[usize],
    with: impl Iterator<Item = Vec<f64>>,
) -> Vec<usize> {
    let mut replaced = Vec::new();
    for (&j, atom) in dead.iter().zip(with) {
        atoms.row_mut(j).copy_from_slice(&atom);
        replaced.push(j);
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::constraint::AtomNorm;

    #[test]
    fn the_rows_of_largest_error_are_kept_in_order_and_each_is_used_once() {
        let mut worst = Worst::default();
        for (row, square) in [3.0, 9.0, 1.0, 9.0, 0.0, f64::NAN, 5.0].into_iter().enumerate() {
            worst.record(3, square, row as u64, || vec![row as f64 + 1.0, 0.0]);
        }
        let kept: Vec<u64> = worst.0.iter().map(|poor| poor.row).collect();
        assert_eq!(kept, [1, 3, 6]);
        let set = AtomSet { norm: AtomNorm::Ball, positive: false };
        let mut atoms = Matrix::zeros(5, 2);
        assert_eq!(replace(&mut atoms, &[0, 2, 3, 4], worst.directions(set)), [0, 2, 3]);
        assert_eq!(atoms.row(2), [1.0, 0.0]);
        assert_eq!(atoms.row(4), [0.0, 0.0]);
    }
}
