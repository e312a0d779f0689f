//! Diagnostics of fitted models: units, order, initial values.

use super::*;
use crate::made::{encode, numbers};
use unmix::method::sae::{Activation, Init};

const ALL: [Activation; 5] =
    [Activation::Relu, Activation::Topk, Activation::BatchTopk, Activation::Jumprelu, Activation::Gated];

fn spec(activation: Activation) -> SparseAutoencoder {
    SparseAutoencoder { n_components: Some(48), activation, max_epochs: 6, ..Default::default() }
}

#[test]
fn atoms_have_norm_1_and_are_ordered_by_use() {
    let (x, _) = toy(900, 1);
    for activation in ALL {
        let model = fit(&spec(activation), &x, 32, 0);
        let atoms = model.tensor("components").unwrap().to_matrix();
        for j in 0..48 {
            let square: f64 = atoms.row(j).iter().map(|a| a * a).sum();
            assert!((square - 1.0).abs() < 1e-13, "{activation:?}: {square}");
        }
        let codes = encode(&model, &x);
        let used: Vec<f64> = (0..48).map(|j| codes.iter().skip(j).step_by(48).sum()).collect();
        assert!(used.windows(2).all(|u| u[0] >= u[1] - 1e-9 * u[0]), "{activation:?}: {used:?}");
        let fired = |j: usize| codes.iter().skip(j).step_by(48).filter(|z| **z > 0.0).count() as f64 / 900.0;
        let density = numbers(&model, "density");
        assert!((0..48).all(|j| density[j] == fired(j)), "{activation:?}");
        let l0 = codes.iter().filter(|z| **z > 0.0).count() as f64 / 900.0;
        assert!((diagnostic(&model, "l0") - l0).abs() < 1e-12, "{activation:?}");
        assert!(codes.iter().all(|z| *z >= 0.0));
    }
}

/// Rows in other units, or moved, have the same atoms; codes are in the units of the rows.
#[test]
fn units_of_the_rows_and_their_mean_do_not_matter() {
    let (x, _) = toy(600, 1);
    for activation in ALL {
        let model = fit(&spec(activation), &x, 32, 0);
        let codes = encode(&model, &x);
        let scaled: Vec<f64> = x.iter().map(|v| 64.0 * v).collect();
        let other = fit(&spec(activation), &scaled, 32, 0);
        assert_eq!(numbers(&model, "components"), numbers(&other, "components"), "{activation:?}");
        let again: Vec<f64> = encode(&other, &scaled).iter().map(|z| z / 64.0).collect();
        assert!(crate::made::apart(&codes, &again) < 1e-12, "{activation:?}");
        // A shift that is exact in most numbers changes the rounding of the mean alone.
        let moved: Vec<f64> = x.iter().enumerate().map(|(i, v)| v + ((i % 32) as f64 - 16.0)).collect();
        let other = fit(&SparseAutoencoder { max_epochs: 1, ..spec(activation) }, &moved, 32, 0);
        let once = fit(&SparseAutoencoder { max_epochs: 1, ..spec(activation) }, &x, 32, 0);
        let (a, b) = (numbers(&once, "components"), numbers(&other, "components"));
        assert!(crate::made::apart(&a, &b) < 1e-6, "{activation:?}: {:e}", crate::made::apart(&a, &b));
    }
}

#[test]
fn single_precision_is_near_double() {
    let (x, _) = toy(600, 1);
    let narrow: Vec<f32> = x.iter().map(|v| *v as f32).collect();
    let spec = spec(Activation::Topk);
    let double = fit(&spec, &x, 32, 0);
    let single = spec.fit(&mut Rows::from_slice(&narrow, 32).unwrap(), &crate::made::on_threads(2)).unwrap();
    assert!((diagnostic(&single, "fvu") / diagnostic(&double, "fvu") - 1.0).abs() < 0.05);
    assert_eq!(single.dtype(), unmix::Dtype::F32);
}

