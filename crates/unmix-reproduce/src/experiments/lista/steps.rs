//! Networks of which only the step lengths are learned, for the objective of the lasso.

use super::{NONZERO_SHARE, OTHER_DRAWS, Plan, RESTARTED, by_layer, weighted};
use crate::lab::Lab;
use crate::output::shown;
use serde_json::json;
use unmix::datasets::sparse_codes;
use unmix::internal::num::factor;
use unmix::internal::sparse::{Atoms, Checked, Lasso, Measure, StoppingRule, measure};
use unmix::model::Tensor;
use unmix::{AnyRows, Matrix, Result, Rows};
use unmix_report::{Content, Sheet};

/// Rows for the objective alone: every row has largest correlation 1 with an atom, alpha is .3.
const ALPHA: f64 = 0.3;

/// Numbers of training and test rows; 80 batches of 100 rows an epoch.
const OBJECTIVE_ROWS: [usize; 2] = [8000, 1000];
/// Columns and atoms, also of the quick form: training of the steps alone takes seconds.
const P: usize = 50;
const M: usize = 100;

/// Published excess of the objective of the chapter over its minimum, after steps of ISTA, steps of FISTA, and learned steps.
fn published(depth: usize) -> [&'static str; 3] {
    match depth {
        4 => [".169", ".127", ".0055"],
        8 => [".055", ".0096", "8.2e-4"],
        16 => ["8.3e-3", "3.1e-4", "2.5e-5"],
        24 => ["1.8e-3", "4.1e-5", "2.5e-6"],
        _ => [""; 3],
    }
}

/// Maximum excess of learned steps: the published one and half as much again, because draws and stages of training differ.
fn most_excess(depth: usize) -> Option<f64> {
    match depth {
        4 => Some(1.5 * 0.0055),
        8 => Some(1.5 * 8.2e-4),
        _ => None,
    }
}

/// Networks of which only the step lengths are learned, for the objective of the lasso.
pub(super) fn learned_steps(lab: &mut Lab<'_>, plan: &Plan, sheet: &mut Sheet) -> Result<()> {
    let [n, test] = OBJECTIVE_ROWS;
    lab.note(format!(
        "Learned steps: {n} training rows and {test} test rows of {P} numbers, {M} atoms, alpha = {ALPHA} of the least that makes every code 0; at 4 and 8 layers \
         at most 1.5 times the published excess of the objective."
    ))?;
    let made = sparse_codes((n + test, P, M), NONZERO_SHARE, 0.0, 11)?;
    let correlations = factor::multiply_transposed(&made.x, &made.atoms);
    let largest = |i: usize| correlations.row(i).iter().fold(1e-9, |most: f64, c| most.max(c.abs()));
    let scales: Vec<f64> = (0..n + test).map(largest).collect();
    let x = Matrix::from_fn(n + test, P, |i, c| made.x[(i, c)] / scales[i]);
    let (held, train) = (x.rows_from(n), x.top_rows(n));
    let least = minimum(&made.atoms, &held);
    let lipschitz = Atoms::<f64>::new(&made.atoms).lipschitz();
    let quick = lab.options.quick;
    let (mut lines, mut lengths) = (Vec::new(), Vec::new());
    let mut points: [Vec<(f64, f64)>; 3] = Default::default();
    for &depth in plan.depths {
        let mut settings = json!({"cell": "step", "alpha": ALPHA, "n_layers": depth, "batch_size": 100});
        settings["max_epochs"] = plan.step_epochs.into();
        let mut rows = AnyRows::F64(Rows::from_slice(train.as_slice(), P)?);
        let dictionary = [("dictionary", &made.atoms)];
        let model = Lab::fit_given("lista", settings.clone(), &dictionary, &mut rows, &lab.run_of(0, None))?;
        let tables = by_layer(lab, (&held, None), &made.atoms, &settings, Some(&model))?;
        let weights = vec![1.0; tables.len()];
        // The objective of the chapter is twice that of alpha.
        let above = |of: &str| 2.0 * (weighted(&tables, &weights, of, "objective")[depth - 1] - least);
        let found = [above("ista"), above("fista"), above("")];
        let known = published(depth);
        let name = |of: &str| format!("{depth} layers, {of}: F - F*");
        lab.beside(name("ISTA"), found[0], known[0], OTHER_DRAWS)?;
        lab.beside(name("FISTA"), found[1], known[1], RESTARTED)?;
        let (most, mut condition) = (most_excess(depth), String::from("below FISTA"));
        if let Some(most) = most {
            condition += &format!(", at most {}", shown(most));
        }
        let holds = found[2] < found[1] && most.is_none_or(|most| found[2] <= most);
        lab.check(name("learned steps"), found[2], known[2], &condition, holds)?;
        points.iter_mut().zip(found).for_each(|(line, y)| line.push((depth as f64, y)));
        let steps = model.tensor("layer_steps").map(Tensor::f64s).unwrap_or_default();
        let steps: Vec<f64> = steps.iter().map(|t| t * lipschitz).collect();
        let each = |(l, t): (usize, &f64)| vec![depth.to_string(), (l + 1).to_string(), shown(*t)];
        lines.extend(steps.iter().enumerate().map(each));
        lengths.push((depth, steps));
    }
    lab.table("learned-steps", &["layers", "layer", "step"], &lines)?;
    let all = || lengths.iter().flat_map(|(_, steps)| steps.iter().copied());
    let known = if quick { ["", ""] } else { ["1.7", "5.6"] };
    let why = "other stages of training";
    let what = |of: &str| format!("{of} learned step, in units of 1/||A||²");
    lab.beside(what("least"), all().fold(f64::INFINITY, f64::min), known[0], why)?;
    lab.beside(what("largest"), all().fold(0.0, f64::max), known[1], why)?;
    let names = ("layers, or steps".into(), "F - F*".into());
    let lines = ["ISTA", "FISTA", "learned steps"].map(String::from).into_iter().zip(points).collect();
    sheet.add("trained for the objective", Content::Lines { lines, names, log_y: true, shaded: Vec::new() });
    let line = |(depth, steps): (usize, Vec<f64>)| {
        let points = steps.into_iter().enumerate().map(|(l, t)| ((l + 1) as f64, t)).collect();
        (format!("{depth} layers"), points)
    };
    let lines = lengths.into_iter().map(line).collect();
    let names = ("layer".into(), "step, in units of 1/||A||²".into());
    sheet.add("learned steps", Content::Lines { lines, names, log_y: false, shaded: Vec::new() });
    Ok(())
}

/// The mean over rows of the minimum of `1/2 ||x - z A||² + alpha ||z||_1`.
fn minimum(atoms: &Matrix<f64>, x: &Matrix<f64>) -> f64 {
    let ready = Atoms::<f64>::new(atoms);
    let mut lasso = Lasso::of(ALPHA);
    lasso.stop = StoppingRule::UpTo { tol: 1e-13, max_passes: 100_000 };
    let mut codes = vec![0.0; x.rows() * atoms.rows()];
    lasso.code_all(&ready, x.as_slice(), &mut codes);
    let mut found = vec![Measure::default(); x.rows()];
    measure(&ready, (ALPHA, false), x.as_slice(), &codes, &mut found, &mut Checked::default());
    found.iter().map(|m| m.objective).sum::<f64>() / x.rows() as f64
}
