//! Batches of rows in the order of training, centred and divided by their size, gathered ahead of their use.
//!
//! The rows of a batch lie anywhere in the data, so that gathering them waits for memory or for a file. Where there is a second
//! thread it does so while the first one computes: what is gathered is the same either way.

use crate::data::Rows;
use crate::error::Result;
use crate::num::random::Stream;
use crate::num::{Real, widest};
use std::sync::mpsc;

/// Batches that are handed over at once, so that threads wake each other seldom.
const TOGETHER: u64 = 4;

/// Hand-overs that may be waiting.
const AHEAD: usize = 3;

/// What is gathered, and in which order.
pub(super) struct Batches<'a, T: Real> {
    rows: &'a Rows<'a, T>,
    /// Two numbers of the type of the rows whose sum is the mean: subtracted one after the other they lose no digits.
    mean: Vec<[T; 2]>,
    inverse: T,
    /// What columns are multiplied by in its place, where each has a unit of its own.
    inverses: Option<Vec<T>>,
    n: u64,
    /// How many batches all rows are shared out among.
    pub(super) each_epoch: u64,
    seed: u64,
}

/// A few batches, one after the other.
pub(super) struct Group<T> {
    /// From 0.
    pub(super) epoch: u64,
    /// Rows of this epoch up to here.
    pub(super) done: u64,
    /// Whether the epoch ends with it.
    pub(super) last: bool,
    x: Vec<T>,
    /// How many numbers each batch has.
    sizes: Vec<usize>,
    p: usize,
}

impl<T> Group<T> {
    fn empty(p: usize) -> Self {
        Self { epoch: 0, done: 0, last: false, x: Vec::new(), sizes: Vec::new(), p }
    }

    /// The batches: rows, row-major.
    pub(super) fn batches(&self) -> impl Iterator<Item = &[T]> {
        let mut rest = &self.x[..];
        self.sizes.iter().map(move |rows| {
            let (batch, after) = rest.split_at(rows * self.p);
            rest = after;
            batch
        })
    }
}

impl<'a, T: Real> Batches<'a, T> {
    /// Of at most `size` rows of `rows`, less `mean`, divided by `unit`; in an order that depends on the seed and the epoch.
    pub(super) fn new(rows: &'a Rows<'a, T>, size: usize, mean: &[f64], unit: f64, seed: u64) -> Self {
        let n = rows.n_rows().unwrap_or(0);
        let halves = |m: &f64| {
            let first = T::from_f64(*m);
            [first, T::from_f64(m - first.to_f64())]
        };
        Self {
            rows,
            mean: mean.iter().map(halves).collect(),
            inverse: T::from_f64(1.0 / unit),
            inverses: None,
            n,
            each_epoch: n.div_ceil(size.max(1) as u64).max(1),
            seed,
        }
    }

    /// Every column divided by its own unit as well.
    pub(super) fn divided(mut self, units: Option<&[f64]>) -> Self {
        let all = self.inverse.to_f64();
        self.inverses = units.map(|units| units.iter().map(|u| T::from_f64(all / u)).collect());
        self
    }

    /// Hands `use_them` the batches of `epochs` epochs, until it returns false.
    pub(super) fn each(
        &self,
        epochs: u64,
        threads: usize,
        mut use_them: impl FnMut(&Group<T>) -> Result<bool>,
    ) -> Result<()> {
        let p = self.mean.len();
        if threads < 2 {
            let mut group = Group::empty(p);
            let mut turn = Turn::new(self, epochs);
            while turn.gather(self, &mut group)? {
                if !use_them(&group)? {
                    break;
                }
            }
            return Ok(());
        }
        let (send, receive) = mpsc::sync_channel::<Result<Group<T>>>(AHEAD);
        let (give_back, spare) = mpsc::channel::<Group<T>>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut turn = Turn::new(self, epochs);
                loop {
                    let mut group = spare.try_recv().unwrap_or_else(|_| Group::empty(p));
                    let gathered = match turn.gather(self, &mut group) {
                        Ok(false) => return,
                        Ok(true) => Ok(group),
                        Err(error) => Err(error),
                    };
                    let failed = gathered.is_err();
                    // Nobody listens any more once training has ended.
                    if send.send(gathered).is_err() || failed {
                        return;
                    }
                }
            });
            // Moved in, so that it is dropped, and the gathering ends, however this loop is left.
            let receive = receive;
            for group in receive.iter() {
                let group = group?;
                if !use_them(&group)? {
                    break;
                }
                let _ = give_back.send(group);
            }
            Ok(())
        })
    }

    /// Rows `which`, in ascending order, behind what is in `x`.
    fn gather(&self, which: &[u64], x: &mut Vec<T>, raw: &mut Vec<u8>) -> Result<()> {
        let p = self.mean.len();
        let begin = x.len();
        self.rows.here("training by batches")?;
        let random = self.rows.settled();
        // Copied first and centred afterwards: a processor waits for many rows at once when it does nothing else with them.
        for &i in which {
            match random.lend(i..i + 1) {
                Some(row) => x.extend_from_slice(row),
                None => {
                    let at = x.len();
                    x.resize(at + p, T::default());
                    random.read(i..i + 1, 0..p, &mut x[at..], raw)?;
                }
            }
        }
        let (mean, inverse, rows) = (&self.mean, self.inverse, x[begin..].chunks_exact_mut(p));
        widest(
            #[inline(always)]
            || match &self.inverses {
                None => {
                    for row in rows {
                        row.iter_mut().zip(mean).for_each(|(x, m)| *x = ((*x - m[0]) - m[1]) * inverse);
                    }
                }
                Some(inverses) => {
                    for row in rows {
                        let each = row.iter_mut().zip(mean).zip(inverses);
                        each.for_each(|((x, m), inverse)| *x = ((*x - m[0]) - m[1]) * *inverse);
                    }
                }
            },
        );
        Ok(())
    }
}

