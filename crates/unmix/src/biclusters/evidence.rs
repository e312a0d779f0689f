//! How far the rows of a module exceed the other rows in its columns, compared with the best of all sets of as many rows and columns.

use super::units::Unit;
use crate::data::{Rows, Workspace};
use crate::error::Result;
use crate::num::{Block, Real};
use crate::run::Run;
use crate::select::ln_gamma;
use crate::stats::{Gather, GatherMoments, Packer, Partial, Unpacker};
use std::borrow::Cow;

/// Standard deviations at which cells are clipped, so that a few extreme cells are not a module.
const CLIPPED_AT_DEVIATIONS: f64 = 3.0;

/// Mean and standard deviation of every column.
#[derive(Clone, Debug)]
pub struct Columns {
    means: Vec<f64>,
    pub(super) deviations: Vec<f64>,
}

impl Columns {
    /// From means and standard deviations.
    pub fn new(means: Vec<f64>, deviations: Vec<f64>) -> Self {
        Self { means, deviations }
    }

    pub(super) fn of<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Self> {
        let moments = rows.sweep(run, "moments", &GatherMoments::new())?;
        let means = moments.mean.iter().zip(&moments.rest).map(|(mean, rest)| mean + rest).collect();
        Ok(Self::new(means, moments.deviations()))
    }

    /// The cell of a column in its standard deviations, clipped.
    fn standard(&self, column: usize, x: f64) -> f64 {
        let deviation = self.deviations[column];
        if deviation > 0.0 {
            ((x - self.means[column]) / deviation).clamp(-CLIPPED_AT_DEVIATIONS, CLIPPED_AT_DEVIATIONS)
        } else {
            0.0
        }
    }
}

/// Member rows and columns of a unit.
#[derive(Clone, Debug, Default)]
pub struct Members<'a> {
    /// Member rows, ascending.
    pub rows: Cow<'a, [u32]>,
    /// Member columns.
    pub columns: Cow<'a, [u32]>,
    /// For each member column, whether its loading is positive.
    pub positive: Cow<'a, [bool]>,
}

impl<'a> Members<'a> {
    fn of(unit: &'a Unit) -> Self {
        let (rows, columns) = (Cow::Borrowed(&unit.rows[..]), Cow::Borrowed(&unit.columns[..]));
        Self { rows, columns, positive: Cow::Borrowed(&unit.positive[..]) }
    }

    /// Mean of the member columns of a row, by the signs of their loadings.
    fn mean_of_columns(&self, row: &[f64]) -> f64 {
        let signed = |(j, up): (&u32, &bool)| if *up { row[*j as usize] } else { -row[*j as usize] };
        self.columns.iter().zip(&*self.positive).map(signed).sum::<f64>() / self.columns.len() as f64
    }

    fn pack(&self, out: &mut Packer) {
        for list in [&self.rows, &self.columns] {
            out.count(list.len() as u64);
            list.iter().for_each(|i| out.count(u64::from(*i)));
        }
        self.positive.iter().for_each(|up| out.count(u64::from(*up)));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let mut list = || {
            let n = from.count()?;
            (0..n).map(|_| from.count().map(|i| i as u32)).collect::<Result<Vec<u32>>>()
        };
        let (rows, columns) = (list()?, list()?);
        let positive = columns.iter().map(|_| from.flag()).collect::<Result<Vec<bool>>>()?;
        from.check(rows.is_sorted())?;
        Ok(Self { rows: rows.into(), columns: columns.into(), positive: positive.into() })
    }
}

/// Sums over the rows of the mean of a unit's member columns, by their signs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Means {
    /// Number of member rows and of other rows, weighted.
    members: f64,
    others: f64,
    /// Sum over the members.
    inside: f64,
    /// Mean of the others, and sum of squares about it.
    outside: f64,
    squares: f64,
}

impl Means {
    fn add(&mut self, member: bool, x: f64, weight: f64) {
        if member {
            self.members += weight;
            self.inside += weight * x;
            return;
        }
        self.others += weight;
        let change = x - self.outside;
        self.outside += weight * change / self.others;
        self.squares += weight * (change * (x - self.outside));
    }

    fn merge(&mut self, right: &Self) {
        self.members += right.members;
        self.inside += right.inside;
        let (a, b) = (self.others, right.others);
        if b == 0.0 {
            return;
        }
        if a == 0.0 {
            (self.others, self.outside, self.squares) = (b, right.outside, right.squares);
            return;
        }
        let change = right.outside - self.outside;
        self.others += b;
        self.outside += change * (b / (a + b));
        self.squares += right.squares + change * change * (a * b / (a + b));
    }

    /// `r d² / 2`, with `d` the difference in standard deviations of the other rows.
    fn gain(&self, n_columns: usize) -> f64 {
        // A single row has no standard deviation.
        if self.members == 0.0 || self.others < 2.0 {
            return 0.0;
        }
        let difference = self.inside / self.members - self.outside;
        let independent = 1.0 / (n_columns as f64).sqrt();
        let d = difference.max(0.0) / (self.squares / self.others).sqrt().max(independent);
        0.5 * self.members * d * d
    }

    fn numbers(&self) -> [f64; 5] {
        [self.members, self.others, self.inside, self.outside, self.squares]
    }
}

/// Sums of every unit over the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleMeans(Vec<Means>);

impl ModuleMeans {
    /// Numbers of member rows and other rows of every unit; means of the others; sums over the members and sums of squares about the mean of the
    /// others.
    pub fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let counts = self.0.iter().flat_map(|means| [means.members, means.others]);
        let sums = self.0.iter().flat_map(|means| [means.inside, means.squares]);
        (counts.collect(), self.0.iter().map(|means| means.outside).collect(), sums.collect())
    }
}

