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

use super::auto::{CANDIDATES, choose, is_certain, looks_at};
use super::forces::{Look, Pass, Rule};
use super::gpm::{KICK, MOST_CHANGES, MOST_KICKS, PATIENCE, Polar, Solved};
use super::nonlinearity::{Nonlinearity, Shape, Slope};
use super::start::Principal;
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor, kernel};
use crate::run::Run;
use crate::stats::{Packer, Partial, Unpacker};

mod step;

use step::Step;

/// Polar steps before the first of Newton's: a few, and more where components are many. Among many there are many neighbouring places
/// of rest (on photographs), of which long steps pick one by chance; polar steps from the principal axes lead two samples of the same
/// photographs to the same place more often: on six pairs of samples, 32 components, they agree by .890 after 4 steps, by .910 after
/// 24, by .926 after 40.
fn warm(k: usize) -> u64 {
    (5 * k as u64 / 4).clamp(4, 40)
}

/// Sums of a pass: everything that a step needs.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeSums {
    /// Sum of `e_j x` with `e` the error of the reconstruction times the slope, `k x p`.
    pub pull: Matrix<f64>,
    /// Sums of `z_i^2 phi'(z_j)`, `z_i h(z_i) h'(z_j)` and `z_i h(z_j)`, `k x k` each, one below the other.
    pub pairs: Matrix<f64>,
    /// Sums of `z phi`, `phi'` and `h'`, one after the other.
    pub alone: Vec<f64>,
}

impl NativeSums {
    /// Of no rows yet: `k` components, rows of `p`.
    pub fn empty(k: usize, p: usize) -> Self {
        Self { pull: Matrix::zeros(k, p), pairs: Matrix::zeros(3 * k, k), alone: vec![0.0; 3 * k] }
    }

    /// Adds rows `x` and their standardised codes `z`, which are written over, of columns with standard deviations `sigma` and
    /// `coupling = Sigma M`. Of rows filled up with zeros only the first `n` count. `O(n k p + n k²)`.
    #[allow(clippy::too_many_arguments)] // Two things that meet, and the room that they meet in.
    pub fn gather<T: Real>(
        &mut self,
        h: &Nonlinearity,
        sigma: &[f64],
        coupling: &Matrix<f64>,
        x: &[T],
        z: &mut [T],
        weights: Option<&[f64]>,
        n: usize,
        work: &mut Vec<T>,
    ) {
        let pass = NativePass { h: h.clone(), sigma: sigma.to_vec(), coupling: coupling.clone() };
        Rule::gather(&pass, self, x, z, weights, n, work);
    }
}

impl Partial for NativeSums {
    fn merge(&mut self, right: Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        add(self.pull.as_mut_slice(), right.pull.as_slice());
        add(self.pairs.as_mut_slice(), right.pairs.as_slice());
        add(&mut self.alone, &right.alone);
    }

    fn pack(&self, out: &mut Packer) {
        out.matrix(&self.pull);
        out.numbers(self.pairs.as_slice());
        out.numbers(&self.alone);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (pull, pairs, alone) = (from.matrix()?, from.numbers()?, from.numbers()?);
        let k = pull.rows();
        from.check(alone.len() == 3 * k && pairs.len() == 3 * k * k)?;
        Ok(Self { pull, pairs: Matrix::from_vec(3 * k, k, pairs), alone })
    }

    fn bytes(&self) -> usize {
        8 * (self.pull.as_slice().len() + self.pairs.as_slice().len() + self.alone.len())
    }
}

/// What happens to a block of codes.
struct NativePass {
    h: Nonlinearity,
    sigma: Vec<f64>,
    /// `Sigma M`.
    coupling: Matrix<f64>,
}

impl<T: Real> Rule<T> for NativePass {
    type Sums = NativeSums;

    fn zero(&self, k: usize, p: usize) -> NativeSums {
        NativeSums::empty(k, p)
    }

