//! Mixtures of known independent sources: the distributions of the literature, and published time signals and points.

use super::{DISTRIBUTIONS, Distribution, check_tables};
use crate::error::{Error, Result, there_are};
use crate::num::random::Stream;
use crate::num::{Matrix, factor};
use std::f64::consts::{FRAC_PI_3, FRAC_PI_4};

/// Mixed rows and the true sources and mixing: `x = sources mixingᵀ`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MixedSources {
    /// `n x p`.
    pub x: Matrix<f64>,
    /// `n x k`.
    pub sources: Matrix<f64>,
    /// `p x k`: column `j` has the loadings of source `j`.
    pub mixing: Matrix<f64>,
}

impl MixedSources {
    fn new(sources: Matrix<f64>, mixing: Matrix<f64>) -> Self {
        let x = factor::multiply_transposed(&sources, &mixing);
        Self { x, sources, mixing }
    }
}

/// `n` rows of independent sources along random orthonormal directions: source `j` follows `distributions[j]` and has exactly the variance
/// `variances[j]` in these rows, and mean 0. Equal variances make ties that variance alone cannot resolve.
///
/// Mixing is square, `p = k`, with orthonormal columns. `O(n k²)`.
///
/// # Errors
///
/// No distributions, another number of variances than of distributions, a variance that is not a finite number above 0, fewer than two rows,
/// tables that do not fit in memory.
pub fn independent(
    n: usize,
    distributions: &[Distribution],
    variances: &[f64],
    seed: u64,
) -> Result<MixedSources> {
    let k = distributions.len();
    if k == 0 || variances.len() != k {
        let why = there_are(k as u64, "distribution");
        let got = format!("{} of them", variances.len());
        return Err(Error::setting(
            "variances",
            got,
            why,
            "give at least one distribution, and one variance for each",
        ));
    }
    if let Some(v) = variances.iter().find(|v| !(**v > 0.0 && v.is_finite())) {
        return Err(Error::setting("variances", v, "must be finite and positive", "give a number such as 1"));
    }
    if n < 2 {
        return Err(Error::setting("n_samples", n, "must be at least 2", ""));
    }
    check_tables(&[(n, k), (n, k), (k, k), (k, k)])?;
    let streams: Vec<Stream> = (0..k as u64).map(|j| Stream::new(seed, FIRST_SOURCE + j)).collect();
    let mut sources = Matrix::from_fn(n, k, |i, j| distributions[j].draw(&streams[j], i as u64));
    let deviations: Vec<f64> = variances.iter().map(|v| v.sqrt()).collect();
    standardise(&mut sources, &deviations);
    let rotation = Stream::new(seed, ROTATION_STREAM);
    let random = Matrix::from_fn(k, k, |i, j| rotation.normal((i * k + j) as u64));
    Ok(MixedSources::new(sources, factor::orthonormal_rows_signed(&random).transposed()))
}

/// Streams of random numbers, distinct from those of the other data sets.
const ROTATION_STREAM: u64 = 20;
const FIRST_SOURCE: u64 = 1 << 20;

/// Shifts and scales column `j` to mean 0 and standard deviation `deviations[j]`, divisor `n`.
fn standardise(x: &mut Matrix<f64>, deviations: &[f64]) {
    let (n, k) = (x.rows(), x.cols());
    for (j, wanted) in deviations.iter().enumerate().take(k) {
        let mean = (0..n).map(|i| x.row(i)[j]).sum::<f64>() / n as f64;
        let variance = (0..n).map(|i| (x.row(i)[j] - mean).powi(2)).sum::<f64>() / n as f64;
        let scale = wanted / variance.sqrt();
        (0..n).for_each(|i| x.row_mut(i)[j] = (x.row(i)[j] - mean) * scale);
    }
}

/// Scaling and mixing of [`signals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignalDesign {
    /// Variances 17.1, 9.0 and 0.37; orthogonal mixing.
    Distinct,
    /// Square wave and sawtooth of variance 1, the sine of variance 17.1; orthogonal mixing.
    TwoEqual,
    /// All of variance 1; orthogonal mixing.
    AllEqual,
    /// Variances 17.1, 9.0 and 0.37; a mixing that is not orthogonal (condition number 13).
    NonOrthogonal,
}

