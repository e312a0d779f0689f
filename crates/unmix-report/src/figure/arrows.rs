//! Arrows of columns over points by two codes: a covariance biplot (Gabriel 1971).
//!
//! In units of the standard deviations of both codes, an arrow is what one standard deviation of each adds to the column, so that the inner
//! product of a point and an arrow is what the two components add to that column in that row. All arrows have one common factor.

use super::names::{Area, GAP, Label, Line, Position, Room, around};
use crate::svg::{Frame, pt};
use maud::{Markup, html};

/// A column of the data, and the direction of its arrow in units of the axes.
pub(crate) struct Arrow {
    pub(crate) name: String,
    pub(crate) to: (f64, f64),
}

/// Share of the room between the origin and the edges that the arrows take.
const ROOM: f64 = 0.85;
/// Length of the sides of a head, and the angle between them and the shaft.
const HEAD: (f64, f64) = (7.0, 0.4);

/// An arrow on the drawing.
pub(super) struct Placed<'a> {
    name: &'a str,
    tip: Position,
    label: Option<Label>,
}

/// The factor by which the arrows fit into the frame.
fn factor(frame: &Frame, arrows: &[Arrow]) -> f64 {
    let room = |to: f64, (low, high): (f64, f64)| match to {
        to if to > 0.0 => high / to,
        to if to < 0.0 => low / to,
        _ => f64::INFINITY,
    };
    let each = arrows.iter().map(|arrow| room(arrow.to.0, frame.x).min(room(arrow.to.1, frame.y)));
    let least = each.fold(f64::INFINITY, f64::min);
    if least.is_finite() { ROOM * least } else { 0.0 }
}

/// The arrows as lines from the origin to their tips.
pub(super) fn lines(frame: &Frame, arrows: &[Arrow]) -> Vec<Line> {
    let by = factor(frame, arrows);
    let origin = (frame.px(0.0), frame.py(0.0));
    let tip = |arrow: &Arrow| (frame.px(by * arrow.to.0), frame.py(by * arrow.to.1));
    arrows.iter().map(|arrow| (origin, tip(arrow))).collect()
}

/// The arrows with their names, each beyond its tip if there is room.
pub(super) fn placed<'a>(arrows: &'a [Arrow], lines: &[Line], room: &mut Room) -> Vec<Placed<'a>> {
    let tips: Vec<Position> = lines.iter().map(|(_, tip)| *tip).collect();
    let mut out = Vec::new();
    for (arrow, &(origin, tip)) in arrows.iter().zip(lines) {
        let (dx, dy) = (tip.0 - origin.0, tip.1 - origin.1);
        let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
        let half = Area::of(&arrow.name, tip).half;
        let beyond = |d: f64, half: f64| d / length * (half + 2.0 * GAP);
        let first = (tip.0 + beyond(dx, half.0), tip.1 + beyond(dy, half.1));
        let label = room.write(&arrow.name, tip, around(first), &tips);
        out.push(Placed { name: &arrow.name, tip, label });
    }
    out
}

