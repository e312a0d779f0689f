//! Codes by an affine map followed by rectification at 0, or by the logistic function.

use super::affine::LinearEncoder;
use super::code::{Codes, Encoder, RowMap};
use super::tensor::Tensor;
use crate::data::Workspace;
use crate::num::{Matrix, Real, tanh, widest};

/// `y = max(0, t)` or `y = 1 / (1 + exp(-t))`, `t = (x - mean) B + offset`.
#[derive(Clone, Debug)]
pub struct Gate {
    linear: LinearEncoder,
    offset: Vec<f64>,
    logistic: bool,
}

impl Gate {
    /// Rectified codes. `mean` has `n_features` numbers, `matrix` is `n_features x n_codes`, `offset` has `n_codes` numbers.
    pub fn new(mean: Tensor, matrix: Matrix<f64>, offset: Vec<f64>) -> Self {
        Self { linear: LinearEncoder::new(mean, matrix), offset, logistic: false }
    }

    /// Codes between 0 and 1, by the logistic function. Shapes as for [`new`](Self::new).
    pub fn logistic(mean: Tensor, matrix: Matrix<f64>, offset: Vec<f64>) -> Self {
        Self { logistic: true, ..Self::new(mean, matrix, offset) }
    }

    fn map<T: Real>(&self, linear: Box<dyn RowMap<T>>) -> Box<dyn RowMap<T>> {
        let offset = self.offset.iter().map(|x| T::from_f64(*x)).collect();
        match self.logistic {
            true => Box::new(Logistic { linear, offset }),
            false => Box::new(Map { linear, offset }),
        }
    }
}

impl Encoder for Gate {
    fn n_features(&self) -> usize {
        self.linear.n_features()
    }

    fn n_codes(&self) -> usize {
        self.linear.n_codes()
    }

    fn codes(&self) -> Codes {
        Codes { non_negative: true, probabilities: self.logistic, ..Codes::default() }
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        self.map(self.linear.in_f32())
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        self.map(self.linear.in_f64())
    }
}

struct Map<T> {
    linear: Box<dyn RowMap<T>>,
    offset: Vec<T>,
}

impl<T: Real> RowMap<T> for Map<T> {
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        self.linear.apply(rows, out, work);
        let zero = T::default();
        widest(
            #[inline(always)]
            || {
                for row in out.chunks_exact_mut(self.offset.len().max(1)) {
                    for (y, add) in row.iter_mut().zip(&self.offset) {
                        let sum = y.plus(*add);
                        *y = if sum > zero { sum } else { zero };
                    }
                }
            },
        );
    }
}

struct Logistic<T> {
    linear: Box<dyn RowMap<T>>,
    offset: Vec<T>,
}

impl<T: Real> RowMap<T> for Logistic<T> {
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        self.linear.apply(rows, out, work);
        let half = T::from_f64(0.5);
        for row in out.chunks_exact_mut(self.offset.len().max(1)) {
            // 1 / (1 + exp(-t)) = (1 + tanh(t / 2)) / 2, which cannot overflow.
            row.iter_mut().zip(&self.offset).for_each(|(y, add)| *y = half * y.plus(*add));
            tanh::tanh(row);
            row.iter_mut().for_each(|y| *y = half + half * *y);
        }
    }
}
