//! The published variants: sigma-PCA trained on mini-batches.

use super::model::ReportExtras;
use super::{BetaScale, Reconstruct, SigmaPca, Solver, SolverOutput, Widths};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::learn::Optimiser;
use crate::model::Outcome;
use crate::neural::Constraint as Free;
use crate::neural::gpm::FixedPoint;
use crate::neural::nonlinearity::{ActivationFunction, Nonlinearity, Slope};
use crate::neural::separation::{Pass, Separation};
use crate::neural::start::{Principal, PrincipalOptions};
use crate::neural::{
    MEAN_VARIANCE, Mean, NONLINEAR, Orthogonality, Sigma, Spec, TableEntry, Trained, Training, TrainingStart,
    auto, find_row, train, train_by_widths,
};
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::spectrum::{self, Request, auto_solver};
use serde_json::Value;

/// Minimum number of steps of a fit by default: with few rows, the published number of epochs would have too few.
const LEAST_STEPS: u64 = 3000;
/// Published number of epochs.
const PUBLISHED_EPOCHS: u64 = 3;
/// L2 penalty on standard deviations that are learned although the variant does not learn them: without it they grow without bound.
const DEFAULT_SIGMA_L2: f64 = 1e-3;
/// Approximate value of `1 / std(tanh z)` for codes of unit variance.
const STEEP_SLOPE: f64 = 1.6;

impl SigmaPca {
    /// Whether training on mini-batches is requested.
    pub(super) fn is_trained(&self) -> bool {
        !self.variant.is_null() || matches!(self.solver, Solver::Sgd | Solver::Adam)
    }

