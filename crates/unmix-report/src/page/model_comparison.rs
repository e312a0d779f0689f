//! Comparison of two models: pairs of their components, and unmatched components.

use super::Context;
use super::components::{PICTURE_BYTES, VectorStyle};
use crate::figure;
use crate::number::percent;
use crate::picture::{Scale, data_uri};
use crate::{caller, description};
use maud::{Markup, html};
use unmix::stability::{self, MIN_AGREEMENT, chance_agreement, similarity};
use unmix::{Error, Matrix, Model, Result, metrics};

/// Pairs that are drawn, and that are tabulated.
const MOST_DRAWN_PAIRS: usize = 24;
const MOST_TABLED_PAIRS: usize = 128;
/// Maximum number of pairs of random directions that are compared, for the agreement by chance.
const MOST_BY_CHANCE: usize = 1 << 23;
/// Cosine from which an atom counts as reproduced by another fit, weaker than [`MIN_AGREEMENT`].
const REPRODUCED_COSINE: f64 = 0.7;

/// A component of this model and the one of the other that it is paired with.
struct Pair {
    here: usize,
    there: usize,
    /// Cosine of their loadings.
    cosine: f64,
    /// Correlation of their codes, where there are rows.
    correlation: Option<f64>,
}

impl Pair {
    fn alike(&self, non_negative: bool) -> f64 {
        similarity(self.correlation.unwrap_or(self.cosine), non_negative)
    }

    fn sign(&self) -> f64 {
        if self.correlation.unwrap_or(self.cosine) < 0.0 { -1.0 } else { 1.0 }
    }
}

/// Whether the components of both models started at the same random numbers, so that they may agree without being identified by the rows.
fn start_alike(model: &Model, other: &Model) -> bool {
    let given = |model: &Model| {
        let run = &model.report().run;
        run.initial_model || run.invocation.as_ref().is_some_and(|line| line.contains("init"))
    };
    model.method().key == other.method().key
        && model.method().random_start
        && model.report().seed == other.report().seed
        && model.n_components() == other.n_components()
        && !given(model)
        && !given(other)
        && !description::is_imported(model)
        && !description::is_imported(other)
}

/// Whether the components of both models are identified by their directions and not by their codes.
pub(super) fn by_directions(model: &Model, other: &Model) -> bool {
    stability::by_directions(model) && stability::by_directions(other)
}

/// Whether the opposite of a direction is another one, in both models.
fn non_negative(model: &Model, other: &Model) -> bool {
    stability::one_sided(model) && stability::one_sided(other)
}

/// Refuses a model of other columns.
pub(super) fn check(model: &Model, other: Option<&Model>) -> Result<()> {
    let Some(other) = other else { return Ok(()) };
    if other.n_features() != model.n_features() {
        return Err(Error::Width {
            what: "comparing with another model".into(),
            need: model.n_features(),
            got: other.n_features(),
            remedy: "give a model of the same columns".into(),
        });
    }
    let names = (&model.features().names, &other.features().names);
    if let (Some(a), Some(b)) = names
        && let Some(j) = (0..a.len()).find(|&j| a[j] != b[j])
    {
        return Err(Error::unsupported(
            "comparing with another model",
            format!("column {j} is '{}' in one and '{}' in the other", a[j], b[j]),
            "give a model of the same columns, in the same order",
        )
        .with(|d| d.column = Some(j)));
    }
    Ok(())
}

