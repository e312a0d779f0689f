//! The page: one HTML file without network access and scripts.

mod affinities;
mod clusters;
mod codes;
mod components;
mod factors;
mod gaps;
mod head;
mod layers;
mod model_comparison;
mod modules;
mod objective;
mod rows;
mod settings;
mod sources;
mod stability;
mod stack;
mod truth;
mod units;
mod variance;

use crate::Options;
use crate::description::Spectrum;
use crate::modules::{self as found, ShownModules};
use crate::sample::Sample;
use crate::units::Units;
use crate::window::Window;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use unmix::internal::error::counted;
use unmix::{AnyRows, Error, Model, Result, Run, with_rows};

/// The inputs of all sections.
struct Context<'a> {
    model: &'a Model,
    options: &'a Options,
    spectrum: Spectrum,
    /// Some of the rows, where rows were given.
    sample: Option<Sample>,
    /// Consecutive rows, where these are informative.
    window: Option<Window>,
    /// Units of an overcomplete code, of sparse autoencoders and of models that state how often each is active.
    units: Option<Units>,
    /// Modules, of models whose units are modules.
    modules: Option<ShownModules>,
    /// The name of the input.
    input: Option<String>,
    /// Whether the order of the columns is meaningful, so that vectors over them are curves.
    in_order: bool,
}

impl Context<'_> {
    /// The name of row `i`, where rows have names.
    fn row_name(&self, i: u64) -> Option<&str> {
        self.options.row_names.as_ref()?.get(i as usize).map(String::as_str)
    }

    /// The name of row `i` at the beginning of a sentence.
    fn row_called(&self, i: u64) -> String {
        self.row_name(i).map_or_else(|| format!("Row {i}"), Into::into)
    }
}

/// One self-contained HTML page about a model, and its codes and reconstructions of rows.
///
/// `rows` may be the rows of the fit or others of the same `n_features`; of them, at most 5000 are read at a fixed stride, a block
/// at a time. Without rows the page has no codes and no reconstructions, and explains how to get them. Everything that comes from
/// data (names, labels, paths) is shown as text.
///
/// # Errors
///
/// [`Error::Width`] where rows, `options.truth`, `options.positions` or the model beside do not have the model's `n_features`;
/// [`Error::Unsupported`] where there is not one label or one name a row, or the model beside has other columns, or a
/// pair is not of two components of the model; [`Error::NotFinite`] with row and column; what the source of the rows reports;
/// [`Error::Interrupted`].
pub fn page(model: &Model, rows: Option<&AnyRows<'_>>, options: &Options, run: &Run<'_>) -> Result<String> {
    let other = options.beside.as_ref().map(|(_, other)| other);
    model_comparison::check(model, other)?;
    sources::check(model, options)?;
    rows::check(model, options)?;
    let cells = rows.and_then(|rows| cells_of(model, rows));
    let rows = cells.as_ref().or(rows);
    let sample = match rows {
        Some(rows) => {
            // Codes that are mostly 0 are hardly correlated: components are then paired by their directions.
            let coded = other.filter(|other| !model_comparison::by_directions(model, other));
            Some(with_rows!(rows, rows => Sample::of(model, coded, &options.pairs, rows, run))?)
        }
        None => None,
    };
    let window = match rows {
        Some(rows) if sources::wanted(model, options) => {
            with_rows!(rows, rows => Window::of(model, rows, options.rate, run))?
        }
        _ => None,
    };
    if let (Some(sample), Some((name, labels))) = (&sample, &options.labels)
        && labels.len() as u64 != sample.n_rows
    {
        return Err(Error::unsupported(
            format!("colouring points by '{name}'"),
            format!("it has {} for {}", counted(labels.len() as u64, "value"), counted(sample.n_rows, "row")),
            "give one label for each row",
        )
        .with_numbers(sample.n_rows as usize, labels.len()));
    }
    if let (Some(sample), Some(names)) = (&sample, &options.row_names)
        && names.len() as u64 != sample.n_rows
    {
        return Err(Error::unsupported(
            "naming the rows",
            format!("{} given for {}", counted(names.len() as u64, "name"), counted(sample.n_rows, "row")),
            "give one name for each row",
        )
        .with_numbers(sample.n_rows as usize, names.len()));
    }
    let units = match rows {
        Some(rows) => crate::units::of(model, rows, run)?,
        None => None,
    };
    let modules = match (rows, &sample) {
        (Some(rows), Some(sample)) => {
            found::shown(model, rows, options.modules.as_ref(), &sample.spread, run)?
        }
        _ => None,
    };
    let input = options.input_name.clone().or_else(|| rows.map(|r| r.origin().to_string()));
    let (spectrum, in_order) = (Spectrum::of(model), components::in_order(model));
    let context = Context { model, options, spectrum, sample, window, units, modules, input, in_order };
    Ok(document(&context, run)?.into_string())
}

/// Sparse rows of a model whose observed cells are the stored entries: all other cells are then missing, not 0.
fn cells_of<'r>(model: &Model, rows: &'r AnyRows<'_>) -> Option<AnyRows<'r>> {
    if !model.code().codes().stored {
        return None;
    }
    match rows {
        AnyRows::F32(rows) => rows.as_cells().map(AnyRows::F32),
        AnyRows::F64(rows) => rows.as_cells().map(AnyRows::F64),
    }
}

/// Nothing may be fetched or executed, whatever the data contain.
const POLICY: &str = "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'";

fn document(context: &Context<'_>, run: &Run<'_>) -> Result<Markup> {
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (head::title(context)) }
                link rel="icon" href="data:,";
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                main {
                    (head::header(context))
                    (components::section(context)?)
                    (factors::of_factors(context))
                    (sources::section(context))
                    (truth::section(context)?)
                    (model_comparison::section(context)?)
                    (variance::section(context))
                    (stability::section(context))
                    (layers::of_network(context))
                    (stack::of_layers(context)?)
                    (codes::of_sparse(context)?)
                    (units::of_code(context)?)
                    (modules::of_units(context)?)
                    (gaps::map(context)?)
                    (rows::scores(context))
                    (rows::reconstructions(context)?)
                    (affinities::section(context, run)?)
                    (settings::fit(context))
                    (settings::reproduce(context))
                }
                footer { "Made by unmix " (env!("CARGO_PKG_VERSION")) ". Everything on this page is inside this file." }
            }
        }
    })
}

/// A section with its heading.
fn section(id: &str, heading: &str, content: Markup) -> Markup {
    html! { section id=(id) { h2 { (heading) } (content) } }
}

/// "Components 10 to 24", or "Component 10", up to the one before `end`.
fn range_of_components(first: usize, end: usize) -> String {
    if first + 1 == end { format!("Component {first}") } else { format!("Components {first} to {}", end - 1) }
}

/// "8 of 50", or "50" when that is all.
fn of_all(shown: usize, all: usize) -> String {
    if shown < all { format!("{shown} of {all}") } else { format!("{all}") }
}
