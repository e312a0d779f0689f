//! Where cells are missing.

use super::{Context, section};
use crate::description;
use crate::number::{count, percent};
use crate::picture::{Layout, Scale, data_uri};
use maud::{Markup, html};
use unmix::Result;

/// Columns that are named with the fraction of their cells that is missing.
const MOST_NAMED_COLUMNS: usize = 10;

/// A map of the missing cells of the rows, where some are missing.
pub(super) fn map(context: &Context<'_>) -> Result<Markup> {
    let Some(sample) = &context.sample else { return Ok(html! {}) };
    let gaps = &sample.gaps;
    let (n, p) = (sample.index.len(), gaps.of_column.len());
    let missing: u64 = gaps.of_column.iter().sum();
    if missing == 0 {
        return Ok(html! {});
    }
    let mut order: Vec<usize> = (0..p).filter(|j| gaps.of_column[*j] > 0).collect();
    let columns = order.len();
    order.sort_by(|a, b| gaps.of_column[*b].cmp(&gaps.of_column[*a]).then(a.cmp(b)));
    order.truncate(MOST_NAMED_COLUMNS);
    let share = missing as f64 / (n as f64 * p as f64);
    let shape = [gaps.lines, gaps.bins];
    let picture = Layout::of(Some(&shape))
        .map(|layout| data_uri(&gaps.shares(), layout, Scale::Range(1.0, 0.0), 1))
        .transpose()?;
    Ok(section(
        "gaps",
        "Missing cells",
        html! {
            p.caption {
                strong { (percent(share)) } " of the cells are missing: in " (count(gaps.rows)) " of " (count(n as u64)) " rows, in "
                (count(columns as u64)) " of " (count(p as u64)) " columns."
                @if (n as u64) < sample.n_rows { " Counted in " (sample.described()) "." }
                @if picture.is_some() { " Rows downwards, columns to the right; the darker, the more of the cells are missing." }
            }
            div.columns {
                @if let Some(picture) = picture { figure.gaps { img src=(picture) alt="Map of the missing cells"; } }
                div.scroll {
                    table {
                        thead { tr { th scope="col" { "column" } th scope="col" { "missing" } } }
                        tbody {
                            @for j in order {
                                tr { th scope="row" { (description::feature_name(context.model, j)) } td { (percent(gaps.of_column[j] as f64 / n as f64)) } }
                            }
                        }
                    }
                }
            }
        },
    ))
}
