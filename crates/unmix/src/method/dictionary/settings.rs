//! Settings of dictionary learning: what they are called, what they may be, what they mean.

use crate::method::pca::Automatic;
use crate::method::sparse_coder::Alpha;
use crate::model::{Kind, Setting};
use crate::sparse::{AtomNorm, DeadUnit, Init};
use serde::{Deserialize, Serialize};

/// Settings of [dictionary learning](super): `DictionaryLearning { n_components: Some(256), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DictionaryLearning {
    /// Number of atoms; `None` for as many as columns, or rows where these are fewer.
    pub n_components: Option<usize>,
    /// How atoms are learnt.
    pub algorithm: Learning,
    /// Weight of the penalty on codes.
    pub alpha: Alpha,
    /// Initial atoms.
    pub init: Init,
    /// Norm of the atoms.
    pub atom_norm: AtomNorm,
    /// What replaces an atom that no code uses.
    pub dead_unit: DeadUnit,
    /// Codes are at least 0.
    pub positive_code: bool,
    /// Entries of atoms are at least 0.
    pub positive_dict: bool,
    /// Rows of a batch.
    pub batch_size: usize,
    /// How often all rows are visited.
    pub max_epochs: u64,
    /// How fast batches of long ago are forgotten.
    pub forgetting: f64,
    /// Subtract the mean of every column first.
    pub center: bool,
}

impl Default for DictionaryLearning {
    fn default() -> Self {
        Self {
            n_components: None,
            algorithm: Learning::Online,
            alpha: Alpha::Auto(Automatic::Auto),
            init: Init::Data,
            atom_norm: AtomNorm::Ball,
            dead_unit: DeadUnit::Residual,
            positive_code: false,
            positive_dict: false,
            batch_size: 256,
            max_epochs: 5,
            forgetting: 5.0,
            center: false,
        }
    }
}

/// How atoms are learnt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Learning {
    /// From batches, in memory that does not depend on the number of rows.
    #[default]
    Online,
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "n_components",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Number of atoms, at most that of the rows; null for as many as columns, or as rows where these are fewer.",
    )
    .by_rows(),
    Setting::new(
        "algorithm",
        Kind::Words(&["online"]),
        "\"online\"",
        "How atoms are learnt: 'online' from batches, in memory that does not depend on the number of rows.",
    ),
    Setting::new(
        "alpha",
        Kind::AnyOf(&[Kind::POSITIVE, Kind::Words(&["auto"])]),
        "\"auto\"",
        "Weight of the penalty `||Z||_1` against `1/2 ||X - Z A||²`, as in scikit-learn. 'auto' is a tenth of the mean over rows of the largest \
         product of the row and an initial atom, so that rows in other units have the same atoms.",
    )
    .such_as("0.1"),
    Setting::new(
        "init",
        Kind::Words(&["data", "k-means++", "dct", "random"]),
        "\"data\"",
        "Initial atoms: 'data' random rows, 'k-means++' rows whose directions are far from each other, 'dct' cosines (products of them where \
         rows are pictures), 'random' Gaussian numbers.",
    ),
    Setting::new(
        "atom_norm",
        Kind::Words(&["ball", "sphere"]),
        "\"ball\"",
        "Norm of the atoms: 'ball' at most 1, 'sphere' exactly 1. At a minimum atoms that are used have norm 1 in both.",
    ),
    Setting::new(
        "dead_unit",
        Kind::Words(&["residual", "data", "keep"]),
        "\"residual\"",
        "What replaces an atom that no code used for an epoch: 'residual' the row represented worst, 'data' a random row, 'keep' nothing. Never \
         in the last fifth of the epochs.",
    ),
    Setting::new("positive_code", Kind::Bool, "false", "Codes are at least 0."),
    Setting::new("positive_dict", Kind::Bool, "false", "Entries of atoms are at least 0."),
    Setting::new("batch_size", Kind::at_least(1), "256", "Rows of a batch."),
    Setting::new("max_epochs", Kind::at_least(1), "5", "How often all rows are visited."),
    Setting::new(
        "forgetting",
        Kind::NON_NEGATIVE,
        "5.0",
        "How fast batches of long ago are forgotten: sums over codes are multiplied by `(1 - 1/t)^forgetting` at batch `t`. 0 forgets nothing.",
    ),
    Setting::new(
        "center",
        Kind::Bool,
        "false",
        "Subtract the mean of every column. By default nothing is subtracted.",
    ),
];
