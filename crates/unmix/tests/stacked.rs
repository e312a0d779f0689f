//! Stacks of rectified factor networks: each layer is a network fitted to the codes of the layer below.

use crate::made::{apart, cast, decode, encode, falling, numbers, on_threads, settings, try_fit};
use serde_json::{Value, json};
use unmix::method::stacked_rfn::layers;
use unmix::{AnyRows, Model, Rows, Run};

fn stack(x: &[f64], p: usize, given: Value) -> Model {
    try_fit("stacked-rfn", &settings(given), x, p).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn each_layer_is_the_network_of_the_codes_below_to_the_bit() {
    let x = falling(400, 12, 3);
    let model = stack(
        &x,
        12,
        json!({"n_components": [9, 6, 3], "max_iter": [30, 20, 10], "prior_mean": [0.0, -0.2, 0.0]}),
    );
    let all = layers(&model).unwrap();
    assert_eq!(all.iter().map(Model::n_codes).collect::<Vec<_>>(), [9, 6, 3]);
    let (mut rows, mut p) = (x.clone(), 12);
    for (i, layer) in all.iter().enumerate() {
        let (units, iterations, prior) = ([9, 6, 3][i], [30, 20, 10][i], [0.0, -0.2, 0.0][i]);
        let given = json!({"n_components": units, "max_iter": iterations, "prior_mean": prior});
        let own = try_fit("rfn", &settings(given), &rows, p).unwrap();
        for name in ["components", "noise_variance", "mean", "encoder_weight", "encoder_bias", "code_moments"]
        {
            assert!(numbers(layer, name) == numbers(&own, name), "layer {i}: {name}");
        }
        assert_eq!(layer.report().objective, own.report().objective);
        assert_eq!(
            (layer.settings(), &layer.report().diagnostics),
            (own.settings(), &own.report().diagnostics)
        );
        rows = encode(layer, &rows);
        p = layer.n_codes();
    }
    // All layers together encode as one after the other.
    assert!(encode(&model, &x) == rows);
    let mut back = rows.clone();
    all.iter().rev().for_each(|layer| back = decode(layer, &back));
    assert!(apart(&decode(&model, &rows), &back) < 1e-12);
    let one = stack(&x, 12, json!({"n_components": 5, "max_iter": 20}));
    let own = try_fit("rfn", &settings(json!({"n_components": 5, "max_iter": 20})), &x, 12).unwrap();
    assert!(
        encode(&one, &x) == encode(&own, &x) && numbers(&one, "components") == numbers(&own, "components")
    );
}

#[test]
fn a_file_holds_a_network_and_every_layer() {
    let wide = falling(300, 10, 3);
    let x: Vec<f32> = cast(&wide);
    let given = settings(
        json!({"n_components": [8, 4], "max_iter": 30, "center": [true, "median"], "normalize": ["rms", "std"]}),
    );
    let fitted = try_fit("stacked-rfn", &given, &x, 10).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stack.safetensors");
    fitted.save(&path).unwrap();
    let model = Model::load(&path).unwrap();
    // relu(x W' + b), layer after layer.
    let (mut codes, mut p) = (wide.clone(), 10);
    for i in 0..2 {
        let weight = model.tensor(&format!("layers.{i}.weight")).unwrap().to_matrix();
        let bias = numbers(&model, &format!("layers.{i}.bias"));
        let out = codes.chunks_exact(p).flat_map(|row| {
            let one = |j: usize| (0..p).map(|k| row[k] * weight[(j, k)]).sum::<f64>() + bias[j];
            (0..weight.rows()).map(|j| one(j).max(0.0)).collect::<Vec<_>>()
        });
        codes = out.collect();
        p = weight.rows();
    }
    let found = encode(&model, &x);
    let largest = codes.iter().fold(0.0f64, |m, y| m.max(*y));
    let off = found.iter().zip(&codes).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
    assert!(off < 2e-6 * largest, "{off:e} of {largest}");
    // Each layer is a model of its own, and can be kept as such.
    let first = &layers(&model).unwrap()[0];
    first.save(&folder.path().join("first.safetensors")).unwrap();
    let first = Model::load(&folder.path().join("first.safetensors")).unwrap();
    assert_eq!((first.method().key, first.n_codes(), first.n_features()), ("rfn", 8, 10));
    assert!(first.report().objective.len() == 30 && first.density().is_ok());
    assert!(layers(&first).is_err());
}

#[test]
fn threads_weights_and_sparse_rows_are_those_of_the_layers() {
    let x = falling(3000, 8, 5);
    let given = json!({"n_components": [10, 6], "max_iter": 4, "dropout": [0.2, 0.0]});
    let on = |threads: usize| {
        let mut rows = AnyRows::F64(Rows::from_slice(&x, 8).unwrap());
        crate::made::digest(
            &unmix::fit("stacked-rfn", &settings(given.clone()), &mut rows, &on_threads(threads)).unwrap(),
        )
    };
    assert_eq!(on(1), on(3));
    let weights: Vec<f64> = (0..200).map(|i| [1.0, 2.0, 0.0][i % 3]).collect();
    let few = &x[..8 * 200];
    let repeated: Vec<f64> =
        few.chunks_exact(8).zip(&weights).flat_map(|(row, w)| row.repeat(*w as usize)).collect();
    let given = json!({"n_components": [5, 3], "max_iter": 15});
    let mut rows = AnyRows::F64(Rows::from_slice(few, 8).unwrap()).weighted(weights).unwrap();
    let weighted = unmix::fit("stacked-rfn", &settings(given.clone()), &mut rows, &on_threads(1)).unwrap();
    let twice = stack(&repeated, 8, given);
    assert!(apart(&numbers(&weighted, "components"), &numbers(&twice, "components")) < 1e-7);
}

#[test]
fn invalid_stacks_are_refused_with_what_would_work() {
    let x = falling(60, 6, 1);
    let message =
        |given: Value| try_fit("stacked-rfn", &settings(given), &x, 6).map(|_| ()).unwrap_err().to_string();
    for (given, words) in [
        (json!({"n_components": [4, 3], "e_step": "coordinate"}), "choose e_step='plain'"),
        (json!({"n_components": [4, 3], "e_step": ["plain", "cascade"]}), "layer 1"),
        (json!({"n_components": [4, 3], "max_iter": [5, 5, 5]}), "one for each of 2 layers"),
        (json!({"n_components": 4, "l1": [0.0, 0.1]}), "one for each of 1 layer"),
        (json!({"n_components": [4, 0]}), "n_components"),
        (json!({"n_components": []}), "n_components"),
        (
            json!({"n_components": [4, 3], "prior_mean": [0.0, -50.0], "prior_cov": [1.0, 0.01], "max_iter": 3}),
            "layer 1",
        ),
        (
            json!({"n_components": [4, 3_000_000_000u64], "max_iter": 3}),
            "layer 1 of stacked-rfn of 4 columns and 3000000000 components",
        ),
        (json!({"n_components": [4, 3], "batch_size": [null, 5], "max_iter": 3}), "batch_size"),
        // The mode is refused, whatever else the layer asks for.
        (
            json!({"n_components": [4, 3], "e_step": ["plain", "cascade"], "batch_size": [null, 20], "max_iter": 3}),
            "must be 'plain' in every layer",
        ),
    ] {
        let text = message(given.clone());
        assert!(text.contains(words) && !text.contains('\n'), "{given}: {text}");
    }
    // Refused before the first layer is fitted.
    let begun = std::sync::atomic::AtomicBool::new(false);
    struct Iterations<'a>(&'a std::sync::atomic::AtomicBool);
    impl unmix::Observer for Iterations<'_> {
        fn event(&self, event: unmix::Event<'_>) {
            if matches!(event, unmix::Event::Iteration { .. }) {
                self.0.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }
    let observer = Iterations(&begun);
    for given in [
        json!({"n_components": [4, 3_000_000_000u64]}),
        json!({"n_components": [4, 3], "batch_size": [null, 5]}),
        json!({"n_components": [4, 3], "e_step": ["plain", "coordinate"]}),
    ] {
        let mut rows = AnyRows::F64(Rows::from_slice(&x, 6).unwrap());
        let run = Run { observer: &observer, ..on_threads(1) };
        assert!(unmix::fit("stacked-rfn", &settings(given), &mut rows, &run).is_err());
    }
    assert!(!begun.load(std::sync::atomic::Ordering::Relaxed));
}

#[test]
fn a_warm_start_is_that_of_every_layer() {
    let x = falling(200, 8, 3);
    let fitted = |given: Value, init: Option<&Model>| {
        let run = Run { init: init.map(|m| m as &dyn unmix::Start), ..on_threads(1) };
        let mut rows = AnyRows::F64(Rows::from_slice(&x, 8).unwrap());
        unmix::fit("stacked-rfn", &settings(given), &mut rows, &run)
    };
    let first = fitted(json!({"n_components": [6, 4], "max_iter": 40}), None).unwrap();
    let more = fitted(json!({"n_components": [6, 4], "max_iter": 10}), Some(&first)).unwrap();
    let (first_layers, more_layers) = (layers(&first).unwrap(), layers(&more).unwrap());
    let objective = |m: &Model, i: usize| m.report().objective[i];
    let last = first_layers[0].report().diagnostics["final_objective"].as_f64().unwrap();
    assert!((objective(&more_layers[0], 0) - last).abs() < 1e-9 * last.abs());
    // The rows of the upper layer have changed a little; it starts near where it was, far above a random start.
    let (random, warm) = (objective(&first_layers[1], 0), objective(&more_layers[1], 0));
    let reached = first_layers[1].report().diagnostics["final_objective"].as_f64().unwrap();
    assert!((warm - reached).abs() < 0.2 * (reached - random), "{random} {warm} {reached}");
    // Of another model, its components are the start of the lowest layer.
    let rfn = try_fit("rfn", &settings(json!({"n_components": 6, "max_iter": 40})), &x, 8).unwrap();
    let other = fitted(json!({"n_components": [6, 4], "max_iter": 10}), Some(&rfn)).unwrap();
    assert_eq!(numbers(&layers(&other).unwrap()[0], "components"), numbers(&more_layers[0], "components"));
    // A deeper stack: the layers that the start lacks begin as they do without a start.
    assert!(fitted(json!({"n_components": [6, 4, 2], "max_iter": 3}), Some(&first)).is_ok());
    let message =
        fitted(json!({"n_components": [7, 4], "max_iter": 3}), Some(&first)).unwrap_err().to_string();
    assert!(message.contains("it has 6 components, and this fit has 7"), "{message}");
}

/// The stages that a fit announces.
#[derive(Default)]
struct Stages(std::sync::Mutex<Vec<String>>);
impl unmix::Observer for Stages {
    fn event(&self, event: unmix::Event<'_>) {
        if let unmix::Event::Stage(stage) = event {
            self.0.lock().unwrap().push(stage.into());
        }
    }
}

#[test]
fn progress_counts_layers_from_1() {
    let x = falling(60, 6, 3);
    let stages = Stages::default();
    let given = settings(json!({"n_components": [3, 2], "max_iter": 2}));
    let run = Run { observer: &stages, ..Run::default() };
    unmix::fit("stacked-rfn", &given, &mut AnyRows::F64(Rows::from_slice(&x, 6).unwrap()), &run).unwrap();
    let stages_run = stages.0.into_inner().unwrap();
    let of_layers: Vec<&String> = stages_run.iter().filter(|stage| stage.starts_with("layer")).collect();
    assert_eq!(of_layers, ["layer 0 (1 of 2)", "layer 1 (2 of 2)"]);
}
