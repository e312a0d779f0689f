//! Settings of sigma-PCA: names, allowed values, descriptions.

use crate::choices::{Automatic, choices};
use crate::model::{Condition, Counted, Kind, settings};
use crate::neural::nonlinearity::{ActivationFunction, Slope};
use crate::neural::{NONLINEAR as TABLE, Sigma, keys};
use serde::{Deserialize, Serialize};
use serde_json::Value;

settings! {
    /// Settings of [sigma-PCA](super): `SigmaPca { n_components: Some(5), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct SigmaPca {
        /// Number of components: a number, or null for all, `min(n_samples, n_features)`.
        pub n_components: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), by_rows(), null_is_all();
        /// A published variant, by its key or its number from 1 to 24; null for the deterministic solver, or with 'sgd' and 'adam' for
        /// 'ema-scaled-tanh'.
        pub variant: Value = null, Kind::AnyOf(&[Kind::Words(&VARIANTS), Kind::between(1, VARIANTS.len() as u64), Kind::Null]);
        /// The width of `a tanh(z / a)`: about 0.8 for sub-Gaussian sources, 4 for super-Gaussian ones; a number, a list with one for each component,
        /// or 'auto', which chooses between these two for each component from the distribution of its codes; with a variant 'auto' is the variant's
        /// value.
        pub a: Widths = "auto",
            Kind::AnyOf(&[Kind::POSITIVE, Kind::per_component(&Kind::POSITIVE), Kind::AUTO]), such_as("0.8 or 4"),
            only(WITH_WIDTH);
        /// The nonlinearity: 'tanh' is `a tanh(z / a)`, 'hard' clips z at `a`, 'steep' is `a tanh(z)`, 'sign' the sign of z, without `a`; null for
        /// the variant's value, and 'tanh' without a variant.
        pub h: Option<ActivationFunction> = null, Kind::AnyOf(&[Kind::Words(SHAPES), Kind::Null]), only(WITH_NONLINEARITY);
        /// Derivative of h in the gradient: 'true' for the exact one, 'one' for the constant 1 (for super-Gaussian sources only); null for the
        /// variant's value, and 'true' without a variant.
        pub deriv: Option<Slope> = null, Kind::AnyOf(&[Kind::Words(Slope::NAMES), Kind::Null]), only(WITH_NONLINEARITY);
        /// Standard deviations of the trained solvers: those of the mini-batch, an exponential moving average over mini-batches, learned parameters,
        /// or 1; null for the variant's value, and 'ema' without a variant.
        pub sigma: Option<String> = null, Kind::AnyOf(&[Kind::Words(Sigma::NAMES), Kind::Null]), only(STANDARDISED);
        /// Constraint on the components: 'orthonormal', or 'native' for the published fixed point, unit columns that are nearly orthogonal.
        pub constraint: Constraint = "orthonormal", Kind::Words(Constraint::NAMES), only(DETERMINISTIC);
        /// Weight of a variant's additional term: of orthogonality in variants 5, 6, 7, 14 and 17, of sparsity or independence in 19 to 23, of order
        /// in 24; null for the variant's value.
        pub beta: Option<f64> = null, Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]), such_as("0.1"), only(WEIGHTED);
        /// Unit of `beta`: with 'variance' it is multiplied by the mean variance along the components for orthogonality, by the mean length of a row
        /// for sparsity, and by the root of the mean variance of the columns for order, so that results do not depend on units; with 'absolute' it is
        /// used as given, as published; null for 'variance', or for 'absolute' if `tangent=false`.
        pub beta_scale: Option<BetaScale> = null, Kind::AnyOf(&[Kind::Words(BetaScale::NAMES), Kind::Null]), only(WITH_UNIT);
        /// L2 penalty on learned standard deviations (`sigma='train'`), which without it grow without bound; null for the variant's value if it
        /// learns them, else 0.001.
        pub sigma_l2: Option<f64> = null, Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]), such_as("0.001"), only(LEARNED);
        /// Order of the components: by decreasing variance, or as the solver found them.
        pub order: Order = "variance", Kind::Words(Order::NAMES);
        /// Solver: 'gpm' for the generalised power method, without a learning rate, 'sgd' and 'adam' for stochastic gradient descent; 'auto' for
        /// 'gpm' with orthonormal components, for a second-order solver with `constraint='native'`, and for 'adam' with a variant.
        pub solver: Solver = "auto", Kind::Words(Solver::NAMES);
        /// Initial learning rate of the trained solvers; null for 0.01.
        pub learning_rate: Option<f64> = null, Kind::AnyOf(&[Kind::POSITIVE, Kind::Null]), such_as("0.01"), only(TRAINED);
        /// Mini-batch size of the trained solvers; null for 128.
        pub batch_size: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(2), Kind::Null]), only(TRAINED);
        /// Maximum number of epochs of the trained solvers; null for 3, or for more if these have fewer than 3000 steps.
        pub max_epochs: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), counting(Counted::Batches), only(TRAINED);
        /// Maximum number of iterations of the deterministic solvers, each a full pass over the data.
        pub max_iter: u64 = 3000, Kind::at_least(1), only(DETERMINISTIC);
        /// Convergence tolerance of the deterministic solvers, for their residual; null for 1e-8 in double precision and 1e-4 in single ('native':
        /// 1e-3).
        pub tol: Option<f64> = null, Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]), such_as("1e-8"), only(DETERMINISTIC);
        /// Project the gradients of trained solvers onto the tangent space of the unit sphere of each column; without this, adaptive steps are
        /// biased.
        pub tangent: bool = true, Kind::BOOL, only(TRAINED);
        /// Subtract the mean; false for second moments about 0.
        pub center: bool = true, Kind::BOOL;
        /// Divide every column by its standard deviation first, so that results do not depend on units.
        pub standardize: bool = false, Kind::BOOL;
        /// Divide codes by the standard deviation along each component.
        pub whiten: bool = false, Kind::BOOL;
        /// Decoder: 'linear' for the least-squares reconstruction, 'nonlinear' for the model's own, the mean plus `sigma h(y / sigma)` along each
        /// component.
        pub reconstruct: Reconstruct = "linear", Kind::Words(Reconstruct::NAMES);
        /// Fit two disjoint halves of the rows, too, and report the agreement of their components, which takes about as long as the fit itself; null for true if
        /// `n_samples min(4 k, n_features) k` is at most 2^28, for `k` components.
        pub halves: Option<bool> = null, Kind::AnyOf(&[Kind::BOOL, Kind::Null]);
    }
    pub(super) const SETTINGS;
}

