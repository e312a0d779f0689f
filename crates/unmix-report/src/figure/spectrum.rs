//! Explained variance of the components and its cumulative sum, in what share of the rows each code is not 0, and the objective over iterations.

use super::WIDTH;
use crate::alpha_path::AlphaPath;
use crate::number::{count, counted, number, percent};
use crate::svg::{Frame, Ticks, extent, padded, pt};
use maud::{Markup, html};
use unmix::model::Counted;

/// Components beyond which single bars would be thinner than their gaps.
const MOST_BARS: usize = 90;

/// Fraction of the variance that each component explains.
pub(crate) fn scree(share: &[f64]) -> Markup {
    let k = share.len();
    let top = extent(share.iter().copied()).1.max(1e-12) * 1.06;
    let frame = Frame::new(WIDTH, 250.0, (-0.6, k as f64 - 0.4), (0.0, top));
    let width = (frame.px(1.0) - frame.px(0.0)) * if k <= 30 { 0.72 } else { 0.86 };
    let width = width.min(44.0);
    let label = format!(
        "Share of the variance of each of {}, from {} down to {}",
        counted(k as u64, "component"),
        percent(share[0]),
        percent(share[k - 1])
    );
    let bar = |i: usize| {
        let (x, y) = (frame.px(i as f64) - width / 2.0, frame.py(share[i].max(0.0)));
        format!("M{} {}H{}V{}H{}Z", pt(x), pt(y), pt(x + width), pt(frame.bottom()), pt(x))
    };
    frame.draw(&label, html! {
        (frame.axes("component", "share of the variance", &Ticks::whole(frame.x, 7), &Ticks::percent(top, 5)))
        @if k <= MOST_BARS {
            @for i in 0..k {
                path.bar d=(bar(i)) { title { "component " (i) ": " (percent(share[i])) } }
            }
        } @else {
            path.area d=(format!("{}L{} {}L{} {}Z", frame.curve(share), pt(frame.px(k as f64 - 1.0)), pt(frame.bottom()), pt(frame.px(0.0)), pt(frame.bottom()))) {}
            path.line d=(frame.curve(share)) {}
        }
    })
}

/// Cumulative share of the variance, with the numbers of components that reach 50 to 99 %.
pub(crate) fn cumulative(cumulative: &[f64], reach: &[(f64, Option<usize>)]) -> Markup {
    let k = cumulative.len();
    let mut frame = Frame::new(WIDTH, 250.0, (0.0, k as f64), (0.0, 1.0));
    frame.margins[1] = 14.0;
    let (components, explain) = (counted(k as u64, "component"), if k == 1 { "explains" } else { "explain" });
    let share = percent(cumulative[k - 1]);
    let label = format!("Cumulative share of the variance: {components} {explain} {share}");
    let points = std::iter::once((0.0, 0.0))
        .chain(cumulative.iter().enumerate().map(|(i, c)| (i as f64 + 1.0, c.min(1.0))));
    let levels = Ticks::at(std::iter::once(0.0).chain(reach.iter().map(|(level, _)| *level)), |x| {
        format!("{:.0} %", 100.0 * x)
    });
    frame.draw(&label, html! {
        (frame.axes("components kept", "cumulative share", &Ticks::whole(frame.x, 7), &levels))
        path.line d=(frame.line(points)) {}
        @for (level, n) in reach {
            @if let Some(n) = n {
                path.drop d=(format!("M{} {}V{}", pt(frame.px(*n as f64)), pt(frame.py(cumulative[n - 1].min(1.0))), pt(frame.bottom()))) {}
                circle.mark cx=(pt(frame.px(*n as f64))) cy=(pt(frame.py(cumulative[n - 1].min(1.0)))) r="3.5" {
                    title { (count(*n as u64)) " reach " (percent(*level)) }
                }
            }
        }
    })
}

/// The objective over iterations or epochs; with `falls`, those in which it decreases are marked.
pub(crate) fn objective(values: &[f64], over: Counted, falls: bool) -> Markup {
    let range = padded(extent(values.iter().copied()), 0.05);
    let frame = Frame::new(WIDTH, 220.0, (1.0, values.len().max(2) as f64), range);
    let ticks = Ticks::round(frame.y, 4);
    let frame = Frame { margins: [ticks.room().max(76.0), 10.0, 10.0, 36.0], ..frame };
    let ends = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    let (n, from, to) = (values.len(), number(ends.0), number(ends.1));
    let label = format!("Objective over {n} {}, from {from} to {to}", over.word(n as u64));
    frame.draw(
        &label,
        html! {
            (frame.axes(over.word(1), "objective", &Ticks::whole(frame.x, 7), &ticks))
            path.line d=(frame.line(values.iter().enumerate().map(|(i, y)| (i as f64 + 1.0, *y)))) {}
            @if falls { g.points stroke-width="3" { path.falls d=(frame.dots(decreased_points(values))) {} } }
        },
    )
}

/// Iterations after which the objective is lower than before them, as numbered on the axis.
fn decreased_points(values: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    let falls = values.windows(2).enumerate().filter(|(_, pair)| pair[1] < pair[0]);
    falls.map(|(i, pair)| (i as f64 + 2.0, pair[1]))
}

