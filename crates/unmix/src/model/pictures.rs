//! How the pictures of a fit were read: rows of other pictures mean the same only if they are read in the same way.

use super::Model;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How pictures are read: what a row is. Model files have it in words, as it is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PictureRow {
    /// Height and width in pixels of the patch that a row is; `None` for whole pictures.
    pub patch: Option<(usize, usize)>,
    /// Whether each row is standardised.
    pub standardised: bool,
}

/// The words of whole pictures, those around the size of a patch, and those of rows that are standardised.
const WHOLE: &str = "whole pictures";
const PATCHES: (&str, &str) = ("patches of ", " pixels");
const STANDARDISED: &str = ", each standardised";

impl fmt::Display for PictureRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.patch {
            None => f.write_str(WHOLE)?,
            Some((height, width)) => write!(f, "{}{height}x{width}{}", PATCHES.0, PATCHES.1)?,
        }
        if self.standardised { f.write_str(STANDARDISED) } else { Ok(()) }
    }
}

impl From<PictureRow> for String {
    fn from(row: PictureRow) -> Self {
        row.to_string()
    }
}

impl TryFrom<String> for PictureRow {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (row, standardised) = match text.strip_suffix(STANDARDISED) {
            Some(row) => (row, true),
            None => (text.as_str(), false),
        };
        let size = row.strip_prefix(PATCHES.0).and_then(|row| row.strip_suffix(PATCHES.1)?.split_once('x'));
        let size = size.and_then(|(height, width)| Some((height.parse().ok()?, width.parse().ok()?)));
        match size {
            None if row != WHOLE => Err(format!("'{text}' does not say how pictures are read")),
            patch => Ok(Self { patch, standardised }),
        }
    }
}

impl PictureRow {
    /// A sentence if pictures that are read so are read in another way than those of a fit. Whole pictures may be of the size of patches; if
    /// they are not, rows have another length, which is an error elsewhere.
    pub fn unlike(self, fitted: Self) -> Option<String> {
        let has_whole = self.patch.is_none() || fitted.patch.is_none();
        let may_be_alike = has_whole && !self.standardised && !fitted.standardised;
        if self == fitted || may_be_alike {
            return None;
        }
        Some(format!(
            "pictures are read as {self}, and those of the fit were read as {fitted}: codes and errors of the two cannot be compared; \
             read both in the same way"
        ))
    }
}

impl Model {
    /// The same model, with a record of how the pictures of its fit were read; `None` for rows that are not pictures.
    pub fn with_pictures(mut self, row: Option<PictureRow>) -> Self {
        self.report.run.pictures = row;
        self
    }

    /// A sentence if the rows of the fit were pictures that were read in another way than these ([`PictureRow::unlike`]).
    pub fn other_pictures(&self, row: PictureRow) -> Option<String> {
        row.unlike(self.report.run.pictures?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_file_are_read_back() {
        for (row, words) in [
            (PictureRow { patch: None, standardised: false }, "whole pictures"),
            (PictureRow { patch: Some((4, 12)), standardised: false }, "patches of 4x12 pixels"),
            (
                PictureRow { patch: Some((4, 12)), standardised: true },
                "patches of 4x12 pixels, each standardised",
            ),
        ] {
            assert_eq!(serde_json::to_value(row).unwrap(), words);
            assert_eq!(serde_json::from_value::<PictureRow>(words.into()).unwrap(), row);
        }
        for words in ["", "pictures", "patches of 4 pixels", "patches of 4xa pixels", ", each standardised"] {
            assert!(PictureRow::try_from(words.to_string()).is_err(), "{words}");
        }
    }
}
