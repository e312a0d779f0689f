//! Every mergeable statistic, with its values in a form that can be compared.

use unmix::Real;
use unmix::data::Workspace;
use unmix::internal::elementwise::Penalty;
use unmix::internal::gaps::{
    ExpectedMoments, FactorSums, GatherFactors, GatherMoments, GatherObserved, LinearGaussian, ObservedCells,
};
use unmix::internal::neural::native::{NativePass, NativeSums};
use unmix::internal::neural::nonlinearity::Nonlinearity;
use unmix::internal::neural::separation::{Pass, PassSums};
use unmix::internal::num::{Block, Matrix, factor};
use unmix::stats::{
    Contrast, DirectionSums, FeatureView, Filters, Gather, GatherReweighted, Gram, Lengths, Moments, Partial,
    Reweighted, Scatter, ScoreSums, Sketch, SketchView, SourceSums, SourceView, Sparsity, Spread, Triangle,
    UnitSums,
};

/// A statistic under test, with its values in the form of counts, locations and second moments that are compared up to rounding.
pub(super) trait Statistic: Partial + Clone + PartialEq + std::fmt::Debug {
    const NAME: &'static str;
    fn empty(p: usize) -> Self;
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>);
    /// Counts, locations, and second moments.
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>);
    /// Bytes that the packed form may have in addition to the memory of the statistic: six lengths.
    fn extra(&self) -> usize {
        48
    }
}

impl Statistic for Moments {
    const NAME: &'static str = "moments";
    fn empty(p: usize) -> Self {
        Moments::empty(p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        Moments::gather(self, block, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n], self.mean.clone(), self.squares.clone())
    }
}

impl Statistic for Lengths {
    const NAME: &'static str = "lengths";
    fn empty(_: usize) -> Self {
        Lengths::default()
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let about: Vec<f64> = (0..block.n_features).map(|j| 0.1 * j as f64).collect();
        Lengths::gather(self, block, &about, None)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n], Vec::new(), vec![self.sum])
    }
}

impl Statistic for Scatter {
    const NAME: &'static str = "scatter";
    fn empty(p: usize) -> Self {
        Scatter::empty(p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        Scatter::gather(self, block, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n], self.mean.clone(), lower(&self.lower))
    }
}

impl Statistic for Triangle {
    const NAME: &'static str = "triangle";
    fn empty(p: usize) -> Self {
        Triangle::empty(p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        Triangle::gather(self, block, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let square = factor::multiply(&self.r.transposed(), &self.r);
        (vec![self.n, self.varying as f64], self.mean.clone(), lower(&square))
    }
}

impl Statistic for Gram {
    const NAME: &'static str = "gram";
    fn empty(p: usize) -> Self {
        Gram::empty(p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let view = FeatureView::new(block.n_features as f64, None, true, false);
        Gram::gather(self, block, &view, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.features as f64, self.varying as f64], Vec::new(), lower(&self.lower))
    }
}

impl Statistic for Sketch {
    const NAME: &'static str = "sketch";
    fn empty(p: usize) -> Self {
        Sketch::empty(2, p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = block.n_features;
        let directions = Matrix::from_fn(2, p, |i, j| 1.0 + (i * p + j) as f64 / 7.0);
        let mean = vec![0.25; p];
        Sketch::gather(self, block, &SketchView::new(&mean, &directions), work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n as f64], Vec::new(), self.image.as_slice().to_vec())
    }
}

impl Statistic for Sparsity {
    const NAME: &'static str = "sparsity";
    fn empty(p: usize) -> Self {
        Sparsity::empty(2, p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = block.n_features;
        let rows = Matrix::from_fn(2, p, |i, j| T::from_f64(0.5 - (i * p + j) as f64 / 7.0));
        let mean = vec![0.25; p];
        let filters = Filters { mean: Some((&mean).into()), rows, penalty: Penalty::SmoothL1 };
        Sparsity::gather(self, block, &filters, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n], Vec::new(), [&[self.value], self.gradient.as_slice()].concat())
    }
}

/// Two sources, or one, with unmixing vectors over all columns.
fn sources<T: Real>(k: usize, p: usize, mean: &[f64]) -> SourceView<'_, T> {
    let unmixing = Matrix::from_fn(k, p, |i, j| T::from_f64((0.5 - (i * p + j) as f64 / 7.0) / 100.0));
    SourceView::new(Some(mean), unmixing, Contrast::LogCosh(1.0))
}

impl Statistic for SourceSums {
    const NAME: &'static str = "sources";
    fn empty(_: usize) -> Self {
        SourceSums::empty(2)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let mean = vec![0.25; block.n_features];
        SourceSums::gather(self, block, &sources(2, block.n_features, &mean), work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n], Vec::new(), [self.cross.as_slice(), &self.slope, &self.loss].concat())
    }
}

impl Statistic for ScoreSums {
    const NAME: &'static str = "scores";
    fn empty(_: usize) -> Self {
        ScoreSums::empty(2)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let mean = vec![0.25; block.n_features];
        ScoreSums::gather(self, block, &sources(2, block.n_features, &mean), work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n], Vec::new(), self.sums.as_slice().to_vec())
    }
}

impl Statistic for UnitSums {
    const NAME: &'static str = "one source";
    fn empty(p: usize) -> Self {
        UnitSums::empty(p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let mean = vec![0.25; block.n_features];
        UnitSums::gather(self, block, &sources(1, block.n_features, &mean), work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n], Vec::new(), [&self.cross[..], &[self.slope, self.loss]].concat())
    }
}

