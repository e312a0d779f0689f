//! The objective over iterations, and why it does not change in one direction alone.

use crate::figure;
use crate::number::{count, number};
use crate::svg::extent;
use maud::{Markup, html};
use serde_json::Value;
use unmix::Model;
use unmix::model::Counted;

/// The objective as a curve, where the fit has one.
pub(super) fn curve(model: &Model) -> Markup {
    let report = model.report();
    if report.objective.len() < 2 {
        return html! {};
    }
    html! {
        div.panels { figure {
            figcaption { b { "objective" } @if let Some(text) = decreases_sentence(model) { span { (text) } } }
            (figure::objective(&report.objective, model.objective_over(), report.diagnostics.contains_key("decreases")))
        }
        @for (quantity, when, values) in by_epoch(model) {
            figure { figcaption { b { (quantity) " " (when) } } (figure::over_epochs(&values, quantity)) }
        } }
        @if let Some(text) = rises(model) { p.caption { (text) } }
    }
}

/// What the report of a training has for every epoch, besides the objective: its name, when it is counted, and the numbers.
fn by_epoch(model: &Model) -> Vec<(&'static str, &'static str, Vec<f64>)> {
    let Some(epochs) = model.report().diagnostics.get("epochs") else { return Vec::new() };
    let numbers =
        |name: &str| -> Option<Vec<f64>> { epochs[name].as_array()?.iter().map(Value::as_f64).collect() };
    let quantities = [
        ("active units per row", "in each epoch", "l0"),
        ("dead units", "at the end of each epoch", "dead_units"),
    ];
    let found =
        quantities.into_iter().filter_map(|(quantity, when, name)| Some((quantity, when, numbers(name)?)));
    found.filter(|(.., values)| values.len() > 1).collect()
}

/// How often the objective fell, of methods that count it.
fn decreases_sentence(model: &Model) -> Option<String> {
    let report = model.report();
    let decreases = report.diagnostics.get("decreases")?;
    let (times, n_steps) = (decreases["count"].as_u64()?, report.objective.len().saturating_sub(1) as u64);
    Some(match times {
        0 => "it never falls".into(),
        _ => format!(
            "it falls in {} of {} {} (marked), by {} at most",
            count(times),
            count(n_steps),
            model.objective_over().word(n_steps),
            number(decreases["largest"].as_f64()?)
        ),
    })
}

/// Where an objective that is minimised rises, as numbered on the axis, and why, for solvers that do not lower it in every iteration.
fn rises(model: &Model) -> Option<String> {
    /// Rises by a smaller share of the range of the drawing cannot be seen.
    const LEAST_VISIBLE_SHARE: f64 = 1.0 / 500.0;
    let (reason, rounding) = reason(model)?;
    let objective = &model.report().objective;
    let (low, high) = extent(objective.iter().copied());
    let least = rounding.max(LEAST_VISIBLE_SHARE * (high - low));
    let pairs = objective.windows(2).zip(2..).filter(|(pair, _)| pair[1] - pair[0] > least);
    let places: Vec<u64> = pairs.map(|(_, place)| place).collect();
    let over = model.objective_over().word(places.len() as u64);
    (!places.is_empty()).then(|| format!("The objective rises in {over} {}. {reason}", listed(&places)))
}

const SIGNS: &str = "In these iterations the estimate of whether a source is super- or sub-Gaussian changed, and with it the objective; while it \
                     does not change, every iteration lowers the objective.";
const FIXED_POINT: &str = "FastICA takes its fixed-point steps without a check of the objective, which need not fall in every iteration.";
const PURSUIT: &str = "K-SVD computes the codes of every iteration by matching pursuit, which does not find the best codes, so the objective need \
                       not fall.";
const COLD: &str =
    "The codes of each iteration start from 0 (warm_start_codes=false), so the objective need not fall.";
const CONSTRAINT: &str = "The low-rank and the sparse part add up to the rows at convergence only; before, the objective may be below that of the \
                          solution.";
const MOMENTUM: &str = "Steps with momentum do not lower the objective in every iteration.";
const BATCHES: &str = "Each step is computed from a mini-batch, not from all rows, so the objective need not fall from one epoch to the next.";

/// Why the objective may rise, and the largest rise by rounding errors alone for reasons that do not hold for these. `None` for solvers that
/// lower the objective in every iteration, that maximise it, or of which nothing is known.
fn reason(model: &Model) -> Option<(&'static str, f64)> {
    let report = model.report();
    let setting = |name: &str| report.settings.get(name);
    let extended = setting("extended").and_then(Value::as_bool);
    // A loss of order 1 for each source.
    let of_losses = || {
        let (low, high) = extent(report.objective.iter().copied());
        8.0 * report.dtype.eps() * (model.n_components() as f64).max(low.abs()).max(high.abs())
    };
    match report.solver.as_str() {
        "picard-o" | "picard" if extended == Some(true) => Some((SIGNS, of_losses())),
        // FastICA as a solver of ICA has a monotone objective for fixed signs, which are always estimated.
        "fastica" if extended.is_some() => Some((SIGNS, of_losses())),
        "fastica" => Some((FIXED_POINT, 0.0)),
        "ksvd" => Some((PURSUIT, 0.0)),
        "alternating" if setting("warm_start_codes").and_then(Value::as_bool) == Some(false) => {
            Some((COLD, 0.0))
        }
        "alm" => Some((CONSTRAINT, 0.0)),
        "stable" => Some((MOMENTUM, 0.0)),
        _ => is_by_batches(model).then_some((BATCHES, 0.0)),
    }
}

/// Whether steps are computed from a part of the rows, and the objective is minimised: methods that maximise it count its decreases.
fn is_by_batches(model: &Model) -> bool {
    let report = model.report();
    let n = report.n_rows.map_or(report.n_samples, |n| n as f64);
    let size = report.settings.get("batch_size").or_else(|| model.settings().get("batch_size"));
    let size = size.and_then(Value::as_u64).unwrap_or(u64::MAX);
    model.objective_over() == Counted::Epochs
        && (size as f64) < n
        && !report.diagnostics.contains_key("decreases")
}

/// "3", "3 and 5", or the first ones and how many there are besides.
fn listed(places: &[u64]) -> String {
    const MOST_PLACES: usize = 6;
    let texts: Vec<String> = places.iter().take(MOST_PLACES).map(|place| count(*place)).collect();
    let more = places.len().saturating_sub(MOST_PLACES);
    match texts.split_last() {
        _ if more > 0 => format!("{} and {} more", texts.join(", "), count(more as u64)),
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn few_iterations_are_listed_and_many_are_counted() {
        assert_eq!(
            [listed(&[3]), listed(&[3, 5]), listed(&[3, 5, 1200])],
            ["3", "3 and 5", "3, 5 and 1,200"]
        );
        assert_eq!(listed(&[2, 3, 4, 5, 6, 7, 8, 9]), "2, 3, 4, 5, 6, 7 and 2 more");
    }
}
