//! Agreement of components between halves of the rows, in the report.

use super::problems::tied;
use crate::made::{bits, numbers, on_threads, settings, try_fit};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use unmix::datasets::Distribution::{Gaussian, Laplace, Uniform};
use unmix::datasets::{SignalDesign, signals};
use unmix::{Event, Matrix, Model, Observer, Outcome, Rows, Run, SigmaPca};

fn fit(given: Value, x: &Matrix<f64>) -> Model {
    try_fit("sigma-pca", &settings(given), x.as_slice(), x.cols()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn halves_agree_on_sources_and_not_on_rotations_of_a_gaussian() {
    let sources = tied("mixed", 4000, [Laplace, Uniform, Laplace, Uniform, Uniform], 21).x;
    let found = fit(json!({"n_components": 5}), &sources);
    let halves = found.report().halves.clone().unwrap();
    assert!(halves.len() == 5 && halves.iter().all(|c| (0.98..=1.0).contains(c)), "{halves:?}");
    let variances = [9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let gaussian = unmix::datasets::independent(4000, &[Gaussian; 8], &variances, 3).unwrap().x;
    let halves = fit(json!({}), &gaussian).report().halves.clone().unwrap();
    // The first component has a variance of its own; the others can be rotated arbitrarily.
    assert!(halves[0] > 0.99 && halves[1..].iter().any(|c| *c < 0.9), "{halves:?}");
}

#[test]
fn halves_are_fitted_by_default_where_cheap_and_never_where_disabled() {
    let x = tied("laplace", 400, [Laplace; 5], 2).x;
    for (given, seen) in [
        (json!({"n_components": 3}), true),
        (json!({"n_components": 3, "halves": false}), false),
        (json!({"n_components": 3, "constraint": "native"}), true),
        (json!({"n_components": 3, "variant": 9, "max_epochs": 2}), false),
        (json!({"n_components": 3, "variant": 9, "max_epochs": 2, "halves": true}), true),
    ] {
        assert_eq!(fit(given.clone(), &x).report().halves.is_some(), seen, "{given}");
    }
    let (with, without) = (fit(json!({}), &x), fit(json!({"halves": false}), &x));
    assert_eq!(numbers(&with, "components"), numbers(&without, "components"));
    assert_eq!(with.report().sweeps, without.report().sweeps);
    // A half with fewer rows than components: the agreement is not reported, and there is no error.
    let few = Matrix::from_vec(6, 10, x.as_slice()[..60].to_vec());
    assert_eq!(fit(json!({}), &few).report().halves, None);
    let warned =
        |model: &Model| model.report().warnings.iter().any(|w| w.contains("halves=true has no effect"));
    assert!(!warned(&fit(json!({}), &few)) && warned(&fit(json!({"halves": true}), &few)));
    let weights = vec![1.0; 400];
    let spec = SigmaPca { n_components: Some(3), ..Default::default() };
    let mut weighted = Rows::from_slice(x.as_slice(), 10).unwrap().weighted(&weights[..]).unwrap();
    assert_eq!(spec.fit(&mut weighted, &Run::default()).unwrap().report().halves, None);
    let requested = SigmaPca { halves: Some(true), ..spec }.fit(&mut weighted, &Run::default()).unwrap();
    assert!(requested.report().halves.is_none() && warned(&requested), "{:?}", requested.report().warnings);
}

/// Ends the run at the first iteration for the halves.
#[derive(Default)]
struct EndsInHalves {
    begun: AtomicBool,
    ended: AtomicBool,
}

impl Observer for EndsInHalves {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Stage("halves") => self.begun.store(true, Relaxed),
            Event::Iteration { .. } => self.ended.store(self.begun.load(Relaxed), Relaxed),
            _ => {}
        }
    }
    fn ends_early(&self) -> bool {
        self.ended.load(Relaxed)
    }
}

#[test]
fn halves_of_a_run_that_ends_early_are_not_used_and_the_outcome_reports_it() {
    let x = tied("laplace", 4000, [Laplace; 5], 2).x;
    let whole = fit(json!({}), &x);
    let ends = EndsInHalves::default();
    let mut rows = Rows::from_slice(x.as_slice(), 10).unwrap();
    let cut = SigmaPca::default().fit(&mut rows, &Run { observer: &ends, ..Run::default() }).unwrap();
    assert!(ends.ended.load(Relaxed) && whole.report().halves.is_some());
    assert_eq!((cut.report().outcome, &cut.report().halves), (Outcome::Interrupted, &None));
    assert_eq!(numbers(&cut, "components"), numbers(&whole, "components"));
    assert!(!cut.report().warnings.iter().any(|w| w.contains("halves")), "{:?}", cut.report().warnings);
}

#[test]
fn halves_have_the_same_bits_for_any_number_of_threads_and_are_kept_in_the_file() {
    let x = tied("laplace", 9000, [Laplace; 5], 2).x;
    let spec = SigmaPca { n_components: Some(4), ..Default::default() };
    let on =
        |threads| spec.fit(&mut Rows::from_slice(x.as_slice(), 10).unwrap(), &on_threads(threads)).unwrap();
    let (one, three) = (on(1), on(3));
    assert_eq!(one.report().halves, three.report().halves);
    assert_eq!(bits(&one), bits(&three));
    let path = tempfile::tempdir().unwrap();
    let path = path.path().join("m.safetensors");
    one.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap().report().halves, one.report().halves);
}

#[test]
fn halves_of_a_recording_consist_of_blocks_of_samples() {
    // Neighbouring samples of a recording are nearly equal, so halves of every second sample would agree on any rotation.
    let made = signals(SignalDesign::AllEqual, None);
    let halves = fit(json!({}), &made.x).report().halves.clone().unwrap();
    assert!(halves.iter().all(|c| (0.75..0.995).contains(c)), "{halves:?}");
    // Autocorrelated Gaussian columns of equal variance, which have no distinguished directions.
    let (n, p) = (4000, 6);
    let mut state = [0.0; 6];
    let draw = unmix::internal::num::random::Stream::new(1, 1);
    let slow = Matrix::from_fn(n, p, |i, j| {
        state[j] = 0.9 * state[j] + 0.436 * draw.normal((i * p + j) as u64);
        state[j]
    });
    let halves = fit(json!({}), &slow).report().halves.clone().unwrap();
    assert!(halves.iter().any(|c| *c < 0.9), "{halves:?}");
}
