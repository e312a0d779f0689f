//! Certificates of codes: the duality gap of the lasso, from a recomputed residual in double precision.
//!
//! ```text
//! r = x - z A,   c = A r,   s = clip(x·r / ||r||², ± alpha / max|c|)
//! gap = 1/2 (1 - s)² ||r||² + sum_j (alpha |z_j| - s z_j c_j)  >=  P(z) - min P
//! ```
//!
//! Every term is non-negative, because `s r` is feasible: there is no cancellation between terms.

use super::Atoms;
use crate::num::{Matrix, Real, kernel, widest};

/// Quality of one code.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measure {
    /// `P = 1/2 ||x - z A||² + alpha ||z||_1`.
    pub objective: f64,
    /// Duality gap: an upper bound on `P` minus its minimum.
    pub gap: f64,
    /// Number of nonzero entries of the code.
    pub n_nonzero: usize,
    /// Squared error `||x - z A||²`, over the observed cells of the row.
    pub squared_error: f64,
    /// `||x||²`, over the observed cells.
    pub squared_norm: f64,
}

impl Measure {
    /// The gap relative to `||x||² / 2`, which tolerances bound; 0 for a row of zeros with a code of zeros.
    pub fn relative_gap(&self) -> f64 {
        if self.gap == 0.0 { 0.0 } else { self.gap / (0.5 * self.squared_norm) }
    }
}

/// Scale of the dual point: `wanted`, clipped to the interval from `-alpha / most` to `alpha / most`.
#[inline(always)]
pub(super) fn dual_scale(alpha: f64, most: f64, wanted: f64) -> f64 {
    if most <= 0.0 {
        return wanted;
    }
    let limit = alpha / most;
    wanted.min(limit).max(-limit)
}

/// Buffers of [`measure`].
#[derive(Default)]
pub struct Checked {
    x: Vec<f64>,
    residual: Vec<f64>,
    correlations: Vec<f64>,
}

/// Rows that are measured at a time.
const ROWS_PER_BLOCK: usize = 64;

/// Writes a measure for each of `codes` (`n x n_atoms`) of `rows` (`n x n_features`, NaN for missing cells) into `out`, for `penalty`
/// `(alpha, positive)`. `O(n_atoms n_features)` for each row, in double precision.
pub fn measure<T: Real>(
    atoms: &Atoms<T>,
    penalty: (f64, bool),
    rows: &[T],
    codes: &[T],
    out: &mut [Measure],
    checked: &mut Checked,
) {
    let (m, p) = (atoms.n_atoms(), atoms.n_features());
    let blocks = rows
        .chunks(ROWS_PER_BLOCK * p)
        .zip(codes.chunks(ROWS_PER_BLOCK * m))
        .zip(out.chunks_mut(ROWS_PER_BLOCK));
    for ((rows, codes), out) in blocks {
        let n = out.len();
        checked.residuals(atoms, rows, codes);
        checked.correlations.resize(n * m, 0.0);
        kernel::product(&mut checked.correlations, &checked.residual, atoms.across_wide(), n, p, m);
        for (i, (code, out)) in codes.chunks_exact(m).zip(out).enumerate() {
            let (x, r) = (&checked.x[i * p..(i + 1) * p], &checked.residual[i * p..(i + 1) * p]);
            *out = of_row(penalty, x, r, &checked.correlations[i * m..(i + 1) * m], code);
        }
    }
}

/// The gap of every code of `codes` (`n x n_atoms`) of rows `rows` (`n x n_features`), however they were computed.
pub fn lasso_gap(rows: &[f64], codes: &[f64], atoms: &Matrix<f64>, penalty: (f64, bool)) -> Vec<f64> {
    let mut out = vec![Measure::default(); rows.len() / atoms.cols().max(1)];
    measure(&Atoms::without_pairs(atoms), penalty, rows, codes, &mut out, &mut Checked::default());
    out.iter().map(|m| m.gap).collect()
}

impl Checked {
    /// Rows in double precision, and residuals `x - z A`; zeros for missing cells.
    fn residuals<T: Real>(&mut self, atoms: &Atoms<T>, rows: &[T], codes: &[T]) {
        let (m, p) = (atoms.n_atoms(), atoms.n_features());
        let (zero, x, residual) = (T::default(), &mut self.x, &mut self.residual);
        x.clear();
        x.extend(rows.iter().map(|x| x.to_f64()).map(|x| if x.is_nan() { 0.0 } else { x }));
        residual.clear();
        residual.extend_from_slice(x);
        widest(
            #[inline(always)]
            || {
                for (code, r) in codes.chunks_exact(m).zip(residual.chunks_exact_mut(p)) {
                    for (j, z) in code.iter().enumerate().filter(|(_, z)| **z != zero) {
                        let z = -z.to_f64();
                        for (r, a) in r.iter_mut().zip(atoms.wide.row(j)) {
                            *r = z.mul_add(*a, *r);
                        }
                    }
                }
            },
        );
        for (r, x) in residual.iter_mut().zip(rows) {
            *r = if x.to_f64().is_nan() { 0.0 } else { *r };
        }
    }
}

/// Measure of one row, from its residual, its correlations and its code.
fn of_row<T: Real>((alpha, positive): (f64, bool), x: &[f64], r: &[f64], c: &[f64], code: &[T]) -> Measure {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (norm, error) = (dot(x, x), dot(r, r));
    let size = |c: &f64| if positive { *c } else { c.abs() };
    let most = c.iter().map(size).fold(0.0, f64::max);
    let s = if error > 0.0 { dual_scale(alpha, most, dot(x, r) / error) } else { 0.0 };
    // For positive codes the lower bound of the dual scale is 0.
    let s = if positive { s.max(0.0) } else { s };
    let (mut size, mut gap, mut n_nonzero) = (0.0, 0.5 * (1.0 - s) * (1.0 - s) * error, 0);
    for (z, c) in code.iter().zip(c).filter(|(z, _)| **z != T::default()) {
        let z = z.to_f64();
        if positive && z < 0.0 {
            (size, gap) = (f64::INFINITY, f64::INFINITY);
        }
        size += z.abs();
        // Non-negative up to rounding.
        gap += (alpha * z.abs() - s * z * c).max(0.0);
        n_nonzero += 1;
    }
    Measure {
        objective: 0.5 * error + alpha * size,
        gap,
        n_nonzero,
        squared_error: error,
        squared_norm: norm,
    }
}
