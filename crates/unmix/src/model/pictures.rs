//! How the pictures of a fit were read: rows of other pictures mean the same only if they are read in the same way.

use super::Model;

impl Model {
    /// The same model, with a record of what a row was, in words such as "patches of 8x8 pixels"; `None` for rows that are no pictures.
    pub fn with_pictures(mut self, row: Option<String>) -> Self {
        self.report.run.pictures = row;
        self
    }

    /// A sentence if the rows of the fit were pictures that were read in another way than as `row`, in the words of
    /// [`with_pictures`](Self::with_pictures).
    pub fn other_pictures(&self, row: &str) -> Option<String> {
        let fitted = self.report.run.pictures.as_deref().filter(|fitted| *fitted != row)?;
        Some(format!(
            "pictures are read as {row}, and those of the fit were read as {fitted}: codes and errors of the two cannot be compared; \
             read the pictures with the options of the fit"
        ))
    }
}
