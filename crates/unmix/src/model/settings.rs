//! Settings as data: name, type, default, documentation, in one place.

use crate::error::{Error, Result};
use serde_json::{Map, Value};

/// What a setting may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// True or false.
    Bool,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// One of the choices.
    Choice,
    /// True, false, or one of the choices.
    BoolOrChoice,
    /// A whole number, or one of the choices.
    IntegerOrChoice,
    /// `null`, a whole number, a share, or one of the choices.
    Components,
    /// `null`, or a whole number.
    Count,
    /// `null`, or a number.
    NumberOrNull,
    /// `null`, or one of the choices.
    ChoiceOrNull,
    /// `null`, one of the choices, or its number.
    NamedOrNull,
    /// One of the choices, a number, or a number for each component.
    Numbers,
    /// `null`, true or false.
    BoolOrNull,
    /// `null`, or rows of numbers.
    TableOrNull,
    /// `null`, or numbers by name.
    ArgumentsOrNull,
    /// A number, or one of the choices.
    NumberOrChoice,
}

/// A row of a method's list that every language has.
pub(crate) const fn setting(
    name: &'static str,
    kind: Kind,
    choices: &'static [&'static str],
    default: &'static str,
    doc: &'static str,
) -> Setting {
    Setting { name, kind, choices, default, doc, python_only: false, only: &[] }
}

/// Of a setting that has no effect whatever the others are: it is accepted so that calls of another library work unchanged.
pub(crate) const NEVER: &[&[Condition]] = &[&[("", &[])]];

/// A setting and the values of it, as JSON, that let another one have an effect; `"*"` is any but null, `"!x"` any but x.
pub type Condition = (&'static str, &'static [&'static str]);

impl Kind {
    /// As a sentence has it, whatever language the person types in.
    fn in_words(self) -> &'static str {
        match self {
            Kind::Bool => "true or false",
            Kind::Integer => "a non-negative integer",
            Kind::Number => "a number",
            Kind::Choice => "one of its choices",
            Kind::BoolOrChoice => "true, false, or one of its choices",
            Kind::IntegerOrChoice => "a non-negative integer, or one of its choices",
            Kind::Components => "a number, a share of the variance between 0 and 1, or the name of a rule",
            Kind::Count => "a non-negative integer, or null",
            Kind::NumberOrNull => "a number, or null",
            Kind::ChoiceOrNull => "one of its choices, or null",
            Kind::NamedOrNull => "one of its choices, the number of one, or null",
            Kind::Numbers => "a number, a list of one number for each component, or one of its choices",
            Kind::BoolOrNull => "true, false, or null",
            Kind::TableOrNull => "rows of numbers, such as [[1, 0], [0, 1]], or null",
            Kind::ArgumentsOrNull => "numbers by name, such as {\"alpha\": 1}, or null",
            Kind::NumberOrChoice => "a number, or one of its choices",
        }
    }
}

/// A setting of a method.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name, in Rust, on the command line, in files and in Python.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// The words that it may be.
    pub choices: &'static [&'static str],
    /// Its default, as JSON.
    pub default: &'static str,
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// Exists in Python only, for the sake of another library's signature.
    pub python_only: bool,
    /// When it has an effect: where all conditions of one of these lists hold; always, where there is no list.
    pub only: &'static [&'static [Condition]],
}

