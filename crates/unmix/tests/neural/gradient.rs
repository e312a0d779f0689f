//! The half-gradient of every rule, against central differences of its loss with the stop-gradient copies held fixed, and against a
//! naive implementation that loops over the rows.

use super::naive;
use crate::made::apart;
use unmix::internal::neural::{
    Field, LINEAR, LINEAR_MORE, NONLINEAR, NONLINEAR_MORE, Sigma, Spec, State, TableEntry,
};
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Real};

pub(super) const N: usize = 60;
pub(super) const P: usize = 6;
pub(super) const K: usize = 4;

/// Skewed rows whose batch mean is 0, and weights with columns that are neither orthogonal nor of unit length.
pub(super) fn design() -> (Vec<f64>, Matrix<f64>) {
    let s = Stream::new(5, 0);
    let mix = Matrix::from_fn(P, P, |i, j| s.normal((i * P + j) as u64));
    let z = Matrix::from_fn(N, P, |i, j| s.laplace((1000 + i * P + j) as u64));
    let mut x = unmix::internal::num::factor::multiply(&z, &mix);
    let mean: Vec<f64> = (0..P).map(|j| (0..N).map(|i| x[(i, j)]).sum::<f64>() / N as f64).collect();
    (0..N).for_each(|i| (0..P).for_each(|j| x[(i, j)] -= mean[j]));
    let q = unmix::internal::num::factor::orthonormal_rows(&Matrix::from_fn(K, P, |i, j| {
        s.normal((5000 + i * P + j) as u64)
    }));
    let w = Matrix::from_fn(P, K, |i, j| q[(j, i)] + 0.15 * s.normal((9000 + i * K + j) as u64));
    (x.into_vec(), w)
}

/// Values of the trained and of the running parameters.
pub(super) fn state(spec: &Spec) -> State {
    let mut state = State::new(spec);
    if spec.sigma == Sigma::Trained {
        state.sigma = vec![1.3, 0.7, 2.0, 0.9];
    }
    if spec.sigma == Sigma::Running {
        state.variance = vec![1.7, 0.5, 4.0, 0.8];
    }
    state.length = 0.9;
    state
}

fn gradient<T: Real>(spec: &Spec, x: &[T], w: &[T]) -> (Vec<T>, State, Field<T>) {
    let mut field = Field::new(spec, P, K);
    let mut state = state(spec);
    let mut g = vec![T::default(); P * K];
    field.half_gradient(x, w, &mut state);
    field.gradient(x, w, &mut g);
    (g, state, field)
}

pub(super) fn every_rule() -> impl Iterator<Item = (&'static TableEntry, Spec)> {
    let all = LINEAR.iter().chain(&LINEAR_MORE).chain(&NONLINEAR).chain(&NONLINEAR_MORE);
    all.filter_map(|row| Some((row, row.spec?)))
}

fn largest(g: &[f64]) -> f64 {
    g.iter().fold(0.0, |m, x| m.max(x.abs()))
}

#[test]
fn the_field_is_that_of_the_naive_implementation() {
    let (x, w) = design();
    for (row, spec) in every_rule() {
        let (g, after, field) = gradient(&spec, &x, w.as_slice());
        let want = naive::gradient(&spec, &x, &w, &after);
        assert!(apart(&g, &want.g) < 1e-12 * largest(&g).max(1.0), "{}: {:?} {:?}", row.key, g, want.g);
        if spec.sigma == Sigma::Trained {
            assert!(apart(&field.further.sigma, &want.sigma) < 1e-13, "{}: sigma", row.key);
        }
        if spec.train_a {
            assert!((field.further.a - want.a).abs() < 1e-13, "{}: a", row.key);
        }
        // Single precision agrees within its rounding errors.
        let narrow = |v: &[f64]| v.iter().map(|x| *x as f32).collect::<Vec<f32>>();
        let (single, ..) = gradient(&spec, &narrow(&x), &narrow(w.as_slice()));
        let single: Vec<f64> = single.iter().map(|x| f64::from(*x)).collect();
        assert!(apart(&single, &g) < 3e-5 * largest(&g).max(1.0), "{} in single precision", row.key);
    }
}

