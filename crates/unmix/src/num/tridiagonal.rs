//! The full spectrum of a small symmetric matrix, on the calling thread.
//!
//! Householder reduction to tridiagonal form, then implicit QL steps with Wilkinson's shift (Bowdler, Martin, Reinsch & Wilkinson
//! 1968; Golub & Van Loan 2013, sections 8.3.1 and 8.3.3), as in other implementations; the difference is the memory layout.
//! Everything stays in the first two cache levels, and every inner loop runs along contiguous rows: a product with a symmetric
//! matrix sums multiples of its rows, and eigenvectors are stored as rows, so that a rotation combines two of them.

/// Maximum size for which these loops are used: for small matrices they are faster than the library's blocked ones.
pub(super) const SMALL_SIZE: usize = 96;

/// Maximum number of steps for one eigenvalue; two are typical, four are rare.
const MAX_STEPS: usize = 60;

/// Squares below this lose precision to underflow.
const LEAST_ACCURATE_SQUARE: f64 = f64::MIN_POSITIVE / f64::EPSILON;

/// Eigenvalues, ascending, and eigenvectors, as the rows of a matrix in the same order, of the symmetric `n x n` matrix in `a`
/// (row-major, both triangles). `None` if the iteration does not converge, as with numbers that are not finite.
pub(super) fn eigh(a: &mut [f64], n: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    if n == 0 {
        return Some((vec![], vec![]));
    }
    // Scaled by the largest entry, so that no square overflows or underflows.
    let largest = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if !largest.is_finite() || a.iter().any(|x| x.is_nan()) {
        return None;
    }
    let unit = power_of_two(largest);
    a.iter_mut().for_each(|x| *x /= unit);
    let (mut d, mut e, mut vectors) = (vec![0.0; n], vec![0.0; n], vec![0.0; n * n]);
    super::widest(
        #[inline(always)]
        || {
            reduce(a, n, &mut d, &mut e);
            accumulate(a, n, &mut vectors);
            // The reduction places large entries first, and QL steps converge faster if these are last.
            d.reverse();
            e[..n - 1].reverse();
            for i in 0..n / 2 {
                let (low, high) = vectors.split_at_mut((n - 1 - i) * n);
                low[i * n..(i + 1) * n].swap_with_slice(&mut high[..n]);
            }
            ql(&mut d, &mut e, &mut vectors, n)
        },
    )?;
    let order = super::order::ascending(&d);
    let mut sorted = Vec::with_capacity(n * n);
    order.iter().for_each(|&i| sorted.extend_from_slice(&vectors[i * n..(i + 1) * n]));
    Some((order.iter().map(|&i| d[i] * unit).collect(), sorted))
}

/// A power of two near `x`, so that division by it is exact; 1 for 0.
fn power_of_two(x: f64) -> f64 {
    match x.log2().floor() {
        power if power.is_finite() => power.clamp(-1000.0, 1000.0).exp2(),
        _ => 1.0,
    }
}

/// `H' a H = tridiagonal` with diagonal `d` and `e[i]` between `i` and `i + 1`. Row `k` of `a` then holds, from `k + 1` on, the vector `v`
/// of the `k`-th reflection `1 - v v'`.
#[inline(always)]
fn reduce(a: &mut [f64], n: usize, d: &mut [f64], e: &mut [f64]) {
    let mut w = vec![0.0; n];
    for k in 0..n {
        d[k] = a[k * n + k];
        if k + 1 >= n {
            break;
        }
        let (done, rest) = a.split_at_mut((k + 1) * n);
        let v = &mut done[k * n + k + 1..];
        let m = v.len();
        let square = dot(v, v);
        let norm = square.sqrt();
        if square < LEAST_ACCURATE_SQUARE || v[1..].iter().all(|x| *x == 0.0) {
            // Tridiagonal already, or so small relative to the largest entry, which is 1 or 2, that squares underflow.
            e[k] = v[0];
            v.fill(0.0);
            continue;
        }
        let image = if v[0] > 0.0 { -norm } else { norm };
        e[k] = image;
        // |v|^2 = 2, so that the reflection is 1 - v v'.
        let scale = 1.0 / (norm * (norm + v[0].abs())).sqrt();
        v[0] -= image;
        v.iter_mut().for_each(|x| *x *= scale);
        let w = &mut w[..m];
        w.fill(0.0);
        // Four rows at a time, so that sums are loaded and stored a quarter as often.
        let row = |i: usize| &rest[i * n + k + 1..][..m];
        let (fours, others) = v.as_chunks::<4>();
        for (i, f) in fours.iter().enumerate() {
            let rows = row(4 * i).iter().zip(row(4 * i + 1)).zip(row(4 * i + 2)).zip(row(4 * i + 3));
            for (w, (((a, b), c), d)) in w.iter_mut().zip(rows) {
                *w += (f[0] * a + f[1] * b) + (f[2] * c + f[3] * d);
            }
        }
        for (i, &vi) in others.iter().enumerate() {
            w.iter_mut().zip(row(m - others.len() + i)).for_each(|(w, x)| *w += vi * x);
        }
        let half = 0.5 * dot(v, w);
        w.iter_mut().zip(&*v).for_each(|(w, v)| *w -= half * v);
        for i in 0..m {
            let (vi, wi) = (v[i], w[i]);
            let row = &mut rest[i * n + k + 1..][..m];
            for ((x, v), w) in row.iter_mut().zip(&*v).zip(&*w) {
                *x -= vi * w + wi * v;
            }
        }
    }
}

