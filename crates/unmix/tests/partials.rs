//! Properties of all mergeable statistics: merging an empty one changes no bit, merging is associative up to rounding, packing and
//! unpacking is the identity to the bit, and corrupt bytes are an error.

use crate::made::{apart, cast, falling};
use crate::naive;
use proptest::prelude::*;
use unmix::data::{Plan, Workspace};
use unmix::elementwise::Penalty;
use unmix::neural::native::{NativePass, NativeSums};
use unmix::neural::nonlinearity::Nonlinearity;
use unmix::neural::separation::{Pass, PassSums};
use unmix::num::{Block, Matrix, factor};
use unmix::stats::gaps::{FactorSums, GatherFactors, GatherObserved, LinearGaussian, ObservedCells};
use unmix::stats::{
    Contrast, DirectionSums, FeatureView, Filters, Gather, GatherReweighted, GatherScatter, Gram, Lengths,
    Moments, Partial, Reweighted, Scatter, ScoreSums, Sketch, SketchView, SourceSums, SourceView, Sparsity,
    Spread, Triangle, UnitSums, from_bytes, to_bytes,
};
use unmix::{Real, Rows, Run};

/// A statistic under test, with its values in the form of counts, locations and second moments that are compared up to rounding.
trait Statistic: Partial + Clone + PartialEq + std::fmt::Debug {
    const NAME: &'static str;
    fn empty(p: usize) -> Self;
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>);
    /// Counts, locations, and second moments.
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>);
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
fn with_gaps<T: Real>(block: &Block<'_, T>) -> Vec<f64> {
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
        ([&[self.n, self.empty], &self.count[..]].concat(), self.mean.clone(), self.squares.clone())
    }
}

/// The sums for a model with two factors whose noise variances differ between columns.
fn factors(p: usize) -> GatherFactors {
    let loadings = Matrix::from_fn(p, 2, |j, a| 0.5 - (2 * j + a) as f64 / 7.0);
    let noise = (0..p).map(|j| 1.0 + j as f64).collect();
    GatherFactors::new(LinearGaussian::new(vec![0.25; p], loadings, noise))
}

