//! Gram matrix of samples, summed over features: the smaller matrix for data with more features than samples.
//!
//! The rows that are swept are *features* (the transposed data), so that each is centred, weighted and scaled before it is
//! multiplied, and the `n × n` sum is computed for a panel of features at a time.

use super::stored::{Counts, LineMoments};
use super::{AddStored, Gather, Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Matrix, Plan, Real, Stored, Workspace, kernel};
use std::borrow::Cow;

/// `Σ_j c_j c_jᵀ` over features `j`, where `c_j` is feature `j` over all samples, transformed by a [`FeatureView`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gram {
    /// Number of features.
    pub features: u64,
    /// Number of features that are not constant.
    pub varying: u64,
    /// The sum, in the lower triangle.
    pub lower: Matrix<f64>,
}

impl Gram {
    /// The empty sum, for `n` samples.
    pub fn empty(n: usize) -> Self {
        Self { features: 0, varying: 0, lower: Matrix::zeros(n, n) }
    }

    /// Adds features, each transformed by `view`. `O(b n²)`.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, view: &FeatureView<'_>, work: &mut Workspace<T>) {
        let n = block.n_features;
        let Workspace { rows, wide, .. } = work;
        let count = block.n_rows();
        rows.clear();
        rows.resize(n.div_ceil(T::lanes()) * count * T::lanes(), T::default());
        for (i, feature) in block.rows().enumerate() {
            wide.clear();
            self.varying += u64::from(view.push(feature, wide).varies);
            kernel::pack_row(wide, i, count, rows);
        }
        self.features += count as u64;
        kernel::add_gram(self.lower.as_mut_slice(), rows, count, n);
    }
}

/// Transformation of a feature over all samples: centring, scaling and weights.
#[derive(Clone, Debug)]
pub struct FeatureView<'a> {
    weights: Option<Cow<'a, [f64]>>,
    roots: Vec<f64>,
    n: f64,
    center: bool,
    standardize: bool,
}

/// Mean and scale of a feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Feature {
    /// Mean that was subtracted.
    pub(crate) mean: f64,
    /// Divisor: its standard deviation, or 1 if it was not divided or is constant.
    pub(crate) scale: f64,
    /// Whether the transformed feature is not zero.
    pub(crate) varies: bool,
}

impl<'a> FeatureView<'a> {
    /// For samples whose weights sum to `n`.
    pub fn new(n: f64, weights: Option<&'a [f64]>, center: bool, standardize: bool) -> Self {
        Self::over(n, weights.map(Cow::Borrowed), center, standardize)
    }

    fn over(n: f64, weights: Option<Cow<'a, [f64]>>, center: bool, standardize: bool) -> Self {
        let roots = weights.iter().flat_map(|w| w.iter().map(|w| w.sqrt())).collect();
        Self { weights, roots, n, center, standardize }
    }

    pub(super) fn samples(&self) -> Option<usize> {
        self.weights.as_ref().map(|w| w.len())
    }

    pub(super) fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.maybe(self.weights.as_deref());
        out.count(u64::from(self.center));
        out.count(u64::from(self.standardize));
    }

    pub(super) fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (n, weights) = (from.number()?, from.maybe()?);
        Ok(Self::over(n, weights.map(Cow::Owned), from.flag()?, from.flag()?))
    }

    /// Whether features are divided by their standard deviations.
    pub(crate) fn standardizes(&self) -> bool {
        self.standardize
    }

    /// Appends the transformed feature to `out`: a number for each sample, times the square root of its weight; 0 for a sample of
    /// weight 0.
    pub(crate) fn push<T: Real>(&self, feature: &[T], out: &mut Vec<f64>) -> Feature {
        let (mean, rest) = match self.weights.as_deref() {
            None => kernel::mean_of(feature),
            Some(w) => {
                let (mut mean, mut rest) = ([0.0], [0.0]);
                kernel::means(feature, Some(w), 1, &mut mean, &mut rest);
                (mean[0], rest[0])
            }
        };
        let start = out.len();
        // As the sum of two numbers: the rounding error of a large mean would add a common direction to all features.
        let about = if self.center { mean } else { 0.0 };
        kernel::push_centred(feature, (about, if self.center { rest } else { 0.0 }), out);
        self.apply_weights(&mut out[start..]);
        let scale = if self.standardize { self.deviation(&out[start..], mean - about) } else { 1.0 };
        if !scale.is_finite() {
            // Squares overflow, so there is no standard deviation: the error is reported when the sums are checked.
            out[start..].fill(f64::NAN);
        } else if scale != 1.0 {
            out[start..].iter_mut().for_each(|x| *x /= scale);
        }
        Feature { mean: about, scale, varies: out[start..].iter().any(|&x| x != 0.0) }
    }

    fn apply_weights(&self, numbers: &mut [f64]) {
        for (x, root) in numbers.iter_mut().zip(&self.roots) {
            // Not a product with 0: a number of weight 0 may be NaN or infinite.
            *x = if *root > 0.0 { *x * root } else { 0.0 };
        }
    }

    /// Standard deviation about the mean of numbers that are already weighted, and centred up to `offset`; 1 if it is 0.
    fn deviation(&self, weighed: &[f64], offset: f64) -> f64 {
        let root = |i: usize| self.roots.get(i).copied().unwrap_or(1.0);
        let about = weighed.iter().enumerate().map(|(i, x)| x - offset * root(i));
        root_of_squares(about).map_or(1.0, |length| length / (self.n - 1.0).sqrt())
    }
}

