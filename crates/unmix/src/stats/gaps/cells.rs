//! Rows as lists of their observed cells, and posteriors of their factors from these lists: for rows with few observed cells, and
//! for the columns of a factorisation, whose lists are those of the transpose.

use super::{Conditional, Packer, Unpacker, cholesky, invert_root, quadratic, triangle};
use crate::error::Result;
use crate::num::{Block, Matrix, Real, Workspace, factor, fill_at_once, widest};
use crate::stats::{Gather, Partial};
use serde::{Deserialize, Serialize};

/// Rows as compressed lists of their cells: row `i` has cells `starts[i]..starts[i + 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct CellLists {
    /// Start of each row; one more than the number of rows.
    pub starts: Vec<usize>,
    /// Columns of the cells, ascending within a row.
    pub columns: Vec<u32>,
    /// Their values.
    pub values: Vec<f64>,
    /// The first infinite number: row, column, value.
    pub infinite: Option<(u64, u64, f64)>,
}

impl Default for CellLists {
    fn default() -> Self {
        Self { starts: vec![0], columns: Vec::new(), values: Vec::new(), infinite: None }
    }
}

impl CellLists {
    /// Appends a row of these columns and values; NaN is a missing cell.
    pub fn push(&mut self, row: u64, cells: impl Iterator<Item = (u32, f64)>) {
        for (j, x) in cells.filter(|(_, x)| !x.is_nan()) {
            if x.is_infinite() {
                self.infinite.get_or_insert((row, j as u64, x));
            }
            self.columns.push(j);
            self.values.push(x);
        }
        self.starts.push(self.columns.len());
    }
}

/// Gathers the [`CellLists`] of rows in which NaN is a missing cell. `O(n p)`.
#[derive(Clone, Copy, Debug)]
pub struct GatherCells;

impl<T: Real> Gather<T> for GatherCells {
    type Part = CellLists;
    const KIND: &'static str = "lists of cells";

    fn width(&self) -> Option<usize> {
        None
    }

    fn zero(&self, _: usize) -> CellLists {
        CellLists::default()
    }

    fn add(&self, part: &mut CellLists, block: Block<'_, T>, _: &mut Workspace<T>) {
        for (i, row) in block.rows().enumerate() {
            let cells = row.iter().enumerate().map(|(j, x)| (j as u32, x.to_f64()));
            part.push(block.first_row + i as u64, cells);
        }
    }

    fn pack(&self, _: &mut Packer) {}

    fn unpack(_: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Partial for CellLists {
    fn merge(&mut self, right: Self) {
        if self.starts.len() == 1 {
            *self = right;
            return;
        }
        let before = self.columns.len();
        self.starts.extend(right.starts[1..].iter().map(|at| before + at));
        self.columns.extend(right.columns);
        self.values.extend(right.values);
        // Parts are merged in the order of their rows.
        self.infinite = self.infinite.or(right.infinite);
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.starts.len() as u64);
        self.starts.iter().for_each(|at| out.count(*at as u64));
        self.columns.iter().for_each(|j| out.count(u64::from(*j)));
        out.numbers(&self.values);
        out.count(u64::from(self.infinite.is_some()));
        if let Some((row, column, x)) = self.infinite {
            out.count(row);
            out.count(column);
            out.number(x);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let lines = from.count()?;
        let mut part = Self { starts: Vec::new(), ..Self::default() };
        for _ in 0..lines {
            let (at, last) = (from.count()? as usize, part.starts.last().copied());
            from.check(last.map_or(at == 0, |last| at >= last))?;
            part.starts.push(at);
        }
        let cells = part.starts.last().copied();
        from.check(cells.is_some())?;
        for _ in 0..cells.unwrap_or(0) {
            let j = from.count()?;
            from.check(j <= u64::from(u32::MAX))?;
            part.columns.push(j as u32);
        }
        part.values = from.numbers()?;
        from.check(part.values.len() == part.columns.len())?;
        part.infinite = match from.flag()? {
            true => Some((from.count()?, from.count()?, from.number()?)),
            false => None,
        };
        Ok(part)
    }

    fn bytes(&self) -> usize {
        8 * (self.starts.len() + 4) + 12 * self.values.len()
    }
}

/// Posteriors of the factors of rows or columns ("lines") of cells: for each line `k` means, the lower triangle of the covariance, the
/// logarithm of its determinant, and the misfit if requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinePosteriors {
    k: usize,
    table: Vec<f64>,
}

impl LinePosteriors {
    /// Numbers for each line with `k` factors.
    pub fn width(k: usize) -> usize {
        k + triangle(k) + 2
    }

