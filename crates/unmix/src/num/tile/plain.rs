//! Four numbers at a time, for processors whose vector instructions are not used here.

use super::Vector;

/// The vector type for processors whose vector instructions are not used here.
#[derive(Clone, Copy)]
pub(super) struct Plain<T>([T; 4]);

macro_rules! plain {
    ($t:ty) => {
        impl Vector<$t> for Plain<$t> {
            const LANES: usize = 4;
            const ROWS: usize = 4;
            const COLUMNS: usize = 2;
            type Some = usize;
            #[inline(always)]
            fn zero() -> Self {
                Self([0.0; 4])
            }
            #[inline(always)]
            fn first(n: usize) -> usize {
                n
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: the caller guarantees that the memory is valid.
                Self(unsafe { from.cast::<[$t; 4]>().read() })
            }
            #[inline(always)]
            unsafe fn splat(x: $t) -> Self {
                Self([x; 4])
            }
            #[inline(always)]
            unsafe fn times_plus(self, b: Self, c: Self) -> Self {
                // Fused multiply-add would be a function call on a processor without it.
                Self(std::array::from_fn(|i| self.0[i] * b.0[i] + c.0[i]))
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: the caller guarantees that the memory is valid.
                unsafe { to.cast::<[$t; 4]>().write(self.0) }
            }
            #[inline(always)]
            unsafe fn load_half_twice(from: *const $t) -> Self {
                // SAFETY: the caller guarantees that the memory is valid.
                let [x, y] = unsafe { from.cast::<[$t; 2]>().read() };
                Self([x, y, x, y])
            }
            #[inline(always)]
            unsafe fn halves(a: Self, b: Self) -> Self {
                Self([a.0[0], a.0[1], b.0[2], b.0[3]])
            }
            #[inline(always)]
            unsafe fn load_some(from: *const $t, some: usize) -> Self {
                // SAFETY: the caller guarantees that the memory is valid.
                Self(std::array::from_fn(|i| if i < some { unsafe { *from.add(i) } } else { 0.0 }))
            }
            #[inline(always)]
            unsafe fn store_some(self, to: *mut $t, some: usize) {
                // SAFETY: the caller guarantees that the memory is valid.
                unsafe { to.copy_from_nonoverlapping(self.0.as_ptr(), some) }
            }
        }
    };
}
plain!(f32);
plain!(f64);
