//! The half-gradient of any rule, from weights and a batch of rows: `G = X'E/n + W K`.
//!
//! Terms enter in one order. (1) The nonlinear reconstruction: codes (deflated or not), standard deviations, `U = h(Y/sigma)
//! sigma`, the error `UM - Y` in its several forms times `h'`; the decoder's part. (2) The triangular term. (3) The linear terms
//! and (4) those that keep columns orthogonal ([`linear_pull`]). (5) Sparsity and the terms of independent component analysis.
//!
//! Rows are centred by their batch without being touched: what is subtracted from `Y` and from `E` column by column is
//! enough, because `(X - 1m)'E = X'(E - mean E)`.

use super::columns::{
    column_means, column_products, scale_columns, subtract, subtract_columns, subtract_scaled,
    take_away_means, variances,
};
use super::linear::{add, linear_pull, strictly_upper, unit, upper};
use super::nonlinearity::{Nonlinearity, Ready};
use super::{Anchor, DecoderScale, Mean, Orthogonality, Pull, Shape, Sigma, Slope, Space, Spec};
use crate::num::{Matrix, Real, kernel, widest};

/// What a rule learns or keeps beside its weights.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Standard deviations along the columns, learnt ones or those of the last batch.
    pub sigma: Vec<f64>,
    /// Variances along the columns in the batches so far.
    pub variance: Vec<f64>,
    /// The number in the nonlinearity.
    pub a: f64,
    /// One for each component in its place; empty where that one is for all.
    pub widths: Vec<f64>,
    /// What terms that go by the length of rows are multiplied by.
    pub length: f64,
    /// Weights of orthogonality are in units of the mean variance along the columns, or as they are.
    pub beta_by_variance: bool,
    /// A part of the mean variance that is added to each.
    pub eps: f64,
}

impl State {
    /// At the beginning: nothing seen.
    pub fn new(spec: &Spec) -> Self {
        Self { a: spec.a, length: 1.0, ..Self::default() }
    }
}

/// Half-gradients of what is learnt beside the weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Further {
    /// Of the standard deviations.
    pub sigma: Vec<f64>,
    /// Of the number in the nonlinearity.
    pub a: f64,
}

/// The weight by which a record's `beta` is divided when it counts in units of the mean variance: that of the designs on which
/// published weights were found to work.
pub(crate) const MEAN_VARIANCE: f64 = 6.0;

/// How much of a new batch the running variances take in.
const NEW: f64 = 0.01;

/// Buffers of one step, and its result. Nothing is allocated while batches keep their size.
pub struct Field<T> {
    spec: Spec,
    p: usize,
    k: usize,
    ready: Ready<T>,
    ready_for: Vec<f64>,
    y: Vec<T>,
    z: Vec<T>,
    h: Vec<T>,
    slope: Vec<T>,
    /// `E`.
    pub(super) e: Vec<T>,
    u: Vec<T>,
    product: Vec<T>,
    gram: Vec<T>,
    table: Vec<T>,
    pub(super) inner: Matrix<f64>,
    pub(super) has_inner: bool,
    /// What is subtracted from each column along itself; see [`tangent`](Self::tangent).
    pub(super) radial: Vec<f64>,
    /// Of what is learnt beside the weights.
    pub further: Further,
}

impl<T: Real> Field<T> {
    /// For weights of `p x k`.
    pub fn new(spec: &Spec, p: usize, k: usize) -> Self {
        let none = Vec::new;
        Self {
            spec: *spec,
            p,
            k,
            ready: Nonlinearity { shape: spec.h, slope: spec.slope, a: vec![spec.a] }.ready(k),
            ready_for: vec![spec.a],
            y: none(),
            z: none(),
            h: none(),
            slope: none(),
            e: none(),
            u: none(),
            product: none(),
            gram: vec![T::default(); k * k],
            table: vec![T::default(); k * k],
            inner: Matrix::zeros(k, k),
            has_inner: false,
            radial: vec![0.0; k],
            further: Further::default(),
        }
    }

    /// `E` and `K` at the weights `w` (`p x k`, row-major) for rows `x` (`b x p`).
    pub fn pull(&mut self, x: &[T], w: &[T], state: &mut State) {
        let (p, k) = (self.p, self.k);
        let b = x.len() / p;
        for buffer in [&mut self.y, &mut self.z, &mut self.h, &mut self.slope, &mut self.e, &mut self.u] {
            buffer.resize(b * k, T::default());
        }
        self.product.resize(b * k, T::default());
        self.radial.fill(0.0);
        self.inner.as_mut_slice().fill(0.0);
        self.has_inner = false;
        kernel::multiply(&mut self.y, x, w, b, p, k);
        if self.spec.mean == Mean::Batch {
            take_away_means(&mut self.y, k);
        }
        kernel::multiply_left_transposed(&mut self.gram, w, w, p, k, k);
        self.e.fill(T::default());
        if self.spec.reconstructs() {
            self.reconstruction(state);
        }
        self.linear(state);
        self.further_terms(state);
        if self.spec.mean == Mean::Batch {
            take_away_means(&mut self.e, k);
        }
    }

