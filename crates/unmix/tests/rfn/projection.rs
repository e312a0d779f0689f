//! The projection against a search over the feasible set.

use unmix::internal::num::random::Stream;
use unmix::internal::rectified::cascade::project;
use unmix::internal::rectified::{Normalisation, StoredCodes};

fn projected(p: &[f64], how: Normalisation) -> Vec<f64> {
    let mut held = StoredCodes::zeros(p.len(), 1);
    p.iter().enumerate().for_each(|(i, x)| held.set(i, 0, *x));
    project(&mut held, how, p.len() as f64, None);
    (0..p.len()).map(|i| held.at(i, 0)).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// Points of the positive part of the sphere with sum of squares `n`: a grid, and random ones, some with many zeros.
fn points(n: usize) -> Vec<Vec<f64>> {
    let draws = Stream::new(8, 0);
    let mut raw: Vec<Vec<f64>> = (1..4usize.pow(n as u32))
        .map(|code| (0..n).map(|i| ((code / 4usize.pow(i as u32)) % 4) as f64).collect())
        .collect();
    for r in 0..20_000u64 {
        let at = |i: usize| draws.uniform(r * 20 + i as u64);
        raw.push((0..n).map(|i| if at(10 + i) < at(5) { 0.0 } else { at(i) }).collect());
    }
    raw.retain(|z| z.iter().any(|x| *x > 0.0));
    for z in &mut raw {
        let length = (z.iter().map(|x| x * x).sum::<f64>() / n as f64).sqrt();
        z.iter_mut().for_each(|x| *x /= length);
    }
    raw
}

#[test]
fn no_feasible_point_is_nearer() {
    let candidates = points(5);
    let draws = Stream::new(2, 0);
    let mut columns: Vec<Vec<f64>> = vec![
        vec![-1.0, -0.2, -3.0, -0.5, -0.9],
        vec![-1.0, 2.0, -3.0, -0.5, -0.9],
        vec![-0.3, -0.3, -2.0, -0.3, -1.0],
        vec![1.0, 1.0, -1.0, 1.0, 0.0],
        vec![1e-3, -5.0, -5.0, -5.0, -5.0],
    ];
    for c in 0..40u64 {
        let shift = [0.0, -1.0, -2.5][c as usize % 3];
        columns.push((0..5).map(|i| draws.normal(c * 5 + i) + shift).collect());
    }
    for p in columns {
        let q = projected(&p, Normalisation::Rms);
        assert!(q.iter().all(|x| *x >= 0.0));
        assert!((q.iter().map(|x| x * x).sum::<f64>() - 5.0).abs() < 1e-12, "{p:?} {q:?}");
        let own = distance(&p, &q);
        assert!(candidates.iter().all(|z| distance(&p, z) >= own - 1e-9), "{p:?} {q:?}");
        let clamped = projected(&p, Normalisation::None);
        assert!(clamped.iter().zip(&p).all(|(q, p)| *q == p.max(0.0)));
    }
}

#[test]
fn ties_go_to_the_first_row() {
    let q = projected(&[-0.3, -0.1, -0.1, -0.2], Normalisation::Rms);
    assert_eq!(q, [0.0, 2.0, 0.0, 0.0]);
    // The codes of a unit without loadings are 0.
    assert_eq!(projected(&[0.0; 4], Normalisation::Rms), [0.0; 4]);
}
