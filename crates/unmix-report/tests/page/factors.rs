//! Factor analyses and missing cells on the page.

use crate::{made, rows, section};
use serde_json::{Map, json};
use unmix::internal::num::random::Stream;
use unmix::{Features, Matrix, Run};
use unmix_report::Options;

/// Rows of two factors, of which some cells are missing; column 3 repeats column 2.
fn table(missing: bool) -> Matrix<f64> {
    let draws = Stream::new(4, 0);
    Matrix::from_fn(300, 6, |i, j| {
        let at = |c: usize| draws.normal((i * 20 + c) as u64);
        let own = at(j % 2) + if j == 3 { 0.5 * at(12) } else { 0.5 * at(10 + j) };
        if missing && j < 2 && (i + j) % 5 == 0 { f64::NAN } else { own }
    })
}

fn features() -> Features {
    let names = ["a", "b", "<c>", "d", "e", "f"].map(String::from).to_vec();
    Features { names: Some(names), shape: None }
}

fn fitted(x: &Matrix<f64>, settings: serde_json::Value) -> unmix::Model {
    let settings: Map<_, _> = settings.as_object().cloned().unwrap();
    unmix::fit("factor-analysis", &settings, &mut rows(x, features()), &Run::default()).unwrap()
}

#[test]
fn loadings_correlations_and_fit_are_tables() {
    let x = table(false);
    let model = fitted(&x, json!({"n_components": 2, "rotation": "oblimin"}));
    let html = made(&model, Some(&rows(&x, features())), &Options::default());
    let part = section(&html, "factors");
    assert!(part.contains("&lt;c&gt;") && !part.contains("<c>"), "{part}");
    // A coloured cell for each loading, and for each correlation.
    assert_eq!(part.matches("<td style=\"background:#").count(), 6 * 2 + 2 * 2, "{part}");
    for name in ["chi-square", "RMSEA", "TLI", "KMO", "BIC", "p-value of the test of fit"] {
        assert!(part.contains(&format!(">{name}<")), "{name}: {part}");
    }
    // The first column is of the first factor of the design: most of it is common.
    let unique = 1.0 - model.tensor("communalities").unwrap().f64s()[0];
    assert!(part.contains(&format!("<td>{unique:.2}")), "{part}");
    // Of orthogonal factors there is no table of correlations, and of other methods no section.
    let plain = fitted(&x, json!({"n_components": 2}));
    let html = made(&plain, None, &Options::default());
    assert_eq!(section(&html, "factors").matches("<td style=\"background:#").count(), 12);
    let pca = unmix::fit("pca", &Map::new(), &mut rows(&x, features()), &Run::default()).unwrap();
    assert!(!made(&pca, None, &Options::default()).contains("id=\"factors\""));
}

/// With a prior of the factors their variances are not 1, and are part of the loadings.
#[test]
fn standardised_loadings_have_the_variances_of_the_factors() {
    let draws = Stream::new(5, 0);
    let laplace = |at: u64| {
        let u = draws.uniform(at) - 0.5;
        -u.signum() * (1.0 - 2.0 * u.abs()).ln()
    };
    let x = Matrix::from_fn(2000, 6, |i, j| {
        laplace((i * 20 + j % 2) as u64) + 0.7 * draws.normal((i * 20 + 10 + j) as u64)
    });
    let model = fitted(&x, json!({"n_components": 2, "prior": "laplace"}));
    let table = unmix_report::FactorTable::of(&model).unwrap();
    for j in 0..6 {
        let squares: f64 = (0..2).map(|a| table.loadings[(a, j)].powi(2)).sum();
        assert!((squares + table.uniqueness[j] - 1.0).abs() < 0.05, "column {j}: {squares}");
    }
}

#[test]
fn heywood_cases_are_marked() {
    let x = table(false);
    let same = Matrix::from_fn(300, 6, |i, j| x[(i, if j == 3 { 2 } else { j })]);
    let model = fitted(&same, json!({"n_components": 2}));
    let heywood = model.tensor("heywood").unwrap().f64s();
    assert!(!heywood.is_empty());
    let html = made(&model, None, &Options::default());
    let marks = section(&html, "factors").matches("<span class=\"heywood\">H</span>").count();
    assert_eq!(marks, heywood.len() + 1, "one in the caption, one for each column");
}

#[test]
fn missing_cells_are_counted_and_mapped() {
    let x = table(true);
    let model = fitted(&x, json!({"n_components": 2}));
    let html = made(&model, Some(&rows(&x, features())), &Options::default());
    let part = section(&html, "gaps");
    // A fifth of two of six columns.
    assert!(part.contains("<strong>6.67 %</strong> of the cells"), "{part}");
    assert!(part.contains("in 120 of 300 rows, in 2 of 6 columns"), "{part}");
    assert!(part.contains("<th scope=\"row\">a</th><td>20.0 %</td>"), "{part}");
    assert_eq!(part.matches("<img").count(), 1);
    // Without gaps, or without rows, there is no map.
    for given in [Some(table(false)), None] {
        let given = given.as_ref().map(|x| rows(x, features()));
        assert!(!made(&model, given.as_ref(), &Options::default()).contains("id=\"gaps\""));
    }
}