/// Where the gathering is.
struct Turn {
    epochs: u64,
    epoch: u64,
    batch: u64,
    order: Vec<u64>,
    raw: Vec<u8>,
}

impl Turn {
    fn new<T: Real>(batches: &Batches<'_, T>, epochs: u64) -> Self {
        Self { epochs, epoch: 0, batch: 0, order: (0..batches.n).collect(), raw: Vec::new() }
    }

    /// The next batches, written over `group`; false where there are none.
    fn gather<T: Real>(&mut self, of: &Batches<'_, T>, group: &mut Group<T>) -> Result<bool> {
        if self.epoch == self.epochs {
            return Ok(false);
        }
        if self.batch == 0 {
            Stream::new(of.seed, 0x7472_6169 + self.epoch).shuffle(0, &mut self.order);
        }
        group.x.clear();
        group.sizes.clear();
        let border = |batch: u64| (u128::from(batch) * u128::from(of.n) / u128::from(of.each_epoch)) as usize;
        let until = (self.batch + TOGETHER).min(of.each_epoch);
        for batch in self.batch..until {
            let which = &mut self.order[border(batch)..border(batch + 1)];
            which.sort_unstable();
            of.gather(which, &mut group.x, &mut self.raw)?;
            group.sizes.push(which.len());
        }
        (group.epoch, group.done, group.last) = (self.epoch, border(until) as u64, until == of.each_epoch);
        self.batch = until;
        if group.last {
            (self.epoch, self.batch) = (self.epoch + 1, 0);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn gathered(threads: usize, stop: u64) -> Vec<(u64, u64, Vec<Vec<f64>>)> {
        let x: Vec<f64> = (0..101 * 3).map(f64::from).collect();
        let rows = Rows::from_slice(&x, 3).unwrap();
        let batches = Batches::new(&rows, 10, &[1.0, 2.0, 3.0], 2.0, 7);
        let mut seen = Vec::new();
        batches
            .each(3, threads, |group| {
                seen.push((group.epoch, group.done, group.batches().map(<[f64]>::to_vec).collect()));
                Ok((seen.len() as u64) < stop)
            })
            .unwrap();
        seen
    }

    #[test]
    fn every_row_is_seen_once_an_epoch_in_another_order_and_by_any_number_of_threads() {
        let alone = gathered(1, 100);
        assert_eq!(alone, gathered(2, 100));
        for epoch in 0..3 {
            let of_epoch = || alone.iter().filter(|g| g.0 == epoch).flat_map(|g| &g.2);
            let sizes: Vec<usize> = of_epoch().map(|b| b.len() / 3).collect();
            assert!(sizes.iter().all(|s| (9..=10).contains(s)), "{sizes:?}");
            let mut first: Vec<f64> = of_epoch().flat_map(|b| b.chunks(3).map(|row| row[0])).collect();
            first.sort_by(f64::total_cmp);
            let want: Vec<f64> = (0..101).map(|i| (3.0 * f64::from(i) - 1.0) / 2.0).collect();
            assert_eq!(first, want);
        }
        let batch = |epoch| alone.iter().find(|g| g.0 == epoch).unwrap().2[0].clone();
        assert_ne!(batch(0), batch(1));
    }

    #[test]
    fn gathering_ends_when_nobody_wants_more_or_something_fails() {
        assert_eq!(gathered(2, 2), gathered(1, 2));
        let x = vec![0.0; 300];
        let rows = Rows::from_slice(&x, 3).unwrap();
        let failed = Batches::new(&rows, 10, &[0.0; 3], 1.0, 0).each(5, 2, |_| Err(Error::Interrupted));
        assert!(matches!(failed, Err(Error::Interrupted)));
    }

    #[test]
    fn a_large_mean_costs_no_digits_in_single_precision() {
        let x: Vec<f32> = (0..64).map(|i| 1e4 + (i % 7) as f32 / 512.0).collect();
        let rows = Rows::from_slice(&x, 1).unwrap();
        let mean = x.iter().map(|x| f64::from(*x)).sum::<f64>() / 64.0;
        let batches = Batches::new(&rows, 64, &[mean], 1.0, 0);
        batches
            .each(1, 1, |group| {
                for (y, x) in group.batches().flatten().zip(&x) {
                    let want = f64::from(*x) - mean;
                    assert!((f64::from(*y) - want).abs() <= 1e-7 * want.abs(), "{y} {want}");
                }
                Ok(true)
            })
            .unwrap();
    }
}
