//! Points by two of their scores.

use super::arrows::{self, Arrow};
use super::names::{Area, GAP, Label, Position, Room, around};
use super::{Colouring, WIDTH};
use crate::number::{count, number};
use crate::svg::{Frame, Ticks, extent, padded, pt};
use maud::{Markup, html};

/// Points of one colour that are drawn before points of the next: colours alternate, so that no class covers another because of their order.
const TURNS: usize = 8;

/// Maximum number of points with names: more would make a page too large.
const SPOKEN: usize = 1000;
/// Names of points that are on the drawing, those of the farthest ones.
const EXTREME: usize = 5;

/// `points` with the group of each, on named axes; `rows` are the names of the points, where they have names. A point shows its
/// name where it is pointed at, and the names of the farthest are written. `over` are arrows from the origin, above the points.
pub(crate) fn scatter(
    points: &[(f64, f64)],
    groups: &[usize],
    colouring: &Colouring,
    names: (&str, &str),
    rows: &[&str],
    label: &str,
    over: &[Arrow],
) -> Markup {
    let origin = (!over.is_empty()).then_some((0.0, 0.0));
    let x = padded(extent(points.iter().chain(&origin).map(|p| p.0)), 0.04);
    let y = padded(extent(points.iter().chain(&origin).map(|p| p.1)), 0.04);
    let mut frame = Frame::new(WIDTH, 400.0, x, y);
    let ticks = Ticks::round(frame.y, 5);
    frame.margins[0] = ticks.room().max(frame.margins[0]);
    let size: i32 = match points.len() {
        0..400 => 7,
        400..2000 => 5,
        _ => 4,
    };
    let (drawn, radius) = (on_drawing(&frame, points), 0.5 * f64::from(size) + GAP);
    let lines = arrows::lines(&frame, over);
    let mut room = Room::new(Area::inside(&frame), &drawn, radius, lines.clone());
    let extreme = farthest(&drawn, rows, &mut room);
    let over = arrows::placed(over, &lines, &mut room);
    let classes = names_of_classes(&drawn, groups, colouring, &mut room);
    let run = points.len().div_ceil(TURNS).max(1);
    let of_group = |turn: usize, g: usize| {
        let range = turn * run..points.len().min((turn + 1) * run);
        frame.dots(range.filter(|&i| groups[i] == g).map(|i| points[i]))
    };
    frame.draw(label, html! {
        (frame.axes(names.0, names.1, &Ticks::round(frame.x, 5), &ticks))
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
        (arrows::layer(&frame, &over))
        @for label in &extreme { (label.draw("halo", None)) }
        @for (place, name, group) in classes {
            text.halo x=(pt(place.0)) y=(pt(place.1 + 5.0)) text-anchor="middle" style=(tinted(&colouring.style(group).0)) { (name) }
        }
    })
}

/// Positions of points on the drawing.
fn on_drawing(frame: &Frame, points: &[(f64, f64)]) -> Vec<Position> {
    points.iter().map(|p| (frame.px(p.0), frame.py(p.1))).collect()
}

/// Fill of a name: the colour of its class, nearer to that of text so that it can be read.
fn tinted(colour: &str) -> String {
    format!("fill:color-mix(in oklab,{colour} 55%,var(--ink))")
}

/// Share of the points that a class has at least, where its name is on the drawing; the legend has every name.
const NAMED: f64 = 0.04;
/// Letters of the longest name of a class on the drawing.
const LETTERS: usize = 14;

/// Group of the point that is nearest to a rectangle, the first of several.
fn nearest(area: &Area, points: &[Position], groups: &[usize]) -> Option<usize> {
    let distances = points.iter().zip(groups).map(|(point, group)| (area.distance(*point), *group));
    distances.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, group)| group)
}

/// Names of classes, the middle of each on the drawing, and their group. A name, that of the largest class first, is written near the mean of
/// the class: at the first position where it covers no point and no other name, and where the nearest point is one of its
/// class. Without such a position the name is in the legend alone. None where most points have no class of their own.
fn names_of_classes<'a>(
    drawn: &[Position],
    groups: &[usize],
    colouring: &'a Colouring,
    room: &mut Room,
) -> Vec<(Position, &'a str, usize)> {
    let Colouring::Classes { classes, of, .. } = colouring else { return Vec::new() };
    if groups.iter().filter(|g| **g >= of.len()).count() * 2 > groups.len() {
        return Vec::new();
    }
    let mut sums = vec![(0.0f64, 0.0f64, 0.0f64); classes.len()];
    for (p, &g) in drawn.iter().zip(groups) {
        let s = &mut sums[g];
        *s = (s.0 + p.0, s.1 + p.1, s.2 + 1.0);
    }
    let least = (NAMED * drawn.len() as f64).max(1.0);
    let short = |g: usize| classes[g].0.chars().count() <= LETTERS;
    let mut order: Vec<usize> = (0..of.len()).filter(|&g| sums[g].2 >= least && short(g)).collect();
    order.sort_by(|&a, &b| sums[b].2.total_cmp(&sums[a].2).then(a.cmp(&b)));
    let mut out: Vec<(Position, &str, usize)> = Vec::new();
    for g in order {
        let (name, (x, y, n)) = (classes[g].0.as_str(), sums[g]);
        let is_free = |area: &Area| {
            room.is_open(area) && room.n_points(area) == 0 && nearest(area, drawn, groups) == Some(g)
        };
        let found = around((x / n, y / n)).map(|at| Area::of(name, at)).find(is_free);
        if let Some(area) = found {
            room.reserve(area);
            out.push((area.at, name, g));
        }
    }
    out
}

