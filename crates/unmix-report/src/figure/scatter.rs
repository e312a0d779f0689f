//! Points by two of their scores.

use super::{Colouring, WIDTH};
use crate::number::{count, number};
use crate::svg::{Frame, Ticks, extent, padded, pt};
use maud::{Markup, html};

/// Points drawn before the next colour has its turn: so no class hides another only because it is drawn later.
const TURNS: usize = 8;

/// Maximum number of points with names: more would make a page too large.
const SPOKEN: usize = 1000;
/// Names of points that are beside them, the farthest ones first.
const EXTREME: usize = 5;

/// `points` with the group of each, on named axes; `rows` are the names of the points, where they have names. A point shows its
/// name where it is pointed at, and the names of the farthest are beside them.
pub(crate) fn scatter(
    points: &[(f64, f64)],
    groups: &[usize],
    colouring: &Colouring,
    names: (&str, &str),
    rows: &[&str],
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
        @if points.len() <= SPOKEN {
            @for (point, name) in points.iter().zip(rows) {
                circle cx=(pt(frame.px(point.0))) cy=(pt(frame.py(point.1))) r="4" fill="transparent" { title { (name) } }
            }
        }
        @for (place, name, end) in farthest(&frame, points, rows) {
            text.halo x=(pt(place.0)) y=(pt(place.1)) text-anchor=(if end { "end" } else { "start" }) { (name) }
        }
        @for (place, name, group) in centres(&frame, points, groups, colouring) {
            text.halo x=(pt(place.0)) y=(pt(place.1 + 5.0)) text-anchor="middle" style=(tinted(&colouring.style(group).0)) { (name) }
        }
    })
}

/// Fill of a name: the colour of its class, nearer to that of text so that it can be read.
fn tinted(colour: &str) -> String {
    format!("fill:color-mix(in oklab,{colour} 55%,var(--ink))")
}

/// Share of the points that a class has at least, where its name stands among them; the legend has every name.
const NAMED: f64 = 0.04;

/// Names of classes, where they stand on the drawing, and their group: at the mean of their points, largest class first, where
/// there is room. None where most points have no class of their own.
fn centres<'a>(
    frame: &Frame,
    points: &[(f64, f64)],
    groups: &[usize],
    colouring: &'a Colouring,
) -> Vec<((f64, f64), &'a str, usize)> {
    let Colouring::Classes { classes, of, .. } = colouring else { return Vec::new() };
    if groups.iter().filter(|g| **g >= of.len()).count() * 2 > groups.len() {
        return Vec::new();
    }
    let mut sums = vec![(0.0f64, 0.0f64, 0.0f64); classes.len()];
    for (p, &g) in points.iter().zip(groups) {
        let s = &mut sums[g];
        *s = (s.0 + p.0, s.1 + p.1, s.2 + 1.0);
    }
    let least = (NAMED * points.len() as f64).max(1.0);
    let mut order: Vec<usize> = (0..of.len()).filter(|&g| sums[g].2 >= least).collect();
    order.sort_by(|&a, &b| sums[b].2.total_cmp(&sums[a].2).then(a.cmp(&b)));
    let mut out: Vec<((f64, f64), &str, usize)> = Vec::new();
    for g in order {
        let (name, (x, y, n)) = (classes[g].0.as_str(), sums[g]);
        // About eight units a letter of this size, none of them outside.
        let half = |text: &str| 4.0 * text.chars().count() as f64 + 3.0;
        let room = half(name).min(0.5 * (frame.right() - frame.left()));
        let place = (frame.px(x / n).clamp(frame.left() + room, frame.right() - room), frame.py(y / n));
        let free = |(other, text, _): &((f64, f64), &str, usize)| {
            (place.0 - other.0).abs() > half(name) + half(text) || (place.1 - other.1).abs() > 15.0
        };
        if name.chars().count() <= 14 && out.iter().all(free) {
            out.push((place, name, g));
        }
    }
    out
}

