//! Inner products of rows with the atoms of a dictionary, and norms of the rows.

use super::{Gather, Packer, Partial, Unpacker, both};
use crate::error::Result;
use crate::num::{Block, Matrix, Plan, Real, Workspace, kernel};

/// Inner products that are held at once.
const MOST_PRODUCTS_HELD: usize = 1 << 16;

/// Sums and maxima over centred rows of their largest inner product with an atom, and of their squared norms. A missing cell counts as 0.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Correlations {
    /// Number of rows with observed cells, weighted.
    pub n: f64,
    /// Number of rows without observed cells, weighted.
    pub empty: f64,
    /// Sum over rows of the largest inner product.
    pub sum: f64,
    /// Maximum over rows of the largest inner product: for a penalty `alpha` of at least this, every code of the lasso is 0.
    pub largest: f64,
    /// Sum of the squared norms.
    pub squares: f64,
    /// The largest squared norm.
    pub square: f64,
    /// The largest absolute entry.
    pub entry: f64,
}

impl Correlations {
    /// Whether every entry of the rows was finite or a missing cell.
    pub fn finite(&self) -> bool {
        // NaN that is not a missing cell is left out of maxima, but not of sums.
        self.entry.is_finite() && !self.squares.is_nan()
    }

    /// Adds a row, given its largest inner product, whether it has no observed cell, and its weight.
    fn add(&mut self, row: &[f64], largest: f64, (empty, weight): (bool, f64)) {
        match empty {
            true => self.empty += weight,
            false => self.n += weight,
        }
        let square = kernel::sum_of_squares(row);
        self.sum += weight * largest;
        self.largest = self.largest.max(largest);
        self.squares += weight * square;
        self.square = self.square.max(square);
        self.entry = row.iter().fold(self.entry, |most, x| most.max(x.abs()));
    }

    fn numbers(&self) -> [f64; 7] {
        [self.n, self.empty, self.sum, self.largest, self.squares, self.square, self.entry]
    }
}

/// Gathers [`Correlations`], in double precision. `O(m p)` for each row and `m` atoms.
#[derive(Clone, Debug)]
pub struct GatherCorrelations {
    /// The atoms in columns, `p x m`.
    across: Matrix<f64>,
    /// Offset that is subtracted from rows.
    mean: Vec<f64>,
    /// Whether codes are non-negative, so that only positive inner products count; else absolute values.
    positive: bool,
    /// Whether NaN is a missing cell; otherwise it makes the sums NaN.
    missing: bool,
}

impl GatherCorrelations {
    /// For atoms in the rows of `atoms`, and rows from which `mean` is subtracted. `positive`: only positive inner products count, else absolute
    /// values; `missing`: NaN is a missing cell.
    pub fn new(atoms: &Matrix<f64>, mean: Vec<f64>, positive: bool, missing: bool) -> Self {
        Self { across: atoms.transposed(), mean, positive, missing }
    }

    /// Replaces missing cells by 0; returns whether there is no other cell.
    fn fill(&self, row: &mut [f64]) -> bool {
        if !self.missing {
            return false;
        }
        let empty = row.iter().all(|x| x.is_nan());
        row.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
        empty
    }
}

