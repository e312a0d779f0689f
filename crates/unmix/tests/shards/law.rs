//! Every path of every method, fitted on three workers, has the bytes of a fit in one process, or is refused with one message.

use super::distributed::{Distributed, bytes_but_run};
use crate::laws::cases::every_case;
use crate::made::{falling, fit_any, settings};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use unmix::{AnyRows, METHODS, Rows, Run, shards};

/// Settings that remote rows do not support, of methods that take such rows: method, settings, and the operation that the error names.
/// docs/shards.md has the same list.
fn refused() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        // One step for each row, in their order: each depends on the previous row.
        ("ica", json!({"algorithm": "easi"}), "ica with algorithm='easi'"),
        // One step for each random mini-batch: in every epoch all rows would have to be transferred.
        ("neural-pca", json!({"solver": "adam", "n_components": 2}), "training by batches"),
        ("neural-pca", json!({"solver": "sgd", "n_components": 2}), "training by batches"),
        ("sigma-pca", json!({"variant": "ema-tanh", "n_components": 2}), "training by batches"),
        ("sigma-pca", json!({"solver": "adam", "n_components": 2}), "training by batches"),
        ("sigma-pca", json!({"solver": "sgd", "n_components": 2}), "training by batches"),
        ("rica", json!({"batch_size": 100}), "rica with batch_size"),
        ("complete-dictionary", json!({"batch_size": 100}), "training by batches"),
        ("rfn", json!({"batch_size": 64, "n_components": 5}), "rfn with batch_size"),
        // Codes of all rows are held, or whole columns.
        ("rfn", json!({"e_step": "coordinate"}), "rfn with e_step='coordinate'"),
        ("rfn", json!({"e_step": "cascade"}), "rfn with e_step='cascade'"),
        ("rfn", json!({"center": "median"}), "rfn with center='median'"),
        // Permutations of columns, held-out blocks and held-out cells need all rows on this machine.
        ("pca", json!({"n_components": "parallel"}), "n_components='parallel'"),
        ("factor-analysis", json!({"n_components": "parallel"}), "n_components='parallel'"),
        ("pca", json!({"n_components": "cv"}), "n_components='cv'"),
        ("ppca", json!({"n_components": "cells"}), "the rule 'cells'"),
        ("linear-eigengan", json!({"n_components": "cells"}), "the rule 'cells'"),
        ("factor-analysis", json!({"n_components": "cells"}), "the rule 'cells'"),
    ]
}

/// Whether `given` has the settings of one of the unsupported fits.
fn is_refused(key: &str, given: &Value) -> bool {
    // A number of components is given with some of these only so that the fit is possible; a rule is what is refused.
    let same = |want: &Value| {
        let mut want = want
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, value)| *name != "n_components" || value.is_string());
        want.all(|(name, value)| given.get(name) == Some(value))
    };
    refused().iter().any(|(method, want, _)| *method == key && same(want))
}

#[test]
fn every_path_of_every_method_gets_the_bytes_of_one_process() {
    // Rows of one shape, with or without missing cells, are distributed once: two shards to the last worker and one to the second; or, if
    // they are fewer than columns, all rows to the third worker, from which the fit collects them.
    let mut distributed: BTreeMap<(usize, usize, bool), (Vec<f64>, Distributed)> = BTreeMap::new();
    let (mut fitted, mut with_gaps) = (0, BTreeSet::new());
    for case in every_case().into_iter().filter(|case| case.method.accepts.remote) {
        let p = case.p;
        // A limited number of iterations suffices to detect a different bit.
        let mut given = case.given_briefly();
        if matches!(case.method.key, "ica" | "fastica" | "rica" | "sigma-pca" | "complete-dictionary") {
            given.entry("max_iter").or_insert(json!(12));
        }
        let given = Value::Object(given);
        let (n, cuts): (usize, &[usize]) = match case.n < p {
            true => (case.n, &[0, 0]),
            false => (2 * shards::shard_rows(p) as usize + 77, &[0, 1]),
        };
        if is_refused(case.method.key, &given) && n >= p {
            continue;
        }
        let (x, distributed) = distributed.entry((n, p, case.has_gaps())).or_insert_with(|| {
            let x = case.rows::<f64>(n);
            let distributed = Distributed::new(&x, p, cuts);
            (x, distributed)
        });
        let mut rows = AnyRows::F64(Rows::from_slice(x, p).unwrap());
        let here = fit_any(case.method.key, &settings(given.clone()), &mut rows, &Run::default()).unwrap();
        let there = distributed.fit::<f64>(case.method.key, &given).unwrap_or_else(|e| panic!("{case}: {e}"));
        let (want, found) = (bytes_but_run(&here), bytes_but_run(&there));
        assert_eq!(want.0, found.0, "{case}");
        assert!(want.1 == found.1, "{case}: numbers differ");
        fitted += 1;
        if case.has_gaps() {
            with_gaps.insert(case.method.key);
        }
    }
    assert!(fitted > 60, "{fitted} paths");
    let taking = METHODS.iter().filter(|m| m.accepts.missing && m.accepts.remote);
    assert_eq!(
        with_gaps,
        taking.map(|m| m.key).collect::<BTreeSet<_>>(),
        "methods fitted with missing cells"
    );
}

#[test]
fn fits_that_need_the_rows_are_refused_and_listed_on_the_page() {
    let page = include_str!("../../../../docs/shards.md");
    let x = falling(3000, 4, 7);
    let distributed = Distributed::new(&x, 4, &[0, 0]);
    for (key, given, requested) in refused() {
        let message = distributed.fit::<f64>(key, &given).map(|_| ()).unwrap_err().to_string();
        let want = "the rows are held by remote workers, which return only sums over them; choose a method that needs only sums \
            over the rows, or load the rows on this machine";
        assert!(message.starts_with(requested) && message.ends_with(want), "{key} {given}: {message}");
        assert!(page.contains(requested), "the page about shards does not name '{requested}'");
    }
    for method in METHODS {
        let request = format!("{} of rows held by remote workers", method.key);
        if method.accepts.remote {
            assert!(!page.contains(&format!("`{request}`")), "the page about shards refuses {}", method.key);
            continue;
        }
        let message = distributed.fit::<f64>(method.key, &json!({})).map(|_| ()).unwrap_err().to_string();
        let why = "it needs the rows themselves; choose a method that needs only sums over them (pca, ppca,";
        assert!(message.starts_with(&format!("{request} is not possible: {why}")), "{message}");
        assert!(message.ends_with("), or load the rows on this machine"), "{message}");
        assert!(page.contains(&format!("`{request}`")), "the page about shards does not name '{request}'");
    }
    let model = distributed.fit::<f64>("pca", &json!({})).unwrap();
    let nobody = |_: &[u8]| Ok(Vec::new());
    let rows = AnyRows::F64(Rows::remote(3000, 4, &nobody));
    let message = unmix::stability::stability(&model, &rows, Default::default(), &Run::default())
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(message.starts_with("stability of a decomposition"), "{message}");
    assert!(page.contains("`stability`"));
}
