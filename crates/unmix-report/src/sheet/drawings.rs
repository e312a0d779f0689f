//! The drawings of the panels of a sheet, each as wide as a panel, and their heights.

use super::{Content, LINE, Stroke, WIDTH};
use crate::colour::CLASSES;
use crate::picture::{Layout, Scale, tile};
use crate::svg::{Frame, Ticks, extent, padded, pt};
use base64::Engine;
use maud::{Markup, html};
use unmix::{Error, Matrix, Result};

impl Content {
    /// The drawing and its height.
    pub(super) fn draw(&self) -> Result<(Markup, f64)> {
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
    let layout = Layout::of(Some(shape)).ok_or_else(|| {
        Error::unsupported(
            "pictures",
            format!("{shape:?} is not the shape of a picture"),
            "give (height, width) or (height, width, 3)",
        )
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
