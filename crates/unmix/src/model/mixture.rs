//! Mixtures of Gaussians: responsibilities and likelihoods of rows.

use super::apply::ModelEncoder;
use super::{Gaussian, Model};
use crate::data::{Block, Rows, Sink, Workspace};
use crate::error::{Error, Result};
use crate::num::Real;
use crate::run::Run;

/// The logarithm of the joint density of a row and the component nearest to it, if it is too small for a number.
const LOG_OF_UNDERFLOW: f64 = f64::MIN;

/// A mixture of Gaussians.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Mixture {
    /// Probability of each component of the mixture; their sum is 1. A component of probability 0 has no rows.
    pub weights: Vec<f64>,
    /// The Gaussians, one for each weight.
    pub parts: Vec<Gaussian>,
}

impl Mixture {
    /// Number of components of the mixture.
    pub(crate) fn n_parts(&self) -> usize {
        self.weights.len()
    }

    /// `log(weight_k p_k(x))` of every row and component, `n x n_parts`: minus infinity for components of probability 0.
    pub(crate) fn log_joint<T: Real>(&self, rows: &[T], out: &mut [f64], work: &mut Workspace<T>) {
        let k = self.n_parts();
        let mut one = vec![0.0; out.len() / k.max(1)];
        for (c, (weight, part)) in self.weights.iter().zip(&self.parts).enumerate() {
            if *weight > 0.0 {
                part.log_density(rows, &mut one, work);
            }
            let log = weight.ln();
            let each = out.chunks_exact_mut(k).zip(&one);
            each.for_each(|(of_row, value)| of_row[c] = if *weight > 0.0 { log + value } else { log });
        }
        let p = self.parts.first().map_or(1, |part| part.mean.len().max(1));
        rows.chunks_exact(p)
            .zip(out.chunks_exact_mut(k))
            .for_each(|(row, joint)| self.compare_far(row, joint));
    }

    /// Compares the components for a row so far from all of them that the squares of its distances overflow: the nearest one, in units of its
    /// own variances, has [`LOG_OF_UNDERFLOW`], the others minus infinity, as their densities are smaller by a factor without bound.
    fn compare_far<T: Real>(&self, row: &[T], joint: &mut [f64]) {
        joint.iter_mut().filter(|log| log.is_nan()).for_each(|log| *log = f64::NEG_INFINITY);
        if joint.iter().any(|log| *log > f64::NEG_INFINITY) {
            return;
        }
        let scale = row.iter().fold(1.0f64, |most, x| most.max(x.to_f64().abs()));
        let divided: Vec<f64> = row.iter().map(|x| x.to_f64() / scale).collect();
        let square = |(part, weight): (&Gaussian, &f64)| match *weight > 0.0 {
            true => part.far_square(&divided, scale),
            false => f64::INFINITY,
        };
        let squares: Vec<f64> = self.parts.iter().zip(&self.weights).map(square).collect();
        let least = squares.iter().copied().fold(f64::INFINITY, f64::min);
        joint
            .iter_mut()
            .zip(&squares)
            .filter(|(_, s)| **s <= least)
            .for_each(|(log, _)| *log = LOG_OF_UNDERFLOW);
    }

    /// Converts the logarithms of the joint densities of a row to posterior probabilities of the components; returns the
    /// log-likelihood of the row, minus infinity if it is too small for a number.
    pub fn normalise(joint: &mut [f64]) -> f64 {
        let largest = joint.iter().fold(f64::NEG_INFINITY, |m, l| m.max(*l));
        joint.iter_mut().for_each(|l| *l = (*l - largest).exp());
        let sum: f64 = joint.iter().sum();
        joint.iter_mut().for_each(|p| *p /= sum);
        if largest == LOG_OF_UNDERFLOW { f64::NEG_INFINITY } else { largest + sum.ln() }
    }
}

/// The index of the largest number, the first of several.
fn largest(of: &[f64]) -> usize {
    of.iter().enumerate().fold(0, |best, (c, x)| if *x > of[best] { c } else { best })
}

impl Model {
    /// The cluster of every row, one number for each row: the nearest one if codes are distances, the most probable one in a mixture.
    ///
    /// # Errors
    ///
    /// A model without clusters; rows of another width; numbers that are not finite; errors of the source.
    pub fn labels<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
    ) -> Result<u64> {
        let k = self.n_codes();
        if let Some(mixture) = self.code().encoder().mixture() {
            return self.by_part(mixture, "assigning clusters", 1, rows, run, sink, |joint, out| {
                out[0] = largest(joint) as f64;
            });
        }
        if !self.code().codes().distances {
            return Err(self.without("clusters of rows", "it has no clusters", "encode the rows"));
        }
        self.check_columns("labels", rows)?;
        let coder = ModelEncoder::of(self);
        let step = |block: Block<'_, T>, out: &mut [f64], work: &mut Workspace<T>| {
            coder.check("assigning clusters", rows, &block)?;
            let mut codes = vec![T::default(); block.n_rows() * k];
            coder.encode(&block, &mut codes, work);
            for (label, code) in out.iter_mut().zip(codes.chunks_exact(k)) {
                let near: Vec<f64> = code.iter().map(|d| -d.to_f64()).collect();
                *label = largest(&near) as f64;
            }
            Ok(())
        };
        rows.map(run, "assigning clusters", 1, step, sink)
    }

    /// The posterior probability of every cluster for every row, `n x n_parts`, if the model is a mixture.
    ///
    /// # Errors
    ///
    /// A model without probabilities of clusters; rows of another width; numbers that are not finite; errors of the source.
    pub fn probabilities<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
    ) -> Result<u64> {
        let Some(mixture) = self.code().encoder().mixture() else {
            let remedy = "fit subspace-clustering with algorithm='ppca-mixture'";
            return Err(self.without("probabilities of clusters", "it is not a mixture", remedy));
        };
        let k = mixture.n_parts();
        self.by_part(mixture, "assigning clusters", k, rows, run, sink, |joint, out| {
            Mixture::normalise(joint);
            out.copy_from_slice(joint);
        })
    }

    /// Log-likelihood of every row under a mixture.
    pub(super) fn score_mixture<T: Real>(
        &self,
        mixture: &Mixture,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
    ) -> Result<u64> {
        self.by_part(mixture, "scoring", 1, rows, run, sink, |joint, out| out[0] = Mixture::normalise(joint))
    }

    fn without(&self, request: &str, found: &str, remedy: &str) -> Error {
        let request = format!("{request} under the {} model", self.method().key);
        Error::unsupported(request, found, remedy)
    }

    /// `width` numbers for each row, computed by `of` from the logarithms of its joint densities.
    #[allow(clippy::too_many_arguments, reason = "the arguments of a sweep and of a row function")]
    fn by_part<T: Real>(
        &self,
        mixture: &Mixture,
        stage: &'static str,
        width: usize,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
        of: impl Fn(&mut [f64], &mut [f64]) + Sync,
    ) -> Result<u64> {
        self.check_columns("score", rows)?;
        let k = mixture.n_parts();
        let step = |block: Block<'_, T>, out: &mut [f64], work: &mut Workspace<T>| {
            rows.check_finite(stage, &block)?;
            let mut joint = vec![0.0; block.n_rows() * k];
            mixture.log_joint(block.data, &mut joint, work);
            joint.chunks_exact_mut(k).zip(out.chunks_exact_mut(width)).for_each(|(j, o)| of(j, o));
            Ok(())
        };
        rows.map(run, stage, width, step, sink)
    }
}
