//! Error rate of the verdict `resolved`: a small sample of every design. The example `verdicts` computes the full table.

use super::designs::{DESIGNS, Design, Sample, make, upper_bound, wrong_below};
use crate::made::{numbers, settings, try_fit};
use crate::scope::in_all;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use unmix::datasets::Distribution;
use unmix::internal::neural::evidence::SamplingError;
use unmix::internal::neural::pairs::{Unresolved, VerdictInput, in_words, verdicts};
use unmix::internal::neural::separation::Separation;
use unmix::{AnyRows, Model, Outcome, Rows, Run};

fn fit(sample: &Sample, given: Value) -> Model {
    try_fit("sigma-pca", &settings(given), sample.x.as_slice(), sample.x.cols())
        .unwrap_or_else(|e| panic!("{e}"))
}

/// The number of resolved components, and the number of these that match no true axis.
fn resolved(sample: &Sample, model: &Model) -> (usize, usize) {
    let cosines = sample.cosines(&model.tensor("components").unwrap().to_matrix());
    let all = numbers(model, "resolved");
    let resolved: Vec<usize> = (0..all.len()).filter(|j| all[*j] != 0.0).collect();
    (resolved.len(), resolved.iter().filter(|&&j| cosines[j] < wrong_below()).count())
}

/// The bound is one for the models of all designs: eight models of a design, none of them wrong, bound its own share by 31 % only.
#[test]
fn resolved_components_are_wrong_in_fewer_than_3_models_of_100_over_all_designs() {
    let (mut models, mut wrong) = (0, Vec::new());
    for (name, design) in DESIGNS {
        for (n, p, seeds) in [(300, 4, 4), (1000, 5, 3), (1500, 12, 1)] {
            for seed in 0..seeds {
                let sample = make(design, n, p, 1000 + seed);
                let model = fit(&sample, json!({}));
                models += 1;
                if resolved(&sample, &model).1 > 0 {
                    wrong.push(format!("{name} {n} x {p}, seed {seed}"));
                }
            }
        }
    }
    assert_few_are_wrong(&wrong, models);
}

/// Asserts that the 95 % upper bound of the share of wrong models is below 3 %: with the 100 or 128 models of these tests, that none is
/// wrong. To bound the share by the documented 1 %, 300 models are needed: the example `verdicts` has counted more.
fn assert_few_are_wrong(wrong: &[String], models: usize) {
    let bound = upper_bound(wrong.len(), models);
    assert!(bound < 0.03, "{wrong:?} of {models} models: with 95 % confidence at most {bound:.4}");
}

/// The kinds of sources that a review tried, at the sizes where it found most errors; only where `UNMIX_TESTS` is "all".
#[test]
fn resolved_components_are_right_with_30_and_60_columns() {
    if !in_all("verdicts with 30 and 60 columns") {
        return;
    }
    let mut cells = Vec::new();
    for (name, design) in &DESIGNS[..10] {
        for (n, p, seeds) in [(3000, 30, 5), (8000, 30, 3), (3000, 60, 2)] {
            cells.extend((2000..2000 + seeds).map(|seed| (*name, *design, n, p, seed)));
        }
    }
    // Fits of one thread each, two at a time.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(&(name, design, n, p, seed)) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
            let sample = make(design, n, p, seed);
            let mut rows = AnyRows::from(Rows::from_slice(sample.x.as_slice(), p).unwrap());
            let run = Run { threads: 1, ..Run::default() };
            let model = unmix::fit("sigma-pca", &settings(json!({})), &mut rows, &run).unwrap();
            let (resolved, wrong) = resolved(&sample, &model);
            done.push((name, format!("{n} x {p}, seed {seed}"), p, resolved, wrong));
        }
        done
    };
    let models: Vec<_> = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let wrong: Vec<String> = models
        .iter()
        .filter(|(.., wrong)| *wrong > 0)
        .map(|(name, which, _, resolved, wrong)| format!("{name} {which}: {wrong} of {resolved} resolved"))
        .collect();
    assert_few_are_wrong(&wrong, models.len());
    // The review counted 72 % of the Laplace sources of its models as resolved.
    let laplace: Vec<_> = models.iter().filter(|(name, ..)| *name == "Laplace ties").collect();
    let resolved: usize = laplace.iter().map(|(_, _, _, resolved, _)| resolved).sum();
    let share = resolved as f64 / laplace.iter().map(|(_, _, p, ..)| p).sum::<usize>() as f64;
    assert!(share >= 0.72, "{share}: {laplace:?}");
}

