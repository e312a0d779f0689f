//! Evaluation of a model's codes, compared with PCA and orthogonal matching pursuit.

use super::METHOD;
use super::start::chosen;
use crate::autoencoder::{Evaluation as Sums, Squares, TopRows, near_duplicates};
use crate::data::{Rows, Sink, Workspace};
use crate::error::{Error, Result};
use crate::method::Pca;
use crate::model::{Model, RowMap, map_of, require};
use crate::num::parallel;
use crate::num::{Block, Matrix, Real};
use crate::run::Run;
use crate::sparse::{Atoms, Omp, Work};
use crate::spectrum::no_variance_of;
use crate::stats::GatherMoments;
use serde_json::{Value, json};

/// Cosine above which two atoms are near-duplicates.
const NEAR: f64 = 0.9;
/// Maximum number of rows that are coded by orthogonal matching pursuit.
const PURSUED: u64 = 2048;
/// Rows that one thread codes at a time.
const TASK: usize = 32;

/// Quality of the reconstruction by a sparse autoencoder, and use of its units.
///
/// FVU is the fraction of variance unexplained: the squared error of the reconstruction over the squared distance from the mean of the rows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// Number of rows.
    pub n_samples: u64,
    /// FVU of the reconstruction.
    pub fvu: f64,
    /// Mean number of active units per row.
    pub l0: f64,
    /// Fraction of the units that no row activates.
    pub dead: f64,
    /// Fraction of the rows that activate each unit.
    pub density: Vec<f64>,
    /// Optimal factor of the reconstructions, about the model's mean: above 1 if codes are too small.
    pub shrinkage: f64,
    /// Fraction of the atoms that have a cosine of at least 0.9 with another one.
    pub near_duplicates: f64,
    /// FVU of PCA of these rows with as many components as active units per row, `l0` rounded.
    pub fvu_pca: f64,
    /// Number of these components.
    pub n_components_pca: usize,
    /// FVU of codes of the same atoms by orthogonal matching pursuit, with the same number of atoms for each row as its code; on
    /// `n_samples_omp` rows.
    pub fvu_omp: f64,
    /// FVU of the autoencoder on these rows alone.
    pub fvu_same_rows: f64,
    /// Number of rows coded by matching pursuit: all, but at most 2048.
    pub n_samples_omp: u64,
}

impl Evaluation {
    /// As JSON, by the names of the fields.
    pub fn to_json(&self) -> Value {
        json!({
            "n_samples": self.n_samples,
            "fvu": self.fvu,
            "l0": self.l0,
            "dead": self.dead,
            "density": self.density,
            "shrinkage": self.shrinkage,
            "near_duplicates": self.near_duplicates,
            "fvu_pca": self.fvu_pca,
            "n_components_pca": self.n_components_pca,
            "fvu_omp": self.fvu_omp,
            "fvu_same_rows": self.fvu_same_rows,
            "n_samples_omp": self.n_samples_omp,
        })
    }
}

/// The decoder of a model.
struct Decoding {
    atoms: Matrix<f64>,
    mean: Vec<f64>,
}

/// Whether [`evaluate`] accepts `model`.
pub fn is_autoencoder(model: &Model) -> bool {
    model.method().key == METHOD.key
}

fn check(model: &Model, request: &str, n_features: usize, origin: &str) -> Result<()> {
    if !is_autoencoder(model) {
        return Err(Error::Unsupported {
            asked: format!("{request} of the {} model", model.method().key),
            found: "it is not a sparse autoencoder".into(),
            remedy: format!("give a model of the method {}", METHOD.key),
        });
    }
    model.check_width("encode", n_features, model.n_features(), origin)
}

