//! Some columns of a file of columns, as rows: from the front, or all at once into an array.

use crate::cells;
use crate::columns::{Batches, Columnar, ascending};
use crate::guard::guarded;
use crate::pages::{Chunk, Spare, TILE};
use arrow_array::RecordBatch;
use std::sync::{Arc, Mutex};
use unmix::data::{Source, Stream};
use unmix::{Error, Real, Result};

/// Some columns of a file, as rows.
pub(crate) struct Table {
    pub(crate) file: Arc<dyn Columnar>,
    pub(crate) columns: Vec<usize>,
}

impl<T: Real> Source<T> for Table {
    fn n_features(&self) -> usize {
        self.columns.len()
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.file.n_rows())
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let (sorted, places) = self.places(&all);
        let batches = self.file.batches(&sorted)?;
        Ok(Box::new(Front { of: self, places, batches, now: None, at: 0, done: 0 }))
    }

    fn fill(&self, out: &mut [T], threads: usize) -> Option<Result<()>> {
        let parts = self.file.parts();
        let n_rows = self.file.n_rows();
        let all = parts.iter().try_fold(0u64, |sum, n| sum.checked_add(*n)) == Some(n_rows);
        let fits = (n_rows as usize).checked_mul(self.columns.len()) == Some(out.len());
        // What does not add up is for the reader from the start to describe, and so is damage: it may see none, where lengths that are
        // wrong lead past the end of a part.
        (fits && !parts.is_empty()).then(|| match all && self.fill_parts(&parts, out, threads).is_ok() {
            true => Ok(()),
            false => self.fill_from_start(out),
        })
    }
}

/// Where a feature's cells are in a batch of columns.
type ColumnPlace = (usize, usize);

impl Table {
    /// The columns of some features, ascending, and for each feature its place among them.
    fn places(&self, features: &[usize]) -> (Vec<usize>, Vec<ColumnPlace>) {
        let columns: Vec<usize> = features.iter().map(|&i| self.columns[i]).collect();
        let sorted = ascending(&columns);
        let place = |&i: &usize| (i, sorted.partition_point(|&s| s < self.columns[i]));
        let places = features.iter().map(place).collect();
        (sorted, places)
    }

    /// Every part over its place in `out`, the next one by whichever thread is free.
    fn fill_parts<T: Real>(&self, parts: &[u64], out: &mut [T], threads: usize) -> Result<()> {
        let mut rest = out;
        let mut jobs = Vec::new();
        for (part, n) in parts.iter().enumerate() {
            let (own, more) = rest.split_at_mut(*n as usize * self.columns.len());
            jobs.push((part, own));
            rest = more;
        }
        // Parts are handed out from the back.
        jobs.reverse();
        let jobs = Mutex::new(jobs);
        let work = || -> Result<()> {
            let mut straight = Straight::new(self);
            loop {
                let job = jobs.lock().map_or_else(|e| e.into_inner().pop(), |mut jobs| jobs.pop());
                let Some((part, own)) = job else { return Ok(()) };
                let left = straight.fill(part, own);
                if !left.is_empty() {
                    self.fill_part(part, &left, own)?;
                }
            }
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(parts.len())).map(|_| scope.spawn(work)).collect();
            let first = work();
            let others = others
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            std::iter::once(first).chain(others).collect()
        })
    }

    /// Every row over its place in `out`, by one reader.
    fn fill_from_start<T: Real>(&self, out: &mut [T]) -> Result<()> {
        let (mut stream, mut some, mut done) = (Source::<T>::stream(self)?, Vec::new(), 0);
        // No more rows come than are promised, for which there is room; fewer are an error. What may follow them is not examined.
        while done < out.len() && stream.read(TILE, &mut some)? > 0 {
            out[done..done + some.len()].copy_from_slice(&some);
            done += some.len();
            some.clear();
        }
        Ok(())
    }

    /// Some features of a part, of any type.
    fn fill_part<T: Real>(&self, part: usize, features: &[usize], out: &mut [T]) -> Result<()> {
        let (p, mut done) = (self.columns.len(), 0);
        let (sorted, places) = self.places(features);
        for batch in self.file.part(part, &sorted)? {
            let batch = batch?;
            let own = out.get_mut(done..done + batch.num_rows() * p).ok_or_else(|| self.other_rows(part))?;
            write(&batch, &places, own, p);
            done += own.len();
        }
        if done == out.len() { Ok(()) } else { Err(self.other_rows(part)) }
    }

    fn other_rows(&self, part: usize) -> Error {
        let found = format!("row group {part} has another number of rows than declared");
        Error::format(self.file.path(), found, "it is truncated or corrupt; write it again")
    }
}

