//! Some columns of a file of columns, as rows: part by part from the front, or several parts at once.

mod general;
mod part;

use crate::columns::{Columnar, ascending};
use general::ColumnPlace;
use part::{Part, Tools};
use std::sync::{Arc, Mutex, PoisonError};
use unmix::data::{PutRows, Source, Stream};
use unmix::internal::error::counted;
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
        Ok(Box::new(TableStream { table: self, parts, next: 0, now: None, tools: Tools::default(), done: 0 }))
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
        // Inconsistencies are reported by the sequential reader.
        (all && parts.len() > 1).then(|| self.scatter_parts(&parts, put, threads))
    }
}

/// Runs all jobs on this number of threads, each of which takes the next job when it is idle; the first error ends it.
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

    /// Writes every part to its place in `out`; idle threads take the next one.
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

    /// Passes every part to `put`, block by block; idle threads take the next one.
    fn scatter_parts<T: Real>(&self, parts: &[u64], put: &PutRows<'_, T>, threads: usize) -> Result<()> {
        /// Numbers of a block.
        const NUMBERS_PER_BLOCK: usize = 1 << 17;
        let p = self.columns.len().max(1);
        let (step, mut first, mut jobs) = ((NUMBERS_PER_BLOCK / p).max(1), 0, Vec::new());
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

    /// The error of parts whose total number of rows differs from that in the metadata of the file.
    fn other_parts(&self, parts: &[u64]) -> Error {
        let has = parts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        self.other_rows("it".into(), self.file.n_rows(), has, "")
    }

    fn other_rows(&self, who: String, promised: u64, has: u64, more: &str) -> Error {
        let found = format!("{who} declares {}, but has {has}{more}", counted(promised, "row"));
        Error::format(self.file.path(), found, "it is truncated or corrupt; write it again")
            .with(|details| (details.need, details.got) = (Some(promised), Some(has)))
    }
}

/// Reads forward.
struct TableStream<'a, T> {
    table: &'a Table,
    parts: Vec<u64>,
    /// The number of the next part.
    next: usize,
    now: Option<Part<'a>>,
    tools: Tools<T>,
    /// Rows of the parts that are read.
    done: u64,
}

impl<'a, T: Real> TableStream<'a, T> {
    /// A part with rows that are not read yet; `None` at the end.
    fn part(&mut self) -> Result<Option<&mut Part<'a>>> {
        while self.now.as_ref().is_none_or(|part| part.done == part.n_rows) {
            self.end()?;
            let left = self.table.file.n_rows() - self.done;
            match self.parts.get(self.next) {
                Some(&n) if n <= left => {
                    self.now = Some(Part::new(self.table, self.next, n, &self.tools));
                    self.next += 1;
                }
                None if left == 0 => return Ok(None),
                _ => return Err(self.table.other_parts(&self.parts)),
            }
        }
        Ok(self.now.as_mut())
    }

    /// Leaves the part, where it has been read.
    fn end(&mut self) -> Result<()> {
        if let Some(mut part) = self.now.take_if(|part| part.done == part.n_rows) {
            part.end()?;
            self.done += part.n_rows;
        }
        Ok(())
    }
}

impl<T: Real> Stream<T> for TableStream<'_, T> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize> {
        let (p, start) = (self.table.columns.len(), out.len());
        let Some(part) = self.part()? else { return Ok(0) };
        let n = (part.n_rows - part.done).min(max_rows as u64) as usize;
        out.resize(start + n * p, T::default());
        // The part is `self.now`; `tools` are beside it.
        match &mut self.now {
            Some(part) if p > 0 => part.read(&mut out[start..], &mut self.tools)?,
            Some(part) => part.done += n as u64,
            None => {}
        }
        // At once: a caller that has all rows reads no further, and would miss the error that the last part has more.
        self.end()?;
        Ok(n)
    }
}

#[cfg(test)]
mod tests;
