//! Quality of a fit in one line, from the numbers in its report and parameters.

use crate::number::{number, percent};
use serde_json::Value;
use unmix::Model;
use unmix::internal::error::counted;

/// Maximum number of entries of a list that are shown.
const MOST_SHOWN: usize = 20;

/// The line, without its end; `None` for models without such numbers.
pub(crate) fn line(model: &Model) -> Option<String> {
    let diagnostic = |name: &str| model.report().diagnostics.get(name).and_then(Value::as_f64);
    let m = model.n_components();
    let parts = [
        diagnostic("fvu").map(|fvu| format!("FVU (fraction of variance unexplained) {fvu:.3}")),
        diagnostic("l0").map(|l0| format!("L0 (active units per row) {l0:.1}")),
        diagnostic("mean_nonzero").map(|mean| format!("nonzero codes per row {mean:.1}")),
        objective(model),
        diagnostic("coherence").map(|cosine| format!("largest cosine of two atoms {cosine:.3}")),
        noise(model),
        diagnostic("sparse_share").map(|share| format!("sparse part in {} of the cells", percent(share))),
        blocks(model),
        diagnostic("dead_units").map(|dead| format!("{} of {m}", counted(dead as u64, "dead unit"))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The objective at the end, of methods whose objective is a measure of quality.
fn objective(model: &Model) -> Option<String> {
    let report = model.report();
    let diagnostics = &report.diagnostics;
    let last = |of: &Value| of["objective"].as_array()?.last()?.as_f64();
    if let Some(value) = diagnostics.get("final_objective") {
        return Some(format!("objective {}", number(value.as_f64()?)));
    }
    if let Some(table) = diagnostics.get("by_layer") {
        let (found, ista) = (number(last(table)?), number(last(&table["ista"])?));
        return Some(format!("objective of the lasso {found}, of ISTA with as many steps {ista}"));
    }
    if let Some(layers) = diagnostics.get("layers") {
        let values = layers.as_array()?.iter().map(|layer| layer["report"]["final_objective"].as_f64());
        let values: Option<Vec<f64>> = values.collect();
        return Some(format!("objective by layer {}", listed(&values?)));
    }
    let coded = diagnostics.contains_key("mean_nonzero") || diagnostics.contains_key("replaced");
    let value = report.objective.last().filter(|_| coded)?;
    Some(format!("objective {}", number(*value)))
}

/// The standard deviation of the noise, or its range over columns.
fn noise(model: &Model) -> Option<String> {
    let all = model.tensor("noise_std")?.f64s();
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = all.iter().copied().fold(0.0, f64::max);
    let range =
        if least < most { format!("{} to {} by column", number(least), number(most)) } else { number(most) };
    Some(format!("standard deviation of the noise {range}"))
}

/// Sizes of the blocks of components with equal scale, where some block has several: there any rotation of its axes is as likely.
fn blocks(model: &Model) -> Option<String> {
    let sizes = model.tensor("blocks")?.f64s();
    let several = sizes.iter().any(|size| *size > 1.0);
    let sizes: Vec<String> = sizes.iter().take(MOST_SHOWN + 1).map(f64::to_string).collect();
    several.then(|| {
        let sizes = shortened(sizes);
        format!("components by block {sizes} (within a block of several, the axes are an arbitrary rotation)")
    })
}

fn listed(values: &[f64]) -> String {
    shortened(values.iter().take(MOST_SHOWN + 1).map(|x| number(*x)).collect())
}

/// Words with commas between them; of too many, the first ones.
fn shortened(mut words: Vec<String>) -> String {
    if words.len() > MOST_SHOWN {
        words.truncate(MOST_SHOWN);
        words.push("...".into());
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use unmix::{AnyRows, Rows, Run, datasets};

    fn of(key: &str, settings: Value) -> Option<String> {
        let data = datasets::patterns(80, 4, 3, 0.3, 1);
        let mut rows = AnyRows::F64(Rows::from_slice(data.x.as_slice(), 16).unwrap());
        let settings = settings.as_object().cloned().unwrap();
        line(&unmix::fit(key, &settings, &mut rows, &Run::default()).unwrap())
    }

    #[test]
    fn methods_without_a_variance_explained_have_a_line() {
        for (key, settings, words) in [
            ("rfn", json!({"n_components": 4}), ["objective ", "dead units of 4"]),
            ("stacked-rfn", json!({"n_components": [4, 2]}), ["objective by layer ", ", "]),
            ("dictionary", json!({"n_components": 4}), ["objective ", "cosine of two atoms "]),
            ("rbm", json!({"n_components": 4}), ["FVU (", " unexplained) "]),
            ("sae", json!({"n_components": 8, "l0": 2, "max_epochs": 2}), ["FVU (", "; L0 (active units"]),
            ("robust-pca", json!({}), ["standard deviation of the noise ", "; sparse part in "]),
            (
                "robust-pca",
                json!({"standardize": true, "noise": 0.1}),
                [" by column; sparse part in ", " of the cells"],
            ),
            (
                "linear-eigengan",
                json!({"n_components": 3, "groups": [2, 1]}),
                ["components by block 2, 1 (", "block of several, the axes are an arbitrary rotation)"],
            ),
        ] {
            let found = of(key, settings).unwrap();
            assert!(words.iter().all(|word| found.contains(word)), "{key}: {found}");
        }
        assert_eq!(of("pca", json!({"n_components": 2})), None);
    }

    #[test]
    fn long_lists_are_shortened() {
        assert_eq!(listed(&[1.0, 2.0]), "1.000, 2.000");
        assert!(listed(&[1.0; 21]).ends_with("1.000, ...") && !listed(&[1.0; 20]).contains("..."));
    }
}
