//! The vector operations that tiles need.

/// Numbers that one instruction works on.
pub(super) trait Vector<T>: Copy {
    /// How many.
    const LANES: usize;
    /// Rows of a tile, and its greatest width in vectors: as the registers have room.
    const ROWS: usize;
    const COLUMNS: usize;
    /// Which numbers of a vector are meant.
    type Some: Copy;
    fn zero() -> Self;
    /// The first `n` of a vector.
    fn first(n: usize) -> Self::Some;
    /// # Safety
    /// `LANES` numbers lie at `from`; the processor has these instructions (true of every function here).
    unsafe fn load(from: *const T) -> Self;
    unsafe fn splat(x: T) -> Self;
    unsafe fn times_plus(self, b: Self, c: Self) -> Self;
    /// # Safety
    /// There is room for `LANES` numbers at `to`.
    unsafe fn store(self, to: *mut T);
    /// # Safety
    /// Half a vector lies at `from`: it fills both halves.
    unsafe fn load_half_twice(from: *const T) -> Self;
    /// The first half of `a` and the second of `b`.
    ///
    /// # Safety
    /// None but that of all.
    unsafe fn halves(a: Self, b: Self) -> Self;
    /// Zeros where numbers are not meant, which need not be there.
    ///
    /// # Safety
    /// Those that are meant lie at `from`.
    unsafe fn load_some(from: *const T, some: Self::Some) -> Self;
    /// # Safety
    /// There is room for those that are meant at `to`.
    unsafe fn store_some(self, to: *mut T, some: Self::Some);
}
