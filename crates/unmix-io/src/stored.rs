//! The bytes of an input, and reading them from the front.

use std::io::{Read, Result as IoResult, Seek, SeekFrom};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use unmix::data::{Bytes, Spool};
use unmix::{Error, Result, Run};

/// An input of a format that is not yet detected.
pub(crate) struct Stored {
    pub(crate) bytes: Bytes<'static>,
    /// Its bytes came from a pipe, which has no useful name.
    pub(crate) nameless: bool,
}

/// Opens a file; what can only be read once (the standard input, a pipe) is copied first.
pub(crate) fn open(path: &Path, run: &Run<'_>) -> Result<Stored> {
    open_then(path, || (), run)
}

/// [`open`], which calls `opened` before it takes bytes that cannot be read again.
fn open_then(path: &Path, opened: impl FnOnce(), run: &Run<'_>) -> Result<Stored> {
    if path == Path::new("-") {
        opened();
        let copy = copy(std::io::stdin().lock(), shown(path), run)?;
        return Ok(Stored { bytes: not_empty(copy)?, nameless: true });
    }
    let bytes = Bytes::open(path)?;
    match bytes {
        Bytes::File { file, .. } if file.metadata().is_ok_and(|m| !m.is_file()) => {
            opened();
            Ok(Stored { bytes: not_empty(copy(file, path, run)?)?, nameless: true })
        }
        bytes => Ok(Stored { bytes: not_empty(bytes)?, nameless: false }),
    }
}

/// Opens the file at a path.
pub(crate) type Opener<'a> = &'a dyn Fn(&Path, &Run<'_>) -> Result<Stored>;

/// An input that can be read only once (the standard input, a pipe). It is copied when it is first read, and read again from the copy, which
/// clones share.
#[derive(Clone)]
pub(crate) struct Once {
    path: PathBuf,
    copied: Arc<Mutex<Copied>>,
}

enum Copied {
    Nothing,
    /// Some bytes have been read, and cannot be read again.
    Part,
    All(Bytes<'static>),
}

impl Once {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), copied: Arc::new(Mutex::new(Copied::Nothing)) }
    }

    /// The copy, which is made now if there is none.
    ///
    /// # Errors
    ///
    /// Those of [`open`]; an earlier copy that failed or was interrupted.
    pub(crate) fn open(&self, run: &Run<'_>) -> Result<Stored> {
        let mut copied = self.copied.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*copied, Copied::Nothing) {
            let stored = open_then(&self.path, || *copied = Copied::Part, run)?;
            *copied = Copied::All(stored.bytes);
        }
        match &*copied {
            Copied::All(bytes) => Ok(Stored { bytes: bytes.try_clone()?, nameless: true }),
            _ => {
                let found = "an earlier read of it failed or was interrupted, and it can be read only once";
                Err(Error::format(shown(&self.path), found, "start the program again"))
            }
        }
    }
}

impl std::fmt::Debug for Once {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Once").field(&self.path).finish()
    }
}

/// The path in messages.
fn shown(path: &Path) -> &Path {
    if path == Path::new("-") { Path::new("the standard input") } else { path }
}

fn not_empty(bytes: Bytes<'static>) -> Result<Bytes<'static>> {
    if bytes.is_empty() {
        return Err(Error::format(bytes.path(), "it is empty", "check the program that wrote it"));
    }
    Ok(bytes)
}

/// Reads everything into memory, or into a temporary file if it is large.
pub(crate) fn copy(mut from: impl Read, path: &Path, run: &Run<'_>) -> Result<Bytes<'static>> {
    let mut spool = Spool::new(path);
    let mut buffer = vec![0; 1 << 18];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return spool.finish(),
            Ok(n) => spool.write(&buffer[..n])?,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(read_failed(e, path)),
        }
        if run.observer.interrupted() {
            return Err(Error::Interrupted);
        }
    }
}

/// Reads bytes from the front, or from the position that it was moved to.
pub(crate) struct FromStart<B> {
    bytes: B,
    at: u64,
}

impl<B: Deref<Target = Bytes<'static>>> FromStart<B> {
    pub(crate) fn new(bytes: B) -> Self {
        Self { bytes, at: 0 }
    }
}

impl<B: Deref<Target = Bytes<'static>>> Read for FromStart<B> {
    fn read(&mut self, out: &mut [u8]) -> IoResult<usize> {
        let n = self.bytes.len().saturating_sub(self.at).min(out.len() as u64) as usize;
        if n > 0 {
            self.bytes.read_at(self.at, &mut out[..n]).map_err(std::io::Error::other)?;
        }
        self.at += n as u64;
        Ok(n)
    }
}

impl<B: Deref<Target = Bytes<'static>>> Seek for FromStart<B> {
    fn seek(&mut self, to: SeekFrom) -> IoResult<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.bytes.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(std::io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// The first bytes, at most `n`.
pub(crate) fn head(from: impl Read, n: u64, path: &Path) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    from.take(n).read_to_end(&mut head).map_err(|e| read_failed(e, path))?;
    Ok(head)
}

/// The error of a failed read. Errors of this crate pass through other readers wrapped in a system error.
pub(crate) fn read_failed(e: std::io::Error, path: &Path) -> Error {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    let kind = e.kind();
    match e.downcast::<Error>() {
        Ok(ours) => ours,
        // Errors of content are those of the decompressor.
        Err(_) if kind == UnexpectedEof => {
            Error::format(path, "its compressed data end early", "it is truncated; copy or write it again")
        }
        Err(e) if matches!(kind, InvalidData | InvalidInput) => {
            let found = format!("its compressed data are corrupt ({e})");
            Error::format(path, found, "copy or write it again")
        }
        Err(e) => Error::io("cannot read", path, e),
    }
}
