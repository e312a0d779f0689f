//! Properties that hold for every method, on every path of its solvers.

mod bad;
mod bits;
pub(crate) mod cases;
mod cheap;
mod covered;
mod effect;
mod equivariant;
mod incremental;
mod kinds;
mod limits;
mod moved;
mod optimal;
mod rank;
mod resume;
mod settings;
mod unseen;
mod variants;
mod weights;

use cases::{Case, cases_by_variance, chosen_methods, every_case};
