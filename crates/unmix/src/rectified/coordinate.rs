//! The exact E-step for one unit after the other, given the others (block coordinate descent), and the certificate of its fixed
//! point.
//!
//! With `R = X A + prior_term` and `b_j = R_j - mu G_j + mu_j G_jj`, the codes of unit `j` are `d_j max(0, b_j)`:
//! `d_j = sqrt(n) / ||max(0, b_j)||` if units have second moment 1, `1 / G_jj` if they are not scaled. Each is the minimum over the
//! codes of its unit, so the divergence never increases.

use super::statistics::Normalisation;
use super::stored_codes::{ProjectionSums, ROWS_PER_CHUNK, StoredCodes};
use crate::num::factor::{self, Cholesky};
use crate::num::simd::SIMD_WIDTH;
use crate::num::{Matrix, Real, kernel, parallel, widest};

/// Rows from which the chunks of a unit are worth waking threads.
const LEAST_SHARED_ROWS: usize = 1 << 12;

/// Units whose products with all others are computed at once: every code is read once for each of these blocks.
const UNITS_PER_PRODUCT: usize = 64;

/// Units of a block whose changes are subtracted from the units after them at once.
const UNITS_PER_UPDATE: usize = 8;

/// Result of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RoundResult {
    /// Factors `d`; 0 for a unit with a single non-zero code and for one that is left out.
    pub scale: Vec<f64>,
    /// Units with a single non-zero code, because no `b` was positive.
    pub one_hot: Vec<usize>,
    /// The largest change of a code; NaN if one is.
    pub change: f64,
}

/// Inputs of a round besides the codes.
pub(crate) struct CoordinateProblem<'a, T> {
    /// `R`.
    pub r: &'a StoredCodes<T>,
    /// `G`, symmetric.
    pub g: &'a Matrix<f64>,
    /// Number of rows, weighted.
    pub n: f64,
    /// Normalisation of the units.
    pub how: Normalisation,
    /// Weights of the rows.
    pub weights: Option<&'a [f64]>,
    /// Units whose codes are kept at 0.
    pub dead: &'a [bool],
}

/// Distance to the solution of the problem with fixed scales.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Violation {
    /// The largest violation of its first-order conditions in a row, relative to the larger of 1 and the largest entry of its `R`.
    pub worst: f64,
    /// The largest duality gap of a row.
    pub gap: f64,
}

