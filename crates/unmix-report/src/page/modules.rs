//! Modules: a table, a heat map of rows and columns in the order of the modules, and a panel for each with its code and its columns.

mod members;

use super::{Context, of_all, section};
use crate::figure::{self, Colouring};
use crate::modules::{PANELS, ShownModules};
use crate::number::{count, counted};
use crate::picture::{Layout, Scale, data_uri};
use crate::svg::{Frame, pt};
use crate::{caller, description};
use maud::{Markup, html};
use unmix::biclusters::Module;
use unmix::{Matrix, Result};

/// Modules in the table.
const MOST_LISTED_MODULES: usize = 24;
/// Standard deviations at the ends of the colours.
const COLOUR_END_DEVIATIONS: f64 = 4.0;
/// Maximum number of columns whose names are drawn under the heat map.
const MOST_NAMED_COLUMNS: usize = 48;
/// Letters of these names, for which there is room under the map, and of those beside the strips of a panel.
const LETTERS: usize = 14;
const BESIDE: usize = 12;

/// The section of models whose units are modules; empty for others.
pub(super) fn of_units(context: &Context<'_>) -> Result<Markup> {
    let Some(shown) = context.modules.as_ref() else {
        return Ok(html! {});
    };
    if let Some(none) = shown.found.none_found() {
        return Ok(section("modules", "Modules", html! { p.caption { "Note: " (none) "." } }));
    }
    let colouring = Colouring::of(context.options.labels.as_ref());
    let panels = shown.rows.len();
    Ok(section(
        "modules",
        "Modules",
        html! {
            p.caption { (caption(shown)) }
            (table(context, shown))
            (members::members(context, &shown.found.modules[..shown.found.modules.len().min(MOST_LISTED_MODULES)]))
            p.caption {
                "Rows (down) and columns (across) of " @if panels == 1 { "the module" } @else { "the first " (panels) " modules in their order" } ": differences from the column's mean in its standard deviations, "
                span.key.plus { "orange" } " above, " span.key.minus { "blue" } " below, clipped at " (COLOUR_END_DEVIATIONS) ". A frame encloses the rows and columns of a "
                "module that are in no module before it."
            }
            (heat(context, shown)?)
            p.caption {
                "A panel for each module: above, the code of its unit in every row that is drawn, members as large points; below, the columns of largest loading, as "
                "differences from their means in standard deviations. Rows are sorted " @if classed(&colouring) { "by class, then " } "by decreasing code: members, and "
                "others at a fixed stride."
            }
            (figure::legend(&colouring))
            div.panels { @for i in 0..panels { (panel(context, shown, &colouring, i)) } }
        },
    ))
}

fn classed(colouring: &Colouring) -> bool {
    matches!(colouring, Colouring::Classes { .. })
}

/// "8 fits from different starts were pooled", after "Units of".
fn fits(starts: usize) -> String {
    match starts {
        1 => "one other fit are shown".into(),
        n => format!("{n} fits from different starts were pooled"),
    }
}

fn caption(shown: &ShownModules) -> Markup {
    let (found, all) = (&shown.found, shown.found.modules.len());
    let rare = found.modules.iter().filter(|m| m.rare).count();
    html! {
        strong { (count(all as u64)) } @if all == 1 { " module" } @else { " modules" } ": rows in which a unit's code is large with the columns in which its loading is, in the "
        "order of decreasing evidence: the gain in log-likelihood by the rows and columns, minus what a search over all sets of this size gains by chance, in nats. " (count(rare as u64)) @if rare == 1 { " has" } @else { " have" } " at most 5 % of the rows. "
        @match (found.starts, found.permutations) {
            (1, 0) if found.modules.iter().all(|m| m.stability.is_none()) => "They are units of this model alone; with refits the page has their stability and q as well.",
            (starts, 0) => { "Units of " (fits(starts)) "; stability is the share of the fits that have the module." }
            (starts, copies) => {
                "Units of " (fits(starts)) "; stability is the share of the fits that have the module. q is the estimated false "
                "discovery rate among the modules with at least as much evidence, under the null hypothesis of independent columns: the number of such modules, plus one, that "
                "the same fits find in rows with independently permuted columns (" (copies) @if copies == 1 { " copy" } @else { " copies" } "), per copy, divided by the number "
                "that they find in these rows. For the first k modules it is at least 1/(" (found.permutations) " k). Judge a module by q first, then by stability; "
                "the verdict on stability in the report of a fit is about single units of one fit, which may be divided differently among the units of other starts."
            }
        }
        @if found.modules.iter().any(|m| m.information.is_some()) { " Information is the mutual information of a row and the unit's code, in nats, as of Gaussian codes." }
        @for note in [found.warning(), found.weights_left_out(), found.none_above_chance()].into_iter().flatten() { " Note: " (note) "." }
        @if let Some(chance) = found.chance {
            " Halves: the cosine with the nearest unit of a fit to half of the rows, the smaller of the two; by chance " (format!("{chance:.2}")) "."
        }
    }
}

