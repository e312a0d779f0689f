//! Sums for searches of directions: cross products of projections with rows, the dispersion of projections, and weighted second
//! moments.

use super::sources::{GatherView, SourceStatistic};
use super::{Gather, Packer, Partial, SourceView, Unpacker, both};
use crate::error::Result;
use crate::num::{Block, Matrix, Plan, Real, Workspace, kernel};

/// Sums over rows of projections `y = B (x - mean)` and of the cross products of their contrast with the rows: `k p + 2 k + 1` numbers, one
/// step of a power iteration.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DirectionSums {
    /// Number of rows so far, weighted.
    pub n: f64,
    /// `Σ g(y_i) (x - mean)'`, `k x p`.
    pub cross: Matrix<f64>,
    /// `Σ g'(y_i)`.
    pub slope: Vec<f64>,
    /// `Σ G(y_i)`.
    pub loss: Vec<f64>,
}

/// Gathers [`DirectionSums`].
pub(crate) type GatherDirections<'a, T> = GatherView<'a, T, DirectionSums>;

impl DirectionSums {
    /// The empty sum, for `k` directions in `p` columns.
    pub fn empty(k: usize, p: usize) -> Self {
        Self { n: 0.0, cross: Matrix::zeros(k, p), slope: vec![0.0; k], loss: vec![0.0; k] }
    }

    /// Adds a block of rows. `O(b k p)`.
    pub fn gather<T: Real>(
        &mut self,
        block: Block<'_, T>,
        view: &SourceView<'_, T>,
        work: &mut Workspace<T>,
    ) {
        let (k, p) = (self.slope.len(), block.n_features);
        let Workspace { rows, product, wide, .. } = work;
        let (centred, weights) = block.counted(view.mean(), rows, wide);
        let n = centred.len() / p;
        if n == 0 {
            return;
        }
        product.resize(2 * k * n + k * p, T::default());
        let (sources, rest) = product.split_at_mut(k * n);
        let (scores, scratch) = rest.split_at_mut(k * n);
        kernel::product_by_rows(sources, view.unmixing.as_slice(), centred, k, n, p);
        let contrasts = view.contrast();
        for (i, (y, g)) in sources.chunks_exact(n).zip(scores.chunks_exact_mut(n)).enumerate() {
            let sums = match weights {
                None => contrasts.apply(i, y, g),
                Some(weights) => contrasts.apply_weighted(i, y, weights, g),
            };
            self.slope[i] += sums.slope;
            self.loss[i] += sums.loss;
        }
        kernel::product_of_few(scratch, scores, centred, [k, n, p]);
        self.cross.as_mut_slice().iter_mut().zip(&*scratch).for_each(|(t, s)| *t += s.to_f64());
        self.n += weights.map_or(n as f64, |w| w.iter().sum());
    }
}

impl<T: Real> SourceStatistic<T> for DirectionSums {
    const KIND: &'static str = "directions";

    fn zero(k: usize, p: usize) -> Self {
        Self::empty(k, p)
    }

    fn add(&mut self, block: Block<'_, T>, view: &SourceView<'_, T>, work: &mut Workspace<T>) {
        self.gather(block, view, work);
    }
}

impl Partial for DirectionSums {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.n) else { return };
        self.n += right.n;
        add(self.cross.as_mut_slice(), right.cross.as_slice());
        add(&mut self.slope, &right.slope);
        add(&mut self.loss, &right.loss);
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.matrix(&self.cross);
        out.numbers(&self.slope);
        out.numbers(&self.loss);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part =
            Self { n: from.number()?, cross: from.matrix()?, slope: from.numbers()?, loss: from.numbers()? };
        from.check([part.slope.len(), part.loss.len()] == [part.cross.rows(); 2])?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        8 * (1 + 2 * self.slope.len() + self.cross.as_slice().len())
    }
}

/// Projections of at most this absolute value count as near 0, see [`Spread`].
pub(crate) const NEAR_ZERO: f64 = 0.01;

/// Sums over rows for the dispersion of projections `y = B (x - mean)`: absolute values, squares, fourth powers, and the number
/// near 0.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Spread {
    /// Number of rows so far, weighted.
    pub n: f64,
    /// `Σ |y_i|`.
    pub sizes: Vec<f64>,
    /// `Σ y_i²`.
    pub squares: Vec<f64>,
    /// `Σ y_i⁴`.
    pub fourth: Vec<f64>,
    /// Number of rows with `|y_i|` at most 0.01, weighted.
    pub near: Vec<f64>,
}

/// Gathers a [`Spread`].
pub(crate) type GatherSpread<'a, T> = GatherView<'a, T, Spread>;

impl Spread {
    /// The empty sum, for `k` directions.
    pub fn empty(k: usize) -> Self {
        let none = || vec![0.0; k];
        Self { n: 0.0, sizes: none(), squares: none(), fourth: none(), near: none() }
    }

