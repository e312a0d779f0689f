//! The objective of RICA, and its gradient.
//!
//! ```text
//! J(W) = E ||W'W z - z||² + beta E Σ_j g(w_j z)
//! ```
//!
//! The first term depends on the rows through their second moments `F'F` alone: it is `||F (W'W - I)||²`, so
//! a pass over the rows only has to form `W z` and `g'(W z) z'`. That is two matrix products, where automatic
//! differentiation needs five. With `A = F W'` and `B = A W - F` the gradient is `2 A'B + 2 (B W')'F`; in
//! whitened coordinates `F = I`, `B = W'W - I`, and it is `4 W B`.

use crate::data::Rows;
use crate::elementwise::Penalty;
use crate::error::Result;
use crate::num::{Matrix, Real, dot, factor};
use crate::run::Run;
use crate::solve::lbfgs::Objective;
use crate::spectrum::Coordinates;
use crate::stats::{Filters, GatherSparsity, Sparsity};
use std::borrow::Cow;

/// The function, of `k x d` numbers.
pub(super) struct Cost<'a, 'b, T: Real> {
    pub(super) rows: &'a Rows<'b, T>,
    pub(super) run: &'a Run<'a>,
    pub(super) coordinates: &'a Coordinates,
    /// `F`; `None` for the identity.
    pub(super) moments: Option<Matrix<f64>>,
    pub(super) penalty: Penalty,
    pub(super) beta: f64,
    /// Rows of `W` are normalised to length 1 in the function.
    pub(super) unit: bool,
    pub(super) k: usize,
    /// The sparsity term of the function at the last evaluation.
    pub(super) penalised: f64,
    /// Full passes over the data so far.
    pub(super) sweeps: u64,
}

/// Number of iterations after which rows are rescaled to length 1, if the function normalises them: steps can
/// only lengthen them.
const ITERATIONS_BETWEEN_RESCALINGS: u64 = 50;

impl<T: Real> Cost<'_, '_, T> {
    /// The function at `w` and its gradient.
    pub(super) fn evaluate(&mut self, w: &Matrix<f64>) -> Result<(f64, Matrix<f64>)> {
        if !self.unit {
            return self.of_filters(w);
        }
        let lengths = lengths(w);
        let unit = scaled(w.clone(), |i| 1.0 / lengths[i]);
        let (value, mut gradient) = self.of_filters(&unit)?;
        for i in 0..w.rows() {
            // The radial component of the gradient has no effect.
            let along: f64 = gradient.row(i).iter().zip(unit.row(i)).map(|(g, u)| g * u).sum();
            let entries = gradient.row_mut(i).iter_mut().zip(unit.row(i));
            entries.for_each(|(g, u)| *g = (*g - u * along) / lengths[i]);
        }
        Ok((value, gradient))
    }

    /// The same features, normalised to length 1 if the function does so.
    pub(super) fn renewed(&self, x: Vec<f64>) -> Vec<f64> {
        if !self.unit {
            return x;
        }
        let w = Matrix::from_vec(self.k, self.coordinates.k(), x);
        let lengths = lengths(&w);
        scaled(w, |i| 1.0 / lengths[i]).into_vec()
    }

    fn of_filters(&mut self, w: &Matrix<f64>) -> Result<(f64, Matrix<f64>)> {
        let (mut value, mut gradient) = reconstruction(w, self.moments.as_ref());
        if self.beta > 0.0 && value.is_finite() {
            let sums = self.sparsity(w)?;
            let weight = self.beta / sums.n;
            self.penalised = weight * sums.value;
            value += self.penalised;
            let rest = self.coordinates.folded_back(sums.gradient);
            let entries = gradient.as_mut_slice().iter_mut().zip(rest.as_slice());
            entries.for_each(|(g, r)| *g += weight * r);
        }
        Ok((value, gradient))
    }

    fn sparsity(&mut self, w: &Matrix<f64>) -> Result<Sparsity> {
        let exact = self.coordinates.folded(w);
        let mean = self.coordinates.subtracted().map(Cow::Borrowed);
        let gather = GatherSparsity(Filters { mean, rows: exact.cast::<T>(), penalty: self.penalty });
        self.sweeps += 1;
        let mut sums = self.rows.sweep(self.run, "features", &gather)?;
        // The value at the filters themselves, not at their values in single precision: otherwise the search ends where a
        // step changes the one term and not the other.
        let entries = sums.gradient.as_slice().iter().zip(exact.as_slice()).zip(gather.0.rows.as_slice());
        sums.value += entries.map(|((g, exact), used)| g * (exact - used.to_f64())).sum::<f64>();
        Ok(sums)
    }
}

