//! Rows that can be read only once, or that workers hold, made readable as often and in the order in which a fit needs them.

use super::Rows;
use crate::data::{OwnedRows, RawArray, Scattered, Sparse, Spool};
use crate::error::{Error, Result, counted};
use crate::num::Real;
use crate::run::Run;
use crate::stats::{Entries, GatherEntries};
use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

impl<T: Real> Rows<'_, T> {
    /// For remote rows, collects the sample weights. Else makes the number of rows known and the rows readable in any order: a
    /// source that can be read only once, in order, is decoded once, into memory up to 64 MiB and into a temporary file beyond
    /// that.
    ///
    /// # Errors
    ///
    /// Errors of the source, of the temporary file and of the workers; a number of weights that differs from the number of rows.
    pub fn prepare(&mut self, run: &Run<'_>) -> Result<()> {
        if self.source.remote().is_some() {
            if self.weights.is_none() {
                self.weights = self.remote_weights(run)?.map(Cow::Owned);
            }
            return self.check_weights();
        }
        if self.source.random().is_some() {
            return Ok(());
        }
        let p = self.n_features();
        if let Some(whole) = self.small_whole(run) {
            self.source = Box::new(OwnedRows::new(whole?, p)?);
            return self.check_weights();
        }
        if let Some(array) = self.scattered(run) {
            self.source = Box::new(array?);
            return self.check_weights();
        }
        let mut spool = Spool::new(&self.origin);
        let mut done = 0;
        {
            let mut stream = self.source.stream()?;
            let (mut buffer, step) = (Vec::new(), self.plan().shard_rows);
            loop {
                buffer.clear();
                match stream.read(step, &mut buffer)? {
                    0 => break,
                    n => done += n as u64,
                }
                spool.write_numbers(&buffer)?;
                run.sweep_progress("reading", done, self.n_rows())?;
            }
        }
        if let Some(n) = self.n_rows().filter(|n| *n != done) {
            let rows = counted(n, "row");
            let found = format!("its source declares {rows}, but its stream ended after {done}");
            return Err(Error::format(Path::new(&self.origin), found, "read it again, or declare no number"));
        }
        self.source = Box::new(spool.into_rows::<T>(p)?);
        self.check_weights()
    }

    /// All numbers, read by as many threads as the source can use, if it supports that and they take no more memory than a spool.
    fn small_whole(&self, run: &Run<'_>) -> Option<Result<Vec<T>>> {
        let most = Spool::IN_MEMORY / size_of::<T>();
        let n =
            usize::try_from(self.n_rows()?).ok()?.checked_mul(self.n_features()).filter(|n| *n <= most)?;
        let mut whole = crate::machine::zeros(n);
        let filled = self.source.fill(&mut whole, run.threads)?;
        Some(filled.map(|()| whole))
    }

    /// All rows in a temporary file, written by as many threads as the source can use, if it supports that.
    fn scattered(&self, run: &Run<'_>) -> Option<Result<RawArray<'static>>> {
        let (n_rows, p) = (self.n_rows()?, self.n_features());
        let bytes = n_rows.checked_mul((p * size_of::<T>()) as u64)?;
        if run.threads < 2 || bytes <= Spool::IN_MEMORY as u64 {
            return None;
        }
        let spool = match Scattered::<T>::new(&self.origin, n_rows, p) {
            Ok(spool) => spool,
            Err(e) => return Some(Err(e)),
        };
        let done = AtomicU64::new(0);
        let put = |first: u64, rows: &[T]| {
            spool.put(first, rows)?;
            let own = (rows.len() / p) as u64;
            run.sweep_progress("reading", done.fetch_add(own, Ordering::Relaxed) + own, Some(n_rows))
        };
        let read = self.source.scatter(&put, run.threads)?;
        Some(read.and_then(|()| spool.into_rows()))
    }

    /// Loads remote rows if there are fewer of them than columns: the matrix of rows is then smaller than that of columns.
    pub(crate) fn collect_few_rows(&mut self, run: &Run<'_>) -> Result<()> {
        let (n, p) = (self.n_rows().unwrap_or(0), self.n_features());
        if self.source.remote().is_none() || n >= p as u64 {
            return Ok(());
        }
        self.source = match self.is_sparse() {
            true => {
                let Entries { starts, columns, values } = self.sweep(run, "rows", &GatherEntries::new())?;
                Box::new(Sparse::from_csr(&starts, &columns, values, p)?)
            }
            false => Box::new(OwnedRows::new(self.picked((0..n).collect(), run)?, p)?),
        };
        Ok(())
    }
}
