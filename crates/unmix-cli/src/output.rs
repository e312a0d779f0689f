//! Where output is written: to a file that appears complete or not at all, to standard output, or to a device.

mod table;

pub use table::TableFile;
pub(crate) use table::{Shape, TableWriter};

use crate::args::{Format, Writing};
use crate::failure::Failure;
use crate::interrupt::WritingGuard;
use crate::terminal;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use unmix::data::NewFile;
use unmix::{Error, Result};

/// Where output is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Destination {
    StandardOutput,
    File(PathBuf),
    /// Written in place: renaming a temporary file would replace the device.
    Device(PathBuf),
}

/// The destination for a path. `never` are the input files of the command, which are never replaced.
pub(crate) fn place(path: &Path, never: &[&Path]) -> Result<Destination, Failure> {
    if path.as_os_str() == "-" {
        return Ok(Destination::StandardOutput);
    }
    // The target of a symbolic link is replaced, not the link.
    let Ok(real) = std::fs::canonicalize(path) else { return Ok(Destination::File(path.into())) };
    if never.iter().any(|read| std::fs::canonicalize(read).is_ok_and(|r| r == real)) {
        let name = path.display();
        return Err(Failure::Message(format!(
            "writing to {name} is not possible: it is read by the same command; choose another name"
        )));
    }
    match std::fs::metadata(&real) {
        Ok(meta) if meta.is_file() && meta.permissions().readonly() => {
            let name = path.display();
            Err(Failure::Message(format!(
                "writing to {name} is not possible: it is read-only; make it writable, or choose another name"
            )))
        }
        Ok(meta) if !meta.is_file() && !meta.is_dir() => Ok(Destination::Device(real)),
        _ => Ok(Destination::File(real)),
    }
}

/// Refuses a name with the extension of another format for a file of comma-separated text.
pub(crate) fn check_csv(path: &Path) -> Result<(), Failure> {
    const OTHERS: [&str; 7] = ["npy", "npz", "tsv", "parquet", "json", "html", "safetensors"];
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match ending.filter(|ending| OTHERS.contains(&ending.as_str())) {
        None => Ok(()),
        Some(_) => Err(Failure::Usage(format!(
            "the table is written as comma-separated text, but {} is not named so; end the name in .csv",
            path.display()
        ))),
    }
}

/// Refuses a file that the same command writes twice, given the options and the files: the first content would be lost.
pub(crate) fn check_distinct(written: &[(&str, &Path)]) -> Result<(), Failure> {
    for (i, (option, path)) in written.iter().enumerate() {
        if let Some((other, _)) = written[..i].iter().find(|(_, other)| is_same_place(other, path)) {
            let name = path.display();
            return Err(Failure::Usage(format!(
                "{option} {name} is the file that {other} writes, which would be lost; choose another name for one of them"
            )));
        }
    }
    Ok(())
}

