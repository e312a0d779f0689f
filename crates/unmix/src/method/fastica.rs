//! FastICA with scikit-learn's settings: the solver of [ICA](super::ica) with scikit-learn's stopping rule.
//!
//! **Finds** and **model**: those of ICA.
//! **Algorithm** (Hyvärinen 1999): `parallel` is eq. 20 for all sources, then the nearest rotation, until the largest
//! `||w_i - w_i before||² / 2`, which equals scikit-learn's `1 - |<w_i, w_i before>|` without cancellation, is below `tol`;
//! `deflation` is the same for one source after another. As in other implementations, no step is rejected.
//! **Cost** as ICA's.
//! **Equals** `ICA(algorithm="fastica")` while its steps lower the objective. **Fails** where ICA fails; a last step
//! that rotates a row by up to `sqrt(2 tol)`, 0.014 radians by default, counts as converged.

use super::ica::{ContrastFunction, from_settings, initial, memory, pooled};
use super::pca::Components;
use super::{Accepts, Fit, Method, as_map};
use crate::choices::choices;
use crate::data::Rows;
use crate::error::Result;
use crate::ica::{self, Algorithm, Limits, Order, Preparation, Search, Variance};
use crate::model::{Axis, Code, ComponentRole, Kind, Model, NEVER, settings};
use crate::num::{Matrix, Real};
use crate::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ops::Bound;

settings! {
    /// Settings of [FastICA](self).
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct FastIca {
        /// Number of sources: a number, a share of the variance between 0 and 1, or null for the rank of the rows.
        pub n_components: Components = null,
            Kind::AnyOf(&[Kind::at_least(1), Kind::SHARE, Kind::SHARE_NAME, Kind::Null]), by_rows(),
            of_other_words("rules are available in pca only"), null_is_all(), only(&[&[("whiten", &["!false"])]]);
        /// Estimate all sources at once ('parallel'), or one after another ('deflation').
        pub algorithm: FastIcaAlgorithm = "parallel", Kind::Words(FastIcaAlgorithm::NAMES);
        /// Variance of the sources: 1, or `1 / n_samples`; false for data that are already whitened, from which no mean is then subtracted.
        pub whiten: FastIcaWhitening = "unit-variance",
            Kind::AnyOf(&[Kind::Words(SourceVariance::NAMES), Kind::FALSE]);
        /// Contrast function G used to measure non-Gaussianity. In Python also a callable: it gets an array, sources as rows, and returns g(x), the
        /// derivative of G, and the mean of g'(x) over the last axis; it is called in every iteration with a copy of all rows.
        pub fun: ContrastFunction = "logcosh",
            Kind::AnyOf(&[Kind::Words(CONTRASTS), Kind::Callable]);
        /// The parameter 'alpha' of 'logcosh', whose derivative is `tanh(alpha x)`: from 1 to 2, null for 1. In Python also the arguments of a
        /// callable.
        pub fun_args: Option<Map<String, Value>> = null,
            Kind::AnyOf(&[Kind::Arguments(&[("alpha", ALPHA)]), Kind::Null]), only(&[&[("fun", &["\"logcosh\""])]]);
        /// Maximum number of iterations, for each source with 'deflation'.
        pub max_iter: u64 = 200, Kind::at_least(0);
        /// Convergence tolerance: the largest `1 - abs(<w_new, w_old>)` over the rows of the rotation, about half the square of the angle.
        pub tol: f64 = 0.0001, Kind::NON_NEGATIVE;
        /// Initial unmixing matrix, in whitened coordinates along axes whose first entries are positive, as in scikit-learn; null for a random rotation.
        pub w_init: Option<Vec<Vec<f64>>> = null, Kind::AnyOf(&[Kind::table(Axis::Components, Axis::Components), Kind::Null]);
        /// Accepted for compatibility with scikit-learn: the solver is chosen by the shape of the data, and singular values are used wherever a
        /// scatter matrix does not resolve all directions.
        pub whiten_solver: WhitenSolver = "svd", Kind::Words(WhitenSolver::NAMES), only(NEVER);
    }
    const SETTINGS;
}

choices! {
    /// Orthogonalisation of the sources: all at once, or one at a time.
    pub enum FastIcaAlgorithm {
        /// All at once.
        Parallel = "parallel",
        /// One after another.
        Deflation = "deflation",
    }
}

/// Scale of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum FastIcaWhitening {
    /// Only `false`: columns as they are; the mean is not subtracted either.
    Not(bool),
    /// Whitened coordinates.
    Whitened(SourceVariance),
}

