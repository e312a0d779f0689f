//! `--triplets`: matrices as lists of cells, fitted and completed.

use crate::bench::Bench;

/// The text `row,column,value` of half of the cells of a matrix of rank 1 with an offset for each row, and the complete matrix.
fn list() -> (String, Vec<Vec<f64>>) {
    let draws = unmix::num::random::Stream::new(8, 0);
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

fn numbers(text: &str) -> Vec<Vec<f64>> {
    let line = |line: &str| line.split(',').map(|x| x.parse().unwrap()).collect();
    text.lines().skip(1).map(line).collect()
}

#[test]
fn cells_are_fitted_predicted_and_filled() {
    let b = Bench::new();
    let (text, truth) = list();
    b.write("cells.csv", &text);
    let shown = b.ok("fit matrix-completion cells.csv --triplets -o m.safetensors").out;
    assert!(shown.contains("40") && shown.contains("25"), "{shown}");
    // Predicted cells of rows that were in the fit.
    b.write("asked.csv", "user,item\n3,4\n39,24\n0,0\n");
    let found = numbers(&b.ok("impute m.safetensors asked.csv --triplets --std std.csv -q").out);
    let std = numbers(&std::fs::read_to_string(b.path("std.csv")).unwrap());
    for (cell, std) in found.iter().zip(&std) {
        let (i, j) = (cell[0] as usize, cell[1] as usize);
        assert!((cell[2] - truth[i][j]).abs() < 1e-6, "{cell:?}");
        assert!(std[2] > 0.0 && std[..2] == cell[..2]);
    }
    // A new row, given by some of its cells: 3 + 2 v_j - 1.
    let new = |j: usize| 2.0 + 2.0 * unmix::num::random::Stream::new(8, 0).normal(1000 + j as u64);
    let known: String = (0..8).map(|j| format!("0,{j},{:?}\n", new(j))).collect();
    b.write("new.csv", format!("user,item,rating\n{known}0,20,\n0,21,NA\n"));
    let found = numbers(&b.ok("impute m.safetensors new.csv --triplets -q").out);
    assert_eq!(found[0][2].to_bits(), new(0).to_bits());
    assert!((found[8][2] - new(20)).abs() < 1e-3 && (found[9][2] - new(21)).abs() < 1e-3, "{found:?}");
}

#[test]
fn what_is_no_list_is_refused_in_one_sentence() {
    let b = Bench::new();
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
    refused("fit matrix-completion wide.csv --triplets", 1, &["a list of cells"]);
    b.write("outside.csv", "r,c\n0,25\n");
    refused("impute m.safetensors outside.csv --triplets", 1, &["(0, 25)", "40 rows and 25 columns"]);
    refused("impute m.safetensors cells.csv --triplets --draws 2", 2, &["--draws"]);
}
