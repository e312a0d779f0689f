//! Named strokes and dots over the points of a plane.

use crate::svg::{Frame, pt};

/// A named stroke or dot in the plane.
#[derive(Clone, Debug)]
pub struct Stroke {
    /// In the legend.
    pub name: String,
    /// Where it begins.
    pub from: (f64, f64),
    /// Where it ends.
    pub to: (f64, f64),
    /// How it is drawn.
    pub kind: StrokeKind,
}

/// How a stroke is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrokeKind {
    /// Thin, from one end to the other.
    Line,
    /// With a head at its end.
    Arrow,
    /// A disc at its end.
    Dot,
}

impl Stroke {
    pub(super) fn style(&self, colour: &str) -> String {
        let width = match self.kind {
            StrokeKind::Line => 1.2,
            StrokeKind::Arrow => 2.4,
            StrokeKind::Dot => 9.0,
        };
        format!("stroke:{colour};stroke-width:{width};stroke-linecap:round")
    }

    /// On the drawing, cut off at the edges of a frame that reaches from `-most` to `most`.
    pub(super) fn path(&self, frame: &Frame, most: f64) -> String {
        let place = |p: (f64, f64)| (frame.px(p.0), frame.py(p.1));
        let ((x, y), (to_x, to_y)) = match self.kind {
            StrokeKind::Line => {
                let (from, to) = inside(self.from, self.to, most);
                (place(from), place(to))
            }
            _ => (place(self.from), place(self.to)),
        };
        match self.kind {
            StrokeKind::Dot => format!("M{} {}h0", pt(to_x), pt(to_y)),
            StrokeKind::Line => format!("M{} {}L{} {}", pt(x), pt(y), pt(to_x), pt(to_y)),
            StrokeKind::Arrow => {
                let length = (to_x - x).hypot(to_y - y).max(f64::MIN_POSITIVE);
                let size = (0.4 * length).min(8.0) / length;
                let (dx, dy) = ((to_x - x) * size, (to_y - y) * size);
                let barb = |side: f64| (to_x - dx - 0.6 * side * dy, to_y - dy + 0.6 * side * dx);
                let ((ax, ay), (bx, by)) = (barb(1.0), barb(-1.0));
                let head = format!("M{} {}L{} {}L{} {}", pt(ax), pt(ay), pt(to_x), pt(to_y), pt(bx), pt(by));
                format!("M{} {}L{} {}{head}", pt(x), pt(y), pt(to_x), pt(to_y))
            }
        }
    }

    /// In the legend.
    pub(super) fn sample(&self, y: f64) -> String {
        if self.kind == StrokeKind::Dot { format!("M13 {}h0", pt(y)) } else { format!("M4 {}h18", pt(y)) }
    }
}

/// The segment of a line within the square of half side `most` about 0; a point of the line where none of it is inside.
fn inside(from: (f64, f64), to: (f64, f64), most: f64) -> ((f64, f64), (f64, f64)) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut start, mut end) = (0.0f64, 1.0f64);
    for (at, step) in [(from.0, dx), (from.1, dy)] {
        if step != 0.0 {
            let (a, b) = ((-most - at) / step, (most - at) / step);
            (start, end) = (start.max(a.min(b)), end.min(a.max(b)));
        }
    }
    let end = end.max(start);
    let place = |t: f64| (from.0 + t * dx, from.1 + t * dy);
    (place(start), place(end))
}