    /// The published variant; that of the main method if only a trained solver was requested.
    fn row(&self) -> Result<&'static TableEntry> {
        let key = match &self.variant {
            Value::Null => "ema-scaled-tanh".to_string(),
            Value::String(key) => key.clone(),
            other => other.to_string(),
        };
        Ok(find_row(&NONLINEAR, &key)?.1)
    }

    /// Rejects settings that trained variants do not support.
    pub(super) fn check_trained(&self) -> Result<()> {
        self.row()?;
        if self.solver == Solver::Gpm {
            let why =
                "'gpm' is the deterministic solver of orthonormal components, not of a published variant";
            return Err(Error::setting(
                "solver",
                "'gpm'",
                why,
                "choose 'auto', 'sgd' or 'adam', or no variant",
            ));
        }
        if let Widths::Each(_) = *self.widths() {
            let why = "must be one number for a published variant";
            return Err(Error::setting(
                "a",
                "a list",
                why,
                "give one number, or no variant and solver='gpm'",
            ));
        }
        let row = self.row()?;
        if self.reconstruct == Reconstruct::Nonlinear && !self.rule(row).reconstructs() {
            let why = format!("'{}' reconstructs rows from the codes themselves", row.key);
            let remedy = "choose 'linear', or another variant";
            return Err(Error::setting("reconstruct", "'nonlinear'", why, remedy));
        }
        Ok(())
    }

    /// The rule, with the requested values in place of its own.
    fn rule(&self, row: &TableEntry) -> Spec {
        let own = row.spec.unwrap_or(Spec::EMPTY);
        // Without a nonlinear reconstruction these settings have no effect.
        let nonlinear = own.reconstructs();
        // The adaptive rule divides by such a factor, which would change rounding errors alone.
        let divided = own.adaptive && self.h.unwrap_or(own.h) == ActivationFunction::ScaledTanh;
        let spec = Spec {
            a: match *self.widths() {
                Widths::One(a) if nonlinear && !divided => a,
                _ => own.a,
            },
            h: self.h.filter(|_| nonlinear).unwrap_or(own.h),
            slope: self.deriv.filter(|_| nonlinear).unwrap_or(own.slope),
            sigma: self.sigma.as_deref().filter(|_| nonlinear).and_then(Sigma::named).unwrap_or(own.sigma),
            mean: if self.center { own.mean } else { Mean::Kept },
            ..own
        };
        let learns = spec.sigma == Sigma::Trained && own.sigma != Sigma::Trained;
        let sigma_l2 = self.sigma_l2.unwrap_or(if learns { DEFAULT_SIGMA_L2 } else { own.sigma_l2 });
        Spec { sigma_l2, ..spec }
    }

    /// The unit of `beta`.
    fn beta_scale(&self) -> BetaScale {
        // As published if gradients are not projected, either.
        let own = if self.tangent { BetaScale::Variance } else { BetaScale::Absolute };
        self.beta_scale.unwrap_or(own)
    }

    /// The rule with the requested weight, for rows that training divides by `begin.size`.
    fn with_weight(&self, mut spec: Spec, begin: &TrainingStart) -> Spec {
        let scale = self.beta_scale();
        if spec.orth != Orthogonality::None {
            // Training divides a record's weight by this one where it counts in units of the variance.
            let unit = if scale == BetaScale::Variance { MEAN_VARIANCE } else { 1.0 };
            spec.beta = self.beta.map_or(spec.beta, |beta| beta * unit);
            return spec;
        }
        if spec.triangle != 0.0 {
            // It is of the first degree in the rows, where the rest is of the second.
            spec.own_units |= scale == BetaScale::Absolute;
            spec.triangle = self.beta.unwrap_or(spec.triangle);
            return spec;
        }
        let literal = !self.tangent;
        let absolute = scale == BetaScale::Absolute;
        // Without a requested weight or unit, the rule is unchanged.
        let requested = self.beta.or(absolute.then_some(1.0)).filter(|_| sparsity(&spec).is_some());
        let Some(beta) = requested else { return spec };
        let by_length = |size: f64| begin.length / size;
        let factor = match (absolute, self.beta.is_some()) {
            (true, true) => 1.0,
            (true, false) => by_length(1.0),
            (false, _) if literal => by_length(1.0),
            (false, _) => by_length(begin.size.max(f64::MIN_POSITIVE)),
        };
        let counted_by_length = spec.by_length;
        if let Some(weight) = sparsity_mut(&mut spec) {
            *weight = beta * factor;
            spec.own_units |= absolute && counted_by_length;
            spec.by_length = false;
        } else {
            spec.nodiag_sigma = beta;
        }
        spec
    }

    /// The nonlinearity of the model.
    pub(super) fn activation_function(&self) -> Result<ActivationFunction> {
        match self.is_trained() {
            true => Ok(self.rule(self.row()?).h),
            false => Ok(self.h.unwrap_or_default()),
        }
    }

    /// Whether the nonlinearity is applied to codes that are not standardised.
    pub(super) fn without_sigma(&self) -> Result<bool> {
        Ok(self.is_trained() && self.rule(self.row()?).sigma == Sigma::One)
    }

    fn training(&self, n: u64) -> Training {
        let batch_size = self.batch_size.unwrap_or(128);
        let own = LEAST_STEPS.div_ceil(n.div_ceil(batch_size as u64).max(1)).max(PUBLISHED_EPOCHS);
        Training {
            optimiser: if self.solver == Solver::Sgd { Optimiser::Sgd } else { Optimiser::Adam },
            learning_rate: self.learning_rate.unwrap_or(0.01),
            batch_size,
            max_epochs: self.max_epochs.map_or(own, |e| e as u64),
            tangent: self.tangent,
            // As published: a constant learning rate, and weights in the units of the data.
            decay: self.tangent,
            absolute: !self.tangent,
            beta_by_variance: Some(self.beta_scale() == BetaScale::Variance),
        }
    }

    /// The principal axes of the rows.
    fn principal<'a, T: Real>(
        &self,
        rows: &'a Rows<'_, T>,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Principal<'a, T>> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let request = Request {
            method: "sigma-pca",
            solver: auto_solver(n, p, None, false),
            top: None,
            center: self.center,
            standardize: self.standardize,
            tol: 0.0,
            rounds: None,
            n_oversamples: 0,
            start: None,
        };
        // Rows are read in mini-batches: a copy of their coordinates would not be used.
        let ask = PrincipalOptions {
            method: "sigma-pca",
            k,
            center: self.center,
            standardize: self.standardize,
            kept: Some(0),
        };
        let axes = spectrum::decompose(rows, run, &request)?;
        Principal::over(rows, axes, p, &ask, run)
    }

    pub(super) fn fit_trained<'a, T: Real>(
        &self,
        rows: &'a Rows<'_, T>,
        k: usize,
        run: &Run<'_>,
    ) -> Result<SolverOutput<'a, T>> {
        if rows.weights().is_some() {
            return Err(Error::unsupported(
                "training on weighted rows",
                "mini-batches do not take sample weights",
                "leave the weights out, or choose solver='auto' without a variant",
            )
            .of_method(super::METHOD.key));
        }
        let (row, n, p) = (self.row()?, rows.n_rows().unwrap_or(0), rows.n_features());
        let principal = self.principal(rows, k, run)?;
        let (spec, how) = (self.rule(row), self.training(n));
        let mut begin = TrainingStart::at_axes(rows, &principal.spectrum, &spec, k, run)?;
        if let Some(axes) = run.initial_components(p, k)? {
            begin.w = axes.top_rows(begin.w.cols()).transposed();
        }
        let before = principal.sweeps();
        let spec = self.with_weight(spec, &begin);
        let trained = match self.chooses_widths() {
            true => {
                let mut choose = |w: &Matrix<f64>, now: &[f64]| {
                    Ok(auto::choose(&statistics(&principal, &principal.unit_rows(w), &[], run)?, now.len()))
                };
                train_by_widths(rows, &spec, &begin, &how, &mut choose, run)?
            }
            false => train(rows, &spec, &begin, &how, run)?,
        };
        // A fit resumed from a checkpoint did not compute the statistics of the epochs before.
        let separations = if self.chooses_widths() { trained.epochs + 1 } else { 0 };
        principal.count_sweeps(trained.epochs + (before + separations).saturating_sub(principal.sweeps()));
        let trained_scale = trained.sigma.last().filter(|_| spec.sigma == Sigma::Trained).cloned();
        let norms = (spec.constraint == Free::None).then(|| lengths(&trained.w));
        let (solved, h) = with_statistics(&principal, &spec, &how, trained, run)?;
        let extras = ReportExtras {
            tol: 0.0,
            settings: vec![
                ("variant", row.key.into()),
                ("sigma", sigma_name(&spec).map_or(Value::Null, Into::into)),
                ("a", solved.a[0].into()),
                ("learning_rate", how.learning_rate.into()),
                ("batch_size", how.batch_size.into()),
                ("max_epochs", how.max_epochs.into()),
            ],
            warnings: Vec::new(),
            trained_scale,
            norms,
        };
        Ok(SolverOutput { principal, solved, h, extras }.in_order(self.order, self.center))
    }

    /// Whether a width is chosen for every component after each epoch: without a requested variant, shape or width.
    fn chooses_widths(&self) -> bool {
        let own_shape = self.h.is_none_or(|h| h == ActivationFunction::Tanh)
            && self.deriv.is_none_or(|d| d == Slope::True);
        self.variant.is_null() && own_shape && matches!(*self.widths(), Widths::Auto(_))
    }
}