impl Statistic for FactorSums {
    const NAME: &'static str = "factors";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&factors(p), p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let Block { first_row, n_features, weights, .. } = block;
        let data = &with_gaps(&block)[..];
        let block = Block { first_row, data, n_features, weights };
        factors(n_features).add(self, block, &mut Workspace::default())
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let parts =
            [&self.means, &self.moments, &self.tables, &self.cross, &self.squares].map(|part| &part[..]);
        (vec![self.n], Vec::new(), [&[self.log_density], &parts.concat()[..]].concat())
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
fn lower(m: &Matrix<f64>) -> Vec<f64> {
    (0..m.rows()).flat_map(|i| m.row(i)[..=i].to_vec()).collect()
}

fn of<P: Statistic, T: Real>(x: &[T], p: usize) -> P {
    let (mut part, mut work) = (P::empty(p), Workspace::default());
    let step = Plan::for_width(p).block_rows;
    for (i, data) in x.chunks(step * p).enumerate() {
        part.gather(Block { first_row: (i * step) as u64, data, n_features: p, weights: None }, &mut work);
    }
    part
}

fn merged<P: Statistic>(parts: impl IntoIterator<Item = P>) -> P {
    parts
        .into_iter()
        .reduce(|mut a, b| {
            a.merge(b);
            a
        })
        .expect("parts")
}

/// Whether the bits are equal: 0 and -0 are equal numbers with different bits.
fn same_bits<P: Statistic>(a: &P, b: &P) -> bool {
    to_bytes(a) == to_bytes(b)
}

fn laws<P: Statistic, T: Real>(x: &[f64], p: usize, cuts: [usize; 2]) {
    let x: Vec<T> = cast(x);
    let n = x.len() / p;
    let (i, j) = (cuts[0].min(cuts[1]).min(n), cuts[0].max(cuts[1]).min(n));
    let part = |from: usize, to: usize| of::<P, T>(&x[from * p..to * p], p);
    let (a, b, c) = (part(0, i), part(i, j), part(j, n));

    for part in [&a, &b, &c] {
        assert!(same_bits(&merged([P::empty(p), part.clone()]), part), "{}: zero from the left", P::NAME);
        assert!(same_bits(&merged([part.clone(), P::empty(p)]), part), "{}: zero from the right", P::NAME);
        let bytes = to_bytes(part);
        let back: P = from_bytes(&bytes).unwrap();
        assert!(to_bytes(&back) == bytes && back == *part, "{}: bytes and back", P::NAME);
        // The packed form has up to six lengths in addition.
        let held = part.bytes();
        assert!(
            held <= bytes.len() && held + 48 >= bytes.len(),
            "{}: {held} of {} bytes",
            P::NAME,
            bytes.len()
        );
    }

    let left = merged([merged([a.clone(), b.clone()]), c.clone()]).values();
    let right = merged([a, merged([b, c])]).values();
    let whole = part(0, n).values();
    // Rounding errors: of the type of the rows for products within a block, of double precision for merging.
    let size = whole.2.iter().fold(1e-300f64, |m, v| m.max(v.abs()));
    let tol = 30.0 * (n as f64).sqrt() * T::DTYPE.eps() * size;
    // The error of a mean is at most n eps times the largest number, since large numbers may cancel.
    let far = x.iter().fold(1.0f64, |m, v| m.max(v.to_f64().abs()));
    for (name, other) in [("(ab)c and a(bc)", &right), ("(ab)c and abc", &whole)] {
        assert_eq!(left.0, other.0, "{}: {name}: counts", P::NAME);
        assert!(apart(&left.1, &other.1) <= 1e-13 * far, "{}: {name}: means", P::NAME);
        let distance = apart(&left.2, &other.2);
        assert!(
            distance <= tol,
            "{}: {name}: second moments are {distance:e} apart, more than {tol:e}",
            P::NAME
        );
    }
}

/// Rows, their number of columns, and two positions at which they are split.
fn some_rows() -> impl Strategy<Value = (Vec<f64>, usize, [usize; 2])> {
    (1usize..7, 1usize..60).prop_flat_map(|(p, n)| {
        let number = prop_oneof![4 => -10.0..10.0f64, 1 => Just(3.0), 1 => -1e4..1e4f64];
        (proptest::collection::vec(number, n * p), Just(p), [0..=n, 0..=n])
    })
}

proptest! {
    #![proptest_config(crate::made::cases(200))]

    #[test]
    fn every_statistic_keeps_the_three_laws((x, p, cuts) in some_rows()) {
        laws::<Moments, f64>(&x, p, cuts);
        laws::<Lengths, f64>(&x, p, cuts);
        laws::<Scatter, f64>(&x, p, cuts);
        laws::<Triangle, f64>(&x, p, cuts);
        laws::<Gram, f64>(&x, p, cuts);
        laws::<Sketch, f64>(&x, p, cuts);
        laws::<Sparsity, f64>(&x, p, cuts);
        laws::<SourceSums, f64>(&x, p, cuts);
        laws::<UnitSums, f64>(&x, p, cuts);
        laws::<DirectionSums, f64>(&x, p, cuts);
        laws::<Spread, f64>(&x, p, cuts);
        laws::<Reweighted, f64>(&x, p, cuts);
        laws::<ScoreSums, f64>(&x, p, cuts);
        laws::<PassSums, f64>(&x, p, cuts);
        laws::<NativeSums, f64>(&x, p, cuts);
        laws::<ObservedCells, f64>(&x, p, cuts);
        laws::<FactorSums, f64>(&x, p, cuts);
        laws::<Moments, f32>(&x, p, cuts);
        laws::<Lengths, f32>(&x, p, cuts);
        laws::<Scatter, f32>(&x, p, cuts);
        laws::<Triangle, f32>(&x, p, cuts);
        laws::<Gram, f32>(&x, p, cuts);
        laws::<Sketch, f32>(&x, p, cuts);
        laws::<Sparsity, f32>(&x, p, cuts);
        laws::<SourceSums, f32>(&x, p, cuts);
        laws::<UnitSums, f32>(&x, p, cuts);
        laws::<DirectionSums, f32>(&x, p, cuts);
        laws::<Spread, f32>(&x, p, cuts);
        laws::<Reweighted, f32>(&x, p, cuts);
        laws::<ScoreSums, f32>(&x, p, cuts);
        laws::<PassSums, f32>(&x, p, cuts);
        laws::<NativeSums, f32>(&x, p, cuts);
    }

    #[test]
    fn corrupt_bytes_are_an_error_or_a_statistic_that_merges((x, p, _) in some_rows(), at in any::<prop::sample::Index>(), new in any::<u8>()) {
        fn check<P: Statistic>(good: &P, at: &prop::sample::Index, new: u8) {
            let bytes = to_bytes(good);
            for cut in [0, bytes.len() / 2, bytes.len() - 1, at.index(bytes.len())] {
                assert!(from_bytes::<P>(&bytes[..cut]).is_err(), "{}: cut to {cut} of {} bytes", P::NAME, bytes.len());
            }
            let longer = [bytes.clone(), vec![new]].concat();
            assert!(from_bytes::<P>(&longer).is_err(), "{}: a byte too many", P::NAME);
            let mut changed = bytes.clone();
            changed[at.index(bytes.len())] = new;
            // A number may have changed, but a shape may not.
            if let Ok(part) = from_bytes::<P>(&changed) {
                let (a, b) = (part.values(), good.values());
                assert_eq!((a.1.len(), a.2.len()), (b.1.len(), b.2.len()), "{}: shape", P::NAME);
                merged([good.clone(), part.clone()]);
                merged([part, good.clone()]);
            }
        }
        check(&of::<Moments, f64>(&x, p), &at, new);
        check(&of::<Lengths, f64>(&x, p), &at, new);
        check(&of::<Sketch, f64>(&x, p), &at, new);
        check(&of::<ScoreSums, f64>(&x, p), &at, new);
        check(&of::<Scatter, f64>(&x, p), &at, new);
        check(&of::<Triangle, f64>(&x, p), &at, new);
        check(&of::<Gram, f64>(&x, p), &at, new);
        check(&of::<Sparsity, f64>(&x, p), &at, new);
        check(&of::<SourceSums, f64>(&x, p), &at, new);
        check(&of::<UnitSums, f64>(&x, p), &at, new);
        check(&of::<DirectionSums, f64>(&x, p), &at, new);
        check(&of::<Spread, f64>(&x, p), &at, new);
        check(&of::<Reweighted, f64>(&x, p), &at, new);
        check(&of::<PassSums, f64>(&x, p), &at, new);
        check(&of::<NativeSums, f64>(&x, p), &at, new);
        check(&of::<ObservedCells, f64>(&x, p), &at, new);
        check(&of::<FactorSums, f64>(&x, p), &at, new);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        // Arbitrary bytes must not panic, and whatever is accepted must have consistent shapes.
        if let Ok(s) = from_bytes::<Scatter>(&bytes) {
            prop_assert_eq!((s.lower.rows(), s.lower.cols()), (s.mean.len(), s.mean.len()));
        }
        if let Ok(m) = from_bytes::<Moments>(&bytes) {
            prop_assert_eq!(m.mean.len(), m.squares.len());
        }
        if let Ok(t) = from_bytes::<Triangle>(&bytes) {
            prop_assert_eq!(t.r.cols(), t.mean.len());
        }
        if let Ok(g) = from_bytes::<Gram>(&bytes) {
            prop_assert_eq!(g.lower.rows(), g.lower.cols());
        }
    }
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    use unmix::stats::Packer;
    let packed = |counts: &[u64], lists: &[Vec<f64>], matrix: Option<(usize, usize)>| {
        let mut out = Packer::default();
        counts.iter().for_each(|&c| out.count(c));
        lists.iter().for_each(|l| out.numbers(l));
        matrix.iter().for_each(|&(r, c)| out.matrix(&Matrix::zeros(r, c)));
        out.into_bytes()
    };
    assert!(from_bytes::<Moments>(&packed(&[4], &[vec![0.0; 3], vec![0.0; 2]], None)).is_err());
    assert!(from_bytes::<Scatter>(&packed(&[4], &[vec![0.0; 3]], Some((2, 2)))).is_err());
    assert!(from_bytes::<Scatter>(&packed(&[4], &[vec![0.0; 3]], Some((3, 2)))).is_err());
    assert!(from_bytes::<Gram>(&packed(&[4, 4], &[], Some((3, 2)))).is_err());
    assert!(from_bytes::<Triangle>(&packed(&[4, 0], &[vec![0.0; 3]], Some((2, 2)))).is_err());
    assert!(from_bytes::<Triangle>(&packed(&[4, 0], &[vec![]], Some((0, 0)))).is_err());
    // A declared length beyond any file size must be refused.
    let mut vast = Packer::default();
    vast.count(4);
    vast.count(u64::MAX);
    assert!(from_bytes::<Moments>(&vast.into_bytes()).is_err());
}

#[test]
fn merging_keeps_ten_digits_under_a_mean_of_a_million() {
    let (n, p) = (5000, 4);
    let x: Vec<f64> = falling(n, p, 1).iter().map(|v| v + 1e6).collect();
    let want: Vec<f64> =
        naive::covariance(&x, p).into_iter().enumerate().flat_map(|(i, row)| row[..=i].to_vec()).collect();
    // Five hundred small parts, merged one after the other.
    let parts: Vec<Scatter> = x.chunks(10 * p).map(|c| of(c, p)).collect();
    let found: Vec<f64> = merged(parts).values().2.iter().map(|v| v / (n as f64 - 1.0)).collect();
    assert!(apart(&found, &want) < 1e-10, "{:e}", apart(&found, &want));
    let squares = merged(x.chunks(10 * p).map(|c| of::<Moments, f64>(c, p))).squares;
    let diagonal: Vec<f64> = (0..p).map(|j| want[j * (j + 1) / 2 + j] * (n as f64 - 1.0)).collect();
    assert!(squares.iter().zip(&diagonal).all(|(a, b)| (a / b - 1.0).abs() < 1e-10));
    let square = merged(x.chunks(10 * p).map(|c| of::<Triangle, f64>(c, p))).values().2;
    assert!(square.iter().zip(&want).all(|(a, b)| (a / (n as f64 - 1.0) - b).abs() < 1e-10));
}

#[test]
fn single_precision_rows_with_a_mean_of_a_million_keep_their_covariance() {
    let (n, p) = (4000, 5);
    let x: Vec<f32> = falling(n, p, 1).iter().map(|v| (1e3 * v + 1e6) as f32).collect();
    // The reference uses the rows as they are stored, rounded to 1/16.
    let want = naive::covariance(&crate::made::wide(&x), p);
    let rows = Rows::from_slice(&x, p).unwrap();
    let found = rows.sweep(&Run::default(), "covariance", &GatherScatter::new()).unwrap();
    for i in 0..p {
        for j in 0..=i {
            let value = found.lower[(i, j)] / (n as f64 - 1.0);
            assert!(
                (value - want[i][j]).abs() < 1e-5 * want[0][0].max(want[i][i]),
                "{i}, {j}: {value} not {}",
                want[i][j]
            );
        }
    }
    for (m, want) in found.mean.iter().zip(naive::mean(&crate::made::wide(&x), p)) {
        assert!((m - want).abs() < 1e-8, "mean {m} not {want}");
    }
}
