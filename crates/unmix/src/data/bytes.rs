//! Bytes that can be read at any position: a file, an owned buffer, or borrowed memory.
//!
//! Files are read by positioned reads into reused buffers, not memory-mapped: mapped pages count as resident memory, and a mapped
//! file that shrinks terminates the process by a signal, whereas a read returns an error.

use crate::error::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Storage of the bytes.
#[non_exhaustive]
pub enum Bytes<'a> {
    /// An open file, and its path for messages.
    File {
        /// The open file.
        file: File,
        /// Its length when it was opened.
        len: u64,
        /// When it was last modified before it was opened; `None` if the system does not report it, or if no other program can write to it.
        modified: Option<SystemTime>,
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
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it is missing or cannot be opened, [`Error::Format`] if it is a folder.
    pub fn open(path: &Path) -> Result<Bytes<'static>> {
        let file = File::open(path).map_err(|e| Error::io("cannot read", path, e))?;
        let meta = file.metadata().map_err(|e| Error::io("cannot read", path, e))?;
        if meta.is_dir() {
            return Err(Error::format(path, "it is a folder, not a file", "give a file in it"));
        }
        Ok(Bytes::File {
            file,
            len: meta.len(),
            modified: meta.modified().ok().filter(|_| meta.is_file()),
            path: path.to_path_buf(),
        })
    }

    /// The same bytes again: another handle of an open file, or a copy of a buffer.
    ///
    /// # Errors
    ///
    /// The system refuses another handle.
    pub fn try_clone(&self) -> Result<Self> {
        Ok(match self {
            Bytes::File { file, len, modified, path } => {
                let file = file.try_clone().map_err(|e| Error::io("cannot read", path, e))?;
                Bytes::File { file, len: *len, modified: *modified, path: path.clone() }
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

    /// Fills `out` with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if there are fewer bytes, or if the file was modified after it was opened: a fit of several passes would otherwise mix
    /// rows from before and after the change. [`Error::Io`] if the system refuses the read.
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
        })?;
        self.check_unmodified()
    }

    /// Refuses a file that was modified after it was opened. It is checked after each read, because a write changes the time before the bytes:
    /// bytes that pass are the old ones. The open file is examined, not its path, at which another file may be by now.
    fn check_unmodified(&self) -> Result<()> {
        let Bytes::File { file, modified: Some(before), path, .. } = self else { return Ok(()) };
        let now = file.metadata().and_then(|meta| meta.modified());
        if now.map_err(|e| Error::io("cannot read", path, e))? == *before {
            return Ok(());
        }
        let remedy = "make sure that nothing writes to it and read it again";
        Err(Error::format(path, "it was modified while its rows were read", remedy))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};
    use std::time::Duration;

    #[test]
    fn bytes_that_are_overwritten_in_place_are_refused() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"12345678").unwrap();
        let bytes = Bytes::open(file.path()).unwrap();
        let copy = bytes.try_clone().unwrap();
        let mut out = [0; 4];
        bytes.read_at(2, &mut out).unwrap();
        assert_eq!(&out, b"3456");
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(b"abcd").unwrap();
        // Systems count time in steps of some milliseconds, within which a change would not be seen.
        let later = std::time::SystemTime::now() + Duration::from_secs(5);
        file.as_file().set_modified(later).unwrap();
        for bytes in [bytes, copy] {
            let message = bytes.read_at(2, &mut out).unwrap_err().to_string();
            assert!(message.contains("it was modified while its rows were read; make sure"), "{message}");
        }
    }

    #[test]
    fn an_open_file_is_read_after_another_has_taken_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&path, b"1234").unwrap();
        std::fs::write(&other, b"5678").unwrap();
        let bytes = Bytes::open(&path).unwrap();
        std::fs::rename(&other, &path).unwrap();
        let mut out = [0; 4];
        bytes.read_at(0, &mut out).unwrap();
        assert_eq!(&out, b"1234");
    }
}
