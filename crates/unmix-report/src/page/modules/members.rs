//! The members of each module by name, in lists that open on request.

use super::super::{Context, of_all};
use crate::number::counted;
use crate::{caller, description};
use maud::{Markup, html};
use unmix::biclusters::Module;

/// Members of a list; longer lists begin with those of largest code or loading.
const MOST_MEMBERS: usize = 2000;

/// A list for each of the modules, closed.
pub(super) fn members(context: &Context<'_>, modules: &[Module]) -> Markup {
    html! {
        p.caption {
            "Members of each module, rows by decreasing code and columns by decreasing absolute loading. Those of all modules are the result of "
            code { (caller::modules(context.options.caller)) } "."
        }
        @for (i, m) in modules.iter().enumerate() { details.members {
            summary { "Module " (i) ": " (counted(m.rows.len() as u64, "row")) ", " (counted(m.columns.len() as u64, "column")) }
            (list("rows", &ordered(&m.rows, |i| f64::from(m.codes[i as usize])), |i| row(context, i)))
            @for (up, name) in [(true, "positive columns"), (false, "negative columns")] {
                @let own: Vec<u32> = m.columns.iter().zip(&m.positive).filter(|(_, sign)| **sign == up).map(|(j, _)| *j).collect();
                @if !own.is_empty() {
                    (list(name, &ordered(&own, |j| m.loadings[j as usize].abs()), |j| column(context, j)))
                }
            }
        } }
    }
}

fn list(name: &str, of: &[u32], called: impl Fn(u32) -> String) -> Markup {
    let shown: Vec<String> = of.iter().take(MOST_MEMBERS).map(|i| called(*i)).collect();
    html! {
        p { b { (name) } @if of.len() > MOST_MEMBERS { " (" (of_all(MOST_MEMBERS, of.len())) ")" } ": " (shown.join(", ")) }
    }
}

/// The name of a row, or its number.
fn row(context: &Context<'_>, i: u32) -> String {
    context.row_name(u64::from(i)).map_or_else(|| i.to_string(), Into::into)
}

/// The name of a column, or its number.
fn column(context: &Context<'_>, j: u32) -> String {
    match context.model.features().names {
        Some(_) => description::feature_name(context.model, j as usize),
        None => j.to_string(),
    }
}

fn ordered(of: &[u32], size: impl Fn(u32) -> f64) -> Vec<u32> {
    crate::modules::strongest(of, size, usize::MAX)
}
