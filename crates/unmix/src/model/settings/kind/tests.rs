use super::*;
use serde_json::json;

/// Kinds with their descriptions: the type, the values in words, the requirement, and in Python the annotation, the constraints and the type
/// in docstrings.
const DESCRIBED: [(Kind, [&str; 6]); 9] = [
    (
        Kind::AnyOf(&[
            Kind::at_least(1),
            Kind::SHARE,
            Kind::SHARE_NAME,
            Kind::Words(&["mle", "bic"]),
            Kind::Null,
        ]),
        [
            "int >= 1, float in (0,1), str or null",
            "a positive integer, a share of the variance between 0 and 1, one of mle, bic, or null",
            "must be at least 1",
            "int | float | str | Literal[\"mle\", \"bic\"] | None",
            "Interval(Integral, 1, None, closed=\"left\"), Interval(RealNotInt, 0, 1, closed=\"neither\"), ShareName(), \
             StrOptions({\"mle\", \"bic\"}), None",
            "int, float, {\"mle\", \"bic\"} or None",
        ],
    ),
    (Kind::BOOL, ["bool", "true or false", "", "bool", "\"boolean\"", "bool"]),
    (
        Kind::AnyOf(&[Kind::Words(&["unit-variance"]), Kind::FALSE]),
        [
            "str or false",
            "false, or 'unit-variance'",
            "",
            "Literal[\"unit-variance\"] | Literal[False]",
            "StrOptions({\"unit-variance\"}), Options(bool, {False})",
            "\"unit-variance\" or False",
        ],
    ),
    (
        Kind::AnyOf(&[Kind::POSITIVE, Kind::per_component(&Kind::POSITIVE), Kind::AUTO]),
        [
            "float > 0, list or str",
            "a number, a list of one number for each component, or 'auto'",
            "must be finite and positive",
            "float | ArrayLike | Literal[\"auto\"]",
            "Interval(Real, 0, None, closed=\"neither\"), \"array-like\", StrOptions({\"auto\"})",
            "float, array-like of shape (n_components,) or \"auto\"",
        ],
    ),
    (
        Kind::AnyOf(&[Kind::table(Axis::Components, Axis::Features), Kind::Null]),
        [
            "matrix or null",
            "rows of numbers, such as [[1, 0], [0, 1]], or null",
            "must contain finite numbers only",
            "ArrayLike | None",
            "\"array-like\", None",
            "array-like of shape (n_components, n_features) or None",
        ],
    ),
    (
        Kind::AnyOf(&[Kind::at_least(2), Kind::per_layer(&Kind::at_least(2))]),
        [
            "int >= 2 or list",
            "an integer of at least 2, or a list of one value for each layer",
            "must be at least 2",
            "int | ArrayLike",
            "Interval(Integral, 2, None, closed=\"left\"), \"array-like\"",
            "int or array-like of shape (n_layers,)",
        ],
    ),
    (
        Kind::between(3, 4),
        [
            "int 3 to 4",
            "an integer from 3 to 4",
            "must be from 3 to 4",
            "int",
            "Interval(Integral, 3, 4, closed=\"both\")",
            "int",
        ],
    ),
    (
        Kind::number(Bound::Included(0.0), Bound::Excluded(1.0)),
        [
            "float in [0,1)",
            "a number",
            "must be in [0,1)",
            "float",
            "Interval(Real, 0, 1, closed=\"left\")",
            "float",
        ],
    ),
    (
        Kind::AnyOf(&[Kind::Arguments(&[("alpha", Kind::POSITIVE)]), Kind::Callable]),
        [
            "dict",
            "numbers by name, such as {\"alpha\": 1}",
            "must contain finite numbers only",
            "dict[str, Any] | Callable[..., Any]",
            "dict, callable",
            "dict or callable",
        ],
    ),
];

#[test]
fn kinds_are_described_in_messages_and_in_python() {
    for (kind, expected) in DESCRIBED {
        let python = kind.in_python();
        let found = [
            kind.type_name(),
            kind.in_words(),
            kind.demand().unwrap_or_default(),
            python.annotations.join(" | "),
            python.constraints.join(", "),
            python.described,
        ];
        assert_eq!(found, expected.map(String::from), "{kind:?}");
    }
}

#[test]
fn values_of_each_kind_are_distinguished_from_those_out_of_range_and_of_another_type() {
    let outside = |demand: &str| KindCheck::Outside(demand.into());
    let share = "a share of the variance must be between 0 and 1";
    let table = Kind::table(Axis::Components, Axis::Features);
    for (kind, value, expected) in [
        (Kind::at_least(1), json!(1), KindCheck::Yes),
        (Kind::at_least(1), json!(1.0), KindCheck::No),
        (Kind::at_least(1), json!(-1), outside("must be at least 1")),
        (Kind::between(3, 4), json!(5), outside("must be from 3 to 4")),
        (Kind::NUMBER, json!(-2), KindCheck::Yes),
        (Kind::NON_NEGATIVE, json!(-0.5), outside("must be finite and non-negative")),
        (Kind::SHARE, json!(0.5), KindCheck::Yes),
        (Kind::SHARE, json!(1), KindCheck::No),
        (Kind::SHARE, json!(1.0), outside(share)),
        (Kind::SHARE_NAME, json!("share-0.9"), KindCheck::Yes),
        (Kind::SHARE_NAME, json!("share-9"), outside(share)),
        (Kind::SHARE_NAME, json!("0.9"), KindCheck::No),
        (Kind::FALSE, json!(true), KindCheck::No),
        (Kind::per_column(&Kind::POSITIVE), json!([1, 2.5]), KindCheck::Yes),
        (Kind::per_column(&Kind::POSITIVE), json!([1, 0]), outside("must all be finite and positive")),
        (Kind::per_column(&Kind::POSITIVE), json!([0, "a"]), KindCheck::No),
        (Kind::per_column(&Kind::POSITIVE), json!([]), KindCheck::No),
        (table, json!([[1, 2], [3, 4]]), KindCheck::Yes),
        (table, json!([[1, 2], [3]]), KindCheck::No),
        (table, json!([[]]), KindCheck::No),
        (table, json!([1, 2]), KindCheck::No),
        (Kind::Callable, json!("f"), KindCheck::No),
    ] {
        assert_eq!(kind.fits(&value), expected, "{kind:?} {value}");
    }
    for form in [NumberForm::Integer, NumberForm::Real, NumberForm::Share, NumberForm::ShareName] {
        assert_eq!(form.read(&form.written(3.0)), Some(3.0), "{form:?}");
    }
}
