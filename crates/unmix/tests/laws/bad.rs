//! Bad input: the right error with a helpful message, and never a panic.

use super::{Case, every_case};
use crate::made::{Known, cast, falling, fit_any, settings, try_fit};
use serde_json::json;
use unmix::data::{Features, RawArray, VecSink};
use unmix::{Error, Model, Rows, Run};

fn error_of(result: unmix::Result<Model>, what: &str) -> Error {
    match result {
        Ok(_) => panic!("{what}: it was accepted"),
        Err(e) => {
            let text = e.to_string();
            assert!(
                !text.ends_with('.') && !text.contains('\n'),
                "{what}: one sentence without a full stop: {text}"
            );
            e
        }
    }
}

/// Three copies of the rows with one number replaced by NaN, infinity and -infinity, each at another position; returns position, name
/// and rows.
fn spoiled<T: Known>(case: &Case, x: &[T]) -> Vec<(usize, &'static str, Vec<T>)> {
    let places = [0, case.n * case.p - 1, (case.n / 2) * case.p + 3];
    let values = [(f64::NAN, "NaN"), (f64::INFINITY, "infinity"), (f64::NEG_INFINITY, "-infinity")];
    let with = |at: usize, value: f64| {
        let mut x = x.to_vec();
        x[at] = T::from_f64(value);
        x
    };
    places.into_iter().zip(values).map(|(at, (value, word))| (at, word, with(at, value))).collect()
}

#[test]
fn a_number_that_is_not_finite_is_named_by_row_and_column() {
    fn check<T: Known>(case: &Case) {
        for (at, word, x) in spoiled(case, &case.data::<T>()) {
            if word == "NaN" && case.method.accepts.missing {
                assert_eq!(case.try_fit(&x).is_ok(), case.takes_gaps(), "{case}");
                continue;
            }
            match error_of(case.try_fit(&x), &case.to_string()) {
                Error::NotFinite { row, column, what, .. } => {
                    assert_eq!((row as usize, column, what), (at / case.p, at % case.p, word), "{case}")
                }
                other => panic!("{case}: {other:?}"),
            }
        }
    }
    for case in every_case() {
        check::<f64>(&case);
        check::<f32>(&case);
    }
}

