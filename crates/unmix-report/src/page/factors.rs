//! A factor analysis: loadings as a heat map with uniquenesses and Heywood cases, correlations of the factors, and tests of fit.

use super::{Context, section};
use crate::colour::{diverging, hex};
use crate::factors::{FactorTable, fit_lines};
use crate::number::count;
use maud::{Markup, html};
use serde_json::Value;

/// Columns whose loadings are shown.
const MOST_COLUMNS: usize = 60;

/// Loadings, correlations and fit, of models that have them.
pub(super) fn of_factors(context: &Context<'_>) -> Markup {
    let Some(table) = FactorTable::of(context.model).map(Table) else { return html! {} };
    section(
        "factors",
        "Factors and uniquenesses",
        html! {
            p.caption {
                "Loadings in standard deviations of each column: " span.key.plus { "orange" } " positive, " span.key.minus { "blue" }
                " negative. The uniqueness is the share of a column's variance that no factor explains"
                @if !table.0.heywood.is_empty() { "; " span.heywood { "H" } " marks Heywood cases, where it is at its lower bound" }
                "."
                @if table.shown() < table.0.columns.len() {
                    " The first " (table.shown()) " of " (count(table.0.columns.len() as u64)) " columns are shown."
                }
            }
            div.columns {
                div.scroll { (table.loadings()) }
                div.scroll {
                    (table.correlations())
                    (fit(context))
                }
            }
        },
    )
}

struct Table(FactorTable);

impl Table {
    fn shown(&self) -> usize {
        self.0.columns.len().min(MOST_COLUMNS)
    }

    fn loadings(&self) -> Markup {
        let k = self.0.loadings.rows();
        html! {
            table.numbers.heat {
                thead { tr {
                    th scope="col" { "column" }
                    @for a in 0..k { th scope="col" { "factor " (a) } }
                    th scope="col" { "uniqueness" }
                } }
                tbody {
                    @for j in 0..self.shown() {
                        tr {
                            th scope="row" { (self.0.columns[j]) }
                            @for a in 0..k { (coloured(self.0.loadings[(a, j)])) }
                            td { (format!("{:.2}", self.0.uniqueness[j])) @if self.0.heywood.contains(&j) { " " span.heywood { "H" } } }
                        }
                    }
                }
            }
        }
    }

    /// Of oblique factors.
    fn correlations(&self) -> Markup {
        let k = self.0.correlation.rows();
        let oblique = self.0.is_oblique();
        html! {
            @if oblique {
                table.numbers.heat {
                    thead { tr { th scope="col" { "correlation" } @for a in 0..k { th scope="col" { "factor " (a) } } } }
                    tbody {
                        @for a in 0..k {
                            tr { th scope="row" { "factor " (a) } @for b in 0..k { (coloured(self.0.correlation[(a, b)])) } }
                        }
                    }
                }
            }
        }
    }
}

/// A cell on the colours from -1 to 1.
fn coloured(x: f64) -> Markup {
    let ground = hex(diverging(x));
    // The ends of the map are dark, in a dark page, too.
    let ink = if x.abs() > 0.65 { "#ffffff" } else { "#1d2430" };
    html! { td style=(format!("background:{ground};color:{ink}")) { (format!("{x:.2}")) } }
}

/// Tests and indices of fit.
fn fit(context: &Context<'_>) -> Markup {
    let Some(Value::Object(fit)) = &context.model.report().fit else { return html! {} };
    html! {
        table {
            thead { tr { th scope="col" { "fit" } th scope="col" { "value" } } }
            tbody {
                @for (label, value) in fit_lines(fit) {
                    tr { th scope="row" { (label) } td { (value) } }
                }
            }
        }
    }
}
