//! Expands paths: patterns and folders of images become lists of files.

use crate::format::Kind;
use std::path::{Path, PathBuf};
use unmix::{Error, Result};

/// The files given by `paths`, in the order given; those of a pattern or of a folder of images by name.
///
/// # Errors
///
/// A pattern that matches no file, a folder without images. Missing files are reported by [`open`](crate::open).
pub fn expand(paths: &[impl AsRef<Path>]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        match (path.to_str(), path.metadata()) {
            (_, Ok(found)) if found.is_dir() => files.extend(images(path)?),
            (Some(pattern), Err(_)) if pattern.contains(['*', '?', '[']) => {
                files.extend(matching(path, pattern)?)
            }
            _ => files.push(path.to_path_buf()),
        }
    }
    Ok(files)
}

/// The files that match a pattern. The shell does this already, unless the pattern is in quotes.
fn matching(path: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let wrong = |e: glob::PatternError| {
        Error::format(path, format!("it is not a valid pattern ({})", e.msg), "correct it")
    };
    let found = glob::glob(pattern).map_err(wrong)?;
    let mut files = Vec::new();
    for file in found {
        let file = file.map_err(|e| Error::io("cannot read", e.path().to_path_buf(), e.into()))?;
        if file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(Error::format(path, "no file matches this pattern", "check the pattern and its folder"));
    }
    files.sort();
    Ok(files)
}

/// Whether a file is an image by the ending of its name.
pub fn is_image(path: &Path) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    Kind::by_ending(&name) == Some(Kind::Image)
}

/// The images in a folder; not those in folders within.
fn images(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |e| Error::io("cannot read", folder, e);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if is_image(&file) && !hidden {
            files.push(file);
        }
    }
    if files.is_empty() {
        let remedy = "give a file in it, or a folder of .png, .jpg, .bmp, .pgm, .ppm or .tiff files";
        return Err(Error::format(folder, "it is a folder, and there are no images in it", remedy));
    }
    files.sort();
    Ok(files)
}
