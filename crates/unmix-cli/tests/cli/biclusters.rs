//! `unmix biclusters`: modules in a table, as JSON, and their members in a file.

use crate::folder::Folder;
use serde_json::Value;
use unmix::datasets::{RareModules, rare_modules};

/// Two planted modules of 8 of 120 rows and 10 of 60 columns, and a model of them.
fn planted(b: &Folder) {
    let spec = RareModules {
        n_samples: 120,
        n_features: 60,
        n_modules: 2,
        module_shape: (8, 10),
        shift: 6.0,
        n_factors: 2,
    };
    let x = rare_modules(&spec, 1).unwrap().x;
    let names = (0..60).map(|j| format!("g{j}")).collect::<Vec<_>>().join(",");
    let line = |i: usize| x.row(i).iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    b.write("x.csv", std::iter::once(names).chain((0..120).map(line)).collect::<Vec<_>>().join("\n"));
    b.ok("fit rfn x.csv -k 12 --set psi_min=0.3 --set max_iter=40 --set init=ica --seed 3 -o m.safetensors");
}

#[test]
fn modules_of_one_model_and_of_several_starts() {
    let b = Folder::new();
    planted(&b);
    let one = b.ok("biclusters m.safetensors x.csv --starts 0 -o one.csv").out;
    assert!(one.contains("120 rows, 60 columns") && one.contains("of the model"), "{one}");
    assert!(!one.contains("by chance") && one.lines().all(|l| l.chars().count() <= 80), "{one}");
    let all = b.ok("biclusters m.safetensors x.csv --starts 3 --permutations 1 -o modules.csv").out;
    assert!(all.contains("of 3 fits; q-values from 1 permuted cop"), "{all}");
    // How small q can be with so few copies; no q is below it.
    assert!(all.contains("1/(1 k) with 1 permuted copy (--permutations 10: 1/(10 k))"), "{all}");
    assert!(all.lines().all(|l| l.chars().count() <= 80), "{all}");
    let json = b.ok("biclusters m.safetensors x.csv --starts 3 --permutations 1 --json").out;
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&found["starts"], &found["permutations"]), (&3.into(), &1.into()));
    let first = &found["modules"][0];
    assert!(first["stability"].as_f64().unwrap() > 0.3, "{first}");
    // No module of the permuted copy has as much evidence as the planted ones: q is 1/(1 k) at the last of these, and no less after it.
    let q: Vec<f64> =
        found["modules"].as_array().unwrap().iter().map(|m| m["q_value"].as_f64().unwrap()).collect();
    assert!(q.is_sorted() && q.len() >= 2 && q[1] <= 0.5, "{q:?}");
    assert!(
        q.iter().all(|q| (1.0 / found["modules"].as_array().unwrap().len() as f64..=1.0).contains(q)),
        "{q:?}"
    );
    // The file has a line for each member, with the names of the columns.
    let lines: Vec<String> =
        std::fs::read_to_string(b.path("modules.csv")).unwrap().lines().map(str::to_string).collect();
    assert_eq!(lines[0], "module,member,number,name,sign");
    let modules = found["modules"].as_array().unwrap();
    let members = |m: &Value, of: &str| m[of].as_array().unwrap().len();
    let n: usize = modules.iter().map(|m| members(m, "rows") + members(m, "columns")).sum();
    assert_eq!(lines.len(), n + 1);
    let (column, sign) = (&first["columns"][0], &first["signs"][0]);
    assert!(lines.contains(&format!("0,column,{column},g{column},{sign}")), "{lines:?}");
    assert!(lines.contains(&format!("0,row,{},,", first["rows"][0])), "{lines:?}");
    // The same seed gives the same modules.
    assert_eq!(json, b.ok("biclusters m.safetensors x.csv --starts 3 --permutations 1 --json").out);
}

/// Genes as rows and cells as columns, both named in the file.
#[test]
fn a_transposed_table_keeps_the_names_of_both_axes() {
    let b = Folder::new();
    planted(&b);
    let text = std::fs::read_to_string(b.path("x.csv")).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let mut turned = format!("gene,{}\n", (0..120).map(|i| format!("cell{i}")).collect::<Vec<_>>().join(","));
    for j in 0..60 {
        turned += &format!("{}\n", lines.iter().map(|line| line[j]).collect::<Vec<_>>().join(","));
    }
    b.write("t.csv", turned);
    let fit = "--set psi_min=0.3 --set max_iter=40 --set init=ica --seed 3 -o t.safetensors";
    for how in ["--drop gene", "--keep gene", ""] {
        b.ok(&format!("fit rfn t.csv {how} --transpose -k 12 {fit}"));
        let shown = b.ok("show t.safetensors").out;
        assert!(shown.contains("g0, g1, g2"), "{how}: {shown}");
        b.ok(&format!("biclusters t.safetensors t.csv {how} --transpose --starts 0 -o m.csv"));
        let members = std::fs::read_to_string(b.path("m.csv")).unwrap();
        assert!(members.lines().count() > 10, "{members}");
        for line in members.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let name = if cells[1] == "row" { "cell" } else { "g" };
            assert_eq!(cells[3], format!("{name}{}", cells[2]), "{how}: {line}");
        }
    }
    // Beside codes and around reconstructions, the names go where --keep puts them.
    let codes = b.ok("encode t.safetensors t.csv --keep gene --transpose").out;
    assert!(codes.starts_with("name,rfn0,") && codes.contains("\ncell119,"), "{codes}");
    let back = b.ok("reconstruct t.safetensors t.csv --keep gene --transpose").out;
    assert!(back.starts_with("name,cell0,cell1,") && back.contains("\ng59,"), "{back}");
    assert_eq!(back.lines().count(), 61);
    let missing = text.replace("g7,", "other,");
    b.write("x2.csv", missing);
    let refused = b.run("encode t.safetensors x2.csv");
    assert!(refused.code == 1 && refused.err.contains("needs column 'g7'"), "{}", refused.err);
}

