//! Initial parameters.

use super::Task;
use super::settings::{Init, NoiseForm, PsiMinUnit};
use crate::data::Rows;
use crate::error::Result;
use crate::method::Ica;
use crate::model::require;
use crate::num::random::Stream;
use crate::num::{Matrix, Real};
use crate::rectified::posterior::multiple_of_identity;
use crate::rectified::{GatherCubes, Noise, Parameters};
use crate::run::Run;

/// Standard deviation of random loadings, relative to that of the column, and initial noise variance, relative to that of the
/// column.
const INITIAL_LOADING_DEVIATION: f64 = 0.01;
const INITIAL_NOISE_SHARE: f64 = 0.1;

impl Task<'_> {
    /// For column `k`: standard deviation of random loadings, initial noise variance, and its lower and upper bounds.
    pub(super) fn sizes(&self, k: usize) -> (f64, f64, (f64, f64)) {
        let (spec, row_moments) = (self.spec, &self.row_moments);
        let largest = row_moments.variance.iter().fold(0.0f64, |m, v| m.max(*v));
        // A constant column has no noise; this positive variance only keeps matrices invertible.
        let negligible = (1e-8 * row_moments.mean_variance()).max(row_moments.dtype.least());
        let (unit, most) = match spec.psi_min_unit {
            _ if row_moments.variance[k] == 0.0 => return (0.0, negligible, (negligible, negligible)),
            PsiMinUnit::Variance => (row_moments.variance[k], row_moments.variance[k]),
            PsiMinUnit::Mean => (row_moments.mean_variance(), largest),
            PsiMinUnit::Absolute => (1.0, largest),
        };
        let least = spec.psi_min * unit;
        (INITIAL_LOADING_DEVIATION * unit.sqrt(), INITIAL_NOISE_SHARE * unit, (least, most.max(least)))
    }

    /// Parameters of start number `start`.
    pub(super) fn start<T: Real>(&self, rows: &Rows<'_, T>, start: u64, run: &Run<'_>) -> Result<Parameters> {
        let (m, l) = (self.row_moments.center.len(), self.spec.n_components);
        if let Some(components) = run.initial_components(m, l)? {
            return Ok(self.start_from(&components, run));
        }
        let draws = Stream::new(run.seed, start);
        let sizes: Vec<f64> = (0..m).map(|k| self.sizes(k).0).collect();
        let mut w = Matrix::from_fn(m, l, |k, j| sizes[k] * draws.normal((k * l + j) as u64));
        if self.spec.init == Init::Ica {
            let mixing = independent(rows, l, start, run)?;
            for k in (0..m).filter(|&k| self.row_moments.variance[k] > 0.0) {
                w.row_mut(k).iter_mut().zip(mixing.row(k)).for_each(|(w, a)| *w = *a);
            }
        }
        let psi = (0..m).map(|k| self.bounded(k, self.sizes(k).1)).collect();
        Ok(Parameters { w, noise: self.noise(psi) })
    }

    fn bounded(&self, k: usize, psi: f64) -> f64 {
        let (low, high) = self.sizes(k).2;
        psi.min(high).max(low)
    }

    fn noise(&self, psi: Vec<f64>) -> Noise {
        match self.spec.noise {
            NoiseForm::Diagonal => Noise::Diagonal(psi),
            NoiseForm::Full => {
                let mut full = multiple_of_identity(psi.len(), 0.0);
                psi.iter().enumerate().for_each(|(k, x)| full[(k, k)] = *x);
                Noise::Full(full)
            }
        }
    }

    /// Loadings of a fitted model, the first of them if it has more, and its noise variances if it has one for each column.
    fn start_from(&self, components: &Matrix<f64>, run: &Run<'_>) -> Parameters {
        let (m, l) = (components.cols(), self.spec.n_components);
        let entry =
            |k: usize, j: usize| if self.row_moments.variance[k] > 0.0 { components[(j, k)] } else { 0.0 };
        let w = Matrix::from_fn(m, l, entry);
        let own = |name: &str, n: usize| {
            let found = run.init.and_then(|init| init.parameter(name)).map(|(_, numbers)| numbers);
            found.filter(|numbers| numbers.len() == n && numbers.iter().all(|x| x.is_finite()))
        };
        if let (NoiseForm::Full, Some(full)) = (self.spec.noise, own("noise_covariance", m * m)) {
            let mut full = Matrix::from_vec(m, m, full);
            (0..m).for_each(|k| full[(k, k)] = self.bounded(k, full[(k, k)]));
            return Parameters { w, noise: Noise::Full(full) };
        }
        let psi = own("noise_variance", m).unwrap_or_else(|| (0..m).map(|k| self.sizes(k).1).collect());
        let psi = psi.into_iter().enumerate().map(|(k, x)| self.bounded(k, x)).collect();
        Parameters { w, noise: self.noise(psi) }
    }
}

/// Columns of the mixing matrix, `m x min(l, rank)`, of independent components, each with the sign for which its source has positive
/// skewness.
fn independent<T: Real>(rows: &Rows<'_, T>, l: usize, start: u64, run: &Run<'_>) -> Result<Matrix<f64>> {
    let most = rows.n_counted().saturating_sub(1).min(rows.n_features() as u64).min(l as u64) as usize;
    let own = Run { seed: run.seed.wrapping_add(start), init: None, invocation: None, ..*run };
    let model = Ica { n_components: most.max(1).into(), ..Ica::default() }.fit_within(rows, &own)?;
    let mixing = model.code().mixing().unwrap_or_else(|| Matrix::zeros(rows.n_features(), 0));
    let filters =
        require(model.tensors(), "components", &[Some(mixing.cols()), None])?.to_matrix().transposed();
    let mean = require(model.tensors(), "mean", &[Some(mixing.rows())])?.f64s();
    let cubes = rows.sweep(&own, "skewness", &GatherCubes::<T>::new(mean, &filters))?;
    let sign = |j: usize| if cubes.sums[j] < 0.0 { -1.0 } else { 1.0 };
    Ok(Matrix::from_fn(mixing.rows(), mixing.cols(), |k, j| sign(j) * mixing[(k, j)]))
}
