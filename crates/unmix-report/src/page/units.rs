//! Units of an overcomplete code: their densities, cards with their strongest rows, and pairs of similar atoms.

use super::components::VectorStyle;
use super::{Context, section};
use crate::description;
use crate::figure;
use crate::number::{count, counted, fixed, number, percent};
use crate::picture::{Scale, data_uri};
use crate::units::{CardReason, SIMILAR_COSINE, SimilarAtoms, Unit, Units};
use maud::{Markup, html};
use unmix::Result;

/// Rows before and after a strongest row whose labels are shown with it.
const ROWS_AROUND: u64 = 5;
/// Cards that are shown before the others are unfolded.
const UNFOLDED_CARDS: usize = 6;
/// Pairs of similar atoms that are shown before the others are unfolded.
const UNFOLDED_PAIRS: usize = 2;
/// Strongest rows of a card that are shown before the others are unfolded.
const UNFOLDED_ROWS: usize = 3;
/// Bytes that the picture of an atom may have before it is compressed.
const MOST_PICTURE_BYTES: usize = 4000;

/// The section; empty without units.
pub(super) fn of_code(context: &Context<'_>) -> Result<Markup> {
    let Some(units) = context.units.as_ref().filter(|units| !units.cards.is_empty()) else {
        return Ok(html! {});
    };
    let cards: Vec<Markup> =
        units.cards.iter().map(|(kind, j)| card(context, units, Some(*kind), *j)).collect::<Result<_>>()?;
    let (open, more) = cards.split_at(cards.len().min(UNFOLDED_CARDS));
    let uses: Vec<u64> = units.all.iter().map(|unit| unit.uses).collect();
    Ok(section(
        "units",
        "Units",
        html! {
            p.caption { (caption(units)) }
            div.panels { figure {
                figcaption { b { "density of each unit" } }
                (figure::densities(&uses, units.n_rows, "unit"))
            } }
            (pairs(context, units)?)
            p.caption {
                "The most used units, the rarest, and those of the largest codes: how often each is active, and its strongest rows"
                @if context.options.labels.is_some() { ", each with the labels of the rows around it" } "."
            }
            div.units { @for card in open { (card) } }
            @if !more.is_empty() {
                details { summary { (count(more.len() as u64)) " more units" } div.units { @for card in more { (card) } } }
            }
        },
    ))
}

fn caption(units: &Units) -> Markup {
    let never = units.all.iter().filter(|unit| unit.uses == 0).count();
    html! {
        @if units.all_rows { "Over all " } @else { "Over the first " } (counted(units.n_rows, "row")) ", "
        (count((units.all.len() - never) as u64)) " of " (count(units.all.len() as u64)) " units are active in at least one. "
        "The density of a unit is the share of the rows in which it is active."
    }
}

/// One unit: why it is shown (`None` in a pair), its density, its atom where that is a picture, and its strongest rows if it is active in any.
fn card(context: &Context<'_>, units: &Units, kind: Option<CardReason>, j: usize) -> Result<Markup> {
    let unit = &units.all[j];
    let used = unit.uses > 0;
    Ok(html! {
        figure {
            figcaption {
                b { "unit " (j) } @if let Some(kind) = kind { span { (kind.name()) } }
                @if used {
                    span { "active in " (percent(unit.uses as f64 / units.n_rows as f64)) }
                    span { "mean code where active " (number(unit.sum / unit.uses as f64)) }
                } @else {
                    span { "active in no row" }
                }
            }
            (picture(context, j)?)
            @if used { (strongest(context, unit)) (rest(unit)) }
        }
    })
}

fn strongest(context: &Context<'_>, unit: &Unit) -> Markup {
    let (first, more) = unit.top.split_at(unit.top.len().min(UNFOLDED_ROWS));
    let list = |rows: &[(f64, u64)], start: usize| {
        html! { ol start=(start) { @for (code, row) in rows { li { span.value { (number(*code)) } " " (named(context, *row)) } } } }
    };
    html! {
        (list(first, 1))
        @if !more.is_empty() { details { summary { (more.len()) @if more.len() == 1 { " more row" } @else { " more rows" } } (list(more, UNFOLDED_ROWS + 1)) } }
    }
}

fn rest(unit: &Unit) -> Markup {
    let shown = unit.top.len() as u64;
    html! { @if unit.uses <= shown { p.caption { "It is active in no other row." } } }
}

/// The atom of a unit, where rows are pictures.
fn picture(context: &Context<'_>, j: usize) -> Result<Markup> {
    let VectorStyle::Pictures(layout) = VectorStyle::of(context) else { return Ok(html! {}) };
    let atoms = description::decoder(context.model);
    let atom = atoms.row(j);
    let address = data_uri(atom, layout, Scale::signed(atom), layout.shrink_for(1, MOST_PICTURE_BYTES))?;
    Ok(html! { img src=(address) alt=(format!("Atom of unit {j}")); })
}

/// A row by its name, or its label among those of the rows around it, or its number.
fn named(context: &Context<'_>, row: u64) -> Markup {
    let Some((_, labels)) = &context.options.labels else {
        return html! { (context.row_called(row)) };
    };
    let label = |i: u64| labels.get(i as usize).map_or("", String::as_str);
    let end = (row + 1 + ROWS_AROUND).min(labels.len() as u64);
    html! {
        span.soft { @for i in row.saturating_sub(ROWS_AROUND)..row { (label(i)) " " } }
        b title=(context.row_called(row)) { (label(row)) }
        span.soft { @for i in row + 1..end { " " (label(i)) } }
    }
}

/// Pairs of similar atoms.
fn pairs(context: &Context<'_>, units: &Units) -> Result<Markup> {
    let Some(SimilarAtoms { pairs, n }) = &units.alike else {
        return Ok(html! { p.caption { "There are too many atoms for pairwise comparison." } });
    };
    if *n == 0 {
        return Ok(
            html! { p.caption { "No two atoms have a cosine of " (fixed(SIMILAR_COSINE, 1)) " or more." } },
        );
    }
    let shown: Vec<Markup> = pairs.iter().map(|at| pair(context, units, *at)).collect::<Result<_>>()?;
    let (open, more) = shown.split_at(shown.len().min(UNFOLDED_PAIRS));
    Ok(html! {
        p.caption {
            (count(*n as u64)) @if *n == 1 { " pair of atoms has" } @else { " pairs of atoms have" } " a cosine of " (fixed(SIMILAR_COSINE, 1)) " or more"
            @if pairs.len() < *n { "; the " (pairs.len()) " most similar are shown" } "."
        }
        @for pair in open { (pair) }
        @if !more.is_empty() {
            details {
                summary { (more.len()) @if more.len() == 1 { " more pair" } @else { " more pairs" } }
                @for pair in more { (pair) }
            }
        }
    })
}

/// Two units with similar atoms, side by side.
fn pair(context: &Context<'_>, units: &Units, (i, j, cosine): (usize, usize, f64)) -> Result<Markup> {
    Ok(html! {
        div.pairs-alike {
            p.caption { "Units " (i) " and " (j) ": cosine " (fixed(cosine, 3)) "." }
            div.units { (card(context, units, None, i)?) (card(context, units, None, j)?) }
        }
    })
}
