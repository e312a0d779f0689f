//! How far the rows of a module exceed the other rows in its columns, compared with the best of all sets of as many rows and columns.

use super::units::Unit;
use crate::data::{RandomAccess, Rows};
use crate::error::Result;
use crate::num::Real;
use crate::run::Run;
use crate::select::ln_gamma;
use crate::stats::GatherMoments;

/// Standard deviations at which cells are clipped, so that a few extreme cells are no module.
const ENDS: f64 = 3.0;
/// Cells that are read at once.
const CELLS: usize = 1 << 18;

/// Mean and standard deviation of every column.
pub(super) struct Columns {
    means: Vec<f64>,
    pub(super) deviations: Vec<f64>,
}

impl Columns {
    pub(super) fn of<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Self> {
        let moments = rows.sweep(run, "moments", &GatherMoments::new())?;
        Ok(Self {
            means: moments.mean.iter().zip(&moments.rest).map(|(mean, rest)| mean + rest).collect(),
            deviations: moments.deviations(),
        })
    }

    /// The cell of a column in its standard deviations, clipped.
    fn standard(&self, column: usize, x: f64) -> f64 {
        let deviation = self.deviations[column];
        if deviation > 0.0 { ((x - self.means[column]) / deviation).clamp(-ENDS, ENDS) } else { 0.0 }
    }
}

/// Sums over the rows of the mean of a unit's member columns, by their signs.
#[derive(Clone, Copy, Default)]
struct Means {
    /// Rows that were read, and how many of them are members.
    members: usize,
    others: usize,
    /// Sum over the members.
    inside: f64,
    /// Mean of the others, and sum of squares about it.
    outside: f64,
    squares: f64,
}

impl Means {
    fn add(&mut self, member: bool, x: f64) {
        if member {
            self.members += 1;
            self.inside += x;
            return;
        }
        self.others += 1;
        let change = x - self.outside;
        self.outside += change / self.others as f64;
        self.squares += change * (x - self.outside);
    }

    /// `r d² / 2`, with `d` the difference in standard deviations of the other rows.
    fn gain(&self, n_columns: usize) -> f64 {
        // A single row has no standard deviation.
        if self.members == 0 || self.others < 2 {
            return 0.0;
        }
        let difference = self.inside / self.members as f64 - self.outside;
        let independent = 1.0 / (n_columns as f64).sqrt();
        let d = difference.max(0.0) / (self.squares / self.others as f64).sqrt().max(independent);
        0.5 * self.members as f64 * d * d
    }
}

/// Sets the evidence of each unit: `r d² / 2 - ln C(n, r) - ln C(p, c)` nats, for `r` member rows of `n` and `c` member columns of `p`.
///
/// `d` is the difference between member rows and other rows in the mean of the member columns, each in its standard deviations with its sign,
/// divided by the standard deviation of that mean among the other rows; of independent columns this is `1 / sqrt(c)`, the smallest value that
/// is used. The first term is the gain in log-likelihood by shifting the member rows, the others are the logarithm of the number of sets of this
/// size, as in A. Shabalin et al. (2009), Finding large average submatrices in high dimensional data, Annals of Applied Statistics 3:985; there
/// the noise is independent. Here a factor that is dense in the rows has little evidence, because the other rows vary along it, too. One pass over
/// the rows, `O(n p + n c)` for each unit.
pub(super) fn set_evidence<T: Real>(
    units: &mut [Unit],
    source: &dyn RandomAccess<T>,
    columns: &Columns,
    run: &Run<'_>,
) -> Result<()> {
    let (n, p) = (source.n_rows(), columns.means.len());
    let block = (CELLS / p.max(1)).max(1) as u64;
    let mut means = vec![Means::default(); units.len()];
    let (mut numbers, mut raw, mut standard) = (Vec::new(), Vec::new(), vec![0.0; p]);
    let mut from = 0;
    while from < n {
        let to = (from + block).min(n);
        numbers.resize((to - from) as usize * p, T::default());
        source.read(from..to, 0..p, &mut numbers, &mut raw)?;
        for (row, at) in numbers.chunks_exact(p).zip(from..) {
            standard
                .iter_mut()
                .zip(row)
                .enumerate()
                .for_each(|(j, (z, x))| *z = columns.standard(j, x.to_f64()));
            for (unit, means) in units.iter().zip(&mut means).filter(|(unit, _)| !unit.columns.is_empty()) {
                let member = unit.rows.get(means.members).is_some_and(|i| u64::from(*i) == at);
                means.add(member, unit.mean_of_columns(&standard));
            }
        }
        from = to;
        run.sweep_progress("evidence", to, Some(n))?;
    }
    for (unit, means) in units.iter_mut().zip(means) {
        let sets = ln_choose(n as usize, unit.rows.len()) + ln_choose(p, unit.columns.len());
        unit.evidence = means.gain(unit.columns.len()) - sets;
    }
    Ok(())
}

/// Logarithm of the number of subsets of `k` of `n`.
fn ln_choose(n: usize, k: usize) -> f64 {
    let factorial = |m: usize| ln_gamma(m as f64 + 1.0);
    factorial(n) - factorial(k) - factorial(n - k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gain_is_that_of_a_shift_of_the_members() {
        let mut means = Means::default();
        for (member, x) in [(true, 3.0), (false, 1.0), (false, -1.0), (true, 5.0), (false, 3.0)] {
            means.add(member, x);
        }
        // Members have mean 4, others 1 with variance 8/3: d² = 27/8. Of a single column, the deviation is at least 1.
        assert!((means.gain(1) - 27.0 / 8.0).abs() < 1e-12, "{}", means.gain(1));
        // Others that do not vary have the deviation of independent columns, 1/2 for four.
        let mut same = Means::default();
        for (member, x) in [(true, 1.0), (false, 0.0), (false, 0.0)] {
            same.add(member, x);
        }
        assert_eq!(same.gain(4), 2.0);
        // Members that are lower have none.
        assert_eq!(Means { members: 2, others: 2, inside: -1.0, outside: 0.0, squares: 1.0 }.gain(4), 0.0);
        assert!((ln_choose(5, 2) - 10f64.ln()).abs() < 1e-12);
    }
}
