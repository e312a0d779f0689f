//! Settings of sparse autoencoders: names, allowed values, descriptions.

use crate::autoencoder::{Activation, DeadUnit};
use crate::choices::{Automatic, choices};
use crate::model::{Axis, Condition, Counted, Kind, settings};
use crate::num::Matrix;
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of a [sparse autoencoder](super): `SparseAutoencoder { n_components: Some(512), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct SparseAutoencoder {
        /// Number of units; null for four times the number of columns.
        pub n_components: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), by_rows();
        /// Activation, which selects codes from pre-activations: 'topk' keeps the `l0` largest of a row, 'batch-topk' the largest of a batch, and for
        /// new rows those above a threshold; 'relu' keeps positive ones, 'jumprelu' those above a threshold of each unit, 'gated' magnitudes whose
        /// gate is positive; the last three have a penalty.
        pub activation: Activation = "topk",
            Kind::Words(Activation::NAMES),
            of_other_words("the sparse autoencoder with an l1 penalty is 'relu', and alpha is its weight");
        /// Number of active units per row; 'auto' is 32, or an eighth of the number of units if that is less. It is the maximum with 'topk' and the
        /// mean with 'batch-topk'; with the other activations the weight of the penalty is adjusted to reach it, and the report gives the number
        /// reached.
        pub l0: L0 = "auto", Kind::AnyOf(&[Kind::at_least(1), Kind::AUTO]), such_as("32"), only(COUNTED);
        /// Weight of the penalty relative to `1/2 ||x - decode(z)||²`, where rows are divided by their scale if `normalize` is true. The penalty is
        /// the sum of the codes, for 'jumprelu' their number, for 'gated' the sum of the rectified gates. Instead of `l0`, which for
        /// 'jumprelu' still determines the initial thresholds; refused with 'topk' and 'batch-topk', which have no penalty.
        pub alpha: Option<f64> = null, Kind::AnyOf(&[Kind::POSITIVE, Kind::Null]), such_as("0.1");
        /// Initial atoms: 'random' for standard normal entries, 'data' for random centred rows, with which different seeds agree better but the residual is
        /// larger.
        pub init: Init = "random", Kind::Words(Init::NAMES);
        /// Initial atoms instead of `init`, as rows of any norm: an array, or a fitted model, whose components are taken; or the path of either.
        pub tensor dict_init: Option<Matrix<f64>> = null, Kind::AnyOf(&[Kind::table(Axis::Components, Axis::Features), Kind::Null]);
        /// Divide centred rows by one number during training, so that their mean norm is the square root of the number of columns. Codes and
        /// parameters of the model are in the units of the rows.
        pub normalize: bool = true, Kind::BOOL;
        /// Treatment of dead units, which no row activates for an epoch, or for a million rows: with 'auxk' they reconstruct the residual of the
        /// others by an auxiliary loss; with 'resample' they are reinitialised at rows with large reconstruction errors, after each of the first 70 %
        /// of the epochs; 'keep' does nothing. 'auto' is 'auxk' for 'topk' and 'batch-topk', 'resample' for the others.
        pub dead_unit: DeadUnit = "auto", Kind::Words(DeadUnit::NAMES);
        /// Peak learning rate of Adam; it increases over the first 5 % of the steps and decreases over the last 20 %. 'auto' is 0.003, multiplied by
        /// `sqrt(1536 / n_components)` if there are more than 1536 units.
        pub learning_rate: LearningRate = "auto", Kind::AnyOf(&[Kind::POSITIVE, Kind::AUTO]), such_as("0.001");
        /// Mini-batch size.
        pub batch_size: usize = 256, Kind::at_least(1);
        /// Maximum number of epochs.
        pub max_epochs: u64 = 20, Kind::at_least(1), counting(Counted::Batches);
        /// Codes are compressed sparse rows of scipy.
        python sparse_output = false, Kind::BOOL;
    }
    pub(super) const SETTINGS;
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

choices! {
    /// Initial atoms.
    #[derive(Default)]
    pub enum Init {
        /// Gaussian numbers.
        #[default]
        Random = "random",
        /// Random rows minus their mean.
        Data = "data",
    }
}

/// Cases in which `l0` has an effect: with a given penalty it determines the initial thresholds only.
const COUNTED: &[&[Condition]] = &[&[("alpha", &["null"])], &[("activation", &["\"jumprelu\""])]];
