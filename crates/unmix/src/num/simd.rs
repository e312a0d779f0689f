//! Plain loops, compiled for the widest instructions that the processor has.

/// Runs `loops` with them. Additions and products are the same ones in the same order, so that the bits are, too: a compiler
/// that may not reorder sums can only do several columns at once.
///
/// Closures need `#[inline(always)]`: one that is called and not inlined is compiled for the least that processors have, which makes
/// long loops two to four times slower.
#[inline(always)]
pub(crate) fn widest<R>(loops: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(loops)
}
