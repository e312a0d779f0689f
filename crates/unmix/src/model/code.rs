//! Encoders and decoders of fitted models: two open traits; linear maps are one implementation of each.
//!
//! An [`Encoder`] may be a matrix, a posterior mean, a matrix followed by an activation, an iterative solver or a short network; a
//! [`Decoder`] is a matrix in most models. Both are constructed from the parameters of a model by the `code` function of its
//! registry entry. Command line, Python, files and pages depend only on the traits.

use super::affine::{LinearDecoder, LinearEncoder};
use super::mixture::Mixture;
use super::path::AlongAlpha;
use super::tensor::Tensor;
use crate::data::Workspace;
use crate::error::{Error, Result, counted};
use crate::num::{Dtype, Matrix, Real};
use crate::stats::gaps::Conditional;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A map from rows to rows, prepared for one number type.
pub trait RowMap<T>: Send + Sync {
    /// Maps `n` rows, row-major, into `n` rows of `out`. The bits of a result must not depend on the other rows. Numbers are
    /// finite, except NaN if an encoder accepts missing cells; a row that reaches the maximum number of iterations is recorded in
    /// its certificate.
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>);

    /// The same, and writes the convergence measure of each row, the quantity that [`Certificate::tol`] bounds, to `gaps`. Zero for
    /// maps that do not iterate.
    fn certified(&self, rows: &[T], out: &mut [T], gaps: &mut [f64], work: &mut Workspace<T>) {
        gaps.fill(0.0);
        self.apply(rows, out, work);
    }

    /// Writes the measures named by [`Encoder::measures`] for every row, one row after the other.
    fn measured(&self, rows: &[T], out: &mut [f64], work: &mut Workspace<T>) {
        let _ = (rows, work);
        out.fill(0.0);
    }
}

/// The criterion of convergence of an iterative encoder, evaluated for every row.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Certificate {
    /// Name of the quantity, as in "relative duality gap".
    pub name: &'static str,
    /// A row has converged if the quantity is at most this.
    pub tol: f64,
}

impl Certificate {
    /// A row has converged if the quantity `name` is at most `tol`.
    pub fn new(name: &'static str, tol: f64) -> Self {
        Self { name, tol }
    }
}

/// Properties of the codes, and of the rows that can be encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codes {
    /// Most entries are zero: codes are stored as compressed sparse rows if the format supports them.
    pub sparse: bool,
    /// No entry is negative.
    pub non_negative: bool,
    /// Each code is the probability that a binary unit is 1: no code is 0.
    pub probabilities: bool,
    /// NaN in a row is a missing cell, and the row is encoded by its observed cells.
    pub missing: bool,
    /// Each code is the distance from a cluster; a row belongs to the nearest one unless there is a [mixture](Encoder::mixture).
    pub distances: bool,
    /// In sparse rows, stored entries, including zeros, are the observed cells; entries that are not stored are missing.
    pub stored: bool,
}

/// Maps rows to codes.
pub trait Encoder: Debug + Send + Sync {
    /// Number of columns.
    fn n_features(&self) -> usize;

    /// Number of codes per row.
    fn n_codes(&self) -> usize;

    /// Properties of the codes; by default dense, of either sign, of complete rows.
    fn codes(&self) -> Codes {
        Codes::default()
    }

    /// The criterion of convergence, for encoders that iterate.
    fn certificate(&self) -> Option<Certificate> {
        None
    }

    /// Names of the measures of a row ([`RowMap::measured`]), for encoders that have measures of their own.
    fn measures(&self) -> &'static [&'static str] {
        &[]
    }

    /// The codes for any weight of their penalty, for encoders that have one.
    fn along_alpha(&self) -> Option<Box<dyn AlongAlpha>> {
        None
    }

    /// The map for rows of single precision.
    fn in_f32(&self) -> Box<dyn RowMap<f32>>;

    /// The map for rows of double precision.
    fn in_f64(&self) -> Box<dyn RowMap<f64>>;

    /// `mean` and `B` if codes are `(x - mean) B`: sparse rows are then encoded from their stored entries alone.
    fn linear(&self) -> Option<(&Tensor, &Matrix<f64>)> {
        None
    }

    /// Writes the code of a row whose cells are listed, by column, in double precision; only for encoders with [`Codes::stored`].
    fn of_cells(&self, columns: &[u32], values: &[f64], out: &mut [f64]) {
        let _ = (columns, values, out);
    }

    /// The linear-Gaussian model whose posterior means are the codes, prepared for rows; factors beyond the number of codes are not
    /// encoded.
    fn gaussian(&self) -> Option<&Conditional> {
        None
    }

    /// The mixture whose components are the clusters of the rows: rows then have a likelihood, and a probability of each cluster.
    fn mixture(&self) -> Option<&Mixture> {
        None
    }

    /// Matrix, `k x k`, that multiplies the factors of [`gaussian`](Self::gaussian) from the right to give the codes, if these differ: a rotation,
    /// or another invertible matrix for correlated factors.
    fn rotation(&self) -> Option<&Matrix<f64>> {
        None
    }

    /// Minimum number of observed cells of an incomplete row to be encoded.
    fn least_cells(&self) -> usize {
        0
    }
}

