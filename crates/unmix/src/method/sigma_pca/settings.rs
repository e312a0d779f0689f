//! Settings of sigma-PCA.

use crate::model::{Condition, Kind, Setting};
use crate::neural::nonlinearity::{Shape, Slope};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// sigma-PCA: axes by variance and by independence. See the [module](super).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SigmaPca {
    /// Number of components; `None` for all, `min(n, p)`.
    pub n_components: Option<usize>,
    /// A published variant, by key or number; `None` for the deterministic solver.
    pub variant: Value,
    /// The width of the nonlinearity.
    pub a: Widths,
    /// The nonlinearity; `None` for `a tanh(z / a)`, or the variant's own.
    pub h: Option<Shape>,
    /// Its derivative; `None` for the true one, or the variant's own.
    pub deriv: Option<Slope>,
    /// Source of the standard deviations; `None` for the covariance, or the variant's value.
    pub sigma: Option<String>,
    /// Strictly orthonormal components, or the published fixed point.
    pub constraint: Constraint,
    /// Weight of a variant's further term, of orthogonality or of sparsity; `None` for its own.
    pub beta: Option<f64>,
    /// In which units that counts; `None` for those of the variance, and the published ones where `tangent` is false.
    pub beta_scale: Option<BetaScale>,
    /// L2 penalty on learned standard deviations; `None` for the variant's value.
    pub sigma_l2: Option<f64>,
    /// The order of the components.
    pub order: Order,
    /// The solver.
    pub solver: Solver,
    /// Step length of the trained solvers.
    pub learning_rate: Option<f64>,
    /// Mini-batch size of the trained solvers.
    pub batch_size: Option<usize>,
    /// Maximum number of epochs of the trained solvers.
    pub max_epochs: Option<usize>,
    /// Iterations of the deterministic solvers at most.
    pub max_iter: u64,
    /// The residual at which they stop; `None` for 1e-8 in double precision and 1e-4 in single.
    pub tol: Option<f64>,
    /// Remove the component of the gradient along each column before an adaptive step.
    pub tangent: bool,
    /// Subtract the mean.
    pub center: bool,
    /// Divide every column by its standard deviation first.
    pub standardize: bool,
    /// Divide codes by the standard deviation along each component.
    pub whiten: bool,
    /// The decoder.
    pub reconstruct: Reconstruct,
    /// Fit halves of the rows, too, and report their agreement; `None`: if it takes about a second at most.
    pub halves: Option<bool>,
}

impl Default for SigmaPca {
    fn default() -> Self {
        Self {
            n_components: None,
            variant: Value::Null,
            a: Widths::Auto(Auto::Auto),
            h: None,
            deriv: None,
            sigma: None,
            constraint: Constraint::Orthonormal,
            beta: None,
            beta_scale: None,
            sigma_l2: None,
            order: Order::Variance,
            solver: Solver::Auto,
            learning_rate: None,
            batch_size: None,
            max_epochs: None,
            max_iter: 1000,
            tol: None,
            tangent: true,
            center: true,
            standardize: false,
            whiten: false,
            reconstruct: Reconstruct::Linear,
            halves: None,
        }
    }
}

/// The width `a` of the nonlinearity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Widths {
    /// Chosen for every component.
    Auto(Auto),
    /// One for all.
    One(f64),
    /// One for each.
    Each(Vec<f64>),
}

/// The string for "chosen for every component".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Auto {
    /// The string `"auto"`.
    Auto,
}

impl From<f64> for Widths {
    fn from(a: f64) -> Self {
        Widths::One(a)
    }
}

/// Constraint on the components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Constraint {
    /// To rounding.
    #[default]
    Orthonormal,
    /// As the published loss leaves them: of unit length, and nearly orthogonal.
    Native,
}

/// The units of a variant's weight `beta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BetaScale {
    /// Those of the data: orthogonality in units of the mean variance along the components, sparsity in units of the mean length
    /// of a row. Rows times a constant then lead to the same axes.
    Variance,
    /// As published: a number.
    Absolute,
}

