//! Affinities of rows, ordered by their nearest subspace.

use super::Context;
use crate::number::{count, percent};
use crate::picture::{Layout, Scale, data_uri};
use crate::sample::Quiet;
use maud::{Markup, html};
use unmix::method::subspace_clustering::{SubspaceClustering, affinities};
use unmix::{Matrix, Result, Run};

/// A picture of the affinities of some of the rows, for models that consist of subspaces.
pub(super) fn section(context: &Context<'_>, run: &Run<'_>) -> Result<Markup> {
    let Some((x, labels)) = context.sample.as_ref().and_then(|s| s.clustered.as_ref()) else {
        return Ok(html! {});
    };
    let n = labels.len();
    let Some(layout) = Layout::of(Some(&[n, n])) else { return Ok(html! {}) };
    let alpha = context.model.settings().get("alpha").and_then(serde_json::Value::as_f64);
    let alpha = alpha.unwrap_or(SubspaceClustering::default().alpha);
    let quiet = Run { threads: run.threads, observer: &Quiet(run.observer), ..Run::default() };
    let table = affinities(x, alpha, &quiet)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| labels[i]);
    let sorted = Matrix::from_fn(n, n, |i, j| table[(order[i], order[j])].min(1.0));
    let uri = data_uri(sorted.as_slice(), layout, Scale::signed(sorted.as_slice()), 1)?;
    let all: f64 = table.as_slice().iter().sum();
    let inside: f64 =
        (0..n).map(|i| (0..n).filter(|&j| labels[i] == labels[j]).map(|j| table[(i, j)]).sum::<f64>()).sum();
    let alt_text = format!("Affinities of {n} rows, ordered by their nearest subspace");
    Ok(super::section(
        "affinities",
        "Affinities of rows",
        html! {
            p.caption {
                "Affinities of " (count(n as u64)) " of " (count(context.sample.as_ref().map_or(0, |s| s.n_rows))) " rows, sorted by their nearest \
                 subspace. They are computed again from these rows alone: each row is written as a sparse combination of the others, \
                 its absolute coefficients are divided by the largest of them, and the affinity of two rows is the sum of the two \
                 coefficients between them, drawn from white, 0, to 1 and above. The rows of a subspace are a block on the diagonal."
                @if all > 0.0 { " " strong { (percent(inside / all)) } " of the sum of all affinities is between rows with the same nearest subspace." }
            }
            div.panels { figure { img src=(uri) alt=(alt_text); } }
        },
    ))
}
