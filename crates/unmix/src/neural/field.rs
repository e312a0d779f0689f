//! Half the gradient of any rule, from weights and a batch of rows: `G = X'E/n + W K`.
//!
//! Terms are added in a fixed order. (1) The nonlinear reconstruction: codes (deflated or not), standard
//! deviations, `U = h(Y/sigma) sigma`, the error `UM - Y` in one of its forms times `h'`; the decoder's
//! part. (2) The triangular term. (3) The linear terms and (4) those that keep columns orthogonal
//! ([`linear_gradient`]). (5) Sparsity and the terms of independent component analysis.
//!
//! Rows are centred by the mean of their batch without a centred copy: it is sufficient to subtract column means from `Y` and `E`,
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
    /// Standard deviations along the columns: learned, or those of the last batch.
    pub sigma: Vec<f64>,
    /// Exponential moving averages of the variances along the columns.
    pub variance: Vec<f64>,
    /// The width `a` of the nonlinearity.
    pub a: f64,
    /// Widths of the components; empty if `a` is the width of all.
    pub widths: Vec<f64>,
    /// Factor of terms that are scaled by the length of rows.
    pub length: f64,
    /// Whether the weight of orthogonality is in units of the mean variance along the columns.
    pub beta_by_variance: bool,
    /// Fraction of the mean variance that is added to each variance.
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
    /// With respect to the standard deviations.
    pub sigma: Vec<f64>,
    /// With respect to the width `a`.
    pub a: f64,
}

/// Mean variance along the columns in the experiments for which the weights `beta` in the tables were chosen: `beta` divided by it is a
/// weight in units of the mean variance.
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
    /// Minus the component of the gradient of each column along the column; see [`tangent`](Self::tangent).
    pub(super) radial: Vec<f64>,
    /// Half-gradients of the other parameters.
    pub further: ExtraGradients,
}

impl<T: Real> Field<T> {
    /// Buffers for weights of `p x k`.
    pub fn new(spec: &Spec, p: usize, k: usize) -> Self {
        let none = Vec::new;
        Self {
            spec: *spec,
            p,
            k,
            ready: Nonlinearity { function: spec.h, slope: spec.slope, a: vec![spec.a] }.ready(k),
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

    /// Projects the gradient onto the tangent space of the constraint, because its component along the columns must not
    /// affect a step with unit columns: for each column separately, or, if columns are kept `orthonormal`, for all of
    /// them (`G - W sym(W'G)`).
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

    /// Writes `G`, `p x k`, to `out`: the projection of [`tangent`](Self::tangent) is applied if it was called. Rows and weights must be those
    /// of the last [`half_gradient`](Self::half_gradient).
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

    /// `a' b / n` for two tables of codes, `k x k`; `table` is a buffer.
    fn second_moments(table: &mut [T], a: &[T], b: &[T], k: usize) -> Matrix<f64> {
        let n = a.len() / k;
        kernel::multiply_left_transposed(table, a, b, n, k, k);
        Matrix::from_fn(k, k, |i, j| table[i * k + j].to_f64() / n as f64)
    }

    /// `product = a m`, for a `k x k` matrix `m`.
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

/// A table of codes in the buffers.
#[derive(Clone, Copy)]
enum Codes {
    Y,
    U,
    Slope,
}
