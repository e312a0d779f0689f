//! Sums of independent component analysis over rows: cross products of sources with their contrasts.

use super::contrast::HeldContrasts;
use super::{Contrasts, Gather, Packer, Partial, Unpacker, both};
use crate::error::Result;
use crate::num::{Block, Matrix, Plan, Real, Workspace, kernel};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::marker::PhantomData;

/// Sums over rows `x` of the sources `y = B (x - mean)` and of their contrast.
///
/// `k² + 2 k + 1` numbers, whatever the number of rows: sufficient for one step of FastICA, Picard or Infomax.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceSums {
    /// Number of rows so far, weighted.
    pub n: f64,
    /// `Σ g(y_i) y_j`, `k x k`.
    pub cross: Matrix<f64>,
    /// `Σ g'(y_i)`.
    pub slope: Vec<f64>,
    /// `Σ G(y_i)`.
    pub loss: Vec<f64>,
}

/// The map from rows to sources, `y = B (x - mean)`, and the contrast.
#[derive(Clone, Debug)]
pub struct SourceView<'a, T> {
    /// Offset that is subtracted first, unless it is 0 throughout.
    mean: Option<Cow<'a, [f64]>>,
    /// `B`, `k x p`.
    pub(super) unmixing: Matrix<T>,
    /// `Bᵀ` in panels, padded with zeros; with a half panel if that suffices.
    panels: Vec<T>,
    /// Number of sources, rounded up to whole panels or half panels.
    width: usize,
    /// The contrast of all sources, or one for each.
    contrast: HeldContrasts<'a>,
}

impl<'a, T: Real> SourceView<'a, T> {
    /// With the map `unmixing`, `k x p`; `mean` is `None` if it is 0 throughout.
    pub fn new(mean: Option<&'a [f64]>, unmixing: Matrix<T>, contrast: impl Into<Contrasts<'a>>) -> Self {
        Self::over(mean.map(Cow::Borrowed), unmixing, contrast.into().into())
    }

    fn over(mean: Option<Cow<'a, [f64]>>, unmixing: Matrix<T>, contrast: HeldContrasts<'a>) -> Self {
        let (k, p, lanes) = (unmixing.rows(), unmixing.cols(), T::lanes());
        let width = k.next_multiple_of(lanes / 2);
        let mut panels = vec![T::default(); p * width];
        for (first, panel) in (0..k).step_by(lanes).zip(panels.chunks_mut((p * lanes).max(1))) {
            let lanes = panel.len() / p;
            for i in first..k.min(first + lanes) {
                let column = panel[i - first..].iter_mut().step_by(lanes);
                column.zip(unmixing.row(i)).for_each(|(to, x)| *to = *x);
            }
        }
        Self { mean, unmixing, panels, width, contrast }
    }
}

impl<T: Real> SourceView<'_, T> {
    /// Offset that is subtracted first, unless it is 0 throughout.
    pub(super) fn mean(&self) -> Option<&[f64]> {
        self.mean.as_deref()
    }

    /// The contrast of all sources, or one for each.
    pub(super) fn contrast(&self) -> Contrasts<'_> {
        self.contrast.lent()
    }

    pub(super) fn pack(&self, out: &mut Packer) {
        out.maybe(self.mean());
        out.matrix_of(&self.unmixing);
        self.contrast.pack(out);
    }

    pub(super) fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (mean, unmixing, contrast) = (from.maybe()?, from.matrix_of()?, HeldContrasts::unpack(from)?);
        from.check(mean.as_ref().is_none_or(|m| m.len() == unmixing.cols()))?;
        if let Contrasts::Each(scores) = contrast.lent() {
            from.check(scores.is_empty() || scores.len() == unmixing.rows())?;
        }
        Ok(Self::over(mean.map(Cow::Owned), unmixing, contrast))
    }
}

impl SourceSums {
    /// The empty sum, for `k` sources.
    pub fn empty(k: usize) -> Self {
        Self { n: 0.0, cross: Matrix::zeros(k, k), slope: vec![0.0; k], loss: vec![0.0; k] }
    }

