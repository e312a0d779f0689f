//! The settings of sparse coding: names, allowed values, descriptions.

use crate::method::pca::Automatic;
use crate::model::{Kind, Setting};
use crate::num::Matrix;
use serde::{Deserialize, Serialize};

/// Settings of [sparse coding](super), and the dictionary:
/// `SparseCoder { alpha: Alpha::Weight(0.1), ..SparseCoder::of(atoms) }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SparseCoder {
    /// The atoms, `n_components x n_features`: their order, signs and norms are kept. Not a setting, but a tensor of the model.
    #[serde(skip)]
    pub dictionary: Option<Matrix<f64>>,
    /// The solver.
    pub algorithm: Algorithm,
    /// Weight of the penalty.
    pub alpha: Alpha,
    /// For `omp`: maximum number of atoms of a code.
    pub n_nonzero_coefs: Option<usize>,
    /// For `omp`: the squared error at which the pursuit of a row stops.
    pub max_squared_error: Option<f64>,
    /// Whether codes must be non-negative.
    pub positive_code: bool,
    /// Whether codes are recomputed by least squares on their atoms.
    pub debias: bool,
    /// Whether the mean of every column is subtracted.
    pub center: bool,
    /// Maximum number of iterations of each row.
    pub max_iter: u64,
    /// Tolerance on the relative duality gap.
    pub tol: Option<f64>,
}

impl Default for SparseCoder {
    fn default() -> Self {
        Self {
            dictionary: None,
            algorithm: Algorithm::default(),
            alpha: Alpha::default(),
            n_nonzero_coefs: None,
            max_squared_error: None,
            positive_code: false,
            debias: false,
            center: false,
            max_iter: 1000,
            tol: None,
        }
    }
}

/// The solver of codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Algorithm {
    /// Coordinate descent on working sets.
    #[default]
    Cd,
    /// Accelerated proximal gradients with restarts.
    Fista,
    /// Proximal gradients.
    Ista,
    /// The homotopy in alpha.
    Lars,
    /// Orthogonal matching pursuit.
    Omp,
}

/// The weight of the penalty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Alpha {
    /// A number.
    Weight(f64),
    /// A tenth of the mean over rows of the largest correlation with an atom.
    Auto(Automatic),
    /// By the prediction error of held-out entries.
    HeldOut(Cv),
}

impl Default for Alpha {
    fn default() -> Self {
        Self::Auto(Automatic::Auto)
    }
}

/// By cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Cv {
    /// By the prediction error of held-out entries.
    Cv,
}

impl SparseCoder {
    /// With the atoms in the rows of `dictionary`, and the defaults of all settings.
    pub fn of(dictionary: Matrix<f64>) -> Self {
        Self { dictionary: Some(dictionary), ..Self::default() }
    }
}

/// Conditions under which the lasso is solved.
const LASSO: &[&[crate::model::Condition]] = &[&[("algorithm", &["!\"omp\""])]];
const OMP: &[&[crate::model::Condition]] = &[&[("algorithm", &["\"omp\""])]];

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "dictionary",
        Kind::Table("(n_components, n_features)"),
        "",
        "The atoms as rows, of any norm; their order and signs are kept. Or a fitted model, or the path of one or of an array: its \
         components.",
    )
    .tensor(),
    Setting::new(
        "algorithm",
        Kind::Words(&["cd", "fista", "ista", "lars", "omp"]),
        "\"cd\"",
        "Solver: 'cd' for coordinate descent on working sets, 'fista' and 'ista' for accelerated and plain proximal gradient steps, 'lars' \
         for the homotopy in alpha; all of these solve the same lasso. 'omp' for orthogonal matching pursuit, up to a number of atoms or \
         down to a squared error.",
    ),
    Setting::new(
        "alpha",
        Kind::AnyOf(&[Kind::POSITIVE, Kind::Words(&["auto", "cv"])]),
        "\"auto\"",
        "Weight of the l1 penalty against half the squared error. 'auto' for a tenth of the mean over rows of the largest inner product \
         with an atom; 'cv' for the value with the smallest prediction error on held-out entries.",
    )
    .such_as("0.1")
    .only(LASSO),
    Setting::new(
        "n_nonzero_coefs",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Maximum number of nonzero entries in a code of 'omp'; null for a tenth of `n_features`, at least 1, unless \
         `max_squared_error` is given.",
    )
    .only(OMP),
    Setting::new(
        "max_squared_error",
        Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]),
        "null",
        "Squared error of a row at which 'omp' stops; null to stop at `n_nonzero_coefs` only.",
    )
    .such_as("0.01")
    .only(OMP),
    Setting::new("positive_code", Kind::Bool, "false", "Constrain codes to be non-negative.").only(LASSO),
    Setting::new(
        "debias",
        Kind::Bool,
        "false",
        "Debias: recompute the nonzero entries of each code by least squares on their atoms, without the shrinkage of the penalty; \
         signs may change.",
    )
    .only(LASSO),
    Setting::new("center", Kind::Bool, "false", "Subtract the mean of every column."),
    Setting::new("max_iter", Kind::at_least(1), "1000", "Maximum number of iterations of each row: passes, steps, or breakpoints of \
    'lars'.").only(LASSO),
    Setting::new(
        "tol",
        Kind::AnyOf(&[Kind::POSITIVE, Kind::Null]),
        "null",
        "Convergence tolerance of each row: its duality gap divided by half its squared norm; null for 1e-6 in double precision, 1e-5 in \
         single.",
    )
    .such_as("1e-6")
    .only(LASSO),
    Setting::new("sparse_output", Kind::Bool, "false", "Codes are compressed sparse rows of scipy.").python_only(),
];
