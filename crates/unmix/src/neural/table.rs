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
    /// What the order of the columns is while they are learned.
    pub order: Order,
    /// Whether columns of the fixed point have unit length. Where not they are divided by it afterwards.
    pub unit: bool,
    /// Whether rows times a constant give the same axes, with the settings that a fit has by default.
    pub scale_free: bool,
    /// Steps of full batches are divided by the largest eigenvalue of the covariance and multiplied by this.
    pub step: Step,
}

/// The order in which a rule leaves its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By decreasing variance.
    Falling,
    /// None: they are sorted afterwards.
    None,
}

/// Step size with full batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A quarter; the least limit of any rule is a third.
    Quarter,
    /// A quarter of the smallest weight `lambda`, for rules that divide by it.
    QuarterOfLast,
}

/// The row of `table` named `key`, or numbered, from 1.
///
/// # Errors
///
/// A key or number that the table does not have.
pub fn find_row(table: &'static [TableEntry], key: &str) -> Result<(usize, &'static TableEntry)> {
    let number = key.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let found = table.iter().position(|row| row.key == key).or(number).filter(|&i| i < table.len());
    match found {
        Some(i) => Ok((i, &table[i])),
        None => Err(Error::unknown("variant", key, table.iter().map(|row| row.key))),
    }
}
