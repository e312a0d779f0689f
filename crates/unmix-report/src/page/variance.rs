//! Explained variance of each component.

use super::Context;
use crate::description::{self, Spectrum};
use crate::figure;
use crate::number::count;
use maud::{Markup, html};

/// Rows of the table that are not folded away.
const UNFOLDED_ROWS: usize = 10;

/// Rows of the table in all; the model file has the rest.
const MOST_ROWS: usize = 200;

pub(super) fn section_of(context: &Context<'_>) -> Option<Markup> {
    let spectrum = &context.spectrum;
    if spectrum.k == 0 || spectrum.columns().is_empty() {
        return None;
    }
    Some(html! {
        @if let (Some(share), Some(cumulative), Some(reach)) = (&spectrum.share, &spectrum.cumulative, spectrum.reach()) {
            p.caption {
                "The share of the variance along each component, and the cumulative share. Dots mark where it reaches 50, 80, 90, 95 and 99 %."
            }
            div.panels {
                figure { figcaption { b { "explained variance of each component" } } (figure::scree(share)) }
                figure { figcaption { b { "cumulative explained variance" } } (figure::cumulative(cumulative, &reach)) }
            }
            (reached(&reach, spectrum))
        }
        div.scroll { (table(context, 0..spectrum.k.min(UNFOLDED_ROWS))) }
        @if spectrum.k > UNFOLDED_ROWS {
            details {
                summary { (super::range_of_components(UNFOLDED_ROWS, spectrum.k.min(MOST_ROWS))) }
                div.scroll { (table(context, UNFOLDED_ROWS..spectrum.k.min(MOST_ROWS))) }
                @if spectrum.k > MOST_ROWS {
                    p.caption { "The other " (count((spectrum.k - MOST_ROWS) as u64)) " are in the model file." }
                }
            }
        }
    })
}

pub(super) fn section(context: &Context<'_>) -> Markup {
    match section_of(context) {
        Some(content) if context.spectrum.share.is_some() => {
            super::section("variance", "Explained variance", content)
        }
        Some(content) if context.spectrum.dimension.is_some() => {
            super::section("variance", "Dimensions of the subspaces", content)
        }
        Some(content) => super::section("variance", "Variance of the components", content),
        None => html! {},
    }
}

/// The numbers of components that explain 50 to 99 % of the variance.
fn reached(reach: &[(f64, Option<usize>)], spectrum: &Spectrum) -> Markup {
    html! {
        dl.properties.reach {
            @for (level, n) in reach {
                div {
                    dt { (format!("{:.0} %", 100.0 * level)) " of the variance" }
                    dd {
                        @match n {
                            Some(n) => (description::number_of_components(*n)),
                            None => { "more than " (count(spectrum.k as u64)) }
                        }
                    }
                }
            }
        }
    }
}

fn table(context: &Context<'_>, range: std::ops::Range<usize>) -> Markup {
    let spectrum = &context.spectrum;
    let width = |i: usize| {
        spectrum.share.as_ref().map(|s| format!("{:.2}%", 100.0 * s[i] / s[0].max(f64::MIN_POSITIVE)))
    };
    html! {
        table.numbers {
            thead { tr { th scope="col" { (description::unit(context.model)) } @for name in spectrum.columns() { th scope="col" { (name) } } } }
            tbody {
                @for i in range {
                    tr {
                        th scope="row" { (i) }
                        @for (name, cell) in spectrum.columns().iter().zip(spectrum.row(i)) {
                            @match width(i).filter(|_| *name == "share") {
                                Some(width) => td.with-bar { (cell) span.bar style=(format!("width:{width}")) {} },
                                None => td { (cell) },
                            }
                        }
                    }
                }
            }
        }
    }
}
