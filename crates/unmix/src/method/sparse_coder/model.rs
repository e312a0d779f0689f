//! The model of a dictionary, and its encoder and decoder.

use super::path::Path;
use super::settings::{Algorithm, SparseCoder};
use super::solver::{Coded, Rules, Solver, tolerance};
use crate::data::Workspace;
use crate::error::{Error, Result};
use crate::model::{
    AlongAlpha, Certificate, Code, Codes, Encoder, LinearDecoder, RowMap, Tensor, Tensors, require,
};
use crate::num::parallel::made_once;
use crate::num::{Dtype, Matrix, Real, as_type};
use crate::sparse::{Atoms, Omp};
use serde_json::{Map, Value};
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// The tensors of the model file.
pub(super) fn parameters(atoms: &Matrix<f64>, mean: &[f64], alpha: f64, dtype: Dtype) -> Tensors {
    let named = [
        ("components", Tensor::matrix(atoms, dtype)),
        ("mean", Tensor::vector(mean, dtype)),
        ("alpha", Tensor::scalar(alpha, Dtype::F64)),
    ];
    named.into_iter().map(|(name, tensor)| (name.to_string(), tensor)).collect()
}

/// Encoder by the solver of the settings, decoder by the atoms.
pub(super) fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    code_of(&SparseCoder::from_settings(settings)?, tensors, true)
}

/// The same for these settings, for every method with sparse codes. `missing`: whether NaN is a missing cell.
pub(in crate::method) fn code_of(given: &SparseCoder, tensors: &Tensors, missing: bool) -> Result<Code> {
    let (encoder, mean) = Sparse::of(given, tensors)?;
    let encoder = Sparse { missing, ..encoder };
    let decoder = LinearDecoder::new(mean, encoder.dictionary.as_ref().clone());
    Code::new(encoder, decoder)
}

impl SparseCoder {
    /// The solver with the atoms in the rows of `dictionary`, before `alpha` is resolved, for rows from which `mean` is subtracted.
    pub(super) fn solver<T: Real>(&self, dictionary: &Matrix<f64>, mean: Vec<f64>) -> Solver<T> {
        Solver {
            atoms: Arc::new(Atoms::new(dictionary)),
            rules: self.rules(dictionary.cols(), 0.0, T::DTYPE),
            mean: Arc::new(mean),
        }
    }

    /// The rules for rows of `p` numbers, with resolved `alpha`.
    fn rules(&self, p: usize, alpha: f64, dtype: Dtype) -> Rules {
        let n = match (self.n_nonzero_coefs, self.max_squared_error) {
            (Some(n), _) => n,
            (None, Some(_)) => usize::MAX,
            (None, None) => (p / 10).max(1),
        };
        Rules {
            algorithm: self.algorithm,
            alpha,
            // Matching pursuit gives codes of either sign, and does not use alpha.
            positive: self.positive_code && self.algorithm != Algorithm::Omp,
            debias: self.debias,
            tol: self.tol.unwrap_or_else(|| tolerance(dtype == Dtype::F32)),
            max_iter: usize::try_from(self.max_iter).unwrap_or(usize::MAX),
            omp: Omp::to_error(self.max_squared_error.unwrap_or(0.0), n),
        }
    }
}

/// An encoder that solves for the code of every row.
#[derive(Clone, Debug)]
pub(super) struct Sparse {
    pub(super) rules: Rules,
    dictionary: Arc<Matrix<f64>>,
    pub(super) mean: Arc<Vec<f64>>,
    /// Type of the fit.
    dtype: Dtype,
    /// Whether NaN in a row is a missing cell.
    missing: bool,
    narrow: Arc<OnceLock<Arc<Atoms<f32>>>>,
    wide: Arc<OnceLock<Arc<Atoms<f64>>>>,
}

impl Sparse {
    /// From the settings and tensors of a model, with its mean.
    pub(super) fn of(given: &SparseCoder, tensors: &Tensors) -> Result<(Self, Tensor)> {
        let components = require(tensors, "components", &[None, None])?;
        let p = components.shape()[1];
        let mean = require(tensors, "mean", &[Some(p)])?.clone();
        let alpha = require(tensors, "alpha", &[])?.f64s()[0];
        if alpha < 0.0 {
            return Err(Error::corrupt_model(format!("its alpha is {alpha}")));
        }
        let dtype = components.values().dtype();
        let encoder = Self {
            rules: given.rules(p, alpha, dtype),
            dictionary: Arc::new(components.to_matrix()),
            mean: Arc::new(mean.f64s()),
            dtype,
            missing: true,
            narrow: Arc::default(),
            wide: Arc::default(),
        };
        Ok((encoder, mean))
    }

