//! Encoder and decoder from the parts of a linear model: `y = (x - mean) diag(1/noise) W diag(1/scale) V`.
//!
//! A fit writes the parts that its model has ([`LinearParameters`]); [`Code::of_linear`] makes encoder and decoder of them.

use super::{Code, Tensor, Tensors, require};
use crate::error::{Error, Result};
use crate::num::{Dtype, Matrix, dual, factor};
use serde_json::{Map, Value};

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

    /// Encoder matrix of posterior means, `diag(1/noise) W diag(scale / (scale² + variance))`, `p x k`: of factors of variance 1 with
    /// loadings `scale` along orthonormal axes, and noise of this `variance` in every direction. Without the rotation.
    pub(crate) fn posterior_means(&self, variance: f64) -> Matrix<f64> {
        let share = |s: f64| s / (s * s + variance);
        let entry =
            |j: usize, i: usize| self.axes[(i, j)] * share(self.scale.map_or(1.0, |s| s[i])) / self.unit(j);
        Matrix::from_fn(self.axes.cols(), self.axes.rows(), entry)
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

/// What the components of a linear model are: it determines which tensors encode and which decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComponentRole {
    /// Orthonormal axes, with `scale`, and `noise_scale` and `second_rotation` where the model has them; the decoder is the transposed rotation.
    /// Codes are divided by the scale if the setting `whiten` is true or names a way of whitening.
    Axes,
    /// The same for vectors of length 1 that need not be orthogonal: the decoder is that of least squares.
    UnitVectors,
    /// Filters, which encode; `mixing` decodes.
    Filters,
    /// Atoms, which decode; `rotation`, `scale` and `second_rotation` encode, or `second_rotation` alone.
    Atoms,
}

impl Code {
    /// Encoder and decoder of a linear model, `y = (x - mean) diag(1/noise) W diag(1/scale) V` and back, from the parts among its tensors.
    ///
    /// # Errors
    ///
    /// Parts that are missing or of another shape; a decomposition that does not converge.
    pub fn of_linear(settings: &Map<String, Value>, tensors: &Tensors, role: ComponentRole) -> Result<Self> {
        let stored = match role {
            ComponentRole::Axes | ComponentRole::UnitVectors => StoredAxes::read(tensors)?,
            ComponentRole::Filters => return Self::of_filters(tensors),
            ComponentRole::Atoms => return Self::of_atoms(tensors),
        };
        let parts = stored.parts(whitens(settings));
        let decoder = match role {
            ComponentRole::UnitVectors => parts.least_squares()?,
            _ => parts.transposed(),
        };
        let encoder = parts.encoder();
        Self::linear(stored.mean, encoder, decoder)
    }

    fn of_filters(tensors: &Tensors) -> Result<Self> {
        let filters = require(tensors, "components", &[None, None])?;
        let (k, p) = (filters.shape()[0], filters.shape()[1]);
        let mixing = require(tensors, "mixing", &[Some(p), Some(k)])?;
        let mean = require(tensors, "mean", &[Some(p)])?.clone();
        Self::linear(mean, filters.to_matrix().transposed(), mixing.to_matrix().transposed())
    }

    fn of_atoms(tensors: &Tensors) -> Result<Self> {
        let atoms = require(tensors, "components", &[None, None])?;
        let (k, p) = (atoms.shape()[0], atoms.shape()[1]);
        let mean = require(tensors, "mean", &[Some(p)])?.clone();
        let encoder = match tensors.contains_key("rotation") {
            true => {
                let axes = require(tensors, "rotation", &[Some(p), None])?;
                let r = axes.shape()[1];
                let scale = require(tensors, "scale", &[Some(r)])?.f64s();
                let rotation = require(tensors, "second_rotation", &[Some(r), Some(k)])?.to_matrix();
                let (axes, noise) = (axes.to_matrix().transposed(), noise_scale_of(tensors, p)?);
                let noise = noise.as_deref();
                Linear { noise, axes: &axes, scale: Some(&scale), rotation: Some(&rotation) }.encoder()
            }
            false => require(tensors, "second_rotation", &[Some(p), Some(k)])?.to_matrix(),
        };
        Self::linear(mean, encoder, atoms.to_matrix())
    }
}

