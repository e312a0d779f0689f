//! Rows of the fit and new rows: codes, imputed cells and their errors; sparse rows, whose stored entries are the cells.

use super::{Design, completed};
use crate::made::{apart, bits, digest, encode, numbers, on_threads, settings, try_fit};
use serde_json::json;
use unmix::data::{Sparse, VecSink};
use unmix::impute::{ImputeOptions, Imputer, completed as all_cells, predict_cells};
use unmix::model::Parts;
use unmix::{AnyRows, Features, Model, Rows, Run};

/// The cells of rows as stored entries.
fn stored(x: &[f64], p: usize) -> Sparse<'static, f64> {
    let (mut starts, mut columns, mut values) = (vec![0usize], Vec::new(), Vec::new());
    for row in x.chunks_exact(p) {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| !v.is_nan()) {
            columns.push(j as u32);
            values.push(*v);
        }
        starts.push(columns.len());
    }
    Sparse::from_csr(&starts, &columns, values, p).unwrap()
}

fn sparse_rows(x: &[f64], p: usize) -> Rows<'static, f64> {
    Rows::new(stored(x, p), Features::default(), "the sparse rows")
}

fn filled(model: &Model, rows: Rows<'_, f64>, std: bool) -> Vec<f64> {
    let (wanted, run) = (ImputeOptions { std, ..ImputeOptions::default() }, Run::default());
    let rows = AnyRows::F64(rows);
    let imputer = Imputer::new(model, &rows, wanted, &run).unwrap();
    assert!(imputer.notes().is_empty(), "{:?}", imputer.notes());
    let mut sink = VecSink(Vec::new());
    let AnyRows::F64(rows) = &rows else { unreachable!() };
    imputer.fill(rows, &run, &mut sink).unwrap();
    sink.0
}

#[test]
fn lists_of_cells_and_rows_with_gaps_are_the_same_data() {
    let mut design = Design::new((60, 40, 3), 0.3, 0.2, 7).with_offsets(1.0, 1.0, 1.0, 3);
    // A stored zero is a cell.
    let first = design.x.iter().position(|x| !x.is_nan()).unwrap();
    design.x[first] = 0.0;
    let given = settings(json!({"n_components": 3}));
    let dense = design.fit(json!({"n_components": 3}));
    for threads in [1, 3] {
        let mut rows = AnyRows::F64(sparse_rows(&design.x, design.p));
        let model = unmix::fit("matrix-completion", &given, &mut rows, &on_threads(threads)).unwrap();
        assert!(digest(&model) == digest(&dense), "{}\n{}", bits(&model), bits(&dense));
    }
    let codes = encode(&dense, &design.x);
    let sparse = dense.encode_to_vec(&sparse_rows(&design.x, design.p), &on_threads(2)).unwrap();
    assert!(apart(&codes, &sparse) < 1e-12);
    // The rows of the fit have the codes of the fit.
    assert!(apart(&codes, &numbers(&dense, "row_codes")) < 1e-12);
    let [a, b] = [Rows::from_slice(&design.x, design.p).unwrap(), sparse_rows(&design.x, design.p)]
        .map(|rows| filled(&dense, rows, true));
    assert_eq!(a, b);
}

#[test]
fn missing_cells_are_imputed_by_their_predictions_and_observed_cells_keep_their_bits() {
    let design = Design::new((50, 30, 2), 0.4, 0.3, 17).with_offsets(4.0, 1.0, 1.0, 2);
    let (n, p) = (design.n, design.p);
    let model = design.fit(json!({"n_components": 2}));
    let whole = completed(&model);
    let (values, width) = all_cells(&model, &Run::default()).unwrap();
    let unmix::model::Values::F64(values) = values else { panic!("double precision") };
    assert!(width == p && apart(&values, &whole) < 1e-12);
    let cells: Vec<(u64, u64)> = (0..n * p).map(|at| ((at / p) as u64, (at % p) as u64)).collect();
    let (values, errors) = predict_cells(&model, &cells, true).unwrap();
    assert!(apart(&values, &whole) < 1e-12);
    assert!(predict_cells(&model, &cells, false).unwrap().1.is_empty());
    let table = filled(&model, Rows::from_slice(&design.x, p).unwrap(), true);
    for at in 0..n * p {
        let (row, j) = (at / p, at % p);
        let (fill, std) = (table[row * 2 * p + j], table[row * 2 * p + p + j]);
        match design.x[at].is_nan() {
            false => assert_eq!((fill.to_bits(), std), (design.x[at].to_bits(), 0.0)),
            true => {
                assert!((fill - values[at]).abs() < 1e-11 && (std - errors[at]).abs() < 1e-11, "{at}");
                assert!(std * std > numbers(&model, "noise_variance")[0]);
            }
        }
    }
}

