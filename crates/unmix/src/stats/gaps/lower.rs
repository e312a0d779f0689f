//! Symmetric matrices given by their lower triangles, row by row: products, inverses, Cholesky factors.

/// Number of entries of the lower triangle of a symmetric `k x k` matrix.
pub(crate) fn triangle(k: usize) -> usize {
    k * (k + 1) / 2
}

/// `out = a b` for a symmetric matrix given by its lower triangle, row by row.
pub(crate) fn symmetric_product(a: &[f64], b: &[f64], out: &mut [f64]) {
    symmetric_products(a.as_chunks::<1>().0, b.as_chunks::<1>().0, out.as_chunks_mut::<1>().0);
}

/// [`symmetric_product`] of `L` matrices and vectors, entry by entry.
#[inline(always)]
pub(super) fn symmetric_products<const L: usize>(a: &[[f64; L]], b: &[[f64; L]], out: &mut [[f64; L]]) {
    out.fill([0.0; L]);
    for (i, start) in (0..b.len()).map(|i| (i, triangle(i))) {
        let line = &a[start..=start + i];
        for (j, x) in line[..i].iter().enumerate() {
            for lane in 0..L {
                out[i][lane] += x[lane] * b[j][lane];
                out[j][lane] += x[lane] * b[i][lane];
            }
        }
        for lane in 0..L {
            out[i][lane] += line[i][lane] * b[i][lane];
        }
    }
}

/// `b' a b` for a symmetric matrix given by its lower triangle, row by row; the part beyond the length of `b` is ignored.
pub(crate) fn quadratic(a: &[f64], b: &[f64]) -> f64 {
    let line = |i: usize| {
        let row = &a[triangle(i)..=triangle(i) + i];
        let left: f64 = row[..i].iter().zip(b).map(|(a, b)| a * b).sum();
        b[i] * (2.0 * left + row[i] * b[i])
    };
    (0..b.len()).map(line).sum()
}

/// `tr(a b)` of two symmetric `k x k` matrices given by their lower triangles, row by row.
pub(crate) fn inner(a: &[f64], b: &[f64], k: usize) -> f64 {
    let line = |i: usize| {
        let (at, end) = (triangle(i), triangle(i) + i);
        let left: f64 = a[at..end].iter().zip(&b[at..end]).map(|(a, b)| a * b).sum();
        2.0 * left + a[end] * b[end]
    };
    (0..k).map(line).sum()
}

/// Replaces the lower triangle of a positive definite `k x k` matrix by that of its inverse; returns the logarithm of its determinant.
/// `O(k³)`.
pub(crate) fn invert(a: &mut [f64], k: usize) -> f64 {
    let log_determinant = cholesky(a, k);
    invert_root(a, k);
    log_determinant
}

/// The second half of [`invert`]: from the Cholesky factor.
pub(super) fn invert_root(a: &mut [f64], k: usize) {
    invert_roots(a.as_chunks_mut::<1>().0, k);
}

/// [`invert_root`] of `L` matrices, entry by entry.
#[inline(always)]
pub(super) fn invert_roots<const L: usize>(a: &mut [[f64; L]], k: usize) {
    // Inverts the triangular factor in place: columns from the left, each from its diagonal down.
    for j in 0..k {
        a[triangle(j) + j] = a[triangle(j) + j].map(|x| 1.0 / x);
        for i in j + 1..k {
            let row = triangle(i);
            let sum = inner_sum((j..i).map(|l| (row + l, triangle(l) + j)), a);
            for lane in 0..L {
                a[row + j][lane] = -sum[lane] / a[row + i][lane];
            }
        }
    }
    // (L⁻¹)' L⁻¹: entry (i, j) needs rows from i on, which are not yet overwritten.
    for i in 0..k {
        for j in 0..=i {
            a[triangle(i) + j] = inner_sum((i..k).map(|l| (triangle(l) + i, triangle(l) + j)), a);
        }
    }
}

/// Sum of the products of pairs of entries, in this order.
#[inline(always)]
fn inner_sum<const L: usize>(pairs: impl Iterator<Item = (usize, usize)>, a: &[[f64; L]]) -> [f64; L] {
    let mut sum = [-0.0; L];
    for (x, y) in pairs {
        let (x, y) = (&a[x], &a[y]);
        for lane in 0..L {
            sum[lane] += x[lane] * y[lane];
        }
    }
    sum
}

/// Replaces `b` by the solution of `a x = b`, and the lower triangle of the positive definite `a` by its Cholesky factor. `O(k³)`.
pub(crate) fn solve(a: &mut [f64], b: &mut [f64]) {
    let k = b.len();
    cholesky(a, k);
    for i in 0..k {
        let row = &a[triangle(i)..=triangle(i) + i];
        let sum: f64 = row[..i].iter().zip(&*b).map(|(l, x)| l * x).sum();
        b[i] = (b[i] - sum) / row[i];
    }
    for i in (0..k).rev() {
        let sum: f64 = (i + 1..k).map(|l| a[triangle(l) + i] * b[l]).sum();
        b[i] = (b[i] - sum) / a[triangle(i) + i];
    }
}

/// Replaces the lower triangle of a positive definite matrix by its Cholesky factor; returns the log determinant of the matrix. A
/// pivot that is not positive because of rounding is replaced by the smallest positive normal number. `O(k³)`.
pub(crate) fn cholesky(a: &mut [f64], k: usize) -> f64 {
    cholesky_factors(a.as_chunks_mut::<1>().0, k)[0]
}

/// [`cholesky`] of `L` matrices, entry by entry.
#[inline(always)]
pub(super) fn cholesky_factors<const L: usize>(a: &mut [[f64; L]], k: usize) -> [f64; L] {
    let mut log_determinant = [0.0; L];
    for i in 0..k {
        let row = triangle(i);
        for j in 0..=i {
            let other = triangle(j);
            let sum = inner_sum((0..j).map(|l| (row + l, other + l)), a);
            for lane in 0..L {
                let rest = a[row + j][lane] - sum[lane];
                a[row + j][lane] = match i == j {
                    true => rest.max(f64::MIN_POSITIVE).sqrt(),
                    false => rest / a[other + j][lane],
                };
            }
        }
        for lane in 0..L {
            log_determinant[lane] += 2.0 * a[row + i][lane].ln();
        }
    }
    log_determinant
}
