//! Components of a recording: sounds, and reconstructions by all components.

use crate::{ica, made, recording, rows, section};
use unmix::{Features, Matrix};
use unmix_report::Options;

#[test]
fn components_are_played_at_audible_rates_alone() {
    let x = recording(3000);
    let (model, given) = (ica(&x, 3), rows(&x, Features::default()));
    for (rate, sounds) in [(8000.0, 3), (100.0, 0)] {
        let html = made(&model, Some(&given), &Options { rate: Some(rate), ..Options::default() });
        let shown = section(&html, "sources");
        assert_eq!(shown.matches("<audio").count(), sounds, "{rate} rows per second");
        assert_eq!(shown.matches("src=\"data:audio/wav;base64,").count(), sounds);
    }
}

#[test]
fn loadings_beside_time_courses_have_names_and_a_scale() {
    let x = recording(1000);
    let names = || Some(["left", "right", "above the nose"].map(String::from).to_vec());
    let named = || rows(&x, Features { names: names(), shape: None });
    let settings = serde_json::json!({ "n_components": 3 }).as_object().cloned().unwrap();
    let model = unmix::fit("ica", &settings, &mut named(), &unmix::Run::default()).unwrap();
    let html = made(&model, Some(&named()), &Options { rate: Some(1000.0), ..Options::default() });
    let shown = section(&html, "sources");
    assert!(shown.contains("All of 1 second.") && !shown.contains("1 seconds"), "{shown}");
    for text in
        ["</title>left</text>", "</title>right</text>", "</title>above t\u{2026}</text>", ">loading</text>"]
    {
        assert_eq!(shown.matches(text).count(), 3, "{text}: {shown}");
    }
    // Of many columns, their numbers.
    let wide = Matrix::from_fn(600, 20, |i, j| x[(i, j % 3)] + 0.1 * ((i * 37 + j * j * 11) % 101) as f64);
    let given = rows(&wide, Features::default());
    let html = made(&ica(&wide, 3), Some(&given), &Options::default());
    let shown = section(&html, "sources");
    assert_eq!(shown.matches(">column</text>").count(), 3, "{shown}");
}

#[test]
fn exact_reconstructions_are_a_sentence_in_place_of_figures() {
    let x = recording(3000);
    let given = rows(&x, Features::default());
    let html = made(&ica(&x, 3), Some(&given), &Options::default());
    let shown = section(&html, "reconstructions");
    assert!(shown.contains("Rows and their reconstructions are visually identical"), "{shown}");
    assert!(!shown.contains("<figure") && !shown.contains("error "), "{shown}");
    // With two components of three rows are beside their reconstructions, with the error of each.
    let html = made(&ica(&x, 2), Some(&given), &Options::default());
    let shown = section(&html, "reconstructions");
    assert!(shown.contains("<figure") && shown.contains("error ") && !shown.contains("visually identical"));
}
