//! Detection of the format: by the extension, or by the first bytes if the extension is unknown, unless the caller names it. What begins as
//! text is a table where the extension is unknown.

use crate::stored::{FromStart, Stored, head};
use crate::{Options, foreign, gz, idx, npy, safetensors, wav};
use std::path::Path;
use unmix::data::Bytes;
use unmix::{Error, Result, Run};

/// The common file name extensions that are recognised, as messages list them; each also with `.gz` appended.
pub const ENDINGS: &[&str] = &[
    ".npy",
    ".npz",
    ".csv",
    ".tsv",
    ".txt",
    ".dat",
    ".idx",
    "-ubyte",
    ".parquet",
    ".arrow",
    ".feather",
    ".safetensors",
    ".wav",
    ".png",
    ".jpg",
    ".bmp",
    ".pnm",
    ".tiff",
];

/// A format, whether compressed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An array of numpy.
    Npy,
    /// Several arrays of numpy in a zip archive.
    Npz,
    /// Tensors after a header in JSON.
    Safetensors,
    /// A table, column by column.
    Parquet,
    /// A table in Arrow's own format.
    Arrow,
    /// Sound.
    Wav,
    /// An image in one of several formats.
    Image,
    /// The format of the MNIST files.
    Idx,
    /// Text, with the delimiter that the file name extension suggests.
    Text(u8),
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Npy => "npy",
            Kind::Npz => "npz",
            Kind::Safetensors => "safetensors",
            Kind::Parquet => "parquet",
            Kind::Arrow => "arrow",
            Kind::Wav => "wav",
            Kind::Image => "image",
            Kind::Idx => "idx",
            Kind::Text(b'\t') => "tsv",
            Kind::Text(_) => "csv",
        }
    }

    /// Whether its numbers have axes.
    pub(crate) fn is_array(self) -> bool {
        matches!(self, Kind::Npy | Kind::Npz | Kind::Safetensors | Kind::Idx)
    }

    /// Whether it may hold several arrays, each with a name.
    pub(crate) fn has_keys(self) -> bool {
        matches!(self, Kind::Npz | Kind::Safetensors)
    }

    /// `name` is in lower case and without `.gz`.
    pub(crate) fn by_ending(name: &str) -> Option<Kind> {
        let ending = name.rsplit_once('.').map_or("", |(_, e)| e);
        match EXTENSIONS.iter().find(|(extension, _)| *extension == ending) {
            Some((_, kind)) => Some(*kind),
            None => name.ends_with("ubyte").then_some(Kind::Idx),
        }
    }

    /// Whether `head`, the first bytes of a file, may be those of this kind. Text and images may begin in many ways; their readers refuse
    /// what they cannot read.
    fn may_begin(self, head: &[u8]) -> bool {
        match self {
            Kind::Npy => head.starts_with(npy::SIGNATURE),
            // An empty archive, or one of several parts, has another record first.
            Kind::Npz => head.starts_with(b"PK"),
            // The length of the header may be wrong, which the reader reports.
            Kind::Safetensors => head.get(8) == Some(&b'{'),
            Kind::Parquet => head.starts_with(PARQUET),
            // The reader reports that the first version of Feather is obsolete.
            Kind::Arrow => begins_as_arrow(head) || head.starts_with(FEATHER_1),
            Kind::Wav => wav::begins(head),
            Kind::Idx => head.starts_with(&[0, 0]),
            Kind::Image | Kind::Text(_) => true,
        }
    }

    /// [`Kind::may_begin`], more strictly for text and images.
    fn begins(self, head: &[u8]) -> bool {
        match self {
            Kind::Text(_) => is_text(head),
            Kind::Image => begins_as_image(head),
            _ => self.may_begin(head),
        }
    }
}

