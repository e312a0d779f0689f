//! Settings of dictionary learning: names, allowed values, descriptions.

use crate::method::pca::Automatic;
use crate::method::sparse_coder::{Algorithm as Coder, Alpha};
use crate::model::{Condition, Counted, Kind, Setting};
use crate::num::Matrix;
use crate::sparse::{AtomNorm, DeadUnit, Init};
use serde::{Deserialize, Serialize};

/// Settings of [dictionary learning](super): `DictionaryLearning { n_components: Some(256), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DictionaryLearning {
    /// Number of atoms; `None` for the number of columns, or of rows if that is smaller.
    pub n_components: Option<usize>,
    /// Learning algorithm.
    pub algorithm: DictionaryAlgorithm,
    /// Weight of the penalty on codes.
    pub alpha: Alpha,
    /// Maximum number of nonzero entries in a code, for `ksvd` and the coder `omp`; `None` for a tenth of the number of columns, at
    /// least 1.
    pub n_nonzero_coefs: Option<usize>,
    /// Initial atoms.
    pub init: Init,
    /// Initial atoms as a matrix, `n_components x n_features`, instead of `init`. Not a setting, but a tensor given with
    /// the settings.
    #[serde(skip)]
    pub dict_init: Option<Matrix<f64>>,
    /// Constraint on the norm of the atoms.
    pub atom_norm: AtomNorm,
    /// Replacement of unused atoms.
    pub dead_unit: DeadUnit,
    /// Whether codes must be non-negative.
    pub positive_code: bool,
    /// Whether atoms must be non-negative.
    pub positive_dict: bool,
    /// Mini-batch size.
    pub batch_size: usize,
    /// Number of epochs.
    pub max_epochs: u64,
    /// Exponent of the forgetting of past batches: their sums are multiplied by `(1 - 1/t)^forgetting` at batch `t`.
    pub forgetting: f64,
    /// Number of steps on codes in a block.
    pub code_steps: u64,
    /// Number of steps on atoms in a block.
    pub atom_steps: u64,
    /// Start the codes of a block from those of the previous block.
    pub warm_start_codes: bool,
    /// Maximum number of blocks, or of iterations.
    pub max_iter: u64,
    /// Convergence tolerance.
    pub tol: Option<f64>,
    /// Algorithm that encodes new rows.
    pub coder: Coder,
    /// Whether the mean of every column is subtracted.
    pub center: bool,
}

impl Default for DictionaryLearning {
    fn default() -> Self {
        Self {
            n_components: None,
            algorithm: DictionaryAlgorithm::Online,
            alpha: Alpha::Auto(Automatic::Auto),
            n_nonzero_coefs: None,
            init: Init::Data,
            dict_init: None,
            atom_norm: AtomNorm::Ball,
            dead_unit: DeadUnit::Residual,
            positive_code: false,
            positive_dict: false,
            batch_size: 256,
            max_epochs: 5,
            forgetting: 5.0,
            code_steps: 10,
            atom_steps: 10,
            warm_start_codes: true,
            max_iter: 1000,
            tol: None,
            coder: Coder::Cd,
            center: false,
        }
    }
}

/// Learning algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DictionaryAlgorithm {
    /// Online on mini-batches, in memory that does not depend on the number of rows.
    #[default]
    Online,
    /// Alternating: several steps on all codes, then several on all atoms.
    Alternating,
    /// PALM: one step on all codes, and one on all atoms.
    Palm,
    /// iPALM: PALM with inertia.
    Ipalm,
    /// `Palm`, whose steps are the layers of an encoder.
    Layerwise,
    /// K-SVD: codes by matching pursuit, then a rank-1 update of every atom together with its codes.
    Ksvd,
}

impl DictionaryAlgorithm {
    /// Whether rows are processed in batches.
    pub(super) fn streams(self) -> bool {
        self == DictionaryAlgorithm::Online
    }
}

/// Conditions under which settings have an effect.
const ONLINE: &[&[Condition]] = &[&[("algorithm", &["\"online\""])]];
const BLOCKS: &[&[Condition]] = &[&[("algorithm", &["\"alternating\""])]];
const IN_MEMORY: &[&[Condition]] = &[&[("algorithm", &["!\"online\""])]];
const PURSUIT: &[&[Condition]] =
    &[&[("algorithm", &["\"ksvd\""])], &[("coder", &["\"omp\""]), ("algorithm", &["!\"layerwise\""])]];
const SIGNED: &[&[Condition]] =
    &[&[("algorithm", &["!\"ksvd\""]), ("coder", &["!\"omp\""])], &[("algorithm", &["\"layerwise\""])]];
