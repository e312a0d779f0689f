//! The result compared with the truth, for data whose truth is known.

use super::Context;
use super::components::{PICTURE_BYTES, VectorStyle};
use crate::description;
use crate::figure;
use crate::number::number;
use crate::picture::{Layout, Scale, data_uri};
use maud::{Markup, html};
use unmix::metrics::{match_rows, subspace_angles};
use unmix::{Error, Matrix, Result};

/// Pairs that are shown.
const MOST_PAIRS: usize = 32;

/// A true component and the matched estimate.
struct Pair {
    truth: usize,
    found: usize,
    cosine: f64,
    /// The estimate, with the sign for which the cosine is positive.
    signed: Vec<f64>,
}

pub(super) fn section(context: &Context<'_>) -> Result<Markup> {
    let Some(truth) = &context.options.truth else { return Ok(html! {}) };
    let p = context.model.n_features();
    if truth.cols() != p {
        return Err(Error::Width {
            what: "comparing with true components".into(),
            need: p,
            got: truth.cols(),
            remedy: "give one true component a row, as wide as the model".into(),
        });
    }
    // A unit that is never active may have a decoder vector of zeros, which has no direction.
    let found = description::decoder(context.model);
    let numbers: Vec<usize> = (0..found.rows()).filter(|&i| found.row(i).iter().any(|x| *x != 0.0)).collect();
    let found = Matrix::from_fn(numbers.len(), p, |i, j| found[(numbers[i], j)]);
    if found.rows() == 0 || truth.rows() == 0 {
        return Ok(html! {});
    }
    let mut pairs = pair(truth, &found);
    pairs.iter_mut().for_each(|pair| pair.found = numbers[pair.found]);
    let angle = subspace_angles(truth, &found)?.first().copied().unwrap_or(0.0).to_degrees();
    let worst = pairs.iter().fold(1.0f64, |m, pair| m.min(pair.cosine));
    let figures = match VectorStyle::of(context) {
        VectorStyle::Pictures(layout) => pictures(truth, &pairs[..pairs.len().min(MOST_PAIRS)], layout)?,
        _ => curves(truth, &pairs[..pairs.len().min(MOST_PAIRS)]),
    };
    let pictures = matches!(VectorStyle::of(context), VectorStyle::Pictures(_));
    Ok(super::section(
        "truth",
        "True and estimated components",
        html! {
            p.caption {
                @if pictures { "On the left is a true component, on the right the matched estimate" }
                @else { span.key.pale { "Pale" } " is a true component, " span.key.dark { "dark" } " the matched estimate" }
                ", with the absolute cosine between them: 1 is the same direction, whatever the sign. Components are paired one to one so that the \
                 sum of these cosines is largest. The largest principal angle between the subspaces that the two sets span is "
                strong { (number(angle)) "°" } ", the smallest cosine " strong { (cosine(worst)) } "."
            }
            div class=(if pictures { "pairs" } else { "panels" }) { @for figure in figures { (figure) } }
        },
    ))
}

/// Pairs in the order of the true components; where there are fewer estimates, some have no partner.
fn pair(truth: &Matrix<f64>, found: &Matrix<f64>) -> Vec<Pair> {
    let swapped = truth.rows() > found.rows();
    let matched = if swapped { match_rows(found, truth) } else { match_rows(truth, found) };
    let one = |(i, ((&j, &sign), &cosine)): (usize, ((&usize, &f64), &f64))| {
        let (truth, at) = if swapped { (j, i) } else { (i, j) };
        Pair { truth, found: at, cosine, signed: found.row(at).iter().map(|x| sign * x).collect() }
    };
    let mut pairs: Vec<Pair> =
        matched.order.iter().zip(&matched.sign).zip(&matched.cosine).enumerate().map(one).collect();
    pairs.sort_by_key(|pair| pair.truth);
    pairs
}

/// Four decimals, and 1 only for 1.
fn cosine(c: f64) -> String {
    if c < 1.0 && c > 0.99995 { format!("{c:.6}") } else { format!("{c:.4}") }
}

fn heading(pair: &Pair) -> Markup {
    html! { b { (pair.truth) " \u{2192} " (pair.found) } span { "|cos| " (cosine(pair.cosine)) } }
}

fn pictures(truth: &Matrix<f64>, pairs: &[Pair], layout: Layout) -> Result<Vec<Markup>> {
    let shrink = layout.shrink_for(2 * pairs.len(), PICTURE_BYTES);
    let uri = |values: &[f64]| data_uri(values, layout, Scale::signed(values), shrink);
    let one = |pair: &Pair| -> Result<Markup> {
        let (left, right) = (uri(truth.row(pair.truth))?, uri(&pair.signed)?);
        Ok(html! {
            figure.truth {
                div.pair {
                    img src=(left) alt=(format!("True component {}", pair.truth));
                    img src=(right) alt=(format!("Estimated component {}, cosine {}", pair.found, cosine(pair.cosine)));
                }
                figcaption { (heading(pair)) }
            }
        })
    };
    pairs.iter().map(one).collect()
}

fn curves(truth: &Matrix<f64>, pairs: &[Pair]) -> Vec<Markup> {
    let unit = |v: &[f64]| {
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        v.iter().map(|x| x / norm).collect::<Vec<f64>>()
    };
    let one = |pair: &Pair| {
        let alt_text = format!(
            "True component {} and estimated component {}, cosine {}",
            pair.truth,
            pair.found,
            cosine(pair.cosine)
        );
        let drawing =
            figure::overlay(&unit(truth.row(pair.truth)), &unit(&pair.signed), "loading", &alt_text);
        html! { figure.truth { figcaption { (heading(pair)) } (drawing) } }
    };
    pairs.iter().map(one).collect()
}