    /// Adds a block of rows: two products and one pass of the contrast, all on numbers that are in cache. `O(b k (p + k))`.
    pub fn gather<T: Real>(
        &mut self,
        block: Block<'_, T>,
        view: &SourceView<'_, T>,
        work: &mut Workspace<T>,
    ) {
        let (n, p, k) = (block.n_rows(), block.n_features, self.slope.len());
        let contrast = match view.contrast.lent() {
            Contrasts::One(contrast) if block.weights.is_none() => contrast,
            contrasts => return self.gather_each(block, view, contrasts, work),
        };
        let Workspace { rows, product, wide, .. } = work;
        let ((centred, _), width) = (block.counted(view.mean(), rows, wide), view.width);
        product.resize(2 * n * width, T::default());
        let (sources, scores) = product.split_at_mut(n * width);
        T::multiply(sources, centred, &view.panels, n, p, width);
        let (lanes, panel) = (T::lanes(), n * T::lanes());
        let sums = self.slope.chunks_mut(lanes).zip(self.loss.chunks_mut(lanes));
        let pairs = sources.chunks(panel).zip(scores.chunks_mut(panel));
        for ((y, g), (slope, loss)) in pairs.zip(sums) {
            contrast.apply_to_panel(y, g, y.len() / n, slope, loss);
        }
        if k == width {
            T::add_cross(self.cross.as_mut_slice(), scores, sources, n, width, k);
        } else {
            wide.clear();
            wide.resize(width * width, 0.0);
            T::add_cross(wide, scores, sources, n, width, k);
            for (i, padded) in wide.chunks_exact(width).take(k).enumerate() {
                self.cross.row_mut(i).iter_mut().zip(padded).for_each(|(t, x)| *t += x);
            }
        }
        self.n += n as f64;
    }

    /// [`gather`](Self::gather) for one contrast per source or for weighted rows: sources are stored as rows here, so that each contrast
    /// is applied to contiguous numbers.
    fn gather_each<T: Real>(
        &mut self,
        block: Block<'_, T>,
        view: &SourceView<'_, T>,
        contrasts: Contrasts<'_>,
        work: &mut Workspace<T>,
    ) {
        let (p, k) = (block.n_features, self.slope.len());
        let Workspace { rows, product, wide, .. } = work;
        let (centred, weights) = block.counted(view.mean(), rows, wide);
        let n = centred.len() / p;
        if n == 0 {
            return;
        }
        product.resize(2 * k * n + k * k, T::default());
        let (sources, rest) = product.split_at_mut(k * n);
        let (scores, scratch) = rest.split_at_mut(k * n);
        kernel::product_by_rows(sources, view.unmixing.as_slice(), centred, k, n, p);
        for (i, (y, g)) in sources.chunks_exact(n).zip(scores.chunks_exact_mut(n)).enumerate() {
            let sums = match weights {
                None => contrasts.apply(i, y, g),
                Some(weights) => contrasts.apply_weighted(i, y, weights, g),
            };
            self.slope[i] += sums.slope;
            self.loss[i] += sums.loss;
        }
        kernel::add_product_by_rows(self.cross.as_mut_slice(), scores, sources, [k, k, n], scratch);
        self.n += weights.map_or(n as f64, |w| w.iter().sum());
    }

    /// Whether every sum is a finite number.
    pub fn finite(&self) -> bool {
        self.cross.as_slice().iter().chain(&self.slope).chain(&self.loss).all(|x| x.is_finite())
    }
}

/// Sums over rows of one source `y = b (x - mean)`, and of its cross products with the rows.
///
/// `p + 3` numbers: one step of FastICA for one unit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnitSums {
    /// Number of rows so far, weighted.
    pub n: f64,
    /// `Σ g(y) (x - mean)`, of `p` columns.
    pub cross: Vec<f64>,
    /// `Σ g'(y)`.
    pub slope: f64,
    /// `Σ G(y)`.
    pub loss: f64,
}

impl UnitSums {
    /// The empty sum, for `p` columns.
    pub fn empty(p: usize) -> Self {
        Self { n: 0.0, cross: vec![0.0; p], slope: 0.0, loss: 0.0 }
    }

    /// Adds a block of rows; `view` has one source. `O(b p)`.
    pub fn gather<T: Real>(
        &mut self,
        block: Block<'_, T>,
        view: &SourceView<'_, T>,
        work: &mut Workspace<T>,
    ) {
        let p = block.n_features;
        let Workspace { rows, product, wide, .. } = work;
        let (centred, weights) = block.counted(view.mean(), rows, wide);
        let n = centred.len() / p;
        if n == 0 {
            return;
        }
        product.resize(2 * n + p, T::default());
        let (source, rest) = product.split_at_mut(n);
        let (score, scratch) = rest.split_at_mut(n);
        kernel::product_by_rows(source, view.unmixing.as_slice(), centred, 1, n, p);
        let contrast = view.contrast.lent();
        let sums = match weights {
            None => contrast.apply(0, source, score),
            Some(weights) => contrast.apply_weighted(0, source, weights, score),
        };
        self.slope += sums.slope;
        self.loss += sums.loss;
        kernel::product_of_few(scratch, score, centred, [1, n, p]);
        self.cross.iter_mut().zip(&*scratch).for_each(|(t, s)| *t += s.to_f64());
        self.n += weights.map_or(n as f64, |w| w.iter().sum());
    }
}

