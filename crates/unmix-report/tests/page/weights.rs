//! Pages and tables of weighted fits: the number of rows and the sum of their weights are named as such.

use crate::{made, rows};
use serde_json::json;
use unmix::fit;
use unmix::model::Sums;
use unmix::{AnyRows, Features, Matrix, Model, Pca, Run, datasets};
use unmix_report::{Options, summary};

fn weighted(x: &Matrix<f64>, weights: Vec<f64>) -> AnyRows<'_> {
    rows(x, Features::default()).weighted(weights).unwrap()
}

fn fitted(key: &str, given: &mut AnyRows<'_>) -> Model {
    let settings = json!({ "n_components": 2 }).as_object().cloned().unwrap();
    fit(key, &settings, given, &Run::default()).unwrap()
}

#[test]
fn the_sum_of_weights_is_shown_separately_from_the_number_of_rows() {
    let data = datasets::patterns(200, 5, 3, 0.2, 1);
    // The sum of weights is an integer or not, and one row has weight 0.
    for (least, sum) in [(10.071_115, "2,014.2"), (10.0, "2,000")] {
        let weights: Vec<f64> = (0..200).map(|i| if i == 7 { 0.0 } else { least * 200.0 / 199.0 }).collect();
        for key in ["pca", "neural-pca", "sigma-pca"] {
            let mut given = weighted(&data.x, weights.clone());
            let model = fitted(key, &mut given);
            assert_eq!(model.report().n_rows, Some(200), "{key}");
            let text = summary(&model);
            assert!(text.contains(&format!(" of 200 x 25 float64, weights sum to {sum}: ")), "{key}: {text}");
            let html = made(&model, Some(&rows(&data.x, Features::default())), &Options::default());
            assert!(html.contains(&format!("200 rows (weights sum to {sum})")), "{key}");
            assert!(html.contains(&format!("<dt>sum of weights</dt><dd>{sum}</dd>")), "{key}");
            assert!(
                html.contains("<dt>rows</dt><dd>200</dd>") && !html.contains(&format!("{sum} rows")),
                "{key}"
            );
            assert!(html.contains("The same rows and weights, settings and seed"), "{key}");
            let read = Model::from_bytes(&model.to_bytes().unwrap(), "m".as_ref()).unwrap();
            assert_eq!(
                (read.report().n_rows, summary(&read).lines().next()),
                (Some(200), text.lines().next())
            );
        }
    }
}

#[test]
fn without_weights_only_the_number_of_rows_is_shown() {
    let data = datasets::patterns(200, 5, 3, 0.2, 1);
    let model = fitted("pca", &mut rows(&data.x, Features::default()));
    assert_eq!((model.report().n_rows, model.report().n_samples), (None, 200.0));
    let html = made(&model, None, &Options::default());
    assert!(!html.contains("weights sum") && !html.contains("sum of weights"), "the page mentions weights");
}

#[test]
fn sums_count_weighted_rows() {
    let data = datasets::patterns(200, 5, 3, 0.2, 1);
    let run = Run::default();
    let mut sums = Sums::new(25, unmix::Dtype::F64).unwrap();
    let mut add = |first: usize, weight: Option<f64>| {
        let part = unmix::Rows::from_slice(&data.x.as_slice()[first * 25..(first + 50) * 25], 25).unwrap();
        let part = match weight {
            None => part,
            Some(w) => part.weighted(vec![w; 50]).unwrap(),
        };
        sums.add("pca", &part, &run).unwrap();
        let model = Pca::default().fit_sums(&sums, &Features::default(), &run).unwrap();
        (model.report().n_rows, model.report().n_samples, model)
    };
    assert!(matches!(add(0, None), (None, 50.0, _)));
    let (n_rows, n_samples, model) = add(50, Some(3.0));
    assert_eq!((n_rows, n_samples), (Some(100), 200.0));
    // Sums are kept by a model file, by conversion to bytes, and by merging.
    let read = Model::from_bytes(&model.to_bytes().unwrap(), "m".as_ref()).unwrap();
    let sums = read.sums().unwrap();
    assert_eq!(Sums::from_bytes(&sums.to_bytes()).unwrap(), *sums);
    let both = read.merge(&model, &run).unwrap();
    assert_eq!((both.report().n_rows, both.report().n_samples), (Some(200), 400.0));
    let html = made(&both, None, &Options::default());
    assert!(
        html.contains("200 rows (weights sum to 400)") && html.contains("computed from sums over the rows")
    );
}
