//! Which array of a file that holds several.

use crate::Options;
use std::path::Path;
use unmix::{Error, Result};

/// Names that a message has room for.
const MOST_NAMES: usize = 30;

/// The place among `names` of the array requested; by default the only one.
pub(crate) fn choose(options: &Options, names: &[String], path: &Path) -> Result<usize> {
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut known = all[..all.len().min(MOST_NAMES)].join(", ");
    if all.len() > MOST_NAMES {
        known += &format!(", ... ({} in all)", all.len());
    }
    match (options.key.as_deref(), names) {
        (_, []) => Err(Error::format(path, "it holds no arrays", "check the program that wrote it")),
        (None, [_]) => Ok(0),
        (None, _) => {
            let found = format!("it holds {} arrays ({known}), but one must be chosen", names.len());
            let remedy = format!("choose it as in {}", options.wording.plain("key", &names[0], true));
            let numbers = (Some(1), Some(names.len() as u64));
            Err(Error::format(path, found, remedy).with(|details| (details.need, details.got) = numbers))
        }
        (Some(key), _) => names
            .iter()
            .position(|name| name == key)
            .ok_or_else(|| Error::unknown("array", key, all.iter().copied())),
    }
}
