//! Memory that kernels use again.

/// Buffers that a thread keeps from block to block; what they hold between two calls means nothing.
#[derive(Default)]
pub struct Workspace<T> {
    /// The rows of a block in the layout that kernels need: less their mean, those of weight 0 left out, packed contiguously.
    pub rows: Vec<T>,
    /// Codes of a block, its rows times a matrix, and what is computed beside them, such as scores.
    pub product: Vec<T>,
    /// The values of a nonlinearity at the codes.
    pub nonlinear: Vec<T>,
    /// Coordinates of a block, which a gather then sees as its rows.
    pub coordinates: Vec<T>,
    /// Numbers in double precision: weights of the rows that count, sums over one block.
    pub wide: Vec<f64>,
}