    /// The solver in double precision.
    pub(super) fn solver(&self) -> Solver<f64> {
        let atoms = made_once(&self.wide, || Arc::new(Atoms::new(&self.dictionary))).clone();
        Solver { atoms, rules: self.rules, mean: self.mean.clone() }
    }

    fn narrow_solver(&self) -> Solver<f32> {
        let atoms = made_once(&self.narrow, || Arc::new(Atoms::new(&self.dictionary))).clone();
        Solver { atoms, rules: self.rules, mean: self.mean.clone() }
    }
}

impl Encoder for Sparse {
    fn n_features(&self) -> usize {
        self.dictionary.cols()
    }

    fn n_codes(&self) -> usize {
        self.dictionary.rows()
    }

    fn codes(&self) -> Codes {
        let non_negative = self.rules.positive && self.rules.algorithm != Algorithm::Omp;
        Codes { sparse: true, non_negative, missing: self.missing, ..Codes::default() }
    }

    fn certificate(&self) -> Option<Certificate> {
        let lasso = self.rules.algorithm != Algorithm::Omp;
        lasso.then_some(Certificate { name: "relative duality gap", tol: self.rules.tol })
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        // A tolerance for double precision cannot be reached in single.
        match self.dtype {
            Dtype::F32 => Box::new(CodeMap { solver: self.narrow_solver(), rows: PhantomData }),
            Dtype::F64 => Box::new(CodeMap { solver: self.solver(), rows: PhantomData }),
        }
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(CodeMap { solver: self.solver(), rows: PhantomData })
    }

    fn measures(&self) -> &'static [&'static str] {
        &["objective", "gap", "n_nonzero", "squared_error"]
    }

    fn along_alpha(&self) -> Option<Box<dyn AlongAlpha>> {
        let penalised = self.rules.algorithm != Algorithm::Omp;
        penalised.then(|| Box::new(Path::new(self.solver())) as Box<dyn AlongAlpha>)
    }
}

/// The encoder for rows of type `T`, computed in type `C`.
struct CodeMap<T, C> {
    solver: Solver<C>,
    rows: PhantomData<fn(T)>,
}

impl<T: Real, C: Real> RowMap<T> for CodeMap<T, C> {
    fn apply(&self, rows: &[T], out: &mut [T], _: &mut Workspace<T>) {
        put(&self.solver.code(rows, false), out);
    }

    fn certified(&self, rows: &[T], out: &mut [T], gaps: &mut [f64], _: &mut Workspace<T>) {
        let lasso = self.solver.rules.algorithm != Algorithm::Omp;
        let coded = self.solver.code(rows, lasso);
        put(&coded, out);
        gaps.fill(0.0);
        gaps.iter_mut().zip(&coded.measures).for_each(|(gap, m)| *gap = m.relative_gap());
    }

    fn measured(&self, rows: &[T], out: &mut [f64], _: &mut Workspace<T>) {
        let mut coded = self.solver.code(rows, true);
        // Measures are of the codes as returned, rounded to the type of the rows.
        coded.codes.iter_mut().for_each(|z| *z = C::from_f64(T::from_f64(z.to_f64()).to_f64()));
        let mut work = crate::sparse::Work::default();
        let found = self.solver.measures(&coded.rows, &coded.codes, &mut work);
        for ((out, m), before) in out.chunks_exact_mut(4).zip(&found).zip(&coded.measures) {
            let gap = if self.solver.rules.debias { before.gap } else { m.gap };
            out.copy_from_slice(&[m.objective, gap, m.n_nonzero as f64, m.squared_error]);
        }
    }
}

fn put<T: Real, C: Real>(coded: &Coded<C>, out: &mut [T]) {
    // A copy where the types are the same: most codes are 0, and each would be converted.
    match as_type::<C, T>(&coded.codes) {
        Some(same) => out.copy_from_slice(same),
        None => out.iter_mut().zip(&coded.codes).for_each(|(to, z)| *to = T::from_f64(z.to_f64())),
    }
}
