//! Products of the scatter matrix with a few directions, without forming the matrix.

use super::stored::{Counts, shift};
use super::{AddStored, Gather, Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::registers::add_multiples;
use crate::num::{Block, Matrix, Real, Stored, Workspace, kernel};
use std::borrow::Cow;

/// `Σ (v·c) c` over centred rows `c`, for each of `b` directions `v`: products of the scatter matrix with the directions.
///
/// In double precision, whatever the type of the rows: iterations that converge to rounding errors need an operator that is
/// symmetric up to rounding errors.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sketch {
    /// Number of rows.
    pub n: u64,
    /// The products, `b x p`.
    pub image: Matrix<f64>,
}

/// Directions of the sketch, and the mean for centring.
#[derive(Clone, Debug)]
pub struct SketchView<'a> {
    /// Mean of the rows, `p`.
    mean: Cow<'a, [f64]>,
    /// Rounding errors of `mean`, if they are known: sparse rows are centred on the sum of both.
    rest: Option<Cow<'a, [f64]>>,
    /// Directions as columns, `p x b`.
    columns: Matrix<f64>,
}

impl<'a> SketchView<'a> {
    /// Projects on the rows of `directions`.
    pub fn new(mean: impl Into<Cow<'a, [f64]>>, directions: &Matrix<f64>) -> Self {
        Self { mean: mean.into(), rest: None, columns: directions.transposed() }
    }

    /// Sets the rounding errors of the mean: for a large mean, their product with the number of rows would be noticeable in sums over
    /// sparse rows.
    pub(crate) fn with_rest(mut self, rest: impl Into<Cow<'a, [f64]>>) -> Self {
        self.rest = Some(rest.into());
        self
    }
}

/// Gathers a [`Sketch`] from a [`SketchView`].
#[derive(Clone, Debug)]
pub(crate) struct GatherSketch<'a>(pub(crate) SketchView<'a>);

impl<T: Real> Gather<T> for GatherSketch<'_> {
    type Part = Sketch;
    const KIND: &'static str = "sketch";

    fn width(&self) -> Option<usize> {
        Some(self.0.mean.len())
    }

    fn zero(&self, n_features: usize) -> Sketch {
        Sketch::empty(self.0.columns.cols(), n_features)
    }

    fn add(&self, part: &mut Sketch, block: Block<'_, T>, work: &mut Workspace<T>) {
        part.gather(block, &self.0, work);
    }

    fn stored(&self) -> Option<&dyn AddStored<T, Sketch>> {
        Some(self)
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.0.mean);
        out.maybe(self.0.rest.as_deref());
        out.matrix(&self.0.columns);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (mean, rest, columns) = (from.numbers()?, from.maybe()?, from.matrix()?);
        from.check(columns.rows() == mean.len() && rest.as_ref().is_none_or(|r| r.len() == mean.len()))?;
        Ok(Self(SketchView { mean: mean.into(), rest: rest.map(Cow::Owned), columns }))
    }
}

/// Scores of sparse rows that are kept in memory at a time: 32 MiB.
const MOST_SCORES_HELD: usize = 1 << 22;

impl<T: Real> AddStored<T, Sketch> for GatherSketch<'_> {
    /// `O(stored b + p b)`: the scores of a range of rows, then the contributions of each column.
    fn add_stored(&self, part: &mut Sketch, shard: &Stored<'_, T>) -> Result<()> {
        let SketchView { mean, rest, columns } = &self.0;
        let (p, b, counts) = (columns.rows(), columns.cols(), Counts::of_shard(shard));
        let rest = |j: usize| rest.as_ref().map_or(0.0, |r| r[j]);
        let shifts = (0..p).map(|j| shift(counts.full(shard.column(j).0), mean[j], rest(j)));
        let (shift, left): (Vec<f64>, Vec<f64>) = shifts.unzip();
        let mut base = vec![0.0; b];
        add_multiples(&mut base, left.iter().enumerate().map(|(j, &r)| (r, columns.row(j))));
        let (mut image, mut sum, mut held) = (Matrix::zeros(p, b), vec![0.0; b], Vec::new());
        let (rows, step) = (shard.rows(), (MOST_SCORES_HELD / b.max(1)).max(1));
        for start in rows.clone().step_by(step) {
            let within = start..(start + step).min(rows.end);
            held.clear();
            held.resize(within.len() * b, 0.0);
            shard.fill(&mut held, b, |i, out| {
                let w = counts.of(start + i);
                if w == 0.0 {
                    return;
                }
                let (places, values) = shard.row(start + i);
                let entries = places.iter().zip(values);
                let entries =
                    entries.map(|(&j, x)| (x.to_f64() - shift[j as usize], columns.row(j as usize)));
                add_multiples(out, entries);
                out.iter_mut().zip(&base).for_each(|(y, b)| *y = w * (*y - b));
            })?;
            held.chunks_exact(b.max(1)).for_each(|y| sum.iter_mut().zip(y).for_each(|(s, y)| *s += y));
            shard.fill(image.as_mut_slice(), b, |j, out| {
                let (at, values) = shard.column_within(j, within.clone());
                let entries = at.iter().zip(values).filter(|(i, _)| counts.of(**i as usize) > 0.0);
                let score = |i: u32| &held[(i as usize - start) * b..][..b];
                add_multiples(out, entries.map(|(&i, x)| (x.to_f64() - shift[j], score(i))));
            })?;
        }
        for (j, &left) in left.iter().enumerate().filter(|(_, r)| **r != 0.0) {
            image.row_mut(j).iter_mut().zip(&sum).for_each(|(x, s)| *x -= left * s);
        }
        part.merge(Sketch { n: rows.len() as u64, image: image.transposed() });
        Ok(())
    }
}

impl Sketch {
    /// The empty sum, for `b` directions in `p` dimensions.
    pub fn empty(b: usize, p: usize) -> Self {
        Self { n: 0, image: Matrix::zeros(b, p) }
    }

    /// Adds a block of rows. `O(n b p)`.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, from: &SketchView<'_>, work: &mut Workspace<T>) {
        let (b, p) = (self.image.rows(), self.image.cols());
        self.n += block.n_rows() as u64;
        let centred = &mut work.wide;
        // Multiplied by the square root of the weight here and in the score: together the weight.
        kernel::centre_wide(block.data, block.weights, &from.mean, None, centred);
        let n = centred.len() / p;
        let mut scores = vec![0.0; n * b];
        kernel::product(&mut scores, centred, from.columns.as_slice(), n, p, b);
        kernel::add_cross(self.image.as_mut_slice(), &scores, centred, n, b, p);
    }
}

impl Partial for Sketch {
    fn merge(&mut self, right: Self) {
        if right.n == 0 {
            return;
        }
        if self.n == 0 {
            *self = right;
            return;
        }
        self.n += right.n;
        self.image.as_mut_slice().iter_mut().zip(right.image.as_slice()).for_each(|(a, b)| *a += b);
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.n);
        out.matrix(&self.image);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self { n: from.count()?, image: from.matrix()? })
    }

    fn bytes(&self) -> usize {
        8 * (1 + self.image.as_slice().len())
    }
}
