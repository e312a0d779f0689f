//! `ppca-em`: the Gaussian of probabilistic PCA, and errors of fills by refits to resampled rows.

use super::{Design, completed};
use crate::made::{apart, encode, numbers, settings, try_fit, warned};
use serde_json::json;
use unmix::data::{Sparse, VecSink};
use unmix::impute::{ImputeOptions, Imputer, note_on_errors};
use unmix::internal::num::factor;
use unmix::{AnyRows, Features, Model, Rows, Run};

#[test]
fn ppca_em_is_the_model_of_ppca() {
    let design = Design::new((120, 12, 3), 0.7, 0.4, 5);
    let model =
        design.fit(json!({"algorithm": "ppca-em", "n_components": 3, "tol": 1e-10, "max_iter": 1000}));
    let given = settings(json!({"n_components": 3, "tol": 1e-10}));
    let ppca = try_fit("ppca", &given, &design.x, 12).unwrap();
    assert_eq!(model.report().n_iter, ppca.report().n_iter);
    assert!(apart(&numbers(&model, "mean"), &numbers(&ppca, "mean")) < 1e-9);
    let noise = |of: &Model| numbers(of, "noise_variance")[0];
    assert!((noise(&model) / noise(&ppca) - 1.0).abs() < 1e-9);
    // W W' is that of PPCA, where each factor has the length of its loadings.
    let w = model.tensor("components").unwrap().to_matrix();
    let (axes, latent) = (ppca.tensor("components").unwrap().to_matrix(), numbers(&ppca, "latent_scale"));
    let of = unmix::Matrix::from_fn(3, 12, |a, j| latent[a] * axes[(a, j)]);
    let [a, b] = [&w, &of].map(|w| factor::multiply(&w.transposed(), w));
    assert!(apart(a.as_slice(), b.as_slice()) < 1e-9);
    // Codes and fills are posterior means.
    assert!(apart(&encode(&model, &design.x), &encode(&ppca, &design.x)) < 1e-8);
    assert!(apart(&numbers(&model, "row_codes"), &encode(&model, &design.x)) < 1e-12);
    assert!(numbers(&model, "row_offsets").iter().all(|b| *b == 0.0));
    // Without `n_components`, the criterion selects it.
    let auto = design.fit(json!({"algorithm": "ppca-em", "tol": 1e-6, "max_iter": 500}));
    assert_eq!(auto.n_components(), 3);
    assert!(completed(&auto).iter().all(|x| x.is_finite()));
}

#[test]
fn a_likelihood_has_no_penalty_and_needs_a_mean() {
    let design = Design::new((60, 12, 2), 0.7, 0.4, 5);
    let plain = design.fit(json!({"algorithm": "ppca-em", "n_components": 2}));
    let model = design.fit(json!({"algorithm": "ppca-em", "n_components": 2, "alpha": 0.1}));
    let words = "alpha=0.1 has no effect here: alpha is used only if algorithm is not 'ppca-em'";
    assert!(warned(&model, words), "{:?}", model.report().warnings);
    assert_eq!(model.tensors(), plain.tensors());
    let given = settings(json!({"algorithm": "ppca-em", "offsets": false}));
    let e = try_fit("matrix-completion", &given, &design.x, 12).unwrap_err().to_string();
    assert!(e.contains("offsets") && e.contains("mean of every column"), "{e}");
}

/// Imputed rows, their standard errors, and the notes.
fn errors(model: &Model, rows: Rows<'_, f64>, bootstrap: usize) -> (Vec<f64>, Vec<f64>, Vec<String>) {
    let (wanted, run) = (ImputeOptions { std: true, bootstrap, ..ImputeOptions::default() }, Run::default());
    let rows = AnyRows::F64(rows);
    let imputer = Imputer::new(model, &rows, wanted, &run).unwrap();
    let mut sink = VecSink(Vec::new());
    let AnyRows::F64(of) = &rows else { unreachable!() };
    imputer.fill(of, &run, &mut sink).unwrap();
    let p = model.n_features();
    let (fills, std): (Vec<_>, Vec<_>) = sink.0.chunks_exact(2 * p).map(|row| row.split_at(p)).unzip();
    (fills.concat(), std.concat(), imputer.notes().to_vec())
}

