//! Rectified factor networks: factor analysis whose posterior means are constrained to be non-negative, each unit with second moment
//! 1.
//!
//! ```text
//! x = center + W h + e      h ~ N(xi 1, T I)      e ~ N(0, Psi)
//! ```
//!
//! for rows of `m` columns and `l` units; `W` is `m x l`. One iteration is a pass over the rows ([`codes`]), the scales of the units and
//! the objective from its sums ([`statistics`]), and new parameters ([`step`]). E-steps with a monotone objective keep the codes of all
//! rows in memory ([`stored_codes`], [`cascade`], [`coordinate`]). Quantities that depend on the parameters only are in [`posterior`]; dropout and
//! input noise in [`corruption`]; the signs of initial loadings are chosen by third moments ([`cubes`]).
//!
//! D.-A. Clevert, A. Mayr, T. Unterthiner & S. Hochreiter (2015), Rectified factor networks, NIPS.

pub(crate) mod cascade;
pub(crate) mod codes;
pub(crate) mod coordinate;
pub(crate) mod corruption;
pub(crate) mod cubes;
pub(crate) mod posterior;
pub(crate) mod statistics;
pub(crate) mod step;
pub(crate) mod stored_codes;

pub use codes::{CodeSums, GatherCodes};
pub use corruption::Corruption;
pub use cubes::GatherCubes;
pub use posterior::{Noise, Parameters, Posterior, Prior};
pub use statistics::{Normalisation, Statistics};
pub use step::{MStep, Step};
pub use stored_codes::{GatherStoredCodes, StoredCodes};
