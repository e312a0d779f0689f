//! Algorithms with a monotone objective: codes of all rows are kept in memory, and each E-step starts from those of the previous
//! one.

use super::plain::{State, rounded};
use super::{EStep, FitResult, Task, in_iteration};
use crate::data::Rows;
use crate::error::Result;
use crate::num::{Dtype, Matrix, Real};
use crate::rectified::cascade::{CANDIDATES, Candidate, CandidateSearch, project};
use crate::rectified::coordinate::{CoordinateProblem, Violation, convex};
use crate::rectified::statistics::Expected;
use crate::rectified::{GatherStoredCodes, Posterior, Statistics, StoredCodes};
use crate::run::Run;
use crate::solve::Steps;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Maximum number of rounds for the final codes, and number of rounds between two evaluations of their certificate.
const MOST_ROUNDS: usize = 500;
const ROUNDS_BETWEEN_CERTIFICATES: usize = 4;

/// Maximum cost of a candidate that is computed row by row, in products of pairs of units, as a multiple of a pass.
const LARGEST_COST_IN_PASSES: f64 = 20.0;

/// State at the beginning of an iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: serde::de::DeserializeOwned"))]
struct Search<T> {
    at: State,
    /// Codes; none before the first E-step.
    codes: Option<StoredCodes<T>>,
    /// Covariance of the posterior in the previous iteration, and its log determinant, if needed.
    before: Option<(Matrix<f64>, f64)>,
    /// Number of times that each kind of candidate was accepted.
    #[serde(rename = "rungs")]
    candidates: Vec<u64>,
}

