//! Agreement of the components of disjoint halves of the rows.
//!
//! For photographs several fixed points are close to each other, and which of them is reached depends on the rows. So the fit is repeated
//! on two disjoint halves, each from its own principal axes (with the width `a` of the fit, if all components have the same), and the report
//! has, for every component, the cosine between the corresponding components of the halves: near 1 if the rows determine it.
//! [`stability`](crate::stability) adds repeated splits, intervals and verdicts.

use super::{SigmaPca, SolverOutput, Widths};
use crate::data::splits::{Autocorrelation, consecutive, split_in_halves};
use crate::data::{Rows, Subset};
use crate::error::{Error, Result};
use crate::metrics::match_rows;
use crate::model::Outcome;
use crate::neural::start::Principal;
use crate::num::{Matrix, Real, kernel};
use crate::run::Run;

/// Product of rows, coordinates and components up to which halves are fitted by default: some tens of sweeps of 2 GFlop.
const MOST_PRODUCTS_BY_DEFAULT: u64 = 1 << 28;

/// Components of two halves of the rows, matched to the model.
pub(super) struct Halves {
    /// The cosine between the two.
    pub(super) agree: Vec<f64>,
    /// The smallest cosine among the components of the two halves and that of the fit.
    pub(super) all: Vec<f64>,
    /// Number of consecutive rows that were kept together.
    pub(super) block_length: u64,
}

impl SigmaPca {
    /// Whether halves of these rows are to be fitted.
    pub(super) fn compares_halves<T: Real>(&self, rows: &Rows<'_, T>, k: usize) -> bool {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let cheap = || {
            let work = n.saturating_mul((4 * k).min(p) as u64).saturating_mul(k as u64);
            !self.is_trained() && work <= MOST_PRODUCTS_BY_DEFAULT
        };
        rows.weights().is_none() && self.halves.unwrap_or_else(cheap) && n / 2 >= (k as u64).max(2)
    }

    /// The components of two halves, matched to those of `ended`; none if they are not to be fitted, half of the rows cannot be fitted, or the run
    /// ends before both are.
    pub(super) fn halves_of<T: Real>(
        &self,
        ended: &SolverOutput<'_, T>,
        rows: &Rows<'_, T>,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Option<Halves>> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        if !self.compares_halves(rows, k) || run.ends_early() {
            return Ok(None);
        }
        run.stage("halves")?;
        let block_length = block_length(&ended.principal, &ended.solved.w, usize::MAX, run)?;
        let (left, right) = split_in_halves(n, run.seed, 0, block_length);
        let whole = self.components(ended, k, T::DTYPE.eps())?;
        let alike = self.with_width_of(ended);
        let mut found = Vec::new();
        for half in [left, right] {
            let part = match rows.source().random() {
                Some(source) => {
                    Rows::new(Subset::new(source, p, half), rows.features().clone(), rows.origin())
                }
                None => Rows::of_picked(rows.picked(half, run)?, p, None)?,
            };
            let components = match alike.solution(&part, k, run) {
                // The outcome of a solution that was cut short need not show it: that of a closed form, for example.
                Ok(_) if run.ends_early() => return Ok(None),
                Ok(ended) => self.components(&ended, k, T::DTYPE.eps())?,
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // Half of the rows may be constant, or too few.
                Err(_) => return Ok(None),
            };
            let order = match_rows(&whole, &components).order;
            found.push(Matrix::from_fn(k, p, |j, i| components[(order[j], i)]));
        }
        let cosine = |a: &Matrix<f64>, b: &Matrix<f64>, j: usize| {
            a.row(j).iter().zip(b.row(j)).map(|(x, y)| x * y).sum::<f64>().abs().min(1.0)
        };
        let agree: Vec<f64> = (0..k).map(|j| cosine(&found[0], &found[1], j)).collect();
        let least = |j: usize| found.iter().fold(agree[j], |m, half| m.min(cosine(&whole, half, j)));
        Ok(Some(Halves { all: (0..k).map(least).collect(), agree, block_length }))
    }
}

impl SigmaPca {
    /// The same settings, with the width that was chosen for the fit if all components have the same: on half of the rows, the choice of
    /// the width is less reliable than the directions.
    fn with_width_of<T: Real>(&self, ended: &SolverOutput<'_, T>) -> Self {
        let (auto, a) = (matches!(self.a, Widths::Auto(_)), &ended.solved.a);
        let one = ended.solved.outcome == Outcome::Converged && a.iter().all(|x| *x == a[0]);
        match auto && one && !self.is_trained() {
            true => Self { a: Widths::One(a[0]), ..self.clone() },
            false => self.clone(),
        }
    }
}

/// The block length, estimated from at most `most` codes along the rows of `w`.
pub(super) fn block_length<T: Real>(
    principal: &Principal<'_, T>,
    w: &Matrix<f64>,
    most: usize,
    run: &Run<'_>,
) -> Result<u64> {
    let (k, r, n) = (w.rows(), w.cols(), principal.n_rows());
    let mut chosen = consecutive(n, k);
    chosen.truncate(most);
    let (x, _) = principal.coordinates_of(chosen, run)?;
    let m = x.len() / r;
    let mut codes = vec![T::default(); m * k];
    kernel::product(&mut codes, &x, w.transposed().cast::<T>().as_slice(), m, r, k);
    let codes: Vec<f64> = codes.iter().map(|y| y.to_f64()).collect();
    Ok(Autocorrelation::of(&codes, k, n).block_length)
}
