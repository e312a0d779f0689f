//! The deterministic solver for the published fixed point: unit columns that the loss itself keeps nearly orthogonal.
//!
//! ```text
//! G = X'[(U M - Y) o h'] / n,   U = h(Z) Sigma,   M = W'W            at rest: every G_j is parallel to w_j, |w_j| = 1
//! ```
//!
//! Polar steps, four to forty, then Newton's method with a simplified curvature: in the plane of every pair the antisymmetric part (as in
//! the law of pairs, kept between 0.3 and 1 times its bound), and, for all pairs at once, how `M - I` answers; outside of the span
//! of `W`, axis by axis. All of it from one pass over the rows, which costs `4 n r k + 8 n k^2` operations.
//!
//! Roads not taken, all tried: curvatures of pairs without the answer of `M - I` (diverges on photographs), Anderson mixing and
//! over-relaxation on top (oscillate, or stick to saddles), quasi-Newton steps on the Stiefel manifold (slow).

use super::auto::{CANDIDATES, choose, looks_at, near_gaussian};
use super::forces::{Pass, Separation};
use super::gpm::{KICK, MOST_CHANGES, MOST_KICKS, Polar, Solved};
use super::nonlinearity::{Nonlinearity, Shape, Slope};
use super::start::Principal;
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;

mod pass;
mod step;

pub use pass::{NativePass, NativeSums};
use step::Step;

/// Steps without a smaller residual in their second half after which nothing more is expected.
const PATIENCE: usize = 100;

/// Polar steps before the first of Newton's: a few, and more where components are many. Among many there are many neighbouring places
/// of rest (on photographs), of which long steps pick one by chance; polar steps from the principal axes lead two samples of the same
/// photographs to the same place more often: on six pairs of samples, 32 components, they agree by .890 after 4 steps, by .910 after
/// 24, by .926 after 40.
fn warm(k: usize) -> u64 {
    (5 * k as u64 / 4).clamp(4, 40)
}

/// Iterates to the published fixed point from the rows of `start`, in principal coordinates. What `how` says of weights counts for
/// nothing here; its tolerance is for the column residual.
///
/// # Errors
///
/// Those of the rows; [`Interrupted`](crate::Error::Interrupted).
pub fn solve<T: Real>(
    how: &Polar,
    rows: &Principal<'_, T>,
    start: Matrix<f64>,
    run: &Run<'_>,
    mut seen: impl FnMut(u64, &Matrix<f64>),
) -> Result<Solved> {
    let k = start.rows();
    let mut a = if how.h.a.len() == 1 { vec![how.h.a[0]; k] } else { how.h.a.clone() };
    let (mut w, mut history, mut changes, mut kicks) = (start.clone(), Vec::new(), 0, 0);
    let mut smallest: Option<(f64, Matrix<f64>)> = None;
    let (mut n_iter, warm) = (0u64, warm(k));
    // How often each pair was turned away from a saddle.
    let mut left = vec![0u32; k * k];
    let (outcome, residual) = loop {
        if how.auto && looks_at(n_iter, true) {
            let looks = look(how, &a, rows, &w, run)?.1;
            let chosen = choose(&looks, k);
            if chosen != a {
                (a, smallest) = (chosen, None);
                history.clear();
            }
        }
        let h = Nonlinearity { a: a.clone(), ..how.h.clone() };
        n_iter += 1;
        if n_iter <= warm && n_iter < how.max_iter {
            let forces = rows.forces(&w, &Pass::new(h, Vec::new()), run)?;
            seen(rows.sweeps(), &w);
            let weighted = |j: usize, i: usize| -forces.sigma[j].powi(3) * forces.gradient[(j, i)];
            w = factor::polar_rows(&Matrix::from_fn(k, w.cols(), weighted))?;
            continue;
        }
        let sigma = rows.deviations(&w);
        let gram = factor::multiply_transposed(&w, &w);
        let pass = NativePass::new(&h, &sigma, &gram);
        let sums: NativeSums = rows.gather(&w, &pass, run, "nonlinear sums")?;
        seen(rows.sweeps(), &w);
        let leave = |i: usize, j: usize| {
            left[i * k + j] += 1;
            left[i * k + j] <= MOST_KICKS
        };
        let step = Step::new(&sums, &w, &sigma, &rows.moments, rows.n(), leave)?;
        history.push(step.residual);
        run.iteration(n_iter, step.residual, None)?;
        if smallest.as_ref().is_none_or(|(r, _)| step.residual < *r) {
            smallest = Some((step.residual, w.clone()));
        }
        if step.residual <= how.tol {
            let changed = match how.auto && changes < MOST_CHANGES {
                false => false,
                true => {
                    let chosen = choose(&look(how, &a, rows, &w, run)?.1, k);
                    let changed = chosen != a;
                    a = chosen;
                    changed
                }
            };
            if changed {
                (changes, smallest) = (changes + 1, None);
                history.clear();
                continue;
            }
            if step.saddles.is_empty() || kicks == MOST_KICKS {
                break (Outcome::Converged, step.residual);
            }
            kicks += 1;
            kick(&mut w, &step.saddles);
            continue;
        }
        let n = history.len();
        let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
        let stalled =
            n > PATIENCE && least(&history[n - PATIENCE / 2..]) >= least(&history[..n - PATIENCE / 2]);
        let ending = match () {
            () if run.out_of_time() => Some(Outcome::Time),
            () if n_iter >= how.max_iter => Some(Outcome::MaxIter),
            () if stalled => Some(Outcome::Stalled),
            () => None,
        };
        if let Some(outcome) = ending {
            // The residual need not fall at every step: the newest is preferred where it is nearly the smallest.
            if let Some((r, best)) = smallest.take().filter(|(r, _)| step.residual >= 1.5 * r) {
                w = best;
                break (outcome, r);
            }
            break (outcome, step.residual);
        }
        w.as_mut_slice().iter_mut().zip(step.step.as_slice()).for_each(|(w, s)| *w += s);
        normalise(&mut w);
        if orthonormality(&w) > 0.25 * (k as f64).sqrt() {
            w = factor::polar_rows(&w)?;
        }
    };
    let (own, candidates) = look(how, &a, rows, &w, run)?;
    let nothing = how.auto && !near_gaussian(&candidates).contains(&false);
    let sigma = rows.deviations(&w);
    let solved = Solved {
        w,
        solver: "second-order",
        alpha: 2.0,
        sigma,
        a,
        own,
        candidates,
        better: None,
        outcome,
        n_iter,
        residual: Some(residual),
        column_residual: residual,
        history,
    };
    if !nothing || outcome == Outcome::Converged {
        return Ok(solved);
    }
    // Nothing stands out from a Gaussian: the principal axes are what there is.
    let (own, candidates) = look(how, &solved.a, rows, &start, run)?;
    let sigma = rows.deviations(&start);
    Ok(Solved { w: start, sigma, own, candidates, outcome: Outcome::Completed, residual: None, ..solved })
}

