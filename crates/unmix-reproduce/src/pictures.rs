//! Patches of pictures, cut as in the published experiments: at every position, zero-padded, each feature standardised.

mod grey;
mod whole;

pub(crate) use grey::{GreyPatches, grey_patches};
pub(crate) use whole::{PictureRows, PictureSet, rows_of_pictures};

use crate::Options;
use std::io::Read;
use std::path::Path;
use unmix::datasets::{Pictures, leaves};
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Error, Real, Result, Run};

/// Side of a patch.
pub(crate) const SIDE: usize = 11;

/// Patches, and their origin.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PatchSet {
    /// Rows of `SIDE x SIDE x channels` numbers, mean 0, in random order.
    pub x: Vec<f32>,
    /// (height, width) or (height, width, 3).
    pub shape: Vec<usize>,
    /// Description of the origin.
    pub origin: String,
    /// Whether published numbers are for these pictures.
    pub known: PublishedPictures,
}

/// Pictures for which numbers are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublishedPictures {
    /// The first 500 photographs of CIFAR-10.
    Cifar10,
    /// The first 500 digits of MNIST.
    Mnist,
    /// Any others, or fewer of those.
    Other,
}

impl PublishedPictures {
    /// The full set of the published pictures, recognised by the bytes of the first: other data sets use the same file names.
    fn of(pictures: &Pictures) -> Self {
        let one = pictures.height * pictures.width * pictures.channels;
        let sum: f64 = pictures.values.iter().take(one).map(|v| v * 255.0).sum();
        match (pictures.n, one, sum.round() as u64) {
            (500, 3072, 317_790) => Self::Cifar10,
            (500, 784, 27_525) => Self::Mnist,
            _ => Self::Other,
        }
    }
}

impl PatchSet {
    /// Numbers in a patch.
    pub fn n_features(&self) -> usize {
        self.shape.iter().product()
    }

    /// Number of patches.
    pub fn len(&self) -> usize {
        self.x.len() / self.n_features()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.shape.get(2).copied().unwrap_or(1)
    }
}

/// The patches that `options` select.
pub(crate) fn patches(options: &Options, run: &Run<'_>) -> Result<PatchSet> {
    let many = |full: usize, quick: usize| if options.quick { quick } else { full };
    let Some(path) = &options.pictures else {
        let n = many(64, 12);
        let origin = format!("{n} synthetic pictures of 32x32 pixels (fallen leaves), all 11x11 patches");
        return Ok(cut(&leaves(n, 32, 0), origin));
    };
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if name.contains(".bin") {
        let pictures = cifar(path, many(500, 40))?;
        let origin = format!("the first {} pictures of CIFAR-10, all 11x11 patches", pictures.n);
        return Ok(cut(&pictures, origin));
    }
    if path.is_dir() {
        return folder(path, many(60_000, 12_000), run);
    }
    let pictures = opened(path, many(500, 60), run)?;
    let origin = format!("the first {} pictures of {name}, all 11x11 patches", pictures.n);
    Ok(cut(&pictures, origin))
}

/// Every patch of every zero-padded picture; each feature is centred and divided by `sqrt(variance + 0.001)`, and rows are
/// shuffled, so that the first of them are a random sample.
fn cut(pictures: &Pictures, origin: String) -> PatchSet {
    let (h, w, c, half) = (pictures.height, pictures.width, pictures.channels, SIDE / 2);
    let p = SIDE * SIDE * c;
    let mut places: Vec<u32> = (0..(pictures.n * h * w) as u32).collect();
    Stream::new(0, 30).shuffle(0, &mut places);
    let mut x = vec![0.0f32; places.len() * p];
    for (place, patch) in places.iter().zip(x.chunks_exact_mut(p)) {
        let (picture, at) = (*place as usize / (h * w), *place as usize % (h * w));
        let (cy, cx) = (at / w, at % w);
        for dy in 0..SIDE {
            let Some(y) = (cy + dy).checked_sub(half).filter(|y| *y < h) else { continue };
            for dx in 0..SIDE {
                let Some(x) = (cx + dx).checked_sub(half).filter(|x| *x < w) else { continue };
                let from = ((picture * h + y) * w + x) * c;
                for channel in 0..c {
                    patch[(dy * SIDE + dx) * c + channel] = pictures.values[from + channel] as f32;
                }
            }
        }
    }
    standardise(&mut x, p);
    let shape = if c == 1 { vec![SIDE, SIDE] } else { vec![SIDE, SIDE, c] };
    PatchSet { x, shape, origin, known: PublishedPictures::of(pictures) }
}

fn standardise(x: &mut [f32], p: usize) {
    let n = (x.len() / p) as f64;
    let mut mean = vec![0.0f64; p];
    x.chunks_exact(p).for_each(|row| row.iter().zip(&mut mean).for_each(|(v, m)| *m += f64::from(*v) / n));
    let mut variance = vec![0.0f64; p];
    for row in x.chunks_exact(p) {
        row.iter()
            .zip(&mean)
            .zip(&mut variance)
            .for_each(|((v, m), s)| *s += (f64::from(*v) - m).powi(2) / n);
    }
    let scale: Vec<f64> = variance.iter().map(|v| 1.0 / (v + 1e-3).sqrt()).collect();
    for row in x.chunks_exact_mut(p) {
        row.iter_mut().zip(&mean).zip(&scale).for_each(|((v, m), s)| *v = ((f64::from(*v) - m) * s) as f32);
    }
}

