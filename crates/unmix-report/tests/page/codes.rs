//! Pages of models with sparse codes.

use crate::{made, picture, recording, rows, section};
use unmix::method::sparse_coder::{Algorithm, Alpha, Cv};
use unmix::model::Tensor;
use unmix::{Dtype, Features, Matrix, Model, Run, SparseCoder};
use unmix_report::Options;

/// 60 atoms of 16 columns: unit vectors of a deterministic sequence.
fn atoms() -> Matrix<f64> {
    let mut atoms = Matrix::from_fn(60, 16, |i, j| (1.0 + (7 * i + 3) as f64 * (j + 1) as f64).sin());
    for i in 0..60 {
        let length = atoms.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
        atoms.row_mut(i).iter_mut().for_each(|x| *x /= length);
    }
    atoms
}

/// Row `i` is three times atom `i mod 20` less twice atom `(i + 7) mod 20`: atoms from 20 on are not needed.
fn data() -> Matrix<f64> {
    let atoms = atoms();
    Matrix::from_fn(200, 16, |i, j| 3.0 * atoms[(i % 20, j)] - 2.0 * atoms[((i + 7) % 20, j)])
}

fn coded(x: &Matrix<f64>, features: Features) -> Model {
    let spec =
        SparseCoder { dictionary: Some(atoms()), alpha: Alpha::Weight(0.05), ..SparseCoder::default() };
    unmix::with_rows!(&mut rows(x, features), rows => spec.fit(rows, &Run::default())).unwrap()
}

#[test]
fn codes_of_one_number_of_entries_have_a_sentence_and_no_histogram() {
    let x = data();
    let spec = SparseCoder {
        dictionary: Some(atoms()),
        algorithm: Algorithm::Omp,
        n_nonzero_coefs: Some(2),
        ..SparseCoder::default()
    };
    let model =
        unmix::with_rows!(&mut rows(&x, Features::default()), rows => spec.fit(rows, &Run::default()))
            .unwrap();
    let html = made(&model, Some(&rows(&x, Features::default())), &Options::default());
    let codes = section(&html, "codes");
    assert!(codes.contains("a code has exactly <strong>2</strong> nonzero entries of 60. "), "{codes}");
    assert!(!codes.contains("nonzero codes of a row") && codes.contains("use of each component, sorted"));
}

#[test]
fn sparse_codes_are_counted_and_rows_shown_as_sums() {
    let x = data();
    for (features, pictured) in [(picture(4), true), (Features::default(), false)] {
        let model = coded(&x, features.clone());
        let given = rows(&x, features);
        let html = made(&model, Some(&given), &Options::default());
        let codes = section(&html, "codes");
        // The counts of the page are those of the codes of all rows.
        let all = unmix::with_rows!(&given, rows => model.encode_to_vec(rows, &Run::default()).map(|c| {
            c.iter().map(|y| unmix::Real::to_f64(*y)).collect::<Vec<f64>>()
        }))
        .unwrap();
        let nonzeros = all.iter().filter(|y| **y != 0.0).count();
        let unused = (0..60).filter(|j| (0..200).all(|i| all[i * 60 + j] == 0.0)).count();
        let most =
            (0..200).map(|i| all[i * 60..(i + 1) * 60].iter().filter(|y| **y != 0.0).count()).max().unwrap();
        assert!(
            codes.contains("Over 200 rows") && codes.contains("nonzero entries of 60 on average"),
            "{codes}"
        );
        assert!(codes.contains(&format!("at most {most}.")), "{most}");
        assert!(nonzeros > 0 && unused > 1);
        assert!(codes.contains(&format!("{unused} components are used by none of these rows.")), "{unused}");
        // The strongest atom of row 0 is atom 0, and it comes first.
        let strongest = if pictured { "<b>0</b><span>× " } else { "<span>0 × " };
        assert!(codes.contains(strongest), "{codes}");
        assert_eq!(codes.contains("<img"), pictured);
        // Eight rows, and a drawing for each of their terms, of which at most five are shown.
        let used = |i: usize| all[i * 60..(i + 1) * 60].iter().filter(|y| **y != 0.0).count();
        let terms: usize = (0..8).map(|i| used(i * 25).min(5)).sum();
        let drawn = match pictured {
            true => codes.matches("alt=\"component ").count(),
            false => codes.matches("class=\"line term\"").count(),
        };
        assert_eq!(drawn, terms);
        // Alpha was given, and not chosen.
        assert!(!codes.contains("held-out"));
        // Use as a curve and as a histogram, whose bars count the components that are used.
        assert!(codes.contains("use of each component, sorted") && codes.contains("components by use"));
        let label = format!("Histogram of the densities of {} components", 60 - unused);
        assert!(codes.contains(&label), "{label}");
        // The duality gap of every row, on a logarithmic axis.
        let gaps = unmix::with_rows!(&given, rows => {
            let mut found = unmix::data::VecSink(Vec::new());
            model.certificates(rows, &Run::default(), &mut found).map(|_| found.0)
        })
        .unwrap();
        let positive = gaps.iter().filter(|gap| **gap > 0.0).count();
        assert!(
            codes.contains("which ends when the relative duality gap is at most 1.000e-6, or after"),
            "{codes}"
        );
        let label = format!("Histogram of the relative duality gap of {positive} rows");
        assert!(positive > 1 && codes.contains(&label), "{label}");
        // Without rows there is no such section.
        assert!(!made(&model, None, &Options::default()).contains("id=\"codes\""));
    }
}

