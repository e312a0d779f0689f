//! Fits: identical bits for any number of threads, warm starts, limits, decoding, and the values that settings resolve to.

use super::{fit, from_identity, laplace, matrix, never_rises};
use crate::made::{apart, bits, cast, decode, encode, falling, numbers, on_threads};
use crate::naive;
use serde_json::json;
use unmix::data::{Features, RawArray, open_npy, write_npy};
use unmix::internal::num::factor;
use unmix::method::rica::{Beta, Penalty, UnitNorm};
use unmix::{Outcome, Real, Rica, Rows, Run};

#[test]
fn the_same_bits_for_any_number_of_threads_and_from_a_file() {
    fn check<T: Real>(x: &[T], p: usize, spec: &Rica) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.npy");
        write_npy(&path, x, &[p]).unwrap();
        let want = bits(&spec.fit(&mut Rows::from_slice(x, p).unwrap(), &on_threads(1)).unwrap());
        for threads in [2, 3, 7] {
            let found = spec.fit(&mut Rows::from_slice(x, p).unwrap(), &on_threads(threads)).unwrap();
            assert!(bits(&found) == want, "{spec:?}, {threads} threads");
        }
        let mut rows: Rows<'_, T> = Rows::new(open_npy(&path).unwrap().0, Features::default(), "the array");
        assert!(bits(&spec.fit(&mut rows, &on_threads(2)).unwrap()) == want, "{spec:?}, from a file");
    }
    // Several shards, the last block of which has one row.
    let (n, p) = (2 * 2731 + 1025, 96);
    let x = falling(n, p, 1);
    let short = Rica { max_iter: 4, ..Rica::default() };
    check::<f64>(&x, p, &Rica { n_components: Some(10), ..short.clone() });
    check::<f32>(&cast(&x), p, &Rica { n_components: Some(100), ..short.clone() });
    check::<f32>(
        &cast(&x),
        p,
        &Rica { n_components: Some(5), whiten: false, contrast: Penalty::SmoothL1, ..short },
    );
}

#[test]
fn columns_in_any_order_of_memory_give_the_same_bits() {
    let (n, p) = (500, 7);
    let x = falling(n, p, 3);
    let turned: Vec<f64> =
        (0..p).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| x[i * p + j]).collect();
    let bytes: Vec<u8> = turned.iter().flat_map(|v| v.to_le_bytes()).collect();
    use unmix::data::{Axes, Bytes, NumberType};
    let number = NumberType::little(b'f', 8);
    let array = RawArray::new(
        Bytes::Lent(&bytes),
        0,
        number,
        Axes::one(n as u64, 8),
        Axes::one(p as u64, 8 * n as i64),
    )
    .unwrap();
    let mut rows: Rows<'_, f64> = Rows::new(array, Features::default(), "the array");
    let spec = Rica { max_iter: 10, ..Rica::default() };
    assert_eq!(bits(&spec.fit(&mut rows, &on_threads(2)).unwrap()), bits(&fit(&spec, &x, p)));
}

#[test]
fn a_fit_from_the_solution_of_another_takes_no_iteration() {
    let (x, _) = laplace(2000, 5, 4);
    for spec in [
        Rica { tol: Some(1e-8), ..Rica::default() },
        Rica { tol: Some(1e-8), standardize: true, ..Rica::default() },
        Rica { tol: Some(1e-8), whiten: false, ..Rica::default() },
        Rica { tol: Some(1e-6), n_components: Some(8), ..Rica::default() },
    ] {
        let first = fit(&spec, &x, 5);
        assert_eq!(first.report().outcome, Outcome::Converged, "{spec:?}");
        let components = matrix(&first, "components");
        let w_init = (0..components.rows()).map(|i| components.row(i).to_vec()).collect();
        let again =
            fit(&Rica { w_init: Some(w_init), tol: spec.tol.map(|t| 10.0 * t), ..spec.clone() }, &x, 5);
        assert_eq!(again.report().n_iter, 0, "{spec:?}: {:?}", again.report().residual);
        assert!(apart(&numbers(&again, "components"), components.as_slice()) < 1e-12, "{spec:?}");
        assert_eq!(again.settings()["w_init"], json!(null));
        assert_eq!(again.report().settings["w_init"], json!("given"));
    }
}

