//! A mixture of probabilistic PCA (Tipping & Bishop 1999): subspaces with noise, and the probability that a row belongs to each, by
//! expectation-maximisation.
//!
//! ```text
//! p(x) = Σ_k w_k N(x; m_k, U_k' diag(v_k - s_k) U_k + s_k I)
//! ```
//!
//! The means `m_k` are 0 unless rows are centred. The M-step computes, for each part, the leading eigenvectors of the covariance of the rows
//! weighted by their probabilities of the part: the closed form of probabilistic PCA. A part without rows would remain so: it is restarted at
//! rows that the mixture explains badly, if that is more likely. The likelihood never decreases.

use super::refine::SubspaceFit;
use super::table::{Table, principal};
use crate::data::Workspace;
use crate::error::Result;
use crate::model::{Gaussian, Mixture};
use crate::num::parallel;
use crate::num::{Matrix, factor};
use crate::run::{Outcome, Run};
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Minimum noise variance of a part, as a fraction of the mean variance of the columns over its rows, and over all rows.
const NOISE_FLOOR_SHARE: f64 = 1e-6;
const FLOOR_OF_ALL: f64 = 1e-10;
/// Sum of the probabilities of all rows for a part below which the part is empty.
const EMPTY: f64 = 1e-6;
/// Attempts in a fit to restart empty parts, at most: a mixture of fewer parts may be the most likely one.
const MOST_RESTARTS: usize = 10;
/// Rows that one thread processes at a time.
const ROWS_PER_TASK: usize = 256;

/// One Gaussian of the mixture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) weight: f64,
    /// Relative to the centre of all rows.
    pub(super) mean: Vec<f64>,
    /// Orthonormal rows, by descending variance.
    pub(super) axes: Matrix<f64>,
    /// Variances along them, at least the noise variance.
    pub(super) variance: Vec<f64>,
    /// Noise variance: that in all other directions.
    pub(super) noise: f64,
}

/// The mixture `p(x)` of these parts, with `offset` added to their means.
pub(super) fn mixture(parts: &[Part], offset: &[f64]) -> Mixture {
    let gaussian = |part: &Part| Gaussian {
        mean: part.mean.iter().zip(offset).map(|(m, c)| m + c).collect(),
        noise_scale: None,
        axes: part.axes.clone(),
        variance: part.variance.clone(),
        noise: part.noise,
    };
    Mixture { weights: parts.iter().map(|p| p.weight).collect(), parts: parts.iter().map(gaussian).collect() }
}

/// What the iterations start from.
pub(super) enum InitialMixture<'a> {
    /// Clusters and their subspaces.
    Clusters(&'a SubspaceFit),
    /// The parts of a fitted mixture.
    Parts(Vec<Part>),
}

impl InitialMixture<'_> {
    /// The dimension of each part.
    pub(super) fn dimensions(&self) -> Vec<usize> {
        match self {
            Self::Clusters(found) => found.bases.iter().map(Matrix::rows).collect(),
            Self::Parts(parts) => parts.iter().map(|part| part.axes.rows()).collect(),
        }
    }
}

/// The parts with these axes of the mixture that a fit starts from; `None` if that model is not a mixture. Means are relative to `center`; without it
/// they are 0.
pub(super) fn initial_parts(
    axes: &[Matrix<f64>],
    center: Option<&[f64]>,
    run: &Run<'_>,
) -> Option<Vec<Part>> {
    let (k, p) = (axes.len(), axes.first()?.cols());
    let numbers = |name: &str, n: usize| {
        let (_, numbers) = run.init?.parameter(name)?;
        (numbers.len() == n).then_some(numbers)
    };
    let all: usize = axes.iter().map(Matrix::rows).sum();
    let (weights, noises) = (numbers("weights", k)?, numbers("noise_variance", k)?);
    let (means, variances) = (numbers("means", k * p)?, numbers("variances", all)?);
    let mut first = 0;
    let parts = axes.iter().enumerate().map(|(c, axes)| {
        let variance = variances[first..first + axes.rows()].to_vec();
        first += axes.rows();
        let mean = (0..p).map(|j| center.map_or(0.0, |center| means[c * p + j] - center[j])).collect();
        // Axes stored in single precision are orthonormal only up to its precision.
        let axes = if axes.rows() > 0 { factor::orthonormal_rows_signed(axes) } else { axes.clone() };
        Part { weight: weights[c], mean, axes, variance, noise: noises[c] }
    });
    Some(parts.collect())
}