/// Codes by matching pursuit have no gap, those of an encoder without iterations neither.
#[test]
fn codes_without_a_solver_of_a_penalty_have_no_gaps() {
    let x = data();
    for (key, settings) in [
        ("dictionary", serde_json::json!({"n_components": 6, "max_epochs": 2, "coder": "omp"})),
        ("sae", serde_json::json!({"n_components": 24, "l0": 2, "max_epochs": 2})),
    ] {
        let settings = settings.as_object().cloned().unwrap();
        let model = unmix::fit(key, &settings, &mut rows(&x, Features::default()), &Run::default()).unwrap();
        let html = made(&model, Some(&rows(&x, Features::default())), &Options::default());
        let codes = section(&html, "codes");
        assert!(!codes.contains("by a solver") && !codes.contains("duality gap"), "{key}: {codes}");
        // Units have a histogram of all rows in a section of their own.
        assert_eq!(codes.contains("components by use"), !html.contains("density of each unit"), "{key}");
    }
}

/// Units with equal atoms are beside each other, each with its strongest rows; units of equal atoms that no row activates are marked.
#[test]
fn units_with_nearly_equal_atoms_are_shown_side_by_side() {
    let x = recording(300);
    for (copies, n_pairs, n_shown) in [(2, 1, 1), (8, 28, 6)] {
        // So many copies of the first axis, and the two others.
        let axis = |i: usize| (i + 1).saturating_sub(copies);
        let atoms = Matrix::from_fn(copies + 2, 3, |i, j| if j == axis(i) { 1.0 } else { 0.0 });
        let tables = [("dict_init".to_string(), Tensor::matrix(&atoms, Dtype::F64))].into_iter().collect();
        let settings = serde_json::json!({"l0": 2, "learning_rate": 1e-9, "max_epochs": 1});
        let (settings, mut fitted) = (settings.as_object().unwrap(), rows(&x, Features::default()));
        let model = unmix::fit_given("sae", settings, tables, &mut fitted, &Run::default()).unwrap();
        let html = made(&model, Some(&rows(&x, Features::default())), &Options::default());
        let units = section(&html, "units");
        let counted = match n_pairs {
            1 => "1 pair of atoms has a cosine of 0.9 or more.".to_string(),
            n => format!(
                "{n} pairs of atoms have a cosine of 0.9 or more; the {n_shown} most similar are shown."
            ),
        };
        assert!(units.contains(&counted), "{units}");
        let pairs: Vec<&str> = units.split("<div class=\"pairs-alike\">").skip(1).collect();
        assert_eq!((pairs.len(), units.matches(": cosine 1.000.").count()), (n_shown, n_shown), "{units}");
        let cards = |part: &&str| part.split("</div>").next().unwrap().matches("<b>unit ").count();
        assert!(pairs.iter().all(|part| cards(part) == 2), "{units}");
        // Of equal pre-activations the first are chosen: in two steps, at most six of eight copies are ever active.
        assert_eq!(units.contains("active in no row"), copies > 2, "{units}");
        assert!(pairs.iter().any(|part| part.contains("<ol start=\"1\">")), "{units}");
    }
}

