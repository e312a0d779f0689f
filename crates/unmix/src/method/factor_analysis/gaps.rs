//! Rows with missing cells: expectation-maximisation, for few columns over the cells, for many over the factors.
//!
//! ```text
//! cells:   S = sum E[(x - m)(x - m)'] and m = sum E[x] over the rows, given their cells; then a step of Newton's method on the uniquenesses given S
//! factors: loadings, means and uniquenesses given the posteriors of the factors, with parameter expansion (PX-EM)
//! ```
//!
//! If few cells are missing, they hold less missing information than the factors, so the first needs fewer iterations (7 and 20 to 1e-6
//! nats with 10 and 30 % of the cells missing, where the second needs 168 and 406), but a `p x p` matrix.

use super::likelihood::{Moments, Point};
use super::model::Fitted;
use super::row_moments::{Incomplete, RowMoments};
use super::search::{Problem, SearchResult};
use super::settings::{FactorAlgorithm, FactorAnalysis, FactorPrior, NoiseFloor};
use super::sparse;
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::method::ppca;
use crate::model::Model;
use crate::num::random::Stream;
use crate::num::{Matrix, Real, factor};
use crate::run::{Outcome, Run};
use crate::solve::{Limits, Steps};
use crate::spectrum::{Components, Rule};
use crate::stats::GatherChecksum;
use crate::stats::gaps::{
    ExpectedMoments, FactorSums, GatherFactors, GatherFilled, GatherMoments, LinearGaussian, Maximised,
    ObservedCells as Cells, symmetric,
};
use serde::{Deserialize, Serialize};

/// Maximum number of columns for iterations over the cells.
const MOST_COLUMNS: usize = 1000;

/// State of the iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    model: LinearGaussian,
    /// Standard deviations of the columns that vary, as estimated in the last step.
    scales: Vec<f64>,
    /// Logarithms of the smallest uniquenesses, as fractions of the squares of these.
    low: Vec<f64>,
    value: Option<f64>,
    rise: Option<f64>,
    residual: f64,
}

/// The sums of one pass, under the current parameters.
enum Sums {
    Cells(ExpectedMoments),
    Factors(FactorSums),
}

impl Sums {
    fn log_likelihood(&self) -> f64 {
        match self {
            Sums::Cells(sums) => sums.log_density,
            Sums::Factors(sums) => sums.log_density,
        }
    }
}

/// The data of the fit.
struct Gaps<'a> {
    spec: &'a FactorAnalysis,
    cells: &'a Cells,
    /// Columns that vary.
    varying: Vec<usize>,
    /// Standard deviations of the cells of all columns, 1 where these do not vary.
    unit: Vec<f64>,
    q: usize,
    /// Number of rows with an observed cell.
    n: f64,
    /// Whether there are more rows than columns, so that residual variances of columns given the others can be estimated.
    tall: bool,
    over_cells: bool,
}

fn no_parallel(origin: &str) -> Error {
    let why = format!("{origin} has missing cells, and parallel analysis needs complete columns");
    Error::setting("n_components", "'parallel'", why, "choose a number, 'bic' or 'cells'")
}

impl FactorAnalysis {
    /// Fits rows with missing cells.
    pub(super) fn fit_gaps<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        by_rule: Option<usize>,
        run: &Run<'_>,
    ) -> Result<Model> {
        if self.prior != FactorPrior::None {
            return Err(sparse::needs_cells(self.prior, rows.origin()));
        }
        let cells = ppca::cells_of("factor-analysis", rows, run)?;
        let most = cells.n_rows().min(rows.n_features() as u64) as usize;
        let at = |q: usize| self.searched_gaps(rows, &cells, q, run);
        // A model to start from must have as many factors as requested; if a rule chooses the number, it starts fits of at most as many factors as it has.
        let of = |q: usize| run.initial_components(rows.n_features(), q).and_then(|_| at(q));
        let (q, (mut row_moments, low, found)) = match self.n_components {
            Components::Count(q) => {
                ppca::check_count_of_cells(q, most, &cells, rows.origin())?;
                (q, of(q)?)
            }
            Components::Rule(Rule::Parallel) => return Err(no_parallel(rows.origin())),
            Components::Rule(Rule::Cells | Rule::Aic) => {
                let q = by_rule.unwrap_or(0);
                (q, at(q)?)
            }
            Components::Rule(_) => {
                // Constant columns have no parameters.
                let varying = cells.squares.iter().filter(|s| **s > 0.0).count();
                let q = self.least_bic_of(cells.n - cells.empty, varying, most, |q| {
                    Ok(at(q)?.2.log_likelihood.last().copied().unwrap_or(f64::NEG_INFINITY))
                })?;
                (q, at(q)?)
            }
            _ => (most, of(most)?),
        };
        let checksum = rows.sweep(run, "checksum", &GatherChecksum)?.checksum();
        row_moments.gaps = Some(Incomplete { checksum, empty: cells.empty, sweeps: found.n_iter + 4 });
        run.stage("rotation")?;
        let problem = Problem {
            moments: &row_moments.moments,
            n: row_moments.n,
            q,
            high: vec![0.0; low.len()],
            low,
            units: 0.0,
        };
        self.model(
            &Fitted { row_moments: &row_moments, problem: &problem, found, q, features: rows.features() },
            run,
        )
    }

    /// The maximum of the likelihood for `q` factors: moments without a table, the logarithms of the smallest uniquenesses, and the result.
    fn searched_gaps<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        cells: &Cells,
        q: usize,
        run: &Run<'_>,
    ) -> Result<(RowMoments, Vec<f64>, SearchResult)> {
        let varying: Vec<usize> = (0..cells.mean.len()).filter(|&j| cells.squares[j] > 0.0).collect();
        let deviation = |j: usize| (cells.squares[j] / cells.count[j]).sqrt();
        let unit = (0..cells.mean.len()).map(|j| if cells.squares[j] > 0.0 { deviation(j) } else { 1.0 });
        let unit: Vec<f64> = unit.collect();
        let over_cells = varying.len() <= MOST_COLUMNS && self.algorithm == FactorAlgorithm::Newton;
        let n = cells.n - cells.empty;
        let (q, tall) = (q.min(varying.len()), n > cells.mean.len() as f64);
        Gaps { spec: self, cells, varying, unit, q, n, tall, over_cells }.search(rows, run)
    }
}

