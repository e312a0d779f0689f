//! numpy's `.npy` files: read at any position, written row by row.
//!
//! Format: numpy's documentation, "numpy.lib.format", versions 1 to 3.

use super::bytes::Bytes;
use super::raw::{Axes, NumberType, RawArray};
use crate::error::{Error, Result};
use crate::num::{Dtype, Real};
use crate::run::NewFile;
use std::path::Path;

/// The header of a `.npy` file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NpyHeader {
    /// How a number is stored.
    pub number: NumberType,
    /// Whether the array is in Fortran order (first index fastest).
    pub fortran: bool,
    /// Length of every axis.
    pub shape: Vec<u64>,
    /// Byte at which the numbers begin.
    pub start: u64,
}

impl NpyHeader {
    /// An array in C order whose numbers begin at byte `start`.
    pub fn new(number: NumberType, shape: Vec<u64>, start: u64) -> Self {
        Self { number, fortran: false, shape, start }
    }

    /// Strides in bytes, one for every axis.
    pub fn strides(&self) -> Vec<i64> {
        let mut strides = vec![0; self.shape.len()];
        let mut step = self.number.size as i64;
        let mut place = |i: usize| {
            strides[i] = step;
            step = step.saturating_mul(self.shape[i].max(1) as i64);
        };
        match self.fortran {
            true => (0..self.shape.len()).for_each(&mut place),
            false => (0..self.shape.len()).rev().for_each(&mut place),
        }
        strides
    }
}

const MAGIC: &[u8] = b"\x93NUMPY";
const REMEDY: &str = "write it again with numpy.save";

