//! Matrix completion: recovery, first-order conditions, errors, and what is refused.

mod conditions;
mod likelihood;
mod recovery;
mod ridge;
mod rows;
mod soft;
mod unseen;

use crate::made::{numbers, settings, try_fit};
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Model};

/// A matrix of which some cells are known.
struct Design {
    n: usize,
    p: usize,
    /// All cells, without noise.
    truth: Vec<f64>,
    /// Cells that are known, with noise; NaN where there is none.
    x: Vec<f64>,
}

impl Design {
    /// `n x p` of rank `k` with standard normal factors, each cell known with probability `share`, noise of this standard deviation.
    fn new((n, p, k): (usize, usize, usize), share: f64, noise: f64, seed: u64) -> Self {
        let draws = |part: u64| Stream::new(seed, part);
        let (a, v, which, errors) = (draws(0), draws(1), draws(2), draws(3));
        let cell = |i: usize, j: usize| -> f64 {
            (0..k).map(|c| a.normal((i * k + c) as u64) * v.normal((j * k + c) as u64)).sum()
        };
        let truth: Vec<f64> = (0..n * p).map(|at| cell(at / p, at % p)).collect();
        let known = |at: usize| which.uniform(at as u64) < share;
        let seen = |at: usize| truth[at] + noise * errors.normal(at as u64);
        let x = (0..n * p).map(|at| if known(at) { seen(at) } else { f64::NAN }).collect();
        Self { n, p, truth, x }
    }

    /// The same with an offset of every row and of every column.
    fn with_offsets(mut self, mean: f64, rows: f64, columns: f64, seed: u64) -> Self {
        let (b, c) = (Stream::new(seed, 5), Stream::new(seed, 6));
        for at in 0..self.x.len() {
            let own = mean + rows * b.normal((at / self.p) as u64) + columns * c.normal((at % self.p) as u64);
            self.truth[at] += own;
            self.x[at] += own;
        }
        self
    }

    fn fit(&self, given: serde_json::Value) -> Model {
        try_fit("matrix-completion", &settings(given), &self.x, self.p).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Root of the relative square error over the cells that are not known.
    fn error(&self, model: &Model) -> f64 {
        let fitted = completed(model);
        let hidden = || (0..self.x.len()).filter(|at| self.x[*at].is_nan());
        let wrong: f64 = hidden().map(|at| (fitted[at] - self.truth[at]).powi(2)).sum();
        (wrong / hidden().map(|at| self.truth[at].powi(2)).sum::<f64>()).sqrt()
    }
}

/// Square matrices of rank `r`, whose cells are `c` times as many as there are degrees of freedom, without noise.
fn cells_of_freedom(r: usize, c: f64, seed: u64) -> Design {
    let n = 60;
    let mut design = Design::new((n, n, r), 1.0, 0.0, seed);
    let known = (c * (r * (2 * n - r)) as f64) as usize;
    let mut order: Vec<usize> = (0..n * n).collect();
    Stream::new(seed, 40).shuffle(0, &mut order);
    order[known..].iter().for_each(|at| design.x[*at] = f64::NAN);
    design
}

/// Every cell as the model has it: mean, offset of the row, factors.
fn completed(model: &Model) -> Vec<f64> {
    let (mean, offsets) = (numbers(model, "mean"), numbers(model, "row_offsets"));
    let matrix = |name: &str| model.tensor(name).unwrap().to_matrix();
    let (codes, components): (Matrix<f64>, Matrix<f64>) = (matrix("row_codes"), matrix("components"));
    let cell = |i: usize, j: usize| {
        let shared: f64 = (0..components.rows()).map(|a| codes[(i, a)] * components[(a, j)]).sum();
        mean[j] + offsets[i] + shared
    };
    let p = mean.len();
    (0..offsets.len() * p).map(|at| cell(at / p, at % p)).collect()
}
