//! The sums over incomplete rows for an EM step of loadings, means and noise variances.

use super::{Conditional, LinearGaussian, Packer, Posteriors, Unpacker, cholesky, solve, triangle};
use crate::error::Result;
use crate::num::{Block, Plan, Real, Workspace, kernel};
use crate::stats::{Gather, Partial, both};

/// The sums of an EM step of a linear-Gaussian model, at the posteriors of the factors under the current
/// parameters.
///
/// Sums are over the rows in which column `j` is observed, weighted; `z` and `V` are posterior mean and covariance of a row's
/// factors, `r` its residual at `z`. The `q = k + 1` numbers are `(z, 1)`, so that means are fitted together with the loadings:
///
/// ```text
/// products_j = sum [z z', z; z', 1]      covariances_j = sum V      cross_j = sum r_j (z, 1) - (covariances_j w_j, 0)
/// squares_j  = sum r_j² + w_j' V w_j
/// ```
///
/// The change of `(w_j, mean_j)` solves `(products_j + covariances_j) change = cross_j`, and the sum of squares after it is
/// `squares_j - change' cross_j`. Residuals are those of the current parameters, so there is no cancellation near the solution.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FactorSums {
    /// Number of rows with an observed cell, weighted.
    pub n: f64,
    /// Log-likelihood of the observed cells.
    pub log_density: f64,
    /// Sum of `z` over these rows, `k`.
    pub means: Vec<f64>,
    /// Sum of `z z' + V` over these rows: the lower triangle, row by row.
    pub moments: Vec<f64>,
    /// For each column the lower triangles of `products` and `covariances`: `p x (q(q+1)/2 + k(k+1)/2)`.
    pub tables: Vec<f64>,
    /// For each column the sum of `r_j (z, 1)`: `p x q`.
    pub cross: Vec<f64>,
    /// For each column the sum of `r_j²`.
    pub squares: Vec<f64>,
}

/// The normal equations for the parameters of one column.
#[non_exhaustive]
pub struct ColumnSums {
    /// `products_j + covariances_j`: the lower triangle of a `q x q` matrix, row by row.
    pub table: Vec<f64>,
    /// `cross_j`, `q`.
    pub cross: Vec<f64>,
    /// `squares_j`.
    pub squares: f64,
    /// Number of observed cells, weighted.
    pub n: f64,
}

/// Means and loadings after an EM step, and the residual sum of squares of each column.
#[non_exhaustive]
pub struct Maximised {
    /// Mean, `p`.
    pub mean: Vec<f64>,
    /// Loadings, `p x k`, row-major.
    pub loadings: Vec<f64>,
    /// Residual sum of squares of each column.
    pub squares: Vec<f64>,
    /// Number of observed cells of each column.
    pub cells: Vec<f64>,
}

impl FactorSums {
    fn zero(p: usize, k: usize) -> Self {
        let (q, t) = (k + 1, triangle(k));
        Self {
            n: 0.0,
            log_density: 0.0,
            means: vec![0.0; k],
            moments: vec![0.0; t],
            tables: vec![0.0; p * (triangle(q) + t)],
            cross: vec![0.0; p * q],
            squares: vec![0.0; p],
        }
    }

    /// Number of factors.
    pub fn n_factors(&self) -> usize {
        self.means.len()
    }

    /// The sums of column `j`, whose loadings are `w`.
    pub fn column(&self, j: usize, w: &[f64]) -> ColumnSums {
        let k = self.n_factors();
        let (q, t) = (k + 1, triangle(k));
        let line = &self.tables[j * (triangle(q) + t)..(j + 1) * (triangle(q) + t)];
        let (products, covariances) = line.split_at(triangle(q));
        let mut table = products.to_vec();
        table.iter_mut().zip(covariances).for_each(|(a, v)| *a += v);
        let mut covariance_term = vec![0.0; k];
        super::symmetric_product(covariances, w, &mut covariance_term);
        let mut cross = self.cross[j * q..(j + 1) * q].to_vec();
        cross.iter_mut().zip(&covariance_term).for_each(|(c, v)| *c -= v);
        let spread: f64 = covariance_term.iter().zip(w).map(|(v, w)| v * w).sum();
        ColumnSums { table, cross, squares: self.squares[j] + spread, n: products[triangle(q) - 1] }
    }

    /// The maximum-likelihood parameters given these posteriors of the factors, with parameter expansion (PX-EM): mean and covariance of
    /// the factors are estimated, too, and then absorbed into means and loadings. `O(p k³)`.
    pub fn maximised(&self, before: &LinearGaussian) -> Maximised {
        let (p, k) = (before.n_features(), before.n_factors());
        let (mut mean, mut loadings) = (before.mean.clone(), before.loadings.clone());
        let (mut squares, mut cells) = (Vec::with_capacity(p), Vec::with_capacity(p));
        for j in 0..p {
            let w = &mut loadings[j * k..(j + 1) * k];
            let mut column = self.column(j, w);
            let mut change = column.cross.clone();
            solve(&mut column.table, &mut change);
            let explained: f64 = change.iter().zip(&column.cross).map(|(d, c)| d * c).sum();
            squares.push((column.squares - explained).max(0.0));
            cells.push(column.n);
            w.iter_mut().zip(&change).for_each(|(w, d)| *w += d);
            mean[j] += change[k];
        }
        let average: Vec<f64> = self.means.iter().map(|z| z / self.n).collect();
        let mut root: Vec<f64> = self.moments.iter().map(|m| m / self.n).collect();
        for a in 0..k {
            (0..=a).for_each(|b| root[triangle(a) + b] -= average[a] * average[b]);
        }
        cholesky(&mut root, k);
        for j in 0..p {
            let w = &mut loadings[j * k..(j + 1) * k];
            mean[j] += w.iter().zip(&average).map(|(w, a)| w * a).sum::<f64>();
            for b in 0..k {
                // Entry b needs those from b on, which are not yet overwritten.
                w[b] = (b..k).map(|a| w[a] * root[triangle(a) + b]).sum();
            }
        }
        Maximised { mean, loadings, squares, cells }
    }

