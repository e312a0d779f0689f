//! The table for a terminal.

use crate::description::{self, Spectrum};
use crate::number::counted;
use serde_json::Value;
use unmix::Model;

/// Components that are listed before the ellipsis.
const MOST_COMPONENTS: usize = 10;
/// Maximum number of components whose stability is listed in full.
const MOST_LISTED_STABILITIES: usize = 20;

/// The table that a terminal shows after a fit: what was fitted on what, how it ended, and what each of the first ten
/// components (and the last) explains. Lines end with `\n`; components count from 0. Operations are named as in Rust:
/// [`Caller::message`](unmix::Caller::message) translates them.
pub fn summary(model: &Model) -> String {
    let (report, spectrum) = (model.report(), Spectrum::of(model));
    let mut out = format!(
        "{} of {}: {}",
        model.method().class,
        description::shape(model),
        description::components(model)
    );
    if let Some(kept) = spectrum.kept() {
        out += &format!(", {} of the variance", crate::number::percent(kept));
    }
    let mut ended = vec![description::outcome(model), format!("solver {}", report.solver)];
    ended.extend(report.rank.map(|r| format!("rank {r}")));
    ended.extend(description::effort(model));
    out += &format!("\n{}\n", ended.join("; "));
    out += &crate::quality::line(model).map_or(String::new(), |line| format!("{line}\n"));
    report.warnings.iter().for_each(|w| out += &format!("note: {w}\n"));
    if !spectrum.columns().is_empty() && spectrum.k > 0 {
        out.push('\n');
        out += &table(description::unit(model), &spectrum);
    }
    out + &model.report().stability.as_ref().map_or(String::new(), |found| stability(found, spectrum.k))
}

/// Stability over halves of the rows and other seeds, where requested.
fn stability(found: &Value, k: usize) -> String {
    let number = |name: &str, j: usize| found[name][j].as_f64();
    // The quality of clusters, which files of earlier versions do not have.
    let clusters = [("halves", "Iq halves"), ("restarts", "Iq seeds")];
    let clusters: Vec<_> = clusters.iter().filter(|(name, _)| found["clusters"][*name].is_object()).collect();
    let heads: String = clusters.iter().map(|(_, head)| format!("{head:>9}  ")).collect();
    let shown = if k > MOST_LISTED_STABILITIES { MOST_COMPONENTS } else { k };
    let mut out = String::from("\n");
    if shown < k {
        out += &format!("stability of {k} components: {}\n", description::total_of_verdicts(found));
    }
    out += &format!("component  halves  95 % interval    other seeds  {heads}verdict\n");
    for j in 0..shown {
        let (halves, seeds) = (number("halves", j).unwrap_or(0.0), number("restarts", j));
        let seeds = seeds.map_or("-".into(), |s| format!("{s:.3}"));
        let interval = description::interval(found, "interval", j).unwrap_or_else(|| "-".into());
        let verdict = description::verdict_with_interval(found, j);
        let quality = |name: &str| found["clusters"][name]["quality"][j].as_f64();
        let quality = |name: &str| quality(name).map_or("-".into(), |q| format!("{q:.3}"));
        let cells: String = clusters.iter().map(|(name, _)| format!("{:>9}  ", quality(name))).collect();
        out += &format!("{j:>9}  {halves:>6.3}  {interval:<14}  {seeds:>11}  {cells}{verdict}\n");
    }
    if shown < k {
        out += &format!("{:>9}  (all {k}: Report::stability)\n", "...");
    }
    if let Some(block_length) = found["block_length"].as_u64().filter(|s| *s > 1) {
        out += &format!(
            "consecutive rows are autocorrelated: blocks of {block_length} rows were kept together\n"
        );
    }
    if let Some(resamples) = description::resamples(found) {
        let resamples = counted(resamples, "resample");
        out += &format!("sampling error of the intervals from {resamples} of the rows\n");
    }
    for sentence in
        description::few_splits(found).as_deref().into_iter().chain(description::incomplete(found))
    {
        out += &format!("{sentence}\n");
    }
    out
}