    /// From a table of lines of [`width`](Self::width) numbers, each written by [`Conditional::of_line`].
    pub fn new(k: usize, table: Vec<f64>) -> Self {
        Self { k, table }
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.table.len() / Self::width(self.k)
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Number of factors.
    pub fn n_factors(&self) -> usize {
        self.k
    }

    /// Transforms the lines for which `changes` is true: the first factors `z` become `matrix z`, with `matrix` square, the others are
    /// multiplied by `scale`, and covariances accordingly. Determinants and misfits are unchanged. `O(lines k³)`, in so many threads.
    pub fn transform(
        &mut self,
        matrix: &Matrix<f64>,
        scale: f64,
        changes: impl Fn(usize) -> bool + Sync,
        threads: usize,
    ) {
        let (q, k) = (self.k, matrix.rows());
        let entry = |a: usize, b: usize| match (a < k, b < k) {
            (true, true) => matrix[(a, b)],
            (false, false) if a == b => scale,
            _ => 0.0,
        };
        let full = Matrix::from_fn(q, q, entry);
        let across = full.transposed();
        let line = |i: usize, line: &mut [f64]| {
            if !changes(i) {
                return;
            }
            let (mean, rest) = line.split_at_mut(q);
            let before = mean.to_vec();
            for (a, mean) in mean.iter_mut().enumerate() {
                *mean = full.row(a).iter().zip(&before).map(|(t, z)| t * z).sum();
            }
            widest(
                #[inline(always)]
                || rotate_covariance(&full, &across, &mut rest[..triangle(q)]),
            );
        };
        let (lines, width) = (self.len(), Self::width(q));
        fill_at_once(threads, lines * q * q, &mut self.table, width, line);
    }

    /// The posteriors of selected factors, in this order, each multiplied by a sign.
    pub fn chosen(&self, selected: &[(usize, f64)]) -> Self {
        let k = selected.len();
        let mut table = Vec::with_capacity(self.len() * Self::width(k));
        for i in 0..self.len() {
            let (mean, v) = (self.mean(i), self.covariance(i));
            table.extend(selected.iter().map(|(a, s)| s * mean[*a]));
            for (c, (a, s)) in selected.iter().enumerate() {
                table.extend(selected[..=c].iter().map(|(b, t)| s * t * v[triangle(*a.max(b)) + *a.min(b)]));
            }
            table.extend([self.log_determinant(i), self.misfit(i)]);
        }
        Self { k, table }
    }

    fn line(&self, i: usize) -> &[f64] {
        &self.table[i * Self::width(self.k)..(i + 1) * Self::width(self.k)]
    }

    /// Means of the factors of line `i`.
    pub fn mean(&self, i: usize) -> &[f64] {
        &self.line(i)[..self.k]
    }

    /// Covariance of the factors of line `i`: the lower triangle, row by row.
    pub fn covariance(&self, i: usize) -> &[f64] {
        &self.line(i)[self.k..self.k + triangle(self.k)]
    }

    /// Logarithm of the determinant of that covariance.
    pub fn log_determinant(&self, i: usize) -> f64 {
        self.line(i)[self.k + triangle(self.k)]
    }

    /// Expected sum of squared residuals of line `i`, under the posteriors of rows and columns.
    pub(crate) fn misfit(&self, i: usize) -> f64 {
        self.line(i)[self.k + triangle(self.k) + 1]
    }
}

impl Conditional {
    /// Writes the posterior of the factors of a line of cells into `out`, a line of [`LinePosteriors`]: of a row, given its columns, if
    /// the model is of the columns. A line without observed cells has the prior. `misfit` requires equal noise variances of all columns.
    /// `O(cells k² + k³)`.
    pub(crate) fn of_line(&self, places: &[u32], values: &[f64], misfit: bool, out: &mut [f64]) {
        let (k, t) = (self.model.n_factors(), triangle(self.model.n_factors()));
        let (mean, rest) = out.split_at_mut(k);
        let (covariance, rest) = rest.split_at_mut(t);
        let mut right = vec![0.0; k];
        covariance.fill(0.0);
        widest(
            #[inline(always)]
            || self.add_cells(places, values, &mut right, covariance),
        );
        rest[0] = match self.prior {
            None => 0.0 - posterior(covariance, &mut right, k),
            Some(_) => {
                (0..k).for_each(|a| covariance[triangle(a) + a] += self.precision(a, places.len()));
                let log_determinant = pseudo_invert(covariance, k);
                let b = right.clone();
                super::symmetric_product(covariance, &b, &mut right);
                0.0 - log_determinant
            }
        };
        mean.copy_from_slice(&right);
        rest[1] = if misfit { self.misfit(places, values, mean, covariance) } else { 0.0 };
    }

