//! Whitened or scaled coordinates of rows, the map back, and the parts of a model that was found in them: the single implementation
//! for all methods that whiten.
//!
//! ```text
//! z = diag(1/deviation) axes ((x - mean) / noise)     white
//! z = (x - mean) / noise / size                       columns in units of their own
//! ```

use super::{Decomposition, Request, Solver, auto_solver, decompose, tall};
use crate::data::Rows;
use crate::error::Result;
use crate::machine::check_square;
use crate::model::{Linear, LinearParameters, sign_of};
use crate::num::{Matrix, Real, dual, factor, inverse, pseudo_inverse};
use crate::run::Run;
use crate::stats::Scatter;

/// Options of whitening.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WhiteningOptions {
    /// Key of the method, for messages.
    pub(crate) method: &'static str,
    /// The number of leading directions; `None` for all.
    pub(crate) top: Option<usize>,
    /// Whether the mean is subtracted.
    pub(crate) center: bool,
    /// Whether columns are divided by their standard deviations.
    pub(crate) standardize: bool,
    /// Whether singular values are computed if the scatter matrix resolves fewer directions than possible.
    pub(crate) weak: bool,
}

/// Spectrum of prepared rows, and how it was computed.
pub(crate) struct PrincipalAxes {
    /// The spectrum.
    pub(crate) found: Decomposition,
    /// The solver.
    pub(crate) solver: Solver,
    /// Full passes over the data.
    pub(crate) sweeps: u64,
}

impl PrincipalAxes {
    /// By the solver that is chosen from the shape of the rows: one pass, or two if there are fewer rows than columns.
    ///
    /// # Errors
    ///
    /// As for [`decompose`].
    pub(crate) fn of<T: Real>(rows: &Rows<'_, T>, options: WhiteningOptions, run: &Run<'_>) -> Result<Self> {
        let (n, p) = (rows.n_counted(), rows.n_features());
        let by = |solver| {
            let WhiteningOptions { method, top, center, standardize, .. } = options;
            let request = Request {
                method,
                solver,
                top,
                center,
                standardize,
                tol: 0.0,
                rounds: None,
                n_oversamples: 0,
                start: None,
            };
            decompose(rows, run, &request)
        };
        let mut solver = auto_solver(n, p, options.top, rows.is_sparse());
        let mut found = by(solver)?;
        let mut sweeps = found.sweeps;
        // Centred rows span at most one direction fewer than their number.
        let reach = (p - found.n_constant).min(n as usize - usize::from(options.center));
        let hidden = found.axes.rows() < options.top.unwrap_or(p).min(reach);
        if options.weak && hidden && solver != Solver::Full && !rows.is_sparse() {
            // Sums of squares do not resolve directions below the square root of the machine epsilon; singular values do, for rows
            // that are not sparse.
            solver = Solver::Full;
            found = by(solver)?;
            sweeps += found.sweeps;
        }
        Ok(Self { found, solver, sweeps })
    }

    /// Divisor of the rows, in addition to the deviations of the columns, after which entries have a mean square of 1.
    pub(crate) fn size(&self) -> f64 {
        let found = &self.found;
        (found.total * ((found.n - 1.0) / found.n) / found.mean.len() as f64).sqrt()
    }
}

/// The sums for [`Coordinates::of_columns`]: one pass.
///
/// # Errors
///
/// Tables that do not fit into memory, numbers that are not finite, errors of the pass.
pub(crate) fn scatter_of_columns<T: Real>(
    rows: &Rows<'_, T>,
    method: &'static str,
    run: &Run<'_>,
) -> Result<Scatter> {
    // Twelve tables: second moments while they are summed, filters, their inverse, and the state of a search.
    check_square(method, rows.n_features(), 12)?;
    tall::gathered(rows, run, method)
}

/// The inverse from which decoder vectors are computed. Where several exist they agree up to rounding errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inverse {
    /// Of as many linearly independent filters as coordinates, far from orthogonal: refined by a Newton step.
    Square,
    /// The dual basis; filters that are orthonormal decode themselves.
    Dual,
    /// The pseudo-inverse, also of linearly dependent filters. Of the filters of `x - mean` if there are fewer than white coordinates, or if
    /// coordinates are not white.
    Pseudo,
}

