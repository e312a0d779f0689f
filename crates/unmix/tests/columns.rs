//! Names of columns where a fit continues from a model or starts from one, and the values in errors about requests.

use serde_json::{Map, Value, json};
use unmix::data::{Rows, Sparse, VecSink};
use unmix::impute::Imputer;
use unmix::model::{Parts, Quality, Tensors};
use unmix::{AnyRows, Error, ErrorDetails, Features, Ica, METHODS, Method, Model, Run};

const N: usize = 60;
const P: usize = 4;

fn settings(of: Value) -> Map<String, Value> {
    of.as_object().unwrap().clone()
}

fn numbers() -> Vec<f64> {
    let data = unmix::datasets::patterns(N, 2, P / 2, 0.5, 1);
    data.x.as_slice()[..N * P].to_vec()
}

fn rows<'a>(x: &'a [f64], names: &str) -> AnyRows<'a> {
    let rows = AnyRows::F64(Rows::from_slice(x, P).unwrap());
    if names.is_empty() { rows } else { rows.named(names.chars().map(String::from).collect()).unwrap() }
}

fn details(e: &Error) -> &ErrorDetails {
    let Error::Unsupported { details, .. } = e else { panic!("{e:?}") };
    details
}

/// The rows as stored entries.
fn sparse(x: &[f64]) -> Rows<'static, f64> {
    let starts: Vec<i64> = (0..=x.len() / P).map(|i| (i * P) as i64).collect();
    let columns: Vec<i32> = (0..x.len()).map(|at| (at % P) as i32).collect();
    Rows::new(Sparse::from_csr(&starts, &columns, x.to_vec(), P).unwrap(), Features::default(), "the array")
}

/// Methods that a few dense rows can be fitted with, in little time.
fn small() -> Vec<(&'static str, Value)> {
    let first = [
        ("pca", json!({"n_components": 2})),
        ("ppca", json!({"n_components": 2})),
        ("ica", json!({"n_components": 2, "max_iter": 3})),
        ("fastica", json!({"n_components": 2, "max_iter": 3})),
        ("factor-analysis", json!({"n_components": 1, "max_iter": 3})),
        ("dictionary", json!({"n_components": 2, "algorithm": "online", "max_epochs": 1})),
        ("sae", json!({"n_components": 3, "max_epochs": 1})),
        ("rfn", json!({"n_components": 2, "max_iter": 3})),
    ];
    first.into_iter().collect()
}

#[test]
fn a_start_with_its_columns_in_another_order_or_of_other_names_is_refused() {
    let x = numbers();
    for (key, given) in small() {
        let given = settings(given);
        let fit = |names: &str, init: Option<&Model>| {
            let run = Run { init: init.map(|model| model as _), ..Run::default() };
            unmix::fit(key, &given, &mut rows(&x, names), &run)
        };
        let first = fit("abcd", None).unwrap();
        for names in ["abcd", ""] {
            let again = fit(names, Some(&first));
            assert!(again.is_ok(), "{key}, '{names}': {}", again.unwrap_err());
        }
        let e = fit("acbd", Some(&first)).unwrap_err();
        let message = e.to_string();
        let order = "its columns are in another order: column 1 is 'b' in the model and 'c' in the rows";
        assert!(
            message.contains(order) && message.ends_with("give the columns in the order of the model"),
            "{key}: {message}"
        );
        assert_eq!((details(&e).column, details(&e).name.as_deref()), (Some(1), Some("c")), "{key}");
        let e = fit("abce", Some(&first)).unwrap_err().to_string();
        assert!(
            e.contains("its columns have other names: column 3 is 'd' in the model and 'e' in the rows"),
            "{key}: {e}"
        );
    }
}

#[test]
fn a_batch_with_its_columns_in_another_order_is_refused() {
    let x = numbers();
    for (key, given) in [
        ("pca", json!({})),
        ("dictionary", json!({"n_components": 2, "algorithm": "online"})),
        ("sae", json!({"n_components": 3})),
    ] {
        let given = settings(given);
        let add = |before: Option<&Model>, names: &str| {
            unmix::partial_fit(key, &given, before, &rows(&x, names), &Run::default())
        };
        let first = add(None, "abcd").unwrap();
        assert!(add(Some(&first), "abcd").is_ok() && add(Some(&first), "").is_ok(), "{key}");
        let e = add(Some(&first), "abdc").unwrap_err().to_string();
        assert!(
            e.starts_with(
                "an incremental fit of this model is not possible: its columns are in another order: column 2"
            ),
            "{key}: {e}"
        );
    }
    // A fit that continues the stream of the model from which it starts.
    let given = settings(json!({"n_components": 2, "algorithm": "online"}));
    let first = unmix::fit("dictionary", &given, &mut rows(&x, "abcd"), &Run::default()).unwrap();
    let go_on = |names: &str| {
        unmix::method::continued(
            "dictionary",
            &given,
            &Tensors::new(),
            &first,
            &rows(&x, names),
            &Run::default(),
        )
    };
    assert!(go_on("abcd").unwrap().is_some());
    assert!(go_on("bacd").unwrap_err().to_string().contains("another order: column 0"));
}

