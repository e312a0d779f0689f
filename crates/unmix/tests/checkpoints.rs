//! Checkpoints of fits that are given tables in addition to their settings, and of samples of a shape; time limits of fits without iterations.

use crate::made::{digest, fit_any, on_threads, settings, warned};
use serde_json::json;
use std::path::Path;
use unmix::data::RawArray;
use unmix::datasets::sparse_codes;
use unmix::model::{Tensor, Tensors};
use unmix::{AnyRows, Checkpoint, Dtype, Features, METHODS, Model, Outcome, Result, Rows, Run};

const N: usize = 60;
const P: usize = 6;

/// Fits rows of six columns, that are samples of `shape`, with a checkpoint from which the fit resumes.
fn fit(key: &str, given: serde_json::Value, tables: &Tensors, shape: &[usize], path: &Path) -> Result<Model> {
    let x = sparse_codes((N, P, 8), 0.3, 0.05, 1).unwrap().x;
    let features = Features { names: None, shape: Some(shape.to_vec()) };
    let mut rows =
        AnyRows::F64(Rows::new(RawArray::borrowed(x.as_slice(), P).unwrap(), features, "the array"));
    let checkpoint = Checkpoint::new(path).every(0.0).resume(true);
    let run = Run { checkpoint: Some(&checkpoint), ..on_threads(1) };
    unmix::fit_given(key, &settings(given), tables.clone(), &mut rows, &run)
}

/// The table with its first number doubled.
fn changed(table: &Tensor) -> Tensor {
    let mut numbers = table.to_matrix();
    numbers[(0, 0)] = 2.0 * numbers[(0, 0)] + 1.0;
    Tensor::matrix(&numbers, Dtype::F64)
}

#[test]
fn a_checkpoint_of_a_fit_with_other_tables_is_refused() {
    let made = sparse_codes((N, P, 8), 0.3, 0.05, 1).unwrap();
    let table = |name: &str| match name {
        "codes" => Tensor::matrix(&made.codes, Dtype::F64),
        _ => Tensor::matrix(&made.atoms, Dtype::F64),
    };
    let mut tried = 0;
    for method in METHODS.iter().filter(|method| method.tensors().next().is_some()) {
        let all: Tensors = method.tensors().map(|s| (s.name.to_string(), table(s.name))).collect();
        let has = |name: &str| method.settings.iter().any(|s| s.name == name);
        let given = || if has("max_epochs") { json!({"max_epochs": 2}) } else { json!({}) };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        let whole = fit(method.key, given(), &all, &[P], &path).unwrap();
        for setting in method.tensors() {
            let mut others = vec![all.clone()];
            others[0].insert(setting.name.into(), changed(&all[setting.name]));
            if setting.default == "null" {
                let mut without = all.clone();
                without.remove(setting.name);
                others.push(without);
            }
            for other in others {
                let refused = fit(method.key, given(), &other, &[P], &path).unwrap_err().to_string();
                let words = format!("other values of {}", setting.name);
                assert!(refused.contains(&words) && !refused.contains('\n'), "{}: {refused}", method.key);
                tried += 1;
            }
        }
        // The same tables are accepted, and the file is unchanged by the refusals.
        let resumed = fit(method.key, given(), &all, &[P], &path).unwrap();
        assert_eq!(digest(&resumed), digest(&whole), "{}", method.key);
    }
    assert!(tried >= 8, "{tried} fits with other tables");
}

#[test]
fn a_checkpoint_of_samples_of_another_shape_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    let given = || json!({"init": "dct", "max_epochs": 2});
    let of = |shape: &[usize]| fit("dictionary", given(), &Tensors::new(), shape, &path);
    of(&[2, 3]).unwrap();
    let refused = of(&[3, 2]).unwrap_err().to_string();
    assert!(refused.contains("[2, 3]") && refused.contains("[3, 2]"), "{refused}");
    of(&[2, 3]).unwrap();
}

#[test]
fn a_sparse_coder_leaves_out_rows_after_its_time_limit() {
    let x = sparse_codes((N, P, 8), 0.3, 0.05, 1).unwrap().x;
    let limited = |max_seconds: Option<f64>| {
        let mut rows = AnyRows::F64(Rows::from_slice(x.as_slice(), P).unwrap());
        let run = Run { max_seconds, ..on_threads(1) };
        fit_any("sparse-coder", &settings(json!({})), &mut rows, &run).unwrap()
    };
    let (whole, cut) = (limited(None), limited(Some(0.0)));
    assert_eq!((whole.report().outcome, cut.report().outcome), (Outcome::Converged, Outcome::Time));
    assert!(warned(&cut, "60 rows were not coded") && !warned(&whole, "not coded"));
    assert!(cut.report().objective.is_empty() && whole.report().objective.len() == 1);
    // The model does not depend on the codes of these rows.
    assert_eq!(whole.tensors(), cut.tensors());
}

#[test]
fn subspace_clustering_by_affinities_ends_at_its_time_limit() {
    let made = unmix::datasets::union_of_subspaces(&[300, 300], 6, &[2, 2], 0.05, 1).unwrap();
    let limited = |algorithm: &str, max_seconds: Option<f64>| {
        let mut rows = AnyRows::F64(Rows::from_slice(made.x.as_slice(), 6).unwrap());
        let given = settings(json!({"algorithm": algorithm, "n_clusters": 2, "n_components": 2}));
        let run = Run { max_seconds, ..on_threads(2) };
        fit_any("subspace-clustering", &given, &mut rows, &run).unwrap()
    };
    for algorithm in ["ssc", "shape"] {
        assert_eq!(limited(algorithm, None).report().outcome, Outcome::Completed, "{algorithm}");
        let cut = limited(algorithm, Some(0.0));
        assert_eq!(cut.report().outcome, Outcome::Time, "{algorithm}");
        let labels = cut.tensor("labels").unwrap().f64s();
        assert!(labels.len() == 600 && labels.iter().all(|l| *l < 2.0), "{algorithm}");
    }
}
