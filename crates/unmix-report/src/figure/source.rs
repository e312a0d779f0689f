//! One source in a row of drawings: in the columns, over time, by frequency.

use super::names::short;
use crate::colour::{diverging, hex};
use crate::number::number;
use crate::svg::{Frame, Ticks, extent, padded, pt};
use maud::{Markup, html};

/// Height of the drawings of a row.
const HEIGHT: f64 = 140.0;

/// A course of codes. All of a page have the same axis of time.
pub(crate) struct TimeCourse<'a> {
    pub(crate) values: &'a [f64],
    /// Number of the first row.
    pub(crate) first: u64,
    /// Sampling rate, in rows per second, where it is known.
    pub(crate) rate: Option<f64>,
    /// Names of the rows, from that of `first` on; empty where they have none, or a sampling rate is given.
    pub(crate) names: &'a [String],
    /// Unit of the codes.
    pub(crate) unit: &'a str,
    /// Whether it has the room of a spectrum, too.
    pub(crate) wide: bool,
}

pub(crate) fn course(course: &TimeCourse<'_>, label: &str) -> Markup {
    let TimeCourse { values, first, rate, names, unit, wide } = *course;
    // As wide as its part of a line of the page, so that all text of the line has one size.
    let width = if wide { 790.0 } else { 560.0 };
    let per = rate.unwrap_or(1.0);
    let (from, to) = (first as f64 / per, (first + values.len().max(2) as u64 - 1) as f64 / per);
    let y = padded(extent(values.iter().copied()), 0.05);
    let margins = [54.0, 6.0, 4.0, 32.0];
    // The curve counts points, its axis seconds or rows.
    let points = Frame { width, height: HEIGHT, margins, x: (0.0, (values.len().max(2) - 1) as f64), y };
    let axis = Frame { width, height: HEIGHT, margins, x: (from, to), y };
    let x_ticks = if names.is_empty() { Ticks::round(axis.x, 8) } else { named(names, first, wide) };
    points.draw(
        label,
        html! {
            (axis.axes(if rate.is_some() { "seconds" } else { "row" }, unit, &x_ticks, &Ticks::round(y, 2)))
            path.thin d=(points.curve(values)) {}
        },
    )
}

/// Names of rows at equal distances, cut off where they would touch each other.
fn named(names: &[String], first: u64, wide: bool) -> Ticks {
    const LETTERS: usize = 14;
    let most = if wide { 7 } else { 5 };
    let step = names.len().div_ceil(most).max(1);
    // In the middle of its stretch, so that no name extends beyond the ends of the axis.
    let at = (step / 2..names.len()).step_by(step).map(|i| (first + i as u64) as f64);
    Ticks::at(at, |x| short(&names[(x - first as f64) as usize], LETTERS))
}

/// Decibels below the peak that are drawn.
const RANGE: f64 = 60.0;
/// Rates above this are of sounds, whose frequency axis is logarithmic.
const SOUND: f64 = 1000.0;

/// Power by frequency, from 0 to half the rate, in decibels below its peak.
pub(crate) fn power(spectrum: &[f64], rate: f64, label: &str) -> Markup {
    let step = 0.5 * rate / (spectrum.len().max(2) - 1) as f64;
    let sound = rate > SOUND;
    let place = |hz: f64| if sound { hz.log10() } else { hz };
    let from = if sound { place((0.5 * rate / 512.0).max(step)) } else { 0.0 };
    let frame = Frame {
        width: 230.0,
        height: HEIGHT,
        margins: [48.0, 8.0, 4.0, 32.0],
        x: (from, place(0.5 * rate)),
        y: (-RANGE, 2.0),
    };
    let peak = spectrum.iter().skip(1).fold(f64::MIN_POSITIVE, |m, p| m.max(*p));
    let level = |p: f64| (10.0 * (p / peak).max(1e-30).log10()).max(-RANGE);
    let points = spectrum
        .iter()
        .enumerate()
        .skip(1)
        .map(|(i, p)| (place(i as f64 * step), level(*p)))
        .filter(|(x, _)| *x >= from);
    let ticks = match sound {
        false => Ticks::round(frame.x, 4),
        true => Ticks::at([100.0, 1000.0, 10_000.0].into_iter().map(f64::log10), |x| {
            let hz = 10f64.powf(x).round();
            if hz >= 1000.0 { format!("{}k", hz / 1000.0) } else { hz.to_string() }
        }),
    };
    frame.draw(
        label,
        html! {
            (frame.axes("hertz", "dB", &ticks, &Ticks::round(frame.y, 3)))
            path.thin d=(frame.line(thinned(points.collect()))) {}
        },
    )
}