impl<T: Real> CoordinateProblem<'_, T> {
    /// One round over all units. `2 n l²` operations.
    pub(crate) fn round(&self, mu: &mut StoredCodes<T>) -> RoundResult {
        let l = mu.n_units();
        let narrow = self.g.cast::<T>();
        let mut out = RoundResult { scale: vec![0.0; l], ..RoundResult::default() };
        let mut left = StoredCodes::zeros(mu.n_rows(), UNITS_PER_PRODUCT.min(l));
        for first in (0..l).step_by(UNITS_PER_PRODUCT) {
            let units = first..l.min(first + UNITS_PER_PRODUCT);
            if units.len() < left.n_units() {
                left = StoredCodes::zeros(mu.n_rows(), units.len());
            }
            let mut extent = self.residuals(&units, &narrow, mu, &mut left);
            for j in units.clone() {
                extent = self.unit((j, extent), &units, &narrow, mu, &mut left, &mut out);
            }
        }
        out
    }

    /// `R - mu G` for a block of units, of which the first is [projected](Self::projected); returns the statistics of that.
    fn residuals(
        &self,
        units: &std::ops::Range<usize>,
        narrow: &Matrix<T>,
        mu: &StoredCodes<T>,
        left: &mut StoredCodes<T>,
    ) -> ProjectionSums {
        let (l, width) = (mu.n_units(), units.len());
        let g = &narrow.as_slice()[units.start * l..units.end * l];
        let one = |(c, left): (usize, &mut Vec<T>)| {
            let (chunk, r) = (&mu.chunks()[c], &self.r.chunks()[c]);
            let n = chunk.len() / l;
            kernel::product(left, g, chunk, width, l, n);
            let own = &r[units.start * n..units.end * n];
            left.iter_mut().zip(own).for_each(|(p, r)| *p = *r - *p);
            self.projected(c, (units.start, 0), narrow, chunk, left)
        };
        let chunks = left.chunks_mut().iter_mut().enumerate();
        parallel::map(chunks, one).into_iter().fold(ProjectionSums::NONE, ProjectionSums::and)
    }

    /// Computes new codes of unit `j`, whose residual is projected with statistics `extent`, and updates the units after it in its block;
    /// projects the next one, and returns its statistics.
    ///
    /// The threads meet once for each unit: all rows determine its scale.
    fn unit(
        &self,
        (j, extent): (usize, ProjectionSums),
        units: &std::ops::Range<usize>,
        narrow: &Matrix<T>,
        mu: &mut StoredCodes<T>,
        left: &mut StoredCodes<T>,
        out: &mut RoundResult,
    ) -> ProjectionSums {
        let (l, width, own) = (mu.n_units(), units.len(), j - units.start);
        let (place, scale) = self.scale_of((j, extent), out);
        let shared = mu.n_rows() >= LEAST_SHARED_ROWS;
        let chunks = left.chunks_mut().iter_mut().zip(mu.chunks_mut()).enumerate();
        let renew_chunk = |(c, (left, chunk)): (usize, (&mut Vec<T>, &mut Vec<T>))| {
            let n = chunk.len() / l;
            let (b, codes) = (&mut left[own * n..(own + 1) * n], &mut chunk[j * n..(j + 1) * n]);
            let at = place.and_then(|row| row.checked_sub(c * ROWS_PER_CHUNK)).filter(|i| *i < n);
            let change = match at {
                None => renew(b, codes, scale),
                Some(i) => {
                    let first = renew(&mut b[..i], &mut codes[..i], scale);
                    let rest = renew(&mut b[i + 1..], &mut codes[i + 1..], scale);
                    let new = T::from_f64(self.n.sqrt());
                    (b[i], codes[i]) = (new - codes[i], new);
                    larger(larger(first, b[i].to_f64().abs()), rest)
                }
            };
            subtract_change(left, n, (own, width), |unit, other| {
                narrow[(units.start + unit, units.start + other)]
            });
            match own + 1 < width {
                true => (change, self.projected(c, (j + 1, own + 1), narrow, chunk, left)),
                false => (change, ProjectionSums::NONE),
            }
        };
        let each: Vec<(f64, ProjectionSums)> =
            if shared { parallel::map(chunks, renew_chunk) } else { chunks.map(renew_chunk).collect() };
        out.change = each.iter().fold(out.change, |most, (change, _)| larger(most, *change));
        each.into_iter().fold(ProjectionSums::NONE, |all, (_, extent)| all.and(extent))
    }

    /// The row of the single non-zero code of unit `j`, if it has no other, and the factor of the others; both are recorded.
    fn scale_of(&self, (j, extent): (usize, ProjectionSums), out: &mut RoundResult) -> (Option<usize>, T) {
        let squares = extent.squares;
        let normalised = self.how == Normalisation::Rms;
        let place = extent.place().filter(|_| normalised && !self.dead[j]);
        let scale = match self.how {
            _ if self.dead[j] || squares == 0.0 => 0.0,
            Normalisation::Rms => (self.n / squares).sqrt(),
            _ => 1.0 / self.g[(j, j)],
        };
        if place.is_some() {
            out.one_hot.push(j);
        }
        out.scale[j] = match self.dead[j] || normalised || squares > 0.0 {
            true => scale,
            false => 1.0 / self.g[(j, j)],
        };
        (place, T::from_f64(scale))
    }

    /// Overwrites the residual of unit `j`, which is number `own` of its block, by `b` in chunk `c`, and returns its statistics.
    fn projected(
        &self,
        c: usize,
        (j, own): (usize, usize),
        narrow: &Matrix<T>,
        chunk: &[T],
        left: &mut [T],
    ) -> ProjectionSums {
        let l = narrow.rows();
        let (n, gjj) = (chunk.len() / l, narrow[(j, j)]);
        let b = &mut left[own * n..(own + 1) * n];
        widest(
            #[inline(always)]
            || b.iter_mut().zip(StoredCodes::unit(chunk, l, j)).for_each(|(b, x)| *b += *x * gjj),
        );
        let mut extent = ProjectionSums::NONE;
        extent.take(b, c * ROWS_PER_CHUNK, self.weights);
        extent
    }

    /// Violation of the optimality conditions of the problem with matrix `G + diag(1 / scale - G_jj)`. `2 n l²` operations.
    pub(crate) fn violation(&self, mu: &StoredCodes<T>, scale: &[f64]) -> Violation {
        let l = mu.n_units();
        let each = mu.each(|c, chunk| {
            let n = chunk.len() / l;
            let wide: Vec<f64> = chunk.iter().map(|x| x.to_f64()).collect();
            let mut gmu = vec![0.0; l * n];
            kernel::product(&mut gmu, self.g.as_slice(), &wide, l, l, n);
            let r = &self.r.chunks()[c];
            let (mut worst, mut gaps, mut size) = (vec![0.0f64; n], vec![0.0; n], vec![1.0f64; n]);
            for j in 0..l {
                let alive = scale[j] > 0.0;
                let tau = if alive { 1.0 / scale[j] - self.g[(j, j)] } else { 0.0 };
                for i in 0..n {
                    let (x, r) = (wide[j * n + i], r[j * n + i].to_f64());
                    size[i] = size[i].max(r.abs());
                    if alive {
                        let slope = gmu[j * n + i] + tau * x - r;
                        let own = larger(larger(-slope, (slope * x).abs()), -x);
                        worst[i] = larger(worst[i], own);
                        gaps[i] += slope * x;
                    }
                }
            }
            let worst = worst.iter().zip(&size).map(|(w, s)| w / s).fold(0.0, larger);
            (worst, gaps.iter().map(|g: &f64| g.abs()).fold(0.0, larger))
        });
        let worst = each.iter().map(|e| e.0).fold(0.0, larger);
        Violation { worst, gap: each.iter().map(|e| e.1).fold(0.0, larger) }
    }
}

