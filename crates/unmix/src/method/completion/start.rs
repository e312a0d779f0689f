//! Initial values: shrunken offsets, and the leading singular vectors of the residuals, with missing cells
//! set to 0; or those of a given model.

use super::METHOD;
use super::cells::Cells;
use super::variational::{Sizes, State};
use crate::data::{Features, Rows, Sparse};
use crate::error::{Error, Result};
use crate::num::Matrix;
use crate::run::Run;
use crate::spectrum::{Request, Solver, decompose};
use crate::stats::gaps::{LinePosteriors, triangle};

/// Iterations of the randomised decomposition, whose result needs no more accuracy than an initial value.
const RANDOMIZED_ROUNDS: u64 = 4;

/// Lower bound of the initial scale of offsets, as a fraction of that of the residuals.
const LEAST_OFFSET: f64 = 1e-9;

/// Initial offsets and loadings.
pub(super) struct InitialColumns {
    /// Offsets of rows and of columns.
    pub(super) rows: Vec<f64>,
    pub(super) columns: Vec<f64>,
    /// Initial noise variance: mean square of the residuals of the offsets.
    pub(super) mean_square: f64,
    /// Right singular vectors of these residuals, `p x k`, scaled so that codes of rows have mean square 1.
    pub(super) factors: Matrix<f64>,
}

impl Cells {
    /// Initial values with up to `k` factors.
    pub(super) fn beginning(&self, k: usize, offsets: bool, run: &Run<'_>) -> Result<InitialColumns> {
        let (n, p) = self.shape();
        let (rows, columns) = match offsets {
            true => self.damped_offsets(run.threads),
            false => (vec![0.0; n], vec![0.0; p]),
        };
        let residuals = self.residuals(&rows, &columns)?;
        let mean_square = mean_square(&residuals, self.len());
        let share = self.len() as f64 / (n as f64 * p as f64);
        let mut factors = Matrix::zeros(p, k);
        if k > 0 {
            let (values, m, axes) = leading(residuals, k, run)?;
            for (a, value) in values.iter().enumerate().take(axes.rows().min(k)) {
                let long = (value.max(0.0) * (m - 1.0) / n as f64).sqrt() / share;
                (0..p).for_each(|j| factors[(j, a)] = long * axes[(a, j)]);
            }
        }
        Ok(InitialColumns { rows, columns, mean_square, factors })
    }

    /// Initial values from a model: its loadings, mean and noise, in the units of the cells.
    fn given(&self, components: &Matrix<f64>, k: usize, run: &Run<'_>) -> InitialColumns {
        let (n, p) = self.shape();
        let number = |name: &str, len: usize| {
            let found = run.init.and_then(|init| init.parameter(name)).map(|(_, v)| v);
            found.filter(|v| v.len() == len && v.iter().all(|x| x.is_finite()))
        };
        let mean = number("mean", p).unwrap_or_else(|| vec![self.centre; p]);
        let noise = number("noise_variance", 1).map_or(0.5, |v| v[0] / self.unit / self.unit);
        let rows = number("row_offsets", n).unwrap_or_else(|| vec![0.1 * self.unit; n]);
        InitialColumns {
            rows: rows.iter().map(|b| b / self.unit).collect(),
            columns: mean.iter().map(|m| (m - self.centre) / self.unit).collect(),
            mean_square: noise,
            factors: Matrix::from_fn(p, k, |j, a| components[(a, j)] / self.unit),
        }
    }

    /// The first state of the iterations, from a given model or the initial values.
    pub(super) fn first(&self, k: usize, offsets: bool, run: &Run<'_>) -> Result<State> {
        let begin = match run.initial_components(self.shape().1, k)? {
            Some(components) => self.given(&components, k, run),
            None => self.beginning(k, offsets, run)?,
        };
        Ok(State::from(begin, offsets))
    }
}

impl State {
    /// The first state: columns without errors.
    pub(super) fn from(begin: InitialColumns, offsets: bool) -> Self {
        let (p, k) = (begin.columns.len(), begin.factors.cols());
        let least = LEAST_OFFSET * begin.mean_square.max(f64::MIN_POSITIVE);
        let size =
            |values: &[f64]| (values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64 + least).sqrt();
        let sd = offsets.then(|| (size(&begin.rows), size(&begin.columns)));
        let square = |a: usize| (0..p).map(|j| begin.factors[(j, a)].powi(2)).sum::<f64>() / p as f64;
        let first = if k > 0 { square(0) } else { 0.0 };
        let factors: Vec<f64> = (0..k).map(|a| square(a).max(1e-12 * first).max(f64::MIN_POSITIVE)).collect();
        let q = k + usize::from(offsets);
        let mut table = Vec::with_capacity(p * LinePosteriors::width(q));
        for j in 0..p {
            table.extend((0..k).map(|a| begin.factors[(j, a)] / factors[a].sqrt()));
            table.extend(sd.map(|(_, sd)| begin.columns[j] / sd));
            table.extend(std::iter::repeat_n(0.0, triangle(q) + 2));
        }
        let sizes = Sizes { factors, offsets: sd, noise: begin.mean_square.max(1e-24) };
        State {
            columns: LinePosteriors::new(q, table),
            sizes,
            residual: f64::INFINITY,
            shares: Vec::new(),
            ridge: None,
        }
    }
}

/// The first variances of the rows of a sparse matrix about 0 (divisor `n - 1`), `n`, and their directions as
/// rows; none if the matrix is 0 up to rounding errors.
pub(super) fn leading(
    cells: Sparse<'_, f64>,
    top: usize,
    run: &Run<'_>,
) -> Result<(Vec<f64>, f64, Matrix<f64>)> {
    let (n, p) = (cells.n_rows() as f64, cells.n_features());
    let request = Request {
        method: METHOD.key,
        solver: Solver::Randomized,
        top: Some(top),
        center: false,
        standardize: false,
        tol: 0.0,
        rounds: Some(RANDOMIZED_ROUNDS),
        n_oversamples: 10,
        start: None,
    };
    match decompose(&Rows::new(cells, Features::default(), "the cells"), run, &request) {
        Err(Error::NoVariance { .. } | Error::Unsupported { .. }) => Ok((Vec::new(), n, Matrix::zeros(0, p))),
        found => found.map(|found| (found.values, found.n, found.axes)),
    }
}

fn mean_square(residuals: &Sparse<'_, f64>, cells: usize) -> f64 {
    let all = (0..residuals.n_rows()).flat_map(|i| residuals.row(i).1);
    all.map(|x| x * x).sum::<f64>() / cells as f64
}
