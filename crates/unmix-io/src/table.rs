//! Some columns of a file of columns, as rows: part by part from the front, or several parts at once.

use crate::cells;
use crate::columns::{Batches, Columnar, ascending};
use crate::guard::guarded;
use crate::pages::{Chunk, Spare, TILE};
use arrow_array::RecordBatch;
use std::sync::{Arc, Mutex, PoisonError};
use unmix::data::{PutRows, Source, Stream};
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
        let parts = self.parts();
        Ok(Box::new(Front { of: self, parts, next: 0, now: None, tools: Tools::default(), done: 0 }))
    }

    fn fill(&self, out: &mut [T], threads: usize) -> Option<Result<()>> {
        let parts = self.parts();
        let n_rows = self.file.n_rows();
        let all = parts.iter().try_fold(0u64, |sum, n| sum.checked_add(*n)) == Some(n_rows);
        let fits = (n_rows as usize).checked_mul(self.columns.len()) == Some(out.len());
        fits.then(|| if all { self.fill_parts(&parts, out, threads) } else { Err(self.other_parts(&parts)) })
    }

    fn scatter(&self, put: &PutRows<'_, T>, threads: usize) -> Option<Result<()>> {
        let parts = self.parts();
        let all = parts.iter().try_fold(0u64, |sum, n| sum.checked_add(*n)) == Some(self.file.n_rows());
        // What does not add up is for the reader from the front to say.
        (all && parts.len() > 1).then(|| self.scatter_parts(&parts, put, threads))
    }
}

/// Does every job, the next one by whichever of so many threads is free; the first error ends it.
fn share<J: Send, T: Real>(
    mut jobs: Vec<J>,
    threads: usize,
    work: impl Fn(J, &mut Tools<T>) -> Result<()> + Sync,
) -> Result<()> {
    let threads = threads.min(jobs.len());
    // They are handed out from the back.
    jobs.reverse();
    let jobs = Mutex::new(jobs);
    let lock = || jobs.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || -> Result<()> {
        let mut tools = Tools::default();
        loop {
            let job = lock().pop();
            let Some(job) = job else { return Ok(()) };
            work(job, &mut tools).inspect_err(|_| lock().clear())?;
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let first = work();
        let others = others
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(first).chain(others).collect()
    })
}

impl Table {
    /// Rows of each part; a file without parts is one.
    fn parts(&self) -> Vec<u64> {
        let parts = self.file.parts();
        if parts.is_empty() { vec![self.file.n_rows()] } else { parts }
    }

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
            jobs.push((part, *n, own));
            rest = more;
        }
        share(jobs, threads, |(part, n, own), tools| {
            let mut reader = Part::new(self, part, n, tools);
            reader.read(own, tools)?;
            reader.end()
        })
    }

    /// Every part to `put`, block by block, the next one by whichever thread is free.
    fn scatter_parts<T: Real>(&self, parts: &[u64], put: &PutRows<'_, T>, threads: usize) -> Result<()> {
        /// Numbers of a block.
        const BLOCK: usize = 1 << 17;
        let p = self.columns.len().max(1);
        let (step, mut first, mut jobs) = ((BLOCK / p).max(1), 0, Vec::new());
        for (part, n) in parts.iter().enumerate() {
            jobs.push((part, *n, first));
            first += n;
        }
        share(jobs, threads, |(part, n, first), tools| {
            let (mut reader, mut block) = (Part::new(self, part, n, tools), Vec::new());
            while reader.done < n {
                let at = first + reader.done;
                block.resize((n - reader.done).min(step as u64) as usize * p, T::default());
                reader.read(&mut block, tools)?;
                put(at, &block)?;
            }
            reader.end()
        })
    }

    /// The error of parts that have not as many rows together as the file promises.
    fn other_parts(&self, parts: &[u64]) -> Error {
        let has = parts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        self.other_rows("it".into(), self.file.n_rows(), has, "")
    }

    fn other_rows(&self, who: String, promised: u64, has: u64, more: &str) -> Error {
        let found = format!("{who} declares {promised} rows, but has {has}{more}");
        Error::format(self.file.path(), found, "it is truncated or corrupt; write it again")
            .with(|facts| (facts.need, facts.got) = (Some(promised), Some(has)))
    }
}