/// No fit of these rows ends because its residual has stopped decreasing, above its tolerance and above rounding errors.
#[test]
fn no_fit_of_ordinary_rows_stalls() {
    let (mut fits, mut stalled) = (0, Vec::new());
    for (name, design) in DESIGNS {
        for (n, p, given) in [
            (300, 4, json!({"halves": false})),
            (1000, 5, json!({"halves": false})),
            (1500, 12, json!({"halves": false})),
            (1000, 5, json!({"a": 0.8, "halves": false})),
            (1000, 5, json!({"a": 4.0, "halves": false})),
        ] {
            // Of these half of the fits once stalled, because residuals were compared with those before a change of the components.
            let seeds = if (name, p) == ("lognormal ties", 12) { 10 } else { 2 };
            for seed in 0..seeds {
                let sample = make(design, n, p, 2000 + seed);
                let model = fit(&sample, given.clone());
                fits += 1;
                let report = model.report();
                if report.outcome == Outcome::Stalled {
                    let (n_iter, residual) = (report.n_iter, report.residual);
                    let fit = format!("{name} {n} x {p}, {given}, seed {seed}: {residual:?} after {n_iter}");
                    stalled.push(fit);
                }
            }
        }
    }
    assert!(stalled.is_empty(), "{} of {fits} fits stalled:\n{}", stalled.len(), stalled.join("\n"));
}

#[test]
fn rows_without_axes_have_no_resolved_component() {
    let gaussian = Design::Tied(&[Distribution::Gaussian]);
    for (design, n, p, given) in [
        (Design::Elliptical, 8000, 5, json!({})),
        (Design::Elliptical, 8000, 5, json!({"halves": false})),
        (Design::Elliptical, 8000, 12, json!({"n_components": 3, "halves": false})),
        (Design::Slow(99), 3000, 5, json!({})),
        (Design::Slow(99), 3000, 5, json!({"halves": false})),
        (Design::Slow(90), 3000, 5, json!({"a": 4.0})),
        (gaussian, 1500, 40, json!({})),
        (gaussian, 1500, 40, json!({"a": 4.0, "halves": false})),
    ] {
        for seed in 0..2 {
            let sample = make(design, n, p, seed);
            let model = fit(&sample, given.clone());
            assert_eq!(resolved(&sample, &model).0, 0, "{design:?}, {n} x {p}, {given}, seed {seed}");
        }
    }
}

#[test]
fn tied_sources_are_resolved_where_rows_are_enough() {
    for (design, n, p, least) in [
        (Design::Tied(&[Distribution::Laplace]), 3000, 5, 5),
        (Design::Tied(&[Distribution::Laplace]), 6000, 8, 8),
        (Design::Tied(&[Distribution::Uniform]), 6000, 8, 7),
        (Design::Tied(&[Distribution::Arcsine]), 6000, 8, 7),
        (Design::Sloped(&[Distribution::Laplace, Distribution::Gaussian]), 6000, 8, 4),
    ] {
        let sample = make(design, n, p, 3);
        for given in [json!({}), json!({"halves": false})] {
            let model = fit(&sample, given.clone());
            let (right, wrong) = resolved(&sample, &model);
            let report = model.report();
            assert!(right >= least && wrong == 0, "{design:?} {given}: {right}, {:?}", report.warnings);
        }
    }
}

