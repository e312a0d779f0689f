//! A figure of its own: panels with captions on a grid, as one SVG file.

use crate::colour::CLASSES;
use crate::picture::{Layout, Scale, tile};
use crate::svg::{Frame, Ticks, extent, padded, pt};
use base64::Engine;
use maud::{Markup, PreEscaped, html};
use unmix::{Error, Matrix, Result};

/// Panels under a title.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Above the panels.
    pub title: String,
    /// Panels beside each other.
    pub columns: usize,
    /// In reading order.
    pub panels: Vec<Panel>,
}

/// One drawing and what it shows.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Caption above the drawing; long ones are wrapped at spaces.
    pub caption: String,
    /// The drawing.
    pub content: Content,
}

/// The content of a panel.
#[derive(Clone, Debug)]
pub enum Content {
    /// Rows of a matrix as pictures of `shape`, so many beside each other; each symmetric about 0 on a scale of its own.
    Pictures {
        /// `count x n_features`.
        vectors: Matrix<f64>,
        /// (height, width) or (height, width, 3).
        shape: Vec<usize>,
        /// Pictures beside each other.
        columns: usize,
    },
    /// The same for photographs: grey ones from black, the smallest value of each, to white, the largest.
    Photographs {
        /// `count x n_features`.
        vectors: Matrix<f64>,
        /// (height, width) or (height, width, 3).
        shape: Vec<usize>,
        /// Pictures beside each other.
        columns: usize,
    },
    /// Rows of a matrix as curves one below the other, each on a scale of its own.
    Courses(Matrix<f64>),
    /// Points, on axes of equal scale.
    Points(Vec<(f64, f64)>),
    /// Points on axes of equal scale, pale, with named strokes over them and a legend of these.
    Plane {
        /// The cloud.
        points: Vec<(f64, f64)>,
        /// The first is drawn first.
        strokes: Vec<Stroke>,
    },
    /// Named groups of points, each of a colour, on axes of equal scale.
    Groups(Vec<(String, Vec<(f64, f64)>)>),
    /// Named lines over common axes.
    Lines {
        /// Name and points of each.
        lines: Vec<(String, Vec<(f64, f64)>)>,
        /// Names of the two axes.
        names: (String, String),
        /// Whether y counts powers of ten.
        log_y: bool,
        /// Ranges of x with a grey ground.
        shaded: Vec<(f64, f64)>,
    },
    /// Named rows of dots one below the other, each on a scale of its own that includes 0.
    Strips {
        /// Name and numbers of each, all of equally many.
        strips: Vec<(String, Vec<f64>)>,
        /// The class of every dot of a row, by which it is coloured.
        classes: Vec<usize>,
        /// Whether a dot is large.
        large: Vec<bool>,
    },
}

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
pub enum StrokeKind {
    /// Thin, from one end to the other.
    Line,
    /// With a head at its end.
    Arrow,
    /// A disc at its end.
    Dot,
}

impl Sheet {
    /// An empty sheet with room for `columns` panels beside each other.
    pub fn new(title: impl Into<String>, columns: usize) -> Self {
        Self { title: title.into(), columns: columns.max(1), panels: Vec::new() }
    }

    /// Adds a panel.
    pub fn add(&mut self, caption: impl Into<String>, content: Content) {
        self.panels.push(Panel { caption: caption.into(), content });
    }

