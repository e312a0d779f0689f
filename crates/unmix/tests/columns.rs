//! Names of columns where a fit continues from a model or starts from one, and the values in errors about requests.

use serde_json::{Map, Value, json};
use unmix::data::Rows;
use unmix::model::Tensors;
use unmix::{AnyRows, Error, ErrorDetails, METHODS, Model, Run};

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
