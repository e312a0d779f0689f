//! What half of the rows finds again, and what it does not.

use crate::made;
use serde_json::{Map, json};
use unmix::datasets::{Law, independent};
use unmix::stability::{STABLE, Stability, Trials, stability};
use unmix::{AnyRows, Matrix, Model, Rows, Run};

fn tried(x: &Matrix<f64>, k: usize, trials: Trials, seed: u64) -> (Model, Stability) {
    let mut rows: AnyRows<'_> = Rows::from_slice(x.as_slice(), x.cols()).unwrap().into();
    let settings = json!({"n_components": k}).as_object().cloned().unwrap_or_else(Map::new);
    let run = Run { seed, ..made::on_threads(1) };
    let model = unmix::fit("pca", &settings, &mut rows, &run).unwrap();
    let found = stability(&model, &rows, trials, &run).unwrap();
    (model, found)
}

#[test]
fn distinct_variances_are_found_again_and_tied_ones_are_not() {
    let variances = [30.0, 8.0, 1.0, 1.0, 1.0, 1.0];
    let data = independent(2000, &[Law::Gaussian; 6], &variances, 2).unwrap();
    let (_, found) = tried(&data.x, 6, Trials { cuts: 6, restarts: 2 }, 0);
    assert!(found.halves[..2].iter().all(|h| *h > 0.99), "{:?}", found.halves);
    // Inside a tie of four, the axes of two halves are turned against each other at random.
    assert!(found.halves[2..].iter().all(|h| *h < STABLE), "{:?}", found.halves);
    assert_eq!((found.in_words(0), found.in_words(1)), ("resolved".to_string(), "resolved".to_string()));
    // All six directions are kept, so the space of the tie is what the first two leave: both halves find that.
    assert_eq!(found.in_words(2), "resolved as a group with 3, 4, 5");
    assert!(found.index[0] > 0.95 && found.index[4] < 0.8, "{:?}", found.index);
    assert!(found.restarts.is_none(), "an exact solver has one answer whatever the seed");
    assert!(found.interval.iter().zip(&found.halves).all(|((low, high), h)| low <= h && h <= high));
}

#[test]
fn too_few_rows_make_nothing_stable() {
    let data = independent(24, &[Law::Gaussian; 8], &[1.3, 1.2, 1.1, 1.0, 1.0, 0.9, 0.8, 0.7], 5).unwrap();
    let (_, found) = tried(&data.x, 3, Trials { cuts: 8, restarts: 0 }, 1);
    assert!((0..3).all(|j| found.in_words(j) == "not resolvable from these data"), "{:?}", found.halves);
}

#[test]
fn the_same_seed_gives_the_same_numbers_for_any_number_of_threads() {
    let data = independent(500, &[Law::Laplace; 4], &[4.0, 3.0, 2.0, 1.0], 3).unwrap();
    let mut rows: AnyRows<'_> = Rows::from_slice(data.x.as_slice(), 4).unwrap().into();
    let model = unmix::fit("pca", &Map::new(), &mut rows, &made::on_threads(1)).unwrap();
    let trials = Trials { cuts: 3, restarts: 1 };
    let one = stability(&model, &rows, trials, &made::on_threads(1)).unwrap();
    assert_eq!(one, stability(&model, &rows, trials, &made::on_threads(3)).unwrap());
    // One analysis more changes no other: halves do not depend on restarts.
    let more = stability(&model, &rows, Trials { restarts: 3, ..trials }, &made::on_threads(2)).unwrap();
    assert_eq!((one.halves, one.interval), (more.halves, more.interval));
}

#[test]
fn rows_with_weights_are_refused() {
    let data = independent(50, &[Law::Laplace; 3], &[3.0, 2.0, 1.0], 3).unwrap();
    let mut rows: AnyRows<'_> = Rows::from_slice(data.x.as_slice(), 3).unwrap().into();
    let model = unmix::fit("pca", &Map::new(), &mut rows, &made::on_threads(1)).unwrap();
    let weighted: AnyRows<'_> =
        Rows::from_slice(data.x.as_slice(), 3).unwrap().weighted(vec![1.0; 50]).unwrap().into();
    let refused =
        stability(&model, &weighted, Trials::default(), &made::on_threads(1)).unwrap_err().to_string();
    assert!(refused.starts_with("stability of a decomposition is not possible"), "{refused}");
}