/// The bytes of a file, decompressed if it is compressed by gzip.
pub(crate) fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let cannot = |e| Error::io("cannot read", path, e);
    let raw = std::fs::read(path).map_err(cannot)?;
    if !raw.starts_with(&[0x1f, 0x8b]) {
        return Ok(raw);
    }
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(raw.as_slice()).read_to_end(&mut out).map_err(cannot)?;
    Ok(out)
}

/// The first `most` pictures of a batch of CIFAR-10: records of a label and three planes of 32x32 bytes.
pub(crate) fn cifar(path: &Path, most: usize) -> Result<Pictures> {
    let bytes = unpacked(path)?;
    const PLANE: usize = 32 * 32;
    if bytes.is_empty() || bytes.len() % (1 + 3 * PLANE) != 0 {
        let found = format!("its {} bytes are not a multiple of a record of 3073 bytes", bytes.len());
        return Err(Error::format(path, found, "give a batch of CIFAR-10 in its binary version"));
    }
    let records = bytes.chunks_exact(1 + 3 * PLANE).take(most);
    let n = records.len();
    let values = records
        .flat_map(|record| {
            (0..PLANE).flat_map(move |i| [0, 1, 2].map(|c| f64::from(record[1 + c * PLANE + i]) / 255.0))
        })
        .collect();
    Ok(Pictures { n, height: 32, width: 32, channels: 3, values })
}

/// How files are read. They are given on the command line, in whose notation messages name the options of reading.
pub(crate) fn reading() -> unmix_io::Options {
    unmix_io::Options { wording: unmix_io::Wording::Shell, ..Default::default() }
}

/// The first `most` rows of a file whose rows are pictures.
pub(crate) fn opened(path: &Path, most: usize, run: &Run<'_>) -> Result<Pictures> {
    let input = unmix_io::open_with(path, &reading(), run)?;
    let (height, width, channels) = match input.rows.features().shape.as_deref() {
        Some(&[h, w]) => (h, w, 1),
        Some(&[h, w, 3]) => (h, w, 3),
        other => return Err(no_pictures(path, other)),
    };
    let mut values = numbers(input.rows, most as u64, run)?;
    // Stored bytes range from 0 to 255.
    let scale = if values.iter().any(|v| *v > 1.0) { 1.0 / 255.0 } else { 1.0 };
    values.iter_mut().for_each(|v| *v *= scale);
    Ok(Pictures { n: values.len() / (height * width * channels), height, width, channels, values })
}

fn no_pictures(path: &Path, shape: Option<&[usize]>) -> Error {
    let found = shape.map_or("its rows have no shape".into(), |s| format!("its rows have shape {s:?}"));
    Error::format(path, found, "give rows of shape (height, width) or (height, width, 3)")
}

/// Patches drawn from a folder of images of any size.
fn folder(path: &Path, number: usize, run: &Run<'_>) -> Result<PatchSet> {
    let patches = unmix_io::Patches { number: Some(number), ..unmix_io::Patches::of(SIDE, SIDE) };
    let options = unmix_io::Options { patches: Some(patches), ..reading() };
    let input = unmix_io::open_with(path, &options, run)?;
    let shape = input.rows.features().shape.clone().unwrap_or_else(|| vec![SIDE, SIDE]);
    let values = numbers(input.rows, number as u64, run)?;
    let p: usize = shape.iter().product();
    let mut order: Vec<usize> = (0..values.len() / p).collect();
    Stream::new(0, 30).shuffle(0, &mut order);
    let mut x: Vec<f32> =
        order.iter().flat_map(|&i| values[i * p..][..p].iter().map(|&v| v as f32)).collect();
    standardise(&mut x, p);
    let origin =
        format!("{} patches of 11x11 pixels drawn from the images in {}", order.len(), path.display());
    Ok(PatchSet { x, shape, origin, known: PublishedPictures::Other })
}

/// The first `most` rows as doubles.
pub(crate) fn numbers(mut rows: AnyRows<'_>, most: u64, run: &Run<'_>) -> Result<Vec<f64>> {
    rows.prepare(run)?;
    let n = rows.n_rows().unwrap_or(0).min(most);
    Ok(unmix::with_rows!(&rows, rows => rows.read_range(0..n)?.iter().map(|v| v.to_f64()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_standardised_and_zero_beyond_the_edge() {
        let pictures = leaves(2, 16, 1);
        let set = cut(&pictures, String::new());
        assert_eq!((set.len(), set.n_features(), set.channels()), (512, 363, 3));
        assert_eq!(set.known, PublishedPictures::Other);
        for j in [0, 181, 362] {
            let column = || set.x.iter().skip(j).step_by(363).map(|&v| f64::from(v));
            let mean = column().sum::<f64>() / 512.0;
            let variance = column().map(|v| v * v).sum::<f64>() / 512.0;
            assert!(mean.abs() < 1e-5 && variance < 1.0 && variance > 0.95, "{mean} {variance}");
        }
    }
}
