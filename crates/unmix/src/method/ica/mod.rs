//! ICA: the linear map that makes the coordinates of rows independent of each other.
//!
//! **Finds** sources: `y = (x - mean) B`, statistically independent, by maximal non-Gaussianity.
//! **Model** `x = mean + A s + e`: `s` independent, at most one of them Gaussian, `A` of full rank.
//! **Algorithm** for `n` rows of `p` features and `k` sources:
//!  1. one pass: mean, spectrum, rank; white coordinates `z = diag(1/scale) W' (x - mean)` of that rank;
//!  2. a solver estimates `V` of `y = V z`, with one full pass for each step:
//!     `picard` over rotations (Ablin, Cardoso & Gramfort 2018b) or, with `ortho=false`, over invertible matrices (2018a, eq. 5-8),
//!     `fastica` by a fixed-point iteration, symmetric or by deflation (Hyvärinen 1999, eq. 20 and 26), `infomax` with the logistic density
//!     (Bell & Sejnowski 1995; extended: Lee, Girolami & Sejnowski 1999), `easi` row by row (Cardoso & Laheld 1996, eq. 22);
//!  3. unit variance, order by the variance of the back-projection of each source, canonical sign.
//!
//! **Cost** `2 n k (p + k)` multiply-adds and `n k` hyperbolic tangents in a pass, of which there are ten to twenty; `O(p² + k²)` memory in addition to
//! the rows, and a copy of `n k` numbers where `p >= 2 k`.
//! **Equals** named methods with the settings listed in docs/ica.md. **Fails** for two or more
//! Gaussian sources, which are determined only up to a rotation, and for few rows, where a source may be a single spike: both give a
//! warning.

mod settings;

use super::Setting;
use super::pca::Components;
use super::{Accepts, Fit, Method, as_map, needs};
use crate::data::{AnyRows, Rows};
use crate::error::{Error, Result, counted};
use crate::ica::{self, Algorithm, Limits, Preparation, Search, Variance};
use crate::machine::check_square;
use crate::model::{Code, ComponentRole, Model};
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::Coordinates;
use crate::stats::Contrast;
use serde_json::{Map, Value};
use settings::SETTINGS;

pub use crate::ica::Order;
pub use settings::{
    ContrastFunction, FirstLayer, Ica, IcaAlgorithm, Orthogonalization, UnitVariance, Whitening,
};

/// ICA's row of the registry.
pub(super) const METHOD: Method = Method {
    key: "ica",
    class: "ICA",
    summary: "statistically independent sources, by maximal non-Gaussianity or maximum likelihood",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: true, stream: true, remote: true, missing: false },
    by_independence: true,
    of_signals: true,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &[
        "algorithm=picard (ortho, extended): symmetric FastICA's solution, Picard-O's steps",
        "algorithm=picard, ortho=false, extended=true: extended Infomax's solution",
        "algorithm=infomax, extended=true: algorithm=picard with ortho=false, extended=true, to the bit",
    ],
    references: &[
        "Ablin, Cardoso & Gramfort 2018",
        "Hyvärinen 1999",
        "Bell & Sejnowski 1995",
        "Lee, Girolami & Sejnowski 1999",
        "Cardoso & Laheld 1996",
        "sigma-PCA, arXiv 2311.13580",
    ],
    spec: |given| Ok(Box::new(Ica::from_settings(given)?)),
    code: |settings, tensors| Code::of_linear(settings, tensors, ComponentRole::Filters),
    density: None,
    memory: |n, p| memory(n, p),
};

/// Memory of the whitening, and of the coordinates that the search stores, for the largest possible number of
/// sources.
pub(super) fn memory(n: u64, p: usize) -> Vec<(&'static str, u64)> {
    vec![("default", needs::of_fit(n, p, 28).saturating_add(needs::of_coordinates(n, p)))]
}

