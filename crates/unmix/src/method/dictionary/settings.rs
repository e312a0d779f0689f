//! Settings of dictionary learning: names, allowed values, descriptions.

use crate::choices::choices;
use crate::method::sparse_coder::{Algorithm as Coder, Alpha};
use crate::model::{Axis, Condition, Counted, Kind, settings};
use crate::num::Matrix;
use crate::sparse::{AtomNorm, DeadUnit, Init};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [dictionary learning](super): `DictionaryLearning { n_components: Some(256), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct DictionaryLearning {
        /// Number of atoms, at most the number of rows; null for the number of columns, or of rows if that is smaller.
        pub n_components: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), by_rows(), null_is_all();
        /// The algorithm: 'online' learns from mini-batches, in memory that does not depend on the number of rows. With rows and codes in memory:
        /// 'alternating' takes steps on all codes and then on all atoms; 'palm' one step each, 'ipalm' with inertia; 'layerwise' is 'palm', with new
        /// rows encoded by the same sequence of steps; 'ksvd' alternates matching pursuit and rank-1 updates.
        pub algorithm: DictionaryAlgorithm = "online", Kind::Words(DictionaryAlgorithm::NAMES);
        /// Weight of the penalty `||Z||_1` relative to `1/2 ||X - Z A||²`, as in scikit-learn. 'auto' is a tenth of the mean over rows of the largest
        /// product of the row and an initial atom, so that the atoms do not depend on the units of the rows.
        pub alpha: Alpha = "auto", Kind::AnyOf(&[Kind::POSITIVE, Kind::AUTO]), such_as("0.1");
        /// Maximum number of nonzero entries in a code of 'ksvd' and of `coder` 'omp'; null for a tenth of the number of columns, at least 1.
        pub n_nonzero_coefs: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), only(PURSUIT);
        /// Initial atoms: 'data' for random rows, 'k-means++' for rows whose directions are far apart, 'dct' for a cosine basis (two-dimensional where rows
        /// are pictures), 'random' for Gaussian vectors.
        pub init: Init = "data", Kind::Words(Init::NAMES);
        /// Initial atoms instead of `init`, as rows, in the order in which they are updated: an array, or a fitted model, whose components are taken;
        /// or the path of either.
        pub tensor dict_init: Option<Matrix<f64>> = null, Kind::AnyOf(&[Kind::table(Axis::Components, Axis::Features), Kind::Null]);
        /// Constraint on the norm of the atoms: 'ball' for at most 1, 'sphere' for exactly 1 (always with 'ksvd'). At a minimum, atoms in use have
        /// norm 1 in both cases.
        pub atom_norm: AtomNorm = "ball", Kind::Words(AtomNorm::NAMES), only(BOUNDED);
        /// Replacement of atoms that no code used for an epoch: 'residual' by the row with the largest residual, 'data' by a random row, 'keep' for
        /// none. No atom is replaced in the last fifth of the epochs. With all codes in memory atoms are replaced when unused for 20 blocks; with
        /// 'ksvd' in every iteration, and so is one of two atoms with a cosine above 0.99.
        pub dead_unit: DeadUnit = "residual", Kind::Words(DeadUnit::NAMES);
        /// Constrain codes to be non-negative.
        pub positive_code: bool = false, Kind::BOOL, only(SIGNED);
        /// Constrain atoms to be non-negative.
        pub positive_dict: bool = false, Kind::BOOL;
        /// Mini-batch size of 'online'.
        pub batch_size: usize = 256, Kind::at_least(1), only(ONLINE);
        /// Number of epochs of 'online'.
        pub max_epochs: u64 = 5, Kind::at_least(1), counting(Counted::Batches), only(ONLINE);
        /// Exponent of the forgetting of past batches: the sums over codes are multiplied by `(1 - 1/t)^forgetting` at batch `t`; with 0 all batches
        /// have equal weight.
        pub forgetting: f64 = 5.0, Kind::NON_NEGATIVE, only(ONLINE);
        /// Number of steps on the codes in a block of 'alternating'.
        pub code_steps: u64 = 10, Kind::at_least(1), only(BLOCKS);
        /// Number of steps on the atoms in a block of 'alternating'.
        pub atom_steps: u64 = 10, Kind::at_least(1), only(BLOCKS);
        /// Start the codes of each block of 'alternating' from those of the previous block; otherwise from 0, which needs `code_steps` of at least 5.
        pub warm_start_codes: bool = true, Kind::BOOL, only(BLOCKS);
        /// Maximum number of blocks, or of iterations of 'ksvd'.
        pub max_iter: u64 = 1000, Kind::at_least(1), only(IN_MEMORY);
        /// Convergence tolerance: the relative change of codes and atoms in a block, and 100 times that of the objective over ten blocks; null for
        /// 1e-4.
        pub tol: Option<f64> = null, Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]), such_as("1e-4"), only(IN_MEMORY);
        /// Algorithm that encodes new rows, as `algorithm` of `SparseCoder`. With 'layerwise' the layers encode them.
        pub coder: Coder = "cd", Kind::Words(Coder::NAMES), only(SOLVED);
        /// Subtract the mean of every column.
        pub center: bool = false, Kind::BOOL;
    }
    pub(super) const SETTINGS;
}

choices! {
    /// Learning algorithm.
    #[derive(Default)]
    pub enum DictionaryAlgorithm {
        /// Online on mini-batches, in memory that does not depend on the number of rows.
        #[default]
        Online = "online",
        /// Alternating: several steps on all codes, then several on all atoms.
        Alternating = "alternating",
        /// PALM: one step on all codes, and one on all atoms.
        Palm = "palm",
        /// iPALM: PALM with inertia.
        Ipalm = "ipalm",
        /// `Palm`, whose steps are the layers of an encoder.
        Layerwise = "layerwise",
        /// K-SVD: codes by matching pursuit, then a rank-1 update of every atom together with its codes.
        Ksvd = "ksvd",
    }
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