#[test]
fn the_decoder_is_the_pseudo_inverse_and_reconstructs_the_rows() {
    let (n, p) = (400, 6);
    let x = falling(n, p, 2);
    for spec in [
        Rica::default(),
        Rica { standardize: true, ..Rica::default() },
        Rica { whiten: false, ..Rica::default() },
        Rica { n_components: Some(15), max_iter: 50, ..Rica::default() },
        Rica { n_components: Some(15), max_iter: 50, whiten: false, ..Rica::default() },
        Rica { n_components: Some(3), ..Rica::default() },
        Rica { n_components: Some(3), whiten: false, ..Rica::default() },
    ] {
        let model = fit(&spec, &x, p);
        never_rises(&model);
        let (b, m) = (matrix(&model, "components"), matrix(&model, "mixing"));
        let (bm, mb) = (factor::multiply(&b, &m), factor::multiply(&m, &b));
        let symmetric = |a: &unmix::Matrix<f64>| apart(a.as_slice(), a.transposed().as_slice());
        assert!(symmetric(&bm) < 1e-11 && symmetric(&mb) < 1e-11, "{spec:?}: not the pseudo-inverse");
        assert!(apart(factor::multiply(&bm, &b).as_slice(), b.as_slice()) < 1e-10, "{spec:?}");
        if b.rows() >= p {
            assert!(from_identity(&mb) < 1e-11, "{spec:?}");
            assert!(apart(&decode(&model, &encode(&model, &x)), &x) < 1e-10, "{spec:?}: reconstruction");
        }
        // The variance that a feature contributes to the rows.
        let (codes, k) = (encode(&model, &x), b.rows());
        let variance = numbers(&model, "component_variance");
        let share = (n as f64 - 1.0) / n as f64;
        for (i, v) in variance.iter().enumerate() {
            let length: f64 = (0..p).map(|j| m[(j, i)] * m[(j, i)]).sum();
            let want = length * share * naive::covariance(&codes, k)[i][i];
            assert!((v / want - 1.0).abs() < 1e-9, "{spec:?}: {v} not {want}");
        }
    }
}

#[test]
fn the_parts_of_a_complete_white_model_make_up_its_components() {
    let x = falling(500, 5, 6);
    let model = fit(&Rica { standardize: true, ..Rica::default() }, &x, 5);
    let (rotation, second) = (matrix(&model, "rotation"), matrix(&model, "second_rotation"));
    let (scale, noise) = (numbers(&model, "scale"), numbers(&model, "noise_scale"));
    let inner = unmix::Matrix::from_fn(5, 5, |i, j| rotation[(i, j)] / noise[i] / scale[j]);
    let made = factor::multiply(&inner, &second).transposed();
    assert!(apart(made.as_slice(), &numbers(&model, "components")) < 1e-12);
}

#[test]
fn limits_end_a_fit_with_their_outcome() {
    let (x, _) = laplace(2000, 6, 1);
    let few = fit(&Rica { max_iter: 3, tol: Some(0.0), ..Rica::default() }, &x, 6);
    assert_eq!((few.report().outcome, few.report().n_iter), (Outcome::MaxIter, 3));
    assert!(few.report().residual.unwrap() > 0.0 && few.report().tol == Some(0.0));
    assert!(few.report().sweeps >= 5, "a pass for the moments, one for the start, one or more an iteration");
    let none = fit(&Rica { max_iter: 0, ..Rica::default() }, &x, 6);
    assert_eq!((none.report().outcome, none.report().n_iter), (Outcome::MaxIter, 0));
    let run = Run { max_seconds: Some(0.0), ..on_threads(2) };
    let timed = Rica::default().fit(&mut Rows::from_slice(&x, 6).unwrap(), &run).unwrap();
    assert_eq!((timed.report().outcome, timed.report().n_iter), (Outcome::Time, 1));
    // With `tol=0` the search continues until rounding errors stop it.
    let all = fit(&Rica { tol: Some(0.0), ..Rica::default() }, &x, 6);
    assert_eq!(all.report().outcome, Outcome::Stalled);
    assert!(all.report().residual.unwrap() < 1e-7, "{:?}", all.report().residual);
    never_rises(&all);
}