/// The names of the points that lie farthest from the middle of all points, each beside its point if there is room, on the side of the middle of
/// the drawing rather than the other.
fn farthest(drawn: &[Position], names: &[&str], room: &mut Room) -> Vec<Label> {
    /// Distance of a name from the middle of its point.
    const BESIDE: f64 = 6.0;
    let n = drawn.len().max(1) as f64;
    let middle = drawn.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let far = |i: usize| (drawn[i].0 - middle.0).hypot(drawn[i].1 - middle.1);
    let mut order: Vec<usize> = (0..drawn.len().min(names.len())).collect();
    order.sort_by(|a, b| far(*b).total_cmp(&far(*a)).then(a.cmp(b)));
    let mut out = Vec::new();
    for i in order.into_iter().take(EXTREME) {
        let (x, y) = drawn[i];
        let aside = Area::of(names[i], drawn[i]).half.0 + BESIDE;
        let inwards = if x > room.middle().0 { -aside } else { aside };
        let beside = [(x + inwards, y - 1.0), (x - inwards, y - 1.0)];
        out.extend(room.write(names[i], drawn[i], beside.into_iter().chain(around(drawn[i])), drawn));
    }
    out
}

/// An end of a scale, as its label is written or as a number.
fn end(x: f64, label: Option<&String>) -> String {
    label.map_or_else(|| number(x), Clone::clone)
}

