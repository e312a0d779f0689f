//! Settings as data: name, type, default, documentation, in one place.

mod declare;
mod finite;
mod kind;

pub(crate) use declare::{default_of, entry, settings};
pub use kind::{Axis, Kind, NumberForm, PythonType};
pub(crate) use kind::{named_share, share_name};

use crate::error::{Error, Result};
use kind::KindCheck;
use serde::Serialize;
use serde_json::{Map, Value};

/// Condition of a setting that never has an effect: it is accepted for compatibility with another library.
pub(crate) const NEVER: &[&[Condition]] = &[&[("", &[])]];

/// A setting and those of its values, as JSON, under which another setting has an effect; `"*"` is any value except null, `"!x"`
/// any except x; several of these exclude each of them.
pub type Condition = (&'static str, &'static [&'static str]);

/// What a fit may be besides its settings, so that some of these have no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FitKind {
    /// It starts from a model.
    FromModel,
    /// It is incremental.
    Incremental,
    /// No cell of its rows is missing.
    Complete,
}

/// What `n_iter` of a report counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Counted {
    /// Iterations of a solver.
    #[default]
    Iterations,
    /// Mini-batches, with a step after each.
    Batches,
    /// Passes over the rows by mini-batches.
    Epochs,
}

impl Counted {
    /// The word for `n` of them.
    pub fn word(self, n: u64) -> &'static str {
        match (self, n) {
            (Self::Iterations, 1) => "iteration",
            (Self::Iterations, _) => "iterations",
            (Self::Batches, 1) => "batch",
            (Self::Batches, _) => "batches",
            (Self::Epochs, 1) => "epoch",
            (Self::Epochs, _) => "epochs",
        }
    }
}

/// A setting of a method: an entry of its list, made by [`new`](Self::new).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// Its name, in Rust, on the command line, in files and in Python.
    pub name: &'static str,
    /// Its allowed values.
    pub kind: Kind,
    /// Its default, as JSON.
    pub default: &'static str,
    /// Description in a sentence or two: allowed strings in 'single quotes', code in `backticks`, and `null`, `true` and `false` as in
    /// JSON.
    pub doc: &'static str,
    /// Whether it exists in Python only, for compatibility with the signature of another library.
    pub python_only: bool,
    /// Whether it is a table of numbers that is given in addition to the settings, as a tensor: a field of the specification, an argument in
    /// Python, a file on the command line (`--dictionary FILE`). It is not among the settings as JSON.
    pub tensor: bool,
    /// Whether it is a table that is given together with the rows of a fit, such as their target codes: not an argument of the
    /// Python class.
    pub with_rows: bool,
    /// Values, as JSON, that request what is done anyway, for a setting that is accepted for compatibility only: unlike others that
    /// are not the default, they give no warning.
    pub also_accepts: &'static [&'static str],
    /// Cases in which it has an effect: all conditions of at least one of these lists hold; always, if there are none.
    pub only: &'static [&'static [Condition]],
    /// Fits in which it has no effect whatever the other settings are, and why.
    unless: Option<(FitKind, &'static str)>,
    /// What `n_iter` counts in fits in which it has an effect and is not null.
    counting: Counted,
    /// A possible number, for messages.
    example: Option<&'static str>,
    /// The message for a string that is not among the choices.
    of_other_words: Option<&'static str>,
    /// Whether its range depends on the rows, too: it is then checked by the fit.
    by_rows: bool,
    /// Whether null means the largest number that the rows have, which the command line calls 'all'.
    pub null_is_all: bool,
}

impl Setting {
    /// An entry of a method's list; `default` is JSON.
    pub const fn new(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Self {
        let (python_only, tensor, only, by_rows, null_is_all) = (false, false, &[] as &[_], false, false);
        let (example, of_other_words, with_rows) = (None, None, false);
        Self {
            name,
            kind,
            default,
            doc,
            python_only,
            tensor,
            with_rows,
            also_accepts: &[],
            only,
            unless: None,
            counting: Counted::Iterations,
            example,
            of_other_words,
            by_rows,
            null_is_all,
        }
    }

    /// Restricts its effect to these cases.
    pub const fn only(self, cases: &'static [&'static [Condition]]) -> Self {
        Self { only: cases, ..self }
    }

    /// Restricts its effect to fits of another kind; `why` is a clause, as in "only missing cells require iterations".
    pub(crate) const fn unless(self, kind: FitKind, why: &'static str) -> Self {
        Self { unless: Some((kind, why)), ..self }
    }

