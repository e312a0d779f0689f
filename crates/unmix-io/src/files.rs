//! A handle to files that can be read repeatedly: their paths, options, lengths and modification times.

use crate::describe::{Description, describe};
use crate::{Input, Options, open_many, paths};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use unmix::data::Rows;
use unmix::{Dtype, Error, ErrorDetails, Matrix, Real, Result, Run};

/// Files and how they are read, for callers that read their rows more than once. Nothing is kept in memory: [`open`](Self::open) reads the files again, and refuses those that have changed.
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
/// assert_eq!(files.describe(&run)?.columns[1].missing, 1);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Files {
    files: Vec<(PathBuf, Stamp)>,
    options: Options,
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

/// Length and modification time, by which a change of a file is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(path: &Path) -> Result<Self> {
        let found = path.metadata().map_err(|e| Error::io("cannot read", path.to_path_buf(), e))?;
        if !found.is_file() {
            let remedy = "save its content to a file, or read it into memory first";
            return Err(Error::format(
                path,
                "it is not a regular file, so it cannot be read more than once",
                remedy,
            ));
        }
        Ok(Self { len: found.len(), modified: found.modified().ok() })
    }
}

impl Files {
    /// The files given by `paths`, as for [`open_many`]. Only their lengths and modification times are read.
    ///
    /// # Errors
    ///
    /// A file that is missing or cannot be read again, such as a pipe; a pattern that matches no file; no
    /// file at all.
    pub fn new(paths: &[impl AsRef<Path>], options: Options) -> Result<Self> {
        let named = |path: PathBuf| Stamp::of(&path).map(|stamp| (path, stamp));
        let files: Vec<_> = paths::expand(paths)?.into_iter().map(named).collect::<Result<_>>()?;
        if files.is_empty() {
            return Err(Error::format("the input", "no file was given", "give at least one"));
        }
        Ok(Self { files, options })
    }

    /// The files, in the order of their rows.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// What a row is, in words, if the files are pictures: [`Options::row_of_pictures`].
    pub fn row_of_pictures(&self) -> Option<String> {
        self.paths().next().filter(|path| paths::is_image(path)).map(|_| self.options.row_of_pictures())
    }

    /// Opens the files.
    ///
    /// # Errors
    ///
    /// Those of [`open_many`]; a file that has changed since [`new`](Self::new).
    pub fn open(&self, run: &Run<'_>) -> Result<Input> {
        self.open_as(run, |_| {})
    }

    /// [`open`](Self::open) with other options for this call, such as the names of the columns of a model.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_as(&self, run: &Run<'_>, change: impl FnOnce(&mut Options)) -> Result<Input> {
        for (path, seen) in &self.files {
            let now = Stamp::of(path)?;
            if now != *seen {
                let found = match now.len == seen.len {
                    true => "it was modified after it was opened".into(),
                    false => format!("it had {} bytes when it was opened and has {} now", seen.len, now.len),
                };
                let sizes = |details: &mut ErrorDetails| {
                    (details.need, details.got) = (Some(seen.len), Some(now.len))
                };
                return Err(Error::format(path, found, "open it again").with(sizes));
            }
        }
        let mut options = self.options.clone();
        change(&mut options);
        let paths: Vec<&Path> = self.paths().collect();
        open_many(&paths, &options, run)
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
}
