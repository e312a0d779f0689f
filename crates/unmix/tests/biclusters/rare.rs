//! Rare modules on a correlated background: members of the units of a fit that begins at independent components.

use super::{members, planted};
use unmix::biclusters::of_model;
use unmix::datasets::PlantedBiclusters;
use unmix::metrics::{Bicluster, consensus_score};
use unmix::{AnyRows, Model, Rfn, Rows, Run};

fn single(made: &PlantedBiclusters) -> Vec<f32> {
    made.x.as_slice().iter().map(|x| *x as f32).collect()
}

fn fitted(x: &[f32], spec: &Rfn, run: &Run<'_>) -> Model {
    spec.fit(&mut Rows::from_slice(x, 800).unwrap(), run).unwrap()
}

/// Consensus of the first five modules of a fit from independent components with the planted ones.
fn consensus(x: &[f32], made: &PlantedBiclusters, run: &Run<'_>) -> f64 {
    let spec = Rfn { init: unmix::method::rfn::Init::Ica, max_iter: 50, ..super::settings() };
    let model = fitted(x, &spec, run);
    let found = of_model(&model, &AnyRows::from(Rows::from_slice(x, 800).unwrap()), run).unwrap();
    let truth: Vec<(Vec<u32>, Vec<u32>)> =
        made.rows.iter().zip(&made.columns).map(|(r, c)| (members(r), members(c))).collect();
    let truth: Vec<Bicluster<'_>> = truth.iter().map(|(r, c)| (r.as_slice(), c.as_slice())).collect();
    let first = found.modules.iter().take(5);
    let first: Vec<Bicluster<'_>> = first.map(|m| (m.rows.as_slice(), m.columns.as_slice())).collect();
    consensus_score(&first, &truth)
}

#[test]
fn strong_modules_are_found_and_agree_with_the_planted_ones() {
    let made = planted(5.0, 0);
    assert!(consensus(&single(&made), &made, &Run::default()) > 0.8);
}
