//! How far to believe each component: what halves of the rows and other seeds found again.

use super::Context;
use crate::number::{count, number};
use crate::svg::{Frame, Ticks, pt};
use maud::{Markup, html};
use serde_json::Value;

/// Components drawn and tabulated; the model file has the rest.
const MOST: usize = 64;

pub(super) fn section(context: &Context<'_>) -> Markup {
    let Some(found) = &context.model.report().stability else { return html! {} };
    let numbers = |name: &str| -> Vec<f64> {
        found[name].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let (halves, restarts, index, gaussian) =
        (numbers("halves"), numbers("restarts"), numbers("index"), numbers("gaussian"));
    let interval: Vec<(f64, f64)> = found["interval"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|pair| (pair[0].as_f64().unwrap_or(0.0), pair[1].as_f64().unwrap_or(1.0)))
        .collect();
    let verdict = |j: usize| found["verdict"][j].as_str().unwrap_or("").to_string();
    let k = halves.len().min(interval.len()).min(MOST);
    let restarted = restarts.len() == halves.len();
    super::section(
        "stability",
        "How far to believe it",
        html! {
            p.caption {
                "The rows were cut into random halves, and each half fitted alone. A point is the mean agreement of the two halves (1: identical); \
                 its line is how much that mean varies with the cuts that were made, and no confidence interval over other rows: with two \
                 cuts it joins their two values. Above the broken line a component counts as found again."
                @if let Some(stretch) = found["stretch"].as_u64().filter(|s| *s > 1) {
                    " Rows follow one another here, so that neighbours are alike: " (count(stretch)) " at a time stayed together."
                }
            }
            (drawing(&halves[..k], &interval[..k]))
            div.scroll { table {
                thead { tr {
                    th { "component" } th { "halves" } @if restarted { th { "other seeds" } }
                    th { "index" } th { "p (Gaussian)" } th { "verdict" }
                } }
                tbody { @for j in 0..k { tr {
                    td { (j) } td { (format!("{:.3}", halves[j])) }
                    @if restarted { td { (format!("{:.3}", restarts[j])) } }
                    td { (index.get(j).map_or(String::new(), |x| format!("{x:.3}"))) }
                    td { (gaussian.get(j).map_or(String::new(), |p| if *p < 1e-3 { "< 0.001".into() } else { number(*p) })) }
                    td { (verdict(j)) }
                } } }
            } }
            @if halves.len() > MOST { p.caption { "The other " (halves.len() - MOST) " components are in the model file." } }
        },
    )
}

fn drawing(halves: &[f64], interval: &[(f64, f64)]) -> Markup {
    let k = halves.len();
    let frame = Frame::new(900.0, 220.0, (-0.6, k as f64 - 0.4), (0.0, 1.02));
    frame.draw("How alike two halves of the rows found each component", html! {
        (frame.axes("component", "alike", &Ticks::whole(frame.x, 16), &Ticks::round(frame.y, 5)))
        path.drop d=(format!("M{} {}H{}", pt(frame.left()), pt(frame.py(unmix::stability::STABLE)), pt(frame.right()))) {}
        @for (j, ((low, high), at)) in interval.iter().zip(halves).enumerate() {
            path.line d=(frame.line([(j as f64, *low), (j as f64, *high)])) {}
            circle.mark cx=(pt(frame.px(j as f64))) cy=(pt(frame.py(*at))) r="4" { title { (j) ": " (format!("{at:.3}")) } }
        }
    })
}