impl Setting {
    /// The same, with an effect in these cases only.
    pub(crate) const fn only(self, cases: &'static [&'static [Condition]]) -> Self {
        Self { only: cases, ..self }
    }

    /// Whether it has an effect beside the other `settings`.
    pub fn has_effect(&self, settings: &Map<String, Value>) -> bool {
        let holds = |(name, values): &Condition| {
            let value = settings.get(*name).unwrap_or(&Value::Null);
            values.iter().any(|v| match *v {
                "*" => !value.is_null(),
                text if text.starts_with('!') => {
                    serde_json::from_str(&text[1..]).is_ok_and(|v: Value| v != *value)
                }
                text => serde_json::from_str::<Value>(text).is_ok_and(|v| v == *value),
            })
        };
        self.only.is_empty() || self.only.iter().any(|case| case.iter().all(holds))
    }

    /// A sentence where it is set to something else than its default and has no effect beside the other `settings`.
    pub fn without_effect(&self, settings: &Map<String, Value>) -> Option<String> {
        let value = settings.get(self.name)?;
        if same_value(value, &self.default_value()) || self.has_effect(settings) {
            return None;
        }
        let condition = |(name, values): &Condition| match *values {
            ["*"] => format!("{name} that is not null"),
            [text] if text.starts_with('!') => format!("another {name} than {}", text[1..].trim_matches('"')),
            _ => format!(
                "{name}={}",
                values.iter().map(|v| v.trim_matches('"')).collect::<Vec<_>>().join(" or ")
            ),
        };
        let case = |case: &&[Condition]| case.iter().map(condition).collect::<Vec<_>>().join(" and ");
        let cases: Vec<String> = self.only.iter().map(case).collect();
        let name = self.name;
        if self.only == NEVER {
            return Some(format!(
                "{name}={} has no effect here: {name} is accepted for compatibility only",
                shown(value)
            ));
        }
        Some(format!(
            "{name}={} has no effect here: {name} is used only with {}",
            shown(value),
            cases.join(", or with ")
        ))
    }

    /// The default as a value.
    pub fn default_value(&self) -> Value {
        Self::parsed(self.default)
    }

    /// A value that is written as JSON.
    pub(super) fn parsed(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or(Value::Null)
    }

    /// The type's name, as printed.
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Bool => "bool",
            Kind::Integer => "int",
            Kind::Number => "float",
            Kind::Choice => "str",
            Kind::BoolOrChoice => "bool or str",
            Kind::IntegerOrChoice => "int or str",
            Kind::Components => "int, float, str or null",
            Kind::Count => "int or null",
            Kind::NumberOrNull => "float or null",
            Kind::ChoiceOrNull => "str or null",
            Kind::NamedOrNull => "str, int or null",
            Kind::Numbers => "float, list or str",
            Kind::BoolOrNull => "bool or null",
            Kind::TableOrNull => "matrix or null",
            Kind::ArgumentsOrNull => "dict or null",
            Kind::NumberOrChoice => "float or str",
        }
    }

    pub(crate) fn as_json(&self) -> Value {
        serde_json::json!({
            "name": self.name,
            "type": self.type_name(),
            "choices": self.choices,
            "default": self.default_value(),
            "doc": self.doc,
            "python_only": self.python_only,
        })
    }

    fn check(&self, value: &Value) -> Result<()> {
        let word = || value.as_str().is_some_and(|s| self.choices.contains(&s));
        let fits = match self.kind {
            Kind::Bool => value.is_boolean(),
            Kind::Integer => value.is_u64(),
            Kind::Number => value.is_number(),
            Kind::Choice => word(),
            Kind::BoolOrChoice => value.is_boolean() || word(),
            Kind::IntegerOrChoice => value.is_u64() || word(),
            Kind::Components => value.is_null() || value.is_number() || word(),
            Kind::Count => value.is_null() || value.is_u64(),
            Kind::NumberOrNull => value.is_null() || value.is_number(),
            Kind::ChoiceOrNull => value.is_null() || word(),
            Kind::NamedOrNull => value.is_null() || value.is_u64() || word(),
            Kind::Numbers => {
                let numbers = |list: &Vec<Value>| !list.is_empty() && list.iter().all(Value::is_number);
                value.is_number() || word() || value.as_array().is_some_and(numbers)
            }
            Kind::BoolOrNull => value.is_null() || value.is_boolean(),
            Kind::TableOrNull => value.is_null() || is_table(value),
            Kind::ArgumentsOrNull => {
                value.is_null() || value.as_object().is_some_and(|m| m.values().all(Value::is_number))
            }
            Kind::NumberOrChoice => value.is_number() || word(),
        };
        if fits {
            return Ok(());
        }
        let why = match (self.kind, self.choices.is_empty()) {
            (Kind::Components, true) => {
                "it must be a number, or a share of the variance between 0 and 1; rules are available in pca only"
                    .into()
            }
            _ => format!("it must be {}", self.kind.in_words()),
        };
        let known = self.choices.join(", ");
        let near = value.as_str().and_then(|word| crate::error::nearest(word, self.choices));
        let near = near.map(|n| format!("did you mean '{n}'? ")).unwrap_or_default();
        let remedy = match self.kind {
            Kind::Bool => "give true or false".into(),
            Kind::Integer | Kind::Count => "give a non-negative integer".into(),
            Kind::Number | Kind::NumberOrNull => "give a number".into(),
            Kind::Choice | Kind::ChoiceOrNull | Kind::NamedOrNull => {
                format!("{near}choose one of: {known}")
            }
            Kind::Numbers => format!("{near}give a number, a list of numbers, or one of: {known}"),
            Kind::BoolOrChoice => format!("{near}give true or false, or one of: {known}"),
            Kind::IntegerOrChoice => format!("{near}give a non-negative integer, or one of: {known}"),
            Kind::Components if self.choices.is_empty() => "give a number, a share, or null".into(),
            Kind::Components => format!("{near}give a number, or one of: {known}"),
            Kind::BoolOrNull | Kind::TableOrNull | Kind::ArgumentsOrNull => {
                format!("give {}", self.kind.in_words())
            }
            Kind::NumberOrChoice => format!("{near}give a number, or one of: {known}"),
        };
        let got = value.as_str().map_or_else(|| value.to_string(), |s| format!("'{s}'"));
        Err(Error::setting(self.name, got, why, remedy))
    }
}

/// Rows of numbers, all of one length.
fn is_table(value: &Value) -> bool {
    let row = |v: &Value| v.as_array().filter(|r| r.iter().all(Value::is_number)).map(Vec::len);
    value.as_array().is_some_and(|rows| {
        rows.first().and_then(row).is_some_and(|n| n > 0 && rows.iter().all(|r| row(r) == Some(n)))
    })
}

/// Equal as settings: 1 and 1.0 are the same number.
fn same_value(a: &Value, b: &Value) -> bool {
    a == b || (a.is_number() && a.as_f64() == b.as_f64())
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}

/// Sentences about `given` settings that are not at their defaults and have no effect beside the others, neither as these were given
/// nor as they were `resolved` for the data, as in the solver that "auto" chose.
pub fn without_effect(
    settings: &[Setting],
    given: &Map<String, Value>,
    resolved: &Map<String, Value>,
) -> Vec<String> {
    let mut seen = given.clone();
    seen.extend(resolved.clone());
    let here = settings.iter().filter(|s| !s.python_only && !s.has_effect(&seen));
    here.filter_map(|s| s.without_effect(given)).collect()
}

/// Checks names and types of the settings given and fills in the defaults of the others, in the order of the list.
pub fn resolve(settings: &[Setting], given: &Map<String, Value>) -> Result<Map<String, Value>> {
    let known = || settings.iter().filter(|s| !s.python_only);
    for name in given.keys() {
        if !known().any(|s| s.name == name) {
            return Err(Error::unknown("setting", name, known().map(|s| s.name)));
        }
    }
    let mut out = Map::new();
    for setting in known() {
        let value = given.get(setting.name).cloned().unwrap_or_else(|| setting.default_value());
        setting.check(&value)?;
        out.insert(setting.name.into(), value);
    }
    Ok(out)
}
