//! Kinds of settings, composed of other kinds. Checks, messages, type names and the Python package are derived from them.

use serde_json::Value;
use std::ops::{Bound, RangeBounds};

/// The values that a setting may have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// `null`.
    Null,
    /// True or false.
    Bool,
    /// False alone.
    False,
    /// An integer.
    Integer {
        /// Minimum.
        least: u64,
        /// Maximum, if there is one.
        most: Option<u64>,
    },
    /// A finite number in an interval.
    Number {
        /// The lower end.
        from: Bound<f64>,
        /// The upper end.
        to: Bound<f64>,
    },
    /// A fraction of the variance, strictly between 0 and 1.
    Share,
    /// The name of such a fraction, as the table of rules has it: `share-0.9`.
    ShareName,
    /// One of these strings.
    Words(&'static [&'static str]),
    /// A list with one value of this kind for each component.
    List(&'static Kind),
    /// A list with one value of this kind for each column.
    PerColumn(&'static Kind),
    /// A list with one value of this kind for each layer.
    PerLayer(&'static Kind),
    /// Rows of numbers of equal length, a matrix of this shape.
    Table(&'static str),
    /// Named values; those listed here must be of these kinds.
    Arguments(&'static [(&'static str, Kind)]),
    /// A function; in Python only.
    Callable,
    /// Any of these kinds. Strings come after numbers and `null` last, in the order of the generated sentence.
    AnyOf(&'static [Kind]),
}

/// Result of checking a value against a kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum KindCheck {
    /// The value is of this kind.
    Yes,
    /// The value has the right type but is out of range; holds the requirement, as in "must be at least 1".
    Outside(String),
    /// The value has another type.
    No,
}

/// The name of a share of the variance: `share-0.9`.
pub(crate) fn share_name(share: f64) -> String {
    format!("share-{share}")
}

/// The share that a name denotes.
pub(crate) fn named_share(name: &str) -> Option<f64> {
    name.strip_prefix("share-")?.parse().ok()
}

impl Kind {
    /// A finite number that is not negative.
    pub(crate) const NON_NEGATIVE: Kind = Kind::Number { from: Bound::Included(0.0), to: Bound::Unbounded };
    /// A finite number above 0.
    pub(crate) const POSITIVE: Kind = Kind::Number { from: Bound::Excluded(0.0), to: Bound::Unbounded };

    /// An integer of at least `least`.
    pub const fn at_least(least: u64) -> Kind {
        Kind::Integer { least, most: None }
    }

    /// An integer between two ends, both included.
    pub const fn between(least: u64, most: u64) -> Kind {
        Kind::Integer { least, most: Some(most) }
    }

    /// The allowed strings.
    pub fn words(&self) -> &'static [&'static str] {
        match self {
            Kind::Words(words) => words,
            Kind::AnyOf(kinds) => {
                kinds.iter().map(Kind::words).find(|words| !words.is_empty()).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// The minimum, for integers.
    pub(super) fn least(&self) -> Option<u64> {
        match self {
            Kind::Integer { least, .. } => Some(*least),
            Kind::AnyOf(kinds) => kinds.iter().find_map(Kind::least),
            _ => None,
        }
    }

    /// Whether a value is of this kind.
    pub(super) fn fits(&self, value: &Value) -> KindCheck {
        let yes = |fits: bool| if fits { KindCheck::Yes } else { KindCheck::No };
        // The requirement is formatted only where it is not met: every fit checks its settings.
        let inside = |fits: bool| match fits {
            true => KindCheck::Yes,
            false => self.demand().map_or(KindCheck::Yes, KindCheck::Outside),
        };
        match self {
            Kind::Null => yes(value.is_null()),
            Kind::Bool => yes(value.is_boolean()),
            Kind::False => yes(value == &Value::Bool(false)),
            Kind::Integer { .. } if value.as_i64().is_some_and(|i| i < 0) => inside(false),
            Kind::Integer { least, most } => value
                .as_u64()
                .map_or(KindCheck::No, |i| inside(i >= *least && most.is_none_or(|most| i <= most))),
            Kind::Number { from, to } => {
                value.as_f64().map_or(KindCheck::No, |x| inside(x.is_finite() && (*from, *to).contains(&x)))
            }
            // An integer is a number of components, not a fraction.
            Kind::Share if value.is_f64() => inside(value.as_f64().is_some_and(|x| x > 0.0 && x < 1.0)),
            Kind::ShareName => match value.as_str().and_then(named_share) {
                Some(share) => inside(share > 0.0 && share < 1.0),
                None => KindCheck::No,
            },
            Kind::Share | Kind::Callable => KindCheck::No,
            Kind::Words(words) => yes(value.as_str().is_some_and(|word| words.contains(&word))),
            Kind::List(kind) | Kind::PerColumn(kind) | Kind::PerLayer(kind) => match value.as_array() {
                Some(list) if !list.is_empty() => {
                    let each: Vec<KindCheck> = list.iter().map(|v| kind.fits(v)).collect();
                    if each.contains(&KindCheck::No) {
                        return KindCheck::No;
                    }
                    inside(each.iter().all(|f| *f == KindCheck::Yes))
                }
                _ => KindCheck::No,
            },
            Kind::Table(_) => yes(is_table(value)),
            Kind::Arguments(known) => arguments_fit(known, value),
            Kind::AnyOf(kinds) => {
                let mut best = KindCheck::No;
                for kind in *kinds {
                    match kind.fits(value) {
                        KindCheck::Yes => return KindCheck::Yes,
                        outside if best == KindCheck::No => best = outside,
                        _ => {}
                    }
                }
                best
            }
        }
    }

    /// The requirement on numbers of this kind, if there is any: "must be at least 1".
    pub(super) fn demand(&self) -> Option<String> {
        Some(match self {
            Kind::Integer { least, most: Some(most) } => format!("must be from {least} to {most}"),
            Kind::Integer { least: 0, .. } => "must be non-negative".into(),
            Kind::Integer { least, .. } => format!("must be at least {least}"),
            Kind::Number { from, to } => format!("must be {}", interval(*from, *to)),
            Kind::Share | Kind::ShareName => "a share of the variance must be between 0 and 1".into(),
            Kind::List(kind) | Kind::PerColumn(kind) | Kind::PerLayer(kind) => {
                kind.demand()?.replacen("must be", "must all be", 1)
            }
            Kind::Table(_) | Kind::Arguments(_) => "must contain finite numbers only".into(),
            Kind::AnyOf(kinds) => return kinds.iter().find_map(Kind::demand),
            Kind::Null | Kind::Bool | Kind::False | Kind::Words(_) | Kind::Callable => return None,
        })
    }

    /// The allowed values in words, independent of the caller's language: "a number, or null".
    pub(super) fn in_words(&self) -> String {
        let words = match self.words() {
            [] => None,
            [one] => Some(format!("'{one}'")),
            _ => Some("one of its choices".into()),
        };
        let mut parts = self.parts(None);
        let before_null = parts.len() - usize::from(parts.last().is_some_and(|part| part == "null"));
        words.into_iter().for_each(|words| parts.insert(before_null, words));
        match parts.as_slice() {
            [yes, no] if yes == "true" && no == "false" => "true or false".into(),
            _ => listed(&parts),
        }
    }

    /// The remedy of an error, with `example` a possible number: "choose a number such as 0.2, or 'auto'".
    pub(super) fn remedy(&self, verb: &str, example: Option<&str>) -> String {
        let mut parts = self.parts(example);
        match self.words() {
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
        match parts.as_slice() {
            [yes, no] if yes == "true" && no == "false" => format!("{verb} true or false"),
            _ => format!("{verb} {}", listed(&parts)),
        }
    }

    /// The alternatives in words, without the allowed strings.
    fn parts(&self, example: Option<&str>) -> Vec<String> {
        let one = |text: &str| vec![text.to_string()];
        match self {
            Kind::Null => one("null"),
            Kind::Bool => vec!["true".into(), "false".into()],
            Kind::False => one("false"),
            Kind::Integer { least, most: Some(most) } => vec![format!("an integer from {least} to {most}")],
            Kind::Integer { least: 0, .. } => one("a non-negative integer"),
            Kind::Integer { least: 1, .. } => one("a positive integer"),
            Kind::Integer { least, .. } => vec![format!("an integer of at least {least}")],
            Kind::Number { .. } => match example {
                Some(example) => vec![format!("a number such as {example}")],
                None => one("a number"),
            },
            Kind::Share => one("a share of the variance between 0 and 1"),
            Kind::Words(_) | Kind::ShareName | Kind::Callable => Vec::new(),
            Kind::List(_) => one("a list of one number for each component"),
            Kind::PerColumn(_) => one("a list of one number for each column"),
            Kind::PerLayer(_) => one("a list of one value for each layer"),
            Kind::Table(_) => one("rows of numbers, such as [[1, 0], [0, 1]]"),
            Kind::Arguments(_) => one("numbers by name, such as {\"alpha\": 1}"),
            Kind::AnyOf(kinds) => kinds.iter().flat_map(|kind| kind.parts(example)).collect(),
        }
    }

    /// The type's name, as printed: "int >= 1 or null".
    pub fn type_name(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for name in self.type_names() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, before)) => format!("{} or {last}", before.join(", ")),
            None => String::new(),
        }
    }

    fn type_names(&self) -> Vec<String> {
        let one = |text: &str| vec![text.to_string()];
        match self {
            Kind::Null => one("null"),
            Kind::Bool => one("bool"),
            Kind::False => one("false"),
            Kind::Integer { least, most: Some(most) } => vec![format!("int {least} to {most}")],
            Kind::Integer { least, .. } => vec![format!("int >= {least}")],
            Kind::Number { from, to } => vec![match (from, to) {
                (Bound::Unbounded, Bound::Unbounded) => "float".into(),
                (Bound::Included(from), Bound::Unbounded) => format!("float >= {from}"),
                (Bound::Excluded(from), Bound::Unbounded) => format!("float > {from}"),
                _ => format!("float {}", interval(*from, *to)),
            }],
            Kind::Share => one("float in (0,1)"),
            Kind::Words(_) => one("str"),
            Kind::List(_) | Kind::PerColumn(_) | Kind::PerLayer(_) => one("list"),
            Kind::Table(_) => one("matrix"),
            Kind::Arguments(_) => one("dict"),
            Kind::ShareName | Kind::Callable => Vec::new(),
            Kind::AnyOf(kinds) => kinds.iter().flat_map(Kind::type_names).collect(),
        }
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

/// Alternatives in a sentence: "a", "a, or b", "a, b, or c".
fn listed(parts: &[String]) -> String {
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{}, or {last}", before.join(", ")),
        None => String::new(),
    }
}

/// Whether a value has numbers by name, each of the kind of its name among those `known`.
fn arguments_fit(known: &[(&str, Kind)], value: &Value) -> KindCheck {
    let Some(given) = value.as_object() else { return KindCheck::No };
    if !given.values().all(Value::is_number) {
        return KindCheck::No;
    }
    let outside = known.iter().find_map(|(name, kind)| match kind.fits(given.get(*name)?) {
        KindCheck::Outside(demand) => Some(format!("{name} {demand}")),
        _ => None,
    });
    outside.map_or(KindCheck::Yes, KindCheck::Outside)
}

/// Rows of numbers, all of one length.
fn is_table(value: &Value) -> bool {
    let row = |v: &Value| v.as_array().filter(|r| r.iter().all(Value::is_number)).map(Vec::len);
    value.as_array().is_some_and(|rows| {
        rows.first().and_then(row).is_some_and(|n| n > 0 && rows.iter().all(|r| row(r) == Some(n)))
    })
}