impl BetaScale {
    /// As in files and in Python.
    pub(super) fn name(self) -> &'static str {
        match self {
            BetaScale::Variance => "variance",
            BetaScale::Absolute => "absolute",
        }
    }
}

/// The decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reconstruct {
    /// The least-squares reconstruction.
    #[default]
    Linear,
    /// The reconstruction of the published loss, `mean + sigma h(y / sigma) W'`.
    Nonlinear,
}

/// The order of the components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Order {
    /// By decreasing variance.
    #[default]
    Variance,
    /// As they were found.
    Found,
}

/// The solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Solver {
    /// By the constraint, or as the variant was published.
    #[default]
    Auto,
    /// Weighted polar steps, for orthonormal components.
    Gpm,
    /// Stochastic gradients.
    Sgd,
    /// Stochastic gradients with adaptive steps.
    Adam,
}

/// Keys of the published variants, in order.
pub(super) const VARIANTS: [&str; 24] = [
    "conventional",
    "trained-sigma-full",
    "trained-sigma",
    "trained-latent-linear",
    "trained-latent-symmetric",
    "trained-latent-asymmetric",
    "trained-latent-coupled",
    "ema-tanh",
    "ema-scaled-tanh",
    "ema-unit-slope",
    "ema-hard-tanh",
    "ema-adaptive-tanh",
    "ema-constant-tanh",
    "ema-latent-coupled",
    "ema-trained-a",
    "ema-deflation",
    "ema-nested-dropout",
    "ema-linear-reconstruction",
    "rica",
    "logcosh",
    "skew-symmetric",
    "no-diagonal",
    "no-diagonal-sigma",
    "ema-triangular",
];

