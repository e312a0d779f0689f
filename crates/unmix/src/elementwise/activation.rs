//! Activations: `h(z)`, `h'(z)` and `h''(z)`, with a parameter `a` of `h` for each component.

use crate::choices::choices;
use crate::num::simd::SIMD_WIDTH;
use crate::num::{Real, widest};

choices! {
    /// The function of an activation, of a code `z` and a parameter `a`.
    #[derive(Default)]
    pub enum ActivationFunction {
        /// `a tanh(z / a)`: slope 1 at 0, bounded by `a`.
        #[default]
        Tanh = "tanh",
        /// `z` clipped to `[-a, a]`.
        HardTanh = "hard",
        /// `a tanh(z)`: slope `a` at 0. With `a = 1 / std(tanh z)`, renewed as codes change, its values have unit variance.
        ScaledTanh = "steep",
        /// The sign of `z`.
        Sign = "sign",
        /// `z` itself.
        Identity = "identity",
        /// `max(z, 0)`; its slope at 0 is taken to be 0.
        Relu = "relu",
    }
}

impl ActivationFunction {
    /// All functions.
    pub const ALL: [ActivationFunction; 6] = [
        ActivationFunction::Tanh,
        ActivationFunction::HardTanh,
        ActivationFunction::ScaledTanh,
        ActivationFunction::Sign,
        ActivationFunction::Identity,
        ActivationFunction::Relu,
    ];

    /// The function itself, of a code and the parameter `a`.
    pub fn as_fn(self) -> fn(f64, f64) -> f64 {
        match self {
            ActivationFunction::Tanh => |z, a| a * (z / a).tanh(),
            ActivationFunction::HardTanh => |z, a| z.clamp(-a, a),
            ActivationFunction::ScaledTanh => |z, a| a * z.tanh(),
            ActivationFunction::Sign => |z, _| if z == 0.0 { 0.0 } else { z.signum() },
            ActivationFunction::Identity => |z, _| z,
            ActivationFunction::Relu => |z, _| z.max(0.0),
        }
    }
}

