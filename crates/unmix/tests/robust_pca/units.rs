//! Columns in different units.

use super::{Made, fit, low_rank, rank};
use crate::made::{apart, encode, numbers, on_threads};
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
    assert!(said.contains("choose standardize=true"), "{said}");
    let names: Vec<String> = (0..12).map(|j| format!("sensor{j}")).collect();
    let features = Features { names: Some(names), shape: None };
    let mut rows: Rows<'_, f64> = Rows::new(RawArray::borrowed(&x, 12).unwrap(), features, "the array");
    let said = warned(&centred.fit(&mut rows, &on_threads(2)).unwrap()).unwrap();
    assert!(said.contains("deviation of column 'sensor"), "{said}");
}

fn standardized() -> RobustPca {
    RobustPca { standardize: true, ..RobustPca::default() }
}

#[test]
fn standardized_columns_give_one_model_in_any_units() {
    // Powers of two scale numbers without rounding errors.
    const POWERS: [f64; 3] = [1.0, 1024.0, 1.0 / 4096.0];
    let (plain, scaled) = (sensors([1.0; 3], 1), sensors(POWERS, 1));
    let unit = |at: usize| POWERS[at % 12 % 3];
    for center in [false, true] {
        let spec = RobustPca { center, ..standardized() };
        let (a, b) = (fit(&spec, &plain, 12), fit(&spec, &scaled, 12));
        // The offsets add 1 to the rank.
        assert_eq!((rank(&a), rank(&b)), if center { (2, 2) } else { (3, 3) });
        assert_eq!(numbers(&a, "singular_values"), numbers(&b, "singular_values"));
        for name in ["mean", "spread", "noise_std"] {
            let want: Vec<f64> = numbers(&a, name).iter().enumerate().map(|(j, x)| x * unit(j)).collect();
            assert_eq!(numbers(&b, name), want, "{name}");
        }
        let (low, in_units) = (low_rank(&a, &plain), low_rank(&b, &scaled));
        let back: Vec<f64> = in_units.iter().enumerate().map(|(at, x)| x / unit(at)).collect();
        assert!(apart(&low, &back) < 1e-9, "center {center}");
        // Signs follow the largest entries, which depend on units.
        let size = |codes: Vec<f64>| codes.into_iter().map(f64::abs).collect::<Vec<f64>>();
        assert!(apart(&size(encode(&a, &plain)), &size(encode(&b, &scaled))) < 1e-9);
        assert_eq!(a.report().diagnostics["sparse_share"], b.report().diagnostics["sparse_share"]);
        let of_units = |w: &String| w.contains("median absolute deviation");
        assert!(!b.report().warnings.iter().any(of_units), "{:?}", b.report().warnings);
    }
}

#[test]
fn standardized_columns_recover_what_units_hide() {
    let made = Made::new((200, 12, 2), 1.0, (0.05, 20.0), 0.1, 3);
    let x: Vec<f64> = made.x().iter().enumerate().map(|(at, x)| x * UNITS[at % 12 % 3]).collect();
    let model = fit(&standardized(), &x, 12);
    assert_eq!(rank(&model), 2);
    let spread = numbers(&model, "spread");
    let axes = numbers(&model, "components");
    for (c, d) in [(0, 0), (0, 1), (1, 1)] {
        let dot: f64 = (0..12).map(|j| axes[c * 12 + j] * axes[d * 12 + j] / spread[j].powi(2)).sum();
        assert!((dot - f64::from(u8::from(c == d))).abs() < 1e-12, "{c}, {d}: {dot}");
    }
    let low: Vec<f64> =
        low_rank(&model, &x).iter().enumerate().map(|(at, x)| x / UNITS[at % 12 % 3]).collect();
    // Of prototypes on such rows the median error was 0.03 to 0.04.
    let mut away: Vec<f64> = low.iter().zip(made.low.as_slice()).map(|(a, b)| (a - b).abs()).collect();
    away.sort_by(f64::total_cmp);
    assert!(away[away.len() / 2] < 0.1, "{}", away[away.len() / 2]);
    // Of each column in its own unit.
    for (j, std) in numbers(&model, "noise_std").into_iter().enumerate() {
        let noise = std / spread[j];
        assert_eq!(
            model.report().settings["noise"].as_f64().map(|x| (x / noise - 1.0).abs() < 1e-12),
            Some(true)
        );
    }
    let share = model.report().diagnostics["sparse_share"].as_f64().unwrap();
    let wrong = made.sparse.as_slice().iter().filter(|x| **x != 0.0).count() as f64 / 2400.0;
    // Cells beside several errors of a row are not always distinguished from them.
    assert!(share > wrong - 0.01 && share < wrong + 0.06, "{share} of {wrong}");
}

#[test]
fn columns_of_which_half_of_the_cells_are_equal_are_standardized_too() {
    let mut x = sensors([1.0; 3], 4);
    for (i, row) in x.chunks_exact_mut(12).enumerate() {
        (row[4], row[7]) = (3.0, if i % 4 == 0 { 1e6 } else { 0.0 });
    }
    let model = fit(&RobustPca { center: true, ..standardized() }, &x, 12);
    let spread = numbers(&model, "spread");
    // A constant column is divided by 1, and one with a quarter of other cells by half of their distance.
    assert_eq!((spread[4], spread[7]), (1.0, 5e5));
    assert!(numbers(&model, "components").chunks_exact(12).all(|row| row[4] == 0.0));
    assert!(low_rank(&model, &x).iter().skip(4).step_by(12).all(|x| *x == 3.0));
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
fn a_noise_estimate_that_does_not_converge_is_not_reported_as_ended_by_max_iter() {
    let mut unconverged = 0;
    for seed in 0..6 {
        let model = fit(&RobustPca::default(), &sensors(UNITS, seed), 12);
        let report = model.report();
        assert_ne!(report.outcome, Outcome::MaxIter, "seed {seed}");
        let said = report.warnings.iter().any(|w| w.contains("did not converge in 8 rounds"));
        assert_eq!(said, report.outcome == Outcome::Stalled, "seed {seed}: {:?}", report.warnings);
        unconverged += usize::from(said);
    }
    assert!(unconverged > 0, "all converged");
}