    /// The sheet as an SVG document.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] where the shape of pictures is not that of a picture.
    pub fn svg(&self) -> Result<String> {
        let columns = self.columns.min(self.panels.len()).max(1);
        let drawn = self.panels.iter().map(|p| p.content.draw()).collect::<Result<Vec<_>>>()?;
        let captions: Vec<Vec<String>> = self.panels.iter().map(|p| lines(&p.caption, WIDTH / 6.6)).collect();
        let width = GAP + columns as f64 * (WIDTH + GAP);
        let title = lines(&self.title, (width - 2.0 * GAP) / 10.0);
        let mut body = Vec::new();
        let mut top = TITLE + TITLE_LINE * (title.len() as f64 - 1.0);
        for (row, panels) in drawn.chunks(columns).enumerate() {
            let captions = &captions[row * columns..][..panels.len()];
            let head = LINE * captions.iter().map(Vec::len).max().unwrap_or(1) as f64 + 6.0;
            for (i, ((markup, _), caption)) in panels.iter().zip(captions).enumerate() {
                let left = GAP + i as f64 * (WIDTH + GAP);
                body.push(html! {
                    @for (l, line) in caption.iter().enumerate() {
                        text.caption x=(pt(left)) y=(pt(top + LINE * (l as f64 + 1.0) - 3.0)) { (line) }
                    }
                    g transform=(format!("translate({} {})", pt(left), pt(top + head))) { (markup) }
                });
            }
            top += head + panels.iter().map(|p| p.1).fold(0.0, f64::max) + GAP;
        }
        let document = html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(pt(width)) height=(pt(top)) viewBox=(format!("0 0 {} {}", pt(width), pt(top)))
                role="img" aria-label=(self.title) {
                style { (PreEscaped(STYLE)) }
                rect.paper width="100%" height="100%" {}
                @for (l, line) in title.iter().enumerate() {
                    text.title x=(pt(GAP)) y=(pt(30.0 + TITLE_LINE * l as f64)) { (line) }
                }
                @for part in &body { (part) }
            }
        };
        Ok(document.into_string())
    }
}

/// Width of a panel, between panels, height of a line of captions, what the title takes, and each further line of it.
const WIDTH: f64 = 300.0;
const GAP: f64 = 22.0;
const LINE: f64 = 16.0;
const TITLE: f64 = 46.0;
const TITLE_LINE: f64 = 24.0;

const STYLE: &str = "svg{font-family:system-ui,sans-serif}.paper{fill:#fff}.ground{fill:#f0eeea}text{fill:#5d6674;font-size:11px}\
.title{fill:#1d2430;font-size:19px;font-weight:600}.caption{fill:#1d2430;font-size:13px}path{fill:none}\
.grid{stroke:#e4e2dd}.axis,.tick{stroke:#8b939f}.line{stroke:#2f6f8f;stroke-width:1.4;stroke-linejoin:round}\
.points{stroke:#2f6f8f;stroke-width:3;stroke-linecap:round;stroke-opacity:.55}.pale{stroke:#8b939f;stroke-opacity:.4}image{image-rendering:pixelated}";

/// Text in lines of at most so many characters; longer words are not broken.
fn lines(text: &str, most: f64) -> Vec<String> {
    let most = most as usize;
    let mut out = vec![String::new()];
    for word in text.split_whitespace() {
        let last = out.len() - 1;
        if !out[last].is_empty() && out[last].chars().count() + 1 + word.chars().count() > most {
            out.push(word.into());
        } else {
            let gap = if out[last].is_empty() { "" } else { " " };
            out[last] = format!("{}{gap}{word}", out[last]);
        }
    }
    out
}

impl Content {
    /// The drawing and its height.
    fn draw(&self) -> Result<(Markup, f64)> {
        match self {
            Content::Pictures { vectors, shape, columns } => pictures(vectors, shape, *columns, false),
            Content::Photographs { vectors, shape, columns } => pictures(vectors, shape, *columns, true),
            Content::Courses(courses) => Ok(courses_of(courses)),
            Content::Points(points) => Ok(plane(points, &[])),
            Content::Plane { points, strokes } => Ok(plane(points, strokes)),
            Content::Groups(groups) => Ok(grouped(groups)),
            Content::Lines { lines, names, log_y, shaded } => Ok(chart(lines, names, *log_y, shaded)),
            Content::Strips { strips, classes, large } => Ok(rows_of_dots(strips, classes, large)),
        }
    }
}