    /// Restricts its effect to fits without a model to start from: it is about starts that this model replaces.
    pub(crate) const fn without_init(self) -> Self {
        self.unless(FitKind::FromModel, "one start is made, from the given model")
    }

    /// Sets what `n_iter` counts in fits in which it has an effect and is not null; iterations otherwise.
    pub(crate) const fn counting(self, counting: Counted) -> Self {
        Self { counting, ..self }
    }

    /// Restricts it to Python.
    pub const fn python_only(self) -> Self {
        Self { python_only: true, ..self }
    }

    /// Sets the values, as JSON, that request what is done anyway.
    pub const fn also_accepts(self, values: &'static [&'static str]) -> Self {
        Self { also_accepts: values, ..self }
    }

    /// Marks it as a tensor; if its default is not `null`, it must be given.
    pub const fn tensor(self) -> Self {
        Self { tensor: true, ..self }
    }

    /// Marks it as given together with the rows of a fit.
    pub const fn with_rows(self) -> Self {
        Self { with_rows: true, ..self }
    }

    /// Whether it is given by name, as JSON.
    pub fn is_json(&self) -> bool {
        !self.python_only && !self.tensor
    }

    /// Sets a possible number, for messages.
    pub(crate) const fn such_as(self, example: &'static str) -> Self {
        Self { example: Some(example), ..self }
    }

    /// The same setting with other allowed values, of a method that says itself when it has an effect.
    pub(crate) const fn with_kind(self, kind: Kind) -> Self {
        Self { kind, only: &[], unless: None, ..self }
    }

    /// Marks its range as checked by the fit, because it depends on the rows.
    pub(crate) const fn by_rows(self) -> Self {
        Self { by_rows: true, ..self }
    }

    /// Marks null as the largest number that the rows have.
    pub(crate) const fn null_is_all(self) -> Self {
        Self { null_is_all: true, ..self }
    }

    /// Sets the message for strings that are not choices.
    pub(crate) const fn of_other_words(self, sentence: &'static str) -> Self {
        Self { of_other_words: Some(sentence), ..self }
    }

    /// The allowed strings.
    pub fn choices(&self) -> &'static [&'static str] {
        self.kind.choices()
    }

    /// The minimum, for integers; else 0.
    pub(crate) fn least(&self) -> usize {
        self.kind.least().and_then(|least| usize::try_from(least).ok()).unwrap_or(0)
    }

    /// Whether it has an effect in combination with the other `settings`.
    pub fn has_effect(&self, settings: &Map<String, Value>) -> bool {
        let holds = |(name, values): &Condition| {
            let value = settings.get(*name).unwrap_or(&Value::Null);
            let is = |text: &str| serde_json::from_str(text).is_ok_and(|v: Value| same_value(&v, value));
            match excluded(values) {
                Some(excluded) => !excluded.into_iter().any(is),
                None => values.iter().any(|v| if *v == "*" { !value.is_null() } else { is(v) }),
            }
        };
        self.only.is_empty() || self.only.iter().any(|case| case.iter().all(holds))
    }

    /// What `n_iter` counts because of this setting: iterations where it has no effect or is null.
    pub fn counts(&self, settings: &Map<String, Value>) -> Counted {
        let is_given = settings.get(self.name).is_some_and(|value| !value.is_null());
        if is_given && self.has_effect(settings) { self.counting } else { Counted::Iterations }
    }

    /// A sentence if its value is not the default and has no effect in combination with the other `settings`.
    pub fn without_effect(&self, settings: &Map<String, Value>) -> Option<String> {
        let value = settings.get(self.name)?;
        if same_value(value, &self.default_value()) || self.has_effect(settings) {
            return None;
        }
        let name = self.name;
        if self.only == NEVER {
            return Some(format!(
                "{name}={} has no effect here: {name} is accepted for compatibility only",
                shown(value)
            ));
        }
        Some(unused(name, value, &self.cases_in_words()))
    }

    /// The cases in which it has an effect: "with solver='sgd', or if variant is given".
    fn cases_in_words(&self) -> String {
        self.only.iter().map(|case| case_in_words(case)).collect::<Vec<_>>().join(", or ")
    }

    /// The default as a value.
    pub fn default_value(&self) -> Value {
        Self::parsed(self.default)
    }

    /// Parses a value that is written as JSON.
    pub(super) fn parsed(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or(Value::Null)
    }

    /// The type's name with its range, as printed: "int >= 1 or null".
    pub fn type_name(&self) -> String {
        self.kind.type_name()
    }

    pub(crate) fn as_json(&self) -> Value {
        serde_json::json!({
            "name": self.name,
            "type": self.type_name(),
            "choices": self.choices(),
            "default": self.default_value(),
            "doc": self.doc,
            "python_only": self.python_only,
            "tensor": self.tensor,
            "with_rows": self.with_rows,
            "has_effect": self.only != NEVER,
            "also_accepts": self.also_accepts.iter().map(|value| Self::parsed(value)).collect::<Vec<_>>(),
        })
    }

    /// Refuses a value that is not allowed.
    fn check(&self, value: &Value) -> Result<()> {
        let (why, remedy) = match self.kind.fits(value) {
            KindCheck::Yes => return Ok(()),
            KindCheck::Outside(_) if self.by_rows => return Ok(()),
            KindCheck::Outside(why) => (why, self.remedy()),
            KindCheck::No => {
                let also = self.of_other_words.filter(|_| value.is_string()).map(str::to_string);
                let choices = (!self.kind.lists_choices()).then(|| self.kind.remedy("give", None));
                let remedies: Vec<String> = also.into_iter().chain(choices).collect();
                (format!("must be {}", self.kind.in_words()), remedies.join("; "))
            }
        };
        let near = value.as_str().and_then(|word| crate::error::nearest(word, self.choices()));
        let near = near.map(|n| format!("did you mean '{n}'?"));
        let got = value.as_str().map_or_else(|| shortened(value.to_string()), |s| format!("'{s}'"));
        let remedy = match near {
            Some(near) if remedy.is_empty() => near,
            Some(near) => format!("{near} {remedy}"),
            None => remedy,
        };
        Err(Error::setting(self.name, got, why, remedy))
    }

    /// What would work in place of a number out of range; empty where the requirement says it.
    fn remedy(&self) -> String {
        match self.kind.is_demand(self.example()) {
            true => String::new(),
            false => self.kind.remedy("choose", self.example()),
        }
    }

    /// The number that messages name.
    fn example(&self) -> Option<&'static str> {
        let number = self.default_value().as_f64().is_some_and(|x| x != 0.0);
        self.example.or(number.then_some(self.default))
    }
}

