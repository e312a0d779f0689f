//! The head of the page: method, data and outcome of the fit.

use super::Context;
use crate::description;
use crate::number::{count, counted, percent, unbroken};
use maud::{Markup, html};
use unmix::Model;

pub(super) fn title(context: &Context<'_>) -> String {
    let class = context.model.method().class;
    let data = data_of_fit(context).or_else(|| context.input.clone());
    match (context.options.title.clone().or_else(|| title_of_fit(context.model)), data) {
        (Some(title), _) => title,
        // Of paths, the files.
        (None, Some(data)) => {
            let files: Vec<&str> = data.split(' ').map(file_name).collect();
            match files[..] {
                [first, _, ..] if files.len() > 2 => {
                    format!("{class} of {first} and {} more", files.len() - 1)
                }
                _ => format!("{class} of {}", files.join(" ")),
            }
        }
        (None, None) => format!("{class} model"),
    }
}

/// The files that the model was fitted to, if its command names them and the page is about rows of other files.
pub(super) fn data_of_fit(context: &Context<'_>) -> Option<String> {
    let (fitted, shown) = (fitted_to(context.model)?, context.input.as_deref()?);
    let same = fitted.split(' ').map(file_name).eq(shown.split(' ').map(file_name));
    (!same).then_some(fitted)
}

/// The files that the model was fitted to, where its command has them, without quotes, directly after the method.
fn fitted_to(model: &Model) -> Option<String> {
    let words = model.report().run.invocation.as_deref()?.strip_prefix("unmix fit ")?;
    let paths = words.strip_prefix(model.method().key)?.strip_prefix(' ')?;
    let paths: Vec<&str> = paths.split(' ').take_while(|word| !word.starts_with('-')).collect();
    let quoted = paths.iter().any(|path| path.contains(['\'', '"']));
    (!paths.is_empty() && !quoted).then(|| paths.join(" "))
}

/// The title that was given to the fit: the command in the model has it.
fn title_of_fit(model: &Model) -> Option<String> {
    let words = words(model.report().run.invocation.as_deref()?.strip_prefix("unmix fit ")?);
    let at = words.iter().position(|word| word == "--title" || word.starts_with("--title="))?;
    words[at].strip_prefix("--title=").map(Into::into).or_else(|| words.get(at + 1).cloned())
}

/// The words of a command, which are plain or in single quotes, with `\'` between quotes for a quote.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (vec![], String::new(), false);
    let mut characters = command.chars();
    while let Some(c) = characters.next() {
        match c {
            '\'' => quoted = !quoted,
            '\\' if !quoted => word.extend(characters.next()),
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

fn file_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

pub(super) fn header(context: &Context<'_>) -> Markup {
    let (model, report) = (context.model, context.model.report());
    let nothing = nothing_kept(context);
    let warned = !report.outcome.is_success() || nothing.is_some();
    let rank = report.rank.map(|r| count(r as u64));
    let properties: Vec<(&str, String)> = [
        Some(("rows", description::n_rows(model))),
        description::weights(model).map(|sum| ("sum of weights", sum)),
        Some(("columns", count(report.n_features as u64))),
        Some((description::units(model), count(context.spectrum.k as u64))),
        context.spectrum.kept().map(|k| ("variance kept", percent(k))),
        rank.map(|r| ("rank", r)),
        (report.n_constant > 0).then(|| ("constant columns", count(report.n_constant as u64))),
    ]
    .into_iter()
    .flatten()
    .collect();
    html! {
        header {
            p.eyebrow { (model.method().class) ": " (model.method().summary) }
            h1 { (title(context)) }
            p.lede { (sentence(context)) }
            dl.properties {
                @for (name, value) in properties { div { dt { (name) } dd { (value) } } }
            }
            ul.notes {
                li class=(if warned { "warn" } else { "good" }) {
                    @if description::is_imported(model) { "The parameters were imported, not fitted: " }
                    @else { "The fit " (ending(model)) "; solver " }
                    code { (report.solver) } ", " (report.dtype.name())
                    @if let Some(effort) = description::effort(model) { ", " (effort) }
                    "."
                }
                @if let Some(line) = crate::quality::line(model) { li { (capitalised(&line)) "." } }
                @if let Some(nothing) = nothing { li.warn { (nothing) } }
                @for warning in &report.warnings { li.warn { (capitalised(&context.options.caller.message(warning))) "." } }
                @if let Some(left) = context.sample.as_ref().and_then(|s| s.unsolved.as_ref()) {
                    li.warn { "Among the rows of this page, " (left.to_string()) "." }
                }
            }
        }
    }
}

/// Share of the variance below which a model is reported to explain none: rounding errors may be as large.
const NEGLIGIBLE_SHARE: f64 = 1e-6;

/// The text about a model that explains none of the variance of the rows.
fn nothing_kept(context: &Context<'_>) -> Option<&'static str> {
    match &context.sample {
        _ if context.spectrum.k == 0 => Some(match description::mean(context.model) {
            Some(_) => "The model has no components: every row is reconstructed as the mean.",
            None => "The model has no components: every row is reconstructed as 0.",
        }),
        Some(sample) if sample.kept.is_some_and(|kept| kept < NEGLIGIBLE_SHARE) => {
            Some("The model explains none of the variance of these rows.")
        }
        _ => None,
    }
}

/// The main result: the number of components and the share of the variance that they keep.
fn sentence(context: &Context<'_>) -> Markup {
    let (report, spectrum) = (context.model.report(), &context.spectrum);
    let rows = description::rows(context.model);
    let columns = counted(report.n_features as u64, "column");
    html! {
        strong { (description::components(context.model)) }
        @if let Some(kept) = spectrum.kept() {
            @if spectrum.k == 1 { " keeps " } @else { " keep " }
            strong { (percent(kept)) } " of the variance of " (rows) " with " (columns) "."
        } @else {
            " of " (rows) " with " (columns) "."
        }
    }
}

fn ending(model: &Model) -> String {
    let outcome = unbroken(&description::outcome(model));
    match model.report().outcome.is_success() {
        true => outcome,
        false => outcome.replacen("not converged", "did not converge", 1),
    }
}

/// A sentence with a capital at the beginning, unless it begins with the name of a file, a setting or a method.
fn capitalised(sentence: &str) -> String {
    let first = sentence.split_whitespace().next().unwrap_or_default();
    let is_word = first.trim_end_matches([',', ':', ';']).chars().all(|c| c.is_alphabetic() || c == '-');
    if !is_word {
        return sentence.into();
    }
    let mut letters = sentence.chars();
    letters.next().map(|c| c.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn commands_are_split_as_a_shell_does() {
        assert_eq!(words("pca d.csv -k 2"), ["pca", "d.csv", "-k", "2"]);
        assert_eq!(
            words(r#"'my data.csv' --title 'it'\''s \ "x"' ''"#),
            ["my data.csv", "--title", r#"it's \ "x""#, ""]
        );
    }
}
