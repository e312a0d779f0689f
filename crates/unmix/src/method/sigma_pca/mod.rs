//! sigma-PCA: orthogonal axes by variance, and by independence where variance does not distinguish axes.
//!
//! **Finds** independent sources mixed by a rotation, with their variances: the principal components where variances differ, and the
//! sources themselves where variances are equal, which PCA returns in an arbitrary rotation.
//! **Model** `x = mean + u W'`, `u_j = sigma_j h(y_j / sigma_j)`, `y = (x - mean) W`, `W` with orthonormal columns.
//! **Algorithm** (`solver="gpm"`, the default):
//!  1. covariance, its first `4 k` axes, and the rows in their coordinates (`neural::start`);
//!  2. from the principal axes, `H_j = -sigma_j^3 E[x phi(z_j)]`, `phi = (h - z) h'`, `W <- polar(H)`, until `H = W F` with `F`
//!     symmetric (`neural::gpm`): the fixed point of the published rule, kept strictly orthonormal;
//!  3. `a` of `h = a tanh(z / a)` is chosen during the iterations for every component, as the width that
//!     better separates it from others of the same variance (`neural::auto`);
//!  4. the same on two halves of the rows, a verdict on every component (`neural::pairs`), order by variance, canonical
//!     sign.
//!
//!
//! `constraint="native"` computes the published fixed point itself, unit columns that are only nearly orthogonal, by a second-order
//! solver (`neural::native`).
//!
//! `variant=` selects a published rule instead, and `solver="sgd"` or `"adam"` the main one: training on
//! mini-batches from the principal axes (`neural::train`).
//!
//! **Cost** that of PCA, and for each of some tens of sweeps `4 n r k` operations (`r = min(rank, 4 k)`) and `n k` hyperbolic tangents;
//! the coordinates are kept in memory up to 1 GiB.
//! **Equals** PCA where nothing but variance distinguishes components (Gaussian rows). **Fails** where the mixing is not orthogonal: it
//! then finds the nearest orthogonal one. Two Gaussian sources of equal variance are not identifiable, which the report mentions.
//!
//! "sigma-PCA: a unified neural model for linear and nonlinear principal component analysis", arXiv 2311.13580, eqs. 23-37. Polar
//! steps: M. Journée, Y. Nesterov, P. Richtárik & R. Sepulchre (2010), J. Mach. Learn. Res. 11:517.

mod halves;
mod model;
mod settings;
mod trained;
mod verdicts;

use super::neural_pca::variants;
use super::{Accepts, Fit, Method, Variant, needs};
use crate::data::{Rows, check_n_rows};
use crate::error::{Error, Result, counted, there_are};
use crate::model::Model;
use crate::neural::gpm::{FixedPoint, GpmOptions};
use crate::neural::nonlinearity::Nonlinearity;
use crate::neural::start::{Principal, PrincipalOptions};
use crate::neural::{NONLINEAR, native};
use crate::num::{Real, factor};
use crate::run::Run;
use crate::spectrum::Bounds;
use serde_json::{Map, Value};
use settings::SETTINGS;
use std::borrow::Cow;

pub use crate::choices::Automatic as Auto;
#[doc(inline)]
pub use crate::neural::{ActivationFunction, Slope};
pub use settings::{BetaScale, Constraint, Order, Reconstruct, SigmaPca, Solver, Widths};

/// Result of a solver.
struct SolverOutput<'a, T: Real> {
    principal: Principal<'a, T>,
    solved: FixedPoint,
    /// The nonlinearity of the statistics for the verdicts.
    h: Nonlinearity,
    extras: model::ReportExtras,
}

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "sigma-pca",
    class: "SigmaPCA",
    summary: "orthogonal directions by variance and independence, which also separate sources of equal variance",
    settings: SETTINGS,
    variants: &VARIANTS,
    accepts: Accepts { sparse: false, weights: true, stream: true, remote: true, missing: false },
    by_independence: true,
    of_signals: true,
    random_start: false,
    select_by_variances: false,
    to_compare: &[("halves", "false")],
    equals: &["Gaussian rows: pca, with variances divided by n"],
    references: &["sigma-PCA, arXiv 2311.13580", "Journée, Nesterov, Richtárik & Sepulchre 2010"],
    spec: |given| Ok(Box::new(SigmaPca::from_settings(given)?)),
    code: model::code,
    density: None,
    // Verdicts need sums over up to 32 blocks of rows, and their scatter.
    memory: |n, p| {
        // Coordinates of all rows, and of the halves on which widths are chosen and verdicts are based.
        let coordinates = needs::of_coordinates(n, p).saturating_mul(3);
        let search = needs::of_orthonormal(n, p, 18).saturating_add(coordinates);
        vec![("gpm", search.saturating_add(needs::of_blocks(n, p, 64)))]
    },
};

