//! Expands paths: patterns and folders become lists of files.

use crate::format::{InputFormat, Kind};
use crate::wording::path_argument;
use std::path::{Path, PathBuf};
use unmix::{Error, Result};

/// The files given by `paths`, in the order given; those of a pattern or of a folder by name. A folder means the images in it, or where there
/// are none its tables, which must be of one format; where all files are read as `format`, all of them except hidden ones.
///
/// # Errors
///
/// A pattern that matches no file, a folder without images or tables, or with tables of several formats. Missing files are reported by [`open`](crate::open).
pub fn expand(paths: &[impl AsRef<Path>], format: Option<InputFormat>) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        match (path.to_str(), path.metadata()) {
            (_, Ok(found)) if found.is_dir() => files.extend(members(path, format)?),
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

/// Whether a file is read as an image: by `format` where it is given, else by the extension of its name.
pub fn is_image(path: &Path, format: Option<InputFormat>) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    format.map(|format| format.kind).or_else(|| Kind::by_ending(&name)) == Some(Kind::Image)
}

/// The files in a folder that are read as one table: its images, or if there are none its other files of a known format, which must be of one
/// format, unless it is given. Sorted by name; not those in folders within.
fn members(folder: &Path, format: Option<InputFormat>) -> Result<Vec<PathBuf>> {
    let failed = |e| Error::io("cannot read", folder, e);
    let (mut images, mut others) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        if name.starts_with('.') || file.is_dir() {
            continue;
        }
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        let (kind, ending) = match format {
            Some(format) => (Some(format.kind), format.name().to_string()),
            None => (Kind::by_ending(plain), ending(plain)),
        };
        match kind {
            Some(Kind::Image) => images.push(file),
            Some(_) => others.push((ending, file)),
            None => {}
        }
    }
    others.sort();
    let mut formats: Vec<&str> = others.iter().map(|(format, _)| format.as_str()).collect();
    formats.dedup();
    match (images.is_empty(), formats.as_slice()) {
        (true, []) => {
            let remedy = "give a file in it, or a folder of images or of tables of one format";
            Err(Error::format(folder, "it is a folder, and there are no images or tables in it", remedy))
        }
        (true, [first, _, ..]) => {
            let found = format!("it is a folder with files of several formats ({})", formats.join(", "));
            let pattern = folder.join(format!("*{first}*"));
            Err(Error::format(folder, found, format!("choose one, as in '{}'", path_argument(&pattern))))
        }
        (true, [_]) => Ok(others.into_iter().map(|(_, file)| file).collect()),
        (false, _) => {
            images.sort();
            Ok(images)
        }
    }
}

/// The extension of a file name, which names its format.
fn ending(name: &str) -> String {
    name.rsplit_once('.').map_or_else(|| "-ubyte".into(), |(_, ending)| format!(".{ending}"))
}
