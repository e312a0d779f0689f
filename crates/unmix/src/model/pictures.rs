//! How the pictures of a fit were read: rows of other pictures mean the same only if they are read in the same way.

use super::Model;

/// The end of the record of rows that were standardised one by one.
const STANDARDISED: &str = ", each standardised";

/// The record of rows that are whole pictures.
const WHOLE: &str = "whole pictures";

/// The record of rows that are whole pictures, or patches of `patch` (height, width) pixels, each standardised or not.
pub fn row_of_pictures(patch: Option<(usize, usize)>, standardised: bool) -> String {
    let row = patch
        .map_or("whole pictures".into(), |(height, width)| format!("patches of {height}x{width} pixels"));
    if standardised { row + STANDARDISED } else { row }
}

impl Model {
    /// The same model, with a record of what a row was, of [`row_of_pictures`]; `None` for rows that are not pictures.
    pub fn with_pictures(mut self, row: Option<String>) -> Self {
        self.report.run.pictures = row;
        self
    }

    /// A sentence if the rows of the fit were pictures that were read in another way than as `row`, of [`row_of_pictures`].
    pub fn other_pictures(&self, row: &str) -> Option<String> {
        other_pictures(self.report.run.pictures.as_deref()?, row)
    }
}

/// A sentence if pictures that are read as `row` are read in another way than those of a fit, which were read as `fitted`, both of
/// [`row_of_pictures`]. Whole pictures may be of the size of patches; if they are not, rows have another length, which is an error elsewhere.
pub fn other_pictures(fitted: &str, row: &str) -> Option<String> {
    let plain = |row: &str| !row.ends_with(STANDARDISED);
    let may_be_alike = [fitted, row].contains(&WHOLE) && plain(fitted) && plain(row);
    if fitted == row || may_be_alike {
        return None;
    }
    Some(format!(
        "pictures are read as {row}, and those of the fit were read as {fitted}: codes and errors of the two cannot be compared; \
         read both in the same way"
    ))
}