/// Coordinates of rows.
pub(crate) struct Coordinates {
    /// Number of rows, weighted.
    pub(crate) n: f64,
    /// Offset that is subtracted.
    pub(crate) mean: Vec<f64>,
    /// Divisors of the columns, if any.
    pub(crate) noise_scale: Option<Vec<f64>>,
    /// Common divisor of all entries, if coordinates are not white: 1, or their root mean square.
    pub(crate) size: f64,
    /// Principal axes of the rows as far as they are known, `r x p`: those along which coordinates are whitened.
    pub(crate) axes: Matrix<f64>,
    /// Standard deviations along them (divisor `n`).
    pub(crate) deviation: Vec<f64>,
    /// Whether coordinates are white.
    pub(crate) white: bool,
    /// Second moments of the coordinates (divisor `n`), if they are not white and if requested.
    pub(crate) moments: Option<Matrix<f64>>,
    /// Total variance of the columns (divisor `n`), unless they are divided by their own deviations.
    pub(crate) total: Option<f64>,
    /// Number of directions along which the rows vary, if known.
    pub(crate) rank: Option<usize>,
    /// Number of constant columns.
    pub(crate) n_constant: usize,
    /// Full passes over the data.
    pub(crate) sweeps: u64,
    /// Name of the solver that found the spectrum.
    pub(crate) solver: &'static str,
    /// Notes for the user.
    pub(crate) warnings: Vec<String>,
}

impl Coordinates {
    /// From the first `k` principal axes: whitened, or columns all divided by `size`.
    pub(crate) fn new(principal: PrincipalAxes, k: usize, white: bool, size: f64) -> Self {
        let PrincipalAxes { found, solver, sweeps } = principal;
        let share = (found.n - 1.0) / found.n;
        let rank = found.rank.or(Some(found.axes.rows()).filter(|&r| r > k));
        let total = found.noise_scale.is_none().then_some(found.total * share);
        let mut axes = found.axes.top_rows(k);
        for i in 0..k {
            // So that the start of a search does not depend on the solver.
            let sign = sign_of(axes.row(i), f64::EPSILON);
            axes.row_mut(i).iter_mut().for_each(|x| *x *= sign);
        }
        Self {
            n: found.n,
            mean: found.mean,
            noise_scale: found.noise_scale,
            size,
            axes,
            deviation: found.values[..k].iter().map(|v| (v * share).sqrt() / size).collect(),
            white,
            moments: None,
            total,
            rank,
            n_constant: found.n_constant,
            sweeps,
            solver: solver.name(),
            warnings: Vec::new(),
        }
    }

    /// The columns, not whitened: about their means or, without `center`, about 0, and divided by `noise_scale`; with their second moments.
    pub(crate) fn of_columns(scatter: Scatter, center: bool, noise_scale: Option<Vec<f64>>) -> Self {
        let Scatter { n, mean, lower, .. } = scatter;
        let p = mean.len();
        let unit = |j: usize| noise_scale.as_ref().map_or(1.0, |s| s[j]);
        let moments = Matrix::from_fn(p, p, |i, j| {
            let own = lower[(i.max(j), i.min(j))] / n;
            let about = if center { 0.0 } else { mean[i] * mean[j] };
            (own + about) / unit(i) / unit(j)
        });
        let total = noise_scale.is_none().then(|| (0..p).map(|j| moments[(j, j)]).sum::<f64>());
        Self {
            n,
            mean: if center { mean } else { vec![0.0; p] },
            noise_scale,
            size: 1.0,
            axes: Matrix::zeros(0, p),
            deviation: Vec::new(),
            white: false,
            moments: Some(moments),
            total,
            rank: None,
            n_constant: 0,
            sweeps: 1,
            solver: "none",
            warnings: Vec::new(),
        }
    }

    /// The same [columns](Self::of_columns), all divided by `size`.
    pub(crate) fn divided_by(mut self, size: f64) -> Self {
        self.size *= size;
        if let Some(moments) = &mut self.moments {
            moments.as_mut_slice().iter_mut().for_each(|m| *m /= size * size);
        }
        self
    }

    /// Number of coordinates.
    pub(crate) fn k(&self) -> usize {
        if self.white { self.axes.rows() } else { self.mean.len() }
    }

    /// Offset that is subtracted from rows, unless it is 0 throughout.
    pub(crate) fn subtracted(&self) -> Option<&[f64]> {
        self.mean.iter().any(|m| *m != 0.0).then_some(&self.mean)
    }

    /// Divisor of every column, unless it is 1 throughout.
    pub(crate) fn units(&self) -> Option<Vec<f64>> {
        let any = self.noise_scale.is_some() || self.size != 1.0;
        any.then(|| (0..self.mean.len()).map(|j| self.unit_of(j)).collect())
    }

    fn unit_of(&self, j: usize) -> f64 {
        self.size * self.noise_scale.as_ref().map_or(1.0, |s| s[j])
    }