#[test]
fn every_rule_with_a_loss_is_its_half_gradient() {
    let (x, w) = design();
    let mut with_a_loss = 0;
    for (row, spec) in every_rule() {
        let (g, after, field) = gradient(&spec, &x, w.as_slice());
        let Some(loss) = naive::loss(&spec, &x, &w, &after) else { continue };
        with_a_loss += 1;
        let step = 1e-5;
        let mut numeric = Vec::new();
        for at in 0..P * K {
            let moved = |by: f64| {
                let mut v = w.clone();
                v.as_mut_slice()[at] += by;
                loss(&v, &after.sigma, after.a)
            };
            numeric.push((moved(step) - moved(-step)) / (4.0 * step));
        }
        assert!(
            apart(&g, &numeric) < 1e-7 * largest(&g).max(1.0),
            "{}: {:?} instead of {:?}",
            row.key,
            g,
            numeric
        );
        if spec.sigma == Sigma::Trained {
            let numeric: Vec<f64> = (0..K)
                .map(|j| {
                    let moved = |by: f64| {
                        let mut sigma = after.sigma.clone();
                        sigma[j] += by;
                        loss(&w, &sigma, after.a)
                    };
                    (moved(step) - moved(-step)) / (4.0 * step)
                })
                .collect();
            assert!(apart(&field.further.sigma, &numeric) < 1e-7, "{}: sigma", row.key);
        }
        if spec.train_a {
            let moved = |by: f64| loss(&w, &after.sigma, after.a + by);
            let numeric = (moved(step) - moved(-step)) / (4.0 * step);
            assert!((field.further.a - numeric).abs() < 1e-7, "{}: a", row.key);
        }
    }
    assert!(with_a_loss >= 32, "{with_a_loss} rules have a loss");
}

#[test]
fn the_tangent_has_no_part_along_the_columns() {
    let (x, w) = design();
    // Columns of unit length, as a constraint leaves them, and orthonormal ones.
    let unit = {
        let length = |j: usize| (0..P).map(|i| w[(i, j)].powi(2)).sum::<f64>().sqrt();
        Matrix::from_fn(P, K, |i, j| w[(i, j)] / length(j))
    };
    let orthonormal = unmix::internal::num::factor::orthonormal_rows(&w.transposed()).transposed();
    for (row, spec) in every_rule() {
        for (w, whole) in [(&unit, false), (&orthonormal, true)] {
            let (plain, ..) = gradient(&spec, &x, w.as_slice());
            let mut field = Field::new(&spec, P, K);
            let mut g = vec![0.0; P * K];
            field.half_gradient(&x, w.as_slice(), &mut state(&spec));
            field.tangent(whole);
            field.gradient(&x, w.as_slice(), &mut g);
            let inner = |g: &[f64], i: usize, j: usize| (0..P).map(|r| w[(r, i)] * g[r * K + j]).sum::<f64>();
            let size = largest(&plain).max(1.0);
            for i in 0..K {
                for j in 0..=i {
                    let (ours, other) = (inner(&g, i, j), inner(&g, j, i));
                    if whole {
                        assert!((ours + other).abs() < 1e-12 * size, "{}: {i}, {j}", row.key);
                    } else if i == j {
                        assert!(ours.abs() < 1e-12 * size, "{}: column {j}", row.key);
                    }
                }
            }
            // The part that is removed is exactly that along the columns.
            let taken: Vec<f64> = plain.iter().zip(&g).map(|(a, b)| a - b).collect();
            for j in 0..K {
                for i in 0..P {
                    let along: f64 = match whole {
                        true => (0..K)
                            .map(|l| w[(i, l)] * 0.5 * (inner(&plain, l, j) + inner(&plain, j, l)))
                            .sum(),
                        false => w[(i, j)] * inner(&plain, j, j),
                    };
                    assert!((taken[i * K + j] - along).abs() < 1e-12 * size, "{}: {i}, {j}", row.key);
                }
            }
        }
    }
}
