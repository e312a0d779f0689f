//! RICA: sparse features from which rows can be reconstructed; their number is free.
//!
//! **Finds** rows `w_j` of a `k x d` matrix `W` such that `y = W z` is sparse and `W'y` is near `z`, for coordinates `z` of a row:
//! whitened ones, or those of the columns.
//! **Model** minimises `E ||W'W z - z||² + beta E Σ_j g(w_j z)`, with `g` log cosh or `sqrt(y² + 0.01)`. Le et al. put the weight on the
//! reconstruction error: their `lambda` is `1 / beta`.
//! **Algorithm** (Le et al. 2011):
//!  1. one pass for mean and second moments, and their spectrum: rank, white coordinates, the weight `beta`.
//!     With fewer rows than ten times the rank, only as many leading directions are whitened as there are
//!     features (a tenth of the rows if no number is given): in more directions a feature could fit a single
//!     row. Without whitening, columns are divided by the root mean square of all entries if `beta` is chosen
//!     from the data, so that the result does not depend on their units;
//!  2. limited-memory BFGS (`solve::lbfgs`) with a pass over the rows for each value and gradient (`cost.rs`);
//!     whitening is folded into `W`, so that passes are over the rows themselves and nothing is copied;
//!  3. where features have length 1, the function of `w_j / ||w_j||` (their procedure 1, with the exact gradient; what the text
//!     calls a ball is the sphere): steps only lengthen `w_j`, which gets length 1 again every 50 iterations;
//!  4. with `batch_size`, five steps on each mini-batch instead; the result is the mean of the features after the mini-batches of the
//!     last epoch (`batches.rs`);
//!  5. the pseudo-inverse decodes; features are in canonical order, by the variance of their back-projections, and have canonical signs.
//!
//! **Cost** `4 n k p` operations a pass, about 1.1 passes an iteration; memory of `40 k d` numbers in
//! addition to the rows.
//! **Equals** ICA as `beta` goes to 0, in whitened coordinates, `k = d`: orthonormality is then a constraint (lemmas 3.1 and
//! 3.2 of the paper). There `W = a Q` with `4 a (a² - 1) + beta E[s g'(a s)] = 0` for a source `s`.
//! **Fails** to find atoms of an overcomplete dictionary: many features are duplicates; `coherence` measures
//! this. Where `beta` exceeds `4 / g''(0)`, all features may collapse to 0: the outcome is then "collapsed".
//!
//! Q. V. Le, A. Karpenko, J. Ngiam & A. Y. Ng (2011), ICA with reconstruction cost for efficient overcomplete feature learning, NIPS.

mod batches;
mod coordinates;
mod cost;
mod model;
mod settings;

use super::{Accepts, Fit, Method, needs};
use crate::data::{Rows, check_n_rows};
use crate::error::{Error, Result, counted};
use crate::machine::check_memory;
use crate::model::{Code, ComponentRole, Model, Outcome, constant_columns};
use crate::num::random::Stream;
use crate::num::{Dtype, Matrix, Real, factor};
use crate::run::Run;
use crate::solve::lbfgs::Lbfgs;
use crate::spectrum::{self, Bounds, Coordinates};
use batches::ByBatches;
use coordinates::{FEW_ROWS_PER_DIRECTION, Requested, coordinates, whitened};
use cost::{Cost, lengths, scaled};
use model::Fitted;
use serde_json::{Map, Value};
use settings::SETTINGS;

#[doc(inline)]
pub use crate::elementwise::Penalty;
pub use settings::{Beta, Rica, UnitNorm};

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "rica",
    class: "RICA",
    summary: "sparse features that reconstruct the rows, possibly more features than columns",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: true, stream: true, remote: true, missing: false },
    by_independence: true,
    of_signals: false,
    random_start: true,
    select_by_variances: false,
    to_compare: &[],
    equals: &["beta near 0, whiten=true, as many features as directions: ICA"],
    references: &["Le, Karpenko, Ngiam & Ng 2011"],
    spec: |given| Ok(Box::new(Rica::from_settings(given)?)),
    code: |settings, tensors| Code::of_linear(settings, tensors, ComponentRole::Filters),
    density: None,
    memory: |n, p| {
        let rank = p.min(usize::try_from(n).unwrap_or(usize::MAX));
        let d = whitened(n as f64, rank, None);
        // Square tables of all directions, and tables of those in which features are learned.
        let searched = needs::of_fit(d as u64, p, 20).saturating_add(needs::of_threads(d as u64, p, 5));
        // Axes of all directions while they are computed and afterwards, features, and their decoder.
        let tables = (rank as u64).saturating_mul(p as u64).saturating_mul(4 * 8);
        vec![("l-bfgs", spectrum::memory(n, p).saturating_add(searched).saturating_add(tables))]
    },
};

