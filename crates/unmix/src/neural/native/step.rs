//! An approximate Newton step towards the published fixed point, from the sums of one pass.

use super::NativeSums;
use crate::error::Result;
use crate::num::gmres::gmres;
use crate::num::{Matrix, factor};

/// Lower bound of a curvature, as a fraction of its upper bound.
const LEAST_CURVATURE_SHARE: f64 = 0.3;
/// Maximum length of a step, and maximum angle of a rotation.
const LONGEST_STEP: f64 = 0.3;

/// An approximate Newton step, and the residual before it.
pub(super) struct Step {
    /// The change of the columns, as rows.
    pub(super) step: Matrix<f64>,
    /// The root of the mean square over columns of `|R_j| / |G_j|`, where `R_j` is the component of `G_j` orthogonal to the column.
    pub(super) residual: f64,
    /// Pairs whose curvature is not positive.
    pub(super) saddles: Vec<(usize, usize)>,
}

impl Step {
    /// The step from columns `w`, given as rows, with standard deviations `sigma`, from the sums over `n` rows. `moments` are the variances
    /// along the coordinates. `leave` decides whether a pair is moved away from its saddle.
    pub(super) fn new(
        sums: &NativeSums,
        w: &Matrix<f64>,
        sigma: &[f64],
        moments: &[f64],
        n: f64,
        mut leave: impl FnMut(usize, usize) -> bool,
    ) -> Result<Self> {
        let (k, r) = (w.rows(), w.cols());
        let squares: Vec<f64> = sigma.iter().map(|s| s * s).collect();
        let mean = |which: usize, i: usize, j: usize| sums.pairs[(which * k + i, j)] / n;
        let pair_slope = Matrix::from_fn(k, k, |i, j| squares[i] * mean(0, i, j));
        let response = Matrix::from_fn(k, k, |i, j| squares[i] * mean(1, i, j));
        let crossed = Matrix::from_fn(k, k, |i, j| sigma[i] * sigma[j] * mean(2, i, j));
        let [b, score_slope, slope] =
            [0, 1, 2].map(|at| sums.alone[at * k..(at + 1) * k].iter().map(|x| x / n).collect::<Vec<f64>>());
        let g = Matrix::from_fn(k, r, |j, i| sums.gradient[(j, i)] / n);
        // The component orthogonal to the column, in the span of the columns and outside of it.
        let along: Vec<f64> = (0..k).map(|j| dot(w.row(j), g.row(j))).collect();
        let rest = Matrix::from_fn(k, r, |j, i| g[(j, i)] - along[j] * w[(j, i)]);
        let seen: Vec<usize> =
            (0..k).filter(|&j| dot(g.row(j), g.row(j)).sqrt() > 1e-12 * squares[j]).collect();
        let share = |j: &usize| dot(rest.row(*j), rest.row(*j)) / dot(g.row(*j), g.row(*j));
        let residual = (seen.iter().map(share).sum::<f64>() / seen.len().max(1) as f64).sqrt();
        let dual = crate::num::dual(w)?;
        let inside = factor::multiply_transposed(&dual, &rest);
        let mut outside = rest.clone();
        factor::subtract_product(&mut outside, &inside.transposed(), w);

        let bound: Vec<f64> = (0..k).map(|j| (squares[j] * b[j]).abs().max(f64::MIN_POSITIVE)).collect();
        let Pairs { target, curved, saddles } = Pairs::new(&pair_slope, &squares, &b, &bound);
        let mut rotation = Self::rotation(&target, &crossed, &response, &slope, &inside);
        for &(i, j) in &saddles {
            if curved[(i, j)] >= -0.1 * target[(i, j)] || !leave(i, j) {
                continue;
            }
            // Near a saddle the step is short for any curvature: the pair is rotated by the maximum angle, in the same direction.
            let angle = (rotation[(i, j)] - rotation[(j, i)]).signum() * LONGEST_STEP;
            (rotation[(i, j)], rotation[(j, i)]) = (angle, -angle);
        }
        let mut step = factor::multiply(&rotation.transposed(), w);
        let away = step_outside_span(&outside, w, &dual, moments, &bound, &score_slope);
        let longest = (0..k).map(|j| dot(away.row(j), away.row(j)).sqrt()).fold(0.0, f64::max);
        let longest = rotation.as_slice().iter().fold(longest, |m, x| m.max(x.abs()));
        let scale = if longest > LONGEST_STEP { LONGEST_STEP / longest } else { 1.0 };
        step.as_mut_slice().iter_mut().zip(away.as_slice()).for_each(|(s, a)| *s = scale * (*s + a));
        Ok(Self { step, residual, saddles })
    }

