//! Evaluation of fitted models and the strongest rows of each unit, against plain loops.

use super::*;
use crate::made::{encode, numbers, on_threads};
use unmix::method::sae::{Activation, evaluate, top_rows};

fn model(activation: Activation, x: &[f64]) -> Model {
    let spec = SparseAutoencoder { n_components: Some(48), activation, max_epochs: 6, ..Default::default() };
    fit(&spec, x, 32, 0)
}

/// The solution of a small system, by elimination with pivots.
fn solved(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|x, y| a[*x][i].abs().total_cmp(&a[*y][i].abs())).unwrap();
        a.swap(i, pivot);
        b.swap(i, pivot);
        for r in i + 1..n {
            let by = a[r][i] / a[i][i];
            let above = a[i].clone();
            a[r].iter_mut().zip(&above).for_each(|(x, y)| *x -= by * y);
            b[r] -= by * b[i];
        }
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|c| a[i][c] * b[c]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    b
}

/// Squared norm of the residual of a row after matching pursuit with `k` atoms.
fn residual_of_omp(x: &[f64], atoms: &Matrix<f64>, k: usize) -> f64 {
    let (mut chosen, mut left) = (Vec::<usize>::new(), x.to_vec());
    for _ in 0..k {
        let fit = |j: usize| dot(atoms.row(j), &left).abs();
        let free = (0..atoms.rows()).filter(|j| !chosen.contains(j));
        chosen.push(free.max_by(|a, b| fit(*a).total_cmp(&fit(*b))).unwrap());
        let gram = chosen.iter().map(|&i| chosen.iter().map(|&j| dot(atoms.row(i), atoms.row(j))).collect());
        let z = solved(gram.collect(), chosen.iter().map(|&j| dot(atoms.row(j), x)).collect());
        left = x.to_vec();
        for (z, &j) in z.iter().zip(&chosen) {
            left.iter_mut().zip(atoms.row(j)).for_each(|(r, a)| *r -= z * a);
        }
    }
    left.iter().map(|r| r * r).sum()
}

#[test]
fn the_evaluation_is_that_of_plain_loops() {
    let (x, _) = toy(500, 1);
    let (other, _) = toy(300, 2);
    for activation in [Activation::Topk, Activation::Relu, Activation::Gated] {
        let model = model(activation, &x);
        let found = evaluate(&model, &mut Rows::from_slice(&other, 32).unwrap(), &on_threads(2)).unwrap();
        let (codes, mean) = (encode(&model, &other), numbers(&model, "mean"));
        let atoms = model.tensor("components").unwrap().to_matrix();
        let n = 300.0;
        let center: Vec<f64> = (0..32).map(|c| other.iter().skip(c).step_by(32).sum::<f64>() / n).collect();
        let (mut about, mut left, mut fitted, mut product, mut omp) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (row, code) in other.chunks(32).zip(codes.chunks(48)) {
            let sum: Vec<f64> =
                (0..32).map(|c| (0..48).map(|j| code[j] * atoms[(j, c)]).sum::<f64>()).collect();
            let less: Vec<f64> = row.iter().zip(&mean).map(|(x, b)| x - b).collect();
            about += row.iter().zip(&center).map(|(x, m)| (x - m).powi(2)).sum::<f64>();
            left += less.iter().zip(&sum).map(|(x, f)| (x - f).powi(2)).sum::<f64>();
            fitted += dot(&sum, &sum);
            product += dot(&sum, &less);
            omp += residual_of_omp(&less, &atoms, code.iter().filter(|z| **z > 0.0).count());
        }
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{activation:?}: {a} {b}");
        near(found.fvu, left / about);
        near(found.fvu_same_rows, left / about);
        near(found.shrinkage, product / fitted);
        near(found.fvu_omp, omp / about);
        assert!(found.fvu_omp < found.fvu && found.n_samples == 300 && found.n_samples_omp == 300);
        let fired = |j: usize| codes.iter().skip(j).step_by(48).filter(|z| **z > 0.0).count() as f64 / n;
        assert_eq!(found.density, (0..48).map(fired).collect::<Vec<_>>());
        near(found.l0, found.density.iter().sum());
        assert_eq!(found.dead, found.density.iter().filter(|d| **d == 0.0).count() as f64 / 48.0);
        let similar = |i: usize| (0..48).any(|j| j != i && dot(atoms.row(i), atoms.row(j)) >= 0.9);
        assert_eq!(found.near_duplicates, (0..48).filter(|i| similar(*i)).count() as f64 / 48.0);
        // Components of these rows themselves.
        let k = found.n_components_pca;
        assert_eq!(k, found.l0.round() as usize);
        let centred: Vec<f64> = other.iter().enumerate().map(|(i, x)| x - center[i % 32]).collect();
        let values = unmix::internal::num::factor::svd_right(&Matrix::from_vec(300, 32, centred)).unwrap().0;
        near(found.fvu_pca, values[k..].iter().map(|s| s * s).sum::<f64>() / about);
    }
}

