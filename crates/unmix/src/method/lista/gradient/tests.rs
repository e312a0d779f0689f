//! Gradients compared with finite differences, layers with loops over entries, and the initial network with ISTA.

use super::super::net::{Buffers, Net, Params, Problem};
use super::super::settings::{LayerType, Lista};
use super::Target;
use crate::num::Matrix;
use crate::num::random::Stream;
use crate::sparse::{Atoms, Lasso, Proximal, StoppingRule, Work};

const LAYER_TYPES: [LayerType; 5] =
    [LayerType::Lista, LayerType::GregorLecun, LayerType::Cp, LayerType::Alista, LayerType::Step];
const SHAPE: (usize, usize, usize) = (70, 6, 11);

struct Fixture {
    problem: Problem<f64>,
    atoms: Atoms<f64>,
    x: Vec<f64>,
    codes: Vec<f64>,
}

/// Rows that are sparse combinations of atoms of different norms.
fn made(given: &Lista) -> Fixture {
    let ((n, p, m), draws) = (SHAPE, Stream::new(3, 0));
    let atoms = Matrix::from_fn(m, p, |j, c| (0.6 + 0.1 * j as f64) * draws.normal((j * p + c) as u64));
    let codes = Stream::new(3, 1);
    let z = Matrix::from_fn(n, m, |i, j| {
        let at = (i * m + j) as u64;
        if codes.uniform(2 * at) < 0.3 { codes.normal(2 * at + 1) } else { 0.0 }
    });
    let x = crate::num::factor::multiply(&z, &atoms).into_vec();
    let atoms = Atoms::new(&atoms);
    Fixture { problem: Problem::new(given, &atoms, 0.2).unwrap(), atoms, x, codes: z.into_vec() }
}

/// Parameters near those of ISTA.
fn near(problem: &Problem<f64>, tied: bool) -> Params<f64> {
    let (draws, mut params) = (Stream::new(8, 0), problem.ista(tied, 0.3));
    let mut at = 0;
    let mut off = |x: &mut f64| {
        at += 1;
        *x *= 1.0 + 0.05 * draws.normal(at);
    };
    params.weights.iter_mut().flatten().for_each(&mut off);
    params.recurrent.iter_mut().for_each(&mut off);
    params.steps.iter_mut().chain(&mut params.thresholds).for_each(&mut off);
    params
}

fn numbers(params: &mut Params<f64>) -> Vec<&mut f64> {
    let matrices = params.weights.iter_mut().flatten().chain(&mut params.recurrent);
    matrices.chain(&mut params.steps).chain(&mut params.thresholds).collect()
}

fn given(cell: LayerType) -> Lista {
    Lista { cell, n_layers: 3, ..Lista::default() }
}

