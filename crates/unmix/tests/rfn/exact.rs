//! The modes whose objective never decreases: monotone, solved to their certificate, and encoded as they were fitted.

use super::{diagnostic, fit, fit_seeded};
use crate::made::{Known, cast, encode, numbers, on_threads, settings, try_fit, wide};
use serde_json::{Value, json};
use unmix::datasets::biclusters;
use unmix::internal::num::Matrix;
use unmix::internal::rectified::cascade::{Candidate, CandidateSearch, project};
use unmix::internal::rectified::{Normalisation, StoredCodes};
use unmix::{AnyRows, Model, Outcome, Rows, Run};

/// The first rows and columns of a benchmark.
fn rows(name: &str, n: usize, p: usize) -> Vec<f64> {
    let x = biclusters(name, 1, 0).unwrap().x;
    let x = Matrix::from_fn(n, p, |i, j| x[(i, j)]);
    super::centred(x).into_vec()
}

fn never_decreases(model: &Model, share: f64) {
    let objective = &model.report().objective;
    for (i, pair) in objective.windows(2).enumerate() {
        assert!(pair[1] >= pair[0] - share * pair[0].abs(), "iteration {i}: {pair:?}");
    }
}

#[test]
fn the_objective_never_decreases() {
    let x = rows("D1", 60, 40);
    for (given, iterations) in [
        (json!({"e_step": "coordinate"}), 60),
        (json!({"e_step": "coordinate", "normalize": "none"}), 60),
        (json!({"e_step": "coordinate", "learning_rate": 0.1, "m_step": "gradient"}), 60),
        (json!({"e_step": "coordinate", "noise": "full", "psi_min": 0.05}), 40),
        (json!({"e_step": "coordinate", "m_step": "inverse-psi", "prior_mean": -0.5}), 60),
        (json!({"e_step": "cascade"}), 50),
        (json!({"e_step": "cascade", "normalize": "none", "prior_cov": 2.0}), 40),
        (json!({"e_step": "cascade", "accept": "kl", "learning_rate": 0.1}), 60),
    ] {
        let mut given = settings(given);
        given.insert("n_components".into(), json!(12));
        given.insert("max_iter".into(), json!(iterations));
        let model = fit(&x, 40, Value::Object(given.clone()));
        assert_eq!(model.report().objective.len(), iterations, "{given:?}");
        never_decreases(&model, 1e-10);
        assert!(
            diagnostic(&model, "certificate")["violation"].as_f64().unwrap() <= 1e-8,
            "{given:?}: {:?}",
            model.report().fit
        );
    }
}

#[test]
fn the_rounds_for_the_final_codes_end_at_the_time_limit() {
    let x = rows("D1", 60, 40);
    let given = settings(json!({"n_components": 12, "e_step": "coordinate", "max_iter": 3}));
    let mut rows = AnyRows::F64(Rows::from_slice(&x, 40).unwrap());
    let run = Run { max_seconds: Some(0.0), ..on_threads(1) };
    let model = unmix::fit("rfn", &given, &mut rows, &run).unwrap();
    let certificate = diagnostic(&model, "certificate");
    // A round may find units that are dead, each at most once; the next one gives codes.
    assert!(certificate["rounds"].as_u64().unwrap() <= 13, "{certificate}");
    assert!(certificate["violation"].as_f64().unwrap() > 1e-8, "{certificate}");
    assert_eq!(model.report().outcome, Outcome::Time);
}

/// Modes, rates and iterations of long fits.
const LONG: [(&str, f64, u64); 4] =
    [("coordinate", 0.1, 1000), ("coordinate", 1.0, 200), ("cascade", 0.1, 1000), ("cascade", 1.0, 200)];

#[test]
fn the_objective_never_decreases_in_many_iterations() {
    let x = rows("D1", 100, 100);
    for (mode, rate, iterations) in LONG {
        let given =
            json!({"n_components": 20, "e_step": mode, "learning_rate": rate, "max_iter": iterations});
        let model = fit(&x, 100, given);
        assert_eq!(model.report().objective.len() as u64, iterations, "{mode} {rate}");
        never_decreases(&model, 1e-10);
    }
}

