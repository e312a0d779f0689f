//! Files that appear whole or not at all.

use crate::error::{Error, Result};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file under way: a temporary sibling of `path`, which it replaces when [`finish`](NewFile::finish) has succeeded. Dropped
/// before, it leaves nothing behind and what was at `path` untouched.
pub struct NewFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// `path` is a folder or a device, its folder is missing or cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        let refused = |why: &str| Err(Error::io("cannot write", path, std::io::Error::other(why)));
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {
                return refused("it is a folder, not a file; give the output a file name");
            }
            // A rename would put an ordinary file in the place of /dev/null.
            Ok(meta) if !meta.is_file() => {
                return refused("it is not an ordinary file; give the output another name");
            }
            _ => {}
        }
        let folder = match path.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".unmix-").suffix(".part");
        #[cfg(unix)]
        {
            // As an ordinary new file: what the person's umask leaves of 0666.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).map_err(|e| Error::io("cannot write", path, plain(e)))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 20, file), path: path.to_path_buf() })
    }

    /// The name that it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| Error::io("cannot write", &self.path, e))
    }

    /// Writes `bytes` over the beginning; further bytes follow them.
    pub fn put_at_start(&mut self, bytes: &[u8]) -> Result<()> {
        let failed = |e| Error::io("cannot write", &self.path, e);
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        self.file.write_all(bytes).map_err(failed)
    }

    /// Syncs the file and gives it its name.
    pub fn finish(self) -> Result<()> {
        let path = self.path;
        let failed = |e| Error::io("cannot write", &path, e);
        let file = self.file.into_inner().map_err(|e| failed(e.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(|e| failed(e.error))?;
        Ok(())
    }
}

/// The system's reason alone: the library adds the name of the temporary file, which nobody asked about.
fn plain(e: std::io::Error) -> std::io::Error {
    let text = e.to_string();
    std::io::Error::new(e.kind(), text.split(" at path ").next().unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_when_it_is_whole_and_leaves_nothing_when_it_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.bin");
        let count = || std::fs::read_dir(dir.path()).unwrap().count();
        let mut file = NewFile::create(&path).unwrap();
        file.put(b"xxcd").unwrap();
        assert!(!path.exists() && count() == 1);
        file.put_at_start(b"ab").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abcd");
        let mut file = NewFile::create(&path).unwrap();
        file.put(b"never").unwrap();
        drop(file);
        assert_eq!((std::fs::read(&path).unwrap().as_slice(), count()), (&b"abcd"[..], 1));
    }

    #[test]
    fn what_cannot_be_a_file_is_refused_in_one_sentence() {
        let dir = tempfile::tempdir().unwrap();
        let message = |p: &Path| NewFile::create(p).err().unwrap().to_string();
        assert!(message(dir.path()).contains("it is a folder, not a file"));
        let missing = message(&dir.path().join("no/a.bin"));
        assert!(
            missing.contains("a.bin: No such file or directory (os error 2); check the name and the folder"),
            "{missing}"
        );
        #[cfg(unix)]
        assert!(message(Path::new("/dev/null")).contains("not an ordinary file"));
    }
}