#[test]
fn single_precision_converges_to_the_solution_of_double() {
    let (x, _) = laplace(4000, 6, 2);
    let narrow: Vec<f32> = cast(&x);
    let single = Rica::default().fit(&mut Rows::from_slice(&narrow, 6).unwrap(), &on_threads(2)).unwrap();
    let double = fit(&Rica::default(), &x, 6);
    assert_eq!(single.report().outcome, Outcome::Converged, "{:?}", single.report().residual);
    assert_eq!(single.dtype(), unmix::Dtype::F32);
    let size = numbers(&double, "components").iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(apart(&numbers(&single, "components"), &numbers(&double, "components")) < 2e-3 * size);
}

#[test]
fn the_automatic_weight_is_the_documented_one() {
    let (n, p) = (800, 5);
    let x = falling(n, p, 4);
    let beta =
        |spec: Rica| fit(&Rica { max_iter: 1, ..spec }, &x, p).report().settings["beta"].as_f64().unwrap();
    assert_eq!(beta(Rica::default()), 0.2);
    assert!((beta(Rica { contrast: Penalty::SmoothL1, ..Rica::default() }) - 0.02).abs() < 1e-15);
    assert_eq!(beta(Rica { beta: Beta::Weight(0.7), ..Rica::default() }), 0.7);
    let mean = naive::mean(&x, p);
    let length = |row: &[f64]| row.iter().zip(&mean).map(|(x, m)| (x - m).powi(2)).sum::<f64>().sqrt();
    let (values, _) = naive::jacobi(naive::covariance(&x, p));
    let share = (n as f64 - 1.0) / n as f64;
    // The root mean square of all centred entries, by which rows are divided first.
    let size = (naive::sum(values.iter().copied()) * share / p as f64).sqrt();
    let far = 0.1 * naive::sum(x.chunks_exact(p).map(length)) / n as f64 / size;
    for k in [1, 5, 9] {
        let own = 0.6 * (values[k.min(p) - 1] * share).sqrt() / size;
        let spec = Rica { n_components: Some(k), whiten: false, max_iter: 1, ..Rica::default() };
        let model = fit(&spec, &x, p);
        assert!((numbers(&model, "data_scale")[0] / size - 1.0).abs() < 1e-12, "{k}");
        let found = beta(spec);
        assert!((found / far.min(own) - 1.0).abs() < 1e-12, "{k}: {found}, {far}, {own}");
    }
    // With a number for beta rows are not rescaled.
    let as_it_stands = Rica { beta: Beta::Weight(0.3), whiten: false, max_iter: 1, ..Rica::default() };
    assert!(fit(&as_it_stands, &x, p).tensor("data_scale").is_none());
}

#[test]
fn unwhitened_columns_give_the_same_features_in_any_unit() {
    let (x, _) = laplace(3000, 5, 3);
    for (contrast, k) in [(Penalty::LogCosh, 5), (Penalty::SmoothL1, 3), (Penalty::LogCosh, 8)] {
        let tol = if k > 5 { None } else { Some(1e-8) };
        let spec = Rica { contrast, n_components: Some(k), whiten: false, tol, ..Rica::default() };
        let plain = fit(&spec, &x, 5);
        assert!(plain.report().n_iter > 3, "{contrast:?}: {:?}", plain.report());
        // Factors that are powers of two change no digit; others change the last ones.
        for (unit, near) in [(2f64.powi(-20), 0.0), (2f64.powi(40), 0.0), (1e-6, 1e-3)] {
            let scaled: Vec<f64> = x.iter().map(|v| v * unit).collect();
            let other = fit(&spec, &scaled, 5);
            assert_eq!(other.report().outcome, plain.report().outcome, "{contrast:?} in units of {unit:e}");
            let back: Vec<f64> = numbers(&other, "components").iter().map(|v| v * unit).collect();
            let want = numbers(&plain, "components");
            let size = want.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let off = apart(&back, &want) / size;
            assert!(off <= near, "{contrast:?}, {k} features in units of {unit:e}: {off:e} off");
        }
    }
}