fn table(context: &Context<'_>, shown: &ShownModules) -> Markup {
    let modules = &shown.found.modules;
    let pooled = modules.iter().any(|m| m.stability.is_some());
    let halves =
        |m: &Module| m.halves.or_else(|| of_report(context, "halves", m.units[0].1).filter(|_| !pooled));
    let (tested, halved) =
        (modules.iter().any(|m| m.q_value.is_some()), modules.iter().any(|m| halves(m).is_some()));
    let informed = modules.iter().any(|m| m.information.is_some());
    let share = |x: Option<f64>| x.map_or("–".to_string(), |x| format!("{x:.2}"));
    html! {
        div.scroll { table.numbers {
            thead { tr {
                th scope="col" { "module" } th scope="col" { "unit" } th scope="col" { "rows" } th scope="col" { "columns" }
                th scope="col" { "positive" } th scope="col" { "negative" } th scope="col" { "evidence" } th scope="col" { "concentration" }
                @if informed { th scope="col" { "information" } }
                @if pooled { th scope="col" { "stability" } } @if tested { th scope="col" { "q" } } @if halved { th scope="col" { "agreement of halves" } }
            } }
            tbody { @for (i, m) in modules.iter().enumerate().take(MOST_LISTED_MODULES) {
                @let up = m.positive.iter().filter(|up| **up).count();
                tr {
                    th scope="row" { (i) }
                    td { (m.units[0].1) @if pooled { " of fit " (m.units[0].0) } }
                    td { (count(m.rows.len() as u64)) } td { (count(m.columns.len() as u64)) } td { (up) } td { (m.columns.len() - up) }
                    td { (format!("{:.1}", m.evidence)) } td { (format!("{:.2}", m.concentration)) }
                    @if informed { td { (share(m.information)) } }
                    @if pooled { td { (share(m.stability)) } } @if tested { td { (share(m.q_value)) } } @if halved { td { (share(halves(m))) } }
                }
            } }
        } }
        @if modules.len() > MOST_LISTED_MODULES { p.caption { (of_all(MOST_LISTED_MODULES, modules.len())) " modules are listed; all are the result of " code { (caller::modules(context.options.caller)) } "." } }
    }
}

/// The stability of a unit of the model, as in its report.
fn of_report(context: &Context<'_>, name: &str, unit: usize) -> Option<f64> {
    context.model.report().stability.as_ref()?[name].get(unit)?.as_f64()
}