/// Columns decoded straight into rows, with what one thread uses again from part to part.
struct Straight<'a, T> {
    of: &'a Table,
    spare: Spare,
    /// Cells of a few columns, one column after the other.
    tile: Vec<T>,
    /// Where the pages of the current chunks are decompressed, a part of it for each. In one piece, because handing out fresh
    /// memory costs half as much in large pages, and memory of the allocator is fresh again after every read.
    room: Vec<u8>,
}

/// Columns of a tile: with 256 rows of them, the tile and the rows that it becomes fit the first cache.
const WIDE: usize = 8;

/// Bytes of pages that are held at once by one thread, unless few columns hold more. All columns of a row are written soon after one
/// another where they can be, so that the row does not come and go between memory and cache.
const HELD: u64 = 16 << 20;

impl<'a, T: Real> Straight<'a, T> {
    fn new(of: &'a Table) -> Self {
        Self { of, spare: Spare::default(), tile: vec![T::default(); WIDE * TILE], room: vec![] }
    }

    /// Writes what can be decoded so, and returns the features that are left to the general reader.
    fn fill(&mut self, part: usize, out: &mut [T]) -> Vec<usize> {
        let (mut left, mut some, mut held) = (Vec::new(), Vec::new(), 0);
        for feature in 0..self.of.columns.len() {
            match self.chunk(part, feature) {
                Some(chunk) => {
                    held += chunk.bytes();
                    some.push((feature, chunk));
                }
                None => left.push(feature),
            }
            if held > HELD && some.len() >= WIDE {
                left.extend(self.columns(std::mem::take(&mut some), out));
                held = 0;
            }
        }
        left.extend(self.columns(some, out));
        left
    }

    fn chunk(&self, part: usize, feature: usize) -> Option<Chunk> {
        let file = &self.of.file;
        guarded(file.path(), || Ok(file.chunk(part, self.of.columns[feature], &self.spare))).ok().flatten()
    }

    /// Fills some columns of all rows; gives back the features of those that are not of the usual case after all.
    fn columns(&mut self, mut some: Vec<(usize, Chunk)>, out: &mut [T]) -> Vec<usize> {
        let (p, path) = (self.of.columns.len(), self.of.file.path());
        let all = some.iter().map(|(_, chunk)| chunk.room()).sum();
        if self.room.len() < all {
            self.room = Vec::new();
            self.room = unmix::zeros(all);
        }
        let mut rest = &mut self.room[..];
        let mut rooms: Vec<&mut [u8]> =
            some.iter().filter_map(|(_, chunk)| rest.split_off_mut(..chunk.room())).collect();
        let mut odd = Vec::new();
        // Whatever goes wrong, the general reader has the words for it.
        let mut usual = |feature: usize, work: &mut dyn FnMut() -> bool| {
            if odd.contains(&feature) || !matches!(guarded(path, || Ok(work())), Ok(true)) {
                odd.push(feature);
            }
        };
        for rows in out.chunks_mut(TILE * p.max(1)) {
            let n = rows.len() / p.max(1);
            for (batch, rooms) in some.chunks_mut(WIDE).zip(rooms.chunks_mut(WIDE)) {
                for (((feature, chunk), room), cells) in
                    batch.iter_mut().zip(rooms).zip(self.tile.chunks_mut(TILE))
                {
                    usual(*feature, &mut || chunk.take(room, &mut cells[..n]).is_some());
                }
                lay(&self.tile, batch.iter().map(|(feature, _)| *feature), rows, p);
            }
        }
        some.iter_mut().for_each(|(feature, chunk)| usual(*feature, &mut || chunk.ended()));
        odd.sort_unstable();
        odd.dedup();
        odd
    }
}

/// Columns of a tile as cells of rows of `p`.
fn lay<T: Real>(
    tile: &[T],
    features: impl ExactSizeIterator<Item = usize> + Clone,
    rows: &mut [T],
    p: usize,
) {
    let columns = tile.as_chunks::<TILE>().0;
    let first = features.clone().next().unwrap_or(0);
    let side_by_side = features.len() == WIDE && features.clone().enumerate().all(|(i, j)| j == first + i);
    if let ([a, b, c, d, e, f, g, h], true) = (columns, side_by_side) {
        for (i, row) in rows.chunks_exact_mut(p).enumerate().take(TILE) {
            // Each straight to its place: gathered in an array first, they would be read back before they are there.
            let Some([r0, r1, r2, r3, r4, r5, r6, r7]) = row[first..].first_chunk_mut() else { return };
            (*r0, *r1, *r2, *r3) = (a[i], b[i], c[i], d[i]);
            (*r4, *r5, *r6, *r7) = (e[i], f[i], g[i], h[i]);
        }
        return;
    }
    for (feature, column) in features.zip(columns) {
        rows[feature..].iter_mut().step_by(p).zip(column).for_each(|(out, x)| *out = *x);
    }
}

