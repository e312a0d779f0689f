//! Output of an experiment: figures, numbers, and a page that shows them.

use crate::Experiment;
use maud::{DOCTYPE, Markup, html};
use std::path::{Path, PathBuf};
use unmix::{Error, Result};
use unmix_report::Sheet;

/// A measured number with the published one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Number {
    /// The measured quantity.
    pub quantity: String,
    /// The measured value.
    pub ours: f64,
    /// The published value, or a reference value measured with the published procedure; a number, a range, or text.
    pub published: String,
    /// The condition that the value must satisfy, and whether it does.
    pub condition: Option<(String, bool)>,
    /// Without a condition, why the value is not comparable with the published one; empty if nothing was published.
    pub reason: String,
}

/// How a measured number compares with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Its condition holds.
    Holds,
    /// Its condition does not hold.
    Differs,
    /// It has no condition.
    NotComparable,
}

impl Verdict {
    /// The words of the page and of the tables.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Differs => "differs",
            Verdict::NotComparable => "not comparable",
        }
    }
}

impl Number {
    /// A measured and a published value, without a condition.
    pub fn new(quantity: String, ours: f64, published: String) -> Self {
        Self { quantity, ours, published, condition: None, reason: String::new() }
    }

    /// The verdict; `None` if there is neither a condition nor a published value.
    pub fn verdict(&self) -> Option<Verdict> {
        match &self.condition {
            Some((_, true)) => Some(Verdict::Holds),
            Some((_, false)) => Some(Verdict::Differs),
            None => (!self.published.is_empty()).then_some(Verdict::NotComparable),
        }
    }

    /// The condition, or why there is none.
    fn explanation(&self) -> &str {
        self.condition.as_ref().map_or(&self.reason, |c| &c.0)
    }

    /// Whether the measured number is outside a published range (`.9975-.9997`) or bound (`>= .995`), to the number of decimals of
    /// that: `"below the published range"` or `"above the published range"`. `None` if it is inside, and if the published value is a
    /// single number, a number for other data, or text.
    pub fn outside(&self) -> Option<&'static str> {
        let (least, most) = range(&self.published)?;
        if least.is_some_and(|end| end.rounded(self.ours) < end.value) {
            return Some("below the published range");
        }
        most.is_some_and(|end| end.rounded(self.ours) > end.value).then_some("above the published range")
    }
}

/// One end of a range, and its number of decimals.
#[derive(Clone, Copy)]
struct End {
    value: f64,
    decimals: usize,
}

impl End {
    fn read(text: &str) -> Option<Self> {
        let decimals = text.split_once('.').map_or(0, |(_, after)| after.len());
        text.parse().ok().map(|value| Self { value, decimals })
    }

    fn rounded(self, x: f64) -> f64 {
        format!("{x:.*}", self.decimals).parse().unwrap_or(x)
    }
}

/// Minimum and maximum of a range given as text.
fn range(published: &str) -> Option<(Option<End>, Option<End>)> {
    let text = published.trim();
    if let Some(least) = text.strip_prefix(">=") {
        return Some((Some(End::read(least.trim())?), None));
    }
    if let Some(most) = text.strip_prefix("<=") {
        return Some((None, Some(End::read(most.trim())?)));
    }
    let (least, most) = text.split_once('-')?;
    Some((Some(End::read(least)?), Some(End::read(most)?)))
}

/// A table of the page with several lines in a cell; every number of it is in a CSV, too.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Grid {
    /// Its title.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<GridCell>>,
}

impl Grid {
    pub(crate) fn new(title: String) -> Self {
        Self { title, header: Vec::new(), rows: Vec::new() }
    }
}

/// A cell of a [`Grid`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GridCell {
    /// Lines of text.
    pub lines: Vec<String>,
    /// Whether its last line reports a condition that does not hold.
    pub missed: bool,
}

