//! Whole pictures as rows, from files or synthetic.

use super::{cifar, no_pictures, reading};
use crate::Options;
use unmix::data::OwnedRows;
use unmix::datasets::Pictures;
use unmix::{AnyRows, Matrix, Real, Result, Rows, Run};

/// Whole pictures as rows.
pub(crate) struct PictureRows {
    pub(crate) rows: AnyRows<'static>,
    /// (height, width) or (height, width, 3).
    pub(crate) shape: Vec<usize>,
    /// Description of the origin.
    pub(crate) origin: String,
    pub(crate) whole: PictureSet,
}

/// Sets of whole pictures for which numbers are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PictureSet {
    /// The 60,000 digits of MNIST's training part.
    Mnist,
    /// The 400 faces of the Olivetti set, 64 x 64 pixels each.
    Olivetti,
    /// The pictures of [`made`], whose spectrum is known exactly.
    Made,
    /// Any others.
    Other,
}

impl PictureSet {
    /// Recognised by the number of pictures, the number of their pixels, and the sum of the bytes of the first.
    fn of(n: u64, first: &[f64]) -> Self {
        match (n, first.len(), first.iter().sum::<f64>()) {
            (60_000, 784, 27_525.0) => Self::Mnist,
            (400, 4096, 631_263.0) => Self::Olivetti,
            _ => Self::Other,
        }
    }
}

impl PictureRows {
    /// 16 evenly spaced pictures.
    pub(crate) fn some(&self) -> Result<Matrix<f64>> {
        let n = self.rows.n_rows().unwrap_or(0);
        let p = self.shape.iter().product();
        let mut out = Vec::new();
        for i in 0..n.min(16) {
            out.extend(numbers_of(&self.rows, i * n / n.min(16))?);
        }
        Ok(Matrix::from_vec(out.len() / p, p, out))
    }
}

/// One row as doubles.
fn numbers_of(rows: &AnyRows<'_>, i: u64) -> Result<Vec<f64>> {
    unmix::with_rows!(rows, rows => Ok(rows.read_range(i..i + 1)?.iter().map(|v| v.to_f64()).collect()))
}

/// The whole pictures that `options` select: a file whose rows are pictures, a folder of images of equal size, or synthetic ones.
pub(crate) fn rows_of_pictures(options: &Options, run: &Run<'_>) -> Result<PictureRows> {
    let Some(path) = &options.pictures else {
        return Ok(made(if options.quick { 200 } else { 2000 }));
    };
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if name.contains(".bin") {
        let Pictures { n, height, width, channels, values } =
            cifar(path, if options.quick { 500 } else { 10_000 })?;
        let shape = vec![height, width, channels];
        let rows = held(values, shape.clone(), &name);
        let origin = format!("{n} pictures of CIFAR-10");
        return Ok(PictureRows { rows, shape, origin, whole: PictureSet::Other });
    }
    let mut rows = unmix_io::open_with(path, &reading(), run)?.rows;
    rows.prepare(run)?;
    let shape = match rows.features().shape.clone() {
        Some(shape) if matches!(shape[..], [_, _] | [_, _, 3]) => shape,
        other => return Err(no_pictures(path, other.as_deref())),
    };
    let n = rows.n_rows().unwrap_or(0);
    let whole = if n > 0 { PictureSet::of(n, &numbers_of(&rows, 0)?) } else { PictureSet::Other };
    let of = match whole {
        PictureSet::Mnist => "MNIST".to_string(),
        PictureSet::Olivetti => "the Olivetti faces".to_string(),
        _ => name,
    };
    let origin = format!("{n} pictures of {of}, {} x {} pixels", shape[0], shape[1]);
    Ok(PictureRows { rows, shape, origin, whole })
}

/// Numbers in memory as rows of pictures.
fn held(values: Vec<f64>, shape: Vec<usize>, name: &str) -> AnyRows<'static> {
    let p = shape.iter().product();
    let features = unmix::data::Features { names: None, shape: Some(shape) };
    AnyRows::F64(Rows::new(OwnedRows::new(values, p).expect("pictures of one shape"), features, name))
}

/// Side of a synthetic picture, and the numbers of waves, down and across, of its patterns; the first is that of the mean.
const SYNTHETIC_SIDE: usize = 16;
const WAVES: [(usize, usize); 13] =
    [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1), (2, 2), (0, 3), (3, 0), (1, 3), (3, 1)];

/// `n` pictures whose spectrum is known exactly: a mean (grey, plus a wave that no pattern contains) and twelve orthonormal patterns (cosine
/// waves), whose weights are orthogonal to each other and to the mean, with variances that decrease by the factor 0.7.
fn made(n: usize) -> PictureRows {
    let wave = |frequency: usize, at: usize, length: usize| {
        let size = if frequency == 0 { 1.0 } else { 2.0f64.sqrt() };
        size * (std::f64::consts::PI * frequency as f64 * (at as f64 + 0.5) / length as f64).cos()
    };
    let pattern = |(down, across): (usize, usize), j: usize| {
        wave(down, j / SYNTHETIC_SIDE, SYNTHETIC_SIDE) * wave(across, j % SYNTHETIC_SIDE, SYNTHETIC_SIDE)
            / SYNTHETIC_SIDE as f64
    };
    let patterns = Matrix::from_fn(WAVES.len(), SYNTHETIC_SIDE * SYNTHETIC_SIDE, |i, j| match i {
        0 => 0.8 * pattern(WAVES[0], j) + 0.6 * pattern((3, 3), j),
        i => pattern(WAVES[i], j),
    });
    let all: f64 = (0..12).map(|i| 0.7f64.powi(i)).sum();
    let weights = Matrix::from_fn(n, WAVES.len(), |i, j| match j {
        0 => 3.0f64.sqrt(),
        // Very different frequencies, so that successive pictures differ.
        j => (0.7f64.powi(j as i32 - 1) / all).sqrt() * wave(7 * j, i, n),
    });
    let values = unmix::internal::num::factor::multiply(&weights, &patterns).into_vec();
    let shape = vec![SYNTHETIC_SIDE, SYNTHETIC_SIDE];
    let origin = format!("{n} synthetic pictures, {SYNTHETIC_SIDE} x {SYNTHETIC_SIDE} pixels, sums of waves");
    PictureRows {
        rows: held(values, shape.clone(), "synthetic pictures"),
        shape,
        origin,
        whole: PictureSet::Made,
    }
}
