//! The components: as pictures, curves or bars.

use super::{Context, of_all};
use crate::description;
use crate::figure;
use crate::number::{counted, percent};
use crate::picture::{Layout, Scale, data_uri};
use maud::{Markup, html};
use unmix::{Matrix, Model, Result};

/// How vectors over the features are shown.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum VectorStyle {
    Pictures(Layout),
    /// Sensors at their places; for components only.
    Heads,
    Curves,
    Bars,
}

/// Features that still fit beneath each other as bars.
const MOST_BARS: usize = 30;

/// Bars of a component that has more features than that: the largest.
const LARGEST_BARS: usize = 16;

/// Features without names whose order is taken to be meaningful: those of short epochs and spectra, too few to test it.
const MOST_ORDERED_FEATURES: usize = 64;

/// Correlation of neighbouring loadings above which the order of more columns is meaningful, in half of the first `EXAMINED_COMPONENTS`
/// components or more: other components may be noise. In an arbitrary order it is about `1 / sqrt(n_features)`.
const SMOOTH_CORRELATION: f64 = 0.5;
const EXAMINED_COMPONENTS: usize = 8;

/// Bytes that the pictures of a section may have before they are compressed.
pub(super) const PICTURE_BYTES: usize = 700_000;

impl VectorStyle {
    pub(super) fn of(context: &Context<'_>) -> Self {
        let features = context.model.features();
        match Layout::of(features.shape.as_deref()) {
            Some(layout) => VectorStyle::Pictures(layout),
            None if features.names.is_some() || context.model.n_features() <= MOST_BARS => VectorStyle::Bars,
            None if !context.in_order => VectorStyle::Bars,
            None => VectorStyle::Curves,
        }
    }

    /// How components are shown: at the places of the sensors, where these are known.
    pub(super) fn of_components(context: &Context<'_>) -> Self {
        if context.options.positions.is_some() { VectorStyle::Heads } else { VectorStyle::of(context) }
    }

    /// Components shown at once, and in all when the rest is unfolded; of atoms, mosaics of all of them, up to 512.
    pub(super) fn limits(self, atoms: bool) -> (usize, usize) {
        match self {
            VectorStyle::Pictures(_) if atoms => (63, 512),
            // With the mean, whole lines of a page at its full width.
            VectorStyle::Pictures(_) | VectorStyle::Heads => (31, 95),
            VectorStyle::Curves => (7, 31),
            VectorStyle::Bars => (6, 24),
        }
    }
}

/// Whether the order of the columns is meaningful: of few columns it may be, of many without names it is if neighbouring loadings are
/// alike.
pub(super) fn in_order(model: &Model) -> bool {
    let features = model.features();
    if model.n_features() <= MOST_ORDERED_FEATURES
        || features.names.is_some()
        || Layout::of(features.shape.as_deref()).is_some()
    {
        return true;
    }
    let decoder = description::decoder(model);
    let n = decoder.rows().min(EXAMINED_COMPONENTS);
    let n_smooth = (0..n).filter(|&i| correlation_of_neighbours(decoder.row(i)) > SMOOTH_CORRELATION).count();
    n_smooth > 0 && 2 * n_smooth >= n
}

/// Autocorrelation at lag 1; 0 for constant numbers.
fn correlation_of_neighbours(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let size: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let product: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if size > 0.0 { product / size } else { 0.0 }
}

pub(super) fn section(context: &Context<'_>) -> Result<Markup> {
    let k = context.spectrum.k;
    if k == 0 {
        let constant = if description::mean(context.model).is_some() { "the mean" } else { "0" };
        let nothing = format!(
            "The model has no components: its codes are empty, and every row is reconstructed as {constant}."
        );
        return Ok(super::section("components", "Components", html! { p { (nothing) } }));
    }
    let (look, decoder) = (VectorStyle::of_components(context), description::decoder(context.model));
    let atoms = k > context.model.n_features() || context.model.code().codes().sparse;
    let (first, most) = look.limits(atoms);
    let shown = k.min(most);
    let first = if shown <= first + first / 4 { shown } else { first };
    let by_use = order_of_use(context);
    let drawn: Vec<usize> = match &by_use {
        Some(order) => order[..shown].to_vec(),
        None => (0..shown).collect(),
    };
    let figures = match look {
        VectorStyle::Pictures(layout) => pictures(context, &decoder, layout, &drawn)?,
        VectorStyle::Heads => heads(context, &decoder, &drawn),
        VectorStyle::Curves => curves(context, &decoder, &drawn),
        VectorStyle::Bars => bars(context, &in_own_units(context, decoder), &drawn),
    };
    let grid = match look {
        VectorStyle::Pictures(_) if atoms => "pictures mosaic",
        VectorStyle::Pictures(_) | VectorStyle::Heads => "pictures",
        VectorStyle::Curves | VectorStyle::Bars => "panels",
    };
    // The mean is before the components.
    let before = figures.len() - shown;
    let title = if description::unit(context.model) == "subspace" { "Subspaces" } else { "Components" };
    Ok(super::section(
        "components",
        title,
        html! {
            p.caption {
                (caption(context, look, shown))
                @if by_use.is_some() { " They are in descending order of their use by the rows of this page." }
            }
            div class=(grid) { @for figure in &figures[..before + first] { (figure) } }
            @if first < shown {
                details {
                    summary {
                        @if by_use.is_some() { (counted((shown - first) as u64, "more component")) }
                        @else { (super::range_of_components(first, shown)) }
                    }
                    div class=(grid) { @for figure in &figures[before + first..] { (figure) } }
                }
            }
        },
    ))
}

