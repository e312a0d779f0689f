//! The settings of sparse coding: names, allowed values, descriptions.

use crate::choices::{Automatic, choices};
use crate::model::{Axis, Kind, settings};
use crate::num::Matrix;
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [sparse coding](super), and the dictionary:
    /// `SparseCoder { alpha: Alpha::Weight(0.1), ..SparseCoder::of(atoms) }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct SparseCoder {
        /// The atoms as rows, of any norm; their order and signs are kept. An array, or a fitted model, whose components are taken; or the path of either.
        pub tensor dictionary: Option<Matrix<f64>> = required, Kind::table(Axis::Components, Axis::Features);
        /// Solver: 'cd' for coordinate descent on working sets, 'fista' and 'ista' for accelerated and plain proximal gradient steps, 'lars' for the
        /// homotopy in alpha; all of these solve the same lasso. 'omp' for orthogonal matching pursuit, up to a number of atoms or down to a squared
        /// error.
        pub algorithm: Algorithm = "cd", Kind::Words(Algorithm::NAMES);
        /// Weight of the l1 penalty relative to half the squared error. 'auto' for a tenth of the mean over rows of the largest inner product with an
        /// atom, in absolute value unless `positive_code`; 'cv' for the value with the smallest prediction error on held-out entries.
        pub alpha: Alpha = "auto", Kind::AnyOf(&[Kind::POSITIVE, Kind::Words(&[Automatic::Auto.name(), Cv::Cv.name()])]), such_as("0.1"), only(LASSO);
        /// Maximum number of nonzero entries in a code of 'omp'; null for a tenth of `n_features`, at least 1, unless `max_squared_error` is given.
        pub n_nonzero_coefs: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), only(OMP);
        /// Squared error of a row at which 'omp' stops; null to stop at `n_nonzero_coefs` only.
        pub max_squared_error: Option<f64> = null, Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]), such_as("0.01"), only(OMP);
        /// Constrain codes to be non-negative.
        pub positive_code: bool = false, Kind::BOOL, only(LASSO);
        /// Debias: recompute the nonzero entries of each code by least squares on their atoms, without the shrinkage of the penalty; signs may
        /// change, unless `positive_code` constrains them (then by non-negative least squares).
        pub debias: bool = false, Kind::BOOL, only(LASSO);
        /// Subtract the mean of every column.
        pub center: bool = false, Kind::BOOL;
        /// Maximum number of iterations of each row: passes, steps, or breakpoints of 'lars'.
        pub max_iter: u64 = 1000, Kind::at_least(1), only(LASSO);
        /// Convergence tolerance of each row: its duality gap divided by half its squared norm; null for 1e-6 in double precision, 1e-5 in single.
        pub tol: Option<f64> = null, Kind::AnyOf(&[Kind::POSITIVE, Kind::Null]), such_as("1e-6"), only(LASSO);
        /// Codes are compressed sparse rows of scipy.
        python sparse_output = false, Kind::BOOL;
    }
    pub(super) const SETTINGS;
}

choices! {
    /// The solver of codes.
    #[derive(Default)]
    pub enum Algorithm {
        /// Coordinate descent on working sets.
        #[default]
        Cd = "cd",
        /// Accelerated proximal gradients with restarts.
        Fista = "fista",
        /// Proximal gradients.
        Ista = "ista",
        /// The homotopy in alpha.
        Lars = "lars",
        /// Orthogonal matching pursuit.
        Omp = "omp",
    }
}

/// The weight of the penalty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Alpha {
    /// A number.
    Weight(f64),
    /// A tenth of the mean over rows of the largest inner product with an atom, in absolute value unless codes are non-negative.
    Auto(Automatic),
    /// By the prediction error of held-out entries.
    HeldOut(Cv),
}

impl Default for Alpha {
    fn default() -> Self {
        Self::Auto(Automatic::Auto)
    }
}

choices! {
    /// By cross-validation.
    pub enum Cv {
        /// By the prediction error of held-out entries.
        Cv = "cv",
    }
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