impl GridCell {
    pub(crate) fn of(lines: Vec<String>) -> Self {
        Self { lines, missed: false }
    }
}

/// Results of one experiment.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Tables of the page.
    pub grids: Vec<Grid>,
    /// File names of figures, relative to the folder of the experiment.
    pub figures: Vec<String>,
    /// All numbers, in the order of measurement.
    pub numbers: Vec<Number>,
    /// A description of the data, and notes for the reader.
    pub notes: Vec<String>,
}

impl Results {
    /// Conditions that do not hold.
    pub fn failed(&self) -> impl Iterator<Item = &Number> {
        self.numbers.iter().filter(|n| n.condition.as_ref().is_some_and(|c| !c.1))
    }

    /// Numbers outside their published range, whatever their condition.
    pub fn outside(&self) -> impl Iterator<Item = &Number> {
        self.numbers.iter().filter(|n| n.outside().is_some())
    }
}

/// The output folder of a running experiment.
pub(crate) struct Folder {
    path: PathBuf,
    pub(crate) results: Results,
}

impl Folder {
    pub(crate) fn new(path: PathBuf) -> Result<Self> {
        std::fs::create_dir_all(&path).map_err(|e| Error::io("cannot create the folder", &path, e))?;
        Ok(Self { path, results: Results::default() })
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        std::fs::write(&path, bytes).map_err(|e| Error::io("cannot write", &path, e))
    }

    /// Writes a figure.
    pub(crate) fn figure(&mut self, name: &str, sheet: &Sheet) -> Result<()> {
        let name = format!("{name}.svg");
        self.write(&name, sheet.svg()?.as_bytes())?;
        self.results.figures.push(name);
        Ok(())
    }

    /// Writes a table in addition to `numbers.csv`.
    pub(crate) fn table(&self, name: &str, header: &[&str], rows: &[Vec<String>]) -> Result<()> {
        let lines =
            std::iter::once(header.iter().map(ToString::to_string).collect()).chain(rows.iter().cloned());
        self.write(&format!("{name}.csv"), &csv(lines)?)
    }

    /// Writes the numbers and returns the results.
    pub(crate) fn close(self) -> Result<Results> {
        let header =
            ["quantity", "ours", "published", "verdict", "condition", "outside"].map(String::from).to_vec();
        let lines = self.results.numbers.iter().map(|n| {
            let verdict = n.verdict().map_or("", Verdict::words).to_string();
            let outside = n.outside().unwrap_or_default().to_string();
            vec![
                n.quantity.clone(),
                shown(n.ours),
                n.published.clone(),
                verdict,
                n.explanation().into(),
                outside,
            ]
        });
        self.write("numbers.csv", &csv(std::iter::once(header).chain(lines))?)?;
        Ok(self.results)
    }
}

fn csv(lines: impl Iterator<Item = Vec<String>>) -> Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let failed = |e: &dyn std::fmt::Display| {
        Error::io("cannot write", "a table", std::io::Error::other(e.to_string()))
    };
    for line in lines {
        out.write_record(&line).map_err(|e| failed(&e))?;
    }
    out.into_inner().map_err(|e| failed(&e))
}

/// Four significant digits.
pub(crate) fn shown(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if (1e-3..1e5).contains(&size) => {
            let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
            format!("{x:.digits$}")
        }
        _ => format!("{x:.3e}"),
    }
}