    /// Adds a block of rows. `O(b k p)`.
    pub fn gather<T: Real>(
        &mut self,
        block: Block<'_, T>,
        view: &SourceView<'_, T>,
        work: &mut Workspace<T>,
    ) {
        let (k, p) = (self.sizes.len(), block.n_features);
        let Workspace { rows, product, wide, .. } = work;
        let (centred, weights) = block.counted(view.mean(), rows, wide);
        let n = centred.len() / p;
        if n == 0 {
            return;
        }
        product.resize(k * n, T::default());
        kernel::product_by_rows(product, view.unmixing.as_slice(), centred, k, n, p);
        for (i, y) in product.chunks_exact(n).enumerate() {
            let mut sums = [0.0; 4];
            for (r, y) in y.iter().enumerate() {
                let (y, w) = (y.to_f64().abs(), weights.map_or(1.0, |w| w[r]));
                let square = w * y * y;
                let near = if y <= NEAR_ZERO { w } else { 0.0 };
                sums = [sums[0] + w * y, sums[1] + square, sums[2] + square * y * y, sums[3] + near];
            }
            let totals = [&mut self.sizes, &mut self.squares, &mut self.fourth, &mut self.near];
            totals.into_iter().zip(sums).for_each(|(total, sum)| total[i] += sum);
        }
        self.n += weights.map_or(n as f64, |w| w.iter().sum());
    }
}

impl<T: Real> SourceStatistic<T> for Spread {
    const KIND: &'static str = "spread";

    fn zero(k: usize, _: usize) -> Self {
        Self::empty(k)
    }

    fn add(&mut self, block: Block<'_, T>, view: &SourceView<'_, T>, work: &mut Workspace<T>) {
        self.gather(block, view, work);
    }
}

impl Partial for Spread {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.n) else { return };
        self.n += right.n;
        add(&mut self.sizes, &right.sizes);
        add(&mut self.squares, &right.squares);
        add(&mut self.fourth, &right.fourth);
        add(&mut self.near, &right.near);
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        [&self.sizes, &self.squares, &self.fourth, &self.near].into_iter().for_each(|v| out.numbers(v));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part = Self {
            n: from.number()?,
            sizes: from.numbers()?,
            squares: from.numbers()?,
            fourth: from.numbers()?,
            near: from.numbers()?,
        };
        from.check([part.squares.len(), part.fourth.len(), part.near.len()] == [part.sizes.len(); 3])?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        8 * (1 + 4 * self.sizes.len())
    }
}

/// Second moments of rows with weights `1 / sqrt(y² + floor²)`, where `y` is the projection on a direction: one step of iteratively
/// reweighted least squares that minimises `Σ |y|`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reweighted {
    /// Number of rows so far, weighted.
    pub n: f64,
    /// Number of rows whose projection is near 0, weighted.
    pub near: f64,
    /// `Σ |y|`.
    pub sizes: f64,
    /// `Σ x x' / sqrt(y² + floor²)`, in the lower triangle.
    pub lower: Matrix<f64>,
}

/// Gathers [`Reweighted`] moments of a direction.
#[derive(Clone, Debug)]
pub struct GatherReweighted {
    /// The direction: a number for each column.
    pub direction: Vec<f64>,
    /// Lower bound in the denominator of the weights.
    pub floor: f64,
    /// Projections of at most this absolute value are near 0.
    pub near: f64,
}

impl<T: Real> Gather<T> for GatherReweighted {
    type Part = Reweighted;
    const KIND: &'static str = "reweighted";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_sources(n_features, n_features)
    }

    fn width(&self) -> Option<usize> {
        Some(self.direction.len())
    }

    fn zero(&self, p: usize) -> Reweighted {
        Reweighted { n: 0.0, near: 0.0, sizes: 0.0, lower: Matrix::zeros(p, p) }
    }

    fn add(&self, part: &mut Reweighted, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = block.n_features;
        let Workspace { rows, wide, product, .. } = work;
        let (kept, weights) = block.counted(None, rows, wide);
        let n = kept.len() / p;
        product.clear();
        product.resize(n * p.next_multiple_of(T::lanes()), T::default());
        let mut weighed = vec![0.0; p];
        for (r, row) in kept.chunks_exact(p).enumerate() {
            let y: f64 = row.iter().zip(&self.direction).map(|(x, d)| x.to_f64() * d).sum();
            let w = weights.map_or(1.0, |w| w[r]);
            part.n += w;
            part.sizes += w * y.abs();
            part.near += if y.abs() <= self.near { w } else { 0.0 };
            let root = (w / y.hypot(self.floor)).sqrt();
            weighed.iter_mut().zip(row).for_each(|(to, x)| *to = root * x.to_f64());
            kernel::pack_row(&weighed, r, n, product);
        }
        kernel::add_gram(part.lower.as_mut_slice(), product, n, p);
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.direction);
        out.number(self.floor);
        out.number(self.near);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self { direction: from.numbers()?, floor: from.number()?, near: from.number()? })
    }
}

impl Partial for Reweighted {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.n) else { return };
        self.n += right.n;
        self.near += right.near;
        self.sizes += right.sizes;
        add(self.lower.as_mut_slice(), right.lower.as_slice());
    }

    fn pack(&self, out: &mut Packer) {
        [self.n, self.near, self.sizes].into_iter().for_each(|x| out.number(x));
        out.matrix(&self.lower);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (n, near, sizes) = (from.number()?, from.number()?, from.number()?);
        let part = Self { n, near, sizes, lower: from.matrix()? };
        from.check(part.lower.rows() == part.lower.cols())?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        8 * (3 + self.lower.as_slice().len())
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
}
