//! Statistics of all rows for a fit: means, correlations with the atoms, convergence of the codes.

use super::solver::Solver;
use crate::data::{Rows, Sink, Workspace};
use crate::error::{Error, Result};
use crate::num::{Block, Dtype, Matrix, Real, kernel};
use crate::run::Run;
use crate::spectrum::check_total;
use serde_json::{Map, Value, json};

/// Sum and maximum over rows of the largest correlation with an atom.
#[derive(Debug, Default)]
pub(super) struct Correlations {
    /// Number of rows with observed cells.
    pub(super) n: u64,
    /// Number of rows without observed cells.
    pub(super) empty: u64,
    /// Sum over rows.
    pub(super) sum: f64,
    /// Maximum over rows: for `alpha` of at least this, every code is 0.
    pub(super) largest: f64,
    /// The largest squared norm of a row, and the largest absolute entry.
    square: f64,
    entry: f64,
}

impl Correlations {
    /// Refuses rows whose squares overflow or underflow.
    pub(super) fn check_squares(&self, dtype: Dtype) -> Result<()> {
        // Also of single precision, in which rows are coded.
        match self.square <= dtype.most() {
            false => Err(Error::Overflow { method: "sparse-coder".into(), dtype: dtype.name() }),
            true if self.entry == 0.0 => Ok(()),
            true => check_total("sparse-coder", self.square, dtype),
        }
    }

    /// Whether every centred cell is 0.
    pub(super) fn all_zero(&self) -> bool {
        self.entry == 0.0
    }
}

/// Convergence of the codes.
#[derive(Debug, Default)]
pub(super) struct Coded {
    /// Number of rows that were coded, and of those that were not, because the run ended early.
    pub(super) n: u64,
    pub(super) left_out: u64,
    pub(super) not_converged: u64,
    /// The largest relative gap.
    pub(super) worst_gap: f64,
    pub(super) objective: f64,
    pub(super) n_nonzero: f64,
    /// Maximum number of iterations of a row.
    pub(super) most: u64,
    tol: f64,
}

impl Coded {
    /// As diagnostics of the report, by name.
    pub(super) fn diagnostics(&self, found: &Correlations, lasso: bool) -> Map<String, Value> {
        let mut diagnostics = Map::new();
        diagnostics.insert("alpha_max".into(), json!(found.largest));
        if self.n == 0 {
            return diagnostics;
        }
        diagnostics.insert("mean_nonzero".into(), json!(self.n_nonzero / self.n as f64));
        if lasso {
            diagnostics.insert("worst_gap".into(), json!(self.worst_gap));
            diagnostics.insert("not_converged".into(), json!(self.not_converged));
        }
        diagnostics
    }
}

/// Means of the columns over their observed cells; 0 for a column without any.
pub(super) fn mean<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<f64>> {
    struct Sums(Vec<(f64, f64)>);
    impl<T: Real> Sink<T> for Sums {
        fn put(&mut self, rows: &[T]) -> Result<()> {
            for row in rows.chunks_exact(self.0.len()) {
                for ((n, mean), x) in self.0.iter_mut().zip(row).filter(|(_, x)| !x.to_f64().is_nan()) {
                    *n += 1.0;
                    *mean += (x.to_f64() - *mean) / *n;
                }
            }
            Ok(())
        }
    }
    let mut sums = Sums(vec![(0.0, 0.0); rows.n_features()]);
    let step = |block: Block<'_, T>, out: &mut [T], _: &mut Workspace<T>| {
        rows.check_numbers("sparse-coder", &block)?;
        out.copy_from_slice(block.data);
        Ok(())
    };
    rows.map(run, "means", rows.n_features(), step, &mut sums)?;
    Ok(sums.0.into_iter().map(|(_, mean)| mean).collect())
}

impl Sink<f64> for Correlations {
    fn put(&mut self, rows: &[f64]) -> Result<()> {
        for row in rows.chunks_exact(3) {
            let most = &row[0];
            self.square = self.square.max(row[1]);
            self.entry = self.entry.max(row[2]);
            if most.is_nan() {
                self.empty += 1;
                continue;
            }
            self.n += 1;
            self.sum += most;
            self.largest = self.largest.max(*most);
        }
        Ok(())
    }
}

