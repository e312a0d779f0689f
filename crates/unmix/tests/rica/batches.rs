//! RICA by mini-batches.

use super::{fit, laplace, matrix};
use crate::made::{bits, numbers, on_threads};
use unmix::data::{Features, open_npy, write_npy};
use unmix::internal::num::factor;
use unmix::method::rica::Beta;
use unmix::{Matrix, Outcome, Rica, Rows};

fn batched(size: usize, epochs: u64) -> Rica {
    Rica { batch_size: Some(size), max_epochs: epochs, ..Rica::default() }
}

/// The objective at the end of the fit.
fn end(model: &unmix::Model) -> f64 {
    *model.report().objective.last().unwrap()
}

#[test]
fn one_batch_of_all_rows_is_the_search_on_all_rows() {
    let (x, _) = laplace(3000, 6, 1);
    let few = fit(&Rica { max_iter: 5, ..Rica::default() }, &x, 6);
    for size in [3000, 10_000] {
        let batched = fit(&batched(size, 1), &x, 6);
        for name in ["components", "mixing", "component_variance"] {
            let bits = |model| numbers(model, name).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&batched), bits(&few), "{name}");
        }
    }
}

#[test]
fn batches_reach_the_objective_of_all_rows() {
    let (d, n) = (6, 20_000);
    let (x, mixing) = laplace(n, d, 4);
    for beta in [Beta::Weight(1.0), Beta::default()] {
        let all = fit(&Rica { beta, ..Rica::default() }, &x, d);
        let some = fit(&Rica { beta, ..batched(1000, 6) }, &x, d);
        let report = some.report();
        assert_eq!((report.outcome, report.tol), (Outcome::Completed, None));
        assert_eq!(report.objective.len(), 6 + 1);
        assert!(end(&some) < end(&all) * (1.0 + 5e-4), "{} beside {}", end(&some), end(&all));
        let far = |model| {
            let gain = factor::multiply(&matrix(model, "components"), &mixing);
            unmix::metrics::amari_distance(&gain).unwrap()
        };
        assert!(far(&some) < 1.1 * far(&all), "{} beside {}", far(&some), far(&all));
        // A single batch, a twentieth of the rows, gives more than twice the Amari distance.
        let one = fit(&Rica { beta, ..Rica::default() }, &x[..1000 * d], d);
        assert!(far(&one) > 2.0 * far(&some), "{} beside {}", far(&one), far(&some));
    }
}

#[test]
fn more_features_than_directions_keep_their_length_in_batches() {
    let (x, _) = laplace(6000, 5, 2);
    let all = fit(&Rica { n_components: Some(12), max_iter: 300, ..Rica::default() }, &x, 5);
    let some = fit(&Rica { n_components: Some(12), ..batched(500, 10) }, &x, 5);
    assert!(end(&some) < 1.02 * end(&all), "{} beside {}", end(&some), end(&all));
    // Features have length 1 in whitened coordinates: b C b' = 1, where C is the covariance with divisor n.
    let covariance = crate::naive::covariance(&x, 5);
    let c = Matrix::from_fn(5, 5, |i, j| covariance[i][j] * 5999.0 / 6000.0);
    for model in [&all, &some] {
        let b = matrix(model, "components");
        let bc = factor::multiply(&b, &c);
        let squares = (0..12).map(|i| b.row(i).iter().zip(bc.row(i)).map(|(x, y)| x * y).sum::<f64>());
        let squares: Vec<f64> = squares.collect();
        assert!(squares.iter().all(|l| (l - 1.0).abs() < 1e-9), "{squares:?}");
    }
}

#[test]
fn threads_and_files_change_no_bit_of_batches() {
    let (x, _) = laplace(40_000, 4, 3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    write_npy(&path, &x, &[4]).unwrap();
    for size in [9000, 40_000] {
        let on = |mut rows: Rows<'_, f64>, threads| {
            bits(&batched(size, 2).fit(&mut rows, &on_threads(threads)).unwrap())
        };
        let want = on(Rows::from_slice(&x, 4).unwrap(), 1);
        assert_eq!(on(Rows::from_slice(&x, 4).unwrap(), 3), want);
        for threads in [1, 2] {
            let stored = Rows::new(open_npy(&path).unwrap().0, Features::default(), "x.npy");
            assert_eq!(on(stored, threads), want);
        }
    }
}

#[test]
fn rows_of_weight_0_change_nothing_and_others_count() {
    let (mut x, mixing) = laplace(6000, 4, 5);
    let far = |model| {
        let gain = factor::multiply(&matrix(model, "components"), &mixing);
        unmix::metrics::amari_distance(&gain).unwrap()
    };
    let weighted = |x: &[f64]| {
        let weights: Vec<f64> = (0..6000).map(|i| f64::from(i % 3)).collect();
        let mut rows = Rows::from_slice(x, 4).unwrap().weighted(weights).unwrap();
        batched(500, 3).fit(&mut rows, &on_threads(1)).unwrap()
    };
    let before = weighted(&x);
    assert!(far(&before) < 0.1, "{}", far(&before));
    x.chunks_exact_mut(4).step_by(3).for_each(|row| row.fill(1e3));
    assert_eq!(bits(&weighted(&x)), bits(&before));
}

#[test]
fn batches_of_no_rows_and_no_epochs_are_refused() {
    let (x, _) = laplace(100, 3, 1);
    for (spec, name) in [
        (batched(0, 3), "batch_size must be at least 1, got 0"),
        (batched(10, 0), "max_epochs must be at least 1, got 0"),
    ] {
        let mut rows = Rows::from_slice(&x, 3).unwrap();
        let message = spec.fit(&mut rows, &on_threads(1)).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
}
