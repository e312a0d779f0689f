//! Positions of names on a drawing: near what they name, over no point and no other name.

use crate::svg::{Frame, pt};
use maud::{Markup, html};

/// Coordinates on a drawing.
pub(crate) type Position = (f64, f64);

/// A straight line between two positions.
pub(crate) type Line = (Position, Position);

/// Distance of a name from the rim of any point.
pub(crate) const GAP: f64 = 1.0;
/// The largest distance of a name from its anchor without a line between the two: one and a half times the height of a name.
const NEAR: f64 = 24.0;
/// Letters of the longest name on a drawing; longer ones are shortened.
const LETTERS: usize = 18;
/// Side of the squares in which points are counted, which is the height of a name.
const CELL: f64 = 16.0;

/// As many letters of a name as there is room for.
pub(crate) fn short(name: &str, most: usize) -> String {
    match name.chars().count() > most {
        true => name.chars().take(most - 1).chain(['\u{2026}']).collect(),
        false => name.into(),
    }
}

/// A rectangle on a drawing, in which a name is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    /// Coordinates of its centre.
    pub(crate) at: Position,
    /// Half its width and half its height.
    pub(crate) half: (f64, f64),
}

impl Area {
    /// The rectangle of a name whose middle is `at`: about eight units a letter of its size, and the height of a line.
    pub(crate) fn of(name: &str, at: Position) -> Self {
        Self { at, half: (4.0 * name.chars().count().min(LETTERS) as f64 + 3.0, 8.0) }
    }

    /// The rectangle between the axes of a frame.
    pub(crate) fn inside(frame: &Frame) -> Self {
        let (left, right, top, bottom) = (frame.left(), frame.right(), frame.top(), frame.bottom());
        Self {
            at: (0.5 * (left + right), 0.5 * (top + bottom)),
            half: (0.5 * (right - left), 0.5 * (bottom - top)),
        }
    }

    /// The position in the rectangle that is nearest to a point.
    fn closest(&self, point: Position) -> Position {
        let inside = |x: f64, at: f64, half: f64| x.max(at - half).min(at + half);
        (inside(point.0, self.at.0, self.half.0), inside(point.1, self.at.1, self.half.1))
    }

    /// Distance of a point from the rectangle, 0 inside it.
    pub(crate) fn distance(&self, point: Position) -> f64 {
        let outside = |x: f64, at: f64, half: f64| ((x - at).abs() - half).max(0.0);
        outside(point.0, self.at.0, self.half.0).hypot(outside(point.1, self.at.1, self.half.1))
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        (self.at.0 - other.at.0).abs() < self.half.0 + other.half.0
            && (self.at.1 - other.at.1).abs() < self.half.1 + other.half.1
    }

    pub(crate) fn contains(&self, other: &Self) -> bool {
        (self.at.0 - other.at.0).abs() + other.half.0 <= self.half.0
            && (self.at.1 - other.at.1).abs() + other.half.1 <= self.half.1
    }

    /// Whether a line passes through the rectangle: whether the parts of it between the left and the right side, and between the upper and
    /// the lower one, have a point in common.
    pub(crate) fn meets(&self, (from, to): Line) -> bool {
        let (mut first, mut last) = (0.0f64, 1.0f64);
        let axes = [(from.0, to.0, self.at.0, self.half.0), (from.1, to.1, self.at.1, self.half.1)];
        for (from, to, at, half) in axes {
            let (step, low, high) = (to - from, at - half - from, at + half - from);
            if step == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return false;
                }
                continue;
            }
            let (a, b) = (low / step, high / step);
            (first, last) = (first.max(a.min(b)), last.min(a.max(b)));
        }
        first <= last
    }
}

