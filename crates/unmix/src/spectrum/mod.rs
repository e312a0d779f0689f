//! The spectrum of the covariance: eigenvalues (variances) and eigenvectors (directions) from rows.
//! PCA reports it directly; other methods start from it (whitening, likelihoods, initial values).
//!
//! Rows may have weights, be left uncentred (`center: false`), and be divided by each column's standard
//! deviation (`standardize`). None of that changes the rows: it is applied to the sums, or to the covariance.

mod components;
mod coordinates;
mod iterate;
mod scatter;
mod tall;
mod wide;

use crate::choices::choices;
use crate::data::{Rows, check_n_rows, check_total_weight, no_columns};
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::model::Outcome;
use crate::num::top::Pairs;
use crate::num::{Dtype, Matrix, Real};
use crate::run::Run;

pub(crate) use components::{Bounds, check_count};
pub use components::{Components, Rule, by_share};
pub(crate) use components::{RULE_NAMES, RULES};
pub(crate) use coordinates::{Coordinates, Inverse, PrincipalAxes, WhiteningOptions, scatter_of_columns};
pub(crate) use scatter::Covariance;
pub(crate) use scatter::{deviations, spectrum as leading_pairs};

choices! {
    /// Solver of the spectrum.
    #[derive(Default)]
    pub enum Solver {
        /// Chosen by the shape of the data; see [`auto_solver`].
        #[default]
        Auto = "auto",
        /// Singular values of the centred rows.
        Full = "full",
        /// Eigenvalues of the scatter matrix, of features or of samples, whichever is smaller.
        CovarianceEigh = "covariance_eigh",
        /// [`Krylov`](Solver::Krylov) with the restrictions of scikit-learn: fewer components than `min(n, p)`.
        Arpack = "arpack",
        /// Randomized SVD with a fixed number of iterations. Approximate; variances are those of the scores.
        Randomized = "randomized",
        /// Block Lanczos, to `tol` or to rounding level.
        Krylov = "krylov",
        /// Orthogonal iteration of a block, to `tol`.
        Power = "power",
        /// Power iteration, one component after another, to `tol`.
        Deflation = "deflation",
    }
}

impl Solver {
    /// Whether it computes the first components only.
    pub fn is_truncated(self) -> bool {
        !matches!(self, Solver::Auto | Solver::Full | Solver::CovarianceEigh)
    }
}

/// The solver for `n` rows of `p` features: `full` up to 500 of each; else `covariance_eigh`.
///
/// Both are accurate up to rounding: eigenvalues to `eps` times the largest. `full` computes singular values to `eps` times the
/// largest, too, while a scatter matrix resolves none below about `sqrt(eps)` times it.
///
/// For `sparse` rows `full` would need all entries. `covariance_eigh` forms a matrix of `m = min(n, p)` rows and columns; if `m`
/// is larger than 2048 and `k` at most `m / 10`, `krylov` is chosen, which does not form it.
pub fn auto_solver(n: u64, p: usize, k: Option<usize>, sparse: bool) -> Solver {
    // A matrix with this number of rows and columns takes 32 MiB.
    const LARGE_SIZE: u64 = 2048;
    let m = n.min(p as u64);
    match k {
        Some(k) if sparse && m > LARGE_SIZE && k > 0 && 10 * k as u64 <= m => Solver::Krylov,
        _ if !sparse && n.max(p as u64) <= 500 => Solver::Full,
        _ => Solver::CovarianceEigh,
    }
}

/// A request for a spectrum.
#[derive(Clone, Debug)]
pub struct Request {
    /// Key of the method, for messages.
    pub method: &'static str,
    /// The solver, other than [`Solver::Auto`].
    pub solver: Solver,
    /// Number of leading directions; `None` for all of them. Truncated solvers need a number.
    pub top: Option<usize>,
    /// Whether to subtract the mean.
    pub center: bool,
    /// Whether columns are divided by their standard deviations.
    pub standardize: bool,
    /// Tolerance on the residual, as a fraction of the first variance; 0 for the level of rounding errors.
    pub tol: f64,
    /// Number of iterations of `Randomized`, maximum number of iterations of `Power` and `Deflation`; `None` for the default.
    pub rounds: Option<u64>,
    /// Additional directions in blocks.
    pub n_oversamples: usize,
    /// Initial directions of iterations, in the order of components, `m x p`; random if there are none.
    pub start: Option<Matrix<f64>>,
}

