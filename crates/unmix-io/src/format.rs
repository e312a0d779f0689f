//! Detection of the format: by the extension, or by the first bytes if the extension is unknown. What begins as text is a table then.

use crate::stored::{FromStart, Stored, head};
use crate::{gz, idx, safetensors, wav};
use unmix::data::Bytes;
use unmix::{Error, Result};

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
        match ending {
            "npy" => Some(Kind::Npy),
            "npz" => Some(Kind::Npz),
            "safetensors" => Some(Kind::Safetensors),
            "parquet" => Some(Kind::Parquet),
            "arrow" | "feather" | "ipc" | "arrows" => Some(Kind::Arrow),
            "wav" | "wave" => Some(Kind::Wav),
            "png" | "jpg" | "jpeg" | "bmp" | "pnm" | "pbm" | "pgm" | "ppm" | "tif" | "tiff" => {
                Some(Kind::Image)
            }
            "csv" | "txt" | "dat" | "asc" => Some(Kind::Text(b',')),
            "tsv" => Some(Kind::Text(b'\t')),
            "idx" => Some(Kind::Idx),
            _ if name.ends_with("ubyte") => Some(Kind::Idx),
            _ => None,
        }
    }
}

/// A format, and whether it is compressed.
pub(crate) struct Recognised {
    pub(crate) kind: Kind,
    pub(crate) gz: bool,
}

/// Detects the format of a file.
pub(crate) fn recognise(stored: &Stored) -> Result<Recognised> {
    let bytes = &stored.bytes;
    let name = bytes.path().file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let plain = name.strip_suffix(".gz");
    if !stored.nameless
        && let Some(kind) = Kind::by_ending(plain.unwrap_or(&name))
    {
        return Ok(Recognised { kind, gz: plain.is_some() });
    }
    let (head, gz) = first_bytes(bytes)?;
    let kind = by_magic(&head).or(is_text(&head).then_some(Kind::Text(b',')));
    kind.map(|kind| Recognised { kind, gz }).ok_or_else(|| {
        let found = match stored.nameless {
            true => "it is neither text nor a known binary format",
            false => "its extension is unknown, and its content is neither text nor a known binary format",
        };
        unknown(bytes, found)
    })
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
        _ if head.starts_with(b"\x93NUMPY") => Some(Kind::Npy),
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
fn is_text(head: &[u8]) -> bool {
    // The head may end within a character.
    let utf8 = std::str::from_utf8(head).err().is_none_or(|e| e.error_len().is_none());
    let control = |b: &u8| b.is_ascii_control() && !b.is_ascii_whitespace();
    !head.contains(&0) && (utf8 || !head.iter().any(control))
}

fn unknown(bytes: &Bytes<'_>, found: &str) -> Error {
    let remedy = format!(
        "convert it to one of the formats that can be read, such as .csv, .npy or .parquet; known extensions are {}, each also with .gz",
        ENDINGS.join(", ")
    );
    Error::format(bytes.path(), found, remedy)
}

/// How Parquet files begin and end.
pub(crate) const PARQUET: &[u8] = b"PAR1";

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
