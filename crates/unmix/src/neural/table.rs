//! Entries of the tables of variants.

use super::Spec;
use crate::error::{Error, Result};

/// A published variant, or one of this project.
#[derive(Clone, Copy, Debug)]
pub struct TableEntry {
    /// Value of the setting `variant`.
    pub key: &'static str,
    /// Reference.
    pub reference: &'static str,
    /// What it recovers, in one phrase.
    pub recovers: &'static str,
    /// The rule; `None` for a closed form.
    pub spec: Option<Spec>,
    /// The order of the columns at the fixed point.
    pub order: Order,
    /// Whether columns of the fixed point have unit length; otherwise they are normalised afterwards.
    pub unit: bool,
    /// Whether rows times a constant give the same axes, with default settings.
    pub scale_free: bool,
    /// Step size with full batches, in units of the inverse of the largest eigenvalue of the covariance.
    pub step: Step,
}

/// The order of the columns at the fixed point of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By decreasing variance.
    Descending,
    /// No order: columns are sorted afterwards.
    None,
}

/// Step size with full batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A quarter; the smallest stability limit of these rules is a third.
    Quarter,
    /// A quarter of the smallest weight `lambda`, for rules that divide by it.
    QuarterOfLast,
}

/// The keys of a table, in order.
pub(crate) const fn keys<const N: usize>(table: &[TableEntry; N]) -> [&'static str; N] {
    let mut keys = [""; N];
    let mut i = 0;
    while i < N {
        keys[i] = table[i].key;
        i += 1;
    }
    keys
}

/// The entry of `table` with this key, or with this number, from 1, and its index.
///
/// # Errors
///
/// A key or number that the table does not have.
pub(crate) fn find_row(table: &'static [TableEntry], key: &str) -> Result<(usize, &'static TableEntry)> {
    let number = key.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let found = table.iter().position(|row| row.key == key).or(number).filter(|&i| i < table.len());
    match found {
        Some(i) => Ok((i, &table[i])),
        None => Err(Error::unknown("variant", key, table.iter().map(|row| row.key))),
    }
}