/// Subtracts the change of unit `own` of the `width` in a block, which is in its row of `left`, times `g(own, other)` from the rows of units
/// after it: from those of its group at once, from all others when the group is complete.
fn subtract_change<T: Real>(
    left: &mut [T],
    n: usize,
    (own, width): (usize, usize),
    g: impl Fn(usize, usize) -> T,
) {
    let first = own - own % UNITS_PER_UPDATE;
    let end = width.min(first + UNITS_PER_UPDATE);
    let (before, after) = left.split_at_mut((own + 1) * n);
    let change = &before[own * n..];
    for (other, left) in (own + 1..end).zip(after.chunks_exact_mut(n)) {
        let g = g(own, other);
        widest(
            #[inline(always)]
            || left.iter_mut().zip(change).for_each(|(p, d)| *p -= g * *d),
        );
    }
    if own + 1 < end {
        return;
    }
    // Groups before the last are complete.
    let changes: Option<[&[T]; UNITS_PER_UPDATE]> =
        before[first * n..].chunks_exact(n).collect::<Vec<_>>().try_into().ok();
    let Some(changes) = changes else { return };
    for (other, left) in (end..width).zip(after.chunks_exact_mut(n)) {
        let g: [T; UNITS_PER_UPDATE] = std::array::from_fn(|unit| g(first + unit, other));
        let changes = changes.map(|change| &change[..left.len()]);
        widest(
            #[inline(always)]
            || {
                for (i, p) in left.iter_mut().enumerate() {
                    for unit in 0..UNITS_PER_UPDATE {
                        *p -= g[unit] * changes[unit][i];
                    }
                }
            },
        );
    }
}