/// Where a feature's cells are in a batch of columns.
type ColumnPlace = (usize, usize);

/// What one thread uses again from part to part.
struct Tools<T> {
    spare: Spare,
    /// Cells of a few columns, one column after the other.
    tile: Vec<T>,
}

impl<T: Real> Default for Tools<T> {
    fn default() -> Self {
        Self { spare: Spare::default(), tile: vec![T::default(); WIDE * TILE] }
    }
}

/// Columns of a tile: with 256 rows of them, the tile and the rows that it becomes fit the first cache.
const WIDE: usize = 8;

/// A part of a table, read from its first row on. Columns of the usual case are decoded straight to where they belong; from the row
/// on where one turns out not to be of it, the general reader reads it. Of every column one page is held.
struct Part<'a> {
    of: &'a Table,
    number: usize,
    n_rows: u64,
    done: u64,
    /// The features that are decoded straight, ascending.
    straight: Vec<(usize, Chunk)>,
    general: Vec<General<'a>>,
}

impl<'a> Part<'a> {
    fn new<T>(of: &'a Table, number: usize, n_rows: u64, tools: &Tools<T>) -> Self {
        let (file, mut straight, mut left) = (&of.file, Vec::new(), Vec::new());
        for feature in 0..of.columns.len() {
            let chunk = guarded(file.path(), || Ok(file.chunk(number, of.columns[feature], &tools.spare)));
            match chunk.ok().flatten() {
                Some(chunk) => straight.push((feature, chunk)),
                None => left.push(feature),
            }
        }
        let general = if left.is_empty() { vec![] } else { vec![General::new(of, left)] };
        Self { of, number, n_rows, done: 0, straight, general }
    }

    /// Writes the next rows over `out`, no more than there are left.
    fn read<T: Real>(&mut self, out: &mut [T], tools: &mut Tools<T>) -> Result<()> {
        let p = self.of.columns.len();
        for rows in out.chunks_mut(TILE * p.max(1)) {
            let odd = self.tile(rows, &mut tools.tile);
            self.leave(odd);
            for general in &mut self.general {
                general.read(self.number, self.done, rows, p)?;
            }
            self.done += (rows.len() / p.max(1)) as u64;
        }
        Ok(())
    }

    /// Decodes at most [`TILE`] rows straight, and says which features cannot be.
    fn tile<T: Real>(&mut self, rows: &mut [T], tile: &mut [T]) -> Vec<usize> {
        let (p, path, mut odd) = (self.of.columns.len(), self.of.file.path(), Vec::new());
        let n = rows.len() / p.max(1);
        for batch in self.straight.chunks_mut(WIDE) {
            for ((feature, chunk), cells) in batch.iter_mut().zip(tile.chunks_mut(TILE)) {
                // Whatever goes wrong, the general reader has the words for it.
                if !matches!(guarded(path, || Ok(chunk.take(&mut cells[..n]))), Ok(Some(()))) {
                    odd.push(*feature);
                }
            }
            lay(tile, batch.iter().map(|(feature, _)| *feature), rows, p);
        }
        odd
    }

    /// Leaves these features to the general reader from the next row on.
    fn leave(&mut self, odd: Vec<usize>) {
        if !odd.is_empty() {
            self.straight.retain(|(feature, _)| !odd.contains(feature));
            self.general.push(General::new(self.of, odd));
        }
    }