    fn gather(
        &self,
        sums: &mut NativeSums,
        x: &[T],
        z: &mut [T],
        weights: Option<&[f64]>,
        n: usize,
        work: &mut Vec<T>,
    ) {
        let (k, p) = (self.sigma.len(), sums.pull.cols());
        let (size, rows) = (z.len(), z.len() / k);
        // What is there is written over.
        work.resize(6 * size, T::default());
        let (h, rest) = work.split_at_mut(size);
        let (slope, rest) = rest.split_at_mut(size);
        let (growth, rest) = rest.split_at_mut(size);
        let (error, rest) = rest.split_at_mut(size);
        let (square, both) = rest.split_at_mut(size);
        self.h.ready(k).all(z, h, slope, growth);
        kernel::product(error, h, self.coupling.cast::<T>().as_slice(), rows, k, k);
        let sigma: Vec<T> = self.sigma.iter().map(|&s| T::from_f64(s)).collect();
        let (along, others) = sums.alone.split_at_mut(k);
        let (grown, sloped) = others.split_at_mut(k);
        crate::num::widest(
            #[inline(always)]
            || {
                for i in 0..rows {
                    let at = i * k..(i + 1) * k;
                    let (z, h, slope) = (&z[at.clone()], &h[at.clone()], &slope[at.clone()]);
                    let (error, square, both) =
                        (&mut error[at.clone()], &mut square[at.clone()], &mut both[at]);
                    for j in 0..k {
                        error[j] = (error[j] - sigma[j] * z[j]) * slope[j];
                        square[j] = z[j] * z[j];
                        both[j] = z[j] * h[j];
                    }
                }
            },
        );
        if let Some(weights) = weights {
            for (i, w) in weights.iter().enumerate() {
                let w = T::from_f64(*w);
                for part in [&mut *error, &mut *square, &mut *both, &mut *z] {
                    part[i * k..(i + 1) * k].iter_mut().for_each(|x| *x *= w);
                }
            }
        }
        crate::num::widest(
            #[inline(always)]
            || {
                for i in 0..n {
                    let w = weights.map_or(1.0, |w| w[i]);
                    let at = i * k..(i + 1) * k;
                    // Weights are in `z` and `square` already.
                    let (slope, growth) = (&slope[at.clone()], &growth[at.clone()]);
                    let (both, square) = (&both[at.clone()], &square[at]);
                    for j in 0..k {
                        let force = (both[j] - square[j]).to_f64();
                        along[j] += force * slope[j].to_f64();
                        grown[j] += w * growth[j].to_f64();
                        sloped[j] += w * slope[j].to_f64();
                    }
                }
            },
        );
        let mut scratch = Vec::new();
        kernel::add_cross(sums.pull.as_mut_slice(), error, x, rows, k, p, &mut scratch);
        let (bends, others) = sums.pairs.as_mut_slice().split_at_mut(k * k);
        let (answers, crossed) = others.split_at_mut(k * k);
        kernel::add_cross(bends, square, growth, rows, k, k, &mut scratch);
        kernel::add_cross(answers, both, slope, rows, k, k, &mut scratch);
        kernel::add_cross(crossed, z, h, rows, k, k, &mut scratch);
    }

    fn pull<'s>(&self, sums: &'s mut NativeSums) -> &'s mut Matrix<f64> {
        &mut sums.pull
    }
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
        if how.auto && looks_at(n_iter) {
            let looks = look(how, &a, rows, &w, run)?.1;
            let chosen = choose(&looks, &a);
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
            let pull = |j: usize, i: usize| -forces.sigma[j].powi(3) * forces.pull[(j, i)];
            w = factor::polar_rows(&Matrix::from_fn(k, w.cols(), pull))?;
            continue;
        }
        let sigma = rows.deviations(&w);
        let gram = factor::multiply_transposed(&w, &w);
        let coupling = Matrix::from_fn(k, k, |i, j| sigma[i] * gram[(i, j)]);
        let pass = NativePass { h, sigma: sigma.clone(), coupling };
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
                    let chosen = choose(&look(how, &a, rows, &w, run)?.1, &a);
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
    let nothing = how.auto && !(0..k).any(|j| is_certain(&candidates, j));
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
) -> Result<(Look, Vec<Look>)> {
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
