//! LISTA: never worse than its start, trained to known codes, resumed, duality gaps, and bad input.

use crate::made::{bits, numbers, on_threads};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use unmix::data::SelectedRows;
use unmix::datasets::sparse_codes;
use unmix::model::{Tensor, Tensors};
use unmix::{AnyRows, Checkpoint, Dtype, Matrix, Model, Outcome, Result, Rows, Run};

const N: usize = 600;

struct Fixture {
    x: Matrix<f64>,
    atoms: Matrix<f64>,
    codes: Matrix<f64>,
}

fn made() -> Fixture {
    let made = sparse_codes((N, 12, 20), 0.1, 0.0, 1).unwrap();
    Fixture { x: made.x, atoms: made.atoms, codes: made.codes }
}

fn fit(of: &Fixture, settings: Value, supervised: bool, run: &Run<'_>) -> Result<Model> {
    let table = |m: &Matrix<f64>| Tensor::matrix(m, Dtype::F64);
    let mut tables: Tensors = [("dictionary".to_string(), table(&of.atoms))].into_iter().collect();
    if supervised {
        tables.insert("codes".into(), table(&of.codes));
    }
    let mut rows = AnyRows::F64(Rows::from_slice(of.x.as_slice(), of.x.cols())?);
    unmix::fit_given("lista", settings.as_object().unwrap(), tables, &mut rows, run)
}

fn of_layer(model: &Model, of: &str, name: &str) -> Vec<f64> {
    let table = &model.report().diagnostics["by_layer"];
    let table = if of.is_empty() { table } else { &table[of] };
    table[name].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// An observer that requests a stop after a number of checks.
struct StopAfter(AtomicU64);
impl unmix::Observer for StopAfter {
    fn interrupted(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).is_err()
    }
}

const LAYER_TYPES: [&str; 5] = ["lista", "gregor-lecun", "cp", "alista", "step"];

#[test]
fn the_loss_never_rises_and_the_network_is_better_than_its_start() {
    let of = made();
    for cell in LAYER_TYPES {
        for supervised in [false, true] {
            let settings =
                |epochs: u64| json!({"cell": cell, "n_layers": 4, "max_epochs": epochs, "batch_size": 60});
            let start = fit(&of, settings(0), supervised, &on_threads(2)).unwrap();
            let model = fit(&of, settings(30), supervised, &on_threads(2)).unwrap();
            let loss = &model.report().objective;
            assert!(loss.is_sorted_by(|a, b| a >= b), "{cell} {supervised}: {loss:?}");
            let (first, last) = (start.report().objective[0], *loss.last().unwrap());
            assert!(last < 0.95 * first, "{cell} {supervised}: {last} after {first}");
            let name = if supervised { "code_error" } else { "objective" };
            let (net, ista) = (of_layer(&model, "", name), of_layer(&model, "ista", name));
            assert!(net[3] < ista[3], "{cell} {supervised}: {net:?}, ISTA {ista:?}");
        }
    }
}

#[test]
fn the_start_is_ista_with_one_step_a_layer() {
    let of = made();
    for cell in LAYER_TYPES.into_iter().filter(|cell| *cell != "alista") {
        let model =
            fit(&of, json!({"cell": cell, "n_layers": 6, "max_epochs": 0}), false, &on_threads(2)).unwrap();
        let close = |a: &[f64], b: &[f64]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-14 * b.abs())
        };
        for name in ["objective", "squared_error"] {
            assert!(close(&of_layer(&model, "", name), &of_layer(&model, "ista", name)), "{cell}: {name}");
        }
        assert_eq!(model.report().n_iter, 0);
    }
}

#[test]
fn learned_steps_are_better_than_momentum() {
    let of = made();
    let model =
        fit(&of, json!({"cell": "step", "n_layers": 6, "max_epochs": 60}), false, &on_threads(2)).unwrap();
    let (net, fista) = (of_layer(&model, "", "objective"), of_layer(&model, "fista", "objective"));
    assert!(net[5] < fista[5], "{net:?}, FISTA {fista:?}");
    let (steps, thresholds) = (numbers(&model, "layer_steps"), numbers(&model, "thresholds"));
    let alpha = numbers(&model, "alpha")[0];
    assert!(!steps.is_empty() && steps.len() == thresholds.len());
    assert!(steps.iter().zip(&thresholds).all(|(s, t)| (s * alpha - t).abs() <= 1e-15));
    // Duality gaps bound the distance from the optimum, so they are positive.
    let gap = of_layer(&model, "", "gap");
    assert!(gap.iter().all(|g| *g > 0.0) && gap[5] < gap[0]);
}

