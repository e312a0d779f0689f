//! Expands paths: patterns and folders become lists of files.

use crate::format::{InputFormat, Kind};
use crate::wording::path_argument;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use unmix::internal::error::counted;
use unmix::{Error, Result};

/// The files given by `paths`, in the order given; those of a pattern or of a folder by name. A folder means the images in it, or where there
/// are none its tables, which must be of one format; where all files are read as `format`, all of them except hidden ones.
///
/// # Errors
///
/// A pattern that matches no file, a folder without images or tables, or with tables of several formats. Missing files are reported by [`open`](crate::open).
pub fn expand(paths: &[impl AsRef<Path>], format: Option<InputFormat>) -> Result<Vec<PathBuf>> {
    Ok(expanded(paths, format)?.0)
}

/// [`expand`], and the folders among the paths, with the files that were found in each.
pub(crate) fn expanded(
    paths: &[impl AsRef<Path>],
    format: Option<InputFormat>,
) -> Result<(Vec<PathBuf>, Vec<FolderFiles>)> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for path in paths.iter().map(AsRef::as_ref) {
        match (path.to_str(), path.metadata()) {
            (_, Ok(found)) if found.is_dir() => {
                let folder = FolderFiles::of(path, format)?;
                files.extend(folder.files.iter().cloned());
                folders.push(folder);
            }
            (Some(pattern), Err(_)) if pattern.contains(['*', '?', '[']) => {
                files.extend(matching(path, pattern)?)
            }
            _ => files.push(path.to_path_buf()),
        }
    }
    Ok((files, folders))
}

/// The note that a file is given more than once, so that what it holds (`what`, as in "rows") is read more than once; none where no file is.
pub(crate) fn note_on_repeated(files: &[PathBuf], what: &str) -> Option<String> {
    // Where names differ, files are taken to differ: the system is asked only about those of one name.
    let mut names: HashMap<Option<&OsStr>, usize> = HashMap::new();
    files.iter().for_each(|file| *names.entry(file.file_name()).or_default() += 1);
    let alike = files.iter().enumerate().filter(|(_, file)| names[&file.file_name()] > 1);
    let mut found: HashMap<PathBuf, (usize, usize)> = HashMap::new();
    for (i, file) in alike {
        if let Ok(place) = file.canonicalize() {
            found.entry(place).or_insert((i, 0)).1 += 1;
        }
    }
    let mut repeated: Vec<(usize, usize)> = found.into_values().filter(|(_, times)| *times > 1).collect();
    repeated.sort_unstable();
    let (&(first, times), others) = repeated.split_first()?;
    let times = if times == 2 { "twice".into() } else { format!("{times} times") };
    let note = format!(
        "{}: the file is given {times}, so that its {what} are read {times}; give it once",
        files[first].display()
    );
    Some(match others.len() as u64 {
        0 => note,
        more => format!("{note}, and so for {}", counted(more, "more file")),
    })
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

/// A folder, and the files in it that are read as one table, sorted by name; not those in folders within.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FolderFiles {
    folder: PathBuf,
    /// The extension of its tables; `None` if its images are read.
    ending: Option<String>,
    files: Vec<PathBuf>,
}

impl FolderFiles {
    /// The images in a folder, or if there are none its other files of a known format, which must be of one format, unless it is given.
    fn of(folder: &Path, format: Option<InputFormat>) -> Result<Self> {
        let (images, others) = listed(folder, format)?;
        let read = |ending: Option<String>, files: Vec<PathBuf>| Self {
            folder: folder.to_path_buf(),
            ending,
            files,
        };
        let mut formats: Vec<String> = others.iter().map(|(format, _)| format.clone()).collect();
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
            (true, [ending]) => {
                Ok(read(Some(ending.clone()), others.into_iter().map(|(_, file)| file).collect()))
            }
            (false, _) => Ok(read(None, images)),
        }
    }

    /// Whether names of files can be written as text.
    pub(crate) fn is_text(&self) -> bool {
        self.files.iter().chain([&self.folder]).all(|path| path.to_str().is_some())
    }

    /// Refuses a folder to which files were added that would be read with the others, or from which some were removed. Files of other formats do
    /// not matter: results may be written next to the data.
    ///
    /// # Errors
    ///
    /// Such a folder, or one that cannot be read.
    pub(crate) fn check_unchanged(&self, format: Option<InputFormat>) -> Result<()> {
        let (images, others) = listed(&self.folder, format)?;
        let now: Vec<PathBuf> = match &self.ending {
            None => images,
            Some(own) => {
                others.into_iter().filter(|(ending, _)| ending == own).map(|(_, file)| file).collect()
            }
        };
        let lost = missing_from(&self.files, &now);
        let (changed, what) = match lost.is_empty() {
            false => (lost, "removed from"),
            true => (missing_from(&now, &self.files), "added to"),
        };
        let Some(first) = changed.first() else { return Ok(()) };
        let name = first.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let more: String = match changed.len() as u64 - 1 {
            0 => " was".into(),
            more => format!(" and {} were", counted(more, "more file")),
        };
        let found = format!("'{name}'{more} {what} the folder after it was opened");
        Err(Error::format(&self.folder, found, "open it again").with(|details| {
            (details.need, details.got) = (Some(self.files.len() as u64), Some(now.len() as u64));
            details.other = Some(first.to_path_buf());
        }))
    }
}

/// Those of `files` that are not among `others`.
fn missing_from<'a>(files: &'a [PathBuf], others: &[PathBuf]) -> Vec<&'a Path> {
    let others: HashSet<&Path> = others.iter().map(PathBuf::as_path).collect();
    files.iter().map(PathBuf::as_path).filter(|file| !others.contains(file)).collect()
}

/// The extensions of files and the files.
type WithEndings = Vec<(String, PathBuf)>;

/// The images in a folder, sorted by name, and the other files of a known format with their extensions, sorted by extension, then by name. Hidden
/// files, and those in folders within, are left out.
fn listed(folder: &Path, format: Option<InputFormat>) -> Result<(Vec<PathBuf>, WithEndings)> {
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
    images.sort();
    others.sort();
    Ok((images, others))
}

/// The extension of a file name, which names its format.
fn ending(name: &str) -> String {
    name.rsplit_once('.').map_or_else(|| "-ubyte".into(), |(_, ending)| format!(".{ending}"))
}
