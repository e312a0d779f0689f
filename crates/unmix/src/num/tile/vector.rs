//! Vector operations of the tiles.

/// A vector register.
pub(super) trait Vector<T>: Copy {
    /// Number of lanes.
    const LANES: usize;
    /// Maximum number of rows of a tile, and its maximum width in vectors: limited by the registers.
    const ROWS: usize;
    const COLUMNS: usize;
    /// A mask that selects lanes.
    type Some: Copy;
    fn zero() -> Self;
    /// The mask of the first `n` lanes.
    fn first(n: usize) -> Self::Some;
    /// # Safety
    /// `LANES` numbers are valid at `from`; the processor has these instructions (required by every function here).
    unsafe fn load(from: *const T) -> Self;
    unsafe fn splat(x: T) -> Self;
    unsafe fn times_plus(self, b: Self, c: Self) -> Self;
    /// # Safety
    /// `LANES` numbers are writable at `to`.
    unsafe fn store(self, to: *mut T);
    /// # Safety
    /// Half a vector is valid at `from`: it fills both halves.
    unsafe fn load_half_twice(from: *const T) -> Self;
    /// The first half of `a` and the second of `b`.
    ///
    /// # Safety
    /// None besides the common one.
    unsafe fn halves(a: Self, b: Self) -> Self;
    /// Loads the selected lanes and sets the others to zero; memory of the others is not read.
    ///
    /// # Safety
    /// The selected numbers are valid at `from`.
    unsafe fn load_some(from: *const T, some: Self::Some) -> Self;
    /// # Safety
    /// The selected numbers are writable at `to`.
    unsafe fn store_some(self, to: *mut T, some: Self::Some);
}
