//! Standard errors of rows and columns without a cell, where parameters are penalised.

use super::Design;
use crate::made::{apart, numbers, on_threads};
use serde_json::{Value, json};
use unmix::data::VecSink;
use unmix::impute::{ImputeOptions, Imputer, predict_cells};
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Model, Rows};

/// Penalised fits: weak and strong penalties, none, offsets alone, and no offsets.
fn penalised() -> Vec<Value> {
    vec![
        json!({"n_components": 2, "alpha": 0.05}),
        json!({"n_components": 2, "alpha": 1.0}),
        json!({"n_components": 2, "alpha": 0}),
        json!({"n_components": 0, "alpha": 0.1}),
        json!({"n_components": 4, "alpha": 0.05, "offsets": false}),
        json!({"algorithm": "soft-impute", "alpha": 3.0}),
        json!({"algorithm": "soft-impute", "alpha": 15.0}),
    ]
}

/// `60 x 40` cells of rank 2 with offsets; columns 0 to 2 and rows 0 to 2, as good as any others, have no cell.
fn with_unseen(seed: u64) -> Design {
    let mut design = Design::new((60, 40, 2), 0.5, 0.4, seed).with_offsets(2.0, 0.7, 1.2, 90 + seed);
    for (i, row) in design.x.chunks_exact_mut(40).enumerate() {
        row.iter_mut().enumerate().filter(|(j, _)| i < 3 || *j < 3).for_each(|(_, x)| *x = f64::NAN);
    }
    design
}

/// The share of new observations of these cells that are inside their 95 % intervals.
fn coverage(given: &Value, cells: impl Fn(usize, usize) -> bool) -> f64 {
    let (mut inside, mut all) = (0.0, 0.0);
    for seed in 0..60u64 {
        let design = with_unseen(seed);
        let model = design.fit(given.clone());
        let chosen: Vec<(u64, u64)> = (0..60 * 40)
            .map(|at| (at / 40, at % 40))
            .filter(|&(i, j)| cells(i, j))
            .map(|(i, j)| (i as u64, j as u64))
            .collect();
        let (values, std) = predict_cells(&model, &chosen, true).unwrap();
        let draws = Stream::new(seed, 77);
        for (at, (i, j)) in chosen.iter().enumerate() {
            let new = design.truth[(i * 40 + j) as usize] + 0.4 * draws.normal(at as u64);
            inside += f64::from(u8::from((new - values[at]).abs() < 1.96 * std[at]));
            all += 1.0;
        }
    }
    inside / all
}

#[test]
fn intervals_of_columns_and_rows_without_a_cell_cover_what_they_state() {
    for given in penalised() {
        let columns = coverage(&given, |i, j| j < 3 && i >= 3);
        let rows = coverage(&given, |i, j| i < 3 && j >= 3);
        let both = coverage(&given, |i, j| i < 3 && j < 3);
        // 180 columns or rows are independent.
        for (what, share) in [("columns", columns), ("rows", rows), ("both", both)] {
            assert!((0.88..1.0).contains(&share), "{what}, {given}: {share}");
        }
        assert!(columns < 0.99 && rows < 0.99, "{given}: {columns} {rows}");
    }
}

/// Single cells, the rows of the fit, and a new row without a cell have the same errors, also after the model was written to a file.
#[test]
fn the_errors_of_what_has_no_cell_are_the_same_by_any_way() {
    let design = with_unseen(3);
    for given in penalised() {
        let fitted = design.fit(given.clone());
        let back = Model::from_bytes(&fitted.to_bytes().unwrap(), "the model".as_ref()).unwrap();
        for model in [&fitted, &back] {
            let cells: Vec<(u64, u64)> = (0..60).map(|i| (i, 1)).chain((0..40).map(|j| (2, j))).collect();
            let (_, want) = predict_cells(model, &cells, true).unwrap();
            let filled = |x: &[f64]| {
                let wanted = ImputeOptions { std: true, draws: 0, bootstrap: 0 };
                let rows = Rows::from_slice(x, 40).unwrap();
                let any = AnyRows::from(Rows::from_slice(x, 40).unwrap());
                let imputer = Imputer::new(model, &any, wanted, &on_threads(1)).unwrap();
                let mut sink = VecSink(Vec::new());
                imputer.fill(&rows, &on_threads(1), &mut sink).unwrap();
                sink.0
            };
            let rows = filled(&design.x);
            let column: Vec<f64> = (0..60).map(|i| rows[80 * i + 41]).collect();
            assert!(apart(&column, &want[..60]) < 1e-9, "{given}");
            assert!(apart(&rows[2 * 80 + 40..3 * 80], &want[60..]) < 1e-9, "{given}");
            assert!(apart(&filled(&[f64::NAN; 40])[40..], &want[60..]) < 1e-9, "{given}");
        }
        // Other cells are predicted as before: their columns have no errors.
        let noise = numbers(&fitted, "noise_variance")[0];
        let errors = fitted.tensor("column_errors").unwrap().to_matrix();
        assert!((3..40).all(|j| errors.row(j).iter().all(|x| *x == 0.0)), "{given}");
        let (_, seen) = predict_cells(&fitted, &[(10, 10)], true).unwrap();
        assert!(seen[0] * seen[0] < 4.0 * noise, "{given}");
        let message = fitted.report().warnings.join("; ");
        assert!(message.contains("assume that such a column varies as those with cells do"), "{message}");
    }
}
