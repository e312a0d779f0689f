//! Fits of one method to halves or other subsets of the rows, and from other seeds, several at a time.

use super::shared_scan::{Reader, SharedScan, run_concurrently};
use crate::data::{AnyRows, RandomAccess, Rows};
use crate::error::{Error, Result};
use crate::machine::available_memory;
use crate::method::fit;
use crate::model::Model;
use crate::num::Real;
use crate::run::Run;
use serde_json::{Map, Value};

/// Offset of the seeds of the halves from those of the restarts.
const HALVES_SEED_OFFSET: u64 = 1 << 32;

/// What the rows of a fit to half of the rows are, in messages.
pub(crate) const HALF: &str = "a half of";

/// The rows (`None`: all) and the seed of a fit.
pub(crate) type Job = (Option<Vec<u64>>, u64);

/// The fits of the halves of every split, then of the restarts. Rows are drawn by `halves_of` when their fit begins: the row numbers of all halves
/// together may not fit in memory.
pub(super) fn jobs(
    splits: usize,
    halves_of: impl Fn(usize) -> (Vec<u64>, Vec<u64>),
    restarts: usize,
    seed: u64,
) -> impl Iterator<Item = Job> {
    // Each half has its own initial values: shared ones would increase the agreement.
    let halves = (0..splits).flat_map(move |split| {
        let (left, right) = halves_of(split);
        let seed = seed.wrapping_add(HALVES_SEED_OFFSET + 2 * split as u64);
        [(Some(left), seed), (Some(right), seed.wrapping_add(1))]
    });
    halves.chain((0..restarts as u64).map(move |i| (None, seed.wrapping_add(1 + i))))
}

/// Fits of one method to the same rows, or to some of them.
pub(crate) struct Fits<'a, 'b, T: Real> {
    pub(crate) key: &'static str,
    pub(crate) settings: Map<String, Value>,
    pub(crate) rows: &'a Rows<'b, T>,
    pub(crate) source: &'a dyn RandomAccess<T>,
    pub(crate) run: &'a Run<'a>,
}

impl<T: Real> Fits<'_, '_, T>
where
    for<'c> AnyRows<'c>: From<Rows<'c, T>>,
{
    /// The components found for each job; at most `readers` concurrently. `drawn`: what rows of a job are that are not all rows, for messages, as in
    /// [`HALF`].
    pub(crate) fn of(
        &self,
        jobs: impl IntoIterator<Item = Job>,
        readers: usize,
        drawn: &str,
    ) -> Result<Vec<Model>> {
        let mut out = Vec::new();
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            let some: Vec<_> = jobs.by_ref().take(readers).collect();
            let scan = SharedScan::new(self.source, self.rows.n_features(), some.len(), self.run.threads);
            out.extend(run_concurrently(&scan, some, |reader, (chosen, seed)| {
                let origin = match &chosen {
                    Some(_) => format!("{drawn} {}", self.rows.origin()),
                    None => self.rows.origin().to_string(),
                };
                self.one(Reader::new(&scan, reader, chosen), origin, seed)
            })?);
        }
        Ok(out)
    }

    fn one(&self, reader: Reader<'_, '_, T>, origin: String, seed: u64) -> Result<Model> {
        let Run { max_seconds, observer, started, .. } = *self.run;
        let run = Run { seed, threads: 1, max_seconds, observer, started, ..Run::default() };
        let rows = Rows::new(reader, self.rows.features().clone(), origin);
        fit(self.key, &self.settings, &mut AnyRows::from(rows), &run)
    }
}

/// An error of a fit to half of the rows of `origin`, with the remedy of doing without these fits: the settings suit all rows.
pub(super) fn of_half(error: Error, origin: &str) -> Error {
    match error {
        Error::NoVariance { method, n_features, n_samples } => Error::unsupported(
            format!("{method} of {HALF} {origin}"),
            format!("all {n_features} columns are constant over its {n_samples} rows"),
            format!("give more rows, or {REMEDY}"),
        )
        .of_method(&method),
        error => or_else(error, REMEDY),
    }
}

/// How to do without fits to halves.
const REMEDY: &str = "leave stability out";

/// The same error about a setting or too few rows, with a remedy that works: the settings of these fits are those of the model, and suit all rows.
/// What a method does not do at all keeps its own remedy.
pub(super) fn or_else(mut error: Error, otherwise: &str) -> Error {
    match &mut error {
        Error::Setting { remedy, .. } => *remedy = format!("choose another value, or {otherwise}"),
        Error::TooFewRows { remedy, .. } => *remedy = format!("give more rows, or {otherwise}"),
        _ => {}
    }
    error
}

/// Number of fits that run concurrently to `n` rows of `p` columns. Each may hold `k` coordinates of every row, of `size` bytes each, the row numbers
/// of a half, and square tables of the smaller dimension. Together they take at most half of the free memory, because fits that check it at the
/// same time do not see what the others are about to use; a fit that is too large alone is refused by its own check.
pub(crate) fn readers((n, p): (u64, usize), k: usize, size: usize) -> usize {
    /// What more than two fits may take.
    const MOST_BYTES: u64 = 2 << 30;
    /// Square tables: the sums, the matrix that is decomposed, and its eigenvectors.
    const SQUARE_TABLES: u64 = 3;
    let side = n.min(p as u64);
    let (rows, tables) =
        (n.saturating_mul((k * size + 4) as u64), side.saturating_mul(8 * SQUARE_TABLES * side));
    let each = rows.saturating_add(tables).max(1);
    let most = each.saturating_mul(2).max(MOST_BYTES);
    let budget = available_memory().map_or(most, |free| most.min(free / 2));
    (budget / each).clamp(1, 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_fits_run_concurrently_where_each_needs_more_memory() {
        assert_eq!(readers((1000, 20), 5, 8), 64);
        // 2.4 GB of tables for each, and rows of some petabytes.
        assert!(readers((20_000, 10_000), 5, 8) <= 2);
        assert!(readers((1 << 50, 4), 4, 8) <= if cfg!(target_os = "linux") { 1 } else { 2 });
    }

    #[test]
    fn halves_come_before_restarts_and_every_fit_has_its_own_seed() {
        let halves_of = |split: usize| (vec![split as u64], vec![10 + split as u64]);
        let all: Vec<Job> = jobs(2, halves_of, 2, 7).collect();
        let seeds = [
            HALVES_SEED_OFFSET + 7,
            HALVES_SEED_OFFSET + 8,
            HALVES_SEED_OFFSET + 9,
            HALVES_SEED_OFFSET + 10,
            8,
            9,
        ];
        let rows = [Some(vec![0]), Some(vec![10]), Some(vec![1]), Some(vec![11]), None, None];
        assert_eq!(all, rows.into_iter().zip(seeds).collect::<Vec<Job>>());
    }
}
