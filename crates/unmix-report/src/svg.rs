//! A small layer of SVG: a frame with axes, and paths in its coordinates.
//!
//! Colours and type come from the page's style sheet, so that a figure follows the page into dark mode.

use maud::{Markup, html};
use std::fmt::Write;

/// A rectangle of numbers on a drawing of fixed size; the drawing scales with the page.
pub(crate) struct Frame {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Room at the left, right, top and bottom.
    pub(crate) margins: [f64; 4],
    /// The numbers at the left and right edge.
    pub(crate) x: (f64, f64),
    /// The numbers at the bottom and top edge.
    pub(crate) y: (f64, f64),
}

impl Frame {
    /// A frame with room for labelled axes.
    pub(crate) fn new(width: f64, height: f64, x: (f64, f64), y: (f64, f64)) -> Self {
        Self { width, height, margins: [60.0, 10.0, 10.0, 36.0], x, y }
    }

    pub(crate) fn left(&self) -> f64 {
        self.margins[0]
    }

    pub(crate) fn right(&self) -> f64 {
        self.width - self.margins[1]
    }

    pub(crate) fn top(&self) -> f64 {
        self.margins[2]
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.height - self.margins[3]
    }

    /// Where `x` lies on the drawing.
    pub(crate) fn px(&self, x: f64) -> f64 {
        self.left() + (x - self.x.0) / (self.x.1 - self.x.0) * (self.right() - self.left())
    }

    /// Where `y` lies on the drawing.
    pub(crate) fn py(&self, y: f64) -> f64 {
        self.bottom() - (y - self.y.0) / (self.y.1 - self.y.0) * (self.bottom() - self.top())
    }

    /// The drawing around `content`; `label` is the text for screen readers.
    pub(crate) fn draw(&self, label: &str, content: Markup) -> Markup {
        let view = format!("0 0 {} {}", self.width, self.height);
        html! { svg viewBox=(view) role="img" aria-label=(label) { (content) } }
    }

    /// Ticks, grid lines and names of both axes.
    pub(crate) fn axes(&self, x_name: &str, y_name: &str, x_ticks: &Ticks, y_ticks: &Ticks) -> Markup {
        let (l, r, t, b) = (self.left(), self.right(), self.top(), self.bottom());
        html! {
            @for ((at, text), place) in y_ticks.0.iter().zip(y_ticks.apart(self)).filter(|((y, _), _)| within(*y, self.y)) {
                path.grid d=(format!("M{} {}H{}", pt(l), pt(self.py(*at)), pt(r))) {}
                text x=(pt(l - 6.0)) y=(pt(place + 4.0)) text-anchor="end" { (text) }
            }
            @for (at, text) in x_ticks.inside(self.x) {
                path.tick d=(format!("M{} {}v4", pt(self.px(at)), pt(b))) {}
                text x=(pt(self.px(at))) y=(pt(b + 16.0)) text-anchor="middle" { (text) }
            }
            path.axis d=(format!("M{} {}H{}", pt(l), pt(b), pt(r))) {}
            text.name x=(pt((l + r) / 2.0)) y=(pt(self.height - 4.0)) text-anchor="middle" { (x_name) }
            @if !y_name.is_empty() {
                text.name transform=(format!("translate(11 {}) rotate(-90)", pt((t + b) / 2.0))) text-anchor="middle" { (y_name) }
            }
        }
    }

    /// A line through points.
    pub(crate) fn line(&self, points: impl IntoIterator<Item = (f64, f64)>) -> String {
        let mut d = String::new();
        for (x, y) in points {
            let _ =
                write!(d, "{}{} {}", if d.is_empty() { 'M' } else { 'L' }, pt(self.px(x)), pt(self.py(y)));
        }
        d
    }

    /// A line through `y` at 0, 1, 2, ... with no more points than the drawing can show: of many, the least and the greatest
    /// of each run.
    pub(crate) fn curve(&self, y: &[f64]) -> String {
        let room = (self.right() - self.left()) as usize;
        if y.len() <= 2 * room {
            return self.line(y.iter().enumerate().map(|(i, y)| (i as f64, *y)));
        }
        let run = y.len().div_ceil(room);
        self.line(y.chunks(run).enumerate().flat_map(|(i, run_of)| {
            let (low, high) = extent(run_of.iter().copied());
            let at = (i * run) as f64 + 0.5 * (run_of.len() - 1) as f64;
            [(at, low), (at, high)]
        }))
    }

