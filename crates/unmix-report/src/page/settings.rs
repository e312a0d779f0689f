//! Settings, properties of the run, and how to reproduce the page.

use super::{Context, section};
use crate::description;
use crate::number::{count, date, json, number, seconds, unbroken};
use maud::{Markup, html};
use unmix::{Model, Outcome};

/// Settings as given and as resolved, and what the run was like.
pub(super) fn fit(context: &Context<'_>) -> Markup {
    let (model, report) = (context.model, context.model.report());
    let docs =
        |name: &str| model.method().settings.iter().find(|s| s.name == name).map(|s| s.doc).unwrap_or("");
    let resolved = |name: &str| report.settings.get(name).map(|v| shortened(json(v))).unwrap_or_default();
    super::section(
        "fit",
        "How it was fitted",
        html! {
            (super::objective::curve(model))
            div.columns {
                div.scroll {
                    table {
                        thead { tr { th scope="col" { "setting" } th scope="col" { "given" } th scope="col" { "resolved" } } }
                        tbody {
                            @for (name, value) in model.settings() {
                                tr { th scope="row" title=(docs(name)) { code { (name) } } td { (shortened(json(value))) } td { (resolved(name)) } }
                            }
                        }
                    }
                }
                div.scroll {
                    table {
                        thead { tr { th scope="col" { "property" } th scope="col" { "value" } } }
                        tbody { @for (name, value) in run_properties(context) { tr { th scope="row" { (name) } td { (value) } } } }
                    }
                }
            }
        },
    )
}

fn run_properties(context: &Context<'_>) -> Vec<(&'static str, String)> {
    let (model, report) = (context.model, context.model.report());
    let run = &report.run;
    let divisor = if model.ddof() == 0 { "n".to_string() } else { format!("n - {}", model.ddof()) };
    let optional = [
        report.residual.map(|r| ("residual", number(r))),
        report.tol.map(|t| ("tolerance", number(t))),
        (run.threads > 0).then(|| ("time", seconds(run.seconds))),
        (run.threads > 0).then(|| ("threads", run.threads.to_string())),
        (run.time > 0).then(|| ("ended", date(run.time))),
        context.input.clone().map(|name| rows_of(context, name)),
        context.options.model_name.clone().map(|name| ("model file", name)),
    ];
    let always = [
        ("outcome", unbroken(&description::outcome(model))),
        ("solver", report.solver.clone()),
        (model.counted().word(2), count(report.n_iter)),
        ("full passes over the data", count(report.sweeps)),
        ("type", report.dtype.name().to_string()),
        ("divisor of variances", divisor),
        ("seed", report.seed.to_string()),
        ("processor", report.processor.clone()),
    ];
    always.into_iter().chain(optional.into_iter().flatten()).collect()
}

/// The property that names the input: of rows other than those of the fit, with how many of them are shown.
fn rows_of(context: &Context<'_>, input: String) -> (&'static str, String) {
    match &context.sample {
        Some(sample) if super::head::data_of_fit(context).is_some() => {
            ("rows shown", format!("{} of {input}", count(sample.index.len() as u64)))
        }
        _ => ("input", input),
    }
}

/// What it takes to make the page and the model again: the commands or calls that were run, and what the model records of its fit where it
/// was made before these were recorded. None is composed from its settings, which lack those options of the command that are not settings.
pub(super) fn reproduce(context: &Context<'_>) -> Markup {
    let commands = &context.options.reproduce;
    let fitted = context.model.report().run.invocation.as_deref();
    let recorded = [
        ("method", context.model.method().key.to_string()),
        ("settings", changed_settings(context.model)),
        ("seed", context.model.report().seed.to_string()),
        ("rows of the fit", description::rows(context.model)),
        ("columns", count(context.model.n_features() as u64)),
    ];
    section(
        "reproduce",
        "Reproduce this page",
        html! {
            @if let Some(fitted) = fitted {
                p.caption { "The model was fitted by:" }
                pre { code { (fitted) } }
            } @else {
                p.caption {
                    "The model does not record the command that fitted it, so the source of its rows, columns and weights is \
                     unknown. It records:"
                }
                dl.recorded { @for (name, value) in recorded { div { dt { (name) } dd { (value) } } } }
            }
            @if commands.iter().any(|command| fitted != Some(command)) {
                p.caption { "The page was made by:" }
                pre { code { (commands.join("\n")) } }
            }
            p.caption { (promise(context.model)) }
        },
    )
}

/// Settings that are not at their defaults, as they would be typed.
fn changed_settings(model: &Model) -> String {
    let given = model.method().settings.iter().filter_map(|setting| {
        let value = model.settings().get(setting.name).filter(|v| **v != setting.default_value())?;
        Some(format!("{}={}", setting.name, brief(value)))
    });
    let given: Vec<String> = given.collect();
    if given.is_empty() { "all at their defaults".into() } else { given.join(", ") }
}

/// A value as it would be typed.
fn brief(value: &serde_json::Value) -> String {
    shortened(value.as_str().map_or_else(|| value.to_string(), str::to_string))
}

/// A start or a list of widths may be thousands of numbers.
fn shortened(text: String) -> String {
    const MOST_CHARACTERS: usize = 60;
    match text.chars().count() > MOST_CHARACTERS {
        true => text.chars().take(MOST_CHARACTERS - 1).chain(['\u{2026}']).collect(),
        false => text,
    }
}

/// Under which conditions a second fit gives the same numbers.
fn promise(model: &Model) -> String {
    let report = model.report();
    if report.outcome.is_early() {
        let by = if report.outcome == Outcome::Time { "The time limit" } else { "An interruption" };
        return format!(
            "{by} ended the fit: another fit of the same rows may end after fewer or more {}, with other numbers.",
            model.counted().word(2)
        );
    }
    if model.sums().is_some() {
        return "The model was computed from sums over the rows. Where these were added batch by batch or merged from parts, a fit of all rows \
                at once may differ by rounding."
            .into();
    }
    let weights = if description::weights(model).is_some() { " and weights" } else { "" };
    let start = match report.settings.get("w_init") {
        Some(given) if given == "given" => ", the same start (w_init, which is not recorded)",
        _ if report.run.initial_model => ", the same initial model",
        _ => "",
    };
    format!(
        "The same rows{weights}, settings and seed{start} give the same numbers to the bit, for any number of threads, within one version of \
         unmix and one kind of processor ({}).",
        report.processor
    )
}

fn input(context: &Context<'_>) -> String {
    context.options.input_name.as_deref().map_or("INPUT".into(), quoted)
}

fn model_file(context: &Context<'_>) -> String {
    context.options.model_name.as_deref().map_or("MODEL".into(), quoted)
}

/// What makes such a page with rows.
pub(super) fn report_command(context: &Context<'_>) -> String {
    crate::caller::report(context.options.caller, &model_file(context), &input(context))
}

/// As a shell takes it for one word.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("data/x-1.npy"), "data/x-1.npy");
        assert_eq!(quoted("my file's.csv"), r"'my file'\''s.csv'");
        assert_eq!(quoted("$(rm)"), "'$(rm)'");
    }
}