choices! {
    /// The variance of a source.
    pub enum SourceVariance {
        /// 1.
        UnitVariance = "unit-variance",
        /// `1 / n_samples`: sources of unit norm.
        ArbitraryVariance = "arbitrary-variance",
    }
}

choices! {
    /// Solver of the whitening.
    pub enum WhitenSolver {
        /// Chosen by the shape of the data, with singular values if a scatter matrix does not resolve all directions.
        Svd = "svd",
        /// The same as `Svd`; accepted for compatibility with scikit-learn.
        Eigh = "eigh",
    }
}

/// FastICA's row of the registry.
pub(super) const METHOD: Method = Method {
    key: "fastica",
    class: "FastICA",
    summary: "independent components by FastICA's fixed-point iteration, with scikit-learn's settings",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: true, stream: true, remote: true, missing: false },
    by_independence: true,
    of_signals: true,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &["ica with algorithm=fastica: the same steps"],
    references: &["Hyvärinen & Oja 1997", "Hyvärinen 1999"],
    spec: |given| Ok(Box::new(FastIca::from_settings(given)?)),
    code: |settings, tensors| Code::of_linear(settings, tensors, ComponentRole::Filters),
    density: None,
    memory,
};

impl FastIca {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of FastICA's settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        from_settings(SETTINGS, given)
    }

    /// Fits. Rows from a one-pass source are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Those of [`Ica::fit`](super::Ica::fit).
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        let alpha = self.fun_args.as_ref().and_then(|a| a.get("alpha")?.as_f64()).unwrap_or(1.0);
        pooled(rows, run, |rows| {
            let white = matches!(self.whiten, FastIcaWhitening::Whitened(_));
            let preparation = Preparation {
                method: "fastica",
                least: METHOD.least_components(),
                n_components: self.n_components.clone(),
                whiten: white,
                center: white,
                standardize: false,
                clips: true,
            };
            let coordinates = preparation.of(rows, run)?;
            let mut start = initial(self.w_init.as_deref(), &coordinates, rows.n_features(), run)?;
            if let Some(w) = start.as_mut().filter(|_| self.w_init.is_some()) {
                turn(w, &coordinates.axes);
            }
            let algorithm = match self.algorithm {
                FastIcaAlgorithm::Parallel => Algorithm::Parallel,
                FastIcaAlgorithm::Deflation => Algorithm::OneByOne,
            };
            let search = Search {
                algorithm,
                contrast: self.fun.contrast(alpha),
                limits: Limits { tol: self.tol, max_iter: self.max_iter },
                n_init: 1,
                start: start.as_ref(),
                subsample: None,
                adaptive: None,
            };
            let found = search.run(rows, &coordinates, run)?;
            let settings = as_map(self);
            let mut resolved = settings.clone();
            resolved.insert("n_components".into(), coordinates.k().into());
            resolved.insert("whiten_solver".into(), coordinates.solver.into());
            let variance = match self.whiten {
                FastIcaWhitening::Not(_) => Variance::AsFound,
                FastIcaWhitening::Whitened(SourceVariance::UnitVariance) => Variance::Unit,
                FastIcaWhitening::Whitened(SourceVariance::ArbitraryVariance) => Variance::PerRow,
            };
            let described = (&METHOD, settings, resolved);
            ica::model(described, rows, coordinates, &search, found, (variance, Order::Variance), run)
        })
    }
}

/// From whitened coordinates along axes whose first entries are positive, those of scikit-learn, to coordinates along `axes`. Both whiten, and one
/// by one sources depend on the initial vectors.
fn turn(w: &mut Matrix<f64>, axes: &Matrix<f64>) {
    // A matrix of another size is refused by the search.
    for j in (0..axes.rows().min(w.cols())).filter(|j| axes.row(*j).first().is_some_and(|x| *x < 0.0)) {
        (0..w.rows()).for_each(|i| w[(i, j)] = -w[(i, j)]);
    }
}

impl Fit for FastIca {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}

/// The contrast functions of scikit-learn.
const CONTRASTS: &[&str] = &[
    ContrastFunction::LogCosh.name(),
    ContrastFunction::Exp.name(),
    ContrastFunction::Cube.name(),
    ContrastFunction::Skew.name(),
];

/// Allowed values of `alpha` of 'logcosh'.
const ALPHA: Kind = Kind::number(Bound::Included(1.0), Bound::Included(2.0));