/// The transposed product of the reflections: row `i` is the `i`-th vector of the basis in which the matrix is tridiagonal.
#[inline(always)]
fn accumulate(a: &[f64], n: usize, out: &mut [f64]) {
    (0..n).for_each(|i| out[i * n + i] = 1.0);
    let mut w = vec![0.0; n];
    // Starting with the last reflection, which changes only the rows and columns beyond it.
    for k in (0..n.saturating_sub(1)).rev() {
        let v = &a[k * n + k + 1..(k + 1) * n];
        let m = v.len();
        let w = &mut w[..m];
        w.fill(0.0);
        for i in 0..m {
            let row = &out[(k + 1 + i) * n + k + 1..][..m];
            // Rows of the transposed product: w = Q' v, by dot products of its rows.
            w[i] = dot(row, v);
        }
        for i in 0..m {
            let wi = w[i];
            let row = &mut out[(k + 1 + i) * n + k + 1..][..m];
            row.iter_mut().zip(v).for_each(|(x, v)| *x -= wi * v);
        }
    }
}

/// In eight independent sums, which are added in parallel.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (mut left, mut right) = (a.chunks_exact(8), b.chunks_exact(8));
    for (a, b) in (&mut left).zip(&mut right) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| a * b).sum();
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7])) + rest
}

/// Diagonalises the tridiagonal matrix in place, and applies the rotations to the rows of `vectors`.
#[inline(always)]
fn ql(d: &mut [f64], e: &mut [f64], vectors: &mut [f64], n: usize) -> Option<()> {
    e[n - 1] = 0.0;
    // Off-diagonal entries below a fraction of the rounding errors of the reduction are treated as 0.
    let floor = 0.25 * f64::EPSILON * d.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for l in 0..n {
        let mut steps = 0;
        loop {
            // The first off-diagonal entry from here on that is negligible relative to its neighbours.
            let small = |m: usize| {
                let e = e[m].abs();
                e <= floor || e * e <= f64::EPSILON * f64::EPSILON * (d[m] * d[m + 1]).abs()
            };
            let m = (l..n - 1).find(|&m| small(m)).unwrap_or(n - 1);
            if m == l {
                break;
            }
            steps += 1;
            if steps > MAX_STEPS {
                return None;
            }
            step(d, e, vectors, n, (l, m));
        }
    }
    Some(())
}

/// One implicit step on the block from `l` to `m`, by rotations from its end to its beginning; it ends early if the block splits.
#[inline(always)]
fn step(d: &mut [f64], e: &mut [f64], vectors: &mut [f64], n: usize, (l, m): (usize, usize)) {
    let g = (d[l + 1] - d[l]) / (2.0 * e[l]);
    let r = g.hypot(1.0);
    let mut g = d[m] - d[l] + e[l] / (g + if g >= 0.0 { r } else { -r });
    let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
    // Rows are rotated one rotation late: these multiplications are independent of the square root that is being computed and run
    // in its latency; rotations of the same step would depend on it and stall the processor.
    let mut late = None;
    for i in (l..m).rev() {
        let (f, b) = (s * e[i], c * e[i]);
        let square = f * f + g * g;
        if square < f64::MIN_POSITIVE {
            e[i + 1] = 0.0;
            d[i + 1] -= p;
            e[m] = 0.0;
            late.into_iter().for_each(|rotation| rotate(vectors, n, rotation));
            return;
        }
        // The next rotation depends on squares and products of sine and cosine, which need a quotient; the square root, which takes
        // longer, is needed only one rotation later.
        let quotient = 1.0 / square;
        let (mixed, rotated) = (f * g * quotient, (g - f) * (g + f) * quotient);
        let root = square.sqrt();
        let inverse = root * quotient;
        e[i + 1] = root;
        (s, c) = (f * inverse, g * inverse);
        let own = d[i + 1] - p;
        let apart = d[i] - own;
        p = f * f * quotient * apart + 2.0 * mixed * b;
        d[i + 1] = own + p;
        g = mixed * apart + rotated * b;
        if let Some(rotation) = late.replace((i, s, c)) {
            rotate(vectors, n, rotation);
        }
    }
    late.into_iter().for_each(|rotation| rotate(vectors, n, rotation));
    d[l] -= p;
    e[l] = g;
    e[m] = 0.0;
}

