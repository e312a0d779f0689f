//! Descriptions of kinds: the requirement in messages, the alternatives in sentences, the name of the type, and the type in Python.

use super::{Axis, Kind, NumberForm};
use std::ops::Bound;

/// The type of a setting in the Python package, whose parameters are generated from it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PythonType {
    /// Alternatives of the annotation: `int`, `None`.
    pub annotations: Vec<String>,
    /// Constraints of scikit-learn's parameter validation, of which a value has to satisfy one.
    pub constraints: Vec<String>,
    /// The type in words, as numpydoc writes it: `int, "auto" or None`.
    pub described: String,
}

/// Description of an alternative of a kind.
#[derive(Default)]
struct Description {
    /// The requirement on its numbers: "must be at least 1".
    demand: Option<String>,
    /// Its values in a sentence: "a positive integer". Strings are listed apart from the others.
    phrases: Vec<String>,
    /// The type's name, as printed: "int >= 1".
    type_name: Option<String>,
    /// The annotation in Python.
    annotation: String,
    /// The constraint in Python.
    constraint: String,
    /// The type in docstrings.
    described: Option<String>,
}

impl Description {
    fn new(phrases: &[&str], type_name: &str) -> Self {
        let phrases = phrases.iter().map(ToString::to_string).collect();
        Description { phrases, type_name: Some(type_name.into()), ..Description::default() }
    }

    /// Sets the requirement on its numbers.
    fn demanding(self, demand: impl Into<String>) -> Self {
        Description { demand: Some(demand.into()), ..self }
    }

    /// Sets its annotation, its constraint and its type in docstrings.
    fn python(self, annotation: &str, constraint: &str, described: &str) -> Self {
        let described = Some(described.into());
        Description { annotation: annotation.into(), constraint: constraint.into(), described, ..self }
    }
}

/// The largest number of choices that are listed within a sentence.
const MOST_LISTED_CHOICES: usize = 8;

impl Kind {
    /// Descriptions of its alternatives, in order, with `example` a possible number.
    fn descriptions(&self, example: Option<&str>) -> Vec<Description> {
        vec![match self {
            Kind::Null => Description::new(&["null"], "null").python("None", "None", "None"),
            Kind::Flags([true]) => {
                Description::new(&["true"], "true").python("Literal[True]", "Options(bool, {True})", "True")
            }
            Kind::Flags([false]) => Description::new(&["false"], "false").python(
                "Literal[False]",
                "Options(bool, {False})",
                "False",
            ),
            Kind::Flags(_) => {
                Description::new(&["true", "false"], "bool").python("bool", "\"boolean\"", "bool")
            }
            Kind::Words(words) => of_words(words),
            Kind::Number { form, from, to } => of_number(*form, *from, *to, example),
            Kind::List { of, axis } => of_list(of, *axis),
            Kind::Arguments(_) => Description::new(&["numbers by name, such as {\"alpha\": 1}"], "dict")
                .demanding("must contain finite numbers only")
                .python("dict[str, Any]", "dict", "dict"),
            Kind::Callable => Description::default().python("Callable[..., Any]", "callable", "callable"),
            Kind::AnyOf(kinds) => return kinds.iter().flat_map(|kind| kind.descriptions(example)).collect(),
        }]
    }

    /// The requirement on numbers of this kind, if there is any: "must be at least 1".
    pub(in crate::model::settings) fn demand(&self) -> Option<String> {
        self.descriptions(None).into_iter().find_map(|one| one.demand)
    }

    /// The allowed values in words, independent of the caller's language: "a number, or null".
    pub(in crate::model::settings) fn in_words(&self) -> String {
        let words = match self.choices() {
            [] => None,
            [one] => Some(format!("'{one}'")),
            // The choices of the remedy, in sentences that would be too long.
            many if many.len() > MOST_LISTED_CHOICES => Some("one of its choices".into()),
            many => Some(format!("one of {}", many.join(", "))),
        };
        let mut parts = self.phrases(None);
        let before_null = parts.len() - usize::from(parts.last().is_some_and(|part| part == "null"));
        words.into_iter().for_each(|words| parts.insert(before_null, words));
        true_or_false(&parts).unwrap_or_else(|| listed(&parts))
    }

