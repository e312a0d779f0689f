//! Accuracy of fits: independent sources, the exact deviation from orthonormality, and features of overcomplete data.

use super::{fit, laplace, matrix, never_rises, squares};
use crate::made::numbers;
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::method::rica::{Beta, Penalty};
use unmix::{Matrix, Outcome, Rica};

const SOURCES: usize = 8;
const ROWS: usize = 5000;

/// Amari distance of a gain matrix from a permutation: 0 for a scaled permutation, 1 for a matrix of equal numbers.
fn amari(gain: &Matrix<f64>) -> f64 {
    let n = gain.rows();
    let of =
        |entries: Vec<f64>| entries.iter().sum::<f64>() / entries.iter().fold(0.0f64, |m, x| m.max(*x)) - 1.0;
    let rows: f64 = (0..n).map(|i| of((0..n).map(|j| gain[(i, j)].abs()).collect())).sum();
    let columns: f64 = (0..n).map(|j| of((0..n).map(|i| gain[(i, j)].abs()).collect())).sum();
    (rows + columns) / (2 * n * (n - 1)) as f64
}

/// Symmetric FastICA with the log cosh contrast (Hyvärinen 1999), on white rows.
fn fastica(z: &[f64], d: usize) -> Matrix<f64> {
    let n = (z.len() / d) as f64;
    let mut w = factor::orthonormal_rows(&super::normal(d, d, 77));
    for _ in 0..200 {
        let mut next = Matrix::zeros(d, d);
        for z in z.chunks_exact(d) {
            for i in 0..d {
                let t = (0..d).map(|j| w[(i, j)] * z[j]).sum::<f64>().tanh();
                (0..d).for_each(|j| next[(i, j)] += (t * z[j] - (1.0 - t * t) * w[(i, j)]) / n);
            }
        }
        // Symmetric orthogonalisation, (A A')^(-1/2) A.
        let (values, vectors) = factor::eigh(&factor::multiply_transposed(&next, &next)).unwrap();
        let root = Matrix::from_fn(d, d, |i, j| vectors[(i, j)] / values[i].sqrt());
        let before = w;
        w = factor::multiply(&factor::multiply(&vectors.transposed(), &root), &next);
        let moved = (0..d).fold(0.0f64, |m, i| {
            let cosine: f64 = (0..d).map(|j| w[(i, j)] * before[(i, j)]).sum();
            (0..d).fold(m, |m, j| m.max((w[(i, j)] - cosine.signum() * before[(i, j)]).abs()))
        });
        if moved < 1e-9 {
            break;
        }
    }
    w
}

fn complete(beta: f64, tol: f64) -> Rica {
    Rica { beta: Beta::Weight(beta), tol: Some(tol), ..Rica::default() }
}

#[test]
fn complete_features_are_the_sources_that_fastica_finds() {
    for seed in 0..3 {
        let (x, mixing) = laplace(ROWS, SOURCES, seed);
        let near = fit(&complete(0.1, 1e-7), &x, SOURCES);
        let far = fit(&complete(1.0, 1e-7), &x, SOURCES);
        // Whitened rows, in the model's whitened coordinates.
        let (axes, scale, mean) =
            (matrix(&near, "rotation"), numbers(&near, "scale"), numbers(&near, "mean"));
        let whitener = Matrix::from_fn(SOURCES, SOURCES, |i, j| axes[(j, i)] / scale[i]);
        let z: Vec<f64> = x
            .chunks_exact(SOURCES)
            .flat_map(|r| {
                (0..SOURCES)
                    .map(|i| (0..SOURCES).map(|j| whitener[(i, j)] * (r[j] - mean[j])).sum())
                    .collect::<Vec<f64>>()
            })
            .collect();
        let unmixing = factor::multiply(&fastica(&z, SOURCES), &whitener);
        let reference = amari(&factor::multiply(&unmixing, &mixing));
        let of = |model| amari(&factor::multiply(&matrix(model, "components"), &mixing));
        let (near, far) = (of(&near), of(&far));
        assert!(near <= 1.02 * reference, "seed {seed}: {near} and FastICA {reference}");
        assert!(far <= 1.05 * reference, "seed {seed}: {far} and FastICA {reference}");
        assert!((0.005..0.03).contains(&reference), "seed {seed}: FastICA {reference}");
    }
}

#[test]
fn the_default_weight_finds_the_sources() {
    for contrast in [Penalty::LogCosh, Penalty::SmoothL1] {
        let (x, mixing) = laplace(ROWS, SOURCES, 5);
        let model = fit(&Rica { contrast, ..Rica::default() }, &x, SOURCES);
        assert_eq!(model.report().outcome, Outcome::Converged, "{contrast:?}");
        let distance = amari(&factor::multiply(&matrix(&model, "components"), &mixing));
        assert!(distance < 0.02, "{contrast:?}: {distance}");
        never_rises(&model);
    }
}