/// Components of sparse codes in descending order of their use by the rows of the page; `None` without rows, for models with a section of units, and
/// for atoms that were learned, whose order in the model is that of their use.
fn order_of_use(context: &Context<'_>) -> Option<Vec<usize>> {
    let ordered = context.units.is_some() || context.model.tensor("usage").is_some();
    let uses = &context.sample.as_ref().filter(|_| !ordered && context.model.code().codes().sparse)?.uses;
    if uses.len() != context.spectrum.k {
        return None;
    }
    let mut order: Vec<usize> = (0..uses.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(uses[i]));
    Some(order)
}

fn caption(context: &Context<'_>, look: VectorStyle, shown: usize) -> Markup {
    let share =
        if context.spectrum.share.is_some() { "; the percentage is its share of the variance" } else { "" };
    let what = match look {
        VectorStyle::Pictures(_) => "picture",
        VectorStyle::Heads => "head",
        VectorStyle::Curves => "curve",
        VectorStyle::Bars => "chart",
    };
    let subspaces = description::unit(context.model) == "subspace";
    html! {
        "Each " (what) " shows "
        @if subspaces { "the first axis of a subspace, along which its rows have the largest sum of squares" }
        @else { "the loadings of a component" }
        @match look {
            VectorStyle::Heads => {
                " at the places of the sensors, the nose upwards: " span.key.plus { "orange" } " positive, " span.key.minus { "blue" }
                " negative. Each is scaled to its own largest loading"
            }
            VectorStyle::Pictures(layout) if layout.is_colour() => {
                ": middle grey is 0 in each of the three colours. Each is scaled to its own largest loading, the same for the three colours"
            }
            VectorStyle::Pictures(_) => {
                ": " span.key.plus { "orange" } " positive, " span.key.minus { "blue" } " negative, white is 0. Each is scaled to its own largest loading"
                @if description::mean(context.model).is_some() { ", the mean from its smallest entry, black, to its largest, white" }
            }
            VectorStyle::Curves => ", column by column, each on its own scale",
            VectorStyle::Bars => {
                ": " span.key.plus { "orange" } " positive, " span.key.minus { "blue" } " negative"
                @if context.model.tensor("noise_scale").is_some() { ", in standard deviations of each column" }
                ". Each has a scale of its own"
                @if context.model.n_features() > MOST_BARS {
                    "; only the " (LARGEST_BARS) " largest loadings of each are shown"
                    @if context.model.features().names.is_none() { ", with the numbers of their columns" }
                }
            }
        }
        (share) ". "
        @if shown < context.spectrum.k { (of_all(shown, context.spectrum.k)) " " (description::units(context.model)) " are shown." }
    }
}

/// "3 · 5.21 %".
pub(super) fn heading(context: &Context<'_>, i: usize) -> Markup {
    html! {
        b { (i) }
        @if let Some(share) = &context.spectrum.share { span { (percent(share[i])) } }
        (verdict_badge(context, i))
    }
}

/// Reliability of a component, as a short text.
pub(super) fn verdict_badge(context: &Context<'_>, i: usize) -> Markup {
    html! {
        @if let Some(verdict) = description::verdict(context.model, i) {
            span class={ "verdict " (verdict.class) } title=(verdict.full) { (verdict.short) }
        }
    }
}

fn alt_text(context: &Context<'_>, i: usize) -> String {
    match &context.spectrum.share {
        Some(share) => format!("Component {i}, {} of the variance", percent(share[i])),
        None if description::unit(context.model) == "subspace" => format!("Subspace {i}"),
        None => format!("Component {i}"),
    }
}