/// Result of the iterations.
pub(super) struct MixtureResult {
    pub(super) parts: Vec<Part>,
    /// The most probable part of every row.
    pub(super) labels: Vec<usize>,
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    /// Increase of the mean log-likelihood of a row in the last iteration.
    pub(super) rise: f64,
    /// Mean log-likelihood of a row after each iteration.
    pub(super) objective: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct State {
    parts: Vec<Part>,
    value: f64,
    rise: f64,
    /// Attempts to restart empty parts so far.
    restarts: usize,
}

/// Result of the E-step.
struct Expected {
    /// Posterior probabilities of the parts for every row.
    probabilities: Matrix<f64>,
    /// Log-likelihood of every row.
    log_likelihoods: Vec<f64>,
    /// Its mean.
    value: f64,
}

/// The problem: rows, and the dimension of each part.
pub(super) struct PpcaMixture<'a> {
    pub(super) table: &'a Table,
    pub(super) dimensions: &'a [usize],
    /// Whether parts have means of their own.
    pub(super) means: bool,
    pub(super) limits: Limits,
}

impl PpcaMixture<'_> {
    /// Iterates from these clusters or parts, as many and of the same dimensions.
    ///
    /// # Errors
    ///
    /// A requested stop, an eigenvalue decomposition that does not converge.
    pub(super) fn search(&self, start: InitialMixture<'_>, run: &Run<'_>) -> Result<MixtureResult> {
        let (n, k) = (self.table.n(), self.dimensions.len());
        let first = || {
            let parts = match start {
                InitialMixture::Parts(parts) => parts,
                InitialMixture::Clusters(found) => {
                    let hard = Matrix::from_fn(n, k, |i, c| f64::from(u8::from(found.labels[i] == c)));
                    self.maximised(&hard)?
                }
            };
            let value = self.expected(&parts).value;
            Ok(State { parts, value, rise: f64::INFINITY, restarts: 0 })
        };
        let (mut steps, mut at) = Steps::begin(run, "mixture", self.limits, first)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.rise) {
                break outcome;
            }
            let (parts, value, restarts) = self.stepped(&at)?;
            // The likelihood decreases only through rounding errors.
            if value <= at.value {
                at.rise = 0.0;
                break Outcome::Converged;
            }
            at = State { parts, value, rise: value - at.value, restarts };
            steps.ended(at.rise, Some(value), &at)?;
        };
        let joint = self.expected(&at.parts).probabilities;
        let most =
            |i: usize| (0..k).fold(0, |best, c| if joint[(i, c)] > joint[(i, best)] { c } else { best });
        let (n_iter, mut objective) = (steps.n_iter(), steps.into_objective());
        if objective.is_empty() {
            objective.push(at.value);
        }
        Ok(MixtureResult {
            parts: at.parts,
            labels: (0..n).map(most).collect(),
            outcome,
            n_iter,
            rise: at.rise,
            objective,
        })
    }

    /// The parts after an iteration, the mean log-likelihood of a row, and the attempts to restart empty parts so far. A restart is kept if it
    /// is more likely than the parts before.
    fn stepped(&self, at: &State) -> Result<(Vec<Part>, f64, usize)> {
        let now = self.expected(&at.parts);
        let mut restarts = at.restarts;
        if restarts < MOST_RESTARTS
            && let Some(moved) = self.restarted(&now, &at.parts, restarts)?
        {
            restarts += 1;
            let parts = self.maximised(&moved)?;
            let value = self.expected(&parts).value;
            if value > at.value {
                return Ok((parts, value, restarts));
            }
        }
        let parts = self.maximised(&now.probabilities)?;
        let value = self.expected(&parts).value;
        Ok((parts, value, restarts))
    }

    /// Probabilities with rows for the first empty part: those that are nearer to a subspace through rows around one of small likelihood, as
    /// in k-subspaces, than to any part with rows. `None` if no part is empty, or after as many
    /// attempts as there are such rows: each of the `tried` ones before began at the row next in this order.
    fn restarted(&self, now: &Expected, parts: &[Part], tried: usize) -> Result<Option<Matrix<f64>>> {
        let (n, k) = (self.table.n(), parts.len());
        let count = |c: usize| (0..n).map(|i| now.probabilities[(i, c)]).sum::<f64>();
        let (empty, others): (Vec<usize>, Vec<usize>) = (0..k).partition(|&c| count(c) < EMPTY);
        let Some(&c) = empty.iter().find(|&&c| self.dimensions[c] > 0) else { return Ok(None) };
        let nearest = |i: usize| {
            let each = others.iter().map(|&other| squared_distance(&parts[other], self.table.x.row(i)));
            each.fold(f64::INFINITY, f64::min)
        };
        let far: Vec<f64> = (0..n).map(nearest).collect();
        // Rows in the subspace of a part, up to rounding errors, are no reason for another one.
        let least = |i: usize| 1e-20 * self.table.squares[i].max(f64::MIN_POSITIVE);
        let mut worst: Vec<usize> = (0..n).filter(|&i| far[i] > least(i)).collect();
        let of = &now.log_likelihoods;
        worst.sort_by(|&a, &b| of[a].total_cmp(&of[b]).then(a.cmp(&b)));
        let Some(&i) = worst.get(tried) else { return Ok(None) };
        // With a mean of its own, a part of `d` dimensions is determined by a row more.
        let around = self.table.around(i, self.dimensions[c] + usize::from(self.means));
        let mut alone = Matrix::zeros(n, k);
        around.iter().for_each(|&i| alone[(i, c)] = 1.0);
        let start = self.part(&alone, c)?;
        let mut moved = now.probabilities.clone();
        for i in (0..n).filter(|&i| squared_distance(&start, self.table.x.row(i)) < far[i]) {
            moved.row_mut(i).fill(0.0);
            moved[(i, c)] = 1.0;
        }
        Ok(Some(moved))
    }

    /// The E-step.
    fn expected(&self, parts: &[Part]) -> Expected {
        let (n, p, k) = (self.table.n(), self.table.p(), parts.len());
        let mixture = mixture(parts, &vec![0.0; p]);
        let mut joint = Matrix::zeros(n, k);
        let blocks = joint
            .as_mut_slice()
            .chunks_mut(ROWS_PER_TASK * k)
            .zip(self.table.x.as_slice().chunks(ROWS_PER_TASK * p));
        let values: Vec<Vec<f64>> = parallel::map(blocks, |(joint, x)| {
            mixture.log_joint(x, joint, &mut Workspace::default());
            joint.chunks_exact_mut(k).map(Mixture::normalise).collect()
        });
        let log_likelihoods = values.concat();
        let value = log_likelihoods.iter().sum::<f64>() / n as f64;
        Expected { probabilities: joint, log_likelihoods, value }
    }

    /// The M-step: the parts of maximum likelihood, given these probabilities.
    fn maximised(&self, probabilities: &Matrix<f64>) -> Result<Vec<Part>> {
        (0..self.dimensions.len()).map(|c| self.part(probabilities, c)).collect()
    }

    fn part(&self, probabilities: &Matrix<f64>, c: usize) -> Result<Part> {
        let (n, p, x) = (self.table.n(), self.table.p(), &self.table.x);
        let rows: Vec<usize> = (0..n).filter(|&i| probabilities[(i, c)] > 0.0).collect();
        let count: f64 = rows.iter().map(|&i| probabilities[(i, c)]).sum();
        let mut mean = vec![0.0; p];
        if self.means && count > 0.0 {
            for &i in &rows {
                let share = probabilities[(i, c)] / count;
                mean.iter_mut().zip(x.row(i)).for_each(|(m, x)| *m += share * x);
            }
        }
        let mut weighted = Vec::with_capacity(rows.len() * p);
        for &i in &rows {
            let root = probabilities[(i, c)].sqrt();
            weighted.extend(x.row(i).iter().zip(&mean).map(|(x, m)| root * (x - m)));
        }
        let total = weighted.iter().map(|x| x * x).sum::<f64>() / count.max(f64::MIN_POSITIVE);
        let (values, axes) = principal(&Matrix::from_vec(rows.len(), p, weighted))?;
        let d = self.dimensions[c].min(values.len());
        let along: Vec<f64> = values[..d].iter().map(|v| v / count).collect();
        let floor =
            (NOISE_FLOOR_SHARE * total / p as f64).max(FLOOR_OF_ALL * self.table.total / (n * p) as f64);
        let left = (total - along.iter().sum::<f64>()) / (p - d).max(1) as f64;
        // The difference of two nearly equal numbers has no correct digits: it is only known to be small.
        let noise = if d < p { left.max(floor) } else { floor };
        let variance = along.into_iter().map(|v| v.max(noise)).collect();
        Ok(Part { weight: count / n as f64, mean, axes: axes.top_rows(d), variance, noise })
    }
}

