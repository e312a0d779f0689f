//! Distributions of sources in benchmarks of independent component analysis, such as that of Bach & Jordan (2002), J. Mach. Learn. Res. 3:1:
//! heavy-tailed and light-tailed, unimodal and multimodal, symmetric and skewed.

use crate::error::{Error, Result};
use crate::num::random::Stream;
use std::f64::consts::{PI, SQRT_2};

/// The distribution of a source; each has mean 0 and variance 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distribution {
    /// Two-sided exponential: super-Gaussian, excess kurtosis 3.
    Laplace,
    /// Logistic: mildly super-Gaussian, excess kurtosis 1.2.
    Logistic,
    /// One-sided exponential: skewed, excess kurtosis 6.
    Exponential,
    /// Uniform: sub-Gaussian, excess kurtosis -1.2.
    Uniform,
    /// The sine of a uniform phase: sub-Gaussian, excess kurtosis -1.5.
    Arcsine,
    /// Mixture of two Gaussians with means -0.95 and 0.95 and standard deviation 0.31, standardised: strongly sub-Gaussian.
    Bimodal,
    /// Standard normal: not identifiable by independence alone.
    Gaussian,
    /// Student's t with these degrees of freedom `d`, at least 3: super-Gaussian; excess kurtosis infinite for `d <= 4`, else `6 / (d - 4)`.
    Student(u8),
    /// 0 with probability 0.7, else normal: excess kurtosis 7. A model of sparse codes.
    BernoulliGaussian,
    /// Mixture of two Laplace distributions with means -1 and 1 and standard deviation 0.4, standardised.
    LaplacePair,
    /// Mixture of Gaussians, by its index from 0 to 11, in the order of [`DISTRIBUTIONS`].
    GaussianMixture(u8),
}

/// Distributions by the names that Python and the command line use.
pub const DISTRIBUTIONS: [(&str, Distribution); 24] = [
    ("laplace", Distribution::Laplace),
    ("logistic", Distribution::Logistic),
    ("exponential", Distribution::Exponential),
    ("uniform", Distribution::Uniform),
    ("arcsine", Distribution::Arcsine),
    ("bimodal", Distribution::Bimodal),
    ("gaussian", Distribution::Gaussian),
    ("student-3", Distribution::Student(3)),
    ("student-5", Distribution::Student(5)),
    ("student-6", Distribution::Student(6)),
    ("bernoulli-gaussian", Distribution::BernoulliGaussian),
    ("laplace-pair", Distribution::LaplacePair),
    ("two-humps-apart", Distribution::GaussianMixture(0)),
    ("two-humps-near", Distribution::GaussianMixture(1)),
    ("two-humps-merged", Distribution::GaussianMixture(2)),
    ("two-uneven-humps-apart", Distribution::GaussianMixture(3)),
    ("two-uneven-humps-near", Distribution::GaussianMixture(4)),
    ("two-uneven-humps-merged", Distribution::GaussianMixture(5)),
    ("four-humps-apart", Distribution::GaussianMixture(6)),
    ("four-humps-near", Distribution::GaussianMixture(7)),
    ("four-humps-merged", Distribution::GaussianMixture(8)),
    ("four-uneven-humps-apart", Distribution::GaussianMixture(9)),
    ("four-uneven-humps-near", Distribution::GaussianMixture(10)),
    ("four-uneven-humps-merged", Distribution::GaussianMixture(11)),
];

/// Mixtures of Gaussians with a common standard deviation: weights, means, standard deviation. The modes are separated, overlapping
/// or merged; weights are equal or unequal; there are two or four modes. The numbers are chosen here to give the shapes of figure 5 of
/// Bach & Jordan.
type Mixture = (&'static [f64], &'static [f64], f64);
const MIXTURES: [Mixture; 12] = [
    (&[1.0, 1.0], &[-1.0, 1.0], 0.3),
    (&[1.0, 1.0], &[-1.0, 1.0], 0.6),
    (&[1.0, 1.0], &[-1.0, 1.0], 0.8),
    (&[1.0, 3.0], &[-1.0, 1.0], 0.3),
    (&[1.0, 2.0], &[-1.0, 1.0], 0.6),
    (&[1.0, 2.0], &[-1.0, 1.0], 0.8),
    (&[1.0, 2.0, 2.0, 1.0], &[-1.5, -0.5, 0.5, 1.5], 0.15),
    (&[1.0, 2.0, 2.0, 1.0], &[-1.5, -0.5, 0.5, 1.5], 0.3),
    (&[2.0, 1.0, 1.0, 2.0], &[-1.5, -0.5, 0.5, 1.5], 0.5),
    (&[1.0, 1.0, 2.0, 1.0], &[-1.5, -0.3, 0.7, 1.5], 0.15),
    (&[1.0, 3.0, 2.0, 1.0], &[-1.5, -0.3, 0.7, 1.5], 0.3),
    (&[1.0, 1.0, 2.0, 4.0], &[-1.5, -0.5, 0.5, 1.5], 0.5),
];