/// Refuses numbers of a specification that are not finite, and values that are not allowed.
pub(super) fn check(settings: &[Setting], spec: &impl Serialize) -> Result<()> {
    if let Some((name, x)) = finite::not_finite(spec) {
        let setting = settings.iter().find(|s| s.name == name);
        let why = setting.and_then(|s| s.kind.demand()).unwrap_or_else(|| "must be finite".into());
        let remedy = setting.map_or("give a number".into(), Setting::remedy);
        return Err(Error::setting(name, x, why, remedy));
    }
    let Ok(Value::Object(values)) = serde_json::to_value(spec) else { return Ok(()) };
    let known = settings.iter().filter_map(|s| values.get(s.name).map(|value| (s, value)));
    known.into_iter().try_for_each(|(setting, value)| setting.check(value))
}

/// The beginning of a text that is too long for a message.
fn shortened(text: String) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The excluded values of a condition, as JSON, if it is one of exclusions.
fn excluded<'a>(values: &[&'a str]) -> Option<Vec<&'a str>> {
    values.first()?;
    values.iter().map(|v| v.strip_prefix('!')).collect()
}

/// Equality of settings: 1 and 1.0 are the same number.
fn same_value(a: &Value, b: &Value) -> bool {
    a == b || (a.is_number() && a.as_f64() == b.as_f64())
}

/// A value in a message: strings in quotes, and only the beginning of a long table.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| shortened(value.to_string()), |text| format!("'{text}'"))
}

/// Values that are written as JSON, as messages have them.
fn values_in_words(values: &[&str], join: &str) -> String {
    values.iter().map(|text| shown(&Setting::parsed(text))).collect::<Vec<_>>().join(join)
}

