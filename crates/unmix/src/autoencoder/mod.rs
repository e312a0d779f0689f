//! Sparse autoencoders: a code of each row by one layer of units, few of which are active, and the row as a sum of their atoms.
//!
//! ```text
//! u = W (h - b) + b_enc        pre-activations, the only dense product
//! z = activation(u)            few numbers that are not 0
//! h ~ z D + b                  atoms of norm 1, the rows of D
//! ```
//!
//! Everything else touches active units alone: `pass.rs` computes codes, residuals and gradients of a batch, `learner.rs` is what the
//! trainer trains, `steer.rs` holds the number of active units, `dead.rs` brings back units that never are. Work is cut into slices of
//! rows and of units whose lengths do not depend on the number of threads, so the bits do not, either.

mod dead;
mod encoder;
mod evaluate;
mod learner;
mod parameters;
mod pass;
mod rows;
mod select;
mod steer;
mod top;
mod units;

pub use encoder::{Gating, SparseGate};
pub use evaluate::{Evaluation, Squares, evaluate, near_duplicates};
pub use learner::{AutoencoderLearner, AutoencoderState, Training};
pub use parameters::{Parameters, random_atoms};
pub use pass::{Coded, Pass, Penalty, Terms};
pub use steer::Steering;
pub use top::TopRows;

use serde::{Deserialize, Serialize};

/// What makes codes of pre-activations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Activation {
    /// `max(u, 0)`, with a penalty on the sum of the codes.
    Relu,
    /// The largest pre-activations of a row, where they are positive (Gao et al. 2024).
    #[default]
    Topk,
    /// The largest of a whole batch; of new rows, those above a threshold (Bussmann et al. 2024).
    BatchTopk,
    /// `u` where it is above the threshold of the unit, with a penalty on their number (Rajamanoharan et al. 2024b).
    Jumprelu,
    /// One set of pre-activations decides which units are active, another how much (Rajamanoharan et al. 2024a).
    Gated,
}

impl Activation {
    /// Whether the number of active units is a setting, and not the outcome of a penalty.
    pub fn counts(self) -> bool {
        matches!(self, Activation::Topk | Activation::BatchTopk)
    }
}

/// What is done about units that no row activates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DeadUnit {
    /// `Auxk` where active units are counted, `Resample` where they are penalised.
    #[default]
    Auto,
    /// A second loss: dead units represent what the others leave (Gao et al. 2024).
    Auxk,
    /// A dead unit begins anew at a row that is represented badly (Bricken et al. 2023).
    Resample,
    /// Nothing.
    Keep,
}

#[cfg(test)]
mod tests;