/// The spectrum of rows.
pub struct Decomposition {
    /// Number of rows, weighted.
    pub n: f64,
    /// Centre of the rows: their mean, or zeros.
    pub mean: Vec<f64>,
    /// Divisors of the centred columns, if any; 1 for constant columns.
    pub noise_scale: Option<Vec<f64>>,
    /// Variances (divisor `n - 1`), descending: all `min(n, p)` of them, or the number requested.
    pub values: Vec<f64>,
    /// Their directions, as rows; only those that the data determine.
    pub axes: Matrix<f64>,
    /// Total variance.
    pub total: f64,
    /// Rank, unless only the first few directions were computed and all of them are above the bound.
    pub rank: Option<usize>,
    /// Variances at or below this fraction of the first count as 0.
    pub floor: f64,
    /// Number of constant columns.
    pub n_constant: usize,
    /// Full passes over the data.
    pub sweeps: u64,
    /// Outcome of the iteration.
    pub solver_outcome: SolverOutcome,
}

/// Outcome of an iteration.
pub struct SolverOutcome {
    /// Outcome.
    pub outcome: Outcome,
    /// Iterations; 1 for closed forms.
    pub n_iter: u64,
    /// The final residual.
    pub residual: Option<f64>,
    /// The tolerance.
    pub tol: Option<f64>,
}

impl SolverOutcome {
    /// Without iterations.
    fn closed() -> Self {
        Self { outcome: Outcome::Completed, n_iter: 1, residual: None, tol: None }
    }

    /// With the final residual and the tolerance.
    fn from(found: &Pairs, tol: Option<f64>, run: &Run<'_>) -> Self {
        let outcome = match tol.is_none_or(|t| found.residual <= t) {
            true => Outcome::Converged,
            false if run.ends_early() => run.early_outcome(),
            false => Outcome::MaxIter,
        };
        Self { outcome, n_iter: found.steps, residual: Some(found.residual), tol }
    }
}

impl Decomposition {
    /// The smallest number of components that explain more than the fraction `share` of the variance.
    pub fn fewest_for(&self, share: f64) -> usize {
        let rank = self.rank.unwrap_or(self.values.len());
        by_share(&self.values[..rank], self.total, share).max(1)
    }

    /// Variance beyond the first `k` components.
    pub fn discarded(&self, k: usize) -> f64 {
        match self.values.len() > k {
            // The sum of the remaining variances is accurate; a difference would suffer from cancellation.
            true => self.values[k..].iter().map(|v| v.max(0.0)).sum(),
            false => (self.total - self.values.iter().sum::<f64>()).max(0.0),
        }
    }
}

/// Memory in bytes of an exact solver in addition to `n` rows of `p` features: square matrices of the smaller dimension.
pub(crate) fn memory(n: u64, p: usize) -> u64 {
    let m = n.min(p as u64);
    // At most twice the logarithm of the number of shards and two per thread are held; rarely more than six.
    m.saturating_mul(m).saturating_mul(8 * 6)
}

/// Spectrum of prepared rows.
///
/// # Errors
///
/// Numbers that are not finite, no column that varies, a variance below the range of the type of the rows, matrices that do
/// not fit in memory, errors of the source.
pub fn decompose<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, request: &Request) -> Result<Decomposition> {
    let mut found = match by_solver(rows, run, request) {
        Err(Error::NoVariance { .. }) => return Err(no_variance_of(rows, request.method)),
        found => found?,
    };
    check_total(request.method, found.total, T::DTYPE)?;
    check_scales(request.method, found.noise_scale.as_deref(), T::DTYPE)?;
    if found.n_constant > 0 {
        let hidden = hidden_columns(rows, &found.mean)?;
        match hidden.first() {
            Some(&j) if request.standardize => return Err(tiny_scale(request.method, j, T::DTYPE)),
            _ if by_squares(rows, request.solver) => found.n_constant -= hidden.len(),
            _ => {}
        }
    }
    Ok(found)
}

