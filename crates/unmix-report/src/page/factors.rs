//! A factor analysis: loadings as a heat map with uniquenesses and Heywood cases, correlations of the factors, and tests of fit.

use super::{Context, section};
use crate::colour::{diverging, hex};
use crate::facts;
use crate::number::{count, number};
use maud::{Markup, html};
use serde_json::Value;
use unmix::Matrix;

/// Columns whose loadings are shown.
const MOST: usize = 60;

/// Loadings, correlations and fit, of models that have them.
pub(super) fn of_factors(context: &Context<'_>) -> Markup {
    let Some(table) = Table::of(context) else { return html! {} };
    section(
        "factors",
        "Factors and uniquenesses",
        html! {
            p.caption {
                "Loadings in standard deviations of each column: " span.key.plus { "orange" } " positive, " span.key.minus { "blue" }
                " negative. The uniqueness is the share of a column's variance that no factor explains"
                @if !table.heywood.is_empty() { "; " span.heywood { "H" } " marks Heywood cases, where it is at its floor" }
                "."
                @if table.shown() < table.names.len() {
                    " The first " (table.shown()) " of " (count(table.names.len() as u64)) " columns are shown."
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

struct Table {
    names: Vec<String>,
    /// Factors x columns, in standard deviations of the columns.
    loadings: Matrix<f64>,
    unique: Vec<f64>,
    heywood: Vec<usize>,
    correlation: Matrix<f64>,
}

impl Table {
    fn of(context: &Context<'_>) -> Option<Self> {
        let model = context.model;
        let common = model.tensor("communalities")?.f64s();
        let (raw, noise) = (model.tensor("components")?.to_matrix(), model.tensor("noise_variance")?.f64s());
        let correlation = model.tensor("factor_correlation")?.to_matrix();
        let heywood = model.tensor("heywood")?.f64s().iter().map(|j| *j as usize).collect();
        let (k, p) = (model.n_components(), model.n_features());
        let explained = |j: usize| -> f64 {
            let own = |a: usize| (0..k).map(|b| correlation[(a, b)] * raw[(b, j)]).sum::<f64>();
            (0..k).map(|a| raw[(a, j)] * own(a)).sum()
        };
        let scale: Vec<f64> = (0..p).map(|j| (explained(j) + noise[j]).sqrt()).collect();
        let entry = |a: usize, j: usize| if scale[j] > 0.0 { raw[(a, j)] / scale[j] } else { 0.0 };
        Some(Self {
            names: (0..p).map(|j| facts::feature_name(model, j)).collect(),
            loadings: Matrix::from_fn(k, p, entry),
            unique: (0..p).map(|j| if scale[j] > 0.0 { 1.0 - common[j] } else { 0.0 }).collect(),
            heywood,
            correlation,
        })
    }

    fn shown(&self) -> usize {
        self.names.len().min(MOST)
    }

    fn loadings(&self) -> Markup {
        let k = self.loadings.rows();
        html! {
            table.numbers.heat {
                thead { tr {
                    th scope="col" { "column" }
                    @for a in 0..k { th scope="col" { "factor " (a) } }
                    th scope="col" { "unique" }
                } }
                tbody {
                    @for j in 0..self.shown() {
                        tr {
                            th scope="row" { (self.names[j]) }
                            @for a in 0..k { (coloured(self.loadings[(a, j)])) }
                            td { (format!("{:.2}", self.unique[j])) @if self.heywood.contains(&j) { " " span.heywood { "H" } } }
                        }
                    }
                }
            }
        }
    }

    /// Of oblique factors.
    fn correlations(&self) -> Markup {
        let k = self.correlation.rows();
        let oblique = (0..k).any(|a| (0..a).any(|b| self.correlation[(a, b)].abs() > 1e-12));
        html! {
            @if oblique {
                table.numbers.heat {
                    thead { tr { th scope="col" { "correlation" } @for a in 0..k { th scope="col" { "factor " (a) } } } }
                    tbody {
                        @for a in 0..k {
                            tr { th scope="row" { "factor " (a) } @for b in 0..k { (coloured(self.correlation[(a, b)])) } }
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

/// Names of the tests and indices of fit on the page.
const NAMES: [(&str, &str); 12] = [
    ("log_likelihood", "log-likelihood"),
    ("aic", "AIC"),
    ("bic", "BIC"),
    ("chi_square", "chi-square"),
    ("degrees_of_freedom", "degrees of freedom"),
    ("p_value", "p-value of the test of fit"),
    ("rmsea", "RMSEA"),
    ("tli", "TLI"),
    ("kmo", "KMO"),
    ("bartlett_chi_square", "Bartlett's test: chi-square"),
    ("bartlett_degrees_of_freedom", "Bartlett's test: degrees of freedom"),
    ("bartlett_p_value", "Bartlett's test: p-value"),
];

/// Tests and indices of fit.
fn fit(context: &Context<'_>) -> Markup {
    let Some(Value::Object(fit)) = &context.model.report().fit else { return html! {} };
    let name = |key: &str| {
        NAMES
            .iter()
            .find(|(of, _)| *of == key)
            .map_or_else(|| key.replace('_', " "), |(_, name)| (*name).into())
    };
    let value = |value: &Value| match value {
        Value::Number(x) => x.as_f64().map(number),
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    html! {
        table {
            thead { tr { th scope="col" { "fit" } th scope="col" { "value" } } }
            tbody {
                @for (key, x) in fit {
                    @if let Some(text) = value(x) { tr { th scope="row" { (name(key)) } td { (text) } } }
                }
            }
        }
    }
}
