//! Sparse codes: in how many rows each code is not 0, how many codes of a row are not, and rows as sums of their largest terms.

use super::components::{PICTURE_BYTES, VectorStyle};
use super::{Context, section};
use crate::description;
use crate::figure;
use crate::number::{amount, count, counted, number, percent};
use crate::picture::{Layout, Scale, data_uri};
use crate::sample::{Example, Sample};
use maud::{Markup, html};
use serde_json::Value;
use unmix::{Matrix, Result};

/// Largest terms of a row that are drawn.
const MOST_TERMS: usize = 5;

/// A component of a row: its number, its code, and what it adds to the row.
struct Term {
    component: usize,
    code: f64,
    adds: Vec<f64>,
}

/// The section of models whose codes are mostly zeros; empty for others, and without rows.
pub(super) fn of_sparse(context: &Context<'_>) -> Result<Markup> {
    let sample = context.sample.as_ref().filter(|s| !s.index.is_empty());
    let Some(sample) = sample.filter(|_| clamped(context) && context.model.n_codes() > 0) else {
        return Ok(html! {});
    };
    let n = sample.index.len() as u64;
    let mut share: Vec<f64> = sample.uses.iter().map(|u| *u as f64 / n as f64).collect();
    share.sort_by(|a, b| b.total_cmp(a));
    let most = sample.nonzeros.iter().copied().max().unwrap_or(0);
    // A histogram of one number is a sentence.
    let varies = sample.nonzeros.iter().any(|n| *n != most);
    Ok(section(
        "codes",
        "Sparse codes",
        html! {
            p.caption { (caption(sample, most)) }
            div.panels {
                @if varies {
                    figure {
                        figcaption { b { "nonzero codes of a row" } }
                        (figure::histogram(&sample.nonzeros, "nonzero codes", "rows"))
                    }
                }
                figure {
                    figcaption { b { "use of each component, sorted" } }
                    (figure::use_of_components(&share))
                }
                // The section of units has one of all rows.
                @if context.units.is_none() && most > 0 {
                    figure {
                        figcaption { b { "components by use" } }
                        (figure::densities(&sample.uses, n, "component"))
                    }
                }
            }
            (certificates(sample))
            (along_alpha(sample))
            (held_out(context, sample))
            (sums(context, sample)?)
        },
    ))
}

/// How far codes that are found by a solver are from its optimum, row by row.
fn certificates(sample: &Sample) -> Markup {
    let Some((certificate, gaps)) = sample.certified.as_ref().filter(|(_, gaps)| !gaps.is_empty()) else {
        return html! {};
    };
    let mut sorted = gaps.clone();
    sorted.sort_by(f64::total_cmp);
    let (n, zeros) = (sorted.len(), sorted.iter().filter(|gap| **gap <= 0.0).count());
    let positive: Vec<f64> = sorted.iter().copied().filter(|gap| *gap > 0.0 && gap.is_finite()).collect();
    html! {
        p.caption {
            "The code of a row is found by a solver, which ends when the " (certificate.name) " is at most " (number(certificate.tol))
            ", or after the maximum number of iterations. Of " (counted(n as u64, "row")) ", the median is " (number(sorted[n / 2]))
            ", the largest " strong { (number(sorted[n - 1])) }
            @if zeros > 0 { "; for " (count(zeros as u64)) " it is 0" @if positive.is_empty() { "." } @else { ", which a logarithm does not show." } }
            @else { "." }
        }
        @if !positive.is_empty() {
            div.panels { figure {
                figcaption { b { (certificate.name) " of a code" } span { "the dotted line is the tolerance" } }
                (figure::certificates(&positive, certificate.name, certificate.tol))
            } }
        }
    }
}

