//! Tests of `orthogonal`.

use super::*;
use crate::data::Rows;
use crate::ica::linear::tests::{misleading, mixed};
use crate::stats::Contrast;

#[test]
fn no_step_raises_the_objective_for_its_initial_signs() {
    let (run, k) = (Run::default(), 5);
    let mut changes = 0;
    for seed in 0..6 {
        let x = mixed(400, k, seed);
        let rows = Rows::from_slice(&x, k).unwrap();
        let view = View::already_white(&rows, k);
        for step in [Step::Picard, Step::FastIca] {
            let mut search = Search::new(&view, Contrast::LogCosh(1.0).into(), true, &run);
            let mut at = search.first(&identity(k)).unwrap().unwrap();
            for _ in 0..60 {
                let next = match step {
                    Step::Picard => search.along_geodesics(&at).unwrap(),
                    Step::FastIca => search.along_arc(&at).unwrap(),
                };
                let Some(next) = next else { break };
                let (before, after) = (objective(&at.signs, &at.sums), objective(&at.signs, &next.sums));
                assert!(after <= before + 1e-12, "seed {seed}: from {before} to {after}");
                changes += u64::from(next.signs != at.signs);
                at = next;
            }
        }
    }
    assert!(changes > 0, "no sign ever changed");
}

#[test]
fn a_history_that_fails_is_cleared_and_the_search_continues() {
    let (run, k) = (Run::default(), 5);
    for seed in 0..6 {
        let x = mixed(2000, k, seed);
        let rows = Rows::from_slice(&x, k).unwrap();
        let view = View::already_white(&rows, k);
        let contrast = Contrast::LogCosh(1.0).into();
        let to_the_end = |with_misleading_history: bool| {
            let mut search = Search::new(&view, contrast, true, &run);
            let mut at = search.first(&identity(k)).unwrap().unwrap();
            for _ in 0..5 {
                at = search.along_geodesics(&at).unwrap().unwrap();
            }
            if with_misleading_history {
                search.memory.history.clear();
                let (step, change) = misleading(&at.gradient);
                remember(&mut search.memory.history, &step, &change, &Matrix::zeros(k, k));
                assert!(!search.memory.history.is_empty());
                let (before, sweeps) = (objective(&at.signs, &at.sums), search.memory.sweeps);
                let next = search.along_geodesics(&at).unwrap().expect("downhill there is a step");
                assert!(objective(&at.signs, &next.sums) < before, "seed {seed}");
                // All steps in the wrong direction were tried and rejected first.
                assert!(search.memory.sweeps - sweeps > MOST_HALVINGS as u64, "seed {seed}");
                at = next;
            }
            while let Some(next) = search.along_geodesics(&at).unwrap() {
                at = next;
            }
            // Nor did the negative gradient decrease it: rounding errors exceed the remaining decrease.
            assert!(search.memory.history.is_empty() && at.residual() < 1e-10, "{}", at.residual());
            objective(&at.signs, &at.sums)
        };
        assert!((to_the_end(true) - to_the_end(false)).abs() < 1e-12, "seed {seed}");
        let limits = Limits { tol: 0.0, max_iter: 1000 };
        let how = (Step::Picard, StepAcceptance::Objective);
        let found = solve(&view, contrast, how, true, identity(k), &limits, &run).unwrap();
        assert_eq!(found.outcome, Outcome::Stalled, "seed {seed}: {:e}", found.residual);
    }
}