/// The spectrum of prepared, centred rows, with every direction along which they vary, as in a fit of [`Pca`](crate::Pca) that keeps all
/// components.
///
/// # Errors
///
/// As for [`decompose`]; fewer than two rows, weights whose sum is at most 1.
pub(crate) fn whole<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Decomposition> {
    if rows.weights().is_some() {
        check_total_weight(rows.n_samples(), rows.origin())?;
    }
    check_n_rows("pca", rows.n_counted(), rows.origin(), "give more rows")?;
    let (n, p, sparse) = (rows.n_rows().unwrap_or(0), rows.n_features(), rows.is_sparse());
    let request = Request {
        method: "pca",
        solver: auto_solver(n, p, None, sparse),
        top: None,
        center: true,
        standardize: false,
        tol: 0.0,
        rounds: None,
        n_oversamples: 0,
        start: None,
    };
    decompose(rows, run, &request)
}

/// Rejects standard deviations whose squares underflow or lose digits.
pub(crate) fn check_scales(method: &str, scale: Option<&[f64]>, dtype: Dtype) -> Result<()> {
    match scale.and_then(|scale| scale.iter().position(|s| s * s < dtype.least())) {
        Some(j) => Err(tiny_scale(method, j, dtype)),
        None => Ok(()),
    }
}

fn tiny_scale(method: &str, j: usize, dtype: Dtype) -> Error {
    Error::unsupported(
        format!("{method} with standardize=true"),
        format!("the variance of column {j} is below the smallest normal number of {dtype}"),
        "multiply that column by a large constant, or leave it out",
    )
    .of_method(method)
    .with(|d| d.column = Some(j))
}

/// Rejects a variance in the subnormal range, because the squares that it was computed from have lost digits.
pub(crate) fn check_total(method: &str, total: f64, dtype: Dtype) -> Result<()> {
    match total < dtype.least() {
        true => Err(too_small(method, Some(total), dtype)),
        false => Ok(()),
    }
}

fn too_small(method: &str, total: Option<f64>, dtype: Dtype) -> Error {
    // If all squares are 0 the size of the variance is unknown.
    let about =
        total.filter(|total| *total > 0.0).map_or(String::new(), |total| format!(", about {total:.0e},"));
    Error::unsupported(
        format!("{method} of these data"),
        format!("their variance{about} is below the smallest normal number of {dtype}"),
        match dtype {
            Dtype::F32 => "multiply the data by a large constant, or use float64",
            Dtype::F64 => "multiply the data by a large constant",
        },
    )
    .of_method(method)
}

/// The error for rows whose sums of squares are all 0: their columns are constant, or the squares of their deviations underflow.
pub(crate) fn no_variance_of<T: Real>(rows: &Rows<'_, T>, method: &str) -> Error {
    let n_features = rows.n_features();
    match rows.spread_of(&(0..n_features).collect::<Vec<_>>()) {
        Err(e) => e,
        Ok(spread) if spread.iter().any(|s| *s > 0.0) => too_small(method, None, T::DTYPE),
        Ok(_) => Error::NoVariance { method: method.into(), n_features, n_samples: rows.n_samples() as u64 },
    }
}

/// Whether a solver treats a column as constant if its sum of squares is 0; the others compare the numbers.
fn by_squares<T: Real>(rows: &Rows<'_, T>, solver: Solver) -> bool {
    let tall = rows.n_features() as u64 <= rows.n_rows().unwrap_or(0);
    solver.is_truncated() || (tall && solver != Solver::Full)
}

/// Columns that vary, but whose squared deviations underflow to 0. This is only possible for tiny means,
/// because otherwise adjacent numbers differ by more. One pass over the rows if some mean is tiny or 0.
pub(crate) fn hidden_columns<T: Real>(rows: &Rows<'_, T>, mean: &[f64]) -> Result<Vec<usize>> {
    let tiny = T::DTYPE.least().sqrt() / T::DTYPE.eps();
    let suspects: Vec<usize> = (0..mean.len()).filter(|&j| mean[j].abs() < tiny).collect();
    if suspects.is_empty() {
        return Ok(suspects);
    }
    let spread = rows.spread_of(&suspects)?;
    let hidden = |s: f64| s > 0.0 && { T::from_f64(s) * T::from_f64(s) } == T::default();
    Ok(suspects.into_iter().zip(spread).filter(|(_, s)| hidden(*s)).map(|(j, _)| j).collect())
}