#[test]
fn a_search_whose_sparsity_is_below_the_tolerance_has_not_converged() {
    let (x, _) = laplace(3000, 5, 3);
    let tiny: Vec<f64> = x.iter().map(|v| v * 1e-6).collect();
    let spec = Rica { beta: Beta::Weight(0.2), whiten: false, ..Rica::default() };
    let model = fit(&spec, &tiny, 5);
    assert_eq!(model.report().outcome, Outcome::Stalled, "{:?}", model.report());
    assert!(
        model.report().warnings.iter().any(|w| w.contains("beta='auto'")),
        "{:?}",
        model.report().warnings
    );
    // The reconstruction error alone has converged: beta = 0 has no sparsity term.
    let plain = fit(&Rica { beta: Beta::Weight(0.0), ..spec }, &tiny, 5);
    assert_eq!(plain.report().outcome, Outcome::Converged);
}

#[test]
fn few_rows_are_whitened_in_few_directions_so_that_no_feature_is_a_single_row() {
    let share = |model: &unmix::Model, x: &[f64]| {
        let (codes, k) = (encode(model, x), model.n_components());
        let of = |j: usize| {
            let squares: Vec<f64> = codes.iter().skip(j).step_by(k).map(|y| y * y).collect();
            squares.iter().fold(0.0f64, |m, y| m.max(*y)) / squares.iter().sum::<f64>()
        };
        (0..k).map(of).fold(0.0, f64::max)
    };
    let s = unmix::internal::num::random::Stream::new(5, 0);
    let (n, p) = (60, 300);
    let x: Vec<f64> = (0..n * p).map(|i| s.normal(i as u64)).collect();
    let few = fit(&Rica { n_components: Some(5), ..Rica::default() }, &x, p);
    assert_eq!(few.report().outcome, Outcome::Converged);
    assert!(share(&few, &x) < 0.3, "{}", share(&few, &x));
    assert!(
        few.report().warnings.iter().any(|w| w.contains("the first 5 are whitened")),
        "{:?}",
        few.report().warnings
    );
    assert_eq!((few.report().rank, matrix(&few, "rotation").cols()), (Some(59), 5));
    let by_default = fit(&Rica::default(), &x, p);
    assert_eq!(by_default.n_components(), 6, "a tenth of the rows");
    // More components are possible on request; with a warning that they may be spikes at single rows.
    let many = fit(&Rica { n_components: Some(40), ..Rica::default() }, &x, p);
    assert!(many.n_components() == 40 && share(&many, &x) > 0.5);
    assert!(
        many.report().warnings.iter().any(|w| w.contains("may be a spike at a single row")),
        "{:?}",
        many.report().warnings
    );
    // With 6000 rows of 3 columns all directions are used, without a warning.
    let enough = fit(&Rica::default(), &x, 3);
    assert!(
        enough.n_components() == 3 && enough.report().warnings.is_empty(),
        "{:?}",
        enough.report().warnings
    );
}

#[test]
fn length_one_is_kept_where_there_are_more_features_than_directions() {
    let x = falling(200, 4, 4);
    for (k, given, want) in [
        (4, UnitNorm::default(), false),
        (5, UnitNorm::default(), true),
        (3, UnitNorm::Always(true), true),
        (9, UnitNorm::Always(false), false),
    ] {
        let model =
            fit(&Rica { n_components: Some(k), unit_norm: given, max_iter: 5, ..Rica::default() }, &x, 4);
        assert_eq!(model.report().settings["unit_norm"], json!(want), "{k}");
    }
}

#[test]
fn rows_that_are_white_already_need_no_whitening() {
    let (x, _) = laplace(3000, 4, 8);
    let white = unmix::method::pca::Whiten::Scaled(true);
    let pca = unmix::Pca { whiten: white, ..Default::default() };
    let z = encode(&pca.fit(&mut Rows::from_slice(&x, 4).unwrap(), &on_threads(2)).unwrap(), &x);
    let own = Rica { whiten: false, beta: Beta::Weight(0.2), tol: Some(1e-8), ..Rica::default() };
    let (a, b) = (fit(&own, &z, 4), fit(&Rica { tol: Some(1e-8), ..Rica::default() }, &z, 4));
    let near = unmix::metrics::matched_cosine(&matrix(&a, "components"), &matrix(&b, "components"));
    // Divisors n and n - 1 differ by a factor of 1 - 1/3000.
    assert!(near > 1.0 - 1e-5, "{near}");
}
