//! The rows that activate each unit most strongly.

use crate::data::Sink;
use crate::error::Result;
use crate::num::Real;

/// For each unit the rows with its largest codes, collected during encoding: a sink of codes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TopRows {
    /// Maximum number of rows for each unit.
    pub n: usize,
    /// Row indices, `n` for each unit, by descending code, ties in the order of the rows; -1 if fewer rows activate it.
    pub rows: Vec<i64>,
    /// Their codes; 0 if `rows` is -1.
    pub values: Vec<f64>,
    /// Number of rows so far.
    seen: i64,
    units: usize,
}

impl TopRows {
    /// Without rows, for `units` units.
    pub fn new(units: usize, n: usize) -> Self {
        Self { n, rows: vec![-1; units * n], values: vec![0.0; units * n], seen: 0, units }
    }

    /// Indices of the rows of unit `unit` and their codes.
    pub fn of(&self, unit: usize) -> impl Iterator<Item = (usize, f64)> {
        let at = unit * self.n..(unit + 1) * self.n;
        let pairs = self.rows[at.clone()].iter().zip(&self.values[at]);
        pairs.filter(|(row, _)| **row >= 0).map(|(row, value)| (*row as usize, *value))
    }

    /// Records the code of the current row, if it is among the `n` largest of the unit so far.
    fn record(&mut self, unit: usize, z: f64) {
        let at = unit * self.n..(unit + 1) * self.n;
        let (rows, values) = (&mut self.rows[at.clone()], &mut self.values[at]);
        if values.last().is_none_or(|least| z <= *least) {
            return;
        }
        let place = values.iter().position(|v| z > *v).unwrap_or(0);
        values[place..].rotate_right(1);
        rows[place..].rotate_right(1);
        (values[place], rows[place]) = (z, self.seen);
    }
}

impl<T: Real> Sink<T> for TopRows {
    fn put(&mut self, codes: &[T]) -> Result<()> {
        for code in codes.chunks_exact(self.units.max(1)) {
            for (j, z) in code.iter().enumerate().filter(|(_, z)| **z > T::default()) {
                self.record(j, z.to_f64());
            }
            self.seen += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn the_largest_codes_of_each_unit_are_those_of_a_sort() {
        let (n, m) = (200, 5);
        let draws = Stream::new(3, 1);
        // Few distinct values, so that there are ties; the last unit is never active.
        let code = |i: usize, j: usize| match j {
            4 => 0.0,
            _ => ((draws.uniform((i * m + j) as u64) * 12.0).floor() - 6.0).max(0.0),
        };
        let codes: Vec<f64> = (0..n * m).map(|at| code(at / m, at % m)).collect();
        let mut top = TopRows::new(m, 7);
        for part in codes.chunks(13 * m) {
            top.put(part).unwrap();
        }
        for j in 0..m {
            let mut order: Vec<usize> = (0..n).filter(|i| codes[i * m + j] > 0.0).collect();
            order.sort_by(|a, b| codes[b * m + j].total_cmp(&codes[a * m + j]).then(a.cmp(b)));
            let wanted: Vec<(usize, f64)> = order.iter().take(7).map(|&i| (i, codes[i * m + j])).collect();
            assert_eq!(top.of(j).collect::<Vec<_>>(), wanted);
        }
        assert_eq!(top.rows[4 * 7..], [-1; 7]);
    }
}
