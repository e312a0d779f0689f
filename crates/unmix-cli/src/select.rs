//! `unmix select`: number of components by every rule; for methods with a likelihood, a table over the number.

use crate::args::Select;
use crate::failure::{Done, Failure, in_shell};
use crate::fit::{self, typed_settings};
use crate::progress::Progress;
use crate::terminal::{self, FAINT, TITLE, TYPED, paint};
use crate::{input, names};
use serde_json::Value;
use std::path::Path;
use unmix::internal::error::counted;
use unmix::method::{Method, find, with_methods};
use unmix::select::{
    Criterion, SizeRequest, SizeRule, Sizes, Table, check_sizes, compare_sizes, select_components,
};
use unmix::{Run, with_rows};

/// Maximum number of variances that are drawn.
const MOST_DRAWN_VARIANCES: usize = 12;
/// Maximum length of a bar in characters.
const BAR_CHARACTERS: usize = 40;

/// Prints the results of the rules.
pub(crate) fn select(args: &Select) -> Done {
    let method = find(&args.method).map_err(|e| Failure::Usage(e.to_string()))?;
    match method.select_by_variances {
        true => of_variances(args),
        false => of_sizes(args, method),
    }
}

/// Rules based on variances.
fn of_variances(args: &Select) -> Done {
    if !args.set.is_empty() || args.max_components.is_some() || args.max_seconds.is_some() {
        return Err(Failure::Usage(
            "--set, --max-components and --max-seconds are for methods with a likelihood; give --method, as in --method ppca".into(),
        ));
    }
    let rules = Criterion::parse(&args.rules).map_err(|e| Failure::Usage(e.to_string()))?;
    let files = args.input.files(&args.reading)?;
    let progress = Progress::new(&args.running);
    let run = Run { seed: args.seed, ..progress.run(&args.running) };
    let mut input = unmix_io::open_many(&files, &args.reading.options()?, &run)?;
    input.rows = names::given(input.rows, args.reading.given_names()?)?;
    if !args.running.quiet {
        input::tell(&input.rows);
    }
    let table = with_rows!(&mut input.rows, rows => select_components(rows, &rules, &run))?;
    progress.clear();
    if args.json {
        return json(args, table.to_json());
    }
    table.warnings.iter().for_each(|w| terminal::warning(w));
    let rules = [Criterion::Minka, Criterion::Bic].map(|rule| table.get(rule));
    let next = next(args, &candidates(rules, table.suggested()));
    terminal::text(&format!("{}{next}", text(input.rows.origin(), &table)))
}

/// A number of rows, which weights may make a fraction.
fn rows_of(n: f64) -> String {
    if n == 1.0 { "1 row".into() } else { format!("{n} rows") }
}

/// A table over the number of components.
fn of_sizes(args: &Select, method: &'static Method) -> Done {
    let usage = |e: unmix::Error| Failure::Usage(in_shell(&with_methods(e)));
    let rules = SizeRule::parse(method, &args.rules).map_err(usage)?;
    let settings = typed_settings(&args.set)?;
    let request = SizeRequest::new(&settings, &rules, args.max_components);
    check_sizes(method, &request).map_err(usage)?;
    let files = args.input.files(&args.reading)?;
    let progress = Progress::new(&args.running);
    let run = Run { seed: args.seed, max_seconds: args.max_seconds, ..progress.run(&args.running) };
    let mut input = unmix_io::open_many(&files, &args.reading.options()?, &run)?;
    input.rows = names::given(input.rows, args.reading.given_names()?)?;
    if !args.running.quiet {
        input::tell(&input.rows);
    }
    let table = compare_sizes(method, &mut input.rows, &request, &run)?;
    progress.clear();
    if args.json {
        return json(args, table.to_json());
    }
    table.warnings.iter().for_each(|w| terminal::warning(w));
    let rules = [SizeRule::Bic, SizeRule::Cells].map(|rule| table.get(rule));
    let next = next(args, &candidates(rules, table.suggested()));
    terminal::text(&format!("{}{next}", sizes(input.rows.origin(), &table)))
}

fn json(args: &Select, mut json: Value) -> Done {
    if let Value::Object(map) = &mut json {
        let given = args.input.paths.iter().map(|path| path.display().to_string());
        map.insert("input".into(), given.collect());
    }
    terminal::json(&json)
}

