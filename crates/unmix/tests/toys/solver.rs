//! Codes by an iterative solver: `min ½ ||x - mean - y W||² + alpha ||y||₁` by coordinate descent, each row to a relative duality gap
//! of `tol` or for `max_iter` iterations over the coordinates.

use super::{Toy, by_row, components, dot, number, numbers, setting, toy};
use unmix::data::Workspace;
use unmix::method::{Method, Setting};
use unmix::model::{Certificate, Code, Codes, Encoder, LinearDecoder, RowMap};
use unmix::{Matrix, Real};

const SETTINGS: &[Setting] = &[
    super::N_COMPONENTS,
    number("alpha", "0.5", "Weight of the penalty."),
    number("tol", "1e-9", "Relative duality gap of every row."),
    number("max_iter", "200", "Maximum number of iterations over the coordinates."),
];

pub(crate) static METHOD: Method = toy(
    "toy-solver",
    "ToySolver",
    SETTINGS,
    |given| Toy::spec(&METHOD, given),
    |settings, tensors| {
        // Atoms are not orthogonal, since one iteration would be enough otherwise.
        let axes = components(tensors)?;
        let last = axes.rows().max(1) - 1;
        let atom = |i: usize, j: usize| axes[(i, j)] + 0.4 * axes[(last, j)];
        let w = Matrix::from_fn(axes.rows(), axes.cols(), atom);
        let solver = Solver {
            mean: numbers(tensors, "mean")?,
            w: w.clone(),
            alpha: setting(settings, "alpha"),
            tol: setting(settings, "tol"),
            max_iter: setting(settings, "max_iter") as usize,
        };
        Code::new(solver, LinearDecoder::new(super::tensor(tensors, "mean")?.clone(), w))
    },
    None,
);

#[derive(Clone, Debug)]
struct Solver {
    mean: Vec<f64>,
    /// Atoms as rows, `k x p`.
    w: Matrix<f64>,
    alpha: f64,
    tol: f64,
    max_iter: usize,
}

impl Solver {
    /// The code of a row, and its relative duality gap.
    fn solve(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let k = self.w.rows();
        let target: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        let (mut y, mut rest) = (vec![0.0; k], target.clone());
        let mut gap = self.gap(&y, &rest, &target);
        for _ in 0..self.max_iter {
            if gap <= self.tol {
                break;
            }
            for i in 0..k {
                let atom = self.w.row(i);
                let square = dot(atom, atom);
                let along = dot(atom, &rest) + square * y[i];
                let next = along.signum() * (along.abs() - self.alpha).max(0.0) / square;
                rest.iter_mut().zip(atom).for_each(|(r, w)| *r += (y[i] - next) * w);
                y[i] = next;
            }
            gap = self.gap(&y, &rest, &target);
        }
        (y, gap)
    }

    /// The duality gap with the scaled residual as the dual point, relative to the objective at code 0.
    fn gap(&self, y: &[f64], rest: &[f64], target: &[f64]) -> f64 {
        let most = (0..self.w.rows()).map(|i| dot(self.w.row(i), rest).abs()).fold(0.0, f64::max);
        let scale = if most > self.alpha { self.alpha / most } else { 1.0 };
        let primal = 0.5 * dot(rest, rest) + self.alpha * y.iter().map(|y| y.abs()).sum::<f64>();
        let dual = scale * dot(rest, target) - 0.5 * scale * scale * dot(rest, rest);
        let zero = 0.5 * dot(target, target);
        if zero > 0.0 { (primal - dual).max(0.0) / zero } else { 0.0 }
    }
}

impl Encoder for Solver {
    fn n_features(&self) -> usize {
        self.w.cols()
    }
    fn n_codes(&self) -> usize {
        self.w.rows()
    }
    fn codes(&self) -> Codes {
        Codes { sparse: true, non_negative: false, missing: false, stored: false, ..Codes::default() }
    }
    fn certificate(&self) -> Option<Certificate> {
        Some(Certificate::new("relative duality gap", self.tol))
    }
    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.clone())
    }
    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.clone())
    }
}

impl<T: Real> RowMap<T> for Solver {
    fn apply(&self, rows: &[T], out: &mut [T], _: &mut Workspace<T>) {
        by_row(rows, out, self.w.cols(), self.w.rows(), |_, x| self.solve(x).0);
    }

    fn certified(&self, rows: &[T], out: &mut [T], gaps: &mut [f64], _: &mut Workspace<T>) {
        by_row(rows, out, self.w.cols(), self.w.rows(), |i, x| {
            let (y, gap) = self.solve(x);
            gaps[i] = gap;
            y
        });
    }
}