#[test]
fn errors_of_rows_of_the_fit_include_the_uncertainty_of_the_parameters() {
    // The ridge is not the prior of these factors, so its coverage is less exact.
    for (given, least, most) in [
        (json!({"algorithm": "ppca-em", "n_components": 2, "tol": 1e-6}), 0.92, 0.97),
        (json!({"n_components": 2, "alpha": 0.05}), 0.88, 0.98),
    ] {
        let (mut with, mut without, mut cells) = (0, 0, 0);
        for seed in 0..6 {
            let design = Design::new((40, 10, 2), 0.7, 0.5, 30 + seed);
            let model = design.fit(given.clone());
            let rows = || Rows::from_slice(&design.x, 10).unwrap();
            let (fills, std, notes) = errors(&model, rows(), 20);
            assert!(notes.is_empty(), "{notes:?}");
            let (same, narrow, _) = errors(&model, rows(), 0);
            assert!(apart(&fills, &same) == 0.0);
            let noise = unmix::internal::num::random::Stream::new(90 + seed, 3);
            for at in (0..400).filter(|at| design.x[*at].is_nan()) {
                let new = design.truth[at] + 0.5 * noise.normal(at as u64);
                let inside = |std: f64| usize::from((fills[at] - new).abs() < 1.96 * std);
                (with, without, cells) = (with + inside(std[at]), without + inside(narrow[at]), cells + 1);
            }
        }
        let share = |of: usize| of as f64 / cells as f64;
        assert!(share(with) > least && share(with) <= most, "{given}: {}", share(with));
        assert!(share(without) < share(with) - 0.02, "{given}: {} and {}", share(without), share(with));
    }
}

#[test]
fn lists_of_cells_are_resampled_as_rows_with_gaps_and_rows_outside_the_fit_are_reported() {
    let design = Design::new((40, 10, 2), 0.7, 0.5, 9);
    let given = json!({"n_components": 2, "alpha": 0.05});
    let model = design.fit(given.clone());
    let (mut starts, mut columns, mut values) = (vec![0usize], Vec::new(), Vec::new());
    for row in design.x.chunks_exact(10) {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
            columns.push(j as u32);
            values.push(*x);
        }
        starts.push(columns.len());
    }
    let sparse = || {
        let cells = Sparse::from_csr(&starts, &columns, values.clone(), 10).unwrap();
        Rows::new(cells, Features::default(), "the cells")
    };
    let mut rows = AnyRows::F64(sparse());
    let of_list = unmix::fit("matrix-completion", &settings(given), &mut rows, &Run::default()).unwrap();
    let (a, b) = (errors(&of_list, sparse(), 8), errors(&model, Rows::from_slice(&design.x, 10).unwrap(), 8));
    assert!(a.2.is_empty() && b.2.is_empty(), "{:?}, {:?}", a.2, b.2);
    // Draws of rows are in another order, and sums of them with them.
    assert!(apart(&a.1, &b.1) < 1e-3 && apart(&a.0, &b.0) < 1e-9, "{:e}", apart(&a.1, &b.1));
    let notes = errors(&model, Rows::from_slice(&design.x[..200], 10).unwrap(), 8).2;
    assert!(notes.len() == 1 && notes[0].contains("not the rows that the model was fitted to"), "{notes:?}");
}

#[test]
fn cells_without_noise_are_refused_with_a_remedy_that_this_method_has() {
    let design = Design::new((60, 12, 2), 0.8, 0.0, 7);
    let given = json!({"algorithm": "ppca-em", "n_components": 2, "tol": 1e-8, "max_iter": 1000});
    let e = try_fit("matrix-completion", &settings(given), &design.x, 12).unwrap_err().to_string();
    assert!(e.contains("the likelihood unbounded") && e.contains("or algorithm='als', which also"), "{e}");
    assert!(!e.contains("noise_floor"), "{e}");
    let model = design.fit(json!({"algorithm": "als", "n_components": 2}));
    assert!(design.error(&model) < 1e-3, "{}", design.error(&model));
}

#[test]
fn errors_of_single_cells_have_a_note_where_the_parameters_have_no_errors() {
    let design = Design::new((40, 12, 2), 0.7, 0.4, 5);
    for (given, noted) in [
        (json!({"n_components": 2}), false),
        (json!({"algorithm": "soft-impute"}), false),
        (json!({"n_components": 2, "alpha": 0.1}), true),
        (json!({"algorithm": "soft-impute", "alpha": 5.0}), true),
        (json!({"algorithm": "ppca-em", "n_components": 2}), true),
    ] {
        let note = note_on_errors(&design.fit(given.clone()));
        assert_eq!(note.is_some(), noted, "{given}: {note:?}");
        assert!(
            note.is_none_or(|note| note.contains("the model parameters are treated as known")),
            "{given}"
        );
    }
}