    /// Takes away the part of the gradient along the columns themselves, which a step in unit columns must not follow: for each
    /// column by itself, or, where columns are kept `orthonormal`, for all of them (`G - W sym(W'G)`).
    pub fn tangent(&mut self, orthonormal: bool) {
        let (k, b) = (self.k, self.e.len() / self.k);
        let n = b as f64;
        let gram = |i: usize, j: usize| self.gram[i * k + j].to_f64();
        // W'G = Y'E/n + M K.
        if orthonormal {
            kernel::multiply_left_transposed(&mut self.table, &self.y, &self.e, b, k, k);
            let mk = |i: usize, j: usize| (0..k).map(|l| gram(i, l) * self.inner[(l, j)]).sum::<f64>();
            let along = Matrix::from_fn(k, k, |i, j| self.table[i * k + j].to_f64() / n + mk(i, j));
            add(&mut self.inner, -0.5, |i, j| along[(i, j)] + along[(j, i)]);
            self.has_inner = true;
            return;
        }
        let along = column_products(&self.y, &self.e, k);
        for j in 0..k {
            let own = match self.has_inner {
                true => (0..k).map(|l| gram(j, l) * self.inner[(l, j)]).sum::<f64>(),
                false => 0.0,
            };
            self.radial[j] = -(along[j] / n + own);
        }
    }

    /// `G`, without what [`tangent`](Self::tangent) found along single columns, from the rows and weights of the last
    /// [`pull`](Self::pull): `p x k`, written over `out`.
    pub fn gradient(&mut self, x: &[T], w: &[T], out: &mut [T]) {
        let (p, k) = (self.p, self.k);
        let b = x.len() / p;
        kernel::multiply_left_transposed(out, x, &self.e, b, p, k);
        let share = T::from_f64(1.0 / b as f64);
        widest(
            #[inline(always)]
            || out.iter_mut().for_each(|g| *g *= share),
        );
        if self.has_inner {
            self.table.iter_mut().zip(self.inner.as_slice()).for_each(|(t, x)| *t = T::from_f64(*x));
            kernel::add_product(out, w, &self.table, p, k, k);
        }
        if self.radial.iter().any(|r| *r != 0.0) {
            let radial: Vec<T> = self.radial.iter().map(|r| T::from_f64(*r)).collect();
            widest(
                #[inline(always)]
                || {
                    for (g, w) in out.chunks_exact_mut(k).zip(w.chunks_exact(k)) {
                        g.iter_mut().zip(w).zip(&radial).for_each(|((g, w), r)| *g += *w * *r);
                    }
                },
            );
        }
    }

    fn gram_matrix(&self) -> Matrix<f64> {
        Matrix::from_fn(self.k, self.k, |i, j| self.gram[i * self.k + j].to_f64())
    }

    /// `out += weight a' b / n` for two tables of codes.
    fn second_moments(table: &mut [T], a: &[T], b: &[T], k: usize) -> Matrix<f64> {
        let n = a.len() / k;
        kernel::multiply_left_transposed(table, a, b, n, k, k);
        Matrix::from_fn(k, k, |i, j| table[i * k + j].to_f64() / n as f64)
    }

    /// `product = a m` with a `k x k` table of numbers, or the Gram matrix as it is.
    fn times(&mut self, of: Codes, m: impl Fn(usize, usize) -> f64) {
        let k = self.k;
        for (at, t) in self.table.iter_mut().enumerate() {
            *t = T::from_f64(m(at / k, at % k));
        }
        let a = match of {
            Codes::Y => &self.y,
            Codes::U => &self.u,
            Codes::Slope => &self.slope,
        };
        kernel::multiply(&mut self.product, a, &self.table, a.len() / k, k, k);
    }

