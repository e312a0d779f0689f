//! `unmix select`: the table of rules for the number of components.

use crate::folder::Folder;
use serde_json::Value;
use unmix::data::write_npy;
use unmix::datasets::low_rank_plus_noise;

fn made(b: &Folder) {
    let made = low_rank_plus_noise(400, 20, 4, 3.0, 1);
    write_npy(&b.path("d.npy"), made.x.as_slice(), &[20]).unwrap();
}

#[test]
fn the_table_names_every_rule_and_the_command_that_comes_next() {
    let b = Folder::new();
    made(&b);
    let shown = b.ok("select d.npy").out;
    assert!(shown.lines().all(|l| l.chars().count() <= 80), "{shown}");
    for rule in ["minka ", "bic ", "gavish-donoho ", "gap "] {
        let line = shown.lines().find(|l| l.trim_start().starts_with(rule)).unwrap();
        assert_eq!(line.split_whitespace().nth(1), Some("4"), "{line}");
    }
    assert!(!shown.contains("parallel"), "only when asked: {shown}");
    assert!(shown.contains("400 rows, 20 columns; rank 20"), "{shown}");
    let next = shown.lines().last().unwrap().trim();
    assert_eq!(next, "unmix fit pca d.npy -k 4");
    b.ok(next.strip_prefix("unmix ").unwrap());
}

#[test]
fn rules_are_chosen_by_name_and_a_fit_takes_the_same_names() {
    let b = Folder::new();
    made(&b);
    let json = |command: &str| -> Value { serde_json::from_str(&b.ok(command).out).unwrap() };
    let table = json("select d.npy --rules parallel,cv,mle,0.5 --seed 3 --json");
    let names: Vec<&str> =
        table["rules"].as_array().unwrap().iter().map(|r| r["rule"].as_str().unwrap()).collect();
    assert_eq!(names, ["parallel", "cv", "minka", "share-0.5"]);
    assert_eq!(
        (&table["seed"], table["explained_variance"].as_array().unwrap().len()),
        (&Value::from(3), 20)
    );
    for (i, k) in [(0, "parallel"), (1, "cv"), (2, "mle"), (3, "0.5")] {
        b.ok(&format!("fit pca d.npy -k {k} --seed 3 -o m.safetensors"));
        let shown = json("show m.safetensors --json");
        assert_eq!(shown["n_components"], table["rules"][i]["k"], "{k}");
    }
    // The table is the same for any number of threads.
    let two = b.ok("select d.npy --rules parallel,cv --json --threads 2").out;
    assert_eq!(b.ok("select d.npy --rules parallel,cv --json --threads 1").out, two);
}

