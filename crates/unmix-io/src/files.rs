//! A handle to files that can be read repeatedly: their paths, options and stamps, by which a change of a file is detected.

use crate::describe::{Description, describe, missing};
use crate::paths::FolderFiles;
use crate::stored::{self, Once, Stored};
use crate::{CutImages, Input, Missing, Options, names, open_files, paths, triplets};
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use unmix::data::Rows;
use unmix::internal::error::counted;
use unmix::model::PictureRow;
use unmix::{AnyRows, Dtype, Error, ErrorDetails, Matrix, Real, Result, Run};

/// Files and how they are read, for callers that read their rows more than once. [`open`](Self::open) reads the files again, and refuses
/// those that have changed, and folders that have other files than before. Nothing is kept in memory, except a copy of what can be read only once:
/// the standard input, or a pipe.
///
/// ```
/// let path = std::env::temp_dir().join("unmix-io-files.csv");
/// std::fs::write(&path, "height;width\n1,5;2\n1,25;?\n")?;
/// let options = unmix_io::Options { decimal_comma: true, na: vec!["?".into()], ..Default::default() };
/// let files = unmix_io::Files::new(&[&path], options)?;
/// let run = unmix::Run::default();
/// let about = files.about(&run)?;
/// assert_eq!((about.n_rows, about.n_features), (2, 2));
/// assert_eq!(files.head(1, &run)?.as_slice(), [1.5, 2.0]);
/// assert_eq!(files.missing(&run)?, [0, 1]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A fit takes the rows that it opens, and reads them block by block; the codes of the same rows come from another call:
///
/// ```
/// let path = std::env::temp_dir().join("unmix-io-fit.csv");
/// std::fs::write(&path, "height,width\n1,2\n3,4\n5,7\n")?;
/// let files = unmix_io::Files::new(&[&path], unmix_io::Options::default())?;
/// let run = unmix::Run::default();
/// let model = unmix::fit("pca", &Default::default(), &mut files.open(&run)?.rows, &run)?;
/// assert_eq!(model.features().names, files.about(&run)?.names);
/// let input = files.open(&run)?;
/// let n_codes = unmix::with_rows!(&input.rows, rows => model.encode_to_vec(rows, &run)?.len());
/// assert_eq!(n_codes, 3 * model.n_components());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Files {
    files: Vec<(PathBuf, FileState)>,
    /// The folders that were given, with the files that were found in them.
    folders: Vec<FolderFiles>,
    options: Options,
}

/// What copies of a handle are compared with.
#[derive(Default, Serialize, Deserialize)]
struct Stamps {
    files: Vec<Stamp>,
    folders: Vec<FolderFiles>,
}

/// What is at the path of an input.
#[derive(Clone, Debug)]
enum FileState {
    File(Stamp),
    Once(Once),
}

impl FileState {
    fn at(path: &Path) -> Result<Self> {
        // A path at which nothing is found is an error, unless it is the standard input.
        if is_read_once(path) || !metadata(path)?.is_file() {
            return Ok(FileState::Once(Once::new(path)));
        }
        Ok(FileState::File(Stamp::of(path)?))
    }
}

/// Whether what is at a path can be read only once: the standard input (`-`), or a pipe.
pub fn is_read_once(path: &Path) -> bool {
    path == Path::new("-") || path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn metadata(path: &Path) -> Result<Metadata> {
    path.metadata().map_err(|e| Error::io("cannot read", path, e))
}

/// Shape, names and type of the rows of [`Files`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct About {
    /// Rows.
    pub n_rows: u64,
    /// Numbers in a row.
    pub n_features: usize,
    /// Names of the columns, where they have any.
    pub names: Option<Vec<String>>,
    /// The type that they are computed in.
    pub dtype: Dtype,
}

/// The numbers of the first `n` rows, row by row, or of all if there are fewer.
///
/// # Errors
///
/// Those of reading.
pub fn first_rows<T: Real>(rows: &Rows<'_, T>, n: usize) -> Result<Vec<T>> {
    /// Number of rows that are requested from a stream at a time.
    const PART: usize = 4096;
    let (mut stream, mut numbers, p) = (rows.source().stream()?, Vec::new(), rows.n_features());
    let goal = n.saturating_mul(p);
    while numbers.len() < goal && stream.read((n - numbers.len() / p).min(PART), &mut numbers)? > 0 {}
    numbers.truncate(goal);
    Ok(numbers)
}

/// Number of cells of each column that are not stored.
fn not_stored<T: Real>(rows: &Rows<'_, T>) -> Vec<u64> {
    let mut missing = vec![rows.n_rows().unwrap_or(0); rows.n_features()];
    if let Some(sparse) = rows.sparse() {
        for i in 0..sparse.n_rows() {
            sparse.row(i).0.iter().for_each(|&j| missing[j as usize] -= 1);
        }
    }
    missing
}