    /// Dots, as one path whose strokes have no length: with round or square ends they are discs or squares.
    pub(crate) fn dots(&self, points: impl IntoIterator<Item = (f64, f64)>) -> String {
        let mut d = String::new();
        for (x, y) in points {
            let _ = write!(d, "M{} {}h0", pt(self.px(x)), pt(self.py(y)));
        }
        d
    }
}

/// Width of a digit, at most.
const DIGIT: f64 = 7.0;

/// Height of a line of text.
const LINE: f64 = 13.0;

/// Whether `x` lies between two numbers, up to rounding.
fn within(x: f64, (low, high): (f64, f64)) -> bool {
    let slack = 1e-9 * (high - low);
    x >= low - slack && x <= high + slack
}

/// A length on the drawing, to a tenth.
pub(crate) fn pt(x: f64) -> String {
    let text = format!("{x:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".into(),
        Some(whole) => whole.into(),
        None => text,
    }
}

/// Places on an axis, and what is there.
pub(crate) struct Ticks(Vec<(f64, String)>);

impl Ticks {
    /// Round numbers, about `count` of them, from `low` to `high`.
    pub(crate) fn round((low, high): (f64, f64), count: usize) -> Self {
        let raw = (high - low) / count as f64;
        let power = 10f64.powf(raw.log10().floor());
        let places = |step: f64| (low / step - 1e-9).ceil() as i64..=(high / step + 1e-9).floor() as i64;
        // The largest step that is short enough, but at least two ticks are needed for a scale.
        let steps = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0].map(|m| m * power);
        let wanted = steps.iter().position(|s| *s >= raw * 0.999).unwrap_or(steps.len() - 1);
        let step = steps[..=wanted].iter().rev().find(|s| places(**s).count() >= 3).unwrap_or(&steps[0]);
        Self(places(*step).map(|i| i as f64 * step).map(|x| (x, Self::text(x, *step))).collect())
    }

    /// Round whole numbers.
    pub(crate) fn whole(range: (f64, f64), count: usize) -> Self {
        let most = ((range.1 - range.0).floor() as usize).max(1);
        let Self(ticks) = Self::round(range, count.min(most));
        let whole = ticks.into_iter().map(|(x, _)| x).filter(|x| x.fract() == 0.0);
        Self(whole.map(|x| (x, Self::text(x, 1.0))).collect())
    }

    /// Shares in percent.
    pub(crate) fn percent(high: f64, count: usize) -> Self {
        let Self(ticks) = Self::round((0.0, 100.0 * high), count);
        Self(ticks.into_iter().map(|(x, text)| (x / 100.0, format!("{text} %"))).collect())
    }

    /// At these places, with these names.
    pub(crate) fn at(places: impl Iterator<Item = f64>, name: impl Fn(f64) -> String) -> Self {
        Self(places.map(|x| (x, name(x))).collect())
    }

    fn text(x: f64, step: f64) -> String {
        let text = match x.abs().max(step) {
            _ if x == 0.0 => "0".into(),
            // As many digits as distinguish neighbouring ticks.
            size if size >= 1e5 || (step < 1e-4 && size < 0.1) => {
                let digits = (size / step).log10().ceil().clamp(1.0, 15.0) as usize;
                without_zeros(&format!("{x:.digits$e}"))
            }
            _ => format!("{x:.*}", (-step.log10() - 1e-9).ceil().max(0.0) as usize),
        };
        text.replace('-', "\u{2212}")
    }

    /// Room at the left for these as names, and for the name of the axis beside them.
    pub(crate) fn room(&self) -> f64 {
        let longest = self.0.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
        DIGIT * longest as f64 + 26.0
    }

    /// With the names moved apart, so that none covers another: the position of each name, in units of the drawing.
    pub(crate) fn apart(&self, frame: &Frame) -> Vec<f64> {
        let wanted: Vec<f64> = self.0.iter().map(|(y, _)| frame.py(*y)).collect();
        let mut out = wanted.clone();
        // The names ascend. Neighbours that are too near share the distance that is missing, a few times over.
        for _ in 0..50 {
            for i in 1..out.len() {
                let missing = LINE - (out[i - 1] - out[i]);
                if missing > 0.0 {
                    out[i - 1] += missing / 2.0;
                    out[i] -= missing / 2.0;
                }
            }
        }
        out
    }

    /// Those between two numbers.
    pub(crate) fn inside(&self, range: (f64, f64)) -> impl Iterator<Item = (f64, &str)> {
        self.0.iter().filter(move |(x, _)| within(*x, range)).map(|(x, t)| (*x, t.as_str()))
    }
}

