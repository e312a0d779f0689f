//! The E-step of the paper's algorithm S3: candidates in a fixed order, of which the first that decreases the divergence is
//! accepted.
//!
//! First the plain Newton step, `P(p)`; then `P(mu + gamma (P(mu + lambda (p - mu)) - mu))` with smaller `gamma`, smaller `lambda`, and
//! both; then a step with reduced matrices; then the minimum of a majoriser, `P(mu + G (p - mu) / sum |G|)`, which cannot increase the
//! divergence because `P` is the projection onto a set that is a product over units: it replaces the gradient methods of the paper. `P`
//! clamps at 0, and scales units to second moment 1 if they are normalised.

use super::statistics::Normalisation;
use super::stored_codes::{ProjectionSums, ROWS_PER_CHUNK, StoredCodes};
use crate::num::factor::Cholesky;
use crate::num::{Matrix, Real, kernel};

/// Kinds of candidates, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Candidate {
    /// The plain Newton step.
    Newton,
    /// A damped step towards it, with smaller `gamma`.
    Gamma,
    /// The projection of a point between the codes and the posterior mean, with smaller `lambda`.
    Lambda,
    /// With smaller `gamma` and `lambda`.
    Both,
    /// Newton's step on inactive units only.
    Reduced,
    /// The minimum of the majoriser.
    Majoriser,
    /// The current codes.
    Keep,
}

/// All kinds with their names.
pub(crate) const CANDIDATES: [(Candidate, &str); 7] = [
    (Candidate::Newton, "newton"),
    (Candidate::Gamma, "gamma"),
    (Candidate::Lambda, "lambda"),
    (Candidate::Both, "both"),
    (Candidate::Reduced, "reduced"),
    (Candidate::Majoriser, "majoriser"),
    (Candidate::Keep, "keep"),
];

/// Maximum number of halvings of `gamma` and `lambda`.
const MOST_HALVINGS: i32 = 10;

/// Codes of up to this fraction of the mean code count as inactive; the bound is smaller near the candidate.
const INACTIVE_SHARE: f64 = 1e-2;

/// An E-step starting from codes `mu`.
pub struct CandidateSearch<'a, T> {
    /// Posterior means.
    pub p: &'a StoredCodes<T>,
    /// Current codes.
    pub mu: &'a StoredCodes<T>,
    /// `G`, symmetric.
    pub g: &'a Matrix<f64>,
    /// Number of rows, weighted.
    pub n: f64,
    /// Weights of the rows.
    pub weights: Option<&'a [f64]>,
    /// Normalisation of the units: second moment 1, or none.
    pub how: Normalisation,
    /// Amount by which the divergence may increase.
    pub allowance: f64,
    /// Kinds of candidates that may be accepted.
    pub candidates: &'a [Candidate],
}

/// Projects codes onto the non-negative ones that, if units are normalised, have second moment 1 (sum of squares `n`): a unit without a
/// positive number becomes `sqrt(n)` at the row of its largest one, the first in case of ties, and 0 elsewhere; a unit of zeros is
/// unchanged. Rows of weight 0 are excluded. Returns the factor of each unit.
pub fn project<T: Real>(
    codes: &mut StoredCodes<T>,
    how: Normalisation,
    n: f64,
    weights: Option<&[f64]>,
) -> Vec<f64> {
    let l = codes.n_units();
    let extents = codes.each(|c, chunk| {
        let one = |j: usize| {
            let mut extent = ProjectionSums::NONE;
            extent.take(StoredCodes::unit(chunk, l, j), c * ROWS_PER_CHUNK, weights);
            extent
        };
        (0..l).map(one).collect::<Vec<_>>()
    });
    let mut scale = vec![1.0; l];
    let mut places = Vec::new();
    if how == Normalisation::Rms {
        for j in 0..l {
            let extent = extents.iter().fold(ProjectionSums::NONE, |all, chunk| all.and(chunk[j]));
            scale[j] = if extent.squares > 0.0 { (n / extent.squares).sqrt() } else { 0.0 };
            places.extend(extent.place().map(|i| (j, i)));
        }
    }
    codes.each_mut(|_, chunk| {
        let (n, zero) = (chunk.len() / l, T::default());
        for (codes, d) in chunk.chunks_exact_mut(n).zip(&scale) {
            let d = T::from_f64(*d);
            codes.iter_mut().for_each(|x| *x = if *x > zero { *x * d } else { zero });
        }
    });
    for (j, i) in places {
        codes.set(i, j, T::from_f64(n.sqrt()));
    }
    scale
}

