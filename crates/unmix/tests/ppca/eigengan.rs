//! The linear EigenGAN: the likelihood of PPCA with blocks of equal scale.

use super::{Plain, score};
use crate::made::{falling, numbers, settings, try_fit};
use crate::naive;
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::internal::num::{Matrix, factor};
use unmix::{Model, datasets};

fn fitted(given: serde_json::Value, x: &[f64], p: usize) -> Model {
    try_fit("linear-eigengan", &settings(given), x, p).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn without_groups_it_is_ppca_to_the_bit() {
    let (n, p) = (300, 9);
    let x = falling(n, p, 4);
    let ppca = try_fit("ppca", &settings(json!({"n_components": 4})), &x, p).unwrap();
    let found = fitted(json!({"n_components": 4}), &x, p);
    for name in ["components", "latent_scale", "noise_variance", "mean"] {
        assert_eq!(found.tensor(name), ppca.tensor(name), "{name}");
    }
    assert_eq!(score(&found, &x, p).to_bits(), score(&ppca, &x, p).to_bits());
}

#[test]
fn a_block_has_the_mean_of_its_variances_and_the_first_ones_are_the_likeliest() {
    let (n, p) = (400, 6);
    let x = datasets::ppca(n, p, &[6.0, 5.0, 3.0], 1.0, 9).unwrap().x.into_vec();
    let found = fitted(json!({"groups": [2, 1]}), &x, p);
    let all: Vec<f64> = numbers(&crate::made::pca(json!({}), &x, p), "explained_variance")
        .iter()
        .map(|v| v * (n as f64 - 1.0) / n as f64)
        .collect();
    let noise = all[3..].iter().sum::<f64>() / 3.0;
    let latent = numbers(&found, "latent_scale");
    let block = ((all[0] + all[1]) / 2.0 - noise).sqrt();
    assert!((latent[0] - block).abs() < 1e-10 && latent[0] == latent[1], "{latent:?}");
    assert!((latent[2] - (all[2] - noise).sqrt()).abs() < 1e-10, "{latent:?}");
    assert_eq!(numbers(&found, "blocks"), [2.0, 1.0]);
    // The maximum log-likelihood by its formula, and that of all other assignments of directions to blocks.
    let value = |two: [usize; 2], one: usize| {
        let rest: Vec<f64> = (0..p).filter(|i| !two.contains(i) && *i != one).map(|i| all[i]).collect();
        let noise = rest.iter().sum::<f64>() / 3.0;
        let (a, b) = ((all[two[0]] + all[two[1]]) / 2.0, all[one]);
        // Scales are real, so the variance of a block must be at least that of the noise.
        let feasible = a >= noise && b >= noise;
        let log = 2.0 * a.ln() + b.ln() + 3.0 * noise.ln();
        let value = -0.5 * n as f64 * (p as f64 * (2.0 * std::f64::consts::PI).ln() + log + p as f64);
        if feasible { value } else { f64::NEG_INFINITY }
    };
    let top = value([0, 1], 2);
    assert!((score(&found, &x, p) / top - 1.0).abs() < 1e-11);
    assert!((Plain::of(&found).log_likelihood(&x) / top - 1.0).abs() < 1e-9);
    for i in 0..p {
        for j in 0..i {
            for l in (0..p).filter(|l| *l != i && *l != j) {
                assert!(value([i, j], l) <= top + 1e-9, "{i}, {j}; {l}");
            }
        }
    }
}

/// The mean log-likelihood of rows with this mean and this covariance (divisor `n`).
fn mean_log_likelihood(of: &Plain, mean: &[f64], covariance: &Matrix<f64>) -> f64 {
    let all: Vec<usize> = (0..mean.len()).collect();
    let (values, vectors) = factor::eigh(&of.covariance(&all)).unwrap();
    let along = |i: usize| {
        let v = vectors.row(i);
        let shift: f64 = all.iter().map(|&j| v[j] * (mean[j] - of.mean[j])).sum();
        let image = |a: usize| all.iter().map(|&b| covariance[(a, b)] * v[b]).sum::<f64>();
        let square: f64 = all.iter().map(|&a| v[a] * image(a)).sum();
        (2.0 * std::f64::consts::PI).ln() + values[i].ln() + (square + shift * shift) / values[i]
    };
    -0.5 * all.iter().map(|&i| along(i)).sum::<f64>()
}

#[test]
fn no_feasible_change_of_blocks_has_a_higher_likelihood() {
    let (n, p, groups) = (300, 8, [2usize, 1, 2]);
    let x = datasets::ppca(n, p, &[9.0, 8.0, 5.0, 2.5, 2.0], 0.5, 4).unwrap().x.into_vec();
    let best = Plain::of(&fitted(json!({"groups": groups}), &x, p));
    let k = best.latent.len();
    assert_eq!(k, 5);
    let (mean, share) = (naive::mean(&x, p), (n as f64 - 1.0) / n as f64);
    let s = naive::covariance(&x, p);
    let s = Matrix::from_fn(p, p, |i, j| s[i][j] * share);
    let top = mean_log_likelihood(&best, &mean, &s);
    assert!((top * n as f64 / best.log_likelihood(&x) - 1.0).abs() < 1e-12);
    let block = |i: usize| (0..3).find(|b| i < groups[..=*b].iter().sum::<usize>()).unwrap();
    let draws = Stream::new(23, 0);
    for trial in 0..1000u64 {
        let normal = |i: usize| draws.normal(trial * 1000 + i as u64);
        for size in [1e-3, 1e-2, 0.1] {
            let mut other = best.clone();
            match trial % 4 {
                0 => other.mean.iter_mut().enumerate().for_each(|(j, m)| *m += size * normal(j)),
                // The scales of a block are equal.
                1 => {
                    let each = other.latent.iter_mut().enumerate();
                    each.for_each(|(i, l)| *l *= (size * normal(block(i))).exp());
                }
                2 => other.noise *= (size * normal(0)).exp(),
                _ => {
                    let moved = Matrix::from_fn(k, p, |i, j| best.axes[(i, j)] + size * normal(i * p + j));
                    other.axes = factor::orthonormal_rows_signed(&moved);
                }
            }
            let rise = mean_log_likelihood(&other, &mean, &s) - top;
            assert!(rise <= 1e-12, "trial {trial}, {size}: {rise:e} above {top}");
        }
    }
}

#[test]
fn blocks_are_found_as_often_as_the_criterion_finds_them() {
    // The criterion hits in .99 to 1 of 200 samples with noise 1 and 1000 rows.
    for (variances, want) in
        [(vec![6.0, 6.0, 3.0, 3.0], vec![2.0, 2.0]), (vec![9.0, 6.0, 4.0, 2.6], vec![1.0; 4])]
    {
        let mut hits = 0;
        for seed in 0..20 {
            let x = datasets::ppca(1000, 10, &variances, 1.0, seed).unwrap().x;
            let found = fitted(json!({"groups": "bic"}), x.as_slice(), 10);
            hits += u32::from(numbers(&found, "blocks") == want);
            let given = fitted(json!({"n_components": variances.len()}), x.as_slice(), 10);
            assert_eq!(numbers(&given, "blocks").iter().sum::<f64>(), variances.len() as f64);
        }
        assert!(hits >= 18, "{variances:?}: {hits} of 20");
    }
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    let x = falling(40, 5, 1);
    for (given, message) in [
        (json!({"groups": [3, 2]}), "choose blocks of at most 4 components together"),
        (json!({"groups": [2, 1], "n_components": 2}), "the blocks of groups=[2, 1] have 3 components"),
        (json!({"groups": [0, 1]}), "groups"),
        (json!({"groups": "aic"}), "groups"),
    ] {
        let found = try_fit("linear-eigengan", &settings(given.clone()), &x, 5).unwrap_err().to_string();
        assert!(found.contains(message), "{given}: {found}");
    }
    let mut gaps = x.clone();
    gaps[7] = f64::NAN;
    let found = try_fit("linear-eigengan", &settings(json!({"groups": [2, 1]})), &gaps, 5);
    assert!(found.unwrap_err().to_string().contains("leave groups out"));
}

#[test]
fn settings_of_iterations_give_a_warning_where_no_cell_is_missing() {
    let x = falling(60, 5, 3);
    let given = json!({"n_components": 2, "tol": 0.5, "max_iter": 7});
    let about = |model: &Model| {
        model.report().warnings.iter().filter(|w| w.contains("only missing cells require iterations")).count()
    };
    assert_eq!(
        (about(&fitted(json!({"n_components": 2}), &x, 5)), about(&fitted(given.clone(), &x, 5))),
        (0, 2)
    );
    let mut gaps = x;
    gaps[7] = f64::NAN;
    assert_eq!(about(&fitted(given, &gaps, 5)), 0);
}
