//! Weights count, or are refused in one sentence: by the typed fit and by the one that goes by names alike.

use super::every_case;
use crate::made::{apart, falling, numbers, settings};
use unmix::{Error, Model, Rows, Run};

/// Rows with whole weights, and the rows that they stand for.
fn rows(n: usize, p: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let x = falling(n, p, 7);
    let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.0, 1.0][i % 4]).collect();
    let repeated = x.chunks_exact(p).zip(&weights).flat_map(|(row, w)| row.repeat(*w as usize)).collect();
    (x, weights, repeated)
}

#[test]
fn a_weight_of_two_is_the_row_twice_or_weights_are_refused() {
    for case in every_case() {
        let (x, weights, repeated) = rows(case.n, case.p);
        let weighted = || Rows::from_slice(&x, case.p).unwrap().weighted(&weights[..]).unwrap();
        let run = Run::default();
        let given = settings(case.given.clone());
        let spec = (case.method.spec)(&given).unwrap();
        let by_key = unmix::fit(case.method.key, &given, &mut unmix::AnyRows::F64(weighted()), &run);
        let typed = spec.fit_f64(&mut weighted(), &run);
        let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
        let narrow = Rows::from_slice(&single, case.p).unwrap().weighted(&weights[..]).unwrap();
        let narrow = spec.fit_f32(&mut { narrow }, &run);
        if case.method.takes.weights {
            let plain = spec.fit_f64(&mut Rows::from_slice(&repeated, case.p).unwrap(), &run).unwrap();
            for found in [by_key, typed] {
                counted(&case, found, &plain, repeated.len() / case.p);
            }
            continue;
        }
        for found in [by_key, typed, narrow] {
            match found {
                Err(Error::Unsupported { asked, .. }) => {
                    assert_eq!(asked, format!("{} of rows with weights", case.method.key))
                }
                other => panic!("{case}: {:?}", other.map(|m| m.report().clone())),
            }
        }
    }
}

/// The fit of weighted rows is that of repeated ones, or says in one sentence which setting goes without weights.
fn counted(case: &super::Case, found: unmix::Result<Model>, plain: &Model, n: usize) {
    let model = match found {
        Ok(model) => model,
        Err(Error::Unsupported { found, remedy, .. }) => {
            return assert!(!found.is_empty() && !remedy.is_empty(), "{case}");
        }
        Err(other) => panic!("{case}: {other:?}"),
    };
    assert_eq!(model.report().n_samples, n as f64, "{case}");
    let name = ["explained_variance", "scale"].into_iter().find(|n| plain.tensor(n).is_some()).unwrap();
    let (a, b) = (numbers(&model, name), numbers(plain, name));
    let size = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(a.len() == b.len() && apart(&a, &b) <= 1e-6 * size, "{case}: {a:?}\n{b:?}");
}
