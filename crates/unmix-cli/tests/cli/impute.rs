//! `unmix impute`: missing cells of a file are filled.

use crate::folder::{Folder, numbers};

/// Four columns of rank 2 plus noise, as CSV, with every fifth cell empty, and the complete rows.
fn table() -> (String, Vec<Vec<f64>>) {
    let draws = unmix::internal::num::random::Stream::new(3, 0);
    let (mut text, mut truth) = (String::from("a,b,c,d\n"), Vec::new());
    for i in 0..60u64 {
        let z = [draws.normal(8 * i), draws.normal(8 * i + 1)];
        let e = |j: u64| 0.1 * draws.normal(8 * i + 2 + j);
        let row = vec![z[0] + e(0), z[0] - z[1] + e(1), z[1] + e(2), 2.0 * z[0] + z[1] + e(3)];
        let cells = row.iter().enumerate().map(|(j, x)| match (i as usize * 4 + j) % 5 {
            0 => ["", "NA", "NaN"][i as usize % 3].to_string(),
            _ => format!("{x:?}"),
        });
        text += &(cells.collect::<Vec<_>>().join(",") + "\n");
        truth.push(row);
    }
    (text, truth)
}

#[test]
fn missing_cells_are_imputed_with_standard_errors_and_draws_and_observed_cells_keep_their_bits() {
    let b = Folder::new();
    let (text, truth) = table();
    b.write("d.csv", &text);
    b.ok("fit ppca d.csv -k 2 -q");
    let shown = b.ok("show d.ppca.safetensors --json").out;
    assert!(shown.contains("\"rows_checksum\"") && shown.contains("\"em\""), "{shown}");
    let run = b.ok("impute d.ppca.safetensors d.csv -o full.csv --std std.csv --draws 2 -q");
    assert!(!run.err.contains("warning"), "{}", run.err);
    let read = |name: &str| numbers(&std::fs::read_to_string(b.path(name)).unwrap());
    let (full, std, draws) = (read("full.csv"), read("std.csv"), [read("full.1.csv"), read("full.2.csv")]);
    assert!(std::fs::read_to_string(b.path("full.csv")).unwrap().starts_with("a,b,c,d\n"));
    let mut outside = 0;
    for (i, row) in truth.iter().enumerate() {
        for (j, x) in row.iter().enumerate() {
            if (4 * i + j) % 5 != 0 {
                assert_eq!((full[i][j].to_bits(), std[i][j]), (x.to_bits(), 0.0));
                assert!(draws.iter().all(|d| d[i][j].to_bits() == x.to_bits()));
                continue;
            }
            outside += u32::from((full[i][j] - x).abs() > 3.0 * std[i][j]);
            assert!(draws[0][i][j] != draws[1][i][j]);
        }
    }
    assert!(outside <= 2, "{outside} of 48 cells are more than 3 standard errors off");
    // Without time for refits the parameters are known, and the filled cells are the same.
    let late = b.ok("impute d.ppca.safetensors d.csv -o late.csv --std late-std.csv --max-seconds 0.000001");
    assert!(late.err.contains("refits ended early at the time limit"), "{}", late.err);
    assert_eq!(read("late.csv"), full);
    assert_ne!(read("late-std.csv"), std);
    // Written to standard output, the filled cells are the same.
    assert_eq!(numbers(&b.ok("impute d.ppca.safetensors d.csv -q").out), full);
    // The page of rows with missing cells shows no NaN.
    b.ok("report d.ppca.safetensors d.csv -o page.html -q");
    assert!(!std::fs::read_to_string(b.path("page.html")).unwrap().contains("NaN"));
    let result = b.ok("impute d.ppca.safetensors d.csv -o again.csv");
    assert!(result.err.contains("48 missing cells of d.csv filled"), "{}", result.err);
    let result = b.ok("impute d.ppca.safetensors full.csv -o again.csv");
    assert!(result.err.contains("no cell of full.csv is missing: nothing was filled"), "{}", result.err);
    // Other rows: standard deviations treat the parameters of the model as known.
    b.write("new.csv", "a,b,c,d\n1,,,\n,,,\n");
    let other = b.ok("impute d.ppca.safetensors new.csv -o new-full.csv --std new-std.csv");
    assert!(other.err.contains("treated as known"), "{}", other.err);
    assert_eq!(read("new-full.csv").len(), 2);
    // Scores, too, use the observed cells of a row alone.
    assert_eq!(b.ok("score d.ppca.safetensors new.csv -q").out.lines().last(), Some("0.0"));
}

