//! The nonlinear reconstruction, and the triangular term of its codes.

use super::super::columns::{
    column_means, scale_columns, subtract, subtract_columns, subtract_scaled, variances,
};
use super::super::linear::{add, strictly_upper, unit, upper};
use super::super::nonlinearity::Nonlinearity;
use super::super::{Anchor, DecoderScale, Mean, Sigma, Slope, Space, Spec};
use super::{Codes, Field, State};
use crate::num::{Matrix, Real, kernel, widest};

/// Weight of a new batch in the running variances.
const NEW_BATCH_WEIGHT: f64 = 0.01;

impl<T: Real> Field<T> {
    /// Terms (1) and (2): `(UM - Y) o h'`, or the corresponding form, in `e`; the decoder's part; the triangular term.
    pub(super) fn reconstruction(&mut self, state: &mut State) {
        let (spec, k) = (self.spec, self.k);
        let plain = spec.space == Space::Input && !(spec.deflate || spec.weighted || spec.nested.is_some());
        // The plain form uses the Gram matrix in the buffer.
        let m = if plain { Matrix::zeros(0, 0) } else { self.gram_matrix() };
        self.reconstruct_codes(&m, state);
        self.error(&m, state);
        self.gradients_beside(state);
        self.apply_slope(state);
        match spec.deflate {
            true => {
                let below = |i: usize, j: usize| if i > j { m[(i, j)] } else { 0.0 };
                self.times(Codes::Slope, |i, j| unit(i, j) - below(j, i));
                self.e.copy_from_slice(&self.product);
                let drawn = Self::second_moments(&mut self.table, &self.slope, &self.y, k);
                add(&mut self.inner, -1.0, strictly_upper(&drawn));
                self.has_inner = true;
            }
            false => self.e.copy_from_slice(&self.slope),
        }
        if spec.dec != 0.0 {
            self.decoder(state);
        }
        if spec.triangle != 0.0 {
            let s = Self::second_moments(&mut self.table, &self.y, &self.z, k);
            add(&mut self.inner, 0.5 * spec.triangle, upper(&s));
            self.has_inner = true;
        }
    }

    /// Computes the standardised codes `z`, their `h` and `h'`, and `U = h(z) sigma`.
    fn reconstruct_codes(&mut self, m: &Matrix<f64>, state: &mut State) {
        let (spec, k) = (self.spec, self.k);
        self.z.copy_from_slice(&self.y);
        if spec.deflate {
            self.times(Codes::Y, |i, j| if i > j { m[(i, j)] } else { 0.0 });
            self.z.iter_mut().zip(&self.product).for_each(|(z, t)| *z -= *t);
        }
        let means = match spec.mean {
            Mean::Kept => column_means(&self.z, k),
            _ => vec![0.0; k],
        };
        if spec.mean == Mean::Kept {
            subtract_columns(&mut self.z, &means, k);
        }
        standard_deviations(&spec, &self.z, k, state);
        let sigma: Vec<T> = state.sigma.iter().map(|s| T::from_f64(*s)).collect();
        let inverse: Vec<T> = state.sigma.iter().map(|s| T::from_f64(1.0 / s)).collect();
        scale_columns(&mut self.z, &inverse);
        self.apply_nonlinearity(state);
        self.u.copy_from_slice(&self.h);
        scale_columns(&mut self.u, &sigma);
        if spec.mean == Mean::Kept {
            let back: Vec<f64> = means.iter().map(|x| -x).collect();
            subtract_columns(&mut self.u, &back, k);
        }
    }

    /// The error `UM - Y`, or the corresponding term of a rule, in `product`.
    fn error(&mut self, m: &Matrix<f64>, state: &State) {
        let (spec, k) = (self.spec, self.k);
        let b = self.y.len() / k;
        match (spec.space, spec.nested) {
            (Space::Latent(anchor), _) => self.latent_error(m, anchor),
            _ if spec.weighted => {
                let l = spec.lambda.of(k, |j| state.sigma[j].powi(2));
                self.times(Codes::U, |i, j| l[i] * m[(i, j)]);
                subtract_scaled(&mut self.product, &self.y, &l, k);
            }
            (_, Some(nested)) => {
                let q = nested.kept(k);
                self.times(Codes::U, |i, j| m[(i, j)] * q[i.max(j)]);
                subtract_scaled(&mut self.product, &self.y, &q, k);
            }
            _ => {
                kernel::product(&mut self.product, &self.u, &self.gram, b, k, k);
                subtract(&mut self.product, &self.y);
            }
        }
    }

    /// `(UA - Y) A'`.
    fn latent_error(&mut self, m: &Matrix<f64>, anchor: Anchor) {
        let k = self.k;
        let a = |i: usize, j: usize| match anchor {
            Anchor::Identity => unit(i, j),
            Anchor::Gram => m[(i, j)],
            Anchor::UpperGram => upper(m)(i, j),
        };
        self.times(Codes::U, a);
        if anchor == Anchor::Identity {
            subtract(&mut self.product, &self.y);
            return;
        }
        // The first factor is kept in e.
        for ((e, t), y) in self.e.iter_mut().zip(&self.product).zip(&self.y) {
            *e = *t - *y;
        }
        for (at, t) in self.table.iter_mut().enumerate() {
            *t = T::from_f64(a(at % k, at / k));
        }
        kernel::product(&mut self.product, &self.e, &self.table, self.y.len() / k, k, k);
    }

