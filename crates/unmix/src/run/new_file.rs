//! Atomic file replacement: a file appears complete or not at all.

use crate::error::{Error, Result};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that is being written: a temporary sibling of `path`, which it replaces when [`finish`](NewFile::finish) has succeeded.
/// If it is dropped before, it is removed and the file at `path` is unchanged. If `path` is a symbolic link,
/// the target is replaced and the link stays; the permissions of the replaced file are kept.
pub struct NewFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
    /// The file that is replaced: `path`, or the target of the symbolic link there.
    target: PathBuf,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// `path` is a folder, a device or read-only, its folder is missing or cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        let refused = |why: &str| Err(Error::io("cannot write", path, std::io::Error::other(why)));
        let found = std::fs::metadata(path);
        match &found {
            Ok(meta) if meta.is_dir() => {
                return refused("it is a folder, not a file; give the output a file name");
            }
            // A rename would put an ordinary file in place of /dev/null.
            Ok(meta) if !meta.is_file() => {
                return refused("it is not an ordinary file; give the output another name");
            }
            Ok(meta) if meta.permissions().readonly() => {
                return refused("it is read-only; make it writable, or give the output another name");
            }
            _ => {}
        }
        let target = behind_links(path);
        let folder = match target.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".unmix-").suffix(".part");
        #[cfg(unix)]
        {
            // As an ordinary new file: 0666 restricted by the umask.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).map_err(|e| Error::io("cannot write", path, plain(e)))?;
        if let Ok(meta) = found {
            let kept = file.as_file().set_permissions(meta.permissions());
            kept.map_err(|e| Error::io("cannot write", path, e))?;
        }
        Ok(Self { file: BufWriter::with_capacity(1 << 20, file), path: path.to_path_buf(), target })
    }

    /// The path that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the system refuses the write, as where the disk is full.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| Error::io("cannot write", &self.path, e))
    }

    /// Writes `bytes` over the beginning; further bytes follow them.
    ///
    /// # Errors
    ///
    /// As for [`put`](Self::put).
    pub fn overwrite_start(&mut self, bytes: &[u8]) -> Result<()> {
        let failed = |e| Error::io("cannot write", &self.path, e);
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        self.file.write_all(bytes).map_err(failed)
    }

    /// Syncs the file and gives it its name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the system refuses to write, sync or rename the file: a file that was there before is unchanged.
    pub fn finish(self) -> Result<()> {
        let (path, target) = (self.path, self.target);
        let failed = |e| Error::io("cannot write", &path, e);
        let file = self.file.into_inner().map_err(|e| failed(e.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&target).map_err(|e| failed(e.error))?;
        Ok(())
    }
}

/// The path to which `path` leads after symbolic links have been followed, whether it exists or not.
fn behind_links(path: &Path) -> PathBuf {
    // As many as the system follows.
    const MOST_LINKS: usize = 40;
    let mut at = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&at) {
            Ok(to) => at = at.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => break,
        }
    }
    at
}

/// The system's reason alone: the library adds the name of the temporary file, which is of no use to the user.
fn plain(e: std::io::Error) -> std::io::Error {
    let text = e.to_string();
    std::io::Error::new(e.kind(), text.split(" at path ").next().unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_when_it_is_complete_and_leaves_nothing_otherwise() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.bin");
        let count = || std::fs::read_dir(dir.path()).unwrap().count();
        let mut file = NewFile::create(&path).unwrap();
        file.put(b"xxcd").unwrap();
        assert!(!path.exists() && count() == 1);
        file.overwrite_start(b"ab").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abcd");
        let mut file = NewFile::create(&path).unwrap();
        file.put(b"never").unwrap();
        drop(file);
        assert_eq!((std::fs::read(&path).unwrap().as_slice(), count()), (&b"abcd"[..], 1));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_permissions_kept_and_read_only_files_not_replaced() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("there")).unwrap();
        let (real, link, new) =
            (dir.path().join("there/a.bin"), dir.path().join("link"), dir.path().join("new"));
        std::fs::write(&real, b"old").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink("there/a.bin", &link).unwrap();
        symlink("there/b.bin", &new).unwrap();
        for (path, target) in [(&link, "there/a.bin"), (&new, "there/b.bin")] {
            let mut file = NewFile::create(path).unwrap();
            file.put(b"made").unwrap();
            file.finish().unwrap();
            assert!(std::fs::symlink_metadata(path).unwrap().is_symlink());
            assert_eq!(std::fs::read(dir.path().join(target)).unwrap(), b"made");
        }
        assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o444)).unwrap();
        let refused = NewFile::create(&link).err().unwrap().to_string();
        assert!(refused.contains("it is read-only; make it writable"), "{refused}");
    }

    #[test]
    fn paths_that_cannot_be_files_are_refused_in_one_sentence() {
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
