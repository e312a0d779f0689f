//! More atoms than columns by the generalised power iteration: fourth powers on the sphere from many starts (Qu et al. 2020).

use super::*;
use crate::made::repetitions;
use crate::scope::in_all;
use unmix::internal::num::random::Stream;
use unmix::power::{Contrast, Contrasted, PowerIteration, Projection, Shift};
use unmix::{Outcome, Run};

/// Filters of different atoms found from random starts, best first, and the atoms, all of length 1 in white coordinates; and whether
/// each start ended within a cosine of 0.95 of an atom.
fn ends(
    (n, p, m): (usize, usize, usize),
    share: f64,
    starts: usize,
) -> (Matrix<f64>, Matrix<f64>, Vec<bool>) {
    let made = bernoulli_gaussian((n, p, m), share, 0.0, false, 0).unwrap();
    let gram = factor::multiply(&made.x.transposed(), &made.x);
    let moments = Matrix::from_fn(p, p, |i, j| gram[(i, j)] / n as f64);
    let (values, vectors) = factor::eigh(&moments).unwrap();
    let root = Matrix::from_fn(p, p, |i, j| vectors[(i, j)] / values[i].sqrt());
    let whiten = factor::multiply(&vectors.transposed(), &root);
    let unit = |a: Matrix<f64>| {
        let length = |i: usize| a.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
        Matrix::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)] / length(i))
    };
    let (white, atoms) = (factor::multiply(&made.x, &whiten), unit(factor::multiply(&made.atoms, &whiten)));
    let rows = Rows::from_slice(white.as_slice(), p).unwrap();
    let draws = Stream::new(1, 0);
    let start = Matrix::from_fn(starts, p, |i, j| draws.normal((i * p + j) as u64));
    let iteration = PowerIteration {
        projection: Projection::Rows,
        shift: Shift::Constant(3.0),
        tol: 1e-5,
        max_iter: 200,
        eps: f64::EPSILON,
    };
    let run = Run::default();
    let found = iteration.solve(&mut Contrasted::new(&rows, Contrast::Cube, &run), &start, &run).unwrap();
    assert!(matches!(found.outcome, Outcome::Converged | Outcome::MaxIter));
    let good = nearest(&found.a, &atoms).into_iter().map(|(_, cosine, _)| cosine > 0.95).collect();
    let codes = factor::multiply_transposed(&white, &found.a);
    let fourth = |i: usize| (0..n).map(|r| codes[(r, i)].powi(4)).sum::<f64>();
    let mut order: Vec<(f64, usize)> = (0..starts).map(|i| (fourth(i), i)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut kept: Vec<usize> = Vec::new();
    for (_, i) in order {
        let cosine = |j: usize| found.a.row(i).iter().zip(found.a.row(j)).map(|(a, b)| a * b).sum::<f64>();
        if kept.iter().all(|&j| cosine(j).abs() < 0.9) {
            kept.push(i);
        }
    }
    (Matrix::from_fn(kept.len(), p, |i, j| found.a[(kept[i], j)]), atoms, good)
}

/// How many atoms are within a cosine of 0.95 of a filter.
fn found(filters: &Matrix<f64>, atoms: &Matrix<f64>) -> usize {
    nearest(atoms, filters).iter().filter(|(_, cosine, _)| *cosine > 0.95).count()
}

#[test]
fn many_starts_find_more_atoms_than_there_are_columns() {
    let (filters, atoms, good) = ends((repetitions(20_000, 30_000), 30, 40), 0.1, 320);
    assert_eq!((found(&filters, &atoms), good.iter().all(|g| *g)), (40, true));
    let (filters, atoms, _) = ends((30_000, 20, 40), 0.1, 320);
    assert!(found(&filters, &atoms) >= 25, "{}", found(&filters, &atoms));
}

/// Three times as many atoms as columns: nine of ten starts end at an atom, and half of the atoms are found.
#[test]
fn starts_end_at_half_of_the_atoms_of_three_for_each_column() {
    if !in_all("starts_end_at_half_of_the_atoms_of_three_for_each_column") {
        return;
    }
    let (filters, atoms, good) = ends((30_000, 20, 60), 0.05, 240);
    let share = good.iter().filter(|g| **g).count() as f64 / good.len() as f64;
    assert!(share >= 0.9 && found(&filters, &atoms) >= 30, "{share} {}", found(&filters, &atoms));
}
