//! Some columns of an array, in any order.

use std::ops::Range;
use unmix::data::{Forward, RandomAccess, RawArray, Source, Stream};
use unmix::{Real, Result};

/// Numbers read at once while columns are picked: 8 MiB of doubles, so that a narrow selection from a very wide array does not
/// need memory in proportion to that width.
const NUMBERS_PER_READ: usize = 1 << 20;

/// The columns `columns` of an array, as a source of its own.
pub(crate) struct Selected {
    array: RawArray<'static>,
    columns: Vec<usize>,
}

impl Selected {
    /// Columns of `array`, each below its number of features.
    pub(crate) fn new(array: RawArray<'static>, columns: Vec<usize>) -> Self {
        Self { array, columns }
    }

    /// Stretches of the array's columns to be read for the places `columns` of the selection: for each, the columns, and the
    /// places that they are for.
    fn stretches(&self, places: Range<usize>) -> Vec<(Range<usize>, Range<usize>)> {
        // Where columns lie one after the other in the file, only what is needed is read.
        let by_column = self.array.rows().strides.last() == Some(&(self.array.number().size as i64));
        if by_column {
            let mut runs: Vec<(Range<usize>, Range<usize>)> = Vec::new();
            for place in places {
                let column = self.columns[place];
                match runs.last_mut() {
                    Some((columns, to)) if columns.end == column => {
                        (columns.end, to.end) = (column + 1, place + 1)
                    }
                    _ => runs.push((column..column + 1, place..place + 1)),
                }
            }
            return runs;
        }
        // Where rows do, one read a row that spans all of them, and whole rows, many at once, when that is not much more.
        let wanted = &self.columns[places.clone()];
        let low = wanted.iter().copied().min().unwrap_or(0);
        let high = wanted.iter().copied().max().map_or(0, |m| m + 1);
        let all = self.array.features().len() as usize;
        let is_run = wanted.windows(2).all(|w| w[1] == w[0] + 1);
        let columns = if !is_run && 2 * (high - low) >= all { 0..all } else { low..high };
        vec![(columns, places)]
    }
}

impl<T: Real> Source<T> for Selected {
    fn n_features(&self) -> usize {
        self.columns.len()
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.array.rows().len())
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(Forward::new(self, self.columns.len())))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        Some(self)
    }
}

impl<T: Real> RandomAccess<T> for Selected {
    fn n_rows(&self) -> u64 {
        self.array.rows().len()
    }

    fn read(&self, rows: Range<u64>, places: Range<usize>, out: &mut [T], raw: &mut Vec<u8>) -> Result<()> {
        let p = places.len();
        let first = places.start;
        let mut panel = Vec::new();
        for (columns, to) in self.stretches(places) {
            if to.len() == p && columns.clone().eq(self.columns[to.clone()].iter().copied()) {
                return self.array.read(rows, columns, out, raw);
            }
            let (width, low) = (columns.len(), columns.start);
            let step = (NUMBERS_PER_READ / width).max(1);
            for (i, out) in out.chunks_mut(step * p).enumerate() {
                let start = rows.start + (i * step) as u64;
                let n = out.len() / p;
                panel.resize(n * width, T::default());
                self.array.read(start..start + n as u64, columns.clone(), &mut panel, raw)?;
                for (row, out) in panel.chunks_exact(width).zip(out.chunks_exact_mut(p)) {
                    for place in to.clone() {
                        out[place - first] = row[self.columns[place] - low];
                    }
                }
            }
        }
        Ok(())
    }
}
