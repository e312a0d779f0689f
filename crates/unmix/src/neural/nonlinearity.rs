//! Nonlinearities of codes of unit variance: `h(z)`, its slope, and the gradient `phi`.
//!
//! Nonlinear PCA reconstructs rows from `h(z)`. For orthonormal axes, the gradient with respect to axis `j` is proportional to
//! `E[x phi(z_j)]`, with
//!
//! ```text
//! phi(z) = (h(z) - z) h'(z)          or h(z) - z, if the slope is set to 1
//! ```
//!
//! An axis of large variance is selected if `E[z phi] < 0`, and two sources of the same distribution and of equal variance are
//! separated if `E[phi'] - E[z phi] > 0` ([`pairs`](super::pairs)).

use crate::choices::choices;
use crate::elementwise::Activation;
use crate::error::Result;
use crate::num::simd::{SIMD_WIDTH, padded, put};
use crate::num::{Real, widest};
use crate::stats::{Packer, Unpacker};

pub use crate::elementwise::ActivationFunction;

choices! {
    /// The derivative of a nonlinearity, or a constant in its place.
    #[derive(Default)]
    pub enum Slope {
        /// The derivative itself.
        #[default]
        True = "true",
        /// 1.
        One = "one",
    }
}

/// A function, its slope, and its width `a`: one for all components, or one for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Nonlinearity {
    /// The function.
    pub function: ActivationFunction,
    /// Its slope.
    pub slope: Slope,
    /// Width `a`: one number, or as many as there are components.
    pub a: Vec<f64>,
}

impl Nonlinearity {
    /// `a tanh(z / a)` with its true derivative.
    pub fn tanh(a: Vec<f64>) -> Self {
        Self { function: ActivationFunction::Tanh, slope: Slope::True, a }
    }

    pub(super) fn pack(&self, out: &mut Packer) {
        out.count(ActivationFunction::ALL.iter().position(|s| *s == self.function).unwrap_or_default() as u64);
        out.count(u64::from(self.slope == Slope::One));
        out.numbers(&self.a);
    }

    pub(super) fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (function, one, a) = (from.count()? as usize, from.flag()?, from.numbers()?);
        from.check(function < ActivationFunction::ALL.len() && !a.is_empty())?;
        Ok(Self {
            function: ActivationFunction::ALL[function],
            slope: if one { Slope::One } else { Slope::True },
            a,
        })
    }

    /// The nonlinearity for rows of `k` codes of type `T`.
    pub fn ready<T: Real>(&self, k: usize) -> TypedNonlinearity<T> {
        TypedNonlinearity { activation: Activation::new(self.function, &self.a, k), slope: self.slope }
    }
}

/// A [`Nonlinearity`] in the type of the rows.
#[derive(Clone)]
pub struct TypedNonlinearity<T> {
    activation: Activation<T>,
    slope: Slope,
}

impl<T: Real> TypedNonlinearity<T> {
    /// Number of codes after which the same component is at the same place of a cell again.
    pub(super) fn period(&self) -> usize {
        self.activation.period()
    }

    /// `h` of every code and its slope there, in one pass. `z` holds whole rows.
    pub fn values(&self, z: &[T], h: &mut [T], slope: &mut [T]) {
        h.copy_from_slice(z);
        let one = T::from_f64(1.0);
        let kept = self.slope;
        self.activation.each(
            h,
            slope,
            #[inline(always)]
            move |_, h, slope, _| (h, if kept == Slope::One { one } else { slope }),
        );
    }

    /// `z` becomes `phi(z)`.
    pub fn gradient(&self, z: &mut [T]) {
        let zero = T::default();
        match (self.activation.function(), self.slope) {
            (ActivationFunction::Tanh, Slope::True) => widest(
                #[inline(always)]
                || {
                    let one = T::from_f64(1.0);
                    let (all, inverses) = self.activation.numbers();
                    for z in z.chunks_mut(all.len()) {
                        for ((z, a), inverse) in z.iter_mut().zip(all).zip(inverses) {
                            let t = (*z * *inverse).tanh_of();
                            *z = (*a * t - *z) * (one - t * t);
                        }
                    }
                },
            ),
            _ => {
                let mut unused = vec![zero; z.len()];
                self.score_and_slope(z, &mut unused);
            }
        }
    }

    /// `z` becomes `phi(z)`, and `score_slope` its derivative.
    pub fn score_and_slope(&self, z: &mut [T], score_slope: &mut [T]) {
        let one = T::from_f64(1.0);
        // Two loops: one with a branch for every number is slower.
        match self.slope {
            Slope::One => self.activation.each(
                z,
                score_slope,
                #[inline(always)]
                move |z, h, slope, _| (h - z, slope - one),
            ),
            Slope::True => self.activation.each(
                z,
                score_slope,
                #[inline(always)]
                move |z, h, slope, curvature| ((h - z) * slope, (slope - one) * slope + (h - z) * curvature),
            ),
        }
    }