/// A number in scientific notation without zeros at the end of its decimals.
fn without_zeros(text: &str) -> String {
    match text.split_once('e') {
        Some((digits, power)) if digits.contains('.') => {
            format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text.into(),
    }
}

/// The least and the greatest; (0, 0) of nothing.
pub(crate) fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .into_iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// A little more than the extent, never empty.
pub(crate) fn padded((low, high): (f64, f64), share: f64) -> (f64, f64) {
    match high - low {
        0.0 => (low - 1.0f64.max(low.abs()), high + 1.0f64.max(high.abs())),
        span => (low - share * span, high + share * span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &Ticks) -> Vec<&str> {
        ticks.0.iter().map(|(_, t)| t.as_str()).collect()
    }

    #[test]
    fn neighbouring_ticks_have_different_texts() {
        let near = Ticks::round((5.412e6, 5.4165e6), 5);
        let found = texts(&near);
        assert!(found.windows(2).all(|pair| pair[0] != pair[1]) && found.contains(&"5.413e6"), "{found:?}");
        let near = Ticks::round((1.00001, 1.00006), 5);
        let found = texts(&near);
        assert!(found.windows(2).all(|pair| pair[0] != pair[1] && !pair[0].contains('e')), "{found:?}");
        assert_eq!(texts(&Ticks::round((0.0, 3e5), 3)), ["0", "1e5", "2e5", "3e5"]);
    }

    #[test]
    fn long_ticks_get_room_beside_the_name_of_their_axis() {
        let near = Ticks::round((0.6304943, 0.6304951), 4);
        let longest = texts(&near).iter().map(|text| text.len()).max().unwrap();
        assert!(longest >= 9 && near.room() >= 26.0 + 7.0 * longest as f64, "{:?}", texts(&near));
        assert!(
            Ticks::round((0.0, 1.0), 4).room() < 60.0,
            "those of usual length need no more than they have"
        );
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(&Ticks::round((0.0, 1.0), 5)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(&Ticks::round((-7.3, 11.9), 4)), ["\u{2212}5", "0", "5", "10"]);
        assert_eq!(texts(&Ticks::whole((0.0, 3.0), 6)), ["0", "1", "2", "3"]);
        assert_eq!(texts(&Ticks::whole((-0.6, 1.6), 7)), ["0", "1"]);
        assert_eq!(texts(&Ticks::percent(0.1, 4)), ["0 %", "5 %", "10 %"]);
        assert_eq!(texts(&Ticks::round((0.0, 4e6), 4))[1], "1e6");
        assert_eq!(texts(&Ticks::round((0.0, 3e-7), 3))[1], "1e\u{2212}7");
        // Numbers on both sides of 0: a single tick at 0 would not show the scale.
        assert_eq!(texts(&Ticks::round((-4.6, 4.6), 4)), ["\u{2212}4", "\u{2212}2", "0", "2", "4"]);
        for most in (1..200).map(|i| 0.05 * i as f64) {
            let n = Ticks::round((-most, most), 4).0.len();
            assert!((3..=9).contains(&n), "{n} ticks on an axis to {most}");
        }
    }

    #[test]
    fn names_of_near_ticks_move_apart() {
        let frame = Frame::new(440.0, 250.0, (0.0, 1.0), (0.0, 1.0));
        let places = Ticks::at([0.0, 0.5, 0.9, 0.95, 0.99].into_iter(), |x| x.to_string()).apart(&frame);
        assert!(places.windows(2).all(|w| w[0] - w[1] > LINE - 0.1), "{places:?}");
        assert_eq!((places[0], places[1]), (frame.py(0.0), frame.py(0.5)), "those with room stay");
    }

    #[test]
    fn a_frame_maps_numbers_to_positions() {
        let frame = Frame {
            width: 110.0,
            height: 60.0,
            margins: [10.0, 0.0, 0.0, 10.0],
            x: (0.0, 10.0),
            y: (0.0, 5.0),
        };
        assert_eq!((frame.px(0.0), frame.px(10.0), frame.py(0.0), frame.py(5.0)), (10.0, 110.0, 50.0, 0.0));
        assert_eq!(frame.line([(0.0, 0.0), (10.0, 5.0)]), "M10 50L110 0");
        assert_eq!(frame.dots([(5.0, 2.5)]), "M60 25h0");
        // A single spike among ten thousand points stays visible.
        let mut y = vec![0.0; 10_000];
        y[7777] = 5.0;
        let d = frame.curve(&y);
        assert!(d.contains(" 0L") && d.matches('L').count() < 220);
    }
}