#[test]
fn the_evaluation_has_the_same_bits_for_any_number_of_threads() {
    let (x, _) = toy(700, 1);
    let model = model(Activation::Topk, &x);
    let by =
        |threads| evaluate(&model, &mut Rows::from_slice(&x, 32).unwrap(), &on_threads(threads)).unwrap();
    assert_eq!(by(1), by(2));
    assert_eq!(by(2), by(5));
    let json = by(1).to_json();
    assert_eq!(json["n_samples"], 700);
    assert_eq!(json["density"].as_array().unwrap().len(), 48);
}

#[test]
fn the_evaluation_of_rows_that_workers_hold_has_the_same_bits() {
    let model = model(Activation::Jumprelu, &toy(500, 1).0);
    let cut = unmix::shards::shard_rows(32) as usize;
    let n = cut + 300;
    let (x, _) = toy(n, 2);
    let everywhere = |job: &[u8]| {
        let answer = |from: usize, until: usize| {
            let rows = unmix::AnyRows::from(Rows::from_slice(&x[from * 32..until * 32], 32)?);
            unmix::shards::gather(job, &rows, from as u64, &Run::default())
        };
        Ok(vec![answer(cut, n)?, answer(0, cut)?])
    };
    let mut rows = Rows::<f64>::remote(n as u64, 32, &everywhere);
    let there = evaluate(&model, &mut rows, &on_threads(2)).unwrap();
    let here = evaluate(&model, &mut Rows::from_slice(&x, 32).unwrap(), &on_threads(2)).unwrap();
    assert_eq!((there.n_samples, there.n_samples_omp), (n as u64, 2048));
    assert_eq!(there, here);
}

#[test]
fn the_strongest_rows_of_each_unit_are_those_of_a_sort() {
    let (x, _) = toy(400, 1);
    let model = model(Activation::Jumprelu, &x);
    let codes = encode(&model, &x);
    let top = top_rows(&model, &mut Rows::from_slice(&x, 32).unwrap(), 5, &on_threads(3)).unwrap();
    for j in 0..48 {
        let z = |i: usize| codes[i * 48 + j];
        let mut order: Vec<usize> = (0..400).filter(|i| z(*i) > 0.0).collect();
        order.sort_by(|a, b| z(*b).total_cmp(&z(*a)).then(a.cmp(b)));
        let wanted: Vec<(usize, f64)> = order.iter().take(5).map(|&i| (i, z(i))).collect();
        assert_eq!(top.of(j).collect::<Vec<_>>(), wanted, "unit {j}");
    }
    let all = top_rows(&model, &mut Rows::from_slice(&x[..64], 32).unwrap(), 5, &on_threads(1)).unwrap();
    assert_eq!(all.n, 2);
}

#[test]
fn rows_that_cannot_be_evaluated_are_refused() {
    let (x, _) = toy(200, 1);
    let model = model(Activation::Topk, &x);
    let message = |x: &[f64], p: usize| {
        evaluate(&model, &mut Rows::from_slice(x, p).unwrap(), &on_threads(1)).unwrap_err().to_string()
    };
    assert!(message(&x[..320], 16).contains("32 columns are needed"), "{}", message(&x[..320], 16));
    assert!(message(&[1.0; 96], 32).contains("var"), "{}", message(&[1.0; 96], 32));
    let mut broken = x.clone();
    broken[40] = f64::NAN;
    assert!(message(&broken, 32).contains("row 1"), "{}", message(&broken, 32));
    let none = top_rows(&model, &mut Rows::from_slice(&x, 32).unwrap(), 0, &on_threads(1)).unwrap_err();
    assert!(none.to_string().contains("must be at least 1"), "{none}");
    let pca = unmix::Pca::default().fit(&mut Rows::from_slice(&x, 32).unwrap(), &Run::default()).unwrap();
    let other = evaluate(&pca, &mut Rows::from_slice(&x, 32).unwrap(), &Run::default()).unwrap_err();
    assert!(other.to_string().contains("not a sparse autoencoder"), "{other}");
}
