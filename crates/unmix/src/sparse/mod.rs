//! Codes of rows in a given dictionary: the lasso and orthogonal matching pursuit, row by row, with a duality
//! gap for every code.
//!
//! ```text
//! P(z) = 1/2 ||x - z A||² + alpha ||z||_1        A: atoms are rows, n_atoms x n_features
//! ```
//!
//! How to use it:
//!
//! ```text
//! let atoms = Atoms::<T>::new(&matrix);          // once for a dictionary: Gram matrix, norms; O(n_atoms² n_features)
//! let lasso = Lasso::of(alpha);
//! lasso.code(&atoms, rows, codes, &mut work);    // `codes` holds the initial codes, for example zeros
//! // Objective, duality gap, ..., in double precision:
//! measure(&atoms, (alpha, lasso.positive), rows, codes, &mut measures, &mut work.checked);
//! ```
//!
//! * [`Lasso::code`] codes a block of rows on the calling thread; [`Lasso::code_all`] does so on the threads of the pool that it is
//!   called on. Both read the start from `codes`, and a row has the same bits in any block and for any number of threads.
//! * [`StoppingRule::UpTo`] stops at the tolerance; [`StoppingRule::Passes`] makes a given number of passes over all atoms, in their order,
//!   from the initial codes: none of them increases `P`.
//! * [`Omp::code`] and [`Omp::code_all`] are orthogonal matching pursuit, up to a number of atoms or down to a squared error.
//! * [`Proximal`] is ISTA and FISTA (a given number of steps from a start), [`Lars`] the homotopy in alpha.
//! * [`measure`] certifies any codes: the gap is computed from a recomputed residual in double precision.
//!
//! Atoms may have any norm, including zero (their code is 0), and keep their order and signs; of duplicates, only the first has a
//! non-zero code. Rows with missing cells use [`Atoms::restricted`], the dictionary restricted to the observed cells of a row. Buffers
//! are in [`Work`], one for each thread.

mod alternating;
mod atoms;
mod constraint;
mod dead;
mod gap;
mod init;
mod ksvd;
mod lars;
mod lasso;
mod newton;
mod omp;
mod online;
mod palm;
mod passes;
mod proximal;
mod rows;
mod set;

pub(crate) use alternating::Alternating;
pub use atoms::Atoms;
pub use constraint::AtomNorm;
pub(crate) use constraint::{AtomSet, coherence, norm};
pub use dead::DeadUnit;
pub(crate) use dead::{Worst, WorstRow};
pub use gap::{Checked, Measure, lasso_gap, measure};
pub use init::Init;
pub(crate) use init::{InitSource, chosen};
pub(crate) use ksvd::Ksvd;
pub(crate) use lars::Lars;
pub use lasso::{Lasso, StoppingRule};
pub(crate) use omp::Omp;
pub(crate) use online::{BATCHES_BETWEEN_SEARCHES, Online, OnlineState, largest, largest_of_each};
pub(crate) use palm::{PreparedAtoms, Problem};
pub use proximal::Proximal;
pub use rows::Work;

#[cfg(test)]
mod tests;
