//! The first components by iteration: block Krylov, randomized, block power, and power with deflation.
//!
//! All of them see the covariance through what it makes of a few directions. Up to [`DENSE`] features it is formed once and
//! kept; beyond that every application is one sweep over the rows ([`Sketch`]), and no `p × p` matrix exists. Approximate
//! ones end with a Rayleigh-Ritz step (Parlett 1980, chapter 11), so that the variances reported are exactly those of the
//! scores.

use super::scatter::deviations;
use super::{Decomposition, Ending, Request, Solver, no_variance, power_of_two, scatter_floor, spread, tall};
use crate::data::Rows;
use crate::error::Result;
use crate::model::Outcome;
use crate::num::random::Stream;
use crate::num::top::{self, Goal, Pairs};
use crate::num::top::{Added, Lanczos};
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use crate::stats::{GatherMoments, GatherSketch, Moments, Viewpoint};
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// Up to this many features the covariance is formed: 32 MiB, and less work than a dozen sweeps.
const DENSE: usize = 2048;

/// Applications of the covariance that power iterations are allowed for a component, unless told otherwise.
const MAX_ITER: u64 = 1000;

/// The covariance, as it acts on directions (rows).
enum Operator<'a, T: Real> {
    /// Of the varying columns, in full.
    Dense(Matrix<f64>),
    /// Through the rows.
    Swept(Swept<'a, T>),
}

struct Swept<'a, T: Real> {
    rows: &'a Rows<'a, T>,
    run: &'a Run<'a>,
    /// Mean of the columns, and what is missing from it as one number each.
    mean: &'a [f64],
    rest: &'a [f64],
    noise_scale: Option<&'a [f64]>,
    degrees: f64,
    unit: f64,
    sweeps: Cell<u64>,
}

impl<T: Real> Operator<'_, T> {
    fn apply(&self, directions: &Matrix<f64>) -> Result<Matrix<f64>> {
        match self {
            Operator::Dense(a) => Ok(factor::multiply(directions, a)),
            Operator::Swept(swept) => swept.apply(directions),
        }
    }
}

impl<T: Real> Swept<'_, T> {
    fn apply(&self, directions: &Matrix<f64>) -> Result<Matrix<f64>> {
        self.sweeps.set(self.sweeps.get() + 1);
        let scaled = self.in_units(directions.clone());
        let gather = GatherSketch(Viewpoint::new(self.mean, &scaled).with_rest(self.rest));
        let mut image = self.in_units(self.rows.sweep(self.run, "iterating", &gather)?.image);
        image.as_mut_slice().iter_mut().for_each(|x| *x = *x / self.degrees / self.unit);
        Ok(image)
    }

    /// Columns divided by their scale, where they have one.
    fn in_units(&self, mut m: Matrix<f64>) -> Matrix<f64> {
        if let Some(scale) = self.noise_scale {
            (0..m.rows()).for_each(|i| m.row_mut(i).iter_mut().zip(scale).for_each(|(x, s)| *x /= s));
        }
        m
    }
}

/// The first components of settled rows by the solver that the request names.
pub(super) fn decompose<T: Real>(
    rows: &Rows<'_, T>,
    run: &Run<'_>,
    request: &Request,
) -> Result<Decomposition> {
    match rows.n_features() <= DENSE {
        true => dense(rows, run, request),
        false => swept(rows, run, request),
    }
}