/// What the nonlinearity in use sees of the components, and what the candidates see.
fn look<T: Real>(
    how: &Polar,
    a: &[f64],
    rows: &Principal<'_, T>,
    w: &Matrix<f64>,
    run: &Run<'_>,
) -> Result<(Separation, Vec<Separation>)> {
    let h = Nonlinearity { a: a.to_vec(), ..how.h.clone() };
    let mut looks = vec![h.clone()];
    looks.extend(CANDIDATES.map(|c| Nonlinearity { shape: Shape::Tanh, slope: Slope::True, a: vec![c] }));
    let mut seen = rows.forces(w, &Pass::looking(looks), run)?.looks.into_iter();
    Ok((seen.next().unwrap_or_default(), seen.collect()))
}

/// Turns the pairs, each component once at most.
fn kick(w: &mut Matrix<f64>, pairs: &[(usize, usize)]) {
    let mut turned = vec![false; w.rows()];
    let (sin, cos) = KICK.sin_cos();
    for &(i, j) in pairs {
        if turned[i] || turned[j] {
            continue;
        }
        (turned[i], turned[j]) = (true, true);
        for c in 0..w.cols() {
            let (x, y) = (w[(i, c)], w[(j, c)]);
            (w[(i, c)], w[(j, c)]) = (cos * x + sin * y, cos * y - sin * x);
        }
    }
    normalise(w);
}

fn normalise(w: &mut Matrix<f64>) {
    for j in 0..w.rows() {
        let length = w.row(j).iter().map(|x| x * x).sum::<f64>().sqrt();
        w.row_mut(j).iter_mut().for_each(|x| *x /= length);
    }
}

/// `||W'W - I||_F`.
pub fn orthonormality(w: &Matrix<f64>) -> f64 {
    let gram = factor::multiply_transposed(w, w);
    let entry = |i: usize, j: usize| (gram[(i, j)] - f64::from(u8::from(i == j))).powi(2);
    (0..w.rows()).map(|i| (0..w.rows()).map(|j| entry(i, j)).sum::<f64>()).sum::<f64>().sqrt()
}
