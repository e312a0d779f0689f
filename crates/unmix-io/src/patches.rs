//! Patches of images as rows, cut where they are read.

use crate::Wording;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use unmix::data::{Bytes, RandomAccess, Source, Stream};
use unmix::internal::num::random;
use unmix::{Error, Result};

/// Number of the stream of draws that patches are drawn from.
const PATCH_STREAM: u64 = 0x7061_7463;

/// An image among the pixels of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StoredImage {
    /// Its first number.
    pub(crate) start: u64,
    pub(crate) height: usize,
    pub(crate) width: usize,
}

/// Patches of images whose pixels are stored one image after the other, as doubles.
#[derive(Clone)]
pub(crate) struct Patches {
    pixels: Arc<Bytes<'static>>,
    pub(crate) images: Vec<StoredImage>,
    pub(crate) how: crate::Patches,
    pub(crate) channels: usize,
    pub(crate) stride: (usize, usize),
    pub(crate) wording: Wording,
    /// The number of each image's first patch, and that of all patches at the end.
    starts: Vec<u64>,
    /// The patches that were drawn, in order; all by default.
    drawn: Option<Vec<u64>>,
}

/// The number of the first patch of each image, patches `stride` pixels apart, and that of all patches at the end.
fn starts(
    images: &[StoredImage],
    how: &crate::Patches,
    stride: (usize, usize),
    wording: Wording,
) -> Result<Vec<u64>> {
    let mut starts = vec![0u64];
    for image in images {
        let fit = |length: usize, patch: usize, step: usize| {
            let padded = how.padding.checked_mul(2).and_then(|p| p.checked_add(length));
            let room = padded.filter(|_| how.padding <= 1 << 20).and_then(|l| l.checked_sub(patch));
            room.map(|room| (room / step) as u64 + 1)
        };
        let down = fit(image.height, how.height, stride.0);
        let Some((down, across)) = down.zip(fit(image.width, how.width, stride.1)) else {
            let why = format!(
                "an image has {} x {} pixels and a padding of {}",
                image.height, image.width, how.padding
            );
            let requested = wording.size_value(how.height, how.width);
            return Err(Error::setting(
                "patches",
                requested,
                why,
                "choose patches that fit into every image",
            ));
        };
        let before = starts[starts.len() - 1];
        starts.push(before.saturating_add(down.saturating_mul(across)));
    }
    Ok(starts)
}

impl Patches {
    /// Patches of `images`, of which there is at least one.
    ///
    /// # Errors
    ///
    /// An empty patch, one larger than an image, more of them than there are.
    pub(crate) fn new(
        pixels: Bytes<'static>,
        images: Vec<StoredImage>,
        how: crate::Patches,
        channels: usize,
        wording: Wording,
    ) -> Result<Self> {
        if how.height == 0 || how.width == 0 {
            let requested = wording.size_value(how.height, how.width);
            let why = format!("must be at least {}", wording.size_value(1, 1));
            return Err(Error::setting("patches", requested, why, ""));
        }
        if how.stride == Some(0) {
            return Err(Error::setting("stride", 0, "must be at least 1", ""));
        }
        let side_by_side = if how.number.is_some() { (1, 1) } else { (how.height, how.width) };
        let stride = how.stride.map_or(side_by_side, |s| (s, s));
        let starts = starts(&images, &how, stride, wording)?;
        let all = starts[starts.len() - 1];
        let drawn = match how.number {
            None => None,
            Some(0) => return Err(Error::setting("number", 0, "must be at least 1", "")),
            Some(n) if n as u64 > all => {
                let why = format!(
                    "the images have {all} {} of {} x {} pixels, which are drawn without replacement",
                    if all == 1 { "patch" } else { "patches" },
                    how.height,
                    how.width
                );
                return Err(Error::setting("number", n, why, format!("draw {all} or fewer")));
            }
            Some(n) => Some(draw(all, n as u64, how.seed)),
        };
        Ok(Self { pixels: Arc::new(pixels), images, how, channels, stride, wording, starts, drawn })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.drawn.as_ref().map_or(self.starts[self.starts.len() - 1], |drawn| drawn.len() as u64)
    }

    /// Numbers in one.
    pub(crate) fn n_features(&self) -> usize {
        self.how.height * self.how.width * self.channels
    }

    /// The number of the image that patch `i` is cut from, and its first row and column in the padded image.
    pub(crate) fn place(&self, i: u64) -> (usize, usize, usize) {
        let i = self.drawn.as_ref().map_or(i, |drawn| drawn[i as usize]);
        let at = self.starts.partition_point(|&start| start <= i) - 1;
        let i = i - self.starts[at];
        let padded = self.images[at].width + 2 * self.how.padding;
        let across = ((padded - self.how.width) / self.stride.1) as u64 + 1;
        (at, (i / across) as usize * self.stride.0, (i % across) as usize * self.stride.1)
    }

    /// Writes patch `i` over `out`.
    pub(crate) fn patch(&self, i: u64, out: &mut [f64]) -> Result<()> {
        self.pixels_of(i, out)?;
        if self.how.normalise {
            normalise(out);
        }
        Ok(())
    }

