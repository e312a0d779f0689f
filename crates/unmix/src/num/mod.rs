//! Dense linear algebra: the only module that uses the linear-algebra library.
//!
//! Kernels run on the calling thread; only the sweep is multithreaded ([`Rows::sweep`](crate::Rows::sweep)). Factorisations get a
//! nominal parallelism that depends on the size of the matrix alone, because their bits depend on it.

pub(crate) mod draws;
mod dual;
pub mod factor;
pub(crate) mod gmres;
pub(crate) mod kernel;
mod matrix;
pub(crate) mod null;
pub(crate) mod order;
pub(crate) mod packed_weights;
mod panels;
pub(crate) mod parallel;
mod plan;
pub(crate) mod polar;
mod polynomial;
pub(crate) mod products;
pub mod random;
mod real;
pub(crate) mod registers;
pub(crate) mod simd;
mod stored;
pub(crate) mod tanh;
pub(crate) mod threads;
mod tile;
pub(crate) mod top;
mod tridiagonal;
mod values;
mod workspace;

pub(crate) use dual::dual;
pub(crate) use dual::inverse;
pub use dual::pseudo_inverse;
pub(crate) use matrix::transpose;
pub use matrix::{Block, Matrix};
pub(crate) use panels::{Panels, pack, pack_scaled, pack_transposed};
pub use plan::Plan;
pub use real::{Dtype, Real};
pub(crate) use real::{as_type, as_type_mut};
pub(crate) use simd::{dot, widest};
pub(crate) use stored::{FillProgress, fill, fill_at_once};
pub use stored::{Lines, Stored};
pub(crate) use tile::Terms;
pub use values::Values;
pub use workspace::Workspace;