/// Evaluates `model` on `rows`. The rows are read four times; besides encoding, the cost is that of a PCA of them and of matching
/// pursuit on 2048.
///
/// # Errors
///
/// A model of another method; rows of another width, of no variance, or with numbers that are not finite; errors of the source.
pub fn evaluate<T: Real>(model: &Model, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Evaluation> {
    check(model, "the evaluation", rows.n_features(), rows.origin())?;
    rows.here("evaluating a sparse autoencoder")?;
    rows.prepare(run)?;
    let of = Decoding {
        atoms: require(model.tensors(), "components", &[None, None])?.to_matrix(),
        mean: require(model.tensors(), "mean", &[None])?.f64s(),
    };
    let moments = rows.sweep(run, "moments", &GatherMoments::new())?;
    let total: f64 = moments.squares.iter().sum();
    if !total.is_finite() {
        return Err(rows.not_finite(METHOD.key));
    }
    if total == 0.0 {
        return Err(no_variance_of(rows, METHOD.key));
    }
    let map = map_of::<T>(model.code().encoder());
    let sums = sums(&*map, &of, &moments.mean, rows, run)?;
    let k = (sums.l0().round() as usize).min(rows.n_features()).min(sums.n as usize);
    let fvu_pca = fvu_pca(k, rows, run)?;
    let rows = &*rows;
    let (pursued, near) = rows.pooled(run.threads, || {
        run.stage("pursuit")?;
        let pursued = pursued(&*map, &of, &moments.mean, rows, run)?;
        Ok::<_, Error>((pursued, near_duplicates(&of.atoms, NEAR)))
    })?;
    let units = sums.fired.len().max(1) as f64;
    Ok(Evaluation {
        n_samples: sums.n,
        fvu: sums.fvu(),
        l0: sums.l0(),
        dead: sums.fired.iter().filter(|fired| **fired == 0).count() as f64 / units,
        density: sums.density(),
        shrinkage: sums.shrinkage(),
        near_duplicates: near,
        fvu_pca,
        n_components_pca: k,
        fvu_omp: pursued.by_omp / pursued.about,
        fvu_same_rows: pursued.by_code / pursued.about,
        n_samples_omp: pursued.n,
    })
}

/// Sums over codes and the measures of their rows, in order.
struct SumsSink(Sums);

/// Numbers for each row after its code.
const SQUARES: usize = 4;

impl Sink<f64> for SumsSink {
    fn put(&mut self, rows: &[f64]) -> Result<()> {
        let m = self.0.fired.len();
        for row in rows.chunks_exact(m + SQUARES) {
            let [about, residual, fitted, product] = [row[m], row[m + 1], row[m + 2], row[m + 3]];
            self.0.add_row(&row[..m], Squares { about, residual, fitted, product });
        }
        Ok(())
    }
}

/// Sums over all rows, in order: the same for any number of threads.
fn sums<T: Real>(
    map: &dyn RowMap<T>,
    decoding: &Decoding,
    center: &[f64],
    rows: &Rows<'_, T>,
    run: &Run<'_>,
) -> Result<Sums> {
    let (m, p) = (decoding.atoms.rows(), decoding.atoms.cols());
    let step = |block: Block<'_, T>, out: &mut [f64], work: &mut Workspace<T>| {
        rows.check_finite("evaluating", &block)?;
        let mut codes = vec![T::default(); block.n_rows() * m];
        map.apply(block.data, &mut codes, work);
        let mut fitted = vec![0.0; p];
        let each = block.data.chunks_exact(p).zip(codes.chunks_exact(m));
        for ((x, code), out) in each.zip(out.chunks_exact_mut(m + SQUARES)) {
            code.iter().zip(&mut *out).for_each(|(z, to)| *to = z.to_f64());
            let found = Squares::new(x, code, (&decoding.mean, &decoding.atoms, center), &mut fitted);
            out[m..].copy_from_slice(&[found.about, found.residual, found.fitted, found.product]);
        }
        Ok(())
    };
    let mut adding = SumsSink(Sums::new(m));
    rows.map(run, "evaluating", m + SQUARES, step, &mut adding)?;
    Ok(adding.0)
}

/// FVU of the first `k` principal components of these rows.
fn fvu_pca<T: Real>(k: usize, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<f64> {
    if k == 0 {
        return Ok(1.0);
    }
    let model = Pca { n_components: k.into(), ..Default::default() }.fit(rows, run)?;
    let ratio = require(model.tensors(), "explained_variance_ratio", &[None])?.f64s();
    Ok((1.0 - ratio.iter().sum::<f64>()).max(0.0))
}

/// Squared norms of rows: about their mean, of the residuals of their codes, of the residuals of matching pursuit.
#[derive(Clone, Copy, Debug, Default)]
struct PursuitErrors {
    n: u64,
    about: f64,
    by_code: f64,
    by_omp: f64,
}

fn pursued<T: Real>(
    map: &dyn RowMap<T>,
    decoding: &Decoding,
    center: &[f64],
    rows: &Rows<'_, T>,
    run: &Run<'_>,
) -> Result<PursuitErrors> {
    let (m, p) = (decoding.atoms.rows(), decoding.atoms.cols());
    let x = rows.picked(chosen(rows.n_rows().unwrap_or(0), PURSUED, run.seed), run)?;
    let atoms = Atoms::<T>::new(&decoding.atoms);
    let part = |(work, space): &mut (Work<T>, Workspace<T>), x: &[T]| {
        let n = x.len() / p;
        let (mut codes, mut fitted) = (vec![T::default(); n * m], vec![0.0; p]);
        map.apply(x, &mut codes, space);
        let mut out = PursuitErrors { n: n as u64, ..Default::default() };
        let mut code = vec![T::default(); m];
        for (x, found) in x.chunks_exact(p).zip(codes.chunks_exact(m)) {
            let by_code = Squares::new(x, found, (&decoding.mean, &decoding.atoms, center), &mut fitted);
            let active = found.iter().filter(|z| **z != T::default()).count();
            let centred: Vec<T> =
                x.iter().zip(&decoding.mean).map(|(x, mean)| T::from_f64(x.to_f64() - mean)).collect();
            Omp::of_atoms(active).code(&atoms, &centred, &mut code, work);
            let by_omp = Squares::new(x, &code, (&decoding.mean, &decoding.atoms, center), &mut fitted);
            out.about += by_code.about;
            out.by_code += by_code.residual;
            out.by_omp += by_omp.residual;
        }
        out
    };
    let parts: Vec<PursuitErrors> = parallel::map_with(x.chunks(TASK * p), Default::default, part);
    Ok(parts.into_iter().fold(PursuitErrors::default(), |a, b| PursuitErrors {
        n: a.n + b.n,
        about: a.about + b.about,
        by_code: a.by_code + b.by_code,
        by_omp: a.by_omp + b.by_omp,
    }))
}

/// For each unit of `model` the `n` rows with its largest codes, or all rows if there are fewer.
///
/// # Errors
///
/// `n` of 0; a model of another method; errors of [`Model::encode`].
pub fn top_rows<T: Real>(model: &Model, rows: &mut Rows<'_, T>, n: usize, run: &Run<'_>) -> Result<TopRows> {
    check(model, "the top rows of units", rows.n_features(), rows.origin())?;
    if n == 0 {
        return Err(Error::setting("n", 0, "must be at least 1", "choose a number from 1"));
    }
    rows.here("finding the top rows of each unit")?;
    rows.prepare(run)?;
    let n = n.min(rows.n_rows().unwrap_or(0) as usize);
    let mut top = TopRows::new(model.n_codes(), n);
    model.encode(rows, run, &mut top)?;
    Ok(top)
}