    /// Solves `T o K + (Q0 (K + K')) diag(gamma) + (Q - dg(Q0) gamma') o (K + K') = -R` for `K` with a zero diagonal.
    fn rotation(
        target: &Matrix<f64>,
        crossed: &Matrix<f64>,
        response: &Matrix<f64>,
        slope: &[f64],
        inside: &Matrix<f64>,
    ) -> Matrix<f64> {
        let k = slope.len();
        let clear = |m: &mut Matrix<f64>| (0..k).for_each(|i| m[(i, i)] = 0.0);
        let own = Matrix::from_fn(k, k, |i, j| response[(i, j)] - crossed[(i, i)] * slope[j]);
        let as_matrix = |x: &[f64]| Matrix::from_vec(k, k, x.to_vec());
        let apply = |x: &[f64]| {
            let rotation = as_matrix(x);
            let even = Matrix::from_fn(k, k, |i, j| rotation[(i, j)] + rotation[(j, i)]);
            let spread = factor::multiply(crossed, &even);
            let mut out = Matrix::from_fn(k, k, |i, j| {
                target[(i, j)] * rotation[(i, j)] + spread[(i, j)] * slope[j] + own[(i, j)] * even[(i, j)]
            });
            clear(&mut out);
            out.into_vec()
        };
        let precondition = |x: &[f64]| {
            let side = as_matrix(x);
            let mut out = Matrix::from_fn(k, k, |i, j| {
                let (a, d) = (target[(i, j)] + response[(i, j)], target[(j, i)] + response[(j, i)]);
                let (b, c) = (response[(i, j)], response[(j, i)]);
                let determinant = a * d - b * c;
                if determinant == 0.0 {
                    side[(i, j)]
                } else {
                    (d * side[(i, j)] - b * side[(j, i)]) / determinant
                }
            });
            clear(&mut out);
            out.into_vec()
        };
        let mut side = Matrix::from_fn(k, k, |i, j| -inside[(i, j)]);
        clear(&mut side);
        as_matrix(&gmres(apply, precondition, side.as_slice(), 1e-3, 40, 3))
    }
}

/// Curvatures for a rotation of every pair of columns.
struct Pairs {
    /// Curvatures by which a step is divided: positive, and between [`LEAST_CURVATURE_SHARE`] and 1 times their bound.
    target: Matrix<f64>,
    /// The curvatures themselves.
    curved: Matrix<f64>,
    /// Pairs whose curvature is not positive.
    saddles: Vec<(usize, usize)>,
}

impl Pairs {
    fn new(pair_slope: &Matrix<f64>, squares: &[f64], b: &[f64], bound: &[f64]) -> Self {
        let k = squares.len();
        let (mut target, mut curved) = (Matrix::zeros(k, k), Matrix::<f64>::zeros(k, k));
        let mut saddles = Vec::new();
        for i in 0..k {
            for j in 0..k {
                let (wj, wi) =
                    (squares[j] / (squares[i] + squares[j]), squares[i] / (squares[i] + squares[j]));
                let most = bound[j] * wj + bound[i] * wi;
                let p = |i: usize, j: usize| pair_slope[(i, j)] - squares[j] * b[j];
                let effective = p(i, j) * wj + p(j, i) * wi;
                curved[(i, j)] = effective;
                if effective <= 0.0 && i < j {
                    saddles.push((i, j));
                }
                target[(i, j)] =
                    if effective > 0.0 { effective.clamp(LEAST_CURVATURE_SHARE * most, most) } else { most };
            }
        }
        Self { target, curved, saddles }
    }
}

/// The part of the step outside of the span of the columns, with a diagonal Hessian.
fn step_outside_span(
    outside: &Matrix<f64>,
    w: &Matrix<f64>,
    dual: &Matrix<f64>,
    moments: &[f64],
    bound: &[f64],
    score_slope: &[f64],
) -> Matrix<f64> {
    let mut away = Matrix::from_fn(outside.rows(), outside.cols(), |j, i| {
        let curvature =
            (bound[j] + moments[i] * score_slope[j]).clamp(LEAST_CURVATURE_SHARE * bound[j], bound[j]);
        -outside[(j, i)] / curvature
    });
    let back = factor::multiply_transposed(&away, dual);
    factor::subtract_product(&mut away, &back, w);
    away
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
