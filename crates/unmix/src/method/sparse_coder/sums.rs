//! Statistics of all rows for a fit: means, correlations with the atoms, convergence of the codes.

use super::solver::Solver;
use super::{METHOD, SparseCoder};
use crate::data::{Rows, Workspace};
use crate::error::{Error, Result};
use crate::num::{Block, Matrix, Plan, Real};
use crate::run::Run;
use crate::spectrum::check_total;
use crate::stats::gaps::GatherObserved;
use crate::stats::{Correlations, Gather, Packer, Partial, Unpacker};
use serde_json::{Map, Value, json};

/// Means of the columns over their observed cells; 0 for a column without any.
pub(super) fn mean<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Vec<f64>> {
    let observed = rows.sweep(run, "means", &GatherObserved)?;
    match observed.infinite {
        Some((row, column, x)) => Err(rows.not_finite_at(METHOD.key, row, column as usize, x)),
        None => Ok(observed.mean),
    }
}

/// The largest correlation of each row with an atom; only those of the sign that codes may have count.
///
/// # Errors
///
/// Infinite numbers, or numbers whose squares overflow or underflow to 0; errors of the source.
pub(super) fn correlations<T: Real>(
    rows: &Rows<'_, T>,
    solver: &Solver<T>,
    run: &Run<'_>,
) -> Result<Correlations> {
    let found = rows.sweep(run, "correlations", &solver.correlations())?;
    if !found.finite() {
        return Err(rows.not_accepted(METHOD.key));
    }
    // Also of single precision, in which rows are coded.
    if found.square > T::DTYPE.most() {
        return Err(Error::Overflow { method: METHOD.key.into(), dtype: T::DTYPE.name() });
    }
    // Rows of zeros have codes of zeros.
    if found.entry > 0.0 {
        check_total(METHOD.key, found.square, T::DTYPE)?;
    }
    Ok(found)
}

/// Convergence of the codes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Convergence {
    /// Number of rows that were coded, weighted.
    pub n: f64,
    /// Number of rows that were not, because the run ended early.
    pub left_out: f64,
    /// Number of rows whose relative gap exceeds the tolerance.
    pub not_converged: f64,
    /// Sum of the objectives.
    pub objective: f64,
    /// Sum of the numbers of nonzero entries.
    pub n_nonzero: f64,
    /// The largest relative gap.
    pub worst_gap: f64,
    /// Maximum number of iterations of a row.
    pub most: u64,
}

impl Convergence {
    /// As diagnostics of the report, by name.
    pub(super) fn diagnostics(&self, found: &Correlations, lasso: bool) -> Map<String, Value> {
        let mut diagnostics = Map::new();
        diagnostics.insert("alpha_max".into(), json!(found.largest));
        if self.n == 0.0 {
            return diagnostics;
        }
        diagnostics.insert("mean_nonzero".into(), json!(self.n_nonzero / self.n));
        if lasso {
            diagnostics.insert("worst_gap".into(), json!(self.worst_gap));
            diagnostics.insert("not_converged".into(), json!(self.not_converged as u64));
        }
        diagnostics
    }

    fn sums(&self) -> [f64; 5] {
        [self.n, self.left_out, self.not_converged, self.objective, self.n_nonzero]
    }
}

/// Gathers the [`Convergence`] of the codes of a solver.
pub struct GatherConvergence<'a, T> {
    solver: Solver<T>,
    /// Blocks that begin after its end are left out. A worker has no run of the driver, and processes a job to its end.
    run: Option<&'a Run<'a>>,
    /// Whether the run had ended when the job was sent.
    ended: bool,
}

impl<'a, T: Real> GatherConvergence<'a, T> {
    /// For codes by `solver` of the blocks that begin before `run` ends early.
    pub(super) fn new(solver: Solver<T>, run: &'a Run<'a>) -> Self {
        Self { solver, run: Some(run), ended: false }
    }

    /// For codes with these settings and this `alpha` of rows that are not centred, by the atoms in the rows of `dictionary`.
    pub fn of(given: &SparseCoder, dictionary: &Matrix<f64>, alpha: f64) -> Self {
        let mut solver = given.solver(dictionary, vec![0.0; dictionary.cols()]);
        solver.rules.alpha = alpha;
        Self { solver, run: None, ended: false }
    }

    fn has_ended(&self) -> bool {
        self.ended || self.run.is_some_and(|run| run.ends_early())
    }
}

impl<T: Real> Gather<T> for GatherConvergence<'_, T> {
    type Part = Convergence;
    const KIND: &'static str = "convergence of codes";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_sources(n_features, self.solver.atoms.n_atoms())
    }

    fn width(&self) -> Option<usize> {
        Some(self.solver.mean.len())
    }

    fn zero(&self, _: usize) -> Convergence {
        Convergence::default()
    }

    fn add(&self, part: &mut Convergence, block: Block<'_, T>, work: &mut Workspace<T>) {
        let Workspace { rows, wide, .. } = work;
        let (rows, weights) = block.counted(None, rows, wide);
        if rows.is_empty() {
            return;
        }
        let n = weights.map_or((rows.len() / block.n_features) as f64, |w| w.iter().sum());
        if self.has_ended() {
            part.left_out += n;
            return;
        }
        let coded = self.solver.code(rows, true);
        part.n += n;
        part.most = part.most.max(coded.most);
        for (i, measure) in coded.measures.iter().enumerate() {
            let (weight, gap) = (weights.map_or(1.0, |w| w[i]), measure.relative_gap());
            part.not_converged += if gap > self.solver.rules.tol { weight } else { 0.0 };
            part.objective += weight * measure.objective;
            part.n_nonzero += weight * measure.n_nonzero as f64;
            part.worst_gap = part.worst_gap.max(gap);
        }
    }

    fn pack(&self, out: &mut Packer) {
        self.solver.pack(out);
        out.count(u64::from(self.has_ended()));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self { solver: Solver::unpack(from)?, run: None, ended: from.flag()? })
    }
}

impl Partial for Convergence {
    fn merge(&mut self, right: Self) {
        self.n += right.n;
        self.left_out += right.left_out;
        self.not_converged += right.not_converged;
        self.objective += right.objective;
        self.n_nonzero += right.n_nonzero;
        self.worst_gap = self.worst_gap.max(right.worst_gap);
        self.most = self.most.max(right.most);
    }

    fn pack(&self, out: &mut Packer) {
        self.sums().into_iter().for_each(|x| out.number(x));
        out.number(self.worst_gap);
        out.count(self.most);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let mut next = || from.number();
        let (n, left_out, not_converged) = (next()?, next()?, next()?);
        let (objective, n_nonzero, worst_gap) = (next()?, next()?, next()?);
        Ok(Self { n, left_out, not_converged, objective, n_nonzero, worst_gap, most: from.count()? })
    }

    fn bytes(&self) -> usize {
        8 * (self.sums().len() + 2)
    }
}

/// Codes all rows, or those of the blocks that begin before the run ends early, and summarises their convergence.
pub(super) fn coded<T: Real>(rows: &Rows<'_, T>, solver: &Solver<T>, run: &Run<'_>) -> Result<Convergence> {
    rows.sweep(run, "codes", &GatherConvergence::new(solver.clone(), run))
}
