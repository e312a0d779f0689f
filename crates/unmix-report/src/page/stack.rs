//! Stacked networks: the fit of each layer, and the filters of every layer as vectors over the columns of the rows.

use super::components::{PICTURE_BYTES, VectorStyle, figure_of};
use super::{Context, of_all, section};
use crate::figure;
use crate::number::{count, number};
use maud::{Markup, html};
use serde_json::Value;
use unmix::method::stacked_rfn::{filters, layers};
use unmix::{Matrix, Model, Result};

/// The section of models with layers; empty for others.
pub(super) fn of_layers(context: &Context<'_>) -> Result<Markup> {
    let Some(filters) = filters(context.model).transpose()? else { return Ok(html! {}) };
    let layers = layers(context.model)?;
    let last = layers.len() - 1;
    let look = VectorStyle::of_components(context);
    let total: usize = filters[..last].iter().map(|f| f.rows().min(most_of(look, f))).sum();
    let shrink = match look {
        VectorStyle::Pictures(layout) => layout.shrink_for(total.max(1), PICTURE_BYTES),
        _ => 1,
    };
    let lower: Vec<Markup> =
        (0..last).map(|i| lower(context, look, i, &filters[i], shrink)).collect::<Result<_>>()?;
    Ok(section(
        "stack",
        "Layers",
        html! {
            p.caption {
                "Each layer was fitted to the codes of the layer below it, the lowest to the rows. "
                @if last > 0 {
                    "A filter is what a unit with code 1 adds to a row when it is decoded through the layers below. \
                     Those of the last layer, layer " (last) ", are the components above."
                }
            }
            (table(&layers))
            div.panels {
                @for (i, layer) in layers.iter().enumerate().filter(|(_, layer)| layer.report().objective.len() > 1) {
                    figure {
                        figcaption { b { "objective of layer " (i) } }
                        (figure::objective(&layer.report().objective, layer.objective_over(), layer.report().diagnostics.contains_key("decreases")))
                    }
                }
            }
            @for filters in &lower { (filters) }
        },
    ))
}

/// Filters of a layer that are shown.
fn most_of(look: VectorStyle, filters: &Matrix<f64>) -> usize {
    look.limits(filters.rows() > filters.cols()).0
}

fn table(layers: &[Model]) -> Markup {
    let diagnostic =
        |layer: &Model, name: &str| layer.report().diagnostics.get(name).cloned().unwrap_or(Value::Null);
    let whole = |value: &Value| value.as_u64().map_or_else(String::new, count);
    html! {
        div.scroll { table {
            thead { tr {
                @for name in ["layer", "columns", "units", "units that are 0 in every row", "iterations", "objective", "decreases"] { th scope="col" { (name) } }
            } }
            tbody { @for (i, layer) in layers.iter().enumerate() { tr {
                th scope="row" { (i) }
                td { (count(layer.n_features() as u64)) }
                td { (count(layer.n_codes() as u64)) }
                td { (whole(&diagnostic(layer, "dead_units"))) }
                td { (count(layer.report().n_iter)) }
                td { (diagnostic(layer, "final_objective").as_f64().map_or_else(String::new, number)) }
                td { (whole(&diagnostic(layer, "decreases")["count"])) }
            } } }
        } }
    }
}

/// The filters of a layer below the last.
fn lower(
    context: &Context<'_>,
    look: VectorStyle,
    layer: usize,
    filters: &Matrix<f64>,
    shrink: usize,
) -> Result<Markup> {
    let shown = filters.rows().min(most_of(look, filters));
    let grid =
        if matches!(look, VectorStyle::Pictures(_) | VectorStyle::Heads) { "pictures" } else { "panels" };
    let figures = (0..shown).map(|j| {
        let alt_text = format!("Filter {j} of layer {layer}");
        figure_of(context, look, filters.row(j), shrink, (html! { b { (j) } }, &alt_text))
    });
    let figures: Vec<Markup> = figures.collect::<Result<_>>()?;
    Ok(html! {
        p.caption { strong { "Layer " (layer) } ": " (of_all(shown, filters.rows())) " filters." }
        div class=(grid) { @for figure in &figures { (figure) } }
    })
}
