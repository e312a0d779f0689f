//! `--triplets`: matrices as lists of cells, fitted and completed.

use crate::folder::{Folder, numbers};

/// The text `row,column,value` of half of the cells of a matrix of rank 1 with an offset for each row, and the complete matrix.
fn list() -> (String, Vec<Vec<f64>>) {
    let draws = unmix::internal::num::random::Stream::new(8, 0);
    let (n, p) = (40u64, 25u64);
    let (a, v, b) = (|i| draws.normal(i), |j| draws.normal(1000 + j), |i| draws.normal(2000 + i));
    let truth: Vec<Vec<f64>> = (0..n).map(|i| (0..p).map(|j| 3.0 + a(i) * v(j) + b(i)).collect()).collect();
    let mut text = String::from("user,item,rating\n");
    for i in 0..n {
        for j in (0..p).filter(|j| draws.uniform(5000 + i * p + j) < 0.5) {
            text += &format!("{i},{j},{:?}\n", truth[i as usize][j as usize]);
        }
    }
    (text, truth)
}

#[test]
fn cells_are_fitted_predicted_and_filled() {
    let b = Folder::new();
    let (text, truth) = list();
    b.write("cells.csv", &text);
    let shown = b.ok("fit matrix-completion cells.csv --triplets -o m.safetensors").out;
    assert!(shown.contains("40") && shown.contains("25"), "{shown}");
    // The next steps that are printed work.
    let steps: Vec<&str> = shown.lines().skip_while(|l| !l.contains("Next")).skip(1).collect();
    assert_eq!(steps.len(), 2, "{shown}");
    for step in steps {
        b.ok(step.trim().trim_start_matches("unmix "));
    }
    let codes = std::fs::read_to_string(b.path("cells.codes.csv")).unwrap();
    assert_eq!(codes.lines().count(), 41, "a code for each row of the matrix");
    // Predicted cells of rows that were in the fit.
    b.write("cells-to-predict.csv", "user,item\n3,4\n39,24\n0,0\n");
    let ran = b.ok("impute m.safetensors cells-to-predict.csv --triplets --std std.csv");
    assert!(ran.err.contains("3 missing cells of cells-to-predict.csv filled"), "{}", ran.err);
    assert!(ran.out.starts_with("row,column,value\n3,4,"), "whole numbers: {}", ran.out);
    let found = numbers(&ran.out);
    let std = numbers(&std::fs::read_to_string(b.path("std.csv")).unwrap());
    assert_eq!((found.len(), std.len()), (3, 3));
    for (cell, std) in found.iter().zip(&std) {
        let (i, j) = (cell[0] as usize, cell[1] as usize);
        assert!((cell[2] - truth[i][j]).abs() < 1e-6, "{cell:?}");
        assert!(std[2] > 0.0 && std[..2] == cell[..2]);
    }
    // A new row, given by some of its cells: 3 + 2 v_j - 1.
    let new = |j: usize| 2.0 + 2.0 * unmix::internal::num::random::Stream::new(8, 0).normal(1000 + j as u64);
    let known: String = (0..8).map(|j| format!("0,{j},{:?}\n", new(j))).collect();
    b.write("new.csv", format!("user,item,rating\n{known}0,20,\n0,21,NA\n"));
    let found = numbers(&b.ok("impute m.safetensors new.csv --triplets -q").out);
    assert_eq!(found[0][2].to_bits(), new(0).to_bits());
    let none = b.ok("impute m.safetensors cells.csv --triplets -o same.csv");
    assert!(none.err.contains("no cell of cells.csv is missing"), "{}", none.err);
    assert!((found[8][2] - new(20)).abs() < 1e-3 && (found[9][2] - new(21)).abs() < 1e-3, "{found:?}");
}

