//! Settings: those of a rectified factor network, each as one value for all layers or a list with one value for each.

use crate::method::rfn::{
    Accept, Center, DeadUnit, DropoutPlace, EStep, Init, InputNoiseKind, LearningRate, MStep, NoiseForm,
    Normalize, PsiMinUnit, Rfn, SETTINGS as ONE,
};
use crate::model::{Kind, Setting};
use serde::{Deserialize, Serialize};

/// A setting of all layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PerLayer<V> {
    /// The same value for all.
    Same(V),
    /// One value for each, the lowest layer first.
    Each(Vec<V>),
}

impl<V> From<V> for PerLayer<V> {
    fn from(value: V) -> Self {
        PerLayer::Same(value)
    }
}

impl<V: Clone> PerLayer<V> {
    /// Number of layers, if it is a list.
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
        /// Settings, each as one value for all layers or a list with one value for each; see [`Rfn`] for their meaning.
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
    /// Numbers of units; the length of the list is the number of layers.
    n_components: usize,
    /// Algorithm of the E-step: "plain".
    e_step: EStep,
    /// Normalisation of the units.
    normalize: Normalize,
    /// Learning rate: fraction of the full update.
    learning_rate: LearningRate,
    /// Maximum number of iterations.
    max_iter: u64,
    /// Convergence tolerance.
    tol: Option<f64>,
    /// Initial loadings.
    init: Init,
    /// Number of starts, of which the best is kept.
    n_init: u64,
    /// Offset that is subtracted from the columns.
    center: Center,
    /// Lower bound on the noise variance.
    psi_min: f64,
    /// Unit of `psi_min` and of the start.
    psi_min_unit: PsiMinUnit,
    /// Form of the noise covariance.
    noise: NoiseForm,
    /// Direction of the M-step.
    m_step: MStep,
    /// Prior mean of every unit.
    prior_mean: f64,
    /// Prior variance of every unit.
    prior_cov: f64,
    /// Soft threshold of loadings.
    l1: f64,
    /// Weight decay of loadings.
    l2: f64,
    /// Upper bound on absolute loadings.
    w_max: Option<f64>,
    /// Dropout rate of codes.
    dropout: f64,
    /// Order of dropout and normalisation.
    dropout_place: DropoutPlace,
    /// Amount of input noise.
    input_noise: f64,
    /// Kind of input noise.
    input_noise_kind: InputNoiseKind,
    /// Acceptance criterion of a cascade.
    accept: Accept,
    /// Treatment of units that are 0 in every row.
    dead_unit: DeadUnit,
    /// Mini-batch size.
    batch_size: Option<usize>,
}

impl Default for StackedRfn {
    fn default() -> Self {
        Self { n_components: PerLayer::Each(vec![512, 256]), ..Self::of(Rfn::default()) }
    }
}

/// Entry `I` of the settings of one network, adapted to layers.
struct Row<const I: usize>;

impl<const I: usize> Row<I> {
    const ONE: Kind = ONE[I].kind;
    const BOTH: [Kind; 2] = [Self::ONE, Kind::PerLayer(&Self::ONE)];
    const SETTING: Setting = ONE[I].with_kind(Kind::AnyOf(&Self::BOTH));
}

/// Numbers of units of the layers.
const N_COMPONENTS: Setting = Setting::new(
    "n_components",
    Kind::AnyOf(&[Kind::at_least(1), Kind::PerLayer(&Kind::at_least(1))]),
    "[512, 256]",
    "Numbers of units, one for each layer, the lowest first; a single number for one layer. Every other setting is one value, or a list with \
     one for each layer.",
)
.by_rows();

/// All algorithms are allowed here; the fit refuses those that are not possible, with the reason.
const E_STEP: Setting = Setting::new(
    "e_step",
    Kind::AnyOf(&Row::<1>::BOTH),
    "\"plain\"",
    "Algorithm of the E-step, 'plain' in every layer: 'cascade' and 'coordinate' are refused, because their codes are solutions of \
     least-squares problems, which a network layer does not compute.",
);

macro_rules! rows {
    ($($i:literal)*) => { &[N_COMPONENTS, E_STEP, $(Row::<$i>::SETTING,)*] };
}

pub(super) const SETTINGS: &[Setting] = rows![2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24];

const _: () = assert!(ONE.len() == 25 && SETTINGS.len() == 25);
