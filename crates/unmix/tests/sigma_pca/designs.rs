//! Sampling designs for testing verdicts: rows whose true axes are known, or that have none.

use unmix::Matrix;
use unmix::datasets::Distribution;
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;

/// Distribution of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Design {
    /// Independent sources of variance 1, with these distributions in turn.
    Tied(&'static [Distribution]),
    /// The same, but the first half of the sources has variance 4.
    TwoVariances(&'static [Distribution]),
    /// The same with variances decreasing geometrically from 4 towards 1.
    Sloped(&'static [Distribution]),
    /// Independent standardized lognormal sources `exp(z)`, `z` normal.
    Lognormal,
    /// Multivariate Student's t with six degrees of freedom: spherical, so there are no axes.
    Elliptical,
    /// Autocorrelated Gaussian columns: autoregressive of order 1, with this coefficient in hundredths.
    Slow(u8),
    /// Sine waves of different frequencies over the rows.
    Waves,
}

const SQUARE_FREE: [f64; 10] = [2.0, 3.0, 5.0, 6.0, 7.0, 10.0, 11.0, 13.0, 14.0, 15.0];

use Distribution::{Arcsine, Bimodal, Gaussian, Laplace, Student, Uniform};

/// Designs and their names.
pub(crate) const DESIGNS: [(&str, Design); 16] = [
    ("Gaussian ties", Design::Tied(&[Gaussian])),
    ("Laplace ties", Design::Tied(&[Laplace])),
    ("uniform ties", Design::Tied(&[Uniform])),
    ("bimodal", Design::Tied(&[Bimodal])),
    ("three kinds, tied", Design::Tied(&[Laplace, Uniform, Gaussian])),
    ("three kinds, two variances", Design::TwoVariances(&[Laplace, Uniform, Gaussian])),
    ("t5 ties", Design::Tied(&[Student(5)])),
    ("lognormal ties", Design::Lognormal),
    ("Laplace + Gaussian, sloped", Design::Sloped(&[Laplace, Gaussian])),
    ("multivariate t", Design::Elliptical),
    ("Gaussian AR(0.9)", Design::Slow(90)),
    ("Gaussian AR(0.99)", Design::Slow(99)),
    ("sines, independent rows", Design::Tied(&[Arcsine])),
    ("sine waves", Design::Waves),
    ("Laplace + uniform", Design::Tied(&[Laplace, Uniform])),
    ("Gaussian, sloped", Design::Sloped(&[Gaussian])),
];

/// Rows, and the true axes as rows of a matrix; `None` for designs without axes.
pub(crate) struct Sample {
    pub(crate) x: Matrix<f64>,
    pub(crate) truth: Option<Matrix<f64>>,
}

/// A component is wrong if its cosine with the nearest true axis is below this value.
pub(crate) fn wrong_below() -> f64 {
    0.95
}

impl Sample {
    /// The absolute cosine of each row of `components` with the nearest true axis; 0 where there are no axes.
    pub(crate) fn cosines(&self, components: &Matrix<f64>) -> Vec<f64> {
        let Some(truth) = &self.truth else { return vec![0.0; components.rows()] };
        let all = factor::multiply_transposed(components, truth);
        (0..all.rows()).map(|j| all.row(j).iter().fold(0.0, |m, c| c.abs().max(m))).collect()
    }
}

/// The 95 % upper bound of a probability for `found` events in `n` trials (Clopper & Pearson 1934): that at which so few events have
/// probability 0.05, or 1 if all trials have one.
pub(crate) fn upper_bound(found: usize, n: usize) -> f64 {
    if found == n {
        return 1.0;
    }
    let at_most = |p: f64| {
        let (mut term, mut sum) = ((1.0 - p).powi(n as i32), 0.0);
        for i in 0..=found {
            sum += term;
            term *= (n - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
        }
        sum
    };
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-6 {
        let middle = 0.5 * (low + high);
        if at_most(middle) > 0.05 { low = middle } else { high = middle }
    }
    high
}

/// `n` rows of `p` columns from a design.
pub(crate) fn make(design: Design, n: usize, p: usize, seed: u64) -> Sample {
    let streams: Vec<Stream> = (0..p as u64).map(|j| Stream::new(seed, 5000 + j)).collect();
    let turn = Stream::new(seed, 77);
    let axes =
        factor::orthonormal_rows_signed(&Matrix::from_fn(p, p, |i, j| turn.normal((i * p + j) as u64)));
    let drawn = |laws: &[Distribution], deviation: &dyn Fn(usize) -> f64| {
        Matrix::from_fn(n, p, |i, j| deviation(j) * laws[j % laws.len()].draw(&streams[j], i as u64))
    };
    let slope = |j: usize| 2.0f64.powf(1.0 - j as f64 / p as f64);
    let sources = match design {
        Design::Tied(laws) => drawn(laws, &|_| 1.0),
        Design::TwoVariances(laws) => drawn(laws, &|j| if j < p / 2 { 2.0 } else { 1.0 }),
        Design::Sloped(laws) => drawn(laws, &slope),
        Design::Lognormal => {
            let e = std::f64::consts::E;
            Matrix::from_fn(n, p, |i, j| {
                (streams[j].normal(i as u64).exp() - e.sqrt()) / ((e - 1.0) * e).sqrt()
            })
        }
        Design::Elliptical => {
            let common = Stream::new(seed, 78);
            let radius = |i: usize| {
                let squares = (0..6).map(|m| common.normal((6 * i + m) as u64).powi(2)).sum::<f64>();
                (squares / 6.0).sqrt()
            };
            let radii: Vec<f64> = (0..n).map(radius).collect();
            Matrix::from_fn(n, p, |i, j| streams[j].normal(i as u64) / radii[i])
        }
        Design::Slow(hundredths) => {
            let r = f64::from(hundredths) / 100.0;
            let mut x = Matrix::from_fn(n, p, |i, j| streams[j].normal(i as u64));
            for i in 1..n {
                for j in 0..p {
                    x[(i, j)] = r * x[(i - 1, j)] + (1.0 - r * r).sqrt() * x[(i, j)];
                }
            }
            x
        }
        Design::Waves => Matrix::from_fn(n, p, |i, j| {
            // Frequencies are proportional to square roots of square-free numbers, so that no two of the waves, with periods of 10 rows
            // and more, beat slowly.
            let rate = 0.02 * SQUARE_FREE[j % SQUARE_FREE.len()].sqrt() * (1 + j / SQUARE_FREE.len()) as f64;
            let phase = streams[j].uniform(1);
            (std::f64::consts::TAU * (rate * i as f64 + phase)).sin() * std::f64::consts::SQRT_2
        }),
    };
    let none = matches!(design, Design::Elliptical | Design::Slow(_)) || design == Design::Tied(&[Gaussian]);
    Sample { x: factor::multiply(&sources, &axes), truth: (!none).then_some(axes) }
}