/// Rotates rows `i` and `i + 1`.
#[inline(always)]
fn rotate(vectors: &mut [f64], n: usize, (i, s, c): (usize, f64, f64)) {
    let (upper, lower) = vectors[i * n..(i + 2) * n].split_at_mut(n);
    for (x, y) in upper.iter_mut().zip(lower) {
        let (above, below) = (*x, *y);
        *y = s * above + c * below;
        *x = c * above - s * below;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;
    use crate::num::{Matrix, factor};

    fn with_spectrum(values: &[f64]) -> Matrix<f64> {
        let n = values.len();
        let s = Stream::new(n as u64, 3);
        let q = factor::orthonormal_rows(&Matrix::from_fn(n, n, |i, j| s.normal((i * n + j) as u64)));
        let scaled = Matrix::from_fn(n, n, |i, j| q[(i, j)] * values[i]);
        let a = factor::multiply(&scaled.transposed(), &q);
        Matrix::from_fn(n, n, |i, j| a[(i.max(j), i.min(j))])
    }

    #[test]
    fn entries_with_negligible_squares_are_treated_as_zero() {
        for small in [1e-120, 1e-155, 1e-165, 1e-200, 1e-310] {
            let entry = |i: usize, j: usize| match (i, j) {
                (0, 0) => 1.0,
                (0, _) | (_, 0) => 0.0,
                _ if i == j => 2.0 * small,
                _ => small,
            };
            let mut a: Vec<f64> = (0..25).map(|at| entry(at / 5, at % 5)).collect();
            let (values, rows) = eigh(&mut a, 5).unwrap_or_else(|| panic!("{small:e}"));
            assert_eq!(values[4], 1.0, "{small:e}");
            assert!(rows.iter().chain(&values[..4]).all(|x| x.is_finite() && x.abs() <= 1.0), "{small:e}");
        }
    }

    #[test]
    fn values_and_vectors_are_those_of_the_matrix_for_any_spectrum() {
        for n in [1, 2, 3, 7, 16, 61, 64, 96] {
            let of = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<f64>>();
            let spectra = [
                of(&|i| 1.0 / (1.0 + i as f64)),
                of(&|_| 1.0),
                of(&|_| 0.0),
                of(&|i| if i < 3 { 1.0 } else { 0.0 }),
                of(&|i| 0.1f64.powi(i as i32)),
                of(&|i| (i / 4) as f64 - 3.0),
                of(&|i| 1.0 + 1e-14 * i as f64),
                of(&|i| 1e-300 * i as f64),
                of(&|i| 1e300 * (1.0 + (i % 3) as f64)),
            ];
            for (kind, mut want) in spectra.into_iter().enumerate() {
                let a = with_spectrum(&want);
                let (values, rows) = eigh(&mut a.as_slice().to_vec(), n).unwrap();
                want.sort_by(f64::total_cmp);
                let size = want.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
                let close = 8.0 * f64::EPSILON * (n as f64).sqrt();
                let at = |i: usize, j: usize| a[(i, j)] / size;
                for i in 0..n {
                    let (value, v) = (values[i] / size, &rows[i * n..(i + 1) * n]);
                    assert!(
                        (value - want[i] / size).abs() < close,
                        "n {n}, spectrum {kind}: value {i} {value}"
                    );
                    for j in 0..n {
                        let image: f64 = (0..n).map(|k| at(j, k) * v[k]).sum();
                        assert!((image - value * v[j]).abs() < close, "n {n}, spectrum {kind}: vector {i}");
                        let other = &rows[j * n..(j + 1) * n];
                        let product: f64 = v.iter().zip(other).map(|(x, y)| x * y).sum();
                        let unit = f64::from(u8::from(i == j));
                        assert!((product - unit).abs() < 2.0 * close, "n {n}, spectrum {kind}: {i} and {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_diagonal_matrix_keeps_its_axes_and_one_that_is_not_finite_has_none() {
        let n = 5;
        let diagonal = [3.0, -1.0, 4.0, 1.5, 0.0];
        let mut a: Vec<f64> =
            (0..n * n).map(|i| if i % (n + 1) == 0 { diagonal[i / (n + 1)] } else { 0.0 }).collect();
        let (values, rows) = eigh(&mut a, n).unwrap();
        assert_eq!(values, [-1.0, 0.0, 1.5, 3.0, 4.0]);
        for (i, axis) in [1, 4, 3, 0, 2].into_iter().enumerate() {
            assert!((0..n).all(|j| rows[i * n + j].abs() == f64::from(u8::from(j == axis))));
        }
        for odd in [f64::NAN, f64::INFINITY] {
            assert!(eigh(&mut [1.0, odd, odd, 2.0], 2).is_none());
        }
    }
}
