//! Spectrum of fewer rows than features: the transposed data are summed in an `n × n` matrix, and directions among samples are
//! mapped to directions among features.

use super::scatter::spectrum;
use super::tall::singular;
use super::{Decomposition, SolverOutcome, Request, full_floor, no_variance, scatter_floor, truncated};
use crate::data::Rows;
use crate::error::Result;
use crate::num::{Block, Matrix, Real, factor, kernel};
use crate::run::Run;
use crate::stats::{FeatureView, GatherFeatureTriangle, GatherGram};

/// From the Gram matrix of the samples.
pub(super) fn gram<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, request: &Request) -> Result<Decomposition> {
    let features = rows.transposed();
    let view = view(rows, request);
    let gram = features.sweep(run, "inner products", &GatherGram(view.clone()))?;
    if gram.lower.as_slice().iter().any(|x| !x.is_finite()) {
        return Err(rows.not_finite(request.method));
    }
    let side = SampleSpectrum::of_products(rows, run, request, gram.lower, gram.varying)?;
    feature_directions(rows, side, |samples| features_of(rows, run, &view, samples))
}

/// From the triangular factor of the transposed rows.
pub(super) fn full<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, request: &Request) -> Result<Decomposition> {
    let features = rows.transposed();
    let (n, size) = (rows.n_samples(), features.n_features());
    let view = view(rows, request);
    let triangle = features.sweep(run, "factorisation", &GatherFeatureTriangle(view.clone()))?;
    if !triangle.finite() {
        return Err(rows.not_finite(request.method));
    }
    if triangle.varying == 0 {
        return Err(no_variance(request, n as u64, rows.n_features()));
    }
    run.stage("singular values")?;
    let all: Vec<usize> = (0..size).collect();
    let (values, samples) = singular(n, &triangle.r, &all)?;
    let floor = full_floor(size as u64, rows.n_features(), T::DTYPE.eps());
    let total = values.iter().sum();
    let side = SampleSpectrum { values, samples, total, floor, varying: triangle.varying, top: None };
    feature_directions(rows, side, |samples| features_of(rows, run, &view, samples))
}

fn view<'a, T: Real>(rows: &'a Rows<'_, T>, request: &Request) -> FeatureView<'a> {
    FeatureView::new(rows.n_samples(), rows.weights(), request.center, request.standardize)
}

/// The spectrum of the Gram matrix of the samples.
struct SampleSpectrum {
    values: Vec<f64>,
    samples: Matrix<f64>,
    total: f64,
    floor: f64,
    varying: u64,
    top: Option<usize>,
}

impl SampleSpectrum {
    /// From the Gram matrix of the samples, in the lower triangle, and the number of features that are not constant.
    fn of_products<T: Real>(
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        request: &Request,
        mut products: Matrix<f64>,
        varying: u64,
    ) -> Result<Self> {
        let (n, p, size) = (rows.n_samples(), rows.n_features(), products.rows());
        run.stage("eigenvectors")?;
        products.as_mut_slice().iter_mut().for_each(|x| *x /= n - 1.0);
        let total = (0..size).map(|i| products[(i, i)]).sum();
        if varying == 0 {
            return Err(no_variance(request, n as u64, p));
        }
        let floor = scatter_floor(size as u64, p, T::DTYPE.eps());
        let (values, samples) = spectrum(products, request.top)?;
        Ok(Self { values, samples, total, floor, varying, top: request.top })
    }
}

/// Directions among features that correspond to directions among samples.
struct Features {
    /// Offset that is subtracted from each feature.
    mean: Vec<f64>,
    /// Divisor of each centred feature, if any.
    noise_scale: Option<Vec<f64>>,
    /// A row for each direction, unnormalised.
    axes: Matrix<f64>,
}