#[test]
fn a_model_refuses_rows_that_are_not_finite_too() {
    for case in every_case() {
        let clean = case.data::<f64>();
        let (model, run) = (case.fit(&clean), Run::default());
        for (at, word, x) in spoiled(&case, &clean) {
            if word == "NaN" && model.code().codes().missing {
                let rows = Rows::from_slice(&x, case.p).unwrap();
                assert!(model.encode_to_vec(&rows, &run).unwrap().iter().all(|z| z.is_finite()), "{case}");
                continue;
            }
            let rows = Rows::from_slice(&x, case.p).unwrap();
            let (mut numbers, mut logs) = (VecSink(Vec::new()), VecSink(Vec::new()));
            let mut found = Vec::new();
            if model.code().decodes() {
                found.push(model.reconstruct(&rows, &run, &mut numbers).map(|done| done.n_rows));
            }
            if model.check_scores().is_ok() {
                found.push(model.score_samples(&rows, &run, &mut logs));
            }
            if model.n_codes() > 0 {
                found.push(model.encode(&rows, &run, &mut numbers).map(|done| done.n_rows));
            }
            for result in found {
                match result {
                    Err(Error::NotFinite { row, column, what, .. }) => {
                        assert_eq!((row as usize, column, what), (at / case.p, at % case.p, word), "{case}")
                    }
                    other => panic!("{case}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn a_requested_stop_interrupts_every_fit() {
    struct Stop;
    impl unmix::Observer for Stop {
        fn interrupted(&self) -> bool {
            true
        }
    }
    for case in every_case() {
        let x = case.data::<f64>();
        for threads in [1, 3] {
            let run = Run { threads, observer: &Stop, ..Run::default() };
            let mut rows = unmix::AnyRows::F64(Rows::from_slice(&x, case.p).unwrap());
            let found = fit_any(case.method.key, &settings(case.given.clone()), &mut rows, &run);
            assert!(matches!(found, Err(Error::Interrupted)), "{case}, {threads} threads");
        }
    }
}

#[test]
fn a_column_of_nan_is_named_by_its_name_and_an_all_nan_row_by_its_number() {
    let (n, p) = (30, 3);
    let mut x = falling(n, p, 1);
    (0..n).for_each(|i| x[i * p + 1] = f64::NAN);
    let names = Features { names: Some(vec!["a".into(), "b".into(), "c".into()]), shape: None };
    let mut rows: Rows<'_, f64> = Rows::new(RawArray::borrowed(&x, p).unwrap(), names, "the array");
    let text = unmix::Pca::default().fit(&mut rows, &Run::default()).unwrap_err().to_string();
    assert!(text.contains("row 0, column 1 ('b') is NaN"), "{text}");
    let mut x = falling(n, p, 1);
    x[7 * p..8 * p].fill(f64::NAN);
    let text = unmix::Pca::default()
        .fit(&mut Rows::from_slice(&x, p).unwrap(), &Run::default())
        .unwrap_err()
        .to_string();
    assert!(text.contains("row 7, column 0 is NaN"), "{text}");
}

#[test]
fn too_few_rows_and_no_columns_are_refused() {
    for case in every_case() {
        // Codes of one row are codes.
        let given = case.method.tensors().any(|s| s.default != "null");
        for n in if given { 0..1 } else { 0..2 } {
            let x = case.data::<f64>();
            match error_of(case.try_fit(&x[..n * case.p]), &case.to_string()) {
                Error::TooFewRows { need, got, .. } => {
                    assert_eq!((need, got), (if given { 1 } else { 2 }, n as u64), "{case}")
                }
                other => panic!("{case}: {other:?}"),
            }
        }
    }
    for n in [2u64, 5] {
        let bytes = unmix::data::Bytes::Lent(&[]);
        let number = unmix::data::NumberType::little(b'f', 8);
        let axes = unmix::data::Axes::one;
        let array = RawArray::new(bytes, 0, number, axes(n, 0), axes(0, 8)).unwrap();
        let mut rows: Rows<'_, f64> = Rows::new(array, Features::default(), "the array");
        let e = error_of(unmix::Pca::default().fit(&mut rows, &Run::default()), "no columns");
        assert!(matches!(e, Error::Width { got: 0, .. }), "{e:?}");
    }
}

#[test]
fn data_that_do_not_vary_are_refused() {
    // Without centring a constant column that is not 0 has variance about 0.
    let given = |case: &Case, name: &str| {
        let default = case.method.settings.iter().find(|s| s.name == name).map(|s| s.default_value());
        case.given.get(name).cloned().or(default)
    };
    // Methods that take a dictionary and have no setting `center` do not subtract a mean.
    let given_a_dictionary = |case: &Case| case.method.tensors().any(|s| s.default != "null");
    let centred = |case: &Case| {
        let about_0 = ["center", "offsets"].iter().any(|name| given(case, name) == Some(json!(false)));
        !about_0 && (!given_a_dictionary(case) || given(case, "center").is_some())
    };
    for case in every_case().into_iter().filter(centred) {
        for value in [0.0, 0.1, -1e300, 5e-324] {
            match error_of(case.try_fit(&vec![value; case.n * case.p]), &case.to_string()) {
                Error::NoVariance { n_features, n_samples, .. } => {
                    assert_eq!((n_features, n_samples), (case.p, case.n as u64), "{case}")
                }
                other => panic!("{case}: {other:?}"),
            }
        }
        let e = error_of(case.try_fit(&vec![0.1f32; case.n * case.p]), &case.to_string());
        assert!(matches!(e, Error::NoVariance { .. }), "{case}: {e:?}");
    }
}

#[test]
fn squares_that_overflow_are_refused_and_not_taken_for_infinities_in_the_data() {
    fn huge<T: Known>(case: &Case, factor: f64) -> Vec<T> {
        case.data::<T>().iter().map(|x| T::from_f64(x.to_f64() * factor)).collect()
    }
    for case in every_case() {
        let e = error_of(case.try_fit(&huge::<f64>(&case, 1e200)), &format!("{case}, float64"));
        assert!(matches!(&e, Error::Overflow { .. }), "{case}: {e:?}");
        // The largest number of single precision is about 3e38. Sums are in double precision, so that a model of numbers that do not
        // overflow is as good as any; a variance that does not fit into single precision is refused.
        match case.try_fit(&huge::<f32>(&case, 1e30)) {
            Ok(model) => {
                let finite = |tensor: &unmix::model::Tensor| tensor.f64s().iter().all(|x| x.is_finite());
                assert!(model.tensors().values().all(finite), "{case}, float32");
            }
            Err(Error::Overflow { .. }) => {}
            Err(e) => assert!(e.to_string().contains("or use float64"), "{case}: {e:?}"),
        }
    }
}

#[test]
fn settings_outside_their_domain_are_refused_with_what_would_work() {
    let x = falling(20, 5, 1);
    let fit = |given: serde_json::Value| try_fit("pca", &settings(given), &x, 5);
    for (given, word) in [
        (json!({"n_components": 6}), "choose a number from 0 to 5"),
        (json!({"n_components": 21}), "min(20, 5) = 5"),
        (json!({"n_components": -1}), "n_components"),
        (json!({"n_components": 1.5}), "share"),
        (json!({"n_components": 0.0}), "share"),
        (json!({"n_components": "mlee"}), "did you mean 'mle'?"),
        (json!({"n_components": true}), "n_components"),
        (json!({"n_components": [1]}), "n_components"),
        (json!({"whiten": "yes"}), "whiten"),
        (json!({"svd_solver": "ful"}), "did you mean 'full'?"),
    ] {
        let e = error_of(fit(given.clone()), &given.to_string());
        assert!(matches!(e, Error::Setting { .. }), "{given}: {e:?}");
        assert!(e.to_string().contains(word), "{given}: {e}");
    }
    let e = error_of(fit(json!({"n_component": 3})), "a misspelt setting");
    assert!(
        matches!(e, Error::Unknown { .. }) && e.to_string().contains("did you mean 'n_components'?"),
        "{e}"
    );
    let e = error_of(try_fit("pcaa", &settings(json!({})), &x, 5), "a misspelt method");
    assert!(matches!(e, Error::Unknown { .. }) && e.to_string().contains("did you mean 'pca'?"), "{e}");
    let wide = falling(5, 20, 1);
    let e =
        error_of(try_fit("pca", &settings(json!({"n_components": "mle"})), &wide, 20), "mle on wide data");
    assert!(matches!(e, Error::Setting { .. }), "{e:?}");
}

#[test]
fn numbers_of_components_outside_their_range_are_refused_by_every_method() {
    let x = falling(20, 5, 1);
    let counts = |m: &&unmix::Method| m.settings.iter().any(|s| s.name == "n_components");
    for method in unmix::METHODS.iter().filter(counts) {
        let fit = |k: i64| try_fit(method.key, &settings(json!({"n_components": k})), &x, 5);
        // RICA, RFN and stacks of it, dictionaries and autoencoders may have more components than columns; FastICA reduces the number to
        // what is possible, as scikit-learn's does.
        if !["rica", "fastica", "rfn", "stacked-rfn", "dictionary", "sae", "dae", "rbm"].contains(&method.key)
        {
            let e = error_of(fit(6), method.key);
            assert!(
                matches!(&e, Error::Setting { name, .. } if name == "n_components"),
                "{}: {e:?}",
                method.key
            );
            assert!(e.to_string().contains("from"), "{}: {e}", method.key);
        }
        // These methods also fit models of 0 components or factors.
        if !["pca", "ppca", "linear-eigengan", "factor-analysis", "matrix-completion"].contains(&method.key) {
            let e = error_of(fit(0), method.key);
            assert!(
                matches!(&e, Error::Setting { name, .. } if name == "n_components"),
                "{}: {e:?}",
                method.key
            );
        }
        error_of(fit(-1), method.key);
    }
}

/// Whether more components than rows or columns are possible: these methods are overcomplete, and FastICA reduces the number to what is
/// possible, as scikit-learn's does.
fn takes_many(case: &Case) -> bool {
    let overcomplete = ["rica", "fastica", "rfn", "sae", "dae", "rbm"].contains(&case.method.key);
    let with_prior = case.given.get("prior").is_some_and(|prior| prior != "none");
    overcomplete || with_prior
}

#[test]
fn numbers_of_components_outside_their_range_are_refused_on_every_path() {
    let mut refused = 0;
    for case in every_case() {
        let Some(setting) = case.method.settings.iter().find(|s| s.name == "n_components") else { continue };
        // The settings of a stack are lists with one entry for each layer. ICA without whitening keeps every column.
        if case.method.key == "stacked-rfn" || !setting.has_effect(&case.resolved()) {
            continue;
        }
        let x = case.data::<f64>();
        let fit = |k: i64| {
            let mut given = settings(case.given.clone());
            given.insert("n_components".into(), k.into());
            try_fit(case.method.key, &given, &x, case.p)
        };
        let named = |k: usize| {
            let e = error_of(fit(k as i64), &case.to_string());
            assert!(
                matches!(&e, Error::Setting { name, .. } if name == "n_components"),
                "{case}, n_components={k}: {e:?}"
            );
            e.to_string()
        };
        // There are at most as many atoms as rows, and as many components as rows or columns.
        let most = if case.method.key == "dictionary" { case.n } else { case.n.min(case.p) };
        if !takes_many(&case) {
            let message = named(most + 1);
            // Given blocks already fix the number of components.
            let by_blocks = case.given.get("groups").is_some_and(|groups| groups.is_array());
            assert!(by_blocks || message.contains("from"), "{case}: {message}");
            refused += 1;
        }
        // These methods also fit models of 0 components or factors, unless the solver computes the first components only.
        let first_only = ["arpack", "krylov", "randomized", "power", "deflation"];
        let solver = case.given.get("svd_solver").and_then(|solver| solver.as_str());
        if !["pca", "ppca", "linear-eigengan", "factor-analysis", "matrix-completion"]
            .contains(&case.method.key)
            || solver.is_some_and(|solver| first_only.contains(&solver))
        {
            named(0);
            refused += 1;
        }
        error_of(fit(-1), &case.to_string());
    }
    assert!(refused > 0 || std::env::var_os("UNMIX_LAWS").is_some());
}

#[test]
fn rows_of_the_wrong_width_are_refused() {
    for case in every_case() {
        let model = case.fit(&case.data::<f64>());
        let x = falling(6, case.p + 1, 1);
        let rows = Rows::from_slice(&x, case.p + 1).unwrap();
        let (run, mut sink) = (Run::default(), VecSink(Vec::new()));
        let right = |r: unmix::Result<u64>| matches!(r, Err(Error::Width { need, got, .. }) if need == case.p && got == case.p + 1);
        assert!(right(model.encode(&rows, &run, &mut sink).map(|done| done.n_rows)), "{case}");
        if model.code().decodes() {
            assert!(right(model.reconstruct(&rows, &run, &mut sink).map(|done| done.n_rows)), "{case}");
        }
        if model.check_scores().is_ok() {
            assert!(right(model.score_samples(&rows, &run, &mut sink)), "{case}");
        }
        if !model.code().decodes() {
            continue;
        }
        let k = model.n_codes();
        let codes = vec![0.5f32; 2 * (k + 1)];
        let decoded = model
            .decode_to_vec(&Rows::from_slice(&cast::<f32>(&crate::made::wide(&codes)), k + 1).unwrap(), &run);
        assert!(matches!(decoded, Err(Error::Width { need, .. }) if need == k), "{case}");
    }
    let ragged = falling(4, 5, 1);
    assert!(
        matches!(Rows::from_slice(&ragged[..18], 5), Err(Error::Width { .. })),
        "18 numbers do not form rows of 5 columns"
    );
}
