//! The model of an estimate, and its encoder, decoder and density.

use crate::error::{Error, Result};
use crate::model::{
    Code, Gaussian, Linear, LinearDecoder, LinearParameters, PosteriorMean, Tensor, Tensors, completed_axes,
    noise_scale_of, require,
};
use crate::num::{Dtype, Matrix};
use crate::stats::gaps::LinearGaussian;
use serde_json::{Map, Value};

/// Parameters of a fit: `x = mean + unit (U L z + e)`.
#[derive(Clone, Debug)]
pub(crate) struct Estimate {
    pub(crate) mean: Vec<f64>,
    /// Divisors of the columns, if they are standardised.
    pub(crate) unit: Option<Vec<f64>>,
    /// Directions with variance above the noise, orthonormal rows; at most `k`.
    pub(crate) axes: Matrix<f64>,
    /// `L² + s²`, for `k` components, descending.
    pub(crate) variance: Vec<f64>,
    /// `s²`.
    pub(crate) noise: f64,
}

impl Estimate {
    /// The tensors of the model file; `more` is a tensor of the method's own.
    ///
    /// # Errors
    ///
    /// Axes that cannot be completed to `k` orthonormal ones.
    pub(crate) fn tensors(&self, dtype: Dtype, more: Option<(&'static str, Tensor)>) -> Result<Tensors> {
        let k = self.variance.len();
        let noise_scale = self.unit.as_deref();
        let axes = completed_axes(&self.axes, &self.axes, k, noise_scale, dtype.eps())?;
        let each = |f: &dyn Fn(f64) -> f64| self.variance.iter().map(|&v| f(v)).collect::<Vec<f64>>();
        let described = LinearParameters {
            components: &axes,
            mean: &self.mean,
            decoder: None,
            axes: None,
            scale: Some(&each(&|v| v.sqrt())),
            noise_scale,
            second_rotation: None,
        };
        let total = self.variance.iter().sum::<f64>() + self.noise * (self.mean.len() - k) as f64;
        let own = [
            ("explained_variance", Tensor::vector(&self.variance, dtype)),
            ("explained_variance_ratio", Tensor::vector(&each(&|v| v / total), dtype)),
            ("latent_scale", Tensor::vector(&each(&|v| (v - self.noise).max(0.0).sqrt()), dtype)),
            ("noise_variance", Tensor::scalar(self.noise, dtype)),
        ];
        Ok(described.tensors(dtype, own.into_iter().chain(more)))
    }
}

/// Encoder by posterior means, and linear decoder.
pub(crate) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let density = density(tensors)?;
    let (k, p) = (density.axes.rows(), density.axes.cols());
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let latent = require(tensors, "latent_scale", &[Some(k)])?.f64s();
    let noise_scale = density.noise_scale.as_deref();
    let parts = Linear { noise: noise_scale, axes: &density.axes, scale: Some(&latent), rotation: None };
    let (encoder, decoder) = (parts.posterior_means(density.noise), parts.transposed());
    let unit = |j: usize| noise_scale.map_or(1.0, |s| s[j]);
    let noise = (0..p).map(|j| density.noise * unit(j) * unit(j)).collect();
    let of = LinearGaussian::new(density.mean.clone(), decoder.transposed(), noise);
    Code::new(PosteriorMean::new(mean.clone(), encoder, of), LinearDecoder::new(mean, decoder))
}

/// The Gaussian distribution of the rows.
pub(crate) fn density(tensors: &Tensors) -> Result<Gaussian> {
    let components = require(tensors, "components", &[None, None])?;
    let (k, p) = (components.shape()[0], components.shape()[1]);
    let noise = require(tensors, "noise_variance", &[])?.f64s()[0];
    if k >= p.max(1) || noise.is_nan() || noise <= 0.0 {
        return Err(Error::corrupt_model(format!(
            "it has {k} components of {p} features and noise of variance {noise}"
        )));
    }
    let noise_scale = noise_scale_of(tensors, p)?;
    let variance = require(tensors, "explained_variance", &[Some(k)])?.f64s();
    Ok(Gaussian {
        mean: require(tensors, "mean", &[Some(p)])?.f64s(),
        noise_scale,
        axes: components.to_matrix(),
        variance: variance.into_iter().map(|v| v.max(noise)).collect(),
        noise,
    })
}
