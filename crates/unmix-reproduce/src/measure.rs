//! Measures of results: agreement with a reference, sparsity and localisation of filters.

use unmix::Matrix;
use unmix::internal::neural::{ActivationFunction, Sigma, Space, Spec};
use unmix::internal::num::factor;
use unmix::metrics::match_rows;

/// Absolute correlations of the columns of `scores` (`n x k`) with those of `sources`, for the best pairing, in ascending order.
pub(crate) fn correlations(scores: &Matrix<f64>, sources: &Matrix<f64>) -> Vec<f64> {
    let (a, b) = (centred(scores).transposed(), centred(sources).transposed());
    let mut out = match_rows(&a, &b).cosine;
    out.sort_by(f64::total_cmp);
    out
}

/// Cosines of the rows of `a` with their partners among the rows of `b`.
#[derive(Clone, Debug)]
pub(crate) struct MatchedCosines {
    pub(crate) mean: f64,
    pub(crate) least: f64,
    /// Number of pairs above 0.95.
    pub(crate) close: usize,
}

pub(crate) fn matched(a: &Matrix<f64>, b: &Matrix<f64>) -> MatchedCosines {
    let cosine = match_rows(a, b).cosine;
    let k = cosine.len() as f64;
    MatchedCosines {
        mean: cosine.iter().sum::<f64>() / k,
        least: cosine.iter().copied().fold(1.0, f64::min),
        close: cosine.iter().filter(|c| **c > 0.95).count(),
    }
}