impl Task<'_> {
    pub(super) fn iterate_guaranteed<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        start: u64,
        run: &Run<'_>,
    ) -> Result<FitResult> {
        let first = || {
            let at = State::new(self.start(rows, start, run)?);
            Ok(Search::<T> { at, codes: None, before: None, candidates: vec![0; CANDIDATES.len()] })
        };
        let (mut steps, mut search) = Steps::begin(run, "rectified factors", self.limits(), first)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(search.at.rest()) {
                break outcome;
            }
            let value = in_iteration(self.exact_iteration(rows, &mut search, run), steps.n_iter() + 1)?;
            steps.ended(search.at.residual, Some(value), &search)?;
        };
        let n_iter = steps.n_iter();
        let objective = steps.into_objective();
        in_iteration(self.solved(rows, search, (outcome, n_iter), objective, run), n_iter)
    }

    fn exact_iteration<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        search: &mut Search<T>,
        run: &Run<'_>,
    ) -> Result<f64> {
        let parameters = &search.at.parameters;
        let posterior = parameters.posterior(self.prior)?;
        let g = parameters.precision(&posterior.a, self.prior);
        let codes = match self.spec.e_step {
            EStep::Cascade => self.cascade_codes(rows, search, (&posterior, &g), run)?,
            _ => self.rounded_once(rows, search, (&posterior, &g), run)?,
        };
        let stats = self.held_statistics(rows, &codes, run)?;
        let value = self.moved(&mut search.at, &posterior, &stats)?;
        search.codes = Some(codes);
        if self.spec.accept == super::Accept::Kl {
            search.before = Some((posterior.sigma, posterior.log_sigma));
        }
        Ok(value)
    }

    /// Moments of codes in memory.
    fn held_statistics<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        codes: &StoredCodes<T>,
        run: &Run<'_>,
    ) -> Result<Statistics> {
        let gather = GatherStoredCodes { center: &self.row_moments.center, codes };
        let sums = rows.sweep(run, "sums of codes", &gather)?;
        Ok(Statistics::scaled(&sums, vec![1.0; codes.n_units()]))
    }

    /// Posterior means of all rows.
    fn means<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        posterior: &Posterior,
        run: &Run<'_>,
    ) -> Result<StoredCodes<T>> {
        let mut means = StoredCodes::zeros(rows.n_rows().unwrap_or(0) as usize, posterior.b.cols());
        means.fill(rows, (&self.row_moments.center, &posterior.b, &posterior.bias), run)?;
        Ok(means)
    }

    /// `R = (X - center) A + xi / T`.
    fn right<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        posterior: &Posterior,
        run: &Run<'_>,
    ) -> Result<StoredCodes<T>> {
        let l = posterior.a.cols();
        let mut right = StoredCodes::zeros(rows.n_rows().unwrap_or(0) as usize, l);
        let bias = vec![self.prior.mean / self.prior.variance; l];
        right.fill(rows, (&self.row_moments.center, &posterior.a, &bias), run)?;
        Ok(right)
    }

    fn rounded_once<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        search: &mut Search<T>,
        (posterior, g): (&Posterior, &Matrix<f64>),
        run: &Run<'_>,
    ) -> Result<StoredCodes<T>> {
        let mut codes = match search.codes.take() {
            Some(codes) => codes,
            None => {
                let mut codes = self.means(rows, posterior, run)?;
                project(&mut codes, self.how, self.row_moments.n, rows.weights());
                codes
            }
        };
        let r = self.right(rows, posterior, run)?;
        let (dead, weights) = (vec![false; codes.n_units()], rows.weights());
        let problem =
            CoordinateProblem { r: &r, g, n: self.row_moments.n, how: self.how, weights, dead: &dead };
        search.at.one_hot += problem.round(&mut codes).one_hot.len() as u64;
        Ok(codes)
    }

    fn cascade_codes<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        search: &mut Search<T>,
        (posterior, g): (&Posterior, &Matrix<f64>),
        run: &Run<'_>,
    ) -> Result<StoredCodes<T>> {
        let means = self.means(rows, posterior, run)?;
        let Some(before) = search.codes.take() else {
            let mut codes = means;
            project(&mut codes, self.how, self.row_moments.n, rows.weights());
            search.candidates[0] += 1;
            return Ok(codes);
        };
        // The covariance part of the divergence at the end of the previous iteration.
        let allowance = match &search.before {
            Some((sigma, log_sigma)) => {
                let trace: f64 = g.as_slice().iter().zip(sigma.as_slice()).map(|(a, b)| a * b).sum();
                0.5 * (trace - g.rows() as f64 - log_sigma + posterior.log_sigma)
            }
            None => 0.0,
        };
        let (n, m, l) = (self.row_moments.n, posterior.b.rows() as f64, g.rows() as f64);
        let all: Vec<Candidate> = CANDIDATES.iter().map(|(candidate, _)| *candidate).collect();
        // The reduced candidate factors a matrix for every row.
        let expensive = n * l.powi(3) / 12.0 > LARGEST_COST_IN_PASSES * n * l * (4.0 * m + l);
        let candidates: Vec<Candidate> =
            all.iter().copied().filter(|r| !(expensive && *r == Candidate::Reduced)).collect();
        let descent = CandidateSearch {
            p: &means,
            mu: &before,
            g,
            n,
            weights: rows.weights(),
            how: self.how,
            allowance,
            candidates: &candidates,
        };
        let (codes, candidate) = descent.first_decrease();
        let at = all.iter().position(|r| *r == candidate).unwrap_or(0);
        search.candidates[at] += 1;
        Ok(codes)
    }

    /// The final codes: rounds with the final parameters until the certificate holds, or the run ends early.
    fn solved<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        search: Search<T>,
        (outcome, n_iter): (crate::Outcome, u64),
        objective: Vec<f64>,
        run: &Run<'_>,
    ) -> Result<FitResult> {
        let Search { at, codes, candidates, .. } = search;
        let parameters = rounded::<T>(&at.parameters);
        let posterior = parameters.posterior(self.prior)?;
        let g = parameters.precision(&posterior.a, self.prior);
        let mut codes = match codes {
            Some(codes) => codes,
            None => {
                let mut codes = self.means(rows, &posterior, run)?;
                project(&mut codes, self.how, self.row_moments.n, rows.weights());
                codes
            }
        };
        let r = self.right(rows, &posterior, run)?;
        run.stage("last codes")?;
        let ended = self.last_rounds(&mut codes, (&r, &g), rows.weights(), run)?;
        let stats = self.held_statistics(rows, &codes, run)?;
        let s = stats.second_moments(&posterior);
        let expected = Expected::new(&parameters.w, &stats, &s, &self.row_moments.c);
        let value = stats.objective(&parameters, &posterior, self.prior, &expected);
        let mut more = Map::new();
        if self.spec.e_step == EStep::Cascade {
            let each = CANDIDATES.iter().zip(&candidates).map(|((_, name), n)| (name.to_string(), json!(n)));
            more.insert("rungs".into(), Value::Object(each.collect()));
        }
        more.insert(
            "certificate".into(),
            json!({
                "violation": ended.violation.worst, "gap": ended.violation.gap, "tol": tolerance::<T>(),
                "rounds": ended.rounds, "least_eigenvalue": ended.least, "clipped": ended.clipped,
            }),
        );
        Ok(FitResult {
            parameters,
            posterior,
            scale: ended.scale,
            stats,
            objective,
            value,
            outcome: if ended.cut { run.early_outcome() } else { self.outcome(outcome) },
            n_iter,
            sweeps: 2 * n_iter + 2 + self.row_moments.sweeps,
            residual: at.residual,
            falls: at.falls,
            jittered: at.jittered,
            one_hot: at.one_hot,
            more,
        })
    }

    fn last_rounds<T: Real>(
        &self,
        codes: &mut StoredCodes<T>,
        (r, g): (&StoredCodes<T>, &Matrix<f64>),
        weights: Option<&[f64]>,
        run: &Run<'_>,
    ) -> Result<FinalRounds> {
        let l = codes.n_units();
        let mut dead = vec![false; l];
        let mut ended = FinalRounds::default();
        while ended.rounds < MOST_ROUNDS {
            let problem =
                CoordinateProblem { r, g, n: self.row_moments.n, how: self.how, weights, dead: &dead };
            let round = problem.round(codes);
            ended.rounds += 1;
            run.check()?;
            // A code that is positive in one row only and has no positive gradient elsewhere solves no convex problem: such a unit
            // is dead.
            if !round.one_hot.is_empty() {
                round.one_hot.iter().for_each(|&j| dead[j] = true);
                continue;
            }
            ended.scale = round.scale;
            let early = run.ends_early();
            if ended.rounds % ROUNDS_BETWEEN_CERTIFICATES == 0
                || ended.rounds == MOST_ROUNDS
                || round.change == 0.0
                || early
            {
                ended.violation = problem.violation(codes, &ended.scale);
                let solved = ended.violation.worst <= tolerance::<T>() || round.change == 0.0;
                ended.cut = early && !solved;
                if solved || early {
                    break;
                }
            }
        }
        let (scale, least, clipped) = convex(g, &ended.scale, 1.0 / self.prior.variance);
        if clipped {
            let problem =
                CoordinateProblem { r, g, n: self.row_moments.n, how: self.how, weights, dead: &dead };
            ended.violation = problem.violation(codes, &scale);
        }
        Ok(FinalRounds { scale, least, clipped, ..ended })
    }
}

/// Result of the final rounds.
struct FinalRounds {
    scale: Vec<f64>,
    violation: Violation,
    rounds: usize,
    least: f64,
    clipped: bool,
    /// Whether the run ended early, before the certificate held.
    cut: bool,
}

impl Default for FinalRounds {
    fn default() -> Self {
        let violation = Violation { worst: f64::INFINITY, gap: f64::INFINITY };
        Self { scale: Vec::new(), violation, rounds: 0, least: f64::NAN, clipped: false, cut: false }
    }
}

/// Tolerance on the violation of a code that counts as solved.
fn tolerance<T: Real>() -> f64 {
    match T::DTYPE {
        Dtype::F64 => 1e-8,
        Dtype::F32 => 1e-4,
    }
}