/// The width `a` of the nonlinearity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Widths {
    /// Chosen for every component.
    Auto(Automatic),
    /// One for all.
    One(f64),
    /// One for each.
    Each(Vec<f64>),
}

impl From<f64> for Widths {
    fn from(a: f64) -> Self {
        Widths::One(a)
    }
}

choices! {
    /// Constraint on the components.
    #[derive(Default)]
    pub enum Constraint {
        /// Orthonormal up to rounding errors.
        #[default]
        Orthonormal = "orthonormal",
        /// The fixed point of the published loss: of unit norm, and nearly orthogonal.
        Native = "native",
    }
}

choices! {
    /// The unit of a variant's weight `beta`.
    pub enum BetaScale {
        /// That of the data: the mean variance along the components for orthogonality, the mean length of a row for sparsity. Rows that
        /// are multiplied by a constant then have the same axes.
        Variance = "variance",
        /// A pure number, as published.
        Absolute = "absolute",
    }
}

choices! {
    /// The decoder.
    #[derive(Default)]
    pub enum Reconstruct {
        /// The least-squares reconstruction.
        #[default]
        Linear = "linear",
        /// The reconstruction of the published loss, `mean + sigma h(y / sigma) W'`.
        Nonlinear = "nonlinear",
    }
}

choices! {
    /// The order of the components.
    #[derive(Default)]
    pub enum Order {
        /// By decreasing variance.
        #[default]
        Variance = "variance",
        /// As they were found.
        Found = "found",
    }
}

