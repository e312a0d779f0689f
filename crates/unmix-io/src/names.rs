//! Names that a caller gives to columns without names.

use std::collections::HashSet;
use unmix::{AnyRows, Error, Result};

/// The rows with these names, one for each column; unchanged if they were read with these names, or with some of them.
///
/// # Errors
///
/// Those of [`AnyRows::named`].
pub fn named(rows: AnyRows<'_>, names: Vec<String>) -> Result<AnyRows<'_>> {
    if have_names(&rows, &names) { Ok(rows) } else { rows.named(names) }
}

/// Whether the columns have names, all of them among these.
pub fn have_names(rows: &AnyRows<'_>, names: &[String]) -> bool {
    let known: HashSet<&String> = names.iter().collect();
    let own = rows.features().names.as_ref();
    own.is_some_and(|own| own.iter().all(|name| known.contains(name)))
}

/// [`named`], where the columns are those named `wanted`, in this order. Names of the selected columns are known only after these
/// were selected, by position.
pub(crate) fn named_as<'a>(
    rows: AnyRows<'a>,
    names: Vec<String>,
    wanted: Option<&[String]>,
) -> Result<AnyRows<'a>> {
    let rows = named(rows, names)?;
    match (wanted, rows.features().names.as_deref()) {
        (Some(wanted), Some(own)) if own != wanted => Err(Error::unsupported(
            "matching the columns to those of the model by name",
            "the names of the selected columns are not those of the model in its order, and there is no name for each \
                    column of the input by which they could be matched",
            "give one name for each column of the input, also for those that are not selected, or select the columns of \
                     the model in its order",
        )),
        _ => Ok(rows),
    }
}
