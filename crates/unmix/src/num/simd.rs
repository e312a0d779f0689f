//! Plain loops, compiled for the widest vector instructions of the processor.

use super::Real;

/// Instruction sets for which loops are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instructions {
    /// Vectors of 64 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Vectors of 32 bytes, and fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Two vectors of 16 bytes at a time, and fused multiply-add: every processor of this architecture has them.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Any other. Constructed nowhere on an architecture whose every processor has one of those above.
    #[cfg_attr(target_arch = "aarch64", allow(dead_code))]
    Other,
}

/// The instruction set of the current processor.
#[inline(always)]
pub(crate) fn instructions() -> Instructions {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        // Each reads a cached word that the first call has filled.
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
    #[cfg(target_arch = "aarch64")]
    return Instructions::Neon;
    #[cfg(not(target_arch = "aarch64"))]
    Instructions::Other
}

/// Maximum width of the vectors in kernels: 32 bytes if the environment variable `UNMIX_MAX_VECTOR_BYTES` is 32, so that timings on a
/// processor with wider vectors can be compared with those on one without. Read once; the bits of results depend on it, as they do on the processor.
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

/// Runs `loops` compiled for these instructions. Additions and products are the same and in the same order, so the bits are the same,
/// too: without reordering sums, the compiler can only vectorise over columns.
///
/// Closures need `#[inline(always)]`: one that is not inlined is compiled for the baseline instruction set, which makes long loops
/// slower.
#[inline(always)]
pub(crate) fn widest<R>(loops: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if instructions() == Instructions::Avx512 {
        // SAFETY: support by the processor was checked.
        return unsafe { with_avx512(loops) };
    }
    pulp::Arch::new().dispatch(loops)
}

/// Numbers that a loop over arrays processes at a time: arrays of a fixed length need no check for overlap and are vectorised as a
/// whole, whatever the length of the slices.
pub(crate) const SIMD_WIDTH: usize = 16;

/// Keeps the iterations of a loop over vectors apart. Without it the compiler may process the same number of many vectors together,
/// which it gathers and scatters: many times as slow as one vector after the other.
#[inline(always)]
pub(crate) fn vector_by_vector() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: does nothing.
    unsafe {
        std::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
}

/// `to += by * from`, in each number by a fused multiply-add; inlined into loops that are compiled for the [widest] vectors.
#[inline(always)]
pub(crate) fn add_multiple<T: Real>(to: &mut [T], by: T, from: &[T]) {
    let ((to, rt), (from, rf)) = (to.as_chunks_mut::<SIMD_WIDTH>(), from.as_chunks::<SIMD_WIDTH>());
    for (to, from) in to.iter_mut().zip(from) {
        vector_by_vector();
        // All numbers are read before any is written: the compiler cannot tell that the slices do not overlap.
        *to = std::array::from_fn(|l| by.times_plus(from[l], to[l]));
    }
    rt.iter_mut().zip(rf).for_each(|(t, f)| *t = by.times_plus(*f, *t));
}

/// `Σ a b`, in independent partial sums, which are vectorised without reordering.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    widest(
        #[inline(always)]
        || {
            let mut sums = [0.0; SIMD_WIDTH];
            let (wide_a, rest_a) = a.as_chunks::<SIMD_WIDTH>();
            let (wide_b, rest_b) = b.as_chunks::<SIMD_WIDTH>();
            for (a, b) in wide_a.iter().zip(wide_b) {
                for i in 0..SIMD_WIDTH {
                    sums[i] += a[i] * b[i];
                }
            }
            sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
        },
    )
}

/// The first [`SIMD_WIDTH`] numbers of `x`, padded with zeros.
#[inline(always)]
pub(crate) fn padded<T: Copy + Default>(x: &[T]) -> [T; SIMD_WIDTH] {
    match x.first_chunk() {
        Some(x) => *x,
        None => {
            let mut out = [T::default(); SIMD_WIDTH];
            out.iter_mut().zip(x).for_each(|(o, x)| *o = *x);
            out
        }
    }
}

/// Writes `numbers` to `to`, as many as it has space for.
#[inline(always)]
pub(crate) fn put<T: Copy>(numbers: [T; SIMD_WIDTH], to: &mut [T]) {
    match to.first_chunk_mut() {
        Some(to) => *to = numbers,
        None => to.copy_from_slice(&numbers[..to.len()]),
    }
}

/// Calls `loops`, compiled for AVX-512, for loops such as tanh that are faster with its vectors than with those of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn with_avx512<R>(loops: impl FnOnce() -> R) -> R {
    loops()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_added_to_vectors_of_every_length() {
        for n in 0..3 * SIMD_WIDTH + 2 {
            let from: Vec<f64> = (0..n).map(|i| 1.0 / (i + 1) as f64).collect();
            let mut to: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let want: Vec<f64> = to.iter().zip(&from).map(|(t, f)| 0.3f64.mul_add(*f, *t)).collect();
            widest(
                #[inline(always)]
                || add_multiple(&mut to, 0.3, &from),
            );
            assert_eq!(to, want);
        }
    }
}
