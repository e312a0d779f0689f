//! `unmix select`: number of components, by every rule.

use crate::args::Select;
use crate::failure::{Done, Failure};
use crate::input;
use crate::progress::Progress;
use crate::terminal::{self, FAINT, TITLE, TYPED, paint};
use serde_json::Value;
use unmix::select::{Criterion, Table, select_components};
use unmix::{Run, with_rows};

/// Variances that are drawn.
const DRAWN: usize = 12;
/// Characters of the longest bar.
const BAR: usize = 40;

/// Shows the results of the rules.
pub(crate) fn select(args: &Select) -> Done {
    let rules = Criterion::parse(&args.rules).map_err(|e| Failure::Usage(e.to_string()))?;
    let files = args.input.files()?;
    let progress = Progress::new(&args.running);
    let run = Run { seed: args.seed, ..progress.run(&args.running) };
    let mut input = unmix_io::open_many(&files, &args.reading.options()?, &run)?;
    if !args.running.quiet {
        input::tell(&input.rows);
    }
    let table = with_rows!(&mut input.rows, rows => select_components(rows, &rules, &run))?;
    progress.clear();
    if args.json {
        let mut json = table.to_json();
        if let Value::Object(map) = &mut json {
            let typed = args.input.paths.iter().map(|path| path.display().to_string());
            map.insert("input".into(), typed.collect());
        }
        return terminal::json(&json);
    }
    table.warnings.iter().for_each(|w| terminal::warning(w));
    terminal::text(&format!("{}{}", text(input.rows.origin(), &table), next(args, &table)))
}

/// At most 80 characters wide.
fn text(origin: &str, table: &Table) -> String {
    let s = &table.spectrum;
    let facts = format!("{} rows, {} columns; rank {}", s.n, s.p, s.rank);
    let names: Vec<String> = table.choices.iter().map(|c| c.rule.to_string()).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0).max(4);
    let mut out = format!("{}\n  {facts}\n\n", paint(TITLE, origin));
    out += &paint(FAINT, format!("  {:width$}  {:>4}  what it estimates\n", "rule", "k"));
    for (name, choice) in names.iter().zip(&table.choices) {
        out += &format!("  {name:width$}  {:>4}  {}\n", choice.k, choice.rule.estimates());
    }
    out + &spectrum(table)
}

/// The first variances as bars; marks of the rules would hide that the spectrum itself is worth a look.
fn spectrum(table: &Table) -> String {
    let s = &table.spectrum;
    let mut out = format!("\n{}\n", paint(TITLE, "Share of the variance"));
    let mut sum = 0.0;
    for (i, value) in s.values.iter().take(DRAWN).enumerate() {
        let share = value / s.total;
        sum += share;
        let bar = "#".repeat((value / s.values[0] * BAR as f64).round() as usize);
        out += &format!("  {:>4}  {bar:BAR$}  {:>6.2} %  {:>6.2} %\n", i + 1, 100.0 * share, 100.0 * sum);
    }
    if s.values.len() > DRAWN {
        out += &paint(FAINT, format!("  ... {} more (all of them with --json)\n", s.values.len() - DRAWN));
    }
    out
}

/// The command that most people type next.
fn next(args: &Select, table: &Table) -> String {
    let Some(k) = table.suggested() else { return String::new() };
    let mut words = vec!["unmix".to_string(), "fit".into(), "pca".into()];
    words.extend(args.input.paths.iter().map(|path| path.display().to_string()));
    words.extend(args.reading.typed());
    words.extend(["-k".into(), k.to_string()]);
    format!("\n{}\n  {}\n", paint(TITLE, "Next"), paint(TYPED, terminal::command(&words)))
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
}