#[test]
fn steps_of_fista_after_the_network_close_the_gap() {
    let of = made();
    let mut gaps = Vec::new();
    for refine in [0, 30, 3000] {
        let settings = json!({"n_layers": 4, "max_epochs": 6, "alpha": 0.1, "refine": refine});
        let model = fit(&of, settings, false, &on_threads(2)).unwrap();
        let rows = Rows::from_slice(of.x.as_slice(), 12).unwrap();
        let mut sink = unmix::data::VecSink(Vec::new());
        model.quality(&rows, Default::default(), &Run::default(), &mut sink).unwrap();
        gaps.push(sink.0.chunks(4).map(|row| row[1]).fold(0.0f64, f64::max));
    }
    assert!(gaps[1] < 0.2 * gaps[0] && gaps[2] < 1e-9, "{gaps:?}");
}

#[test]
fn time_limits_and_checkpoints_change_no_bit() {
    let of = made();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lista.checkpoint");
    let settings = || json!({"n_layers": 3, "max_epochs": 12, "batch_size": 50});
    let whole = fit(&of, settings(), true, &on_threads(1)).unwrap();
    let checkpoint = Checkpoint::new(&path).every(0.0).resume(true);
    let cut = Run { max_seconds: Some(0.0), checkpoint: Some(&checkpoint), ..on_threads(2) };
    let part = fit(&of, settings(), true, &cut).unwrap();
    assert_eq!(part.report().outcome, Outcome::Time);
    assert!(part.report().objective.is_sorted_by(|a, b| a >= b));
    let again = Checkpoint::new(&path).every(0.0).resume(true);
    // The observer requests a stop after 30 checks.
    let stop = StopAfter(AtomicU64::new(30));
    let cut = Run { observer: &stop, checkpoint: Some(&again), ..on_threads(2) };
    assert!(matches!(fit(&of, settings(), true, &cut), Err(unmix::Error::Interrupted)));
    let again = Checkpoint::new(&path).every(0.0).resume(true);
    let other = Fixture { codes: Matrix::zeros(N, 20), ..made() };
    let refused = fit(&other, settings(), true, &Run { checkpoint: Some(&again), ..on_threads(2) });
    assert!(refused.unwrap_err().to_string().contains("other values of codes"));
    let again = Checkpoint::new(&path).every(0.0).resume(true);
    let resumed = fit(&of, settings(), true, &Run { checkpoint: Some(&again), ..on_threads(2) }).unwrap();
    assert_eq!(bits(&resumed), bits(&whole));
}

/// What is computed for the report alone is shortened once the time limit is reached: the table by layers has fewer rows.
#[test]
fn the_table_by_layers_has_fewer_rows_after_the_time_limit() {
    let made = sparse_codes((N, 48, 2048), 0.01, 0.0, 1).unwrap();
    let of = Fixture { x: made.x, atoms: made.atoms, codes: made.codes };
    let n_rows = |epochs: u64, run: &Run<'_>| {
        let settings =
            json!({"n_layers": 8, "max_epochs": epochs, "batch_size": 50, "cell": "step", "monotone": false});
        let model = fit(&of, settings, false, run).unwrap();
        (model.report().outcome, model.report().diagnostics["by_layer"]["n_rows"].as_u64().unwrap())
    };
    let late = Run { max_seconds: Some(0.0), ..on_threads(2) };
    assert_eq!(n_rows(1, &late), (Outcome::Time, 32));
    assert_eq!(n_rows(0, &on_threads(2)), (Outcome::Completed, 512));
}

#[test]
fn training_continues_from_a_model() {
    let of = made();
    let settings = |epochs: u64| json!({"n_layers": 3, "max_epochs": epochs, "batch_size": 50});
    let first = fit(&of, settings(10), true, &on_threads(2)).unwrap();
    let run = Run { init: Some(&first), ..on_threads(2) };
    let more = fit(&of, settings(10), true, &run).unwrap();
    let last = |model: &Model| *model.report().objective.last().unwrap();
    assert!(last(&more) < last(&first));
    let same = fit(&of, settings(0), true, &run).unwrap();
    assert_eq!(numbers(&same, "layer_weights"), numbers(&first, "layer_weights"));
    let deeper = fit(&of, json!({"n_layers": 4}), true, &run).unwrap_err().to_string();
    assert!(deeper.contains("have shape [3, 20, 12], and this fit needs [4, 20, 12]"), "{deeper}");
}

#[test]
fn units_of_rows_change_nothing() {
    let of = made();
    let settings = |alpha: f64| json!({"n_layers": 3, "max_epochs": 8, "batch_size": 50, "alpha": alpha});
    let plain = fit(&of, settings(0.1), false, &on_threads(2)).unwrap();
    // Powers of two: no rounding differs. Rows times 2^20 with the same atoms have codes times 2^20.
    let scale = 2f64.powi(20);
    let times = |m: &Matrix<f64>, by: f64| Matrix::from_fn(m.rows(), m.cols(), |i, j| by * m[(i, j)]);
    let large = Fixture { x: times(&of.x, scale), atoms: of.atoms.clone(), codes: of.codes.clone() };
    let model = fit(&large, settings(0.1 * scale), false, &on_threads(2)).unwrap();
    let close = |name: &str, by: f64| {
        let (a, b) = (numbers(&model, name), numbers(&plain, name));
        a.iter().zip(&b).all(|(a, b)| (a - by * b).abs() <= 1e-6 * (by * b).abs().max(1e-9))
    };
    assert!(close("layer_weights", 1.0) && close("layer_steps", 1.0) && close("thresholds", scale));
}