pub(super) fn section(context: &Context<'_>) -> Result<Markup> {
    let Some((name, other)) = &context.options.beside else { return Ok(html! {}) };
    let (a, b) = (description::decoder(context.model), description::decoder(other));
    if a.rows() == 0 || b.rows() == 0 {
        return Ok(html! {});
    }
    let of_components = |c: &&Matrix<f64>| (c.rows(), c.cols()) == (a.rows(), b.rows());
    let correlation = context.sample.as_ref().and_then(|s| s.beside.as_ref()).filter(of_components);
    let positive = non_negative(context.model, other);
    let pairs = paired(&a, &b, correlation, positive);
    let lone = |k: usize, taken: &dyn Fn(&Pair) -> usize| -> Vec<String> {
        (0..k).filter(|i| pairs.iter().all(|p| taken(p) != *i)).map(|i| i.to_string()).collect()
    };
    let (here, there) = (lone(a.rows(), &|p| p.here), lone(b.rows(), &|p| p.there));
    let same = pairs.iter().filter(|p| p.alike(positive) >= MIN_AGREEMENT).count();
    let measure = match context.sample.as_ref().filter(|_| correlation.is_some()) {
        Some(sample) => format!("the correlation of their codes over {}", sample.described()),
        None => "the cosine of their loadings".into(),
    };
    let drawn = drawings(context, other, &pairs[..pairs.len().min(MOST_DRAWN_PAIRS)], positive)?;
    let pictures = matches!(VectorStyle::of(context), VectorStyle::Pictures(_));
    Ok(super::section(
        "beside",
        "Comparison with another model",
        html! {
            p.caption {
                strong { (same) " of " (pairs.len()) } " pairs agree: " @if !positive { "the absolute value of " }
                (measure) " is " (MIN_AGREEMENT) " or more. Components are paired one to one so that the sum of these "
                @if positive { "cosines" } @else { "absolute values" } " is largest"
                @if correlation.is_some() { " (" code { "unmix.metrics.match(a, b, X)" } ")" } @else { " (" code { "unmix.metrics.match(a, b)" } ")" }
                ". The other model is "
                code { (name) } ": " (other.method().class) ", " (description::components(other)) ", fitted to "
                (description::rows(other)) ". "
                @if pictures { "On the left is this model, on the right the other." }
                @else { span.key.pale { "Pale" } " is this model, " span.key.dark { "dark" } " the other, each of unit length and of one sign." }
            }
            (chance(context.model, other, &pairs, positive))
            (common_start(context, other))
            @if !here.is_empty() { p.caption { "Unmatched components of this model: " (here.join(", ")) "." } }
            @if !there.is_empty() { p.caption { "Unmatched components of the other model: " (there.join(", ")) "." } }
            div class=(if pictures { "pairs" } else { "panels" }) { @for figure in drawn { (figure) } }
            div.scroll { table.numbers {
                thead { tr {
                    th { "here" } th { "there" } th { "|cosine| of loadings" }
                    @if correlation.is_some() { th { "|correlation| of codes" } }
                    th { "agree" }
                } }
                tbody { @for pair in pairs.iter().take(MOST_TABLED_PAIRS) { tr {
                    th scope="row" { (pair.here) } td { (pair.there) } td { (format!("{:.4}", pair.cosine.abs())) }
                    @if let Some(c) = pair.correlation { td { (format!("{:.4}", c.abs())) } }
                    td { @if pair.alike(positive) >= MIN_AGREEMENT { "yes" } @else { "no" } }
                } } }
            } }
            @if pairs.len() > MOST_TABLED_PAIRS { p.caption {
                @match pairs.len() - MOST_TABLED_PAIRS { 1 => "Another pair is left out.", more => { "The other " (more) " pairs are left out." } }
            } }
        },
    ))
}

