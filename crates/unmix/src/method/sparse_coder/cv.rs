//! Choice of alpha by the prediction error of held-out entries.
//!
//! The reconstruction error of a row decreases to 0 with alpha, and so cannot select it. Columns are assigned to folds at random; a row is
//! coded from the columns outside a fold, with the same columns of the dictionary, and its code predicts those in the fold.

use super::settings::Algorithm;
use super::solver::{Rules, Solver};
use crate::data::Rows;
use crate::error::{Error, Result, counted, there_are};
use crate::num::parallel;
use crate::num::random::Stream;
use crate::num::threads::on_pool;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::sparse::{Atoms, Lars, Work};
use serde_json::{Value, json};

/// Number of folds of the columns.
const FOLDS: usize = 5;
/// Maximum number of rows that are coded.
const MOST_ROWS: u64 = 2000;
/// Number of alphas: the largest times `10^(-i/3)`, `i` from 0.
const ALPHAS: usize = 13;
/// Rows that one thread processes at a time.
const ROWS_PER_TASK: usize = 32;
/// Rows after which it is checked whether the run was interrupted.
const ROWS_PER_CHECK: usize = 128;
/// Columns up to which codes follow the homotopy through all alphas: the smallest have as many atoms as columns, and coordinate descent needs
/// many passes for such codes. A breakpoint costs the square of their number.
const MOST_COLUMNS_OF_PATHS: usize = 512;

/// Mean squared prediction error of held-out entries as a function of alpha.
#[derive(Debug)]
pub(super) struct Curve {
    alphas: Vec<f64>,
    errors: Vec<f64>,
    /// Standard errors over rows.
    deviations: Vec<f64>,
    /// Whether the run ended early, after the first folds.
    pub(super) cut: bool,
}

impl Curve {
    /// The alpha with the smallest error, the largest in case of ties.
    pub(super) fn best(&self) -> f64 {
        let all = self.alphas.iter().zip(&self.errors);
        all.reduce(|best, next| if next.1 < best.1 { next } else { best }).map_or(0.0, |(alpha, _)| *alpha)
    }

    /// As JSON, for the report.
    pub(super) fn to_json(&self) -> Value {
        json!({"alphas": self.alphas, "errors": self.errors, "standard_errors": self.deviations})
    }
}

/// The curve for `solver`, over evenly spaced rows without missing cells; `largest` is the largest alpha.
pub(super) fn curve<T: Real>(
    rows: &Rows<'_, T>,
    solver: &Solver<T>,
    largest: f64,
    run: &Run<'_>,
) -> Result<Curve> {
    run.stage("held-out entries")?;
    let (n, p) = (rows.n_counted(), rows.n_features());
    let step = n.div_ceil(MOST_ROWS).max(1);
    let mut x = solver.centred(&rows.picked((0..n).step_by(step as usize).collect(), run)?);
    let whole = |row: &&[T]| row.iter().all(|x| x.finite());
    x = x.chunks_exact(p).filter(whole).flatten().copied().collect();
    let n = x.len() / p;
    if p < 2 || n == 0 {
        return Err(Error::unsupported(
            "alpha='cv'",
            format!(
                "it needs a row without missing cells and 2 columns, but {} and {}",
                there_are(n as u64, "such row"),
                counted(p as u64, "column")
            ),
            "give alpha as a number",
        ));
    }
    let draws = Stream::new(run.seed, 0);
    let mut order: Vec<usize> = (0..p).collect();
    order.sort_by_key(|&j| draws.bits(j as u64));
    let alphas: Vec<f64> = (0..ALPHAS).map(|i| largest * 10f64.powf(-(i as f64) / 3.0)).collect();
    // A number for each alpha and row.
    let mut errors = vec![0.0; ALPHAS * n];
    let (mut cut, mut n_held_out) = (false, 0);
    for fold in 0..FOLDS.min(p) {
        // The errors of all alphas have the same folds, so that they can be compared after any number of folds.
        if fold > 0 && run.ends_early() {
            cut = true;
            break;
        }
        let inside: Vec<usize> = order.iter().skip(fold).step_by(FOLDS).copied().collect();
        let outside: Vec<usize> = (0..p).filter(|j| !inside.contains(j)).collect();
        // Rows of remote workers are fitted outside a pool.
        on_pool(run.threads, || of_fold(solver, &x, (&inside, &outside), &alphas, &mut errors, run))?;
        n_held_out += inside.len();
    }
    if cut {
        // Means over the columns that were held out, and not over all of them.
        errors.iter_mut().for_each(|e| *e *= p as f64 / n_held_out as f64);
    }
    let mean = |e: &[f64]| e.iter().sum::<f64>() / n as f64;
    let means: Vec<f64> = errors.chunks_exact(n).map(mean).collect();
    let deviation = |(e, mean): (&[f64], &f64)| {
        let square = e.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (n.max(2) - 1) as f64;
        (square / n as f64).sqrt()
    };
    let deviations = errors.chunks_exact(n).zip(&means).map(deviation).collect();
    Ok(Curve { alphas, errors: means, deviations, cut })
}

