//! Memory that is used again, page after page, because new memory is expensive to allocate.

use crate::stored::FromStart;
use bytes::{Bytes, BytesMut};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::io::{BufReader, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// Memory for the chunks that one thread reads.
#[derive(Clone, Default)]
pub(crate) struct BufferPool(Arc<Mutex<PooledBuffers>>);

#[derive(Default)]
struct PooledBuffers {
    /// For pages as they are stored; some may be in use.
    stored: Vec<Bytes>,
    /// For pages after decompression; none is in use.
    free: Vec<BytesMut>,
    /// The allocation that buffers are split from: one large allocation, since new memory is cheaper in large pages of the system.
    slab: BytesMut,
}

/// Bytes of a slab; one page of each of sixteen columns, as most files are written.
const SLAB_BYTES: usize = 16 << 20;

/// Memory for pages is handed out in multiples of this, so that a page that is a little longer than the last one fits.
const UNIT_BYTES: usize = 1 << 17;

/// Bytes between two buffers: buffers at the same offset in a page of the system, such as those of the columns of a row, compete for the same
/// places of the cache.
const SKEW_BYTES: usize = 37 * 64;

impl PooledBuffers {
    /// At least `len` bytes of arbitrary content.
    fn room(&mut self, len: usize) -> BytesMut {
        if let Some(fits) = self.free.iter().position(|room| room.len() >= len) {
            return self.free.swap_remove(fits);
        }
        let len = len.next_multiple_of(UNIT_BYTES);
        if self.slab.len() < SKEW_BYTES + len {
            self.slab = fresh((SKEW_BYTES + len).max(SLAB_BYTES));
        }
        let _ = self.slab.split_to(SKEW_BYTES);
        self.slab.split_to(len)
    }
}

/// A buffer of zeros with a single owner.
fn fresh(len: usize) -> BytesMut {
    Bytes::from(unmix::zeros::<u8>(len)).try_into_mut().unwrap_or_else(|_| BytesMut::zeroed(len))
}

impl BufferPool {
    fn with<V>(&self, work: impl FnOnce(&mut PooledBuffers) -> V) -> V {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// At least `len` bytes of arbitrary content, in place of `old`.
    pub(super) fn room(&self, old: BytesMut, len: usize) -> BytesMut {
        if old.len() >= len {
            return old;
        }
        self.give(old);
        self.with(|pooled| pooled.room(len))
    }

    /// Takes memory back.
    pub(super) fn give(&self, room: BytesMut) {
        if !room.is_empty() {
            self.with(|pooled| pooled.free.push(room));
        }
    }
}

/// A file, read into buffers that are used again as soon as they are free.
pub(super) struct PagedFile {
    file: Arc<unmix::data::Bytes<'static>>,
    pool: BufferPool,
}

impl PagedFile {
    pub(super) fn new(file: &Arc<unmix::data::Bytes<'static>>, pool: &BufferPool) -> Self {
        Self { file: file.clone(), pool: pool.clone() }
    }
}

impl Length for PagedFile {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for PagedFile {
    type T = BufReader<FromStart<Arc<unmix::data::Bytes<'static>>>>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        // The head of a page: a hundred bytes, more where it repeats statistics.
        const HEAD_BYTES: usize = 512;
        let mut from = FromStart::new(self.file.clone());
        from.seek(SeekFrom::Start(start))?;
        Ok(BufReader::with_capacity(HEAD_BYTES, from))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.file.len()) {
            return Err(ParquetError::EOF(format!("byte {start} and {length} more")));
        }
        self.pool.with(|PooledBuffers { stored: pooled, .. }| {
            let mut buffer = None;
            for handle in std::mem::take(pooled) {
                match handle.try_into_mut() {
                    // A buffer that is too short for this page is replaced by a longer one.
                    Ok(free) if free.len() < length => {}
                    Ok(free) if buffer.is_none() => buffer = Some(free),
                    Ok(free) => pooled.push(free.freeze()),
                    Err(used) => pooled.push(used),
                }
            }
            let mut buffer = buffer.unwrap_or_else(|| BytesMut::zeroed(length.next_multiple_of(1 << 16)));
            self.file
                .read_at(start, &mut buffer[..length])
                .map_err(|e| ParquetError::External(Box::new(e)))?;
            let whole = buffer.freeze();
            pooled.push(whole.clone());
            Ok(whole.slice(..length))
        })
    }
}
