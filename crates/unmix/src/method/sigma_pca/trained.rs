//! The published rows: sigma-PCA on small batches.

use super::{Constraint, METHOD, Order, SigmaPca, Solver, Widths};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::method::neural_pca::check_training;
use crate::method::neural_pca::model::{Canonical, completed, warnings};
use crate::model::{Model, Outcome, Report, Tensor};
use crate::neural::{
    Begin, Mean, NONLINEAR, Optimiser, Row, Sigma, Spec, Trained, Training, find_row, native, train,
};
use crate::num::{Real, factor};
use crate::run::Run;
use crate::spectrum::{self, Decomposition, Request, auto_solver};
use serde_json::{Map, Value};

/// Steps that a fit takes unless told: as many as the published number of epochs comes to where rows are many, and enough of
/// them where they are few.
const STEPS: u64 = 3000;
/// Epochs as published.
const EPOCHS: u64 = 3;

impl SigmaPca {
    /// Whether small batches are asked for.
    pub(super) fn is_trained(&self) -> bool {
        !self.variant.is_null() || matches!(self.solver, Solver::Sgd | Solver::Adam)
    }

    /// The published row; the main method's where only a trained solver was asked for.
    fn row(&self) -> Result<&'static Row> {
        let key = match &self.variant {
            Value::Null => "ema-scaled-tanh".to_string(),
            Value::String(key) => key.clone(),
            other => other.to_string(),
        };
        Ok(find_row(&NONLINEAR, &key)?.1)
    }

    /// Refuses what trained rows cannot do.
    pub(super) fn check_trained(&self) -> Result<()> {
        self.row()?;
        if self.solver == Solver::Gpm {
            let why = "'gpm' is the deterministic solver of orthonormal components, not of a published row";
            return Err(Error::setting(
                "solver",
                "'gpm'",
                why,
                "choose 'auto', 'sgd' or 'adam', or no variant",
            ));
        }
        if self.constraint == Constraint::Native && !self.variant.is_null() {
            let why = "a published row has constraints of its own";
            return Err(Error::setting("constraint", "'native'", why, "leave it out, or the variant"));
        }
        if let Widths::Each(_) = self.a {
            let why = "a published row has one width for all components";
            return Err(Error::setting(
                "a",
                "a list",
                why,
                "give one number, or no variant and solver='gpm'",
            ));
        }
        if self.standardize {
            let why = "trained rows are in the columns' own units";
            return Err(Error::setting(
                "standardize",
                "true",
                why,
                "divide the columns first, or use no variant",
            ));
        }
        check_training(
            self.learning_rate.unwrap_or(0.01),
            self.batch_size.unwrap_or(128),
            self.max_epochs.map_or(1, |e| e as u64),
        )
    }

    /// The rule with what was asked for in the place of its own.
    fn rule(&self, row: &Row) -> Spec {
        let own = row.spec.unwrap_or(Spec::EMPTY);
        Spec {
            a: if let Widths::One(a) = self.a { a } else { own.a },
            h: self.h.unwrap_or(own.h),
            slope: self.deriv.unwrap_or(own.slope),
            sigma: match self.sigma.as_deref() {
                Some("batch") => Sigma::Batch,
                Some("ema") => Sigma::Running,
                Some("train") => Sigma::Trained,
                Some("one") => Sigma::One,
                _ => own.sigma,
            },
            mean: if self.center { own.mean } else { Mean::Kept },
            ..own
        }
    }

    fn training(&self, n: u64) -> Training {
        let batch_size = self.batch_size.unwrap_or(128);
        let own = STEPS.div_ceil(n.div_ceil(batch_size as u64).max(1)).max(EPOCHS);
        Training {
            optimiser: if self.solver == Solver::Sgd { Optimiser::Sgd } else { Optimiser::Adam },
            learning_rate: self.learning_rate.unwrap_or(0.01),
            batch_size,
            max_epochs: self.max_epochs.map_or(own, |e| e as u64),
            tangent: self.tangent,
            // To the letter: one rate, published weights, the units of the data.
            decay: self.tangent,
            absolute: !self.tangent,
        }
    }

    pub(super) fn fit_trained<T: Real>(&self, rows: &Rows<'_, T>, k: usize, run: &Run<'_>) -> Result<Model> {
        if rows.weights().is_some() {
            return Err(Error::Unsupported {
                asked: "training on weighted rows".into(),
                found: "small batches are of rows that count once".into(),
                remedy: "leave the weights out, or choose solver='auto' without a variant".into(),
            });
        }
        let (row, n, p) = (self.row()?, rows.n_rows().unwrap_or(0), rows.n_features());
        let request = Request {
            method: "sigma-pca",
            solver: auto_solver(n, p, None, false),
            top: None,
            center: self.center,
            standardize: false,
            tol: 0.0,
            rounds: None,
            n_oversamples: 0,
        };
        let axes = spectrum::decompose(rows, run, &request)?;
        let (spec, how) = (self.rule(row), self.training(n));
        let begin = Begin::at_axes(rows, &axes, &spec, k, run)?;
        let trained = train(rows, &spec, &begin, &how, run)?;
        let features = rows.features().clone();
        let (tensors, kept) = self.parameters::<T>(&axes, &trained, k)?;
        let name = if how.optimiser == Optimiser::Sgd { "sgd" } else { "adam" };
        let mut report = Report::closed_form(name, axes.n, p, T::DTYPE, run.seed);
        report.sweeps = axes.sweeps + trained.epochs;
        report.n_iter = trained.steps;
        report.outcome = if trained.epochs < how.max_epochs { Outcome::Time } else { Outcome::Completed };
        report.rank = axes.rank;
        report.n_constant = axes.n_constant;
        report.orthonormality = tensors.get("components").map(|c| native::orthonormality(&c.to_matrix()));
        report.warnings = warnings(axes.n_constant, p, kept, k);
        if self.variant.is_null() && matches!(self.a, Widths::Auto(_)) {
            report.warnings.push(format!(
                "trained solvers have one a for all components, here {}; solver='auto' chooses one for each",
                trained.a
            ));
        }
        let settings = match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        report.settings = settings.clone();
        for (key, value) in [
            ("n_components", Value::from(k)),
            ("variant", row.key.into()),
            ("solver", name.into()),
            ("a", trained.a.into()),
            ("learning_rate", how.learning_rate.into()),
            ("batch_size", how.batch_size.into()),
            ("max_epochs", how.max_epochs.into()),
        ] {
            report.settings.insert(key.into(), value);
        }
        report.end(run);
        Model::new(&METHOD, settings, features, 0, tensors, report)
    }

    /// Unit columns, their variances and the width; and how many of them the rows determine.
    fn parameters<T: Real>(
        &self,
        axes: &Decomposition,
        trained: &Trained,
        k: usize,
    ) -> Result<(crate::method::Tensors, usize)> {
        let (dtype, share) = (T::DTYPE, (axes.n - 1.0) / axes.n);
        let along = factor::multiply(&axes.axes, &trained.w);
        let sorted = self.order == Order::Variance;
        let canonical = Canonical::of(&along, &axes.values, &axes.axes, dtype.eps(), sorted);
        let kept = canonical.axes.rows();
        let components = completed(canonical.axes, &axes.axes, k, dtype.eps())?;
        let mut variances: Vec<f64> = canonical.variances.iter().map(|v| v * share).collect();
        variances.resize(k, 0.0);
        let total = axes.total * share;
        let each = |f: &dyn Fn(f64) -> f64| variances.iter().map(|&v| f(v)).collect::<Vec<f64>>();
        let tensors = [
            ("components", Tensor::matrix(&components, dtype)),
            ("mean", Tensor::vector(&axes.mean, dtype)),
            ("explained_variance", Tensor::vector(&variances, dtype)),
            ("explained_variance_ratio", Tensor::vector(&each(&|v| v / total), dtype)),
            ("scale", Tensor::vector(&each(&|v| v.sqrt()), dtype)),
            ("a", Tensor::vector(&vec![trained.a; k], dtype)),
        ];
        Ok((tensors.into_iter().map(|(name, t)| (name.to_string(), t)).collect(), kept))
    }
}
