//! Reusable buffers of kernels.

/// Buffers that a thread keeps from block to block; their contents between two calls are undefined.
#[derive(Default)]
pub struct Workspace<T> {
    /// The rows of a block in the layout that kernels need: centred, without those of weight 0, packed contiguously.
    pub rows: Vec<T>,
    /// Codes of a block, its rows times a matrix, and quantities computed from them, such as scores.
    pub product: Vec<T>,
    /// The values of a nonlinearity at the codes.
    pub nonlinear: Vec<T>,
    /// Coordinates of a block, which a gather of coordinates takes as its rows.
    pub coordinates: Vec<T>,
    /// Numbers in double precision: non-zero weights of the rows, sums over one block.
    pub wide: Vec<f64>,
}
