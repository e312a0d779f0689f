//! Rows written down once, so that they can be read again in any order.

use super::bytes::Bytes;
use super::raw::RawArray;
use crate::error::{Error, Result};
use crate::num::Real;
use std::io::Write;
use std::path::PathBuf;

/// Takes bytes as they come, and gives them back for reading at any place.
///
/// The temporary file has no name from the start (or loses it on exit), lies in the system's folder for such files
/// (`TMPDIR`), and is as large as the decoded rows.
pub struct Spool {
    memory: Vec<u8>,
    file: Option<std::io::BufWriter<std::fs::File>>,
    written: u64,
    origin: PathBuf,
}

impl Spool {
    /// Up to this many bytes stay in memory; more go to a temporary file.
    pub const IN_MEMORY: usize = 64 << 20;

    /// Nothing yet; `origin` is the path that messages name.
    pub fn new(origin: impl Into<PathBuf>) -> Self {
        Self { memory: Vec::new(), file: None, written: 0, origin: origin.into() }
    }

    /// Bytes taken so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Takes more bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        if self.file.is_none() && self.memory.len() + bytes.len() > Self::IN_MEMORY {
            let failed =
                |e| Error::io("cannot write a temporary copy of the rows to", std::env::temp_dir(), e);
            let mut file = std::io::BufWriter::with_capacity(1 << 20, tempfile::tempfile().map_err(failed)?);
            file.write_all(&self.memory).map_err(failed)?;
            self.memory = Vec::new();
            self.file = Some(file);
        }
        match &mut self.file {
            None => self.memory.extend_from_slice(bytes),
            Some(file) => file.write_all(bytes).map_err(|e| {
                Error::io("cannot write a temporary copy of the rows to", std::env::temp_dir(), e)
            })?,
        }
        Ok(())
    }

    /// Takes numbers, as this machine stores them.
    pub fn write_numbers<T: Real>(&mut self, numbers: &[T]) -> Result<()> {
        // SAFETY: a slice of plain numbers is also a slice of bytes of the same extent.
        let bytes = unsafe {
            std::slice::from_raw_parts(numbers.as_ptr().cast::<u8>(), std::mem::size_of_val(numbers))
        };
        self.write(bytes)
    }

    /// The bytes, to read.
    pub fn finish(self) -> Result<Bytes<'static>> {
        match self.file {
            None => Ok(Bytes::Owned { data: self.memory, path: self.origin }),
            Some(file) => {
                let failed =
                    |e| Error::io("cannot write a temporary copy of the rows to", std::env::temp_dir(), e);
                let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
                Ok(Bytes::File { file, len: self.written, path: self.origin })
            }
        }
    }

    /// The numbers, as rows.
    pub fn into_rows<T: Real>(self, n_features: usize) -> Result<RawArray<'static>> {
        let n_rows = self.written / (n_features * T::DTYPE.size()).max(1) as u64;
        RawArray::row_major::<T>(self.finish()?, n_rows, n_features)
    }
}
