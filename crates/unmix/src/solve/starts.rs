//! The best of the results of several starts.

use crate::error::Result;
use crate::run::{Outcome, Run};

/// The best result of up to `n` starts, of which `one` computes the result by its number. Of equal results the first is kept, so that an additional
/// start changes nothing unless it is better. A result that ended early replaces none that did not; if some starts ended early or were not made, so did the
/// search, whose result then has that outcome.
///
/// # Errors
///
/// Those of a start.
pub(crate) fn best_of_starts<R>(
    n: u64,
    run: &Run<'_>,
    mut one: impl FnMut(u64) -> Result<R>,
    outcome: impl Fn(&mut R) -> &mut Outcome,
    is_better: impl Fn(&R, &R) -> bool,
) -> Result<R> {
    let mut best = one(0)?;
    let mut early = outcome(&mut best).is_early();
    for i in 1..n {
        if run.ends_early() {
            early = true;
            break;
        }
        let mut found = one(i)?;
        match outcome(&mut found).is_early() {
            true => early = true,
            false if is_better(&found, &best) => best = found,
            false => {}
        }
    }
    let outcome = outcome(&mut best);
    if early && !outcome.is_early() {
        *outcome = run.early_outcome();
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Observer;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    struct Ending(AtomicBool);

    impl Observer for Ending {
        fn ends_early(&self) -> bool {
            self.0.load(Relaxed)
        }
    }

    /// The best of results with these values, where the run ends during start `last`: by an iteration, or after the last one.
    fn best(values: &[f64], last: usize, within: bool) -> (f64, Outcome) {
        let observer = Ending(AtomicBool::new(false));
        let run = Run { observer: &observer, ..Run::default() };
        let one = |i: u64| {
            let ends = i as usize == last;
            observer.0.store(ends, Relaxed);
            let outcome = if ends && within { Outcome::Interrupted } else { Outcome::Converged };
            Ok((values[i as usize], outcome))
        };
        best_of_starts(values.len() as u64, &run, one, |found| &mut found.1, |a, b| a.0 > b.0).unwrap()
    }

    #[test]
    fn a_start_that_ended_early_replaces_none_that_did_not_and_ends_the_search_early() {
        let values = [1.0, 3.0, 2.0, 3.0];
        assert_eq!(best(&values, 9, true), (3.0, Outcome::Converged));
        assert_eq!(best(&values, 0, true), (1.0, Outcome::Interrupted));
        assert_eq!(best(&values, 0, false), (1.0, Outcome::Interrupted));
        assert_eq!(best(&values, 1, true), (1.0, Outcome::Interrupted));
        assert_eq!(best(&values, 1, false), (3.0, Outcome::Interrupted));
        assert_eq!(best(&values, 3, true), (3.0, Outcome::Interrupted));
        // All starts were made.
        assert_eq!(best(&values, 3, false), (3.0, Outcome::Converged));
    }
}