#[test]
fn gradients_are_finite_differences() {
    for cell in LAYER_TYPES {
        for (supervised, positive, tied, select) in [
            (true, false, false, 0.0),
            (false, false, true, 0.0),
            (false, true, false, 0.0),
            (true, false, false, 9.5),
        ] {
            let tied = tied && cell.by_layer();
            let settings = Lista { positive_code: positive, support_selection: select, tied, ..given(cell) };
            let Fixture { problem, x, codes, .. } = made(&settings);
            let mut params = near(&problem, tied);
            let target = if supervised { Target::Codes(&codes) } else { Target::Objective };
            let loss = |params: &Params<f64>| {
                let across = params.across(&problem);
                Net { problem: &problem, params, across: &across }.loss(&x, target, 3)
            };
            let across = params.across(&problem);
            let (sum, g) = Net { problem: &problem, params: &params, across: &across }.gradient(&x, target, (0, 3));
            assert!((sum - loss(&params)).abs() <= 1e-12 * sum);
            let flat = |g: &super::Gradient| -> Vec<f64> {
                let matrices = g.weights.iter().flatten().chain(&g.recurrent);
                matrices.chain(&g.steps).chain(&g.thresholds).copied().collect()
            };
            let all = flat(&g);
            let draws = Stream::new(5, 0);
            let len = numbers(&mut params).len();
            assert_eq!(len, all.len(), "{cell:?}");
            // Along random directions of each kind of parameter, and of all.
            for trial in 0..4u64 {
                let direction: Vec<f64> = (0..len as u64).map(|i| draws.normal(1000 * trial + i)).collect();
                let eps = 1e-6;
                let moved = |by: f64| {
                    let mut params = params.clone();
                    numbers(&mut params)
                        .into_iter()
                        .zip(&direction)
                        .for_each(|(x, d)| *x += by * d * x.abs());
                    loss(&params)
                };
                let slope = (moved(eps) - moved(-eps)) / (2.0 * eps);
                let sizes: Vec<f64> = numbers(&mut params).into_iter().map(|x| x.abs()).collect();
                let want: f64 = all.iter().zip(&direction).zip(&sizes).map(|((g, d), s)| g * d * s).sum();
                let error = (slope - want).abs() / slope.abs().max(want.abs()).max(1e-3);
                assert!(error < 1e-6, "{cell:?} {supervised} {positive} {select}: {slope}, not {want}");
            }
            // A part of the layers has a part of the gradient.
            let (_, last) = Net { problem: &problem, params: &params, across: &across }.gradient(&x, target, (2, 3));
            if !tied && cell != LayerType::GregorLecun {
                let close = |a: &[f64], b: &[f64]| {
                    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * a.abs().max(1.0))
                };
                assert!(g.weights.iter().zip(&last.weights).skip(2).all(|(a, b)| close(a, b)));
                let tails = [(&g.steps, &last.steps), (&g.thresholds, &last.thresholds)];
                assert!(tails.iter().all(|(a, b)| a.is_empty() || close(&a[2..], &b[2..])));
            }
        }
    }
}

#[test]
fn layers_are_loops_over_entries() {
    for cell in LAYER_TYPES {
        for positive in [false, true] {
            let settings = Lista { positive_code: positive, support_selection: 9.5, ..given(cell) };
            let Fixture { problem, x, .. } = made(&settings);
            let params = near(&problem, false);
            let across = params.across(&problem);
            let net = Net { problem: &problem, params: &params, across: &across };
            let (m, p) = (problem.m, problem.p);
            let mut z = vec![0.0; SHAPE.0 * m];
            net.codes(&x, &mut z, 3, &mut Buffers::default(), |_, _| {});
            for (x, z) in x.chunks(p).zip(z.chunks(m)) {
                let want = naive(&problem, &params, x);
                assert!(
                    z.iter().zip(&want).all(|(z, w)| (z - w).abs() < 1e-12),
                    "{cell:?}: {z:?}, not {want:?}"
                );
            }
        }
    }
}

/// One row, entry by entry.
fn naive(problem: &Problem<f64>, params: &Params<f64>, x: &[f64]) -> Vec<f64> {
    let (m, p) = (problem.m, problem.p);
    let mut z = vec![0.0; m];
    for l in 0..problem.n_layers {
        let matrix = |j: usize, c: usize| match problem.cell {
            LayerType::Step => problem.atoms[j * p + c],
            LayerType::Alista => problem.analytic.as_ref().unwrap().0[j * p + c],
            LayerType::GregorLecun => params.weights[0][j * p + c],
            _ => params.weights[l][j * p + c],
        };
        let decoder = |j: usize, c: usize| match problem.cell {
            LayerType::Lista => params.weights[l][j * p + c],
            _ => problem.atoms[j * p + c],
        };
        let step = params.steps.get(l).copied().unwrap_or(1.0);
        let theta = match problem.cell {
            LayerType::Step => step * problem.alpha,
            LayerType::GregorLecun => params.thresholds[0],
            _ => params.thresholds[l],
        };
        let v: Vec<f64> = (0..m)
            .map(|j| match problem.cell {
                LayerType::GregorLecun => {
                    let recurrent: f64 = (0..m).map(|k| z[k] * params.recurrent[k * m + j]).sum();
                    recurrent + (0..p).map(|c| x[c] * matrix(j, c)).sum::<f64>()
                }
                _ => {
                    let r = |c: usize| x[c] - (0..m).map(|k| z[k] * decoder(k, c)).sum::<f64>();
                    z[j] + step * (0..p).map(|c| r(c) * matrix(j, c)).sum::<f64>()
                }
            })
            .collect();
        let selected =
            if problem.select > 0.0 { (problem.select * (l + 1) as f64 / 100.0 * m as f64) as usize } else { 0 };
        let size = |j: usize| if problem.positive { v[j] } else { v[j].abs() };
        for j in 0..m {
            let theta = theta * problem.scale.as_ref().map_or(1.0, |scale| scale[j]);
            let rank = (0..m).filter(|&k| size(k) > size(j) || (size(k) == size(j) && k < j)).count();
            z[j] = match () {
                () if size(j) <= theta => 0.0,
                () if rank < selected => v[j],
                () => v[j] - theta * v[j].signum(),
            };
        }
    }
    z
}

