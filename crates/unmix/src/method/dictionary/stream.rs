//! The state of an online fit to a stream of rows, stored as tensors of the model, from which learning continues with the same bits.
//!
//! Rows are cut into batches of `batch_size` in their order, independent of the sizes of the arrays given; an incomplete batch is
//! kept.

use crate::error::{Error, Result};
use crate::model::{Tensor, Tensors, require};
use crate::num::{Dtype, Matrix};
use crate::sparse::{OnlineState, Worst, WorstRow};

/// Names of the tensors: counts, atoms, sums over codes, sums over codes and rows, buffered rows, rows with the largest
/// reconstruction errors.
const COUNTS: &str = "stream";
const ATOMS: &str = "stream_atoms";
const CODES: &str = "stream_codes";
const ROWS: &str = "stream_rows";
const WAITING: &str = "stream_waiting";
const WORST: &str = "stream_worst";

/// The state of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stream {
    /// Number of rows, including buffered ones.
    pub(super) n: u64,
    /// Number of atoms.
    pub(super) k: usize,
    /// Seed of the first call.
    pub(super) seed: u64,
    /// Atoms and sums, once the first batch is full.
    pub(super) begun: Option<StreamAtoms>,
    /// Initial atoms if they were given, until the first batch is full.
    pub(super) start: Option<Matrix<f64>>,
    /// Rows of an incomplete batch, `p` numbers each.
    pub(super) waiting: Vec<f64>,
}

/// State of a stream after initial atoms have been chosen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StreamAtoms {
    pub(super) alpha: f64,
    pub(super) state: OnlineState,
}

/// A 64-bit integer as two numbers that double precision represents exactly.
fn halves(x: u64) -> [f64; 2] {
    [(x >> 32) as f64, (x & 0xffff_ffff) as f64]
}

fn whole(halves: &[f64]) -> u64 {
    ((halves[0] as u64) << 32) | halves[1] as u64
}

/// Number of entries of the header of `stream`, before those of each atom.
const HEADER_LENGTH: usize = 13;

impl Stream {
    /// The state as tensors, for rows of `p` numbers.
    pub(super) fn tensors(&self, p: usize) -> Vec<(&'static str, Tensor)> {
        let [high, low] = halves(self.seed);
        let alpha = self.begun.as_ref().map_or(0.0, |begun| begun.alpha);
        let mut counts = vec![self.n as f64, self.k as f64, high, low, alpha];
        let none = OnlineState::new(Matrix::zeros(0, p));
        let at = self.begun.as_ref().map_or(&none, |begun| &begun.state);
        let numbers = [at.t, at.since, at.dead, at.replaced];
        counts.extend(numbers.iter().map(|x| *x as f64));
        counts.extend([
            at.weight,
            at.largest,
            at.worst.0.len() as f64,
            f64::from(u8::from(self.begun.is_some())),
        ]);
        debug_assert_eq!(counts.len(), HEADER_LENGTH);
        counts.extend(at.recent.iter().map(|n| *n as f64));
        counts.extend(&at.share);
        counts.extend(&at.size);
        let mut out = vec![(COUNTS, Tensor::vector(&counts, Dtype::F64))];
        let table = |m: &Matrix<f64>| Tensor::matrix(m, Dtype::F64);
        if self.begun.is_some() {
            out.extend([(ATOMS, table(&at.atoms)), (CODES, table(&at.codes)), (ROWS, table(&at.rows))]);
        } else if let Some(start) = &self.start {
            out.push((ATOMS, table(start)));
        }
        if !self.waiting.is_empty() {
            let waiting = Matrix::from_vec(self.waiting.len() / p, p, self.waiting.clone());
            out.push((WAITING, table(&waiting)));
        }
        if !at.worst.0.is_empty() {
            let line = |poor: &WorstRow| [&[poor.square, poor.row as f64][..], &poor.x].concat();
            let lines: Vec<f64> = at.worst.0.iter().flat_map(line).collect();
            out.push((WORST, table(&Matrix::from_vec(at.worst.0.len(), p + 2, lines))));
        }
        out
    }

