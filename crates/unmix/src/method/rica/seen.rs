//! How RICA sees rows: in white coordinates, or in those of their columns; and the way back.

use super::cost::lengths;
use crate::data::Rows;
use crate::error::Result;
use crate::model::sign_of;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::{self, Request, Solver, auto_solver};
use crate::stats::GatherLengths;

/// Rows below this many times the directions that they span are few: in white coordinates of `d` directions a row has the share `d / n`
/// of a feature that is aimed at it, on average, and sparsity rewards such features.
pub(super) const FEW: usize = 10;

/// How many of `rank` directions are whitened for `asked` features, or for as many as there are directions: all, unless the `n` rows are
/// few for them. Then as many as there are features (as ICA does), or a tenth of the rows where no number is asked for.
pub(super) fn whitened(n: f64, rank: usize, asked: Option<usize>) -> usize {
    match n < (FEW * rank) as f64 {
        true => asked.unwrap_or(n as usize / FEW).clamp(1, rank.max(1)),
        false => rank,
    }
}

/// Coordinates `z` of a row `x`: `diag(1/deviation) axes ((x - mean) / noise)` where they are white, else `(x - mean) / noise / size`.
pub(super) struct Seen {
    /// Rows.
    pub(super) n: f64,
    /// What is subtracted.
    pub(super) mean: Vec<f64>,
    /// What columns are divided by, where they are.
    pub(super) noise: Option<Vec<f64>>,
    /// What all entries are then divided by: 1, or their root mean square.
    pub(super) size: f64,
    /// Principal directions that the rows determine, or those of them that are whitened, as rows.
    pub(super) axes: Matrix<f64>,
    /// Standard deviations along them in the coordinates of columns (divisor `n`).
    pub(super) deviation: Vec<f64>,
    /// Whether coordinates are white.
    pub(super) white: bool,
    /// Directions along which the rows vary.
    pub(super) rank: usize,
    /// Columns that do not vary.
    pub(super) n_constant: usize,
    /// Passes over the rows.
    pub(super) sweeps: u64,
}

/// What is asked of it.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    pub(super) whiten: bool,
    pub(super) center: bool,
    pub(super) standardize: bool,
    /// Divide all entries by their root mean square, where coordinates are not white.
    pub(super) size: bool,
    /// Features.
    pub(super) asked: Option<usize>,
}

impl Seen {
    /// Looks at settled rows: one pass, or two where there are fewer rows than columns.
    pub(super) fn of<T: Real>(rows: &Rows<'_, T>, wish: Wish, run: &Run<'_>) -> Result<Self> {
        let (n, p) = (rows.n_counted(), rows.n_features());
        let by = |solver| {
            let Wish { center, standardize, .. } = wish;
            let request = Request {
                method: "rica",
                solver,
                top: None,
                center,
                standardize,
                tol: 0.0,
                rounds: None,
                n_oversamples: 10,
            };
            spectrum::decompose(rows, run, &request)
        };
        let solver = auto_solver(n, p, None, false);
        let mut found = by(solver)?;
        let mut sweeps = found.sweeps;
        let reach = (p - found.n_constant).min(n as usize - usize::from(wish.center));
        if wish.whiten && solver != Solver::Full && found.axes.rows() < reach {
            // Sums of squares do not see directions below the root of rounding; singular values do.
            found = by(Solver::Full)?;
            sweeps += found.sweeps;
        }
        let rank = found.axes.rows();
        let share = (found.n - 1.0) / found.n;
        let size = match wish.size && !wish.whiten {
            true => (found.total * share / p as f64).sqrt(),
            false => 1.0,
        };
        let kept = if wish.whiten { whitened(found.n, rank, wish.asked) } else { rank };
        let deviation = found.values[..kept].iter().map(|v| (v * share).sqrt() / size).collect();
        let mut axes = found.axes.top_rows(kept);
        for i in 0..kept {
            // So that where a search begins does not depend on the solver.
            let sign = sign_of(axes.row(i), f64::EPSILON);
            axes.row_mut(i).iter_mut().for_each(|x| *x *= sign);
        }
        Ok(Self {
            n: found.n,
            mean: found.mean,
            noise: found.noise_scale,
            size,
            axes,
            deviation,
            white: wish.whiten,
            rank,
            n_constant: found.n_constant,
            sweeps,
        })
    }

    /// Number of coordinates.
    pub(super) fn d(&self) -> usize {
        if self.white { self.axes.rows() } else { self.mean.len() }
    }

    /// Mean variance of a coordinate.
    pub(super) fn unit(&self) -> f64 {
        match self.white {
            true => 1.0,
            false => self.deviation.iter().map(|s| s * s).sum::<f64>() / self.d() as f64,
        }
    }