#[test]
fn a_fit_that_did_not_converge_resolves_nothing_with_a_warning() {
    let sample = make(Design::Tied(&[Distribution::Laplace]), 3000, 4, 1);
    let early = fit(&sample, json!({"max_iter": 2}));
    assert_eq!(early.report().outcome, Outcome::MaxIter);
    assert_eq!(resolved(&sample, &early).0, 0);
    let unfinished = fit(&sample, json!({"tol": 0.0, "max_iter": 40, "halves": false}));
    assert_ne!(unfinished.report().outcome, Outcome::Converged);
    assert_eq!(resolved(&sample, &unfinished).0, 0);
    let message = unfinished.report().warnings.join("; ");
    assert!(message.contains("not resolved: the fit ended before it converged"), "{message}");
}

#[test]
fn rows_of_weight_0_change_no_verdict() {
    let laplace = Design::Tied(&[Distribution::Laplace]);
    // 24 rows give six blocks of four, too few for any statement of certainty, however many rows of weight 0 are between them. 3000
    // rows are enough.
    for (n, p, zeros, resolves) in [(24, 2, 40, false), (3000, 4, 2, true)] {
        let sample = make(laplace, n, p, 5);
        let model = fit(&sample, json!({"halves": false}));
        let (mut x, mut weights) = (Vec::new(), Vec::new());
        for (i, row) in sample.x.as_slice().chunks_exact(p).enumerate() {
            // The number of rows of weight 0 increases towards the end.
            let many = zeros * i / n;
            weights.extend(std::iter::repeat_n(0.0, many));
            x.extend((0..many * p).map(|j| 1e3 * (i + j) as f64));
            x.extend_from_slice(row);
            weights.push(1.0);
        }
        let mut rows = AnyRows::from(Rows::from_slice(&x, p).unwrap().weighted(weights).unwrap());
        let weighted = unmix::fit("sigma-pca", &settings(json!({})), &mut rows, &Run::default()).unwrap();
        assert_eq!(numbers(&weighted, "resolved"), numbers(&model, "resolved"), "{n} rows");
        assert_eq!(weighted.report().warnings, model.report().warnings, "{n} rows");
        assert_eq!(numbers(&model, "resolved").contains(&1.0), resolves, "{:?}", model.report().warnings);
    }
}

#[test]
fn each_reason_alone_leaves_a_component_unresolved() {
    let good = SamplingError { t: 9.0, least: 8.0, partner: 1, needed: 4.0, angle: 0.1 };
    let look = Separation {
        b: vec![-1.0; 2],
        score_slope: vec![0.5; 2],
        score_ratio: vec![1.5; 2],
        t: vec![9.0; 2],
        error: vec![0.1; 2],
    };
    let doubt = |seen: SamplingError, halves: f64, converged: bool| {
        let (certainty, halves) = ([seen.clone(), seen], [halves; 2]);
        let found = verdicts(&VerdictInput {
            sigma: &[1.0, 1.0],
            alpha: 2.0,
            own: &look,
            candidates: std::slice::from_ref(&look),
            certainty: Some(&certainty),
            halves: Some(&halves),
            converged,
        });
        let message = in_words(&found, &[4.0, 4.0]);
        assert_eq!(found[0].reason.is_none(), message.is_empty(), "{message:?}");
        found[0].reason
    };
    assert_eq!(doubt(good.clone(), 0.99, true), None);
    assert_eq!(doubt(good.clone(), 0.89, true), Some(Unresolved::HalvesDisagree(0.89)));
    assert_eq!(doubt(good.clone(), 0.99, false), Some(Unresolved::NotConverged));
    assert_eq!(
        doubt(SamplingError { angle: 0.32, ..good.clone() }, 0.99, true),
        Some(Unresolved::LargeAngle(0.32))
    );
    assert_eq!(
        doubt(SamplingError { least: 3.9, ..good.clone() }, 0.99, true),
        Some(Unresolved::NotSeparatedFrom(1))
    );
    assert_eq!(
        doubt(SamplingError { least: 3.9, partner: 2, ..good.clone() }, 0.99, true),
        Some(Unresolved::NotSeparatedFromComplement)
    );
    assert!(doubt(SamplingError { t: 3.9, ..good }, 0.99, true).is_some());
}
