//! Recovery of the atoms of synthetic rows (17.11).

use super::*;
use crate::scope::in_all;
use unmix::method::sae::{Activation, L0};

fn spec(activation: Activation, l0: usize, max_epochs: u64) -> SparseAutoencoder {
    SparseAutoencoder {
        n_components: Some(128),
        activation,
        l0: L0::Number(l0),
        max_epochs,
        ..Default::default()
    }
}

/// One seed of the default activation with few steps; the next test, which runs with `UNMIX_TESTS=all`, has more.
#[test]
fn atoms_of_the_toy_are_found_by_the_largest_of_a_row() {
    let (x, atoms) = toy(6000, 1);
    let model = fit(&spec(Activation::Topk, 4, 20), &x, 32, 0);
    let (cosine, fvu, l0) = (matched(&model, &atoms), diagnostic(&model, "fvu"), diagnostic(&model, "l0"));
    // Pre-activations among the four largest of a row are left out if they are not positive.
    assert!(cosine > 0.95 && fvu < 0.12 && l0 > 3.5 && l0 <= 4.0, "{cosine} {fvu} {l0}");
}

#[test]
fn atoms_of_the_toy_are_found_by_every_activation() {
    if !in_all("atoms_of_the_toy_are_found_by_every_activation") {
        return;
    }
    let (x, atoms) = toy(20_000, 1);
    for (activation, l0, least) in [
        (Activation::Topk, 4, 0.95),
        (Activation::BatchTopk, 4, 0.95),
        (Activation::Relu, 4, 0.95),
        (Activation::Jumprelu, 3, 0.95),
    ] {
        let model = fit(&spec(activation, l0, 40), &x, 32, 0);
        let (cosine, reached) = (matched(&model, &atoms), diagnostic(&model, "l0"));
        eprintln!("{activation:?}: matched cosine {cosine:.4}, l0 {reached:.2}");
        assert!(cosine >= least, "{activation:?}: {cosine}");
        assert!((reached / l0 as f64 - 1.0).abs() < 0.25, "{activation:?}: {reached}");
    }
}

/// With the settings of 17.11: rows that are not normalised, `alpha` 0.5 (a weight of 1 there), a learning rate of 0.002.
#[test]
fn atoms_of_the_toy_are_found_by_gates() {
    if !in_all("atoms_of_the_toy_are_found_by_gates") {
        return;
    }
    let (x, atoms) = toy(20_000, 1);
    let spec = SparseAutoencoder {
        alpha: Some(0.5),
        l0: L0::default(),
        normalize: false,
        learning_rate: unmix::method::sae::LearningRate::Number(2e-3),
        ..spec(Activation::Gated, 1, 51)
    };
    let cosine = matched(&fit(&spec, &x, 32, 0), &atoms);
    eprintln!("Gated: matched cosine {cosine:.4}");
    assert!(cosine >= 0.92, "{cosine}");
}

#[test]
fn the_number_of_active_units_is_controlled() {
    let (x, _) = toy(3000, 2);
    for (activation, l0) in [(Activation::Relu, 8), (Activation::Jumprelu, 3), (Activation::Gated, 8)] {
        let model = fit(&SparseAutoencoder { n_components: Some(64), ..spec(activation, l0, 30) }, &x, 32, 0);
        let reached = diagnostic(&model, "l0");
        assert!((reached / l0 as f64 - 1.0).abs() < 0.25, "{activation:?}: {reached} for {l0}");
    }
}
