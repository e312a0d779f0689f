//! From rows to the spectrum of their covariance: tall or wide, by scatter or by triangle.

use super::Solver;
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::model::Outcome;
use crate::num::top::Pairs;
use crate::num::{Block, Matrix, Real, factor, kernel, top};
use crate::run::Run;
use crate::stats::{Gram, Scatter, Triangle};

/// The solver for `n` rows of `p` features: `full` up to 500 of each, where it costs nothing; else `covariance_eigh`.
///
/// Both are exact to rounding: eigenvalues to `eps` of the largest. `full` also has singular values to `eps` of the largest,
/// where a scatter matrix sees none below about `sqrt(eps)` of it.
pub fn auto_solver(n: u64, p: usize) -> Solver {
    if n.max(p as u64) <= 500 { Solver::Full } else { Solver::CovarianceEigh }
}

/// What the rows say, before it is decided how many components to keep.
pub(super) struct Decomposition {
    pub(super) n: u64,
    pub(super) mean: Vec<f64>,
    /// Variances, descending: all `min(n, p)` of them, or those asked for.
    pub(super) values: Vec<f64>,
    /// Their directions, as rows; only those that the data determine.
    pub(super) axes: Matrix<f64>,
    /// Variance of all columns together.
    pub(super) total: f64,
    /// Directions along which the rows vary, unless only the first few were looked at and all of them do.
    pub(super) rank: Option<usize>,
    /// Variances at or below this share of the first count as 0.
    pub(super) floor: f64,
    pub(super) n_constant: usize,
    pub(super) sweeps: u64,
    pub(super) ending: Ending,
}

/// How an iteration ended.
pub(super) struct Ending {
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    pub(super) residual: Option<f64>,
    pub(super) tol: Option<f64>,
}

impl Ending {
    /// There was none.
    fn closed() -> Self {
        Self { outcome: Outcome::Completed, n_iter: 1, residual: None, tol: None }
    }

    /// With the residual that was reached and the one that was wanted.
    pub(super) fn from(found: &Pairs, tol: Option<f64>, run: &Run<'_>) -> Self {
        let outcome = match tol.is_none_or(|t| found.residual <= t) {
            true => Outcome::Converged,
            false if run.out_of_time() => Outcome::Time,
            false => Outcome::MaxIter,
        };
        Self { outcome, n_iter: found.steps, residual: Some(found.residual), tol }
    }
}

impl Decomposition {
    /// Variance beyond the first `k` components.
    pub(super) fn discarded(&self, k: usize) -> f64 {
        match self.values.len() > k {
            // A sum of what is left loses no digits; a difference does.
            true => self.values[k..].iter().map(|v| v.max(0.0)).sum(),
            false => (self.total - self.values.iter().sum::<f64>()).max(0.0),
        }
    }
}

/// Bytes that either solver needs beside `n` rows of `p` features: square tables of the smaller side.
pub(super) fn memory(n: u64, p: usize) -> u64 {
    let m = n.min(p as u64);
    // Twice the logarithm of the number of shards and two per thread wait at most; six is seldom exceeded.
    m.saturating_mul(m).saturating_mul(8 * 6)
}

/// Spectrum of settled rows by an exact solver; `top` asks for the first components only.
pub(super) fn decompose<T: Real>(
    rows: &Rows<'_, T>,
    run: &Run<'_>,
    solver: Solver,
    top: Option<usize>,
) -> Result<Decomposition> {
    let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
    let m = n.min(p as u64);
    check_memory(
        &format!("a {m} x {m} matrix and its factors"),
        memory(n, p),
        "fit a random subset of the rows, or fewer columns",
    )?;
    let k = top.map_or(m, |k| m.min(k as u64));
    check_memory(
        &format!("a {k} x {p} matrix of components"),
        // As found, in their final order and made orthonormal.
        (k + 1).saturating_mul(p as u64).saturating_mul(3 * 8),
        "ask for fewer components, or choose fewer columns",
    )?;
    match (solver, (p as u64) <= n) {
        (Solver::Full, true) => tall_full(rows, run),
        (Solver::Full, false) => wide_full(rows, run),
        (_, true) => tall_scatter(rows, run, top),
        (_, false) => wide_gram(rows, run, top),
    }
}