const SOLVED: &[&[Condition]] = &[&[("algorithm", &["!\"layerwise\""])]];
const BOUNDED: &[&[Condition]] = &[&[("algorithm", &["!\"ksvd\""])]];

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "n_components",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Number of atoms, at most the number of rows; null for the number of columns, or of rows if that is smaller.",
    )
    .by_rows(),
    Setting::new(
        "algorithm",
        Kind::Words(&["online", "alternating", "palm", "ipalm", "layerwise", "ksvd"]),
        "\"online\"",
        "The algorithm: 'online' learns from mini-batches, in memory that does not depend on the number of rows. With rows and codes \
         in memory: 'alternating' takes steps on all codes and then on all atoms; 'palm' one step each, 'ipalm' with inertia; \
         'layerwise' is 'palm', with new rows encoded by the same sequence of steps; 'ksvd' alternates matching pursuit and rank-1 updates.",
    ),
    Setting::new(
        "alpha",
        Kind::AnyOf(&[Kind::POSITIVE, Kind::Words(&["auto"])]),
        "\"auto\"",
        "Weight of the penalty `||Z||_1` against `1/2 ||X - Z A||²`, as in scikit-learn. 'auto' is a tenth of the mean over rows of \
         the largest \
         product of the row and an initial atom, so that the atoms do not depend on the units of the rows.",
    )
    .such_as("0.1"),
    Setting::new(
        "n_nonzero_coefs",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Maximum number of nonzero entries in a code of 'ksvd' and of `coder` 'omp'; null for a tenth of the number of columns, at \
         least 1.",
    )
    .only(PURSUIT),
    Setting::new(
        "init",
        Kind::Words(&["data", "k-means++", "dct", "random"]),
        "\"data\"",
        "Initial atoms: 'data' for random rows, 'k-means++' for rows of distant directions, 'dct' for a cosine basis (two-dimensional \
         where rows are pictures), 'random' for Gaussian vectors.",
    ),
    Setting::new(
        "dict_init",
        Kind::AnyOf(&[Kind::Table("(n_components, n_features)"), Kind::Null]),
        "null",
        "Initial atoms instead of `init`, as rows, in the order in which they are updated: an array, or a fitted model, whose components \
         are taken; or the path of either.",
    )
    .tensor(),
    Setting::new(
        "atom_norm",
        Kind::Words(&["ball", "sphere"]),
        "\"ball\"",
        "Constraint on the norm of the atoms: 'ball' for at most 1, 'sphere' for exactly 1 (always with 'ksvd'). At a minimum, atoms in \
         use have norm 1 in both cases.",
    )
    .only(BOUNDED),
    Setting::new(
        "dead_unit",
        Kind::Words(&["residual", "data", "keep"]),
        "\"residual\"",
        "Replacement of atoms that no code used for an epoch: 'residual' by the row with the largest residual, 'data' by a random row, \
         'keep' for none. No atom is replaced in the last fifth of the epochs. With all codes in memory atoms are replaced when unused \
         for 20 blocks; with 'ksvd' in every iteration, and so is one of two atoms with a cosine above 0.99.",
    ),
    Setting::new("positive_code", Kind::Bool, "false", "Constrain codes to be non-negative.").only(SIGNED),
    Setting::new("positive_dict", Kind::Bool, "false", "Constrain atoms to be non-negative."),
    Setting::new("batch_size", Kind::at_least(1), "256", "Mini-batch size of 'online'.").only(ONLINE),
    Setting::new("max_epochs", Kind::at_least(1), "5", "Number of epochs of 'online'.")
    .counting(Counted::Batches).only(ONLINE),
    Setting::new(
        "forgetting",
        Kind::NON_NEGATIVE,
        "5.0",
        "Exponent of the forgetting of past batches: the sums over codes are multiplied by `(1 - 1/t)^forgetting` at batch `t`; with 0 all \
         batches have equal weight.",
    )
    .only(ONLINE),
    Setting::new("code_steps", Kind::at_least(1), "10", "Number of steps on the codes in a block of 'alternating'.").only(BLOCKS),
    Setting::new("atom_steps", Kind::at_least(1), "10", "Number of steps on the atoms in a block of 'alternating'.").only(BLOCKS),
    Setting::new(
        "warm_start_codes",
        Kind::Bool,
        "true",
        "Start the codes of each block of 'alternating' from those of the previous block; otherwise from 0, which needs `code_steps` \
         of at least 5.",
    )
    .only(BLOCKS),
    Setting::new("max_iter", Kind::at_least(1), "1000", "Maximum number of blocks, or of iterations of 'ksvd'.").only(IN_MEMORY),
    Setting::new(
        "tol",
        Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]),
        "null",
        "Convergence tolerance: the relative change of codes and atoms in a block, and 100 times that of the objective over ten blocks; \
         null for 1e-4.",
    )
    .such_as("1e-4")
    .only(IN_MEMORY),
    Setting::new(
        "coder",
        Kind::Words(&["cd", "fista", "ista", "lars", "omp"]),
        "\"cd\"",
        "Algorithm that encodes new rows, as `algorithm` of `SparseCoder`. With 'layerwise' the layers encode them.",
    )
    .only(SOLVED),
    Setting::new(
        "center",
        Kind::Bool,
        "false",
        "Subtract the mean of every column.",
    ),
];