const VARIANTS: [Variant; 24] = variants(&NONLINEAR);

impl SigmaPca {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of SigmaPCA's settings, an invalid value of a setting, incompatible settings.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        let mut given = given.clone();
        // On a command line the word may be parsed as a boolean.
        if given.get("deriv") == Some(&Value::Bool(true)) {
            given.insert("deriv".into(), "true".into());
        }
        let spec: Self = super::from_settings(SETTINGS, &given)?;
        spec.check()?;
        Ok(spec)
    }

    /// Fits. Rows from a one-pass source are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, weights whose sum is at most 1, no column that varies, more components
    /// than `min(n, p)`, incompatible settings, what the source reports. More components than the rank are not an error,
    /// nor are Gaussian rows, which the report mentions.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.check(self)?;
        self.check()?;
        METHOD.begin(self, rows, run)?;
        let k = self.count(rows)?;
        if let Widths::Each(a) = &*self.widths()
            && a.len() != k
        {
            let why = there_are(k as u64, "component");
            return Err(Error::setting(
                "a",
                counted(a.len() as u64, "number"),
                why,
                "give one number for each, or one for all",
            ));
        }
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        // Small problems are solved on the calling thread, without a thread pool.
        let model = match n.saturating_mul(p as u64) < 1 << 15 {
            true => self.fit_and_compare(rows, k, run),
            false => rows.pooled(run.threads, || self.fit_and_compare(rows, k, run)),
        };
        Ok(model?.of_weighted_rows(rows.weighted_rows()))
    }

    fn fit_and_compare<T: Real>(&self, rows: &Rows<'_, T>, k: usize, run: &Run<'_>) -> Result<Model> {
        let mut ended = self.solution(rows, k, run)?;
        let halves = self.halves_of(&ended, rows, k, run)?;
        if self.halves == Some(true) && halves.is_none() && !run.ends_early() {
            let why = match rows.weights().is_some() {
                true => "rows with sample weights are not divided into halves",
                false => "half of the rows are too few for such a fit, or do not vary",
            };
            ended.extras.warnings.push(format!("halves=true has no effect: {why}"));
        }
        let verdicts = self.with_verdicts(&ended, halves.as_ref(), run)?;
        if halves.is_none()
            && self.compares_halves(rows, k)
            && run.ends_early()
            && !ended.solved.outcome.is_early()
        {
            // The solution is complete, its verdicts are not.
            ended.solved.outcome = run.early_outcome();
        }
        let model = self.model(ended, verdicts, k, rows.features(), run)?;
        Ok(model.with_halves(halves.map(|h| h.agree), run))
    }

    /// The solution for `k` components, without verdicts.
    fn solution<'a, T: Real>(
        &self,
        rows: &'a Rows<'_, T>,
        k: usize,
        run: &Run<'_>,
    ) -> Result<SolverOutput<'a, T>> {
        if self.is_trained() {
            rows.here("training by batches")?;
            return self.fit_trained(rows, k, run);
        }
        let ask = PrincipalOptions {
            method: "sigma-pca",
            k,
            center: self.center,
            standardize: self.standardize,
            kept: None,
        };
        let principal = Principal::new(rows, &ask, run)?;
        let (solved, tol) = self.solve(&principal, k.min(principal.r()), T::DTYPE.eps(), run)?;
        let h = self.nonlinearity(solved.a.clone());
        let extras = model::ReportExtras { tol, ..Default::default() };
        Ok(SolverOutput { principal, solved, h, extras }.in_order(self.order, self.center))
    }

    /// Solves for `k` components, at most as many as there are coordinates; also returns the tolerance.
    fn solve<T: Real>(
        &self,
        rows: &Principal<'_, T>,
        k: usize,
        eps: f64,
        run: &Run<'_>,
    ) -> Result<(FixedPoint, f64)> {
        let native = self.constraint == Constraint::Native;
        let tol = self.tol.unwrap_or(match native {
            true => 1e-3,
            false if eps < 1e-10 => 1e-8,
            false => 1e-4,
        });
        let auto = GpmOptions::auto(k, tol, self.max_iter);
        let how = match &*self.widths() {
            Widths::Auto(_) => auto,
            Widths::One(a) => GpmOptions { h: self.nonlinearity(vec![*a]), auto: false, ..auto },
            Widths::Each(a) => GpmOptions { h: self.nonlinearity(a[..k].to_vec()), auto: false, ..auto },
        };
        let start = match run.initial_components(rows.spectrum.mean.len(), k)? {
            Some(axes) => factor::polar_rows(&rows.unit_rows(&axes.top_rows(k).transposed()))?,
            None => rows.first(k),
        };
        let solved = match native {
            true => native::solve(&how, rows, start, run, |_, _| ())?,
            false => how.solve(rows, start, run, |_, _| ())?,
        };
        Ok((solved, tol))
    }

    /// Whether the nonlinearity has a width.
    fn has_width(&self) -> bool {
        self.h != Some(ActivationFunction::Sign)
    }

    /// The widths in use: 1 for the sign, which has none.
    fn widths(&self) -> Cow<'_, Widths> {
        if self.has_width() { Cow::Borrowed(&self.a) } else { Cow::Owned(Widths::One(1.0)) }
    }

    fn nonlinearity(&self, a: Vec<f64>) -> Nonlinearity {
        Nonlinearity { function: self.h.unwrap_or_default(), slope: self.deriv.unwrap_or_default(), a }
    }

    /// Rejects incompatible settings.
    fn check(&self) -> Result<()> {
        let refused = |name: &str, got: &dyn std::fmt::Display, why: &str, remedy: &str| {
            Err(Error::setting(name, got, why, remedy))
        };
        let other_h = self.h.is_some_and(|h| h != Default::default());
        let other_slope = self.deriv.is_some_and(|d| d != Default::default());
        if matches!(*self.widths(), Widths::Auto(_)) && !self.is_trained() && (other_h || other_slope) {
            let why = "only the width of h='tanh' with deriv='true' can be chosen from the data";
            return refused("a", &"auto", why, "give a number");
        }
        if self.reconstruct == Reconstruct::Nonlinear && !self.center {
            let why = "the nonlinear reconstruction is defined for centred rows";
            return refused("reconstruct", &"'nonlinear'", why, "choose 'linear', or center=true");
        }
        if self.is_trained() { self.check_trained() } else { self.check_deterministic() }
    }

    /// Rejects settings that the deterministic solvers do not have.
    fn check_deterministic(&self) -> Result<()> {
        let refused = |name: &str, got: &dyn std::fmt::Display, why: &str, remedy: &str| {
            Err(Error::setting(name, got, why, remedy))
        };
        if self.constraint == Constraint::Native && self.solver == Solver::Gpm {
            let why = "'gpm' keeps columns orthonormal, but those of constraint='native' are only nearly orthogonal";
            return refused("solver", &"'gpm'", why, "choose 'auto', or constraint='orthonormal'");
        }
        if self.constraint == Constraint::Native && !self.center {
            let why = "the fixed point of constraint='native' is defined for centred rows";
            return refused("center", &"false", why, "choose center=true, or constraint='orthonormal'");
        }
        Ok(())
    }

    fn count<T: Real>(&self, rows: &Rows<'_, T>) -> Result<usize> {
        let (n, p, origin) = (rows.n_counted(), rows.n_features(), rows.origin());
        check_n_rows("sigma-pca", n, origin, "give more rows")?;
        Bounds { n, p, origin, least: METHOD.least_components(), overcomplete: false }
            .count(self.n_components)
    }
}

impl Fit for SigmaPca {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}