/// How alike the pairs of atoms are on average, and as many random directions: overcomplete atoms of two fits always have partners.
fn chance(model: &Model, other: &Model, pairs: &[Pair], positive: bool) -> Markup {
    let (ka, kb) = (model.n_codes(), other.n_codes());
    if !by_directions(model, other) || pairs.is_empty() {
        return html! {};
    }
    let mean = pairs.iter().map(|p| p.alike(positive)).sum::<f64>() / pairs.len() as f64;
    let reproduced = pairs.iter().filter(|p| p.alike(positive) >= REPRODUCED_COSINE).count();
    let found = html! {
        (reproduced) " of " (pairs.len()) " pairs (" (percent(reproduced as f64 / pairs.len() as f64)) ") have " @if positive { "a cosine" } @else { "an absolute cosine" } " of " (REPRODUCED_COSINE) " or more. "
        "The mean cosine of the pairs is " (format!("{mean:.3}"))
    };
    if ka.saturating_mul(kb) > MOST_BY_CHANCE {
        return html! { p.caption {
            (found) ". The mean for random directions paired in the same way is computed only if there are at most "
            (MOST_BY_CHANCE) " pairs of units; here there are " (ka) " x " (kb) "."
        } };
    }
    let chance = chance_agreement((ka, kb), model.n_features(), positive, 0);
    html! { p.caption {
        (found) "; that of as many random directions, paired in the same way, is "
        (format!("{chance:.3}")) "."
    } }
}

/// The warning that both models have the same start, if so.
fn common_start(context: &Context<'_>, other: &Model) -> Markup {
    let model = context.model;
    let seed = model.report().seed;
    let another = if seed == 1 { 2 } else { 1 };
    html! {
        @if start_alike(model, other) {
            p.caption {
                "Both fits started from the random numbers of seed " (seed) ": the agreement may be that of the common start. \
                 For a comparison of independent fits, fit one with "
                code { (caller::seed(context.options.caller, another)) } "."
            }
        }
    }
}

/// Pairs in the order of this model's components. Decoder vectors are compared, not rows of the encoder: these may differ for the same
/// source in directions in which the rows do not vary.
fn paired(a: &Matrix<f64>, b: &Matrix<f64>, correlation: Option<&Matrix<f64>>, positive: bool) -> Vec<Pair> {
    let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let cosine = |i: usize, j: usize| {
        let product: f64 = a.row(i).iter().zip(b.row(j)).map(|(x, y)| x * y).sum();
        product / (length(a.row(i)) * length(b.row(j)))
    };
    let compared = |i: usize, j: usize| correlation.map_or_else(|| cosine(i, j), |c| c[(i, j)]);
    let alike = Matrix::from_fn(a.rows(), b.rows(), |i, j| similarity(compared(i, j), positive));
    let pair = |(here, there)| Pair {
        here,
        there,
        cosine: cosine(here, there),
        correlation: correlation.map(|c| c[(here, there)]),
    };
    metrics::pairs(&alike).into_iter().map(pair).collect()
}

fn drawings(context: &Context<'_>, other: &Model, pairs: &[Pair], positive: bool) -> Result<Vec<Markup>> {
    let (ours, theirs) = (description::decoder(context.model), description::decoder(other));
    let unit = |v: &[f64], sign: f64| -> Vec<f64> {
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        v.iter().map(|x| sign * x / norm).collect()
    };
    pairs
        .iter()
        .map(|pair| {
            let (left, right) = (unit(ours.row(pair.here), 1.0), unit(theirs.row(pair.there), if positive { 1.0 } else { pair.sign() }));
            let alt_text = format!("Component {} and component {} of the other model", pair.here, pair.there);
            let caption = html! {
                figcaption { b { (pair.here) " \u{2194} " (pair.there) } span { @if pair.correlation.is_some() { "|r| " } @else if positive { "cos " } @else { "|cos| " } (format!("{:.4}", pair.alike(positive))) } }
            };
            Ok(match VectorStyle::of(context) {
                VectorStyle::Pictures(layout) => {
                    let shrink = layout.shrink_for(2 * pairs.len(), PICTURE_BYTES);
                    let uri = |v: &[f64]| data_uri(v, layout, Scale::signed(v), shrink);
                    let (left, right) = (uri(&left)?, uri(&right)?);
                    html! { figure { div.pair { img src=(left) alt=(alt_text); img src=(right) alt=(alt_text); } (caption) } }
                }
                _ => html! { figure { (caption) (figure::overlay(&left, &right, "loading", &alt_text)) } },
            })
        })
        .collect()
}
