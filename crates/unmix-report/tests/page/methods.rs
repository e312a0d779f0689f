//! Pages of every method and variant on every kind of data: well-formed, without network access, and with the expected sections.

use crate::{made, recording, rows, section};
use serde_json::{Map, Value, json};
use unmix::model::Tensor;
use unmix::stability::{Trials, stability};
use unmix::{AnyRows, Dtype, Features, METHODS, Matrix, Model, Run, datasets};
use unmix_report::Options;

/// Kinds of data, which differ in how components are drawn.
fn kinds() -> Vec<(&'static str, Matrix<f64>, Features)> {
    let shape = |shape: &[usize]| Features { names: None, shape: Some(shape.to_vec()) };
    let names = ["weight", "height", "age"].map(String::from).to_vec();
    vec![
        ("pictures", datasets::patterns(300, 6, 3, 0.2, 0).x, shape(&[6, 6])),
        ("colour", datasets::patterns(300, 6, 3, 0.2, 1).x, shape(&[3, 4, 3])),
        ("curves", datasets::patterns(300, 6, 3, 0.2, 2).x, Features::default()),
        ("bars", recording(600), Features { names: Some(names), shape: None }),
    ]
}

fn settings(key: &str, more: Value) -> Map<String, Value> {
    let mut settings = Map::new();
    match key {
        // The rank is estimated: few directions exceed that noise level.
        "robust-pca" => settings.extend([("noise".into(), 0.2.into()), ("alpha".into(), 2.into())]),
        // Two atoms are given.
        "sparse-coder" => {}
        "lista" => settings.extend([("n_layers".into(), 2.into()), ("max_epochs".into(), 1.into())]),
        "subspace-clustering" => {
            settings.extend([("n_clusters".into(), 2.into()), ("n_components".into(), 1.into())]);
        }
        "rica" => settings.extend([("n_components".into(), 2.into()), ("max_iter".into(), 20.into())]),
        _ => settings.extend([("n_components".into(), 2.into())]),
    }
    settings.extend(more.as_object().cloned().unwrap());
    settings
}

fn fitted(key: &str, given: &mut AnyRows<'_>, more: Value) -> Model {
    let atoms = Matrix::from_fn(2, given.n_features(), |i, j| if (i + j) % 2 == 0 { 1.0 } else { 0.25 });
    let required = unmix::method::find(key).unwrap().tensors().filter(|s| s.default != "null");
    let tables = required.map(|s| (s.name.to_string(), Tensor::matrix(&atoms, Dtype::F64))).collect();
    unmix::fit_given(key, &settings(key, more), tables, given, &Run::default()).unwrap()
}

#[test]
fn every_method_has_a_page_of_every_kind_of_data() {
    for (kind, x, features) in kinds() {
        for method in METHODS {
            let model = fitted(method.key, &mut rows(&x, features.clone()), json!({}));
            let given = rows(&x, features.clone());
            let html = made(&model, Some(&given), &Options::default());
            let components = section(&html, "components");
            let k = model.n_components();
            assert_eq!(components.matches("class=\"component\"").count(), k, "{} of {kind}", method.key);
            let pictures = matches!(kind, "pictures" | "colour");
            assert_eq!(components.contains("<img"), pictures, "{} of {kind}", method.key);
            let rows = if model.code().decodes() { "reconstructions" } else { "affinities" };
            assert_eq!(html.contains("id=\"reconstructions\""), model.code().decodes(), "{}", method.key);
            for id in ["scores", rows, "fit", "reproduce"] {
                assert!(html.contains(&format!("<section id=\"{id}\">")), "{} of {kind}: {id}", method.key);
            }
            assert!(section(&html, "reproduce").contains(&format!("<dd>{}</dd>", method.key)));
            // A page of the model alone, without rows.
            made(&model, None, &Options::default());
        }
    }
}

