//! Clusters of the components of all fits: a drawing of the estimates, the quality of each cluster, and columns of the table of stability.

use super::stability::MOST_COMPONENTS;
use crate::colour::CLASSES;
use crate::figure::{Area, GAP, Label, Position, Room, WIDTH, around};
use crate::number::{count, counted};
use crate::svg::{Frame, Ticks, extent, padded};
use maud::{Markup, html};
use serde_json::Value;

/// The two sets of fits that are clustered separately: name in the model file, and label.
const KINDS: [(&str, &str); 2] = [("halves", "halves"), ("restarts", "other seeds")];

/// Names of the columns: of each clustering that there is. None in files of earlier versions.
pub(super) fn columns(found: &Value) -> Vec<String> {
    let is = |(name, _): &&(&str, &str)| found["clusters"][*name].is_object();
    KINDS.iter().filter(is).map(|(_, name)| format!("Iq, {name}")).collect()
}

/// Row `j` of these columns.
pub(super) fn cells(found: &Value, j: usize) -> Vec<String> {
    let clusters = KINDS.iter().map(|(name, _)| &found["clusters"][*name]).filter(|c| c.is_object());
    clusters.map(|c| c["quality"][j].as_f64().map_or("-".into(), |q| format!("{q:.3}"))).collect()
}

/// Diameter of the dot of an estimate.
const DOT: f64 = 5.0;

/// An estimate in the plane.
struct MapPoint {
    at: (f64, f64),
    component: usize,
    half: bool,
}

