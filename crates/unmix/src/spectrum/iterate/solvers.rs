//! Eigenpairs of a covariance that is available through products with directions: block Lanczos, orthogonal iteration, and
//! deflation.

use super::{Operator, SolverOutcome};
use crate::error::Result;
use crate::num::random::Stream;
use crate::num::top::{self, BlockResult, Lanczos, Pairs, SearchOptions};
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Block Lanczos until the tolerance is met; if that would need every direction, all of them at once.
pub(super) fn krylov<T: Real>(
    operator: &Operator<'_, T>,
    run: &Run<'_>,
    tol: f64,
    start: Option<&Matrix<f64>>,
    width: usize,
    k: usize,
) -> Result<(Pairs, SolverOutcome)> {
    let max_basis = width.min(40 * top::block_size(k));
    let options =
        SearchOptions { k, tol, block: top::block_size(k), max_basis, impatient: max_basis == width };
    let tol = tol.max(top::rounding(width));
    let limits = Limits { tol, max_iter: u64::MAX };
    let (mut steps, mut search) =
        Steps::begin(run, "krylov", limits, || Ok(Lanczos::begin(width, options, start)))?;
    while let Some(blocks) = &mut search {
        let image = operator.apply(blocks.block())?;
        match blocks.add(image, options, run.ends_early())? {
            BlockResult::More(residual) => {
                // The first blocks have no residual.
                let residual = residual.unwrap_or(f64::INFINITY);
                run.iteration_of((steps.n_iter() + 1, u64::MAX), (residual, tol), None);
                steps.counted(&search)?;
            }
            BlockResult::Found(found) => {
                run.iteration_of((found.steps, u64::MAX), (found.residual, tol), None);
                let solver_outcome = SolverOutcome::from(&found, Some(tol), run);
                return Ok((found, solver_outcome));
            }
            BlockResult::GivenUp => break,
        }
    }
    let all = Matrix::from_fn(width, width, |i, j| f64::from(u8::from(i == j)));
    let (mut values, vectors) = factor::eigh(&operator.apply(&all)?)?;
    values.truncate(k);
    run.iteration_of((steps.n_iter() + 1, u64::MAX), (0.0, tol), None);
    Ok((Pairs { values, vectors: vectors.top_rows(k), residual: 0.0, steps: 1 }, SolverOutcome::closed()))
}

/// Orthogonal iteration of a block (Rutishauser 1970; with a random start and a fixed number of rounds it is the randomized method
/// of Halko, Martinsson & Tropp 2011), followed by a Rayleigh-Ritz step. With `tol` 0 it never stops early.
pub(super) fn subspace<T: Real>(
    operator: &Operator<'_, T>,
    run: &Run<'_>,
    start: Matrix<f64>,
    k: usize,
    rounds: u64,
    tol: f64,
) -> Result<Pairs> {
    // One more product than rounds: the pairs are computed from the image of the last basis.
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

/// One direction after another: each is iterated until it converges, and kept orthogonal to those before it by two projections;
/// subtracting them from the matrix instead would lose orthogonality to the level of `tol`.
pub(super) fn deflation<T: Real>(
    operator: &Operator<'_, T>,
    run: &Run<'_>,
    start: &Matrix<f64>,
    rounds: u64,
    tol: f64,
) -> Result<Pairs> {
    let (k, width) = (start.rows(), start.cols());
    let all = Limits::count(k as u64);
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

/// Directions computed so far.
#[derive(Serialize, Deserialize)]
struct Directions {
    found: Matrix<f64>,
    /// The largest variance.
    largest: f64,
    /// Number of products with the covariance.
    steps: u64,
}

impl Directions {
    /// Iterates `v` until it converges, orthogonal to the earlier directions.
    fn next<T: Real>(
        &mut self,
        operator: &Operator<'_, T>,
        run: &Run<'_>,
        mut v: Matrix<f64>,
        limits: Limits,
    ) -> Result<Matrix<f64>> {
        scale(&mut v);
        let first = || Ok((Vec::new(), v, self.largest, false));
        let (mut steps, (mut examined, mut v, mut largest, mut done)) =
            Steps::begin(run, "direction", limits, first)?;
        while steps.n_iter() == 0 || !(done || steps.spent().is_some()) {
            let mut image = operator.apply(&v)?;
            clear(&mut image, &self.found);
            let value: f64 = v.as_slice().iter().zip(image.as_slice()).map(|(a, b)| a * b).sum();
            largest = largest.max(value);
            let off: f64 =
                v.as_slice().iter().zip(image.as_slice()).map(|(a, b)| (b - value * a).powi(2)).sum();
            // No variance is left: any direction will do, and its variance is below the floor.
            let exhausted = value <= f64::EPSILON * largest;
            done = exhausted || off.sqrt() <= 0.5 * limits.tol * largest;
            // The direction whose residual was computed is the one that is kept.
            examined = std::mem::replace(&mut v, image).into_vec();
            scale(&mut v);
            steps.ended(
                off.sqrt() / largest.max(f64::MIN_POSITIVE),
                None,
                &(&examined, &v, largest, done),
            )?;
        }
        (self.steps, self.largest) = (self.steps + steps.n_iter(), largest);
        let mut examined = Matrix::from_vec(1, v.cols(), examined);
        scale(&mut examined);
        Ok(examined)
    }
}

/// Removes the components along orthonormal rows, twice.
fn clear(v: &mut Matrix<f64>, along: &Matrix<f64>) {
    if along.rows() > 0 {
        for _ in 0..2 {
            let part = factor::multiply_transposed(v, along);
            factor::subtract_product(v, &part, along);
        }
    }
}

/// Normalises all entries together to length 1, unless all are 0.
fn scale(v: &mut Matrix<f64>) {
    let norm = v.as_slice().iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 0.0 {
        v.as_mut_slice().iter_mut().for_each(|x| *x /= norm);
    }
}

/// The best eigenpairs in the span of orthonormal rows, given their images under the covariance.
fn rayleigh_ritz(basis: &Matrix<f64>, image: &Matrix<f64>, k: usize, steps: u64) -> Result<Pairs> {
    let small = factor::multiply_transposed(image, basis);
    let b = basis.rows();
    let symmetric = Matrix::from_fn(b, b, |i, j| 0.5 * (small[(i, j)] + small[(j, i)]));
    let (mut values, rotation) = factor::eigh(&symmetric)?;
    let rotation = rotation.top_rows(k);
    values.truncate(k);
    let (vectors, images) = (factor::multiply(&rotation, basis), factor::multiply(&rotation, image));
    let off = |i: usize| {
        let pairs = vectors.row(i).iter().zip(images.row(i));
        pairs.map(|(v, w)| (w - values[i] * v).powi(2)).sum::<f64>().sqrt()
    };
    let residual =
        (0..k).map(off).fold(0.0, f64::max) / values.first().copied().unwrap_or(1.0).max(f64::MIN_POSITIVE);
    Ok(Pairs { vectors: factor::orthonormal_rows_signed(&vectors), values, residual, steps })
}

/// Rows of independent standard normal numbers.
pub(super) fn random_rows(seed: u64, rows: usize, width: usize) -> Matrix<f64> {
    let stream = Stream::new(seed, 0x7063_6100);
    Matrix::from_fn(rows, width, |i, j| stream.normal((i * width + j) as u64))
}