/// Candidate positions of a name: the one given, and others around it at growing distance.
pub(crate) fn around((x, y): Position) -> impl Iterator<Item = Position> {
    const DIRECTIONS: u32 = 16;
    // Less than the height of a name apart; the farthest is at half the height of the drawing: names farther away would no longer be
    // read as those of what they name.
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

/// A name on a drawing.
pub(crate) struct Label {
    name: String,
    pub(crate) area: Area,
    /// The position that is named.
    anchor: Position,
    /// Whether a line leads from there to the name, which is not near, or nearer to something else that is named.
    pub(crate) connected: bool,
}

impl Label {
    /// The line from what is named to the name.
    pub(crate) fn line(&self) -> Line {
        (self.anchor, self.area.closest(self.anchor))
    }

    /// The name as text of a class, the whole of a shortened one where it is pointed at, and the line to it. The text begins or ends
    /// at the side of the anchor, because it may be narrower than its rectangle.
    pub(crate) fn draw(&self, class: &str, style: Option<&str>) -> Markup {
        let ((x, y), (width, _)) = (self.area.at, self.area.half);
        let (at, side) = match self.anchor.0 {
            anchor if anchor <= x - width => (x - width, "start"),
            anchor if anchor >= x + width => (x + width, "end"),
            _ => (x, "middle"),
        };
        let (from, to) = self.line();
        let text = short(&self.name, LETTERS);
        html! {
            @if self.connected {
                path.leader d=(format!("M{} {}L{} {}", pt(from.0), pt(from.1), pt(to.0), pt(to.1))) {}
            }
            text class=(class) x=(pt(at)) y=(pt(y + 5.0)) text-anchor=(side) style=[style] {
                @if text != self.name { title { (self.name) } }
                (text)
            }
        }
    }
}

/// Points in the cells of a grid: those near a rectangle are found in time that depends on the number of points near it alone.
struct Grid {
    columns: usize,
    lines: usize,
    cells: Vec<Vec<Position>>,
}

impl Grid {
    /// The points of a drawing of this width and height.
    fn of(points: &[Position], (width, height): (f64, f64)) -> Self {
        let number = |length: f64| (length / CELL).ceil().max(1.0) as usize;
        let (columns, lines) = (number(width), number(height));
        let mut cells = vec![Vec::new(); columns * lines];
        for point in points {
            cells[Self::cell(point.1, lines) * columns + Self::cell(point.0, columns)].push(*point);
        }
        Self { columns, lines, cells }
    }

    /// The cell of a coordinate, of so many; the outermost ones hold everything beyond them.
    fn cell(at: f64, number: usize) -> usize {
        ((at / CELL).max(0.0) as usize).min(number - 1)
    }

    /// The number of points within a distance of a rectangle.
    fn count(&self, area: &Area, distance: f64) -> usize {
        let range = |at: f64, half: f64, number: usize| {
            Self::cell(at - half - distance, number)..=Self::cell(at + half + distance, number)
        };
        let columns = range(area.at.0, area.half.0, self.columns);
        let near = |point: &&Position| area.distance(**point) <= distance;
        range(area.at.1, area.half.1, self.lines)
            .flat_map(|line| columns.clone().map(move |column| line * self.columns + column))
            .map(|cell| self.cells[cell].iter().filter(near).count())
            .sum()
    }
}

/// What is on a drawing, and what room it leaves for names.
pub(crate) struct Room {
    inside: Area,
    points: Grid,
    radius: f64,
    arrows: Vec<Line>,
    names: Vec<Area>,
    leaders: Vec<Line>,
}

impl Room {
    /// The room inside a rectangle among arrows, and among points that names must be farther from than `radius`.
    pub(crate) fn new(inside: Area, points: &[Position], radius: f64, arrows: Vec<Line>) -> Self {
        let size = (inside.at.0 + inside.half.0, inside.at.1 + inside.half.1);
        Self { inside, points: Grid::of(points, size), radius, arrows, names: vec![], leaders: vec![] }
    }

    /// The middle of the rectangle.
    pub(crate) fn middle(&self) -> Position {
        self.inside.at
    }

    /// Whether a rectangle is inside, and no other name, line to one, or tip of an arrow is in it.
    pub(crate) fn is_open(&self, area: &Area) -> bool {
        self.inside.contains(area)
            && !self.names.iter().any(|other| area.overlaps(other))
            && !self.leaders.iter().any(|line| area.meets(*line))
            && self.arrows.iter().all(|(_, tip)| area.distance(*tip) > GAP)
    }

    /// The number of points that a name in this rectangle would cover.
    pub(crate) fn n_points(&self, area: &Area) -> usize {
        self.points.count(area, self.radius)
    }

    /// Writes a name into a rectangle.
    pub(crate) fn reserve(&mut self, area: Area) {
        self.names.push(area);
    }

    /// Writes a name at the first of the candidate positions for its middle where it covers no point and no arrow, if possible one without
    /// a line to its `anchor`: near it, and not nearer to one of the `others`. If points are everywhere, where it covers the fewest; none if
    /// every candidate is outside or over another name.
    pub(crate) fn write(
        &mut self,
        name: &str,
        anchor: Position,
        candidates: impl Iterator<Item = Position>,
        others: &[Position],
    ) -> Option<Label> {
        let mut best: Option<((usize, bool, bool), Area)> = None;
        for area in candidates.map(|at| Area::of(name, at)).filter(|area| self.is_open(area)) {
            let arrows = self.arrows.iter().filter(|line| area.meets(**line)).count();
            let covered = self.n_points(&area) + arrows;
            if best.is_some_and(|((least, ..), _)| covered > least) {
                continue;
            }
            let own = area.distance(anchor);
            let distances =
                others.iter().filter(|other| **other != anchor).map(|other| area.distance(*other));
            let next = distances.fold(f64::INFINITY, f64::min);
            let connected = own > NEAR || next <= own - GAP;
            let line = (anchor, area.closest(anchor));
            if connected && self.names.iter().any(|other| other.meets(line)) {
                continue;
            }
            // In this order, what makes a position worse.
            let faults = (covered, connected, connected && next < 0.5 * NEAR);
            if best.is_none_or(|(least, _)| faults < least) {
                best = Some((faults, area));
            }
            if faults == (0, false, false) {
                break;
            }
        }
        let ((_, connected, _), area) = best?;
        let label = Label { name: name.into(), area, anchor, connected };
        self.names.push(area);
        self.leaders.extend(connected.then(|| label.line()));
        Some(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RADIUS: f64 = 4.0;

    fn whole() -> Area {
        Area { at: (200.0, 200.0), half: (200.0, 200.0) }
    }

    /// Points at distances of about 6 from each other (a spiral by the golden angle) in a disc of this radius.
    fn disc((x, y): Position, radius: f64) -> Vec<Position> {
        let n = (radius * radius / 12.0) as u32;
        let point = |i: u32| {
            let (sin, cos) = (2.399_963 * f64::from(i)).sin_cos();
            let r = radius * (f64::from(i) / f64::from(n)).sqrt();
            (x + r * cos, y + r * sin)
        };
        (0..n).map(point).collect()
    }

    #[test]
    fn a_line_meets_a_rectangle_that_it_passes_through() {
        let area = Area { at: (10.0, 10.0), half: (4.0, 2.0) };
        for line in [((0.0, 10.0), (20.0, 10.0)), ((10.0, 0.0), (10.0, 9.0)), ((9.0, 9.0), (11.0, 11.0))] {
            assert!(area.meets(line) && area.meets((line.1, line.0)), "{line:?}");
        }
        for line in [((0.0, 10.0), (5.0, 10.0)), ((0.0, 0.0), (0.0, 20.0)), ((0.0, 10.0), (10.0, 20.0))] {
            assert!(!area.meets(line) && !area.meets((line.1, line.0)), "{line:?}");
        }
    }

    #[test]
    fn points_near_a_rectangle_are_counted_as_one_by_one() {
        let points = [disc((200.0, 200.0), 190.0), vec![(-5.0, 30.0), (405.0, 399.0)]].concat();
        let grid = Grid::of(&points, (400.0, 400.0));
        for at in [(200.0, 200.0), (20.0, 30.0), (385.0, 391.0), (0.0, 0.0), (311.5, 64.0)] {
            let area = Area::of("a name", at);
            let count = points.iter().filter(|p| area.distance(**p) <= RADIUS).count();
            assert_eq!(grid.count(&area, RADIUS), count, "{at:?}");
        }
    }

    #[test]
    fn a_name_in_a_cloud_of_points_is_beside_it_with_a_line() {
        let points = disc((200.0, 200.0), 80.0);
        let mut room = Room::new(whole(), &points, RADIUS, vec![]);
        let label = room.write("marker", (200.0, 200.0), around((200.0, 188.0)), &[]).unwrap();
        assert!(points.iter().all(|p| label.area.distance(*p) > RADIUS) && label.connected);
        let drawn = label.draw("halo", None).into_string();
        assert!(drawn.contains("class=\"leader\" d=\"M200 200L") && !drawn.contains("<title>"), "{drawn}");
        // Another one is neither over the first nor over its line, and its own line does not cross the first.
        let other = room.write("other", (206.0, 190.0), around((206.0, 178.0)), &[]).unwrap();
        assert!(!other.area.overlaps(&label.area) && !other.area.meets(label.line()));
        assert!(!label.area.meets(other.line()) && points.iter().all(|p| other.area.distance(*p) > RADIUS));
    }

    #[test]
    fn a_name_that_is_nearer_to_something_else_has_a_line() {
        let mut room = Room::new(whole(), &[], RADIUS, vec![]);
        let at = |x: f64| std::iter::once((x, 200.0));
        assert!(
            !room.write("a", (180.0, 200.0), at(200.0), &[(180.0, 200.0), (230.0, 200.0)]).unwrap().connected
        );
        let mut room = Room::new(whole(), &[], RADIUS, vec![]);
        assert!(
            room.write("a", (180.0, 200.0), at(200.0), &[(180.0, 200.0), (210.0, 200.0)]).unwrap().connected
        );
    }

    #[test]
    fn a_name_without_free_space_covers_the_fewest_points() {
        let dense: Vec<Position> =
            (0..80 * 80).map(|i| (5.0 * f64::from(i % 80), 5.0 * f64::from(i / 80))).collect();
        // Thinner to the right, where the name is then.
        let points: Vec<Position> =
            dense.into_iter().filter(|(x, y)| *x < 260.0 || (x + y) % 15.0 == 0.0).collect();
        let mut room = Room::new(whole(), &points, RADIUS, vec![]);
        let open = around((200.0, 188.0)).map(|at| Area::of("name", at)).filter(|area| room.is_open(area));
        let least = open.map(|area| room.n_points(&area)).min().unwrap();
        let label = room.write("name", (200.0, 200.0), around((200.0, 188.0)), &[]).unwrap();
        assert!(least > 0 && room.n_points(&label.area) == least && label.area.at.0 > 260.0);
    }

    #[test]
    fn long_names_are_shortened_with_the_whole_as_a_title() {
        let mut room = Room::new(whole(), &[], RADIUS, vec![]);
        let name = "a column with a long <name>";
        let label = room.write(name, (100.0, 100.0), std::iter::once((190.0, 100.0)), &[]).unwrap();
        let drawn = label.draw("halo", Some("fill:red")).into_string();
        assert!(
            drawn.contains("<title>a column with a long &lt;name&gt;</title>a column with a l\u{2026}"),
            "{drawn}"
        );
        assert!(drawn.contains("text-anchor=\"start\" style=\"fill:red\""), "{drawn}");
    }
}