/// The estimates of all fits and the quality of their clusters; nothing where there are no clusters.
pub(super) fn figures(found: &Value) -> Markup {
    let clusters = &found["clusters"];
    let widest = ["both", "halves", "restarts"].into_iter().find(|name| clusters[*name].is_object());
    let Some(widest) = widest.map(|name| &clusters[name]) else { return html! {} };
    let place = |p: &Value| {
        Some(MapPoint {
            at: (p[0].as_f64()?, p[1].as_f64()?),
            component: p[2].as_u64()? as usize,
            half: p[3].as_u64()? == 1,
        })
    };
    let places: Vec<MapPoint> = clusters["map"].as_array().into_iter().flatten().filter_map(place).collect();
    let n_fits = widest["labels"].as_array().map_or(0, Vec::len);
    let sizes = widest["size"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    let several = places.iter().any(|p| p.half) && places.iter().any(|p| !p.half);
    html! {
        p.caption {
            "The " (count(sizes.sum())) " components of " (n_fits) " fits, in as many clusters as the model has components, by \
             average \
             linkage on 1 \u{2212} |r| (ICASSO: Himberg, Hyvärinen & Esposito 2004). Iq is the mean similarity inside a cluster minus \
             that with estimates of other clusters: near 1 where all fits agree about a component and it is distinct from the others. "
            @if clusters["restarts"].is_null() { "Only fits of halves are clustered: there was no fit from another seed, or all gave the same \
            bits. " }
            @if let Some(left_out) = widest["n_left_out"].as_u64().filter(|n| *n > 0) {
                (left_out) @if left_out == 1 { " more fit is" } @else { " more fits are" } " left out, to limit the number of estimates that are clustered. "
            }
        }
        div.panels {
            @if places.len() > 1 {
                figure {
                    figcaption { b { "estimates and their clusters" } @if several { span { "discs: all rows, squares: halves" } } }
                    (drawing(&places, widest))
                }
            }
            figure {
                figcaption { b { "Iq of each cluster" } @if several { span { "discs: other seeds, squares: halves" } } }
                (qualities(clusters))
            }
        }
    }
}

/// Estimates in the colour of their cluster, each cluster inside its convex hull.
fn drawing(places: &[MapPoint], widest: &Value) -> Markup {
    let (mut x, mut y) = (extent(places.iter().map(|p| p.at.0)), extent(places.iter().map(|p| p.at.1)));
    let (width, height) = (WIDTH, 360.0);
    // Room for the numbers of clusters at the top, too.
    let (margin, top) = (16.0, 28.0);
    // One scale for both axes, because the figure shows distances.
    let unit = ((x.1 - x.0) / (width - 2.0 * margin)).max((y.1 - y.0) / (height - margin - top)).max(1e-3);
    let around = |(low, high): (f64, f64), size: f64| {
        let (middle, half) = (0.5 * (low + high), 0.5 * unit * size);
        (middle - half, middle + half)
    };
    (x, y) = (around(x, width - 2.0 * margin), around(y, height - margin - top));
    let frame = Frame { width, height, margins: [margin, margin, top, margin], x, y };
    let mut components: Vec<usize> = places.iter().map(|p| p.component).collect();
    components.sort_unstable();
    components.dedup();
    let of = |j: usize, half: Option<bool>| {
        let is = move |p: &&MapPoint| p.component == j && half.is_none_or(|h| p.half == h);
        places.iter().filter(is).map(|p| p.at)
    };
    let hulls: Vec<(usize, Vec<(f64, f64)>)> = components.iter().map(|&j| (j, hull(of(j, None)))).collect();
    let tooltip = |j: usize| {
        let number = |name: &str| widest[name][j].as_u64().unwrap_or(0);
        let alike = widest["similarity"][j].as_f64().unwrap_or(0.0);
        let (size, fits) = (counted(number("size"), "estimate"), counted(number("fits"), "fit"));
        format!(
            "component {j}: {size} from {fits}; its centrotype has similarity {alike:.3} with the model's component"
        )
    };
    let colour = |j: usize| CLASSES[j % CLASSES.len()];
    frame.draw("Estimates of all fits in the plane: similar ones are near each other", html! {
        @for (j, around) in &hulls {
            path style=(format!("fill:{0};stroke:{0};stroke-width:11;stroke-linejoin:round;stroke-linecap:round;opacity:.2", colour(*j)))
                d=(frame.line(around.iter().copied()) + "Z") { title { (tooltip(*j)) } }
        }
        g.points stroke-width=(DOT) {
            @for &j in &components {
                @for half in [false, true] {
                    @let d = frame.dots(of(j, Some(half)));
                    @if !d.is_empty() {
                        path stroke=(colour(j)) stroke-linecap=(if half { "square" } else { "round" }) d=(d) { title { (tooltip(j)) } }
                    }
                }
            }
        }
        @for (label, j) in names(&frame, &hulls, places) {
            (label.draw("halo", Some(&format!("fill:color-mix(in oklab,{} 55%,var(--ink))", colour(j)))))
        }
    })
}

/// The number of each cluster, above its hull or else near it, over no estimate and no other number if there is room.
fn names(frame: &Frame, hulls: &[(usize, Vec<(f64, f64)>)], places: &[MapPoint]) -> Vec<(Label, usize)> {
    /// Distance of the middle of a number from the highest corner of its hull, whose outline is drawn outside of it.
    const ABOVE: f64 = 14.0;
    let on_drawing = |at: &(f64, f64)| -> Position { (frame.px(at.0), frame.py(at.1)) };
    let drawn: Vec<Position> = places.iter().map(|p| on_drawing(&p.at)).collect();
    let half = (0.5 * frame.width, 0.5 * frame.height);
    let mut room = Room::new(Area { at: half, half }, &drawn, 0.5 * DOT + GAP, Vec::new());
    let mut out = Vec::new();
    for (j, corners) in hulls {
        let corners: Vec<Position> = corners.iter().map(on_drawing).collect();
        let top = corners.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        let above = (corners.iter().map(|p| p.0).sum::<f64>() / corners.len() as f64, top - ABOVE);
        let of = |own: bool| places.iter().zip(&drawn).filter(move |(p, _)| (p.component == *j) == own);
        let distance = |at: &Position| (at.0 - above.0).hypot(at.1 - above.1);
        let nearest = of(true).map(|(_, at)| *at).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let Some(nearest) = nearest else { continue };
        let others: Vec<Position> = of(false).map(|(_, at)| *at).collect();
        let label = room.write(&j.to_string(), nearest, around(above), &others);
        out.extend(label.map(|label| (label, *j)));
    }
    out
}

/// Corners of the convex hull, in their order around it (Andrew 1979).
fn hull(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = points.collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let side = |points: &mut dyn Iterator<Item = &(f64, f64)>| {
        let mut out: Vec<(f64, f64)> = Vec::new();
        for &p in points {
            while let [.., a, b] = out[..]
                && (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0) <= 0.0
            {
                out.pop();
            }
            out.push(p);
        }
        out.pop();
        out
    };
    let mut around = side(&mut sorted.iter());
    around.extend(side(&mut sorted.iter().rev()));
    around
}

/// Iq of each component, of either clustering.
fn qualities(clusters: &Value) -> Markup {
    let of = |name: &str| -> Vec<(f64, f64)> {
        let all =
            clusters[name]["quality"].as_array().into_iter().flatten().take(MOST_COMPONENTS).enumerate();
        all.filter_map(|(j, q)| Some((j as f64, q.as_f64()?))).collect()
    };
    let series = KINDS.map(|(name, _)| of(name));
    let k = KINDS.iter().filter_map(|(name, _)| clusters[*name]["quality"].as_array()).map(Vec::len).max();
    let k = k.unwrap_or(0).min(MOST_COMPONENTS) as f64;
    let (low, _) = extent(series.iter().flatten().map(|p| p.1));
    let low = if low < 0.0 { padded((low, 1.0), 0.05).0 } else { 0.0 };
    let frame = Frame::new(WIDTH, 360.0, (-0.6, k - 0.4), (low, 1.02));
    let apart = if series.iter().all(|s| !s.is_empty()) { 3.0 } else { 0.0 };
    // Beside each other, so that equal ones can both be seen.
    let shift = apart * (frame.x.1 - frame.x.0) / (frame.right() - frame.left());
    frame.draw("Quality index of the cluster of each component", html! {
        (frame.axes("component", "Iq", &Ticks::whole(frame.x, 12), &Ticks::round(frame.y, 5)))
        g.points stroke-width="7" {
            @for (points, (left, cap, colour)) in series.iter().zip([(1.0, "square", "var(--accent)"), (-1.0, "round", "var(--plus)")]) {
                path style=(format!("stroke:{colour}")) stroke-linecap=(cap) d=(frame.dots(points.iter().map(|(j, q)| (j - left * shift, *q)))) {}
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hull_has_the_corners_and_nothing_else() {
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let inside = [(0.5, 0.5), (0.5, 0.0), (0.2, 0.7), (1.0, 1.0)];
        assert_eq!(hull(square.into_iter().chain(inside)), square);
        assert_eq!(hull([(1.0, 2.0), (1.0, 2.0)].into_iter()), [(1.0, 2.0)]);
        assert_eq!(hull([(2.0, 2.0), (0.0, 0.0), (1.0, 1.0)].into_iter()), [(0.0, 0.0), (2.0, 2.0)]);
    }

    #[test]
    fn numbers_of_clusters_cover_no_estimate_and_no_other_number() {
        // Each cluster is below the next, where the number of the lower one would be above its hull.
        let places: Vec<MapPoint> = (0..40)
            .map(|i| MapPoint {
                at: (0.1 * f64::from(i % 10), 0.1 * f64::from(i / 10)),
                component: i as usize / 10,
                half: false,
            })
            .collect();
        let frame = Frame { width: WIDTH, height: 360.0, margins: [16.0; 4], x: (0.0, 1.0), y: (-1.0, 1.0) };
        let of = |j: usize| places.iter().filter(move |p| p.component == j).map(|p| p.at);
        let hulls: Vec<(usize, Vec<(f64, f64)>)> = (0..4).map(|j| (j, hull(of(j)))).collect();
        let found = names(&frame, &hulls, &places);
        assert_eq!(found.iter().map(|(_, j)| *j).collect::<Vec<_>>(), [0, 1, 2, 3]);
        for (i, (label, _)) in found.iter().enumerate() {
            let apart = |p: &MapPoint| label.area.distance((frame.px(p.at.0), frame.py(p.at.1))) > 0.5 * DOT;
            assert!(places.iter().all(apart));
            assert!(found[..i].iter().all(|(other, _)| !other.area.overlaps(&label.area)));
        }
    }

    #[test]
    fn files_without_clusters_have_no_columns_and_no_figure() {
        let old = serde_json::json!({"halves": [0.9]});
        assert!(
            columns(&old).is_empty() && cells(&old, 0).is_empty() && figures(&old).into_string().is_empty()
        );
        let quality = serde_json::json!({"quality": [0.5, null]});
        let new = serde_json::json!({"clusters": {"halves": quality, "restarts": null}});
        assert_eq!(columns(&new), ["Iq, halves"]);
        assert_eq!((cells(&new, 0), cells(&new, 1)), (vec!["0.500".to_string()], vec!["-".to_string()]));
    }
}