#[test]
fn errors_about_requests_have_values() {
    let x = numbers();
    let weighted = |key: &str| {
        let mut rows = rows(&x, "").weighted(vec![2.0; N]).unwrap();
        unmix::fit(key, &Map::new(), &mut rows, &Run::default()).unwrap_err()
    };
    for method in METHODS.iter().filter(|method| !method.accepts.weights && method.tensors().next().is_none())
    {
        assert_eq!(details(&weighted(method.key)).method.as_deref(), Some(method.key));
    }
    let mut gap = x.clone();
    gap[7 * P + 2] = f64::NAN;
    let e = unmix::partial_fit(
        "ppca",
        &settings(json!({"n_components": 1})),
        None,
        &rows(&gap, ""),
        &Run::default(),
    )
    .unwrap_err();
    let found = details(&e);
    assert_eq!((found.method.as_deref(), found.row, found.column), (Some("ppca"), Some(7), Some(2)));
    let model =
        unmix::fit("pca", &settings(json!({"n_components": 2})), &mut rows(&x, ""), &Run::default()).unwrap();
    let narrow = x[..N * 3].to_vec();
    let run = Run { init: Some(&model), ..Run::default() };
    let mut rows = AnyRows::F64(Rows::from_slice(&narrow, 3).unwrap());
    let e = unmix::fit("ica", &Map::new(), &mut rows, &run).unwrap_err();
    assert_eq!((details(&e).need, details(&e).got), (Some(3), Some(4)));
}

/// Keys of the methods of which something holds.
fn keys(holds: impl Fn(&Method) -> bool) -> Vec<&'static str> {
    METHODS.iter().filter(|method| holds(method)).map(|method| method.key).collect()
}

/// The built-in methods that work; other tests register methods meanwhile.
fn works(e: &Error) -> Vec<&str> {
    let built_in = |key: &&str| METHODS.iter().any(|method| method.key == *key);
    details(e).works.iter().map(String::as_str).filter(built_in).collect()
}

/// Asserts that an error has these methods, and that the message lists the first eight.
#[track_caller]
fn lists(e: &Error, clause: &str, keys: &[&str]) {
    let message = e.to_string();
    assert_eq!(works(e), keys, "{message}");
    let first = keys[..keys.len().min(8)].join(", ");
    assert!(message.contains(&format!("choose a method that {clause} ({first}")), "{message}");
    assert!(keys.len() <= 9 || message.contains(" more), "), "{message}");
}

#[test]
fn refused_rows_name_the_methods_that_take_them() {
    let x = numbers();
    let nobody = |_: &[u8]| Ok(Vec::new());
    for method in METHODS.iter().filter(|method| method.tensors().all(|table| table.default == "null")) {
        let refused = |mut rows: AnyRows<'_>| {
            unmix::fit(method.key, &Map::new(), &mut rows, &Run::default()).unwrap_err()
        };
        if !method.accepts.weights {
            let e = refused(rows(&x, "").weighted(vec![2.0; N]).unwrap());
            lists(&e, "takes them", &keys(|method| method.accepts.weights));
            assert!(e.to_string().ends_with("more), leave the weights out, or repeat rows"), "{e}");
        }
        if !method.accepts.sparse {
            let e = refused(AnyRows::F64(sparse(&x)));
            lists(&e, "takes them", &keys(|method| method.accepts.sparse));
            assert!(e.to_string().ends_with("), or make the rows dense"), "{e}");
        }
        if !method.accepts.remote {
            let e = refused(AnyRows::F64(Rows::remote(3000, P, &nobody)));
            lists(&e, "needs only sums over them", &keys(|method| method.accepts.remote));
        }
    }
    // A batch is refused as all rows are.
    let given = settings(json!({"n_components": 3}));
    let weighted = rows(&x, "").weighted(vec![2.0; N]).unwrap();
    let e = unmix::partial_fit("sae", &given, None, &weighted, &Run::default()).unwrap_err();
    lists(&e, "takes them", &keys(|method| method.accepts.weights));
    // A typed fit, too.
    let e = Ica::default().fit(&mut sparse(&x), &Run::default()).unwrap_err();
    lists(&e, "takes them", &keys(|method| method.accepts.sparse));
}

