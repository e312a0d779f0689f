//! The first components by iteration: block Krylov, randomized, block power, and power with deflation.
//!
//! All of them use only products of the covariance with a few directions. Up to [`MOST_DENSE_FEATURES`] features it is formed once and kept;
//! beyond that every product is one sweep over the rows ([`Sketch`]), and no `p × p` matrix is formed. Approximate solvers end with
//! a Rayleigh-Ritz step (Parlett 1980, chapter 11), so that the variances reported are exactly those of the scores.

use super::scatter::deviations;
use super::{
    Decomposition, Request, Solver, SolverOutcome, no_variance, power_of_two, scatter_floor, spread, tall,
};
use crate::data::Rows;
use crate::error::Result;
use crate::model::Outcome;
use crate::num::top::{self, Pairs};
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::stats::{GatherMoments, GatherSketch, Moments, SketchView};
use std::cell::Cell;

mod solvers;

use solvers::{deflation, krylov, random_rows, subspace};

/// Maximum number of features for which the covariance is formed: 32 MiB, and less work than a dozen sweeps.
const MOST_DENSE_FEATURES: usize = 2048;

/// Default maximum number of products with the covariance in power iterations, for each component.
const MAX_ITER: u64 = 1000;

/// The covariance as an operator on directions (rows).
enum Operator<'a, T: Real> {
    /// The matrix of the columns that are not constant.
    Dense(Matrix<f64>),
    /// Through the rows.
    SweptCovariance(SweptCovariance<'a, T>),
}

/// The covariance as an operator: a pass over the rows for every product.
struct SweptCovariance<'a, T: Real> {
    rows: &'a Rows<'a, T>,
    run: &'a Run<'a>,
    mean: &'a [f64],
    /// Rounding errors of `mean`.
    rest: &'a [f64],
    noise_scale: Option<&'a [f64]>,
    /// Degrees of freedom, `n - 1`.
    degrees: f64,
    /// Divisor of the covariance.
    unit: f64,
    sweeps: Cell<u64>,
}

impl<T: Real> Operator<'_, T> {
    fn apply(&self, directions: &Matrix<f64>) -> Result<Matrix<f64>> {
        match self {
            Operator::Dense(a) => Ok(factor::multiply(directions, a)),
            Operator::SweptCovariance(swept) => swept.apply(directions),
        }
    }
}

impl<T: Real> SweptCovariance<'_, T> {
    fn apply(&self, directions: &Matrix<f64>) -> Result<Matrix<f64>> {
        self.sweeps.set(self.sweeps.get() + 1);
        let scaled = self.in_units(directions.clone());
        let gather = GatherSketch(SketchView::new(self.mean, &scaled).with_rest(self.rest));
        let mut image = self.in_units(self.rows.sweep(self.run, "iterating", &gather)?.image);
        image.as_mut_slice().iter_mut().for_each(|x| *x = *x / self.degrees / self.unit);
        Ok(image)
    }

    /// Divides columns by their scale, if they have one.
    fn in_units(&self, mut m: Matrix<f64>) -> Matrix<f64> {
        if let Some(scale) = self.noise_scale {
            (0..m.rows()).for_each(|i| m.row_mut(i).iter_mut().zip(scale).for_each(|(x, s)| *x /= s));
        }
        m
    }
}

/// The first components of prepared rows by the requested solver.
pub(super) fn decompose<T: Real>(
    rows: &Rows<'_, T>,
    run: &Run<'_>,
    request: &Request,
) -> Result<Decomposition> {
    match rows.n_features() <= MOST_DENSE_FEATURES && !few_products(rows, request) {
        true => dense(rows, run, request),
        false => swept(rows, run, request),
    }
}

/// Whether the products of a randomized decomposition of sparse rows are fewer than those of their covariance: a stored number is multiplied with
/// every other one of its row there, and here with every direction, once for scores and once for sums.
fn few_products<T: Real>(rows: &Rows<'_, T>, request: &Request) -> bool {
    /// Products with consecutive directions in the time of one with an entry of the covariance.
    const PRODUCTS_PER_ENTRY: f64 = 4.0;
    let (Some(sparse), Solver::Randomized, Some(k)) = (rows.sparse(), request.solver, request.top) else {
        return false;
    };
    let stored = sparse.n_stored() as f64 / (sparse.n_rows() as f64).max(1.0);
    let rounds = request.rounds.map_or(8.0, |rounds| 1.0 + rounds as f64);
    rounds * 2.0 * (k.saturating_add(request.n_oversamples) as f64) / PRODUCTS_PER_ENTRY < 0.5 * stored
}