fn pictures(
    vectors: &Matrix<f64>,
    shape: &[usize],
    columns: usize,
    as_they_are: bool,
) -> Result<(Markup, f64)> {
    let layout = Layout::of(Some(shape)).ok_or_else(|| Error::Unsupported {
        asked: "pictures".into(),
        found: format!("{shape:?} is not the shape of a picture"),
        remedy: "give (height, width) or (height, width, 3)".into(),
    })?;
    let (count, columns) = (vectors.rows(), columns.clamp(1, vectors.rows().max(1)));
    let scale = |row: &[f64]| match as_they_are {
        true => Scale::plain(layout, [row]),
        false => Scale::signed(row),
    };
    let (bytes, (w, h)) = tile(vectors, count, columns, layout, scale)?;
    let height = WIDTH * h as f64 / w as f64;
    let address =
        format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes));
    Ok((html! { image href=(address) width=(pt(WIDTH)) height=(pt(height)) {} }, height))
}

fn courses_of(courses: &Matrix<f64>) -> (Markup, f64) {
    let strip = 62.0;
    let one = |i: usize| {
        let y = padded(extent(courses.row(i).iter().copied()), 0.08);
        let frame = Frame {
            width: WIDTH,
            height: strip,
            margins: [2.0, 2.0, 2.0, 2.0],
            x: (0.0, courses.cols().max(2) as f64 - 1.0),
            y,
        };
        frame.curve(courses.row(i))
    };
    let markup = html! {
        @for i in 0..courses.rows() {
            g transform=(format!("translate(0 {})", pt(strip * i as f64))) {
                path.grid d=(format!("M0 {}H{}", pt(strip), pt(WIDTH))) {}
                path.line d=(one(i)) {}
            }
        }
    };
    (markup, strip * courses.rows() as f64)
}

fn rows_of_dots(strips: &[(String, Vec<f64>)], classes: &[usize], large: &[bool]) -> (Markup, f64) {
    let strip = 46.0;
    let groups = classes.iter().max().map_or(0, |most| most + 1);
    let frame = |values: &[f64]| Frame {
        width: WIDTH,
        height: strip,
        margins: [70.0, 4.0, 4.0, 4.0],
        x: (-0.5, values.len().max(1) as f64 - 0.5),
        y: padded(extent(values.iter().copied().chain([0.0])), 0.08),
    };
    let dots = |values: &[f64], class: usize, size: bool| {
        let own = values.iter().enumerate().filter(|(i, _)| classes[*i] == class && large[*i] == size);
        frame(values).dots(own.map(|(i, v)| (i as f64, *v)))
    };
    let style = |class: usize, size: bool| {
        let (width, opacity) = if size { (4.4, 1.0) } else { (2.4, 0.6) };
        format!(
            "stroke:{};stroke-width:{width};stroke-linecap:round;stroke-opacity:{opacity}",
            CLASSES[class % CLASSES.len()]
        )
    };
    let markup = html! {
        @for (i, (name, values)) in strips.iter().enumerate() {
            g transform=(format!("translate(0 {})", pt(strip * i as f64))) {
                path.grid d=(format!("M70 {}H{}", pt(frame(values).py(0.0)), pt(WIDTH))) {}
                text x="64" y=(pt(0.5 * strip + 4.0)) text-anchor="end" { (name) }
                @for size in [false, true] { @for class in 0..groups {
                    @let d = dots(values, class, size);
                    @if !d.is_empty() { path style=(style(class, size)) d=(d) {} }
                } }
            }
        }
    };
    (markup, strip * strips.len() as f64)
}

fn plane(points: &[(f64, f64)], strokes: &[Stroke]) -> (Markup, f64) {
    let most =
        points.iter().flat_map(|(x, y)| [x.abs(), y.abs()]).fold(0.0, f64::max).max(f64::MIN_POSITIVE) * 1.04;
    let frame = Frame { width: WIDTH, height: WIDTH, margins: [2.0; 4], x: (-most, most), y: (-most, most) };
    let middle = WIDTH / 2.0;
    let class = if strokes.is_empty() { "points" } else { "points pale" };
    let markup = html! {
        path.grid d=(format!("M{m} 0V{w}M0 {m}H{w}", m = pt(middle), w = pt(WIDTH))) {}
        path class=(class) d=(frame.dots(points.iter().copied())) {}
        @for (i, stroke) in strokes.iter().enumerate() {
            path style=(stroke.style(CLASSES[i % CLASSES.len()])) d=(stroke.path(&frame, most)) {}
            text x="28" y=(pt(WIDTH + 18.0 + LINE * i as f64)) { (stroke.name) }
            path style=(stroke.style(CLASSES[i % CLASSES.len()])) d=(stroke.sample(WIDTH + 14.0 + LINE * i as f64)) {}
        }
    };
    let legend = if strokes.is_empty() { 0.0 } else { 8.0 + LINE * strokes.len() as f64 };
    (markup, WIDTH + legend)
}