#[test]
fn the_objective_does_not_decrease_in_single_precision_either() {
    for (name, n, p, l) in [("D3", 60, 40, 12), ("D1", 100, 100, 20)] {
        let x: Vec<f32> = cast(&rows(name, n, p));
        for (mode, rate, iterations) in LONG {
            let given = settings(
                json!({"e_step": mode, "n_components": l, "learning_rate": rate, "max_iter": iterations}),
            );
            let mut rows = AnyRows::F32(Rows::from_slice(&x, p).unwrap());
            let model = unmix::fit("rfn", &given, &mut rows, &on_threads(1)).unwrap();
            assert_eq!(model.report().objective.len() as u64, iterations, "{name} {mode} {rate}");
            never_decreases(&model, 1e-5);
            let violation = diagnostic(&model, "certificate")["violation"].as_f64().unwrap();
            assert!(violation <= 1e-4, "{name} {mode} {rate}: {violation:e}");
        }
    }
}

#[test]
fn reported_decreases_of_plain_mode_are_those_of_its_objective() {
    let model = fit(&rows("D1", 60, 40), 40, json!({"n_components": 12, "max_iter": 150}));
    let decreased = model.report().objective.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let largest = model.report().objective.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f64::max);
    assert_eq!(diagnostic(&model, "decreases")["count"], json!(decreased));
    assert_eq!(diagnostic(&model, "decreases")["largest"].as_f64().unwrap(), largest);
}

#[test]
fn codes_are_those_at_the_end_of_the_fit_and_more_precise_with_a_smaller_tolerance() {
    let x = rows("D1", 60, 40);
    for given in [
        json!({"n_components": 12, "e_step": "coordinate", "max_iter": 40}),
        json!({"n_components": 9, "e_step": "cascade", "max_iter": 30, "normalize": "none"}),
        json!({"n_components": 50, "e_step": "coordinate", "max_iter": 20, "prior_mean": -0.2, "prior_cov": 0.7}),
    ] {
        let model = fit(&x, 40, given.clone());
        let (codes, l) = (encode(&model, &x), model.n_codes());
        assert!(codes.iter().all(|z| *z >= 0.0));
        // First-order conditions under the stored parameters, with the multipliers of the stored scales.
        let w = model.tensor("components").unwrap().to_matrix();
        let (psi, scale) = (numbers(&model, "noise_variance"), numbers(&model, "code_scale"));
        let (mean, prior) = (numbers(&model, "mean"), numbers(&model, "prior"));
        let g = Matrix::from_fn(l, l, |a, b| {
            let common: f64 = (0..40).map(|k| w[(a, k)] * w[(b, k)] / psi[k]).sum();
            common + if a == b { 1.0 / prior[1] } else { 0.0 }
        });
        for i in 0..60 {
            let z = &codes[i * l..(i + 1) * l];
            for j in (0..l).filter(|&j| scale[j] > 0.0) {
                let r: f64 = (0..40).map(|k| w[(j, k)] / psi[k] * (x[i * 40 + k] - mean[k])).sum::<f64>()
                    + prior[0] / prior[1];
                let gz: f64 = (0..l).map(|k| g[(j, k)] * z[k]).sum();
                let slope = gz + (1.0 / scale[j] - g[(j, j)]) * z[j] - r;
                let size = 1.0 + r.abs();
                assert!(
                    slope >= -1e-6 * size && (slope * z[j]).abs() <= 1e-6 * size,
                    "{given}: {i} {j} {slope} {}",
                    z[j]
                );
            }
        }
        let second: Vec<f64> =
            (0..l).map(|j| (0..60).map(|i| codes[i * l + j].powi(2)).sum::<f64>() / 60.0).collect();
        if given.get("normalize").is_none() {
            // The codes of the fit have second moment 1, so do these.
            assert!(
                second.iter().zip(&scale).all(|(q, d)| *d == 0.0 || (q - 1.0).abs() < 1e-6),
                "{second:?}"
            );
        }
        let rows = Rows::from_slice(&x, 40).unwrap();
        let mut sink = unmix::data::VecSink(Vec::new());
        model.certificates(&rows, &Run::default(), &mut sink).unwrap();
        assert!(sink.0.iter().all(|gap| *gap <= 1e-8), "{:?}", sink.0);
        assert!(diagnostic(&model, "certificate")["least_eigenvalue"].as_f64().unwrap() > 0.0);
    }
}