fn heat(context: &Context<'_>, shown: &ShownModules) -> Result<Markup> {
    let (rows, columns) = &shown.heat;
    let (n, p) = (rows.len(), columns.len());
    let Some(layout) = Layout::of(Some(&[n, p])) else { return Ok(html! {}) };
    let cells = Matrix::from_fn(n, p, |i, j| {
        shown.cell(rows[i], columns[j]).clamp(-COLOUR_END_DEVIATIONS, COLOUR_END_DEVIATIONS)
    });
    let uri = data_uri(cells.as_slice(), layout, Scale::Signed(COLOUR_END_DEVIATIONS), 1)?;
    let named = p <= MOST_NAMED_COLUMNS && context.model.features().names.is_some();
    let height = (3.0 * n as f64).clamp(160.0, 560.0);
    let mut frame = Frame::new(900.0, height, (0.0, p as f64), (n as f64, 0.0));
    frame.margins = [34.0, 8.0, 18.0, if named { 96.0 } else { 24.0 }];
    frame.height += frame.margins[3];
    let (left, top, wide, high) =
        (frame.left(), frame.top(), frame.right() - frame.left(), frame.bottom() - frame.top());
    let modules = counted(shown.rows.len() as u64, "module");
    let alt_text = format!("{n} rows and {p} columns in the order of {modules}");
    let blocks = blocks(shown);
    let drawn = frame.draw(&alt_text, html! {
        image href=(uri) x=(pt(left)) y=(pt(top)) width=(pt(wide)) height=(pt(high)) preserveAspectRatio="none" style="image-rendering:pixelated" {}
        @for (i, ((r0, r1), (c0, c1))) in &blocks {
            rect.frame x=(pt(frame.px(*c0 as f64))) y=(pt(frame.py(*r0 as f64))) width=(pt(frame.px(*c1 as f64) - frame.px(*c0 as f64)))
                height=(pt(frame.py(*r1 as f64) - frame.py(*r0 as f64))) { title { "module " (i) } }
            text x=(pt(frame.px(0.5 * (c0 + c1) as f64))) y=(pt(top - 5.0)) text-anchor="middle" { (i) }
            text x=(pt(left - 6.0)) y=(pt(frame.py(0.5 * (r0 + r1) as f64) + 4.0)) text-anchor="end" { (i) }
        }
        @if named {
            @for (j, column) in columns.iter().enumerate() {
                @let (x, y) = (frame.px(j as f64 + 0.5) + 4.0, frame.bottom() + 6.0);
                text transform=(format!("translate({} {}) rotate(-90)", pt(x), pt(y))) text-anchor="end" {
                    @let name = description::feature_name(context.model, *column as usize);
                    title { (name) } (figure::short(&name, LETTERS))
                }
            }
        } @else {
            text.name x=(pt(left + 0.5 * wide)) y=(pt(frame.bottom() + 16.0)) text-anchor="middle" { (count(p as u64)) " columns, by module" }
        }
    });
    Ok(html! { div.card { (drawn) } })
}

/// Range of rows or columns of the heat map.
type Span = (usize, usize);

/// For each module the ranges of its rows and columns that are in no module before it; modules without such rows or columns are left out.
fn blocks(shown: &ShownModules) -> Vec<(usize, (Span, Span))> {
    let span = |order: &[u32], before: &mut usize, members: &[u32]| {
        let start = *before;
        let own = order[start..].iter().take_while(|i| members.binary_search(i).is_ok()).count();
        *before += own;
        (start, start + own)
    };
    let (mut row, mut column) = (0, 0);
    let each = shown.found.modules.iter().take(PANELS).enumerate();
    let all = each.map(|(i, m)| {
        (i, (span(&shown.heat.0, &mut row, &m.rows), span(&shown.heat.1, &mut column, &m.columns)))
    });
    all.filter(|(_, (rows, columns))| rows.0 < rows.1 && columns.0 < columns.1).collect()
}

/// Height of the strip of the code and of that of a column, on the drawing.
const CODE: f64 = 74.0;
const STRIP: f64 = 26.0;

