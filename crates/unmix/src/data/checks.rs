//! What rows must be for any fit: two of them at least, and weights that add up to more than one row.

use crate::error::{Error, Result};

/// Refuses fewer than two rows, of those that count; `why` says for what two are needed, as in "give more rows".
///
/// # Errors
///
/// None or one of them.
pub(crate) fn check_n_rows(method: &str, n: u64, origin: &str, why: &str) -> Result<()> {
    match n < 2 {
        true => Err(Error::TooFewRows {
            method: method.into(),
            need: 2,
            got: n,
            what: origin.into(),
            remedy: format!("{why}; if rows are channels, transpose"),
        }),
        false => Ok(()),
    }
}

/// Refuses weights of rows that add up to too little for a variance: `total` is their sum.
///
/// # Errors
///
/// A sum of at most 1.
pub(crate) fn check_total_weight(total: f64, origin: &str) -> Result<()> {
    if total > 1.0 {
        return Ok(());
    }
    let why = match total {
        0.0 => format!("the weights of {origin} are all zero"),
        _ => format!("the weights of {origin} must sum to more than 1"),
    };
    Err(Error::setting("sample_weight", total, why, "give larger weights, or none"))
}