/// The extensions that are recognised, without their dot, and the kind of each.
const EXTENSIONS: &[(&str, Kind)] = &[
    ("npy", Kind::Npy),
    ("npz", Kind::Npz),
    ("csv", Kind::Text(b',')),
    ("tsv", Kind::Text(b'\t')),
    ("txt", Kind::Text(b',')),
    ("dat", Kind::Text(b',')),
    ("asc", Kind::Text(b',')),
    ("idx", Kind::Idx),
    ("parquet", Kind::Parquet),
    ("arrow", Kind::Arrow),
    ("arrows", Kind::Arrow),
    ("feather", Kind::Arrow),
    ("ipc", Kind::Arrow),
    ("safetensors", Kind::Safetensors),
    ("wav", Kind::Wav),
    ("wave", Kind::Wav),
    ("png", Kind::Image),
    ("jpg", Kind::Image),
    ("jpeg", Kind::Image),
    ("bmp", Kind::Image),
    ("pnm", Kind::Image),
    ("pbm", Kind::Image),
    ("pgm", Kind::Image),
    ("ppm", Kind::Image),
    ("tif", Kind::Image),
    ("tiff", Kind::Image),
];

/// A format of files, named by a file name extension: [`Options::input_format`](crate::Options::input_format).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputFormat {
    name: &'static str,
    pub(crate) kind: Kind,
}

impl InputFormat {
    /// All formats, each once for every extension that it has.
    pub fn all() -> impl Iterator<Item = Self> {
        EXTENSIONS.iter().map(|&(name, kind)| Self { name, kind })
    }

    /// The extension, without its dot, as in "csv".
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The format that files of this kind have.
    fn of(kind: Kind) -> Option<Self> {
        Self::all().find(|format| format.kind == kind)
    }

    /// The format with this extension; with or without the dot, in upper or lower case, and also with `.gz`, which has no effect: whether a
    /// file is compressed is known from its first bytes.
    pub(crate) fn named(extension: &str) -> Result<Self> {
        let name = extension.to_lowercase();
        let name = name.strip_prefix('.').unwrap_or(&name);
        let name = name.strip_suffix(".gz").unwrap_or(name);
        Self::all()
            .find(|format| format.name == name)
            .ok_or_else(|| Error::unknown("input format", extension, Self::all().map(Self::name)))
    }
}

/// A format, and whether it is compressed.
pub(crate) struct Recognised {
    pub(crate) kind: Kind,
    pub(crate) gz: bool,
}

/// The format of a file: the one that `options` name, or that which is detected.
pub(crate) fn recognise(stored: &Stored, options: &Options) -> Result<Recognised> {
    let bytes = &stored.bytes;
    if let Some(format) = options.input_format {
        return requested(bytes, format, options);
    }
    let name = bytes.path().file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let plain = name.strip_suffix(".gz");
    let named = Kind::by_ending(plain.unwrap_or(&name)).filter(|_| !stored.nameless);
    if let Some(kind) = named.filter(|_| !options.by_contents) {
        return Ok(Recognised { kind, gz: plain.is_some() });
    }
    let (head, gz) = first_bytes(bytes)?;
    let known = named.filter(|kind| kind.begins(&head)).or_else(|| by_magic(&head));
    if let (None, Some(error)) = (known, foreign::refused(bytes.path(), &head)) {
        return Err(error);
    }
    let kind = known.or_else(|| detected(&head)).or(named);
    kind.map(|kind| Recognised { kind, gz }).ok_or_else(|| {
        let found = match stored.nameless {
            true => "it is neither text nor a known binary format",
            false => "its extension is unknown, and its content is neither text nor a known binary format",
        };
        unknown(bytes, found, options)
    })
}

/// The content of a file that begins as text, decompressed, whatever its name is; `None` for other files. For small files, as those with
/// labels or names.
///
/// # Errors
///
/// [`Error::Io`] where the file cannot be read; [`Error::Format`] where it is empty, or its compressed data are corrupt.
pub fn text(path: &Path) -> Result<Option<Vec<u8>>> {
    let bytes = crate::stored::open(path, &Run::default())?.bytes;
    let (start, gz) = first_bytes(&bytes)?;
    if !is_text(&start) {
        return Ok(None);
    }
    match gz {
        true => head(gz::decoder(&bytes)?, u64::MAX, path),
        false => head(FromStart::new(&bytes), u64::MAX, path),
    }
    .map(Some)
}