    /// Multiplies `h'` in `slope` by the error and the weight of the encoder's part.
    fn apply_slope(&mut self, state: &State) {
        let (spec, k) = (self.spec, self.k);
        let weights: Vec<T> = (0..k)
            .map(|j| match spec.dec_scale {
                DecoderScale::EncoderSigma => T::from_f64(spec.enc * state.sigma[j]),
                _ => T::from_f64(spec.enc),
            })
            .collect();
        let (slope, product) = (&mut self.slope, &self.product);
        widest(
            #[inline(always)]
            || {
                for (d, e) in slope.chunks_exact_mut(k).zip(product.chunks_exact(k)) {
                    for ((d, e), w) in d.iter_mut().zip(e).zip(&weights) {
                        *d *= *e * *w;
                    }
                }
            },
        );
    }

    /// `h` and `h'` of the standardised codes.
    fn apply_nonlinearity(&mut self, state: &State) {
        let (spec, k) = (self.spec, self.k);
        let one = [state.a];
        let a = if state.widths.is_empty() { &one[..] } else { &state.widths };
        if self.ready_for != a {
            self.ready = Nonlinearity { function: spec.h, slope: spec.slope, a: a.to_vec() }.ready(k);
            self.ready_for = a.to_vec();
        }
        self.ready.values(&self.z, &mut self.h, &mut self.slope);
        if spec.adaptive {
            let inverse: Vec<T> =
                variances(&self.h, k).iter().map(|v| T::from_f64(1.0 / v.sqrt().max(1e-12))).collect();
            scale_columns(&mut self.h, &inverse);
            if spec.slope == Slope::True {
                scale_columns(&mut self.slope, &inverse);
            }
        }
    }

    /// Half-gradients of the standard deviations and of the width `a`, from the error in `product`.
    fn gradients_beside(&mut self, state: &State) {
        let (spec, k) = (self.spec, self.k);
        let n = (self.y.len() / k) as f64;
        if spec.sigma == Sigma::Trained {
            let mut sums = vec![0.0; k];
            for (at, e) in self.product.iter().enumerate() {
                let (z, h, d) = (self.z[at], self.h[at], self.slope[at]);
                sums[at % k] += e.to_f64() * (h - z * d).to_f64();
            }
            let l2 = |j: usize| spec.sigma_l2 * state.sigma[j];
            self.further.sigma = (0..k).map(|j| sums[j] / n + l2(j)).collect();
        }
        if spec.train_a {
            let mut sum = 0.0;
            for (at, e) in self.product.iter().enumerate() {
                let t = self.z[at].to_f64() / state.a;
                let h = t.tanh();
                sum += e.to_f64() * state.sigma[at % k] * (h - t * (1.0 - h * h));
            }
            self.further.a = sum / n;
        }
    }

    /// The decoder's part, `W U'U/n - X'U/n`, divided by its scale.
    fn decoder(&mut self, state: &State) {
        let (spec, k) = (self.spec, self.k);
        let sigma = &state.sigma;
        let weight = spec.dec
            / match spec.dec_scale {
                DecoderScale::One | DecoderScale::NoSigma | DecoderScale::EncoderSigma => 1.0,
                DecoderScale::Spectral => sigma.iter().fold(f64::MIN_POSITIVE, |m, s| m.max(*s)),
                DecoderScale::Frobenius => sigma.iter().map(|s| s * s).sum::<f64>().sqrt(),
                DecoderScale::Nuclear => sigma.iter().sum(),
            };
        let out = if spec.dec_scale == DecoderScale::NoSigma { &self.h } else { &self.u };
        let s = Self::second_moments(&mut self.table, out, out, k);
        add(&mut self.inner, weight, |i, j| s[(i, j)]);
        self.has_inner = true;
        let weight = T::from_f64(weight);
        self.e.iter_mut().zip(out).for_each(|(e, u)| *e -= weight * *u);
    }
}

/// Standard deviations along the columns, from centred codes, unless they are learned.
fn standard_deviations<T: Real>(spec: &Spec, z: &[T], k: usize, state: &mut State) {
    let smooth = |v: &[f64], eps: f64| {
        let floor = eps * v.iter().sum::<f64>() / k as f64;
        v.iter().map(|v| (v + floor).sqrt().max(f64::MIN_POSITIVE)).collect()
    };
    match spec.sigma {
        Sigma::One => state.sigma = vec![1.0; k],
        Sigma::Trained if state.sigma.len() == k => {}
        // They are initialised by the first batch.
        Sigma::Trained | Sigma::Batch => state.sigma = smooth(&variances(z, k), state.eps),
        Sigma::Running => {
            let now = variances(z, k);
            if state.variance.len() != k {
                state.variance = now;
            } else {
                state.variance.iter_mut().zip(now).for_each(|(v, now)| *v += NEW_BATCH_WEIGHT * (now - *v));
            }
            state.sigma = smooth(&state.variance, state.eps);
        }
    }
}
