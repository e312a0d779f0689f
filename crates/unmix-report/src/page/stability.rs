//! Reliability of each component: agreement of halves of the rows, and of fits from other seeds.

use super::{Context, clusters};
use crate::number::{count, counted, number};
use crate::svg::{Frame, Ticks, pt};
use crate::{caller, description};
use maud::{Markup, html};
use serde_json::Value;

/// Components drawn and tabulated; the model file has the rest.
pub(super) const MOST_COMPONENTS: usize = 64;

/// Numbers of the report, for each component.
struct Numbers {
    halves: Vec<f64>,
    interval: Vec<(f64, f64)>,
    restarts: Vec<f64>,
    index: Vec<f64>,
    gaussian: Vec<f64>,
}

impl Numbers {
    fn of(found: &Value) -> Self {
        let numbers = |name: &str| -> Vec<f64> {
            found[name].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
        };
        let intervals = found["interval"].as_array().into_iter().flatten();
        Self {
            halves: numbers("halves"),
            interval: intervals
                .map(|pair| (pair[0].as_f64().unwrap_or(0.0), pair[1].as_f64().unwrap_or(1.0)))
                .collect(),
            restarts: numbers("restarts"),
            index: numbers("index"),
            gaussian: numbers("gaussian"),
        }
    }

    /// Number of components that are drawn and tabulated.
    fn shown(&self) -> usize {
        self.halves.len().min(self.interval.len()).min(MOST_COMPONENTS)
    }

    fn has_restarts(&self) -> bool {
        self.restarts.len() == self.halves.len()
    }
}

pub(super) fn section(context: &Context<'_>) -> Markup {
    let Some(found) = &context.model.report().stability else { return html! {} };
    let numbers = Numbers::of(found);
    let (k, n) = (numbers.shown(), numbers.halves.len());
    super::section(
        "stability",
        "Stability",
        html! {
            (caption(context, found))
            (drawing(context, &numbers.halves[..k], &numbers.interval[..k]))
            p.caption {
                @if numbers.has_restarts() {
                    "Other seeds: mean agreement with fits of all rows from other seeds"
                    @if found["restarts_interval"].is_array() {
                        ", with the 95 % interval for that of further seeds; a component depends on initialisation where all of it is below "
                        (unmix::stability::MIN_AGREEMENT) ", and may do so where it crosses and one of these fits is below"
                    }
                    ". "
                }
                "Index: mean agreement with the matching component of the other fits minus that with their other components."
                @if !numbers.gaussian.is_empty() {
                    " p (Gaussian): p-value of a test that the codes are Gaussian, on rows that the direction was not fitted to."
                }
            }
            (table(found, &numbers))
            (clusters::figures(found))
            @if n > MOST_COMPONENTS { p.caption {
                @match n - MOST_COMPONENTS { 1 => "The other component is in the model file.", more => { "The other " (more) " components are in the model file." } }
            } }
        },
    )
}

/// What the points and their lines are.
fn caption(context: &Context<'_>, found: &Value) -> Markup {
    html! {
        p.caption {
            "The rows were split into random halves" (times(found)) ", and each half fitted alone. A point is the mean agreement of \
             the two halves (1: identical). "
            @if description::has_intervals(found) {
                "Its line is the 95 % interval for the expected agreement of two independent samples of half as many rows"
                @if let Some(resamples) = description::resamples(found) { "; its sampling error is estimated from " (counted(resamples, "resample")) " of the rows" }
                ". A component \
                 is resolved where its whole interval is above the dashed line (" (unmix::stability::MIN_AGREEMENT) "), not resolvable where all of it is \
                 below, and undecided where it crosses. Components that cannot be separated from each other are judged as a group, by the \
                 interval for the space they span; a group of as many components as there are columns is not resolvable."
            } @else {
                "Its line shows how that mean varied over the splits, as recorded by earlier versions; it is not an interval for \
                 other samples. Components above the dashed line were reported as reproduced."
            }
            @if let Some(chance) = found["chance"].as_f64() {
                " As many random directions, paired in the same way, have a mean agreement of " (format!("{chance:.2}")) "."
            }
            @if let Some(few) = description::few_splits(found) { " Here " (few) "." }
            @if let Some(why) = description::incomplete(found) { strong { " Here " (why) "." } }
            @if let Some(block_length) = found["block_length"].as_u64().filter(|s| *s > 1) {
                " Consecutive rows are autocorrelated: blocks of " (count(block_length)) " rows were kept together when the rows \
                 were split."
            }
            @if of_modules(context) {
                " This is about single units. Fits from other halves and seeds may divide a module of rows and columns among other units: to decide \
                 which modules are reliable, use q and stability of " code { (caller::modules(context.options.caller)) } "."
            }
        }
    }
}

fn table(found: &Value, numbers: &Numbers) -> Markup {
    let Numbers { halves, restarts, index, gaussian, .. } = numbers;
    let restarted = numbers.has_restarts();
    html! {
        div.scroll { table {
            thead { tr {
                th { "component" } th { "agreement of halves" } @if description::has_intervals(found) { th { "95 % interval" } } @if restarted { th { "other seeds" } }
                th { "index" } @for name in clusters::columns(found) { th { (name) } } @if !gaussian.is_empty() { th { "p (Gaussian)" } } th { "verdict" }
            } }
            tbody { @for j in 0..numbers.shown() { tr {
                td { (j) } td { (format!("{:.3}", halves[j])) }
                @if let Some(interval) = description::interval(found, "interval", j) { td { (interval) } }
                @if restarted { td {
                    (format!("{:.3}", restarts[j]))
                    @if let Some(interval) = description::interval(found, "restarts_interval", j) { " (" (interval) ")" }
                } }
                td { (index.get(j).map_or(String::new(), |x| format!("{x:.3}"))) }
                @for cell in clusters::cells(found, j) { td { (cell) } }
                @if !gaussian.is_empty() {
                    td { (gaussian.get(j).map_or(String::new(), |p| if *p < 1e-3 { "< 0.001".into() } else { number(*p) })) }
                }
                td { (description::verdict_with_interval(found, j)) }
            } } }
        } }
    }
}

/// " 20 times", where that is known.
fn times(found: &Value) -> String {
    match description::n_splits(found) {
        Some(1) => " once".into(),
        Some(splits) => format!(" {} times", count(splits)),
        None => String::new(),
    }
}

/// Whether the units of the model can be modules.
fn of_modules(context: &Context<'_>) -> bool {
    context.model.code().codes().non_negative && context.model.code().decodes()
}

fn drawing(context: &Context<'_>, halves: &[f64], interval: &[(f64, f64)]) -> Markup {
    let class = |j: usize| description::verdict(context.model, j).map_or("", |verdict| verdict.class);
    let k = halves.len();
    let frame = Frame::new(900.0, 220.0, (-0.6, k as f64 - 0.4), (0.0, 1.02));
    frame.draw("Agreement of the two halves of the rows on each component", html! {
        (frame.axes("component", "agreement", &Ticks::whole(frame.x, 16), &Ticks::round(frame.y, 5)))
        path.drop d=(format!("M{} {}H{}", pt(frame.left()), pt(frame.py(unmix::stability::MIN_AGREEMENT)), pt(frame.right()))) {}
        @for (j, ((low, high), at)) in interval.iter().zip(halves).enumerate() {
            path.line d=(frame.line([(j as f64, *low), (j as f64, *high)])) {}
            circle class={ "mark " (class(j)) } cx=(pt(frame.px(j as f64))) cy=(pt(frame.py(*at))) r="4" { title { (j) ": " (format!("{at:.3}")) } }
        }
    })
}