/// Trained by batches: the settings of trained solvers have an effect.
const TRAINED: &[&[Condition]] = &[&[("solver", &["\"sgd\"", "\"adam\""])], &[("variant", &["*"])]];
/// Solved without batches.
const DETERMINISTIC: &[&[Condition]] = &[&[("solver", &["\"auto\"", "\"gpm\""]), ("variant", &["null"])]];

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
        Kind::AnyOf(&[Kind::Words(&VARIANTS), Kind::between(1, VARIANTS.len() as u64), Kind::Null]),
        "null",
        "A published variant, by its key or its number from 1 to 24; null for the deterministic solver, or with 'sgd' and 'adam' for \
         'ema-scaled-tanh'.",
    ),
    Setting::new(
        "a",
        Kind::AnyOf(&[Kind::POSITIVE, Kind::List(&Kind::POSITIVE), Kind::Words(&["auto"])]),
        "\"auto\"",
        "The width of `a tanh(z / a)`: about 0.8 for sub-Gaussian sources, 4 for super-Gaussian ones; a number, a list with one for each \
         component, or 'auto', which chooses between these two for each component from the distribution of its codes; with a \
         variant 'auto' is the variant's value.",
    )
    .such_as("0.8 or 4"),
    Setting::new(
        "h",
        Kind::AnyOf(&[Kind::Words(&["tanh", "hard", "steep", "sign"]), Kind::Null]),
        "null",
        "The nonlinearity: 'tanh' is `a tanh(z / a)`, 'hard' clips z at `a`, 'steep' is `a tanh(z)`, 'sign' the sign of z; null \
         for the variant's value, and 'tanh' without a variant.",
    ),
    Setting::new(
        "deriv",
        Kind::AnyOf(&[Kind::Words(&["true", "one"]), Kind::Null]),
        "null",
        "Derivative of h in the gradient: 'true' for the exact one, 'one' for the constant 1 (for super-Gaussian sources only); \
         null for the variant's value, and 'true' without a variant.",
    ),
    Setting::new(
        "sigma",
        Kind::AnyOf(&[Kind::Words(&["batch", "ema", "train", "one"]), Kind::Null]),
        "null",
        "Standard deviations of the trained solvers: those of the mini-batch, an exponential moving average over mini-batches, \
         learnt parameters, or 1; null for the variant's value, and 'ema' without a variant.",
    )
    .only(TRAINED),
    Setting::new(
        "constraint",
        Kind::Words(&["orthonormal", "native"]),
        "\"orthonormal\"",
        "'orthonormal' for strictly orthonormal components, 'native' for the published fixed point: unit columns, nearly orthogonal.",
    ),
    Setting::new(
        "beta",
        Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]),
        "null",
        "Weight of a variant's additional term: of orthogonality in variants 5, 6, 7, 14 and 17, of sparsity or independence in \
         19 to 23, of order in 24; null for the variant's value.",
    )
    .such_as("0.1"),
    Setting::new(
        "beta_scale",
        Kind::AnyOf(&[Kind::Words(&["variance", "absolute"]), Kind::Null]),
        "null",
        "'variance': `beta` is multiplied by the mean variance along the components where it weighs orthogonality, by the mean length of a \
         row where it weighs sparsity, and by the root of the mean variance of the columns where it weighs order, so that units do not \
         matter; 'absolute': it is a number, as published; null for 'variance', and for 'absolute' where `tangent=false`.",
    ),
    Setting::new(
        "sigma_l2",
        Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]),
        "null",
        "L2 penalty on learnt standard deviations (`sigma='train'`), which grow without bound at 0; null for the variant's value \
         where it learns them, else 0.001.",
    )
    .such_as("0.001"),
    Setting::new(
        "order",
        Kind::Words(&["variance", "found"]),
        "\"variance\"",
        "Order of the components: by decreasing variance, or as the solver found them.",
    ),
    Setting::new(
        "solver",
        Kind::Words(&["auto", "gpm", "sgd", "adam"]),
        "\"auto\"",
        "'gpm' for the generalised power method, without a learning rate, 'sgd' and 'adam' for stochastic gradients; 'auto' for \
         'gpm' where components \
         are orthonormal, for a second-order solver where `constraint='native'`, and for 'adam' with a variant.",
    ),
    Setting::new(
        "learning_rate",
        Kind::AnyOf(&[Kind::POSITIVE, Kind::Null]),
        "null",
        "Initial learning rate of the trained solvers; null for 0.01.",
    )
    .such_as("0.01")
    .only(TRAINED),
    Setting::new(
        "batch_size",
        Kind::AnyOf(&[Kind::at_least(2), Kind::Null]),
        "null",
        "Mini-batch size of the trained solvers; null for 128.",
    )
    .only(TRAINED),
    Setting::new(
        "max_epochs",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Maximum number of epochs of the trained solvers; null for 3, or as many as make 3000 steps.",
    )
    .only(TRAINED),
    Setting::new(
        "max_iter",
        Kind::at_least(1),
        "1000",
        "Maximum number of iterations of the deterministic solvers, each a full pass over the data.",
    )
    .only(DETERMINISTIC),
    Setting::new(
        "tol",
        Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]),
        "null",
        "Convergence tolerance of the deterministic solvers, for their residual; null for 1e-8 in double precision and 1e-4 in single \
         ('native': 1e-3).",
    )
    .such_as("1e-8")
    .only(DETERMINISTIC),
    Setting::new(
        "tangent",
        Kind::Bool,
        "true",
        "Project the gradients of trained solvers onto the tangent space of the unit sphere of each column; without this, \
         adaptive steps are biased.",
    )
    .only(TRAINED),
    Setting::new(
        "center",
        Kind::Bool,
        "true",
        "Subtract the mean; false for second moments about 0.",
    ),
    Setting::new(
        "standardize",
        Kind::Bool,
        "false",
        "Divide every column by its standard deviation first, so that results do not depend on units.",
    ),
    Setting::new("whiten", Kind::Bool, "false", "Divide codes by the standard deviation along each component."),
    Setting::new(
        "reconstruct",
        Kind::Words(&["linear", "nonlinear"]),
        "\"linear\"",
        "Decoder: 'linear' for the least-squares reconstruction, 'nonlinear' for the model's own, the mean plus `sigma h(y / \
         sigma)` along each component.",
    ),
    Setting::new(
        "halves",
        Kind::AnyOf(&[Kind::Bool, Kind::Null]),
        "null",
        "Fit two disjoint halves of the rows as well and report how far their components agree, for about the time of one more fit; null \
         where that takes about a second at most.",
    ),
];