/// The square root of the sum of squares, computed relative to the largest number if squares underflow. `None` if all are 0.
pub(crate) fn root_of_squares(numbers: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let squares: f64 = numbers.clone().map(|x| x * x).sum();
    if squares.is_nan() || squares >= f64::MIN_POSITIVE {
        return Some(squares.sqrt());
    }
    let largest = numbers.clone().fold(0.0f64, |m, x| m.max(x.abs()));
    (largest > 0.0).then(|| largest * numbers.map(|x| (x / largest).powi(2)).sum::<f64>().sqrt())
}

/// Gathers a [`Gram`] of features; rows are features here.
#[derive(Clone, Debug)]
pub(crate) struct GatherGram<'a>(pub(crate) FeatureView<'a>);

impl<T: Real> Gather<T> for GatherGram<'_> {
    type Part = Gram;
    const KIND: &'static str = "gram";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_gram(n_features)
    }

    fn width(&self) -> Option<usize> {
        self.0.samples()
    }

    fn zero(&self, n_features: usize) -> Gram {
        Gram::empty(n_features)
    }

    fn add(&self, part: &mut Gram, block: Block<'_, T>, work: &mut Workspace<T>) {
        part.gather(block, &self.0, work);
    }

    fn stored(&self) -> Option<&dyn AddStored<T, Gram>> {
        Some(self)
    }

    fn pack(&self, out: &mut Packer) {
        self.0.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        FeatureView::unpack(from).map(Self)
    }
}

/// A transformed feature of sparse rows: centred at `shift`, which is 0 unless every sample is stored; `left` is the remainder of the mean.
struct StoredFeature {
    mean: f64,
    shift: f64,
    left: f64,
    scale: f64,
    varies: bool,
}

impl FeatureView<'_> {
    /// The weights of `n` samples.
    fn counts(&self, n: usize) -> Counts<'_> {
        Counts::new(self.weights.as_deref(), 0..n)
    }

    /// Multiplies row `i` of `samples` by the square root of the weight of sample `i`; returns the sums of its columns.
    pub(crate) fn weigh_samples(&self, samples: &mut Matrix<f64>) -> Vec<f64> {
        let mut sums = vec![0.0; samples.cols()];
        for i in 0..samples.rows() {
            let row = samples.row_mut(i);
            if let Some(root) = self.roots.get(i) {
                row.iter_mut().for_each(|x| *x *= root);
            }
            sums.iter_mut().zip(&*row).for_each(|(s, x)| *s += x);
        }
        sums
    }

    fn stored_feature<T: Real>(&self, entries: (&[u32], &[T]), counts: &Counts<'_>) -> StoredFeature {
        let moments = LineMoments::new(entries, counts);
        let scale = match self.standardize && moments.squares > 0.0 {
            true => (moments.squares / (self.n - 1.0)).sqrt(),
            false => 1.0,
        };
        // Squares overflow, so there is no standard deviation: the error is reported when the sums are checked.
        let scale = if scale.is_finite() { scale } else { f64::NAN };
        match self.center {
            true => {
                let (shift, left) = moments.shift();
                StoredFeature { mean: moments.mean, shift, left, scale, varies: moments.squares > 0.0 }
            }
            false => {
                let varies = moments.squares > 0.0 || moments.mean != 0.0;
                StoredFeature { mean: 0.0, shift: 0.0, left: 0.0, scale, varies }
            }
        }
    }

    /// `Σ_i √w y_i x_i` of a feature of sparse rows over samples `i`, centred and divided by its scale, for each of the `k` numbers `y_i`
    /// in row `i` of `samples`, which are already multiplied by the square roots of the weights; `sums` are the sums of its columns over
    /// samples of non-zero weight. Writes `k` numbers, the subtracted mean and the divisor. `O(stored k)`.
    pub(crate) fn carry_stored<T: Real>(
        &self,
        entries: (&[u32], &[T]),
        (samples, sums): (&Matrix<f64>, &[f64]),
        out: &mut [f64],
    ) {
        let counts = self.counts(samples.rows());
        let (out, other) = out.split_at_mut(sums.len());
        let feature = self.stored_feature(entries, &counts);
        other.copy_from_slice(&[feature.mean, feature.scale]);
        // A constant feature has loading exactly 0.
        if !feature.varies {
            return;
        }
        for (&i, x) in entries.0.iter().zip(entries.1).filter(|(i, _)| counts.of(**i as usize) > 0.0) {
            let a = x.to_f64() - feature.shift;
            out.iter_mut().zip(samples.row(i as usize)).for_each(|(y, s)| *y += a * s);
        }
        out.iter_mut().zip(sums).for_each(|(y, s)| *y = (*y - feature.left * s) / feature.scale);
    }
}

