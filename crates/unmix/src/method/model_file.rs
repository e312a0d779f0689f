//! Models from files: the method that a file names is looked up in the registry.

use super::find;
use crate::error::{Error, Result};
use crate::model::{Model, read_model};
use std::path::Path;

impl Model {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read; errors of [`from_bytes`](Self::from_bytes).
    pub fn load(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Err(Error::format(path, "it is a folder, not a file", "give a model file"));
        }
        let bytes = std::fs::read(path).map_err(|e| Error::io("cannot read", path, e))?;
        Self::from_bytes(&bytes, path)
    }

    /// Reads a model from the bytes of a file; `path` is for messages.
    ///
    /// # Errors
    ///
    /// Bytes that are not a model or are corrupt; a format, a sign rule or a method that this version does not have.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        read_model(bytes, path, find)
    }
}