/// How sparse and how exact codes would be for other weights of the penalty.
fn along_alpha(sample: &Sample) -> Markup {
    let Some(along) = &sample.along else { return html! {} };
    html! {
        p.caption {
            "The weight " code { "alpha" } " of the penalty controls the trade-off between the number of nonzero codes and the error. Below, "
            (count(along.n_rows as u64)) " of the rows are coded for " (count(along.alphas.len() as u64)) " weights, the largest of which gives \
             codes of zeros only; the dotted line is the alpha of this model, " (number(along.alpha)) ". The largest duality gap of any of these codes \
             is " (number(along.worst_gap)) " of half the squared norm of its row; the gap bounds how far the objective of a code is above its minimum."
        }
        div.panels {
            figure {
                figcaption { b { "nonzero codes of a row along alpha" } }
                (figure::alpha_curve(along, &along.nonzero, "nonzero codes"))
            }
            figure {
                figcaption { b { "squared error along alpha" } }
                (figure::alpha_curve(along, &along.error, "share of the squared norm"))
            }
        }
    }
}

/// The prediction error by which alpha was chosen, where it was.
fn held_out(context: &Context<'_>, sample: &Sample) -> Markup {
    let cv = context.model.report().diagnostics.get("cv");
    let numbers =
        |name: &str| -> Option<Vec<f64>> { cv?.get(name)?.as_array()?.iter().map(Value::as_f64).collect() };
    let curve = (numbers("alphas"), numbers("errors"), numbers("standard_errors"));
    let (Some(alphas), Some(errors), Some(deviations)) = curve else { return html! {} };
    html! {
        p.caption {
            "Alpha was chosen by cross-validation: rows of the fit were coded without some of their entries, which their codes then predict. Vertical lines \
             are one standard error over rows to both sides."
        }
        div.panels { figure {
            figcaption { b { "prediction error of held-out entries along alpha" } }
            (figure::held_out_curve(&alphas, &errors, &deviations, sample.along.as_ref().map(|along| along.alpha)))
        } }
    }
}

/// Whether codes have exact zeros: those of sparse methods, and non-negative ones that are neither probabilities nor distances.
fn clamped(context: &Context<'_>) -> bool {
    let codes = context.model.code().codes();
    codes.sparse || (codes.non_negative && !codes.probabilities && !codes.distances)
}

fn caption(sample: &Sample, most: u32) -> Markup {
    let (n, k) = (sample.index.len(), sample.uses.len());
    let total: u64 = sample.nonzeros.iter().map(|x| u64::from(*x)).sum();
    let unused = sample.uses.iter().filter(|u| **u == 0).count();
    let zeros = 1.0 - total as f64 / (n * k).max(1) as f64;
    html! {
        "Over " (sample.described()) ", a code has "
        @match u64::from(most) * n as u64 == total {
            true => { "exactly " strong { (count(u64::from(most))) } " nonzero entries of " (count(k as u64)) ". " }
            false => {
                strong { (amount(total as f64 / n as f64)) } " nonzero entries of " (count(k as u64)) " on average, at most "
                (count(u64::from(most))) ". "
            }
        }
        strong { (percent(zeros)) } " of all entries are 0. "
        @match unused {
            0 => "Every component is used by some of these rows.",
            1 => "One component is used by none of these rows.",
            _ => { (count(unused as u64)) " components are used by none of these rows." }
        }
    }
}

/// Rows as sums of the components that add most to them.
fn sums(context: &Context<'_>, sample: &Sample) -> Result<Markup> {
    let Some(decoder) = context.model.code().mixing().map(|_| description::decoder(context.model)) else {
        return Ok(html! {});
    };
    if decoder.rows() != context.model.n_codes() {
        return Ok(html! {});
    }
    let with_terms: Vec<(&Example, Vec<Term>)> = sample
        .examples
        .iter()
        .map(|e| (e, strongest(e, &decoder)))
        .filter(|(_, terms)| !terms.is_empty())
        .collect();
    if with_terms.is_empty() {
        return Ok(html! {});
    }
    let figures: Vec<Markup> = match VectorStyle::of(context) {
        VectorStyle::Pictures(layout) => {
            let shrink = layout.shrink_for(with_terms.len() * (MOST_TERMS + 2), PICTURE_BYTES);
            with_terms
                .iter()
                .map(|(e, terms)| pictures(context, e, terms, layout, shrink))
                .collect::<Result<_>>()?
        }
        _ => with_terms.iter().map(|(e, terms)| curve(context, e, terms)).collect(),
    };
    let pictured = matches!(VectorStyle::of(context), VectorStyle::Pictures(_));
    let mean = if description::mean(context.model).is_some() { " and the mean" } else { "" };
    Ok(html! {
        p.caption {
            @if pictured {
                "Rows as sums: the data, the components that contribute most to each (at most " (MOST_TERMS) "), times their codes, and the sum of these"
                (mean) ". Components of a row share one scale."
            } @else {
                span.key.pale { "Pale" } ": the data. " span.key.dark { "Dark" } ": the sum of the components that contribute most to the row (at most " (MOST_TERMS) ")"
                (mean) ". Below it, these components one by one, times their codes, on one scale."
            }
        }
        div class=(if pictured { "sums" } else { "panels" }) { @for figure in figures { (figure) } }
    })
}

