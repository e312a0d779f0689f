//! Temporary copies of rows, which can be read in any order.

use super::bytes::Bytes;
use super::raw::RawArray;
use crate::error::{Error, Result};
use crate::num::Real;
use std::fs::File;
use std::io::Write;
use std::marker::PhantomData;
use std::path::PathBuf;

/// Stores bytes as they arrive, in memory or in a temporary file, for reading at any position.
///
/// The temporary file is unnamed from the start (or is deleted on exit), is in the system's folder for temporary files (`TMPDIR`),
/// and is as large as the decoded rows.
pub struct Spool {
    memory: Vec<u8>,
    file: Option<std::io::BufWriter<File>>,
    written: u64,
    origin: PathBuf,
}

impl Spool {
    /// Number of bytes that are kept in memory; more go to a temporary file.
    pub const IN_MEMORY: usize = 64 << 20;

    /// An empty spool; `origin` is the path in messages.
    pub fn new(origin: impl Into<PathBuf>) -> Self {
        Self { memory: Vec::new(), file: None, written: 0, origin: origin.into() }
    }

    /// Number of bytes stored so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the temporary file cannot be created or written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        if self.file.is_none() && self.memory.len() + bytes.len() > Self::IN_MEMORY {
            let mut file = std::io::BufWriter::with_capacity(1 << 20, tempfile::tempfile().map_err(failed)?);
            file.write_all(&self.memory).map_err(failed)?;
            self.memory = Vec::new();
            self.file = Some(file);
        }
        match &mut self.file {
            None => self.memory.extend_from_slice(bytes),
            Some(file) => file.write_all(bytes).map_err(failed)?,
        }
        Ok(())
    }

    /// Appends numbers in native byte order.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn write_numbers<T: Real>(&mut self, numbers: &[T]) -> Result<()> {
        self.write(as_bytes(numbers))
    }

    /// Ends the writing and returns the bytes, for reading.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the temporary file cannot be written.
    pub fn finish(self) -> Result<Bytes<'static>> {
        match self.file {
            None => Ok(Bytes::Owned { data: self.memory, path: self.origin }),
            Some(file) => {
                let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
                Ok(Bytes::File { file, len: self.written, modified: None, path: self.origin })
            }
        }
    }

    /// The numbers, as rows.
    ///
    /// # Errors
    ///
    /// As for [`finish`](Self::finish).
    pub fn into_rows<T: Real>(self, n_features: usize) -> Result<RawArray<'static>> {
        let n_rows = self.written / (n_features * T::DTYPE.size()).max(1) as u64;
        RawArray::row_major::<T>(self.finish()?, n_rows, n_features)
    }
}

/// Rows written in any order, by many threads at once, to a temporary file as in [`Spool`].
pub(crate) struct Scattered<T> {
    file: File,
    n_rows: u64,
    n_features: usize,
    origin: PathBuf,
    of: PhantomData<T>,
}

impl<T: Real> Scattered<T> {
    /// Space for `n_rows` rows of `n_features` numbers; nothing is allocated before rows are written.
    pub(crate) fn new(origin: impl Into<PathBuf>, n_rows: u64, n_features: usize) -> Result<Self> {
        let new = |file| Self { file, n_rows, n_features, origin: origin.into(), of: PhantomData };
        tempfile::tempfile().map(new).map_err(failed)
    }

    /// Writes rows at row `first`.
    pub(crate) fn put(&self, first: u64, rows: &[T]) -> Result<()> {
        let at = first * (self.n_features * T::DTYPE.size()) as u64;
        write_all_at(&self.file, as_bytes(rows), at).map_err(failed)
    }

    /// The numbers, as rows.
    pub(crate) fn into_rows(self) -> Result<RawArray<'static>> {
        let len = self.n_rows * (self.n_features * T::DTYPE.size()) as u64;
        let bytes = Bytes::File { file: self.file, len, modified: None, path: self.origin };
        RawArray::row_major::<T>(bytes, self.n_rows, self.n_features)
    }
}

fn failed(e: std::io::Error) -> Error {
    Error::io("cannot write a temporary copy of the rows to", std::env::temp_dir(), e)
}

fn as_bytes<T: Real>(numbers: &[T]) -> &[u8] {
    // SAFETY: a slice of plain numbers is also a slice of bytes of the same extent.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast::<u8>(), std::mem::size_of_val(numbers)) }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, at)? {
            0 => return Err(std::io::ErrorKind::WriteZero.into()),
            n => (bytes, at) = (&bytes[n..], at + n as u64),
        }
    }
    Ok(())
}