#[test]
fn refused_sums_batches_and_scores_name_the_methods_that_have_them() {
    let x = numbers();
    let takes = |method: &Method, given: Value| (method.spec)(&settings(given));
    let sums = keys(|method| takes(method, json!({})).is_ok_and(|spec| spec.takes_sums()));
    assert!(sums.contains(&"pca") && !sums.contains(&"ica"), "{sums:?}");
    let e = unmix::method::fit_by_sums("ica", &Map::new(), &rows(&x, ""), &Run::default()).unwrap_err();
    lists(&e, "is computed from sums", &sums);
    // ICA is fitted incrementally by one of its algorithms.
    let batches = keys(|method| {
        let found = [json!({}), json!({"algorithm": "easi"}), json!({"algorithm": "online"})];
        let found = found.map(|given| takes(method, given).is_ok_and(|spec| spec.takes_batches()));
        found.contains(&true)
    });
    assert!(sums.iter().chain(&["ica", "dictionary", "sae"]).all(|key| batches.contains(key)), "{batches:?}");
    let e = unmix::partial_fit("rica", &Map::new(), None, &rows(&x, ""), &Run::default()).unwrap_err();
    assert_eq!(works(&e), batches);
    assert!(e.to_string().contains("is fitted incrementally (pca, ppca, linear-eigengan, "), "{e}");
    assert!(e.to_string().contains("ica with algorithm='easi', "), "{e}");
    assert!(e.to_string().ends_with("), or fit all rows at once"), "{e}");
    // Of a model a program asks.
    let given = settings(json!({"n_components": 2, "max_iter": 3}));
    let model = unmix::fit("ica", &given, &mut rows(&x, ""), &Run::default()).unwrap();
    let e = unmix::method::with_methods(model.check_scores().unwrap_err());
    lists(&e, "has a likelihood", &keys(|method| method.density.is_some()));
    let none = Map::new();
    let rules = [unmix::select::SizeRule::Cells];
    let request = unmix::select::SizeRequest::new(&none, &rules, None);
    let rfn = unmix::method::find("rfn").unwrap();
    let e = unmix::method::with_methods(unmix::select::check_sizes(rfn, &request).unwrap_err());
    let cells = keys(|method| method.density.is_some() && method.accepts.missing);
    lists(&e, "has a likelihood and takes missing cells", &cells);
}

/// Every method is fitted on every path of its solvers: the methods that errors list are those of which some model has what was requested.
#[test]
fn requests_of_models_name_the_methods_whose_models_have_them() {
    if std::env::var_os("UNMIX_LAWS").is_some() {
        return;
    }
    let cases = crate::laws::cases::every_case();
    let models: Vec<Model> = cases.iter().map(|case| case.fit(&case.data::<f64>())).collect();
    let of = |holds: &dyn Fn(&Model) -> bool| {
        keys(|method| models.iter().any(|model| model.method().key == method.key && holds(model)))
    };
    let first = |key: &str| models.iter().find(|model| model.method().key == key).unwrap();
    let (pca, ica) = (first("pca"), first("ica"));
    let x = numbers();
    let e = unmix::method::with_methods(pca.conditional().unwrap_err());
    lists(&e, "has posteriors of its codes", &of(&|model| model.conditional().is_ok()));
    assert!(e.to_string().ends_with("), or encode the rows alone"), "{e}");
    let e = Imputer::check(pca).unwrap_err();
    lists(&e, "fills them", &of(&|model| Imputer::check(model).is_ok()));
    let e = unmix::method::with_methods(Quality::of(ica, Parts::default()).unwrap_err());
    lists(&e, "has them", &of(&|model| Quality::of(model, Parts::default()).is_ok()));
    let narrow = pca_of(&x);
    let AnyRows::F64(few) = rows(&x, "") else { unreachable!() };
    let e = narrow.path(&few, 5, &Run::default(), &mut VecSink(Vec::new())).unwrap_err();
    let penalised = of(&|model| model.code().encoder().along_alpha().is_some());
    lists(&unmix::method::with_methods(e), "has such a penalty", &penalised);
    let e = unmix::biclusters::of_model(&narrow, &rows(&x, ""), &Run::default()).unwrap_err();
    let decoded = |model: &Model| model.code().codes().non_negative && model.code().decodes();
    assert_eq!(works(&e), of(&decoded), "{e}");
    assert!(e.to_string().ends_with(')') && e.to_string().contains("rfn, stacked-rfn, sae"), "{e}");
}

fn pca_of(x: &[f64]) -> Model {
    unmix::fit("pca", &settings(json!({"n_components": 2})), &mut rows(x, ""), &Run::default()).unwrap()
}

#[test]
fn a_component_that_is_given_twice_is_refused() {
    let x = numbers();
    let model =
        unmix::fit("pca", &settings(json!({"n_components": 3})), &mut rows(&x, ""), &Run::default()).unwrap();
    let choose = |list: &str| {
        let all: Vec<_> = list.split(',').map(|one| one.parse().unwrap()).collect();
        model.choose("exclude", &all)
    };
    assert_eq!(choose("2,0").unwrap(), [0, 2]);
    for (list, index, last) in
        [("0,0", 0, "0"), ("0-1,1-2", 1, "1-2"), ("2,pca2", 2, "'pca2'"), ("-1,2", 2, "2")]
    {
        let e = choose(list).unwrap_err().to_string();
        assert_eq!(
            e,
            format!(
                "exclude={last} is not possible: component {index} is given twice; give each component once"
            )
        );
    }
}
