//! Quality of the fit of each row: the distance of the row from the centre within the subspace of the axes, and its distance from that
//! subspace.
//!
//! With `z = (x - mean) / noise_scale`, the score `y_i` of `z` on axis `i` and the variance `v_i` along it:
//!
//! ```text
//! T² = Σ_i y_i² / v_i          Hotelling (1947), over the axes with v_i > 0
//! Q  = ||z - Σ_i y_i w_i||²    Jackson & Mudholkar (1979), over the same axes
//! ```
//!
//! An axis without variance is not part of the subspace: the projection of a row onto it is included in Q, so T² and Q together
//! cover all directions.
//! These measures do not depend on `whiten`.

use super::Model;
use super::apply::ModelEncoder;
use super::code::{Certificate, RowMap};
use super::unencoded::Unencoded;
use crate::data::{Rows, Sink, Workspace};
use crate::error::{Error, Needed, Result};
use crate::num::kernel;
use crate::num::{Block, Matrix, Real};
use crate::run::Run;

/// Contributions that are computed besides the measures of each row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// `y_i² / v_i` for each component, whose sum is T², and the squared cosines `y_i² / ||z||²`.
    pub components: bool,
    /// The squared residual of each column; their sum is Q.
    pub columns: bool,
}

/// The measures of a model, prepared for rows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Quality {
    mean: Vec<f64>,
    noise_scale: Option<Vec<f64>>,
    /// Axes, `k x p`, orthonormal rows.
    axes: Matrix<f64>,
    variance: Vec<f64>,
    parts: Parts,
}

impl Quality {
    /// The measures of `model`.
    ///
    /// # Errors
    ///
    /// A model without variances along orthonormal axes.
    pub fn of(model: &Model, parts: Parts) -> Result<Self> {
        let missing = || {
            Error::unsupported(
                format!("the quality of rows (T² and Q) under the {} model", model.method().key),
                "it has no variances along orthonormal axes onto which rows are projected",
                "compute reconstruction errors",
            )
            .of_method(model.method().key)
            .needing(Needed::Axes)
        };
        let tensor = |name: &str| model.tensor(name).ok_or_else(missing);
        let axes = tensor("components")?.to_matrix();
        let variance = tensor("explained_variance")?.f64s();
        let mean = tensor("mean")?.f64s();
        let noise_scale = model.tensor("noise_scale").map(super::Tensor::f64s);
        let p = axes.cols();
        // Codes that are not projections have another distance from the subspace.
        let fits = model.code().encoder().linear().is_some()
            && !model.code().codes().missing
            && variance.len() == axes.rows()
            && mean.len() == p
            && noise_scale.as_ref().is_none_or(|s| s.len() == p && s.iter().all(|&s| s > 0.0));
        if fits { Ok(Self { mean, noise_scale, axes, variance, parts }) } else { Err(missing()) }
    }

    /// Number of axes, which may be less than the length of a code: rows whitened by ZCA have one code for each column.
    pub fn n_components(&self) -> usize {
        self.axes.rows()
    }

    /// Number of values for each row: T², Q; with `components` the contribution of each component to T², then its squared cosine; with
    /// `columns` the contribution of each column to Q.
    pub fn width(&self) -> usize {
        let (k, p) = (self.axes.rows(), self.axes.cols());
        2 + if self.parts.components { 2 * k } else { 0 } + if self.parts.columns { p } else { 0 }
    }

    /// Writes the measures of row-major `rows` into `out`, [`width`](Self::width) numbers for each. The bits do not depend on the
    /// other rows. `O(p k)` for each row.
    fn measure<T: Real>(&self, rows: &[T], out: &mut [f64], work: &mut Workspace<T>) {
        let (k, p) = (self.axes.rows(), self.axes.cols());
        let n = rows.len() / p;
        let centred = self.centred(rows);
        let mut scores = vec![0.0; n * k];
        work.wide.clear();
        work.wide.resize(n * p, 0.0);
        if k > 0 {
            kernel::product(&mut scores, &centred, self.axes.transposed().as_slice(), n, p, k);
            let mut inside = scores.clone();
            for y in inside.chunks_exact_mut(k) {
                y.iter_mut().zip(&self.variance).filter(|(_, v)| **v <= 0.0).for_each(|(y, _)| *y = 0.0);
            }
            kernel::product(&mut work.wide, &inside, self.axes.as_slice(), n, k, p);
        }
        for (i, out) in out.chunks_exact_mut(self.width()).enumerate() {
            let row = |all: &[f64], width: usize| all[i * width..(i + 1) * width].to_vec();
            self.measure_row(&row(&centred, p), &row(&scores, k), &row(&work.wide, p), out);
        }
    }

