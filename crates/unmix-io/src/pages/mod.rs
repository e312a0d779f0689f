//! Columns of a Parquet file decoded from their pages straight to where their numbers belong.
//!
//! The usual case only: numbers of four or eight bytes, none missing, stored as they are or as places in a dictionary. Whatever is
//! not that (a missing cell, another encoding, a corrupt page) ends a column without a result, and the general reader, which
//! supports all types and reports errors, reads that column of these rows again.

mod bits;
mod buffers;

use bits::Runs;
pub(crate) use buffers::BufferPool;
use buffers::PagedFile;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;
use unmix::Real;

/// Rows decoded at a time.
pub(crate) const TILE_ROWS: usize = 256;

/// How numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    Double,
    Single,
    Long,
    Int,
}

impl Stored {
    /// Bytes of a number.
    fn size(self) -> usize {
        match self {
            Stored::Double | Stored::Long => 8,
            Stored::Single | Stored::Int => 4,
        }
    }

    fn physical(self) -> Type {
        match self {
            Stored::Double => Type::DOUBLE,
            Stored::Single => Type::FLOAT,
            Stored::Long => Type::INT64,
            Stored::Int => Type::INT32,
        }
    }
}

/// One column of one row group.
pub(crate) struct Chunk {
    stored: Stored,
    pages: SerializedPageReader<PagedFile>,
    snappy: bool,
    /// Cells may be missing, so that every page marks them.
    optional: bool,
    words: Numbers,
    page: Numbers,
    now: PageCells,
    /// Cells of the page that are not taken yet.
    left: usize,
    /// Bytes of all of its pages after decompression.
    bytes: u64,
    pool: BufferPool,
}

/// How the cells of the current page are stored.
enum PageCells {
    /// From this byte on, one after the other.
    Plain(usize),
    /// As indices into the dictionary.
    Places(Runs),
}

impl Chunk {
    /// The chunk that `meta` describes; `None` where it is not of the usual case.
    pub(crate) fn new(
        file: &Arc<unmix::data::Bytes<'static>>,
        meta: &ColumnChunkMetaData,
        stored: Stored,
        pool: &BufferPool,
    ) -> Option<Self> {
        let column = meta.column_descr();
        let missing = meta.statistics().and_then(|s| s.null_count_opt()).unwrap_or(0);
        if column.physical_type() != stored.physical()
            || column.max_rep_level() != 0
            || column.max_def_level() > 1
            || missing > 0
        {
            return None;
        }
        // Pages of the usual codec are taken as they are and decompressed here, into memory that is used again.
        let snappy = meta.compression() == Compression::SNAPPY;
        let raw = meta.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build().ok();
        let meta = if snappy { &raw? } else { meta };
        let rows = usize::try_from(meta.num_values()).ok()?;
        let pages = SerializedPageReader::new(Arc::new(PagedFile::new(file, pool)), meta, rows, None).ok()?;
        Some(Self {
            stored,
            snappy,
            pages,
            optional: meta.column_descr().max_def_level() == 1,
            words: Numbers::default(),
            page: Numbers::default(),
            now: PageCells::Plain(0),
            left: 0,
            bytes: meta.uncompressed_size().max(0) as u64,
            pool: pool.clone(),
        })
    }

    /// Bytes that it may hold at once.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes the next cells over `out`.
    pub(crate) fn take<T: Real>(&mut self, mut out: &mut [T]) -> Option<()> {
        while !out.is_empty() {
            if self.left == 0 {
                self.next_page()?;
                continue;
            }
            let (own, rest) = out.split_at_mut(self.left.min(out.len()).min(TILE_ROWS));
            match self.stored {
                Stored::Double => self.decode(own, |b| T::from_f64(f64::from_le_bytes(b)))?,
                Stored::Single => self.decode(own, |b| T::from_f64(f32::from_le_bytes(b).into()))?,
                Stored::Long => self.decode(own, |b| T::from_f64(i64::from_le_bytes(b) as f64))?,
                Stored::Int => self.decode(own, |b| T::from_f64(i32::from_le_bytes(b).into()))?,
            }
            self.left -= own.len();
            out = rest;
        }
        Some(())
    }

    /// Whether all cells have been taken, and no page is left.
    pub(crate) fn ended(&mut self) -> bool {
        self.left == 0 && matches!(self.pages.get_next_page(), Ok(None))
    }

    /// Gives back the memory of its pages, after the last cell.
    pub(crate) fn release(&mut self) {
        for numbers in [&mut self.words, &mut self.page] {
            if let Storage::Own(own) = std::mem::take(numbers).place {
                self.pool.give(own);
            }
        }
    }