/// The layer of arrows, which the page can hide.
pub(super) fn layer(frame: &Frame, arrows: &[Placed<'_>]) -> Markup {
    let origin = (frame.px(0.0), frame.py(0.0));
    let path = |tip: (f64, f64)| {
        let back = (origin.1 - tip.1).atan2(origin.0 - tip.0);
        let side = |angle: f64| {
            let (sin, cos) = (back + angle).sin_cos();
            format!("{} {}", pt(tip.0 + HEAD.0 * cos), pt(tip.1 + HEAD.0 * sin))
        };
        let (from, to) =
            (format!("{} {}", pt(origin.0), pt(origin.1)), format!("{} {}", pt(tip.0), pt(tip.1)));
        format!("M{from}L{to}M{}L{to}L{}", side(HEAD.1), side(-HEAD.1))
    };
    html! {
        @if !arrows.is_empty() {
            g.arrows {
                @for arrow in arrows { path.arrow d=(path(arrow.tip)) { title { (arrow.name) } } }
                @for label in arrows.iter().filter_map(|arrow| arrow.label.as_ref()) { (label.draw("halo column", None)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::WIDTH;

    fn arrow(name: &str, to: (f64, f64)) -> Arrow {
        Arrow { name: name.into(), to }
    }

    fn frame() -> Frame {
        Frame::new(WIDTH, 400.0, (-2.0, 4.0), (-1.0, 1.0))
    }

    const RADIUS: f64 = 4.0;

    /// The arrows on a drawing with these points.
    fn among<'a>(points: &[Position], arrows: &'a [Arrow]) -> Vec<Placed<'a>> {
        let lines = lines(&frame(), arrows);
        let mut room = Room::new(Area::inside(&frame()), points, RADIUS, lines.clone());
        placed(arrows, &lines, &mut room)
    }

    fn labels<'a>(found: &'a [Placed<'_>]) -> Vec<&'a Label> {
        found.iter().filter_map(|arrow| arrow.label.as_ref()).collect()
    }

    #[test]
    fn arrows_have_one_factor_by_which_all_fit_into_the_frame() {
        let arrows = [arrow("a", (10.0, 0.0)), arrow("b", (-10.0, 1.0)), arrow("c", (0.0, -2.0))];
        // The second one would leave the frame first, at the left.
        assert_eq!(factor(&frame(), &arrows), ROOM * 0.2);
        let found = among(&[], &arrows);
        for (arrow, placed) in arrows.iter().zip(&found) {
            let want = (frame().px(0.17 * arrow.to.0), frame().py(0.17 * arrow.to.1));
            assert!((placed.tip.0 - want.0).abs() < 1e-9 && (placed.tip.1 - want.1).abs() < 1e-9);
        }
        assert_eq!(factor(&frame(), &[arrow("none", (0.0, 0.0))]), 0.0);
    }

    #[test]
    fn names_of_arrows_cover_no_point_and_no_name_and_stay_inside() {
        let arrows: Vec<Arrow> =
            (0..8).map(|i| arrow(&format!("column {i}"), (1.0, 0.1 * f64::from(i)))).collect();
        let dense: Vec<Position> =
            (0..440).map(|i| (60.0 + 19.0 * f64::from(i % 20), 15.0 + 17.0 * f64::from(i / 20))).collect();
        let few: Vec<Position> = dense.iter().copied().step_by(23).collect();
        let found = among(&few, &arrows);
        for placed in &found {
            let label = placed.label.as_ref().unwrap();
            assert!(few.iter().all(|p| label.area.distance(*p) > RADIUS), "{}", placed.name);
            let own = label.area.distance(placed.tip);
            let nearest = found.iter().all(|other| label.area.distance(other.tip) > own - GAP);
            assert!(nearest || label.connected, "{}", placed.name);
        }
        // Where points are everywhere, names cover some, but no other name.
        for found in [found, among(&dense, &arrows)] {
            let labels = labels(&found);
            assert_eq!(labels.len(), 8);
            for (i, label) in labels.iter().enumerate() {
                assert!(Area::inside(&frame()).contains(&label.area));
                for other in &labels[..i] {
                    assert!(!label.area.overlaps(&other.area));
                    assert!(!other.connected || !label.area.meets(other.line()));
                    assert!(!label.connected || !other.area.meets(label.line()));
                }
            }
        }
    }

    #[test]
    fn the_name_of_an_arrow_that_ends_in_a_cloud_of_points_is_beside_the_cloud() {
        let arrows = [arrow("marker", (1.0, 0.0)), arrow("other", (-1.0, 0.2))];
        let tip = lines(&frame(), &arrows)[0].1;
        // A spiral by the golden angle: points are nearer to each other than a name is high.
        let point = |i: u32| {
            let (sin, cos) = (2.399_963 * f64::from(i)).sin_cos();
            let r = 60.0 * (f64::from(i) / 400.0).sqrt();
            (tip.0 + r * cos, tip.1 + r * sin)
        };
        let points: Vec<Position> = (0..400).map(point).collect();
        let found = among(&points, &arrows);
        let label = found[0].label.as_ref().expect("there is room beside the cloud");
        assert!(points.iter().all(|p| label.area.distance(*p) > RADIUS) && label.connected);
        let drawn = layer(&frame(), &found).into_string();
        assert_eq!(drawn.matches("class=\"leader\"").count(), 1, "{drawn}");
        assert!(drawn.contains(">marker</text>") && drawn.contains(">other</text>"));
    }

    #[test]
    fn names_in_the_layer_are_text() {
        let arrows = [arrow("<gene>", (1.0, 1.0))];
        let drawn = layer(&frame(), &among(&[], &arrows)).into_string();
        assert_eq!(drawn.matches("&lt;gene&gt;").count(), 2, "{drawn}");
        assert!(drawn.contains("class=\"arrow\"") && layer(&frame(), &[]).into_string().is_empty());
        let long = [arrow("a column with a long name", (1.0, 0.0))];
        let drawn = layer(&frame(), &among(&[], &long)).into_string();
        assert!(
            drawn.contains("<title>a column with a long name</title>a column with a l\u{2026}<"),
            "{drawn}"
        );
    }
}
