//! Single-layer neural PCA, linear and nonlinear: rules that find axes by variance, and by independence where variance does not
//! distinguish axes. One record of axes, one field, tables of what was published.
//!
//! A rule is data ([`Spec`]): which terms its loss has. One function turns a record, weights and rows into the half-gradient
//! `G`; everything else, from the linear rules of the 1980s to sigma-PCA, is a row of a table ([`LINEAR`], [`NONLINEAR`]).
//! Adding a published variant is adding a row.
//!
//! Every term is one of two products, `G = X'E/n + W K`: `E` has a number for each row and column, `K` is `k x k`. Where only
//! second moments enter, `E = Y A`, and `X'E/n = C W A`: then rows are not needed, and the fixed point is found from their
//! covariance alone ([`flow`]).
//!
//! Nonlinear rules converge where their gradients balance, and two deterministic solvers find such points without a learning rate:
//! [`gpm`] for orthonormal components, [`native`] for the published ones, which are so nearly.
//!
//! Source of the axes: "sigma-PCA: a unified neural model for linear and nonlinear principal component analysis"
//! (arXiv 2311.13580), in its corrected forms where it errs; the page docs/neural-pca.md lists these.

pub mod auto;
mod columns;
mod constraint;
pub mod evidence;
mod field;
pub mod flow;
pub mod gpm;
mod learner;
mod linear;
mod linear_table;
pub mod native;
mod nonlinear_table;
pub mod nonlinearity;
pub mod pairs;
pub mod separation;
mod spec;
pub mod start;
mod table;
mod train;
mod turned;

pub(crate) use field::MEAN_VARIANCE;
pub use field::{ExtraGradients, Field, State};
pub use linear::{LinearGradient, linear_gradient};
pub use linear_table::{LINEAR, LINEAR_MORE};
pub use nonlinear_table::{NONLINEAR, NONLINEAR_MORE};
pub use nonlinearity::{Shape, Slope};
pub use spec::{
    Anchor, Constraint, DecoderScale, Lambda, Mean, Mix, Nested, Orthogonality, Sigma, Space, Spec, Tail,
};
pub use table::{Order, Step, TableEntry, find_row};
pub(crate) use train::train_by_widths;
pub use train::{Trained, Training, TrainingStart, train};
