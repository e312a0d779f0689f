//! Exact statements: inverses, first-order conditions, a plain implementation, atoms of rows without noise.

use super::*;
use crate::made::{cast, on_threads};
use unmix::Run;
use unmix::internal::num::random::Stream;
use unmix::method::complete_dictionary::Algorithm;
use unmix::power::{Contrast, Contrasted, PowerMap};

#[test]
fn codes_of_as_many_atoms_as_columns_are_decoded_exactly() {
    let made = oblique((2000, 7, 7), 0.3, 1);
    for spec in [
        CompleteDictionary::default(),
        CompleteDictionary { center: true, power: 3, ..Default::default() },
        CompleteDictionary { precondition: false, ..Default::default() },
    ] {
        let model = fit(&spec, &made.x);
        let rows = Rows::from_slice(made.x.as_slice(), 7).unwrap();
        let codes = model.encode_to_vec(&rows, &Run::default()).unwrap();
        let again = model.decode_to_vec(&Rows::from_slice(&codes, 7).unwrap(), &Run::default()).unwrap();
        let apart = again.iter().zip(made.x.as_slice()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(apart < 1e-12, "{apart:e}");
        for i in 0..7 {
            let atom = atoms(&model);
            assert!((atom.row(i).iter().map(|a| a * a).sum::<f64>() - 1.0).abs() < 1e-14);
        }
        let usage = model.tensor("usage").unwrap().f64s();
        assert!(usage.windows(2).all(|w| w[0] >= w[1]));
        let sizes = |j: usize| (0..2000).map(|i| codes[i * 7 + j].abs()).sum::<f64>() / 2000.0;
        assert!((0..7).all(|j| (sizes(j) - usage[j]).abs() < 1e-12));
        let fourth = |j: usize| {
            let moment = |p: i32| (0..2000).map(|i| codes[i * 7 + j].powi(p)).sum::<f64>() / 2000.0;
            moment(4) / moment(2).powi(2) - 3.0
        };
        let kurtosis = model.tensor("kurtosis").unwrap().f64s();
        assert!((0..7).all(|j| (fourth(j) - kurtosis[j]).abs() < 1e-9 * fourth(j)));
    }
}

/// `S = E[y³ y']` is symmetric and positive at the end, and with fewer filters than columns `E[y³ x']` stays in their span.
#[test]
fn the_search_ends_where_its_gradient_is_zero() {
    let made = orthogonal(8, 4000, 0.3, 0.0, 3);
    for k in [8, 3] {
        let spec = CompleteDictionary { n_components: Some(k), tol: Some(1e-10), ..plain() };
        let model = fit(&spec, &made.x);
        assert!(model.report().residual.unwrap() <= 1e-10, "{:?}", model.report());
        let w = atoms(&model);
        let mut cross: Matrix<f64> = Matrix::zeros(k, 8);
        for r in 0..4000 {
            for i in 0..k {
                let y: f64 = made.x.row(r).iter().zip(w.row(i)).map(|(a, b)| a * b).sum();
                cross
                    .row_mut(i)
                    .iter_mut()
                    .zip(made.x.row(r))
                    .for_each(|(c, x)| *c += y.powi(3) * x / 4000.0);
            }
        }
        let along = factor::multiply_transposed(&cross, &w);
        let inside = factor::multiply(&along, &w);
        let gap =
            cross.as_slice().iter().zip(inside.as_slice()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        let skew =
            (0..k * k).fold(0.0f64, |m, at| m.max((along[(at / k, at % k)] - along[(at % k, at / k)]).abs()));
        assert!(gap < 1e-8 && skew < 1e-8, "{gap:e} {skew:e}");
        assert!((0..k).all(|i| along[(i, i)] > 3.0));
        // Every step raised the objective.
        let rises = model.report().objective.windows(2).all(|w| w[1] >= w[0] * (1.0 - 1e-13));
        assert!(rises, "{:?}", model.report().objective);
    }
}

/// The same start, with the steps written out in loops and none refused.
#[test]
fn a_plain_implementation_converges_to_the_same_atoms() {
    let (p, n) = (6, 3000);
    let made = orthogonal(p, n, 0.3, 0.0, 4);
    let model = fit(&CompleteDictionary { tol: Some(1e-12), ..plain() }, &made.x);
    let draws = Stream::new(0, 0);
    let mut a = factor::polar_rows(&Matrix::from_fn(p, p, |i, j| draws.normal((i * p + j) as u64))).unwrap();
    for _ in 0..300 {
        let mut cross: Matrix<f64> = Matrix::zeros(p, p);
        for r in 0..n {
            let x = made.x.row(r);
            for i in 0..p {
                let y: f64 = x.iter().zip(a.row(i)).map(|(a, b)| a * b).sum();
                cross.row_mut(i).iter_mut().zip(x).for_each(|(c, x)| *c += y * y * y * x);
            }
        }
        a = factor::polar_rows(&cross).unwrap();
    }
    assert!(worst(&atoms(&model), &a) < 1e-10);
    assert!(all_found(&atoms(&model), &a, 0.999_999));
}

/// `A_T X = dA_T .. dA_1 A_0 X`: steps may be taken in the codes themselves.
#[test]
fn the_incremental_form_has_the_same_steps() {
    let (p, n) = (7, 2000);
    let made = orthogonal(p, n, 0.3, 0.0, 5);
    let draws = Stream::new(9, 1);
    let start = factor::polar_rows(&Matrix::from_fn(p, p, |i, j| draws.normal((i * p + j) as u64))).unwrap();
    let step = |x: &Matrix<f64>, a: &Matrix<f64>| {
        let rows = Rows::from_slice(x.as_slice(), p).unwrap();
        let run = Run::default();
        let image = Contrasted::new(&rows, Contrast::Cube, &run).apply(a).unwrap().unwrap();
        factor::polar_rows(&image.direction).unwrap()
    };
    let identity = Matrix::from_fn(p, p, |i, j| f64::from(u8::from(i == j)));
    let (mut direct, mut product) = (start.clone(), start.clone());
    let mut codes = factor::multiply_transposed(&made.x, &start);
    for _ in 0..15 {
        direct = step(&made.x, &direct);
        let turn = step(&codes, &identity);
        product = factor::polar_rows(&factor::multiply(&turn, &product)).unwrap();
        codes = factor::multiply_transposed(&made.x, &product);
    }
    let apart =
        direct.as_slice().iter().zip(product.as_slice()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(apart < 1e-12, "{apart:e}");
}

#[test]
fn atoms_of_rows_without_noise_are_found_to_rounding() {
    // Of any dictionary, by every algorithm, and of fewer filters than there are atoms.
    let made = oblique((4000, 12, 12), 0.2, 6);
    for (algorithm, power) in
        [(Algorithm::Msp, 4), (Algorithm::Msp, 3), (Algorithm::Deflation, 4), (Algorithm::L1, 4)]
    {
        let spec = CompleteDictionary { algorithm, power, ..Default::default() };
        let model = fit(&spec, &made.x);
        let found = atoms(&model);
        assert!(all_found(&found, &made.atoms, 0.999), "{algorithm:?}");
        assert!(worst(&found, &made.atoms) < 1e-11, "{algorithm:?} {:e}", worst(&found, &made.atoms));
        assert_eq!(model.report().warnings, Vec::<String>::new(), "{algorithm:?}");
    }
    let few = fit(&CompleteDictionary { n_components: Some(4), ..Default::default() }, &made.x);
    assert_eq!(few.report().fit, Some(serde_json::json!({"refined": 4, "polished": 0})));
    // Filters are exact; the decoder of four of them is that of least squares in whitened coordinates.
    let rows = Rows::from_slice(made.x.as_slice(), 12).unwrap();
    let codes = few.encode_to_vec(&rows, &Run::default()).unwrap();
    let zeros = codes.iter().filter(|z| z.abs() < 1e-10).count() as f64 / codes.len() as f64;
    assert!((zeros - 0.8).abs() < 0.02, "{zeros}");
}

#[test]
fn rows_of_few_directions_have_as_many_atoms() {
    let made = oblique((3000, 12, 5), 0.3, 7);
    let model = fit(&CompleteDictionary::default(), &made.x);
    assert_eq!(atoms(&model).rows(), 5);
    assert!(all_found(&atoms(&model), &made.atoms, 0.999) && worst(&atoms(&model), &made.atoms) < 1e-11);
    let message = &model.report().warnings;
    assert!(
        message.iter().any(|w| w.contains("vary along 5 directions only, so 5 of 12 atoms are kept")),
        "{message:?}"
    );
    assert_eq!(model.report().rank, Some(5));
}

/// One epoch of batches brings every filter near its own atom, so that few full passes follow.
#[test]
fn batches_first_take_fewer_full_passes() {
    let made = orthogonal(20, 20_000, 0.3, 0.0, 8);
    let by = |batch_size| fit(&CompleteDictionary { batch_size, ..plain() }, &made.x);
    let (whole, batches) = (by(None), by(Some(500)));
    assert!(all_found(&atoms(&batches), &made.atoms, 0.99));
    assert!(worst(&atoms(&batches), &atoms(&whole)) < 1e-5);
    assert!(
        batches.report().sweeps < whole.report().sweeps,
        "{} {}",
        batches.report().sweeps,
        whole.report().sweeps
    );
}

#[test]
fn single_precision_finds_what_double_does() {
    let made = oblique((4000, 10, 10), 0.2, 9);
    let single: Vec<f32> = cast(made.x.as_slice());
    let mut rows = Rows::from_slice(&single, 10).unwrap();
    let model = CompleteDictionary::default().fit(&mut rows, &on_threads(2)).unwrap();
    assert!(all_found(&atoms(&model), &made.atoms, 0.999));
    assert!(worst(&atoms(&model), &made.atoms) < 1e-4, "{:e}", worst(&atoms(&model), &made.atoms));
}

#[test]
fn several_starts_keep_the_best() {
    let mut rises = 0;
    for seed in 0..3 {
        // So few rows without sparse codes that searches end at different maxima.
        let draws = Stream::new(seed, 7);
        let x = Matrix::from_fn(60, 20, |i, j| draws.normal((i * 20 + j) as u64));
        let end = |n_init| {
            let refine = Refine::Always(false);
            let spec = CompleteDictionary { n_init, polish: false, refine, ..Default::default() };
            *fit(&spec, &x).report().objective.last().unwrap()
        };
        let ends: Vec<f64> = (1..=6).map(end).collect();
        // The first starts of a fit are those of a fit with fewer.
        assert!(ends.is_sorted(), "{ends:?}");
        rises += ends.windows(2).filter(|ends| ends[1] > ends[0] * (1.0 + 1e-4)).count();
    }
    assert!(rises > 0, "every search ended at the same maximum: the test has no power");
}

/// A fit from the atoms of another begins there.
#[test]
fn a_warm_start_begins_at_the_atoms_of_the_model() {
    let made = oblique((3000, 9, 9), 0.3, 11);
    let spec = CompleteDictionary { polish: false, refine: Refine::Always(false), ..Default::default() };
    let first = fit(&spec, &made.x);
    let mut rows = Rows::from_slice(made.x.as_slice(), 9).unwrap();
    let run = Run { init: Some(&first), ..on_threads(2) };
    let second = spec.fit(&mut rows, &run).unwrap();
    assert!(second.report().n_iter <= 2 && first.report().n_iter > 5, "{}", second.report().n_iter);
    assert!(worst(&atoms(&second), &atoms(&first)) < 1e-5);
}
