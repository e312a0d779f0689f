//! Columns in different units.

use super::{Made, fit};
use crate::made::on_threads;
use unmix::data::{Features, RawArray};
use unmix::method::robust_pca::RobustPca;
use unmix::{Outcome, Rows};

/// Units of the columns of [`sensors`].
const UNITS: [f64; 3] = [1.0, 1e3, 1e-3];

/// Twelve columns of rank 2 about 10, with gross errors and noise, each column multiplied by its unit.
fn sensors(units: [f64; 3], seed: u64) -> Vec<f64> {
    let x = Made::new((200, 12, 2), 1.0, (0.05, 20.0), 0.1, seed).x();
    x.iter().enumerate().map(|(at, x)| (x + 10.0) * units[at % 12 % 3]).collect()
}

#[test]
fn columns_in_different_units_give_a_warning_that_names_the_extremes() {
    let warned = |model: &unmix::Model| {
        let mut all = model.report().warnings.iter();
        all.find(|w| w.contains("median absolute deviation")).cloned()
    };
    let centred = RobustPca { center: true, ..RobustPca::default() };
    assert_eq!(warned(&fit(&centred, &sensors([1.0; 3], 1), 12)), None);
    let x = sensors(UNITS, 1);
    let said = warned(&fit(&centred, &x, 12)).unwrap();
    // Columns 1, 4, 7 and 10 have large numbers, 2, 5, 8 and 11 small ones.
    let of = |text: &str| -> usize {
        let after = said.split(text).nth(1).unwrap();
        after.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    assert_eq!(of("deviation of column ") % 3, 1, "{said}");
    assert!(said.contains("divide each column by its spread first"), "{said}");
    let names: Vec<String> = (0..12).map(|j| format!("sensor{j}")).collect();
    let features = Features { names: Some(names), shape: None };
    let mut rows: Rows<'_, f64> = Rows::new(RawArray::borrowed(&x, 12).unwrap(), features, "the array");
    let said = warned(&centred.fit(&mut rows, &on_threads(2)).unwrap()).unwrap();
    assert!(said.contains("deviation of column 'sensor"), "{said}");
}

#[test]
fn columns_without_spread_give_no_warning_about_units() {
    let mut x = sensors([1.0; 3], 2);
    x.chunks_exact_mut(12).for_each(|row| row[4] = 3.0);
    let model = fit(&RobustPca { center: true, ..RobustPca::default() }, &x, 12);
    let warnings = &model.report().warnings;
    assert!(warnings.iter().all(|w| !w.contains("median absolute deviation")), "{warnings:?}");
}

#[test]
fn a_noise_estimate_that_does_not_settle_is_not_said_to_be_ended_by_max_iter() {
    let mut unsettled = 0;
    for seed in 0..6 {
        let model = fit(&RobustPca::default(), &sensors(UNITS, seed), 12);
        let report = model.report();
        assert_ne!(report.outcome, Outcome::MaxIter, "seed {seed}");
        let said = report.warnings.iter().any(|w| w.contains("did not settle in 8 rounds"));
        assert_eq!(said, report.outcome == Outcome::Stalled, "seed {seed}: {:?}", report.warnings);
        unsettled += usize::from(said);
    }
    assert!(unsettled > 0, "all converged");
}
