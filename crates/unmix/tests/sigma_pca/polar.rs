//! Orthonormal components by the generalized power method with polar decompositions.

use super::problems::{Problem, in_coordinates, least_cosine, published, tied};
use crate::made::{numbers, settings, try_fit};
use serde_json::json;
use unmix::datasets::Distribution::{self, Exponential, Gaussian, Laplace, Uniform};
use unmix::internal::neural::gpm::{FixedPoint, GpmOptions};
use unmix::internal::neural::nonlinearity::Nonlinearity;
use unmix::internal::neural::start::Principal;
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Outcome, Run};

/// The components after every iteration, and the number of sweeps so far, including those for the covariance and the rotation.
type Log = Vec<(u64, Matrix<f64>)>;

fn solve(rows: &Principal<'_, f64>, how: &GpmOptions, start: Matrix<f64>) -> (FixedPoint, Log) {
    let mut log = Vec::new();
    let before = rows.sweeps() - 2;
    let solved =
        how.solve(rows, start, &Run::default(), |sweeps, w| log.push((sweeps - before, w.clone()))).unwrap();
    (solved, log)
}

/// The number of sweeps after which every component stays within a cosine of 0.999 of `end`.
fn sweeps_to(log: &Log, end: &Matrix<f64>) -> u64 {
    let far = log.iter().rposition(|(_, w)| least_cosine(w, end) < 0.999);
    log[far.map_or(0, |i| i + 1).min(log.len() - 1)].0
}

fn fixed(k: usize, a: f64) -> GpmOptions {
    GpmOptions { h: Nonlinearity::tanh(vec![a]), auto: false, ..GpmOptions::auto(k, 1e-9, 2000) }
}

/// Asserts that the search from the principal axes converges within `most` sweeps, to components within `cosine` of the true axes.
fn reaches(problem: &Problem, how: &GpmOptions, most: u64, cosine: f64) -> FixedPoint {
    let k = problem.k();
    in_coordinates(problem.x.as_slice(), problem.x.cols(), k, |rows| {
        let (solved, log) = solve(rows, how, rows.first(k));
        let name = &problem.name;
        assert_eq!(solved.outcome, Outcome::Converged, "{name}: {:?}", solved.residual);
        assert!(solved.residual.unwrap() <= 1e-9, "{name}");
        let taken = sweeps_to(&log, &solved.w);
        assert!(taken <= most, "{name}: {taken} sweeps to 0.999, not {most}");
        let near = least_cosine(&rows.directions(&solved.w), &problem.truth);
        assert!(near >= cosine, "{name}: cosine {near} to the truth, a {:?}", solved.a);
        solved
    })
}

#[test]
fn published_problems_are_solved_in_few_sweeps() {
    let bars = [(15, 0.999), (30, 0.998), (30, 0.997), (45, 0.999), (20, 0.996)];
    for (problem, (most, cosine)) in published().iter().zip(bars) {
        let solved = reaches(problem, &GpmOptions::auto(problem.k(), 1e-9, 2000), most, cosine);
        let a = if problem.name.contains("laplace") { 4.0 } else { 0.8 };
        assert!(solved.a.iter().all(|&got| got == a), "{}: {:?}", problem.name, solved.a);
    }
    let all = published();
    reaches(&all[3], &fixed(2, 1.0), 25, 0.999);
    reaches(&all[4], &fixed(2, 3.0), 20, 0.998);
}

#[test]
fn tied_sources_of_every_kind_are_separated() {
    let mixed = [Laplace, Uniform, Laplace, Uniform, Laplace];
    let skewed = [Exponential, Uniform, Uniform, Laplace, Exponential];
    for (name, laws) in
        [("laplace", [Laplace; 5]), ("uniform", [Uniform; 5]), ("mixed", mixed), ("skewed", skewed)]
    {
        for (n, seed, cosine) in [(4000, 11, 0.998), (20_000, 11, 0.9995)] {
            let problem = tied(&format!("{name}, {n} rows"), n, laws, seed);
            reaches(&problem, &GpmOptions::auto(5, 1e-9, 2000), 30, cosine);
        }
    }
    // Three sources of equal variance in every combination of the two distributions.
    for mask in 0..8 {
        let law = |bit: u32| if mask >> bit & 1 == 1 { Laplace } else { Uniform };
        let laws = [Uniform, law(0), law(1), law(2), Laplace];
        for (n, seed, cosine) in [(4000, 5, 0.999), (4000, 6, 0.999), (20_000, 12, 0.9995)] {
            let problem = tied(&format!("triple {mask:03b}, {n} rows, seed {seed}"), n, laws, seed);
            reaches(&problem, &GpmOptions::auto(5, 1e-9, 2000), 30, cosine);
        }
    }
    reaches(&tied("laplace, a=4", 4000, [Laplace; 5], 13), &fixed(5, 4.0), 30, 0.998);
    reaches(&tied("uniform, a=.8", 4000, [Uniform; 5], 13), &fixed(5, 0.8), 30, 0.998);
}