impl Ica {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of ICA's settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        from_settings(SETTINGS, given)
    }

    /// Fits. Rows from a one-pass source are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column that varies, incompatible settings, errors of the source of rows. A rank
    /// below the number of sources requested is not an error: as many sources as the rank are estimated, with a warning.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        let (algorithm, contrast) = self.solver()?;
        METHOD.begin(self, rows, run)?;
        self.check_weights(rows)?;
        pooled(rows, run, |rows| self.fit_prepared(rows, (algorithm, contrast), run))
    }

    /// The model of rows that can be read in any order, for other methods: without a checkpoint of its own.
    pub(super) fn fit_within<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        self.fit_prepared(rows, self.solver()?, run)
    }

    fn fit_prepared<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        (algorithm, contrast): (Algorithm, Contrast),
        run: &Run<'_>,
    ) -> Result<Model> {
        let preparation = Preparation {
            method: "ica",
            least: METHOD.least_components(),
            n_components: self.n_components.clone(),
            whiten: matches!(self.whiten, Whitening::Whitened(_)),
            center: self.center,
            standardize: self.standardize,
            clips: false,
        };
        let mut coordinates = preparation.of(rows, run)?;
        // `w_init`, `n_init` and `subsample` are documented to have no effect on two layers.
        let layers = matches!(algorithm, Algorithm::Layers { .. });
        let w_init = self.w_init.as_deref().filter(|_| !layers);
        let start = initial(w_init, &coordinates, rows.n_features(), run)?;
        self.check_subsample(algorithm, coordinates.k(), rows.n_rows())?;
        coordinates.warnings.extend(self.unused_subsample(algorithm, coordinates.white && start.is_none()));
        let tol = self.tol.unwrap_or(if T::DTYPE.size() == 4 { 1e-4 } else { 1e-6 });
        let limits = Limits { tol, max_iter: self.max_iter };
        let search = Search {
            algorithm,
            contrast,
            limits,
            n_init: if layers { 1 } else { self.n_init },
            start: start.as_ref(),
            subsample: self.subsample.filter(|_| !layers),
            adaptive: (self.chooses_contrast() && self.fun == ContrastFunction::Adaptive)
                .then_some(self.ortho),
        };
        let found = search.run(rows, &coordinates, run)?;
        let settings = as_map(self);
        let mut resolved = settings.clone();
        resolved.insert("n_components".into(), coordinates.k().into());
        resolved.insert("tol".into(), tol.into());
        let extended = matches!(
            algorithm,
            Algorithm::PicardO { extended: true }
                | Algorithm::Picard { extended: true }
                | Algorithm::Easi { extended: true }
        );
        resolved.insert("extended".into(), extended.into());
        let variance = match self.whiten {
            Whitening::Whitened(_) => Variance::Unit,
            Whitening::Not(_) => Variance::AsFound,
        };
        let described = (&METHOD, settings, resolved);
        ica::model(described, rows, coordinates, &search, found, (variance, self.order), run)
    }

    /// The model of the rows of `before` followed by these, with a step of EASI for each row, in order;
    /// rows are not whitened first, because the rule whitens them itself. After a fit by EASI it continues from the sources
    /// found.
    ///
    /// # Errors
    ///
    /// An algorithm other than `easi`; fewer components than columns, unless `before` has the same number;
    /// settings that need several passes; columns other than those of `before`; numbers that are not finite;
    /// sparse rows, rows with weights.
    pub fn partial_fit<T: Real>(
        &self,
        before: Option<&Model>,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        METHOD.begin_batch(self, rows)?;
        let p = rows.n_features();
        self.check_stream(p, before)?;
        self.check_weights(rows)?;
        let extended = self.extended.unwrap_or(true);
        let mut stream = match before {
            Some(model) => ica::Stream::of(model, self.center, extended)?,
            None => {
                // The unmixing matrix, the step to it, and the model.
                check_square(METHOD.key, p, 4)?;
                let start = self.w_init.as_ref().map(|w| matrix(w)).transpose()?;
                ica::Stream::new(p, self.center, extended, start)
            }
        };
        stream.add("ica", rows, run)?;
        let (features, dtype) = before.map_or((rows.features(), T::DTYPE), |m| (m.features(), m.dtype()));
        let described = (&METHOD, as_map(self), as_map(self));
        stream.model(described, (features, dtype), self.order == Order::Variance, run)
    }

    fn check_stream(&self, p: usize, before: Option<&Model>) -> Result<()> {
        let k = before.map_or(p, Model::n_components);
        let refused = |name: &str, got: String, why: &str, remedy: String| {
            Err(Error::setting(name, got, why.to_string(), remedy))
        };
        if self.algorithm != IcaAlgorithm::Easi {
            let got = as_map(self)["algorithm"].as_str().unwrap_or_default().into();
            return refused(
                "algorithm",
                got,
                "incremental fits take a step for every row, and this algorithm needs all rows at once",
                "choose algorithm='easi', or fit all rows".into(),
            );
        }
        if let Components::Count(requested) = self.n_components
            && requested != k
        {
            let why = "incremental fits do not whiten rows, so they drop no direction";
            return refused("n_components", requested.to_string(), why, format!("give {k}, or leave it out"));
        }
        if matches!(self.n_components, Components::Share(_)) {
            let why = "a share of the variance needs all rows at once";
            return refused("n_components", "a share".into(), why, "leave it out".into());
        }
        if self.order == Order::Kurtosis {
            let why = "ordering by kurtosis needs a second pass over the rows";
            return refused("order", "kurtosis".into(), why, "choose 'variance' or 'found'".into());
        }
        match self.w_init.as_ref().filter(|w| before.is_none() && w.len() != p) {
            Some(w) => {
                let got = format!("a matrix of {}", counted(w.len() as u64, "row"));
                refused(
                    "w_init",
                    got,
                    "incremental fits do not whiten rows",
                    format!("give a {p} x {p} matrix for the columns"),
                )
            }
            None => Ok(()),
        }
    }

    /// Refuses sample weights with EASI, which takes one step for every row. The other algorithms support them.
    fn check_weights<T: Real>(&self, rows: &Rows<'_, T>) -> Result<()> {
        if self.algorithm != IcaAlgorithm::Easi || rows.weights().is_none() {
            return Ok(());
        }
        Err(Error::unsupported(
            "ica with algorithm='easi' of rows with weights",
            "it takes one step for every row",
            "leave the weights out, repeat rows, or choose another algorithm",
        )
        .of_method(METHOD.key))
    }

    /// The solver and its contrast.
    fn solver(&self) -> Result<(Algorithm, Contrast)> {
        self.check()?;
        // The nonlinearities of the others are fixed.
        let contrast = match self.chooses_contrast() {
            true => self.fun.contrast(1.0),
            false => Contrast::LogCosh(1.0),
        };
        let extended = |default| self.extended.unwrap_or(default);
        Ok(match self.algorithm {
            // Fitted contrasts have signs of their own; the search that precedes them finds both sub- and
            // super-Gaussian sources.
            IcaAlgorithm::Picard if self.ortho || self.fun == ContrastFunction::Adaptive => {
                (Algorithm::PicardO { extended: extended(true) }, contrast)
            }
            IcaAlgorithm::Picard => (Algorithm::Picard { extended: extended(false) }, contrast),
            IcaAlgorithm::FastIca if self.orthogonalization == Orthogonalization::Deflation => {
                (Algorithm::Deflation, contrast)
            }
            IcaAlgorithm::FastIca => (Algorithm::FastIca, contrast),
            IcaAlgorithm::SigmaPca => {
                (Algorithm::Layers { both: self.first_layer == FirstLayer::SigmaPca }, contrast)
            }
            // y + k tanh(y) with k = 1 or -1 (Lee, Girolami & Sejnowski 1999).
            IcaAlgorithm::Infomax if self.extended == Some(true) => {
                (Algorithm::Picard { extended: true }, contrast)
            }
            IcaAlgorithm::Infomax => (Algorithm::Picard { extended: false }, Contrast::LogCosh(0.5)),
            IcaAlgorithm::Easi => (Algorithm::Easi { extended: extended(true) }, contrast),
        })
    }

    /// Refuses a subsample from which `k` sources cannot be estimated, unless the algorithm takes none or it has all `n` rows.
    fn check_subsample(&self, algorithm: Algorithm, k: usize, n: Option<u64>) -> Result<()> {
        let takes_subsample =
            matches!(algorithm, Algorithm::PicardO { .. } | Algorithm::Picard { .. } | Algorithm::FastIca);
        let is_part = |m: u64| n.is_none_or(|n| m < n);
        match self.subsample.filter(|&m| takes_subsample && m > 0 && m <= k as u64 && is_part(m)) {
            None => Ok(()),
            Some(m) => Err(Error::setting(
                "subsample",
                m,
                format!("must be 0 or more than n_components, which is {k} for these rows"),
                format!("choose at least {}, or 0 for all rows", k + 1),
            )),
        }
    }

    /// A sentence if a subsample is requested for a search over all invertible matrices that no search over rotations precedes.
    fn unused_subsample(&self, algorithm: Algorithm, rotates_first: bool) -> Option<String> {
        let m = self.subsample.filter(|&m| m > 0)?;
        (matches!(algorithm, Algorithm::Picard { .. }) && !rotates_first).then(|| {
            format!(
                "subsample={m} has no effect here: maximum likelihood begins on a subsample only if the rows are whitened and no initial \
                 matrix is given"
            )
        })
    }

    /// Whether `fun` has an effect.
    fn chooses_contrast(&self) -> bool {
        matches!(self.algorithm, IcaAlgorithm::Picard | IcaAlgorithm::FastIca)
    }

    /// Refuses incompatible settings.
    fn check(&self) -> Result<()> {
        let refused =
            |name: &str, got: &str, why: &str, remedy: &str| Err(Error::setting(name, got, why, remedy));
        match self.algorithm {
            IcaAlgorithm::Picard if self.fun == ContrastFunction::Adaptive => Ok(()),
            IcaAlgorithm::FastIca if self.fun == ContrastFunction::Adaptive => {
                let why = "only algorithm='picard' fits contrasts to the sources";
                refused("fun", "adaptive", why, "leave the algorithm out, or choose another fun")
            }
            IcaAlgorithm::Picard if !self.ortho && self.fun != ContrastFunction::LogCosh => {
                let why = "with ortho=false the contrast must be a log-density up to its sign";
                let remedy = "choose fun='logcosh', or a search over rotations (algorithm='picard' with ortho=true, or 'fastica')";
                refused("fun", self.fun.name(), why, remedy)
            }
            IcaAlgorithm::SigmaPca if self.whiten == Whitening::Not(false) => {
                let why = "the first layer of algorithm='sigma-pca' whitens the data";
                refused("whiten", "false", why, "leave it out, or choose another algorithm")
            }
            _ => Ok(()),
        }
    }
}