/// The largest correlation of each row with an atom; only those of the sign that codes may have count.
pub(super) fn correlations<T: Real, C: Real>(
    rows: &Rows<'_, T>,
    solver: &Solver<C>,
    run: &Run<'_>,
) -> Result<Correlations> {
    let across = solver.atoms.matrix().transposed().cast::<C>();
    let step = |block: Block<'_, T>, out: &mut [f64], _: &mut Workspace<T>| {
        rows.check_numbers("sparse-coder", &block)?;
        correlations_of(solver, &across, solver.centred(block.data), out);
        Ok(())
    };
    let mut found = Correlations::default();
    rows.map(run, "correlations", 3, step, &mut found)?;
    Ok(found)
}

/// Writes three numbers for each centred row: its largest correlation with an atom (NaN without observed cells), its squared norm, and its
/// largest entry. `across` holds the atoms in columns.
pub(super) fn correlations_of<C: Real>(
    solver: &Solver<C>,
    across: &Matrix<C>,
    mut centred: Vec<C>,
    out: &mut [f64],
) {
    let (m, p, mut product) = (across.cols(), across.rows(), Vec::new());
    for (row, out) in centred.chunks_exact(p).zip(out.chunks_exact_mut(3)) {
        let cells = || row.iter().map(|x| x.to_f64()).filter(|x| !x.is_nan());
        let square = cells().map(|x| x * x).sum();
        let none = if cells().next().is_none() { f64::NAN } else { 0.0 };
        out.copy_from_slice(&[none, square, cells().fold(0.0, |a: f64, x| a.max(x.abs()))]);
    }
    let zero = C::default();
    centred.iter_mut().filter(|x| x.to_f64().is_nan()).for_each(|x| *x = zero);
    // The number of rows at a time is chosen so that the product is small.
    let at_a_time = (1 << 16) / m.max(1) + 1;
    for (rows, out) in centred.chunks(at_a_time * p).zip(out.chunks_mut(at_a_time * 3)) {
        let n = rows.len() / p;
        product.resize(n * m, zero);
        kernel::product(&mut product, rows, across.as_slice(), n, p, m);
        let each = product.chunks_exact(m).zip(out.chunks_exact_mut(3));
        for (c, out) in each.filter(|(_, out)| !out[0].is_nan()) {
            let size = |c: &C| if solver.rules.positive { c.to_f64() } else { c.to_f64().abs() };
            out[0] = c.iter().map(size).fold(0.0, f64::max);
        }
    }
}

/// Numbers for each row in [`coded`]; NaN for a row that was left out.
const FACTS: usize = 4;

impl Sink<f64> for Coded {
    fn put(&mut self, rows: &[f64]) -> Result<()> {
        for row in rows.chunks_exact(FACTS) {
            if row[3].is_nan() {
                self.left_out += 1;
                continue;
            }
            self.n += 1;
            self.worst_gap = self.worst_gap.max(row[0]);
            self.not_converged += u64::from(row[0] > self.tol);
            self.objective += row[1];
            self.n_nonzero += row[2];
            self.most = self.most.max(row[3] as u64);
        }
        Ok(())
    }
}

/// Codes all rows, or those of the blocks that begin before the run ends early, and summarises their convergence.
pub(super) fn coded<T: Real>(rows: &Rows<'_, T>, solver: &Solver<T>, run: &Run<'_>) -> Result<Coded> {
    let step = |block: Block<'_, T>, out: &mut [f64], _: &mut Workspace<T>| {
        if run.ends_early() {
            out.fill(f64::NAN);
            return Ok(());
        }
        let coded = solver.code(block.data, true);
        for (out, m) in out.chunks_exact_mut(FACTS).zip(&coded.measures) {
            let most = coded.most as f64;
            out.copy_from_slice(&[m.relative_gap(), m.objective, m.n_nonzero as f64, most]);
        }
        Ok(())
    };
    let mut found = Coded { tol: solver.rules.tol, ..Coded::default() };
    rows.map(run, "codes", FACTS, step, &mut found)?;
    Ok(found)
}
