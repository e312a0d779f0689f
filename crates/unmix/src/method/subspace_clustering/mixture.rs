//! A mixture of probabilistic PCA (Tipping & Bishop 1999): subspaces with noise, and the probability that a row belongs to each, by
//! expectation-maximisation.
//!
//! ```text
//! p(x) = Σ_k w_k N(x; m_k, U_k' diag(v_k - s_k) U_k + s_k I)
//! ```
//!
//! The means `m_k` are 0 unless rows are centred. The M-step computes, for each part, the leading eigenvectors of the covariance of the rows
//! weighted by their probabilities of the part: the closed form of probabilistic PCA. The likelihood never decreases.

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
const FLOOR: f64 = 1e-6;
const FLOOR_OF_ALL: f64 = 1e-10;
/// Rows that one thread processes at a time.
const PART: usize = 256;

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
            let value = self.expected(&parts).1;
            Ok(State { parts, value, rise: f64::INFINITY })
        };
        let (mut steps, mut at) = Steps::begin(run, "mixture", self.limits, first)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.rise) {
                break outcome;
            }
            let parts = self.maximised(&self.expected(&at.parts).0)?;
            let value = self.expected(&parts).1;
            // The likelihood decreases only through rounding errors.
            if value <= at.value {
                at.rise = 0.0;
                break Outcome::Converged;
            }
            at = State { parts, value, rise: value - at.value };
            steps.ended(at.rise, Some(value), &at)?;
        };
        let joint = self.expected(&at.parts).0;
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

    /// The E-step: posterior probabilities of the parts for every row, and the mean log-likelihood of a row.
    fn expected(&self, parts: &[Part]) -> (Matrix<f64>, f64) {
        let (n, p, k) = (self.table.n(), self.table.p(), parts.len());
        let mixture = mixture(parts, &vec![0.0; p]);
        let mut joint = Matrix::zeros(n, k);
        let blocks = joint.as_mut_slice().chunks_mut(PART * k).zip(self.table.x.as_slice().chunks(PART * p));
        let values: Vec<Vec<f64>> = parallel::map(blocks, |(joint, x)| {
            mixture.log_joint(x, joint, &mut Workspace::default());
            joint.chunks_exact_mut(k).map(Mixture::normalise).collect()
        });
        (joint, values.iter().flatten().sum::<f64>() / n as f64)
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
        let floor = (FLOOR * total / p as f64).max(FLOOR_OF_ALL * self.table.total / (n * p) as f64);
        let left = (total - along.iter().sum::<f64>()) / (p - d).max(1) as f64;
        // The difference of two nearly equal numbers has no correct digits: it is only known to be small.
        let noise = if d < p { left.max(floor) } else { floor };
        let variance = along.into_iter().map(|v| v.max(noise)).collect();
        Ok(Part { weight: count / n as f64, mean, axes: axes.top_rows(d), variance, noise })
    }
}