/// The quantity that the colours encode.
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

    const RADIUS: f64 = 4.5;

    fn colouring_of(labels: &[&str]) -> Colouring {
        Colouring::of(Some(&("kind".into(), labels.iter().map(|l| l.to_string()).collect())))
    }

    /// The frame of these tests, which is larger than the extent of their points.
    fn frame() -> Frame {
        Frame::new(WIDTH, 400.0, (0.0, 10.0), (0.0, 10.0))
    }

    fn room(drawn: &[Position]) -> Room {
        Room::new(Area::inside(&frame()), drawn, RADIUS, Vec::new())
    }

    /// Names on a drawing of these points and their classes, with the middle of each.
    fn placed(labels: &[&str], points: &[(f64, f64)]) -> Vec<((f64, f64), String)> {
        let colouring = colouring_of(labels);
        let groups: Vec<usize> = labels.iter().map(|l| colouring.group(l)).collect();
        let drawn = on_drawing(&frame(), points);
        let found = names_of_classes(&drawn, &groups, &colouring, &mut room(&drawn));
        found.into_iter().map(|(place, name, _)| (place, name.to_string())).collect()
    }

    /// Names on a drawing of points of these classes, each class at a place of its own.
    fn named(labels: &[&str], at: impl Fn(&str) -> (f64, f64)) -> Vec<(f64, String)> {
        let points: Vec<(f64, f64)> = labels.iter().map(|l| at(l)).collect();
        placed(labels, &points).into_iter().map(|(place, name)| (place.0, name)).collect()
    }

    /// Discs of 80 points, evenly spread (a spiral by the golden angle), and the class of each point.
    fn discs(of: &[(&'static str, (f64, f64))]) -> (Vec<&'static str>, Vec<(f64, f64)>) {
        let point = |i: u32, (x, y): (f64, f64)| {
            let (sin, cos) = (2.399_963 * f64::from(i)).sin_cos();
            let r = 2.0 * (f64::from(i) / 80.0).sqrt();
            (x + r * cos, y + r * sin)
        };
        of.iter().flat_map(|&(name, middle)| (0..80).map(move |i| (name, point(i, middle)))).unzip()
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
    fn names_of_overlapping_classes_cover_no_point_and_no_other_name() {
        let (labels, points) =
            discs(&[("first", (4.2, 5.0)), ("second", (5.8, 5.0)), ("third class", (5.0, 6.2))]);
        let found = placed(&labels, &points);
        assert_eq!(found.len(), 3, "{found:?}");
        let half = |name: &str| 4.0 * name.chars().count() as f64;
        for (i, ((x, y), name)) in found.iter().enumerate() {
            for p in &points {
                let (dx, dy) = ((frame().px(p.0) - x).abs(), (frame().py(p.1) - y).abs());
                assert!(dx > half(name) || dy > 7.0, "'{name}' covers a point");
            }
            for ((other_x, other_y), other) in &found[..i] {
                let apart = (other_x - x).abs() > half(name) + half(other) || (other_y - y).abs() > 14.0;
                assert!(apart, "'{name}' covers '{other}'");
            }
        }
    }

    #[test]
    fn names_without_room_are_in_the_legend() {
        // The points are nearer to each other than a name is high, on all of the drawing.
        let points: Vec<(f64, f64)> =
            (0..51 * 51).map(|i| (0.2 * f64::from(i % 51), 0.2 * f64::from(i / 51))).collect();
        let labels: Vec<&str> = (0..points.len()).map(|i| ["first", "second", "third"][i % 3]).collect();
        assert!(placed(&labels, &points).is_empty());
        let shown = legend(&colouring_of(&labels)).into_string();
        assert!(["first", "second", "third"].iter().all(|name| shown.contains(name)), "{shown}");
    }

    #[test]
    fn names_of_classes_do_not_cover_names_of_points() {
        let (labels, points) = discs(&[("first", (3.0, 5.0)), ("second", (7.0, 5.0))]);
        let colouring = colouring_of(&labels);
        let groups: Vec<usize> = labels.iter().map(|l| colouring.group(l)).collect();
        let drawn = on_drawing(&frame(), &points);
        let names = |taken: Option<Area>| {
            let mut room = room(&drawn);
            taken.into_iter().for_each(|area| room.reserve(area));
            names_of_classes(&drawn, &groups, &colouring, &mut room)
        };
        let free = names(None);
        assert_eq!(free.len(), 2);
        let moved = names(Some(Area::of("a point", free[0].0)));
        assert_ne!(free[0].0, moved[0].0);
    }

    #[test]
    fn names_of_the_farthest_points_cover_no_point() {
        let (_, mut points) = discs(&[("", (5.0, 5.0))]);
        // Points far away, each with others on the side where its name would be.
        let rows = [(9.6, 8.0), (0.4, 8.0), (9.6, 2.0), (0.4, 2.0)];
        let beside =
            |(x, y): (f64, f64)| (1..6).map(move |i| (x + 0.35 * f64::from(i) * (5.0 - x).signum(), y));
        points.extend(rows.into_iter().flat_map(|row| std::iter::once(row).chain(beside(row))));
        let names: Vec<String> = (0..points.len()).map(|i| format!("sample {i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let drawn = on_drawing(&frame(), &points);
        let labels = farthest(&drawn, &names, &mut room(&drawn));
        assert_eq!(labels.len(), EXTREME);
        for (i, label) in labels.iter().enumerate() {
            assert!(
                drawn.iter().all(|p| label.area.distance(*p) > RADIUS)
                    && Area::inside(&frame()).contains(&label.area)
            );
            assert!(labels[..i].iter().all(|other| !other.area.overlaps(&label.area)));
        }
        // A point that is alone has its name beside it.
        let alone = farthest(&drawn[..1], &["alone"], &mut room(&drawn[..1]));
        assert!(!alone[0].connected && (alone[0].area.distance(drawn[0]) - 6.0).abs() < 1e-9);
    }

    #[test]
    fn each_class_has_a_name_in_its_colour() {
        let (labels, points) = discs(&[("first", (3.0, 5.0)), ("second", (7.0, 5.0))]);
        let colouring = colouring_of(&labels);
        let groups: Vec<usize> = labels.iter().map(|l| colouring.group(l)).collect();
        let drawn = scatter(&points, &groups, &colouring, ("x", "y"), &[], "160 points", &[]).into_string();
        let fills: Vec<&str> =
            drawn.split("style=\"fill:").skip(1).map(|piece| piece.split('"').next().unwrap()).collect();
        assert_eq!(fills.len(), 2, "{drawn}");
        assert_ne!(fills[0], fills[1]);
        assert!(fills.iter().zip(0..).all(|(fill, g)| fill.contains(&colouring.style(g).0)), "{fills:?}");
    }

    #[test]
    fn many_rare_values_have_no_names_among_the_points() {
        // Twelve of thirty values are kept, with fewer than half of the points.
        let values: Vec<String> = (0..300).map(|i| format!("value {}", i % 30)).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        assert!(named(&values, |_| (5.0, 5.0)).is_empty());
    }
}