/// An [`ActivationFunction`] with its parameters, prepared for rows of `k` codes of type `T`.
#[derive(Clone, Debug)]
pub(crate) struct Activation<T> {
    function: ActivationFunction,
    /// `a` of every code of a few rows, so that loops are long enough and made of whole vectors.
    a: Vec<T>,
    inverse: Vec<T>,
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl<T: Real> Activation<T> {
    /// `function` with the parameters `a`: one for all of the `k` codes of a row, or one for each. Functions without a parameter ignore them.
    pub(crate) fn new(function: ActivationFunction, a: &[f64], k: usize) -> Self {
        let whole = k.max(1) * SIMD_WIDTH / gcd(k.max(1), SIMD_WIDTH);
        let period = whole * 64usize.div_ceil(whole);
        let of = |j: usize| if a.len() == 1 { a[0] } else { a[j % k] };
        Self {
            function,
            a: (0..period).map(|j| T::from_f64(of(j))).collect(),
            inverse: (0..period).map(|j| T::from_f64(1.0 / of(j))).collect(),
        }
    }

    /// The function.
    pub(crate) fn function(&self) -> ActivationFunction {
        self.function
    }

    /// `a` and `1 / a` of the codes of a few rows, [`period`](Self::period) of them.
    pub(crate) fn numbers(&self) -> (&[T], &[T]) {
        (&self.a, &self.inverse)
    }

    /// Number of codes after which the assignment of components to the places of a cell repeats.
    pub(crate) fn period(&self) -> usize {
        self.a.len()
    }

    /// Writes `f(z, h, h', h'')` over `z` and `second`, which are as long. `z` holds whole rows.
    #[inline(always)]
    pub(crate) fn each(&self, z: &mut [T], second: &mut [T], f: impl Fn(T, T, T, T) -> (T, T)) {
        macro_rules! loops {
            ($of:expr) => {
                widest(
                    #[inline(always)]
                    || {
                        let period = self.a.len();
                        for (z, second) in z.chunks_mut(period).zip(second.chunks_mut(period)) {
                            let given = self.a.iter().zip(&self.inverse);
                            for (((a, inverse), z), second) in given.zip(z.iter_mut()).zip(second) {
                                let (h, slope, curvature) = $of(*z, *a, *inverse);
                                (*z, *second) = f(*z, h, slope, curvature);
                            }
                        }
                    },
                )
            };
        }
        match self.function {
            ActivationFunction::Tanh => loops!(tanh),
            ActivationFunction::HardTanh => loops!(hard),
            ActivationFunction::ScaledTanh => loops!(steep),
            ActivationFunction::Sign => loops!(sign),
            ActivationFunction::Identity => loops!(identity),
            ActivationFunction::Relu => loops!(relu),
        }
    }
}

/// `h`, `h'` and `h''` at `z`, with `a` and `1 / a`.
#[inline(always)]
fn tanh<T: Real>(z: T, a: T, inverse: T) -> (T, T, T) {
    let t = (z * inverse).tanh_of();
    let slope = T::from_f64(1.0) - t * t;
    (a * t, slope, T::from_f64(-2.0) * t * slope * inverse)
}

#[inline(always)]
fn hard<T: Real>(z: T, a: T, _: T) -> (T, T, T) {
    let (zero, one) = (T::default(), T::from_f64(1.0));
    let h = if z > a { a } else { z };
    let h = if h < -a { -a } else { h };
    (h, if h == z { one } else { zero }, zero)
}

#[inline(always)]
fn steep<T: Real>(z: T, a: T, _: T) -> (T, T, T) {
    let t = z.tanh_of();
    let slope = T::from_f64(1.0) - t * t;
    (a * t, a * slope, T::from_f64(-2.0) * a * t * slope)
}

#[inline(always)]
fn sign<T: Real>(z: T, _: T, _: T) -> (T, T, T) {
    let (zero, one) = (T::default(), T::from_f64(1.0));
    let h = if z > zero { one } else { zero };
    (if z < zero { -one } else { h }, zero, zero)
}

#[inline(always)]
fn identity<T: Real>(z: T, _: T, _: T) -> (T, T, T) {
    (z, T::from_f64(1.0), T::default())
}

#[inline(always)]
fn relu<T: Real>(z: T, _: T, _: T) -> (T, T, T) {
    let (zero, one) = (T::default(), T::from_f64(1.0));
    if z > zero { (z, one, zero) } else { (zero, zero, zero) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_functions_and_slopes_their_derivatives() {
        let (k, a) = (3, [0.8, 4.0, 2.0]);
        // No code lies within a step of 0 or of `a`, where piecewise linear functions have no derivative.
        let z: Vec<f64> = (0..k * 37).map(|i| 0.1123 * i as f64 - 5.917).collect();
        for function in ActivationFunction::ALL {
            let (mut h, mut slope) = (z.clone(), vec![0.0; z.len()]);
            Activation::<f64>::new(function, &a, k).each(&mut h, &mut slope, |_, h, slope, _| (h, slope));
            let (mut curvature, mut unused) = (z.clone(), z.clone());
            let of = Activation::<f64>::new(function, &a, k);
            of.each(&mut unused, &mut curvature, |_, h, _, curvature| (h, curvature));
            for (i, &z) in z.iter().enumerate() {
                let of = |z: f64| function.as_fn()(z, a[i % k]);
                let what = format!("{function:?} at {z}, a {}", a[i % k]);
                assert!((h[i] - of(z)).abs() < 1e-14, "{what}");
                assert!((slope[i] - (of(z + 1e-6) - of(z - 1e-6)) / 2e-6).abs() < 1e-8, "{what}");
                let second = (of(z + 1e-4) - 2.0 * of(z) + of(z - 1e-4)) / 1e-8;
                assert!((curvature[i] - second).abs() < 1e-5, "{what}: {} {second}", curvature[i]);
            }
        }
    }

    #[test]
    fn one_number_for_all_is_that_number_for_each() {
        let z: Vec<f32> = (0..5 * 20).map(|i| 0.07 * i as f32 - 3.0).collect();
        for function in ActivationFunction::ALL {
            let by = |a: &[f64]| {
                let (mut h, mut slope) = (z.clone(), z.clone());
                Activation::new(function, a, 5).each(&mut h, &mut slope, |_, h, slope, _| (h, slope));
                (h, slope)
            };
            assert_eq!(by(&[1.5]), by(&[1.5; 5]));
        }
    }

    #[test]
    fn at_zero_the_rectifier_is_flat() {
        let (mut z, mut slope) = ([0.0, -0.0, 1e-300], [9.0; 3]);
        Activation::<f64>::new(ActivationFunction::Relu, &[1.0], 1).each(
            &mut z,
            &mut slope,
            |_, h, slope, _| (h, slope),
        );
        assert_eq!((z, slope), ([0.0, 0.0, 1e-300], [0.0, 0.0, 1.0]));
    }
}