    /// The matrix from `x - mean` to coordinates, `k x p`; `None` means the identity.
    pub(crate) fn basis(&self) -> Option<Matrix<f64>> {
        let identity = !self.white && self.noise_scale.is_none() && self.size == 1.0;
        (!identity).then(|| self.with_parts(|parts| parts.encoder().transposed()))
    }

    /// The matrix from coordinates to `x - mean`, `k x p`.
    pub(crate) fn back(&self) -> Matrix<f64> {
        self.with_parts(|parts| parts.transposed())
    }

    fn with_parts<O>(&self, f: impl FnOnce(Linear<'_>) -> O) -> O {
        let units = self.units();
        let (noise, p) = (units.as_deref(), self.mean.len());
        match self.white {
            true => f(Linear { noise, axes: &self.axes, scale: Some(&self.deviation), rotation: None }),
            false => {
                let axes = &Matrix::from_fn(p, p, |i, j| f64::from(u8::from(i == j)));
                f(Linear { noise, axes, scale: None, rotation: None })
            }
        }
    }

    /// Filters of coordinates, `m x k`, expressed as filters of `x - mean`, `m x p`: `w basis`.
    pub(crate) fn folded(&self, w: &Matrix<f64>) -> Matrix<f64> {
        let mut v = match self.white {
            true => factor::multiply(&self.stretched(w.clone(), |s| 1.0 / s), &self.axes),
            false => w.clone(),
        };
        self.by_units(&mut v, |x, unit| x / unit);
        v
    }

    /// The gradient with respect to filters of coordinates, `m x k`, from that with respect to filters of `x - mean`, `m x p`:
    /// `gradient basis'`.
    pub(crate) fn folded_back(&self, mut gradient: Matrix<f64>) -> Matrix<f64> {
        self.by_units(&mut gradient, |x, unit| x / unit);
        match self.white {
            true => self.stretched(factor::multiply_transposed(&gradient, &self.axes), |s| 1.0 / s),
            false => gradient,
        }
    }

    /// Filters of `x - mean`, `m x p`, expressed as filters of coordinates, `m x k`: inverse of [`folded`](Self::folded),
    /// `v back'`.
    pub(crate) fn unfolded(&self, mut v: Matrix<f64>) -> Matrix<f64> {
        self.by_units(&mut v, |x, unit| x * unit);
        match self.white {
            true => self.stretched(factor::multiply_transposed(&v, &self.axes), |s| s),
            false => v,
        }
    }

    /// Decoder vectors of `x - mean`, `m x p`, for filters `w` of coordinates, `m x k`.
    ///
    /// # Errors
    ///
    /// A decomposition that does not converge.
    pub(crate) fn decoder(&self, w: &Matrix<f64>, by: Inverse) -> Result<Matrix<f64>> {
        Ok(match by {
            Inverse::Square => factor::multiply(&inverse(w)?.transposed(), &self.back()),
            Inverse::Dual => factor::multiply(&dual(w)?, &self.back()),
            Inverse::Pseudo if self.white && w.rows() >= self.k() => {
                self.decoded(pseudo_inverse(w)?.transposed())
            }
            Inverse::Pseudo => pseudo_inverse(&self.folded(w))?.transposed(),
        })
    }

    /// The parts of a model with these `components` and `decoder` vectors. `second_rotation` has the filters of coordinates as columns; if a
    /// model keeps them, and coordinates are white, it has the axes and the scale, too.
    pub(crate) fn described<'a>(
        &'a self,
        components: &'a Matrix<f64>,
        decoder: Option<&'a Matrix<f64>>,
        second_rotation: Option<&'a Matrix<f64>>,
    ) -> LinearParameters<'a> {
        let rotated = self.white && second_rotation.is_some();
        LinearParameters {
            components,
            mean: &self.mean,
            decoder,
            axes: rotated.then_some(&self.axes),
            scale: rotated.then_some(&self.deviation[..]),
            noise_scale: self.noise_scale.as_deref(),
            second_rotation,
        }
    }

    /// Decoders of whitened coordinates, `m x k`, expressed as decoders of `x - mean`, `m x p`: `m back`.
    fn decoded(&self, m: Matrix<f64>) -> Matrix<f64> {
        let mut out = factor::multiply(&self.stretched(m, |s| s), &self.axes);
        self.by_units(&mut out, |x, unit| x * unit);
        out
    }

    fn stretched(&self, mut m: Matrix<f64>, f: impl Fn(f64) -> f64) -> Matrix<f64> {
        for i in 0..m.rows() {
            m.row_mut(i).iter_mut().zip(&self.deviation).for_each(|(x, s)| *x *= f(*s));
        }
        m
    }

    fn by_units(&self, m: &mut Matrix<f64>, f: impl Fn(f64, f64) -> f64) {
        if self.noise_scale.is_none() && self.size == 1.0 {
            return;
        }
        for i in 0..m.rows() {
            m.row_mut(i).iter_mut().enumerate().for_each(|(j, x)| *x = f(*x, self.unit_of(j)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    /// Five columns divided by their own units: whitened along three axes, or not.
    fn coordinates(white: bool, size: f64) -> Coordinates {
        let draws = Stream::new(5, 0);
        let axes = factor::orthonormal_rows(&Matrix::from_fn(3, 5, |i, j| draws.normal((5 * i + j) as u64)));
        Coordinates {
            n: 9.0,
            mean: vec![0.0; 5],
            noise_scale: Some(vec![1.0, 2.0, 0.5, 4.0, 1.5]),
            size,
            axes,
            deviation: vec![3.0, 0.25, 2.0],
            white,
            moments: None,
            total: None,
            rank: None,
            n_constant: 0,
            sweeps: 0,
            solver: "",
            warnings: Vec::new(),
        }
    }

    #[test]
    fn folding_is_a_product_with_the_basis_and_unfolding_its_inverse() {
        let draws = Stream::new(5, 1);
        let apart = |a: &Matrix<f64>, b: &Matrix<f64>| {
            assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()));
            a.as_slice().iter().zip(b.as_slice()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
        };
        for (white, size) in [(true, 1.0), (false, 1.0), (false, 2.5)] {
            let of = coordinates(white, size);
            let (basis, back, k) = (of.basis().unwrap(), of.back(), of.k());
            let w = Matrix::from_fn(2, k, |i, j| draws.normal((k * i + j) as u64));
            let v = Matrix::from_fn(2, 5, |i, j| draws.normal((50 + 5 * i + j) as u64));
            assert!(apart(&of.folded(&w), &factor::multiply(&w, &basis)) < 1e-13);
            assert!(apart(&of.folded_back(v.clone()), &factor::multiply_transposed(&v, &basis)) < 1e-13);
            assert!(apart(&of.unfolded(v.clone()), &factor::multiply_transposed(&v, &back)) < 1e-13);
            assert!(apart(&of.unfolded(of.folded(&w)), &w) < 1e-13);
            let identity = factor::multiply_transposed(&basis, &back);
            assert!(apart(&identity, &Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)))) < 1e-13);
            assert!(!white || apart(&of.decoded(w.clone()), &factor::multiply(&w, &back)) < 1e-13);
        }
        let of = coordinates(true, 1.0);
        let w = Matrix::from_fn(3, 3, |i, j| {
            draws.normal((100 + 3 * i + j) as u64) + if i == j { 3.0 } else { 0.0 }
        });
        let inverses = [Inverse::Square, Inverse::Dual, Inverse::Pseudo];
        let [first, others @ ..] = inverses.map(|by| of.decoder(&w, by).unwrap());
        assert!(others.iter().all(|decoder| apart(decoder, &first) < 1e-10));
        let identity = factor::multiply_transposed(&of.folded(&w), &first);
        assert!(apart(&identity, &Matrix::from_fn(3, 3, |i, j| f64::from(u8::from(i == j)))) < 1e-10);
        let plain = Coordinates { noise_scale: None, ..coordinates(false, 1.0) };
        assert!(plain.basis().is_none() && plain.units().is_none());
    }

    /// Moments about the means and about 0, of rows of which the sums are known: `(1, 2)`, `(3, 8)`.
    #[test]
    fn columns_that_are_not_whitened_have_the_moments_of_the_divided_rows() {
        let sums = || Scatter {
            lower: Matrix::from_vec(2, 2, vec![2.0, 0.0, 6.0, 18.0]),
            mean: vec![2.0, 5.0],
            n: 2.0,
            ..Scatter::empty(2)
        };
        let about_means = Coordinates::of_columns(sums(), true, None);
        assert_eq!(about_means.moments.unwrap().as_slice(), [1.0, 3.0, 3.0, 9.0]);
        assert_eq!((about_means.mean, about_means.total), (vec![2.0, 5.0], Some(10.0)));
        let about_zero = Coordinates::of_columns(sums(), false, None).divided_by(2.0);
        assert_eq!(about_zero.moments.as_ref().unwrap().as_slice(), [1.25, 3.25, 3.25, 8.5]);
        assert_eq!((about_zero.units().unwrap(), about_zero.subtracted()), (vec![2.0; 2], None));
        let scaled = Coordinates::of_columns(sums(), true, Some(vec![1.0, 3.0]));
        assert_eq!((scaled.moments.unwrap().as_slice(), scaled.total), (&[1.0; 4][..], None));
    }
}