impl<T: Real> Gather<T> for GatherCorrelations {
    type Part = Correlations;
    const KIND: &'static str = "correlations";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_sources(n_features, self.across.cols())
    }

    fn width(&self) -> Option<usize> {
        Some(self.mean.len())
    }

    fn zero(&self, _: usize) -> Correlations {
        Correlations::default()
    }

    fn add(&self, part: &mut Correlations, block: Block<'_, T>, work: &mut Workspace<T>) {
        let (p, m) = (self.across.rows(), self.across.cols());
        let (centred, mut product) = (&mut work.wide, Vec::new());
        let at_a_time = MOST_PRODUCTS_HELD / m + 1;
        for (first, rows) in (0..).step_by(at_a_time).zip(block.data.chunks(at_a_time * p)) {
            let n = rows.len() / p;
            centred.clear();
            for row in rows.chunks_exact(p) {
                centred.extend(row.iter().zip(&self.mean).map(|(x, mean)| x.to_f64() - mean));
            }
            let empty: Vec<bool> = centred.chunks_exact_mut(p).map(|row| self.fill(row)).collect();
            product.resize(n * m, 0.0);
            kernel::product(&mut product, centred, self.across.as_slice(), n, p, m);
            for (i, (row, c)) in centred.chunks_exact(p).zip(product.chunks_exact(m)).enumerate() {
                let weight = block.weights.map_or(1.0, |w| w[first + i]);
                if weight > 0.0 {
                    let size = |c: &f64| if self.positive { *c } else { c.abs() };
                    let largest = c.iter().map(size).fold(0.0, f64::max);
                    part.add(row, largest, (empty[i], weight));
                }
            }
        }
    }

    fn pack(&self, out: &mut Packer) {
        out.matrix(&self.across);
        out.numbers(&self.mean);
        out.count(u64::from(self.positive));
        out.count(u64::from(self.missing));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (across, mean) = (from.matrix()?, from.numbers()?);
        from.check(across.rows() == mean.len() && across.cols() > 0)?;
        Ok(Self { across, mean, positive: from.flag()?, missing: from.flag()? })
    }
}

impl Partial for Correlations {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.n + part.empty) else { return };
        self.n += right.n;
        self.empty += right.empty;
        self.sum += right.sum;
        self.largest = self.largest.max(right.largest);
        self.squares += right.squares;
        self.square = self.square.max(right.square);
        self.entry = self.entry.max(right.entry);
    }

    fn pack(&self, out: &mut Packer) {
        self.numbers().into_iter().for_each(|x| out.number(x));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let mut next = || from.number();
        Ok(Self {
            n: next()?,
            empty: next()?,
            sum: next()?,
            largest: next()?,
            squares: next()?,
            square: next()?,
            entry: next()?,
        })
    }

    fn bytes(&self) -> usize {
        8 * self.numbers().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_weight_zero_are_left_out_and_missing_cells_count_as_zero() {
        let atoms = Matrix::from_vec(2, 2, vec![1.0, 0.0, 1.0, 2.0]);
        // Centred: (1, 2) twice, (-3, missing), a row without cells three times, and a row of weight 0.
        let (nan, weights) = (f64::NAN, [2.0, 1.0, 3.0, 0.0]);
        let data = [2.0, 1.0, -2.0, nan, nan, nan, nan, f64::INFINITY];
        let sums = |positive, missing| {
            let gather = GatherCorrelations::new(&atoms, vec![1.0, -1.0], positive, missing);
            let block = Block { first_row: 0, data: &data[..], n_features: 2, weights: Some(&weights[..]) };
            let mut part = Correlations::default();
            gather.add(&mut part, block, &mut Workspace::default());
            part
        };
        let found = sums(false, true);
        assert_eq!(found.numbers(), [3.0, 3.0, 13.0, 5.0, 19.0, 9.0, 3.0]);
        assert!(found.finite() && !sums(false, false).finite());
        assert_eq!(sums(true, true).sum, 10.0);
    }

    #[test]
    fn an_infinite_number_is_noticed() {
        let atoms = Matrix::from_vec(1, 2, vec![1.0, 1.0]);
        for x in [f64::INFINITY, f64::NEG_INFINITY] {
            let gather = GatherCorrelations::new(&atoms, vec![0.0; 2], false, true);
            let data = [1.0, f64::NAN, x, f64::NAN];
            let block = Block { first_row: 0, data: &data[..], n_features: 2, weights: None };
            let mut part = Correlations::default();
            gather.add(&mut part, block, &mut Workspace::default());
            assert!(!part.finite());
        }
    }
}
