//! Pages of two models.

use crate::{fit, ica, made, recording, rows};
use unmix::{Features, Matrix, Model, Run, datasets};
use unmix_report::{Options, page};

#[test]
fn components_of_two_models_are_matched_and_those_without_a_partner_are_named() {
    let x = recording(3000);
    let given = rows(&x, Features::default());
    let (all, two) = (ica(&x, 3), ica(&x, 2));
    let beside = |model: &Model, other: &Model| {
        let beside = Some(("other.safetensors".to_string(), other.clone()));
        made(model, Some(&given), &Options { beside, ..Options::default() })
    };
    let same = beside(&all, &all);
    assert!(same.contains("<strong>3 of 3</strong> pairs agree"));
    assert_eq!(same.matches("<td>1.0000</td><td>1.0000</td><td>yes</td>").count(), 3);
    assert!(!same.contains("Unmatched components"));
    assert!(!same.contains("Both fits started"), "sources do not depend on the start");
    let fewer = beside(&all, &two);
    assert!(fewer.contains(" of 2</strong>") && fewer.contains("Unmatched components of this model: "));
    let more = beside(&two, &all);
    assert!(more.contains(" of 2</strong>") && more.contains("Unmatched components of the other model: "));
    let narrow = datasets::patterns(60, 5, 3, 0.2, 1);
    let other = fit(&mut rows(&narrow.x, Features::default()), 3);
    let options = Options { beside: Some(("o".into(), other)), ..Options::default() };
    let refused = page(&all, None, &options, &Run::default()).unwrap_err().to_string();
    assert!(refused.contains("3 columns are needed, but 25 were given"), "{refused}");
    // Without rows there are no codes to correlate, and loadings are compared.
    let options = Options { beside: Some(("o".into(), two)), ..Options::default() };
    let without = made(&all, None, &options);
    assert!(!without.contains("of codes") && without.contains("the cosine of their loadings"));
    // The column that both models have holds another channel in each: components of other columns do not match.
    let permuted = Matrix::from_fn(3000, 3, |i, j| x[(i, (j + 1) % 3)] * [1.0, 3.0, 0.2][j]);
    let other = beside(&all, &ica(&permuted, 3));
    assert!(!other.contains("<strong>3 of 3</strong>"), "sources of other columns");
}

#[test]
fn sparse_codes_of_two_seeds_are_matched_by_their_atoms_and_compared_with_chance() {
    let x = recording(600);
    let given = rows(&x, Features::default());
    let settings =
        serde_json::json!({"n_components": 8, "l0": 2, "max_epochs": 3}).as_object().cloned().unwrap();
    let seeded = |seed: u64| {
        unmix::fit("sae", &settings, &mut rows(&x, Features::default()), &Run { seed, ..Run::default() })
            .unwrap()
    };
    let (one, two) = (seeded(1), seeded(2));
    let beside = |model: &Model, other: &Model| {
        let beside = Some(("seed2.safetensors".to_string(), other.clone()));
        made(model, Some(&given), &Options { beside, ..Options::default() })
    };
    let same = beside(&one, &one);
    assert!(
        same.contains("<strong>8 of 8</strong>") && same.contains("The mean cosine of the pairs is 1.000; ")
    );
    let html = beside(&one, &two);
    // Codes that are mostly 0 are not correlated, and the opposite of an atom is another atom.
    assert!(html.contains("pairs agree: the cosine of their loadings is 0.9 or more"), "{html}");
    let by_chance = unmix::stability::chance_agreement((8, 8), 3, true, 0);
    assert!(html.contains(&format!("random directions, paired in the same way, is {by_chance:.3}")));
    // The share of the atoms that the other seed reproduces, by a weaker criterion.
    let atoms = |model: &Model| model.tensor("components").unwrap().to_matrix();
    let cosines = unmix::metrics::match_units(&atoms(&one), &atoms(&two)).cosine;
    let again = cosines.iter().filter(|cosine| **cosine >= 0.7).count();
    assert!(same.contains("8 of 8 pairs (100 %) have a cosine of 0.7 or more."));
    assert!(html.contains(&format!("{again} of 8 pairs (")), "{again}: {html}");
    assert!(html.contains(" %) have a cosine of 0.7 or more."), "{html}");
    // Two fits of one seed may agree because of their start.
    let warned = "Both fits started from the random numbers of seed 1";
    assert!(
        same.contains(warned)
            && same.contains("<code>--seed 2</code>")
            && !html.contains("Both fits started")
    );
}

/// The default number of units for rows of a language model is above a thousand: their agreement is compared with chance, too.
#[test]
fn more_than_a_thousand_units_are_compared_with_chance() {
    const UNITS: usize = 1025;
    let x = Matrix::from_fn(60, 4, |i, j| (1.0 + (7 * i + 3) as f64 * (j + 1) as f64).sin());
    let settings = serde_json::json!({"n_components": UNITS, "l0": 2, "max_epochs": 1});
    let seeded = |seed: u64| {
        let run = Run { seed, ..Run::default() };
        unmix::fit("sae", settings.as_object().unwrap(), &mut rows(&x, Features::default()), &run).unwrap()
    };
    let options =
        Options { beside: Some(("seed2.safetensors".to_string(), seeded(2))), ..Options::default() };
    let html = made(&seeded(1), None, &options);
    let by_chance = unmix::stability::chance_agreement((UNITS, UNITS), 4, true, 0);
    assert!(html.contains(&format!("random directions, paired in the same way, is {by_chance:.3}")));
    assert!(html.contains(" of 1025 pairs (") && !html.contains("is computed only if"));
}

#[test]
fn a_common_random_start_is_reported_for_every_method_with_one() {
    let x = recording(300);
    for method in unmix::METHODS.iter().filter(|method| method.random_start) {
        let mut settings = serde_json::Map::new();
        for setting in method.settings {
            let value = match setting.name {
                "n_components" if setting.default.starts_with('[') => serde_json::json!([4]),
                "n_components" => serde_json::json!(4),
                "max_iter" | "max_epochs" => serde_json::json!(2),
                _ => continue,
            };
            settings.insert(setting.name.into(), value);
        }
        let seeded = |seed: u64| {
            let run = Run { seed, ..Run::default() };
            unmix::fit(method.key, &settings, &mut rows(&x, Features::default()), &run).unwrap()
        };
        let (one, two) = (seeded(1), seeded(2));
        assert_ne!(one.tensor("components").unwrap(), two.tensor("components").unwrap(), "{}", method.key);
        let beside = |other: &Model| {
            let beside = Some(("other.safetensors".to_string(), other.clone()));
            made(&one, None, &Options { beside, ..Options::default() })
        };
        let warned = "Both fits started from the random numbers of seed 1";
        assert!(beside(&one).contains(warned), "{}", method.key);
        assert!(!beside(&two).contains(warned), "{}", method.key);
    }
}
