//! The other terms of a rule: linear terms, orthogonality, sparsity, independence.

use super::super::columns::{scale_columns, variances};
use super::super::linear::{add, linear_gradient};
use super::super::nonlinearity::Nonlinearity;
use super::super::{ActivationFunction, LinearGradient, Orthogonality, Slope};
use super::{Codes, Field, MEAN_VARIANCE, State};
use crate::num::{Matrix, Real};

impl<T: Real> Field<T> {
    /// Terms (3) and (4): linear terms and orthogonality.
    pub(super) fn linear(&mut self, state: &State) {
        let (spec, k) = (self.spec, self.k);
        let about_rows = spec.lin_enc != 0.0 || spec.lin_dec != 0.0 || spec.var != 0.0;
        if !about_rows && spec.orth == Orthogonality::None && spec.norm == 0.0 {
            return;
        }
        let s = Self::second_moments(&mut self.table, &self.y, &self.y, k);
        let trace: f64 = (0..k).map(|j| s[(j, j)]).sum();
        let beta = match state.beta_by_variance && spec.orth != Orthogonality::UpperSigma {
            true => spec.beta / MEAN_VARIANCE * trace / k as f64,
            false => spec.beta,
        };
        let sigma: Vec<f64> = match state.sigma.len() == k {
            true => state.sigma.clone(),
            false => vec![1.0; k],
        };
        let LinearGradient { outer, inner } = linear_gradient(&spec, &s, &self.gram_matrix(), beta, &sigma);
        add(&mut self.inner, 1.0, |i, j| inner[(i, j)]);
        self.has_inner = true;
        if about_rows {
            self.times(Codes::Y, |i, j| outer[(i, j)]);
            self.e.iter_mut().zip(&self.product).for_each(|(e, t)| *e += *t);
        }
    }

    /// Terms (5): sparsity, and those of independent component analysis.
    pub(super) fn extra_terms(&mut self, state: &State) {
        let (spec, k) = (self.spec, self.k);
        let length = if spec.by_length { state.length } else { 1.0 };
        for (weight, function) in
            [(spec.l1, ActivationFunction::Sign), (spec.logcosh, ActivationFunction::Tanh)]
        {
            if weight != 0.0 {
                Nonlinearity { function, slope: Slope::True, a: vec![1.0] }.ready(k).values(
                    &self.y,
                    &mut self.h,
                    &mut self.slope,
                );
                let weight = T::from_f64(0.5 * weight * length);
                self.e.iter_mut().zip(&self.h).for_each(|(e, h)| *e += weight * *h);
            }
        }
        let raw = [spec.skew, spec.nodiag].iter().any(|w| *w != 0.0);
        if raw {
            self.outer_terms(spec.skew * length, spec.nodiag * length, None);
        }
        if spec.skew_sigma != 0.0 || spec.nodiag_sigma != 0.0 {
            let sigma: Vec<f64> = variances(&self.y, k).iter().map(|v| v.sqrt()).collect();
            self.outer_terms(spec.skew_sigma, spec.nodiag_sigma, Some(sigma));
        }
    }

    /// `W(B - B')/2` and `W(B - dg B)/2`, weighted: `B = E y'h(y)`, or `E y'h(y/sigma) sigma`.
    fn outer_terms(&mut self, skew: f64, nodiag: f64, sigma: Option<Vec<f64>>) {
        let k = self.k;
        self.z.copy_from_slice(&self.y);
        if let Some(sigma) = &sigma {
            let inverse: Vec<T> = sigma.iter().map(|s| T::from_f64(1.0 / s.max(f64::MIN_POSITIVE))).collect();
            scale_columns(&mut self.z, &inverse);
        }
        Nonlinearity { function: self.spec.xh, slope: Slope::True, a: vec![1.0] }.ready(k).values(
            &self.z,
            &mut self.h,
            &mut self.slope,
        );
        let mut b = Self::second_moments(&mut self.table, &self.y, &self.h, k);
        if let Some(sigma) = &sigma {
            b = Matrix::from_fn(k, k, |i, j| b[(i, j)] * sigma[j]);
        }
        add(&mut self.inner, 0.5 * skew, |i, j| b[(i, j)] - b[(j, i)]);
        add(&mut self.inner, 0.5 * nodiag, |i, j| if i == j { 0.0 } else { b[(i, j)] });
        self.has_inner = true;
    }
}
