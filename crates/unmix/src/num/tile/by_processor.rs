//! The products of [`Tiles`], by the vectors of the current processor.

#[cfg(target_arch = "x86_64")]
use super::x86;
use super::{Terms, Tiles, plain_f32, plain_f64};
#[cfg(target_arch = "aarch64")]
use super::{neon_f32, neon_f64};

/// Calls the version that is compiled for the current processor.
macro_rules! best {
    ($plain:ident, $neon:ident, $avx2:ident, $avx512:ident, $function:ident $arguments:tt) => {
        match crate::num::simd::instructions() {
            // SAFETY: support by the processor was checked.
            #[cfg(target_arch = "x86_64")]
            crate::num::simd::Instructions::Avx512 => unsafe { x86::$avx512::$function $arguments },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: support by the processor was checked.
            crate::num::simd::Instructions::Avx2 => unsafe { x86::$avx2::$function $arguments },
            #[cfg(target_arch = "aarch64")]
            crate::num::simd::Instructions::Neon => $neon::$function $arguments,
            crate::num::simd::Instructions::Other => $plain::$function $arguments,
        }
    };
}

macro_rules! by_processor {
    ($t:ty, $plain:ident, $neon:ident, $avx2:ident, $avx512:ident) => {
        impl Tiles for $t {
            fn lanes() -> usize {
                match crate::num::simd::instructions() {
                    #[cfg(target_arch = "x86_64")]
                    crate::num::simd::Instructions::Avx512 => 64 / std::mem::size_of::<$t>(),
                    #[cfg(target_arch = "x86_64")]
                    crate::num::simd::Instructions::Avx2 => 32 / std::mem::size_of::<$t>(),
                    // Two registers of 16 bytes.
                    #[cfg(target_arch = "aarch64")]
                    crate::num::simd::Instructions::Neon => 32 / std::mem::size_of::<$t>(),
                    crate::num::simd::Instructions::Other => 4,
                }
            }
            fn add_gram(part: &mut [f64], first: usize, x: &[$t], n: usize, p: usize) {
                best!($plain, $neon, $avx2, $avx512, add_gram(part, first, x, n, p))
            }
            fn multiply(out: &mut [$t], a: &[$t], b: &[$t], n: usize, p: usize, k: usize) {
                best!($plain, $neon, $avx2, $avx512, multiply(out, a, b, n, p, k))
            }
            fn multiply_rows(
                out: &mut [$t],
                a: &[$t],
                step: [usize; 2],
                b: &[$t],
                m: usize,
                terms: usize,
                k: usize,
            ) {
                best!($plain, $neon, $avx2, $avx512, multiply_rows(out, a, step, b, m, terms, k))
            }
            fn multiply_packed(out: &mut [$t], terms: &[Terms<'_, $t>], m: usize, k: usize) {
                best!($plain, $neon, $avx2, $avx512, multiply_packed(out, terms, m, k))
            }
            fn multiply_to_panels(
                out: &mut [$t],
                rate: Option<$t>,
                terms: &[Terms<'_, $t>],
                m: usize,
                k: usize,
            ) {
                best!($plain, $neon, $avx2, $avx512, multiply_to_panels(out, rate, terms, m, k))
            }
            fn add_cross_rows(total: &mut [f64], a: &[$t], b: &[$t], n: usize, k: usize, p: usize) {
                best!($plain, $neon, $avx2, $avx512, add_cross_rows(total, a, b, n, k, p))
            }
            fn add_cross(total: &mut [f64], a: &[$t], b: &[$t], n: usize, k: usize, used: usize) {
                best!($plain, $neon, $avx2, $avx512, add_cross(total, a, b, n, k, used))
            }
        }
    };
}
by_processor!(f32, plain_f32, neon_f32, avx2_f32, avx512_f32);
by_processor!(f64, plain_f64, neon_f64, avx2_f64, avx512_f64);