/// The fit stores the second moments `M + Sigma` of its final codes; those of the encoded training rows are the same, so that the encoder gives
/// the codes with which the fit ended: to the certificate in the modes that solve for them, to rounding in plain mode.
fn final_codes<T: Known>(x: &[T], given: Value) -> f64 {
    let n = x.len() / 40;
    let model = try_fit("rfn", &settings(given.clone()), x, 40).unwrap();
    let (codes, l) = (wide(&encode(&model, x)), model.n_codes());
    let w = model.tensor("components").unwrap().to_matrix();
    let psi = numbers(&model, "noise_variance");
    let variance = given.get("prior_cov").map_or(1.0, |t| t.as_f64().unwrap());
    let g = Matrix::from_fn(l, l, |a, b| {
        let common: f64 = (0..40).map(|k| w[(a, k)] * w[(b, k)] / psi[k]).sum();
        common + if a == b { 1.0 / variance } else { 0.0 }
    });
    let sigma = unmix::internal::num::pseudo_inverse(&g).unwrap();
    let stored = model.tensor("code_moments").unwrap().to_matrix();
    let moment = |a: usize, b: usize| {
        (0..n).map(|i| codes[i * l + a] * codes[i * l + b]).sum::<f64>() / n as f64 + sigma[(a, b)]
    };
    let each = (0..l).flat_map(|a| (0..l).map(move |b| (a, b)));
    each.map(|(a, b)| (stored[(a, b)] - moment(a, b)).abs()).fold(0.0, f64::max)
}

#[test]
fn encoded_training_rows_are_the_final_codes_of_the_fit() {
    let x = rows("D1", 60, 40);
    let single: Vec<f32> = cast(&x);
    for given in [
        json!({"n_components": 12, "e_step": "coordinate", "max_iter": 40}),
        json!({"n_components": 12, "e_step": "coordinate", "max_iter": 40, "normalize": "none"}),
        json!({"n_components": 9, "e_step": "cascade", "max_iter": 30}),
        json!({"n_components": 9, "e_step": "cascade", "max_iter": 30, "normalize": "none"}),
        json!({"n_components": 50, "e_step": "coordinate", "max_iter": 20, "prior_mean": -0.2, "prior_cov": 0.7}),
    ] {
        let (double, single) = (final_codes(&x, given.clone()), final_codes(&single, given.clone()));
        assert!(double < 2e-7 && single < 2e-3, "{given}: {double:e} {single:e}");
    }
    for normalize in ["rms", "std", "none"] {
        let given = json!({"n_components": 12, "max_iter": 100, "normalize": normalize});
        let (double, single) = (final_codes(&x, given.clone()), final_codes(&single, given.clone()));
        assert!(double < 1e-12 && single < 1e-6, "{given}: {double:e} {single:e}");
    }
}

#[test]
fn coordinate_and_cascade_reach_a_higher_objective_than_plain() {
    let x = rows("D1", 100, 100);
    let given =
        |mode: &str| json!({"n_components": 20, "e_step": mode, "learning_rate": 0.1, "max_iter": 150});
    let value = |mode: &str| diagnostic(&fit(&x, 100, given(mode)), "final_objective").as_f64().unwrap();
    let (plain, cascade, coordinate) = (value("plain"), value("cascade"), value("coordinate"));
    assert!(cascade > plain && coordinate > plain, "{plain} {cascade} {coordinate}");
}

/// Posterior means, codes before and a matrix.
fn problem(
    seed: u64,
    n: usize,
    l: usize,
    how: Normalisation,
) -> (StoredCodes<f64>, StoredCodes<f64>, Matrix<f64>) {
    let (p, mu, root) =
        (super::normal(n, l, seed), super::normal(n, l, seed + 1), super::normal(l, l, seed + 2));
    let fill = |of: &Matrix<f64>| {
        let mut held = StoredCodes::zeros(n, l);
        (0..n).for_each(|i| (0..l).for_each(|j| held.set(i, j, of[(i, j)])));
        held
    };
    let mut g = unmix::internal::num::factor::multiply_transposed(&root, &root);
    (0..l).for_each(|j| g[(j, j)] += 1.0);
    let mut mu = fill(&mu);
    project(&mut mu, how, n as f64, None);
    (fill(&p), mu, g)
}

