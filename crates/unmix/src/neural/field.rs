//! Half the gradient of any rule, from weights and a batch of rows: `G = X'E/n + W K`.
//!
//! Terms are added in a fixed order. (1) The nonlinear reconstruction: codes (deflated or not), standard
//! deviations, `U = h(Y/sigma) sigma`, the error `UM - Y` in its several forms times `h'`; the decoder's
//! part. (2) The triangular term. (3) The linear terms and (4) those that keep columns orthogonal
//! ([`linear_gradient`]). (5) Sparsity and the terms of independent component analysis.
//!
//! Rows are centred by their batch without being changed: what is subtracted from `Y` and from `E` column by column is enough,
//! because `(X - 1m)'E = X'(E - mean E)`.

mod reconstruction;
mod terms;

use super::columns::{column_products, subtract_means};
use super::linear::add;
use super::nonlinearity::{Nonlinearity, TypedNonlinearity};
use super::{Mean, Spec};
use crate::num::{Matrix, Real, kernel, widest};
use serde::{Deserialize, Serialize};

/// Parameters of a rule besides its weights.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// Standard deviations along the columns, learned ones or those of the last batch.
    pub sigma: Vec<f64>,
    /// Variances along the columns in the batches so far.
    pub variance: Vec<f64>,
    /// The number in the nonlinearity.
    pub a: f64,
    /// One for each component in its place; empty where that one is for all.
    pub widths: Vec<f64>,
    /// Factor of terms that are scaled by the length of rows.
    pub length: f64,
    /// Weights of orthogonality are in units of the mean variance along the columns, or as they are.
    pub beta_by_variance: bool,
    /// A part of the mean variance that is added to each.
    pub eps: f64,
}

impl State {
    /// Initial values.
    pub fn new(spec: &Spec) -> Self {
        Self { a: spec.a, length: 1.0, ..Self::default() }
    }
}

/// Half-gradients of the parameters besides the weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtraGradients {
    /// Of the standard deviations.
    pub sigma: Vec<f64>,
    /// Of the number in the nonlinearity.
    pub a: f64,
}

/// The weight by which a record's `beta` is divided when it counts in units of the mean variance: that of the designs on which
/// published weights were found to work.
pub(crate) const MEAN_VARIANCE: f64 = 6.0;
/// Buffers of one step, and its result. Nothing is allocated while the batch size is constant.
pub struct Field<T> {
    spec: Spec,
    p: usize,
    k: usize,
    ready: TypedNonlinearity<T>,
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
    /// Of what is learned beside the weights.
    pub further: ExtraGradients,
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
            further: ExtraGradients::default(),
        }
    }

    /// `E` and `K` at the weights `w` (`p x k`, row-major) for rows `x` (`b x p`).
    pub fn half_gradient(&mut self, x: &[T], w: &[T], state: &mut State) {
        let (p, k) = (self.p, self.k);
        let b = x.len() / p;
        for buffer in [&mut self.y, &mut self.z, &mut self.h, &mut self.slope, &mut self.e, &mut self.u] {
            buffer.resize(b * k, T::default());
        }
        self.product.resize(b * k, T::default());
        self.radial.fill(0.0);
        self.inner.as_mut_slice().fill(0.0);
        self.has_inner = false;
        kernel::product(&mut self.y, x, w, b, p, k);
        if self.spec.mean == Mean::Batch {
            subtract_means(&mut self.y, k);
        }
        kernel::multiply_left_transposed(&mut self.gram, w, w, p, k, k);
        self.e.fill(T::default());
        if self.spec.reconstructs() {
            self.reconstruction(state);
        }
        self.linear(state);
        self.extra_terms(state);
        if self.spec.mean == Mean::Batch {
            subtract_means(&mut self.e, k);
        }
    }

    /// Removes the component of the gradient along the columns, which must not affect a step with unit
    /// columns: for each column alone, or, where columns are kept `orthonormal`, for all of them
    /// (`G - W sym(W'G)`).
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
    /// [`half_gradient`](Self::half_gradient): `p x k`, written over `out`.
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
        kernel::product(&mut self.product, a, &self.table, a.len() / k, k, k);
    }
}

/// Which table of codes.
#[derive(Clone, Copy)]
enum Codes {
    Y,
    U,
    Slope,
}
