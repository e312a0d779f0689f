//! Consecutive rows encoded by the model: codes over time, and their spectra.

use crate::moments::{self, Moments};
use crate::sample::Quiet;
use unmix::data::RawArray;
use unmix::{Error, Matrix, Model, Real, Result, Rows, Run};

/// Components whose codes are drawn over time.
pub(crate) const MOST_DRAWN_SOURCES: usize = 16;

/// Maximum number of rows of which spectra are estimated.
const MOST_ROWS: u64 = 1 << 17;

/// Seconds of a longer recording that are drawn, and rows where there is no sampling rate.
const DRAWN_SECONDS: f64 = 12.0;
const DRAWN_ROWS: u64 = 2000;

/// Rows from the middle of the input.
pub(crate) struct Window {
    /// The first of those that are drawn.
    pub(crate) first: u64,
    /// Rows there are in all.
    pub(crate) n_rows: u64,
    /// Rows of which the spectra are estimated.
    pub(crate) n_spectrum: u64,
    /// A row for each component: its codes, those that are drawn.
    pub(crate) drawn: Vec<Vec<f64>>,
    /// For each component the power of its codes at each frequency; empty where no rate is known, or rows are few.
    pub(crate) spectra: Vec<Vec<f64>>,
    /// Moments of each component's codes over all rows, and not only over those that are drawn.
    pub(crate) moments: Vec<Moments>,
    /// Sampling rate, in rows per second.
    pub(crate) rate: Option<f64>,
}

impl Window {
    /// Reads consecutive rows; none where they cannot be read in any order.
    pub(crate) fn of<T: Real>(
        model: &Model,
        rows: &Rows<'_, T>,
        rate: Option<f64>,
        run: &Run<'_>,
    ) -> Result<Option<Self>> {
        let (k, p) = (model.n_codes(), model.n_features());
        let Some(n_rows) = rows.source().random().map(|r| r.n_rows()).filter(|n| *n >= 16) else {
            return Ok(None);
        };
        let drawn = rate.map_or(DRAWN_ROWS, |rate| ((DRAWN_SECONDS * rate) as u64).max(256)).min(n_rows);
        let length = if rate.is_some() { MOST_ROWS.max(drawn).min(n_rows) } else { drawn };
        let (first, start) = ((n_rows - drawn) / 2, (n_rows - length) / 2);
        let shown = k.min(MOST_DRAWN_SOURCES);
        let mut codes = vec![Vec::with_capacity(length as usize); shown];
        let quiet = Run { threads: run.threads, observer: &Quiet(run.observer), ..Run::default() };
        let step = (rows.plan().block_rows as u64).max(1);
        let mut at = start;
        while at < start + length {
            let block = rows.read_range(at..(at + step).min(start + length))?;
            let lent: Rows<'_, T> =
                Rows::new(RawArray::borrowed(&block, p)?, rows.features().clone(), rows.origin());
            for row in model.encode_to_vec(&lent, &quiet)?.chunks_exact(k.max(1)) {
                codes.iter_mut().zip(row).for_each(|(own, y)| own.push(y.to_f64()));
            }
            if run.observer.interrupted() {
                return Err(Error::Interrupted);
            }
            at += step;
        }
        let spectra = match rate {
            Some(rate) => codes.iter().map(|y| power(y, segment(rate, y.len()))).collect(),
            None => Vec::new(),
        };
        let part = (first - start) as usize..(first - start + drawn) as usize;
        let drawn = codes.into_iter().map(|y| y[part.clone()].to_vec()).collect();
        let moments = moments::of_codes(model, rows, run)?;
        Ok(Some(Self { first, n_rows, n_spectrum: length, drawn, spectra, moments, rate }))
    }
}

/// Rows of a segment: two seconds, rounded up to a power of 2, and at least four of them.
fn segment(rate: f64, n: usize) -> usize {
    let most = if n < 64 { 0 } else { 1 << (n / 4).ilog2() };
    ((2.0 * rate).max(16.0) as usize).next_power_of_two().min(1 << 14).min(most)
}

