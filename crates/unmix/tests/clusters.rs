//! Clusters of components over fits of halves and restarts: [`unmix::stability::Clusters`].

use crate::made;
use serde_json::{Map, Value, json};
use unmix::datasets::{Distribution, independent};
use unmix::stability::{Clustering, Stability, Trials, stability};
use unmix::{AnyRows, Matrix, Model, Rows};

fn tried(key: &str, x: &Matrix<f64>, settings: Value, trials: Trials, threads: usize) -> (Model, Stability) {
    let mut rows: AnyRows<'_> = Rows::from_slice(x.as_slice(), x.cols()).unwrap().into();
    let settings = settings.as_object().cloned().unwrap_or_else(Map::new);
    let run = made::on_threads(threads);
    let model = unmix::fit(key, &settings, &mut rows, &run).unwrap();
    let found = stability(&model, &rows, trials, &run).unwrap();
    (model, found)
}

#[test]
fn sources_are_compact_clusters_and_gaussian_ones_are_not() {
    use Distribution::{Gaussian, Laplace};
    let distributions = [Laplace, Gaussian, Laplace, Laplace, Gaussian, Laplace];
    let data = independent(4000, &distributions, &[1.0; 6], 5).unwrap();
    let (model, found) =
        tried("ica", &data.x, json!({}), Trials { splits: 6, restarts: 6, bootstrap: Some(0) }, 1);
    let components = model.tensor("components").unwrap().to_matrix();
    let source = unmix::metrics::match_rows(&components, &data.mixing.transposed());
    let gaussian = |j: &usize| distributions[source.order[*j]] == Gaussian;
    let sets = [(&found.clusters.halves, 12), (&found.clusters.restarts, 7), (&found.clusters.both, 19)];
    for (clustering, n_fits) in sets {
        let c = clustering.as_ref().unwrap();
        assert_eq!((c.labels.len(), c.n_left_out, c.size.iter().sum::<usize>()), (n_fits, 0, 6 * n_fits));
        for j in (0..6).filter(|j| !gaussian(j)) {
            assert!(c.quality[j].unwrap() > 0.9, "{j}: {:?}", c.quality);
            assert_eq!((c.size[j], c.fits[j]), (n_fits, n_fits), "{j}");
            assert!(c.similarity[j] > 0.99 && c.labels.iter().all(|l| l[j] == Some(j)), "{j}");
        }
    }
    // Halves rotate the two Gaussian components arbitrarily; restarts on the same rows need not.
    let halves = found.clusters.halves.as_ref().unwrap();
    let least = (0..6).filter(|j| !gaussian(j)).map(|j| halves.quality[j].unwrap()).fold(1.0, f64::min);
    for j in (0..6).filter(gaussian) {
        assert!(halves.quality[j].is_none_or(|q| q < least - 0.05), "{j}: {:?}", halves.quality);
    }
    // Centrotypes are components of other fits, with the signs of the model's.
    let centrotypes = halves.centrotypes.as_ref().unwrap();
    for j in (0..6).filter(|j| !gaussian(j)) {
        let (a, b) = (components.row(j), centrotypes.row(j));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        assert!(dot(a, b) / (dot(a, a) * dot(b, b)).sqrt() > 0.99, "{j}");
        assert_ne!(a, b);
    }
}

#[test]
fn only_halves_are_clustered_for_an_exact_solver() {
    let data = independent(3000, &[Distribution::Gaussian; 5], &[30.0, 8.0, 2.0, 2.0, 0.3], 2).unwrap();
    let trials = Trials { splits: 5, restarts: 3, bootstrap: Some(0) };
    let (model, found) = tried("pca", &data.x, json!({"n_components": 4}), trials, 1);
    assert!(found.clusters.restarts.is_none() && found.clusters.both.is_none());
    let halves: &Clustering = found.clusters.halves.as_ref().unwrap();
    assert!(halves.quality[..2].iter().all(|q| q.unwrap() > 0.95), "{:?}", halves.quality);
    assert!(halves.quality[2..].iter().all(|q| q.is_none_or(|q| q < 0.9)), "{:?}", halves.quality);
    assert!(found.clusters.map.iter().all(|p| p.half) && found.clusters.map.len() == 40);
    // Centrotypes have unit length, as components of this model have.
    let (components, centrotypes) =
        (model.tensor("components").unwrap().to_matrix(), halves.centrotypes.as_ref().unwrap());
    let cosine: f64 = components.row(0).iter().zip(centrotypes.row(0)).map(|(x, y)| x * y).sum();
    assert!(
        cosine > 0.99 && (cosine - halves.similarity[0]).abs() < 1e-12,
        "{cosine} {:?}",
        halves.similarity
    );
    let message = found.to_json();
    assert!(message["clusters"]["restarts"].is_null() && message["clusters"]["halves"]["size"][0] == 10);
    assert!(
        message["clusters"]["halves"]["centrotypes"].is_null(),
        "a model file must not hold its components twice"
    );
}

#[test]
fn clusters_have_the_same_bits_for_any_number_of_threads() {
    use Distribution::{Gaussian, Laplace};
    let distributions = [Laplace, Gaussian, Laplace, Gaussian, Gaussian];
    let data = independent(1500, &distributions, &[1.0; 5], 8).unwrap();
    for key in ["ica", "rica"] {
        let of = |trials, threads| tried(key, &data.x, json!({}), trials, threads).1.clusters;
        let trials = Trials { splits: 3, restarts: 4, bootstrap: Some(0) };
        let one = of(trials, 1);
        assert!(one.both.is_some() && one == of(trials, 3), "{key}");
        // Restarts do not change the clusters of halves.
        let more = of(Trials { restarts: 6, ..trials }, 2);
        assert_eq!(one.halves, more.halves, "{key}");
        assert_eq!(more.restarts.unwrap().labels.len(), 7, "{key}");
    }
}
