//! Affine maps of rows: the encoders and decoders of linear models.

use super::code::{Decoder, Encoder, RowMap};
use super::tensor::Tensor;
use crate::data::Workspace;
use crate::num::{Matrix, Real, kernel, widest};

/// `y = (x - mean) B`: the encoder of linear models.
#[derive(Clone, Debug)]
pub struct LinearEncoder {
    mean: Tensor,
    matrix: Matrix<f64>,
}

impl LinearEncoder {
    /// `matrix` is `n_features x n_codes`, `mean` has `n_features` numbers.
    pub fn new(mean: Tensor, matrix: Matrix<f64>) -> Self {
        Self { mean, matrix }
    }

    /// The map for rows of type `T`.
    fn map<T: Real>(&self) -> Affine<T> {
        Affine { subtract: self.mean.to::<T>().into_owned(), matrix: self.matrix.cast(), add: Vec::new() }
    }
}

impl Encoder for LinearEncoder {
    fn n_features(&self) -> usize {
        self.matrix.rows()
    }

    fn n_codes(&self) -> usize {
        self.matrix.cols()
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.map())
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.map())
    }

    fn linear(&self) -> Option<(&Tensor, &Matrix<f64>)> {
        Some((&self.mean, &self.matrix))
    }
}

/// `x = y C + mean`: the decoder of linear models, and of any other model whose reconstruction is linear in the codes.
#[derive(Clone, Debug)]
pub struct LinearDecoder {
    mean: Tensor,
    matrix: Matrix<f64>,
}

impl LinearDecoder {
    /// `matrix` is `n_codes x n_features`, `mean` has `n_features` numbers.
    pub fn new(mean: Tensor, matrix: Matrix<f64>) -> Self {
        Self { mean, matrix }
    }

    fn map<T: Real>(&self) -> Affine<T> {
        Affine { subtract: Vec::new(), matrix: self.matrix.cast(), add: self.mean.to::<T>().into_owned() }
    }
}

impl Decoder for LinearDecoder {
    fn n_features(&self) -> usize {
        self.matrix.cols()
    }

    fn n_codes(&self) -> usize {
        self.matrix.rows()
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.map())
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.map())
    }

    fn mixing(&self) -> Matrix<f64> {
        self.matrix.transposed()
    }
}

/// An element-wise nonlinearity of codes: `scale_j h(y_j / unit_j, a_j)`.
#[derive(Clone, Debug)]
pub(crate) struct Nonlinearity {
    /// The function `h(y, a)` of a standardised code and its width.
    pub(crate) h: fn(f64, f64) -> f64,
    /// Widths.
    pub(crate) a: Vec<f64>,
    /// Divisors of the codes; where the divisor is 0 the result is 0.
    pub(crate) unit: Vec<f64>,
    /// Factors of the result.
    pub(crate) scale: Vec<f64>,
}

impl Nonlinearity {
    /// Applies the nonlinearity to row-major codes.
    fn apply<T: Real>(&self, codes: &[T]) -> Vec<T> {
        let of = |j: usize, y: f64| match self.unit[j] > 0.0 {
            true => self.scale[j] * (self.h)(y / self.unit[j], self.a[j]),
            false => 0.0,
        };
        let k = self.a.len();
        codes.iter().enumerate().map(|(at, y)| T::from_f64(of(at % k, y.to_f64()))).collect()
    }
}

/// `x = h(y) C + mean`: a decoder that is not linear in the codes.
#[derive(Clone, Debug)]
pub(crate) struct NonlinearDecoder {
    codes: Nonlinearity,
    linear: LinearDecoder,
}

impl NonlinearDecoder {
    /// `matrix` is `n_codes x n_features`.
    pub(crate) fn new(codes: Nonlinearity, mean: Tensor, matrix: Matrix<f64>) -> Self {
        Self { codes, linear: LinearDecoder::new(mean, matrix) }
    }

    fn map<T: Real>(&self) -> Nonlinear<T> {
        Nonlinear { codes: self.codes.clone(), linear: self.linear.map() }
    }
}

impl Decoder for NonlinearDecoder {
    fn n_features(&self) -> usize {
        self.linear.n_features()
    }

    fn n_codes(&self) -> usize {
        self.linear.n_codes()
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.map())
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.map())
    }

    fn mixing(&self) -> Matrix<f64> {
        self.linear.mixing()
    }
}

/// [`NonlinearDecoder`] prepared for one number type.
struct Nonlinear<T> {
    codes: Nonlinearity,
    linear: Affine<T>,
}

impl<T: Real> RowMap<T> for Nonlinear<T> {
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        self.linear.apply(&self.codes.apply(rows), out, work);
    }
}

/// `y = (x - subtract) matrix + add`, with rows as row vectors. An empty vector represents zeros.
#[derive(Clone, Debug)]
struct Affine<T> {
    subtract: Vec<T>,
    matrix: Matrix<T>,
    add: Vec<T>,
}

impl<T: Real> RowMap<T> for Affine<T> {
    /// Rows are centred before the product, not after: `xB - mean B` cancels the digits that the rows and their mean have in
    /// common.
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        let (p, k) = (self.matrix.rows(), self.matrix.cols());
        if k == 0 {
            return;
        }
        if p == 0 {
            // Nothing to multiply: every row of the result is `add`.
            out.chunks_exact_mut(k).for_each(|row| row.copy_from_slice(&self.add));
            return;
        }
        let n = rows.len() / p;
        let input = match self.subtract.is_empty() {
            true => rows,
            false => {
                // Not cleared first: all of it is overwritten.
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