#[test]
fn training_starts_from_given_atoms_from_rows_and_from_a_model() {
    let (x, atoms) = toy(900, 1);
    let slow = |spec: SparseAutoencoder| SparseAutoencoder {
        learning_rate: unmix::method::sae::LearningRate::Number(1e-9),
        max_epochs: 1,
        ..spec
    };
    let given =
        SparseAutoencoder { n_components: None, dict_init: Some(atoms.clone()), ..Default::default() };
    let model = fit(&slow(given), &x, 32, 0);
    assert!((matched(&model, &atoms) - 1.0).abs() < 1e-6);
    // Atoms from data have the directions of centred rows.
    let data = fit(&slow(SparseAutoencoder { init: Init::Data, ..spec(Activation::Topk) }), &x, 32, 0);
    let (from_rows, mean) = (data.tensor("components").unwrap().to_matrix(), numbers(&data, "mean"));
    let directions = x.chunks(32).map(|row| {
        let row: Vec<f64> = row.iter().zip(&mean).map(|(x, m)| x - m).collect();
        let length = dot(&row, &row).sqrt();
        row.iter().map(|x| x / length).collect::<Vec<f64>>()
    });
    let directions: Vec<Vec<f64>> = directions.collect();
    for j in 0..from_rows.rows() {
        let best = directions.iter().map(|row| dot(row, from_rows.row(j))).fold(0.0, f64::max);
        assert!(best > 1.0 - 1e-6, "atom {j}: {best}");
    }
    for activation in ALL {
        let first = fit(&spec(activation), &x, 32, 0);
        let run = Run { init: Some(&first), ..crate::made::on_threads(2) };
        let next = slow(spec(activation)).fit(&mut Rows::from_slice(&x, 32).unwrap(), &run).unwrap();
        // The threshold of `batch-topk` is measured anew, and the order of the units by it.
        let atoms = |model: &Model| model.tensor("components").unwrap().to_matrix();
        let order = places(&atoms(&first), &atoms(&next));
        for name in ["components", "encoder_weight"] {
            let of = |model: &Model| model.tensor(name).unwrap().to_matrix();
            let (a, b) = (of(&first), of(&next));
            let far = (0..48).map(|j| crate::made::apart(a.row(j), b.row(order[j]))).fold(0.0, f64::max);
            assert!(far < 1e-6, "{activation:?} {name}: {far:e}");
        }
        let far = crate::made::apart(&numbers(&first, "mean"), &numbers(&next, "mean"));
        assert!(far < 1e-6, "{activation:?}: {far:e}");
    }
}

#[test]
fn unused_units_are_resampled_or_trained_on_the_residual() {
    use unmix::method::sae::DeadUnit;
    let (mut x, _) = toy(600, 3);
    // The last 8 columns are 0, and 8 atoms are nearly along them: their codes are never among the largest.
    x.chunks_mut(32).for_each(|row| row[24..].fill(0.0));
    let with = |dead_unit| {
        let atoms = Matrix::from_fn(16, 32, |i, j| match (i < 8, j < 24) {
            (true, _) => x[i * 32 + j],
            (false, true) => 1e-3 * x[i * 32 + j],
            (false, false) => f64::from(u8::from(j == 16 + i)),
        });
        let spec = SparseAutoencoder {
            n_components: None,
            dict_init: Some(atoms),
            dead_unit,
            max_epochs: 10,
            ..Default::default()
        };
        fit(&spec, &x, 32, 0)
    };
    let (kept, again) = (with(DeadUnit::Keep), with(DeadUnit::Resample));
    assert!(diagnostic(&kept, "dead_units") > 0.0, "{:?}", kept.report().diagnostics);
    assert!(
        diagnostic(&again, "dead_units") < diagnostic(&kept, "dead_units"),
        "{:?}",
        again.report().diagnostics
    );
    assert!(diagnostic(&again, "resampled") > 0.0);
    assert!(diagnostic(&with(DeadUnit::Auxk), "dead_units") < diagnostic(&kept, "dead_units"));
}
