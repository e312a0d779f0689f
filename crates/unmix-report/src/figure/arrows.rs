//! Arrows of columns over points by two codes: a covariance biplot (Gabriel 1971).
//!
//! In units of the standard deviations of both codes, an arrow is what one standard deviation of each adds to the column, so that the inner
//! product of a point and an arrow is what the two components add to that column in that row. All arrows have one common factor.

use super::scatter::{Area, GAP, around};
use crate::svg::{Frame, pt};
use maud::{Markup, html};

/// A column of the data, and the direction of its arrow in units of the axes.
pub(crate) struct Arrow {
    pub(crate) name: String,
    pub(crate) to: (f64, f64),
}

/// Share of the room between the origin and the edges that the arrows take.
const ROOM: f64 = 0.85;
/// Letters of the longest name on the drawing; longer ones are below it.
const LETTERS: usize = 18;
/// The largest distance of a name from its tip.
const NEAR: f64 = 40.0;
/// Length of the sides of a head, and the angle between them and the shaft.
const HEAD: (f64, f64) = (7.0, 0.4);

/// An arrow on the drawing.
pub(super) struct Placed<'a> {
    name: &'a str,
    tip: (f64, f64),
    label: Option<Area>,
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

/// The arrows, and the rectangles of their names, which are added to those `taken`. A name is at the first position near the tip where it covers no
/// point (those at `drawn`, with this `radius`), no tip and no other name, and where no other tip is nearer; without such a position it is in
/// the list below the drawing alone.
pub(super) fn placed<'a>(
    frame: &Frame,
    arrows: &'a [Arrow],
    drawn: &[(f64, f64)],
    radius: f64,
    taken: &mut Vec<Area>,
) -> Vec<Placed<'a>> {
    let by = factor(frame, arrows);
    let tip = |arrow: &Arrow| (frame.px(by * arrow.to.0), frame.py(by * arrow.to.1));
    let tips: Vec<(f64, f64)> = arrows.iter().map(tip).collect();
    let origin = (frame.px(0.0), frame.py(0.0));
    let mut out = Vec::new();
    for (arrow, &tip) in arrows.iter().zip(&tips) {
        let (dx, dy) = (tip.0 - origin.0, tip.1 - origin.1);
        let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
        let half = Area::of(&arrow.name, tip).half;
        let beyond = |d: f64, half: f64| d / length * (half + 2.0 * GAP);
        let first = (tip.0 + beyond(dx, half.0), tip.1 + beyond(dy, half.1));
        let is_free = |area: &Area| {
            let own = area.distance(tip);
            area.is_inside(frame)
                && own <= NEAR
                && !taken.iter().any(|other| area.overlaps(other))
                && tips.iter().all(|tip| area.distance(*tip) > GAP.max(own - GAP))
                && drawn.iter().all(|point| area.distance(*point) > radius)
        };
        let short = arrow.name.chars().count() <= LETTERS;
        let label =
            if short { around(first).map(|at| Area::of(&arrow.name, at)).find(is_free) } else { None };
        taken.extend(label);
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
                @for (name, area) in arrows.iter().filter_map(|arrow| arrow.label.map(|area| (arrow.name, area))) {
                    text.halo.column x=(pt(area.at.0)) y=(pt(area.at.1 + 5.0)) text-anchor="middle" { (name) }
                }
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

    #[test]
    fn arrows_have_one_factor_by_which_all_fit_into_the_frame() {
        let arrows = [arrow("a", (10.0, 0.0)), arrow("b", (-10.0, 1.0)), arrow("c", (0.0, -2.0))];
        // The second one would leave the frame first, at the left.
        assert_eq!(factor(&frame(), &arrows), ROOM * 0.2);
        let found = placed(&frame(), &arrows, &[], 1.0, &mut Vec::new());
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
        let drawn: Vec<(f64, f64)> =
            (0..440).map(|i| (60.0 + 19.0 * f64::from(i % 20), 15.0 + 17.0 * f64::from(i / 20))).collect();
        let few: Vec<(f64, f64)> = drawn.iter().copied().step_by(23).collect();
        let mut taken = Vec::new();
        let found = placed(&frame(), &arrows, &few, 4.0, &mut taken);
        let labels: Vec<Area> = found.iter().filter_map(|arrow| arrow.label).collect();
        assert!(labels.len() >= 4 && taken.len() == labels.len(), "{}", labels.len());
        for (arrow, area) in found.iter().filter_map(|arrow| Some((arrow, arrow.label?))) {
            let own = area.distance(arrow.tip);
            assert!(
                own <= NEAR && found.iter().all(|other| area.distance(other.tip) > own - GAP),
                "{}",
                arrow.name
            );
        }
        for (i, area) in labels.iter().enumerate() {
            assert!(area.is_inside(&frame()) && few.iter().all(|p| area.distance(*p) > 4.0));
            assert!(labels[..i].iter().all(|other| !area.overlaps(other)));
        }
        // Where points are everywhere, names are below the drawing alone; so are long ones.
        assert!(placed(&frame(), &arrows, &drawn, 4.0, &mut Vec::new()).iter().all(|a| a.label.is_none()));
        let long = [arrow("a column with a long name", (1.0, 0.0))];
        assert!(placed(&frame(), &long, &[], 4.0, &mut Vec::new())[0].label.is_none());
    }

    #[test]
    fn names_in_the_layer_are_text() {
        let arrows = [arrow("<gene>", (1.0, 1.0))];
        let drawn = layer(&frame(), &placed(&frame(), &arrows, &[], 1.0, &mut Vec::new())).into_string();
        assert_eq!(drawn.matches("&lt;gene&gt;").count(), 2, "{drawn}");
        assert!(drawn.contains("class=\"arrow\"") && layer(&frame(), &[]).into_string().is_empty());
    }
}