#[test]
fn files_that_are_not_lists_of_cells_are_refused_in_one_sentence() {
    let b = Folder::new();
    let (text, _) = list();
    b.write("cells.csv", &text);
    b.ok("fit matrix-completion cells.csv --triplets -o m.safetensors -q");
    let refused = |command: &str, code: i32, words: &[&str]| {
        let run = b.run(command);
        assert!(run.code == code && words.iter().all(|w| run.err.contains(w)), "{command}: {}", run.err);
    };
    b.write("twice.csv", "r,c,v\n0,0,1\n1,1,2\n0,0,3\n");
    refused("fit matrix-completion twice.csv --triplets", 1, &["lines 0 and 2", "row 0 and column 0"]);
    b.write("wide.csv", "a,b,c,d\n0,0,1,2\n1,1,2,3\n");
    let wide = &["a list of cells", "--columns a,b,c"];
    refused("fit matrix-completion wide.csv --triplets", 1, wide);
    b.ok("fit matrix-completion wide.csv --triplets --columns a,b,c -k 1 -o w.safetensors -q");
    b.write("named.csv", "user,item,rating\nann,0,1\nbob,1,2\n");
    let named = b.run("fit matrix-completion named.csv --triplets");
    assert!(named.code == 1 && named.err.contains("replace names by numbers first"), "{}", named.err);
    assert!(!named.err.contains("--drop"), "{}", named.err);
    b.write("outside.csv", "r,c\n0,25\n");
    refused("impute m.safetensors outside.csv --triplets", 1, &["(0, 25)", "40 rows and 25 columns"]);
    refused("impute m.safetensors cells.csv --triplets --draws 2", 2, &["--draws"]);
    b.both("d", 40, 4);
    b.ok("fit pca d.npy -k 2 -o pca.safetensors -q");
    let expected = ["filling a list of cells by a model of pca", "fit matrix-completion"];
    refused("impute pca.safetensors cells.csv --triplets", 1, &expected);
}

#[test]
fn lists_that_are_read_in_another_way_than_meant_are_noted() {
    let b = Folder::new();
    let (text, _) = list();
    b.write("cells.csv", &text);
    // A list of cells that is read as rows of three numbers.
    let result = b.ok("fit matrix-completion cells.csv -k 1 -o rows.safetensors");
    assert!(
        result.err.contains("look like numbers of rows and columns") && result.err.contains("add --triplets")
    );
    // Numbers from 1: an empty row and an empty column.
    let from_one: String = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|x| x.parse::<f64>().unwrap()).collect::<Vec<_>>())
        .map(|cell| format!("{},{},{:?}\n", cell[0] + 1.0, cell[1] + 1.0, cell[2]))
        .collect();
    b.write("one.csv", format!("user,item,rating\n{from_one}"));
    let result = b.ok("fit matrix-completion one.csv --triplets -k 1 -o one.safetensors");
    assert!(result.err.contains("are rows and columns numbered from 1?"), "{}", result.err);
    let fine = b.ok("fit matrix-completion cells.csv --triplets -o m.safetensors");
    assert!(!fine.err.contains("numbered from 1") && !fine.err.contains("--triplets"), "{}", fine.err);
    for verb in ["score", "impute"] {
        let requested =
            |model: &str, list: &str| b.ok(&format!("{verb} {model} {list} --triplets -o {verb}-{list}")).err;
        let (from_one, from_zero) =
            (requested("one.safetensors", "one.csv"), requested("m.safetensors", "cells.csv"));
        assert!(from_one.contains("numbered from 1? They are numbered from 0 here"), "{verb}: {from_one}");
        assert!(!from_zero.contains("numbered from 1"), "{verb}: {from_zero}");
    }
    // Sparse rows of a file: the cells that are not stored.
    let dense: Vec<f64> =
        (0..60).map(|i| if (i + i / 6) % 3 == 0 { 0.0 } else { 1.0 + f64::from(i % 7) }).collect();
    let mut writer = unmix_io::SparseWriter::new(6, unmix::Dtype::F64).unwrap();
    writer.put(&dense).unwrap();
    writer.finish(&mut std::fs::File::create(b.path("sparse.npz")).unwrap(), &b.path("sparse.npz")).unwrap();
    let result = b.ok("fit matrix-completion sparse.npz -k 1 -o n.safetensors");
    assert!(
        result.err.contains("33.333 % of the cells are not stored and are taken as missing, not as 0"),
        "{}",
        result.err
    );
}