fn dense<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, request: &Request) -> Result<Decomposition> {
    let p = rows.n_features();
    let scatter = tall::gathered(rows, run, request.method)?;
    let covariance = super::Covariance::new(scatter, request.center, request.standardize);
    let super::Covariance { n, mean, noise_scale, varying, lower, total } = covariance;
    if varying.is_empty() {
        return Err(no_variance(request, n as u64, p));
    }
    let width = varying.len();
    let unit = power_of_two(total);
    let full = Matrix::from_fn(width, width, |i, j| lower[(i.max(j), i.min(j))] / unit);
    let operator = Operator::<T>::Dense(full);
    let k = request.top.unwrap_or(width);
    let start = request
        .start
        .as_ref()
        .map(|start| Matrix::from_fn(start.rows(), width, |i, j| start[(i, varying[j])]));
    let (found, solver_outcome) = find(&operator, run, request, start, rows.n_counted(), width, k)?;
    let found = in_units(found, unit);
    let first_sweep =
        FirstSweep { n, mean, noise_scale, total, varying, sweeps: 1, p, k, counted: rows.n_counted() };
    Ok(finished(found, solver_outcome, first_sweep, T::DTYPE.eps()))
}

fn swept<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, request: &Request) -> Result<Decomposition> {
    let p = rows.n_features();
    let moments = rows.sweep(run, "moments", &GatherMoments::new())?;
    if !moments.squares.iter().sum::<f64>().is_finite() {
        return Err(rows.not_finite(request.method));
    }
    let (n, degrees) = (moments.n, moments.n - 1.0);
    let Columns { mean, rest, noise_scale, squares } = Columns::new(moments, request);
    let varying: Vec<usize> = (0..p).filter(|&j| squares[j] > 0.0).collect();
    if varying.is_empty() {
        return Err(no_variance(request, n as u64, p));
    }
    let unit = |j: usize| noise_scale.as_ref().map_or(1.0, |s| s[j]);
    let total: f64 = squares.iter().enumerate().map(|(j, s)| s / degrees / unit(j).powi(2)).sum();
    let size = power_of_two(total);
    let operator = Operator::SweptCovariance(SweptCovariance {
        rows,
        run,
        mean: &mean,
        rest: &rest,
        noise_scale: noise_scale.as_deref(),
        degrees,
        unit: size,
        sweeps: Cell::new(0),
    });
    let k = request.top.unwrap_or(p);
    let start = request.start.clone();
    let (found, solver_outcome) = find(&operator, run, request, start, rows.n_counted(), p, k)?;
    let sweeps = match &operator {
        Operator::Dense(_) => 1,
        Operator::SweptCovariance(swept) => 1 + swept.sweeps.get(),
    };
    drop(operator);
    let found = in_units(found, size);
    let first_sweep =
        FirstSweep { n, mean, noise_scale, total, varying, sweeps, p, k, counted: rows.n_counted() };
    Ok(finished(found, solver_outcome, first_sweep, T::DTYPE.eps()))
}

/// Centring and scaling of the columns.
struct Columns {
    /// Offset that is subtracted: the mean, or zeros.
    mean: Vec<f64>,
    /// Rounding errors of the mean.
    rest: Vec<f64>,
    /// Divisors of the centred columns, if any.
    noise_scale: Option<Vec<f64>>,
    /// Sum of squares of the centred columns, before the division.
    squares: Vec<f64>,
}

impl Columns {
    /// From the moments of the rows, for a request.
    fn new(moments: Moments, request: &Request) -> Self {
        let Moments { n, mut mean, mut rest, mut squares } = moments;
        let noise_scale = request.standardize.then(|| deviations(&squares, n - 1.0));
        if !request.center {
            squares.iter_mut().zip(&mean).for_each(|(s, m)| *s += n * m * m);
            mean.fill(0.0);
            rest.fill(0.0);
        }
        Self { mean, rest, noise_scale, squares }
    }
}