/// Maps codes to rows.
pub trait Decoder: Debug + Send + Sync {
    /// Number of columns.
    fn n_features(&self) -> usize;

    /// Number of codes per row.
    fn n_codes(&self) -> usize;

    /// The map for codes of single precision.
    fn in_f32(&self) -> Box<dyn RowMap<f32>>;

    /// The map for codes of double precision.
    fn in_f64(&self) -> Box<dyn RowMap<f64>>;

    /// The change of the row per unit of each code, at codes of zero, `n_features x n_codes`. `O(n_codes^2)` memory for a decoder
    /// without a matrix.
    fn mixing(&self) -> Matrix<f64> {
        let (p, k) = (self.n_features(), self.n_codes());
        let (map, mut work) = (self.in_f64(), Workspace::default());
        let (mut zero, mut units) = (vec![0.0; p], vec![0.0; p * k]);
        map.apply(&vec![0.0; k], &mut zero, &mut work);
        let identity = Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)));
        map.apply(identity.as_slice(), &mut units, &mut work);
        Matrix::from_fn(p, k, |j, i| units[i * p + j] - zero[j])
    }
}

/// The encoder of a model, and its decoder if codes can be decoded.
#[derive(Clone, Debug)]
pub struct Code {
    encoder: Arc<dyn Encoder>,
    decoder: Option<Arc<dyn Decoder>>,
}

impl Code {
    /// Combines an encoder and a decoder.
    ///
    /// # Errors
    ///
    /// Maps of different widths.
    pub fn new(encoder: impl Encoder + 'static, decoder: impl Decoder + 'static) -> Result<Self> {
        let (to, from) = (encoder.n_codes(), decoder.n_codes());
        let (p, q) = (encoder.n_features(), decoder.n_features());
        if (p, to) != (q, from) {
            return Err(Error::unsupported(
                "a model of this encoder and this decoder",
                format!(
                    "the encoder maps {} to {}, the decoder {} to {}",
                    counted(p as u64, "column"),
                    counted(to as u64, "code"),
                    counted(from as u64, "code"),
                    counted(q as u64, "column")
                ),
                "give maps of matching widths",
            ));
        }
        Ok(Self { encoder: Arc::new(encoder), decoder: Some(Arc::new(decoder)) })
    }

    /// An encoder without a decoder, because its codes (such as distances) do not determine rows: decoding and reconstruction are
    /// refused.
    pub(crate) fn encoder_only(encoder: impl Encoder + 'static) -> Self {
        Self { encoder: Arc::new(encoder), decoder: None }
    }

    /// `y = (x - mean) encoder`, `x = y decoder + mean`; `encoder` is `n_features x n_codes`, `decoder` `n_codes x n_features`.
    ///
    /// # Errors
    ///
    /// Matrices of other shapes.
    pub fn linear(mean: Tensor, encoder: Matrix<f64>, decoder: Matrix<f64>) -> Result<Self> {
        Self::new(LinearEncoder::new(mean.clone(), encoder), LinearDecoder::new(mean, decoder))
    }

    /// The encoder.
    pub fn encoder(&self) -> &dyn Encoder {
        &*self.encoder
    }

    /// The decoder, if there is one.
    pub fn decoder(&self) -> Option<&dyn Decoder> {
        self.decoder.as_deref()
    }

    /// Whether codes can be decoded.
    pub fn decodes(&self) -> bool {
        self.decoder.is_some()
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.encoder.n_features()
    }

    /// Number of codes per row.
    pub fn n_codes(&self) -> usize {
        self.encoder.n_codes()
    }

    /// Properties of the codes.
    pub fn codes(&self) -> Codes {
        self.encoder.codes()
    }

    /// The encoder for type `T`.
    pub(crate) fn encode_map<T: Real>(&self) -> Box<dyn RowMap<T>> {
        by_type(|| self.encoder.in_f32(), || self.encoder.in_f64())
    }

