//! RICA's settings: what they are called, what they may be, what they mean.

use crate::elementwise::Penalty;
use crate::method::pca::Automatic;
use crate::model::{Kind, Setting};
use serde::{Deserialize, Serialize};

/// Settings of [RICA](super): `Rica { n_components: Some(64), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rica {
    /// How many features to learn; as many as there are directions when not told.
    pub n_components: Option<usize>,
    /// The weight of sparsity against reconstruction.
    pub beta: Beta,
    /// What measures sparsity.
    pub contrast: Penalty,
    /// Look at rows in white coordinates, of their rank.
    pub whiten: bool,
    /// Keep every feature at length 1.
    pub unit_norm: UnitNorm,
    /// Maximum number of iterations, without batch_size.
    pub max_iter: u64,
    /// Convergence tolerance: the largest entry of the gradient, in units of the mean variance of a coordinate; 1e-6 in double
    /// precision and 1e-4 in single unless told.
    pub tol: Option<f64>,
    /// Rows of a batch, of which each gives a few steps of the search; all rows at once unless told.
    pub batch_size: Option<usize>,
    /// Maximum number of epochs.
    pub max_epochs: u64,
    /// Initial features, in the units of `components`; random unless given.
    pub w_init: Option<Vec<Vec<f64>>>,
    /// Subtract the mean.
    pub center: bool,
    /// Divide every column by its standard deviation first.
    pub standardize: bool,
}

impl Default for Rica {
    fn default() -> Self {
        Self {
            n_components: None,
            beta: Beta::default(),
            contrast: Penalty::LogCosh,
            whiten: true,
            unit_norm: UnitNorm::default(),
            max_iter: 1000,
            tol: None,
            batch_size: None,
            max_epochs: 10,
            w_init: None,
            center: true,
            standardize: false,
        }
    }
}

/// The weight of sparsity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Beta {
    /// A number; 0 for reconstruction alone.
    Weight(f64),
    /// By the data: `0.2 / g''(0)` in white coordinates; in others the smaller of `0.1 E||x||` and `0.6` standard deviations along
    /// the last principal direction that has a feature to itself.
    Auto(Automatic),
}

impl Default for Beta {
    fn default() -> Self {
        Beta::Auto(Automatic::Auto)
    }
}

/// Whether features have length 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum UnitNorm {
    /// They have, or they are as long as reconstruction wants them.
    Always(bool),
    /// They have where there are more of them than directions: otherwise some would vanish.
    Auto(Automatic),
}

impl Default for UnitNorm {
    fn default() -> Self {
        UnitNorm::Auto(Automatic::Auto)
    }
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "n_components",
        kind: Kind::Count,
        choices: &[],
        default: "null",
        doc: "How many features to learn, more than there are columns if you like; null for as many as there are directions.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "beta",
        kind: Kind::NumberOrChoice,
        choices: &["auto"],
        default: "\"auto\"",
        doc: "The weight of sparsity against reconstruction. 'auto' is 0.2 / g''(0) in white coordinates (0.2 for 'logcosh', 0.02 \
              for 'smooth-l1'); in others, rows are first divided by the root mean square of their entries, and it is the smaller of \
              0.1 times the mean length of a row and 0.6 times the standard deviation along the last principal direction that has a \
              feature to itself.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "contrast",
        kind: Kind::Choice,
        choices: &["logcosh", "smooth-l1"],
        default: "\"logcosh\"",
        doc: "What measures sparsity: log cosh y, or sqrt(y² + 0.01), which is nearer to the absolute value.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "whiten",
        kind: Kind::Bool,
        choices: &[],
        default: "true",
        doc: "Look at rows in white coordinates, as many as the rows have directions; where rows are fewer than ten times that, as many \
              as there are features, or a tenth of the rows where n_components is null. False for the columns as they are.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "unit_norm",
        kind: Kind::BoolOrChoice,
        choices: &["auto"],
        default: "\"auto\"",
        doc: "Keep every feature at length 1. 'auto' does where there are more features than directions, some of which would \
              otherwise vanish.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "max_iter",
        kind: Kind::Integer,
        choices: &[],
        default: "1000",
        doc: "Maximum number of iterations, without batch_size.",
        python_only: false,
        only: &[&[("batch_size", &["null"])]],
    },
    Setting {
        name: "tol",
        kind: Kind::NumberOrNull,
        choices: &[],
        default: "null",
        doc: "Convergence tolerance: the largest entry of the gradient, in units of the mean variance of a coordinate (1 where they \
              are white); null for 1e-6 in float64 and 1e-4 in float32.",
        python_only: false,
        only: &[&[("batch_size", &["null"])]],
    },
    Setting {
        name: "batch_size",
        kind: Kind::Count,
        choices: &[],
        default: "null",
        doc: "Mini-batch size: five steps are taken on each batch, and the result is the mean over the batches of the last \
              epoch. null: all rows at once.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "max_epochs",
        kind: Kind::Integer,
        choices: &[],
        default: "10",
        doc: "Maximum number of epochs; without batch_size it has no effect.",
        python_only: false,
        only: &[&[("batch_size", &["*"])]],
    },
    Setting {
        name: "w_init",
        kind: Kind::TableOrNull,
        choices: &[],
        default: "null",
        doc: "Initial features, in the units of the components: those of an earlier fit, for example. A model file does not \
              keep them. null: orthonormal features at random, or random ones where there are more of them than directions.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "center",
        kind: Kind::Bool,
        choices: &[],
        default: "true",
        doc: "Subtract the mean.",
        python_only: false,
        only: &[],
    },
    Setting {
        name: "standardize",
        kind: Kind::Bool,
        choices: &[],
        default: "false",
        doc: "Divide every column by its standard deviation first, so that none counts more for its unit.",
        python_only: false,
        only: &[],
    },
];