/// Adds the contribution of one fold to the mean squared error of every row, for every alpha.
fn of_fold<T: Real>(
    solver: &Solver<T>,
    x: &[T],
    (inside, outside): (&[usize], &[usize]),
    alphas: &[f64],
    errors: &mut [f64],
    run: &Run<'_>,
) -> Result<()> {
    let (dictionary, p) = (solver.atoms.matrix(), solver.atoms.n_features());
    let (m, n) = (dictionary.rows(), x.len() / p);
    let part = |columns: &[usize]| Matrix::from_fn(m, columns.len(), |j, c| dictionary[(j, columns[c])]);
    let (atoms, predicting) = (Atoms::<T>::new(&part(outside)), part(inside));
    let seen: Vec<T> = x.chunks_exact(p).flat_map(|row| outside.iter().map(|&j| row[j])).collect();
    let error = |row: &[T], code: &[T]| {
        let mut left: Vec<f64> = inside.iter().map(|&j| row[j].to_f64()).collect();
        for (j, z) in code.iter().enumerate().filter(|(_, z)| **z != T::default()) {
            left.iter_mut().zip(predicting.row(j)).for_each(|(l, a)| *l -= z.to_f64() * a);
        }
        left.iter().map(|l| l * l).sum::<f64>() / p as f64
    };
    if solver.rules.algorithm != Algorithm::Omp && outside.len() <= MOST_COLUMNS_OF_PATHS {
        let rows = x.chunks(p * ROWS_PER_CHECK).zip(seen.chunks(outside.len() * ROWS_PER_CHECK));
        for (i, (x, seen)) in rows.enumerate() {
            let first = i * ROWS_PER_CHECK;
            let each = x.chunks_exact(p).zip(seen.chunks_exact(outside.len()));
            let found = parallel::map_with(each, Work::default, |work, (x, seen)| {
                let codes = codes_along(&solver.rules, &atoms, seen, alphas, work);
                codes.chunks_exact(m).map(|code| error(x, code)).collect::<Vec<f64>>()
            });
            for (row, found) in found.iter().enumerate() {
                found.iter().enumerate().for_each(|(a, e)| errors[a * n + first + row] += e);
            }
            run.check()?;
        }
        return Ok(());
    }
    let mut codes = vec![T::default(); n * m];
    for (alpha, errors) in alphas.iter().zip(errors.chunks_exact_mut(n)) {
        let rules = Rules { alpha: *alpha, ..solver.rules };
        let tasks = seen.chunks(ROWS_PER_TASK * outside.len()).zip(codes.chunks_mut(ROWS_PER_TASK * m));
        parallel::each_with(tasks, Work::default, |work, (rows, codes)| {
            rules.code(&atoms, rows, codes, work);
        });
        let pairs = x.chunks_exact(p).zip(codes.chunks_exact(m));
        errors.iter_mut().zip(pairs).for_each(|(e, (row, code))| *e += error(row, code));
        run.check()?;
    }
    Ok(())
}

