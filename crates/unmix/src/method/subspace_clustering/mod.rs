//! Subspace clustering: rows near a union of subspaces, each of its own dimension.
//!
//! **Finds** clusters of rows that lie near linear subspaces (through the origin, or through the mean), at any angles to each other, and these
//! subspaces.
//! **Model** `x = U_k' z + noise`, `k` the cluster of the row, `U_k` of `d_k` orthonormal rows. Codes are the distances to the subspaces.
//! **Algorithm**
//!  1. sparse subspace clustering: every row is represented as a sparse combination of the others, by the lasso (`ssc.rs`), which prefers rows
//!     of its own subspace; normalized spectral clustering of the coefficients (`spectral.rs`, `kmeans.rs`). `shape`: affinities are the
//!     squared entries of `V' V`, `V` the leading right singular vectors of the rows as columns;
//!  2. unless they are given, the number of clusters is selected by the largest gap between eigenvalues, or is 1 if the Bayesian information
//!     criterion prefers a single subspace, and dimensions by that criterion (`dimensions.rs`);
//!  3. k-subspaces: rows are assigned to the nearest subspace and subspaces fitted to their rows, alternately, which never increases the sum
//!     of squared distances (`refine.rs`); an empty cluster is reinitialised at the row with the largest distance;
//!  4. `ppca-mixture`: expectation-maximisation of a mixture of probabilistic PCA, started from these clusters; an empty part is restarted at
//!     rows that are explained badly (`mixture.rs`).
//!
//! **Cost** of sparse subspace clustering `O(n² p)` and a lasso for every row, tables of `n x n` numbers in memory; of k-subspaces
//! `O(n p Σ d_k)` an iteration.
//! **Equals** PCA about 0 for one cluster. **Fails** where subspaces nearly coincide, and where a cluster has few more rows than dimensions.
//!
//! E. Elhamifar & R. Vidal (2013), IEEE Trans. Pattern Anal. Mach. Intell. 35:2765. P. Bradley & O. Mangasarian (2000), J. Glob. Optim. 16:23.
//! P. Tseng (2000), J. Optim. Theory Appl. 105:249. J. Costeira & T. Kanade (1998), Int. J. Comput. Vis. 29:159. G. Liu et al. (2013), IEEE
//! Trans. Pattern Anal. Mach. Intell. 35:171. M. Tipping & C. Bishop (1999), Neural Comput. 11:443. A. Ng, M. Jordan & Y. Weiss (2002), NIPS 14.

mod by_affinities;
mod dimensions;
mod kmeans;
mod mixture;
mod model;
mod refine;
mod settings;
mod spectral;
mod ssc;
mod table;

use super::{Accepts, Fit, Method, as_map};
use crate::data::{Features, Rows, check_n_rows, no_columns};
use crate::error::{Error, Result, counted, there_are};
use crate::model::{Model, Outcome, Report, canonical_sign, entry, init_without_effect};
use crate::num::{Dtype, Matrix, Real};
use crate::run::Run;
use crate::solve::Limits;
use crate::spectrum::Bounds;
use mixture::{InitialMixture, MixtureResult, Part, PpcaMixture, initial_parts};
use refine::{KSubspaces, RefinementResult, SubspaceFit, nearest};
use serde_json::{Map, Value};
use settings::SETTINGS;
use table::Table;

#[doc(hidden)]
pub use kmeans::kmeans;
pub use settings::{Algorithm, Dimensions, SubspaceClustering};
pub use ssc::affinities;