impl Partial for ModuleMeans {
    fn merge(&mut self, right: Self) {
        self.0.iter_mut().zip(&right.0).for_each(|(own, other)| own.merge(other));
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.0.iter().flat_map(Means::numbers).collect::<Vec<f64>>());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let numbers = from.numbers()?;
        from.check(numbers.len().is_multiple_of(5))?;
        let one = |&[members, others, inside, outside, squares]: &[f64; 5]| Means {
            members,
            others,
            inside,
            outside,
            squares,
        };
        Ok(Self(numbers.as_chunks::<5>().0.iter().map(one).collect()))
    }

    fn bytes(&self) -> usize {
        40 * self.0.len()
    }
}

/// Gathers the [`ModuleMeans`] of units. `O(p)` for each row, and the number of member columns for each unit.
pub struct GatherModules<'a> {
    columns: Cow<'a, Columns>,
    units: Vec<Members<'a>>,
}

impl<'a> GatherModules<'a> {
    /// For units with these members; cells are in the standard deviations of their columns.
    pub fn new(columns: &'a Columns, units: Vec<Members<'a>>) -> Self {
        Self { columns: Cow::Borrowed(columns), units }
    }
}

impl<T: Real> Gather<T> for GatherModules<'_> {
    type Part = ModuleMeans;
    const KIND: &'static str = "modules";

    fn width(&self) -> Option<usize> {
        Some(self.columns.means.len())
    }

    fn zero(&self, _: usize) -> ModuleMeans {
        ModuleMeans(vec![Means::default(); self.units.len()])
    }

    fn add(&self, part: &mut ModuleMeans, block: Block<'_, T>, work: &mut Workspace<T>) {
        let next = |unit: &Members<'_>| unit.rows.partition_point(|i| u64::from(*i) < block.first_row);
        let mut next: Vec<usize> = self.units.iter().map(next).collect();
        let standard = &mut work.wide;
        for (i, row) in block.rows().enumerate() {
            let (at, weight) = (block.first_row + i as u64, block.weights.map_or(1.0, |w| w[i]));
            standard.clear();
            standard.extend(row.iter().enumerate().map(|(j, x)| self.columns.standard(j, x.to_f64())));
            for ((unit, means), next) in self.units.iter().zip(&mut part.0).zip(&mut next) {
                let member = unit.rows.get(*next).is_some_and(|i| u64::from(*i) == at);
                *next += usize::from(member);
                if weight > 0.0 && !unit.columns.is_empty() {
                    means.add(member, unit.mean_of_columns(standard), weight);
                }
            }
        }
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.columns.means);
        out.numbers(&self.columns.deviations);
        out.count(self.units.len() as u64);
        self.units.iter().for_each(|unit| unit.pack(out));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let columns = Columns::new(from.numbers()?, from.numbers()?);
        let p = columns.means.len();
        let n = from.count()?;
        let units = (0..n).map(|_| Members::unpack(from)).collect::<Result<Vec<Members<'_>>>>()?;
        let inside = |unit: &Members<'_>| unit.columns.iter().all(|j| (*j as usize) < p);
        from.check(columns.deviations.len() == p && units.iter().all(inside))?;
        Ok(Self { columns: Cow::Owned(columns), units })
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
    rows: &Rows<'_, T>,
    columns: &Columns,
    run: &Run<'_>,
) -> Result<()> {
    let (n, p) = (rows.n_rows().unwrap_or(0) as usize, rows.n_features());
    let members = units.iter().map(Members::of).collect();
    let found = rows.sweep(run, "evidence", &GatherModules::new(columns, members))?;
    for (unit, means) in units.iter_mut().zip(found.0) {
        let sets = ln_choose(n, unit.rows.len()) + ln_choose(p, unit.columns.len());
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
            means.add(member, x, 1.0);
        }
        // Members have mean 4, others 1 with variance 8/3: d² = 27/8. Of a single column, the deviation is at least 1.
        assert!((means.gain(1) - 27.0 / 8.0).abs() < 1e-12, "{}", means.gain(1));
        // Others that do not vary have the deviation of independent columns, 1/2 for four.
        let mut same = Means::default();
        for (member, x) in [(true, 1.0), (false, 0.0), (false, 0.0)] {
            same.add(member, x, 1.0);
        }
        assert_eq!(same.gain(4), 2.0);
        // Members that are lower have none.
        assert_eq!(
            Means { members: 2.0, others: 2.0, inside: -1.0, outside: 0.0, squares: 1.0 }.gain(4),
            0.0
        );
        assert!((ln_choose(5, 2) - 10f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn rows_of_weight_two_count_twice_and_merged_sums_are_those_of_all_rows() {
        let values = [(true, 3.0), (false, 1.0), (false, -1.0), (true, 5.0), (false, 3.0)];
        let (mut weighted, mut repeated) = (Means::default(), Means::default());
        for (member, x) in values {
            weighted.add(member, x, 2.0);
            (0..2).for_each(|_| repeated.add(member, x, 1.0));
        }
        let near =
            |a: &Means, b: &Means| a.numbers().iter().zip(b.numbers()).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(&weighted, &repeated), "{weighted:?} {repeated:?}");
        let parts = values.map(|(member, x)| {
            let mut part = Means::default();
            part.add(member, x, 2.0);
            part
        });
        let mut merged = Means::default();
        parts.iter().for_each(|part| merged.merge(part));
        assert!(near(&weighted, &merged), "{weighted:?} {merged:?}");
    }
}
