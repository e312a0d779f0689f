use super::*;
use crate::num::random::Stream;
use crate::num::{Matrix, factor};
use crate::stats::gaps::{LinePosteriors, LinearGaussian};

/// A model with errors of every loading and mean, and its errors.
fn model(p: usize, k: usize) -> (LinearGaussian, Vec<f64>) {
    let s = Stream::new(3, 0);
    let loadings = Matrix::from_fn(p, k, |j, a| s.normal((j * k + a) as u64));
    let of = LinearGaussian::new((0..p).map(|j| j as f64 - 1.5).collect(), loadings, vec![0.4; p]);
    let mut errors = Vec::new();
    for j in 0..p {
        let root =
            Matrix::from_fn(k + 1, k + 1, |a, b| 0.2 * s.normal((1000 + 100 * j + a * (k + 1) + b) as u64));
        let full = factor::multiply_transposed(&root, &root);
        for a in 0..=k {
            errors.extend((0..=a).map(|b| full[(a, b)]));
        }
    }
    (of, errors)
}

/// The posterior written out: precision, inverse by eigenvalues, mean.
fn naive(of: &LinearGaussian, errors: &[f64], places: &[u32], values: &[f64]) -> (Vec<f64>, Matrix<f64>) {
    let (k, width) = (of.n_factors(), triangle(of.n_factors() + 1));
    let error = |j: usize, a: usize, b: usize| errors[j * width + triangle(a.max(b)) + a.min(b)];
    let w = |j: usize, a: usize| of.loadings[j * k + a];
    let precision = Matrix::from_fn(k, k, |a, b| {
        let sum: f64 = places
            .iter()
            .map(|&j| (w(j as usize, a) * w(j as usize, b) + error(j as usize, a, b)) / 0.4)
            .sum();
        sum + f64::from(u8::from(a == b))
    });
    let (eigen, vectors) = factor::eigh(&precision).unwrap();
    let v = Matrix::from_fn(k, k, |a, b| {
        (0..k).map(|l| vectors[(l, a)] * vectors[(l, b)] / eigen[l]).sum::<f64>()
    });
    let right: Vec<f64> = (0..k)
        .map(|a| {
            let cell = |(&j, &x): (&u32, &f64)| {
                let j = j as usize;
                (w(j, a) * (x - of.mean[j]) - error(j, k, a)) / 0.4
            };
            places.iter().zip(values).map(cell).sum()
        })
        .collect();
    ((0..k).map(|a| (0..k).map(|b| v[(a, b)] * right[b]).sum()).collect(), v)
}

#[test]
fn lists_and_blocks_of_rows_give_the_posterior_of_the_formulas() {
    let (p, k) = (7, 3);
    let (of, errors) = model(p, k);
    let ready = Conditional::with_errors(of.clone(), errors.clone(), 1);
    let s = Stream::new(5, 0);
    for places in [vec![0u32, 2, 3, 6], vec![1], vec![], (0..7).collect()] {
        let values: Vec<f64> = places.iter().map(|&j| 2.0 * s.normal(u64::from(j))).collect();
        let mut out = vec![f64::NAN; LinePosteriors::width(k)];
        ready.of_line(&places, &values, true, &mut out);
        let line = LinePosteriors::new(k, out);
        let (z, v) = naive(&of, &errors, &places, &values);
        let mut row = vec![f64::NAN; p];
        places.iter().zip(&values).for_each(|(&j, x)| row[j as usize] = *x);
        let dense = ready.posteriors(&row);
        for a in 0..k {
            assert!(
                (line.mean(0)[a] - z[a]).abs() < 1e-13 && (dense.means[a] - z[a]).abs() < 1e-13,
                "{places:?}"
            );
            for b in 0..=a {
                let found =
                    [line.covariance(0)[triangle(a) + b], dense.patterns[0].covariance[triangle(a) + b]];
                assert!(found.iter().all(|x| (x - v[(a, b)]).abs() < 1e-13), "{places:?}: {found:?}");
            }
        }
        let log: f64 = factor::eigh(&v).unwrap().0.iter().map(|x| x.ln()).sum();
        assert!((line.log_determinant(0) - log).abs() < 1e-12);
        // Expected squares of the residuals, term by term.
        let width = triangle(k + 1);
        let expected: f64 = places
            .iter()
            .zip(&values)
            .map(|(&j, &x)| {
                let j = j as usize;
                let w = |a: usize| of.loadings[j * k + a];
                let e = |a: usize, b: usize| errors[j * width + triangle(a.max(b)) + a.min(b)];
                let fitted: f64 = (0..k).map(|a| w(a) * z[a]).sum();
                let mut all = (x - of.mean[j] - fitted).powi(2) + e(k, k);
                for a in 0..k {
                    all += 2.0 * e(k, a) * z[a];
                    for b in 0..k {
                        all += v[(a, b)] * (w(a) * w(b) + e(a, b)) + z[a] * z[b] * e(a, b);
                    }
                }
                // A new observation of the cell: the noise, plus the expected square minus the squared residual.
                let spread = ready.cell_variance(j, &z, &dense.patterns[0].covariance) - 0.4;
                assert!((all - (x - of.mean[j] - fitted).powi(2) - spread).abs() < 1e-12);
                all
            })
            .sum();
        assert!((line.misfit(0) - expected).abs() < 1e-12 * (1.0 + expected), "{places:?}");
    }
}

