//! Statistics of codes: of sparse ones and their dictionary, of units and components.

use super::statistics::{Statistic, gaussian, with_gaps};
use unmix::Real;
use unmix::biclusters::{Columns, GatherModules, Members, ModuleMeans};
use unmix::data::Workspace;
use unmix::internal::autoencoder::Evaluation;
use unmix::internal::gaps::Conditional;
use unmix::internal::num::{Block, Matrix};
use unmix::method::sparse_coder::{Convergence, GatherConvergence, SparseCoder};
use unmix::select::{CellDensities, GatherHeldOut};
use unmix::stats::{Correlations, Gather, GatherCorrelations};

/// Two atoms.
fn atoms(p: usize) -> Matrix<f64> {
    Matrix::from_fn(2, p, |i, j| 0.5 - (i * p + j) as f64 / 7.0)
}

impl Statistic for Correlations {
    const NAME: &'static str = "correlations";
    fn empty(_: usize) -> Self {
        Correlations::default()
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let Block { first_row, n_features, weights, .. } = block;
        let data = &with_gaps(&block)[..];
        let gather = GatherCorrelations::new(&atoms(n_features), vec![0.25; n_features], false, true);
        gather.add(self, Block { first_row, data, n_features, weights }, &mut Workspace::default())
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let counts = vec![self.n, self.empty, self.largest, self.square, self.entry];
        (counts, Vec::new(), vec![self.sum, self.squares])
    }
}

impl Statistic for Convergence {
    const NAME: &'static str = "convergence of codes";
    fn empty(_: usize) -> Self {
        Convergence::default()
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let gather: GatherConvergence<'_, T> =
            GatherConvergence::of(&SparseCoder::default(), &atoms(block.n_features), 0.5);
        gather.add(self, block, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let rows = [self.n, self.left_out, self.not_converged, self.n_nonzero];
        let counts = [&rows[..], &[self.worst_gap, self.most as f64]].concat();
        (counts, Vec::new(), vec![self.objective])
    }
}

/// A unit with every third row and two columns, one with all rows and one column, and one without columns.
fn modules() -> Vec<Members<'static>> {
    let members = |rows: Vec<u32>, columns: Vec<u32>, positive: Vec<bool>| {
        let (rows, columns, positive) = (rows.into(), columns.into(), positive.into());
        Members { rows, columns, positive }
    };
    vec![
        members((0..60).step_by(3).collect(), vec![0, 0], vec![true, true]),
        members((0..60).collect(), vec![0], vec![false]),
        members(vec![1], Vec::new(), Vec::new()),
    ]
}

impl Statistic for ModuleMeans {
    const NAME: &'static str = "modules";
    fn empty(p: usize) -> Self {
        let columns = Columns::new(vec![0.25; p], vec![100.0; p]);
        Gather::<f64>::zero(&GatherModules::new(&columns, modules()), p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = block.n_features;
        let columns = Columns::new(vec![0.25; p], vec![100.0; p]);
        GatherModules::new(&columns, modules()).add(self, block, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        ModuleMeans::values(self)
    }
}

impl Statistic for CellDensities {
    const NAME: &'static str = "held-out cells";
    fn empty(_: usize) -> Self {
        CellDensities::default()
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = block.n_features;
        let conditional = Conditional::new(gaussian(p));
        GatherHeldOut::new(&conditional, (5, 1), vec![true; p]).add(self, block, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        CellDensities::values(self)
    }
}

impl Statistic for Evaluation {
    const NAME: &'static str = "evaluation";
    fn empty(_: usize) -> Self {
        Evaluation::new(2)
    }
    /// The codes of a row are its first number, if that is positive, and half of it.
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let p = block.n_features;
        let code = |row: &[T]| [1.0, 0.5].map(|by| T::from_f64(by * row[0].to_f64().max(0.0)));
        let codes: Vec<T> = block.rows().flat_map(code).collect();
        let (mean, center) = (vec![0.25; p], vec![0.5; p]);
        self.add(block.data, &codes, None, (&mean, &atoms(p), &center))
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let counts = [&[self.n], &self.fired[..], &self.largest].concat();
        let squares = [self.about, self.residual, self.fitted, self.product];
        (counts, Vec::new(), [&squares[..], &self.size].concat())
    }
}
