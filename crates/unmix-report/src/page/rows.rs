//! Rows of the data: their codes, and their reconstructions beside them.

use super::components::{PICTURE_BYTES, VectorStyle, in_own_units};
use super::{Context, section};
use crate::Options;
use crate::description;
use crate::figure::{self, Arrow, Colouring};
use crate::number::{count, counted, percent, unbroken};
use crate::picture::{Layout, Scale, data_uri};
use crate::sample::{Example, Sample};
use maud::{Markup, html};
use unmix::{Error, Model, Result};

/// Features of a row that are shown as bars.
const MOST_FEATURES: usize = 16;

/// Columns that have an arrow in a figure of scores.
const MOST_ARROWS: usize = 8;

/// Refuses pairs that are not of two components of the model, and one that is given twice.
pub(super) fn check(model: &Model, options: &Options) -> Result<()> {
    let k = model.n_components().min(model.n_codes());
    let refused = |(a, b): &(usize, usize), found: String, remedy: &str| {
        Err(Error::unsupported(format!("drawing rows by the components {a} and {b}"), found, remedy))
    };
    let pairs = &options.pairs;
    if let Some(pair) = pairs.iter().find(|&&(a, b)| a >= k || b >= k || a == b) {
        let units = if k == 1 { description::unit(model) } else { description::units(model) };
        let found = format!("the model has {k} {units}, numbered from 0");
        return refused(pair, found, "give two different ones");
    }
    match pairs.iter().enumerate().find(|(i, pair)| pairs[..*i].contains(pair)) {
        None => Ok(()),
        Some((_, pair)) => refused(pair, "this pair is given twice".into(), "give each pair once"),
    }
}

/// Axes of the figures: two components, or the number of the row and the only component.
fn planes(pairs: &[(usize, usize)], k: usize) -> Vec<(Option<usize>, usize)> {
    match (pairs, k) {
        ([], 1) => vec![(None, 0)],
        ([], 2) => vec![(Some(0), 1)],
        ([], _) => vec![(Some(0), 1), (Some(0), 2)],
        _ => pairs.iter().map(|&(a, b)| (Some(a), b)).collect(),
    }
}

/// Points by two of their codes, or how to get them.
pub(super) fn scores(context: &Context<'_>) -> Markup {
    let Some(sample) = &context.sample else { return missing(context) };
    let k = sample.codes.cols();
    if k == 0 || sample.index.is_empty() {
        return html! {};
    }
    let colouring = Colouring::of(context.options.labels.as_ref());
    let label = |i: u64| context.options.labels.as_ref().map_or("", |(_, l)| l[i as usize].as_str());
    let groups: Vec<usize> = sample.index.iter().map(|&i| colouring.group(label(i))).collect();
    let axis = |i: usize| match &context.spectrum.share {
        Some(share) => format!("component {i} ({})", percent(share[i])),
        None if !context.model.code().decodes() => {
            format!("distance from {} {i}", description::unit(context.model))
        }
        None => format!("component {i}"),
    };
    let draw = |i: Option<usize>, j: usize| {
        let x: Vec<f64> = match i {
            Some(i) => sample.codes_of(i).collect(),
            None => sample.index.iter().map(|row| *row as f64).collect(),
        };
        let points: Vec<(f64, f64)> = x.into_iter().zip(sample.codes_of(j)).collect();
        let names = (i.map_or("row".into(), axis), axis(j));
        let alt_text = format!("{} by {} and {}", counted(points.len() as u64, "row"), names.0, names.1);
        let names_of_rows: Option<Vec<&str>> = sample.index.iter().map(|&i| context.row_name(i)).collect();
        let rows = names_of_rows.as_deref().unwrap_or_default();
        let over = i.map_or_else(Vec::new, |i| arrows(context, sample, (i, j)));
        let listed = over.iter().map(|arrow| arrow.name.as_str()).collect::<Vec<_>>().join(", ");
        let drawn =
            figure::scatter(&points, &groups, &colouring, (&names.0, &names.1), rows, &alt_text, &over);
        html! { figure { (drawn) @if !over.is_empty() { figcaption.arrows { "Arrows: " (listed) } } } }
    };
    let planes = planes(&context.options.pairs, k);
    let with_arrows =
        planes.iter().any(|&(i, j)| i.is_some_and(|i| !arrows(context, sample, (i, j)).is_empty()));
    section(
        "scores",
        "Rows by their codes",
        html! {
            p.caption { (points_caption(sample)) }
            (figure::legend(&colouring))
            @if with_arrows {
                input.toggle #arrows type="checkbox" checked;
                label for="arrows" { "Arrows of columns" }
                p.caption.arrows { (ARROWS_CAPTION) }
            }
            div.panels { @for (i, j) in planes { (draw(i, j)) } }
        },
    )
}

