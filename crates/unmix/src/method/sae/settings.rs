//! Settings of sparse autoencoders: names, allowed values, descriptions.

use crate::autoencoder::{Activation, DeadUnit};
use crate::method::pca::Automatic;
use crate::model::{Condition, Counted, Kind, Setting};
use crate::num::Matrix;
use serde::{Deserialize, Serialize};

/// Settings of a [sparse autoencoder](super): `SparseAutoencoder { n_components: Some(512), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SparseAutoencoder {
    /// Number of units; `None` for four times the number of columns.
    pub n_components: Option<usize>,
    /// Activation: the map from pre-activations to codes.
    pub activation: Activation,
    /// Number of active units per row.
    pub l0: L0,
    /// Weight of the penalty, instead of `l0`.
    pub alpha: Option<f64>,
    /// Initial atoms.
    pub init: Init,
    /// Initial atoms instead of `init`, `n_components x n_features`. Not a setting, but a tensor.
    #[serde(skip)]
    pub dict_init: Option<Matrix<f64>>,
    /// Whether rows are divided by one scale, such that the mean norm of the centred rows is the square root of the number of
    /// columns.
    pub normalize: bool,
    /// Treatment of dead units.
    pub dead_unit: DeadUnit,
    /// Learning rate of Adam.
    pub learning_rate: LearningRate,
    /// Mini-batch size.
    pub batch_size: usize,
    /// Maximum number of epochs.
    pub max_epochs: u64,
}

impl Default for SparseAutoencoder {
    fn default() -> Self {
        Self {
            n_components: None,
            activation: Activation::default(),
            l0: L0::default(),
            alpha: None,
            init: Init::default(),
            dict_init: None,
            normalize: true,
            dead_unit: DeadUnit::default(),
            learning_rate: LearningRate::default(),
            batch_size: 256,
            max_epochs: 20,
        }
    }
}

/// Number of active units per row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum L0 {
    /// 32, or an eighth of the number of units if that is less.
    Auto(Automatic),
    /// This number.
    Number(usize),
}

impl Default for L0 {
    fn default() -> Self {
        L0::Auto(Automatic::Auto)
    }
}

/// The learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum LearningRate {
    /// 3e-3, multiplied by `sqrt(1536 / n_components)` if there are more than 1536 units.
    Auto(Automatic),
    /// This rate.
    Number(f64),
}

impl Default for LearningRate {
    fn default() -> Self {
        LearningRate::Auto(Automatic::Auto)
    }
}

/// Initial atoms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Init {
    /// Gaussian numbers.
    #[default]
    Random,
    /// Random rows minus their mean.
    Data,
}

/// Activations for which `l0` has an effect: it determines initial thresholds, too.
const COUNTED: &[&[Condition]] =
    &[&[("alpha", &["null"])], &[("activation", &["\"topk\"", "\"batch-topk\"", "\"jumprelu\""])]];

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "n_components",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Number of units; null for four times the number of columns.",
    )
    .by_rows(),
    Setting::new(
        "activation",
        Kind::Words(&["relu", "topk", "batch-topk", "jumprelu", "gated"]),
        "\"topk\"",
        "Activation, which selects codes from pre-activations: 'topk' keeps the `l0` largest of a row, 'batch-topk' the largest of a batch, and for new \
         rows those above a threshold; 'relu' keeps positive ones, 'jumprelu' those above a threshold of each unit, 'gated' magnitudes whose gate is \
         positive; the last three have a penalty.",
    )
    .of_other_words("the sparse autoencoder with an l1 penalty is 'relu', and alpha is its weight"),
    Setting::new(
        "l0",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Words(&["auto"])]),
        "\"auto\"",
        "Number of active units per row; 'auto' is 32, or an eighth of the number of units if that is less. It is the maximum with 'topk' and the mean with \
         'batch-topk'; with the other activations the weight of the penalty is adjusted to reach it, and the report gives the number reached.",
    )
    .such_as("32")
    .only(COUNTED),
    Setting::new(
        "alpha",
        Kind::AnyOf(&[Kind::POSITIVE, Kind::Null]),
        "null",
        "Weight of the penalty relative to `1/2 ||x - decode(z)||²`, where rows are divided by their scale if `normalize` is true. The penalty is the sum of \
         the codes, for 'jumprelu' their number, for 'gated' the sum of the rectified gates. Instead of `l0`, and not for 'topk' and 'batch-topk'.",
    )
    .such_as("0.1"),
    Setting::new(
        "init",
        Kind::Words(&["random", "data"]),
        "\"random\"",
        "Initial atoms: 'random' for Gaussian numbers, 'data' for random centred rows, with which different seeds agree better but the residual is larger.",
    ),
    Setting::new(
        "dict_init",
        Kind::AnyOf(&[Kind::Table("(n_components, n_features)"), Kind::Null]),
        "null",
        "Initial atoms instead of `init`, as rows of any norm. Or a fitted model, or the path of one or of an array: its components.",
    )
    .tensor(),
    Setting::new(
        "normalize",
        Kind::Bool,
        "true",
        "Divide centred rows by one number during training, so that their mean norm is the square root of the number of columns. Codes and parameters of the \
         model are in the units of the rows.",
    ),
    Setting::new(
        "dead_unit",
        Kind::Words(&["auto", "auxk", "resample", "keep"]),
        "\"auto\"",
        "Treatment of dead units, which no row activates for an epoch, or for a million rows: with 'auxk' they reconstruct the residual of the others by \
         an auxiliary loss; with 'resample' they are reinitialised at rows with large reconstruction errors, after each of the first 70 % of the \
         epochs; 'keep' does nothing. 'auto' is 'auxk' for 'topk' and 'batch-topk', 'resample' for the others.",
    ),
    Setting::new(
        "learning_rate",
        Kind::AnyOf(&[Kind::POSITIVE, Kind::Words(&["auto"])]),
        "\"auto\"",
        "Peak learning rate of Adam; it increases over the first 5 % of the steps and decreases over the last 20 %. 'auto' is 0.003, multiplied by \
         `sqrt(1536 / n_components)` if there are more than 1536 units.",
    )
    .such_as("0.001"),
    Setting::new("batch_size", Kind::at_least(1), "256", "Mini-batch size."),
    Setting::new("max_epochs", Kind::at_least(1), "20", "Maximum number of epochs.")
    .counting(Counted::Batches),
    Setting::new("sparse_output", Kind::Bool, "false", "Codes are compressed sparse rows of scipy.").python_only(),
];