    /// Adds the contribution of the cells to the right-hand side and to the precision matrix.
    #[inline(always)]
    fn add_cells(&self, places: &[u32], values: &[f64], right: &mut [f64], precision: &mut [f64]) {
        let (k, t) = (right.len(), precision.len());
        for (&j, &x) in places.iter().zip(values) {
            let j = j as usize;
            let deviation = x - self.model.mean[j];
            let weighted = &self.weighted[j * k..(j + 1) * k];
            right.iter_mut().zip(weighted).for_each(|(b, w)| *b += w * deviation);
            if let Some(errors) = &self.errors {
                right.iter_mut().zip(&errors.shifts[j * k..(j + 1) * k]).for_each(|(b, s)| *b -= s);
            }
        }
        add_lines(precision, &self.pairs, places, t);
    }

    /// Expected sum of squared residuals of a line whose factors have this posterior.
    ///
    /// ```text
    /// sum r_j² + [z; 1]' E [z; 1] + tr(V sum (w_j w_j' + cov w_j)),   E = sum cov (w_j, mean_j)
    /// ```
    ///
    /// where the trace is `psi (k - tr V)`, since the precision is `V⁻¹ = I + sum / psi`. With a prior other than `N(0, I)`, for
    /// penalised least squares, it is the sum of squared residuals alone.
    fn misfit(&self, places: &[u32], values: &[f64], mean: &[f64], covariance: &[f64]) -> f64 {
        let Some(&first) = places.first() else { return 0.0 };
        let (k, t) = (mean.len(), covariance.len());
        let mut squares = 0.0;
        for (&j, &x) in places.iter().zip(values) {
            let j = j as usize;
            let w = &self.model.loadings[j * k..(j + 1) * k];
            let fitted: f64 = w.iter().zip(mean).map(|(w, z)| w * z).sum();
            squares += (x - self.model.mean[j] - fitted).powi(2);
        }
        if self.prior.is_none() {
            let trace: f64 = (0..k).map(|a| 1.0 - covariance[triangle(a) + a]).sum();
            squares += self.model.noise[first as usize] * trace;
        }
        if let Some(errors) = &self.errors {
            let width = triangle(k + 1);
            let mut sum = vec![0.0; width];
            widest(
                #[inline(always)]
                || add_lines(&mut sum, &errors.covariances, places, width),
            );
            let cross: f64 = sum[t..t + k].iter().zip(mean).map(|(c, z)| c * z).sum();
            squares += quadratic(&sum, mean) + 2.0 * cross + sum[t + k];
        }
        squares
    }
}

/// Adds the lines at `places` of a table, `width` numbers each, in this order: four at a time, so that the sum is loaded and stored once
/// for four.
#[inline(always)]
fn add_lines(sum: &mut [f64], table: &[f64], places: &[u32], width: usize) {
    let line = |j: u32| &table[j as usize * width..][..width];
    let sum = &mut sum[..width];
    let fours = places.chunks_exact(4);
    let last = fours.remainder();
    for four in fours {
        let [a, b, c, d] = [line(four[0]), line(four[1]), line(four[2]), line(four[3])];
        for e in 0..width {
            sum[e] = sum[e] + a[e] + b[e] + c[e] + d[e];
        }
    }
    for &j in last {
        sum.iter_mut().zip(line(j)).for_each(|(s, x)| *s += x);
    }
}

/// `to += x from`, number by number.
#[inline(always)]
fn add_multiple(to: &mut [f64], x: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += x * from);
}

/// Replaces the lower triangle of `v` by that of `rotation v rotation'`; `across` is `rotation'`. Sums are over ascending indices, for a whole row of
/// the result at once.
#[inline(always)]
fn rotate_covariance(rotation: &Matrix<f64>, across: &Matrix<f64>, v: &mut [f64]) {
    let q = rotation.rows();
    let mut tables = vec![-0.0; 2 * q * q];
    let (whole, half) = tables.split_at_mut(q * q);
    for a in 0..q {
        for b in 0..=a {
            whole[a * q + b] = v[triangle(a) + b];
            whole[b * q + a] = v[triangle(a) + b];
        }
    }
    for (a, half) in half.chunks_exact_mut(q.max(1)).enumerate() {
        for (x, line) in rotation.row(a).iter().zip(whole.chunks_exact(q)) {
            add_multiple(half, *x, line);
        }
        let out = &mut v[triangle(a)..=triangle(a) + a];
        out.fill(-0.0);
        for (c, x) in half.iter().enumerate() {
            add_multiple(out, *x, &across.row(c)[..=a]);
        }
    }
}

/// Replaces the lower triangle of `q`, positive semidefinite, by `V = (I + q)⁻¹`, and `b` by `V b`; returns `log|I + q|`.
///
/// If `q` is so large that the prior is lost in rounding and `q` is singular, as with fewer cells than factors and almost no noise,
/// directions that the cells do not determine keep the prior: mean 0 and variance 1.
fn posterior(q: &mut [f64], b: &mut [f64], k: usize) -> f64 {
    let diagonal: Vec<f64> = (0..k).map(|a| q[triangle(a) + a]).collect();
    let level = 16.0 * k as f64 * f64::EPSILON;
    let whole = diagonal.iter().fold(0.0f64, |m, d| m.max(*d)) * level >= 1e-3;
    let kept = whole.then(|| q.to_vec());
    (0..k).for_each(|a| q[triangle(a) + a] += 1.0);
    let log_determinant = cholesky(q, k);
    if let Some(kept) = kept {
        let lost = |a: usize| q[triangle(a) + a].powi(2) <= level * diagonal[a];
        if (0..k).any(lost) {
            return deflated(&kept, q, b, k);
        }
    }
    invert_root(q, k);
    let right = b.to_vec();
    super::symmetric_product(q, &right, b);
    log_determinant
}

/// Replaces the lower triangle of a positive semidefinite matrix by that of its inverse, or of its pseudo-inverse if it is singular up to
/// rounding; returns the log determinant of the inverted part.
pub(super) fn pseudo_invert(a: &mut [f64], k: usize) -> f64 {
    let kept = a.to_vec();
    let level = 16.0 * k as f64 * f64::EPSILON;
    let log_determinant = cholesky(a, k);
    let lost = |i: usize| a[triangle(i) + i].powi(2) <= level * kept[triangle(i) + i];
    if !(0..k).any(lost) {
        invert_root(a, k);
        return log_determinant;
    }
    a.fill(0.0);
    let full = Matrix::from_fn(k, k, |i, j| kept[triangle(i.max(j)) + i.min(j)]);
    let Ok((values, vectors)) = factor::eigh(&full) else { return 0.0 };
    let above = values.iter().enumerate().filter(|(_, v)| **v > level * values[0] && **v > 0.0);
    let mut log_determinant = 0.0;
    for (c, value) in above {
        let u = vectors.row(c);
        log_determinant += value.ln();
        for i in 0..k {
            (0..=i).for_each(|j| a[triangle(i) + j] += u[i] * u[j] / value);
        }
    }
    log_determinant
}

/// [`posterior`] through the eigenvalues of `q`; those at the level of rounding errors are set to 0.
fn deflated(q: &[f64], out: &mut [f64], b: &mut [f64], k: usize) -> f64 {
    let full = Matrix::from_fn(k, k, |i, j| q[triangle(i.max(j)) + i.min(j)]);
    // The eigenvalue decomposition of a finite matrix converges; if it did not, the prior would be returned.
    let Ok((values, vectors)) = factor::eigh(&full) else {
        out.fill(0.0);
        (0..k).for_each(|a| out[triangle(a) + a] = 1.0);
        b.fill(0.0);
        return 0.0;
    };
    let least = 16.0 * k as f64 * f64::EPSILON * values[0];
    let right = b.to_vec();
    out.fill(0.0);
    b.fill(0.0);
    let mut log_determinant = 0.0;
    for (c, value) in values.iter().enumerate() {
        let u = vectors.row(c);
        let share = if *value > least { 1.0 / (1.0 + value) } else { 1.0 };
        for i in 0..k {
            (0..=i).for_each(|j| out[triangle(i) + j] += share * (u[i] * u[j]));
        }
        if *value > least {
            log_determinant += (1.0 + value).ln();
            let along: f64 = u.iter().zip(&right).map(|(u, b)| u * b).sum();
            b.iter_mut().zip(u).for_each(|(b, u)| *b += share * along * u);
        }
    }
    log_determinant
}

/// Sum over lines with observed cells of `z z' + V`, a lower triangle, and the number of these lines.
pub fn second_moments(posteriors: &LinePosteriors, has_cells: impl Fn(usize) -> bool) -> (Vec<f64>, f64) {
    let k = posteriors.n_factors();
    let (mut sum, mut n) = (vec![0.0; triangle(k)], 0.0);
    for i in (0..posteriors.len()).filter(|i| has_cells(*i)) {
        n += 1.0;
        widest(
            #[inline(always)]
            || {
                let (z, v) = (posteriors.mean(i), posteriors.covariance(i));
                for a in 0..k {
                    let line = triangle(a)..=triangle(a) + a;
                    let sum = sum[line.clone()].iter_mut();
                    sum.zip(&v[line]).zip(z).for_each(|((s, v), b)| *s += z[a] * b + v);
                }
            },
        );
    }
    (sum, n)
}

/// `2 KL(q || prior)` of a line: `tr V + ||z||² - k - log|V|`.
pub(crate) fn twice_divergence(posteriors: &LinePosteriors, i: usize) -> f64 {
    let (k, z, v) = (posteriors.n_factors(), posteriors.mean(i), posteriors.covariance(i));
    let trace: f64 = (0..k).map(|a| v[triangle(a) + a] - 1.0).sum();
    trace + z.iter().map(|z| z * z).sum::<f64>() - posteriors.log_determinant(i)
}

#[cfg(test)]
mod tests;
