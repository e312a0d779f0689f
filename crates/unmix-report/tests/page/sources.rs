//! Components of a recording: sounds, and reconstructions by all components.

use crate::{ica, made, recording, rows, section};
use unmix::Features;
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
