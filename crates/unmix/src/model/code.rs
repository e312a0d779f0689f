//! How parameters turn rows into codes and back.

use super::tensor::Tensor;
use crate::data::Workspace;
use crate::error::Result;
use crate::machine::check_square;
use crate::num::kernel;
use crate::num::{Block, Matrix, Real, widest};

/// The two maps of a model. Later kinds (gates, solvers, short networks) join here.
#[derive(Clone, Debug)]
pub enum Code {
    /// `y = (x - mean) encoder`, `x = y decoder + mean`.
    Linear {
        /// Mean of the rows, `n_features`.
        mean: Tensor,
        /// `n_features x n_components`.
        encoder: Matrix<f64>,
        /// `n_components x n_features`.
        decoder: Matrix<f64>,
        /// What codes pass through before they are decoded, where a model reconstructs rows from more than the codes themselves.
        bend: Option<Bend>,
    },
}

/// A function of every code by itself: `scale_j h(y_j / unit_j, a_j)`.
#[derive(Clone, Debug)]
pub struct Bend {
    /// Of a standardised code and its width.
    pub h: fn(f64, f64) -> f64,
    /// Widths.
    pub a: Vec<f64>,
    /// What codes are divided by; where that is 0 the result is 0.
    pub unit: Vec<f64>,
    /// What the result is multiplied by.
    pub scale: Vec<f64>,
}

impl Bend {
    /// Rows of codes, bent.
    fn apply<T: Real>(&self, codes: &[T]) -> Vec<T> {
        let of = |j: usize, y: f64| match self.unit[j] > 0.0 {
            true => self.scale[j] * (self.h)(y / self.unit[j], self.a[j]),
            false => 0.0,
        };
        let k = self.a.len();
        codes.iter().enumerate().map(|(at, y)| T::from_f64(of(at % k, y.to_f64()))).collect()
    }
}

impl Code {
    /// Numbers in a row.
    pub fn n_features(&self) -> usize {
        let Code::Linear { encoder, .. } = self;
        encoder.rows()
    }

    /// Numbers in a code.
    pub fn n_codes(&self) -> usize {
        let Code::Linear { encoder, .. } = self;
        encoder.cols()
    }

    /// Rows to codes, in type `T`.
    pub fn encoder<T: Real>(&self) -> Affine<T> {
        let Code::Linear { mean, encoder, .. } = self;
        Affine { subtract: mean.to::<T>().into_owned(), matrix: encoder.cast(), add: Vec::new(), bend: None }
    }

    /// Codes to rows, in type `T`.
    pub fn decoder<T: Real>(&self) -> Affine<T> {
        let Code::Linear { mean, decoder, bend, .. } = self;
        Affine {
            subtract: Vec::new(),
            matrix: decoder.cast(),
            add: mean.to::<T>().into_owned(),
            bend: bend.clone(),
        }
    }

    /// `n_features x n_components`: the columns that decode.
    pub fn mixing(&self) -> Matrix<f64> {
        let Code::Linear { decoder, .. } = self;
        decoder.transposed()
    }
}

/// `y = (x - subtract) matrix + add`, rows on the left. An empty vector stands for zeros. Codes may be bent first.
#[derive(Clone, Debug)]
pub struct Affine<T> {
    subtract: Vec<T>,
    matrix: Matrix<T>,
    add: Vec<T>,
    bend: Option<Bend>,
}

impl<T: Real> Affine<T> {
    /// Numbers that it makes of a row.
    pub fn width(&self) -> usize {
        self.matrix.cols()
    }

    /// Maps row-major `rows` into `out`. A row gets the same bits alone and in any block.
    ///
    /// Centred before the product, not after: `xB - mean B` loses the digits that the rows have in common with their mean.
    pub fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        match &self.bend {
            None => self.map(rows, out, work),
            Some(bend) => self.map(&bend.apply(rows), out, work),
        }
    }

    fn map(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        let (p, k) = (self.matrix.rows(), self.matrix.cols());
        if k == 0 {
            return;
        }
        if p == 0 {
            // Nothing to multiply: every row is what is added.
            out.chunks_exact_mut(k).for_each(|row| row.copy_from_slice(&self.add));
            return;
        }
        let n = rows.len() / p;
        let input = match self.subtract.is_empty() {
            true => rows,
            false => {
                // Not cleared first: what is there is written over.
                work.rows.resize(rows.len(), T::default());
                widest(
                    #[inline(always)]
                    || {
                        for (row, out) in rows.chunks_exact(p).zip(work.rows.chunks_exact_mut(p)) {
                            for ((o, x), m) in out.iter_mut().zip(row).zip(&self.subtract) {
                                *o = x.minus(*m);
                            }
                        }
                    },
                );
                &work.rows
            }
        };
        kernel::product(out, input, self.matrix.as_slice(), n, p, k);
        if !self.add.is_empty() {
            for row in out.chunks_exact_mut(k) {
                row.iter_mut().zip(&self.add).for_each(|(y, a)| *y = y.plus(*a));
            }
        }
    }
}

/// A Gaussian with covariance `D (V' diag(variance - noise) V + noise I) D`, `V` with orthonormal rows, `D` the diagonal of
/// `noise_scale` where there is one.
#[derive(Clone, Debug)]
pub struct Gaussian {
    /// Mean, `n_features`.
    pub mean: Vec<f64>,
    /// What columns are divided by before they meet the axes, `n_features`.
    pub noise_scale: Option<Vec<f64>>,
    /// `k x n_features`, orthonormal rows.
    pub axes: Matrix<f64>,
    /// Variance along each axis, at least `noise`.
    pub variance: Vec<f64>,
    /// Variance across them.
    pub noise: f64,
}

