//! Encoder and decoder from the parts of a linear model: `y = (x - mean) diag(1/noise) W diag(1/scale) V`.

use super::{Tensor, Tensors};
use crate::error::Result;
use crate::num::{Dtype, Matrix, dual, factor};

/// Parts of a linear model of `p` features and `k` directions; an absent part is the identity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear<'a> {
    /// Divisors of the columns, `p`.
    pub(crate) noise: Option<&'a [f64]>,
    /// `W'`, `k x p`.
    pub(crate) axes: &'a Matrix<f64>,
    /// Divisors of the codes along the axes, `k`; a direction of scale 0 has code 0.
    pub(crate) scale: Option<&'a [f64]>,
    /// `V`, `k x m`; the decoders below need orthonormal rows.
    pub(crate) rotation: Option<&'a Matrix<f64>>,
}

impl Linear<'_> {
    /// Encoder matrix `diag(1/noise) W diag(1/scale) V`, `p x m`, which multiplies `x - mean`.
    pub(crate) fn encoder(&self) -> Matrix<f64> {
        let (k, p) = (self.axes.rows(), self.axes.cols());
        let entry = |j: usize, i: usize| match self.scale.map(|s| s[i]) {
            Some(0.0) => 0.0,
            scale => self.axes[(i, j)] / scale.unwrap_or(1.0) / self.unit(j),
        };
        let plain = match self.scale.is_none() && self.noise.is_none() {
            true => self.axes.transposed(),
            false => Matrix::from_fn(p, k, entry),
        };
        match self.rotation {
            Some(rotation) => factor::multiply(&plain, rotation),
            None => plain,
        }
    }

    /// Decoder matrix `V' diag(scale) W' diag(noise)`, `m x p`, for orthonormal axes.
    pub(crate) fn transposed(&self) -> Matrix<f64> {
        self.back(self.axes)
    }

    /// The decoder matrix by least squares, with `(W'W)⁻¹ W'` in place of `W'`, for axes that are orthonormal only approximately.
    ///
    /// # Errors
    ///
    /// An eigenvalue decomposition that does not converge.
    pub(crate) fn least_squares(&self) -> Result<Matrix<f64>> {
        Ok(self.back(&dual(self.axes)?))
    }

    fn back(&self, rows: &Matrix<f64>) -> Matrix<f64> {
        let entry = |i: usize, j: usize| rows[(i, j)] * self.scale.map_or(1.0, |s| s[i]) * self.unit(j);
        let plain = match self.scale.is_none() && self.noise.is_none() {
            true => rows.clone(),
            false => Matrix::from_fn(rows.rows(), rows.cols(), entry),
        };
        match self.rotation {
            Some(rotation) => factor::multiply(&rotation.transposed(), &plain),
            None => plain,
        }
    }

    fn unit(&self, j: usize) -> f64 {
        self.noise.map_or(1.0, |s| s[j])
    }
}

/// The parts of a linear model that its file holds, under the same names for all methods.
#[derive(Clone, Copy)]
pub(crate) struct LinearParameters<'a> {
    /// Encoder vectors or unit axes, `k x p`.
    pub(crate) components: &'a Matrix<f64>,
    /// Offset that is subtracted from rows, `p`.
    pub(crate) mean: &'a [f64],
    /// Decoder vectors, `k x p`, unless they are the components themselves: written transposed, as `mixing`.
    pub(crate) decoder: Option<&'a Matrix<f64>>,
    /// The axes of the first rotation, `r x p`, unless they are the components: written transposed, as `rotation`.
    pub(crate) axes: Option<&'a Matrix<f64>>,
    /// Standard deviations along the axes.
    pub(crate) scale: Option<&'a [f64]>,
    /// Divisors of the columns, `p`.
    pub(crate) noise_scale: Option<&'a [f64]>,
    /// The second rotation `V`: written as `second_rotation`, in this orientation.
    pub(crate) second_rotation: Option<&'a Matrix<f64>>,
}

impl LinearParameters<'_> {
    /// The tensors by name, with `more` tensors of the method.
    pub(crate) fn tensors(
        &self,
        dtype: Dtype,
        more: impl IntoIterator<Item = (&'static str, Tensor)>,
    ) -> Tensors {
        let matrix = |m: &Matrix<f64>| Tensor::matrix(m, dtype);
        let vector = |v: &[f64]| Tensor::vector(v, dtype);
        let parts = [
            ("components", Some(matrix(self.components))),
            ("mean", Some(vector(self.mean))),
            ("mixing", self.decoder.map(|d| matrix(&d.transposed()))),
            ("rotation", self.axes.map(|a| matrix(&a.transposed()))),
            ("scale", self.scale.map(vector)),
            ("noise_scale", self.noise_scale.map(vector)),
            ("second_rotation", self.second_rotation.map(matrix)),
        ];
        let parts = parts.into_iter().filter_map(|(name, part)| Some((name, part?)));
        parts.chain(more).map(|(name, tensor)| (name.to_string(), tensor)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn the_encoder_and_the_decoder_are_inverse_on_the_span() {
        let draws = Stream::new(5, 0);
        let random = |r: usize, c: usize, from: u64| {
            Matrix::from_fn(r, c, |i, j| draws.normal(from + (i * c + j) as u64))
        };
        let axes = factor::orthonormal_rows(&random(3, 5, 0));
        let rotation = factor::orthonormal_rows(&random(3, 3, 100));
        let (noise, scale) = ([1.0, 2.0, 0.5, 4.0, 1.5], [3.0, 0.25, 2.0]);
        let nearly =
            Matrix::from_fn(3, 5, |i, j| axes[(i, j)] + 0.01 * draws.normal(200 + (5 * i + j) as u64));
        for (axes, exact) in [(&axes, true), (&nearly, false)] {
            let parts = Linear { noise: Some(&noise), axes, scale: Some(&scale), rotation: Some(&rotation) };
            let back = if exact { parts.transposed() } else { parts.least_squares().unwrap() };
            let both = factor::multiply(&back, &parts.encoder());
            for i in 0..3 {
                for j in 0..3 {
                    assert!((both[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-12, "{both:?}");
                }
            }
        }
        let constant = Linear { noise: None, axes: &axes, scale: Some(&[0.0, 1.0, 1.0]), rotation: None };
        assert!((0..5).all(|j| constant.encoder()[(j, 0)] == 0.0 && constant.transposed()[(0, j)] == 0.0));
    }
}
