//! Memory that kernels use again.

/// Buffers that a thread keeps from block to block; what they hold between two calls means nothing.
#[derive(Default)]
pub struct Workspace<T> {
    /// Numbers in the type of the rows, such as a centred block.
    pub rows: Vec<T>,
    /// More of them, such as a product.
    pub product: Vec<T>,
    /// And more.
    pub more: Vec<T>,
    /// Coordinates of a block, which a gather then sees as its rows.
    pub coordinates: Vec<T>,
    /// Numbers in double precision.
    pub wide: Vec<f64>,
}