const ARROWS_CAPTION: &str = "Arrows show the columns of largest loadings on the two axes (a covariance biplot): in units of the standard deviations of the \
     two codes, an arrow is what one standard deviation of each adds to the column, and all arrows of a figure have one common factor.";

/// Arrows of the columns with the largest loadings on two components, of models whose components explain shares of the variance and are drawn as
/// bars of columns.
fn arrows(context: &Context<'_>, sample: &Sample, (i, j): (usize, usize)) -> Vec<Arrow> {
    let model = context.model;
    // Codes that are rotated back to the columns do not belong to components.
    let own = context.spectrum.share.is_some() && model.n_codes() == model.n_components();
    if !own || !matches!(VectorStyle::of(context), VectorStyle::Bars) {
        return Vec::new();
    }
    let decoder = in_own_units(context, description::decoder(model));
    let (x, y) = (deviation(sample, i), deviation(sample, j));
    let length = |c: usize| (decoder[(i, c)] * x).hypot(decoder[(j, c)] * y);
    let mut order: Vec<usize> = (0..model.n_features()).filter(|&c| length(c) > 0.0).collect();
    order.sort_by(|&a, &b| length(b).total_cmp(&length(a)).then(a.cmp(&b)));
    let arrow = |c: usize| Arrow {
        name: description::feature_name(model, c),
        to: (decoder[(i, c)] * x * x, decoder[(j, c)] * y * y),
    };
    order.into_iter().take(MOST_ARROWS).map(arrow).collect()
}

/// The standard deviation of the codes of a component in the sampled rows.
fn deviation(sample: &Sample, component: usize) -> f64 {
    let n = sample.index.len().max(1) as f64;
    let mean = sample.codes_of(component).sum::<f64>() / n;
    (sample.codes_of(component).map(|y| (y - mean).powi(2)).sum::<f64>() / n).sqrt()
}

fn points_caption(sample: &Sample) -> String {
    let (shown, all) = (sample.index.len() as u64, sample.n_rows);
    let stride = all.div_ceil(shown.max(1));
    match shown == all {
        true => format!("Each point is one of the {} rows, placed by its codes (scores).", count(all)),
        false => format!(
            "Each point is a row, placed by its codes (scores): {} of {} rows, every {stride}{}.",
            count(shown),
            count(all),
            match stride % 100 {
                11..=13 => "th",
                s if s % 10 == 1 => "st",
                s if s % 10 == 2 => "nd",
                s if s % 10 == 3 => "rd",
                _ => "th",
            }
        ),
    }
}

fn missing(context: &Context<'_>) -> Markup {
    let command = super::settings::report_command(context);
    section(
        "scores",
        "Rows",
        html! {
            p { "This page was made from the model alone. For codes of rows and their reconstructions give the rows as well, with the options that they "
                "are read with:" }
            pre { code { (command) } }
        },
    )
}

