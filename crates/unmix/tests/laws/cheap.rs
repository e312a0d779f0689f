//! Inexpensive properties: repeated fits, model files, canonical order and signs, and data types.

use super::{cases_by_variance, every_case};
use crate::made::{bits, cast, decode, encode, numbers, scores, wide};
use std::path::Path;
use unmix::{Model, Real, Rows, Run};

#[test]
fn the_same_seed_gives_the_same_bits() {
    for case in every_case() {
        let (x, y) = (case.data::<f64>(), case.data::<f32>());
        assert_eq!(bits(&case.fit(&x)), bits(&case.fit(&x)), "{case}, f64");
        assert_eq!(bits(&case.fit(&y)), bits(&case.fit(&y)), "{case}, f32");
    }
}

#[test]
fn a_saved_model_is_the_same_model() {
    for case in every_case() {
        let model = case.fit(&case.data::<f32>());
        let bytes = model.to_bytes().unwrap();
        let again = Model::from_bytes(&bytes, Path::new("memory")).unwrap();
        assert_eq!(bits(&model), bits(&again), "{case}");
        assert_eq!(again.to_bytes().unwrap(), bytes, "{case}: saved again, the file differs");
        let x = case.data::<f64>();
        assert_eq!(encode(&model, &x), encode(&again, &x), "{case}");
        if model.check_scores().is_ok() {
            let (a, b) = (scores(&model, &x), scores(&again, &x));
            assert!(
                a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()),
                "{case}"
            );
        }
    }
}

#[test]
fn a_model_keeps_the_settings_that_its_method_lists() {
    for case in every_case() {
        let model = case.fit(&case.data::<f64>());
        let listed: Vec<_> = case.method.settings.iter().filter(|s| s.is_json()).collect();
        assert_eq!(model.settings().len(), listed.len(), "{case}: {:?}", model.settings());
        for setting in listed {
            let want = case.given.get(setting.name).cloned().unwrap_or_else(|| setting.default_value());
            assert_eq!(model.settings().get(setting.name), Some(&want), "{case}: {}", setting.name);
        }
    }
}

#[test]
fn components_are_in_canonical_order_and_sign() {
    for case in every_case() {
        if case.fit(&case.data::<f64>()).tensor("code_moments").is_some() {
            // Codes that cannot be negative keep the signs of their components; their order is tested with them.
            continue;
        }
        let x = case.data::<f64>();
        for (model, eps) in [(case.fit(&x), f64::EPSILON), (case.fit(&cast::<f32>(&x)), f32::EPSILON as f64)]
        {
            let by_variance = case.given.get("order").is_none();
            // Factors without rotation are ordered by their contribution to the likelihood, which increases with `scale`; all other
            // components by variance.
            let unrotated = model.tensor("factor_correlation").is_some()
                && ["rotation", "prior"].iter().all(|name| case.given.get(*name).is_none());
            let named: &[&str] =
                if unrotated { &["scale"] } else { &["explained_variance", "component_variance"] };
            for values in named.iter().map(|name| model.tensor(name)) {
                let values = values.map(|t| t.f64s()).unwrap_or_default();
                assert!(!by_variance || values.windows(2).all(|v| v[0] >= v[1]), "{case}: {values:?}");
            }
            let unit = model.tensor("noise_scale").map_or_else(|| vec![1.0; case.p], |t| t.f64s());
            let rows: Vec<Vec<f64>> = match model.tensor("mixing") {
                Some(mixing) => {
                    let columns = mixing.to_matrix().transposed();
                    (0..columns.rows()).map(|i| columns.row(i).to_vec()).collect()
                }
                // Codes that are distances have no decoder.
                None if !model.code().decodes() => {
                    numbers(&model, "bases").chunks_exact(case.p).map(<[f64]>::to_vec).collect()
                }
                // Decoder vectors are in the units of the columns.
                None => numbers(&model, "components")
                    .chunks_exact(case.p)
                    .map(|row| row.iter().zip(&unit).map(|(x, s)| x * s).collect())
                    .collect(),
            };
            if let Some(labels) = model.tensor("labels").map(|t| t.f64s()) {
                let count = |c: usize| labels.iter().filter(|l| **l == c as f64).count();
                let counts: Vec<usize> = (0..model.n_codes()).map(count).collect();
                assert!(counts.windows(2).all(|n| n[0] >= n[1]), "{case}: {counts:?}");
                assert_eq!(counts.iter().sum::<usize>(), case.n, "{case}");
            }
            for (i, row) in rows.iter().enumerate() {
                let largest = row.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                // Atoms of codes that are not negative keep their sign.
                if model.code().codes().non_negative {
                    continue;
                }
                // A factor that would not increase the likelihood has loadings of 0, and no sign.
                if largest == 0.0 && model.tensor("factor_correlation").is_some() {
                    continue;
                }
                let first = row.iter().find(|x| x.abs() >= largest * (1.0 - eps.sqrt())).unwrap();
                assert!(*first > 0.0, "{case}: component {i} begins its largest entries with {first}");
            }
        }
    }
}