/// Whether codes are divided by the standard deviations along the axes.
pub(crate) fn whitens(settings: &Map<String, Value>) -> bool {
    settings.get("whiten").is_some_and(|whiten| whiten.as_bool() == Some(true) || whiten.is_string())
}

/// The parts of a model whose components are its axes, from its tensors.
pub(crate) struct StoredAxes {
    /// Offset that is subtracted from rows.
    pub(crate) mean: Tensor,
    /// Standard deviations along the axes, `k`.
    pub(crate) scale: Vec<f64>,
    /// `k x p`.
    axes: Matrix<f64>,
    noise_scale: Option<Vec<f64>>,
    second_rotation: Option<Matrix<f64>>,
}

impl StoredAxes {
    /// The parts among the tensors of a model.
    ///
    /// # Errors
    ///
    /// Parts that are missing or of another shape.
    pub(crate) fn read(tensors: &Tensors) -> Result<Self> {
        let (axes, noise_scale) = axes_of(tensors)?;
        let (k, p) = (axes.rows(), axes.cols());
        let mean = require(tensors, "mean", &[Some(p)])?.clone();
        let scale = require(tensors, "scale", &[Some(k)])?.f64s();
        let second_rotation = match tensors.contains_key("second_rotation") {
            true => Some(require(tensors, "second_rotation", &[Some(k), None])?.to_matrix()),
            false => None,
        };
        Ok(Self { mean, scale, axes, noise_scale, second_rotation })
    }

    /// The parts that encode; codes are divided by the scale if `whiten`.
    pub(crate) fn parts(&self, whiten: bool) -> Linear<'_> {
        Linear {
            noise: self.noise_scale.as_deref(),
            axes: &self.axes,
            scale: whiten.then_some(&self.scale[..]),
            rotation: self.second_rotation.as_ref(),
        }
    }
}

/// The components of a model whose components are its axes, `k x p`, and the scales that columns are divided by before the projection onto them.
///
/// # Errors
///
/// Tensors that are missing or of another shape; more axes than columns.
pub(crate) fn axes_of(tensors: &Tensors) -> Result<(Matrix<f64>, Option<Vec<f64>>)> {
    let components = require(tensors, "components", &[None, None])?;
    let (k, p) = (components.shape()[0], components.shape()[1]);
    if k > p {
        return Err(Error::corrupt_model(format!("it has {k} components of {p} features")));
    }
    Ok((components.to_matrix(), noise_scale_of(tensors, p)?))
}

/// The scales that the `p` columns are divided by, if the model has them.
///
/// # Errors
///
/// Another number of them.
pub(crate) fn noise_scale_of(tensors: &Tensors, p: usize) -> Result<Option<Vec<f64>>> {
    match tensors.contains_key("noise_scale") {
        true => Ok(Some(require(tensors, "noise_scale", &[Some(p)])?.f64s())),
        false => Ok(None),
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
        // The posterior mean of a factor of variance 1 shrinks its least-squares estimate by `s² / (s² + variance)`.
        let parts = Linear { noise: Some(&noise), axes: &axes, scale: Some(&scale), rotation: None };
        let both = factor::multiply(&parts.transposed(), &parts.posterior_means(0.5));
        for (i, s) in scale.iter().enumerate() {
            assert!((both[(i, i)] - s * s / (s * s + 0.5)).abs() < 1e-12, "{both:?}");
        }
        let constant = Linear { noise: None, axes: &axes, scale: Some(&[0.0, 1.0, 1.0]), rotation: None };
        assert!((0..5).all(|j| constant.encoder()[(j, 0)] == 0.0 && constant.transposed()[(0, j)] == 0.0));
    }
}