fn grouped(groups: &[(String, Vec<(f64, f64)>)]) -> (Markup, f64) {
    let all = groups.iter().flat_map(|(_, points)| points);
    let most = all.flat_map(|(x, y)| [x.abs(), y.abs()]).fold(0.0, f64::max).max(f64::MIN_POSITIVE) * 1.04;
    let frame = Frame { width: WIDTH, height: WIDTH, margins: [2.0; 4], x: (-most, most), y: (-most, most) };
    let style = |i: usize| format!("stroke:{};opacity:.8", CLASSES[i % CLASSES.len()]);
    let markup = html! {
        @for (i, (name, points)) in groups.iter().enumerate() {
            path.points style=(style(i)) d=(frame.dots(points.iter().copied())) {}
            text x="28" y=(pt(WIDTH + 18.0 + LINE * i as f64)) { (name) }
            path.points style=(style(i)) d=(format!("M13 {}h0", pt(WIDTH + 14.0 + LINE * i as f64))) {}
        }
    };
    (markup, WIDTH + 8.0 + LINE * groups.len() as f64)
}

impl Stroke {
    fn style(&self, colour: &str) -> String {
        let width = match self.kind {
            StrokeKind::Line => 1.2,
            StrokeKind::Arrow => 2.4,
            StrokeKind::Dot => 9.0,
        };
        format!("stroke:{colour};stroke-width:{width};stroke-linecap:round")
    }

