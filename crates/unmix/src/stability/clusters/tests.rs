//! Clusters of estimates that are made up: every number is known beforehand.

use super::*;
use crate::num::random::Stream;
use crate::{Pca, Rows, Run};

/// A model of eight components, for the rows of `components` that it has.
fn some_model() -> Model {
    let draws = Stream::new(1, 7);
    let x: Vec<f64> = (0..80 * 8).map(|i| draws.normal(i) * (1 + i % 8) as f64).collect();
    Pca::default().fit(&mut Rows::from_slice(&x, 8).unwrap(), &Run::default()).unwrap()
}

fn unit(mut m: Matrix<f64>) -> Matrix<f64> {
    for i in 0..m.rows() {
        let length = m.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
        m.row_mut(i).iter_mut().for_each(|x| *x /= length);
    }
    m
}

/// The first `k` coordinate axes of eight dimensions, each with Gaussian noise.
fn noisy_axes(k: usize, noise: f64, seed: u64) -> Matrix<f64> {
    let draws = Stream::new(seed, 3);
    unit(Matrix::from_fn(k, 8, |i, c| f64::from(u8::from(i == c)) + noise * draws.normal((8 * i + c) as u64)))
}

/// Clusters of these fits of all rows; the first is the model.
fn found(fits: &[Matrix<f64>]) -> Clustering {
    let model = some_model();
    let order: Vec<Option<usize>> = (0..8).map(Some).collect();
    let fits: Vec<Fit<'_>> =
        fits.iter().map(|vectors| Fit { model: &model, vectors, order: &order[..vectors.rows()] }).collect();
    clusters(fits[0].vectors, &fits, &[], false).restarts.unwrap()
}

#[test]
fn the_index_is_the_one_of_the_definition() {
    // Items 0, 1 and 2 are one cluster, 3 and 4 another, 5 is alone.
    let table = [
        [1.0, 0.9, 0.8, 0.1, 0.2, 0.0],
        [0.9, 1.0, 0.7, 0.3, 0.0, 0.1],
        [0.8, 0.7, 1.0, 0.2, 0.1, 0.0],
        [0.1, 0.3, 0.2, 1.0, 0.6, 0.5],
        [0.2, 0.0, 0.1, 0.6, 1.0, 0.4],
        [0.0, 0.1, 0.0, 0.5, 0.4, 1.0],
    ];
    let similarity = Matrix::from_fn(6, 6, |i, j| table[i][j]);
    let cluster = average_linkage(Matrix::from_fn(6, 6, |i, j| 1.0 - table[i][j]), 3);
    assert_eq!(cluster, [0, 0, 0, 1, 1, 2]);
    let found = cluster_statistics(&similarity, &cluster, 3);
    // Inside (0.9 + 0.8 + 0.7) / 3; outside, of nine pairs, (0.3 + 0.4 + 0.3) / 9.
    assert!((found[0].quality.unwrap() - (0.8 - 1.0 / 9.0)).abs() < 1e-15);
    // Inside 0.6; outside, of eight pairs, (0.6 + 0.5 + 0.3 + 0.4) / 8.
    assert!((found[1].quality.unwrap() - (0.6 - 1.8 / 8.0)).abs() < 1e-15);
    assert_eq!(found[2].quality, None, "one estimate was not found again");
    assert_eq!(found.iter().map(|f| f.size).collect::<Vec<_>>(), [3, 2, 1]);
    // 0 has 1.7 inside, 1 has 1.6, 2 has 1.5; of two the first.
    assert_eq!(found.iter().map(|f| f.centrotype).collect::<Vec<_>>(), [0, 3, 5]);
    // All in one cluster: there is nothing else.
    let all = cluster_statistics(&similarity, &[0; 6], 1);
    // Above the diagonal rows sum to 2, 1.1, 0.3, 1.1 and 0.4.
    assert!((all[0].quality.unwrap() - 4.9 / 15.0).abs() < 1e-15);
}