/// The codes of a row for all alphas by the homotopy, which passes through them; coordinate descent completes the codes of a path that ended
/// early, at linearly dependent atoms or after its last breakpoint.
fn codes_along<T: Real>(
    rules: &Rules,
    atoms: &Atoms<T>,
    row: &[T],
    alphas: &[f64],
    work: &mut Work<T>,
) -> Vec<T> {
    let m = atoms.n_atoms();
    let mut codes = vec![T::default(); alphas.len() * m];
    let lars = Lars { positive: rules.positive, ..Lars::of(0.0) };
    lars.along(atoms, row, alphas, &mut codes);
    for (alpha, code) in alphas.iter().zip(codes.chunks_exact_mut(m)) {
        Rules { alpha: *alpha, ..*rules }.lasso().code(atoms, row, code, work);
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::Omp;
    use std::sync::Arc;

    /// Plain coordinate descent on the residual.
    fn naive(a: &Matrix<f64>, x: &[f64], alpha: f64, positive: bool) -> Vec<f64> {
        let (mut z, mut r) = (vec![0.0; a.rows()], x.to_vec());
        for _ in 0..20_000 {
            for (j, z) in z.iter_mut().enumerate() {
                let square: f64 = a.row(j).iter().map(|a| a * a).sum();
                let t = a.row(j).iter().zip(&r).map(|(a, r)| a * r).sum::<f64>() + square * *z;
                let size = if positive { t } else { t.abs() } - alpha;
                let new = t.signum() * size.max(0.0) / square;
                r.iter_mut().zip(a.row(j)).for_each(|(r, a)| *r -= (new - *z) * a);
                *z = new;
            }
        }
        z
    }

    #[test]
    fn errors_of_a_fold_are_those_of_plain_coordinate_descent_for_every_alpha() {
        let (draws, m, p, n) = (Stream::new(4, 0), 16, 12, 5);
        let a = Matrix::from_fn(m, p, |j, c| draws.normal((j * p + c) as u64));
        let x: Vec<f64> = (0..n * p).map(|i| 2.0 * draws.normal((m * p + i) as u64)).collect();
        let (inside, outside): (Vec<usize>, Vec<usize>) = (0..p).partition(|c| c % 5 == 1);
        let alphas: Vec<f64> = (0..10).map(|i| 20.0 * 10f64.powf(-f64::from(i) / 3.0)).collect();
        let part = |columns: &[usize]| Matrix::from_fn(m, columns.len(), |j, c| a[(j, columns[c])]);
        for positive in [false, true] {
            let rules = Rules {
                algorithm: Algorithm::Cd,
                alpha: 1.0,
                positive,
                debias: false,
                tol: 1e-6,
                max_iter: 1000,
                omp: Omp::to_error(0.0, 1),
            };
            let atoms = Arc::new(Atoms::<f64>::new(&a));
            let solver = Solver { atoms, rules, mean: Arc::new(vec![0.0; p]) };
            // Errors of the folds before are added to.
            let mut errors = vec![1.0; alphas.len() * n];
            let run = Run::default();
            of_fold(&solver, &x, (&inside, &outside), &alphas, &mut errors, &run).unwrap();
            for (alpha, errors) in alphas.iter().zip(errors.chunks_exact(n)) {
                for (row, error) in x.chunks_exact(p).zip(errors) {
                    let seen: Vec<f64> = outside.iter().map(|&c| row[c]).collect();
                    let z = naive(&part(&outside), &seen, *alpha, positive);
                    let left = |&c: &usize| row[c] - (0..m).map(|j| z[j] * a[(j, c)]).sum::<f64>();
                    let want = inside.iter().map(|c| left(c).powi(2)).sum::<f64>() / p as f64;
                    assert!((error - 1.0 - want).abs() < 1e-8, "{positive} {alpha}: {error} {want}");
                }
            }
        }
    }
}
