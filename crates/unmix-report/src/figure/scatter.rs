//! Points by two of their scores.

use super::arrows::{self, Arrow};
use super::{Colouring, WIDTH};
use crate::number::{count, number};
use crate::svg::{Frame, Ticks, extent, padded, pt};
use maud::{Markup, html};

/// Points of one colour that are drawn before points of the next: colours alternate, so that no class covers another because of their order.
const TURNS: usize = 8;

/// Maximum number of points with names: more would make a page too large.
const SPOKEN: usize = 1000;
/// Names of points that are beside them, the farthest ones first.
const EXTREME: usize = 5;

/// `points` with the group of each, on named axes; `rows` are the names of the points, where they have names. A point shows its
/// name where it is pointed at, and the names of the farthest are beside them. `over` are arrows from the origin, above the points.
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
    let frame = Frame::new(WIDTH, 400.0, x, y);
    let size: i32 = match points.len() {
        0..400 => 7,
        400..2000 => 5,
        _ => 4,
    };
    let extreme = farthest(&frame, points, rows);
    let mut taken = extreme.iter().map(|(place, name, end)| Area::beside(*place, name, *end)).collect();
    let (drawn, radius) = (on_drawing(&frame, points), 0.5 * f64::from(size) + GAP);
    let over = arrows::placed(&frame, over, &drawn, radius, &mut taken);
    let classes = names_of_classes(&frame, points, groups, colouring, radius, taken);
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
        (arrows::layer(&frame, &over))
        @for (place, name, end) in extreme {
            text.halo x=(pt(place.0)) y=(pt(place.1)) text-anchor=(if end { "end" } else { "start" }) { (name) }
        }
        @for (place, name, group) in classes {
            text.halo x=(pt(place.0)) y=(pt(place.1 + 5.0)) text-anchor="middle" style=(tinted(&colouring.style(group).0)) { (name) }
        }
    })
}

/// Places of points on the drawing.
fn on_drawing(frame: &Frame, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    points.iter().map(|p| (frame.px(p.0), frame.py(p.1))).collect()
}

/// Fill of a name: the colour of its class, nearer to that of text so that it can be read.
fn tinted(colour: &str) -> String {
    format!("fill:color-mix(in oklab,{colour} 55%,var(--ink))")
}

/// Share of the points that a class has at least, where its name is on the drawing; the legend has every name.
const NAMED: f64 = 0.04;
/// Letters of the longest name on the drawing.
const LETTERS: usize = 14;
/// Distance of a name from the rim of any point.
pub(super) const GAP: f64 = 1.0;

/// A rectangle on the drawing, in which a name is written.
#[derive(Clone, Copy)]
pub(super) struct Area {
    /// Coordinates of its centre.
    pub(super) at: (f64, f64),
    /// Half its width and half its height.
    pub(super) half: (f64, f64),
}

impl Area {
    /// The rectangle of a name whose middle is `at`: about eight units a letter of its size, and the height of a line.
    pub(super) fn of(name: &str, at: (f64, f64)) -> Self {
        Self { at, half: (4.0 * name.chars().count() as f64 + 3.0, 8.0) }
    }

    /// The rectangle of a name that begins, or ends, at `place` on its baseline.
    fn beside(place: (f64, f64), name: &str, end: bool) -> Self {
        let half = Self::of(name, place).half;
        Self { at: (if end { place.0 - half.0 } else { place.0 + half.0 }, place.1 - 5.0), half }
    }

    /// Distance of a point from the rectangle, 0 inside it.
    pub(super) fn distance(&self, point: (f64, f64)) -> f64 {
        let outside = |x: f64, at: f64, half: f64| ((x - at).abs() - half).max(0.0);
        outside(point.0, self.at.0, self.half.0).hypot(outside(point.1, self.at.1, self.half.1))
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        (self.at.0 - other.at.0).abs() < self.half.0 + other.half.0
            && (self.at.1 - other.at.1).abs() < self.half.1 + other.half.1
    }

    pub(super) fn is_inside(&self, frame: &Frame) -> bool {
        let ((x, y), (w, h)) = (self.at, self.half);
        x - w >= frame.left() && x + w <= frame.right() && y - h >= frame.top() && y + h <= frame.bottom()
    }