impl<T: Real> CandidateSearch<'_, T> {
    /// The codes after the step, and the kind of candidate. The divergence of the codes never increases if `allowance` is 0.
    pub fn first_decrease(&self) -> (StoredCodes<T>, Candidate) {
        let old = self.divergence(self.mu) + self.allowance;
        let lower = |new: f64| match T::DTYPE {
            crate::num::Dtype::F64 => new < old,
            crate::num::Dtype::F32 => old - new > 1e-6 * (new.abs() + old.abs()),
        };
        let allowed = |candidate: Candidate| self.candidates.contains(&candidate);
        let try_one = |candidate: StoredCodes<T>| lower(self.divergence(&candidate)).then_some(candidate);
        if allowed(Candidate::Newton)
            && let Some(found) = try_one(self.between(1.0, 1.0))
        {
            return (found, Candidate::Newton);
        }
        let pairs = [
            (Candidate::Gamma, true, false),
            (Candidate::Lambda, false, true),
            (Candidate::Both, true, true),
        ];
        for (candidate, gamma, lambda) in pairs.into_iter().filter(|(candidate, ..)| allowed(*candidate)) {
            for t in 1..=MOST_HALVINGS {
                let small = 0.5f64.powi(t);
                let (gamma, lambda) = (if gamma { small } else { 1.0 }, if lambda { small } else { 1.0 });
                if let Some(found) = try_one(self.between(gamma, lambda)) {
                    return (found, candidate);
                }
            }
        }
        if allowed(Candidate::Reduced) {
            let step = self.reduced_step();
            for t in 0..=MOST_HALVINGS {
                if let Some(found) = try_one(self.along(&step, 0.5f64.powi(t))) {
                    return (found, Candidate::Reduced);
                }
            }
        }
        if allowed(Candidate::Majoriser)
            && let Some(found) = try_one(self.along(&self.majoriser_step(), 1.0))
        {
            return (found, Candidate::Majoriser);
        }
        (self.mu.clone(), Candidate::Keep)
    }

    /// `tr(G (c - p)' (c - p)) / 2 n`.
    pub fn divergence(&self, codes: &StoredCodes<T>) -> f64 {
        let l = codes.n_units();
        let each = codes.each(|c, chunk| {
            let n = chunk.len() / l;
            let difference: Vec<f64> =
                chunk.iter().zip(&self.p.chunks()[c]).map(|(c, p)| c.to_f64() - p.to_f64()).collect();
            let mut weighed = vec![0.0; l * n];
            kernel::product(&mut weighed, self.g.as_slice(), &difference, l, l, n);
            difference.iter().zip(&weighed).map(|(a, b)| a * b).sum::<f64>()
        });
        0.5 * each.iter().sum::<f64>() / self.n
    }

    /// `P(mu + gamma (P(mu + lambda (p - mu)) - mu))`.
    fn between(&self, gamma: f64, lambda: f64) -> StoredCodes<T> {
        let mut codes = self.mu.clone();
        codes.each_mut(|c, chunk| interpolate(chunk, &self.p.chunks()[c], lambda));
        project(&mut codes, self.how, self.n, self.weights);
        if gamma == 1.0 {
            return codes;
        }
        let share = T::from_f64(gamma);
        codes.each_mut(|c, chunk| {
            let each = chunk.iter_mut().zip(&self.mu.chunks()[c]);
            each.for_each(|(d, mu)| *d = *mu + share * (*d - *mu));
        });
        project(&mut codes, self.how, self.n, self.weights);
        codes
    }

    /// `P(mu + lambda step)`.
    fn along(&self, step: &StoredCodes<T>, lambda: f64) -> StoredCodes<T> {
        let mut codes = self.mu.clone();
        let share = T::from_f64(lambda);
        codes.each_mut(|c, chunk| {
            chunk.iter_mut().zip(&step.chunks()[c]).for_each(|(x, d)| *x += share * *d);
        });
        project(&mut codes, self.how, self.n, self.weights);
        codes
    }

    /// `G (p - mu)` of a chunk, in double precision.
    fn negative_gradient(&self, c: usize) -> Vec<f64> {
        let (l, chunk) = (self.mu.n_units(), &self.mu.chunks()[c]);
        let n = chunk.len() / l;
        let difference: Vec<f64> =
            self.p.chunks()[c].iter().zip(chunk).map(|(p, mu)| p.to_f64() - mu.to_f64()).collect();
        let mut out = vec![0.0; l * n];
        kernel::product(&mut out, self.g.as_slice(), &difference, l, l, n);
        out
    }

    /// `G (p - mu) / sum |G|`, unit by unit.
    fn majoriser_step(&self) -> StoredCodes<T> {
        let l = self.mu.n_units();
        let bound: Vec<f64> = (0..l).map(|j| self.g.row(j).iter().map(|x| x.abs()).sum()).collect();
        let mut step = StoredCodes::zeros(self.mu.n_rows(), l);
        step.each_mut(|c, chunk| {
            let (negative_gradient, n) = (self.negative_gradient(c), chunk.len() / l);
            for (j, bound) in bound.iter().enumerate() {
                let own = chunk[j * n..(j + 1) * n].iter_mut().zip(&negative_gradient[j * n..(j + 1) * n]);
                own.for_each(|(x, p)| *x = T::from_f64(p / bound));
            }
        });
        step
    }

    /// `H^-1 G (p - mu)` for each row, where `H` is `G` without the off-diagonal entries of units that are inactive in the row.
    fn reduced_step(&self) -> StoredCodes<T> {
        let (l, rows) = (self.mu.n_units(), self.mu.n_rows());
        let newton = self.between(1.0, 1.0);
        let total: f64 = self.mu.each(|_, chunk| chunk.iter().map(|x| x.to_f64()).sum::<f64>()).iter().sum();
        let cap = INACTIVE_SHARE * total / (rows * l) as f64;
        let mut step = StoredCodes::zeros(rows, l);
        step.each_mut(|c, chunk| {
            let (negative_gradient, n) = (self.negative_gradient(c), chunk.len() / l);
            let (mu, new) = (&self.mu.chunks()[c], &newton.chunks()[c]);
            for i in 0..n {
                let at = |j: usize| j * n + i;
                let difference: f64 =
                    (0..l).map(|j| (mu[at(j)].to_f64() - new[at(j)].to_f64()).powi(2)).sum();
                let eps = difference.sqrt().min(cap);
                let (active, free): (Vec<usize>, Vec<usize>) =
                    (0..l).partition(|&j| mu[at(j)].to_f64() <= eps);
                active.iter().for_each(|&j| chunk[at(j)] = T::from_f64(negative_gradient[at(j)]));
                let part = Matrix::from_fn(free.len(), free.len(), |a, b| self.g[(free[a], free[b])]);
                let right = Matrix::from_fn(1, free.len(), |_, a| negative_gradient[at(free[a])]);
                if let Some(factor) = (!free.is_empty()).then(|| Cholesky::new(&part)).flatten() {
                    let solved = factor.solve_rows(&right);
                    free.iter().zip(solved.as_slice()).for_each(|(&j, x)| chunk[at(j)] = T::from_f64(*x));
                }
            }
        });
        step
    }
}

/// `x + share (to - x)`.
fn interpolate<T: Real>(x: &mut [T], to: &[T], share: f64) {
    if share == 1.0 {
        return x.copy_from_slice(to);
    }
    let share = T::from_f64(share);
    x.iter_mut().zip(to).for_each(|(x, to)| *x = *x + share * (*to - *x));
}
