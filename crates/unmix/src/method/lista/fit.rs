//! Fitting: preparation, training, report.

use super::METHOD;
use super::gradient::Target;
use super::layers::by_layer;
use super::learner::{Sample, Training, TrainingState, Units};
use super::model;
use super::net::{Net, Params, Problem};
use super::settings::{LayerType, Lista, PenaltyWeight};
use super::stages::stages;
use super::sums::{auto_alpha, correlations};
use crate::data::{Batches, Rows};
use crate::error::Result;
use crate::learn::{Optimiser, Schedule, Trainer, TrainerState};
use crate::method::as_map;
use crate::model::{Model, Outcome, Report};
use crate::num::random::Stream as Draws;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::sparse::{Atoms, chosen};
use crate::stats::Correlations;
use serde_json::{Value, json};

/// Maximum number of rows on which the loss is monitored.
const MOST_MONITORED_ROWS: u64 = 4096;
/// Maximum number of these rows for which the table by layers is computed, drawn at random.
const MOST_TABLE_ROWS: u64 = 512;
/// The same once the fit has been ended early, so that the table takes about as long as a step.
const MOST_TABLE_ROWS_LATE: u64 = 32;
/// Number of products up to which the table is not shortened.
const MOST_QUICK_PRODUCTS: u64 = 1 << 31;

/// Selected rows, and their codes if these are known.
struct FixedRows<T> {
    x: Vec<T>,
    codes: Option<Vec<T>>,
}

impl<T: Real> FixedRows<T> {
    fn target(&self) -> Target<'_, T> {
        self.codes.as_deref().map_or(Target::Objective, Target::Codes)
    }

    /// At most `count` of these rows, drawn at random, in their order.
    fn drawn(&self, count: u64, problem: &Problem<T>, seed: u64) -> Self {
        let n = (self.x.len() / problem.p.max(1)) as u64;
        let rows = chosen(n, count, Draws::new(seed, 0x6c61_7965));
        let of_rows = |all: &[T], width: usize| -> Vec<T> {
            rows.iter().flat_map(|i| &all[*i as usize * width..(*i as usize + 1) * width]).copied().collect()
        };
        Self {
            x: of_rows(&self.x, problem.p),
            codes: self.codes.as_ref().map(|codes| of_rows(codes, problem.m)),
        }
    }
}

/// Result of training.
struct Trained<T: Real> {
    params: Params<T>,
    outcome: Outcome,
    objective: Vec<f64>,
    steps: u64,
    epochs: f64,
}

pub(super) fn fit<T: Real>(
    given: &Lista,
    rows: &Rows<'_, T>,
    (dictionary, codes): (&Matrix<f64>, Option<&Matrix<f64>>),
    run: &Run<'_>,
) -> Result<Model> {
    let atoms = Atoms::<T>::new(dictionary);
    let found = correlations(rows, &atoms, given.positive_code, run)?;
    let alpha = match given.alpha {
        PenaltyWeight::Number(alpha) => alpha,
        PenaltyWeight::Auto(_) => auto_alpha(&found, rows.origin(), given.positive_code)?,
    };
    let problem = Problem::new(given, &atoms, alpha)?;
    let codes: Option<Vec<T>> = codes.map(|codes| codes.as_slice().iter().map(|x| T::from_f64(*x)).collect());
    let fixed = picked(rows, codes.as_deref(), &problem, run)?;
    let start = start(given, &problem, &fixed, run)?;
    let units = units(&problem, dictionary, &found);
    let trained = trained(given, rows, (&problem, units), (&fixed, codes.as_deref()), start, run)?;
    run.stage("codes by layer")?;
    let across = trained.params.across(&problem);
    let net = Net { problem: &problem, params: &trained.params, across: &across };
    // Three curves of all layers, each by two products with a matrix of the sizes of the dictionary.
    let each =
        6 * (problem.n_layers as u64).saturating_mul((problem.m as u64).saturating_mul(problem.p as u64));
    let late = run.ends_early() && each.saturating_mul(MOST_TABLE_ROWS) > MOST_QUICK_PRODUCTS;
    let few = fixed.drawn(if late { MOST_TABLE_ROWS_LATE } else { MOST_TABLE_ROWS }, &problem, run.seed);
    let table = by_layer(net, &atoms, &few.x, few.codes.as_deref());
    let mut report = report(given, &problem, &found, (&trained, table), run);
    if late {
        report.warnings.push(format!(
            "the errors by layer were computed for {MOST_TABLE_ROWS_LATE} rows instead of {MOST_TABLE_ROWS}, because the fit was ended early"
        ));
    }
    let tensors = model::parameters(&problem, &atoms, &trained.params);
    let settings = as_map(given);
    Model::fitted(&METHOD, settings, rows.features().clone(), 0, tensors, report)
}

/// Evenly spaced rows, at most [`MOST_MONITORED_ROWS`], with their known codes.
fn picked<T: Real>(
    rows: &Rows<'_, T>,
    codes: Option<&[T]>,
    problem: &Problem<T>,
    run: &Run<'_>,
) -> Result<FixedRows<T>> {
    let n = rows.n_counted();
    let chosen: Vec<u64> = match n > MOST_MONITORED_ROWS {
        true => (0..MOST_MONITORED_ROWS)
            .map(|i| (u128::from(i) * u128::from(n) / u128::from(MOST_MONITORED_ROWS)) as u64)
            .collect(),
        false => (0..n).collect(),
    };
    let of_row = |codes: &[T], i: u64| codes[i as usize * problem.m..(i as usize + 1) * problem.m].to_vec();
    let codes = codes.map(|codes| chosen.iter().flat_map(|&i| of_row(codes, i)).collect());
    Ok(FixedRows { x: rows.picked(chosen, run)?, codes })
}