#[test]
fn each_candidate_alone_lowers_the_divergence_or_keeps_the_codes() {
    let mut taken = std::collections::BTreeMap::new();
    for seed in 0..40u64 {
        for how in [Normalisation::Rms, Normalisation::None] {
            let (p, mu, g) = problem(10 * seed, 23, 6, how);
            for candidate in [
                Candidate::Newton,
                Candidate::Gamma,
                Candidate::Lambda,
                Candidate::Both,
                Candidate::Reduced,
                Candidate::Majoriser,
            ] {
                let candidates = [candidate];
                let search = CandidateSearch {
                    p: &p,
                    mu: &mu,
                    g: &g,
                    n: 23.0,
                    weights: None,
                    how,
                    allowance: 0.0,
                    candidates: &candidates,
                };
                let (codes, found) = search.first_decrease();
                let (before, after) = (search.divergence(&mu), search.divergence(&codes));
                assert!(if found == Candidate::Keep { after == before } else { after < before });
                *taken.entry((candidate, how == Normalisation::Rms)).or_insert(0) +=
                    u32::from(found == candidate);
                if candidate == Candidate::Majoriser {
                    // The majoriser cannot raise the divergence, and random codes are not stationary.
                    assert_eq!(found, Candidate::Majoriser);
                }
                if candidate == Candidate::Reduced && how == Normalisation::None {
                    // With halving it descends on the convex set.
                    assert_eq!(found, Candidate::Reduced, "{seed}");
                }
            }
        }
    }
    assert!(taken.values().all(|n| *n > 0), "{taken:?}");
}

#[test]
fn a_cascade_reports_which_candidates_were_accepted() {
    let model =
        fit(&rows("D1", 60, 40), 40, json!({"n_components": 12, "e_step": "cascade", "max_iter": 60}));
    let candidates = diagnostic(&model, "rungs");
    let counts: Vec<u64> = candidates.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!((counts.len(), counts.iter().sum::<u64>()), (7, 60), "{candidates}");
    assert!(candidates["newton"].as_u64().unwrap() >= 1 && candidates["newton"] != json!(60), "{candidates}");
}

#[test]
fn rows_of_weight_zero_take_no_unit_and_have_no_effect() {
    let mut x = rows("D1", 60, 20);
    let mut weights = vec![1.0; 60];
    let given =
        settings(json!({"n_components": 6, "e_step": "coordinate", "max_iter": 10, "prior_mean": -4.0}));
    let fitted = |x: &[f64], weights: Vec<f64>| {
        let mut rows = AnyRows::F64(Rows::from_slice(x, 20).unwrap()).weighted(weights).unwrap();
        unmix::fit("rfn", &given, &mut rows, &on_threads(1)).unwrap()
    };
    [3, 17, 40].iter().for_each(|&i: &usize| weights[i] = 0.0);
    let one = fitted(&x, weights.clone());
    [3usize, 17, 40].iter().for_each(|&i| x[20 * i..20 * (i + 1)].fill(1e3));
    let other = fitted(&x, weights);
    assert!(numbers(&one, "components") == numbers(&other, "components"));
}

#[test]
fn threads_change_no_bit_and_seeds_do() {
    let x = rows("D2", 100, 100);
    let x: Vec<f64> =
        x.iter().cycle().take(7 * x.len()).enumerate().map(|(i, v)| v + (i % 13) as f64).collect();
    let given = settings(json!({"n_components": 100, "e_step": "coordinate", "max_iter": 2}));
    let on = |threads: usize| {
        let mut rows = AnyRows::F64(Rows::from_slice(&x, 100).unwrap());
        crate::made::digest(&unmix::fit("rfn", &given, &mut rows, &on_threads(threads)).unwrap())
    };
    assert_eq!(on(1), on(3));
    let small = self::rows("D2", 40, 20);
    let given = json!({"n_components": 5, "max_iter": 5});
    let same = |seed| crate::made::digest(&fit_seeded(&small, 20, given.clone(), seed));
    assert!(same(1) == same(1) && same(1) != same(2));
}