#[test]
fn the_initial_network_is_ista() {
    for cell in LAYER_TYPES.into_iter().filter(|cell| *cell != LayerType::Alista) {
        for positive in [false, true] {
            let settings = Lista { positive_code: positive, n_layers: 9, ..given(cell) };
            let Fixture { problem, atoms, x, .. } = made(&settings);
            let params = problem.ista(false, 0.0);
            let across = params.across(&problem);
            let net = Net { problem: &problem, params: &params, across: &across };
            let (mut z, mut want) = (vec![0.0; SHAPE.0 * problem.m], vec![0.0; SHAPE.0 * problem.m]);
            net.codes(&x, &mut z, 9, &mut Buffers::default(), |_, _| {});
            let lasso = Lasso { positive, stop: StoppingRule::Passes(9), ..Lasso::of(0.2) };
            Proximal::ista(lasso).code(&atoms, &x, &mut want, &mut Work::default());
            let most = want.iter().fold(0.0f64, |most, z| most.max(z.abs()));
            let error = z.iter().zip(&want).fold(0.0f64, |e, (z, w)| e.max((z - w).abs()));
            assert!(error < 1e-14 * most.max(1.0) * 10.0, "{cell:?}: {error}");
        }
    }
}

#[test]
fn encoder_vectors_of_alista_have_the_least_norm() {
    let Fixture { problem, .. } = made(&given(LayerType::Alista));
    let (m, p) = (problem.m, problem.p);
    let w = &problem.analytic.as_ref().unwrap().0;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let row = |a: &[f64], j: usize| a[j * p..(j + 1) * p].to_vec();
    for j in 0..m {
        assert!((dot(&row(w, j), &row(&problem.atoms, j)) - 1.0).abs() < 1e-12);
        // The gradient of ||W A'|| by w_j, for atoms of length 1, is along a_j.
        let unit = |k: usize| {
            let a = row(&problem.atoms, k);
            let length = dot(&a, &a).sqrt();
            a.into_iter().map(|x| x / length).collect::<Vec<f64>>()
        };
        let slope: Vec<f64> =
            (0..p).map(|c| (0..m).map(|k| dot(&row(w, j), &unit(k)) * unit(k)[c]).sum()).collect();
        let cosine = dot(&slope, &unit(j)) / dot(&slope, &slope).sqrt();
        assert!((cosine - 1.0).abs() < 1e-12, "atom {j}: {cosine}");
    }
    // Fewer atoms than columns: `a_j w_j = 1` up to the regularisation of a singular matrix.
    let few = Matrix::from_fn(3, 8, |j, c| f64::from(u8::from(j == c)) + 0.1);
    let atoms = Atoms::<f64>::new(&few);
    let problem = Problem::new(&given(LayerType::Alista), &atoms, 0.2).unwrap();
    let w = &problem.analytic.as_ref().unwrap().0;
    assert!((0..3).all(|j| (dot(&w[j * 8..(j + 1) * 8], few.row(j)) - 1.0).abs() < 1e-6));
}