    /// Rows minus the mean, divided by the noise scale.
    fn centred<T: Real>(&self, rows: &[T]) -> Vec<f64> {
        let mut out = Vec::with_capacity(rows.len());
        for row in rows.chunks_exact(self.mean.len()) {
            let centred = row.iter().zip(&self.mean).map(|(x, m)| x.to_f64() - m);
            match &self.noise_scale {
                None => out.extend(centred),
                Some(scale) => out.extend(centred.zip(scale).map(|(x, s)| x / s)),
            }
        }
        out
    }

    /// Measures of one row, given its scores and its projection onto the subspace.
    fn measure_row(&self, z: &[f64], scores: &[f64], nearest: &[f64], out: &mut [f64]) {
        // If the axes span the whole space, the residual is 0, and a computed one would be rounding errors.
        let all = self.variance.iter().filter(|v| **v > 0.0).count() == z.len();
        let residual = |(x, n): (&f64, &f64)| if all { 0.0 } else { (x - n) * (x - n) };
        let share = |(y, v): (&f64, &f64)| if *v > 0.0 { y * y / v } else { 0.0 };
        out[0] = scores.iter().zip(&self.variance).map(share).sum();
        out[1] = z.iter().zip(nearest).map(residual).sum();
        let mut rest = &mut out[2..];
        if self.parts.components {
            let (shares, more) = rest.split_at_mut(scores.len());
            let (cosines, more) = more.split_at_mut(scores.len());
            scores.iter().zip(&self.variance).zip(shares).for_each(|(pair, to)| *to = share(pair));
            // Divided by the largest entry first: squares of small numbers underflow.
            let most = z.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let square: f64 = z.iter().map(|x| (x / most) * (x / most)).sum();
            for (y, to) in scores.iter().zip(cosines) {
                *to = if most > 0.0 { (y / most) * (y / most) / square } else { 0.0 };
            }
            rest = more;
        }
        if self.parts.columns {
            z.iter().zip(nearest).zip(rest).for_each(|(pair, to)| *to = residual(pair));
        }
    }
}

/// Reconstruction error of rows, for models without variances along orthonormal axes: `Q = ||x - decode(encode(x))||²`, in the
/// units of the rows, with the offset of the row where codes do not hold it, and the certificate of the code if the encoder iterates.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Residual {
    n_features: usize,
    certificate: Option<Certificate>,
    columns: bool,
}

/// The measures that a model has.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Measures {
    /// T² and Q.
    Axes(Quality),
    /// Q alone.
    Residual(Residual),
    /// Measures of the encoder, by name.
    Own(&'static [&'static str]),
}

impl Measures {
    /// The measures of `model`: T² and Q if it has variances along orthonormal axes, else the reconstruction error.
    pub fn of(model: &Model, parts: Parts) -> Self {
        let own = model.code().encoder().measures();
        if !own.is_empty() {
            return Self::Own(own);
        }
        Quality::of(model, parts).map_or_else(
            |_| {
                let certificate = model.code().encoder().certificate();
                Self::Residual(Residual {
                    n_features: model.n_features(),
                    certificate,
                    columns: parts.columns,
                })
            },
            Self::Axes,
        )
    }

    /// Number of values for each row.
    pub fn width(&self) -> usize {
        match self {
            Self::Axes(quality) => quality.width(),
            Self::Own(names) => names.len(),
            Self::Residual(of) => {
                1 + usize::from(of.certificate.is_some()) + if of.columns { of.n_features } else { 0 }
            }
        }
    }

    /// Names of these values, as in `t2,q,t2_pca0,cos2_pca0,q_height`.
    pub fn names(&self, model: &Model) -> Vec<String> {
        let (mut names, parts) = match self {
            Self::Axes(quality) => (vec!["t2".to_string(), "q".to_string()], quality.parts),
            Self::Own(names) => (names.iter().map(|n| n.to_string()).collect(), Parts::default()),
            Self::Residual(of) => {
                let certificate = of.certificate.map(|c| c.name.replace(' ', "_"));
                let names = std::iter::once("q".to_string()).chain(certificate).collect();
                (names, Parts { components: false, columns: of.columns })
            }
        };
        if parts.components {
            let (k, class) = (model.n_components(), model.method().class.to_lowercase());
            names.extend((0..k).map(|i| format!("t2_{class}{i}")));
            names.extend((0..k).map(|i| format!("cos2_{class}{i}")));
        }
        if parts.columns {
            let name = |j: usize| match &model.features().names {
                Some(names) => format!("q_{}", names[j]),
                None => format!("q_x{j}"),
            };
            names.extend((0..model.n_features()).map(name));
        }
        names
    }
}