impl Distribution {
    /// The distribution called `name`.
    ///
    /// # Errors
    ///
    /// A name that is not among [`DISTRIBUTIONS`].
    pub fn named(name: &str) -> Result<Self> {
        DISTRIBUTIONS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, distribution)| *distribution)
            .ok_or_else(|| {
                Error::unknown("distribution", name, DISTRIBUTIONS.iter().map(|(known, _)| *known))
            })
    }

    /// Draw `i` of a stream, for `i` below 2^40.
    pub fn draw(self, stream: &Stream, i: u64) -> f64 {
        let u = stream.uniform(i);
        // Further numbers of the same draw, independent of the first.
        let further = |m: u64| i + (m << 40);
        match self {
            Distribution::Laplace => stream.laplace(i),
            Distribution::Logistic => (u / (1.0 - u)).ln() * 3.0f64.sqrt() / PI,
            Distribution::Exponential => -u.ln() - 1.0,
            Distribution::Uniform => (2.0 * u - 1.0) * 3.0f64.sqrt(),
            Distribution::Arcsine => SQRT_2 * (PI * (2.0 * u - 1.0)).sin(),
            Distribution::Bimodal => {
                let mode = if stream.bits(i) & 1 == 0 { -0.95 } else { 0.95 };
                // The lowest bit of draw i takes no part in a uniform number made of the upper 53.
                (mode + 0.31 * stream.normal(i)) / (0.95f64 * 0.95 + 0.31 * 0.31).sqrt()
            }
            Distribution::Gaussian => stream.normal(i),
            Distribution::Student(d) => {
                let (d, wide) = (u64::from(d.max(3)), f64::from(d.max(3)));
                let squares: f64 = (1..=d).map(|m| stream.normal(further(m)).powi(2)).sum();
                stream.normal(i) * ((wide - 2.0) / squares).sqrt()
            }
            Distribution::BernoulliGaussian if u < 0.3 => stream.normal(further(1)) / 0.3f64.sqrt(),
            Distribution::BernoulliGaussian => 0.0,
            Distribution::LaplacePair => {
                let mode = if u < 0.5 { -1.0 } else { 1.0 };
                (mode + 0.4 * stream.laplace(further(1))) / 1.16f64.sqrt()
            }
            Distribution::GaussianMixture(number) => {
                let (weights, means, std) = MIXTURES[usize::from(number) % MIXTURES.len()];
                mixture(weights, means, std, u, stream.normal(further(1)))
            }
        }
    }
}

/// A draw from a standardised mixture of Gaussians: `u`, uniform on (0, 1), selects the mode, and `z` is a standard normal number.
fn mixture(weights: &[f64], means: &[f64], std: f64, u: f64, z: f64) -> f64 {
    let total: f64 = weights.iter().sum();
    let mean =
        |f: &dyn Fn(f64) -> f64| weights.iter().zip(means).map(|(w, x)| w * f(*x)).sum::<f64>() / total;
    let middle = mean(&|x| x);
    let variance = mean(&|x| (x - middle).powi(2)) + std * std;
    let (mut left, mut mode) = (u * total, means.len() - 1);
    for (i, w) in weights.iter().enumerate() {
        if left < *w {
            mode = i;
            break;
        }
        left -= w;
    }
    (means[mode] + std * z - middle) / variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_mean_0_variance_1_and_the_stated_kurtosis() {
        for (name, distribution) in DISTRIBUTIONS {
            let kurtosis = match distribution {
                Distribution::Laplace => 3.0,
                Distribution::Logistic => 1.2,
                Distribution::Exponential => 6.0,
                Distribution::Uniform => -1.2,
                Distribution::Arcsine => -1.5,
                Distribution::Gaussian => 0.0,
                Distribution::BernoulliGaussian => 7.0,
                // (1 + 6 * 0.16 + 6 * 0.16^2) / 1.16^2, a Laplace number of variance 0.16 having fourth moment 6 * 0.16^2.
                Distribution::LaplacePair => (1.0 + 6.0 * 0.16 + 6.0 * 0.0256) / (1.16 * 1.16) - 3.0,
                // Mixtures of two Gaussians: (x^4 + 6 x^2 s^2 + 3 s^4) / (x^2 + s^2)^2.
                Distribution::GaussianMixture(i @ 0..=2) => {
                    let s = MIXTURES[usize::from(i)].2.powi(2);
                    (1.0 + 6.0 * s + 3.0 * s * s) / (1.0 + s).powi(2) - 3.0
                }
                _ => f64::NAN,
            };
            let (stream, n) = (Stream::new(5, 99), 400_000u64);
            let moment = |power: i32| {
                (0..n).map(|i| distribution.draw(&stream, i).powi(power)).sum::<f64>() / n as f64
            };
            assert!(moment(1).abs() < 0.007, "{name}: mean {}", moment(1));
            // A variance that is known exactly, but whose estimate has none of its own.
            let slack = if distribution == Distribution::Student(3) { 0.2 } else { 0.02 };
            assert!((moment(2) - 1.0).abs() < slack, "{name}: variance {}", moment(2));
            // Three to four standard errors at this n; the exponential's fourth moment is the noisiest.
            let slack = if distribution == Distribution::Exponential { 0.9 } else { 0.2 };
            assert!(
                kurtosis.is_nan() || (moment(4) - 3.0 - kurtosis).abs() < slack,
                "{name}: {}",
                moment(4) - 3.0
            );
        }
    }

    #[test]
    fn asymmetric_distributions_are_skewed_and_symmetric_ones_are_not() {
        let (stream, n) = (Stream::new(5, 98), 200_000u64);
        for (name, distribution) in DISTRIBUTIONS.into_iter().filter(|(name, _)| name.contains("humps")) {
            let third = (0..n).map(|i| distribution.draw(&stream, i).powi(3)).sum::<f64>() / n as f64;
            assert_eq!(third.abs() > 0.05, name.contains("uneven"), "{name}: {third}");
        }
    }
}