#[test]
fn without_noise_undetermined_directions_keep_the_prior() {
    let k = 4;
    let s = Stream::new(9, 0);
    let loadings = Matrix::from_fn(6, k, |j, a| s.normal((j * k + a) as u64));
    let of = LinearGaussian::new(vec![0.0; 6], loadings.clone(), vec![1e-24; 6]);
    let ready = Conditional::new(of);
    let z = [0.3, -1.2, 0.7, 2.0];
    let cell = |j: u32| (0..k).map(|a| loadings[(j as usize, a)] * z[a]).sum::<f64>();
    for places in [vec![1u32, 4], vec![0, 1, 2], vec![0, 2, 3, 5], vec![0, 1, 2, 3, 4, 5]] {
        let values: Vec<f64> = places.iter().map(|&j| cell(j)).collect();
        let mut out = vec![0.0; LinePosteriors::width(k)];
        ready.of_line(&places, &values, false, &mut out);
        let line = LinePosteriors::new(k, out);
        // The cells are recovered.
        for (&j, x) in places.iter().zip(&values) {
            let fitted: f64 = (0..k).map(|a| loadings[(j as usize, a)] * line.mean(0)[a]).sum();
            assert!((fitted - x).abs() < 1e-11, "{places:?}: {fitted} not {x}");
        }
        let free = k.saturating_sub(places.len()) as f64;
        let trace: f64 = (0..k).map(|a| line.covariance(0)[triangle(a) + a]).sum();
        assert!((trace - free).abs() < 1e-10, "{places:?}: {trace} not {free}");
    }
}

/// Lines are solved in groups, side by side, and blocks of the table are added to all of them.
#[test]
fn the_bits_of_a_line_do_not_depend_on_the_others() {
    for (p, k, noise) in [(700, 5, 0.4), (300, 12, 0.4), (60, 1, 0.4), (40, 3, 1e-24), (9, 0, 0.4)] {
        let s = Stream::new(11, k as u64);
        let loadings = Matrix::from_fn(p, k, |j, a| s.normal((j * k + a) as u64));
        let of = LinearGaussian::new(vec![0.1; p], loadings, vec![noise; p]);
        let wide = triangle(k + 1);
        // Diagonal covariances.
        let mut errors = vec![0.0; p * wide];
        (0..p).for_each(|j| {
            (0..=k).for_each(|a| errors[j * wide + triangle(a) + a] = 0.01 * (1 + j % 3) as f64)
        });
        for ready in [Conditional::new(of.clone()), Conditional::with_errors(of, errors, 1)] {
            let cells = |i: usize| {
                let places = (0..p as u32)
                    .filter(|j| s.uniform(9_000_000 + (i * p) as u64 + u64::from(*j)) < 0.01 * i as f64);
                let places: Vec<u32> = places.collect();
                let values: Vec<f64> = places.iter().map(|j| s.normal(5_000_000 + u64::from(*j))).collect();
                (places, values)
            };
            let lists: Vec<_> = (0..70).map(cells).collect();
            let lines: Vec<_> = lists.iter().map(|(places, values)| (&places[..], &values[..])).collect();
            let width = LinePosteriors::width(k);
            let mut all = vec![f64::NAN; lines.len() * width];
            ready.of_lines(&lines, true, &mut all);
            for (line, together) in lines.iter().zip(all.chunks_exact(width)) {
                let mut alone = vec![f64::NAN; width];
                ready.of_line(line.0, line.1, true, &mut alone);
                assert!(alone.iter().zip(together).all(|(a, b)| a.to_bits() == b.to_bits()), "{p} {k}");
            }
        }
    }
}