#[test]
fn dictionaries_of_two_seeds_are_side_by_side() {
    let x = data();
    let given = rows(&x, picture(4));
    let settings = serde_json::json!({"n_components": 20, "alpha": 0.05, "batch_size": 50, "max_epochs": 4});
    let seeded = |seed: u64| {
        let run = Run { seed, ..Run::default() };
        unmix::fit("dictionary", settings.as_object().unwrap(), &mut rows(&x, picture(4)), &run).unwrap()
    };
    let (one, two) = (seeded(1), seeded(2));
    let beside = |other: &Model| {
        let beside = Some(("seed2.safetensors".to_string(), other.clone()));
        let html = made(&one, Some(&given), &Options { beside, ..Options::default() });
        section(&html, "beside").to_string()
    };
    assert!(beside(&one).contains("<strong>20 of 20</strong>"));
    let html = beside(&two);
    assert!(html.contains("the absolute value of the cosine of their loadings is 0.9 or more"), "{html}");
    assert!(html.contains("random directions, paired in the same way, is "), "{html}");
    assert_eq!(html.matches("<div class=\"pair\">").count(), 20);
    assert!(!html.contains("Both fits started"));
}

#[test]
fn the_error_of_held_out_entries_is_drawn_where_it_chose_alpha() {
    let x = data();
    let alpha = Alpha::HeldOut(Cv::Cv);
    let spec = SparseCoder { dictionary: Some(atoms()), alpha, ..SparseCoder::default() };
    let model =
        unmix::with_rows!(&mut rows(&x, Features::default()), rows => spec.fit(rows, &Run::default()))
            .unwrap();
    let html = made(&model, Some(&rows(&x, Features::default())), &Options::default());
    let codes = section(&html, "codes");
    assert!(codes.contains("prediction error of held-out entries along alpha"), "{codes}");
    assert!(codes.contains("Prediction error of held-out entries for 13 alphas"), "{codes}");
    assert_eq!(codes.matches("class=\"axis deviation\"").count(), 13);
    assert!(!made(&model, None, &Options::default()).contains("held-out entries along alpha"));
}

#[test]
fn codes_along_alpha_are_drawn_where_codes_have_a_penalty() {
    let x = recording(500);
    let given = rows(&x, Features::default());
    let page_of = |settings: serde_json::Value| {
        let settings = settings.as_object().cloned().unwrap();
        let model =
            unmix::fit("dictionary", &settings, &mut rows(&x, Features::default()), &Run::default()).unwrap();
        (model.tensor("alpha").map(|alpha| alpha.f64s()[0]), made(&model, Some(&given), &Options::default()))
    };
    let (_, html) = page_of(serde_json::json!({"n_components": 6, "max_epochs": 2}));
    for drawn in [
        "nonzero codes of a row along alpha",
        "squared error along alpha",
        "167 of the rows are coded for 25 weights",
    ] {
        assert!(html.contains(drawn), "{drawn}");
    }
    // Without a weight of a penalty there is nothing to draw.
    let omp = serde_json::json!({"n_components": 6, "max_epochs": 2, "coder": "omp"});
    assert!(!page_of(omp).1.contains("along alpha"));
}
