//! Recovery of the atoms of synthetic rows (17.11).

use super::*;
use crate::made::{median, on_threads, repetitions};
use crate::scope::in_all;
use unmix::method::sae::{Activation, L0, LearningRate, evaluate};

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

/// The mean cosine with the atoms and the shrinkage of codes of other rows, medians of the first seeds, with the settings of 17.11: rows that are not
/// normalised, a learning rate of 0.002, 3000 steps. `alpha` is half the weight there.
fn published(activation: Activation, alpha: Option<f64>, l0: L0, seeds: u64) -> (f64, f64) {
    let ((x, atoms), (other, _)) = (toy(20_000, 1), toy(4000, 77));
    let learning_rate = LearningRate::Number(2e-3);
    let spec = SparseAutoencoder { alpha, l0, normalize: false, learning_rate, ..spec(activation, 1, 38) };
    let (mut cosines, mut shrinkages) = (Vec::new(), Vec::new());
    for seed in 0..seeds {
        let model = fit(&spec, &x, 32, seed);
        let seen = evaluate(&model, &mut Rows::from_slice(&other, 32).unwrap(), &on_threads(2)).unwrap();
        cosines.push(matched(&model, &atoms));
        shrinkages.push(seen.shrinkage);
    }
    eprintln!("{activation:?} {alpha:?}: matched cosines {cosines:.4?}, shrinkage {shrinkages:.3?}");
    (median(cosines), median(shrinkages))
}

/// The number of seeds of the text in the long tests, otherwise one.
fn seeds() -> u64 {
    repetitions(1, 3)
}

#[test]
fn the_largest_of_a_row_find_the_atoms_without_shrinkage() {
    let (cosine, shrinkage) = published(Activation::Topk, None, L0::Number(4), seeds());
    assert!(cosine >= 0.95 && (shrinkage - 1.0).abs() <= 0.02, "{cosine} {shrinkage}");
}

#[test]
fn a_penalty_on_the_number_of_active_units_finds_the_atoms_without_shrinkage() {
    for alpha in [0.1, 0.25] {
        let (cosine, shrinkage) = published(Activation::Jumprelu, Some(alpha), L0::default(), seeds());
        assert!(cosine >= 0.95 && (shrinkage - 1.0).abs() <= 0.02, "{alpha}: {cosine} {shrinkage}");
    }
}

/// The penalty on the sizes of codes shrinks them: 1.33 times as large codes would fit best.
#[test]
fn a_penalty_on_the_codes_finds_the_atoms_and_shrinks_the_codes() {
    let (cosine, shrinkage) = published(Activation::Relu, Some(0.5), L0::default(), seeds());
    assert!(cosine >= 0.95 && (1.25..1.45).contains(&shrinkage), "{cosine} {shrinkage}");
}

#[test]
fn gates_find_the_atoms_without_shrinkage() {
    if !in_all("gates_find_the_atoms_without_shrinkage") {
        return;
    }
    let (cosine, shrinkage) = published(Activation::Gated, Some(0.5), L0::default(), 3);
    assert!(cosine >= 0.92 && (shrinkage - 1.0).abs() <= 0.02, "{cosine} {shrinkage}");
}

/// One seed with 4000 steps: `alpha` 0.5 (a weight of 1 in 17.11), a learning rate of 0.002, rows that are not normalised.
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
        learning_rate: LearningRate::Number(2e-3),
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