#[test]
fn imputations_are_refused_in_one_sentence() {
    let b = Folder::new();
    let (text, _) = table();
    b.write("d.csv", &text);
    b.ok("fit ppca d.csv -k 2 -q");
    let refused = |command: &str, code: i32, words: &[&str]| {
        let run = b.run(command);
        assert!(run.code == code && words.iter().all(|w| run.err.contains(w)), "{command}: {}", run.err);
    };
    refused("fit pca d.csv", 1, &["is NaN", "as 'unmix impute' does"]);
    refused("impute d.ppca.safetensors d.csv --draws 2", 2, &["-o NAME.csv"]);
    refused("impute d.ppca.safetensors d.csv -o d.csv", 1, &["read by the same command"]);
    b.write("e.csv", "a,b,c,d\n1,2,3,inf\n");
    refused("impute d.ppca.safetensors e.csv", 1, &["infinity"]);
    b.write("whole.csv", "a,b\n1,2\n2,3\n4,1\n");
    b.ok("fit pca whole.csv -q");
    refused("impute whole.pca.safetensors whole.csv", 1, &["that fills them (ppca, "]);
}

#[test]
fn a_dictionary_imputes_missing_cells() {
    let b = Folder::new();
    // Rows are multiples of one of three orthogonal atoms: two observed cells determine the others.
    let atoms = [[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]];
    let unit: Vec<f64> = atoms.iter().flatten().map(|x| 0.5 * x).collect();
    unmix::data::write_npy(&b.path("atoms.npy"), &unit, &[4]).unwrap();
    let line = |row: usize| atoms[row % 3].map(|x| format!("{}", (1.0 + row as f64) * x)).join(",");
    let text: Vec<String> = (0..12).map(line).collect();
    b.write("x.csv", format!("a,b,c,d\n{}\n", text.join("\n")));
    b.write("gaps.csv", "a,b,c,d\n2,,2,2\n3,-3,,-3\n,,,\n");
    b.ok(
        "fit sparse-coder x.csv --dictionary atoms.npy --set alpha=0.001 --set tol=1e-10 -q -o m.safetensors",
    );
    b.ok("impute m.safetensors gaps.csv -q -o full.csv");
    let full = numbers(&std::fs::read_to_string(b.path("full.csv")).unwrap());
    assert_eq!((full[0][0], full[1][1]), (2.0, -3.0));
    assert!((full[0][1] - 2.0).abs() < 0.01 && (full[1][2] - 3.0).abs() < 0.01, "{full:?}");
    assert_eq!(full[2], [0.0; 4], "no observed cell");
    // Codes without a distribution have no standard errors.
    let refused = b.run("impute m.safetensors gaps.csv -q -o full.csv --std std.csv");
    assert!(
        refused.code != 0 && refused.err.contains("the codes of this model have no distribution"),
        "{}",
        refused.err
    );
    // A model that cannot impute is refused before rows are read.
    b.ok("fit pca x.csv -k 1 -q -o pca.safetensors");
    assert!(b.run("impute pca.safetensors none.csv -q").code != 0);
}

#[test]
fn a_model_that_cannot_impute_is_refused_with_the_methods_that_can() {
    let b = Folder::new();
    b.both("d", 60, 4);
    b.ok("fit pca d.npy -k 2 -o pca.safetensors -q");
    let refused = b.run("impute pca.safetensors d.npy -o filled.npy");
    assert!(
        refused.code == 1 && refused.err.contains("by a model of pca is not possible"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("fills them (ppca, linear-eigengan, factor-analysis"), "{}", refused.err);
    assert!(!refused.err.contains("posterior") && !refused.err.contains("reconstruct"), "{}", refused.err);
}

#[test]
fn robust_pca_imputes_cells_of_the_low_rank_part() {
    let b = Folder::new();
    b.write("d.csv", table().0);
    b.ok("fit robust-pca d.csv --set noise=0.1 -q -o m.safetensors");
    let run = b.ok("impute m.safetensors d.csv -o full.csv");
    assert!(run.err.contains("48 missing cells of d.csv filled"), "{}", run.err);
    b.ok("reconstruct m.safetensors d.csv -o low.csv -q");
    let read = |name: &str| numbers(&std::fs::read_to_string(b.path(name)).unwrap());
    let (full, low) = (read("full.csv"), read("low.csv"));
    let observed = |i: usize, j: usize| !(4 * i + j).is_multiple_of(5);
    let (_, truth) = table();
    for (i, row) in truth.iter().enumerate() {
        for (j, x) in row.iter().enumerate() {
            let want = if observed(i, j) { *x } else { low[i][j] };
            assert_eq!(full[i][j].to_bits(), want.to_bits(), "row {i}, column {j}");
        }
    }
    for more in ["--std std.csv", "--draws 2"] {
        let refused = b.run(&format!("impute m.safetensors d.csv -o other.csv {more}"));
        let words = "the codes of this model have no distribution";
        assert!(refused.code == 1 && refused.err.contains(words), "{more}: {}", refused.err);
    }
}