/// Overwrites the codes of a unit by `scale max(0, b)`, and `b` by their changes; returns the largest change, NaN if one is.
fn renew<T: Real>(b: &mut [T], codes: &mut [T], scale: T) -> f64 {
    let zero = T::default();
    let (mut most, mut invalid) = ([zero; SIMD_WIDTH], false);
    // NaN is not at most 0, and stays.
    let new = |b: T| if b <= zero { zero } else { b * scale };
    widest(
        #[inline(always)]
        || {
            let ((b, b_rest), (codes, codes_rest)) = (b.as_chunks_mut(), codes.as_chunks_mut());
            for (b, codes) in b.iter_mut().zip(codes) {
                let renewed: [T; SIMD_WIDTH] = b.map(new);
                let changes: [T; SIMD_WIDTH] = std::array::from_fn(|l| renewed[l] - codes[l]);
                for l in 0..SIMD_WIDTH {
                    let size = changes[l].absolute();
                    most[l] = if size > most[l] { size } else { most[l] };
                    invalid |= changes[l].partial_cmp(&zero).is_none();
                }
                (*b, *codes) = (changes, renewed);
            }
            for ((b, x), most) in b_rest.iter_mut().zip(codes_rest).zip(&mut most) {
                let renewed = new(*b);
                (*b, *x) = (renewed - *x, renewed);
                *most = if b.absolute() > *most { b.absolute() } else { *most };
                invalid |= (*b).partial_cmp(&zero).is_none();
            }
        },
    );
    let most = most.iter().map(|x| x.to_f64()).fold(0.0, f64::max);
    if invalid { f64::NAN } else { most }
}