fn tall_scatter<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, top: Option<usize>) -> Result<Decomposition> {
    let p = rows.n_features();
    let scatter =
        rows.sweep(run, "covariance", || Scatter::empty(p), |s, block, work| s.gather(block, work))?;
    if !scatter.finite() {
        return Err(rows.not_finite("pca"));
    }
    run.stage("eigenvectors")?;
    let varying = scatter.varying();
    let degrees = (scatter.n - 1) as f64;
    let total = scatter.total() / degrees;
    let reduced = Matrix::from_fn(varying.len(), varying.len(), |i, j| match i >= j {
        true => scatter.lower[(varying[i], varying[j])] / degrees,
        false => 0.0,
    });
    let floor = scatter_floor(scatter.n, p, T::DTYPE.eps());
    let (values, axes) = spectrum(rows, scatter.n, reduced, top)?;
    let (values, axes, rank) = cut(values, axes, floor, scatter.n.min(p as u64) as usize, top);
    Ok(Decomposition {
        n: scatter.n,
        mean: scatter.mean,
        values,
        axes: spread(&axes, &varying, p),
        total,
        rank,
        floor,
        n_constant: p - varying.len(),
        sweeps: 1,
        ending: Ending::closed(),
    })
}

fn tall_full<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Decomposition> {
    let p = rows.n_features();
    let triangle =
        rows.sweep(run, "factorisation", || Triangle::empty(p), |t, block, work| t.gather(block, work))?;
    if !triangle.finite() {
        return Err(rows.not_finite("pca"));
    }
    run.stage("singular values")?;
    // A constant column is exactly 0 after centring, and stays so under rotations of rows.
    let varying: Vec<usize> =
        (0..p).filter(|&j| (0..triangle.r.rows()).any(|i| triangle.r[(i, j)] != 0.0)).collect();
    let n = triangle.n;
    let (values, axes) = singular(rows, n, &triangle.r, &varying)?;
    let floor = full_floor(n, p, T::DTYPE.eps());
    let total = values.iter().sum();
    let (values, axes, rank) = cut(values, axes, floor, n.min(p as u64) as usize, None);
    Ok(Decomposition {
        n,
        mean: triangle.mean,
        values,
        axes: spread(&axes, &varying, p),
        total,
        rank,
        floor,
        n_constant: p - varying.len(),
        sweeps: 1,
        ending: Ending::closed(),
    })
}

fn wide_gram<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, top: Option<usize>) -> Result<Decomposition> {
    let features = rows.transposed();
    let n = features.n_features();
    let gram =
        features.sweep(run, "inner products", || Gram::empty(n), |g, block, work| g.gather(block, work))?;
    if gram.lower.as_slice().iter().any(|x| !x.is_finite()) {
        return Err(rows.not_finite("pca"));
    }
    run.stage("eigenvectors")?;
    let degrees = (n - 1) as f64;
    let scaled = Matrix::from_fn(n, n, |i, j| if i >= j { gram.lower[(i, j)] / degrees } else { 0.0 });
    let total = (0..n).map(|i| scaled[(i, i)]).sum();
    if gram.varying == 0 {
        return Err(no_variance(rows, n as u64));
    }
    let floor = scatter_floor(n as u64, rows.n_features(), T::DTYPE.eps());
    let (values, samples) = spectrum(rows, n as u64, scaled, top)?;
    carry_over(rows, run, &features, Side { values, samples, total, floor, varying: gram.varying }, top)
}

