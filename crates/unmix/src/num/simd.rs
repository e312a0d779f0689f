//! Plain loops, compiled for the widest instructions that the processor has.

/// Instructions that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instructions {
    /// Vectors of 64 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Vectors of 32 bytes, and fused products.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Whatever else there is.
    Other,
}

/// Those of the current processor.
#[inline(always)]
pub(crate) fn instructions() -> Instructions {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        // Each examines a word that the first call filled in.
        if vector_bytes() >= 64
            && has!("avx512f")
            && has!("avx512bw")
            && has!("avx512cd")
            && has!("avx512dq")
            && has!("avx512vl")
        {
            return Instructions::Avx512;
        }
        if has!("avx2") && has!("fma") {
            return Instructions::Avx2;
        }
    }
    Instructions::Other
}

/// The widest vectors that kernels may use: 32 bytes where the environment variable `UNMIX_MAX_VECTOR_BYTES` is 32, so that a processor
/// with wider ones can be timed as one without. Read once; the bits of results depend on it, as they do on the processor.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn vector_bytes() -> u8 {
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
    static BYTES: AtomicU8 = AtomicU8::new(0);
    #[cold]
    fn read() -> u8 {
        let narrow = std::env::var("UNMIX_MAX_VECTOR_BYTES").is_ok_and(|value| value.trim() == "32");
        let bytes = if narrow { 32 } else { 64 };
        BYTES.store(bytes, Relaxed);
        bytes
    }
    match BYTES.load(Relaxed) {
        0 => read(),
        bytes => bytes,
    }
}

/// Runs `loops` with them. Additions and products are the same ones in the same order, so that the bits are, too: a compiler
/// that may not reorder sums can only do several columns at once.
///
/// Closures need `#[inline(always)]`: one that is called and not inlined is compiled for the least that processors have, which makes
/// long loops two to four times slower.
#[inline(always)]
pub(crate) fn widest<R>(loops: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if instructions() == Instructions::Avx512 {
        // SAFETY: support by the processor was checked.
        return unsafe { with_avx512(loops) };
    }
    pulp::Arch::new().dispatch(loops)
}

/// Numbers that a loop over arrays takes at a time: without a check for overlap, so that the compiler vectorises whole arrays of
/// them, whichever length those have.
pub(crate) const CELL: usize = 16;

/// The next of them; zeros beyond the end.
#[inline(always)]
pub(crate) fn cell<T: Copy + Default>(x: &[T]) -> [T; CELL] {
    match x.first_chunk() {
        Some(x) => *x,
        None => {
            let mut out = [T::default(); CELL];
            out.iter_mut().zip(x).for_each(|(o, x)| *o = *x);
            out
        }
    }
}

/// Writes as many of them as there is room for.
#[inline(always)]
pub(crate) fn put<T: Copy>(cell: [T; CELL], to: &mut [T]) {
    match to.first_chunk_mut() {
        Some(to) => *to = cell,
        None => to.copy_from_slice(&cell[..to.len()]),
    }
}

/// Measured: tanh of many numbers takes half the time that it takes with vectors of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn with_avx512<R>(loops: impl FnOnce() -> R) -> R {
    loops()
}
