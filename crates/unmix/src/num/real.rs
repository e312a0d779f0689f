//! The two number types of rows.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::TypeId;

/// Name of a [`Real`] at run time.
///
/// Exhaustive: `Real` is implemented for these two types alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Dtype {
    /// 32-bit floating point.
    #[serde(rename = "float32")]
    F32,
    /// 64-bit floating point.
    #[serde(rename = "float64")]
    F64,
}

impl Dtype {
    /// numpy's name.
    pub fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "float32",
            Dtype::F64 => "float64",
        }
    }

    /// The type of this name in numpy.
    pub fn named(name: &str) -> Option<Self> {
        [Dtype::F32, Dtype::F64].into_iter().find(|dtype| dtype.name() == name)
    }

    /// Machine epsilon: distance from 1 to the next number.
    pub fn eps(self) -> f64 {
        match self {
            Dtype::F32 => f32::EPSILON as f64,
            Dtype::F64 => f64::EPSILON,
        }
    }

    /// The smallest positive normal number.
    pub fn least(self) -> f64 {
        match self {
            Dtype::F32 => f32::MIN_POSITIVE as f64,
            Dtype::F64 => f64::MIN_POSITIVE,
        }
    }

    /// The largest finite number.
    pub fn most(self) -> f64 {
        match self {
            Dtype::F32 => f32::MAX as f64,
            Dtype::F64 => f64::MAX,
        }
    }

    /// Bytes of one number.
    pub fn size(self) -> usize {
        match self {
            Dtype::F32 => 4,
            Dtype::F64 => 8,
        }
    }
}

impl std::fmt::Display for Dtype {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

pub(crate) mod private {
    /// The trait that the linear algebra library requires of a number; kept out of public signatures.
    pub trait Field: faer::traits::RealField {}
    impl Field for f32 {}
    impl Field for f64 {}
}

/// `f32` or `f64`: the type that rows are computed in. Totals over samples are `f64` in both.
pub trait Real:
    private::Field
    + super::tanh::Elementary
    + super::draws::Drawn
    + super::tile::Tiles
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + std::fmt::Display
    + Serialize
    + DeserializeOwned
    + 'static
{
    /// Its name at run time.
    const DTYPE: Dtype;
    /// The nearest number of this type.
    fn from_f64(x: f64) -> Self;
    /// The number in double precision.
    fn to_f64(self) -> f64;
    /// The nearest number of this type, and the number nearest to the remainder: `x - a - b` for them equals `x - (a + b)` in
    /// double precision up to one rounding, because `x - a` is exact if they are close.
    #[inline(always)]
    fn parts(x: f64) -> (Self, Self) {
        let nearest = Self::from_f64(x);
        (nearest, Self::from_f64(x - nearest.to_f64()))
    }
    /// Whether it is neither NaN nor infinite.
    fn finite(self) -> bool;
    /// `self - other` in this type.
    fn minus(self, other: Self) -> Self;
    /// `self + other` in this type.
    fn plus(self, other: Self) -> Self;
    /// The square root.
    fn root(self) -> Self;
    /// The absolute value.
    fn absolute(self) -> Self;
    /// Fused multiply-add: `self * factor + term`, rounded once.
    fn times_plus(self, factor: Self, term: Self) -> Self;
    /// Appends the little-endian bytes.
    fn write_le(self, out: &mut Vec<u8>);
    /// The vector as the variant of its type.
    fn into_values(values: Vec<Self>) -> super::Values;
    /// The values of a tensor in this type: borrowed if they have this type, else converted.
    fn view(values: &super::Values) -> std::borrow::Cow<'_, [Self]>;
}

macro_rules! real {
    ($t:ty, $dtype:expr, $variant:ident, $other:ident) => {
        impl Real for $t {
            const DTYPE: Dtype = $dtype;
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn finite(self) -> bool {
                self.is_finite()
            }
            fn minus(self, other: Self) -> Self {
                self - other
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn absolute(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn times_plus(self, factor: Self, term: Self) -> Self {
                self.mul_add(factor, term)
            }
            fn write_le(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn into_values(values: Vec<Self>) -> super::Values {
                super::Values::$variant(values)
            }
            fn view(values: &super::Values) -> std::borrow::Cow<'_, [Self]> {
                match values {
                    super::Values::$variant(v) => std::borrow::Cow::Borrowed(v),
                    super::Values::$other(v) => v.iter().map(|&x| x as $t).collect::<Vec<_>>().into(),
                }
            }
        }
    };
}
real!(f32, Dtype::F32, F32, F64);
real!(f64, Dtype::F64, F64, F32);

/// The same numbers, if both types are one: code for two types then needs no copy that is converted.
#[inline(always)]
pub(crate) fn as_type<T: Real, C: Real>(numbers: &[T]) -> Option<&[C]> {
    let is_same = TypeId::of::<T>() == TypeId::of::<C>();
    // SAFETY: the types are the same.
    is_same.then(|| unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len()) })
}

/// [`as_type`] of numbers that are to be written.
#[inline(always)]
pub(crate) fn as_type_mut<T: Real, C: Real>(numbers: &mut [T]) -> Option<&mut [C]> {
    let is_same = TypeId::of::<T>() == TypeId::of::<C>();
    // SAFETY: the types are the same.
    is_same.then(|| unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), numbers.len()) })
}