    /// Adds rows with their `weights` and posteriors.
    fn add(&mut self, found: &Posteriors, weights: &[f64], p: usize) {
        let k = self.n_factors();
        let (q, t, n) = (k + 1, triangle(k), weights.len());
        let width = triangle(q) + t;
        let (mut lines, mut ones) = (Vec::with_capacity(n * width), Vec::with_capacity(n * q));
        for (i, w) in weights.iter().enumerate() {
            let z = &found.means[i * k..(i + 1) * k];
            let v = &found.patterns[found.pattern[i]].covariance;
            let start = lines.len();
            for a in 0..k {
                lines.extend((0..=a).map(|b| w * (z[a] * z[b])));
            }
            let own = lines[start..].iter().zip(v).map(|(zz, v)| zz + w * v);
            self.moments.iter_mut().zip(own).for_each(|(s, x)| *s += x);
            self.means.iter_mut().zip(z).for_each(|(s, z)| *s += w * z);
            lines.extend(z.iter().map(|z| w * z));
            lines.push(*w);
            lines.extend(v.iter().map(|v| w * v));
            ones.extend(z.iter().map(|z| w * z));
            ones.push(*w);
            self.n += w;
            self.log_density += w * found.log_density[i];
            let residuals = &found.residuals[i * p..(i + 1) * p];
            self.squares.iter_mut().zip(residuals).for_each(|(s, r)| *s += w * (r * r));
        }
        kernel::add_cross(&mut self.tables, &found.observed, &lines, n, p, width);
        kernel::add_cross(&mut self.cross, &found.residuals, &ones, n, p, q);
    }
}

/// Gathers [`FactorSums`] under a model. Rows of weight 0 and rows without observed cells are left out.
#[derive(Clone, Debug)]
pub struct GatherFactors {
    conditional: Conditional,
}

impl GatherFactors {
    /// Gathers the sums at the posteriors under `model`.
    pub fn new(model: LinearGaussian) -> Self {
        Self { conditional: Conditional::new(model) }
    }
}

impl<T: Real> Gather<T> for GatherFactors {
    type Part = FactorSums;
    const KIND: &'static str = "factors";

    fn plan(&self, n_features: usize) -> Plan {
        let k = self.conditional.model().n_factors();
        Plan::for_sources(n_features, (k + 1) * (k + 2))
    }

    fn width(&self) -> Option<usize> {
        Some(self.conditional.model().n_features())
    }

    fn zero(&self, n_features: usize) -> FactorSums {
        FactorSums::zero(n_features, self.conditional.model().n_factors())
    }

    fn add(&self, part: &mut FactorSums, block: Block<'_, T>, _: &mut Workspace<T>) {
        let (mut rows, mut weights) = (Vec::with_capacity(block.data.len()), Vec::new());
        for (i, row) in block.rows().enumerate() {
            let weight = block.weights.map_or(1.0, |w| w[i]);
            if weight > 0.0 && row.iter().any(|x| !x.to_f64().is_nan()) {
                rows.extend_from_slice(row);
                weights.push(weight);
            }
        }
        if !weights.is_empty() {
            part.add(&self.conditional.posteriors(&rows), &weights, block.n_features);
        }
    }

    fn pack(&self, out: &mut Packer) {
        self.conditional.model().pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self::new(LinearGaussian::unpack(from)?))
    }
}

impl Partial for FactorSums {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.n) else { return };
        self.n += right.n;
        self.log_density += right.log_density;
        let pairs = [
            (&mut self.means, right.means),
            (&mut self.moments, right.moments),
            (&mut self.tables, right.tables),
            (&mut self.cross, right.cross),
            (&mut self.squares, right.squares),
        ];
        for (left, right) in pairs {
            left.iter_mut().zip(right).for_each(|(a, b)| *a += b);
        }
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.number(self.log_density);
        for numbers in [&self.means, &self.moments, &self.tables, &self.cross, &self.squares] {
            out.numbers(numbers);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part = Self {
            n: from.number()?,
            log_density: from.number()?,
            means: from.numbers()?,
            moments: from.numbers()?,
            tables: from.numbers()?,
            cross: from.numbers()?,
            squares: from.numbers()?,
        };
        let (p, k) = (part.squares.len(), part.means.len());
        let sizes = [part.moments.len(), part.tables.len(), part.cross.len()];
        from.check(sizes == [triangle(k), p * (triangle(k + 1) + triangle(k)), p * (k + 1)])?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        let numbers = [&self.means, &self.moments, &self.tables, &self.cross, &self.squares];
        8 * (2 + numbers.iter().map(|numbers| numbers.len()).sum::<usize>())
    }
}
