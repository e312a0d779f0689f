//! Rare modules on a correlated background: those of fits from several starts, pooled, and of a fit that begins at independent components.

use super::{members, planted, settings};
use crate::made::median;
use crate::scope::{in_all, in_full};
use unmix::biclusters::{Module, Refits, biclusters, of_model};
use unmix::datasets::PlantedBiclusters;
use unmix::method::rfn::Init;
use unmix::metrics::{Bicluster, consensus_score};
use unmix::{AnyRows, Model, Rfn, Rows, Run};

/// Data sets of each shift, with five planted modules each.
const SETS: u64 = 10;

fn single(made: &PlantedBiclusters) -> Vec<f32> {
    made.x.as_slice().iter().map(|x| *x as f32).collect()
}

fn fitted(x: &[f32], spec: &Rfn, run: &Run<'_>) -> Model {
    spec.fit(&mut Rows::from_slice(x, 800).unwrap(), run).unwrap()
}

/// Consensus of the first five modules of a fit from independent components with the planted ones.
fn consensus(x: &[f32], made: &PlantedBiclusters, run: &Run<'_>) -> f64 {
    let spec = Rfn { init: Init::Ica, max_iter: 50, ..settings() };
    let model = fitted(x, &spec, run);
    let found = of_model(&model, &AnyRows::from(Rows::from_slice(x, 800).unwrap()), run).unwrap();
    let truth: Vec<(Vec<u32>, Vec<u32>)> =
        made.rows.iter().zip(&made.columns).map(|(r, c)| (members(r), members(c))).collect();
    let truth: Vec<Bicluster<'_>> = truth.iter().map(|(r, c)| (r.as_slice(), c.as_slice())).collect();
    let first = found.modules.iter().take(5);
    let first: Vec<Bicluster<'_>> = first.map(|m| (m.rows.as_slice(), m.columns.as_slice())).collect();
    consensus_score(&first, &truth)
}

/// Places of the largest values, as many as there are members.
fn top(values: impl Iterator<Item = f64>, of: &[bool]) -> Vec<usize> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
    order.truncate(members(of).len());
    order
}

/// The mean of two shares: of the rows of a planted module among as many rows of largest code, and of its columns among as many of largest
/// loading; for the planted module where it is largest. Unlike the members of a module, these are never more than the planted ones.
fn overlap(module: &Module, made: &PlantedBiclusters) -> (f64, usize) {
    let share = |found: Vec<usize>, of: &[bool]| {
        found.iter().filter(|i| of[**i]).count() as f64 / members(of).len() as f64
    };
    let each = made.rows.iter().zip(&made.columns).enumerate().map(|(i, (rows, columns))| {
        let of_rows = share(top(module.codes.iter().map(|y| f64::from(*y)), rows), rows);
        let of_columns = share(top(module.loadings.iter().map(|w| w.abs()), columns), columns);
        (0.5 * (of_rows + of_columns), i)
    });
    each.fold((0.0, 0), |best, at| if at.0 > best.0 { at } else { best })
}

/// Planted modules that are found: with an overlap of at least 0.7.
fn distinct(hits: &[(f64, usize)]) -> usize {
    let mut own: Vec<usize> = hits.iter().filter(|hit| hit.0 >= 0.7).map(|hit| hit.1).collect();
    own.sort_unstable();
    own.dedup();
    own.len()
}

#[test]
fn strong_modules_are_found_and_agree_with_the_planted_ones() {
    let made = planted(5.0, 0);
    assert!(consensus(&single(&made), &made, &Run::default()) > 0.8);
}

/// 50 units and a bound of 0.3 on the noise; six random starts and one from independent components. Of 50 planted modules at least 48 are found, 45 of
/// them among the first ten of a set, 36 are declared at shift 4, and at most 15 % of what is declared overlaps no planted module by 0.4.
#[test]
fn pooled_starts_find_and_declare_rare_modules() {
    if !in_full("pooled_starts_find_and_declare_rare_modules") {
        return;
    }
    for (shift, least) in [(5.0, 0), (4.0, 36)] {
        let (mut found, mut first, mut known, mut declared, mut wrong) = (0, 0, 0, 0, 0);
        for seed in 0..SETS {
            let (made, run) = (planted(shift, seed), Run { seed, ..Run::default() });
            let x = single(&made);
            let rows = AnyRows::from(Rows::from_slice(&x, 800).unwrap());
            // Only the settings of the model are used.
            let model = fitted(&x, &settings(), &run);
            let pooled = biclusters(&model, &rows, Refits { starts: 7, permutations: 4 }, &run).unwrap();
            let hits: Vec<(f64, usize)> = pooled.modules.iter().map(|m| overlap(m, &made)).collect();
            let own: Vec<(f64, usize)> = hits
                .iter()
                .zip(&pooled.modules)
                .filter(|(_, m)| m.q_value.unwrap() <= 0.1)
                .map(|(hit, _)| *hit)
                .collect();
            found += distinct(&hits);
            first += distinct(&hits[..hits.len().min(10)]);
            known += distinct(&own);
            declared += own.len();
            wrong += own.iter().filter(|hit| hit.0 < 0.4).count();
        }
        eprintln!("shift {shift}: found {found}, first {first}, declared {declared}: {known}, false {wrong}");
        assert!(found >= 48 && first >= 45, "shift {shift}: {found} found, {first} among the first");
        assert!(known >= least, "shift {shift}: {known} among {declared} declared");
        assert!(declared > 0 && 20 * wrong <= 3 * declared, "shift {shift}: {wrong} of {declared} are false");
    }
}

/// Twice as many sets, because the consensus of single ones is between .5 and .9.
#[test]
fn the_first_modules_from_independent_components_agree_with_the_planted_ones() {
    if !in_all("the_first_modules_from_independent_components_agree_with_the_planted_ones") {
        return;
    }
    let of = |seed: u64| {
        let made = planted(4.0, seed);
        consensus(&single(&made), &made, &Run { seed, ..Run::default() })
    };
    let found: Vec<f64> = (0..2 * SETS).map(of).collect();
    assert!(median(found.clone()) >= 0.7, "{found:?}");
}
