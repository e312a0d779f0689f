//! Description of a model, as shown by the table and the page.

use crate::number::{amount, count, fixed, number, number_in, percent, seconds};
use serde_json::Value;
use unmix::{Matrix, Model, Outcome};

/// Shares of the variance for which the number of components is shown.
pub(crate) const LEVELS: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

/// The variance explained by each component, where the model has it.
#[derive(Default)]
pub(crate) struct Spectrum {
    /// Number of components.
    pub(crate) k: usize,
    /// Variance along each.
    pub(crate) variance: Option<Vec<f64>>,
    /// Share of the total variance.
    pub(crate) share: Option<Vec<f64>>,
    /// Cumulative sum of the shares.
    pub(crate) cumulative: Option<Vec<f64>>,
    /// Singular values.
    pub(crate) singular: Option<Vec<f64>>,
    /// The width of the nonlinearity, where components have one.
    pub(crate) width: Option<Vec<f64>>,
    /// Whether components are resolved, 1 or 0, where a method has that.
    pub(crate) resolved: Option<Vec<f64>>,
    /// Agreement of two halves of the rows on each, if halves were fitted.
    pub(crate) halves: Option<Vec<f64>>,
    /// Dimension of each subspace, and how many rows of the fit are in it, where these are what is found.
    pub(crate) dimension: Option<Vec<f64>>,
    pub(crate) members: Option<Vec<f64>>,
}

/// Standard deviations of the columns, of models that standardise them: 0 for constant columns; empty for other models. They are computed
/// from the scale of the noise and the communality of each column.
pub(crate) fn column_scales(model: &Model) -> Vec<f64> {
    let get = |name: &str| model.tensor(name).map(|t| t.f64s()).unwrap_or_default();
    let (scale, common) = (get("noise_scale"), get("communalities"));
    let share = |j: usize| common.get(j).map_or(1.0, |common| (1.0 - common).max(f64::EPSILON));
    scale.iter().enumerate().map(|(j, s)| s / share(j).sqrt()).collect()
}

impl Spectrum {
    /// From whichever of the tensors the model has.
    pub(crate) fn of(model: &Model) -> Self {
        let get =
            |name: &str| model.tensor(name).map(|t| t.f64s()).filter(|v| v.len() == model.n_components());
        let share = get("explained_variance_ratio");
        let cumulative = share.as_ref().map(|s| {
            let running = s.iter().scan(0.0, |sum, x| {
                *sum += x;
                Some(*sum)
            });
            running.collect()
        });
        Self {
            k: model.n_components(),
            variance: get("explained_variance").or_else(|| get("component_variance")),
            share,
            cumulative,
            singular: get("singular_values"),
            width: get("a"),
            resolved: get("resolved"),
            halves: model.report().halves.clone().filter(|h| h.len() == model.n_components()),
            dimension: get("dimensions"),
            members: model.tensor("labels").map(|labels| members(&labels.f64s(), model.n_components())),
        }
    }

    /// Fraction of the variance that all components explain together.
    pub(crate) fn kept(&self) -> Option<f64> {
        self.cumulative.as_ref()?.last().copied()
    }

    /// For each of [`LEVELS`], how many components explain at least that share; `None` where it takes more than there are.
    pub(crate) fn reach(&self) -> Option<Vec<(f64, Option<usize>)>> {
        let cumulative = self.cumulative.as_ref()?;
        // Rounding must not cost a component.
        let first = |level: f64| cumulative.iter().position(|c| *c >= level * (1.0 - 1e-6)).map(|i| i + 1);
        Some(LEVELS.iter().map(|&l| (l, first(l))).collect())
    }