#[test]
fn features_are_as_far_from_orthonormal_as_the_exact_formula() {
    // E[s tanh(a s)] of a Laplace source of unit variance, by the trapezoid rule.
    let mean = |a: f64| {
        let h = 1e-3;
        (1..40_000)
            .map(|i| h * i as f64)
            .map(|s| h * s * (a * s).tanh() * 2f64.sqrt() * (-(2f64.sqrt()) * s).exp())
            .sum::<f64>()
    };
    for (beta, published) in [(1.0, 0.392), (0.1, 0.0376)] {
        // The root of 4 a (a² - 1) + beta E[s g'(a s)] between 1/2 and 1, by bisection.
        let (mut low, mut high) = (0.5, 1.0);
        for _ in 0..60 {
            let a: f64 = 0.5 * (low + high);
            if 4.0 * a * (a * a - 1.0) + beta * mean(a) > 0.0 { high = a } else { low = a }
        }
        let law = (SOURCES as f64).sqrt() * (1.0 - low * low);
        assert!((law / published - 1.0).abs() < 2e-3, "{law} not {published}");
        for seed in 0..3 {
            let (x, _) = laplace(ROWS, SOURCES, seed);
            let w = matrix(&fit(&complete(beta, 1e-7), &x, SOURCES), "second_rotation");
            let mut apart = factor::multiply(&w.transposed(), &w);
            (0..SOURCES).for_each(|i| apart[(i, i)] -= 1.0);
            let found = squares(&apart).sqrt();
            assert!((found / law - 1.0).abs() < 0.03, "beta {beta}, seed {seed}: {found} not {law}");
        }
    }
}

#[test]
fn a_weight_above_the_critical_one_collapses_a_small_start() {
    for seed in 0..3 {
        let (x, _) = laplace(ROWS, SOURCES, seed);
        let small = super::normal(SOURCES, SOURCES, seed);
        let w_init = (0..SOURCES).map(|i| small.row(i).iter().map(|v| 0.01 * v).collect()).collect();
        let spec = Rica { w_init: Some(w_init), ..complete(10.0, 1e-6) };
        let model = fit(&spec, &x, SOURCES);
        assert_eq!(model.report().outcome, unmix::Outcome::Collapsed);
        let text = model.report().warnings.join("; ");
        assert!(
            text.contains("beta=10")
                && text.contains("collapsed to 0")
                && text.contains("beta of at least 4"),
            "{text}"
        );
        // Half of the critical weight does not collapse.
        let spec = Rica { beta: Beta::Weight(2.0), ..spec };
        let model = fit(&spec, &x, SOURCES);
        assert!(model.report().warnings.is_empty(), "{:?}", model.report().warnings);
        assert_ne!(model.report().outcome, Outcome::Collapsed);
    }
}

/// `n` rows of `p` columns that are sparse sums of `k` atoms of unit length, and the atoms.
fn overcomplete(n: usize, p: usize, k: usize, seed: u64) -> (Vec<f64>, Matrix<f64>) {
    let (s, atoms) = (Stream::new(seed, 0), super::normal(k, p, 300 + seed));
    let lengths: Vec<f64> = (0..k).map(|i| atoms.row(i).iter().map(|v| v * v).sum::<f64>().sqrt()).collect();
    let atoms = Matrix::from_fn(k, p, |i, j| atoms[(i, j)] / lengths[i]);
    let mut x = vec![0.0; n * p];
    for (i, row) in x.chunks_exact_mut(p).enumerate() {
        for c in 0..k {
            let at = 2 * (i * k + c) as u64;
            if s.uniform(at) < 0.05 {
                let z = s.normal(1_000_000_000 + at);
                row.iter_mut().zip(atoms.row(c)).for_each(|(x, a)| *x += z * a);
            }
        }
    }
    (x, atoms)
}

#[test]
fn more_features_than_columns_are_of_length_one_and_near_the_atoms() {
    let (p, k) = (16, 32);
    let (x, atoms) = overcomplete(6000, p, k, 1);
    let spec = Rica {
        n_components: Some(k),
        beta: Beta::Weight(0.5),
        max_iter: 300,
        center: false,
        ..Rica::default()
    };
    let model = fit(&spec, &x, p);
    never_rises(&model);
    let (components, mixing) = (matrix(&model, "components"), matrix(&model, "mixing"));
    assert_eq!((components.rows(), mixing.cols()), (k, k));
    // Components in whitened coordinates: times the square root of the covariance.
    let c = factor::multiply(
        &Matrix::from_vec(6000, p, x.clone()).transposed(),
        &Matrix::from_vec(6000, p, x.clone()),
    );
    let white = factor::multiply(&components, &c);
    for i in 0..k {
        let length: f64 = components.row(i).iter().zip(white.row(i)).map(|(a, b)| a * b / 6000.0).sum();
        assert!((length - 1.0).abs() < 1e-9, "feature {i}: {length}");
    }
    let coherence = numbers(&model, "coherence")[0];
    assert!(coherence > 0.0 && coherence <= 1.0, "{coherence}");
    // Features need not equal the atoms. L-BFGS of another implementation, on such data and with this beta, ends at mean cosines of
    // 0.79 to 0.82 in whitened coordinates, with a share of 0.1 to 0.31 of them above 0.95.
    let (values, axes) = factor::eigh(&c).unwrap();
    let along = |m: &Matrix<f64>, power: f64| {
        let mut out = factor::multiply_transposed(m, &axes);
        (0..out.rows())
            .for_each(|i| out.row_mut(i).iter_mut().zip(&values).for_each(|(x, v)| *x *= v.powf(power)));
        out
    };
    let cosine = unmix::metrics::match_rows(&along(&atoms, -0.5), &along(&components, 0.5)).cosine;
    let mean = cosine.iter().sum::<f64>() / k as f64;
    let near = cosine.iter().filter(|c| **c > 0.95).count();
    assert!((0.79..0.82).contains(&mean) && (3..=10).contains(&near), "{mean}, {near} of {k} above 0.95");
}