fn by_solver<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, request: &Request) -> Result<Decomposition> {
    if rows.n_features() == 0 {
        return Err(no_columns(request.method, rows.origin()));
    }
    if request.solver == Solver::Full && rows.is_sparse() {
        return Err(Error::unsupported(
            "svd_solver='full' of sparse rows",
            "it needs all entries of the rows, zeros included",
            "choose svd_solver='covariance_eigh', 'krylov' or 'auto', or make the rows dense",
        )
        .of_method(request.method));
    }
    if request.solver.is_truncated() {
        return iterate::decompose(rows, run, request);
    }
    let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
    let m = n.min(p as u64);
    check_memory(
        &format!("a {m} x {m} matrix and its factors"),
        memory(n, p),
        "fit a random subset of the rows, or fewer columns",
    )?;
    let k = request.top.map_or(m, |k| m.min(k as u64));
    check_memory(
        &format!("a {k} x {p} matrix of components"),
        // The directions found, in their final order and orthonormalised.
        (k + 1).saturating_mul(p as u64).saturating_mul(3 * 8),
        "choose fewer components, or fewer columns",
    )?;
    match (request.solver, (p as u64) <= n) {
        (Solver::Full, true) => tall::full(rows, run, request),
        (Solver::Full, false) => wide::full(rows, run, request),
        (_, true) => tall::scatter(rows, run, request),
        (_, false) => wide::gram(rows, run, request),
    }
}

/// Keeps the directions above the bound, pads or truncates the values to length `m`, and determines the rank.
fn truncated(
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
fn spread(axes: &Matrix<f64>, varying: &[usize], p: usize) -> Matrix<f64> {
    let mut out = Matrix::zeros(axes.rows(), p);
    for i in 0..axes.rows() {
        let out = out.row_mut(i);
        varying.iter().zip(axes.row(i)).for_each(|(&j, x)| out[j] = *x);
    }
    out
}

/// Singular values at or below `10 max(n, p) eps` times the first are rounding errors; variances are their squares.
///
/// Never above `sqrt(eps)`: totals are in double precision, so rounding errors do not grow with the number of rows, and for a
/// million rows in single precision the bound alone would exceed 1.
fn full_floor(n: u64, p: usize, eps: f64) -> f64 {
    (10.0 * n.max(p as u64) as f64 * eps).min(eps.sqrt()).powi(2)
}

/// Variances below the rounding errors of a scatter matrix cannot be resolved either. The errors of its entries are independent, so
/// as a matrix they amount to at most `0.7 eps sqrt(m / M)` of the first variance (measured over shapes from 100 x 50 to 300000 x
/// 30; `m` is the size of the matrix, `M` the number of terms in its sums), with `eps` of the type of the rows; those of the
/// decomposition to a few `sqrt(m)` times the `eps` of double precision. The bound is ten times both.
fn scatter_floor(n: u64, p: usize, eps: f64) -> f64 {
    let (m, terms) = ((n.min(p as u64)) as f64, n.max(p as u64) as f64);
    full_floor(n, p, eps).max(10.0 * (eps * (m / terms).sqrt() + f64::EPSILON * m.sqrt()))
}

/// The largest power of two that is not above a number, 1 if there is none. Eigenvectors are computed after dividing the covariance
/// by that of its trace, which is exact, so that no square of its entries overflows or underflows.
fn power_of_two(x: f64) -> f64 {
    let power = f64::from_bits(x.to_bits() & 0x7ff0_0000_0000_0000);
    if power.is_normal() { power } else { 1.0 }
}

fn no_variance(request: &Request, n: u64, p: usize) -> Error {
    Error::NoVariance { method: request.method.into(), n_features: p, n_samples: n }
}