/// Power by frequency, from 0 to half the rate: the mean over half-overlapping segments of `size` rows, a power of 2, each less its
/// mean and multiplied by Hann's window (Welch 1967). Empty for `size` 0.
pub(crate) fn power(y: &[f64], size: usize) -> Vec<f64> {
    if size < 2 || y.len() < size {
        return Vec::new();
    }
    let turn = std::f64::consts::TAU / size as f64;
    let fade: Vec<f64> = (0..size).map(|i| 0.5 - 0.5 * (turn * i as f64).cos()).collect();
    let mut sum = vec![0.0; size / 2 + 1];
    let starts = (0..=y.len() - size).step_by(size / 2);
    let count = starts.clone().count() as f64;
    for start in starts {
        let part = &y[start..start + size];
        let mean = part.iter().sum::<f64>() / size as f64;
        let mut z: Vec<(f64, f64)> = part.iter().zip(&fade).map(|(y, f)| ((y - mean) * f, 0.0)).collect();
        transform(&mut z);
        sum.iter_mut().zip(&z).for_each(|(s, (re, im))| *s += re * re + im * im);
    }
    let scale = 1.0 / (count * fade.iter().map(|f| f * f).sum::<f64>());
    sum.iter_mut().for_each(|s| *s *= scale);
    sum
}

/// The discrete Fourier transform of `2^m` complex numbers, in place (Cooley & Tukey 1965).
fn transform(z: &mut [(f64, f64)]) {
    let n = z.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            z.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        let turn = -std::f64::consts::PI / half as f64;
        for start in (0..n).step_by(2 * half) {
            for i in 0..half {
                let (s, c) = (turn * i as f64).sin_cos();
                let (a, b) = (z[start + i], z[start + i + half]);
                let b = (b.0 * c - b.1 * s, b.0 * s + b.1 * c);
                (z[start + i], z[start + i + half]) = ((a.0 + b.0, a.1 + b.1), (a.0 - b.0, a.1 - b.1));
            }
        }
        half *= 2;
    }
}

/// Pairwise correlations of the codes of some rows by two models.
pub(crate) fn correlations(a: &[f64], b: &[f64], n: usize) -> Result<Matrix<f64>> {
    let table = |of: &[f64]| Matrix::from_vec(n, of.len() / n.max(1), of.to_vec());
    unmix::metrics::correlations(&table(a), &table(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn the_transform_is_the_sum_that_defines_it() {
        let z: Vec<(f64, f64)> = (0..16).map(|i| ((i * i % 7) as f64, (i % 3) as f64 - 1.0)).collect();
        let mut fast = z.clone();
        transform(&mut fast);
        for (k, found) in fast.iter().enumerate() {
            let slow = z.iter().enumerate().fold((0.0, 0.0), |sum, (j, (re, im))| {
                let (s, c) = (-TAU * (j * k) as f64 / 16.0).sin_cos();
                (sum.0 + re * c - im * s, sum.1 + re * s + im * c)
            });
            assert!((found.0 - slow.0).abs() < 1e-12 && (found.1 - slow.1).abs() < 1e-12, "{k}");
        }
    }

    #[test]
    fn a_sine_has_its_power_at_its_frequency_and_noise_everywhere() {
        let y: Vec<f64> = (0..4096).map(|i| (TAU * 10.0 * i as f64 / 128.0).sin()).collect();
        let size = segment(128.0, y.len());
        let spectrum = power(&y, size);
        let top = (0..spectrum.len()).max_by(|a, b| spectrum[*a].total_cmp(&spectrum[*b])).unwrap();
        assert_eq!((size, top as f64 * 128.0 / size as f64), (256, 10.0));
        let draws = unmix::datasets::independent(8192, &[unmix::datasets::Distribution::Gaussian], &[4.0], 0)
            .unwrap();
        let noise = power(draws.x.as_slice(), 64);
        // White noise of variance 4 has power 4 at every frequency except those that are subtracted with the mean.
        assert!(noise[3..30].iter().all(|p| (3.0..5.0).contains(p)), "{noise:?}");
        assert!(power(&y[..10], 16).is_empty() && segment(128.0, 40) == 0);
    }
}