#[test]
fn intervals_have_their_nominal_coverage() {
    // Enough cells for a standard error of 0.004 in a design.
    let (mut inside, mut all) = ([0.0; 2], 0.0);
    for seed in 0..3 {
        let design = Design::new((120, 90, 4), 0.35, 0.5, 30 + seed).with_offsets(1.0, 1.0, 0.5, seed);
        let model = design.fit(json!({}));
        let hidden: Vec<usize> = (0..design.x.len()).filter(|at| design.x[*at].is_nan()).collect();
        let cells: Vec<(u64, u64)> =
            hidden.iter().map(|at| ((at / design.p) as u64, (at % design.p) as u64)).collect();
        let (values, std) = predict_cells(&model, &cells, true).unwrap();
        let noise = unmix::internal::num::random::Stream::new(seed, 77);
        for ((at, value), std) in hidden.iter().zip(values).zip(std) {
            let off = (design.truth[*at] + 0.5 * noise.normal(*at as u64) - value).abs() / std;
            inside[0] += f64::from(u8::from(off < 1.645));
            inside[1] += f64::from(u8::from(off < 1.96));
            all += 1.0;
        }
    }
    let share = inside.map(|s| s / all);
    assert!((share[0] - 0.9).abs() < 0.015 && (share[1] - 0.95).abs() < 0.015, "{share:?}");
}

#[test]
fn a_new_row_is_coded_by_its_cells_and_one_without_any_has_the_prior() {
    let design = Design::new((80, 40, 2), 0.5, 0.1, 5);
    let model = design.fit(json!({"n_components": 2}));
    // Half of the cells of new rows of the same factors: the others come back.
    let more = Design::new((90, 40, 2), 1.0, 0.0, 5);
    let mut new: Vec<f64> = more.truth[80 * 40..].to_vec();
    new.iter_mut().step_by(2).for_each(|x| *x = f64::NAN);
    let table = filled(&model, Rows::from_slice(&new, 40).unwrap(), false);
    assert!(apart(&table, &more.truth[80 * 40..]) < 0.25, "{}", apart(&table, &more.truth[80 * 40..]));
    let nothing = vec![f64::NAN; 40];
    assert_eq!(encode(&model, &nothing), [0.0, 0.0]);
    let table = filled(&model, Rows::from_slice(&nothing, 40).unwrap(), true);
    assert!(apart(&table[..40], &numbers(&model, "mean")) < 1e-14);
    let components = model.tensor("components").unwrap().to_matrix();
    let prior = |j: usize| (components[(0, j)].powi(2) + components[(1, j)].powi(2)).sqrt();
    assert!((0..40).all(|j| table[40 + j] > prior(j) && table[40 + j] < prior(j) + 0.5));
    // Posterior: the codes, and the covariance that the fit has for its own rows.
    let mut sink = VecSink(Vec::new());
    model.posterior(&Rows::from_slice(&design.x, 40).unwrap(), &Run::default(), &mut sink).unwrap();
    let (codes, errors) = (numbers(&model, "row_codes"), numbers(&model, "row_errors"));
    for (i, row) in sink.0.chunks_exact(6).enumerate() {
        assert!(apart(&row[..2], &codes[2 * i..2 * i + 2]) < 1e-12);
        let v = &errors[6 * i..6 * i + 3];
        assert!(apart(&row[2..], &[v[0], v[1], v[1], v[2]]) < 1e-12);
    }
}

#[test]
fn columns_and_rows_without_a_cell_are_named_and_have_the_errors_of_the_prior() {
    let mut design = Design::new((60, 30, 2), 0.5, 0.2, 13).with_offsets(2.0, 1.0, 1.0, 3);
    (0..60).for_each(|i| design.x[i * 30 + 7] = f64::NAN);
    (0..30).for_each(|j| design.x[11 * 30 + j] = f64::NAN);
    let given = json!({"n_components": 2, "tol": 1e-12, "max_iter": 2000});
    let model = design.fit(given.clone());
    let message = model.report().warnings.join("; ");
    assert!(
        message.contains("column 7 has no observed cell") && message.contains("1 row has no observed cell"),
        "{message}"
    );
    let components = model.tensor("components").unwrap().to_matrix();
    assert_eq!([components[(0, 7)], components[(1, 7)]], [0.0, 0.0]);
    let (values, std) = predict_cells(&model, &[(0, 7), (11, 3), (0, 3)], true).unwrap();
    assert!(std[0] > 3.0 * std[2] && std[1] > 3.0 * std[2], "{std:?}");
    let seen: Vec<f64> = design.x.iter().copied().filter(|x| !x.is_nan()).collect();
    let mean = seen.iter().sum::<f64>() / seen.len() as f64;
    let own = numbers(&model, "row_offsets")[0];
    assert!((values[0] - mean - own).abs() < 1e-12);
    // The row without a cell has no influence on the components.
    let others: Vec<f64> = design
        .x
        .chunks_exact(30)
        .enumerate()
        .filter(|(i, _)| *i != 11)
        .flat_map(|(_, r)| r.to_vec())
        .collect();
    let without = try_fit("matrix-completion", &settings(given), &others, 30).unwrap();
    let off = apart(&numbers(&without, "components"), &numbers(&model, "components"));
    assert!(off < 1e-4, "{off:e}, after {} and {}", without.report().n_iter, model.report().n_iter);
}