/// The registry entry.
pub const METHOD: Method = Method {
    key: "subspace-clustering",
    class: "SubspaceClustering",
    summary: "clusters of rows that lie near a union of subspaces, and the subspaces",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: false, stream: false, remote: false, missing: false },
    by_independence: false,
    of_signals: false,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &[
        "n_clusters=1: the axes of pca with center=false",
        "n_clusters=1, algorithm=ppca-mixture, center=true: ppca in closed form",
    ],
    references: &[
        "Elhamifar & Vidal 2013",
        "Bradley & Mangasarian 2000",
        "Costeira & Kanade 1998",
        "Tipping & Bishop 1999",
    ],
    spec: |given| Ok(Box::new(SubspaceClustering::from_settings(given)?)),
    code: model::code,
    density: None,
    memory: |n, p| {
        let rows = table::memory(n, p).saturating_add(12 << 20);
        vec![("ssc", rows.saturating_add(square_memory(n))), ("k-subspaces", rows)]
    },
};

/// Number of rows above which a mixture with given numbers of clusters and dimensions is started from k-subspaces, which needs no `n x n`
/// tables.
const MANY_ROWS: usize = 2000;

/// Number of `n x n` tables that spectral clustering holds: the Gram matrix, or affinities and eigenvectors.
const SQUARE_TABLES: u64 = 5;

/// Memory in bytes of the `n x n` tables.
fn square_memory(n: u64) -> u64 {
    n.saturating_mul(n).saturating_mul(8 * SQUARE_TABLES)
}

/// Clusters from affinities, before subspaces are fitted to them.
struct Clusters {
    /// The cluster of each row; the number of clusters for rows that are in none.
    labels: Vec<usize>,
    k: usize,
    warnings: Vec<String>,
    /// The outcome if the run ended early, so that the clusters are those of a shortened search.
    early: Option<Outcome>,
}