/// A specification from settings by name, checked against the list of the method.
pub(super) fn from_settings<S: serde::de::DeserializeOwned>(
    settings: &[Setting],
    given: &Map<String, Value>,
) -> Result<S> {
    let resolved = Value::Object(super::resolve(settings, given)?);
    serde_json::from_value(resolved.clone()).map_err(|e| {
        let got = resolved.get("n_components").map(Value::to_string).unwrap_or_default();
        Error::setting(
            "n_components",
            got,
            e.to_string(),
            "give an integer, a share between 0 and 1, or null",
        )
    })
}

/// Calls `fit` in the thread pool; small problems are solved on the calling thread.
pub(super) fn pooled<T: Real>(
    rows: &Rows<'_, T>,
    run: &Run<'_>,
    fit: impl FnOnce(&Rows<'_, T>) -> Result<Model> + Send,
) -> Result<Model> {
    let model = match rows.n_rows().unwrap_or(0).saturating_mul(rows.n_features() as u64) < 1 << 15 {
        true => fit(rows),
        false => rows.pooled(run.threads, || fit(rows)),
    };
    Ok(model?.of_weighted_rows(rows.weighted_rows()))
}

/// A square matrix from the setting `w_init`.
///
/// # Errors
///
/// A matrix that is not square, numbers that are not finite, a singular matrix.
pub(super) fn matrix(rows: &[Vec<f64>]) -> Result<Matrix<f64>> {
    let k = rows.len();
    if k == 0 || rows.iter().any(|r| r.len() != k) || rows.iter().flatten().any(|x| !x.is_finite()) {
        return Err(Error::setting(
            "w_init",
            format!(
                "{} of {}",
                counted(k as u64, "row"),
                counted(rows.first().map_or(0, Vec::len) as u64, "number")
            ),
            "must be a square matrix of finite numbers",
            "give as many rows as columns, one for each source",
        ));
    }
    let matrix = Matrix::from_vec(k, k, rows.concat());
    let (values, _) = factor::svd_right(&matrix)?;
    let rank = values.iter().filter(|v| **v > k as f64 * f64::EPSILON * values[0]).count();
    match rank == k {
        true => Ok(matrix),
        false => Err(Error::setting(
            "w_init",
            format!("a {k} x {k} matrix of rank {rank}"),
            "must be invertible",
            format!("give {k} linearly independent rows, or leave it out for a random start"),
        )),
    }
}

/// The initial unmixing matrix in the coordinates, if one is given: by a model, or as a setting.
pub(super) fn initial(
    w_init: Option<&[Vec<f64>]>,
    coordinates: &Coordinates,
    n_features: usize,
    run: &Run<'_>,
) -> Result<Option<Matrix<f64>>> {
    let given = w_init.map(matrix).transpose()?;
    let Some(filters) = run.initial_components(n_features, coordinates.k())? else { return Ok(given) };
    if given.is_some() {
        return Err(Error::setting(
            "w_init",
            "a matrix",
            "a model to start from (init) is given, too",
            "give one of the two",
        ));
    }
    Ok(Some(coordinates.unfolded(filters.top_rows(coordinates.k()))))
}

impl Fit for Ica {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn partial_fit(&self, before: Option<&Model>, rows: &AnyRows<'_>, run: &Run<'_>) -> Result<Model> {
        crate::with_rows!(rows, rows => Ica::partial_fit(self, before, rows, run))
    }
    fn takes_batches(&self) -> bool {
        self.algorithm == IcaAlgorithm::Easi
    }
}