    /// Names of the columns of the table.
    pub(crate) fn columns(&self) -> Vec<&'static str> {
        let known = [
            (self.variance.is_some(), "variance"),
            (self.share.is_some(), "share"),
            (self.cumulative.is_some(), "cumulative"),
            (self.singular.is_some(), "singular value"),
            (self.width.is_some(), "a"),
            (self.resolved.is_some(), "resolved"),
            (self.halves.is_some(), "halves agree"),
            (self.dimension.is_some(), "dimension"),
            (self.members.is_some(), "rows"),
        ];
        known.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect()
    }

    /// Row `i` of the table.
    pub(crate) fn row(&self, i: usize) -> Vec<String> {
        let text = |of: &Option<Vec<f64>>, f: &dyn Fn(f64) -> String| of.as_ref().map(|v| f(v[i]));
        let plain = |of: &Option<Vec<f64>>| of.as_ref().map(|v| number_in(v, v[i]));
        [
            plain(&self.variance),
            text(&self.share, &percent),
            text(&self.cumulative, &percent),
            plain(&self.singular),
            plain(&self.width),
            text(&self.resolved, &|r| if r == 0.0 { "no".into() } else { "yes".into() }),
            text(&self.halves, &|cosine| fixed(cosine, 2)),
            text(&self.dimension, &|d| count(d as u64)),
            text(&self.members, &|n| count(n as u64)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// How the fit ended, in words.
pub(crate) fn outcome(model: &Model) -> String {
    let report = model.report();
    let after = |n: u64| format!("{} {}", count(n), model.counted().word(n));
    let left = match (report.residual, report.tol) {
        (Some(r), Some(t)) => format!(" (residual {}, tolerance {})", number(r), number(t)),
        _ => String::new(),
    };
    match report.outcome {
        Outcome::Completed if is_imported(model) => "imported, not fitted".into(),
        // Closed forms, and solvers that take the rows one by one.
        Outcome::Completed if report.n_iter == 1 && report.objective.is_empty() => "completed".into(),
        Outcome::Completed => format!("completed, {}", after(report.n_iter)),
        Outcome::Converged => format!("converged after {}{left}", after(report.n_iter)),
        Outcome::MaxIter => format!("not converged: max_iter ended it after {}{left}", after(report.n_iter)),
        Outcome::Time => {
            format!("not converged: the time limit ended it after {}{left}", after(report.n_iter))
        }
        Outcome::Interrupted => format!("not converged: interrupted after {}{left}", after(report.n_iter)),
        // Of robust PCA: see the warnings.
        Outcome::Stalled if report.solver == "stable" => {
            format!("not converged: the noise estimate did not converge after {}{left}", after(report.n_iter))
        }
        Outcome::Stalled => {
            format!(
                "not converged: no further step improved the objective after {}{left}",
                after(report.n_iter)
            )
        }
        Outcome::Collapsed => {
            format!("collapsed: every feature is near 0 after {}", after(report.n_iter))
        }
        other => format!("{} after {}{left}", other.name(), after(report.n_iter)),
    }
}

/// Whether the parameters are from a file of another program: nothing was fitted.
pub(crate) fn is_imported(model: &Model) -> bool {
    let report = model.report();
    report.n_iter == 0 && report.sweeps == 0 && report.n_samples == 0.0
}

/// Rows, columns and type: "1,797 x 64 float64", and what the weights of the rows sum to, where they have any.
pub(crate) fn shape(model: &Model) -> String {
    let report = model.report();
    let weights = weights(model).map_or(String::new(), |sum| format!(", weights sum to {sum}"));
    format!("{} x {} {}{weights}", n_rows(model), count(report.n_features as u64), report.dtype)
}

/// How many rows the model was fitted to. Of weighted rows that is not what their weights sum to.
pub(crate) fn n_rows(model: &Model) -> String {
    match model.report() {
        report if report.n_rows.is_some() => report.n_rows.map_or(String::new(), count),
        // From a file without the number of weighted rows.
        report if report.n_samples.fract() != 0.0 => "?".into(),
        report => amount(report.n_samples),
    }
}

/// The sum of the sample weights, if there were any.
pub(crate) fn weights(model: &Model) -> Option<String> {
    let report = model.report();
    (report.n_rows.is_some() || report.n_samples.fract() != 0.0).then(|| amount(report.n_samples))
}

/// "200 rows", or "200 rows (weights sum to 2014.2)".
pub(crate) fn rows(model: &Model) -> String {
    let weights = weights(model).map_or(String::new(), |sum| format!(" (weights sum to {sum})"));
    let n = n_rows(model);
    let rows = if n == "1" { "row" } else { "rows" };
    format!("{n} {rows}{weights}")
}

/// How many rows have each of `k` labels.
fn members(labels: &[f64], k: usize) -> Vec<f64> {
    let mut counts = vec![0.0; k];
    for label in labels {
        if let Some(n) = counts.get_mut(*label as usize) {
            *n += 1.0;
        }
    }
    counts
}

/// What a code belongs to: a component, or a subspace, whose code is the distance to it.
pub(crate) fn unit(model: &Model) -> &'static str {
    if model.tensor("bases").is_some() { "subspace" } else { "component" }
}

/// The same, of several.
pub(crate) fn units(model: &Model) -> &'static str {
    if model.tensor("bases").is_some() { "subspaces" } else { "components" }
}

/// "12 components", or atoms, units or sources, by the method.
pub(crate) fn components(model: &Model) -> String {
    let k = model.n_components();
    format!("{} {}", count(k as u64), if k == 1 { unit(model) } else { units(model) })
}

/// "12 components".
pub(crate) fn number_of_components(k: usize) -> String {
    format!("{} {}", count(k as u64), if k == 1 { "component" } else { "components" })
}

/// Axes of the subspaces of a model, as rows, where it consists of these.
fn subspaces(model: &Model) -> Option<Vec<Matrix<f64>>> {
    let (all, dimensions) = (model.tensor("bases")?.to_matrix(), model.tensor("dimensions")?.f64s());
    let mut first = 0;
    let each = dimensions.iter().map(|d| {
        let axes = all.rows_from(first).top_rows(*d as usize);
        first += *d as usize;
        axes
    });
    Some(each.collect())
}

/// Time and threads of the fit, where they are known.
pub(crate) fn effort(model: &Model) -> Option<String> {
    let run = &model.report().run;
    let threads = if run.threads == 1 { "thread" } else { "threads" };
    (run.threads > 0).then(|| format!("{} on {} {threads}", seconds(run.seconds), run.threads))
}

/// Decoder vectors, one a row for each component: what one unit of it adds to a row. Of a subspace, its first axis, along which its rows have
/// the largest sum of squares; zeros where codes are not decoded.
pub(crate) fn decoder(model: &Model) -> Matrix<f64> {
    if model.n_codes() != model.n_components() {
        // Codes that are rotated back to the columns do not belong to components: these are the axes.
        return model.tensor("components").map_or_else(|| Matrix::zeros(0, 0), |t| t.to_matrix());
    }
    if let Some(mixing) = model.code().mixing() {
        return mixing.transposed();
    }
    let axes = subspaces(model).unwrap_or_default();
    let entry = |i: usize, j: usize| axes.get(i).filter(|a| a.rows() > 0).map_or(0.0, |a| a[(0, j)]);
    Matrix::from_fn(model.n_codes(), model.n_features(), entry)
}

/// Reliability of a component: the class of its mark on the page, a short text, and a full text.
pub(crate) struct Verdict {
    pub(crate) class: &'static str,
    pub(crate) short: &'static str,
    pub(crate) full: String,
}

/// The class of the mark of a verdict, and a short text for it.
fn kind_of_verdict(words: &str) -> (&'static str, &'static str) {
    match words {
        w if w.contains("may depend on initialisation") => ("open", "may depend on initialisation"),
        w if w.contains("depends on initialisation") => ("warn", "depends on initialisation"),
        w if w.starts_with("undecided") => ("open", "undecided"),
        w if w.starts_with("resolved as a group") => ("good", "in a group"),
        w if w.starts_with("resolved") => ("good", "resolved"),
        _ => ("warn", "not resolvable"),
    }
}

/// How many components have each verdict: "12 resolved, 3 undecided".
pub(crate) fn total_of_verdicts(stability: &Value) -> String {
    let kinds: Vec<&str> = stability["verdict"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|verdict| kind_of_verdict(verdict.as_str().unwrap_or("")).1)
        .collect();
    let order = [
        "resolved",
        "in a group",
        "undecided",
        "not resolvable",
        "may depend on initialisation",
        "depends on initialisation",
    ];
    let counted = order.map(|kind| (kinds.iter().filter(|other| **other == kind).count(), kind));
    let parts =
        counted.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{} {kind}", count(*n as u64)));
    parts.collect::<Vec<_>>().join(", ")
}

/// The reliability of component `i`, if known.
pub(crate) fn verdict(model: &Model, i: usize) -> Option<Verdict> {
    if let Some(found) = &model.report().stability {
        let words = found["verdict"][i].as_str()?.to_string();
        let halves = found["halves"][i].as_f64().map_or(String::new(), |h| format!("; halves {h:.3}"));
        let between = interval(found, "interval", i).map_or(String::new(), |i| format!(" ({i})"));
        let (class, short) = kind_of_verdict(&words);
        let finished = model.report().outcome.is_success();
        let end = if finished { "" } else { "; but the fit itself did not converge" };
        let class = if finished { class } else { "warn" };
        return Some(Verdict { class, short, full: words + &halves + &between + end });
    }
    let resolved = *Spectrum::of(model).resolved?.get(i)?;
    Some(match resolved == 0.0 {
        true => {
            Verdict { class: "warn", short: "not resolved", full: "not resolved: see the warnings".into() }
        }
        false => Verdict {
            class: "good",
            short: "resolved",
            full: "separated from every other component: by the upper bound, sampling rotated it by less than 18 degrees".into(),
        },
    })
}

/// Whether intervals of stability refer to new samples; in older model files they refer to further splits of the same rows.
pub(crate) fn has_intervals(stability: &Value) -> bool {
    stability["space_interval"].is_array()
}

/// "0.981 to 0.997", one of the intervals of stability, where it is one for other rows.
pub(crate) fn interval(stability: &Value, name: &str, j: usize) -> Option<String> {
    let ends = has_intervals(stability).then(|| &stability[name][j])?;
    // Outwards, so that a rounded estimate lies inside: the lower end, which decides whether a component is resolved, is not rounded up to
    // 0.9. An upper end below 0.9 stays below it: then the component is not resolvable.
    let least = unmix::stability::MIN_AGREEMENT;
    let (low, high) = (ends[0].as_f64()?, ends[1].as_f64()?);
    let down = |end: f64| (1000.0 * end).floor() / 1000.0;
    // Rounding of the product must not add a thousandth.
    let up = (1000.0 * high - 1e-9).ceil() / 1000.0;
    let up = if high < least && up >= least { down(high) } else { up };
    Some(format!("{} to {}", fixed(down(low), 3), fixed(up, 3)))
}

/// The verdict on component `j` in full: with the interval for the space of its group, where it is in one.
pub(crate) fn verdict_with_interval(stability: &Value, j: usize) -> String {
    let words = stability["verdict"][j].as_str().unwrap_or("").to_string();
    match interval(stability, "space_interval", j).filter(|_| words.contains("as a group")) {
        Some(space) => format!("{words} (agreement of the subspace {space})"),
        None => words,
    }
}

/// The number of resamples that the sampling error of the intervals is estimated from, if it is.
pub(crate) fn resamples(stability: &Value) -> Option<u64> {
    stability["bootstrap"].as_u64().filter(|number| *number > 0)
}

/// The sentence that intervals are `[0, 1]` because of a time limit, if so.
pub(crate) fn incomplete(stability: &Value) -> Option<&'static str> {
    let why = "the time limit was reached before all halves were fitted, so that intervals are from 0 to 1";
    stability["incomplete"].as_bool()?.then_some(why)
}

