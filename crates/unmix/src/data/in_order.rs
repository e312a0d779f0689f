//! Rows in their order, for fits of streams.

use super::Rows;
use crate::error::Result;
use crate::num::Real;
use crate::run::{Outcome, Run};

/// Number of rows read at once: large enough that reading costs little, small enough that a time limit is met within some steps.
const ROWS_PER_READ: usize = 1024;

impl<T: Real> Rows<'_, T> {
    /// Calls `add` with consecutive rows from the first to the last, at most 1024 at a time, and returns how the pass ended: where the run
    /// ends early (`max_seconds`), after the rows of the last call, the first call being made in any case. Weights are not passed on: a fit
    /// refuses them when it begins.
    ///
    /// # Errors
    ///
    /// A number that is not `finite`; errors of `add` and of the source; interruption.
    pub(crate) fn in_order(
        &self,
        method: &str,
        run: &Run<'_>,
        finite: impl Fn(T) -> bool,
        mut add: impl FnMut(&[T]) -> Result<()>,
    ) -> Result<Outcome> {
        let p = self.n_features();
        let mut stream = self.source().stream()?;
        let (mut buffer, mut done) = (Vec::new(), 0u64);
        loop {
            buffer.clear();
            let n = stream.read(ROWS_PER_READ, &mut buffer)?;
            if n == 0 {
                return Ok(Outcome::Completed);
            }
            if done > 0 && run.ends_early() {
                return Ok(run.early_outcome());
            }
            if let Some(at) = buffer.iter().position(|x| !finite(*x)) {
                return Err(self.not_finite_at(method, done + (at / p) as u64, at % p, buffer[at].to_f64()));
            }
            add(&buffer)?;
            done += n as u64;
            run.sweep_progress("adding", done, self.n_rows())?;
        }
    }
}