impl Model {
    /// [`Measures`] of every row, in double precision: T² and Q and their contributions, or the reconstruction error.
    ///
    /// # Errors
    ///
    /// A model without a decoder; rows of another width; numbers that are not finite, or whose squares are not.
    pub fn quality<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        parts: Parts,
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
    ) -> Result<u64> {
        let measures = Measures::of(self, parts);
        self.check_columns("quality", rows)?;
        let cells = self.cells_of(rows);
        let rows = cells.as_ref().unwrap_or(rows);
        let decoder = self.code().decode_map::<T>("computing the residuals of rows")?;
        let (coder, unencoded) = (ModelEncoder::of(self), Unencoded::of(self));
        let width = measures.width();
        let step = |block: Block<'_, T>, out: &mut [f64], work: &mut Workspace<T>| {
            match &measures {
                Measures::Axes(quality) => {
                    rows.check_finite("quality", &block)?;
                    quality.measure(block.data, out, work);
                }
                Measures::Own(_) => {
                    coder.check("quality", rows, &block)?;
                    coder.map.measured(block.data, out, work);
                }
                Measures::Residual(of) => {
                    coder.check("quality", rows, &block)?;
                    let maps = (&*coder.map, &*decoder, unencoded.as_ref());
                    of.measure(&block, maps, self.n_codes(), out, work);
                }
            }
            match out.iter().all(|x| x.is_finite()) {
                true => Ok(()),
                false => Err(Error::Overflow { method: "quality".into(), dtype: "float64" }),
            }
        };
        rows.map(run, "measuring", width, step, sink)
    }

    /// Standard error of each entry of `explained_variance`: `v_i sqrt(2 / (n - 1))` (Anderson 1963, Annals of Mathematical
    /// Statistics 34). `None` where the model has no variances.
    ///
    /// Asymptotic, for centred Gaussian rows and distinct eigenvalues: heavy tails make the true error larger, and close
    /// eigenvalues repel each other.
    pub fn explained_variance_std_error(&self) -> Option<Vec<f64>> {
        let variance = self.tensor("explained_variance")?.f64s();
        let degrees = (self.report().n_samples - 1.0).max(1.0);
        Some(variance.iter().map(|v| v * (2.0 / degrees).sqrt()).collect())
    }
}

impl Residual {
    /// Writes `Q`, the certificate, and the squared residual of each column; missing cells have none.
    fn measure<T: Real>(
        &self,
        block: &Block<'_, T>,
        (encoder, decoder, unencoded): (&dyn RowMap<T>, &dyn RowMap<T>, Option<&Unencoded<'_>>),
        n_codes: usize,
        out: &mut [f64],
        work: &mut Workspace<T>,
    ) {
        let (n, p) = (block.n_rows(), block.n_features);
        let (mut codes, mut back) = (vec![T::default(); n * n_codes], vec![T::default(); n * p]);
        let mut gaps = vec![0.0; n];
        // An encoder of some of the factors has no certificate.
        let means = unencoded.map(|unencoded| unencoded.encode(block.data, &mut codes));
        if means.is_none() {
            encoder.certified(block.data, &mut codes, &mut gaps, work);
        }
        decoder.apply(&codes, &mut back, work);
        if let (Some(unencoded), Some(means)) = (unencoded, &means) {
            unencoded.add(means, &mut back);
        }
        let width = out.len() / n.max(1);
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            let row = |all: &[T]| all[i * p..(i + 1) * p].iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
            let square = |(x, fitted): (&f64, &f64)| if x.is_nan() { 0.0 } else { (x - fitted).powi(2) };
            let (x, fitted) = (row(block.data), row(&back));
            out[0] = x.iter().zip(&fitted).map(square).sum();
            let mut at = 1;
            if self.certificate.is_some() {
                out[1] = gaps[i];
                at = 2;
            }
            if self.columns {
                x.iter().zip(&fitted).map(square).zip(&mut out[at..]).for_each(|(q, to)| *to = q);
            }
        }
    }
}