/// Some rows beside their reconstructions.
pub(super) fn reconstructions(context: &Context<'_>) -> Result<Markup> {
    let Some(sample) = context.sample.as_ref().filter(|s| !s.examples.is_empty()) else {
        return Ok(html! {});
    };
    if let Some(text) = exact(context, sample) {
        return Ok(section(
            "reconstructions",
            "Rows and their reconstructions",
            html! { p.caption { (text) } },
        ));
    }
    let look = VectorStyle::of(context);
    let (grid, figures) = match look {
        VectorStyle::Pictures(layout) => ("pairs", pictures(context, &sample.examples, layout)?),
        VectorStyle::Heads | VectorStyle::Curves => ("panels", curves(context, &sample.examples)),
        VectorStyle::Bars => ("panels", bars(context, sample)),
    };
    let legend = match look {
        VectorStyle::Pictures(_) if departures(context, &sample.examples).is_some() => {
            html! { "Left: the data. Middle: the low-rank part (of a video, the background). Right: the sparse part (what moves), 0 in white "
            "or grey. The low-rank part is" }
        }
        VectorStyle::Pictures(_) => html! { "Left: the data. Right: the reconstruction" },
        VectorStyle::Heads | VectorStyle::Curves => {
            html! { span.key.pale { "Pale" } ": the data. " span.key.dark { "Dark" } ": the reconstruction" }
        }
        VectorStyle::Bars => {
            html! { span.key.pale { "Bars" } ": the data. " span.key.dark { "Dots" } ": the reconstruction" }
        }
    };
    Ok(section(
        "reconstructions",
        "Rows and their reconstructions",
        html! {
            p.caption {
                (legend) " from " (description::components(context.model)) ". The error is the distance between the two, relative to the "
                (origin_of_distances(context))
                @if context.model.tensor("noise_scale").is_some() { ", both in standard deviations of the columns" }
                ". Over " (sample.described()) ", reconstructions keep " strong { (percent(sample.kept.unwrap_or(0.0))) }
                @if description::mean(context.model).is_some() { " of the variance." } @else { " of the sum of squares." }
                @if sample.gaps.rows > 0 { " Missing cells of the data are drawn at the values of the reconstruction." }
            }
            div class=(grid) { @for figure in figures { (figure) } }
        },
    ))
}