/// The conditions of a case: "with solver='sgd' or 'adam' if variant is not 'svd'".
fn case_in_words(case: &[Condition]) -> String {
    let (mut with, mut only_if) = (Vec::new(), Vec::new());
    for (name, values) in case {
        match excluded(values).as_deref() {
            Some([one]) => only_if.push(format!("{name} is not {}", values_in_words(&[*one], ""))),
            Some(several) => only_if.push(format!("{name} is none of {}", values_in_words(several, ", "))),
            None if **values == ["*"] => only_if.push(format!("{name} is given")),
            None => with.push(format!("{name}={}", values_in_words(values, " or "))),
        }
    }
    let clauses = [("with", with), ("if", only_if)].into_iter().filter(|(_, parts)| !parts.is_empty());
    clauses.map(|(word, parts)| format!("{word} {}", parts.join(" and "))).collect::<Vec<_>>().join(" ")
}

/// What `n_iter` counts in a fit with these settings, resolved for the data.
pub(super) fn counted(settings: &[Setting], seen: &Map<String, Value>) -> Counted {
    let mut counts = settings.iter().map(|s| s.counts(seen));
    counts.find(|counted| *counted != Counted::Iterations).unwrap_or_default()
}

/// Sentences about `given` settings that are not at their defaults and have no effect in combination with the others, neither as
/// given nor as `resolved` for the data (such as the solver for "auto").
pub fn without_effect(
    settings: &[Setting],
    given: &Map<String, Value>,
    resolved: &Map<String, Value>,
) -> Vec<String> {
    let changed = |s: &Setting| given.get(s.name).is_some_and(|value| !same_value(value, &s.default_value()));
    let conditional = || settings.iter().filter(|s| s.is_json() && !s.only.is_empty());
    // In most fits there is none.
    if !conditional().any(changed) {
        return Vec::new();
    }
    let mut seen = given.clone();
    seen.extend(resolved.clone());
    conditional().filter(|s| !s.has_effect(&seen)).filter_map(|s| s.without_effect(given)).collect()
}

/// The sentence that a setting has no effect, because it needs a condition, as in "with prior='none'".
fn unused(name: &str, value: &Value, condition: &str) -> String {
    format!("{name}={} has no effect here: {name} is used only {condition}", shown(value))
}

/// Sentences about `given` settings that are not at their defaults and have no effect in a fit of this kind.
pub(crate) fn without_effect_in(
    kind: FitKind,
    settings: &[Setting],
    given: &Map<String, Value>,
) -> Vec<String> {
    let sentence = |s: &Setting| {
        let (_, why) = s.unless.filter(|(unless, _)| *unless == kind)?;
        let value = given.get(s.name).filter(|value| !same_value(value, &s.default_value()))?;
        // Where it has no effect in any case, there is another sentence.
        s.has_effect(given).then(|| format!("{}={} has no effect here: {why}", s.name, shown(value)))
    };
    settings.iter().filter_map(sentence).collect()
}

/// The sentence that a model to start from, `init`, has no effect in combination with the `given` settings; none where it is used. It is used
/// where the setting `limit` is, which ends the iterations.
pub(crate) fn init_without_effect(limit: &Setting, given: &Map<String, Value>) -> Option<String> {
    let sentence = || format!("init has no effect here: init is used only {}", limit.cases_in_words());
    (!limit.has_effect(given)).then(sentence)
}

/// A sentence if the setting `name` is not at its default although the table `table` is given in its place: tables are not among the settings
/// as JSON, so that no condition can name them.
pub(crate) fn replaced_by_table(
    settings: &[Setting],
    given: &Map<String, Value>,
    name: &str,
    table: &str,
) -> Option<String> {
    let setting = settings.iter().find(|s| s.name == name)?;
    let value = given.get(name).filter(|value| !same_value(value, &setting.default_value()))?;
    Some(unused(name, value, &format!("if {table} is not given")))
}

/// Validates names and values of the given settings and adds the defaults of the others, in the order of the list.
///
/// # Errors
///
/// An unknown name; a value that is not allowed.
pub fn resolve(settings: &[Setting], given: &Map<String, Value>) -> Result<Map<String, Value>> {
    let known = || settings.iter().filter(|s| s.is_json());
    if known().filter(|s| given.contains_key(s.name)).count() < given.len() {
        let unknown = given.keys().find(|name| !known().any(|s| s.name == *name));
        return Err(Error::unknown("setting", unknown.map_or("", |name| name), known().map(|s| s.name)));
    }
    let mut out = Map::with_capacity(settings.len());
    for setting in known() {
        let value = given.get(setting.name).cloned().unwrap_or_else(|| setting.default_value());
        setting.check(&value)?;
        out.insert(setting.name.into(), value);
    }
    Ok(out)
}