    fn decode<T, const N: usize>(&mut self, out: &mut [T], number: impl Fn([u8; N]) -> T) -> Option<()> {
        match &mut self.now {
            PageCells::Plain(at) => {
                let bytes = self.page.bytes().get(*at..*at + out.len() * N)?;
                out.iter_mut().zip(bytes.as_chunks::<N>().0).for_each(|(out, b)| *out = number(*b));
                *at += bytes.len();
            }
            PageCells::Places(runs) => {
                let mut places = [0; TILE_ROWS];
                let places = places.get_mut(..out.len())?;
                runs.take(self.page.bytes(), places)?;
                let words = self.words.bytes().as_chunks::<N>().0;
                for (out, &place) in out.iter_mut().zip(&*places) {
                    *out = number(*words.get(place as usize)?);
                }
            }
        }
        Some(())
    }

    /// Goes to the next page that has cells.
    fn next_page(&mut self) -> Option<()> {
        match self.pages.get_next_page().ok()?? {
            Page::DictionaryPage { buf, num_values, encoding, .. } => {
                if !matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
                    return None;
                }
                self.words.set(buf, 0, self.snappy, &self.pool)?;
                self.words.shorten((num_values as usize).checked_mul(self.stored.size())?)
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                self.page.set(buf, 0, self.snappy, &self.pool)?;
                let n = num_values as usize;
                let mut start = 0;
                if self.optional {
                    if def_level_encoding != Encoding::RLE {
                        return None;
                    }
                    let length = u32::from_le_bytes(*self.page.bytes().first_chunk()?);
                    start = 4usize.checked_add(length as usize)?;
                    self.check_none_missing(4, start, n)?;
                }
                self.begin(start, n, encoding)
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                if num_nulls > 0 || rep_levels_byte_len > 0 {
                    return None;
                }
                // The definition levels are before the compressed bytes.
                let (levels, n) = (def_levels_byte_len as usize, num_values as usize);
                self.page.set(buf, levels, self.snappy && is_compressed, &self.pool)?;
                if self.optional {
                    self.check_none_missing(0, levels, n)?;
                }
                self.begin(levels, n, encoding)
            }
        }
    }

    /// Ends the column when the bytes from `start` to `end` of the page mark one of `n` cells as missing.
    fn check_none_missing(&self, start: usize, end: usize, n: usize) -> Option<()> {
        let levels = self.page.bytes().get(start..end)?;
        Runs::new(1, 0)?.are_all(levels, 1, n)?.then_some(())
    }

    /// The page's `n` cells begin at byte `start`.
    fn begin(&mut self, start: usize, n: usize, encoding: Encoding) -> Option<()> {
        self.now = match encoding {
            Encoding::PLAIN => PageCells::Plain(start),
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY if n > 0 => {
                PageCells::Places(Runs::new(*self.page.bytes().get(start)?, start + 1)?)
            }
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => PageCells::Plain(start),
            _ => return None,
        };
        self.left = n;
        Some(())
    }
}

/// The bytes of a page after decompression, and where they are.
#[derive(Default)]
struct Numbers {
    place: Storage,
    /// How many of them there are.
    len: usize,
}

enum Storage {
    /// In memory that is used again, which may be longer.
    Own(bytes::BytesMut),
    /// As the crate's own reader returned them.
    Lent(bytes::Bytes),
}

impl Default for Storage {
    fn default() -> Self {
        Storage::Own(bytes::BytesMut::new())
    }
}

impl Numbers {
    fn bytes(&self) -> &[u8] {
        match &self.place {
            Storage::Own(own) => &own[..self.len],
            Storage::Lent(lent) => &lent[..self.len],
        }
    }

    /// Takes a page, of which all but the first `before` bytes are compressed.
    fn set(&mut self, page: bytes::Bytes, before: usize, snappy: bool, pool: &BufferPool) -> Option<()> {
        self.len = 0;
        if !snappy {
            self.len = page.len();
            self.place = Storage::Lent(page);
            return Some(());
        }
        let (plain, compressed) = page.split_at_checked(before)?;
        let length = snap::raw::decompress_len(compressed).ok()?;
        // An element of Snappy expands at most by 64 bytes from three: a larger declared length is wrong.
        if length > 32 * compressed.len() + 64 {
            return None;
        }
        let len = before + length;
        let own = match std::mem::take(&mut self.place) {
            Storage::Own(own) => own,
            Storage::Lent(_) => bytes::BytesMut::new(),
        };
        // What it held is not needed, so it need not be moved.
        let mut own = pool.room(own, len);
        own[..before].copy_from_slice(plain);
        let made = match length {
            0 => Some(0),
            _ => snap::raw::Decoder::new().decompress(compressed, &mut own[before..len]).ok(),
        };
        self.place = Storage::Own(own);
        (made? == length).then_some(())?;
        self.len = len;
        Some(())
    }

    /// Shortens to the first `len` bytes; `None` where there are fewer.
    fn shorten(&mut self, len: usize) -> Option<()> {
        if len > self.len {
            return None;
        }
        self.len = len;
        Some(())
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.release();
    }
}
