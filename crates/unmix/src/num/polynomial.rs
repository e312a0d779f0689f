//! Polynomials of few fixed coefficients.

use super::Real;

/// `c[0] + c[1] x + c[2] x^2 + ...` by Horner's rule, with a fused multiply-add for each coefficient but one. Always inlined: loops over it are
/// vectorised, with the instructions of their function.
#[inline(always)]
pub(crate) fn polynomial<T: Real>(c: &[T], x: T) -> T {
    let mut sum = c[c.len() - 1];
    for i in (0..c.len() - 1).rev() {
        sum = sum.times_plus(x, c[i]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_in_ascending_powers() {
        assert_eq!(polynomial(&[5.0], 7.0), 5.0);
        assert_eq!(polynomial(&[1.0, -2.0, 0.5, 3.0], 2.0f32), 1.0 - 4.0 + 2.0 + 24.0);
        // The product is not rounded: 1 - x^2 for x next to 1.
        let x = 1.0 + f64::EPSILON;
        assert_eq!(polynomial(&[-1.0 - 2.0 * f64::EPSILON, x], x), f64::EPSILON * f64::EPSILON);
    }
}
