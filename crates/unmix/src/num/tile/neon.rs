//! Vectors of ARM processors.
//!
//! A vector is two registers of 16 bytes: with the 8 and 4 lanes of a vector of 32 bytes, tiles of four rows and three vectors keep 24 of
//! the 32 registers for sums, six for a row of the second factor and one for a number of the first.

use super::Vector;
use std::arch::aarch64::*;

/// Two registers.
#[derive(Clone, Copy)]
pub(super) struct Pair<R>([R; 2]);

macro_rules! pair {
    ($register:ty, $t:ty, $half:literal, $load:ident $splat:ident $fused:ident $store:ident) => {
        impl Vector<$t> for Pair<$register> {
            const LANES: usize = 2 * $half;
            const ROWS: usize = 4;
            const COLUMNS: usize = 3;
            type Some = usize;
            #[inline(always)]
            fn zero() -> Self {
                // SAFETY: every processor of this architecture has the instruction.
                unsafe { Self([$splat(0.0); 2]) }
            }
            #[inline(always)]
            fn first(n: usize) -> usize {
                n
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: the caller guarantees that the memory is valid.
                unsafe { Self([$load(from), $load(from.add($half))]) }
            }
            #[inline(always)]
            unsafe fn splat(x: $t) -> Self {
                // SAFETY: every processor of this architecture has the instruction.
                unsafe { Self([$splat(x); 2]) }
            }
            #[inline(always)]
            unsafe fn times_plus(self, b: Self, c: Self) -> Self {
                // SAFETY: every processor of this architecture has the instruction.
                unsafe { Self([$fused(c.0[0], self.0[0], b.0[0]), $fused(c.0[1], self.0[1], b.0[1])]) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: the caller guarantees that the memory is valid.
                unsafe {
                    $store(to, self.0[0]);
                    $store(to.add($half), self.0[1]);
                }
            }
            #[inline(always)]
            unsafe fn load_half_twice(from: *const $t) -> Self {
                // SAFETY: the caller guarantees that the memory is valid.
                unsafe { Self([$load(from); 2]) }
            }
            #[inline(always)]
            unsafe fn halves(a: Self, b: Self) -> Self {
                Self([a.0[0], b.0[1]])
            }
            #[inline(always)]
            unsafe fn load_some(from: *const $t, some: usize) -> Self {
                let mut numbers = [0.0; 2 * $half];
                // SAFETY: the caller guarantees that the selected numbers are valid, and there are at most as many as lanes.
                unsafe {
                    from.copy_to_nonoverlapping(numbers.as_mut_ptr(), some);
                    Self::load(numbers.as_ptr())
                }
            }
            #[inline(always)]
            unsafe fn store_some(self, to: *mut $t, some: usize) {
                let mut numbers = [0.0; 2 * $half];
                // SAFETY: the caller guarantees that the selected numbers are writable, and there are at most as many as lanes.
                unsafe {
                    self.store(numbers.as_mut_ptr());
                    to.copy_from_nonoverlapping(numbers.as_ptr(), some);
                }
            }
        }
    };
}

pair!(float32x4_t, f32, 4, vld1q_f32 vdupq_n_f32 vfmaq_f32 vst1q_f32);
pair!(float64x2_t, f64, 2, vld1q_f64 vdupq_n_f64 vfmaq_f64 vst1q_f64);