impl Gaussian {
    /// `log p(x)` of every row.
    ///
    /// The part across the axes is formed from the residual itself, not from `||x||² - Σ y²`, which cancels.
    pub fn log_density<T: Real>(&self, rows: &[T], out: &mut [f64], work: &mut Workspace<T>) {
        let (k, p) = (self.axes.rows(), self.axes.cols());
        let constant = p as f64 * (2.0 * std::f64::consts::PI).ln() + self.log_determinant();
        let n = rows.len() / p;
        let mut centred = Vec::with_capacity(n * p);
        for row in rows.chunks_exact(p) {
            centred.extend(row.iter().zip(&self.mean).map(|(x, m)| x.to_f64() - m));
        }
        if let Some(scale) = &self.noise_scale {
            for row in centred.chunks_exact_mut(p) {
                row.iter_mut().zip(scale).for_each(|(x, s)| *x /= s);
            }
        }
        let mut scores = vec![0.0; n * k];
        work.wide.clear();
        work.wide.resize(n * p, 0.0);
        if k > 0 {
            kernel::product(&mut scores, &centred, self.axes.transposed().as_slice(), n, p, k);
            kernel::product(&mut work.wide, &scores, self.axes.as_slice(), n, k, p);
        }
        for (i, log_p) in out.iter_mut().enumerate() {
            let y = &scores[i * k..(i + 1) * k];
            let along: f64 = y.iter().zip(&self.variance).map(|(y, v)| y * y / v).sum();
            let (x, fitted) = (&centred[i * p..(i + 1) * p], &work.wide[i * p..(i + 1) * p]);
            let across =
                if k == p { 0.0 } else { x.iter().zip(fitted).map(|(x, f)| (x - f) * (x - f)).sum() };
            *log_p = -0.5 * (constant + along + across / self.noise);
        }
    }

    /// Logarithm of the determinant of the covariance.
    pub fn log_determinant(&self) -> f64 {
        let rest = (self.axes.cols() - self.axes.rows()) as f64;
        let units: f64 = self.noise_scale.iter().flatten().map(|s| s.ln()).sum();
        self.variance.iter().map(|v| v.ln()).sum::<f64>()
            + if rest > 0.0 { rest * self.noise.ln() } else { 0.0 }
            + 2.0 * units
    }

    /// The covariance, `n_features x n_features`.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`](crate::Error::Memory) where so large a table cannot be had.
    pub fn covariance(&self) -> Result<Matrix<f64>> {
        self.sandwich(|v| v - self.noise, self.noise, |s| s)
    }

    /// Its inverse.
    ///
    /// # Errors
    ///
    /// As [`covariance`](Self::covariance).
    pub fn precision(&self) -> Result<Matrix<f64>> {
        if self.axes.rows() == self.axes.cols() {
            // Nothing lies across the axes, so the noise must not enter: 1/v - 1/noise + 1/noise has no digits left.
            return self.sandwich(|v| 1.0 / v, 0.0, |s| 1.0 / s);
        }
        self.sandwich(|v| 1.0 / v - 1.0 / self.noise, 1.0 / self.noise, |s| 1.0 / s)
    }

    /// `U (V' diag(f(variance)) V + diagonal I) U` with `U` the diagonal of `unit(noise_scale)`, symmetric to the bit.
    fn sandwich(
        &self,
        f: impl Fn(f64) -> f64,
        diagonal: f64,
        unit: impl Fn(f64) -> f64,
    ) -> Result<Matrix<f64>> {
        let (k, p) = (self.axes.rows(), self.axes.cols());
        // The table and the copy of it that is handed out.
        check_square("the covariance of a model", p, 2)?;
        let scaled = Matrix::from_fn(k, p, |i, j| self.axes[(i, j)] * f(self.variance[i]));
        let mut out = crate::num::factor::multiply(&scaled.transposed(), &self.axes);
        for i in 0..p {
            for j in 0..i {
                let mean = 0.5 * (out[(i, j)] + out[(j, i)]);
                (out[(i, j)], out[(j, i)]) = (mean, mean);
            }
            out[(i, i)] += diagonal;
        }
        if let Some(scale) = &self.noise_scale {
            let units: Vec<f64> = scale.iter().map(|s| unit(*s)).collect();
            for i in 0..p {
                out.row_mut(i).iter_mut().zip(&units).for_each(|(x, u)| *x *= units[i] * u);
            }
        }
        Ok(out)
    }
}

impl<T: Real> crate::data::Rows<'_, T> {
    /// An error that names the first number of the block that is not finite.
    pub(crate) fn check_finite(&self, what: &str, block: &Block<'_, T>) -> Result<()> {
        if widest(
            #[inline(always)]
            || block.data.iter().fold(true, |all, x| all & x.finite()),
        ) {
            return Ok(());
        }
        let Some(at) = block.data.iter().position(|x| !x.finite()) else { return Ok(()) };
        let column = at % block.n_features;
        let row = block.first_row + (at / block.n_features) as u64;
        Err(self.not_finite_at(what, row, column, block.data[at].to_f64()))
    }
}
