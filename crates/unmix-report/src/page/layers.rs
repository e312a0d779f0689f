//! Error of the codes after each layer in comparison with ISTA and FISTA, and the learned parameters: of networks whose report has a table by layers.

use super::{Context, section};
use crate::figure::{self, Series};
use crate::number::{counted, number};
use maud::{Markup, html};
use serde_json::Value;

/// The section of networks; empty for other models.
pub(super) fn of_network(context: &Context<'_>) -> Markup {
    let Some(table) = context.model.report().diagnostics.get("by_layer") else { return html! {} };
    let supervised = table.get("code_error").is_some();
    let name = if supervised { "code_error" } else { "objective" };
    let curves = |name: &str, by: &dyn Fn(f64) -> f64| -> Vec<Series> {
        let of = |label: &'static str, table: &Value| Series { label, values: numbers(table, name, by) };
        vec![of("network", table), of("FISTA", &table["fista"]), of("ISTA", &table["ista"])]
    };
    let decibels = |x: f64| 10.0 * x.max(1e-300).log10();
    let error = if supervised { curves(name, &decibels) } else { curves(name, &|x| x) };
    let gap = curves("gap", &|x| x.max(1e-16).log10());
    let n = table["n_rows"].as_u64().unwrap_or(0);
    let trained: Vec<(&str, Vec<f64>)> =
        [("step of each layer", "layer_steps"), ("threshold of each layer", "thresholds")]
            .into_iter()
            .filter_map(|(label, name)| Some((label, context.model.tensor(name)?.f64s())))
            .filter(|(_, values)| values.len() > 1)
            .collect();
    section(
        "layers",
        "Layer by layer",
        html! {
            p.caption { (caption(table, name, supervised, n)) }
            div.panels {
                figure {
                    figcaption { b { @if supervised { "error of the codes after each layer" } @else { "objective after each layer" } } }
                    (figure::by_layer(&error, if supervised { "error, dB" } else { "objective" }))
                }
                figure {
                    figcaption { b { "duality gap after each layer" } }
                    (figure::by_layer(&gap, "log10 of the gap"))
                }
                @for (label, values) in &trained {
                    figure {
                        figcaption { b { (label) } }
                        (figure::by_layer(&[Series { label: "network", values: values.clone() }], label.split(' ').next().unwrap_or(label)))
                    }
                }
            }
        },
    )
}

fn numbers(table: &Value, name: &str, by: &dyn Fn(f64) -> f64) -> Vec<f64> {
    let all = table[name].as_array();
    all.into_iter().flatten().filter_map(Value::as_f64).map(by).collect()
}

fn caption(table: &Value, name: &str, supervised: bool, n: u64) -> Markup {
    let last = |table: &Value| numbers(table, name, &|x| x).last().copied().unwrap_or(0.0);
    let shown =
        |x: f64| if supervised { format!("{:.1} dB", 10.0 * x.max(1e-300).log10()) } else { number(x) };
    html! {
        "Means over " (counted(n, "row")) " of the fit. " span.key.dark { "Dark" } ": the network, which ends at " strong { (shown(last(table))) } "; "
        "dashed: as many steps of FISTA, which ends at " (shown(last(&table["fista"]))) "; " span.key.pale { "pale" } ": as many of ISTA, which ends at "
        (shown(last(&table["ista"]))) ". The duality gap is the sum over the rows, relative to half the sum of their squared norms."
    }
}
