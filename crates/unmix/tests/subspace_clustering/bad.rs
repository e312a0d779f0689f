//! Bad input: refused or reported, with what would work.

use super::{fit, labels, union};
use crate::made::{falling, on_threads, settings, try_fit, warned};
use serde_json::json;
use unmix::method::subspace_clustering::Dimensions;
use unmix::{Error, Matrix, Rows, SubspaceClustering};

#[test]
fn settings_that_do_not_fit_the_rows_are_refused() {
    let x = falling(20, 5, 1);
    let message = |given| match try_fit("subspace-clustering", &settings(given), &x, 5) {
        Err(e @ Error::Setting { .. }) => e.to_string(),
        other => panic!("{:?}", other.map(|_| ())),
    };
    assert!(message(json!({"n_clusters": 0})).contains("n_clusters must be at least 1"));
    assert!(message(json!({"n_clusters": 21})).contains("has 20 rows"));
    assert!(message(json!({"n_components": 6})).contains("n_components=6"));
    assert!(message(json!({"n_components": [2, 6], "n_clusters": 2})).contains("n_components=6"));
    assert!(message(json!({"n_components": [2, 2]})).contains("number of clusters is not given"));
    assert!(message(json!({"n_components": [2, 2], "n_clusters": 3})).contains("there are 3 clusters"));
    assert!(message(json!({"alpha": 1.0})).contains("alpha"));
    assert!(message(json!({"algorithm": "scc"})).contains("did you mean 'ssc'?"));
}

#[test]
fn pairs_of_rows_beyond_memory_are_refused_before_they_are_formed() {
    let x = vec![1.0f32; 4_000_000];
    let mut rows = Rows::from_slice(&x, 1).unwrap();
    let e = SubspaceClustering::default().fit(&mut rows, &on_threads(1)).unwrap_err();
    assert!(matches!(e, Error::Memory { .. }), "{e:?}");
    let text = e.to_string();
    assert!(text.contains("4000000 x 4000000") && text.contains("algorithm='k-subspaces'"), "{text}");
}

#[test]
fn zero_rows_and_isolated_rows_give_a_warning_and_are_assigned() {
    let made = union(6, &[1, 1], 20, 0.0, 1);
    // Two columns more: one row is alone in its direction, one is 0.
    let mut x = Matrix::from_fn(42, 8, |i, j| if i < 40 && j < 6 { made.x[(i, j)] } else { 0.0 });
    x[(40, 7)] = 1.0;
    let spec = SubspaceClustering {
        n_clusters: Some(2),
        n_components: Some(Dimensions::Same(1)),
        ..Default::default()
    };
    let model = fit(&spec, &x);
    let warnings = model.report().warnings.join("; ");
    assert!(warnings.contains("1 row is 0") && warnings.contains("1 row is orthogonal"), "{warnings}");
    let found = labels(&model);
    assert!(found.len() == 42 && found.iter().all(|l| *l < 2));
    assert_eq!(unmix::metrics::clustering_accuracy(&made.labels, &found[..40]), 1.0);
}

#[test]
fn rows_far_from_0_give_a_warning_without_centring() {
    let made = union(20, &[2, 3, 4], 60, 0.05, 1);
    let moved = Matrix::from_fn(180, 20, |i, j| made.x[(i, j)] - 5.0);
    let far = |center: bool, x: &Matrix<f64>| {
        warned(&fit(&SubspaceClustering { center, ..Default::default() }, x), "the rows are far from 0")
    };
    assert_eq!([far(false, &moved), far(true, &moved), far(false, &made.x)], [true, false, false]);
}

#[test]
fn one_cluster_in_nearly_all_columns_gives_a_warning() {
    let draws = unmix::internal::num::random::Stream::new(5, 0);
    let sizes = [30.0, 20.0, 12.0, 7.0, 4.0, 2.0];
    let x = Matrix::from_fn(120, 6, |i, j| sizes[j] * draws.normal((6 * i + j) as u64));
    let none = "no clusters were found: all rows are in one subspace, of dimension";
    assert!(warned(&fit(&SubspaceClustering::default(), &x), none));
    let requested = SubspaceClustering { n_clusters: Some(1), ..Default::default() };
    assert!(!warned(&fit(&requested, &x), none));
    // A plane in ten columns is a result.
    let plane = union(10, &[2], 60, 0.05, 3);
    assert!(!warned(&fit(&SubspaceClustering::default(), &plane.x), none));
}

#[test]
fn empty_clusters_give_a_warning() {
    // Three different rows, each many times.
    let x = Matrix::from_fn(30, 4, |i, j| f64::from(u8::from(i % 3 == j)));
    let mut with_empty = 0;
    for algorithm in ["ssc+k-subspaces", "ssc", "k-subspaces", "shape"] {
        let given = json!({"n_clusters": 5, "n_components": 1, "algorithm": algorithm});
        let model = try_fit("subspace-clustering", &settings(given), x.as_slice(), 4).unwrap();
        let found = labels(&model);
        let empty = (0..5).filter(|c| !found.contains(c)).count();
        let warned = model.report().warnings.iter().any(|w| w.contains("have no rows"));
        assert_eq!(empty > 0, warned, "{algorithm}: {:?}", model.report().warnings);
        with_empty += usize::from(empty > 0);
        for i in 3..30 {
            assert!(algorithm != "k-subspaces" || found[i] == found[i % 3], "{algorithm}: {found:?}");
        }
    }
    assert!(with_empty > 0);
}