impl SubspaceClustering {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that subspace clustering does not have, a value that the setting does not allow.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Fits. All rows are held in memory, and so are tables with a number for each pair of rows, except for one cluster and for `k-subspaces`
    /// with given numbers of clusters and dimensions.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column, rows that are all 0, more clusters than rows, more dimensions than
    /// `min(n, p)`, rows or tables that do not fit in memory, errors of the source.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        let (n, p) = (rows.n_counted(), rows.n_features());
        check_n_rows(METHOD.key, n, rows.origin(), "give more rows")?;
        if p == 0 {
            return Err(no_columns(METHOD.key, rows.origin()));
        }
        self.check(Bounds { n, p, origin: rows.origin(), least: 1, overcomplete: false })?;
        let rows = &*rows;
        rows.pooled(run.threads, || {
            let table = Table::read(METHOD.key, rows, self.center, run)?;
            let (found, warnings) = match self.initial_parts(&table, run)? {
                Some(parts) => (self.mixed(&table, InitialMixture::Parts(parts), run)?, Vec::new()),
                None => {
                    let (found, warnings) = self.clusters(&table, run)?;
                    match self.algorithm {
                        Algorithm::PpcaMixture => {
                            (self.mixed(&table, InitialMixture::Clusters(&found.found), run)?, warnings)
                        }
                        _ => (found, warnings),
                    }
                }
            };
            self.model(&table, found, warnings, (rows.features(), T::DTYPE), run)
        })
    }

    /// Rejects numbers of clusters and of dimensions that are too large for the rows, or inconsistent.
    fn check(&self, bounds: Bounds<'_>) -> Result<()> {
        if let Some(k) = self.n_clusters.filter(|k| *k as u64 > bounds.n) {
            let why = format!("{} has {}", bounds.origin, counted(bounds.n, "row"));
            return Err(Error::setting(
                "n_clusters",
                k,
                why,
                format!("choose a number from 1 to {}", bounds.n),
            ));
        }
        let requested: &[usize] = match &self.n_components {
            None => &[],
            Some(Dimensions::Same(d)) => &[*d],
            Some(Dimensions::Each(list)) => {
                if self.n_clusters.is_none_or(|k| k != list.len()) {
                    let (why, remedy) = match self.n_clusters {
                        Some(k) => (
                            there_are(k as u64, "cluster"),
                            "give one dimension for each cluster, or one number for all",
                        ),
                        None => (
                            "the number of clusters is not given".into(),
                            "give n_clusters, too, or one number for all clusters",
                        ),
                    };
                    return Err(Error::setting("n_components", format!("{list:?}"), why, remedy));
                }
                list
            }
        };
        requested.iter().try_for_each(|d| bounds.count(Some(*d)).map(|_| ()))
    }

    /// Clusters and their subspaces.
    fn clusters(&self, table: &Table, run: &Run<'_>) -> Result<(RefinementResult, Vec<String>)> {
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let starts_at_random = self.starts_at_random(table.n());
        let start = match self.algorithm.iterates() {
            true => run.initial_subspaces(table.p(), self.n_clusters)?,
            false => None,
        };
        let warm = start.is_some();
        let Clusters { mut labels, mut k, warnings, early } = self.first_clusters(table, start, run)?;
        // Loops that begin after the time limit end by it; without loops this is the outcome.
        let mut outcome = early.unwrap_or(Outcome::Completed);
        let mut members = Table::members(&labels, k);
        let mut dimensions = dimensions::of_clusters(table, &members, self.n_components.as_ref())?;
        if self.n_clusters.is_none() && k > 1 && !warm {
            let all = [(0..table.n()).collect::<Vec<usize>>()];
            let own = dimensions::of_clusters(table, &all, self.n_components.as_ref())?;
            let several = dimensions::criterion(table, &members, &dimensions)?;
            if dimensions::criterion(table, &all, &own)? >= several {
                (labels, k, members, dimensions) = (vec![0; table.n()], 1, all.to_vec(), own);
            }
        }
        run.stage("subspaces")?;
        let spans = |dimensions: &[usize]| -> Result<Vec<Matrix<f64>>> {
            members.iter().zip(dimensions).map(|(rows, d)| table.span(rows, *d)).collect()
        };
        if k > 1 && self.n_components.is_none() {
            let refined = self.with_chosen_dimensions(table, dimensions, spans, run)?;
            if matches!(self.algorithm, Algorithm::SscKSubspaces | Algorithm::PpcaMixture) {
                return Ok((refined, warnings));
            }
            if refined.outcome.is_early() {
                outcome = refined.outcome;
            }
            dimensions = refined.found.bases.iter().map(|basis| basis.rows().max(1)).collect();
        }
        let search = KSubspaces { table, dimensions: &dimensions, limits };
        match self.algorithm {
            Algorithm::KSubspaces | Algorithm::PpcaMixture
                if k > 1 && !warm && (starts_at_random || self.algorithm == Algorithm::KSubspaces) =>
            {
                return Ok((search.restarted(self.n_init, run)?, warnings));
            }
            algorithm if k > 1 && algorithm.iterates() => {
                return Ok((search.refine(spans(&dimensions)?, run)?, warnings));
            }
            _ => {}
        }
        let bases = spans(&dimensions)?;
        let (near, cost) = nearest(table, &bases);
        let labels = labels.iter().zip(near).map(|(c, near)| if *c < k { *c } else { near }).collect();
        let found = SubspaceFit { labels, bases, cost, fall: 0.0 };
        Ok((RefinementResult { found, outcome, n_iter: 1, objective: Vec::new(), parts: None }, warnings))
    }

    /// Whether a search starts from random subspaces, given the numbers of clusters and dimensions.
    fn starts_at_random(&self, n: usize) -> bool {
        let at_random = match self.algorithm {
            Algorithm::KSubspaces => true,
            Algorithm::PpcaMixture => n > MANY_ROWS,
            _ => false,
        };
        at_random && self.n_clusters.is_some() && self.n_components.is_some()
    }

    /// Clusters of the subspaces to start from, all rows in one where a search is to find them, or clusters by affinities.
    fn first_clusters(
        &self,
        table: &Table,
        start: Option<Vec<Matrix<f64>>>,
        run: &Run<'_>,
    ) -> Result<Clusters> {
        match (self.n_clusters, start) {
            (_, Some(bases)) => {
                let (labels, _) = nearest(table, &bases);
                Ok(Clusters { labels, k: bases.len(), warnings: Vec::new(), early: None })
            }
            (Some(k), _) if self.starts_at_random(table.n()) || k == 1 => {
                Ok(Clusters { labels: vec![0; table.n()], k, warnings: Vec::new(), early: None })
            }
            _ => self.by_affinities(table, run),
        }
    }

    /// The parts of the mixture that the fit starts from, if there is one and its dimensions are those of the settings.
    fn initial_parts(&self, table: &Table, run: &Run<'_>) -> Result<Option<Vec<Part>>> {
        if self.algorithm != Algorithm::PpcaMixture {
            return Ok(None);
        }
        let Some(bases) = run.initial_subspaces(table.p(), self.n_clusters)? else { return Ok(None) };
        let mut found: Vec<usize> = bases.iter().map(Matrix::rows).collect();
        let mut requested = match &self.n_components {
            None => found.clone(),
            Some(Dimensions::Same(d)) => vec![*d; found.len()],
            Some(Dimensions::Each(list)) => list.clone(),
        };
        found.sort_unstable();
        requested.sort_unstable();
        if requested != found {
            return Ok(None);
        }
        let center = self.center.then_some(table.center.as_slice());
        Ok(initial_parts(&bases, center, run))
    }

    /// The mixture to which expectation-maximisation converges from these clusters or parts.
    fn mixed(&self, table: &Table, start: InitialMixture<'_>, run: &Run<'_>) -> Result<RefinementResult> {
        run.stage("mixture")?;
        let dimensions = start.dimensions();
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let search = PpcaMixture { table, dimensions: &dimensions, means: self.center, limits };
        let MixtureResult { parts, labels, outcome, n_iter, rise, objective } = search.search(start, run)?;
        let bases: Vec<Matrix<f64>> = parts.iter().map(|part| part.axes.clone()).collect();
        let (_, cost) = nearest(table, &bases);
        let found = SubspaceFit { bases, labels, cost, fall: rise };
        Ok(RefinementResult { found, outcome, n_iter, objective, parts: Some(parts) })
    }

    /// k-subspaces, alternating with the choice of dimensions by the Bayesian information criterion, until the dimensions no longer change.
    fn with_chosen_dimensions(
        &self,
        table: &Table,
        mut dimensions: Vec<usize>,
        spans: impl Fn(&[usize]) -> Result<Vec<Matrix<f64>>>,
        run: &Run<'_>,
    ) -> Result<RefinementResult> {
        const ROUNDS: usize = 5;
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let mut bases = spans(&dimensions)?;
        let mut n_iter = 0;
        for round in 0.. {
            let mut refined = KSubspaces { table, dimensions: &dimensions, limits }.refine(bases, run)?;
            n_iter += refined.n_iter;
            let members = Table::members(&refined.found.labels, dimensions.len());
            let next = dimensions::of_clusters(table, &members, None)?;
            let (settled, early) = (next == dimensions, run.ends_early());
            if settled || round == ROUNDS || early {
                refined.n_iter = n_iter;
                // The subspaces may have converged, but not their dimensions.
                if !settled {
                    refined.outcome = if early { run.early_outcome() } else { Outcome::MaxIter };
                }
                return Ok(refined);
            }
            bases = members.iter().zip(&next).map(|(rows, d)| table.span(rows, *d)).collect::<Result<_>>()?;
            dimensions = next;
        }
        unreachable!("the loop returns in round ROUNDS")
    }

    fn model(
        &self,
        table: &Table,
        refined: RefinementResult,
        mut warnings: Vec<String>,
        (features, dtype): (&Features, Dtype),
        run: &Run<'_>,
    ) -> Result<Model> {
        let RefinementResult { found, outcome, n_iter, objective, parts } = refined;
        let (order, labels, counts) = ordered(found.bases.len(), &found.labels);
        let mut bases: Vec<Matrix<f64>> = order.iter().map(|&c| found.bases[c].clone()).collect();
        let parts = parts.map(|parts| order.iter().map(|&c| parts[c].clone()).collect::<Vec<_>>());
        bases.iter_mut().for_each(|basis| canonical_sign(basis, dtype.eps()));
        let empty = counts.iter().filter(|n| **n == 0).count();
        if empty > 0 {
            let have = if empty == 1 { "has" } else { "have" };
            warnings.push(format!(
                "{empty} of {} clusters {have} no rows: choose a smaller n_clusters",
                bases.len()
            ));
        }
        let iterated = parts.is_some() || (self.algorithm.iterates() && bases.len() > 1);
        let solver = match iterated {
            true if parts.is_some() => "em",
            true => "k-subspaces",
            false => "subspaces",
        };
        let mut report = Report::closed_form(solver, table.n() as f64, table.p(), dtype, run.seed);
        (report.outcome, report.n_iter, report.objective) = (outcome, n_iter, objective);
        if iterated {
            report.residual = Some(found.fall).filter(|fall| fall.is_finite());
            report.tol = Some(self.tol);
        }
        report.n_constant = table.n_constant;
        let dimensions: Vec<usize> = bases.iter().map(Matrix::rows).collect();
        report.warnings = warnings;
        report.warnings.extend(self.far_from_0(table));
        report.warnings.extend(self.no_clusters(&dimensions, table.p()));
        let settings = as_map(self);
        // Clusters by affinities alone are computed without iterations.
        if run.init.is_some() {
            report.warnings.extend(init_without_effect(&entry(SETTINGS, "max_iter"), &settings));
        }
        report.settings = settings.clone();
        report.settings.insert("n_clusters".into(), bases.len().into());
        report.settings.insert("n_components".into(), dimensions.into());
        report.end(run);
        let tensors = model::parameters(&bases, parts.as_deref(), &labels, &table.center, dtype);
        Model::fitted(&METHOD, settings, features.clone(), 0, tensors, report)
    }

    /// The warning that the mean of the rows is farther from 0, through which subspaces pass, than rows are from the mean.
    fn far_from_0(&self, table: &Table) -> Option<String> {
        let n = table.n() as f64;
        let mean = |j: usize| (0..table.n()).map(|i| table.x[(i, j)]).sum::<f64>() / n;
        let square: f64 = (0..table.p()).map(|j| mean(j).powi(2)).sum();
        // Of rows without negative numbers, such as pictures and counts, 0 usually has a meaning.
        let signed = table.x.as_slice().iter().any(|x| *x < 0.0);
        (!self.center && signed && square > table.total / n - square).then(|| {
            "the rows are far from 0: the norm of their mean is larger than their root mean square distance from it, and subspaces pass \
             through 0; choose center=true, unless 0 has a meaning in these columns"
                .into()
        })
    }

    /// The warning that a single cluster, in a subspace of nearly all columns, is not informative.
    fn no_clusters(&self, dimensions: &[usize], p: usize) -> Option<String> {
        match (dimensions, self.n_clusters, &self.n_components) {
            ([d], None, None) if p > 2 && d + 1 >= p => Some(format!(
                "no clusters were found: all rows are in one subspace, of dimension {d} in {p} columns; set n_clusters to divide the rows"
            )),
            _ => None,
        }
    }
}

/// Clusters by descending number of rows, ties by their first rows: the cluster at each position, the labels in this order, and the numbers of
/// rows.
fn ordered(k: usize, labels: &[usize]) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let members = Table::members(labels, k);
    let mut order: Vec<usize> = (0..k).collect();
    let first = |c: usize| members[c].first().copied().unwrap_or(usize::MAX);
    order.sort_by(|&a, &b| members[b].len().cmp(&members[a].len()).then(first(a).cmp(&first(b))));
    let mut position = vec![0; k];
    order.iter().enumerate().for_each(|(at, &c)| position[c] = at);
    let counts = order.iter().map(|&c| members[c].len()).collect();
    (order, labels.iter().map(|&c| position[c]).collect(), counts)
}

impl Fit for SubspaceClustering {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}