    // (1)
    fn reconstruction(&mut self, state: &mut State) {
        let (spec, k) = (self.spec, self.k);
        let b = self.y.len() / k;
        let plain = spec.space == Space::Input && !(spec.deflate || spec.weighted || spec.nested.is_some());
        // The Gram matrix as it is does for those.
        let m = if plain { Matrix::zeros(0, 0) } else { self.gram_matrix() };
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
        self.squash(state);
        self.u.copy_from_slice(&self.h);
        scale_columns(&mut self.u, &sigma);
        if spec.mean == Mean::Kept {
            let back: Vec<f64> = means.iter().map(|x| -x).collect();
            subtract_columns(&mut self.u, &back, k);
        }
        // The error, in `product`.
        let (l, q) = (spec.lambda.of(k, |j| state.sigma[j].powi(2)), spec.nested.map(|n| n.kept(k)));
        match spec.space {
            Space::Latent(anchor) => {
                let a = |i: usize, j: usize| match anchor {
                    Anchor::Identity => unit(i, j),
                    Anchor::Gram => m[(i, j)],
                    Anchor::UpperGram => upper(&m)(i, j),
                };
                self.times(Codes::U, a);
                if anchor == Anchor::Identity {
                    subtract(&mut self.product, &self.y);
                } else {
                    // ((UA - Y) A'), the first factor kept in e.
                    for ((e, t), y) in self.e.iter_mut().zip(&self.product).zip(&self.y) {
                        *e = *t - *y;
                    }
                    for (at, t) in self.table.iter_mut().enumerate() {
                        *t = T::from_f64(a(at % k, at / k));
                    }
                    kernel::multiply(&mut self.product, &self.e, &self.table, b, k, k);
                }
            }
            _ if spec.weighted => {
                self.times(Codes::U, |i, j| l[i] * m[(i, j)]);
                subtract_scaled(&mut self.product, &self.y, &l, k);
            }
            _ if q.is_some() => {
                let q = q.unwrap_or_default();
                self.times(Codes::U, |i, j| m[(i, j)] * q[i.max(j)]);
                subtract_scaled(&mut self.product, &self.y, &q, k);
            }
            _ => {
                kernel::multiply(&mut self.product, &self.u, &self.gram, b, k, k);
                subtract(&mut self.product, &self.y);
            }
        }
        self.gradients_beside(state);
        // D = error o h', in `slope`, weighted.
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

    /// `h` and `h'` of the standardised codes.
    fn squash(&mut self, state: &State) {
        let (spec, k) = (self.spec, self.k);
        let one = [state.a];
        let a = if state.widths.is_empty() { &one[..] } else { &state.widths };
        if self.ready_for != a {
            self.ready = Nonlinearity { shape: spec.h, slope: spec.slope, a: a.to_vec() }.ready(k);
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

    /// Of standard deviations and of the nonlinearity's number, from the error in `product`.
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

    /// The decoder's part: `W U'U/n - X'U/n`, over its scale.
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

    // (3), (4)
    fn linear(&mut self, state: &State) {
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
        let Pull { outer, inner } = linear_pull(&spec, &s, &self.gram_matrix(), beta, &sigma);
        add(&mut self.inner, 1.0, |i, j| inner[(i, j)]);
        self.has_inner = true;
        if about_rows {
            self.times(Codes::Y, |i, j| outer[(i, j)]);
            self.e.iter_mut().zip(&self.product).for_each(|(e, t)| *e += *t);
        }
    }

    // (5)
    fn further_terms(&mut self, state: &State) {
        let (spec, k) = (self.spec, self.k);
        let length = if spec.by_length { state.length } else { 1.0 };
        for (weight, shape) in [(spec.l1, Shape::Sign), (spec.logcosh, Shape::Tanh)] {
            if weight != 0.0 {
                Nonlinearity { shape, slope: Slope::True, a: vec![1.0] }.ready(k).values(
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
        Nonlinearity { shape: self.spec.xh, slope: Slope::True, a: vec![1.0] }.ready(k).values(
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

/// Which table of codes.
#[derive(Clone, Copy)]
enum Codes {
    Y,
    U,
    Slope,
}

/// From codes about their mean.
fn standard_deviations<T: Real>(spec: &Spec, z: &[T], k: usize, state: &mut State) {
    let smooth = |v: &[f64], eps: f64| {
        let floor = eps * v.iter().sum::<f64>() / k as f64;
        v.iter().map(|v| (v + floor).sqrt().max(f64::MIN_POSITIVE)).collect()
    };
    match spec.sigma {
        Sigma::One => state.sigma = vec![1.0; k],
        Sigma::Trained if state.sigma.len() == k => {}
        // The first batch is where they begin.
        Sigma::Trained | Sigma::Batch => state.sigma = smooth(&variances(z, k), state.eps),
        Sigma::Running => {
            let now = variances(z, k);
            if state.variance.len() != k {
                state.variance = now;
            } else {
                state.variance.iter_mut().zip(now).for_each(|(v, now)| *v += NEW * (now - *v));
            }
            state.sigma = smooth(&state.variance, state.eps);
        }
    }
}