/// The numbers of a batch over their features' places in rows of `p`, so few rows at a time that they stay in the first cache
/// until they are whole; missing cells are NaN.
fn write<T: Real>(batch: &RecordBatch, places: &[ColumnPlace], out: &mut [T], p: usize) {
    let rows = ((1 << 12) / p.max(1)).max(1);
    for (i, out) in out.chunks_mut(rows * p.max(1)).enumerate() {
        let (start, n) = (i * rows, out.len() / p.max(1));
        for &(feature, place) in places {
            let column = batch.column(place);
            if !cells::are_whole(column) {
                out[feature..].iter_mut().step_by(p).for_each(|x| *x = T::from_f64(f64::NAN));
            }
            cells::place(&column.slice(start, n), &mut out[feature..], p);
        }
    }
}

/// Reads forward.
struct Front<'a> {
    of: &'a Table,
    /// Where each feature is in a batch.
    places: Vec<ColumnPlace>,
    batches: Batches<'a>,
    now: Option<RecordBatch>,
    /// The next row of the batch.
    at: usize,
    done: u64,
}

impl Front<'_> {
    /// A batch with rows that are not read yet; `None` at the end.
    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.now.take_if(|batch| self.at < batch.num_rows()) {
                return Ok(Some(batch));
            }
            let promised = self.of.file.n_rows();
            let end = match self.batches.next().transpose()? {
                Some(batch) => {
                    self.at = 0;
                    self.done += batch.num_rows() as u64;
                    self.now = Some(batch);
                    false
                }
                None => true,
            };
            if self.done > promised || (end && self.done != promised) {
                let found = format!(
                    "it declares {promised} rows, but has {}{}",
                    self.done,
                    if end { "" } else { " or more" }
                );
                return Err(Error::format(
                    self.of.file.path(),
                    found,
                    "it is truncated or corrupt; write it again",
                ));
            }
            if end {
                return Ok(None);
            }
        }
    }
}

impl<T: Real> Stream<T> for Front<'_> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize> {
        let Some(batch) = self.advance()? else { return Ok(0) };
        let (p, start) = (self.places.len(), out.len());
        let n = max_rows.min(batch.num_rows() - self.at);
        let part = batch.slice(self.at, n);
        out.resize(start + n * p, T::default());
        write(&part, &self.places, &mut out[start..], p);
        self.at += n;
        self.now = Some(batch);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::{WriterProperties, WriterVersion};

    fn table(compression: Compression, version: WriterVersion) -> Table {
        let n = 700;
        let whole = |i: i64| (i * 77) % 501;
        let columns: [(&str, ArrayRef, bool); 7] = [
            ("f64", Arc::new(Float64Array::from_iter_values((0..n).map(|i| i as f64 / 7.0))), false),
            ("words", Arc::new(Float64Array::from_iter_values((0..n).map(|i| (i % 3) as f64))), true),
            ("i64", Arc::new(Int64Array::from_iter_values((0..n).map(whole))), true),
            ("i32", Arc::new(Int32Array::from_iter_values((0..n).map(|i| whole(i) as i32))), true),
            ("f32", Arc::new(Float32Array::from_iter_values((0..n).map(|i| i as f32))), false),
            ("hole", Arc::new(Float64Array::from_iter((0..n).map(|i| (i != 500).then_some(0.5)))), true),
            ("bool", Arc::new(BooleanArray::from_iter((0..n).map(|i| Some(i % 2 == 0)))), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let make = WriterProperties::builder()
            .set_compression(compression)
            .set_writer_version(version)
            .set_max_row_group_row_count(Some(300));
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(make.build())).unwrap();
        writer.write(&batch).unwrap();
        let data = writer.into_inner().unwrap();
        let bytes = unmix::data::Bytes::Owned { data, path: "t.parquet".into() };
        let file = crate::parquet::File::open(bytes).unwrap();
        Table { file: Arc::new(file), columns: (0..7).collect() }
    }

    #[test]
    fn only_columns_with_missing_cells_or_of_other_types_are_left_to_the_general_reader() {
        for compression in [Compression::SNAPPY, Compression::UNCOMPRESSED, Compression::LZ4_RAW] {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                let table = table(compression, version);
                let mut straight = Straight::<f64>::new(&table);
                for (part, n) in [300, 300, 100].into_iter().enumerate() {
                    let mut out = vec![-1.0; n * 7];
                    let left = straight.fill(part, &mut out);
                    // The cell that is missing is in the second row group.
                    let hole = if part == 1 { vec![5, 6] } else { vec![6] };
                    assert_eq!(left, hole, "{compression:?} {version:?} group {part}");
                    for (i, row) in out.chunks(7).enumerate() {
                        let i = (part * 300 + i) as i64;
                        let whole = ((i * 77) % 501) as f64;
                        assert_eq!(row[..5], [i as f64 / 7.0, (i % 3) as f64, whole, whole, i as f64]);
                        assert_eq!(row[6], -1.0, "not touched");
                    }
                }
            }
        }
    }
}
