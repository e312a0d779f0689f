//! NeuralPCA's settings: names, allowed values, descriptions.

use crate::model::{Condition, Counted, Kind, Setting};
use crate::neural::LINEAR;
use serde::{Deserialize, Serialize};

/// Settings of [neural PCA](super): `NeuralPca { n_components: Some(10), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NeuralPca {
    /// Number of components; `None` for all.
    pub n_components: Option<usize>,
    /// The learning rule.
    pub variant: VariantName,
    /// Full batches to the stationary point of the rule, or mini-batches as published.
    pub solver: Solver,
    /// Initial weights.
    pub init: Init,
    /// Scale codes to unit variance.
    pub whiten: bool,
    /// Subtract the mean of every column.
    pub center: bool,
    /// Maximum number of full-batch steps.
    pub max_iter: u64,
    /// The residual `||G|| / ||CW||` at which a rule counts as converged.
    pub tol: f64,
    /// Initial learning rate of `sgd` and `adam`.
    pub learning_rate: f64,
    /// Mini-batch size of `sgd` and `adam`.
    pub batch_size: usize,
    /// Number of epochs of `sgd` and `adam`.
    pub max_epochs: u64,
}

impl Default for NeuralPca {
    fn default() -> Self {
        Self {
            n_components: None,
            variant: VariantName::Key("gha".into()),
            solver: Solver::Auto,
            init: Init::Random,
            whiten: false,
            center: true,
            max_iter: 20_000,
            tol: 1e-8,
            learning_rate: 0.01,
            batch_size: 128,
            max_epochs: 20,
        }
    }
}

/// Solver of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Solver {
    /// Full batches, on second moments, to convergence.
    #[default]
    Auto,
    /// Mini-batches, gradient descent with momentum.
    Sgd,
    /// Mini-batches, Adam.
    Adam,
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

/// Initial weights of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Init {
    /// Random orthonormal directions.
    #[default]
    Random,
    /// The principal axes.
    Pca,
}

const KEYS: [&str; 14] = {
    let mut keys = [""; 14];
    let mut i = 0;
    while i < 14 {
        keys[i] = LINEAR[i].key;
        i += 1;
    }
    keys
};

/// Variants with iterations: 'svd' is a closed form.
const ITERATED: &[&[Condition]] = &[&[("variant", &["!\"svd\""])]];
/// Conditions for full batches.
const STATIONARY: &[&[Condition]] = &[&[("solver", &["\"auto\""]), ("variant", &["!\"svd\""])]];
/// Conditions for mini-batches.
const TRAINED: &[&[Condition]] = &[&[("solver", &["\"sgd\"", "\"adam\""]), ("variant", &["!\"svd\""])]];

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "n_components",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Number of components: a number, or null for all, `min(n_samples, n_features)`.",
    )
    .by_rows(),
    Setting::new(
        "variant",
        Kind::AnyOf(&[Kind::between(1, KEYS.len() as u64), Kind::Words(&KEYS)]),
        "\"gha\"",
        "The learning rule, by its key or its number from 1 to 14; 'autoencoder' and 'oja' find the principal subspace only, the others the \
         principal axes.",
    ),
    Setting::new(
        "solver",
        Kind::Words(&["auto", "sgd", "adam"]),
        "\"auto\"",
        "'auto' follows the rule to a stationary point with full batches, which needs second moments only; 'sgd' and 'adam' use \
         mini-batches, as published, with a learning rate that decays to 0.",
    )
    .only(ITERATED),
    Setting::new(
        "init",
        Kind::Words(&["random", "pca"]),
        "\"random\"",
        "Initial weights: random orthonormal directions, or the principal axes, at which most rules are stationary.",
    )
    .only(ITERATED),
    Setting::new("whiten", Kind::Bool, "false", "Divide codes by the standard deviation along each component."),
    Setting::new(
        "center",
        Kind::Bool,
        "true",
        "Subtract the mean; false for directions of the largest second moment about 0.",
    ),
    Setting::new(
        "max_iter",
        Kind::at_least(0),
        "20000",
        "Maximum number of full-batch steps. Axes whose variances are close to each other, or much smaller than the first, need many.",
    )
    .only(STATIONARY),
    Setting::new(
        "tol",
        Kind::NON_NEGATIVE,
        "1e-8",
        "Convergence tolerance: the norm of half the gradient of the rule, relative to that of the covariance times the weights.",
    )
    .only(STATIONARY),
    Setting::new(
        "learning_rate",
        Kind::POSITIVE,
        "0.01",
        "Initial learning rate of 'sgd' and 'adam', for rows divided by the root of their mean square.",
    )
    .only(TRAINED),
    Setting::new("batch_size", Kind::at_least(2), "128", "Mini-batch size of 'sgd' and 'adam'.")
        .only(TRAINED),
    Setting::new("max_epochs", Kind::at_least(1), "20", "Number of epochs of 'sgd' and 'adam'.")
    .counting(Counted::Batches)
        .only(TRAINED),
];