impl Gaps<'_> {
    fn search<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<(RowMoments, Vec<f64>, SearchResult)> {
        let limits = Limits { tol: self.spec.tol, max_iter: self.spec.max_iter };
        let (mut steps, mut at) =
            Steps::begin(run, "em over missing cells", limits, || self.start(rows, run))?;
        let mut sums = self.sums(rows, &at.model, run)?;
        let outcome: Outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            let (model, scales, low) = self.maximised(&at.model, &sums)?;
            sums = self.sums(rows, &model, run)?;
            let value = sums.log_likelihood();
            let rise = at.value.map(|before| value - before);
            let residual = residual(value, rise, at.rise);
            at = State { model, scales, low, value: Some(value), rise, residual };
            steps.ended(residual, Some(value), &at)?;
        };
        let (n_iter, mut log_likelihood) = (steps.n_iter(), steps.into_objective());
        if log_likelihood.is_empty() {
            log_likelihood.push(sums.log_likelihood());
        }
        let point = self.point(&at)?;
        let row_moments = RowMoments {
            n: self.n,
            mean: at.model.mean.clone(),
            n_constant: self.unit.len() - self.varying.len(),
            varying: self.varying.clone(),
            scales: at.scales,
            moments: Moments::Columns(Matrix::zeros(self.varying.len(), 0)),
            dtype: T::DTYPE,
            gaps: None,
        };
        row_moments.check()?;
        Ok((
            row_moments,
            at.low,
            SearchResult { point, outcome, n_iter, residual: at.residual, log_likelihood },
        ))
    }

    fn sums<T: Real>(&self, rows: &Rows<'_, T>, model: &LinearGaussian, run: &Run<'_>) -> Result<Sums> {
        Ok(match self.over_cells {
            true => {
                let gather = GatherMoments::new(model.clone(), self.unit.clone());
                Sums::Cells(rows.sweep(run, "expectations", &gather)?)
            }
            false => Sums::Factors(rows.sweep(run, "expectations", &GatherFactors::new(model.clone()))?),
        })
    }

    /// The initial state: a given model; or a step from the rows with missing cells filled by the mean, whose variances are corrected for this;
    /// or, for iterations over the factors, random loadings, and the given uniquenesses or half of the variances.
    fn start<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<State> {
        let (p, given) = (self.unit.len(), self.given(run)?);
        let scales: Vec<f64> = self.varying.iter().map(|&j| self.unit[j]).collect();
        let low = vec![self.floor(0.0).ln(); scales.len()];
        let whole = |model: LinearGaussian| State {
            model,
            scales: scales.clone(),
            low: low.clone(),
            value: None,
            rise: None,
            residual: f64::INFINITY,
        };
        if let Some(model) = given {
            return Ok(whole(model));
        }
        let mean = self.cells.mean.clone();
        if !self.over_cells {
            let draws = Stream::new(run.seed, 0);
            let size = (0.5 / self.q.max(1) as f64).sqrt();
            let vary = |j: usize| if self.cells.squares[j] > 0.0 { self.unit[j] } else { 0.0 };
            let loading = |j: usize, a: usize| vary(j) * size * draws.normal((j * self.q + a) as u64);
            let shares = self.given_shares(&scales);
            let mut noise = vec![0.0; p];
            for (i, &j) in self.varying.iter().enumerate() {
                let share = shares.as_ref().map_or(0.5, |shares| shares[i].max(self.floor(0.0)));
                noise[j] = share * self.unit[j] * self.unit[j];
            }
            return Ok(whole(LinearGaussian::new(mean, Matrix::from_fn(p, self.q, loading), noise)));
        }
        let gather = GatherFilled { mean: mean.clone(), unit: self.unit.clone() };
        let scatter = rows.sweep(run, "start", &gather)?;
        let entry = |i: usize, j: usize| {
            let missing = if i == j { 1.0 - self.cells.count[i] / self.n } else { 0.0 };
            scatter.lower[(i, j)] / self.n + missing
        };
        let (model, scales, low) = self.step(mean, entry, None)?;
        Ok(State { scales, low, ..whole(model) })
    }

    /// The initial uniquenesses of the settings, as fractions of the variances of the columns that vary, whose roots are `scales`.
    fn given_shares(&self, scales: &[f64]) -> Option<Vec<f64>> {
        let given = self.spec.noise_variance_init.as_deref()?;
        let share = |(&j, s): (&usize, &f64)| match self.spec.standardize {
            // They are those of columns that are divided by their standard deviations.
            true => given[j],
            false => given[j] / (s * s),
        };
        Some(self.varying.iter().zip(scales).map(|of| share(of).max(f64::MIN_POSITIVE)).collect())
    }

    /// The model given as a start, as loadings and noise of columns, if it has as many factors and a noise variance for each column.
    fn given(&self, run: &Run<'_>) -> Result<Option<LinearGaussian>> {
        let p = self.unit.len();
        let Some(components) = run.initial_components(p, 0)? else { return Ok(None) };
        let numbers = |name: &str, n: usize| {
            let found = run.init.and_then(|init| init.parameter(name)).map(|(_, numbers)| numbers);
            found.filter(|numbers| numbers.len() == n)
        };
        let k = components.rows();
        let own = numbers("rotation", p * k).zip(numbers("scale", k)).zip(numbers("noise_scale", p));
        let Some(((axes, scale), noise)) = own.filter(|_| k >= self.q) else { return Ok(None) };
        let vary = |j: usize| self.cells.squares[j] > 0.0;
        // Loadings of 0 would stay 0.
        let long = |a: usize| (scale[a] * scale[a] - 1.0).max(1e-2).sqrt();
        let root = |j: usize| match vary(j) {
            true => noise[j].max(1e-3 * self.unit[j]),
            false => 0.0,
        };
        let loadings = Matrix::from_fn(p, self.q, |j, a| root(j) * axes[j * k + a] * long(a));
        let mean = numbers("mean", p).unwrap_or_else(|| self.cells.mean.clone());
        let noise = (0..p).map(|j| root(j) * root(j)).collect();
        Ok(Some(LinearGaussian::new(mean, loadings, noise)))
    }

    /// The smallest uniqueness of a column with residual variance `left` given the others, both as fractions of its variance.
    fn floor(&self, left: f64) -> f64 {
        match self.spec.noise_floor {
            NoiseFloor::Share(share) => share,
            NoiseFloor::Auto(_) => (0.01 * left).max(1e-6),
        }
    }

    fn maximised(
        &self,
        before: &LinearGaussian,
        sums: &Sums,
    ) -> Result<(LinearGaussian, Vec<f64>, Vec<f64>)> {
        match sums {
            Sums::Cells(sums) => {
                let mean = sums.filled.mean.iter().zip(&sums.filled.rest).zip(&self.unit);
                let mean = mean.map(|((m, r), unit)| (m + r) * unit).collect();
                self.step(mean, |i, j| sums.covariance(i, j), Some(&before.noise))
            }
            Sums::Factors(sums) => Ok(self.step_of_factors(before, sums)),
        }
    }

    /// Newton's step on the uniquenesses, given the expected covariance of the rows in units of `unit`, and the best loadings there.
    fn step(
        &self,
        mean: Vec<f64>,
        covariance: impl Fn(usize, usize) -> f64,
        noise: Option<&[f64]>,
    ) -> Result<(LinearGaussian, Vec<f64>, Vec<f64>)> {
        let v = self.varying.len();
        let of = |i: usize, j: usize| covariance(self.varying[i], self.varying[j]);
        let lengths: Vec<f64> = (0..v).map(|i| of(i, i).sqrt()).collect();
        let entry = |i: usize, j: usize| if i == j { 1.0 } else { of(i, j) / lengths[i] / lengths[j] };
        let moments = Moments::Table(symmetric(v, entry));
        let scales: Vec<f64> = self.varying.iter().zip(&lengths).map(|(&j, l)| l * self.unit[j]).collect();
        let left = if self.tall { moments.left_by_others(f64::EPSILON) } else { None };
        let problem = Problem::new(self.spec, &moments, left.as_deref(), self.n, self.q, &scales);
        let share = 1.0 - self.q as f64 / (2.0 * v as f64);
        let given = match noise {
            Some(noise) => Some(self.varying.iter().zip(&scales).map(|(&j, s)| noise[j] / (s * s)).collect()),
            None => self.given_shares(&scales),
        };
        let mut x: Vec<f64> = match (given, &left) {
            _ if self.q == 0 => vec![0.0; v],
            (Some(shares), _) => shares.iter().map(|u: &f64| u.ln()).collect(),
            (None, Some(left)) => left.iter().map(|u| (share * u).max(f64::MIN_POSITIVE).ln()).collect(),
            (None, None) => vec![0.5f64.ln(); v],
        };
        problem.clip(&mut x);
        let at = moments.at(x, self.q)?;
        let step = problem.step(&at)?;
        let next = problem.along(&at, &step)?.unwrap_or(at);
        let low = problem.low;
        Ok((self.parameters(mean, &next, &scales), scales, low))
    }

    /// Loadings and noise of all columns, in their own units.
    fn parameters(&self, mean: Vec<f64>, point: &Point, scales: &[f64]) -> LinearGaussian {
        let (p, found) = (mean.len(), point.loadings());
        let mut loadings = Matrix::zeros(p, self.q);
        let mut noise = vec![0.0; p];
        for (i, (&j, s)) in self.varying.iter().zip(scales).enumerate() {
            (0..found.rows()).for_each(|a| loadings[(j, a)] = found[(a, i)] * s);
            noise[j] = point.log_psi[i].exp() * s * s;
        }
        LinearGaussian::new(mean, loadings, noise)
    }

    /// A step of EM over the factors.
    fn step_of_factors(
        &self,
        before: &LinearGaussian,
        sums: &FactorSums,
    ) -> (LinearGaussian, Vec<f64>, Vec<f64>) {
        let Maximised { mean, mut loadings, squares, cells } = sums.maximised(before);
        let (q, floor) = (self.q, self.floor(0.0));
        let mut noise = vec![0.0; mean.len()];
        let mut scales = Vec::with_capacity(self.varying.len());
        for (j, w) in loadings.chunks_exact_mut(q.max(1)).enumerate() {
            if self.cells.squares[j] == 0.0 {
                w.fill(0.0);
            }
        }
        for &j in &self.varying {
            let common: f64 = loadings[j * q..(j + 1) * q].iter().map(|w| w * w).sum();
            let variance = self.cells.squares[j] / self.cells.count[j];
            noise[j] = (squares[j] / cells[j]).max(floor * variance);
            scales.push((common + noise[j]).sqrt());
        }
        let low = scales.iter().zip(&self.varying);
        let low = low.map(|(s, &j)| (floor * self.cells.squares[j] / self.cells.count[j] / (s * s)).ln());
        let low = low.collect();
        (LinearGaussian { mean, loadings, noise }, scales, low)
    }

    /// The factors in decreasing order of their eigenvalues, uncorrelated given the rows.
    fn point(&self, at: &State) -> Result<Point> {
        let (v, q) = (self.varying.len(), self.q);
        let noise = |i: usize| at.model.noise[self.varying[i]];
        let log_psi: Vec<f64> =
            at.scales.iter().enumerate().map(|(i, s)| (noise(i) / (s * s)).ln()).collect();
        let scaled =
            Matrix::from_fn(v, q, |i, a| at.model.loadings[self.varying[i] * q + a] / noise(i).sqrt());
        let (theta, w) = match q {
            0 => (Vec::new(), Matrix::zeros(0, v)),
            _ => {
                let (axes, triangle) = factor::orthonormal_rows_and_triangle(&scaled.transposed());
                let (singular, right) = factor::svd_right(&triangle)?;
                (singular.iter().map(|s| 1.0 + s * s).collect::<Vec<f64>>(), factor::multiply(&right, &axes))
            }
        };
        let k = theta.iter().take_while(|t| **t > 1.0 + 1e-12 * theta[0]).count();
        let value = log_psi.iter().sum::<f64>();
        Ok(Point { log_psi, value, gradient: vec![0.0; v], theta, w, k })
    }
}

/// The remaining increase of the log-likelihood, extrapolated geometrically from the last two increases; 0 if the last one is below
/// rounding errors.
pub(super) fn residual(value: f64, rise: Option<f64>, before: Option<f64>) -> f64 {
    let Some(rise) = rise.map(f64::abs) else { return f64::INFINITY };
    if rise <= 64.0 * f64::EPSILON * value.abs() {
        return 0.0;
    }
    match before.map(f64::abs) {
        None => f64::INFINITY,
        Some(before) => rise / (1.0 - (rise / before).min(0.999)),
    }
}