/// The squared distance of a row from the subspace of a part, through its mean; of the residual itself, because a difference of squares cancels.
fn squared_distance(part: &Part, row: &[f64]) -> f64 {
    let mut left: Vec<f64> = row.iter().zip(&part.mean).map(|(x, m)| x - m).collect();
    for a in 0..part.axes.rows() {
        let axis = part.axes.row(a);
        let along: f64 = left.iter().zip(axis).map(|(x, v)| x * v).sum();
        left.iter_mut().zip(axis).for_each(|(x, v)| *x -= along * v);
    }
    left.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::datasets::union_of_subspaces;
    use crate::metrics::clustering_accuracy;

    /// The mixture from clusters of which the last one has no row, because its rows begin in the cluster before.
    fn from_an_empty_part(means: bool, threads: usize) -> (Vec<usize>, MixtureResult) {
        let made = union_of_subspaces(&[80, 80, 80], 15, &[2, 2, 2], 0.05, 4).unwrap();
        let rows = Rows::from_slice(made.x.as_slice(), 15).unwrap();
        let run = Run { threads, ..Run::default() };
        let found = rows.pooled(run.threads, || {
            let table = Table::read("subspace-clustering", &rows, means, &run)?;
            let clusters = SubspaceFit {
                bases: vec![Matrix::zeros(2, 15); 3],
                labels: made.labels.iter().map(|c| (*c).min(1)).collect(),
                cost: 0.0,
                fall: 0.0,
            };
            let limits = Limits { tol: 1e-8, max_iter: 500 };
            let search = PpcaMixture { table: &table, dimensions: &[2, 2, 2], means, limits };
            search.search(InitialMixture::Clusters(&clusters), &run)
        });
        (made.labels, found.unwrap())
    }

    #[test]
    fn an_empty_part_is_restarted_at_rows_that_are_explained_badly() {
        for means in [false, true] {
            let (labels, found) = from_an_empty_part(means, 1);
            let weights: Vec<f64> = found.parts.iter().map(|part| part.weight).collect();
            assert!(weights.iter().all(|weight| *weight > 0.2), "means={means}: {weights:?}");
            let accuracy = clustering_accuracy(&labels, &found.labels);
            assert!(accuracy > 0.95, "means={means}: {accuracy}");
            let objective = &found.objective;
            assert!(objective.windows(2).all(|w| w[1] >= w[0]), "means={means}: {objective:?}");
            // The same bits on any threads.
            let again = from_an_empty_part(means, 3).1;
            let bits = |of: &MixtureResult| of.objective.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
            assert_eq!(bits(&found), bits(&again), "means={means}");
        }
    }

    #[test]
    fn a_part_remains_empty_if_no_restart_is_more_likely() {
        // All rows are in one direction, so that every part would have the same.
        let x: Vec<f64> = (1..=40).flat_map(|i| [f64::from(i), 2.0 * f64::from(i), -f64::from(i)]).collect();
        let rows = Rows::from_slice(&x, 3).unwrap();
        let run = Run::default();
        let table = Table::read("subspace-clustering", &rows, false, &run).unwrap();
        let clusters =
            SubspaceFit { bases: vec![Matrix::zeros(1, 3); 2], labels: vec![0; 40], cost: 0.0, fall: 0.0 };
        let limits = Limits { tol: 1e-8, max_iter: 50 };
        let search = PpcaMixture { table: &table, dimensions: &[1, 1], means: false, limits };
        let found = search.search(InitialMixture::Clusters(&clusters), &run).unwrap();
        assert!(found.labels.iter().all(|label| *label == found.labels[0]));
        assert!(found.parts.iter().all(|part| part.weight.is_finite()));
        assert!(found.objective.windows(2).all(|w| w[1] >= w[0]), "{:?}", found.objective);
    }
}
