//! Rows with a low-rank part, a sparse part, and noise in every cell.

use super::{Made, distance, fit, low_rank, rank};
use crate::made::numbers;
use unmix::internal::num::factor;
use unmix::method::robust_pca::{Noise, RobustPca};
use unmix::{Matrix, Outcome};

/// An oracle: the matrix of rank `r` nearest to the cells without errors, computed with knowledge of which cells these are, from the
/// true low-rank part.
fn oracle(made: &Made, r: usize) -> Vec<f64> {
    let (n, p) = (made.low.rows(), made.low.cols());
    let (x, mut at) = (made.x(), made.low.clone());
    for _ in 0..15 {
        let filled = Matrix::from_fn(n, p, |i, j| match made.sparse[(i, j)] == 0.0 {
            true => x[i * p + j],
            false => at[(i, j)],
        });
        let (values, vectors) = factor::eigh(&factor::multiply(&filled.transposed(), &filled)).unwrap();
        assert!(values[r - 1] > 0.0);
        let v = vectors.top_rows(r);
        at = factor::multiply(&factor::multiply_transposed(&filled, &v), &v);
    }
    at.into_vec()
}

/// Errors of `+-0.3` in 5 % of the cells: the exact rank, and at most 1.1 times the error of the oracle, medians of 5 seeds.
#[test]
fn the_rank_is_exact_and_the_error_near_that_of_an_oracle() {
    for n in [100, 200] {
        for std in [0.002, 0.005] {
            let r = n / 20;
            let mut ratios = Vec::new();
            for seed in 0..5 {
                let made = Made::new((n, n, r), n as f64, (0.05, 0.3), std, seed);
                let x = made.x();
                let model = fit(&RobustPca::default(), &x, n);
                assert_eq!(rank(&model), r, "n={n}, noise {std}, seed {seed}");
                assert_eq!(model.report().outcome, Outcome::Converged);
                let noise = numbers(&model, "noise_std")[0] / std;
                assert!((0.98..1.15).contains(&noise), "n={n}, noise {std}, seed {seed}: {noise}");
                let ours = distance(&low_rank(&model, &x), made.low.as_slice());
                ratios.push(ours / distance(&oracle(&made, r), made.low.as_slice()));
            }
            ratios.sort_by(f64::total_cmp);
            assert!(ratios[2] <= 1.1, "n={n}, noise {std}: {ratios:?}");
        }
    }
}

/// Offsets of columns do not hide noise; where the tolerance, which is relative to the cells, does not resolve the rest, there is a warning.
#[test]
fn noise_is_found_beside_offsets_of_columns() {
    let made = Made::new((200, 40, 5), 1.0, (0.05, 20.0), 0.1, 3);
    let warned = |model: &unmix::Model| crate::made::warned(model, "choose center=true");
    for offset in [0.0, 1000.0] {
        let x: Vec<f64> = made.x().iter().map(|x| x + offset).collect();
        let model = fit(&RobustPca::default(), &x, 40);
        let noise = numbers(&model, "noise_std")[0];
        assert!((0.08..0.15).contains(&noise), "offset {offset}: {noise}");
        assert_eq!(rank(&model), if offset > 0.0 { 6 } else { 5 }, "offset {offset}");
        assert!(!warned(&model), "{:?}", model.report().warnings);
    }
    let x: Vec<f64> = made.x().iter().map(|x| x + 1e8).collect();
    assert!(warned(&fit(&RobustPca::default(), &x, 40)));
    let centred = fit(&RobustPca { center: true, ..RobustPca::default() }, &x, 40);
    assert!(!warned(&centred) && (0.08..0.15).contains(&numbers(&centred, "noise_std")[0]));
}

#[test]
fn other_shapes_ranks_and_errors_have_their_rank_too() {
    let designs = [
        ((200, 200, 10), 1.0, (0.05, 20.0), 0.3),
        ((80, 300, 4), 1.0, (0.05, 10.0), 0.2),
        ((100, 100, 10), 100.0, (0.1, 1.0), 0.01),
    ];
    for (shape, unit, errors, std) in designs {
        for seed in 0..2 {
            let made = Made::new(shape, unit, errors, std, seed);
            let model = fit(&RobustPca::default(), &made.x(), made.p());
            assert_eq!(rank(&model), shape.2, "{shape:?}, seed {seed}");
            let degrees = (shape.2 * (shape.0 + shape.1 - shape.2)) as f64;
            let error = distance(&low_rank(&model, &made.x()), made.low.as_slice()) / (std * degrees.sqrt());
            assert!(error < 1.15, "{shape:?}, seed {seed}: {error}");
        }
    }
}