    /// On the drawing, cut off at the edges of a frame that reaches from `-most` to `most`.
    fn path(&self, frame: &Frame, most: f64) -> String {
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
    fn sample(&self, y: f64) -> String {
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

fn chart(
    lines: &[(String, Vec<(f64, f64)>)],
    names: &(String, String),
    log_y: bool,
    shaded: &[(f64, f64)],
) -> (Markup, f64) {
    let shown = |y: f64| if log_y { y.max(f64::MIN_POSITIVE).log10() } else { y };
    let all = || lines.iter().flat_map(|(_, points)| points.iter()).filter(|(_, y)| !log_y || *y > 0.0);
    let x = padded(extent(all().map(|p| p.0)), 0.02);
    let y = padded(extent(all().map(|p| shown(p.1))), 0.05);
    let legend = if lines.len() > 1 { LINE * lines.len() as f64 } else { 0.0 };
    let frame = Frame::new(WIDTH, 220.0, x, y);
    let y_ticks = if log_y {
        Ticks::at((y.0.ceil() as i64..=y.1.floor() as i64).map(|e| e as f64), |e| format!("1e{e}"))
    } else {
        Ticks::round(frame.y, 5)
    };
    let colour = |i: usize| CLASSES[i % CLASSES.len()];
    let ground = |(from, to): &(f64, f64)| {
        let (left, right) = (frame.px(from.max(x.0)), frame.px(to.min(x.1)));
        (pt(left), pt((right - left).max(0.0)))
    };
    let markup = html! {
        @for (left, width) in shaded.iter().map(ground) {
            rect.ground x=(left) y=(pt(frame.top())) width=(width) height=(pt(frame.bottom() - frame.top())) {}
        }
        (frame.axes(&names.0, &names.1, &Ticks::round(frame.x, 5), &y_ticks))
        @for (i, (_, points)) in lines.iter().enumerate() {
            path.line style=(format!("stroke:{}", colour(i)))
                d=(frame.line(points.iter().filter(|(_, y)| !log_y || *y > 0.0).map(|(x, y)| (*x, shown(*y))))) {}
        }
        @if lines.len() > 1 {
            @for (i, (name, _)) in lines.iter().enumerate() {
                path style=(format!("stroke:{};stroke-width:3", colour(i))) d=(format!("M60 {}h18", pt(226.0 + LINE * i as f64))) {}
                text x="84" y=(pt(230.0 + LINE * i as f64)) { (name) }
            }
        }
    };
    (markup, 222.0 + legend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_holds_every_kind_of_panel() {
        let mut sheet = Sheet::new("A < B", 2);
        let vectors = Matrix::from_fn(5, 12, |i, j| (i as f64 - 2.0) * (j as f64 - 6.0));
        sheet
            .add("filters", Content::Pictures { vectors: vectors.clone(), shape: vec![2, 2, 3], columns: 3 });
        sheet.add("signals", Content::Courses(vectors));
        sheet.add("points", Content::Points(vec![(0.0, 1.0), (-2.0, 0.5)]));
        let stroke = |kind, to| Stroke { name: format!("{kind:?}"), from: (-9.0, -9.0), to, kind };
        let strokes = vec![
            stroke(StrokeKind::Line, (9.0, 9.0)),
            stroke(StrokeKind::Arrow, (1.0, 0.0)),
            stroke(StrokeKind::Dot, (1.0, 1.0)),
        ];
        sheet.add(
            "groups",
            Content::Groups(vec![("first".into(), vec![(0.0, 1.0)]), ("second".into(), vec![(1.0, 0.5)])]),
        );
        sheet.add("plane", Content::Plane { points: vec![(0.0, 1.0), (-2.0, 0.5)], strokes });
        let photograph = Matrix::from_fn(1, 4, |_, j| j as f64);
        sheet.add("photograph", Content::Photographs { vectors: photograph, shape: vec![2, 2], columns: 1 });
        let line = vec![(0.0, 1.0), (1.0, 1e-3), (2.0, 0.0)];
        let lines = vec![("one".into(), line.clone()), ("two".into(), line)];
        sheet.add(
            "a caption that is too long to stand in one line and so is broken into two",
            Content::Lines { lines, names: ("x".into(), "y".into()), log_y: true, shaded: vec![(1.5, 9.0)] },
        );
        let strips = vec![("code".into(), vec![0.0, 2.0, 0.5]), ("gene".into(), vec![-1.0, 3.0, 0.0])];
        sheet.add(
            "strips",
            Content::Strips { strips, classes: vec![0, 1, 1], large: vec![false, true, false] },
        );
        let svg = sheet.svg().unwrap();
        assert!(
            svg.contains("A &lt; B")
                && svg.contains("data:image/png;base64,")
                && svg.contains("stroke-width:3")
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "a zero on a logarithmic axis is left out");
        assert_eq!(svg.matches("<text class=\"caption\"").count(), 9);
        // Of each strip three dots, in a path each: two classes, and a large one.
        assert_eq!(
            (
                svg.matches("stroke-width:4.4").count(),
                svg.matches("stroke-width:2.4;stroke-linecap:round;stroke-opacity").count()
            ),
            (2, 4)
        );
        // 9 lies outside of the cloud, which reaches to 2: the line ends at its edges, and names of strokes stand below.
        assert!(svg.contains("d=\"M2 298L298 2\"") && svg.contains(">Arrow</text>"), "{svg}");
        assert!(svg.matches("<rect class=\"ground\"").count() == 1, "a ground ends where the drawing ends");
        let long = Sheet::new("a title that is wider than the only panel below it", 1);
        assert_eq!(long.svg().unwrap().matches("<text class=\"title\"").count(), 2);
        sheet.add("none", Content::Pictures { vectors: Matrix::zeros(1, 7), shape: vec![7], columns: 1 });
        assert!(sheet.svg().unwrap_err().to_string().contains("[7] is not the shape of a picture"));
    }
}
