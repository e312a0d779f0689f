//! Scale of the rows, and parameters of a layer of units in the coordinates of training and in the units of the rows.

use crate::autoencoder::Evaluation;
use crate::data::{Batches, Rows};
use crate::error::Result;
use crate::model::{Tensor, Tensors};
use crate::num::order;
use crate::num::{Matrix, Real, kernel};
use crate::run::{Run, Start};
use crate::shallow::{Initial, LayerWeights};
use crate::spectrum::{check_scales, check_total, no_variance_of};
use crate::stats::GatherMoments;

/// Centre and scale of the rows of a fit.
pub(in crate::method) struct RowScaling {
    pub(in crate::method) mean: Vec<f64>,
    /// Divisor of each column; 1 where it does not vary.
    pub(in crate::method) scale: Vec<f64>,
    pub(in crate::method) varies: Vec<bool>,
}

impl RowScaling {
    /// Mean and scale of the rows.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, no column that varies, scales too far apart for the type, errors of the source.
    pub(in crate::method) fn of<T: Real>(
        key: &str,
        rows: &Rows<'_, T>,
        standardize: bool,
        run: &Run<'_>,
    ) -> Result<Self> {
        let found = rows.sweep(run, "moments", &GatherMoments::new())?;
        let total: f64 = found.squares.iter().sum();
        if !total.is_finite() || !T::from_f64(total).finite() || found.mean.iter().any(|m| !m.is_finite()) {
            return Err(rows.not_finite(key));
        }
        if total == 0.0 {
            return Err(no_variance_of(rows, key));
        }
        check_total(key, total, T::DTYPE)?;
        let varies: Vec<bool> = found.squares.iter().map(|s| *s > 0.0).collect();
        let common = (total / (found.n * varies.len() as f64)).sqrt();
        let of = |squares: &f64| match (*squares > 0.0, standardize) {
            (false, _) => 1.0,
            (true, true) => (squares / (found.n - 1.0)).sqrt(),
            (true, false) => common,
        };
        let scale: Vec<f64> = found.squares.iter().map(of).collect();
        if standardize {
            check_scales(key, Some(&scale), T::DTYPE)?;
        }
        Ok(Self { mean: found.mean, scale, varies })
    }

