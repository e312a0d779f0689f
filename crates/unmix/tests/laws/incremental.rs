//! Incremental fits refuse a batch for what a fit refuses, with the same message, and take what it takes.

use crate::made::{apart, falling, numbers, on_threads, settings};
use serde_json::{Map, Value, json};
use unmix::data::Sparse;
use unmix::{AnyRows, Error, Features, METHODS, Method, Model, Result, Rows};

const N: usize = 300;
const P: usize = 5;

/// Methods that must be among those found.
const KNOWN: [&str; 7] = ["pca", "ppca", "linear-eigengan", "factor-analysis", "ica", "dictionary", "sae"];

fn dense(x: &[f64]) -> AnyRows<'_> {
    AnyRows::F64(Rows::from_slice(x, P).unwrap())
}

/// The same rows as stored entries.
fn sparse(x: &[f64]) -> AnyRows<'static> {
    let starts: Vec<i64> = (0..=x.len() / P).map(|i| (i * P) as i64).collect();
    let columns: Vec<i32> = (0..x.len()).map(|at| (at % P) as i32).collect();
    let entries = Sparse::from_csr(&starts, &columns, x.to_vec(), P).unwrap();
    AnyRows::F64(Rows::new(entries, Features::default(), "the array"))
}

fn added(
    method: &Method,
    given: &Map<String, Value>,
    before: Option<&Model>,
    rows: &AnyRows<'_>,
) -> Result<Model> {
    unmix::partial_fit(method.key, given, before, rows, &on_threads(2))
}

/// The error of a fit of all rows, in words; `None` if there is none.
fn refusal_of_fit(method: &Method, given: &Map<String, Value>, mut rows: AnyRows<'_>) -> Option<String> {
    unmix::fit(method.key, given, &mut rows, &on_threads(2)).err().map(|e| e.to_string())
}

/// The methods that are fitted incrementally, with settings for it: few components, the defaults, or the algorithm of ICA that takes rows one
/// by one.
fn incremental(x: &[f64]) -> Vec<(&'static Method, Map<String, Value>)> {
    let with_settings = |method: &'static Method| {
        let tried = [json!({"n_components": 2}), json!({}), json!({"algorithm": "easi"})].map(settings);
        let given = tried.into_iter().find(|given| added(method, given, None, &dense(x)).is_ok());
        given.map(|given| (method, given))
    };
    let found: Vec<_> = METHODS.iter().filter_map(with_settings).collect();
    for key in KNOWN {
        assert!(found.iter().any(|(method, _)| method.key == key), "{key} is not fitted incrementally");
    }
    found
}

#[test]
fn sparse_batches_are_taken_or_refused_as_in_the_registry() {
    let x = falling(N, P, 3);
    for (method, given) in incremental(&x) {
        let first = added(method, &given, None, &dense(&x)).unwrap();
        for before in [None, Some(&first)] {
            let found = added(method, &given, before, &sparse(&x));
            if method.accepts.sparse {
                let wanted = added(method, &given, before, &dense(&x)).unwrap();
                assert_eq!(found.unwrap().tensors(), wanted.tensors(), "{}", method.key);
                continue;
            }
            let message = found.map(|_| ()).unwrap_err().to_string();
            assert!(message.starts_with(&format!("{} of sparse rows", method.key)), "{message}");
            assert_eq!(Some(message), refusal_of_fit(method, &given, sparse(&x)), "{}", method.key);
        }
    }
}

#[test]
fn weights_of_a_batch_count_its_rows_or_are_refused_as_by_a_fit() {
    let x = falling(N, P, 3);
    let weights: Vec<f64> = (0..N).map(|i| [1.0, 2.0, 0.0, 1.0][i % 4]).collect();
    let weighted = || AnyRows::F64(Rows::from_slice(&x, P).unwrap().weighted(&weights[..]).unwrap());
    let repeated: Vec<f64> =
        x.chunks_exact(P).zip(&weights).flat_map(|(row, w)| row.repeat(*w as usize)).collect();
    for (method, given) in incremental(&x) {
        let key = method.key;
        let plain = added(method, &given, None, &dense(&repeated)).unwrap();
        let refused = refusal_of_fit(method, &given, weighted());
        for before in [None, Some(&plain)] {
            match added(method, &given, before, &weighted()) {
                Ok(model) => {
                    assert!(method.accepts.weights && refused.is_none(), "{key}: {refused:?}");
                    let wanted = added(method, &given, before, &dense(&repeated)).unwrap();
                    assert_eq!(model.report().n_samples, wanted.report().n_samples, "{key}");
                    let names = ["explained_variance", "noise_variance"];
                    let name = names.into_iter().find(|name| wanted.tensor(name).is_some()).unwrap();
                    let (a, b) = (numbers(&model, name), numbers(&wanted, name));
                    let size = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                    assert!(apart(&a, &b) <= 1e-6 * size, "{key}: {a:?}\n{b:?}");
                }
                Err(e) => {
                    assert_eq!(Some(e.to_string()), refused, "{key}");
                    // A method that takes weights names the setting that does not.
                    match e {
                        Error::Unsupported { asked, .. } if method.accepts.weights => {
                            assert_eq!(asked, format!("{key} with algorithm='easi' of rows with weights"))
                        }
                        Error::Unsupported { asked, .. } => {
                            assert_eq!(asked, format!("{key} of rows with weights"))
                        }
                        other => panic!("{key}: {other:?}"),
                    }
                }
            }
        }
    }
}

/// Methods that take missing cells take them only when all rows are fitted at once, and report it otherwise.
#[test]
fn missing_cells_of_a_batch_are_named_by_row_and_column() {
    let mut x = falling(N, P, 3);
    let found = incremental(&x);
    x[7 * P + 2] = f64::NAN;
    for (method, given) in found {
        match added(method, &given, None, &dense(&x)) {
            Err(Error::NotFinite { row: 7, column: 2, what: "NaN", .. }) => {
                assert!(!method.accepts.missing, "{}", method.key)
            }
            Err(Error::Unsupported { asked, found, .. }) => {
                assert!(method.accepts.missing, "{}", method.key);
                assert!(
                    asked.contains("missing cells") && found.contains("row 7, column 2"),
                    "{asked}, {found}"
                );
            }
            other => panic!("{}: {:?}", method.key, other.map(|m| m.report().clone())),
        }
    }
}