/// The larger of two numbers; NaN if one of them is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// Scales for which `G + diag(1 / scale - G_jj)` is positive definite: the given ones, or reduced ones. Also the smallest eigenvalue of this
/// matrix over units that are not dead, and whether any scale was changed. `least` is a lower bound on the eigenvalues of `G`.
pub(crate) fn convex(g: &Matrix<f64>, scale: &[f64], least: f64) -> (Vec<f64>, f64, bool) {
    let alive: Vec<usize> = (0..scale.len()).filter(|&j| scale[j] > 0.0).collect();
    let problem = |scale: &[f64]| {
        Matrix::from_fn(alive.len(), alive.len(), |i, k| match i == k {
            true => 1.0 / scale[alive[i]],
            false => g[(alive[i], alive[k])],
        })
    };
    let smallest = |scale: &[f64]| match alive.is_empty() {
        true => f64::INFINITY,
        false => {
            factor::eigenvalues(&problem(scale)).ok().and_then(|v| v.last().copied()).unwrap_or(f64::NAN)
        }
    };
    let tau = |j: usize| 1.0 / scale[j] - g[(j, j)];
    if alive.iter().all(|&j| tau(j) > -least) || Cholesky::new(&problem(scale)).is_some() {
        return (scale.to_vec(), smallest(scale), false);
    }
    let mut clipped = scale.to_vec();
    for &j in &alive {
        clipped[j] = 1.0 / (g[(j, j)] + tau(j).max(-(1.0 - 1e-3) * least));
    }
    let value = smallest(&clipped);
    (clipped, value, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;
    use crate::num::threads::on_pool;

    #[test]
    fn a_code_of_nan_violates_the_conditions() {
        let g = Matrix::from_vec(2, 2, vec![2.0, 0.5, 0.5, 2.0]);
        let (mut r, mut mu) = (StoredCodes::<f64>::zeros(3, 2), StoredCodes::zeros(3, 2));
        r.set(1, 0, 1.0);
        let problem = CoordinateProblem {
            r: &r,
            g: &g,
            n: 3.0,
            how: Normalisation::None,
            weights: None,
            dead: &[false; 2],
        };
        // The gradient at the code 0 is -1.
        assert_eq!(problem.violation(&mu, &[0.5, 0.5]), Violation { worst: 1.0, gap: 0.0 });
        mu.set(2, 1, f64::NAN);
        let found = problem.violation(&mu, &[0.5, 0.5]);
        assert!(found.worst.is_nan() && found.gap.is_nan(), "{found:?}");
    }

    #[test]
    fn a_round_passes_on_what_is_not_a_number() {
        let g = Matrix::from_vec(2, 2, vec![2.0, 0.5, 0.5, 2.0]);
        for how in [Normalisation::None, Normalisation::Rms] {
            let (mut r, mut mu) = (StoredCodes::<f64>::zeros(3, 2), StoredCodes::zeros(3, 2));
            (0..3).for_each(|i| (0..2).for_each(|j| r.set(i, j, 1.0)));
            let problem = CoordinateProblem { r: &r, g: &g, n: 3.0, how, weights: None, dead: &[false; 2] };
            assert!(problem.round(&mut mu).change > 0.0);
            r.set(1, 0, f64::NAN);
            let problem = CoordinateProblem { r: &r, g: &g, n: 3.0, how, weights: None, dead: &[false; 2] };
            let mut mu = StoredCodes::zeros(3, 2);
            let round = problem.round(&mut mu);
            assert!(round.change.is_nan() && round.one_hot.is_empty(), "{how:?}: {round:?}");
            assert!(mu.chunks()[0].iter().any(|x| x.is_nan()), "{how:?}");
        }
    }

    /// A round by its formulas, one row after the other.
    fn naive(r: &StoredCodes<f64>, g: &Matrix<f64>, n: f64, mu: &mut StoredCodes<f64>) {
        let (rows, l) = (mu.n_rows(), mu.n_units());
        for j in 0..l {
            let b = |i: usize| {
                let others = (0..l).filter(|k| *k != j).map(|k| mu.at(i, k) * g[(k, j)]);
                r.at(i, j) - others.sum::<f64>()
            };
            let b: Vec<f64> = (0..rows).map(b).collect();
            let squares: f64 = b.iter().map(|b| b.max(0.0).powi(2)).sum();
            let largest = (0..rows).fold(0, |best, i| if b[i] > b[best] { i } else { best });
            for i in 0..rows {
                let one_hot = if i == largest { n.sqrt() } else { 0.0 };
                let code = if squares > 0.0 { (n / squares).sqrt() * b[i].max(0.0) } else { one_hot };
                mu.set(i, j, code);
            }
        }
    }

    /// Rows of several chunks on one thread and on three, units of several blocks and groups; the last unit has no positive number in any
    /// row.
    #[test]
    fn a_round_is_that_of_the_formulas_for_any_number_of_threads() {
        let two_blocks = UNITS_PER_PRODUCT + UNITS_PER_UPDATE + 1;
        for (rows, l) in
            [(ROWS_PER_CHUNK + 37, 5), (LEAST_SHARED_ROWS + 100, 5), (ROWS_PER_CHUNK + 37, two_blocks)]
        {
            let draws = Stream::new(6, 0);
            let g = Matrix::from_fn(l, l, |i, j| if i == j { 2.0 } else { 0.05 * (i + j) as f64 / l as f64 });
            let (mut r, mut begin) = (StoredCodes::<f64>::zeros(rows, l), StoredCodes::zeros(rows, l));
            for (i, j) in (0..rows).flat_map(|i| (0..l).map(move |j| (i, j))) {
                let x = draws.normal((i * l + j) as u64);
                r.set(i, j, if j + 1 == l { -9.0 - x.abs() } else { x });
                begin.set(i, j, draws.uniform((rows * l + i * l + j) as u64));
            }
            let (n, dead) = (rows as f64, vec![false; l]);
            let round = |threads: usize| {
                let how = Normalisation::Rms;
                let problem = CoordinateProblem { r: &r, g: &g, n, how, weights: None, dead: &dead };
                let mut mu = begin.clone();
                let found = on_pool(threads, || problem.round(&mut mu));
                (found, mu)
            };
            let ((found, mu), mut want) = (round(1), begin.clone());
            naive(&r, &g, n, &mut want);
            let each = || (0..rows).flat_map(|i| (0..l).map(move |j| (i, j)));
            for (i, j) in each() {
                assert!((mu.at(i, j) - want.at(i, j)).abs() < 1e-9 * n.sqrt(), "{rows} {l}: {i} {j}");
            }
            let change = each().map(|(i, j)| (mu.at(i, j) - begin.at(i, j)).abs()).fold(0.0, f64::max);
            assert_eq!((found.change, &found.one_hot[..]), (change, &[l - 1][..]));
            assert!(round(3) == (found, mu), "{rows} {l}: the bits depend on the number of threads");
        }
    }
}