choices! {
    /// The solver.
    #[derive(Default)]
    pub enum Solver {
        /// Determined by the constraint, or `Adam` for a variant.
        #[default]
        Auto = "auto",
        /// Weighted polar steps, for orthonormal components.
        Gpm = "gpm",
        /// Stochastic gradients.
        Sgd = "sgd",
        /// Stochastic gradients with adaptive steps.
        Adam = "adam",
    }
}

/// Keys of the published variants, in order.
const VARIANTS: [&str; 24] = keys(&TABLE);

/// Nonlinearities that reconstruct rows from standardised codes.
const SHAPES: &[&str] = &[
    ActivationFunction::Tanh.name(),
    ActivationFunction::HardTanh.name(),
    ActivationFunction::ScaledTanh.name(),
    ActivationFunction::Sign.name(),
];

/// Conditions for training on mini-batches: the settings of trained solvers have an effect.
const TRAINED: &[&[Condition]] = &[&[("solver", &["\"sgd\"", "\"adam\""])], &[("variant", &["*"])]];
/// Not the variants with a linear reconstruction: these have no nonlinearity to choose, and their codes are not standardised.
const NONLINEAR: &[&str] =
    &["!\"rica\"", "!\"logcosh\"", "!\"skew-symmetric\"", "!\"no-diagonal\"", "!\"no-diagonal-sigma\""];
const WITH_NONLINEARITY: &[&[Condition]] = &[&[("variant", NONLINEAR)]];
/// The sign of a code has no width. One variant divides the values of `h` by their standard deviations, so that the factor `a` of its own, 'steep',
/// has no effect.
const WITH_WIDTH: &[&[Condition]] = &[
    &[("variant", NONLINEAR), ("variant", &["!\"ema-adaptive-tanh\""]), ("h", &["!\"sign\""])],
    &[("variant", &["\"ema-adaptive-tanh\""]), ("h", &["\"tanh\"", "\"hard\""])],
];
/// Conditions for the standard deviations of trained solvers.
const STANDARDISED: &[&[Condition]] = &[
    &[("solver", &["\"sgd\"", "\"adam\""]), ("variant", NONLINEAR)],
    &[("variant", &["*"]), ("variant", NONLINEAR)],
];
/// Variants for which `beta_scale` chooses the unit of the weight.
const WITH_UNIT: &[&[Condition]] = &[&[(
    "variant",
    &[
        "\"trained-latent-symmetric\"",
        "\"trained-latent-asymmetric\"",
        "\"trained-latent-coupled\"",
        "\"ema-latent-coupled\"",
        "\"ema-nested-dropout\"",
        "\"rica\"",
        "\"logcosh\"",
        "\"skew-symmetric\"",
        "\"no-diagonal\"",
        "\"ema-triangular\"",
    ],
)]];
/// Variants with a term that `beta` weighs; that of the last one is a ratio and has no unit.
const WEIGHTED: &[&[Condition]] = &[WITH_UNIT[0], &[("variant", &["\"no-diagonal-sigma\""])]];
/// Conditions for standard deviations that are learned; of a trained fit `sigma` is resolved.
const LEARNED: &[&[Condition]] = &[
    &[("sigma", &["\"train\""]), ("solver", &["\"sgd\"", "\"adam\""]), ("variant", NONLINEAR)],
    &[("sigma", &["\"train\""]), ("variant", &["*"]), ("variant", NONLINEAR)],
];
/// Conditions for the deterministic solvers.
const DETERMINISTIC: &[&[Condition]] = &[&[("solver", &["\"auto\"", "\"gpm\""]), ("variant", &["null"])]];
