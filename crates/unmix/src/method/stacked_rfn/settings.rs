//! Settings: those of a rectified factor network, each one value for all layers or a list of one for each.

use crate::method::rfn::{
    Accept, Center, DeadUnit, DropoutPlace, EStep, Init, InputNoiseKind, LearningRate, MStep, NoiseForm,
    Normalize, PsiMinUnit, Rfn, SETTINGS as ONE,
};
use crate::model::{Kind, Setting};
use serde::{Deserialize, Serialize};

/// A setting of layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PerLayer<V> {
    /// The same for all.
    Same(V),
    /// One for each, the lowest layer first.
    Each(Vec<V>),
}

impl<V> From<V> for PerLayer<V> {
    fn from(value: V) -> Self {
        PerLayer::Same(value)
    }
}

impl<V: Clone> PerLayer<V> {
    /// How many layers it is for, where that is said.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            PerLayer::Same(_) => None,
            PerLayer::Each(list) => Some(list.len()),
        }
    }

    fn of(&self, layer: usize) -> V {
        match self {
            PerLayer::Same(value) => value.clone(),
            PerLayer::Each(list) => list[layer].clone(),
        }
    }
}

macro_rules! layered {
    ($($(#[$about:meta])* $name:ident: $kind:ty,)*) => {
        /// Settings, each one value for all layers or a list of one for each; [`Rfn`] says what they mean.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct StackedRfn {
            $($(#[$about])* pub $name: PerLayer<$kind>,)*
        }

        impl StackedRfn {
            /// The settings of every layer, from those of one.
            pub fn of(one: Rfn) -> Self {
                Self { $($name: one.$name.into(),)* }
            }

            /// The settings of layer `i`.
            pub(super) fn layer(&self, i: usize) -> Rfn {
                Rfn { $($name: self.$name.of(i),)* }
            }

            /// Lengths of the settings that are lists.
            pub(super) fn lengths(&self) -> Vec<(&'static str, usize)> {
                let all = [$((stringify!($name), self.$name.len()),)*];
                all.into_iter().filter_map(|(name, n)| n.map(|n| (name, n))).collect()
            }
        }
    };
}

layered! {
    /// Numbers of units; a list has the number of layers.
    n_components: usize,
    /// How codes are found: "plain".
    e_step: EStep,
    /// What units are divided by.
    normalize: Normalize,
    /// Share of the way that an iteration goes.
    learning_rate: LearningRate,
    /// Maximum number of iterations.
    max_iter: u64,
    /// Convergence tolerance.
    tol: Option<f64>,
    /// Initial loadings.
    init: Init,
    /// Starts, of which the best is kept.
    n_init: u64,
    /// What is subtracted from the columns.
    center: Center,
    /// Least noise variance.
    psi_min: f64,
    /// Unit of `psi_min` and of the start.
    psi_min_unit: PsiMinUnit,
    /// Form of the noise covariance.
    noise: NoiseForm,
    /// How parameters move.
    m_step: MStep,
    /// Prior mean of every unit.
    prior_mean: f64,
    /// Prior variance of every unit.
    prior_cov: f64,
    /// Soft threshold of loadings.
    l1: f64,
    /// Decay of loadings.
    l2: f64,
    /// Largest loading.
    w_max: Option<f64>,
    /// Probability that a code is dropped.
    dropout: f64,
    /// Where codes are dropped.
    dropout_place: DropoutPlace,
    /// Rate of the corruption of rows.
    input_noise: f64,
    /// Kind of the corruption of rows.
    input_noise_kind: InputNoiseKind,
    /// Which codes a cascade accepts.
    accept: Accept,
    /// What becomes of units that are 0 in every row.
    dead_unit: DeadUnit,
    /// Rows of a batch.
    batch_size: Option<usize>,
}

impl Default for StackedRfn {
    fn default() -> Self {
        Self { n_components: PerLayer::Each(vec![512, 256]), ..Self::of(Rfn::default()) }
    }
}

/// Row `I` of the settings of one network, for layers.
struct Row<const I: usize>;

impl<const I: usize> Row<I> {
    const ONE: Kind = ONE[I].kind;
    const BOTH: [Kind; 2] = [Self::ONE, Kind::PerLayer(&Self::ONE)];
    const SETTING: Setting = ONE[I].with_kind(Kind::AnyOf(&Self::BOTH));
}

/// Units of the layers.
const N_COMPONENTS: Setting = Setting::new(
    "n_components",
    Kind::AnyOf(&[Kind::at_least(1), Kind::PerLayer(&Kind::at_least(1))]),
    "[512, 256]",
    "Numbers of units, one for each layer, the lowest first; a number for one layer. Every other setting is one value, or a list of one for \
     each layer.",
)
.by_rows();

/// Every mode has its name, so that the others are refused in the fit, with the reason.
const E_STEP: Setting = Setting::new(
    "e_step",
    Kind::AnyOf(&Row::<1>::BOTH),
    "\"plain\"",
    "Algorithm of the E-step, 'plain' in every layer: 'cascade' and 'coordinate' are refused, because their codes are solutions of least \
     squares problems, which no layer of a network computes.",
);

macro_rules! rows {
    ($($i:literal)*) => { &[N_COMPONENTS, E_STEP, $(Row::<$i>::SETTING,)*] };
}

pub(super) const SETTINGS: &[Setting] = rows![2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24];

const _: () = assert!(ONE.len() == 25 && SETTINGS.len() == 25);