/// The parameters of the model given as a start, or steps of ISTA.
fn start<T: Real>(
    given: &Lista,
    problem: &Problem<T>,
    fixed: &FixedRows<T>,
    run: &Run<'_>,
) -> Result<Params<T>> {
    if let Some(params) = model::initial(given, (problem.m, problem.p), run)? {
        return Ok(params);
    }
    match problem.cell {
        LayerType::Alista => {
            run.stage("threshold")?;
            let largest = problem.largest_threshold(&fixed.x).max(f64::MIN_POSITIVE);
            Ok(problem.searched(&fixed.x, fixed.target(), largest))
        }
        _ => Ok(problem.ista(given.tied, 0.0)),
    }
}

fn units<T: Real>(problem: &Problem<T>, dictionary: &Matrix<f64>, found: &Correlations) -> Units {
    let square: f64 = dictionary.as_slice().iter().map(|a| a * a).sum();
    let length = (square / dictionary.rows() as f64).sqrt();
    let size = (found.squares / found.n.max(1.0)).sqrt();
    Units {
        weights: if problem.cell == LayerType::Lista { length } else { 1.0 / length },
        steps: if problem.cell == LayerType::Alista { 1.0 } else { 1.0 / problem.lipschitz },
        thresholds: (size / problem.lipschitz.sqrt()).max(f64::MIN_POSITIVE),
    }
}

fn trained<T: Real>(
    given: &Lista,
    rows: &Rows<'_, T>,
    (problem, units): (&Problem<T>, Units),
    (fixed, codes): (&FixedRows<T>, Option<&[T]>),
    start: Params<T>,
    run: &Run<'_>,
) -> Result<Trained<T>> {
    let batches = Batches::new(rows, given.batch_size, run.seed)?;
    let total = batches.per_epoch().saturating_mul(given.max_epochs);
    let rate = given.learning_rate.of(problem.cell);
    let rates = [rate, if problem.cell.has_matrices() { 10.0 * rate } else { rate }];
    let tied = (given.tied && problem.cell.by_layer()) || problem.cell == LayerType::GregorLecun;
    let together = tied || run.init.is_some();
    let plan = stages(problem, together && total > 0, total);
    let sample = Sample { x: &fixed.x, target: fixed.target() };
    let monotone = given.monotone || total == 0;
    let mut learner = Training::new(problem, plan, rates, units, codes, sample, monotone);
    if total == 0 {
        let loss = Some(learner.loss(&start, problem.n_layers));
        let objective = loss.into_iter().filter(|loss| loss.is_finite()).collect();
        return Ok(Trained { params: start, outcome: Outcome::Completed, objective, steps: 0, epochs: 0.0 });
    }
    let mut state = TrainerState::new(TrainingState::new(start.clone()));
    let (schedule, learning_rate) = (Schedule::Constant, 1.0);
    let trainer = Trainer {
        optimiser: Optimiser::Adam,
        learning_rate,
        schedule,
        max_epochs: given.max_epochs,
        patience: None,
    };
    let outcome = trainer.train(&batches, &mut learner, &mut state, run)?;
    let (params, loss) = learner.best(&state.learner, &start);
    let mut objective = match given.monotone {
        true => std::mem::take(&mut state.learner.accepted),
        false => std::mem::take(&mut state.history),
    };
    if given.monotone && objective.last().is_none_or(|last| loss < *last) {
        objective.push(loss);
    }
    let epochs = state.steps as f64 / batches.per_epoch() as f64;
    Ok(Trained { params, outcome, objective, steps: state.steps, epochs })
}

fn report<T: Real>(
    given: &Lista,
    problem: &Problem<T>,
    found: &Correlations,
    (trained, table): (&Trained<T>, Value),
    run: &Run<'_>,
) -> Report {
    let solver = if given.max_epochs == 0 { "ista" } else { "adam" };
    let solver =
        if given.max_epochs == 0 && problem.cell == LayerType::Alista { "line search" } else { solver };
    let mut report = Report::closed_form(solver, found.n, problem.p, T::DTYPE, run.seed);
    report.outcome = trained.outcome;
    report.n_iter = trained.steps;
    report.sweeps = 1 + trained.epochs.ceil() as u64;
    report.objective = trained.objective.clone();
    report.settings = as_map(given);
    report.settings.insert("alpha".into(), problem.alpha.into());
    report.settings.insert("learning_rate".into(), given.learning_rate.of(problem.cell).into());
    let loss = if given.codes.is_some() { "squared error of codes" } else { "objective of the lasso" };
    report.diagnostics.insert("loss".into(), json!(loss));
    report.diagnostics.insert("alpha_max".into(), json!(found.largest));
    report.diagnostics.insert("by_layer".into(), table);
    if problem.alpha >= found.largest {
        report.warnings.push(format!(
            "alpha is {}, but all codes of the lasso are zero for alpha of at least {}: choose a smaller value",
            problem.alpha, found.largest
        ));
    }
    let unused =
        problem.atoms.chunks_exact(problem.p).filter(|a| a.iter().all(|x| *x == T::default())).count();
    if unused > 0 {
        let sentence = match unused {
            1 => "atoms is zero, or a duplicate of an earlier one: its codes are 0",
            _ => "atoms are zero, or duplicates of earlier ones: their codes are 0",
        };
        report.warnings.push(format!("{unused} of {} {sentence}", problem.m));
    }
    report.end(run);
    report
}
