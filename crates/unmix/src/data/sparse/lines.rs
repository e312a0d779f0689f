//! Maps over sparse rows.

use super::Sparse;
use crate::data::Sink;
use crate::error::Result;
use crate::num::{Real, fill};
use crate::run::Run;

impl<T: Real> Sparse<'_, T> {
    /// Computes `width` numbers from every row and passes them to `sink` in the order of the rows. `row` gets a buffer of zeros for
    /// its results.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](crate::Error::Interrupted); errors of the sink.
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
            let pace = |share: f64| {
                run.sweep_progress(stage, start as u64 + (share * rows as f64) as u64, Some(n as u64))
            };
            let row = |i: usize, out: &mut [U]| row(start + i, out);
            fill(run.threads, self.n_stored(), &pace, &mut out, width.max(1), row)?;
            sink.put(&out)?;
        }
        Ok(n as u64)
    }
}