/// Whether both paths name the same file, which need not exist.
pub(crate) fn is_same_place(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let within = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
        path.canonicalize().ok().or_else(within)
    };
    match (place(a), place(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// Writes all of `bytes` to `place`.
pub(crate) fn write_whole(place: &Destination, bytes: &[u8]) -> Result<()> {
    let _guard = WritingGuard::new();
    let mut target = Target::create(place)?;
    target.put(bytes)?;
    target.finish()
}

/// The output of a command that writes rows: destination and format.
pub(crate) struct Output {
    pub(crate) place: Destination,
    pub(crate) format: Format,
}

impl Output {
    /// For a command that writes its files itself.
    pub(crate) fn none() -> Self {
        Self { place: Destination::StandardOutput, format: Format::Csv }
    }

    /// From the command line.
    pub(crate) fn new(writing: &Writing, never: &[&Path]) -> Result<Self, Failure> {
        Self::at(writing.output.as_deref().unwrap_or(Path::new("-")), writing.format, never)
    }

    /// At `path`, in this format or that of its extension.
    pub(crate) fn at(path: &Path, format: Option<Format>, never: &[&Path]) -> Result<Self, Failure> {
        let place = place(path, never)?;
        let format = match (format, &place) {
            (Some(format), _) => format,
            (None, Destination::File(_)) => by_ending(path).ok_or_else(|| unknown_ending(path))?,
            (None, _) => Format::Csv,
        };
        let binary = match format {
            Format::Npy => Some("npy"),
            Format::Npz => Some("npz"),
            Format::Csv | Format::Tsv => None,
        };
        if let Some(ending) =
            binary.filter(|_| place == Destination::StandardOutput && terminal::is_terminal())
        {
            return Err(Failure::Usage(format!(
                "an array cannot be shown in a terminal; add -o NAME.{ending}, or leave --format {ending} out"
            )));
        }
        Ok(Self { place, format })
    }
}

/// The format for the extension of a file name.
fn by_ending(path: &Path) -> Option<Format> {
    match path.extension()?.to_string_lossy().to_lowercase().as_str() {
        "npy" => Some(Format::Npy),
        "npz" => Some(Format::Npz),
        "csv" => Some(Format::Csv),
        "tsv" => Some(Format::Tsv),
        _ => None,
    }
}

fn unknown_ending(path: &Path) -> Failure {
    let (ending, name) = (path.extension().map(|e| e.to_string_lossy().to_lowercase()), path.display());
    Failure::Usage(match ending.as_deref() {
        Some("wav" | "wave") => {
            let folder = terminal::path_argument(&path.with_extension(""));
            format!("each source or channel is written to its own file: give a folder, as in -o {folder}/")
        }
        Some("png" | "jpg" | "jpeg" | "bmp" | "tif" | "tiff" | "gif" | "webp") => format!(
            "{name} would be a picture, and only 'unmix reconstruct' of pictures writes them, as .png files; end it in .npy, .npz, .csv or .tsv \
             for the numbers"
        ),
        _ => format!(
            "the format of {name} is not clear from its extension; end it in .npy, .npz, .csv or .tsv, or add --format"
        ),
    })
}

/// The open destination of bytes.
enum Target {
    StandardOutput,
    Device(File, PathBuf),
    File(NewFile),
}

impl Target {
    fn create(place: &Destination) -> Result<Self> {
        Ok(match place {
            Destination::StandardOutput => Target::StandardOutput,
            Destination::File(path) => Target::File(NewFile::create(path)?),
            Destination::Device(path) => {
                let file = File::options().write(true).open(path);
                Target::Device(file.map_err(|e| Error::io("cannot write", path, e))?, path.clone())
            }
        })
    }

    fn name(&self) -> &Path {
        match self {
            Target::StandardOutput => Path::new(terminal::STANDARD_OUTPUT),
            Target::Device(_, path) => path,
            Target::File(file) => file.path(),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match self {
            Target::File(file) => return file.put(bytes),
            Target::StandardOutput => std::io::stdout().lock().write_all(bytes),
            Target::Device(file, _) => file.write_all(bytes),
        };
        written.map_err(|e| Error::io("cannot write", self.name(), e))
    }

    fn finish(mut self) -> Result<()> {
        let flushed = match self {
            Target::File(file) => return file.finish(),
            Target::StandardOutput => std::io::stdout().lock().flush(),
            Target::Device(ref mut file, _) => file.flush(),
        };
        flushed.map_err(|e| Error::io("cannot write", self.name(), e))
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.put(bytes).map_err(std::io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Creates a folder for `what`, such as "a demo"; a folder with other files in it is refused: `mark` is the file that identifies a
/// folder of this program.
pub(crate) fn own_folder(folder: &Path, mark: &str, what: &str) -> Result<(), Failure> {
    let failed = |what, e| Failure::from(Error::io(what, folder, e));
    let empty = match std::fs::read_dir(folder) {
        Ok(mut files) => files.next().is_none(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return std::fs::create_dir_all(folder).map_err(|e| failed("cannot create the folder", e));
        }
        Err(e) => return Err(failed("cannot write into", e)),
    };
    if empty || folder.join(mark).is_file() {
        return Ok(());
    }
    let name = folder.display();
    Err(Failure::Message(format!(
        "{what} in {name} is not possible: the folder holds other files; choose another with -o DIR"
    )))
}
