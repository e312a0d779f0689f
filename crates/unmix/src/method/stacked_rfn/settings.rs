//! Settings: those of a rectified factor network, each as one value for all layers or a list with one value for each.

use crate::method::rfn::{
    Accept, Center, DeadUnit, DropoutPlace, EStep, Init, InputNoiseKind, LearningRate, MStep, NoiseForm,
    Normalize, PsiMinUnit, Rfn, SETTINGS as ONE,
};
use crate::model::{Kind, Setting, entry, settings};
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

/// The functions that name every setting.
macro_rules! by_name {
    ($($name:ident)*) => {
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

/// The settings, from the names and types of those that differ from the settings of one network only in that they may be lists.
macro_rules! layered {
    ($($name:ident: $type:ty,)*) => {
        settings! {
            /// Settings, each as one value for all layers or a list with one value for each; see [`Rfn`] for their meaning.
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[serde(default)]
            pub struct StackedRfn {
                /// Numbers of units, one for each layer, the lowest first; a single number for one layer. Every other setting is one value, or a list
                /// with one for each layer.
                pub n_components: PerLayer<usize> = [512, 256],
                    Kind::AnyOf(&[Kind::at_least(1), Kind::per_layer(&Kind::at_least(1))]), by_rows();
                // All algorithms are allowed here; the fit refuses those that are not possible, with the reason.
                /// Algorithm of the E-step, 'plain' in every layer: 'cascade' and 'coordinate' are refused, because their codes are solutions of
                /// least-squares problems, which a network layer does not compute.
                pub e_step: PerLayer<EStep> = "plain", entry(LAYERED, "e_step").kind;
                $(
                    #[doc = concat!("`", stringify!($name), "` of [one network](Rfn), or a list with one for each layer.")]
                    pub $name: PerLayer<$type>, as in LAYERED;
                )*
            }
            pub(super) const SETTINGS;
        }

        by_name! { n_components e_step $($name)* }
    };
}

layered! {
    normalize: Normalize,
    learning_rate: LearningRate,
    max_iter: u64,
    tol: Option<f64>,
    init: Init,
    n_init: u64,
    center: Center,
    psi_min: f64,
    psi_min_unit: PsiMinUnit,
    noise: NoiseForm,
    m_step: MStep,
    prior_mean: f64,
    prior_cov: f64,
    l1: f64,
    l2: f64,
    w_max: Option<f64>,
    dropout: f64,
    dropout_place: DropoutPlace,
    input_noise: f64,
    input_noise_kind: InputNoiseKind,
    accept: Accept,
    dead_unit: DeadUnit,
    batch_size: Option<usize>,
}

/// The kinds of every setting: a value of one network, and a list of them.
const KINDS: &[[Kind; 2]] = &{
    let mut kinds = [[Kind::Null; 2]; ONE.len()];
    let mut i = 0;
    while i < ONE.len() {
        kinds[i] = [ONE[i].kind, Kind::per_layer(&ONE[i].kind)];
        i += 1;
    }
    kinds
};

/// The settings of one network, adapted to layers.
const LAYERED: &[Setting] = &{
    let mut settings = [ONE[0]; ONE.len()];
    let mut i = 0;
    while i < ONE.len() {
        settings[i] = ONE[i].with_kind(Kind::AnyOf(&KINDS[i]));
        i += 1;
    }
    settings
};