impl<T: Real> AddStored<T, Gram> for GatherGram<'_> {
    /// `Σ_j s_j²/2` multiplications for features of `s_j` stored entries.
    ///
    /// Inner products of `x − c − r`, where `r` is the remainder of the mean after the shift `c`: those with `r` are computed once
    /// for each sample.
    fn add_stored(&self, part: &mut Gram, shard: &Stored<'_, T>) -> Result<()> {
        let (view, n, features) = (&self.0, shard.n_features(), shard.rows());
        let counts = view.counts(n);
        if features.is_empty() || counts.rows == 0 {
            return Ok(());
        }
        // Shift, remainder of the mean, reciprocal of the squared scale, and whether the feature is not constant.
        let mut table = vec![0.0; 4 * features.len()];
        shard.fill(&mut table, 4, |j, out| {
            let scaling = view.stored_feature(shard.row(features.start + j), &counts);
            let varies = f64::from(u8::from(scaling.varies));
            out.copy_from_slice(&[
                scaling.shift,
                scaling.left,
                1.0 / (scaling.scale * scaling.scale),
                varies,
            ]);
        })?;
        let (lines, first) = (table.as_chunks::<4>().0, features.start);
        let constant: f64 = lines.iter().map(|[_, left, unit, _]| left * left * unit).sum();
        let along = |i: usize| -> f64 {
            let (at, values) = shard.column(i);
            let entries = at.iter().zip(values).map(|(&j, x)| (lines[j as usize - first], x.to_f64()));
            entries.map(|([shift, left, unit, _], x)| (x - shift) * left * unit).sum()
        };
        let along: Vec<f64> = (0..n).map(|i| if counts.of(i) > 0.0 { along(i) } else { 0.0 }).collect();
        let line = |i: usize, out: &mut [f64]| {
            let w = counts.of(i);
            if w == 0.0 {
                return;
            }
            let (at, values) = shard.column(i);
            for (&j, x) in at.iter().zip(values) {
                let [shift, _, unit, _] = lines[j as usize - first];
                let a = (x.to_f64() - shift) * unit;
                let (samples, values) = shard.row(j as usize);
                let entries = samples.iter().zip(values).take_while(|(r, _)| **r as usize <= i);
                entries.for_each(|(&r, v)| out[r as usize] += a * (v.to_f64() - shift));
            }
            for r in 0..=i {
                let v = counts.of(r);
                let centred = out[r] - along[i] - along[r] + constant;
                // Not a product with 0: a number of weight 0 may be NaN or infinite.
                out[r] = if v == 0.0 { 0.0 } else { centred * (w * v).sqrt() };
            }
        };
        match part.features == 0 {
            true => shard.fill(part.lower.as_mut_slice(), n, line)?,
            false => shard.fill(part.lower.as_mut_slice(), n, |i, out| {
                let mut other = vec![0.0; i + 1];
                line(i, &mut other);
                out.iter_mut().zip(&other).for_each(|(a, b)| *a += b);
            })?,
        }
        part.features += features.len() as u64;
        part.varying += lines.iter().filter(|l| l[3] != 0.0).count() as u64;
        Ok(())
    }
}

impl Partial for Gram {
    fn merge(&mut self, right: Self) {
        if right.features == 0 {
            return;
        }
        if self.features == 0 {
            *self = right;
            return;
        }
        self.features += right.features;
        self.varying += right.varying;
        self.lower.as_mut_slice().iter_mut().zip(right.lower.as_slice()).for_each(|(a, b)| *a += b);
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.features);
        out.count(self.varying);
        out.matrix(&self.lower);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part = Self { features: from.count()?, varying: from.count()?, lower: from.matrix()? };
        from.check(part.lower.rows() == part.lower.cols())?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        16 + 8 * self.lower.as_slice().len()
    }
}