/// A line for each number of components, of at most 80 characters; a star marks the value that a rule chooses.
fn sizes(origin: &str, table: &Sizes) -> String {
    let about = format!("{}, {}; {}", rows_of(table.n), counted(table.p as u64, "column"), table.method);
    let mut out = format!("{}\n  {about}\n\n", paint(TITLE, origin));
    let head = format!("  {:>4}  {:>15}  {:>15} {:>16} ", "k", "log-likelihood", "aic", "bic");
    let cells = if table.rules.contains(&SizeRule::Cells) { "    held-out cells" } else { "" };
    out += &paint(FAINT, format!("{}\n", format!("{head}{cells}").trim_end()));
    let star = |rule: SizeRule, k: usize| if table.get(rule) == Some(k) { "*" } else { " " };
    for line in &table.lines {
        let k = line.k;
        let mark = if line.excluded.is_some() { "x" } else { " " };
        let mut text = format!("  {k:>4}{mark} {:>15.2}  {:>15.2}", line.log_likelihood, line.aic);
        text += star(SizeRule::Aic, k);
        text += &format!(" {:>15.2}{}", line.bic, star(SizeRule::Bic, k));
        if let Some(cells) = line.cells {
            text +=
                &format!("  {:>8.4} ({:.4}){}", cells.mean, cells.standard_error, star(SizeRule::Cells, k));
        }
        out += &format!("{}\n", text.trim_end());
    }
    out += "\n";
    let width = table.rules.iter().map(|rule| rule.to_string().len()).max().unwrap_or(0).max(5);
    for rule in &table.rules {
        let k = table.get(*rule).map_or(String::new(), |k| k.to_string());
        out += &format!("  {:width$}  {k:>4}  {}\n", rule.to_string(), rule.estimates());
    }
    if !cells.is_empty() {
        out += &paint(FAINT, "  held-out cells: mean log density of a cell (its standard error)\n");
    }
    if table.lines.iter().any(|line| line.excluded.is_some()) {
        out += &paint(FAINT, "  x: selected by no rule; the warning gives the reason\n");
    }
    out
}

/// A table of at most 80 characters per line.
fn text(origin: &str, table: &Table) -> String {
    let s = &table.spectrum;
    let about = format!("{}, {}; rank {}", rows_of(s.n), counted(s.p as u64, "column"), s.rank);
    let names: Vec<String> = table.choices.iter().map(|c| c.rule.to_string()).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0).max(4);
    let mut out = format!("{}\n  {about}\n\n", paint(TITLE, origin));
    out += &paint(FAINT, format!("  {:width$}  {:>4}  what it estimates\n", "rule", "k"));
    for (name, choice) in names.iter().zip(&table.choices) {
        out += &format!("  {name:width$}  {:>4}  {}\n", choice.k, choice.rule.estimates());
    }
    out + &spectrum(table)
}

/// The first variances as bars, without marks of the rules, so that the shape of the spectrum is visible.
fn spectrum(table: &Table) -> String {
    let s = &table.spectrum;
    let mut out = format!("\n{}\n", paint(TITLE, "Share of the variance"));
    let mut sum = 0.0;
    for (i, value) in s.values.iter().take(MOST_DRAWN_VARIANCES).enumerate() {
        let share = value / s.total;
        sum += share;
        let bar = "#".repeat((value / s.values[0] * BAR_CHARACTERS as f64).round() as usize);
        out += &format!(
            "  {:>4}  {bar:BAR_CHARACTERS$}  {:>6.2} %  {:>6.2} %\n",
            i + 1,
            100.0 * share,
            100.0 * sum
        );
    }
    if s.values.len() > MOST_DRAWN_VARIANCES {
        out += &paint(
            FAINT,
            format!("  ... {} more (all of them with --json)\n", s.values.len() - MOST_DRAWN_VARIANCES),
        );
    }
    out
}

/// Numbers of components to fit next: the suggested one, or both of two rules that differ by more than 1, of which a warning states that the
/// data do not determine the number.
fn candidates(rules: [Option<usize>; 2], suggested: Option<usize>) -> Vec<usize> {
    match rules {
        [Some(a), Some(b)] if a.abs_diff(b) > 1 => vec![a.min(b), a.max(b)],
        _ => suggested.into_iter().collect(),
    }
}