/// Number of stored pairs (memory of L-BFGS).
const STORED_STEPS: usize = 20;

/// Memory in bytes of a search for `k` features of `d` coordinates.
fn search_memory(k: usize, d: usize) -> u64 {
    // The stored pairs, two tables each, and points, gradients and sums over rows.
    (k as u64).saturating_mul(d as u64).saturating_mul(8 * (2 * STORED_STEPS as u64 + 16))
}

/// The problem of a fit: coordinates, and the settings that depend on them.
struct Task {
    coordinates: Coordinates,
    k: usize,
    unit: bool,
    beta: f64,
    warnings: Vec<String>,
}

impl Rica {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of RICA's settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Fits. Rows from a one-pass source are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column that varies, settings outside their domain, what the source
    /// reports. Constant columns, a deficient rank and features that all collapse to 0 are not errors; the report mentions them.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        self.check(rows)?;
        let model = rows.pooled(run.threads, || self.fit_prepared(rows, run))?;
        Ok(model.of_weighted_rows(rows.weighted_rows()))
    }

    /// The objective of a fit, and its gradient, at features `w`: `k x d` numbers in the coordinates of the fit, which are whitened
    /// ones in the order of PCA's components where `whiten`, else the columns.
    ///
    /// # Errors
    ///
    /// Those of [`fit`](Self::fit); features whose length is not the number of coordinates.
    pub fn cost<T: Real>(
        &self,
        rows: &mut Rows<'_, T>,
        w: &Matrix<f64>,
        run: &Run<'_>,
    ) -> Result<(f64, Matrix<f64>)> {
        METHOD.check(self)?;
        METHOD.check_rows(rows, run)?;
        let named = Self { n_components: Some(w.rows()), ..self.clone() };
        named.check(rows)?;
        rows.pooled(run.threads, || {
            let task = named.task(rows, run)?;
            if w.rows() != task.k {
                return Err(Error::unsupported(
                    format!("the cost of {}", counted(w.rows() as u64, "feature")),
                    format!(
                        "rows of {} have at most {}",
                        counted(task.coordinates.k() as u64, "coordinate"),
                        task.k
                    ),
                    "give fewer features",
                ));
            }
            if w.cols() != task.coordinates.k() {
                return Err(Error::Width {
                    what: "features".into(),
                    need: task.coordinates.k(),
                    got: w.cols(),
                    remedy: "give a number for each coordinate".into(),
                });
            }
            named.cost_of(rows, &task, run).evaluate(w)
        })
    }

    fn fit_prepared<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        let task = self.task(rows, run)?;
        let (k, d) = (task.k, task.coordinates.k());
        check_memory(
            &format!("a fit of {k} features to {d} coordinates"),
            search_memory(k, d),
            "choose fewer features, or fewer columns",
        )?;
        let start = self.start(&task, run)?;
        let mut cost = self.cost_of(rows, &task, run);
        run.stage("features")?;
        let tol = self.tol.unwrap_or(if T::DTYPE == Dtype::F32 { 1e-4 } else { 1e-6 });
        let (found, outcome) = match self.batches() {
            Some(batches) => batches.minimise(&mut cost, start.into_vec(), run)?,
            None => {
                let search = Lbfgs { memory: STORED_STEPS, max_iter: self.max_iter, tol };
                let found = search.minimise(&mut cost, start.into_vec(), "features", run)?;
                let outcome = found.outcome;
                (found, outcome)
            }
        };
        let sweeps = task.coordinates.sweeps + cost.sweeps;
        let w = task.coordinates.in_span(Matrix::from_vec(k, d, found.x.clone()));
        let w = match task.unit {
            true => {
                let lengths = lengths(&w);
                scaled(w, |i| 1.0 / lengths[i])
            }
            false => w,
        };
        let (outcome, doubt) = self.with_verdicts(outcome, &w, &task, tol);
        run.stage("components")?;
        self.model(
            Fitted {
                task: &task,
                found,
                outcome,
                doubt,
                w,
                tol,
                sweeps,
                features: rows.features(),
                dtype: T::DTYPE,
            },
            run,
        )
    }

    fn batches(&self) -> Option<ByBatches> {
        self.batch_size.map(|size| ByBatches { size, epochs: self.max_epochs })
    }

    fn cost_of<'a, 'b, T: Real>(
        &self,
        rows: &'a Rows<'b, T>,
        task: &'a Task,
        run: &'a Run<'a>,
    ) -> Cost<'a, 'b, T> {
        Cost {
            rows,
            run,
            coordinates: &task.coordinates,
            moments: task.coordinates.root_moments(),
            penalty: self.contrast,
            beta: task.beta,
            unit: task.unit,
            k: task.k,
            penalised: 0.0,
            sweeps: 0,
        }
    }

    fn check<T: Real>(&self, rows: &Rows<'_, T>) -> Result<()> {
        check_n_rows("rica", rows.n_counted(), rows.origin(), "give more rows")?;
        let (n, p, origin) = (rows.n_counted(), rows.n_features(), rows.origin());
        let bounds = Bounds { n, p, origin, least: METHOD.least_components(), overcomplete: true };
        bounds.count(self.n_components).map(|_| ())
    }

    /// Computes what depends on the rows.
    fn task<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Task> {
        let given = run.initial_components(rows.n_features(), self.n_components.unwrap_or(0))?;
        let given = given.map(|filters| filters.rows()).or_else(|| self.w_init.as_ref().map(Vec::len));
        let n_requested = self.n_components.or(given);
        let Self { whiten, center, standardize, .. } = *self;
        let size = matches!(self.beta, Beta::Auto(_));
        let requested = Requested { whiten, center, standardize, size, features: n_requested };
        let mut coordinates = coordinates(rows, requested, run)?;
        let (p, d) = (rows.n_features(), coordinates.k());
        let mut warnings = Vec::new();
        // More features than columns are an overcomplete model; between rank and number of columns they are
        // not intended.
        let k = match n_requested {
            Some(k) if k <= p => k.min(d),
            Some(k) => k,
            None => d,
        };
        if self.whiten && k < n_requested.unwrap_or(p) && Some(d) == coordinates.rank {
            let (directions, are) = if k == 1 { ("direction", "is") } else { ("directions", "are") };
            warnings.push(format!(
                "the rows vary along {k} {directions} only, so {k} of {} features {are} kept",
                n_requested.unwrap_or(p)
            ));
        }
        warnings.extend(few_rows(&coordinates, k));
        warnings.extend(constant_columns(coordinates.n_constant, p, "entries in every feature"));
        let unit = match self.unit_norm {
            UnitNorm::Always(unit) => unit,
            UnitNorm::Auto(_) => k > d,
        };
        let beta = match self.beta {
            Beta::Weight(beta) => beta,
            Beta::Auto(_) if self.whiten => 0.2 / self.contrast.curvature(),
            Beta::Auto(_) => {
                coordinates.sweeps += 1;
                (0.1 * coordinates.mean_length(rows, run)?).min(0.6 * coordinates.deviation_along(k - 1))
            }
        };
        Ok(Task { coordinates, k, unit, beta, warnings })
    }

    /// Initial features, `k x d`.
    fn start(&self, task: &Task, run: &Run<'_>) -> Result<Matrix<f64>> {
        let (k, d) = (task.k, task.coordinates.k());
        let given = run.initial_components(task.coordinates.mean.len(), k)?;
        let w = match (&given, &self.w_init) {
            (Some(filters), None) => task.coordinates.unfolded(filters.clone().top_rows(k)),
            (Some(_), Some(_)) => {
                let why = "the model given as init has initial features, too";
                return Err(Error::setting("w_init", "this matrix", why, "give one of the two"));
            }
            (None, Some(rows)) => self.given_start(rows, task)?,
            (None, None) => {
                let draws = Stream::new(run.seed, 0);
                let drawn = |c: usize| Matrix::from_fn(k, c, |i, j| draws.normal((i * c + j) as u64));
                match (task.coordinates.white, &task.coordinates.axes) {
                    (true, _) if k <= d => factor::orthonormal_rows(&drawn(d)),
                    (true, _) => drawn(d),
                    // In the span of the rows, and of its first `k` directions if there are as many: along directions of little
                    // variance, the sparsity penalty of a feature exceeds its gain in reconstruction, and it collapses to 0.
                    (false, axes) if k <= axes.rows() => {
                        factor::multiply(&factor::orthonormal_rows(&drawn(k)), &axes.clone().top_rows(k))
                    }
                    (false, axes) => factor::multiply(&drawn(axes.rows()), axes),
                }
            }
        };
        let lengths = lengths(&w);
        if let Some(i) = lengths.iter().position(|s| task.unit && *s == 0.0) {
            let why = format!(
                "row {i} of it is 0 in the directions along which the rows vary, and cannot be scaled to unit norm"
            );
            return Err(Error::setting(
                "w_init",
                "this matrix",
                why,
                "give rows that are not 0, or unit_norm=false",
            ));
        }
        // The root mean square length of the rows of a `W` with W'W = I.
        let own = (task.coordinates.axes.rows() as f64 / k as f64).sqrt();
        let drawn = given.is_none() && self.w_init.is_none();
        Ok(match (task.unit, drawn) {
            (true, _) => scaled(w, |i| 1.0 / lengths[i]),
            (false, true) if own < 1.0 => scaled(w, |i| own / lengths[i]),
            _ => w,
        })
    }

    fn given_start(&self, rows: &[Vec<f64>], task: &Task) -> Result<Matrix<f64>> {
        let (k, p) = (task.k, task.coordinates.mean.len());
        let refused = |got: String, why: String| {
            Err(Error::setting(
                "w_init",
                got,
                why,
                "give a row of numbers for each feature, in the units of the components",
            ))
        };
        let width = rows.first().map_or(0, Vec::len);
        if rows.len() < k || rows.len() > self.n_components.unwrap_or(rows.len()) || width != p {
            return refused(format!("{} x {width} numbers", rows.len()), format!("{k} x {p} are needed"));
        }
        if rows.iter().flatten().any(|x| !x.is_finite()) {
            return refused(
                "a matrix with NaN or infinity".into(),
                "must contain finite numbers only".into(),
            );
        }
        let entries = rows[..k].iter().flatten().copied().collect();
        Ok(task.coordinates.unfolded(Matrix::from_vec(k, p, entries)))
    }

    /// The outcome of a search, with its warning: "collapsed" if all features are 0; not converged if
    /// rotations change the objective by less than the tolerance.
    fn with_verdicts(
        &self,
        outcome: Outcome,
        w: &Matrix<f64>,
        task: &Task,
        tol: f64,
    ) -> (Outcome, Option<String>) {
        let (lengths, sizes) = task.coordinates.lengths_and_deviations(w);
        let own = task.coordinates.deviation_along(task.k - 1);
        let below = |all: &[f64], bound: f64| all.iter().all(|s| *s < bound);
        if below(&lengths, model::DEAD_LENGTH) || below(&sizes, model::DEAD_LENGTH * own) {
            let (beta, bound) = (task.beta, 4.0 / self.contrast.curvature());
            let doubt = format!(
                "all features collapsed to 0, because at beta={beta} the sparsity penalty outweighs reconstruction: choose a \
                 smaller beta (for beta of at least {bound}, features of 0 are a local minimum), larger initial features, or unit_norm=true"
            );
            return (Outcome::Collapsed, Some(doubt));
        }
        let largest = sizes.iter().fold(0.0f64, |m, s| m.max(*s));
        let variation = task.beta * self.contrast.variation_under_rotation(largest) / task.coordinates.unit();
        if outcome == Outcome::Converged && task.beta > 0.0 && variation <= tol {
            let auto = match self.beta {
                Beta::Auto(_) => "",
                _ => "beta='auto', which does not depend on units, ",
            };
            let doubt = format!(
                "codes, of standard deviation {largest:.1e} at most, are so small that at beta={} a rotation of the features \
                 changes the sparsity penalty by less than tol={tol:.0e}: choose {auto}a larger beta, or a smaller tol",
                task.beta
            );
            return (Outcome::Stalled, Some(doubt));
        }
        (outcome, None)
    }
}

/// The warning about few rows.
fn few_rows(coordinates: &Coordinates, k: usize) -> Option<String> {
    let (n, rank) = (coordinates.n, coordinates.rank.unwrap_or(coordinates.axes.rows()));
    let d = if coordinates.white { coordinates.k() } else { k.min(rank) };
    if n < (FEW_ROWS_PER_DIRECTION * d) as f64 {
        let (directions, remedy) = match d {
            1 => ("direction", "give more rows"),
            _ => ("directions", "give more rows, or choose fewer features"),
        };
        return Some(format!(
            "{n} rows are few for features in {d} {directions}: with fewer than about {FEW_ROWS_PER_DIRECTION} x {d} rows a feature may \
             be a spike at a single row; {remedy}"
        ));
    }
    (d < rank && coordinates.white).then(|| {
        format!(
            "{n} rows are few for the {rank} directions that they span, where a feature may be a spike at a single row: only the \
             first {d} are whitened"
        )
    })
}

impl Fit for Rica {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}
