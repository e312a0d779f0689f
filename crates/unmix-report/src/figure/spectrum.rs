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

/// The mean prediction error of held-out entries against the logarithm of alpha, each with a standard error to both sides, and a dotted line at
/// the `alpha` of the model.
pub(crate) fn held_out_curve(
    alphas: &[f64],
    errors: &[f64],
    deviations: &[f64],
    alpha: Option<f64>,
) -> Markup {
    let exponents: Vec<f64> = alphas.iter().map(|alpha| alpha.log10()).collect();
    let bars: Vec<(f64, f64)> = errors.iter().zip(deviations).map(|(e, d)| (e - d, e + d)).collect();
    let top = extent(bars.iter().map(|(_, high)| *high)).1;
    let top = if top > 0.0 { 1.06 * top } else { 1.0 };
    let frame = Frame::new(WIDTH, 250.0, padded(extent(exponents.iter().copied()), 0.02), (0.0, top));
    let ticks = Ticks::round(frame.y, 5);
    let frame = Frame { margins: [ticks.room().max(60.0), 10.0, 10.0, 36.0], ..frame };
    let (n, least) = (errors.len() as u64, extent(errors.iter().copied()).0);
    let label = format!(
        "Prediction error of held-out entries for {}, at least {}",
        counted(n, "alpha"),
        number(least)
    );
    let bar = |x: f64, (low, high): (f64, f64)| {
        format!("M{} {}V{}", pt(frame.px(x)), pt(frame.py(low.max(0.0))), pt(frame.py(high)))
    };
    frame.draw(
        &label,
        html! {
            (frame.axes("log10 of alpha", "mean squared error", &Ticks::round(frame.x, 6), &ticks))
            @for (x, ends) in exponents.iter().zip(&bars) { path.axis.deviation d=(bar(*x, *ends)) {} }
            path.line d=(frame.line(exponents.iter().copied().zip(errors.iter().copied()))) {}
            @if let Some(alpha) = alpha.filter(|alpha| *alpha > 0.0) {
                path.drop d=(format!("M{} {}V{}", pt(frame.px(alpha.log10())), pt(frame.top()), pt(frame.bottom()))) {}
            }
        },
    )
}

/// A quantity of every epoch of a training, which is not negative.
pub(crate) fn over_epochs(values: &[f64], name: &str) -> Markup {
    let most = extent(values.iter().copied()).1;
    let top = if most > 0.0 { 1.06 * most } else { 1.0 };
    let frame = Frame::new(WIDTH, 220.0, (1.0, values.len().max(2) as f64), (0.0, top));
    let ticks = Ticks::round(frame.y, 4);
    let frame = Frame { margins: [ticks.room().max(76.0), 10.0, 10.0, 36.0], ..frame };
    let (n, first, last) = (values.len(), values.first(), values.last());
    let end = |x: Option<&f64>| number(x.copied().unwrap_or(0.0));
    let label = format!("{name} over {n} epochs, from {} to {}", end(first), end(last));
    frame.draw(
        &label,
        html! {
            (frame.axes("epoch", name, &Ticks::whole(frame.x, 7), &ticks))
            path.line d=(frame.line(values.iter().enumerate().map(|(i, y)| (i as f64 + 1.0, *y)))) {}
        },
    )
}

/// A histogram over powers of ten, with so many bars for each.
struct PowerBars {
    /// The number of the first bar; bar 0 begins at 1.
    low: f64,
    counts: Vec<u64>,
    bars_per_power: f64,
}

impl PowerBars {
    /// Of numbers whose bars are `places`; those from `ends.0` to `ends.1` are there in any case.
    fn of(places: &[f64], ends: (f64, f64), bars_per_power: f64) -> Self {
        let low = places.iter().copied().fold(ends.0, f64::min);
        let high = places.iter().copied().fold(ends.1, f64::max);
        let mut counts = vec![0u64; (high - low) as usize + 1];
        places.iter().for_each(|place| counts[(place - low) as usize] += 1);
        Self { low, counts, bars_per_power }
    }

