//! `unmix biclusters`: modules of rows and columns, with stability and q-values.

use crate::args::Modules;
use crate::failure::{Done, Failure};
use crate::input;
use crate::output::{check_csv, place, write_whole};
use crate::progress::Progress;
use crate::terminal::{self, FAINT, TITLE, paint};
use std::path::Path;
use unmix::biclusters::{Biclusters, Module, Refits, biclusters, of_model};
use unmix::internal::error::counted;
use unmix::{Error, Model, Run};

/// Maximum number of modules that are listed on the terminal.
const MOST_LISTED_MODULES: usize = 30;

/// What is listed in place of a table without lines.
const NONE: &str = "  No module was found: no unit has large codes in at least 2 rows and large
  loadings in at least 2 columns. Fit another number of components (-k) or
  sparser codes, or pool more starts (--starts).
";

/// Refuses options of refits where there are none.
fn check_refits(args: &Modules) -> Result<(), Failure> {
    let given = [
        ("--permutations", args.permutations.is_some()),
        ("--max-seconds", args.max_seconds.is_some()),
        ("--seed", args.seed.is_some()),
    ];
    match given.into_iter().find(|(_, given)| args.starts == 0 && *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::Usage(format!(
            "{option} has no effect with --starts 0, which makes no refits; leave it out, or give --starts 1 or more"
        ))),
    }
}

/// Lists modules, and writes their members to a file.
pub(crate) fn modules(args: &Modules) -> Done {
    check_refits(args)?;
    let files = args.input.files(&args.reading)?;
    let never = args.reading.files_read(files.iter().chain([&args.model]));
    let output = args.output.as_ref().map(|path| place(path, &never)).transpose()?;
    args.output.as_deref().map(check_csv).transpose()?;
    input::check_order(&args.model, &files)?;
    let model = Model::load(&args.model)?;
    let progress = Progress::new(&args.running);
    let run = Run {
        seed: args.seed.unwrap_or(model.report().seed),
        max_seconds: args.max_seconds,
        ..progress.run(&args.running)
    };
    let options = unmix_io::Options { row_names: true, ..args.reading.options()? };
    // Here `--names` names the members of modules, also where the columns have names.
    let mut input = input::open_unchecked(&model, &files, options, &run, args.running.quiet)?;
    input.rows.prepare(&run)?;
    let permutations = args.permutations.unwrap_or(Refits::default().permutations);
    let refits = Refits { starts: args.starts, permutations };
    let found = match args.starts {
        0 => of_model(&model, &input.rows, &run)?,
        _ => biclusters(&model, &input.rows, refits, &run)?,
    };
    progress.clear();
    let warnings = [found.warning(), found.weights_left_out(), found.none_above_chance()];
    warnings.iter().flatten().for_each(|said| terminal::warning(said));
    let columns = match (&args.reading.names, args.reading.given_names()?) {
        (Some(path), Some(names)) => Some(named(path, names, model.n_features())?),
        _ => model.features().names.clone(),
    };
    let rows = input.kept.first().map(|(_, names)| names.as_slice()).or(input.row_names.as_deref());
    if let Some(output) = output {
        write_whole(&output, &members(&found, rows, columns.as_deref())?)?;
    }
    if args.json {
        return terminal::json(&found.to_json());
    }
    terminal::text(&table(input.rows.origin(), &found))
}

/// The names in a file, of which there must be one for each of `p` columns.
fn named(path: &Path, names: Vec<String>, p: usize) -> Result<Vec<String>, Failure> {
    if names.len() != p {
        let found = format!(
            "it has {}, but the model has {}",
            counted(names.len() as u64, "name"),
            counted(p as u64, "column")
        );
        let numbers = (Some(p as u64), Some(names.len() as u64));
        let error = Error::format(path, found, "give one name for each column");
        return Err(error.with(|details| (details.need, details.got) = numbers).into());
    }
    Ok(names)
}

