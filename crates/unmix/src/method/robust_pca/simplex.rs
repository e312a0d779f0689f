//! Least absolute deviations of a row by the simplex method, with the line search of Barrodale & Roberts (1973), which passes sign changes:
//! for rows in which the cells of residual 0 are not identified by least squares.

use super::l1::{Deviations, dot};
use crate::num::{Matrix, order};

/// A vertex of the linear programme: the interpolated cells, one for each component.
struct Vertex {
    cells: Vec<usize>,
    /// Inverse of the columns of `V` at these cells: row `i` belongs to component `i`, column `k` to cell `k`.
    inverse: Matrix<f64>,
    /// Signs of the residuals of all other cells; 0 for those of the vertex.
    signs: Vec<f64>,
}

impl Deviations<'_> {
    /// Simplex steps from the vertex near `code`; `None` if the columns of `V` do not have full rank.
    pub(super) fn pivots(&self, code: &[f64], size: f64) -> Option<(Vec<f64>, f64)> {
        let mut at = self.vertex(&self.residuals(code))?;
        let r = self.v.rows();
        for _ in 0..50 + 20 * r {
            let right = self.products(&at.signs);
            // Multipliers of the vertex's cells, from V y = 0.
            let y: Vec<f64> =
                (0..r).map(|k| -(0..r).map(|i| at.inverse[(i, k)] * right[i]).sum::<f64>()).collect();
            let (leaving, most) =
                y.iter().enumerate().fold((0, 0.0f64), |best, (k, y)| match y.abs() > best.1 {
                    true => (k, y.abs()),
                    false => best,
                });
            let (code, left) = self.at(&at);
            if most <= 1.0 + 1e-9 {
                let mut all = at.signs.clone();
                at.cells.iter().zip(&y).for_each(|(j, y)| all[*j] = *y);
                let gap = self.gap(&left, all, size);
                return Some((code, gap));
            }
            if !self.step(&mut at, leaving, y[leaving], &left) {
                break;
            }
        }
        let (code, left) = self.at(&at);
        let gap = self.gap(&left, at.signs.clone(), size);
        Some((code, gap))
    }

    /// Code of a vertex, and its residuals.
    fn at(&self, vertex: &Vertex) -> (Vec<f64>, Vec<f64>) {
        let r = self.v.rows();
        let code: Vec<f64> =
            (0..r).map(|i| (0..r).map(|k| vertex.inverse[(i, k)] * self.x[vertex.cells[k]]).sum()).collect();
        let mut left = self.residuals(&code);
        vertex.cells.iter().for_each(|j| left[*j] = 0.0);
        (code, left)
    }

    /// The vertex of the cells with the smallest residuals, as far as they are linearly independent.
    fn vertex(&self, left: &[f64]) -> Option<Vertex> {
        let (r, m) = (self.v.rows(), self.x.len());
        let sizes: Vec<f64> = left.iter().map(|x| x.abs()).collect();
        let (mut cells, mut basis) = (Vec::new(), Vec::<Vec<f64>>::new());
        for j in order::ascending(&sizes) {
            let column: Vec<f64> = (0..r).map(|i| self.v[(i, j)]).collect();
            let mut rest = column.clone();
            for _ in 0..2 {
                for b in &basis {
                    let along = dot(b, &rest);
                    rest.iter_mut().zip(b).for_each(|(x, b)| *x -= along * b);
                }
            }
            let length = dot(&rest, &rest).sqrt();
            if length > 1e-3 * dot(&column, &column).sqrt() && length > 1e-9 {
                basis.push(rest.iter().map(|x| x / length).collect());
                cells.push(j);
            }
            if cells.len() == r {
                break;
            }
        }
        if cells.len() < r {
            return None;
        }
        let inverse = inverted(&Matrix::from_fn(r, r, |k, i| self.v[(i, cells[k])]))?;
        let mut signs: Vec<f64> = left.iter().map(|l| if *l < 0.0 { -1.0 } else { 1.0 }).collect();
        let mut vertex = Vertex { cells, inverse, signs: vec![0.0; m] };
        // Signs of the residuals of this vertex; those of cells with residual 0 are unchanged.
        let (_, now) = self.at(&vertex);
        signs.iter_mut().zip(&now).filter(|(_, l)| **l != 0.0).for_each(|(s, l)| *s = l.signum());
        vertex.cells.iter().for_each(|j| signs[*j] = 0.0);
        vertex.signs = signs;
        Some(vertex)
    }

    /// Exchanges cell number `leaving` of the vertex, whose multiplier `y` exceeds 1 in absolute value, for the cell at the minimum along
    /// that edge. Returns false if no cell enters.
    fn step(&self, at: &mut Vertex, leaving: usize, y: f64, left: &[f64]) -> bool {
        let r = self.v.rows();
        let sign = -y.signum();
        let direction: Vec<f64> = (0..r).map(|i| sign * at.inverse[(i, leaving)]).collect();
        let rates = self.fitted(&direction);
        let mut breakpoints: Vec<(f64, usize)> = Vec::new();
        for (j, rate) in rates.iter().enumerate() {
            if at.signs[j] * rate > 1e-12 {
                breakpoints.push(((left[j] / rate).max(0.0), j));
            }
        }
        breakpoints.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut slope = 1.0 - y.abs();
        for (_, j) in breakpoints {
            slope += 2.0 * rates[j].abs();
            if slope < 0.0 {
                at.signs[j] = -at.signs[j];
                continue;
            }
            let column: Vec<f64> = (0..r).map(|i| self.v[(i, j)]).collect();
            if !exchanged(&mut at.inverse, leaving, &column) {
                return false;
            }
            at.signs[at.cells[leaving]] = y.signum();
            at.cells[leaving] = j;
            at.signs[j] = 0.0;
            return true;
        }
        false
    }
}

/// Updates the inverse after row `k` of the matrix was replaced by `row`; returns whether it exists.
fn exchanged(inverse: &mut Matrix<f64>, k: usize, row: &[f64]) -> bool {
    let r = row.len();
    let image: Vec<f64> = (0..r).map(|j| (0..r).map(|i| row[i] * inverse[(i, j)]).sum()).collect();
    if image[k].abs() < 1e-12 {
        return false;
    }
    for i in 0..r {
        let share = inverse[(i, k)] / image[k];
        for (j, image) in image.iter().enumerate() {
            let unit = f64::from(u8::from(j == k));
            inverse[(i, j)] -= share * (image - unit);
        }
    }
    true
}

/// The inverse by elimination with complete pivoting; `None` for a singular matrix.
fn inverted(a: &Matrix<f64>) -> Option<Matrix<f64>> {
    let r = a.rows();
    let mut both = Matrix::from_fn(r, 2 * r, |i, j| match j < r {
        true => a[(i, j)],
        false => f64::from(u8::from(j - r == i)),
    });
    for c in 0..r {
        let best = (c..r).max_by(|&a, &b| both[(a, c)].abs().total_cmp(&both[(b, c)].abs()))?;
        if both[(best, c)].abs() < 1e-14 {
            return None;
        }
        for j in 0..2 * r {
            (both[(c, j)], both[(best, j)]) = (both[(best, j)], both[(c, j)]);
        }
        let pivot = both[(c, c)];
        both.row_mut(c).iter_mut().for_each(|x| *x /= pivot);
        let row = both.row(c).to_vec();
        for i in (0..r).filter(|i| *i != c) {
            let share = both[(i, c)];
            both.row_mut(i).iter_mut().zip(&row).for_each(|(x, y)| *x -= share * y);
        }
    }
    Some(Matrix::from_fn(r, r, |i, j| both[(i, r + j)]))
}