/// A statistic of the sources given by a [`SourceView`].
pub(crate) trait SourceStatistic<T: Real>: Partial {
    /// The name of its gather in serialised form.
    const KIND: &'static str;
    /// Whether it is defined for a single source only.
    const ONE: bool = false;
    /// The sum over no rows of `p` numbers, for `k` sources.
    fn zero(k: usize, p: usize) -> Self;
    /// Adds the sources of the rows of a block, weighted.
    fn add(&mut self, block: Block<'_, T>, view: &SourceView<'_, T>, work: &mut Workspace<T>);
}

/// Gathers sums over the sources of a [`SourceView`].
pub(crate) struct GatherView<'a, T, P> {
    view: SourceView<'a, T>,
    part: PhantomData<fn() -> P>,
}

/// Gathers [`SourceSums`].
pub(crate) type GatherSources<'a, T> = GatherView<'a, T, SourceSums>;
/// Gathers [`UnitSums`] of the one source of a view.
pub(crate) type GatherUnit<'a, T> = GatherView<'a, T, UnitSums>;

impl<'a, T, P> GatherView<'a, T, P> {
    /// For the sources of `view`.
    pub(crate) fn new(view: SourceView<'a, T>) -> Self {
        Self { view, part: PhantomData }
    }
}

impl<T: Real, P: SourceStatistic<T>> Gather<T> for GatherView<'_, T, P> {
    type Part = P;
    const KIND: &'static str = P::KIND;

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_sources(n_features, self.view.unmixing.rows())
    }

    fn width(&self) -> Option<usize> {
        Some(self.view.unmixing.cols())
    }

    fn zero(&self, n_features: usize) -> P {
        P::zero(self.view.unmixing.rows(), n_features)
    }

    fn add(&self, part: &mut P, block: Block<'_, T>, work: &mut Workspace<T>) {
        part.add(block, &self.view, work);
    }

    fn pack(&self, out: &mut Packer) {
        self.view.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let view = SourceView::unpack(from)?;
        from.check(!P::ONE || view.unmixing.rows() == 1)?;
        Ok(Self::new(view))
    }
}

impl<T: Real> SourceStatistic<T> for SourceSums {
    const KIND: &'static str = "sources";

    fn zero(k: usize, _: usize) -> Self {
        Self::empty(k)
    }

    fn add(&mut self, block: Block<'_, T>, view: &SourceView<'_, T>, work: &mut Workspace<T>) {
        self.gather(block, view, work);
    }
}

impl<T: Real> SourceStatistic<T> for UnitSums {
    const KIND: &'static str = "unit";
    const ONE: bool = true;

    fn zero(_: usize, p: usize) -> Self {
        Self::empty(p)
    }

    fn add(&mut self, block: Block<'_, T>, view: &SourceView<'_, T>, work: &mut Workspace<T>) {
        self.gather(block, view, work);
    }
}

impl Partial for UnitSums {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.n) else { return };
        self.n += right.n;
        self.slope += right.slope;
        self.loss += right.loss;
        self.cross.iter_mut().zip(&right.cross).for_each(|(a, b)| *a += b);
    }

    fn pack(&self, out: &mut Packer) {
        [self.n, self.slope, self.loss].into_iter().for_each(|x| out.number(x));
        out.numbers(&self.cross);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (n, slope, loss) = (from.number()?, from.number()?, from.number()?);
        Ok(Self { n, slope, loss, cross: from.numbers()? })
    }

    fn bytes(&self) -> usize {
        8 * (3 + self.cross.len())
    }
}

impl Partial for SourceSums {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.n) else { return };
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
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
        let k = part.slope.len();
        from.check([part.cross.rows(), part.cross.cols(), part.loss.len()] == [k; 3])?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        let k = self.slope.len();
        8 * (1 + 2 * k + k * k)
    }
}