fn pictures(
    context: &Context<'_>,
    decoder: &Matrix<f64>,
    layout: Layout,
    drawn: &[usize],
) -> Result<Vec<Markup>> {
    let shrink = layout.shrink_for(drawn.len(), PICTURE_BYTES);
    let mut out = Vec::new();
    if let Some(mean) = description::mean(context.model) {
        // Beside rows the mean has their range.
        let rows = context.sample.iter().flat_map(|s| &s.examples).map(|e| e.row.as_slice());
        let scale = match layout.is_colour() {
            true => Scale::plain(layout, rows.chain([mean.as_slice()])),
            false => Scale::plain(layout, [mean.as_slice()]),
        };
        let uri = data_uri(&mean, layout, scale, shrink)?;
        out.push(html! { figure.mean { img src=(uri) alt="Mean of the rows"; figcaption { b { "mean" } } } });
    }
    for &i in drawn {
        let drawing = picture(decoder.row(i), layout, shrink, &alt_text(context, i))?;
        out.push(captioned(heading(context, i), drawing));
    }
    Ok(out)
}

/// A vector over the columns as the vectors of components are shown, below or above its heading; pictures are `shrink` times smaller.
pub(super) fn figure_of(
    context: &Context<'_>,
    look: VectorStyle,
    vector: &[f64],
    shrink: usize,
    (heading, alt_text): (Markup, &str),
) -> Result<Markup> {
    Ok(match look {
        VectorStyle::Pictures(layout) => captioned(heading, picture(vector, layout, shrink, alt_text)?),
        VectorStyle::Heads => captioned(heading, head(context, vector, alt_text)),
        VectorStyle::Curves => panel(heading, figure::curve(vector, "loading", alt_text)),
        VectorStyle::Bars => panel(heading, bar_chart(context, vector, alt_text)),
    })
}

fn picture(vector: &[f64], layout: Layout, shrink: usize, alt_text: &str) -> Result<Markup> {
    let uri = data_uri(vector, layout, Scale::signed(vector), shrink)?;
    Ok(html! { img src=(uri) alt=(alt_text); })
}

fn heads(context: &Context<'_>, decoder: &Matrix<f64>, drawn: &[usize]) -> Vec<Markup> {
    let one =
        |&i: &usize| captioned(heading(context, i), head(context, decoder.row(i), &alt_text(context, i)));
    drawn.iter().map(one).collect()
}

fn head(context: &Context<'_>, vector: &[f64], alt_text: &str) -> Markup {
    let places = context.options.positions.as_deref().unwrap_or_default();
    figure::topography(places, vector, |j: usize| description::feature_name(context.model, j), alt_text)
}

/// A drawing with its heading below it.
fn captioned(heading: Markup, drawing: Markup) -> Markup {
    html! { figure.component { (drawing) figcaption { (heading) } } }
}

fn panel(heading: Markup, drawing: Markup) -> Markup {
    html! { figure.component { figcaption { (heading) } (drawing) } }
}

fn curves(context: &Context<'_>, decoder: &Matrix<f64>, drawn: &[usize]) -> Vec<Markup> {
    let mean = description::mean(context.model).map(|mean| {
        let drawing = figure::curve(&mean, "mean", "Mean of the rows");
        html! { figure.mean { figcaption { b { "mean" } } (drawing) } }
    });
    let component = |&i: &usize| {
        panel(heading(context, i), figure::curve(decoder.row(i), "loading", &alt_text(context, i)))
    };
    mean.into_iter().chain(drawn.iter().map(component)).collect()
}

/// Loadings in standard deviations of each column, for models that standardise columns: otherwise columns with large units would
/// dominate.
pub(super) fn in_own_units(context: &Context<'_>, mut decoder: Matrix<f64>) -> Matrix<f64> {
    let scale = description::column_scales(context.model);
    for i in 0..decoder.rows() {
        let entries = decoder.row_mut(i).iter_mut().zip(&scale).filter(|(_, s)| **s > 0.0);
        entries.for_each(|(x, s)| *x /= s);
    }
    decoder
}

fn bars(context: &Context<'_>, decoder: &Matrix<f64>, drawn: &[usize]) -> Vec<Markup> {
    let component =
        |&i: &usize| panel(heading(context, i), bar_chart(context, decoder.row(i), &alt_text(context, i)));
    drawn.iter().map(component).collect()
}

/// A bar for each entry, or for each of the largest of many.
fn bar_chart(context: &Context<'_>, vector: &[f64], alt_text: &str) -> Markup {
    let most = vector.iter().fold(0.0f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
    let mut order: Vec<usize> = (0..vector.len()).collect();
    if vector.len() > MOST_BARS {
        order.sort_by(|&a, &b| vector[b].abs().total_cmp(&vector[a].abs()).then(a.cmp(&b)));
        order.truncate(LARGEST_BARS);
    }
    let entries: Vec<(String, f64)> =
        order.into_iter().map(|j| (description::feature_name(context.model, j), vector[j])).collect();
    figure::bars(&entries, most, alt_text)
}