/// No more points than the drawing can show: neighbours are averaged where they share one.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    const ROOM: f64 = 174.0;
    let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) else { return points };
    let cell = ((last.0 - first.0) / ROOM).max(f64::MIN_POSITIVE);
    let mut out: Vec<(f64, f64, f64)> = Vec::new();
    for (x, y) in points {
        match out.last_mut() {
            Some((at, sum, n)) if ((x - first.0) / cell).floor() == ((*at - first.0) / cell).floor() => {
                *sum += y;
                *n += 1.0;
            }
            _ => out.push((x, y, 1.0)),
        }
    }
    out.into_iter().map(|(x, sum, n)| (x, sum / n)).collect()
}

/// A component on a scale: as bars with the names of the columns, where these are few; as upright bars without names, or as a curve where there
/// are too many.
pub(crate) fn small_bars(vector: &[f64], name: impl Fn(usize) -> String, label: &str) -> Markup {
    const MOST_NAMED: usize = 12;
    const MOST: usize = 64;
    if vector.len() <= MOST_NAMED {
        return named_bars(vector, name, label);
    }
    let most = largest(vector);
    let y = (-1.05 * most, 1.05 * most);
    let y_ticks = Ticks::round(y, 2);
    // Without room for a name of the vertical axis.
    let margins = [y_ticks.room() - 16.0, 10.0, 6.0, 32.0];
    let frame = Frame { width: 190.0, height: HEIGHT, margins, x: (-0.5, vector.len() as f64 - 0.5), y };
    let half = (0.4 * (frame.right() - frame.left()) / vector.len() as f64).max(0.5);
    frame.draw(
        label,
        html! {
            (frame.axes("column", "", &Ticks::whole(frame.x, 3), &y_ticks))
            path.axis d=(format!("M{} {}H{}", pt(frame.left()), pt(frame.py(0.0)), pt(frame.right()))) {}
            @if vector.len() > MOST {
                path.thin d=(frame.curve(vector)) {}
            } @else {
                @for (j, value) in vector.iter().enumerate() {
                    path class=(sign(*value)) d=(format!(
                        "M{} {}V{}H{}V{}Z", pt(frame.px(j as f64) - half), pt(frame.py(0.0)), pt(frame.py(*value)),
                        pt(frame.px(j as f64) + half), pt(frame.py(0.0)),
                    )) { title { (name(j)) ": " (number(*value)) } }
                }
            }
        },
    )
}

