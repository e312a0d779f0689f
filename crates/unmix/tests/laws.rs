//! Properties that hold for every method, on every path of its solvers.

mod bad;
mod bits;
pub(crate) mod cases;
mod cheap;
mod covered;
mod effect;
mod incremental;
mod limits;
mod moved;
mod optimal;
mod rank;
mod resume;
mod settings;
mod unseen;
mod weights;

use cases::{Case, cases_by_variance, every_case};
