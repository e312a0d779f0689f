//! Single-layer neural PCA, linear and nonlinear: learning rules that find axes by variance, and by
//! independence where variance does not distinguish axes.
//!
//! A rule is specified by the terms of its loss ([`Spec`]). One function computes half the gradient, `G`,
//! from a specification, weights and rows; the published rules, from the linear ones of the 1980s to
//! sigma-PCA, are entries of tables ([`LINEAR`], [`NONLINEAR`]). To add a published variant, add an entry.
//!
//! Every term is one of two products, `G = X'E/n + W K`: `E` is `n x k`, `K` is `k x k`. If the rule depends
//! on second moments only, `E = Y A`, and `X'E/n = C W A`: then the fixed point is computed from the
//! covariance alone ([`flow`]).
//!
//! Two deterministic solvers find the fixed points of nonlinear rules without a learning rate: [`gpm`] for
//! orthonormal components, [`native`] for the published ones, which are nearly orthonormal.
//!
//! Source of the terms and their options: "sigma-PCA: a unified neural model for linear and nonlinear principal component analysis"
//! (arXiv 2311.13580), with corrections, which docs/neural-pca.md lists.

pub(crate) mod auto;
mod columns;
mod constraint;
pub(crate) mod evidence;
mod field;
pub mod flow;
pub(crate) mod gpm;
mod learner;
mod linear;
mod linear_table;
pub mod native;
mod nonlinear_table;
pub(crate) mod nonlinearity;
pub(crate) mod pairs;
mod rotated_pairs;
pub(crate) mod separation;
mod spec;
pub(crate) mod start;
mod table;
mod train;

pub(crate) use field::MEAN_VARIANCE;
pub use field::{Field, State};
pub(crate) use linear::{LinearGradient, linear_gradient};
pub use linear_table::{LINEAR, LINEAR_MORE};
pub use nonlinear_table::{NONLINEAR, NONLINEAR_MORE};
pub use nonlinearity::{ActivationFunction, Slope};
pub use spec::{Anchor, Constraint, DecoderScale, Lambda, Mean, Mix, Orthogonality, Sigma, Space, Spec};
pub(crate) use spec::{Nested, Tail};
pub use table::{Order, TableEntry};
pub(crate) use table::{find_row, keys};
pub(crate) use train::train_by_widths;
pub use train::{Trained, Training, TrainingStart, train};
