//! The loop behind every sum and map over stored entries: lines of a table, each filled alone.
//!
//! A line depends on nothing but its number and is added up by one thread in a fixed order, so nothing depends on how many
//! threads there are, and no thread needs a table of its own.

use super::Sparse;
use crate::data::sweep::Sink;
use crate::error::Result;
use crate::num::Real;
use crate::num::threads::on_pool;
use crate::run::Run;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Tables smaller than this are filled on the calling thread.
const SMALL: usize = 1 << 15;

impl<T: Real> Sparse<'_, T> {
    /// Calls `line` for each line of `table`, `width` numbers long, with its number.
    pub(super) fn fill<U: Real>(
        &self,
        run: &Run<'_>,
        stage: &str,
        table: &mut [U],
        width: usize,
        line: impl Fn(usize, &mut [U]) + Sync,
    ) -> Result<()> {
        if table.is_empty() {
            return Ok(());
        }
        let (n, n_lines) = (self.n_rows(), table.len() / width);
        // Enough pieces to share out evenly although lines differ, and to hear of an interruption soon.
        let piece = (n_lines / 512).max(1);
        let done = AtomicUsize::new(0);
        let one = |(i, lines): (usize, &mut [U])| {
            lines.chunks_mut(width).enumerate().for_each(|(l, out)| line(i * piece + l, out));
            let done = done.fetch_add(lines.len() / width, Relaxed) + lines.len() / width;
            run.sweep_progress(stage, (done as u64 * n as u64) / n_lines as u64, Some(n as u64))
        };
        if run.threads == 1 || self.n_stored() + table.len() < SMALL {
            return table.chunks_mut(piece * width).enumerate().try_for_each(one);
        }
        on_pool(run.threads, || table.par_chunks_mut(piece * width).enumerate().try_for_each(one))
    }

    /// Turns every row into `width` numbers and hands them to `sink` in the order of the rows.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](crate::Error::Interrupted); those of the sink.
    pub(crate) fn map<U: Real>(
        &self,
        run: &Run<'_>,
        stage: &str,
        width: usize,
        row: impl Fn(usize, &mut [U]) + Sync,
        sink: &mut dyn Sink<U>,
    ) -> Result<u64> {
        let n = self.n_rows();
        let step = ((1 << 20) / width.max(1)).max(1);
        let mut out = Vec::new();
        for start in (0..n).step_by(step) {
            let rows = step.min(n - start);
            out.clear();
            out.resize(rows * width, U::default());
            self.fill(run, stage, &mut out, width.max(1), |i, out| row(start + i, out))?;
            sink.put(&out)?;
        }
        Ok(n as u64)
    }
}