    /// Whether these tensors hold a stream.
    pub(super) fn is_in(tensors: &Tensors) -> bool {
        tensors.contains_key(COUNTS)
    }

    /// From the tensors of a model of rows of `p` numbers; `None` if they hold no stream.
    pub(super) fn of(tensors: &Tensors, p: usize) -> Result<Option<Self>> {
        let Some(counts) = tensors.get(COUNTS) else { return Ok(None) };
        let counts = counts.f64s();
        let (head, rest) = counts.split_at_checked(HEADER_LENGTH).ok_or_else(Error::corrupt_stream)?;
        let (n, k, seed) = (head[0] as u64, head[1] as usize, whole(&head[2..4]));
        let waiting = match tensors.contains_key(WAITING) {
            true => require(tensors, WAITING, &[None, Some(p)])?.f64s(),
            false => Vec::new(),
        };
        let table = |name: &str, cols: usize| {
            Ok::<_, Error>(require(tensors, name, &[Some(k), Some(cols)])?.to_matrix())
        };
        if head[12] == 0.0 {
            let start = tensors.contains_key(ATOMS).then(|| table(ATOMS, p)).transpose()?;
            return Ok(Some(Self { n, k, seed, begun: None, start, waiting }));
        }
        let mut state = OnlineState::new(table(ATOMS, p)?);
        (state.codes, state.rows) = (table(CODES, k)?, table(ROWS, p)?);
        if rest.len() != 3 * k {
            return Err(Error::corrupt_stream());
        }
        state.recent = rest[..k].iter().map(|x| *x as u64).collect();
        (state.share, state.size) = (rest[k..2 * k].to_vec(), rest[2 * k..].to_vec());
        (state.t, state.since) = (head[5] as u64, head[6] as u64);
        (state.dead, state.replaced) = (head[7] as u64, head[8] as u64);
        (state.weight, state.largest) = (head[9], head[10]);
        if head[11] > 0.0 {
            let lines = require(tensors, WORST, &[Some(head[11] as usize), Some(p + 2)])?.f64s();
            let poor =
                |line: &[f64]| WorstRow { square: line[0], row: line[1] as u64, x: line[2..].to_vec() };
            state.worst = Worst(lines.chunks_exact(p + 2).map(poor).collect());
        }
        Ok(Some(Self {
            n,
            k,
            seed,
            begun: Some(StreamAtoms { alpha: head[4], state }),
            start: None,
            waiting,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_restored_from_its_tensors() {
        let mut state = OnlineState::new(Matrix::from_fn(3, 2, |i, j| (i + 10 * j) as f64));
        state.worst = Worst(vec![WorstRow { square: 2.0, row: 5, x: vec![1.0, -1.0] }]);
        (state.t, state.since, state.replaced) = (9, 4, 2);
        state.recent = vec![1, 0, 7];
        state.size = vec![0.1, 0.2, 0.3];
        let begun = Some(StreamAtoms { alpha: 0.25, state });
        let seed = 0xfedc_ba98_7654_3210;
        for stream in [
            Stream { n: 77, k: 3, seed, begun, start: None, waiting: vec![1.0, 2.0] },
            Stream {
                n: 1,
                k: 3,
                seed,
                begun: None,
                start: Some(Matrix::from_fn(3, 2, |i, j| (i + j) as f64)),
                waiting: vec![3.0, 4.0],
            },
            Stream { n: 0, k: 3, seed, begun: None, start: None, waiting: vec![] },
        ] {
            let named = stream.tensors(2).into_iter().map(|(name, tensor)| (name.to_string(), tensor));
            assert_eq!(Stream::of(&named.collect(), 2).unwrap(), Some(stream));
        }
        assert_eq!(Stream::of(&Tensors::new(), 2).unwrap(), None);
    }
}
