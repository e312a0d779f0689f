//! Points by two of their scores.

use super::{Colouring, WIDTH};
use crate::number::{count, number};
use crate::svg::{Frame, Ticks, extent, padded, pt};
use maud::{Markup, html};

/// Points drawn before the next colour has its turn: so no class hides another only because it is drawn later.
const TURNS: usize = 8;

/// `points` with the group of each, on named axes.
pub(crate) fn scatter(
    points: &[(f64, f64)],
    groups: &[usize],
    colouring: &Colouring,
    names: (&str, &str),
    label: &str,
) -> Markup {
    let x = padded(extent(points.iter().map(|p| p.0)), 0.04);
    let y = padded(extent(points.iter().map(|p| p.1)), 0.04);
    let frame = Frame::new(WIDTH, 400.0, x, y);
    let size = match points.len() {
        0..400 => 7,
        400..2000 => 5,
        _ => 4,
    };
    let run = points.len().div_ceil(TURNS).max(1);
    let of_group = |turn: usize, g: usize| {
        let range = turn * run..points.len().min((turn + 1) * run);
        frame.dots(range.filter(|&i| groups[i] == g).map(|i| points[i]))
    };
    frame.draw(label, html! {
        (frame.axes(names.0, names.1, &Ticks::round(frame.x, 5), &Ticks::round(frame.y, 5)))
        g.points stroke-width=(size) {
            @for turn in 0..points.len().div_ceil(run) {
                @for g in 0..colouring.groups() {
                    @let (d, (colour, square)) = (of_group(turn, g), colouring.style(g));
                    @if !d.is_empty() {
                        path stroke=(colour) stroke-linecap=(if square { "square" } else { "round" }) d=(d) {}
                    }
                }
            }
        }
        @for (place, name) in centres(&frame, points, groups, colouring) {
            text.halo x=(pt(place.0)) y=(pt(place.1 + 5.0)) text-anchor="middle" { (name) }
        }
    })
}

/// Names of classes and where they stand on the drawing: at the mean of their points, largest class first, where there is room.
fn centres<'a>(
    frame: &Frame,
    points: &[(f64, f64)],
    groups: &[usize],
    colouring: &'a Colouring,
) -> Vec<((f64, f64), &'a str)> {
    let Colouring::Classes { classes, of, .. } = colouring else { return Vec::new() };
    let mut sums = vec![(0.0f64, 0.0f64, 0.0f64); classes.len()];
    for (p, &g) in points.iter().zip(groups) {
        let s = &mut sums[g];
        *s = (s.0 + p.0, s.1 + p.1, s.2 + 1.0);
    }
    let mut order: Vec<usize> = (0..of.len()).filter(|&g| sums[g].2 > 0.0).collect();
    order.sort_by(|&a, &b| sums[b].2.total_cmp(&sums[a].2).then(a.cmp(&b)));
    let mut out: Vec<((f64, f64), &str)> = Vec::new();
    for g in order {
        let (name, (x, y, n)) = (classes[g].0.as_str(), sums[g]);
        let place = (frame.px(x / n), frame.py(y / n));
        // About eight units a letter of this size.
        let half = |text: &str| 4.0 * text.chars().count() as f64 + 3.0;
        let free = |(other, text): &((f64, f64), &str)| {
            (place.0 - other.0).abs() > half(name) + half(text) || (place.1 - other.1).abs() > 15.0
        };
        if name.chars().count() <= 14 && out.iter().all(free) {
            out.push((place, name));
        }
    }
    out
}

/// What the colours stand for.
pub(crate) fn legend(colouring: &Colouring) -> Markup {
    match colouring {
        Colouring::None => html! {},
        Colouring::Classes { name, classes, .. } => html! {
            ul.legend aria-label="Colours" {
                li.what { (name) }
                @for (g, (class, n)) in classes.iter().enumerate() {
                    @let (colour, square) = colouring.style(g);
                    li { span.swatch.square[square] style=(format!("background:{colour}")) {} (class) span.count { (count(*n as u64)) } }
                }
            }
        },
        Colouring::Scale { name, range } => html! {
            ul.legend aria-label="Colours" {
                li.what { (name) }
                li {
                    (number(range.0))
                    span.ramp style=(format!("background:linear-gradient(90deg,{})", Colouring::steps().collect::<Vec<_>>().join(","))) {}
                    (number(range.1))
                }
            }
        },
    }
}