/// `‖W Wᵀ - I‖` of unit rows.
pub(crate) fn orthonormality(rows: &Matrix<f64>) -> f64 {
    let gram = factor::multiply_transposed(rows, rows);
    let k = gram.rows();
    (0..k * k)
        .map(|i| (gram.as_slice()[i] - f64::from(u8::from(i % (k + 1) == 0))).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// Rows divided by their norms.
pub(crate) fn unit_rows(rows: &Matrix<f64>) -> Matrix<f64> {
    let mut out = rows.clone();
    for i in 0..out.rows() {
        let length = out.row(i).iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        out.row_mut(i).iter_mut().for_each(|x| *x /= length);
    }
    out
}

/// `x wᵀ` of single-precision rows, `n x k`, by blocks.
pub(crate) fn scores(x: &[f32], w: &Matrix<f64>) -> Matrix<f64> {
    let (p, k) = (w.cols(), w.rows());
    let mut out = Vec::with_capacity(x.len() / p * k);
    for block in x.chunks(4096 * p) {
        let block = Matrix::from_vec(block.len() / p, p, block.iter().map(|&v| f64::from(v)).collect());
        out.extend_from_slice(factor::multiply_transposed(&block, w).as_slice());
    }
    Matrix::from_vec(out.len() / k, k, out)
}

fn centred(x: &Matrix<f64>) -> Matrix<f64> {
    let n = x.rows() as f64;
    let means: Vec<f64> =
        (0..x.cols()).map(|j| (0..x.rows()).map(|i| x.row(i)[j]).sum::<f64>() / n).collect();
    Matrix::from_fn(x.rows(), x.cols(), |i, j| x.row(i)[j] - means[j])
}

/// Variance and excess kurtosis of every column.
pub(crate) fn moments(scores: &Matrix<f64>) -> Vec<(f64, f64)> {
    let (x, n) = (centred(scores), scores.rows() as f64);
    (0..x.cols())
        .map(|j| {
            let power = |e: i32| (0..x.rows()).map(|i| x.row(i)[j].powi(e)).sum::<f64>() / n;
            let variance = power(2);
            (variance, power(4) / (variance * variance) - 3.0)
        })
        .collect()
}

/// The mean effective number of pixels of the filters: the exponential of the entropy of the energy over the pixels.
pub(crate) fn effective_pixels(filters: &Matrix<f64>, channels: usize) -> f64 {
    let one = |row: &[f64]| {
        let energy: Vec<f64> = row.chunks(channels).map(|pixel| pixel.iter().map(|x| x * x).sum()).collect();
        let total: f64 = energy.iter().sum();
        (-energy.iter().map(|e| e / total).filter(|e| *e > 0.0).map(|e| e * e.ln()).sum::<f64>()).exp()
    };
    (0..filters.rows()).map(|i| one(filters.row(i))).sum::<f64>() / filters.rows() as f64
}

/// Autocorrelation of a picture of shape (height, width) or (height, width, channels) at a shift of one pixel, mean over down and across and
/// over the channels: 1 for a smooth one, 0 for noise; 0 for a constant picture.
pub(crate) fn autocorrelation(picture: &[f64], shape: &[usize]) -> f64 {
    let (height, width, channels) = (shape[0], shape[1], shape.get(2).copied().unwrap_or(1));
    let mean = |c: usize| picture.iter().skip(c).step_by(channels).sum::<f64>() / (height * width) as f64;
    let means: Vec<f64> = (0..channels).map(mean).collect();
    let at = |i: usize, j: usize, c: usize| picture[(i * width + j) * channels + c] - means[c];
    let (mut products, mut squares) = (0.0, 0.0);
    for i in 0..height {
        for j in 0..width {
            for c in 0..channels {
                let x = at(i, j, c);
                squares += x * x;
                products += if i > 0 { x * at(i - 1, j, c) } else { 0.0 };
                products += if j > 0 { x * at(i, j - 1, c) } else { 0.0 };
            }
        }
    }
    if squares > 0.0 { 0.5 * products / squares } else { 0.0 }
}

/// The map from codes to rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Decoder {
    /// `y Wᵀ`.
    Linear,
    /// `h(y Σ⁻¹) Σ Wᵀ` with the true deviations.
    Nonlinear {
        h: ActivationFunction,
        a: f64,
        /// Whether `a` is such that the values of `h` have unit variance.
        adaptive: bool,
        /// Whether deviations are taken as 1.
        unscaled: bool,
    },
}

impl Decoder {
    /// `h(z) = a tanh(z/a)`.
    pub(crate) fn tanh(a: f64) -> Self {
        Self::Nonlinear { h: ActivationFunction::Tanh, a, adaptive: false, unscaled: false }
    }

    /// The decoder of a rule; `None` if it has learned more than its weights: a width, or deviations.
    pub(crate) fn of(spec: &Spec) -> Option<Self> {
        if spec.space == Space::None {
            return Some(Self::Linear);
        }
        let unscaled = spec.sigma == Sigma::One;
        let known = !spec.train_a && spec.sigma != Sigma::Trained;
        known.then_some(Self::Nonlinear { h: spec.h, a: spec.a, adaptive: spec.adaptive, unscaled })
    }

    /// `h(y Σ⁻¹) Σ`, column by column.
    fn codes(self, y: &Matrix<f64>) -> Matrix<f64> {
        let Self::Nonlinear { h, a, adaptive, unscaled } = self else { return y.clone() };
        let h = h.as_fn();
        let deviations: Vec<f64> = match unscaled {
            true => vec![1.0; y.cols()],
            false => moments(y).iter().map(|m| m.0.sqrt().max(f64::MIN_POSITIVE)).collect(),
        };
        let width = |j: usize| {
            let values = Matrix::from_fn(y.rows(), 1, |i, _| h(y.row(i)[j] / deviations[j], 1.0));
            1.0 / moments(&values)[0].0.sqrt()
        };
        let widths: Vec<f64> = (0..y.cols()).map(|j| if adaptive { width(j) } else { a }).collect();
        Matrix::from_fn(y.rows(), y.cols(), |i, j| deviations[j] * h(y.row(i)[j] / deviations[j], widths[j]))
    }
}

/// Squared reconstruction error with unit rows, mean over the rows of `x`, which must be centred.
pub(crate) fn loss(x: &[f32], filters: &Matrix<f64>, decoder: Decoder) -> f64 {
    let w = unit_rows(filters);
    let y = scores(x, &w);
    let u = decoder.codes(&y);
    // |x - uW|^2 = |x|^2 - 2 u.y + u M u', which needs no product of the size of x.
    let gram = factor::multiply_transposed(&w, &w);
    let um = factor::multiply(&u, &gram);
    let total: f64 = x.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    let rest: f64 =
        (0..u.as_slice().len()).map(|i| u.as_slice()[i] * (um.as_slice()[i] - 2.0 * y.as_slice()[i])).sum();
    (total + rest) / y.rows() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_of_one_pixel_is_local_and_a_flat_one_is_not() {
        let filters = Matrix::from_vec(
            2,
            12,
            [vec![0.0, 0.0, 0.0, 1.0, 2.0, -1.0], vec![0.0; 6], vec![1.0; 12]].concat(),
        );
        assert!((effective_pixels(&filters.rows_from(1), 3) - 4.0).abs() < 1e-12);
        assert!((effective_pixels(&filters, 3) - 2.5).abs() < 1e-12);
    }

    #[test]
    fn smooth_images_have_a_high_autocorrelation() {
        let wave = |i: usize, j: usize| (0.2 * i as f64).sin() + (0.1 * j as f64).cos();
        let smooth: Vec<f64> = (0..400).map(|at| wave(at / 20, at % 20)).collect();
        let board: Vec<f64> =
            (0..400).map(|at| if (at / 20 + at % 20) % 2 == 0 { 1.0 } else { -1.0 }).collect();
        // A ramp down the picture: (20 x 565.25 + 19 x 665) / 2 over 20 x 665.
        let ramp: Vec<f64> = (0..400).map(|at| (at / 20) as f64).collect();
        assert!((autocorrelation(&ramp, &[20, 20]) - 0.9).abs() < 1e-12);
        // Every pair of neighbours has the product -1: 380 down and 380 across, over twice 400.
        assert!((autocorrelation(&board, &[20, 20]) + 0.95).abs() < 1e-12);
        let colours: Vec<f64> =
            smooth.iter().zip(&board).flat_map(|(a, b)| [*a, 100.0 + a, 0.0 * b]).collect();
        let grey = autocorrelation(&smooth, &[20, 20]);
        assert!((autocorrelation(&colours, &[20, 20, 3]) - grey).abs() < 1e-12);
        assert_eq!(autocorrelation(&[3.0; 6], &[2, 3]), 0.0);
    }

    #[test]
    fn the_loss_is_that_of_the_reconstruction_written_out() {
        let x: Vec<f32> = (0..60).map(|i| ((i * i * 7 % 23) as f32 - 11.0) / 5.0).collect();
        let x = {
            let m = centred(&Matrix::from_vec(20, 3, x.iter().map(|&v| f64::from(v)).collect()));
            m.as_slice().iter().map(|&v| v as f32).collect::<Vec<f32>>()
        };
        let w = Matrix::from_vec(2, 3, vec![1.0, 2.0, 2.0, 0.0, 1.0, 1.0]);
        let unit = unit_rows(&w);
        let y = scores(&x, &unit);
        let sd: Vec<f64> = moments(&y).iter().map(|m| m.0.sqrt()).collect();
        let mut expected = 0.0;
        for i in 0..20 {
            for c in 0..3 {
                let back: f64 =
                    (0..2).map(|j| sd[j] * 2.0 * (y.row(i)[j] / sd[j] / 2.0).tanh() * unit.row(j)[c]).sum();
                expected += (f64::from(x[3 * i + c]) - back).powi(2) / 20.0;
            }
        }
        assert!((loss(&x, &w, Decoder::tanh(2.0)) - expected).abs() < 1e-9);
    }

    #[test]
    fn an_adaptive_width_gives_unit_variance() {
        let y = Matrix::from_fn(50, 2, |i, j| ((i * i * 7 + 5 * j) % 23) as f64 - 11.0);
        let spec = unmix::internal::neural::NONLINEAR
            .iter()
            .find(|row| row.key == "ema-adaptive-tanh")
            .unwrap()
            .spec;
        let u = Decoder::of(&spec.unwrap()).unwrap().codes(&y);
        for (of_u, of_y) in moments(&u).iter().zip(moments(&y)) {
            assert!((of_u.0 / of_y.0 - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn kurtosis_of_two_equal_clusters_is_minus_two() {
        let y = Matrix::from_fn(10, 1, |i, _| if i < 5 { 3.0 } else { -1.0 });
        let (variance, kurtosis) = moments(&y)[0];
        assert!((variance - 4.0).abs() < 1e-12 && (kurtosis + 2.0).abs() < 1e-12);
    }
}
