//! Kinds of settings, composed of other kinds. Checks, messages, type names and the Python package are derived from them.
//!
//! This file checks values; `description.rs` describes kinds, in messages and in Python. A new variant needs an arm in each of the two; nothing
//! else of the library and the generators depends on variants.

mod description;
#[cfg(test)]
mod tests;

pub use description::PythonType;

use crate::choices::Automatic;
use serde_json::Value;
use std::ops::{Bound, RangeBounds};

/// The values that a setting may have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// `null`.
    Null,
    /// One of these booleans.
    Flags(&'static [bool]),
    /// One of these strings.
    Words(&'static [&'static str]),
    /// A finite number in an interval.
    Number {
        /// How it is written.
        form: NumberForm,
        /// The lower end.
        from: Bound<f64>,
        /// The upper end.
        to: Bound<f64>,
    },
    /// A list with one value of a kind for each entry of an axis, at least one. A list of lists is a table, a matrix: its rows have equal
    /// lengths.
    List {
        /// Kind of the values.
        of: &'static Kind,
        /// What there is one value for.
        axis: Axis,
    },
    /// Named numbers; those listed here must be of these kinds.
    Arguments(&'static [(&'static str, Kind)]),
    /// A function; in Python only.
    Callable,
    /// Any of these kinds. Strings come after numbers and `null` last, in the order of the generated sentence.
    AnyOf(&'static [Kind]),
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberForm {
    /// An integer.
    Integer,
    /// Any number.
    Real,
    /// A share of the variance: a number that is not written as an integer, which would be a number of components.
    Share,
    /// The name of such a share, as the table of rules has it: `share-0.9`.
    ShareName,
}

/// What a list has one value for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Axis {
    /// The rows.
    Samples,
    /// The columns.
    Features,
    /// The components.
    Components,
    /// The layers of a network.
    Layers,
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

impl NumberForm {
    /// The number that a value is in this form.
    fn read(self, value: &Value) -> Option<f64> {
        match self {
            NumberForm::Integer => value.as_f64().filter(|_| !value.is_f64()),
            NumberForm::Real => value.as_f64(),
            NumberForm::Share => value.as_f64().filter(|_| value.is_f64()),
            NumberForm::ShareName => value.as_str().and_then(named_share),
        }
    }

    /// A number in this form; of an integer, the integral part.
    pub fn written(self, x: f64) -> Value {
        match self {
            NumberForm::Integer => (x as i64).into(),
            NumberForm::Real | NumberForm::Share => x.into(),
            NumberForm::ShareName => share_name(x).into(),
        }
    }
}

impl Kind {
    /// True or false.
    pub const BOOL: Kind = Kind::Flags(&[true, false]);
    /// False alone.
    pub const FALSE: Kind = Kind::Flags(&[false]);
    /// The string `"auto"`.
    pub const AUTO: Kind = Kind::Words(Automatic::NAMES);
    /// A finite number.
    pub const NUMBER: Kind = Kind::number(Bound::Unbounded, Bound::Unbounded);
    /// A finite number that is not negative.
    pub const NON_NEGATIVE: Kind = Kind::number(Bound::Included(0.0), Bound::Unbounded);
    /// A finite number above 0.
    pub const POSITIVE: Kind = Kind::number(Bound::Excluded(0.0), Bound::Unbounded);
    /// A share of the variance, strictly between 0 and 1.
    pub const SHARE: Kind = Kind::share(NumberForm::Share);
    /// The name of such a share.
    pub const SHARE_NAME: Kind = Kind::share(NumberForm::ShareName);

    /// An integer of at least `least`.
    pub const fn at_least(least: u64) -> Kind {
        Kind::Number { form: NumberForm::Integer, from: Bound::Included(least as f64), to: Bound::Unbounded }
    }

    /// An integer between two ends, both included.
    pub const fn between(least: u64, most: u64) -> Kind {
        Kind::Number {
            form: NumberForm::Integer,
            from: Bound::Included(least as f64),
            to: Bound::Included(most as f64),
        }
    }

    /// A finite number in an interval.
    pub const fn number(from: Bound<f64>, to: Bound<f64>) -> Kind {
        Kind::Number { form: NumberForm::Real, from, to }
    }

    const fn share(form: NumberForm) -> Kind {
        Kind::Number { form, from: Bound::Excluded(0.0), to: Bound::Excluded(1.0) }
    }

    /// A list with one value of a kind for each component.
    pub const fn per_component(of: &'static Kind) -> Kind {
        Kind::List { of, axis: Axis::Components }
    }

    /// A list with one value of a kind for each column.
    pub const fn per_column(of: &'static Kind) -> Kind {
        Kind::List { of, axis: Axis::Features }
    }

    /// A list with one value of a kind for each layer.
    pub const fn per_layer(of: &'static Kind) -> Kind {
        Kind::List { of, axis: Axis::Layers }
    }

    /// Rows of numbers of equal length, a matrix.
    pub const fn table(rows: Axis, columns: Axis) -> Kind {
        let of = match columns {
            Axis::Samples => &Kind::List { of: &Kind::NUMBER, axis: Axis::Samples },
            Axis::Features => &Kind::List { of: &Kind::NUMBER, axis: Axis::Features },
            Axis::Components => &Kind::List { of: &Kind::NUMBER, axis: Axis::Components },
            Axis::Layers => &Kind::List { of: &Kind::NUMBER, axis: Axis::Layers },
        };
        Kind::List { of, axis: rows }
    }

    /// The first result of a function of its alternatives, in order.
    fn find<V>(&self, of: fn(&Kind) -> Option<V>) -> Option<V> {
        match self {
            Kind::AnyOf(kinds) => kinds.iter().find_map(|kind| kind.find(of)),
            alternative => of(alternative),
        }
    }

    /// The allowed strings.
    pub fn choices(&self) -> &'static [&'static str] {
        let words = |kind: &Kind| if let Kind::Words(words) = kind { Some(*words) } else { None };
        self.find(words).unwrap_or_default()
    }

    /// The named numbers among the values, with their kinds.
    pub fn arguments(&self) -> &'static [(&'static str, Kind)] {
        let arguments = |kind: &Kind| if let Kind::Arguments(known) = kind { Some(*known) } else { None };
        self.find(arguments).unwrap_or_default()
    }

    /// Whether a table is among the values.
    pub fn takes_table(&self) -> bool {
        self.find(|kind| kind.is_table().then_some(())).is_some()
    }

    fn is_table(&self) -> bool {
        matches!(self, Kind::List { of: Kind::List { .. }, .. })
    }

    /// The minimum, for integers.
    pub(super) fn least(&self) -> Option<u64> {
        self.find(|kind| match kind {
            Kind::Number { form: NumberForm::Integer, from: Bound::Included(least), .. } => {
                Some(*least as u64)
            }
            _ => None,
        })
    }

    /// Whether a value is of this kind.
    pub(super) fn fits(&self, value: &Value) -> KindCheck {
        let yes = |fits: bool| if fits { KindCheck::Yes } else { KindCheck::No };
        match self {
            Kind::Null => yes(value.is_null()),
            Kind::Flags(flags) => yes(value.as_bool().is_some_and(|flag| flags.contains(&flag))),
            Kind::Words(words) => yes(value.as_str().is_some_and(|word| words.contains(&word))),
            Kind::Number { form, from, to } => match form.read(value) {
                Some(x) => self.inside(x.is_finite() && (*from, *to).contains(&x)),
                None => KindCheck::No,
            },
            Kind::List { of, .. } => self.list_fits(of, value),
            Kind::Arguments(known) => arguments_fit(known, value),
            Kind::Callable => KindCheck::No,
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

    /// Whether a value of the right type is in range. The requirement is formatted only where it is not met: every fit checks its settings.
    fn inside(&self, fits: bool) -> KindCheck {
        match fits {
            true => KindCheck::Yes,
            false => self.demand().map_or(KindCheck::Yes, KindCheck::Outside),
        }
    }

    /// Whether a value is a list, not empty, of values of a kind; the rows of a table have equal lengths.
    fn list_fits(&self, of: &Kind, value: &Value) -> KindCheck {
        let Some(list) = value.as_array().filter(|list| !list.is_empty()) else { return KindCheck::No };
        let length = |row: &Value| row.as_array().map(Vec::len);
        if self.is_table() && list.iter().any(|row| length(row) != length(&list[0])) {
            return KindCheck::No;
        }
        let mut fit = true;
        for value in list {
            match of.fits(value) {
                KindCheck::Yes => {}
                KindCheck::Outside(_) => fit = false,
                KindCheck::No => return KindCheck::No,
            }
        }
        self.inside(fit)
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
