//! Files of other programs that are not read: their formats, and how to convert them, for messages.

use crate::format::is_text;
use std::path::Path;
use unmix::Error;

/// A format: what a file of it is, and what to do about it.
type Format = (&'static str, &'static str);

const SHEET: &str = "save the sheet as .csv in the program that wrote it";
const ARRAY: &str = "write its array to .npy in Python, with numpy.save";
const SOUND: &str = "convert it to .wav";
const PICTURE: &str = "convert it to .png or .jpg";
const TENSORS: &str =
    "write its tensors with safetensors.torch.save_file, or one of them to .npy with numpy.save";

/// How files of these formats begin, which may look like text.
const TEXT: &[(&[u8], Format)] = &[
    (
        b"%%MatrixMarket",
        (
            "a Matrix Market file",
            "convert it to .npz in Python: scipy.sparse.save_npz(\"x.npz\", scipy.io.mmread(\"x.mtx\").tocsr())",
        ),
    ),
    (b"<stata_dta>", ("a file of Stata", "write its table to .csv with export delimited")),
    (b"{\"", ("JSON", "write its table to .csv")),
    (b"[{", ("JSON", "write its table to .csv")),
    (b"[[", ("JSON", "write its table to .csv")),
    (b"%PDF", ("a PDF document", "write its numbers to .csv")),
];

/// How files of these formats begin, which are not text: a table may begin with the same letters, as with the column `ID3`.
const BINARY: &[(&[u8], Format)] = &[
    (
        b"\x89HDF\r\n\x1a\n",
        ("an HDF5 file", "write its array to .npy in Python, with h5py (anndata for .h5ad) and numpy.save"),
    ),
    (
        b"MATLAB 5.0 MAT-file",
        ("a MATLAB file", "write its array to .npy in Python, with scipy.io.loadmat and numpy.save"),
    ),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ("a document of Microsoft Office", SHEET)),
    (b"X\n\0\0\0", ("a file of R", "write its table to .csv with write.csv")),
    (b"RDX", ("a file of R", "write its table to .csv with write.csv")),
    (
        b"l\x1b\x01",
        ("a genotype file of PLINK", "write its dosages to .npy in Python, with NaN for missing ones"),
    ),
    (b"$FL2", ("a file of SPSS", SHEET)),
    (b"SQLite format 3\0", ("a database of SQLite", "write a query to .csv")),
    (b"\x80\x02", ("a pickle of Python", ARRAY)),
    (b"\x80\x03", ("a pickle of Python", ARRAY)),
    (b"\x80\x04", ("a pickle of Python", ARRAY)),
    (b"\x80\x05", ("a pickle of Python", ARRAY)),
    (b"fLaC", ("a sound in the format FLAC", SOUND)),
    (b"OggS", ("a sound in the format Ogg", SOUND)),
    (b"ID3", ("a sound in the format MP3", SOUND)),
    (b"\xff\xfb", ("a sound in the format MP3", SOUND)),
    (b"GIF8", ("a picture in the format GIF", PICTURE)),
];

/// What a file is that begins with `head`, if it is of a format that is not read.
fn of(head: &[u8]) -> Option<Format> {
    let signatures = if is_text(head) { TEXT } else { BINARY };
    let known = signatures.iter().find(|(signature, _)| head.starts_with(signature));
    known.map(|(_, format)| *format).or_else(|| match (head.get(4..8), head.get(8..12)) {
        (Some(b"ftyp"), Some(b"heic" | b"heix" | b"mif1" | b"avif")) => {
            Some(("a picture in the format HEIF or AVIF", PICTURE))
        }
        (Some(b"ftyp"), Some(b"M4A ")) => Some(("a sound in the format MPEG-4", SOUND)),
        (Some(b"ftyp"), _) => Some(("a video", "write its pictures to .png, or its sound to .wav")),
        (_, Some(b"WEBP")) if head.starts_with(b"RIFF") => Some(("a picture in the format WebP", PICTURE)),
        _ => None,
    })
}

/// What a zip archive with files of these names is.
fn of_archive(names: &[String]) -> Option<Format> {
    let any = |is: fn(&str) -> bool| names.iter().any(|name| is(name));
    if any(|name| name.starts_with("xl/")) {
        return Some(("an Excel workbook", SHEET));
    }
    if any(|name| name == "content.xml") {
        return Some(("a document of OpenOffice", SHEET));
    }
    any(|name| name.ends_with("data.pkl")).then_some(("a file of PyTorch", TENSORS))
}

/// The error for a file that begins with `head`, if it is of a known format that is not read.
pub(crate) fn refused(path: &Path, head: &[u8]) -> Option<Error> {
    of(head).map(|format| error(path, format))
}

/// The same for a zip archive with files of these names.
pub(crate) fn refused_archive(path: &Path, names: &[String]) -> Option<Error> {
    of_archive(names).map(|format| error(path, format))
}

fn error(path: &Path, (what, remedy): Format) -> Error {
    Error::format(path, format!("it is {what}, a format that is not read"), remedy)
}