#[test]
fn models_without_modules_and_bad_files_are_refused() {
    let b = Folder::new();
    planted(&b);
    b.ok("fit pca x.csv -k 2 -o p.safetensors");
    let refused = b.run("biclusters p.safetensors x.csv");
    assert_ne!(refused.code, 0);
    assert!(
        refused.err.contains("may be negative")
            && refused.err.contains("(sparse-coder with positive_code=true")
            && refused.err.contains("rfn, stacked-rfn"),
        "{}",
        refused.err
    );
    let refused = b.run("biclusters m.safetensors x.csv -o x.csv");
    assert!(refused.code == 1 && refused.err.contains("is read by the same command"), "{}", refused.err);
    b.write("few.txt", "a\nb\n");
    let refused = b.run("biclusters m.safetensors x.csv --starts 0 --names few.txt");
    assert!(
        refused.code == 1 && refused.err.contains("2 names, but the model has 60 columns"),
        "{}",
        refused.err
    );
}

#[test]
fn a_model_without_a_module_gives_a_message_with_a_remedy() {
    let b = Folder::new();
    // Of 3 columns no two have squared loadings above 4/3 of the sum of all.
    b.both("d", 40, 3);
    b.ok("fit rfn d.csv -k 1 --set max_iter=20 -o m.safetensors");
    for options in ["--starts 0", "--starts 2 --permutations 1"] {
        let found = b.ok(&format!("biclusters m.safetensors d.csv {options} -o none.csv")).out;
        assert!(found.contains("40 rows, 3 columns; 0 modules"), "{found}");
        assert!(
            found.contains("No module was found") && found.contains("--starts") && found.contains("-k"),
            "{found}"
        );
        assert!(!found.contains("evidence") && found.lines().all(|l| l.chars().count() <= 80), "{found}");
        assert_eq!(String::from_utf8(b.read("none.csv")).unwrap(), "module,member,number,name,sign\n");
        let json = b.ok(&format!("biclusters m.safetensors d.csv {options} --json")).out;
        let found: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(found["modules"].as_array().unwrap().len(), 0);
        assert!(found["warnings"][0].as_str().unwrap().starts_with("no module was found"), "{found}");
    }
}

#[test]
fn stability_of_units_tests_no_gaussianity() {
    let b = Folder::new();
    planted(&b);
    let fitted =
        b.ok("fit rfn x.csv -k 6 --set psi_min=0.3 --set max_iter=40 --stability 3 --bootstrap 0 -o s.safetensors").out;
    assert!(fitted.contains("halves") && !fitted.contains("as a group"), "{fitted}");
    let shown: Value = serde_json::from_str(&b.ok("show s.safetensors --json").out).unwrap();
    let found = &shown["report"]["stability"];
    assert_eq!(found["gaussian"].as_array().unwrap().len(), 0);
    assert!(found["chance"].as_f64().unwrap() > 0.0 && found["halves"].as_array().unwrap().len() == 6);
    b.ok("report s.safetensors -o s.html");
    let page = std::fs::read_to_string(b.path("s.html")).unwrap();
    assert!(page.contains("random directions, paired in the same way"));
}

#[test]
fn fits_that_end_at_the_time_limit_are_stated() {
    let b = Folder::new();
    planted(&b);
    let refits = "m.safetensors x.csv --starts 2 --permutations 1";
    let late = b.ok(&format!("biclusters {refits} --max-seconds 0.000001 --json"));
    assert!(late.err.contains("the fits ended early"), "{}", late.err);
    let found: Value = serde_json::from_str(&late.out).unwrap();
    assert_eq!((&found["incomplete"], &found["permutations"]), (&true.into(), &0.into()));
    let in_time = b.ok(&format!("biclusters {refits} --max-seconds 10000 --json"));
    assert!(!in_time.err.contains("ended early"), "{}", in_time.err);
    assert_eq!(in_time.out, b.ok(&format!("biclusters {refits} --json")).out);
    assert_eq!(b.run(&format!("biclusters {refits} --max-seconds 0")).code, 2);
    let page = b.ok(&format!("report {refits} --max-seconds 0.000001 -o page.html"));
    assert!(page.err.contains("the fits ended early"), "{}", page.err);
    assert!(std::fs::read_to_string(b.path("page.html")).unwrap().contains("the fits ended early"));
    assert_eq!(b.run("report m.safetensors x.csv --max-seconds 3").code, 2);
}