/// Designs by the names that Python and the command line use.
pub const SIGNAL_DESIGNS: [(&str, SignalDesign); 4] = [
    ("distinct", SignalDesign::Distinct),
    ("two-equal", SignalDesign::TwoEqual),
    ("all-equal", SignalDesign::AllEqual),
    ("non-orthogonal", SignalDesign::NonOrthogonal),
];

impl SignalDesign {
    /// The setting called `name`.
    ///
    /// # Errors
    ///
    /// A name that is not among [`SIGNAL_DESIGNS`].
    pub fn named(name: &str) -> Result<Self> {
        SIGNAL_DESIGNS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, setting)| *setting)
            .ok_or_else(|| Error::unknown("setting", name, SIGNAL_DESIGNS.iter().map(|(known, _)| *known)))
    }
}

/// Three time signals of 2000 samples on [0, 8], mixed: a sine, a square wave and a sawtooth in noise of standard deviation 0.2
/// (sigma-PCA, arXiv 2311.13580, section 4.1). Without a seed the noise is that of the published experiment.
pub fn signals(setting: SignalDesign, seed: Option<u64>) -> MixedSources {
    let mut sources = match seed {
        None => published(SIGNALS, 3),
        Some(seed) => {
            let noise = Stream::new(seed, 21);
            Matrix::from_fn(2000, 3, |i, j| {
                let t = 8.0 * i as f64 / 1999.0;
                let clean = match j {
                    0 => 6.0 * (2.0 * t).sin(),
                    1 => 3.0 * sign((3.0 * t).sin()),
                    _ => 2.0 * t.fract() - 1.0,
                };
                clean + 0.2 * noise.normal((3 * i + j) as u64)
            })
        }
    };
    let scale = |sources: &mut Matrix<f64>, columns: &[usize]| {
        for &j in columns {
            let deviation = deviation(sources, j);
            (0..sources.rows()).for_each(|i| sources.row_mut(i)[j] /= deviation);
        }
    };
    match setting {
        SignalDesign::Distinct | SignalDesign::NonOrthogonal => {}
        SignalDesign::TwoEqual => scale(&mut sources, &[1, 2]),
        SignalDesign::AllEqual => scale(&mut sources, &[0, 1, 2]),
    }
    MixedSources::new(sources, if setting == SignalDesign::NonOrthogonal { oblique() } else { orthogonal() })
}

/// `n` points of two independent sources of variance 2/3 (uniform) or 1 (Laplace), rotated by 45 degrees (sigma-PCA, arXiv
/// 2311.13580, appendix G.6). Without a seed they are the 1000 points of the published experiment, whatever `n` is.
///
/// # Errors
///
/// A distribution that is neither uniform nor Laplace, tables that do not fit in memory.
pub fn points(distribution: Distribution, n: usize, seed: Option<u64>) -> Result<MixedSources> {
    let (file, size) = match distribution {
        Distribution::Uniform => (UNIFORM, (2.0f64 / 3.0).sqrt()),
        Distribution::Laplace => (LAPLACE, 1.0),
        other => {
            let name = DISTRIBUTIONS
                .iter()
                .find(|(_, distribution)| *distribution == other)
                .map_or("", |(name, _)| name);
            return Err(Error::setting(
                "distribution",
                name,
                "it has no published points",
                "give 'uniform' or 'laplace'",
            ));
        }
    };
    let sources = match seed {
        None => published(file, 2),
        Some(seed) => {
            check_tables(&[(n, 2), (n, 2)])?;
            let streams = [22, 23].map(|stream| Stream::new(seed, stream));
            Matrix::from_fn(n, 2, |i, j| size * distribution.draw(&streams[j], i as u64))
        }
    };
    let (s, c) = FRAC_PI_4.sin_cos();
    Ok(MixedSources::new(sources, Matrix::from_vec(2, 2, vec![c, s, -s, c])))
}

fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