/// The requested format. A file that does not begin as files of this format do is refused here: many readers would find it corrupt.
fn requested(bytes: &Bytes<'static>, format: InputFormat, options: &Options) -> Result<Recognised> {
    let (head, gz) = first_bytes(bytes)?;
    let kind = format.kind;
    if kind.may_begin(&head) {
        return Ok(Recognised { kind, gz });
    }
    let found = format!("its first bytes are not those of a file of type {}", kind.name());
    let other = detected(&head).and_then(InputFormat::of);
    let (found, remedy) = match other {
        Some(other) => {
            let what = match other.kind {
                Kind::Text(_) => "text".into(),
                kind => format!("those of type {}", kind.name()),
            };
            let remedy = format!("give {}", options.wording.plain("input_format", other.name, true));
            (format!("{found}, but {what}"), remedy)
        }
        None => (found, options.other_format()),
    };
    Err(Error::format(bytes.path(), found, remedy))
}

/// The kind of file that begins with `head`.
fn detected(head: &[u8]) -> Option<Kind> {
    by_magic(head).or(is_text(head).then_some(Kind::Text(b',')))
}

/// Enough to recognise a file by, decompressed, and whether it had to be.
fn first_bytes(bytes: &Bytes<'static>) -> Result<(Vec<u8>, bool)> {
    let start = head(FromStart::new(bytes), 512, bytes.path())?;
    if !start.starts_with(&gz::MAGIC) {
        return Ok((start, false));
    }
    Ok((head(gz::decoder(bytes)?, 512, bytes.path())?, true))
}

fn by_magic(head: &[u8]) -> Option<Kind> {
    match head {
        _ if head.starts_with(npy::SIGNATURE) => Some(Kind::Npy),
        _ if head.starts_with(b"PK\x03\x04") => Some(Kind::Npz),
        _ if head.starts_with(PARQUET) => Some(Kind::Parquet),
        _ if begins_as_arrow(head) => Some(Kind::Arrow),
        _ if wav::begins(head) => Some(Kind::Wav),
        _ if begins_as_image(head) => Some(Kind::Image),
        _ if safetensors::begins(head) => Some(Kind::Safetensors),
        _ if idx::begins(head) => Some(Kind::Idx),
        _ => None,
    }
}

/// Whether a file begins as text does: without zero bytes, and either in UTF-8 or, in other encodings, without control characters except
/// white space.
pub(crate) fn is_text(head: &[u8]) -> bool {
    // The head may end within a character.
    let utf8 = std::str::from_utf8(head).err().is_none_or(|e| e.error_len().is_none());
    let control = |b: &u8| b.is_ascii_control() && !b.is_ascii_whitespace();
    !head.contains(&0) && (utf8 || !head.iter().any(control))
}

fn unknown(bytes: &Bytes<'_>, found: &str, options: &Options) -> Error {
    let remedy = format!(
        "name its format with {}, or convert it to one of the formats that can be read, such as .csv, .npy or .parquet; known extensions \
         are {}, each also with .gz",
        options.wording.name("input_format"),
        ENDINGS.join(", ")
    );
    Error::format(bytes.path(), found, remedy)
}

/// How Parquet files begin and end.
pub(crate) const PARQUET: &[u8] = b"PAR1";

/// How files of Feather begin that are not Arrow files.
pub(crate) const FEATHER_1: &[u8] = b"FEA1";

/// How files of Arrow begin and end.
pub(crate) const ARROW: &[u8] = b"ARROW1";

/// Whether a file begins as these files or streams do: the latter with a message of a sensible length.
pub(crate) fn begins_as_arrow(head: &[u8]) -> bool {
    let message = |n: &[u8; 4]| (8..1 << 24).contains(&u32::from_le_bytes(*n));
    let stream = head.starts_with(&[0xff; 4]) && head[4..].first_chunk::<4>().is_some_and(message);
    head.starts_with(ARROW) || stream
}

/// Whether a file begins as an image of a known format does.
fn begins_as_image(head: &[u8]) -> bool {
    let bitmap = head.starts_with(b"BM") && head.get(6..10) == Some(&[0; 4]);
    let anymap = matches!(head, [b'P', b'1'..=b'7', b, ..] if b.is_ascii_whitespace());
    let known = [&b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8\xff", b"II*\0", b"MM\0*"];
    bitmap || anymap || known.iter().any(|magic| head.starts_with(magic))
}
