//! Rows of mostly zeros written as scipy's `save_npz` does: compressed sparse rows in an `.npz` archive of their parts.
//!
//! The parts are arrays of which none is complete before the last row, so they are held in [`Spool`]s: memory does not grow with the rows.

use crate::stored::FromStart;
use std::io::{Read, Write};
use std::path::Path;
use unmix::data::{EntrySink, RowEntries, Spool};
use unmix::{Dtype, Error, Real, Result};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Takes dense rows and keeps the entries that are not zero.
pub struct SparseWriter {
    n_columns: usize,
    dtype: Dtype,
    n_rows: u64,
    n_stored: u64,
    values: Spool,
    columns: Spool,
    /// Where each row begins, and where the last one ends, as `u64`.
    starts: Spool,
}

impl SparseWriter {
    /// Rows of `n_columns` numbers of type `dtype`.
    ///
    /// # Errors
    ///
    /// More columns than a 32-bit index counts.
    pub fn new(n_columns: usize, dtype: Dtype) -> Result<Self> {
        if i32::try_from(n_columns).is_err() {
            return Err(Error::unsupported(
                format!("sparse rows of {n_columns} columns"),
                "indices of columns have 32 bits",
                "write .npy",
            ));
        }
        let spool = || Spool::new("sparse rows");
        let mut starts = spool();
        starts.write(&0u64.to_le_bytes())?;
        Ok(Self { n_columns, dtype, n_rows: 0, n_stored: 0, values: spool(), columns: spool(), starts })
    }

    /// Takes whole rows, row-major, of numbers of the given type.
    ///
    /// # Errors
    ///
    /// A temporary file that cannot be written.
    pub fn put<T: Real>(&mut self, rows: &[T]) -> Result<()> {
        let mut entries = RowEntries::default();
        entries.push(rows, self.n_columns);
        self.put_entries(entries)
    }

    /// Writes the archive to `to`; `name` is what messages call it.
    ///
    /// # Errors
    ///
    /// `to` cannot be written.
    pub fn finish(self, to: &mut dyn Write, name: &Path) -> Result<()> {
        let failed = |e: std::io::Error| Error::io("cannot write", name, e);
        let zipped = |e: zip::result::ZipError| failed(std::io::Error::other(e));
        let mut zip = ZipWriter::new_stream(to);
        let wide = self.n_stored > i32::MAX as u64;
        let number = if self.dtype == Dtype::F32 { "<f4" } else { "<f8" };
        let parts = [
            ("indices", "<i4", format!("({},)", self.n_stored), self.columns),
            ("indptr", if wide { "<i8" } else { "<i4" }, format!("({},)", self.n_rows + 1), self.starts),
            ("data", number, format!("({},)", self.n_stored), self.values),
        ];
        for (part, kind, shape, spool) in parts {
            zip.start_file(format!("{part}.npy"), options(spool.written())).map_err(zipped)?;
            zip.write_all(&header(kind, &shape)).map_err(failed)?;
            let bytes = spool.finish()?;
            let mut from = FromStart::new(&bytes);
            match part == "indptr" && !wide {
                true => narrow(&mut from, &mut zip).map_err(failed)?,
                false => std::io::copy(&mut from, &mut zip).map(|_| ()).map_err(failed)?,
            }
        }
        let mut shape = Vec::new();
        [self.n_rows, self.n_columns as u64].iter().for_each(|n| shape.extend_from_slice(&n.to_le_bytes()));
        for (part, kind, of, bytes) in [("shape", "<i8", "(2,)", &shape[..]), ("format", "|S3", "()", b"csr")]
        {
            zip.start_file(format!("{part}.npy"), options(0)).map_err(zipped)?;
            zip.write_all(&header(kind, of)).map_err(failed)?;
            zip.write_all(bytes).map_err(failed)?;
        }
        zip.finish().map(|_| ()).map_err(zipped)
    }
}

impl<T: Real> EntrySink<T> for SparseWriter {
    fn put_entries(&mut self, rows: RowEntries<T>) -> Result<()> {
        let mut values = Vec::with_capacity(rows.values.len() * T::DTYPE.size());
        rows.values.iter().for_each(|x| x.write_le(&mut values));
        let columns: Vec<u8> = rows.columns.iter().flat_map(|j| j.to_le_bytes()).collect();
        let before = self.n_stored;
        let starts: Vec<u8> = rows.ends.iter().flat_map(|end| (before + *end as u64).to_le_bytes()).collect();
        self.n_stored += rows.values.len() as u64;
        self.n_rows += rows.ends.len() as u64;
        self.values.write(&values)?;
        self.columns.write(&columns)?;
        self.starts.write(&starts)
    }
}

fn options(bytes: u64) -> SimpleFileOptions {
    // Members of 4 GiB and more have longer headers, which are written first.
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(bytes >= u64::from(u32::MAX) / 2)
}

/// The header of an array in numpy's format, version 1.0.
fn header(kind: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    // The numbers begin at a multiple of 64 bytes.
    let filled = (10 + text.len() + 1).next_multiple_of(64);
    text += &" ".repeat(filled - 10 - text.len() - 1);
    text.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(text.len() as u16).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out
}

/// Copies numbers of 64 bits as numbers of 32, which they fit into.
fn narrow(from: &mut impl Read, to: &mut impl Write) -> std::io::Result<()> {
    let mut buffer = [0u8; 1 << 16];
    loop {
        let mut filled = 0;
        while filled < buffer.len() {
            match from.read(&mut buffer[filled..])? {
                0 => break,
                n => filled += n,
            }
        }
        let low: Vec<u8> = buffer[..filled].chunks_exact(8).flat_map(|x| [x[0], x[1], x[2], x[3]]).collect();
        to.write_all(&low)?;
        if filled < buffer.len() {
            return Ok(());
        }
    }
}