fn table(unit: &'static str, spectrum: &Spectrum) -> String {
    let head = |name: &'static str| name.to_string();
    let mut lines = vec![std::iter::once(unit).chain(spectrum.columns()).map(head).collect::<Vec<_>>()];
    let line = |i: usize| std::iter::once(i.to_string()).chain(spectrum.row(i)).collect::<Vec<_>>();
    lines.extend((0..spectrum.k.min(MOST_COMPONENTS)).map(line));
    if spectrum.k > MOST_COMPONENTS + 1 {
        lines.push(vec!["...".into()]);
    }
    if spectrum.k > MOST_COMPONENTS {
        lines.push(line(spectrum.k - 1));
    }
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|c| lines.iter().filter_map(|l| l.get(c)).map(|t| t.chars().count()).max().unwrap_or(0))
        .collect();
    let aligned = lines.iter().map(|l| {
        let cells: Vec<String> = l.iter().zip(&widths).map(|(text, w)| format!("{text:>w$}")).collect();
        cells.join("  ") + "\n"
    });
    aligned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use unmix::{Pca, Rows, Run, datasets};

    fn fitted(k: usize) -> String {
        let data = datasets::patterns(60, 5, 3, 0.2, 1);
        let mut rows = Rows::from_slice(data.x.as_slice(), 25).unwrap();
        summary(
            &Pca { n_components: k.into(), ..Default::default() }.fit(&mut rows, &Run::default()).unwrap(),
        )
    }

    #[test]
    fn columns_are_aligned_and_the_last_component_follows_the_dots() {
        let text = fitted(15);
        assert!(text.starts_with("PCA of 60 x 25 float64: 15 components, 99."), "{text}");
        assert!(text.contains("\ncompleted; solver ") && text.contains("; rank 25; "), "{text}");
        let table: Vec<&str> = text.lines().skip_while(|l| !l.is_empty()).skip(1).collect();
        assert_eq!(table.len(), 1 + 10 + 1 + 1);
        assert!(table.iter().all(|l| l.trim() == "..." || l.len() == table[0].len()), "{text}");
        assert!(table[11].trim() == "..." && table[12].trim_start().starts_with("14 "));
    }

    #[test]
    fn clusters_have_columns_where_there_are_clusters() {
        let mut found = serde_json::json!({
            "halves": [0.9, 0.5], "restarts": null, "verdict": ["resolved", "not resolvable from these data"],
        });
        // A file of a version without clusters.
        let old = stability(&found, 2);
        let line = |start: &str, cells: &str| format!("{start}  {:<14}  {:>11}  {cells}", "-", "-");
        let lines: Vec<&str> = old.lines().skip(1).collect();
        // Files of still earlier versions have no intervals either.
        assert_eq!(lines[0], "component  halves  95 % interval    other seeds  verdict");
        assert_eq!(lines[1], line("        0   0.900", "resolved"));
        found["clusters"] = serde_json::json!({"halves": {"quality": [0.75, null]}, "restarts": null});
        let new = stability(&found, 2);
        let lines: Vec<&str> = new.lines().skip(1).collect();
        assert_eq!(lines[0], "component  halves  95 % interval    other seeds  Iq halves  verdict");
        assert_eq!(lines[1], line("        0   0.900", "    0.750  resolved"));
        assert_eq!(lines[2], line("        1   0.500", "        -  not resolvable from these data"));
    }

    #[test]
    fn of_many_components_the_total_and_the_first_are_listed() {
        let verdicts: Vec<&str> =
            (0..21).map(|j| if j < 3 { "resolved" } else { "undecided: more rows would tell" }).collect();
        let halves = [0.9; 21];
        let found = serde_json::json!({"halves": halves, "restarts": null, "verdict": verdicts});
        let text = stability(&found, 21);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines[0], "stability of 21 components: 3 resolved, 18 undecided");
        assert!(
            lines[2].starts_with("        0   0.900") && lines[11].starts_with("        9   0.900"),
            "{text}"
        );
        assert_eq!(lines[12], "      ...  (all 21: Report::stability)");
        let few = stability(&found, 20);
        assert!(!few.contains("...") && !few.contains("stability of"), "{few}");
    }

    #[test]
    fn intervals_after_a_time_limit_are_explained() {
        let mut found = serde_json::json!({
            "halves": [0.9], "space_interval": [[0.0, 1.0]], "interval": [[0.0, 1.0]], "restarts": null, "splits": 3, "incomplete": true,
            "verdict": ["undecided: more rows would tell"],
        });
        let text = stability(&found, 1);
        assert!(text.contains("the time limit was reached before all halves were fitted"), "{text}");
        assert!(!text.contains("splits narrow them"), "{text}");
        found["incomplete"] = false.into();
        let text = stability(&found, 1);
        assert!(!text.contains("time limit") && text.contains("splits narrow them"), "{text}");
    }

    #[test]
    fn eleven_components_are_all_listed_and_none_have_no_table() {
        assert!(!fitted(11).contains("...") && fitted(11).contains("\n       10 "));
        assert_eq!(fitted(0).lines().count(), 2);
    }
}