/// Number of random splits of the rows into halves; older model files have it as "cuts".
pub(crate) fn n_splits(stability: &Value) -> Option<u64> {
    stability["splits"].as_u64().or_else(|| stability["cuts"].as_u64())
}

/// The advice that more splits would narrow the intervals, if so and if some component is undecided.
pub(crate) fn few_splits(stability: &Value) -> Option<String> {
    let enough = unmix::stability::DEFAULT_SPLITS as u64;
    let splits = n_splits(stability).filter(|splits| *splits < enough && incomplete(stability).is_none())?;
    let undecided = stability["verdict"].as_array()?.iter().filter_map(Value::as_str);
    undecided.into_iter().any(|words| words.starts_with("undecided")).then(|| {
        format!(
            "intervals are wide with {splits} split{}; {enough} splits narrow them as far as splits can; beyond that, only more rows do",
            if splits == 1 { "" } else { "s" }
        )
    })
}

/// Mean of the rows, where the model subtracts one: a model that does not centre has zeros there.
pub(crate) fn mean(model: &Model) -> Option<Vec<f64>> {
    let mean = model.tensor("mean")?.f64s();
    (mean.len() == model.n_features() && mean.iter().any(|m| *m != 0.0)).then(|| mean.to_vec())
}

/// The name of column `j`, or its number.
pub(crate) fn feature_name(model: &Model, j: usize) -> String {
    match &model.features().names {
        Some(names) => names[j].clone(),
        None => format!("column {j}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_intervals_are_rounded_outwards_and_stay_on_their_side_of_the_threshold() {
        let shown = |low: f64, high: f64| {
            let ends = [[low, high]];
            let found = serde_json::json!({"space_interval": ends, "interval": ends});
            interval(&found, "interval", 0).unwrap()
        };
        assert_eq!(shown(0.98961, 0.99968), "0.989 to 1.000");
        assert_eq!(shown(0.89996, 0.99), "0.899 to 0.990");
        assert_eq!(shown(0.5, 0.89996), "0.500 to 0.899");
        assert_eq!((shown(0.9, 1.0), shown(0.0, 0.0)), ("0.900 to 1.000".into(), "0.000 to 0.000".into()));
    }
}
