//! The separation coefficient of a pair of sources, against the numerical derivative of the update field on product densities.

use unmix::internal::neural::pairs::separation;
use unmix::internal::neural::separation::Separation;

/// `m` equally likely values of a distribution, standardized to variance 1, from its quantile function.
fn values(quantile: fn(f64) -> f64, m: usize) -> Vec<f64> {
    let raw: Vec<f64> = (0..m).map(|i| quantile((i as f64 + 0.5) / m as f64)).collect();
    let size = (raw.iter().map(|x| x * x).sum::<f64>() / m as f64).sqrt();
    raw.iter().map(|x| x / size).collect()
}

fn laplace(u: f64) -> f64 {
    let v = u - 0.5;
    -v.signum() * (1.0 - 2.0 * v.abs()).ln()
}

fn uniform(u: f64) -> f64 {
    u - 0.5
}

fn phi(z: f64, a: f64) -> f64 {
    let t = (z / a).tanh();
    (a * t - z) * (1.0 - t * t)
}

/// Rate at which axes rotated by `angle` are rotated further: `s_2^alpha f_12 - s_1^alpha f_21`, `f_ij = E[y_i s_j phi(z_j)]`.
fn rotation_rate(sources: [&[f64]; 2], s: [f64; 2], a: [f64; 2], alpha: f64, angle: f64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let along = |x: f64, y: f64| (x * x * cos * cos + y * y * sin * sin).sqrt();
    let sigma = [along(s[0], s[1]), along(s[1], s[0])];
    let (mut f12, mut f21) = (0.0, 0.0);
    for &u in sources[0] {
        for &v in sources[1] {
            let (x, y) = (s[0] * u, s[1] * v);
            let (y1, y2) = (cos * x + sin * y, cos * y - sin * x);
            f12 += y1 * sigma[1] * phi(y2 / sigma[1], a[1]);
            f21 += y2 * sigma[0] * phi(y1 / sigma[0], a[0]);
        }
    }
    let n = (sources[0].len() * sources[1].len()) as f64;
    (sigma[1].powf(alpha) * f12 - sigma[0].powf(alpha) * f21) / n
}

#[test]
fn the_law_of_pairs_is_the_slope_of_the_field() {
    let (sharp, flat) = (values(laplace, 400), values(uniform, 400));
    let (sharp, flat) = (&sharp[..], &flat[..]);
    let pairs = [
        ([sharp, sharp], [1.0, 1.0], [4.0, 4.0]),
        ([sharp, flat], [1.0, 1.0], [4.0, 0.8]),
        ([sharp, flat], [1.0, 2.0], [4.0, 4.0]),
        ([flat, flat], [1.3, 1.0], [4.0, 4.0]),
        ([sharp, sharp], [1.0, 3.0], [0.8, 0.8]),
    ];
    for (sources, s, a) in pairs {
        for alpha in [0.0, 1.0, 2.0] {
            let mean = |f: &dyn Fn(f64, f64) -> f64| {
                (0..2)
                    .map(|j| sources[j].iter().map(|&z| f(z, a[j])).sum::<f64>() / sources[j].len() as f64)
                    .collect::<Vec<f64>>()
            };
            let slope = |z: f64, a: f64| (phi(z + 1e-5, a) - phi(z - 1e-5, a)) / 2e-5;
            let look = Separation {
                b: mean(&|z, a| z * phi(z, a)),
                score_slope: mean(&slope),
                error: vec![0.0; 2],
                ..Separation::default()
            };
            let (law, _) = separation(&s, &look, alpha, 0, 1);
            let unit = s[0].max(s[1]).powf(alpha + 2.0);
            let h = 1e-4;
            let back = rotation_rate(sources, s, a, alpha, -h) - rotation_rate(sources, s, a, alpha, h);
            let slope = back / (2.0 * h) / unit;
            // A positive coefficient means that the field rotates the pair back to its axes.
            assert!(
                (slope - law).abs() < 1e-6 + 1e-3 * law.abs(),
                "{s:?} {a:?} alpha {alpha}: {slope} and {law}"
            );
        }
    }
}