    /// Refuses a part with more rows than it promises.
    fn end(&mut self) -> Result<()> {
        let path = self.of.file.path();
        let ended = |chunk: &mut Chunk| matches!(guarded(path, || Ok(chunk.ended())), Ok(true));
        let odd = self.straight.iter_mut().filter_map(|(i, chunk)| (!ended(chunk)).then_some(*i)).collect();
        self.leave(odd);
        for general in &mut self.general {
            if general.has_more(self.number, self.done)? {
                return Err(general.other_rows(self.number, self.done, " or more"));
            }
        }
        Ok(())
    }
}

/// Some features of a part, of any type.
struct General<'a> {
    of: &'a Table,
    columns: Vec<usize>,
    /// Where each feature is in a batch.
    places: Vec<ColumnPlace>,
    batches: Option<Batches<'a>>,
    now: Option<RecordBatch>,
    /// The next row of the batch.
    at: usize,
}

impl<'a> General<'a> {
    fn new(of: &'a Table, features: Vec<usize>) -> Self {
        let (columns, places) = of.places(&features);
        Self { of, columns, places, batches: None, now: None, at: 0 }
    }

    /// A batch with rows of the part that are not read yet, those from [`at`](Self::at) on; `None` at its end. The first call passes over
    /// `before` rows, which were decoded straight.
    fn next(&mut self, part: usize, before: u64) -> Result<Option<RecordBatch>> {
        let mut before = if self.batches.is_some() { 0 } else { before };
        if self.batches.is_none() {
            self.batches = Some(self.of.file.part(part, &self.columns)?);
        }
        loop {
            if let Some(batch) = self.now.take() {
                let passed = before.min((batch.num_rows() - self.at) as u64);
                (self.at, before) = (self.at + passed as usize, before - passed);
                if self.at < batch.num_rows() {
                    return Ok(Some(batch));
                }
            }
            (self.now, self.at) = (self.batches.as_mut().and_then(Iterator::next).transpose()?, 0);
            if self.now.is_none() {
                return Ok(None);
            }
        }
    }

    /// Writes the part's rows from number `first` on over the features' places in `out`, rows of `p`.
    fn read<T: Real>(&mut self, part: usize, first: u64, out: &mut [T], p: usize) -> Result<()> {
        let (mut done, n) = (0, out.len() / p.max(1));
        while done < n {
            let Some(batch) = self.next(part, first)? else {
                return Err(self.other_rows(part, first + done as u64, ""));
            };
            let own = (n - done).min(batch.num_rows() - self.at);
            write(&batch.slice(self.at, own), &self.places, &mut out[done * p..(done + own) * p], p);
            (self.at, done) = (self.at + own, done + own);
            self.now = Some(batch);
        }
        Ok(())
    }

    /// Whether the part goes on behind its first `done` rows.
    fn has_more(&mut self, part: usize, done: u64) -> Result<bool> {
        self.now = self.next(part, done)?;
        Ok(self.now.is_some())
    }

    /// The error of a part that ends after `has` rows, or goes on.
    fn other_rows(&self, part: usize, has: u64, more: &str) -> Error {
        let single = self.of.file.parts().is_empty();
        let who = if single { "it".into() } else { format!("row group {part}") };
        self.of.other_rows(who, self.of.parts()[part], has, more)
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
struct Front<'a, T> {
    of: &'a Table,
    parts: Vec<u64>,
    /// The number of the next part.
    next: usize,
    now: Option<Part<'a>>,
    tools: Tools<T>,
    /// Rows of the parts that are read.
    done: u64,
}

impl<'a, T: Real> Front<'a, T> {
    /// A part with rows that are not read yet; `None` at the end.
    fn part(&mut self) -> Result<Option<&mut Part<'a>>> {
        while self.now.as_ref().is_none_or(|part| part.done == part.n_rows) {
            if let Some(mut part) = self.now.take() {
                part.end()?;
                self.done += part.n_rows;
            }
            let left = self.of.file.n_rows() - self.done;
            match self.parts.get(self.next) {
                Some(&n) if n <= left => {
                    self.now = Some(Part::new(self.of, self.next, n, &self.tools));
                    self.next += 1;
                }
                None if left == 0 => return Ok(None),
                _ => return Err(self.of.other_parts(&self.parts)),
            }
        }
        Ok(self.now.as_mut())
    }
}

