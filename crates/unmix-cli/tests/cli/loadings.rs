//! `unmix show` of a factor analysis: tables, JSON and CSV of loadings.

use crate::folder::Folder;
use serde_json::Value;

/// Six columns of two correlated factors; the last one is 100 times as large as the others.
fn table() -> String {
    let draws = unmix::internal::num::random::Stream::new(5, 0);
    let mut text = String::from("a,b,c,d,e,f\n");
    for i in 0..1000u64 {
        let at = |c: u64| draws.normal(10 * i + c);
        let factors = [at(0), 0.5 * at(0) + 0.8 * at(1)];
        let cell = |j: u64| {
            let unit = if j == 5 { 100.0 } else { 1.0 };
            format!("{:?}", unit * (0.8 * factors[(j / 3) as usize] + 0.6 * at(2 + j)))
        };
        text += &((0..6).map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

#[test]
fn loadings_are_printed_and_written_as_json_and_csv() {
    let b = Folder::new();
    b.write("d.csv", table());
    b.ok("fit factor-analysis d.csv -k 2 --set rotation=oblimin --set standardize=true -o m.safetensors -q");
    let shown = b.ok("show m.safetensors --loadings l.csv").out;
    for part in [
        "uniqueness  communality",
        "sum of squared loadings",
        "share of the variance",
        "cumulative share",
        "correlations",
        "chi-square",
        "RMSEA, lower end of the 90 % interval",
        "CFI",
        "SRMR",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let json: Value = serde_json::from_str(&b.ok("show m.safetensors --json").out).unwrap();
    let found = &json["factors"];
    let get = |name: &str, i: usize| found[name][i].as_f64().unwrap();
    let loading = |j: usize, a: usize| found["loadings"][j][a].as_f64().unwrap();
    let phi = found["factor_correlation"][0][1].as_f64().unwrap();
    assert!((phi - 0.53).abs() < 0.1, "{phi}");
    let mut sum = 0.0;
    for j in 0..6 {
        // All loadings of the design are 0.8 of a column of variance 1, or nearly.
        let (own, other) = (loading(j, usize::from(j > 2)), loading(j, usize::from(j < 3)));
        let (own, other) = if own.abs() > other.abs() { (own, other) } else { (other, own) };
        assert!((own - 0.8).abs() < 0.15 && other.abs() < 0.15, "{j}: {own} {other}");
        let common = own * own + other * other + 2.0 * phi * own * other;
        assert!((common - get("communality", j)).abs() < 1e-6, "{j}: {common}");
        assert!((get("uniqueness", j) + get("communality", j) - 1.0).abs() < 1e-12);
        sum += common;
    }
    let squares = get("sum_of_squared_loadings", 0) + get("sum_of_squared_loadings", 1);
    assert!((squares - sum).abs() < 1e-6 && (get("cumulative_share", 1) - sum / 6.0).abs() < 1e-6);
    assert_eq!(found["fit"], json["report"]["fit"]);
    let csv = std::fs::read_to_string(b.path("l.csv")).unwrap();
    let lines: Vec<Vec<&str>> = csv.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(lines[0], ["column", "factoranalysis0", "factoranalysis1", "uniqueness", "communality"]);
    assert_eq!((lines.len(), lines[6][0]), (7, "f"));
    for j in 0..6 {
        assert_eq!(lines[j + 1][1].parse::<f64>().unwrap(), loading(j, 0));
        assert_eq!(lines[j + 1][3].parse::<f64>().unwrap(), get("uniqueness", j));
    }
    // To standard output, the file alone; other models and data have no loadings.
    assert_eq!(b.ok("show m.safetensors --loadings -").out, csv);
    b.ok("fit pca d.csv -o p.safetensors -q");
    for file in ["p.safetensors", "d.csv"] {
        let run = b.run(&format!("show {file} --loadings x.csv"));
        assert!(run.code != 0 && run.err.contains("give a model of factor-analysis"), "{}", run.err);
    }
}