    /// Batches of standardised rows.
    ///
    /// # Errors
    ///
    /// Rows that cannot be read in any order.
    pub(in crate::method) fn batches<'r, T: Real>(
        &self,
        rows: &'r Rows<'_, T>,
        batch_size: usize,
        run: &Run<'_>,
    ) -> Result<Batches<'r, T>> {
        // Rounding errors of a column that does not vary are multiplied by 0.
        let each = self.scale.iter().zip(&self.varies);
        let units: Vec<f64> = each.map(|(s, varies)| if *varies { *s } else { f64::INFINITY }).collect();
        Ok(Batches::new(rows, batch_size, run.seed)?.centred(&self.mean).divided(1.0, Some(&units)))
    }

    /// Initial weights of `m` units of the method `key`: those of a given model of this method, the directions of the components of a given
    /// model of another one, or random weights.
    ///
    /// # Errors
    ///
    /// A start with other columns, or with fewer components.
    pub(in crate::method) fn start<T: Real>(
        &self,
        key: &str,
        m: usize,
        tied: bool,
        initial: Initial,
        run: &Run<'_>,
    ) -> Result<LayerWeights<T>> {
        let p = self.mean.len();
        let given = run.initial_components(p, m)?;
        let own = run.init.filter(|init| init.method() == key);
        if let Some(weights) = own.and_then(|init| self.continued(m, tied, init)) {
            return Ok(weights);
        }
        let mut directions = given.map(|given| given.top_rows(m).into_vec()).unwrap_or_default();
        for row in directions.chunks_exact_mut(p) {
            row.iter_mut().zip(&self.scale).for_each(|(x, s)| *x /= s);
        }
        Ok(LayerWeights::start(m, &self.varies, tied, initial, &directions, run.seed))
    }

    /// Initial weights from a model of this method, in the coordinates of training: the first units, if there are enough.
    fn continued<T: Real>(&self, m: usize, tied: bool, init: &dyn Start) -> Option<LayerWeights<T>> {
        let p = self.mean.len();
        let numbers = |name: &str, len: usize| {
            let found = init.parameter(name).map(|(_, numbers)| numbers).filter(|all| all.len() >= len);
            found.map(|mut all| {
                all.truncate(len);
                all
            })
        };
        let (mut decoder, mut encoder) = (numbers("components", m * p)?, numbers("encoder_weight", m * p)?);
        let (mut bias, mean) = (numbers("encoder_bias", m)?, numbers("mean", p)?);
        let each = |rows: &mut [f64], by: &dyn Fn(usize) -> f64| {
            for row in rows.chunks_exact_mut(p) {
                (0..p).for_each(|c| row[c] *= if self.varies[c] { by(c) } else { 0.0 });
            }
        };
        each(&mut decoder, &|c| 1.0 / self.scale[c]);
        each(&mut encoder, &|c| self.scale[c]);
        let mut offset: Vec<f64> = mean.iter().zip(&self.mean).map(|(to, from)| to - from).collect();
        each(&mut offset, &|c| 1.0 / self.scale[c]);
        for (b, row) in bias.iter_mut().zip(encoder.chunks_exact(p)) {
            *b -= row.iter().zip(&offset).map(|(w, c)| w * c).sum::<f64>();
        }
        let decoder = if tied { Vec::new() } else { decoder };
        Some(LayerWeights::of(&encoder, &decoder, &bias, &offset))
    }

    /// Parameters in the units of the rows, for units in this order. With `s` the scale of the columns and `m + s c` as mean, what the decoder
    /// adds is subtracted before the encoder, too: `W (x - m) / s + b = (W / s) (x - m - s c) + b + W c`.
    pub(in crate::method) fn parameters<T: Real>(
        &self,
        weights: &LayerWeights<T>,
        order: &[usize],
    ) -> Tensors {
        let (p, dtype, scale) = (weights.n_features(), T::DTYPE, &self.scale);
        let offset: Vec<f64> = weights.offset.iter().map(|c| c.to_f64()).collect();
        let (encoder, decoder) = weights.by_units();
        let mean: Vec<f64> = (0..p).map(|c| self.mean[c] + scale[c] * offset[c]).collect();
        let own = |j: usize| encoder[j * p..(j + 1) * p].iter().zip(&offset).map(|(w, c)| w * c).sum::<f64>();
        let bias: Vec<f64> = order.iter().map(|&j| weights.bias[j].to_f64() + own(j)).collect();
        // Adding 0 leaves no negative zeros.
        let rows = |of: &[f64], by: &dyn Fn(usize) -> f64| {
            let rows = Matrix::from_fn(order.len(), p, |i, c| of[order[i] * p + c] * by(c) + 0.0);
            Tensor::matrix(&rows, dtype)
        };
        let named = [
            ("components", rows(&decoder, &|c| scale[c])),
            ("encoder_weight", rows(&encoder, &|c| 1.0 / scale[c])),
            ("encoder_bias", Tensor::vector(&bias, dtype)),
            ("mean", Tensor::vector(&mean, dtype)),
        ];
        named.into_iter().map(|(name, tensor)| (name.to_string(), tensor)).collect()
    }
}

/// Units in decreasing order of use: the sum of their codes times the length of their decoder vector.
pub(in crate::method) fn by_use<T: Real>(weights: &LayerWeights<T>, used: &Evaluation) -> Vec<usize> {
    let p = weights.n_features();
    let (_, decoder) = weights.by_units();
    let sizes = decoder.chunks_exact(p).zip(&used.size);
    let sizes: Vec<f64> = sizes.map(|(row, sum)| sum * kernel::sum_of_squares(row).sqrt()).collect();
    order::descending(&sizes)
}