    /// Group of the nearest point, if all points are farther from the rectangle than `radius`.
    fn nearest(&self, points: &[(f64, f64)], groups: &[usize], radius: f64) -> Option<usize> {
        let mut nearest = (f64::INFINITY, None);
        for (point, &group) in points.iter().zip(groups) {
            let distance = self.distance(*point);
            if distance <= radius {
                return None;
            }
            if distance < nearest.0 {
                nearest = (distance, Some(group));
            }
        }
        nearest.1
    }
}

/// Candidate positions of a name: the mean of its class, and positions around it at growing distance.
pub(super) fn around((x, y): (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
    const DIRECTIONS: u32 = 16;
    // Less than the height of a name apart; the farthest is at half the height of the drawing: names farther away would no longer be
    // read as those of their class.
    const STEP: f64 = 12.0;
    const RINGS: u32 = 15;
    let ring = move |r: u32| {
        (0..DIRECTIONS).map(move |i| {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(DIRECTIONS)).sin_cos();
            let distance = STEP * f64::from(r);
            // The first direction is upwards.
            (x + distance * sin, y - distance * cos)
        })
    };
    std::iter::once((x, y)).chain((1..=RINGS).flat_map(ring))
}

/// Names of classes, the middle of each on the drawing, and their group. A name, that of the largest class first, is written near the mean of
/// the class: at the first position where it covers no point and no other name (`taken`), and where the nearest point is one of its
/// class. Without such a position the name is in the legend alone. None where most points have no class of their own.
fn names_of_classes<'a>(
    frame: &Frame,
    points: &[(f64, f64)],
    groups: &[usize],
    colouring: &'a Colouring,
    radius: f64,
    mut taken: Vec<Area>,
) -> Vec<((f64, f64), &'a str, usize)> {
    let Colouring::Classes { classes, of, .. } = colouring else { return Vec::new() };
    if groups.iter().filter(|g| **g >= of.len()).count() * 2 > groups.len() {
        return Vec::new();
    }
    let drawn = on_drawing(frame, points);
    let mut sums = vec![(0.0f64, 0.0f64, 0.0f64); classes.len()];
    for (p, &g) in drawn.iter().zip(groups) {
        let s = &mut sums[g];
        *s = (s.0 + p.0, s.1 + p.1, s.2 + 1.0);
    }
    let least = (NAMED * points.len() as f64).max(1.0);
    let short = |g: usize| classes[g].0.chars().count() <= LETTERS;
    let mut order: Vec<usize> = (0..of.len()).filter(|&g| sums[g].2 >= least && short(g)).collect();
    order.sort_by(|&a, &b| sums[b].2.total_cmp(&sums[a].2).then(a.cmp(&b)));
    let mut out: Vec<((f64, f64), &str, usize)> = Vec::new();
    for g in order {
        let (name, (x, y, n)) = (classes[g].0.as_str(), sums[g]);
        let is_free = |area: &Area| {
            area.is_inside(frame)
                && !taken.iter().any(|other| area.overlaps(other))
                && area.nearest(&drawn, groups, radius) == Some(g)
        };
        let found = around((x / n, y / n)).map(|at| Area::of(name, at)).find(is_free);
        if let Some(area) = found {
            taken.push(area);
            out.push((area.at, name, g));
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

    /// Names on a drawing of these points and their classes, with the middle of each.
    fn placed(labels: &[&str], points: &[(f64, f64)]) -> Vec<((f64, f64), String)> {
        let colouring = colouring_of(labels);
        let groups: Vec<usize> = labels.iter().map(|l| colouring.group(l)).collect();
        let found = names_of_classes(&frame(), points, &groups, &colouring, RADIUS, Vec::new());
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
        let names =
            |taken: Vec<Area>| names_of_classes(&frame(), &points, &groups, &colouring, RADIUS, taken);
        let free = names(Vec::new());
        assert_eq!(free.len(), 2);
        let moved = names(vec![Area::beside((free[0].0.0 - 10.0, free[0].0.1), "a point", false)]);
        assert_ne!(free[0].0, moved[0].0);
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