#[test]
fn codes_of_all_rows_of_a_file_follow_the_selected_rows() {
    let of = made();
    let row = |i: usize| if i < 100 { i } else { i + 200 };
    let part = |m: &Matrix<f64>| Matrix::from_fn(300, m.cols(), |i, j| m[(row(i), j)]);
    let few = Fixture { x: part(&of.x), atoms: of.atoms.clone(), codes: part(&of.codes) };
    let settings = json!({"n_layers": 3, "max_epochs": 3});
    let run = on_threads(2);
    let own = fit(&few, settings.clone(), true, &run).unwrap();
    let fit_selected = |codes: &Matrix<f64>| {
        let selected = SelectedRows::new(vec![0..100, 300..500], N as u64).unwrap();
        let rows = Rows::from_slice(few.x.as_slice(), few.x.cols())?.selected(selected);
        let table = |name: &str, m: &Matrix<f64>| (name.to_string(), Tensor::matrix(m, Dtype::F64));
        let tables = [table("dictionary", &of.atoms), table("codes", codes)].into_iter().collect();
        unmix::fit_given("lista", settings.as_object().unwrap(), tables, &mut rows.into(), &run)
    };
    for codes in [&of.codes, &few.codes] {
        assert_eq!(fit_selected(codes).unwrap().tensors(), own.tensors());
    }
    let message = fit_selected(&Matrix::zeros(7, 20)).unwrap_err().to_string();
    assert!(
        message
            .contains("each of the 300 rows selected of the array, or for each of its 600 rows, got 7 rows"),
        "{message}"
    );
}

#[test]
fn bad_input_is_refused() {
    let of = made();
    let message =
        |of: &Fixture, settings: Value| fit(of, settings, true, &on_threads(2)).unwrap_err().to_string();
    let narrow = Fixture { codes: Matrix::zeros(N, 19), ..made() };
    let text = message(&narrow, json!({}));
    assert_eq!(text, format!("codes must have 20 columns, one for each atom, got {N} x 19"));
    let short = Fixture { codes: Matrix::zeros(N - 1, 20), ..made() };
    let text = message(&short, json!({}));
    let (begins, ends) = ("codes must have one row for each of the 600 rows of ", "got 599 rows; ");
    assert!(text.starts_with(begins) && text.contains(ends), "{text}");
    let mut gap = made();
    gap.x.as_mut_slice()[12 * 7 + 3] = f64::NAN;
    assert!(message(&gap, json!({})).contains("row 7"), "{}", message(&gap, json!({})));
    let loose =
        json!({"cell": "step", "monotone": false, "learning_rate": 1e6, "n_layers": 8, "max_epochs": 40});
    let text = message(&of, loose.clone());
    assert!(text.contains("learning_rate") && text.contains("the loss diverged in epoch"), "{text}");
    // With `monotone` the same rate does not make the loss larger than at the start.
    let mut held = loose;
    held["monotone"] = true.into();
    let model = fit(&of, held, true, &on_threads(2)).unwrap();
    assert!(model.report().objective.is_sorted_by(|a, b| a >= b));
    // One row, and equal rows.
    for n in [1, 5] {
        let same = Fixture {
            x: Matrix::from_fn(n, 12, |_, j| of.x[(0, j)]),
            codes: Matrix::from_fn(n, 20, |_, j| of.codes[(0, j)]),
            atoms: of.atoms.clone(),
        };
        let model = fit(&same, json!({"n_layers": 2, "max_epochs": 3}), true, &on_threads(2)).unwrap();
        assert_eq!(model.report().outcome, Outcome::Completed);
    }
    let zeros = Fixture { x: Matrix::zeros(5, 12), codes: Matrix::zeros(5, 20), atoms: of.atoms.clone() };
    assert!(message(&zeros, json!({})).contains("give a number"), "{}", message(&zeros, json!({})));
    let given = json!({"alpha": 0.1, "n_layers": 2, "max_epochs": 2});
    assert!(fit(&zeros, given, true, &on_threads(2)).is_ok());
}

#[test]
fn the_table_by_layers_is_of_rows_throughout_the_data() {
    let mut of = made();
    // The first nine of ten rows are zeros, which any network codes without error.
    of.x.as_mut_slice()[..540 * 12].fill(0.0);
    let given = json!({"n_layers": 2, "max_epochs": 0});
    let model = fit(&of, given.clone(), false, &on_threads(2)).unwrap();
    assert_eq!(model.report().diagnostics["by_layer"]["n_rows"], 512);
    assert!(of_layer(&model, "", "objective").iter().all(|loss| *loss > 0.0));
    let other = fit(&of, given, false, &Run { seed: 1, ..on_threads(1) }).unwrap();
    assert_ne!(of_layer(&model, "", "objective"), of_layer(&other, "", "objective"));
}
