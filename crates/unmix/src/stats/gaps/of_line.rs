//! Posteriors of the factors of rows from the lists of their observed cells: for rows with few observed cells, and for the columns of a
//! factorisation, whose lists are those of the transpose.

use super::lower::{quadratic, symmetric_product};
use super::singular::{posterior, posteriors, pseudo_invert};
use super::{Conditional, LinePosteriors, triangle};
use crate::num::registers::{add_multiples, add_to_parts};
use crate::num::widest;

/// Lines that are solved side by side.
const LANES: usize = 8;

/// The cells of a line: their places in the other side of the model, ascending, and their values.
pub(crate) type LineCells<'a> = (&'a [u32], &'a [f64]);

impl Conditional {
    /// [`of_lines`](Self::of_lines) of one line.
    pub(crate) fn of_line(&self, places: &[u32], values: &[f64], misfit: bool, out: &mut [f64]) {
        self.of_lines(&[(places, values)], misfit, out);
    }

    /// Writes the posteriors of the factors of lines of cells into `out`, the table of [`LinePosteriors`](super::LinePosteriors): of rows,
    /// given their columns, if the model is of the columns. A line without observed cells has the prior. `misfit` requires equal noise
    /// variances of all columns. The bits for a line do not depend on the others. `O(cells k² + lines k³)`.
    pub(crate) fn of_lines(&self, lines: &[LineCells<'_>], misfit: bool, out: &mut [f64]) {
        let (k, t) = (self.model.n_factors(), triangle(self.model.n_factors()));
        let (width, wide) = (LinePosteriors::width(k), triangle(k + 1));
        out.fill(0.0);
        add_tables((&self.pairs, t), lines, out, (width, k));
        let mut errors = Vec::new();
        if let (Some(own), true) = (&self.errors, misfit) {
            errors.resize(lines.len() * wide, 0.0);
            add_tables((&own.covariances, wide), lines, &mut errors, (wide, 0));
        }
        let mut errors = errors.chunks_exact(wide);
        for (lines, out) in lines.chunks(LANES).zip(out.chunks_mut(LANES * width)) {
            self.solve_lines(lines, out, width);
            for (line, out) in lines.iter().zip(out.chunks_exact_mut(width)).filter(|_| misfit) {
                let (mean, rest) = out.split_at_mut(k);
                let (covariance, rest) = rest.split_at_mut(t);
                rest[1] = self.misfit(*line, errors.next(), mean, covariance);
            }
        }
    }

    /// Means, covariances and log determinants of up to [`LANES`] lines from the sums of their pairs, which `out` has in the place of the
    /// covariances.
    fn solve_lines(&self, lines: &[LineCells<'_>], out: &mut [f64], width: usize) {
        let (k, t) = (self.model.n_factors(), triangle(self.model.n_factors()));
        for (line, out) in lines.iter().zip(out.chunks_exact_mut(width)) {
            self.add_cells(*line, &mut out[..k]);
        }
        if self.prior.is_none() && lines.len() > 1 && side_by_side(out, width, k) {
            return;
        }
        for (line, out) in lines.iter().zip(out.chunks_exact_mut(width)) {
            let (mean, rest) = out.split_at_mut(k);
            let (covariance, rest) = rest.split_at_mut(t);
            if let (Some(unseen), true) = (&self.unseen, line.0.is_empty()) {
                covariance.copy_from_slice(&unseen.row);
                continue;
            }
            rest[0] = match self.prior {
                None => 0.0 - posterior(covariance, mean, k),
                Some(_) => {
                    (0..k).for_each(|a| covariance[triangle(a) + a] += self.precision(a, line.0.len()));
                    let log_determinant = pseudo_invert(covariance, k);
                    let b = mean.to_vec();
                    symmetric_product(covariance, &b, mean);
                    0.0 - log_determinant
                }
            };
        }
    }

    /// Adds the contribution of the cells to the right-hand side, in their order, and then that of the errors.
    fn add_cells(&self, (places, values): LineCells<'_>, right: &mut [f64]) {
        let (k, mean) = (right.len(), &self.model.mean[..]);
        let cells = places.iter().zip(values);
        let cells = cells.map(|(&j, x)| (x - mean[j as usize], &self.weighted[j as usize * k..][..k]));
        add_multiples(right, cells);
        if let Some(errors) = &self.errors {
            add_multiples(right, places.iter().map(|&j| (-1.0, &errors.shifts[j as usize * k..][..k])));
        }
    }

    /// Expected sum of squared residuals of a line whose factors have this posterior.
    ///
    /// ```text
    /// sum r_j² + [z; 1]' E [z; 1] + tr(V sum (w_j w_j' + cov w_j)),   E = sum cov (w_j, mean_j)
    /// ```
    ///
    /// where the trace is `psi (k - tr V)`, since the precision is `V⁻¹ = I + sum / psi`. With a prior other than `N(0, I)`, for
    /// penalised least squares, it is the sum of squared residuals alone.
    fn misfit(&self, line: LineCells<'_>, errors: Option<&[f64]>, mean: &[f64], covariance: &[f64]) -> f64 {
        let Some(&first) = line.0.first() else { return 0.0 };
        let (k, t) = (mean.len(), covariance.len());
        let mut squares = widest(
            #[inline(always)]
            || self.squared_residuals(line, mean),
        );
        if self.prior.is_none() {
            let trace: f64 = (0..k).map(|a| 1.0 - covariance[triangle(a) + a]).sum();
            squares += self.model.noise[first as usize] * trace;
        }
        if let Some(sum) = errors {
            let cross: f64 = sum[t..t + k].iter().zip(mean).map(|(c, z)| c * z).sum();
            squares += quadratic(sum, mean) + 2.0 * cross + sum[t + k];
        }
        squares
    }

    /// Sum of the squared residuals at the means of the factors; the sums over factors of eight cells are computed side by side.
    #[inline(always)]
    fn squared_residuals(&self, (places, values): LineCells<'_>, mean: &[f64]) -> f64 {
        const CELLS: usize = 8;
        let (k, loadings) = (mean.len(), &self.model.loadings[..]);
        let mut squares = 0.0;
        for (places, values) in places.chunks(CELLS).zip(values.chunks(CELLS)) {
            let mut fitted = [0.0; CELLS];
            // Places beyond the last cell repeat the first one.
            let own: [&[f64]; CELLS] = std::array::from_fn(|c| {
                let place = *places.get(c).unwrap_or(&places[0]) as usize;
                &loadings[place * k..(place + 1) * k]
            });
            // Loops, not closures over a range, which the compiler did not inline here.
            for (a, z) in mean.iter().enumerate() {
                for c in 0..CELLS {
                    fitted[c] += own[c][a] * z;
                }
            }
            for ((&j, &x), fitted) in places.iter().zip(values).zip(fitted) {
                squares += (x - self.model.mean[j as usize] - fitted).powi(2);
            }
        }
        squares
    }
}

/// Solves up to [`LANES`] lines, of `k` right-hand sides and a lower triangle each, in vectors whose lanes are the lines; returns false, and changes
/// nothing, if one of them must be solved individually.
fn side_by_side(out: &mut [f64], width: usize, k: usize) -> bool {
    let numbers = k + triangle(k);
    // Lanes without a line are those of no cells.
    let mut lanes = vec![[0.0; LANES]; numbers];
    for (lane, line) in out.chunks_exact(width).enumerate() {
        lanes.iter_mut().zip(line).for_each(|(lanes, x)| lanes[lane] = *x);
    }
    let (right, pairs) = lanes.split_at_mut(k);
    let solved = widest(
        #[inline(always)]
        || posteriors(pairs, right, k),
    );
    let Some(log_determinants) = solved else { return false };
    for (lane, line) in out.chunks_exact_mut(width).enumerate() {
        lanes.iter().zip(&mut *line).for_each(|(lanes, x)| *x = lanes[lane]);
        line[numbers] = 0.0 - log_determinants[lane];
    }
    true
}

/// Adds to a part of `out` for each line of cells the lines of a table, `width` numbers each, at the places of its cells, in their order. The part has
/// `width` numbers from `offset` on, of `stride` numbers for a line.
///
/// A block of the table that fits in the cache is added to all lines before the next one.
fn add_tables(
    (table, width): (&[f64], usize),
    lines: &[LineCells<'_>],
    out: &mut [f64],
    (stride, offset): (usize, usize),
) {
    /// Numbers of a block: 96 KiB, a part of the second-level cache.
    const NUMBERS_PER_BLOCK: usize = 12288;
    /// Least average number of cells of a line that are in a block: the sums are read and written once for each block.
    const CELLS: usize = 4;
    if width == 0 {
        return;
    }
    let (n, cells) = (table.len() / width, lines.iter().map(|(places, _)| places.len()).sum::<usize>());
    let block = match lines.len() {
        1 => n,
        lines => (NUMBERS_PER_BLOCK / width).max((CELLS * n * lines).div_ceil(cells.max(1))),
    };
    let mut rest: Vec<&[u32]> = lines.iter().map(|(places, _)| *places).collect();
    for start in (0..n).step_by(block.max(1)) {
        widest(
            #[inline(always)]
            || {
                for (rest, out) in rest.iter_mut().zip(out.chunks_exact_mut(stride)) {
                    let count = rest.iter().take_while(|&&j| (j as usize) < start + block).count();
                    let (places, after) = rest.split_at(count);
                    let terms = places.iter().map(|&j| (1.0, &table[j as usize * width..][..width]));
                    add_to_parts(&mut out[offset..offset + width], terms);
                    *rest = after;
                }
            },
        );
    }
}

#[cfg(test)]
mod tests;
