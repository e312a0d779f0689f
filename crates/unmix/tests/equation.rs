//! The one equation: encoder and decoder of every linear model are those that one function makes from the tensors of its file.

use crate::laws::cases::every_case;
use std::collections::HashSet;
use std::path::Path;
use unmix::internal::num::factor;
use unmix::model::{Code, ComponentRole};
use unmix::{Matrix, Model};

/// Rows times columns, at most, of the cases that are fitted here.
const SMALL: usize = 4000;

/// What the components of a method with a linear encoder are; `None` for methods with other encoders, posterior means among them.
fn role(key: &str) -> Option<ComponentRole> {
    match key {
        "pca" => Some(ComponentRole::Axes),
        "neural-pca" | "sigma-pca" => Some(ComponentRole::UnitVectors),
        "ica" | "fastica" | "rica" => Some(ComponentRole::Filters),
        "complete-dictionary" => Some(ComponentRole::Atoms),
        _ => None,
    }
}

/// `mean` and matrix of a linear encoder, other than that of posterior means.
fn linear(model: &Model) -> Option<(Vec<f64>, Matrix<f64>)> {
    let encoder = model.code().encoder();
    let (mean, matrix) = encoder.linear().filter(|_| encoder.gaussian().is_none())?;
    Some((mean.f64s(), matrix.clone()))
}

#[test]
fn encoder_and_decoder_of_every_linear_model_are_made_from_its_tensors_by_one_function() {
    let mut seen = HashSet::new();
    for case in every_case().into_iter().filter(|case| case.n * case.p <= SMALL) {
        let (key, role) = (case.method.key, role(case.method.key));
        // All forms of linear models, and one model of each other method, to see that it is not linear.
        if !seen.insert(key) && role.is_none() {
            continue;
        }
        let model = case.fit(&case.data::<f64>());
        let again = Model::from_bytes(&model.to_bytes().unwrap(), Path::new("memory")).unwrap();
        let found = linear(&again);
        assert_eq!(found, linear(&model), "{case}");
        let Some((mean, encoder)) = found else {
            assert_eq!(role, None, "{case}: its encoder is not linear");
            continue;
        };
        let role = role.unwrap_or_else(|| panic!("{case}: add what its components are to `role`"));
        let code = Code::of_linear(again.settings(), again.tensors(), role).unwrap();
        let (own_mean, own_encoder) = code.encoder().linear().unwrap();
        assert_eq!((own_mean.f64s(), own_encoder), (mean, &encoder), "{case}");
        assert_eq!(code.mixing(), again.code().mixing(), "{case}");
        // Independent of that function: to reconstruct a reconstruction changes nothing.
        if code.n_codes() > 0 {
            let once = factor::multiply(&encoder, &code.mixing().unwrap().transposed());
            let twice = factor::multiply(&once, &once);
            let size = once.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let apart = once.as_slice().iter().zip(twice.as_slice());
            let apart = apart.fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(size > 0.0 && apart < 1e-6 * size, "{case}: {apart:e} of {size:e}");
        }
    }
}