#[test]
fn directions_that_all_fits_find_are_clusters_of_one_estimate_each() {
    for (k, n) in [(1, 2), (3, 6), (8, 21)] {
        let fits: Vec<Matrix<f64>> = (0..n).map(|seed| noisy_axes(k, 0.003, seed)).collect();
        let found = found(&fits);
        assert!(found.quality.iter().all(|q| q.is_some_and(|q| q > 0.98)), "{:?}", found.quality);
        assert_eq!((&found.size, &found.fits), (&vec![n as usize; k], &vec![n as usize; k]));
        assert!(found.similarity.iter().all(|s| *s > 0.999));
        assert!(found.labels.iter().all(|l| *l == (0..k).map(Some).collect::<Vec<_>>()));
        assert_eq!((found.labels.len(), found.n_left_out), (n as usize, 0));
    }
}

#[test]
fn order_and_signs_of_estimates_change_nothing() {
    let plain: Vec<Matrix<f64>> = (0..7).map(|seed| noisy_axes(4, 0.3, seed)).collect();
    let first = found(&plain);
    // Partners of the model stay where they are; other fits come in another order and with other signs.
    let mut other = vec![plain[0].clone()];
    other.extend([4, 2, 6, 1, 5, 3].map(|i| {
        let sign = |j: usize| if (i + j).is_multiple_of(2) { -1.0 } else { 1.0 };
        Matrix::from_fn(4, 8, |j, c| sign(j) * plain[i][(j, c)])
    }));
    let second = found(&other);
    assert_eq!((&first.size, &first.fits), (&second.size, &second.fits));
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(first.quality.iter().zip(&second.quality).all(|(a, b)| near(a.unwrap(), b.unwrap())));
    assert!(first.similarity.iter().zip(&second.similarity).all(|(a, b)| near(*a, *b)));
    // With the model's components in another order, results are in that order.
    let permuted: Vec<Matrix<f64>> =
        plain.iter().map(|m| Matrix::from_fn(4, 8, |j, c| -m[((j + 1) % 4, c)])).collect();
    let third = found(&permuted);
    assert!((0..4).all(|j| near(third.quality[j].unwrap(), first.quality[(j + 1) % 4].unwrap())));
    assert!((0..4).all(|j| third.size[j] == first.size[(j + 1) % 4]));
}

#[test]
fn a_source_with_two_optima_is_two_clusters_or_one_of_low_quality() {
    // Of three components the first is one axis in half of the fits and another, at 60 degrees, in the others.
    let fits: Vec<Matrix<f64>> = (0..10u64)
        .map(|seed| {
            let mut m = noisy_axes(3, 0.01, seed);
            if seed % 2 == 1 {
                (m.row_mut(0)[0], m.row_mut(0)[7]) = (0.5, 0.75f64.sqrt());
            }
            unit(m)
        })
        .collect();
    let all = found(&fits);
    // Of 45 pairs 20 are alike and 25 have a cosine of 0.5.
    assert!((all.quality[0].unwrap() - (20.0 + 25.0 * 0.5) / 45.0).abs() < 0.02, "{:?}", all.quality);
    assert!(all.quality[1..].iter().all(|q| q.unwrap() > 0.95), "{:?}", all.quality);
    let model = some_model();
    let order: Vec<Option<usize>> = (0..8).map(Some).collect();
    let given: Vec<Fit<'_>> =
        fits.iter().map(|vectors| Fit { model: &model, vectors, order: &order[..3] }).collect();
    let estimates = Estimates::of(&given.iter().collect::<Vec<_>>(), 10, false);
    let distance = Matrix::from_fn(30, 30, |i, j| 1.0 - estimates.similarity[(i, j)]);
    let four = average_linkage(distance, 4);
    let described = cluster_statistics(&estimates.similarity, &four, 4);
    let (one, other) = (four[0], four[3]);
    assert!(one != other && (0..10).all(|f| four[3 * f] == if f % 2 == 0 { one } else { other }));
    for c in [one, other] {
        assert_eq!(described[c].size, 5);
        // Five of the 25 estimates of others have a cosine of 0.5.
        assert!((described[c].quality.unwrap() - 0.9).abs() < 0.02, "{:?}", described[c].quality);
    }
}

