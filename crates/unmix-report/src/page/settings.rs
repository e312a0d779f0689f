//! Settings, facts of the run, and how to make it all again.

use super::{Context, section};
use crate::facts;
use crate::figure;
use crate::number::{count, date, json, number, seconds};
use maud::{Markup, html};

/// Settings as given and as resolved, and what the run was like.
pub(super) fn fit(context: &Context<'_>) -> Markup {
    let (model, report) = (context.model, context.model.report());
    let docs =
        |name: &str| model.method().settings.iter().find(|s| s.name == name).map(|s| s.doc).unwrap_or("");
    let resolved = |name: &str| report.settings.get(name).map(json).unwrap_or_default();
    super::section(
        "fit",
        "How it was fitted",
        html! {
            @if report.objective.len() > 1 {
                div.panels { figure { figcaption { b { "objective" } } (figure::objective(&report.objective)) } }
            }
            div.columns {
                div.scroll {
                    table {
                        thead { tr { th scope="col" { "setting" } th scope="col" { "given" } th scope="col" { "resolved" } } }
                        tbody {
                            @for (name, value) in model.settings() {
                                tr { th scope="row" title=(docs(name)) { code { (name) } } td { (json(value)) } td { (resolved(name)) } }
                            }
                        }
                    }
                }
                div.scroll {
                    table {
                        thead { tr { th scope="col" { "fact" } th scope="col" { "value" } } }
                        tbody { @for (name, value) in run_facts(context) { tr { th scope="row" { (name) } td { (value) } } } }
                    }
                }
            }
        },
    )
}

fn run_facts(context: &Context<'_>) -> Vec<(&'static str, String)> {
    let (model, report) = (context.model, context.model.report());
    let run = &report.run;
    let divisor = if model.ddof() == 0 { "n".to_string() } else { format!("n - {}", model.ddof()) };
    let optional = [
        report.residual.map(|r| ("residual", number(r))),
        report.tol.map(|t| ("tolerance", number(t))),
        (run.threads > 0).then(|| ("time", seconds(run.seconds))),
        (run.threads > 0).then(|| ("threads", run.threads.to_string())),
        (run.time > 0).then(|| ("ended", date(run.time))),
        context.input.clone().map(|name| ("input", name)),
        context.options.model_name.clone().map(|name| ("model file", name)),
    ];
    let always = [
        ("outcome", facts::outcome(model)),
        ("solver", report.solver.clone()),
        ("iterations", count(report.n_iter)),
        ("passes over the rows", count(report.sweeps)),
        ("type", report.dtype.name().to_string()),
        ("divisor of variances", divisor),
        ("seed", report.seed.to_string()),
        ("processor", report.processor.clone()),
    ];
    always.into_iter().chain(optional.into_iter().flatten()).collect()
}

/// Commands that make the model and the page again.
pub(super) fn reproduce(context: &Context<'_>) -> Markup {
    let lines = match context.options.reproduce.is_empty() {
        false => context.options.reproduce.clone(),
        true => vec![fit_command(context), report_command(context)],
    };
    section(
        "reproduce",
        "How to make it again",
        html! {
            p.caption {
                "The same rows, settings and seed give the same numbers to the bit, for any number of threads, within one version of unmix \
                 and one kind of processor (" (context.model.report().processor) ")."
            }
            pre { code { (lines.join("\n")) } }
        },
    )
}

fn input(context: &Context<'_>) -> String {
    context.options.input_name.as_deref().map_or("INPUT".into(), quoted)
}

fn model_file(context: &Context<'_>) -> String {
    context.options.model_name.as_deref().map_or("MODEL".into(), quoted)
}

fn fit_command(context: &Context<'_>) -> String {
    let (model, method) = (context.model, context.model.method());
    let mut command = format!("unmix fit {} {}", method.key, input(context));
    for setting in method.settings.iter().filter(|s| !s.python_only) {
        let Some(value) = model.settings().get(setting.name).filter(|v| **v != setting.default_value())
        else {
            continue;
        };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        match setting.name {
            "n_components" => command += &format!(" -k {}", quoted(&text)),
            name => command += &format!(" --set {}", quoted(&format!("{name}={text}"))),
        }
    }
    if model.report().seed != 0 {
        command += &format!(" --seed {}", model.report().seed);
    }
    command + &format!(" -o {}", model_file(context))
}

/// The command that makes this page.
pub(super) fn report_command(context: &Context<'_>) -> String {
    format!("unmix report {} {} -o report.html", model_file(context), input(context))
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
    fn a_shell_sees_one_word() {
        assert_eq!(quoted("data/x-1.npy"), "data/x-1.npy");
        assert_eq!(quoted("my file's.csv"), r"'my file'\''s.csv'");
        assert_eq!(quoted("$(rm)"), "'$(rm)'");
    }
}
