//! Compressed storage of the entries by line: a line is a row or a column.

use crate::error::{Error, Result, counted};
use crate::num::{Lines, Real};
use std::borrow::Cow;

/// An integer type of the row and column indices of sparse arrays.
pub trait Index: Copy + std::fmt::Display {
    /// The index as `usize`; `None` if it is negative or too large.
    fn place(self) -> Option<usize>;
}

macro_rules! index {
    ($($t:ty),*) => {
        $(impl Index for $t {
            fn place(self) -> Option<usize> {
                usize::try_from(self).ok()
            }
        })*
    };
}
index!(i32, i64, u32, u64, usize);

/// Entries by line; within a line indices ascend and are distinct.
#[derive(Clone, Debug)]
pub(super) struct Layout<'a, T: Real> {
    starts: Cow<'a, [usize]>,
    places: Cow<'a, [u32]>,
    values: Cow<'a, [T]>,
}

impl<'a, T: Real> Layout<'a, T> {
    /// Lines whose entries have indices in `0..width`; `names` are the nouns for a line and an index in messages.
    pub(super) fn new(
        names: [&str; 2],
        starts: &[impl Index],
        places: &[impl Index],
        values: Cow<'a, [T]>,
        width: usize,
    ) -> Result<Self> {
        let [line, place] = names;
        if places.len() != values.len() {
            return Err(wrong(format!(
                "they have {} {place} {} for {}",
                places.len(),
                if places.len() == 1 { "index" } else { "indices" },
                counted(values.len() as u64, "value")
            )));
        }
        let most = u32::MAX as usize;
        if width > most || starts.len().saturating_sub(1) > most {
            return Err(wrong(format!("they have more than {most} rows or columns")));
        }
        let mut ends = Vec::with_capacity(starts.len());
        for (i, start) in starts.iter().enumerate() {
            let least = ends.last().copied().unwrap_or(0);
            let most = if i == 0 { 0 } else { values.len() };
            let at = start.place().filter(|&at| (least..=most).contains(&at)).ok_or_else(|| {
                let range = if i == 0 { "0".into() } else { format!("from {least} to {most}") };
                wrong(format!("entry {i} of the array of {line} starts is {start}, but must be {range}"))
            })?;
            ends.push(at);
        }
        let Some(&stored) = ends.last() else {
            return Err(wrong(format!("the array of {line} starts is empty")));
        };
        let mut found = Vec::with_capacity(stored);
        for index in &places[..stored] {
            let at = index.place().filter(|&at| at < width).ok_or_else(|| {
                wrong(format!("an entry is in {place} {index}, and there are {width} {place}s"))
            })?;
            found.push(at as u32);
        }
        let values = match values {
            Cow::Borrowed(values) => Cow::Borrowed(&values[..stored]),
            Cow::Owned(mut values) => {
                values.truncate(stored);
                Cow::Owned(values)
            }
        };
        Ok(Self { starts: ends.into(), places: found.into(), values }.canonical())
    }

    /// Sorted within each line, with duplicate entries summed.
    fn canonical(self) -> Self {
        let ascending = |i: usize| self.line(i).0.windows(2).all(|pair| pair[0] < pair[1]);
        if (0..self.len()).all(ascending) {
            return self;
        }
        let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::<T>::new());
        let mut entries = Vec::new();
        for i in 0..self.len() {
            let (at, numbers) = self.line(i);
            entries.clear();
            entries.extend(at.iter().zip(numbers).map(|(&j, x)| (j, x.to_f64())));
            // Stable, so that duplicates are summed in the order in which they were stored.
            entries.sort_by_key(|e| e.0);
            for same in entries.chunk_by(|a, b| a.0 == b.0) {
                places.push(same[0].0);
                values.push(T::from_f64(same.iter().map(|e| e.1).sum()));
            }
            starts.push(places.len());
        }
        Self { starts: starts.into(), places: places.into(), values: values.into() }
    }

    /// The same layout, borrowed.
    pub(super) fn lent(&self) -> Layout<'_, T> {
        let (starts, places, values) = (&*self.starts, &*self.places, &*self.values);
        Layout { starts: starts.into(), places: places.into(), values: values.into() }
    }

    /// The lines.
    pub(super) fn lines(&self) -> Lines<'_, T> {
        Lines::new(&self.starts, &self.places, &self.values)
    }

    /// Number of lines.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of entries.
    pub(super) fn stored(&self) -> usize {
        self.places.len()
    }

    /// Entries of line `i`: indices and values.
    pub(super) fn line(&self, i: usize) -> (&[u32], &[T]) {
        self.lines().line(i)
    }

    /// Entries of line `i` whose indices are in `within`.
    pub(super) fn part(&self, i: usize, within: std::ops::Range<usize>) -> (&[u32], &[T]) {
        self.lines().part(i, within)
    }

    /// The transposed layout of `width` lines, by a counting sort. `O(stored + width)`.
    pub(super) fn exchanged<'b>(&self, width: usize) -> Layout<'b, T> {
        let mut starts = vec![0usize; width + 1];
        for &at in &*self.places {
            starts[at as usize + 1] += 1;
        }
        (0..width).for_each(|i| starts[i + 1] += starts[i]);
        let mut next = starts.clone();
        let (mut places, mut values) = (vec![0; self.stored()], vec![T::default(); self.stored()]);
        for i in 0..self.len() {
            let (at, numbers) = self.line(i);
            for (&j, &x) in at.iter().zip(numbers) {
                let to = &mut next[j as usize];
                (places[*to], values[*to]) = (i as u32, x);
                *to += 1;
            }
        }
        Layout { starts: starts.into(), places: places.into(), values: values.into() }
    }
}

pub(super) fn wrong(found: String) -> Error {
    Error::unsupported(
        "reading sparse rows",
        found,
        "check the arrays; scipy's check_format() and sum_duplicates() may help",
    )
}
