//! Tests of `contrast`.

use super::*;
use crate::num::random::Stream;

const ALL: [Contrast; 6] = [
    Contrast::LogCosh(1.0),
    Contrast::LogCosh(0.5),
    Contrast::Exp,
    Contrast::Cube,
    Contrast::Skew,
    Contrast::AbsCube,
];

fn naive(c: Contrast, y: f64) -> (f64, f64, f64) {
    match c {
        Contrast::LogCosh(a) => ((a * y).tanh(), a * (1.0 - (a * y).tanh().powi(2)), log_cosh(a * y) / a),
        Contrast::Exp => {
            let e = (-y * y / 2.0).exp();
            (y * e, (1.0 - y * y) * e, -e)
        }
        Contrast::Cube => (y.powi(3), 3.0 * y * y, y.powi(4) / 4.0),
        Contrast::Skew => (y * y, 2.0 * y, y.powi(3) / 3.0),
        Contrast::AbsCube => (y * y.abs(), 2.0 * y.abs(), y.abs().powi(3) / 3.0),
    }
}

#[test]
fn sums_are_those_of_the_formulas_whatever_the_length() {
    let s = Stream::new(5, 0);
    for n in [1usize, 15, 16, 17, 511, 512, 513, 2000] {
        let y: Vec<f64> = (0..n).map(|i| 3.0 * s.normal(i as u64)).collect();
        let narrow: Vec<f32> = y.iter().map(|&v| v as f32).collect();
        for c in ALL {
            let (mut out, mut small) = (vec![0.0; n], vec![0.0f32; n]);
            let (found, single) = (c.apply(&y, &mut out), c.apply(&narrow, &mut small));
            let (mut slope, mut loss, mut size) = (0.0, 0.0, 1.0);
            for (y, g) in y.iter().zip(&out) {
                let want = naive(c, *y);
                assert!((g - want.0).abs() <= 1e-15 * want.0.abs().max(1e-3), "{c:?} of {y}");
                (slope, loss) = (slope + want.1, loss + want.2);
                size += want.1.abs() + want.2.abs();
            }
            assert!((found.slope - slope).abs() < 1e-14 * size, "{c:?}, {n}: slope");
            assert!((found.loss - loss).abs() < 1e-14 * size, "{c:?}, {n}: loss");
            assert!((single.slope - slope).abs() < 2e-6 * size, "{c:?}, {n}: slope in f32");
            assert!((single.loss - loss).abs() < 2e-6 * size, "{c:?}, {n}: loss in f32");
        }
    }
}

#[test]
fn sources_of_a_panel_have_the_sums_of_each_alone() {
    let s = Stream::new(6, 0);
    for (n, k, width) in [(1, 3, 4), (95, 2, 2), (97, 8, 8), (3000, 13, 16), (2001, 4, 4)] {
        let mut y = vec![0.0; n * width];
        for r in 0..n {
            (0..k).for_each(|j| y[r * width + j] = 3.0 * s.normal((r * k + j) as u64));
        }
        let narrow: Vec<f32> = y.iter().map(|&v| v as f32).collect();
        for c in ALL {
            let (mut out, mut slope, mut loss) = (vec![0.0; y.len()], vec![1.0; k], vec![1.0; k]);
            c.apply_to_panel(&y, &mut out, width, &mut slope, &mut loss);
            let (mut small, mut slope32, mut loss32) = (vec![0f32; y.len()], vec![1.0; k], vec![1.0; k]);
            c.apply_to_panel(&narrow, &mut small, width, &mut slope32, &mut loss32);
            for j in 0..k {
                let column: Vec<f64> = (0..n).map(|r| y[r * width + j]).collect();
                let mut g = vec![0.0; n];
                let want = c.apply(&column, &mut g);
                let size =
                    1.0 + column.iter().map(|&y| naive(c, y).1.abs() + naive(c, y).2.abs()).sum::<f64>();
                assert!((slope[j] - 1.0 - want.slope).abs() < 1e-13 * size, "{c:?}: slope of source {j}");
                assert!((loss[j] - 1.0 - want.loss).abs() < 1e-13 * size, "{c:?}: loss of source {j}");
                assert!((slope32[j] - 1.0 - want.slope).abs() < 2e-6 * size, "{c:?}: slope in f32");
                assert!((loss32[j] - 1.0 - want.loss).abs() < 2e-6 * size, "{c:?}: loss in f32");
                assert!((0..n).all(|r| out[r * width + j] == g[r]), "{c:?}: scores of source {j}");
            }
        }
    }
}

