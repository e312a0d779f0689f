//! Values of kinds of settings: examples, and values that are out of range.

use serde_json::{Value, json};
use std::ops::{Bound, RangeBounds};
use unmix::method::{Axis, Kind, NumberForm};

/// Numbers of which the values of a kind are made.
pub(super) struct Examples {
    /// Number of columns of the rows.
    pub(super) columns: usize,
    /// Integers, which are added to the minimum.
    pub(super) integers: &'static [f64],
    /// Other numbers.
    pub(super) numbers: &'static [f64],
}

impl Examples {
    /// Values of a kind, for rows of four columns where it has matrices: all of its words, and the numbers that are in range.
    pub(super) fn of(&self, kind: &Kind) -> Vec<Value> {
        match kind {
            Kind::Null => vec![Value::Null],
            Kind::Flags(flags) => flags.iter().map(|flag| json!(flag)).collect(),
            Kind::Words(words) => words.iter().map(|word| json!(word)).collect(),
            Kind::Number { form, from, to } => {
                let (of_form, least) = match (form, from) {
                    (NumberForm::Integer, Bound::Included(least)) => (self.integers, *least),
                    _ => (self.numbers, 0.0),
                };
                let all = of_form.iter().map(|x| least + x).filter(|x| (*from, *to).contains(x));
                all.map(|x| form.written(x)).collect()
            }
            Kind::List { .. } if kind.takes_table() => {
                vec![json!([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])]
            }
            Kind::List { of, axis } => {
                let n = if *axis == Axis::Features { self.columns } else { 2 };
                self.of(of).into_iter().map(|value| json!(vec![value; n])).collect()
            }
            Kind::Arguments(known) => {
                let named = |(name, kind): &(&str, Kind)| {
                    self.of(kind).into_iter().next().map(|value| ((*name).to_string(), value))
                };
                vec![Value::Object(known.iter().filter_map(named).collect())]
            }
            Kind::AnyOf(kinds) => kinds.iter().flat_map(|kind| self.of(kind)).collect(),
            // Functions exist in Python only.
            _ => Vec::new(),
        }
    }
}

/// Values of the right type outside the range of a kind.
pub(super) fn outside(kind: &Kind) -> Vec<Value> {
    match kind {
        Kind::Number { form: form @ (NumberForm::Integer | NumberForm::Real), from, to } => {
            let step = if *form == NumberForm::Integer { 1.0 } else { 0.5 };
            let beyond = |end: &Bound<f64>, step: f64| match end {
                Bound::Included(x) => Some(form.written(x + step)),
                Bound::Excluded(x) => Some(form.written(*x)),
                Bound::Unbounded => None,
            };
            beyond(from, -step).into_iter().chain(beyond(to, step)).collect()
        }
        Kind::List { of, .. } => outside(of).into_iter().map(|value| json!([value])).collect(),
        Kind::AnyOf(kinds) => kinds.iter().flat_map(outside).collect(),
        _ => Vec::new(),
    }
}