/// The names of the points that lie farthest from the middle of the drawing, each beside its point on the side where there is room; none
/// above another.
fn farthest<'a>(frame: &Frame, points: &[(f64, f64)], rows: &[&'a str]) -> Vec<((f64, f64), &'a str, bool)> {
    let n = points.len().max(1) as f64;
    let middle = points.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let far = |i: usize| {
        let unit = |(x, y): (f64, f64)| (frame.px(x), frame.py(y));
        let ((x, y), (mx, my)) = (unit(points[i]), unit(middle));
        (x - mx).hypot(y - my)
    };
    let mut order: Vec<usize> = (0..points.len().min(rows.len())).collect();
    order.sort_by(|a, b| far(*b).total_cmp(&far(*a)).then(a.cmp(b)));
    let mut out: Vec<((f64, f64), &str, bool)> = Vec::new();
    for i in order.into_iter().take(EXTREME) {
        let (x, y) = (frame.px(points[i].0), frame.py(points[i].1));
        let end = x > 0.5 * (frame.left() + frame.right());
        let place = (if end { x - 6.0 } else { x + 6.0 }, y + 4.0);
        let long = rows[i].chars().count() > 18;
        if !long && out.iter().all(|(other, _, side)| *side != end || (other.1 - place.1).abs() > 13.0) {
            out.push((place, rows[i], end));
        }
    }
    out
}

/// An end of a scale, as its label is written or as a number.
fn end(x: f64, label: Option<&String>) -> String {
    label.map_or_else(|| number(x), Clone::clone)
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
        Colouring::Unlike { name, values } => html! {
            p.caption { "Not coloured by " (name) ": it has " (count(*values as u64)) " different values." }
        },
        Colouring::Scale { name, range, ends } => html! {
            ul.legend aria-label="Colours" {
                li.what { (name) }
                li {
                    (end(range.0, ends.as_ref().map(|e| &e.0)))
                    span.ramp style=(format!("background:linear-gradient(90deg,{})", Colouring::steps().collect::<Vec<_>>().join(","))) {}
                    (end(range.1, ends.as_ref().map(|e| &e.1)))
                }
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names on a drawing of points of these classes, each class around a place of its own.
    fn named(labels: &[&str], at: impl Fn(&str) -> (f64, f64)) -> Vec<(f64, String)> {
        let values: Vec<String> = labels.iter().map(|l| l.to_string()).collect();
        let points: Vec<(f64, f64)> = labels.iter().map(|l| at(l)).collect();
        let colouring = Colouring::of(Some(&("kind".into(), values)));
        let groups: Vec<usize> = labels.iter().map(|l| colouring.group(l)).collect();
        let frame = Frame::new(WIDTH, 400.0, (0.0, 10.0), (0.0, 10.0));
        centres(&frame, &points, &groups, &colouring)
            .into_iter()
            .map(|(p, name, _)| (p.0, name.into()))
            .collect()
    }

    #[test]
    fn names_are_placed_inside_the_drawing_and_rare_classes_have_none() {
        let mut labels = vec!["a long name"; 60];
        labels.extend(vec!["b"; 39]);
        labels.push("rare");
        let found = named(&labels, |l| if l == "b" { (5.0, 5.0) } else { (9.9, 1.0) });
        let names: Vec<&str> = found.iter().map(|(_, n)| n.as_str()).collect();
        assert_eq!(names, ["a long name", "b"]);
        assert!(found[0].0 + 4.0 * 11.0 <= WIDTH, "{found:?}");
    }

    #[test]
    fn many_rare_values_have_no_names_among_the_points() {
        // Twelve of thirty values are kept, with fewer than half of the points.
        let values: Vec<String> = (0..300).map(|i| format!("value {}", i % 30)).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        assert!(named(&values, |_| (5.0, 5.0)).is_empty());
    }
}