/// Share of the rows that use each component, from the most used.
pub(crate) fn use_of_components(share: &[f64]) -> Markup {
    let k = share.len();
    let top = share.first().copied().unwrap_or(0.0).max(1e-12) * 1.06;
    let frame = Frame::new(WIDTH, 250.0, (-0.6, k as f64 - 0.4), (0.0, top));
    let label = format!(
        "Share of rows that use each of {}, from {} down to {}",
        counted(k as u64, "component"),
        percent(share.first().copied().unwrap_or(0.0)),
        percent(share.last().copied().unwrap_or(0.0))
    );
    let floor = pt(frame.bottom());
    let area = format!(
        "{}L{} {floor}L{} {floor}Z",
        frame.curve(share),
        pt(frame.px(k as f64 - 1.0)),
        pt(frame.px(0.0))
    );
    frame.draw(
        &label,
        html! {
            (frame.axes("components, sorted", "share of rows", &Ticks::whole(frame.x, 7), &Ticks::percent(top, 5)))
            path.area d=(area) {}
            path.line d=(frame.curve(share)) {}
        },
    )
}

/// A mean over rows against the logarithm of alpha, with a dotted line at the alpha of the model.
pub(crate) fn alpha_curve(path: &AlphaPath, values: &[f64], y_name: &str) -> Markup {
    let exponents: Vec<f64> = path.alphas.iter().map(|alpha| alpha.log10()).collect();
    let ends = extent(exponents.iter().copied().chain((path.alpha > 0.0).then(|| path.alpha.log10())));
    let top = extent(values.iter().copied()).1.max(1e-12) * 1.06;
    let frame = Frame::new(WIDTH, 250.0, padded(ends, 0.02), (0.0, top));
    let (first, last) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    let label =
        format!("{y_name} along alpha: {} for the largest, {} for the smallest", number(first), number(last));
    frame.draw(
        &label,
        html! {
            (frame.axes("log10 of alpha", y_name, &Ticks::round(frame.x, 6), &Ticks::round(frame.y, 5)))
            path.line d=(frame.line(exponents.iter().copied().zip(values.iter().copied()))) {}
            @if path.alpha > 0.0 {
                path.drop d=(format!("M{} {}V{}", pt(frame.px(path.alpha.log10())), pt(frame.top()), pt(frame.bottom()))) {}
            }
        },
    )
}

/// How many units there are of each density, the share of `n` rows in which a unit is active, by powers of ten.
pub(crate) fn densities(uses: &[u64], n: u64) -> Markup {
    /// Bars of a power of ten.
    const FINE: f64 = 4.0;
    let exponent = |uses: u64| (uses as f64 / n.max(1) as f64).log10();
    let place = |uses: u64| (FINE * exponent(uses)).floor().min(-1.0);
    let active = || uses.iter().copied().filter(|uses| *uses > 0);
    let low = active().map(place).fold(-1.0, f64::min);
    let mut counts = vec![0u64; -low as usize];
    active().for_each(|uses| counts[(place(uses) - low) as usize] += 1);
    let top = counts.iter().max().copied().unwrap_or(1).max(1) as f64 * 1.06;
    let start = |i: usize| (low + i as f64) / FINE;
    let frame = Frame::new(WIDTH, 250.0, (start(0), start(counts.len())), (0.0, top));
    let label = format!(
        "Histogram of the densities of {}, in powers of ten",
        counted(active().count() as u64, "unit")
    );
    let bar = |i: usize| {
        let (x, end, y) =
            (frame.px(start(i)) + 0.5, frame.px(start(i + 1)) - 0.5, frame.py(counts[i] as f64));
        format!("M{} {}H{}V{}H{}Z", pt(x), pt(y), pt(end), pt(frame.bottom()), pt(x))
    };
    let name =
        |i: usize| format!("{} to {}", percent(10f64.powf(start(i))), percent(10f64.powf(start(i + 1))));
    frame.draw(
        &label,
        html! {
            (frame.axes("log10 of the density", "units", &Ticks::round(frame.x, 7), &Ticks::round(frame.y, 4)))
            @for (i, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
                path.bar d=(bar(i)) { title { (name(i)) ": " (counted(*n, "unit")) } }
            }
        },
    )
}

/// Bars over whole numbers: how often each occurs; neighbours together, where there are many.
pub(crate) fn histogram(values: &[u32], x_name: &str, y_name: &str) -> Markup {
    const MOST: usize = 60;
    let (low, high) = (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0));
    let width = ((high - low) as usize + 1).div_ceil(MOST);
    let mut counts = vec![0u64; ((high - low) as usize + 1).div_ceil(width)];
    values.iter().for_each(|v| counts[(v - low) as usize / width] += 1);
    let top = counts.iter().max().copied().unwrap_or(1).max(1) as f64 * 1.06;
    let start = |i: usize| f64::from(low) + (i * width) as f64 - 0.5;
    let frame = Frame::new(WIDTH, 250.0, (start(0), start(counts.len())), (0.0, top));
    let label = format!("Histogram of {x_name} over {} {y_name}, from {low} to {high}", values.len());
    let bar = |i: usize| {
        let (x, end, y) =
            (frame.px(start(i)) + 0.5, frame.px(start(i + 1)) - 0.5, frame.py(counts[i] as f64));
        format!("M{} {}H{}V{}H{}Z", pt(x), pt(y), pt(end), pt(frame.bottom()), pt(x))
    };
    let name = |i: usize| match width {
        1 => format!("{}", low as usize + i),
        _ => format!("{} to {}", low as usize + i * width, low as usize + (i + 1) * width - 1),
    };
    frame.draw(
        &label,
        html! {
            (frame.axes(x_name, y_name, &Ticks::whole(frame.x, 7), &Ticks::round(frame.y, 4)))
            @for (i, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
                path.bar d=(bar(i)) { title { (name(i)) ": " (count(*n)) " " (y_name) } }
            }
        },
    )
}