#[test]
fn every_method_shows_time_sensors_labels_truth_and_another_model() {
    let x = recording(900);
    let places = vec![(0.0, 1.0), (1.0, 0.0), (-1.0, 0.0)];
    let other = fitted("pca", &mut rows(&x, Features::default()), json!({ "n_components": 3 }));
    for method in METHODS {
        let model = fitted(method.key, &mut rows(&x, Features::default()), json!({}));
        let options = Options {
            title: Some("a recording".into()),
            labels: Some(("half".into(), (0..900).map(|i| (i / 450).to_string()).collect())),
            truth: Some(Matrix::from_fn(2, 3, |i, j| f64::from(u8::from(i == j)))),
            rate: Some(100.0),
            positions: Some(places.clone()),
            beside: Some(("the other".into(), other.clone())),
            ..Options::default()
        };
        let given = rows(&x, Features::default());
        let html = made(&model, Some(&given), &options);
        for id in ["components", "sources", "truth", "beside", "scores"] {
            assert!(section(&html, id).contains("<svg"), "{}: {id}", method.key);
        }
        let k = model.n_components();
        // Scalp maps in place of bar charts, and beside each time course.
        assert_eq!(section(&html, "components").matches("class=\"head\"").count(), 2 * k, "{}", method.key);
        assert!(
            section(&html, "sources").contains(">dB<")
                && section(&html, "sources").contains("over all 900 rows")
        );
    }
}

#[test]
fn standardised_fits_and_stability_are_on_the_page() {
    let x = recording(900);
    // Methods with given tables have no stability: these are not fitted.
    for method in METHODS.iter().filter(|m| m.tensors().all(|s| s.default == "null")) {
        let takes = |name: &str| method.settings.iter().any(|s| s.name == name);
        let more = if takes("standardize") { json!({ "standardize": true }) } else { json!({}) };
        let model = fitted(method.key, &mut rows(&x, Features::default()), more);
        let given = rows(&x, Features::default());
        let k = model.n_components();
        let found =
            stability(&model, &given, Trials { splits: 2, restarts: 1, bootstrap: Some(0) }, &Run::default())
                .unwrap();
        let html = made(&model.with_stability(&found), Some(&given), &Options::default());
        assert!(section(&html, "stability").contains("<svg"), "{}", method.key);
        let verdicts = section(&html, "components").matches("class=\"verdict ").count();
        assert_eq!(verdicts, k, "{}", method.key);
        let zero = html.find(">-0.0").map(|at| &html[at.saturating_sub(80)..at + 20]);
        assert!(
            zero.is_none_or(|text| text[80..].contains(|c: char| ('1'..='9').contains(&c))),
            "{}: {zero:?}",
            method.key
        );
    }
}

/// A source that is constant but for two bursts, both outside the interval that is drawn.
#[test]
fn kurtosis_is_that_of_all_rows() {
    let n = 6000;
    let draw = unmix::internal::num::random::Stream::new(9, 0);
    let burst = |i: usize| if i % 3000 < 40 { 25.0 } else { 0.0 };
    let sources = |i: usize| {
        [
            burst(i) + 0.1 * draw.normal(i as u64),
            draw.laplace(1_000_000 + i as u64),
            draw.uniform(2_000_000 + i as u64),
        ]
    };
    let mixed = [[1.0, 0.5, 0.2], [0.3, 1.0, -0.4], [0.1, -0.6, 1.0]];
    let x = Matrix::from_fn(n, 3, |i, c| mixed[c].iter().zip(sources(i)).map(|(m, s)| m * s).sum());
    let given = rows(&x, Features::default());
    let settings = json!({ "n_components": 3 }).as_object().cloned().unwrap();
    let model = unmix::fit("ica", &settings, &mut rows(&x, Features::default()), &Run::default()).unwrap();
    let AnyRows::F64(plain) = &given else { panic!("double precision") };
    let codes = model.encode_to_vec(plain, &Run::default()).unwrap();
    let html = made(&model, Some(&given), &Options { rate: Some(100.0), ..Options::default() });
    assert!(html.contains("12 seconds from the middle of 60"));
    let shown: Vec<f64> = section(&html, "sources")
        .split("excess kurtosis ")
        .skip(1)
        .map(|piece| piece.split('<').next().unwrap().parse().unwrap())
        .collect();
    for (i, shown) in shown.iter().enumerate() {
        let own: Vec<f64> = codes.iter().skip(i).step_by(3).copied().collect();
        let mean = own.iter().sum::<f64>() / n as f64;
        let moment = |power: i32| own.iter().map(|y| (y - mean).powi(power)).sum::<f64>() / n as f64;
        let truth = moment(4) / moment(2).powi(2) - 3.0;
        assert!((shown - truth).abs() < 1e-3 * truth.abs().max(1.0), "component {i}: {shown}, not {truth}");
    }
    assert!(shown.len() == 3 && shown.iter().any(|k| *k > 50.0), "{shown:?}");
}