/// Cells of [`list`] that are not in it, with their values plus `error` of each, as `row,column,value`.
fn hidden(text: &str, truth: &[Vec<f64>], error: impl Fn(usize) -> f64) -> String {
    let listed: Vec<String> = text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_string()).collect();
    let mut out = String::from("user,item,rating\n");
    let mut n = 0;
    for (i, row) in truth.iter().enumerate() {
        for (j, x) in row.iter().enumerate().filter(|(j, _)| !listed.contains(&format!("{i},{j}"))) {
            out += &format!("{i},{j},{:?}\n", x + error(n));
            n += 1;
        }
    }
    out
}

#[test]
fn errors_of_listed_cells_are_written_and_summarised() {
    let b = Folder::new();
    let (text, truth) = list();
    b.write("cells.csv", &text);
    b.ok("fit matrix-completion cells.csv --triplets -k 1 -o m.safetensors -q");
    // The matrix has no noise, so predictions are exact: errors of +-1 are far outside the intervals.
    b.write("hidden.csv", hidden(&text, &truth, |n| if n % 4 == 0 { 1.0 } else { 0.0 }));
    let ran = b.ok("score m.safetensors hidden.csv --triplets");
    assert!(ran.out.starts_with("row,column,error\n"), "{}", ran.out);
    let found = numbers(&ran.out);
    let n = found.len();
    assert_eq!(n, 40 * 25 - (text.lines().count() - 1));
    for (at, cell) in found.iter().enumerate() {
        let want = if at % 4 == 0 { 1.0 } else { 0.0 };
        assert!((cell[2] - want).abs() < 1e-5, "{cell:?}");
    }
    assert!(ran.err.contains(&format!("of {n} cells: root mean square 0.")), "{}", ran.err);
    let shown = b.ok("score m.safetensors hidden.csv --triplets --summary -q").out;
    let value = |name: &str| {
        let line = shown.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{shown}"));
        line.split_whitespace().last().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(value("cells"), n as f64);
    let squares: f64 = found.iter().map(|cell| cell[2] * cell[2]).sum();
    assert!((value("root mean square error") - (squares / n as f64).sqrt()).abs() < 1e-12);
    assert!(value("inside their 95 % intervals") <= 0.75 + 1.0 / n as f64, "{shown}");
    // A cell without a value is not scored.
    b.write("one.csv", "r,c,v\n0,0,\n1,1,2\n");
    assert_eq!(b.ok("score m.safetensors one.csv --triplets -q").out.lines().count(), 2);
}

#[test]
fn scores_of_lists_are_refused_where_there_are_none() {
    let b = Folder::new();
    let (text, _) = list();
    b.write("cells.csv", &text);
    b.ok("fit matrix-completion cells.csv --triplets -k 1 -o m.safetensors -q");
    b.both("d", 40, 4);
    b.ok("fit pca d.npy -k 2 -o pca.safetensors -q");
    b.write("asked.csv", "r,c\n0,0\n");
    b.write("empty.csv", "r,c,v\n0,0,\n1,1,\n");
    b.write("outside.csv", "r,c,v\n40,0,1\n");
    for (command, code, words) in [
        ("score pca.safetensors cells.csv --triplets", 1, "scoring a list of cells by a model of pca"),
        ("score pca.safetensors cells.csv --triplets", 1, "fit matrix-completion, or give rows"),
        ("score m.safetensors asked.csv --triplets", 1, "has no column of values"),
        ("score m.safetensors empty.csv --triplets", 1, "none of its cells has a value"),
        ("score m.safetensors outside.csv --triplets", 1, "40 rows and 25 columns"),
        ("score m.safetensors cells.csv --triplets --quality", 2, "--quality"),
        ("score m.safetensors cells.csv --triplets --keep user", 2, "no columns to keep"),
        (
            "report m.safetensors cells.csv --triplets --color user -o p.html",
            2,
            "no column to colour rows by",
        ),
        ("report m.safetensors --triplets -o p.html", 2, "INPUT"),
    ] {
        let run = b.run(command);
        assert!(run.code == code && run.err.contains(words), "{command}: {} {}", run.code, run.err);
    }
}

#[test]
fn a_page_of_listed_cells_is_that_of_rows_with_gaps() {
    let b = Folder::new();
    let (text, _) = list();
    b.write("cells.csv", &text);
    b.ok("fit matrix-completion cells.csv --triplets -k 1 -o m.safetensors -q");
    let mut rows = vec![vec![String::new(); 25]; 40];
    for cell in text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        rows[cell[0].parse::<usize>().unwrap()][cell[1].parse::<usize>().unwrap()] = cell[2].into();
    }
    let table: String = rows.iter().map(|row| row.join(",") + "\n").collect();
    b.write("gaps.csv", table);
    b.write("groups.csv", (0..40).map(|i| format!("{}\n", ["a", "b"][i % 2])).collect::<String>());
    // Neither is named as the file of the fit.
    b.write("list.csv", &text);
    b.ok("report m.safetensors list.csv --triplets --color groups.csv -o list.html");
    b.ok("report m.safetensors gaps.csv --no-header --color groups.csv -o gaps.html");
    // The name of the input is that of its file.
    let page = |name: &str| String::from_utf8(b.read(name)).unwrap();
    let plain =
        |page: String| page.replace(" --no-header", "").replace(" --triplets", "").replace("gaps.", "list.");
    assert!(plain(page("list.html")) == plain(page("gaps.html")), "the pages differ");
}