impl Features {
    /// From a row for each feature: the directions, the offset and the divisor.
    fn of(columns: Matrix<f64>, view: &FeatureView<'_>) -> Self {
        let (p, k) = (columns.rows(), columns.cols() - 2);
        Self {
            mean: (0..p).map(|j| columns[(j, k)]).collect(),
            noise_scale: view.standardizes().then(|| (0..p).map(|j| columns[(j, k + 1)]).collect()),
            axes: Matrix::from_fn(k, p, |c, j| columns[(j, c)]),
        }
    }
}

/// From directions among `n` samples to directions among `p` features: `v = Xᵀu / s`. `carry` multiplies, and returns the offset
/// and the divisor of each feature.
fn feature_directions<T: Real>(
    rows: &Rows<'_, T>,
    side: SampleSpectrum,
    carry: impl FnOnce(&Matrix<f64>) -> Result<Features>,
) -> Result<Decomposition> {
    let p = rows.n_features();
    let most = rows.n_counted().min(p as u64) as usize;
    let (values, samples, rank) = truncated(side.values, side.samples, side.floor, most, side.top);
    // Only the requested components are computed; by default all.
    let k = side.top.map_or(samples.rows(), |t| t.min(samples.rows()));
    let Features { mean, noise_scale, axes } = carry(&samples.top_rows(k))?;
    Ok(Decomposition {
        n: rows.n_samples(),
        mean,
        noise_scale,
        values,
        // Nearly orthogonal already; the first directions, which are the accurate ones, keep their direction.
        axes: orthonormal_with_zeros(axes),
        total: side.total,
        rank,
        floor: side.floor,
        n_constant: p - side.varying as usize,
        sweeps: 2,
        solver_outcome: SolverOutcome::closed(),
    })
}

/// The directions among features for those among samples, in one sweep over the features.
fn features_of<T: Real>(
    rows: &Rows<'_, T>,
    run: &Run<'_>,
    view: &FeatureView<'_>,
    samples: &Matrix<f64>,
) -> Result<Features> {
    let features = rows.transposed();
    let (n, p, k) = (features.n_features(), rows.n_features(), samples.rows());
    let mut by_sample = samples.transposed();
    let width = k + 2;
    let mut out = crate::data::VecSink(Vec::<f64>::new());
    if let Some(sparse) = features.sparse() {
        let sums = view.weigh_samples(&mut by_sample);
        let row = |j: usize, out: &mut [f64]| view.carry_stored(sparse.row(j), (&by_sample, &sums), out);
        sparse.map(run, "components", width, row, &mut out)?;
        return Ok(Features::of(Matrix::from_vec(p, width, out.0), view));
    }
    let step = |block: Block<'_, T>, out: &mut [f64], work: &mut crate::data::Workspace<T>| {
        let b = block.n_rows();
        work.wide.clear();
        work.wide.resize(b * k, 0.0);
        let mut scaled = Vec::with_capacity(b * n);
        for (i, feature) in block.rows().enumerate() {
            let feature = view.push(feature, &mut scaled);
            out[i * width + k..(i + 1) * width].copy_from_slice(&[feature.mean, feature.scale]);
        }
        if k > 0 {
            kernel::product(&mut work.wide, &scaled, by_sample.as_slice(), b, n, k);
        }
        for i in 0..b {
            out[i * width..i * width + k].copy_from_slice(&work.wide[i * k..(i + 1) * k]);
        }
        Ok(())
    };
    features.map(run, "components", width, step, &mut out)?;
    Ok(Features::of(Matrix::from_vec(p, width, out.0), view))
}

/// Orthonormalises the rows; columns that are exactly 0 stay 0.
fn orthonormal_with_zeros(axes: Matrix<f64>) -> Matrix<f64> {
    let zero: Vec<usize> =
        (0..axes.cols()).filter(|&j| (0..axes.rows()).all(|i| axes[(i, j)] == 0.0)).collect();
    let mut q = factor::orthonormal_rows_signed(&axes);
    for j in zero {
        (0..q.rows()).for_each(|i| q[(i, j)] = 0.0);
    }
    q
}