#[test]
fn twenty_random_starts_converge_to_one_solution() {
    let mut problems = published();
    problems.push(tied("laplace", 4000, [Laplace; 5], 11));
    problems.push(tied("uniform", 4000, [Uniform; 5], 11));
    // Two kinds of sources with equal variances have mixtures at which the gradient vanishes.
    problems.push(tied("mixed", 4000, [Laplace, Uniform, Laplace, Uniform, Laplace], 11));
    problems.push(tied("mostly Laplace", 4000, [Uniform, Uniform, Laplace, Laplace, Laplace], 5));
    for problem in &problems {
        let k = problem.k();
        in_coordinates(problem.x.as_slice(), problem.x.cols(), k, |rows| {
            let how = GpmOptions::auto(k, 1e-8, 2000);
            let (end, _) = solve(rows, &how, rows.first(k));
            let mut taken: Vec<u64> = (0..20)
                .map(|seed| {
                    let draw = Stream::new(seed, 99);
                    let random = Matrix::from_fn(k, rows.r(), |i, j| draw.normal((i * rows.r() + j) as u64));
                    let (solved, log) = solve(rows, &how, factor::polar_rows(&random).unwrap());
                    let near = least_cosine(&solved.w, &end.w);
                    assert!(near > 0.99999, "{}, seed {seed}: cosine {near}", problem.name);
                    sweeps_to(&log, &solved.w)
                })
                .collect();
            taken.sort_unstable();
            assert!(taken[10] <= 25, "{}: {taken:?}", problem.name);
        });
    }
}

#[test]
fn a_wrong_width_mixes_with_a_warning() {
    // Pairs of sources and a wrong `a` for them; variances are equal, so that they do not separate the sources.
    for (laws, a) in [([Laplace; 5], 1.0), ([Uniform; 5], 4.0)] {
        let problem = tied("wrong", 20_000, laws, 14);
        in_coordinates(problem.x.as_slice(), 10, 5, |rows| {
            let (solved, _) = solve(rows, &fixed(5, a), rows.first(5));
            assert!(least_cosine(&rows.directions(&solved.w), &problem.truth) < 0.9);
            // At this solution codes are nearly Gaussian, so the right `a` can be recognised from the start of the search only.
            let right = if a == 1.0 { 4.0 } else { 0.8 };
            assert_eq!(solved.better, Some(right));
            assert_eq!(solve(rows, &fixed(5, right), rows.first(5)).0.better, None);
        });
    }
}

#[test]
fn gaussian_rows_keep_their_principal_axes() {
    let variances = [9.0, 5.0, 5.0, 1.0, 0.5];
    for seed in 1..6 {
        let x = unmix::datasets::independent(3000, &[Gaussian; 5], &variances, seed).unwrap().x;
        in_coordinates(x.as_slice(), 5, 4, |rows| {
            let (solved, _) = solve(rows, &GpmOptions::auto(4, 1e-8, 500), rows.first(4));
            assert_eq!((solved.outcome, solved.residual), (Outcome::Completed, None), "seed {seed}");
            assert_eq!(solved.w, rows.first(4), "seed {seed}");
            assert!(solved.n_iter <= 32, "seed {seed}: {}", solved.n_iter);
        });
    }
}

#[test]
fn gaussian_components_are_reported_and_do_not_prevent_convergence() {
    let laws: [Distribution; 5] = [Laplace, Gaussian, Uniform, Gaussian, Laplace];
    let problem = tied("with Gaussians", 8000, laws, 3);
    let model =
        try_fit("sigma-pca", &settings(json!({"n_components": 5})), problem.x.as_slice(), 10).unwrap();
    let report = model.report();
    assert_eq!(report.outcome, Outcome::Converged, "{:?} after {}", report.residual, report.n_iter);
    let resolved = numbers(&model, "resolved");
    assert_eq!(resolved.iter().sum::<f64>(), 3.0, "{resolved:?} {:?} {:?}", report.halves, report.warnings);
    assert!(report.warnings.join("; ").contains("near-Gaussian"), "{:?}", report.warnings);
}