#[test]
fn components_of_zeros_are_no_estimates_and_have_no_cluster() {
    let mut fits: Vec<Matrix<f64>> = (0..5).map(|seed| noisy_axes(4, 0.01, seed)).collect();
    // One fit has no partner for component 2, and component 3 is nothing in any.
    fits[3].row_mut(2).fill(0.0);
    fits.iter_mut().for_each(|m| m.row_mut(3).fill(0.0));
    let found = found(&fits);
    assert_eq!((&found.size, &found.fits), (&vec![5, 5, 4, 0], &vec![5, 5, 4, 0]));
    assert!(found.quality[..3].iter().all(|q| q.unwrap() > 0.95) && found.quality[3].is_none());
    assert_eq!(found.labels[3], [Some(0), Some(1), None, None]);
    assert_eq!(found.similarity[3], 0.0);
    assert!(found.centrotypes.unwrap().row(3).iter().all(|x| *x == 0.0));
}

#[test]
fn of_too_many_estimates_whole_fits_are_left_out() {
    let model = some_model();
    let order: Vec<Option<usize>> = (0..8).map(Some).collect();
    let fits: Vec<Matrix<f64>> = (0..200).map(|seed| noisy_axes(8, 0.05, seed)).collect();
    let of = |vectors| Fit { model: &model, vectors, order: &order };
    let (restarts, halves): (Vec<Fit<'_>>, Vec<Fit<'_>>) =
        (fits.iter().map(of).collect(), fits[..180].iter().map(of).collect());
    let found = clusters(&fits[0], &restarts, &halves, false);
    let sizes = |c: &Option<Clustering>| c.as_ref().map(|c| (c.size.iter().sum::<usize>(), c.n_left_out));
    assert_eq!((sizes(&found.restarts), sizes(&found.halves)), (Some((1600, 0)), Some((1440, 0))));
    // 2048 estimates of 8 components are 256 fits, half of them of halves.
    assert_eq!(sizes(&found.both), Some((MOST_ESTIMATES, 380 - 256)));
    let both = found.both.unwrap();
    assert!(both.size.iter().zip(&both.fits).all(|(s, f)| (*s, *f) == (256, 256)));
    // The drawing has fits of both kinds, and some of each component.
    assert!((500..=520).contains(&found.map.len()), "{}", found.map.len());
    let half = found.map.iter().filter(|p| p.half).count();
    assert!((200..=320).contains(&half), "{half}");
    assert!((0..8).all(|j| found.map.iter().filter(|p| p.component == j).count() >= 60));
    // Few halves leave room for restarts.
    let few = clusters(&fits[0], &restarts, &halves[..10], false);
    assert_eq!(few.both.unwrap().n_left_out, 0);
}

#[test]
fn one_fit_or_none_has_no_clusters() {
    let model = some_model();
    let order: Vec<Option<usize>> = (0..8).map(Some).collect();
    let axes = noisy_axes(3, 0.0, 1);
    let fits = [Fit { model: &model, vectors: &axes, order: &order[..3] }];
    assert_eq!(clusters(&axes, &fits, &[], false), Clusters::default());
    assert_eq!(clusters(&axes, &[], &fits, false), Clusters::default());
    let nothing = Matrix::zeros(0, 8);
    let empty = [
        Fit { model: &model, vectors: &nothing, order: &[] },
        Fit { model: &model, vectors: &nothing, order: &[] },
    ];
    assert_eq!(clusters(&nothing, &empty, &empty, false), Clusters::default());
}
