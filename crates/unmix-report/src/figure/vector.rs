//! One vector over the features: a component, a row, or two of them to compare.

use super::WIDTH;
use super::names::short;
use crate::number::number;
use crate::svg::{Frame, Ticks, extent, padded, pt};
use maud::{Markup, html};

/// A component, or the mean, as a curve over the features; `name` is that of the vertical axis.
pub(crate) fn curve(values: &[f64], name: &str, label: &str) -> Markup {
    let (low, high) = extent(values.iter().copied());
    let frame = strip(values.len(), padded((low.min(0.0), high.max(0.0)), 0.06));
    frame.draw(
        label,
        html! {
            (strip_axes(&frame, name))
            (zero(&frame))
            path.line d=(frame.curve(values)) {}
        },
    )
}

/// Two vectors over the same features: `first` wide and pale, `second` thin on top of it; `name` is that of the vertical axis.
pub(crate) fn overlay(first: &[f64], second: &[f64], name: &str, label: &str) -> Markup {
    let frame = strip(first.len(), padded(extent(first.iter().chain(second).copied()), 0.06));
    frame.draw(
        label,
        html! {
            (strip_axes(&frame, name))
            path.line.wide d=(frame.curve(first)) {}
            path.line d=(frame.curve(second)) {}
        },
    )
}

/// Height of the strip of a term, with its name.
const TERM: f64 = 52.0;

/// Terms of a sum over the same features, each below its name, all on one scale.
pub(crate) fn terms(terms: &[(String, &[f64])], label: &str) -> Markup {
    let all = terms.iter().flat_map(|(_, term)| term.iter().copied());
    let (len, y) = (terms.first().map_or(0, |(_, term)| term.len()), padded(extent(all.chain([0.0])), 0.06));
    let height = TERM * terms.len() as f64 + 6.0;
    let strip_of = |i: usize| {
        let margins = [64.0, 10.0, TERM * i as f64 + 16.0, height - TERM * (i + 1) as f64];
        Frame { width: WIDTH, height, margins, x: (0.0, (len.max(2) - 1) as f64), y }
    };
    let strips: Vec<Frame> = (0..terms.len()).map(strip_of).collect();
    strip_of(0).draw(
        label,
        html! {
            @for ((name, term), strip) in terms.iter().zip(&strips) {
                text x=(pt(strip.left())) y=(pt(strip.top() - 4.0)) { (name) }
                (zero(strip))
                path.line.term d=(strip.curve(term)) {}
            }
        },
    )
}

fn strip(len: usize, y: (f64, f64)) -> Frame {
    let frame = Frame::new(WIDTH, 140.0, (0.0, (len.max(2) - 1) as f64), y);
    Frame { margins: [64.0, 10.0, 6.0, 34.0], ..frame }
}

fn strip_axes(frame: &Frame, name: &str) -> Markup {
    frame.axes("column", name, &Ticks::whole(frame.x, 6), &Ticks::round(frame.y, 3))
}

/// The line at 0, where 0 is in the range of the axis.
fn zero(frame: &Frame) -> Markup {
    let seen = frame.y.0 < 0.0 && frame.y.1 > 0.0;
    html! {
        @if seen { path.axis d=(format!("M{} {}H{}", pt(frame.left()), pt(frame.py(0.0)), pt(frame.right()))) {} }
    }
}

/// Height of a line of names.
const STEP: f64 = 19.0;

/// Room for names, in units of the drawing, and as many letters as there is room for.
const NAMES: f64 = 154.0;
const LETTERS: usize = 20;

/// Rows of names with a scale from `x.0` to `x.1` beside them.
fn named(x: (f64, f64), count: usize) -> Frame {
    let height = STEP * count as f64 + 40.0;
    Frame { width: WIDTH, height, margins: [NAMES, 14.0, 4.0, 36.0], x, y: (count as f64 - 0.5, -0.5) }
}

fn names<'a>(frame: &Frame, x_name: &str, names: impl Iterator<Item = &'a str>) -> Markup {
    html! {
        @for (at, text) in Ticks::round(frame.x, 4).inside(frame.x) {
            path.grid d=(format!("M{} {}V{}", pt(frame.px(at)), pt(frame.top()), pt(frame.bottom()))) {}
            text x=(pt(frame.px(at))) y=(pt(frame.bottom() + 16.0)) text-anchor="middle" { (text) }
        }
        path.axis d=(format!("M{} {}V{}", pt(frame.px(0.0)), pt(frame.top()), pt(frame.bottom()))) {}
        @for (i, name) in names.enumerate() {
            text x=(pt(frame.left() - 8.0)) y=(pt(frame.py(i as f64) + 4.0)) text-anchor="end" { title { (name) } (short(name, LETTERS)) }
        }
        text.name x=(pt((frame.left() + frame.right()) / 2.0)) y=(pt(frame.height - 4.0)) text-anchor="middle" { (x_name) }
    }
}

/// A component as bars, one for each named feature, on a scale to `most` on both sides.
pub(crate) fn bars(entries: &[(String, f64)], most: f64, label: &str) -> Markup {
    let frame = named(padded((-most, most), 0.04), entries.len());
    frame.draw(
        label,
        html! {
            (names(&frame, "loading", entries.iter().map(|(name, _)| name.as_str())))
            @for (i, (name, value)) in entries.iter().enumerate() {
                path class=(if *value < 0.0 { "minus" } else { "plus" }) d=(thick(&frame, i, *value, 6.0)) {
                    title { (name) ": " (number(*value)) }
                }
            }
        },
    )
}

/// A row and its reconstruction, feature by feature, both in standard deviations from the mean.
pub(crate) fn standardised(entries: &[(String, f64, f64)], most: f64, label: &str) -> Markup {
    let frame = named(padded((-most, most), 0.04), entries.len());
    frame.draw(label, html! {
        (names(&frame, "standard deviations from the mean", entries.iter().map(|(name, ..)| name.as_str())))
        @for (i, (name, value, fitted)) in entries.iter().enumerate() {
            path.wide d=(thick(&frame, i, *value, 6.0)) { title { (name) ": " (number(*value)) } }
            circle.mark cx=(pt(frame.px(*fitted))) cy=(pt(frame.py(i as f64))) r="3.5" {
                title { (name) ", reconstructed: " (number(*fitted)) }
            }
        }
    })
}

fn thick(frame: &Frame, i: usize, value: f64, half: f64) -> String {
    let (y, from, to) = (frame.py(i as f64), frame.px(0.0), frame.px(value));
    format!("M{} {}H{}V{}H{}Z", pt(from), pt(y - half), pt(to), pt(y + half), pt(from))
}
