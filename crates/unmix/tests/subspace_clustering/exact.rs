//! Properties that follow from the definitions.

use super::{bases, fit, labels, union};
use crate::made::{apart, cast, encode, numbers, on_threads, pca};
use serde_json::json;
use unmix::internal::num::factor;
use unmix::method::subspace_clustering::{Algorithm, Dimensions, affinities};
use unmix::metrics::subspace_angles;
use unmix::{Error, Matrix, Model, Rows, SubspaceClustering};

fn spec(k: usize, d: usize) -> SubspaceClustering {
    SubspaceClustering { n_clusters: Some(k), n_components: Some(Dimensions::Same(d)), ..Default::default() }
}

#[test]
fn rows_without_noise_give_the_subspaces_themselves() {
    let made = union(12, &[2, 2, 3], 40, 0.0, 4);
    let spec = SubspaceClustering { n_clusters: Some(3), ..Default::default() };
    let model = fit(&spec, &made.x);
    for (c, basis) in bases(&model).iter().enumerate() {
        let at = labels(&model).iter().position(|l| *l == c).unwrap();
        let truth = &made.bases[made.labels[at]];
        assert_eq!(basis.rows(), truth.rows());
        assert!(subspace_angles(basis, truth).unwrap()[0] < 1e-7);
    }
    let codes = encode(&model, made.x.as_slice());
    for (i, row) in codes.chunks_exact(3).enumerate() {
        let c = labels(&model)[i];
        let size = made.x.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(row[c] < 1e-12 * size, "row {i} is in its subspace");
        assert!((0..3).all(|k| k == c || row[k] > 1e-6 * size), "and in no other");
    }
}

/// The affinities of rows in the same subspace, as a share of all of them: the coefficients of a row without noise are of rows in its own
/// subspace alone.
#[test]
fn affinities_of_rows_without_noise_are_within_their_subspaces() {
    for seed in 0..5 {
        let made = union(30, &[3, 3, 3], 60, 0.0, seed);
        let table = affinities(&made.x, 20.0, &on_threads(2)).unwrap();
        let (mut inside, mut all) = (0.0, 0.0);
        for i in 0..made.x.rows() {
            let own = |j: &usize| made.labels[*j] == made.labels[i];
            let row = table.row(i);
            assert!(row.iter().all(|a| *a >= 0.0) && row[i] == 0.0, "seed {seed}, row {i}");
            let within: f64 = (0..row.len()).filter(own).map(|j| row[j]).sum();
            assert!(within > 0.0, "seed {seed}: row {i} has no affinities");
            inside += within;
            all += row.iter().sum::<f64>();
        }
        assert!(
            inside / all >= 1.0 - 1e-12,
            "seed {seed}: a share of {:e} is between subspaces",
            1.0 - inside / all
        );
    }
}

#[test]
fn codes_are_distances_in_any_units_and_labels_are_the_nearest() {
    let made = union(10, &[2, 3], 50, 0.1, 1);
    let model = fit(&SubspaceClustering { center: true, ..spec(2, 3) }, &made.x);
    let (mean, bases) = (numbers(&model, "mean"), bases(&model));
    let codes = encode(&model, made.x.as_slice());
    for i in 0..100 {
        let x: Vec<f64> = made.x.row(i).iter().zip(&mean).map(|(x, m)| x - m).collect();
        for (c, basis) in bases.iter().enumerate() {
            let scores: Vec<f64> =
                (0..3).map(|a| basis.row(a).iter().zip(&x).map(|(u, x)| u * x).sum()).collect();
            let rest = |j: usize| x[j] - (0..3).map(|a| scores[a] * basis[(a, j)]).sum::<f64>();
            let want = (0..10).map(|j| rest(j).powi(2)).sum::<f64>().sqrt();
            assert!((codes[2 * i + c] - want).abs() < 1e-12);
        }
        let nearest = usize::from(codes[2 * i + 1] < codes[2 * i]);
        assert_eq!(labels(&model)[i], nearest);
    }
    let about_0 = fit(&spec(2, 3), &made.x);
    let codes = encode(&about_0, made.x.as_slice());
    for unit in [1e-200, 1e180] {
        let scaled: Vec<f64> = made.x.as_slice().iter().map(|x| x * unit).collect();
        let found = encode(&about_0, &scaled);
        assert!(found.iter().zip(&codes).all(|(a, b)| (a / unit - b).abs() < 1e-12 * b.max(1.0)), "{unit:e}");
    }
}