    /// Standard deviation along principal direction `i`, of those that there are, in the coordinates.
    pub(super) fn deviation_along(&self, i: usize) -> f64 {
        if self.white { 1.0 } else { self.deviation[i.min(self.deviation.len() - 1)] }
    }

    /// What is subtracted from rows, unless that is 0 throughout.
    pub(super) fn subtracted(&self) -> Option<&[f64]> {
        self.mean.iter().any(|m| *m != 0.0).then_some(&self.mean)
    }

    /// `F` with `F'F` the second moments of the coordinates (divisor `n`); `None` stands for the identity.
    pub(super) fn moments(&self) -> Option<Matrix<f64>> {
        let root = |i, j| self.deviation[i] * self.axes[(i, j)];
        (!self.white).then(|| Matrix::from_fn(self.axes.rows(), self.mean.len(), root))
    }

    /// Filters of coordinates, `k x d`, as filters of `x - mean`, `k x p`.
    pub(super) fn folded(&self, w: &Matrix<f64>) -> Matrix<f64> {
        let mut v = match self.white {
            true => factor::multiply(&self.stretched(w.clone(), |s| 1.0 / s), &self.axes),
            false => w.clone(),
        };
        self.by_noise(&mut v, |x, noise| x / noise);
        v
    }

    /// The gradient by filters of `x - mean`, `k x p`, as that by filters of coordinates, `k x d`.
    pub(super) fn folded_back(&self, mut gradient: Matrix<f64>) -> Matrix<f64> {
        self.by_noise(&mut gradient, |x, noise| x / noise);
        match self.white {
            true => self.stretched(factor::multiply_transposed(&gradient, &self.axes), |s| 1.0 / s),
            false => gradient,
        }
    }

    /// Filters of `x - mean`, `k x p`, as filters of coordinates, `k x d`: undoes [`folded`](Self::folded).
    pub(super) fn unfolded(&self, mut v: Matrix<f64>) -> Matrix<f64> {
        self.by_noise(&mut v, |x, noise| x * noise);
        match self.white {
            true => self.stretched(factor::multiply_transposed(&v, &self.axes), |s| s),
            false => v,
        }
    }

    /// Decoders of white coordinates, `k x r`, as decoders of `x - mean`, `k x p`.
    pub(super) fn decoded(&self, m: Matrix<f64>) -> Matrix<f64> {
        let mut out = factor::multiply(&self.stretched(m, |s| s), &self.axes);
        self.by_noise(&mut out, |x, noise| x * noise);
        out
    }

    fn stretched(&self, mut m: Matrix<f64>, f: impl Fn(f64) -> f64) -> Matrix<f64> {
        for i in 0..m.rows() {
            m.row_mut(i).iter_mut().zip(&self.deviation).for_each(|(x, s)| *x *= f(*s));
        }
        m
    }

    fn by_noise(&self, m: &mut Matrix<f64>, f: impl Fn(f64, f64) -> f64) {
        if self.noise.is_none() && self.size == 1.0 {
            return;
        }
        for i in 0..m.rows() {
            m.row_mut(i).iter_mut().enumerate().for_each(|(j, x)| *x = f(*x, self.scale_of(j)));
        }
    }

    /// What column `j` is divided by.
    fn scale_of(&self, j: usize) -> f64 {
        self.size * self.noise.as_ref().map_or(1.0, |s| s[j])
    }

    /// Features without what lies outside the span of the rows, which no row has a part of; rounding errors of a search collect there.
    pub(super) fn in_span(&self, w: Matrix<f64>) -> Matrix<f64> {
        match self.white || self.axes.rows() == self.mean.len() {
            true => w,
            false => factor::multiply(&factor::multiply_transposed(&w, &self.axes), &self.axes),
        }
    }

    /// Lengths of features in the span of the rows, and the standard deviations of their outputs.
    pub(super) fn reach(&self, w: &Matrix<f64>) -> (Vec<f64>, Vec<f64>) {
        if self.white {
            let lengths = lengths(w);
            return (lengths.clone(), lengths);
        }
        let mut along = factor::multiply_transposed(w, &self.axes);
        let own = lengths(&along);
        for i in 0..along.rows() {
            along.row_mut(i).iter_mut().zip(&self.deviation).for_each(|(x, s)| *x *= s);
        }
        (own, lengths(&along))
    }

    /// The mean length of a row in the coordinates of columns: one pass.
    pub(super) fn mean_length<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<f64> {
        let units = (self.noise.is_some() || self.size != 1.0)
            .then(|| (0..self.mean.len()).map(|j| self.scale_of(j)).collect());
        let lengths = rows.sweep(run, "lengths", &GatherLengths { about: self.mean.clone(), units })?;
        Ok(lengths.sum / lengths.n)
    }
}