/// With noise, without it although the rows have some, with gaps, about medians, and standardized.
#[test]
fn singular_values_and_the_sparse_share_are_those_of_what_the_model_gives_back() {
    let made = Made::new((80, 40, 3), 1.0, (0.08, 6.0), 0.5, 7);
    let (x, p) = (made.x(), 40);
    let mut gaps = x.clone();
    gaps.iter_mut().enumerate().filter(|(at, _)| at % 11 == 3).for_each(|(_, x)| *x = f64::NAN);
    let exact = RobustPca { noise: Noise::Std(0.0), ..RobustPca::default() };
    let known = RobustPca { noise: Noise::Std(0.4), center: true, ..RobustPca::default() };
    let standardized = RobustPca { standardize: true, ..RobustPca::default() };
    for (name, spec, x) in [
        ("estimated", &RobustPca::default(), &x),
        ("exact", &exact, &x),
        ("with gaps", &RobustPca::default(), &gaps),
        ("about medians", &known, &x),
        ("standardized", &standardized, &x),
    ] {
        let model = fit(spec, x, p);
        let spread = if spec.standardize { numbers(&model, "spread") } else { vec![1.0; p] };
        let (mean, low) = (numbers(&model, "mean"), low_rank(&model, x));
        let scaled = Matrix::from_fn(80, p, |i, j| (low[i * p + j] - mean[j]) / spread[j]);
        let (values, _) = factor::svd_right(&scaled).unwrap();
        let singular = numbers(&model, "singular_values");
        assert!(
            !singular.is_empty() && crate::made::apart(&singular, &values[..singular.len()]) < 1e-6,
            "{name}"
        );
        let noise = model.report().settings["noise"].as_f64().unwrap();
        let size =
            (scaled.as_slice().iter().map(|x| x * x).sum::<f64>() / scaled.as_slice().len() as f64).sqrt();
        let cut = if noise > 0.0 { 4.5 * noise } else { 1e-4 * size };
        let seen = || (0..x.len()).filter(|&at| !x[at].is_nan());
        let far = seen().filter(|&at| (x[at] - low[at]).abs() / spread[at % p] > cut).count();
        let share = model.report().diagnostics["sparse_share"].as_f64().unwrap();
        assert!((share - far as f64 / seen().count() as f64).abs() < 1e-12, "{name}: {share}");
        // The codes are along the axes of the low-rank part: uncorrelated about 0, and as long as the singular values.
        let codes = crate::made::encode(&model, x);
        let k = singular.len();
        for (a, b) in (0..k).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            let dot: f64 = codes.chunks_exact(k).map(|y| y[a] * y[b]).sum();
            let want = if a == b { singular[a].powi(2) } else { 0.0 };
            assert!((dot - want).abs() < 1e-6 * singular[0].powi(2), "{name}: {a}, {b}");
        }
    }
}

#[test]
fn a_known_noise_is_used_and_noise_alone_has_rank_0() {
    let made = Made::new((100, 100, 5), 100.0, (0.05, 0.3), 0.005, 1);
    let model = fit(&RobustPca { noise: Noise::Std(0.005), ..RobustPca::default() }, &made.x(), 100);
    assert_eq!(rank(&model), 5);
    // Not that of the residuals, which is 5 to 11 % larger.
    assert_eq!(numbers(&model, "noise_std"), [0.005]);
    assert_eq!(model.report().settings["noise"], 0.005);
    let objective = &model.report().objective;
    assert!(objective.last() < objective.first());
    let made = Made::new((60, 80, 0), 1.0, (0.0, 0.0), 0.7, 1);
    let model = fit(&RobustPca::default(), &made.x(), 80);
    assert_eq!(rank(&model), 0);
    assert!((numbers(&model, "noise_std")[0] / 0.7 - 1.0).abs() < 0.05);
}