#[test]
fn invalid_cells_rows_and_settings_are_refused() {
    let design = Design::new((30, 20, 2), 0.5, 0.2, 1);
    let model = design.fit(json!({"n_components": 2}));
    let e = predict_cells(&model, &[(0, 0), (3, 20)], false).unwrap_err().to_string();
    assert!(
        e.contains("cells=(3, 20)") && e.contains("cell 1 is outside") && e.contains("30 rows and 20"),
        "{e}"
    );
    let plain = crate::made::pca(json!({}), &crate::made::falling(20, 4, 1), 4);
    let e = predict_cells(&plain, &[(0, 0)], false).unwrap_err().to_string();
    assert!(e.contains("matrix-completion"), "{e}");
    let refused = |x: &[f64], given: serde_json::Value| {
        try_fit("matrix-completion", &settings(given), x, 20).unwrap_err().to_string()
    };
    let e = refused(&design.x, json!({"n_components": 21}));
    assert!(e.contains("from 0 to 20"), "{e}");
    let e = refused(&vec![f64::NAN; 60], json!({}));
    assert!(e.contains("rows without any observed cell are not counted"), "{e}");
    let mut x = design.x.clone();
    x[45] = f64::INFINITY;
    let mut rows = AnyRows::F64(sparse_rows(&x, 20));
    let e = unmix::fit("matrix-completion", &settings(json!({})), &mut rows, &Run::default()).unwrap_err();
    assert!(e.to_string().contains("row 2, column 5 is infinity"), "{e}");
    assert!(model.encode_to_vec(&sparse_rows(&x, 20), &Run::default()).is_err());
}

#[test]
fn more_columns_than_fit_in_memory_are_refused_by_every_algorithm() {
    // The smallest tables, of a single factor, would need half a terabyte.
    if unmix::available_memory().is_none_or(|bytes| bytes > 200 << 30) {
        return;
    }
    let p = 4_000_000_000usize;
    for algorithm in ["als", "soft-impute", "ppca-em"] {
        for k in [json!(null), json!(1)] {
            let cells = [2.0, 2.0, 3.0];
            let sparse = Sparse::from_csr(&[0usize, 1, 3], &[0u32, 1, p as u32 - 1], &cells[..], p).unwrap();
            let mut rows = AnyRows::F64(Rows::new(sparse, Features::default(), "the sparse rows"));
            let given = settings(json!({"algorithm": algorithm, "n_components": k}));
            let refused = unmix::fit("matrix-completion", &given, &mut rows, &on_threads(1)).unwrap_err();
            assert!(matches!(refused, unmix::Error::Memory { .. }), "{algorithm}: {refused:?}");
            let (said, begins) =
                (refused.to_string(), "matrix-completion of 2 rows and 4000000000 columns, with");
            assert!(said.starts_with(begins) && said.contains("choose fewer components"), "{said}");
        }
    }
}

#[test]
fn fewer_cells_than_degrees_of_freedom_give_a_warning() {
    let design = Design::new((30, 20, 2), 0.5, 0.2, 1);
    let cells = design.x.iter().filter(|x| !x.is_nan()).count();
    for (k, alpha) in [(2, json!("auto")), (2, json!(0.1)), (9, json!(0.1))] {
        let model = design.fit(json!({"n_components": k, "alpha": alpha}));
        let found = model.n_components();
        let free = found * (50 - found);
        let message = model.report().warnings.join("; ");
        let want = format!(
            "there are {cells} observed cells, fewer than the {free} degrees of freedom of {found} factors"
        );
        assert_eq!((cells < free, message.contains(&want)), (k == 9, k == 9), "{k}, {alpha}: {message}");
    }
}

#[test]
fn single_precision_is_kept() {
    let design = Design::new((60, 40, 2), 0.5, 0.1, 23);
    let single: Vec<f32> = design.x.iter().map(|x| *x as f32).collect();
    let narrow = try_fit("matrix-completion", &settings(json!({"n_components": 2})), &single, 40).unwrap();
    let wide = design.fit(json!({"n_components": 2}));
    assert_eq!(narrow.dtype(), unmix::Dtype::F32);
    assert!(apart(&numbers(&narrow, "components"), &numbers(&wide, "components")) < 1e-5);
    let codes: Vec<f64> = encode(&narrow, &single).iter().map(|z| f64::from(*z)).collect();
    assert!(apart(&codes, &encode(&wide, &design.x)) < 1e-4);
}