fn deviation(x: &Matrix<f64>, j: usize) -> f64 {
    let n = x.rows() as f64;
    let mean = (0..x.rows()).map(|i| x.row(i)[j]).sum::<f64>() / n;
    ((0..x.rows()).map(|i| (x.row(i)[j] - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// The published rotation: -45 degrees about the first axis times 60 degrees about the second.
fn orthogonal() -> Matrix<f64> {
    let ((s, c), (t, d)) = ((-FRAC_PI_4).sin_cos(), FRAC_PI_3.sin_cos());
    let first = Matrix::from_vec(3, 3, vec![1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c]);
    let second = Matrix::from_vec(3, 3, vec![d, 0.0, t, 0.0, 1.0, 0.0, -t, 0.0, d]);
    factor::multiply(&first, &second)
}

/// The published mixing that is not orthogonal: the loadings of each of the three features have unit length.
fn oblique() -> Matrix<f64> {
    let drawn = [
        [0.5488135039273248, 0.7151893663724195, 0.6027633760716439],
        [0.5448831829968969, 0.4236547993389047, 0.6458941130666561],
        [0.4375872112626925, 0.8917730007820798, 0.9636627605010293],
    ];
    let length = |j: usize| drawn.iter().map(|row| row[j] * row[j]).sum::<f64>().sqrt();
    // The published matrix has a row for each source, `mixing` a column.
    Matrix::from_fn(3, 3, |i, j| drawn[j][i] / length(i))
}

const SIGNALS: &[u8] = include_bytes!("published/signals.npy");
const UNIFORM: &[u8] = include_bytes!("published/points-uniform.npy");
const LAPLACE: &[u8] = include_bytes!("published/points-laplace.npy");

/// The numbers of a `.npy` file of doubles with `columns` columns; its header takes 128 bytes.
fn published(file: &[u8], columns: usize) -> Matrix<f64> {
    let numbers: Vec<f64> = file[128..].as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    Matrix::from_vec(numbers.len() / columns, columns, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::match_rows;

    #[test]
    fn independent_sources_have_the_variances_requested_along_orthonormal_directions() {
        let made = independent(
            500,
            &[Distribution::Laplace, Distribution::Uniform, Distribution::Gaussian],
            &[4.0, 4.0, 0.5],
            1,
        )
        .unwrap();
        for (j, wanted) in [4.0f64, 4.0, 0.5].into_iter().enumerate() {
            assert!((deviation(&made.sources, j) - wanted.sqrt()).abs() < 1e-12);
        }
        let gram = factor::multiply(&made.mixing.transposed(), &made.mixing);
        let far =
            (0..9).map(|i| (gram.as_slice()[i] - f64::from(u8::from(i % 4 == 0))).abs()).fold(0.0, f64::max);
        assert!(far < 1e-14, "{far}");
        assert!(independent(500, &[Distribution::Laplace], &[1.0, 2.0], 0).is_err());
        assert!(independent(500, &[Distribution::Laplace], &[0.0], 0).is_err());
    }

    #[test]
    fn published_signals_have_the_published_variances() {
        let variances = |setting| {
            let made = signals(setting, None);
            assert_eq!((made.x.rows(), made.x.cols()), (2000, 3));
            [0, 1, 2].map(|j| deviation(&made.sources, j).powi(2))
        };
        let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near(variances(SignalDesign::Distinct), [17.144_021_55, 9.030_037_58, 0.372_126_16]));
        assert!(near(variances(SignalDesign::TwoEqual), [17.144_021_55, 1.0, 1.0]));
        assert!(near(variances(SignalDesign::AllEqual), [1.0, 1.0, 1.0]));
        // A first row as numpy made it.
        let first = signals(SignalDesign::Distinct, None);
        assert!((first.sources.row(0)[0] - 0.2 * 1.764_052_345_967_664).abs() < 1e-15);
    }

    #[test]
    fn signals_of_another_seed_differ_in_their_noise() {
        let (ours, published) =
            (signals(SignalDesign::AllEqual, Some(4)), signals(SignalDesign::AllEqual, None));
        let pairs = match_rows(&ours.sources.transposed(), &published.sources.transposed());
        // The noise has a fraction of 0.04 / 0.37 in the weakest signal.
        assert!(pairs.order == [0, 1, 2] && pairs.cosine.iter().all(|c| *c > 0.85), "{pairs:?}");
        assert_eq!(ours.mixing.as_slice(), published.mixing.as_slice());
    }

    #[test]
    fn points_come_in_two_distributions() {
        for distribution in [Distribution::Uniform, Distribution::Laplace] {
            let published = points(distribution, 0, None).unwrap();
            assert_eq!((published.x.rows(), published.x.cols()), (1000, 2));
            let ours = points(distribution, 4000, Some(1)).unwrap();
            let ratio = deviation(&ours.sources, 0) / deviation(&published.sources, 0);
            assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
        }
        assert!(points(Distribution::Gaussian, 10, None).is_err());
    }
}