/// The origin that errors of reconstructions are relative to: the model's mean is the origin, where it has one.
fn origin_of_distances(context: &Context<'_>) -> &'static str {
    match description::mean(context.model) {
        Some(_) => "row's distance from the mean",
        None => "length of the row",
    }
}

/// The text in place of rows and reconstructions that are visually identical.
fn exact(context: &Context<'_>, sample: &Sample) -> Option<String> {
    const LEAST_VISIBLE_ERROR: f64 = 1e-4;
    let worst = sample.examples.iter().fold(0.0f64, |m, e| m.max(e.error));
    (worst < LEAST_VISIBLE_ERROR).then(|| {
        format!(
            "Rows and their reconstructions are visually identical: the distance between the two is at most {} of the {}, over {} of {} rows.",
            if worst > 0.0 { unbroken(&format!("{worst:.0e}")) } else { "0".into() },
            origin_of_distances(context),
            count(sample.examples.len() as u64),
            count(sample.n_rows)
        )
    })
}

pub(super) fn heading(context: &Context<'_>, example: &Example) -> Markup {
    html! {
        @match context.row_name(example.index) {
            Some(name) => b { (name) },
            None => b { "row " (count(example.index)) },
        }
        span { "error " (percent(example.error)) }
    }
}

/// The distance of a cell from the low-rank part beyond which it belongs to the sparse one, for each column, of models that have one.
fn departures(context: &Context<'_>, examples: &[Example]) -> Option<Vec<f64>> {
    let (model, p) = (context.model, context.model.n_features());
    // One number, or with standardized columns one for each.
    let noise = model.tensor("noise_std")?.f64s();
    let unit = model.tensor("spread").map_or_else(|| vec![1.0; p], |spread| spread.f64s());
    let fitted = examples.iter().flat_map(|e| e.fitted.iter().zip(&unit).map(|(x, s)| x / s));
    let (count, squares) = fitted.fold((0usize, 0.0), |(n, sum), x| (n + 1, sum + x * x));
    let size = (squares / count.max(1) as f64).sqrt();
    let std = |j: usize| noise[j % noise.len()];
    Some((0..p).map(|j| if std(j) > 0.0 { 4.5 * std(j) } else { 1e-4 * size * unit[j] }).collect())
}

fn pictures(context: &Context<'_>, examples: &[Example], layout: Layout) -> Result<Vec<Markup>> {
    let cut = departures(context, examples);
    let across = if cut.is_some() { 3 } else { 2 };
    let shrink = layout.shrink_for(across * examples.len(), PICTURE_BYTES);
    let one = |example: &Example| -> Result<Markup> {
        let scale = Scale::plain(layout, [example.row.as_slice()]);
        let (row, fitted) = (
            data_uri(&example.row, layout, scale, shrink)?,
            data_uri(&example.fitted, layout, scale, shrink)?,
        );
        let alt = context.row_called(example.index);
        let sparse = cut.as_ref().map(|cut| {
            let left = |((x, f), cut): ((&f64, &f64), &f64)| if (x - f).abs() > *cut { x - f } else { 0.0 };
            let sparse: Vec<f64> = example.row.iter().zip(&example.fitted).zip(cut).map(left).collect();
            data_uri(&sparse, layout, Scale::signed(&sparse), shrink)
        });
        let sparse = sparse.transpose()?;
        let class = if sparse.is_some() { "pair three" } else { "pair" };
        Ok(html! {
            figure {
                div class=(class) {
                    img src=(row) alt=(alt);
                    img src=(fitted) alt=(format!("{alt}, reconstructed"));
                    @if let Some(sparse) = sparse { img src=(sparse) alt=(format!("{alt}, sparse part")); }
                }
                figcaption { (heading(context, example)) }
            }
        })
    };
    examples.iter().map(one).collect()
}

fn curves(context: &Context<'_>, examples: &[Example]) -> Vec<Markup> {
    let one = |e: &Example| {
        let alt_text =
            format!("{} and its reconstruction, error {}", context.row_called(e.index), percent(e.error));
        html! { figure { figcaption { (heading(context, e)) } (figure::overlay(&e.row, &e.fitted, "value", &alt_text)) } }
    };
    examples.iter().map(one).collect()
}

fn bars(context: &Context<'_>, sample: &Sample) -> Vec<Markup> {
    let p = context.model.n_features();
    let mean = description::mean(context.model).unwrap_or_else(|| vec![0.0; p]);
    let mut features: Vec<usize> = (0..p).collect();
    if p > MOST_FEATURES {
        features.sort_by(|&a, &b| sample.spread[b].total_cmp(&sample.spread[a]).then(a.cmp(&b)));
        features.truncate(MOST_FEATURES);
        features.sort_unstable();
    }
    let unit = |x: f64, j: usize| if sample.spread[j] > 0.0 { (x - mean[j]) / sample.spread[j] } else { 0.0 };
    let most = sample
        .examples
        .iter()
        .flat_map(|e| features.iter().flat_map(|&j| [unit(e.row[j], j), unit(e.fitted[j], j)]));
    let most = most.fold(0.5f64, |m, x| m.max(x.abs()));
    let one = |e: &Example| {
        let entries: Vec<(String, f64, f64)> = features
            .iter()
            .map(|&j| (description::feature_name(context.model, j), unit(e.row[j], j), unit(e.fitted[j], j)))
            .collect();
        let alt_text =
            format!("{} and its reconstruction, error {}", context.row_called(e.index), percent(e.error));
        html! { figure { figcaption { (heading(context, e)) } (figure::standardised(&entries, most, &alt_text)) } }
    };
    sample.examples.iter().map(one).collect()
}