    /// Whether [`in_words`](Self::in_words) has all choices.
    pub(in crate::model::settings) fn lists_choices(&self) -> bool {
        self.choices().len() <= MOST_LISTED_CHOICES
    }

    /// Whether the remedy of a number out of range would repeat the requirement: there are no other values, and no example.
    pub(in crate::model::settings) fn is_demand(&self, example: Option<&str>) -> bool {
        let Kind::Number { form, .. } = self else { return false };
        *form == NumberForm::Integer || example.is_none()
    }

    /// The remedy of an error, with `example` a possible number: "choose a number such as 0.2, or 'auto'".
    pub(in crate::model::settings) fn remedy(&self, verb: &str, example: Option<&str>) -> String {
        let mut parts = self.phrases(example);
        match self.choices() {
            [] => {}
            [one] => parts.push(format!("'{one}'")),
            many => {
                let many = many.join(", ");
                return match parts.is_empty() {
                    true => format!("choose one of: {many}"),
                    false => format!("choose one of: {many}; or give {}", listed(&parts)),
                };
            }
        }
        format!("{verb} {}", true_or_false(&parts).unwrap_or_else(|| listed(&parts)))
    }

    /// The alternatives in a sentence, without the allowed strings.
    fn phrases(&self, example: Option<&str>) -> Vec<String> {
        self.descriptions(example).into_iter().flat_map(|one| one.phrases).collect()
    }

    /// The type's name, as printed: "int >= 1 or null".
    pub fn type_name(&self) -> String {
        alternatives(self.descriptions(None).into_iter().filter_map(|one| one.type_name))
    }

    /// The type in Python.
    pub fn in_python(&self) -> PythonType {
        let all = self.descriptions(None);
        PythonType {
            annotations: distinct(all.iter().map(|one| one.annotation.clone())),
            constraints: all.iter().map(|one| one.constraint.clone()).collect(),
            described: alternatives(all.into_iter().filter_map(|one| one.described)),
        }
    }
}

fn of_words(words: &[&str]) -> Description {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let list = quoted.join(", ");
    let described = match words.len() {
        1 => list.clone(),
        2..=8 => format!("{{{list}}}"),
        _ => "str".into(),
    };
    Description::new(&[], "str").python(
        &format!("Literal[{list}]"),
        &format!("StrOptions({{{list}}})"),
        &described,
    )
}

fn of_number(form: NumberForm, from: Bound<f64>, to: Bound<f64>, example: Option<&str>) -> Description {
    let share = "a share of the variance";
    let constraint = |number: &str| constraint(number, from, to);
    match form {
        NumberForm::Integer => of_integer(from, to).python("int", &constraint("Integral"), "int"),
        NumberForm::Real => {
            let phrase = example.map_or("a number".into(), |example| format!("a number such as {example}"));
            Description::new(&[&phrase], &real(from, to))
                .demanding(format!("must be {}", interval(from, to)))
                .python("float", &constraint("Real"), "float")
        }
        NumberForm::Share => Description::new(&[&format!("{share} between 0 and 1")], &real(from, to))
            .demanding(format!("{share} must be between 0 and 1"))
            .python("float", &constraint("RealNotInt"), "float"),
        // It is combined with a share, whose phrase and types include it. The share in the name is any number: no list of literals has all.
        NumberForm::ShareName => Description {
            demand: Some(format!("{share} must be between 0 and 1")),
            annotation: "str".into(),
            constraint: "ShareName()".into(),
            ..Description::default()
        },
    }
}

/// An integer, without its type in Python.
fn of_integer(from: Bound<f64>, to: Bound<f64>) -> Description {
    let integer = |demand: &str, phrase: &str, type_name: &str| {
        Description::new(&[phrase], type_name).demanding(format!("must be {demand}"))
    };
    match (from, to) {
        (Bound::Included(0.0), Bound::Unbounded) => {
            integer("non-negative", "a non-negative integer", "int >= 0")
        }
        (Bound::Included(1.0), Bound::Unbounded) => integer("at least 1", "a positive integer", "int >= 1"),
        (Bound::Included(least), Bound::Unbounded) => integer(
            &format!("at least {least}"),
            &format!("an integer of at least {least}"),
            &format!("int >= {least}"),
        ),
        (Bound::Included(least), Bound::Included(most)) => {
            let range = format!("{least} to {most}");
            integer(&format!("from {range}"), &format!("an integer from {range}"), &format!("int {range}"))
        }
        _ => {
            let range = interval(from, to);
            integer(&range, &format!("an integer {range}"), &format!("int {range}"))
        }
    }
}

