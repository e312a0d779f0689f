//! Dropout of codes, and input noise of rows. Every draw is a function of the seed, the iteration, the index of the row in the data and the
//! position in it, so that the result does not depend on blocks, threads and workers.

use crate::error::Result;
use crate::num::Real;
use crate::num::random::Stream;
use crate::stats::{Packer, Unpacker};

/// Order of dropout and scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropoutPlace {
    /// After scaling: second moments decrease.
    After,
    /// Before scaling: second moments after dropout are 1.
    Before,
}

/// Dropout of codes in this iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// Probability of dropping a code.
    pub rate: f64,
    /// Before or after scaling of the units.
    pub place: DropoutPlace,
}

/// Corruption of rows before they are encoded.
#[derive(Clone, Debug, PartialEq)]
pub enum InputNoise {
    /// An entry is set to 0 with this probability.
    Mask(f64),
    /// An entry is set to 0 or to 1, each with half this probability.
    SaltPepper(f64),
    /// Gaussian noise with these standard deviations, one for each column.
    Gaussian(Vec<f64>),
}

/// Corruption in one iteration.
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

/// First random stream of dropout, distinct from those of other draws.
const DROPOUT_STREAM: u64 = 1 << 40;
const INPUT_NOISE_STREAM: u64 = 2 << 40;

impl Corruption {
    /// Drops codes of a row. `row` is its index in the data.
    pub fn drop_codes<T: Real>(&self, row: u64, codes: &mut [T]) {
        let Some(Dropout { rate, .. }) = self.dropout else { return };
        let (draws, l) = (Stream::new(self.seed, DROPOUT_STREAM + self.iteration), codes.len() as u64);
        for (j, code) in codes.iter_mut().enumerate() {
            if draws.uniform(row * l + j as u64) < rate {
                *code = T::default();
            }
        }
    }

    /// Writes a corrupted copy of a row to `out`.
    pub fn corrupt<T: Real>(&self, row: u64, x: &[T], out: &mut [T]) {
        let (draws, m) = (Stream::new(self.seed, INPUT_NOISE_STREAM + self.iteration), x.len() as u64);
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
        from.check(place <= 2)?;
        let place = match place {
            0 => None,
            1 => Some(DropoutPlace::After),
            _ => Some(DropoutPlace::Before),
        };
        let dropout = place.map(|place| Dropout { rate, place });
        let (kind, numbers) = (from.count()?, from.numbers()?);
        from.check(kind == 3 || (kind < 3 && numbers.len() == usize::from(kind > 0)))?;
        let noise = match kind {
            0 => None,
            1 => Some(InputNoise::Mask(numbers[0])),
            2 => Some(InputNoise::SaltPepper(numbers[0])),
            _ => Some(InputNoise::Gaussian(numbers)),
        };
        Ok(Self { seed, iteration, dropout, noise })
    }
}