    /// `h` of every code, its slope, and the derivative of `phi`.
    pub fn all(&self, z: &[T], h: &mut [T], slope: &mut [T], score_slope: &mut [T]) {
        if (self.activation.function(), self.slope) != (ActivationFunction::Tanh, Slope::True) {
            // The gradient itself is not needed.
            h.copy_from_slice(z);
            self.score_and_slope(h, score_slope);
            return self.values(z, h, slope);
        }
        let (one, two) = (T::from_f64(1.0), T::from_f64(2.0));
        widest(
            #[inline(always)]
            || {
                let (all, inverses) = self.activation.numbers();
                let period = all.len();
                for start in (0..z.len()).step_by(period) {
                    let end = z.len().min(start + period);
                    for at in (start..end).step_by(SIMD_WIDTH) {
                        let z = padded(&z[at..end]);
                        let [a, inverse] = [all, inverses].map(|x| padded(&x[at - start..]));
                        let mut t = [T::default(); SIMD_WIDTH];
                        for l in 0..SIMD_WIDTH {
                            t[l] = (z[l] * inverse[l]).tanh_of();
                        }
                        let (mut value, mut slopes, mut grown) = (t, t, t);
                        for l in 0..SIMD_WIDTH {
                            value[l] = a[l] * t[l];
                            slopes[l] = one - t[l] * t[l];
                            let curvature = two * t[l] * slopes[l] * inverse[l];
                            grown[l] = (slopes[l] - one) * slopes[l] - (value[l] - z[l]) * curvature;
                        }
                        put(value, &mut h[at..end]);
                        put(slopes, &mut slope[at..end]);
                        put(grown, &mut score_slope[at..end]);
                    }
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_slopes_and_gradients_are_those_of_the_formulas() {
        let k = 3;
        let a = [0.8, 4.0, 2.0];
        let z: Vec<f64> = (0..k * 37).map(|i| 0.11 * i as f64 - 5.9).collect();
        let h = |function, z: f64, a: f64| match function {
            ActivationFunction::Tanh => a * (z / a).tanh(),
            ActivationFunction::HardTanh => z.clamp(-a, a),
            ActivationFunction::ScaledTanh => a * z.tanh(),
            ActivationFunction::Sign => z.signum(),
            ActivationFunction::Identity => z,
            ActivationFunction::Relu => z.max(0.0),
        };
        for function in ActivationFunction::ALL {
            for slope in [Slope::True, Slope::One] {
                let given = Nonlinearity { function, slope, a: a.to_vec() }.ready::<f64>(k);
                let (mut values, mut slopes) = (vec![0.0; z.len()], vec![0.0; z.len()]);
                given.values(&z, &mut values, &mut slopes);
                let (mut gradient, mut score_slope) = (z.clone(), vec![0.0; z.len()]);
                given.score_and_slope(&mut gradient, &mut score_slope);
                let (mut h2, mut s2, mut g2) = (z.clone(), z.clone(), z.clone());
                given.all(&z, &mut h2, &mut s2, &mut g2);
                assert_eq!((&h2, &s2), (&values, &slopes));
                assert!(
                    g2.iter().zip(&score_slope).all(|(a, b)| (a - b).abs() < 1e-14),
                    "{function:?} {slope:?}"
                );
                let mut alone = z.clone();
                given.gradient(&mut alone);
                for (i, &x) in z.iter().enumerate() {
                    let a = a[i % k];
                    let numeric = (h(function, x + 1e-6, a) - h(function, x - 1e-6, a)) / 2e-6;
                    let s = if slope == Slope::One { 1.0 } else { numeric };
                    let what = format!("{function:?} {slope:?} at {x}, a {a}");
                    assert!((values[i] - h(function, x, a)).abs() < 1e-14, "{what}");
                    assert!((slopes[i] - s).abs() < 1e-8, "{what}");
                    assert!((gradient[i] - (h(function, x, a) - x) * s).abs() < 1e-7, "{what}");
                    assert!((gradient[i] - alone[i]).abs() < 1e-14, "{what}");
                }
                // The second result is the derivative of the first.
                let at = |d: f64| {
                    let mut moved: Vec<f64> = z.iter().map(|x| x + d).collect();
                    given.gradient(&mut moved);
                    moved
                };
                for (i, (up, down)) in at(1e-6).iter().zip(at(-1e-6)).enumerate() {
                    let numeric = (up - down) / 2e-6;
                    // The sign's slope is 0 except at 0, where no code is.
                    let smooth = function != ActivationFunction::Sign || z[i].abs() > 1e-3;
                    assert!(
                        !smooth || (score_slope[i] - numeric).abs() < 1e-6,
                        "{function:?} {slope:?} {}: {} {numeric}",
                        z[i],
                        score_slope[i]
                    );
                }
            }
        }
    }
}