/// CSV with a line for each member of each module.
fn members(
    found: &Biclusters,
    rows: Option<&[String]>,
    columns: Option<&[String]>,
) -> Result<Vec<u8>, Failure> {
    let failed = |e: String| Failure::Message(format!("writing modules is not possible: {e}"));
    let mut csv = csv::Writer::from_writer(Vec::new());
    let mut line = |fields: [&str; 5]| csv.write_record(fields).map_err(|e| failed(e.to_string()));
    line(["module", "member", "number", "name", "sign"])?;
    let name =
        |names: Option<&[String]>, i: u32| names.and_then(|n| n.get(i as usize).cloned()).unwrap_or_default();
    for (m, module) in found.modules.iter().enumerate() {
        let m = m.to_string();
        for i in &module.rows {
            line([&m, "row", &i.to_string(), &name(rows, *i), ""])?;
        }
        for (j, positive) in module.columns.iter().zip(&module.positive) {
            line([&m, "column", &j.to_string(), &name(columns, *j), if *positive { "1" } else { "-1" }])?;
        }
    }
    csv.into_inner().map_err(|e| failed(e.to_string()))
}

/// A table of at most 80 characters per line.
fn table(origin: &str, found: &Biclusters) -> String {
    let n = found.modules.len();
    // Only refits have a stability.
    let alone = found.modules.iter().all(|m| m.stability.is_none());
    let several = |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
    let fits = match (found.starts, found.permutations) {
        (1, 0) if alone => "of the model".into(),
        (s, 0) => format!("of {}", several(s, "fit", "fits")),
        (s, p) => {
            let copies = several(p, "permuted copy", "permuted copies");
            format!("of {}; q-values from {copies}", several(s, "fit", "fits"))
        }
    };
    let about = format!(
        "{}, {}; {} {fits}",
        counted(found.n_rows as u64, "row"),
        counted(found.n_features as u64, "column"),
        counted(n as u64, "module")
    );
    let mut out = format!("{}\n  {about}\n\n", paint(TITLE, origin));
    if n == 0 {
        return out + NONE;
    }
    out += &paint(
        FAINT,
        format!(
            "  {:>6}  {:>5}  {:>7}  {:>8}  {:>8}  {:>8}  {:>9}  {:>5}  {:>6}\n",
            "module", "rows", "columns", "positive", "negative", "evidence", "stability", "q", "halves"
        ),
    );
    for (i, m) in found.modules.iter().enumerate().take(MOST_LISTED_MODULES) {
        out += &format!("{}\n", line(i, m).trim_end());
    }
    if n > MOST_LISTED_MODULES {
        out += &format!("  ... and {} more; -o modules.csv or --json has all\n", n - MOST_LISTED_MODULES);
    }
    if let Some(note) = q_note(found) {
        out += &paint(FAINT, note);
    }
    if let Some(chance) = found.chance {
        let text = format!(
            "  halves: cosine with the best match in both halves of the rows; {chance:.2} by chance\n"
        );
        out += &paint(FAINT, text);
    }
    out
}

/// The meaning of the q-values, and the smallest possible one.
fn q_note(found: &Biclusters) -> Option<String> {
    found.least_q()?;
    let enough = Refits::default().permutations;
    let copies = if found.permutations == 1 { "copy" } else { "copies" };
    let mut note = format!(
        "  q: estimated false discovery rate up to and including this line; of the first\n  k modules at least 1/({0} k) with {0} permuted {copies}",
        found.permutations
    );
    if found.permutations < enough {
        note += &format!(" (--permutations {enough}: 1/({enough} k))");
    }
    Some(note + "\n")
}

fn line(i: usize, m: &Module) -> String {
    let positive = m.positive.iter().filter(|positive| **positive).count();
    let share = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.2}"));
    format!(
        "  {i:>6}  {:>5}  {:>7}  {positive:>8}  {:>8}  {:>8.1}  {:>9}  {:>5}  {:>6}",
        m.rows.len(),
        m.columns.len(),
        m.columns.len() - positive,
        m.evidence,
        share(m.stability),
        share(m.q_value),
        share(m.halves)
    )
}
