//! The equations of the variational posterior, written out in plain loops, hold at the solution.

use super::Design;
use crate::made::numbers;
use serde_json::json;
use unmix::internal::num::{Matrix, factor};

/// Posteriors of one side: means and covariances of factors and offset, in the units of the cells.
struct Side {
    means: Vec<Vec<f64>>,
    covariances: Vec<Matrix<f64>>,
}

fn inverse(a: &Matrix<f64>) -> Matrix<f64> {
    let (values, vectors) = factor::eigh(a).unwrap();
    let k = a.rows();
    Matrix::from_fn(k, k, |i, j| (0..k).map(|l| vectors[(l, i)] * vectors[(l, j)] / values[l]).sum())
}

fn triangles(numbers: &[f64], k: usize) -> Vec<Matrix<f64>> {
    let entry = |line: &[f64], a: usize, b: usize| line[a.max(b) * (a.max(b) + 1) / 2 + a.min(b)];
    let of = |line: &[f64]| Matrix::from_fn(k, k, |a, b| entry(line, a, b));
    numbers.chunks_exact(k * (k + 1) / 2).map(of).collect()
}

/// The step of one side: `F = (diag(1/prior) + sum ([v;1][v;1]' + [cov v, 0; 0, 0]) / noise)⁻¹`, mean
/// `F sum ([v;1] (y - m - c) - [cov(v, c); 0]) / noise`; `cell(i, j)` is the cell without the common mean.
fn step(n: usize, cell: &dyn Fn(usize, usize) -> f64, others: &Side, prior: &[f64], noise: f64) -> Side {
    let q = prior.len();
    let (k, m) = (q - 1, others.means.len());
    let mut out = Side { means: Vec::new(), covariances: Vec::new() };
    for i in 0..n {
        let mut precision = Matrix::from_fn(q, q, |a, b| if a == b { 1.0 / prior[a] } else { 0.0 });
        let mut right = vec![0.0; q];
        for j in (0..m).filter(|j| !cell(i, *j).is_nan()) {
            let (v, h) = (&others.means[j], &others.covariances[j]);
            let x: Vec<f64> = v[..k].iter().copied().chain([1.0]).collect();
            for a in 0..q {
                let cross = if a < k { h[(a, k)] } else { 0.0 };
                right[a] += (x[a] * (cell(i, j) - v[k]) - cross) / noise;
                for b in 0..q {
                    let error = if a < k && b < k { h[(a, b)] } else { 0.0 };
                    precision[(a, b)] += (x[a] * x[b] + error) / noise;
                }
            }
        }
        let f = inverse(&precision);
        out.means.push((0..q).map(|a| (0..q).map(|b| f[(a, b)] * right[b]).sum()).collect());
        out.covariances.push(f);
    }
    out
}

fn largest(a: &Side, b: &Side) -> f64 {
    let means = a.means.iter().flatten().zip(b.means.iter().flatten());
    let all = a.covariances.iter().flat_map(|c| c.as_slice());
    let covariances = all.zip(b.covariances.iter().flat_map(|c| c.as_slice()));
    means.chain(covariances).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
}

#[test]
fn the_solution_satisfies_the_equations_of_rows_columns_noise_and_sizes() {
    let design = Design::new((40, 30, 2), 0.5, 0.4, 21).with_offsets(2.0, 0.7, 1.2, 8);
    let model = design.fit(json!({"n_components": 2, "tol": 1e-13, "max_iter": 3000}));
    let (n, p, k) = (design.n, design.p, 2);
    let seen: Vec<f64> = design.x.iter().copied().filter(|x| !x.is_nan()).collect();
    let m = seen.iter().sum::<f64>() / seen.len() as f64;
    let (mean, components) = (numbers(&model, "mean"), model.tensor("components").unwrap().to_matrix());
    let (codes, offsets) = (model.tensor("row_codes").unwrap().to_matrix(), numbers(&model, "row_offsets"));
    let (noise, sd) = (numbers(&model, "noise_variance")[0], numbers(&model, "row_offset_scale")[0]);
    let columns = Side {
        means: (0..p).map(|j| vec![components[(0, j)], components[(1, j)], mean[j] - m]).collect(),
        covariances: triangles(&numbers(&model, "column_errors"), k + 1),
    };
    let rows = Side {
        means: (0..n).map(|i| vec![codes[(i, 0)], codes[(i, 1)], offsets[i]]).collect(),
        covariances: triangles(&numbers(&model, "row_errors"), k + 1),
    };
    // The last step is that of the rows.
    let cell = |i: usize, j: usize| design.x[i * p + j] - m;
    let again = step(n, &cell, &columns, &[1.0, 1.0, sd * sd], noise);
    assert!(largest(&rows, &again) < 1e-12, "rows: {:e}", largest(&rows, &again));
    let moment = |side: &Side, a: usize, b: usize| {
        let one = side.means.iter().zip(&side.covariances).map(|(x, c)| x[a] * x[b] + c[(a, b)]);
        one.sum::<f64>() / side.means.len() as f64
    };
    let g = [moment(&columns, 0, 0), moment(&columns, 1, 1), moment(&columns, 2, 2)];
    let again = step(p, &|j, i| cell(i, j), &rows, &g, noise);
    assert!(largest(&columns, &again) < 1e-5, "columns: {:e}", largest(&columns, &again));
    for a in 0..k {
        for b in 0..k {
            let one = f64::from(u8::from(a == b));
            assert!((moment(&rows, a, b) - one).abs() < 1e-5, "rows {a}, {b}: {}", moment(&rows, a, b));
            assert!((moment(&columns, a, b) - one * g[a]).abs() < 1e-5 * g[0], "columns {a}, {b}");
        }
    }
    assert!((moment(&rows, 2, 2) / sd / sd - 1.0).abs() < 1e-5);
    // The noise is the mean of expected squares.
    let mut squares = 0.0;
    for (at, x) in design.x.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
        let (i, j) = (at / p, at % p);
        let (a, v, f, h) = (&rows.means[i], &columns.means[j], &rows.covariances[i], &columns.covariances[j]);
        let fitted = m + a[2] + v[2] + a[0] * v[0] + a[1] * v[1];
        squares += (x - fitted).powi(2);
        for c in 0..3 {
            for d in 0..3 {
                let one = |x: &[f64], c: usize| if c < k { x[c] } else { 1.0 };
                squares += one(v, c) * f[(c, d)] * one(v, d) + one(a, c) * h[(c, d)] * one(a, d);
                if c < k && d < k {
                    squares += f[(c, d)] * h[(c, d)];
                }
            }
        }
    }
    let want = squares / seen.len() as f64;
    assert!((noise / want - 1.0).abs() < 1e-6, "{noise}, not {want}");
}