#[test]
fn rows_without_a_missing_cell_give_a_warning_and_zeros_a_remedy() {
    let made = Design::new((40, 15, 2), 0.3, 0.2, 5);
    let warnings = |x: &[f64]| {
        let given = settings(json!({"n_components": 2}));
        try_fit("matrix-completion", &given, x, 15).unwrap().report().warnings.join("; ")
    };
    let message = warnings(&made.x);
    assert!(!message.contains("no cell is missing"), "{message}");
    let message = warnings(&made.truth);
    assert!(message.contains("no cell is missing: there is nothing to complete"), "{message}");
    let zeros: Vec<f64> = made.x.iter().map(|x| if x.is_nan() { 0.0 } else { *x }).collect();
    let message = warnings(&zeros);
    assert!(
        message.contains("most cells are 0: if 0 means that a cell was not observed, give NaN"),
        "{message}"
    );
}

#[test]
fn reconstructions_and_errors_of_rows_include_their_offsets() {
    let design = Design::new((60, 20, 2), 0.6, 0.2, 9).with_offsets(3.0, 1.5, 0.5, 9);
    let model = design.fit(json!({"n_components": 2}));
    let (whole, offsets) = (completed(&model), numbers(&model, "row_offsets"));
    let rows = Rows::from_slice(&design.x, 20).unwrap();
    let reconstructed = |rows: &Rows<'_, f64>| {
        let mut sink = VecSink(Vec::new());
        model.reconstruct(rows, &on_threads(2), &mut sink).unwrap();
        sink.0
    };
    assert!(apart(&reconstructed(&rows), &whole) < 1e-8);
    // Sparse rows, whose stored entries are the cells.
    let sparse = sparse_rows(&design.x, 20);
    assert!(apart(&reconstructed(&sparse), &whole) < 1e-8);
    let mut quality = VecSink(Vec::new());
    model.quality(&rows, Parts::default(), &on_threads(2), &mut quality).unwrap();
    for (i, q) in quality.0.iter().enumerate() {
        let cells = (20 * i..20 * (i + 1)).filter(|at| !design.x[*at].is_nan());
        let want: f64 = cells.map(|at| (design.x[at] - whole[at]).powi(2)).sum();
        assert!((q - want).abs() < 1e-8 * (1.0 + want), "row {i}: {q} {want}");
    }
    // Codes alone give rows with offset 0.
    let back = crate::made::decode(&model, &encode(&model, &design.x));
    let without: Vec<f64> = whole.iter().enumerate().map(|(at, x)| x - offsets[at / 20]).collect();
    assert!(apart(&back, &without) < 1e-8);
}

#[test]
fn a_completed_matrix_that_does_not_fit_in_memory_is_refused_with_its_size() {
    // 1.28 terabytes, of a list of 16 cells.
    let n = 400_000usize;
    if unmix::available_memory().is_none_or(|bytes| bytes > 1000 << 30) {
        return;
    }
    let (far, mut starts, mut columns) = ([0, 1, n - 2, n - 1], vec![0usize], Vec::new());
    for i in 0..n {
        columns.extend(far.iter().filter(|_| far.contains(&i)).map(|j| *j as u32));
        starts.push(columns.len());
    }
    let values: Vec<f64> = (0..columns.len()).map(|at| (3 * at % 7) as f64).collect();
    let sparse = Sparse::from_csr(&starts, &columns, values, n).unwrap();
    let mut rows = AnyRows::F64(Rows::new(sparse, Features::default(), "the cells"));
    let given = settings(json!({"n_components": 0, "max_iter": 2}));
    let model = unmix::fit("matrix-completion", &given, &mut rows, &on_threads(2)).unwrap();
    let refused = all_cells(&model, &Run::default()).map(|_| ()).unwrap_err();
    let bytes = 8 * (n * n) as u64;
    assert!(matches!(refused, unmix::Error::Memory { need_bytes, .. } if need_bytes == bytes), "{refused:?}");
    let message = refused.to_string();
    let begins = "the completed matrix of 400000 rows and 400000 columns would need";
    assert!(
        message.starts_with(begins) && message.contains("predict the cells that are needed"),
        "{message}"
    );
    let (values, std) = predict_cells(&model, &[(5, 7), (1, n as u64 - 1)], true).unwrap();
    assert!(values.iter().chain(&std).all(|x| x.is_finite()));
}
