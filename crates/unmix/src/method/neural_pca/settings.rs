//! NeuralPCA's settings: names, allowed values, descriptions.

use crate::choices::choices;
use crate::model::{Condition, Counted, Kind, settings};
use crate::neural::{LINEAR, keys};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [neural PCA](super): `NeuralPca { n_components: Some(10), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct NeuralPca {
        /// Number of components: a number, or null for all, `min(n_samples, n_features)`.
        pub n_components: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), by_rows(), null_is_all();
        /// The learning rule, by its key or its number from 1 to 14; 'autoencoder' and 'oja' find the principal subspace only, the others the
        /// principal axes.
        pub variant: VariantName = "gha", Kind::AnyOf(&[Kind::between(1, KEYS.len() as u64), Kind::Words(&KEYS)]);
        /// 'auto' follows the rule to a stationary point with full batches, which needs second moments only; 'sgd' and 'adam' use mini-batches, as
        /// published, with a learning rate that decays to 0.
        pub solver: Solver = "auto", Kind::Words(Solver::NAMES), only(ITERATED);
        /// Initial weights: random orthonormal directions, or the principal axes, at which most rules are stationary.
        pub init: Init = "random", Kind::Words(Init::NAMES), only(ITERATED);
        /// Divide codes by the standard deviation along each component.
        pub whiten: bool = false, Kind::BOOL;
        /// Subtract the mean; false for directions of the largest second moment about 0.
        pub center: bool = true, Kind::BOOL;
        /// Maximum number of full-batch steps. Axes whose variances are close to each other, or much smaller than the first, need many.
        pub max_iter: u64 = 20000, Kind::at_least(0), only(STATIONARY);
        /// Convergence tolerance: the norm of half the gradient of the rule, relative to that of the covariance times the weights.
        pub tol: f64 = 1e-8, Kind::NON_NEGATIVE, only(STATIONARY);
        /// Initial learning rate of 'sgd' and 'adam', for rows divided by the root of their mean square.
        pub learning_rate: f64 = 0.01, Kind::POSITIVE, only(TRAINED);
        /// Mini-batch size of 'sgd' and 'adam'.
        pub batch_size: usize = 128, Kind::at_least(2), only(TRAINED);
        /// Number of epochs of 'sgd' and 'adam'.
        pub max_epochs: u64 = 20, Kind::at_least(1), counting(Counted::Batches), only(TRAINED);
    }
    pub(super) const SETTINGS;
}

choices! {
    /// Solver of a rule.
    #[derive(Default)]
    pub enum Solver {
        /// Full batches, on second moments, to convergence.
        #[default]
        Auto = "auto",
        /// Mini-batches, gradient descent with momentum.
        Sgd = "sgd",
        /// Mini-batches, Adam.
        Adam = "adam",
    }
}

/// A published variant, by its key or by its number in the table, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum VariantName {
    /// By key.
    Key(String),
    /// By number, as in the paper's appendix.
    Number(u64),
}

impl VariantName {
    /// The key or the number, as text.
    pub fn key(&self) -> String {
        match self {
            VariantName::Key(key) => key.clone(),
            VariantName::Number(number) => number.to_string(),
        }
    }
}

impl From<&str> for VariantName {
    fn from(key: &str) -> Self {
        VariantName::Key(key.into())
    }
}

choices! {
    /// Initial weights of a rule.
    #[derive(Default)]
    pub enum Init {
        /// Random orthonormal directions.
        #[default]
        Random = "random",
        /// The principal axes.
        Pca = "pca",
    }
}

const KEYS: [&str; 14] = keys(&LINEAR);

/// Variants with iterations: 'svd' is a closed form.
const ITERATED: &[&[Condition]] = &[&[("variant", &["!\"svd\""])]];
/// Conditions for full batches.
const STATIONARY: &[&[Condition]] = &[&[("solver", &["\"auto\""]), ("variant", &["!\"svd\""])]];
/// Conditions for mini-batches.
const TRAINED: &[&[Condition]] = &[&[("solver", &["\"sgd\"", "\"adam\""]), ("variant", &["!\"svd\""])]];