impl<T: Real> Stream<T> for Front<'_, T> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize> {
        let (p, start) = (self.of.columns.len(), out.len());
        let Some(part) = self.part()? else { return Ok(0) };
        let n = (part.n_rows - part.done).min(max_rows as u64) as usize;
        out.resize(start + n * p, T::default());
        // The part is `self.now`; `tools` are beside it.
        match &mut self.now {
            Some(part) if p > 0 => part.read(&mut out[start..], &mut self.tools)?,
            Some(part) => part.done += n as u64,
            None => {}
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

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
                let mut tools = Tools::<f64>::default();
                for (number, n) in [300, 300, 100].into_iter().enumerate() {
                    let mut out = vec![-1.0; n * 7];
                    let mut part = Part::new(&table, number, n as u64, &tools);
                    part.read(&mut out, &mut tools).unwrap();
                    part.end().unwrap();
                    let places = part.general.iter().flat_map(|general| &general.places);
                    let mut left: Vec<usize> = places.map(|(feature, _)| *feature).collect();
                    left.sort_unstable();
                    // The cell that is missing is in the second row group.
                    let hole = if number == 1 { vec![5, 6] } else { vec![6] };
                    assert_eq!(left, hole, "{compression:?} {version:?} group {number}");
                    for (i, row) in out.chunks(7).enumerate() {
                        let i = (number * 300 + i) as i64;
                        let (whole, even) = (((i * 77) % 501) as f64, f64::from(u8::from(i % 2 == 0)));
                        assert_eq!(row[..5], [i as f64 / 7.0, (i % 3) as f64, whole, whole, i as f64]);
                        assert!(if i == 500 { row[5].is_nan() } else { row[5] == 0.5 }, "row {i}");
                        assert_eq!(row[6], even);
                    }
                }
            }
        }
    }

    #[test]
    fn a_column_that_is_found_to_have_gaps_is_decoded_straight_up_to_there() {
        let n = 3000usize;
        let some = |i: usize| (i != 2500).then_some(i as f64);
        let columns: [(&str, ArrayRef, bool); 2] = [
            ("whole", Arc::new(Float64Array::from_iter_values((0..n).map(|i| -(i as f64)))), true),
            ("gap", Arc::new(Float64Array::from_iter((0..n).map(some))), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        // Without statistics only the page itself says that a cell is missing.
        let make = WriterProperties::builder()
            .set_statistics_enabled(EnabledStatistics::None)
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(1000)
            .set_write_batch_size(100);
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(make.build())).unwrap();
        writer.write(&batch).unwrap();
        let bytes =
            unmix::data::Bytes::Owned { data: writer.into_inner().unwrap(), path: "t.parquet".into() };
        let table =
            Table { file: Arc::new(crate::parquet::File::open(bytes).unwrap()), columns: vec![1, 0, 1] };
        let mut tools = Tools::<f64>::default();
        let mut part = Part::new(&table, 0, n as u64, &tools);
        let mut out = vec![0.0; 3 * n];
        part.read(&mut out[..3 * 1990], &mut tools).unwrap();
        assert!(part.general.is_empty(), "the first two pages are whole");
        part.read(&mut out[3 * 1990..], &mut tools).unwrap();
        part.end().unwrap();
        assert_eq!((part.straight.len(), part.general[0].places.len()), (1, 2));
        for (i, row) in out.chunks(3).enumerate() {
            let bits = |x: f64| if x.is_nan() { 0 } else { x.to_bits() };
            let own = some(i).unwrap_or(f64::NAN);
            assert_eq!([bits(row[0]), bits(row[1]), bits(row[2])], [bits(own), bits(-(i as f64)), bits(own)]);
        }
    }
}