/// Statistics of the components under the nonlinearities `before`, then under the candidates of `a = "auto"`.
fn statistics<T: Real>(
    rows: &Principal<'_, T>,
    w: &Matrix<f64>,
    before: &[Nonlinearity],
    run: &Run<'_>,
) -> Result<Vec<Separation>> {
    let mut separations = before.to_vec();
    separations.extend(auto::CANDIDATES.map(|a| Nonlinearity::tanh(vec![a])));
    Ok(rows.pass_means(w, &Pass::with_separations(separations), run)?.separations)
}

/// Trained components with their statistics, in the form of a deterministic solution, and the nonlinearity of these statistics.
fn with_statistics<T: Real>(
    rows: &Principal<'_, T>,
    spec: &Spec,
    how: &Training,
    trained: Trained,
    run: &Run<'_>,
) -> Result<(FixedPoint, Nonlinearity)> {
    let w = rows.unit_rows(&trained.w);
    let k = w.rows();
    // A rule without standardised codes, or without a nonlinear reconstruction, is judged by the better candidate.
    let own = spec.reconstructs() && spec.sigma != Sigma::One;
    let width = if spec.adaptive { vec![STEEP_SLOPE] } else { trained.widths.clone() };
    let h = Nonlinearity { function: spec.h, slope: spec.slope, a: width };
    let mut separations = statistics(rows, &w, if own { std::slice::from_ref(&h) } else { &[] }, run)?;
    let candidates = separations.split_off(usize::from(own));
    let h = if own { h } else { Nonlinearity::tanh(auto::choose(&candidates, k)) };
    let own = separations.pop().unwrap_or_else(|| auto::best(&candidates, k));
    let solved = FixedPoint {
        sigma: rows.deviations(&w),
        solver: how.optimiser.name(),
        alpha: 2.0,
        a: if spec.adaptive { vec![STEEP_SLOPE; k] } else { trained.widths },
        own,
        candidates,
        better: None,
        outcome: if trained.epochs < how.max_epochs { run.early_outcome() } else { Outcome::Completed },
        n_iter: trained.steps,
        residual: None,
        column_residual: f64::NAN,
        history: Vec::new(),
        w,
    };
    let a = if h.a.len() == 1 { vec![h.a[0]; k] } else { h.a };
    Ok((solved, Nonlinearity { a, ..h }))
}

/// The value of the setting `sigma` for this rule; `None` for one without a nonlinear reconstruction, where it has no effect.
fn sigma_name(spec: &Spec) -> Option<&'static str> {
    spec.reconstructs().then_some(spec.sigma.name())
}

/// The weight of a rule's term of sparsity or independence, if it has one.
fn sparsity(spec: &Spec) -> Option<f64> {
    [spec.l1, spec.logcosh, spec.skew, spec.nodiag, spec.nodiag_sigma].into_iter().find(|w| *w != 0.0)
}

/// The same as a mutable reference, if the weight is relative to the mean length of a row; `nodiag_sigma` is not.
fn sparsity_mut(spec: &mut Spec) -> Option<&mut f64> {
    [&mut spec.l1, &mut spec.logcosh, &mut spec.skew, &mut spec.nodiag].into_iter().find(|w| **w != 0.0)
}

/// Lengths of the columns.
fn lengths(w: &Matrix<f64>) -> Vec<f64> {
    let square = |j: usize| (0..w.rows()).map(|i| w[(i, j)] * w[(i, j)]).sum::<f64>();
    (0..w.cols()).map(|j| square(j).sqrt()).collect()
}