#[test]
fn products_of_many_factors_stay_in_range_whatever_the_numbers() {
    // Every factor is 2, the largest there is, and there are many times as many as either type can hold the product of.
    let n = 70_000;
    let want = n as f64 * (100.0 - std::f64::consts::LN_2);
    for width in [1, 4, 16] {
        let (mut slope, mut loss) = (vec![0.0; width], vec![0.0; width]);
        let (y, mut out) = (vec![-100f32; n * width], vec![0f32; n * width]);
        Contrast::LogCosh(1.0).apply_to_panel(&y, &mut out, width, &mut slope, &mut loss);
        assert!(loss.iter().all(|l| (l / want - 1.0).abs() < 1e-12), "{width}: {loss:?}, not {want}");
        assert!(slope.iter().all(|s| *s == 0.0));
        let (y, mut out) = (vec![100f64; n * width], vec![0f64; n * width]);
        let (mut slope, mut loss) = (vec![0.0; width], vec![0.0; width]);
        Contrast::LogCosh(1.0).apply_to_panel(&y, &mut out, width, &mut slope, &mut loss);
        assert!(loss.iter().all(|l| (l / want - 1.0).abs() < 1e-12), "{width}: {loss:?}, not {want}");
    }
}

#[test]
fn slopes_are_differences_of_the_functions() {
    for c in ALL {
        for y in [-2.3, -0.4, 0.7, 1.9] {
            let h = 1e-5;
            let (up, down) = (naive(c, y + h), naive(c, y - h));
            assert!(((up.2 - down.2) / (2.0 * h) - naive(c, y).0).abs() < 1e-9, "{c:?}");
            assert!(((up.0 - down.0) / (2.0 * h) - naive(c, y).1).abs() < 1e-9, "{c:?}");
        }
    }
}

#[test]
fn expectations_under_a_gaussian_follow_from_integrals() {
    for c in ALL {
        let mean = c.mean_of(|y| naive(c, y).2);
        assert!((c.of_gaussian() - mean).abs() < 1e-12, "{c:?}: {mean}");
        for size in [0.4, 1.0, 1.7] {
            let tau = |u: f64| size * size * naive(c, size * u).1 - size * u * naive(c, size * u).0;
            // What is left when the parts that a known mean and variance explain are taken away.
            let (a, b) = (c.mean_of(|y| tau(y) * y), c.mean_of(|y| tau(y) * (y * y - 1.0)) / 2.0);
            let rest = c.mean_of(|y| (tau(y) - a * y - b * (y * y - 1.0)).powi(2)).sqrt();
            assert!(c.mean_of(tau).abs() < 1e-12 * size.powi(4).max(1.0), "{c:?}");
            assert!((c.deviation_of_gaussian(size) / rest - 1.0).abs() < 1e-9, "{c:?}: {rest}");
        }
    }
    // In closed form.
    assert!((Contrast::Cube.deviation_of_gaussian(1.0) - 24f64.sqrt()).abs() < 1e-9);
    assert!((Contrast::Skew.deviation_of_gaussian(1.0) - 6f64.sqrt()).abs() < 1e-9);
}

#[test]
fn partition_functions_are_integrals_of_the_densities() {
    let integral =
        |f: &dyn Fn(f64) -> f64| (-4000..=4000).map(|i| 0.01 * f(0.01 * f64::from(i))).sum::<f64>();
    for (c, sign) in [
        (Contrast::LogCosh(1.0), None),
        (Contrast::LogCosh(0.5), None),
        (Contrast::LogCosh(1.0), Some(1.0)),
        (Contrast::LogCosh(1.0), Some(-1.0)),
    ] {
        let energy = |y: f64| sign.unwrap_or(1.0) * naive(c, y).2 + sign.map_or(0.0, |_| 0.5 * y * y);
        let want = integral(&|y| (-energy(y)).exp()).ln();
        assert!((c.log_partition(sign).unwrap() - want).abs() < 1e-9, "{c:?}, {sign:?}: {want}");
    }
    assert!(Contrast::Cube.log_partition(None).is_none());
}

#[test]
fn departures_of_many_numbers_are_those_of_each() {
    let s = Stream::new(6, 0);
    for c in ALL {
        for size in [0.3, 1.0, 2.5] {
            let mut numbers: Vec<f64> = (0..37).map(|i| 2.0 * s.normal(i)).collect();
            let departure = c.departure(size);
            let want: Vec<f64> = numbers.iter().map(|&u| departure(u)).collect();
            c.departures(size, &mut numbers);
            for (found, want) in numbers.iter().zip(&want) {
                assert!((found - want).abs() < 1e-13 * want.abs().max(1.0), "{c:?}, {size}: {found}, {want}");
            }
        }
    }
}
