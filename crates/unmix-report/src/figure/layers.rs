//! Values of each layer of a network in comparison with iterative solvers.

use super::WIDTH;
use crate::number::number;
use crate::svg::{Frame, Ticks, extent, padded, pt};
use maud::{Markup, html};

/// A value of each layer.
pub(crate) struct Series {
    pub(crate) label: &'static str,
    pub(crate) values: Vec<f64>,
}

/// The first is drawn dark, the second dashed, the third pale.
pub(crate) fn by_layer(series: &[Series], name: &str) -> Markup {
    const STYLES: [&str; 3] = ["line", "line dashed", "line wide"];
    let depth = series.iter().map(|s| s.values.len()).max().unwrap_or(0).max(2);
    let all = series.iter().flat_map(|s| s.values.iter().copied()).filter(|x| x.is_finite());
    let frame = Frame::new(WIDTH, 250.0, (1.0, depth as f64), padded(extent(all), 0.05));
    let ticks = Ticks::round(frame.y, 4);
    let frame = Frame { margins: [ticks.room().max(66.0), 10.0, 10.0, 36.0], ..frame };
    let ranges: Vec<String> = series
        .iter()
        .map(|s| {
            let end = |x: Option<&f64>| x.map_or_else(String::new, |x| number(*x));
            format!("{} from {} to {}", s.label, end(s.values.first()), end(s.values.last()))
        })
        .collect();
    let label = format!("{name} over {depth} layers: {}", ranges.join("; "));
    let places = |s: &Series| {
        s.values.iter().enumerate().map(|(i, y)| (i as f64 + 1.0, *y)).collect::<Vec<(f64, f64)>>()
    };
    frame.draw(
        &label,
        html! {
            (frame.axes("layer", name, &Ticks::whole(frame.x, 8), &ticks))
            @for (s, style) in series.iter().zip(STYLES).rev() {
                path class=(style) d=(frame.line(places(s))) {}
            }
            @if let Some(first) = series.first() {
                @for (x, y) in places(first) {
                    circle.mark cx=(pt(frame.px(x))) cy=(pt(frame.py(y))) r="2.5" { title { (number(y)) } }
                }
            }
        },
    )
}