#[test]
fn a_list_with_a_cell_in_a_far_column_is_refused_before_anything_is_allocated_for_each_column() {
    // The tables of two factors would need half a terabyte.
    if unmix::available_memory().is_none_or(|bytes| bytes > 200 << 30) {
        return;
    }
    let b = Folder::new();
    b.write("t.csv", "row,col,v\n0,0,2\n1,4000000000,3\n1,1,2\n");
    for algorithm in ["als", "soft-impute", "ppca-em"] {
        for k in ["-k 1", ""] {
            let command = format!("fit matrix-completion t.csv --triplets {k} --set algorithm={algorithm}");
            let run = b.run(&command);
            let begins = "unmix: matrix-completion of 2 rows and 4000000001 columns, with ";
            assert!(run.code == 1 && run.err.starts_with(begins), "{command}: {}", run.err);
            let words = ["would need", "MiB) of memory", "number only the rows and columns that have cells"];
            assert!(words.iter().all(|w| run.err.contains(w)), "{command}: {}", run.err);
        }
    }
}

#[test]
fn errors_that_treat_the_parameters_as_known_are_noted() {
    let b = Folder::new();
    b.write("cells.csv", list().0);
    b.write("cells-to-predict.csv", "user,item\n3,4\n0,0\n");
    for (settings, noted) in [("", false), ("--set alpha=0.1", true), ("--set algorithm=ppca-em", true)] {
        b.ok(&format!("fit matrix-completion cells.csv --triplets -k 1 {settings} -o m.safetensors -q"));
        let command = "impute m.safetensors cells-to-predict.csv --triplets -o values.csv";
        let ran = b.ok(&format!("{command} --std std.csv"));
        let words = "unmix: warning: single cells are predicted without the rows of the fit";
        assert_eq!(ran.err.contains(words), noted, "{settings}: {}", ran.err);
        assert_eq!(ran.err.contains("parameters are treated as known"), noted, "{settings}: {}", ran.err);
        // Values alone have no errors.
        let ran = b.ok(command);
        assert!(!ran.err.contains("treated as known"), "{settings}: {}", ran.err);
    }
    // Nor have known cells.
    let ran = b.ok("impute m.safetensors cells.csv --triplets -o values.csv --std std.csv");
    assert!(!ran.err.contains("treated as known"), "{}", ran.err);
}