impl<T: Real> Objective for Cost<'_, '_, T> {
    fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let w = Matrix::from_vec(self.k, self.coordinates.k(), x.to_vec());
        let (value, found) = self.evaluate(&w)?;
        gradient.copy_from_slice(found.as_slice());
        Ok(value)
    }

    fn residual(&self, gradient: &[f64]) -> f64 {
        gradient.iter().fold(0.0f64, |m, g| m.max(g.abs())) / self.coordinates.unit()
    }

    fn rounding(&self, value: f64) -> f64 {
        // Outputs are rounded in the type of the rows, the sums over them are not.
        64.0 * f64::EPSILON * value.abs() + T::DTYPE.eps() * self.penalised.abs()
    }

    fn counts(&self) -> Vec<u64> {
        vec![self.sweeps]
    }

    fn recount(&mut self, counts: &[u64]) {
        self.sweeps = counts.first().copied().unwrap_or(self.sweeps);
    }

    fn rescaled(&mut self, n_iter: u64, x: &[f64]) -> Option<Vec<f64>> {
        if !self.unit || !n_iter.is_multiple_of(ITERATIONS_BETWEEN_RESCALINGS) {
            return None;
        }
        let d = self.coordinates.k();
        let lengths = lengths(&Matrix::from_vec(self.k, d, x.to_vec()));
        Some(lengths.iter().flat_map(|s| std::iter::repeat_n(1.0 / s, d)).collect())
    }
}

/// `Σ m_ij²`, row by row: a single sum over all entries would have rounding errors larger than the decrease
/// in the last steps of a search.
fn squares(m: &Matrix<f64>) -> f64 {
    (0..m.rows()).map(|i| dot(m.row(i), m.row(i))).sum()
}

/// `||F (W'W - I)||²` and its gradient by `W`; without `F`, for the identity.
fn reconstruction(w: &Matrix<f64>, moments: Option<&Matrix<f64>>) -> (f64, Matrix<f64>) {
    let Some(f) = moments else {
        let mut b = factor::multiply(&w.transposed(), w);
        (0..b.rows()).for_each(|i| b[(i, i)] -= 1.0);
        let gradient = factor::multiply(w, &b);
        return (squares(&b), scaled(gradient, |_| 4.0));
    };
    let a = factor::multiply_transposed(f, w);
    let mut b = factor::multiply(&a, w);
    b.as_mut_slice().iter_mut().zip(f.as_slice()).for_each(|(b, f)| *b -= f);
    let mut gradient = factor::multiply(&a.transposed(), &b);
    let other = factor::multiply(&factor::multiply_transposed(w, &b), f);
    gradient.as_mut_slice().iter_mut().zip(other.as_slice()).for_each(|(g, o)| *g = 2.0 * (*g + o));
    (squares(&b), gradient)
}

/// Length of every row.
pub(super) fn lengths(m: &Matrix<f64>) -> Vec<f64> {
    (0..m.rows()).map(|i| m.row(i).iter().map(|x| x * x).sum::<f64>().sqrt()).collect()
}

/// Every row times a number.
pub(super) fn scaled(mut m: Matrix<f64>, by: impl Fn(usize) -> f64) -> Matrix<f64> {
    for i in 0..m.rows() {
        m.row_mut(i).iter_mut().for_each(|x| *x *= by(i));
    }
    m
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn a_sum_of_many_squares_is_known_to_a_few_rounding_errors() {
        for seed in 0..4 {
            let s = Stream::new(seed, 1);
            let m = Matrix::from_fn(100, 4000, |i, j| s.normal((i * 4000 + j) as u64));
            // Compensated summation (Neumaier 1974).
            let (mut sum, mut lost) = (0.0f64, 0.0f64);
            for square in m.as_slice().iter().map(|x| x * x) {
                let next = sum + square;
                lost += if sum >= square { (sum - next) + square } else { (square - next) + sum };
                sum = next;
            }
            let (found, exact) = (squares(&m), sum + lost);
            assert!(
                (found - exact).abs() <= 16.0 * f64::EPSILON * exact,
                "seed {seed}: {:e}",
                found / exact - 1.0
            );
        }
    }
}