#[test]
fn single_precision_is_near_double() {
    for case in cases_by_variance() {
        let x = case.data::<f32>();
        let (single, double) = (case.fit(&x), case.fit(&wide(&x)));
        // Sums of n products in single precision have an error below sqrt(n) eps times the largest variance; here n <= 900.
        let values = (numbers(&single, "explained_variance"), numbers(&double, "explained_variance"));
        assert_eq!(values.0.len(), values.1.len(), "{case}");
        let first = values.1.first().copied().unwrap_or(0.0);
        assert!(
            values.0.iter().zip(&values.1).all(|(a, b)| (a - b).abs() < 1e-5 * first),
            "{case}: {values:?}"
        );
        let (rows, again) = (numbers(&single, "components"), numbers(&double, "components"));
        for c in 0..values.1.len() {
            let gap = |d: usize| values.1.get(d).map_or(f64::INFINITY, |v| (values.1[c] - v).abs());
            let gap = if c == 0 { gap(1) } else { gap(c - 1).min(gap(c + 1)) };
            // A single component: the next variance is unknown, and at least 0.
            let gap = if gap.is_finite() { gap } else { first };
            if gap < 0.01 * first {
                continue;
            }
            let at = c * case.p..(c + 1) * case.p;
            let distance = crate::made::apart(&rows[at.clone()], &again[at]);
            assert!(distance < 1e-5 * first / gap, "{case}: component {c} is {distance:e} off");
        }
    }
}

/// Codes before the second rotation: those expected after decoding and encoding, and those found. Posterior means of decoded rows are
/// shrunk by the share of the factor in the variance along its axis; Bartlett's scores are not.
fn of_factors(model: &unmix::Model, codes: &[f64], again: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let k = model.n_codes();
    let back = match model.tensor("second_rotation") {
        Some(turn) => unmix::internal::num::pseudo_inverse(&turn.to_matrix()).unwrap(),
        None => unmix::Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j))),
    };
    let before = |codes: &[f64]| {
        let codes = unmix::Matrix::from_vec(codes.len() / k, k, codes.to_vec());
        unmix::internal::num::factor::multiply(&codes, &back).into_vec()
    };
    let bartlett = model.settings()["scores"] == "bartlett";
    let scale = numbers(model, "scale");
    let share = |i: usize| if bartlett { 1.0 } else { 1.0 - 1.0 / (scale[i] * scale[i]) };
    let shrunk = before(codes).iter().enumerate().map(|(at, y)| y * share(at % k)).collect();
    (shrunk, before(again))
}

#[test]
fn encoding_decoded_codes_gives_the_codes() {
    for case in every_case() {
        let x = case.data::<f64>();
        let model = case.fit(&x);
        if model.n_codes() == 0 || !model.code().decodes() {
            continue;
        }
        if model.code().codes().non_negative {
            // Encoders with non-negative codes are not projections.
            continue;
        }
        if model.code().codes().sparse || case.given.get("prior").is_some() {
            // The penalty shrinks codes, and shrinks them again where the rows that they decode to are encoded.
            continue;
        }
        if model.tensor("row_offsets").is_some() {
            // Decoded rows have no row offset; the posteriors of this model are tested against their formula elsewhere.
            continue;
        }
        let mut codes = encode(&model, &x);
        let mut again = encode(&model, &decode(&model, &codes));
        if model.tensor("factor_correlation").is_some() {
            (codes, again) = of_factors(&model, &codes, &again);
        } else if let Some(latent) = model.tensor("latent_scale") {
            // Posterior means of decoded rows are shrunk by the share of the signal in the variance.
            let (latent, noise) = (latent.f64s(), numbers(&model, "noise_variance")[0]);
            let share = |i: usize| latent[i].powi(2) / (latent[i].powi(2) + noise);
            codes.iter_mut().enumerate().for_each(|(at, z)| *z *= share(at % latent.len()));
        }
        let size = codes.iter().fold(1.0f64, |m, y| m.max(y.abs()));
        // Codes are computed from numbers of about 10; whitening divides them by standard deviations down to 0.1.
        assert!(crate::made::apart(&codes, &again) < 1e-12 * size * 10.0, "{case}");
    }
}

#[test]
fn reconstruction_is_encoding_and_then_decoding_to_the_bit() {
    fn check<T: Real + crate::made::Known>(case: &super::Case) {
        let x = case.data::<T>();
        let model = case.fit(&x);
        let mut sink = unmix::data::VecSink(Vec::new());
        let rows = model.reconstruct(&Rows::from_slice(&x, case.p).unwrap(), &Run::default(), &mut sink);
        assert_eq!(rows.is_ok(), model.code().decodes(), "{case}");
        let Ok(rows) = rows else { return };
        assert_eq!(rows.n_rows, case.n as u64, "{case}");
        if model.tensor("row_offset_scale").is_some_and(|scale| scale.f64s()[0] > 0.0) {
            // Reconstructions have the offsets of rows, which are not in the codes: tests/completion/rows.rs.
            return;
        }
        if model.n_codes() > 0 {
            assert_eq!(sink.0, decode(&model, &encode(&model, &x)), "{case}");
        } else {
            let mean = cast::<T>(&numbers(&model, "mean"));
            assert!(
                sink.0.chunks_exact(case.p).all(|row| row == mean),
                "{case}: without components rows are the mean"
            );
        }
    }
    for case in every_case() {
        check::<f64>(&case);
        check::<f32>(&case);
    }
}