/// Multiplies the variances by `unit`.
fn in_units(mut found: Pairs, unit: f64) -> Pairs {
    found.values.iter_mut().for_each(|v| *v *= unit);
    found
}

/// Results of the first sweep, and the request.
struct FirstSweep {
    n: f64,
    mean: Vec<f64>,
    noise_scale: Option<Vec<f64>>,
    total: f64,
    varying: Vec<usize>,
    sweeps: u64,
    p: usize,
    k: usize,
    counted: u64,
}

/// The result: directions above the bound of rounding errors, in all columns.
fn finished(found: Pairs, solver_outcome: SolverOutcome, first_sweep: FirstSweep, eps: f64) -> Decomposition {
    let FirstSweep { n, mean, noise_scale, total, varying, sweeps, p, k, counted } = first_sweep;
    let floor = scatter_floor(counted, p, eps);
    let above = found.values.iter().take_while(|&&v| v > floor * found.values[0]).count().min(k);
    let mut axes = found.vectors.top_rows(above);
    match axes.cols() == p {
        // A constant column has loading exactly 0, whatever the rounding errors of a factorisation.
        true => {
            let mut constant = vec![true; p];
            varying.iter().for_each(|&j| constant[j] = false);
            for i in 0..axes.rows() {
                axes.row_mut(i).iter_mut().zip(&constant).filter(|(_, c)| **c).for_each(|(x, _)| *x = 0.0);
            }
        }
        false => axes = spread(&axes, &varying, p),
    }
    let mut values = found.values;
    values.truncate(k);
    Decomposition {
        n,
        mean,
        noise_scale,
        values,
        axes,
        total,
        rank: (above < k).then_some(above),
        floor,
        n_constant: p - varying.len(),
        sweeps,
        solver_outcome,
    }
}

/// The first `k` eigenpairs of the covariance by the requested solver.
fn find<T: Real>(
    operator: &Operator<'_, T>,
    run: &Run<'_>,
    request: &Request,
    start: Option<Matrix<f64>>,
    counted: u64,
    width: usize,
    k: usize,
) -> Result<(Pairs, SolverOutcome)> {
    // The given directions first, then random ones.
    let begin = |size: usize| {
        let mut rows = random_rows(run.seed, size, width);
        for (i, given) in
            start.iter().flat_map(|start| (0..start.rows().min(size)).map(move |i| (i, start.row(i))))
        {
            rows.row_mut(i).copy_from_slice(given);
        }
        rows
    };
    // At most as many directions as the rows span, or as there are.
    let most = width.min(counted as usize);
    let k = k.min(most);
    match request.solver {
        Solver::Randomized => {
            let size = k.saturating_add(request.n_oversamples).min(width);
            let few = (k as f64) < 0.1 * most as f64;
            // One more than the number: the usual formulation, which projects the rows and not the columns, has applied the
            // covariance this often when it ends.
            let rounds = 1 + request.rounds.unwrap_or(if few { 7 } else { 4 });
            let found = subspace(operator, run, begin(size), k, rounds, 0.0)?;
            let cut = found.steps <= rounds && run.ends_early();
            let outcome = if cut { run.early_outcome() } else { Outcome::Completed };
            let solver_outcome = SolverOutcome { outcome, ..SolverOutcome::from(&found, None, run) };
            Ok((found, solver_outcome))
        }
        Solver::Power => {
            let tol = request.tol.max(8.0 * top::rounding(width));
            // The product from which the pairs are computed is one of the iterations.
            let rounds = request.rounds.unwrap_or(MAX_ITER).saturating_sub(1);
            let size = k.saturating_add(request.n_oversamples).min(width);
            let found = subspace(operator, run, begin(size), k, rounds, tol)?;
            let solver_outcome = SolverOutcome::from(&found, Some(tol), run);
            Ok((found, solver_outcome))
        }
        Solver::Deflation => {
            let tol = request.tol.max(8.0 * top::rounding(width));
            let rounds = request.rounds.unwrap_or(MAX_ITER);
            let found = deflation(operator, run, &begin(k), rounds, tol)?;
            let solver_outcome = SolverOutcome::from(&found, Some(tol), run);
            Ok((found, solver_outcome))
        }
        _ => krylov(operator, run, request.tol, start.as_ref(), width, k),
    }
}
