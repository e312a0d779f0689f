//! Expected second moments of incomplete rows: the sums of EM over the missing cells.

use super::{Conditional, LinearGaussian, Packer, Posteriors, Unpacker, cholesky, triangle};
use crate::error::Result;
use crate::num::{Block, Matrix, Plan, Real, Workspace};
use crate::stats::{Gather, Partial, Scatter, both};

/// Moments of rows whose missing cells are replaced by their conditional means given the observed cells, and the conditional
/// covariances of these cells.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExpectedMoments {
    /// Log-likelihood of the observed cells.
    pub log_density: f64,
    /// Scatter of the filled rows, in units.
    pub filled: Scatter,
    /// Sum of the conditional covariances of the missing cells of each row: the lower triangle, row by row.
    pub covariances: Vec<f64>,
}

impl ExpectedMoments {
    /// Entry `(i, j)`, `i >= j`, of the expected covariance of the rows.
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        (self.filled.lower[(i, j)] + self.covariances[triangle(i) + j]) / self.filled.n
    }
}

/// Gathers [`ExpectedMoments`] under a model. Rows of weight 0 and rows without observed cells are left out. `O(m k)` for each row and
/// `O(m² k)` for each pattern with `m` missing cells, plus the products of the filled rows.
#[derive(Clone, Debug)]
pub struct GatherMoments {
    conditional: Conditional,
    unit: Vec<f64>,
}

impl GatherMoments {
    /// Gathers the moments under `model`, with columns divided by `unit`.
    pub fn new(model: LinearGaussian, unit: Vec<f64>) -> Self {
        Self { conditional: Conditional::new(model), unit }
    }

    /// Filled rows, in units.
    fn filled<T: Real>(&self, rows: &[T], found: &Posteriors) -> Vec<f64> {
        let (p, k, model) = (self.unit.len(), self.conditional.model().n_factors(), self.conditional.model());
        let mut out = Vec::with_capacity(rows.len());
        for (i, row) in rows.chunks_exact(p).enumerate() {
            let z = &found.means[i * k..(i + 1) * k];
            for (j, x) in row.iter().map(|x| x.to_f64()).enumerate() {
                let x = match x.is_nan() {
                    true => {
                        let w = &model.loadings[j * k..(j + 1) * k];
                        model.mean[j] + w.iter().zip(z).map(|(w, z)| w * z).sum::<f64>()
                    }
                    false => x,
                };
                out.push(x / self.unit[j]);
            }
        }
        out
    }

    /// Adds the conditional covariance of the missing cells of one pattern, multiplied by `weight`: `W_m V W_m' + Psi_m`.
    fn add_covariance(&self, sums: &mut [f64], missing: &[usize], covariance: &[f64], weight: f64) {
        let (model, k) = (self.conditional.model(), self.conditional.model().n_factors());
        let mut root = covariance.to_vec();
        cholesky(&mut root, k);
        let mut lines = Vec::with_capacity(missing.len() * k);
        for &j in missing {
            let w = &model.loadings[j * k..(j + 1) * k];
            let along = |b: usize| (b..k).map(|a| w[a] * root[triangle(a) + b]).sum::<f64>();
            lines.extend((0..k).map(|b| along(b) / self.unit[j]));
        }
        for (a, &i) in missing.iter().enumerate() {
            let (line, own) = (&lines[a * k..(a + 1) * k], triangle(i));
            for (b, &j) in missing[..=a].iter().enumerate() {
                let other = &lines[b * k..(b + 1) * k];
                sums[own + j] += weight * line.iter().zip(other).map(|(x, y)| x * y).sum::<f64>();
            }
            sums[own + i] += weight * model.noise[i] / (self.unit[i] * self.unit[i]);
        }
    }
}

impl<T: Real> Gather<T> for GatherMoments {
    type Part = ExpectedMoments;
    const KIND: &'static str = "expected moments";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_gram(n_features)
    }

    fn width(&self) -> Option<usize> {
        Some(self.unit.len())
    }

    fn zero(&self, n_features: usize) -> ExpectedMoments {
        let covariances = vec![0.0; triangle(n_features)];
        ExpectedMoments { log_density: 0.0, filled: Scatter::empty(n_features), covariances }
    }

    fn add(&self, part: &mut ExpectedMoments, block: Block<'_, T>, _: &mut Workspace<T>) {
        let p = block.n_features;
        let (mut rows, mut weights) = (Vec::with_capacity(block.data.len()), Vec::new());
        for (i, row) in block.rows().enumerate() {
            let weight = block.weights.map_or(1.0, |w| w[i]);
            if weight > 0.0 && row.iter().any(|x| !x.to_f64().is_nan()) {
                rows.extend_from_slice(row);
                weights.push(weight);
            }
        }
        if weights.is_empty() {
            return;
        }
        let found = self.conditional.posteriors(&rows);
        let filled = self.filled(&rows, &found);
        let weighted = block.weights.map(|_| &weights[..]);
        let whole = Block { first_row: block.first_row, data: &filled[..], n_features: p, weights: weighted };
        part.filled.gather(whole, &mut Workspace::default());
        let mut often = vec![(0.0, 0); found.patterns.len()];
        for (i, weight) in weights.iter().enumerate() {
            part.log_density += weight * found.log_density[i];
            often[found.pattern[i]].0 += weight;
            often[found.pattern[i]].1 = i;
        }
        for (pattern, (weight, row)) in found.patterns.iter().zip(often) {
            let missing: Vec<usize> = (0..p).filter(|&j| found.observed[row * p + j] == 0.0).collect();
            if !missing.is_empty() {
                self.add_covariance(&mut part.covariances, &missing, &pattern.covariance, weight);
            }
        }
    }

    fn pack(&self, out: &mut Packer) {
        self.conditional.model().pack(out);
        out.numbers(&self.unit);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (model, unit) = (LinearGaussian::unpack(from)?, from.numbers()?);
        from.check(unit.len() == model.n_features())?;
        Ok(Self::new(model, unit))
    }
}

impl Partial for ExpectedMoments {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.filled.n) else { return };
        self.log_density += right.log_density;
        self.filled.merge(right.filled);
        self.covariances.iter_mut().zip(right.covariances).for_each(|(a, b)| *a += b);
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.log_density);
        Partial::pack(&self.filled, out);
        out.numbers(&self.covariances);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let log_density = from.number()?;
        let filled = <Scatter as Partial>::unpack(from)?;
        let covariances = from.numbers()?;
        from.check(covariances.len() == triangle(filled.mean.len()))?;
        Ok(Self { log_density, filled, covariances })
    }

    fn bytes(&self) -> usize {
        self.filled.bytes() + 8 * (1 + self.covariances.len())
    }
}

/// A matrix from its lower triangle, a function of `(i, j)` with `i >= j`.
pub(crate) fn symmetric(p: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix<f64> {
    Matrix::from_fn(p, p, |i, j| entry(i.max(j), i.min(j)))
}
