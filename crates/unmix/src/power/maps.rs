//! Maps of power iterations.

use super::{Image, PowerMap, dot};
use crate::data::Rows;
use crate::error::Result;
use crate::ica::{SweptRows, View};
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::stats::{Contrast, GatherDirections};

/// `A M` for a symmetric matrix `M`: its fixed points are eigenvectors.
#[derive(Clone, Copy, Debug)]
pub struct Symmetric<'a>(
    /// The matrix.
    pub &'a Matrix<f64>,
);

/// `E[g(A z) z']`, `E g'` and `E G`.
type Means = (Matrix<f64>, Vec<f64>, Vec<f64>);

impl PowerMap for Symmetric<'_> {
    fn apply(&mut self, a: &Matrix<f64>) -> Result<Option<Image>> {
        let direction = factor::multiply(a, self.0);
        let objective = 0.5 * dot(direction.as_slice(), a.as_slice());
        Ok(finite(Image { direction, slope: vec![0.0; a.rows()], objective }))
    }
}

/// The gradient of GPower (Journée et al. 2010) at directions `u` in the space of the samples: `Σ_j s(x_j' u) x_j` over columns `x_j`; a
/// loading is non-zero for the columns whose product exceeds the threshold.
#[derive(Clone, Copy, Debug)]
pub struct SparseLoadings<'a> {
    /// Rows, `n x p`; directions have `n` numbers.
    pub data: &'a Matrix<f64>,
    /// The threshold: on `abs(x_j' u)`, or if `hard` on its square.
    pub threshold: f64,
    /// Hard thresholding instead of soft thresholding.
    pub hard: bool,
}

impl SparseLoadings<'_> {
    /// Unnormalised loadings: `x_j' u` after thresholding. `k x p`.
    pub fn loadings(&self, u: &Matrix<f64>) -> Matrix<f64> {
        let mut out = factor::multiply(u, self.data);
        out.as_mut_slice().iter_mut().for_each(|q| {
            *q = match self.hard {
                true if *q * *q > self.threshold => *q,
                true => 0.0,
                false => q.signum() * (q.abs() - self.threshold).max(0.0),
            }
        });
        out
    }
}

impl PowerMap for SparseLoadings<'_> {
    fn apply(&mut self, a: &Matrix<f64>) -> Result<Option<Image>> {
        let kept = self.loadings(a);
        let gain = |q: f64| match self.hard {
            true if q != 0.0 => q * q - self.threshold,
            _ => q * q,
        };
        let objective = 0.5 * kept.as_slice().iter().map(|q| gain(*q)).sum::<f64>();
        let direction = factor::multiply_transposed(&kept, self.data);
        Ok(finite(Image { direction, slope: vec![0.0; a.rows()], objective }))
    }
}

/// `E[g(A z) z']` over rows: the gradient of `Σ E G(a_i' z)` of a contrast, or of its negative.
pub struct Contrasted<'v, 'a, 'b, T: Real> {
    view: RowsView<'v, 'a, 'b, T>,
    contrast: Contrast,
    sign: f64,
    rotation: bool,
    run: &'v Run<'v>,
}

/// A borrowed view, or one of the rows themselves.
enum RowsView<'v, 'a, 'b, T: Real> {
    Lent(&'v View<'a, 'b, T>),
    Own(View<'a, 'b, T>),
}

impl<T: Real> std::fmt::Debug for Contrasted<'_, '_, '_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { contrast, sign, rotation, .. } = self;
        f.debug_struct("Contrasted")
            .field("contrast", contrast)
            .field("sign", sign)
            .field("rotation", rotation)
            .finish_non_exhaustive()
    }
}

impl<'v, 'a, 'b, T: Real> Contrasted<'v, 'a, 'b, T> {
    /// For [prepared](Rows::prepare) rows, without a change of coordinates.
    pub fn new(rows: &'a Rows<'b, T>, contrast: Contrast, run: &'v Run<'v>) -> Self {
        let view = View { place: SweptRows::Rows(rows), mean: None, basis: None, k: rows.n_features() };
        Self { view: RowsView::Own(view), contrast, sign: 1.0, rotation: false, run }
    }

    /// For the coordinates of a view; the negative of the contrast if `sign` is -1. `rotation`: whether `A` is a square orthogonal matrix.
    pub(crate) fn of(
        view: &'v View<'a, 'b, T>,
        contrast: Contrast,
        sign: f64,
        rotation: bool,
        run: &'v Run<'v>,
    ) -> Self {
        Self { view: RowsView::Lent(view), contrast, sign, rotation, run }
    }

    /// `E[g(A z) z']`, `E g'` and `E G`.
    fn means(&self, a: &Matrix<f64>) -> Result<Option<Means>> {
        let view = match &self.view {
            RowsView::Lent(view) => view,
            RowsView::Own(view) => view,
        };
        if self.rotation {
            // z = A' y: sums over the sources alone, which lose no precision if columns are far from white.
            let sums = view.means(a, self.contrast, self.run)?;
            return Ok(sums.map(|sums| (factor::multiply(&sums.cross, a), sums.slope, sums.loss)));
        }
        let sources = view.sources(a, self.contrast.into());
        let sums = view.sweep(self.run, "directions", GatherDirections::new(sources))?;
        let mean = |values: Vec<f64>| values.into_iter().map(|v| v / sums.n).collect::<Vec<f64>>();
        let (rows, width) = (sums.cross.rows(), sums.cross.cols());
        let cross = Matrix::from_vec(rows, width, mean(sums.cross.into_vec()));
        let cross = view.basis.map_or_else(|| cross.clone(), |b| factor::multiply_transposed(&cross, b));
        Ok(Some((cross, mean(sums.slope), mean(sums.loss))))
    }
}

impl<T: Real> PowerMap for Contrasted<'_, '_, '_, T> {
    fn apply(&mut self, a: &Matrix<f64>) -> Result<Option<Image>> {
        let Some((mut direction, mut slope, loss)) = self.means(a)? else { return Ok(None) };
        direction.as_mut_slice().iter_mut().chain(&mut slope).for_each(|x| *x *= self.sign);
        let objective = self.sign * loss.iter().sum::<f64>();
        Ok(finite(Image { direction, slope, objective }))
    }
}

fn finite(image: Image) -> Option<Image> {
    let all = image.direction.as_slice().iter().chain(&image.slope);
    (image.objective.is_finite() && all.copied().all(f64::is_finite)).then_some(image)
}