fn wide_full<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Decomposition> {
    let features = rows.transposed();
    let n = features.n_features();
    let triangle = features.sweep(
        run,
        "factorisation",
        || Triangle::empty(n),
        |t, block, _| t.gather_features(block),
    )?;
    if !triangle.finite() {
        return Err(rows.not_finite("pca"));
    }
    if triangle.varying == 0 {
        return Err(no_variance(rows, n as u64));
    }
    run.stage("singular values")?;
    let all: Vec<usize> = (0..n).collect();
    let (values, samples) = singular(rows, n as u64, &triangle.r, &all)?;
    let floor = full_floor(n as u64, rows.n_features(), T::DTYPE.eps());
    let total = values.iter().sum();
    carry_over(rows, run, &features, Side { values, samples, total, floor, varying: triangle.varying }, None)
}

/// The spectrum as seen from the samples.
struct Side {
    values: Vec<f64>,
    samples: Matrix<f64>,
    total: f64,
    floor: f64,
    varying: u64,
}

/// From directions among `n` samples to directions among `p` features: `v = Xᵀu / s`, in one sweep that also gives the means.
fn carry_over<T: Real>(
    rows: &Rows<'_, T>,
    run: &Run<'_>,
    features: &Rows<'_, T>,
    side: Side,
    top: Option<usize>,
) -> Result<Decomposition> {
    let (n, p) = (features.n_features(), rows.n_features());
    let (values, samples, rank) = cut(side.values, side.samples, side.floor, n, top);
    let k = samples.rows();
    // Only what was asked for is carried over; without a number that is everything.
    let k = top.map_or(k, |t| t.min(k));
    let by_sample = Matrix::from_fn(n, k, |i, c| samples[(c, i)]);
    let mut out = crate::data::VecSink(Vec::<f64>::new());
    let step = |block: Block<'_, T>, out: &mut [f64], work: &mut crate::data::Workspace<T>| {
        let b = block.n_rows();
        let padded = b.max(kernel::MIN_ROWS);
        work.wide.clear();
        work.wide.resize(padded * k, 0.0);
        let mut centred = Vec::with_capacity(padded * n);
        for (i, feature) in block.rows().enumerate() {
            let mean = kernel::mean_of(feature);
            centred.extend(feature.iter().map(|x| x.to_f64() - mean));
            out[i * (k + 1) + k] = mean;
        }
        centred.resize(padded * n, 0.0);
        if k > 0 {
            kernel::product(&mut work.wide, &centred, by_sample.as_slice(), padded, n, k);
        }
        for i in 0..b {
            out[i * (k + 1)..i * (k + 1) + k].copy_from_slice(&work.wide[i * k..(i + 1) * k]);
        }
        Ok(())
    };
    features.map(run, "components", k + 1, step, &mut out)?;
    let columns = Matrix::from_vec(p, k + 1, out.0);
    let mean: Vec<f64> = (0..p).map(|j| columns[(j, k)]).collect();
    let axes = Matrix::from_fn(k, p, |c, j| columns[(j, c)]);
    Ok(Decomposition {
        n: n as u64,
        mean,
        values,
        // Nearly orthonormal already, up to length; the first directions, which are the accurate ones, stay as they are.
        axes: orthonormal_with_zeros(axes),
        total: side.total,
        rank,
        floor: side.floor,
        n_constant: p - side.varying as usize,
        sweeps: 2,
        ending: Ending::closed(),
    })
}

/// Orthonormal rows; columns that are exactly 0 stay so.
fn orthonormal_with_zeros(axes: Matrix<f64>) -> Matrix<f64> {
    let zero: Vec<usize> =
        (0..axes.cols()).filter(|&j| (0..axes.rows()).all(|i| axes[(i, j)] == 0.0)).collect();
    let mut q = factor::orthonormal_rows_signed(&axes);
    for j in zero {
        (0..q.rows()).for_each(|i| q[(i, j)] = 0.0);
    }
    q
}

