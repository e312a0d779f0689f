//! Codes of new rows, and changes that must not affect a fit.

use super::{Made, fit, low_rank, without_noise};
use crate::made::{encode, numbers, on_threads};
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::{RobustPca, Rows};

/// 100 columns, 5 components, errors of 1 in a tenth of the cells: codes accurate to 1e-7, at any scale, also with missing cells.
#[test]
fn the_code_of_a_new_row_does_not_depend_on_its_errors() {
    let (p, r) = (100, 5);
    let made = Made::new((200, p, r), 1.0, (0.05, 10.0), 0.0, 1);
    let model = fit(&without_noise(), &made.x(), p);
    let v = numbers(&model, "components");
    let draws = Stream::new(4, 0);
    for seed in 0..10u64 {
        for scale in [1e-3, 1.0, 1e3] {
            let code: Vec<f64> = (0..r).map(|c| 3.0 * draws.normal(100 * seed + c as u64)).collect();
            let exact = |j: usize| (0..r).map(|c| code[c] * v[c * p + j]).sum::<f64>();
            let wrong = |j: usize| if (j as u64 + seed).is_multiple_of(10) { 1.0 } else { 0.0 };
            let mut x: Vec<f64> = (0..p).map(|j| scale * (exact(j) + wrong(j))).collect();
            for gaps in [false, true] {
                if gaps {
                    (0..p).filter(|j| j % 6 == 1).for_each(|j| x[j] = f64::NAN);
                }
                let found = encode(&model, &x);
                let far = found.iter().zip(&code).fold(0.0f64, |m, (a, b)| m.max((a / scale - b).abs()));
                assert!(far < 1e-7, "seed {seed}, scale {scale}, gaps {gaps}: {far:e}");
            }
        }
    }
}

#[test]
fn every_row_has_its_certificate() {
    let made = Made::new((120, 40, 3), 1.0, (0.05, 10.0), 0.3, 1);
    let model = fit(&RobustPca::default(), &made.x(), 40);
    let mut gaps = unmix::data::VecSink(Vec::new());
    model.certificates(&Rows::from_slice(&made.x(), 40).unwrap(), &on_threads(2), &mut gaps).unwrap();
    assert!(gaps.0.len() == 120 && gaps.0.iter().all(|gap| (0.0..=1e-8).contains(gap)));
}

#[test]
fn a_median_is_subtracted_on_request() {
    let made = Made::new((101, 30, 2), 1.0, (0.05, 10.0), 0.0, 6);
    let x: Vec<f64> = made.x().iter().enumerate().map(|(at, x)| x + 50.0 * (at % 30) as f64).collect();
    let model = fit(&RobustPca { center: true, ..RobustPca::default() }, &x, 30);
    let mut column: Vec<f64> = x.iter().skip(4).step_by(30).copied().collect();
    column.sort_by(f64::total_cmp);
    assert_eq!(numbers(&model, "mean")[4], column[50]);
    let constant: Vec<f64> =
        x.iter().enumerate().map(|(at, x)| if at % 30 == 3 { 7.5 } else { *x }).collect();
    let model = fit(&RobustPca { center: true, ..RobustPca::default() }, &constant, 30);
    assert_eq!(model.report().n_constant, 1);
    assert!(numbers(&model, "components").chunks_exact(30).all(|row| row[3] == 0.0));
    let low = low_rank(&model, &constant);
    assert!(low.iter().skip(3).step_by(30).all(|x| *x == 7.5));
}

#[test]
fn reordered_rows_and_columns_reorder_the_parts() {
    let made = Made::new((60, 50, 3), 1.0, (0.05, 10.0), 0.0, 6);
    let (x, p) = (made.x(), 50);
    let model = fit(&without_noise(), &x, p);
    let low = low_rank(&model, &x);
    let y: Vec<f64> =
        x.chunks_exact(p).rev().flat_map(|row| row.iter().rev().copied().collect::<Vec<_>>()).collect();
    let turned = low_rank(&fit(&without_noise(), &y, p), &y);
    let back: Vec<f64> = turned.into_iter().rev().collect();
    assert!(crate::made::apart(&low, &back) < 1e-5);
    let given = json!({"noise": 0.0});
    let single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let narrow = crate::made::try_fit("robust-pca", given.as_object().unwrap(), &single, p).unwrap();
    assert_eq!(narrow.dtype(), unmix::Dtype::F32);
    let (a, b) = (numbers(&narrow, "singular_values"), numbers(&model, "singular_values"));
    assert!(crate::made::apart(&a, &b) < 1e-5 * b[0]);
}