/// Code above, columns below, a point for each row.
fn panel(context: &Context<'_>, shown: &ShownModules, colouring: &Colouring, i: usize) -> Markup {
    let m = &shown.found.modules[i];
    let order = sorted(context, colouring, m, &shown.rows[i]);
    let lines = &shown.columns[i];
    let (rows, columns) = (counted(m.rows.len() as u64, "row"), counted(m.columns.len() as u64, "column"));
    let alt_text = format!("Module {i}: {rows}, {columns}");
    let mut frame = Frame::new(
        figure::WIDTH,
        CODE + STRIP * lines.len() as f64 + 26.0,
        (-0.5, order.len() as f64 - 0.5),
        (0.0, 1.0),
    );
    frame.margins = [86.0, 8.0, 4.0, 22.0];
    let code = Strip {
        top: frame.top(),
        height: CODE,
        values: order.iter().map(|(r, _)| f64::from(m.codes[*r as usize])).collect(),
    };
    html! { figure {
        figcaption {
            b { (i) } span { (counted(m.rows.len() as u64, "row")) ", " (counted(m.columns.len() as u64, "column")) }
            @if let Some(nats) = m.information { span { (format!("{nats:.2}")) " nats a row" } }
            @if let Some(q) = m.q_value { span { "q " (format!("{q:.2}")) } }
        }
        (frame.draw(&alt_text, html! {
            (code.draw(&frame, "code", &order, colouring, m))
            @for (at, column) in lines.iter().enumerate() {
                @let strip = Strip {
                    top: frame.top() + CODE + STRIP * at as f64, height: STRIP,
                    values: order.iter().map(|(r, _)| shown.cell(*r, *column)).collect(),
                };
                (strip.draw(&frame, &figure::short(&description::feature_name(context.model, *column as usize), BESIDE), &order, colouring, m))
            }
            text.name x=(pt(0.5 * (frame.left() + frame.right()))) y=(pt(frame.height - 4.0)) text-anchor="middle" {
                (of_all(order.len(), shown.found.n_rows)) " rows"
            }
        }))
    } }
}

/// The drawn rows with the group of each: by class, then by decreasing code.
fn sorted(context: &Context<'_>, colouring: &Colouring, m: &Module, rows: &[u32]) -> Vec<(u32, usize)> {
    let label = |i: u32| context.options.labels.as_ref().map_or("", |(_, l)| l[i as usize].as_str());
    let mut order: Vec<(u32, usize)> = rows.iter().map(|&i| (i, colouring.group(label(i)))).collect();
    let class = |g: usize| if classed(colouring) { g } else { 0 };
    let code = |i: u32| m.codes[i as usize];
    order.sort_by(|a, b| {
        class(a.1).cmp(&class(b.1)).then(code(b.0).total_cmp(&code(a.0))).then(a.0.cmp(&b.0))
    });
    order
}

/// Numbers of the drawn rows in a strip of a panel.
struct Strip {
    top: f64,
    height: f64,
    values: Vec<f64>,
}

impl Strip {
    fn draw(
        &self,
        frame: &Frame,
        name: &str,
        order: &[(u32, usize)],
        colouring: &Colouring,
        m: &Module,
    ) -> Markup {
        let (low, high) =
            crate::svg::padded(crate::svg::extent(self.values.iter().copied().chain([0.0])), 0.08);
        let inner = Frame {
            width: frame.width,
            height: self.top + self.height,
            margins: [frame.margins[0], frame.margins[1], self.top + 3.0, 3.0],
            x: frame.x,
            y: (low, high),
        };
        let points = |g: usize, member: bool| {
            let own = order
                .iter()
                .enumerate()
                .filter(|(_, (row, of))| *of == g && m.rows.binary_search(row).is_ok() == member);
            inner.dots(own.map(|(at, _)| (at as f64, self.values[at])))
        };
        html! {
            path.grid d=(format!("M{} {}H{}", pt(frame.left()), pt(inner.py(0.0)), pt(frame.right()))) {}
            text x=(pt(frame.left() - 6.0)) y=(pt(self.top + 0.5 * self.height + 4.0)) text-anchor="end" { (name) }
            @for (member, width) in [(false, 2.6), (true, 4.6)] {
                g.points stroke-width=(width) {
                    @for g in 0..colouring.groups() {
                        @let (d, (colour, square)) = (points(g, member), colouring.style(g));
                        @if !d.is_empty() {
                            path stroke=(colour) stroke-linecap=(if square { "square" } else { "round" }) stroke-opacity=(if member { "1" } else { "0.45" }) d=(d) {}
                        }
                    }
                }
            }
        }
    }
}