    /// The decoder for type `T`; `request` names the operation in the error.
    ///
    /// # Errors
    ///
    /// No decoder.
    pub(super) fn decode_map<T: Real>(&self, request: &str) -> Result<Box<dyn RowMap<T>>> {
        let decoder = self.decoder().ok_or_else(|| {
            Error::unsupported(request, "the codes of this model do not determine rows", "encode rows alone")
        })?;
        Ok(by_type(|| decoder.in_f32(), || decoder.in_f64()))
    }

    /// Mixing matrix, `n_features x n_codes`: the loadings of each code, if there is a decoder.
    pub fn mixing(&self) -> Option<Matrix<f64>> {
        self.decoder().map(Decoder::mixing)
    }
}

/// The map for type `T`, one of `f32` and `f64`.
fn by_type<T: Real>(
    single: impl FnOnce() -> Box<dyn RowMap<f32>>,
    double: impl FnOnce() -> Box<dyn RowMap<f64>>,
) -> Box<dyn RowMap<T>> {
    let map: Box<dyn Any> = match T::DTYPE {
        Dtype::F32 => Box::new(single()),
        Dtype::F64 => Box::new(double()),
    };
    match map.downcast::<Box<dyn RowMap<T>>>() {
        Ok(map) => *map,
        Err(_) => unreachable!("numbers are of single or of double precision"),
    }
}

/// The map from rows of type `T` to codes, for an encoder outside a model.
pub(crate) fn map_of<T: Real>(encoder: &dyn Encoder) -> Box<dyn RowMap<T>> {
    by_type(|| encoder.in_f32(), || encoder.in_f64())
}

/// Rows for which an iterative encoder did not reach its tolerance.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Unsolved {
    /// The tolerance for every row.
    pub certificate: Certificate,
    /// Number of rows above it.
    pub n_rows: u64,
    /// The row of the largest value, the first of several.
    pub worst_row: u64,
    /// Its value.
    pub worst: f64,
}

impl Unsolved {
    /// Merges two records: rows are summed, and the largest value is kept.
    pub fn merged(self, other: Self) -> Self {
        let n_rows = self.n_rows + other.n_rows;
        let order = other.worst.total_cmp(&self.worst).then(self.worst_row.cmp(&other.worst_row));
        let worst = if order.is_gt() { other } else { self };
        Self { n_rows, ..worst }
    }

    /// The rows, numbered from `first_row`, whose `gaps` exceed the tolerance.
    pub(super) fn among(certificate: Certificate, first_row: u64, gaps: &[f64]) -> Option<Self> {
        // NaN is not a certificate.
        let above = |gap: f64| gap.is_nan() || gap > certificate.tol;
        gaps.iter()
            .enumerate()
            .filter(|(_, gap)| above(**gap))
            .map(|(i, gap)| Self { certificate, n_rows: 1, worst_row: first_row + i as u64, worst: *gap })
            .reduce(Self::merged)
    }
}

impl std::fmt::Display for Unsolved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { certificate: Certificate { name, tol }, n_rows, worst_row, worst } = self;
        let rows = if *n_rows == 1 { "row was" } else { "rows were" };
        write!(f, "{n_rows} {rows} not encoded to a {name} of {tol:e}: it is {worst:.3e} for row {worst_row}")
    }
}

/// Result of encoding rows.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Encoded {
    /// Number of rows.
    pub n_rows: u64,
    /// Rows for which the encoder did not converge.
    pub unsolved: Option<Unsolved>,
    /// Number of rows without an observed cell, of encoders with sparse codes that accept missing cells: these codes are 0.
    pub unseen: u64,
}

impl Encoded {
    /// The result for `n_rows` rows, all converged.
    pub fn solved(n_rows: u64) -> Self {
        Self { n_rows, ..Self::default() }
    }

    /// Notes for the user about the result, in sentences.
    pub fn notes(&self) -> Vec<String> {
        self.unsolved.iter().map(ToString::to_string).chain(self.note_on_unseen()).collect()
    }

    /// The note on rows without an observed cell, if there are any.
    pub fn note_on_unseen(&self) -> Option<String> {
        note_on_unseen(self.unseen, ["its code is 0", "their codes are 0"])
    }
}

/// The note on `n` rows without an observed cell, with what follows for one and for several.
pub(crate) fn note_on_unseen(n: u64, [one, several]: [&str; 2]) -> Option<String> {
    match n {
        0 => None,
        1 => Some(format!("1 row has no observed cell, and {one}")),
        n => Some(format!("{n} rows have no observed cell, and {several}")),
    }
}
