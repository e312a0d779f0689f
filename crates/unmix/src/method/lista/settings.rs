//! Settings of LISTA: names, allowed values, descriptions.

use crate::choices::{Automatic, choices};
use crate::model::{Axis, Condition, Counted, Kind, settings};
use crate::num::Matrix;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

settings! {
    /// Settings of [LISTA](super), the dictionary, and codes for supervised training:
    /// `Lista { n_layers: 8, ..Lista::of(atoms) }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Lista {
        /// The atoms as rows, of any norm; their order and signs are kept. An array, or a fitted model, whose components are taken; or the path of
        /// either.
        pub tensor dictionary: Option<Matrix<f64>> = required, Kind::table(Axis::Components, Axis::Features);
        /// Target codes of the rows of the fit, for supervised training.
        pub tensor codes: Option<Matrix<f64>> = null, Kind::AnyOf(&[Kind::table(Axis::Samples, Axis::Components), Kind::Null]), with_rows();
        /// Weight of the l1 penalty relative to half the squared error. 'auto' is a tenth of the mean over rows of the largest inner product with
        /// an atom, in absolute value unless `positive_code`.
        pub alpha: PenaltyWeight = "auto", Kind::AnyOf(&[Kind::POSITIVE, Kind::AUTO]), such_as("0.1");
        /// Learned parameters of a layer. 'lista': the dictionary, the step length and the threshold of a step of ISTA; 'gregor-lecun': two matrices
        /// and a threshold, shared by all layers; 'cp': the encoder matrix and the threshold; 'alista': the step length and the threshold, with an
        /// encoder matrix in closed form; 'step': the step length alone.
        pub cell: LayerType = "lista", Kind::Words(LayerType::NAMES);
        /// Number of layers, each with one soft-thresholding operation.
        pub n_layers: usize = 16, Kind::between(1, 1000);
        /// All layers share one matrix; each layer still has its own step length and threshold.
        pub tied: bool = false, Kind::BOOL, only(BY_LAYER);
        /// Support selection: in layer l (counted from 1), the largest entries of a code, l times this percentage of all and at most 10 times this
        /// percentage, are not shrunk if they exceed the threshold. The published value is 1.2.
        pub support_selection: f64 = 0.0, Kind::number(Bound::Included(0.0), Bound::Included(10.0)), such_as("1.2"), only(SELECTS);
        /// Parameters are accepted only if the loss on a fixed set of at most 4096 rows has not increased; otherwise the previous ones are restored,
        /// and the learning rate is halved.
        pub monotone: bool = true, Kind::BOOL, only(IN_TRAINING);
        /// Number of FISTA steps after the last layer, starting from its code.
        pub refine: usize = 0, Kind::at_least(0);
        /// Constrain codes to be non-negative.
        pub positive_code: bool = false, Kind::BOOL;
        /// Learning rate of Adam for matrices, in units of the norm of the atoms; that of step lengths and thresholds is 10 times larger, in units of
        /// their initial values. For a cell without matrices it is the rate of these. 'auto' is 1e-3, 1e-2 for 'alista', 5e-2 for 'step'.
        pub learning_rate: LearningRate = "auto", Kind::AnyOf(&[Kind::POSITIVE, Kind::AUTO]), such_as("1e-3"), only(IN_TRAINING);
        /// Mini-batch size.
        pub batch_size: usize = 256, Kind::at_least(1), only(IN_TRAINING);
        /// Maximum number of epochs, over all stages of the training; 0 keeps the initial parameters.
        pub max_epochs: u64 = 50, Kind::at_least(0), counting(Counted::Batches);
    }
    pub(super) const SETTINGS;
}

impl Lista {
    /// With the atoms in the rows of `dictionary`, and the defaults of all settings.
    pub fn of(dictionary: Matrix<f64>) -> Self {
        Self { dictionary: Some(dictionary), ..Self::default() }
    }
}

choices! {
    /// The learned parameters of a layer.
    #[derive(Default)]
    pub enum LayerType {
        /// The dictionary, the step length and the threshold.
        #[default]
        Lista = "lista",
        /// The matrices of Gregor & LeCun 2010 and a threshold, shared by all layers.
        GregorLecun = "gregor-lecun",
        /// The encoder matrix and the threshold: Chen et al. 2018.
        Cp = "cp",
        /// The step length and the threshold, with an encoder matrix in closed form: Liu et al. 2019.
        Alista = "alista",
        /// The step length alone: Ablin et al. 2019.
        Step = "step",
    }
}

impl LayerType {
    /// Whether matrices are learned.
    pub(super) fn has_matrices(self) -> bool {
        !matches!(self, LayerType::Alista | LayerType::Step)
    }

    /// Whether every layer has its own matrix unless `tied`.
    pub(super) fn by_layer(self) -> bool {
        matches!(self, LayerType::Lista | LayerType::Cp)
    }

    /// Whether a layer has a step length.
    pub(super) fn has_steps(self) -> bool {
        matches!(self, LayerType::Lista | LayerType::Alista | LayerType::Step)
    }

    /// Whether entries may be exempt from thresholding.
    pub(super) fn selects(self) -> bool {
        matches!(self, LayerType::Cp | LayerType::Alista)
    }
}

/// The weight of the penalty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PenaltyWeight {
    /// A number.
    Number(f64),
    /// `"auto"`: a tenth of the mean over rows of the largest inner product with an atom, in absolute value unless codes are non-negative.
    Auto(Automatic),
}

impl Default for PenaltyWeight {
    fn default() -> Self {
        Self::Auto(Automatic::Auto)
    }
}

/// The learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum LearningRate {
    /// A number.
    Number(f64),
    /// `"auto"`: depends on the cell.
    Auto(Automatic),
}

impl Default for LearningRate {
    fn default() -> Self {
        Self::Auto(Automatic::Auto)
    }
}

impl LearningRate {
    /// The rate of matrices, or that of step lengths and thresholds if the cell has no matrices.
    pub(super) fn of(self, cell: LayerType) -> f64 {
        match (self, cell) {
            (LearningRate::Number(rate), _) => rate,
            (_, LayerType::Alista) => 1e-2,
            (_, LayerType::Step) => 5e-2,
            _ => 1e-3,
        }
    }
}

const BY_LAYER: &[&[Condition]] = &[&[("cell", &["\"lista\"", "\"cp\""])]];
const IN_TRAINING: &[&[Condition]] = &[&[("max_epochs", &["!0"])]];
const SELECTS: &[&[Condition]] = &[&[("cell", &["\"cp\"", "\"alista\""])]];
