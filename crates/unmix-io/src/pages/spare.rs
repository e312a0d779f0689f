//! Memory that is used again, page after page: fresh memory costs as much as decompressing into it.

use crate::stored::FromStart;
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::collections::VecDeque;
use std::io::{BufReader, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers at rest, for the chunks that one thread reads one after the other.
#[derive(Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    /// For dictionaries, and for cells: those of one column are as long in the next row group, so what was given first is taken first.
    words: VecDeque<Vec<u8>>,
    cells: VecDeque<Vec<u8>>,
    /// For pages as they are stored; some may be in use.
    stored: Vec<Bytes>,
}

impl Spare {
    fn with<V>(&self, work: impl FnOnce(&mut Kept) -> V) -> V {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Buffers for a dictionary and for cells, with anything in them.
    pub(super) fn take(&self) -> [Vec<u8>; 2] {
        self.with(|kept| [&mut kept.words, &mut kept.cells].map(|some| some.pop_front().unwrap_or_default()))
    }

    pub(super) fn give(&self, words: Vec<u8>, cells: Vec<u8>) {
        self.with(|kept| {
            kept.words.push_back(words);
            kept.cells.push_back(cells);
        });
    }
}

/// A file, read into buffers that are used again as soon as nobody holds them.
pub(super) struct Paged {
    file: Arc<unmix::data::Bytes<'static>>,
    spare: Spare,
}

impl Paged {
    pub(super) fn new(file: &Arc<unmix::data::Bytes<'static>>, spare: &Spare) -> Self {
        Self { file: file.clone(), spare: spare.clone() }
    }
}

impl Length for Paged {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Paged {
    type T = BufReader<FromStart<Arc<unmix::data::Bytes<'static>>>>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        // The head of a page: a hundred bytes, more where it repeats statistics.
        const HEAD: usize = 512;
        let mut from = FromStart::new(self.file.clone());
        from.seek(SeekFrom::Start(start))?;
        Ok(BufReader::with_capacity(HEAD, from))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.file.len()) {
            return Err(ParquetError::EOF(format!("byte {start} and {length} more")));
        }
        self.spare.with(|kept| {
            let mut buffer = None;
            for handle in std::mem::take(&mut kept.stored) {
                match handle.try_into_mut() {
                    // What is too short for this page gives way to a longer one.
                    Ok(free) if free.len() < length => {}
                    Ok(free) if buffer.is_none() => buffer = Some(free),
                    Ok(free) => kept.stored.push(free.freeze()),
                    Err(used) => kept.stored.push(used),
                }
            }
            let mut buffer =
                buffer.unwrap_or_else(|| bytes::BytesMut::zeroed(length.next_multiple_of(1 << 16)));
            self.file
                .read_at(start, &mut buffer[..length])
                .map_err(|e| ParquetError::External(Box::new(e)))?;
            let whole = buffer.freeze();
            kept.stored.push(whole.clone());
            Ok(whole.slice(..length))
        })
    }
}
