//! Evaluation of a model's codes, compared with PCA and orthogonal matching pursuit.

use super::METHOD;
use super::start::chosen;
use crate::autoencoder::{Evaluation as Sums, Squares, TopRows, near_duplicates};
use crate::data::{Rows, Workspace};
use crate::error::{Error, Result};
use crate::method::Pca;
use crate::model::{Model, RowMap, map_of, require};
use crate::num::parallel;
use crate::num::threads::on_pool;
use crate::num::{Block, Matrix, Plan, Real};
use crate::run::Run;
use crate::sparse::{Atoms, Omp, Work};
use crate::spectrum::no_variance_of;
use crate::stats::{Gather, GatherMoments, Packer, Unpacker};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Cosine above which two atoms are near-duplicates.
const DUPLICATE_COSINE: f64 = 0.9;
/// Maximum number of rows that are coded by orthogonal matching pursuit.
const MOST_PURSUED_ROWS: u64 = 2048;
/// Rows that one thread codes at a time.
const ROWS_PER_TASK: usize = 32;

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

/// Whether [`evaluate`] accepts `model`.
pub fn is_autoencoder(model: &Model) -> bool {
    model.method().key == METHOD.key
}

fn check(model: &Model, request: &str, n_features: usize, origin: &str) -> Result<()> {
    if !is_autoencoder(model) {
        return Err(Error::unsupported(
            format!("{request} of the {} model", model.method().key),
            "it is not a sparse autoencoder",
            format!("give a model of the method {}", METHOD.key),
        )
        .of_method(model.method().key)
        .working(&[METHOD.key]));
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
    rows.prepare(run)?;
    let moments = rows.sweep(run, "moments", &GatherMoments::new())?;
    let total: f64 = moments.squares.iter().sum();
    if !total.is_finite() {
        return Err(rows.not_finite(METHOD.key));
    }
    if total == 0.0 {
        return Err(no_variance_of(rows, METHOD.key));
    }
    let gather = GatherEvaluation::new(Cow::Borrowed(model), moments.mean)?;
    let sums = rows.sweep(run, "evaluating", &gather)?;
    let n = rows.n_rows().unwrap_or(0);
    let k = (sums.l0().round() as usize).min(rows.n_features()).min(n as usize);
    let fvu_pca = fvu_pca(k, rows, run)?;
    run.stage("pursuit")?;
    let x = rows.picked(chosen(n, MOST_PURSUED_ROWS, run.seed), run)?;
    let (pursued, near) =
        on_pool(run.threads, || (gather.pursued(&x), near_duplicates(&gather.atoms, DUPLICATE_COSINE)));
    let units = sums.fired.len().max(1) as f64;
    Ok(Evaluation {
        n_samples: n,
        fvu: sums.fvu(),
        l0: sums.l0(),
        dead: sums.fired.iter().filter(|fired| **fired == 0.0).count() as f64 / units,
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

/// Gathers the sums of the evaluation of a model.
pub(crate) struct GatherEvaluation<'a, T> {
    model: Cow<'a, Model>,
    map: Box<dyn RowMap<T>>,
    /// The decoder.
    atoms: Matrix<f64>,
    mean: Vec<f64>,
    /// Mean of the rows.
    center: Vec<f64>,
}

impl<'a, T: Real> GatherEvaluation<'a, T> {
    /// For rows with mean `center`.
    ///
    /// # Errors
    ///
    /// A model without atoms and a mean.
    pub(crate) fn new(model: Cow<'a, Model>, center: Vec<f64>) -> Result<Self> {
        let map = map_of::<T>(model.code().encoder());
        let atoms = require(model.tensors(), "components", &[None, None])?.to_matrix();
        let mean = require(model.tensors(), "mean", &[None])?.f64s();
        Ok(Self { model, map, atoms, mean, center })
    }

    /// Mean and atoms of the model, and mean of the rows.
    fn decoding(&self) -> (&[f64], &Matrix<f64>, &[f64]) {
        (&self.mean, &self.atoms, &self.center)
    }
}

impl<T: Real> Gather<T> for GatherEvaluation<'_, T> {
    type Part = Sums;
    const KIND: &'static str = "evaluation of an autoencoder";

    fn plan(&self, n_features: usize) -> Plan {
        // The codes of a block are in memory, and the sums of a shard are three numbers for each unit.
        Plan::for_width(n_features.max(self.atoms.rows()))
    }

    fn width(&self) -> Option<usize> {
        Some(self.mean.len())
    }

    fn zero(&self, _: usize) -> Sums {
        Sums::new(self.atoms.rows())
    }

    fn add(&self, part: &mut Sums, block: Block<'_, T>, work: &mut Workspace<T>) {
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        let (rows, weights) = block.counted(None, &mut rows, &mut weights);
        if rows.is_empty() {
            return;
        }
        let mut codes = vec![T::default(); rows.len() / block.n_features * self.atoms.rows()];
        self.map.apply(rows, &mut codes, work);
        part.add(rows, &codes, weights, self.decoding());
    }

    fn pack(&self, out: &mut Packer) {
        // A model that cannot be serialised is empty here, and refused by the worker.
        out.bytes(&self.model.to_bytes().unwrap_or_default());
        out.numbers(&self.center);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (model, center) = (Model::from_bytes(from.bytes()?, "the model".as_ref())?, from.numbers()?);
        from.check(is_autoencoder(&model) && center.len() == model.n_features())?;
        Self::new(Cow::Owned(model), center)
    }
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

impl<T: Real> GatherEvaluation<'_, T> {
    /// Matching pursuit of the rows `x`, on the threads of the current pool.
    fn pursued(&self, x: &[T]) -> PursuitErrors {
        let (m, p) = (self.atoms.rows(), self.atoms.cols());
        let atoms = Atoms::<T>::new(&self.atoms);
        let part = |(work, space): &mut (Work<T>, Workspace<T>), x: &[T]| {
            let n = x.len() / p;
            let (mut codes, mut fitted) = (vec![T::default(); n * m], vec![0.0; p]);
            self.map.apply(x, &mut codes, space);
            let mut out = PursuitErrors { n: n as u64, ..Default::default() };
            let mut code = vec![T::default(); m];
            for (x, found) in x.chunks_exact(p).zip(codes.chunks_exact(m)) {
                let by_code = Squares::new(x, found, self.decoding(), &mut fitted);
                let active = found.iter().filter(|z| **z != T::default()).count();
                let centred: Vec<T> =
                    x.iter().zip(&self.mean).map(|(x, mean)| T::from_f64(x.to_f64() - mean)).collect();
                Omp::of_atoms(active).code(&atoms, &centred, &mut code, work);
                let by_omp = Squares::new(x, &code, self.decoding(), &mut fitted);
                out.about += by_code.about;
                out.by_code += by_code.residual;
                out.by_omp += by_omp.residual;
            }
            out
        };
        let parts: Vec<PursuitErrors> =
            parallel::map_with(x.chunks(ROWS_PER_TASK * p), Default::default, part);
        parts.into_iter().fold(PursuitErrors::default(), |a, b| PursuitErrors {
            n: a.n + b.n,
            about: a.about + b.about,
            by_code: a.by_code + b.by_code,
            by_omp: a.by_omp + b.by_omp,
        })
    }
}

/// Number of [`top_rows`] of each unit if none is requested.
pub const DEFAULT_TOP_ROWS: usize = 8;

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
