//! The objective of RICA and its gradient, row by row, as in Le et al. (2011).

use super::sum;
use unmix::Matrix;
use unmix::method::rica::Penalty;

/// `(1/n) Σ ||W'W x - x||² + beta Σ_j g(w_j x)` over the rows `x`, without preprocessing, and its gradient; with `unit`, as a function
/// of `w_j / ||w_j||`.
pub(crate) fn rica(
    x: &[f64],
    w: &Matrix<f64>,
    beta: f64,
    penalty: Penalty,
    unit: bool,
) -> (f64, Matrix<f64>) {
    let (k, p) = (w.rows(), w.cols());
    let n = (x.len() / p) as f64;
    let length: Vec<f64> = (0..k).map(|i| sum(w.row(i).iter().map(|v| v * v)).sqrt()).collect();
    let used = Matrix::from_fn(k, p, |i, j| if unit { w[(i, j)] / length[i] } else { w[(i, j)] });
    let g = |y: f64| match penalty {
        Penalty::LogCosh => (y.cosh().ln(), y.tanh()),
        Penalty::SmoothL1 => ((y * y + 0.01).sqrt(), y / (y * y + 0.01).sqrt()),
        other => panic!("{other:?} has no second implementation here"),
    };
    let (mut values, mut gradient) = (Vec::new(), Matrix::zeros(k, p));
    for x in x.chunks_exact(p) {
        let y: Vec<f64> = (0..k).map(|i| sum((0..p).map(|j| used[(i, j)] * x[j]))).collect();
        let rest: Vec<f64> = (0..p).map(|j| sum((0..k).map(|i| used[(i, j)] * y[i])) - x[j]).collect();
        let back: Vec<f64> = (0..k).map(|i| sum((0..p).map(|j| used[(i, j)] * rest[j]))).collect();
        values.extend(rest.iter().map(|r| r * r / n));
        values.extend(y.iter().map(|&y| beta * g(y).0 / n));
        for i in 0..k {
            for j in 0..p {
                gradient[(i, j)] += (2.0 * (y[i] * rest[j] + back[i] * x[j]) + beta * g(y[i]).1 * x[j]) / n;
            }
        }
    }
    if unit {
        for i in 0..k {
            let along: f64 = (0..p).map(|j| gradient[(i, j)] * used[(i, j)]).sum();
            (0..p).for_each(|j| gradient[(i, j)] = (gradient[(i, j)] - used[(i, j)] * along) / length[i]);
        }
    }
    (sum(values), gradient)
}