    /// The exponent at which bar `i` of those that are drawn begins.
    fn start(&self, i: usize) -> f64 {
        (self.low + i as f64) / self.bars_per_power
    }

    fn frame(&self) -> Frame {
        let top = self.counts.iter().max().copied().unwrap_or(1).max(1) as f64 * 1.06;
        Frame::new(WIDTH, 250.0, (self.start(0), self.start(self.counts.len())), (0.0, top))
    }

    /// Axes and bars; `range` is a range of the numbers in words, and `unit` what is counted.
    fn draw(&self, frame: &Frame, x_name: &str, unit: &str, range: impl Fn(f64, f64) -> String) -> Markup {
        let bar = |i: usize| {
            let (x, end) = (frame.px(self.start(i)) + 0.5, frame.px(self.start(i + 1)) - 0.5);
            let y = frame.py(self.counts[i] as f64);
            format!("M{} {}H{}V{}H{}Z", pt(x), pt(y), pt(end), pt(frame.bottom()), pt(x))
        };
        let name = |i: usize| range(10f64.powf(self.start(i)), 10f64.powf(self.start(i + 1)));
        let y_name = format!("{unit}s");
        html! {
            (frame.axes(x_name, &y_name, &Ticks::round(frame.x, 7), &Ticks::round(frame.y, 4)))
            @for (i, n) in self.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
                path.bar d=(bar(i)) { title { (name(i)) ": " (counted(*n, unit)) } }
            }
        }
    }
}

/// How many units there are of each density, the share of `n` rows in which a unit is active, by powers of ten; `unit` is what they are called.
pub(crate) fn densities(uses: &[u64], n: u64, unit: &str) -> Markup {
    const BARS_PER_POWER: f64 = 4.0;
    let exponent = |uses: u64| (uses as f64 / n.max(1) as f64).log10();
    // A density of 1 is the end of the last bar.
    let place = |uses: u64| (BARS_PER_POWER * exponent(uses)).floor().min(-1.0);
    let places: Vec<f64> = uses.iter().copied().filter(|uses| *uses > 0).map(place).collect();
    let bars = PowerBars::of(&places, (-1.0, -1.0), BARS_PER_POWER);
    let frame = bars.frame();
    let label =
        format!("Histogram of the densities of {}, in powers of ten", counted(places.len() as u64, unit));
    let range = |from: f64, to: f64| format!("{} to {}", percent(from), percent(to));
    frame.draw(&label, bars.draw(&frame, "log10 of the density", unit, range))
}

/// How many rows there are of each size of a measure of convergence, which is positive, by powers of ten, with a dotted line at the tolerance.
pub(crate) fn certificates(values: &[f64], name: &str, tol: f64) -> Markup {
    const BARS_PER_POWER: f64 = 2.0;
    let place = |value: f64| (BARS_PER_POWER * value.log10()).floor();
    let places: Vec<f64> = values.iter().copied().map(place).collect();
    // Without a tolerance (0) the bars alone determine the axis.
    let of_tol = (tol > 0.0).then(|| place(tol));
    let first = of_tol.or_else(|| places.first().copied()).unwrap_or(0.0);
    let bars = PowerBars::of(&places, (first, first), BARS_PER_POWER);
    let frame = bars.frame();
    let label =
        format!("Histogram of the {name} of {}, in powers of ten", counted(values.len() as u64, "row"));
    let range = |from: f64, to: f64| format!("{} to {}", number(from), number(to));
    let x_name = format!("log10 of the {name}");
    frame.draw(
        &label,
        html! {
            (bars.draw(&frame, &x_name, "row", range))
            @if tol > 0.0 {
                path.drop d=(format!("M{} {}V{}", pt(frame.px(tol.log10())), pt(frame.top()), pt(frame.bottom()))) {}
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
