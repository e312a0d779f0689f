//! Bytes that can be read at any position: a file, an owned buffer, or borrowed memory.
//!
//! Files are read by positioned reads into reused buffers, not memory-mapped: mapped pages count as resident memory, and a mapped
//! file that shrinks terminates the process by a signal, whereas a read returns an error.

use crate::error::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Storage of the bytes.
#[non_exhaustive]
pub enum Bytes<'a> {
    /// An open file, and its path for messages.
    File {
        /// The open file.
        file: File,
        /// Its length when it was opened.
        len: u64,
        /// Its path, for messages.
        path: PathBuf,
    },
    /// An owned buffer, and the path that it was read from.
    Owned {
        /// The bytes.
        data: Vec<u8>,
        /// Where they came from, for messages.
        path: PathBuf,
    },
    /// Borrowed memory.
    Lent(&'a [u8]),
}

impl<'a> Bytes<'a> {
    /// Opens a file. Folders and missing files are errors.
    pub fn open(path: &Path) -> Result<Bytes<'static>> {
        let file = File::open(path).map_err(|e| Error::io("cannot read", path, e))?;
        let meta = file.metadata().map_err(|e| Error::io("cannot read", path, e))?;
        if meta.is_dir() {
            return Err(Error::format(path, "it is a folder, not a file", "give a file in it"));
        }
        Ok(Bytes::File { file, len: meta.len(), path: path.to_path_buf() })
    }

    /// The same bytes again: another handle of an open file, or a copy of a buffer.
    ///
    /// # Errors
    ///
    /// The system refuses another handle.
    pub fn try_clone(&self) -> Result<Self> {
        Ok(match self {
            Bytes::File { file, len, path } => {
                let file = file.try_clone().map_err(|e| Error::io("cannot read", path, e))?;
                Bytes::File { file, len: *len, path: path.clone() }
            }
            Bytes::Owned { data, path } => Bytes::Owned { data: data.clone(), path: path.clone() },
            Bytes::Lent(data) => Bytes::Lent(data),
        })
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Bytes::File { len, .. } => *len,
            Bytes::Owned { data, .. } => data.len() as u64,
            Bytes::Lent(data) => data.len() as u64,
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The path, for messages.
    pub fn path(&self) -> &Path {
        match self {
            Bytes::File { path, .. } | Bytes::Owned { path, .. } => path,
            Bytes::Lent(_) => Path::new("the array"),
        }
    }

    /// The bytes, if they are in memory.
    pub fn in_memory(&self) -> Option<&[u8]> {
        match self {
            Bytes::File { .. } => None,
            Bytes::Owned { data, .. } => Some(data),
            Bytes::Lent(data) => Some(data),
        }
    }

    /// Fills `out` with the bytes from `offset` on. A file that ends before is an error.
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let end = offset + out.len() as u64;
        if let Some(data) = self.in_memory() {
            return match data.get(offset as usize..end as usize) {
                Some(part) => {
                    out.copy_from_slice(part);
                    Ok(())
                }
                None => Err(self.ended(end)),
            };
        }
        let Bytes::File { file, path, .. } = self else { return Ok(()) };
        read_exact_at(file, out, offset).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => self.ended(end),
            _ => Error::io("cannot read", path, e),
        })
    }

    fn ended(&self, wanted: u64) -> Error {
        Error::format(
            self.path(),
            format!("it ends before byte {wanted}, though it had {} bytes when it was opened", self.len()),
            "make sure that nothing writes to it and read it again",
        )
        .with(|details| (details.byte, details.got) = (Some(wanted), Some(self.len())))
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, out: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut out: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, offset)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => {
                out = &mut out[n..];
                offset += n as u64;
            }
        }
    }
    Ok(())
}
