//! Contribution of the decoder to the separation of a pair of sources of equal variance: its formula, against the numerical derivative
//! of the field on product grids.
//!
//! The field rotates such a pair back to its axes at the rate `s²(A - b + c d)`, where `A = E phi'`, `b = E z phi`, `d = E z h - E h'`,
//! and `c` is the weight of the decoder: 1, 1 over a norm of the standard deviations, or another value that depends on its scale.

use unmix::internal::neural::{DecoderScale, Field, NONLINEAR, Sigma, Spec, State};

const MAIN: usize = 8;

/// `m` equally likely values of a distribution, standardized to variance 1, from its quantile function.
fn values(quantile: impl Fn(f64) -> f64, m: usize) -> Vec<f64> {
    let raw: Vec<f64> = (0..m).map(|i| quantile((i as f64 + 0.5) / m as f64)).collect();
    let size = (raw.iter().map(|x| x * x).sum::<f64>() / m as f64).sqrt();
    raw.iter().map(|x| x / size).collect()
}

/// Derivative at angle 0 of the rate at which the field rotates two axes back to those of the sources.
fn strength(spec: &Spec, z: &[f64], s: f64) -> f64 {
    let x: Vec<f64> = z.iter().flat_map(|u| z.iter().flat_map(move |v| [s * u, s * v])).collect();
    let turning = |angle: f64| {
        let (sin, cos) = f64::sin_cos(angle);
        let w = [cos, -sin, sin, cos];
        let (mut field, mut g) = (Field::new(spec, 2, 2), vec![0.0; 4]);
        field.half_gradient(&x, &w, &mut State::new(spec));
        field.gradient(&x, &w, &mut g);
        // The antisymmetric part of W'G is a rotation.
        let entry = |i: usize, j: usize| w[i] * g[j] + w[2 + i] * g[2 + j];
        0.5 * (entry(1, 0) - entry(0, 1))
    };
    (turning(1e-3) - turning(-1e-3)) / 2e-3
}

#[test]
fn the_effect_of_the_decoder_on_separation_follows_its_formula() {
    let laplace = values(|u| -(u - 0.5f64).signum() * (1.0 - 2.0 * (u - 0.5).abs()).ln(), 300);
    let uniform = values(|u| u - 0.5, 300);
    let main = Spec { sigma: Sigma::Batch, ..NONLINEAR[MAIN].spec.unwrap() };
    for (z, name, sign) in [(&laplace, "Laplace", -1.0), (&uniform, "uniform", 1.0)] {
        for a in [0.8, 1.0, 4.0] {
            let mean = |f: &dyn Fn(f64, f64, f64) -> f64| {
                let at = |z: f64| {
                    let t = (z / a).tanh();
                    f(z, a * t, 1.0 - t * t)
                };
                z.iter().map(|z| at(*z)).sum::<f64>() / z.len() as f64
            };
            let b = mean(&|z, h, slope| z * (h - z) * slope);
            let score_slope =
                mean(&|z, h, slope| (slope - 1.0) * slope - (h - z) * 2.0 * (z / a).tanh() * slope / a);
            let d = mean(&|z, h, slope| z * h - slope);
            assert!(d * sign > 0.0, "{name}, a {a}: {d}");
            for s in [0.5, 2.0] {
                let gap = score_slope - b;
                for (dec, scale, want) in [
                    (0.0, DecoderScale::One, s * s * gap),
                    (1.0, DecoderScale::One, s * s * (gap + d)),
                    (0.3, DecoderScale::One, s * s * (gap + 0.3 * d)),
                    (1.0, DecoderScale::Spectral, s * s * gap + s * d),
                    (1.0, DecoderScale::Frobenius, s * s * gap + s * d / 2f64.sqrt()),
                    (1.0, DecoderScale::Nuclear, s * s * gap + s * d / 2.0),
                    (1.0, DecoderScale::NoSigma, s * s * gap + s * d),
                    (1.0, DecoderScale::EncoderSigma, s * s * s * gap + s * s * d),
                ] {
                    let spec = Spec { a, dec, dec_scale: scale, ..main };
                    let found = strength(&spec, z, s);
                    assert!(
                        (found - want).abs() < 1e-4 * s * s,
                        "{name}, a {a}, s {s}, {dec} {scale:?}: {found}, not {want}"
                    );
                }
            }
        }
    }
}
