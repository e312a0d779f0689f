//! Whitened or scaled coordinates of rows, and the map back: the single implementation for all methods that whiten.
//!
//! ```text
//! z = diag(1/deviation) axes ((x - mean) / noise)     white
//! z = (x - mean) / noise / size                       columns in units of their own
//! ```

use super::{Decomposition, Request, Solver, auto_solver, decompose};
use crate::data::Rows;
use crate::error::Result;
use crate::model::{Linear, sign_of};
use crate::num::{Matrix, Real, factor};
use crate::run::Run;

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

    /// Decoders of whitened coordinates, `m x k`, expressed as decoders of `x - mean`, `m x p`: `m back`.
    pub(crate) fn decoded(&self, m: Matrix<f64>) -> Matrix<f64> {
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
        let plain = Coordinates { noise_scale: None, ..coordinates(false, 1.0) };
        assert!(plain.basis().is_none() && plain.units().is_none());
    }
}
