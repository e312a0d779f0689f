//! Requirements of every fit on the rows: at least two of them, and weights whose sum exceeds 1.

use crate::error::{Error, Result};

/// Refuses fewer than two rows of non-zero weight; `remedy` is that of the error, as in "give more rows".
///
/// # Errors
///
/// Fewer than two rows.
pub(crate) fn check_n_rows(method: &str, n: u64, origin: &str, remedy: &str) -> Result<()> {
    match n < 2 {
        true => Err(Error::TooFewRows {
            method: method.into(),
            need: 2,
            got: n,
            what: origin.into(),
            remedy: format!("{remedy}; if rows are channels, transpose"),
        }),
        false => Ok(()),
    }
}

/// Refuses sample weights whose sum `total` is too small for a variance.
///
/// # Errors
///
/// A sum of at most 1, up to the rounding of weights that were divided by their sum.
pub(crate) fn check_total_weight(total: f64, origin: &str) -> Result<()> {
    if total > 1.0 + 1e-9 {
        return Ok(());
    }
    let why = match total {
        0.0 => format!("the weights of {origin} are all zero"),
        _ => "must sum to more than 1, since a weight is a number of repetitions of a row".into(),
    };
    let remedy =
        "multiply the weights, as by the number of rows if they were divided by their sum, or give none";
    Err(Error::setting("sample_weight", total, why, remedy))
}
