//! Pages of models with sparse codes.

use crate::{made, picture, recording, rows, section};
use unmix::method::sparse_coder::{Algorithm, Alpha};
use unmix::{Features, Matrix, Model, Run, SparseCoder};
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
