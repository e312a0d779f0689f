//! Codes of each component from row to row: time courses below each other, loadings, and power spectra.

use super::components::{VectorStyle, verdict_badge};
use super::{Context, of_all};
use crate::description;
use crate::figure::{self, TimeCourse};
use crate::number::{count, counted, number, number_in};
use crate::picture::{Scale, data_uri};
use crate::playback::player;
use crate::svg::pt;
use crate::window::{MOST_DRAWN_SOURCES, Window};
use crate::{Options, picture::Layout};
use maud::{Markup, html};
use unmix::{Error, Model, Result};

/// Bytes that a picture of a mixing column may have before it is compressed.
const MOST_PICTURE_BYTES: usize = 20_000;

/// Refuses positions of a wrong number and rates that are not positive.
pub(super) fn check(model: &Model, options: &Options) -> Result<()> {
    if let Some(places) = &options.positions
        && places.len() != model.n_features()
    {
        return Err(Error::Width {
            what: "drawing sensors at their places".into(),
            need: model.n_features(),
            got: places.len(),
            remedy: "give one position for each column of the model".into(),
        });
    }
    let wrong = |rate: &f64| !(rate.is_finite() && *rate > 0.0);
    match options.rate.filter(wrong) {
        None => Ok(()),
        Some(rate) => Err(Error::unsupported(
            format!("a page of {rate} rows per second"),
            "must be positive",
            "give it in hertz, such as 250",
        )),
    }
}

/// Whether rows are shown one at a time: where they are in time, or where sources are searched for in columns that are not a picture.
pub(super) fn wanted(model: &Model, options: &Options) -> bool {
    let picture = Layout::of(model.features().shape.as_deref()).is_some();
    // Codes that are rotated back to the columns do not belong to components.
    let own = model.n_codes() == model.n_components();
    own && (options.rate.is_some() || (model.method().of_signals && !picture))
}

pub(super) fn section(context: &Context<'_>) -> Markup {
    let Some(window) = context.window.as_ref().filter(|w| !w.drawn.is_empty()) else { return html! {} };
    let (k, p) = (context.spectrum.k, context.model.n_features());
    let decoder = description::decoder(context.model);
    let played = |values: &[f64], i: usize| {
        let of = window.drawn.len();
        player(values, window.rate, of, &format!("Component {i} as sound"))
    };
    let spectra = window.spectra.iter().any(|s| !s.is_empty());
    let unit = if unit_variance(window) { "std. dev." } else { "code" };
    let names = context.options.row_names.as_deref().filter(|_| window.rate.is_none()).unwrap_or_default();
    let drawn = |values: &[f64], i: usize| {
        let from = (window.first as usize).min(names.len());
        let names = &names[from..(from + values.len()).min(names.len())];
        let course =
            TimeCourse { values, first: window.first, rate: window.rate, names, unit, wide: !spectra };
        figure::course(&course, &format!("Codes of component {i} by row"))
    };
    super::section(
        "sources",
        if window.rate.is_some() { "Components over time" } else { "Codes by row" },
        html! {
            p.caption {
                (rows_drawn(window)) " Each time course is drawn on its own scale"
                @if unit_variance(window) { ", in standard deviations" }
                ". On the left are the component's loadings on the " (counted(p as u64, "column"))
                @if context.options.positions.is_some() { ", at the places of the sensors, the nose upwards" }
                @if spectra {
                    "; on the right its power spectrum (Welch's method, over "
                    @if window.n_spectrum == window.n_rows { "all rows" } @else { (counted(window.n_spectrum, "row")) " from the middle" }
                    "), in decibels below its peak"
                }
                ". Excess kurtosis (0 for a Gaussian) is over all " (counted(window.n_rows, "row"))
                @if context.spectrum.variance.is_some() { ", variance that of the fit" }
                ". " (of_all(window.drawn.len(), k)) " components are shown."
            }
            div.sources { @for (i, course) in window.drawn.iter().enumerate() {
                figure {
                    figcaption {
                        b { (i) }
                        @if let Some(v) = &context.spectrum.variance { span { "variance " (number_in(v, v[i])) } }
                        @if let Some(kurtosis) = window.moments[i].excess_kurtosis() { span { "excess kurtosis " (number(kurtosis)) } }
                        (verdict_badge(context, i))
                        @if let Ok(sound) = played(course, i) { (sound) }
                    }
                    div class=(if spectra { "source" } else { "source two" }) {
                        div { (mixing(context, decoder.row(i), i)) }
                        (drawn(course, i))
                        @if spectra {
                            (figure::power(&window.spectra[i], window.rate.unwrap_or(1.0), &format!("Power of component {i} by frequency")))
                        }
                    }
                }
            } }
            @if k > MOST_DRAWN_SOURCES { p.caption { "The other " (k - MOST_DRAWN_SOURCES) " are left out." } }
        },
    )
}

fn rows_drawn(window: &Window) -> String {
    let drawn = window.drawn[0].len() as u64;
    match window.rate {
        _ if drawn == window.n_rows && window.rate.is_none() => {
            format!("All {}, in their order.", counted(drawn, "row"))
        }
        None => format!("{} consecutive rows from the middle of {}.", count(drawn), count(window.n_rows)),
        Some(rate) if drawn == window.n_rows => match pt(drawn as f64 / rate).as_str() {
            "1" => "All of 1 second.".into(),
            all => format!("All {all} seconds."),
        },
        Some(rate) => {
            let (some, all) = (pt(drawn as f64 / rate), pt(window.n_rows as f64 / rate));
            format!("{some} seconds from the middle of {all}.")
        }
    }
}

/// The drawing of a component in the columns: a map, a picture, bars or a curve.
fn mixing(context: &Context<'_>, vector: &[f64], i: usize) -> Markup {
    let alt_text = format!("Component {i} in the columns");
    if let Some(places) = &context.options.positions {
        let name = |j: usize| description::feature_name(context.model, j);
        return figure::topography(places, vector, name, &alt_text);
    }
    if let VectorStyle::Pictures(layout) = VectorStyle::of(context) {
        let uri = data_uri(vector, layout, Scale::signed(vector), layout.shrink_for(1, MOST_PICTURE_BYTES));
        return html! { @if let Ok(uri) = uri { img src=(uri) alt=(alt_text); } };
    }
    figure::small_bars(vector, |j| description::feature_name(context.model, j), &alt_text)
}

/// Whether codes of these rows are in standard deviations, up to what other rows than those of the fit may differ by.
fn unit_variance(window: &Window) -> bool {
    window.moments.iter().all(|m| (m.variance() - 1.0).abs() < 0.05)
}