#[test]
fn without_unit_norm_some_of_too_many_features_vanish_with_a_warning() {
    let (p, k) = (8, 24);
    let (x, _) = overcomplete(3000, p, k, 2);
    let free = Rica {
        n_components: Some(k),
        unit_norm: unmix::method::rica::UnitNorm::Always(false),
        beta: Beta::Weight(2.0),
        ..Rica::default()
    };
    let model = fit(&free, &x, p);
    let warned = model.report().warnings.iter().any(|w| w.contains("have collapsed to 0"));
    assert!(warned, "{:?} {:?}", model.report().warnings, model.report().outcome);
}

#[test]
fn unwhitened_columns_of_few_rows_converge_to_the_tolerance() {
    // 60 rows of 600 columns whose variances span five powers of ten, with most of the variance in a few directions, as in gene
    // expression data: the objective is near 200, so steps that reduce the gradient below 1e-5 are lost in its rounding errors.
    let (n, p) = (60, 600);
    let (s, few) = (Stream::new(8, 0), super::normal(4, p, 8));
    let x: Vec<f64> = (0..n * p)
        .map(|at| {
            let (i, j) = (at / p, at % p);
            let common: f64 = (0..4).map(|c| s.laplace((9_000_000 + 4 * i + c) as u64) * few[(c, j)]).sum();
            10f64.powf(2.5 * s.normal(8_000_000 + j as u64).clamp(-1.0, 1.0))
                * (common + 0.5 * s.normal(at as u64))
        })
        .collect();
    for contrast in [Penalty::LogCosh, Penalty::SmoothL1] {
        let spec = Rica { n_components: Some(5), whiten: false, contrast, ..Rica::default() };
        let model = fit(&spec, &x, p);
        let report = model.report();
        assert_eq!(report.outcome, Outcome::Converged, "{contrast:?}: {:?}", report.residual);
        assert!(report.residual.unwrap() <= 1e-6);
        never_rises(&model);
        let single: Vec<f32> = crate::made::cast(&x);
        let model =
            spec.fit(&mut unmix::Rows::from_slice(&single, p).unwrap(), &crate::made::on_threads(2)).unwrap();
        assert_eq!(
            model.report().outcome,
            Outcome::Converged,
            "{contrast:?}, single: {:?}",
            model.report().residual
        );
    }
}

#[test]
fn unwhitened_columns_of_few_rows_keep_the_variance_of_principal_components() {
    // 40 rows of 700 columns: random directions in the space of columns would be nearly orthogonal to the span of the rows, and
    // collapse to 0.
    let (n, p, k) = (40, 700, 3);
    let x = crate::made::falling(n, p, 3);
    let left = |model: &unmix::Model| {
        let back = crate::made::decode(model, &crate::made::encode(model, &x));
        x.iter().zip(&back).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
    };
    let pca = left(&crate::made::pca(serde_json::json!({"n_components": k}), &x, p));
    for contrast in [Penalty::LogCosh, Penalty::SmoothL1] {
        for unit in [1.0, 1e5] {
            let scaled: Vec<f64> = x.iter().map(|v| v * unit).collect();
            let spec = Rica { n_components: Some(k), whiten: false, contrast, ..Rica::default() };
            let model = fit(&spec, &scaled, p);
            assert_ne!(model.report().outcome, unmix::Outcome::Collapsed, "{contrast:?}, {unit}");
            let own = left(&fit(&spec, &x, p));
            assert!(own < 1.1 * pca, "{contrast:?}: {own} is left, by principal components {pca}");
        }
    }
    // A beta that outweighs the reconstruction error: the features collapse to 0, as the outcome reports.
    let heavy = Rica { n_components: Some(k), whiten: false, beta: Beta::Weight(1e3), ..Rica::default() };
    assert_eq!(fit(&heavy, &x, p).report().outcome, unmix::Outcome::Collapsed);
}