/// A component as bars below each other, with the names of the columns at the left.
fn named_bars(vector: &[f64], name: impl Fn(usize) -> String, label: &str) -> Markup {
    /// Height of a name, and letters for which there is room.
    const STEP: f64 = 16.0;
    const LETTERS: usize = 8;
    let most = largest(vector);
    let frame = Frame {
        width: 190.0,
        height: HEIGHT.max(STEP * vector.len() as f64 + 38.0),
        margins: [66.0, 16.0, 4.0, 34.0],
        x: (-1.05 * most, 1.05 * most),
        y: (vector.len() as f64 - 0.5, -0.5),
    };
    // There is room for 0 and the numbers farthest from it.
    let ticks = Ticks::round(frame.x, 2);
    let far = ticks.inside(frame.x).fold(0.0f64, |far, (at, _)| far.max(at.abs()));
    frame.draw(
        label,
        html! {
            @for (at, text) in ticks.inside(frame.x).filter(|(at, _)| *at == 0.0 || at.abs() == far) {
                path.grid d=(format!("M{} {}V{}", pt(frame.px(at)), pt(frame.top()), pt(frame.bottom()))) {}
                text x=(pt(frame.px(at))) y=(pt(frame.bottom() + 14.0)) text-anchor="middle" { (text) }
            }
            path.axis d=(format!("M{} {}V{}", pt(frame.px(0.0)), pt(frame.top()), pt(frame.bottom()))) {}
            @for (j, value) in vector.iter().enumerate() {
                text x=(pt(frame.left() - 6.0)) y=(pt(frame.py(j as f64) + 4.0)) text-anchor="end" {
                    title { (name(j)) } (short(&name(j), LETTERS))
                }
                path class=(sign(*value)) d=(format!(
                    "M{} {}H{}v10H{}Z", pt(frame.px(0.0)), pt(frame.py(j as f64) - 5.0), pt(frame.px(*value)), pt(frame.px(0.0)),
                )) { title { (name(j)) ": " (number(*value)) } }
            }
            text.name x=(pt((frame.left() + frame.right()) / 2.0)) y=(pt(frame.height - 4.0)) text-anchor="middle" { "loading" }
        },
    )
}

/// The largest size of a number, or 1 where all are 0.
fn largest(vector: &[f64]) -> f64 {
    match vector.iter().fold(0.0f64, |m, x| m.max(x.abs())) {
        0.0 => 1.0,
        most => most,
    }
}

/// The class of a bar.
fn sign(value: f64) -> &'static str {
    if value < 0.0 { "minus" } else { "plus" }
}

/// Sensors as discs at their places on a head seen from above, the nose upwards: orange positive, blue negative.
pub(crate) fn topography(
    places: &[(f64, f64)],
    vector: &[f64],
    name: impl Fn(usize) -> String,
    label: &str,
) -> Markup {
    const SIZE: f64 = 130.0;
    let reach = places.iter().fold(0.0f64, |m, (x, y)| m.max(x.hypot(*y))).max(f64::MIN_POSITIVE);
    let most = vector.iter().fold(0.0f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
    // Discs of all sensors together cover about half of the head.
    let disc = (0.5 * SIZE * 0.5 / (places.len().max(1) as f64).sqrt()).clamp(2.0, 12.0);
    let head = 0.5 * SIZE - disc - 2.0;
    let (cx, cy) = (0.5 * SIZE, 0.5 * SIZE + 8.0);
    let frame = Frame { width: SIZE, height: SIZE + 10.0, margins: [0.0; 4], x: (0.0, 1.0), y: (0.0, 1.0) };
    let ring = head + disc;
    frame.draw(
        label,
        html! {
            path.head d=(format!("M{} {}L{} {}L{} {}", pt(cx - 9.0), pt(cy - ring + 1.0), pt(cx), pt(cy - ring - 8.0), pt(cx + 9.0), pt(cy - ring + 1.0))) {}
            path.head d=(format!("M{} {}a{ring:.1} {ring:.1} 0 1 0 {d:.1} 0a{ring:.1} {ring:.1} 0 1 0 -{d:.1} 0Z", pt(cx - ring), pt(cy), d = 2.0 * ring)) {}
            @for (j, ((x, y), value)) in places.iter().zip(vector).enumerate() {
                circle cx=(pt(cx + head * x / reach)) cy=(pt(cy - head * y / reach)) r=(pt(disc)) fill=(hex(diverging(value / most))) {
                    title { (name(j)) ": " (number(*value)) }
                }
            }
        },
    )
}