impl Statistic for DirectionSums {
    const NAME: &'static str = "directions";
    fn empty(p: usize) -> Self {
        DirectionSums::empty(3, p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let mean = vec![0.25; block.n_features];
        DirectionSums::gather(self, block, &sources(3, block.n_features, &mean), work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n], Vec::new(), [self.cross.as_slice(), &self.slope, &self.loss].concat())
    }
}

impl Statistic for Spread {
    const NAME: &'static str = "spread";
    fn empty(_: usize) -> Self {
        Spread::empty(2)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let mean = vec![0.25; block.n_features];
        Spread::gather(self, block, &sources(2, block.n_features, &mean), work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let counts = [&[self.n], &self.near[..]].concat();
        (counts, Vec::new(), [&self.sizes[..], &self.squares, &self.fourth].concat())
    }
}

impl Statistic for Reweighted {
    const NAME: &'static str = "reweighted";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&by_sizes(p), p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        by_sizes(block.n_features).add(self, block, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n, self.near], Vec::new(), [&[self.sizes], &lower(&self.lower)[..]].concat())
    }
}

/// Weights by a direction.
fn by_sizes(p: usize) -> GatherReweighted {
    GatherReweighted { direction: (0..p).map(|j| 0.3 - 0.1 * j as f64).collect(), floor: 0.5, near: 0.2 }
}

/// The rows of a block, in which 3 stands for a missing cell.
pub(super) fn with_gaps<T: Real>(block: &Block<'_, T>) -> Vec<f64> {
    block.data.iter().map(|x| x.to_f64()).map(|x| if x == 3.0 { f64::NAN } else { x }).collect()
}

impl Statistic for ObservedCells {
    const NAME: &'static str = "observed cells";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&GatherObserved, p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let Block { first_row, n_features, weights, .. } = block;
        let data = &with_gaps(&block)[..];
        GatherObserved.add(self, Block { first_row, data, n_features, weights }, &mut Workspace::default())
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let counts = [&[self.n, self.empty], &self.count[..], &self.rows_by_cells].concat();
        (counts, self.mean.clone(), self.squares.clone())
    }
}

/// A model with two factors whose noise variances differ between columns.
pub(super) fn gaussian(p: usize) -> LinearGaussian {
    let loadings = Matrix::from_fn(p, 2, |j, a| 0.5 - (2 * j + a) as f64 / 7.0);
    let noise = (0..p).map(|j| 1.0 + j as f64).collect();
    LinearGaussian::new(vec![0.25; p], loadings, noise)
}

impl Statistic for FactorSums {
    const NAME: &'static str = "factors";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&GatherFactors::new(gaussian(p)), p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let Block { first_row, n_features, weights, .. } = block;
        let data = &with_gaps(&block)[..];
        let block = Block { first_row, data, n_features, weights };
        GatherFactors::new(gaussian(n_features)).add(self, block, &mut Workspace::default())
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let parts =
            [&self.means, &self.moments, &self.tables, &self.cross, &self.squares].map(|part| &part[..]);
        (vec![self.n], Vec::new(), [&[self.log_density], &parts.concat()[..]].concat())
    }
}

/// Expected moments under that model, in units that differ between columns.
fn expected(p: usize) -> GatherMoments {
    GatherMoments::new(gaussian(p), (0..p).map(|j| 1.0 + j as f64).collect())
}

impl Statistic for ExpectedMoments {
    const NAME: &'static str = "expected moments";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&expected(p), p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let Block { first_row, n_features, weights, .. } = block;
        let data = &with_gaps(&block)[..];
        let block = Block { first_row, data, n_features, weights };
        expected(n_features).add(self, block, &mut Workspace::default())
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let moments = [&lower(&self.filled.lower)[..], &self.covariances, &[self.log_density]].concat();
        (vec![self.filled.n], self.filled.mean.clone(), moments)
    }
}

/// Codes of a block along two arbitrary directions.
fn codes<T: Real>(block: &Block<'_, T>) -> Vec<T> {
    let p = block.n_features;
    let w = |j: usize, i: usize| (0.5 - (j * p + i) as f64 / 7.0) / 100.0;
    let code = |row: &[T], j: usize| (0..p).map(|i| row[i].to_f64() * w(j, i)).sum::<f64>();
    block.rows().flat_map(|row| [0, 1].map(|j| T::from_f64(code(row, j)))).collect()
}

impl Statistic for PassSums {
    const NAME: &'static str = "forces";
    fn empty(p: usize) -> Self {
        PassSums::empty(2, p, 1)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let h = Nonlinearity::tanh(vec![4.0, 0.8]);
        let pass = Pass::new(h.clone(), vec![h]);
        PassSums::gather(self, &pass, block.data, &mut codes(&block), None, &mut work.nonlinear)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let parts =
            [self.gradient.as_slice(), &self.score_mean, &self.separations, self.pair_slope.as_slice()];
        (Vec::new(), Vec::new(), parts.concat())
    }
}

impl Statistic for NativeSums {
    const NAME: &'static str = "forces and curvatures";
    fn empty(p: usize) -> Self {
        NativeSums::empty(2, p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let h = Nonlinearity::tanh(vec![4.0, 0.8]);
        let pass = NativePass::new(&h, &[2.0, 1.0], &Matrix::from_vec(2, 2, vec![1.0, 0.05, 0.05, 1.0]));
        NativeSums::gather(self, &pass, block.data, &mut codes(&block), None, &mut work.nonlinear)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (Vec::new(), Vec::new(), [self.gradient.as_slice(), self.pairs.as_slice(), &self.alone].concat())
    }
}

/// The lower triangle; the rest of the matrix is not filled.
pub(super) fn lower(m: &Matrix<f64>) -> Vec<f64> {
    (0..m.rows()).flat_map(|i| m.row(i)[..=i].to_vec()).collect()
}