/// Suggested next commands: a fit of each number of components, to models of different names.
fn next(args: &Select, numbers: &[usize]) -> String {
    let command = |k: &usize| {
        let mut words = vec!["unmix".to_string(), "fit".into(), args.method.clone()];
        words.extend(args.input.paths.iter().map(|path| terminal::path_argument(path)));
        words.extend(args.reading.arguments());
        words.extend(["-k".into(), k.to_string()]);
        words.extend(args.set.iter().flat_map(|(key, value)| ["--set".into(), setting(key, value)]));
        if numbers.len() > 1 {
            let stem = args.input.paths.first().map_or_else(String::new, |path| fit::stem(path));
            let model = format!("{stem}.{}-{k}.safetensors", args.method);
            words.extend(["-o".into(), terminal::path_argument(Path::new(&model))]);
        }
        format!("  {}\n", paint(TYPED, terminal::command(&words)))
    };
    match numbers {
        [] => String::new(),
        _ => format!("\n{}\n{}", paint(TITLE, "Next"), numbers.iter().map(command).collect::<String>()),
    }
}

/// A setting in the syntax of the command line.
fn setting(key: &str, value: &Value) -> String {
    format!("{key}={}", value.as_str().map_or_else(|| value.to_string(), str::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;
    use unmix::Rows;
    use unmix::datasets::low_rank_plus_noise;

    #[test]
    fn the_table_fits_a_terminal_of_80_columns() {
        let made = low_rank_plus_noise(300, 15, 3, 3.0, 1);
        let mut rows = Rows::from_slice(made.x.as_slice(), 15).unwrap();
        let mut rules = Criterion::cheap();
        rules.extend([Criterion::Parallel, Criterion::Cv]);
        let table = select_components(&mut rows, &rules, &Run::default()).unwrap();
        let shown = text("made.npy", &table);
        let plain = anstream::adapter::strip_str(&shown).to_string();
        assert!(plain.lines().all(|l| l.chars().count() <= 80), "{plain}");
        assert!(plain.contains("  minka              3  rank of"), "{plain}");
        assert!(plain.contains("... 3 more"), "{plain}");
    }

    #[test]
    fn the_number_that_most_rules_give_is_suggested() {
        let made = low_rank_plus_noise(300, 15, 3, 3.0, 1);
        let mut rows = Rows::from_slice(made.x.as_slice(), 15).unwrap();
        let mut table = select_components(&mut rows, &Criterion::cheap(), &Run::default()).unwrap();
        let rules = ["minka", "bic", "gavish-donoho", "gap", "gap-difference"];
        let mut suggested = |each: [usize; 5], share: usize| {
            for choice in &mut table.choices {
                let place = rules.iter().position(|rule| choice.rule.to_string() == *rule);
                choice.k = place.map_or(share, |i| each[i]);
            }
            table.suggested()
        };
        assert_eq!(suggested([10, 3, 3, 3, 1], 10), Some(3));
        assert_eq!(suggested([10, 3, 3, 10, 1], 7), Some(10), "of two numbers with equal support, Minka's");
        assert_eq!(suggested([10, 4, 4, 2, 2], 2), Some(4), "shares do not count");
        assert_eq!(suggested([5, 4, 3, 2, 1], 6), Some(5));
    }

    #[test]
    fn the_table_over_k_fits_a_terminal_of_80_columns() {
        let made = low_rank_plus_noise(300, 15, 3, 3e4, 1);
        let mut rows = unmix::AnyRows::from(Rows::from_slice(made.x.as_slice(), 15).unwrap());
        let settings = serde_json::Map::new();
        let request = SizeRequest::new(&settings, &SizeRule::ALL, Some(5));
        let table = compare_sizes(find("ppca").unwrap(), &mut rows, &request, &Run::default()).unwrap();
        let plain = anstream::adapter::strip_str(&sizes("made.npy", &table)).to_string();
        assert!(plain.lines().all(|l| l.chars().count() <= 80), "{plain}");
        assert!(plain.contains("\n  cells     3  best"), "{plain}");
        let line = plain.lines().find(|l| l.starts_with("     3  ")).unwrap();
        assert!(line.ends_with(")*") && line.matches('*').count() >= 2, "{plain}");
        assert!(!plain.contains("x: selected"), "{plain}");
        // A number of components with an unbounded likelihood is marked.
        let mut table = table;
        table.lines[4].excluded = Some("its likelihood is unbounded");
        let plain = anstream::adapter::strip_str(&sizes("made.npy", &table)).to_string();
        let marked: Vec<&str> = plain.lines().filter(|l| l.contains("x  ")).map(str::trim_start).collect();
        assert!(marked.len() == 1 && marked[0].starts_with("4x"), "{plain}");
        assert!(
            plain.lines().all(|l| l.chars().count() <= 80) && plain.contains("x: selected by no rule"),
            "{plain}"
        );
    }
}
