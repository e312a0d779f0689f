//! Random zeros: of codes (dropout) and of rows (input noise). Every draw is a function of the seed, the iteration, the number of the row in
//! the data and the place in it, so that blocks, threads and workers agree.

use crate::error::Result;
use crate::num::Real;
use crate::num::random::Stream;
use crate::stats::{Packer, Unpacker};

/// Where codes are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropoutPlace {
    /// After they are scaled: second moments fall.
    After,
    /// Before: second moments of what is left are 1.
    Before,
}

/// Codes that count as 0 in this iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// Probability of each.
    pub rate: f64,
    /// Before or after the units are scaled.
    pub place: DropoutPlace,
}

/// How rows are corrupted before they are encoded.
#[derive(Clone, Debug, PartialEq)]
pub enum InputNoise {
    /// An entry becomes 0 with this probability.
    Mask(f64),
    /// An entry becomes 0 or 1, each with half this probability.
    SaltPepper(f64),
    /// Normal numbers of these standard deviations are added, one for each column.
    Gaussian(Vec<f64>),
}

/// What is random in one iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corruption {
    /// Seed of the draws.
    pub seed: u64,
    /// Iteration.
    pub iteration: u64,
    /// Dropout of codes.
    pub dropout: Option<Dropout>,
    /// Corruption of rows.
    pub noise: Option<InputNoise>,
}

/// Streams of a seed that starts and other draws do not use.
const DROPOUT: u64 = 1 << 40;
const INPUT: u64 = 2 << 40;

impl Corruption {
    /// Sets codes of a row to 0. `row` is its number in the data.
    pub fn drop_codes<T: Real>(&self, row: u64, codes: &mut [T]) {
        let Some(Dropout { rate, .. }) = self.dropout else { return };
        let (draws, l) = (Stream::new(self.seed, DROPOUT + self.iteration), codes.len() as u64);
        for (j, code) in codes.iter_mut().enumerate() {
            if draws.uniform(row * l + j as u64) < rate {
                *code = T::default();
            }
        }
    }

    /// Writes a corrupted copy of a row to `out`.
    pub fn corrupt<T: Real>(&self, row: u64, x: &[T], out: &mut [T]) {
        let (draws, m) = (Stream::new(self.seed, INPUT + self.iteration), x.len() as u64);
        out.copy_from_slice(x);
        let own = |k: usize| row * m + k as u64;
        match &self.noise {
            None => {}
            Some(InputNoise::Mask(rate)) => {
                for (k, x) in out.iter_mut().enumerate() {
                    if draws.uniform(own(k)) < *rate {
                        *x = T::default();
                    }
                }
            }
            Some(InputNoise::SaltPepper(rate)) => {
                for (k, x) in out.iter_mut().enumerate() {
                    match draws.uniform(own(k)) {
                        u if u < 0.5 * rate => *x = T::default(),
                        u if u < *rate => *x = T::from_f64(1.0),
                        _ => {}
                    }
                }
            }
            Some(InputNoise::Gaussian(size)) => {
                for ((k, x), size) in out.iter_mut().enumerate().zip(size) {
                    *x = T::from_f64(x.to_f64() + size * draws.normal(own(k)));
                }
            }
        }
    }

    pub(super) fn pack(&self, out: &mut Packer) {
        out.count(self.seed);
        out.count(self.iteration);
        out.count(match self.dropout.map(|d| d.place) {
            None => 0,
            Some(DropoutPlace::After) => 1,
            Some(DropoutPlace::Before) => 2,
        });
        out.number(self.dropout.map_or(0.0, |d| d.rate));
        let (kind, numbers): (u64, &[f64]) = match &self.noise {
            None => (0, &[]),
            Some(InputNoise::Mask(rate)) => (1, std::slice::from_ref(rate)),
            Some(InputNoise::SaltPepper(rate)) => (2, std::slice::from_ref(rate)),
            Some(InputNoise::Gaussian(sizes)) => (3, sizes),
        };
        out.count(kind);
        out.numbers(numbers);
    }

    pub(super) fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (seed, iteration, place, rate) = (from.count()?, from.count()?, from.count()?, from.number()?);
        let place = match place {
            0 => None,
            1 => Some(DropoutPlace::After),
            _ => Some(DropoutPlace::Before),
        };
        let dropout = place.map(|place| Dropout { rate, place });
        let (kind, numbers) = (from.count()?, from.numbers()?);
        from.check(kind == 3 || numbers.len() == usize::from(kind > 0))?;
        let noise = match kind {
            0 => None,
            1 => Some(InputNoise::Mask(numbers[0])),
            2 => Some(InputNoise::SaltPepper(numbers[0])),
            _ => Some(InputNoise::Gaussian(numbers)),
        };
        Ok(Self { seed, iteration, dropout, noise })
    }
}