#[test]
fn one_cluster_is_pca_about_0() {
    let made = union(8, &[3], 60, 0.2, 2);
    for algorithm in [Algorithm::SscKSubspaces, Algorithm::Ssc, Algorithm::KSubspaces, Algorithm::Shape] {
        let model = fit(&SubspaceClustering { algorithm, ..spec(1, 3) }, &made.x);
        let plain = pca(json!({"n_components": 3, "center": false}), made.x.as_slice(), 8);
        assert!(apart(&numbers(&model, "bases"), &numbers(&plain, "components")) < 1e-10);
        assert!(labels(&model).iter().all(|l| *l == 0));
    }
}

#[test]
fn distances_never_rise_and_orthonormal_rows_come_largest_cluster_first() {
    let made = union(6, &[2, 2, 2, 2], 60, 0.3, 5);
    for algorithm in [Algorithm::KSubspaces, Algorithm::SscKSubspaces] {
        let model = fit(&SubspaceClustering { algorithm, tol: 0.0, ..spec(4, 2) }, &made.x);
        let report = model.report();
        assert!(report.objective.windows(2).all(|w| w[1] <= w[0]), "{:?}", report.objective);
        assert!(report.outcome.is_success() && report.n_iter > 1);
        let counts = (0..4).map(|c| labels(&model).iter().filter(|l| **l == c).count()).collect::<Vec<_>>();
        assert!(counts.windows(2).all(|w| w[0] >= w[1]), "{counts:?}");
        for basis in bases(&model) {
            let products = factor::multiply_transposed(&basis, &basis);
            let one = Matrix::from_fn(2, 2, |i, j| f64::from(u8::from(i == j)));
            assert!(apart(products.as_slice(), one.as_slice()) < 1e-13);
        }
        let near = encode(&model, made.x.as_slice());
        let mean =
            near.chunks_exact(4).map(|d| d.iter().fold(f64::INFINITY, |m, d| m.min(*d)).powi(2)).sum::<f64>()
                / 240.0;
        assert!((mean / report.objective.last().unwrap() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn codes_have_no_decoder_and_decoding_is_refused() {
    let made = union(6, &[2, 2], 30, 0.1, 0);
    let model = fit(&spec(2, 2), &made.x);
    assert!(!model.code().decodes() && model.code().mixing().is_none());
    let rows = Rows::from_slice(made.x.as_slice(), 6).unwrap();
    let codes = Rows::from_slice(&[1.0, 2.0], 2).unwrap();
    let (run, mut sink) = (on_threads(1), unmix::data::VecSink(Vec::new()));
    let message = |e: Error| {
        assert!(matches!(e, Error::Unsupported { .. }), "{e:?}");
        assert!(e.to_string().contains("do not determine rows"), "{e}");
    };
    message(model.decode(&codes, &run, &mut sink).unwrap_err());
    message(model.reconstruct(&rows, &run, &mut sink).unwrap_err());
    message(model.quality(&rows, Default::default(), &run, &mut sink).unwrap_err());
    let back = Model::from_bytes(&model.to_bytes().unwrap(), "the model".as_ref()).unwrap();
    assert!(!back.code().decodes());
}

#[test]
fn single_precision_finds_the_same_clusters() {
    let made = union(20, &[2, 2, 2], 40, 0.05, 3);
    let x: Vec<f32> = cast(made.x.as_slice());
    let single = spec(3, 2).fit(&mut Rows::from_slice(&x, 20).unwrap(), &on_threads(1)).unwrap();
    let double = fit(&spec(3, 2), &made.x);
    assert_eq!(labels(&single), labels(&double));
    assert_eq!(single.tensor("bases").unwrap().values().dtype(), unmix::Dtype::F32);
    let wide: Vec<f64> = encode(&single, &x).iter().map(|x| f64::from(*x)).collect();
    assert!(apart(&wide, &encode(&double, made.x.as_slice())) < 1e-5);
}

#[test]
fn several_starts_are_announced_as_unused_with_a_model_to_start_from() {
    let made = union(12, &[2, 3], 60, 0.1, 8);
    let spec = SubspaceClustering { algorithm: Algorithm::KSubspaces, ..spec(2, 3) };
    let first = fit(&spec, &made.x);
    let warnings = |n_init: u64| {
        let mut rows = Rows::from_slice(made.x.as_slice(), 12).unwrap();
        let run = unmix::Run { init: Some(&first), ..on_threads(2) };
        let model = SubspaceClustering { n_init, ..spec.clone() }.fit(&mut rows, &run).unwrap();
        model.report().warnings.iter().filter(|w| w.contains("n_init")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(warnings(3), ["n_init=3 has no effect here: one start is made, from the given model"]);
    // The default requests nothing.
    assert!(warnings(SubspaceClustering::default().n_init).is_empty());
}

#[test]
fn a_fit_starts_from_the_subspaces_of_a_model() {
    let made = union(12, &[2, 3], 60, 0.1, 8);
    for algorithm in [Algorithm::SscKSubspaces, Algorithm::KSubspaces, Algorithm::PpcaMixture] {
        let spec = SubspaceClustering { algorithm, tol: 0.0, ..spec(2, 3) };
        let first = fit(&spec, &made.x);
        let from = |init: &Model, x: &Matrix<f64>| {
            let mut rows = Rows::from_slice(x.as_slice(), x.cols()).unwrap();
            spec.fit(&mut rows, &unmix::Run { init: Some(init), ..on_threads(2) })
        };
        let again = from(&first, &made.x).unwrap();
        assert_eq!(labels(&again), labels(&first), "{algorithm:?}");
        assert!(apart(&numbers(&again, "bases"), &numbers(&first, "bases")) < 1e-4, "{algorithm:?}");
        assert!(again.report().n_iter <= first.report().n_iter, "{algorithm:?}");
        let message = |e: unmix::Result<Model>| e.unwrap_err().to_string();
        let narrow = Matrix::from_fn(30, 5, |i, j| made.x[(i, j)]);
        assert!(message(from(&first, &narrow)).contains("it has 12 columns, and the rows have 5"));
        let one = fit(&SubspaceClustering { n_clusters: Some(1), ..spec.clone() }, &made.x);
        assert!(message(from(&one, &made.x)).contains("it has 1 subspace, and this fit has 2"));
        let plain = pca(json!({}), made.x.as_slice(), 12);
        assert!(message(from(&plain, &made.x)).contains("the pca model has no subspaces"));
    }
}

#[test]
fn a_start_that_is_not_used_is_warned_of() {
    let made = union(12, &[2, 3], 60, 0.1, 8);
    for (algorithm, used) in [
        (Algorithm::Ssc, false),
        (Algorithm::Shape, false),
        (Algorithm::SscKSubspaces, true),
        (Algorithm::KSubspaces, true),
        (Algorithm::PpcaMixture, true),
    ] {
        let spec = SubspaceClustering { algorithm, ..spec(2, 3) };
        let first = fit(&spec, &made.x);
        let mut rows = Rows::from_slice(made.x.as_slice(), made.x.cols()).unwrap();
        let again = spec.fit(&mut rows, &unmix::Run { init: Some(&first), ..on_threads(2) }).unwrap();
        let about = |model: &Model| {
            model.report().warnings.iter().any(|w| w.starts_with("init has no effect here: "))
        };
        assert_eq!(
            (about(&first), about(&again)),
            (false, !used),
            "{algorithm:?}: {:?}",
            again.report().warnings
        );
    }
}
