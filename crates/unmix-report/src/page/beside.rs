//! Two models side by side: which component of one is which of the other, and what has no partner.

use super::Context;
use super::components::{Look, PICTURE_BYTES};
use crate::facts;
use crate::figure;
use crate::number::count;
use crate::picture::{Scale, data_uri};
use maud::{Markup, html};
use unmix::metrics::match_rows;
use unmix::stability::STABLE;
use unmix::{Error, Model, Result};

/// Pairs that are drawn, and that are tabulated.
const DRAWN: usize = 24;
const TABLED: usize = 128;

/// A component of this model and the one of the other that it is paired with.
struct Pair {
    here: usize,
    there: usize,
    sign: f64,
    cosine: f64,
}

/// Refuses a model of other columns.
pub(super) fn check(model: &Model, other: Option<&Model>) -> Result<()> {
    let Some(other) = other else { return Ok(()) };
    if other.n_features() != model.n_features() {
        return Err(Error::Width {
            what: "showing another model beside this one".into(),
            need: model.n_features(),
            got: other.n_features(),
            remedy: "give a model of the same columns".into(),
        });
    }
    let names = (&model.features().names, &other.features().names);
    if let (Some(a), Some(b)) = names
        && let Some(j) = (0..a.len()).find(|&j| a[j] != b[j])
    {
        return Err(Error::Unsupported {
            asked: "showing another model beside this one".into(),
            found: format!("column {j} is '{}' in one and '{}' in the other", a[j], b[j]),
            remedy: "give a model of the same columns, in the same order".into(),
        });
    }
    Ok(())
}

pub(super) fn section(context: &Context<'_>) -> Result<Markup> {
    let Some((name, other)) = &context.options.beside else { return Ok(html! {}) };
    let (a, b) = (facts::components_of(context.model), facts::components_of(other));
    if a.rows() == 0 || b.rows() == 0 {
        return Ok(html! {});
    }
    let pairs = paired(&a, &b);
    let lone = |k: usize, taken: &dyn Fn(&Pair) -> usize| -> Vec<String> {
        (0..k).filter(|i| pairs.iter().all(|p| taken(p) != *i)).map(|i| i.to_string()).collect()
    };
    let (here, there) = (lone(a.rows(), &|p| p.here), lone(b.rows(), &|p| p.there));
    let same = pairs.iter().filter(|p| p.cosine >= STABLE).count();
    let of_components = |c: &&unmix::Matrix<f64>| (c.rows(), c.cols()) == (a.rows(), b.rows());
    let correlation = context.sample.as_ref().and_then(|s| s.beside.as_ref()).filter(of_components);
    let drawn = drawings(context, other, &pairs[..pairs.len().min(DRAWN)])?;
    let pictures = matches!(Look::of(context), Look::Pictures(_));
    Ok(super::section(
        "beside",
        "Beside another model",
        html! {
            p.caption {
                strong { (same) " of " (pairs.len()) } " pairs point the same way (absolute cosine of " code { "components" } " at least "
                (STABLE) "); pairs are those whose cosines have the largest sum. The other model is " code { (name) } ": "
                (other.method().class) ", " (facts::components(other.n_components())) ", fitted to " (count(other.report().n_samples as u64))
                " rows. "
                @if pictures { "On the left is this model, on the right the other." }
                @else { span.key.pale { "Pale" } " is this model, " span.key.dark { "dark" } " the other, each of unit length." }
            }
            @if !here.is_empty() { p.caption { "Without a partner in the other model: " (here.join(", ")) "." } }
            @if !there.is_empty() { p.caption { "Of the other model, without a partner here: " (there.join(", ")) "." } }
            div class=(if pictures { "pairs" } else { "panels" }) { @for figure in drawn { (figure) } }
            div.scroll { table.numbers {
                thead { tr {
                    th { "here" } th { "there" } th { "|cos|" }
                    @if correlation.is_some() { th { "correlation of codes" } }
                    th { "same" }
                } }
                tbody { @for pair in pairs.iter().take(TABLED) { tr {
                    th scope="row" { (pair.here) } td { (pair.there) } td { (format!("{:.4}", pair.cosine)) }
                    @if let Some(c) = correlation { td { (format!("{:.4}", pair.sign * c[(pair.here, pair.there)])) } }
                    td { @if pair.cosine >= STABLE { "yes" } @else { "no" } }
                } } }
            } }
            @if pairs.len() > TABLED { p.caption { "The other " (pairs.len() - TABLED) " pairs are left out." } }
        },
    ))
}

/// Pairs in the order of this model's components.
fn paired(a: &unmix::Matrix<f64>, b: &unmix::Matrix<f64>) -> Vec<Pair> {
    let swapped = a.rows() > b.rows();
    let found = if swapped { match_rows(b, a) } else { match_rows(a, b) };
    let mut pairs: Vec<Pair> = (0..found.order.len())
        .map(|i| {
            let (here, there) = if swapped { (found.order[i], i) } else { (i, found.order[i]) };
            Pair { here, there, sign: found.sign[i], cosine: found.cosine[i] }
        })
        .collect();
    pairs.sort_by_key(|pair| pair.here);
    pairs
}

fn drawings(context: &Context<'_>, other: &Model, pairs: &[Pair]) -> Result<Vec<Markup>> {
    let (ours, theirs) = (facts::decoder(context.model), facts::decoder(other));
    let unit = |v: &[f64], sign: f64| -> Vec<f64> {
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        v.iter().map(|x| sign * x / norm).collect()
    };
    pairs
        .iter()
        .map(|pair| {
            let (left, right) = (unit(ours.row(pair.here), 1.0), unit(theirs.row(pair.there), pair.sign));
            let said = format!("Component {} and component {} of the other model", pair.here, pair.there);
            let caption = html! {
                figcaption { b { (pair.here) " \u{2194} " (pair.there) } span { "|cos| " (format!("{:.4}", pair.cosine)) } }
            };
            Ok(match Look::of(context) {
                Look::Pictures(layout) => {
                    let shrink = layout.shrink_for(2 * pairs.len(), PICTURE_BYTES);
                    let uri = |v: &[f64]| data_uri(v, layout, Scale::signed(v), shrink);
                    let (left, right) = (uri(&left)?, uri(&right)?);
                    html! { figure { div.pair { img src=(left) alt=(said); img src=(right) alt=(said); } (caption) } }
                }
                _ => html! { figure { (caption) (figure::overlay(&left, &right, &said)) } },
            })
        })
        .collect()
}