/// Reads and validates the header.
///
/// # Errors
///
/// [`Error::Format`] if the bytes do not begin with a whole header of version 1 to 3, if its entries are no numbers of a supported type, as text,
/// objects, records and complex numbers, or if its shape is too large for any machine; errors of [`Bytes::read_at`].
pub fn npy_header(bytes: &Bytes<'_>) -> Result<NpyHeader> {
    let path = bytes.path().to_path_buf();
    let wrong = |found: String, remedy: &str| Error::format(&path, found, remedy);
    let mut start = [0u8; 12];
    let have = bytes.len().min(12) as usize;
    bytes.read_at(0, &mut start[..have])?;
    if have == 0 {
        return Err(wrong("it is empty".into(), REMEDY));
    }
    if have < 10 || &start[..6] != MAGIC {
        return Err(wrong("it does not start with the signature of a .npy file".into(), REMEDY));
    }
    let (length, at) = match start[6] {
        1 => (u16::from_le_bytes([start[8], start[9]]) as u64, 10),
        2 | 3 if have == 12 => (u32::from_le_bytes([start[8], start[9], start[10], start[11]]) as u64, 12),
        v => {
            return Err(wrong(
                format!("its format version is {v}, but only versions 1 to 3 are supported"),
                REMEDY,
            ));
        }
    };
    if at + length > bytes.len() {
        let found =
            format!("its header should be {length} bytes long, but the file has {} in all", bytes.len());
        return Err(wrong(found, "it is truncated; copy or write it again")
            .with(|details| (details.need, details.got) = (Some(length), Some(bytes.len()))));
    }
    if length > 1 << 20 {
        return Err(wrong(format!("its header declares a length of {length} bytes"), REMEDY));
    }
    let mut text = vec![0; length as usize];
    bytes.read_at(at, &mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let (number, fortran, shape) = parse(&text).map_err(|found| wrong(found, REMEDY))?;
    Ok(NpyHeader { number, fortran, shape, start: at + length })
}

/// The three entries of the header's dictionary.
fn parse(text: &str) -> std::result::Result<(NumberType, bool, Vec<u64>), String> {
    let after = |key: &str| {
        let at =
            [format!("'{key}'"), format!("\"{key}\"")].iter().find_map(|k| text.find(k).map(|i| i + k.len()));
        let rest = at.map(|i| text[i..].trim_start());
        rest.and_then(|r| r.strip_prefix(':'))
            .map(str::trim_start)
            .ok_or(format!("its header has no '{key}'"))
    };
    let descr = after("descr")?;
    let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let Some(quote) = quote else {
        return Err("its entries are records with named fields, not numbers".into());
    };
    let descr = descr[1..].split(quote).next().unwrap_or_default();
    let number = number_type(descr)?;
    let fortran = match after("fortran_order")? {
        s if s.starts_with("True") => true,
        s if s.starts_with("False") => false,
        _ => return Err("the 'fortran_order' of its header is neither True nor False".into()),
    };
    let shape = after("shape")?;
    let inner = shape.strip_prefix('(').and_then(|s| s.split(')').next()).ok_or("its header has no shape")?;
    let shape: Option<Vec<u64>> = inner
        .split(',')
        .map(|s| s.trim().trim_end_matches('L'))
        .filter(|s| !s.is_empty())
        .map(|s| s.parse().ok())
        .collect();
    let shape = shape.ok_or(format!("its header gives the shape as ({inner})"))?;
    let total = shape.iter().try_fold(number.size as u64, |a, &b| a.checked_mul(b.max(1)));
    if total.is_none_or(|t| t > i64::MAX as u64) {
        return Err(format!(
            "its header declares an array of shape ({inner}), which is too large for any machine"
        ));
    }
    Ok((number, fortran, shape))
}

fn number_type(descr: &str) -> std::result::Result<NumberType, String> {
    let (order, rest) = match descr.as_bytes().first() {
        Some(b'<' | b'>' | b'|' | b'=') => descr.split_at(1),
        _ => ("=", descr),
    };
    let kind = rest.bytes().next().unwrap_or(0);
    match kind {
        b'O' => {
            return Err(
                "it holds pickled Python objects, which are never loaded; convert them to numbers first"
                    .into(),
            );
        }
        b'U' | b'S' | b'a' => return Err("it holds text, not numbers".into()),
        b'c' => {
            return Err("it holds complex numbers; save the real and the imaginary part as columns".into());
        }
        b'M' | b'm' => return Err("it holds dates or time spans, not numbers".into()),
        _ => {}
    }
    let number = NumberType {
        kind,
        size: rest.get(1..).and_then(|s| s.parse().ok()).unwrap_or(0),
        big_endian: order == ">" || (order == "=" && cfg!(target_endian = "big")),
    };
    if number.known() {
        Ok(number)
    } else {
        Err(format!("it holds numbers of type '{descr}', which is not supported; convert them to float64"))
    }
}

/// Opens a `.npy` file as rows: the first axis is samples, the others are flattened. Returns the array and the shape of one
/// sample when that has more than one axis.
///
/// # Errors
///
/// Those of [`Bytes::open`], [`npy_header`] and [`RawArray::new`], as for a file that is shorter than its header declares.
pub fn open_npy(path: &Path) -> Result<(RawArray<'static>, Option<Vec<usize>>)> {
    let bytes = Bytes::open(path)?;
    let header = npy_header(&bytes)?;
    let strides = header.strides();
    let first = |v: &[u64]| v.first().copied();
    let rows = Axes::one(first(&header.shape).unwrap_or(1), strides.first().copied().unwrap_or(0));
    let (features, shape) = match header.shape.len() {
        0 | 1 => (Axes::one(1, header.number.size as i64), None),
        _ => (
            Axes { dims: header.shape[1..].to_vec(), strides: strides[1..].to_vec() },
            (header.shape.len() > 2).then(|| header.shape[1..].iter().map(|&d| d as usize).collect()),
        ),
    };
    Ok((RawArray::new(bytes, header.start as i64, header.number, rows, features)?, shape))
}

/// Writes a two-dimensional `.npy` file row by row; the number of rows need not be known in advance.
///
/// The file has its final name only after [`finish`](NpyWriter::finish) has succeeded: before, it is a temporary file in the same
/// folder.
pub struct NpyWriter {
    file: NewFile,
    dtype: Dtype,
    trailing: Vec<usize>,
    values: u64,
    /// Number of rows, if rows hold no numbers.
    empty_rows: u64,
    buffer: Vec<u8>,
}

/// Reserved length of the header, a multiple of 64 as numpy requires, with space for any number of rows, which is written at the
/// end.
const HEADER_BYTES: usize = 192;

impl NpyWriter {
    /// Begins a file of rows, each of shape `trailing` (as in `[50]` or `[28, 28]`).
    ///
    /// # Errors
    ///
    /// Those of [`NewFile::create`] and [`NewFile::put`].
    pub fn create(path: &Path, dtype: Dtype, trailing: &[usize]) -> Result<Self> {
        let mut writer = Self {
            file: NewFile::create(path)?,
            dtype,
            trailing: trailing.to_vec(),
            values: 0,
            empty_rows: 0,
            buffer: Vec::new(),
        };
        writer.file.put(&[0; HEADER_BYTES])?;
        Ok(writer)
    }

    /// Appends whole rows.
    ///
    /// # Errors
    ///
    /// Numbers of another type than that of the file; errors of the file system.
    pub fn write<T: Real>(&mut self, rows: &[T]) -> Result<()> {
        if T::DTYPE != self.dtype {
            return Err(Error::unsupported(
                format!("writing {} to a .npy file", T::DTYPE),
                format!("it was begun with {}", self.dtype),
                "create the file with the type of the numbers",
            ));
        }
        self.values += rows.len() as u64;
        let mut buffer = std::mem::take(&mut self.buffer);
        for part in rows.chunks(1 << 16) {
            buffer.clear();
            part.iter().for_each(|x| x.write_le(&mut buffer));
            self.file.put(&buffer)?;
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Sets the number of rows of an array without columns, which cannot be derived from the numbers written.
    pub fn set_empty_rows(&mut self, n_rows: u64) {
        self.empty_rows = n_rows;
    }

    /// Writes the header, syncs, and renames the file to its final name.
    ///
    /// # Errors
    ///
    /// An incomplete last row; errors of the file system.
    pub fn finish(mut self) -> Result<()> {
        let per_row: u64 = self.trailing.iter().map(|&d| d as u64).product();
        if let Some(beyond @ 1..) = self.values.checked_rem(per_row) {
            let (what, remedy) = ("the last row of the file".into(), "write whole rows".into());
            return Err(Error::Width { what, need: per_row as usize, got: beyond as usize, remedy });
        }
        let n_rows = self.values.checked_div(per_row).unwrap_or(self.empty_rows);
        self.file.overwrite_start(&npy_preamble(self.dtype, n_rows, &self.trailing))?;
        self.file.finish()
    }
}

/// The bytes before the numbers of a `.npy` file of `n_rows` rows, each of shape `trailing`.
pub fn npy_preamble(dtype: Dtype, n_rows: u64, trailing: &[usize]) -> Vec<u8> {
    let lengths = std::iter::once(n_rows).chain(trailing.iter().map(|&d| d as u64));
    let shape: Vec<String> = lengths.map(|d| d.to_string()).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let (size, shape) = (dtype.size(), shape.join(", "));
    let dictionary = format!("{{'descr': '<f{size}', 'fortran_order': False, 'shape': ({shape}{comma}), }}");
    let mut header = Vec::with_capacity(HEADER_BYTES);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&[1, 0]);
    header.extend_from_slice(&((HEADER_BYTES - 10) as u16).to_le_bytes());
    header.extend_from_slice(dictionary.as_bytes());
    header.resize(HEADER_BYTES - 1, b' ');
    header.push(b'\n');
    header
}

/// Writes a whole row-major array.
///
/// # Errors
///
/// Numbers that are not whole rows of shape `trailing`; errors of the file system.
pub fn write_npy<T: Real>(path: &Path, rows: &[T], trailing: &[usize]) -> Result<()> {
    let mut writer = NpyWriter::create(path, T::DTYPE, trailing)?;
    writer.write(rows)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Source;

    #[test]
    fn numbers_of_another_type_and_incomplete_rows_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        let mut writer = NpyWriter::create(&path, Dtype::F64, &[8]).unwrap();
        let said = writer.write(&[1.0f32; 8]).unwrap_err().to_string();
        assert!(said.contains("float32") && said.contains("float64"), "{said}");
        writer.write(&[1.0f64; 19]).unwrap();
        let said = writer.finish().unwrap_err().to_string();
        assert!(said.contains("write whole rows") && !path.exists(), "{said}");
    }

    #[test]
    fn what_is_written_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        let data: Vec<f32> = (0..24).map(|i| i as f32 / 3.0).collect();
        write_npy(&path, &data, &[2, 3]).unwrap();
        let (array, shape) = open_npy(&path).unwrap();
        assert_eq!(shape, Some(vec![2, 3]));
        let mut out = Vec::new();
        let source: &dyn Source<f32> = &array;
        assert_eq!(source.stream().unwrap().read(100, &mut out).unwrap(), 4);
        assert_eq!(out, data);
    }

    #[test]
    fn inconsistent_headers_are_refused_with_a_reason() {
        let try_bytes = |data: Vec<u8>| npy_header(&Bytes::Owned { data, path: "x.npy".into() });
        let header = |d: &str| [MAGIC, &[1, 0], &(d.len() as u16).to_le_bytes(), d.as_bytes()].concat();
        let message = |d: Vec<u8>| try_bytes(d).unwrap_err().to_string();
        assert!(message(vec![]).contains("it is empty"));
        assert!(
            message(b"PK\x03\x04 and so on".to_vec())
                .contains("does not start with the signature of a .npy file")
        );
        let pickled = header("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }");
        assert!(message(pickled).contains("pickled Python objects"));
        let vast = header("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 9), }");
        assert!(message(vast).contains("too large for any machine"));
        let cut = header("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }");
        assert!(message(cut[..30].to_vec()).contains("truncated"));
        assert!(
            message(header("{'descr': '<c16', 'fortran_order': False, 'shape': (3,), }")).contains("complex")
        );
        assert!(message(header("{'shape': (3,), }")).contains("no 'descr'"));
    }
}