/// Figures have a white background; tables that are wider than a phone can be scrolled.
const STYLE: &str = "\
:root{--paper:#fbfaf8;--ink:#1d2430;--soft:#5d6674;--rule:#e4e2dd;--accent:#2f6f8f;--warn:#b3541e;color-scheme:light dark}\
@media(prefers-color-scheme:dark){:root{--paper:#14171c;--ink:#e6e8ec;--soft:#a3abb8;--rule:#2c323c;--accent:#74b4d2;--warn:#ee8f5f}}\
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;max-width:1120px;margin:2rem auto;padding:0 1rem;background:var(--paper);\
color:var(--ink);overflow-wrap:break-word}a{color:var(--accent)}h1{font-size:clamp(24px,4.4vw,34px);line-height:1.2}\
img{max-width:100%;height:auto;border:1px solid var(--rule);border-radius:6px;margin:.5rem 0;background:#fff}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:14px}td,th{padding:.15rem .9rem .15rem 0;text-align:left;\
border-bottom:1px solid var(--rule);vertical-align:top}td.n{font-variant-numeric:tabular-nums;white-space:nowrap}\
table.grid{font-size:12px;margin-bottom:1rem}table.grid td{white-space:nowrap;font-variant-numeric:tabular-nums}\
.no{color:var(--warn);font-weight:600}.note{color:var(--soft)}\
@media(max-width:560px){body{margin:1rem auto}table{font-size:12.5px}td,th{padding-right:.5rem}td:first-child{min-width:11em}}";

fn shown_grid(grid: &Grid) -> Markup {
    html! {
        h3 { (grid.title) }
        div.scroll { table.grid {
            tr { @for name in &grid.header { th { (name) } } }
            @for row in &grid.rows { tr { @for cell in row { td {
                @for (i, line) in cell.lines.iter().enumerate() {
                    @if cell.missed && i + 1 == cell.lines.len() { div.no { (line) } } @else { div { (line) } }
                }
            } } } }
        } }
    }
}

/// Writes a page with every figure and number of the experiments run so far.
pub(crate) fn write_index(folder: &Path, done: &[(&'static Experiment, Results)]) -> Result<()> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Reproduction of published experiments" }
                meta name="color-scheme" content="light dark";
                style { (STYLE) }
            }
            body {
                h1 { "Reproduction of published experiments" }
                p.note {
                    "\u{201c}Published\u{201d} is the value of the publication or, if it gives none, a reference value measured with its procedure. A number "
                    "\u{201c}holds\u{201d} or \u{201c}differs\u{201d} by the condition in the last column alone, which may allow a deviation from "
                    "the published value; without a condition it is not comparable, for the reason given there. The notes name the data: on other data "
                    "than those of the publication, numbers are not expected to agree."
                }
                ul { @for (e, results) in done {
                    li { a href=(format!("#{}", e.key)) { (e.key) } ": " (e.summary)
                        @let failed = results.failed().count();
                        @if failed > 0 { "; " span.no { (failed) @if failed == 1 { " of its conditions does not hold" } @else { " of its conditions do not hold" } } }
                        @let outside = results.outside().count();
                        @if outside > 0 { "; " span.no { (outside) " of its numbers are outside the published range" } } }
                } }
                @for (e, results) in done {
                    h2 id=(e.key) { (e.key) }
                    p { (e.summary) ". " span.note { (e.source) } }
                    @for note in &results.notes { p.note { (note) } }
                    @for figure in &results.figures { p { img src=(format!("{}/{figure}", e.key)) alt=(format!("{}: {figure}", e.key)); } }
                    @if !results.numbers.is_empty() { div.scroll { table {
                        tr { th { "quantity" } th { "ours" } th { "published" } th { "verdict" } th { "condition, or reason" } }
                        @for n in &results.numbers { tr {
                            td { (n.quantity) } td.n { (shown(n.ours)) } td.n { (n.published) @if let Some(outside) = n.outside() { " " span.no { (outside) } } }
                            td.n { @match n.verdict() { Some(Verdict::Differs) => span.no { "differs" }, Some(verdict) => (verdict.words()), None => "" } }
                            td { (n.explanation()) }
                        } }
                    } } }
                    @for grid in &results.grids { (shown_grid(grid)) }
                }
            }
        }
    };
    let path = folder.join("index.html");
    std::fs::write(&path, page.into_string()).map_err(|e| Error::io("cannot write", &path, e))
}
