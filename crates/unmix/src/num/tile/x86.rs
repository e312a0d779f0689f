//! The vectors of processors of Intel's and AMD's, and the products compiled for them.

use super::{Steps, Vector, columns, tile};
use std::arch::x86_64::*;

macro_rules! vector {
    ($v:ty, $t:ty, $lanes:literal, $rows:literal, $columns:literal, $zero:ident $load:ident $splat:ident $fused:ident $store:ident) => {
        impl Vector<$t> for $v {
            const LANES: usize = $lanes;
            const ROWS: usize = $rows;
            const COLUMNS: usize = $columns;
            #[inline(always)]
            fn zero() -> Self {
                // SAFETY: only reached where the processor has the instruction.
                unsafe { $zero() }
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn splat(x: $t) -> Self {
                unsafe { $splat(x) }
            }
            #[inline(always)]
            unsafe fn times_plus(self, b: Self, c: Self) -> Self {
                unsafe { $fused(self, b, c) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                unsafe { $store(to, self) }
            }
        }
    };
}
vector!(__m512d, f64, 8, 8, 3, _mm512_setzero_pd _mm512_loadu_pd _mm512_set1_pd _mm512_fmadd_pd _mm512_storeu_pd);
vector!(__m512, f32, 16, 8, 3, _mm512_setzero_ps _mm512_loadu_ps _mm512_set1_ps _mm512_fmadd_ps _mm512_storeu_ps);
vector!(__m256d, f64, 4, 4, 2, _mm256_setzero_pd _mm256_loadu_pd _mm256_set1_pd _mm256_fmadd_pd _mm256_storeu_pd);
vector!(__m256, f32, 8, 4, 2, _mm256_setzero_ps _mm256_loadu_ps _mm256_set1_ps _mm256_fmadd_ps _mm256_storeu_ps);
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