#[test]
fn every_name_in_the_table_is_a_number_of_components_of_a_fit() {
    let b = Folder::new();
    made(&b);
    // Fewer rows than columns, too.
    let wide = low_rank_plus_noise(15, 20, 3, 9.0, 2);
    write_npy(&b.path("w.npy"), wide.x.as_slice(), &[20]).unwrap();
    let json = |command: &str| -> Value { serde_json::from_str(&b.ok(command).out).unwrap() };
    let all = "minka,bic,gavish-donoho,gap,gap-difference,share,0.5,parallel,cv";
    for file in ["d.npy", "w.npy"] {
        let table = json(&format!("select {file} --rules {all} --seed 3 --json"));
        let rules = table["rules"].as_array().unwrap();
        assert_eq!(rules.len(), 12);
        for rule in rules {
            let name = rule["rule"].as_str().unwrap();
            b.ok(&format!("fit pca {file} -k {name} --seed 3 -o {name}.safetensors --force"));
            let shown = json(&format!("show {name}.safetensors --json"));
            assert_eq!(shown["n_components"], rule["k"], "{name} of {file}");
        }
    }
    // The names that a fit takes are rules of the table.
    let methods = json("methods --json");
    let pca = methods.as_array().unwrap().iter().find(|m| m["key"] == "pca").unwrap();
    let setting = pca["settings"].as_array().unwrap().iter().find(|s| s["name"] == "n_components").unwrap();
    let choices = setting["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 8);
    for name in choices {
        b.ok(&format!("select d.npy --rules {}", name.as_str().unwrap()));
    }
    b.ok("fit ica d.npy -k share-0.5 -o i.safetensors");
    let (out_of_range, number) = (b.run("fit pca d.npy -k share-1.5"), b.run("fit pca d.npy -k 1.5"));
    assert!(out_of_range.code == 1 && out_of_range.err.contains("between 0 and 1"), "{}", out_of_range.err);
    assert_eq!((out_of_range.code, out_of_range.err), (number.code, number.err));
}

#[test]
fn mistakes_are_reported_before_anything_is_read() {
    let b = Folder::new();
    for (command, code, word) in [
        ("select missing.npy --rules paralel", 2, "did you mean 'parallel'?"),
        ("select missing.npy --rules 1.5", 2, "between 0 and 1"),
        ("select missing.npy --rules bic,bic", 2, "got 'bic' more than once; name each rule once"),
        (
            "select missing.npy --method ppca --rules bic,aic,bic",
            2,
            "got 'bic' more than once; name each rule once",
        ),
        ("select missing.npy", 1, "missing.npy"),
    ] {
        let ran = b.run(command);
        assert_eq!(ran.code, code, "{command}: {}", ran.err);
        assert!(ran.err.contains(word), "{command}: {}", ran.err);
    }
    b.write("a.csv", "x,y\n1,2\n1,2\n");
    let ran = b.run("select a.csv");
    assert!(ran.code == 1 && ran.err.contains("needs a column that varies"), "{}", ran.err);
}

#[test]
fn ambiguity_is_a_warning_on_standard_error() {
    let b = Folder::new();
    let s = unmix::internal::num::random::Stream::new(6, 0);
    let x: Vec<f64> = (0..40 * 30).map(|i| 0.8f64.powi(i % 30) * s.normal(i as u64)).collect();
    write_npy(&b.path("d.npy"), &x, &[30]).unwrap();
    let ran = b.ok("select d.npy");
    assert!(
        ran.err.contains("do not determine the number") && !ran.out.contains("do not determine"),
        "{}",
        ran.err
    );
    // Two candidates, not one as if the number were determined; each has a model of its own.
    let (table, next) = ran.out.split_once("\nNext\n").unwrap();
    let k = |rule: &str| {
        let line = table.lines().find(|l| l.trim_start().starts_with(rule)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
    };
    let (minka, bic) = (k("minka "), k("bic "));
    let want = [minka.min(bic), minka.max(bic)]
        .map(|k| format!("  unmix fit pca d.npy -k {k} -o d.pca-{k}.safetensors\n"));
    assert_eq!(next, want.concat());
    next.lines().for_each(|line| drop(b.ok(line.trim().strip_prefix("unmix ").unwrap())));
    // One rule alone is what was requested.
    let one = b.ok("select d.npy --rules bic").out;
    assert!(one.ends_with(&format!("unmix fit pca d.npy -k {bic}\n")), "{one}");
}

#[test]
fn a_method_with_a_likelihood_has_one_table_over_the_number_of_components() {
    let b = Folder::new();
    let made = low_rank_plus_noise(200, 8, 3, 3.0, 2);
    let draws = unmix::internal::num::random::Stream::new(1, 0);
    let gap = |(i, x): (usize, &f64)| if draws.uniform(i as u64) < 0.1 { f64::NAN } else { *x };
    let gaps: Vec<f64> = made.x.as_slice().iter().enumerate().map(gap).collect();
    write_npy(&b.path("d.npy"), &gaps, &[8]).unwrap();
    let shown = b.ok("select d.npy --method ppca").out;
    assert!(shown.contains("200 rows, 8 columns; ppca") && shown.contains("log-likelihood"), "{shown}");
    for rule in ["bic ", "cells "] {
        let line = shown.lines().find(|l| l.trim_start().starts_with(rule)).unwrap();
        assert_eq!(line.split_whitespace().nth(1), Some("3"), "{line}");
    }
    let next = shown.lines().last().unwrap().trim();
    assert_eq!(next, "unmix fit ppca d.npy -k 3");
    b.ok(next.strip_prefix("unmix ").unwrap());

    let json = |command: &str| -> Value { serde_json::from_str(&b.ok(command).out).unwrap() };
    let table = json("select d.npy --method linear-eigengan --max-components 4 --rules bic,cells --json");
    let lines = table["table"].as_array().unwrap();
    assert_eq!((lines.len(), &table["suggested"]), (5, &Value::from(3)));
    assert!(lines.iter().all(|l| l["cells_standard_error"].as_f64().unwrap() > 0.0), "{table}");
    let fit = json("select d.npy --method ppca --max-components 2 --rules bic --set standardize=true --json");
    assert_eq!((&fit["suggested"], &fit["table"][2]["cells"]), (&Value::from(2), &Value::Null));
    // A table has a line even if there is no time for one.
    let late = json("select d.npy --method ppca --max-seconds 0.000001 --json");
    assert_eq!(late["table"].as_array().map(Vec::len), Some(1), "{late}");
    assert!(late["warnings"].to_string().contains("ended early at the time limit"), "{late}");
    for (command, code, word) in [
        ("select d.npy --method ppca --rules gap", 2, "no rule named 'gap'"),
        ("select d.npy --method fastica", 2, "no log-likelihood"),
        ("select d.npy --method ppca --set n_components=3", 2, "max_components"),
        ("select d.npy --max-components 3", 2, "--method ppca"),
        ("select d.npy --max-seconds 3", 2, "--method ppca"),
        ("select d.npy --method pcaa", 2, "did you mean 'pca'?"),
    ] {
        let ran = b.run(command);
        assert_eq!(ran.code, code, "{command}: {}", ran.err);
        assert!(ran.err.contains(word), "{command}: {}", ran.err);
    }
}