fn dense<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, request: &Request) -> Result<Decomposition> {
    let p = rows.n_features();
    let scatter = tall::gathered(rows, run, request)?;
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
    let (found, ending) = find(&operator, run, request, start, rows.n_counted(), width, k)?;
    let found = in_units(found, unit);
    let seen =
        FirstSweep { n, mean, noise_scale, total, varying, sweeps: 1, p, k, counted: rows.n_counted() };
    Ok(finished(found, ending, seen, T::DTYPE.eps()))
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
    let operator = Operator::Swept(Swept {
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
    let (found, ending) = find(&operator, run, request, start, rows.n_counted(), p, k)?;
    let sweeps = match &operator {
        Operator::Dense(_) => 1,
        Operator::Swept(swept) => 1 + swept.sweeps.get(),
    };
    drop(operator);
    let found = in_units(found, size);
    let seen = FirstSweep { n, mean, noise_scale, total, varying, sweeps, p, k, counted: rows.n_counted() };
    Ok(finished(found, ending, seen, T::DTYPE.eps()))
}

/// What the columns are seen as.
struct Columns {
    /// What is subtracted: their mean, or zeros.
    mean: Vec<f64>,
    /// What is missing from the mean as one number.
    rest: Vec<f64>,
    /// What they are then divided by, where they are.
    noise_scale: Option<Vec<f64>>,
    /// Sum of squares of what is then left, before the division.
    squares: Vec<f64>,
}

impl Columns {
    /// As a request wants them seen.
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

/// Variances times `unit`.
fn in_units(mut found: Pairs, unit: f64) -> Pairs {
    found.values.iter_mut().for_each(|v| *v *= unit);
    found
}

/// What the first sweep told, and the request.
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

fn finished(found: Pairs, ending: Ending, seen: FirstSweep, eps: f64) -> Decomposition {
    let FirstSweep { n, mean, noise_scale, total, varying, sweeps, p, k, counted } = seen;
    let floor = scatter_floor(counted, p, eps);
    let above = found.values.iter().take_while(|&&v| v > floor * found.values[0]).count().min(k);
    let mut axes = found.vectors.top_rows(above);
    match axes.cols() == p {
        // A column that does not vary has loading 0 to the bit, whatever a factorisation's rounding left there.
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
        ending,
    }
}

fn find<T: Real>(
    operator: &Operator<'_, T>,
    run: &Run<'_>,
    request: &Request,
    start: Option<Matrix<f64>>,
    counted: u64,
    width: usize,
    k: usize,
) -> Result<(Pairs, Ending)> {
    // Directions given first, random ones after them.
    let begin = |size: usize| {
        let mut rows = random_rows(run.seed, size, width);
        for (i, given) in
            start.iter().flat_map(|start| (0..start.rows().min(size)).map(move |i| (i, start.row(i))))
        {
            rows.row_mut(i).copy_from_slice(given);
        }
        rows
    };
    // No more directions than the rows span, or than there are.
    let most = width.min(counted as usize);
    let k = k.min(most);
    match request.solver {
        Solver::Randomized => {
            let size = (k + request.n_oversamples).min(width);
            let few = (k as f64) < 0.1 * most as f64;
            // One more than the number: the usual form, which projects the rows and not the columns, has seen the covariance
            // that often when it ends.
            let rounds = 1 + request.rounds.unwrap_or(if few { 7 } else { 4 });
            let found = subspace(operator, run, begin(size), k, rounds, 0.0)?;
            let cut = found.steps <= rounds && run.out_of_time();
            let outcome = if cut { Outcome::Time } else { Outcome::Completed };
            let ending = Ending { outcome, ..Ending::from(&found, None, run) };
            Ok((found, ending))
        }
        Solver::Power => {
            let tol = request.tol.max(8.0 * top::rounding(width));
            let rounds = request.rounds.unwrap_or(MAX_ITER);
            let size = (k + request.n_oversamples).min(width);
            let found = subspace(operator, run, begin(size), k, rounds, tol)?;
            let ending = Ending::from(&found, Some(tol), run);
            Ok((found, ending))
        }
        Solver::Deflation => {
            let tol = request.tol.max(8.0 * top::rounding(width));
            let rounds = request.rounds.unwrap_or(MAX_ITER);
            let found = deflation(operator, run, &begin(k), rounds, tol)?;
            let ending = Ending::from(&found, Some(tol), run);
            Ok((found, ending))
        }
        _ => krylov(operator, run, request.tol, start.as_ref(), width, k),
    }
}

/// Block Lanczos until the residual is met; where that would take every direction there is, all of them at once.
fn krylov<T: Real>(
    operator: &Operator<'_, T>,
    run: &Run<'_>,
    tol: f64,
    start: Option<&Matrix<f64>>,
    width: usize,
    k: usize,
) -> Result<(Pairs, Ending)> {
    let max_basis = width.min(40 * top::block_size(k));
    let goal = Goal { k, tol, block: top::block_size(k), max_basis, impatient: max_basis == width };
    let tol = tol.max(top::rounding(width));
    let limits = Limits { tol, max_iter: u64::MAX };
    let (mut steps, mut search) =
        Steps::begin(run, "krylov", limits, || Ok(Lanczos::begin(width, goal, start)))?;
    while let Some(blocks) = &mut search {
        let image = operator.apply(blocks.block())?;
        match blocks.add(image, goal, run.out_of_time())? {
            Added::More(residual) => {
                if let Some(residual) = residual {
                    run.iteration(steps.n_iter() + 1, residual, None);
                }
                steps.counted(&search)?;
            }
            Added::Found(found) => {
                run.iteration(found.steps, found.residual, None);
                let ending = Ending::from(&found, Some(tol), run);
                return Ok((found, ending));
            }
            Added::GivenUp => break,
        }
    }
    let all = Matrix::from_fn(width, width, |i, j| f64::from(u8::from(i == j)));
    let (values, vectors) = factor::eigh(&operator.apply(&all)?)?;
    let found = Pairs { values, vectors: vectors.top_rows(k), residual: 0.0, steps: 1 };
    let ending = Ending { outcome: Outcome::Completed, n_iter: 1, residual: None, tol: None };
    Ok((Pairs { values: found.values[..k].to_vec(), ..found }, ending))
}

/// Orthogonal iteration of a block (Rutishauser 1970; with a random start and a fixed number of rounds it is the randomized
/// method of Halko, Martinsson & Tropp 2011), ended by a Rayleigh-Ritz step. `tol` 0 never stops early.
fn subspace<T: Real>(
    operator: &Operator<'_, T>,
    run: &Run<'_>,
    start: Matrix<f64>,
    k: usize,
    rounds: u64,
    tol: f64,
) -> Result<Pairs> {
    // One more application than rounds: what the last one makes of the basis is where the pairs are read.
    let limits = Limits { tol, max_iter: rounds.saturating_add(1) };
    let first = || Ok((factor::orthonormal_rows(&start), None::<Pairs>));
    let (mut steps, (mut basis, mut found)) = Steps::begin(run, "subspace", limits, first)?;
    loop {
        if let Some(found) = found.take_if(|found| steps.ending(found.residual).is_some()) {
            return Ok(found);
        }
        let image = operator.apply(&basis)?;
        let pairs = rayleigh_ritz(&basis, &image, k, steps.n_iter() + 1)?;
        basis = factor::orthonormal_rows(&image);
        let residual = pairs.residual;
        found = Some(pairs);
        steps.ended(residual, None, &(&basis, &found))?;
    }
}

/// One direction after another: each is multiplied until it stands still, and kept orthogonal to those before it by
/// projecting twice; a matrix from which they were subtracted loses orthogonality to the level of `tol`.
fn deflation<T: Real>(
    operator: &Operator<'_, T>,
    run: &Run<'_>,
    start: &Matrix<f64>,
    rounds: u64,
    tol: f64,
) -> Result<Pairs> {
    let (k, width) = (start.rows(), start.cols());
    let all = Limits { tol: f64::NEG_INFINITY, max_iter: k as u64 };
    let first = || Ok(Directions { found: Matrix::zeros(0, width), largest: 0.0, steps: 0 });
    let (mut directions, mut at) = Steps::begin(run, "directions", all, first)?;
    for i in directions.n_iter() as usize..k {
        let mut v = Matrix::from_vec(1, width, start.row(i).to_vec());
        clear(&mut v, &at.found);
        let v = at.next(operator, run, v, Limits { tol, max_iter: rounds })?;
        let rows = [at.found.into_vec(), v.into_vec()].concat();
        at.found = Matrix::from_vec(i + 1, width, rows);
        directions.counted(&at)?;
    }
    let basis = factor::orthonormal_rows(&at.found);
    let image = operator.apply(&basis)?;
    rayleigh_ritz(&basis, &image, k, at.steps)
}

/// Directions found one after another.
#[derive(Serialize, Deserialize)]
struct Directions {
    found: Matrix<f64>,
    /// The largest variance.
    largest: f64,
    /// Applications of the covariance.
    steps: u64,
}

impl Directions {
    /// Where `v` comes to stand still, orthogonal to those found before.
    fn next<T: Real>(
        &mut self,
        operator: &Operator<'_, T>,
        run: &Run<'_>,
        mut v: Matrix<f64>,
        limits: Limits,
    ) -> Result<Matrix<f64>> {
        scale(&mut v);
        let first = || Ok((Vec::new(), v, self.largest, false));
        let (mut steps, (mut looked, mut v, mut largest, mut done)) =
            Steps::begin(run, "direction", limits, first)?;
        while steps.n_iter() == 0 || !(done || steps.spent().is_some()) {
            let mut image = operator.apply(&v)?;
            clear(&mut image, &self.found);
            let value: f64 = v.as_slice().iter().zip(image.as_slice()).map(|(a, b)| a * b).sum();
            largest = largest.max(value);
            let off: f64 =
                v.as_slice().iter().zip(image.as_slice()).map(|(a, b)| (b - value * a).powi(2)).sum();
            // Nothing left to find: any direction will do, and the floor will say that it holds no variance.
            let exhausted = value <= f64::EPSILON * largest;
            done = exhausted || off.sqrt() <= 0.5 * limits.tol * largest;
            // The direction that was looked at is the one that is kept.
            looked = std::mem::replace(&mut v, image).into_vec();
            scale(&mut v);
            steps.ended(off.sqrt() / largest.max(f64::MIN_POSITIVE), None, &(&looked, &v, largest, done))?;
        }
        (self.steps, self.largest) = (self.steps + steps.n_iter(), largest);
        let mut looked = Matrix::from_vec(1, v.cols(), looked);
        scale(&mut looked);
        Ok(looked)
    }
}

/// Takes out what lies along orthonormal rows, twice.
fn clear(v: &mut Matrix<f64>, along: &Matrix<f64>) {
    if along.rows() > 0 {
        for _ in 0..2 {
            let part = factor::multiply_transposed(v, along);
            factor::subtract_product(v, &part, along);
        }
    }
}

fn scale(v: &mut Matrix<f64>) {
    let norm = v.as_slice().iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 0.0 {
        v.as_mut_slice().iter_mut().for_each(|x| *x /= norm);
    }
}

/// The best eigenpairs within the span of orthonormal rows, given what the covariance makes of them.
fn rayleigh_ritz(basis: &Matrix<f64>, image: &Matrix<f64>, k: usize, steps: u64) -> Result<Pairs> {
    let small = factor::multiply_transposed(image, basis);
    let b = basis.rows();
    let symmetric = Matrix::from_fn(b, b, |i, j| 0.5 * (small[(i, j)] + small[(j, i)]));
    let (mut values, turn) = factor::eigh(&symmetric)?;
    let turn = turn.top_rows(k);
    values.truncate(k);
    let (vectors, images) = (factor::multiply(&turn, basis), factor::multiply(&turn, image));
    let off = |i: usize| {
        let pairs = vectors.row(i).iter().zip(images.row(i));
        pairs.map(|(v, w)| (w - values[i] * v).powi(2)).sum::<f64>().sqrt()
    };
    let residual =
        (0..k).map(off).fold(0.0, f64::max) / values.first().copied().unwrap_or(1.0).max(f64::MIN_POSITIVE);
    Ok(Pairs { vectors: factor::orthonormal_rows_signed(&vectors), values, residual, steps })
}

fn random_rows(seed: u64, rows: usize, width: usize) -> Matrix<f64> {
    let stream = Stream::new(seed, 0x7063_6100);
    Matrix::from_fn(rows, width, |i, j| stream.normal((i * width + j) as u64))
}
