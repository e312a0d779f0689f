//! Sparse autoencoders: a code of each row by one layer of units, few of which are active, and a reconstruction as the weighted sum
//! of their atoms.
//!
//! ```text
//! u = W (h - b) + b_enc        pre-activations, the only dense product
//! z = activation(u)            few numbers that are not 0
//! h ~ z D + b                  atoms of norm 1, the rows of D
//! ```
//!
//! Everything else uses active units only, but where many are active (`dense.rs`): `pass.rs` computes codes, residuals and gradients of a
//! batch, `learner.rs` defines the learner, `penalty_control.rs` controls the number of active units, `dead.rs` resamples dead units. Work is divided into slices of rows and of
//! units whose lengths do not depend on the number of threads, so the bits do not, either.

mod dead;
mod dense;
mod encoder;
mod evaluate;
mod learner;
mod parameters;
mod pass;
mod penalty_control;
mod rows;
mod select;
mod top;
mod units;

pub use encoder::{Gating, SparseGate};
pub use evaluate::Evaluation;
pub(crate) use evaluate::{Squares, evaluate, evaluate_until, near_duplicates};
pub(crate) use learner::{AutoencoderLearner, AutoencoderState, Training};
pub(crate) use parameters::Parameters;
pub use parameters::random_atoms;
pub(crate) use pass::{Pass, Penalty, Terms};
pub(crate) use penalty_control::PenaltyControl;
pub use top::TopRows;

use crate::choices::choices;

choices! {
    /// Activation: the map from pre-activations to codes.
    #[derive(Default)]
    pub enum Activation {
        /// `max(u, 0)`, with a penalty on the sum of the codes.
        Relu = "relu",
        /// The largest pre-activations of a row, if they are positive (Gao et al. 2024).
        #[default]
        Topk = "topk",
        /// The largest pre-activations of a whole batch; for new rows, those above a threshold (Bussmann et al. 2024).
        BatchTopk = "batch-topk",
        /// `u` if it is above the threshold of the unit, with a penalty on the number of active units (Rajamanoharan et al. 2024b).
        Jumprelu = "jumprelu",
        /// One set of pre-activations selects the active units, another gives their magnitudes (Rajamanoharan et al. 2024a).
        Gated = "gated",
    }
}

impl Activation {
    /// Whether the number of active units is a setting, and not the result of a penalty.
    pub fn counts(self) -> bool {
        matches!(self, Activation::Topk | Activation::BatchTopk)
    }
}

choices! {
    /// Treatment of dead units, which no row activates.
    #[derive(Default)]
    pub enum DeadUnit {
        /// `Auxk` if the number of active units is set, `Resample` if it is penalised.
        #[default]
        Auto = "auto",
        /// An auxiliary loss: dead units reconstruct the residual of the others (Gao et al. 2024).
        Auxk = "auxk",
        /// A dead unit is reinitialised at a row with a large reconstruction error (Bricken et al. 2023).
        Resample = "resample",
        /// Nothing.
        Keep = "keep",
    }
}

#[cfg(test)]
mod tests;