/// The terms of a row with the largest norms; of equal ones, that of the smallest component number first.
fn strongest(example: &Example, decoder: &Matrix<f64>) -> Vec<Term> {
    let length = |i: usize| decoder.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut used: Vec<(usize, f64)> = example
        .codes
        .iter()
        .enumerate()
        .filter(|(_, y)| **y != 0.0)
        .map(|(i, y)| (i, y.abs() * length(i)))
        .collect();
    used.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    used.truncate(MOST_TERMS);
    let term = |(i, _): (usize, f64)| Term {
        component: i,
        code: example.codes[i],
        adds: decoder.row(i).iter().map(|x| example.codes[i] * x).collect(),
    };
    used.into_iter().map(term).collect()
}

/// The mean, where there is one, and all terms.
fn sum_of(context: &Context<'_>, terms: &[Term]) -> Vec<f64> {
    let mut sum = description::mean(context.model).unwrap_or_else(|| vec![0.0; context.model.n_features()]);
    for term in terms {
        sum.iter_mut().zip(&term.adds).for_each(|(s, x)| *s += x);
    }
    sum
}

fn pictures(
    context: &Context<'_>,
    example: &Example,
    terms: &[Term],
    layout: Layout,
    shrink: usize,
) -> Result<Markup> {
    let plain = Scale::plain(layout, [example.row.as_slice()]);
    let all: Vec<f64> = terms.iter().flat_map(|t| &t.adds).copied().collect();
    let signed = Scale::signed(&all);
    let row = context.row_called(example.index);
    let drawn: Vec<String> =
        terms.iter().map(|t| data_uri(&t.adds, layout, signed, shrink)).collect::<Result<_>>()?;
    let first = data_uri(&example.row, layout, plain, shrink)?;
    let sum = data_uri(&sum_of(context, terms), layout, plain, shrink)?;
    Ok(html! {
        div.sum {
            figure { img src=(first) alt=(row); figcaption { (super::rows::heading(context, example)) } }
            @for (term, uri) in terms.iter().zip(&drawn) {
                figure {
                    img src=(uri) alt=(format!("component {} times {}", term.component, number(term.code)));
                    figcaption { b { (term.component) } span { "× " (number(term.code)) } }
                }
            }
            figure { img src=(sum) alt=(format!("{row}, the sum of these components")); figcaption { b { "sum" } } }
        }
    })
}

fn curve(context: &Context<'_>, example: &Example, terms: &[Term]) -> Markup {
    let sum = sum_of(context, terms);
    let distance = |y: &[f64]| example.row.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
    let mean = description::mean(context.model).unwrap_or_else(|| vec![0.0; example.row.len()]);
    let error = distance(&sum) / distance(&mean).max(f64::MIN_POSITIVE);
    let alt_text = format!(
        "{} and the sum of {}, error {}",
        context.row_called(example.index),
        counted(terms.len() as u64, "component"),
        percent(error)
    );
    let named: Vec<String> = terms.iter().map(|t| format!("{} × {}", t.component, number(t.code))).collect();
    let drawn: Vec<(String, &[f64])> =
        named.iter().cloned().zip(terms.iter().map(|t| t.adds.as_slice())).collect();
    let each = format!("The terms of this sum, one by one: {}", named.join(", "));
    html! {
        figure {
            figcaption { b { (context.row_called(example.index)) } span { (named.join(", ")) } }
            (figure::overlay(&example.row, &sum, "value", &alt_text))
            (figure::terms(&drawn, &each))
        }
    }
}