#[test]
fn a_model_that_explains_no_variance_has_a_warning() {
    let data = datasets::patterns(100, 4, 2, 0.3, 0);
    let fitted = fitted("pca", &mut rows(&data.x, Features::default()), json!({}));
    let mut tensors = fitted.tensors().clone();
    let zeros = unmix::model::Tensor::matrix(&Matrix::zeros(2, 16), unmix::Dtype::F64);
    tensors.insert("components".into(), zeros);
    let (settings, report) = (fitted.settings().clone(), fitted.report().clone());
    let model = Model::new(fitted.method(), settings, Features::default(), 1, tensors, report).unwrap();
    let html = made(&model, Some(&rows(&data.x, Features::default())), &Options::default());
    let head = html.split("<section").next().unwrap();
    assert!(head.contains("li class=\"warn\"") && !head.contains("class=\"good\""));
    assert!(
        head.contains("The model explains none of the variance of these rows") && !html.contains("-0.0 %")
    );
}

#[test]
fn the_variance_kept_of_standardised_columns_is_in_standard_deviations() {
    let mut x = recording(900);
    for (i, value) in x.as_mut_slice().iter_mut().enumerate() {
        *value = *value * [1.0, 900.0, 1e-3][i % 3] + 0.3 * (((i * 7919) % 101) as f64 - 50.0) / 30.0;
    }
    let given = rows(&x, Features::default());
    let model = fitted("pca", &mut rows(&x, Features::default()), json!({ "standardize": true }));
    let html = made(&model, Some(&given), &Options::default());
    let kept: f64 = model.tensor("explained_variance_ratio").unwrap().f64s().iter().sum();
    let shown = section(&html, "reconstructions").split("reconstructions keep <strong>").nth(1).unwrap();
    let shown: f64 = shown.split(' ').next().unwrap().parse().unwrap();
    assert!((shown - 100.0 * kept).abs() < 0.06 && kept < 0.99, "{shown} %, not {kept}");
    assert!(section(&html, "reconstructions").contains("both in standard deviations of the columns"));
}

#[test]
fn rows_with_a_sparse_part_are_shown_in_three_pictures() {
    let (n, side) = (40usize, 12usize);
    // A gradient whose brightness varies over the frames, and a moving square.
    let frame = |i: usize, y: usize, x: usize| match (y, x) {
        (4..=6, x) if x == (i % side) => 9.0,
        _ => (1.0 + 0.1 * (i % 5) as f64) * (1.0 + y as f64 / side as f64),
    };
    let x = Matrix::from_fn(n, side * side, |i, j| frame(i, j / side, j % side));
    let features = Features { names: None, shape: Some(vec![side, side]) };
    let model =
        unmix::fit("robust-pca", &Map::new(), &mut rows(&x, features.clone()), &Run::default()).unwrap();
    assert_eq!(model.n_components(), 1);
    let html = made(&model, Some(&rows(&x, features)), &Options::default());
    let shown = section(&html, "reconstructions");
    assert_eq!(shown.matches("<img").count(), 24);
    assert_eq!(shown.matches("sparse part\"").count(), 8);
    assert!(shown.contains("what moves"));
}

#[test]
fn subspaces_have_dimensions_and_affinities_by_label() {
    let made = datasets::union_of_subspaces(&[60, 40], 12, &[3, 2], 0.0, 1).unwrap();
    let settings = json!({ "n_clusters": 2 }).as_object().cloned().unwrap();
    let model = unmix::fit(
        "subspace-clustering",
        &settings,
        &mut rows(&made.x, Features::default()),
        &Run::default(),
    )
    .unwrap();
    let html = made_page(&model, &made.x);
    let table = section(&html, "variance");
    for cells in [["3", "60"], ["2", "40"]] {
        assert!(table.contains(&cells.map(|cell| format!("<td>{cell}</td>")).concat()), "{table}");
    }
    // Without noise rows represent each other inside their subspaces alone.
    let shown = section(&html, "affinities");
    assert!(
        shown.contains("of 100 rows") && shown.contains("100 %</strong> of the sum of all affinities"),
        "{shown}"
    );
    assert!(section(&html, "components").contains("Subspaces") && html.contains("2 subspaces"));
    // Codes are distances: none is absent where it is 0.
    assert!(!html.contains("Sparse codes") && !html.contains("squares,:"), "{html}");
    assert!(section(&html, "scores").contains("distance from subspace 1"));
    let text = unmix_report::summary(&model);
    assert!(text.contains(": 2 subspaces\n") && text.contains("subspace  dimension  rows"), "{text}");
}

fn made_page(model: &Model, x: &Matrix<f64>) -> String {
    made(model, Some(&rows(x, Features::default())), &Options::default())
}
