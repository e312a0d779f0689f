//! The sign that every component gets, written down once.

use crate::num::Matrix;

/// Number of the sign rule below; stored in every model file.
///
/// Rule 1: in each decoder vector the entry of largest magnitude is positive; entries within `sqrt(eps)` of the largest,
/// relatively, count as equal and the lowest index wins.
pub const SIGN_RULE: u32 = 1;

/// 1 or -1: what rule 1 multiplies a decoder vector with. `eps` is that of the type in which it was computed.
pub fn sign_of(vector: &[f64], eps: f64) -> f64 {
    // Side by side: one maximum would wait for another.
    let (eights, rest) = vector.as_chunks::<8>();
    let mut largest = [0.0f64; 8];
    eights.iter().for_each(|eight| largest.iter_mut().zip(eight).for_each(|(m, x)| *m = m.max(x.abs())));
    let largest = largest.iter().chain(rest).fold(0.0f64, |m, x| m.max(x.abs()));
    let near = largest * (1.0 - eps.sqrt());
    match vector.iter().find(|x| x.abs() >= near) {
        Some(x) if *x < 0.0 => -1.0,
        _ => 1.0,
    }
}

/// Applies rule 1 to every row of `vectors`.
pub fn canonical_sign(vectors: &mut Matrix<f64>, eps: f64) {
    for i in 0..vectors.rows() {
        if sign_of(vectors.row(i), eps) < 0.0 {
            vectors.row_mut(i).iter_mut().for_each(|x| *x = -*x);
        }
    }
    // -0 and 0 are equal numbers but not equal bits.
    vectors.as_mut_slice().iter_mut().filter(|x| **x == 0.0).for_each(|x| *x = 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_entry_is_positive_and_near_ties_go_to_the_lowest_index() {
        assert_eq!(sign_of(&[0.1, -0.9, 0.3], f64::EPSILON), -1.0);
        assert_eq!(sign_of(&[-0.5, 0.5 * (1.0 + 1e-12)], f64::EPSILON), -1.0);
        assert_eq!(sign_of(&[-0.5, 0.5 * (1.0 + 1e-6)], f64::EPSILON), 1.0);
        assert_eq!(sign_of(&[0.0, 0.0], f64::EPSILON), 1.0);
    }
}
