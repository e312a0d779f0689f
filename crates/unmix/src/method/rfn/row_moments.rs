//! Center and second moments of the rows.

use super::METHOD;
use super::settings::{Center, NoiseForm};
use crate::data::{Rows, Sink};
use crate::error::Result;
use crate::machine::check_square;
use crate::num::{Block, Dtype, Matrix, Real, Workspace};
use crate::rectified::statistics::Moments as SecondMoments;
use crate::run::Run;
use crate::spectrum::{check_total, hidden_columns, no_variance_of};
use crate::stats::{GatherMoments, GatherScatter, Moments, Scatter};

/// The offset that is subtracted from rows, and second moments about it.
pub(super) struct RowMoments {
    /// Number of rows, weighted.
    pub(super) n: f64,
    /// Offset that is subtracted from rows.
    pub(super) center: Vec<f64>,
    /// Second moments about the center.
    pub(super) c: SecondMoments,
    /// Their diagonal; 0 for constant columns.
    pub(super) variance: Vec<f64>,
    /// Number of constant columns.
    pub(super) n_constant: usize,
    /// Full passes over the rows.
    pub(super) sweeps: u64,
    pub(super) dtype: Dtype,
}

impl RowMoments {
    /// One pass; one more for medians.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, no column that varies, variances below the range of their type, a table too large for
    /// memory.
    pub(super) fn of<T: Real>(
        rows: &Rows<'_, T>,
        center: Center,
        noise: NoiseForm,
        run: &Run<'_>,
    ) -> Result<Self> {
        let (p, key) = (rows.n_features(), METHOD.key);
        let (moments, scatter) = sums(rows, noise, run)?;
        if !moments.mean.iter().chain(&moments.squares).all(|x| x.is_finite()) {
            return Err(rows.not_finite(key));
        }
        let constant = |k: usize| moments.squares[k] == 0.0;
        if (0..p).all(constant) && center != Center::Mean(false) {
            return Err(no_variance_of(rows, key));
        }
        let (center, more) = match center {
            Center::Mean(true) => (moments.mean.clone(), 0),
            Center::Mean(false) => (vec![0.0; p], 0),
            Center::Median(_) => (medians(rows, run)?, 1),
        };
        let apart: Vec<f64> = (0..p).map(|k| (moments.mean[k] - center[k]) + moments.rest[k]).collect();
        let zero = |k: usize| constant(k) && moments.mean[k] == center[k];
        let second = |k: usize, q: usize, sum: f64| match zero(k) || zero(q) {
            true => 0.0,
            false => sum / moments.n + apart[k] * apart[q],
        };
        let variance: Vec<f64> = (0..p).map(|k| second(k, k, moments.squares[k])).collect();
        let mut n_constant = variance.iter().filter(|v| **v == 0.0).count();
        if n_constant == p {
            return Err(no_variance_of(rows, key));
        }
        check_total(key, variance.iter().sum(), T::DTYPE)?;
        if let Some(k) = variance.iter().position(|v| *v > 0.0 && *v < T::DTYPE.least()) {
            return Err(crate::Error::unsupported(
                format!("{key} of these data"),
                format!("the variance of column {k} is below the smallest normal number of {}", T::DTYPE),
                "multiply that column by a large constant, or leave it out",
            )
            .of_method(key)
            .with(|d| d.column = Some(k)));
        }
        if n_constant > 0 {
            n_constant -= hidden_columns(rows, &moments.mean)?.len();
        }
        let c = match scatter {
            None => SecondMoments::Diagonal(variance.clone()),
            Some(scatter) => SecondMoments::Full(Matrix::from_fn(p, p, |k, q| {
                second(k, q, scatter.lower[(k.max(q), k.min(q))])
            })),
        };
        let n = moments.n;
        Ok(Self { n, center, c, variance, n_constant, sweeps: 1 + more, dtype: T::DTYPE })
    }

    /// Mean variance of the columns that are not constant.
    pub(super) fn mean_variance(&self) -> f64 {
        let varying = self.variance.iter().filter(|v| **v > 0.0);
        varying.clone().sum::<f64>() / varying.count() as f64
    }
}

/// Means and sums of squares, and all products if the noise covariance is a full matrix.
fn sums<T: Real>(rows: &Rows<'_, T>, noise: NoiseForm, run: &Run<'_>) -> Result<(Moments, Option<Scatter>)> {
    let p = rows.n_features();
    if noise == NoiseForm::Diagonal {
        return Ok((rows.sweep(run, "variances", &GatherMoments::new())?, None));
    }
    check_square(METHOD.key, p, 8)?;
    let scatter = rows.sweep(run, "covariance", &GatherScatter::new())?;
    let squares = (0..p).map(|k| scatter.lower[(k, k)]).collect();
    let (mean, rest) = (scatter.mean.clone(), scatter.rest.clone());
    Ok((Moments { n: scatter.n, mean, rest, squares }, Some(scatter)))
}

/// Weighted medians of the columns.
fn medians<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<f64>> {
    struct Numbers(Vec<f64>);
    impl Sink<f64> for Numbers {
        fn put(&mut self, rows: &[f64]) -> Result<()> {
            self.0.extend_from_slice(rows);
            Ok(())
        }
    }
    rows.here("rfn with center='median'")?;
    let (columns, weights) = (rows.transposed(), rows.weights());
    let one = |block: Block<'_, T>, out: &mut [f64], _: &mut Workspace<T>| {
        for (column, out) in block.rows().zip(out) {
            *out = median(column, weights);
        }
        Ok(())
    };
    let mut found = Numbers(Vec::new());
    columns.map(run, "medians", 1, one, &mut found)?;
    Ok(found.0)
}

/// The weighted median; for an even number, the mean of the two middle ones.
fn median<T: Real>(numbers: &[T], weights: Option<&[f64]>) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut all: Vec<(f64, f64)> = (0..numbers.len()).map(|i| (numbers[i].to_f64(), weight(i))).collect();
    all.retain(|x| x.1 > 0.0);
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * all.iter().map(|x| x.1).sum::<f64>();
    let mut below = 0.0;
    for (i, (x, w)) in all.iter().enumerate() {
        below += w;
        if below > half {
            return *x;
        }
        if below == half {
            return 0.5 * (x + all.get(i + 1).map_or(*x, |next| next.0));
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn medians_count_weights() {
        let x = [3.0f64, 1.0, 2.0, 10.0];
        assert_eq!(median(&x, None), 2.5);
        assert_eq!(median(&x[..3], None), 2.0);
        assert_eq!(median(&x, Some(&[1.0, 0.0, 2.0, 1.0])), 2.5);
        assert_eq!(median(&x, Some(&[2.0, 2.0, 2.0, 2.0])), 2.5);
        assert_eq!(median(&x, Some(&[1.0, 1.0, 3.0, 1.0])), 2.0);
    }
}