/// Eigenvalues and eigenvectors of a covariance, of which the lower triangle is filled: all, or the first `top`.
fn spectrum<T: Real>(
    rows: &Rows<'_, T>,
    n: u64,
    mut a: Matrix<f64>,
    top: Option<usize>,
) -> Result<factor::Spectrum> {
    let m = a.rows();
    if m == 0 {
        return Err(no_variance(rows, n));
    }
    if let Some((k, budget)) = top.and_then(|k| Some((k, top::pays(m, k)?))) {
        for i in 0..m {
            for j in 0..i {
                a[(j, i)] = a[(i, j)];
            }
        }
        let goal = top::Goal { k, tol: 0.0, max_basis: budget, impatient: true };
        if let Some(found) = top::top_eigenpairs(|v| Ok(factor::multiply(v, &a)), m, goal)? {
            return Ok((found.values, found.vectors));
        }
    }
    factor::eigh(&a)
}

/// Squared singular values over `n - 1`, and right singular vectors, of the chosen columns of `r`.
fn singular<T: Real>(
    rows: &Rows<'_, T>,
    n: u64,
    r: &Matrix<f64>,
    columns: &[usize],
) -> Result<factor::Spectrum> {
    if columns.is_empty() {
        return Err(no_variance(rows, n));
    }
    // Rows of zeros change nothing and make the matrix as tall as it is wide.
    let height = r.rows().max(columns.len());
    let chosen =
        Matrix::from_fn(height, columns.len(), |i, j| if i < r.rows() { r[(i, columns[j])] } else { 0.0 });
    let (values, vectors) = factor::svd_right(&chosen)?;
    Ok((values.iter().map(|s| s * s / (n - 1) as f64).collect(), vectors))
}

/// Keeps the directions above the floor, pads or cuts the values to `m`, and counts the rank.
fn cut(
    mut values: Vec<f64>,
    axes: Matrix<f64>,
    floor: f64,
    m: usize,
    top: Option<usize>,
) -> (Vec<f64>, Matrix<f64>, Option<usize>) {
    let whole = top.is_none_or(|_| values.len() == axes.cols());
    let rank = values.iter().take_while(|&&v| v > floor * values[0]).count();
    let known = whole || rank < values.len();
    if whole {
        values.resize(m, 0.0);
    }
    (values, axes.top_rows(rank), known.then_some(rank))
}

/// Directions of the varying columns, as directions of all.
pub(super) fn spread(axes: &Matrix<f64>, varying: &[usize], p: usize) -> Matrix<f64> {
    let mut out = Matrix::zeros(axes.rows(), p);
    for i in 0..axes.rows() {
        for (c, &j) in varying.iter().enumerate() {
            out[(i, j)] = axes[(i, c)];
        }
    }
    out
}

/// Singular values at or below `10 max(n, p) eps` of the first are rounding; variances are their squares.
///
/// Never above `sqrt(eps)`: totals are in double precision, so rounding does not grow with the number of rows, and for a
/// million rows of single precision the bound by itself would exceed 1.
fn full_floor(n: u64, p: usize, eps: f64) -> f64 {
    (10.0 * n.max(p as u64) as f64 * eps).min(eps.sqrt()).powi(2)
}

/// Through a scatter matrix, variances below its own rounding errors cannot be seen either. Those of its entries are
/// independent, so as a matrix they come to at most `0.7 eps sqrt(m / M)` of the first variance (measured over shapes from
/// 100 x 50 to 300000 x 30; `m` the size of the matrix, `M` the number of terms in its sums), with `eps` of the type of the
/// rows; those of the decomposition to a few `sqrt(m)` of double precision's. Ten times both.
pub(super) fn scatter_floor(n: u64, p: usize, eps: f64) -> f64 {
    let (m, terms) = ((n.min(p as u64)) as f64, n.max(p as u64) as f64);
    full_floor(n, p, eps).max(10.0 * (eps * (m / terms).sqrt() + f64::EPSILON * m.sqrt()))
}

pub(super) fn no_variance<T: Real>(rows: &Rows<'_, T>, n: u64) -> Error {
    Error::NoVariance { method: "pca".into(), n_features: rows.n_features(), n_samples: n }
}
