//! Element-wise functions with their derivatives: activations of networks, and penalties that make codes
//! sparse.
//!
//! They are shared by all methods. All of them work in place or write to arrays of the caller, in the type of
//! the rows, using the widest vector instructions of the processor.

mod activation;
mod penalty;

pub(crate) use activation::Activation;
pub use activation::ActivationFunction;
pub use penalty::Penalty;
