//! Vectors of x86 processors, and the products compiled for them.

use super::{Steps, Terms, TilePosition, Vector, add_tile, columns, panels, tile};
use std::arch::x86_64::*;

macro_rules! vector {
    ($v:ty, $t:ty, $lanes:literal, $rows:literal, $columns:literal, $some:ty, $first:expr,
     $zero:ident $load:ident $splat:ident $fused:ident $store:ident $load_some:ident $store_some:ident $twice:ident $halves:ident) => {
        impl Vector<$t> for $v {
            const LANES: usize = $lanes;
            const ROWS: usize = $rows;
            const COLUMNS: usize = $columns;
            type Some = $some;
            #[inline(always)]
            fn zero() -> Self {
                // SAFETY: only reached if the processor has the instruction.
                unsafe { $zero() }
            }
            #[inline(always)]
            fn first(n: usize) -> $some {
                $first(n)
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: the caller guarantees valid memory and the instructions of the processor.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn splat(x: $t) -> Self {
                // SAFETY: the caller guarantees valid memory and the instructions of the processor.
                unsafe { $splat(x) }
            }
            #[inline(always)]
            unsafe fn times_plus(self, b: Self, c: Self) -> Self {
                // SAFETY: the caller guarantees valid memory and the instructions of the processor.
                unsafe { $fused(self, b, c) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: the caller guarantees valid memory and the instructions of the processor.
                unsafe { $store(to, self) }
            }
            #[inline(always)]
            unsafe fn load_half_twice(from: *const $t) -> Self {
                // SAFETY: the caller guarantees valid memory and the instructions of the processor.
                unsafe { $twice(from) }
            }
            #[inline(always)]
            unsafe fn halves(a: Self, b: Self) -> Self {
                // SAFETY: the caller guarantees valid memory and the instructions of the processor.
                unsafe { $halves(a, b) }
            }
            #[inline(always)]
            unsafe fn load_some(from: *const $t, some: $some) -> Self {
                // SAFETY: the caller guarantees valid memory and the instructions of the processor.
                unsafe { $load_some(some, from) }
            }
            #[inline(always)]
            unsafe fn store_some(self, to: *mut $t, some: $some) {
                // SAFETY: the caller guarantees valid memory and the instructions of the processor.
                unsafe { $store_some(to, some, self) }
            }
        }
    };
}

/// Masks for vectors of 32 bytes: the sign bits select the lanes.
macro_rules! signs {
    ($int:ty, $lanes:literal) => {
        |n: usize| {
            const SIGNS: [$int; 2 * $lanes] = {
                let mut signs = [0; 2 * $lanes];
                let mut i = 0;
                while i < $lanes {
                    signs[i] = -1;
                    i += 1;
                }
                signs
            };
            let from = &SIGNS[$lanes - n..][..$lanes];
            // SAFETY: as many numbers as a vector has.
            unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
        }
    };
}

#[inline(always)]
unsafe fn some_pd(some: __m256i, from: *const f64) -> __m256d {
    // SAFETY: the caller guarantees valid memory and the instructions of the processor.
    unsafe { _mm256_maskload_pd(from, some) }
}
#[inline(always)]
unsafe fn some_ps(some: __m256i, from: *const f32) -> __m256 {
    // SAFETY: the caller guarantees valid memory and the instructions of the processor.
    unsafe { _mm256_maskload_ps(from, some) }
}

macro_rules! halves {
    ($t:ty, $v:ty, $twice:ident, |$from:ident| $load:expr, $halves:ident, |$a:ident, $b:ident| $join:expr) => {
        #[inline(always)]
        unsafe fn $twice($from: *const $t) -> $v {
            // SAFETY: the caller guarantees valid memory and the instructions of the processor.
            unsafe { $load }
        }
        #[inline(always)]
        unsafe fn $halves($a: $v, $b: $v) -> $v {
            // SAFETY: the caller guarantees valid memory and the instructions of the processor.
            unsafe { $join }
        }
    };
}
halves!(
    f64,
    __m512d,
    twice_512d,
    |from| _mm512_broadcast_f64x4(_mm256_loadu_pd(from)),
    halves_512d,
    |a, b| _mm512_mask_mov_pd(a, 0xf0, b)
);
halves!(f32, __m512, twice_512, |from| _mm512_broadcast_f32x8(_mm256_loadu_ps(from)), halves_512, |a, b| {
    _mm512_mask_mov_ps(a, 0xff00, b)
});
halves!(f64, __m256d, twice_256d, |from| _mm256_broadcast_pd(&*from.cast()), halves_256d, |a, b| {
    _mm256_blend_pd::<0b1100>(a, b)
});
halves!(f32, __m256, twice_256, |from| _mm256_broadcast_ps(&*from.cast()), halves_256, |a, b| {
    _mm256_blend_ps::<0b1111_0000>(a, b)
});

vector!(__m512d, f64, 8, 8, 3, u8, |n: usize| ((1u16 << n) - 1) as u8,
    _mm512_setzero_pd _mm512_loadu_pd _mm512_set1_pd _mm512_fmadd_pd _mm512_storeu_pd _mm512_maskz_loadu_pd _mm512_mask_storeu_pd twice_512d halves_512d);
vector!(__m512, f32, 16, 8, 3, u16, |n: usize| ((1u32 << n) - 1) as u16,
    _mm512_setzero_ps _mm512_loadu_ps _mm512_set1_ps _mm512_fmadd_ps _mm512_storeu_ps _mm512_maskz_loadu_ps _mm512_mask_storeu_ps twice_512 halves_512);
vector!(__m256d, f64, 4, 4, 2, __m256i, signs!(i64, 4),
    _mm256_setzero_pd _mm256_loadu_pd _mm256_set1_pd _mm256_fmadd_pd _mm256_storeu_pd some_pd _mm256_maskstore_pd twice_256d halves_256d);
vector!(__m256, f32, 8, 4, 2, __m256i, signs!(i32, 8),
    _mm256_setzero_ps _mm256_loadu_ps _mm256_set1_ps _mm256_fmadd_ps _mm256_storeu_ps some_ps _mm256_maskstore_ps twice_256 halves_256);
products!(wide_f32, f32, __m512);
products!(wide_f64, f64, __m512d);
products!(narrow_f32, f32, __m256);
products!(narrow_f64, f64, __m256d);

/// The products, compiled for the instructions that their vectors need.
macro_rules! compiled {
    ($name:ident, $features:literal, $t:ty, $products:ident) => {
        pub(super) mod $name {
            #[target_feature(enable = $features)]
            pub(in super::super) fn add_gram(part: &mut [f64], first: usize, x: &[$t], n: usize, p: usize) {
                super::$products::add_gram(part, first, x, n, p)
            }
            #[target_feature(enable = $features)]
            pub(in super::super) fn multiply(
                out: &mut [$t],
                a: &[$t],
                b: &[$t],
                n: usize,
                p: usize,
                k: usize,
            ) {
                super::$products::multiply(out, a, b, n, p, k)
            }
            #[target_feature(enable = $features)]
            pub(in super::super) fn multiply_rows(
                out: &mut [$t],
                a: &[$t],
                step: [usize; 2],
                b: &[$t],
                m: usize,
                terms: usize,
                k: usize,
            ) {
                super::$products::multiply_rows(out, a, step, b, m, terms, k)
            }
            #[target_feature(enable = $features)]
            pub(in super::super) fn multiply_packed(
                out: &mut [$t],
                terms: &[super::Terms<'_, $t>],
                m: usize,
                k: usize,
            ) {
                super::$products::multiply_packed(out, terms, m, k)
            }
            #[target_feature(enable = $features)]
            pub(in super::super) fn multiply_to_panels(
                out: &mut [$t],
                rate: Option<$t>,
                terms: &[super::Terms<'_, $t>],
                m: usize,
                k: usize,
            ) {
                super::$products::multiply_to_panels(out, rate, terms, m, k)
            }
            #[target_feature(enable = $features)]
            pub(in super::super) fn add_cross_rows(
                total: &mut [f64],
                a: &[$t],
                b: &[$t],
                n: usize,
                k: usize,
                p: usize,
            ) {
                super::$products::add_cross_rows(total, a, b, n, k, p)
            }
            #[target_feature(enable = $features)]
            pub(in super::super) fn add_cross(
                total: &mut [f64],
                a: &[$t],
                b: &[$t],
                n: usize,
                k: usize,
                used: usize,
            ) {
                super::$products::add_cross(total, a, b, n, k, used)
            }
        }
    };
}
compiled!(avx512_f32, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", f32, wide_f32);
compiled!(avx512_f64, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", f64, wide_f64);
compiled!(avx2_f32, "avx2,fma", f32, narrow_f32);
compiled!(avx2_f64, "avx2,fma", f64, narrow_f64);