/// Metadata of a file from the system, by which a change of it is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    /// Numbers of the device and of the file on it: another file at the same path has others. 0 where the system has none.
    file: (u64, u64),
    /// The time of the last change of bytes or properties, in seconds and nanoseconds. Unlike the modification time no program can set it, so
    /// that a file of equal length is recognised although its modification time was restored.
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Result<Self> {
        let found = metadata(path)?;
        let (file, changed) = identity(&found);
        Ok(Self { len: found.len(), modified: found.modified().ok(), file, changed })
    }

    /// How a file with this stamp differs from one with the stamp `now`, in words.
    fn difference(&self, now: &Self) -> Option<String> {
        if self == now {
            return None;
        }
        Some(if self.len != now.len {
            format!("it had {} bytes when it was opened and has {} now", self.len, now.len)
        } else if self.file != now.file {
            "it was replaced by another file after it was opened".into()
        } else {
            "it was modified after it was opened".into()
        })
    }
}

/// The numbers of the device and of the file on it, and the time of the last change.
#[cfg(unix)]
fn identity(found: &Metadata) -> ((u64, u64), (i64, i64)) {
    use std::os::unix::fs::MetadataExt;
    ((found.dev(), found.ino()), (found.ctime(), found.ctime_nsec()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> ((u64, u64), (i64, i64)) {
    ((0, 0), (0, 0))
}

impl Files {
    /// The files given by `paths`, as for [`open_many`](crate::open_many). Only their lengths and times are read; the standard
    /// input (`-`) and pipes are copied when they are first read, into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// A file that is missing; a pattern that matches no file; no file at all; the standard input more than once.
    pub fn new(paths: &[impl AsRef<Path>], options: Options) -> Result<Self> {
        let named = |path: PathBuf| FileState::at(&path).map(|found| (path, found));
        let (paths, folders) = paths::expanded(paths, options.input_format)?;
        if paths.iter().filter(|path| path.as_path() == Path::new("-")).count() > 1 {
            let found = "it is given more than once (as '-'), and it can be read only once";
            return Err(Error::format("the standard input", found, "give it once"));
        }
        let files: Vec<_> = paths.into_iter().map(named).collect::<Result<_>>()?;
        if files.is_empty() {
            return Err(Error::format("the input", "no file was given", "give at least one"));
        }
        Ok(Self { files, folders, options })
    }

    /// The files, in the order of their rows.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// The options that the files are read with.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Whether each line is a cell of a matrix: [`Options::triplets`].
    pub fn lists_cells(&self) -> bool {
        self.options.triplets
    }

    /// Whether rows of the files may be left out: by [`Options::rows`] or [`Options::missing`].
    pub fn selects_rows(&self) -> bool {
        self.options.rows.is_some() || self.options.missing == Missing::Drop
    }

    /// Whether one of them can be read only once, so that no other process can read it: the standard input, or a pipe.
    pub fn read_once(&self) -> bool {
        self.files.iter().any(|(_, found)| matches!(found, FileState::Once(_)))
    }

    /// How pictures are read, if the files are pictures: [`Options::row_of_pictures`].
    pub fn row_of_pictures(&self) -> Option<PictureRow> {
        let pictures =
            self.paths().next().is_some_and(|path| paths::is_image(path, self.options.input_format));
        pictures.then(|| self.options.row_of_pictures())
    }

    /// [`Options::check_size`] of rows of these files, if they are pictures.
    ///
    /// # Errors
    ///
    /// Those of [`Options::check_size`].
    pub fn check_size(&self, rows: &AnyRows<'_>, n_features: usize, fitted: PictureRow) -> Result<()> {
        match self.row_of_pictures() {
            Some(_) => self.options.check_size(rows, n_features, fitted),
            None => Ok(()),
        }
    }

    /// [`Options::one_picture`] of these files.
    pub fn one_picture(&self) -> Error {
        self.options.one_picture()
    }

    /// Opens the files.
    ///
    /// # Errors
    ///
    /// Those of [`open_many`](crate::open_many); a file that has changed since [`new`](Self::new), or a folder to which files were added;
    /// [`Options::names`] that the columns cannot have.
    pub fn open(&self, run: &Run<'_>) -> Result<Input> {
        self.open_as(run, |_| {})
    }

    /// [`open`](Self::open) with other options for this call, such as the names of the columns of a model.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_as(&self, run: &Run<'_>, change: impl FnOnce(&mut Options)) -> Result<Input> {
        let mut options = self.options.clone();
        change(&mut options);
        let mut input = self.read_with(&options, run)?;
        if let Some(given) = options.names {
            input.rows = names::named_as(input.rows, given, options.wanted.as_deref())?;
        }
        Ok(input)
    }

    /// The files read with these options. Columns have the names under which the options chose them; names of the chosen columns alone are not
    /// given to them.
    pub(crate) fn read_with(&self, options: &Options, run: &Run<'_>) -> Result<Input> {
        self.check_unchanged()?;
        open_files(&self.owned_paths(), &|path, run| self.stored(path, run), options, run)
    }

    /// Row and column of every cell, in the order of the lines; values, if the list has them, are not returned.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open); lines that are not a list of cells.
    pub fn cells(&self, run: &Run<'_>) -> Result<Vec<(u64, u64)>> {
        self.check_unchanged()?;
        let paths = self.owned_paths();
        let lines = triplets::lines(&paths, &|path, run| self.stored(path, run), &self.options, run)?;
        Ok(unmix::with_rows!(&lines.rows, rows => rows.triplets()?.cells))
    }

    /// The pictures whose patches are the rows; `None` if no patches were cut.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open) and [`Input::cut_images`].
    pub fn cut_images(&self, run: &Run<'_>) -> Result<Option<CutImages>> {
        Ok(self.open(run)?.cut_images(&self.options)?.cloned())
    }

    fn owned_paths(&self) -> Vec<PathBuf> {
        self.paths().map(Path::to_path_buf).collect()
    }

    /// The bytes at one of the paths.
    fn stored(&self, path: &Path, run: &Run<'_>) -> Result<Stored> {
        match self.files.iter().find(|(own, _)| own == path) {
            Some((_, FileState::Once(once))) => once.open(run),
            _ => stored::open(path, run),
        }
    }

    /// Metadata of each file from the system, and the list of each folder, when the handle was made, as text, for a copy of the handle in another
    /// process; `None` if a file can be read only once.
    pub fn stamps(&self) -> Option<String> {
        let stamp = |found: &FileState| match found {
            FileState::File(stamp) => Some(*stamp),
            FileState::Once(_) => None,
        };
        let files: Vec<Stamp> = self.files.iter().map(|(_, found)| stamp(found)).collect::<Option<_>>()?;
        let folders = self.folders.iter().filter(|folder| folder.is_text()).cloned().collect();
        serde_json::to_string(&Stamps { files, folders }).ok()
    }

    /// The copy of a handle, made of its [`paths`](Self::paths), with its [`stamps`](Self::stamps): a file or a folder that has changed since the
    /// handle was made is refused. Numbers of devices are not compared, because another machine may have others for the same file.
    ///
    /// # Errors
    ///
    /// Text that is not that of the stamps of as many files.
    pub fn with_stamps(mut self, stamps: &str) -> Result<Self> {
        let stamps: Stamps = serde_json::from_str(stamps).unwrap_or_default();
        if stamps.files.len() != self.files.len() {
            let files = counted(self.files.len() as u64, "file");
            let found = format!("it has {files}, and stamps of {}", stamps.files.len());
            return Err(Error::format("the copy of a handle", found, "open the files again"));
        }
        for ((_, state), seen) in self.files.iter_mut().zip(stamps.files) {
            if let FileState::File(now) = state {
                *now = Stamp { file: (now.file.0, seen.file.1), ..seen };
            }
        }
        self.folders = stamps.folders;
        Ok(self)
    }

    /// Refuses files that have changed since [`new`](Self::new), as [`open`](Self::open) does: for callers that keep what they have read.
    /// While rows are read, a change of the file in place is an error of the read.
    ///
    /// # Errors
    ///
    /// A folder to which files were added that would be read with the others, or from which some were removed; a file that is missing; another
    /// length, modification time or, on Unix, another file or time of change.
    pub fn check_unchanged(&self) -> Result<()> {
        self.folders.iter().try_for_each(|folder| folder.check_unchanged(self.options.input_format))?;
        for (path, seen) in &self.files {
            let FileState::File(seen) = seen else { continue };
            let now = Stamp::of(path)?;
            if let Some(difference) = seen.difference(&now) {
                let sizes = |details: &mut ErrorDetails| {
                    (details.need, details.got) = (Some(seen.len), Some(now.len))
                };
                return Err(Error::format(path, difference, "open it again").with(sizes));
            }
        }
        Ok(())
    }

    /// Number of rows, names and types of the columns; reads as much as is needed for that.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn about(&self, run: &Run<'_>) -> Result<About> {
        let mut rows = self.open(run)?.rows;
        if rows.n_rows().is_none() {
            rows.prepare(run)?;
        }
        let (n_rows, n_features) = (rows.n_rows().unwrap_or(0), rows.n_features());
        Ok(About { n_rows, n_features, names: rows.features().names.clone(), dtype: rows.dtype() })
    }

    /// The first `n` rows, or all if there are fewer, in double precision; missing cells are NaN. Of most formats no more is read than is needed
    /// for them.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open); cells that are not numbers.
    pub fn head(&self, n: usize, run: &Run<'_>) -> Result<Matrix<f64>> {
        let rows = self.open(run)?.rows;
        let numbers = unmix::with_rows!(&rows, rows => {
            first_rows(rows, n)?.into_iter().map(|x| x.to_f64()).collect::<Vec<f64>>()
        });
        let p = rows.n_features();
        Ok(Matrix::from_vec(numbers.len() / p.max(1), p, numbers))
    }

    /// Description of the files, column by column, in one sweep.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn describe(&self, run: &Run<'_>) -> Result<Description> {
        describe(&self.open(run)?, run)
    }

    /// Number of missing cells of each column, in one sweep; of a list of cells, of those that are not listed.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn missing(&self, run: &Run<'_>) -> Result<Vec<u64>> {
        let input = self.open(run)?;
        if self.lists_cells() {
            return Ok(unmix::with_rows!(&input.rows, rows => not_stored(rows)));
        }
        missing(&input, run)
    }
}
