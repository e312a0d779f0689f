//! A few canonical directions orthogonal to a few rows, from the roots of a secular equation: memory and time of some passes over the rows.
//!
//! With `E = diag(0, 1, ..., p-1)` and orthonormal rows `V`, the restriction of `E` to the complement of the rows has the eigenpairs
//!
//! ```text
//! x = (E - e)⁻¹ V' c,   S(e) c = 0,   S(e) = V (E - e)⁻¹ V'
//! ```
//!
//! The inertia of the matrix `[E - e, V'; V, 0]` (Haynsworth 1968, Linear Algebra and its Applications 1:73) gives the number of eigenvalues below `e`:
//! that of the entries of `E` below `e`, minus the number of negative eigenvalues of `S(e)`. Eigenvalue `i` is between entries `i` and `i + r` of
//! `E`. It is found by bisection of its distance from the nearest entry, so that the small differences `E - e` have no cancellation.
//!
//! The distance `d` from an entry in whose column `f` the rows are nearly 0 is too small for that. With `R`, the sum `S(e)` without the column at the
//! entry itself, `R c = f f'c / d`, so that `c = R⁻¹ f` and `x` is -1 at the entry, up to errors of `d` times the other numbers.

use super::super::{Matrix, dot, factor, parallel};
use crate::error::Result;

/// Largest number of directions times the square of the number of rows: beyond, the search in a Krylov space is expected to be faster.
const MOST_PRODUCTS: usize = 1024;
/// Least distance of an eigenvalue from the nearest entry.
const LEAST_DISTANCE: f64 = 1e-9;
/// Columns whose sums one thread computes at a time.
const COLUMNS_PER_TASK: usize = 1 << 14;

/// Whether `m` directions orthogonal to `r` rows are few enough.
pub(super) fn are_few(r: usize, m: usize) -> bool {
    r > 0 && r.saturating_mul(r).saturating_mul(m) <= MOST_PRODUCTS
}

/// The first `m` directions; `None` if there are many rows, or if two eigenvalues are near one entry.
pub(super) fn directions(found: &Matrix<f64>, m: usize) -> Result<Option<Matrix<f64>>> {
    let (r, p) = (found.rows(), found.cols());
    if !are_few(r, m) {
        return Ok(None);
    }
    let mut out = Matrix::zeros(m, p);
    for i in 0..m {
        let Some((entry, distance)) = eigenvalue(found, i)? else { return Ok(None) };
        let Some(distance) = distance else {
            let Some(c) = combination_at(found, entry)? else { return Ok(None) };
            write_direction(out.row_mut(i), found, &c, (entry, 0.0));
            continue;
        };
        let (values, vectors) = factor::eigh(&sums(found, entry, distance))?;
        let least = (0..r).min_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs())).unwrap_or(0);
        write_direction(out.row_mut(i), found, vectors.row(least), (entry, distance));
    }
    Ok(Some(out))
}

/// Writes the unit vector along `(E - e)⁻¹ V' c` into `x`, which is 0; at an entry itself, that number is -1 before the division by the length.
fn write_direction(x: &mut [f64], found: &Matrix<f64>, c: &[f64], (entry, distance): (usize, f64)) {
    for (a, c) in c.iter().enumerate() {
        x.iter_mut().zip(found.row(a)).for_each(|(x, v)| *x += c * v);
    }
    x.iter_mut().enumerate().for_each(|(j, x)| *x *= inverse(j, entry, distance));
    if distance == 0.0 {
        x[entry] = -1.0;
    }
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    x.iter_mut().for_each(|x| *x /= length);
}

/// `R⁻¹ f` of an entry; `None` if `R` is nearly singular.
fn combination_at(found: &Matrix<f64>, entry: usize) -> Result<Option<Vec<f64>>> {
    let r = found.rows();
    let (values, vectors) = factor::eigh(&sums(found, entry, 0.0))?;
    // That of a second eigenvalue near the entry is smaller than its distance.
    if values.iter().any(|v| v.abs() <= 10.0 * LEAST_DISTANCE) {
        return Ok(None);
    }
    let mut c = vec![0.0; r];
    for (k, value) in values.iter().enumerate() {
        let along: f64 = (0..r).map(|a| vectors[(k, a)] * found[(a, entry)]).sum();
        c.iter_mut().zip(vectors.row(k)).for_each(|(c, v)| *c += along / value * v);
    }
    Ok(Some(c))
}

/// Eigenvalue `i`, as the nearest entry and the distance from it, if that is not nearly 0.
fn eigenvalue(found: &Matrix<f64>, i: usize) -> Result<Option<(usize, Option<f64>)>> {
    let is_below = |entry: usize, distance: f64| Ok(below(found, entry, distance)? > i);
    let mut entry = i;
    while !is_below(entry, 0.5)? {
        entry += 1;
        // Only rounding errors can lead beyond the bound.
        if entry > i + found.rows() {
            return Ok(None);
        }
    }
    let (left, right) = (below(found, entry, -LEAST_DISTANCE)?, below(found, entry, LEAST_DISTANCE)?);
    let (mut low, mut high) = match (left > i, right > i) {
        (true, _) => (-0.5, -LEAST_DISTANCE),
        (false, false) => (LEAST_DISTANCE, 0.5),
        // Two of them have no directions of their own.
        (false, true) if right - left > 1 => return Ok(None),
        (false, true) => return Ok(Some((entry, None))),
    };
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high || high - low <= 2.0 * f64::EPSILON * middle.abs() {
            return Ok(Some((entry, Some(middle))));
        }
        if is_below(entry, middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
}

/// Number of eigenvalues below the entry plus a distance between -1 and 1, which is not 0.
fn below(found: &Matrix<f64>, entry: usize, distance: f64) -> Result<usize> {
    let entries = entry + usize::from(distance > 0.0);
    let (values, _) = factor::eigh(&sums(found, entry, distance))?;
    Ok(entries.saturating_sub(values.iter().filter(|v| **v < 0.0).count()))
}

/// `1 / (E - e)` of column `j`; 0 for the entry itself.
#[inline(always)]
fn inverse(j: usize, entry: usize, distance: f64) -> f64 {
    match j as f64 - entry as f64 - distance {
        0.0 => 0.0,
        difference => 1.0 / difference,
    }
}

/// `S` at an entry plus a distance.
fn sums(found: &Matrix<f64>, entry: usize, distance: f64) -> Matrix<f64> {
    let (r, p) = (found.rows(), found.cols());
    let part = |number: usize| {
        let columns = number * COLUMNS_PER_TASK..p.min((number + 1) * COLUMNS_PER_TASK);
        let weights: Vec<f64> = columns.clone().map(|j| inverse(j, entry, distance)).collect();
        let mut scaled = vec![0.0; weights.len()];
        let mut out = Matrix::zeros(r, r);
        for a in 0..r {
            let row = &found.row(a)[columns.clone()];
            scaled.iter_mut().zip(row).zip(&weights).for_each(|((out, x), w)| *out = x * w);
            for b in 0..=a {
                let product = dot(&scaled, &found.row(b)[columns.clone()]);
                (out[(a, b)], out[(b, a)]) = (product, product);
            }
        }
        out
    };
    let parts = parallel::map(0..p.div_ceil(COLUMNS_PER_TASK), part);
    let mut total = Matrix::zeros(r, r);
    for part in parts {
        total.as_mut_slice().iter_mut().zip(part.as_slice()).for_each(|(sum, x)| *sum += x);
    }
    total
}
