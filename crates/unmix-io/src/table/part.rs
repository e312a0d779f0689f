//! A part of a table, read forward: columns of the usual case straight from their pages, the others by the general reader.

use super::Table;
use super::general::General;
use crate::guard::guarded;
use crate::pages::{BufferPool, Chunk, TILE_ROWS};
use unmix::{Real, Result};

/// Buffers that a thread reuses from part to part.
pub(super) struct Tools<T> {
    pool: BufferPool,
    /// Cells of a few columns, one column after the other.
    tile: Vec<T>,
}

impl<T: Real> Default for Tools<T> {
    fn default() -> Self {
        Self { pool: BufferPool::default(), tile: vec![T::default(); TILE_COLUMNS * TILE_ROWS] }
    }
}

/// Columns of a tile: a tile of 256 rows and its transpose fit the first-level cache.
const TILE_COLUMNS: usize = 8;

/// Bytes of pages that are held at once where a whole part is read, unless those of [`TILE_COLUMNS`] columns are more. All columns of a row are
/// written soon after one another where possible: a row that is written in two passes over the part leaves the cache between them.
const MOST_BYTES_HELD: u64 = 20 << 20;

/// A part of a table, read from its first row on. Columns of the usual case are decoded straight to where they belong; from the row
/// on where one turns out not to be of it, the general reader reads it. One page of every column is held; where the part is read at once, of
/// so many columns at a time as [`MOST_BYTES_HELD`] allows.
pub(super) struct Part<'a> {
    table: &'a Table,
    number: usize,
    pub(super) n_rows: u64,
    pub(super) done: u64,
    /// The features that are decoded straight, ascending.
    pub(super) straight: Vec<(usize, Chunk)>,
    pub(super) general: Vec<General<'a>>,
}

impl<'a> Part<'a> {
    pub(super) fn new<T>(table: &'a Table, number: usize, n_rows: u64, tools: &Tools<T>) -> Self {
        let (file, mut straight, mut left) = (&table.file, Vec::new(), Vec::new());
        for feature in 0..table.columns.len() {
            let chunk = guarded(file.path(), || Ok(file.chunk(number, table.columns[feature], &tools.pool)));
            match chunk.ok().flatten() {
                Some(chunk) => straight.push((feature, chunk)),
                None => left.push(feature),
            }
        }
        let general = if left.is_empty() { vec![] } else { vec![General::new(table, left)] };
        Self { table, number, n_rows, done: 0, straight, general }
    }

    /// Writes the next rows over `out`, no more than there are left.
    pub(super) fn read<T: Real>(&mut self, out: &mut [T], tools: &mut Tools<T>) -> Result<()> {
        let p = self.table.columns.len();
        let n = (out.len() / p.max(1)) as u64;
        let odd = self.decode(out, &mut tools.tile, self.done + n == self.n_rows);
        self.leave(odd);
        for general in &mut self.general {
            general.read(self.number, self.done, out, p)?;
        }
        self.done += n;
        Ok(())
    }

    /// Decodes rows straight, and returns the features that cannot be decoded so; `last`: whether the part ends with these rows.
    fn decode<T: Real>(&mut self, out: &mut [T], tile: &mut [T], last: bool) -> Vec<usize> {
        let (p, path, mut odd) = (self.table.columns.len(), self.table.file.path(), Vec::new());
        let mut left = &mut self.straight[..];
        while let Some(group) = left.split_off_mut(..held_at_once(left)).filter(|group| !group.is_empty()) {
            for rows in out.chunks_mut(TILE_ROWS * p.max(1)) {
                let n = rows.len() / p.max(1);
                for batch in group.chunks_mut(TILE_COLUMNS) {
                    for ((feature, chunk), cells) in batch.iter_mut().zip(tile.chunks_mut(TILE_ROWS)) {
                        // On any failure the general reader reads these rows, and reports the error.
                        let known = odd.contains(feature);
                        if !known
                            && !matches!(guarded(path, || Ok(chunk.take(&mut cells[..n]))), Ok(Some(())))
                        {
                            odd.push(*feature);
                        }
                    }
                    lay(tile, batch.iter().map(|(feature, _)| *feature), rows, p);
                }
            }
            if last {
                group.iter_mut().for_each(|(_, chunk)| chunk.release());
            }
        }
        odd
    }

    /// Leaves these features to the general reader from the next row on.
    fn leave(&mut self, odd: Vec<usize>) {
        if !odd.is_empty() {
            self.straight.retain(|(feature, _)| !odd.contains(feature));
            self.general.push(General::new(self.table, odd));
        }
    }

    /// An error if the part has more rows than its metadata state.
    pub(super) fn end(&mut self) -> Result<()> {
        let path = self.table.file.path();
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

/// How many of the first columns are decoded in one pass over the rows.
fn held_at_once(columns: &[(usize, Chunk)]) -> usize {
    let mut bytes = 0u64;
    let fit = columns.iter().take_while(|(_, chunk)| {
        bytes = bytes.saturating_add(chunk.bytes());
        bytes <= MOST_BYTES_HELD
    });
    (fit.count() / TILE_COLUMNS * TILE_COLUMNS).max(TILE_COLUMNS).min(columns.len())
}

/// Columns of a tile as cells of rows of `p`.
fn lay<T: Real>(
    tile: &[T],
    features: impl ExactSizeIterator<Item = usize> + Clone,
    rows: &mut [T],
    p: usize,
) {
    let columns = tile.as_chunks::<TILE_ROWS>().0;
    let first = features.clone().next().unwrap_or(0);
    let side_by_side =
        features.len() == TILE_COLUMNS && features.clone().enumerate().all(|(i, j)| j == first + i);
    if let ([a, b, c, d, e, f, g, h], true) = (columns, side_by_side) {
        for (i, row) in rows.chunks_exact_mut(p).enumerate().take(TILE_ROWS) {
            // Each straight to its place: gathered in an array first, they would be read back before the stores are complete.
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
