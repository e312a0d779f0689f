//! Rows with rare modules: few rows with smaller values in few columns, on a background of correlated columns.

use super::{PlantedBiclusters, check_tables};
use crate::error::{Error, Result};
use crate::num::Matrix;
use crate::num::random::Stream;

/// Shape and strength of rare modules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RareModules {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of columns.
    pub n_features: usize,
    /// Number of modules.
    pub n_modules: usize,
    /// Numbers of rows and of columns of a module.
    pub module_shape: (usize, usize),
    /// Mean amount by which cells of a module are lower, in standard deviations of the noise.
    pub shift: f64,
    /// Number of factors of the background.
    pub n_factors: usize,
}

impl Default for RareModules {
    fn default() -> Self {
        Self {
            n_samples: 300,
            n_features: 800,
            n_modules: 5,
            module_shape: (8, 12),
            shift: 4.0,
            n_factors: 8,
        }
    }
}

/// Standard normal noise, a background `F L` of normal factors (loadings of standard deviation 0.5), and modules whose cells are lower by
/// `shift` times a uniform number between 0.7 and 1.3; then every column is standardised. Modules may overlap.
///
/// # Errors
///
/// Modules with more rows or columns than the data, fewer than two rows, a shift that is not finite, tables that do not fit in memory.
pub fn rare_modules(of: &RareModules, seed: u64) -> Result<PlantedBiclusters> {
    let (n, p, (a, b)) = (of.n_samples, of.n_features, of.module_shape);
    if n < 2 {
        return Err(Error::setting("n_samples", n, "must be at least 2", ""));
    }
    if a > n || b > p {
        let why = format!("must be at most ({n}, {p}), the numbers of rows and columns");
        return Err(Error::setting("module_shape", format!("({a}, {b})"), why, "give smaller modules"));
    }
    if !of.shift.is_finite() {
        return Err(Error::setting("shift", of.shift, "must be finite", "give a number such as 4"));
    }
    check_tables(&[(n, p), (of.n_factors, p), (of.n_modules, n), (of.n_modules, p)])?;
    let own = |part: u64| Stream::new(seed, 20_000 + part);
    let (noise, factors, loadings) = (own(0), own(1), own(2));
    let mut x = Matrix::from_fn(n, p, |i, j| noise.normal((i * p + j) as u64));
    let l = Matrix::from_fn(of.n_factors, p, |f, j| 0.5 * loadings.normal((f * p + j) as u64));
    for i in 0..n {
        for f in 0..of.n_factors {
            let z = factors.normal((i * of.n_factors + f) as u64);
            x.row_mut(i).iter_mut().zip(l.row(f)).for_each(|(x, l)| *x += z * l);
        }
    }
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    for module in 0..of.n_modules {
        let (row, column) = members(of, module, &own(3));
        lower(&mut x, &row, &column, |i, j| {
            let draw = ((module * n + i) * p + j) as u64;
            of.shift * (0.7 + 0.6 * own(4).uniform(draw))
        });
        rows.push(row);
        columns.push(column);
    }
    standardise(&mut x);
    Ok(PlantedBiclusters { x, rows, columns })
}

/// The rows and columns of a module, drawn without repetition.
fn members(of: &RareModules, module: usize, places: &Stream) -> (Vec<bool>, Vec<bool>) {
    let (n, p) = (of.n_samples, of.n_features);
    let some = |which: usize, size: usize, all: usize| {
        let mut order: Vec<usize> = (0..all).collect();
        places.shuffle(((2 * module + which) * n.max(p)) as u64, &mut order);
        let mut member = vec![false; all];
        order[..size].iter().for_each(|&i| member[i] = true);
        member
    };
    (some(0, of.module_shape.0, n), some(1, of.module_shape.1, p))
}

fn lower(x: &mut Matrix<f64>, rows: &[bool], columns: &[bool], by: impl Fn(usize, usize) -> f64) {
    for i in (0..rows.len()).filter(|&i| rows[i]) {
        for j in (0..columns.len()).filter(|&j| columns[j]) {
            x[(i, j)] -= by(i, j);
        }
    }
}

fn standardise(x: &mut Matrix<f64>) {
    let n = x.rows();
    for j in 0..x.cols() {
        let mean = (0..n).map(|i| x[(i, j)]).sum::<f64>() / n as f64;
        let variance = (0..n).map(|i| (x[(i, j)] - mean).powi(2)).sum::<f64>() / n as f64;
        (0..n).for_each(|i| x[(i, j)] = (x[(i, j)] - mean) / variance.sqrt());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_low_in_standardised_columns() {
        let of = RareModules { shift: 5.0, ..RareModules::default() };
        let made = rare_modules(&of, 3).unwrap();
        assert_eq!((made.x.rows(), made.x.cols(), made.rows.len()), (300, 800, 5));
        for j in [0, 17, 799] {
            let column: Vec<f64> = (0..300).map(|i| made.x[(i, j)]).collect();
            assert!(column.iter().sum::<f64>().abs() < 1e-9);
            assert!((column.iter().map(|x| x * x).sum::<f64>() / 300.0 - 1.0).abs() < 1e-9);
        }
        let mut cells = Vec::new();
        for (row, column) in made.rows.iter().zip(&made.columns) {
            assert_eq!((row.iter().filter(|r| **r).count(), column.iter().filter(|c| **c).count()), (8, 12));
            for i in (0..300).filter(|&i| row[i]) {
                cells.extend((0..800).filter(|&j| column[j]).map(|j| made.x[(i, j)]));
            }
        }
        // Columns have a variance of about 1 + 8 / 4 without a module, and 0.65 more with one: (-5 + 0.13) / 1.91.
        let mean = cells.iter().sum::<f64>() / cells.len() as f64;
        assert!((-2.9..-2.2).contains(&mean), "{mean}");
        assert_eq!(rare_modules(&of, 3).unwrap().x, made.x);
        assert!(rare_modules(&RareModules { module_shape: (8, 900), ..of }, 0).is_err());
    }
}