fn of_list(of: &Kind, axis: Axis) -> Description {
    let (size, each) = words_of(axis);
    let in_python = |of: Description, shape: &str| {
        of.python("ArrayLike", "\"array-like\"", &format!("array-like of shape {shape}"))
    };
    if let Kind::List { axis: columns, .. } = of {
        let table = Description::new(&["rows of numbers, such as [[1, 0], [0, 1]]"], "matrix")
            .demanding("must contain finite numbers only");
        return in_python(table, &format!("({size}, {})", words_of(*columns).0));
    }
    let demand = of.demand().map(|demand| demand.replacen("must be", "must all be", 1));
    let list = Description { demand, ..Description::new(&[&format!("a list of {each}")], "list") };
    in_python(list, &format!("({size},)"))
}

/// The name of the length of an axis, and its entries in a sentence.
fn words_of(axis: Axis) -> (&'static str, &'static str) {
    match axis {
        Axis::Samples => ("n_samples", "one number for each row"),
        Axis::Features => ("n_features", "one number for each column"),
        Axis::Components => ("n_components", "one number for each component"),
        Axis::Layers => ("n_layers", "one value for each layer"),
    }
}

/// The name of the type of numbers in an interval.
fn real(from: Bound<f64>, to: Bound<f64>) -> String {
    match (from, to) {
        (Bound::Unbounded, Bound::Unbounded) => "float".into(),
        (Bound::Included(from), Bound::Unbounded) => format!("float >= {from}"),
        (Bound::Excluded(from), Bound::Unbounded) => format!("float > {from}"),
        _ => format!("float {}", interval(from, to)),
    }
}

/// An interval as the text after "must be".
fn interval(from: Bound<f64>, to: Bound<f64>) -> String {
    match (from, to) {
        (Bound::Unbounded, Bound::Unbounded) => "finite".into(),
        (Bound::Included(0.0), Bound::Unbounded) => "finite and non-negative".into(),
        (Bound::Excluded(0.0), Bound::Unbounded) => "finite and positive".into(),
        _ => {
            let from = match from {
                Bound::Included(x) => format!("[{x}"),
                Bound::Excluded(x) => format!("({x}"),
                Bound::Unbounded => "(-infinity".into(),
            };
            let to = match to {
                Bound::Included(x) => format!("{x}]"),
                Bound::Excluded(x) => format!("{x})"),
                Bound::Unbounded => "infinity)".into(),
            };
            format!("in {from},{to}")
        }
    }
}

/// An interval as a constraint of scikit-learn's parameter validation, for a type of numbers.
fn constraint(number: &str, from: Bound<f64>, to: Bound<f64>) -> String {
    let end = |bound: Bound<f64>| match bound {
        Bound::Included(x) | Bound::Excluded(x) => x.to_string(),
        Bound::Unbounded => "None".into(),
    };
    let closed = match (from, to) {
        (Bound::Included(_), Bound::Included(_)) => "both",
        (Bound::Included(_), _) => "left",
        (_, Bound::Included(_)) => "right",
        _ => "neither",
    };
    format!("Interval({number}, {}, {}, closed=\"{closed}\")", end(from), end(to))
}

/// The phrase for both booleans alone.
fn true_or_false(parts: &[String]) -> Option<String> {
    matches!(parts, [yes, no] if yes == "true" && no == "false").then(|| "true or false".into())
}

/// Alternatives in a sentence: "a", "a, or b", "a, b, or c".
fn listed(parts: &[String]) -> String {
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{}, or {last}", before.join(", ")),
        None => String::new(),
    }
}

/// Alternatives of a type, each once: "a", "a or b", "a, b or c".
fn alternatives(names: impl Iterator<Item = String>) -> String {
    match distinct(names).split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}
