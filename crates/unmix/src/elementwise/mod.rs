//! Functions of one number that are applied to every entry of a table, with their derivatives: activations of networks, and
//! penalties that make codes sparse.
//!
//! They belong to no method. All of them work in place or into tables that the caller keeps, in the type of the rows, by the widest
//! instructions that the processor has.

mod activation;
mod penalty;

pub use activation::{Activation, Shape};
pub use penalty::Penalty;
