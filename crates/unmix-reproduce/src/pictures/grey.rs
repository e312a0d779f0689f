//! Grey patches of pictures: a training set, and held-out ones.

use super::opened;
use crate::Options;
use unmix::datasets::{Pictures, leaves};
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Result, Run};

/// Patches of 8x8 pixels, not centred, from 0 to 1: a training set, and held-out ones.
pub(crate) struct GreyPatches {
    pub(crate) train: Matrix<f64>,
    pub(crate) held: Matrix<f64>,
    /// Description of the origin.
    pub(crate) origin: String,
    /// Whether they are from the digits of MNIST.
    pub(crate) mnist: bool,
}

/// Minimum standard deviation of a patch that is kept.
const LEAST_DEVIATION: f64 = 0.1;

/// `n` training patches and `held` held-out ones, at random positions of random pictures of the file that `options` name; the held-out ones
/// are from the file whose name has `t10k` instead of `train`, if it exists. Without a file, patches of synthetic pictures.
pub(crate) fn grey_patches(options: &Options, n: usize, held: usize, run: &Run<'_>) -> Result<GreyPatches> {
    let Some(path) = &options.pictures else {
        let (train, test) = (leaves(60, 28, 0), leaves(30, 28, 1));
        let origin = format!("{n} patches of 60 synthetic pictures, {held} of 30 others");
        let (train, held) = (grey_of(&train, n, 0), grey_of(&test, held, 1));
        return Ok(GreyPatches { train, held, origin, mnist: false });
    };
    let most = if options.quick { 5000 } else { 60_000 };
    let mut all = opened(path, most, run)?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let other = path.with_file_name(name.replace("train", "t10k"));
    let test = match name.contains("train") && other.exists() {
        true => opened(&other, 10_000, run)?,
        false => split(&mut all),
    };
    let one = all.height * all.width * all.channels;
    let sum: f64 = all.values.iter().take(one).map(|v| v * 255.0).sum();
    let mnist = one == 784 && sum.round() as u64 == 27_525;
    let origin = format!("{n} patches of {} pictures of {name}, {held} of {} others", all.n, test.n);
    let (train, held) = (grey_of(&all, n, 0), grey_of(&test, held, 1));
    Ok(GreyPatches { train, held, origin, mnist })
}

/// Removes and returns the last sixth.
fn split(all: &mut Pictures) -> Pictures {
    let one = all.height * all.width * all.channels;
    let n = all.n / 6;
    let values = all.values.split_off((all.n - n) * one);
    all.n -= n;
    Pictures { n, height: all.height, width: all.width, channels: all.channels, values }
}

/// `n` patches of 8x8 pixels, channels averaged, without nearly constant ones; each position is drawn from a separate stream.
fn grey_of(pictures: &Pictures, n: usize, seed: u64) -> Matrix<f64> {
    const SIDE: usize = 8;
    let (h, w, c) = (pictures.height, pictures.width, pictures.channels);
    let draws = Stream::new(seed, 72);
    let mut out = Vec::with_capacity(n * SIDE * SIDE);
    // Bounded, because all pictures may be constant.
    for i in 0..1000 * n as u64 {
        if out.len() == n * SIDE * SIDE || h < SIDE || w < SIDE {
            break;
        }
        let draw = |k: u64, from: usize| ((draws.uniform(3 * i + k) * from as f64) as usize).min(from - 1);
        let (picture, y, x) = (draw(0, pictures.n.max(1)), draw(1, h - SIDE + 1), draw(2, w - SIDE + 1));
        let pixel = |j: usize| {
            let at = ((picture * h + y + j / SIDE) * w + x + j % SIDE) * c;
            pictures.values[at..at + c].iter().sum::<f64>() / c as f64
        };
        let patch: Vec<f64> = (0..SIDE * SIDE).map(pixel).collect();
        let mean = patch.iter().sum::<f64>() / patch.len() as f64;
        let variance = patch.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / patch.len() as f64;
        if variance.sqrt() >= LEAST_DEVIATION {
            out.extend(patch);
        }
    }
    Matrix::from_vec(out.len() / (SIDE * SIDE), SIDE * SIDE, out)
}
