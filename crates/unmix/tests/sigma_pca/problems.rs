//! Rows with known sources.

use unmix::datasets::{Distribution, MixedSources, SignalDesign, independent, points, signals};
use unmix::internal::neural::start::{Principal, PrincipalOptions};
use unmix::metrics::match_rows;
use unmix::{Matrix, Real, Rows, Run};

/// Variances of ten sources, of which the first five are wanted; three of these are equal.
pub(crate) const TIED: [f64; 10] = [16.0, 4.0, 4.0, 4.0, 2.0, 0.5, 0.4, 0.3, 0.2, 0.1];

/// Rows, and the axes of the wanted sources as rows of a matrix.
pub(crate) struct Problem {
    pub(crate) name: String,
    pub(crate) x: Matrix<f64>,
    pub(crate) truth: Matrix<f64>,
}

impl Problem {
    fn new(name: impl Into<String>, mixed: MixedSources, k: usize) -> Self {
        let truth = mixed.mixing.transposed().top_rows(k);
        Self { name: name.into(), x: mixed.x, truth }
    }

    pub(crate) fn k(&self) -> usize {
        self.truth.rows()
    }
}

/// Ten sources with the given distributions for the first five, and Laplace for the others.
pub(crate) fn tied(name: &str, n: usize, first: [Distribution; 5], seed: u64) -> Problem {
    let mut distributions = [Distribution::Laplace; 10];
    distributions[..5].copy_from_slice(&first);
    Problem::new(name, independent(n, &distributions, &TIED, seed).unwrap(), 5)
}

pub(crate) fn published() -> Vec<Problem> {
    vec![
        Problem::new("signals distinct", signals(SignalDesign::Distinct, None), 3),
        Problem::new("signals two equal", signals(SignalDesign::TwoEqual, None), 3),
        Problem::new("signals all equal", signals(SignalDesign::AllEqual, None), 3),
        Problem::new("points uniform", points(Distribution::Uniform, 1000, None).unwrap(), 2),
        Problem::new("points laplace", points(Distribution::Laplace, 1000, None).unwrap(), 2),
    ]
}

/// Calls `work` with the rows in principal coordinates.
pub(crate) fn in_coordinates<T: Real, R>(
    x: &[T],
    p: usize,
    k: usize,
    work: impl FnOnce(&Principal<'_, T>) -> R,
) -> R {
    let rows = Rows::from_slice(x, p).unwrap();
    let options = PrincipalOptions { method: "sigma-pca", k, center: true, standardize: false, kept: None };
    let run = Run { threads: 2, ..Run::default() };
    work(&Principal::new(&rows, &options, &run).unwrap())
}

/// The smallest cosine between matched rows.
pub(crate) fn least_cosine(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    match_rows(a, b).cosine.iter().fold(1.0, |m, c| c.abs().min(m))
}