    /// Writes the pixels of patch `i` over `out`, as they are in the image.
    pub(crate) fn pixels_of(&self, i: u64, out: &mut [f64]) -> Result<()> {
        let (at, top, left) = self.place(i);
        let (image, padding) = (self.images[at], self.how.padding);
        let inside = left >= padding && left - padding + self.how.width <= image.width;
        for (y, out) in out.chunks_exact_mut(self.how.width * self.channels).enumerate() {
            let line =
                image.start + (mirrored(top + y, padding, image.height) * image.width * self.channels) as u64;
            if inside {
                self.run(line + ((left - padding) * self.channels) as u64, out)?;
                continue;
            }
            for (x, out) in out.chunks_exact_mut(self.channels).enumerate() {
                self.run(line + (mirrored(left + x, padding, image.width) * self.channels) as u64, out)?;
            }
        }
        Ok(())
    }

    /// Pixels one after the other, from number `start` on.
    pub(crate) fn run(&self, start: u64, out: &mut [f64]) -> Result<()> {
        if let Some(data) = self.pixels.in_memory() {
            let from = data[8 * start as usize..].as_chunks::<8>().0;
            out.iter_mut().zip(from).for_each(|(out, bytes)| *out = f64::from_ne_bytes(*bytes));
            return Ok(());
        }
        let mut raw = vec![0; 8 * out.len()];
        self.pixels.read_at(8 * start, &mut raw)?;
        out.iter_mut().zip(raw.as_chunks::<8>().0).for_each(|(out, bytes)| *out = f64::from_ne_bytes(*bytes));
        Ok(())
    }
}

/// Where pixel `i` of a padded axis comes from: beyond an edge the image continues as in a mirror, the edge included.
fn mirrored(i: usize, padding: usize, length: usize) -> usize {
    let at = (i + 2 * length * padding.div_ceil(2 * length) - padding) % (2 * length);
    if at < length { at } else { 2 * length - 1 - at }
}

/// Mean and standard deviation of a patch. Rounding errors of a constant patch are not contrast: its deviation is 0.
pub(crate) fn moments(patch: &[f64]) -> (f64, f64) {
    let n = patch.len() as f64;
    let flat = patch.iter().all(|&x| x == patch[0]);
    let mean = patch.iter().sum::<f64>() / n;
    let deviation = (patch.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
    (mean, if flat { 0.0 } else { deviation })
}

/// Mean 0 and standard deviation 1, or all zeros.
fn normalise(patch: &mut [f64]) {
    let (mean, deviation) = moments(patch);
    patch.iter_mut().for_each(|x| *x = if deviation == 0.0 { 0.0 } else { (*x - mean) / deviation });
}

/// `n` of the numbers below `all`, each set as likely as another (Floyd's method), in order.
fn draw(all: u64, n: u64, seed: u64) -> Vec<u64> {
    let draws = random::Stream::new(seed, PATCH_STREAM);
    let mut drawn = BTreeSet::new();
    for last in all - n..all {
        let one = ((u128::from(draws.bits(last)) * (u128::from(last) + 1)) >> 64) as u64;
        if !drawn.insert(one) {
            drawn.insert(last);
        }
    }
    drawn.into_iter().collect()
}

impl Source<f64> for Patches {
    fn n_features(&self) -> usize {
        self.n_features()
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.len())
    }

    fn stream(&self) -> Result<Box<dyn Stream<f64> + '_>> {
        Ok(Box::new(ForwardReader { patches: self, next: 0 }))
    }

    fn random(&self) -> Option<&dyn RandomAccess<f64>> {
        Some(self)
    }
}

impl RandomAccess<f64> for Patches {
    fn n_rows(&self) -> u64 {
        self.len()
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [f64], _: &mut Vec<u8>) -> Result<()> {
        let mut patch = vec![0.0; self.n_features()];
        for (i, out) in rows.zip(out.chunks_exact_mut(columns.len().max(1))) {
            self.patch(i, &mut patch)?;
            out.copy_from_slice(&patch[columns.clone()]);
        }
        Ok(())
    }
}

/// Reads forward.
struct ForwardReader<'a> {
    patches: &'a Patches,
    next: u64,
}

impl Stream<f64> for ForwardReader<'_> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<f64>) -> Result<usize> {
        let (p, end) =
            (self.patches.n_features(), self.patches.len().min(self.next.saturating_add(max_rows as u64)));
        let (n, start) = ((end - self.next) as usize, out.len());
        out.resize(start + n * p, 0.0);
        self.patches.read(self.next..end, 0..p, &mut out[start..], &mut Vec::new())?;
        self.next = end;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrored_padding_repeats_the_edge() {
        let padded = |n: usize, padding: usize| {
            (0..n + 2 * padding).map(|i| mirrored(i, padding, n)).collect::<Vec<_>>()
        };
        // numpy.pad(range(3), 2, 'symmetric'), and one pad longer than the image.
        assert_eq!(padded(3, 2), [1, 0, 0, 1, 2, 2, 1]);
        assert_eq!(padded(2, 5), [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn draws_are_distinct_in_order_and_complete() {
        assert_eq!(draw(5, 5, 3), [0, 1, 2, 3, 4]);
        let some = draw(1_000_000, 1000, 7);
        assert!(some.len() == 1000 && some.is_sorted() && some != draw(1_000_000, 1000, 8));
        let mean = some.iter().sum::<u64>() as f64 / 1000.0;
        // The standard error of the mean is 9124; four of them.
        assert!((mean - 5e5).abs() < 36_500.0, "{mean}");
    }
}
